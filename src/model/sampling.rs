//! From logits to a token, with the log-probability and the entropy of the model's own (unmasked, temperature 1) distribution.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// How to choose. The n-th token of a message takes the n-th number of the stream that `seed` names, so a choice depends on nothing before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// 0 takes the likeliest token, the one of lowest id among equals.
    pub temperature: f32,
    /// Samples among the likeliest tokens that together have this probability; 1 takes all.
    pub top_p: f32,
    pub seed: u64,
}

/// A token that was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub token: u32,
    /// Natural logarithm.
    pub logprob: f32,
    /// In nats.
    pub entropy: f32,
}

/// Chooses among the tokens that `allowed` holds. `None` when no token is allowed or the logits are not finite.
pub fn choose(logits: &[f32], allowed: impl Fn(u32) -> bool, sampling: Sampling, nth: u64) -> Option<Choice> {
    let distribution = Distribution::of(logits)?;
    let candidates: Vec<(u32, f64)> = (0u32..).zip(logits).filter(|(id, _)| allowed(*id)).map(|(id, l)| (id, f64::from(*l))).collect();
    let best = candidates.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    // Written so that NaN counts as 0.
    let token = if sampling.temperature > 0.0 { sample(candidates, best.1, sampling, nth) } else { best.0 };
    Some(Choice { token, logprob: distribution.logprob(logits[token as usize]), entropy: distribution.entropy() })
}

/// Log-probability of `token`. `None` when the logits are not finite.
pub fn logprob(logits: &[f32], token: u32) -> Option<f32> {
    Some(Distribution::of(logits)?.logprob(*logits.get(token as usize)?))
}

struct Distribution {
    /// Logarithm of the sum of all exponentials.
    log_sum: f64,
    mean_logit: f64,
}

impl Distribution {
    fn of(logits: &[f32]) -> Option<Self> {
        let max = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let (mut sum, mut weighted) = (0.0, 0.0);
        for logit in logits {
            let e = libm::exp(f64::from(*logit) - max);
            sum += e;
            weighted += e * f64::from(*logit);
        }
        let log_sum = max + libm::log(sum);
        (log_sum.is_finite() && weighted.is_finite()).then_some(Self { log_sum, mean_logit: weighted / sum })
    }

    fn logprob(&self, logit: f32) -> f32 {
        (f64::from(logit) - self.log_sum) as f32
    }

    fn entropy(&self) -> f32 {
        (self.log_sum - self.mean_logit).max(0.0) as f32
    }
}

/// Nucleus sampling (Holtzman et al. 2020) at a temperature. `best` is the largest logit.
fn sample(mut candidates: Vec<(u32, f64)>, best: f64, sampling: Sampling, nth: u64) -> u32 {
    let temperature = f64::from(sampling.temperature);
    candidates.iter_mut().for_each(|(_, l)| *l = libm::exp((*l - best) / temperature));
    let mut total: f64 = candidates.iter().map(|(_, p)| p).sum();
    if sampling.top_p < 1.0 {
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let wanted = f64::from(sampling.top_p) * total;
        let mut kept = 0;
        total = 0.0;
        while kept == 0 || (kept < candidates.len() && total < wanted) {
            total += candidates[kept].1;
            kept += 1;
        }
        candidates.truncate(kept);
    }
    let target = uniform(sampling.seed, nth) * total;
    let mut sum = 0.0;
    for (id, p) in &candidates {
        sum += p;
        if target < sum {
            return *id;
        }
    }
    // Rounding left the target at the very end.
    candidates[candidates.len() - 1].0
}

/// The n-th number of a stream, in [0, 1).
fn uniform(seed: u64, nth: u64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_word_pos(u128::from(nth) * 2);
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [1.0, 3.0, -2.0, 3.0, 0.5];

    fn sampling(temperature: f32, top_p: f32) -> Sampling {
        Sampling { temperature, top_p, seed: 9 }
    }

    fn shares(allowed: fn(u32) -> bool, sampling: Sampling) -> [f64; 5] {
        let mut counts = [0.0; 5];
        for nth in 0..20_000 {
            counts[choose(&LOGITS, allowed, sampling, nth).unwrap().token as usize] += 1.0 / 20_000.0;
        }
        counts
    }

    #[test]
    fn greedy_takes_the_first_of_the_best_allowed() {
        assert_eq!(choose(&LOGITS, |_| true, sampling(0.0, 1.0), 0).unwrap().token, 1);
        assert_eq!(choose(&LOGITS, |t| t > 1, sampling(0.0, 1.0), 0).unwrap().token, 3);
        assert_eq!(choose(&LOGITS, |_| false, sampling(0.0, 1.0), 0), None);
        assert_eq!(choose(&LOGITS, |_| true, sampling(f32::NAN, 1.0), 0).unwrap().token, 1);
    }

    #[test]
    fn samples_follow_the_distribution_the_mask_and_the_nucleus() {
        let exact: Vec<f64> = LOGITS.iter().map(|l| f64::from(*l / 0.7).exp()).collect();
        let total: f64 = exact.iter().sum();
        for (share, p) in shares(|_| true, sampling(0.7, 1.0)).iter().zip(&exact) {
            assert!((share - p / total).abs() < 0.012, "{share} {}", p / total);
        }
        let masked = shares(|t| t != 1, sampling(1.0, 1.0));
        assert_eq!(masked[1], 0.0);
        assert!(masked[0] > 0.05 && masked[4] > 0.03);
        // 1 and 3 together have 0.83 at temperature 1.
        let nucleus = shares(|_| true, sampling(1.0, 0.8));
        assert_eq!((nucleus[0], nucleus[2], nucleus[4]), (0.0, 0.0, 0.0));
        assert!((nucleus[1] - 0.5).abs() < 0.012);
        assert_eq!(choose(&LOGITS, |_| true, sampling(1.0, 0.0), 3).unwrap().token, 1);
    }

    #[test]
    fn the_same_seed_and_place_give_the_same_token() {
        let all = |seed: u64| -> Vec<u32> {
            (0..50).map(|n| choose(&LOGITS, |_| true, Sampling { temperature: 1.5, top_p: 0.95, seed }, n).unwrap().token).collect()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
    }

    #[test]
    fn logprob_and_entropy_are_of_the_unmasked_distribution() {
        let choice = choose(&LOGITS, |t| t == 2, sampling(0.3, 0.5), 0).unwrap();
        let total: f64 = LOGITS.iter().map(|l| f64::from(*l).exp()).sum();
        let p: Vec<f64> = LOGITS.iter().map(|l| f64::from(*l).exp() / total).collect();
        assert!((f64::from(choice.logprob) - p[2].ln()).abs() < 1e-6);
        assert!((f64::from(choice.entropy) + p.iter().map(|p| p * p.ln()).sum::<f64>()).abs() < 1e-6);
        assert_eq!(logprob(&LOGITS, 2), Some(choice.logprob));
    }

    #[test]
    fn logits_that_are_not_finite_choose_nothing() {
        for bad in [f32::NAN, f32::INFINITY] {
            assert_eq!(choose(&[0.0, bad, 1.0], |_| true, sampling(0.0, 1.0), 0), None);
        }
        assert_eq!(choose(&[f32::NEG_INFINITY; 2], |_| true, sampling(0.0, 1.0), 0), None);
    }
}
