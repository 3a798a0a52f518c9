//! Counts and latencies of each tool.

use super::Ring;
use crate::event::{ErrorType, SafeText};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolStats {
    pub calls_total: u64,
    pub errors_total: u64,
    pub in_flight: u32,
    /// Latencies of the newest calls; the quantiles are over these.
    pub durations_ns: Ring<u64>,
    pub last_error: Option<(ErrorType, SafeText)>,
}

impl ToolStats {
    /// Tools that have a row of their own: an agent may make up any number of names.
    pub const TOOLS_MAX: usize = 128;
    /// The row of all tools behind those.
    pub const OTHERS: &str = "(others)";
    /// Characters of a name that tell it from another.
    const NAME_CHARS_MAX: usize = 96;

    /// The name under which a tool is counted: a call's start and its end come by the same one, however hostile the name.
    pub fn key(name: &str) -> String {
        SafeText::new(name).chars().take(Self::NAME_CHARS_MAX).collect()
    }

    /// Share of calls that succeeded; unset before the first has finished.
    pub fn ok_ratio(&self) -> Option<f64> {
        let finished = self.calls_total.saturating_sub(u64::from(self.in_flight));
        (finished > 0).then(|| (1.0 - self.errors_total as f64 / finished as f64).max(0.0))
    }

    /// Nearest-rank quantile of the newest latencies, `q` in [0, 1]; unset when there is none.
    pub fn duration_ns_quantile(&self, q: f64) -> Option<u64> {
        let mut sorted: Vec<u64> = self.durations_ns.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (q.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    }
}
