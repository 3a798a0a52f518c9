//! What can be wrong with a configuration: where, what, and what to do.

use crate::event::SafeText;
use std::fmt;
use std::path::PathBuf;

/// Where the configuration is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line and column count from 1, in characters.
    File {
        name: PathBuf,
        line: usize,
        column: usize,
    },
    WholeFile(PathBuf),
    /// An environment variable.
    Env(String),
    /// A flag, with its value.
    Flag(String),
    /// Where the value of this setting came from.
    Setting {
        path: &'static str,
        origin: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { name, line, column } => write!(f, "{}:{line}:{column}", SafeText::from(name.display().to_string())),
            Place::WholeFile(name) => SafeText::from(name.display().to_string()).fmt(f),
            Place::Env(name) => write!(f, "environment variable {}", SafeText::new(name)),
            Place::Flag(text) => SafeText::new(text).fmt(f),
            Place::Setting { path, origin } => write!(f, "{path} (from {})", SafeText::new(origin)),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("can't be read: {0}")]
    Read(#[source] std::io::Error),
    #[error("is larger than {} KiB, which no configuration is; is it the right file?", super::load::FILE_BYTES_MAX / 1024)]
    TooLarge,
    #[error("is not text in UTF-8; save it as such")]
    NotText,
    #[error("not valid RON: {0}")]
    Syntax(SafeText),
    /// A name or a value that is wrong; the text says what would be right.
    #[error("{0}")]
    Setting(SafeText),
    #[error("`{found}` is not a profile; use dev, test or prod")]
    Profile { found: SafeText },
    #[error("should be section.field=value, such as `agent.temperature=0.7`")]
    NoEquals,
    #[error("has no value in the built-in defaults; this build is broken")]
    Unset,
}

/// The configuration can't be used. Displays as `place: problem`.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    pub place: Place,
    pub problem: Problem,
}
