//! The run's series, folded from events.

use super::Store;
use crate::event::Envelope;

#[derive(Debug, Default)]
pub struct Meter {}

impl Meter {
    pub fn new(_instance: &str, _job: &str) -> Self {
        Self {}
    }

    pub fn observe(&mut self, _envelope: &Envelope) {}

    pub fn collect(&mut self, _store: &mut Store, _at_ms: i64) {}
}
