//! An episode of ten thousand decisions: going back in it, and a recording of it with branches. What it took is printed:
//! `cargo test --release --test long_episode -- --ignored --nocapture --test-threads 1`. `PILOTHOUSE_KEEP=FILE` keeps the recording, to be looked at.

#![allow(clippy::unwrap_used)]

use pilothouse::agent::prompt::WindowSettings;
use pilothouse::engine::{AgentKind, Engine, EngineSettings, LoadedPolicy, PolicyProvider, RunFacts};
use pilothouse::env::ops::Ops;
use pilothouse::env::*;
use pilothouse::event::*;
use pilothouse::journal::{Delivery, FORMAT, Header, HeaderEnv, Journal, Recorder, Recording, Subscription, VERSION};
use pilothouse::source::{Playback, RecordingSource};
use pilothouse::state::DashState;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Decisions before the one that is gone back to last.
const STEPS: u32 = 9_999;
const STEPS_MAX: u32 = 10_020;

/// The cluster, with one incident after the other: what is copied and played again is of the size that it has, and no episode ends early.
struct Endless {
    ops: Ops,
    spec: EnvSpec,
    seed: u64,
    level: Level,
}

impl Endless {
    fn new() -> Self {
        let ops = Ops::new();
        let spec = EnvSpec { name: "endless".into(), max_steps: STEPS_MAX, ..ops.spec().clone() };
        Self { ops, spec, seed: 0, level: Level::L2 }
    }
}

impl Environment for Endless {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Seed, level: Level) -> Reset {
        (self.seed, self.level) = (seed.0, level);
        self.ops.reset(seed, level)
    }

    fn step(&mut self, action: &Action) -> StepResult {
        let mut result = self.ops.step(action);
        if result.terminated || result.truncated {
            self.seed += 1;
            result.observation = self.ops.reset(Seed(self.seed), self.level).observation;
            (result.terminated, result.truncated) = (false, false);
        }
        result
    }

    fn snapshot(&self) -> EnvSnapshot {
        let inner = self.ops.snapshot();
        let bytes = self.seed.to_le_bytes().into_iter().chain(inner.bytes).collect();
        EnvSnapshot { bytes, ..inner }
    }

    fn restore(&mut self, snapshot: &EnvSnapshot) -> Result<(), EnvError> {
        let (seed, bytes) = snapshot.bytes.split_at(8);
        self.seed = u64::from_le_bytes(seed.try_into().unwrap());
        self.ops.restore(&EnvSnapshot { bytes: bytes.to_vec(), ..snapshot.clone() })
    }

    fn state_hash(&self) -> u64 {
        self.ops.state_hash() ^ self.seed
    }

    fn conclude(&self) -> Info {
        self.ops.conclude()
    }

    fn oracle(&self) -> Decision {
        self.ops.oracle()
    }

    fn fresh(&self) -> Box<dyn Environment> {
        Box::new(Self::new())
    }

    fn baseline(&self, kind: BaselineKind) -> Box<dyn Baseline> {
        self.ops.baseline(kind)
    }
}

/// No checkpoints: the agent is scripted.
struct Nothing;

impl PolicyProvider for Nothing {
    fn list(&self) -> Vec<CheckpointListed> {
        Vec::new()
    }

    fn load(&self, checkpoint: &CheckpointId) -> Result<LoadedPolicy, String> {
        Err(format!("{checkpoint} is not here"))
    }
}

struct Rig {
    commands: CommandSender,
    events: Subscription,
    engine: Option<JoinHandle<()>>,
}

impl Rig {
    fn start(recorder: Option<Recorder>) -> Self {
        let facts = RunFacts { run: "01LONG".into(), started: "2026-01-01T00:00:00Z".into(), build: "test".into(), profile: "test".into() };
        let settings = EngineSettings {
            facts,
            agent: AgentKind::Baseline(BaselineKind::Heuristic),
            level: Level::L2,
            seed: Seed(7),
            lanes: 1,
            episodes_max: Some(1),
            steps_max: Some(STEPS_MAX),
            pace: Pace::Max,
            streams: false,
            start_paused: true,
            pause_ns_max: None,
            temperature: 0.0,
            top_p: 1.0,
            message_tokens_max: 64,
            window: WindowSettings::default(),
            reward: RewardFormula::default(),
        };
        let clock = MonotonicClock::start();
        let journal = Journal::new(clock.clone(), recorder);
        let events = journal.hub().subscribe();
        let (commands, inbox) = inbox(256);
        let wake = commands.with_origin(Origin::Internal);
        let engine = std::thread::spawn(move || {
            Engine::new(settings, &Endless::new(), journal, inbox, wake, Arc::new(Nothing), clock).run();
        });
        Self { commands, events, engine: Some(engine) }
    }

    fn until(&mut self, fits: impl Fn(&Envelope) -> bool) -> Arc<Envelope> {
        self.until_told(&fits, &|_| false, true).unwrap()
    }

    /// Until an event fits, or a snapshot that stands for those that could not be handed on one by one.
    fn until_told(
        &mut self,
        fits: &dyn Fn(&Envelope) -> bool,
        stands: &dyn Fn(&DashState) -> bool,
        quickly: bool,
    ) -> Option<Arc<Envelope>> {
        let begun = Instant::now();
        let mut out = Vec::new();
        // Who looks too often at a run that is in a hurry slows it: each look that comes late copies the state.
        let pause = Duration::from_micros(if quickly { 50 } else { 20_000 });
        loop {
            self.events.poll(&mut out, 4096);
            for delivery in out.drain(..) {
                match delivery {
                    Delivery::Event(envelope) if fits(&envelope) => return Some(envelope),
                    Delivery::Snapshot(state) if stands(&state) => return None,
                    Delivery::Event(_) | Delivery::Snapshot(_) => {}
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "it never came");
            std::thread::sleep(pause);
        }
    }

    fn until_paused(&mut self) {
        self.until_told(
            &|e| matches!(&e.event, Event::RunStateChanged(c) if c.state == RunState::Paused),
            &|s| s.run_state == RunState::Paused,
            false,
        );
    }

    /// Sends it, and waits for the branch that it begins: how long that took, and the branch.
    fn branch(&mut self, command: Command) -> (Duration, BranchStarted) {
        let begun = Instant::now();
        self.commands.send(command).unwrap();
        let event = self.until(|e| matches!(e.event, Event::BranchStarted(_) | Event::CommandRejected(_)));
        let took = begun.elapsed();
        let Event::BranchStarted(branch) = event.event.clone() else { panic!("{:?}", event.event) };
        (took, branch)
    }

    /// Decides so many steps and stands before the next one.
    fn step(&mut self, count: u32) {
        self.commands.send(Command::Step { lane: LaneId(0), unit: StepUnit::Decision, count }).unwrap();
        self.until_paused();
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Shutdown);
        if let Some(engine) = self.engine.take() {
            let _ = engine.join();
        }
    }
}

fn fork(at: u32, first: Overriding) -> Command {
    Command::Fork { lane: LaneId(0), episode: None, at: StepIndex(at), with: Variation { first, ..Variation::default() } }
}

#[test]
#[ignore = "it takes long, and prints figures"]
fn any_step_of_a_long_episode_can_be_gone_back_to() {
    let mut rig = Rig::start(None);
    rig.until_paused();
    rig.step(STEPS);
    let places: Vec<u32> = (0..16).map(|n| STEPS + 1 - n).chain([1, 16, 2_500, 5_000, 7_777]).collect();
    let mut longest = (Duration::ZERO, 0);
    for at in &places {
        let (took, branch) = rig.branch(fork(*at, Overriding::default()));
        assert_eq!(branch.at_step, StepIndex(*at));
        longest = longest.max((took, *at));
    }
    println!("fork: {} places of {STEPS} decisions, the longest {:.1?} (step {})", places.len(), longest.0, longest.1);
    // Each ends the episode that it goes back in, so that the next one goes back in a branch of a branch.
    let mut longest = (Duration::ZERO, 0);
    for at in [STEPS + 1, STEPS, STEPS - 14, 5_000, 3] {
        let (took, branch) = rig.branch(Command::Rewind { lane: LaneId(0), at: StepIndex(at) });
        assert_eq!((branch.at_step, branch.cause), (StepIndex(at), BranchCause::Rewind));
        longest = longest.max((took, at));
    }
    println!("rewind: the longest {:.1?} (step {})", longest.0, longest.1);
}

#[test]
#[ignore = "it takes long, and prints figures"]
fn a_recording_of_a_long_episode_knows_its_branches() {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PILOTHOUSE_KEEP").map_or_else(|| folder.path().join("long.jsonl"), Into::into);
    let spec = Endless::new().spec;
    let header = Header {
        fmt: FORMAT.into(),
        v: VERSION,
        id: "01LONG".into(),
        started: "2026-01-01T00:00:00Z".into(),
        build: "test".into(),
        env: HeaderEnv { name: spec.name, version: spec.version, params_sha256: spec.params_sha256 },
        level: Level::L2,
        seed: Seed(7),
        config_sha256: String::new(),
        checkpoint: None,
        lanes: 1,
        redaction: "v1".into(),
        cpu: Vec::new(),
    };
    let mut rig = Rig::start(Some(Recorder::create(&path, &header, Duration::from_millis(100)).unwrap()));
    rig.until_paused();
    rig.step(STEPS);
    let waits = Overriding { action: Some(ToolCall::new("wait")), result: None };
    let answered = Overriding { action: Some(ToolCall::new("wait")), result: Some("the quota is used up".into()) };
    for (at, first) in [(9_000, waits), (9_500, answered), (9_990, Overriding::default())] {
        rig.branch(fork(at, first));
    }
    rig.commands.send(Command::Resume).unwrap();
    rig.until_told(
        &|e| matches!(&e.event, Event::RunStateChanged(c) if c.state == RunState::Ended),
        &|s| s.run_state == RunState::Ended,
        false,
    );
    drop(rig);
    let mut source = RecordingSource::new(Recording::open(&path).unwrap(), MonotonicClock::start()).unwrap();
    let begun = Instant::now();
    while source.read_on(usize::MAX).unwrap() {}
    let book = source.book();
    println!("book: {} events in {:.1?}", book.end, begun.elapsed());
    assert_eq!((book.episodes.len(), book.branches.len()), (4, 3));
    for at in &book.branches {
        let branch = book.episodes[*at].branch.as_ref().unwrap();
        assert_eq!((branch.parent_lane, branch.parent), (LaneId(0), EpisodeId(1)));
        assert_eq!(book.episodes[*at].length(), STEPS_MAX);
    }
}
