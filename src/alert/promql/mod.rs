//! PromQL over the store, with the semantics of Prometheus 3.

pub(crate) mod text;
pub(crate) mod token;

use crate::metrics::{Labels, Point, Store};
use std::time::Duration;

/// What a query may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Points that all selectors of one evaluation may load.
    pub samples_max: usize,
    /// Steps of a range query or a subquery.
    pub steps_max: usize,
    pub time_max: Duration,
    /// How far back an instant selector looks.
    pub lookback_ms: i64,
    /// Step of a subquery that names none.
    pub subquery_step_ms: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { samples_max: 50_000_000, steps_max: 11_000, time_max: Duration::from_secs(10), lookback_ms: 300_000, subquery_step_ms: 60_000 }
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

/// The left side of a comparison with a number.
#[derive(Clone, Debug)]
pub struct Split {
    pub left: Query,
    /// Such as `>`.
    pub operator: &'static str,
    pub number: f64,
}

/// An expression that was read and whose types are right.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
}

impl Query {
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self { text: text.to_owned() })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn instant(&self, _store: &Store, _at_ms: i64, _limits: &Limits) -> Result<Evaluated, QueryError> {
        Err(QueryError { message: "expressions are not evaluated yet".into(), offset: None })
    }

    /// At `start_ms`, and every `step_ms` up to `end_ms`.
    pub fn range(&self, _store: &Store, _start_ms: i64, _end_ms: i64, _step_ms: i64, _limits: &Limits) -> Result<Evaluated, QueryError> {
        Err(QueryError { message: "expressions are not evaluated yet".into(), offset: None })
    }

    /// Where the outermost operator compares with a number.
    pub fn split(&self) -> Option<Split> {
        None
    }

    /// Whether any of its selectors finds a series within its reach; true of an expression without selectors.
    pub fn finds_series(&self, _store: &Store, _at_ms: i64, _limits: &Limits) -> bool {
        true
    }
}
