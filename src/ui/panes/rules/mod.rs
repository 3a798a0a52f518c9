//! The alerts screen: rules and what fires, one of them in full, silences.

mod curve;
mod detail;
mod dry;
mod hands;
mod list;
mod page;
mod silences;
#[cfg(test)]
pub mod testing;
mod value;

pub use detail::{draw as draw_detail, scroll_max as detail_scroll_max};
pub use dry::{
    Trial, click_choice, click_found, draw_choice, draw_found, open_choice, open_found, records as dry_records, scroll_choice, scroll_found,
};
pub use hands::{
    acknowledge, dry_run, duration_ms, duration_words, edit, edit_silence, extend, file, group, open, runbook, silence, test, toggle,
    unsilence,
};
pub use list::{click as click_list, draw as draw_list, severity_mark};
pub use page::{draw as draw_page, lines as page_lines};
pub use silences::{click as click_silence, draw as draw_silences, hushed, scroll as scroll_silences};
pub use value::{clock, compared};

use super::Motion;
use super::alerts::{Item, items};
use crate::state::{DashState, Stand};
use crate::ui::lang::tr;
use crate::ui::update::Facts;
use crate::ui::view::{PaneId, View};
use crate::ui::widgets::text;
use serde::{Deserialize, Serialize};

/// What a key shows or leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Firing,
    Pending,
    /// Silenced or acknowledged.
    Silenced,
    /// All that needs nobody: ok, without data, with an error.
    Rest,
}

impl Class {
    pub fn of(stand: &Stand) -> Self {
        match stand {
            Stand::Firing => Class::Firing,
            Stand::Pending => Class::Pending,
            Stand::Silenced(_) | Stand::Acknowledged(_) => Class::Silenced,
            Stand::Error(_) | Stand::NoData | Stand::Ok => Class::Rest,
        }
    }
}

/// By what the list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSort {
    /// What needs somebody first; within that the newest.
    #[default]
    State,
    Severity,
    Name,
    /// What came into its state last first.
    Since,
    /// As the file has them.
    File,
}

impl RuleSort {
    pub fn next(self) -> Self {
        match self {
            RuleSort::State => RuleSort::Severity,
            RuleSort::Severity => RuleSort::Name,
            RuleSort::Name => RuleSort::Since,
            RuleSort::Since => RuleSort::File,
            RuleSort::File => RuleSort::State,
        }
    }

    pub fn words(self) -> String {
        match self {
            RuleSort::State => tr!("state, age"),
            RuleSort::Severity => tr!("severity"),
            RuleSort::Name => tr!("name"),
            RuleSort::Since => tr!("age"),
            RuleSort::File => tr!("file"),
        }
    }
}

/// By what the list is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleGrouping {
    #[default]
    None,
    Severity,
    /// The groups of the file.
    Group,
    /// What its alerts are of.
    Instance,
}

impl RuleGrouping {
    pub fn words(self) -> String {
        match self {
            RuleGrouping::None => tr!("none"),
            RuleGrouping::Severity => tr!("severity"),
            RuleGrouping::Group => tr!("group"),
            RuleGrouping::Instance => tr!("instance"),
        }
    }

    /// What an item stands under; unset where nothing is grouped.
    fn of(self, item: &Item<'_>) -> Option<String> {
        match self {
            RuleGrouping::None => None,
            RuleGrouping::Severity => Some(if item.severity.is_empty() { tr!("no severity") } else { item.severity.to_string() }),
            RuleGrouping::Group => Some(item.rule.map_or_else(|| tr!("the console itself"), |r| r.group.to_string())),
            RuleGrouping::Instance => Some(instance(item).unwrap_or_else(|| tr!("no instance"))),
        }
    }
}

/// Options of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesView {
    /// The key of the row under the cursor.
    pub at: Option<String>,
    pub filter: String,
    pub sort: RuleSort,
    pub grouping: RuleGrouping,
    /// What is left out.
    pub hidden: Vec<Class>,
    /// The silence under the cursor of pane 3.
    pub silence: Option<String>,
    pub trial: Trial,
    /// The runbook that is open above the panes: what names it, and its text.
    pub page: Option<(String, String)>,
}

impl RulesView {
    pub fn toggle(&mut self, class: Class) {
        match self.hidden.iter().position(|c| *c == class) {
            Some(at) => drop(self.hidden.remove(at)),
            None => self.hidden.push(class),
        }
    }
}

/// The instance that a rule's alerts are of; of several, how many.
fn instance(item: &Item<'_>) -> Option<String> {
    let of = |alert: &&crate::state::AlertRow| alert.change.detail.as_ref().and_then(|d| d.labels.get("instance")).map(ToString::to_string);
    let all: std::collections::BTreeSet<String> = item.alerts.iter().filter_map(of).collect();
    match all.len() {
        0 | 1 => all.into_iter().next(),
        n => Some(tr!("{n} instances", n = n)),
    }
}

/// How much a severity matters: known words first.
pub fn weight(severity: &str) -> u8 {
    match severity {
        "critical" | "crit" | "page" => 0,
        "warning" | "warn" => 1,
        "" => 3,
        _ => 2,
    }
}

/// Rules that hold what `:filter` said and are not left out, as they are sorted and grouped.
pub fn shown<'s>(state: &'s DashState, view: &View) -> Vec<Item<'s>> {
    let options = &view.rules;
    let needle = options.filter.to_lowercase();
    let holds = |i: &Item<'_>| {
        let labels = i.rule.map_or_else(String::new, |r| format!("{} {}", r.group, r.info.labels));
        let words = format!("{} {} {} {} {labels}", i.name, i.severity, i.summary(), list::word(&i.standing.stand));
        text::holds(&words, &needle)
    };
    let mut shown: Vec<Item<'s>> =
        items(state).into_iter().filter(|i| !options.hidden.contains(&Class::of(&i.standing.stand)) && holds(i)).collect();
    match options.sort {
        RuleSort::State => {}
        RuleSort::Severity => shown.sort_by_key(|i| weight(i.severity)),
        RuleSort::Name => shown.sort_by(|a, b| a.name.cmp(b.name)),
        RuleSort::Since => shown.sort_by_key(|i| std::cmp::Reverse(i.since_t_ns)),
        RuleSort::File => shown.sort_by_key(|i| i.place),
    }
    match options.grouping {
        RuleGrouping::None => {}
        RuleGrouping::Severity => shown.sort_by_key(|i| weight(i.severity)),
        RuleGrouping::Group => shown.sort_by_key(|i| i.place),
        RuleGrouping::Instance => shown.sort_by_key(|i| {
            let instance = instance(i);
            (instance.is_none(), instance)
        }),
    }
    shown
}

/// Index of the rule under the cursor.
pub fn at(items: &[Item<'_>], view: &View) -> usize {
    let chosen = view.rules.at.as_deref();
    items.iter().position(|i| Some(i.key.as_str()) == chosen).unwrap_or(0)
}

/// The rule under the cursor: on the live screen that of pane 5.
pub fn chosen<'s>(state: &'s DashState, view: &View) -> Option<Item<'s>> {
    let mut items = match view.screen {
        crate::ui::view::ScreenId::Alerts => shown(state, view),
        crate::ui::view::ScreenId::Live
        | crate::ui::view::ScreenId::Replay
        | crate::ui::view::ScreenId::Checkpoints
        | crate::ui::view::ScreenId::Training
        | crate::ui::view::ScreenId::Memory
        | crate::ui::view::ScreenId::Log
        | crate::ui::view::ScreenId::Diff => super::alerts::current(state),
    };
    let at = at(&items, view);
    (at < items.len()).then(|| items.swap_remove(at))
}

/// The cursor stands on a rule from the beginning: one that comes above it is not acknowledged in its place.
pub fn enter(view: &mut View, facts: &Facts<'_>) -> Vec<crate::ui::update::Effect> {
    let key = chosen(facts.state, view).map(|item| item.key);
    view.rules.at = key;
    Vec::new()
}

/// Moves the cursor of the list, whose inside has that many rows.
pub fn scroll(view: &mut View, facts: &Facts<'_>, height: u16, motion: Motion) {
    let items = shown(facts.state, view);
    travel(view, &items, height.saturating_sub(2), motion);
}

/// Moves the cursor of pane 5.
pub fn scroll_pane(view: &mut View, facts: &Facts<'_>, height: u16, motion: Motion) {
    let items = super::alerts::current(facts.state);
    travel(view, &items, height, motion);
}

fn travel(view: &mut View, items: &[Item<'_>], page: u16, motion: Motion) {
    let lines = match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines,
        Motion::Pages(pages) => pages * i64::from(page.max(1)),
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    };
    let next = (at(items, view) as i64).saturating_add(lines).clamp(0, items.len().saturating_sub(1) as i64);
    view.scroll.remove(&PaneId::RuleDetail);
    view.rules.at = items.get(next as usize).map(|i| i.key.clone());
}
