//! Reading a recording: its header, its events from any place, the nearest snapshot.

use super::header::{FORMAT, Header, VERSION};
use super::line::{LineKind, SnapshotLine, event_kind, kind};
use crate::event::{DecodeError, Envelope, Seq};
use crate::state::DashState;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An offset is kept for one event in this many.
const INDEX_EVERY: u64 = 64;
/// No line of ours is longer: larger payloads are blobs, and snapshots are bounded.
const LINE_BYTES_MAX: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path} is not a recording: its first line is not a header with \"fmt\":\"{FORMAT}\"")]
    NotARecording { path: PathBuf },
    #[error("{path} is a recording of format version {}.{}; this build reads {}.x: use a build that reads {}.x", found[0], found[1], VERSION[0], found[0])]
    Newer { path: PathBuf, found: [u32; 2] },
    #[error("{path}: line at byte {offset}: {reason}")]
    Line { path: PathBuf, offset: u64, reason: String },
}

/// Places of the boundaries by which a viewer steps.
#[derive(Clone, Debug, Default)]
pub struct Boundaries {
    pub tokens: Vec<Seq>,
    pub phases: Vec<Seq>,
    pub decisions: Vec<Seq>,
    pub episodes: Vec<Seq>,
}

/// A recording that was opened for reading. The file is never changed.
pub struct Recording {
    path: PathBuf,
    file: BufReader<File>,
    header: Header,
    /// Offsets of events 1, 65, 129, …
    index: Vec<(Seq, u64)>,
    snapshots: Vec<(Seq, u64)>,
    boundaries: Boundaries,
    /// The last event that can be read in an unbroken row.
    end: Seq,
    /// Where the unbroken row ends in the file.
    end_offset: u64,
    t_ns_end: u64,
}

impl Recording {
    /// Opens and scans the file once; it is not held in memory.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let mut file = BufReader::with_capacity(256 * 1024, File::open(path).map_err(io)?);
        let mut line = Vec::new();
        read_line(&mut file, &mut line).map_err(io)?;
        let header = parse_header(path, &line)?;
        let mut recording = Self {
            path: path.to_owned(),
            file,
            header,
            index: Vec::new(),
            snapshots: Vec::new(),
            boundaries: Boundaries::default(),
            end: Seq(0),
            end_offset: 0,
            t_ns_end: 0,
        };
        recording.scan(line.len() as u64)?;
        Ok(recording)
    }

    fn scan(&mut self, mut offset: u64) -> Result<(), ReadError> {
        let mut line = Vec::new();
        let mut last = Vec::new();
        loop {
            line.clear();
            let bytes = read_line(&mut self.file, &mut line).map_err(|source| ReadError::Io { path: self.path.clone(), source })?;
            if bytes == 0 || line.last() != Some(&b'\n') {
                break;
            }
            match kind(&line) {
                LineKind::Event(seq) => {
                    // A gap ends what can be folded; integrity says what lies behind it.
                    let elided = event_kind(&line) == Some("Elided");
                    if seq != self.end.next() && !elided {
                        break;
                    }
                    if self.index.last().is_none_or(|(s, _)| seq.0 >= s.0 + INDEX_EVERY) {
                        self.index.push((seq, offset));
                    }
                    self.note_boundary(seq, &line);
                    self.end = seq;
                    std::mem::swap(&mut last, &mut line);
                }
                LineKind::Snapshot => self.snapshots.push((self.end, offset)),
                LineKind::Commit => {}
                LineKind::Other => break,
            }
            offset += bytes as u64;
        }
        self.end_offset = offset;
        self.t_ns_end = std::str::from_utf8(&last).ok().and_then(|l| Envelope::from_json(l).ok()).map_or(0, |e| e.t_ns);
        Ok(())
    }

    fn note_boundary(&mut self, seq: Seq, line: &[u8]) {
        match event_kind(line) {
            Some("ThoughtDelta" | "MessageCompleted") => self.boundaries.tokens.push(seq),
            Some("PhaseEntered") => self.boundaries.phases.push(seq),
            Some("DecisionSettled") => self.boundaries.decisions.push(seq),
            Some("EpisodeEnded") => self.boundaries.episodes.push(seq),
            Some(_) | None => {}
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn boundaries(&self) -> &Boundaries {
        &self.boundaries
    }

    /// The last event of the unbroken row.
    pub fn end(&self) -> Seq {
        self.end
    }

    pub fn t_ns_end(&self) -> u64 {
        self.t_ns_end
    }

    /// Events from `from` on, in order, to the end of the unbroken row.
    pub fn events_from(&mut self, from: Seq) -> Result<Events<'_>, ReadError> {
        let from = from.max(Seq(1));
        let slot = self.index.partition_point(|(s, _)| *s <= from);
        let offset = slot.checked_sub(1).and_then(|i| self.index.get(i)).map_or(0, |(_, o)| *o);
        self.file.seek(SeekFrom::Start(offset)).map_err(|source| ReadError::Io { path: self.path.clone(), source })?;
        Ok(Events { recording: self, from, offset, line: Vec::new() })
    }

    /// The state after the event `seq`: the nearest snapshot and the events behind it.
    pub fn state_at(&mut self, seq: Seq) -> Result<DashState, ReadError> {
        let seq = seq.min(self.end);
        let slot = self.snapshots.partition_point(|(s, _)| *s <= seq);
        let mut state = match slot.checked_sub(1).map(|i| self.snapshots[i]) {
            Some((_, offset)) => self.snapshot(offset).unwrap_or_default(),
            None => DashState::default(),
        };
        let path = self.path.clone();
        for envelope in self.events_from(state.seq.next())? {
            let envelope = envelope?;
            if envelope.seq > seq {
                break;
            }
            state.apply(&envelope).map_err(|e| ReadError::Line { path: path.clone(), offset: 0, reason: e.to_string() })?;
        }
        Ok(state)
    }

    /// A snapshot that can't be read is passed over: the events have everything.
    fn snapshot(&mut self, offset: u64) -> Option<DashState> {
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        let mut line = Vec::new();
        read_line(&mut self.file, &mut line).ok()?;
        serde_json::from_slice::<SnapshotLine>(&line).ok().map(|s| s.state)
    }
}

/// Iterator over a recording's events.
pub struct Events<'a> {
    recording: &'a mut Recording,
    from: Seq,
    offset: u64,
    line: Vec<u8>,
}

impl Iterator for Events<'_> {
    type Item = Result<Arc<Envelope>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.offset >= self.recording.end_offset {
                return None;
            }
            self.line.clear();
            let offset = self.offset;
            let path = || self.recording.path.clone();
            match read_line(&mut self.recording.file, &mut self.line) {
                Ok(0) => return None,
                Ok(bytes) => self.offset += bytes as u64,
                Err(source) => return Some(Err(ReadError::Io { path: path(), source })),
            }
            let LineKind::Event(seq) = kind(&self.line) else { continue };
            if seq < self.from {
                continue;
            }
            let text = std::str::from_utf8(&self.line).map_err(|e| e.to_string());
            let envelope = text.and_then(|t| Envelope::from_json(t).map_err(|e: DecodeError| e.to_string()));
            return Some(envelope.map(Arc::new).map_err(|reason| ReadError::Line { path: path(), offset, reason }));
        }
    }
}

/// Appends one line, newline included; a longer one than any of ours comes in pieces, which are then not lines of ours.
pub(super) fn read_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    std::io::Read::take(file, LINE_BYTES_MAX as u64).read_until(b'\n', line)
}

pub(super) fn parse_header(path: &Path, line: &[u8]) -> Result<Header, ReadError> {
    let not_ours = || ReadError::NotARecording { path: path.to_owned() };
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| not_ours())?;
    if value.get("fmt").and_then(|f| f.as_str()) != Some(FORMAT) {
        return Err(not_ours());
    }
    let version = value.get("v").and_then(|v| serde_json::from_value::<[u32; 2]>(v.clone()).ok()).ok_or_else(not_ours)?;
    if version[0] != VERSION[0] {
        return Err(ReadError::Newer { path: path.to_owned(), found: version });
    }
    serde_json::from_value(value).map_err(|e| ReadError::Line { path: path.to_owned(), offset: 0, reason: format!("header: {e}") })
}
