//! The rows of the thought chain.

use super::Ring;
use crate::event::{EpisodeId, ErrorType, Route, SafeText, Seq, StepIndex, ToolCall};
use serde::{Deserialize, Serialize};

/// Bytes of text that a lane keeps.
const BYTES_MAX: usize = 1 << 20;
/// Rows that a lane keeps.
const ROWS_MAX: usize = 8192;

/// One lane's rows, oldest first, bounded in bytes; older ones come by page from the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    pub rows: Ring<Row>,
    /// The message that is being decoded, if one is.
    pub streaming: Option<Streaming>,
    /// Bytes of text in `rows`.
    pub bytes: usize,
}

impl Default for Transcript {
    fn default() -> Self {
        Self { rows: Ring::with_capacity(ROWS_MAX), streaming: None, bytes: 0 }
    }
}

impl Transcript {
    /// Appends a row; the oldest ones give way when the text is too much.
    pub fn push(&mut self, row: Row) {
        if self.rows.len() == ROWS_MAX
            && let Some(oldest) = self.rows.pop_oldest()
        {
            self.bytes -= oldest.bytes();
        }
        self.bytes += row.bytes();
        self.rows.push(row);
        while self.bytes > BYTES_MAX && self.rows.len() > 1 {
            if let Some(oldest) = self.rows.pop_oldest() {
                self.bytes -= oldest.bytes();
            }
        }
    }
}

impl Row {
    /// Bytes of text that were there when the row was made; what comes to it later does not count.
    fn bytes(&self) -> usize {
        match &self.kind {
            RowKind::EpisodeStart { goal, .. } => goal.len(),
            RowKind::Observation { text, compact } => text.len() + compact.len(),
            RowKind::Thought { text, .. } | RowKind::Text { text } | RowKind::Note { text } => text.len(),
            RowKind::Action { call, .. } => call.name.len() + call.arguments.len() * 32,
            RowKind::Compressed { .. } => 0,
            RowKind::EpisodeEnd { truth, .. } => truth.len(),
        }
    }
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
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::event::num::float_option")]
        reward: Option<f64>,
    },
    /// Words without a call.
    Text {
        text: SafeText,
    },
    Compressed {
        before: u32,
        after: u32,
        #[serde(with = "crate::event::num::float")]
        ratio: f64,
    },
    EpisodeEnd {
        success: bool,
        #[serde(with = "crate::event::num::float")]
        episode_return: f64,
        #[serde(with = "crate::event::num::float")]
        hybrid: f64,
        #[serde(with = "crate::event::num::float")]
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
