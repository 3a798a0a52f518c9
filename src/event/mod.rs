//! Duty: the vocabulary that every room shares: envelopes, events, commands, ids, observations, tools and their schemas, safe text.
//! May import: nothing.
//! Emits: nothing; it only names things.
//! Accepts: nothing.
//! Test: `cargo test --lib event::`.

mod address;
mod alert;
mod breakpoint;
mod channel;
mod clock;
mod command;
mod envelope;
mod ids;
mod kinds;
mod matching;
mod nearest;
pub mod num;
mod observation;
mod safe_text;
pub mod schema;
mod shell;
mod telemetry;
mod tool;
mod waits;

pub use address::{Address, NoAddress, StepAddress};
pub use alert::*;
pub use breakpoint::{Breakpoint, Onset, PRESETS, is_asked};
pub use channel::{CommandSender, Inbox, Input, LastWords, SendError, Speaker, inbox, last_words};
pub use clock::{Clock, ManualClock, MonotonicClock};
pub use command::{Command, CommandId, Origin, Overriding, Pace, Request, StepUnit, Variation};
pub use envelope::{DecodeError, Envelope, address};
pub use ids::{CheckpointId, EpisodeId, LaneId, RunId, Seed, Seq, StepIndex, TokenId};
pub use kinds::*;
pub use matching::{LazyMatching, MATCHERS_MAX, Matching};
pub use nearest::nearest;
pub use observation::{Level, Observation, ObservationField, Unit};
pub use safe_text::SafeText;
pub use schema::{Schema, SchemaError, Violation};
pub use shell::{attach_command, shell_word};
pub use telemetry::{DiskSample, GpuHealth, GpuProcess, GpuSample, GpuStatus, HostSample, MigInstance, ThrottleReason};
pub use tool::{ErrorType, Route, ToolCall, ToolResult, ToolSpec};
pub use waits::{WaitOn, Waits};
