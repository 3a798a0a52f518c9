//! What a template works with.

use super::time::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    /// What a time counts in.
    Int64(i64),
    /// What a text is made of.
    Byte(u8),
    Float(f64),
    Text(Arc<str>),
    /// A text that `safeHtml` has marked.
    Html(Arc<str>),
    /// `map[string]string`: a name that is not there is an empty text.
    Labels(Arc<BTreeMap<String, String>>),
    /// `map[string]interface{}`, of the function `args`.
    Args(Arc<BTreeMap<String, Value>>),
    Sample(Arc<Sample>),
    Samples(Arc<Vec<Arc<Sample>>>),
    Time(Time),
    /// Nanoseconds.
    Duration(i64),
    /// From 1.
    Month(i64),
    /// From 0, a Sunday.
    Weekday(i64),
    /// What a rule's template starts with.
    Data(Arc<Data>),
}

/// A result of `query`.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub labels: Arc<BTreeMap<String, String>>,
    pub value: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Data {
    pub labels: Arc<BTreeMap<String, String>>,
    pub external_labels: Arc<BTreeMap<String, String>>,
    pub external_url: Arc<str>,
    pub value: f64,
}

impl Value {
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Arc::from(text.as_ref()))
    }

    /// Go's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Byte(_) => "uint8",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::Html(_) => "template.HTML",
            Self::Labels(_) => "map[string]string",
            Self::Args(_) => "map[string]interface {}",
            Self::Sample(_) => "*template.sample",
            Self::Samples(_) => "template.queryResult",
            Self::Time(_) => "*time.Time",
            Self::Duration(_) => "time.Duration",
            Self::Month(_) => "time.Month",
            Self::Weekday(_) => "time.Weekday",
            Self::Data(_) => "struct { Labels map[string]string; ExternalLabels map[string]string; ExternalURL string; Value float64 }",
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) | Self::Int64(value) | Self::Duration(value) | Self::Month(value) | Self::Weekday(value) => *value != 0,
            Self::Byte(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) | Self::Html(text) => !text.is_empty(),
            Self::Labels(map) => !map.is_empty(),
            Self::Args(map) => !map.is_empty(),
            Self::Samples(samples) => !samples.is_empty(),
            Self::Sample(_) | Self::Time(_) | Self::Data(_) => true,
        }
    }

    /// A number that is whole by its type.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Int64(value) | Self::Duration(value) | Self::Month(value) | Self::Weekday(value) => Some(*value),
            Self::Byte(value) => Some(i64::from(*value)),
            Self::Nil
            | Self::Bool(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Html(_)
            | Self::Labels(_)
            | Self::Args(_)
            | Self::Sample(_)
            | Self::Samples(_)
            | Self::Time(_)
            | Self::Data(_) => None,
        }
    }
}
