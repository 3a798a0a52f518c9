//! What stands around the plot: values on the left, steps or times below, letters of the marks between them.

use super::{Chart, Scale};
use crate::ui::widgets::chart::grid::resolution;
use crate::ui::widgets::{Canvas, Role};

/// Cells of a label of the vertical axis. Always as many, so that a longer number does not move the curve.
const LABEL: u16 = 7;
/// Columns from which there is room for them.
const GUTTER_WIDTH_MIN: u16 = 32;

/// Columns that labels and axis take.
pub fn gutter(width: u16) -> u16 {
    if width >= GUTTER_WIDTH_MIN { LABEL + 1 } else { 0 }
}

/// An axis around `low..high` with round ends, so that it seldom changes.
pub fn round_range(low: f64, high: f64) -> (f64, f64) {
    let span = if high > low { high - low } else { low.abs().max(1e-6) };
    if !span.is_finite() {
        return (low, high);
    }
    let power = 10f64.powf(span.log10().floor());
    let step = [0.2, 0.5, 1.0].into_iter().map(|m| m * power).find(|s| span / s <= 5.0).unwrap_or(power);
    let (bottom, top) = ((low / step).floor() * step, (high / step).ceil() * step);
    // A curve that stands still is in the middle.
    if top > bottom && high > low { (bottom, top) } else { (low - step, high + step) }
}

/// The values of the first line: highest, lowest, and the middle where there is room.
pub fn draw_y(canvas: &mut Canvas<'_>, range: (f64, f64), label: impl Fn(f64) -> String, rows: u16) {
    if gutter(canvas.width()) == 0 || rows == 0 {
        return;
    }
    let bar = if canvas.glyphs().plain() { "|" } else { "│" };
    for y in 0..rows {
        canvas.text(LABEL, y, bar, Role::Border);
    }
    canvas.text_before(LABEL, 0, &label(range.1), Role::Dim);
    if rows > 1 {
        canvas.text_before(LABEL, rows - 1, &label(range.0), Role::Dim);
    }
    if rows >= 7 {
        // Exactly the middle where the number of rows is odd; the label says the row's own value.
        let middle = rows / 2;
        let share = (f64::from(middle) + 0.5) / f64::from(rows);
        canvas.text_before(LABEL, middle, &label(range.1 * (1.0 - share) + range.0 * share), Role::Dim);
    }
}

/// The row below the plot: first and last place, and a letter where a mark stands. Letters come first; a label in their way moves
/// aside, or is left out.
pub fn draw_x(canvas: &mut Canvas<'_>, y: u16, chart: &Chart<'_>, newest: Option<u64>) {
    let gutter = gutter(canvas.width());
    let (dots_x, _) = resolution(canvas.glyphs().curve());
    let letters = chart.letters(dots_x);
    let mut taken: Vec<bool> = vec![false; canvas.width() as usize];
    for (column, letter) in &letters {
        let x = gutter.saturating_add(*column);
        canvas.text(x, y, letter.encode_utf8(&mut [0; 4]), if *letter == '^' { Role::Strong } else { Role::Mark });
        if let Some(cell) = taken.get_mut(usize::from(x)) {
            *cell = true;
        }
    }
    let scale: Scale = chart.scale;
    // Where there is one place alone, its number stands once.
    let first = scale.start.max(chart.first);
    let left = if newest == Some(first) { String::new() } else { (chart.x_label)(first) };
    let right = newest.map(|x| format!("{} {}", (chart.x_label)(x), chart.unit).trim_end().to_owned());
    if let Some(x) = free(&taken, usize::from(gutter), usize::from(canvas.measure(&left)), true) {
        let end = canvas.text(x, y, &left, Role::Dim);
        taken[usize::from(x)..usize::from(end)].fill(true);
    }
    let Some((right, newest)) = right.zip(newest) else { return };
    // Under the newest value, which need not stand at the edge.
    let column = usize::try_from(scale.column(newest)).unwrap_or(0) / dots_x + usize::from(gutter) + 1;
    let width = usize::from(canvas.measure(&right));
    let wanted = column.min(taken.len()).max(width + usize::from(gutter)) - width;
    let places = [free(&taken, wanted, width, false), free(&taken, wanted, width, true)];
    if let Some(x) = places.into_iter().flatten().min_by_key(|x| usize::from(*x).abs_diff(wanted)) {
        canvas.text(x, y, &right, Role::Dim);
    }
}

/// The nearest place for a label of that width with nothing beside it, from `from` on to the right or to the left.
fn free(taken: &[bool], from: usize, width: usize, rightwards: bool) -> Option<u16> {
    let fits = |x: &usize| {
        let around = x.saturating_sub(1)..(x + width + 1).min(taken.len());
        x + width <= taken.len() && !taken[around].contains(&true)
    };
    let last = taken.len().checked_sub(width)?;
    let found = if rightwards { (from..=last).find(fits) } else { (0..=from.min(last)).rev().find(fits) };
    found.and_then(|x| u16::try_from(x).ok())
}
