//! Duty: `FrameSource`: where a screen's events come from, live or recorded, behind one trait.
//! May import: event, state, journal.
//! Emits: snapshots and dense tails of envelopes.
//! Accepts: seeks (recordings only); commands go by the sender that a live source carries.
//! Test: `cargo test --lib source::`, `cargo test --test one_path`.

mod book;
pub mod diff;
mod live;
mod recording;
mod study;
mod tally;
#[cfg(test)]
pub(crate) mod tests;
mod track;

pub use crate::journal::Delivery as Frame;
pub use book::{Book, Episode};
pub use live::LiveSource;
pub use recording::RecordingSource;
pub use tally::{Errors, Probe, Quest, Scan, Tally, Words};
pub use track::{Beat, Track};

use crate::event::{CommandSender, EpisodeId, LaneId, Pace, Seq, StepIndex, StepUnit};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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
    #[error(transparent)]
    Recording(#[from] crate::journal::ReadError),
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
    fn speed(&self) -> Pace;
    fn set_speed(&mut self, speed: Pace);
    /// The next `poll` begins with a snapshot at `seq` (clamped to the recording).
    fn seek(&mut self, seq: Seq);
    /// Moves to the next (positive) or an earlier (negative) boundary of the unit.
    fn step(&mut self, unit: StepUnit, count: i64);
    /// Whether the run goes on in it: a seek to its end follows what comes.
    fn is_growing(&self) -> bool;
    /// What is wrong with the file, if anything is.
    fn damage(&self) -> Option<&str>;
    /// Of when the bundle is that the recording came in.
    fn bundle(&self) -> Option<&str> {
        None
    }
    /// Whether it plays a decision a second at `x1`, because the recorded times are too fast to watch.
    fn is_by_decision(&self) -> bool;

    /// Reads on what is to be found out besides, at most about `budget` events of each kind; whether anything was.
    fn read_on(&mut self, budget: usize) -> Result<bool, SourceError>;
    /// The episodes, as far as they are read.
    fn book(&self) -> Arc<Book>;
    /// The track of an episode, as far as it is read; unset while the book does not have the episode. One track is made at a
    /// time: that which was asked for last.
    fn track(&mut self, lane: LaneId, episode: EpisodeId) -> Option<Arc<Track>>;
    /// The last event of a step, by reading the episode up to it; unset where there is no such step.
    fn step_end(&mut self, lane: LaneId, episode: EpisodeId, step: StepIndex) -> Result<Option<Seq>, SourceError>;
    /// The lane of an event; unset where it is no lane's.
    fn lane_at(&mut self, seq: Seq) -> Result<Option<LaneId>, SourceError>;
    /// Begins to look for something in the whole recording, in place of what this quest looked for before.
    fn look_for(&mut self, quest: Quest, probe: Arc<dyn Probe>);
    fn forget(&mut self, quest: Quest);
    fn tallies(&self) -> BTreeMap<Quest, Arc<Tally>>;
}
