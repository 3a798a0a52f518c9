//! How a command ends.

use crate::event::SafeText;
use crate::ui::output::{Output, ended_by};
use std::fmt;
use std::io::Write;

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

/// Prints a line on stdout. A reader that has seen enough, such as `head`, ends the command quietly.
pub fn say(line: impl fmt::Display) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{line}") {
        Ok(()) => Ok(()),
        Err(e) => Err(unwritten(e)),
    }
}

/// Says a line on stderr, which may be a terminal or a pipe that is gone: nothing hangs on it. What a file or a model wrote may stand in it, so it is made
/// safe first.
pub fn note(line: impl fmt::Display) {
    let line = format!("{}\n", SafeText::new(&line.to_string()));
    // After a signal nothing waits for a terminal that takes nothing.
    let _ = match ended_by() {
        Some(_) => Output::stderr().briefly().write_all(line.as_bytes()),
        None => std::io::stderr().write_all(line.as_bytes()),
    };
}

/// How a command ends that can't write its output.
pub fn unwritten(error: std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Failure { code: Code::Holds, message: String::new() };
    }
    Failure::failed(format!("the output can't be written: {error}"))
}
