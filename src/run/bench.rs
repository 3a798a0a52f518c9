//! The bench behind the checkpoints screen: dossiers, checks, evaluations and comparisons, one after the other on a thread of
//! their own.

use super::eval::play;
use super::provider::{policy_of, schema_of};
use crate::checkpoint::{self, Checkpoint, Manifest, weight_diff};
use crate::config::Config;
use crate::env::{self, Environment};
use crate::event::{CheckpointId, Level, Seed};
use crate::learn::{Agent, EpisodeTrace, Interval, PolicySettings, bootstrap_mean, evaluate, wilson};
use crate::model::DeviceChoice;
use crate::ui::backstage::{BenchAsk, BenchNews};
use crate::ui::bench::{Comparison, Dossier, Estimate, Evaluation, Figures, Metric, Soundness, Subject, Verdict, WeightChange};
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
    pub env: String,
    pub level: Level,
    pub device: DeviceChoice,
    pub settings: PolicySettings,
}

impl BenchPlan {
    /// `env` and `level` of the run or the recording that is looked at.
    pub fn new(config: &Config, env: &str, level: Level) -> Self {
        let mut places: Vec<String> = checkpoint::builtin().iter().map(|b| b.name.to_owned()).collect();
        if std::path::Path::new(&config.run.agent).is_dir() {
            places.push(config.run.agent.clone());
        }
        let device = config.run.device.parse().unwrap_or(DeviceChoice::Cpu);
        Self { places, env: env.to_owned(), level, device, settings: play(config) }
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
    /// Episodes on the seeds from 0 on, by checkpoint.
    played: BTreeMap<CheckpointId, Vec<EpisodeTrace>>,
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
                let read = self.open(subject).map(|c| dossier(&c));
                self.say(BenchNews::Dossier(subject.id.clone(), read));
            }
            BenchAsk::Verify(subject) => {
                let found = self.verify(subject);
                if !self.is_cancelled() {
                    self.say(BenchNews::Soundness(subject.id.clone(), found));
                }
            }
            BenchAsk::Evaluate(subject, wanted) => {
                self.play(subject, *wanted);
            }
            BenchAsk::Compare(a, b, wanted) => {
                let weights = self.weights(a, b);
                self.say(BenchNews::Weights(a.id.clone(), b.id.clone(), weights));
                if self.play(a, *wanted) && self.play(b, *wanted) {
                    self.compare(&a.id, &b.id, *wanted);
                }
            }
        }
    }

    fn say(&self, news: BenchNews) {
        // Nobody listens any more: the console has ended, and so does this.
        let _ = self.tell.send(news);
    }

    /// The checkpoint of that name, if it is the one that the run lists.
    fn open(&self, subject: &Subject) -> Result<Checkpoint, String> {
        let Subject { id, sha256 } = subject;
        let mut last = format!("no checkpoint named {id} is at hand; name its directory by --agent");
        for place in &self.plan.places {
            match checkpoint::open(place) {
                Ok(found) if found.manifest.id == *id && found.sha256 == *sha256 => return Ok(found),
                Ok(found) if found.manifest.id == *id => {
                    last =
                        format!("{} is another checkpoint of that name: its sha256 is {}, the run's {sha256}", found.place, found.sha256);
                }
                Ok(_) => {}
                Err(error) => last = error.to_string(),
            }
        }
        Err(last)
    }

    /// Opening compares every checksum, loading the fingerprint. What can't be found is not bad for that.
    fn verify(&self, subject: &Subject) -> Soundness {
        match self.open(subject) {
            Err(reason) => Soundness::Unavailable(reason),
            Ok(checkpoint) => match policy_of(&checkpoint, self.plan.device) {
                Ok(_) => Soundness::Sound,
                Err(reason) => Soundness::Unsound(reason),
            },
        }
    }

    fn weights(&self, a: &Subject, b: &Subject) -> Result<WeightChange, String> {
        let diff = weight_diff(&self.open(a)?, &self.open(b)?)?;
        let tensors = diff.changes.into_iter().map(|c| (c.name, c.relative_norm)).collect();
        Ok(WeightChange { tensors, unmatched: diff.unmatched })
    }

    /// Plays the seeds that are still to be played; true when all were.
    fn play(&mut self, subject: &Subject, wanted: u32) -> bool {
        let ended = self.play_on(subject, wanted);
        let failed = ended.as_ref().err().cloned();
        self.tell_evaluation(&subject.id, wanted, failed);
        ended == Ok(true)
    }

    fn play_on(&mut self, subject: &Subject, wanted: u32) -> Result<bool, String> {
        let environment = env::make(&self.plan.env).map_err(|e| e.to_string())?;
        let checkpoint = self.open(subject)?;
        let id = &subject.id;
        if checkpoint.manifest.schema.is_some() {
            checkpoint.manifest.check_schema(&schema_of(environment.spec())).map_err(|e| e.to_string())?;
        }
        let mut policy = policy_of(&checkpoint, self.plan.device)?;
        let done = self.played.get(id).map_or(0, Vec::len) as u32;
        for seed in done..wanted {
            if self.ended.load(Ordering::Relaxed) || self.is_cancelled() {
                return Ok(false);
            }
            let mut agent = Agent::Policy { policy: &mut policy, settings: self.plan.settings };
            let trace = self.one(&mut agent, environment.as_ref(), seed)?;
            self.played.entry(id.clone()).or_default().extend(trace);
            if (seed + 1).is_multiple_of(NEWS_EVERY) {
                self.tell_evaluation(id, wanted, None);
            }
        }
        Ok(true)
    }

    fn one(&self, agent: &mut Agent<'_>, env: &dyn Environment, seed: u32) -> Result<Vec<EpisodeTrace>, String> {
        let report = evaluate(agent, env, self.plan.level, &[Seed(u64::from(seed))]).map_err(|e| e.to_string())?;
        Ok(report.traces)
    }

    fn tell_evaluation(&self, id: &CheckpointId, wanted: u32, failed: Option<String>) {
        let traces = self.played.get(id).map_or(&[][..], |t| &t[..t.len().min(wanted as usize)]);
        let evaluation = Evaluation { level: self.plan.level, wanted, played: traces.len() as u32, figures: figures(traces), failed };
        self.say(BenchNews::Evaluation(id.clone(), evaluation));
    }

    fn compare(&self, a: &CheckpointId, b: &CheckpointId, wanted: u32) {
        let of = |id| self.played.get(id).map_or(&[][..], |t| &t[..t.len().min(wanted as usize)]);
        self.say(BenchNews::Comparison(compared(self.plan.level, (a, of(a)), (b, of(b)))));
    }
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
fn compared(level: Level, a: (&CheckpointId, &[EpisodeTrace]), b: (&CheckpointId, &[EpisodeTrace])) -> Comparison {
    // Both were played on the seeds from 0 on; what is not of the same seed is no pair.
    let pairs: Vec<(&EpisodeTrace, &EpisodeTrace)> = a.1.iter().zip(b.1).filter(|(x, y)| x.seed == y.seed).collect();
    Comparison {
        a: a.0.clone(),
        b: b.0.clone(),
        level,
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
    let delta = estimate(bootstrap_mean(&values.iter().map(|(x, y)| y - x).collect::<Vec<f64>>()));
    let verdict = verdict(delta, measure.more_is_better);
    Metric { name: measure.name.to_owned(), a: mean(|v| v.0), b: mean(|v| v.1), delta, verdict }
}

/// Where no seed made a difference, there is none to be sure or unsure of.
fn verdict(delta: Estimate, more_is_better: Option<bool>) -> Verdict {
    if delta.low == 0.0 && delta.high == 0.0 {
        return Verdict::Same;
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

    #[test]
    fn a_verdict_needs_an_interval_without_zero() {
        let delta = |low, high| Estimate { value: 0.0, low, high };
        assert_eq!(verdict(delta(0.1, 0.2), Some(true)), Verdict::Better);
        assert_eq!(verdict(delta(0.1, 0.2), Some(false)), Verdict::Worse);
        assert_eq!(verdict(delta(-0.2, -0.1), Some(false)), Verdict::Better);
        assert_eq!(verdict(delta(-0.1, 0.2), Some(true)), Verdict::Inconclusive);
        assert_eq!(verdict(delta(0.1, 0.2), None), Verdict::Differs);
        assert_eq!(verdict(delta(f64::NAN, f64::NAN), Some(true)), Verdict::Inconclusive);
        assert_eq!(verdict(delta(0.0, 0.0), Some(true)), Verdict::Same);
    }

    fn plan() -> BenchPlan {
        BenchPlan {
            places: checkpoint::builtin().iter().map(|b| b.name.to_owned()).collect(),
            env: "ops".into(),
            level: Level::L0,
            device: DeviceChoice::Cpu,
            settings: PolicySettings::default(),
        }
    }

    #[test]
    fn what_is_cancelled_ends_behind_its_episode_and_what_waits_is_not_begun() {
        let bench = Bench::start(plan()).unwrap();
        let found = checkpoint::open("deckhand-final").unwrap();
        let subject = Subject { id: found.manifest.id, sha256: found.sha256 };
        let (long, waits) = (BenchAsk::Evaluate(subject.clone(), u32::MAX), BenchAsk::Verify(subject.clone()));
        bench.ask(long.clone()).unwrap();
        bench.ask(waits.clone()).unwrap();
        let first = bench.news.recv().unwrap();
        assert!(matches!(&first, BenchNews::Evaluation(_, e) if e.played == NEWS_EVERY && !e.is_done()), "{first:?}");
        bench.cancel();
        // What is asked for behind it is worked on.
        bench.ask(BenchAsk::Evaluate(subject, 1)).unwrap();
        let news: Vec<BenchNews> = std::iter::from_fn(|| bench.news.recv().ok())
            .take_while(|n| !matches!(n, BenchNews::Evaluation(_, e) if e.wanted == 1))
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
        bench.ask(BenchAsk::Compare(subject("deckhand-early"), subject("deckhand-final"), 3)).unwrap();
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
