//! How an episode is named: `[lane:]episode`.

use crate::event::{EpisodeId, LaneId};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// An episode of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Address {
    pub lane: LaneId,
    pub episode: EpisodeId,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lane {
            LaneId(0) => self.episode.fmt(f),
            lane => write!(f, "{lane}:{}", self.episode),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (lane, episode) = text.split_once(':').unwrap_or(("0", text));
        match (lane.parse(), episode.parse()) {
            (Ok(lane), Ok(episode)) => Ok(Self { lane: LaneId(lane), episode: EpisodeId(episode) }),
            (_, _) => Err(format!("`{text}` is no episode; write `[lane:]episode`, such as 3 or 1:3")),
        }
    }
}

impl From<(LaneId, EpisodeId)> for Address {
    fn from((lane, episode): (LaneId, EpisodeId)) -> Self {
        Self { lane, episode }
    }
}
