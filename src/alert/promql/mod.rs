//! PromQL over the store, with the semantics of Prometheus 3.

mod ast;
mod check;
mod conditions;
mod eval;
mod functions;
mod parser;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod token;

use crate::metrics::regexp::Allowance;
use crate::metrics::{Labels, METRIC_NAME, MatchOp, Matcher, Point, Store};
use ast::{Expr, Node};
pub use conditions::Split;
pub use eval::SharedTime;
use eval::{Evaluator, Plan, Times};
use functions::Id;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What a query may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Points that one evaluation may load, and steps that its subqueries may make.
    pub samples_max: usize,
    /// Steps of a range query.
    pub steps_max: usize,
    pub time_max: Duration,
    /// How far back an instant selector looks.
    pub lookback_ms: i64,
    /// Step of a subquery that names none.
    pub subquery_step_ms: i64,
    /// Whether functions and operators drop names only when the query is done: Prometheus' feature `promql-delayed-name-removal`,
    /// off by default there as here, on in Prometheus' own tests.
    pub delayed_name_removal: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            samples_max: 50_000_000,
            steps_max: 11_000,
            time_max: Duration::from_secs(10),
            lookback_ms: 300_000,
            subquery_step_ms: 60_000,
            delayed_name_removal: false,
        }
    }
}

/// Why a query can't be read or answered, in Prometheus' words where it has some.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    pub message: String,
    /// Byte offset in the expression, where it is known.
    pub offset: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VectorSample {
    pub labels: Labels,
    pub value: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MatrixSeries {
    pub labels: Labels,
    pub points: Vec<Point>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(f64),
    Vector(Vec<VectorSample>),
    Matrix(Vec<MatrixSeries>),
    String(String),
}

/// A value, and what Prometheus would remark on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    pub value: Value,
    pub warnings: Vec<String>,
    pub infos: Vec<String>,
}

/// An expression that was read and whose types are right. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Query {
    text: Arc<str>,
    expr: Arc<Expr>,
    /// Patterns of `label_replace`, by the place of the call.
    regexes: Arc<BTreeMap<usize, Regex>>,
}

impl Query {
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let expr = parser::parse(text)?;
        check::Checker { input: text }.check(&expr)?;
        Ok(Self { text: text.into(), regexes: Arc::new(patterns(&expr)), expr: Arc::new(expr) })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn instant(&self, store: &Store, at_ms: i64, limits: &Limits) -> Result<Evaluated, QueryError> {
        self.evaluator(store, Times::instant(at_ms), limits, |evaluator| evaluator.instant())?
    }

    /// At `start_ms`, and every `step_ms` up to `end_ms`.
    pub fn range(&self, store: &Store, start_ms: i64, end_ms: i64, step_ms: i64, limits: &Limits) -> Result<Evaluated, QueryError> {
        self.evaluator(store, Times { start_ms, end_ms, step_ms }, limits, |evaluator| evaluator.range())?
    }

    fn evaluator<T>(&self, store: &Store, times: Times, limits: &Limits, run: impl FnOnce(Evaluator<'_>) -> T) -> Result<T, QueryError> {
        let plan = Plan { input: &self.text, expr: &self.expr, regexes: &self.regexes };
        let selections = eval::select(store, &self.expr, limits)?;
        Ok(run(Evaluator::new(&plan, &selections, store, times, limits)))
    }

    /// The comparisons with numbers on which it stands, in the order of the text.
    pub fn conditions(&self) -> Vec<Split> {
        conditions::of(self)
    }

    /// Whether any of its selectors finds a series within its reach; true of an expression without selectors.
    pub fn finds_series(&self, store: &Store, at_ms: i64, limits: &Limits) -> bool {
        let mut found = Vec::new();
        eval::selectors(&self.expr, &mut found);
        found.is_empty() || self.evaluator(store, Times::instant(at_ms), limits, |e| e.finds_series(at_ms)).unwrap_or(true)
    }

    /// The names of series that its selectors ask for, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let is_name = |m: &&Matcher| m.name == METRIC_NAME && m.op == MatchOp::Equal;
        self.selectors().filter_map(move |matchers| matchers.iter().find(is_name)).map(|m| m.value.as_str())
    }

    /// What in it Prometheus refuses unless an experimental feature is on, in its words; unset where there is nothing such.
    pub fn experimental(&self) -> Option<QueryError> {
        let mut found: Option<QueryError> = None;
        eval::visit(&self.expr, &mut |expr| {
            let message = match &expr.node {
                Node::Call(function, _) if functions::EXPERIMENTAL.contains(&function.id) => {
                    format!("function \"{}\" is not enabled", function.name)
                }
                Node::Aggregate(aggregate) if aggregate.op.is_experimental() => {
                    let name = aggregate.op.name();
                    format!("{name}() is experimental and must be enabled with --enable-feature=promql-experimental-functions")
                }
                Node::Number(_)
                | Node::Text(_)
                | Node::Selector(_)
                | Node::Range(..)
                | Node::Subquery(_)
                | Node::Call(..)
                | Node::Aggregate(_)
                | Node::Chain(..)
                | Node::Negated(_)
                | Node::Plus(_)
                | Node::Paren(_) => return,
            };
            found.get_or_insert(parser::parse_error(&self.text, expr.start, &message));
        });
        found
    }

    /// The matchers of each selector, in the order of the text.
    pub fn selectors(&self) -> impl Iterator<Item = &[Matcher]> {
        let mut found = Vec::new();
        eval::selectors(&self.expr, &mut found);
        found.into_iter().map(|selector| selector.matchers.as_slice())
    }
}

/// Compiled once: an evaluation would spend most of its time on it.
fn patterns(expr: &Expr) -> BTreeMap<usize, Regex> {
    let (mut patterns, mut allowance) = (BTreeMap::new(), Allowance::default());
    eval::visit(expr, &mut |expr| {
        if let Node::Call(function, arguments) = &expr.node
            && function.id == Id::LabelReplace
            && let Some(Node::Text(regex)) = arguments.last().map(|argument| &argument.bare().node)
        {
            let pattern = std::str::from_utf8(regex).ok().and_then(|regex| allowance.whole(regex).ok());
            patterns.extend(pattern.map(|pattern| (expr.start, pattern)));
        }
    });
    patterns
}
