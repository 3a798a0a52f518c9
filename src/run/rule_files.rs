//! The rule files of a run: read together, watched, and taken anew only where all of them are right.

use crate::alert::rules::{RuleFile, RuleGroup};
use crate::event::{LabelSet, RulesLoaded, SafeText};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A larger file is no rule file.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Faults of one file that are told.
const FAULTS_MAX: usize = 5;
/// The rules that come with the program.
pub const BUILT_IN: (&str, &str) = ("configs/rules.yaml", include_str!("../../configs/rules.yaml"));

/// Rules that were read and are right.
#[derive(Debug)]
pub struct Rules {
    /// The files' names, with commas between them.
    pub name: String,
    pub sha256: String,
    pub file: RuleFile,
}

/// Calls of `changed` after which a file is read although it never stood still.
const MOVES_MAX: u32 = 10;

/// By what a file that was changed, put in the place of another, or is reached by another link is told from what it was; unset where it can't be
/// looked at.
type Stamp = Option<(SystemTime, u64, u64, u64, (i64, i64))>;

fn stamp(path: &Path) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let m = std::fs::metadata(path).ok()?;
    Some((m.modified().ok()?, m.len(), m.dev(), m.ino(), (m.ctime(), m.ctime_nsec())))
}

/// Looks whether files have changed: by what the file system says of them, and then by what is in them.
#[derive(Debug)]
pub struct RulesWatch {
    /// None: the rules that come with the program.
    files: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    /// Calls of `changed` since the files stood still.
    moves: u32,
    /// Of what was told last, good or bad.
    seen: String,
}

impl RulesWatch {
    pub fn new(files: &[PathBuf]) -> Self {
        let mut watch = Self { files: files.to_vec(), stamps: Vec::new(), moves: 0, seen: String::new() };
        watch.stamps = watch.stamp();
        watch.seen = watch.read().map_or_else(|fault| fault, |rules| rules.sha256);
        watch
    }

    fn stamp(&self) -> Vec<Stamp> {
        self.files.iter().map(|path| stamp(path)).collect()
    }

    /// The files as they are now; what is wrong with them, each fault as `file:line:column: what`.
    pub fn read(&self) -> Result<Rules, String> {
        if self.files.is_empty() {
            return together(&[(BUILT_IN.0.to_owned(), BUILT_IN.1.to_owned())]);
        }
        let texts: Vec<(String, String)> =
            self.files.iter().map(|path| Ok((path.display().to_string(), text(path)?))).collect::<Result<_, String>>()?;
        together(&texts)
    }

    /// What the files came to, where that is not what it was. They are read once they stood still from one call to the next: whoever writes one may
    /// be in the midst of it.
    pub fn changed(&mut self) -> Option<Result<Rules, String>> {
        let stamps = self.stamp();
        if stamps != self.stamps {
            (self.stamps, self.moves) = (stamps, self.moves + 1);
            if self.moves < MOVES_MAX {
                return None;
            }
        }
        if std::mem::take(&mut self.moves) == 0 {
            return None;
        }
        let read = self.read();
        let seen = read.as_ref().map_or_else(Clone::clone, |rules| rules.sha256.clone());
        // Touched, or saved without a change.
        if seen == self.seen {
            return None;
        }
        self.seen = seen;
        Some(read)
    }

    /// That the files can't be used as they are now.
    pub fn refused(&self, fault: &str) -> RulesLoaded {
        RulesLoaded {
            file: name(self.files.iter().map(|path| path.display().to_string())).into(),
            sha256: String::new(),
            error: Some(SafeText::new(fault)),
            external_labels: LabelSet::default(),
            groups: Vec::new(),
        }
    }
}

/// The text of a rule file.
pub fn text(path: &Path) -> Result<String, String> {
    let fault = |what: String| format!("{}: {what}", path.display());
    let unread = |error: std::io::Error| fault(format!("can't be read: {error}"));
    // A pipe that nobody writes to would be waited for.
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(nonblock).open(path).map_err(unread)?;
    if !file.metadata().map_err(unread)?.is_file() {
        return Err(fault("is no regular file".into()));
    }
    text_of(file).map_err(fault)
}

/// The text of a file, or of the standard input for `-`.
pub fn text_or_input(path: &Path) -> Result<String, String> {
    if path.as_os_str() != "-" {
        return text(path);
    }
    text_of(std::io::stdin().lock()).map_err(|fault| format!("the standard input {fault}"))
}

fn text_of(from: impl std::io::Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| format!("can't be read: {error}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("is larger than {} KiB, which no rule file is", FILE_BYTES_MAX / 1024));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        format!("is not text in UTF-8, in line {}", 1 + before.iter().filter(|byte| **byte == b'\n').count())
    })
}

fn name(files: impl Iterator<Item = String>) -> String {
    files.collect::<Vec<_>>().join(", ")
}

/// Reads files, each with its name, as one.
fn together(texts: &[(String, String)]) -> Result<Rules, String> {
    let (mut hash, mut groups) = (Sha256::new(), Vec::new());
    let mut from: BTreeMap<String, &str> = BTreeMap::new();
    for (file, text) in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
        for group in parse(file, text)?.groups {
            // Events tell groups apart by their names alone.
            if let Some(other) = from.insert(group.name.clone(), file) {
                return Err(format!("{file}: group {:?} stands in {other} too; give one of them another name", group.name));
            }
            groups.push(group);
        }
    }
    let sha256 = hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok(Rules { name: name(texts.iter().map(|(file, _)| file.clone())), sha256, file: RuleFile { groups } })
}

/// The rules of one text; its faults, each with its place.
pub fn parse(file: &str, text: &str) -> Result<RuleFile, String> {
    RuleFile::parse(text).map_err(|faults| {
        let mut lines: Vec<String> = faults.iter().take(FAULTS_MAX).map(|fault| format!("{file}:{fault}")).collect();
        if faults.len() > FAULTS_MAX {
            lines.push(format!("and {} more", faults.len() - FAULTS_MAX));
        }
        lines.join("; ")
    })
}

/// Only the rule of this name, with all recording rules: it may ask for what they record.
pub fn only(rules: RuleFile, wanted: &str) -> RuleFile {
    use crate::event::RuleKind;
    let has = |group: &RuleGroup| group.rules.iter().any(|rule| rule.name == wanted);
    let is_asked = |group: RuleGroup| {
        let rules = group.rules.into_iter().filter(|rule| rule.kind == RuleKind::Record || rule.name == wanted).collect();
        RuleGroup { rules, ..group }
    };
    // What other groups record may be what it asks for.
    let any_record = |group: &RuleGroup| group.rules.iter().any(|rule| rule.kind == RuleKind::Record);
    RuleFile { groups: rules.groups.into_iter().filter(|group| has(group) || any_record(group)).map(is_asked).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up == 0\n";

    /// What comes of a change, once it stands still.
    fn settled(watch: &mut RulesWatch) -> Option<Result<Rules, String>> {
        assert!(watch.changed().is_none(), "it may be in the midst of being written");
        watch.changed()
    }

    fn watched(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>, RulesWatch) {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
        paths.iter().zip(files).for_each(|(path, (_, text))| std::fs::write(path, text).unwrap());
        let watch = RulesWatch::new(&paths);
        (folder, paths, watch)
    }

    fn fault(outcome: Option<Result<Rules, String>>) -> String {
        outcome.unwrap().unwrap_err()
    }

    #[test]
    fn a_bad_version_is_told_once_with_its_line_and_the_next_good_one_is_taken() {
        let (_folder, paths, mut watch) = watched(&[("rules.yaml", GOOD)]);
        let path = &paths[0];
        assert!(settled(&mut watch).is_none());
        std::fs::write(path, GOOD.replace("up == 0", "up ==")).unwrap();
        let told = fault(settled(&mut watch));
        assert!(told.contains("rules.yaml:5:"), "{told}");
        assert!(settled(&mut watch).is_none());
        std::fs::write(path, GOOD.replace("up == 0", "up == 1")).unwrap();
        assert_eq!(settled(&mut watch).unwrap().unwrap().file.groups.len(), 1);
        // What was good comes back behind what was bad, and is told again: it was said that it can't be used.
        for spoil in [|path: &Path| std::fs::remove_file(path).unwrap(), |path: &Path| std::fs::write(path, "\u{fffd}").unwrap()] {
            spoil(path);
            fault(settled(&mut watch));
            std::fs::write(path, GOOD).unwrap();
            assert!(settled(&mut watch).unwrap().is_ok());
        }
    }

    #[test]
    fn what_is_touched_or_written_again_as_it_was_is_no_news() {
        let (_folder, paths, mut watch) = watched(&[("rules.yaml", GOOD)]);
        std::fs::File::options().write(true).open(&paths[0]).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(settled(&mut watch).is_none());
        std::fs::remove_file(&paths[0]).unwrap();
        std::fs::write(&paths[0], GOOD).unwrap();
        assert!(settled(&mut watch).is_none());
    }

    #[test]
    fn what_is_written_in_pieces_is_read_when_it_is_whole() {
        let (_folder, paths, mut watch) = watched(&[("rules.yaml", GOOD)]);
        let whole = format!("{GOOD}  - alert: B\n    expr: up == 2\n");
        for length in [0, 30, GOOD.len(), whole.len()] {
            // Up to there it is a rule file too, and would end alert B.
            std::fs::write(&paths[0], &whole[..length]).unwrap();
            assert!(watch.changed().is_none());
        }
        assert_eq!(watch.changed().unwrap().unwrap().file.groups[0].rules.len(), 2);
        // One that never stands still is read all the same.
        let mut reads = 0;
        for n in 0..25 {
            std::fs::write(&paths[0], format!("{GOOD}# {n}\n")).unwrap();
            reads += usize::from(watch.changed().is_some());
        }
        assert_eq!(reads, 2);
    }

    #[test]
    fn what_takes_the_place_of_a_file_is_told_as_what_it_is() {
        let (_folder, paths, mut watch) = watched(&[("rules.yaml", GOOD)]);
        let path = &paths[0];
        std::fs::remove_file(path).unwrap();
        assert!(fault(settled(&mut watch)).contains("can't be read: No such file"));
        std::fs::create_dir(path).unwrap();
        assert!(fault(settled(&mut watch)).contains("is no regular file"));
        std::fs::remove_dir(path).unwrap();
        assert!(fault(settled(&mut watch)).contains("can't be read"));
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        assert!(fault(settled(&mut watch)).contains("is no regular file"), "and nobody waits for who writes to it");
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, vec![b'#'; FILE_BYTES_MAX as usize + 1]).unwrap();
        assert!(fault(settled(&mut watch)).contains("larger than 1024 KiB"));
        std::fs::write(path, [0xff, 0xfe]).unwrap();
        assert!(fault(settled(&mut watch)).contains("not text in UTF-8"));
        std::fs::write(path, GOOD).unwrap();
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        let told = settled(&mut watch).unwrap();
        // To root every file is readable.
        if std::fs::File::open(path).is_err() {
            assert!(told.unwrap_err().contains("can't be read: Permission denied"));
        }
    }

    /// As Kubernetes changes what a ConfigMap holds: the file is a link into `..data`, which is a link that is put in the place of another.
    #[test]
    fn a_link_that_leads_elsewhere_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Of the same length and the same time.
        for (name, text) in [("..1", GOOD.to_owned()), ("..2", GOOD.replace("== 0", "== 1"))] {
            std::fs::create_dir(at(name)).unwrap();
            let path = at(name).join("rules.yaml");
            std::fs::write(&path, text).unwrap();
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        std::os::unix::fs::symlink("..1", at("..data")).unwrap();
        std::os::unix::fs::symlink("..data/rules.yaml", at("rules.yaml")).unwrap();
        let mut watch = RulesWatch::new(&[at("rules.yaml")]);
        let before = watch.read().unwrap().sha256;
        std::os::unix::fs::symlink("..2", at("..data_tmp")).unwrap();
        std::fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert_ne!(settled(&mut watch).unwrap().unwrap().sha256, before);
    }

    #[test]
    fn of_several_files_one_that_is_wrong_keeps_all_as_they_were() {
        let other = GOOD.replace("name: g", "name: h");
        let (_folder, paths, mut watch) = watched(&[("a.yaml", GOOD), ("b.yaml", &other)]);
        std::fs::write(&paths[0], GOOD.replace("up == 0", "up == 1")).unwrap();
        std::fs::write(&paths[1], other.replace("alert: A", "alert: A\n    alert: B")).unwrap();
        let told = fault(settled(&mut watch));
        assert!(told.contains("b.yaml:") && !told.contains("a.yaml"), "{told}");
        std::fs::write(&paths[1], &other).unwrap();
        assert_eq!(settled(&mut watch).unwrap().unwrap().file.groups.len(), 2);
    }

    #[test]
    fn the_same_group_in_two_files_is_refused() {
        let twice = [("a.yaml".to_owned(), GOOD.to_owned()), ("b.yaml".to_owned(), GOOD.to_owned())];
        assert_eq!(together(&twice).unwrap_err(), "b.yaml: group \"g\" stands in a.yaml too; give one of them another name");
        let other = [("a.yaml".to_owned(), GOOD.to_owned()), ("b.yaml".to_owned(), GOOD.replace("name: g", "name: h"))];
        let both = together(&other).unwrap();
        assert_eq!((both.name.as_str(), both.file.groups.len(), both.sha256.len()), ("a.yaml, b.yaml", 2, 64));
    }

    #[test]
    fn the_rules_that_come_with_the_program_are_right() {
        together(&[(BUILT_IN.0.to_owned(), BUILT_IN.1.to_owned())]).unwrap();
    }
}
