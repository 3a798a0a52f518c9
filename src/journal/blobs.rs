//! Long texts of events: each in a file of its own, `NAME.blobs/SHA256`, with its beginning in the line.

use super::medium::{Medium, sync_dir_of};
use super::names;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A text that is longer is put beside the recording.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;
/// What of it stands in the line.
const PREVIEW_BYTES: usize = 1024;
/// No blob that is longer is read.
const BLOB_BYTES_MAX: u64 = 64 << 20;
/// The key that a line with blobs has; by these bytes it is told from others.
const MARK: &[u8] = br#","blobs":{"#;

/// Where the rest of a text is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Blob {
    sha256: String,
    bytes: u64,
}

/// Makes a file that is not there yet, as `medium::create` does.
type Create<'a> = &'a dyn Fn(&Path) -> io::Result<Box<dyn Medium>>;

/// Puts the long texts of an event line into files beside `recording`, and gives the line that names them. None where it has none, or where
/// they can't be written: the line then has everything.
pub fn put(recording: &Path, line: &[u8], create: Create<'_>) -> Option<Vec<u8>> {
    if line.len() <= INLINE_BYTES_MAX {
        return None;
    }
    let mut value: Value = serde_json::from_slice(line).ok()?;
    let mut blobs = BTreeMap::new();
    let into = Into { dir: names::blobs(recording), create };
    into.spill(value.get_mut("d")?, "/d", &mut blobs).ok()?;
    if blobs.is_empty() {
        return None;
    }
    value.as_object_mut()?.insert("blobs".into(), serde_json::to_value(blobs).ok()?);
    let mut short = Vec::new();
    super::line::write_line(&mut short, &value).ok()?;
    Some(short)
}

/// Where long texts go, and how files are made there.
struct Into<'a> {
    dir: PathBuf,
    create: Create<'a>,
}

impl Into<'_> {
    fn spill(&self, value: &mut Value, pointer: &str, blobs: &mut BTreeMap<String, Blob>) -> io::Result<()> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
            Value::String(text) if text.len() > INLINE_BYTES_MAX => {
                cap(text, BLOB_BYTES_MAX as usize);
                let blob = self.write(text.as_bytes())?;
                blobs.insert(pointer.to_owned(), blob);
                shorten(text, PREVIEW_BYTES);
                Ok(())
            }
            Value::String(_) => Ok(()),
            Value::Array(items) => {
                items.iter_mut().enumerate().try_for_each(|(i, item)| self.spill(item, &format!("{pointer}/{i}"), blobs))
            }
            Value::Object(fields) => fields.iter_mut().try_for_each(|(key, field)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                self.spill(field, &format!("{pointer}/{key}"), blobs)
            }),
        }
    }

    /// The file is on the disk, whole, before any line names it.
    fn write(&self, bytes: &[u8]) -> io::Result<Blob> {
        let blob = Blob { sha256: hash(bytes), bytes: bytes.len() as u64 };
        let path = self.dir.join(&blob.sha256);
        super::medium::make_dir_of(&path)?;
        // What is there by its name and is not it, a link for one, no reader would take: it is replaced.
        if read(&self.dir, &blob).is_ok() {
            return Ok(blob);
        }
        let aside = self.dir.join(format!("{}.part", blob.sha256));
        let _ = std::fs::remove_file(&aside);
        let placed = self.place(bytes, &aside, &path);
        if placed.is_err() {
            let _ = std::fs::remove_file(&aside);
        }
        placed.map(|()| blob)
    }

    fn place(&self, bytes: &[u8], aside: &Path, path: &Path) -> io::Result<()> {
        let mut file = (self.create)(aside)?;
        file.append(bytes)?;
        file.sync()?;
        std::fs::rename(aside, path)?;
        sync_dir_of(path)
    }
}

fn shorten(text: &mut String, bytes: usize) {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or_default());
}

/// What no reader would take in is cut off, and says so.
fn cap(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        let told = format!(" … [cut: {} bytes in all]", text.len());
        shorten(text, bytes_max.saturating_sub(told.len()));
        text.push_str(&told);
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Whether a line may name blobs. They stand last in it, so that most lines are told by their end.
pub fn are_in(line: &[u8]) -> bool {
    line.ends_with(b"}}}\n") && line.windows(MARK.len()).any(|bytes| bytes == MARK)
}

/// Puts the texts back into a line that names them. What of them can't be had is said in the line in their place, and told.
pub fn restored(recording: &Path, line: &[u8]) -> (Vec<u8>, Option<String>) {
    let whole = || (line.to_vec(), None);
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else { return whole() };
    let Some(blobs) = value.get("blobs").and_then(|b| serde_json::from_value::<BTreeMap<String, Blob>>(b.clone()).ok()) else {
        return whole();
    };
    let mut told = None;
    for (pointer, blob) in blobs {
        let Some(Value::String(text)) = value.pointer_mut(&pointer) else { continue };
        match read(&names::blobs(recording), &blob) {
            Ok(found) => *text = found,
            Err(reason) => {
                text.push_str(&format!(" … [the rest, {} bytes in all, can't be had: {reason}]", blob.bytes));
                told.get_or_insert(reason);
            }
        }
    }
    serde_json::to_vec(&value).map_or_else(|_| whole(), |bytes| (bytes, told))
}

fn read(dir: &Path, blob: &Blob) -> Result<String, String> {
    let name = &blob.sha256;
    // A name is a hash and nothing else: no path leads out of the directory.
    if name.len() != 64 || !name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err("its name is no sha256".to_owned());
    }
    if blob.bytes > BLOB_BYTES_MAX {
        return Err(format!("blob {name} is longer than any that is read"));
    }
    let mut bytes = Vec::new();
    let opened = open(&dir.join(name)).and_then(|file| file.take(blob.bytes + 1).read_to_end(&mut bytes));
    opened.map_err(|e| format!("blob {name}: {e}"))?;
    if bytes.len() as u64 != blob.bytes || hash(&bytes) != *name {
        return Err(format!("blob {name} is not what it was"));
    }
    String::from_utf8(bytes).map_err(|_| format!("blob {name} is no text"))
}

/// Links are not followed.
fn open(path: &PathBuf) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed(),
    );
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::medium;
    use super::*;

    fn put(recording: &Path, line: &[u8]) -> Option<Vec<u8>> {
        super::put(recording, line, &medium::create)
    }

    fn line(text: &str) -> Vec<u8> {
        let mut line = Vec::new();
        let value = serde_json::json!({"seq": 1, "t": 0, "lane": 0, "k": "LogLine", "d": {"a/b": {"x": [text, "short"]}}});
        super::super::line::write_line(&mut line, &value).unwrap();
        line
    }

    #[test]
    fn a_long_text_goes_beside_the_recording_and_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        assert_eq!(put(&path, &line("short")), None);
        let text = "é\u{1b}x".repeat(40_000);
        let short = put(&path, &line(&text)).unwrap();
        assert!(short.len() < 4096 && are_in(&short) && !are_in(&line(&text)));
        let (back, told) = restored(&path, &short);
        assert_eq!(told, None);
        let value: Value = serde_json::from_slice(&back).unwrap();
        assert_eq!(value["d"]["a/b"]["x"][0], text.as_str());
        let files: Vec<PathBuf> = std::fs::read_dir(names::blobs(&path)).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(files.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&files[0]), mode(&names::blobs(&path))), (0o600, 0o700));
        }
        // What is changed, or gone, or a link, is told, and the line is still a line.
        std::fs::write(&files[0], "other").unwrap();
        let (back, told) = restored(&path, &short);
        assert!(told.unwrap().contains("not what it was") && String::from_utf8(back).unwrap().contains("can't be had"));
        std::fs::remove_file(&files[0]).unwrap();
        assert!(restored(&path, &short).1.is_some());
        #[cfg(unix)]
        {
            let aside = dir.path().join("aside");
            std::fs::write(&aside, &text).unwrap();
            std::os::unix::fs::symlink(&aside, &files[0]).unwrap();
            assert!(restored(&path, &short).1.is_some(), "a link is not followed");
            // Nor is it taken for the text that is to be written, or written through.
            assert_eq!(put(&path, &line(&text)), Some(short.clone()));
            assert!(restored(&path, &short).1.is_none() && !files[0].is_symlink());
            assert_eq!(std::fs::read_to_string(&aside).unwrap(), text);
            std::fs::write(&files[0], "other").unwrap();
            assert_eq!(put(&path, &line(&text)), Some(short.clone()));
            assert!(restored(&path, &short).1.is_none(), "what is not the text is replaced by it");
            // Where it can't be written, the line has everything.
            std::fs::remove_file(&files[0]).unwrap();
            std::fs::create_dir_all(files[0].join("x")).unwrap();
            assert_eq!(put(&path, &line(&text)), None);
            assert_eq!(std::fs::read_dir(names::blobs(&path)).unwrap().count(), 1, "and nothing is left");
        }
    }

    #[test]
    fn a_text_that_no_reader_takes_is_cut_and_says_so() {
        let mut text = "é".repeat(100);
        cap(&mut text, 200);
        assert_eq!(text, "é".repeat(100));
        cap(&mut text, 99);
        assert!(text.len() <= 99 && text.starts_with("éé") && text.ends_with("[cut: 200 bytes in all]"), "{text}");
    }

    #[test]
    fn a_name_that_is_no_hash_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        std::fs::write(dir.path().join("secret"), "secret").unwrap();
        for name in ["../secret", "/etc/passwd", "", "..", &"\0".repeat(64), &"A".repeat(64), &"../".repeat(22)[..64]] {
            let text = serde_json::json!({"seq": 1, "d": {"x": "p"}, "blobs": {"/d/x": {"sha256": name, "bytes": 6}}}).to_string();
            let (back, told) = restored(&path, text.as_bytes());
            assert!(told.is_some_and(|t| t.contains("no sha256")) && !String::from_utf8(back).unwrap().contains("\"secret\""), "{name}");
        }
        let huge = serde_json::json!({"d": {"x": "p"}, "blobs": {"/d/x": {"sha256": "a".repeat(64), "bytes": u64::MAX}}}).to_string();
        assert!(restored(&path, huge.as_bytes()).1.unwrap().contains("longer than any"));
    }
}
