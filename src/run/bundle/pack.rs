//! Writing a bundle: one ZIP file whose entries are stored as they are, for the recording is packed already.

use super::manifest::{Entry, MANIFEST, Manifest};
use super::temporary::Temporary;
use crate::run::exit::Failure;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const COPY_BYTES: usize = 64 * 1024;
/// Entries that are longer need a header of another kind.
const PLAIN_BYTES_MAX: u64 = u32::MAX as u64;

/// What is to become an entry.
pub enum Body {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl Body {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(bytes.as_slice()),
            Self::File(path) => Box::new(File::open(path)?),
        })
    }
}

/// Length and hash of all that `from` gives; `to` is given it too.
pub fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; COPY_BYTES]);
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        hash.update(&buffer[..length]);
        to.write_all(&buffer[..length])?;
        bytes += length as u64;
    }
    Ok((bytes, hash.finalize().iter().map(|b| format!("{b:02x}")).collect()))
}

/// What `bundle.json` is to say of these.
pub fn entries(bodies: &[(String, Body)]) -> io::Result<Vec<Entry>> {
    let entry = |(name, body): &(String, Body)| {
        let (bytes, sha256) = copy(&mut *body.open()?, &mut io::sink())?;
        Ok(Entry { name: name.clone(), bytes, sha256 })
    };
    bodies.iter().map(entry).collect()
}

/// Writes the bundle to `path`, which must not exist yet; gives its length. Where that fails, nothing is left of it.
pub fn write(path: &Path, manifest: &Manifest, bodies: &[(String, Body)]) -> Result<u64, Failure> {
    let failed = |e: io::Error| Failure::failed(format!("{}: {e}", path.display()));
    let (aside, aside_file) = beside(path).map_err(failed)?;
    let mut json = serde_json::to_vec_pretty(manifest).map_err(Failure::failed)?;
    json.push(b'\n');
    let file = aside_file.try_clone().map_err(failed)?;
    let mut zip = ZipWriter::new(Remembering { file: io::BufWriter::new(file), error: None });
    let zipped = put_all(&mut zip, json, bodies);
    // The end of it is written in any case, so that nothing is told to a terminal behind our back.
    let ended = zip.finish().map_err(io::Error::other);
    zipped.map_err(failed)?;
    ended.and_then(Remembering::end).map_err(failed)?;
    let bytes = aside_file.metadata().map_err(failed)?.len();
    aside_file.sync_all().map_err(failed)?;
    // A name that was taken meanwhile is left as it is.
    std::fs::hard_link(aside.path(), path)
        .or_else(|e| if_no_links(e, aside.path(), path))
        .map_err(|e| taken(path, &e).unwrap_or_else(|| failed(e)))?;
    Ok(bytes)
}

/// Some file systems have no second name for a file.
fn if_no_links(error: io::Error, from: &Path, to: &Path) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists || to.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

/// How it ends where a file of that name is there.
pub fn taken(path: &Path, error: &io::Error) -> Option<Failure> {
    let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
    is_taken.then(|| Failure::usage(format!("{} exists, and is left as it is: name another file by -o, or move it away", path.display())))
}

fn put_all(zip: &mut ZipWriter<Remembering>, manifest: Vec<u8>, bodies: &[(String, Body)]) -> io::Result<()> {
    put(zip, MANIFEST, &Body::Bytes(manifest))?;
    bodies.iter().try_for_each(|(name, body)| put(zip, name, body))
}

fn put(zip: &mut ZipWriter<Remembering>, name: &str, body: &Body) -> io::Result<()> {
    let bytes = match body {
        Body::Bytes(bytes) => bytes.len() as u64,
        Body::File(path) => std::fs::metadata(path)?.len(),
    };
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).unix_permissions(0o600);
    zip.start_file(name, options.large_file(bytes >= PLAIN_BYTES_MAX)).map_err(io::Error::other)?;
    copy(&mut *body.open()?, zip).map(drop)
}

/// A file that tells at the end what went wrong first, and takes everything until then: whoever writes it need not end in the midst.
struct Remembering {
    file: io::BufWriter<File>,
    error: Option<io::Error>,
}

impl Remembering {
    fn keep<T>(&mut self, result: io::Result<T>, otherwise: T) -> io::Result<T> {
        Ok(result.unwrap_or_else(|e| {
            self.error.get_or_insert(e);
            otherwise
        }))
    }

    fn end(mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.error.map_or(flushed, Err)
    }
}

impl Write for Remembering {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_some() {
            return Ok(bytes.len());
        }
        let written = self.file.write(bytes);
        self.keep(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.keep(flushed, ())
    }
}

impl Seek for Remembering {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = self.file.seek(to);
        self.keep(place, 0)
    }
}

/// The bundle while it is written, for its owner alone: gone, whatever comes of it, unless it got its name.
fn beside(path: &Path) -> io::Result<(Temporary, File)> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    Temporary::make(name.into(), |path| {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_is_told_once_and_at_the_end() {
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else { return };
        let mut zip = ZipWriter::new(Remembering { file: io::BufWriter::with_capacity(16, full), error: None });
        put_all(&mut zip, vec![b'x'; 4096], &[("a".into(), Body::Bytes(vec![b'y'; 4096]))]).unwrap();
        assert!(zip.finish().unwrap().end().unwrap_err().raw_os_error().is_some());
    }
}
