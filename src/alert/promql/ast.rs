//! The tree of an expression: every node with its place and its type.

use super::functions::Function;
use super::token::{Aggregator, Op};
use crate::metrics::Matcher;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Scalar,
    Vector,
    Matrix,
    Text,
}

impl Type {
    /// As Prometheus' errors name it.
    pub fn documented(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Vector => "instant vector",
            Self::Matrix => "range vector",
            Self::Text => "string",
        }
    }

    pub fn short(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Vector => "vector",
            Self::Matrix => "matrix",
            Self::Text => "string",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub node: Node,
    /// Byte offsets in the text.
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug)]
pub enum Node {
    Number(f64),
    /// Bytes, for Go's strings need not be UTF-8.
    Text(Vec<u8>),
    Selector(Selector),
    Range(Selector, DurationExpr),
    Subquery(Box<Subquery>),
    Call(&'static Function, Vec<Expr>),
    Aggregate(Box<Aggregate>),
    /// Operators from left to right: `a + b - c` is a, then `+ b`, then `- c`. A flat list, so that a long chain needs no deep recursion.
    Chain(Box<Expr>, Vec<Link>),
    Negated(Box<Expr>),
    /// Unary plus.
    Plus(Box<Expr>),
    Paren(Box<Expr>),
}

impl Expr {
    pub fn kind(&self) -> Type {
        match &self.node {
            Node::Number(_) => Type::Scalar,
            Node::Text(_) => Type::Text,
            Node::Selector(_) | Node::Aggregate(_) => Type::Vector,
            Node::Range(..) | Node::Subquery(_) => Type::Matrix,
            Node::Call(function, _) => function.returns,
            Node::Chain(first, links) => {
                let all_scalar = links.iter().all(|link| link.kind == Type::Scalar);
                if all_scalar && first.kind() == Type::Scalar { Type::Scalar } else { Type::Vector }
            }
            Node::Negated(inner) | Node::Plus(inner) | Node::Paren(inner) => inner.kind(),
        }
    }

    /// Without the parentheses around it.
    pub fn bare(&self) -> &Self {
        let mut expr = self;
        while let Node::Paren(inner) = &expr.node {
            expr = inner;
        }
        expr
    }
}

/// Where in time a selector or subquery looks.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    pub offset: Option<DurationExpr>,
    pub at: Option<At>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Ms(i64),
    Start,
    End,
}

/// How a selector's window is extended: Prometheus' experimental words behind a selector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Plain,
    /// To the last point at or before the window's start.
    Anchored,
    /// The same at both ends, with values on the straight line between the neighbouring points.
    Smoothed,
}

impl Reach {
    pub fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Anchored => "anchored",
            Self::Smoothed => "smoothed",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Selector {
    /// The name in front of the braces.
    pub name: Option<String>,
    pub matchers: Vec<Matcher>,
    pub moment: Moment,
    pub reach: Reach,
    /// Its number in the expression, from 0.
    pub index: usize,
}

#[derive(Clone, Debug)]
pub struct Subquery {
    pub expr: Expr,
    pub range: DurationExpr,
    pub step: Option<DurationExpr>,
    pub moment: Moment,
}

#[derive(Clone, Debug)]
pub struct Aggregate {
    pub op: Aggregator,
    pub grouping: Grouping,
    pub parameter: Option<Expr>,
    pub expr: Expr,
}

/// `by (…)` or `without (…)`; labels are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    pub without: bool,
    pub labels: Vec<String>,
}

/// An operator and its right side.
#[derive(Clone, Debug)]
pub struct Link {
    pub op: Op,
    /// Where the operator's word stands.
    pub op_start: usize,
    pub return_bool: bool,
    pub matching: Matching,
    pub right: Expr,
    /// Of the right side.
    pub kind: Type,
}

/// How many series of a side may match one of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Card {
    #[default]
    OneToOne,
    ManyToOne,
    OneToMany,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matching {
    pub card: Card,
    /// `on` rather than `ignoring`.
    pub on: bool,
    pub labels: Vec<String>,
    pub include: Vec<String>,
    pub fill_left: Option<f64>,
    pub fill_right: Option<f64>,
}

/// A duration, which may be computed: `5m`, `2 * 30s`, `step()`.
#[derive(Clone, Debug, PartialEq)]
pub enum DurationExpr {
    Seconds(f64),
    Step,
    /// Of the query, from its start to its end.
    Range,
    Negated(Box<DurationExpr>),
    Binary(Op, Box<DurationExpr>, Box<DurationExpr>),
    Min(Box<DurationExpr>, Box<DurationExpr>),
    Max(Box<DurationExpr>, Box<DurationExpr>),
}

impl DurationExpr {
    /// In milliseconds; `None` where it divides by zero or leaves what a duration can hold.
    pub fn ms(&self, step_ms: i64, range_ms: i64) -> Option<i64> {
        let seconds = self.seconds(step_ms, range_ms)?;
        // Go's limit: 64 bits of nanoseconds.
        (seconds.is_finite() && seconds.abs() < 9.2e9).then(|| (seconds * 1000.0).round() as i64)
    }

    /// In seconds, where it is constant and can be worked out.
    pub fn constant(&self) -> Option<f64> {
        if self.is_constant() { self.seconds(0, 0) } else { None }
    }

    fn seconds(&self, step_ms: i64, range_ms: i64) -> Option<f64> {
        let value = |expr: &Self| expr.seconds(step_ms, range_ms);
        Some(match self {
            Self::Seconds(seconds) => *seconds,
            Self::Step => step_ms as f64 / 1000.0,
            Self::Range => range_ms as f64 / 1000.0,
            Self::Negated(inner) => -value(inner)?,
            Self::Min(a, b) => value(a)?.min(value(b)?),
            Self::Max(a, b) => value(a)?.max(value(b)?),
            Self::Binary(op, a, b) => {
                let (a, b) = (value(a)?, value(b)?);
                match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div if b != 0.0 => a / b,
                    Op::Mod if b != 0.0 => a % b,
                    Op::Pow => a.powf(b),
                    _ => return None,
                }
            }
        })
    }

    /// Whether it hangs on the query's times.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Seconds(_) => true,
            Self::Step | Self::Range => false,
            Self::Negated(inner) => inner.is_constant(),
            Self::Binary(_, a, b) | Self::Min(a, b) | Self::Max(a, b) => a.is_constant() && b.is_constant(),
        }
    }
}
