//! The whole history of a figure in bounded room: the newest values as they were, everything older in buckets.

use super::Ring;
use crate::event::num::Float;
use serde::{Deserialize, Serialize};

/// Newest values that are kept as they are.
pub const RECENT_MAX: usize = 512;
/// Buckets of what is older; two neighbours become one when there are more.
pub const BUCKETS_MAX: usize = 256;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, Float)", into = "(u64, u64, Float)")]
pub struct Sample {
    /// What it is counted by, such as episodes that had ended.
    pub step: u64,
    /// Nanoseconds since the run began.
    pub t_ns: u64,
    pub value: f64,
}

impl From<(u64, u64, Float)> for Sample {
    fn from((step, t_ns, Float(value)): (u64, u64, Float)) -> Self {
        Self { step, t_ns, value }
    }
}

impl From<Sample> for (u64, u64, Float) {
    fn from(sample: Sample) -> Self {
        (sample.step, sample.t_ns, Float(sample.value))
    }
}

/// Values that follow each other. What is not finite is counted in `skipped` and in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Bucket {
    pub step_first: u64,
    pub step_last: u64,
    pub t_ns_first: u64,
    pub t_ns_last: u64,
    /// Infinite where `count` is 0.
    pub min: f64,
    /// Infinite where `count` is 0.
    pub max: f64,
    pub sum: f64,
    /// The newest finite value; of no meaning where `count` is 0.
    pub last: f64,
    /// Finite values.
    pub count: u64,
    pub skipped: u64,
    /// Finite values that a logarithmic axis has no place for.
    pub nonpositive: u64,
}

/// A bucket as a file has it: a list, for there are many.
type Kept = (u64, u64, u64, u64, Float, Float, Float, Float, u64, u64, u64);

impl From<Kept> for Bucket {
    fn from((step_first, step_last, t_ns_first, t_ns_last, min, max, sum, last, count, skipped, nonpositive): Kept) -> Self {
        let (min, max, sum, last) = (min.0, max.0, sum.0, last.0);
        // Bounds that are none belong to a bucket that holds nothing.
        let count = if min <= max && min.is_finite() && max.is_finite() { count } else { 0 };
        let (min, max) = if count == 0 { (f64::INFINITY, f64::NEG_INFINITY) } else { (min, max) };
        Self { step_first, step_last, t_ns_first, t_ns_last, min, max, sum, last, count, skipped, nonpositive }
    }
}

impl From<Bucket> for Kept {
    fn from(b: Bucket) -> Self {
        let (min, max, sum, last) = (Float(b.min), Float(b.max), Float(b.sum), Float(b.last));
        (b.step_first, b.step_last, b.t_ns_first, b.t_ns_last, min, max, sum, last, b.count, b.skipped, b.nonpositive)
    }
}

impl From<Sample> for Bucket {
    fn from(sample: Sample) -> Self {
        let value = sample.value;
        let finite = value.is_finite();
        Self {
            step_first: sample.step,
            step_last: sample.step,
            t_ns_first: sample.t_ns,
            t_ns_last: sample.t_ns,
            min: if finite { value } else { f64::INFINITY },
            max: if finite { value } else { f64::NEG_INFINITY },
            sum: if finite { value } else { 0.0 },
            last: if finite { value } else { 0.0 },
            count: u64::from(finite),
            skipped: u64::from(!finite),
            nonpositive: u64::from(finite && value <= 0.0),
        }
    }
}

impl Bucket {
    /// Values in it, those that are not finite included.
    pub fn len(&self) -> u64 {
        self.count.saturating_add(self.skipped)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Mean of the finite values; unset where there is none, and where their sum is beyond every number.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64).filter(|mean| mean.is_finite())
    }

    /// This bucket with `later` behind it.
    pub fn joined(&self, later: &Bucket) -> Bucket {
        Bucket {
            step_first: self.step_first,
            step_last: later.step_last,
            t_ns_first: self.t_ns_first,
            t_ns_last: later.t_ns_last,
            min: self.min.min(later.min),
            max: self.max.max(later.max),
            sum: self.sum + later.sum,
            last: if later.count > 0 { later.last } else { self.last },
            count: self.count.saturating_add(later.count),
            skipped: self.skipped.saturating_add(later.skipped),
            nonpositive: self.nonpositive.saturating_add(later.nonpositive),
        }
    }
}

/// Buckets of equally many values, all but the last full; oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "KeptHistory")]
struct History {
    /// Values of a full bucket.
    width: u64,
    buckets: Vec<Bucket>,
}

/// What a file says of a history.
#[derive(Deserialize)]
struct KeptHistory {
    width: u64,
    buckets: Vec<Bucket>,
}

impl From<KeptHistory> for History {
    fn from(kept: KeptHistory) -> Self {
        let mut history = Self { width: kept.width.max(1), buckets: kept.buckets };
        while history.buckets.len() > BUCKETS_MAX {
            history.halve();
        }
        history
    }
}

impl Default for History {
    fn default() -> Self {
        Self { width: 1, buckets: Vec::new() }
    }
}

impl History {
    fn push(&mut self, sample: Sample) {
        let one = Bucket::from(sample);
        if let Some(last) = self.buckets.last_mut().filter(|last| last.len() < self.width) {
            *last = last.joined(&one);
            return;
        }
        if self.buckets.len() >= BUCKETS_MAX {
            self.halve();
        }
        self.buckets.push(one);
    }

    fn rewind(&mut self, step: u64) {
        while self.buckets.last().is_some_and(|newest| newest.step_first >= step) {
            self.buckets.pop();
        }
        if let Some(newest) = self.buckets.last_mut() {
            newest.step_last = newest.step_last.min(step.saturating_sub(1)).max(newest.step_first);
        }
    }

    fn halve(&mut self) {
        self.buckets = self.buckets.chunks(2).map(|pair| pair.iter().skip(1).fold(pair[0], |sum, next| sum.joined(next))).collect();
        self.width = self.width.saturating_mul(2);
    }
}

/// A figure from its first value on. Every value is in it once: among the newest, or in one bucket of what is older.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    recent: Ring<Sample, RECENT_MAX>,
    history: History,
}

impl Series {
    /// Appends a value. Steps and times don't go back: one that would is taken for the one after the last.
    pub fn push(&mut self, step: u64, t_ns: u64, value: f64) {
        let last = self.recent.last();
        let step = last.map_or(step, |last| step.max(last.step.saturating_add(1)));
        let t_ns = last.map_or(t_ns, |last| t_ns.max(last.t_ns));
        if self.recent.len() == RECENT_MAX
            && let Some(oldest) = self.recent.pop_oldest()
        {
            self.history.push(oldest);
        }
        self.recent.push(Sample { step, t_ns, value });
    }

    /// Forgets the values from `step` on, which are counted anew: training that goes on from an older checkpoint takes the same steps again.
    /// A bucket in which that step lies can't be parted and keeps its values, as those of the steps before.
    pub fn rewind(&mut self, step: u64) {
        while self.recent.last().is_some_and(|newest| newest.step >= step) {
            self.recent.pop_newest();
        }
        if self.recent.is_empty() {
            self.history.rewind(step);
        }
    }

    /// All of it, oldest first; a value of the newest is a bucket of its own.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.history.buckets.iter().copied().chain(self.recent.iter().map(|sample| Bucket::from(*sample)))
    }

    /// The newest values, oldest first.
    pub fn recent(&self) -> &Ring<Sample, RECENT_MAX> {
        &self.recent
    }

    /// Values ever pushed.
    pub fn total(&self) -> u64 {
        self.recent.total()
    }

    pub fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.history.buckets.is_empty()
    }
}

/// The figures of a run whose whole history is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curves {
    /// By episode; what was cut short is in none of them.
    pub episode_return: Series,
    pub hybrid: Series,
    /// 1 or 0, so that a mean is a ratio.
    pub success: Series,
    /// Decisions.
    pub length: Series,
    /// By update of training, as `UpdateCompleted` has them; an update without the figure is in none.
    pub policy_loss: Series,
    pub value_loss: Series,
    pub entropy: Series,
    pub approx_kl: Series,
    pub clip_fraction: Series,
    pub grad_norm: Series,
    pub explained_variance: Series,
    pub learning_rate: Series,
    pub tokens: Series,
    pub duration_ns: Series,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(values: impl Iterator<Item = f64>) -> Series {
        let mut series = Series::default();
        for (n, value) in (1..).zip(values) {
            series.push(n, n * 10, value);
        }
        series
    }

    #[test]
    fn a_million_values_take_bounded_room_and_a_spike_stays() {
        let values = (0..1_000_000).map(|n| if n == 123_456 { 1e6 } else { f64::from(n % 10) });
        let series = series(values);
        let buckets: Vec<Bucket> = series.buckets().collect();
        assert!(buckets.len() <= RECENT_MAX + BUCKETS_MAX, "{}", buckets.len());
        assert_eq!(buckets.iter().map(Bucket::len).sum::<u64>(), 1_000_000);
        let spike = buckets.iter().find(|b| b.max == 1e6).unwrap();
        assert!((spike.step_first..=spike.step_last).contains(&123_457));
        assert!(serde_json::to_string(&series).unwrap().len() < 48_000);
    }

    #[test]
    fn what_is_counted_anew_takes_the_place_of_what_was() {
        for (values, back_to) in [(100u64, 60u64), (100, 1), (5_000, 4_900), (5_000, 300), (5_000, 1), (100_000, 777)] {
            let mut series = series((1..=values).map(|n| n as f64));
            series.rewind(back_to);
            for step in back_to..back_to + 50 {
                series.push(step, values * 10 + step, -1.0);
            }
            let buckets: Vec<Bucket> = series.buckets().collect();
            assert_eq!(buckets.last().map(|b| b.step_last), Some(back_to + 49), "{values} back to {back_to}");
            assert_eq!(buckets.iter().filter(|b| b.max == -1.0).map(Bucket::len).sum::<u64>(), 50);
            assert!(buckets.windows(2).all(|w| w[0].step_last < w[1].step_first), "{values} back to {back_to}");
            assert!(buckets.iter().all(|b| b.step_first <= b.step_last));
        }
        let mut series = series((1..=5_000).map(|n| n as f64));
        series.rewind(1);
        assert!(series.is_empty());
    }

    #[test]
    fn a_file_can_neither_make_it_grow_nor_break_it() {
        let bucket = "[1,2,3,4,\"NaN\",1.0,\"+Inf\",2.0,18446744073709551615,18446744073709551615,7]";
        let many = vec![bucket; 5000].join(",");
        let text = format!(r#"{{"recent":{{"items":[],"total":0}},"history":{{"width":0,"buckets":[{many}]}}}}"#);
        let mut series: Series = serde_json::from_str(&text).unwrap();
        assert!(series.buckets().count() <= BUCKETS_MAX);
        for n in 0..2000 {
            series.push(u64::MAX, n, 1.0);
        }
        assert!(series.buckets().count() <= BUCKETS_MAX + RECENT_MAX);
        assert!(series.buckets().all(|b| b.count == 0 || b.min <= b.max));
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bucket_and_nothing_is_lost_on_the_way_through_a_file(
            values in prop::collection::vec(prop_oneof![8 => -9.0..9.0f64, 1 => Just(f64::NAN)], 0..3000)
        ) {
            let series = series(values.iter().copied());
            let mut at = 0;
            for bucket in series.buckets() {
                let these = &values[at..at + bucket.len() as usize];
                let finite: Vec<f64> = these.iter().copied().filter(|v| v.is_finite()).collect();
                prop_assert_eq!(bucket.step_first, at as u64 + 1);
                prop_assert_eq!(bucket.step_last, (at + these.len()) as u64);
                prop_assert_eq!(bucket.count, finite.len() as u64);
                prop_assert_eq!(bucket.nonpositive, finite.iter().filter(|v| **v <= 0.0).count() as u64);
                prop_assert_eq!(bucket.min, finite.iter().copied().fold(f64::INFINITY, f64::min));
                prop_assert_eq!(bucket.max, finite.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                if let Some(last) = finite.last() {
                    prop_assert_eq!(bucket.last, *last);
                    prop_assert!((bucket.mean().unwrap() - finite.iter().sum::<f64>() / finite.len() as f64).abs() < 1e-9);
                }
                at += these.len();
            }
            prop_assert_eq!(at, values.len());
            let text = serde_json::to_string(&series).unwrap();
            let again: Series = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(serde_json::to_string(&again).unwrap(), text);
        }
    }
}
