//! `bundle.json`: what is in a bundle, and what is not.

use crate::event::{RunId, Seq};
use serde::{Deserialize, Serialize};

/// Value of `fmt`.
pub const FORMAT: &str = "pilothouse-bundle";
/// Major and minor version. Minor ones add fields and entries.
pub const VERSION: [u32; 2] = [1, 0];

pub const MANIFEST: &str = "bundle.json";
pub const RECORDING: &str = "recording.jsonl.zst";
/// A recording that somebody unpacked and put back.
pub const RECORDING_PLAIN: &str = "recording.jsonl";
pub const BLOBS: &str = "recording.blobs/";
pub const CONFIG: &str = "config.ron";
pub const CHECKPOINTS: &str = "checkpoints.json";
pub const RULES: &str = "rules.yaml";
pub const LOG: &str = "log.txt";
pub const SCREENS: &str = "screens/";
pub const README: &str = "README.txt";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub fmt: String,
    pub v: [u32; 2],
    /// RFC 3339, UTC.
    pub made: String,
    pub build: String,
    pub recording: Recorded,
    pub entries: Vec<Entry>,
    pub left_out: Vec<LeftOut>,
}

/// The recording, or the part of it that is in the bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    pub run: RunId,
    /// What its file was called, without the directory.
    pub name: String,
    /// First and last event.
    pub from: Seq,
    pub upto: Seq,
    /// Their times, since the run began.
    pub from_ns: u64,
    pub upto_ns: u64,
    /// Whether it begins where the run began.
    pub has_beginning: bool,
    /// Whether the run went on when the bundle was made.
    pub is_growing: bool,
    /// What was wrong with the recording, in words.
    pub findings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub what: String,
    pub why: String,
}

impl LeftOut {
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}
