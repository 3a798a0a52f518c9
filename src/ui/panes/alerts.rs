//! Pane 5, alerts: how every rule stands, and alerts of the console itself; what fires first.

use super::lines::more;
use super::{Pane, notice, rules};
use crate::event::{AlertState, AlertStateChanged, RuleKind};
use crate::state::{AlertRow, DashState, RuleRow, Stand, Standing};
use crate::ui::lang::tr;
use crate::ui::widgets::{Canvas, Glyphs, Role, format, gauge};
use std::collections::BTreeMap;

/// A rule, or an alert of this process itself.
pub struct Item<'s> {
    /// Tells it from all others, also while the file is loaded anew.
    pub key: String,
    pub name: &'s str,
    pub severity: &'s str,
    pub standing: Standing,
    /// Since when it stands so; unset for what has done nothing yet.
    pub since_t_ns: Option<u64>,
    pub rule: Option<&'s RuleRow>,
    /// Its alerts, those that fire first; within these the newest.
    pub alerts: Vec<&'s AlertRow>,
    /// The newest transition of an alert of this process itself.
    pub own: Option<&'s AlertStateChanged>,
    /// Its place in the file; alerts of this process come first.
    pub place: usize,
}

impl Item<'_> {
    /// In the words of its alert, else of its rule.
    pub fn summary(&self) -> String {
        let of_alert = self.alerts.first().map(|a| &a.change.summary).or(self.own.map(|c| &c.summary));
        of_alert.map_or_else(String::new, ToString::to_string)
    }

    /// What it says of the labels that tell its alerts apart: of one alert they are named, more are counted.
    pub fn labels(&self) -> String {
        match self.alerts.as_slice() {
            [] => String::new(),
            [one] => own_labels(one),
            [first, ..] => format!("{} x{}", own_labels(first), self.alerts.len()),
        }
    }
}

/// What tells an alert from others of its rule.
pub fn own_labels(alert: &AlertRow) -> String {
    alert.change.detail.as_ref().map_or_else(String::new, |detail| detail.labels.telling())
}

fn rank(stand: &Stand) -> u8 {
    match stand {
        Stand::Firing => 0,
        Stand::Pending => 1,
        Stand::Acknowledged(_) => 2,
        Stand::Silenced(_) => 3,
        Stand::Error(_) => 4,
        Stand::NoData => 5,
        Stand::Ok => 6,
    }
}

/// All rules and alerts of this process: those first that need somebody; within a state the newest.
pub fn items(state: &DashState) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = own(state);
    let alerting = &state.alerting;
    let mut alerts: BTreeMap<(&str, &str), Vec<&AlertRow>> = BTreeMap::new();
    for alert in &alerting.alerts {
        if let Some(detail) = &alert.change.detail {
            alerts.entry((detail.group.as_str(), alert.change.rule.as_str())).or_default().push(alert);
        }
    }
    for (place, rule) in alerting.rules.iter().enumerate() {
        let mut own = alerts.get(&(rule.group.as_str(), rule.info.name.as_str())).cloned().unwrap_or_default();
        own.sort_by_key(|a| (state_rank(a.change.state), std::cmp::Reverse(a.t_ns)));
        let standing = alerting.rule_standing(rule, state.t_ns);
        let open = own.iter().filter(|a| state_rank(a.change.state) < 2);
        let since_t_ns = open.map(|a| a.t_ns).min().or_else(|| own.first().map(|a| a.t_ns));
        items.push(Item {
            key: format!("{} {}", rule.group, rule.index),
            name: &rule.info.name,
            severity: rule.info.labels.get("severity").map_or(kind_word(rule.info.kind), |s| s.as_str()),
            standing,
            since_t_ns,
            rule: Some(rule),
            alerts: own,
            own: None,
            place: place + 1,
        });
    }
    items.sort_by_key(|i| (rank(&i.standing.stand), std::cmp::Reverse(i.since_t_ns)));
    items
}

fn kind_word(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Alert => "",
        RuleKind::Record => "record",
    }
}

fn state_rank(state: AlertState) -> u8 {
    match state {
        AlertState::Firing => 0,
        AlertState::Pending => 1,
        AlertState::Resolved | AlertState::Inactive => 2,
    }
}

/// Alerts of this process itself, by their newest transition.
fn own(state: &DashState) -> Vec<Item<'_>> {
    let mut by_rule: BTreeMap<&str, (u64, &AlertStateChanged)> = BTreeMap::new();
    for (t_ns, change) in state.alerts.iter().filter(|(_, change)| change.detail.is_none()) {
        by_rule.insert(&change.rule, (*t_ns, change));
    }
    by_rule.into_iter().map(|(name, (t_ns, change))| own_item(state, name, t_ns, change)).collect()
}

fn own_item<'s>(state: &'s DashState, name: &'s str, t_ns: u64, change: &'s AlertStateChanged) -> Item<'s> {
    let stand = match change.state {
        AlertState::Firing => state.alerting.change_standing(change, state.t_ns),
        AlertState::Pending => Stand::Pending,
        AlertState::Resolved | AlertState::Inactive => Stand::Ok,
    };
    Item {
        key: name.to_owned(),
        name,
        severity: &change.severity,
        standing: Standing { stand, flapping: false },
        since_t_ns: Some(t_ns),
        rule: None,
        alerts: Vec::new(),
        own: Some(change),
        place: 0,
    }
}

/// What pane 5 and small screens show: all but rules with which all is well.
pub fn current(state: &DashState) -> Vec<Item<'_>> {
    let is_quiet = |i: &Item<'_>| i.standing.stand == Stand::Ok && i.alerts.is_empty() && i.own.is_none();
    items(state).into_iter().filter(|i| !is_quiet(i)).collect()
}

/// Rules and own alerts that fire, and that nobody has silenced.
pub fn firing(state: &DashState) -> usize {
    if state.alerting.alerts.is_empty() && state.alerts.is_empty() {
        return 0;
    }
    items(state).iter().filter(|i| i.standing.stand == Stand::Firing).count()
}

/// A letter and a role for how something stands.
pub fn letter(stand: &Stand) -> (&'static str, Role) {
    match stand {
        Stand::Firing => ("F", Role::Bad),
        Stand::Pending => ("P", Role::Warn),
        Stand::Silenced(_) => ("S", Role::Dim),
        Stand::Acknowledged(_) => ("A", Role::Dim),
        Stand::Error(_) => ("E", Role::Bad),
        Stand::NoData => ("?", Role::Warn),
        Stand::Ok => (".", Role::Good),
    }
}

/// Why the recording of a run fails now, in the words of the alert that fires for it.
pub fn recording_failure(state: &DashState) -> Option<String> {
    const RULE: &str = "RecordingFailed";
    let newest = state.alerts.iter().rev().find(|(_, change)| change.rule.as_str() == RULE)?;
    (newest.1.state == AlertState::Firing).then(|| newest.1.summary.to_string())
}

/// How many of `items` stand so.
pub fn count(items: &[Item<'_>], is_it: impl Fn(&Stand) -> bool) -> usize {
    items.iter().filter(|i| is_it(&i.standing.stand)).count()
}

/// `2F 1P 1S`, or nothing where nothing fires and nothing is pending.
pub fn counts(items: &[Item<'_>]) -> String {
    let parts = [
        (count(items, |s| *s == Stand::Firing), "F"),
        (count(items, |s| *s == Stand::Pending), "P"),
        (count(items, |s| matches!(s, Stand::Silenced(_))), "S"),
        (count(items, |s| matches!(s, Stand::Acknowledged(_))), "A"),
        (count(items, |s| matches!(s, Stand::Error(_))), "E"),
    ];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, letter)| format!("{n}{letter}")).collect();
    parts.join(" ")
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let state = pane.ctx.state;
    let items = current(state);
    let mut inner = pane.open(canvas, &counts(&items));
    if items.is_empty() {
        notice(&mut inner, &nothing(state));
        return;
    }
    let here = rules::at(&items, pane.ctx.view);
    let quiet = state.alerting.rules.len().saturating_sub(items.iter().filter(|i| i.rule.is_some()).count());
    let foot = u16::from(quiet > 0 && inner.height() > 1);
    let rows = inner.height() - foot;
    let skip = (here + 1).saturating_sub(usize::from(rows.max(1)));
    for (y, (index, item)) in (0..rows).zip(items.iter().enumerate().skip(skip)) {
        line(&mut inner, y, item, state.t_ns);
        if index == here && pane.is_active() {
            let width = inner.width();
            inner.restyle(0, y, width, Role::Selected);
        }
    }
    if foot > 0 {
        let width = inner.width();
        inner.text_upto(0, width, rows, &format!("- {}", tr!("{n} inactive", n = quiet)), Role::Dim);
    }
    more(&mut inner, items.len().saturating_sub(skip + usize::from(rows)));
}

/// What stands where nothing fires.
fn nothing(state: &DashState) -> String {
    let rules = state.alerting.rules.len() as u64;
    let below = match (&state.alerting.error, rules) {
        (Some(error), _) => error.to_string(),
        (None, 0) => tr!("no alert rules are loaded; alerts of the console itself, such as a recorder that fails, come here"),
        (None, rules) => tr!("{rules} are evaluated, all is well", rules = format::counted(rules, "rule")),
    };
    format!("{}\n{below}", tr!("nothing fires"))
}

/// One alert: letter, rule, what it is about, and on the right its age, or how far it has come on its way to fire.
pub fn line(canvas: &mut Canvas<'_>, y: u16, item: &Item<'_>, now_t_ns: u64) {
    let width = canvas.width();
    let (letter, role) = letter(&item.standing.stand);
    let age = short_age(item, now_t_ns, width >= 36, canvas.glyphs());
    let end = if width >= 24 { canvas.text_before(width, y, &age, Role::Dim).saturating_sub(1) } else { width };
    let mut x = canvas.text(0, y, &format!("{letter} "), role);
    x = canvas.text_upto(x, end, y, &format!("{} ", item.name), role);
    let (mark, mark_role) = rules::severity_mark(item.severity);
    if width >= 24 && !mark.is_empty() {
        x = canvas.text_upto(x, end, y, &format!("{mark} "), mark_role);
    }
    if item.standing.flapping {
        x = canvas.text_upto(x, end, y, "~ ", Role::Warn);
    }
    let labels = item.labels();
    if !labels.is_empty() {
        x = canvas.text_upto(x, end, y, &format!("{labels} "), Role::Text);
    } else if width >= 50 && !item.severity.is_empty() {
        x = canvas.text_upto(x, end, y, &format!("{} ", item.severity), Role::Dim);
    }
    let compared = item.rule.filter(|_| item.standing.stand != Stand::Ok).and_then(rules::compared);
    if let Some(compared) = compared {
        x = canvas.text_upto(x, end, y, &format!("{compared} "), Role::Text);
    }
    canvas.text_upto(x, end, y, &item.summary(), Role::Dim);
}

/// `02:13`, `31/60s ====--`, `until 14:30`.
pub fn short_age(item: &Item<'_>, now_t_ns: u64, with_bar: bool, glyphs: Glyphs) -> String {
    let since = || item.since_t_ns.map_or_else(|| "-".to_owned(), |t_ns| format::clock(now_t_ns.saturating_sub(t_ns)));
    match &item.standing.stand {
        Stand::Pending => pending(item, now_t_ns, with_bar, glyphs).unwrap_or_else(since),
        Stand::Silenced(hush) | Stand::Acknowledged(hush) => tr!("until {clock}", clock = rules::clock(hush.until_ms)),
        Stand::Firing => since(),
        Stand::Ok if item.own.is_some() || !item.alerts.is_empty() => since(),
        Stand::Ok | Stand::Error(_) | Stand::NoData => "-".into(),
    }
}

/// How long it has been pending, of how long it must be.
fn pending(item: &Item<'_>, now_t_ns: u64, with_bar: bool, glyphs: Glyphs) -> Option<String> {
    const BAR: u16 = 7;
    let for_ms = item.rule?.info.for_ms;
    let waited_ms = now_t_ns.saturating_sub(item.since_t_ns?) / 1_000_000;
    if for_ms == 0 {
        return None;
    }
    let bar = if with_bar { format!(" {}", gauge(waited_ms as f64 / for_ms as f64, BAR, glyphs)) } else { String::new() };
    Some(format!("{}/{}s{bar}", waited_ms.min(for_ms) / 1_000, for_ms / 1_000))
}
