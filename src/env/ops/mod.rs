//! The ops simulator: a discrete-event cluster of M/G/c/K stations with a hidden fault.
//!
//! `queue` is the core and knows queues alone; `cluster` runs services, faults and operations on it under `traffic`; `observe` and
//! `query` are what can be known of it; `tools` are what can be done; `episode` joins them. `baseline` sees what an agent sees, `oracle` all.

mod baseline;
mod cluster;
mod episode;
mod fault;
mod level;
mod observe;
mod oracle;
mod query;
pub mod queue;
pub mod rng;
mod score;
mod snapshot;
mod tools;
mod topology;
mod traffic;

use super::{Action, Baseline, BaselineKind, Decision, EnvError, EnvSnapshot, EnvSpec, Environment, Info, Reset, StepResult};
use crate::event::{Level, SafeText, Seed, ToolCall};
use episode::Episode;

/// Raised whenever the same seed and actions could give other bits.
const VERSION: &str = "1.0.0";
const NAME: &str = "ops";
/// Decisions before an episode is truncated.
const MAX_STEPS: u32 = 120;

/// The cluster as an environment.
#[derive(Debug)]
pub struct Ops {
    spec: EnvSpec,
    episode: Option<Episode>,
}

impl Default for Ops {
    fn default() -> Self {
        Self::new()
    }
}

impl Ops {
    pub fn new() -> Self {
        let spec = EnvSpec {
            name: NAME.into(),
            version: VERSION.into(),
            params_sha256: params_sha256(),
            max_steps: MAX_STEPS,
            tools: tools::specs(&[], true),
        };
        Self { spec, episode: None }
    }

    /// Events that the queueing network has processed in this episode, warm-up included.
    pub fn queue_events_total(&self) -> u64 {
        self.episode.as_ref().map_or(0, |e| e.cluster.events_total())
    }
}

/// Every table that the simulation hangs on is compiled in, so the version and the levels' table name them all.
fn params_sha256() -> String {
    use sha2::{Digest, Sha256};
    let levels: Vec<String> = Level::ALL.iter().map(|l| format!("{:?}", level::params(*l))).collect();
    let digest = Sha256::digest(format!("{NAME} {VERSION} {MAX_STEPS} {}", levels.join(" ")));
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

impl Environment for Ops {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Seed, level: Level) -> Reset {
        let episode = self.episode.insert(Episode::begin(seed, level));
        let services = &episode.cluster.services;
        let names: Vec<&str> = services.iter().map(|s| s.name.as_str()).collect();
        Reset {
            observation: episode.observation(),
            goal: SafeText::new("End the incident, if there is one, and name its cause."),
            briefing: SafeText::from(topology::briefing(services)),
            fields: observe::fields(services),
            tools: tools::specs(&names, level::params(level).second_fault_ratio > 0.0),
        }
    }

    fn step(&mut self, action: &Action) -> StepResult {
        // A step before the first reset plays the first episode there is.
        self.episode.get_or_insert_with(|| Episode::begin(Seed(0), Level::L0)).step(action)
    }

    fn snapshot(&self) -> EnvSnapshot {
        EnvSnapshot { name: NAME.into(), version: VERSION.into(), bytes: snapshot::write(&self.episode) }
    }

    fn restore(&mut self, snapshot: &EnvSnapshot) -> Result<(), EnvError> {
        if (snapshot.name.as_str(), snapshot.version.as_str()) != (NAME, VERSION) {
            let found = format!("{} {}", snapshot.name, snapshot.version);
            return Err(EnvError::SnapshotVersion { found, expected: format!("{NAME} {VERSION}") });
        }
        self.episode = snapshot::read(&snapshot.bytes)?;
        Ok(())
    }

    fn state_hash(&self) -> u64 {
        snapshot::hash(&self.episode)
    }

    fn conclude(&self) -> Info {
        self.episode.as_ref().map_or_else(Info::default, Episode::conclude)
    }

    fn oracle(&self) -> Decision {
        match &self.episode {
            Some(episode) => oracle::decide(&episode.cluster),
            None => Decision { thought: SafeText::new("no episode has begun"), call: ToolCall::new("wait") },
        }
    }

    fn fresh(&self) -> Box<dyn Environment> {
        Box::new(Self::new())
    }

    fn baseline(&self, kind: BaselineKind) -> Box<dyn Baseline> {
        match kind {
            BaselineKind::Random => Box::new(baseline::RandomAgent::new()),
            BaselineKind::Heuristic => Box::new(baseline::Runbook::default()),
        }
    }
}

#[cfg(test)]
mod tests;
