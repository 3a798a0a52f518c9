//! `train bc`.

use super::cli::{GlobalArgs, TrainBcArgs};
use super::exit::{Code, Failure, Outcome, say};
use super::join::{configuration, record_to};
use super::provider::schema_of;
use super::training_record::TrainingRecord;
use crate::agent::Policy;
use crate::checkpoint::{self, Contents, Manifest, Schema, Training};
use crate::env;
use crate::event::{CheckpointId, Clock, MonotonicClock, Seed, UpdateCompleted};
use crate::learn::{BcHost, BcSettings, LearnError, Phase, Progress, Stage, train_bc};
use crate::model::{DeviceChoice, DiskType, LanguageModel, LocalPolicy, Tokenizer, Weights, choose_device};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Updates between two printed lines where there is no terminal.
const LINE_EVERY: u64 = 50;

struct Host {
    out: PathBuf,
    json: bool,
    has_terminal: bool,
    clock: Arc<dyn Clock>,
    settings: BcSettings,
    record: Arc<Mutex<TrainingRecord>>,
    schema: Schema,
    command: String,
}

/// What a fingerprint is taken on.
const PROBES: [&str; 3] = [
    "t00;gw p5 e0 c4 r5 n2;pay p5 e0 c4 r5 n2;hot();alert()",
    "t05;gw p9 e5 c4 r5 n2;pay p? e9 c0 r5 n2;logs(pay): exit 137;hot();alert(gw,pay)",
    "map;gw>mail,pay;mail>stock",
];

fn figures(update: &UpdateCompleted, total: u32) -> String {
    let rate = update.tokens as f64 * 1e9 / update.duration_ns.max(1) as f64;
    let (loss, norm) = (update.policy_loss.unwrap_or(f64::NAN), update.grad_norm.unwrap_or(f64::NAN));
    format!("update {}/{total}  loss {loss:.4}  gradient norm {norm:.2}  {rate:.0} tokens/s", update.update)
}

/// Cells of the progress bar.
const BAR_CELLS: u64 = 24;

fn bar(update: &UpdateCompleted, total: u32) -> String {
    let done = (update.update * BAR_CELLS / u64::from(total.max(1))).min(BAR_CELLS) as usize;
    format!("[{}{}] {}", "=".repeat(done), " ".repeat(BAR_CELLS as usize - done), figures(update, total))
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
                self.record().phase(&text);
                let begin = if self.has_terminal { "\r\x1b[K" } else { "" };
                let _ = writeln!(err, "{begin}[{seconds:6.1} s] {text}");
            }
            Progress::Update { update, updates_total, token_accuracy } => {
                self.record().update(update.clone());
                if self.json {
                    // A reader that is gone wants no more of it.
                    let told = serde_json::to_string(&update).map_err(Failure::failed).and_then(say);
                    if told.is_err() {
                        return false;
                    }
                }
                let is_last = update.update == u64::from(updates_total);
                if self.has_terminal {
                    let _ = write!(err, "\r{}\x1b[K{}", bar(&update, updates_total), if is_last { "\n" } else { "" });
                } else if update.update.is_multiple_of(LINE_EVERY) || is_last {
                    let _ = writeln!(err, "[{seconds:6.1} s] {}  token accuracy {token_accuracy:.4}", figures(&update, updates_total));
                }
            }
        }
        true
    }

    fn stage(&mut self, stage: Stage<'_>) -> Result<(), LearnError> {
        let id = CheckpointId(format!("deckhand-{}", stage.name));
        let fail = |e: &dyn std::fmt::Display| LearnError::Checkpoint { id: id.0.clone(), reason: e.to_string() };
        let mut manifest = Manifest::new(id.clone(), u64::from(stage.update));
        manifest.created = Some(jiff::Timestamp::now().to_string());
        manifest.architecture = stage.weights.config().architecture();
        manifest.schema = Some(self.schema.clone());
        manifest.training = Some(Training {
            algorithm: if stage.name == "final" { "bc + dagger".into() } else { "bc".into() },
            seed: Seed(self.settings.seed),
            config_sha256: settings_sha256(&self.settings),
            command: self.command.clone(),
        });
        // What is saved is half precision, so the fingerprint is of what will be read back.
        let bytes = stage.weights.to_safetensors(DiskType::F16)?;
        let saved = Weights::from_safetensors(stage.weights.config(), &[&bytes])?;
        let device = choose_device(DeviceChoice::Cpu, &[])?;
        let model = LanguageModel::new(&saved, Tokenizer::from_json(stage.tokenizer_json)?, &device)?;
        manifest.fingerprint = Some(model.fingerprint(&PROBES)?);
        let contents =
            Contents { config_json: &stage.weights.config().to_json(), tokenizer_json: stage.tokenizer_json, model_safetensors: &bytes };
        let saved = checkpoint::save(&self.out.join(&id.0), manifest, &contents).map_err(|e| fail(&e))?;
        self.record().saved(&saved);
        Ok(())
    }

    fn policy(&mut self, weights: &Weights, tokenizer_json: &[u8]) -> Result<Box<dyn Policy>, LearnError> {
        policy(weights, tokenizer_json)
    }

    fn now_ns(&mut self) -> u64 {
        self.clock.now_ns()
    }
}

impl Host {
    fn record(&self) -> MutexGuard<'_, TrainingRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn settings_sha256(settings: &BcSettings) -> String {
    checkpoint::sha256_hex(format!("{settings:?}").as_bytes())
}

/// A policy on the CPU.
pub fn policy(weights: &Weights, tokenizer_json: &[u8]) -> Result<Box<dyn Policy>, LearnError> {
    let device = choose_device(DeviceChoice::Cpu, &[])?;
    let model = LanguageModel::new(weights, Tokenizer::from_json(tokenizer_json)?, &device)?;
    Ok(Box::new(LocalPolicy::new(Arc::new(model))?))
}

pub fn bc(args: &TrainBcArgs, global: &GlobalArgs) -> Outcome {
    // A training hangs on its seed and steps alone, so that its command makes the same checkpoints again; a mistaken flag is told all the same.
    let config = configuration(global, None)?;
    let env = env::make(&args.env).map_err(Failure::usage)?;
    let mut settings = BcSettings { seed: args.seed, ..BcSettings::default() };
    if let Some(steps) = args.steps {
        settings.steps = steps;
    }
    let steps = args.steps.map_or(String::new(), |s| format!(" --steps {s}"));
    let clock = MonotonicClock::start();
    let path = record_to(args.record.as_deref(), args.no_record, &config)?;
    let record = TrainingRecord::begin(path.as_deref(), clock.clone(), env.spec(), Seed(args.seed), settings_sha256(&settings))?;
    let mut host = Host {
        out: args.out.clone(),
        json: args.json,
        has_terminal: std::io::stderr().is_terminal(),
        clock,
        record: Arc::new(Mutex::new(record)),
        schema: schema_of(env.spec()),
        command: format!("pilothouse train bc --env {} --seed {}{steps}", args.env, args.seed),
        settings: settings.clone(),
    };
    if let Some(path) = host.record().path() {
        let _ = writeln!(std::io::stderr(), "recording to {}", path.display());
    }
    super::signals::end_training_on_signal(host.record.clone());
    let trained = train_bc(&settings, env.as_ref(), &mut host);
    let reason = trained.as_ref().err().map_or_else(|| "trained".to_owned(), ToString::to_string);
    let recorded = host.record().end(&reason).map_err(|e| Failure::failed(format!("the training's recording is not whole: {e}")));
    trained.map_err(Failure::failed)?;
    recorded?;
    Ok(Code::Holds)
}
