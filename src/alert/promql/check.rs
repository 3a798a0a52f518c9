//! Types of a tree, checked in the order in which Prometheus checks them, so that the first error is the same.

use super::ast::{Aggregate, Card, Expr, Link, Node, Selector, Type};
use super::functions::{Function, Id, Variadic};
use super::parser::{Parsed, chain_type, parse_error};
use super::text::quote;
use super::token::Aggregator;
use crate::metrics::METRIC_NAME;

pub struct Checker<'i> {
    pub input: &'i str,
}

impl Checker<'_> {
    fn fail<T>(&self, offset: usize, message: String) -> Parsed<T> {
        Err(parse_error(self.input, offset, &message))
    }

    pub fn check(&self, expr: &Expr) -> Parsed<Type> {
        match &expr.node {
            Node::Number(_) | Node::Text(_) => {}
            Node::Selector(selector) | Node::Range(selector, _) => self.selector(selector, expr)?,
            Node::Paren(inner) => drop(self.check(inner)?),
            Node::Negated(inner) | Node::Plus(inner) => {
                let kind = self.check(inner)?;
                if !matches!(kind, Type::Scalar | Type::Vector) {
                    let got = kind.documented();
                    let message = format!("unary expression only allowed on expressions of type scalar or instant vector, got {got:?}");
                    return self.fail(expr.start, message);
                }
            }
            Node::Subquery(subquery) => {
                let kind = self.check(&subquery.expr)?;
                if kind != Type::Vector {
                    return self.fail(expr.start, format!("subquery is only allowed on instant vector, got {} instead", kind.short()));
                }
            }
            Node::Aggregate(aggregate) => self.aggregate(aggregate)?,
            Node::Call(function, arguments) => self.call(function, arguments, expr)?,
            Node::Chain(first, links) => return self.chain(first, links, expr),
        }
        Ok(expr.kind())
    }

    fn expect(&self, expr: &Expr, wanted: Type, context: &str) -> Parsed<()> {
        let kind = self.check(expr)?;
        if kind == wanted {
            return Ok(());
        }
        self.fail(expr.start, format!("expected type {} in {context}, got {}", wanted.documented(), kind.documented()))
    }

    fn selector(&self, selector: &Selector, expr: &Expr) -> Parsed<()> {
        if let Some(name) = &selector.name {
            let own = selector.matchers.len() - 1;
            return match selector.matchers[..own].iter().find(|m| m.name == METRIC_NAME) {
                Some(twice) => {
                    let (first, second) = (quote(name.as_bytes()), quote(twice.value.as_bytes()));
                    self.fail(expr.start, format!("metric name must not be set twice: {first} or {second}"))
                }
                None => Ok(()),
            };
        }
        if selector.matchers.iter().all(|m| m.matches("")) {
            return self.fail(expr.start, "vector selector must contain at least one non-empty matcher".into());
        }
        Ok(())
    }

    fn aggregate(&self, aggregate: &Aggregate) -> Parsed<()> {
        self.expect(&aggregate.expr, Type::Vector, "aggregation expression")?;
        let Some(parameter) = &aggregate.parameter else { return Ok(()) };
        let wanted = if aggregate.op == Aggregator::CountValues { Type::Text } else { Type::Scalar };
        self.expect(parameter, wanted, "aggregation parameter")
    }

    fn call(&self, function: &Function, arguments: &[Expr], expr: &Expr) -> Parsed<()> {
        let (wanted, got, name) = (function.arguments.len(), arguments.len(), quote(function.name.as_bytes()));
        let at_most = match function.variadic {
            Variadic::No if wanted != got => {
                return self.fail(expr.start, format!("expected {wanted} argument(s) in call to {name}, got {got}"));
            }
            Variadic::No => wanted,
            Variadic::UpTo(_) | Variadic::Any if got + 1 < wanted => {
                return self.fail(expr.start, format!("expected at least {} argument(s) in call to {name}, got {got}", wanted - 1));
            }
            Variadic::UpTo(more) => wanted - 1 + more,
            Variadic::Any => usize::MAX,
        };
        if got > at_most {
            return self.fail(expr.start, format!("expected at most {at_most} argument(s) in call to {name}, got {got}"));
        }
        if function.id == Id::Info && got > 1 {
            self.expect(&arguments[0], Type::Vector, &format!("call to function {name}"))?;
            return self.info_labels(&arguments[1], expr);
        }
        for (i, argument) in arguments.iter().enumerate() {
            let wanted = function.arguments[i.min(wanted - 1)];
            self.expect(argument, wanted, &format!("call to function {name}"))?;
        }
        Ok(())
    }

    /// The second argument of `info` holds matchers only, which may all match the empty text.
    fn info_labels(&self, argument: &Expr, call: &Expr) -> Parsed<()> {
        if argument.kind() != Type::Vector {
            let got = argument.kind().documented();
            return self.fail(call.start, format!("expected type instant vector in call to function \"info\", got {got}"));
        }
        match &argument.node {
            Node::Selector(selector) if selector.name.is_none() => Ok(()),
            Node::Selector(_) => self.fail(argument.start, "expected label selectors only, got vector selector instead".into()),
            _ => self.fail(argument.start, "expected label selectors only".into()),
        }
    }

    fn chain(&self, first: &Expr, links: &[Link], expr: &Expr) -> Parsed<Type> {
        let mut left = self.check(first)?;
        for link in links {
            let right = self.check(&link.right)?;
            self.link(left, first, link, expr)?;
            left = chain_type(left, right);
        }
        Ok(left)
    }

    fn link(&self, left: Type, first: &Expr, link: &Link, chain: &Expr) -> Parsed<()> {
        let (right, op, matching) = (link.kind, link.op, &link.matching);
        if link.return_bool && !op.is_comparison() {
            return self.fail(link.op_start, "bool modifier can only be used on comparison operators".into());
        }
        if op.is_comparison() && !link.return_bool && left == Type::Scalar && right == Type::Scalar {
            return self.fail(link.op_start, "comparisons between scalars must use BOOL modifier".into());
        }
        if let Some(both) = matching.labels.iter().find(|label| matching.on && matching.include.contains(label)) {
            let label = quote(both.as_bytes());
            return self.fail(link.op_start, format!("label {label} must not occur in ON and GROUP clause at once"));
        }
        for (kind, start) in [(left, first.start), (right, link.right.start)] {
            if !matches!(kind, Type::Scalar | Type::Vector) {
                return self.fail(start, "binary expression must contain only scalar and instant vector types".into());
            }
        }
        let fills = matching.fill_left.is_some() || matching.fill_right.is_some();
        let vectors = left == Type::Vector && right == Type::Vector;
        let message = match () {
            () if !vectors && !matching.labels.is_empty() => "vector matching only allowed between instant vectors".into(),
            () if !vectors && fills => "filling in missing series only allowed between instant vectors".into(),
            () if !vectors && op.is_set() => format!("set operator {:?} not allowed in binary scalar expression", op.text()),
            () if op.is_set() && matches!(matching.card, Card::OneToMany | Card::ManyToOne) => {
                format!("no grouping allowed for {:?} operation", op.text())
            }
            () if op.is_set() && fills => "filling in missing series not allowed for set operators".into(),
            () => return Ok(()),
        };
        self.fail(chain.start, message)
    }
}
