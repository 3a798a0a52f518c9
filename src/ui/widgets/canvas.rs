//! The one place where cells are written: clipped, by grapheme, in the theme's roles.

use super::text::{self, Ambiguous};
use crate::event::SafeText;
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::num::NonZeroU16;

/// What a piece of text is. The theme says how that looks; a letter or word says it too, so colour is never needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Text,
    Dim,
    Strong,
    Border,
    BorderFocused,
    Title,
    Thought,
    Action,
    Observation,
    Good,
    Warn,
    Bad,
    /// A row under the cursor. Must differ from `Text` without colour.
    Selected,
    /// Text that the search found. Must differ from `Text` without colour.
    Match,
    Curve,
    CurveSecond,
    CurveThird,
    Mark,
}

/// A theme, as far as drawing needs it.
pub trait Paint {
    fn style(&self, role: Role) -> Style;
}

/// What curves are drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChartGlyphs {
    #[default]
    Braille,
    Block,
    Ascii,
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glyphs {
    /// No character beyond ASCII in frames, charts and marks.
    pub ascii: bool,
    pub chart: ChartGlyphs,
    pub ambiguous: Ambiguous,
}

impl Glyphs {
    /// Frames and blocks are ambiguous themselves: where those are wide, only ASCII keeps columns straight.
    pub fn plain(self) -> bool {
        self.ascii || self.ambiguous == Ambiguous::Wide
    }

    /// What curves are drawn with here.
    pub fn curve(self) -> ChartGlyphs {
        // Braille patterns are neutral, never ambiguous: they need only Unicode.
        match self.chart {
            ChartGlyphs::Braille if !self.ascii => ChartGlyphs::Braille,
            ChartGlyphs::Block if !self.plain() => ChartGlyphs::Block,
            ChartGlyphs::Braille | ChartGlyphs::Block | ChartGlyphs::Ascii => ChartGlyphs::Ascii,
        }
    }

    /// Ends a text that was cut.
    pub fn cut(self) -> &'static str {
        if self.plain() { "~" } else { "…" }
    }
}

/// A rectangle to draw in. Coordinates are its own: (0, 0) is its upper left cell; what lies outside is not drawn.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    paint: &'a dyn Paint,
    glyphs: Glyphs,
}

impl<'a> Canvas<'a> {
    pub fn new(buffer: &'a mut Buffer, area: Rect, paint: &'a dyn Paint, glyphs: Glyphs) -> Self {
        let area = area.intersection(buffer.area);
        Self { buffer, area, paint, glyphs }
    }

    pub fn width(&self) -> u16 {
        self.area.width
    }

    pub fn height(&self) -> u16 {
        self.area.height
    }

    pub fn glyphs(&self) -> Glyphs {
        self.glyphs
    }

    /// A part of this canvas, in this canvas' coordinates.
    pub fn part(&mut self, part: Rect) -> Canvas<'_> {
        let shifted = Rect { x: self.area.x.saturating_add(part.x), y: self.area.y.saturating_add(part.y), ..part };
        Canvas { area: shifted.intersection(self.area), buffer: self.buffer, paint: self.paint, glyphs: self.glyphs }
    }

    /// Everything below the first `rows`.
    pub fn below(&mut self, rows: u16) -> Canvas<'_> {
        let rest = Rect::new(0, rows, self.width(), self.height().saturating_sub(rows));
        self.part(rest)
    }

    /// Writes `text` from column `x` of row `y` on; gives the column behind it. What does not fit is left out.
    pub fn text(&mut self, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let mut x = x;
        if y >= self.area.height {
            return x;
        }
        let style = self.paint.style(role);
        if text.chars().all(|c| self.is_plain(c)) {
            return self.plain(x, y, text, style);
        }
        // Names, ids and typed lines are no `SafeText`: this is the one place that all of them pass.
        let safe = SafeText::new(text);
        for grapheme in text::graphemes(&safe) {
            let cells = text::grapheme_width(grapheme, self.glyphs.ambiguous) as u16;
            if cells == 0 {
                continue;
            }
            if x.saturating_add(cells) > self.area.width {
                break;
            }
            self.put(x, y, grapheme, cells, style);
            x += cells;
        }
        x
    }

    fn is_plain(&self, c: char) -> bool {
        text::is_plain(c) && (c.is_ascii() || self.glyphs.ambiguous == Ambiguous::Narrow)
    }

    /// Most of a screen: characters that are safe, and a grapheme and a cell each.
    fn plain(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let room = self.area.width.saturating_sub(x) as usize;
        if room == 0 || text.is_empty() {
            return x;
        }
        let (left, top) = (self.area.x + x, self.area.y + y);
        self.halve_before(left, top);
        let mut styled = Cell::EMPTY;
        styled.set_style(style);
        let first = self.buffer.index_of(left, top);
        let cells = &mut self.buffer.content[first..first + room];
        let mut count = 0;
        for (cell, c) in cells.iter_mut().zip(text.chars()) {
            // A cell without a symbol is a space.
            *cell = styled.clone();
            if c != ' ' {
                cell.set_char(c);
            }
            count += 1;
        }
        x + count
    }

    /// Like `text`, cut with a mark so that it ends before column `end`.
    pub fn text_upto(&mut self, x: u16, end: u16, y: u16, text: &str, role: Role) -> u16 {
        let room = end.min(self.area.width).saturating_sub(x);
        // What is made safe takes more room than what it was.
        let safe = (!text.chars().all(|c| self.is_plain(c))).then(|| SafeText::new(text));
        let text = safe.as_ref().map_or(text, SafeText::as_str);
        let cut = text::truncate(text, room as usize, self.glyphs.cut(), self.glyphs.ambiguous);
        self.text(x, y, &cut, role)
    }

    /// Writes `text` so that it ends before column `end`; gives the column where it begins.
    pub fn text_before(&mut self, end: u16, y: u16, text: &str, role: Role) -> u16 {
        let end = end.min(self.area.width);
        let x = end.saturating_sub(self.measure(text));
        self.text_upto(x, end, y, text, role);
        x
    }

    /// Cells of `text`.
    pub fn measure(&self, text: &str) -> u16 {
        let cells = match text.chars().all(|c| self.is_plain(c)) {
            true => text::width(text, self.glyphs.ambiguous),
            false => text::width(&SafeText::new(text), self.glyphs.ambiguous),
        };
        u16::try_from(cells).unwrap_or(u16::MAX)
    }

    /// Gives `count` cells of row `y` another role and keeps their text.
    pub fn restyle(&mut self, x: u16, y: u16, count: u16, role: Role) {
        if y < self.area.height && x < self.area.width {
            let strip = Rect::new(self.area.x + x, self.area.y + y, count.min(self.area.width - x), 1);
            self.buffer.set_style(strip, self.paint.style(role));
        }
    }

    fn put(&mut self, x: u16, y: u16, grapheme: &str, cells: u16, style: Style) {
        let (x, y) = (self.area.x + x, self.area.y + y);
        self.halve_before(x, y);
        for covered in 1..cells {
            if let Some(cell) = self.buffer.cell_mut((x + covered, y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            // Styles are laid over what is there: without this, bold of what stood here before would stay.
            cell.reset();
            cell.set_symbol(grapheme).set_style(style);
            let native = text::grapheme_width(grapheme, Ambiguous::Narrow) as u16;
            let forced = NonZeroU16::new(cells).filter(|c| c.get() != native);
            cell.set_diff_option(forced.map_or(CellDiffOption::None, CellDiffOption::ForcedWidth));
        }
    }

    /// A wide character whose second half is written over is none any more: on the terminal it would hide what is written.
    fn halve_before(&mut self, x: u16, y: u16) {
        let cell = x.checked_sub(1).and_then(|before| self.buffer.cell_mut((before, y)));
        let is_wide = |symbol: &str| !symbol.is_ascii() && text::grapheme_width(symbol, self.glyphs.ambiguous) > 1;
        if let Some(cell) = cell.filter(|cell| is_wide(cell.symbol())) {
            cell.set_symbol(" ").set_diff_option(CellDiffOption::None);
        }
    }

    /// Draws a frame with a title and, on its right, what the pane's state is. Gives the inside.
    ///
    /// The focused frame is heavy, so that focus shows without colour.
    pub fn frame(&mut self, title: &str, badge: &str, focused: bool) -> Canvas<'_> {
        let (w, h) = (self.width(), self.height());
        if w < 3 || h < 3 {
            return self.part(Rect::new(0, 0, w, h));
        }
        let role = if focused { Role::BorderFocused } else { Role::Border };
        let [upper_left, upper_right, lower_left, lower_right, across, down] = border(self.glyphs.plain(), focused);
        let line = across.repeat(w as usize - 2);
        self.text(0, 0, &format!("{upper_left}{line}{upper_right}"), role);
        self.text(0, h - 1, &format!("{lower_left}{line}{lower_right}"), role);
        for y in 1..h - 1 {
            self.text(0, y, down, role);
            self.text(w - 1, y, down, role);
        }
        let badge_x = if badge.is_empty() || w < 12 {
            w - 1
        } else {
            // The title comes first; the badge has what it leaves.
            let room = w.saturating_sub(self.measure(title) + 8);
            let cut = text::truncate(badge, room as usize, self.glyphs.cut(), self.glyphs.ambiguous);
            self.text_before(w - 2, 0, &format!(" {cut} "), Role::Dim)
        };
        let title_role = if focused { Role::BorderFocused } else { Role::Title };
        self.text_upto(2, badge_x.min(w - 1), 0, &format!(" {title} "), title_role);
        self.part(Rect::new(1, 1, w - 2, h - 2))
    }

    /// Clears all of it.
    pub fn blank(&mut self) {
        let blank = " ".repeat(self.width() as usize);
        for y in 0..self.height() {
            self.text(0, y, &blank, Role::Text);
        }
    }

    /// A horizontal rule over the whole width.
    pub fn rule(&mut self, y: u16) {
        let across = if self.glyphs.plain() { "-" } else { "─" };
        let line = across.repeat(self.width() as usize);
        self.text(0, y, &line, Role::Border);
    }
}

fn border(plain: bool, focused: bool) -> [&'static str; 6] {
    match (plain, focused) {
        (false, false) => ["┌", "┐", "└", "┘", "─", "│"],
        (false, true) => ["┏", "┓", "┗", "┛", "━", "┃"],
        (true, false) => ["+", "+", "+", "+", "-", "|"],
        (true, true) => ["#", "#", "#", "#", "=", "#"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widgets::testing::{Plain, rows};

    #[test]
    fn nothing_is_written_outside_and_wide_text_is_not_halved() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 2));
        let mut canvas = Canvas::new(&mut buffer, Rect::new(1, 0, 3, 9), &Plain, Glyphs::default());
        assert_eq!(canvas.text(0, 0, "工单", Role::Text), 2);
        canvas.text(0, 7, "below", Role::Text);
        canvas.part(Rect::new(2, 1, 50, 50)).text(0, 0, "long", Role::Text);
        assert_eq!(rows(&buffer), [" 工   ", "   l  "]);
    }

    #[test]
    fn what_is_made_safe_is_cut_and_measured_by_what_it_became() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        let mut canvas = Canvas::new(&mut buffer, Rect::new(0, 0, 12, 1), &Plain, Glyphs::default());
        let hostile = "\u{202e}\u{202e}ab";
        assert!(canvas.measure(hostile) > 6, "{}", canvas.measure(hostile));
        assert!(canvas.text_upto(0, 6, 0, hostile, Role::Text) <= 6);
        assert_eq!(&rows(&buffer)[0][rows(&buffer)[0].len() - 6..], "      ");
    }

    #[test]
    fn a_frame_over_wide_text_leaves_no_half_of_a_character() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 3));
        let mut canvas = Canvas::new(&mut buffer, Rect::new(0, 0, 8, 3), &Plain, Glyphs::default());
        for y in 0..3 {
            canvas.text(0, y, "回合轨迹", Role::Text);
        }
        canvas.part(Rect::new(1, 0, 6, 3)).frame("", "", false);
        assert_eq!(rows(&buffer)[0], " ┌─  ─┐ ");
        assert_eq!(rows(&buffer)[2], " └────┘ ");
    }

    #[test]
    fn nothing_stays_of_what_stood_there_before() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 1));
        let mut canvas = Canvas::new(&mut buffer, Rect::new(0, 0, 3, 1), &Plain, Glyphs::default());
        canvas.text(0, 0, "old", Role::Match);
        canvas.text(0, 0, "new", Role::Text);
        assert!(buffer.content().iter().all(|cell| cell.modifier.is_empty()));
    }

    #[test]
    fn an_ambiguous_character_takes_two_cells_where_the_terminal_says_so() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 1));
        let glyphs = Glyphs { ambiguous: Ambiguous::Wide, ..Glyphs::default() };
        let mut canvas = Canvas::new(&mut buffer, Rect::new(0, 0, 6, 1), &Plain, glyphs);
        assert_eq!(canvas.text(0, 0, "±a", Role::Text), 3);
    }

    #[test]
    fn focus_shows_without_colour() {
        for glyphs in [Glyphs::default(), Glyphs { ascii: true, ..Glyphs::default() }] {
            let draw = |focused| {
                let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 3));
                Canvas::new(&mut buffer, Rect::new(0, 0, 12, 3), &Plain, glyphs).frame("1 Log", "", focused);
                rows(&buffer)
            };
            assert_ne!(draw(true), draw(false));
        }
    }
}
