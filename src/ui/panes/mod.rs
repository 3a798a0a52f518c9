//! The panes, one file each, and where they stand. A pane draws from a `Context` and changes nothing.

pub mod alerts;
pub mod branches;
pub mod chain;
mod chain_rows;
mod chain_sheet;
pub mod checkpoints;
pub mod curves;
pub mod diff;
mod gpu;
mod heat;
mod hits;
#[cfg(test)]
mod hostile_tests;
pub mod layout;
mod lines;
pub mod log;
mod memory;
mod recall;
pub mod replay;
mod reward;
pub mod rules;
#[cfg(test)]
mod screens_tests;
mod spec;
mod strips;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::testing;
pub mod tools;

pub use chain_sheet::Motion;
pub use hits::Hits;
pub use layout::{has_menu_key, has_popups};
pub use spec::{Max, Travel};

use layout::{Layout, arrange};

use super::chrome::glyphs;
use super::lang;
use super::view::{Context, PaneId, Scroll, Share, View};
use super::widgets::{Canvas, Role, text};
use crate::state::LaneState;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Draws every pane that has room in `area`, which lies between the status bar and the hints.
pub fn draw(buffer: &mut Buffer, area: Rect, ctx: &Context<'_>) {
    let mut screen = Canvas::new(buffer, area, ctx.theme, glyphs(ctx.caps));
    let layout = arrange(screen.width(), screen.height(), ctx.view);
    for (id, part) in &layout.panes {
        (id.spec().draw)(&mut screen.part(*part), &Pane { ctx, id: *id, framed: layout.framed });
    }
    for (id, part) in &layout.strips {
        let (mut part, pane) = (screen.part(*part), Pane { ctx, id: *id, framed: true });
        match pane.id.spec().strip {
            Some(draw) => draw(&mut pane.open(&mut part, ""), ctx),
            None => (pane.id.spec().draw)(&mut part, &pane),
        }
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
    if let Some((id, part)) = layout.popup {
        let mut part = screen.part(part);
        part.blank();
        (id.spec().draw)(&mut part, &Pane { ctx, id, framed: true });
    }
}

/// The panes that the focus goes through: those of the screen, then what stands beside them in `area`.
pub fn of_screen(view: &View, area: Rect) -> Vec<PaneId> {
    let mut panes = view.screen.panes().to_vec();
    let beside = arrange(area.width, area.height, &View { share: Share::Normal, ..view.clone() }).panes;
    panes.extend(beside.into_iter().map(|(id, _)| id).filter(|id| !view.screen.panes().contains(id)));
    panes
}

/// Width and height of a pane's inside in `area`, which lies between the status bar and the hints; unset where it is not shown.
pub fn inside(view: &View, area: Rect, id: PaneId) -> Option<(u16, u16)> {
    let layout = arrange(area.width, area.height, view);
    let popup = layout.popup.filter(|(shown, _)| *shown == id);
    let (_, part) = popup.or_else(|| layout.panes.iter().find(|(shown, _)| *shown == id).copied())?;
    let frame = if (layout.framed || popup.is_some()) && part.width >= 3 && part.height >= 3 { 2 } else { 0 };
    Some((part.width - frame, part.height - frame))
}

/// Column and row of a cell of the screen in a pane's inside; unset where it is not in it.
pub fn cell_of(view: &View, area: Rect, id: PaneId, x: u16, y: u16) -> Option<(u16, u16)> {
    let at = Position::new(x.checked_sub(area.x)?, y.checked_sub(area.y)?);
    let layout = arrange(area.width, area.height, view);
    let popup = layout.popup.filter(|(shown, _)| *shown == id);
    let (_, part) = popup.or_else(|| layout.panes.iter().find(|(shown, _)| *shown == id).copied())?;
    let (width, height) = inside(view, area, id)?;
    let frame = (part.width - width) / 2;
    let inner = Rect::new(part.x + frame, part.y + frame, width, height);
    inner.contains(at).then(|| (at.x - inner.x, at.y - inner.y))
}

/// The pane under a cell of `area`; a tab is the pane that it shows.
pub fn pane_at(view: &View, area: Rect, x: u16, y: u16) -> Option<PaneId> {
    let at = Position::new(x.checked_sub(area.x)?, y.checked_sub(area.y)?);
    let Layout { panes, strips, summary: _, alerts, log, tabs, popup, framed: _ } = arrange(area.width, area.height, view);
    if let Some((id, _)) = popup.filter(|(_, part)| part.contains(at)) {
        return Some(id);
    }
    if let Some(tabs) = tabs.filter(|tabs| tabs.contains(at)) {
        return strips::tab_at(view, tabs.width, at.x);
    }
    let lines = [(PaneId::Alerts, alerts), (PaneId::Log, log)];
    let lines = lines.into_iter().filter_map(|(id, part)| Some((id, part?)));
    panes.into_iter().chain(strips).chain(lines).find(|(_, part)| part.contains(at)).map(|(id, _)| id)
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

    /// Whether the keys go to it.
    fn is_active(&self) -> bool {
        self.ctx.view.active() == self.id
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
        let title = match self.id.number(self.ctx.view.screen) {
            Some(n) => format!("{n} {}", lang::text(self.id.title())),
            None => lang::text(self.id.title()),
        };
        canvas.frame(&title, badge, self.ctx.view.active() == self.id)
    }
}

/// What stands in a pane that has nothing to show yet: what will come.
fn notice(canvas: &mut Canvas<'_>, what: &str) {
    let lines = text::wrap(what, canvas.width() as usize, canvas.glyphs().ambiguous);
    for (y, line) in (0u16..).zip(&lines) {
        canvas.text(0, y, line, Role::Dim);
    }
}

/// Names in front of values, which begin behind the longest name and `least` cells; gives the row below.
fn labelled(canvas: &mut Canvas<'_>, y: u16, least: u16, lines: &[(String, String, Role)]) -> u16 {
    let width = canvas.width();
    let names = lines.iter().map(|(label, ..)| canvas.measure(label)).fold(least, u16::max);
    let mut y = y;
    for (label, value, role) in lines {
        canvas.text_upto(0, width, y, label, Role::Dim);
        canvas.text_upto(names.saturating_add(1), width, y, value, *role);
        y += 1;
    }
    y
}
