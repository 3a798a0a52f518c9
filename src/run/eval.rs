//! `eval`.

use super::cli::EvalArgs;
use super::exit::{Code, Failure, Outcome};
use crate::env::{self, BaselineKind, Environment};
use crate::event::{Level, Seed};
use crate::learn::{Agent, AgentReport, PolicySettings, evaluate};
use crate::model::{LlamaConfig, Weights};

pub fn run(args: &EvalArgs) -> Outcome {
    let env = env::make(&args.env).map_err(Failure::usage)?;
    let levels = if args.levels.is_empty() { vec![Level::L0, Level::L1] } else { args.levels.clone() };
    let seeds: Vec<Seed> = (0..u64::from(args.episodes)).map(Seed).collect();
    for level in levels {
        for name in &args.agents {
            let report = one(name, env.as_ref(), level, &seeds)?;
            println!(
                "{level} {name}: success {:.3} [{:.3}, {:.3}] final {:.3} return {:.2} length {:.1} errors {:.3} fidelity {:.3}",
                report.success.estimate,
                report.success.low,
                report.success.high,
                report.final_reward.estimate,
                report.episode_return.estimate,
                report.length.estimate,
                report.tool_errors.estimate,
                report.thought_fidelity.estimate
            );
        }
    }
    Ok(Code::Holds)
}

fn one(name: &str, env: &dyn Environment, level: Level, seeds: &[Seed]) -> Result<AgentReport, Failure> {
    match name {
        "heuristic" => evaluate(&mut Agent::Baseline(BaselineKind::Heuristic), env, level, seeds),
        "random" => evaluate(&mut Agent::Baseline(BaselineKind::Random), env, level, seeds),
        "oracle" => evaluate(&mut Agent::Oracle, env, level, seeds),
        dir => {
            let read = |file: &str| std::fs::read(format!("{dir}/{file}")).map_err(|e| Failure::usage(format!("{dir}/{file}: {e}")));
            let config = LlamaConfig::from_json(&read("config.json")?).map_err(Failure::usage)?;
            let weights = Weights::from_safetensors(&config, &[&read("model.safetensors")?]).map_err(Failure::usage)?;
            let mut policy = super::train::policy(&weights, &read("tokenizer.json")?).map_err(Failure::failed)?;
            evaluate(
                &mut Agent::Policy { policy: policy.as_mut(), settings: PolicySettings { lanes: 32, ..PolicySettings::default() } },
                env,
                level,
                seeds,
            )
        }
    }
    .map_err(Failure::failed)
}
