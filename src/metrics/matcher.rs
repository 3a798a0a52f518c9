//! One condition on a label of a series.

use super::regexp::Allowance;
use regex::Regex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchOp {
    Equal,
    NotEqual,
    Regex,
    NotRegex,
}

#[derive(Debug, thiserror::Error)]
#[error("error parsing regexp: {0}")]
pub struct MatcherError(String);

/// `name op value`. A label that a series has not is empty.
#[derive(Clone, Debug)]
pub struct Matcher {
    pub name: String,
    pub op: MatchOp,
    pub value: String,
    /// Of the whole value, as Prometheus has it.
    regex: Option<Regex>,
}

impl Matcher {
    pub fn new(name: &str, op: MatchOp, value: &str) -> Result<Self, MatcherError> {
        Self::within(&mut Allowance::default(), name, op, value)
    }

    /// One of several: `allowance` bounds what their patterns cost together.
    pub fn within(allowance: &mut Allowance, name: &str, op: MatchOp, value: &str) -> Result<Self, MatcherError> {
        let regex = match op {
            MatchOp::Equal | MatchOp::NotEqual => None,
            MatchOp::Regex | MatchOp::NotRegex => Some(allowance.whole(value).map_err(MatcherError)?),
        };
        Ok(Self { name: name.to_owned(), op, value: value.to_owned(), regex })
    }

    pub fn matches(&self, value: &str) -> bool {
        let found = self.regex.as_ref().map_or_else(|| self.value == value, |regex| regex.is_match(value));
        match self.op {
            MatchOp::Equal | MatchOp::Regex => found,
            MatchOp::NotEqual | MatchOp::NotRegex => !found,
        }
    }
}
