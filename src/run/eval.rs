//! `eval`: agents on held-out seeds, with intervals; two or more are compared seed by seed.

use super::cli::{EvalArgs, GlobalArgs};
use super::exit::{Code, Failure, Outcome, say};
use super::join::{configuration, window};
use super::provider::{policy_of, schema_of};
use crate::checkpoint;
use crate::config::Config;
use crate::env::{self, BaselineKind, Environment};
use crate::event::{EvaluationCompleted, Level, SafeText, Seed};
use crate::learn::{Agent, AgentReport, Interval, PolicySettings, evaluate, paired};
use crate::model::DeviceChoice;

/// Held-out seeds lie below this; above are training's and live runs'.
const HELD_OUT_SEEDS_END: u64 = 1 << 31;

/// Most episodes of one evaluation.
const EPISODES_MAX: u64 = 100_000;

pub fn run(args: &EvalArgs, global: &GlobalArgs) -> Outcome {
    let config = configuration(global, None)?;
    let env = env::make(&args.env).map_err(Failure::usage)?;
    let levels = if args.levels.is_empty() { vec![Level::L0, Level::L1] } else { args.levels.clone() };
    let seeds = seeds(args)?;
    for level in levels {
        let mut first: Option<(&str, AgentReport)> = None;
        for name in &args.agents {
            let report = one(name, env.as_ref(), level, &seeds, &config)?;
            if args.json {
                let line = serde_json::to_string(&completed(name, &report)).map_err(Failure::failed)?;
                say(line)?;
                continue;
            }
            say(line(name, &report))?;
            match &first {
                None => first = Some((name, report)),
                Some((base, before)) => say(against(base, before, &report))?,
            }
        }
    }
    Ok(Code::Holds)
}

fn seeds(args: &EvalArgs) -> Result<Vec<Seed>, Failure> {
    let (from, to) = match &args.seeds {
        None => (0, u64::from(args.episodes)),
        Some(text) => {
            let bounds = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            bounds.ok_or_else(|| Failure::usage(format!("`{text}` is no range of seeds; write A..B, such as 0..200")))?
        }
    };
    if from >= to || to > HELD_OUT_SEEDS_END {
        return Err(Failure::usage(format!("the seeds {from}..{to} are none, or not held out: they lie in 0..{HELD_OUT_SEEDS_END}")));
    }
    // Every episode is kept for the comparison.
    if to - from > EPISODES_MAX {
        return Err(Failure::usage(format!("the seeds {from}..{to} are more than {EPISODES_MAX}; evaluate them in parts")));
    }
    Ok((from..to).map(Seed).collect())
}

fn one(name: &str, env: &dyn Environment, level: Level, seeds: &[Seed], config: &Config) -> Result<AgentReport, Failure> {
    let mut policy;
    let mut agent = match name {
        "heuristic" => Agent::Baseline(BaselineKind::Heuristic),
        "random" => Agent::Baseline(BaselineKind::Random),
        "oracle" => Agent::Oracle,
        place => {
            let checkpoint = checkpoint::open(place).map_err(Failure::usage)?;
            if checkpoint.manifest.schema.is_some() {
                checkpoint.manifest.check_schema(&schema_of(env.spec())).map_err(Failure::usage)?;
            }
            let device: DeviceChoice = config.run.device.parse().map_err(Failure::usage)?;
            policy = policy_of(&checkpoint, device).map_err(Failure::failed)?;
            Agent::Policy { policy: &mut policy, settings: play(config) }
        }
    };
    evaluate(&mut agent, env, level, seeds).map_err(Failure::failed)
}

/// As a run with this configuration would decode.
pub(super) fn play(config: &Config) -> PolicySettings {
    PolicySettings {
        window: window(config),
        temperature: config.agent.temperature,
        top_p: config.agent.top_p,
        tokens_max: config.agent.tokens_max,
        ..PolicySettings::default()
    }
}

fn completed(name: &str, report: &AgentReport) -> EvaluationCompleted {
    EvaluationCompleted {
        agent: SafeText::new(name),
        level: report.level,
        episodes: u32::try_from(report.episodes).unwrap_or(u32::MAX),
        success_ratio: report.success.estimate,
        success_low: report.success.low,
        success_high: report.success.high,
        return_mean: report.episode_return.estimate,
    }
}

/// What is not known of it, such as the spread of one value, is `n/a`.
pub(super) fn within(i: &Interval) -> String {
    let number = |v: f64| if v.is_nan() { "n/a".to_owned() } else { format!("{v:.3}") };
    format!("{} [{}, {}]", number(i.estimate), number(i.low), number(i.high))
}

fn line(name: &str, r: &AgentReport) -> String {
    format!(
        "{} {name}: success {}  final {}  return {}  length {}  tool errors {}  thought fidelity {}",
        r.level,
        within(&r.success),
        within(&r.final_reward),
        within(&r.episode_return),
        within(&r.length),
        within(&r.tool_errors),
        fidelity(name, r)
    )
}

/// Of agents that derive their thoughts from what they see; the random one and the oracle do not.
fn fidelity(name: &str, r: &AgentReport) -> String {
    if matches!(name, "random" | "oracle") { "-".to_owned() } else { within(&r.thought_fidelity) }
}

/// The later agent less the first one, seed by seed.
fn against(base: &str, before: &AgentReport, after: &AgentReport) -> String {
    paired(before, after).map_or_else(String::new, |d| {
        format!(
            "   against {base}: success {}  final {}  {} fixed, {} broken",
            within(&d.success),
            within(&d.final_reward),
            d.fixed.len(),
            d.broken.len()
        )
    })
}
