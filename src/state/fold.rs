//! The fold itself.

use super::{CurrentEpisode, DashState, Transcript};
use crate::event::{Envelope, LaneId, Phase, Seq};
use serde::{Deserialize, Serialize};

/// What one lane shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneState {
    pub phase: Option<Phase>,
    pub episode: CurrentEpisode,
    pub transcript: Transcript,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ApplyError {
    #[error("event {found} came after {after}: events between are missing; take a new snapshot")]
    Gap { after: Seq, found: Seq },
}

impl DashState {
    /// Folds one event in. Pure.
    pub fn apply(&mut self, envelope: &Envelope) -> Result<(), ApplyError> {
        if envelope.seq != self.seq.next() {
            return Err(ApplyError::Gap { after: self.seq, found: envelope.seq });
        }
        self.seq = envelope.seq;
        self.t_ns = envelope.t_ns;
        Ok(())
    }

    /// The lane's state, if it has begun.
    pub fn lane(&self, lane: LaneId) -> Option<&LaneState> {
        self.lanes.get(&lane)
    }
}
