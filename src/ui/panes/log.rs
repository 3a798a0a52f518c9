//! The log: the newest line at the bottom.

use crate::event::LogLevel;
use crate::ui::view::{Context, PaneId};
use crate::ui::widgets::{Canvas, Role, format};

pub fn badge(cx: &Context<'_>) -> String {
    match cx.state.samples_dropped_total {
        0 => String::new(),
        dropped => format!("{dropped} samples dropped"),
    }
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    if cx.state.log.is_empty() {
        canvas.text(1, 0, "nothing was logged yet", Role::Dim);
        return;
    }
    let (height, end) = (canvas.height() as usize, canvas.width());
    let up = cx.view.scroll_of(PaneId::Log).up.min(cx.state.log.len().saturating_sub(height));
    let rows: Vec<_> = cx.state.log.iter().rev().skip(up).take(height).collect();
    for (y, row) in rows.iter().rev().enumerate() {
        let (letter, role) = match row.level {
            LogLevel::Error => ('E', Role::Bad),
            LogLevel::Warn => ('W', Role::Warn),
            LogLevel::Info => ('I', Role::Text),
            LogLevel::Debug => ('D', Role::Dim),
        };
        canvas.text_upto(1, end, y as u16, &format!("{} {letter} {} {}", format::clock(row.t_ns), row.target, row.text), role);
    }
}
