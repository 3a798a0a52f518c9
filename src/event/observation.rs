//! What an environment shows: a named numeric vector with units, and the same in words.

use super::SafeText;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How hard an environment is: size, noise, delay, number of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    #[default]
    L0,
    L1,
    L2,
    L3,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::L0, Level::L1, Level::L2, Level::L3];
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromStr for Level {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Level::ALL
            .into_iter()
            .find(|l| l.to_string().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("`{text}` is not a level; use L0, L1, L2 or L3"))
    }
}

/// Unit of one number of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Milliseconds,
    Seconds,
    PerSecond,
    /// A share in [0, 1].
    Ratio,
    Count,
    Bytes,
    None,
}

/// Name and unit of one number of an observation, such as `checkout.p95` in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationField {
    pub name: String,
    pub unit: Unit,
}

/// One observation. Its field names and units are the episode's (`EpisodeStarted::fields`), in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The numbers, one a field; `None` where the environment had no reading.
    #[serde(with = "super::num::readings")]
    pub values: Vec<Option<f64>>,
    /// For people: full words and units.
    pub text: SafeText,
    /// For the model: the compact form that its tokenizer was made for.
    pub compact: SafeText,
}
