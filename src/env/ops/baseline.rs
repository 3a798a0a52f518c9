//! Scripted agents that see observations only: random, and the runbook that teaches the built-in agent.
//!
//! The runbook is a function of what was observed and of the calls that were really made, so that it can also say what it
//! would have done in a state that somebody else's calls led to. Every thought begins with a verbatim span of the observation.

use super::fault::Cause;
use super::rng::{Purpose, Stream};
use super::tools::REPLICAS_MAX;
use crate::env::{Baseline, Decision, Reset};
use crate::event::{Observation, SafeText, Seed, ToolCall, ToolSpec};
use serde_json::Value;

/// Ticks without any alert after which the runbook calls the cluster healthy.
const QUIET_TICKS: u32 = 10;
/// Ticks that it waits for the alerts to clear after its remedy.
const PATIENCE_TICKS: u32 = 6;

/// Level of requests from which the autoscaler acts on a hot service whose logs say nothing: 2.8 times the usual.
const AUTOSCALE_RPS_LEVEL: u32 = 8;
/// By how much it multiplies the replicas: enough for any spike.
const AUTOSCALE_FACTOR: u32 = 3;

/// Any valid call, uniformly over tools and arguments.
#[derive(Clone)]
pub struct RandomAgent {
    tools: Vec<ToolSpec>,
    rng: Stream,
}

impl RandomAgent {
    pub fn new() -> Self {
        Self { tools: Vec::new(), rng: Stream::new("ops", 0, Purpose::Baseline) }
    }
}

impl Baseline for RandomAgent {
    fn begin(&mut self, start: &Reset, seed: Seed) {
        self.tools = start.tools.clone();
        self.rng = Stream::new("ops", seed.0, Purpose::Baseline);
    }

    fn decide(&mut self, _observation: &Observation) -> Decision {
        let tool = &self.tools[self.rng.below(self.tools.len())];
        let mut call = ToolCall::new(&tool.name);
        let required = tool.parameters["required"].as_array().cloned().unwrap_or_default();
        for key in required.iter().filter_map(Value::as_str) {
            let choices = tool.parameters["properties"][key]["enum"].as_array().cloned().unwrap_or_default();
            let choice = self.rng.below(choices.len());
            if let Some(value) = choices.into_iter().nth(choice) {
                call = call.with(key, value);
            }
        }
        Decision { thought: SafeText::new("chosen at random"), call }
    }

    fn took(&mut self, _call: &ToolCall) {}

    fn duplicate(&self) -> Box<dyn Baseline> {
        Box::new(self.clone())
    }
}

/// A remedy that was tried.
#[derive(Clone, Debug, PartialEq)]
struct Remedy {
    service: String,
    cause: Cause,
    tick: u32,
}

/// Threshold autoscaler and runbook.
#[derive(Clone, Default)]
pub struct Runbook {
    tick: u32,
    /// What the last observation's query answer was a sign of, so that a call can be read as its remedy.
    finding: Option<(String, Cause)>,
    remedy: Option<Remedy>,
    /// Services whose logs showed nothing since the last remedy.
    cleared: Vec<String>,
    alerted: bool,
}

/// An observation's compact form, read back.
struct Sight<'a> {
    tick: u32,
    /// Whole `logs(pay): exit 137`, its service and what it says.
    logs: Option<(&'a str, &'a str, &'a str)>,
    /// Names in `hot(pay)`.
    hot: Vec<&'a str>,
    /// Whole `alert(gw,pay)`, and the names in it.
    alert: (&'a str, Vec<&'a str>),
    /// The services' readings, such as `pay p9 e6 c9 r8 n2`.
    services: Vec<&'a str>,
}

impl<'a> Sight<'a> {
    fn read(compact: &'a str) -> Self {
        let mut sight = Sight { tick: 0, logs: None, hot: Vec::new(), alert: ("alert()", Vec::new()), services: Vec::new() };
        for part in compact.split(';') {
            if let Some(tick) = part.strip_prefix('t').and_then(|t| t.parse().ok()) {
                sight.tick = tick;
            } else if let Some((service, says)) = part.strip_prefix("logs(").and_then(|p| p.split_once("): ")) {
                sight.logs = Some((part, service, says));
            } else if let Some(names) = names_in(part, "hot(") {
                sight.hot = names;
            } else if let Some(names) = names_in(part, "alert(") {
                sight.alert = (part, names);
            } else {
                sight.services.push(part);
            }
        }
        sight
    }

    /// The number after `key` in the readings of `service`; unset when it is missing.
    fn reading(&self, service: &str, key: char) -> Option<u32> {
        let of = |part: &&&str| part.split(' ').next() == Some(service);
        let readings = self.services.iter().find(of)?;
        readings.split(' ').skip(1).find_map(|r| r.strip_prefix(key))?.parse().ok()
    }
}

/// The names in `hot(gw,pay)`.
fn names_in<'a>(part: &'a str, opening: &str) -> Option<Vec<&'a str>> {
    let names = part.strip_prefix(opening)?.strip_suffix(')')?;
    Some(names.split(',').filter(|n| !n.is_empty()).collect())
}

/// What a log line is a sign of.
fn cause_of(says: &str) -> Option<Cause> {
    let signs = [("exit 137", Cause::Crash), ("heap 97", Cause::Leak), ("db timeout", Cause::Slow), ("bad key", Cause::Config)];
    let sign = signs.iter().find(|(sign, _)| says == *sign).map(|(_, cause)| *cause);
    sign.or_else(|| says.starts_with("queue full").then_some(Cause::Spike))
}

fn remedy_call(cause: Cause, service: &str, says: &str) -> Option<(&'static str, ToolCall)> {
    let on = |tool: &'static str| Some((tool, ToolCall::new(tool).with("svc", service)));
    match cause {
        Cause::Crash | Cause::Leak => on("restart"),
        Cause::Slow => on("shed"),
        Cause::Config => on("rollback"),
        Cause::Spike => {
            let wanted = says.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(REPLICAS_MAX);
            Some(("scale", ToolCall::new("scale").with("svc", service).with("n", wanted.min(REPLICAS_MAX))))
        }
        Cause::None => None,
    }
}

/// The threshold autoscaler: replicas for a service that is hot because of its traffic.
fn autoscale(service: &str, sight: &Sight<'_>) -> Option<u32> {
    let busy = sight.hot.contains(&service) && sight.reading(service, 'r')? >= AUTOSCALE_RPS_LEVEL;
    let replicas = sight.reading(service, 'n')?;
    busy.then(|| (replicas * AUTOSCALE_FACTOR).min(REPLICAS_MAX))
}

fn query(service: &str) -> ToolCall {
    ToolCall::new("query").with("svc", service).with("of", "logs")
}

fn decision(thought: String, call: ToolCall) -> Decision {
    Decision { thought: SafeText::from(thought), call }
}

impl Runbook {
    fn on_logs(&mut self, whole: &str, service: &str, says: &str, sight: &Sight<'_>) -> Option<Decision> {
        if let Some(cause) = cause_of(says) {
            self.finding = Some((service.to_owned(), cause));
            let (verb, call) = remedy_call(cause, service, says)?;
            return Some(decision(format!("{whole}, {}, {verb}", cause.word()), call));
        }
        // `slow(mail)` and `down(mail)` point one service further down.
        if let Some(("slow" | "down", name)) = says.strip_suffix(')').and_then(|s| s.split_once('(')) {
            return Some(decision(format!("{whole}, query({name})"), query(name)));
        }
        if says == "ok" {
            self.cleared.push(service.to_owned());
        } else if let Some(replicas) = autoscale(service, sight) {
            self.finding = Some((service.to_owned(), Cause::Spike));
            let call = ToolCall::new("scale").with("svc", service).with("n", replicas);
            return Some(decision(format!("{whole}, hot({service}), spike, scale"), call));
        }
        let next = self.suspect(sight)?;
        Some(decision(format!("{whole}, query({next})"), query(next)))
    }

    /// The alerting service furthest down that was not cleared.
    fn suspect<'a>(&self, sight: &Sight<'a>) -> Option<&'a str> {
        sight.alert.1.iter().rev().find(|name| !self.cleared.iter().any(|c| c == *name)).copied()
    }

    fn after_remedy(&mut self, remedy: &Remedy, sight: &Sight<'_>) -> Decision {
        let (alert, names) = &sight.alert;
        let word = remedy.cause.word();
        let waited = sight.tick.saturating_sub(remedy.tick);
        if names.is_empty() && waited >= 2 {
            return decision(format!("{alert}, {word} fixed, submit"), ToolCall::new("submit").with("cause", word));
        }
        if waited > PATIENCE_TICKS
            && let Some(next) = self.suspect(sight)
        {
            return decision(format!("{alert}, {word} stays, query({next})"), query(next));
        }
        decision(format!("{alert}, {word} fixed, wait"), ToolCall::new("wait"))
    }
}

impl Baseline for Runbook {
    fn begin(&mut self, _start: &Reset, _seed: Seed) {
        *self = Self::default();
    }

    fn decide(&mut self, observation: &Observation) -> Decision {
        let sight = Sight::read(&observation.compact);
        self.tick = sight.tick;
        self.finding = None;
        self.alerted |= !sight.alert.1.is_empty();
        if let Some((whole, service, says)) = sight.logs
            && let Some(decision) = self.on_logs(whole, service, says, &sight)
        {
            return decision;
        }
        if let Some(remedy) = self.remedy.clone() {
            return self.after_remedy(&remedy, &sight);
        }
        let alert = sight.alert.0;
        if let Some(name) = self.suspect(&sight) {
            return decision(format!("{alert}, query({name})"), query(name));
        }
        // All that alerts was cleared once: look again from the start.
        self.cleared.clear();
        if sight.tick >= QUIET_TICKS && sight.alert.1.is_empty() {
            return decision(format!("{alert}, t{:02}, none", sight.tick), ToolCall::new("submit").with("cause", Cause::None.word()));
        }
        decision(format!("{alert}, t{:02}, wait", sight.tick), ToolCall::new("wait"))
    }

    fn took(&mut self, call: &ToolCall) {
        if !matches!(call.name.as_str(), "scale" | "restart" | "rollback" | "shed") {
            return;
        }
        let Some(service) = call.arguments.get("svc").and_then(Value::as_str) else { return };
        // A remedy counts for what was found; one without a finding is taken for what it usually ends.
        let found = self.finding.take().filter(|(s, _)| s == service).map(|(_, cause)| cause);
        let usual = match call.name.as_str() {
            "scale" => Cause::Spike,
            "rollback" => Cause::Config,
            "shed" => Cause::Slow,
            _ => Cause::Crash,
        };
        self.remedy = Some(Remedy { service: service.to_owned(), cause: found.unwrap_or(usual), tick: self.tick });
        self.cleared.clear();
    }

    fn duplicate(&self) -> Box<dyn Baseline> {
        Box::new(self.clone())
    }
}
