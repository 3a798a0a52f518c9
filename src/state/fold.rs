//! The fold itself: one arm an event kind.

use super::{
    Alerting, BranchRow, BreakpointRow, CurrentEpisode, DashState, EpisodeRow, LogRow, Mark, MarkKind, MemoryRow, Outcome, Ring, Row,
    RowKind, SeriesPoint, Streaming, SwapRow, TokenTrace, ToolStats, Transcript,
};
use crate::event::{
    AlertState, BranchStarted, BreakpointHit, BreakpointSet, CheckpointId, Command, Envelope, EpisodeEnded, EpisodeEnding, EpisodeId,
    Event, HitOutcome, LaneId, LogLevel, MessageCompleted, Overriding, Phase, RecordedAction, RunState, SafeText, Seq, StepIndex,
    ToolCallFinished, TransitionRecorded, UpdateCompleted,
};
use serde::{Deserialize, Serialize};

/// What one lane shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneState {
    pub phase: Option<Phase>,
    pub episode: CurrentEpisode,
    pub transcript: Transcript,
    /// Decisions in which a breakpoint stopped the run, oldest first; those of a branch begin with its parent's.
    #[serde(default, skip_serializing_if = "Ring::is_empty")]
    pub stops: Ring<(EpisodeId, StepIndex), 256>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ApplyError {
    #[error("event {found} came after {after}: events between are missing; take a new snapshot")]
    Gap { after: Seq, found: Seq },
}

impl DashState {
    /// Folds one event in. Pure.
    pub fn apply(&mut self, envelope: &Envelope) -> Result<(), ApplyError> {
        let first = match &envelope.event {
            // A seal left out a range and put this in its place.
            Event::Elided(e) => e.from,
            _ => envelope.seq,
        };
        if first != self.seq.next() || first > envelope.seq {
            return Err(ApplyError::Gap { after: self.seq, found: envelope.seq });
        }
        self.seq = envelope.seq;
        self.t_ns = envelope.t_ns;
        self.fold(envelope);
        Ok(())
    }

    /// The lane's state, if it has begun.
    pub fn lane(&self, lane: LaneId) -> Option<&LaneState> {
        self.lanes.get(&lane)
    }

    /// Episodes by which the policy that serves is judged, newest first. What the operator cut short says nothing of it, and once
    /// checkpoints were swapped neither does what began with another one.
    pub fn judged(&self) -> impl Iterator<Item = &EpisodeRow> {
        let serving = self.serving.as_ref().filter(|_| self.has_swapped());
        let is_of_serving = move |e: &&EpisodeRow| serving.is_none() || e.checkpoint.as_ref() == serving;
        self.episodes.iter().rev().filter(|e| e.end.ending != EpisodeEnding::Aborted).filter(is_of_serving)
    }

    /// Whether another checkpoint served before.
    pub fn has_swapped(&self) -> bool {
        self.swaps.iter().any(|swap| swap.from.is_some())
    }

    /// How the episode of a lane parted from another one, if it did.
    pub fn branch_of(&self, lane: LaneId) -> Option<&BranchRow> {
        let episode = self.lane(lane)?.episode.episode;
        self.branches.iter().rev().find(|b| (b.lane, b.episode) == (lane, episode))
    }

    /// The checkpoint that decides in a lane whatever serves: that of its branch, or of the branch that it goes on from.
    pub fn own_checkpoint(&self, lane: LaneId) -> Option<&CheckpointId> {
        let mut row = self.branch_of(lane)?;
        // Of rows, each is looked at once at most, whatever a file says.
        for _ in 0..self.branches.len() {
            if row.started.with.checkpoint.is_some() {
                return row.started.with.checkpoint.as_ref();
            }
            let parent = (row.started.parent_lane, row.started.parent);
            row = self.branches.iter().rev().find(|b| (b.lane, b.episode) == parent)?;
        }
        None
    }

    /// Share of the newest `window` episodes of the policy that serves that succeeded; unset before the first has ended.
    pub fn success_ratio(&self, window: usize) -> Option<f64> {
        let newest: Vec<bool> = self.judged().take(window).map(|e| e.end.success).collect();
        (!newest.is_empty()).then(|| newest.iter().filter(|s| **s).count() as f64 / newest.len() as f64)
    }

    fn fold(&mut self, envelope: &Envelope) {
        self.waits.observe(envelope);
        match &envelope.event {
            Event::RunStarted(e) => {
                self.run = Some(e.clone());
                self.alerting.began(e);
            }
            Event::EpisodeStarted(e) => {
                let seed = e.seed;
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.episode = CurrentEpisode {
                    episode: envelope.episode.unwrap_or_default(),
                    seed,
                    level: e.level,
                    goal: e.goal.clone(),
                    fields: e.fields.clone(),
                    state_hash: e.state_hash,
                    checkpoint: e.checkpoint.clone(),
                    ..CurrentEpisode::default()
                };
                lane.transcript.streaming = None;
                lane.phase = None;
                lane.push(envelope, RowKind::EpisodeStart { seed: seed.0, level: e.level, goal: e.goal.clone() });
            }
            Event::BranchStarted(e) => self.branch(envelope, e),
            Event::PhaseEntered(e) => {
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.phase = Some(e.phase);
                if e.phase == Phase::Observe {
                    lane.episode.message = None;
                }
                if let Some(step) = envelope.step {
                    lane.episode.step = step;
                }
            }
            Event::ObservationReceived(e) => {
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.episode.values = e.observation.values.clone();
                lane.episode.step = envelope.step.unwrap_or_default();
                let (text, compact) = (e.observation.text.clone(), e.observation.compact.clone());
                lane.push(envelope, RowKind::Observation { text, compact });
            }
            Event::ThoughtDelta(e) => {
                let t_ns = self.t_ns;
                let lane = self.lanes.entry(envelope.lane).or_default();
                let streaming = lane.transcript.streaming.get_or_insert_with(|| Streaming { started_t_ns: t_ns, ..Streaming::default() });
                streaming.text.push(&e.text);
                streaming.tokens = streaming.tokens.saturating_add(e.tokens);
                streaming.last_t_ns = t_ns;
            }
            Event::MessageCompleted(e) => {
                self.tokens_total = self.tokens_total.saturating_add(e.token_ids.len() as u64);
                self.lanes.entry(envelope.lane).or_default().message(envelope, e);
            }
            Event::ToolCallStarted(e) => {
                let stats = self.tool_stats(&e.call.name);
                stats.calls_total = stats.calls_total.saturating_add(1);
                stats.in_flight = stats.in_flight.saturating_add(1);
                let kind = RowKind::Action { call: e.call.clone(), route: e.route, outcome: None, reward: None };
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.episode.message = None;
                lane.push(envelope, kind);
            }
            Event::ToolCallFinished(e) => self.tool_finished(envelope, e),
            Event::TransitionRecorded(e) => self.lanes.entry(envelope.lane).or_default().transition(envelope, e),
            Event::DecisionSettled(_) => self.decisions_total = self.decisions_total.saturating_add(1),
            Event::MemoryCompressed(e) => {
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.episode.compression_ratio_last = (e.after > 0).then_some(e.ratio);
                lane.episode.compressed_before = lane.episode.compressed_before.saturating_add(u64::from(e.before));
                lane.episode.compressed_after = lane.episode.compressed_after.saturating_add(u64::from(e.after));
                let step = envelope.step.unwrap_or_default();
                let summary = e.summary.clone();
                lane.episode.memories.push(MemoryRow { seq: envelope.seq, step, before: e.before, after: e.after, summary });
                lane.push(envelope, RowKind::Compressed { before: e.before, after: e.after, ratio: e.ratio });
            }
            Event::EpisodeEnded(e) => {
                self.episodes_total = self.episodes_total.saturating_add(1);
                self.successes_total = self.successes_total.saturating_add(u64::from(e.success));
                self.aborted_total = self.aborted_total.saturating_add(u64::from(e.ending == EpisodeEnding::Aborted));
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.episode.ended = Some(e.clone());
                lane.transcript.streaming = None;
                let row = EpisodeRow {
                    seq: envelope.seq,
                    t_ns: envelope.t_ns,
                    lane: envelope.lane,
                    episode: lane.episode.episode,
                    seed: lane.episode.seed,
                    checkpoint: lane.episode.checkpoint.clone(),
                    end: e.clone(),
                };
                let kind = RowKind::EpisodeEnd {
                    success: e.success,
                    episode_return: e.episode_return,
                    hybrid: e.hybrid,
                    final_reward: e.final_reward,
                    length: e.length,
                    truncated: e.ending == EpisodeEnding::Truncated,
                    aborted: e.ending == EpisodeEnding::Aborted,
                    truth: e.truth.clone(),
                };
                lane.push(envelope, kind);
                let is_it = |b: &BranchRow| (b.lane, b.episode) == (row.lane, row.episode);
                let at = self.branches.iter().rposition(is_it);
                if let Some(branch) = at.and_then(|at| self.branches.get_mut(at)) {
                    branch.end = Some(e.clone());
                }
                self.episodes.push(row);
                self.episode_curves(envelope, e);
            }
            Event::RunStateChanged(e) => {
                if e.state == RunState::Paused && self.run_state == RunState::Running {
                    self.mark(envelope, MarkKind::Paused);
                }
                self.run_state = e.state;
                match e.state {
                    RunState::Paused => {}
                    RunState::Starting | RunState::Running | RunState::Stepping | RunState::Ended => self.stopped_at = None,
                }
                self.run_state_reason = e.reason.clone();
            }
            Event::BreakpointSet(e) => self.breakpoint_set(e),
            Event::BreakpointHit(e) => self.breakpoint_hit(envelope, e),
            Event::BreakpointCleared(e) => drop(self.breakpoints.remove(&e.number)),
            Event::PaceChanged(e) => self.pace = Some(e.pace),
            Event::PolicyStateChanged(e) => {
                self.log(envelope, LogLevel::Info, "policy", format!("{:?}: {}", e.state, e.detail));
                self.policy = Some(e.clone());
            }
            Event::CheckpointListed(e) => {
                self.checkpoints.retain(|c| c.checkpoint != e.checkpoint);
                self.checkpoints.push(e.clone());
            }
            Event::CheckpointSaved(e) => self.log(envelope, LogLevel::Info, "checkpoint", format!("saved {}", e.checkpoint)),
            Event::CheckpointVerified(e) => {
                let level = if e.ok { LogLevel::Info } else { LogLevel::Error };
                self.log(envelope, level, "checkpoint", format!("{}: {}", e.checkpoint, e.detail));
            }
            Event::CheckpointSwapped(e) => {
                if let Some(from) = &e.from {
                    self.mark(envelope, MarkKind::Swapped);
                    for lane in self.lanes.values_mut() {
                        // The swap is no lane's event: its row stands where each lane is.
                        let (episode, step) = (lane.episode.episode, lane.episode.step);
                        let kind = RowKind::Swapped { from: from.clone(), to: e.to.clone() };
                        lane.transcript.push(Row { seq: envelope.seq, t_ns: envelope.t_ns, episode, step, kind });
                    }
                }
                self.swaps.push(SwapRow { seq: envelope.seq, t_ns: envelope.t_ns, from: e.from.clone(), to: e.to.clone() });
                self.serving = Some(e.to.clone());
                self.log(envelope, LogLevel::Info, "checkpoint", format!("{} serves", e.to));
            }
            Event::UpdateCompleted(e) => {
                let is_again = self.updates.last().is_some_and(|newest| e.update <= newest.update);
                self.updates.push(e.clone());
                self.update_curves(envelope, e, is_again);
            }
            Event::EvaluationCompleted(e) => self.evaluations.push(e.clone()),
            Event::TelemetrySampled(e) => {
                self.take_health(&e.gpu);
                self.telemetry = Some(e.clone());
                self.telemetry_history.push((envelope.t_ns, e.clone()));
            }
            Event::AlertStateChanged(e) => {
                if e.state == AlertState::Firing {
                    self.mark(envelope, MarkKind::Alert);
                }
                self.alerting.changed(envelope.t_ns, envelope.seq, e);
                self.alerts.push((envelope.t_ns, Alerting::bounded(e)));
            }
            Event::TargetScraped(e) => self.alerting.scraped(envelope.t_ns, e),
            Event::RulesLoaded(e) => {
                let (level, text) = match &e.error {
                    Some(error) => (LogLevel::Error, format!("{error}; the rules before stay in force")),
                    None => {
                        (LogLevel::Info, format!("{}: {} rules in force", e.file, e.groups.iter().map(|g| g.rules.len()).sum::<usize>()))
                    }
                };
                self.log(envelope, level, "rules", text);
                self.alerting.loaded(envelope.t_ns, e);
            }
            Event::RuleEvaluated(e) => self.alerting.evaluated(envelope.t_ns, e),
            Event::AlertNotified(e) => {
                let level = if e.ok { LogLevel::Debug } else { LogLevel::Warn };
                self.log(envelope, level, &e.receiver, e.outcome.to_string());
                self.alerting.notified(envelope.t_ns, e);
            }
            Event::SilenceSet(e) => self.alerting.silenced(envelope.t_ns, e),
            Event::SilenceEnded(e) => self.alerting.silence_ended(envelope.t_ns, e),
            Event::CommandAccepted(e) => {
                if let (Command::Reseed { seed }, Some(run)) = (&e.command, &mut self.run) {
                    run.seed = *seed;
                }
                if let Command::Override { lane, with } = &e.command {
                    self.overridden(envelope, *lane, with);
                }
                self.log(envelope, LogLevel::Debug, "command", e.command.to_string());
            }
            Event::CommandRejected(e) => {
                self.command_errors_total = self.command_errors_total.saturating_add(1);
                self.log(envelope, LogLevel::Warn, "command", format!("{}: refused: {}", e.command, e.reason));
            }
            Event::SinkFailed(e) => self.log(envelope, LogLevel::Error, &e.sink, e.reason.to_string()),
            Event::SamplesDropped(e) => {
                self.samples_dropped_total = self.samples_dropped_total.saturating_add(e.count);
                self.log(envelope, LogLevel::Warn, &e.sampler, format!("{} samples dropped", e.count));
            }
            Event::LogLine(e) => self.log(envelope, e.level, &e.target, e.text.to_string()),
            Event::Elided(_) => {}
            Event::Unknown { .. } => self.unknown_events_total = self.unknown_events_total.saturating_add(1),
        }
    }

    /// The episode that just began stands where its parent was before that step.
    fn branch(&mut self, envelope: &Envelope, e: &BranchStarted) {
        let episode = envelope.episode.unwrap_or_default();
        let of_parent = self.lanes.get(&e.parent_lane).into_iter().flat_map(|lane| lane.stops.iter());
        let before: Vec<StepIndex> = of_parent.filter(|(of, step)| *of == e.parent && *step < e.at_step).map(|(_, step)| *step).collect();
        let lane = self.lanes.entry(envelope.lane).or_default();
        before.into_iter().for_each(|step| lane.stops.push((episode, step)));
        lane.episode.step = StepIndex(e.at_step.0.saturating_sub(1));
        (lane.episode.reward_sum, lane.episode.discounted_sum) = (e.reward_sum, e.discounted_sum);
        lane.episode.state_hash = e.state_hash;
        if let Some(checkpoint) = &e.with.checkpoint {
            lane.episode.checkpoint = Some(checkpoint.clone());
        }
        lane.push(envelope, RowKind::Note { text: SafeText::from(e.to_string()) });
        let (seq, t_ns, started) = (envelope.seq, envelope.t_ns, e.clone());
        self.branches.push(BranchRow { seq, t_ns, lane: envelope.lane, episode, started, end: None });
        self.mark(envelope, MarkKind::Branched);
    }

    /// The operator's hand is seen where it was laid on.
    fn overridden(&mut self, envelope: &Envelope, lane: LaneId, with: &Overriding) {
        let Some(lane) = self.lanes.get_mut(&lane) else { return };
        let (episode, step) = (lane.episode.episode, lane.episode.step);
        let kind = RowKind::Note { text: SafeText::from(format!("operator: the decision does{with}")) };
        lane.transcript.push(Row { seq: envelope.seq, t_ns: envelope.t_ns, episode, step, kind });
    }

    fn breakpoint_set(&mut self, e: &BreakpointSet) {
        let row = self.breakpoints.entry(e.number);
        row.or_insert_with(|| BreakpointRow { breakpoint: e.breakpoint.clone(), hits: 0, last: None }).breakpoint = e.breakpoint.clone();
    }

    fn breakpoint_hit(&mut self, envelope: &Envelope, e: &BreakpointHit) {
        if let Some(row) = self.breakpoints.get_mut(&e.number) {
            (row.hits, row.last) = (e.hits, Some(e.at));
        }
        if e.outcome == HitOutcome::Paused {
            // Of several at one place the first is why it stands still.
            self.stopped_at.get_or_insert(e.number);
            if let Some(episode) = envelope.episode {
                let lane = self.lanes.entry(envelope.lane).or_default();
                lane.stops.push((episode, envelope.step.unwrap_or_default()));
                lane.push(envelope, RowKind::Note { text: SafeText::from(e.to_string()) });
            }
        }
        let level = if e.outcome == HitOutcome::Ignored { LogLevel::Debug } else { LogLevel::Info };
        self.log(envelope, level, "breakpoint", format!("{e} at {}", envelope.address()));
    }

    fn episode_curves(&mut self, envelope: &Envelope, e: &EpisodeEnded) {
        // What was cut short says nothing of the agent.
        if e.ending == EpisodeEnding::Aborted {
            return;
        }
        let (step, t_ns) = (self.episodes_total, envelope.t_ns);
        let curves = &mut self.curves;
        curves.episode_return.push(step, t_ns, e.episode_return);
        curves.hybrid.push(step, t_ns, e.hybrid);
        curves.success.push(step, t_ns, f64::from(u8::from(e.success)));
        curves.length.push(step, t_ns, f64::from(e.length));
    }

    /// `is_again` where an older checkpoint was taken up: the update takes the place of the one of its number and of those behind it.
    fn update_curves(&mut self, envelope: &Envelope, e: &UpdateCompleted, is_again: bool) {
        let curves = &mut self.curves;
        let figures = [
            (&mut curves.policy_loss, e.policy_loss),
            (&mut curves.value_loss, e.value_loss),
            (&mut curves.entropy, e.entropy),
            (&mut curves.approx_kl, e.approx_kl),
            (&mut curves.clip_fraction, e.clip_fraction),
            (&mut curves.grad_norm, e.grad_norm),
            (&mut curves.explained_variance, e.explained_variance),
            (&mut curves.learning_rate, e.learning_rate),
            (&mut curves.tokens, Some(e.tokens as f64)),
            (&mut curves.duration_ns, Some(e.duration_ns as f64)),
        ];
        for (series, value) in figures {
            if is_again {
                series.rewind(e.update);
            }
            if let Some(value) = value {
                series.push(e.update, envelope.t_ns, value);
            }
        }
    }

    fn tool_finished(&mut self, envelope: &Envelope, e: &ToolCallFinished) {
        let stats = self.tool_stats(&e.tool);
        stats.in_flight = stats.in_flight.saturating_sub(1);
        stats.durations_ns.push(e.duration_ns);
        if let Some(error_type) = e.error_type {
            stats.errors_total = stats.errors_total.saturating_add(1);
            stats.last_error = Some((error_type, e.result.clone()));
        }
        let lane = self.lanes.entry(envelope.lane).or_default();
        if e.error_type.is_some() {
            lane.episode.tool_errors = lane.episode.tool_errors.saturating_add(1);
        }
        let done = Outcome { result: e.result.clone(), error_type: e.error_type, duration_ns: e.duration_ns };
        lane.transcript.change_open(|kind| {
            let RowKind::Action { outcome, .. } = kind else { return false };
            *outcome = Some(done);
            true
        });
    }

    fn tool_stats(&mut self, name: &str) -> &mut ToolStats {
        let name = ToolStats::key(name);
        let has_row = self.tools.contains_key(&name) || self.tools.len() < ToolStats::TOOLS_MAX;
        self.tools.entry(if has_row { name } else { ToolStats::OTHERS.to_owned() }).or_default()
    }

    fn mark(&mut self, envelope: &Envelope, kind: MarkKind) {
        self.marks.push(Mark { seq: envelope.seq, t_ns: envelope.t_ns, episodes_total: self.episodes_total, kind });
    }

    fn log(&mut self, envelope: &Envelope, level: LogLevel, target: &str, text: String) {
        let (target, text) = (SafeText::new(target), SafeText::from(text));
        self.log.push(LogRow { seq: envelope.seq, t_ns: envelope.t_ns, level, target, text });
    }
}

impl LaneState {
    fn push(&mut self, envelope: &Envelope, kind: RowKind) {
        self.transcript.push(Row {
            seq: envelope.seq,
            t_ns: envelope.t_ns,
            episode: envelope.episode.unwrap_or_default(),
            step: envelope.step.unwrap_or_default(),
            kind,
        });
    }

    fn message(&mut self, envelope: &Envelope, e: &MessageCompleted) {
        self.transcript.streaming = None;
        self.episode.message = Some(e.text.clone());
        self.episode.prompt_tokens = (e.prompt_tokens > 0).then_some(e.prompt_tokens);
        self.episode.cached_tokens = self.episode.prompt_tokens.map(|_| e.cached_tokens);
        // An infinite mean is none that could be shown, and JSON has no number for it.
        let mean = |values: &[f32]| Some(values.iter().sum::<f32>() / values.len() as f32).filter(|mean| mean.is_finite());
        let kind = RowKind::Thought {
            text: e.thought.clone(),
            tokens: e.token_ids.len() as u32,
            duration_ns: e.duration_ns,
            logprob_mean: mean(&e.logprobs),
            entropy_mean: mean(&e.entropy),
            trace: TokenTrace::of(e).map(Box::new),
        };
        self.push(envelope, kind);
    }

    fn transition(&mut self, envelope: &Envelope, e: &TransitionRecorded) {
        let episode = &mut self.episode;
        episode.message = None;
        episode.reward_last = Some(e.reward);
        episode.reward_sum = e.reward_sum;
        episode.discounted_sum = e.discounted_sum;
        episode.state_hash = e.state_hash;
        let step = envelope.step.unwrap_or_default().0;
        episode.rewards.push(SeriesPoint { step, t_ns: envelope.t_ns, value: e.reward });
        match &e.action {
            // A call that was refused goes to the environment as words; its row is there already.
            RecordedAction::Text(text) => {
                if !self.reward_open_action(e.reward) {
                    self.push(envelope, RowKind::Text { text: text.clone() });
                }
            }
            RecordedAction::Tool(_) | RecordedAction::Outside { .. } => {
                self.reward_open_action(e.reward);
            }
        }
    }

    /// Gives the reward to the newest row of a decision if that is a call that has none yet.
    fn reward_open_action(&mut self, given: f64) -> bool {
        self.transcript.change_open(|kind| {
            let RowKind::Action { reward: reward @ None, .. } = kind else { return false };
            *reward = Some(given);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{
        CheckpointSwapped, Elided, EpisodeId, EpisodeStarted, ErrorType, Level, MemoryCompressed, PhaseEntered, Route, SamplesDropped,
        Seed, StepIndex, ThoughtDelta, ToolCall, ToolCallStarted,
    };

    fn say(state: &mut DashState, event: impl Into<Event>) {
        let (seq, step) = (state.seq.next(), Some(StepIndex(1)));
        let envelope = Envelope { seq, t_ns: 1, lane: LaneId(0), episode: None, step, event: event.into() };
        state.apply(&envelope).unwrap();
    }

    #[test]
    fn an_update_that_is_taken_again_stands_where_it_stood() {
        let mut state = DashState::default();
        let update = |update, policy_loss| UpdateCompleted { update, policy_loss, value_loss: Some(1.0), ..UpdateCompleted::default() };
        (1..=9).for_each(|n| say(&mut state, update(n, Some(n as f64))));
        // Training goes on from the checkpoint of update 4; its first update lacks a figure.
        say(&mut state, update(5, None));
        say(&mut state, update(6, Some(-6.0)));
        let steps = |series: &crate::state::Series| series.recent().iter().map(|s| (s.step, s.value)).collect::<Vec<_>>();
        assert_eq!(steps(&state.curves.policy_loss), [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0), (6, -6.0)]);
        assert_eq!(steps(&state.curves.value_loss), (1..=6).map(|n| (n, 1.0)).collect::<Vec<_>>());
        assert_eq!(state.curves.value_loss.total(), 6);
    }

    fn started(name: &str) -> ToolCallStarted {
        ToolCallStarted { call_id: 1, route: Route::Tool, call: ToolCall::new(name) }
    }

    fn finished(name: &str) -> ToolCallFinished {
        let error_type = Some(ErrorType::Refused);
        ToolCallFinished { call_id: 1, tool: SafeText::new(name), result: SafeText::new("no"), error_type, duration_ns: 3 }
    }

    #[test]
    fn a_hostile_name_is_counted_by_one_row() {
        let mut state = DashState::default();
        let name = "\u{1b}[2Jx".repeat(200);
        say(&mut state, started(&name));
        say(&mut state, finished(&name));
        let rows: Vec<_> = state.tools.values().map(|t| (t.calls_total, t.errors_total, t.in_flight)).collect();
        assert_eq!(rows, [(1, 1, 0)]);
    }

    #[test]
    fn all_that_was_compressed_is_counted_and_not_only_what_is_kept() {
        let mut state = DashState::default();
        for _ in 0..40 {
            say(&mut state, MemoryCompressed { before: 240, after: 30, ratio: 8.0, prompt_tokens: 99, summary: SafeText::default() });
        }
        let episode = &state.lanes[&LaneId(0)].episode;
        assert!(episode.memories.iter().count() < 40);
        assert_eq!((episode.memories.total(), episode.compressed_before, episode.compressed_after), (40, 9_600, 1_200));
    }

    #[test]
    fn a_memory_that_became_empty_has_no_ratio() {
        let mut state = DashState::default();
        for (after, ratio, shown) in [(30, 8.0, Some(8.0)), (0, 240.0, None)] {
            say(&mut state, MemoryCompressed { before: 240, after, ratio, prompt_tokens: 99, summary: SafeText::default() });
            assert_eq!(state.lanes[&LaneId(0)].episode.compression_ratio_last, shown);
        }
    }

    #[test]
    fn made_up_names_share_a_row() {
        let mut state = DashState::default();
        for i in 0..500 {
            say(&mut state, started(&format!("tool{i}")));
            say(&mut state, finished(&format!("tool{i}")));
        }
        assert_eq!(state.tools.len(), ToolStats::TOOLS_MAX + 1);
        let others = &state.tools[ToolStats::OTHERS];
        assert_eq!((others.calls_total, others.in_flight), (500 - ToolStats::TOOLS_MAX as u64, 0));
    }

    #[test]
    fn a_refused_call_is_one_row_with_its_reward() {
        let mut state = DashState::default();
        say(&mut state, started("scale"));
        say(&mut state, finished("scale"));
        let transition = |reward| TransitionRecorded {
            action: RecordedAction::Text(SafeText::new("scale()")),
            reward,
            terminated: false,
            truncated: false,
            value: None,
            state_hash: 1,
            reward_sum: reward,
            discounted_sum: reward,
        };
        say(&mut state, transition(0.25));
        let rows = &state.lanes[&LaneId(0)].transcript.rows;
        assert_eq!(rows.len(), 1);
        assert!(matches!(rows.last().map(|r| &r.kind), Some(RowKind::Action { reward: Some(r), .. }) if *r == 0.25));
        // Words without a call have a row of their own.
        say(&mut state, transition(0.5));
        assert_eq!(state.lanes[&LaneId(0)].transcript.rows.len(), 2);
    }

    fn swapped() -> CheckpointSwapped {
        CheckpointSwapped { from: Some("a".into()), to: "b".into(), sha256: "0".into() }
    }

    #[test]
    fn a_swap_in_a_step_stands_in_it_and_the_call_gets_its_result_and_its_reward() {
        let mut state = DashState::default();
        let mut say_at = |episode, step, event: Event| {
            let envelope = Envelope { seq: state.seq.next(), t_ns: 1, lane: LaneId(0), episode, step, event };
            state.apply(&envelope).unwrap();
        };
        let (episode, step) = (Some(EpisodeId(4)), Some(StepIndex(2)));
        let begun = EpisodeStarted {
            seed: Seed(1),
            level: Level::L0,
            goal: SafeText::new("g"),
            briefing: SafeText::default(),
            fields: Vec::new(),
            state_hash: 0,
            checkpoint: None,
        };
        say_at(episode, None, begun.into());
        say_at(episode, step, PhaseEntered { phase: Phase::Act }.into());
        say_at(episode, step, started("scale").into());
        say_at(None, None, swapped().into());
        say_at(episode, step, finished("scale").into());
        say_at(None, None, swapped().into());
        let transition = TransitionRecorded {
            action: RecordedAction::Tool(ToolCall::new("scale")),
            reward: 0.5,
            terminated: false,
            truncated: false,
            value: None,
            state_hash: 1,
            reward_sum: 0.5,
            discounted_sum: 0.5,
        };
        say_at(episode, step, transition.into());
        let rows = &state.lanes[&LaneId(0)].transcript.rows;
        let places: Vec<_> = rows.iter().skip(1).map(|r| (r.episode.0, r.step.0)).collect();
        assert_eq!(places, [(4, 2); 3], "all rows stand in the step");
        let call = rows.get(1).map(|r| &r.kind);
        assert!(matches!(call, Some(RowKind::Action { outcome: Some(_), reward: Some(r), .. }) if *r == 0.5), "{call:?}");
    }

    #[test]
    fn numbers_near_their_end_stay_there() {
        let mut state = DashState::default();
        for _ in 0..2 {
            say(&mut state, ThoughtDelta { text: SafeText::new("x"), tokens: u32::MAX - 1 });
            say(&mut state, SamplesDropped { sampler: SafeText::new("gpu"), count: u64::MAX - 1 });
        }
        assert_eq!(state.samples_dropped_total, u64::MAX);
        assert_eq!(state.lanes[&LaneId(0)].transcript.streaming.as_ref().map(|s| s.tokens), Some(u32::MAX));
    }

    #[test]
    fn a_range_that_was_left_out_is_passed_over_and_a_false_one_is_not() {
        let elided = |seq, from| Envelope {
            seq: Seq(seq),
            t_ns: 1,
            lane: LaneId(0),
            episode: None,
            step: None,
            event: Elided { from: Seq(from), upto: Seq(seq) }.into(),
        };
        let mut state = DashState::default();
        state.apply(&elided(9, 1)).unwrap();
        assert_eq!(state.seq, Seq(9));
        assert!(state.apply(&elided(12, 11)).is_err(), "10 is missing");
        assert!(state.apply(&elided(3, 10)).is_err(), "it would go back");
        state.apply(&elided(u64::MAX, 10)).unwrap();
        assert_eq!(state.seq.next(), Seq(u64::MAX));
    }
}
