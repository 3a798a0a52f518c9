//! Series and their points, bounded in number and in memory.

mod bits;
mod chunk;
mod decimal;
mod postings;
mod series;
#[cfg(test)]
mod tests;

use super::{Labels, METRIC_NAME, Matcher};
use postings::Postings;
use series::Series;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

pub use series::SeriesRef;

/// The NaN that says that a series has ended, as Prometheus writes it.
const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;
/// Series without points are looked for each time that the newest point has moved on by this share of the retention.
const SWEEPS_A_RETENTION: i64 = 16;

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
    /// Points older than this, counted from the newest of the whole store, are let go.
    pub retention_ms: i64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { series_max: 50_000, bytes_max: 64 << 20, retention_ms: 6 * 3_600_000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    #[error("the point is not newer than the last one of its series, or older than the retention")]
    OutOfOrder,
    #[error("there are as many series as are kept")]
    SeriesCap,
    #[error("the series of this id is no more")]
    Gone,
}

/// A series of one store, for as long as it has points. The number is used again for another series, then with another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesId {
    slot: u32,
    generation: u32,
}

/// How much a store holds, and what it refused so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    pub series: usize,
    /// Bytes of points.
    pub bytes: usize,
    pub points: usize,
    pub refused_out_of_order: u64,
    pub refused_series: u64,
    /// Points that went before their time, for want of memory.
    pub evicted: u64,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    series: Option<Series>,
}

/// All series.
#[derive(Debug, Default)]
pub struct Store {
    caps: Caps,
    by_labels: HashMap<Labels, u32>,
    slots: Vec<Slot>,
    /// Slots without a series.
    free: Vec<u32>,
    postings: Postings,
    /// Packed chunks by the time of their last point; some are gone already.
    chunks: BinaryHeap<Reverse<(i64, u32, u32)>>,
    newest_ms: Option<i64>,
    /// Where the newest point was when series without points were looked for.
    swept_ms: i64,
    stats: StoreStats,
}

impl Store {
    pub fn new(caps: Caps) -> Self {
        Self { caps, ..Self::default() }
    }

    /// The same point twice is one; another value at the last time is refused.
    pub fn append(&mut self, labels: &Labels, t_ms: i64, value: f64) -> Result<(), AppendError> {
        let id = self.id(labels)?;
        self.append_at(id, t_ms, value)
    }

    /// The id of a series, which is made where there is none.
    pub fn id(&mut self, labels: &Labels) -> Result<SeriesId, AppendError> {
        if let Some(slot) = self.by_labels.get(labels) {
            return Ok(SeriesId { slot: *slot, generation: self.slots[*slot as usize].generation });
        }
        if self.by_labels.len() >= self.caps.series_max {
            self.stats.refused_series += 1;
            return Err(AppendError::SeriesCap);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        self.by_labels.insert(labels.clone(), slot);
        self.postings.add(slot, labels);
        let place = &mut self.slots[slot as usize];
        place.series = Some(Series::new(labels.clone()));
        Ok(SeriesId { slot, generation: place.generation })
    }

    /// As `append`, by the id that `id` gave.
    pub fn append_at(&mut self, id: SeriesId, t_ms: i64, value: f64) -> Result<(), AppendError> {
        let horizon_ms = self.horizon_ms();
        let place = self.slots.get_mut(id.slot as usize).filter(|s| s.generation == id.generation);
        let Some(series) = place.and_then(|s| s.series.as_mut()) else { return Err(AppendError::Gone) };
        match series.last() {
            Some(last) if last.t_ms == t_ms && last.value.to_bits() == value.to_bits() => return Ok(()),
            Some(last) if last.t_ms >= t_ms => {
                self.stats.refused_out_of_order += 1;
                return Err(AppendError::OutOfOrder);
            }
            Some(_) | None if t_ms < horizon_ms => {
                self.stats.refused_out_of_order += 1;
                return Err(AppendError::OutOfOrder);
            }
            Some(_) | None => {}
        }
        let (before, packed) = (series.bytes(), series.push(Point { t_ms, value }));
        self.stats.bytes = self.stats.bytes + series.bytes() - before;
        self.stats.points += 1;
        self.chunks.extend(packed.map(|end_ms| Reverse((end_ms, id.slot, id.generation))));
        self.moved_on(t_ms);
        if self.stats.bytes > self.caps.bytes_max {
            self.make_room();
        }
        Ok(())
    }

    /// Series with points whose labels meet all matchers, in a stable order.
    pub fn select<'s>(&'s self, matchers: &[Matcher]) -> Vec<SeriesRef<'s>> {
        let horizon_ms = self.horizon_ms();
        let (candidates, checked) = self.postings.candidates(matchers);
        let left: Vec<&Matcher> = matchers.iter().enumerate().filter(|(at, _)| Some(*at) != checked).map(|(_, m)| m).collect();
        let found = |slot: u32| {
            let series = self.slots.get(slot as usize)?.series.as_ref()?;
            let holds = series.last().is_some_and(|last| last.t_ms >= horizon_ms)
                && left.iter().all(|m| m.matches(series.labels().get(&m.name).unwrap_or_default()));
            holds.then(|| SeriesRef::new(series, horizon_ms))
        };
        match candidates {
            Some(slots) => slots.iter().copied().filter_map(found).collect(),
            None => (0..self.slots.len() as u32).filter_map(found).collect(),
        }
    }

    pub fn series_count(&self) -> usize {
        self.by_labels.len()
    }

    /// The names that its series have.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.postings.values(METRIC_NAME)
    }

    /// The time of the newest point.
    pub fn newest_ms(&self) -> Option<i64> {
        self.newest_ms
    }

    pub fn stats(&self) -> StoreStats {
        StoreStats { series: self.series_count(), ..self.stats }
    }

    /// Points before this are let go.
    fn horizon_ms(&self) -> i64 {
        self.newest_ms.map_or(i64::MIN, |newest| newest.saturating_sub(self.caps.retention_ms))
    }

    fn moved_on(&mut self, t_ms: i64) {
        let newest_ms = self.newest_ms.map_or(t_ms, |newest| newest.max(t_ms));
        if self.newest_ms.is_none() {
            self.swept_ms = newest_ms;
        }
        self.newest_ms = Some(newest_ms);
        if newest_ms.saturating_sub(self.swept_ms) > self.caps.retention_ms / SWEEPS_A_RETENTION {
            self.swept_ms = newest_ms;
            self.sweep();
        }
    }

    /// Lets go what is older than the retention, and series that have nothing left.
    fn sweep(&mut self) {
        let horizon_ms = self.horizon_ms();
        while self.chunks.peek().is_some_and(|Reverse((end_ms, ..))| *end_ms < horizon_ms) {
            self.chunks.pop();
        }
        let mut gone = Vec::new();
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let Some(series) = &mut slot.series else { continue };
            let before = series.bytes();
            self.stats.points -= series.let_go(horizon_ms);
            self.stats.bytes = self.stats.bytes + series.bytes() - before;
            if series.is_over() {
                gone.push(at as u32);
            }
        }
        for slot in &gone {
            let place = &mut self.slots[*slot as usize];
            let Some(series) = place.series.take() else { continue };
            self.stats.bytes -= series.bytes();
            place.generation = place.generation.wrapping_add(1);
            self.by_labels.remove(series.labels());
            self.postings.remove(*slot, series.labels());
            self.free.push(*slot);
        }
    }

    /// Lets the oldest packed points go until there is room again; where none are packed, the older half of what each series has.
    fn make_room(&mut self) {
        while self.stats.bytes > self.caps.bytes_max {
            let Some(Reverse((end_ms, slot, generation))) = self.chunks.pop() else { return self.halve() };
            let place = self.slots.get_mut(slot as usize).filter(|s| s.generation == generation);
            // A chunk that went for its age has its entry still, and what the series has now is newer.
            let Some(series) = place.and_then(|s| s.series.as_mut()).filter(|s| s.oldest_chunk_ms() == Some(end_ms)) else { continue };
            let before = series.bytes();
            let points = series.let_oldest_chunk_go();
            self.stats.bytes = self.stats.bytes + series.bytes() - before;
            self.stats.points -= points;
            self.stats.evicted += points as u64;
        }
    }

    fn halve(&mut self) {
        for series in self.slots.iter_mut().filter_map(|s| s.series.as_mut()) {
            let before = series.bytes();
            let points = series.halve();
            self.stats.bytes = self.stats.bytes + series.bytes() - before;
            self.stats.points -= points;
            self.stats.evicted += points as u64;
        }
    }
}
