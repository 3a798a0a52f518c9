//! How people name places of a run: `[lane:]episode`, and a step of one.

use super::{EpisodeId, LaneId, StepIndex};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// An episode of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Address {
    pub lane: LaneId,
    pub episode: EpisodeId,
}

/// What was typed is no episode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no episode; write `[lane:]episode`, such as 3 or 1:3")]
pub struct NoAddress(pub String);

impl Default for Address {
    fn default() -> Self {
        Self { lane: LaneId(0), episode: EpisodeId(1) }
    }
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
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let parsed = of_lane(text, LaneId(0)).and_then(|(lane, rest)| Some(Self { lane, episode: EpisodeId(rest.parse().ok()?) }));
        parsed.ok_or_else(|| NoAddress(text.to_owned()))
    }
}

impl From<(LaneId, EpisodeId)> for Address {
    fn from((lane, episode): (LaneId, EpisodeId)) -> Self {
        Self { lane, episode }
    }
}

/// A step as it is typed: `5`, `12/5` or `0:12/5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepAddress {
    pub lane: LaneId,
    /// Unset where only the step was typed.
    pub episode: Option<EpisodeId>,
    pub step: StepIndex,
}

impl StepAddress {
    /// `lane` is meant where none is typed.
    pub fn parse(text: &str, lane: LaneId) -> Option<Self> {
        let (lane, rest) = of_lane(text, lane)?;
        let (episode, step) = match rest.split_once('/') {
            Some((episode, step)) => (Some(EpisodeId(episode.parse().ok()?)), step),
            None => (None, rest),
        };
        Some(Self { lane, episode, step: StepIndex(step.parse().ok()?) })
    }
}

/// The lane, and what stands behind it.
fn of_lane(text: &str, otherwise: LaneId) -> Option<(LaneId, &str)> {
    match text.split_once(':') {
        Some((lane, rest)) => Some((LaneId(lane.parse().ok()?), rest)),
        None => Some((otherwise, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_read_as_it_is_shown() {
        for (text, lane, episode) in [("3", 0, 3), ("1:3", 1, 3)] {
            let address = Address { lane: LaneId(lane), episode: EpisodeId(episode) };
            assert_eq!((text.parse(), address.to_string().as_str()), (Ok(address), text));
        }
        assert_eq!("0:2".parse(), Ok(Address { lane: LaneId(0), episode: EpisodeId(2) }));
        assert!(["", "x", "1:", ":1", "1:2:3", "1/2", "-1"].iter().all(|text| text.parse::<Address>().is_err()));
    }

    #[test]
    fn a_step_is_of_the_lane_that_is_looked_at_unless_another_is_named() {
        let step = |lane, episode: Option<u32>, step| {
            Some(StepAddress { lane: LaneId(lane), episode: episode.map(EpisodeId), step: StepIndex(step) })
        };
        let parse = |text| StepAddress::parse(text, LaneId(2));
        assert_eq!((parse("5"), parse("12/5"), parse("0:12/5")), (step(2, None, 5), step(2, Some(12), 5), step(0, Some(12), 5)));
        assert!(["", "x", "1/", "a:1/2", "1/2/3", "@5"].iter().all(|text| parse(text).is_none()));
    }
}
