//! `train bc`.

use super::cli::TrainBcArgs;
use super::exit::{Code, Failure, Outcome};
use crate::agent::Policy;
use crate::env;
use crate::event::{Clock, MonotonicClock};
use crate::learn::{BcHost, BcSettings, LearnError, Phase, Progress, Stage, train_bc};
use crate::model::{DeviceChoice, DiskType, LanguageModel, LocalPolicy, Tokenizer, Weights, choose_device};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Updates between two printed lines where there is no terminal.
const LINE_EVERY: u64 = 50;

struct Host {
    out: PathBuf,
    json: bool,
    clock: Arc<dyn Clock>,
    tokens: u64,
}

impl BcHost for Host {
    fn progress(&mut self, progress: Progress) -> bool {
        let mut err = std::io::stderr().lock();
        let seconds = self.clock.now_ns() as f64 / 1e9;
        match progress {
            Progress::Phase(phase) => {
                let text = match phase {
                    Phase::Collecting { total, .. } => format!("playing {total} episodes of the runbook"),
                    Phase::Cloning => "cloning".to_owned(),
                    Phase::Playing { round } => format!("round {}: the student plays", round + 1),
                    Phase::Correcting { round, success_ratio, thought_fidelity, corrections } => format!(
                        "round {}: success {success_ratio:.3}, thought fidelity {thought_fidelity:.3}, {corrections} corrections",
                        round + 1
                    ),
                };
                let _ = writeln!(err, "[{seconds:6.1} s] {text}");
            }
            Progress::Update { update, updates_total, token_accuracy } => {
                self.tokens += update.tokens;
                if self.json {
                    let _ = serde_json::to_string(&update).map(|line| println!("{line}"));
                }
                if update.update.is_multiple_of(LINE_EVERY) {
                    let rate = update.tokens as f64 * 1e9 / update.duration_ns.max(1) as f64;
                    let loss = update.policy_loss.unwrap_or(f64::NAN);
                    let norm = update.grad_norm.unwrap_or(f64::NAN);
                    let _ = writeln!(
                        err,
                        "[{seconds:6.1} s] update {}/{updates_total}  loss {loss:.4}  token accuracy {token_accuracy:.4}  gradient norm {norm:.2}  {rate:.0} tokens/s",
                        update.update
                    );
                }
            }
        }
        true
    }

    fn stage(&mut self, stage: Stage<'_>) -> Result<(), LearnError> {
        let id = format!("deckhand-{}", stage.name);
        let fail = |e: std::io::Error| LearnError::Checkpoint { id: id.clone(), reason: e.to_string() };
        let dir = self.out.join(&id);
        std::fs::create_dir_all(&dir).map_err(fail)?;
        std::fs::write(dir.join("model.safetensors"), stage.weights.to_safetensors(DiskType::F16)?).map_err(fail)?;
        std::fs::write(dir.join("config.json"), stage.weights.config().to_json()).map_err(fail)?;
        std::fs::write(dir.join("tokenizer.json"), stage.tokenizer_json).map_err(fail)?;
        Ok(())
    }

    fn policy(&mut self, weights: &Weights, tokenizer_json: &[u8]) -> Result<Box<dyn Policy>, LearnError> {
        policy(weights, tokenizer_json)
    }

    fn now_ns(&mut self) -> u64 {
        self.clock.now_ns()
    }
}

/// A policy on the CPU.
pub fn policy(weights: &Weights, tokenizer_json: &[u8]) -> Result<Box<dyn Policy>, LearnError> {
    let device = choose_device(DeviceChoice::Cpu, &[])?;
    let model = LanguageModel::new(weights, Tokenizer::from_json(tokenizer_json)?, &device)?;
    Ok(Box::new(LocalPolicy::new(Arc::new(model))?))
}

pub fn bc(args: &TrainBcArgs) -> Outcome {
    let env = env::make(&args.env).map_err(Failure::usage)?;
    let mut settings = BcSettings { seed: args.seed, ..BcSettings::default() };
    if let Some(steps) = args.steps {
        settings.steps = steps;
    }
    let _ = std::io::stderr().is_terminal();
    let mut host = Host { out: args.out.clone(), json: args.json, clock: MonotonicClock::start(), tokens: 0 };
    train_bc(&settings, env.as_ref(), &mut host).map_err(Failure::failed)?;
    Ok(Code::Holds)
}
