//! Every kind of event, in one table. Events are past tense. A kind once used is never given another meaning.

use super::num;
use super::{
    AlertNotified, AlertStateChanged, Breakpoint, CheckpointId, Command, CommandId, EpisodeId, ErrorType, GpuStatus, HostSample, LaneId,
    Level, Observation, ObservationField, Origin, Pace, Route, RuleEvaluated, RulesLoaded, RunId, SafeText, Seed, SilenceEnded, SilenceSet,
    StepIndex, TargetScraped, TokenId, ToolCall, ToolSpec, Variation,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Something that happened. `Unknown` holds a kind of a newer version, untouched.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
            /// A kind that this version does not know. It is kept and passed on, and nothing is derived from it.
            Unknown { kind: String, data: Value },
        }

        impl Event {
            /// All kinds that this version knows.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The key `k` of the line in a recording.
            pub fn kind(&self) -> &str {
                match self {
                    $(Event::$name(_) => stringify!($name),)*
                    Event::Unknown { kind, .. } => kind,
                }
            }

            /// Reads the payload `d` of an event of kind `k`.
            pub(super) fn decode(kind: &str, data: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $(stringify!($name) => serde_json::from_str(data).map(Event::$name),)*
                    _ => Ok(Event::Unknown { kind: kind.to_owned(), data: serde_json::from_str(data)? }),
                }
            }

            pub(super) fn serialize_data<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Event::$name(data) => data.serialize(s),)*
                    Event::Unknown { data, .. } => data.serialize(s),
                }
            }
        }

        $(impl From<$name> for Event {
            fn from(data: $name) -> Self {
                Event::$name(data)
            }
        })*
    };
}

events! {
    RunStarted,
    EpisodeStarted,
    /// Stands right behind the `EpisodeStarted` of its episode.
    BranchStarted,
    PhaseEntered,
    ObservationReceived,
    ThoughtDelta,
    MessageCompleted,
    ToolCallStarted,
    ToolCallFinished,
    TransitionRecorded,
    DecisionSettled,
    MemoryCompressed,
    EpisodeEnded,
    RunStateChanged,
    BreakpointSet,
    BreakpointHit,
    BreakpointCleared,
    PaceChanged,
    PolicyStateChanged,
    CheckpointListed,
    CheckpointSaved,
    CheckpointVerified,
    CheckpointSwapped,
    UpdateCompleted,
    EvaluationCompleted,
    TelemetrySampled,
    TargetScraped,
    RulesLoaded,
    RuleEvaluated,
    AlertStateChanged,
    AlertNotified,
    SilenceSet,
    SilenceEnded,
    CommandAccepted,
    CommandRejected,
    SinkFailed,
    SamplesDropped,
    LogLine,
    Elided,
}

/// The first event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    pub run: RunId,
    /// RFC 3339, UTC. Alert time is this plus `t_ns`.
    pub started: String,
    pub build: String,
    /// The checkpoint that it began with, or `heuristic`, `random`, `oracle`.
    pub agent: SafeText,
    pub env: String,
    pub env_version: String,
    pub level: Level,
    pub seed: Seed,
    pub lanes: u32,
    /// Longest episode, in decisions, before it is truncated.
    pub max_steps: u32,
    pub tools: Vec<ToolSpec>,
    pub reward: RewardFormula,
    /// `dev`, `test` or `prod`.
    pub profile: String,
    /// How a model's messages are decoded; unset for scripted agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoding: Option<Decoding>,
}

/// How a model's messages are decoded: what a second run of the policy needs besides seed and prompt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decoding {
    /// 0 is greedy.
    pub temperature: f32,
    pub top_p: f32,
    /// Tokens of one message at most.
    pub tokens_max: u32,
    /// Decisions in the prompt at which older ones are compressed.
    pub window_steps: u32,
    /// Decisions that a compression keeps verbatim.
    pub keep_steps: u32,
    pub prompt_tokens_max: u32,
}

/// The hybrid reward: `step_weight · Σ γ^i r_i + final_weight · final`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardFormula {
    #[serde(with = "num::float")]
    pub step_weight: f64,
    #[serde(with = "num::float")]
    pub final_weight: f64,
    #[serde(with = "num::float")]
    pub gamma: f64,
}

impl Default for RewardFormula {
    fn default() -> Self {
        Self { step_weight: 0.7, final_weight: 0.3, gamma: 0.95 }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeStarted {
    pub seed: Seed,
    pub level: Level,
    /// What the agent is asked to do.
    pub goal: SafeText,
    /// For the model: what precedes the first observation, such as the service map.
    pub briefing: SafeText,
    /// Names and units of each observation's `values`.
    pub fields: Vec<ObservationField>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    #[serde(with = "num::hash")]
    pub state_hash: u64,
}

/// Why an episode goes on from a step of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchCause {
    /// The lane went back; what came after that step stays as it was told.
    Rewind,
    /// A new lane goes on beside the parent.
    Fork,
}

/// The episode goes on from a step of another one of the same run: the same seed and level, and the steps before `at_step` are the
/// parent's. It stands right behind `EpisodeStarted`, which is as the parent's was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchStarted {
    pub parent_lane: LaneId,
    pub parent: EpisodeId,
    /// The first step that is decided anew.
    pub at_step: StepIndex,
    pub cause: BranchCause,
    /// What is not as in the parent.
    #[serde(default, skip_serializing_if = "Variation::is_none")]
    pub with: Variation,
    /// Of the environment before `at_step`.
    #[serde(with = "num::hash")]
    pub state_hash: u64,
    /// Σ r_i of the steps before `at_step`.
    #[serde(with = "num::float")]
    pub reward_sum: f64,
    /// Σ γ^i r_i of the steps before `at_step`.
    #[serde(with = "num::float")]
    pub discounted_sum: f64,
}

impl std::fmt::Display for BranchStarted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cause = match self.cause {
            BranchCause::Rewind => "went back",
            BranchCause::Fork => "fork",
        };
        write!(f, "{cause}: from {}:{} before step {}{}", self.parent_lane, self.parent, self.at_step, self.with)
    }
}

/// The four phases of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Observe,
    Think,
    Act,
    Settle,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseEntered {
    pub phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservationReceived {
    pub observation: Observation,
}

/// A piece of the message that is being decoded. `MessageCompleted` is the authority.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThoughtDelta {
    pub text: SafeText,
    /// Tokens in this piece; 0 for agents that are not models.
    pub tokens: u32,
}

/// Why decoding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended its message.
    Stop,
    /// The limit of tokens was reached.
    Length,
    Cancelled,
    /// An agent that is not a model decided.
    Scripted,
}

/// A whole message of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageCompleted {
    /// Everything that was said, marks included, as the model wrote it.
    pub text: SafeText,
    /// The thought in it.
    pub thought: SafeText,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_ids: Vec<TokenId>,
    /// Natural logarithms, one a token, of the distribution that was sampled from, before the grammar's mask.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    pub logprobs: Vec<f32>,
    /// Nats, one a token, of the same distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    pub entropy: Vec<f32>,
    /// Bytes of `text` up to and with each token. Empty where tokens can't be told apart in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_ends: Vec<u32>,
    /// What a trainer's own forward pass says of the same tokens, natural logarithms; only recordings of training have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    pub trainer_logprobs: Vec<f32>,
    /// The advantage that training gave each token.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    pub advantages: Vec<f32>,
    /// Whether each token counts in the loss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss_mask: Vec<bool>,
    pub finish_reason: FinishReason,
    pub prompt_tokens: u32,
    /// Tokens of the prompt whose keys and values were still in the cache.
    pub cached_tokens: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// Prefill and decode together, without what its lane stood still for meanwhile.
    pub duration_ns: u64,
    /// The part of it up to the first token; unset for agents without tokens, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill_ns: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCallStarted {
    pub call_id: u64,
    pub route: Route,
    pub call: ToolCall,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCallFinished {
    pub call_id: u64,
    pub tool: SafeText,
    pub result: SafeText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<ErrorType>,
    pub duration_ns: u64,
}

/// One transition (s, a, r, s'), the unit of verification and of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransitionRecorded {
    pub action: RecordedAction,
    /// Step reward, in [0, 1].
    #[serde(with = "num::float")]
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    /// The critic's estimate; unset where the policy has no value head.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub value: Option<f64>,
    /// Hash of the environment's whole state after the step.
    #[serde(with = "num::hash")]
    pub state_hash: u64,
    /// Undiscounted sum of step rewards so far.
    #[serde(with = "num::float")]
    pub reward_sum: f64,
    /// The step term Σ γ^i r_i so far.
    #[serde(with = "num::float")]
    pub discounted_sum: f64,
}

/// What the environment was given, exactly enough to give it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedAction {
    /// Words and no call, or a message that held no valid call.
    Text(SafeText),
    Tool(ToolCall),
    /// A call that was answered outside the environment; replay feeds the recorded result.
    Outside {
        call: ToolCall,
        result: super::ToolResult,
    },
}

/// The decision boundary: the last event of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionSettled {
    /// From entering `observe` to here, pauses included.
    pub duration_ns: u64,
    /// Bytes of what the agent remembers of its episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Older steps of the prompt were replaced by a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryCompressed {
    /// Tokens of the replaced part before.
    pub before: u32,
    /// Tokens of its summary.
    pub after: u32,
    /// `before / after`.
    #[serde(with = "num::float")]
    pub ratio: f64,
    /// Tokens of the whole prompt after the compression.
    pub prompt_tokens: u32,
    pub summary: SafeText,
}

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeEnding {
    Terminated,
    Truncated,
    /// The operator ended it, or the run was shut down.
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeEnded {
    pub ending: EpisodeEnding,
    /// Undiscounted sum of step rewards: independent of γ.
    #[serde(rename = "return", with = "num::float")]
    pub episode_return: f64,
    /// Share of the task that was done, in [0, 1].
    #[serde(with = "num::float")]
    pub final_reward: f64,
    /// The hybrid reward.
    #[serde(with = "num::float")]
    pub hybrid: f64,
    pub success: bool,
    pub length: u32,
    pub tool_errors: u32,
    /// Share of decisions whose thought begins with a span of the current observation; unset where no thought was made.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub thought_fidelity: Option<f64>,
    /// What was true all along, told now that it can't help: the hidden fault.
    pub truth: SafeText,
}

/// How an episode came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Success,
    Failure,
    /// Cut short, which says nothing of the agent: it counts in no statistic.
    Aborted,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Success => "success",
            Verdict::Failure => "failure",
            Verdict::Aborted => "aborted",
        }
    }
}

impl EpisodeEnded {
    pub fn verdict(&self) -> Verdict {
        match self.ending {
            EpisodeEnding::Aborted => Verdict::Aborted,
            EpisodeEnding::Terminated | EpisodeEnding::Truncated if self.success => Verdict::Success,
            EpisodeEnding::Terminated | EpisodeEnding::Truncated => Verdict::Failure,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The policy is being loaded.
    #[default]
    Starting,
    Running,
    Paused,
    /// One lane moves to the end of the asked unit, then the run is paused again.
    Stepping,
    Ended,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStateChanged {
    pub state: RunState,
    pub reason: SafeText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaceChanged {
    pub pace: Pace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyState {
    Loading,
    Ready,
    Failed,
}

/// A policy slot began to load, is ready, or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyStateChanged {
    pub state: PolicyState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// Device and why it was chosen, or what failed and what to do.
    pub detail: SafeText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens_max: Option<u32>,
    pub duration_ns: u64,
}

/// A checkpoint that this run can be switched to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointListed {
    pub checkpoint: CheckpointId,
    pub sha256: String,
    pub training_step: u64,
    pub note: SafeText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointSaved {
    pub checkpoint: CheckpointId,
    pub sha256: String,
    pub training_step: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointVerified {
    pub checkpoint: CheckpointId,
    pub sha256: String,
    pub ok: bool,
    pub detail: SafeText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointSwapped {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<CheckpointId>,
    pub to: CheckpointId,
    pub sha256: String,
}

/// One update of a training job. Unset means that the algorithm has no such figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UpdateCompleted {
    pub update: u64,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub policy_loss: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub value_loss: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub entropy: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub approx_kl: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub clip_fraction: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub grad_norm: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub explained_variance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub learning_rate: Option<f64>,
    pub tokens: u64,
    pub duration_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationCompleted {
    pub agent: SafeText,
    pub level: Level,
    pub episodes: u32,
    #[serde(with = "num::float")]
    pub success_ratio: f64,
    /// Wilson 95 % interval.
    #[serde(with = "num::float")]
    pub success_low: f64,
    #[serde(with = "num::float")]
    pub success_high: f64,
    #[serde(with = "num::float")]
    pub return_mean: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TelemetrySampled {
    pub host: HostSample,
    pub gpu: GpuStatus,
}

/// A breakpoint was set, or the one of this number changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointSet {
    pub number: u32,
    #[serde(flatten)]
    pub breakpoint: Breakpoint,
}

/// A breakpoint holds at an event where it did not just before, or in a new decision. Stands at the place of that event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakpointHit {
    pub number: u32,
    pub when: SafeText,
    /// The event at which it holds, and of which kind that is.
    pub at: super::Seq,
    pub kind: SafeText,
    /// What the condition names, and what that was at the event.
    pub why: Vec<Seen>,
    /// Hits of this breakpoint so far, this one included.
    pub hits: u64,
    pub outcome: HitOutcome,
}

/// A name of a condition and what it came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub name: SafeText,
    /// In JSON, cut where it is long.
    pub value: SafeText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HitOutcome {
    /// The run stands still.
    Paused,
    /// It is one that only tells.
    Logged,
    /// Passed over, as it was asked.
    Ignored,
}

impl std::fmt::Display for BreakpointHit {
    /// Such as `bp2: reward < 0.0; reward = -0.25 (TransitionRecorded, hit 3)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "bp{}: {}", self.number, self.when)?;
        for (i, Seen { name, value }) in self.why.iter().enumerate() {
            write!(f, "{} {name} = {value}", if i == 0 { ";" } else { "," })?;
        }
        write!(f, " ({}, hit {})", self.kind, self.hits)
    }
}

/// A breakpoint is no more: it was taken away, or had its one hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointCleared {
    pub number: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandAccepted {
    pub id: CommandId,
    pub command: Command,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandRejected {
    pub id: CommandId,
    pub command: Command,
    pub origin: Origin,
    /// What stood in the way and what to do.
    pub reason: SafeText,
}

/// Something that the journal writes to failed; the run is paused where nothing may be lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SinkFailed {
    pub sink: SafeText,
    pub reason: SafeText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplesDropped {
    pub sampler: SafeText,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    pub level: LogLevel,
    /// The room that speaks.
    pub target: SafeText,
    pub text: SafeText,
}

/// Events that a seal left out: the finished message has their whole text. Takes the `seq` of `upto`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elided {
    pub from: super::Seq,
    pub upto: super::Seq,
}
