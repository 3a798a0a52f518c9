//! The figures that have a curve: their names, what counts them, how they are written, where their values are.

use crate::state::{Bucket, DashState, LaneState, Sample, Series};
use crate::ui::lang::tr;
use crate::ui::widgets::format;
use serde::{Deserialize, Serialize};

/// One figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    Return,
    StepReward,
    Success,
    Hybrid,
    Length,
    PolicyLoss,
    ValueLoss,
    Entropy,
    Kl,
    ExplainedVariance,
    ClipFraction,
    GradNorm,
    LearningRate,
    Tokens,
    Duration,
}

/// What counts the values of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Episode,
    Step,
    Update,
}

impl Figure {
    pub const ALL: [Figure; 15] = [
        Figure::Return,
        Figure::StepReward,
        Figure::Success,
        Figure::Hybrid,
        Figure::Length,
        Figure::PolicyLoss,
        Figure::ValueLoss,
        Figure::Entropy,
        Figure::Kl,
        Figure::ExplainedVariance,
        Figure::ClipFraction,
        Figure::GradNorm,
        Figure::LearningRate,
        Figure::Tokens,
        Figure::Duration,
    ];

    /// Those of an update of training, the ones that are looked at first in front.
    pub const TRAINING: &[Figure] = Self::ALL.split_at(5).1;

    /// As `:series` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Return => "return",
            Figure::StepReward => "step-reward",
            Figure::Success => "success",
            Figure::Hybrid => "hybrid",
            Figure::Length => "length",
            Figure::PolicyLoss => "policy-loss",
            Figure::ValueLoss => "value-loss",
            Figure::Entropy => "entropy",
            Figure::Kl => "kl",
            Figure::ExplainedVariance => "explained-variance",
            Figure::ClipFraction => "clip-fraction",
            Figure::GradNorm => "grad-norm",
            Figure::LearningRate => "learning-rate",
            Figure::Tokens => "tokens",
            Figure::Duration => "duration",
        }
    }

    /// The figure of that name, or the only one that begins so.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let name = name.trim().to_lowercase().replace('_', "-");
        if let Some(figure) = Self::ALL.iter().find(|f| f.name() == name) {
            return Ok(*figure);
        }
        let begins: Vec<Figure> = Self::ALL.into_iter().filter(|f| !name.is_empty() && f.name().starts_with(&name)).collect();
        match begins.as_slice() {
            [one] => Ok(*one),
            [] | [_, _, ..] => {
                let all = Self::ALL.map(Figure::name).join(", ");
                Err(tr!("no series is named `{name}`; there are {all}", name = name, all = all))
            }
        }
    }

    pub fn title(self) -> String {
        match self {
            Figure::Return => tr!("return"),
            Figure::StepReward => tr!("step reward"),
            Figure::Success => tr!("success"),
            Figure::Hybrid => tr!("hybrid reward"),
            Figure::Length => tr!("episode length"),
            Figure::PolicyLoss => tr!("policy loss"),
            Figure::ValueLoss => tr!("value loss"),
            Figure::Entropy => tr!("entropy"),
            Figure::Kl => tr!("approx. KL"),
            Figure::ExplainedVariance => tr!("explained variance"),
            Figure::ClipFraction => tr!("clip fraction"),
            Figure::GradNorm => tr!("gradient norm"),
            Figure::LearningRate => tr!("learning rate"),
            Figure::Tokens => tr!("tokens"),
            Figure::Duration => tr!("duration of an update"),
        }
    }

    pub fn count(self) -> Count {
        match self {
            Figure::Return | Figure::Success | Figure::Hybrid | Figure::Length => Count::Episode,
            Figure::StepReward => Count::Step,
            Figure::PolicyLoss
            | Figure::ValueLoss
            | Figure::Entropy
            | Figure::Kl
            | Figure::ExplainedVariance
            | Figure::ClipFraction
            | Figure::GradNorm
            | Figure::LearningRate
            | Figure::Tokens
            | Figure::Duration => Count::Update,
        }
    }

    /// Whether its values are 0 or 1, so that only a mean of them says something.
    pub fn is_ratio(self) -> bool {
        self == Figure::Success
    }

    /// One value in words.
    pub fn value(self, value: f64) -> String {
        match self {
            Figure::Success => format::percent(value),
            Figure::Duration if value >= 0.0 => format::duration(value as u64),
            Figure::Return
            | Figure::StepReward
            | Figure::Hybrid
            | Figure::Length
            | Figure::PolicyLoss
            | Figure::ValueLoss
            | Figure::Entropy
            | Figure::Kl
            | Figure::ExplainedVariance
            | Figure::ClipFraction
            | Figure::GradNorm
            | Figure::LearningRate
            | Figure::Tokens
            | Figure::Duration => format::number(value),
        }
    }

    /// How the vertical axis writes it.
    pub fn label(self, log: bool) -> fn(f64) -> String {
        let [plain, power]: [fn(f64) -> String; 2] = match self {
            Figure::Success => [format::percent_whole, |v| format::percent_whole(10f64.powf(v))],
            Figure::Duration => [|v| Figure::Duration.value(v), |v| Figure::Duration.value(10f64.powf(v))],
            Figure::Return
            | Figure::StepReward
            | Figure::Hybrid
            | Figure::Length
            | Figure::PolicyLoss
            | Figure::ValueLoss
            | Figure::Entropy
            | Figure::Kl
            | Figure::ExplainedVariance
            | Figure::ClipFraction
            | Figure::GradNorm
            | Figure::LearningRate
            | Figure::Tokens => [format::number, |v| format::number(10f64.powf(v))],
        };
        if log { power } else { plain }
    }

    /// The series of the state that holds it; a step reward's is its episode's.
    fn series(self, state: &DashState) -> Option<&Series> {
        let curves = &state.curves;
        match self {
            Figure::StepReward => None,
            Figure::Return => Some(&curves.episode_return),
            Figure::Success => Some(&curves.success),
            Figure::Hybrid => Some(&curves.hybrid),
            Figure::Length => Some(&curves.length),
            Figure::PolicyLoss => Some(&curves.policy_loss),
            Figure::ValueLoss => Some(&curves.value_loss),
            Figure::Entropy => Some(&curves.entropy),
            Figure::Kl => Some(&curves.approx_kl),
            Figure::ExplainedVariance => Some(&curves.explained_variance),
            Figure::ClipFraction => Some(&curves.clip_fraction),
            Figure::GradNorm => Some(&curves.grad_norm),
            Figure::LearningRate => Some(&curves.learning_rate),
            Figure::Tokens => Some(&curves.tokens),
            Figure::Duration => Some(&curves.duration_ns),
        }
    }

    pub fn has_values(self, state: &DashState, lane: Option<&LaneState>) -> bool {
        match self.series(state) {
            Some(series) => !series.is_empty(),
            None => lane.is_some_and(|lane| !lane.episode.rewards.is_empty()),
        }
    }

    /// Its values, oldest first: at most a few hundred buckets and as many single values.
    pub fn buckets(self, state: &DashState, lane: Option<&LaneState>) -> Vec<Bucket> {
        match self.series(state) {
            Some(series) => series.buckets().collect(),
            None => {
                let rewards = lane.iter().flat_map(|lane| lane.episode.rewards.iter());
                rewards.map(|p| Bucket::from(Sample { step: u64::from(p.step), t_ns: p.t_ns, value: p.value })).collect()
            }
        }
    }

    /// The newest values of a series, oldest first.
    pub fn recent(self, state: &DashState) -> Vec<f64> {
        self.series(state).iter().flat_map(|s| s.recent().iter()).map(|sample| sample.value).collect()
    }

    /// Values that fell out of what is kept before the first bucket.
    pub fn dropped(self, lane: Option<&LaneState>) -> u64 {
        match self.count() {
            Count::Step => lane.map_or(0, |l| l.episode.rewards.total() - l.episode.rewards.len() as u64),
            Count::Episode | Count::Update => 0,
        }
    }

    /// Why there is nothing to see.
    pub fn missing(self, state: &DashState) -> String {
        match self.count() {
            Count::Episode => tr!("no episode has ended yet"),
            Count::Step => tr!("waiting for the first step"),
            Count::Update if state.updates.is_empty() => tr!("n/a (no training update up to here)"),
            Count::Update => tr!("n/a (this training has no such figure)"),
        }
    }
}

impl Count {
    /// Behind the last number of the axis.
    pub fn unit(self) -> String {
        match self {
            Count::Episode => tr!("ep"),
            Count::Step => tr!("step"),
            Count::Update => tr!("update"),
        }
    }
}
