//! Pane 3 of the alerts screen: the silence that `z` would make, and those that there are.

use super::hands::{matchers_of, operator};
use super::value::clock;
use super::{View, chosen as chosen_rule};
use crate::event::{AlertState, Matching, SafeText, SilenceKind, SilenceMatcher};
use crate::state::{DashState, SilenceRow};
use crate::ui::desk::Desk;
use crate::ui::lang::tr;
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::panes::{Motion, Pane};
use crate::ui::update::{Effect, Facts};
use crate::ui::view::PaneId;
use crate::ui::widgets::{Canvas, Glyphs, Role, format};

/// Silences that are over and still listed.
const ENDED_MAX: usize = 5;

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let standing = standing(state).len();
    let mut inner = pane.open(canvas, &if standing > 0 { tr!("{n} active", n = standing) } else { String::new() });
    let sheet = Sheet::of(state, view, pane.ctx.desk, (inner.width(), inner.height()), inner.glyphs());
    let skip = sheet.skip;
    let marked = sheet.chosen.clone().filter(|_| pane.is_active());
    let lines: Vec<Line> = sheet.lines.into_iter().map(|(_, line)| line).collect();
    lines::draw(&mut inner, &lines, skip);
    let width = inner.width();
    for line in marked.into_iter().flatten() {
        if let Some(y) = line.checked_sub(skip).filter(|y| *y < usize::from(inner.height())) {
            inner.restyle(0, y as u16, width, Role::Selected);
        }
    }
}

/// Silences that hold now, those that end first first.
fn standing(state: &DashState) -> Vec<(&SafeText, &SilenceRow)> {
    let Some(at_ms) = state.alerting.at_ms(state.t_ns) else { return Vec::new() };
    let mut found: Vec<(&SafeText, &SilenceRow)> = state.alerting.silences.iter().filter(|(_, row)| row.stands(at_ms)).collect();
    found.sort_by_key(|(_, row)| row.silence.ends_ms);
    found
}

/// The silence under the cursor.
pub fn chosen<'s>(state: &'s DashState, view: &View) -> Option<(&'s SafeText, &'s SilenceRow)> {
    let standing = standing(state);
    let at = place(&standing, view);
    standing.get(at).copied()
}

fn place(standing: &[(&SafeText, &SilenceRow)], view: &View) -> usize {
    let wanted = view.rules.silence.as_deref();
    standing.iter().position(|(id, _)| Some(id.as_str()) == wanted).unwrap_or(0)
}

/// Moves the cursor of the list; where no silence stands there is nothing to move.
pub fn scroll(view: &mut View, facts: &Facts<'_>, _: (u16, u16), motion: Motion) {
    let standing = standing(facts.state);
    let lines = match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines.signum(),
        Motion::Pages(pages) => pages * 5,
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    };
    let next = (place(&standing, view) as i64).saturating_add(lines).clamp(0, standing.len().saturating_sub(1) as i64);
    view.rules.silence = standing.get(next as usize).map(|(id, _)| id.to_string());
}

/// The silence under the pointer gets the cursor.
pub fn click(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let pane = PaneId::Silences;
    let cell = crate::ui::panes::cell_of(view, facts.area, pane, x, y);
    if let (Some((_, row)), Some(inside)) = (cell, crate::ui::panes::inside(view, facts.area, pane)) {
        let sheet = Sheet::of(facts.state, view, facts.desk, inside, facts.glyphs);
        if let Some((Some(id), _)) = sheet.lines.get(sheet.skip + usize::from(row)) {
            view.rules.silence = Some(id.clone());
        }
    }
    Vec::new()
}

/// The pane's lines, each with the silence that it is about.
struct Sheet {
    lines: Vec<(Option<String>, Line)>,
    /// Lines of the silence under the cursor.
    chosen: Option<std::ops::Range<usize>>,
    /// Lines above the pane's first one, so that the cursor is in view.
    skip: usize,
}

impl Sheet {
    fn of(state: &DashState, view: &View, desk: &Desk, (width, height): (u16, u16), glyphs: Glyphs) -> Self {
        let mut lines: Vec<(Option<String>, Line)> =
            about_chosen(state, view, desk, width, glyphs).into_iter().map(|line| (None, line)).collect();
        let standing = standing(state);
        let over = ended(state);
        lines.push((None, Line::of(tr!("active silences {n}    ended {ended}", n = standing.len(), ended = over.len()), Role::Strong)));
        let here = place(&standing, view);
        let mut chosen = None;
        for (at, (id, row)) in standing.iter().enumerate() {
            let from = lines.len();
            lines.extend(silence_lines(id, row, state, width, glyphs).map(|line| (Some(id.to_string()), line)));
            if at == here {
                chosen = Some(from..lines.len());
            }
        }
        if !standing.is_empty() {
            lines.push((None, Line::of(tr!("enter edits, x extends, Z ends it"), Role::Dim)));
        }
        for (id, row) in over.iter().take(ENDED_MAX) {
            let text = tr!("- {id} by {who}: {comment}", id = id, who = row.silence.created_by, comment = row.silence.comment);
            lines.extend(wrapped(&text, width, glyphs.ambiguous, Role::Dim).map(|line| (None, line)));
        }
        let cursor_end = if view.active() == PaneId::Silences { chosen.as_ref().map_or(0, |lines| lines.end) } else { 0 };
        let skip = cursor_end.saturating_sub(usize::from(height.max(1)));
        Self { lines, chosen, skip }
    }
}

/// Silences that are over, the newest first.
fn ended(state: &DashState) -> Vec<(&SafeText, &SilenceRow)> {
    let at_ms = state.alerting.at_ms(state.t_ns);
    let mut found: Vec<_> = state.alerting.silences.iter().filter(|(_, row)| at_ms.is_none_or(|at_ms| !row.stands(at_ms))).collect();
    found.sort_by_key(|(_, row)| std::cmp::Reverse(row.ended_t_ns.unwrap_or(row.set_t_ns)));
    found
}

/// What a silence of the chosen alert would be.
fn about_chosen(state: &DashState, view: &View, desk: &Desk, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let Some(item) = chosen_rule(state, view) else { return Vec::new() };
    let matchers = matchers_of(&item);
    let words: Vec<String> = matchers.iter().map(ToString::to_string).collect();
    let mut lines: Vec<Line> = wrapped(&tr!("match {matchers}", matchers = words.join(" ")), width, glyphs.ambiguous, Role::Text).collect();
    let count = hushed(state, &matchers).len();
    lines.push(Line::of(tr!("matches now: {n} that fire or wait", n = count), Role::Text));
    lines.extend(wrapped(&tr!("z silences, a acknowledges, by {who}", who = operator(desk)), width, glyphs.ambiguous, Role::Dim));
    lines.push(Line::of("", Role::Text));
    lines
}

fn silence_lines(id: &SafeText, row: &SilenceRow, state: &DashState, width: u16, glyphs: Glyphs) -> impl Iterator<Item = Line> + use<> {
    let silence = &row.silence;
    let matchers: Vec<String> = silence.matchers.iter().map(ToString::to_string).collect();
    let left_ms = state.alerting.at_ms(state.t_ns).map_or(0, |now| silence.ends_ms.saturating_sub(now));
    let left = format::clock(u64::try_from(left_ms).unwrap_or(0).saturating_mul(1_000_000));
    let text = tr!(
        "{letter} {id} until {until} ({left} left) by {who}: {comment} [{matchers}] ({n} now)",
        letter = kind_letter(silence.kind),
        id = id,
        until = clock(silence.ends_ms),
        left = left,
        who = silence.created_by,
        comment = silence.comment,
        matchers = matchers.join(" "),
        n = hushed(state, &silence.matchers).len()
    );
    wrapped(&text, width, glyphs.ambiguous, Role::Text)
}

fn kind_letter(kind: SilenceKind) -> &'static str {
    match kind {
        SilenceKind::Silence => "S",
        SilenceKind::Acknowledgement => "A",
    }
}

/// Alerts that fire or wait and meet these matchers, each in a line: `F GpuHot gpu=0`.
pub fn hushed(state: &DashState, matchers: &[SilenceMatcher]) -> Vec<String> {
    let Ok(matching) = Matching::new(matchers) else { return Vec::new() };
    let letter = |state: AlertState| match state {
        AlertState::Firing => Some("F"),
        AlertState::Pending => Some("P"),
        AlertState::Resolved | AlertState::Inactive => None,
    };
    let of_rules = state.alerting.alerts.iter().filter_map(|alert| {
        let detail = alert.change.detail.as_ref().filter(|d| matching.covers(&d.labels, &state.alerting.external_labels))?;
        Some(format!("{} {} {}", letter(alert.change.state)?, alert.change.rule, detail.labels.telling()).trim_end().to_owned())
    });
    let items = crate::ui::panes::alerts::items(state);
    let of_process = items.iter().filter_map(|i| i.own).filter_map(|c| {
        let holds = matching.holds_of(|name| match name {
            "alertname" => Some(c.rule.as_str()),
            "severity" => Some(c.severity.as_str()),
            _ => None,
        });
        Some(format!("{} {}", letter(c.state)?, c.rule)).filter(|_| holds)
    });
    of_rules.chain(of_process).collect()
}
