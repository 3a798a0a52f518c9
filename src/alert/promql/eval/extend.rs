//! Windows and points between points: what `anchored` and `smoothed` make of a series. Both are experimental in Prometheus 3.

use crate::metrics::Point;

/// A window with a point at each of its edges, and the points between them. Empty where no point tells of the window.
///
/// `points` are in order and reach beyond the window: the last at or before its start gives the value at the start, and where it is
/// smoothed, the first at or behind its end that at the end, each on the straight line to its neighbour.
pub fn window(points: &[Point], start_ms: i64, end_ms: i64, is_smoothed: bool, is_counter: bool) -> Vec<Point> {
    let inner = points.partition_point(|point| point.t_ms <= start_ms);
    let behind = points.partition_point(|point| point.t_ms < end_ms);
    let last = points.get(behind).filter(|_| is_smoothed).or(points.last());
    let (Some(first), Some(last)) = (points.get(inner.saturating_sub(1)), last) else { return Vec::new() };
    if last.t_ms <= start_ms || first.t_ms > end_ms {
        return Vec::new();
    }
    let line = |before: usize, at_ms: i64| match points.get(before..) {
        Some([before, after, ..]) => between(*before, *after, at_ms, is_counter),
        Some(_) | None => f64::NAN,
    };
    let left = if is_smoothed && first.t_ms < start_ms { line(inner - 1, start_ms) } else { first.value };
    let right = if is_smoothed && last.t_ms > end_ms { line(behind - 1, end_ms) } else { last.value };
    let mut out = Vec::with_capacity(behind.saturating_sub(inner) + 2);
    out.push(Point { t_ms: start_ms, value: left });
    out.extend_from_slice(points.get(inner..behind).unwrap_or_default());
    out.push(Point { t_ms: end_ms, value: right });
    out
}

/// The value at a time, on the line between the points around it; that of the last before it where none follows.
pub fn at(points: &[Point], at_ms: i64) -> Option<Point> {
    let next = points.partition_point(|point| point.t_ms < at_ms);
    let value = match (next.checked_sub(1).and_then(|i| points.get(i)), points.get(next)) {
        (_, Some(exact)) if exact.t_ms == at_ms => exact.value,
        (Some(before), Some(after)) => between(*before, *after, at_ms, false),
        (Some(before), None) => before.value,
        (None, _) => return None,
    };
    Some(Point { t_ms: at_ms, value })
}

/// A counter that was reset between two points rises from zero to the second.
fn between(before: Point, after: Point, at_ms: i64, is_counter: bool) -> f64 {
    let from = if is_counter && after.value < before.value { 0.0 } else { before.value };
    from + (after.value - from) * (at_ms - before.t_ms) as f64 / (after.t_ms - before.t_ms) as f64
}
