//! Duty: the only writer of `seq`; subscriptions (snapshot and dense tail); the recording format: writer, reader, integrity.
//! May import: event, state.
//! Emits: envelopes to the recorder and to subscribers.
//! Accepts: events, in order, from the engine alone.
//! Test: `cargo test --lib journal::`, `cargo test --test one_path`.

mod blobs;
mod body;
mod events;
#[cfg(test)]
mod faults;
mod frames;
mod header;
mod hub;
mod integrity;
mod line;
mod medium;
mod names;
mod part;
mod reader;
mod recorder;
mod scan;
mod seal;
mod seek;
mod snapshot;
mod tail;
mod writer;

pub use events::Events;
pub use header::{FORMAT, Header, HeaderCheckpoint, HeaderEnv, VERSION};
pub use hub::{Delivery, Hub, Subscription};
pub use integrity::{Damage, Integrity};
pub use line::write_json;
pub use names::{is_taken, label, pin, stem};
pub use part::{PartMark, write_part};
pub use reader::{Ending, Glance, ReadError, Recording, files_of};
pub use recorder::{RecordError, Recorder, RecorderSettings};
pub use seal::{SealError, Sealed, leftover, seal};

use crate::event::{Clock, Envelope, EpisodeId, Event, LaneId, Seq, StepIndex};
use crate::state::DashState;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Events that a tap's reader may be behind before the run waits for it.
const TAP_EVENTS: usize = 4096;

/// Asked of every event with the state behind it, on the thread that appends.
pub type Watcher = Box<dyn FnMut(&Envelope, &DashState) + Send>;

/// Where an event belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub lane: LaneId,
    pub episode: Option<EpisodeId>,
    pub step: Option<StepIndex>,
}

/// Numbers events and hands them out. Owned by the engine.
pub struct Journal {
    clock: Arc<dyn Clock>,
    seq: Seq,
    hub: Hub,
    recorder: Option<Recorder>,
    tap: Option<SyncSender<Arc<Envelope>>>,
    watcher: Option<Watcher>,
}

impl Journal {
    /// With `recorder`, nothing is handed out that is not also on its way to the file.
    pub fn new(clock: Arc<dyn Clock>, recorder: Option<Recorder>) -> Self {
        Self { clock, seq: Seq(0), hub: Hub::new(hub::RING_EVENTS), recorder, tap: None, watcher: None }
    }

    /// Every event from now on, none left out: for a reader without a screen, such as a pipe, for which the run waits. A reader that is gone
    /// is waited for no more.
    pub fn tap(&mut self) -> Receiver<Arc<Envelope>> {
        let (tap, events) = sync_channel(TAP_EVENTS);
        self.tap = Some(tap);
        events
    }

    /// Asks `watcher` of every event from now on.
    pub fn watch(&mut self, watcher: Watcher) {
        self.watcher = Some(watcher);
    }

    /// Appends an event. Waits only for the recorder's queue, and for the tap's where there is one.
    pub fn append(&mut self, place: Place, event: impl Into<Event>) -> Seq {
        self.seq = self.seq.next();
        let envelope = Arc::new(Envelope {
            seq: self.seq,
            t_ns: self.clock.now_ns(),
            lane: place.lane,
            episode: place.episode,
            step: place.step,
            event: event.into(),
        });
        if let Some(recorder) = &self.recorder {
            recorder.send(envelope.clone());
        }
        if self.tap.as_ref().is_some_and(|tap| tap.send(envelope.clone()).is_err()) {
            self.tap = None;
        }
        self.hub.publish_watched(envelope, self.watcher.as_mut());
        self.seq
    }

    /// For subscribers: live views and headless printers.
    pub fn hub(&self) -> Hub {
        self.hub.clone()
    }

    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// A copy of the folded state.
    pub fn state(&self) -> DashState {
        self.hub.state()
    }

    /// Waits until everything appended so far is committed, or says why it can't be.
    pub fn commit(&self) -> Result<(), RecordError> {
        self.recorder.as_ref().map_or(Ok(()), Recorder::commit)
    }

    /// Events that are not on the disk yet; unset where nothing is recorded.
    pub fn events_behind(&self) -> Option<u64> {
        self.recorder.as_ref().map(|recorder| self.seq.0.saturating_sub(recorder.committed_upto().0))
    }

    /// Why the recorder can't write, if it can't.
    pub fn recorder_failure(&self) -> Option<String> {
        self.recorder.as_ref().and_then(Recorder::failure)
    }
}

impl Drop for Journal {
    /// Also when the engine panics: whoever watches sees the end.
    fn drop(&mut self) {
        self.hub.close();
    }
}
