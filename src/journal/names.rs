//! What lies beside a recording: its segments and its reserve.

use std::path::{Path, PathBuf};

/// `NAME.1.jsonl` of `NAME.jsonl`: where the recording goes on after a file that can't be trusted with more.
pub fn segment(path: &Path, number: u32) -> PathBuf {
    beside(path, &format!("{number}.jsonl"))
}

/// `NAME.reserve`: space for the last commit.
pub fn reserve(path: &Path) -> PathBuf {
    beside(path, "reserve")
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = if path.extension().is_some_and(|e| e == "jsonl") { path.with_extension("") } else { path.to_owned() }.into_os_string();
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
