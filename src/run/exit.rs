//! How a command ends.

use std::fmt;

/// Exit codes, as the help lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    Holds = 0,
    Failed = 1,
    Usage = 2,
    Differs = 3,
    Partial = 4,
}

/// A command that did not hold: its exit code, and what to print on stderr.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

impl Failure {
    pub fn usage(error: impl fmt::Display) -> Self {
        Self { code: Code::Usage, message: error.to_string() }
    }

    pub fn failed(error: impl fmt::Display) -> Self {
        Self { code: Code::Failed, message: error.to_string() }
    }
}

/// What a command returns: `Ok` holds the code of a run that went as it should, which may still be `Differs`.
pub type Outcome = Result<Code, Failure>;
