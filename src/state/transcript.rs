//! The rows of the thought chain.

use super::Ring;
use crate::event::{EpisodeId, ErrorType, Route, SafeText, Seq, StepIndex, ToolCall};
use serde::{Deserialize, Serialize};

/// One lane's rows, oldest first, bounded in bytes; older ones come by page from the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    pub rows: Ring<Row>,
    /// The message that is being decoded, if one is.
    pub streaming: Option<Streaming>,
    /// Bytes of text in `rows`.
    pub bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streaming {
    pub text: SafeText,
    pub tokens: u32,
    pub started_t_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Never changes, whatever is folded later: the row's identity for folds, marks and scrolling.
    pub seq: Seq,
    pub t_ns: u64,
    pub episode: EpisodeId,
    pub step: StepIndex,
    pub kind: RowKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    EpisodeStart {
        seed: u64,
        level: crate::event::Level,
        goal: SafeText,
    },
    Observation {
        text: SafeText,
        compact: SafeText,
    },
    Thought {
        text: SafeText,
        tokens: u32,
        duration_ns: u64,
        logprob_mean: Option<f32>,
        entropy_mean: Option<f32>,
    },
    Action {
        call: ToolCall,
        route: Route,
        /// Unset while the call is in flight.
        outcome: Option<Outcome>,
        reward: Option<f64>,
    },
    /// Words without a call.
    Text {
        text: SafeText,
    },
    Compressed {
        before: u32,
        after: u32,
        ratio: f64,
    },
    EpisodeEnd {
        success: bool,
        episode_return: f64,
        hybrid: f64,
        final_reward: f64,
        length: u32,
        truncated: bool,
        aborted: bool,
        truth: SafeText,
    },
    Note {
        text: SafeText,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub result: SafeText,
    pub error_type: Option<ErrorType>,
    pub duration_ns: u64,
}
