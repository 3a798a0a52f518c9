//! Pane 1 of the alerts screen: rules by how they stand.
//!
//! ```text
//! 2 firing 1 pending 1 silenced 6 ok | eval 5 s, last 0.3 ms | rules: configs/rules.yaml ok 14:00:02
//!   state    rule             sev   value / threshold   for             last 30 min   labels
//! F FIRING   ToolRateLimited  warn  4.8 > 4.5 /min      02:13           ▁▁▂▃▅▇▇▇      tool=web_search
//! ```

use super::value::{clock, clock_seconds, compared};
use super::{Class, at, shown, weight};
use crate::state::{DashState, Stand};
use crate::ui::lang::tr;
use crate::ui::panes::alerts::{Item, count, items, letter, short_age};
use crate::ui::panes::{Pane, lines, notice};
use crate::ui::update::{Effect, Facts};
use crate::ui::view::{PaneId, View};
use crate::ui::widgets::{Canvas, Glyphs, Role, format, sparkline};

/// What the sparkline spans.
const TRACK_NS: u64 = 30 * 60 * 1_000_000_000;

pub fn word(stand: &Stand) -> String {
    match stand {
        Stand::Firing => tr!("FIRING"),
        Stand::Pending => tr!("pending"),
        Stand::Silenced(_) => tr!("silenced"),
        Stand::Acknowledged(_) => tr!("acked"),
        Stand::Error(_) => tr!("error"),
        Stand::NoData => tr!("nodata"),
        Stand::Ok => tr!("ok"),
    }
}

/// How much a severity matters, without colour; nothing for one that says little.
pub fn severity_mark(severity: &str) -> (&'static str, Role) {
    match weight(severity) {
        0 => ("!!", Role::Bad),
        1 => ("!", Role::Warn),
        2.. => ("", Role::Dim),
    }
}

/// Columns where the parts of a row begin; unset for those that have no room.
struct Columns {
    rule: u16,
    severity: Option<u16>,
    value: u16,
    age: u16,
    track: Option<u16>,
    labels: Option<u16>,
    end: u16,
}

impl Columns {
    fn of(width: u16) -> Self {
        let rule = 13;
        match width {
            110.. => {
                let name = 18 + (width - 110) / 5;
                let severity = rule + name + 1;
                let value = severity + 12;
                let age = value + 22 + (width - 110) / 6;
                let track = age + 18;
                let labels = track + 9 + (width - 110) / 5;
                Self { rule, severity: Some(severity), value, age, track: Some(track), labels: Some(labels), end: width }
            }
            70.. => Self { rule, severity: None, value: 33, age: 52, track: Some(width.saturating_sub(8)), labels: None, end: width },
            _ => {
                let age = width.saturating_sub(7);
                let value = 21.min(age.saturating_sub(1));
                Self { rule: 2, severity: None, value, age, track: None, labels: None, end: width }
            }
        }
    }
}

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let shown = shown(state, view);
    let mut inner = pane.open(canvas, &badge(shown.len(), state, view));
    header(&mut inner, state);
    let Some(frame) = Frame::of(state, &shown, view, (inner.width(), inner.height())) else {
        let top = header_rows(state, inner.height());
        return notice(&mut inner.below(top), &nothing(state, view));
    };
    let mut body = inner.below(frame.top);
    let (columns, width) = (Columns::of(body.width()), body.width());
    titles(&mut body, &columns);
    let here = at(&shown, view);
    for (y, entry) in (1..).zip(frame.entries.iter().skip(frame.skip).take(frame.rows)) {
        match entry {
            Entry::Heading(text) => {
                body.text_upto(0, width, y, text, Role::Strong);
            }
            Entry::Item(index, item) => {
                row(&mut body, y, item, &columns, state);
                if *index == here {
                    body.restyle(0, y, width, Role::Selected);
                }
            }
        }
    }
    if frame.has_foot {
        let y = body.height() - 1;
        body.text_upto(0, width, y, &foot_words(view), Role::Dim);
    }
    lines::more(&mut body, frame.entries.len().saturating_sub(frame.skip + frame.rows));
}

/// The rule under the pointer gets the cursor.
pub fn click(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let pane = PaneId::Rules;
    let cell = crate::ui::panes::cell_of(view, facts.area, pane, x, y);
    if let (Some((_, row)), Some(inside)) = (cell, crate::ui::panes::inside(view, facts.area, pane))
        && let Some(key) = row_at(facts.state, view, inside, row)
    {
        view.scroll.remove(&PaneId::RuleDetail);
        view.rules.at = Some(key);
    }
    Vec::new()
}

/// The rule whose row is that many below the upper edge of the inside, which has that many columns and rows.
fn row_at(state: &DashState, view: &View, inside: (u16, u16), y: u16) -> Option<String> {
    let shown = shown(state, view);
    let frame = Frame::of(state, &shown, view, inside)?;
    let row = y.checked_sub(frame.top + 1).filter(|row| usize::from(*row) < frame.rows)?;
    match frame.entries.get(frame.skip + usize::from(row))? {
        Entry::Heading(_) => None,
        Entry::Item(_, item) => Some(item.key.clone()),
    }
}

/// Which entries stand in which rows.
struct Frame<'a, 's> {
    entries: Vec<Entry<'a, 's>>,
    /// Rows of the header.
    top: u16,
    /// Rows for entries.
    rows: usize,
    skip: usize,
    has_foot: bool,
}

impl<'a, 's> Frame<'a, 's> {
    /// Unset where there is nothing to be listed.
    fn of(state: &DashState, shown: &'a [Item<'s>], view: &View, (width, height): (u16, u16)) -> Option<Self> {
        if shown.is_empty() {
            return None;
        }
        let top = header_rows(state, height);
        let below = height.saturating_sub(top);
        let has_foot = below >= 8 && width >= 70;
        let rows = usize::from(below.saturating_sub(1 + u16::from(has_foot)));
        let here = at(shown, view);
        let entries = entries(shown, view);
        let cursor = entries.iter().position(|e| matches!(e, Entry::Item(i, _) if *i == here)).unwrap_or(0);
        let skip = (cursor + 1).saturating_sub(rows.max(1));
        Some(Self { entries, top, rows, skip, has_foot })
    }
}

enum Entry<'a, 's> {
    Heading(String),
    Item(usize, &'a Item<'s>),
}

fn entries<'a, 's>(shown: &'a [Item<'s>], view: &View) -> Vec<Entry<'a, 's>> {
    let mut entries = Vec::new();
    let mut above: Option<String> = None;
    for (index, item) in shown.iter().enumerate() {
        let heading = view.rules.grouping.of(item);
        if heading.is_some() && heading != above {
            entries.extend(heading.clone().map(Entry::Heading));
            above = heading;
        }
        entries.push(Entry::Item(index, item));
    }
    entries
}

fn badge(shown: usize, state: &DashState, view: &View) -> String {
    let all = items(state).len();
    let counted = if shown == all { all.to_string() } else { format!("{shown}/{all}") };
    if view.rules.filter.is_empty() { counted } else { format!("{counted} {}", tr!("filter {text}", text = view.rules.filter)) }
}

fn nothing(state: &DashState, view: &View) -> String {
    if !view.rules.filter.is_empty() {
        return tr!("no rule holds {text}; an empty :filter shows all", text = view.rules.filter);
    }
    if !view.rules.hidden.is_empty() && !items(state).is_empty() {
        return tr!("all rules are left out: F, P, S and O show them again");
    }
    tr!("no alert rules are loaded; alerts of the console itself, such as a recorder that fails, come here")
}

/// Rows of the header in a pane of `height` rows.
fn header_rows(state: &DashState, height: u16) -> u16 {
    let alerting = &state.alerting;
    match (&alerting.error, alerting.file.is_empty()) {
        (_, _) if height < 4 => 0,
        // What is wrong with the file has a row of its own, so that its line is read.
        (Some(_), _) => 2,
        (None, false) => 1,
        (None, true) => u16::from(!items(state).is_empty()),
    }
}

/// How many stand how, how often rules are evaluated, and whether the file is in force.
fn header(inner: &mut Canvas<'_>, state: &DashState) {
    let (width, alerting) = (inner.width(), &state.alerting);
    if header_rows(state, inner.height()) == 0 {
        return;
    }
    let items = items(state);
    let parts = [
        (count(&items, |s| *s == Stand::Firing), tr!("firing"), Role::Bad),
        (count(&items, |s| *s == Stand::Pending), tr!("pending"), Role::Warn),
        (count(&items, |s| matches!(s, Stand::Silenced(_))), tr!("silenced"), Role::Dim),
        (count(&items, |s| matches!(s, Stand::Acknowledged(_))), tr!("acked"), Role::Dim),
        (count(&items, |s| matches!(s, Stand::Error(_))), tr!("error"), Role::Bad),
        (count(&items, |s| *s == Stand::NoData), tr!("nodata"), Role::Warn),
        (count(&items, |s| *s == Stand::Ok), tr!("ok"), Role::Good),
    ];
    let mut x = 0;
    for (n, word, role) in parts.iter().filter(|(n, ..)| *n > 0) {
        x = inner.text_upto(x, width, 0, &format!("{n} {word} "), *role);
    }
    if let Some(interval_ms) = alerting.rules.iter().map(|r| r.interval_ms).min() {
        let every = format::duration(interval_ms.saturating_mul(1_000_000));
        let took = format!("{:.1} ms", alerting.duration_ns as f64 / 1e6);
        let text = match alerting.evaluated_t_ns {
            Some(_) => tr!("| eval {every}, last {took} ", every = every, took = took),
            None => tr!("| eval {every}, not yet ", every = every),
        };
        x = inner.text_upto(x, width, 0, &text, Role::Dim);
    }
    let down = alerting.targets.values().filter(|t| !t.scrape.up).count();
    if down > 0 {
        x = inner.text_upto(x, width, 0, &tr!("| {n} endpoints down ", n = down), Role::Bad);
    }
    if let Some(error) = &alerting.error {
        inner.text_upto(0, width, 1, &format!("E {} {error}", tr!("rules")), Role::Bad);
    } else if !alerting.file.is_empty() {
        let at = alerting.at_ms(alerting.loaded_t_ns).map_or_else(String::new, clock_seconds);
        inner.text_upto(x, width, 0, &tr!("| rules: {file} ok {at}", file = alerting.file, at = at), Role::Dim);
    }
}

fn titles(body: &mut Canvas<'_>, c: &Columns) {
    body.text_upto(2, c.rule.saturating_sub(1), 0, &tr!("state"), Role::Dim);
    body.text_upto(c.rule, c.value, 0, &tr!("rule"), Role::Dim);
    if let Some(x) = c.severity {
        body.text_upto(x, c.value, 0, &tr!("sev"), Role::Dim);
    }
    body.text_upto(c.value, c.age, 0, &tr!("value / threshold"), Role::Dim);
    body.text_upto(c.age, c.track.unwrap_or(c.end), 0, &tr!("for"), Role::Dim);
    if let Some(x) = c.track {
        let end = c.labels.unwrap_or(c.end);
        let whole = tr!("last 30 min");
        let title = if body.measure(&whole) < end.saturating_sub(x) { whole } else { tr!("30 min") };
        body.text_upto(x, end, 0, &title, Role::Dim);
    }
    if let Some(x) = c.labels {
        body.text_upto(x, c.end, 0, &tr!("labels"), Role::Dim);
    }
}

fn row(body: &mut Canvas<'_>, y: u16, item: &Item<'_>, c: &Columns, state: &DashState) {
    let (letter, role) = letter(&item.standing.stand);
    body.text(0, y, letter, role);
    if c.rule > 2 {
        body.text_upto(2, c.rule.saturating_sub(2), y, &word(&item.standing.stand), role);
    }
    if item.standing.flapping {
        body.text(c.rule.saturating_sub(1), y, "~", Role::Warn);
    }
    let name_end = c.severity.unwrap_or(c.value).saturating_sub(1);
    let (mark, mark_role) = severity_mark(item.severity);
    let name = body.text_upto(c.rule, name_end, y, item.name, role);
    match c.severity {
        Some(x) => {
            let word = body.text_upto(x, c.value.saturating_sub(1), y, mark, mark_role);
            let word = if mark.is_empty() { word } else { word + 1 };
            body.text_upto(word, c.value.saturating_sub(1), y, item.severity, Role::Dim);
        }
        None => drop(body.text_upto(name + 1, name_end, y, mark, mark_role)),
    }
    let value = item.rule.and_then(compared).unwrap_or_else(|| item.summary());
    body.text_upto(c.value, c.age.saturating_sub(1), y, &value, Role::Text);
    let mut age = short_age(item, state.t_ns, c.severity.is_some(), body.glyphs());
    // Where labels have no room, who silenced it has: somebody is to be asked.
    if let (Stand::Silenced(hush) | Stand::Acknowledged(hush), None) = (&item.standing.stand, c.labels) {
        age = if c.track.is_some() { format!("{age} {}", hush.by) } else { clock(hush.until_ms) };
    }
    let age_end = c.track.unwrap_or(c.end);
    body.text_upto(c.age, if c.track.is_some() { age_end.saturating_sub(1) } else { age_end }, y, &age, Role::Text);
    if let Some(x) = c.track {
        let end = c.labels.map_or(c.end, |l| l.saturating_sub(1));
        let track = track(item, state, end.saturating_sub(x), body.glyphs());
        body.text(x, y, &track, Role::Curve);
    }
    if let Some(x) = c.labels {
        let by = match &item.standing.stand {
            Stand::Silenced(hush) | Stand::Acknowledged(hush) => tr!("by {who}", who = hush.by),
            Stand::Firing | Stand::Pending | Stand::Error(_) | Stand::NoData | Stand::Ok => String::new(),
        };
        let flaps = if item.standing.flapping { format!("~ {} ", tr!("flapping")) } else { String::new() };
        let text = format!("{flaps}{} {by}", item.labels());
        body.text_upto(x, c.end, y, text.trim(), Role::Dim);
    }
}

/// The left side over the last half hour, as it was at the end of each cell; blank before it was known.
fn track(item: &Item<'_>, state: &DashState, cells: u16, glyphs: Glyphs) -> String {
    let Some(rule) = item.rule else { return String::new() };
    let start = i128::from(state.t_ns) - i128::from(TRACK_NS);
    let step = i128::from(TRACK_NS) / i128::from(cells.max(1));
    let points: Vec<(i128, f64)> = rule.history.iter().map(|r| (i128::from(r.t_ns), r.value.unwrap_or(f64::NAN))).collect();
    let values: Vec<f64> = (1..=i128::from(cells))
        .map(|cell| points.iter().rev().find(|(t, _)| *t <= start + cell * step).map_or(f64::NAN, |(_, v)| *v))
        .collect();
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let mut range = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    // The threshold is in the picture, so that its height says how near it is.
    if let Some(t) = rule.info.threshold.as_ref().filter(|t| t.number.is_finite() && range.0.is_finite()) {
        range = (range.0.min(t.number), range.1.max(t.number));
    }
    sparkline(&values, 0, cells, range, glyphs)
}

fn foot_words(view: &View) -> String {
    let mark = |class: Class, letter: &str, word: String| {
        if view.rules.hidden.contains(&class) { format!("{letter} -") } else { format!("{letter} {word}") }
    };
    let show = [
        mark(Class::Firing, "F", tr!("firing")),
        mark(Class::Pending, "P", tr!("pending")),
        mark(Class::Silenced, "S", tr!("silenced")),
        mark(Class::Rest, "O", tr!("ok")),
    ];
    let (group, sort) = (view.rules.grouping.words(), view.rules.sort.words());
    tr!("show: {show}    group: {group} (:group)    sort: {sort}", show = show.join("  "), group = group, sort = sort)
}
