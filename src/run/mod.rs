//! Duty: one file a subcommand; builds the rooms and joins them. Nobody imports it.
//! May import: everything.
//! Emits: exit codes, text and JSON.
//! Accepts: argv.
//! Test: `cargo test --test cli`.
