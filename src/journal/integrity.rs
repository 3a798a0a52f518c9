//! Whether a recording is whole: every batch against its commit, every commit against the one before.

use super::line::{CommitLine, LineKind, crc_hex, kind};
use super::reader::{ReadError, parse_header, read_line};
use crate::event::{Envelope, Seq};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A range that can't be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// First and last event of the batch; equal to the last good one where the batch holds none that can be read.
    pub from: Seq,
    pub upto: Seq,
    /// First and last step that the range touches, as `[lane:]episode/step`.
    pub steps: String,
    pub what: String,
}

/// What a whole read found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    pub committed_upto: Seq,
    /// Whole events after the last commit.
    pub uncommitted: u64,
    /// Bytes of an unterminated last line.
    pub torn_bytes: u64,
    pub damage: Vec<Damage>,
}

impl Integrity {
    /// Everything that was written is there as it was written; a tail that was never committed may be missing.
    pub fn is_intact(&self) -> bool {
        self.damage.is_empty() && self.torn_bytes == 0 && self.uncommitted == 0
    }

    /// In words, one line a finding; empty when intact.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.damage.iter().map(|d| format!("damaged: events {} to {} (steps {}): {}", d.from, d.upto, d.steps, d.what)).collect();
        if self.torn_bytes > 0 {
            lines.push(format!("torn: the last line was cut off; {} bytes of it are there", self.torn_bytes));
        }
        if self.uncommitted > 0 {
            lines.push(format!("uncommitted: {} events after {} were written and never synced", self.uncommitted, self.committed_upto));
        }
        lines
    }

    /// Reads the whole file.
    pub fn check(path: &Path) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let mut file = BufReader::with_capacity(256 * 1024, File::open(path).map_err(io)?);
        let mut line = Vec::new();
        read_line(&mut file, &mut line).map_err(io)?;
        parse_header(path, &line)?;
        let mut checker = Checker { prev: crc_hex(&line), ..Checker::default() };
        loop {
            line.clear();
            if read_line(&mut file, &mut line).map_err(io)? == 0 {
                break;
            }
            if line.last() != Some(&b'\n') {
                checker.found.torn_bytes = line.len() as u64;
                break;
            }
            checker.line(&line);
        }
        checker.found.uncommitted = checker.in_batch;
        checker.end_batch();
        Ok(checker.found)
    }
}

#[derive(Default)]
struct Checker {
    found: Integrity,
    prev: String,
    crc: u32,
    last: Seq,
    /// Least and greatest event of the batch.
    batch: Option<(Seq, Seq)>,
    in_batch: u64,
    first_step: Option<String>,
    last_step: Option<String>,
    complaint: Option<String>,
}

impl Checker {
    fn line(&mut self, line: &[u8]) {
        match kind(line) {
            LineKind::Commit => {
                self.commit(line);
                return;
            }
            LineKind::Event(seq) => self.event(seq, line),
            LineKind::Snapshot => {}
            LineKind::Other => self.complain("a line is neither event, commit nor snapshot".into()),
        }
        self.crc = crc32c::crc32c_append(self.crc, line);
    }

    fn event(&mut self, seq: Seq, line: &[u8]) {
        let parsed = std::str::from_utf8(line).map_err(|e| e.to_string()).and_then(|t| Envelope::from_json(t).map_err(|e| e.to_string()));
        match parsed {
            Ok(envelope) => {
                if envelope.step.is_some() {
                    let address = envelope.address();
                    self.first_step.get_or_insert_with(|| address.clone());
                    self.last_step = Some(address);
                }
                let elided = matches!(envelope.event, crate::event::Event::Elided(_));
                if seq != self.last.next() && !elided {
                    self.complain(format!("event {seq} follows {}", self.last));
                }
            }
            Err(reason) => self.complain(reason),
        }
        let (from, upto) = self.batch.get_or_insert((seq, seq));
        (*from, *upto) = ((*from).min(seq), (*upto).max(seq));
        self.in_batch += 1;
        self.last = seq;
    }

    fn complain(&mut self, what: String) {
        self.complaint.get_or_insert(what);
    }

    fn commit(&mut self, line: &[u8]) {
        match serde_json::from_slice::<CommitLine>(line) {
            Ok(commit) => {
                if commit.crc32c != format!("{:08x}", self.crc) {
                    self.complain("the lines do not match their commit's checksum: a byte was changed".into());
                }
                if commit.prev != self.prev {
                    self.complain("the commit does not follow the one before: lines were cut out or changed".into());
                }
                if commit.upto != self.last {
                    self.complain(format!(
                        "the commit says that it covers events up to {}, the last one before it is {}",
                        commit.upto, self.last
                    ));
                }
                self.found.committed_upto = commit.upto;
                self.prev = commit.crc32c;
            }
            Err(e) => self.complain(format!("a commit can't be read: {e}")),
        }
        self.end_batch();
    }

    /// Turns a complaint about the batch into damage, and begins the next one.
    fn end_batch(&mut self) {
        if let Some(what) = self.complaint.take() {
            let (from, upto) = self.batch.unwrap_or((self.last, self.last));
            let none = || "none".to_owned();
            let steps = format!("{} to {}", self.first_step.clone().unwrap_or_else(none), self.last_step.clone().unwrap_or_else(none));
            self.found.damage.push(Damage { from, upto, steps, what });
        }
        self.crc = 0;
        self.batch = None;
        self.in_batch = 0;
        self.first_step = None;
        self.last_step = None;
    }
}
