//! A bounded queue: the newest entries, and how many there were in all.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Keeps the newest `capacity` entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ring<T> {
    capacity: usize,
    items: VecDeque<T>,
    /// Entries ever pushed, those that fell out included.
    total: u64,
}

/// Entries a ring keeps unless told otherwise.
const CAPACITY_DEFAULT: usize = 1024;

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self::with_capacity(CAPACITY_DEFAULT)
    }
}

impl<T> Ring<T> {
    /// # Panics
    /// Never; a capacity of 0 keeps nothing.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { capacity, items: VecDeque::new(), total: 0 }
    }

    pub fn push(&mut self, item: T) {
        self.total += 1;
        if self.capacity == 0 {
            return;
        }
        if self.items.len() == self.capacity {
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

    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.items.back_mut()
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
    pub fn pop_oldest(&mut self) -> Option<T> {
        self.items.pop_front()
    }
}
