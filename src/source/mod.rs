//! Duty: `FrameSource`: where a screen's events come from, live or recorded, behind one trait.
//! May import: event, state, journal.
//! Emits: snapshots and dense tails of envelopes.
//! Accepts: seeks (recordings only); commands go by the sender that a live source carries.
//! Test: `cargo test --lib source::`, `cargo test --test one_path`.

use crate::event::{CommandSender, Envelope, Seq};
use crate::state::DashState;
use std::sync::Arc;
use std::time::Duration;

/// What a source hands out, in order.
#[derive(Clone, Debug)]
pub enum Frame {
    /// Replaces the state: the first frame of a subscription, after a seek, and after a lag.
    Snapshot(Box<DashState>),
    /// The next event; its `seq` is one more than the state's.
    Event(Arc<Envelope>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceStatus {
    /// All of what is there was handed out; more may come.
    Drained,
    /// More is there than the budget took.
    More,
    /// The run or the recording has ended, and all of it was handed out.
    Ended,
}

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{0}")]
    Recording(String),
    #[error("this source can't seek: it is live")]
    NotSeekable,
}

/// A source of frames. `poll` never blocks; `wait` does, for at most its time-out.
pub trait FrameSource: Send {
    /// Appends at most `budget` frames to `out`.
    fn poll(&mut self, out: &mut Vec<Frame>, budget: usize) -> Result<SourceStatus, SourceError>;
    /// Waits until something may be there. True when woken by an event, false by the time-out.
    fn wait(&mut self, timeout: Duration) -> bool;
    /// How to reach the engine; `None` in a replay, which greys out engine actions.
    fn commands(&self) -> Option<&CommandSender>;
    /// For a recording: the playhead. `None` when live.
    fn playback(&mut self) -> Option<&mut dyn Playback>;
}

/// Controls of a recording. Local to the viewer: nothing here is a command.
pub trait Playback {
    fn head(&self) -> Seq;
    fn end(&self) -> Seq;
    fn t_ns_end(&self) -> u64;
    fn is_playing(&self) -> bool;
    fn set_playing(&mut self, playing: bool);
    fn speed(&self) -> crate::event::Pace;
    fn set_speed(&mut self, speed: crate::event::Pace);
    /// The next `poll` begins with a snapshot at `seq` (clamped to the recording).
    fn seek(&mut self, seq: Seq) -> Result<(), SourceError>;
    /// Moves by steps of the focused lane: positive forward, negative back.
    fn step(&mut self, unit: crate::event::StepUnit, count: i64) -> Result<(), SourceError>;
    /// The whole file was read to its last whole event, but a tail was torn, uncommitted or damaged.
    fn damage(&self) -> Option<&str>;
}
