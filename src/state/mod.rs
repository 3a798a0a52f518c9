//! Duty: the pure fold of events to `DashState`, which every screen draws.
//! May import: event.
//! Emits: nothing. No clock, no IO, no randomness: the same events give the same state, live and replayed.
//! Accepts: envelopes in dense order; a gap is an error.
//! Test: `cargo test --lib state::`, `cargo test --test one_path`.

mod alerting;
mod episodes;
mod fold;
mod gpu_health;
mod ring;
mod series;
mod token_trace;
mod tools;
mod transcript;

pub use alerting::{AlertRow, Alerting, Hush, PastReading, RuleRow, SilenceRow, Stand, Standing, TargetRow, Turn};
pub use episodes::{CurrentEpisode, EpisodeRow, MemoryRow, SeriesPoint};
pub use fold::{ApplyError, LaneState};
pub use ring::Ring;
pub use series::{Bucket, Curves, Sample, Series};
pub use token_trace::{TokenMeasure, TokenTrace};
pub use tools::ToolStats;
pub use transcript::{Outcome, Row, RowKind, Streaming, Transcript};

use crate::event::{
    AlertStateChanged, BranchStarted, Breakpoint, CheckpointId, CheckpointListed, EpisodeEnded, EpisodeId, EvaluationCompleted, GpuHealth,
    LaneId, LogLevel, Pace, PolicyStateChanged, RunStarted, RunState, SafeText, Seq, TelemetrySampled, UpdateCompleted, Waits,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that panes show, bounded in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DashState {
    /// The last event that was folded.
    pub seq: Seq,
    /// Its time, in nanoseconds since the run began.
    pub t_ns: u64,
    pub run: Option<RunStarted>,
    pub run_state: RunState,
    pub run_state_reason: SafeText,
    pub pace: Option<Pace>,
    pub policy: Option<PolicyStateChanged>,
    /// What serves now.
    pub serving: Option<CheckpointId>,
    pub checkpoints: Vec<CheckpointListed>,
    /// What served when, oldest first.
    #[serde(default)]
    pub swaps: Ring<SwapRow, 64>,
    /// Episodes that go on from a step of another one, oldest first.
    #[serde(default)]
    pub branches: Ring<BranchRow, 256>,
    /// Where the run is to stop, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub breakpoints: BTreeMap<u32, BreakpointRow>,
    /// The breakpoint for which it stands still; unset once it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<u32>,
    /// By lane: current episode, transcript, phase.
    pub lanes: BTreeMap<LaneId, LaneState>,
    /// Finished episodes of all lanes, oldest first.
    pub episodes: Ring<EpisodeRow>,
    pub episodes_total: u64,
    pub successes_total: u64,
    /// Episodes that were cut short by the operator or a failure; they are in `episodes_total` too.
    #[serde(default)]
    pub aborted_total: u64,
    pub decisions_total: u64,
    pub tokens_total: u64,
    /// By tool name.
    pub tools: BTreeMap<String, ToolStats>,
    pub telemetry: Option<TelemetrySampled>,
    /// By index: what each GPU told last of what it is asked seldom.
    #[serde(default)]
    pub gpu_health: BTreeMap<u32, GpuHealth>,
    /// Time and sample, oldest first; for the small graphs.
    pub telemetry_history: Ring<(u64, TelemetrySampled)>,
    pub updates: Ring<UpdateCompleted>,
    pub evaluations: Ring<EvaluationCompleted>,
    /// Returns, losses and the like from the first one on, in bounded room.
    #[serde(default)]
    pub curves: Curves,
    pub alerts: Ring<(u64, AlertStateChanged)>,
    /// Rules, their alerts, silences, scraped endpoints.
    #[serde(default)]
    pub alerting: Alerting,
    /// Who the run waits for.
    #[serde(default)]
    pub waits: Waits,
    pub log: Ring<LogRow>,
    /// Vertical marks of the curves: swaps, pauses, alerts, branches.
    pub marks: Ring<Mark>,
    pub samples_dropped_total: u64,
    pub command_errors_total: u64,
    /// Kinds of a newer version that were passed over.
    pub unknown_events_total: u64,
}

/// A checkpoint began to serve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwapRow {
    pub seq: Seq,
    pub t_ns: u64,
    /// Unset for the first one of a run.
    pub from: Option<CheckpointId>,
    pub to: CheckpointId,
}

/// An episode that goes on from a step of another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchRow {
    pub seq: Seq,
    pub t_ns: u64,
    pub lane: LaneId,
    pub episode: EpisodeId,
    pub started: BranchStarted,
    /// How it ended; unset while it runs.
    pub end: Option<EpisodeEnded>,
}

/// A breakpoint of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointRow {
    pub breakpoint: Breakpoint,
    pub hits: u64,
    /// The event at which it held last.
    pub last: Option<Seq>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogRow {
    pub seq: Seq,
    pub t_ns: u64,
    pub level: LogLevel,
    pub target: SafeText,
    pub text: SafeText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    pub seq: Seq,
    pub t_ns: u64,
    /// Episodes that had ended when it was set: the place on an episode axis.
    pub episodes_total: u64,
    pub kind: MarkKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    Paused,
    Swapped,
    Alert,
    Branched,
}
