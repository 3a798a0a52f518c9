//! Cells as the bytes that bring them to a terminal: what is already so is not said again.

use super::widgets::text::is_plain;
use ratatui::backend::IntoCrossterm;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use std::io::Write;

use crossterm::style::Colored;

/// What of a look shows on a blank: without these its colour of text is nothing that anybody sees.
const SHOWS_ON_BLANK: Modifier = Modifier::REVERSED.union(Modifier::UNDERLINED).union(Modifier::CROSSED_OUT);

/// Modifiers with the codes that begin and end them (ECMA-48, 8.3.117). 22 ends two.
const MODIFIERS: [(Modifier, u8, u8); 8] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// Puts everything back that a pen may have set.
pub const PLAIN: &[u8] = b"\x1b[m";

/// Where and how the terminal would write next. A new one supposes the terminal's plain look and no place.
#[derive(Debug)]
pub struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
    /// Unset where the terminal may count columns in another way than we do.
    at: Option<(u16, u16)>,
}

impl Default for Pen {
    fn default() -> Self {
        Self { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty(), at: None }
    }
}

impl Pen {
    /// Writes a cell at column `x` of row `y`.
    pub fn put(&mut self, out: &mut Vec<u8>, (x, y): (u16, u16), cell: &Cell) {
        self.go(out, x, y);
        self.write(out, cell);
        let is_plain = cell.symbol().chars().all(is_plain);
        self.at = is_plain.then_some((x.saturating_add(1), y));
    }

    /// Writes a cell where the terminal stands.
    pub fn write(&mut self, out: &mut Vec<u8>, cell: &Cell) {
        self.look(out, cell);
        out.extend_from_slice(cell.symbol().as_bytes());
    }

    fn go(&mut self, out: &mut Vec<u8>, x: u16, y: u16) {
        // A write to a Vec does not fail.
        let _ = match self.at {
            Some(at) if at == (x, y) => Ok(()),
            Some((column, row)) if row == y && column < x && x - column == 1 => out.write_all(b"\x1b[C"),
            Some((column, row)) if row == y && column < x => write!(out, "\x1b[{}C", x - column),
            Some(_) | None if x == 0 => write!(out, "\x1b[{}H", u32::from(y) + 1),
            Some(_) | None => write!(out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1),
        };
    }

    fn look(&mut self, out: &mut Vec<u8>, cell: &Cell) {
        let mut codes: Vec<u8> = Vec::new();
        let mut say = |code: std::fmt::Arguments<'_>| {
            let _ = write!(codes, "{}{code}", if codes.is_empty() { "" } else { ";" });
        };
        let (gone, weight) = (self.modifier - cell.modifier, Modifier::BOLD | Modifier::DIM);
        // Bold and dim end together: what stays of them begins anew.
        let kept = if gone.intersects(weight) { self.modifier - weight } else { self.modifier } - gone;
        if gone.intersects(weight) {
            say(format_args!("22"));
        }
        for (_, _, end) in MODIFIERS.iter().filter(|(modifier, _, end)| *end != 22 && gone.intersects(*modifier)) {
            say(format_args!("{end}"));
        }
        for (_, begin, _) in MODIFIERS.iter().filter(|(modifier, ..)| (cell.modifier - kept).intersects(*modifier)) {
            say(format_args!("{begin}"));
        }
        self.modifier = cell.modifier;
        let shows = cell.symbol() != " " || cell.modifier.intersects(SHOWS_ON_BLANK);
        if shows && cell.fg != self.fg {
            say(format_args!("{}", Colored::ForegroundColor(cell.fg.into_crossterm())));
            self.fg = cell.fg;
        }
        if cell.bg != self.bg {
            say(format_args!("{}", Colored::BackgroundColor(cell.bg.into_crossterm())));
            self.bg = cell.bg;
        }
        if !codes.is_empty() {
            out.extend_from_slice(b"\x1b[");
            out.extend_from_slice(&codes);
            out.push(b'm');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::*;
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    const SIZE: (u16, u16) = (12, 4);

    fn color() -> impl Strategy<Value = Color> {
        prop_oneof![
            Just(Color::Reset),
            Just(Color::Red),
            Just(Color::LightBlue),
            any::<u8>().prop_map(Color::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b))
        ]
    }

    fn style() -> impl Strategy<Value = Style> {
        // What vt100 knows; to it a cell is bold or dim, never both.
        let known = [Modifier::BOLD, Modifier::ITALIC, Modifier::UNDERLINED, Modifier::REVERSED];
        (color(), color(), prop::sample::subsequence(known.to_vec(), 0..3))
            .prop_map(|(fg, bg, some)| Style::new().fg(fg).bg(bg).add_modifier(some.into_iter().collect()))
    }

    fn piece() -> impl Strategy<Value = (u16, u16, &'static str, Style)> {
        // vt100 joins no emoji.
        let text = prop::sample::select(vec!["a", " ", "  x ", "⣿", "─┐", "工", "工单", "é", "👩", "abc def"]);
        (0..SIZE.0, 0..SIZE.1, text, style())
    }

    /// What the terminal shows in a cell: its text, its colours where they are seen, and how they are drawn.
    fn seen(screen: &vt100::Screen, x: u16, y: u16) -> (String, [vt100::Color; 2], [bool; 4]) {
        let cell = screen.cell(y, x).unwrap();
        let how = [cell.bold(), cell.italic(), cell.underline(), cell.inverse()];
        if cell.is_wide_continuation() {
            return (String::new(), [vt100::Color::Default; 2], [false; 4]);
        }
        let is_blank = cell.contents().trim().is_empty() && !cell.underline() && !cell.inverse();
        let fg = if is_blank { vt100::Color::Default } else { cell.fgcolor() };
        (cell.contents().trim().to_owned(), [fg, cell.bgcolor()], if is_blank { [false; 4] } else { how })
    }

    proptest! {
        /// Picture upon picture, a terminal that gets the differences shows what one shows that gets the last picture alone.
        #[test]
        fn differences_lead_to_the_picture(pictures in prop::collection::vec(prop::collection::vec(piece(), 0..8), 1..6)) {
            let area = Rect::new(0, 0, SIZE.0, SIZE.1);
            let mut by_steps = Vec::new();
            let mut buffer = Buffer::empty(area);
            {
                let mut screen = Screen::new(&mut by_steps);
                for pieces in &pictures {
                    for (x, y, text, style) in pieces {
                        buffer.set_string(*x, *y, text, *style);
                    }
                    screen.show(buffer.clone()).unwrap();
                }
            }
            let mut at_once = Vec::new();
            Screen::new(&mut at_once).show(buffer.clone()).unwrap();
            let terminal = || vt100::Parser::new(SIZE.1.try_into().unwrap(), SIZE.0.try_into().unwrap(), 0);
            let (mut a, mut b) = (terminal(), terminal());
            a.process(&by_steps);
            b.process(&at_once);
            for y in 0..SIZE.1 {
                for x in 0..SIZE.0 {
                    prop_assert_eq!(seen(a.screen(), x, y), seen(b.screen(), x, y), "{},{}", x, y);
                }
            }
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        let (mut pen, mut out) = (Pen::default(), Vec::new());
        let mut cell = Cell::new("a");
        cell.set_style(Style::new().fg(Color::Indexed(200)).add_modifier(Modifier::BOLD));
        pen.put(&mut out, (2, 1), &cell);
        pen.put(&mut out, (3, 1), &cell);
        pen.put(&mut out, (6, 1), Cell::new(" ").set_fg(Color::Red));
        pen.put(&mut out, (0, 2), &cell);
        assert_eq!(String::from_utf8(out).unwrap(), "\x1b[2;3H\x1b[1;38;5;200maa\x1b[2C\x1b[22m \x1b[3H\x1b[1ma");
    }
}
