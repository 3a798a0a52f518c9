//! The order in which events may come, lane by lane and for the run as a whole.

use crate::event::*;
use std::collections::{BTreeMap, BTreeSet};

/// What the last event of a lane was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Idle,
    Started,
    Observe,
    Observed,
    Think,
    Said,
    Act,
    Called,
    Answered,
    Settle,
    /// The transition, and whether the episode is over by it.
    Recorded(bool),
    Settled(bool),
}

struct LaneAt {
    at: At,
    episode: EpisodeId,
    step: StepIndex,
    deltas: String,
    call_ids: BTreeSet<u64>,
    call_id: u64,
}

/// Reads a run's events and complains of the first that is out of place.
pub struct Grammar {
    lanes: BTreeMap<LaneId, LaneAt>,
    seq: Seq,
    t_ns: u64,
    run: RunState,
    stepping: Option<LaneId>,
    asked: Option<LaneId>,
    answered: BTreeSet<CommandId>,
    streams: bool,
    /// The last command goes back or forks: episodes begin while the run holds.
    branching: bool,
}

impl Grammar {
    pub fn new(streams: bool) -> Self {
        Self {
            lanes: BTreeMap::new(),
            seq: Seq(0),
            t_ns: 0,
            run: RunState::Starting,
            stepping: None,
            asked: None,
            answered: BTreeSet::new(),
            streams,
            branching: false,
        }
    }

    pub fn check(&mut self, e: &Envelope) -> Result<(), String> {
        let checked = self.event(e);
        checked.map_err(|why| format!("event {} ({}, lane {}): {why}", e.seq, e.event.kind(), e.lane))
    }

    fn event(&mut self, e: &Envelope) -> Result<(), String> {
        ensure(e.seq == self.seq.next(), "seq is not dense")?;
        ensure(e.t_ns >= self.t_ns, "time runs back")?;
        ensure((e.seq == Seq(1)) == matches!(e.event, Event::RunStarted(_)), "RunStarted is the first event and no other")?;
        ensure(self.run != RunState::Ended, "the run has ended")?;
        (self.seq, self.t_ns) = (e.seq, e.t_ns);
        match &e.event {
            Event::RunStateChanged(changed) => self.run_state(changed),
            Event::CommandAccepted(accepted) => {
                if let Command::Step { lane, .. } = accepted.command {
                    self.asked = Some(lane);
                }
                self.branching = matches!(accepted.command, Command::Rewind { .. } | Command::Fork { .. });
                ensure(self.answered.insert(accepted.id), "a command is answered once")
            }
            Event::CommandRejected(rejected) => {
                ensure(!rejected.reason.is_empty(), "a rejection has a reason")?;
                let late = matches!(rejected.command, Command::Swap { .. });
                ensure(self.answered.insert(rejected.id) || late, "a command is answered once")
            }
            // It stands at the place of what it tells of.
            Event::BreakpointHit(hit) => ensure(hit.at < e.seq, "a hit comes behind its event"),
            _ if e.episode.is_some() => self.lane_event(e),
            _ => Ok(()),
        }
    }

    fn run_state(&mut self, changed: &RunStateChanged) -> Result<(), String> {
        self.run = changed.state;
        self.stepping = self.asked.filter(|_| changed.state == RunState::Stepping);
        ensure(!changed.reason.is_empty(), "a run state has a reason")?;
        let open = self.lanes.values().any(|l| l.at != At::Idle);
        ensure(changed.state != RunState::Ended || !open, "an episode is open at the end")
    }

    fn lane_event(&mut self, e: &Envelope) -> Result<(), String> {
        let aborted = matches!(&e.event, Event::EpisodeEnded(ended) if ended.ending == EpisodeEnding::Aborted);
        let mover = match self.run {
            RunState::Running => true,
            RunState::Stepping => self.stepping == Some(e.lane),
            // The last boundary of an episode comes after its `EpisodeEnded`, so nothing but an abort is told while it holds.
            RunState::Starting | RunState::Paused | RunState::Ended => false,
        };
        let begins = self.branching && matches!(&e.event, Event::EpisodeStarted(_) | Event::BranchStarted(_));
        ensure(mover || aborted || begins, "a lane moved that should hold")?;
        let fresh = LaneAt {
            at: At::Idle,
            episode: EpisodeId(0),
            step: StepIndex(0),
            deltas: String::new(),
            call_ids: BTreeSet::new(),
            call_id: 0,
        };
        let lane = self.lanes.entry(e.lane).or_insert(fresh);
        lane.event(e, self.streams)
    }
}

impl LaneAt {
    fn event(&mut self, e: &Envelope, streams: bool) -> Result<(), String> {
        let from = self.at;
        self.at = match (&e.event, from) {
            (Event::EpisodeStarted(_), At::Idle) => {
                (self.episode, self.step) = (self.episode.next(), StepIndex(0));
                At::Started
            }
            (Event::BranchStarted(branch), At::Started) => {
                self.step = StepIndex(branch.at_step.0 - 1);
                At::Started
            }
            (Event::PhaseEntered(PhaseEntered { phase: Phase::Observe }), At::Started | At::Settled(false)) => {
                self.step = self.step.next();
                At::Observe
            }
            (Event::ObservationReceived(_), At::Observe) => At::Observed,
            (Event::MemoryCompressed(c), At::Observed) => {
                ensure(c.before > c.after, "memory is smaller than what it replaces")?;
                At::Observed
            }
            (Event::PhaseEntered(PhaseEntered { phase: Phase::Think }), At::Observed) => {
                self.deltas.clear();
                At::Think
            }
            (Event::ThoughtDelta(delta), At::Think) => {
                ensure(streams, "deltas were not asked for")?;
                self.deltas.push_str(&delta.text);
                At::Think
            }
            (Event::MessageCompleted(message), At::Think) => {
                ensure(!streams || self.deltas == message.text.as_str(), "the deltas add up to the message")?;
                ensure(message.logprobs.len() == message.token_ids.len(), "one log-probability a token")?;
                At::Said
            }
            (Event::PhaseEntered(PhaseEntered { phase: Phase::Act }), At::Said) => At::Act,
            (Event::ToolCallStarted(call), At::Act) => {
                self.call_id = call.call_id;
                ensure(self.call_ids.insert(call.call_id), "a call's id is its own")?;
                At::Called
            }
            (Event::ToolCallFinished(call), At::Called) => {
                ensure(call.call_id == self.call_id, "the call that finished is the one that started")?;
                At::Answered
            }
            (Event::ToolCallFinished(call), At::Act) => {
                ensure(call.error_type == Some(ErrorType::Format), "only a message without a call finishes none")?;
                ensure(self.call_ids.insert(call.call_id), "a call's id is its own")?;
                At::Answered
            }
            (Event::PhaseEntered(PhaseEntered { phase: Phase::Settle }), At::Answered) => At::Settle,
            (Event::TransitionRecorded(t), At::Settle) => At::Recorded(t.terminated || t.truncated),
            (Event::DecisionSettled(_), At::Recorded(over)) => At::Settled(over),
            (Event::EpisodeEnded(ended), at) if at != At::Idle => {
                let whole = ended.ending != EpisodeEnding::Aborted;
                ensure(!whole || at == At::Settled(true), "an episode ends by its last transition")?;
                At::Idle
            }
            (_, at) => return Err(format!("it can't follow {at:?}")),
        };
        let whole_episode = matches!(e.event, Event::EpisodeStarted(_) | Event::BranchStarted(_) | Event::EpisodeEnded(_));
        ensure(e.episode == Some(self.episode), "it belongs to the lane's episode")?;
        ensure(e.step == (!whole_episode).then_some(self.step), "it belongs to the lane's step")
    }
}

fn ensure(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}
