//! The engine, turned by hand: a fake simulator, a fake policy, a clock that moves only when told.

mod branching;
mod breakpoints;
mod chaos;
mod control;
mod ending;
mod fakes;
mod grammar;
mod recital;
mod running;
mod swap;
mod verification;

use super::*;
use crate::agent::prompt::WindowSettings;
use crate::env::BaselineKind;
use crate::event::*;
use crate::journal::{Delivery, Journal, Subscription};
use fakes::{Adder, Shared, Shelf};
use grammar::Grammar;
use std::sync::Arc;

/// Turns of the crank after which a test gives up.
const TURNS_MAX: usize = 100_000;
/// Rests of at most half a second after which a test gives up: only a load makes an engine rest here.
const IDLE_MAX: usize = 60;

pub fn model() -> EngineSettings {
    let facts = RunFacts { run: "01TEST".into(), started: "2026-01-01T00:00:00Z".into(), build: "test".into(), profile: "test".into() };
    EngineSettings {
        facts,
        agent: AgentKind::Model("a".into()),
        level: Level::L0,
        seed: Seed(7),
        lanes: 1,
        episodes_max: None,
        steps_max: None,
        pace: Pace::Max,
        streams: false,
        start_paused: false,
        pause_ns_max: None,
        temperature: 0.7,
        top_p: 1.0,
        message_tokens_max: 64,
        window: WindowSettings::default(),
        reward: RewardFormula::default(),
    }
}

fn heuristic() -> EngineSettings {
    EngineSettings { agent: AgentKind::Baseline(BaselineKind::Heuristic), ..model() }
}

/// An engine in a test's hands. Every event is checked against the grammar as it comes.
pub struct Rig {
    engine: Engine,
    pub clock: Arc<ManualClock>,
    pub notes: Shared,
    pub sender: CommandSender,
    subscription: Subscription,
    grammar: Grammar,
    pub events: Vec<Arc<Envelope>>,
}

impl Rig {
    pub fn new(settings: EngineSettings) -> Self {
        Self::with(settings, Adder::new(), Shared::default())
    }

    /// A run that begins with a recorded episode.
    pub fn reciting(settings: EngineSettings, recital: Recital) -> Self {
        let mut rig = Self::new(settings);
        rig.engine.begin_with(recital);
        rig.collect();
        rig
    }

    pub fn with(settings: EngineSettings, env: Adder, notes: Shared) -> Self {
        let clock = Arc::new(ManualClock::default());
        let journal = Journal::new(clock.clone(), None);
        let mut subscription = journal.hub().subscribe();
        // The first delivery is the empty state; after it come all events.
        subscription.poll(&mut Vec::new(), 1);
        let (sender, inbox) = inbox(256);
        let grammar = Grammar::new(settings.streams);
        let provider = Arc::new(Shelf(notes.clone()));
        let engine = Engine::new(settings, &env, journal, inbox, sender.clone(), provider, clock.clone());
        let mut rig = Self { engine, clock, notes, sender, subscription, grammar, events: Vec::new() };
        rig.collect();
        rig
    }

    fn collect(&mut self) {
        let mut out = Vec::new();
        while self.subscription.poll(&mut out, 4096) {}
        for delivery in out {
            let Delivery::Event(envelope) = delivery else { panic!("the test lagged") };
            self.grammar.check(&envelope).unwrap_or_else(|why| panic!("{why}\n{}", tail(&self.events)));
            self.events.push(envelope);
        }
        assert_eq!(self.notes.lock().unwrap().misuse, None);
    }

    /// One turn; returns the events that it made.
    pub fn crank(&mut self) -> &[Arc<Envelope>] {
        let from = self.events.len();
        self.engine.crank();
        self.collect();
        &self.events[from..]
    }

    pub fn turns(&mut self, turns: usize) {
        for _ in 0..turns {
            self.crank();
        }
    }

    pub fn run_state(&self) -> RunState {
        let changed = |e: &Arc<Envelope>| match &e.event {
            Event::RunStateChanged(c) => Some(c.state),
            _ => None,
        };
        self.events.iter().rev().find_map(changed).unwrap_or_default()
    }

    /// Turns until an event after the present ones fits; rests when nothing moves, as `run` does.
    pub fn until(&mut self, fits: impl Fn(&Envelope) -> bool) -> Arc<Envelope> {
        let (mut from, mut idle) = (self.events.len(), 0);
        for _ in 0..TURNS_MAX {
            let moved = self.engine.crank();
            self.collect();
            if let Some(found) = self.events[from..].iter().find(|e| fits(e)) {
                return found.clone();
            }
            from = self.events.len();
            if !moved {
                idle += 1;
                assert!(idle < IDLE_MAX, "it never came\n{}", tail(&self.events));
                self.engine.rest();
            }
        }
        panic!("it never came\n{}", tail(&self.events));
    }

    pub fn until_state(&mut self, state: RunState) {
        if self.run_state() != state {
            self.until(|e| matches!(&e.event, Event::RunStateChanged(c) if c.state == state));
        }
    }

    /// Sends a command and turns until it is answered: `None` when it was accepted, else the reason.
    pub fn ask(&mut self, command: Command) -> Option<String> {
        let id = self.sender.send(command).unwrap();
        let answer = self.until(|e| match &e.event {
            Event::CommandAccepted(a) => a.id == id,
            Event::CommandRejected(r) => r.id == id,
            _ => false,
        });
        match &answer.event {
            Event::CommandRejected(r) => Some(r.reason.to_string()),
            _ => None,
        }
    }

    /// Steps and waits for the pause after it; returns the events of lanes in between.
    pub fn step(&mut self, lane: u32, unit: StepUnit, count: u32) -> Vec<Arc<Envelope>> {
        let from = self.events.len();
        self.sender.send(Command::Step { lane: LaneId(lane), unit, count }).unwrap();
        self.until(|e| matches!(&e.event, Event::RunStateChanged(c) if c.state == RunState::Paused));
        self.events[from..].iter().filter(|e| e.episode.is_some()).cloned().collect()
    }

    pub fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|e| e.event.kind() == kind).count()
    }
}

pub fn kinds(events: &[Arc<Envelope>]) -> Vec<&str> {
    events.iter().map(|e| e.event.kind()).collect()
}

/// Plays a run to its end and returns its events.
pub fn play(settings: EngineSettings) -> Vec<Arc<Envelope>> {
    let mut rig = Rig::new(settings);
    rig.until_state(RunState::Ended);
    rig.events
}

fn tail(events: &[Arc<Envelope>]) -> String {
    let lines = events[events.len().saturating_sub(12)..].iter().map(|e| format!("{} {} {:?}", e.seq, e.lane, e.event));
    lines.collect::<Vec<_>>().join("\n")
}
