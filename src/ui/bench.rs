//! What the console has found out about checkpoints: what their manifests say, whether they are sound, how they do on
//! held-out seeds, how two of them differ. Backstage finds out, the checkpoints screen shows.

use super::backstage::{BenchAsk, BenchNews};
use crate::event::{CheckpointId, CheckpointListed, Level, Seed};
use crate::state::DashState;
use crate::ui::lang::tr;
use std::collections::BTreeMap;

/// A checkpoint as the run lists it: one of the same name with other files is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    pub id: CheckpointId,
    pub sha256: String,
}

impl Subject {
    pub fn of(listed: &CheckpointListed) -> Self {
        Self { id: listed.checkpoint.clone(), sha256: listed.sha256.clone() }
    }
}

/// Where a checkpoint is evaluated: as what is looked at is played, be it the run or a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    pub env: String,
    pub level: Level,
}

impl Setting {
    pub fn of(state: &DashState) -> Self {
        state.run.as_ref().map_or_else(Self::default, |run| Self { env: run.env.clone(), level: run.level })
    }
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// What a checkpoint's manifest and files say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dossier {
    pub bytes: u64,
    /// RFC 3339.
    pub created: Option<String>,
    pub parent: Option<CheckpointId>,
    /// Names and values: architecture, training, environment.
    pub fields: Vec<(String, String)>,
}

/// Whether files and fingerprint are what the manifest says.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Soundness {
    #[default]
    Unknown,
    Checking,
    Sound,
    Unsound(String),
    /// It could not be looked at, and why: nothing is known of it.
    Unavailable(String),
}

/// How a checkpoint does, over the seeds that were played so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Held-out seeds `0..wanted`.
    pub wanted: u32,
    pub played: u32,
    /// Unset before the first episode has ended.
    pub figures: Option<Figures>,
    /// Why it ended early, if it did.
    pub failed: Option<String>,
}

impl Evaluation {
    pub fn is_done(&self) -> bool {
        self.played >= self.wanted || self.failed.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub success: Estimate,
    pub episode_return: Estimate,
    pub length: Estimate,
    pub tool_errors: Estimate,
}

/// What a difference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Better,
    Worse,
    /// Every seed gave both the same.
    Same,
    /// The interval holds zero.
    Inconclusive,
    /// It does not, but neither more nor less of it is better by itself.
    Differs,
}

impl Verdict {
    /// For records.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Same => "same",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Differs => "differs",
        }
    }
}

/// One line of a comparison: B less A over the same seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// A text of the interface.
    pub name: String,
    pub a: f64,
    pub b: f64,
    /// Seeds that count, of those that both played.
    pub pairs: u32,
    pub delta: Estimate,
    pub verdict: Verdict,
}

/// Two checkpoints on the same seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub a: Subject,
    pub b: Subject,
    pub setting: Setting,
    pub seeds: u32,
    pub metrics: Vec<Metric>,
    /// Seeds that A failed and B solved, and the other way round.
    pub fixed: Vec<Seed>,
    pub broken: Vec<Seed>,
}

/// How the weights of two checkpoints differ.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightChange {
    /// Tensor and the norm of its change over the norm of A's; the largest first.
    pub tensors: Vec<(String, f64)>,
    /// Tensors that only one of the two has, or that have another shape.
    pub unmatched: Vec<String>,
}

/// All of it, by checkpoint.
#[derive(Debug, Default)]
pub struct Bench {
    pub dossiers: BTreeMap<Subject, Result<Dossier, String>>,
    pub soundness: BTreeMap<Subject, Soundness>,
    pub evaluations: BTreeMap<(Subject, Setting), Evaluation>,
    /// Of the two that were compared last.
    pub comparison: Option<Comparison>,
    pub weights: Option<(Subject, Subject, Result<WeightChange, String>)>,
    /// What was asked for and is not done yet, in that order.
    pending: Vec<BenchAsk>,
}

impl Bench {
    pub fn evaluation(&self, subject: &Subject, setting: &Setting) -> Option<&Evaluation> {
        self.evaluations.get(&(subject.clone(), setting.clone()))
    }

    /// Of these two, in this order, there.
    pub fn comparison_of(&self, a: &Subject, b: &Subject, setting: &Setting) -> Option<&Comparison> {
        self.comparison.as_ref().filter(|c| (&c.a, &c.b, &c.setting) == (a, b, setting))
    }

    /// Whether something was asked for that is not done yet. Reading a manifest takes no time.
    pub fn is_busy(&self) -> bool {
        self.pending.iter().any(|ask| !matches!(ask, BenchAsk::Dossier(_)))
    }

    /// One that was asked for is over.
    fn settle(&mut self, ask: &BenchAsk) {
        if let Some(at) = self.pending.iter().position(|pending| pending == ask) {
            self.pending.remove(at);
        }
    }

    /// Whether this checkpoint is still to be evaluated, by itself or for a comparison.
    fn is_to_play(&self, wanted: &Subject, there: &Setting) -> bool {
        self.pending.iter().any(|ask| match ask {
            BenchAsk::Dossier(_) | BenchAsk::Verify(_) => false,
            BenchAsk::Evaluate(subject, setting, _) => (subject, setting) == (wanted, there),
            BenchAsk::Compare(a, b, setting, _) => (a == wanted || b == wanted) && setting == there,
        })
    }

    /// Something was asked for, and will come: so much can be shown at once.
    pub fn asked(&mut self, ask: &BenchAsk) {
        self.pending.push(ask.clone());
        let mut wait = |subject: &Subject, setting: &Setting, wanted: u32| {
            let waiting = Evaluation { wanted, played: 0, figures: None, failed: None };
            let evaluation = self.evaluations.entry((subject.clone(), setting.clone())).or_insert(waiting);
            (evaluation.wanted, evaluation.failed) = (evaluation.wanted.max(wanted), None);
        };
        match ask {
            BenchAsk::Dossier(_) => {}
            BenchAsk::Verify(subject) => {
                self.soundness.insert(subject.clone(), Soundness::Checking);
            }
            BenchAsk::Evaluate(subject, setting, wanted) => wait(subject, setting, *wanted),
            BenchAsk::Compare(a, b, setting, wanted) => [a, b].into_iter().for_each(|subject| wait(subject, setting, *wanted)),
        }
    }

    /// It was given up: what was found out until then stays.
    fn cancelled(&mut self, ask: &BenchAsk) -> Option<String> {
        match ask {
            // The next visit of the screen asks for it again.
            BenchAsk::Dossier(_) => None,
            BenchAsk::Verify(subject) => {
                if !self.pending.contains(ask) {
                    self.soundness.remove(subject);
                }
                Some(tr!("{id}: not verified: cancelled", id = subject.id))
            }
            BenchAsk::Evaluate(subject, setting, _) => Some(self.cut_short(subject, setting)),
            BenchAsk::Compare(a, b, setting, _) => {
                [a, b].into_iter().for_each(|subject| drop(self.cut_short(subject, setting)));
                Some(tr!("{a} and {b}: not compared: cancelled", a = a.id, b = b.id))
            }
        }
    }

    /// An evaluation that is to play no more seeds, unless it was asked for again meanwhile.
    fn cut_short(&mut self, subject: &Subject, setting: &Setting) -> String {
        let is_again = self.is_to_play(subject, setting);
        let key = (subject.clone(), setting.clone());
        let played = self.evaluations.get(&key).map_or(0, |e| e.played);
        if !is_again && played == 0 {
            self.evaluations.remove(&key);
        } else if let Some(evaluation) = self.evaluations.get_mut(&key).filter(|_| !is_again) {
            evaluation.wanted = played;
        }
        tr!("{id}: evaluation cancelled after {n} seeds", id = subject.id, n = played)
    }

    /// Takes up what was found out; what to tell of it.
    pub fn take(&mut self, news: BenchNews) -> Option<String> {
        match news {
            BenchNews::Dossier(subject, dossier) => {
                self.dossiers.insert(subject, dossier);
                None
            }
            BenchNews::Soundness(subject, found) => {
                let id = &subject.id;
                let told = match &found {
                    Soundness::Unknown | Soundness::Checking => None,
                    Soundness::Unavailable(reason) => Some(tr!("{id}: not verified: {reason}", id = id, reason = reason)),
                    Soundness::Sound => Some(tr!("{id}: checksums and fingerprint are what its manifest says", id = id)),
                    Soundness::Unsound(reason) => Some(tr!("{id} is BAD: {reason}", id = id, reason = reason)),
                };
                self.soundness.insert(subject, found);
                told
            }
            BenchNews::Evaluation(subject, setting, evaluation) => {
                let id = &subject.id;
                let told = match &evaluation.failed {
                    Some(reason) => Some(tr!("{id}: not evaluated: {reason}", id = id, reason = reason)),
                    None if evaluation.is_done() => Some(tr!("{id}: evaluated on {n} seeds", id = id, n = evaluation.played)),
                    None => None,
                };
                self.evaluations.insert((subject, setting), evaluation);
                told
            }
            BenchNews::Done(ask) => {
                self.settle(&ask);
                None
            }
            BenchNews::Cancelled(ask) => {
                self.settle(&ask);
                self.cancelled(&ask)
            }
            BenchNews::Comparison(comparison) => {
                let told = tr!("compared {a} and {b} on {n} seeds", a = comparison.a.id, b = comparison.b.id, n = comparison.seeds);
                self.comparison = Some(comparison);
                Some(told)
            }
            BenchNews::Weights(a, b, weights) => {
                self.weights = Some((a, b, weights));
                None
            }
        }
    }
}
