//! One pass over a recording: where its events are, and what of it can't be trusted. A batch whose checksum holds is what the writer wrote and
//! is not parsed; any other is taken apart line by line.

use super::body::Body;
use super::integrity::{Damage, Integrity};
use super::line::{CommitLine, LineKind, SegmentMark, Taken, crc_hex, event_kind, kind, take_line};
use super::reader::Boundaries;
use super::seek::unit_of;
use crate::event::{Envelope, Event, Seq, StepUnit};
use std::io::{self, BufReader, Seek, SeekFrom};

/// A place is kept for one event in this many.
const INDEX_EVERY: u64 = 64;

/// Where a line begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub segment: usize,
    pub offset: u64,
}

/// From here on come the events behind `after`.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub after: Seq,
    pub spot: Spot,
}

/// What the pass found.
#[derive(Debug, Default)]
pub struct Map {
    pub marks: Vec<Mark>,
    /// The event before each snapshot line.
    pub snapshots: Vec<(Seq, Spot)>,
    pub boundaries: Boundaries,
    /// Event lines that are not to be believed, in order.
    pub rejected: Vec<Spot>,
    /// Where the events of each segment end.
    pub ends: Vec<u64>,
    pub end: Seq,
    pub last: Option<Spot>,
    pub last_run_state: Option<Spot>,
    pub integrity: Integrity,
}

impl Map {
    fn lengths(&self) -> Lengths {
        let b = &self.boundaries;
        Lengths {
            marks: self.marks.len(),
            snapshots: self.snapshots.len(),
            boundaries: [b.tokens.len(), b.phases.len(), b.decisions.len(), b.episodes.len()],
            rejected: self.rejected.len(),
            damage: self.integrity.damage.len(),
            end: self.end,
            last: self.last,
            last_run_state: self.last_run_state,
        }
    }

    fn shorten(&mut self, to: &Lengths) {
        let b = &mut self.boundaries;
        let units = [&mut b.tokens, &mut b.phases, &mut b.decisions, &mut b.episodes];
        units.into_iter().zip(to.boundaries).for_each(|(places, length)| places.truncate(length));
        self.marks.truncate(to.marks);
        self.snapshots.truncate(to.snapshots);
        self.rejected.truncate(to.rejected);
        self.integrity.damage.truncate(to.damage);
        (self.end, self.last, self.last_run_state) = (to.end, to.last, to.last_run_state);
    }
}

#[derive(Clone, Copy)]
enum Role {
    Boundary(StepUnit),
    RunState,
    Plain,
}

struct BatchLine {
    offset: u64,
    kind: LineKind,
    role: Role,
}

/// An event line that could be read.
struct Readable {
    index: usize,
    /// The first event that it stands for: its own, but for `Elided`.
    first: Seq,
    seq: Seq,
    step: Option<String>,
}

/// Reads a segment a stretch at a time, from its header to its end.
#[derive(Default)]
pub struct Scanner {
    pub map: Map,
    segment: usize,
    prev: String,
    /// The last commit's `crc32c`, whatever segment it is in; before the first one the header's.
    link: String,
    crc: u32,
    batch: Vec<BatchLine>,
    batch_start: u64,
    /// Where the next line begins.
    offset: u64,
    /// Why the batch can't be right, whatever its checksum says.
    complaint: Option<String>,
    /// Last event of the batch so far, and whether every event of it followed the one before.
    tail: Seq,
    dense: bool,
    /// The last damage reaches as far as the next event that can be read.
    open_range: bool,
    /// The last damage reaches to the next step that is named.
    open_step: Option<String>,
    /// The map as it was before this batch.
    before: Lengths,
}

/// How much of a map there was at some time.
#[derive(Clone, Copy, Default)]
struct Lengths {
    marks: usize,
    snapshots: usize,
    boundaries: [usize; 4],
    rejected: usize,
    damage: usize,
    end: Seq,
    last: Option<Spot>,
    last_run_state: Option<Spot>,
}

/// How a stretch of a segment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    More,
    /// The segment's end; so many bytes are an unterminated line.
    End {
        torn_bytes: u64,
    },
}

impl Scanner {
    /// Of a recording whose first event comes behind `base`.
    pub fn behind(base: Seq) -> Self {
        let mut scanner = Self::default();
        (scanner.map.end, scanner.map.integrity.committed_upto) = (base, base);
        scanner
    }

    /// Scans a whole segment whose header line is `header`; `next` is the mark of the segment behind it.
    pub fn segment(
        &mut self,
        file: &mut BufReader<Body>,
        header: &[u8],
        own: Option<&SegmentMark>,
        next: Option<&SegmentMark>,
    ) -> io::Result<()> {
        self.begin_segment(header, own);
        match self.read(file, u64::MAX, next)? {
            Stretch::More => Ok(()),
            Stretch::End { torn_bytes } => self.end_segment(file, torn_bytes, next),
        }
    }

    pub fn begin_segment(&mut self, header: &[u8], own: Option<&SegmentMark>) {
        if let Some(own) = own
            && (own.prev != self.link || own.from != self.map.integrity.committed_upto.next())
        {
            self.damage(own.from, own.from, "none to none".into(), "a segment does not follow the one before it".into());
            self.open_range = true;
        }
        self.prev = crc_hex(header);
        if own.is_none() {
            self.link.clone_from(&self.prev);
        }
        self.offset = header.len() as u64;
        self.complaint = None;
        self.begin_batch();
    }

    /// Reads on, about `budget` bytes and to the end of a line.
    pub fn read(&mut self, file: &mut BufReader<Body>, budget: u64, next: Option<&SegmentMark>) -> io::Result<Stretch> {
        let until = self.offset.saturating_add(budget);
        file.seek(SeekFrom::Start(self.offset))?;
        let mut line = Vec::new();
        while self.offset < until {
            let bytes = match take_line(file, &mut line)? {
                Taken::End => return Ok(Stretch::End { torn_bytes: 0 }),
                Taken::Torn(bytes) => return Ok(Stretch::End { torn_bytes: bytes }),
                Taken::TooLong(bytes) => {
                    self.complaint = Some("a line is longer than any of ours".to_owned());
                    self.batch.push(BatchLine { offset: self.offset, kind: LineKind::Other, role: Role::Plain });
                    self.offset += bytes;
                    continue;
                }
                Taken::Whole(bytes) => bytes,
            };
            if kind(&line) == LineKind::Commit {
                let commit = serde_json::from_slice::<CommitLine>(&line).map_err(|e| e.to_string());
                if let (Ok(commit), Some(next)) = (&commit, next)
                    && commit.upto >= next.from
                {
                    // Written, and never known to be synced: the next segment has it again.
                    return Ok(Stretch::End { torn_bytes: 0 });
                }
                let complaint = self.complaint.take();
                self.commit(file, commit, complaint)?;
                self.offset += bytes;
                self.begin_batch();
            } else {
                self.push(&line, self.offset);
                self.offset += bytes;
            }
        }
        Ok(Stretch::More)
    }

    fn begin_batch(&mut self) {
        self.batch.clear();
        self.batch_start = self.offset;
        self.crc = 0;
        self.tail = self.map.end;
        self.dense = true;
        self.before = self.map.lengths();
    }

    /// Where what was judged ends: behind the last commit.
    pub fn judged(&self) -> u64 {
        self.batch_start
    }

    /// The last commit's `crc32c`; before the first one the header's.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// Takes back what stands behind the last commit, and the segment's end, so that what was written since can be read.
    pub fn reopen(&mut self) {
        self.map.shorten(&self.before);
        self.map.ends.pop();
        (self.map.integrity.torn_bytes, self.map.integrity.uncommitted) = (0, 0);
        self.segment = self.segment.saturating_sub(1);
        self.offset = self.batch_start;
        self.complaint = None;
        self.begin_batch();
    }

    fn push(&mut self, line: &[u8], offset: u64) {
        self.crc = crc32c::crc32c_append(self.crc, line);
        let kind = kind(line);
        let mut role = Role::Plain;
        match kind {
            LineKind::Event(seq) => {
                let name = event_kind(line);
                role = role_of(name);
                self.dense &= seq == self.tail.next() && self.tail.0 < u64::MAX && name != Some("Elided");
                self.tail = seq;
                self.note_step(line);
            }
            LineKind::Other => self.dense = false,
            LineKind::Snapshot | LineKind::Commit => {}
        }
        self.batch.push(BatchLine { offset, kind, role });
    }

    /// Closes damage that wants to know the step behind it.
    fn note_step(&mut self, line: &[u8]) {
        if let Some(first) = &self.open_step
            && let Some(step) = parse(line).ok().and_then(|e| e.step.map(|_| e.address()))
            && let Some(damage) = self.map.integrity.damage.last_mut()
        {
            damage.steps = format!("{first} to {step}");
            self.open_step = None;
        }
    }

    fn commit(&mut self, file: &mut BufReader<Body>, commit: Result<CommitLine, String>, complaint: Option<String>) -> io::Result<()> {
        let crc = format!("{:08x}", self.crc);
        match commit {
            Ok(commit) => {
                let complaint = complaint.or_else(|| self.complaint(&commit, &crc));
                self.judge(file, Some(commit.upto), complaint)?;
                self.map.integrity.committed_upto = commit.upto;
                self.link.clone_from(&commit.crc32c);
                self.prev = commit.crc32c;
            }
            Err(reason) => {
                self.judge(file, None, Some(complaint.unwrap_or_else(|| format!("a commit can't be read: {reason}"))))?;
                self.link.clone_from(&crc);
                self.prev = crc;
            }
        }
        Ok(())
    }

    fn complaint(&self, commit: &CommitLine, crc: &str) -> Option<String> {
        if commit.crc32c != crc {
            return Some("the lines do not match their commit's checksum: a byte was changed".into());
        }
        if commit.prev != self.prev {
            return Some("the commit does not follow the one before: lines were cut out or changed".into());
        }
        let last = self.tail;
        (commit.upto != last)
            .then(|| format!("the commit says that it covers events up to {}, the last one before it is {last}", commit.upto))
    }

    /// Judges what no commit covers, and closes the segment.
    pub fn end_segment(&mut self, file: &mut BufReader<Body>, torn_bytes: u64, next: Option<&SegmentMark>) -> io::Result<()> {
        let complaint = self.complaint.take();
        let superseded = next.is_some_and(|next| next.from == self.map.integrity.committed_upto.next());
        if superseded {
            self.map.ends.push(self.batch_start);
        } else {
            let before = self.map.end;
            // Nothing vouches for these lines, so they are read.
            self.dense = false;
            self.judge(file, None, complaint)?;
            let events = self.batch.iter().filter(|l| matches!(l.kind, LineKind::Event(_))).count() as u64;
            self.map.integrity.uncommitted = if self.map.end > before { events } else { 0 };
            self.map.integrity.torn_bytes = torn_bytes;
            self.map.ends.push(self.offset);
        }
        self.batch.clear();
        self.segment += 1;
        Ok(())
    }

    /// Takes the batch in: as it stands when all is well with it, else line by line.
    fn judge(&mut self, file: &mut BufReader<Body>, upto: Option<Seq>, complaint: Option<String>) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if self.dense && complaint.is_none() {
            for line in &batch {
                self.accept(line, None);
            }
            self.open_range &= batch.is_empty();
        } else {
            self.take_apart(file, &batch, upto, complaint)?;
        }
        self.batch = batch;
        Ok(())
    }

    fn accept(&mut self, line: &BatchLine, seq: Option<Seq>) {
        let spot = Spot { segment: self.segment, offset: line.offset };
        let seq = match line.kind {
            LineKind::Event(own) => seq.unwrap_or(own),
            LineKind::Snapshot => return self.map.snapshots.push((self.map.end, spot)),
            LineKind::Commit | LineKind::Other => return,
        };
        let map = &mut self.map;
        if map.marks.last().is_none_or(|m| seq.0 >= m.after.0.saturating_add(INDEX_EVERY)) {
            map.marks.push(Mark { after: map.end, spot });
        }
        match line.role {
            Role::Boundary(StepUnit::Token) => map.boundaries.tokens.push(seq),
            Role::Boundary(StepUnit::Phase) => map.boundaries.phases.push(seq),
            Role::Boundary(StepUnit::Decision) => map.boundaries.decisions.push(seq),
            Role::Boundary(StepUnit::Episode) => map.boundaries.episodes.push(seq),
            Role::RunState => map.last_run_state = Some(spot),
            Role::Plain => {}
        }
        (map.end, map.last) = (seq, Some(spot));
    }

    fn take_apart(
        &mut self,
        file: &mut BufReader<Body>,
        batch: &[BatchLine],
        upto: Option<Seq>,
        complaint: Option<String>,
    ) -> io::Result<()> {
        let resume = file.stream_position()?;
        let (readable, mut bad) = read_all(file, batch)?;
        let before = self.map.end;
        let snapshots = self.map.snapshots.len();
        let mut complaint = complaint.or_else(|| bad.first().map(|(_, reason)| reason.clone()));
        let (mut at, mut greatest, mut accepted) = (0, before, None);
        for (index, line) in batch.iter().enumerate() {
            let Some(event) = readable.get(at).filter(|r| r.index == index) else {
                match line.kind {
                    LineKind::Event(_) => self.reject(line),
                    LineKind::Snapshot | LineKind::Commit | LineKind::Other => self.accept(line, None),
                }
                continue;
            };
            at += 1;
            let follower = readable.get(at).map(|next| next.first);
            let expected = self.map.end.next();
            let last = self.map.end.0 == u64::MAX;
            let confirmed = follower.map_or(upto == Some(event.seq), |first| first == event.seq.next());
            if last || event.first < expected || event.first > expected && !confirmed {
                let reason = format!("event {} stands where {expected} belongs", event.seq);
                complaint.get_or_insert(reason.clone());
                bad.push((index, reason));
                self.reject(line);
                continue;
            }
            if event.first > expected {
                self.jump(expected, event.first, &mut complaint);
            }
            self.accept(line, Some(event.seq));
            self.open_range = false;
            (greatest, accepted) = (event.seq, Some(index));
        }
        if let Some(what) = complaint {
            self.map.snapshots.truncate(snapshots);
            self.open_range |= bad.iter().map(|(i, _)| *i).max() > accepted;
            self.report(file, batch, &readable, &bad, (before, greatest), what)?;
        }
        file.seek(SeekFrom::Start(resume))?;
        Ok(())
    }

    /// Events between are missing: damage that is told of already, or new.
    fn jump(&mut self, expected: Seq, first: Seq, complaint: &mut Option<String>) {
        let upto = Seq(first.0 - 1);
        match self.map.integrity.damage.last_mut().filter(|_| self.open_range) {
            Some(damage) => damage.upto = damage.upto.max(upto),
            None => drop(complaint.get_or_insert_with(|| format!("events {expected} to {upto} are missing"))),
        }
    }

    fn reject(&mut self, line: &BatchLine) {
        self.map.rejected.push(Spot { segment: self.segment, offset: line.offset });
    }

    fn report(
        &mut self,
        file: &mut BufReader<Body>,
        batch: &[BatchLine],
        readable: &[Readable],
        bad: &[(usize, String)],
        (before, greatest): (Seq, Seq),
        what: String,
    ) -> io::Result<()> {
        let mut stepped = readable.iter().filter_map(|r| r.step.as_ref().map(|s| (r.index, s.clone())));
        let first = stepped.next();
        let last = stepped.next_back().or_else(|| first.clone());
        let leads = bad.iter().any(|(i, _)| first.as_ref().is_none_or(|(at, _)| i < at));
        let trails = bad.iter().any(|(i, _)| last.as_ref().is_none_or(|(at, _)| i > at));
        let step_of = |found: Option<(usize, String)>| found.map_or_else(|| "none".to_owned(), |(_, step)| step);
        let from_step = if leads { self.step_before(file, batch)?.unwrap_or_else(|| "the start".into()) } else { step_of(first) };
        // The step behind it closes the range, if one comes.
        let to_step = if trails { "the end".into() } else { step_of(last) };
        self.damage(before.next().min(greatest), greatest, format!("{from_step} to {to_step}"), what);
        self.open_step = trails.then_some(from_step);
        Ok(())
    }

    fn damage(&mut self, from: Seq, upto: Seq, steps: String, what: String) {
        self.map.integrity.damage.push(Damage { from, upto, steps, what });
    }

    /// The last step that was named before the batch, in this segment.
    fn step_before(&self, file: &mut BufReader<Body>, batch: &[BatchLine]) -> io::Result<Option<String>> {
        let Some(start) = batch.first().map(|l| l.offset) else { return Ok(None) };
        let here = |m: &&Mark| m.spot.segment == self.segment && m.spot.offset < start;
        // Two marks back, should the nearest one's events belong to no step.
        let Some(mark) = self.map.marks.iter().rev().filter(here).take(2).last() else { return Ok(None) };
        let (mut offset, mut step, mut line) = (mark.spot.offset, None, Vec::new());
        file.seek(SeekFrom::Start(offset))?;
        while offset < start {
            let Taken::Whole(bytes) = take_line(file, &mut line)? else { break };
            step = parse(&line).ok().filter(|e| e.step.is_some()).map(|e| e.address()).or(step);
            offset += bytes;
        }
        Ok(step)
    }
}

fn role_of(kind: Option<&str>) -> Role {
    match kind {
        Some("RunStateChanged") => Role::RunState,
        Some(kind) => unit_of(kind).map_or(Role::Plain, Role::Boundary),
        None => Role::Plain,
    }
}

/// The lines that can be read; and those that can't, by their places in the batch, with the reason.
type Parted = (Vec<Readable>, Vec<(usize, String)>);

/// Reads every event line of the batch, and says of the others why not.
fn read_all(file: &mut BufReader<Body>, batch: &[BatchLine]) -> io::Result<Parted> {
    let (mut readable, mut bad, mut text) = (Vec::new(), Vec::new(), Vec::new());
    // A seek to where the file stands already would have it read again what is in its buffer.
    let mut at = None;
    for (index, line) in batch.iter().enumerate() {
        match line.kind {
            LineKind::Event(_) => {}
            LineKind::Other => {
                bad.push((index, "a line is neither event, commit nor snapshot".to_owned()));
                continue;
            }
            LineKind::Snapshot | LineKind::Commit => continue,
        }
        if at != Some(line.offset) {
            file.seek(SeekFrom::Start(line.offset))?;
        }
        take_line(file, &mut text)?;
        at = Some(line.offset + text.len() as u64);
        match parse(&text) {
            Ok(envelope) => {
                let step = envelope.step.map(|_| envelope.address());
                readable.push(Readable { index, first: first_of(&envelope), seq: envelope.seq, step });
            }
            Err(reason) => bad.push((index, reason)),
        }
    }
    Ok((readable, bad))
}

/// The first event that an envelope stands for.
pub fn first_of(envelope: &Envelope) -> Seq {
    if let Event::Elided(elided) = &envelope.event { elided.from } else { envelope.seq }
}

/// Reads an event line; an `Elided` whose range is none is refused.
pub fn parse(line: &[u8]) -> Result<Envelope, String> {
    let text = std::str::from_utf8(line).map_err(|e| e.to_string())?;
    let envelope = Envelope::from_json(text).map_err(|e| e.to_string())?;
    if let Event::Elided(e) = &envelope.event
        && (e.from > e.upto || e.upto != envelope.seq)
    {
        return Err(format!("event {} leaves out a range that is none", envelope.seq));
    }
    Ok(envelope)
}
