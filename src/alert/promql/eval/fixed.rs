//! Parts of an expression that are the same at every step: those whose selectors all look at a time fixed by `@`. They are evaluated
//! once in a query, however many steps it and its subqueries make.

use super::super::ast::{At, Expr, Node};
use super::super::functions::Id;
use super::{Outcome, Value};
use std::cell::RefCell;
use std::collections::HashMap;

/// Values of such parts, by the address of their node; `None` before the first evaluation.
#[derive(Default)]
pub struct Fixed<'c> {
    values: RefCell<HashMap<*const Expr, Option<Value<'c>>>>,
}

impl<'c> Fixed<'c> {
    pub fn of(expr: &'c Expr) -> Self {
        let mut values = HashMap::new();
        collect(expr, &mut values);
        Self { values: RefCell::new(values) }
    }

    /// The part's value, evaluated by `evaluate` where it is no fixed part, or where it is the first time.
    pub fn value(&self, expr: &'c Expr, evaluate: impl FnOnce() -> Outcome<Value<'c>>) -> Outcome<Value<'c>> {
        let known = self.values.borrow().get(&std::ptr::from_ref(expr)).cloned();
        match known {
            None => return evaluate(),
            Some(Some(value)) => return Ok(value),
            Some(None) => {}
        }
        let value = evaluate()?;
        self.values.borrow_mut().insert(std::ptr::from_ref(expr), Some(value.clone()));
        Ok(value)
    }

    pub fn is_empty(&self) -> bool {
        self.values.borrow().is_empty()
    }
}

/// The largest such parts.
fn collect<'c>(expr: &'c Expr, found: &mut HashMap<*const Expr, Option<Value<'c>>>) {
    if is_fixed(expr) == Some(true) {
        found.insert(std::ptr::from_ref(expr), None);
        return;
    }
    match &expr.node {
        Node::Number(_) | Node::Text(_) | Node::Selector(_) | Node::Range(..) => {}
        Node::Subquery(subquery) => collect(&subquery.expr, found),
        Node::Paren(inner) | Node::Negated(inner) | Node::Plus(inner) => collect(inner, found),
        Node::Call(_, arguments) => arguments.iter().for_each(|argument| collect(argument, found)),
        Node::Aggregate(aggregate) => {
            aggregate.parameter.iter().for_each(|parameter| collect(parameter, found));
            collect(&aggregate.expr, found);
        }
        Node::Chain(first, links) => {
            collect(first, found);
            links.iter().for_each(|link| collect(&link.right, found));
        }
    }
}

/// Whether it is the same at every step; `None` where it is a constant, which is not worth keeping.
fn is_fixed(expr: &Expr) -> Option<bool> {
    let at = |at: Option<At>| Some(at.is_some());
    match &expr.node {
        Node::Number(_) | Node::Text(_) => None,
        Node::Selector(selector) | Node::Range(selector, _) => at(selector.moment.at),
        Node::Subquery(subquery) => at(subquery.moment.at),
        Node::Paren(inner) | Node::Negated(inner) | Node::Plus(inner) => is_fixed(inner),
        Node::Call(function, arguments) => {
            let is_selector = arguments.first().is_some_and(|argument| matches!(argument.bare().node, Node::Selector(_)));
            match function.id {
                // They look at the time of the evaluation itself.
                Id::Time | Id::PredictLinear | Id::Info => Some(false),
                Id::Timestamp if !is_selector => Some(false),
                Id::Start | Id::End | Id::Step | Id::Range | Id::Pi => None,
                // A date without an argument is that of the evaluation.
                _ if arguments.is_empty() => Some(false),
                _ => all(arguments.iter().map(is_fixed)),
            }
        }
        Node::Aggregate(aggregate) => all(aggregate.parameter.iter().map(is_fixed).chain([is_fixed(&aggregate.expr)])),
        Node::Chain(first, links) => all([is_fixed(first)].into_iter().chain(links.iter().map(|link| is_fixed(&link.right)))),
    }
}

/// False where any part is not fixed, `None` where all are constants.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    parts.flatten().reduce(|a, b| a && b)
}
