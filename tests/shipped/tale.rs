//! What happened in a run: its events, with their times.

use pilothouse::event::*;
use pilothouse::journal::Recording;
use std::path::Path;

const SECOND_NS: u64 = 1_000_000_000;

pub struct Tale {
    pub events: Vec<Envelope>,
    /// Of the run; what rules are asked up to.
    pub end_ns: u64,
}

impl Tale {
    /// A run of one lane that has begun.
    pub fn begin() -> Self {
        let mut tale = Self { events: Vec::new(), end_ns: 0 };
        tale.say(started());
        tale.say(RunStateChanged { state: RunState::Running, reason: "".into() });
        tale
    }

    /// What an engine said up to a time.
    pub fn of(mut events: Vec<Envelope>, end_s: u64) -> Self {
        let end_ns = end_s * SECOND_NS;
        events.retain(|envelope| envelope.t_ns <= end_ns);
        Self { events, end_ns }
    }

    pub fn say(&mut self, event: impl Into<Event>) {
        let seq = Seq(self.events.len() as u64 + 1);
        let (lane, episode, step) = (LaneId(0), Some(EpisodeId(1)), Some(StepIndex(1)));
        self.events.push(Envelope { seq, t_ns: self.end_ns, lane, episode, step, event: event.into() });
    }

    pub fn quiet_s(mut self, seconds: u64) -> Self {
        self.end_ns += seconds * SECOND_NS;
        self
    }

    /// So many events, each after so many seconds; `event` is told the number, from 0.
    pub fn each_s<E: Into<Event>>(mut self, seconds: u64, count: u64, mut event: impl FnMut(u64) -> E) -> Self {
        for number in 0..count {
            self.end_ns += seconds * SECOND_NS;
            self.say(event(number));
        }
        self
    }

    /// The episodes of recordings that ship, one recording after the other and then again, slowed down, for so long.
    pub fn repeated(names: &[&str], slower: u64, seconds: u64) -> Self {
        let recordings: Vec<Vec<Envelope>> = names.iter().map(|name| recorded(name)).collect();
        let mut tale = Self { events: Vec::new(), end_ns: 0 };
        // How the first of them began.
        recordings[0].iter().take_while(|e| !matches!(e.event, Event::EpisodeStarted(_))).for_each(|e| tale.copy(e, e.t_ns));
        for episodes in recordings.iter().cycle() {
            let from = episodes.iter().position(|e| matches!(e.event, Event::EpisodeStarted(_))).unwrap();
            let upto = episodes.iter().rposition(|e| matches!(e.event, Event::EpisodeEnded(_))).unwrap();
            let (begins_ns, began_ns) = (tale.end_ns, episodes[from].t_ns);
            for envelope in &episodes[from..=upto] {
                tale.copy(envelope, begins_ns + (envelope.t_ns - began_ns) * slower);
            }
            if tale.end_ns > seconds * SECOND_NS {
                break;
            }
        }
        tale
    }

    fn copy(&mut self, envelope: &Envelope, t_ns: u64) {
        self.end_ns = t_ns;
        self.events.push(Envelope { seq: Seq(self.events.len() as u64 + 1), t_ns, ..envelope.clone() });
    }
}

fn recorded(name: &str) -> Vec<Envelope> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("recordings/{name}.jsonl"));
    let mut recording = Recording::open(&path).unwrap();
    recording.events_from(Seq(1)).unwrap().map(|event| Envelope::clone(&event.unwrap())).collect()
}

fn started() -> RunStarted {
    RunStarted {
        run: RunId::from("01J00000000000000000000000"),
        started: "2026-01-01T00:00:00Z".into(),
        build: "pilothouse 0.1.0".into(),
        agent: "heuristic".into(),
        env: "ops".into(),
        env_version: "1".into(),
        level: Level::L0,
        seed: Seed(1),
        lanes: 1,
        max_steps: 20,
        tools: Vec::new(),
        reward: RewardFormula::default(),
        profile: "test".into(),
        decoding: None,
    }
}
