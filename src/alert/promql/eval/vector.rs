//! Samples whose labels are borrowed from the store as long as nothing changes them, and tables that group them without building labels.

use super::super::ast::Grouping;
use crate::metrics::{Labels, METRIC_NAME};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Labels of what a series is, not of whose it is: name, type and unit. They go together once a value is no longer the series' own.
const METADATA: [&str; 3] = [METRIC_NAME, "__type__", "__unit__"];

fn is_metadata(name: &str) -> bool {
    name.starts_with("__") && METADATA.contains(&name)
}

#[derive(Clone, Debug)]
enum Tag<'c> {
    Stored(&'c Labels),
    Own(Labels),
}

/// What becomes of the name, the type and the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Kept,
    /// It still counts, and goes when the query is done (Prometheus' feature `promql-delayed-name-removal`).
    Going,
    /// It is there, and no longer looked at: nothing is copied.
    Gone,
}

/// Labels, possibly without the name.
#[derive(Clone, Debug)]
pub struct Tags<'c> {
    tag: Tag<'c>,
    fate: Name,
}

impl<'c> Tags<'c> {
    pub fn stored(labels: &'c Labels) -> Self {
        Self { tag: Tag::Stored(labels), fate: Name::Kept }
    }

    pub fn own(labels: Labels) -> Self {
        Self { tag: Tag::Own(labels), fate: Name::Kept }
    }

    pub fn none() -> Self {
        Self::own(Labels::default())
    }

    fn labels(&self) -> &Labels {
        match &self.tag {
            Tag::Stored(labels) => labels,
            Tag::Own(labels) => labels,
        }
    }

    pub fn get(&self, name: &str) -> &str {
        if self.fate == Name::Gone && is_metadata(name) { "" } else { self.labels().get(name).unwrap_or_default() }
    }

    pub fn name(&self) -> &str {
        self.get(METRIC_NAME)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels().iter().filter(|(name, _)| self.fate != Name::Gone || !is_metadata(name))
    }

    /// Drops the name, at once or when the query is done.
    pub fn drop_name(&mut self, delayed: bool) {
        self.fate = if delayed && self.fate != Name::Gone { Name::Going } else { Name::Gone };
    }

    pub fn without_name(mut self, delayed: bool) -> Self {
        self.drop_name(delayed);
        self
    }

    pub fn is_going(&self) -> bool {
        self.fate == Name::Going
    }

    pub fn to_labels(&self) -> Labels {
        if self.fate == Name::Gone && self.labels().iter().any(|(name, _)| is_metadata(name)) {
            self.labels().filtered(|name| !is_metadata(name))
        } else {
            self.labels().clone()
        }
    }

    /// Whether they are of the same series of the store, by address: a quick yes.
    pub fn is_same_place(&self, other: &Self) -> bool {
        match (&self.tag, &other.tag) {
            (Tag::Stored(own), Tag::Stored(their)) => std::ptr::eq(*own, *their) && self.fate == other.fate,
            (Tag::Stored(_) | Tag::Own(_), Tag::Stored(_) | Tag::Own(_)) => false,
        }
    }

    /// As Prometheus' errors print labels: `{__name__="up", job="x"}`.
    pub fn print(&self) -> String {
        let pairs: Vec<String> = self.iter().map(|(name, value)| format!("{name}={}", super::text::quote(value.as_bytes()))).collect();
        format!("{{{}}}", pairs.join(", "))
    }
}

#[derive(Clone, Debug)]
pub struct Sample<'c> {
    pub tags: Tags<'c>,
    pub value: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Vector<'c> {
    pub samples: Vec<Sample<'c>>,
    /// Whether label sets are known to differ even without the name, so that it can be dropped without a look.
    pub distinct: bool,
}

impl<'c> Vector<'c> {
    pub fn one(tags: Tags<'c>, value: f64) -> Self {
        Self { samples: vec![Sample { tags, value }], distinct: true }
    }

    pub fn empty() -> Self {
        Self { samples: Vec::new(), distinct: true }
    }

    /// Whether two samples have the same labels.
    pub fn has_duplicates(&self) -> bool {
        if self.distinct || self.samples.len() < 2 {
            return false;
        }
        let mut table = Table::with_capacity(self.samples.len());
        let all = Key::all();
        self.samples.iter().any(|sample| !table.place(&all, &sample.tags).is_new)
    }
}

/// Which labels of a sample count when samples are grouped or matched.
#[derive(Clone, Copy, Debug)]
pub struct Key<'k> {
    /// These labels only, or all but these.
    only: bool,
    labels: &'k [String],
    metadata: Metadata,
}

/// Which of name, type and unit count where they are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metadata {
    All,
    AllButName,
    None,
}

impl<'k> Key<'k> {
    pub fn all() -> Self {
        Self { only: false, labels: &[], metadata: Metadata::All }
    }

    /// All labels but these; the name counts.
    pub fn all_but(labels: &'k [String]) -> Self {
        Self { only: false, labels, metadata: Metadata::All }
    }

    pub fn of_grouping(grouping: &'k Grouping) -> Self {
        Self { only: !grouping.without, labels: &grouping.labels, metadata: Metadata::AllButName }
    }

    pub fn of_matching(on: bool, labels: &'k [String]) -> Self {
        Self { only: on, labels, metadata: Metadata::None }
    }

    /// Whether no two label sets that differ without the name fall together.
    pub fn is_whole(&self) -> bool {
        !self.only && self.labels.is_empty()
    }

    fn counts(&self, name: &str) -> bool {
        let is_left_out = match self.metadata {
            Metadata::All => false,
            Metadata::AllButName => name == METRIC_NAME,
            Metadata::None => is_metadata(name),
        };
        if is_left_out && !self.only {
            return false;
        }
        self.labels.iter().any(|label| label == name) == self.only
    }

    fn hash(&self, tags: &Tags<'_>) -> u64 {
        let mut hasher = Mix::default();
        if self.only {
            for label in self.labels {
                hasher.text(tags.get(label));
            }
        } else {
            for (name, value) in tags.iter().filter(|(name, _)| self.counts(name)) {
                hasher.text(name);
                hasher.text(value);
            }
        }
        hasher.finish()
    }

    fn is_equal(&self, a: &Tags<'_>, b: &Tags<'_>) -> bool {
        if self.only {
            return self.labels.iter().all(|label| a.get(label) == b.get(label));
        }
        a.iter().filter(|(name, _)| self.counts(name)).eq(b.iter().filter(|(name, _)| self.counts(name)))
    }

    /// The labels that count, alone.
    pub fn labels_of(&self, tags: &Tags<'_>) -> Labels {
        Labels::from_pairs(tags.iter().filter(|(name, _)| self.counts(name)))
    }
}

/// Numbers label sets in the order in which they come, comparing what a key says that counts.
pub struct Table<'c> {
    by_hash: HashMap<u64, usize, BuildHasherDefault<Plain>>,
    /// One label set of each group, and the next group with the same hash.
    groups: Vec<(Tags<'c>, Option<usize>)>,
}

pub struct Place {
    pub index: usize,
    pub is_new: bool,
}

impl<'c> Table<'c> {
    pub fn with_capacity(count: usize) -> Self {
        Self { by_hash: HashMap::with_capacity_and_hasher(count, BuildHasherDefault::default()), groups: Vec::with_capacity(count) }
    }

    pub fn place(&mut self, key: &Key<'_>, tags: &Tags<'c>) -> Place {
        let hash = key.hash(tags);
        if let Some(index) = self.search(key, hash, tags) {
            return Place { index, is_new: false };
        }
        let index = self.groups.len();
        let next = self.by_hash.insert(hash, index);
        self.groups.push((tags.clone(), next));
        Place { index, is_new: true }
    }

    pub fn find(&self, key: &Key<'_>, tags: &Tags<'_>) -> Option<usize> {
        self.search(key, key.hash(tags), tags)
    }

    fn search(&self, key: &Key<'_>, hash: u64, tags: &Tags<'_>) -> Option<usize> {
        let mut at = self.by_hash.get(&hash).copied();
        while let Some(index) = at {
            let (own, next) = &self.groups[index];
            if key.is_equal(own, tags) {
                return Some(index);
            }
            at = *next;
        }
        None
    }

    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The label set that founded a group.
    pub fn founder(&self, index: usize) -> &Tags<'c> {
        &self.groups[index].0
    }
}

/// A quick hash of texts. What collides is told apart by comparison, so it need not be strong.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn text(&mut self, text: &str) {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let tail = rest.iter().fold(1u64, |sum, byte| (sum << 8) | u64::from(*byte));
        self.word(tail ^ ((text.len() as u64) << 56));
    }

    fn finish(mut self) -> u64 {
        self.0 ^= self.0 >> 32;
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (self.0 >> 29)
    }
}

/// Hashes that are hashed already.
#[derive(Default)]
pub struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
