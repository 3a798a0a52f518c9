//! Pane 6, log: newest at the bottom.

use super::{Pane, notice};
use crate::event::LogLevel;
use crate::state::{DashState, LogRow};
use crate::ui::view::Scroll;
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
    let dropped = dropped(state);
    let footer = footer_rows(inner.height(), &dropped);
    let rows = inner.height().saturating_sub(footer) as usize;
    if state.log.is_empty() {
        notice(&mut inner, "no log lines yet");
    }
    let skip = (fresh(state, scroll) + scroll.up).min(state.log.len().saturating_sub(rows));
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

/// Rows that came since following stopped: scrolling stands on those that there were.
fn fresh(state: &DashState, scroll: Scroll) -> usize {
    if scroll.follow { 0 } else { state.log.total().saturating_sub(scroll.total_at_stop) as usize }
}

/// How far up there is a row to see in a pane whose inside has `height` rows.
pub fn scroll_max(state: &DashState, scroll: Scroll, height: u16) -> usize {
    let rows = height.saturating_sub(footer_rows(height, &dropped(state))) as usize;
    state.log.len().saturating_sub(rows + fresh(state, scroll))
}

fn footer_rows(height: u16, dropped: &str) -> u16 {
    u16::from(height >= 3 && !dropped.is_empty())
}

/// What was lost or not understood, if anything.
fn dropped(state: &DashState) -> String {
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
