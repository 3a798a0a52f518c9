//! Episodes, decisions, messages, tools, weights and training.

use super::lanes::QueueField;
use super::{Meter, seconds, word};
use crate::event::*;
use crate::metrics::table::Metric;

const RUN_STATES: [RunState; 5] = [RunState::Starting, RunState::Running, RunState::Paused, RunState::Stepping, RunState::Ended];
const POLICY_STATES: [PolicyState; 3] = [PolicyState::Loading, PolicyState::Ready, PolicyState::Failed];
/// As their events name them.
const SAMPLERS: [&str; 2] = ["telemetry", "scrape"];
/// Lanes that a run may have from the start; the configuration allows fewer.
const LANES_AT_START_MAX: u32 = 1024;

impl Meter {
    pub(super) fn run_started(&mut self, e: &RunStarted) {
        self.epoch_ms = e.started.parse::<jiff::Timestamp>().ok().map(|started| started.as_millisecond()).or(self.epoch_ms);
        self.reward = e.reward;
        let registry = &mut self.registry;
        let version = e.build.rsplit(' ').next().unwrap_or_default();
        registry.set(Metric::BuildInfo, &[version], 1.0);
        let level = e.level.to_string();
        registry.set(Metric::RunInfo, &[e.run.0.as_str(), e.agent.as_str(), &e.env, &e.env_version, &level, &e.profile], 1.0);
        if let Some(epoch_ms) = self.epoch_ms {
            registry.set(Metric::RunStart, &[], epoch_ms as f64 / 1e3);
            registry.set(Metric::LastProgress, &[], epoch_ms as f64 / 1e3);
        }
        for lane in 0..e.lanes.min(LANES_AT_START_MAX) {
            self.lanes.lane(LaneId(lane));
        }
        registry.set(Metric::Lanes, &[], self.lanes.len() as f64);
        for tool in &e.tools {
            let tool = self.names.bounded("tool", &tool.name);
            registry.begin(Metric::ToolCalls, &[tool, ""]);
            registry.begin(Metric::ToolDuration, &[tool]);
        }
        self.begin_counters();
        self.set_run_state(RunState::Starting);
    }

    /// Series that are there from zero on: without that, `increase` would not see their first event.
    fn begin_counters(&mut self) {
        use Metric::*;
        let plain = [
            Decisions,
            DecisionDuration,
            InferenceDuration,
            QueueDuration,
            PromptTokens,
            CachedTokens,
            OutputTokens,
            Actions,
            ActionFailures,
            EnvSteps,
            EnvStepDuration,
            Readings,
            ReadingsMissing,
            EpisodesStarted,
            EpisodesRunning,
            EpisodeDuration,
            EpisodeReturn,
            EpisodeLength,
            FinalReward,
            HybridReward,
            StepReward,
            Compressions,
            CompressionRatio,
            LoadFailures,
            Swaps,
            RecordingFailed,
            ToolsInFlight,
            Breakpoints,
            Silences,
        ];
        plain.into_iter().for_each(|metric| self.registry.begin(metric, &[]));
        let one: [(Metric, &[&str]); 7] = [
            (Branches, &["rewind", "fork"]),
            (CompressedTokens, &["before", "after"]),
            (RewardPart, &["step", "final"]),
            (BreakpointHits, &["paused", "logged", "ignored"]),
            (Alerts, &["pending", "firing"]),
            (LogLines, &["error", "warn", "info", "debug"]),
            (Requests, &["stop", "length", "cancelled", "scripted"]),
        ];
        for (metric, values) in one {
            values.iter().for_each(|value| self.registry.begin(metric, &[value]));
        }
        for (verdict, ending) in [
            ("success", "terminated"),
            ("success", "truncated"),
            ("failure", "terminated"),
            ("failure", "truncated"),
            ("aborted", "aborted"),
        ] {
            self.registry.begin(Episodes, &[verdict, ending]);
        }
        for error in [ErrorType::Format, ErrorType::UnknownTool, ErrorType::Schema] {
            self.registry.begin(FormatErrors, &["output", word(&error).as_str()]);
        }
        self.registry.begin(FormatErrors, &["input", super::targets::UNREADABLE]);
        for sampler in SAMPLERS {
            self.registry.begin(SamplesDropped, &[self.names.bounded("sampler", sampler)]);
        }
    }

    fn set_run_state(&mut self, state: RunState) {
        for other in RUN_STATES {
            self.registry.set(Metric::RunStates, &[word(&other).as_str()], f64::from(u8::from(other == state)));
        }
    }

    pub(super) fn run_state_changed(&mut self, state: RunState) {
        self.run_state = state;
        self.set_run_state(state);
    }

    pub(super) fn pace(&mut self, pace: Pace) {
        let factor = match pace {
            Pace::Times(times) => times,
            Pace::Max => f64::INFINITY,
        };
        self.registry.set(Metric::PaceFactor, &[], factor);
    }

    pub(super) fn episode_started(&mut self, id: LaneId, t_ns: u64, e: &EpisodeStarted) {
        let lane = self.lanes.lane(id);
        (lane.episode_began_ns, lane.call, lane.observed_ns) = (Some(t_ns), None, None);
        (lane.queue_length, lane.queue_age_seconds) = (None, None);
        lane.queue_fields = e.fields.iter().enumerate().filter_map(|(at, field)| queue_field(field).map(|kind| (at, kind))).collect();
        self.registry.add(Metric::EpisodesStarted, &[], 1.0);
        self.registry.set(Metric::Lanes, &[], self.lanes.len() as f64);
        self.episodes_running();
    }

    fn episodes_running(&mut self) {
        let running = self.lanes.iter().filter(|lane| lane.episode_began_ns.is_some()).count();
        self.registry.set(Metric::EpisodesRunning, &[], running as f64);
    }

    pub(super) fn phase(&mut self, id: LaneId, t_ns: u64, phase: Phase) {
        let lane = self.lanes.lane(id);
        if phase == Phase::Think
            && let Some((observed_ns, paused_ns)) = lane.observed_ns.take()
        {
            let queued_ns = t_ns.saturating_sub(observed_ns).saturating_sub(self.paused_ns - paused_ns);
            self.registry.observe(Metric::QueueDuration, &[], seconds(queued_ns));
        }
    }

    pub(super) fn observation(&mut self, id: LaneId, t_ns: u64, e: &ObservationReceived) {
        let lane = self.lanes.lane(id);
        lane.observed_ns = Some((t_ns, self.paused_ns));
        let values = &e.observation.values;
        let reading = |at: usize| values.get(at).copied().flatten();
        for (at, field) in &lane.queue_fields {
            match field {
                QueueField::Length => lane.queue_length = reading(*at),
                QueueField::Age(divisor) => lane.queue_age_seconds = reading(*at).map(|age| age / f64::from(*divisor)),
            }
        }
        self.registry.add(Metric::Readings, &[], values.len() as f64);
        self.registry.add(Metric::ReadingsMissing, &[], values.iter().filter(|v| v.is_none()).count() as f64);
        let lanes = &self.lanes;
        let length = lanes.iter().filter_map(|l| l.queue_length).reduce(|a, b| a + b);
        let age = lanes.iter().filter_map(|l| l.queue_age_seconds).reduce(f64::max);
        self.registry.set_known(Metric::QueueLength, &[], length);
        self.registry.set_known(Metric::QueueAge, &[], age);
    }

    pub(super) fn message(&mut self, id: LaneId, e: &MessageCompleted) {
        let lane = self.lanes.lane(id);
        let output = e.token_ids.len() as u64;
        lane.context_tokens = (e.prompt_tokens > 0).then_some(u64::from(e.prompt_tokens) + output);
        let registry = &mut self.registry;
        registry.add(Metric::Requests, &[word(&e.finish_reason).as_str()], 1.0);
        registry.observe(Metric::InferenceDuration, &[], seconds(e.duration_ns));
        if let Some(prefill_ns) = e.prefill_ns {
            registry.observe(Metric::PrefillDuration, &[], seconds(prefill_ns));
            registry.observe(Metric::DecodeDuration, &[], seconds(e.duration_ns.saturating_sub(prefill_ns)));
        }
        registry.add(Metric::PromptTokens, &[], f64::from(e.prompt_tokens));
        registry.add(Metric::CachedTokens, &[], f64::from(e.cached_tokens));
        registry.add(Metric::OutputTokens, &[], output as f64);
        e.entropy.iter().for_each(|entropy| registry.observe(Metric::TokenEntropy, &[], f64::from(*entropy)));
        e.logprobs.iter().for_each(|logprob| registry.observe(Metric::TokenSurprisal, &[], -f64::from(*logprob)));
        let context = self.lanes.iter().filter_map(|l| l.context_tokens).max().map(|tokens| tokens as f64);
        registry.set_known(Metric::ContextTokens, &[], context);
        let limit = registry.number(Metric::ContextLimit, &[]).filter(|limit| *limit > 0.0);
        registry.set_known(Metric::ContextUsed, &[], context.zip(limit).map(|(context, limit)| context / limit));
        self.mismatch(e);
    }

    /// How far rollout and trainer are apart, where a recording of training has both.
    fn mismatch(&mut self, e: &MessageCompleted) {
        let pairs: Vec<(f64, f64)> = e.logprobs.iter().zip(&e.trainer_logprobs).map(|(a, b)| (f64::from(*a), f64::from(*b))).collect();
        if pairs.is_empty() {
            return;
        }
        let (mut sum, mut squares, mut kl) = (0.0, 0.0, 0.0);
        for (rollout, trainer) in &pairs {
            let ratio = (trainer - rollout).exp();
            self.registry.observe(Metric::ProbabilityDifference, &[], (rollout.exp() - trainer.exp()).abs());
            self.registry.observe(Metric::ImportanceRatio, &[], ratio);
            (sum, squares, kl) = (sum + ratio, squares + ratio * ratio, kl + rollout - trainer);
        }
        let n = pairs.len() as f64;
        self.registry.set_known(Metric::EffectiveSampleSize, &[], (squares > 0.0).then(|| sum * sum / squares / n));
        self.registry.set(Metric::MismatchKl, &[], kl / n);
    }

    pub(super) fn tool_started(&mut self, id: LaneId, t_ns: u64, e: &ToolCallStarted) {
        let lane = self.lanes.lane(id);
        lane.call = Some((e.call_id, t_ns));
        self.tools_in_flight();
    }

    fn tools_in_flight(&mut self) {
        let in_flight = self.lanes.iter().filter(|lane| lane.call.is_some()).count();
        self.registry.set(Metric::ToolsInFlight, &[], in_flight as f64);
    }

    pub(super) fn tool_finished(&mut self, id: LaneId, t_ns: u64, e: &ToolCallFinished) {
        let lane = self.lanes.lane(id);
        let began_ns = lane.call.take().filter(|(call, _)| *call == e.call_id).map(|(_, began_ns)| began_ns);
        let registry = &mut self.registry;
        let tool = self.names.bounded("tool", e.tool.as_str());
        let error = e.error_type.as_ref().map(word).unwrap_or_default();
        registry.add(Metric::Actions, &[], 1.0);
        registry.add(Metric::ToolCalls, &[tool, &error], 1.0);
        registry.observe(Metric::EnvStepDuration, &[], seconds(e.duration_ns));
        if let Some(began_ns) = began_ns {
            registry.observe(Metric::ToolDuration, &[tool], seconds(t_ns.saturating_sub(began_ns)));
        }
        match e.error_type {
            Some(ErrorType::Format | ErrorType::UnknownTool | ErrorType::Schema) => {
                registry.add(Metric::FormatErrors, &["output", &error], 1.0);
                registry.add(Metric::ActionFailures, &[], 1.0);
            }
            Some(ErrorType::Refused | ErrorType::RateLimited | ErrorType::Timeout | ErrorType::Failed) => {
                registry.add(Metric::ActionFailures, &[], 1.0);
            }
            None => {}
        }
        self.tools_in_flight();
    }

    pub(super) fn settled(&mut self, id: LaneId, t_ns: u64, e: &DecisionSettled) {
        let lane = self.lanes.lane(id);
        lane.memory_bytes = e.memory_bytes;
        self.registry.add(Metric::Decisions, &[], 1.0);
        self.registry.observe(Metric::DecisionDuration, &[], seconds(e.duration_ns));
        self.memory_bytes();
        self.progress(t_ns);
    }

    fn memory_bytes(&mut self) {
        let bytes = self.lanes.iter().filter_map(|l| l.memory_bytes).reduce(u64::saturating_add);
        self.registry.set_known(Metric::MemoryBytes, &[], bytes.map(|b| b as f64));
    }

    fn progress(&mut self, t_ns: u64) {
        if let Some(t_ms) = self.time_ms(t_ns) {
            self.registry.set(Metric::LastProgress, &[], t_ms as f64 / 1e3);
        }
    }

    pub(super) fn compressed(&mut self, e: &MemoryCompressed) {
        self.registry.add(Metric::Compressions, &[], 1.0);
        self.registry.add(Metric::CompressedTokens, &["before"], f64::from(e.before));
        self.registry.add(Metric::CompressedTokens, &["after"], f64::from(e.after));
        if e.after > 0 {
            self.registry.observe(Metric::CompressionRatio, &[], e.ratio);
        }
    }

    pub(super) fn episode_ended(&mut self, id: LaneId, t_ns: u64, e: &EpisodeEnded) {
        let lane = self.lanes.lane(id);
        (lane.context_tokens, lane.call) = (None, None);
        // Where it was told how much is remembered, it is nothing now.
        lane.memory_bytes = lane.memory_bytes.map(|_| 0);
        let began_ns = lane.episode_began_ns.take();
        let registry = &mut self.registry;
        registry.add(Metric::Episodes, &[e.verdict().word(), word(&e.ending).as_str()], 1.0);
        if e.verdict() != Verdict::Aborted {
            if let Some(began_ns) = began_ns {
                registry.observe(Metric::EpisodeDuration, &[], seconds(t_ns.saturating_sub(began_ns)));
            }
            let last = self.reward.final_weight * e.final_reward;
            registry.observe(Metric::EpisodeReturn, &[], e.episode_return);
            registry.observe(Metric::EpisodeLength, &[], f64::from(e.length));
            registry.observe(Metric::FinalReward, &[], e.final_reward);
            registry.observe(Metric::HybridReward, &[], e.hybrid);
            registry.observe(Metric::RewardPart, &["final"], last);
            registry.observe(Metric::RewardPart, &["step"], e.hybrid - last);
            if let Some(fidelity) = e.thought_fidelity {
                registry.observe(Metric::ThoughtFidelity, &[], fidelity);
            }
            self.per_success();
        }
        self.memory_bytes();
        self.tools_in_flight();
        self.episodes_running();
    }

    /// What a success has cost on average so far.
    fn per_success(&mut self) {
        let registry = &mut self.registry;
        let of = |ending: &str| registry.number(Metric::Episodes, &["success", ending]).unwrap_or_default();
        let successes = of("terminated") + of("truncated");
        if successes == 0.0 {
            return;
        }
        let tokens = registry.number(Metric::OutputTokens, &[]);
        registry.set_known(Metric::TokensPerSuccess, &[], tokens.map(|tokens| tokens / successes));
        registry.set_known(Metric::GpuSecondsPerSuccess, &[], self.machine.gpu_seconds().map(|held| held / successes));
    }

    pub(super) fn policy_state(&mut self, e: &PolicyStateChanged) {
        for other in POLICY_STATES {
            self.registry.set(Metric::PolicyStates, &[word(&other).as_str()], f64::from(u8::from(other == e.state)));
        }
        match e.state {
            PolicyState::Loading => {}
            // A scripted agent is ready at once: nothing was loaded.
            PolicyState::Ready if e.checkpoint.is_none() => {}
            PolicyState::Ready => {
                self.registry.observe(Metric::LoadDuration, &[], seconds(e.duration_ns));
                self.registry.set_known(Metric::Parameters, &[], e.parameters.map(|n| n as f64));
                self.registry.set_known(Metric::ContextLimit, &[], e.context_tokens_max.map(f64::from));
            }
            PolicyState::Failed => self.registry.add(Metric::LoadFailures, &[], 1.0),
        }
    }

    pub(super) fn checkpoint(&mut self, id: &CheckpointId, training_step: u64) {
        self.checkpoints.insert(id.clone(), training_step);
        self.staleness();
    }

    pub(super) fn swapped(&mut self, e: &CheckpointSwapped) {
        self.registry.add(Metric::Swaps, &[], 1.0);
        self.registry.renew(&[Metric::Serving]);
        self.registry.set(Metric::Serving, &[self.names.bounded("checkpoint", &e.to.0)], 1.0);
        self.registry.settle(&[Metric::Serving]);
        self.serving = Some(e.to.clone());
        self.staleness();
    }

    fn staleness(&mut self) {
        let serving = self.serving.as_ref().and_then(|id| self.checkpoints.get(id)).copied();
        let newest = self.checkpoints.values().max().copied();
        self.registry.set_known(Metric::ServingStep, &[], serving.map(|step| step as f64));
        self.registry.set_known(Metric::Staleness, &[], newest.zip(serving).map(|(newest, serving)| newest.saturating_sub(serving) as f64));
    }

    pub(super) fn update(&mut self, t_ns: u64, e: &UpdateCompleted) {
        let registry = &mut self.registry;
        registry.add(Metric::Updates, &[], 1.0);
        registry.set(Metric::UpdateNumber, &[], e.update as f64);
        registry.add(Metric::TrainingTokens, &[], e.tokens as f64);
        registry.observe(Metric::UpdateDuration, &[], seconds(e.duration_ns));
        let figures = [
            (Metric::PolicyLoss, e.policy_loss),
            (Metric::ValueLoss, e.value_loss),
            (Metric::TrainingEntropy, e.entropy),
            (Metric::ApproxKl, e.approx_kl),
            (Metric::ClipRatio, e.clip_fraction),
            (Metric::GradNorm, e.grad_norm),
            (Metric::ExplainedVariance, e.explained_variance),
            (Metric::LearningRate, e.learning_rate),
        ];
        figures.into_iter().for_each(|(metric, figure)| registry.set_known(metric, &[], figure));
        self.progress(t_ns);
    }

    pub(super) fn evaluation(&mut self, e: &EvaluationCompleted) {
        let (agent, level) = (self.names.bounded("agent", e.agent.as_str()), e.level.to_string());
        let of = [agent, level.as_str()];
        self.registry.add(Metric::Evaluations, &[], 1.0);
        self.registry.set(Metric::EvaluationEpisodes, &of, f64::from(e.episodes));
        self.registry.set(Metric::EvaluationSuccess, &of, e.success_ratio);
        self.registry.set(Metric::EvaluationLow, &of, e.success_low);
        self.registry.set(Metric::EvaluationHigh, &of, e.success_high);
        self.registry.set(Metric::EvaluationReturn, &of, e.return_mean);
    }
}

/// Whether a number of an observation tells of a queue.
fn queue_field(field: &ObservationField) -> Option<QueueField> {
    if field.name.ends_with("queue_length") {
        return Some(QueueField::Length);
    }
    if !field.name.ends_with("queue_oldest_age") {
        return None;
    }
    match field.unit {
        Unit::Seconds => Some(QueueField::Age(1)),
        Unit::Milliseconds => Some(QueueField::Age(1000)),
        Unit::PerSecond | Unit::Ratio | Unit::Count | Unit::Bytes | Unit::None => None,
    }
}
