//! The panes, one file each, and where they stand. A pane draws from a `Context` and changes nothing.

pub mod alerts;
pub mod chain;
mod chain_rows;
mod chain_sheet;
pub mod checkpoints;
pub mod curves;
mod gpu;
mod heat;
mod hits;
#[cfg(test)]
mod hostile_tests;
mod layout;
pub mod log;
mod memory;
mod recall;
pub mod replay;
mod reward;
pub mod rules;
#[cfg(test)]
mod screens_tests;
mod strips;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::testing;
pub mod tools;

pub use chain_sheet::Motion;
pub use hits::Hits;
pub use layout::{has_menu_key, has_popups};

use layout::{Layout, arrange};

use super::chrome::glyphs;
use super::lang;
use super::view::{Context, PaneId, Scroll, View};
use super::widgets::{Canvas, Role, text};
use crate::state::{DashState, LaneState};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

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
    if let Some((id, part)) = layout.popup {
        let mut part = screen.part(part);
        part.blank();
        draw_pane(&mut part, &Pane { ctx, id, framed: true });
    }
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

/// How far a list with that scrolling can be scrolled from its home in a pane whose inside has that many columns and rows.
pub fn scroll_max(state: &DashState, view: &View, id: PaneId, scroll: Scroll, inside: (u16, u16)) -> usize {
    let height = inside.1;
    match id {
        PaneId::Log => log::scroll_max(state, &view.log, scroll, height),
        PaneId::Alerts => alerts::current(state).len().saturating_sub(height as usize),
        PaneId::Gpu => gpu::devices(state).saturating_sub(1),
        PaneId::Vitals | PaneId::Evaluations => curves::scroll_max(state, id, height),
        // The chain and others have a place of their own; the rest show all that they have, or say how much more there is.
        PaneId::Chain
        | PaneId::Reward
        | PaneId::Tools
        | PaneId::Memory
        | PaneId::Transcript
        | PaneId::Episodes
        | PaneId::Inspector
        | PaneId::Timeline
        | PaneId::Checkpoints
        | PaneId::Compare
        | PaneId::Rollout
        | PaneId::Rules
        | PaneId::RuleDetail
        | PaneId::Silences
        | PaneId::Curves => 0,
        PaneId::Prompt => recall::prompt_scroll_max(state.lane(view.lane), inside),
        PaneId::Recall => recall::recall_scroll_max(state.lane(view.lane), inside),
        PaneId::Request => tools::request_scroll_max(state, view, inside),
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
        PaneId::Transcript => replay::transcript::draw(canvas, pane),
        PaneId::Episodes => replay::episodes::draw(canvas, pane),
        PaneId::Inspector => replay::inspector::draw(canvas, pane),
        PaneId::Timeline => replay::timeline::draw(canvas, pane),
        PaneId::Checkpoints => checkpoints::list::draw(canvas, pane),
        PaneId::Compare => checkpoints::compare::draw(canvas, pane),
        PaneId::Rollout => checkpoints::rollout::draw(canvas, pane),
        PaneId::Rules => rules::draw_list(canvas, pane),
        PaneId::RuleDetail => rules::draw_detail(canvas, pane),
        PaneId::Silences => rules::draw_silences(canvas, pane),
        PaneId::Curves => curves::draw_curves(canvas, pane),
        PaneId::Vitals => curves::vitals::draw(canvas, pane),
        PaneId::Evaluations => curves::evaluations::draw(canvas, pane),
        PaneId::Prompt => recall::draw_prompt(canvas, pane),
        PaneId::Recall => recall::draw_recall(canvas, pane),
        PaneId::Request => tools::draw_request(canvas, pane),
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
