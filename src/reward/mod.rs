//! Duty: the hybrid reward and its γ.
//! May import: event.
//! Emits: numbers; it keeps only running sums.
//! Accepts: step rewards, the final reward.
//! Test: `cargo test --lib reward::`.

use crate::event::RewardFormula;

/// A reward that can't be summed up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RewardError {
    #[error("the reward of step {step} is {found}: step rewards lie in [0, 1]; this is a fault of the environment")]
    Step { step: u32, found: f64 },
    #[error("the final reward is {found}: it is the share of the task that was done, in [0, 1]; this is a fault of the environment")]
    Final { found: f64 },
    #[error("reward.gamma is {found}: a discount lies in [0, 1]")]
    Gamma { found: f64 },
    #[error("reward.{field} is {found}: a weight is finite and not negative")]
    Weight { field: &'static str, found: f64 },
}

/// Running sums of one episode's rewards.
///
/// The hybrid reward is `step_weight · Σ γ^i r_i + final_weight · final`, where `r_0` is the reward of the first decision. The step
/// term grows with the episode's length towards `1 / (1 − γ)`; `episode_return` does not hang on γ and is shown beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeReward {
    formula: RewardFormula,
    steps: u32,
    /// γ^steps, by repeated multiplication: the same bits everywhere.
    discount: f64,
    episode_return: f64,
    discounted_sum: f64,
}

impl EpisodeReward {
    /// An episode without a decision yet. Refuses a formula that has no meaning.
    pub fn new(formula: RewardFormula) -> Result<Self, RewardError> {
        if !is_unit(formula.gamma) {
            return Err(RewardError::Gamma { found: formula.gamma });
        }
        for (field, found) in [("step_weight", formula.step_weight), ("final_weight", formula.final_weight)] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(RewardError::Weight { field, found });
            }
        }
        Ok(Self { formula, steps: 0, discount: 1.0, episode_return: 0.0, discounted_sum: 0.0 })
    }

    /// Adds the reward of the next decision. A reward outside [0, 1] changes nothing.
    pub fn push(&mut self, reward: f64) -> Result<(), RewardError> {
        if !is_unit(reward) {
            return Err(RewardError::Step { step: self.steps + 1, found: reward });
        }
        self.episode_return += reward;
        self.discounted_sum += self.discount * reward;
        self.discount *= self.formula.gamma;
        self.steps += 1;
        Ok(())
    }

    /// Σ r_i: undiscounted, independent of γ.
    pub fn episode_return(&self) -> f64 {
        self.episode_return
    }

    /// Σ γ^i r_i.
    pub fn discounted_sum(&self) -> f64 {
        self.discounted_sum
    }

    /// Decisions so far.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The hybrid reward of an episode that ended with `final_reward`, the share of the task that was done.
    pub fn hybrid(&self, final_reward: f64) -> Result<f64, RewardError> {
        if !is_unit(final_reward) {
            return Err(RewardError::Final { found: final_reward });
        }
        Ok(self.formula.step_weight * self.discounted_sum + self.formula.final_weight * final_reward)
    }
}

/// Whether it lies in [0, 1]; NaN does not.
fn is_unit(x: f64) -> bool {
    (0.0..=1.0).contains(&x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn classic() -> EpisodeReward {
        EpisodeReward::new(RewardFormula::default()).unwrap()
    }

    #[test]
    fn the_classic_formula_on_a_worked_example() {
        let mut sums = classic();
        for reward in [1.0, 0.5, 0.25] {
            sums.push(reward).unwrap();
        }
        assert_eq!(sums.episode_return(), 1.75);
        // 1 + 0.95 · 0.5 + 0.9025 · 0.25 = 1.700625
        assert!((sums.discounted_sum() - 1.700625).abs() < 1e-12);
        assert!((sums.hybrid(0.5).unwrap() - (0.7 * 1.700625 + 0.15)).abs() < 1e-12);
        assert_eq!(sums.steps(), 3);
    }

    #[test]
    fn an_episode_without_a_decision_has_the_final_term_only() {
        assert_eq!(classic().hybrid(1.0).unwrap(), 0.3);
    }

    #[test]
    fn what_is_out_of_range_is_named_and_changes_nothing() {
        let mut sums = classic();
        sums.push(0.5).unwrap();
        let before = sums.clone();
        assert_eq!(sums.push(1.5), Err(RewardError::Step { step: 2, found: 1.5 }));
        assert!(matches!(sums.push(f64::NAN), Err(RewardError::Step { step: 2, .. })));
        assert!(sums.push(-0.1).is_err() && sums.push(f64::INFINITY).is_err());
        assert!(sums.hybrid(1.1).is_err() && sums.hybrid(f64::NAN).is_err());
        assert_eq!(sums, before);
    }

    #[test]
    fn a_formula_without_meaning_is_refused() {
        let formula = |step_weight, final_weight, gamma| EpisodeReward::new(RewardFormula { step_weight, final_weight, gamma });
        assert!(matches!(formula(0.7, 0.3, 1.01), Err(RewardError::Gamma { .. })));
        assert!(matches!(formula(0.7, 0.3, f64::NAN), Err(RewardError::Gamma { .. })));
        assert!(matches!(formula(-1.0, 0.3, 0.9), Err(RewardError::Weight { field: "step_weight", .. })));
        assert!(matches!(formula(0.7, f64::INFINITY, 0.9), Err(RewardError::Weight { field: "final_weight", .. })));
        assert!(formula(0.0, 0.0, 0.0).is_ok() && formula(1.0, 1.0, 1.0).is_ok());
    }

    proptest! {
        /// Against the definition, term by term.
        #[test]
        fn running_sums_equal_the_definition(
            rewards in prop::collection::vec(0.0..=1.0f64, 0..200),
            last in 0.0..=1.0f64,
            gamma in 0.0..=1.0f64,
            step_weight in 0.0..2.0f64,
            final_weight in 0.0..2.0f64,
        ) {
            let mut sums = EpisodeReward::new(RewardFormula { step_weight, final_weight, gamma }).unwrap();
            for reward in &rewards {
                sums.push(*reward).unwrap();
            }
            let discounted: f64 = rewards.iter().enumerate().map(|(i, r)| gamma.powi(i as i32) * r).sum();
            prop_assert!((sums.episode_return() - rewards.iter().sum::<f64>()).abs() < 1e-9);
            prop_assert!((sums.discounted_sum() - discounted).abs() < 1e-9);
            prop_assert!((sums.hybrid(last).unwrap() - (step_weight * discounted + final_weight * last)).abs() < 1e-9);
        }
    }
}
