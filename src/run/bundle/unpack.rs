//! Opening a bundle. What a ZIP file says is not to be trusted: no path of it is ever made, only names that a bundle has are read, all of it
//! is bounded, and every entry must have the hash that `bundle.json` says.

use super::BundleOrigin;
use super::manifest::*;
use super::pack::copy;
use super::temporary::Temporary;
use crate::event::SafeText;
use crate::run::exit::Failure;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

/// How ZIP files begin: with an entry, or with none.
const MAGICS: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const ENTRIES_MAX: usize = 20_000;
const MANIFEST_BYTES_MAX: u64 = 8 << 20;
const SHA256_DIGITS: usize = 64;

/// A private directory.
pub struct Scratch(Temporary);

impl Scratch {
    pub fn make() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("pilothouse-bundle-{}", ulid::Ulid::generate()));
        let shown = path.display().to_string();
        let made = Temporary::make(path, |path| {
            let mut builder = std::fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(path)
        });
        made.map(|(temporary, ())| Self(temporary)).map_err(|e| Failure::failed(format!("{shown}: {e}")))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A bundle's recording, where it can be read like any other.
pub struct Unpacked {
    pub recording: PathBuf,
    pub origin: BundleOrigin,
    /// Where it lies, for as long as this is held.
    _scratch: Scratch,
}

/// Whether it is a ZIP file, whatever its name is.
pub fn is_bundle(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file()) && is_zip(path)
}

/// The bundle's recording; none where the file is no ZIP file at all, whatever its name is.
pub fn unpack_if_bundle(path: &Path) -> Result<Option<Unpacked>, Failure> {
    // What can't be read is told by whoever opens it as a recording.
    if !is_bundle(path) {
        return Ok(None);
    }
    unpack(path).map(Some).map_err(|what| what.told(path))
}

fn is_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && MAGICS.contains(&&start)
}

/// Why it is not opened.
#[derive(Debug)]
enum Refusal {
    NotABundle(String),
    Newer([u32; 2]),
    /// It is a bundle, and not as it was made.
    Broken(String),
    Io(Failure),
}

impl Refusal {
    fn told(self, path: &Path) -> Failure {
        let path = path.display();
        match self {
            Self::NotABundle(why) => Failure::usage(format!("{path} is a ZIP file and no bundle: {why}")),
            Self::Newer(v) => Failure::usage(format!(
                "{path} is a bundle of version {}.{}; this build reads {}.x: use a build that reads {}.x",
                v[0], v[1], VERSION[0], v[0]
            )),
            Self::Broken(why) => Failure::failed(format!("{path} is not opened: {why}")),
            Self::Io(failure) => failure,
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Io(failure)
    }
}

/// A name to be shown: it may hold anything.
fn shown(name: &str) -> String {
    SafeText::new(name).replace(['\n', '\t'], " ")
}

type Archive = ZipArchive<BufReader<File>>;

fn unpack(path: &Path) -> Result<Unpacked, Refusal> {
    let file = File::open(path).map_err(|e| Refusal::Broken(e.to_string()))?;
    let bytes = file.metadata().map_err(|e| Refusal::Broken(e.to_string()))?.len();
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|e| {
        Refusal::Broken(format!("its table of entries is missing or damaged, as where a file was cut short ({e}): have it sent again"))
    })?;
    let names = checked(&mut archive, bytes)?;
    let manifest = manifest(&mut archive)?;
    check_entries(&manifest, &names)?;
    let scratch = Scratch::make()?;
    let mut recording = None;
    for entry in &manifest.entries {
        let target = target(&entry.name).map(|name| scratch.path().join(name));
        take(&mut archive, entry, target.as_deref())?;
        recording = target.filter(|_| entry.name == RECORDING || entry.name == RECORDING_PLAIN).or(recording);
    }
    let recording = recording.ok_or_else(|| Refusal::Broken("it holds no recording".into()))?;
    Ok(Unpacked { recording, origin: origin(path, &manifest), _scratch: scratch })
}

fn origin(path: &Path, manifest: &Manifest) -> BundleOrigin {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zip").unwrap_or(&name);
    let name = shown(name.strip_suffix(".bundle").unwrap_or(name));
    let made = manifest.made.parse::<jiff::Timestamp>().map(|t| t.strftime("%Y-%m-%d %H:%M UTC").to_string());
    BundleOrigin { name, made: made.unwrap_or_else(|_| "n/a".into()) }
}

/// Looks at all entries before any is read; gives their names.
fn checked(archive: &mut Archive, file_bytes: u64) -> Result<BTreeSet<String>, Refusal> {
    if archive.len() > ENTRIES_MAX {
        return Err(Refusal::Broken(format!("it has {} entries, more than any bundle", archive.len())));
    }
    let (mut names, mut bytes) = (BTreeSet::new(), 0u64);
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|e| broken("an entry", &e))?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        if !is_plain(&name) {
            return Err(Refusal::Broken(format!("the entry `{}` leads out of it or is no plain name", shown(&name))));
        }
        if entry.is_symlink() {
            return Err(Refusal::Broken(format!("the entry `{}` is a link", shown(&name))));
        }
        if entry.encrypted() {
            return Err(Refusal::Broken(format!("the entry `{}` is encrypted", shown(&name))));
        }
        bytes = bytes.saturating_add(entry.size());
        // Entries are stored as they are: no more can come out of it than lies there.
        if entry.compression() != zip::CompressionMethod::Stored || entry.size() != entry.compressed_size() {
            return Err(Refusal::Broken(format!("the entry `{}` is compressed, as no bundle's is: make it anew", shown(&name))));
        }
        names.insert(name);
    }
    if bytes > file_bytes {
        return Err(Refusal::Broken(format!("its entries are said to hold {bytes} bytes, and the file has {file_bytes}")));
    }
    Ok(names)
}

/// Below the place where it is unpacked, and the same on every system.
fn is_plain(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
    name.len() <= 255 && name.chars().all(is_char) && name.split('/').all(is_part)
}

fn broken(what: &str, error: &ZipError) -> Refusal {
    Refusal::Broken(format!("{what} can't be read: {error}"))
}

fn manifest(archive: &mut Archive) -> Result<Manifest, Refusal> {
    let not_ours = || Refusal::NotABundle(format!("it holds no `{MANIFEST}` with \"fmt\":\"{FORMAT}\""));
    let mut text = Vec::new();
    match archive.by_name(MANIFEST) {
        Err(ZipError::FileNotFound) => return Err(not_ours()),
        Err(error) => return Err(broken(MANIFEST, &error)),
        Ok(entry) => {
            let read = entry.take(MANIFEST_BYTES_MAX).read_to_end(&mut text);
            read.map_err(|e| Refusal::Broken(format!("{MANIFEST} can't be read: {e}")))?;
        }
    }
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|_| not_ours())?;
    if value.get("fmt").and_then(|f| f.as_str()) != Some(FORMAT) {
        return Err(not_ours());
    }
    let version = value.get("v").and_then(|v| serde_json::from_value::<[u32; 2]>(v.clone()).ok()).ok_or_else(not_ours)?;
    if version[0] != VERSION[0] {
        return Err(Refusal::Newer(version));
    }
    serde_json::from_value(value).map_err(|e| Refusal::Broken(format!("{MANIFEST}: {e}")))
}

/// What it lists is there, and once; what is there is listed.
fn check_entries(manifest: &Manifest, names: &BTreeSet<String>) -> Result<(), Refusal> {
    let mut listed = BTreeSet::from([MANIFEST]);
    for entry in &manifest.entries {
        if !listed.insert(&entry.name) {
            return Err(Refusal::Broken(format!("{MANIFEST} lists `{}` twice", shown(&entry.name))));
        }
        if !names.contains(&entry.name) {
            return Err(Refusal::Broken(format!("the entry `{}` is missing", shown(&entry.name))));
        }
    }
    match names.iter().find(|name| !listed.contains(name.as_str())) {
        Some(name) => Err(Refusal::Broken(format!("the entry `{}` is not in its list: somebody put it there", shown(name)))),
        None => Ok(()),
    }
}

/// What an entry is called where the recording is read; none where it is only to be checked.
fn target(name: &str) -> Option<&str> {
    let blob =
        name.strip_prefix(BLOBS).filter(|rest| rest.len() == SHA256_DIGITS && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    (blob.is_some() || name == RECORDING || name == RECORDING_PLAIN).then_some(name)
}

/// Reads an entry and compares its hash; writes it where it is to go, if anywhere.
fn take(archive: &mut Archive, entry: &Entry, target: Option<&Path>) -> Result<(), Refusal> {
    let changed = |how: String| Refusal::Broken(format!("the entry `{}` was changed or damaged: {how}", shown(&entry.name)));
    let mut body = archive.by_name(&entry.name).map_err(|e| broken(&entry.name, &e))?;
    let mut out: Box<dyn Write> = match target {
        Some(target) => Box::new(create(target)?),
        None => Box::new(io::sink()),
    };
    let (bytes, sha256) = copy(&mut body, &mut out).map_err(|e| match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Failure::failed(format!("it can't be unpacked: {e}")).into(),
        _ => changed(e.to_string()),
    })?;
    out.flush().map_err(|e| Failure::failed(format!("it can't be unpacked: {e}")))?;
    if sha256 != entry.sha256 || bytes != entry.bytes {
        return Err(changed("its sha256 is another one than bundle.json says".into()));
    }
    Ok(())
}

fn create(path: &Path) -> Result<File, Failure> {
    let failed = |e: io::Error| Failure::failed(format!("{}: {e}", path.display()));
    if let Some(dir) = path.parent().filter(|dir| !dir.exists()) {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(failed)
}
