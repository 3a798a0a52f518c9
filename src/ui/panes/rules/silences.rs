//! Pane 3 of the alerts screen: the silence that `z` would make, those that there are, and what a dry run came to.

use super::hands::{DURATIONS, matchers_of, operator};
use super::value::clock;
use super::{View, chosen};
use crate::event::{Matching, SilenceKind};
use crate::state::{DashState, SilenceRow};
use crate::ui::desk::Desk;
use crate::ui::lang::tr;
use crate::ui::panes::Pane;
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::widgets::{Canvas, Glyphs, Role};

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let standing = standing(state).len();
    let mut inner = pane.open(canvas, &if standing > 0 { tr!("{n} active", n = standing) } else { String::new() });
    let lines = lines(state, view, pane.ctx.desk, inner.width(), inner.glyphs());
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// Silences that hold now, those that end first first.
pub fn standing(state: &DashState) -> Vec<(&str, &SilenceRow)> {
    let Some(at_ms) = state.alerting.at_ms(state.t_ns) else { return Vec::new() };
    let mut found: Vec<(&str, &SilenceRow)> =
        state.alerting.silences.iter().filter(|(_, row)| row.stands(at_ms)).map(|(id, row)| (id.as_str(), row)).collect();
    found.sort_by_key(|(_, row)| row.silence.ends_ms);
    found
}

pub fn lines(state: &DashState, view: &View, desk: &Desk, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(item) = chosen(state, view) {
        let matchers = matchers_of(&item);
        let words: Vec<String> = matchers.iter().map(ToString::to_string).collect();
        lines.extend(wrapped(&tr!("match {matchers}", matchers = words.join(" ")), width, glyphs.ambiguous, Role::Text));
        lines.extend(wrapped(&tr!("for 2h    {choices} or any", choices = DURATIONS.join(" ")), width, glyphs.ambiguous, Role::Dim));
        lines.extend(wrapped(&tr!("by {who}    a comment is required", who = operator()), width, glyphs.ambiguous, Role::Dim));
        let count = matching(state, &matchers);
        lines.push(Line::of(tr!("matches now: {n} that fire or wait", n = count), Role::Text));
        lines.push(Line::of(tr!("z silences, a acknowledges, Z ends it"), Role::Dim));
        lines.push(Line::of("", Role::Text));
    }
    let standing = standing(state);
    let ended = state.alerting.silences.len() - standing.len();
    lines.push(Line::of(tr!("active silences {n}    ended {ended}", n = standing.len(), ended = ended), Role::Strong));
    for (id, row) in standing {
        let silence = &row.silence;
        let matchers: Vec<String> = silence.matchers.iter().map(ToString::to_string).collect();
        let letter = kind_letter(silence.kind);
        let (until, n) = (clock(silence.ends_ms), matching(state, &silence.matchers));
        let text = tr!(
            "{letter} {id} until {until} by {who}: {comment} [{matchers}] ({n} now)",
            letter = letter,
            id = id,
            until = until,
            who = silence.created_by,
            comment = silence.comment,
            matchers = matchers.join(" "),
            n = n
        );
        lines.extend(wrapped(&text, width, glyphs.ambiguous, Role::Text));
    }
    if let Some((title, outcome)) = &desk.dry_run {
        lines.push(Line::of("", Role::Text));
        lines.extend(wrapped(title, width, glyphs.ambiguous, Role::Strong));
        match outcome {
            Ok(rows) => rows.iter().for_each(|row| lines.extend(wrapped(&format!("  {row}"), width, glyphs.ambiguous, Role::Text))),
            Err(told) => lines.extend(wrapped(told, width, glyphs.ambiguous, Role::Bad)),
        }
    }
    lines
}

fn kind_letter(kind: SilenceKind) -> &'static str {
    match kind {
        SilenceKind::Silence => "S",
        SilenceKind::Acknowledgement => "A",
    }
}

/// Alerts that fire or wait and meet these matchers.
pub fn matching(state: &DashState, matchers: &[crate::event::SilenceMatcher]) -> usize {
    use crate::event::AlertState;
    let Ok(matching) = Matching::new(matchers) else { return 0 };
    let open = |s: AlertState| matches!(s, AlertState::Firing | AlertState::Pending);
    let of_rules = state
        .alerting
        .alerts
        .iter()
        .filter(|a| open(a.change.state))
        .filter(|a| a.change.detail.as_ref().is_some_and(|d| matching.covers(&d.labels, &state.alerting.external_labels)));
    let items = crate::ui::panes::alerts::items(state);
    let of_process = items.iter().filter_map(|i| i.own).filter(|c| open(c.state)).filter(|c| {
        matching.holds_of(|name| match name {
            "alertname" => Some(c.rule.as_str()),
            "severity" => Some(c.severity.as_str()),
            _ => None,
        })
    });
    of_rules.count() + of_process.count()
}
