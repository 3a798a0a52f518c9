//! Duty: the crank: lanes, policy slots, four phases, pause, step, pace, swap at a decision boundary.
//! May import: event, cond, env, reward, agent, net, endpoint, tool, checkpoint, model, learn, telemetry, metrics, alert, state, journal.
//! Emits: every event of a run, through the journal.
//! Accepts: commands and facts, by its inbox.
//! Test: `cargo test --lib engine::`.

mod branching;
mod breakpoints;
mod control;
mod crank;
mod ending;
mod lane;
mod past;
mod provider;
mod recital;
mod settings;
mod silences;
mod verify;

pub use crank::Engine;
pub use provider::{LoadedPolicy, PolicyProvider};
pub use recital::{Recital, Recited};
pub use settings::{AgentKind, EngineSettings, RunFacts, episode_seed, window_of};
pub use verify::{Difference, VerifyError, VerifyReport, check_environment, verify, verify_policy};

#[cfg(test)]
mod tests;
