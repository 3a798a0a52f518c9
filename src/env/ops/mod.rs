//! The ops simulator: a discrete-event cluster of M/G/c/K stations with a hidden fault.
//!
//! `queue` is the core and knows queues alone; `cluster` adds services, faults and operations; `observe` is what monitoring shows of
//! it; `tools` and `baseline` are the two sides of the interface.

pub mod baseline;
mod cluster;
mod fault;
mod level;
mod observe;
pub mod queue;
pub mod rng;
mod tools;
mod topology;

use super::{Action, Baseline, BaselineKind, Decision, EnvError, EnvSnapshot, EnvSpec, Environment, Info, Reset, StepResult};
use crate::event::{Level, Observation, SafeText, Seed, ToolCall, ToolResult};
use cluster::{Cluster, ClusterState, Reading};
use fault::{Cause, Fault};
use observe::{Monitor, Scene, Seen};
use rng::{Purpose, Stream, StreamState};
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use tools::{OpsCall, Query};

/// Raised whenever the same seed and actions could give other bits.
const VERSION: &str = "1.0.0";
const NAME: &str = "ops";
/// Decisions before an episode is truncated.
const MAX_STEPS: u32 = 120;
/// A service within its objective answers in at most this many times its usual p95 and fails at most this share.
const SLO_P95_FACTOR: f64 = 2.0;
const SLO_ERROR_RATIO: f64 = 0.05;
/// Cost of one replica beyond the deployed ones, a tick.
const REPLICA_COST: f64 = 0.01;
/// Cost of one change to the cluster.
const CHANGE_COST: f64 = 0.05;

/// What can change during an episode, beside the cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Desk {
    level: Level,
    monitor: Monitor,
    seen: Vec<Seen>,
    /// Answer to the last query, as it stands in the observation.
    answer: Option<String>,
    /// Whether anything was ever changed.
    changed: bool,
    /// The result of the last step, once the episode has ended.
    ended: Option<Ending>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ending {
    terminated: bool,
    reward: f64,
    final_reward: f64,
}

struct Episode {
    cluster: Cluster,
    desk: Desk,
    observation_rng: Stream,
    log_rng: Stream,
}

/// The cluster as an environment.
pub struct Ops {
    spec: EnvSpec,
    episode: Option<Episode>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    cluster: ClusterState,
    desk: Desk,
    observation_rng: StreamState,
    log_rng: StreamState,
}

impl Default for Ops {
    fn default() -> Self {
        Self::new()
    }
}

impl Ops {
    pub fn new() -> Self {
        use sha2::{Digest, Sha256};
        // Every table that the simulation hangs on is compiled in, so the version and the levels' table name them all.
        let levels: Vec<String> = Level::ALL.iter().map(|l| format!("{:?}", level::params(*l))).collect();
        let digest = Sha256::digest(format!("{NAME} {VERSION} {MAX_STEPS} {}", levels.join(" ")));
        let params_sha256 = digest.iter().map(|b| format!("{b:02x}")).collect();
        let spec =
            EnvSpec { name: NAME.into(), version: VERSION.into(), params_sha256, max_steps: MAX_STEPS, tools: tools::specs(&[], true) };
        Self { spec, episode: None }
    }

    /// Events that the queueing network has processed in this episode, warm-up included.
    pub fn queue_events_total(&self) -> u64 {
        self.episode.as_ref().map_or(0, |e| e.cluster.events_total())
    }

    fn begin(seed: Seed, level: Level) -> Episode {
        let params = level::params(level);
        let stream = |purpose| Stream::new(NAME, seed.0, purpose);
        let services = topology::draw(&params, &mut stream(Purpose::Topology));
        let faults = fault::draw(&params, &services, &mut stream(Purpose::Fault));
        let cluster = Cluster::new(services, faults, seed.0);
        let mut observation_rng = stream(Purpose::Observation);
        let monitor = Monitor::new(&params, cluster.services.len(), &cluster.usual, &mut observation_rng);
        let seen = monitor.look(&params, &mut observation_rng);
        let desk = Desk { level, monitor, seen, answer: None, changed: false, ended: None };
        Episode { cluster, desk, observation_rng, log_rng: stream(Purpose::Logs) }
    }
}

impl Episode {
    fn names(&self) -> Vec<&str> {
        self.cluster.services.iter().map(|s| s.name.as_str()).collect()
    }

    fn observation(&self) -> Observation {
        let (cluster, desk) = (&self.cluster, &self.desk);
        Scene {
            tick: cluster.tick,
            services: &cluster.services,
            usual: &cluster.usual,
            status: &cluster.status,
            seen: &desk.seen,
            answer: desk.answer.as_deref(),
        }
        .observation()
    }

    /// Carries out a call before its tick runs.
    fn carry_out(&mut self, call: &OpsCall) -> ToolResult {
        self.desk.changed |= call.mutates();
        match *call {
            OpsCall::Query { service, of } => {
                let answer = self.answer(service, of);
                self.desk.answer = Some(answer.clone());
                ToolResult::ok(answer)
            }
            OpsCall::Scale { service, replicas } => {
                self.cluster.scale(service, replicas);
                ToolResult::ok(format!("{} runs {replicas} replicas", self.cluster.services[service].name))
            }
            OpsCall::Restart { service } => {
                self.cluster.restart(service);
                ToolResult::ok(format!("{} restarts", self.cluster.services[service].name))
            }
            OpsCall::Rollback { service } => {
                if self.cluster.rollback(service) {
                    let version = self.cluster.status[service].version;
                    ToolResult::ok(format!("{} goes back to v{version}", self.cluster.services[service].name))
                } else {
                    ToolResult::error(crate::event::ErrorType::Refused, "there is no older version")
                }
            }
            OpsCall::ShedLoad { service } => {
                self.cluster.shed_load(service);
                ToolResult::ok(format!("{} sheds load", self.cluster.services[service].name))
            }
            OpsCall::Wait => ToolResult::ok("waited 15 s"),
            OpsCall::Submit { cause, also } => {
                let named = also.map_or(cause.word().to_owned(), |a| format!("{} and {}", cause.word(), a.word()));
                ToolResult::ok(format!("submitted {named}"))
            }
        }
    }

    /// What a query shows: the service's own fault, else which callee hurts it, else nothing.
    fn answer(&mut self, service: usize, of: Query) -> String {
        let silent = self.log_rng.chance(level::params(self.desk.level).log_silence_ratio);
        let tick = self.cluster.tick;
        let name = &self.cluster.services[service].name;
        let own = self.cluster.faults.iter().find(|f| f.service == service && f.is_active(tick));
        let behind = || self.hurting_callee(service).map(|(callee, word)| format!("{word}({})", self.cluster.services[callee].name));
        match of {
            Query::Logs => {
                let says = match own {
                    _ if silent => "-".to_owned(),
                    Some(fault) => log_line(fault),
                    None => behind().unwrap_or_else(|| "ok".to_owned()),
                };
                format!("logs({name}): {says}")
            }
            Query::Traces => {
                let says = match own {
                    _ if silent => "-".to_owned(),
                    Some(_) => "self".to_owned(),
                    None => behind().unwrap_or_else(|| "ok".to_owned()),
                };
                format!("traces({name}): {says}")
            }
        }
    }

    /// A callee of `service` that has, or stands before, an active fault.
    fn hurting_callee(&self, service: usize) -> Option<(usize, &'static str)> {
        let tick = self.cluster.tick;
        self.cluster.services[service].calls.iter().find_map(|&callee| {
            let own = self.cluster.faults.iter().find(|f| f.service == callee && f.is_active(tick));
            match own {
                Some(fault) if matches!(fault.cause, Cause::Crash | Cause::Config) => Some((callee, "down")),
                Some(_) => Some((callee, "slow")),
                None => self.hurting_callee(callee).map(|(_, word)| (callee, word)),
            }
        })
    }

    /// Share of services within their objective, less the cost of replicas and changes, within [0, 1].
    fn reward(&self, readings: &[Reading], changed: bool) -> f64 {
        let within = readings.iter().zip(&self.cluster.usual).filter(|(now, usual)| {
            let fast = now.p95_s.zip(usual.p95_s).is_some_and(|(now, usual)| now <= SLO_P95_FACTOR * usual);
            fast && now.error_ratio.is_none_or(|e| e <= SLO_ERROR_RATIO)
        });
        let share = within.count() as f64 / readings.len() as f64;
        let cost = REPLICA_COST * f64::from(self.cluster.extra_replicas()) + if changed { CHANGE_COST } else { 0.0 };
        (share - cost).clamp(0.0, 1.0)
    }

    /// Half for mitigated, half for the exact cause; on a healthy cluster any change ends with 0.
    fn final_reward(&self, submitted: Option<(Cause, Option<Cause>)>) -> f64 {
        let faults = &self.cluster.faults;
        let healthy = faults.iter().all(|f| f.cause == Cause::None);
        if healthy && self.desk.changed {
            return 0.0;
        }
        // A fault that has not begun counts as present: submitting early is guessing.
        let mitigated = faults.iter().filter(|f| f.mitigated).count() as f64 / faults.len() as f64;
        let Some((cause, also)) = submitted else { return if healthy { 0.0 } else { 0.5 * mitigated } };
        let named: Vec<Cause> = std::iter::once(cause).chain(also.filter(|a| *a != cause)).collect();
        let hits = faults.iter().filter(|f| named.contains(&f.cause)).count() as f64;
        let exact = hits / faults.len().max(named.len()) as f64;
        0.5 * mitigated + 0.5 * exact
    }

    fn step(&mut self, action: &Action) -> StepResult {
        if let Some(ended) = self.desk.ended.clone() {
            return self.result(ToolResult::ok("the episode has ended"), ended.reward, &Some(ended));
        }
        let names = self.names();
        let parsed = match action {
            Action::Tool(call) => OpsCall::parse(call, &names),
            Action::Text(_) => Err(ToolResult::error(crate::event::ErrorType::Format, "no valid call was made")),
            Action::Outside { result, .. } => Err(result.clone()),
        };
        self.desk.answer = None;
        let (call, result) = match parsed {
            Ok(call) => {
                let result = self.carry_out(&call);
                (Some(call), result)
            }
            Err(result) => (None, result),
        };
        let submitted = match call {
            Some(OpsCall::Submit { cause, also }) => Some((cause, also)),
            _ => None,
        };
        let readings = self.cluster.advance();
        let reward = self.reward(&readings, call.is_some_and(|c| c.mutates()));
        let params = level::params(self.desk.level);
        self.desk.monitor.record(readings);
        self.desk.seen = self.desk.monitor.look(&params, &mut self.observation_rng);
        if submitted.is_some() || self.cluster.tick >= MAX_STEPS {
            self.desk.ended = Some(Ending { terminated: submitted.is_some(), reward, final_reward: self.final_reward(submitted) });
        }
        let ended = self.desk.ended.clone();
        self.result(result, reward, &ended)
    }

    fn result(&self, result: ToolResult, reward: f64, ended: &Option<Ending>) -> StepResult {
        let info = ended.as_ref().map_or_else(Info::default, |e| Info {
            final_reward: Some(e.final_reward),
            success: Some(e.final_reward >= 1.0),
            truth: Some(SafeText::from(self.truth())),
        });
        StepResult {
            observation: self.observation(),
            result,
            reward,
            terminated: ended.as_ref().is_some_and(|e| e.terminated),
            truncated: ended.as_ref().is_some_and(|e| !e.terminated),
            info,
        }
    }

    fn truth(&self) -> String {
        let told: Vec<String> = self
            .cluster
            .faults
            .iter()
            .map(|f| match f.cause {
                Cause::None => "healthy all along".to_owned(),
                Cause::Crash | Cause::Leak | Cause::Slow | Cause::Config | Cause::Spike => {
                    let end = if f.mitigated { "mitigated" } else { "not mitigated" };
                    format!("{} of {} from tick {}, {end}", f.cause.word(), self.cluster.services[f.service].name, f.onset_tick)
                }
            })
            .collect();
        told.join("; ")
    }

    fn oracle(&self) -> Decision {
        let decide = |thought: String, call| Decision { thought: SafeText::from(thought), call };
        let faults = &self.cluster.faults;
        let active = faults.iter().find(|f| f.is_active(self.cluster.tick + 1) && !f.mitigated);
        if let Some(fault) = active {
            // A fault that begins with the coming tick can't be ended before it.
            if !fault.is_active(self.cluster.tick) {
                return decide("it begins now".into(), ToolCall::new("wait"));
            }
            let on = |tool: &str| ToolCall::new(tool).with("svc", self.cluster.services[fault.service].name.as_str());
            let call = match fault.cause {
                Cause::Crash | Cause::Leak => on("restart"),
                Cause::Slow => on("shed"),
                Cause::Config => on("rollback"),
                Cause::Spike => on("scale").with("n", fault.replicas_wanted.min(tools::REPLICAS_MAX)),
                Cause::None => ToolCall::new("wait"),
            };
            return decide(format!("{} of {}", fault.cause.word(), self.cluster.services[fault.service].name), call);
        }
        if faults.iter().any(|f| !f.mitigated) {
            return decide("it has not begun".into(), ToolCall::new("wait"));
        }
        let mut call = ToolCall::new("submit").with("cause", faults[0].cause.word());
        if let Some(second) = faults.get(1) {
            call = call.with("also", second.cause.word());
        }
        decide("all is mitigated".into(), call)
    }
}

/// What a faulty service writes to its log.
fn log_line(fault: &Fault) -> String {
    match fault.cause {
        Cause::Crash => "exit 137".into(),
        Cause::Leak => "heap 97".into(),
        Cause::Slow => "db timeout".into(),
        Cause::Config => "bad key".into(),
        Cause::Spike => format!("queue full, want {}", fault.replicas_wanted.min(tools::REPLICAS_MAX)),
        Cause::None => "ok".into(),
    }
}

/// FNV-1a, 64 bits: the same on every platform and release.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Environment for Ops {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Seed, level: Level) -> Reset {
        let episode = self.episode.insert(Self::begin(seed, level));
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
        self.episode.get_or_insert_with(|| Self::begin(Seed(0), Level::L0)).step(action)
    }

    fn snapshot(&self) -> EnvSnapshot {
        let saved = self.episode.as_ref().map(|e| Saved {
            cluster: e.cluster.state(),
            desk: e.desk.clone(),
            observation_rng: e.observation_rng.state(),
            log_rng: e.log_rng.state(),
        });
        // Serialising plain data into memory has nothing to fail on; an empty snapshot is refused by `restore`.
        let bytes = serde_json::to_vec(&saved).unwrap_or_default();
        EnvSnapshot { name: NAME.into(), version: VERSION.into(), bytes }
    }

    fn restore(&mut self, snapshot: &EnvSnapshot) -> Result<(), EnvError> {
        if (snapshot.name.as_str(), snapshot.version.as_str()) != (NAME, VERSION) {
            let found = format!("{} {}", snapshot.name, snapshot.version);
            return Err(EnvError::SnapshotVersion { found, expected: format!("{NAME} {VERSION}") });
        }
        let saved: Option<Saved> = serde_json::from_slice(&snapshot.bytes).map_err(|e| EnvError::SnapshotDamaged(e.to_string()))?;
        self.episode = saved.map(|s| Episode {
            cluster: Cluster::from_state(s.cluster),
            desk: s.desk,
            observation_rng: Stream::from_state(&s.observation_rng),
            log_rng: Stream::from_state(&s.log_rng),
        });
        Ok(())
    }

    fn state_hash(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        if let Some(episode) = &self.episode {
            use std::hash::Hash;
            episode.cluster.hash_state(&mut hasher);
            episode.observation_rng.state().hash(&mut hasher);
            episode.log_rng.state().hash(&mut hasher);
            hasher.write(&serde_json::to_vec(&episode.desk).unwrap_or_default());
        }
        hasher.finish()
    }

    fn oracle(&self) -> Decision {
        match &self.episode {
            Some(episode) => episode.oracle(),
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
