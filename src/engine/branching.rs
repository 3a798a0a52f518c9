//! Going back, branches beside their parents, and decisions that the operator makes otherwise.

use super::crank::{Engine, Slot, Wanted};
use super::lane::{Lane, Stand};
use super::provider::{Load, LoadedPolicy};
use super::settings::AgentKind;
use crate::agent::Policy;
use crate::event::*;
use crate::tool::{Routed, Router};

/// Lanes of a run at most, branches included.
const LANES_MAX: usize = 64;

impl Engine {
    /// Places a policy beside those that are there; gives its number.
    pub(super) fn add_slot(&mut self, policy: Box<dyn Policy>, checkpoint: CheckpointId) -> u64 {
        self.slots_total += 1;
        self.slots.push(Slot { number: self.slots_total, policy, checkpoint });
        self.slots_total
    }

    pub(super) fn slot_serving(&self) -> Option<&Slot> {
        self.slots.iter().find(|s| Some(s.number) == self.serving)
    }

    /// Where the policy stands that decides for a lane: its own, or the one that serves.
    pub(super) fn slot_of(&self, index: usize) -> Option<usize> {
        let pinned = self.lanes[index].pinned.as_ref();
        self.slots.iter().position(|s| pinned.map_or(Some(s.number) == self.serving, |id| s.checkpoint == *id))
    }

    /// The lane goes back and the run pauses there, so that something can be changed before it goes on.
    pub(super) fn rewind(&mut self, lane: LaneId, at: StepIndex) {
        let index = lane.0 as usize;
        // It was looked at whether there is such a point.
        let Ok(point) = self.lanes[index].past.point(None, at) else { return };
        self.slots.iter_mut().for_each(|s| s.policy.cancel(lane));
        // What came after stays as it was told; nobody plays it on.
        let _ = self.lanes[index].end(EpisodeEnding::Aborted, None, &mut self.journal);
        let count = self.slot_of(index);
        let policy = count.map(|at| self.slots[at].policy.as_ref());
        let how = (lane, BranchCause::Rewind, Variation::default());
        match self.lanes[index].branch(point, how, policy, &mut self.journal) {
            Ok(()) => {
                self.control.stepping = None;
                self.lanes[index].due_ns = 0;
                self.set_state(RunState::Paused, &format!("lane {lane} is back before step {at}"));
            }
            Err(reason) => self.fail(index, &reason),
        }
    }

    pub(super) fn objection_to_fork(&self, lane: LaneId, episode: Option<EpisodeId>, at: StepIndex, with: &Variation) -> Option<String> {
        let parent = self.lanes.get(lane.0 as usize)?;
        if let Err(reason) = parent.past.point(episode, at) {
            return Some(reason);
        }
        if self.branch_lane().is_none() {
            return Some(format!("there are {LANES_MAX} lanes already; a branch needs one more"));
        }
        if let Some(id) = &with.checkpoint {
            if !matches!(self.settings.agent, AgentKind::Model(_)) {
                return Some(format!("the agent is {}: it has no checkpoint", self.settings.agent.name()));
            }
            if !self.loader.list().iter().any(|c| c.checkpoint == *id) {
                let known: Vec<String> = self.loader.list().into_iter().map(|c| c.checkpoint.0).collect();
                return Some(format!("no checkpoint is named {id}; there are {}", known.join(", ")));
            }
            if self.loading.is_some() && !self.slots.iter().any(|s| s.checkpoint == *id) {
                return Some("another checkpoint is being loaded; wait for it".into());
            }
        }
        objection_to_call(parent, &with.first)
    }

    pub(super) fn objection_to_override(&self, lane: LaneId, with: &Overriding) -> Option<String> {
        let lane = self.lanes.get(lane.0 as usize)?;
        match lane.stand {
            _ if with.is_none() => Some("say what it is to do: action='CALL', result='TEXT'".into()),
            Stand::Observe | Stand::Think | Stand::Decoding | Stand::Act => objection_to_call(lane, with),
            Stand::Settle => Some("the decision was carried out already; rewind to its step to make it otherwise".into()),
            Stand::Between | Stand::Done => Some("no episode runs in this lane".into()),
        }
    }

    /// A lane for a branch: one whose branch is over, or a new one.
    fn branch_lane(&self) -> Option<usize> {
        // A recorded episode that was played again stays beside its branches.
        let first = self.settings.lanes.max(1) as usize;
        let idle = self.lanes.iter().skip(first).position(|l| l.is_branch && l.stand == Stand::Done).map(|at| at + first);
        idle.or((self.lanes.len() < LANES_MAX).then_some(self.lanes.len()))
    }

    pub(super) fn fork(&mut self, lane: LaneId, episode: Option<EpisodeId>, at: StepIndex, with: Variation) {
        // It was looked at whether there is such a point, and room.
        let Ok(point) = self.lanes[lane.0 as usize].past.point(episode, at) else { return };
        let Some(index) = self.branch_lane() else { return };
        let id = LaneId(index as u32);
        if index == self.lanes.len() {
            let env = self.lanes[lane.0 as usize].env.fresh();
            let mut branch = Lane::new(id, env, &self.settings);
            branch.is_branch = true;
            self.lanes.push(branch);
        }
        // A branch of a branch decides by the same weights unless another is named.
        let pinned = self.lanes[lane.0 as usize].pinned.clone();
        self.lanes[index].pinned = with.checkpoint.clone().or(pinned);
        if let Some(slot) = self.slot_of(index) {
            self.slots[slot].policy.fork(lane, id);
        }
        let deciding = self.lanes[index].pinned.clone();
        self.lanes[index].checkpoint = deciding.clone().or_else(|| self.slot_serving().map(|s| s.checkpoint.clone()));
        let policy = self.slot_of(index).or(self.slot_of(lane.0 as usize)).map(|at| self.slots[at].policy.as_ref());
        match self.lanes[index].branch(point, (lane, BranchCause::Fork, with), policy, &mut self.journal) {
            Ok(()) => {
                self.lanes[index].due_ns = 0;
                if let Some(id) = deciding.filter(|_| self.slot_of(index).is_none()) {
                    self.load(id, Wanted::Branch);
                }
            }
            Err(reason) => self.fail(index, &reason),
        }
    }

    /// A policy that is no more than a branch's own.
    pub(super) fn loaded_for_branch(&mut self, load: Load) {
        match load.result {
            Ok(LoadedPolicy { policy, checkpoint, .. }) => {
                let text = SafeText::from(format!("{checkpoint} is loaded for a branch"));
                self.append(LogLine { level: LogLevel::Info, target: SafeText::new("policy"), text });
                self.add_slot(policy, checkpoint);
                self.drop_idle_slots();
            }
            Err(reason) => {
                let waits = |l: &Lane| l.pinned.as_ref() == Some(&load.asked) && l.stand != Stand::Done;
                let waiting: Vec<usize> = (0..self.lanes.len()).filter(|at| waits(&self.lanes[*at])).collect();
                for index in waiting {
                    self.lanes[index].pinned = None;
                    self.fail(index, &format!("{}: {reason}", load.asked));
                }
            }
        }
    }
}

/// Why a call can't be made in a lane; `None` when it can.
fn objection_to_call(lane: &Lane, with: &Overriding) -> Option<String> {
    let call = with.action.as_ref()?;
    match Router::new(lane.tools()).ok()?.route(call) {
        Routed::Environment | Routed::Finished(_) => None,
        Routed::Refused(error) => Some(ToolResult::from(error).content.to_string()),
    }
}
