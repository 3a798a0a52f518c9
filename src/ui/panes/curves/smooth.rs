//! From values to what is drawn of them: smoothed first, then brought to columns by the chart, never the other way.

use crate::state::Bucket;
use crate::ui::widgets::Point;

/// An exponential mean without the bias of its beginning (Kingma and Ba 2015, section 3): each value counts, and the weights sum to 1.
#[derive(Clone, Copy, Debug)]
pub struct Ema {
    past: f64,
    mean: f64,
    weight: f64,
}

impl Ema {
    /// `past` is the weight of what was before, from 0 (nothing is smoothed) to below 1.
    pub fn new(past: f64) -> Self {
        Self { past, mean: 0.0, weight: 0.0 }
    }

    /// Takes `count` values in, each of them `value`; gives the mean after the last.
    pub fn push(&mut self, value: f64, count: u64) -> f64 {
        let kept = if count == 1 { self.past } else { self.past.powf(count as f64) };
        self.weight = kept * self.weight + (1.0 - kept);
        let rate = (1.0 - kept) / self.weight;
        let moved = self.mean + rate * (value - self.mean);
        // The difference of two numbers need not be one.
        self.mean = if moved.is_finite() { moved } else { self.mean * (1.0 - rate) + value * rate };
        self.mean
    }
}

/// A curve ready to be drawn, and what of it could not be.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    pub points: Vec<Point>,
    /// By bucket: the smoothed value behind it; unset before the first finite one.
    pub smoothed: Vec<Option<f64>>,
    pub not_finite: u64,
    /// Values that a logarithmic axis has no place for.
    pub off_log: u64,
}

/// Smooths and takes logarithms. Where only buckets are left of old values, a bucket counts as that many values of its mean, and is
/// drawn at least as high as its highest value must have lifted the exponential mean, so that a spike stays one.
pub fn prepare(buckets: &[Bucket], past: f64, log: bool, x: impl Fn(&Bucket) -> (u64, u64)) -> Prepared {
    let mut out =
        Prepared { points: Vec::with_capacity(buckets.len()), smoothed: Vec::with_capacity(buckets.len()), ..Prepared::default() };
    let (mut ema, mut before, mut gap) = (Ema::new(past), None, false);
    let mut x_before = 0;
    for bucket in buckets {
        out.not_finite = out.not_finite.saturating_add(bucket.skipped);
        let Some(mean) = bucket.mean() else {
            gap = true;
            out.smoothed.push(before);
            continue;
        };
        let last = ema.push(mean, bucket.count);
        let (low, high, last) =
            if past > 0.0 { reach(bucket, past, before.unwrap_or(last), last) } else { (bucket.min, bucket.max, bucket.last) };
        before = Some(if past > 0.0 { last } else { bucket.last });
        out.smoothed.push(before);
        let shown = if log { logarithms(low, high, last) } else { Some((low, high, last)) };
        if log {
            // What was smoothed is one value for all of its bucket.
            let lost = if past == 0.0 { bucket.nonpositive } else { shown.map_or(bucket.count, |_| 0) };
            out.off_log = out.off_log.saturating_add(lost);
        }
        let Some((low, high, last)) = shown else {
            gap = true;
            continue;
        };
        // Files may say what they will: the axis goes forward.
        let (x_first, x_last) = x(bucket);
        let x_first = x_first.max(x_before);
        x_before = x_last.max(x_first);
        out.points.push(Point { x_first, x_last: x_before, low, high, last, gap });
        gap = false;
    }
    out
}

/// Lowest, highest and newest value of the exponential mean within a bucket, as far as they are known: when the highest value came,
/// the mean was not below the lowest one or what it was before, and it took its share of the highest.
fn reach(bucket: &Bucket, past: f64, before: f64, last: f64) -> (f64, f64, f64) {
    if bucket.count < 2 {
        return (last, last, last);
    }
    let peak = past * bucket.min.min(before) + (1.0 - past) * bucket.max;
    let trough = past * bucket.max.max(before) + (1.0 - past) * bucket.min;
    (last.min(trough), last.max(peak), last)
}

/// Unset where nothing is above 0; what is lower than the lowest that is known to be above 0 is left out.
fn logarithms(low: f64, high: f64, last: f64) -> Option<(f64, f64, f64)> {
    if high <= 0.0 {
        return None;
    }
    let last = if last > 0.0 { last } else { high };
    let low = if low > 0.0 { low } else { last.min(high) };
    Some((low.log10(), high.log10(), last.log10()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Series;
    use proptest::prelude::*;

    fn buckets(values: &[f64]) -> Vec<Bucket> {
        let mut series = Series::default();
        for (n, value) in (1..).zip(values) {
            series.push(n, n, *value);
        }
        series.buckets().collect()
    }

    fn at(bucket: &Bucket) -> (u64, u64) {
        (bucket.step_first, bucket.step_last)
    }

    /// The definition: weights `past^age`, normalised.
    fn naive(values: &[f64], past: f64) -> f64 {
        let weights = (0..values.len()).rev().map(|age| past.powi(age as i32));
        let (sum, whole) = values.iter().zip(weights).fold((0.0, 0.0), |(sum, whole), (v, w)| (sum + v * w, whole + w));
        sum / whole
    }

    proptest! {
        #[test]
        fn smoothing_is_the_weighted_mean_of_all_values_before(values in prop::collection::vec(-5.0..5.0f64, 1..60), tenths in 0..10u8) {
            let past = f64::from(tenths) / 10.0;
            let prepared = prepare(&buckets(&values), past, false, at);
            for (n, point) in prepared.points.iter().enumerate() {
                prop_assert!((point.last - naive(&values[..=n], past)).abs() < 1e-9, "{} of {:?}", n, values);
            }
            prop_assert_eq!(prepared.points[0].last, values[0]);
        }

        #[test]
        fn several_equal_values_at_once_are_the_same_as_one_by_one(value in -5.0..5.0f64, count in 1..50u64, tenths in 0..10u8) {
            let past = f64::from(tenths) / 10.0;
            let (mut a, mut b) = (Ema::new(past), Ema::new(past));
            a.push(1.0, 1);
            b.push(1.0, 1);
            let one_by_one = (0..count).map(|_| a.push(value, 1)).last().unwrap();
            prop_assert!((one_by_one - b.push(value, count)).abs() < 1e-9);
        }
    }

    #[test]
    fn what_stays_the_same_stays_the_same() {
        let prepared = prepare(&buckets(&[0.3; 5000]), 0.9, false, at);
        assert!(prepared.points.iter().all(|p| (p.low - 0.3).abs() < 1e-12 && (p.high - 0.3).abs() < 1e-12));
    }

    #[test]
    fn a_spike_in_old_history_lifts_the_smoothed_curve_as_much_as_it_must() {
        let mut values = vec![0.0; 200_000];
        values[777] = 100.0;
        for past in [0.1, 0.5, 0.9] {
            let high = prepare(&buckets(&values), past, false, at).points.iter().map(|p| p.high).fold(0.0, f64::max);
            assert!((high - 100.0 * (1.0 - past)).abs() < 1e-6, "{past}: {high}");
        }
        // A jump is no spike: the mean takes its time.
        let jump: Vec<f64> = (0..2000).map(|n| if n < 700 { 0.0 } else { 100.0 }).collect();
        let prepared = prepare(&buckets(&jump), 0.9, false, at);
        assert!(prepared.points.iter().all(|p| p.high <= 100.0 + 1e-9));
    }

    #[test]
    fn what_can_not_be_shown_is_counted() {
        let values = [1.0, f64::NAN, 0.0, -3.0, 100.0, f64::INFINITY];
        let prepared = prepare(&buckets(&values), 0.0, true, at);
        assert_eq!((prepared.not_finite, prepared.off_log, prepared.points.len()), (2, 2, 2));
        assert_eq!(prepared.points[1].last, 2.0);
        assert!(prepared.points[1].gap && !prepared.points[0].gap);
        let mut old = values.to_vec();
        old.extend([5.0; 4000]);
        let prepared = prepare(&buckets(&old), 0.0, true, at);
        assert_eq!((prepared.not_finite, prepared.off_log), (2, 2));
        assert!(prepared.points.iter().all(|p| p.low.is_finite() && p.low <= p.high && p.low <= p.last && p.last <= p.high));
    }
}
