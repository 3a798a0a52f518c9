//! The label set that names a series.

use std::sync::Arc;

/// The label that is a series' name.
pub const METRIC_NAME: &str = "__name__";

/// Labels in the order of their names, each name once, no empty values (an empty value is no label). Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Labels(Arc<[(Arc<str>, Arc<str>)]>);

impl Labels {
    /// Of a name that comes twice the last value holds.
    pub fn from_pairs<N: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let sorted: std::collections::BTreeMap<Arc<str>, Arc<str>> =
            pairs.into_iter().map(|(name, value)| (Arc::from(name.as_ref()), Arc::from(value.as_ref()))).collect();
        Self(sorted.into_iter().filter(|(_, value)| !value.is_empty()).collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.binary_search_by(|(own, _)| (**own).cmp(name)).ok().map(|at| &*self.0[at].1)
    }

    /// The metric's name.
    pub fn name(&self) -> Option<&str> {
        self.get(METRIC_NAME)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Only labels for which `keep` holds.
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(name, _)| keep(name)).cloned().collect())
    }

    /// With this label, in place of one of the same name; an empty value takes it away.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut pairs: Vec<(Arc<str>, Arc<str>)> = self.0.to_vec();
        match pairs.binary_search_by(|(own, _)| (**own).cmp(name)) {
            Ok(at) if value.is_empty() => drop(pairs.remove(at)),
            Ok(at) => pairs[at].1 = Arc::from(value),
            Err(_) if value.is_empty() => {}
            Err(at) => pairs.insert(at, (Arc::from(name), Arc::from(value))),
        }
        Self(pairs.into())
    }
}

impl Default for Labels {
    fn default() -> Self {
        Self(Arc::from([]))
    }
}

impl std::fmt::Display for Labels {
    /// As PromQL writes it: `name{a="b", c="d"}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name().unwrap_or_default())?;
        f.write_str("{")?;
        for (i, (name, value)) in self.iter().filter(|(name, _)| *name != METRIC_NAME).enumerate() {
            write!(f, "{}{name}={value:?}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("}")
    }
}

impl std::fmt::Debug for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
