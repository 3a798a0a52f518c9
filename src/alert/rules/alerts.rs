//! The alerts of one rule, from evaluation to evaluation.

use super::file::Rule;
use super::group::Context;
use crate::alert::promql::{Limits, Query, SharedTime, Value, VectorSample};
use crate::alert::template::{Scope, Template, TemplateError};
use crate::event::AlertState;
use crate::metrics::{Labels, METRIC_NAME, Store};
use std::collections::{BTreeMap, HashMap};

/// How long an alert that has ended is kept, so that whoever was told of it is told of its end, too.
const RESOLVED_RETENTION_MS: i64 = 15 * 60_000;
const ALERT_NAME: &str = "alertname";
const ALERT_STATE: &str = "alertstate";
const ALERTS: &str = "ALERTS";
const ALERTS_FOR_STATE: &str = "ALERTS_FOR_STATE";

/// An alert of a rule that is pending, fires, or has ended a short while ago.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveAlert {
    pub state: AlertState,
    /// With `alertname`, without external labels.
    pub labels: Labels,
    pub annotations: Vec<(String, String)>,
    pub value: f64,
    /// When its expression began to hold; all times in milliseconds since 1970.
    pub active_at_ms: i64,
    pub fired_at_ms: Option<i64>,
    pub resolved_at_ms: Option<i64>,
    /// Since when it fires only because of `keep_firing_for`.
    pub keep_firing_since_ms: Option<i64>,
}

/// An alert began to wait, to fire, or ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    pub rule: String,
    pub state: AlertState,
    pub labels: Labels,
    pub annotations: Vec<(String, String)>,
    pub value: f64,
    pub active_at_ms: i64,
    /// Unset where it never fired.
    pub fired_at_ms: Option<i64>,
}

/// What an evaluation of an alerting rule came to. An error does not undo what has changed: whoever was told of an alert is told of its end.
pub(super) struct Advanced {
    pub made: Vec<Made>,
    pub transitions: Vec<Transition>,
    pub result: Result<(), String>,
}

/// Templates by the name of their label or annotation; one that can't be read gives its error wherever it would be expanded.
type Templates = Vec<(String, Result<Template, TemplateError>)>;

/// One alerting rule, with the states of its alerts.
#[derive(Clone, Debug)]
pub(super) struct AlertingRule {
    name: String,
    for_ms: i64,
    keep_firing_for_ms: i64,
    labels: Templates,
    annotations: Templates,
    pub active: BTreeMap<Labels, ActiveAlert>,
}

/// A sample that a rule makes.
pub(super) struct Made {
    pub labels: Labels,
    pub value: f64,
}

impl AlertingRule {
    /// `labels`: of the group and of the rule.
    pub fn new(rule: &Rule, labels: &[(String, String)]) -> Self {
        let templates = |pairs: &[(String, String)]| -> Templates {
            pairs.iter().map(|(name, text)| (name.clone(), Template::for_alert(&rule.name, text))).collect()
        };
        Self {
            name: rule.name.clone(),
            for_ms: rule.for_ms,
            keep_firing_for_ms: rule.keep_firing_for_ms,
            labels: templates(labels),
            annotations: templates(&rule.annotations),
            active: BTreeMap::new(),
        }
    }

    /// What the expression gave, made into alerts; then every alert goes on by one evaluation. An error leaves all as they were, but one of the limit, which
    /// ends them.
    pub fn evaluate(
        &mut self,
        samples: &[VectorSample],
        store: &Store,
        times: (i64, i64),
        limit: usize,
        context: &Context<'_>,
    ) -> Result<Advanced, String> {
        let (at_ms, asked_ms) = times;
        let together = SharedTime::new(context.limits);
        let query = |text: &str| template_query(text, store, asked_ms, context.limits, &together);
        let mut seen = BTreeMap::new();
        for sample in samples {
            let alert = self.alert_of(sample, at_ms, &query, context);
            if seen.insert(alert.labels.clone(), alert).is_some() {
                return Err("vector contains metrics with the same labelset after applying alert labels".into());
            }
        }
        let before = if limit > 0 { self.active.clone() } else { BTreeMap::new() };
        let transitions = self.advance(seen, at_ms);
        let count = self.active.values().filter(|alert| alert.state != AlertState::Resolved).count();
        if limit > 0 && count > limit {
            self.active.clear();
            let result = Err(format!("exceeded limit of {limit} with {count} alerts"));
            return Ok(Advanced { made: Vec::new(), transitions: ends(&self.name, before.values()), result });
        }
        Ok(Advanced { made: self.samples(), transitions, result: Ok(()) })
    }

    /// What is to be told should the rule be no more.
    pub fn ends(&self) -> Vec<Transition> {
        ends(&self.name, self.active.values())
    }

    fn alert_of(
        &self,
        sample: &VectorSample,
        at_ms: i64,
        query: &dyn Fn(&str) -> Result<Vec<VectorSample>, String>,
        context: &Context<'_>,
    ) -> ActiveAlert {
        // Templates see the series' name, the alert has none.
        let scope = Scope {
            labels: &sample.labels,
            external_labels: context.external_labels,
            external_url: context.external_url,
            value: sample.value,
            at_ms,
            query,
        };
        let mut labels = sample.labels.with(METRIC_NAME, "");
        for (name, template) in &self.labels {
            labels = labels.with(name, &expanded(template, &scope));
        }
        let annotations = self.annotations.iter().map(|(name, template)| (name.clone(), expanded(template, &scope))).collect();
        ActiveAlert {
            state: AlertState::Pending,
            labels: labels.with(ALERT_NAME, &self.name),
            annotations,
            value: sample.value,
            active_at_ms: at_ms,
            fired_at_ms: None,
            resolved_at_ms: None,
            keep_firing_since_ms: None,
        }
    }

    fn advance(&mut self, mut seen: BTreeMap<Labels, ActiveAlert>, at_ms: i64) -> Vec<Transition> {
        let mut before: HashMap<Labels, AlertState> = HashMap::new();
        let mut gone = Vec::new();
        for (labels, alert) in &mut self.active {
            before.insert(labels.clone(), alert.state);
            match seen.remove(labels) {
                Some(new) if alert.state == AlertState::Resolved => *alert = new,
                Some(new) => {
                    (alert.value, alert.annotations) = (new.value, new.annotations);
                    alert.keep_firing_since_ms = None;
                }
                None if alert.state == AlertState::Firing && is_kept(alert, self.keep_firing_for_ms, at_ms) => {}
                None if alert.state == AlertState::Pending => gone.push(labels.clone()),
                None if alert.state == AlertState::Firing => {
                    alert.state = AlertState::Resolved;
                    alert.resolved_at_ms = Some(at_ms);
                }
                None if alert.resolved_at_ms.is_some_and(|resolved| at_ms - resolved > RESOLVED_RETENTION_MS) => gone.push(labels.clone()),
                None => {}
            }
        }
        self.active.append(&mut seen);
        let mut transitions = Vec::new();
        for labels in gone {
            let Some(alert) = self.active.remove(&labels) else { continue };
            if alert.state == AlertState::Pending {
                transitions.push(transition(&self.name, &alert, AlertState::Inactive));
            }
        }
        let for_ms = self.for_ms;
        for alert in self.active.values_mut() {
            if alert.state == AlertState::Pending && at_ms - alert.active_at_ms >= for_ms {
                alert.state = AlertState::Firing;
                alert.fired_at_ms = Some(at_ms);
            }
        }
        let changed = self.active.values().filter(|alert| before.get(&alert.labels) != Some(&alert.state));
        transitions.extend(changed.map(|alert| transition(&self.name, alert, alert.state)));
        transitions
    }

    /// `ALERTS` and `ALERTS_FOR_STATE` of what is pending or fires.
    fn samples(&self) -> Vec<Made> {
        let mut made = Vec::new();
        for alert in self.active.values() {
            let state = match alert.state {
                AlertState::Pending => "pending",
                AlertState::Firing => "firing",
                AlertState::Resolved | AlertState::Inactive => continue,
            };
            made.push(Made { labels: alert.labels.with(METRIC_NAME, ALERTS).with(ALERT_STATE, state), value: 1.0 });
            let since_s = alert.active_at_ms.div_euclid(1000) as f64;
            made.push(Made { labels: alert.labels.with(METRIC_NAME, ALERTS_FOR_STATE), value: since_s });
        }
        made
    }

    /// Goes on with the alerts that the rule had before its file was read again.
    pub fn adopt(&mut self, old: Self) {
        self.active = old.active;
    }
}

fn transition(rule: &str, alert: &ActiveAlert, state: AlertState) -> Transition {
    Transition {
        rule: rule.to_owned(),
        state,
        labels: alert.labels.clone(),
        annotations: alert.annotations.clone(),
        value: alert.value,
        active_at_ms: alert.active_at_ms,
        fired_at_ms: alert.fired_at_ms,
    }
}

/// The ends of all that is pending or fires.
fn ends<'a>(rule: &str, alerts: impl Iterator<Item = &'a ActiveAlert>) -> Vec<Transition> {
    let end = |alert: &ActiveAlert| match alert.state {
        AlertState::Firing => Some(transition(rule, alert, AlertState::Resolved)),
        AlertState::Pending => Some(transition(rule, alert, AlertState::Inactive)),
        AlertState::Resolved | AlertState::Inactive => None,
    };
    alerts.filter_map(end).collect()
}

fn is_kept(alert: &mut ActiveAlert, keep_firing_for_ms: i64, at_ms: i64) -> bool {
    keep_firing_for_ms > 0 && at_ms - *alert.keep_firing_since_ms.get_or_insert(at_ms) < keep_firing_for_ms
}

fn expanded(template: &Result<Template, TemplateError>, scope: &Scope<'_>) -> String {
    let expanded = template.as_ref().map_err(Clone::clone).and_then(|template| template.expand(scope));
    expanded.unwrap_or_else(|error| format!("<error expanding template: {error}>"))
}

/// The function `query` of templates. The templates of all alerts of a rule have the time of one query.
fn template_query(text: &str, store: &Store, at_ms: i64, limits: &Limits, together: &SharedTime) -> Result<Vec<VectorSample>, String> {
    let limits = together.limits(limits).map_err(|error| error.to_string())?;
    let query = Query::parse(text).map_err(|error| error.to_string())?;
    vector(query.instant(store, at_ms, &limits).map_err(|error| error.to_string())?.value)
}

/// What a rule can use: a vector, or a scalar as a vector of one series without labels.
pub(super) fn vector(value: Value) -> Result<Vec<VectorSample>, String> {
    match value {
        Value::Vector(samples) => Ok(samples),
        Value::Scalar(value) => Ok(vec![VectorSample { labels: Labels::default(), value }]),
        Value::Matrix(_) | Value::String(_) => Err("rule result is not a vector or scalar".into()),
    }
}
