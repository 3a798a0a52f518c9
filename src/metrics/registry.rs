//! The values of the table's series.

use super::table::{Kind, Metric, TABLE};
use super::{Labels, METRIC_NAME, SeriesId};

/// What one child of a family holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    /// `counts` has one number a bucket, `+Inf` last, each of that bucket alone.
    Histogram {
        counts: Box<[u64]>,
        sum: f64,
    },
}

/// The series of one set of label values.
#[derive(Clone, Debug)]
pub(super) struct Child {
    /// In the order of the family's labels.
    pub values: Box<[Box<str>]>,
    pub value: Value,
    /// In the store, once it was written there: one, or buckets, sum and count.
    pub ids: Vec<SeriesId>,
    is_fresh: bool,
}

/// All families, in the order of the table. Children are in the order of their label values.
#[derive(Clone, Debug)]
pub(super) struct Registry {
    families: Vec<Vec<Child>>,
    /// Of children that went.
    pub ended: Vec<SeriesId>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { families: vec![Vec::new(); TABLE.len()], ended: Vec::new() }
    }
}

impl Registry {
    fn child(&mut self, metric: Metric, values: &[&str]) -> &mut Child {
        debug_assert_eq!(values.len(), metric.family().labels.len(), "{metric:?}");
        let children = &mut self.families[metric as usize];
        let found = children.binary_search_by(|c| c.values.iter().map(|v| &**v).cmp(values.iter().copied()));
        let at = found.unwrap_or_else(|at| {
            let value = match metric.family().kind {
                Kind::Counter | Kind::Gauge => Value::Number(0.0),
                Kind::Histogram(buckets) => Value::Histogram { counts: vec![0; buckets.len() + 1].into(), sum: 0.0 },
            };
            let values = values.iter().map(|v| Box::from(*v)).collect();
            children.insert(at, Child { values, value, ids: Vec::new(), is_fresh: true });
            at
        });
        children[at].is_fresh = true;
        &mut children[at]
    }

    /// Adds to a counter or a gauge; a number that is none changes nothing.
    pub fn add(&mut self, metric: Metric, values: &[&str], by: f64) {
        if let Value::Number(number) = &mut self.child(metric, values).value
            && by.is_finite()
        {
            *number += by;
        }
    }

    pub fn set(&mut self, metric: Metric, values: &[&str], to: f64) {
        self.child(metric, values).value = Value::Number(to);
    }

    /// The series is there while there is a value.
    pub fn set_known(&mut self, metric: Metric, values: &[&str], to: Option<f64>) {
        match to {
            Some(to) => self.set(metric, values, to),
            None => self.remove(metric, values),
        }
    }

    /// Takes a value into a histogram. One that is not finite would spoil the sum for ever and is left out.
    pub fn observe(&mut self, metric: Metric, values: &[&str], observed: f64) {
        let Kind::Histogram(buckets) = metric.family().kind else { return };
        let child = self.child(metric, values);
        if let Value::Histogram { counts, sum } = &mut child.value
            && observed.is_finite()
        {
            counts[buckets.partition_point(|end| *end < observed)] += 1;
            *sum += observed;
        }
    }

    /// Makes the series be there, from zero on: what begins with its first increase shows no increase.
    pub fn begin(&mut self, metric: Metric, values: &[&str]) {
        self.child(metric, values);
    }

    pub fn number(&self, metric: Metric, values: &[&str]) -> Option<f64> {
        let child = self.families[metric as usize].iter().find(|c| c.values.iter().map(|v| &**v).eq(values.iter().copied()))?;
        match child.value {
            Value::Number(number) => Some(number),
            Value::Histogram { .. } => None,
        }
    }

    fn remove(&mut self, metric: Metric, values: &[&str]) {
        let ended = &mut self.ended;
        self.families[metric as usize].retain_mut(|child| {
            let goes = child.values.iter().map(|v| &**v).eq(values.iter().copied());
            if goes {
                ended.append(&mut child.ids);
            }
            !goes
        });
    }

    /// What is not set again before `settle` goes.
    pub fn renew(&mut self, metrics: &[Metric]) {
        for metric in metrics {
            self.families[*metric as usize].iter_mut().for_each(|c| c.is_fresh = false);
        }
    }

    pub fn settle(&mut self, metrics: &[Metric]) {
        let ended = &mut self.ended;
        for metric in metrics {
            self.families[*metric as usize].retain_mut(|child| {
                if !child.is_fresh {
                    ended.append(&mut child.ids);
                }
                child.is_fresh
            });
        }
    }

    /// Families of the table with their children.
    pub fn children(&self) -> impl Iterator<Item = (&'static super::Family, &[Child])> {
        TABLE.iter().zip(self.families.iter().map(Vec::as_slice))
    }

    pub fn children_mut(&mut self) -> impl Iterator<Item = (&'static super::Family, &mut [Child])> {
        TABLE.iter().zip(self.families.iter_mut().map(Vec::as_mut_slice))
    }
}

/// How `le` is written: as Prometheus 3 stores it, whatever the format.
pub(super) fn bucket_end(end: f64) -> String {
    if end == f64::INFINITY { "+Inf".into() } else { format!("{end:?}") }
}

impl Child {
    /// Each series with its name's ending, its `le`, and its value.
    pub fn series(&self, family: &super::Family, mut each: impl FnMut(&'static str, Option<f64>, f64)) {
        match (&self.value, family.kind) {
            (Value::Number(number), _) => each("", None, *number),
            (Value::Histogram { counts, sum }, Kind::Histogram(buckets)) => {
                let mut total = 0;
                for (count, end) in counts.iter().zip(buckets.iter().copied().chain([f64::INFINITY])) {
                    total += count;
                    each("_bucket", Some(end), total as f64);
                }
                each("_sum", None, *sum);
                each("_count", None, total as f64);
            }
            (Value::Histogram { .. }, Kind::Counter | Kind::Gauge) => {}
        }
    }

    /// The labels of one of its series, with those of the process.
    pub fn labels(&self, family: &super::Family, ending: &str, le: Option<f64>, own: &[(&str, &str)]) -> Labels {
        let name = format!("{}{ending}", family.name);
        let le = le.map(bucket_end);
        let values = family.labels.iter().copied().zip(self.values.iter().map(|v| &**v));
        let le = le.iter().map(|le| ("le", le.as_str()));
        Labels::from_pairs([(METRIC_NAME, name.as_str())].into_iter().chain(values).chain(le).chain(own.iter().copied()))
    }
}
