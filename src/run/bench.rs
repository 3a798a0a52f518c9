//! The bench behind the checkpoints screen: dossiers, checks, evaluations and comparisons, one after the other on a thread of
//! their own.

use super::eval::play;
use super::provider::{places_of, policy_of, schema_of};
use crate::checkpoint::{self, Checkpoint, CheckpointError, Manifest, weight_diff};
use crate::config::Config;
use crate::env::{self, Environment};
use crate::event::Seed;
use crate::learn::{Agent, EpisodeTrace, Interval, PolicySettings, bootstrap_mean, evaluate, wilson};
use crate::model::{DeviceChoice, LanguageModel, LocalPolicy, ModelError, choose_device};
use crate::ui::backstage::{BenchAsk, BenchNews};
use crate::ui::bench::{Comparison, Dossier, Estimate, Evaluation, Figures, Metric, Setting, Soundness, Subject, Verdict, WeightChange};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Episodes between two pieces of news.
const NEWS_EVERY: u32 = 4;

/// Asks go to the thread, news come back. It ends with this.
pub struct Bench {
    asks: Option<Sender<(u64, BenchAsk)>>,
    news: Receiver<BenchNews>,
    ended: Arc<AtomicBool>,
    /// How often all that was asked for was cancelled. An ask from before the last time is not worked on.
    cancels: Arc<AtomicU64>,
}

/// Where checkpoints are and how they play.
pub struct BenchPlan {
    /// Names for `checkpoint::open`.
    pub places: Vec<String>,
    pub device: DeviceChoice,
    pub settings: PolicySettings,
}

impl BenchPlan {
    pub fn new(config: &Config) -> Self {
        let device = config.run.device.parse().unwrap_or(DeviceChoice::Cpu);
        Self { places: places_of(&config.run.agent), device, settings: play(config) }
    }
}

impl Bench {
    pub fn start(plan: BenchPlan) -> std::io::Result<Self> {
        let (asks, asked) = channel();
        let (tell, news) = channel();
        let ended = Arc::new(AtomicBool::new(false));
        let cancels = Arc::new(AtomicU64::new(0));
        let worker = Worker { plan, tell, ended: ended.clone(), cancels: cancels.clone(), asked_at: 0, played: BTreeMap::new() };
        std::thread::Builder::new().name("bench".into()).spawn(move || worker.work(&asked))?;
        Ok(Self { asks: Some(asks), news, ended, cancels })
    }

    pub fn ask(&self, ask: BenchAsk) -> Result<(), String> {
        let asked_at = self.cancels.load(Ordering::Relaxed);
        let sent = self.asks.as_ref().is_some_and(|asks| asks.send((asked_at, ask)).is_ok());
        if sent { Ok(()) } else { Err("the thread that evaluates has ended".to_owned()) }
    }

    /// What was asked for until now is given up: what waits is not begun, what is played ends behind its episode.
    pub fn cancel(&self) {
        self.cancels.fetch_add(1, Ordering::Relaxed);
    }

    pub fn news(&self) -> Vec<BenchNews> {
        self.news.try_iter().collect()
    }
}

impl Drop for Bench {
    /// The thread ends behind the episode that it plays.
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        self.asks = None;
    }
}

struct Worker {
    plan: BenchPlan,
    tell: Sender<BenchNews>,
    ended: Arc<AtomicBool>,
    cancels: Arc<AtomicU64>,
    /// How often was cancelled when that was asked for which is worked on.
    asked_at: u64,
    /// Episodes on the seeds from 0 on.
    played: BTreeMap<(Subject, Setting), Vec<EpisodeTrace>>,
}

impl Worker {
    fn work(mut self, asked: &Receiver<(u64, BenchAsk)>) {
        while let Ok((asked_at, ask)) = asked.recv() {
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            self.asked_at = asked_at;
            if !self.is_cancelled() {
                self.work_on(&ask);
            }
            self.say(if self.is_cancelled() { BenchNews::Cancelled(ask) } else { BenchNews::Done(ask) });
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancels.load(Ordering::Relaxed) != self.asked_at
    }

    fn work_on(&mut self, ask: &BenchAsk) {
        match ask {
            BenchAsk::Dossier(subject) => {
                let read = self.opened(subject).map(|c| dossier(&c));
                self.say(BenchNews::Dossier(subject.clone(), read));
            }
            BenchAsk::Verify(subject) => {
                let found = self.verify(subject);
                if !self.is_cancelled() {
                    self.say(BenchNews::Soundness(subject.clone(), found));
                }
            }
            BenchAsk::Evaluate(subject, setting, wanted) => {
                self.play(subject, setting, *wanted);
            }
            BenchAsk::Compare(a, b, setting, wanted) => {
                let weights = self.weights(a, b);
                self.say(BenchNews::Weights(a.clone(), b.clone(), weights));
                if self.play(a, setting, *wanted) && self.play(b, setting, *wanted) {
                    self.say(BenchNews::Comparison(compared(
                        setting,
                        (a, self.traces(a, setting, *wanted)),
                        (b, self.traces(b, setting, *wanted)),
                    )));
                }
            }
        }
    }

    fn say(&self, news: BenchNews) {
        // Nobody listens any more: the console has ended, and so does this.
        let _ = self.tell.send(news);
    }

    /// The checkpoint of that name, if it is the one that the run lists.
    fn opened(&self, subject: &Subject) -> Result<Checkpoint, String> {
        self.open(subject).map_err(|(Fault::Bad(reason) | Fault::Unknown(reason))| reason)
    }

    fn open(&self, subject: &Subject) -> Result<Checkpoint, Fault> {
        let Subject { id, sha256 } = subject;
        let mut last = Fault::Unknown(format!("no checkpoint named {id} is at hand; name its directory by --agent"));
        for place in &self.plan.places {
            match checkpoint::open(place) {
                Ok(found) if found.manifest.id == *id && found.sha256 == *sha256 => return Ok(found),
                Ok(found) if found.manifest.id == *id => {
                    let (place, other) = (found.place, found.sha256);
                    last = Fault::Unknown(format!("{place} is another checkpoint of that name: its sha256 is {other}, the run's {sha256}"));
                }
                Ok(_) => {}
                // What another one suffers from says nothing of this one.
                Err(_) if self.plan.places.len() > 1 && *place != id.0 => {}
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    /// Opening compares every checksum, loading the fingerprint. What can't be found is not bad for that.
    fn verify(&self, subject: &Subject) -> Soundness {
        match self.open(subject).and_then(|checkpoint| check(&checkpoint, self.plan.device)) {
            Ok(()) => Soundness::Sound,
            Err(Fault::Bad(reason)) => Soundness::Unsound(reason),
            Err(Fault::Unknown(reason)) => Soundness::Unavailable(reason),
        }
    }

    fn weights(&self, a: &Subject, b: &Subject) -> Result<WeightChange, String> {
        let diff = weight_diff(&self.opened(a)?, &self.opened(b)?)?;
        let tensors = diff.changes.into_iter().map(|c| (c.name, c.relative_norm)).collect();
        Ok(WeightChange { tensors, unmatched: diff.unmatched })
    }

    /// Plays the seeds that are still to be played; true when all were.
    fn play(&mut self, subject: &Subject, setting: &Setting, wanted: u32) -> bool {
        let ended = self.play_on(subject, setting, wanted);
        let failed = ended.as_ref().err().cloned();
        self.tell_evaluation(subject, setting, wanted, failed);
        ended == Ok(true)
    }

    fn play_on(&mut self, subject: &Subject, setting: &Setting, wanted: u32) -> Result<bool, String> {
        let environment = env::make(&setting.env).map_err(|e| e.to_string())?;
        let checkpoint = self.opened(subject)?;
        let key = (subject.clone(), setting.clone());
        if checkpoint.manifest.schema.is_some() {
            checkpoint.manifest.check_schema(&schema_of(environment.spec())).map_err(|e| e.to_string())?;
        }
        let mut policy = policy_of(&checkpoint, self.plan.device)?;
        let done = self.played.get(&key).map_or(0, Vec::len) as u32;
        for seed in done..wanted {
            if self.ended.load(Ordering::Relaxed) || self.is_cancelled() {
                return Ok(false);
            }
            let mut agent = Agent::Policy { policy: &mut policy, settings: self.plan.settings };
            let trace = self.one(&mut agent, environment.as_ref(), setting, seed)?;
            self.played.entry(key.clone()).or_default().extend(trace);
            if (seed + 1).is_multiple_of(NEWS_EVERY) {
                self.tell_evaluation(subject, setting, wanted, None);
            }
        }
        Ok(true)
    }

    fn one(&self, agent: &mut Agent<'_>, env: &dyn Environment, setting: &Setting, seed: u32) -> Result<Vec<EpisodeTrace>, String> {
        let report = evaluate(agent, env, setting.level, &[Seed(u64::from(seed))]).map_err(|e| e.to_string())?;
        Ok(report.traces)
    }

    fn tell_evaluation(&self, subject: &Subject, setting: &Setting, wanted: u32, failed: Option<String>) {
        let traces = self.traces(subject, setting, wanted);
        let evaluation = Evaluation { wanted, played: traces.len() as u32, figures: figures(traces), failed };
        self.say(BenchNews::Evaluation(subject.clone(), setting.clone(), evaluation));
    }

    /// What was played of the seeds that are wanted.
    fn traces(&self, subject: &Subject, setting: &Setting, wanted: u32) -> &[EpisodeTrace] {
        let played = self.played.get(&(subject.clone(), setting.clone()));
        played.map_or(&[][..], |t| &t[..t.len().min(wanted as usize)])
    }
}

/// Why a checkpoint can't be used.
enum Fault {
    /// It is not what it claims to be.
    Bad(String),
    /// It could not be looked at, which says nothing of it.
    Unknown(String),
}

impl From<CheckpointError> for Fault {
    fn from(error: CheckpointError) -> Self {
        use CheckpointError as E;
        let reason = error.to_string();
        match error {
            E::Unknown { .. } | E::Io { .. } | E::NewerFormat { .. } | E::Schema { .. } => Fault::Unknown(reason),
            E::Name { .. }
            | E::NotPlain { .. }
            | E::Missing { .. }
            | E::TooLarge { .. }
            | E::Manifest { .. }
            | E::Checksum { .. }
            | E::Foreign { .. }
            | E::Header { .. }
            | E::Architecture { .. } => Fault::Bad(reason),
        }
    }
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        use ModelError as E;
        let reason = error.to_string();
        match error {
            E::Checkpoint(error) => error.into(),
            E::Device { .. } | E::Input(_) | E::Candle(_) => Fault::Unknown(reason),
            E::Config { .. }
            | E::Tokenizer { .. }
            | E::MissingTensor { .. }
            | E::Shape { .. }
            | E::Dtype { .. }
            | E::NonFinite { .. }
            | E::Weights(_)
            | E::Vocabulary { .. }
            | E::Fingerprint { .. } => Fault::Bad(reason),
        }
    }
}

/// Loads it as a run would, which computes its fingerprint.
fn check(checkpoint: &Checkpoint, device: DeviceChoice) -> Result<(), Fault> {
    let model = LanguageModel::from_checkpoint(checkpoint, &choose_device(device, &[])?)?;
    LocalPolicy::new(Arc::new(model)).map(drop).map_err(|e| Fault::Bad(e.to_string()))
}

fn dossier(checkpoint: &Checkpoint) -> Dossier {
    let Manifest { parent, step, created, files, architecture, schema, training, .. } = &checkpoint.manifest;
    let mut fields = vec![("step".to_owned(), step.to_string())];
    if let Some(training) = training {
        fields.push(("algorithm".into(), training.algorithm.clone()));
        fields.push(("seed".into(), training.seed.to_string()));
        fields.push(("command".into(), training.command.clone()));
        fields.push(("config sha256".into(), training.config_sha256.clone()));
    }
    if let Some(schema) = schema {
        fields.push(("environment".into(), format!("{} {}", schema.env, schema.version)));
    }
    fields.extend(architecture.iter().map(|(name, value)| (name.clone(), value.to_string())));
    fields.retain(|(_, value)| !value.is_empty());
    Dossier { bytes: files.values().map(|f| f.bytes).sum(), created: created.clone(), parent: parent.clone(), fields }
}

fn estimate(interval: Interval) -> Estimate {
    Estimate { value: interval.estimate, low: interval.low, high: interval.high }
}

fn figures(traces: &[EpisodeTrace]) -> Option<Figures> {
    if traces.is_empty() {
        return None;
    }
    let mean = |of: &dyn Fn(&EpisodeTrace) -> f64| estimate(bootstrap_mean(&traces.iter().map(of).collect::<Vec<f64>>()));
    let successes = traces.iter().filter(|t| t.success).count() as u64;
    Some(Figures {
        success: estimate(wilson(successes, traces.len() as u64)),
        episode_return: mean(&EpisodeTrace::episode_return),
        length: mean(&|t| t.steps.len() as f64),
        tool_errors: mean(&|t| t.tool_errors() as f64),
    })
}

/// A measure of an episode.
struct Measure {
    name: &'static str,
    of: fn(&EpisodeTrace) -> f64,
    /// Whether more of it is better; unset where neither is by itself.
    more_is_better: Option<bool>,
    /// Over the seeds that both solved alone: who fails soon takes few steps.
    solved_only: bool,
}

const fn measure(name: &'static str, of: fn(&EpisodeTrace) -> f64, more_is_better: Option<bool>, solved_only: bool) -> Measure {
    Measure { name, of, more_is_better, solved_only }
}

const MEASURES: [Measure; 6] = [
    measure("success", |t| f64::from(t.success), Some(true), false),
    measure("final reward", |t| t.final_reward, Some(true), false),
    measure("return", EpisodeTrace::episode_return, None, false),
    measure("steps, solved", |t| t.steps.len() as f64, Some(false), true),
    measure("tool errors", |t| t.tool_errors() as f64, Some(false), false),
    measure("tokens, solved", |t| t.tokens as f64, Some(false), true),
];

/// Paired by seed: the intervals are bootstraps of the mean of the differences.
fn compared(setting: &Setting, a: (&Subject, &[EpisodeTrace]), b: (&Subject, &[EpisodeTrace])) -> Comparison {
    // Both were played on the seeds from 0 on; what is not of the same seed is no pair.
    let pairs: Vec<(&EpisodeTrace, &EpisodeTrace)> = a.1.iter().zip(b.1).filter(|(x, y)| x.seed == y.seed).collect();
    Comparison {
        a: a.0.clone(),
        b: b.0.clone(),
        setting: setting.clone(),
        seeds: pairs.len() as u32,
        metrics: MEASURES.iter().map(|m| metric(m, &pairs)).collect(),
        fixed: pairs.iter().filter(|(x, y)| !x.success && y.success).map(|(x, _)| x.seed).collect(),
        broken: pairs.iter().filter(|(x, y)| x.success && !y.success).map(|(x, _)| x.seed).collect(),
    }
}

fn metric(measure: &Measure, pairs: &[(&EpisodeTrace, &EpisodeTrace)]) -> Metric {
    let counted = pairs.iter().filter(|(x, y)| !measure.solved_only || x.success && y.success);
    let values: Vec<(f64, f64)> = counted.map(|(x, y)| ((measure.of)(x), (measure.of)(y))).collect();
    // The mean of nothing is not a number, which is how it is shown.
    let mean = |of: fn(&(f64, f64)) -> f64| values.iter().map(of).sum::<f64>() / values.len() as f64;
    let differences: Vec<f64> = values.iter().map(|(x, y)| y - x).collect();
    let delta = estimate(bootstrap_mean(&differences));
    let verdict = verdict(&differences, delta, measure.more_is_better);
    let pairs = values.len() as u32;
    Metric { name: measure.name.to_owned(), a: mean(|v| v.0), b: mean(|v| v.1), pairs, delta, verdict }
}

/// Below so many pairs a bootstrap says more than it knows.
const PAIRS_MIN: usize = 10;
/// Six differences of one sign come by chance once in 32 times, five once in 16: fewer are no 95 %.
const DIFFERENCES_MIN: usize = 6;

/// Where no seed made a difference, there is none to be sure or unsure of.
fn verdict(differences: &[f64], delta: Estimate, more_is_better: Option<bool>) -> Verdict {
    let unlike = differences.iter().filter(|d| **d != 0.0).count();
    if differences.len() >= PAIRS_MIN && unlike == 0 {
        return Verdict::Same;
    }
    if differences.len() < PAIRS_MIN || unlike < DIFFERENCES_MIN {
        return Verdict::Inconclusive;
    }
    match more_is_better {
        Some(more) if delta.low > 0.0 => {
            if more {
                Verdict::Better
            } else {
                Verdict::Worse
            }
        }
        Some(more) if delta.high < 0.0 => {
            if more {
                Verdict::Worse
            } else {
                Verdict::Better
            }
        }
        None if delta.low > 0.0 || delta.high < 0.0 => Verdict::Differs,
        Some(_) | None => Verdict::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Level;

    #[test]
    fn a_verdict_needs_an_interval_without_zero() {
        let verdict = |low, high, more| verdict(&[0.1; 10], Estimate { value: 0.0, low, high }, more);
        assert_eq!(verdict(0.1, 0.2, Some(true)), Verdict::Better);
        assert_eq!(verdict(0.1, 0.2, Some(false)), Verdict::Worse);
        assert_eq!(verdict(-0.2, -0.1, Some(false)), Verdict::Better);
        assert_eq!(verdict(-0.1, 0.2, Some(true)), Verdict::Inconclusive);
        assert_eq!(verdict(0.1, 0.2, None), Verdict::Differs);
        assert_eq!(verdict(f64::NAN, f64::NAN, Some(true)), Verdict::Inconclusive);
    }

    #[test]
    fn a_verdict_needs_pairs_enough_and_differences_among_them() {
        let of = |same: usize, unlike: usize| {
            let differences = [vec![0.0; same], vec![1.0; unlike]].concat();
            verdict(&differences, estimate(bootstrap_mean(&differences)), Some(true))
        };
        assert_eq!([of(0, 1), of(0, 9), of(9, 0)], [Verdict::Inconclusive; 3], "too few pairs");
        assert_eq!(of(10, 0), Verdict::Same);
        assert_eq!(of(5, 5), Verdict::Inconclusive, "too few differences");
        assert_eq!([of(4, 6), of(0, 10)], [Verdict::Better; 2]);
    }

    fn ops() -> Setting {
        Setting { env: "ops".into(), level: Level::L0 }
    }

    /// A worker on one directory, whose checkpoint the run lists so.
    fn at_directory(dir: &std::path::Path, device: DeviceChoice) -> (Worker, Subject) {
        let original = checkpoint::open("deckhand-final").unwrap();
        let subject = Subject { id: original.manifest.id.clone(), sha256: original.sha256.clone() };
        let plan = BenchPlan { places: places_of(&dir.display().to_string()), device, settings: PolicySettings::default() };
        let (ended, cancels) = Default::default();
        (Worker { plan, tell: channel().0, ended, cancels, asked_at: 0, played: BTreeMap::new() }, subject)
    }

    #[test]
    fn a_flipped_byte_is_bad_and_a_missing_device_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("checkpoints/deckhand-final");
        for file in std::fs::read_dir(source).unwrap().map(|f| f.unwrap()) {
            std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
        // The test runs without a device of that number.
        let (worker, subject) = at_directory(dir.path(), DeviceChoice::Cuda(99));
        let found = worker.verify(&subject);
        assert!(matches!(&found, Soundness::Unavailable(reason) if reason.contains("cuda:99")), "{found:?}");
        let weights = dir.path().join(checkpoint::WEIGHTS);
        let mut bytes = std::fs::read(&weights).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&weights, bytes).unwrap();
        let (worker, subject) = at_directory(dir.path(), DeviceChoice::Cpu);
        let found = worker.verify(&subject);
        assert!(matches!(&found, Soundness::Unsound(reason) if reason.contains("model.safetensors")), "{found:?}");
        std::fs::remove_file(&weights).unwrap();
        assert!(matches!(worker.verify(&subject), Soundness::Unsound(_)), "a file is missing");
        let (nowhere, subject) = at_directory(&dir.path().join("nowhere"), DeviceChoice::Cpu);
        assert!(matches!(nowhere.verify(&subject), Soundness::Unavailable(_)));
    }

    #[test]
    fn episodes_of_other_weights_or_of_another_level_are_not_mixed() {
        let (mut worker, subject) = at_directory(std::path::Path::new("nowhere"), DeviceChoice::Cpu);
        worker.plan.places = places_of("builtin");
        let env = env::make("ops").unwrap();
        let played = evaluate(&mut Agent::Oracle, env.as_ref(), Level::L0, &[Seed(0)]).unwrap().traces;
        worker.played.insert((subject.clone(), ops()), played);
        let retrained = Subject { sha256: "0".into(), ..subject.clone() };
        assert!(!worker.play(&retrained, &ops(), 2), "its files are not at hand");
        assert!(worker.traces(&retrained, &ops(), 9).is_empty());
        let harder = Setting { level: Level::L2, ..ops() };
        assert_eq!([&ops(), &harder].map(|there| worker.traces(&subject, there, 9).len()), [1, 0]);
    }

    fn plan() -> BenchPlan {
        BenchPlan { places: places_of("builtin"), device: DeviceChoice::Cpu, settings: PolicySettings::default() }
    }

    #[test]
    fn what_is_cancelled_ends_behind_its_episode_and_what_waits_is_not_begun() {
        let bench = Bench::start(plan()).unwrap();
        let found = checkpoint::open("deckhand-final").unwrap();
        let subject = Subject { id: found.manifest.id, sha256: found.sha256 };
        let (long, waits) = (BenchAsk::Evaluate(subject.clone(), ops(), u32::MAX), BenchAsk::Verify(subject.clone()));
        bench.ask(long.clone()).unwrap();
        bench.ask(waits.clone()).unwrap();
        let first = bench.news.recv().unwrap();
        assert!(matches!(&first, BenchNews::Evaluation(_, _, e) if e.played == NEWS_EVERY && !e.is_done()), "{first:?}");
        bench.cancel();
        // What is asked for behind it is worked on.
        bench.ask(BenchAsk::Evaluate(subject, ops(), 1)).unwrap();
        let news: Vec<BenchNews> = std::iter::from_fn(|| bench.news.recv().ok())
            .take_while(|n| !matches!(n, BenchNews::Evaluation(_, _, e) if e.wanted == 1))
            .collect();
        let cancelled: Vec<&BenchAsk> =
            news.iter().filter_map(|n| if let BenchNews::Cancelled(ask) = n { Some(ask) } else { None }).collect();
        assert_eq!(cancelled, [&long, &waits]);
        assert!(!news.iter().any(|n| matches!(n, BenchNews::Done(_))), "{news:?}");
        assert!(!news.iter().any(|n| matches!(n, BenchNews::Soundness(..))), "{news:?}");
    }

    #[test]
    fn two_checkpoints_are_compared_seed_by_seed_and_an_unknown_one_is_told() {
        let bench = Bench::start(plan()).unwrap();
        let subject = |name: &str| {
            let found = checkpoint::open(name).unwrap();
            Subject { id: found.manifest.id, sha256: found.sha256 }
        };
        let nobody = Subject { id: "nobody".into(), sha256: "0".into() };
        let other = Subject { sha256: "0".into(), ..subject("deckhand-final") };
        bench.ask(BenchAsk::Dossier(nobody)).unwrap();
        bench.ask(BenchAsk::Verify(subject("deckhand-final"))).unwrap();
        bench.ask(BenchAsk::Verify(other)).unwrap();
        bench.ask(BenchAsk::Compare(subject("deckhand-early"), subject("deckhand-final"), ops(), 3)).unwrap();
        let mut news = Vec::new();
        while !news.iter().any(|n| matches!(n, BenchNews::Comparison(_))) {
            news.push(bench.news.recv().unwrap());
        }
        news.retain(|n| !matches!(n, BenchNews::Done(_)));
        assert!(matches!(&news[0], BenchNews::Dossier(_, Err(reason)) if reason.contains("nobody")), "{news:?}");
        assert!(matches!(&news[1], BenchNews::Soundness(_, Soundness::Sound)), "{news:?}");
        assert!(matches!(&news[2], BenchNews::Soundness(_, Soundness::Unavailable(reason)) if reason.contains("another")), "{news:?}");
        let Some(BenchNews::Comparison(comparison)) = news.last() else { panic!("{news:?}") };
        assert_eq!((comparison.seeds, comparison.metrics.len()), (3, MEASURES.len()));
        let success = &comparison.metrics[0];
        let net = comparison.fixed.len() as f64 - comparison.broken.len() as f64;
        assert!((success.delta.value * 3.0 - net).abs() < 1e-9, "{comparison:?}");
    }
}
