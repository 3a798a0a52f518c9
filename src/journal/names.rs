//! What lies beside a recording: its segments and its reserve.

use crate::event::SafeText;
use std::path::{Path, PathBuf};

/// `NAME.1.jsonl` of `NAME.jsonl`: where the recording goes on after a file that can't be trusted with more.
pub fn segment(path: &Path, number: u32) -> PathBuf {
    beside(path, &format!("{number}.jsonl"))
}

/// `NAME.reserve`: space for the last commit.
pub fn reserve(path: &Path) -> PathBuf {
    beside(path, "reserve")
}

/// `NAME.jsonl.zst`: the recording, sealed.
pub fn sealed(path: &Path) -> PathBuf {
    beside(path, "jsonl.zst")
}

/// `NAME.sealing`: the same while it is written.
pub fn aside(path: &Path) -> PathBuf {
    beside(path, "sealing")
}

/// `NAME.torn`: the bytes of a last line that was cut off; `NAME.1.torn` where that name is taken.
pub fn torn(path: &Path, number: u32) -> PathBuf {
    if number == 0 { beside(path, "torn") } else { beside(path, &format!("{number}.torn")) }
}

/// `NAME.pin`: the recording is not to be pruned.
pub fn pin(path: &Path) -> PathBuf {
    beside(path, "pin")
}

/// `NAME.blobs`: where long payloads are.
pub fn blobs(path: &Path) -> PathBuf {
    beside(path, "blobs")
}

/// The other form of a recording's name: what is there by it has the same neighbours.
pub fn siblings(path: &Path) -> Vec<PathBuf> {
    [beside(path, "jsonl"), sealed(path)].into_iter().filter(|form| form != path).collect()
}

/// Whether a recording of this name is there, plain or sealed: both have the same neighbours, so there is one of them at a time.
pub fn is_taken(path: &Path) -> bool {
    path.exists() || sealed(path).exists()
}

/// The name of a recording without what says how it is kept; none where the file is none by its name.
pub fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".jsonl.zst").or_else(|| name.strip_suffix(".jsonl"))
}

/// The same to be shown: a file's name may hold anything.
pub fn label(path: &Path) -> Option<String> {
    stem(path).map(|stem| SafeText::new(stem).replace(['\n', '\t'], " "))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    // What is being sealed has the neighbours that it will have.
    let sealing = || path.file_name()?.to_str()?.strip_suffix(".sealing");
    let mut name = match stem(path).or_else(sealing) {
        Some(stem) => path.with_file_name(stem),
        None => path.to_owned(),
    }
    .into_os_string();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_named_after_the_recording() {
        assert_eq!(segment(Path::new("d/a.b.jsonl"), 2), Path::new("d/a.b.2.jsonl"));
        assert_eq!(reserve(Path::new("d/a")), Path::new("d/a.reserve"));
    }
}
