//! Policies from checkpoints: the built-in ones, or a directory.

use crate::checkpoint::{self, Checkpoint, Schema, builtin};
use crate::engine::{LoadedPolicy, PolicyProvider};
use crate::env::EnvSpec;
use crate::event::{CheckpointId, CheckpointListed, SafeText};
use crate::model::{DeviceChoice, LanguageModel, LocalPolicy, choose_device};
use std::sync::{Arc, OnceLock};

pub struct Provider {
    device: DeviceChoice,
    /// Names for `checkpoint::open`: built-in names, or one directory.
    places: Vec<String>,
    schema: Schema,
    /// Listing reads and hashes every file, so it is done once.
    listed: OnceLock<Vec<CheckpointListed>>,
}

/// How the tools of an environment are told apart from those of another.
pub fn schema_of(spec: &EnvSpec) -> Schema {
    let tools = serde_json::to_vec(&spec.tools).unwrap_or_default();
    Schema { env: spec.name.clone(), version: spec.version.clone(), tools_sha256: checkpoint::sha256_hex(&tools) }
}

/// Names for `checkpoint::open` of what that agent can be: the built-in ones, or one directory and nothing else.
pub fn places_of(agent: &str) -> Vec<String> {
    let scripted = ["heuristic", "random", "oracle"];
    if agent == "builtin" || scripted.contains(&agent) {
        builtin().iter().map(|b| b.name.to_owned()).collect()
    } else {
        vec![agent.to_owned()]
    }
}

impl Provider {
    /// `agent` is `builtin`, or a checkpoint directory.
    pub fn new(device: DeviceChoice, agent: &str, spec: &EnvSpec) -> Self {
        Self { device, places: places_of(agent), schema: schema_of(spec), listed: OnceLock::new() }
    }

    /// The checkpoint of that name, or the last one.
    pub fn choose(&self, name: Option<&CheckpointId>) -> Result<CheckpointId, String> {
        let listed = self.list();
        let ids = || listed.iter().map(|c| c.checkpoint.0.as_str()).collect::<Vec<_>>().join(", ");
        match name {
            Some(id) => {
                let found = listed.iter().find(|c| c.checkpoint == *id || c.checkpoint.0 == format!("deckhand-{id}"));
                found.map(|c| c.checkpoint.clone()).ok_or_else(|| format!("no checkpoint is named {id}; there are {}", ids()))
            }
            None => match (listed.last(), self.places.last()) {
                (Some(last), _) => Ok(last.checkpoint.clone()),
                // What is wrong with it is said by opening it.
                (None, Some(place)) => Err(checkpoint::open(place).err().map_or_else(|| "no checkpoint".to_owned(), |e| e.to_string())),
                (None, None) => Err("no checkpoint is built in; name a directory by --agent".to_owned()),
            },
        }
    }

    fn open(&self, id: &CheckpointId) -> Result<Checkpoint, String> {
        let opened = self.places.iter().map(|p| checkpoint::open(p));
        let mut last = format!("no checkpoint is named {id}");
        for one in opened {
            match one {
                Ok(checkpoint) if checkpoint.manifest.id == *id => return Ok(checkpoint),
                Ok(_) => {}
                Err(e) => last = e.to_string(),
            }
        }
        Err(last)
    }
}

/// A policy from verified bytes, after the model was seen to compute what its manifest says.
pub fn policy_of(checkpoint: &Checkpoint, device: DeviceChoice) -> Result<LocalPolicy, String> {
    let text = |e: &dyn std::fmt::Display| format!("{}: {e}", checkpoint.place);
    let device = choose_device(device, &[]).map_err(|e| e.to_string())?;
    let model = LanguageModel::from_checkpoint(checkpoint, &device).map_err(|e| text(&e))?;
    LocalPolicy::new(Arc::new(model)).map_err(|e| text(&e))
}

impl PolicyProvider for Provider {
    fn list(&self) -> Vec<CheckpointListed> {
        let line = |c: Checkpoint| CheckpointListed {
            checkpoint: c.manifest.id.clone(),
            sha256: c.sha256,
            training_step: c.manifest.step,
            note: SafeText::from(c.manifest.training.map(|t| t.algorithm).unwrap_or_default()),
        };
        let read = || self.places.iter().filter_map(|p| checkpoint::open(p).ok()).map(line).collect();
        self.listed.get_or_init(read).clone()
    }

    fn load(&self, id: &CheckpointId) -> Result<LoadedPolicy, String> {
        let checkpoint = self.open(id)?;
        if checkpoint.manifest.schema.is_some() {
            checkpoint.manifest.check_schema(&self.schema).map_err(|e| e.to_string())?;
        }
        let policy = policy_of(&checkpoint, self.device)?;
        Ok(LoadedPolicy { policy: Box::new(policy), checkpoint: id.clone(), sha256: checkpoint.sha256 })
    }
}
