//! Where a run or a replay is to stop: breakpoints and watched expressions, by the operator's keys.

use super::backstage::Backstage;
use super::update::{Effect, Facts};
use super::view::View;
use super::watches::{self, Known, Ledger};
use super::widgets::format;
use crate::event::{AlertState, Envelope, EpisodeId, Event, LaneId, Phase, RunState, Seq, StepIndex};
use crate::source::{Probe, Quest};
use crate::state::{DashState, RowKind};
use crate::ui::lang::tr;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What happens where it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Break,
    /// It vanishes with its first hit.
    Once,
    /// It only counts.
    Watch,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Preset(Preset),
    /// In CEL.
    Condition(String),
}

/// Conditions that have names, or that no expression could say.
#[derive(Clone, Debug, PartialEq)]
pub enum Preset {
    /// This event of a lane in a recording, and its address in words.
    At(LaneId, Seq, String),
    /// The beginning of this step, in any episode of the lane.
    Step(LaneId, StepIndex),
    ToolError,
    RewardBelow(f64),
    /// The same call three times in a row.
    SameAction,
    KlAbove(f64),
    /// Mean over a message's tokens, in nats.
    EntropyBelow(f64),
    /// Any alert begins to fire.
    Alert,
}

/// The names of those that can be typed.
pub const PRESETS: [&str; 6] = ["tool-error", "reward-below X", "same-action-3", "kl-above X", "entropy-below X", "alert"];

impl Preset {
    /// By what is typed; `None` where that names no preset.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let mut words = text.split_whitespace();
        let (name, argument, more) = (words.next()?, words.next(), words.next());
        let plain = |preset: Self| match argument {
            None => Ok(preset),
            Some(_) => Err(tr!("{name} takes no number", name = name)),
        };
        let number = |preset: fn(f64) -> Self| match argument.map(str::parse::<f64>) {
            Some(Ok(x)) if x.is_finite() && more.is_none() => Ok(preset(x)),
            Some(_) | None => Err(tr!("{name} needs one number, such as {name} 0.1", name = name)),
        };
        Some(match name {
            "tool-error" => plain(Self::ToolError),
            "same-action-3" => plain(Self::SameAction),
            "alert" => plain(Self::Alert),
            "reward-below" => number(Self::RewardBelow),
            "kl-above" => number(Self::KlAbove),
            "entropy-below" => number(Self::EntropyBelow),
            _ => return None,
        })
    }

    pub fn text(&self) -> String {
        match self {
            Self::At(_, _, address) => address.clone(),
            // That of the episode under way may have begun already.
            Self::Step(LaneId(0), step) => tr!("step {step} of every episode from now on", step = step),
            Self::Step(lane, step) => tr!("step {step} of every episode of lane {lane} from now on", step = step, lane = lane),
            Self::ToolError => "tool-error".into(),
            Self::RewardBelow(x) => format!("reward-below {x}"),
            Self::SameAction => "same-action-3".into(),
            Self::KlAbove(x) => format!("kl-above {x}"),
            Self::EntropyBelow(x) => format!("entropy-below {x}"),
            Self::Alert => "alert".into(),
        }
    }
}

impl Probe for Preset {
    fn holds(&self, envelope: &Envelope, state: &DashState) -> bool {
        let event = &envelope.event;
        match self {
            Self::At(_, seq, _) => envelope.seq == *seq,
            Self::Step(lane, step) => {
                let begins = matches!(event, Event::PhaseEntered(e) if e.phase == Phase::Observe);
                begins && envelope.lane == *lane && envelope.step == Some(*step)
            }
            Self::ToolError => matches!(event, Event::ToolCallFinished(e) if e.error_type.is_some()),
            Self::RewardBelow(x) => matches!(event, Event::TransitionRecorded(e) if e.reward < *x),
            Self::SameAction => matches!(event, Event::ToolCallStarted(_)) && repeats(envelope, state),
            Self::KlAbove(x) => matches!(event, Event::UpdateCompleted(e) if e.approx_kl.is_some_and(|kl| kl > *x)),
            Self::EntropyBelow(x) => {
                let mean = |values: &[f32]| (!values.is_empty()).then(|| values.iter().sum::<f32>() / values.len() as f32);
                matches!(event, Event::MessageCompleted(e) if mean(&e.entropy).is_some_and(|m| f64::from(m) < *x))
            }
            Self::Alert => matches!(event, Event::AlertStateChanged(e) if e.state == AlertState::Firing),
        }
    }

    fn asks_state(&self) -> bool {
        matches!(self, Self::SameAction)
    }
}

/// Whether the lane's last three calls of this episode are the same one.
fn repeats(envelope: &Envelope, state: &DashState) -> bool {
    let Some(lane) = state.lane(envelope.lane) else { return false };
    let of_episode = lane.transcript.rows.iter().rev().take_while(|r| Some(r.episode) == envelope.episode);
    let mut calls = of_episode.filter_map(|r| if let RowKind::Action { call, .. } = &r.kind { Some(call) } else { None });
    match (calls.next(), calls.next(), calls.next()) {
        (Some(a), Some(b), Some(c)) => a == b && b == c,
        (_, _, _) => false,
    }
}

/// A breakpoint or a watched expression.
pub struct Stop {
    pub kind: Kind,
    /// Breakpoints and watched expressions are numbered apart, from 1.
    pub number: u32,
    pub text: String,
    /// Where it stands, for one that is a place.
    pub at: Option<(LaneId, Seq)>,
    pub probe: Arc<dyn Probe>,
    /// The same, for a watched expression that has a value.
    pub ledger: Option<Arc<Ledger>>,
    /// Events seen at which it held, or changed; of a recording the tally knows better.
    pub held: u64,
    pub held_last: Option<Seq>,
    /// The decision of each lane in which it holds, and the event at which it did last; none once it was false.
    holding: BTreeMap<LaneId, (EpisodeId, StepIndex, Seq)>,
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("kind", &self.kind).field("number", &self.number).field("text", &self.text).finish_non_exhaustive()
    }
}

impl Stop {
    pub fn quest(&self) -> Quest {
        match self.kind {
            Kind::Break | Kind::Once => Quest::Stop(self.number),
            Kind::Watch => Quest::Watch(self.number),
        }
    }

    pub fn is_watch(&self) -> bool {
        self.kind == Kind::Watch
    }

    /// Whether a run is to stop where it holds: not at every event of a decision in which it goes on to hold, such as `step >= 9`, but
    /// where it begins to and in each decision anew. An event of an earlier place is one that is played again.
    fn begins_to_hold(&mut self, envelope: &Envelope) -> bool {
        let Some((episode, step)) = envelope.episode.zip(envelope.step) else { return true };
        let before = self.holding.insert(envelope.lane, (episode, step, envelope.seq));
        before.is_none_or(|(e, s, seq)| (e, s) != (episode, step) || envelope.seq <= seq)
    }
}

/// All that were set at this seat.
#[derive(Debug, Default)]
pub struct Stops {
    pub all: Vec<Stop>,
    breaks_ever: u32,
    watches_ever: u32,
    /// The run was asked to pause and has not paused yet.
    pub pausing: bool,
    /// The breakpoint for which a live run pauses or stands still; unset once it goes on.
    pub paused_at: Option<u32>,
}

/// A breakpoint that holds at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub number: u32,
    pub text: String,
    pub seq: Seq,
    pub lane: LaneId,
    pub address: String,
    /// Of the event.
    pub kind: String,
}

impl Stops {
    pub fn breaks(&self) -> impl Iterator<Item = &Stop> {
        self.all.iter().filter(|s| !s.is_watch())
    }

    pub fn watches(&self) -> impl Iterator<Item = &Stop> {
        self.all.iter().filter(|s| s.is_watch())
    }

    /// Sets one; gives it.
    pub fn add(&mut self, kind: Kind, text: String, at: Option<(LaneId, Seq)>, probe: Arc<dyn Probe>) -> &Stop {
        let ever = if kind == Kind::Watch { &mut self.watches_ever } else { &mut self.breaks_ever };
        *ever = ever.saturating_add(1);
        let number = *ever;
        self.all.push(Stop { kind, number, text, at, probe, ledger: None, held: 0, held_last: None, holding: BTreeMap::new() });
        &self.all[self.all.len() - 1]
    }

    /// Watches an expression that has a value; gives its number.
    pub fn watch(&mut self, text: String, ledger: Arc<Ledger>) -> u32 {
        let number = self.add(Kind::Watch, text, None, ledger.clone()).number;
        self.all.iter_mut().rev().take(1).for_each(|stop| stop.ledger = Some(ledger.clone()));
        number
    }

    /// Takes away those that `which` names; gives their quests.
    pub fn remove(&mut self, which: impl Fn(&Stop) -> bool) -> Vec<Quest> {
        let gone = self.all.iter().filter(|s| which(s)).map(Stop::quest).collect();
        self.all.retain(|s| !which(s));
        gone
    }

    /// A new state came in place of events: what to tell where breakpoints were not asked of them.
    pub fn passed_over(&mut self, before: Seq, now: Seq) -> Option<String> {
        // Whether the run has paused meanwhile is not known; the next hit asks again.
        (self.pausing, self.paused_at) = (false, None);
        let skipped = now.0.saturating_sub(before.0);
        let told = before > Seq(0) && skipped > 0 && self.breaks().next().is_some();
        told.then(|| tr!("this console was behind: no breakpoint was asked of {n} events", n = skipped))
    }

    /// Asks all of an event that was folded just now; the first breakpoint that holds. One that stops once is taken away by the
    /// caller, who knows whether it did stop.
    pub fn note(&mut self, envelope: &Envelope, state: &DashState) -> Option<Hit> {
        if let Event::RunStateChanged(e) = &envelope.event {
            match e.state {
                RunState::Paused => self.pausing = false,
                RunState::Starting | RunState::Running | RunState::Stepping | RunState::Ended => self.paused_at = None,
            }
        }
        let mut hit = None;
        let is_asked = |s: &Stop| s.ledger.as_ref().is_none_or(|ledger| !ledger.is_scanned);
        for stop in self.all.iter_mut().filter(|s| is_asked(s)) {
            if !stop.probe.holds(envelope, state) {
                if envelope.step.is_some() {
                    stop.holding.remove(&envelope.lane);
                }
                continue;
            }
            stop.held = stop.held.saturating_add(1);
            stop.held_last = Some(envelope.seq);
            if !stop.is_watch() && stop.begins_to_hold(envelope) && hit.is_none() {
                let (number, text, address) = (stop.number, stop.text.clone(), envelope.address());
                let kind = envelope.event.kind().to_owned();
                hit = Some(Hit { number, text, seq: envelope.seq, lane: envelope.lane, address, kind });
            }
        }
        hit
    }
}

/// What the app is to do about stops.
#[derive(Clone, Debug, PartialEq)]
pub enum StopEffect {
    Set(Kind, What),
    /// Breakpoints by their number; all of them without one.
    Delete(Option<u32>),
    /// Watched expressions by their number; all of them without one.
    Forget(Option<u32>),
    /// Run to the next stop, or back to the previous one.
    Continue {
        forward: bool,
    },
}

/// Makes what is asked of each event; why it can't be made, with the place of the mistake.
pub fn probe(what: &What, backstage: &dyn Backstage) -> Result<Arc<dyn Probe>, String> {
    match what {
        What::Preset(preset) => Ok(Arc::new(preset.clone())),
        What::Condition(source) => backstage.compile(source),
    }
}

/// Watches an expression, or takes away what is watched.
pub fn watch(argument: &str) -> Vec<Effect> {
    match taken_away(argument) {
        Some(Ok(number)) => vec![Effect::Stops(StopEffect::Forget(number))],
        Some(Err(reason)) => vec![Effect::Mistake(reason)],
        None => condition(Kind::Watch, "watch", argument),
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

pub fn condition(kind: Kind, name: &str, text: &str) -> Vec<Effect> {
    if text.is_empty() {
        return vec![Effect::OpenCommand(format!("{name} "))];
    }
    // No expression: `fields` is no name.
    if text == "fields" {
        return vec![Effect::TellFields];
    }
    let what = match Preset::parse(text) {
        Some(Ok(preset)) => What::Preset(preset),
        Some(Err(reason)) => return vec![Effect::Notice(reason)],
        None => What::Condition(text.to_owned()),
    };
    vec![Effect::Stops(StopEffect::Set(kind, what))]
}

/// A breakpoint at the step of the cursor or the playhead; away, where one is.
pub fn break_here(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(seq) = super::panes::replay::place(view, facts.state, facts.desk, facts.playback) else {
        return vec![Effect::Notice(tr!("there is no step yet to stop at"))];
    };
    if facts.playback.is_none() {
        let Some(lane) = facts.state.lane(view.lane) else { return vec![Effect::Notice(tr!("there is no step yet to stop at"))] };
        let step = super::panes::chain::cursor_row(view, facts.state).map_or(lane.episode.step, |r| r.step);
        let preset = Preset::Step(view.lane, step);
        let same = facts.desk.stops.breaks().find(|s| s.text == preset.text());
        return vec![Effect::Stops(match same {
            Some(stop) => StopEffect::Delete(Some(stop.number)),
            None => StopEffect::Set(Kind::Break, What::Preset(preset)),
        })];
    }
    let beat = facts
        .desk
        .replay
        .track
        .as_ref()
        .filter(|t| t.lane == view.lane)
        .and_then(|t| t.beat_at(seq).map(|i| (t.episode, t.beats[i].clone())));
    let is_here = |at: Seq| beat.as_ref().map_or(at == seq, |(_, b)| (b.first..=b.last).contains(&at));
    if let Some(stop) = facts.desk.stops.breaks().find(|s| s.at.is_some_and(|(lane, at)| lane == view.lane && is_here(at))) {
        return vec![Effect::Stops(StopEffect::Delete(Some(stop.number)))];
    }
    let address = match &beat {
        Some((episode, beat)) if is_here(seq) && view.lane != LaneId(0) => format!("{}:{episode}/{} @{seq}", view.lane, beat.step),
        Some((episode, beat)) if is_here(seq) => format!("{episode}/{} @{seq}", beat.step),
        Some(_) | None => format!("@{seq}"),
    };
    vec![Effect::Stops(StopEffect::Set(Kind::Break, What::Preset(Preset::At(view.lane, seq, address))))]
}

pub fn breakpoints(argument: &str, lane: LaneId, facts: &Facts<'_>) -> Vec<Effect> {
    let mut words = argument.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => vec![Effect::Tell(tr!("Breakpoints"), listed(facts, lane))],
        (Some("clear"), None) => vec![Effect::Stops(StopEffect::Delete(None))],
        (Some("presets"), None) => {
            vec![Effect::Tell(tr!("Presets of :break"), PRESETS.iter().map(|p| format!(":break {p}")).collect())]
        }
        (Some("delete"), Some(number)) => match number.trim_start_matches("bp").parse() {
            Ok(number) => vec![Effect::Stops(StopEffect::Delete(Some(number)))],
            Err(_) => vec![Effect::Notice(tr!("`{number}` is no number of a breakpoint", number = number))],
        },
        (Some(_), _) => vec![Effect::Notice(tr!("write :breakpoints, or clear, delete N, presets behind it"))],
    }
}

fn listed(facts: &Facts<'_>, lane: LaneId) -> Vec<String> {
    let mut lines: Vec<String> = facts.desk.stops.all.iter().map(|stop| line(stop, lane, facts)).collect();
    if lines.is_empty() {
        lines.push(tr!("none is set; b sets one here, :break one with a condition"));
    }
    if facts.playback.is_none() {
        lines.push(tr!("a live run stops as soon as this console has seen the event"));
    }
    lines
}

fn line(stop: &Stop, lane: LaneId, facts: &Facts<'_>) -> String {
    let name = match stop.kind {
        Kind::Break => format!("bp{}", stop.number),
        Kind::Once => format!("bp{} {}", stop.number, tr!("once")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::DecisionSettled;

    struct From9;

    impl Probe for From9 {
        fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
            envelope.step >= Some(StepIndex(9)) && envelope.seq != Seq(14)
        }
    }

    #[test]
    fn a_run_stops_where_a_condition_begins_to_hold_and_in_each_decision_anew() {
        let mut stops = Stops::default();
        stops.add(Kind::Break, "step >= 9".into(), None, Arc::new(From9));
        let mut at = |seq: u64, step: Option<u32>| {
            let (lane, episode, step) = (LaneId(0), step.map(|_| EpisodeId(3)), step.map(StepIndex));
            let event = DecisionSettled { duration_ns: 1 }.into();
            stops.note(&Envelope { seq: Seq(seq), t_ns: seq, lane, episode, step, event }, &DashState::default())
        };
        assert_eq!(at(10, Some(8)), None);
        let hit = at(11, Some(9)).unwrap();
        assert_eq!((hit.address.as_str(), hit.kind.as_str()), ("3/9", "DecisionSettled"));
        // What belongs to no decision changes nothing.
        assert_eq!((at(12, None), at(13, Some(9))), (None, None));
        assert_eq!(at(14, Some(9)), None);
        assert!(at(15, Some(9)).is_some(), "it was false meanwhile");
        assert_eq!(at(16, Some(9)), None);
        assert!(at(17, Some(10)).is_some() && at(18, Some(10)).is_none());
        assert!(at(17, Some(10)).is_some(), "played again");
        assert_eq!(stops.all[0].held, 7);
    }
}
