//! Ids are newtypes, so that a step is never passed where an episode is meant.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $name {
            /// The id after this one. The last one has none after it and stays: a file may hold any number.
            pub fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }
    };
}

number_id! {
    /// Position of an event in its run. Dense: the first event is 1, each next one is one more. 0 means "before any event".
    Seq(u64)
}
number_id! {
    /// An environment slot. Lanes share the policy and are decoded as one batch. The first is 0.
    LaneId(u32)
}
number_id! {
    /// Number of an episode within its lane's run. The first is 1.
    EpisodeId(u32)
}
number_id! {
    /// Number of a decision within its episode. The first is 1; 0 is the observation of `reset`.
    StepIndex(u32)
}
number_id! {
    /// Index into a tokenizer's vocabulary.
    TokenId(u32)
}

/// A seed of an episode or a run. Written as a JSON number below 2^53 and as a string above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(#[serde(with = "super::num::integer")] pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

text_id! {
    /// Name of a checkpoint: the `id` of its manifest, such as `deckhand-final`.
    CheckpointId
}
text_id! {
    /// ULID of a run; also the id of its recording.
    RunId
}
