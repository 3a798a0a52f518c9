//! A file that is read again when it was saved.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Least time between two looks at it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A file as it was when it was last read. It need not be there yet.
#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    seen: Option<(SystemTime, u64)>,
    asked: Instant,
}

impl Watch {
    /// To be made before the file is read: a save in between is seen later.
    pub fn on(path: impl Into<PathBuf>) -> Self {
        let mut watch = Self { path: path.into(), seen: None, asked: Instant::now() };
        watch.seen = watch.stamp();
        watch
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn stamp(&self) -> Option<(SystemTime, u64)> {
        let facts = std::fs::metadata(&self.path).ok()?;
        Some((facts.modified().ok()?, facts.len()))
    }

    /// Whether the file is another one than before. A file that is gone for now is not: editors write aside and rename.
    pub fn changed(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.asked) < LOOK_AGAIN {
            return false;
        }
        self.asked = now;
        let stamp = self.stamp();
        let changed = stamp.is_some() && stamp != self.seen;
        self.seen = stamp.or(self.seen);
        changed
    }
}
