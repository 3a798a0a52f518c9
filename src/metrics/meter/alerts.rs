//! Rules, alerts, silences, breakpoints and commands.

use super::names::Names;
use super::{seconds, word};
use crate::event::*;
use crate::metrics::registry::Registry;
use crate::metrics::table::Metric;
use std::collections::{BTreeMap, BTreeSet};

const RECORDING: &str = "RecordingFailed";

/// What there is of these.
#[derive(Debug, Default)]
pub(super) struct AlertBook {
    /// State of each alert by group, rule and labels.
    alerts: BTreeMap<(SafeText, SafeText, LabelSet), AlertState>,
    /// Health of each rule by group and place.
    rules: BTreeMap<(SafeText, u32), RuleHealth>,
    silences: BTreeSet<SafeText>,
    breakpoints: BTreeSet<u32>,
}

impl AlertBook {
    pub fn alert(&mut self, registry: &mut Registry, e: &AlertStateChanged) {
        registry.add(Metric::AlertTransitions, &[word(&e.state).as_str()], 1.0);
        if e.rule.as_str() == RECORDING && e.detail.is_none() {
            registry.set(Metric::RecordingFailed, &[], f64::from(u8::from(e.state == AlertState::Firing)));
        }
        let (group, labels) = e.detail.as_ref().map(|d| (d.group.clone(), d.labels.clone())).unwrap_or_default();
        let key = (group, e.rule.clone(), labels);
        match e.state {
            AlertState::Pending | AlertState::Firing => drop(self.alerts.insert(key, e.state)),
            AlertState::Inactive | AlertState::Resolved => drop(self.alerts.remove(&key)),
        }
        for state in [AlertState::Pending, AlertState::Firing] {
            let count = self.alerts.values().filter(|own| **own == state).count();
            registry.set(Metric::Alerts, &[word(&state).as_str()], count as f64);
        }
    }

    pub fn rules_loaded(&mut self, registry: &mut Registry, e: &RulesLoaded) {
        registry.set(Metric::RulesGood, &[], f64::from(u8::from(e.error.is_none())));
        if e.error.is_none() {
            self.rules = BTreeMap::new();
            self.health(registry);
        }
    }

    pub fn rule_evaluated(&mut self, registry: &mut Registry, names: &mut Names, e: &RuleEvaluated) {
        let group = names.bounded("group", e.group.as_str());
        registry.add(Metric::RuleEvaluations, &[group], 1.0);
        registry.observe(Metric::RuleDuration, &[group], seconds(e.duration_ns));
        for reading in &e.readings {
            self.rules.insert((e.group.clone(), reading.rule), reading.health);
        }
        if !e.readings.is_empty() {
            self.health(registry);
        }
    }

    fn health(&self, registry: &mut Registry) {
        for health in [RuleHealth::Ok, RuleHealth::NoData, RuleHealth::Error] {
            let count = self.rules.values().filter(|own| **own == health).count();
            registry.set(Metric::Rules, &[word(&health).as_str()], count as f64);
        }
    }

    pub fn silence(&mut self, registry: &mut Registry, id: &SafeText, is_set: bool) {
        if is_set {
            self.silences.insert(id.clone());
        } else {
            self.silences.remove(id);
        }
        registry.set(Metric::Silences, &[], self.silences.len() as f64);
    }

    pub fn breakpoint(&mut self, registry: &mut Registry, number: u32, is_set: bool) {
        if is_set {
            self.breakpoints.insert(number);
        } else {
            self.breakpoints.remove(&number);
        }
        registry.set(Metric::Breakpoints, &[], self.breakpoints.len() as f64);
    }
}

/// The command's name, without what it is about.
pub(super) fn name_of(command: &Command) -> &'static str {
    match command {
        Command::Pause => "pause",
        Command::Resume => "resume",
        Command::Step { .. } => "step",
        Command::SetPace(_) => "pace",
        Command::Swap { .. } => "swap",
        Command::Rewind { .. } => "rewind",
        Command::Fork { .. } => "fork",
        Command::Override { .. } => "override",
        Command::Break { .. } => "break",
        Command::Unbreak { .. } => "unbreak",
        Command::Silence(_) => "silence",
        Command::Unsilence { .. } => "unsilence",
        Command::Reseed { .. } => "reseed",
        Command::Shutdown => "shutdown",
    }
}
