//! Evaluation on held-out seeds, with intervals.

use super::rollout::{EpisodeTrace, PolicySettings, play_baseline, play_oracle, play_policy};
use super::{Interval, LearnError, bootstrap_mean, wilson};
use crate::agent::Policy;
use crate::env::{BaselineKind, Environment};
use crate::event::{Level, Seed};

/// Who is evaluated.
pub enum Agent<'a> {
    Baseline(BaselineKind),
    Oracle,
    Policy { policy: &'a mut dyn Policy, settings: PolicySettings },
}

/// How an agent did on a set of seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentReport {
    pub level: Level,
    pub episodes: u64,
    /// Wilson interval.
    pub success: Interval,
    /// Bootstrap intervals of the means.
    pub episode_return: Interval,
    pub final_reward: Interval,
    pub length: Interval,
    pub tool_errors: Interval,
    pub thought_fidelity: Interval,
    pub traces: Vec<EpisodeTrace>,
}

/// Plays every seed once.
pub fn evaluate(agent: &mut Agent<'_>, env: &dyn Environment, level: Level, seeds: &[Seed]) -> Result<AgentReport, LearnError> {
    let traces = match agent {
        Agent::Baseline(kind) => {
            let mut env = env.fresh();
            let mut baseline = env.baseline(*kind);
            seeds.iter().map(|s| play_baseline(env.as_mut(), baseline.as_mut(), *s, level)).collect()
        }
        Agent::Oracle => {
            let mut env = env.fresh();
            seeds.iter().map(|s| play_oracle(env.as_mut(), *s, level)).collect()
        }
        Agent::Policy { policy, settings } => {
            let seeds: Vec<(Seed, Level)> = seeds.iter().map(|s| (*s, level)).collect();
            play_policy(*policy, env, &seeds, settings)?
        }
    };
    Ok(AgentReport::new(level, traces))
}

impl AgentReport {
    fn new(level: Level, traces: Vec<EpisodeTrace>) -> Self {
        let mean = |of: &dyn Fn(&EpisodeTrace) -> f64| bootstrap_mean(&traces.iter().map(of).collect::<Vec<f64>>());
        let successes = traces.iter().filter(|t| t.success).count() as u64;
        Self {
            level,
            episodes: traces.len() as u64,
            success: wilson(successes, traces.len() as u64),
            episode_return: mean(&EpisodeTrace::episode_return),
            final_reward: mean(&|t| t.final_reward),
            length: mean(&|t| t.steps.len() as f64),
            tool_errors: mean(&|t| t.tool_errors() as f64),
            thought_fidelity: mean(&EpisodeTrace::thought_fidelity),
            traces,
        }
    }
}

/// Two agents on the same seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedDifference {
    /// Mean of b's success less a's, bootstrap over seeds.
    pub success: Interval,
    pub final_reward: Interval,
    /// Episodes that a failed and b solved, and the other way round.
    pub fixed: Vec<Seed>,
    pub broken: Vec<Seed>,
}

/// Differences seed by seed; the reports must be of the same seeds in the same order, else `None`.
pub fn paired(a: &AgentReport, b: &AgentReport) -> Option<PairedDifference> {
    if a.level != b.level || a.traces.len() != b.traces.len() || a.traces.iter().zip(&b.traces).any(|(x, y)| x.seed != y.seed) {
        return None;
    }
    let pairs = || a.traces.iter().zip(&b.traces);
    let difference = |of: &dyn Fn(&EpisodeTrace) -> f64| bootstrap_mean(&pairs().map(|(x, y)| of(y) - of(x)).collect::<Vec<f64>>());
    Some(PairedDifference {
        success: difference(&|t| f64::from(t.success)),
        final_reward: difference(&|t| t.final_reward),
        fixed: pairs().filter(|(x, y)| !x.success && y.success).map(|(x, _)| x.seed).collect(),
        broken: pairs().filter(|(x, y)| x.success && !y.success).map(|(x, _)| x.seed).collect(),
    })
}
