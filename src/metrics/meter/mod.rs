//! The fold from events to series. It has no clock: the same events give the same series, live and from a recording.

mod agent;
mod alerts;
mod health;
mod lanes;
mod machine;
mod names;
mod targets;
#[cfg(test)]
mod tests;

use super::exposition::{Format, render};
use super::registry::Registry;
use super::table::Metric;
use super::{AppendError, Labels, METRIC_NAME, SeriesId, Store, stale};
use crate::event::*;
use alerts::AlertBook;
use lanes::Lanes;
use machine::Machine;
use names::Names;
use std::collections::BTreeMap;
use targets::Targets;

/// All series of a run, folded from its events.
#[derive(Debug)]
pub struct Meter {
    instance: String,
    job: String,
    registry: Registry,
    /// Milliseconds since 1970 at which the run began, once that is known.
    epoch_ms: Option<i64>,
    seq: Seq,
    t_ns: u64,
    run_state: RunState,
    reward: RewardFormula,
    lanes: Lanes,
    waits: Waits,
    /// How long the run has been paused so far.
    paused_ns: u64,
    names: Names,
    machine: Machine,
    alerts: AlertBook,
    targets: Targets,
    /// Training steps of the checkpoints that are known.
    checkpoints: BTreeMap<CheckpointId, u64>,
    serving: Option<CheckpointId>,
    /// The series `up` of this process itself.
    up: Option<SeriesId>,
}

impl Meter {
    /// In the store every series has these labels, as if Prometheus had scraped it.
    pub fn new(instance: &str, job: &str) -> Self {
        let mut registry = Registry::default();
        for metric in [Metric::Events, Metric::EventsMissed, Metric::Idle, Metric::LastEvent] {
            registry.begin(metric, &[]);
        }
        Self {
            instance: instance.into(),
            job: job.into(),
            registry,
            epoch_ms: None,
            seq: Seq(0),
            t_ns: 0,
            run_state: RunState::Starting,
            reward: RewardFormula::default(),
            lanes: Lanes::default(),
            waits: Waits::default(),
            paused_ns: 0,
            names: Names::default(),
            machine: Machine::default(),
            alerts: AlertBook::default(),
            targets: Targets::default(),
            checkpoints: BTreeMap::new(),
            serving: None,
            up: None,
        }
    }

    /// For an exposition alone: samples of other endpoints are not kept for a store.
    pub fn without_scrapes(mut self) -> Self {
        self.targets.keep = false;
        self
    }

    /// Says when the run began, where its first event is not there; milliseconds since 1970.
    pub fn begun_at(&mut self, epoch_ms: i64) {
        self.epoch_ms = Some(epoch_ms);
    }

    /// The time of an event in milliseconds since 1970; unset before it is known when the run began.
    pub fn time_ms(&self, t_ns: u64) -> Option<i64> {
        self.epoch_ms.map(|epoch| epoch.saturating_add(i64::try_from(t_ns / 1_000_000).unwrap_or(i64::MAX)))
    }

    /// Folds one event in. One that was folded in already changes nothing.
    pub fn observe(&mut self, envelope: &Envelope) {
        let first = match &envelope.event {
            Event::Elided(e) => e.from,
            _ => envelope.seq,
        };
        if envelope.seq <= self.seq {
            return;
        }
        let missed = first.0.saturating_sub(self.seq.0 + 1);
        self.registry.add(Metric::EventsMissed, &[], missed as f64);
        self.registry.set(Metric::Events, &[], envelope.seq.0 as f64);
        self.seq = envelope.seq;
        self.passes(envelope.t_ns);
        self.waits(envelope);
        self.fold(envelope);
        if let Some(t_ms) = self.time_ms(envelope.t_ns) {
            self.registry.set(Metric::LastEvent, &[], t_ms as f64 / 1e3);
        }
    }

    /// Time passes in the state that the run was in.
    fn passes(&mut self, t_ns: u64) {
        let passed_ns = t_ns.saturating_sub(self.t_ns);
        self.t_ns = self.t_ns.max(t_ns);
        if self.is_idle() {
            self.registry.add(Metric::Idle, &[], seconds(passed_ns));
        }
        if self.run_state == RunState::Paused {
            self.paused_ns += passed_ns;
        }
    }

    /// The run holds its machine and does not run.
    fn is_idle(&self) -> bool {
        match self.run_state {
            RunState::Starting | RunState::Paused | RunState::Ended => true,
            RunState::Running | RunState::Stepping => false,
        }
    }

    fn waits(&mut self, envelope: &Envelope) {
        self.waits.observe(envelope);
        for (on, lanes) in WaitOn::ALL.into_iter().zip(self.waits.lanes_by()) {
            self.registry.set(Metric::Time, &[on.name()], seconds(self.waits.total_ns(on)));
            self.registry.set(Metric::Waiting, &[on.name()], lanes as f64);
        }
    }

    fn fold(&mut self, envelope: &Envelope) {
        let (lane, t_ns) = (envelope.lane, envelope.t_ns);
        match &envelope.event {
            Event::RunStarted(e) => self.run_started(e),
            Event::EpisodeStarted(e) => self.episode_started(lane, t_ns, e),
            Event::BranchStarted(e) => self.registry.add(Metric::Branches, &[word(&e.cause).as_str()], 1.0),
            Event::PhaseEntered(e) => self.phase(lane, t_ns, e.phase),
            Event::ObservationReceived(e) => self.observation(lane, t_ns, e),
            Event::MessageCompleted(e) => self.message(lane, e),
            Event::ToolCallStarted(e) => self.tool_started(lane, t_ns, e),
            Event::ToolCallFinished(e) => self.tool_finished(lane, t_ns, e),
            Event::TransitionRecorded(e) => {
                self.registry.add(Metric::EnvSteps, &[], 1.0);
                self.registry.observe(Metric::StepReward, &[], e.reward);
                self.registry.set_known(Metric::ValueEstimate, &[], e.value);
            }
            Event::DecisionSettled(e) => self.settled(lane, t_ns, e),
            Event::MemoryCompressed(e) => self.compressed(e),
            Event::EpisodeEnded(e) => self.episode_ended(lane, t_ns, e),
            Event::RunStateChanged(e) => self.run_state_changed(e.state),
            Event::BreakpointSet(e) => self.alerts.breakpoint(&mut self.registry, e.number, true),
            Event::BreakpointCleared(e) => self.alerts.breakpoint(&mut self.registry, e.number, false),
            Event::BreakpointHit(e) => self.registry.add(Metric::BreakpointHits, &[word(&e.outcome).as_str()], 1.0),
            Event::PaceChanged(e) => self.pace(e.pace),
            Event::PolicyStateChanged(e) => self.policy_state(e),
            Event::CheckpointListed(e) => self.checkpoint(&e.checkpoint, e.training_step),
            Event::CheckpointSaved(e) => {
                self.registry.add(Metric::Saved, &[], 1.0);
                self.checkpoint(&e.checkpoint, e.training_step);
            }
            Event::CheckpointVerified(e) => self.registry.add(Metric::Verified, &[outcome(e.ok)], 1.0),
            Event::CheckpointSwapped(e) => self.swapped(e),
            Event::UpdateCompleted(e) => self.update(t_ns, e),
            Event::EvaluationCompleted(e) => self.evaluation(e),
            Event::TelemetrySampled(e) => {
                let is_idle = self.is_idle();
                self.machine.sample(&mut self.registry, &mut self.names, t_ns, is_idle, e);
            }
            Event::TargetScraped(e) => {
                let at_ms = self.time_ms(t_ns);
                self.targets.scraped(&mut self.registry, &mut self.names, at_ms, e);
            }
            Event::RulesLoaded(e) => self.alerts.rules_loaded(&mut self.registry, e),
            Event::RuleEvaluated(e) => self.alerts.rule_evaluated(&mut self.registry, &mut self.names, e),
            Event::AlertStateChanged(e) => self.alerts.alert(&mut self.registry, e),
            Event::AlertNotified(e) => {
                let receiver = self.names.bounded("receiver", e.receiver.as_str());
                self.registry.add(Metric::Notifications, &[receiver, outcome(e.ok)], 1.0);
                self.registry.observe(Metric::NotificationDuration, &[receiver], seconds(e.duration_ns));
            }
            Event::SilenceSet(e) => self.alerts.silence(&mut self.registry, &e.id, true),
            Event::SilenceEnded(e) => self.alerts.silence(&mut self.registry, &e.id, false),
            Event::CommandAccepted(e) => self.registry.add(Metric::Commands, &[alerts::name_of(&e.command), "accepted"], 1.0),
            Event::CommandRejected(e) => self.registry.add(Metric::Commands, &[alerts::name_of(&e.command), "rejected"], 1.0),
            Event::SinkFailed(e) => self.registry.add(Metric::SinkFailures, &[self.names.bounded("sink", e.sink.as_str())], 1.0),
            Event::SamplesDropped(e) => {
                self.registry.add(Metric::SamplesDropped, &[self.names.bounded("sampler", e.sampler.as_str())], e.count as f64);
            }
            Event::LogLine(e) => self.registry.add(Metric::LogLines, &[word(&e.level).as_str()], 1.0),
            // Pieces are not in every recording; the whole message has all that is in them.
            Event::ThoughtDelta(_) | Event::Elided(_) | Event::Unknown { .. } => {}
        }
    }

    /// Writes all series at that time, as a scrape would; what went since the last time gets a stale marker. Always into the same store.
    pub fn collect(&mut self, store: &mut Store, at_ms: i64) {
        self.targets.write(store);
        let own = [("instance", self.instance.as_str()), ("job", self.job.as_str())];
        let mut write = |id: &mut Option<SeriesId>, labels: &dyn Fn() -> Labels, value: f64| {
            let refused = id.map_or(Err(AppendError::Gone), |id| store.append_at(id, at_ms, value));
            // A refusal for order or for want of room is counted by the store.
            if refused == Err(AppendError::Gone) {
                *id = store.id(&labels()).ok();
                if let Some(id) = *id {
                    let _ = store.append_at(id, at_ms, value);
                }
            }
        };
        write(&mut self.up, &|| Labels::from_pairs([(METRIC_NAME, "up")].into_iter().chain(own)), 1.0);
        for (family, children) in self.registry.children_mut() {
            for child in children {
                let mut ids = std::mem::take(&mut child.ids);
                let mut kept = Vec::with_capacity(ids.len().max(1));
                let mut next = ids.drain(..);
                child.series(family, |ending, le, value| {
                    let mut id = next.next();
                    write(&mut id, &|| child.labels(family, ending, le, &own), value);
                    // Without an id the next ones would be taken for this one.
                    kept.push(id);
                });
                drop(next);
                child.ids = if kept.iter().all(Option::is_some) { kept.into_iter().flatten().collect() } else { Vec::new() };
            }
        }
        for id in self.registry.ended.drain(..) {
            // Refused where the series came back meanwhile and has its value of now.
            let _ = store.append_at(id, at_ms, stale());
        }
    }

    /// All series of this process as Prometheus reads them.
    pub fn exposition(&self, format: Format) -> String {
        render(&self.registry, format)
    }
}

pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn outcome(ok: bool) -> &'static str {
    if ok { "ok" } else { "failed" }
}

/// The word by which a recording has this value of an enum without fields.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => "other".into(),
    }
}
