//! The rows of the thought chain.

use super::{Ring, TokenTrace};
use crate::event::{CheckpointId, EpisodeId, ErrorType, Route, SafeText, Seq, StepIndex, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of text that a lane keeps.
const BYTES_MAX: usize = 1 << 20;
/// Of these, bytes of episodes before the one that goes on, about ten of them: little, so that a snapshot of the state is short and a
/// seek in a recording folds little behind it. The replay screen has the older ones.
const EARLIER_BYTES_MAX: usize = 64 << 10;
/// Rows that a lane keeps.
const ROWS_MAX: usize = 8192;
/// Rows that can stand between a call and its result.
const PASSED_MAX: usize = 16;

/// One lane's rows, oldest first, bounded in bytes; older ones come by page from the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Transcript {
    pub rows: Ring<Row, ROWS_MAX>,
    /// The message that is being decoded, if one is.
    pub streaming: Option<Streaming>,
    /// Bytes of text in `rows`; counted, never read from a file.
    #[serde(skip)]
    bytes: usize,
}

/// What a file says of a transcript.
#[derive(Deserialize)]
struct Kept {
    rows: Ring<Row, ROWS_MAX>,
    streaming: Option<Streaming>,
}

impl From<Kept> for Transcript {
    fn from(kept: Kept) -> Self {
        let bytes = kept.rows.iter().map(Row::bytes).sum();
        let mut transcript = Self { rows: kept.rows, streaming: kept.streaming, bytes };
        transcript.trim();
        transcript
    }
}

impl Transcript {
    /// Appends a row; the oldest ones give way when the text is too much.
    pub fn push(&mut self, row: Row) {
        if self.rows.len() == ROWS_MAX {
            self.drop_oldest();
        }
        self.bytes += row.bytes();
        self.rows.push(row);
        self.trim();
    }

    /// Lets `change` at the newest row that is part of a decision, whose text it may make longer. False when there is none, or when
    /// `change` did not want it.
    pub fn change_open(&mut self, change: impl FnOnce(&mut RowKind) -> bool) -> bool {
        let Some(row) = self.open_row().and_then(|index| self.rows.get_mut(index)) else { return false };
        let before = row.bytes();
        let changed = change(&mut row.kind);
        self.bytes = self.bytes.saturating_sub(before).saturating_add(row.bytes());
        self.trim();
        changed
    }

    /// The place of the newest row that can still change: what was only put in after it does not close it.
    pub fn open_row(&self) -> Option<usize> {
        let behind = self.rows.iter().rev().take(PASSED_MAX).take_while(|row| row.kind.is_aside()).count();
        self.rows.len().checked_sub(behind + 1)
    }

    fn trim(&mut self) {
        while self.rows.len() > 1 && (self.bytes > BYTES_MAX || self.bytes > EARLIER_BYTES_MAX && self.has_earlier()) {
            self.drop_oldest();
        }
    }

    /// Whether the oldest row is of an episode that is over.
    fn has_earlier(&self) -> bool {
        self.rows.get(0).map(|row| row.episode) != self.rows.last().map(|row| row.episode)
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.rows.pop_oldest() {
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
        }
    }
}

impl Row {
    /// Bytes of text in it.
    pub fn bytes(&self) -> usize {
        match &self.kind {
            RowKind::EpisodeStart { goal, .. } => goal.len(),
            RowKind::Observation { text, compact } => text.len() + compact.len(),
            RowKind::Thought { text, trace, .. } => text.len() + trace.as_ref().map_or(0, |t| t.bytes()),
            RowKind::Text { text } | RowKind::Note { text } => text.len(),
            RowKind::Action { call, outcome, .. } => {
                let arguments: usize = call.arguments.iter().map(|(key, value)| key.len() + value_bytes(value)).sum();
                call.name.len() + arguments + outcome.as_ref().map_or(0, |o| o.result.len())
            }
            RowKind::Compressed { .. } => 0,
            RowKind::Swapped { from, to } => from.0.len() + to.0.len(),
            RowKind::EpisodeEnd { truth, .. } => truth.len(),
        }
    }
}

/// About what a value takes: its text, and a word for whatever has none.
fn value_bytes(value: &Value) -> usize {
    const WORD: usize = 8;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => WORD,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum::<usize>() + WORD,
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + value_bytes(value)).sum::<usize>() + WORD,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streaming {
    pub text: SafeText,
    pub tokens: u32,
    pub started_t_ns: u64,
    /// When it last said something: a rate over what came since would fall while the run is paused.
    #[serde(default)]
    pub last_t_ns: u64,
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
        /// Its tokens one by one, where the recording tells them apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<Box<TokenTrace>>,
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
    /// Another checkpoint serves from here on.
    Swapped {
        from: CheckpointId,
        to: CheckpointId,
    },
    Note {
        text: SafeText,
    },
}

impl RowKind {
    /// Whether it is no part of a decision, so that it may stand between a call and its result.
    fn is_aside(&self) -> bool {
        match self {
            Self::Compressed { .. } | Self::Swapped { .. } | Self::Note { .. } => true,
            Self::EpisodeStart { .. }
            | Self::Observation { .. }
            | Self::Thought { .. }
            | Self::Action { .. }
            | Self::Text { .. }
            | Self::EpisodeEnd { .. } => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub result: SafeText,
    pub error_type: Option<ErrorType>,
    pub duration_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(argument: &str) -> Row {
        let call = ToolCall::new("note").with("text", serde_json::json!([{ "t": argument }]));
        let kind = RowKind::Action { call, route: Route::Tool, outcome: None, reward: None };
        Row { seq: Seq(1), t_ns: 0, episode: EpisodeId(1), step: StepIndex(1), kind }
    }

    #[test]
    fn arguments_and_outcomes_count_and_the_bound_holds() {
        let mut transcript = Transcript::default();
        let long = "x".repeat(BYTES_MAX / 4);
        for _ in 0..8 {
            transcript.push(action(&long));
            assert!(transcript.change_open(|kind| {
                let RowKind::Action { outcome, .. } = kind else { return false };
                *outcome = Some(Outcome { result: SafeText::new(&long), error_type: None, duration_ns: 1 });
                true
            }));
        }
        let held: usize = transcript.rows.iter().map(Row::bytes).sum();
        assert_eq!((held, transcript.rows.len()), (transcript.bytes, 1));
        assert!(held <= BYTES_MAX, "{held}");
    }

    #[test]
    fn bytes_are_counted_anew_and_not_believed() {
        let mut transcript = Transcript::default();
        transcript.push(action("abc"));
        let text = serde_json::to_string(&transcript).unwrap();
        assert!(!text.contains("bytes"));
        let hostile = text.replacen('{', "{\"bytes\":18446744073709551615,", 1);
        assert_eq!(serde_json::from_str::<Transcript>(&hostile).unwrap(), transcript);
    }
}
