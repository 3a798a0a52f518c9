//! Pane 3, tools: calls, share that succeeded, latencies, what is in flight, the newest error.

use super::{Pane, chain_rows::error_word, notice};
use crate::state::ToolStats;
use crate::ui::widgets::{Canvas, Role, format, text};

/// Columns right of the name: head, cells, and the width from which the column is shown.
const COLUMNS: [(&str, u16, u16); 6] =
    [("calls", 7, 0), ("ok", 8, 0), ("p50", 9, 34), ("p95", 9, 34), ("flying", 8, 60), ("errors", 8, 60)];

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let tools = &pane.ctx.state.tools;
    let flying: u64 = tools.values().map(|t| u64::from(t.in_flight)).sum();
    let badge = if flying > 0 { format!("{flying} in flight") } else { String::new() };
    let mut inner = pane.open(canvas, &badge);
    if tools.is_empty() {
        notice(&mut inner, &waiting(pane));
        return;
    }
    let width = inner.width();
    let columns: Vec<_> = COLUMNS.iter().filter(|(_, _, from)| width >= *from).collect();
    let right: u16 = columns.iter().map(|c| c.1).sum();
    let name_width = width.saturating_sub(right);
    head(&mut inner, name_width, &columns);
    let errors: Vec<_> = tools.iter().filter(|(_, t)| t.last_error.is_some()).collect();
    let footer = if inner.height() >= 8 && !errors.is_empty() { 3 } else { 0 };
    let rows = inner.height().saturating_sub(1 + footer) as usize;
    // The busiest first; names settle ties.
    let mut order: Vec<_> = tools.iter().collect();
    order.sort_by_key(|(name, t)| (std::cmp::Reverse(t.calls_total), name.as_str()));
    let hidden = order.len().saturating_sub(rows);
    let shown = if hidden > 0 { rows.saturating_sub(1) } else { rows };
    let mut y = 1;
    for (name, stats) in order.iter().take(shown) {
        row(&mut inner, y, (name, stats), name_width, &columns);
        y += 1;
    }
    if hidden > 0 && rows > 0 {
        let more = format!("{} more, f for full screen", hidden + 1);
        inner.text_upto(0, width, y, &more, Role::Dim);
        y += 1;
    }
    if footer > 0 {
        last_error(&mut inner.below(y + 1), &errors);
    }
}

fn waiting(pane: &Pane<'_>) -> String {
    match pane.ctx.state.run.as_ref().map(|r| &r.tools).filter(|t| !t.is_empty()) {
        Some(tools) => {
            let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
            format!("waiting for the first call; tools: {}", crate::event::SafeText::new(&names.join(", ")))
        }
        None => "waiting for the first tool call".into(),
    }
}

fn head(inner: &mut Canvas<'_>, name_width: u16, columns: &[&(&str, u16, u16)]) {
    inner.text_upto(0, name_width, 0, "tool", Role::Dim);
    let mut x = name_width;
    for (name, cells, _) in columns {
        x += cells;
        inner.text_before(x, 0, name, Role::Dim);
    }
}

fn row(inner: &mut Canvas<'_>, y: u16, (name, stats): (&str, &ToolStats), name_width: u16, columns: &[&(&str, u16, u16)]) {
    inner.text_upto(0, name_width, y, name, Role::Action);
    let mut x = name_width;
    for (column, cells, _) in columns {
        x += cells;
        let (value, role) = value(stats, column);
        inner.text_before(x, y, &value, role);
    }
}

fn value(stats: &ToolStats, column: &str) -> (String, Role) {
    let latency = |q| (format::or_unset(stats.duration_ns_quantile(q), format::duration), Role::Text);
    match column {
        "calls" => (format::count(stats.calls_total), Role::Text),
        "ok" => {
            let role = if stats.errors_total > 0 { Role::Warn } else { Role::Text };
            (format::or_unset(stats.ok_ratio(), format::percent), role)
        }
        "p50" => latency(0.5),
        "p95" => latency(0.95),
        "flying" => (stats.in_flight.to_string(), Role::Text),
        _ => (format::count(stats.errors_total), if stats.errors_total > 0 { Role::Bad } else { Role::Text }),
    }
}

fn last_error(below: &mut Canvas<'_>, errors: &[(&String, &ToolStats)]) {
    // Which tool failed last is not known from counts: the one with most errors speaks.
    let Some((name, stats)) = errors.iter().max_by_key(|(_, t)| t.errors_total) else { return };
    let Some((kind, detail)) = &stats.last_error else { return };
    let message = format!("E {name}: {}: {detail}", error_word(*kind));
    let lines = text::wrap(&message, below.width() as usize, below.glyphs().ambiguous);
    for (y, line) in (0..below.height()).zip(&lines) {
        below.text(0, y, line, Role::Bad);
    }
}
