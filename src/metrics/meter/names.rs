//! Names that come from outside become label values only up to a number of them.

use std::collections::{BTreeMap, BTreeSet};

/// Different values of one label.
const NAMES_MAX: usize = 64;
/// A longer one is no name.
const NAME_BYTES_MAX: usize = 128;
/// What stands for all others.
pub(super) const OTHER: &str = "other";

/// The first names of each label; the same events give the same ones.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<&'static str, BTreeSet<Box<str>>>);

impl Names {
    pub fn bounded<'n>(&mut self, label: &'static str, name: &'n str) -> &'n str {
        let known = self.0.entry(label).or_default();
        if known.contains(name) {
            return name;
        }
        if known.len() >= NAMES_MAX || name.len() > NAME_BYTES_MAX {
            return OTHER;
        }
        known.insert(name.into());
        name
    }
}
