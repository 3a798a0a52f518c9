//! Rules, what they came to, alerts, silences and scraped endpoints, as events told.

mod bounds;
mod standing;

pub use standing::{Hush, Stand, Standing};

use super::Ring;
use crate::event::{
    AlertNotified, AlertState, AlertStateChanged, LabelSet, LazyMatching, RuleEvaluated, RuleInfo, RuleReading, RulesLoaded, RunStarted,
    SafeText, Silence, SilenceEnded, SilenceSet, TargetScraped,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Rules that are kept.
const RULES_MAX: usize = 2_000;
/// Alerts that are kept; those that ended give way first.
const ALERTS_MAX: usize = 1_000;
const SILENCES_MAX: usize = 1_000;
const TARGETS_MAX: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alerting {
    /// The file of the rules in force; empty where none was loaded.
    pub file: SafeText,
    pub sha256: String,
    pub loaded_t_ns: u64,
    /// Why a newer version of the file is not in force.
    pub error: Option<SafeText>,
    /// What every alert has besides its own labels when it is sent out.
    #[serde(default)]
    pub external_labels: LabelSet,
    /// In the order of the file.
    pub rules: Vec<RuleRow>,
    /// Alerts of rules, by rule and labels.
    pub alerts: Vec<AlertRow>,
    pub silences: BTreeMap<SafeText, SilenceRow>,
    /// Time and what was told to whom.
    pub notified: Ring<(u64, AlertNotified), 64>,
    /// By `job instance`.
    pub targets: BTreeMap<String, TargetRow>,
    /// Of the newest evaluation.
    pub evaluated_t_ns: Option<u64>,
    pub duration_ns: u64,
    /// Milliseconds since 1970 at `t_ns` 0, as far as events have told.
    pub epoch_ms: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleRow {
    pub group: SafeText,
    /// Its place in the group.
    pub index: u32,
    pub interval_ms: u64,
    pub info: RuleInfo,
    pub reading: Option<RuleReading>,
    /// Times and values at which the reading changed.
    pub history: Ring<PastReading, 128>,
    /// What its alerts did.
    #[serde(default)]
    pub past: Ring<Turn, 64>,
}

/// An alert of a rule came into a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub t_ns: u64,
    pub seq: crate::event::Seq,
    pub state: AlertState,
    #[serde(with = "crate::event::num::float")]
    pub value: f64,
    /// What tells the alert from others of the rule.
    #[serde(default)]
    pub labels: SafeText,
}

/// What a rule's value was from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastReading {
    pub t_ns: u64,
    #[serde(default, with = "crate::event::num::float_option")]
    pub value: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertRow {
    /// When it came into this state.
    pub t_ns: u64,
    pub seq: crate::event::Seq,
    pub change: AlertStateChanged,
    /// When it began to fire or ended, the newest times.
    #[serde(default)]
    pub turns: Ring<u64, 16>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilenceRow {
    pub silence: Silence,
    pub set_t_ns: u64,
    /// Unset while it stands.
    pub ended_t_ns: Option<u64>,
    #[serde(skip)]
    matching: LazyMatching,
}

/// An endpoint, as it was asked last; its samples are not kept here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetRow {
    pub t_ns: u64,
    pub scrape: TargetScraped,
    /// Since when it is up, or down.
    pub since_t_ns: u64,
}

fn labels(change: &AlertStateChanged) -> Option<&LabelSet> {
    change.detail.as_ref().map(|d| &d.labels)
}

/// Milliseconds since 1970 when a run that says this began.
fn epoch_ms(started: &str) -> Option<i64> {
    started.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond())
}

impl Alerting {
    pub(super) fn began(&mut self, e: &RunStarted) {
        self.epoch_ms = epoch_ms(&e.started);
    }

    /// Milliseconds since 1970 at a time of the run; unset before the run has said when it began.
    pub fn at_ms(&self, t_ns: u64) -> Option<i64> {
        self.epoch_ms.map(|epoch| epoch.saturating_add((t_ns / 1_000_000) as i64))
    }

    pub(super) fn loaded(&mut self, t_ns: u64, e: &RulesLoaded) {
        if let Some(error) = &e.error {
            self.error = Some(bounds::text(error));
            if self.file.is_empty() {
                self.file = e.file.clone();
            }
            return;
        }
        (self.file, self.sha256, self.loaded_t_ns, self.error) = (bounds::text(&e.file), e.sha256.chars().take(64).collect(), t_ns, None);
        self.external_labels = bounds::labels(&e.external_labels);
        let mut before: HashMap<(SafeText, SafeText, SafeText), VecDeque<RuleRow>> = HashMap::new();
        for row in std::mem::take(&mut self.rules) {
            before.entry((row.group.clone(), row.info.name.clone(), row.info.expr.clone())).or_default().push_back(row);
        }
        let mut bytes = 0;
        for group in &e.groups {
            for (index, info) in group.rules.iter().enumerate() {
                bytes += bounds::rule_bytes(info) + group.name.len();
                if self.rules.len() >= RULES_MAX || bytes > bounds::RULES_BYTES_MAX {
                    return;
                }
                let kept = before.get_mut(&(group.name.clone(), info.name.clone(), info.expr.clone())).and_then(VecDeque::pop_front);
                let mut row = kept.unwrap_or_else(|| RuleRow {
                    group: group.name.clone(),
                    index: 0,
                    interval_ms: 0,
                    info: info.clone(),
                    reading: None,
                    history: Ring::default(),
                    past: Ring::default(),
                });
                (row.index, row.interval_ms, row.info) = (index as u32, group.interval_ms, info.clone());
                self.rules.push(row);
            }
        }
    }

    pub(super) fn evaluated(&mut self, t_ns: u64, e: &RuleEvaluated) {
        (self.evaluated_t_ns, self.duration_ns) = (Some(t_ns), e.duration_ns);
        self.epoch_ms = Some(e.at_ms.saturating_sub((t_ns / 1_000_000) as i64));
        // The rules of a group stand side by side.
        let Some(first) = self.rules.iter().position(|row| row.group == e.group) else { return };
        for reading in &e.readings {
            let row = self.rules.get_mut(first.saturating_add(reading.rule as usize));
            let Some(row) = row.filter(|row| row.group == e.group && row.index == reading.rule) else { continue };
            if row.reading.as_ref().is_none_or(|r| r.value.map(f64::to_bits) != reading.value.map(f64::to_bits)) {
                row.history.push(PastReading { t_ns, value: reading.value });
            }
            row.reading = Some(bounds::reading(reading));
        }
    }

    pub(super) fn changed(&mut self, t_ns: u64, seq: crate::event::Seq, e: &AlertStateChanged) {
        let Some(detail) = &e.detail else { return };
        if let Some(row) = self.rules.iter_mut().find(|r| r.group == detail.group && r.info.name == e.rule) {
            let labels = bounds::few(&detail.labels.telling().into());
            row.past.push(Turn { t_ns, seq, state: e.state, value: detail.value, labels });
        }
        let change = bounds::change(e);
        let is_it = |row: &AlertRow| {
            let group = row.change.detail.as_ref().map(|known| &known.group);
            row.change.rule == change.rule && group == Some(&detail.group) && labels(&row.change) == labels(&change)
        };
        let known = self.alerts.iter().position(is_it);
        let mut turns = known.map(|at| self.alerts.remove(at).turns).unwrap_or_default();
        let mut row = AlertRow { t_ns, seq, change, turns: Ring::default() };
        match (e.state, turns.last()) {
            (AlertState::Firing | AlertState::Resolved, _) => turns.push(t_ns),
            (AlertState::Pending, _) => {}
            // What never fired leaves nothing behind; what did has ended as before.
            (AlertState::Inactive, None) => return,
            (AlertState::Inactive, Some(ended)) => (row.t_ns, row.change.state) = (*ended, AlertState::Resolved),
        }
        row.turns = turns;
        self.alerts.push(row);
        if self.alerts.len() > ALERTS_MAX {
            let ended = self.alerts.iter().position(|a| a.change.state == AlertState::Resolved);
            self.alerts.remove(ended.unwrap_or(0));
        }
    }

    pub(super) fn silenced(&mut self, t_ns: u64, e: &SilenceSet) {
        // One that is too large to be kept whole is not kept: with fewer matchers it would silence more.
        let Some(silence) = bounds::silence(&e.silence) else { return };
        let row = SilenceRow { silence, set_t_ns: t_ns, ended_t_ns: None, matching: LazyMatching::default() };
        self.silences.insert(bounds::text(&e.id), row);
        while self.silences.len() > SILENCES_MAX {
            let oldest = self.silences.iter().min_by_key(|(_, s)| (s.ended_t_ns.is_none(), s.set_t_ns)).map(|(id, _)| id.clone());
            oldest.map(|id| self.silences.remove(&id));
        }
    }

    pub(super) fn silence_ended(&mut self, t_ns: u64, e: &SilenceEnded) {
        if let Some(row) = self.silences.get_mut(&e.id) {
            row.ended_t_ns = Some(t_ns);
        }
    }

    pub(super) fn notified(&mut self, t_ns: u64, e: &AlertNotified) {
        self.notified.push((t_ns, bounds::notified(e)));
    }

    pub(super) fn scraped(&mut self, t_ns: u64, e: &TargetScraped) {
        let key = bounds::text(&format!("{} {}", e.job, e.instance).into()).to_string();
        let since_t_ns = self.targets.get(&key).filter(|row| row.scrape.up == e.up).map_or(t_ns, |row| row.since_t_ns);
        if self.targets.len() >= TARGETS_MAX && !self.targets.contains_key(&key) {
            return;
        }
        let scrape = bounds::target(e);
        self.targets.insert(key, TargetRow { t_ns, scrape, since_t_ns });
    }
}
