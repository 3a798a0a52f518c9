//! Whole episodes played by a policy, a scripted agent or the oracle, for learning and for evaluation.

use super::LearnError;
use crate::agent::format::{is_faithful, parse_message, render_call, thought_of};
use crate::agent::prompt::{Conversation, WindowSettings};
use crate::agent::{DecodeSpec, Policy, Progress};
use crate::env::{Action, Baseline, Environment, Reset, StepResult};
use crate::event::{FinishReason, LaneId, Level, SafeText, Seed, ToolCall};
use std::sync::Arc;

/// One decision as it was seen and made.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// The compact observation before the decision.
    pub observation: SafeText,
    pub thought: SafeText,
    /// Unset where the message held no valid call.
    pub call: Option<ToolCall>,
    pub reward: f64,
    pub is_error: bool,
}

/// A played episode.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeTrace {
    pub seed: Seed,
    pub level: Level,
    pub briefing: SafeText,
    pub steps: Vec<TraceStep>,
    pub success: bool,
    pub final_reward: f64,
    pub tokens: u64,
}

impl EpisodeTrace {
    fn new(seed: Seed, level: Level, start: &Reset) -> Self {
        let briefing = start.briefing.clone();
        Self { seed, level, briefing, steps: Vec::new(), success: false, final_reward: 0.0, tokens: 0 }
    }

    /// Undiscounted sum of step rewards.
    pub fn episode_return(&self) -> f64 {
        self.steps.iter().map(|s| s.reward).sum()
    }

    pub fn tool_errors(&self) -> usize {
        self.steps.iter().filter(|s| s.is_error).count()
    }

    /// Share of decisions whose thought begins with a span of its observation.
    pub fn thought_fidelity(&self) -> f64 {
        let faithful = self.steps.iter().filter(|s| is_faithful(&s.thought, &s.observation)).count();
        faithful as f64 / self.steps.len().max(1) as f64
    }

    fn push(&mut self, observation: &SafeText, thought: SafeText, call: Option<ToolCall>, result: &StepResult) {
        let is_error = result.result.error_type.is_some();
        self.steps.push(TraceStep { observation: observation.clone(), thought, call, reward: result.reward, is_error });
        self.success = result.info.success.unwrap_or(false);
        self.final_reward = result.info.final_reward.unwrap_or(0.0);
    }
}

/// Plays an episode with a scripted agent.
pub fn play_baseline(env: &mut dyn Environment, agent: &mut dyn Baseline, seed: Seed, level: Level) -> EpisodeTrace {
    let start = env.reset(seed, level);
    agent.begin(&start, seed);
    let mut trace = EpisodeTrace::new(seed, level, &start);
    let mut observation = start.observation;
    loop {
        let decision = agent.decide(&observation);
        agent.took(&decision.call);
        let result = env.step(&Action::Tool(decision.call.clone()));
        trace.push(&observation.compact, decision.thought, Some(decision.call), &result);
        if result.terminated || result.truncated {
            return trace;
        }
        observation = result.observation;
    }
}

/// Plays an episode as an agent that sees everything would.
pub fn play_oracle(env: &mut dyn Environment, seed: Seed, level: Level) -> EpisodeTrace {
    let start = env.reset(seed, level);
    let mut trace = EpisodeTrace::new(seed, level, &start);
    let mut observation = start.observation;
    loop {
        let decision = env.oracle();
        let result = env.step(&Action::Tool(decision.call.clone()));
        trace.push(&observation.compact, decision.thought, Some(decision.call), &result);
        if result.terminated || result.truncated {
            return trace;
        }
        observation = result.observation;
    }
}

/// How a policy plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicySettings {
    pub window: WindowSettings,
    /// 0 is greedy.
    pub temperature: f32,
    pub top_p: f32,
    /// Tokens of one message at most.
    pub tokens_max: u32,
    pub lanes: usize,
    /// Decisions after which an episode is given up, below the environment's own limit.
    pub steps_max: usize,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { window: WindowSettings::default(), temperature: 0.0, top_p: 1.0, tokens_max: 96, lanes: 16, steps_max: usize::MAX }
    }
}

/// A lane of a batched rollout.
struct Player {
    env: Box<dyn Environment>,
    index: usize,
    trace: EpisodeTrace,
    conversation: Conversation,
    tools: Arc<Vec<crate::event::ToolSpec>>,
    observation: SafeText,
    message: String,
}

/// Plays an episode a seed, `settings.lanes` at a time, decoded as one batch. Traces come in the order of `seeds`.
pub fn play_policy(
    policy: &mut dyn Policy,
    env: &dyn Environment,
    seeds: &[(Seed, Level)],
    settings: &PolicySettings,
) -> Result<Vec<EpisodeTrace>, LearnError> {
    let mut traces: Vec<Option<EpisodeTrace>> = vec![None; seeds.len()];
    let mut next = 0;
    let mut players: Vec<Option<Player>> = (0..settings.lanes.min(seeds.len())).map(|_| None).collect();
    let mut progress = Vec::new();
    loop {
        for (lane, slot) in players.iter_mut().enumerate().filter(|(_, p)| p.is_none()) {
            if let Some((seed, level)) = seeds.get(next) {
                let lane = LaneId(lane as u32);
                policy.truncate(lane, 0);
                *slot = Some(Player::begin(env.fresh(), next, *seed, *level, settings));
                next += 1;
                if let Some(player) = slot {
                    player.open(policy, lane, settings)?;
                }
            }
        }
        let lanes: Vec<LaneId> = (0..players.len()).filter(|l| players[*l].is_some()).map(|l| LaneId(l as u32)).collect();
        if lanes.is_empty() {
            return Ok(traces.into_iter().flatten().collect());
        }
        progress.clear();
        policy.advance(&lanes, &mut progress)?;
        for (lane, what) in progress.drain(..) {
            let slot = &mut players[lane.0 as usize];
            let Some(player) = slot else { continue };
            match what {
                Progress::Pending => {}
                Progress::Piece { text, token, .. } => {
                    player.message.push_str(&text);
                    player.trace.tokens += u64::from(token.is_some());
                }
                Progress::Done(FinishReason::Stop | FinishReason::Length | FinishReason::Cancelled | FinishReason::Scripted) => {
                    if !player.settle(settings) {
                        player.open(policy, lane, settings)?;
                    } else if let Some(done) = slot.take() {
                        traces[done.index] = Some(done.trace);
                    }
                }
            }
        }
    }
}

impl Player {
    fn begin(mut env: Box<dyn Environment>, index: usize, seed: Seed, level: Level, settings: &PolicySettings) -> Self {
        let start = env.reset(seed, level);
        Self {
            trace: EpisodeTrace::new(seed, level, &start),
            conversation: Conversation::new(start.briefing, settings.window),
            tools: Arc::new(start.tools),
            observation: start.observation.compact,
            message: String::new(),
            env,
            index,
        }
    }

    fn open(&mut self, policy: &mut dyn Policy, lane: LaneId, settings: &PolicySettings) -> Result<(), LearnError> {
        self.conversation.observe(self.observation.clone(), &mut |s| policy.count_tokens(s));
        let spec = DecodeSpec {
            tools: self.tools.clone(),
            temperature: settings.temperature,
            top_p: settings.top_p,
            seed: self.trace.seed.0 ^ (self.trace.steps.len() as u64) << 32,
            tokens_max: settings.tokens_max,
        };
        self.message.clear();
        policy.open(lane, &self.conversation.prompt(), &spec)?;
        Ok(())
    }

    /// Takes the whole message to the environment; true when the episode is over.
    fn settle(&mut self, settings: &PolicySettings) -> bool {
        let (thought, call) = match parse_message(&self.message) {
            Ok(parsed) => (parsed.thought, Some(parsed.call)),
            Err(_) => (thought_of(&self.message), None),
        };
        let action = call.clone().map_or_else(|| Action::Text(self.message.clone()), Action::Tool);
        let result = self.env.step(&action);
        let written = call.as_ref().map(render_call).unwrap_or_default();
        let memorable = call.as_ref().is_some_and(|c| !c.arguments.is_empty());
        self.conversation.decide(thought.clone(), SafeText::from(written), memorable);
        self.trace.push(&self.observation, thought, call, &result);
        self.observation = result.observation.compact;
        result.terminated || result.truncated || self.trace.steps.len() >= settings.steps_max
    }
}
