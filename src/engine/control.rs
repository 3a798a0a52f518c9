//! What the operator may do: run state, stepping, pace, and which commands make sense when.

use super::lane::Boundary;
use crate::event::{Command, CommandId, LaneId, Pace, RunState, StepUnit};
use std::collections::VecDeque;

/// A step that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepping {
    pub lane: LaneId,
    pub unit: StepUnit,
    pub left: u32,
}

/// Steps of one command at most.
pub const STEP_COUNT_MAX: u32 = 1_000_000;
/// Ids that are remembered so that the same command does nothing twice.
const IDS_MAX: usize = 1024;

pub struct Control {
    pub state: RunState,
    pub stepping: Option<Stepping>,
    pub pace: Pace,
    seen: VecDeque<CommandId>,
}

impl Control {
    pub fn new(pace: Pace) -> Self {
        Self { state: RunState::Starting, stepping: None, pace, seen: VecDeque::new() }
    }

    /// Whether this id is new; remembers it.
    pub fn is_new(&mut self, id: CommandId) -> bool {
        if self.seen.contains(&id) {
            return false;
        }
        if self.seen.len() == IDS_MAX {
            self.seen.pop_front();
        }
        self.seen.push_back(id);
        true
    }

    /// Whether `lane` may move.
    pub fn runs(&self, lane: LaneId) -> bool {
        match self.state {
            RunState::Running => true,
            RunState::Stepping => self.stepping.is_some_and(|s| s.lane == lane),
            RunState::Starting | RunState::Paused | RunState::Ended => false,
        }
    }

    /// Why a command makes no sense now, and what does; `None` when it does.
    pub fn objection(&self, command: &Command, lanes: u32) -> Option<String> {
        match command {
            Command::Pause if self.state == RunState::Paused => Some("the run is paused already; resume or step it".into()),
            Command::Resume if self.state == RunState::Running => Some("the run goes on already; pause it first".into()),
            Command::Step { lane, .. } if lane.0 >= lanes => {
                Some(format!("there is no lane {lane}; there are 0 to {}", lanes.saturating_sub(1)))
            }
            Command::Rewind { lane, .. } | Command::Fork { lane, .. } | Command::Override { lane, .. } if lane.0 >= lanes => {
                Some(format!("there is no lane {lane}; there are 0 to {}", lanes.saturating_sub(1)))
            }
            Command::Step { count, .. } if *count == 0 || *count > STEP_COUNT_MAX => {
                Some(format!("a step takes 1 to {STEP_COUNT_MAX} units"))
            }
            Command::SetPace(Pace::Times(times)) if !(times.is_finite() && *times > 0.0) => {
                Some("a pace is a positive factor, or max".into())
            }
            Command::Pause
            | Command::Resume
            | Command::Step { .. }
            | Command::SetPace(_)
            | Command::Swap { .. }
            | Command::Rewind { .. }
            | Command::Fork { .. }
            | Command::Override { .. }
            | Command::Break { .. }
            | Command::Unbreak { .. }
            | Command::Silence(_)
            | Command::Unsilence { .. }
            | Command::Reseed { .. }
            | Command::Shutdown => None,
        }
    }

    /// Counts a boundary of `lane`; true when the step is complete.
    pub fn passed(&mut self, lane: LaneId, boundary: Boundary) -> bool {
        let Some(stepping) = self.stepping.as_mut().filter(|s| s.lane == lane) else { return false };
        let counts = match stepping.unit {
            StepUnit::Token => boundary == Boundary::Token,
            // The larger boundaries end a phase too.
            StepUnit::Phase => matches!(boundary, Boundary::Phase | Boundary::Decision | Boundary::Episode),
            StepUnit::Decision => matches!(boundary, Boundary::Decision | Boundary::Episode),
            StepUnit::Episode => boundary == Boundary::Episode,
        };
        stepping.left -= u32::from(counts);
        if stepping.left > 0 {
            return false;
        }
        self.stepping = None;
        true
    }

    /// How long a lane rests after a boundary at the present pace: at 1.0 a decision of about 25 tokens takes a second.
    pub fn rest_ns(&self, boundary: Boundary) -> u64 {
        let times = match self.pace {
            Pace::Max => return 0,
            // A step under way does not make the operator wait.
            Pace::Times(_) if self.state == RunState::Stepping => return 0,
            Pace::Times(times) => times,
        };
        let milliseconds = match boundary {
            Boundary::None => 0.0,
            Boundary::Token => 25.0,
            Boundary::Phase => 60.0,
            Boundary::Decision => 200.0,
            Boundary::Episode => 1_500.0,
        };
        (milliseconds * 1e6 / times) as u64
    }
}
