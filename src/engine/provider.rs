//! Where policies come from. Loading is slow, so it happens on a thread of its own.

use crate::agent::Policy;
use crate::event::{CheckpointId, CheckpointListed, CommandSender, Input};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A policy that is ready to serve.
pub struct LoadedPolicy {
    pub policy: Box<dyn Policy>,
    pub checkpoint: CheckpointId,
    pub sha256: String,
}

/// Lists and loads checkpoints. Implemented where rooms are joined.
pub trait PolicyProvider: Send + Sync {
    fn list(&self) -> Vec<CheckpointListed>;
    /// Verifies and loads; the error says what, where and what to do.
    fn load(&self, checkpoint: &CheckpointId) -> Result<LoadedPolicy, String>;
}

/// The outcome of a load, with what was asked for.
pub struct Load {
    pub asked: CheckpointId,
    pub result: Result<LoadedPolicy, String>,
    pub duration_ns: u64,
}

/// Starts loads and holds their results until the engine takes them.
pub struct Loader {
    provider: Arc<dyn PolicyProvider>,
    wake: CommandSender,
    tx: Sender<Load>,
    rx: Receiver<Load>,
    clock: Arc<dyn crate::event::Clock>,
}

impl Loader {
    pub fn new(provider: Arc<dyn PolicyProvider>, wake: CommandSender, clock: Arc<dyn crate::event::Clock>) -> Self {
        let (tx, rx) = channel();
        Self { provider, wake, tx, rx, clock }
    }

    pub fn list(&self) -> Vec<CheckpointListed> {
        self.provider.list()
    }

    /// Loads in the background.
    pub fn start(&self, checkpoint: CheckpointId) {
        let (provider, tx, wake, clock) = (self.provider.clone(), self.tx.clone(), self.wake.clone(), self.clock.clone());
        std::thread::spawn(move || {
            let begin_ns = clock.now_ns();
            // A load that panics would leave the run waiting for it for ever.
            let load = std::panic::AssertUnwindSafe(|| provider.load(&checkpoint));
            let result =
                std::panic::catch_unwind(load).unwrap_or_else(|_| Err("loading panicked; the panic's message is on stderr".to_owned()));
            let _ = tx.send(Load { asked: checkpoint, result, duration_ns: clock.now_ns() - begin_ns });
            // A full inbox is looked at soon anyway.
            let _ = wake.input(Input::PolicyLoaded);
        });
    }

    /// A load that is done, if one is.
    pub fn take(&self) -> Option<Load> {
        self.rx.try_recv().ok()
    }
}
