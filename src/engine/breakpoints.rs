//! Breakpoints: conditions that are asked of every event as it is told, and stop the run at the boundary behind it.

use super::crank::Engine;
use crate::cond::Condition;
use crate::event::*;
use crate::journal::{Place, Watcher};
use crate::state::DashState;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Breakpoints at most: each is asked of every event.
const BREAKPOINTS_MAX: usize = 64;

struct Armed {
    number: u32,
    breakpoint: Breakpoint,
    condition: Condition,
    onset: Onset,
    hits: u64,
    /// Hits that were passed over.
    ignored: u32,
    /// It had its one hit, which is still to be told.
    is_spent: bool,
}

/// A hit that was not told yet.
struct Hit {
    place: Place,
    told: BreakpointHit,
}

#[derive(Default)]
struct Table {
    armed: Vec<Armed>,
    /// Numbers that were given; none is given twice.
    ever: u32,
    hits: Vec<Hit>,
}

impl Table {
    fn note(&mut self, envelope: &Envelope, state: &DashState) {
        for armed in self.armed.iter_mut().filter(|armed| !armed.is_spent) {
            let is_asked = is_asked(envelope, armed.condition.asks_event());
            if !is_asked || !armed.onset.note(envelope, armed.condition.matches(envelope, state)) {
                continue;
            }
            armed.hits = armed.hits.saturating_add(1);
            let outcome = if armed.ignored < armed.breakpoint.ignore {
                armed.ignored += 1;
                HitOutcome::Ignored
            } else if armed.breakpoint.log {
                HitOutcome::Logged
            } else {
                HitOutcome::Paused
            };
            armed.is_spent = armed.breakpoint.once && outcome != HitOutcome::Ignored;
            let told = BreakpointHit {
                number: armed.number,
                when: armed.breakpoint.when.clone(),
                at: envelope.seq,
                kind: SafeText::new(envelope.event.kind()),
                why: armed.condition.why(envelope, state),
                hits: armed.hits,
                outcome,
            };
            self.hits.push(Hit { place: Place { lane: envelope.lane, episode: envelope.episode, step: envelope.step }, told });
        }
    }
}

/// All breakpoints of a run. The engine sets them and takes their hits; its journal asks them of every event.
#[derive(Clone, Default)]
pub(super) struct Breakpoints(Arc<Mutex<Table>>);

impl Breakpoints {
    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing in it is left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the journal is to ask of every event.
    pub fn watcher(&self) -> Watcher {
        let all = self.clone();
        Box::new(move |envelope, state| all.table().note(envelope, state))
    }

    pub fn is_empty(&self) -> bool {
        self.table().armed.is_empty()
    }

    /// Why a breakpoint can't be set; `None` when it can.
    pub fn objection(&self, number: Option<u32>, breakpoint: &Breakpoint) -> Option<String> {
        if let Err(error) = Condition::parse(&breakpoint.when) {
            return Some(error.to_string());
        }
        match number {
            Some(number) => self.objection_to_number(number),
            None if self.table().armed.len() == BREAKPOINTS_MAX => {
                Some(format!("there are {BREAKPOINTS_MAX} breakpoints already; take one away first"))
            }
            None => None,
        }
    }

    pub fn objection_to_number(&self, number: u32) -> Option<String> {
        let table = self.table();
        if table.armed.iter().any(|a| a.number == number) {
            return None;
        }
        let known: Vec<String> = table.armed.iter().map(|a| format!("bp{}", a.number)).collect();
        Some(if known.is_empty() {
            "no breakpoint is set".into()
        } else {
            format!("there is no bp{number}; there are {}", known.join(", "))
        })
    }

    /// Sets one, or changes the one of this number, whose hits go on to count; gives its number.
    fn set(&self, number: Option<u32>, breakpoint: Breakpoint) -> Option<u32> {
        let condition = Condition::parse(&breakpoint.when).ok()?;
        let mut table = self.table();
        if let Some(armed) = table.armed.iter_mut().find(|a| Some(a.number) == number) {
            (armed.breakpoint, armed.condition, armed.onset) = (breakpoint, condition, Onset::default());
            (armed.ignored, armed.is_spent) = (0, false);
            return number;
        }
        table.ever += 1;
        let number = table.ever;
        table.armed.push(Armed { number, breakpoint, condition, onset: Onset::default(), hits: 0, ignored: 0, is_spent: false });
        Some(number)
    }

    /// Takes one away, or all, with hits of theirs that were not told yet; gives their numbers.
    fn clear(&self, which: impl Fn(&Armed) -> bool) -> Vec<u32> {
        let mut table = self.table();
        let gone: Vec<u32> = table.armed.iter().filter(|a| which(a)).map(|a| a.number).collect();
        table.armed.retain(|a| !which(a));
        table.hits.retain(|hit| !gone.contains(&hit.told.number));
        gone
    }

    fn take_hits(&self) -> Vec<Hit> {
        std::mem::take(&mut self.table().hits)
    }
}

impl Engine {
    pub(super) fn set_breakpoint(&mut self, number: Option<u32>, breakpoint: Breakpoint) {
        // It was looked at whether it makes sense.
        if let Some(number) = self.breakpoints.set(number, breakpoint.clone()) {
            self.append(BreakpointSet { number, breakpoint });
        }
    }

    pub(super) fn clear_breakpoints(&mut self, number: Option<u32>) {
        for number in self.breakpoints.clear(|a| number.is_none_or(|n| n == a.number)) {
            self.append(BreakpointCleared { number });
        }
    }

    /// Tells of breakpoints that hold since the last boundary, and pauses the run where one asks for it.
    pub(super) fn stop_at_breakpoints(&mut self) {
        let hits = self.breakpoints.take_hits();
        if hits.is_empty() || self.control.state == RunState::Ended {
            return;
        }
        let mut why = None;
        for Hit { place, told } in hits {
            let (number, outcome) = (told.number, told.outcome);
            if outcome == HitOutcome::Paused && why.is_none() {
                let address = address(place.lane, place.episode, place.step, told.at);
                why = Some(format!("bp{number} holds at {address}: {}", told.when));
            }
            self.journal.append(place, told);
            let is_spent = |a: &Armed| a.number == number && a.is_spent;
            for number in self.breakpoints.clear(is_spent) {
                self.append(BreakpointCleared { number });
            }
        }
        let runs = match self.control.state {
            RunState::Starting | RunState::Running | RunState::Stepping => true,
            RunState::Paused | RunState::Ended => false,
        };
        if let Some(why) = why.filter(|_| runs) {
            self.control.stepping = None;
            self.set_state(RunState::Paused, &why);
        }
    }
}
