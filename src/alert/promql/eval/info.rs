//! `info()`: labels of info metrics, joined by the labels that identify who they are about.

use super::super::ast::{Expr, Node};
use super::vector::{Key, Sample, Table, Tags, Vector};
use super::{Evaluator, Outcome, failed};
use crate::metrics::{Labels, METRIC_NAME, MatchOp, Matcher, Point, is_stale};

/// Labels by which an info metric is found. Prometheus knows no others yet either.
const IDENTIFYING: [&str; 2] = ["instance", "job"];
/// The metric that is joined unless the second argument names another.
const DEFAULT_NAME: &str = "target_info";
const INFO_SUFFIX: &str = "_info";

impl<'c> Evaluator<'c> {
    pub(super) fn info(&self, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let base = self.vector(&arguments[0], t_ms)?;
        let wanted: &[Matcher] = match arguments.get(1).map(|argument| &argument.node) {
            None => &[],
            Some(Node::Selector(selector)) => &selector.matchers,
            Some(_) => return failed("expected label selectors only"),
        };
        let infos = self.info_series(&arguments[0], wanted, t_ms)?;
        let identifying: Vec<String> = IDENTIFYING.iter().map(|label| (*label).to_owned()).collect();
        let key = Key::of_matching(true, &identifying);
        let is_about = |sample: &Sample<'_>| IDENTIFYING.iter().any(|label| !sample.tags.get(label).is_empty());
        let mut table = Table::with_capacity(infos.len());
        let mut groups: Vec<Vec<(Tags<'_>, i64)>> = Vec::new();
        for (tags, t_ms) in infos {
            let place = table.place(&key, &tags);
            if place.is_new {
                groups.push(Vec::new());
            }
            groups[place.index].push((tags, t_ms));
        }
        let (mut samples, must_match) = (Vec::with_capacity(base.samples.len()), needs_match(wanted));
        for mut sample in base.samples {
            let is_info = is_info_name(sample.tags.name(), wanted);
            let found = table.find(&key, &sample.tags).filter(|_| is_about(&sample) && !is_info);
            match found {
                Some(at) => sample.tags = Tags::own(joined(&sample.tags, &groups[at], wanted)?),
                None if must_match && !is_info => continue,
                None => {}
            }
            samples.push(sample);
        }
        self.unique(Vector { samples, distinct: false })
    }

    fn info_series(&self, base: &Expr, wanted: &[Matcher], t_ms: i64) -> Outcome<Vec<(Tags<'_>, i64)>> {
        let mut matchers: Vec<Matcher> = wanted.iter().filter(|m| !m.matches("") || m.name == METRIC_NAME).cloned().collect();
        matchers.extend(match name_rule(wanted) {
            NameRule::Default => Matcher::new(METRIC_NAME, MatchOp::Equal, DEFAULT_NAME).ok(),
            NameRule::AnyInfo => Matcher::new(METRIC_NAME, MatchOp::Regex, &format!(".+{INFO_SUFFIX}")).ok(),
            NameRule::Named => None,
        });
        // The info metrics are looked at when the first selector of the base looks.
        let mut selectors = Vec::new();
        super::selectors(base, &mut selectors);
        let until = selectors.first().map_or(Ok(t_ms), |selector| self.reference_ms(&selector.moment, t_ms))?;
        let after = until.saturating_sub(self.lookback_ms);
        let alive = |point: &Point| !is_stale(point.value);
        let selected = self.store.select(&matchers).into_iter();
        let found =
            selected.filter_map(|series| Some((Tags::own(series.labels().clone()), series.latest(after, until).filter(alive)?.t_ms)));
        Ok(found.collect())
    }
}

/// Whether a series without an info metric is let go: where a matcher asks for a label that only such a metric could give.
fn needs_match(wanted: &[Matcher]) -> bool {
    wanted.iter().any(|m| m.name != METRIC_NAME && !m.matches(""))
}

/// Which names info metrics have.
enum NameRule {
    /// None is told.
    Default,
    /// It is only told which they have not.
    AnyInfo,
    Named,
}

fn name_rule(wanted: &[Matcher]) -> NameRule {
    let mut of_name = wanted.iter().filter(|m| m.name == METRIC_NAME).peekable();
    if of_name.peek().is_none() {
        NameRule::Default
    } else if of_name.any(|m| matches!(m.op, MatchOp::Equal | MatchOp::Regex)) {
        NameRule::Named
    } else {
        NameRule::AnyInfo
    }
}

/// An info metric itself is not joined with one.
fn is_info_name(name: &str, wanted: &[Matcher]) -> bool {
    let meets_all = || wanted.iter().filter(|m| m.name == METRIC_NAME).all(|m| m.matches(name));
    match name_rule(wanted) {
        NameRule::Default => name == DEFAULT_NAME,
        NameRule::AnyInfo => name.ends_with(INFO_SUFFIX) && meets_all(),
        NameRule::Named => meets_all(),
    }
}

/// The base's labels, and those of the info metrics that were asked for and that it has not. Of two series of one info metric the newer counts.
fn joined(base: &Tags<'_>, infos: &[(Tags<'_>, i64)], wanted: &[Matcher]) -> Outcome<Labels> {
    let mut labels = base.to_labels();
    let mut by_name: Vec<(&str, &Tags<'_>, i64)> = Vec::new();
    for (tags, t_ms) in infos {
        match by_name.iter_mut().find(|(name, ..)| *name == tags.name()) {
            Some((_, _, kept)) if *kept == *t_ms => {
                return failed(format!("found duplicate series for info metric {}: {} @ {t_ms}", tags.name(), tags.print()));
            }
            Some(kept) if kept.2 < *t_ms => *kept = (tags.name(), tags, *t_ms),
            Some(_) => {}
            None => by_name.push((tags.name(), tags, *t_ms)),
        }
    }
    let asked = |name: &str| {
        let mut told = wanted.iter().filter(|m| m.name != METRIC_NAME).peekable();
        told.peek().is_none() || told.any(|m| m.name == name)
    };
    for (_, tags, _) in by_name {
        for (name, value) in tags.iter().filter(|(name, _)| *name != METRIC_NAME && !IDENTIFYING.contains(name) && asked(name)) {
            match labels.get(name) {
                None => labels = labels.with(name, value),
                Some(own) if base.get(name).is_empty() && own != value => return failed(format!("conflicting label: {name}")),
                Some(_) => {}
            }
        }
    }
    Ok(labels)
}
