//! Episodes: the one that runs and those that ended.

use super::Ring;
use crate::event::{CheckpointId, EpisodeEnded, EpisodeId, LaneId, Level, ObservationField, SafeText, Seed, Seq, StepIndex};
use serde::{Deserialize, Serialize};

/// The episode that a lane plays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurrentEpisode {
    pub episode: EpisodeId,
    pub step: StepIndex,
    pub seed: Seed,
    pub level: Level,
    pub goal: SafeText,
    pub checkpoint: Option<CheckpointId>,
    pub fields: Vec<ObservationField>,
    /// The latest observation's numbers, one a field.
    #[serde(with = "crate::event::num::readings")]
    pub values: Vec<Option<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::event::num::float_option")]
    pub reward_last: Option<f64>,
    #[serde(with = "crate::event::num::float")]
    pub reward_sum: f64,
    #[serde(with = "crate::event::num::float")]
    pub discounted_sum: f64,
    /// Step rewards of this episode, for its curve.
    pub rewards: Ring<SeriesPoint>,
    pub tool_errors: u32,
    pub prompt_tokens: Option<u32>,
    /// Tokens of the last prompt whose keys and values were still in the cache.
    #[serde(default)]
    pub cached_tokens: Option<u32>,
    /// Compressions of this episode, oldest first.
    #[serde(default)]
    pub memories: Ring<MemoryRow, 32>,
    /// Tokens that all of them replaced, and of what stands for these.
    #[serde(default)]
    pub compressed_before: u64,
    #[serde(default)]
    pub compressed_after: u64,
    /// Unset before the first compression, and where nothing was kept: a division by zero is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::event::num::float_option")]
    pub compression_ratio_last: Option<f64>,
    pub state_hash: u64,
    /// The message of the decision under way, whole; unset before it is, and once what it says is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<SafeText>,
    pub ended: Option<EpisodeEnded>,
}

/// What a compression made of older steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRow {
    pub seq: Seq,
    pub step: StepIndex,
    /// Tokens of the replaced part, and of what stands for it.
    pub before: u32,
    pub after: u32,
    pub summary: SafeText,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    pub step: u32,
    pub t_ns: u64,
    #[serde(with = "crate::event::num::float")]
    pub value: f64,
}

/// An episode that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRow {
    pub seq: Seq,
    pub t_ns: u64,
    pub lane: LaneId,
    pub episode: EpisodeId,
    pub seed: Seed,
    pub checkpoint: Option<CheckpointId>,
    pub end: EpisodeEnded,
}
