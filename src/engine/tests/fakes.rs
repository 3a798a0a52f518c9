//! A simulator and a policy that are small enough to be foreseen, and a provider that hands the policy out.

use crate::agent::{Caps, DecodeSpec, Opened, Policy, PolicyError, Progress, Prompt, Segment};
use crate::engine::{LoadedPolicy, PolicyProvider};
use crate::env::*;
use crate::event::*;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

/// FNV-1a, for numbers that look arbitrary and are always the same.
pub fn hash(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|p| p.iter().chain(&[0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// Adds up what it is told; an episode takes 3 to 6 decisions.
pub struct Adder {
    spec: EnvSpec,
    seed: u64,
    tick: u32,
    sum: i64,
    /// What it claims of the task at the end; out of [0, 1] is a fault that the engine must survive.
    final_reward: f64,
}

impl Adder {
    pub fn new() -> Self {
        let wait = json!({"type":"object","properties":{},"additionalProperties":false});
        let add = json!({"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":9}},"required":["n"],"additionalProperties":false});
        let tool = |name: &str, parameters| ToolSpec { name: name.into(), description: name.into(), parameters, mutates: name == "add" };
        let spec = EnvSpec {
            name: "adder".into(),
            version: "1".into(),
            params_sha256: "00".repeat(32),
            max_steps: 6,
            tools: vec![tool("wait", wait), tool("add", add)],
        };
        Self { spec, seed: 0, tick: 0, sum: 0, final_reward: 0.5 }
    }

    pub fn with_version(mut self, version: &str) -> Self {
        self.spec.version = version.into();
        self
    }

    pub fn with_final_reward(mut self, claimed: f64) -> Self {
        self.final_reward = claimed;
        self
    }

    fn length(&self) -> u32 {
        3 + (hash(&[&self.seed.to_le_bytes()]) % 4) as u32
    }

    fn observation(&self) -> Observation {
        let compact = format!("t{:02};sum {}", self.tick, self.sum);
        Observation {
            values: vec![Some(self.sum as f64), None],
            text: SafeText::from(format!("the sum is {}", self.sum)),
            compact: compact.into(),
        }
    }
}

impl Environment for Adder {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Seed, _: Level) -> Reset {
        (self.seed, self.tick, self.sum) = (seed.0, 0, (seed.0 % 10) as i64);
        let field = |name: &str| ObservationField { name: name.into(), unit: Unit::Count };
        Reset {
            observation: self.observation(),
            goal: SafeText::new("add it up"),
            briefing: SafeText::from(format!("from {}", self.sum)),
            fields: vec![field("sum"), field("unread")],
            tools: self.spec.tools.clone(),
        }
    }

    fn step(&mut self, action: &Action) -> StepResult {
        self.tick += 1;
        let result = match action {
            Action::Tool(call) if call.name == "add" => {
                let n = call.arguments.get("n").and_then(serde_json::Value::as_i64).unwrap_or_default();
                self.sum += n;
                if n == 9 { ToolResult::error(ErrorType::Refused, "nine is too much") } else { ToolResult::ok(format!("added {n}")) }
            }
            Action::Tool(_) | Action::Text(_) | Action::Outside { .. } => ToolResult::ok("time passed"),
        };
        let terminated = self.tick >= self.length();
        let info = if terminated {
            Info {
                final_reward: Some(self.final_reward),
                success: Some(self.sum % 2 == 0),
                truth: Some(SafeText::from(format!("seed {}", self.seed))),
            }
        } else {
            Info::default()
        };
        StepResult { observation: self.observation(), result, reward: (self.sum % 7) as f64 / 7.0, terminated, truncated: false, info }
    }

    fn snapshot(&self) -> EnvSnapshot {
        let bytes = serde_json::to_vec(&(self.seed, self.tick, self.sum)).unwrap();
        EnvSnapshot { name: self.spec.name.clone(), version: self.spec.version.clone(), bytes }
    }

    fn restore(&mut self, snapshot: &EnvSnapshot) -> Result<(), EnvError> {
        let state = serde_json::from_slice(&snapshot.bytes).map_err(|e| EnvError::SnapshotDamaged(e.to_string()))?;
        (self.seed, self.tick, self.sum) = state;
        Ok(())
    }

    fn state_hash(&self) -> u64 {
        hash(&[&self.seed.to_le_bytes(), &self.tick.to_le_bytes(), &self.sum.to_le_bytes()])
    }

    fn conclude(&self) -> Info {
        Info { final_reward: Some(0.25), success: Some(false), truth: Some("cut short".into()) }
    }

    fn oracle(&self) -> Decision {
        Decision { thought: SafeText::from(format!("sum {}, wait", self.sum)), call: ToolCall::new("wait") }
    }

    fn fresh(&self) -> Box<dyn Environment> {
        Box::new(Self { final_reward: self.final_reward, ..Self::new().with_version(&self.spec.version) })
    }

    fn baseline(&self, _: BaselineKind) -> Box<dyn Baseline> {
        Box::new(AddsThree)
    }
}

struct AddsThree;

impl Baseline for AddsThree {
    fn begin(&mut self, _: &Reset, _: Seed) {}
    fn decide(&mut self, observation: &Observation) -> Decision {
        let seen = observation.compact.split(';').nth(1).unwrap_or_default();
        Decision { thought: SafeText::from(format!("{seen}, add")), call: ToolCall::new("add").with("n", 3) }
    }
    fn took(&mut self, _: &ToolCall) {}

    fn duplicate(&self) -> Box<dyn Baseline> {
        Box::new(AddsThree)
    }
}

/// What tests learn of a policy, and what they make it do.
#[derive(Default)]
pub struct Notes {
    pub opened: u32,
    /// The call of `open`, counted over the policy's life, that fails.
    pub open_fails_at: Option<u32>,
    pub advance_fails: bool,
    /// A use that no engine should make.
    pub misuse: Option<String>,
    /// Checkpoints whose load fails, with the reason.
    pub broken: BTreeMap<String, String>,
}

pub type Shared = Arc<Mutex<Notes>>;

/// Says a few words and makes a call, all hanging on the prompt, the message's seed and its own name.
pub struct Talker {
    name: String,
    open: BTreeMap<LaneId, VecDeque<Progress>>,
    notes: Shared,
}

impl Talker {
    pub fn new(name: &str, notes: Shared) -> Self {
        Self { name: name.into(), open: BTreeMap::new(), notes }
    }

    /// One message in eight each: no call, a sum for the calculator, an unknown tool, wrong arguments; else a call that fits.
    fn message(&self, prompt: &Prompt, seed: u64) -> Vec<String> {
        let text: String = prompt.segments.iter().map(|s| format!("{:?}{}", s.role, s.text)).collect();
        let h = hash(&[text.as_bytes(), &seed.to_le_bytes(), self.name.as_bytes()]);
        let mut pieces: Vec<String> = (0..1 + h / 8 % 11).map(|n| format!("{}{n} ", self.name)).collect();
        let call = match h % 8 {
            0 => return pieces,
            1 => r#"{"tool":"calculator","expression":"2+3"}"#.to_owned(),
            2 => r#"{"tool":"teleport"}"#.to_owned(),
            3 => r#"{"tool":"add","n":"many"}"#.to_owned(),
            4 => r#"{"tool":"wait"}"#.to_owned(),
            _ => format!(r#"{{"tool":"add","n":{}}}"#, h / 128 % 10),
        };
        pieces.extend(["<act>".to_owned(), call, "<end>".to_owned()]);
        pieces
    }
}

impl Policy for Talker {
    fn open(&mut self, lane: LaneId, prompt: &Prompt, spec: &DecodeSpec) -> Result<Opened, PolicyError> {
        let mut notes = self.notes.lock().unwrap();
        notes.opened += 1;
        if notes.open_fails_at == Some(notes.opened) {
            return Err(PolicyError::PromptTooLong { tokens: 2000, limit: 1024 });
        }
        if self.open.contains_key(&lane) {
            notes.misuse = Some(format!("lane {lane} opened a message while one was open"));
        }
        drop(notes);
        let said = self.message(prompt, spec.seed);
        let mut queue = VecDeque::from([Progress::Pending]);
        queue.extend(said.into_iter().enumerate().map(|(at, text)| Progress::Piece {
            token: Some(TokenId(hash(&[text.as_bytes()]) as u32 % 997)),
            logprob: Some(-0.125 * (at + 1) as f32),
            entropy: Some(0.5),
            text,
        }));
        queue.push_back(Progress::Done(FinishReason::Stop));
        self.open.insert(lane, queue);
        Ok(Opened { prompt_tokens: prompt.segments.iter().map(|s| self.count_tokens(s)).sum(), cached_tokens: 0 })
    }

    fn advance(&mut self, lanes: &[LaneId], out: &mut Vec<(LaneId, Progress)>) -> Result<(), PolicyError> {
        if self.notes.lock().unwrap().advance_fails {
            return Err(PolicyError::Backend("out of memory".into()));
        }
        for lane in lanes {
            let next = self.open.get_mut(lane).and_then(VecDeque::pop_front).ok_or(PolicyError::NotOpen(*lane))?;
            if matches!(next, Progress::Done(_)) {
                self.open.remove(lane);
            }
            out.push((*lane, next));
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
        Caps { logprobs: true, value: false, context_tokens_max: 1024, parameters: 7, device: SafeText::new("paper") }
    }
}

/// Lists `a`, `b` and `c`.
pub struct Shelf(pub Shared);

impl PolicyProvider for Shelf {
    fn list(&self) -> Vec<CheckpointListed> {
        let listed =
            |name: &str| CheckpointListed { checkpoint: name.into(), sha256: name.repeat(64), training_step: 1, note: SafeText::default() };
        ["a", "b", "c"].map(listed).into()
    }

    fn load(&self, checkpoint: &CheckpointId) -> Result<LoadedPolicy, String> {
        match self.0.lock().unwrap().broken.get(&checkpoint.0) {
            Some(reason) => Err(reason.clone()),
            None => {
                let policy = Box::new(Talker::new(&checkpoint.0, self.0.clone()));
                Ok(LoadedPolicy { policy, checkpoint: checkpoint.clone(), sha256: checkpoint.0.repeat(64) })
            }
        }
    }
}
