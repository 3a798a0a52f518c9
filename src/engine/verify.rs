//! Verification: every episode of a recording is played again from its seed with the recorded actions, and compared exactly.

use super::lane::{thought_fidelity, to_action, truncate_at, written};
use super::settings::{message_seed, window_of};
use crate::agent::format::{is_faithful, thought_of};
use crate::agent::prompt::{Conversation, WindowSettings};
use crate::agent::{DecodeSpec, Policy, PolicyError, Progress};
use crate::env::{EnvSpec, Environment, StepResult};
use crate::event::*;
use crate::journal::Header;
use crate::reward::EpisodeReward;
use crate::tool::{Routed, Router};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What the router says to a call that it refuses; `None` where it would not refuse it.
fn refusal(tools: &[ToolSpec], call: &ToolCall) -> Option<ToolResult> {
    match Router::new(tools).ok()?.route(call) {
        Routed::Refused(error) => Some(ToolResult::from(error)),
        Routed::Environment | Routed::Finished(_) => None,
    }
}

/// The first thing that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// `[lane:]episode/step`.
    pub address: String,
    pub seq: Seq,
    pub field: String,
    pub recorded: String,
    pub simulated: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "step {} (event {}): {} differs\n  recorded:  {}\n  simulated: {}",
            self.address, self.seq, self.field, self.recorded, self.simulated
        )
    }
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifyReport {
    pub episodes: u64,
    pub steps: u64,
    /// Messages whose tokens were compared; with `verify_policy` only.
    pub messages: u64,
    pub difference: Option<Difference>,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("the recording is of {recorded}, this build has {ours}: use the build that recorded it")]
    Environment { recorded: String, ours: String },
    #[error("event {seq}: {reason}")]
    Recording { seq: Seq, reason: String },
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// Log-probabilities may differ by this much where the tokens are the same; they are recorded to five digits.
const LOGPROB_TOLERANCE: f32 = 2e-5;

/// A lane that is played again.
struct Replayed {
    env: Box<dyn Environment>,
    observation: Observation,
    last: Option<StepResult>,
    reward: Option<EpisodeReward>,
    conversation: Conversation,
    tools: Arc<Vec<ToolSpec>>,
    /// What messages are sampled by.
    seed: Seed,
    message: SafeText,
    /// The call and its result as they were told, until the transition can be compared with them.
    called: Option<ToolCall>,
    answered: Option<(SafeText, Option<ErrorType>)>,
    tool_errors: u32,
    /// Decisions with a thought, and those whose thought begins with a span of the observation.
    thoughts: u32,
    faithful: u32,
    steps_max: Option<u32>,
}

impl Replayed {
    /// Makes a decision that was verified in the parent.
    fn again(&mut self, played: &Played, count: Option<&(dyn Policy + '_)>) {
        if let Some(policy) = count {
            self.conversation.observe(self.observation.compact.clone(), &mut |s| policy.count_tokens(s));
        }
        let result = self.env.step(&to_action(&played.action));
        if let Some(reward) = &mut self.reward {
            // It was in range in the parent.
            let _ = reward.push(result.reward);
        }
        let thought = thought_of(&played.message);
        self.tool_errors += u32::from(played.is_error);
        self.faithful += u32::from(is_faithful(&thought, &self.observation.compact));
        self.thoughts += u32::from(!thought.is_empty());
        let (written, memorable) = written(&played.action);
        self.conversation.decide(thought, written, memorable);
        self.observation = result.observation.clone();
        self.last = Some(result);
    }
}

/// A decision that was verified.
#[derive(Clone)]
struct Played {
    action: RecordedAction,
    message: SafeText,
    is_error: bool,
}

/// An episode as far as it was verified.
struct PlayedEpisode {
    of: (LaneId, EpisodeId),
    /// What its messages are sampled by.
    seed: Seed,
    decisions: Vec<Played>,
}

/// Episodes of which decisions are kept: as many as the engine's lanes can go back in.
const PLAYED_EPISODES_MAX: usize = 256;

/// Compares `recorded` with `simulated` and reports the first difference by its field.
struct Compare<'a> {
    envelope: &'a Envelope,
}

impl Compare<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&self, field: &str, recorded: &T, simulated: &T) -> Result<(), Box<Difference>> {
        if recorded == simulated {
            return Ok(());
        }
        Err(Box::new(Difference {
            address: self.envelope.address(),
            seq: self.envelope.seq,
            field: field.to_owned(),
            recorded: format!("{recorded:?}"),
            simulated: format!("{simulated:?}"),
        }))
    }

    fn bits(&self, field: &str, recorded: f64, simulated: f64) -> Result<(), Box<Difference>> {
        if recorded.to_bits() == simulated.to_bits() { Ok(()) } else { self.same(field, &recorded, &simulated) }
    }
}

/// Refuses a recording of another environment: it can't be verified, which is no difference.
pub fn check_environment(header: &Header, spec: &EnvSpec) -> Result<(), VerifyError> {
    let ours = (&spec.name, &spec.version, &spec.params_sha256);
    let recorded = (&header.env.name, &header.env.version, &header.env.params_sha256);
    if ours == recorded {
        return Ok(());
    }
    let name = |(name, version, sha): (&String, &String, &String)| format!("{name} {version} (parameters {})", &sha[..sha.len().min(12)]);
    Err(VerifyError::Environment { recorded: name(recorded), ours: name(ours) })
}

/// Re-simulates with the recorded actions.
pub fn verify<I>(header: &Header, events: I, env: &dyn Environment) -> Result<VerifyReport, VerifyError>
where
    I: IntoIterator<Item = Arc<Envelope>>,
{
    Verifier::new(header, env, None)?.run(events)
}

/// Re-simulates, and runs the policy again on the prompts that come of it. `settings` are those of the run.
pub fn verify_policy<I>(
    header: &Header,
    events: I,
    env: &dyn Environment,
    policy: &mut dyn Policy,
    settings: Decoding,
) -> Result<VerifyReport, VerifyError>
where
    I: IntoIterator<Item = Arc<Envelope>>,
{
    Verifier::new(header, env, Some((policy, settings)))?.run(events)
}

struct Verifier<'a> {
    env: &'a dyn Environment,
    policy: Option<(&'a mut dyn Policy, Decoding)>,
    lanes: BTreeMap<LaneId, Replayed>,
    /// The recording's own.
    checkpoint: Option<CheckpointId>,
    /// Episodes that branches may go on from, oldest first.
    played: VecDeque<PlayedEpisode>,
    formula: RewardFormula,
    steps_max: Option<u32>,
    report: VerifyReport,
}

enum Stop {
    Difference(Box<Difference>),
    Error(VerifyError),
}

impl From<Box<Difference>> for Stop {
    fn from(difference: Box<Difference>) -> Self {
        Stop::Difference(difference)
    }
}

impl<'a> Verifier<'a> {
    fn new(header: &Header, env: &'a dyn Environment, policy: Option<(&'a mut dyn Policy, Decoding)>) -> Result<Self, VerifyError> {
        check_environment(header, env.spec())?;
        let (formula, report) = (RewardFormula::default(), VerifyReport::default());
        let checkpoint = header.checkpoint.as_ref().map(|c| c.id.clone());
        Ok(Self { env, policy, lanes: BTreeMap::new(), checkpoint, played: VecDeque::new(), formula, steps_max: None, report })
    }

    fn run<I: IntoIterator<Item = Arc<Envelope>>>(mut self, events: I) -> Result<VerifyReport, VerifyError> {
        for envelope in events {
            match self.event(&envelope) {
                Ok(()) => {}
                Err(Stop::Difference(difference)) => {
                    self.report.difference = Some(*difference);
                    break;
                }
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        Ok(self.report)
    }

    fn event(&mut self, envelope: &Envelope) -> Result<(), Stop> {
        let compare = Compare { envelope };
        match &envelope.event {
            Event::RunStarted(e) => {
                self.formula = e.reward;
                self.steps_max = Some(e.max_steps);
                Ok(())
            }
            Event::EpisodeStarted(e) => self.begin(envelope, e),
            Event::BranchStarted(e) => self.branch(envelope, e),
            Event::ObservationReceived(e) => {
                let lane = self.lane(envelope)?;
                let (recorded, simulated) = (&e.observation, &lane.observation);
                compare.same("observation.values", &recorded.values, &simulated.values)?;
                compare.same("observation.text", &recorded.text, &simulated.text)?;
                compare.same("observation.compact", &recorded.compact, &simulated.compact)?;
                Ok(())
            }
            Event::MessageCompleted(e) => {
                // Of other weights than those that are verified.
                let is_foreign = self.checkpoint.as_ref().zip(e.checkpoint.as_ref()).is_some_and(|(own, other)| own != other);
                let lane = self.lane(envelope)?;
                lane.message = e.text.clone();
                compare.same("thought", &e.thought, &thought_of(&e.text))?;
                lane.faithful += u32::from(is_faithful(&e.thought, &lane.observation.compact));
                lane.thoughts += u32::from(!e.thought.is_empty());
                if self.policy.is_some() && !e.token_ids.is_empty() && !is_foreign { self.decode(envelope, e) } else { Ok(()) }
            }
            Event::ToolCallStarted(e) => {
                self.lane(envelope)?.called = Some(e.call.clone());
                Ok(())
            }
            Event::ToolCallFinished(e) => {
                let lane = self.lane(envelope)?;
                lane.answered = Some((e.result.clone(), e.error_type));
                lane.tool_errors += u32::from(e.error_type.is_some());
                Ok(())
            }
            Event::TransitionRecorded(e) => self.transition(envelope, e),
            Event::EpisodeEnded(e) => self.ended(envelope, e),
            Event::ThoughtDelta(_)
            | Event::PhaseEntered(_)
            | Event::DecisionSettled(_)
            | Event::MemoryCompressed(_)
            | Event::RunStateChanged(_)
            | Event::BreakpointSet(_)
            | Event::BreakpointHit(_)
            | Event::BreakpointCleared(_)
            | Event::PaceChanged(_)
            | Event::PolicyStateChanged(_)
            | Event::CheckpointListed(_)
            | Event::CheckpointSaved(_)
            | Event::CheckpointVerified(_)
            | Event::CheckpointSwapped(_)
            | Event::UpdateCompleted(_)
            | Event::EvaluationCompleted(_)
            | Event::TelemetrySampled(_)
            | Event::TargetScraped(_)
            | Event::RulesLoaded(_)
            | Event::RuleEvaluated(_)
            | Event::AlertNotified(_)
            | Event::SilenceSet(_)
            | Event::SilenceEnded(_)
            | Event::AlertStateChanged(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::SinkFailed(_)
            | Event::SamplesDropped(_)
            | Event::LogLine(_)
            | Event::Elided(_)
            | Event::Unknown { .. } => Ok(()),
        }
    }

    fn lane(&mut self, envelope: &Envelope) -> Result<&mut Replayed, Stop> {
        let missing = VerifyError::Recording { seq: envelope.seq, reason: format!("lane {} plays no episode", envelope.lane) };
        self.lanes.get_mut(&envelope.lane).ok_or(Stop::Error(missing))
    }

    fn begin(&mut self, envelope: &Envelope, e: &EpisodeStarted) -> Result<(), Stop> {
        let mut env = self.env.fresh();
        let start = env.reset(e.seed, e.level);
        let compare = Compare { envelope };
        compare.same("goal", &e.goal, &start.goal)?;
        compare.same("briefing", &e.briefing, &start.briefing)?;
        compare.same("fields", &e.fields, &start.fields)?;
        compare.same("state_hash", &format!("{:016x}", e.state_hash), &format!("{:016x}", env.state_hash()))?;
        let reward = EpisodeReward::new(self.formula)
            .map_err(|error| Stop::Error(VerifyError::Recording { seq: envelope.seq, reason: error.to_string() }))?;
        if let Some((policy, _)) = &mut self.policy {
            policy.truncate(envelope.lane, 0);
        }
        let window = self.policy.as_ref().map_or_else(WindowSettings::default, |(_, run)| window_of(run));
        let replayed = Replayed {
            conversation: Conversation::new(start.briefing, window),
            tools: Arc::new(start.tools),
            observation: start.observation,
            last: None,
            reward: Some(reward),
            seed: e.seed,
            message: SafeText::default(),
            called: None,
            answered: None,
            tool_errors: 0,
            thoughts: 0,
            faithful: 0,
            steps_max: self.steps_max,
            env,
        };
        self.lanes.insert(envelope.lane, replayed);
        self.report.episodes += 1;
        if self.played.len() == PLAYED_EPISODES_MAX {
            self.played.pop_front();
        }
        let of = (envelope.lane, envelope.episode.unwrap_or_default());
        self.played.push_back(PlayedEpisode { of, seed: e.seed, decisions: Vec::new() });
        Ok(())
    }

    /// Plays the parent's decisions up to where the branch parts from it.
    fn branch(&mut self, envelope: &Envelope, e: &BranchStarted) -> Result<(), Stop> {
        let parent = (e.parent_lane, e.parent);
        let kept = self.played.iter().find(|kept| kept.of == parent);
        let before = e.at_step.0.saturating_sub(1) as usize;
        let found = kept.and_then(|kept| Some((kept.seed, kept.decisions.get(..before)?.to_vec())));
        let Some((parent_seed, played)) = found else {
            let reason = format!("its parent {}:{} has no step {} in this recording", e.parent_lane, e.parent, e.at_step);
            return Err(Stop::Error(VerifyError::Recording { seq: envelope.seq, reason }));
        };
        let count = self.policy.as_ref().map(|(policy, _)| &**policy);
        let missing = VerifyError::Recording { seq: envelope.seq, reason: format!("lane {} plays no episode", envelope.lane) };
        let lane = self.lanes.get_mut(&envelope.lane).ok_or(Stop::Error(missing))?;
        for played in &played {
            lane.again(played, count);
        }
        let seed = e.with.seed.unwrap_or(parent_seed);
        lane.seed = seed;
        let compare = Compare { envelope };
        compare.same("state_hash", &format!("{:016x}", e.state_hash), &format!("{:016x}", lane.env.state_hash()))?;
        if let Some(reward) = &lane.reward {
            compare.bits("reward_sum", e.reward_sum, reward.episode_return())?;
            compare.bits("discounted_sum", e.discounted_sum, reward.discounted_sum())?;
        }
        if let Some(of_branch) = self.played.back_mut() {
            (of_branch.seed, of_branch.decisions) = (seed, played);
        }
        Ok(())
    }

    fn transition(&mut self, envelope: &Envelope, e: &TransitionRecorded) -> Result<(), Stop> {
        let compare = Compare { envelope };
        let step = envelope.step.unwrap_or_default();
        let lane = self.lane(envelope)?;
        let (called, answered) = (lane.called.take(), lane.answered.take());
        let is_error = answered.as_ref().is_some_and(|(_, error)| error.is_some());
        let played = Played { action: e.action.clone(), message: lane.message.clone(), is_error };
        let mut result = lane.env.step(&to_action(&e.action));
        let answer = match &e.action {
            RecordedAction::Tool(call) => {
                compare.same("call", &called.as_ref(), &Some(call))?;
                Some(result.result.clone())
            }
            RecordedAction::Outside { call, result } => {
                compare.same("call", &called.as_ref(), &Some(call))?;
                Some(result.clone())
            }
            RecordedAction::Text(_) => called.and_then(|call| refusal(&lane.tools, &call)),
        };
        // Of words without a call the reason may have been made safe; its kind is known.
        let format_error = answered.as_ref().is_some_and(|a| a.1 == Some(ErrorType::Format));
        match answer {
            Some(answer) => compare.same("tool result", &answered, &Some((answer.content, answer.error_type)))?,
            None => compare.same("tool result is a format error", &format_error, &true)?,
        }
        truncate_at(lane.steps_max, step, lane.env.as_ref(), &mut result);
        compare.bits("reward", e.reward, result.reward)?;
        compare.same("terminated", &e.terminated, &result.terminated)?;
        compare.same("truncated", &e.truncated, &result.truncated)?;
        compare.same("state_hash", &format!("{:016x}", e.state_hash), &format!("{:016x}", lane.env.state_hash()))?;
        if let Some(reward) = &mut lane.reward {
            let pushed = reward.push(result.reward);
            pushed.map_err(|error| Stop::Error(VerifyError::Recording { seq: envelope.seq, reason: error.to_string() }))?;
            compare.bits("reward_sum", e.reward_sum, reward.episode_return())?;
            compare.bits("discounted_sum", e.discounted_sum, reward.discounted_sum())?;
        }
        let (written, memorable) = written(&e.action);
        lane.conversation.decide(thought_of(&lane.message), written, memorable);
        lane.observation = result.observation.clone();
        lane.last = Some(result);
        let place = (envelope.lane, envelope.episode.unwrap_or_default());
        if let Some(kept) = self.played.iter_mut().rev().find(|kept| kept.of == place) {
            kept.decisions.push(played);
        }
        self.report.steps += 1;
        Ok(())
    }

    fn ended(&mut self, envelope: &Envelope, e: &EpisodeEnded) -> Result<(), Stop> {
        let compare = Compare { envelope };
        let lane = self.lane(envelope)?;
        let aborted = e.ending == EpisodeEnding::Aborted;
        let last = lane.last.take();
        let ending = match &last {
            Some(last) if last.terminated => EpisodeEnding::Terminated,
            Some(last) if last.truncated => EpisodeEnding::Truncated,
            Some(_) | None => EpisodeEnding::Aborted,
        };
        compare.same("ending", &e.ending, &ending)?;
        let info = last.filter(|_| !aborted).map(|r| r.info).unwrap_or_default();
        let Some(reward) = lane.reward.take() else { return Ok(()) };
        compare.same("thought_fidelity", &e.thought_fidelity, &thought_fidelity(lane.thoughts, lane.faithful, reward.steps()))?;
        let final_reward = info.final_reward.unwrap_or(0.0);
        compare.bits("return", e.episode_return, reward.episode_return())?;
        compare.bits("final_reward", e.final_reward, final_reward)?;
        compare.bits("hybrid", e.hybrid, reward.hybrid(final_reward).unwrap_or(f64::NAN))?;
        compare.same("success", &e.success, &info.success.unwrap_or(false))?;
        compare.same("length", &e.length, &reward.steps())?;
        compare.same("tool_errors", &e.tool_errors, &lane.tool_errors)?;
        compare.same("truth", &e.truth, &info.truth.unwrap_or_default())?;
        Ok(())
    }

    /// Runs the policy on the prompt of this decision and compares its tokens.
    fn decode(&mut self, envelope: &Envelope, e: &MessageCompleted) -> Result<(), Stop> {
        let step = envelope.step.unwrap_or_default();
        let Some((policy, run)) = &mut self.policy else { return Ok(()) };
        let missing = VerifyError::Recording { seq: envelope.seq, reason: format!("lane {} plays no episode", envelope.lane) };
        let lane = self.lanes.get_mut(&envelope.lane).ok_or(Stop::Error(missing))?;
        lane.conversation.observe(lane.observation.compact.clone(), &mut |s| policy.count_tokens(s));
        let spec = DecodeSpec {
            tools: lane.tools.clone(),
            temperature: run.temperature,
            top_p: run.top_p,
            seed: message_seed(lane.seed, step.0),
            tokens_max: run.tokens_max,
        };
        let error = |e: PolicyError| Stop::Error(VerifyError::Policy(e));
        policy.open(envelope.lane, &lane.conversation.prompt(), &spec).map_err(error)?;
        let (mut tokens, mut logprobs, mut out) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            out.clear();
            policy.advance(&[envelope.lane], &mut out).map_err(error)?;
            let mut done = out.is_empty();
            for (_, what) in out.drain(..) {
                match what {
                    Progress::Pending => {}
                    Progress::Piece { token, logprob, .. } => {
                        tokens.extend(token);
                        logprobs.extend(logprob);
                    }
                    Progress::Done(_) => done = true,
                }
            }
            if done {
                break;
            }
        }
        let compare = Compare { envelope };
        let at = tokens.iter().zip(&e.token_ids).position(|(a, b)| a != b).unwrap_or(tokens.len().min(e.token_ids.len()));
        compare.same(&format!("token_ids[{at}]"), &e.token_ids.get(at), &tokens.get(at))?;
        for (at, (recorded, found)) in e.logprobs.iter().zip(&logprobs).enumerate() {
            let by = (recorded - found).abs();
            if by.is_nan() || by > LOGPROB_TOLERANCE {
                compare.same(&format!("logprobs[{at}]"), recorded, found)?;
            }
        }
        self.report.messages += 1;
        Ok(())
    }
}
