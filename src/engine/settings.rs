//! What a run is started with.

use crate::agent::prompt::WindowSettings;
use crate::env::BaselineKind;
use crate::event::{CheckpointId, Decoding, Level, Pace, RewardFormula, RunId, Seed};

/// Who decides.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentKind {
    /// A language model; the checkpoint to begin with.
    Model(CheckpointId),
    Baseline(BaselineKind),
    /// Sees everything.
    Oracle,
}

impl AgentKind {
    pub fn name(&self) -> &str {
        match self {
            AgentKind::Model(id) => &id.0,
            AgentKind::Baseline(BaselineKind::Random) => "random",
            AgentKind::Baseline(BaselineKind::Heuristic) => "heuristic",
            AgentKind::Oracle => "oracle",
        }
    }
}

/// Facts that the run's first event tells.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    pub run: RunId,
    /// RFC 3339, UTC.
    pub started: String,
    pub build: String,
    pub profile: String,
}

/// Plain settings; nothing in here is read from outside later.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    pub facts: RunFacts,
    pub agent: AgentKind,
    pub level: Level,
    pub seed: Seed,
    pub lanes: u32,
    /// Episodes of all lanes together, after which the run ends.
    pub episodes_max: Option<u32>,
    /// Decisions after which an episode is truncated, when below the environment's own limit.
    pub steps_max: Option<u32>,
    pub pace: Pace,
    /// Whether pieces of messages are events: for people who watch.
    pub streams: bool,
    pub start_paused: bool,
    /// A pause ends by itself after this long; unset lets it last.
    pub pause_ns_max: Option<u64>,
    pub temperature: f32,
    pub top_p: f32,
    pub message_tokens_max: u32,
    pub window: WindowSettings,
    pub reward: RewardFormula,
}

impl EngineSettings {
    /// Unset for scripted agents.
    pub fn decoding(&self) -> Option<Decoding> {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        matches!(self.agent, AgentKind::Model(_)).then(|| Decoding {
            temperature: self.temperature,
            top_p: self.top_p,
            tokens_max: self.message_tokens_max,
            window_steps: number(self.window.window_steps),
            keep_steps: number(self.window.keep_steps),
            prompt_tokens_max: self.window.prompt_tokens_max,
        })
    }
}

/// The prompt's window of a recorded run.
pub fn window_of(decoding: &Decoding) -> WindowSettings {
    WindowSettings {
        window_steps: decoding.window_steps as usize,
        keep_steps: decoding.keep_steps as usize,
        prompt_tokens_max: decoding.prompt_tokens_max,
    }
}

/// Episode seeds of live runs: 2^52 and up, disjoint from held-out and training seeds, exact as doubles.
const LIVE_SEEDS_FROM: u64 = 1 << 52;

/// The seed of the `index`-th episode of a run, counted over all lanes: the same episodes whatever the number of lanes.
pub fn episode_seed(run: Seed, index: u64) -> Seed {
    Seed(LIVE_SEEDS_FROM | mix(run.0, index) >> 12)
}

/// The seed of the samples of one message.
pub fn message_seed(episode: Seed, step: u32) -> u64 {
    mix(episode.0, u64::from(step))
}

/// Two rounds of SplitMix64 (Steele, Lea & Flood 2014).
fn mix(a: u64, b: u64) -> u64 {
    let round = |x: u64| {
        let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    round(round(a) ^ b)
}
