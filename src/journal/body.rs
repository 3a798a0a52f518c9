//! The bytes of a recording's file: as they lie there, or out of the frames of a sealed one. Told apart by content, whatever the name is.

use super::frames::Frames;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The first bytes of a Zstandard frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Which file it is, whatever its name is now; none where the system has no such number.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

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

    /// Whether another file has the name by which it was opened. One that is gone, or has another name, is still read.
    pub fn is_replaced(&self, path: &Path) -> bool {
        match (std::fs::metadata(path), self.file().metadata()) {
            (Ok(named), Ok(own)) => identity(&named) != identity(&own),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
        }
    }

    /// Whether the file itself begins with these bytes; a sealed one can't be asked.
    pub fn begins_with(&self, bytes: &[u8]) -> bool {
        match self {
            #[cfg(unix)]
            Self::Plain(file) => {
                let mut found = vec![0; bytes.len()];
                std::os::unix::fs::FileExt::read_exact_at(file, &mut found, 0).is_ok() && found == bytes
            }
            #[cfg(not(unix))]
            Self::Plain(_) => true,
            Self::Sealed(_) => true,
        }
    }

    /// Bytes that it takes on the disk now.
    pub fn bytes(&self) -> io::Result<u64> {
        self.file().metadata().map(|m| m.len())
    }

    fn file(&self) -> &File {
        match self {
            Self::Plain(file) => file,
            Self::Sealed(frames) => frames.file(),
        }
    }

    /// Length of its lines now, which grows while it is written.
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
