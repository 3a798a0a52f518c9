//! A bounded queue: the newest entries, and how many there were in all.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Entries a ring keeps unless told otherwise.
const CAPACITY_DEFAULT: usize = 1024;

/// Keeps the newest `CAPACITY` entries. The capacity is the program's and never a file's: it is part of the type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept<T>")]
pub struct Ring<T, const CAPACITY: usize = CAPACITY_DEFAULT> {
    items: VecDeque<T>,
    /// Entries ever pushed, those that fell out included.
    total: u64,
}

/// What a file says of a ring.
#[derive(Deserialize)]
struct Kept<T> {
    items: VecDeque<T>,
    total: u64,
}

impl<T, const CAPACITY: usize> From<Kept<T>> for Ring<T, CAPACITY> {
    fn from(mut kept: Kept<T>) -> Self {
        let total = kept.total.max(kept.items.len() as u64);
        let surplus = kept.items.len().saturating_sub(CAPACITY);
        kept.items.drain(..surplus);
        Self { items: kept.items, total }
    }
}

impl<T, const CAPACITY: usize> Default for Ring<T, CAPACITY> {
    fn default() -> Self {
        Self { items: VecDeque::new(), total: 0 }
    }
}

impl<T, const CAPACITY: usize> Ring<T, CAPACITY> {
    pub fn push(&mut self, item: T) {
        self.total = self.total.saturating_add(1);
        if CAPACITY == 0 {
            return;
        }
        if self.items.len() >= CAPACITY {
            self.items.pop_front();
        }
        self.items.push_back(item);
    }

    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.items.iter()
    }

    pub fn last(&self) -> Option<&T> {
        self.items.back()
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(index)
    }

    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index)
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Takes out the oldest entry.
    /// Takes the newest one away, as if it had never been pushed.
    pub fn pop_newest(&mut self) -> Option<T> {
        let newest = self.items.pop_back();
        self.total = self.total.saturating_sub(u64::from(newest.is_some()));
        newest
    }

    pub fn pop_oldest(&mut self) -> Option<T> {
        self.items.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_neither_the_capacity_nor_fewer_pushes_than_it_holds() {
        let text = r#"{"capacity":18446744073709551615,"items":[1,2,3,4],"total":1}"#;
        let mut ring: Ring<u8, 3> = serde_json::from_str(text).unwrap();
        assert_eq!((ring.iter().copied().collect::<Vec<_>>(), ring.total()), (vec![2, 3, 4], 4));
        ring.push(5);
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [3, 4, 5]);
        let mut full: Ring<u8, 3> = serde_json::from_str(r#"{"items":[],"total":18446744073709551615}"#).unwrap();
        full.push(1);
        assert_eq!(full.total(), u64::MAX);
    }
}
