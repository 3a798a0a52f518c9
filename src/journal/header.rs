//! The first line of a recording.

use crate::event::{CheckpointId, Level, RunId, SafeText, Seed};
use serde::{Deserialize, Deserializer, Serialize};

/// Value of `fmt`.
pub const FORMAT: &str = "pilothouse-rec";
/// Major and minor version that this build writes. It reads every minor version of the same major one.
pub const VERSION: [u32; 2] = [1, 0];

/// What a recording is of: enough to refuse what can't be verified, before anything is simulated. What is read of it is safe to show, in
/// one line: it is not to be trusted more than the events are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    #[serde(deserialize_with = "safe")]
    pub fmt: String,
    pub v: [u32; 2],
    #[serde(deserialize_with = "safe_run")]
    pub id: RunId,
    /// RFC 3339, UTC.
    #[serde(deserialize_with = "safe")]
    pub started: String,
    #[serde(deserialize_with = "safe")]
    pub build: String,
    pub env: HeaderEnv,
    pub level: Level,
    pub seed: Seed,
    #[serde(deserialize_with = "safe")]
    pub config_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<HeaderCheckpoint>,
    pub lanes: u32,
    #[serde(deserialize_with = "safe")]
    pub redaction: String,
    /// Processor features that the policy's arithmetic may hang on.
    #[serde(deserialize_with = "safe_all")]
    pub cpu: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderEnv {
    #[serde(deserialize_with = "safe")]
    pub name: String,
    #[serde(deserialize_with = "safe")]
    pub version: String,
    #[serde(deserialize_with = "safe")]
    pub params_sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderCheckpoint {
    #[serde(deserialize_with = "safe_checkpoint")]
    pub id: CheckpointId,
    #[serde(deserialize_with = "safe")]
    pub sha256: String,
}

fn one_line(text: &str) -> String {
    SafeText::new(text).replace(['\n', '\t'], " ")
}

fn safe<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|text| one_line(&text))
}

fn safe_all<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Vec::<String>::deserialize(from).map(|texts| texts.iter().map(|text| one_line(text)).collect())
}

fn safe_run<'de, D: Deserializer<'de>>(from: D) -> Result<RunId, D::Error> {
    safe(from).map(RunId)
}

fn safe_checkpoint<'de, D: Deserializer<'de>>(from: D) -> Result<CheckpointId, D::Error> {
    safe(from).map(CheckpointId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_a_header_that_was_read_is_safe() {
        let bad = "a\u{1b}]0;x\u{7}\n\u{9b}\u{202e}b";
        let text = serde_json::json!({
            "fmt": bad, "v": [1, 0], "id": bad, "started": bad, "build": bad,
            "env": {"name": bad, "version": bad, "params_sha256": bad},
            "level": "L1", "seed": 1, "config_sha256": bad, "checkpoint": {"id": bad, "sha256": bad},
            "lanes": 1, "redaction": bad, "cpu": [bad],
        });
        let header: Header = serde_json::from_value(text).unwrap();
        let shown = serde_json::to_string(&header).unwrap();
        assert_eq!(shown.matches("a␛]0;x␇ ⟨U+009B⟩⟨U+202E⟩b").count(), 12, "{shown}");
        assert!(!shown.contains("\\u") && !shown.contains("\\n"), "{shown}");
    }
}
