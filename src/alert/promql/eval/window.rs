//! Functions of the points of one series in one window.

use crate::metrics::Point;

/// A window: points after `start_ms` up to `end_ms`, in order, without stale markers, at least one.
#[derive(Clone, Copy)]
pub struct Window<'p> {
    pub points: &'p [Point],
    pub start_ms: i64,
    pub end_ms: i64,
    /// Whether the first and last points are those of the window's edges, so that growth is not extrapolated.
    pub is_extended: bool,
}

/// Adds with the error carried along (Neumaier's variant of Kahan's sum).
pub fn kahan(increment: f64, sum: f64, carry: f64) -> (f64, f64) {
    let total = sum + increment;
    let carry = if total.is_infinite() {
        0.0
    } else if sum.abs() >= increment.abs() {
        carry + ((sum - total) + increment)
    } else {
        carry + ((increment - total) + sum)
    };
    (total, carry)
}

/// A mean that is summed up directly as long as the sum does not overflow, and updated value by value from there on.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    count: f64,
    sum: f64,
    carry: f64,
    incremental: bool,
}

impl Mean {
    pub fn new(first: f64) -> Self {
        Self { count: 1.0, sum: first, carry: 0.0, incremental: false }
    }

    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        if !self.incremental {
            let (sum, carry) = kahan(value, self.sum, self.carry);
            if !sum.is_infinite() {
                (self.sum, self.carry) = (sum, carry);
                return;
            }
            self.incremental = true;
            self.sum /= self.count - 1.0;
            self.carry /= self.count - 1.0;
        }
        let share = (self.count - 1.0) / self.count;
        (self.sum, self.carry) = kahan(value / self.count, share * self.sum, share * self.carry);
    }

    pub fn value(&self) -> f64 {
        if self.incremental { self.sum + self.carry } else { self.sum / self.count + self.carry / self.count }
    }
}

/// The q-quantile of values in any order, between neighbours in proportion. NaN comes before all numbers.
pub fn quantile(q: f64, values: &mut [f64]) -> f64 {
    if values.is_empty() || q.is_nan() {
        return f64::NAN;
    }
    if q < 0.0 {
        return f64::NEG_INFINITY;
    }
    if q > 1.0 {
        return f64::INFINITY;
    }
    values.sort_unstable_by(|a, b| b.is_nan().cmp(&a.is_nan()).then(a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)));
    let rank = q * (values.len() - 1) as f64;
    let lower = rank.floor().max(0.0) as usize;
    let upper = (lower + 1).min(values.len() - 1);
    let weight = rank - rank.floor();
    values[lower] * (1.0 - weight) + values[upper] * weight
}

impl Window<'_> {
    fn values(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.value)
    }

    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().zip(self.points.iter().skip(1)).map(|(a, b)| (a.value, b.value))
    }

    /// Growth over the window: the points' difference, extended to the window's edges where points come close to them, else by half of
    /// the points' spacing. A counter's resets are added, and it is not extended below zero.
    pub fn extrapolated(&self, is_counter: bool, per_second: bool) -> Option<f64> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        if self.points.len() < 2 {
            return None;
        }
        let mut growth = last.value - first.value;
        if is_counter {
            growth = self.pairs().filter(|(before, after)| after < before).fold(growth, |sum, (before, _)| sum + before);
        }
        let seconds = |ms: i64| ms as f64 / 1000.0;
        if self.is_extended {
            return Some(if per_second { growth / seconds(self.end_ms - self.start_ms) } else { growth });
        }
        let sampled = seconds(last.t_ms - first.t_ms);
        let spacing = sampled / (self.points.len() - 1) as f64;
        let threshold = spacing * 1.1;
        let mut to_start = seconds(first.t_ms - self.start_ms);
        if to_start >= threshold {
            to_start = spacing / 2.0;
        }
        if is_counter && growth > 0.0 && first.value >= 0.0 {
            to_start = to_start.min(sampled * (first.value / growth));
        }
        let mut to_end = seconds(self.end_ms - last.t_ms);
        if to_end >= threshold {
            to_end = spacing / 2.0;
        }
        let mut factor = (sampled + to_start + to_end) / sampled;
        if per_second {
            factor /= seconds(self.end_ms - self.start_ms);
        }
        Some(growth * factor)
    }

    /// The last two points' difference, or its rate.
    pub fn instant(&self, is_rate: bool) -> Option<f64> {
        let [.., before, last] = self.points else { return None };
        let growth = if is_rate && last.value < before.value { last.value } else { last.value - before.value };
        let elapsed_ms = last.t_ms - before.t_ms;
        if elapsed_ms == 0 {
            return None;
        }
        Some(if is_rate { growth / (elapsed_ms as f64 / 1000.0) } else { growth })
    }

    pub fn sum(&self) -> f64 {
        let (sum, carry) = self.values().fold((0.0, 0.0), |(sum, carry), value| kahan(value, sum, carry));
        if sum.is_infinite() { sum } else { sum + carry }
    }

    pub fn mean(&self) -> f64 {
        let mut values = self.values();
        let mut mean = Mean::new(values.next().unwrap_or(f64::NAN));
        values.for_each(|value| mean.add(value));
        mean.value()
    }

    /// The place of the largest value, or of the smallest; the last of equals if `latest`. NaN gives way to any number.
    fn extreme(&self, is_max: bool, latest: bool) -> Option<&Point> {
        let mut points = self.points.iter();
        let mut best = points.next()?;
        for point in points {
            let beats = if is_max { point.value > best.value } else { point.value < best.value };
            let ties = latest && point.value == best.value;
            if beats || ties || best.value.is_nan() {
                best = point;
            }
        }
        Some(best)
    }

    pub fn max(&self) -> Option<f64> {
        self.extreme(true, false).map(|p| p.value)
    }

    pub fn min(&self) -> Option<f64> {
        self.extreme(false, false).map(|p| p.value)
    }

    pub fn extreme_seconds(&self, is_max: bool) -> Option<f64> {
        self.extreme(is_max, true).map(|p| p.t_ms as f64 / 1000.0)
    }

    pub fn variance(&self) -> f64 {
        let (mut count, mut mean, mut mean_carry, mut sum, mut carry) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for value in self.values() {
            count += 1.0;
            let delta = value - (mean + mean_carry);
            (mean, mean_carry) = kahan(delta / count, mean, mean_carry);
            (sum, carry) = kahan(delta * (value - (mean + mean_carry)), sum, carry);
        }
        (sum + carry) / count
    }

    pub fn quantile(&self, q: f64) -> f64 {
        quantile(q, &mut self.values().collect::<Vec<_>>())
    }

    /// The median distance from the median.
    pub fn median_deviation(&self) -> f64 {
        let median = self.quantile(0.5);
        quantile(0.5, &mut self.values().map(|value| (value - median).abs()).collect::<Vec<_>>())
    }

    pub fn changes(&self) -> f64 {
        self.pairs().filter(|(a, b)| a != b && !(a.is_nan() && b.is_nan())).count() as f64
    }

    pub fn resets(&self) -> f64 {
        self.pairs().filter(|(before, after)| after < before).count() as f64
    }

    /// Slope a second and value at `at_ms` of the line with the least squares of errors.
    pub fn line(&self, at_ms: i64) -> Option<(f64, f64)> {
        let first = self.points.first()?.value;
        if self.points.len() < 2 {
            return None;
        }
        if self.values().all(|value| value == first) {
            return Some(if first.is_infinite() { (f64::NAN, f64::NAN) } else { (0.0, first) });
        }
        let sum_of = |term: &dyn Fn(f64, f64) -> f64| {
            let (sum, carry) =
                self.points.iter().fold((0.0, 0.0), |(sum, carry), p| kahan(term((p.t_ms - at_ms) as f64 / 1000.0, p.value), sum, carry));
            sum + carry
        };
        let n = self.points.len() as f64;
        let (x, y) = (sum_of(&|x, _| x), sum_of(&|_, y| y));
        let covariance = sum_of(&|x, y| x * y) - x * y / n;
        let slope = covariance / (sum_of(&|x, _| x * x) - x * x / n);
        Some((slope, y / n - slope * x / n))
    }

    /// Holt's linear smoothing.
    pub fn smoothed(&self, smoothing: f64, trending: f64) -> Option<f64> {
        let [first, second, ..] = self.points else { return None };
        let (mut before, mut level, mut trend) = (0.0, first.value, second.value - first.value);
        for (i, value) in self.values().enumerate().skip(1) {
            if i > 1 {
                trend = trending * (level - before) + (1.0 - trending) * trend;
            }
            let next = smoothing * value + (1.0 - smoothing) * (level + trend);
            (before, level) = (level, next);
        }
        Some(level)
    }
}
