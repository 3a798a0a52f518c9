//! The first line of a recording.

use crate::event::{CheckpointId, Level, RunId, Seed};
use serde::{Deserialize, Serialize};

/// Value of `fmt`.
pub const FORMAT: &str = "pilothouse-rec";
/// Major and minor version that this build writes. It reads every minor version of the same major one.
pub const VERSION: [u32; 2] = [1, 0];

/// What a recording is of: enough to refuse what can't be verified, before anything is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub fmt: String,
    pub v: [u32; 2],
    pub id: RunId,
    /// RFC 3339, UTC.
    pub started: String,
    pub build: String,
    pub env: HeaderEnv,
    pub level: Level,
    pub seed: Seed,
    pub config_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<HeaderCheckpoint>,
    pub lanes: u32,
    pub redaction: String,
    /// Processor features that the policy's arithmetic may hang on.
    pub cpu: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderEnv {
    pub name: String,
    pub version: String,
    pub params_sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderCheckpoint {
    pub id: CheckpointId,
    pub sha256: String,
}
