//! Any text as a condition, an expression and a filter. `cargo +nightly fuzz run condition`
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse::event::Envelope;
use std::sync::LazyLock;

#[path = "../../tests/hostile/mod.rs"]
#[allow(dead_code)]
mod targets;

static EVENTS: LazyLock<Vec<Envelope>> = LazyLock::new(targets::events);

fuzz_target!(|text: &str| targets::condition(text, &EVENTS));
