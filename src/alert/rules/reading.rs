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
