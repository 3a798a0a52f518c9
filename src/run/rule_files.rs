//! The rule files of a run: read together, watched, and taken anew only where all of them are right.

use crate::alert::rules::{RuleFile, RuleGroup};
use crate::event::{LabelSet, RulesLoaded, SafeText};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
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

/// When a file was written, and how long it is; unset where it can't be looked at.
type Stamp = Option<(SystemTime, u64)>;

/// Looks whether files have changed: by time and size, and then by what is in them.
#[derive(Debug)]
pub struct RulesWatch {
    /// None: the rules that come with the program.
    files: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    /// Of what was told last, good or bad.
    seen: String,
}

impl RulesWatch {
    pub fn new(files: &[PathBuf]) -> Self {
        let mut watch = Self { files: files.to_vec(), stamps: Vec::new(), seen: String::new() };
        watch.stamps = watch.stamp();
        watch.seen = watch.read().map_or_else(|fault| fault, |rules| rules.sha256);
        watch
    }

    fn stamp(&self) -> Vec<Stamp> {
        let of = |path: &PathBuf| std::fs::metadata(path).ok().and_then(|m| Some((m.modified().ok()?, m.len())));
        self.files.iter().map(of).collect()
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

    /// What the files came to, where that is not what it was.
    pub fn changed(&mut self) -> Option<Result<Rules, String>> {
        let stamps = self.stamp();
        if stamps == self.stamps {
            return None;
        }
        self.stamps = stamps;
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
    // A pipe would be waited for.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(fault("is no regular file".into()));
    }
    let file = std::fs::File::open(path).map_err(|error| fault(format!("can't be read: {error}")))?;
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

/// Only the rule of this name, with the recording rules before it in its group.
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

    #[test]
    fn a_bad_version_is_told_once_with_its_line_and_the_next_good_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.yaml");
        std::fs::write(&path, GOOD).unwrap();
        let mut watch = RulesWatch::new(std::slice::from_ref(&path));
        assert!(watch.changed().is_none());
        std::fs::write(&path, GOOD.replace("up == 0", "up ==")).unwrap();
        let fault = watch.changed().unwrap().unwrap_err();
        assert!(fault.contains("rules.yaml:5:"), "{fault}");
        assert!(watch.changed().is_none());
        std::fs::write(&path, GOOD.replace("up == 0", "up == 1")).unwrap();
        assert_eq!(watch.changed().unwrap().unwrap().file.groups.len(), 1);
        std::fs::remove_file(&path).unwrap();
        assert!(watch.changed().unwrap().unwrap_err().contains("can't be read"));
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
