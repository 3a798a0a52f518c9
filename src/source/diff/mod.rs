//! What tells two episodes, or two recordings, apart: what was decided and what came of it, step by step. What hangs on the clock is no
//! difference; it is cost.
//!
//! Decisions are laid side by side by their numbers while nothing differs, and at the first step that does. Behind it they are laid side by
//! side by what was done (`similar`, patience): one call more or less shifts what follows, and does not make all of it differ.

mod address;
mod align;
mod compare;
mod compared;
mod episodes;
mod recordings;
pub mod records;
mod story;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub use crate::event::Address;
pub use address::Typed;
pub use compare::{Difference, Part, Saw, differences};
pub use compared::{Comparison, Found, Named, PAIRS_MAX, Piece, compare, episodes, recordings};
pub use episodes::{Cost, EpisodeDiff, First, Given, Mark, Row};
pub use recordings::{PairDiff, RecordingDiff, Side, Unpaired, compare_all, given_of};
pub use story::{Decision, Story, Survey};
pub use words::{Token, TokenPair, WordDiff, token_diff, tokens};

use crate::event::{EpisodeId, LaneId};
use crate::journal::ReadError;

#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("there is no episode {address} in {name}; it has {there}")]
    NoEpisode { address: Address, name: String, there: String },
    #[error("episode {address} of {name} is no branch: name what it is to be compared with")]
    NoBranch { address: Address, name: String },
    #[error("a recording can't be compared with an episode: name two recordings, or an episode of each")]
    Kinds,
    #[error("cancelled")]
    Cancelled,
}

/// Asked now and then; work stops where it says true.
pub type Cancel<'a> = &'a dyn Fn() -> bool;

/// Where an episode is in a recording.
pub type Place = (LaneId, EpisodeId);
