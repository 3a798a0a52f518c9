//! Pane 3, tools: calls, share that succeeded, latencies, what is in flight, the newest error.

use super::{Motion, Pane, chain_rows::error_word, lines, notice};
use crate::event::ToolCall;
use crate::state::{DashState, Outcome, Row, RowKind, ToolStats};
use crate::ui::lang::tr;
use crate::ui::update::Facts;
use crate::ui::view::View;
use crate::ui::widgets::text::Ambiguous;
use crate::ui::widgets::{Canvas, Role, format, json, text};

/// Columns right of the name: head, cells, and the width from which the column is shown.
const COLUMNS: [(&str, u16, u16); 6] =
    [("calls", 7, 0), ("ok", 8, 0), ("p50", 9, 34), ("p95", 9, 34), ("flying", 8, 60), ("errors", 8, 60)];

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let tools = &pane.ctx.state.tools;
    let flying: u64 = tools.values().map(|t| u64::from(t.in_flight)).sum();
    let badge = if flying > 0 { tr!("{n} in flight", n = flying) } else { String::new() };
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
    let order = ordered(pane.ctx.state);
    let hidden = order.len().saturating_sub(rows);
    let shown = if hidden > 0 { rows.saturating_sub(1) } else { rows };
    let mut y = 1;
    let chosen = chosen(pane.ctx.state, pane.ctx.view);
    let at = order.iter().position(|(name, _)| Some(name.as_str()) == chosen).unwrap_or(0);
    let skip = (at + 1).saturating_sub(shown.max(1));
    for (name, stats) in order.iter().skip(skip).take(shown) {
        row(&mut inner, y, (name, stats), name_width, &columns);
        if pane.is_active() && Some(name.as_str()) == chosen {
            inner.restyle(0, y, width, Role::Selected);
        }
        y += 1;
    }
    if hidden > 0 && rows > 0 {
        let more = tr!("{n} more, f for full screen", n = hidden + 1);
        inner.text_upto(0, width, y, &more, Role::Dim);
        y += 1;
    }
    if footer > 0 {
        last_error(&mut inner.below(y + 1), &errors);
    }
}

/// The busiest first; names settle ties.
pub fn ordered(state: &DashState) -> Vec<(&String, &ToolStats)> {
    let mut order: Vec<_> = state.tools.iter().collect();
    order.sort_by_key(|(name, t)| (std::cmp::Reverse(t.calls_total), name.as_str()));
    order
}

/// The tool under the cursor.
fn chosen<'s>(state: &'s DashState, view: &View) -> Option<&'s str> {
    let order = ordered(state);
    let named = order.iter().find(|(name, _)| Some(name.as_str()) == view.tool.as_deref());
    named.or(order.first()).map(|(name, _)| name.as_str())
}

/// Where that stands among `ordered`.
pub fn chosen_index(state: &DashState, view: &View) -> usize {
    let chosen = chosen(state, view);
    ordered(state).iter().position(|(name, _)| Some(name.as_str()) == chosen).unwrap_or(0)
}

/// Moves the cursor.
pub fn scroll(view: &mut View, facts: &Facts<'_>, motion: Motion) {
    let order = ordered(facts.state);
    let here = chosen(facts.state, view);
    let at = order.iter().position(|(name, _)| Some(name.as_str()) == here).unwrap_or(0) as i64;
    let lines = match motion {
        Motion::Lines(lines) | Motion::View(lines) | Motion::Pages(lines) => lines,
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    };
    let next = at.saturating_add(lines).clamp(0, order.len().saturating_sub(1) as i64);
    view.tool = order.get(next as usize).map(|(name, _)| (*name).clone());
}

/// The newest call of the chosen tool in the lane's chain.
fn newest_call<'s>(state: &'s DashState, view: &View) -> Option<&'s Row> {
    let tool = chosen(state, view)?;
    let rows = &state.lane(view.lane)?.transcript.rows;
    rows.iter().rev().find(|row| if let RowKind::Action { call, .. } = &row.kind { ToolStats::key(&call.name) == tool } else { false })
}

/// Request and response of the chosen tool's newest call.
pub fn draw_request(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let row = newest_call(pane.ctx.state, pane.ctx.view);
    let badge = row.map(|r| tr!("episode {e} step {s}", e = r.episode, s = r.step)).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    let Some(RowKind::Action { call, outcome, .. }) = row.map(|r| &r.kind) else {
        notice(&mut inner, &tr!("the chain holds no call of this tool any more"));
        return;
    };
    let lines = request_lines(call, outcome.as_ref(), inner.width() as usize, inner.glyphs().ambiguous);
    let skip = pane.scroll().up.min(lines::scroll_max(lines.len(), inner.height()));
    for (y, line) in (0..inner.height()).zip(lines.iter().skip(skip)) {
        let mut x = 0;
        for (piece, role) in line {
            x = inner.text(x, y, piece, *role);
        }
    }
    let shown = skip + usize::from(inner.height());
    lines::more(&mut inner, lines.len().saturating_sub(shown));
}

/// How far the request can be scrolled in a pane whose inside has that many columns and rows.
pub fn request_scroll_max(state: &DashState, view: &View, (width, height): (u16, u16), ambiguous: Ambiguous) -> usize {
    let Some(RowKind::Action { call, outcome, .. }) = newest_call(state, view).map(|r| &r.kind) else { return 0 };
    let lines = request_lines(call, outcome.as_ref(), width as usize, ambiguous).len();
    lines::scroll_max(lines, height)
}

fn request_lines(call: &ToolCall, outcome: Option<&Outcome>, room: usize, ambiguous: Ambiguous) -> Vec<Vec<(String, Role)>> {
    let mut lines = vec![vec![(tr!("request"), Role::Dim)]];
    lines.extend(serde_json::to_value(call).map(|value| json::pretty(&value, room)).unwrap_or_default());
    lines.push(Vec::new());
    match outcome {
        None => lines.push(vec![(tr!("response: in flight"), Role::Warn)]),
        Some(outcome) => {
            let status = outcome.error_type.map_or_else(|| "ok".to_owned(), |e| format!("E {}", error_word(e)));
            let head = tr!("response: {status} after {time}", status = status, time = format::duration(outcome.duration_ns));
            lines.push(vec![(head, if outcome.error_type.is_some() { Role::Bad } else { Role::Dim })]);
            match serde_json::from_str::<serde_json::Value>(&outcome.result) {
                Ok(value) if value.is_object() || value.is_array() => lines.extend(json::pretty(&value, room)),
                Ok(_) | Err(_) => {
                    let wrapped = text::wrap(&outcome.result, room, ambiguous);
                    lines.extend(wrapped.into_iter().map(|line| vec![(line, Role::Text)]));
                }
            }
        }
    }
    lines
}

fn waiting(pane: &Pane<'_>) -> String {
    match pane.ctx.state.run.as_ref().map(|r| &r.tools).filter(|t| !t.is_empty()) {
        Some(tools) => {
            let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
            tr!("waiting for the first call; tools: {names}", names = crate::event::SafeText::new(&names.join(", ")))
        }
        None => tr!("waiting for the first tool call"),
    }
}

fn head(inner: &mut Canvas<'_>, name_width: u16, columns: &[&(&str, u16, u16)]) {
    inner.text_upto(0, name_width, 0, &tr!("tool"), Role::Dim);
    let mut x = name_width;
    for (name, cells, _) in columns {
        x += cells;
        inner.text_before(x, 0, &heading(name), Role::Dim);
    }
}

fn heading(column: &str) -> String {
    match column {
        "calls" => tr!("calls"),
        "flying" => tr!("flying"),
        "errors" => tr!("errors"),
        others => others.to_owned(),
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
