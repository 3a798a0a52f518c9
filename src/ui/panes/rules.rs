//! The alerts screen: rules and what fires, one of them in full, silences.

use super::alerts::{Alert, counts, current, letter};
use super::lines::{self, Line, wrapped};
use super::{Motion, Pane, notice};
use crate::event::AlertState;
use crate::state::DashState;
use crate::ui::lang::tr;
use crate::ui::update::Facts;
use crate::ui::view::{PaneId, View};
use crate::ui::widgets::text::{self, Ambiguous};
use crate::ui::widgets::{Canvas, Role, format};

/// What the list's track of states spans.
const TRACK_NS: u64 = 30 * 60 * 1_000_000_000;
/// Cells of that track: on a wide screen one a minute.
fn track_cells(width: u16) -> u16 {
    if width >= 150 { 30 } else { 12 }
}

fn word(state: AlertState) -> String {
    match state {
        AlertState::Firing => tr!("FIRING"),
        AlertState::Pending => tr!("pending"),
        AlertState::Resolved => tr!("resolved"),
        AlertState::Inactive => tr!("inactive"),
    }
}

/// Rules that hold what `:filter` said.
pub fn shown<'s>(state: &'s DashState, view: &View) -> Vec<Alert<'s>> {
    let needle = view.rules_filter.to_lowercase();
    let holds = |a: &Alert<'_>| {
        let words = format!("{} {} {} {}", a.change.rule, a.change.severity, a.change.summary, word(a.change.state));
        text::holds(&words, &needle)
    };
    current(state).into_iter().filter(holds).collect()
}

/// Index of the rule under the cursor.
pub fn at(alerts: &[Alert<'_>], view: &View) -> usize {
    let chosen = view.rule.as_deref();
    alerts.iter().position(|a| Some(a.change.rule.as_str()) == chosen).unwrap_or(0)
}

/// Moves the cursor of the list, whose inside has that many rows.
pub fn scroll(view: &mut View, facts: &Facts<'_>, height: u16, motion: Motion) {
    let alerts = shown(facts.state, view);
    let lines = match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines,
        Motion::Pages(pages) => pages * i64::from(height.saturating_sub(2).max(1)),
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    };
    let next = (at(&alerts, view) as i64).saturating_add(lines).clamp(0, alerts.len().saturating_sub(1) as i64);
    view.scroll.remove(&PaneId::RuleDetail);
    view.rule = alerts.get(next as usize).map(|a| a.change.rule.to_string());
}

/// The list.
pub fn draw_list(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let alerts = shown(state, view);
    let mut inner = pane.open(canvas, &badge(&alerts, view));
    if alerts.is_empty() {
        let text = if view.rules_filter.is_empty() {
            tr!(
                "nothing fires and nothing has fired. Rule files are not read yet: what stands here are alerts of the console itself, such as a recorder that fails"
            )
        } else {
            tr!("no rule holds {text}; an empty :filter shows all", text = view.rules_filter)
        };
        notice(&mut inner, &text);
        return;
    }
    let width = inner.width();
    let wide = width >= 70;
    let cells = track_cells(width);
    let track_at = width.saturating_sub(cells);
    inner.text_upto(2, width, 0, &tr!("state"), Role::Dim);
    inner.text_upto(12, width, 0, &tr!("rule"), Role::Dim);
    if wide {
        inner.text_upto(track_at, width, 0, &tr!("last 30 min"), Role::Dim);
    }
    let here = at(&alerts, view);
    let rows = inner.height().saturating_sub(1) as usize;
    let skip = (here + 1).saturating_sub(rows.max(1));
    for (y, (index, alert)) in (1..inner.height()).zip(alerts.iter().enumerate().skip(skip)) {
        let end = if wide { track_at.saturating_sub(1) } else { width };
        row(&mut inner, y, alert, end, state.t_ns);
        if wide {
            let track = track(state, alert, cells, inner.glyphs().plain());
            inner.text(track_at, y, &track, Role::Dim);
        }
        if index == here {
            inner.restyle(0, y, width, Role::Selected);
        }
    }
    lines::more(&mut inner, alerts.len().saturating_sub(skip + rows));
}

fn badge(alerts: &[Alert<'_>], view: &View) -> String {
    let counts = counts(alerts);
    if view.rules_filter.is_empty() { counts } else { format!("{counts} {}", tr!("filter {text}", text = view.rules_filter)) }
}

fn row(inner: &mut Canvas<'_>, y: u16, alert: &Alert<'_>, end: u16, now_t_ns: u64) {
    let (letter, role) = letter(alert.change.state);
    inner.text(0, y, letter, role);
    inner.text_upto(2, end.min(11), y, &word(alert.change.state), role);
    let age = format::clock(now_t_ns.saturating_sub(alert.t_ns));
    let mut x = inner.text_upto(12, end, y, &alert.change.rule, role) + 1;
    if end >= 50 {
        x = inner.text_upto(x, end, y, &alert.change.severity, Role::Dim) + 1;
    }
    x = inner.text_upto(x, end, y, &age, Role::Text) + 1;
    inner.text_upto(x, end, y, &alert.change.summary, Role::Text);
}

/// The rule's state over the last half hour, one letter a cell: the worst that it was in each.
fn track(state: &DashState, alert: &Alert<'_>, cells: u16, plain: bool) -> String {
    // The right edge is now; what lies before the run is blank.
    let start = i128::from(state.t_ns) - i128::from(TRACK_NS);
    let step = i128::from(TRACK_NS) / i128::from(cells);
    let changes: Vec<(i128, AlertState)> =
        state.alerts.iter().filter(|(_, c)| c.rule == alert.change.rule).map(|(t_ns, c)| (i128::from(*t_ns), c.state)).collect();
    let blank = if plain { "." } else { "·" };
    (0..i128::from(cells))
        .map(|cell| {
            let (from, to) = (start + cell * step, start + (cell + 1) * step);
            let before = changes.iter().rev().find(|(t_ns, _)| *t_ns <= from).map(|(_, s)| *s);
            let within = changes.iter().filter(|(t_ns, _)| *t_ns > from && *t_ns <= to).map(|(_, s)| *s);
            let all: Vec<AlertState> = before.into_iter().chain(within).collect();
            if to <= 0 {
                " "
            } else if all.contains(&AlertState::Firing) {
                "F"
            } else if all.contains(&AlertState::Pending) {
                "P"
            } else {
                blank
            }
        })
        .collect()
}

/// One rule in full.
pub fn draw_detail(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let alerts = shown(state, view);
    let alert = alerts.get(at(&alerts, view));
    let mut inner = pane.open(canvas, alert.map_or("", |a| a.change.rule.as_str()));
    if alert.is_none() {
        notice(&mut inner, &tr!("no alert"));
        return;
    }
    let lines = detail_lines(state, view, inner.width(), inner.glyphs().ambiguous);
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All that there is to say of the rule under the cursor.
pub fn detail_lines(state: &DashState, view: &View, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let alerts = shown(state, view);
    let Some(alert) = alerts.get(at(&alerts, view)) else { return Vec::new() };
    let (letter, role) = letter(alert.change.state);
    let since = tr!("since {clock} of the run", clock = format::clock(alert.t_ns));
    let mut lines = vec![Line::of(format!("{letter} {}  {since}", word(alert.change.state)), role)];
    lines.push(Line::of(tr!("severity {word}", word = alert.change.severity), Role::Text));
    lines.extend(wrapped(&alert.change.summary, width, ambiguous, Role::Text));
    let missing = tr!("expression, labels and runbook n/a: this is an alert of the console itself");
    lines.extend(wrapped(&missing, width, ambiguous, Role::Dim));
    lines.push(Line::of(tr!("history, newest first"), Role::Dim));
    for (t_ns, change) in state.alerts.iter().rev().filter(|(_, c)| c.rule == alert.change.rule) {
        let text = format!("  {}  {}  {}", format::clock(*t_ns), word(change.state), change.summary);
        lines.extend(wrapped(&text, width, ambiguous, Role::Text));
    }
    lines
}

/// Silences, once there are some.
pub fn draw_silences(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    notice(&mut inner, &tr!("no silences: they come with rule files, which are not read yet"));
}
