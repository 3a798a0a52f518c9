//! What the console knows beside the folded state: the open recording's book, the catalogue of recordings, evaluations and
//! comparisons, breakpoints. Panes read it; what changes it comes from the source and from backstage.

use super::backstage::News;
use super::bench::Bench;

#[derive(Debug, Default)]
pub struct Desk {
    /// About checkpoints.
    pub bench: Bench,
}

impl Desk {
    /// Takes up what backstage brought; what to tell the operator, if anything.
    pub fn take(&mut self, news: News) -> Option<String> {
        match news {
            News::Told(text) => Some(text),
            News::Bench(news) => self.bench.take(news),
        }
    }
}
