//! Where in a recording something holds: found by reading all of it, a little at a time.

use crate::event::{Envelope, Event, LaneId, Onset, Seq, is_asked};
use crate::state::{DashState, LaneState, Row, RowKind};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A question about an event; `state` is the state after it was folded.
pub trait Probe: Send + Sync {
    fn holds(&self, envelope: &Envelope, state: &DashState) -> bool;

    /// Whether the answer hangs on the state. Where it does not, nothing is folded.
    fn asks_state(&self) -> bool {
        true
    }

    /// Whether the answer hangs on the event, and not on the state alone.
    fn asks_event(&self) -> bool {
        true
    }

    /// Whether a breakpoint hits here: by the rule of a run that goes on.
    fn begins(&self, onset: &mut Onset, envelope: &Envelope, state: &DashState) -> bool {
        is_asked(envelope, self.asks_event()) && onset.note(envelope, self.holds(envelope, state))
    }
}

/// What is looked for. A new search takes the place of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quest {
    Search,
    Errors,
    /// A breakpoint, by its number: it counts where it begins to hold, and all others wherever they hold.
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

/// Stretches that are kept, which take about 10 MB: what comes behind them is counted, and its places are not known.
const STRETCHES_MAX: usize = 1 << 18;

/// The events for which something holds, as far as was read. What holds always takes no more room than what holds once in each lane's turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// In order, and none touches the next one of the same lane.
    stretches: Vec<Stretch>,
    /// Places in `stretches` of those of a lane, and of those of none.
    lanes: BTreeMap<Option<LaneId>, Vec<u32>>,
    /// Hits behind the stretches that are kept.
    beyond: usize,
    pub read_upto: Seq,
    pub end: Seq,
}

impl Tally {
    pub fn is_whole(&self) -> bool {
        self.read_upto >= self.end
    }

    fn push(&mut self, seq: Seq, lane: Option<LaneId>) {
        self.push_within(seq, lane, STRETCHES_MAX);
    }

    fn push_within(&mut self, seq: Seq, lane: Option<LaneId>, stretches_max: usize) {
        let (before, place) = (self.count(), self.stretches.len());
        match self.stretches.last_mut() {
            _ if self.beyond > 0 => self.beyond += 1,
            Some(newest) if newest.last.next() == seq && newest.lane == lane => newest.last = seq,
            Some(_) if place >= stretches_max => self.beyond = 1,
            Some(_) | None => {
                self.stretches.push(Stretch { first: seq, last: seq, lane, before });
                self.lanes.entry(lane).or_default().push(place as u32);
            }
        }
    }

    /// Hits in all.
    pub fn count(&self) -> usize {
        self.stretches.last().map_or(0, |s| s.upto(s.last)).saturating_add(self.beyond)
    }

    /// The last hit whose place is known, where there are more than are kept.
    pub fn cut_at(&self) -> Option<Seq> {
        self.stretches.last().map(|s| s.last).filter(|_| self.beyond > 0)
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

    /// The hits of a lane within `range`, in order; what is of no lane is of all.
    pub fn hits_of(&self, lane: LaneId, range: RangeInclusive<Seq>) -> impl Iterator<Item = Seq> + '_ {
        let (first, last) = range.into_inner();
        let [mut own, mut of_all] = [Some(lane), None].map(|lane| self.places(lane, first, last));
        let in_order = std::iter::from_fn(move || {
            let is_own = match (own.first(), of_all.first()) {
                (Some(a), Some(b)) => a < b,
                (own, _) => own.is_some(),
            };
            let places = if is_own { &mut own } else { &mut of_all };
            let (next, rest) = places.split_first()?;
            *places = rest;
            Some(&self.stretches[*next as usize])
        });
        in_order.flat_map(move |s| (s.first.max(first).0..=s.last.min(last).0).map(Seq))
    }

    /// The last hit of a lane within `range`.
    pub fn last_of(&self, lane: LaneId, range: RangeInclusive<Seq>) -> Option<Seq> {
        let (first, last) = range.into_inner();
        let newest = [Some(lane), None].map(|lane| self.places(lane, first, last).last().copied());
        let stretch = self.stretches.get(newest.into_iter().flatten().max()? as usize)?;
        Some(stretch.last.min(last))
    }

    /// Of a lane's stretches, or of those of none, the ones that reach into a range.
    fn places(&self, lane: Option<LaneId>, first: Seq, last: Seq) -> &[u32] {
        let places = self.lanes.get(&lane).map_or(&[][..], Vec::as_slice);
        let from = places.partition_point(|at| self.stretches[*at as usize].last < first);
        let places = if first <= last { &places[from..] } else { &[] };
        &places[..places.partition_point(|at| self.stretches[*at as usize].first <= last)]
    }

    /// Whether it counts at this event; unset where that is not known.
    pub fn knows(&self, seq: Seq) -> Option<bool> {
        (seq <= self.read_upto && self.cut_at().is_none_or(|cut| seq <= cut)).then(|| self.holds_within(seq, seq))
    }

    /// Whether it holds at an event from `first` to `last`.
    pub fn holds_within(&self, first: Seq, last: Seq) -> bool {
        self.hits_from(first).next().is_some_and(|s| s <= last)
    }

    /// The hits from `first` on, in order.
    pub fn hits_from(&self, first: Seq) -> impl Iterator<Item = Seq> + '_ {
        let stretches = &self.stretches[self.stretches.partition_point(|s| s.last < first)..];
        stretches.iter().flat_map(move |s| (s.first.max(first).0..=s.last.0).map(Seq))
    }
}

/// Asks every event in turn.
pub struct Scan {
    pub tally: Arc<Tally>,
    probe: Arc<dyn Probe>,
    /// Given back when all was read.
    state: Option<Box<DashState>>,
    /// Of a breakpoint, which counts where it begins to hold.
    onset: Option<Onset>,
    /// More may be written.
    grows: bool,
}

impl Scan {
    pub fn new(quest: Quest, probe: Arc<dyn Probe>, end: Seq, grows: bool) -> Self {
        let state = Some(Box::default());
        let onset = matches!(quest, Quest::Stop(_)).then(Onset::default);
        Self { tally: Arc::new(Tally { end, ..Tally::default() }), probe, state, onset, grows }
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
            self.onset = self.onset.take().map(|_| Onset::default());
        }
        self.give_back();
    }

    /// What comes first follows this state.
    pub fn begin_at(&mut self, base: &DashState) {
        self.state = Some(Box::new(base.clone()));
        Arc::make_mut(&mut self.tally).read_upto = base.seq;
        self.give_back();
    }

    /// What is read to its end needs no state any more.
    fn give_back(&mut self) {
        if self.tally.is_whole() && !self.grows {
            self.state = None;
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
        let counts = match &mut self.onset {
            Some(onset) => self.probe.begins(onset, envelope, state),
            None => self.probe.holds(envelope, state),
        };
        if counts {
            tally.push(envelope.seq, envelope.episode.map(|_| envelope.lane));
        }
        self.give_back();
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

/// Words in a row of the thought chain: at the event that makes the row, or brings the words into it. A row counts once.
pub struct Words {
    needle: String,
}

impl Words {
    /// Case does not count.
    pub fn new(needle: &str) -> Self {
        Self { needle: needle.to_lowercase() }
    }

    fn are_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.needle)
    }

    /// Whether this event made a row of the lane that has the words.
    fn are_new(&self, lane: &LaneState, seq: Seq) -> bool {
        lane.transcript.rows.last().is_some_and(|row| row.seq == seq && self.are_in_row(row))
    }

    fn are_in_row(&self, row: &Row) -> bool {
        let has = |text: &str| self.are_in(text);
        match &row.kind {
            RowKind::EpisodeStart { goal, .. } => has(goal),
            RowKind::Observation { text, compact } => has(text) || has(compact),
            RowKind::Thought { text, .. } | RowKind::Text { text } | RowKind::Note { text } => has(text),
            RowKind::Action { call, outcome, .. } => has(&call.display()) || outcome.as_ref().is_some_and(|o| has(&o.result)),
            RowKind::Compressed { .. } => has("memory compressed"),
            RowKind::Swapped { from, to } => has(&from.0) || has(&to.0) || has("swap"),
            RowKind::EpisodeEnd { truth, .. } => has(truth),
        }
    }

    /// Whether a call's result has them, and the call has not.
    fn came_with(&self, result: &str, lane: &LaneState) -> bool {
        let transcript = &lane.transcript;
        let open = transcript.open_row().and_then(|at| transcript.rows.get(at));
        open.is_some_and(|row| matches!(&row.kind, RowKind::Action { call, .. } if !self.are_in(&call.display()))) && self.are_in(result)
    }
}

impl Probe for Words {
    fn holds(&self, envelope: &Envelope, state: &DashState) -> bool {
        let lane = state.lanes.get(&envelope.lane);
        if let Event::CheckpointSwapped(_) = &envelope.event {
            // It is no lane's event, and has a row in each.
            state.lanes.values().any(|lane| self.are_new(lane, envelope.seq))
        } else if let Event::ToolCallFinished(e) = &envelope.event {
            lane.is_some_and(|lane| self.came_with(&e.result, lane))
        } else {
            lane.is_some_and(|lane| self.are_new(lane, envelope.seq))
        }
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
                for (first, last) in (0..=10).flat_map(|first| (0..=10).map(move |last| (Seq(first), Seq(last)))) {
                    let within: Vec<Seq> = of_lane.iter().copied().filter(|s| *s >= first && *s <= last).collect();
                    assert_eq!(tally.hits_of(lane, first..=last).collect::<Vec<_>>(), within);
                    assert_eq!(tally.last_of(lane, first..=last), within.last().copied());
                }
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
    fn what_is_too_much_to_keep_is_counted_and_said() {
        let mut tally = Tally { end: Seq(9), ..Tally::default() };
        for (n, hits) in [(1, 1), (3, 2), (4, 3), (6, 4), (7, 5)] {
            assert_eq!(tally.cut_at(), None.or((hits > 4).then_some(Seq(4))));
            tally.push_within(Seq(n), Some(LaneId(0)), 2);
            assert_eq!(tally.count(), hits);
        }
        assert_eq!((tally.cut_at(), tally.count_upto(Seq(9)), tally.hits_from(Seq(0)).count()), (Some(Seq(4)), 3, 3));
    }

    #[test]
    fn what_is_known_of_an_event_ends_where_it_was_read_to() {
        let mut tally = Tally { end: Seq(9), read_upto: Seq(4), ..Tally::default() };
        tally.push(Seq(3), Some(LaneId(0)));
        assert_eq!([2, 3, 4, 5].map(|n| tally.knows(Seq(n))), [Some(false), Some(true), Some(false), None]);
    }

    #[test]
    fn a_scan_gives_its_state_back_when_the_run_ends_behind_it() {
        struct Always;
        impl Probe for Always {
            fn holds(&self, _: &Envelope, _: &DashState) -> bool {
                true
            }
        }
        let mut scan = Scan::new(Quest::Search, Arc::new(Always), Seq(1), true);
        let event = Event::DecisionSettled(crate::event::DecisionSettled { duration_ns: 1, memory_bytes: None });
        scan.note(&Envelope { seq: Seq(1), t_ns: 1, lane: LaneId(0), episode: None, step: None, event });
        assert!(scan.tally.is_whole() && scan.state.is_some());
        scan.note_end(Seq(1), false);
        assert!(scan.state.is_none() && scan.tally.count() == 1);
    }

    #[test]
    fn what_always_holds_takes_one_stretch() {
        let mut tally = Tally::default();
        (1..=100_000).for_each(|n| tally.push(Seq(n), Some(LaneId(1))));
        assert_eq!((tally.stretches.len(), tally.count()), (1, 100_000));
    }
}
