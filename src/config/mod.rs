//! Duty: the configuration: what the files say (raw) to plain settings (resolved), each with its origin.
//! May import: event.
//! Emits: settings, errors with file, line and column.
//! Accepts: RON files, environment variables, flags.
//! Test: `cargo test --lib config::`.
