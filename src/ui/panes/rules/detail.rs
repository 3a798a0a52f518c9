//! Pane 2 of the alerts screen: one rule in full.

use super::value::{self, clock};
use super::{at, curve, list, shown};
use crate::event::{AlertState, LabelSet};
use crate::state::{AlertRow, DashState, RuleRow, Stand, Turn};
use crate::ui::lang::tr;
use crate::ui::panes::alerts::{Item, letter, own_labels, short_age};
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::panes::{Pane, notice};
use crate::ui::runbooks;
use crate::ui::view::View;
use crate::ui::widgets::{Canvas, Glyphs, Role, format};

/// Alerts of a rule that are listed one by one.
const ALERTS_MAX: usize = 50;
/// Changes of state that are listed.
const HISTORY_MAX: usize = 24;
/// Rows from which there is room for the curve beside the words.
const CURVE_HEIGHT_MIN: u16 = 16;

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let items = shown(state, view);
    let item = items.get(at(&items, view));
    let mut inner = pane.open(canvas, item.map_or("", |i| i.name));
    let Some(item) = item else {
        notice(&mut inner, &tr!("no alert"));
        return;
    };
    let lines = lines(state, view, inner.width(), inner.glyphs());
    let words = words_height(item, inner.height());
    let (width, height) = (inner.width(), inner.height());
    let upper = ratatui::layout::Rect::new(0, 0, width, words);
    lines::draw(&mut inner.part(upper), &lines, pane.scroll().up);
    if let Some(rule) = item.rule.filter(|_| words < height) {
        curve::draw(&mut inner.below(words), rule, state);
    }
}

/// Rows of the words, above the curve.
fn words_height(item: &Item<'_>, height: u16) -> u16 {
    let has_curve = item.rule.is_some_and(|r| r.history.len() > 1) && height >= CURVE_HEIGHT_MIN;
    if has_curve { height - curve::ROWS } else { height }
}

/// How far the words can be scrolled.
pub fn scroll_max(state: &DashState, view: &View, glyphs: Glyphs, (width, height): (u16, u16)) -> usize {
    let items = shown(state, view);
    let rows = items.get(at(&items, view)).map_or(height, |item| words_height(item, height));
    lines::scroll_max(lines(state, view, width, glyphs).len(), rows)
}

/// All that there is to say of the rule under the cursor.
pub fn lines(state: &DashState, view: &View, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let items = shown(state, view);
    let Some(item) = items.get(at(&items, view)) else { return Vec::new() };
    let mut lines = standing(item, state, width, glyphs);
    match item.rule {
        Some(rule) => of_rule(&mut lines, item, rule, state, width, glyphs),
        None => of_process(&mut lines, item, state, width, glyphs),
    }
    lines
}

fn standing(item: &Item<'_>, state: &DashState, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let (letter, role) = letter(&item.standing.stand);
    let age = short_age(item, state.t_ns, true, glyphs);
    let flaps = if item.standing.flapping { format!("  ~ {}", tr!("flapping")) } else { String::new() };
    let since = item.since_t_ns.map_or_else(String::new, |t| format!("  {}", tr!("since {clock} of the run", clock = format::clock(t))));
    let mut lines = vec![Line::of(format!("{letter} {}  {age}{since}{flaps}", list::word(&item.standing.stand)), role)];
    match &item.standing.stand {
        Stand::Silenced(hush) | Stand::Acknowledged(hush) => {
            let text = tr!(
                "{id} by {who} until {clock}: {comment}",
                id = hush.id,
                who = hush.by,
                clock = clock(hush.until_ms),
                comment = hush.comment
            );
            lines.extend(wrapped(&text, width, glyphs.ambiguous, Role::Warn));
        }
        Stand::Error(error) => lines.extend(wrapped(error, width, glyphs.ambiguous, Role::Bad)),
        Stand::NoData => {
            let text = tr!("its selectors match no series at all: it can't say anything");
            lines.extend(wrapped(&text, width, glyphs.ambiguous, Role::Warn));
        }
        Stand::Firing | Stand::Pending | Stand::Ok => {}
    }
    lines
}

fn of_rule(lines: &mut Vec<Line>, item: &Item<'_>, rule: &RuleRow, state: &DashState, width: u16, glyphs: Glyphs) {
    let ambiguous = glyphs.ambiguous;
    let info = &rule.info;
    lines.extend(wrapped(&format!("expr  {}", info.expr), width, ambiguous, Role::Text));
    conditions(lines, rule, width, glyphs);
    let seconds = |ms: u64| format!("{}s", ms / 1_000);
    let mut about = format!("for {}", seconds(info.for_ms));
    if info.keep_firing_for_ms > 0 {
        about.push_str(&format!("  keep_firing_for {}", seconds(info.keep_firing_for_ms)));
    }
    about.push_str(&format!(
        "  {}  {}",
        info.labels,
        tr!("group {name}, every {time}", name = rule.group, time = seconds(rule.interval_ms))
    ));
    lines.extend(wrapped(&about, width, ambiguous, Role::Dim));
    annotations(lines, item, &info.annotations, width, glyphs);
    alerts(lines, item, state, width, glyphs);
    history(lines, rule, state, width, glyphs);
    notified(lines, item.name, state, width, glyphs);
}

/// Each comparison with a number, with its value now; which name is wrong where nothing can be compared.
fn conditions(lines: &mut Vec<Line>, rule: &RuleRow, width: u16, glyphs: Glyphs) {
    let conditions = value::conditions(rule);
    let several = conditions.len() > 1;
    for condition in &conditions {
        let join = condition.join.map_or_else(String::new, |join| format!("{} ", value::join_word(join)));
        let of = if several { format!("  {}", condition.threshold.left) } else { String::new() };
        lines.extend(wrapped(&tr!("now {value}", value = format!("{join}{}{of}", condition.text())), width, glyphs.ambiguous, Role::Warn));
    }
    let Some(reading) = &rule.reading else { return };
    if let (true, Some(bare)) = (conditions.is_empty(), reading.value) {
        let text = tr!("now {value}", value = value::of_left(None, bare));
        lines.extend(wrapped(&text, width, glyphs.ambiguous, Role::Warn));
    }
    lines.extend(value::unknown(reading).into_iter().flat_map(|told| wrapped(&told, width, glyphs.ambiguous, Role::Warn)));
}

/// Expanded, of the alert that fires; else as the file has them.
fn annotations(lines: &mut Vec<Line>, item: &Item<'_>, of_file: &LabelSet, width: u16, glyphs: Glyphs) {
    let expanded = item.alerts.first().and_then(|a| a.change.detail.as_ref()).map(|d| &d.annotations).filter(|a| !a.is_empty());
    for (name, value) in expanded.unwrap_or(of_file).iter() {
        let is_page = name.as_str() == "runbook_url" && runbooks::text(value).is_ok();
        let key = if is_page { format!("  {}", tr!("(r opens it here)")) } else { String::new() };
        lines.extend(wrapped(&format!("{name}  {value}{key}"), width, glyphs.ambiguous, Role::Text));
    }
}

fn alerts(lines: &mut Vec<Line>, item: &Item<'_>, state: &DashState, width: u16, glyphs: Glyphs) {
    if item.alerts.is_empty() {
        return;
    }
    lines.push(Line::of(format::counted(item.alerts.len() as u64, "alert"), Role::Dim));
    for alert in item.alerts.iter().take(ALERTS_MAX) {
        let standing = state.alerting.alert_standing(alert, state.t_ns);
        let (letter, role) = match alert.change.state {
            AlertState::Resolved | AlertState::Inactive => ("-", Role::Dim),
            AlertState::Firing | AlertState::Pending => letter(&standing.stand),
        };
        let value = alert.change.detail.as_ref().map_or_else(String::new, |d| format::number(d.value));
        let age = format::clock(state.t_ns.saturating_sub(alert.t_ns));
        let labels = own_labels(alert);
        let place = tr!("@{seq}, {age} ago", seq = alert.seq, age = age);
        let text = format!("  {letter} {labels} {value}  {place}  {}", alert.change.summary);
        lines.extend(wrapped(&text, width, glyphs.ambiguous, role));
    }
    if item.alerts.len() > ALERTS_MAX {
        lines.push(Line::of(format!("  +{}", item.alerts.len() - ALERTS_MAX), Role::Dim));
    }
}

/// How often it fired, and what its alerts did: since when, with which value, for how long, and what changed just before.
fn history(lines: &mut Vec<Line>, rule: &RuleRow, state: &DashState, width: u16, glyphs: Glyphs) {
    let fired = rule.past.iter().filter(|turn| turn.state == AlertState::Firing).count();
    if rule.past.iter().len() == 0 {
        lines.push(Line::of(tr!("history: has not fired"), Role::Dim));
        return;
    }
    lines.push(Line::of(tr!("history: fired {times}, newest first", times = format::counted(fired as u64, "time")), Role::Dim));
    let past: Vec<&Turn> = rule.past.iter().collect();
    for (at, turn) in past.iter().enumerate().rev().take(HISTORY_MAX) {
        let until = past[at + 1..].iter().find(|later| later.labels == turn.labels).map(|later| later.t_ns);
        lines.extend(wrapped(&told_turn(turn, until, rule, state), width, glyphs.ambiguous, turn_role(turn.state)));
    }
}

/// `  F FIRING 00:41  71.0 C  gpu=0  for 02:13  (00:12 after the swap to …)`.
fn told_turn(turn: &Turn, until_t_ns: Option<u64>, rule: &RuleRow, state: &DashState) -> String {
    let (letter, word) = transition(turn.state);
    let value = value::of_left(rule.info.threshold.as_ref(), turn.value);
    let lasted = |until: u64| format::clock(until.saturating_sub(turn.t_ns));
    let lasted = match (turn.state, until_t_ns) {
        (AlertState::Resolved | AlertState::Inactive, _) => String::new(),
        (AlertState::Firing | AlertState::Pending, Some(until)) => tr!("for {time}", time = lasted(until)),
        (AlertState::Firing | AlertState::Pending, None) => tr!("for {time} so far", time = lasted(state.t_ns)),
    };
    let before = if turn.state == AlertState::Firing { before(state, turn.t_ns) } else { None };
    let before = before.map_or_else(String::new, |text| format!("({text})"));
    let parts = [format!("  {letter} {word} {}", format::clock(turn.t_ns)), value, turn.labels.to_string(), lasted, before];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

/// A change to the run in the two minutes before: a swap, else a command.
fn before(state: &DashState, t_ns: u64) -> Option<String> {
    const WINDOW_NS: u64 = 120_000_000_000;
    let near = |at: u64| at <= t_ns && t_ns - at <= WINDOW_NS;
    let swap = state.swaps.iter().rev().find(|s| near(s.t_ns) && s.from.is_some());
    let ago = |at: u64| format::clock(t_ns - at);
    if let Some(swap) = swap {
        return Some(tr!("{ago} after the swap to {to}", ago = ago(swap.t_ns), to = swap.to));
    }
    let command = state.log.iter().rev().find(|row| near(row.t_ns) && row.target.as_str() == "command")?;
    Some(tr!("{ago} after {command}", ago = ago(command.t_ns), command = command.text))
}

/// Who was told of it, and what came of that.
fn notified(lines: &mut Vec<Line>, rule: &str, state: &DashState, width: u16, glyphs: Glyphs) {
    let of_it = state.alerting.notified.iter().rev().filter(|(_, n)| n.rules.iter().any(|r| r.as_str() == rule));
    for (t_ns, n) in of_it.take(6) {
        let took = format::duration(n.duration_ns);
        let (clock, word) = (format::clock(*t_ns), if n.ok { tr!("ok") } else { tr!("FAILED") });
        let text = tr!(
            "notified {receiver} at {clock}: {word} {outcome} in {took}",
            receiver = n.receiver,
            clock = clock,
            word = word,
            outcome = n.outcome,
            took = took
        );
        lines.extend(wrapped(&text, width, glyphs.ambiguous, if n.ok { Role::Text } else { Role::Bad }));
    }
}

fn of_process(lines: &mut Vec<Line>, item: &Item<'_>, state: &DashState, width: u16, glyphs: Glyphs) {
    lines.push(Line::of(tr!("severity {word}", word = item.severity), Role::Text));
    lines.extend(wrapped(&item.summary(), width, glyphs.ambiguous, Role::Text));
    let missing = tr!("expression, labels and runbook n/a: this is an alert of the console itself");
    lines.extend(wrapped(&missing, width, glyphs.ambiguous, Role::Dim));
    lines.push(Line::of(tr!("history, newest first"), Role::Dim));
    for (t_ns, change) in state.alerts.iter().rev().filter(|(_, c)| c.detail.is_none() && c.rule.as_str() == item.name) {
        let text = format!("  {}  {}  {}", format::clock(*t_ns), transition(change.state).1, change.summary);
        lines.extend(wrapped(&text, width, glyphs.ambiguous, Role::Text));
    }
}

fn transition(state: AlertState) -> (&'static str, String) {
    match state {
        AlertState::Firing => ("F", tr!("FIRING")),
        AlertState::Pending => ("P", tr!("pending")),
        AlertState::Resolved => (".", tr!("resolved")),
        AlertState::Inactive => ("-", tr!("inactive")),
    }
}

fn turn_role(state: AlertState) -> Role {
    match state {
        AlertState::Firing => Role::Bad,
        AlertState::Pending => Role::Warn,
        AlertState::Resolved | AlertState::Inactive => Role::Text,
    }
}

/// The event at which its newest alert fired.
pub fn fired_at(item: &Item<'_>) -> Option<crate::event::Seq> {
    let is_firing = |a: &&&AlertRow| a.change.state == AlertState::Firing;
    item.alerts.iter().find(is_firing).or(item.alerts.first()).map(|a| a.seq)
}
