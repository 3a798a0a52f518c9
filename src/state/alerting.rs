//! Rules, what they came to, alerts, silences and scraped endpoints, as events told.

use super::Ring;
use crate::event::{
    AlertNotified, AlertState, AlertStateChanged, LabelSet, RuleEvaluated, RuleInfo, RuleReading, RulesLoaded, SafeText, Silence,
    SilenceEnded, SilenceSet, TargetScraped,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// When alerts of it began to fire or ended.
    pub turns: Ring<(u64, AlertState), 32>,
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilenceRow {
    pub silence: Silence,
    pub set_t_ns: u64,
    /// Unset while it stands.
    pub ended_t_ns: Option<u64>,
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

impl Alerting {
    pub(super) fn loaded(&mut self, t_ns: u64, e: &RulesLoaded) {
        if e.error.is_some() {
            self.error = e.error.clone();
            if self.file.is_empty() {
                self.file = e.file.clone();
            }
            return;
        }
        (self.file, self.sha256, self.loaded_t_ns, self.error) = (e.file.clone(), e.sha256.clone(), t_ns, None);
        let mut before = std::mem::take(&mut self.rules);
        for group in &e.groups {
            for (index, info) in group.rules.iter().enumerate() {
                let index = index as u32;
                let is_it = |r: &RuleRow| r.group == group.name && r.info.name == info.name && r.info.expr == info.expr;
                let kept = before.iter().position(is_it).map(|at| before.swap_remove(at));
                let mut row = kept.unwrap_or_else(|| RuleRow {
                    group: group.name.clone(),
                    index,
                    interval_ms: group.interval_ms,
                    info: info.clone(),
                    reading: None,
                    history: Ring::default(),
                    turns: Ring::default(),
                });
                (row.index, row.interval_ms, row.info) = (index, group.interval_ms, info.clone());
                if self.rules.len() < RULES_MAX {
                    self.rules.push(row);
                }
            }
        }
    }

    pub(super) fn evaluated(&mut self, t_ns: u64, e: &RuleEvaluated) {
        (self.evaluated_t_ns, self.duration_ns) = (Some(t_ns), e.duration_ns);
        self.epoch_ms = Some(e.at_ms.saturating_sub((t_ns / 1_000_000) as i64));
        for reading in &e.readings {
            let Some(row) = self.rules.iter_mut().find(|r| r.group == e.group && r.index == reading.rule) else { continue };
            if row.reading.as_ref().is_none_or(|r| r.value.map(f64::to_bits) != reading.value.map(f64::to_bits)) {
                row.history.push(PastReading { t_ns, value: reading.value });
            }
            row.reading = Some(reading.clone());
        }
    }

    pub(super) fn changed(&mut self, t_ns: u64, seq: crate::event::Seq, e: &AlertStateChanged) {
        let Some(detail) = &e.detail else { return };
        if let Some(row) = self.rules.iter_mut().find(|r| r.group == detail.group && r.info.name == e.rule) {
            match e.state {
                AlertState::Firing | AlertState::Resolved => row.turns.push((t_ns, e.state)),
                AlertState::Pending | AlertState::Inactive => {}
            }
        }
        self.alerts.retain(|a| !(a.change.rule == e.rule && labels(&a.change) == labels(e)));
        if e.state != AlertState::Inactive {
            self.alerts.push(AlertRow { t_ns, seq, change: e.clone() });
        }
        if self.alerts.len() > ALERTS_MAX {
            let ended = self.alerts.iter().position(|a| a.change.state == AlertState::Resolved);
            self.alerts.remove(ended.unwrap_or(0));
        }
    }

    pub(super) fn silenced(&mut self, t_ns: u64, e: &SilenceSet) {
        self.silences.insert(e.id.clone(), SilenceRow { silence: e.silence.clone(), set_t_ns: t_ns, ended_t_ns: None });
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
        self.notified.push((t_ns, e.clone()));
    }

    pub(super) fn scraped(&mut self, t_ns: u64, e: &TargetScraped) {
        let key = format!("{} {}", e.job, e.instance);
        let since_t_ns = self.targets.get(&key).filter(|row| row.scrape.up == e.up).map_or(t_ns, |row| row.since_t_ns);
        if self.targets.len() >= TARGETS_MAX && !self.targets.contains_key(&key) {
            return;
        }
        let scrape = TargetScraped { samples: Vec::new(), ..e.clone() };
        self.targets.insert(key, TargetRow { t_ns, scrape, since_t_ns });
    }
}
