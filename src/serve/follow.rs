//! The thread that folds the run's events into the series that are served.

use super::About;
use crate::event::{Event, RunState};
use crate::journal::{Delivery, Hub, Subscription};
use crate::metrics::Meter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Events that are folded under one lock.
const BUDGET: usize = 1024;
/// How often the thread looks whether it is to end.
const WAIT: Duration = Duration::from_millis(250);

/// What is known of the run.
pub(super) struct Known {
    pub meter: Meter,
    pub about: About,
    pub run: String,
    pub state: RunState,
    pub events: u64,
    /// No more events will come.
    pub is_over: bool,
}

pub(super) struct Followed(Mutex<Known>);

impl Followed {
    pub fn new(about: About) -> Self {
        // Prometheus gives instance and job itself.
        let meter = Meter::new("", "").without_scrapes();
        Self(Mutex::new(Known { meter, about, run: String::new(), state: RunState::Starting, events: 0, is_over: false }))
    }

    pub fn lock(&self) -> MutexGuard<'_, Known> {
        // The fold is pure and panics on nothing; a poisoned lock still holds whole events.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the thread when it is dropped.
pub(super) struct Follower {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub(super) fn start(hub: &Hub, followed: Arc<Followed>) -> std::io::Result<Follower> {
    let ends = Arc::new(AtomicBool::new(false));
    let (told, subscription) = (ends.clone(), hub.subscribe_from_start());
    let thread = std::thread::Builder::new().name("metrics".into()).spawn(move || follow(subscription, &followed, &told))?;
    Ok(Follower { ends, thread: Some(thread) })
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn follow(mut subscription: Subscription, followed: &Followed, ends: &AtomicBool) {
    let mut deliveries = Vec::new();
    while !ends.load(Ordering::Relaxed) {
        let has_more = subscription.poll(&mut deliveries, BUDGET);
        if !deliveries.is_empty() {
            let mut known = followed.lock();
            deliveries.drain(..).for_each(|delivery| take(&mut known, delivery));
        }
        if has_more {
            continue;
        }
        if subscription.is_ended() {
            followed.lock().is_over = true;
            return;
        }
        subscription.wait(WAIT);
    }
}

fn take(known: &mut Known, delivery: Delivery) {
    match delivery {
        // It lagged: the fold counts the events that it missed when the next one comes.
        Delivery::Snapshot(state) => {
            known.state = state.run_state;
            known.events = state.seq.0;
        }
        Delivery::Event(envelope) => {
            known.meter.observe(&envelope);
            known.events = envelope.seq.0;
            if let Event::RunStarted(e) = &envelope.event {
                known.run.clone_from(&e.run.0);
            }
            if let Event::RunStateChanged(e) = &envelope.event {
                known.state = e.state;
            }
        }
    }
}
