//! An episode as bytes, and the hash of its state.
//!
//! Both are made of the same JSON, so whatever the future hangs on is in the hash too: a field can't be forgotten in one of them.

use super::episode::Episode;
use crate::env::EnvError;
use std::io::{self, Write};

/// Bytes of the checksum that precedes the JSON.
const CHECKSUM_BYTES: usize = 4;

/// crc32c (little-endian) and JSON.
pub fn write(episode: &Option<Episode>) -> Vec<u8> {
    let mut bytes = vec![0; CHECKSUM_BYTES];
    write_json(episode, &mut bytes);
    let checksum = crc32c::crc32c(&bytes[CHECKSUM_BYTES..]);
    bytes[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

pub fn read(bytes: &[u8]) -> Result<Option<Episode>, EnvError> {
    let Some((checksum, json)) = bytes.split_first_chunk::<CHECKSUM_BYTES>() else {
        return Err(EnvError::SnapshotDamaged(format!("it has {} bytes only", bytes.len())));
    };
    let (written, found) = (u32::from_le_bytes(*checksum), crc32c::crc32c(json));
    if written != found {
        return Err(EnvError::SnapshotDamaged(format!("its checksum is {found:08x}, it should be {written:08x}")));
    }
    serde_json::from_slice(json).map_err(|e| EnvError::SnapshotDamaged(e.to_string()))
}

pub fn hash(episode: &Option<Episode>) -> u64 {
    let mut fnv = Fnv(FNV_OFFSET);
    write_json(episode, &mut fnv);
    fnv.0
}

fn write_json(episode: &Option<Episode>, out: &mut impl Write) {
    let written = serde_json::to_writer(out, episode);
    debug_assert!(written.is_ok(), "plain data and a sink in memory have nothing to fail on");
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a, 64 bits: the same on every platform and release, however the bytes are cut into writes.
struct Fnv(u64);

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
