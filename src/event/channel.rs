//! The one bounded inbox by which rooms reach the engine.

use super::{Command, CommandId, Event, Origin, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

/// What reaches the engine.
#[derive(Clone, Debug)]
pub enum Input {
    Request(Request),
    /// A fact from another thread that the engine is to append: a telemetry sample, an alert's transition, a log line.
    Fact(Box<Event>),
    /// The model that a loader thread made ready is taken from where the loader put it.
    PolicyLoaded,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SendError {
    #[error("the engine's inbox is full; try again")]
    Full,
    #[error("the engine has ended")]
    Closed,
}

/// Sends to the engine; cheap to clone. Absent in a replay, so that engine actions grey out by themselves.
#[derive(Clone)]
pub struct CommandSender {
    tx: SyncSender<Input>,
    next_id: Arc<AtomicU64>,
    origin: Origin,
}

impl CommandSender {
    /// Sends a command and returns the id by which its answer can be told.
    pub fn send(&self, command: Command) -> Result<CommandId, SendError> {
        let id = CommandId(self.next_id.fetch_add(1, Ordering::Relaxed));
        self.input(Input::Request(Request { id, origin: self.origin.clone(), command }))?;
        Ok(id)
    }

    /// Sends a fact. Samplers count what was refused and say so later in a `SamplesDropped`.
    pub fn fact(&self, event: impl Into<Event>) -> Result<(), SendError> {
        self.input(Input::Fact(Box::new(event.into())))
    }

    pub fn input(&self, input: Input) -> Result<(), SendError> {
        self.tx.try_send(input).map_err(|e| match e {
            TrySendError::Full(_) => SendError::Full,
            TrySendError::Disconnected(_) => SendError::Closed,
        })
    }

    /// The same channel on behalf of somebody else.
    pub fn with_origin(&self, origin: Origin) -> Self {
        Self { origin, ..self.clone() }
    }
}

/// The engine's end.
pub struct Inbox {
    rx: Receiver<Input>,
}

impl Inbox {
    /// The next input, if one is there.
    pub fn try_next(&self) -> Option<Input> {
        self.rx.try_recv().ok()
    }

    /// Waits for the next input for at most `timeout`.
    pub fn wait(&self, timeout: Duration) -> Option<Input> {
        match self.rx.recv_timeout(timeout) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // Nobody can ask for anything any more; don't spin.
                std::thread::sleep(timeout);
                None
            }
        }
    }
}

/// The pair, with room for `capacity` inputs.
pub fn inbox(capacity: usize) -> (CommandSender, Inbox) {
    let (tx, rx) = sync_channel(capacity);
    (CommandSender { tx, next_id: Arc::new(AtomicU64::new(1)), origin: Origin::Console }, Inbox { rx })
}

/// The engine's end of what ties it to a thread that has something to tell when the run ends. The thread is asked for it before the run's last
/// event, and waited for.
pub struct LastWords {
    ask: SyncSender<()>,
    said: Receiver<()>,
}

/// The thread's end. Dropping it says that nothing more will come.
pub struct Speaker {
    asked: Receiver<()>,
    _said: SyncSender<()>,
}

pub fn last_words() -> (LastWords, Speaker) {
    let ((ask, asked), (saying, said)) = (sync_channel(1), sync_channel(1));
    (LastWords { ask, said }, Speaker { asked, _said: saying })
}

impl LastWords {
    pub fn ask(&self) {
        // Whoever was asked already, or has gone, need not be asked.
        let _ = self.ask.try_send(());
    }

    pub fn are_said(&self) -> bool {
        self.said.try_recv() == Err(TryRecvError::Disconnected)
    }
}

impl Speaker {
    /// Waits for at most this long; true once it is asked, or the engine is gone.
    pub fn is_asked_within(&self, timeout: Duration) -> bool {
        self.asked.recv_timeout(timeout) != Err(RecvTimeoutError::Timeout)
    }
}
