//! Duty: the `Environment` trait and the simulators, one folder each.
//! May import: event.
//! Emits: observations, rewards, flags; it knows no journal.
//! Accepts: actions; one tool call is one tick.
//! Test: `cargo test --lib env::`, `cargo test --test queueing`.

pub mod ops;

use crate::event::{Level, Observation, ObservationField, SafeText, Seed, ToolCall, ToolResult, ToolSpec};
use serde::{Deserialize, Serialize};

/// A simulator. Integer time, counted random streams, no clock: the same seed, level and actions give the same bits.
pub trait Environment: Send {
    fn spec(&self) -> &EnvSpec;
    /// Begins an episode.
    fn reset(&mut self, seed: Seed, level: Level) -> Reset;
    /// One decision. After the end of an episode it changes nothing and returns the last result again.
    fn step(&mut self, action: &Action) -> StepResult;
    fn snapshot(&self) -> EnvSnapshot;
    /// Makes this environment the one that was snapshotted, whatever it was before.
    fn restore(&mut self, snapshot: &EnvSnapshot) -> Result<(), EnvError>;
    /// Hash of the whole state, hidden parts and random streams included.
    fn state_hash(&self) -> u64;
    /// What would be told of an episode that is cut short here, by a limit that is not the environment's own.
    fn conclude(&self) -> Info;
    /// What an agent that sees everything would do now. Bounds the scores; it is never cloned.
    fn oracle(&self) -> Decision;
    /// A new environment of the same kind and parameters, not yet reset.
    fn fresh(&self) -> Box<dyn Environment>;
    /// A scripted agent that sees observations only.
    fn baseline(&self, kind: BaselineKind) -> Box<dyn Baseline>;
}

/// What an environment is; in the recording's header. Another version or other parameters can't verify a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvSpec {
    pub name: String,
    pub version: String,
    /// Over the parameters that the simulation hangs on.
    pub params_sha256: String,
    pub max_steps: u32,
    pub tools: Vec<ToolSpec>,
}

/// The beginning of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Reset {
    pub observation: Observation,
    pub goal: SafeText,
    /// For the model: what precedes the first observation, such as the service map.
    pub briefing: SafeText,
    pub fields: Vec<ObservationField>,
    /// The spec's tools with this episode's names filled in (`enum` of service names): decoding is constrained by these.
    pub tools: Vec<ToolSpec>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepResult {
    pub observation: Observation,
    /// What the called tool answered.
    pub result: ToolResult,
    /// In [0, 1].
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    pub info: Info,
}

/// Facts that the agent does not see; set once the episode has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// Share of the task that was done, in [0, 1].
    pub final_reward: Option<f64>,
    pub success: Option<bool>,
    /// The hidden fault, in words.
    pub truth: Option<SafeText>,
}

/// What the agent does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Words and no valid call. The environment waits a tick; the caller may punish it.
    Text(String),
    Tool(ToolCall),
    /// A call that was answered outside; the environment charges its clock and cost.
    Outside {
        call: ToolCall,
        result: ToolResult,
    },
}

/// Versioned bytes, so that the trait stays object-safe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvSnapshot {
    pub name: String,
    pub version: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    #[error("the snapshot is of {found}, this environment is {expected}: use the build that made it")]
    SnapshotVersion { found: String, expected: String },
    #[error("the snapshot is damaged: {0}")]
    SnapshotDamaged(String),
    #[error("no environment is named `{0}`; there is: {names}", names = NAMES.join(", "))]
    UnknownName(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineKind {
    Random,
    /// Threshold autoscaler and runbook rules; the teacher of the built-in agent.
    Heuristic,
}

/// A thought and a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub thought: SafeText,
    pub call: ToolCall,
}

/// A scripted agent: a function of the observations and of the calls that were really made.
pub trait Baseline: Send + Sync {
    fn begin(&mut self, start: &Reset, seed: Seed);
    /// What it would do on seeing `observation`. Called once an observation.
    fn decide(&mut self, observation: &Observation) -> Decision;
    /// The call that was made, which need not be the one it wanted.
    fn took(&mut self, call: &ToolCall);
    /// Another one that decides the same from here on.
    fn duplicate(&self) -> Box<dyn Baseline>;
}

/// Names for `--env`.
pub const NAMES: &[&str] = &["ops"];

/// The environment of that name with its default parameters.
pub fn make(name: &str) -> Result<Box<dyn Environment>, EnvError> {
    match name {
        "ops" => Ok(Box::new(ops::Ops::new())),
        _ => Err(EnvError::UnknownName(name.to_owned())),
    }
}
