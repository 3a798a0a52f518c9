//! An episode: the cluster, the desk from which it is watched, and what a call does to both.

use super::cluster::Cluster;
use super::fault::{self, Cause};
use super::level;
use super::observe::{Monitor, Scene, Seen};
use super::rng::{Purpose, Stream};
use super::score::{self, Submission};
use super::tools::{OpsCall, Query};
use super::{MAX_STEPS, NAME, query, topology};
use crate::env::{Action, Info, StepResult};
use crate::event::{ErrorType, Level, Observation, SafeText, Seed, ToolResult};
use serde::{Deserialize, Serialize};

/// All that the future of an episode hangs on; serialised it is a snapshot, and hashed so it is the state's hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Episode {
    pub level: Level,
    pub cluster: Cluster,
    monitor: Monitor,
    seen: Vec<Seen>,
    /// Answer to the last query, as it stands in the observation.
    answer: Option<String>,
    /// Whether anything was ever changed.
    changed: bool,
    ended: Option<Ending>,
    observation_rng: Stream,
    log_rng: Stream,
}

/// How the episode ended, with the last step's reward and result, which later steps return again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ending {
    terminated: bool,
    reward: f64,
    final_reward: f64,
    result: ToolResult,
}

/// Characters that the agent sees of what was answered outside.
const ANSWER_CHARS_MAX: usize = 160;

/// What was answered outside, as one field of an observation.
fn in_a_line(text: &str) -> String {
    text.chars().take(ANSWER_CHARS_MAX).map(|c| if matches!(c, ';' | '\n' | '\t') { ' ' } else { c }).collect()
}

impl Episode {
    pub fn begin(seed: Seed, level: Level) -> Self {
        let params = level::params(level);
        let stream = |purpose| Stream::new(NAME, seed.0, purpose);
        let services = topology::draw(&params, &mut stream(Purpose::Topology));
        let faults = fault::draw(&params, &services, &mut stream(Purpose::Fault));
        let cluster = Cluster::new(services, faults, seed);
        let mut observation_rng = stream(Purpose::Observation);
        let monitor = Monitor::new(&params, &cluster.usual, &mut observation_rng);
        let seen = monitor.look(&params, &mut observation_rng);
        let log_rng = stream(Purpose::Logs);
        Self { level, cluster, monitor, seen, answer: None, changed: false, ended: None, observation_rng, log_rng }
    }

    pub fn observation(&self) -> Observation {
        Scene { cluster: &self.cluster, seen: &self.seen, answer: self.answer.as_deref() }.observation()
    }

    /// One decision, one tick.
    pub fn step(&mut self, action: &Action) -> StepResult {
        if let Some(ending) = &self.ended {
            return self.settled(ending.result.clone(), ending.reward);
        }
        self.answer = None;
        let (call, result) = match self.read(action) {
            Ok(call) => (Some(call), self.carry_out(call)),
            Err(result) => (None, result),
        };
        if let Action::Outside { result, .. } = action {
            self.answer = Some(in_a_line(&result.content));
        }
        let readings = self.cluster.advance();
        let reward = score::step_reward(&self.cluster, &readings, call.is_some_and(|c| c.mutates()));
        self.monitor.record(readings);
        self.seen = self.monitor.look(&level::params(self.level), &mut self.observation_rng);
        let submitted = call.and_then(|c| c.submission());
        if submitted.is_some() || self.cluster.tick >= MAX_STEPS {
            self.end(submitted, reward, result.clone());
        }
        self.settled(result, reward)
    }

    /// The call to carry out; else what there is to say about the action.
    fn read(&self, action: &Action) -> Result<OpsCall, ToolResult> {
        match action {
            Action::Tool(call) => {
                let names: Vec<&str> = self.cluster.services.iter().map(|s| s.name.as_str()).collect();
                OpsCall::parse(call, &names)
            }
            Action::Text(_) => Err(ToolResult::error(ErrorType::Format, "no valid call was made")),
            Action::Outside { result, .. } => Err(result.clone()),
        }
    }

    /// Carries out a call before its tick runs.
    fn carry_out(&mut self, call: OpsCall) -> ToolResult {
        self.changed |= call.mutates();
        match call {
            OpsCall::Query { service, of } => ToolResult::ok(self.query(service, of)),
            OpsCall::Scale { service, replicas } => {
                self.cluster.scale(service, replicas);
                ToolResult::ok(format!("{} runs {replicas} replicas", self.name(service)))
            }
            OpsCall::Restart { service } => {
                self.cluster.restart(service);
                ToolResult::ok(format!("{} restarts", self.name(service)))
            }
            OpsCall::Rollback { service } => match self.cluster.rollback(service) {
                Some(version) => ToolResult::ok(format!("{} goes back to v{version}", self.name(service))),
                None => ToolResult::error(ErrorType::Refused, format!("{} has no older version", self.name(service))),
            },
            OpsCall::ShedLoad { service } => {
                self.cluster.shed_load(service);
                ToolResult::ok(format!("{} sheds load", self.name(service)))
            }
            OpsCall::Wait => ToolResult::ok("waited 15 s"),
            OpsCall::Submit { cause, also } => {
                let also = also.map(|a| format!(" and {}", a.word())).unwrap_or_default();
                ToolResult::ok(format!("submitted {}{also}", cause.word()))
            }
        }
    }

    fn query(&mut self, service: usize, of: Query) -> String {
        let silent = self.log_rng.chance(level::params(self.level).log_silence_ratio);
        let answer = query::answer(&self.cluster, service, of, silent);
        self.answer = Some(answer.clone());
        answer
    }

    fn end(&mut self, submitted: Option<Submission>, reward: f64, result: ToolResult) {
        let final_reward = score::final_reward(&self.cluster, self.changed, submitted);
        self.ended = Some(Ending { terminated: submitted.is_some(), reward, final_reward, result });
    }

    /// Nothing was submitted, as at the environment's own limit.
    pub fn conclude(&self) -> Info {
        self.info(self.ended.as_ref().map_or_else(|| score::final_reward(&self.cluster, self.changed, None), |e| e.final_reward))
    }

    fn info(&self, final_reward: f64) -> Info {
        Info { final_reward: Some(final_reward), success: Some(final_reward >= 1.0), truth: Some(SafeText::from(self.truth())) }
    }

    fn settled(&self, result: ToolResult, reward: f64) -> StepResult {
        let ended = self.ended.as_ref();
        let info = ended.map_or_else(Info::default, |e| self.info(e.final_reward));
        StepResult {
            observation: self.observation(),
            result,
            reward,
            terminated: ended.is_some_and(|e| e.terminated),
            truncated: ended.is_some_and(|e| !e.terminated),
            info,
        }
    }

    fn name(&self, service: usize) -> &str {
        &self.cluster.services[service].name
    }

    /// The hidden faults in words.
    pub fn truth(&self) -> String {
        let told = self.cluster.faults.iter().map(|f| {
            let end = if f.mitigated { "mitigated" } else { "not mitigated" };
            match f.cause {
                Cause::None => "healthy all along".to_owned(),
                Cause::Crash | Cause::Leak | Cause::Slow | Cause::Config | Cause::Spike => {
                    format!("{} of {} from tick {}, {end}", f.cause.word(), self.name(f.service), f.onset_tick)
                }
            }
        });
        told.collect::<Vec<_>>().join("; ")
    }
}
