//! What is known of each lane between two of its events.

use crate::event::LaneId;
use std::collections::BTreeMap;

/// Lanes that are looked at; a file may name any number.
const LANES_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Lane {
    /// When its observation came, and how long the run had been paused by then.
    pub observed_ns: Option<(u64, u64)>,
    /// Number of the call under way, and when it began.
    pub call: Option<(u64, u64)>,
    pub episode_began_ns: Option<u64>,
    pub context_tokens: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub queue_length: Option<f64>,
    pub queue_age_seconds: Option<f64>,
    /// Places of these two in the observation.
    pub queue_fields: Vec<(usize, QueueField)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueField {
    Length,
    /// With what makes seconds of it.
    Age(u32),
}

#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<LaneId, Lane>);

impl Lanes {
    /// The lane; all beyond the bound share one place.
    pub fn lane(&mut self, id: LaneId) -> &mut Lane {
        let is_full = self.0.len() >= LANES_MAX && !self.0.contains_key(&id);
        self.0.entry(if is_full { LaneId(u32::MAX) } else { id }).or_default()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Lane> {
        self.0.values()
    }
}
