//! Who the run waits for: a pure fold from events to seconds, for the screen as for the series `pilothouse_time_seconds_total{on}`.

use super::{Envelope, Event, LaneId, Phase, PolicyState, RunState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Lanes that are followed; of more than that nothing is told.
const LANES_MAX: usize = 1_024;

/// Whom a lane can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitOn {
    /// It decodes a message.
    Policy,
    /// It resets, observes, or settles what was done.
    Environment,
    /// A call is in flight.
    Tool,
    Training,
    /// Weights are loaded, and nothing can be decided before.
    WeightUpdate,
    /// The run is paused, or kept to a pace.
    Operator,
}

impl WaitOn {
    pub const ALL: [WaitOn; 6] =
        [WaitOn::Policy, WaitOn::Environment, WaitOn::Tool, WaitOn::Training, WaitOn::WeightUpdate, WaitOn::Operator];

    /// The value of the label `on`.
    pub fn name(self) -> &'static str {
        match self {
            WaitOn::Policy => "policy",
            WaitOn::Environment => "environment",
            WaitOn::Tool => "tool",
            WaitOn::Training => "training",
            WaitOn::WeightUpdate => "weight_update",
            WaitOn::Operator => "operator",
        }
    }

    fn place(self) -> usize {
        match self {
            WaitOn::Policy => 0,
            WaitOn::Environment => 1,
            WaitOn::Tool => 2,
            WaitOn::Training => 3,
            WaitOn::WeightUpdate => 4,
            WaitOn::Operator => 5,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    on: WaitOn,
    since_t_ns: u64,
}

/// Times are lane-seconds: two lanes that wait for one second wait two. A wait counts when it is over, so that no total ever falls;
/// whom lanes wait for right now is told beside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    totals_ns: [u64; 6],
    lanes: BTreeMap<LaneId, Waiting>,
    is_paused: bool,
    /// A lane has begun: what is loaded from then on is loaded beside it.
    has_begun: bool,
}

impl Waits {
    /// Of the waits that are over.
    pub fn total_ns(&self, on: WaitOn) -> u64 {
        self.totals_ns[on.place()]
    }

    /// Lanes that wait for it now.
    pub fn lanes_on(&self, on: WaitOn) -> usize {
        self.lanes_by()[on.place()]
    }

    /// The same for each of `WaitOn::ALL`.
    pub fn lanes_by(&self) -> [usize; 6] {
        let mut lanes = [0; 6];
        for waiting in self.lanes.values() {
            let on = if self.is_paused { WaitOn::Operator } else { waiting.on };
            lanes[on.place()] += 1;
        }
        lanes
    }

    /// When the oldest wait for it that lasts began.
    pub fn since_t_ns(&self, on: WaitOn) -> Option<u64> {
        let is_it = |w: &&Waiting| if self.is_paused { on == WaitOn::Operator } else { w.on == on };
        self.lanes.values().filter(is_it).map(|w| w.since_t_ns).min()
    }

    pub fn observe(&mut self, envelope: &Envelope) {
        let (t_ns, lane) = (envelope.t_ns, envelope.lane);
        match &envelope.event {
            Event::EpisodeStarted(_) => self.turn(lane, t_ns, WaitOn::Environment),
            Event::PhaseEntered(e) => self.turn(
                lane,
                t_ns,
                match e.phase {
                    Phase::Observe | Phase::Settle => WaitOn::Environment,
                    Phase::Think => WaitOn::Policy,
                    Phase::Act => WaitOn::Tool,
                },
            ),
            // The message tells how long it took by itself: what is over that is pace.
            Event::MessageCompleted(e) => self.turn_within(lane, t_ns, e.duration_ns, WaitOn::Tool),
            Event::ToolCallStarted(_) => self.turn(lane, t_ns, WaitOn::Tool),
            Event::ToolCallFinished(e) => self.turn_within(lane, t_ns, e.duration_ns, WaitOn::Environment),
            // Until the next one begins the lane is held by its pace.
            Event::DecisionSettled(_) => self.turn(lane, t_ns, WaitOn::Operator),
            Event::EpisodeEnded(_) => {
                self.close(lane, t_ns);
                self.lanes.remove(&lane);
            }
            Event::RunStateChanged(e) => self.run(e.state, t_ns),
            Event::PolicyStateChanged(e) => {
                if e.state != PolicyState::Loading && !self.has_begun {
                    self.add(WaitOn::WeightUpdate, e.duration_ns);
                }
            }
            Event::UpdateCompleted(e) => self.add(WaitOn::Training, e.duration_ns),
            Event::RunStarted(_)
            | Event::BranchStarted(_)
            | Event::ObservationReceived(_)
            | Event::ThoughtDelta(_)
            | Event::TransitionRecorded(_)
            | Event::MemoryCompressed(_)
            | Event::BreakpointSet(_)
            | Event::BreakpointHit(_)
            | Event::BreakpointCleared(_)
            | Event::PaceChanged(_)
            | Event::CheckpointListed(_)
            | Event::CheckpointSaved(_)
            | Event::CheckpointVerified(_)
            | Event::CheckpointSwapped(_)
            | Event::EvaluationCompleted(_)
            | Event::TelemetrySampled(_)
            | Event::TargetScraped(_)
            | Event::RulesLoaded(_)
            | Event::RuleEvaluated(_)
            | Event::AlertStateChanged(_)
            | Event::AlertNotified(_)
            | Event::SilenceSet(_)
            | Event::SilenceEnded(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::SinkFailed(_)
            | Event::SamplesDropped(_)
            | Event::LogLine(_)
            | Event::Elided(_)
            | Event::Unknown { .. } => {}
        }
    }

    fn add(&mut self, on: WaitOn, ns: u64) {
        let total = &mut self.totals_ns[on.place()];
        *total = total.saturating_add(ns);
    }

    /// Ends a lane's wait.
    fn close(&mut self, lane: LaneId, t_ns: u64) {
        if let Some(waiting) = self.lanes.get_mut(&lane) {
            let ns = t_ns.saturating_sub(waiting.since_t_ns);
            waiting.since_t_ns = t_ns;
            let on = if self.is_paused { WaitOn::Operator } else { waiting.on };
            self.add(on, ns);
        }
    }

    fn turn(&mut self, lane: LaneId, t_ns: u64, on: WaitOn) {
        self.close(lane, t_ns);
        self.has_begun = true;
        if self.lanes.len() < LANES_MAX || self.lanes.contains_key(&lane) {
            self.lanes.insert(lane, Waiting { on, since_t_ns: t_ns });
        }
    }

    /// The wait that ends took so long; what it lasted longer was the operator's.
    fn turn_within(&mut self, lane: LaneId, t_ns: u64, took_ns: u64, next: WaitOn) {
        if let Some(waiting) = self.lanes.get(&lane).copied().filter(|_| !self.is_paused) {
            let lasted = t_ns.saturating_sub(waiting.since_t_ns);
            let own = lasted.min(took_ns);
            self.add(waiting.on, own);
            self.add(WaitOn::Operator, lasted - own);
            self.lanes.insert(lane, Waiting { on: next, since_t_ns: t_ns });
        } else {
            self.turn(lane, t_ns, next);
        }
    }

    fn run(&mut self, state: RunState, t_ns: u64) {
        for lane in self.lanes.keys().copied().collect::<Vec<_>>() {
            self.close(lane, t_ns);
        }
        self.is_paused = state == RunState::Paused;
        if state == RunState::Ended {
            self.lanes.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{DecisionSettled, PhaseEntered, RunStateChanged, Seq, ToolCallFinished, UpdateCompleted};

    fn at(waits: &mut Waits, lane: u32, seconds: u64, event: impl Into<Event>) {
        let (episode, step) = (None, None);
        waits.observe(&Envelope { seq: Seq(1), t_ns: seconds * 1_000_000_000, lane: LaneId(lane), episode, step, event: event.into() });
    }

    fn phase(phase: Phase) -> PhaseEntered {
        PhaseEntered { phase }
    }

    fn state(state: RunState) -> RunStateChanged {
        RunStateChanged { state, reason: "".into() }
    }

    fn seconds(waits: &Waits) -> [u64; 6] {
        WaitOn::ALL.map(|on| waits.total_ns(on) / 1_000_000_000)
    }

    #[test]
    fn each_second_of_a_lane_has_one_that_it_was_waited_for() {
        let mut waits = Waits::default();
        at(&mut waits, 0, 0, phase(Phase::Observe));
        at(&mut waits, 0, 1, phase(Phase::Think));
        // Three seconds of thought, of which the operator stood still for two.
        at(&mut waits, 0, 2, state(RunState::Paused));
        assert_eq!((waits.lanes_on(WaitOn::Operator), waits.lanes_on(WaitOn::Policy)), (1, 0));
        at(&mut waits, 0, 4, state(RunState::Running));
        assert_eq!((waits.lanes_on(WaitOn::Policy), waits.since_t_ns(WaitOn::Policy)), (1, Some(4_000_000_000)));
        at(&mut waits, 0, 5, phase(Phase::Act));
        let finished = ToolCallFinished { call_id: 1, tool: "t".into(), result: "".into(), error_type: None, duration_ns: 2_000_000_000 };
        // The call took two of the five seconds: the rest was pace.
        at(&mut waits, 0, 10, finished);
        at(&mut waits, 0, 11, DecisionSettled { duration_ns: 1, memory_bytes: None });
        at(&mut waits, 0, 14, phase(Phase::Observe));
        assert_eq!(seconds(&waits), [2, 2, 2, 0, 0, 2 + 3 + 3]);
        assert_eq!(seconds(&waits).iter().sum::<u64>(), 14);
    }

    #[test]
    fn lanes_add_up_and_training_tells_its_own_time() {
        let mut waits = Waits::default();
        for lane in 0..2 {
            at(&mut waits, lane, 0, phase(Phase::Think));
        }
        assert_eq!(waits.lanes_on(WaitOn::Policy), 2);
        at(&mut waits, 0, 3, state(RunState::Ended));
        at(&mut waits, 0, 9, UpdateCompleted { duration_ns: 4_000_000_000, ..UpdateCompleted::default() });
        assert_eq!((seconds(&waits), waits.lanes_on(WaitOn::Policy)), ([6, 0, 0, 4, 0, 0], 0));
    }
}
