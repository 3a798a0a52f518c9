//! The comparisons with numbers on which an expression stands: what a screen shows next to a threshold.

use super::Query;
use super::ast::{Expr, Link, Node, Type};
use super::token::Op;
use crate::event::Join;

/// Conditions of one expression that are looked for: each of them costs an evaluation.
const CONDITIONS_MAX: usize = 4;

/// The left side of a comparison with a number.
#[derive(Clone, Debug)]
pub struct Split {
    pub left: Query,
    /// Such as `>`.
    pub operator: &'static str,
    /// It gives 0 or 1 instead of leaving out what does not meet it.
    pub returns_bool: bool,
    pub number: f64,
    /// How it is joined to those before; of the first one this says nothing.
    pub join: Join,
    /// What the whole expression gives are values of `left`.
    pub is_result: bool,
}

/// `A / B < 0.85 and on () C > 10` has two; what stands behind `unless` is an exception and none. Empty where nothing is compared with a number.
pub(super) fn of(query: &Query) -> Vec<Split> {
    let mut finder = Finder { text: query.text(), found: Vec::new() };
    finder.expr(&query.expr, Join::And, true);
    finder.found
}

struct Finder<'q> {
    text: &'q str,
    found: Vec<Split>,
}

impl Finder<'_> {
    fn expr(&mut self, expr: &Expr, join: Join, is_result: bool) {
        let Node::Chain(first, links) = &expr.bare().node else { return };
        // Operators of a chain bind ever looser: what is compared stands before what joins.
        let at = links.iter().position(|link| link.op.is_set()).unwrap_or(links.len());
        let (compared, joined) = links.split_at(at);
        let has_or = joined.iter().any(|link| link.op == Op::Or);
        match compared.split_last() {
            Some((last, before)) => self.comparison(first, before, last, join, is_result && !has_or),
            None => self.expr(first, join, is_result && !has_or),
        }
        for link in joined {
            if link.op != Op::Unless {
                self.expr(&link.right, if link.op == Op::Or { Join::Or } else { Join::And }, false);
            }
        }
    }

    /// `first before… last`, of which the last operator compares, if there is anything to be shown.
    fn comparison(&mut self, first: &Expr, before: &[Link], last: &Link, join: Join, is_result: bool) {
        if !last.op.is_comparison() {
            return;
        }
        let Some(number) = constant(&last.right) else {
            // `0.85 > A` is `A < 0.85`.
            if let (Some(number), []) = (constant(first), before) {
                self.push((last.right.start, last.right.end), mirrored(last.op), last.return_bool, (number, join, is_result));
            }
            return;
        };
        // `(A > bool 5) == 1` is `A > 5`, but what it gives is 1.
        let asks_whether = matches!((last.op, number), (Op::Equal | Op::GreaterEqual, 1.0) | (Op::Greater | Op::NotEqual, 0.0));
        let (inner, links) = match &first.bare().node {
            Node::Chain(inner, links) if before.is_empty() => (&**inner, links.as_slice()),
            _ => (first, before),
        };
        if let Some((asked, links)) = links.split_last().filter(|(asked, _)| asks_whether && asked.return_bool) {
            let asked = Link { return_bool: false, ..asked.clone() };
            return self.comparison(inner, links, &asked, join, false);
        }
        let end = before.last().map_or(first.end, |link| link.right.end);
        self.push((first.start, end), last.op, last.return_bool, (number, join, is_result && !last.return_bool));
    }

    fn push(&mut self, (start, end): (usize, usize), op: Op, returns_bool: bool, (number, join, is_result): (f64, Join, bool)) {
        if self.found.len() >= CONDITIONS_MAX {
            return;
        }
        let left = self.text.get(start..end).and_then(|text| Query::parse(text).ok()).filter(|left| left.expr.kind() == Type::Vector);
        self.found.extend(left.map(|left| Split { left, operator: op.text(), returns_bool, number, join, is_result }));
    }
}

/// The number that an expression of numbers alone comes to.
fn constant(expr: &Expr) -> Option<f64> {
    match &expr.node {
        Node::Number(number) => Some(*number),
        Node::Paren(inner) | Node::Plus(inner) => constant(inner),
        Node::Negated(inner) => constant(inner).map(|number| -number),
        Node::Chain(first, links) => links.iter().try_fold(constant(first)?, |left, link| {
            let right = constant(&link.right)?;
            match link.op {
                Op::Add => Some(left + right),
                Op::Sub => Some(left - right),
                Op::Mul => Some(left * right),
                Op::Div => Some(left / right),
                Op::Mod => Some(left % right),
                Op::Pow => Some(left.powf(right)),
                Op::Atan2 | Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => None,
                Op::And | Op::Or | Op::Unless => None,
            }
        }),
        Node::Text(_) | Node::Selector(_) | Node::Range(..) | Node::Subquery(_) | Node::Call(..) | Node::Aggregate(_) => None,
    }
}

/// The operator with its sides changed.
fn mirrored(op: Op) -> Op {
    match op {
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        Op::Equal | Op::NotEqual | Op::And | Op::Or | Op::Unless => op,
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Pow | Op::Atan2 => op,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each condition as it is shown, joined as they are.
    fn told(text: &str) -> String {
        let told = |(n, split): (usize, &Split)| {
            let join = match (n, split.join) {
                (0, _) => "",
                (_, Join::And) => " and ",
                (_, Join::Or) => " or ",
            };
            let bool = if split.returns_bool { " bool" } else { "" };
            let result = if split.is_result { "=" } else { "" };
            format!("{join}{result}[{}] {}{bool} {}", split.left.text(), split.operator, split.number)
        };
        Query::parse(text).unwrap().conditions().iter().enumerate().map(told).collect()
    }

    #[test]
    fn what_is_compared_with_a_number_is_found_wherever_it_stands() {
        for (text, expected) in [
            ("(sum by (a) (rate(x[5m])) / 2 > 0.1)", "=[sum by (a) (rate(x[5m])) / 2] > 0.1"),
            ("x < -5", "=[x] < -5"),
            ("x > 2 * 1024 ^ 2", "=[x] > 2097152"),
            ("a / b < 0.85 and on () c > 10", "=[a / b] < 0.85 and [c] > 10"),
            ("(a > 1 and b > 2) or c > 3", "[a] > 1 and [b] > 2 or [c] > 3"),
            ("a > 5 unless on (x) b == 1", "=[a] > 5"),
            ("0.85 > a / b", "=[a / b] < 0.85"),
            ("5 <= a", "=[a] >= 5"),
            ("1 != a", "=[a] != 1"),
            ("a > bool 5", "[a] > bool 5"),
            ("(a > bool 5) == 1", "[a] > 5"),
            ("a > bool 5 == 1", "[a] > 5"),
            ("a > bool 5 == 0", "=[a > bool 5] == 0"),
            ("a and b > 1", "[b] > 1"),
            ("((a)) >= (1)", "=[((a))] >= 1"),
            ("1 < a < 5", "=[1 < a] < 5"),
            ("x", ""),
            ("x > y", ""),
            ("absent(x)", ""),
            ("vector(1) + 1", ""),
            ("scalar(x) > bool 1", ""),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn long_chains_have_the_first_few() {
        let long = vec!["a > 1"; 5_000].join(" and ");
        assert_eq!(Query::parse(&long).unwrap().conditions().len(), CONDITIONS_MAX);
    }
}
