//! What the console asks of the rooms that it may not import. `run/` implements it; tests have their own.
//!
//! Long work is asked for and comes back as news, so that no key waits for it.

use super::bench::{Comparison, Dossier, Evaluation, Soundness, WeightChange};
use super::desk::Desk;
use crate::event::CheckpointId;

/// Work that takes its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Bench(BenchAsk),
}

/// About checkpoints. Evaluations are on the held-out seeds from 0 on, as many as said.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchAsk {
    Dossier(CheckpointId),
    Verify(CheckpointId),
    Evaluate(CheckpointId, u32),
    Compare(CheckpointId, CheckpointId, u32),
}

/// What came of it.
#[derive(Debug)]
pub enum News {
    /// A line for the operator.
    Told(String),
    Bench(BenchNews),
}

#[derive(Debug)]
pub enum BenchNews {
    Dossier(CheckpointId, Result<Dossier, String>),
    Soundness(CheckpointId, Soundness),
    Evaluation(CheckpointId, Evaluation),
    Comparison(Comparison),
    Weights(Result<WeightChange, String>),
}

pub trait Backstage {
    /// Begins the work; why it can't, if so.
    fn ask(&mut self, ask: Ask) -> Result<(), String>;
    /// What has come since the last call. Never waits.
    fn news(&mut self) -> Vec<News>;
}

/// Nothing behind the scene: pictures, and tests that need none.
#[derive(Debug, Default)]
pub struct Nobody;

impl Backstage for Nobody {
    fn ask(&mut self, ask: Ask) -> Result<(), String> {
        match ask {
            Ask::Bench(_) => Err("nothing evaluates checkpoints here".to_owned()),
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
    (came, news.into_iter().filter_map(|n| desk.take(n)).last())
}
