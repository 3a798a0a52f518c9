//! The file under a recording, as far as the writer needs it: what a test replaces to make a disk fail.

use super::names;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Space that is kept so that the last commit lands on a full disk.
const RESERVE_BYTES: u64 = 256 * 1024;

/// An open file of a recording.
pub trait Medium: Send {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
    fn set_len(&mut self, bytes: u64) -> io::Result<()>;
}

impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        File::set_len(self, bytes)
    }
}

/// Makes a file that is not there yet.
pub type Create = Box<dyn Fn(&Path) -> io::Result<Box<dyn Medium>> + Send>;

/// 0600, locked for its single writer, and its name on the disk.
pub fn create(path: &Path) -> io::Result<Box<dyn Medium>> {
    let file = create_private(path)?;
    lock(&file)?;
    sync_dir_of(path)?;
    Ok(Box::new(file))
}

/// Locks the file for its single writer. A reader that asks whether it is locked holds it for a moment, which is waited for.
pub fn lock(file: &File) -> io::Result<()> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
    file.try_lock().map_err(|e| io::Error::other(format!("another process writes it: {e}")))
}

/// Has the names in the file's directory on the disk.
pub fn sync_dir_of(path: &Path) -> io::Result<()> {
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(dir)?.sync_all()
}

/// Makes a file that is not there yet, for its owner alone.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes the directory, 0700, where it is missing.
pub fn make_dir_of(path: &Path) -> io::Result<()> {
    let Some(dir) = path.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) else { return Ok(()) };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// A file of ours beside the recording that keeps space, until it is dropped.
pub struct Reserve(PathBuf);

impl Reserve {
    /// None where it can't be had: a full disk then loses what was not committed yet, no more. A file that is there already is not ours.
    pub fn beside(recording: &Path) -> Option<Self> {
        let path = names::reserve(recording);
        let mut file = create_private(&path).ok()?;
        let reserve = Self(path);
        let written = io::copy(&mut io::Read::take(io::repeat(0), RESERVE_BYTES), &mut file);
        written.is_ok_and(|bytes| bytes == RESERVE_BYTES).then_some(reserve)
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
