//! Duty: checkpoint directories: manifest, checksums, compatibility, the built-in ones.
//! May import: event, cond.
//! Emits: verified bytes and typed errors.
//! Accepts: a directory, or the name of a built-in checkpoint.
//! Test: `cargo test --lib checkpoint::`.

mod builtin;
mod diff;
mod error;
mod foreign;
mod header;
mod manifest;
mod store;

pub use builtin::{Builtin, builtin};
pub use diff::{TensorChange, WeightDiff, weight_diff};
pub use error::CheckpointError;
pub use manifest::{FileEntry, Fingerprint, Manifest, Schema, Training, check_architecture};
pub use store::{Checkpoint, Contents, WEIGHTS, load, open, save, sha256_hex};
