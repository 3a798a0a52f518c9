//! Whether a recording is whole: every batch against its commit, every commit against the one before.

use super::reader::{ReadError, Recording};
use crate::event::Seq;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A range that can't be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// First and last event of the batch; equal to the last good one where the batch holds none that can be read.
    pub from: Seq,
    pub upto: Seq,
    /// First and last step that the range touches, as `[lane:]episode/step`.
    pub steps: String,
    pub what: String,
}

impl Damage {
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.from <= other.from && self.upto >= other.upto
    }
}

/// What a whole read found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    pub committed_upto: Seq,
    /// Whole events after the last commit.
    pub uncommitted: u64,
    /// Bytes of an unterminated last line.
    pub torn_bytes: u64,
    /// Whether the run ends in the recording: one that was killed, or cut at a commit, does not.
    pub run_ended: bool,
    pub damage: Vec<Damage>,
    /// What became of the file since it was opened, where that is not what its writer does.
    pub changed: Option<String>,
}

impl Integrity {
    /// Everything that the run wrote is there as it was written, to its end.
    pub fn is_intact(&self) -> bool {
        self.damage.is_empty() && self.changed.is_none() && self.torn_bytes == 0 && self.uncommitted == 0 && self.run_ended
    }

    /// Findings that are there whether the run goes on or not.
    pub fn findings(&self) -> usize {
        self.damage.len() + usize::from(self.changed.is_some())
    }

    /// All findings in one line, where there are any.
    pub fn told(&self) -> Option<String> {
        (!self.is_intact()).then(|| self.lines().join("; "))
    }

    /// In words, one line a finding; empty when intact.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.damage.iter().map(|d| format!("damaged: events {} to {} (steps {}): {}", d.from, d.upto, d.steps, d.what)).collect();
        lines.extend(self.changed.iter().map(|what| format!("changed: {what}")));
        if self.torn_bytes > 0 {
            lines.push(format!("torn: the last line was cut off; {} bytes of it are there", self.torn_bytes));
        }
        if self.uncommitted > 0 {
            lines.push(format!("uncommitted: {} events after {} were written and never synced", self.uncommitted, self.committed_upto));
        }
        if !self.run_ended {
            lines.push(format!("unfinished: the run does not end in this file; its last committed event is {}", self.committed_upto));
        }
        lines
    }

    /// Reads the whole recording, every event of it.
    pub fn check(path: &Path) -> Result<Self, ReadError> {
        let mut recording = Recording::open(path)?;
        for envelope in recording.events_from(Seq(1))? {
            envelope?;
        }
        Ok(recording.integrity().clone())
    }
}
