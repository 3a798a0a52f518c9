//! Curves: columns are buckets, each drawn from its lowest to its highest value, so that a spike never disappears.
//!
//! A live curve only appends. When its window is full it shifts by half a screen, so that most frames change one column.

mod axis;
mod columns;
mod grid;
mod scale;
#[cfg(test)]
mod tests;

pub use grid::role;
pub use scale::{Extent, Range, Scale, Window, recent_start};

use super::{Canvas, ChartGlyphs, Role};
use axis::{draw_x, draw_y, gutter, round_range};
use columns::{Column, columns};
use grid::{Grid, resolution};
use ratatui::layout::Rect;

/// A value, or a bucket of them, ready to be drawn: smoothed and, on a logarithmic axis, its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x_first: u64,
    pub x_last: u64,
    pub low: f64,
    pub high: f64,
    /// Where the curve goes on from.
    pub last: f64,
    /// Something before it could not be drawn: the curve does not lead here.
    pub gap: bool,
}

/// One curve of a chart. They are told apart by colour, by dashes (shapes in ASCII), and by a letter at their end.
#[derive(Clone, Debug)]
pub struct Line {
    /// Oldest first; finite.
    pub points: Vec<Point>,
    pub letter: char,
    /// Lowest and highest value of the axis; found from the values in view where unset.
    pub range: Option<(f64, f64)>,
    /// How the axis writes a value.
    pub label: fn(f64) -> String,
}

/// A vertical line with its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub x: u64,
    pub letter: char,
}

/// Up to three curves over one horizontal axis.
pub struct Chart<'a> {
    pub lines: &'a [Line],
    pub scale: Scale,
    /// The first place that has a value.
    pub first: u64,
    pub marks: &'a [Mark],
    /// The place under the cursor.
    pub cursor: Option<u64>,
    pub x_label: &'a dyn Fn(u64) -> String,
    /// What the horizontal axis counts, such as `ep`; written behind the last place.
    pub unit: &'a str,
}

/// What was drawn, for the text beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Lowest and highest value of each line's axis; unset where nothing of it is in view.
    pub ranges: Vec<Option<(f64, f64)>>,
    /// The lines have an axis each, for their values are too far apart; the labels are the first one's.
    pub own_axes: bool,
}

/// Columns of dots that a chart has in so many columns of cells.
pub fn columns_of(width: u16, kind: ChartGlyphs) -> u64 {
    u64::from(width.saturating_sub(gutter(width))) * resolution(kind).0 as u64
}

/// Lines have one axis while that is at most so many times as long as the shortest would be.
const SHARED_MAX: f64 = 8.0;

/// Cells that each value has where it is drawn as a point.
const POINT_CELLS_MIN: usize = 4;

impl Chart<'_> {
    pub fn draw(&self, canvas: &mut Canvas<'_>) -> Drawn {
        let (w, h) = (canvas.width(), canvas.height());
        if w == 0 || h == 0 {
            return Drawn::default();
        }
        let axis_rows = u16::from(h >= 4);
        let plot_rows = h - axis_rows;
        let plot = Rect::new(gutter(w), 0, w - gutter(w), plot_rows);
        let lines: Vec<Vec<Option<Column>>> = self.lines.iter().map(|line| columns(&line.points, self.scale)).collect();
        let drawn = self.ranges(&lines);
        if let Some((line, Some(range))) = self.lines.iter().zip(&drawn.ranges).find(|(_, range)| range.is_some()) {
            draw_y(canvas, *range, line.label, plot_rows);
        }
        let mut part = canvas.part(plot);
        self.draw_marks(&mut part);
        self.draw_lines(&mut part, &lines, &drawn);
        if axis_rows > 0 {
            let newest =
                self.lines.iter().filter_map(|line| line.points.iter().rev().map(|p| p.x_last).find(|x| self.scale.holds(*x))).max();
            draw_x(canvas, plot_rows, self, newest);
        }
        drawn
    }

    /// The axis of each line, by what is in view.
    fn ranges(&self, lines: &[Vec<Option<Column>>]) -> Drawn {
        let seen: Vec<Option<(f64, f64)>> = lines.iter().zip(self.lines).map(|(columns, line)| line.range.or(seen(columns))).collect();
        let all = seen.iter().flatten().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let shortest = seen.iter().flatten().map(|(low, high)| high - low).filter(|span| *span > 0.0).fold(f64::INFINITY, f64::min);
        let own_axes = all.is_some_and(|(low, high)| high - low > shortest * SHARED_MAX);
        let round = |(low, high)| round_range(low, high);
        let ranges = seen.iter().map(|one| one.and_then(|one| if own_axes { Some(one) } else { all }).map(round)).collect();
        Drawn { ranges, own_axes }
    }

    fn draw_lines(&self, plot: &mut Canvas<'_>, lines: &[Vec<Option<Column>>], drawn: &Drawn) {
        let kind = plot.glyphs().curve();
        let mut grid = Grid::new(plot.width() as usize, plot.height() as usize, kind);
        let (dots_x, dots_y) = resolution(kind);
        let rows = plot.height() as usize * dots_y;
        // The first one last, so that it lies above.
        for (index, columns) in lines.iter().enumerate().rev() {
            let Some(Some(range)) = drawn.ranges.get(index) else { continue };
            draw_columns(&mut grid, columns, rows, *range, (index as u8, kind));
        }
        grid.draw(plot, kind);
        for (index, line) in self.lines.iter().enumerate().rev() {
            let Some(Some(range)) = drawn.ranges.get(index) else { continue };
            self.draw_points(plot, line, rows, *range, index as u8);
        }
        if self.lines.len() < 2 {
            return;
        }
        for (index, (columns, line)) in lines.iter().zip(self.lines).enumerate() {
            let end = columns.iter().enumerate().rev().find_map(|(x, column)| Some((x, (*column)?)));
            let (Some((x, column)), Some(Some(range))) = (end, drawn.ranges.get(index)) else { continue };
            let y = row(column.last, *range, rows) / dots_y;
            let x = (x / dots_x + 1).min(usize::from(plot.width()).saturating_sub(1));
            plot.text(x as u16, y as u16, line.letter.encode_utf8(&mut [0; 4]), role(index as u8));
        }
    }

    /// Values that stand far apart are seen by themselves: the line between them is no value.
    fn draw_points(&self, plot: &mut Canvas<'_>, line: &Line, rows: usize, range: (f64, f64), index: u8) {
        let (dots_x, dots_y) = resolution(plot.glyphs().curve());
        let seen: Vec<&Point> = line.points.iter().filter(|p| self.scale.holds(p.x_last)).collect();
        if seen.len() * POINT_CELLS_MIN > usize::from(plot.width()) {
            return;
        }
        let symbol = match plot.glyphs().curve() {
            ChartGlyphs::Braille => "⣿",
            ChartGlyphs::Block | ChartGlyphs::Ascii => "o",
        };
        for point in seen {
            let Ok(column) = usize::try_from(self.scale.column(point.x_last)) else { continue };
            plot.text((column / dots_x) as u16, (row(point.last, range, rows) / dots_y) as u16, symbol, role(index));
        }
    }

    fn draw_marks(&self, plot: &mut Canvas<'_>) {
        let plain = plot.glyphs().plain();
        let (bar, line) = if plain { (":", "|") } else { ("┊", "│") };
        let (dots_x, _) = resolution(plot.glyphs().curve());
        for (x, letter) in self.letters(dots_x) {
            let (symbol, role) = if letter == '^' { (line, Role::Strong) } else { (bar, Role::Mark) };
            for y in 0..plot.height() {
                plot.text(x, y, symbol, role);
            }
        }
    }

    /// Columns of cells of the plot that have a mark, and its letter, where they are of several kinds that of the weightiest; `^` for the cursor.
    fn letters(&self, dots_x: usize) -> Vec<(u16, char)> {
        let mut letters: Vec<(u16, char)> = Vec::new();
        let cursor = self.cursor.map(|x| Mark { x, letter: '^' });
        for mark in self.marks.iter().copied().chain(cursor) {
            let column = self.scale.column(mark.x);
            if !(0..self.scale.columns as i64).contains(&column) {
                continue;
            }
            let x = (column as usize / dots_x) as u16;
            match letters.iter_mut().rev().find(|(at, _)| *at == x) {
                Some((_, letter)) if *letter == mark.letter => {}
                Some((_, letter)) if mark.letter == '^' => *letter = '^',
                // A swap changes what the curve is of, an alert says that something is wrong, a pause neither.
                Some((_, letter)) => *letter = if weight(mark.letter) > weight(*letter) { mark.letter } else { *letter },
                None => letters.push((x, mark.letter)),
            }
        }
        letters
    }
}

/// Which of two marks in one column is named.
fn weight(letter: char) -> u8 {
    match letter {
        '^' => 3,
        'C' => 2,
        'A' => 1,
        _ => 0,
    }
}

/// Lowest and highest value in view.
fn seen(columns: &[Option<Column>]) -> Option<(f64, f64)> {
    columns.iter().flatten().map(|c| (c.low, c.high)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The row of dots of a value, counted from above.
fn row(value: f64, (low, high): (f64, f64), rows: usize) -> usize {
    // Halves, for the difference of two large numbers need not be one.
    let share = (high / 2.0 - value / 2.0) / (high / 2.0 - low / 2.0);
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
    (share * rows.saturating_sub(1) as f64).round() as usize
}

fn draw_columns(grid: &mut Grid, columns: &[Option<Column>], rows: usize, range: (f64, f64), (line, kind): (u8, ChartGlyphs)) {
    let mut previous: Option<(usize, usize)> = None;
    for (x, column) in columns.iter().enumerate() {
        let Some(column) = column else {
            previous = None;
            continue;
        };
        let (mut top, mut bottom) = (row(column.high, range, rows), row(column.low, range, rows));
        // Adjoin the column before, so that the curve is one line.
        if let Some((before_top, before_bottom)) = previous.filter(|_| !column.gap) {
            if before_bottom + 1 < top {
                top = before_bottom + 1;
            } else if before_top > bottom + 1 {
                bottom = before_top - 1;
            }
        }
        previous = Some((top, bottom));
        if top == bottom && is_dash_gap(x, line, kind) {
            continue;
        }
        for y in top..=bottom {
            grid.set(x, y, line);
        }
    }
}

/// The second line is dashed and the third dotted where shapes can't differ. What is more than one dot high is always drawn: it may
/// be a spike.
fn is_dash_gap(x: usize, line: u8, kind: ChartGlyphs) -> bool {
    let dash = match kind {
        ChartGlyphs::Ascii => return false,
        ChartGlyphs::Braille => 3,
        ChartGlyphs::Block => 2,
    };
    match line {
        0 => false,
        1 => x / dash % 2 == 1,
        2.. => !x.is_multiple_of(dash),
    }
}
