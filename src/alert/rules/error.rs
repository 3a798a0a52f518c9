//! What is wrong with a rule file, where.

use crate::alert::yaml::{Place, YamlError};
use std::fmt;

/// One fault, in promtool's words where it has some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleError {
    /// From 1; 0 where no place is known.
    pub line: usize,
    pub column: usize,
    pub group: Option<String>,
    /// Of a rule in its group: its number from 1, and its name.
    pub rule: Option<(usize, String)>,
    pub message: String,
}

impl RuleError {
    pub(super) fn at(place: Place, message: impl Into<String>) -> Self {
        Self { line: place.line, column: place.column, message: message.into(), ..Self::default() }
    }
}

impl From<YamlError> for RuleError {
    fn from(error: YamlError) -> Self {
        Self::at(error.place, error.to_string())
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        if let Some(group) = &self.group {
            write!(f, "group {group:?}, ")?;
        }
        if let Some((number, name)) = &self.rule {
            write!(f, "rule {number}, {name:?}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuleError {}
