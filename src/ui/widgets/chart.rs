//! A curve: columns are buckets, each drawn from its lowest to its highest value, so that a spike never disappears.
//!
//! A live curve only appends. When its window is full it shifts by half a screen, so that most frames change one column.

use super::{Canvas, ChartGlyphs, Role};
use ratatui::layout::Rect;

/// Which part of the values is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// All of it; a bucket grows by powers of two.
    #[default]
    Whole,
    /// The newest, one value a column of dots.
    Recent,
}

/// A curve over an index, such as episodes.
pub struct Chart<'a> {
    /// What is not finite is skipped and counted.
    pub values: &'a [f64],
    /// Index of `values[0]` since the beginning.
    pub first: u64,
    pub window: Window,
    /// Indices at which a vertical mark stands.
    pub marks: &'a [u64],
    /// Index under the cursor.
    pub cursor: Option<u64>,
    /// Lowest and highest value of the axis; found from the values where unset.
    pub range: Option<(f64, f64)>,
    /// How the axis writes a value.
    pub label: fn(f64) -> String,
    /// What the index counts, such as `ep`; written behind the last index.
    pub unit: &'a str,
}

/// What was drawn, for the text beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Values in the window that are not finite.
    pub skipped: usize,
    /// Values a column of dots stands for.
    pub bucket: u64,
}

/// How indices map to columns of dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    start: u64,
    /// Values a column.
    bucket: u64,
    /// Columns a value; above 1 only where `bucket` is 1.
    stretch: u64,
}

/// First index of a window of `columns` values: all while they fit; then it moves by half a window.
pub fn recent_start(first: u64, len: u64, columns: u64) -> u64 {
    let end = first + len;
    if len <= columns || columns == 0 {
        return first;
    }
    let half = (columns / 2).max(1);
    ((end - 1) / half).saturating_sub(1).saturating_mul(half).max(first).max(end.saturating_sub(columns))
}

impl Scale {
    fn new(window: Window, first: u64, len: u64, columns: u64) -> Self {
        let columns = columns.max(1);
        if len <= columns {
            let mut stretch = 1;
            while len > 1 && (len - 1) * stretch * 2 < columns {
                stretch *= 2;
            }
            return Self { start: first, bucket: 1, stretch };
        }
        match window {
            Window::Recent => Self { start: recent_start(first, len, columns), bucket: 1, stretch: 1 },
            Window::Whole => {
                let mut bucket = 2;
                while (first + len).div_ceil(bucket) - first / bucket > columns {
                    bucket *= 2;
                }
                Self { start: first / bucket * bucket, bucket, stretch: 1 }
            }
        }
    }

    fn column(self, index: u64) -> Option<usize> {
        index.checked_sub(self.start).map(|i| (i / self.bucket * self.stretch) as usize)
    }
}

/// Lowest and highest value of each column; `None` where it has none.
type Columns = Vec<Option<(f64, f64)>>;

fn decimate(values: &[f64], first: u64, scale: Scale, columns: usize) -> (Columns, usize) {
    let mut out: Columns = vec![None; columns];
    let mut skipped = 0;
    for (offset, value) in values.iter().enumerate() {
        let Some(slot) = scale.column(first + offset as u64).and_then(|c| out.get_mut(c)) else { continue };
        if !value.is_finite() {
            skipped += 1;
            continue;
        }
        *slot = Some(slot.map_or((*value, *value), |(low, high)| (low.min(*value), high.max(*value))));
    }
    if scale.stretch > 1 {
        interpolate(&mut out, scale.stretch as usize);
    }
    (out, skipped)
}

/// Joins values that stand `stretch` columns apart; a missing value stays a gap.
fn interpolate(columns: &mut Columns, stretch: usize) {
    for left in (0..columns.len()).step_by(stretch) {
        let right = left + stretch;
        if let (Some((a, _)), Some(Some((b, _)))) = (columns[left], columns.get(right).copied()) {
            for step in 1..stretch {
                let value = a + (b - a) * step as f64 / stretch as f64;
                columns[left + step] = Some((value, value));
            }
        }
    }
}

/// An axis around `low..high` with round ends, so that it seldom changes.
fn round_range(low: f64, high: f64) -> (f64, f64) {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let power = 10f64.powf(span.log10().floor());
    let step = [0.2, 0.5, 1.0].into_iter().map(|m| m * power).find(|s| span / s <= 5.0).unwrap_or(power);
    let (bottom, top) = ((low / step).floor() * step, (high / step).ceil() * step);
    if top > bottom { (bottom, top) } else { (bottom - step, top + step) }
}

impl Chart<'_> {
    pub fn draw(&self, canvas: &mut Canvas<'_>) -> Drawn {
        let (w, h) = (canvas.width(), canvas.height());
        if w == 0 || h == 0 {
            return Drawn::default();
        }
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            canvas.text_upto(0, w, h / 2, "no finite value yet", Role::Dim);
            return Drawn { skipped: self.values.len(), bucket: 1 };
        }
        let range = self.range.unwrap_or_else(|| round_range(low, high));
        let axis_rows = u16::from(h >= 4);
        let plot_rows = h - axis_rows;
        let gutter = self.draw_y_axis(canvas, range, plot_rows);
        let plot = Rect::new(gutter, 0, w - gutter, plot_rows);
        let (scale, drawn) = self.draw_curve(&mut canvas.part(plot), range);
        if axis_rows > 0 {
            self.draw_x_axis(canvas, gutter, plot_rows, scale);
        }
        drawn
    }

    /// Gives the columns that labels and axis take; none where the curve would have no room.
    fn draw_y_axis(&self, canvas: &mut Canvas<'_>, range: (f64, f64), rows: u16) -> u16 {
        let labels = [(self.label)(range.1), (self.label)(range.0)];
        let label_width = labels.iter().map(|l| canvas.measure(l)).max().unwrap_or(0);
        if canvas.width() < label_width + 9 {
            return 0;
        }
        let bar = if canvas.glyphs().plain() { "|" } else { "│" };
        for y in 0..rows {
            canvas.text(label_width, y, bar, Role::Border);
        }
        canvas.text_before(label_width, 0, &labels[0], Role::Dim);
        if rows > 1 {
            canvas.text_before(label_width, rows - 1, &labels[1], Role::Dim);
        }
        if rows >= 7 {
            // Exactly the middle where the number of rows is odd; the label says the row's own value.
            let middle = rows / 2;
            let value = range.1 - (range.1 - range.0) * (f64::from(middle) + 0.5) / f64::from(rows);
            let label = (self.label)(value);
            if canvas.measure(&label) <= label_width {
                canvas.text_before(label_width, middle, &label, Role::Dim);
            }
        }
        label_width + 1
    }

    fn draw_x_axis(&self, canvas: &mut Canvas<'_>, gutter: u16, y: u16, scale: Scale) {
        let left = (scale.start.max(self.first) + 1).to_string();
        let after = canvas.text(gutter, y, &left, Role::Dim);
        let last = self.first + self.values.len() as u64;
        let right = format!("{last} {}", self.unit);
        let end_min = after + 1 + canvas.measure(&right);
        if end_min <= canvas.width() {
            // Under the newest value, which need not stand at the edge.
            let (dots_x, _) = resolution(canvas.glyphs().curve());
            let column = scale.column(last.saturating_sub(1)).map_or(0, |c| c / dots_x);
            let end = (usize::from(gutter) + column + 1).clamp(usize::from(end_min), usize::from(canvas.width()));
            canvas.text_before(end as u16, y, &right, Role::Dim);
        }
    }

    fn draw_curve(&self, plot: &mut Canvas<'_>, range: (f64, f64)) -> (Scale, Drawn) {
        let kind = plot.glyphs().curve();
        let (dots_x, dots_y) = resolution(kind);
        let (columns, rows) = (plot.width() as usize * dots_x, plot.height() as usize * dots_y);
        let scale = Scale::new(self.window, self.first, self.values.len() as u64, columns as u64);
        let (spans, skipped) = decimate(self.values, self.first, scale, columns);
        self.draw_marks(plot, scale, dots_x);
        let mut grid = Grid::new(plot.width() as usize, plot.height() as usize, dots_x, dots_y);
        let row = |value: f64| {
            let share = ((range.1 - value) / (range.1 - range.0)).clamp(0.0, 1.0);
            (share * (rows - 1) as f64).round() as usize
        };
        let mut previous: Option<(usize, usize)> = None;
        for (x, span) in spans.iter().enumerate() {
            let dots = span.map(|(low, high)| (row(high), row(low)));
            if let Some((mut top, mut bottom)) = dots {
                // Adjoin the column before, so that the curve is one line.
                if let Some((before_top, before_bottom)) = previous {
                    if before_bottom + 1 < top {
                        top = before_bottom + 1;
                    } else if before_top > bottom + 1 {
                        bottom = before_top - 1;
                    }
                }
                for y in top..=bottom {
                    grid.set(x, y);
                }
            }
            previous = dots;
        }
        grid.draw(plot, kind);
        (scale, Drawn { skipped, bucket: scale.bucket })
    }

    fn draw_marks(&self, plot: &mut Canvas<'_>, scale: Scale, dots_x: usize) {
        let bar = if plot.glyphs().plain() { "|" } else { "┊" };
        let places = self.marks.iter().map(|m| (*m, Role::Mark)).chain(self.cursor.map(|c| (c, Role::Strong)));
        for (index, role) in places {
            let Some(x) = scale.column(index).map(|c| c / dots_x).filter(|x| *x < plot.width() as usize) else { continue };
            for y in 0..plot.height() {
                plot.text(x as u16, y, bar, role);
            }
        }
    }
}

/// Dots across and down in one cell.
fn resolution(kind: ChartGlyphs) -> (usize, usize) {
    match kind {
        ChartGlyphs::Braille => (2, 4),
        ChartGlyphs::Block => (1, 2),
        ChartGlyphs::Ascii => (1, 1),
    }
}

/// Dots, gathered into one byte a cell.
struct Grid {
    width: usize,
    dots_x: usize,
    dots_y: usize,
    cells: Vec<u8>,
}

impl Grid {
    fn new(width: usize, height: usize, dots_x: usize, dots_y: usize) -> Self {
        Self { width, dots_x, dots_y, cells: vec![0; width * height] }
    }

    fn set(&mut self, x: usize, y: usize) {
        let bit = (y % self.dots_y) * self.dots_x + x % self.dots_x;
        if let Some(cell) = self.cells.get_mut(y / self.dots_y * self.width + x / self.dots_x) {
            *cell |= 1 << bit;
        }
    }

    fn draw(&self, plot: &mut Canvas<'_>, kind: ChartGlyphs) {
        for (index, dots) in self.cells.iter().enumerate().filter(|(_, dots)| **dots != 0) {
            let mut utf8 = [0; 4];
            let symbol: &str = match kind {
                ChartGlyphs::Braille => braille(*dots).encode_utf8(&mut utf8),
                ChartGlyphs::Block => ["▀", "▄", "█"][usize::from(*dots) - 1],
                ChartGlyphs::Ascii => "*",
            };
            plot.text((index % self.width) as u16, (index / self.width) as u16, symbol, Role::Curve);
        }
    }
}

/// The Braille pattern of eight dots given row by row (two a row); Unicode counts them 1-2-3-7 / 4-5-6-8 down the columns.
fn braille(dots: u8) -> char {
    const ORDER: [u32; 8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80];
    let bits = (0..8).filter(|bit| dots >> bit & 1 == 1).fold(0, |sum, bit| sum | ORDER[bit]);
    char::from_u32(0x2800 + bits).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widgets::Glyphs;
    use crate::ui::widgets::format;
    use crate::ui::widgets::testing::{Plain, rows};
    use ratatui::buffer::Buffer;

    fn draw(values: &[f64], first: u64, window: Window, kind: ChartGlyphs, width: u16, height: u16) -> (Vec<String>, Drawn) {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let glyphs = Glyphs { chart: kind, ..Glyphs::default() };
        let chart = Chart { values, first, window, marks: &[], cursor: None, range: None, label: format::number, unit: "ep" };
        let drawn = chart.draw(&mut Canvas::new(&mut buffer, area, &Plain, glyphs));
        (rows(&buffer), drawn)
    }

    #[test]
    fn a_spike_among_a_hundred_thousand_is_seen() {
        let mut values = vec![0.0; 100_000];
        values[54_321] = 100.0;
        for kind in [ChartGlyphs::Braille, ChartGlyphs::Block, ChartGlyphs::Ascii] {
            let (screen, drawn) = draw(&values, 0, Window::Whole, kind, 60, 10);
            assert!(drawn.bucket > 1);
            let top: String = screen[0].chars().skip(4).collect();
            assert!(!top.trim().is_empty(), "{kind:?}: {screen:#?}");
        }
    }

    #[test]
    fn what_is_not_finite_is_skipped_and_counted() {
        let (screen, drawn) = draw(&[1.0, f64::NAN, 2.0, f64::INFINITY], 0, Window::Whole, ChartGlyphs::Ascii, 20, 5);
        assert_eq!(drawn.skipped, 2);
        assert_eq!(screen.concat().matches('*').count(), 2, "{screen:#?}");
        let (screen, _) = draw(&[f64::NAN], 0, Window::Whole, ChartGlyphs::Ascii, 30, 5);
        assert!(screen.concat().contains("no finite value yet"));
    }

    #[test]
    fn a_live_curve_only_appends_until_its_window_shifts() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 7)).collect();
        let mut changed = 0;
        for n in 200..400 {
            let (a, _) = draw(&values[..n], 0, Window::Recent, ChartGlyphs::Braille, 40, 8);
            let (b, _) = draw(&values[..n + 1], 0, Window::Recent, ChartGlyphs::Braille, 40, 8);
            changed += a.concat().chars().zip(b.concat().chars()).filter(|(x, y)| x != y).count();
        }
        assert!(changed / 200 < 20, "{} cells a frame", changed / 200);
    }

    #[test]
    fn the_window_holds_the_newest_value() {
        for len in 1..300 {
            for columns in [1, 2, 3, 7, 40] {
                let start = recent_start(5, len, columns);
                assert!(start >= 5 && 5 + len > start && 5 + len - start <= columns, "{len} in {columns}: {start}");
            }
        }
    }

    #[test]
    fn every_size_and_every_scale_draws() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 1e300).collect();
        for (width, height) in [(1, 1), (2, 3), (9, 4), (12, 1), (250, 80)] {
            for values in [&values[..], &values[..1], &[0.0, -0.0], &[f64::MAX, f64::MIN]] {
                draw(values, u64::from(width), Window::Whole, ChartGlyphs::Braille, width, height);
                draw(values, 7, Window::Recent, ChartGlyphs::Block, width, height);
            }
        }
    }
}
