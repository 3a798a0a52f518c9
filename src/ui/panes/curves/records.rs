//! The series that a pane shows, as records: for copies and exports.

use super::figure::Count;
use super::traces::{Trace, Traces, past};
use super::{shown, smooth::Prepared};
use crate::event::num::Float;
use crate::state::{Bucket, DashState, LaneState};
use crate::ui::view::{PaneId, View};
use serde_json::{Value, json};

fn traces(state: &DashState, view: &View, pane: PaneId) -> Traces {
    Traces::of(state, state.lane(view.lane), &view.chart, &shown(view, state, pane))
}

/// A record a value, and one a bucket where only those are left; smoothed as they are drawn.
pub fn records(state: &DashState, view: &View, pane: PaneId) -> Vec<Value> {
    let traces = traces(state, view, pane);
    let lane = state.lane(view.lane);
    let of = |trace: &Trace| {
        let prepared: Prepared = trace.prepare(&traces, &view.chart);
        let smoothed = if past(trace.figure, &view.chart) > 0.0 { prepared.smoothed } else { vec![None; trace.buckets.len()] };
        trace.buckets.iter().zip(smoothed).map(|(bucket, smoothed)| record(trace, lane, bucket, smoothed)).collect::<Vec<_>>()
    };
    traces.traces.iter().flat_map(of).collect()
}

fn record(trace: &Trace, lane: Option<&LaneState>, bucket: &Bucket, smoothed: Option<f64>) -> Value {
    let known = |value: f64| (bucket.count > 0).then_some(Float(value));
    let counted_by = match trace.figure.count() {
        Count::Episode => "episode",
        Count::Step => "step",
        Count::Update => "update",
    };
    let episode = lane.filter(|_| trace.figure.count() == Count::Step).map(|lane| lane.episode.episode);
    json!({
        "series": trace.figure.name(),
        "episode": episode,
        "counted_by": counted_by,
        "first": bucket.step_first,
        "last": bucket.step_last,
        "t_ns_first": bucket.t_ns_first,
        "t_ns_last": bucket.t_ns_last,
        "value": known(bucket.last),
        "mean": bucket.mean(),
        "min": known(bucket.min),
        "max": known(bucket.max),
        "count": bucket.count,
        "not_finite": bucket.skipped,
        "smoothed": smoothed,
    })
}

/// The record under the cursor, or the newest of the first curve.
pub fn in_view(state: &DashState, view: &View, pane: PaneId) -> Option<usize> {
    let traces = traces(state, view, pane);
    let newest = traces.traces.first()?.buckets.len().checked_sub(1)?;
    Some(view.chart.cursor.and_then(|n| traces.bucket_of(n)).map_or(newest, |(index, _)| index))
}
