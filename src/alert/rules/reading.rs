//! What a rule's reading shows beside its result: the number that is compared, and whether there is anything to compare.

use super::alerts::vector;
use super::group::Context;
use crate::alert::promql::{Query, Split, VectorSample};
use crate::event::RuleHealth;
use crate::metrics::Store;

/// Health and value of an evaluation that came out.
pub(super) fn read(
    query: &Query,
    split: Option<&Split>,
    samples: &[VectorSample],
    store: &Store,
    at_ms: i64,
    context: &Context<'_>,
) -> (RuleHealth, Option<f64>) {
    let Some(split) = split else {
        let health = if samples.is_empty() { health_of(query, store, at_ms, context) } else { RuleHealth::Ok };
        return (health, samples.iter().map(|sample| sample.value).find(|value| !value.is_nan()).or(samples.first().map(|s| s.value)));
    };
    // A comparison keeps the left value of what it lets through.
    if !samples.is_empty() {
        return (RuleHealth::Ok, nearest(samples, split));
    }
    let left = split.left.instant(store, at_ms, context.limits).ok().and_then(|evaluated| vector(evaluated.value).ok()).unwrap_or_default();
    let health = if left.is_empty() && samples.is_empty() { health_of(query, store, at_ms, context) } else { RuleHealth::Ok };
    (health, nearest(&left, split))
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
