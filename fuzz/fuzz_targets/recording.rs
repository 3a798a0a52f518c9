//! Any bytes as a recording: opened, read, sought in, sealed. `cargo +nightly fuzz run recording fuzz/corpus/recording recordings`
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

#[path = "../../tests/hostile/mod.rs"]
#[allow(dead_code)]
mod targets;

static DIR: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory for temporary files"));

fuzz_target!(|bytes: &[u8]| targets::recording(DIR.path(), bytes));
