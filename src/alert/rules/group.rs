//! A group of rules, evaluated in its order, with the states of its alerts.

use super::alerts::{ActiveAlert, AlertingRule, Made, Transition, vector};
use super::file::{Rule, RuleGroup};
use super::reading;
use crate::alert::promql::{Limits, Query, Split, VectorSample};
use crate::event::{
    AlertState, FurtherThreshold, RuleGroupInfo, RuleHealth, RuleInfo, RuleKind, RuleReading, SafeText, Threshold, UnknownSeries,
};
use crate::metrics::{Labels, METRIC_NAME, Store, stale};
use std::collections::HashSet;

/// What evaluations hang on beside the store.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    pub external_labels: &'c Labels,
    pub external_url: &'c str,
    pub limits: &'c Limits,
}

/// What one rule came to.
#[derive(Clone, Debug)]
pub struct RuleOutcome {
    pub reading: RuleReading,
    pub transitions: Vec<Transition>,
    /// All that is pending or fires, and what ended in the last 15 minutes.
    pub alerts: Vec<ActiveAlert>,
}

/// A group with the states of its alerts.
#[derive(Clone, Debug)]
pub struct Group {
    file: RuleGroup,
    interval_ms: i64,
    rules: Vec<State>,
    /// Series of rules that the file has no more: they end with the next evaluation, but what another rule writes by then.
    left_over: HashSet<Labels>,
}

/// What one rule's turn gave.
struct Turn {
    /// Unset where the expression failed.
    samples: Option<Vec<VectorSample>>,
    transitions: Vec<Transition>,
}

/// One rule from evaluation to evaluation.
#[derive(Clone, Debug)]
struct State {
    /// Where the expression compares with numbers.
    conditions: Vec<Split>,
    /// The name that no series had, of how many names there were then: it is looked for again when there are others.
    unknown: Option<(usize, Option<UnknownSeries>)>,
    kind: Kind,
    /// Series that its last good evaluation wrote: those that it writes no more have ended.
    written: HashSet<Labels>,
    last_error: Option<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    Alerting(Box<AlertingRule>),
    /// Labels that recorded series get, `__name__` among them.
    Recording(Vec<(String, String)>),
}

impl Group {
    pub fn new(group: RuleGroup, default_interval_ms: i64) -> Self {
        let rules = group.rules.iter().map(|rule| State::new(rule, &group.labels)).collect();
        Self { interval_ms: group.interval_ms.unwrap_or(default_interval_ms), file: group, rules, left_over: HashSet::new() }
    }

    pub fn name(&self) -> &str {
        &self.file.name
    }

    pub fn interval_ms(&self) -> i64 {
        self.interval_ms
    }

    pub fn rules(&self) -> &[Rule] {
        &self.file.rules
    }

    /// Evaluates all rules, one after the other, and writes what they record, `ALERTS` and `ALERTS_FOR_STATE` to the store. Times have to go up.
    pub fn evaluate(&mut self, store: &mut Store, at_ms: i64, context: &Context<'_>) -> Vec<RuleOutcome> {
        let outcomes = (0..self.rules.len()).map(|i| self.evaluate_rule(i, store, at_ms, context)).collect();
        self.end_left_over(store, at_ms);
        outcomes
    }

    /// `evaluate` without looking at what came out: for unit tests, which look at few times.
    pub fn step(&mut self, store: &mut Store, at_ms: i64, context: &Context<'_>) {
        for i in 0..self.rules.len() {
            self.run_rule(i, store, at_ms, context);
        }
        self.end_left_over(store, at_ms);
    }

    fn end_left_over(&mut self, store: &mut Store, at_ms: i64) {
        let asked_ms = at_ms - self.file.query_offset_ms;
        for ended in std::mem::take(&mut self.left_over) {
            if !self.writes(&ended) {
                // Where nothing more can be written, it ends by itself five minutes later.
                let _ = store.append(&ended, asked_ms, stale());
            }
        }
    }

    /// Whether a rule wrote this series when it was evaluated last.
    pub fn writes(&self, series: &Labels) -> bool {
        self.rules.iter().any(|state| state.written.contains(series))
    }

    /// The series that it wrote, when it is no more.
    pub fn into_written(self) -> impl Iterator<Item = Labels> {
        self.rules.into_iter().flat_map(|state| state.written).chain(self.left_over)
    }

    /// What is to be told should the group be no more, by the place of the rule.
    pub fn ends(&self) -> impl Iterator<Item = Transition> {
        self.rules.iter().flat_map(|state| match &state.kind {
            Kind::Alerting(alerting) => alerting.ends(),
            Kind::Recording(_) => Vec::new(),
        })
    }

    /// Rules whose last evaluation failed, with why.
    pub fn errors(&self) -> impl Iterator<Item = (&Rule, &str)> {
        self.file.rules.iter().zip(&self.rules).filter_map(|(rule, state)| Some((rule, state.last_error.as_deref()?)))
    }

    /// The alerts of a rule, by its place in the group.
    pub fn alerts(&self, rule: usize) -> impl Iterator<Item = &ActiveAlert> {
        self.rules
            .get(rule)
            .into_iter()
            .flat_map(|state| match &state.kind {
                Kind::Alerting(alerting) => Some(alerting.active.values()),
                Kind::Recording(_) => None,
            })
            .flatten()
    }

    fn evaluate_rule(&mut self, i: usize, store: &mut Store, at_ms: i64, context: &Context<'_>) -> RuleOutcome {
        let turn = self.run_rule(i, store, at_ms, context);
        let (rule, state) = (&self.file.rules[i], &mut self.rules[i]);
        let mut reading = RuleReading {
            rule: u32::try_from(i).unwrap_or(u32::MAX),
            health: RuleHealth::Error,
            error: state.last_error.as_deref().map(SafeText::new),
            value: None,
            further: Vec::new(),
            unknown: None,
            series: 0,
            pending: 0,
            firing: 0,
        };
        if let Some(samples) = &turn.samples {
            let asked_ms = at_ms - self.file.query_offset_ms;
            let read = reading::read(&rule.query, &state.conditions, samples, store, asked_ms, context);
            (reading.value, reading.further) = (read.value, read.further);
            if reading.error.is_none() {
                reading.health = read.health;
            }
            if samples.is_empty() && reading.value.is_none() {
                reading.unknown = state.unknown(&rule.query, store);
            }
            reading.series = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        }
        let alerts: Vec<ActiveAlert> = self.alerts(i).cloned().collect();
        let count = |state| u32::try_from(alerts.iter().filter(|alert| alert.state == state).count()).unwrap_or(u32::MAX);
        (reading.pending, reading.firing) = (count(AlertState::Pending), count(AlertState::Firing));
        RuleOutcome { reading, transitions: turn.transitions, alerts }
    }

    /// The error, if there is one, is kept as the rule's last one.
    fn run_rule(&mut self, i: usize, store: &mut Store, at_ms: i64, context: &Context<'_>) -> Turn {
        let times = (at_ms, at_ms - self.file.query_offset_ms);
        let state = &mut self.rules[i];
        state.last_error = None;
        match state.run(&self.file.rules[i].query, store, times, self.file.limit, context) {
            Ok(turn) => turn,
            Err(error) => {
                state.last_error = Some(error);
                Turn { samples: None, transitions: Vec::new() }
            }
        }
    }

    /// Takes over what the group was in the file that was read before: alerts of rules that did not change go on, series of rules that are gone end at the
    /// next evaluation.
    pub fn adopt(&mut self, old: Self) {
        let labels = old.file.labels.clone();
        let mut before: Vec<Option<(Rule, State)>> = old.file.rules.into_iter().zip(old.rules).map(Some).collect();
        for (rule, state) in self.file.rules.iter().zip(&mut self.rules) {
            let same = before
                .iter_mut()
                .find(|candidate| candidate.as_ref().is_some_and(|(known, _)| known.is_same(rule) && labels == self.file.labels));
            if let Some((_, old)) = same.and_then(Option::take) {
                state.adopt(old);
            }
        }
        let of_others = before.into_iter().flatten().flat_map(|(_, state)| state.written);
        self.left_over = of_others.chain(old.left_over).collect();
    }

    /// For the event `RulesLoaded`.
    pub fn info(&self) -> RuleGroupInfo {
        let rules = self.file.rules.iter().zip(&self.rules);
        RuleGroupInfo {
            name: SafeText::new(&self.file.name),
            interval_ms: u64::try_from(self.interval_ms).unwrap_or(0),
            rules: rules.map(|(rule, state)| info(rule, state, &self.file.labels)).collect(),
        }
    }
}

impl State {
    fn new(rule: &Rule, group_labels: &[(String, String)]) -> Self {
        let labels = all_labels(rule, group_labels);
        let kind = match rule.kind {
            RuleKind::Alert => Kind::Alerting(Box::new(AlertingRule::new(rule, &labels))),
            RuleKind::Record => Kind::Recording([(METRIC_NAME.to_owned(), rule.name.clone())].into_iter().chain(labels).collect()),
        };
        Self { conditions: rule.query.conditions(), unknown: None, kind, written: HashSet::new(), last_error: None }
    }

    /// The name in its expression that no series has.
    fn unknown(&mut self, query: &Query, store: &Store) -> Option<UnknownSeries> {
        let names = store.names().len();
        if self.unknown.as_ref().is_none_or(|(before, _)| *before != names) {
            self.unknown = Some((names, reading::unknown(query, store)));
        }
        self.unknown.as_ref().and_then(|(_, unknown)| unknown.clone())
    }

    /// `times`: of the evaluation, and of what is asked.
    fn run(&mut self, query: &Query, store: &mut Store, times: (i64, i64), limit: usize, context: &Context<'_>) -> Result<Turn, String> {
        let asked_ms = times.1;
        let evaluated = query.instant(store, asked_ms, context.limits).map_err(|error| error.to_string())?;
        let samples = vector(evaluated.value)?;
        let (made, transitions, result) = match &mut self.kind {
            Kind::Alerting(alerting) => {
                let advanced = alerting.evaluate(&samples, store, times, limit, context)?;
                (advanced.made, advanced.transitions, advanced.result)
            }
            Kind::Recording(labels) => (recorded(labels, &samples, limit)?, Vec::new(), Ok(())),
        };
        // A series that can't be written is an error of the rule; what has begun to fire fires all the same.
        self.last_error = match result {
            Ok(()) => self.write(made, store, asked_ms).err(),
            Err(error) => Some(error),
        };
        Ok(Turn { samples: Some(samples), transitions })
    }

    /// Writes samples, and ends the series that are there no more.
    fn write(&mut self, made: Vec<Made>, store: &mut Store, at_ms: i64) -> Result<(), String> {
        let mut refused = Ok(());
        let mut written = HashSet::with_capacity(made.len());
        for sample in made {
            if let Err(error) = store.append(&sample.labels, at_ms, sample.value) {
                refused = Err(format!("{}: {error}", sample.labels));
            }
            written.insert(sample.labels);
        }
        for ended in self.written.difference(&written) {
            // Where nothing more can be written, it ends by itself five minutes later.
            let _ = store.append(ended, at_ms, stale());
        }
        self.written = written;
        refused
    }

    fn adopt(&mut self, old: Self) {
        self.written = old.written;
        self.last_error = old.last_error;
        if let (Kind::Alerting(own), Kind::Alerting(old)) = (&mut self.kind, old.kind) {
            own.adopt(*old);
        }
    }
}

/// Labels of the group and of the rule, which has the last word.
fn all_labels(rule: &Rule, group_labels: &[(String, String)]) -> Vec<(String, String)> {
    let of_both: std::collections::BTreeMap<String, String> = group_labels.iter().chain(&rule.labels).cloned().collect();
    of_both.into_iter().collect()
}

fn recorded(labels: &[(String, String)], samples: &[VectorSample], limit: usize) -> Result<Vec<Made>, String> {
    let mut seen = HashSet::new();
    let mut made = Vec::with_capacity(samples.len());
    for sample in samples {
        let all = labels.iter().fold(sample.labels.clone(), |all, (name, value)| all.with(name, value));
        if !seen.insert(all.clone()) {
            return Err("vector contains metrics with the same labelset after applying rule labels".into());
        }
        made.push(Made { labels: all, value: sample.value });
    }
    if limit > 0 && made.len() > limit {
        return Err(format!("exceeded limit of {limit} with {} series", made.len()));
    }
    Ok(made)
}

fn info(rule: &Rule, state: &State, group_labels: &[(String, String)]) -> RuleInfo {
    let set = |pairs: &[(String, String)]| pairs.iter().map(|(name, value)| (SafeText::new(name), SafeText::new(value))).collect();
    RuleInfo {
        name: SafeText::new(&rule.name),
        kind: rule.kind,
        expr: SafeText::new(rule.query.text()),
        for_ms: u64::try_from(rule.for_ms).unwrap_or(0),
        keep_firing_for_ms: u64::try_from(rule.keep_firing_for_ms).unwrap_or(0),
        labels: set(&all_labels(rule, group_labels)),
        annotations: set(&rule.annotations),
        threshold: state.conditions.first().map(threshold),
        further: state.conditions.iter().skip(1).map(|split| FurtherThreshold { join: split.join, threshold: threshold(split) }).collect(),
    }
}

fn threshold(split: &Split) -> Threshold {
    let operator = if split.returns_bool { format!("{} bool", split.operator) } else { split.operator.to_owned() };
    Threshold { left: SafeText::new(split.left.text()), operator: operator.into(), number: split.number }
}
