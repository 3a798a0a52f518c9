//! One series: its newest points as they are, older ones packed.

use super::chunk::Chunk;
use super::{Labels, Point};
use std::collections::VecDeque;

/// Points of a packed chunk.
pub(super) const CHUNK_POINTS: usize = 120;
/// The newest points stay unpacked for this long, so that what rules mostly ask for is at hand …
pub(super) const OPEN_MS: i64 = 330_000;
/// … as long as there are not more of them.
const OPEN_POINTS_MAX: usize = 480;

#[derive(Debug)]
pub(super) struct Series {
    labels: Labels,
    /// Oldest first, each before the next, all before `open`.
    packed: VecDeque<Chunk>,
    packed_bytes: usize,
    open: Vec<Point>,
    /// It has had a point, or had none yet when that was looked at last.
    may_end: bool,
}

impl Series {
    pub fn new(labels: Labels) -> Self {
        Self { labels, packed: VecDeque::new(), packed_bytes: 0, open: Vec::new(), may_end: false }
    }

    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The newest point; the open ones are never all packed.
    pub fn last(&self) -> Option<Point> {
        self.open.last().copied()
    }

    /// What its points take.
    pub fn bytes(&self) -> usize {
        self.packed_bytes + self.open.capacity() * size_of::<Point>()
    }

    /// Takes a point that is newer than the last. The time of the last point that was packed, if any were.
    pub fn push(&mut self, point: Point) -> Option<i64> {
        self.may_end = true;
        self.open.push(point);
        let oldest = self.open.get(CHUNK_POINTS)?;
        let is_old = oldest.t_ms <= point.t_ms.saturating_sub(OPEN_MS);
        if !is_old && self.open.len() < OPEN_POINTS_MAX {
            return None;
        }
        let chunk = Chunk::pack(&self.open[..CHUNK_POINTS]);
        self.open.drain(..CHUNK_POINTS);
        let end_ms = chunk.end_ms();
        self.packed_bytes += chunk.bytes();
        self.packed.push_back(chunk);
        Some(end_ms)
    }

    /// Lets points go that are older than the horizon; packed ones by whole chunks. How many.
    pub fn let_go(&mut self, horizon_ms: i64) -> usize {
        let mut gone = 0;
        while self.packed.front().is_some_and(|chunk| chunk.end_ms() < horizon_ms) {
            gone += self.let_oldest_chunk_go();
        }
        if self.packed.is_empty() && self.open.first().is_some_and(|first| first.t_ms < horizon_ms) {
            let old = self.open.partition_point(|p| p.t_ms < horizon_ms);
            self.open.drain(..old);
            self.open.shrink_to(self.open.len() * 2);
            gone += old;
        }
        gone
    }

    /// The time of the last point of the oldest packed chunk.
    pub fn oldest_chunk_ms(&self) -> Option<i64> {
        self.packed.front().map(Chunk::end_ms)
    }

    pub fn let_oldest_chunk_go(&mut self) -> usize {
        let Some(chunk) = self.packed.pop_front() else { return 0 };
        self.packed_bytes -= chunk.bytes();
        chunk.points()
    }

    /// Lets the older half of the unpacked points go, the newest one never. How many.
    pub fn halve(&mut self) -> usize {
        let half = self.open.len() / 2;
        self.open.drain(..half);
        self.open.shrink_to_fit();
        half
    }

    /// Whether it has no points left. One that was asked for and has none yet gets a whole round.
    pub fn is_over(&mut self) -> bool {
        self.open.is_empty() && self.packed.is_empty() && std::mem::replace(&mut self.may_end, true)
    }
}

/// One series of a store.
#[derive(Clone, Copy, Debug)]
pub struct SeriesRef<'s> {
    series: &'s Series,
    /// Older points are not there any more, whether they were let go already or not.
    horizon_ms: i64,
}

impl<'s> SeriesRef<'s> {
    pub(super) fn new(series: &'s Series, horizon_ms: i64) -> Self {
        Self { series, horizon_ms }
    }

    pub fn labels(&self) -> &'s Labels {
        &self.series.labels
    }

    /// The newest point in `(after_ms, until_ms]`, be it a stale marker or not.
    pub fn latest(&self, after_ms: i64, until_ms: i64) -> Option<Point> {
        self.before(until_ms).filter(|p| p.t_ms > after_ms && p.t_ms >= self.horizon_ms)
    }

    /// The newest point that is not after.
    fn before(&self, until_ms: i64) -> Option<Point> {
        let open = &self.series.open;
        if let Some(last) = open.last().filter(|last| last.t_ms <= until_ms) {
            return Some(*last);
        }
        let in_open = open.partition_point(|p| p.t_ms <= until_ms);
        if in_open > 0 {
            return open.get(in_open - 1).copied();
        }
        let chunk = self.series.packed.iter().rev().find(|chunk| chunk.begin_ms() <= until_ms)?;
        chunk.unpack().take_while(|p| p.t_ms <= until_ms).last()
    }

    /// Appends the points in `(after_ms, until_ms]` to `out`, stale markers included.
    pub fn points(&self, after_ms: i64, until_ms: i64, out: &mut Vec<Point>) {
        let after_ms = after_ms.max(self.horizon_ms.saturating_sub(1));
        let packed = &self.series.packed;
        let first = packed.partition_point(|chunk| chunk.end_ms() <= after_ms);
        for chunk in packed.range(first..).take_while(|chunk| chunk.begin_ms() <= until_ms) {
            out.extend(chunk.unpack().filter(|p| p.t_ms > after_ms && p.t_ms <= until_ms));
        }
        let open = &self.series.open;
        let from = open.partition_point(|p| p.t_ms <= after_ms);
        let to = open.partition_point(|p| p.t_ms <= until_ms);
        out.extend_from_slice(open.get(from..to).unwrap_or_default());
    }
}
