//! Which series have which label values.

use super::{Labels, Matcher};
use crate::metrics::MatchOp;
use std::borrow::Cow;
use std::collections::HashMap;

/// Slots by label and value, each list rising.
#[derive(Debug, Default)]
pub(super) struct Postings(HashMap<Box<str>, HashMap<Box<str>, Vec<u32>>>);

impl Postings {
    pub fn add(&mut self, slot: u32, labels: &Labels) {
        for (name, value) in labels.iter() {
            // Names and values are few, series many: most are there already.
            if !self.0.contains_key(name) {
                self.0.insert(name.into(), HashMap::new());
            }
            let Some(values) = self.0.get_mut(name) else { continue };
            match values.get_mut(value) {
                Some(slots) => {
                    if let Err(at) = slots.binary_search(&slot) {
                        slots.insert(at, slot);
                    }
                }
                None => drop(values.insert(value.into(), vec![slot])),
            }
        }
    }

    /// The values that a label has.
    pub fn values(&self, label: &str) -> impl ExactSizeIterator<Item = &str> {
        static NONE: std::sync::LazyLock<HashMap<Box<str>, Vec<u32>>> = std::sync::LazyLock::new(HashMap::new);
        self.0.get(label).unwrap_or(&NONE).keys().map(AsRef::as_ref)
    }

    pub fn remove(&mut self, slot: u32, labels: &Labels) {
        for (name, value) in labels.iter() {
            let Some(values) = self.0.get_mut(name) else { continue };
            if let Some(slots) = values.get_mut(value) {
                if let Ok(at) = slots.binary_search(&slot) {
                    slots.remove(at);
                }
                if slots.is_empty() {
                    values.remove(value);
                }
            }
            if values.is_empty() {
                self.0.remove(name);
            }
        }
    }

    /// Slots among which all are that the matchers can find, and which of the matchers all of them meet. None means all slots.
    pub fn candidates(&self, matchers: &[Matcher]) -> (Option<Cow<'_, [u32]>>, Option<usize>) {
        let mut shortest: Option<(&[u32], usize)> = None;
        for (at, matcher) in matchers.iter().enumerate().filter(|(_, m)| m.op == MatchOp::Equal && !m.value.is_empty()) {
            let found = self.0.get(matcher.name.as_str()).and_then(|values| values.get(matcher.value.as_str()));
            let Some(slots) = found else { return (Some(Cow::Borrowed(&[])), None) };
            if shortest.is_none_or(|(best, _)| slots.len() < best.len()) {
                shortest = Some((slots, at));
            }
        }
        if let Some((slots, at)) = shortest {
            return (Some(Cow::Borrowed(slots)), Some(at));
        }
        // A series without the label has an empty value: where that matches, the lists do not have them all.
        let at = matchers.iter().position(|m| !m.matches(""));
        let Some(at) = at else { return (None, None) };
        (Some(Cow::Owned(self.union(&matchers[at]))), Some(at))
    }

    /// The slots of all values that a matcher meets: it is asked once a value, not once a series.
    fn union(&self, matcher: &Matcher) -> Vec<u32> {
        let Some(values) = self.0.get(matcher.name.as_str()) else { return Vec::new() };
        let mut slots: Vec<u32> = values.iter().filter(|(value, _)| matcher.matches(value)).flat_map(|(_, slots)| slots).copied().collect();
        slots.sort_unstable();
        slots
    }
}
