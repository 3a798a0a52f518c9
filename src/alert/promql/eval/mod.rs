//! Evaluation of a checked tree at one time after another. Series are selected once for all times.

mod aggregate;
mod binary;
mod budget;
mod calendar;
mod call;
mod extend;
mod fixed;
mod histogram;
mod info;
mod labels;
mod vector;
mod window;
mod xxhash;

use super::ast::{At, DurationExpr, Expr, Moment, Node, Reach, Selector, Subquery, Type};
use super::{Evaluated, Limits, MatrixSeries, QueryError, Value as Answer, VectorSample, text, token};
use crate::metrics::{Labels, METRIC_NAME, MatchOp, Matcher, Point, SeriesRef, Store, is_stale};
use budget::Budget;
pub use budget::SharedTime;
use fixed::Fixed;
use regex::Regex;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use vector::{Key, Sample, Table, Tags, Vector};
use window::Window;

const SAME_LABELS: &str = "vector cannot contain metrics with the same labelset";

pub type Outcome<T> = Result<T, QueryError>;

/// Times of a query: one time, or steps from a start to an end.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub start_ms: i64,
    pub end_ms: i64,
    pub step_ms: i64,
}

impl Times {
    /// One time; `step()` and `range()` are 0 there.
    pub fn instant(at_ms: i64) -> Self {
        Self { start_ms: at_ms, end_ms: at_ms, step_ms: 0 }
    }
}

/// What a query is made of, read once.
pub struct Plan<'c> {
    pub input: &'c str,
    pub expr: &'c Expr,
    /// Expressions of `label_replace`, by the place of the call.
    pub regexes: &'c BTreeMap<usize, Regex>,
}

#[derive(Clone)]
pub enum Value<'c> {
    Scalar(f64),
    Vector(Vector<'c>),
    Text(&'c [u8]),
}

/// A series of a range vector.
pub struct Row<'c> {
    tags: Tags<'c>,
    points: Vec<Point>,
}

/// Remarks, each once.
#[derive(Default)]
struct Notes {
    warnings: BTreeSet<String>,
    infos: BTreeSet<String>,
}

pub struct Evaluator<'c> {
    plan: &'c Plan<'c>,
    /// What each selector selects, by its number.
    selections: &'c [Vec<SeriesRef<'c>>],
    /// The whole store, for `info`.
    store: &'c Store,
    times: Times,
    lookback_ms: i64,
    subquery_step_ms: i64,
    /// Whether names go only when the query is done.
    delayed: bool,
    budget: Budget,
    fixed: Fixed<'c>,
    notes: RefCell<Notes>,
}

pub fn failed<T>(message: impl Into<String>) -> Outcome<T> {
    Err(QueryError { message: message.into(), offset: None })
}

/// Every selector of an expression, without deep recursion in chains.
pub fn selectors<'e>(expr: &'e Expr, found: &mut Vec<&'e Selector>) {
    visit(expr, &mut |expr| {
        if let Node::Selector(selector) | Node::Range(selector, _) = &expr.node {
            found.push(selector);
        }
    });
}

pub fn visit<'e>(expr: &'e Expr, look: &mut impl FnMut(&'e Expr)) {
    look(expr);
    match &expr.node {
        Node::Number(_) | Node::Text(_) | Node::Selector(_) | Node::Range(..) => {}
        Node::Paren(inner) | Node::Negated(inner) | Node::Plus(inner) => visit(inner, look),
        Node::Subquery(subquery) => visit(&subquery.expr, look),
        Node::Call(_, arguments) => arguments.iter().for_each(|argument| visit(argument, look)),
        Node::Aggregate(aggregate) => {
            if let Some(parameter) = &aggregate.parameter {
                visit(parameter, look);
            }
            visit(&aggregate.expr, look);
        }
        Node::Chain(first, links) => {
            visit(first, look);
            links.iter().for_each(|link| visit(&link.right, look));
        }
    }
}

/// What every selector selects, in the order of their numbers. No more series altogether than points may be loaded.
pub fn select<'s>(store: &'s Store, expr: &Expr, limits: &Limits) -> Outcome<Vec<Vec<SeriesRef<'s>>>> {
    let (mut found, budget) = (Vec::new(), Budget::new(limits));
    selectors(expr, &mut found);
    found.sort_by_key(|selector| selector.index);
    let mut selections = Vec::with_capacity(found.len());
    for selector in found {
        let selection = store.select(&selector.matchers);
        budget.spend(selection.len() + 1)?;
        selections.push(selection);
    }
    Ok(selections)
}

impl<'c> Evaluator<'c> {
    pub fn new(plan: &'c Plan<'c>, selections: &'c [Vec<SeriesRef<'c>>], store: &'c Store, times: Times, limits: &Limits) -> Self {
        let (lookback_ms, subquery_step_ms, delayed) = (limits.lookback_ms, limits.subquery_step_ms.max(1), limits.delayed_name_removal);
        let budget = Budget::new(limits);
        let fixed = Fixed::of(plan.expr);
        Self { plan, selections, store, times, lookback_ms, subquery_step_ms, delayed, budget, fixed, notes: RefCell::default() }
    }

    /// Prometheus ends a remark with the place that it is about.
    fn remark(&self, message: &str, expr: &Expr) -> String {
        format!("{message} ({})", token::place(self.plan.input, expr.start))
    }

    fn warn(&self, message: &str, expr: &Expr) {
        let remark = self.remark(&format!("PromQL warning: {message}"), expr);
        self.notes.borrow_mut().warnings.insert(remark);
    }

    fn inform(&self, message: &str, expr: &Expr) {
        let remark = self.remark(&format!("PromQL info: {message}"), expr);
        self.notes.borrow_mut().infos.insert(remark);
    }

    fn evaluated(self, value: Answer) -> Evaluated {
        let notes = self.notes.into_inner();
        Evaluated { value, warnings: notes.warnings.into_iter().collect(), infos: notes.infos.into_iter().collect() }
    }

    pub fn instant(self) -> Outcome<Evaluated> {
        let at_ms = self.times.start_ms;
        if self.plan.expr.kind() == Type::Matrix {
            let rows = self.rows(self.plan.expr.bare(), at_ms)?;
            let series = rows.into_iter().map(|row| MatrixSeries { labels: row.tags.to_labels(), points: row.points });
            let mut series: Vec<MatrixSeries> = series.collect();
            series.sort_by(|a, b| a.labels.cmp(&b.labels));
            return Ok(self.evaluated(Answer::Matrix(series)));
        }
        let answer = match self.eval(self.plan.expr, at_ms)? {
            Value::Scalar(value) => Answer::Scalar(value),
            Value::Text(bytes) => Answer::String(String::from_utf8_lossy(bytes).into_owned()),
            Value::Vector(vector) => {
                let samples = self.unique(named(vector))?.samples.into_iter();
                Answer::Vector(samples.map(|s| VectorSample { labels: s.tags.to_labels(), value: s.value }).collect())
            }
        };
        Ok(self.evaluated(answer))
    }

    pub fn range(self) -> Outcome<Evaluated> {
        let kind = self.plan.expr.kind();
        if !matches!(kind, Type::Scalar | Type::Vector) {
            let message = format!("invalid expression type {:?} for range query, must be Scalar or instant Vector", kind.documented());
            return failed(message);
        }
        let Times { start_ms, end_ms, step_ms } = self.times;
        if step_ms <= 0 {
            return failed("zero or negative query resolution step widths are not accepted. Try a positive integer");
        }
        self.budget.steps((end_ms.saturating_sub(start_ms) / step_ms).saturating_add(1))?;
        let rows = merged(self.steps(self.plan.expr, start_ms, end_ms, step_ms)?)?;
        let series = rows.into_iter().map(|row| MatrixSeries { labels: row.tags.to_labels(), points: row.points });
        let mut series: Vec<MatrixSeries> = series.collect();
        series.sort_by(|a, b| a.labels.cmp(&b.labels));
        Ok(self.evaluated(Answer::Matrix(series)))
    }

    /// An expression at every step, as rows.
    fn steps(&self, expr: &'c Expr, start_ms: i64, end_ms: i64, step_ms: i64) -> Outcome<Vec<Row<'c>>> {
        if end_ms < start_ms {
            return Ok(Vec::new());
        }
        self.budget.afford((end_ms.saturating_sub(start_ms) / step_ms).saturating_add(1))?;
        let (mut rows, mut table, all) = (Vec::<Row<'c>>::new(), Table::with_capacity(0), Key::all());
        let mut t_ms = start_ms;
        loop {
            let samples = match self.eval(expr, t_ms)? {
                Value::Scalar(value) => vec![Sample { tags: Tags::none(), value }],
                Value::Vector(vector) => vector.samples,
                Value::Text(_) => Vec::new(),
            };
            self.budget.spend(samples.len() + 1)?;
            for (i, sample) in samples.into_iter().enumerate() {
                let point = Point { t_ms, value: sample.value };
                // Most often series come in the same order at every step.
                if rows.get(i).is_some_and(|row| row.tags.is_same_place(&sample.tags)) {
                    rows[i].points.push(point);
                    continue;
                }
                let place = table.place(&all, &sample.tags);
                if place.is_new {
                    rows.push(Row { tags: sample.tags, points: vec![point] });
                } else {
                    rows[place.index].points.push(point);
                }
            }
            match t_ms.checked_add(step_ms) {
                Some(next) if next <= end_ms => t_ms = next,
                Some(_) | None => return Ok(rows),
            }
        }
    }

    fn eval(&self, expr: &'c Expr, t_ms: i64) -> Outcome<Value<'c>> {
        if self.fixed.is_empty() { self.eval_at(expr, t_ms) } else { self.fixed.value(expr, || self.eval_at(expr, t_ms)) }
    }

    fn eval_at(&self, expr: &'c Expr, t_ms: i64) -> Outcome<Value<'c>> {
        match &expr.node {
            Node::Number(value) => Ok(Value::Scalar(*value)),
            Node::Text(bytes) => Ok(Value::Text(bytes)),
            Node::Paren(inner) | Node::Plus(inner) => self.eval(inner, t_ms),
            Node::Negated(inner) => self.negated(inner, t_ms),
            Node::Selector(selector) => Ok(Value::Vector(self.selector(selector, t_ms, |point| point.value)?)),
            Node::Range(..) | Node::Subquery(_) => failed("a range vector stands where an instant vector is needed"),
            Node::Chain(first, links) => self.chain(first, links, t_ms),
            Node::Aggregate(aggregate) => Ok(Value::Vector(self.aggregate(aggregate, t_ms)?)),
            Node::Call(function, arguments) => self.call(function, arguments, expr, t_ms),
        }
    }

    fn scalar(&self, expr: &'c Expr, t_ms: i64) -> Outcome<f64> {
        match self.eval(expr, t_ms)? {
            Value::Scalar(value) => Ok(value),
            Value::Vector(_) | Value::Text(_) => failed("a scalar is needed"),
        }
    }

    fn vector(&self, expr: &'c Expr, t_ms: i64) -> Outcome<Vector<'c>> {
        match self.eval(expr, t_ms)? {
            Value::Vector(vector) => Ok(vector),
            Value::Scalar(_) | Value::Text(_) => failed("an instant vector is needed"),
        }
    }

    fn negated(&self, inner: &'c Expr, t_ms: i64) -> Outcome<Value<'c>> {
        match self.eval(inner, t_ms)? {
            Value::Scalar(value) => Ok(Value::Scalar(-value)),
            Value::Vector(vector) => Ok(Value::Vector(self.mapped(vector, |value| -value)?)),
            text @ Value::Text(_) => Ok(text),
        }
    }

    /// Each value through a function, without names.
    fn mapped(&self, mut vector: Vector<'c>, map: impl Fn(f64) -> f64) -> Outcome<Vector<'c>> {
        for sample in &mut vector.samples {
            sample.value = map(sample.value);
            sample.tags.drop_name(self.delayed);
        }
        self.unique(vector)
    }

    /// Names were dropped: no two samples may be the same now.
    fn unique(&self, vector: Vector<'c>) -> Outcome<Vector<'c>> {
        if vector.has_duplicates() {
            return failed(SAME_LABELS);
        }
        Ok(vector)
    }

    /// The time at which a selector or subquery looks when the query is at `t_ms`.
    fn reference_ms(&self, moment: &Moment, t_ms: i64) -> Outcome<i64> {
        let base = match moment.at {
            None => t_ms,
            Some(At::Ms(ms)) => ms,
            Some(At::Start) => self.times.start_ms,
            Some(At::End) => self.times.end_ms,
        };
        let offset = moment.offset.as_ref().map_or(Ok(0), |offset| self.duration_ms(offset))?;
        base.checked_sub(offset).map_or_else(|| failed("time is out of bounds"), Ok)
    }

    fn duration_ms(&self, duration: &DurationExpr) -> Outcome<i64> {
        let range_ms = self.times.end_ms.saturating_sub(self.times.start_ms);
        duration.ms(self.times.step_ms, range_ms).map_or_else(|| failed("duration out of range"), Ok)
    }

    fn positive_ms(&self, duration: &DurationExpr) -> Outcome<i64> {
        match self.duration_ms(duration)? {
            ms if ms > 0 => Ok(ms),
            _ => failed("duration must be greater than 0"),
        }
    }

    fn selector(&self, selector: &'c Selector, t_ms: i64, value_of: impl Fn(Point) -> f64) -> Outcome<Vector<'c>> {
        let until = self.reference_ms(&selector.moment, t_ms)?;
        let selection = self.selections.get(selector.index).map_or(&[][..], Vec::as_slice);
        self.budget.spend(selection.len())?;
        let mut samples = Vec::with_capacity(selection.len());
        for series in selection {
            let point = match selector.reach {
                Reach::Plain | Reach::Anchored => {
                    series.latest(until.saturating_sub(self.lookback_ms), until).filter(|point| !is_stale(point.value))
                }
                Reach::Smoothed => self.smoothed(*series, until)?,
            };
            if let Some(point) = point {
                samples.push(Sample { tags: Tags::stored(series.labels()), value: value_of(point) });
            }
        }
        Ok(Vector { samples, distinct: has_one_name(&selector.matchers) })
    }

    /// The value at a time on the line between the points around it; the last one's where none follows.
    fn smoothed(&self, series: SeriesRef<'_>, at_ms: i64) -> Outcome<Option<Point>> {
        let (after, until) = self.extended(Reach::Smoothed, at_ms, at_ms);
        let mut points = Vec::new();
        series.points(after, until, &mut points);
        self.budget.spend(points.len() + 1)?;
        points.retain(|point| !is_stale(point.value));
        Ok(extend::at(&points, at_ms))
    }

    /// From where to where points are looked at for a window, the start not included.
    fn extended(&self, reach: Reach, start_ms: i64, end_ms: i64) -> (i64, i64) {
        let (before, behind) = match reach {
            Reach::Plain => (0, 0),
            Reach::Anchored => (self.lookback_ms, 0),
            Reach::Smoothed => (self.lookback_ms, self.lookback_ms),
        };
        (start_ms.saturating_sub(before), end_ms.saturating_add(behind))
    }

    /// Calls `see` with each series of a range vector that has points in the window. `is_counter` only bears on smoothed windows' edges.
    fn windows(&self, expr: &'c Expr, t_ms: i64, is_counter: bool, mut see: impl FnMut(Tags<'c>, Window<'_>)) -> Outcome<bool> {
        match &expr.bare().node {
            Node::Range(selector, range) => {
                let end_ms = self.reference_ms(&selector.moment, t_ms)?;
                let start_ms = end_ms.saturating_sub(self.positive_ms(range)?);
                let is_extended = selector.reach != Reach::Plain;
                let (after, until) = self.extended(selector.reach, start_ms, end_ms);
                let mut points = Vec::new();
                for series in self.selections.get(selector.index).map_or(&[][..], Vec::as_slice) {
                    points.clear();
                    series.points(after, until, &mut points);
                    self.budget.spend(points.len() + 1)?;
                    points.retain(|point| !is_stale(point.value));
                    if is_extended {
                        points = extend::window(&points, start_ms, end_ms, selector.reach == Reach::Smoothed, is_counter);
                    }
                    if !points.is_empty() {
                        see(Tags::stored(series.labels()), Window { points: &points, start_ms, end_ms, is_extended });
                    }
                }
                Ok(has_one_name(&selector.matchers))
            }
            Node::Subquery(subquery) => {
                let (rows, start_ms, end_ms) = self.subquery(subquery, t_ms)?;
                for row in rows {
                    see(row.tags, Window { points: &row.points, start_ms, end_ms, is_extended: false });
                }
                Ok(false)
            }
            _ => failed("a range vector is needed"),
        }
    }

    fn subquery(&self, subquery: &'c Subquery, t_ms: i64) -> Outcome<(Vec<Row<'c>>, i64, i64)> {
        let end_ms = self.reference_ms(&subquery.moment, t_ms)?;
        let start_ms = end_ms.saturating_sub(self.positive_ms(&subquery.range)?);
        let step_ms = subquery.step.as_ref().map_or(Ok(self.subquery_step_ms), |step| self.positive_ms(step))?;
        // Steps lie on multiples of the step, and the left edge is open.
        let mut first = (start_ms / step_ms) * step_ms;
        while first <= start_ms {
            first += step_ms;
        }
        Ok((self.steps(&subquery.expr, first, end_ms, step_ms)?, start_ms, end_ms))
    }

    /// Whether any selector finds a point within its reach.
    pub fn finds_series(self, at_ms: i64) -> bool {
        let mut found = false;
        visit(self.plan.expr, &mut |expr| {
            found = found
                || match &expr.node {
                    Node::Selector(selector) => self.selector(selector, at_ms, |point| point.value).is_ok_and(|v| !v.samples.is_empty()),
                    Node::Range(..) => {
                        let mut any = false;
                        self.windows(expr, at_ms, false, |_, _| any = true).is_ok() && any
                    }
                    _ => false,
                };
        });
        found
    }

    /// A range vector as rows, for an answer of its own.
    fn rows(&self, expr: &'c Expr, t_ms: i64) -> Outcome<Vec<Row<'c>>> {
        let mut rows = Vec::new();
        self.windows(expr, t_ms, false, |tags, window| rows.push(Row { tags, points: window.points.to_vec() }))?;
        Ok(rows)
    }
}

/// Names that were to go when all is done go now.
fn named(mut vector: Vector<'_>) -> Vector<'_> {
    for sample in &mut vector.samples {
        if sample.tags.is_going() {
            sample.tags.drop_name(false);
            vector.distinct = false;
        }
    }
    vector
}

/// The same for rows: those that are one series now are put together, if they never have points at the same time.
fn merged(rows: Vec<Row<'_>>) -> Outcome<Vec<Row<'_>>> {
    if !rows.iter().any(|row| row.tags.is_going()) {
        return Ok(rows);
    }
    let (mut table, all) = (Table::with_capacity(rows.len()), Key::all());
    let mut out: Vec<Row<'_>> = Vec::with_capacity(rows.len());
    for mut row in rows {
        if row.tags.is_going() {
            row.tags.drop_name(false);
        }
        let place = table.place(&all, &row.tags);
        if place.is_new {
            out.push(row);
            continue;
        }
        let points = &mut out[place.index].points;
        points.append(&mut row.points);
        points.sort_by_key(|point| point.t_ms);
        if points.windows(2).any(|pair| pair[0].t_ms == pair[1].t_ms) {
            return failed(SAME_LABELS);
        }
    }
    Ok(out)
}

/// Whether matchers let only series of one name through.
fn has_one_name(matchers: &[Matcher]) -> bool {
    matchers.iter().any(|m| m.name == METRIC_NAME && m.op == MatchOp::Equal)
}

/// Whether a label name may be: in Prometheus 3 any text in UTF-8 but the empty one.
fn label_name(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|name| !name.is_empty())
}

/// Labels of one pair more or less.
fn with_label(tags: &Tags<'_>, name: &str, value: &str) -> Labels {
    tags.to_labels().with(name, value)
}
