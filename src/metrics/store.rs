//! Series and their points, bounded in number and in memory.

use super::{Labels, Matcher};
use std::collections::HashMap;

/// The NaN that says that a series has ended, as Prometheus writes it.
const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// The marker of a series that has ended.
pub fn stale() -> f64 {
    f64::from_bits(STALE_BITS)
}

pub fn is_stale(value: f64) -> bool {
    value.to_bits() == STALE_BITS
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Milliseconds since 1970.
    pub t_ms: i64,
    pub value: f64,
}

/// What a store may hold.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    pub series_max: usize,
    /// Bytes of points.
    pub bytes_max: usize,
    /// Points older than this, counted from the newest, are let go.
    pub retention_ms: i64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { series_max: 50_000, bytes_max: 64 << 20, retention_ms: 6 * 3_600_000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    #[error("the point is not newer than the last one of its series")]
    OutOfOrder,
    #[error("there are as many series as are kept")]
    SeriesCap,
}

/// All series.
#[derive(Debug, Default)]
pub struct Store {
    caps: Caps,
    by_labels: HashMap<Labels, usize>,
    series: Vec<(Labels, Vec<Point>)>,
}

impl Store {
    pub fn new(caps: Caps) -> Self {
        Self { caps, ..Self::default() }
    }

    /// The same point twice is one; another value at the last time is refused.
    pub fn append(&mut self, labels: &Labels, t_ms: i64, value: f64) -> Result<(), AppendError> {
        let next = self.series.len();
        let at = match self.by_labels.get(labels) {
            Some(at) => *at,
            None if next >= self.caps.series_max => return Err(AppendError::SeriesCap),
            None => {
                self.by_labels.insert(labels.clone(), next);
                self.series.push((labels.clone(), Vec::new()));
                next
            }
        };
        let points = &mut self.series[at].1;
        match points.last() {
            Some(last) if last.t_ms == t_ms && last.value.to_bits() == value.to_bits() => Ok(()),
            Some(last) if last.t_ms >= t_ms => Err(AppendError::OutOfOrder),
            Some(_) | None => {
                points.push(Point { t_ms, value });
                Ok(())
            }
        }
    }

    /// Series whose labels meet all matchers, in the order in which they came.
    pub fn select<'s>(&'s self, matchers: &[Matcher]) -> Vec<SeriesRef<'s>> {
        let holds = |labels: &Labels| matchers.iter().all(|m| m.matches(labels.get(&m.name).unwrap_or_default()));
        self.series.iter().filter(|(labels, _)| holds(labels)).map(|(labels, points)| SeriesRef { labels, points }).collect()
    }

    pub fn series_count(&self) -> usize {
        self.series.len()
    }
}

/// One series of a store.
#[derive(Clone, Copy, Debug)]
pub struct SeriesRef<'s> {
    labels: &'s Labels,
    points: &'s [Point],
}

impl SeriesRef<'_> {
    pub fn labels(&self) -> &Labels {
        self.labels
    }

    /// The newest point in `(after_ms, until_ms]`, be it a stale marker or not.
    pub fn latest(&self, after_ms: i64, until_ms: i64) -> Option<Point> {
        let end = self.points.partition_point(|p| p.t_ms <= until_ms);
        self.points[..end].last().copied().filter(|p| p.t_ms > after_ms)
    }

    /// Appends the points in `(after_ms, until_ms]` to `out`, stale markers included.
    pub fn points(&self, after_ms: i64, until_ms: i64, out: &mut Vec<Point>) {
        let from = self.points.partition_point(|p| p.t_ms <= after_ms);
        let to = self.points.partition_point(|p| p.t_ms <= until_ms);
        out.extend_from_slice(self.points.get(from..to).unwrap_or_default());
    }
}
