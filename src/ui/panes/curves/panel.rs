//! One chart with what is said above it: title or legend, options, what could not be shown, the values under the cursor.

use super::figure::Figure;
use super::options::{ChartView, XAxis};
use super::smooth::Prepared;
use super::traces::{Traces, past};
use crate::state::{DashState, LaneState};
use crate::ui::lang::tr;
use crate::ui::panes::notice;
use crate::ui::widgets::{Canvas, Chart, Drawn, Line, Role, Scale, columns_of, curve_role, format};

/// What a panel is drawn from.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub state: &'a DashState,
    pub lane: Option<&'a LaneState>,
    pub chart: &'a ChartView,
}

/// Draws `figures` in one chart. Cursor and panning belong to the panel that keys go to.
pub fn draw(canvas: &mut Canvas<'_>, scene: Scene<'_>, figures: &[Figure]) {
    let traces = Traces::of(scene.state, scene.lane, scene.chart, figures);
    let columns = columns_of(canvas.width(), canvas.glyphs().curve());
    let Some(scale) = traces.scale(scene.chart, columns) else {
        let why: Vec<String> = figures.iter().map(|f| format!("{}: {}", f.title(), f.missing(scene.state))).collect();
        notice(canvas, &why.join("; "));
        return;
    };
    let prepared: Vec<Prepared> = traces.traces.iter().map(|trace| trace.prepare(&traces, scene.chart)).collect();
    let title_rows = u16::from(canvas.height() >= 3);
    let readout = scene.chart.cursor.map_or_else(Vec::new, |n| readout(&traces, &prepared, scale, scene.chart, n));
    // The chart keeps at least half of the room.
    let readout_rows = (readout.len() as u16).min((canvas.height() - title_rows) / 2);
    for (y, (line, role)) in (title_rows..title_rows + readout_rows).zip(&readout) {
        let width = canvas.width();
        canvas.text_upto(0, width, y, line, *role);
    }
    let drawn = draw_chart(&mut canvas.below(title_rows + readout_rows), scene, &traces, &prepared, scale);
    if title_rows > 0 {
        draw_title(canvas, scene, &traces, &prepared, scale, &drawn);
    }
}

fn draw_chart(canvas: &mut Canvas<'_>, scene: Scene<'_>, traces: &Traces, prepared: &[Prepared], scale: Scale) -> Drawn {
    if prepared.iter().all(|p| p.points.is_empty()) {
        let off_log = prepared.iter().any(|p| p.off_log > 0);
        notice(canvas, &if off_log { tr!("nothing above 0 yet, which a log axis needs") } else { tr!("no finite value yet") });
        return Drawn::default();
    }
    let line = |(trace, prepared): (&super::traces::Trace, &Prepared)| Line {
        points: prepared.points.clone(),
        letter: letter(traces, trace.figure),
        range: (trace.figure.is_ratio() && !scene.chart.log).then_some((0.0, 1.0)),
        label: trace.figure.label(scene.chart.log),
    };
    let lines: Vec<Line> = traces.traces.iter().zip(prepared).map(line).collect();
    let cursor = scene.chart.cursor.and_then(|n| Some(traces.x(traces.bucket_of(n)?.1).0));
    let marks = traces.marks(scene.state);
    let x_label = |x| traces.x_label(x);
    Chart { lines: &lines, scale, first: traces.first(), marks: &marks, cursor, x_label: &x_label, unit: &traces.unit() }.draw(canvas)
}

/// By which a line is known in the chart and above it.
fn letter(traces: &Traces, figure: Figure) -> char {
    let index = traces.traces.iter().position(|t| t.figure == figure).unwrap_or(0);
    ['a', 'b', 'c'][index.min(2)]
}

/// The title of a chart with one curve says what a value is of.
fn title(figure: Figure) -> String {
    match figure {
        Figure::Return => tr!("return of each episode"),
        Figure::StepReward => tr!("reward of each step"),
        Figure::Success
        | Figure::Hybrid
        | Figure::Length
        | Figure::PolicyLoss
        | Figure::ValueLoss
        | Figure::Entropy
        | Figure::Kl
        | Figure::ExplainedVariance
        | Figure::ClipFraction
        | Figure::GradNorm
        | Figure::LearningRate
        | Figure::Tokens
        | Figure::Duration => figure.title(),
    }
}

fn draw_title(canvas: &mut Canvas<'_>, scene: Scene<'_>, traces: &Traces, prepared: &[Prepared], scale: Scale, drawn: &Drawn) {
    let width = canvas.width();
    let mut x = 0;
    for (index, trace) in traces.traces.iter().enumerate() {
        if traces.traces.len() == 1 && traces.missing.is_empty() {
            x = canvas.text_upto(0, width, 0, &title(trace.figure), Role::Dim);
            break;
        }
        let mut text = format!("{} {}", letter(traces, trace.figure), trace.figure.title());
        if let (true, Some(Some((low, high)))) = (drawn.own_axes, drawn.ranges.get(index)) {
            let label = trace.figure.label(scene.chart.log);
            text.push_str(&format!(" {}..{}", label(*low), label(*high)));
        }
        x = canvas.text_upto(x, width, 0, &text, curve_role(index as u8)) + 2;
    }
    for figure in &traces.missing {
        x = canvas.text_upto(x, width, 0, &format!("{} {}", figure.title(), format::UNSET), Role::Dim) + 2;
    }
    let notes = notes(scene.chart, traces, prepared, scale).join("  ");
    let room = width.saturating_sub(x + 2);
    if canvas.measure(&notes) <= room {
        canvas.text_before(width, 0, &notes, Role::Dim);
    } else if room >= 8 {
        canvas.text_upto(x + 2, width, 0, &notes, Role::Dim);
    }
}

/// What was done to the curve, what of it is not shown, where one is; what matters most in front.
fn notes(chart: &ChartView, traces: &Traces, prepared: &[Prepared], scale: Scale) -> Vec<String> {
    let mut notes = Vec::new();
    let sum = |of: fn(&Prepared) -> u64| prepared.iter().map(of).fold(0, u64::saturating_add);
    let (not_finite, off_log) = (sum(|p| p.not_finite), sum(|p| p.off_log));
    if not_finite > 0 {
        notes.push(tr!("{n} skipped: not finite", n = format::count(not_finite)));
    }
    if off_log > 0 {
        notes.push(tr!("{n} not shown on a log axis", n = format::count(off_log)));
    } else if chart.log {
        notes.push("log".to_owned());
    }
    let weights: Vec<f64> = traces.traces.iter().map(|t| past(t.figure, chart)).collect();
    let strongest = weights.iter().copied().fold(0.0, f64::max);
    if strongest > 0.0 {
        notes.push(tr!("smoothed by {weight}", weight = strongest.to_string().trim_start_matches('0')));
    }
    notes.extend(traces.axis_note(chart.axis));
    if !scale.is_whole {
        notes.push(if scale.start < scale.follow { tr!("older part") } else { tr!("newest part") });
    }
    if scale.bucket() > 1 && traces.axis == XAxis::Step {
        notes.push(tr!("{n} a column", n = scale.bucket()));
    }
    notes
}

/// What every curve is at the cursor, a line each.
fn readout(traces: &Traces, prepared: &[Prepared], scale: Scale, chart: &ChartView, n: u64) -> Vec<(String, Role)> {
    let Some((_, bucket)) = traces.bucket_of(n) else { return Vec::new() };
    let x = traces.x(bucket).0;
    let lines = traces.traces.iter().zip(prepared).enumerate();
    let mut out: Vec<(String, Role)> = lines
        .map(|(index, (trace, prepared))| {
            let name = if traces.traces.len() > 1 { format!("{} ", letter(traces, trace.figure)) } else { String::new() };
            let Some((last, column)) = trace.under(traces, scale, x) else {
                return (format!("{name}{} {}", trace.figure.title(), format::UNSET), curve_role(index as u8));
            };
            let smoothed = prepared.smoothed.get(last).copied().flatten().filter(|_| past(trace.figure, chart) > 0.0);
            (format!("{name}{}", value(traces, trace.figure, &column, smoothed)), curve_role(index as u8))
        })
        .collect();
    if !scale.holds(x) {
        out.push((tr!("the cursor is not in view"), Role::Dim));
    }
    out
}

/// `ep 17  return 0.71  ema 0.68`, or with lowest and highest where it stands for many.
fn value(traces: &Traces, figure: Figure, column: &crate::state::Bucket, smoothed: Option<f64>) -> String {
    let written = |v: f64| figure.value(v);
    let (first, last) = traces.x(column);
    let place = if first == last { traces.x_label(first) } else { format!("{}-{}", traces.x_label(first), traces.x_label(last)) };
    let unit = if traces.axis == XAxis::Step { format!("{} ", figure.count().unit()) } else { String::new() };
    let mut text = format!("{unit}{place}  {}", figure.title());
    match (column.count, column.mean()) {
        (0, _) => text.push_str(&format!(" {} ({})", format::UNSET, tr!("not finite"))),
        (1, _) => text.push_str(&format!(" {}", written(column.last))),
        (_, mean) => {
            let mean = format::or_unset(mean, written);
            let (min, max, n) = (written(column.min), written(column.max), format::count(column.count));
            text.push_str(&format!(" {}", tr!("mean {mean}  min {min}  max {max} of {n}", mean = mean, min = min, max = max, n = n)));
        }
    }
    if let Some(smoothed) = smoothed {
        text.push_str(&format!("  ema {}", written(smoothed)));
    }
    text
}
