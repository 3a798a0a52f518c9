//! Why a checkpoint is refused: what, where, and what to do.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("there is no checkpoint `{name}`: it is neither built in ({known}) nor a directory")]
    Unknown { name: String, known: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{place}: `{name}` is not a file name that a checkpoint may have (letters, digits, `.`, `_`, `-`; no path)")]
    Name { place: String, name: String },
    #[error("{place}: `{file}` is {kind}; a checkpoint holds plain files only, so copy the file itself there")]
    NotPlain { place: String, file: String, kind: &'static str },
    #[error("{place}: `{file}` is missing")]
    Missing { place: String, file: String },
    #[error("{place}: `{file}` has {bytes} bytes, at most {limit} are read")]
    TooLarge { place: String, file: String, bytes: u64, limit: u64 },
    #[error("{place}: manifest.json: {reason}")]
    Manifest { place: String, reason: String },
    #[error("{place}: manifest.json has format {format}, this version reads {known}: use a newer pilothouse")]
    NewerFormat { place: String, format: u32, known: u32 },
    #[error(
        "{place}: `{file}` is not what manifest.json says: {expected} expected, {found} found; the file was changed or damaged, so fetch the checkpoint again"
    )]
    Checksum { place: String, file: String, expected: String, found: String },
    #[error("{place}: `{file}` is {kind}: {advice}")]
    Foreign { place: String, file: String, kind: &'static str, advice: &'static str },
    #[error("{place}: `{file}` is not a sound safetensors file: {reason}")]
    Header { place: String, file: String, reason: String },
    #[error("{place}: manifest.json describes another architecture than config.json: {differences}")]
    Architecture { place: String, differences: String },
    #[error("{place}: trained for another environment: {differences}")]
    Schema { place: String, differences: String },
}
