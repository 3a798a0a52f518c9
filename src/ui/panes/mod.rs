//! The panes, one file each, and where they stand.
//!
//! ```text
//! >= 160x40             >= 100x24            >= 60x14              smaller
//! +-------+------+----+ +-------+------+     +--------------+      +------+
//! | chain | rew  | m  | | chain | rew  |     | chain        |      | pane |
//! |       +------+ e  | |       +------+     |              |      |      |
//! |       | tool | m  | |       | tool |     +-------+------+      | tabs |
//! +---+---+------+    | +---+---+------+     | rew   | gpu  |      +------+
//! |gpu|alert|log |    | |gpu|alert|log |     +-------+------+
//! +---+-----+----+----+ +---+-----+----+     | alert, tabs  |
//! ```

pub mod alerts;
mod chain;
mod gpu;
mod log;
mod memory;
mod reward;
mod tools;

use super::chrome::glyphs;
use super::view::{Context, PaneId};
use super::widgets::{Canvas, Role};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws every pane that has room.
pub fn draw(buffer: &mut Buffer, area: Rect, cx: &Context<'_>) {
    let mut canvas = Canvas::new(buffer, area, cx.theme, glyphs(cx.caps));
    for (pane, part) in layout(canvas.width(), canvas.height(), cx) {
        let framed = part.height >= 4 && part.width >= 12;
        let mut part = canvas.part(part);
        if framed { framed_pane(&mut part, pane, cx) } else { content(&mut part, pane, cx) }
    }
    if needs_tabs(canvas.width(), canvas.height()) && canvas.height() >= 3 {
        tabs(&mut canvas, cx);
    }
}

fn needs_tabs(w: u16, h: u16) -> bool {
    w < 100 || h < 22
}

/// Which pane stands where.
fn layout(w: u16, h: u16, cx: &Context<'_>) -> Vec<(PaneId, Rect)> {
    let tabs = u16::from(needs_tabs(w, h) && h >= 3);
    let h = h - tabs;
    if cx.view.full || w < 60 || h < 12 {
        return vec![(cx.view.focus, Rect::new(0, 0, w, h))];
    }
    if tabs == 1 {
        return medium(w, h, cx);
    }
    let memory = if w >= 160 && h >= 38 { 46 } else { 0 };
    let (main, lower) = (w - memory, (h / 3).clamp(7, 14));
    let (upper, left) = (h - lower, main * 54 / 100);
    let reward = upper / 2;
    let third = main / 3;
    let mut panes = vec![
        (PaneId::Chain, Rect::new(0, 0, left, upper)),
        (PaneId::Reward, Rect::new(left, 0, main - left, reward)),
        (PaneId::Tools, Rect::new(left, reward, main - left, upper - reward)),
        (PaneId::Gpu, Rect::new(0, upper, third, lower)),
        (PaneId::Alerts, Rect::new(third, upper, third, lower)),
        (PaneId::Log, Rect::new(2 * third, upper, main - 2 * third, lower)),
    ];
    if memory > 0 {
        panes.push((PaneId::Memory, Rect::new(main, 0, memory, h)));
    }
    panes
}

/// The chain or the focused pane, and two strips below it.
fn medium(w: u16, h: u16, cx: &Context<'_>) -> Vec<(PaneId, Rect)> {
    let strip = 6;
    let upper = h - strip;
    let half = w / 2;
    let (a, b) = match cx.view.focus {
        PaneId::Reward => (PaneId::Tools, PaneId::Gpu),
        PaneId::Gpu => (PaneId::Reward, PaneId::Tools),
        PaneId::Chain | PaneId::Tools | PaneId::Alerts | PaneId::Log | PaneId::Memory => (PaneId::Reward, PaneId::Gpu),
    };
    vec![(cx.view.focus, Rect::new(0, 0, w, upper)), (a, Rect::new(0, upper, half, strip)), (b, Rect::new(half, upper, w - half, strip))]
}

fn tabs(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let y = canvas.height() - 1;
    let mut x = 1;
    for (index, pane) in PaneId::NUMBERED.iter().enumerate() {
        let name = pane.title().split(' ').next_back().unwrap_or_default().to_lowercase();
        let label = if *pane == cx.view.focus { format!("[{}]{name}", index + 1) } else { format!("{} {name}", index + 1) };
        let role = if *pane == cx.view.focus { Role::Strong } else { Role::Dim };
        x = canvas.text(x, y, &label, role) + 2;
    }
}

fn framed_pane(canvas: &mut Canvas<'_>, pane: PaneId, cx: &Context<'_>) {
    let title = pane.number().map_or(pane.title().to_owned(), |n| format!("{n} {}", pane.title()));
    let badge = badge(pane, cx);
    let mut inner = canvas.frame(&title, &badge, pane == cx.view.focus);
    content(&mut inner, pane, cx);
}

fn badge(pane: PaneId, cx: &Context<'_>) -> String {
    match pane {
        PaneId::Chain => chain::badge(cx),
        PaneId::Reward => reward::badge(cx),
        PaneId::Tools => tools::badge(cx),
        PaneId::Gpu => gpu::badge(cx),
        PaneId::Alerts => alerts::badge(cx),
        PaneId::Log => log::badge(cx),
        PaneId::Memory => String::new(),
    }
}

fn content(canvas: &mut Canvas<'_>, pane: PaneId, cx: &Context<'_>) {
    match pane {
        PaneId::Chain => chain::draw(canvas, cx),
        PaneId::Reward => reward::draw(canvas, cx),
        PaneId::Tools => tools::draw(canvas, cx),
        PaneId::Gpu => gpu::draw(canvas, cx),
        PaneId::Alerts => alerts::draw(canvas, cx),
        PaneId::Log => log::draw(canvas, cx),
        PaneId::Memory => memory::draw(canvas, cx),
    }
}

#[cfg(test)]
mod tests;
