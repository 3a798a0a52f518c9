//! Quantiles and fractions of classic histograms: series with a label `le`, cumulative counts up to it.

use super::super::ast::Expr;
use super::super::text::{fixed, number, quote};
use super::vector::{Key, Sample, Table, Tags, Vector};
use super::{Evaluator, Outcome, Value, failed, label_name, with_label};
use std::sync::LazyLock;

const BUCKET_LABEL: &str = "le";
/// Counts that differ by less than this share are the same: sums of floats don't come out equal.
const SMALL_DELTA: f64 = 1e-12;

static WITHOUT_LE: LazyLock<[String; 1]> = LazyLock::new(|| [BUCKET_LABEL.to_owned()]);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    upper: f64,
    count: f64,
}

impl<'c> Evaluator<'c> {
    pub(super) fn histogram_quantile(&self, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let q = self.scalar(&arguments[0], t_ms)?;
        self.check_quantile(q, &arguments[0]);
        let histograms = self.histograms(&arguments[1], t_ms)?;
        let mut samples = Vec::with_capacity(histograms.len());
        for (tags, mut buckets) in histograms {
            let value = self.quantile_of(q, &mut buckets, &tags, &arguments[1]);
            samples.push(Sample { tags, value });
        }
        self.unique(Vector { samples, distinct: false })
    }

    /// Several quantiles at once, told apart by a label.
    pub(super) fn histogram_quantiles(&self, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let Value::Text(label) = self.eval(&arguments[1], t_ms)? else { return failed("a label's name is needed") };
        let Some(label) = label_name(label) else { return failed(format!("invalid label name {}", quote(label))) };
        let mut quantiles = Vec::new();
        for argument in &arguments[2..] {
            let q = self.scalar(argument, t_ms)?;
            self.check_quantile(q, argument);
            quantiles.push(q);
        }
        let mut samples = Vec::new();
        for (tags, mut buckets) in self.histograms(&arguments[0], t_ms)? {
            for q in &quantiles {
                let value = self.quantile_of(*q, &mut buckets, &tags, &arguments[0]);
                let own = Tags::own(with_label(&tags, label, &fixed(*q))).without_name(self.delayed);
                samples.push(Sample { tags: own, value });
            }
        }
        self.unique(Vector { samples, distinct: false })
    }

    fn quantile_of(&self, q: f64, buckets: &mut Vec<Bucket>, tags: &Tags<'_>, expr: &Expr) -> f64 {
        let (value, was_forced) = bucket_quantile(q, buckets);
        if was_forced {
            let page = "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile";
            self.inform(&format!("input to histogram_quantile needed to be fixed for monotonicity (see {page}){}", of_name(tags)), expr);
        }
        value
    }

    pub(super) fn histogram_fraction(&self, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let (lower, upper) = (self.scalar(&arguments[0], t_ms)?, self.scalar(&arguments[1], t_ms)?);
        let histograms = self.histograms(&arguments[2], t_ms)?.into_iter();
        let samples = histograms.map(|(tags, mut buckets)| Sample { tags, value: bucket_fraction(lower, upper, &mut buckets) });
        self.unique(Vector { samples: samples.collect(), distinct: false })
    }

    /// Buckets by their labels without name and `le`.
    fn histograms(&self, expr: &'c Expr, t_ms: i64) -> Outcome<Vec<(Tags<'c>, Vec<Bucket>)>> {
        let vector = self.vector(expr, t_ms)?;
        self.budget.spend(vector.samples.len())?;
        // The name counts: two metrics' buckets are never one histogram's.
        let key = Key::all_but(&*WITHOUT_LE);
        let mut table = Table::with_capacity(8);
        let mut buckets: Vec<Vec<Bucket>> = Vec::new();
        for sample in &vector.samples {
            let le = sample.tags.get(BUCKET_LABEL);
            let Some(upper) = number(le) else {
                let of_name = of_name(&sample.tags);
                let message = format!("bucket label \"le\" is missing or has a malformed value of {}{of_name}", quote(le.as_bytes()));
                self.warn(&message, expr);
                continue;
            };
            let place = table.place(&key, &sample.tags);
            if place.is_new {
                buckets.push(Vec::new());
            }
            buckets[place.index].push(Bucket { upper, count: sample.value });
        }
        let tags = |i: usize| Tags::own(key.labels_of(table.founder(i))).without_name(self.delayed);
        Ok(buckets.into_iter().enumerate().map(|(i, buckets)| (tags(i), buckets)).collect())
    }
}

fn of_name(tags: &Tags<'_>) -> String {
    if tags.name().is_empty() { String::new() } else { format!(" for metric name {}", quote(tags.name().as_bytes())) }
}

/// In order, each bound once. False where the last bucket is not that of infinity.
fn ordered(buckets: &mut Vec<Bucket>) -> bool {
    buckets.sort_by(|a, b| a.upper.total_cmp(&b.upper));
    buckets.dedup_by(|next, kept| {
        let same = next.upper == kept.upper;
        if same {
            kept.count += next.count;
        }
        same
    });
    buckets.last().is_some_and(|last| last.upper == f64::INFINITY)
}

/// Counts may not fall from bucket to bucket. True where they fell by more than rounding explains.
fn force_monotonic(buckets: &mut [Bucket]) -> bool {
    let Some(first) = buckets.first() else { return false };
    let (mut before, mut was_forced) = (first.count, false);
    for bucket in &mut buckets[1..] {
        if almost_equal(before, bucket.count) {
            bucket.count = before;
        } else if bucket.count < before {
            bucket.count = before;
            was_forced = true;
        } else {
            before = bucket.count;
        }
    }
    was_forced
}

fn almost_equal(a: f64, b: f64) -> bool {
    if a == b || (a.is_nan() && b.is_nan()) {
        return true;
    }
    let (sum, difference) = (a.abs() + b.abs(), (a - b).abs());
    if a == 0.0 || b == 0.0 || sum < f64::MIN_POSITIVE {
        return difference < SMALL_DELTA * f64::MIN_POSITIVE;
    }
    difference / sum.min(f64::MAX) < SMALL_DELTA
}

/// Linear within a bucket; and whether counts had to be fixed.
fn bucket_quantile(q: f64, buckets: &mut Vec<Bucket>) -> (f64, bool) {
    if q.is_nan() {
        return (f64::NAN, false);
    }
    if !(0.0..=1.0).contains(&q) {
        return (if q < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY }, false);
    }
    if !ordered(buckets) {
        return (f64::NAN, false);
    }
    let was_forced = force_monotonic(buckets);
    let [.., before_last, last] = buckets[..] else { return (f64::NAN, was_forced) };
    if last.count == 0.0 || last.count.is_nan() {
        return (f64::NAN, was_forced);
    }
    let rank = q * last.count;
    let at = buckets[..buckets.len() - 1].partition_point(|bucket| bucket.count < rank);
    if at == buckets.len() - 1 {
        return (before_last.upper, was_forced);
    }
    let bucket = buckets[at];
    if at == 0 && bucket.upper <= 0.0 {
        return (bucket.upper, was_forced);
    }
    let below = if at == 0 { Bucket { upper: 0.0, count: 0.0 } } else { buckets[at - 1] };
    let share = (rank - below.count) / (bucket.count - below.count);
    (below.upper + (bucket.upper - below.upper) * share, was_forced)
}

/// Share of observations between two values.
fn bucket_fraction(lower: f64, upper: f64, buckets: &mut Vec<Bucket>) -> f64 {
    if !ordered(buckets) {
        return f64::NAN;
    }
    let count = buckets.last().map_or(0.0, |last| last.count);
    if count == 0.0 || lower.is_nan() || upper.is_nan() {
        return f64::NAN;
    }
    if lower >= upper {
        return 0.0;
    }
    let rank = |value: f64| rank_of(value, buckets).min(count);
    (rank(upper) - rank(lower)) / count
}

/// How many observations are up to a value.
fn rank_of(value: f64, buckets: &[Bucket]) -> f64 {
    let mut below = Bucket { upper: f64::NEG_INFINITY, count: 0.0 };
    for (i, bucket) in buckets.iter().enumerate() {
        if below.upper >= value {
            return below.count;
        }
        if bucket.upper > value {
            let start = if i == 0 && bucket.upper > 0.0 { 0.0 } else { below.upper };
            // Nothing is known of how values lie in a bucket without end.
            if start == f64::NEG_INFINITY || bucket.upper == f64::INFINITY || value <= start {
                return below.count;
            }
            return below.count + (bucket.count - below.count) * (value - start) / (bucket.upper - start);
        }
        below = *bucket;
    }
    below.count
}
