//! The left side of a rule over time, with its threshold.

use crate::event::AlertState;
use crate::state::{DashState, RuleRow};
use crate::ui::widgets::{Canvas, Chart, ChartMark, Extent, Line, Point, Scale, Window, columns_of, format};

/// Rows that it takes where there is room.
pub const ROWS: u16 = 7;

/// Draws it; nothing where fewer than two values are known.
pub fn draw(canvas: &mut Canvas<'_>, rule: &RuleRow, state: &DashState) {
    let points = points(rule, state.t_ns);
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let (first, last) = (first.x_first, last.x_last);
    let columns = columns_of(canvas.width(), canvas.glyphs().curve());
    let scale = Scale::new(Extent { first, last, recent: first }, Window::default(), columns);
    let threshold = rule.info.threshold.as_ref().filter(|t| t.number.is_finite());
    let all = points.iter().map(|p| p.last).chain(threshold.map(|t| t.number));
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let range = Some(if low < high { (low, high) } else { (low - 0.5, high + 0.5) });
    let label: fn(f64) -> String = format::number;
    let mut lines = vec![Line { points, letter: 'v', range, label }];
    if let Some(t) = threshold {
        let flat = Point { x_first: first, x_last: first, low: t.number, high: t.number, last: t.number, gap: false };
        let steps = columns.clamp(1, 512);
        let span = last.saturating_sub(first);
        let at = |n: u64| first + (u128::from(span) * u128::from(n) / u128::from(steps)) as u64;
        let points = (0..=steps).map(|n| Point { x_first: at(n), x_last: at(n), ..flat }).collect();
        lines.push(Line { points, letter: '-', range, label });
    }
    let x_label = |x: u64| format::clock(x.saturating_mul(1_000_000));
    let fired = rule.past.iter().filter(|turn| turn.state == AlertState::Firing).map(|turn| turn.t_ns / 1_000_000);
    let marks: Vec<ChartMark> = fired.filter(|x| *x >= first).map(|x| ChartMark { x, letter: 'F' }).collect();
    Chart { lines: &lines, scale, first, marks: &marks, cursor: None, x_label: &x_label, unit: "" }.draw(canvas);
}

/// Milliseconds of the run; a value holds until the next one.
fn points(rule: &RuleRow, now_t_ns: u64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut gap = false;
    let known: Vec<(u64, Option<f64>)> = rule.history.iter().map(|r| (r.t_ns / 1_000_000, r.value.filter(|v| v.is_finite()))).collect();
    for (n, (at, value)) in known.iter().enumerate() {
        let Some(value) = *value else {
            gap = true;
            continue;
        };
        let until = known.get(n + 1).map_or(now_t_ns / 1_000_000, |(next, _)| next.saturating_sub(1)).max(*at);
        points.push(Point { x_first: *at, x_last: until, low: value, high: value, last: value, gap });
        gap = false;
    }
    points
}
