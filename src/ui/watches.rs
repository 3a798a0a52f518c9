//! Watched expressions that have a value: what they came to, and when that changed.

use super::widgets::format;
use crate::event::{Envelope, EpisodeId, LaneId, Seq, StepIndex};
use crate::source::Probe;
use crate::state::DashState;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What can be worked out of an event; `state` is the state after it was folded.
pub trait Gauge: Send + Sync {
    /// Unset where the event lacks what is asked for.
    fn value(&self, envelope: &Envelope, state: &DashState) -> Option<Value>;
}

/// A watched expression as it was compiled.
pub enum Watched {
    /// It is true or false: where it holds is counted.
    Condition(Arc<dyn Probe>),
    Value(Arc<dyn Gauge>),
}

/// Changes of a lane that are remembered, of a recording and of a run that goes on.
const RECORDED_MAX: usize = 50_000;
const LIVE_MAX: usize = 2;
/// Characters of a text that are remembered.
const TEXT_CHARS_MAX: usize = 256;

/// A value, and the event from which on it is that.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub seq: Seq,
    /// The decision in which it became that, if it was in one.
    pub place: Option<(EpisodeId, StepIndex)>,
    pub value: Value,
}

/// What an expression came to, in each lane. Asked of event after event, as a probe it holds where the value changes.
pub struct Ledger {
    gauge: Arc<dyn Gauge>,
    /// Whether all of a recording is read for it. It is not asked of what is played then, which may be anywhere.
    pub is_scanned: bool,
    changes: Mutex<BTreeMap<LaneId, VecDeque<Change>>>,
}

/// What is known at an event: the value, and the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub now: Change,
    pub before: Option<Value>,
}

impl Ledger {
    pub fn new(gauge: Arc<dyn Gauge>, is_scanned: bool) -> Self {
        Self { gauge, is_scanned, changes: Mutex::default() }
    }

    /// A thread that panicked leaves at most a change that is missing.
    fn changes(&self) -> MutexGuard<'_, BTreeMap<LaneId, VecDeque<Change>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it came to last, up to and with `seq`: in the lane, else in any.
    pub fn at(&self, lane: LaneId, seq: Seq) -> Option<Known> {
        let changes = self.changes();
        let known = |changes: &VecDeque<Change>| {
            let at = changes.partition_point(|c| c.seq <= seq).checked_sub(1)?;
            let before = at.checked_sub(1).map(|before| changes[before].value.clone());
            Some(Known { now: changes[at].clone(), before })
        };
        let of_lane = changes.get(&lane).and_then(known);
        of_lane.or_else(|| changes.values().filter_map(known).max_by_key(|k| k.now.seq))
    }
}

impl Probe for Ledger {
    fn holds(&self, envelope: &Envelope, state: &DashState) -> bool {
        let Some(value) = self.gauge.value(envelope, state).map(short) else { return false };
        let mut all = self.changes();
        let changes = all.entry(envelope.lane).or_default();
        if changes.back().is_some_and(|last| last.value == value) {
            return false;
        }
        if changes.len() >= if self.is_scanned { RECORDED_MAX } else { LIVE_MAX } {
            changes.pop_front();
        }
        changes.push_back(Change { seq: envelope.seq, place: envelope.episode.zip(envelope.step), value });
        true
    }
}

/// What is remembered of a value: a text, or what is made of several, only by its beginning.
fn short(value: Value) -> Value {
    let text = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return value,
        Value::String(text) => text,
        Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    Value::String(text.chars().take(TEXT_CHARS_MAX).collect())
}

/// A value as it is shown.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(n) if n.is_f64() => n.as_f64().map_or_else(|| n.to_string(), format::number),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::DecisionSettled;

    /// The number of the event, in tens, in all but every seventh event.
    struct Tens;

    impl Gauge for Tens {
        fn value(&self, envelope: &Envelope, _: &DashState) -> Option<Value> {
            (!envelope.seq.0.is_multiple_of(7)).then(|| (envelope.seq.0 / 10).into())
        }
    }

    fn ledger(is_scanned: bool, upto: u64) -> (Ledger, usize) {
        let ledger = Ledger::new(Arc::new(Tens), is_scanned);
        let event = |n: u64| Envelope {
            seq: Seq(n),
            t_ns: n,
            lane: LaneId((n % 2) as u32),
            episode: Some(EpisodeId(1)),
            step: Some(StepIndex(n as u32 / 5)),
            event: DecisionSettled { duration_ns: 1, memory_bytes: None }.into(),
        };
        let changed = (1..=upto).filter(|n| ledger.holds(&event(*n), &DashState::default())).count();
        (ledger, changed)
    }

    #[test]
    fn a_value_is_known_at_every_event_of_its_lane() {
        let (ledger, changed) = ledger(true, 40);
        assert_eq!(changed, 9, "0 to 4 in the one lane and 0 to 3 in the other");
        for at in 1..=60u64 {
            for lane in 0..2 {
                let naive = (1..=at.min(40)).rev().find(|n| n % 2 == lane && !n.is_multiple_of(7)).or(Some(1)).map(|n| n / 10);
                let known = ledger.at(LaneId(lane as u32), Seq(at)).unwrap();
                assert_eq!(Some(known.now.value), naive.map(Value::from), "lane {lane} at {at}");
            }
        }
        let known = ledger.at(LaneId(0), Seq(20)).unwrap();
        assert_eq!((known.now.seq, known.now.place, known.before), (Seq(20), Some((EpisodeId(1), StepIndex(4))), Some(1.into())));
        assert_eq!(ledger.at(LaneId(1), Seq(0)), None);
        // A lane in which it was never worked out shows what is known at all.
        assert_eq!(ledger.at(LaneId(9), Seq(21)).unwrap().now.seq, Seq(20));
    }

    #[test]
    fn little_is_kept_of_a_run_that_goes_on_and_of_long_texts() {
        let (ledger, _) = ledger(false, 10_000);
        assert!(ledger.changes().values().all(|c| c.len() == LIVE_MAX));
        assert_eq!(ledger.at(LaneId(0), Seq(10_000)).unwrap().now.value, 1_000);
        let Value::String(text) = short(Value::Array(vec!["x".repeat(1_000).into(); 9])) else { panic!() };
        assert_eq!(text.chars().count(), TEXT_CHARS_MAX);
        assert_eq!([shown(&0.123_456_f64.into()), shown(&7.into()), shown(&"a".into())], ["0.123".to_owned(), "7".into(), "a".into()]);
    }
}
