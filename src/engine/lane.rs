//! One lane: an episode after the other, a phase after the other.

use super::past::{Moment, Past, Point, Taken};
use super::recital::Recited;
use super::settings::{AgentKind, EngineSettings, message_seed};
use crate::agent::format::{is_faithful, render_call, render_message};
use crate::agent::prompt::Conversation;
use crate::agent::react::{Effect, Input, Intention, React};
use crate::agent::{DecodeSpec, Opened, Policy, Segment};
use crate::env::{Action, Baseline, Environment, StepResult};
use crate::event::*;
use crate::journal::{Journal, Place};
use crate::reward::EpisodeReward;
use crate::tool::{Routed, Router};
use std::collections::VecDeque;
use std::sync::Arc;

/// Where a lane stands between two turns of the crank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// No episode runs; the next one begins.
    Between,
    Observe,
    /// The message is to be opened.
    Think,
    /// The message is being decoded.
    Decoding,
    Act,
    Settle,
    /// No more episodes are asked for.
    Done,
}

/// What became of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    None,
    Token,
    Phase,
    Decision,
    Episode,
}

/// Tokens of one `ThoughtDelta` when nobody could read single ones.
pub const DELTA_TOKENS_AT_MAX: u32 = 8;

/// The message that is being said.
#[derive(Default)]
struct Message {
    token_ids: Vec<TokenId>,
    logprobs: Vec<f32>,
    entropy: Vec<f32>,
    /// Bytes of the message up to and with each token.
    token_ends: Vec<u32>,
    opened: Opened,
    began_ns: u64,
    /// From the beginning to the first token.
    prefill_ns: Option<u64>,
    finish: Option<FinishReason>,
    /// Text and tokens that were not yet told in a delta.
    untold: (String, u32),
}

pub struct Lane {
    pub id: LaneId,
    pub stand: Stand,
    /// Not before this time on the journal's clock.
    pub due_ns: u64,
    /// The policy slot that opened the current message.
    pub slot: Option<u64>,
    /// Episodes that this lane began since the run's seed was set.
    pub episodes_begun: u64,
    /// Whose weights decide in it, where that are not the ones that serve.
    pub pinned: Option<CheckpointId>,
    /// Its only episode is a branch of another one.
    pub is_branch: bool,
    pub(super) env: Box<dyn Environment>,
    pub(super) baseline: Option<Box<dyn Baseline>>,
    pub(super) mind: Mind,
    /// Episodes that it can go back in, newest last.
    pub(super) past: Past,
    router: Option<Router>,
    /// The number of the newest episode.
    episode_newest: EpisodeId,
    /// Whose weights decide: those of the current message, or of the last one.
    pub checkpoint: Option<CheckpointId>,
    message: Message,
    intention: Option<Intention>,
    /// The number of the newest call, over all episodes.
    call_id: u64,
    /// What the pending decision does in place of what was said.
    overriding: Overriding,
    /// Decisions that are to be made as they were recorded, next first.
    pub(super) script: VecDeque<Recited>,
    /// What the environment's state must be behind the decision under way, for one of these.
    pub(super) recited_hash: Option<u64>,
    acted: Option<(RecordedAction, StepResult)>,
    /// Whether the last call failed.
    was_error: bool,
    decision_began_ns: u64,
    /// Since when it may not move.
    still_since_ns: Option<u64>,
}

/// All of an episode that a decision hangs on, beside the environment.
#[derive(Clone)]
pub(super) struct Mind {
    pub episode: EpisodeId,
    /// The decision under way, or the last one.
    pub step: StepIndex,
    pub seed: Seed,
    /// What messages are sampled by.
    pub sampling_seed: Seed,
    pub tools: Arc<Vec<ToolSpec>>,
    pub conversation: Conversation,
    pub observation: Observation,
    pub react: React,
    /// Unset between episodes.
    pub reward: Option<EpisodeReward>,
    pub tool_errors: u32,
    pub faithful: u32,
    /// Decisions with a thought.
    pub thoughts: u32,
}

impl Lane {
    pub fn new(id: LaneId, env: Box<dyn Environment>, settings: &EngineSettings) -> Self {
        let baseline = match &settings.agent {
            AgentKind::Baseline(kind) => Some(env.baseline(*kind)),
            AgentKind::Model(_) | AgentKind::Oracle => None,
        };
        let mind = Mind {
            episode: EpisodeId(0),
            step: StepIndex(0),
            seed: Seed(0),
            sampling_seed: Seed(0),
            tools: Arc::default(),
            conversation: Conversation::new(SafeText::default(), settings.window),
            observation: Observation::default(),
            react: React::default(),
            reward: None,
            tool_errors: 0,
            faithful: 0,
            thoughts: 0,
        };
        Self {
            id,
            stand: Stand::Between,
            due_ns: 0,
            slot: None,
            episodes_begun: 0,
            pinned: None,
            is_branch: false,
            env,
            baseline,
            mind,
            past: Past::default(),
            router: None,
            episode_newest: EpisodeId(0),
            checkpoint: None,
            message: Message::default(),
            intention: None,
            call_id: 0,
            overriding: Overriding::default(),
            script: VecDeque::new(),
            recited_hash: None,
            acted: None,
            was_error: false,
            decision_began_ns: 0,
            still_since_ns: None,
        }
    }

    /// It may not move from now on, or may again. How long it stood still is no part of how long it thought.
    pub fn stand_still(&mut self, still: bool, now_ns: u64) {
        if still {
            self.still_since_ns.get_or_insert(now_ns);
        } else if let Some(since_ns) = self.still_since_ns.take() {
            self.message.began_ns += now_ns.saturating_sub(since_ns);
        }
    }

    fn place(&self) -> Place {
        Place { lane: self.id, episode: Some(self.mind.episode), step: Some(self.mind.step) }
    }

    fn episode_place(&self) -> Place {
        Place { step: None, ..self.place() }
    }

    /// Begins the next episode.
    pub fn begin(
        &mut self,
        seed: Seed,
        checkpoint: Option<CheckpointId>,
        settings: &EngineSettings,
        journal: &mut Journal,
    ) -> Result<(), String> {
        let start = self.env.reset(seed, settings.level);
        if let Some(baseline) = &mut self.baseline {
            baseline.begin(&start, seed);
        }
        self.episode_newest = self.episode_newest.next();
        (self.mind.episode, self.mind.step, self.checkpoint) = (self.episode_newest, StepIndex(0), checkpoint);
        (self.mind.seed, self.mind.sampling_seed) = (seed, seed);
        self.mind.conversation = Conversation::new(start.briefing.clone(), settings.window);
        self.mind.react = React::default();
        self.router = Some(Router::new(&start.tools).map_err(|e| e.to_string())?);
        self.mind.reward = Some(EpisodeReward::new(settings.reward).map_err(|e| e.to_string())?);
        (self.mind.tool_errors, self.mind.faithful, self.mind.thoughts) = (0, 0, 0);
        self.mind.tools = Arc::new(start.tools);
        self.mind.observation = start.observation;
        let event = EpisodeStarted {
            seed,
            level: settings.level,
            goal: start.goal,
            briefing: start.briefing,
            fields: start.fields,
            checkpoint: self.checkpoint.clone(),
            state_hash: self.env.state_hash(),
        };
        self.past.begin(self.mind.episode, event.clone(), Moment::new(self.env.as_ref(), self.baseline.as_deref(), &self.mind));
        self.overriding = Overriding::default();
        journal.append(self.episode_place(), event);
        self.stand = Stand::Observe;
        Ok(())
    }

    /// Begins an episode that goes on from a point of another one. `count` is the policy's tokenizer, where there is one. An episode that
    /// can't be played again to that point is an error, and then nothing has begun.
    pub fn branch(
        &mut self,
        point: Point,
        (parent_lane, cause, with): (LaneId, BranchCause, Variation),
        count: Option<&dyn Policy>,
        journal: &mut Journal,
    ) -> Result<(), String> {
        let gone = self.go_to(&point, count);
        if gone.is_err() {
            self.mind.reward = None;
            self.stand = Stand::Between;
            return gone;
        }
        self.episode_newest = self.episode_newest.next();
        self.mind.episode = self.episode_newest;
        // Copies of before the parent's own branch know nothing of its seed.
        self.mind.sampling_seed = with.seed.unwrap_or(point.sampling_seed);
        let start = EpisodeStarted { checkpoint: self.checkpoint.clone(), ..point.start.clone() };
        let reward = self.mind.reward.as_ref();
        let event = BranchStarted {
            parent_lane,
            parent: point.parent,
            at_step: point.at,
            cause,
            state_hash: self.env.state_hash(),
            reward_sum: reward.map_or(0.0, EpisodeReward::episode_return),
            discounted_sum: reward.map_or(0.0, EpisodeReward::discounted_sum),
            with: with.clone(),
        };
        self.past.branch(self.mind.episode, point);
        self.past.sampled_by(self.mind.sampling_seed);
        (self.overriding, self.pinned) = (with.first, with.checkpoint.or(self.pinned.take()));
        journal.append(self.episode_place(), start);
        journal.append(self.episode_place(), event);
        (self.message, self.intention, self.acted, self.slot) = (Message::default(), None, None, None);
        (self.script, self.recited_hash) = (VecDeque::new(), None);
        self.stand = Stand::Observe;
        Ok(())
    }

    /// Makes environment and mind what they were before the point's decision.
    fn go_to(&mut self, point: &Point, count: Option<&dyn Policy>) -> Result<(), String> {
        let (moment, taken) = point.way().ok_or("the parent's beginning is not kept")?;
        self.baseline = moment.restore(self.env.as_mut())?;
        self.mind = moment.mind.clone();
        for taken in taken {
            self.again(taken, count)?;
        }
        self.router = Some(Router::new(&self.mind.tools).map_err(|e| e.to_string())?);
        Ok(())
    }

    /// Makes a decision that was made before, and nothing is told of it.
    fn again(&mut self, taken: &Taken, count: Option<&dyn Policy>) -> Result<(), String> {
        self.mind.step = self.mind.step.next();
        if let Some(policy) = count {
            self.mind.conversation.observe(self.mind.observation.compact.clone(), &mut |s: &Segment| policy.count_tokens(s));
        }
        if let Some(baseline) = &mut self.baseline {
            baseline.decide(&self.mind.observation);
        }
        let result = self.env.step(&to_action(&taken.action));
        if self.env.state_hash() != taken.state_hash {
            return Err(format!("step {} came out otherwise when it was played again: this is a fault of the environment", self.mind.step));
        }
        let reward = self.mind.reward.as_mut().ok_or("no episode runs")?;
        reward.push(result.reward).map_err(|e| e.to_string())?;
        self.settled(&taken.action, taken.thought.clone());
        self.mind.tool_errors += u32::from(taken.is_error);
        self.mind.faithful += u32::from(taken.is_faithful);
        self.mind.thoughts += u32::from(!taken.thought.is_empty());
        self.mind.observation = result.observation;
        Ok(())
    }

    /// What agent and memory take up of a decision that was made.
    fn settled(&mut self, action: &RecordedAction, thought: SafeText) {
        if let (Some(baseline), RecordedAction::Tool(call)) = (&mut self.baseline, action) {
            baseline.took(call);
        }
        let (written, memorable) = written(action);
        self.mind.conversation.decide(thought, written, memorable);
    }

    /// What the pending decision is to do in place of what was said, or why there is none.
    pub fn override_with(&mut self, with: Overriding) -> Result<(), String> {
        match self.stand {
            Stand::Think | Stand::Decoding | Stand::Act | Stand::Observe => {
                self.overriding = with;
                Ok(())
            }
            Stand::Settle => Err("the decision was carried out already; rewind to its step to make it otherwise".into()),
            Stand::Between | Stand::Done => Err("no episode runs in this lane".into()),
        }
    }

    /// The tools that a call of this lane must fit.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.mind.tools
    }

    /// Phase `observe`: environment to memory to prompt. `count` is the policy's tokenizer, where there is one.
    pub fn observe(&mut self, journal: &mut Journal, count: Option<&dyn Policy>) {
        self.mind.step = self.mind.step.next();
        self.decision_began_ns = journal.now_ns();
        journal.append(self.place(), PhaseEntered { phase: Phase::Observe });
        journal.append(self.place(), ObservationReceived { observation: self.mind.observation.clone() });
        if let Some(policy) = count {
            let mut count = |segment: &Segment| policy.count_tokens(segment);
            if let Some(c) = self.mind.conversation.observe(self.mind.observation.compact.clone(), &mut count) {
                let prompt_tokens = self.mind.conversation.prompt().segments.iter().map(&mut count).sum();
                let ratio = f64::from(c.before) / f64::from(c.after.max(1));
                let event = MemoryCompressed { before: c.before, after: c.after, ratio, prompt_tokens, summary: c.summary };
                journal.append(self.place(), event);
            }
        }
        self.stand = Stand::Think;
    }

    /// Phase `think` begins: opens the message at the policy.
    pub fn open(&mut self, policy: &mut dyn Policy, settings: &EngineSettings, journal: &mut Journal) -> Result<(), String> {
        self.enter_think(journal);
        let spec = DecodeSpec {
            tools: self.mind.tools.clone(),
            temperature: settings.temperature,
            top_p: settings.top_p,
            seed: message_seed(self.mind.sampling_seed, self.mind.step.0),
            tokens_max: settings.message_tokens_max,
        };
        self.message.opened = policy.open(self.id, &self.mind.conversation.prompt(), &spec).map_err(|e| e.to_string())?;
        self.stand = Stand::Decoding;
        Ok(())
    }

    /// Phase `think` of an agent that is not a model: the whole message at once.
    pub fn decide(&mut self, streams: bool, journal: &mut Journal) -> Result<(), String> {
        self.enter_think(journal);
        let decision = match &mut self.baseline {
            Some(baseline) => baseline.decide(&self.mind.observation),
            None => self.env.oracle(),
        };
        self.piece(&render_message(&decision.thought, &decision.call), None, None, None)?;
        self.tell(0, streams, journal);
        self.finish(FinishReason::Scripted, journal)
    }

    /// Phase `think` of a decision that was recorded: the message as it was, and what is to be done otherwise than it says.
    pub fn recite(&mut self, streams: bool, journal: &mut Journal) -> Result<(), String> {
        let Some(Recited { message, action, state_hash }) = self.script.pop_front() else { return Err("nothing is to be recited".into()) };
        self.enter_think(journal);
        if let Some(baseline) = &mut self.baseline {
            baseline.decide(&self.mind.observation);
        }
        self.mind.react.on(Input::Piece(message.text.as_str())).map_err(|e| e.to_string())?;
        let opened = Opened { prompt_tokens: message.prompt_tokens, cached_tokens: message.cached_tokens };
        self.checkpoint = message.checkpoint;
        self.message = Message {
            token_ids: message.token_ids,
            logprobs: message.logprobs,
            entropy: message.entropy,
            token_ends: message.token_ends,
            opened,
            untold: (message.text.to_string(), 0),
            began_ns: journal.now_ns(),
            ..Message::default()
        };
        self.tell(0, streams, journal);
        self.finish(message.finish_reason, journal)?;
        self.overriding = self.otherwise(&action);
        self.recited_hash = Some(state_hash);
        Ok(())
    }

    /// What makes the pending decision carry out a recorded action.
    fn otherwise(&self, action: &RecordedAction) -> Overriding {
        let said = match &self.intention {
            Some(Intention::Call(parsed)) => Some(&parsed.call),
            Some(Intention::Words { .. }) | None => None,
        };
        let unless_said = |call: &ToolCall| Some(call.clone()).filter(|call| said != Some(call));
        match action {
            // The router says again what it said.
            RecordedAction::Text(_) => Overriding::default(),
            RecordedAction::Tool(call) => Overriding { action: unless_said(call), result: None },
            RecordedAction::Outside { call, result } => {
                let again = self.router.as_ref().map(|r| r.route(call));
                let is_same = matches!(again, Some(Routed::Finished(finished)) if finished == *result);
                Overriding { action: unless_said(call), result: (!is_same).then(|| result.content.clone()) }
            }
        }
    }

    fn enter_think(&mut self, journal: &mut Journal) {
        journal.append(self.place(), PhaseEntered { phase: Phase::Think });
        self.message = Message { began_ns: journal.now_ns(), ..Message::default() };
        // `Observed` always fits here: the lane stands before `think`.
        let _ = self.mind.react.on(Input::Observed);
    }

    /// Takes up a piece of the message.
    pub fn piece(&mut self, text: &str, token: Option<TokenId>, logprob: Option<f32>, entropy: Option<f32>) -> Result<(), String> {
        self.mind.react.on(Input::Piece(text)).map_err(|e| e.to_string())?;
        self.message.token_ids.extend(token);
        self.message.logprobs.extend(logprob.map(num::five_places));
        self.message.entropy.extend(entropy.map(num::five_places));
        if token.is_some() {
            self.message.token_ends.push(u32::try_from(self.mind.react.message().len()).unwrap_or(u32::MAX));
        }
        self.message.untold.0.push_str(text);
        self.message.untold.1 += u32::from(token.is_some());
        Ok(())
    }

    /// The message's first token is here.
    pub fn began_to_say(&mut self, now_ns: u64) {
        self.message.prefill_ns.get_or_insert(now_ns.saturating_sub(self.message.began_ns));
    }

    /// Tells in a delta what was said since the last one, once it is at least `tokens_min` tokens.
    pub fn tell(&mut self, tokens_min: u32, streams: bool, journal: &mut Journal) {
        if !streams || self.message.untold.1 < tokens_min || self.message.untold.0.is_empty() {
            return;
        }
        let (text, tokens) = std::mem::take(&mut self.message.untold);
        journal.append(self.place(), ThoughtDelta { text: SafeText::from(text), tokens });
    }

    /// The message is whole.
    pub fn finish(&mut self, reason: FinishReason, journal: &mut Journal) -> Result<(), String> {
        let Effect::Act(intention) = self.mind.react.on(Input::Said).map_err(|e| e.to_string())? else {
            return Err("the message ended outside its phase".into());
        };
        let thought = match &intention {
            Intention::Call(parsed) => parsed.thought.clone(),
            Intention::Words { thought, .. } => thought.clone(),
        };
        self.mind.faithful += u32::from(is_faithful(&thought, &self.mind.observation.compact));
        self.mind.thoughts += u32::from(!thought.is_empty());
        self.message.finish = Some(reason);
        let message = std::mem::take(&mut self.message);
        let text = SafeText::new(self.mind.react.message());
        // What was made harmless has other lengths than what the tokens said.
        let token_ends = if text.as_str() == self.mind.react.message() { message.token_ends } else { Vec::new() };
        let event = MessageCompleted {
            text,
            thought,
            token_ids: message.token_ids,
            logprobs: message.logprobs,
            entropy: message.entropy,
            token_ends,
            trainer_logprobs: Vec::new(),
            advantages: Vec::new(),
            loss_mask: Vec::new(),
            finish_reason: reason,
            prompt_tokens: message.opened.prompt_tokens,
            cached_tokens: message.opened.cached_tokens,
            checkpoint: self.checkpoint.clone(),
            duration_ns: journal.now_ns() - message.began_ns,
            prefill_ns: message.prefill_ns,
        };
        journal.append(self.place(), event);
        self.intention = Some(intention);
        self.slot = None;
        self.stand = Stand::Act;
        Ok(())
    }

    /// Phase `act`: parse, validate, route, and take it to the environment.
    pub fn act(&mut self, journal: &mut Journal) -> Result<(), String> {
        journal.append(self.place(), PhaseEntered { phase: Phase::Act });
        let Overriding { action, result } = std::mem::take(&mut self.overriding);
        let said = self.intention.take();
        let (recorded, called) = match (action, said) {
            (Some(call), Some(_)) => self.call(call, result, journal),
            (None, Some(Intention::Call(parsed))) => self.call(parsed.call, result, journal),
            (None, Some(Intention::Words { text, error, .. })) => {
                // Nothing was called, but its failure is not that of the call before.
                self.call_id += 1;
                let result = ToolResult::error(ErrorType::Format, error.to_string());
                (RecordedAction::Text(text.clone()), Some((SafeText::new("(none)"), result)))
            }
            (Some(_) | None, None) => return Err("there is nothing to act on".into()),
        };
        let began_ns = journal.now_ns();
        let result = self.env.step(&to_action(&recorded));
        let duration_ns = journal.now_ns() - began_ns;
        let (tool, answer) = match (&recorded, called) {
            (RecordedAction::Tool(call), _) => (SafeText::new(&call.name), result.result.clone()),
            (RecordedAction::Text(_) | RecordedAction::Outside { .. }, Some(called)) => called,
            (RecordedAction::Text(_) | RecordedAction::Outside { .. }, None) => (SafeText::new("(none)"), result.result.clone()),
        };
        self.was_error = answer.error_type.is_some();
        self.mind.tool_errors += u32::from(self.was_error);
        let finished = ToolCallFinished { call_id: self.call_id, tool, result: answer.content, error_type: answer.error_type, duration_ns };
        journal.append(self.place(), finished);
        self.mind.react.on(Input::Acted).map_err(|e| e.to_string())?;
        self.acted = Some((recorded, result));
        self.stand = Stand::Settle;
        Ok(())
    }

    /// Says that a call is made, and who answers it: the operator where a result is given.
    fn call(&mut self, call: ToolCall, given: Option<SafeText>, journal: &mut Journal) -> (RecordedAction, Option<(SafeText, ToolResult)>) {
        self.call_id += 1;
        let started = ToolCallStarted { call_id: self.call_id, route: Route::Tool, call: call.clone() };
        journal.append(self.place(), started);
        let routed = match given {
            Some(content) => Some(Routed::Finished(ToolResult::ok(content))),
            None => self.router.as_ref().map(|r| r.route(&call)),
        };
        let tool = SafeText::new(&call.name);
        match routed {
            Some(Routed::Environment) | None => (RecordedAction::Tool(call), None),
            Some(Routed::Finished(result)) => (RecordedAction::Outside { call, result: result.clone() }, Some((tool, result))),
            Some(Routed::Refused(error)) => {
                (RecordedAction::Text(SafeText::from(render_call(&call))), Some((tool, ToolResult::from(error))))
            }
        }
    }

    /// Phase `settle`: reward, memory, and the end of the episode. True when the episode has ended.
    pub fn settle(&mut self, settings: &EngineSettings, journal: &mut Journal) -> Result<bool, String> {
        journal.append(self.place(), PhaseEntered { phase: Phase::Settle });
        let (action, mut result) = self.acted.take().ok_or("there is nothing to settle")?;
        let reward = self.mind.reward.as_mut().ok_or("no episode runs")?;
        reward.push(result.reward).map_err(|e| e.to_string())?;
        truncate_at(settings.steps_max, self.mind.step, self.env.as_ref(), &mut result);
        let (episode_return, discounted_sum) = (reward.episode_return(), reward.discounted_sum());
        let thought = crate::agent::format::thought_of(self.mind.react.message());
        self.settled(&action, thought.clone());
        let is_faithful = is_faithful(&thought, &self.mind.observation.compact);
        let taken = Taken { action: action.clone(), thought, is_faithful, is_error: self.was_error, state_hash: self.env.state_hash() };
        let event = TransitionRecorded {
            action,
            reward: result.reward,
            terminated: result.terminated,
            truncated: result.truncated,
            value: None,
            state_hash: self.env.state_hash(),
            reward_sum: episode_return,
            discounted_sum,
        };
        journal.append(self.place(), event);
        if let Some(recorded) = self.recited_hash.take().filter(|hash| *hash != self.env.state_hash()) {
            let (step, now) = (self.mind.step, self.env.state_hash());
            return Err(format!("step {step} comes out otherwise than it was recorded (state {now:016x}, recorded {recorded:016x})"));
        }
        let memory_bytes = Some(self.mind.conversation.bytes());
        journal.append(self.place(), DecisionSettled { duration_ns: journal.now_ns() - self.decision_began_ns, memory_bytes });
        self.mind.react.on(Input::Settled).map_err(|e| e.to_string())?;
        self.mind.observation = result.observation.clone();
        let (env, baseline, mind) = (self.env.as_ref(), self.baseline.as_deref(), &self.mind);
        self.past.took(taken, || Moment::new(env, baseline, mind));
        self.stand = Stand::Observe;
        if result.terminated || result.truncated {
            let ending = if result.terminated { EpisodeEnding::Terminated } else { EpisodeEnding::Truncated };
            self.end(ending, Some(&result), journal)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Ends the episode that runs, if one does.
    pub fn end(&mut self, ending: EpisodeEnding, last: Option<&StepResult>, journal: &mut Journal) -> Result<(), String> {
        let Some(reward) = &self.mind.reward else { return Ok(()) };
        self.past.end();
        let info = last.map(|r| r.info.clone()).unwrap_or_default();
        let final_reward = info.final_reward.unwrap_or(0.0);
        let steps = reward.steps();
        let event = EpisodeEnded {
            ending,
            episode_return: reward.episode_return(),
            final_reward,
            hybrid: reward.hybrid(final_reward).map_err(|e| e.to_string())?,
            success: info.success.unwrap_or(false),
            length: steps,
            tool_errors: self.mind.tool_errors,
            thought_fidelity: thought_fidelity(self.mind.thoughts, self.mind.faithful, steps),
            truth: info.truth.unwrap_or_default(),
        };
        journal.append(self.episode_place(), event);
        self.script.clear();
        self.mind.reward = None;
        self.slot = None;
        self.stand = Stand::Between;
        Ok(())
    }
}

/// Share of decisions whose thought is faithful; unset where nothing was thought.
pub fn thought_fidelity(thoughts: u32, faithful: u32, steps: u32) -> Option<f64> {
    (thoughts > 0 && steps > 0).then(|| f64::from(faithful.min(steps)) / f64::from(steps))
}

/// Cuts the episode at a limit below the environment's own, which then says what came of it.
pub fn truncate_at(steps_max: Option<u32>, step: StepIndex, env: &dyn Environment, result: &mut StepResult) {
    if steps_max.is_some_and(|max| step.0 >= max) && !result.terminated && !result.truncated {
        result.truncated = true;
        result.info = env.conclude();
    }
}

/// An action as memory has it, and whether it keeps the thought.
pub fn written(action: &RecordedAction) -> (SafeText, bool) {
    match action {
        RecordedAction::Tool(call) | RecordedAction::Outside { call, .. } => {
            (SafeText::from(render_call(call)), !call.arguments.is_empty())
        }
        RecordedAction::Text(_) => (SafeText::default(), false),
    }
}

/// The action that a recorded one gives again.
pub fn to_action(recorded: &RecordedAction) -> Action {
    match recorded {
        RecordedAction::Text(text) => Action::Text(text.to_string()),
        RecordedAction::Tool(call) => Action::Tool(call.clone()),
        RecordedAction::Outside { call, result } => Action::Outside { call: call.clone(), result: result.clone() },
    }
}
