//! The panes, one file each, and where they stand. A pane draws from a `Context` and changes nothing.

pub mod alerts;
pub mod chain;
mod chain_rows;
mod gpu;
#[cfg(test)]
mod hostile_tests;
mod layout;
mod log;
mod memory;
mod reward;
mod strips;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::testing;
mod tools;

use layout::arrange;

use super::chrome::glyphs;
use super::view::{Context, PaneId, Scroll};
use super::widgets::{Canvas, Role, text};
use crate::state::LaneState;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws every pane that has room in `area`, which lies between the status bar and the hints.
pub fn draw(buffer: &mut Buffer, area: Rect, ctx: &Context<'_>) {
    let mut screen = Canvas::new(buffer, area, ctx.theme, glyphs(ctx.caps));
    let layout = arrange(screen.width(), screen.height(), ctx.view);
    for (id, part) in &layout.panes {
        draw_pane(&mut screen.part(*part), &Pane { ctx, id: *id, framed: layout.framed });
    }
    for (id, part) in &layout.strips {
        strips::draw_strip(&mut screen.part(*part), &Pane { ctx, id: *id, framed: true });
    }
    if let Some(part) = layout.summary {
        strips::draw_summary(&mut screen.part(part), ctx);
    }
    if let Some(part) = layout.alerts {
        strips::draw_alerts(&mut screen.part(part), ctx);
    }
    if let Some(part) = layout.log {
        strips::draw_log(&mut screen.part(part), ctx);
    }
    if let Some(part) = layout.tabs {
        strips::draw_tabs(&mut screen.part(part), ctx);
    }
}

fn draw_pane(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    match pane.id {
        PaneId::Chain => chain::draw(canvas, pane),
        PaneId::Reward => reward::draw(canvas, pane),
        PaneId::Tools => tools::draw(canvas, pane),
        PaneId::Gpu => gpu::draw(canvas, pane),
        PaneId::Alerts => alerts::draw(canvas, pane),
        PaneId::Log => log::draw(canvas, pane),
        PaneId::Memory => memory::draw(canvas, pane),
    }
}

/// A pane about to be drawn.
pub struct Pane<'a> {
    ctx: &'a Context<'a>,
    id: PaneId,
    /// Whether there is room for a frame.
    framed: bool,
}

impl<'a> Pane<'a> {
    fn lane(&self) -> Option<&'a LaneState> {
        self.ctx.state.lane(self.ctx.view.lane)
    }

    fn scroll(&self) -> Scroll {
        self.ctx.view.scroll_of(self.id)
    }

    /// Draws the frame, if there is room for one, and gives the inside.
    fn open<'c>(&self, canvas: &'c mut Canvas<'_>, badge: &str) -> Canvas<'c> {
        if !self.framed {
            let whole = Rect::new(0, 0, canvas.width(), canvas.height());
            return canvas.part(whole);
        }
        let title = match self.id.number() {
            Some(n) => format!("{n} {}", self.id.title()),
            None => self.id.title().to_owned(),
        };
        canvas.frame(&title, badge, self.ctx.view.focus == self.id)
    }
}

/// What stands in a pane that has nothing to show yet: what will come.
fn notice(canvas: &mut Canvas<'_>, what: &str) {
    let lines = text::wrap(what, canvas.width() as usize, canvas.glyphs().ambiguous);
    for (y, line) in (0u16..).zip(&lines) {
        canvas.text(0, y, line, Role::Dim);
    }
}

/// A name in front of a value; gives the row below.
fn labelled(canvas: &mut Canvas<'_>, y: u16, label: &str, value: &str, role: Role) -> u16 {
    let width = canvas.width();
    let x = canvas.text_upto(0, width, y, label, Role::Dim);
    canvas.text_upto(x + 1, width, y, value, role);
    y + 1
}
