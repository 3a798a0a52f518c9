//! Reads and writes checkpoint directories. Bytes are read once, and what was hashed is what is used.

use super::{CheckpointError, FileEntry, Manifest, builtin, foreign, header};
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

pub const MANIFEST: &str = "manifest.json";
pub const CONFIG: &str = "config.json";
pub const TOKENIZER: &str = "tokenizer.json";
pub const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// Most bytes of a JSON file of each name that are read.
const JSON_BYTES_MAX: u64 = 64 << 20;

/// Longest name of a file or a checkpoint.
const NAME_BYTES_MAX: usize = 128;

/// A checkpoint whose every byte was verified.
pub struct Checkpoint {
    /// Its directory or built-in name, for messages.
    pub place: String,
    pub manifest: Manifest,
    pub config_json: Cow<'static, [u8]>,
    pub tokenizer_json: Cow<'static, [u8]>,
    /// One file, or shards in the order of their names.
    pub weights: Vec<Cow<'static, [u8]>>,
    /// Of all files but the manifest: the same for the same model, whatever is told about it.
    pub sha256: String,
}

/// The files of a checkpoint that is to be saved.
pub struct Contents<'a> {
    pub config_json: &'a [u8],
    pub tokenizer_json: &'a [u8],
    pub model_safetensors: &'a [u8],
}

/// Opens a built-in checkpoint by name, or else a directory.
pub fn open(name_or_path: &str) -> Result<Checkpoint, CheckpointError> {
    let path = Path::new(name_or_path);
    match builtin().iter().find(|b| b.name == name_or_path) {
        Some(one) => one.open(),
        None if path.exists() => load(path),
        None => {
            let known: Vec<&str> = builtin().iter().map(|b| b.name).collect();
            let known = if known.is_empty() { "none are".to_owned() } else { known.join(", ") };
            Err(CheckpointError::Unknown { name: name_or_path.to_owned(), known })
        }
    }
}

/// Reads and verifies a directory. Without a `manifest.json`, as models come from a hub, the files' own consistency is all that is checked.
pub fn load(directory: &Path) -> Result<Checkpoint, CheckpointError> {
    let place = directory.display().to_string();
    if directory.is_file() {
        return Err(refuse_single_file(directory, place));
    }
    // A pipe would be waited for.
    if directory.exists() && !directory.is_dir() {
        let source =
            io::Error::other("it is no directory; a checkpoint is a directory with config.json, tokenizer.json and model.safetensors");
        return Err(CheckpointError::Io { path: directory.to_owned(), source });
    }
    let handle = File::open(directory).map_err(|source| CheckpointError::Io { path: directory.to_owned(), source })?;
    let read = |file: &str| read_file(&handle, &place, file);
    let mut files: BTreeMap<String, Cow<'static, [u8]>> = BTreeMap::new();
    for name in [MANIFEST, CONFIG, TOKENIZER, WEIGHTS] {
        if let Some(bytes) = read(name)? {
            files.insert(name.to_owned(), bytes.into());
        }
    }
    if !files.contains_key(WEIGHTS) {
        let Some(index) = read(INDEX)? else { return Err(no_weights(directory, place)) };
        for shard in shards(&place, &index)? {
            let bytes = read(&shard)?.ok_or_else(|| missing(&place, &shard))?;
            files.insert(shard, bytes.into());
        }
        files.insert(INDEX.to_owned(), index.into());
    }
    verify(place, files)
}

/// Verifies files that are in memory for good.
pub fn from_bytes(place: &str, files: &[(&str, &'static [u8])]) -> Result<Checkpoint, CheckpointError> {
    verify(place.to_owned(), files.iter().map(|(name, bytes)| ((*name).to_owned(), Cow::Borrowed(*bytes))).collect())
}

/// 64 hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn verify(place: String, mut files: BTreeMap<String, Cow<'static, [u8]>>) -> Result<Checkpoint, CheckpointError> {
    let manifest = files.remove(MANIFEST);
    let found: BTreeMap<String, FileEntry> =
        files.iter().map(|(name, bytes)| (name.clone(), FileEntry { bytes: bytes.len() as u64, sha256: sha256_hex(bytes) })).collect();
    let manifest = match manifest {
        Some(bytes) => {
            let manifest = Manifest::from_json(&place, &bytes)?;
            check_name(&place, &manifest.id.0)?;
            check_files(&place, &manifest, &found)?;
            manifest
        }
        None => synthesized(&place, &found),
    };
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        check_weights(&place, name, bytes)?;
    }
    let sha256 = sha256_hex(found.iter().map(|(name, e)| format!("{name} {}\n", e.sha256)).collect::<String>().as_bytes());
    let mut take = |name: &str| files.remove(name).ok_or_else(|| missing(&place, name));
    let (config_json, tokenizer_json) = (take(CONFIG)?, take(TOKENIZER)?);
    let weights: Vec<_> = files.into_iter().filter(|(name, _)| name.ends_with(".safetensors")).map(|(_, bytes)| bytes).collect();
    if weights.is_empty() {
        return Err(missing(&place, WEIGHTS));
    }
    Ok(Checkpoint { place, manifest, config_json, tokenizer_json, weights, sha256 })
}

/// Each file that is used must be listed, and each that is listed must be what it says.
fn check_files(place: &str, manifest: &Manifest, found: &BTreeMap<String, FileEntry>) -> Result<(), CheckpointError> {
    let mismatch = |file: &str, expected: String, found: String| CheckpointError::Checksum {
        place: place.to_owned(),
        file: file.to_owned(),
        expected,
        found,
    };
    for (file, listed) in &manifest.files {
        check_name(place, file)?;
        let entry = found.get(file).ok_or_else(|| missing(place, file))?;
        if entry.bytes != listed.bytes {
            return Err(mismatch(file, format!("{} bytes", listed.bytes), format!("{} bytes", entry.bytes)));
        }
        if !entry.sha256.eq_ignore_ascii_case(&listed.sha256) {
            return Err(mismatch(file, format!("sha256 {}", listed.sha256), entry.sha256.clone()));
        }
    }
    if let Some(file) = found.keys().find(|f| !manifest.files.contains_key(*f)) {
        return Err(CheckpointError::Manifest { place: place.to_owned(), reason: format!("it does not list `{file}`, which is there") });
    }
    match found.get(TOKENIZER) {
        Some(entry) if entry.sha256 != manifest.tokenizer_sha256 => Err(mismatch(
            TOKENIZER,
            format!("the tokenizer that it was trained with, {},", manifest.tokenizer_sha256),
            entry.sha256.clone(),
        )),
        _ => Ok(()),
    }
}

/// What can be said of a model that came without a manifest.
fn synthesized(place: &str, found: &BTreeMap<String, FileEntry>) -> Manifest {
    let name = Path::new(place).file_name().map_or_else(|| place.to_owned(), |n| n.to_string_lossy().into_owned());
    let mut manifest = Manifest::new(name.as_str().into(), 0);
    manifest.files = found.clone();
    manifest.tokenizer_sha256 = found.get(TOKENIZER).map(|e| e.sha256.clone()).unwrap_or_default();
    manifest
}

fn check_weights(place: &str, file: &str, bytes: &[u8]) -> Result<(), CheckpointError> {
    refuse_foreign(place, file, bytes)?;
    header::check(bytes).map_err(|reason| CheckpointError::Header { place: place.to_owned(), file: file.to_owned(), reason })
}

fn refuse_foreign(place: &str, file: &str, start: &[u8]) -> Result<(), CheckpointError> {
    match foreign::recognise(start) {
        Some((kind, advice)) => Err(CheckpointError::Foreign { place: place.to_owned(), file: file.to_owned(), kind, advice }),
        None => Ok(()),
    }
}

fn missing(place: &str, file: &str) -> CheckpointError {
    CheckpointError::Missing { place: place.to_owned(), file: file.to_owned() }
}

/// Letters, digits, `.`, `_` and `-`, not hidden, no path.
fn check_name(place: &str, name: &str) -> Result<(), CheckpointError> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.starts_with('.') || !name.bytes().all(is_plain) {
        return Err(CheckpointError::Name { place: place.to_owned(), name: name.escape_default().to_string() });
    }
    Ok(())
}

/// Files that a sharded model consists of, from its index.
fn shards(place: &str, index: &[u8]) -> Result<BTreeSet<String>, CheckpointError> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let fail = |e: serde_json::Error| CheckpointError::Header { place: place.to_owned(), file: INDEX.to_owned(), reason: e.to_string() };
    let Index { weight_map } = serde_json::from_slice(index).map_err(fail)?;
    let shards: BTreeSet<String> = weight_map.into_values().collect();
    for shard in &shards {
        check_name(place, shard)?;
        if !shard.ends_with(".safetensors") {
            return Err(CheckpointError::Name { place: place.to_owned(), name: shard.clone() });
        }
    }
    Ok(shards)
}

/// Opens a file of the directory without following a link, and reads it whole. `None` when it is not there. The length of a weights file's header is
/// checked before the rest is read.
fn read_file(directory: &File, place: &str, name: &str) -> Result<Option<Vec<u8>>, CheckpointError> {
    let fail = |source: io::Error| CheckpointError::Io { path: Path::new(place).join(name), source };
    let not_plain = |kind| CheckpointError::NotPlain { place: place.to_owned(), file: name.to_owned(), kind };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut file = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(not_plain("a symbolic link")),
        Err(e) => return Err(fail(e.into())),
    };
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() {
        return Err(not_plain("not a regular file"));
    }
    let bytes = metadata.len();
    let mut content = Vec::new();
    if name.ends_with(".safetensors") {
        Read::by_ref(&mut file).take(header::PREFIX_BYTES).read_to_end(&mut content).map_err(fail)?;
        refuse_foreign(place, name, &content)?;
        if let Some(prefix) = content.first_chunk::<8>() {
            let bad = |reason| CheckpointError::Header { place: place.to_owned(), file: name.to_owned(), reason };
            header::length(*prefix, bytes).map_err(bad)?;
        }
    } else if bytes > JSON_BYTES_MAX {
        return Err(CheckpointError::TooLarge { place: place.to_owned(), file: name.to_owned(), bytes, limit: JSON_BYTES_MAX });
    }
    // One more than it had, so that a file that grew meanwhile is noticed by its checksum and not read for ever.
    file.take((bytes + 1).saturating_sub(content.len() as u64)).read_to_end(&mut content).map_err(fail)?;
    Ok(Some(content))
}

/// A path to one file instead of a directory: says what it is.
fn refuse_single_file(path: &Path, place: String) -> CheckpointError {
    let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match sniff(path) {
        Ok(Some((kind, advice))) => CheckpointError::Foreign { place, file, kind, advice },
        Ok(None) => CheckpointError::NotPlain {
            place,
            file,
            kind: "one file, not a checkpoint directory with config.json, tokenizer.json and model.safetensors",
        },
        Err(source) => CheckpointError::Io { path: path.to_owned(), source },
    }
}

/// A directory without weights that we read: names a file that it has instead, if there is one.
fn no_weights(directory: &Path, place: String) -> CheckpointError {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_file())).map(|e| e.file_name()).collect();
    names.sort();
    for name in names {
        if let Ok(Some((kind, advice))) = sniff(&directory.join(&name)) {
            return CheckpointError::Foreign { place, file: name.to_string_lossy().into_owned(), kind, advice };
        }
    }
    missing(&place, WEIGHTS)
}

fn sniff(path: &Path) -> io::Result<Option<(&'static str, &'static str)>> {
    let mut start = Vec::new();
    File::open(path)?.take(8).read_to_end(&mut start)?;
    Ok(foreign::recognise(&start))
}

/// Writes a checkpoint directory so that it is there whole or not at all: beside its place, synced, then renamed. Directories 0700, files 0600. An older
/// one of the same name is replaced. Returns the manifest with its files filled in.
pub fn save(directory: &Path, mut manifest: Manifest, contents: &Contents<'_>) -> Result<Manifest, CheckpointError> {
    let place = directory.display().to_string();
    check_name(&place, &manifest.id.0)?;
    check_weights(&place, WEIGHTS, contents.model_safetensors)?;
    let files = [(CONFIG, contents.config_json), (TOKENIZER, contents.tokenizer_json), (WEIGHTS, contents.model_safetensors)];
    let entry = |bytes: &[u8]| FileEntry { bytes: bytes.len() as u64, sha256: sha256_hex(bytes) };
    manifest.files = files.iter().map(|(name, bytes)| ((*name).to_owned(), entry(bytes))).collect();
    manifest.tokenizer_sha256 = sha256_hex(contents.tokenizer_json);
    let json = manifest.to_json()?;
    write_whole(directory, &[&files[..], &[(MANIFEST, &json)]].concat())
        .map_err(|source| CheckpointError::Io { path: directory.to_owned(), source })?;
    Ok(manifest)
}

fn write_whole(directory: &Path, files: &[(&str, &[u8])]) -> io::Result<()> {
    let name = directory.file_name().ok_or_else(|| io::Error::other("the path names no directory"))?.to_string_lossy().into_owned();
    let parent = directory.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let (aside, old) = (parent.join(format!(".{name}.saving")), parent.join(format!(".{name}.old")));
    remove(&aside)?;
    fs::DirBuilder::new().mode(0o700).create(&aside)?;
    for (file, bytes) in files {
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(aside.join(file))?;
        out.write_all(bytes)?;
        out.sync_all()?;
    }
    File::open(&aside)?.sync_all()?;
    remove(&old)?;
    if directory.exists() {
        fs::rename(directory, &old)?;
    }
    fs::rename(&aside, directory)?;
    File::open(parent)?.sync_all()?;
    remove(&old)
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    fn sound() -> Vec<u8> {
        let header = br#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
        [&(header.len() as u64).to_le_bytes()[..], header, b"data"].concat()
    }

    fn saved(root: &Path) -> (PathBuf, Manifest) {
        let directory = root.join("one");
        let weights = sound();
        let contents = Contents { config_json: b"{}", tokenizer_json: b"{\"t\":1}", model_safetensors: &weights };
        let manifest = save(&directory, Manifest::new("one".into(), 5), &contents).unwrap();
        (directory, manifest)
    }

    fn refused(directory: &Path) -> String {
        load(directory).err().unwrap().to_string()
    }

    #[test]
    fn what_is_saved_is_loaded_and_kept_private() {
        let root = tempfile::tempdir().unwrap();
        let (directory, manifest) = saved(root.path());
        let checkpoint = load(&directory).unwrap();
        assert_eq!((checkpoint.manifest, checkpoint.weights[0].as_ref()), (manifest.clone(), sound().as_slice()));
        assert_eq!(manifest.files.len(), 3);
        for file in fs::read_dir(&directory).unwrap() {
            assert_eq!(file.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
        saved(root.path());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_flipped_byte_anywhere_is_refused_naming_the_file() {
        let root = tempfile::tempdir().unwrap();
        let (directory, _) = saved(root.path());
        for file in [CONFIG, TOKENIZER, WEIGHTS] {
            let good = fs::read(directory.join(file)).unwrap();
            for at in 0..good.len() {
                let mut bad = good.clone();
                bad[at] ^= 0x20;
                fs::write(directory.join(file), &bad).unwrap();
                let error = refused(&directory);
                assert!(error.contains(file), "{error}");
            }
            fs::write(directory.join(file), [&good[..], b"x"].concat()).unwrap();
            assert!(refused(&directory).contains(&format!("{} bytes found", good.len() + 1)));
            fs::remove_file(directory.join(file)).unwrap();
            assert!(refused(&directory).contains(file));
            fs::write(directory.join(file), &good).unwrap();
        }
        assert!(load(&directory).is_ok());
    }

    #[test]
    fn a_file_that_changes_after_loading_changes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let (directory, manifest) = saved(root.path());
        let checkpoint = load(&directory).unwrap();
        fs::write(directory.join(WEIGHTS), b"other").unwrap();
        assert_eq!(sha256_hex(&checkpoint.weights[0]), manifest.files[WEIGHTS].sha256);
    }

    #[test]
    fn another_tokenizer_and_a_manifest_that_forgets_a_file_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let (directory, manifest) = saved(root.path());
        let write = |m: &Manifest| fs::write(directory.join(MANIFEST), m.to_json().unwrap()).unwrap();
        write(&Manifest { tokenizer_sha256: "00".into(), ..manifest.clone() });
        assert!(refused(&directory).contains("trained with, 00"));
        let mut short = manifest.clone();
        short.files.remove(WEIGHTS);
        write(&short);
        assert!(refused(&directory).contains("does not list `model.safetensors`"));
        for evil in ["../evil", "/etc/passwd", "a\0b", ".hidden", "", "a/b"] {
            let mut long = manifest.clone();
            long.files.insert(evil.into(), FileEntry { bytes: 1, sha256: String::new() });
            write(&long);
            assert!(matches!(load(&directory), Err(CheckpointError::Name { .. })), "{evil:?}");
            write(&Manifest { id: evil.into(), ..manifest.clone() });
            assert!(matches!(load(&directory), Err(CheckpointError::Name { .. })), "{evil:?}");
        }
    }

    #[test]
    fn formats_that_can_run_code_are_refused_by_content() {
        let root = tempfile::tempdir().unwrap();
        for (content, word) in [
            (&b"\x80\x02}q\x00X\x01"[..], "pickle"),
            (b"PK\x03\x04\x00\x00\x08\x08", "PyTorch"),
            (b"GGUF\x03\x00\x00\x00\x00", "GGUF"),
            (b"tjgg\x01\x00\x00\x00\x00", "GGML"),
        ] {
            let (directory, _) = saved(root.path());
            fs::remove_file(directory.join(MANIFEST)).unwrap();
            fs::write(directory.join(WEIGHTS), content).unwrap();
            let error = refused(&directory);
            assert!(error.contains(word) && error.contains("safetensors"), "{error}");
            fs::rename(directory.join(WEIGHTS), directory.join("pytorch_model.bin")).unwrap();
            assert!(refused(&directory).contains("`pytorch_model.bin`"));
            assert!(refused(&directory.join("pytorch_model.bin")).contains(word));
        }
    }

    #[test]
    fn a_header_bomb_is_refused_before_it_is_read() {
        let root = tempfile::tempdir().unwrap();
        let (directory, _) = saved(root.path());
        fs::write(directory.join(WEIGHTS), (1u64 << 63).to_le_bytes()).unwrap();
        assert!(refused(&directory).contains("claims 9223372036854775808 bytes"));
    }

    #[test]
    fn links_and_strange_files_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (directory, _) = saved(root.path());
        let elsewhere = root.path().join("elsewhere");
        fs::rename(directory.join(WEIGHTS), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, directory.join(WEIGHTS)).unwrap();
        assert!(refused(&directory).contains("symbolic link"));
        fs::remove_file(directory.join(WEIGHTS)).unwrap();
        fs::create_dir(directory.join(WEIGHTS)).unwrap();
        assert!(refused(&directory).contains("not a regular file"));
        assert!(refused(&root.path().join("nowhere")).contains("nowhere"));
        assert!(open("no such name").err().unwrap().to_string().contains("`no such name`"));
    }

    #[test]
    fn a_model_without_manifest_loads_and_so_do_shards() {
        let root = tempfile::tempdir().unwrap();
        let (directory, _) = saved(root.path());
        fs::remove_file(directory.join(MANIFEST)).unwrap();
        let whole = load(&directory).unwrap();
        assert_eq!((whole.manifest.id.0.as_str(), whole.manifest.created.as_deref()), ("one", None));
        fs::rename(directory.join(WEIGHTS), directory.join("m-1.safetensors")).unwrap();
        fs::write(directory.join("m-2.safetensors"), sound()).unwrap();
        let index = |second: &str| format!(r#"{{"weight_map":{{"a":"m-1.safetensors","b":"{second}"}}}}"#);
        fs::write(directory.join(INDEX), index("m-2.safetensors")).unwrap();
        assert_eq!(load(&directory).unwrap().weights.len(), 2);
        for (second, word) in [("../m.safetensors", "../m"), ("m-3.safetensors", "m-3"), ("manifest.json", "manifest.json")] {
            fs::write(directory.join(INDEX), index(second)).unwrap();
            assert!(refused(&directory).contains(word));
        }
    }

    #[test]
    fn a_save_that_was_killed_leaves_the_old_one_and_is_cleaned_up() {
        let root = tempfile::tempdir().unwrap();
        let (directory, _) = saved(root.path());
        let aside = root.path().join(".one.saving");
        fs::create_dir(&aside).unwrap();
        fs::write(aside.join(WEIGHTS), b"half").unwrap();
        assert!(load(&directory).is_ok());
        saved(root.path());
        assert!(load(&directory).is_ok() && !aside.exists());
    }
}
