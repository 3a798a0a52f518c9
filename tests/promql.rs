//! Prometheus' own evaluation tests, in full but for native histograms, which are counted and passed over.

#![allow(clippy::unwrap_used)]

#[path = "promql/reader.rs"]
mod reader;

use std::path::{Path, PathBuf};

/// The shared cases beside the checkout; `None` where they are not, which CI does not allow.
fn cases() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/promql");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is not there", folder.display());
    None
}

fn run_folder(folder: &Path) -> (reader::Tally, Vec<String>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (mut all, mut lines) = (reader::Tally::default(), Vec::new());
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "test")) {
        let name = path.file_name().unwrap().to_string_lossy();
        let tally = reader::run(&name, &std::fs::read_to_string(path).unwrap());
        lines.push(format!("{name}: {} ran, {} held, {} skipped", tally.ran, tally.held, tally.skipped));
        all.ran += tally.ran;
        all.held += tally.held;
        all.skipped += tally.skipped;
        all.failures.extend(tally.failures);
    }
    (all, lines)
}

#[test]
fn prometheus_own_tests_hold() {
    let Some(folder) = cases() else { return };
    let (tally, lines) = run_folder(&folder);
    println!("{}", lines.join("\n"));
    assert!(tally.failures.is_empty(), "{} of {} do not hold:\n{}", tally.failures.len(), tally.ran, tally.failures.join("\n"));
    assert_eq!((tally.ran, tally.skipped), (340, 107));
}

/// More of the same kind, in a folder that `PROMQL_TESTS` names.
#[test]
#[ignore = "needs PROMQL_TESTS, a folder of .test files"]
fn tests_of_another_folder_hold() {
    let Some(folder) = std::env::var_os("PROMQL_TESTS") else { return };
    let (tally, lines) = run_folder(Path::new(&folder));
    println!("{}", lines.join("\n"));
    assert!(tally.failures.is_empty(), "{} of {} do not hold:\n{}", tally.failures.len(), tally.ran, tally.failures.join("\n"));
}
