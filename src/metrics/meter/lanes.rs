//! What each lane does and waits for.

use super::seconds;
use crate::event::{LaneId, Pace, Phase, RunState};
use crate::metrics::registry::Registry;
use crate::metrics::table::Metric;
use std::collections::BTreeMap;

/// Whom a lane waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Policy,
    Environment,
    Tool,
    Training,
    WeightUpdate,
    Operator,
}

impl On {
    pub const ALL: [On; 6] = [On::Policy, On::Environment, On::Tool, On::Training, On::WeightUpdate, On::Operator];

    pub fn word(self) -> &'static str {
        match self {
            On::Policy => "policy",
            On::Environment => "environment",
            On::Tool => "tool",
            On::Training => "training",
            On::WeightUpdate => "weight_update",
            On::Operator => "operator",
        }
    }
}

/// Where a lane stands between two of its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stand {
    /// No episode runs. Whether the next one is being made is known when it has begun.
    #[default]
    Between,
    Works(On),
    /// Between two phases.
    Held,
}

#[derive(Debug, Default)]
pub(super) struct Lane {
    stand: Stand,
    since_ns: u64,
    /// How long it has been between episodes while the run ran.
    between_ns: u64,
    /// How long it stood paused since its observation.
    paused_ns: u64,
    pub observed_ns: Option<u64>,
    /// Number of the call under way, and when it began.
    pub call: Option<(u64, u64)>,
    pub episode_began_ns: Option<u64>,
    pub context_tokens: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub queue_length: Option<f64>,
    pub queue_age_seconds: Option<f64>,
    /// Places of these two in the observation.
    pub queue_fields: Vec<(usize, QueueField)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueField {
    Length,
    /// With what makes seconds of it.
    Age(u32),
}

/// All lanes, and what holds them all.
#[derive(Debug)]
pub(super) struct Lanes {
    pub all: BTreeMap<LaneId, Lane>,
    run_state: RunState,
    pace: Pace,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { all: BTreeMap::new(), run_state: RunState::Starting, pace: Pace::Max }
    }
}

/// Lanes that are looked at; a file may name any number.
const LANES_MAX: usize = 4096;

impl Lanes {
    /// The lane; one beyond all bounds shares its place with the last.
    pub fn lane(&mut self, id: LaneId) -> &mut Lane {
        let is_full = self.all.len() >= LANES_MAX && !self.all.contains_key(&id);
        let id = if is_full { LaneId(u32::MAX) } else { id };
        self.all.entry(id).or_default()
    }

    pub fn run_state(&mut self, registry: &mut Registry, t_ns: u64, state: RunState) {
        self.all_pass(registry, t_ns);
        self.run_state = state;
    }

    pub fn pace(&mut self, registry: &mut Registry, t_ns: u64, pace: Pace) {
        self.all_pass(registry, t_ns);
        self.pace = pace;
    }

    pub fn all_pass(&mut self, registry: &mut Registry, t_ns: u64) {
        let (state, pace) = (self.run_state, self.pace);
        for lane in self.all.values_mut() {
            lane.pass(registry, t_ns, state, pace);
        }
    }

    /// The lane's time up to now counts for what it stood in, and from here on for `stand`.
    pub fn turn(&mut self, registry: &mut Registry, id: LaneId, t_ns: u64, stand: Stand) -> &mut Lane {
        let (state, pace) = (self.run_state, self.pace);
        let lane = self.lane(id);
        lane.pass(registry, t_ns, state, pace);
        lane.stand = stand;
        lane
    }

    /// As `turn`, but the last `own_ns` of it count for `on`.
    pub fn turn_with(&mut self, registry: &mut Registry, id: LaneId, t_ns: u64, (on, own_ns): (On, u64), stand: Stand) -> &mut Lane {
        let begin_ns = self.lane(id).since_ns;
        self.turn(registry, id, t_ns.saturating_sub(own_ns).max(begin_ns), Stand::Works(on));
        self.turn(registry, id, t_ns, stand)
    }

    /// The time up to now was spent by somebody else, and is counted there.
    pub fn skip(&mut self, t_ns: u64) {
        self.all.values_mut().for_each(|lane| lane.since_ns = t_ns);
    }
}

impl Lane {
    fn pass(&mut self, registry: &mut Registry, t_ns: u64, state: RunState, pace: Pace) {
        let passed_ns = t_ns.saturating_sub(self.since_ns);
        self.since_ns = self.since_ns.max(t_ns);
        let on = match (state, self.stand) {
            (RunState::Ended, _) => return,
            (RunState::Starting, _) => On::WeightUpdate,
            (RunState::Paused, _) => {
                self.paused_ns += passed_ns;
                On::Operator
            }
            (RunState::Running | RunState::Stepping, Stand::Between) => {
                self.between_ns += passed_ns;
                return;
            }
            (RunState::Running | RunState::Stepping, Stand::Works(on)) => on,
            (RunState::Stepping, Stand::Held) => On::Operator,
            // At full speed a lane between two phases waits for the turns of the others, which the policy's batches make long.
            (RunState::Running, Stand::Held) => {
                if pace == Pace::Max {
                    On::Policy
                } else {
                    On::Operator
                }
            }
        };
        registry.add(Metric::Time, &[on.word()], seconds(passed_ns));
    }

    /// An episode has begun: what came before it was the environment's.
    pub fn begins(&mut self, registry: &mut Registry) {
        registry.add(Metric::Time, &[On::Environment.word()], seconds(std::mem::take(&mut self.between_ns)));
    }

    pub fn observes(&mut self, t_ns: u64) {
        (self.observed_ns, self.paused_ns) = (Some(t_ns), 0);
    }

    /// How long the observation waited for its message to be opened.
    pub fn queued_ns(&mut self, t_ns: u64) -> Option<u64> {
        self.observed_ns.take().map(|observed| t_ns.saturating_sub(observed).saturating_sub(self.paused_ns))
    }
}

/// What a lane does in a phase.
pub(super) fn stand_of(phase: Phase) -> Stand {
    Stand::Works(match phase {
        Phase::Observe | Phase::Settle => On::Environment,
        Phase::Think => On::Policy,
        Phase::Act => On::Tool,
    })
}
