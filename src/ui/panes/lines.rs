//! Panes that are lines of text: drawn from where they were scrolled to, with how many more there are below.

use crate::ui::widgets::text::{self, Ambiguous};
use crate::ui::widgets::{Canvas, Role};

/// A line: pieces from the left, each at its column and cut where the next one begins.
pub struct Line(pub Vec<(u16, String, Role)>);

impl Line {
    pub fn of(text: impl Into<String>, role: Role) -> Self {
        Self(vec![(0, text.into(), role)])
    }
}

/// Lines that hold all of `text`, each of at most `width` cells.
pub fn wrapped(text: &str, width: u16, ambiguous: Ambiguous, role: Role) -> impl Iterator<Item = Line> + use<> {
    text::wrap(text, usize::from(width), ambiguous).into_iter().map(move |line| Line::of(line, role))
}

/// Names in front of values, which begin behind the longest name.
pub fn labelled(rows: Vec<(String, String, Role)>, ambiguous: Ambiguous) -> impl Iterator<Item = Line> {
    let names = rows.iter().map(|(name, ..)| text::width(name, ambiguous)).max().unwrap_or(0) as u16;
    rows.into_iter().map(move |(name, value, role)| Line(vec![(0, name, Role::Dim), (names.saturating_add(1), value, role)]))
}

/// Draws what has room of `lines`, from `up` on.
pub fn draw(canvas: &mut Canvas<'_>, lines: &[Line], up: usize) {
    let up = up.min(scroll_max(lines.len(), canvas.height()));
    for (y, line) in (0..canvas.height()).zip(lines.iter().skip(up)) {
        let ends = line.0.iter().skip(1).map(|(x, ..)| *x).chain([canvas.width()]);
        for ((x, text, role), end) in line.0.iter().zip(ends) {
            canvas.text_upto(*x, end, y, text, *role);
        }
    }
    more(canvas, lines.len().saturating_sub(up + usize::from(canvas.height())));
}

/// How far so many lines can be scrolled in so many rows.
pub fn scroll_max(lines: usize, height: u16) -> usize {
    lines.saturating_sub(usize::from(height))
}

/// In the lower right corner: how many rows have no room below. A list that is cut never looks whole.
pub fn more(canvas: &mut Canvas<'_>, hidden: usize) {
    if let (Some(y), 1..) = (canvas.height().checked_sub(1), hidden) {
        canvas.text_before(canvas.width(), y, &format!(" +{hidden}"), Role::Dim);
    }
}
