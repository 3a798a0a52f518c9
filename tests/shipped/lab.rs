//! The real engine on the real simulator, in simulated time: a step and a message take as long as is said, and nothing else takes any.

use super::tale::Tale;
use pilothouse::agent::prompt::WindowSettings;
use pilothouse::agent::{Caps, DecodeSpec, Opened, Policy, PolicyError, Progress, Prompt, Segment};
use pilothouse::engine::{AgentKind, Engine, EngineSettings, LoadedPolicy, PolicyProvider, RunFacts};
use pilothouse::env::{self, Baseline, BaselineKind, Decision, EnvError, EnvSnapshot, EnvSpec, Environment, Info, Reset, StepResult};
use pilothouse::event::*;
use pilothouse::journal::Journal;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// What a puppet says; it is told the number of the message, from 0.
pub enum Said {
    /// A call, as the model writes it.
    Call(&'static str),
    /// The logs of the first service.
    Look,
    /// It never ends its message.
    Nothing,
}

#[derive(Clone, Copy)]
pub enum Agent {
    Runbook,
    Random,
    Puppet(fn(u64) -> Said),
}

/// What is wrong with the simulator.
#[derive(Clone, Copy)]
pub struct Twist {
    /// Numbers that observations have besides; `observe` adds them.
    pub fields: &'static [(&'static str, Unit)],
    pub observe: fn(&mut Observation),
    pub step: fn(&mut StepResult),
    /// What the step of this number takes besides, in seconds.
    pub hangs_s: fn(u64) -> u64,
}

impl Default for Twist {
    fn default() -> Self {
        Self { fields: &[], observe: |_| {}, step: |_| {}, hangs_s: |_| 0 }
    }
}

/// How a run is set up.
#[derive(Clone, Copy)]
pub struct Lab {
    pub agent: Agent,
    pub level: Level,
    pub lanes: u32,
    pub steps_max: Option<u32>,
    pub window: WindowSettings,
    pub twist: Twist,
    pub step_s: u64,
    /// Training steps of the checkpoints that are known; a puppet is the first.
    pub shelf: &'static [u64],
    /// For how long it runs.
    pub run_s: u64,
}

impl Default for Lab {
    fn default() -> Self {
        Self {
            agent: Agent::Runbook,
            level: Level::L0,
            lanes: 1,
            steps_max: None,
            window: WindowSettings::default(),
            twist: Twist::default(),
            step_s: 4,
            shelf: &[1],
            run_s: 600,
        }
    }
}

impl Lab {
    pub fn play(self) -> Tale {
        let clock = Arc::new(ManualClock::default());
        let mut journal = Journal::new(clock.clone(), None);
        let events = journal.tap();
        let (commands, inbox) = inbox(256);
        let simulator = Simulator { inner: env::make("ops").unwrap(), lab: self, clock: clock.clone(), steps: 0 };
        let provider = Arc::new(Shelf { lab: self, clock: clock.clone() });
        let engine = Engine::new(self.settings(), &simulator, journal, inbox, commands.clone(), provider, clock.clone());
        let thread = std::thread::spawn(move || engine.run());
        let (mut told, mut is_asked_to_end) = (Vec::new(), false);
        loop {
            match events.recv_timeout(Duration::from_millis(5)) {
                Ok(envelope) => told.push(Envelope::clone(&envelope)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !is_asked_to_end && clock.now_ns() > self.run_s * SECOND_NS {
                is_asked_to_end = commands.send(Command::Shutdown).is_ok();
            }
        }
        thread.join().unwrap();
        Tale::of(told, self.run_s)
    }

    fn settings(&self) -> EngineSettings {
        let facts =
            RunFacts { run: RunId::from("01LAB"), started: "2026-01-01T00:00:00Z".into(), build: "lab".into(), profile: "test".into() };
        let agent = match self.agent {
            Agent::Runbook => AgentKind::Baseline(BaselineKind::Heuristic),
            Agent::Random => AgentKind::Baseline(BaselineKind::Random),
            Agent::Puppet(_) => AgentKind::Model(name(0)),
        };
        EngineSettings {
            facts,
            agent,
            level: self.level,
            seed: Seed(7),
            lanes: self.lanes,
            episodes_max: None,
            steps_max: self.steps_max,
            pace: Pace::Max,
            streams: false,
            start_paused: false,
            pause_ns_max: None,
            temperature: 0.0,
            top_p: 1.0,
            message_tokens_max: 64,
            window: self.window,
            reward: RewardFormula::default(),
        }
    }
}

struct Simulator {
    inner: Box<dyn Environment>,
    lab: Lab,
    clock: Arc<ManualClock>,
    steps: u64,
}

impl Environment for Simulator {
    fn spec(&self) -> &EnvSpec {
        self.inner.spec()
    }

    fn reset(&mut self, seed: Seed, level: Level) -> Reset {
        let mut reset = self.inner.reset(seed, level);
        let field = |(name, unit): &(&str, Unit)| ObservationField { name: (*name).to_owned(), unit: *unit };
        reset.fields.extend(self.lab.twist.fields.iter().map(field));
        (self.lab.twist.observe)(&mut reset.observation);
        reset
    }

    fn step(&mut self, action: &env::Action) -> StepResult {
        self.clock.advance((self.lab.step_s + (self.lab.twist.hangs_s)(self.steps)) * SECOND_NS);
        self.steps += 1;
        let mut result = self.inner.step(action);
        (self.lab.twist.observe)(&mut result.observation);
        (self.lab.twist.step)(&mut result);
        result
    }

    fn snapshot(&self) -> EnvSnapshot {
        self.inner.snapshot()
    }

    fn restore(&mut self, snapshot: &EnvSnapshot) -> Result<(), EnvError> {
        self.inner.restore(snapshot)
    }

    fn state_hash(&self) -> u64 {
        self.inner.state_hash()
    }

    fn conclude(&self) -> Info {
        self.inner.conclude()
    }

    fn oracle(&self) -> Decision {
        self.inner.oracle()
    }

    fn fresh(&self) -> Box<dyn Environment> {
        Box::new(Self { inner: self.inner.fresh(), lab: self.lab, clock: self.clock.clone(), steps: 0 })
    }

    fn baseline(&self, kind: BaselineKind) -> Box<dyn Baseline> {
        self.inner.baseline(kind)
    }
}

fn name(number: usize) -> CheckpointId {
    CheckpointId::from(format!("puppet-{number}").as_str())
}

struct Shelf {
    lab: Lab,
    clock: Arc<ManualClock>,
}

impl PolicyProvider for Shelf {
    fn list(&self) -> Vec<CheckpointListed> {
        let listed = |(number, step): (usize, &u64)| CheckpointListed {
            checkpoint: name(number),
            sha256: "0".repeat(64),
            training_step: *step,
            note: SafeText::default(),
        };
        self.lab.shelf.iter().enumerate().map(listed).collect()
    }

    fn load(&self, checkpoint: &CheckpointId) -> Result<LoadedPolicy, String> {
        let Agent::Puppet(says) = self.lab.agent else { return Err("nobody asks a model".into()) };
        let policy = Puppet { says, end_ns: self.lab.run_s * SECOND_NS, clock: self.clock.clone(), messages: 0, open: BTreeMap::new() };
        Ok(LoadedPolicy { policy: Box::new(policy), checkpoint: checkpoint.clone(), sha256: "0".repeat(64) })
    }
}

/// A policy that says what it is told to.
struct Puppet {
    says: fn(u64) -> Said,
    end_ns: u64,
    clock: Arc<ManualClock>,
    messages: u64,
    /// What each lane is still to say; the whole message is one piece.
    open: BTreeMap<LaneId, Option<String>>,
}

impl Policy for Puppet {
    fn open(&mut self, lane: LaneId, prompt: &Prompt, spec: &DecodeSpec) -> Result<Opened, PolicyError> {
        let call = match (self.says)(self.messages) {
            Said::Call(call) => call.to_owned(),
            Said::Look => look(spec),
            Said::Nothing => String::new(),
        };
        self.messages += 1;
        self.open.insert(lane, Some(call));
        Ok(Opened { prompt_tokens: prompt.segments.iter().map(|s| self.count_tokens(s)).sum(), cached_tokens: 0 })
    }

    fn advance(&mut self, lanes: &[LaneId], out: &mut Vec<(LaneId, Progress)>) -> Result<(), PolicyError> {
        for lane in lanes {
            let said = self.open.get_mut(lane).ok_or(PolicyError::NotOpen(*lane))?;
            let progress = match said.take() {
                Some(call) if call.is_empty() => {
                    *said = Some(call);
                    // Time passes for whoever waits, though not beyond the end.
                    if self.clock.now_ns() <= self.end_ns {
                        self.clock.advance(SECOND_NS);
                    }
                    Progress::Pending
                }
                Some(call) => {
                    let text = format!("a look at the numbers of now<act>{call}<end>");
                    Progress::Piece { text, token: Some(TokenId(1)), logprob: Some(-0.1), entropy: Some(0.5) }
                }
                None => Progress::Done(FinishReason::Stop),
            };
            out.push((*lane, progress));
        }
        Ok(())
    }

    fn cancel(&mut self, lane: LaneId) {
        self.open.remove(&lane);
    }

    fn truncate(&mut self, _: LaneId, _: usize) {}

    fn fork(&mut self, _: LaneId, _: LaneId) {}

    fn count_tokens(&self, segment: &Segment) -> u32 {
        1 + segment.text.split_whitespace().count() as u32
    }

    fn caps(&self) -> Caps {
        Caps { logprobs: true, value: false, context_tokens_max: 4096, parameters: 1, device: "paper".into() }
    }
}

/// A call that fits the episode's tools.
fn look(spec: &DecodeSpec) -> String {
    let tool = spec.tools.iter().find(|tool| tool.name == "query").unwrap();
    format!(r#"{{"tool":"query","svc":{},"of":"logs"}}"#, tool.parameters["properties"]["svc"]["enum"][0])
}
