//! Files and directories of this process that are not to outlive it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Those that are still there; none are made any more when the process ends.
static ALL: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

/// A place that goes with whoever holds it, and with the process.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// `make` makes it there, and fails where something of that name is there already.
    pub fn make<T>(path: PathBuf, make: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<(Self, T)> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.as_mut().ok_or_else(|| io::Error::other("the process ends"))?;
        let made = make(&path)?;
        all.push(path.clone());
        Ok((Self(path), made))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Before the process ends: a thread that still packs or reads has nobody who waits for it.
    pub fn remove_all() {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner).take();
        all.iter().flatten().for_each(|path| remove(path));
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
        if let Some(all) = ALL.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            all.retain(|path| *path != self.0);
        }
    }
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_already_is_left_and_what_was_made_goes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "theirs").unwrap();
        let make = |path: &Path| std::fs::File::create_new(path);
        assert!(Temporary::make(file.clone(), make).is_err() && file.exists());
        for path in [dir.path().join("b"), dir.path().join("c")] {
            let (temporary, _) = Temporary::make(path.clone(), |path| std::fs::create_dir(path)).unwrap();
            std::fs::write(temporary.path().join("in it"), "ours").unwrap();
            drop(temporary);
            let (temporary, _) = Temporary::make(path.clone(), make).unwrap();
            assert!(path.is_file());
            drop(temporary);
            assert!(!path.exists());
        }
    }
}
