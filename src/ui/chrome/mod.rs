//! What surrounds the panes: the status bar, the hints, and what opens above them.

mod dialogs;
mod entries;
mod form;
pub mod help;
mod hints;
mod input;
pub mod menu;
mod palette;
pub mod silence;

use super::actions::{Action, Entry};
use super::app::Open;
use super::theme::{Caps, Theme};
use super::view::Context;
use super::widgets::text::Ambiguous;
use super::widgets::{Canvas, Glyphs, Paint, Role};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

impl Paint for Theme {
    fn style(&self, role: Role) -> Style {
        match role {
            Role::Text => self.text,
            Role::Dim => self.dim,
            Role::Strong => self.status,
            Role::Border => self.border,
            Role::BorderFocused => self.border_focus,
            Role::Title => self.title,
            Role::Thought => self.thought,
            Role::Action => self.action,
            Role::Observation => self.observation,
            Role::Good => self.good,
            Role::Warn => self.warn,
            Role::Bad => self.bad,
            Role::Selected => self.selection,
            Role::Match => self.found,
            Role::Curve => self.series1,
            Role::CurveSecond => self.series2,
            Role::CurveThird => self.series3,
            Role::Mark => self.mark,
        }
    }
}

/// What the terminal's abilities mean for drawing.
pub fn glyphs(caps: &Caps) -> Glyphs {
    let ambiguous = if caps.ambiguous_width == 2 { Ambiguous::Wide } else { Ambiguous::Narrow };
    Glyphs { ascii: caps.ascii, chart: caps.charts, ambiguous }
}

/// Draws status bar and hints; gives the area between them.
pub fn frame(buffer: &mut Buffer, area: Rect, cx: &Context<'_>) -> Rect {
    let mut canvas = Canvas::new(buffer, area, cx.theme, glyphs(cx.caps));
    super::status::draw(&mut canvas, cx);
    if area.height >= HINTS_HEIGHT_MIN {
        hints::draw(&mut canvas, area.height - 1, cx);
    }
    between(area)
}

/// Rows from which there is one for the hints.
const HINTS_HEIGHT_MIN: u16 = 6;

/// What lies between the status bar and the hints of a screen.
pub fn between(area: Rect) -> Rect {
    let hints = u16::from(area.height >= HINTS_HEIGHT_MIN);
    Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1 + hints), ..area }
}

/// Alerts whose newest state is firing.
pub fn firing(cx: &Context<'_>) -> usize {
    super::panes::alerts::firing(cx.state)
}

/// Draws what is open, and the notice line. `recent` are the actions used last, for the palette.
pub fn overlay(buffer: &mut Buffer, area: Rect, cx: &Context<'_>, (open, notice): (&Open, &str), recent: &[Action]) {
    if area.height == 0 || area.width == 0 {
        return;
    }
    let mut canvas = Canvas::new(buffer, area, cx.theme, glyphs(cx.caps));
    let last = area.height - 1;
    match open {
        Open::Nothing => {}
        Open::Help(help) => help::draw(&mut canvas, help, cx),
        Open::Palette(palette) => palette::draw(&mut canvas, palette, recent, cx),
        Open::Command(line) => return input::command(&mut canvas, last, line, notice),
        Open::Search(line) => {
            clear_row(&mut canvas, last);
            canvas.text(0, last, "/", Role::Strong);
            return input::line(&mut canvas, 1, last, line);
        }
        Open::Menu(group) => menu::draw(&mut canvas, *group, cx),
        Open::Confirm(confirm, typed) => dialogs::confirmation(&mut canvas, confirm, typed, cx),
        Open::Form(form) => form::draw(&mut canvas, form, cx),
        Open::Silence(form) => silence::draw(&mut canvas, form, cx),
        Open::Told(title, lines) => dialogs::told(&mut canvas, title, lines),
        Open::Refused(why) => dialogs::refused(&mut canvas, why),
        Open::ConfirmQuit => dialogs::quit(&mut canvas, cx),
    }
    if !notice.is_empty() {
        clear_row(&mut canvas, last);
        let width = canvas.width();
        canvas.text_upto(1, width, last, notice, Role::Warn);
    }
}

fn clear_row(canvas: &mut Canvas<'_>, y: u16) {
    let blank = " ".repeat(canvas.width() as usize);
    canvas.text(0, y, &blank, Role::Text);
}

/// Why an entry can't be used here, if so.
fn refusal(entry: &Entry, cx: &Context<'_>) -> Option<String> {
    entry.refusal(cx.playback.is_none() && !cx.read_only, cx.playback.is_some())
}

#[cfg(test)]
mod tests;
