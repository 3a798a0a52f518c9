//! Aggregations: samples that agree in some labels become one, or some of them are picked.

use super::super::ast::{Aggregate, Expr};
use super::super::text::{fixed, general, quote};
use super::super::token::Aggregator;
use super::vector::{Key, Sample, Table, Tags, Vector};
use super::window::{Mean, kahan, quantile};
use super::xxhash::hash_of;
use super::{Evaluator, Outcome, Value, failed, label_name, with_label};

/// What is kept of a group while its samples pass.
enum Group {
    Sum {
        sum: f64,
        carry: f64,
    },
    Mean(Mean),
    Count(f64),
    Extreme(f64),
    One,
    /// Welford's running mean and sum of squares.
    Spread {
        count: f64,
        mean: f64,
        squares: f64,
    },
    Values(Vec<f64>),
}

impl Group {
    fn new(op: Aggregator, value: f64) -> Self {
        match op {
            Aggregator::Sum => Self::Sum { sum: value, carry: 0.0 },
            Aggregator::Avg => Self::Mean(Mean::new(value)),
            Aggregator::Count => Self::Count(1.0),
            Aggregator::Min | Aggregator::Max => Self::Extreme(value),
            Aggregator::Group => Self::One,
            Aggregator::Stddev | Aggregator::Stdvar => {
                Self::Spread { count: 1.0, mean: value, squares: if value.is_finite() { 0.0 } else { f64::NAN } }
            }
            Aggregator::Quantile
            | Aggregator::Topk
            | Aggregator::Bottomk
            | Aggregator::CountValues
            | Aggregator::Limitk
            | Aggregator::LimitRatio => Self::Values(vec![value]),
        }
    }

    fn add(&mut self, op: Aggregator, value: f64) {
        match self {
            Self::Sum { sum, carry } => (*sum, *carry) = kahan(value, *sum, *carry),
            Self::Mean(mean) => mean.add(value),
            Self::Count(count) => *count += 1.0,
            Self::Extreme(best) => {
                let beats = if op == Aggregator::Max { *best < value } else { *best > value };
                if beats || best.is_nan() {
                    *best = value;
                }
            }
            Self::One => {}
            Self::Spread { count, mean, squares } => {
                *count += 1.0;
                let delta = value - *mean;
                *mean += delta / *count;
                *squares += delta * (value - *mean);
            }
            Self::Values(values) => values.push(value),
        }
    }

    fn finish(self, op: Aggregator, parameter: f64) -> f64 {
        match self {
            Self::Sum { sum, carry } => sum + carry,
            Self::Mean(mean) => mean.value(),
            Self::Count(count) => count,
            Self::Extreme(best) => best,
            Self::One => 1.0,
            Self::Spread { count, squares, .. } if op == Aggregator::Stddev => (squares / count).sqrt(),
            Self::Spread { count, squares, .. } => squares / count,
            Self::Values(mut values) => quantile(parameter, &mut values),
        }
    }
}

impl<'c> Evaluator<'c> {
    pub(super) fn aggregate(&self, aggregate: &'c Aggregate, t_ms: i64) -> Outcome<Vector<'c>> {
        let op = aggregate.op;
        let parameter = match &aggregate.parameter {
            Some(expr) => Some((expr, self.eval(expr, t_ms)?)),
            None => None,
        };
        match (op, parameter) {
            (Aggregator::CountValues, Some((_, Value::Text(label)))) => self.count_values(aggregate, label, t_ms),
            (Aggregator::Topk | Aggregator::Bottomk | Aggregator::Limitk, Some((_, Value::Scalar(count)))) => {
                self.picked(aggregate, count, t_ms)
            }
            (Aggregator::LimitRatio, Some((expr, Value::Scalar(ratio)))) => self.sampled(aggregate, expr, ratio, t_ms),
            (Aggregator::Quantile, Some((expr, Value::Scalar(q)))) => {
                self.check_quantile(q, expr);
                self.reduced(aggregate, q, t_ms)
            }
            (_, None) => self.reduced(aggregate, f64::NAN, t_ms),
            (_, Some(_)) => failed("an aggregation's parameter is of the wrong type"),
        }
    }

    pub(super) fn check_quantile(&self, q: f64, expr: &Expr) {
        if !(0.0..=1.0).contains(&q) {
            self.warn(&format!("quantile value should be between 0 and 1, got {}", general(q)), expr);
        }
    }

    fn reduced(&self, aggregate: &'c Aggregate, parameter: f64, t_ms: i64) -> Outcome<Vector<'c>> {
        let vector = self.vector(&aggregate.expr, t_ms)?;
        self.budget.spend(vector.samples.len())?;
        let key = Key::of_grouping(&aggregate.grouping);
        let mut table = Table::with_capacity(8);
        // With each group, whether a name in it is going.
        let mut groups: Vec<(Group, bool)> = Vec::new();
        for sample in &vector.samples {
            let place = table.place(&key, &sample.tags);
            if place.is_new {
                groups.push((Group::new(aggregate.op, sample.value), sample.tags.is_going()));
            } else {
                let (group, is_going) = &mut groups[place.index];
                group.add(aggregate.op, sample.value);
                *is_going |= sample.tags.is_going();
            }
        }
        let finish = |(i, (group, is_going)): (usize, (Group, bool))| {
            let mut tags = Tags::own(key.labels_of(table.founder(i)));
            if is_going {
                tags.drop_name(true);
            }
            Sample { tags, value: group.finish(aggregate.op, parameter) }
        };
        let samples = groups.into_iter().enumerate().map(finish).collect();
        Ok(Vector { samples, distinct: self.is_distinct(aggregate) })
    }

    /// A group's labels differ without the name unless the groups are told apart by it.
    fn is_distinct(&self, aggregate: &Aggregate) -> bool {
        aggregate.grouping.without || !aggregate.grouping.labels.iter().any(|label| label == crate::metrics::METRIC_NAME)
    }

    /// `topk`, `bottomk` in the order of values, group by group; `limitk` the first that come.
    fn picked(&self, aggregate: &'c Aggregate, count: f64, t_ms: i64) -> Outcome<Vector<'c>> {
        if count.is_nan() {
            return failed("Parameter value is NaN");
        }
        if count >= i64::MAX as f64 {
            return failed(format!("Scalar value {} overflows int64", general(count)));
        }
        if count <= i64::MIN as f64 {
            return failed(format!("Scalar value {} underflows int64", general(count)));
        }
        let vector = self.vector(&aggregate.expr, t_ms)?;
        self.budget.spend(vector.samples.len())?;
        let count = usize::try_from(count as i64).unwrap_or(0);
        let distinct = vector.distinct;
        let mut groups = grouped(vector, &Key::of_grouping(&aggregate.grouping));
        for group in &mut groups {
            match aggregate.op {
                Aggregator::Topk => group.sort_by(|a, b| descending(a.value, b.value)),
                Aggregator::Bottomk => group.sort_by(|a, b| ascending(a.value, b.value)),
                _ => {}
            }
            group.truncate(count);
        }
        Ok(Vector { samples: groups.into_iter().flatten().collect(), distinct })
    }

    /// Picks by the hash of labels, Prometheus' own, so that both pick the same series, at every time; r and r − 1 share all series out.
    fn sampled(&self, aggregate: &'c Aggregate, parameter: &Expr, ratio: f64, t_ms: i64) -> Outcome<Vector<'c>> {
        if ratio.is_nan() {
            return failed("Ratio value is NaN");
        }
        if !(-1.0..=1.0).contains(&ratio) {
            let capped = ratio.clamp(-1.0, 1.0);
            let message = format!("ratio value should be between -1 and 1, got {}, capping to {}", general(ratio), general(capped));
            self.warn(&message, parameter);
        }
        let mut vector = self.vector(&aggregate.expr, t_ms)?;
        vector.samples.retain(|sample| {
            let share = hash_of(&sample.tags) as f64 / u64::MAX as f64;
            if ratio >= 0.0 { share < ratio } else { share >= 1.0 + ratio }
        });
        Ok(vector)
    }

    fn count_values(&self, aggregate: &'c Aggregate, label: &[u8], t_ms: i64) -> Outcome<Vector<'c>> {
        let Some(label) = label_name(label) else {
            return failed(format!("invalid label name {}", quote(label)));
        };
        let vector = self.vector(&aggregate.expr, t_ms)?;
        self.budget.spend(vector.samples.len())?;
        let key = Key::of_grouping(&aggregate.grouping);
        let (mut table, all) = (Table::with_capacity(8), Key::all());
        let mut counts: Vec<f64> = Vec::new();
        for sample in &vector.samples {
            // `without` also takes the value's own label away.
            let value = fixed(sample.value);
            let tags = if aggregate.grouping.without {
                Tags::own(key.labels_of(&Tags::own(with_label(&sample.tags, label, &value))))
            } else {
                Tags::own(key.labels_of(&sample.tags).with(label, &value))
            };
            let place = table.place(&all, &tags);
            if place.is_new {
                counts.push(1.0);
            } else {
                counts[place.index] += 1.0;
            }
        }
        let samples = counts.into_iter().enumerate().map(|(i, value)| Sample { tags: table.founder(i).clone(), value }).collect();
        Ok(Vector { samples, distinct: label != crate::metrics::METRIC_NAME && self.is_distinct(aggregate) })
    }
}

fn grouped<'c>(vector: Vector<'c>, key: &Key<'_>) -> Vec<Vec<Sample<'c>>> {
    let mut table = Table::with_capacity(8);
    let mut groups: Vec<Vec<Sample<'c>>> = Vec::new();
    for sample in vector.samples {
        let place = table.place(key, &sample.tags);
        if place.is_new {
            groups.push(vec![sample]);
        } else {
            groups[place.index].push(sample);
        }
    }
    groups
}

/// NaN comes last either way.
pub fn ascending(a: f64, b: f64) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal))
}

pub fn descending(a: f64, b: f64) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(b.partial_cmp(&a).unwrap_or(std::cmp::Ordering::Equal))
}
