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
    /// Share of calls that succeeded; unset before the first has finished.
    pub fn ok_ratio(&self) -> Option<f64> {
        let finished = self.calls_total.saturating_sub(u64::from(self.in_flight));
        (finished > 0).then(|| 1.0 - self.errors_total as f64 / finished as f64)
    }

    /// Nearest-rank quantile of the newest latencies, `q` in [0, 1]; unset when there is none.
    pub fn duration_ns_quantile(&self, q: f64) -> Option<u64> {
        let mut sorted: Vec<u64> = self.durations_ns.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (q.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    }
}
