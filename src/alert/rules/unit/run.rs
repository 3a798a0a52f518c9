//! Running the tests of a file.

use super::file::{AlertTest, ExprTest, TestFile, TestGroup};
use crate::alert::promql::{Limits, Query, Value};
use crate::alert::rules::{Context, Group, RuleFile, format_duration};
use crate::alert::series::SeriesValue;
use crate::event::AlertState;
use crate::metrics::{Caps, Labels, Store};
use std::collections::BTreeSet;

/// Two numbers are nearly the same within this share of them.
const NEAR: f64 = 1e-6;
const ALERT_NAME: &str = "alertname";

/// How tests are looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'w> {
    /// Only labels and annotations that a test names are compared.
    pub partial: bool,
    /// Which tests run, by name; all without it.
    pub only: Option<&'w regex::Regex>,
}

/// What is not as it was to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its place among the tests that ran, from 0.
    pub number: usize,
    /// The test's name; empty where it has none.
    pub test: String,
    pub what: String,
}

#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Names of the tests that ran.
    pub tests: Vec<String>,
    pub failed: Vec<Failed>,
    /// Alerts that a test saw fire, and those that a test saw not fire.
    pub seen_firing: BTreeSet<String>,
    pub seen_quiet: BTreeSet<String>,
}

/// Labels and annotations of an alert, in their order.
type Shown = (Vec<(String, String)>, Vec<(String, String)>);

impl TestFile {
    /// Runs all tests over these rules.
    pub fn run(&self, rules: &[RuleFile], wishes: Wishes<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        for test in self.tests.iter().filter(|test| wishes.only.is_none_or(|only| only.is_match(&test.name))) {
            let number = outcome.tests.len();
            outcome.tests.push(test.name.clone());
            let mut running = Running::new(self, test, rules, wishes);
            running.run(&mut outcome);
            let failed = running.failed.into_iter().map(|what| Failed { number, test: test.name.clone(), what });
            outcome.failed.extend(failed);
        }
        outcome
    }

    /// The groups in the order in which they are evaluated: those that are named first stand first among their like.
    fn groups(&self, rules: &[RuleFile]) -> Vec<Group> {
        let place = |name: &str| self.group_eval_order.iter().position(|own| own == name).unwrap_or(0);
        let mut groups: Vec<_> = rules.iter().flat_map(|file| &file.groups).cloned().collect();
        groups.sort_by_key(|group| place(&group.name));
        groups.into_iter().map(|group| Group::new(group, self.evaluation_interval_ms)).collect()
    }
}

struct Running<'t> {
    file: &'t TestFile,
    test: &'t TestGroup,
    wishes: Wishes<'t>,
    groups: Vec<Group>,
    store: Store,
    limits: Limits,
    external_labels: Labels,
    failed: Vec<String>,
}

impl<'t> Running<'t> {
    fn new(file: &'t TestFile, test: &'t TestGroup, rules: &[RuleFile], wishes: Wishes<'t>) -> Self {
        let caps = Caps { series_max: usize::MAX, bytes_max: usize::MAX, retention_ms: i64::MAX / 4 };
        let limits = Limits { subquery_step_ms: file.evaluation_interval_ms, ..Limits::default() };
        let external_labels = Labels::from_pairs(test.external_labels.iter().map(|(name, value)| (name, value)));
        Self { file, test, wishes, groups: file.groups(rules), store: Store::new(caps), limits, external_labels, failed: Vec::new() }
    }

    fn run(&mut self, outcome: &mut Outcome) {
        if !self.load() || !self.evaluate(outcome) {
            return;
        }
        for expression in &self.test.expressions {
            self.expression(expression);
        }
    }

    /// Whether all series could be taken.
    fn load(&mut self) -> bool {
        for (labels, values) in &self.test.series {
            for (i, value) in values.iter().enumerate() {
                let t_ms = self.test.start_ms.saturating_add((i as i64).saturating_mul(self.test.interval_ms));
                let number = match value {
                    SeriesValue::Number(number) => *number,
                    SeriesValue::Omitted => continue,
                    SeriesValue::Histogram => {
                        self.failed.push(format!("    series {labels}: native histograms are not known here"));
                        return false;
                    }
                };
                if let Err(error) = self.store.append(labels, t_ms, number) {
                    self.failed.push(format!("    series {labels}: {error}"));
                    return false;
                }
            }
        }
        true
    }

    /// Evaluates the rules up to the last time that is asked about, and compares alerts on the way; false where a rule could not be evaluated.
    fn evaluate(&mut self, outcome: &mut Outcome) -> bool {
        let (test, interval_ms) = (self.test, self.file.evaluation_interval_ms);
        let asked = test.alerts.iter().map(|t| t.eval_ms).chain(test.expressions.iter().map(|t| t.eval_ms));
        let last_ms = asked.max().unwrap_or(0);
        let mut at_ms = 0;
        while at_ms <= last_ms {
            if !self.step(at_ms) {
                return false;
            }
            // A time between two evaluations sees what the one before it left.
            let due = |t: &&AlertTest| (at_ms..at_ms.saturating_add(interval_ms)).contains(&t.eval_ms);
            for alerts in test.alerts.iter().filter(due) {
                self.alerts(alerts, outcome);
            }
            at_ms = at_ms.saturating_add(interval_ms);
        }
        true
    }

    fn step(&mut self, at_ms: i64) -> bool {
        let context = Context { external_labels: &self.external_labels, external_url: &self.test.external_url, limits: &self.limits };
        let before = self.failed.len();
        for group in &mut self.groups {
            group.step(&mut self.store, self.test.start_ms.saturating_add(at_ms), &context);
            let errors =
                group.errors().map(|(rule, error)| format!("    rule: {}, time: {}, err: {error}", rule.name, format_duration(at_ms)));
            self.failed.extend(errors);
        }
        // What a test expected and did not get ends nothing.
        self.failed.len() == before
    }

    fn alerts(&mut self, test: &AlertTest, outcome: &mut Outcome) {
        let of_name = |group: &Group, i: usize| group.rules().get(i).is_some_and(|rule| rule.name == test.alert);
        let mut got: Vec<Shown> = Vec::new();
        for group in &self.groups {
            for i in (0..group.rules().len()).filter(|i| of_name(group, *i)) {
                let firing = group.alerts(i).filter(|alert| alert.state == AlertState::Firing);
                got.extend(firing.map(|alert| {
                    let labels = alert.labels.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                    let mut annotations = alert.annotations.clone();
                    annotations.sort();
                    (labels, annotations)
                }));
            }
        }
        if got.is_empty() { &mut outcome.seen_quiet } else { &mut outcome.seen_firing }.insert(test.alert.clone());
        let mut expected: Vec<Shown> = test.expected.iter().map(|e| (with_name(&e.labels, &test.alert), e.annotations.clone())).collect();
        got.sort();
        expected.sort();
        let same = if self.wishes.partial { covers(&expected, &got) } else { expected == got };
        if !same {
            let head = format!("    alertname: {}, time: {},", test.alert, format_duration(test.eval_ms));
            self.failed.push(format!("{head}\n        exp:{}\n        got:{}", shown(&expected), shown(&got)));
        }
    }

    fn expression(&mut self, test: &ExprTest) {
        let at_ms = self.test.start_ms.saturating_add(test.eval_ms);
        let value = Query::parse(&test.expr).and_then(|query| query.instant(&self.store, at_ms, &self.limits));
        let got = match value.map(|evaluated| evaluated.value) {
            Ok(Value::Vector(samples)) => samples.into_iter().map(|s| (s.labels, s.value)).collect(),
            Ok(Value::Scalar(number)) => vec![(Labels::default(), number)],
            Ok(Value::Matrix(_)) => {
                return self.failed.push(format!("    expr: {:?}, err: rule result is not a vector or scalar", test.expr));
            }
            Ok(Value::String(_)) => {
                return self.failed.push(format!("    expr: {:?}, err: rule result is not a vector or scalar", test.expr));
            }
            Err(error) => {
                return self.failed.push(format!("    expr: {:?}, time: {}, err: {error}", test.expr, format_duration(test.eval_ms)));
            }
        };
        let by_labels = |mut samples: Vec<(Labels, f64)>| {
            samples.sort_by(|a, b| a.0.cmp(&b.0));
            samples
        };
        let (got, expected) = (by_labels(got), by_labels(test.expected.iter().map(|e| (e.labels.clone(), e.value)).collect()));
        let near = |a: f64, b: f64| same_number(a, b) || self.file.fuzzy_compare && is_near(a, b);
        let same = got.len() == expected.len() && got.iter().zip(&expected).all(|(g, e)| g.0 == e.0 && near(g.1, e.1));
        if !same {
            let list = |samples: &[(Labels, f64)]| {
                let lines: Vec<String> = samples.iter().map(|(labels, value)| format!("{labels} {value:E}")).collect();
                if lines.is_empty() { "nil".to_owned() } else { lines.join(", ") }
            };
            let head = format!("    expr: {:?}, time: {},", test.expr, format_duration(test.eval_ms));
            self.failed.push(format!("{head}\n        exp: {}\n        got: {}", list(&expected), list(&got)));
        }
    }
}

fn with_name(labels: &[(String, String)], alert: &str) -> Vec<(String, String)> {
    let mut all: Vec<_> = labels.iter().filter(|(name, _)| name != ALERT_NAME).cloned().collect();
    all.push((ALERT_NAME.to_owned(), alert.to_owned()));
    all.sort();
    all
}

/// Whether each expected alert has one of its own among `got` that says all that is expected, and none is left.
fn covers(expected: &[Shown], got: &[Shown]) -> bool {
    let says = |all: &[(String, String)], some: &[(String, String)]| some.iter().all(|pair| all.contains(pair));
    let fits = |e: &Shown, g: &Shown| says(&g.0, &e.0) && says(&g.1, &e.1);
    // Each alert that fires goes to the expectation that says most of it.
    let mut open: Vec<&Shown> = expected.iter().collect();
    open.sort_by_key(|e| e.0.len() + e.1.len());
    let mut left: Vec<&Shown> = got.iter().collect();
    while let Some(wanted) = open.pop() {
        let Some(at) = left.iter().position(|g| fits(wanted, g)) else { return false };
        left.remove(at);
    }
    left.is_empty()
}

fn same_number(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= NEAR * (a.abs() + b.abs())
}

fn shown(alerts: &[Shown]) -> String {
    let set = |pairs: &[(String, String)]| {
        let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        format!("{{{}}}", pairs.join(", "))
    };
    let line = |(i, (labels, annotations)): (usize, &Shown)| {
        format!("\n            {i}:\n              Labels:{}\n              Annotations:{}", set(labels), set(annotations))
    };
    let lines: String = alerts.iter().enumerate().map(line).collect();
    if lines.is_empty() { "[]".to_owned() } else { format!("[{lines}\n            ]") }
}
