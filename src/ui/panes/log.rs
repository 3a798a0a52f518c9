//! Pane 6, log: newest at the bottom.

use super::{Pane, notice};
use crate::event::LogLevel;
use crate::state::LogRow;
use crate::ui::widgets::{Canvas, Role, format};

/// A letter and a role for a level.
pub fn level(level: LogLevel) -> (&'static str, Role) {
    match level {
        LogLevel::Error => ("E", Role::Bad),
        LogLevel::Warn => ("W", Role::Warn),
        LogLevel::Info => ("I", Role::Text),
        LogLevel::Debug => ("D", Role::Dim),
    }
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let state = pane.ctx.state;
    let scroll = pane.scroll();
    let badge = if scroll.follow { String::new() } else { "follow off, G to catch up".into() };
    let mut inner = pane.open(canvas, &badge);
    let dropped = dropped(pane);
    let footer = u16::from(inner.height() >= 3 && !dropped.is_empty());
    let rows = inner.height().saturating_sub(footer) as usize;
    if state.log.is_empty() {
        notice(&mut inner, "no log lines yet");
    }
    // Scrolling stands on the rows that there were when following stopped.
    let fresh = if scroll.follow { 0 } else { state.log.total().saturating_sub(scroll.total_at_stop) as usize };
    let skip = (fresh + scroll.up).min(state.log.len().saturating_sub(rows));
    let mut shown: Vec<&LogRow> = state.log.iter().rev().skip(skip).take(rows).collect();
    shown.reverse();
    for (y, row) in (0u16..).zip(shown) {
        line(&mut inner, y, row);
    }
    if footer > 0 {
        let (width, y) = (inner.width(), inner.height() - 1);
        inner.text_upto(0, width, y, &dropped, Role::Warn);
    }
}

/// What was lost or not understood, if anything.
fn dropped(pane: &Pane<'_>) -> String {
    let state = pane.ctx.state;
    let mut parts = Vec::new();
    if state.samples_dropped_total > 0 {
        parts.push(format!("{} dropped", format::counted(state.samples_dropped_total, "sample")));
    }
    if state.unknown_events_total > 0 {
        parts.push(format!("{} of a newer version", format::counted(state.unknown_events_total, "event")));
    }
    parts.join(", ")
}

/// One row of the log.
pub fn line(canvas: &mut Canvas<'_>, y: u16, row: &LogRow) {
    let width = canvas.width();
    let (letter, role) = level(row.level);
    let mut x = 0;
    if width >= 30 {
        x = canvas.text(0, y, &format!("{} ", format::clock(row.t_ns)), Role::Dim);
    }
    x = canvas.text(x, y, &format!("{letter} "), role);
    x = canvas.text_upto(x, width, y, &format!("{} ", row.target), Role::Dim);
    canvas.text_upto(x, width, y, &row.text, role);
}
