//! Reading a recording: its header, its events from any place, the nearest snapshot. The files are never changed.

use super::body::Body;
use super::events::Events;
use super::header::{FORMAT, Header, VERSION};
use super::integrity::{Damage, Integrity};
use super::line::{SegmentMark, Taken, take_line};
use super::names;
use super::part::PartMark;
use super::scan::{Map, Scanner, Spot, Stretch, parse};
use super::seal::SealMark;
use super::seek::States;
use super::tail::{self, Tail};
use crate::event::{Envelope, Event, RunState, Seq};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is not a recording: its first line is not a header with \"fmt\":\"{FORMAT}\"")]
    NotARecording { path: PathBuf },
    #[error("{path} is a recording of format version {}.{}; this build reads {}.x: use a build that reads {}.x", found[0], found[1], VERSION[0], found[0])]
    Newer { path: PathBuf, found: [u32; 2] },
    #[error("{path} is segment {number} of a recording: open the file without .{number} in its name, which goes on into it")]
    Segment { path: PathBuf, number: u32 },
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

/// One file of a recording.
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) file: BufReader<Body>,
    /// Where its lines begin, behind the header.
    pub(super) start: u64,
    header_line: Vec<u8>,
    mark: Option<SegmentMark>,
    /// What the plain file's end said of which it was made.
    seal: Option<SealMark>,
    part: Option<PartMark>,
}

/// A recording that was opened for reading.
pub struct Recording {
    pub(super) header: Header,
    pub(super) segments: Vec<Segment>,
    pub(super) part: Option<PartMark>,
    /// What was read of it so far, from the beginning.
    scanner: Scanner,
    /// What the end says, until all was read.
    tail: Option<Tail>,
    /// What is known to be wrong.
    integrity: Integrity,
    /// Of that, what reading an event found, and no look at the file as a whole finds again.
    noted: Vec<Damage>,
    t_ns_end: u64,
    pub(super) states: States,
    /// The event of the snapshot that was read last, and where the event behind it begins.
    pub(super) behind: Option<(Seq, Spot)>,
    /// Length of the last file when it was looked at.
    seen_bytes: u64,
}

/// What is read of a file at a time.
const BUFFER_BYTES: usize = 64 * 1024;
/// A file that is no longer is read whole when it is opened: it takes no longer than the eye sees.
const WHOLE_BYTES_MAX: u64 = 8 << 20;

impl Recording {
    /// Opens the file and its segments and reads them once; they are not held in memory.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let mut recording = Self::opened(path)?;
        recording.read_whole()?;
        Ok(recording)
    }

    /// Opens a long file by its end alone. Everything can be asked of it at once; `read_on` reads the rest, and finds what is damaged.
    pub fn open_quickly(path: &Path) -> Result<Self, ReadError> {
        Self::open_above(path, WHOLE_BYTES_MAX)
    }

    /// As `open_quickly`, for files that are longer than `bytes`.
    pub fn open_above(path: &Path, bytes: u64) -> Result<Self, ReadError> {
        let mut recording = Self::opened(path)?;
        // The state before its first event is to be believed, which takes all of its batch.
        if recording.base() > Seq(0) {
            return recording.wholly();
        }
        let [only] = recording.segments.as_mut_slice() else { return recording.wholly() };
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        if only.file.get_ref().length().map_err(io)? <= bytes {
            return recording.wholly();
        }
        let Some(tail) = tail::read(&mut only.file, only.start).map_err(io)? else { return recording.wholly() };
        recording.scanner.begin_segment(&only.header_line, None);
        recording.take_tail(tail);
        Ok(recording)
    }

    fn opened(path: &Path) -> Result<Self, ReadError> {
        let (mut first, header) = Segment::open(path)?;
        if let Some(mark) = &first.mark {
            return Err(ReadError::Segment { path: path.to_owned(), number: mark.number });
        }
        let part = first.part.take();
        let noted = part.as_ref().map_or_else(Vec::new, |part| part.damage.clone());
        let mut segments = vec![first];
        // A sealed recording has all of its segments in it.
        if !segments[0].file.get_ref().is_sealed() {
            segments.extend(following(path, &header)?);
        }
        let (scanner, states) = (Scanner::behind(part.as_ref().map_or(Seq(0), PartMark::base)), States::default());
        let mut recording = Self {
            header,
            segments,
            part,
            scanner,
            tail: None,
            integrity: Integrity::default(),
            noted,
            t_ns_end: 0,
            states,
            behind: None,
            seen_bytes: 0,
        };
        recording.seen_bytes = recording.length()?;
        Ok(recording)
    }

    fn wholly(mut self) -> Result<Self, ReadError> {
        self.read_whole()?;
        Ok(self)
    }

    fn read_whole(&mut self) -> Result<(), ReadError> {
        self.scanner = Scanner::behind(self.base());
        for i in 0..self.segments.len() {
            let next = self.segments.get(i + 1).and_then(|s| s.mark.clone());
            let Segment { path, file, header_line, mark, .. } = &mut self.segments[i];
            let io = |source| ReadError::Io { path: path.clone(), source };
            self.scanner.segment(file, header_line, mark.as_ref(), next.as_ref()).map_err(io)?;
        }
        self.read_end()
    }

    fn take_tail(&mut self, tail: Tail) {
        self.t_ns_end = tail.t_ns_end;
        self.tail = Some(tail);
        self.sum_up();
    }

    /// Puts together what is known to be wrong: by the end or by the whole, what reading an event found, and what sealing took over.
    fn sum_up(&mut self) {
        let mut found = self.scanner.map.integrity.clone();
        found.changed = self.integrity.changed.take();
        if let Some(tail) = &self.tail {
            (found.committed_upto, found.uncommitted) = (tail.committed_upto, tail.uncommitted);
            (found.torn_bytes, found.run_ended) = (tail.torn_bytes, tail.run_ended);
        }
        if let Some(seal) = self.segments[0].seal.as_ref() {
            if seal.uncommitted > 0 {
                (found.committed_upto, found.uncommitted) = (seal.committed_upto, seal.uncommitted);
            }
            found.torn_bytes = found.torn_bytes.max(seal.torn_bytes);
        }
        for noted in &self.noted {
            if !found.damage.iter().any(|d| d.covers(noted)) {
                found.damage.push(noted.clone());
            }
        }
        self.integrity = found;
    }

    /// Whether all of it was read, so that nothing that is said of it can turn out to be otherwise.
    pub fn is_whole(&self) -> bool {
        self.tail.is_none()
    }

    /// Reads on, about `budget` bytes of what was not read yet; whether there was any.
    pub fn read_on(&mut self, budget: u64) -> Result<bool, ReadError> {
        if self.is_whole() {
            return Ok(false);
        }
        let Segment { path, file, .. } = &mut self.segments[0];
        let io = |source| ReadError::Io { path: path.clone(), source };
        match self.scanner.read(file, budget, None).map_err(io)? {
            Stretch::More => self.sum_up(),
            Stretch::End { torn_bytes } => {
                self.scanner.end_segment(file, torn_bytes, None).map_err(io)?;
                self.read_end()?;
            }
        }
        Ok(true)
    }

    /// Reads all that was not read yet.
    pub fn read_out(&mut self) -> Result<(), ReadError> {
        while self.read_on(u64::MAX)? {}
        Ok(())
    }

    pub fn is_sealed(&self) -> bool {
        self.segments.iter().any(|s| s.file.get_ref().is_sealed())
    }

    /// The files that it is in.
    pub(super) fn files(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.segments.iter().map(|s| s.path.as_path())
    }

    /// The last commit's checksum, to which the chain of all of them leads.
    pub(super) fn chain_head(&self) -> &str {
        self.scanner.link()
    }

    /// Bytes of the last file now.
    fn length(&self) -> Result<u64, ReadError> {
        let Some(Segment { path, file, .. }) = self.segments.last() else { return Ok(0) };
        file.get_ref().bytes().map_err(|source| ReadError::Io { path: path.clone(), source })
    }

    /// Whether its run goes on: its end is not written, and a writer holds the file.
    pub fn is_growing(&self) -> bool {
        !self.integrity().run_ended && self.segments.last().is_some_and(|s| s.file.get_ref().is_held())
    }

    /// Looks whether the files are still what was opened. What was read of them before is never taken for what is in them now without a word.
    pub fn look(&mut self) -> Result<(), ReadError> {
        if self.integrity.changed.is_some() {
            return Ok(());
        }
        let is_shorter = self.length()? < self.seen_bytes;
        let changed = self.segments.iter().find_map(|segment| {
            let Segment { path, file, header_line, .. } = segment;
            let what = if !file.get_ref().begins_with(header_line) {
                "was overwritten since it was opened: what is read of it now is something else"
            } else if file.get_ref().is_replaced(path) {
                "is another file now; what is shown is the one that was opened"
            } else {
                return None;
            };
            Some(format!("{} {what}", path.display()))
        });
        let cut = || format!("{} is shorter than it was: what was cut off can't be read any more", self.path().display());
        self.integrity.changed = changed.or_else(|| is_shorter.then(cut));
        Ok(())
    }

    /// Takes up what was written since; whether there was any.
    pub fn follow(&mut self) -> Result<bool, ReadError> {
        self.look()?;
        let length = self.length()?;
        // A file that shrank is told of by whoever reads what is missing.
        if length <= self.seen_bytes {
            return self.follow_segments();
        }
        let last = self.segments.len() - 1;
        let Segment { path, file, start, .. } = &mut self.segments[last];
        let io = |source| ReadError::Io { path: path.clone(), source };
        if self.tail.is_some() {
            // A batch that is half written is looked at again.
            let Some(tail) = tail::read(file, *start).map_err(io)? else { return Ok(false) };
            self.take_tail(tail);
        } else {
            self.scanner.reopen();
            if let Stretch::End { torn_bytes } = self.scanner.read(file, u64::MAX, None).map_err(io)? {
                self.scanner.end_segment(file, torn_bytes, None).map_err(io)?;
            }
            self.read_end()?;
        }
        self.seen_bytes = length;
        Ok(true)
    }

    /// The run goes on in another file where this one could not be written.
    fn follow_segments(&mut self) -> Result<bool, ReadError> {
        if self.is_sealed() || !names::segment(self.path(), self.segments.len() as u32).exists() {
            return Ok(false);
        }
        let found = following(self.path(), &self.header)?;
        if found.len() < self.segments.len() {
            return Ok(false);
        }
        self.segments.truncate(1);
        self.segments.extend(found);
        self.tail = None;
        self.read_whole()?;
        self.seen_bytes = self.length()?;
        Ok(true)
    }

    /// The header alone, which is quick whatever the size; none where the file is a later segment of a recording.
    pub fn header_of(path: &Path) -> Result<Option<Header>, ReadError> {
        Segment::open(path).map(|(segment, header)| segment.mark.is_none().then_some(header))
    }

    fn read_end(&mut self) -> Result<(), ReadError> {
        let was_guessed = self.tail.take().is_some();
        if was_guessed && !self.map().integrity.damage.is_empty() {
            // What was made before the damage was known.
            self.states = States::default();
        }
        let (last, last_run_state) = (self.map().last, self.map().last_run_state);
        self.t_ns_end = self.event_at(last)?.map_or(0, |e| e.t_ns);
        let run_state = self.event_at(last_run_state)?.map(|e| e.event);
        let run_ended = matches!(run_state, Some(Event::RunStateChanged(e)) if e.state == RunState::Ended);
        self.scanner.map.integrity.run_ended = run_ended;
        self.sum_up();
        Ok(())
    }

    pub(super) fn map(&self) -> &Map {
        &self.scanner.map
    }

    /// Behind this place nothing was read yet.
    pub(super) fn read_upto(&self) -> u64 {
        self.scanner.judged()
    }

    /// Where the events of a segment end.
    pub(super) fn end_of(&self, segment: usize) -> u64 {
        let guessed = self.tail.as_ref().map_or(0, |tail| tail.length);
        self.map().ends.get(segment).copied().unwrap_or(guessed)
    }

    fn event_at(&mut self, spot: Option<Spot>) -> Result<Option<Envelope>, ReadError> {
        let Some(spot) = spot else { return Ok(None) };
        let mut line = Vec::new();
        self.line_at(spot, &mut line)?;
        Ok(parse(&line).ok())
    }

    pub(super) fn line_at(&mut self, spot: Spot, line: &mut Vec<u8>) -> Result<Taken, ReadError> {
        let Segment { path, file, .. } = &mut self.segments[spot.segment];
        let taken = file.seek(SeekFrom::Start(spot.offset)).and_then(|_| take_line(file, line));
        taken.map_err(|source| ReadError::Io { path: path.clone(), source })
    }

    pub fn path(&self) -> &Path {
        &self.segments[0].path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The last event.
    pub fn end(&self) -> Seq {
        self.tail.as_ref().map_or(self.map().end, |tail| tail.end)
    }

    pub fn t_ns_end(&self) -> u64 {
        self.t_ns_end
    }

    /// What opening found, and what reading has found since.
    pub fn integrity(&self) -> &Integrity {
        &self.integrity
    }

    /// Bytes of an unterminated last line.
    pub fn torn_bytes(&self) -> u64 {
        self.integrity().torn_bytes
    }

    /// Events from `from` on, in order. A range that can't be read comes as one `Elided`, and `integrity` names it.
    pub fn events_from(&mut self, from: Seq) -> Result<Events<'_>, ReadError> {
        Events::begin(self, from.max(self.base().next()))
    }

    /// Keeps what reading found and opening had not.
    pub(super) fn note(&mut self, from: Seq, upto: Seq, steps: String, what: String) {
        let found = Damage { from, upto, steps, what };
        if !self.integrity.damage.iter().any(|d| d.covers(&found)) {
            self.integrity.damage.push(found.clone());
            self.noted.push(found);
        }
    }
}

/// What a list says of a recording: its header and its end.
#[derive(Clone, Debug)]
pub struct Glance {
    pub header: Header,
    /// Of all its files, as they lie there.
    pub bytes: u64,
    pub is_sealed: bool,
    /// Its run goes on.
    pub is_held: bool,
    /// What the end says; unset where that can't be told without reading all of it.
    pub ending: Option<Ending>,
}

/// The end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    pub end: Seq,
    pub t_ns_end: u64,
    pub run_ended: bool,
}

/// A recording that is no longer is read whole for a list, where its end alone does not tell.
const GLANCE_BYTES_MAX: u64 = 1 << 20;

impl Glance {
    /// Header and end, whatever the size; none where the file is a later segment of a recording.
    pub fn at(path: &Path) -> Result<Option<Self>, ReadError> {
        let (first, header) = Segment::open(path)?;
        if first.mark.is_some() {
            return Ok(None);
        }
        let is_sealed = first.file.get_ref().is_sealed();
        let mut segments = vec![first];
        if !is_sealed {
            segments.extend(following(path, &header)?);
        }
        let bytes = files_of(path).iter().map(|file| bytes_of(file)).sum();
        let is_held = segments.iter().any(|s| s.file.get_ref().is_held());
        let mut ending = None;
        if let Some(Segment { path, file, start, .. }) = segments.last_mut() {
            let tail = tail::read(file, *start).map_err(|source| ReadError::Io { path: path.clone(), source })?;
            ending = tail.map(|t| Ending { end: t.end, t_ns_end: t.t_ns_end, run_ended: t.run_ended });
        }
        if ending.is_none() && bytes <= GLANCE_BYTES_MAX {
            let whole = Recording::open(path)?;
            ending = Some(Ending { end: whole.end(), t_ns_end: whole.t_ns_end(), run_ended: whole.integrity().run_ended });
        }
        Ok(Some(Self { header, bytes, is_sealed, is_held, ending }))
    }
}

/// All files that belong to a recording and to no other, those that are there; the recording itself comes first.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    // A plain and a sealed recording of one name share what lies beside them: it goes with the last of them.
    if names::siblings(path).iter().any(|p| p.exists()) {
        return files;
    }
    if let Ok((_, header)) = Segment::open(path) {
        files.extend(following(path, &header).unwrap_or_default().into_iter().map(|segment| segment.path));
    }
    files.extend((0..).map(|n| names::torn(path, n)).take_while(|p| p.exists()));
    // A run that was killed leaves its reserve, and a seal what it had written.
    let beside = [names::pin(path), names::blobs(path), names::reserve(path), names::aside(path)];
    files.extend(beside.into_iter().filter(|p| p.exists()));
    files
}

/// Bytes of a file, or of all files in a directory; none where it is not there.
pub(super) fn bytes_of(path: &Path) -> u64 {
    let Ok(found) = std::fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return std::fs::metadata(path).map_or(0, |m| m.len());
    }
    let entries = std::fs::read_dir(path).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|m| m.len()).sum()
}

impl Segment {
    fn open(path: &Path) -> Result<(Self, Header), ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        // A pipe or a device has no end to find and no place to go back to.
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(ReadError::NotARecording { path: path.to_owned() });
        }
        let mut file = BufReader::with_capacity(BUFFER_BYTES, Body::open(path).map_err(io)?);
        if file.fill_buf().map_err(io)?.first() != Some(&b'{') {
            return Err(ReadError::NotARecording { path: path.to_owned() });
        }
        let mut line = Vec::new();
        take_line(&mut file, &mut line).map_err(io)?;
        let Parsed { header, mark, seal, part } = parse_header(path, &line)?;
        // Only what is packed was sealed, whatever its header says.
        let seal = seal.filter(|_| file.get_ref().is_sealed());
        Ok((Self { path: path.to_owned(), file, start: line.len() as u64, header_line: line, mark, seal, part }, header))
    }
}

/// The segments into which a recording goes on. A file of that name that is no segment of it is somebody else's.
fn following(path: &Path, header: &Header) -> Result<Vec<Segment>, ReadError> {
    let mut segments = Vec::new();
    for number in 1.. {
        let path = names::segment(path, number);
        if !path.exists() {
            break;
        }
        match Segment::open(&path) {
            Ok((segment, own)) if own.id == header.id && segment.mark.as_ref().is_some_and(|m| m.number == number) => {
                segments.push(segment)
            }
            Err(error @ ReadError::Io { .. }) => return Err(error),
            Ok(_) | Err(ReadError::NotARecording { .. } | ReadError::Newer { .. } | ReadError::Segment { .. } | ReadError::Line { .. }) => {
            }
        }
    }
    Ok(segments)
}

struct Parsed {
    header: Header,
    mark: Option<SegmentMark>,
    seal: Option<SealMark>,
    part: Option<PartMark>,
}

fn parse_header(path: &Path, line: &[u8]) -> Result<Parsed, ReadError> {
    let not_ours = || ReadError::NotARecording { path: path.to_owned() };
    let bad = |e: serde_json::Error| ReadError::Line { path: path.to_owned(), offset: 0, reason: format!("header: {e}") };
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| not_ours())?;
    if value.get("fmt").and_then(|f| f.as_str()) != Some(FORMAT) {
        return Err(not_ours());
    }
    let version = value.get("v").and_then(|v| serde_json::from_value::<[u32; 2]>(v.clone()).ok()).ok_or_else(not_ours)?;
    if version[0] != VERSION[0] {
        return Err(ReadError::Newer { path: path.to_owned(), found: version });
    }
    let mark = value.get("segment").map(|m| serde_json::from_value(m.clone())).transpose().map_err(bad)?;
    let seal = value.get("sealed").map(|m| serde_json::from_value(m.clone())).transpose().map_err(bad)?;
    let part = value.get("part").map(|m| serde_json::from_value(m.clone())).transpose().map_err(bad)?;
    Ok(Parsed { header: serde_json::from_value(value).map_err(bad)?, mark, seal, part })
}
