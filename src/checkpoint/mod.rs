//! Duty: checkpoint directories: manifest, checksums, compatibility, the built-in ones.
//! May import: event, cond.
//! Emits: verified bytes and typed errors.
//! Accepts: a directory, or the name of a built-in checkpoint.
//! Test: `cargo test --lib checkpoint::`.
