//! Functions that look at labels: replacing, joining, sorting by them, and the labels of what is absent.

use super::super::ast::{Expr, Node};
use super::vector::{Tags, Vector};
use super::{Evaluator, Outcome, Value, failed, label_name, with_label};
use crate::metrics::{Labels, METRIC_NAME, MatchOp, Point};
use std::borrow::Cow;
use std::cmp::Ordering;

impl<'c> Evaluator<'c> {
    fn text(&self, expr: &'c Expr, t_ms: i64) -> Outcome<&'c [u8]> {
        match self.eval(expr, t_ms)? {
            Value::Text(bytes) => Ok(bytes),
            Value::Scalar(_) | Value::Vector(_) => failed("a string is needed"),
        }
    }

    fn label(&self, expr: &'c Expr, what: &str, t_ms: i64) -> Outcome<&'c str> {
        let bytes = self.text(expr, t_ms)?;
        label_name(bytes).map_or_else(|| failed(format!("invalid {what}: {}", String::from_utf8_lossy(bytes))), Ok)
    }

    /// A text that is made costs what points of its size cost.
    fn spend_text(&self, text: &str) -> Outcome<()> {
        self.budget.spend(text.len() / size_of::<Point>())
    }

    pub(super) fn label_replace(&self, arguments: &'c [Expr], call: &Expr, t_ms: i64) -> Outcome<Vector<'c>> {
        let [vector, target, replacement, source, regex] = arguments else { return failed("label_replace() takes five arguments") };
        let target = self.label(target, "destination label name in label_replace()", t_ms)?;
        let replacement = String::from_utf8_lossy(self.text(replacement, t_ms)?);
        let source = String::from_utf8_lossy(self.text(source, t_ms)?);
        let Some(pattern) = self.plan.regexes.get(&call.start) else {
            return failed(format!("invalid regular expression in label_replace(): {}", String::from_utf8_lossy(self.text(regex, t_ms)?)));
        };
        let mut vector = self.vector(vector, t_ms)?;
        for sample in &mut vector.samples {
            let mut value = String::new();
            match pattern.captures(sample.tags.get(&source)) {
                Some(found) => found.expand(&replacement, &mut value),
                None => continue,
            }
            self.spend_text(&value)?;
            sample.tags = relabelled(&sample.tags, target, &value);
        }
        vector.distinct = false;
        self.unique(vector)
    }

    pub(super) fn label_join(&self, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let [vector, target, separator, sources @ ..] = arguments else { return failed("label_join() takes three arguments or more") };
        let target = self.label(target, "destination label name in label_join()", t_ms)?;
        let separator = String::from_utf8_lossy(self.text(separator, t_ms)?);
        let label = |source| self.label(source, "source label name in label_join()", t_ms);
        let sources: Vec<&str> = sources.iter().map(label).collect::<Outcome<_>>()?;
        let mut vector = self.vector(vector, t_ms)?;
        for sample in &mut vector.samples {
            let values: Vec<&str> = sources.iter().map(|source| sample.tags.get(source)).collect();
            let value = values.join(&separator);
            self.spend_text(&value)?;
            sample.tags = relabelled(&sample.tags, target, &value);
        }
        vector.distinct = false;
        self.unique(vector)
    }

    pub(super) fn sort_by_label(&self, arguments: &'c [Expr], descending: bool, t_ms: i64) -> Outcome<Vector<'c>> {
        let mut vector = self.vector(&arguments[0], t_ms)?;
        let text = |argument| self.text(argument, t_ms).map(String::from_utf8_lossy);
        let labels: Vec<Cow<'c, str>> = arguments[1..].iter().map(text).collect::<Outcome<_>>()?;
        vector.samples.sort_by(|a, b| {
            let by = |order: Ordering, label: &Cow<'_, str>| order.then_with(|| natural(a.tags.get(label), b.tags.get(label)));
            // What the labels do not tell apart, all labels do.
            let order = labels.iter().fold(Ordering::Equal, by).then_with(|| a.tags.iter().cmp(b.tags.iter()));
            if descending { order.reverse() } else { order }
        });
        Ok(vector)
    }

    pub(super) fn absent(&self, argument: &'c Expr, t_ms: i64) -> Outcome<Vector<'c>> {
        if !self.vector(argument, t_ms)?.samples.is_empty() {
            return Ok(Vector::empty());
        }
        Ok(Vector::one(Tags::own(absent_labels(argument)), 1.0))
    }

    pub(super) fn absent_over_time(&self, argument: &'c Expr, t_ms: i64) -> Outcome<Vector<'c>> {
        let mut found = false;
        self.windows(argument, t_ms, false, |_, _| found = true)?;
        if found { Ok(Vector::empty()) } else { Ok(Vector::one(Tags::own(absent_labels(argument)), 1.0)) }
    }
}

/// A name that is set anew stays, whatever was to become of the old one.
fn relabelled(tags: &Tags<'_>, target: &str, value: &str) -> Tags<'static> {
    let own = Tags::own(with_label(tags, target, value));
    if tags.is_going() && target != METRIC_NAME { own.without_name(true) } else { own }
}

/// Labels that a series would have if a selector found one: what the first matcher of equality says of a label, unless another matcher
/// of that label follows.
fn absent_labels(expr: &Expr) -> Labels {
    let (Node::Selector(selector) | Node::Range(selector, _)) = &expr.bare().node else { return Labels::default() };
    let (mut labels, mut told) = (Labels::default(), Vec::new());
    for matcher in selector.matchers.iter().filter(|m| m.name != METRIC_NAME) {
        let is_first = matcher.op == MatchOp::Equal && !told.contains(&&matcher.name);
        labels = labels.with(&matcher.name, if is_first { &matcher.value } else { "" });
        if is_first {
            told.push(&matcher.name);
        }
    }
    labels
}

/// Numbers within texts by their value: `a2` before `a10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    while !a.is_empty() && !b.is_empty() {
        let (a_part, a_rest) = part(a);
        let (b_part, b_rest) = part(b);
        let are_numbers = a_part.starts_with(|c: char| c.is_ascii_digit()) && b_part.starts_with(|c: char| c.is_ascii_digit());
        let order = if are_numbers {
            let (x, y) = (a_part.trim_start_matches('0'), b_part.trim_start_matches('0'));
            x.len().cmp(&y.len()).then(x.cmp(y)).then(a_part.len().cmp(&b_part.len()))
        } else {
            a_part.cmp(b_part)
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.len().cmp(&b.len())
}

/// The run of digits, or of what is none, that a text begins with.
fn part(text: &str) -> (&str, &str) {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    text.split_at(text.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(text.len()))
}
