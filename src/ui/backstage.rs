//! What the console asks of the rooms that it may not import. `run/` implements it; tests have their own.
//!
//! Long work is asked for and comes back as news, so that no key waits for it.

use super::bench::{Comparison, Dossier, Evaluation, Setting, Soundness, Subject, WeightChange};
use super::desk::{Desk, DryFound, Recorded};
use super::diff::{Compared, DiffAsk};
use super::watches::Watched;
use crate::event::{EpisodeId, LaneId, Level, RunStarted, Seed, Seq, StepIndex, ToolSpec, Variation};
use crate::source::{FrameSource, Probe};
use std::path::PathBuf;
use std::sync::Arc;

/// Where a recording is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenAt {
    Episode(LaneId, EpisodeId),
    Event {
        seq: Seq,
        /// Whether a mark is to stand there.
        is_marked: bool,
    },
}

/// Rules, and what they are tried on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryAsk {
    /// Unset tries all rules of the file.
    pub rule: Option<String>,
    /// By what the console calls it; unset is that which the live run writes.
    pub recording: Option<String>,
    pub file: String,
}

/// Work that takes its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Bench(BenchAsk),
    /// Give up what was asked of the bench so far.
    CancelBench,
    /// List the recordings of the state directory.
    Catalogue,
    /// Open a recording, at a place of it. Without a path, the one that the live run writes.
    Open {
        path: Option<PathBuf>,
        at: Option<OpenAt>,
    },
    /// Play an episode of a recording again in a run of its own, which goes on from before that step. The recording by what the console
    /// calls it.
    Fork {
        recording: String,
        lane: LaneId,
        episode: EpisodeId,
        at: StepIndex,
        with: Variation,
    },
    /// Compare two episodes, or two recordings. It takes the place of what was to be compared before.
    Diff(DiffAsk),
    CancelDiff,
    /// Try the rules of a file, or one of them, on a recording.
    DryRun(DryAsk),
    /// Pack a recording, by what the console calls it; without one, that which the live run writes.
    Bundle {
        recording: Option<String>,
        argument: String,
    },
}

/// About checkpoints. Evaluations are on the held-out seeds from 0 on, as many as said.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchAsk {
    Dossier(Subject),
    Verify(Subject),
    Evaluate(Subject, Setting, u32),
    Compare(Subject, Subject, Setting, u32),
}

/// Why a rule file is not in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotPlaced {
    /// What is wrong with it and where, to be mended.
    Wrong(String),
    /// Somebody else changed the file meanwhile.
    Changed,
}

/// What came of it.
#[derive(Debug)]
pub enum News {
    /// A line for the operator.
    Told(String),
    Bench(BenchNews),
    /// Newest first.
    Catalogue(Vec<Recorded>),
    Opened(Opened),
    Forked(Forked),
    /// Why no run goes on from the recording.
    NotForked(String),
    /// What would have fired.
    DryRun(DryAsk, Result<DryFound, String>),
    /// What came of an ask; unset where it was given up.
    Diff(DiffAsk, Option<Result<Arc<Compared>, String>>),
}

#[derive(Debug)]
pub enum BenchNews {
    Dossier(Subject, Result<Dossier, String>),
    Soundness(Subject, Soundness),
    Evaluation(Subject, Setting, Evaluation),
    Comparison(Comparison),
    /// Nothing more comes of it.
    Done(BenchAsk),
    /// It was given up, before or behind its beginning.
    Cancelled(BenchAsk),
    /// Of the two, in this order.
    Weights(Subject, Subject, Result<WeightChange, String>),
}

/// A recording, ready to be looked at.
pub struct Opened {
    /// The path of the ask that it answers.
    pub asked: Option<PathBuf>,
    pub name: String,
    pub source: Box<dyn FrameSource>,
    pub at: Option<OpenAt>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("name", &self.name).field("at", &self.at).finish_non_exhaustive()
    }
}

/// A run that goes on from a recording.
pub struct Forked {
    /// What it is recorded to.
    pub recording: Option<PathBuf>,
    pub source: Box<dyn FrameSource>,
}

impl std::fmt::Debug for Forked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forked").field("recording", &self.recording).finish_non_exhaustive()
    }
}

pub trait Backstage {
    /// Begins the work; why it can't, if so.
    fn ask(&mut self, ask: Ask) -> Result<(), String>;
    /// What has come since the last call. Never waits.
    fn news(&mut self) -> Vec<News>;
    /// Compiles a condition; what is wrong with it and where, if so. Quick enough for a key to wait for it.
    fn compile(&self, _source: &str) -> Result<Arc<dyn Probe>, String> {
        Err("no conditions can be compiled here".into())
    }
    /// Compiles an expression that is to be watched; what is wrong with it and where, if so.
    fn watch(&self, source: &str) -> Result<Watched, String> {
        self.compile(source).map(Watched::Condition)
    }
    /// The tools that an episode has, with its names filled in; none where the environment is not at hand.
    fn tools_of(&self, _run: &RunStarted, _seed: Seed, _level: Level) -> Vec<ToolSpec> {
        Vec::new()
    }
    /// The text of a rule file, as the console calls it; why there is none, if so.
    fn rules_of(&self, _file: &str) -> Result<String, String> {
        Err("no rule files are read here".into())
    }
    /// Puts a rule file in its place, if it is right and the file is still as it was `before`.
    fn place_rules(&self, _file: &str, _before: &str, _text: &str) -> Result<(), NotPlaced> {
        Err(NotPlaced::Wrong("no rule files are written here".into()))
    }
    /// The names that a condition can use, with their fields: what a line that takes one is completed by.
    fn condition_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// The same for somebody to read: all names in one line, then the words that some can be.
    fn condition_fields(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Nothing behind the scene: pictures, and tests that need none.
#[derive(Debug, Default)]
pub struct Nobody;

impl Backstage for Nobody {
    fn ask(&mut self, ask: Ask) -> Result<(), String> {
        match ask {
            Ask::Bench(_) => Err("nothing evaluates checkpoints here".to_owned()),
            Ask::CancelBench | Ask::CancelDiff | Ask::Catalogue => Ok(()),
            Ask::Diff(_) => Err("nobody here compares recordings".into()),
            Ask::DryRun(_) => Err("nobody here tries rules".into()),
            Ask::Bundle { .. } => Err("nobody here packs recordings".into()),
            Ask::Open { .. } | Ask::Fork { .. } => Err("nobody here opens recordings".into()),
        }
    }

    fn news(&mut self) -> Vec<News> {
        Vec::new()
    }
}

/// Hands the desk what has come; what to tell, newest last, and whether anything came.
pub fn collect(backstage: &mut dyn Backstage, desk: &mut Desk) -> (bool, Option<String>) {
    let news = backstage.news();
    let came = !news.is_empty();
    // The notice has one line: none of what came at once pushes another one out.
    let told: Vec<String> = news.into_iter().filter_map(|n| desk.take(n)).collect();
    (came, (!told.is_empty()).then(|| told.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Says(Vec<News>);

    impl Backstage for Says {
        fn ask(&mut self, _: Ask) -> Result<(), String> {
            Ok(())
        }

        fn news(&mut self) -> Vec<News> {
            std::mem::take(&mut self.0)
        }
    }

    #[test]
    fn bad_news_is_not_pushed_out_by_what_came_with_it() {
        let subject = Subject { id: "a".into(), sha256: "0".into() };
        let bad = News::Bench(BenchNews::Soundness(subject.clone(), Soundness::Unsound("flipped".into())));
        let quiet = News::Bench(BenchNews::Done(BenchAsk::Verify(subject)));
        let mut says = Says(vec![bad, quiet, News::Told("something else".into())]);
        let mut desk = Desk::default();
        assert_eq!(collect(&mut says, &mut desk), (true, Some("a is BAD: flipped; something else".to_owned())));
        assert_eq!(collect(&mut says, &mut desk), (false, None));
    }
}
