//! What a rule's reading shows beside its result: the number that is compared, and whether there is anything to compare.

use super::alerts::vector;
use super::group::Context;
use crate::alert::promql::{Query, Split, VectorSample};
use crate::event::num::Float;
use crate::event::{RuleHealth, SafeText, UnknownSeries};
use crate::metrics::{Store, TABLE};

/// What an evaluation that came out says.
pub(super) struct Read {
    pub health: RuleHealth,
    pub value: Option<f64>,
    /// Of the conditions behind the first one.
    pub further: Vec<Option<Float>>,
}

pub(super) fn read(
    query: &Query,
    conditions: &[Split],
    samples: &[VectorSample],
    store: &Store,
    at_ms: i64,
    context: &Context<'_>,
) -> Read {
    let Some((first, further)) = conditions.split_first() else {
        let health = if samples.is_empty() { health_of(query, store, at_ms, context) } else { RuleHealth::Ok };
        let value = samples.iter().map(|sample| sample.value).find(|value| !value.is_nan()).or(samples.first().map(|s| s.value));
        return Read { health, value, further: Vec::new() };
    };
    let left = |split: &Split| {
        let evaluated = split.left.instant(store, at_ms, context.limits).ok();
        evaluated.and_then(|evaluated| vector(evaluated.value).ok()).unwrap_or_default()
    };
    let further = further.iter().map(|split| nearest(&left(split), split).map(Float)).collect();
    // A comparison keeps the left value of what it lets through.
    if !samples.is_empty() && first.is_result {
        return Read { health: RuleHealth::Ok, value: nearest(samples, first), further };
    }
    let left = left(first);
    let health = if left.is_empty() && samples.is_empty() { health_of(query, store, at_ms, context) } else { RuleHealth::Ok };
    Read { health, value: nearest(&left, first), further }
}

/// The first name that the expression asks for and no series has. One that this program gives is no mistake where it has not come yet.
pub(super) fn unknown(query: &Query, store: &Store) -> Option<UnknownSeries> {
    const ENDS: [&str; 3] = ["_bucket", "_sum", "_count"];
    let is_known = |name: &str| {
        let family = ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        TABLE.iter().any(|known| known.name == name || known.name == family) || store.names().any(|known| known == name)
    };
    let name = query.names().find(|name| !is_known(name))?;
    let near = crate::event::nearest(name, store.names().chain(TABLE.iter().map(|known| known.name)));
    Some(UnknownSeries { name: SafeText::new(name), near: near.map(SafeText::new) })
}

fn health_of(query: &Query, store: &Store, at_ms: i64, context: &Context<'_>) -> RuleHealth {
    if query.finds_series(store, at_ms, context.limits) { RuleHealth::Ok } else { RuleHealth::NoData }
}

/// The value nearest to holding, or that holds by the most.
fn nearest(samples: &[VectorSample], split: &Split) -> Option<f64> {
    let values = samples.iter().map(|sample| sample.value).filter(|value| !value.is_nan());
    let distance = |value: &f64| (value - split.number).abs();
    match split.operator {
        ">" | ">=" => values.max_by(f64::total_cmp),
        "<" | "<=" => values.min_by(f64::total_cmp),
        "!=" => values.max_by(|a, b| distance(a).total_cmp(&distance(b))),
        _ => values.min_by(|a, b| distance(a).total_cmp(&distance(b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::promql::Limits;
    use crate::alert::rules::{Group, RuleFile};
    use crate::event::{Join, RuleReading};
    use crate::metrics::{Caps, Labels, METRIC_NAME};

    fn store(series: &[(&str, f64)]) -> Store {
        let mut store = Store::new(Caps::default());
        for (name, value) in series {
            store.append(&Labels::from_pairs([(METRIC_NAME, *name)]), 60_000, *value).unwrap();
        }
        store
    }

    fn group(expr: &str) -> Group {
        let file = format!("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: {expr:?}\n");
        Group::new(RuleFile::parse(&file).unwrap().groups.remove(0), 5_000)
    }

    fn reading(group: &mut Group, store: &mut Store, at_ms: i64) -> RuleReading {
        let context = Context { external_labels: &Labels::default(), external_url: "", limits: &Limits::default() };
        group.evaluate(store, at_ms, &context).remove(0).reading
    }

    #[test]
    fn every_condition_has_its_value_whether_or_not_it_fires() {
        let mut store = store(&[("a", 0.7), ("b", 1.0), ("c", 12.0)]);
        for (expr, value, further) in [
            ("a / b < 0.85 and on () c > 10", Some(0.7), vec![Some(12.0)]),
            ("a / b < 0.5 and on () c > 10", Some(0.7), vec![Some(12.0)]),
            ("a < 0.85 and on () d > 10", Some(0.7), vec![None]),
            ("0.85 > a", Some(0.7), vec![]),
            ("(a < bool 0.85) == 1", Some(0.7), vec![]),
            ("a < bool 0.5", Some(0.7), vec![]),
            ("c > 5 unless on () b == 1", Some(12.0), vec![]),
            ("a + b", Some(1.7), vec![]),
        ] {
            let reading = reading(&mut group(expr), &mut store, 60_000);
            let found: Vec<Option<f64>> = reading.further.iter().map(|value| value.map(|value| value.0)).collect();
            assert_eq!((reading.value, found), (value, further), "{expr}");
        }
        let info = group("a < 1 or b > 2").info();
        let further = &info.rules[0].further[0];
        assert_eq!((further.join, further.threshold.left.as_str(), further.threshold.number), (Join::Or, "b", 2.0));
    }

    #[test]
    fn a_name_that_no_series_has_is_told_with_the_nearest_until_it_comes() {
        let mut store = store(&[("other", 1.0)]);
        let mut typo = group("queue_dept > 1");
        assert_eq!(reading(&mut typo, &mut store, 60_000).unknown.unwrap().near, None);
        store.append(&Labels::from_pairs([(METRIC_NAME, "queue_depth")]), 60_000, 0.0).unwrap();
        let unknown = reading(&mut typo, &mut store, 60_000).unknown.unwrap();
        assert_eq!((unknown.name.as_str(), unknown.near.as_deref()), ("queue_dept", Some("queue_depth")));
        // What this program gives may be still to come; what finds a series by its labels is no wrong name.
        let own = TABLE[0].name;
        assert_eq!(reading(&mut group(&format!("{own} > 1")), &mut store, 60_000).unknown, None);
        assert_eq!(reading(&mut group("queue_depth{x=\"y\"} > 1"), &mut store, 60_000).unknown, None);
        let unheard = reading(&mut group("zzz_zzz_zzz_zzz > 1"), &mut store, 60_000).unknown.unwrap();
        assert_eq!(unheard.near, None);
        store.append(&Labels::from_pairs([(METRIC_NAME, "queue_dept")]), 61_000, 0.0).unwrap();
        let come = reading(&mut typo, &mut store, 61_000);
        assert_eq!((come.unknown, come.value), (None, Some(0.0)));
    }
}
