//! A recording's events, one after another.

use super::blobs;
use super::line::{LineKind, Taken, kind, take_line};
use super::reader::{ReadError, Recording, Segment};
use super::scan::{Spot, first_of, parse};
use crate::event::{Elided, Envelope, LaneId, Seq};
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

/// Iterator over a recording's events, without a hole in their numbers.
///
/// What was not read yet is believed as long as each line can be read and follows the one before. Anything else makes the recording be
/// read whole, and goes on with what that found.
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
    /// Whether any was handed out.
    begun: bool,
    done: bool,
}

/// The next line's event, if any.
enum Next {
    Event(Arc<Envelope>),
    /// Nothing was read yet from here on, and it is not as the writer leaves it.
    Doubtful,
    End,
}

impl<'a> Events<'a> {
    pub(super) fn begin(recording: &'a mut Recording, from: Seq) -> Result<Self, ReadError> {
        recording.look()?;
        let (last, spot) = recording.place_before(from)?;
        let mut events = Self { recording, from, last, spot, last_t_ns: 0, unread: None, pending: None, begun: false, done: false };
        events.seek()?;
        Ok(events)
    }

    fn seek(&mut self) -> Result<(), ReadError> {
        let Segment { path, file, .. } = &mut self.recording.segments[self.spot.segment];
        file.seek(SeekFrom::Start(self.spot.offset)).map(drop).map_err(|source| ReadError::Io { path: path.clone(), source })
    }

    /// Has the recording read whole, and finds the place in what that found.
    fn begin_anew(&mut self) -> Result<(), ReadError> {
        self.recording.read_out()?;
        let wanted = if self.begun { self.last.next() } else { self.from };
        let (after, spot) = self.recording.place_before(wanted)?;
        (self.spot, self.unread) = (spot, None);
        if !self.begun {
            self.last = after;
        }
        self.seek()
    }

    fn advance(&mut self) -> Result<Option<Arc<Envelope>>, ReadError> {
        loop {
            match self.read()? {
                Next::Event(envelope) => return Ok(Some(envelope)),
                Next::End => return Ok(None),
                Next::Doubtful => self.begin_anew()?,
            }
        }
    }

    /// The next event that can be read.
    fn read(&mut self) -> Result<Next, ReadError> {
        let mut line = Vec::new();
        let is_whole = self.recording.is_whole();
        loop {
            let Spot { segment, offset } = self.spot;
            if offset >= self.recording.end_of(segment) {
                if !is_whole && self.last != self.recording.end() {
                    return Ok(Next::Doubtful);
                }
                let Some(next) = self.recording.segments.get(segment + 1) else { return Ok(Next::End) };
                self.spot = Spot { segment: segment + 1, offset: next.start };
                self.seek()?;
                continue;
            }
            let Segment { path, file, .. } = &mut self.recording.segments[segment];
            let taken = take_line(file, &mut line).map_err(|source| ReadError::Io { path: path.clone(), source })?;
            let here = self.spot;
            match taken {
                Taken::Whole(bytes) => self.spot.offset += bytes,
                Taken::TooLong(_) | Taken::Torn(_) | Taken::End if !is_whole => return Ok(Next::Doubtful),
                Taken::TooLong(bytes) => {
                    self.spot.offset += bytes;
                    continue;
                }
                Taken::Torn(_) | Taken::End => {
                    self.note_shrunk(segment);
                    return Ok(Next::End);
                }
            }
            match kind(&line) {
                LineKind::Event(_) => {}
                LineKind::Other if !is_whole => return Ok(Next::Doubtful),
                LineKind::Other | LineKind::Commit | LineKind::Snapshot => continue,
            }
            if self.recording.map().rejected.binary_search(&here).is_ok() {
                continue;
            }
            match self.parsed(&line) {
                Ok(envelope) if is_whole && first_of(&envelope) <= self.last => {}
                Ok(envelope) if is_whole || first_of(&envelope) == self.last.next() && self.last.0 < u64::MAX => {
                    return Ok(Next::Event(Arc::new(envelope)));
                }
                Ok(_) | Err(_) if !is_whole => return Ok(Next::Doubtful),
                Ok(_) => {}
                Err(reason) => {
                    self.unread.get_or_insert(reason);
                }
            }
        }
    }

    /// With its long texts, which lie beside the recording.
    fn parsed(&mut self, line: &[u8]) -> Result<Envelope, String> {
        if !blobs::are_in(line) {
            return parse(line);
        }
        let (whole, told) = blobs::restored(self.recording.path(), line);
        let envelope = parse(&whole)?;
        if let Some(reason) = told.filter(|_| envelope.seq >= self.from) {
            self.recording.note(envelope.seq, envelope.seq, envelope.address(), reason);
        }
        Ok(envelope)
    }

    fn note_shrunk(&mut self, segment: usize) {
        let length = self.recording.segments[segment].file.get_ref().length();
        if length.is_ok_and(|length| length < self.recording.end_of(segment)) {
            let reason = "the file is shorter than when it was opened: it was changed meanwhile";
            self.unread.get_or_insert_with(|| reason.to_owned());
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

    fn one(&mut self) -> Option<Result<Arc<Envelope>, ReadError>> {
        if let Some(envelope) = self.pending.take() {
            return Some(Ok(envelope));
        }
        while !self.done {
            let envelope = match self.advance() {
                Ok(Some(envelope)) => envelope,
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

impl Iterator for Events<'_> {
    type Item = Result<Arc<Envelope>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.one();
        self.begun |= next.is_some();
        next
    }
}
