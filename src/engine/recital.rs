//! A run that begins with an episode of a recording: played again as it was, and gone on from at one of its steps.

use super::crank::Engine;
use super::lane::Stand;
use crate::event::*;
use std::collections::VecDeque;

/// An episode as it was recorded, and what is to be done otherwise.
#[derive(Clone, Debug)]
pub struct Recital {
    /// The recording and the episode, in words.
    pub source: SafeText,
    pub start: EpisodeStarted,
    /// What messages behind the recorded ones are sampled by.
    pub sampling_seed: Seed,
    pub decisions: VecDeque<Recited>,
    /// The branch begins before this decision.
    pub at: StepIndex,
    pub with: Variation,
}

/// A decision as it was recorded.
#[derive(Clone, Debug)]
pub struct Recited {
    pub message: MessageCompleted,
    pub action: RecordedAction,
    /// Of the environment behind it.
    pub state_hash: u64,
}

impl Engine {
    /// The run begins with that episode and nothing else, and pauses before the branch's first decision.
    pub fn begin_with(&mut self, recital: Recital) {
        let text = format!("{} is played again, and goes on otherwise from step {}", recital.source, recital.at);
        self.append(LogLine { level: LogLevel::Info, target: SafeText::new("fork"), text: SafeText::from(text) });
        self.lanes[0].is_branch = true;
        self.recital = Some(Box::new(recital));
        self.stays = true;
    }

    /// The recorded episode begins, where there is one; whether it did.
    pub(super) fn begin_recital(&mut self, index: usize) -> Result<bool, String> {
        let Some(recital) = self.recital.as_mut().filter(|_| index == 0 && self.lanes[0].episodes_begun == 0) else { return Ok(false) };
        let (start, script) = (recital.start.clone(), std::mem::take(&mut recital.decisions));
        let source = recital.source.clone();
        let lane = &mut self.lanes[0];
        lane.episodes_begun = 1;
        lane.begin(start.seed, start.checkpoint.clone(), &self.settings, &mut self.journal)?;
        if lane.env.state_hash() != start.state_hash {
            return Err(format!("{source} begins otherwise here: it was recorded by another build of the environment, or was changed"));
        }
        lane.mind.sampling_seed = recital.sampling_seed;
        lane.past.sampled_by(recital.sampling_seed);
        lane.script = script;
        Ok(true)
    }

    /// Once all was played again the branch begins, and the run pauses there.
    pub(super) fn conclude_recital(&mut self) {
        let is_over = |lane: &super::lane::Lane| {
            lane.episodes_begun > 0 && lane.script.is_empty() && matches!(lane.stand, Stand::Observe | Stand::Done)
        };
        if self.recital.is_none() || !is_over(&self.lanes[0]) {
            return;
        }
        let Some(recital) = self.recital.take() else { return };
        let (id, episode) = (CommandId(0), Some(self.lanes[0].mind.episode));
        let command = Command::Fork { lane: LaneId(0), episode, at: recital.at, with: recital.with };
        let told = match self.objection(&command) {
            Some(reason) => format!("not forked: {reason}"),
            None => format!("before step {} of the branch; resume or step it", recital.at),
        };
        self.request(Request { id, origin: Origin::Internal, command });
        // A recording that ends in the middle of it: nobody plays it on.
        let _ = self.lanes[0].end(EpisodeEnding::Aborted, None, &mut self.journal);
        self.lanes[0].stand = Stand::Done;
        self.control.stepping = None;
        self.set_state(RunState::Paused, &told);
    }
}
