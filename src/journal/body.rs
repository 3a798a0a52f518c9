//! The bytes of a recording's file: as they lie there, or out of the frames of a sealed one. Told apart by content, whatever the name is.

use super::frames::Frames;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The first bytes of a Zstandard frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A file that is read.
pub enum Body {
    Plain(File),
    Sealed(Box<Frames>),
}

impl Body {
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut start = Vec::new();
        file.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut start)?;
        file.rewind()?;
        if start == ZSTD_MAGIC { Frames::open(file).map(|frames| Self::Sealed(Box::new(frames))) } else { Ok(Self::Plain(file)) }
    }

    /// Its length now, which grows while it is written.
    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::Plain(file) => file.metadata().map(|m| m.len()),
            Self::Sealed(frames) => Ok(frames.length()),
        }
    }

    /// Whether its writer holds it.
    pub fn is_held(&self) -> bool {
        match self {
            Self::Plain(file) => match file.try_lock_shared() {
                Ok(()) => {
                    let _ = file.unlock();
                    false
                }
                Err(std::fs::TryLockError::WouldBlock) => true,
                Err(std::fs::TryLockError::Error(_)) => false,
            },
            Self::Sealed(_) => false,
        }
    }

    /// Whether it was sealed.
    pub fn is_sealed(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Sealed(_) => true,
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Sealed(frames) => frames.read(buffer),
        }
    }
}

impl Seek for Body {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Plain(file) => file.seek(to),
            Self::Sealed(frames) => frames.seek(to),
        }
    }
}
