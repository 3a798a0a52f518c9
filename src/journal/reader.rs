//! Reading a recording: its header, its events from any place, the nearest snapshot. The files are never changed.

use super::header::{FORMAT, Header, VERSION};
use super::integrity::{Damage, Integrity};
use super::line::{LineKind, SegmentMark, SnapshotLine, Taken, kind, take_line};
use super::names;
use super::scan::{Map, Scanner, Spot, first_of, parse};
use crate::event::{Elided, Envelope, Event, LaneId, RunState, Seq};
use crate::state::DashState;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
struct Segment {
    path: PathBuf,
    file: BufReader<File>,
    /// Where its lines begin, behind the header.
    start: u64,
    header_line: Vec<u8>,
    mark: Option<SegmentMark>,
}

/// A recording that was opened for reading.
pub struct Recording {
    header: Header,
    segments: Vec<Segment>,
    map: Map,
    t_ns_end: u64,
}

impl Recording {
    /// Opens and scans the file and its segments once; they are not held in memory.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let (first, header) = Segment::open(path)?;
        if let Some(mark) = &first.mark {
            return Err(ReadError::Segment { path: path.to_owned(), number: mark.number });
        }
        let mut segments = vec![first];
        segments.extend(following(path, &header)?);
        let mut scanner = Scanner::default();
        for i in 0..segments.len() {
            let next = segments.get(i + 1).and_then(|s| s.mark.clone());
            let Segment { path, file, header_line, mark, .. } = &mut segments[i];
            let io = |source| ReadError::Io { path: path.clone(), source };
            scanner.segment(file, header_line, mark.as_ref(), next.as_ref()).map_err(io)?;
        }
        let mut recording = Self { header, segments, map: scanner.map, t_ns_end: 0 };
        recording.read_end()?;
        Ok(recording)
    }

    /// The header alone, which is quick whatever the size; none where the file is a later segment of a recording.
    pub fn header_of(path: &Path) -> Result<Option<Header>, ReadError> {
        Segment::open(path).map(|(segment, header)| segment.mark.is_none().then_some(header))
    }

    fn read_end(&mut self) -> Result<(), ReadError> {
        self.t_ns_end = self.event_at(self.map.last)?.map_or(0, |e| e.t_ns);
        let run_state = self.event_at(self.map.last_run_state)?.map(|e| e.event);
        self.map.integrity.run_ended = matches!(run_state, Some(Event::RunStateChanged(e)) if e.state == RunState::Ended);
        Ok(())
    }

    fn event_at(&mut self, spot: Option<Spot>) -> Result<Option<Envelope>, ReadError> {
        let Some(spot) = spot else { return Ok(None) };
        let mut line = Vec::new();
        self.line_at(spot, &mut line)?;
        Ok(parse(&line).ok())
    }

    fn line_at(&mut self, spot: Spot, line: &mut Vec<u8>) -> Result<Taken, ReadError> {
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

    pub fn boundaries(&self) -> &Boundaries {
        &self.map.boundaries
    }

    /// The last event.
    pub fn end(&self) -> Seq {
        self.map.end
    }

    pub fn t_ns_end(&self) -> u64 {
        self.t_ns_end
    }

    /// What opening found, and what reading has found since.
    pub fn integrity(&self) -> &Integrity {
        &self.map.integrity
    }

    /// Bytes of an unterminated last line.
    pub fn torn_bytes(&self) -> u64 {
        self.map.integrity.torn_bytes
    }

    /// Events from `from` on, in order. A range that can't be read comes as one `Elided`, and `integrity` names it.
    pub fn events_from(&mut self, from: Seq) -> Result<Events<'_>, ReadError> {
        let from = from.max(Seq(1));
        let slot = self.map.marks.partition_point(|m| m.after < from);
        let first = Spot { segment: 0, offset: self.segments[0].start };
        let (after, spot) = slot.checked_sub(1).map_or((Seq(0), first), |i| (self.map.marks[i].after, self.map.marks[i].spot));
        let mut events = Events { recording: self, from, last: after, spot, last_t_ns: 0, unread: None, pending: None, done: false };
        events.seek()?;
        Ok(events)
    }

    /// The state after the event `seq`, or before the range that can't be read and holds it.
    pub fn state_at(&mut self, seq: Seq) -> Result<DashState, ReadError> {
        let seq = seq.min(self.end());
        let mut state = self.snapshot_before(seq);
        for envelope in self.events_from(state.seq.next())? {
            let envelope = envelope?;
            // The reader leaves no gap, so that nothing but the end stops the fold.
            if envelope.seq > seq || state.apply(&envelope).is_err() {
                break;
            }
        }
        Ok(state)
    }

    /// The newest snapshot up to `seq` that is what it says. One that is not is passed over: the events have everything.
    fn snapshot_before(&mut self, seq: Seq) -> DashState {
        let slot = self.map.snapshots.partition_point(|(s, _)| *s <= seq);
        (0..slot).rev().find_map(|i| self.snapshot(self.map.snapshots[i])).unwrap_or_default()
    }

    fn snapshot(&mut self, (seq, spot): (Seq, Spot)) -> Option<DashState> {
        let mut line = Vec::new();
        self.line_at(spot, &mut line).ok()?;
        let found = serde_json::from_slice::<SnapshotLine<DashState>>(&line).ok()?;
        (found.upto == seq && found.state.seq == seq).then_some(found.state)
    }

    /// Keeps what reading found and opening had not.
    fn note(&mut self, from: Seq, upto: Seq, steps: String, what: String) {
        let damage = &mut self.map.integrity.damage;
        if !damage.iter().any(|d| d.from <= from && d.upto >= upto) {
            damage.push(Damage { from, upto, steps, what });
        }
    }
}

impl Segment {
    fn open(path: &Path) -> Result<(Self, Header), ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        // A pipe or a device has no end to find and no place to go back to.
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(ReadError::NotARecording { path: path.to_owned() });
        }
        let mut file = BufReader::with_capacity(256 * 1024, File::open(path).map_err(io)?);
        if file.fill_buf().map_err(io)?.first() != Some(&b'{') {
            return Err(ReadError::NotARecording { path: path.to_owned() });
        }
        let mut line = Vec::new();
        take_line(&mut file, &mut line).map_err(io)?;
        let (header, mark) = parse_header(path, &line)?;
        Ok((Self { path: path.to_owned(), file, start: line.len() as u64, header_line: line, mark }, header))
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

/// Iterator over a recording's events, without a hole in their numbers.
pub struct Events<'a> {
    recording: &'a mut Recording,
    from: Seq,
    /// The last event that was passed or handed out.
    last: Seq,
    last_t_ns: u64,
    spot: Spot,
    /// Why a line since `last` could not be read.
    unread: Option<String>,
    /// Comes behind the range that was handed out in place of what can't be read.
    pending: Option<Arc<Envelope>>,
    done: bool,
}

impl Events<'_> {
    fn seek(&mut self) -> Result<(), ReadError> {
        let Segment { path, file, .. } = &mut self.recording.segments[self.spot.segment];
        file.seek(SeekFrom::Start(self.spot.offset)).map(drop).map_err(|source| ReadError::Io { path: path.clone(), source })
    }

    /// The next event that can be read; `None` behind the last line.
    fn advance(&mut self) -> Result<Option<Envelope>, ReadError> {
        let mut line = Vec::new();
        loop {
            let Spot { segment, offset } = self.spot;
            if offset >= self.recording.map.ends[segment] {
                let Some(next) = self.recording.segments.get(segment + 1) else { return Ok(None) };
                self.spot = Spot { segment: segment + 1, offset: next.start };
                self.seek()?;
                continue;
            }
            let Segment { path, file, .. } = &mut self.recording.segments[segment];
            let taken = take_line(file, &mut line).map_err(|source| ReadError::Io { path: path.clone(), source })?;
            let here = self.spot;
            match taken {
                Taken::Whole(bytes) => self.spot.offset += bytes,
                Taken::TooLong(bytes) => {
                    self.spot.offset += bytes;
                    continue;
                }
                Taken::Torn(_) | Taken::End => {
                    let shrank = file.get_ref().metadata().is_ok_and(|m| m.len() < self.recording.map.ends[segment]);
                    if shrank {
                        let reason = "the file is shorter than when it was opened: it was changed meanwhile";
                        self.unread.get_or_insert_with(|| reason.to_owned());
                    }
                    return Ok(None);
                }
            }
            if !matches!(kind(&line), LineKind::Event(_)) || self.recording.map.rejected.binary_search(&here).is_ok() {
                continue;
            }
            match parse(&line) {
                Ok(envelope) if first_of(&envelope) > self.last => return Ok(Some(envelope)),
                Ok(_) => {}
                Err(reason) => {
                    self.unread.get_or_insert(reason);
                }
            }
        }
    }

    /// Stands for the events behind `last` up to `upto`.
    fn elided(&mut self, upto: Seq, t_ns: u64, next: Option<&Envelope>) -> Arc<Envelope> {
        let from = self.last.next();
        if let Some(reason) = self.unread.take() {
            let steps = next.map_or_else(|| "up to the end".to_owned(), |e| format!("before {}", e.address()));
            self.recording.note(from, upto, steps, reason);
        }
        Arc::new(Envelope { seq: upto, t_ns, lane: LaneId(0), episode: None, step: None, event: Elided { from, upto }.into() })
    }

    fn at_end(&mut self) -> Option<Arc<Envelope>> {
        self.done = true;
        let end = self.recording.end();
        (self.last < end).then(|| self.elided(end, self.last_t_ns, None))
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Arc<Envelope>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(envelope) = self.pending.take() {
            return Some(Ok(envelope));
        }
        while !self.done {
            let envelope = match self.advance() {
                Ok(Some(envelope)) => Arc::new(envelope),
                Ok(None) => return self.at_end().map(Ok),
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            };
            let first = first_of(&envelope);
            let gap = (first > self.last.next()).then(|| Seq(first.0 - 1)).filter(|upto| *upto >= self.from);
            let elided = gap.map(|upto| self.elided(upto, envelope.t_ns, Some(&envelope)));
            (self.last, self.last_t_ns, self.unread) = (envelope.seq, envelope.t_ns, None);
            match elided {
                Some(elided) => {
                    self.pending = Some(envelope);
                    return Some(Ok(elided));
                }
                None if envelope.seq >= self.from => return Some(Ok(envelope)),
                None => {}
            }
        }
        None
    }
}

fn parse_header(path: &Path, line: &[u8]) -> Result<(Header, Option<SegmentMark>), ReadError> {
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
    Ok((serde_json::from_value(value).map_err(bad)?, mark))
}
