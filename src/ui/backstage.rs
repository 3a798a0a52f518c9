//! What the console asks of the rooms that it may not import. `run/` implements it; tests have their own.
//!
//! Long work is asked for and comes back as news, so that no key waits for it.

use super::desk::Desk;

/// Work that takes its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {}

/// What came of it.
#[derive(Debug)]
pub enum News {
    /// A line for the operator.
    Told(String),
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
        match ask {}
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
