//! `manifest.json`: what a checkpoint is, where it comes from, and what its files must be.

use super::CheckpointError;
use crate::event::{CheckpointId, Seed, num};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The newest format that this version reads and the one that it writes.
pub const FORMAT: u32 = 1;

/// Unknown fields are ignored: minor versions add them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    pub id: CheckpointId,
    /// The checkpoint that training began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CheckpointId>,
    /// Optimiser steps since the very beginning.
    pub step: u64,
    /// RFC 3339. Unset for a model that came without a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Filled by `save`.
    #[serde(default)]
    pub files: BTreeMap<String, FileEntry>,
    /// The fields of `config.json` that decide shapes and arithmetic. Empty: not stated.
    #[serde(default)]
    pub architecture: Map<String, Value>,
    /// Filled by `save`.
    #[serde(default)]
    pub tokenizer_sha256: String,
    /// The environment that it was trained in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Free figures, such as success rates with their intervals.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub evaluation: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub bytes: u64,
    /// 64 hexadecimal digits, lower case.
    pub sha256: String,
}

/// What a checkpoint's observations and calls look like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    pub env: String,
    pub version: String,
    pub tools_sha256: String,
}

/// What the model computed when it was saved: one mean log-probability a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    pub probes: Vec<String>,
    #[serde(with = "num::floats")]
    pub logprobs: Vec<f32>,
}

/// How it was made; the command makes it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Training {
    pub algorithm: String,
    pub seed: Seed,
    #[serde(default)]
    pub config_sha256: String,
    #[serde(default)]
    pub command: String,
}

impl Manifest {
    /// A manifest without anything optional.
    pub fn new(id: CheckpointId, step: u64) -> Self {
        Self {
            format: FORMAT,
            id,
            parent: None,
            step,
            created: None,
            files: BTreeMap::new(),
            architecture: Map::new(),
            tokenizer_sha256: String::new(),
            schema: None,
            fingerprint: None,
            evaluation: Map::new(),
            training: None,
        }
    }

    /// Reads one; a newer format is refused before its fields are looked at.
    pub fn from_json(place: &str, bytes: &[u8]) -> Result<Self, CheckpointError> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let fail = |e: serde_json::Error| CheckpointError::Manifest { place: place.to_owned(), reason: e.to_string() };
        let Version { format } = serde_json::from_slice(bytes).map_err(fail)?;
        if format > FORMAT {
            return Err(CheckpointError::NewerFormat { place: place.to_owned(), format, known: FORMAT });
        }
        serde_json::from_slice(bytes).map_err(fail)
    }

    pub fn to_json(&self) -> Result<Vec<u8>, CheckpointError> {
        let fail = |e: serde_json::Error| CheckpointError::Manifest { place: self.id.to_string(), reason: e.to_string() };
        let mut text = serde_json::to_vec_pretty(self).map_err(fail)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Refuses an environment other than the one that it was trained in. A checkpoint that does not say is taken.
    pub fn check_schema(&self, wanted: &Schema) -> Result<(), CheckpointError> {
        let Some(own) = &self.schema else { return Ok(()) };
        let fields = [
            ("env", &own.env, &wanted.env),
            ("version", &own.version, &wanted.version),
            ("tools", &own.tools_sha256, &wanted.tools_sha256),
        ];
        let differ = |(name, a, b): &(&str, &String, &String)| (a != b).then(|| format!("{name} is {b} here, the checkpoint knows {a}"));
        let differences: Vec<String> = fields.iter().filter_map(differ).collect();
        if differences.is_empty() {
            return Ok(());
        }
        Err(CheckpointError::Schema { place: self.id.to_string(), differences: differences.join("; ") })
    }
}

/// Compares what a manifest says with what `config.json` gives, field by field. An empty description says nothing.
pub fn check_architecture(place: &str, described: &Map<String, Value>, found: &Map<String, Value>) -> Result<(), CheckpointError> {
    let shown = |v: Option<&Value>| v.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let names = described.keys().chain(found.keys().filter(|k| !described.contains_key(*k)));
    let differences: Vec<String> = names
        .filter(|name| described.get(*name) != found.get(*name))
        .map(|name| format!("{name} is {} in the manifest, {} in config.json", shown(described.get(name)), shown(found.get(name))))
        .collect();
    if described.is_empty() || differences.is_empty() {
        return Ok(());
    }
    Err(CheckpointError::Architecture { place: place.to_owned(), differences: differences.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn reads_what_it_writes_and_ignores_what_it_does_not_know() {
        let mut manifest = Manifest::new("deckhand-final".into(), 1700);
        manifest.schema = Some(Schema { env: "ops".into(), version: "1".into(), tools_sha256: "ab".into() });
        manifest.fingerprint = Some(Fingerprint { probes: vec!["gw".into()], logprobs: vec![-1.25] });
        manifest.training = Some(Training { algorithm: "bc".into(), seed: Seed(7), config_sha256: String::new(), command: "x".into() });
        let mut json: Value = serde_json::from_slice(&manifest.to_json().unwrap()).unwrap();
        json["later"] = json!(1);
        assert_eq!(Manifest::from_json("x", json.to_string().as_bytes()).unwrap(), manifest);
        json["format"] = json!(2);
        let error = Manifest::from_json("x", json.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains("format 2") && error.contains("newer"), "{error}");
    }

    #[test]
    fn what_differs_is_named() {
        let (a, b) = (map(json!({"hidden_size": 96, "rope_theta": 1e4, "old": 1})), map(json!({"hidden_size": 128, "rope_theta": 1e4})));
        let error = check_architecture("x", &a, &b).unwrap_err().to_string();
        assert!(error.contains("hidden_size is 96 in the manifest, 128 in config.json; old is 1 in the manifest, nothing"), "{error}");
        assert!(check_architecture("x", &Map::new(), &b).is_ok() && check_architecture("x", &b, &b).is_ok());

        let schema = |env: &str, tools: &str| Schema { env: env.into(), version: "1".into(), tools_sha256: tools.into() };
        let manifest = Manifest { schema: Some(schema("ops", "aa")), ..Manifest::new("c".into(), 1) };
        assert!(manifest.check_schema(&schema("ops", "aa")).is_ok());
        let error = manifest.check_schema(&schema("trip", "aa")).unwrap_err().to_string();
        assert!(error.contains("env is trip here") && !error.contains("tools"), "{error}");
    }
}
