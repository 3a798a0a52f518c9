//! Where the replay of a recording is to stop, and what is watched: by the operator's keys, at this seat. Breakpoints of a live run are the
//! engine's: see `breaks`.

use super::update::{Effect, Facts};
use super::watches::{self, Known, Ledger};
use super::widgets::format;
use crate::event::{Breakpoint, Envelope, LaneId, Onset, Seq};
use crate::source::{Probe, Quest, Tally};
use crate::state::DashState;
use crate::ui::lang::tr;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What happens where it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Break,
    /// It only counts.
    Watch,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// This event of a lane in a recording, and its address in words.
    At(LaneId, Seq, String),
    /// In CEL, or a preset; with what else is asked of a breakpoint.
    Condition(Breakpoint),
}

/// An event of a recording.
pub struct At(pub Seq);

impl Probe for At {
    fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
        envelope.seq == self.0
    }

    fn asks_state(&self) -> bool {
        false
    }

    /// A place is one whatever happened there.
    fn begins(&self, _: &mut Onset, envelope: &Envelope, state: &DashState) -> bool {
        self.holds(envelope, state)
    }
}

/// A breakpoint or a watched expression.
pub struct Stop {
    pub kind: Kind,
    /// Breakpoints and watched expressions are numbered apart, from 1.
    pub number: u32,
    pub text: String,
    /// It vanishes with its first hit.
    pub once: bool,
    /// Where it stands, for one that is a place.
    pub at: Option<(LaneId, Seq)>,
    pub probe: Arc<dyn Probe>,
    /// The same, for a watched expression that has a value.
    pub ledger: Option<Arc<Ledger>>,
    /// Events seen at which it began to hold, or for a watched one held or changed; of a recording the tally knows better.
    pub held: u64,
    pub held_last: Option<Seq>,
    onset: Onset,
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("kind", &self.kind).field("number", &self.number).field("text", &self.text).finish_non_exhaustive()
    }
}

impl Stop {
    pub fn quest(&self) -> Quest {
        match self.kind {
            Kind::Break => Quest::Stop(self.number),
            Kind::Watch => Quest::Watch(self.number),
        }
    }

    pub fn is_watch(&self) -> bool {
        self.kind == Kind::Watch
    }
}

/// All that were set at this seat.
#[derive(Debug, Default)]
pub struct Stops {
    pub all: Vec<Stop>,
    breaks_ever: u32,
    watches_ever: u32,
}

/// A breakpoint that holds at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub number: u32,
    pub text: String,
    pub seq: Seq,
}

impl Stops {
    pub fn breaks(&self) -> impl Iterator<Item = &Stop> {
        self.all.iter().filter(|s| !s.is_watch())
    }

    pub fn watches(&self) -> impl Iterator<Item = &Stop> {
        self.all.iter().filter(|s| s.is_watch())
    }

    /// Sets one; gives it.
    pub fn add(&mut self, kind: Kind, text: String, at: Option<(LaneId, Seq)>, probe: Arc<dyn Probe>) -> &mut Stop {
        let ever = if kind == Kind::Watch { &mut self.watches_ever } else { &mut self.breaks_ever };
        *ever = ever.saturating_add(1);
        let number = *ever;
        let onset = Onset::default();
        let at_end = self.all.len();
        self.all.push(Stop { kind, number, text, once: false, at, probe, ledger: None, held: 0, held_last: None, onset });
        &mut self.all[at_end]
    }

    /// Watches an expression that has a value; gives its number.
    pub fn watch(&mut self, text: String, ledger: Arc<Ledger>) -> u32 {
        let stop = self.add(Kind::Watch, text, None, ledger.clone());
        stop.ledger = Some(ledger);
        stop.number
    }

    /// Takes away those that `which` names; gives their quests.
    pub fn remove(&mut self, which: impl Fn(&Stop) -> bool) -> Vec<Quest> {
        let gone = self.all.iter().filter(|s| which(s)).map(Stop::quest).collect();
        self.all.retain(|s| !which(s));
        gone
    }

    /// Asks all of an event that was folded just now; the first breakpoint that holds. One that stops once is taken away by the
    /// caller, who knows whether it did stop.
    ///
    /// `tallies` know better what was before an event of a recording, to which the playhead may have jumped.
    pub fn note(&mut self, envelope: &Envelope, state: &DashState, tallies: &BTreeMap<Quest, Arc<Tally>>) -> Option<Hit> {
        let mut hit = None;
        let is_asked = |s: &Stop| s.ledger.as_ref().is_none_or(|ledger| !ledger.is_scanned);
        for stop in self.all.iter_mut().filter(|s| is_asked(s)) {
            let counts = if stop.is_watch() {
                stop.probe.holds(envelope, state)
            } else {
                let begins = stop.probe.begins(&mut stop.onset, envelope, state);
                tallies.get(&stop.quest()).and_then(|tally| tally.knows(envelope.seq)).unwrap_or(begins)
            };
            if !counts {
                continue;
            }
            stop.held = stop.held.saturating_add(1);
            stop.held_last = Some(envelope.seq);
            if !stop.is_watch() && hit.is_none() {
                hit = Some(Hit { number: stop.number, text: stop.text.clone(), seq: envelope.seq });
            }
        }
        hit
    }
}

/// What the app is to do about stops.
#[derive(Clone, Debug, PartialEq)]
pub enum StopEffect {
    Set(Kind, What),
    /// Give the breakpoint of this number another condition.
    Change(u32, Breakpoint),
    /// Breakpoints by their number; all of them without one.
    Delete(Option<u32>),
    /// Watched expressions by their number; all of them without one.
    Forget(Option<u32>),
    /// Run to the next stop, or back to the previous one.
    Continue {
        forward: bool,
    },
}

/// Watches an expression, or takes away what is watched.
pub fn watch(argument: &str) -> Vec<Effect> {
    match taken_away(argument) {
        Some(Ok(number)) => vec![Effect::Stops(StopEffect::Forget(number))],
        Some(Err(reason)) => vec![Effect::Mistake(reason)],
        None if argument.is_empty() => vec![Effect::OpenCommand("watch ".into())],
        // No expression: `fields` is no name.
        None if argument == "fields" => vec![Effect::TellFields],
        None => vec![Effect::Stops(StopEffect::Set(Kind::Watch, What::Condition(Breakpoint::new(argument))))],
    }
}

/// To the next stop, or back to the previous one; a live run has no way back.
pub fn run_on(forward: bool, facts: &Facts<'_>) -> Vec<Effect> {
    match facts.playback {
        None if forward => vec![Effect::Send(crate::event::Command::Resume)],
        Some(_) | None => vec![Effect::Stops(StopEffect::Continue { forward })],
    }
}

/// What `clear` and `delete N` take away: all, or a number. Unset where the argument is neither.
fn taken_away(argument: &str) -> Option<Result<Option<u32>, String>> {
    let mut words = argument.split_whitespace();
    match (words.next()?, words.next(), words.next()) {
        ("clear", None, None) => Some(Ok(None)),
        ("delete", Some(number), None) => {
            let parsed = number.parse().map_err(|_| tr!("`{number}` is no number of a watched expression", number = number));
            Some(parsed.map(Some))
        }
        (_, _, _) => None,
    }
}

/// All that is watched, with what it comes to.
pub fn watch_list(facts: &Facts<'_>, lane: LaneId) -> Vec<Effect> {
    let mut lines: Vec<String> = facts.desk.stops.watches().map(|stop| line(stop, lane, facts)).collect();
    if lines.is_empty() {
        return vec![Effect::Mistake(tr!("nothing is watched; write an expression, such as :watch reward_sum"))];
    }
    lines.push(tr!(":watch delete N takes one away, :watch clear all"));
    vec![Effect::Tell(tr!("Watched"), lines)]
}

/// Of a list of stops.
pub fn line(stop: &Stop, lane: LaneId, facts: &Facts<'_>) -> String {
    let name = match stop.kind {
        Kind::Break if stop.once => format!("bp{} {}", stop.number, tr!("once")),
        Kind::Break => format!("bp{}", stop.number),
        Kind::Watch => format!("{} {}", tr!("watch"), stop.number),
    };
    let comes_to = stop.ledger.as_ref().map(|ledger| comes_to(stop, ledger, lane, facts.desk, facts.state).0);
    format!("{name}  {}  {}", stop.text, comes_to.unwrap_or_else(|| held(stop, facts.desk, facts.state)))
}

/// What a watched expression comes to, and whether that changed in the lane's step.
pub fn comes_to(stop: &Stop, ledger: &Ledger, lane: LaneId, desk: &super::desk::Desk, state: &DashState) -> (String, bool) {
    let tally = desk.replay.tallies.get(&stop.quest());
    if let Some(tally) = tally.filter(|t| t.read_upto < state.seq.min(t.end)) {
        return (tr!("n/a ({read} of {end} events read)", read = tally.read_upto, end = tally.end), false);
    }
    let Some(Known { now, before }) = ledger.at(lane, state.seq) else {
        // What the run said before the watch was set was not asked.
        let none = if tally.is_some() { tr!("n/a (no event had it so far)") } else { tr!("none since the watch was set") };
        return (none, false);
    };
    let here = state.lane(lane).map(|l| (l.episode.episode, l.episode.step));
    let is_here = now.seq == state.seq || now.place.is_some() && now.place == here;
    let value = watches::shown(&now.value);
    match before.filter(|_| is_here) {
        Some(before) => (format!("~ {} -> {value}", watches::shown(&before)), true),
        None => (tr!("{value}, since event {seq}", value = value, seq = now.seq), false),
    }
}

/// How often a stop held: in a recording up to the playhead and in all, in a run since it was set.
pub fn held(stop: &Stop, desk: &super::desk::Desk, state: &DashState) -> String {
    match desk.replay.tallies.get(&stop.quest()) {
        Some(tally) if tally.is_whole() => {
            tr!("hit {n} of {times}", n = tally.count_upto(state.seq), times = times(tally.count() as u64))
        }
        Some(tally) => {
            tr!("hit {times} in {read} of {end} events", times = times(tally.count() as u64), read = tally.read_upto, end = tally.end)
        }
        None => match stop.held_last {
            Some(last) => tr!("hit {times}, last at event {last}", times = times(stop.held), last = last),
            None => tr!("hit 0 times"),
        },
    }
}

fn times(n: u64) -> String {
    format::counted(n, "time")
}

/// Whether it holds in the step of the playhead; in a run, whether it held in this step.
pub fn holds_here(stop: &Stop, desk: &super::desk::Desk, state: &DashState) -> bool {
    let beat = desk.replay.track.as_ref().and_then(|t| t.beat_at(state.seq).map(|i| (t.lane, t.beats[i].first)));
    match (desk.replay.tallies.get(&stop.quest()), beat) {
        (Some(tally), Some((lane, first))) => tally.last_of(lane, first..=state.seq).is_some(),
        (Some(tally), None) => tally.holds_within(state.seq, state.seq),
        (None, _) => stop.held_last == Some(state.seq),
    }
}
