//! Subscriptions: a snapshot, then every event. One that lags gets a new snapshot, never a hole; nobody waits for it.

use super::Watcher;
use crate::event::{Envelope, Event, Seq};
use crate::state::DashState;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Events that a subscriber may lag behind before it gets a snapshot instead. One that is large counts for several.
pub const RING_EVENTS: usize = 16 * 1024;
/// So many samples of an endpoint take the room of another event.
const SAMPLES_PER_EVENT: usize = 4;

struct Shared {
    state: DashState,
    ring: VecDeque<Arc<Envelope>>,
    /// What the events in the ring count for.
    weight: usize,
    capacity: usize,
    /// No more events will come.
    closed: bool,
}

/// Hands out what the journal appends. Cheap to clone.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<(Mutex<Shared>, Condvar)>,
}

/// What a subscriber gets, in order.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// Replaces the state: at the beginning, and after a lag.
    Snapshot(Box<DashState>),
    /// The next event: its `seq` is one more than the state's.
    Event(Arc<Envelope>),
}

impl Hub {
    pub fn new(capacity: usize) -> Self {
        let shared = Shared { state: DashState::default(), ring: VecDeque::new(), weight: 0, capacity: capacity.max(1), closed: false };
        Self { inner: Arc::new((Mutex::new(shared), Condvar::new())) }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // The fold is pure and panics on nothing; a poisoned lock still holds whole events.
        self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn publish(&self, envelope: Arc<Envelope>) {
        self.publish_watched(envelope, None);
    }

    pub(super) fn publish_watched(&self, envelope: Arc<Envelope>, watcher: Option<&mut Watcher>) {
        let mut shared = self.lock();
        let applied = shared.state.apply(&envelope);
        debug_assert!(applied.is_ok(), "the journal numbers densely: {applied:?}");
        if let Some(watcher) = watcher {
            watcher(&envelope, &shared.state);
        }
        shared.weight += weight(&envelope);
        shared.ring.push_back(envelope);
        while shared.weight > shared.capacity && shared.ring.len() > 1 {
            let oldest = shared.ring.pop_front();
            shared.weight -= oldest.map_or(0, |envelope| weight(&envelope));
        }
        drop(shared);
        self.inner.1.notify_all();
    }

    /// Says that no more events will come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.inner.1.notify_all();
    }

    pub fn state(&self) -> DashState {
        self.lock().state.clone()
    }

    /// A subscription that begins with the run's first event, for folds of their own; where that is gone already, with a snapshot.
    pub fn subscribe_from_start(&self) -> Subscription {
        Subscription { hub: self.clone(), next: Some(Seq(1)) }
    }

    /// A subscription whose first delivery is a snapshot of now.
    pub fn subscribe(&self) -> Subscription {
        Subscription { hub: self.clone(), next: None }
    }
}

/// What an event counts for in the ring: an answer of an endpoint has up to thousands of series.
fn weight(envelope: &Envelope) -> usize {
    let samples = if let Event::TargetScraped(e) = &envelope.event { e.samples.len() } else { 0 };
    1 + samples / SAMPLES_PER_EVENT
}

/// A reader of the hub with a place of its own.
pub struct Subscription {
    hub: Hub,
    /// The next event that is wanted; unset before the first snapshot.
    next: Option<Seq>,
}

impl Subscription {
    /// Appends at most `budget` deliveries. True when more is there.
    pub fn poll(&mut self, out: &mut Vec<Delivery>, budget: usize) -> bool {
        let shared = self.hub.lock();
        let head = shared.state.seq;
        let oldest = shared.ring.front().map_or(head.next(), |e| e.seq);
        let mut next = match self.next {
            Some(next) if next >= oldest => next,
            Some(_) | None => {
                out.push(Delivery::Snapshot(Box::new(shared.state.clone())));
                self.next = Some(head.next());
                return false;
            }
        };
        let skip = (next.0 - oldest.0) as usize;
        for envelope in shared.ring.iter().skip(skip).take(budget) {
            out.push(Delivery::Event(envelope.clone()));
            next = envelope.seq.next();
        }
        self.next = Some(next);
        next <= head
    }

    /// Waits until something is there; false by the time-out.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        let wanted = self.next;
        let shared = self.hub.lock();
        let idle = |shared: &mut Shared| wanted.is_some_and(|next| shared.state.seq < next) && !shared.closed;
        let (shared, _) = self.hub.inner.1.wait_timeout_while(shared, timeout, idle).unwrap_or_else(PoisonError::into_inner);
        wanted.is_none_or(|next| shared.state.seq >= next)
    }

    /// Whether the last event was delivered and no more will come.
    pub fn is_ended(&self) -> bool {
        let shared = self.hub.lock();
        shared.closed && self.next.is_some_and(|next| next > shared.state.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{LabelSet, LaneId, ScrapedSample, TargetScraped};

    #[test]
    fn a_large_event_takes_the_room_of_several() {
        let hub = Hub::new(100);
        let sample = ScrapedSample { name: "a".into(), labels: LabelSet::default(), value: 1.0, at_ms: None };
        let scraped = |seq, count| {
            let event = TargetScraped {
                job: "j".into(),
                instance: "i".into(),
                url: "u".into(),
                up: true,
                error: None,
                is_unreadable: false,
                duration_ns: 1,
                samples_total: 0,
                samples: vec![sample.clone(); count],
            };
            Arc::new(Envelope { seq: Seq(seq), t_ns: seq, lane: LaneId(0), episode: None, step: None, event: event.into() })
        };
        (1..=50).for_each(|seq| hub.publish(scraped(seq, 0)));
        let held = |hub: &Hub| {
            let shared = hub.lock();
            (shared.ring.len(), shared.weight)
        };
        assert_eq!(held(&hub), (50, 50));
        hub.publish(scraped(51, 300));
        assert_eq!(held(&hub), (25, 100));
        // One that is larger than the ring is kept all the same: whoever is up to date gets it.
        hub.publish(scraped(52, 9_000));
        assert_eq!(held(&hub).0, 1);
    }
}
