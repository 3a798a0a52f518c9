//! Where in a recording something holds: found by reading all of it, a little at a time.

use crate::event::{Envelope, Event, LaneId, RecordedAction, Seq};
use crate::state::DashState;
use std::sync::Arc;

/// A question about an event; `state` is the state after it was folded.
pub trait Probe: Send + Sync {
    fn holds(&self, envelope: &Envelope, state: &DashState) -> bool;

    /// Whether the answer hangs on the state. Where it does not, nothing is folded.
    fn asks_state(&self) -> bool {
        true
    }
}

/// What is looked for. A new search takes the place of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quest {
    Search,
    Errors,
    /// A breakpoint, by its number.
    Stop(u32),
    /// A watched expression, by its number.
    Watch(u32),
}

/// Events of a lane behind each other for all of which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    first: Seq,
    last: Seq,
    /// Unset for events of no lane.
    lane: Option<LaneId>,
    /// Hits before it.
    before: usize,
}

impl Stretch {
    fn upto(&self, seq: Seq) -> usize {
        self.before + (seq.min(self.last).0 - self.first.0) as usize + 1
    }
}

/// The events for which something holds, as far as was read. What holds always takes no more room than what holds once in each lane's turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// In order, and none touches the next one of the same lane.
    stretches: Vec<Stretch>,
    pub read_upto: Seq,
    pub end: Seq,
}

impl Tally {
    pub fn is_whole(&self) -> bool {
        self.read_upto >= self.end
    }

    fn push(&mut self, seq: Seq, lane: Option<LaneId>) {
        let before = self.count();
        match self.stretches.last_mut() {
            Some(newest) if newest.last.next() == seq && newest.lane == lane => newest.last = seq,
            Some(_) | None => self.stretches.push(Stretch { first: seq, last: seq, lane, before }),
        }
    }

    /// Hits in all.
    pub fn count(&self) -> usize {
        self.stretches.last().map_or(0, |s| s.upto(s.last))
    }

    /// The first hit behind `from`; whether that is known yet is the outer option.
    pub fn after(&self, from: Seq) -> Option<Option<Seq>> {
        let next = self.hits_from(from.next()).next().filter(|seq| *seq > from);
        (next.is_some() || self.is_whole()).then_some(next)
    }

    /// The last hit before `from`; whether that is known yet is the outer option.
    pub fn before(&self, from: Seq) -> Option<Option<Seq>> {
        let known = self.is_whole() || self.read_upto.next() >= from;
        let last = self.stretches[..self.stretches.partition_point(|s| s.first < from)].last();
        known.then(|| last.map(|s| s.last.min(Seq(from.0 - 1))))
    }

    /// Hits up to `seq`.
    pub fn count_upto(&self, seq: Seq) -> usize {
        self.stretches[..self.stretches.partition_point(|s| s.first <= seq)].last().map_or(0, |s| s.upto(seq))
    }

    /// The hits of a lane from `first` on, in order; what is of no lane is of all.
    pub fn hits_of(&self, lane: LaneId, first: Seq) -> impl Iterator<Item = Seq> + '_ {
        self.hits_where(first, move |of| of.is_none_or(|of| of == lane))
    }

    /// Whether it holds at an event from `first` to `last`.
    pub fn holds_within(&self, first: Seq, last: Seq) -> bool {
        self.hits_from(first).next().is_some_and(|s| s <= last)
    }

    /// The hits from `first` on, in order.
    pub fn hits_from(&self, first: Seq) -> impl Iterator<Item = Seq> + '_ {
        self.hits_where(first, |_| true)
    }

    fn hits_where(&self, first: Seq, is_wanted: impl Fn(Option<LaneId>) -> bool) -> impl Iterator<Item = Seq> {
        let stretches = &self.stretches[self.stretches.partition_point(|s| s.last < first)..];
        let wanted = stretches.iter().filter(move |s| is_wanted(s.lane));
        wanted.flat_map(move |s| (s.first.max(first).0..=s.last.0).map(Seq))
    }
}

/// Asks every event in turn.
pub struct Scan {
    pub tally: Arc<Tally>,
    probe: Arc<dyn Probe>,
    /// Given back when all was read.
    state: Option<Box<DashState>>,
    /// More may be written.
    grows: bool,
}

impl Scan {
    pub fn new(probe: Arc<dyn Probe>, end: Seq, grows: bool) -> Self {
        let state = Some(Box::default());
        Self { tally: Arc::new(Tally { end, ..Tally::default() }), probe, state, grows }
    }

    /// The recording ends there, as far as is known now.
    pub fn note_end(&mut self, end: Seq, grows: bool) {
        self.grows = grows;
        if self.tally.end != end {
            Arc::make_mut(&mut self.tally).end = end;
        }
        if self.state.is_none() && !self.tally.is_whole() {
            // It was thought to be whole: from the beginning.
            (self.state, self.tally) = (Some(Box::default()), Arc::new(Tally { end, ..Tally::default() }));
        }
    }

    /// Takes up the next event.
    pub fn note(&mut self, envelope: &Envelope) {
        let Some(state) = self.state.as_mut() else { return };
        let tally = Arc::make_mut(&mut self.tally);
        tally.read_upto = envelope.seq;
        // The reader leaves no gap; a recording that makes one has nothing more to fold.
        if self.probe.asks_state() && state.apply(envelope).is_err() {
            state.seq = envelope.seq;
        }
        if self.probe.holds(envelope, state) {
            tally.push(envelope.seq, envelope.episode.map(|_| envelope.lane));
        }
        if tally.is_whole() && !self.grows {
            self.state = None;
        }
    }
}

/// Tool calls that failed.
pub struct Errors;

impl Probe for Errors {
    fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
        matches!(&envelope.event, Event::ToolCallFinished(e) if e.error_type.is_some())
    }

    fn asks_state(&self) -> bool {
        false
    }
}

/// Words in what is shown of an event: the same that a row of the thought chain holds.
pub struct Words {
    needle: String,
}

impl Words {
    /// Case does not count.
    pub fn new(needle: &str) -> Self {
        Self { needle: needle.to_lowercase() }
    }
}

impl Probe for Words {
    fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
        let has = |text: &str| text.to_lowercase().contains(&self.needle);
        match &envelope.event {
            Event::EpisodeStarted(e) => has(&e.goal),
            Event::ObservationReceived(e) => has(&e.observation.text) || has(&e.observation.compact),
            Event::MessageCompleted(e) => has(&e.thought),
            Event::ToolCallStarted(e) => has(&e.call.display()),
            Event::ToolCallFinished(e) => has(&e.result),
            Event::TransitionRecorded(e) => matches!(&e.action, RecordedAction::Text(text) if has(text)),
            Event::EpisodeEnded(e) => has(&e.truth),
            Event::MemoryCompressed(_) => has("memory compressed"),
            // The first one of a run has no row.
            Event::CheckpointSwapped(e) => e.from.as_ref().is_some_and(|from| has(&from.0) || has(&e.to.0) || has("swap")),
            // These have no row in the thought chain.
            Event::RunStarted(_)
            | Event::BranchStarted(_)
            | Event::PhaseEntered(_)
            | Event::ThoughtDelta(_)
            | Event::DecisionSettled(_)
            | Event::RunStateChanged(_)
            | Event::PaceChanged(_)
            | Event::PolicyStateChanged(_)
            | Event::CheckpointListed(_)
            | Event::CheckpointSaved(_)
            | Event::CheckpointVerified(_)
            | Event::UpdateCompleted(_)
            | Event::EvaluationCompleted(_)
            | Event::TelemetrySampled(_)
            | Event::AlertStateChanged(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::SinkFailed(_)
            | Event::SamplesDropped(_)
            | Event::LogLine(_)
            | Event::Elided(_)
            | Event::Unknown { .. } => false,
        }
    }

    fn asks_state(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_answer_as_a_list_of_all_hits_would() {
        // Two lanes take turns of two and three events; some are of no lane.
        let lane_of = |seq: Seq| [Some(LaneId(0)), Some(LaneId(0)), Some(LaneId(1)), None, Some(LaneId(1))][(seq.0 % 5) as usize];
        for pattern in 0u32..1 << 9 {
            let hits: Vec<Seq> = (1..=9).filter(|n| pattern & (1 << (n - 1)) != 0).map(Seq).collect();
            let mut tally = Tally { end: Seq(9), read_upto: Seq(9), ..Tally::default() };
            hits.iter().for_each(|seq| tally.push(*seq, lane_of(*seq)));
            assert_eq!(tally.hits_from(Seq(0)).collect::<Vec<_>>(), hits);
            for lane in [LaneId(0), LaneId(1)] {
                let of_lane: Vec<Seq> = hits.iter().copied().filter(|s| lane_of(*s).is_none_or(|l| l == lane)).collect();
                assert_eq!(tally.hits_of(lane, Seq(0)).collect::<Vec<_>>(), of_lane);
            }
            assert_eq!(tally.count(), hits.len());
            for at in (0..=11).map(Seq) {
                assert_eq!(tally.after(at), Some(hits.iter().copied().find(|s| *s > at)), "{hits:?} after {at}");
                assert_eq!(tally.before(at), Some(hits.iter().copied().rev().find(|s| *s < at)), "{hits:?} before {at}");
                assert_eq!(tally.count_upto(at), hits.iter().filter(|s| **s <= at).count(), "{hits:?} upto {at}");
                assert_eq!(tally.hits_from(at).count(), hits.iter().filter(|s| **s >= at).count());
                assert_eq!(tally.holds_within(at, at), hits.contains(&at));
            }
        }
    }

    #[test]
    fn what_always_holds_takes_one_stretch() {
        let mut tally = Tally::default();
        (1..=100_000).for_each(|n| tally.push(Seq(n), Some(LaneId(1))));
        assert_eq!((tally.stretches.len(), tally.count()), (1, 100_000));
    }
}
