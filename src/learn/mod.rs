//! Duty: training and evaluation: behaviour cloning with DAgger, rollouts, evaluation statistics.
//! May import: event, env, agent, reward, model, checkpoint.
//! Emits: `UpdateCompleted`, `EvaluationCompleted`, checkpoints.
//! Accepts: environments, teachers, seeds.
//! Test: `cargo test --lib learn::`.

mod bc;
mod dagger;
mod error;
mod eval;
mod rollout;
mod stats;
mod windows;

pub use bc::{BcHost, BcSettings, Phase, Progress, Stage, train_bc};
pub use error::LearnError;
pub use eval::{Agent, AgentReport, PairedDifference, evaluate, paired};
pub use rollout::{EpisodeTrace, PolicySettings, TraceStep, play_baseline, play_oracle, play_policy};
pub use stats::{Interval, bootstrap_mean, wilson};

/// Seeds of training episodes: disjoint from the held-out ones (below 2^31) and from those of live runs (2^52 and up).
pub const TRAINING_SEEDS_FROM: u64 = 1 << 40;
