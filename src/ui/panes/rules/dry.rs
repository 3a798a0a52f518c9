//! A dry run above the panes: on which recording a rule is tried, and then what would have fired when.
//!
//! ```text
//! GpuHot on night.jsonl: would fire 2 times
//! gpu=0                 |------####----------##------|
//!                       0:00                      2:12:00
//! F 00:41:10  for 02:13  gpu=0  71.0  1/12 @412
//! ```

use super::View;
use crate::event::SafeText;
use crate::ui::backstage::{Ask, DryAsk, OpenAt};
use crate::ui::desk::{Desk, DryAlert, DryFound, Recorded, dry_told};
use crate::ui::lang::tr;
use crate::ui::panes::lines::{Line, more, wrapped};
use crate::ui::panes::replay::episodes;
use crate::ui::panes::{Motion, Pane, cell_of, notice};
use crate::ui::update::{Effect, Facts, ReplayEffect};
use crate::ui::view::{PaneId, PlaybackView, ScreenId};
use crate::ui::widgets::{Canvas, Role, format};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Cells of what tells the alerts of a timeline apart.
const NAME_MAX: u16 = 28;
/// Rows of timelines, of which a rule may have very many.
const TRACKS_MAX: usize = 8;

/// Which rule is tried, and the cursors of the two panes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// Unset tries all.
    pub rule: Option<String>,
    pub at: usize,
    pub found_at: usize,
}

/// Asks on which recording a rule is to be tried.
pub fn choose(rule: Option<String>, view: &mut View) -> Vec<Effect> {
    view.rules.trial = Trial { rule, ..Trial::default() };
    view.popup = Some(PaneId::Trial);
    vec![Effect::Ask(Ask::Catalogue)]
}

/// Tries a rule on a recording; without one, on that which is open or is being written.
pub fn ask(rule: Option<String>, recording: Option<String>, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let recording = recording.or_else(|| facts.playback.map(|p| p.name.clone()));
    view.rules.trial.found_at = 0;
    view.popup = Some(PaneId::TrialFound);
    vec![Effect::Ask(Ask::DryRun(DryAsk { rule, recording, file: facts.state.alerting.file.to_string() }))]
}

/// Recordings besides the one that is looked at, which comes first.
fn others<'d>(desk: &'d Desk, playback: Option<&PlaybackView>) -> impl Iterator<Item = &'d Recorded> {
    let open: Option<PathBuf> = playback.map(|p| PathBuf::from(&p.name));
    desk.catalogue.iter().flatten().filter(move |r| Some(&r.path) != open.as_ref())
}

pub fn draw_choice(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (desk, view) = (pane.ctx.desk, pane.ctx.view);
    let rule = view.rules.trial.rule.clone().unwrap_or_else(|| tr!("all rules"));
    let mut inner = pane.open(canvas, &rule);
    let own = match pane.ctx.playback {
        Some(playback) => tr!("this recording  {name}", name = SafeText::new(&playback.name)),
        None => tr!("this run, as it is recorded"),
    };
    let rows: Vec<String> = std::iter::once(own).chain(others(desk, pane.ctx.playback).map(episodes::row_text)).collect();
    let (width, height) = (inner.width(), inner.height());
    let at = view.rules.trial.at.min(rows.len() - 1);
    let skip = (at + 1).saturating_sub(usize::from(height.max(1)));
    for (y, (index, row)) in (0..height).zip(rows.iter().enumerate().skip(skip)) {
        inner.text_upto(2, width, y, row, Role::Text);
        if index == at {
            inner.text(0, y, ">", Role::Strong);
            inner.restyle(0, y, width, Role::Selected);
        }
    }
    if desk.catalogue.is_none() && rows.len() < usize::from(height) {
        inner.text_upto(2, width, rows.len() as u16, &tr!("recordings are being listed"), Role::Dim);
    }
    more(&mut inner, rows.len().saturating_sub(skip + usize::from(height)));
}

pub fn scroll_choice(view: &mut View, facts: &Facts<'_>, (_, height): (u16, u16), motion: Motion) {
    let count = 1 + others(facts.desk, facts.playback).count();
    view.rules.trial.at = moved(view.rules.trial.at, count, height, motion);
}

pub fn click_choice(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let inside = crate::ui::panes::inside(view, facts.area, PaneId::Trial);
    let cell = cell_of(view, facts.area, PaneId::Trial, x, y);
    let count = 1 + others(facts.desk, facts.playback).count();
    if let (Some((_, row)), Some((_, height))) = (cell, inside) {
        let at = view.rules.trial.at.min(count - 1);
        let skip = (at + 1).saturating_sub(usize::from(height.max(1)));
        view.rules.trial.at = (skip + usize::from(row)).min(count - 1);
    }
    Vec::new()
}

pub fn open_choice(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let at = view.rules.trial.at.min(others(facts.desk, facts.playback).count());
    let recording = at.checked_sub(1).and_then(|at| others(facts.desk, facts.playback).nth(at)).map(|r| r.path.display().to_string());
    ask(view.rules.trial.rule.clone(), recording, view, facts)
}

fn moved(at: usize, count: usize, page: u16, motion: Motion) -> usize {
    let lines = match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines,
        Motion::Pages(pages) => pages * i64::from(page.max(1)),
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    };
    (at as i64).saturating_add(lines).clamp(0, count.saturating_sub(1) as i64) as usize
}

fn found(desk: &Desk) -> Option<&DryFound> {
    desk.dry_run.as_ref()?.1.as_ref()?.as_ref().ok()
}

/// Where things stand in the pane of what was found.
struct Places<'f> {
    tracks: Vec<(String, Vec<&'f DryAlert>)>,
    /// The first row of the list, and how many rows it has.
    list: (u16, usize),
    skip: usize,
}

impl<'f> Places<'f> {
    fn of(found: &'f DryFound, at: usize, height: u16) -> Self {
        let mut tracks = tracks(found);
        tracks.truncate(TRACKS_MAX.min(usize::from(height / 3)));
        // The title, the timelines with their axis, a blank row.
        let top = 1 + if tracks.is_empty() { 0 } else { tracks.len() as u16 + 2 };
        let rows = usize::from(height.saturating_sub(top));
        Self { tracks, list: (top, rows), skip: (at + 1).saturating_sub(rows.max(1)) }
    }
}

fn is_one_rule(found: &DryFound) -> bool {
    found.alerts.windows(2).all(|pair| pair[0].rule == pair[1].rule)
}

/// Alerts by what tells them apart, in the order in which they fired first.
fn tracks(found: &DryFound) -> Vec<(String, Vec<&DryAlert>)> {
    let is_one_rule = is_one_rule(found);
    let mut tracks: Vec<(String, Vec<&DryAlert>)> = Vec::new();
    for alert in &found.alerts {
        let name = match (is_one_rule, alert.labels.is_empty()) {
            (true, false) => alert.labels.to_string(),
            (_, true) => alert.rule.to_string(),
            (false, false) => format!("{} {}", alert.rule, alert.labels),
        };
        match tracks.iter_mut().find(|(known, _)| *known == name) {
            Some((_, alerts)) => alerts.push(alert),
            None => tracks.push((name, vec![alert])),
        }
    }
    tracks
}

pub fn draw_found(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let Some((asked, outcome)) = &pane.ctx.desk.dry_run else {
        let mut inner = pane.open(canvas, "");
        return notice(&mut inner, &tr!("nothing was tried yet"));
    };
    let mut inner = pane.open(canvas, "");
    let (width, height) = (inner.width(), inner.height());
    let told = dry_told(asked, outcome.as_ref());
    let Some(Ok(found)) = outcome else {
        let role = if outcome.is_some() { Role::Bad } else { Role::Text };
        let lines: Vec<Line> = wrapped(&told, width, inner.glyphs().ambiguous, role).collect();
        return crate::ui::panes::lines::draw(&mut inner, &lines, 0);
    };
    inner.text_upto(0, width, 0, &told, Role::Strong);
    let at = pane.ctx.view.rules.trial.found_at.min(found.alerts.len().saturating_sub(1));
    let places = Places::of(found, at, height);
    timelines(&mut inner, &places.tracks, found.t_ns_end, found.alerts.get(at));
    let rows = rows(found);
    let (top, room) = places.list;
    for (y, (index, (text, role))) in (top..height).zip(rows.iter().enumerate().skip(places.skip)) {
        inner.text_upto(0, width, y, text, *role);
        if index == at && index < found.alerts.len() {
            inner.restyle(0, y, width, Role::Selected);
        }
    }
    more(&mut inner, rows.len().saturating_sub(places.skip + room));
}

/// A row for what fires by itself: `#` where it fires, `^` where the chosen one began.
fn timelines(inner: &mut Canvas<'_>, tracks: &[(String, Vec<&DryAlert>)], t_ns_end: u64, chosen: Option<&DryAlert>) {
    let width = inner.width();
    let name_end = NAME_MAX.min(width / 3);
    let cells = width.saturating_sub(name_end + 3);
    if tracks.is_empty() || cells == 0 {
        return;
    }
    let cell = |t_ns: u64| {
        let at = u128::from(t_ns) * u128::from(cells) / u128::from(t_ns_end.max(1));
        u16::try_from(at).unwrap_or(cells).min(cells - 1)
    };
    for (y, (name, alerts)) in (1..).zip(tracks) {
        inner.text_upto(0, name_end, y, name, Role::Text);
        let mut bar = vec!['-'; usize::from(cells)];
        for alert in alerts {
            let (from, to) = (cell(alert.fired_t_ns), alert.resolved_t_ns.map_or(cells - 1, cell));
            bar[usize::from(from)..=usize::from(to.max(from))].fill('#');
        }
        let x = inner.text(name_end + 1, y, "|", Role::Dim);
        let bar: String = bar.into_iter().collect();
        let x_end = inner.text(x, y, &bar, Role::Curve);
        inner.text(x_end, y, "|", Role::Dim);
        if let Some(alert) = chosen.filter(|chosen| alerts.iter().any(|alert| std::ptr::eq(*alert, *chosen))) {
            let at = x + cell(alert.fired_t_ns);
            inner.text(at, y, "^", Role::Mark);
        }
    }
    let y = tracks.len() as u16 + 1;
    inner.text(name_end + 2, y, &format::clock(0), Role::Dim);
    inner.text_before(width, y, &format::clock(t_ns_end), Role::Dim);
}

/// Alerts, then what there is to say of the rest.
fn rows(found: &DryFound) -> Vec<(String, Role)> {
    let is_one_rule = is_one_rule(found);
    let mut rows: Vec<(String, Role)> = found.alerts.iter().map(|alert| (told(alert, is_one_rule), Role::Text)).collect();
    rows.extend((found.left_out > 0).then(|| (tr!("{n} more are not listed", n = found.left_out), Role::Dim)));
    rows.extend(found.mute.iter().map(|(rule, why)| (format!("? {rule}: {why}"), Role::Warn)));
    rows.extend(found.damage.iter().map(|damage| (format!("E {damage}"), Role::Bad)));
    rows
}

fn told(alert: &DryAlert, is_one_rule: bool) -> String {
    let place = if alert.step.is_empty() { format!("@{}", alert.seq) } else { format!("{} @{}", alert.step, alert.seq) };
    let lasted = match alert.resolved_t_ns {
        Some(until) => tr!("for {time}", time = format::clock(until.saturating_sub(alert.fired_t_ns))),
        None => tr!("never clear"),
    };
    let parts = [
        format!("F {}", format::clock(alert.fired_t_ns)),
        lasted,
        if is_one_rule { String::new() } else { alert.rule.to_string() },
        alert.labels.to_string(),
        format::number(alert.value),
        place,
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

pub fn scroll_found(view: &mut View, facts: &Facts<'_>, (_, height): (u16, u16), motion: Motion) {
    let count = found(facts.desk).map_or(0, |found| found.alerts.len());
    view.rules.trial.found_at = moved(view.rules.trial.found_at, count, height, motion);
}

pub fn click_found(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let inside = crate::ui::panes::inside(view, facts.area, PaneId::TrialFound);
    let cell = cell_of(view, facts.area, PaneId::TrialFound, x, y);
    if let (Some(found), Some((_, row)), Some((_, height))) = (found(facts.desk), cell, inside) {
        let places = Places::of(found, view.rules.trial.found_at, height);
        if let Some(row) = row.checked_sub(places.list.0) {
            view.rules.trial.found_at = (places.skip + usize::from(row)).min(found.alerts.len().saturating_sub(1));
        }
    }
    Vec::new()
}

/// Enter on an alert that would have fired: the recording, at the event before it.
pub fn open_found(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some((asked, _)) = &facts.desk.dry_run else { return Vec::new() };
    let alert = found(facts.desk).and_then(|found| found.alerts.get(view.rules.trial.found_at.min(found.alerts.len().saturating_sub(1))));
    let Some(alert) = alert else { return vec![Effect::Notice(tr!("nothing fired: there is no event to go to"))] };
    let seq = alert.seq;
    view.popup = None;
    let is_open = facts.playback.is_some_and(|p| asked.recording.as_deref() == Some(p.name.as_str()));
    if is_open {
        view.go(ScreenId::Replay);
        view.marks.insert(seq);
        return vec![Effect::Replay(ReplayEffect::SeekEvent(seq)), Effect::Notice(tr!("event {seq} is marked m", seq = seq))];
    }
    let path = asked.recording.as_deref().map(|name| Path::new(name).to_owned());
    vec![Effect::Ask(Ask::Open { path, at: Some(OpenAt::Event { seq, is_marked: true }) })]
}

pub fn records(desk: &Desk) -> Vec<Value> {
    let record = |alert: &DryAlert| {
        json!({
            "rule": alert.rule,
            "labels": alert.labels,
            "value": crate::event::num::Float(alert.value),
            "fired_t_ns": alert.fired_t_ns,
            "resolved_t_ns": alert.resolved_t_ns,
            "step": alert.step,
            "seq": alert.seq,
        })
    };
    found(desk).into_iter().flat_map(|found| found.alerts.iter().map(record)).collect()
}
