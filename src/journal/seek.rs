//! Finding a place in a recording, and the state there: by what was read of it, or else by halving what lies between.

use super::body::Body;
use super::line::{COMMIT_PREFIX, CommitLine, LineKind, SNAPSHOT_PREFIX, Taken, kind, take_line};
use super::reader::{Boundaries, ReadError, Recording, Segment};
use super::scan::{Spot, first_of, parse};
use super::snapshot;
use crate::event::{Seq, StepUnit};
use crate::state::DashState;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// A place is near enough when reading up to it takes no longer than another look.
const NEAR_BYTES: u64 = 16 * 1024;
/// Snapshots are looked for in pieces of the file of this length.
const PIECE_BYTES: u64 = 1 << 20;
/// States that are kept.
const STATES_MAX: usize = 4;
/// A state is kept where more events than this were folded to reach it, so many events before the place that was asked for.
const FOLDED_MIN: u64 = 4 * 1024;
const KEPT_BEFORE: u64 = 1024;
/// A state that is nearer than this serves as well as any snapshot.
const NEAR_EVENTS: u64 = 4 * 1024;
/// Events that are looked through for a boundary, and how many at a time; behind that, reading the rest is quicker.
const LOOKED_THROUGH_MAX: usize = 64 * 1024;
const LOOK_EVENTS: usize = 1024;

/// States that seeking made, for the way back and forth. The newest stands last.
#[derive(Default)]
pub struct States(VecDeque<DashState>);

impl States {
    fn before(&self, seq: Seq) -> Option<&DashState> {
        self.0.iter().filter(|state| state.seq <= seq).max_by_key(|state| state.seq)
    }

    fn keep(&mut self, state: &DashState) {
        self.0.retain(|kept| kept.seq != state.seq);
        while self.0.len() >= STATES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(state.clone());
    }
}

/// A stretch of a file, the beginnings of two lines.
struct Between {
    low: u64,
    /// The first event line from here on is too far.
    high: u64,
}

impl Between {
    fn bytes(&self) -> u64 {
        self.high.saturating_sub(self.low)
    }

    /// A little before where `wanted` is, if lines are about equally long; the events `first` and `last` are at the ends.
    fn guess(&self, first: Seq, wanted: Seq, last: Seq) -> u64 {
        let share = wanted.0.saturating_sub(first.0) as f64 / last.0.saturating_sub(first.0).max(1) as f64;
        let guess = (self.bytes() as f64 * share) as u64;
        self.low + guess.saturating_sub(NEAR_BYTES / 2).clamp(NEAR_BYTES / 4, self.bytes() - NEAR_BYTES / 4)
    }
}

impl Recording {
    /// A place from which the events from `from` on come, and the event before it.
    pub(super) fn place_before(&mut self, from: Seq) -> Result<(Seq, Spot), ReadError> {
        if !self.is_whole() && from > self.map().end.next() {
            let behind = self.behind.filter(|(after, _)| after.next() == from).map(|(_, spot)| spot);
            let spot = match behind {
                Some(spot) => spot,
                None => Spot { segment: 0, offset: self.between(from)?.low },
            };
            if spot.offset == self.read_upto() {
                return Ok((self.map().end, spot));
            }
            let mut line = Vec::new();
            self.line_at(spot, &mut line)?;
            if let Some(first) = parse(&line).ok().map(|e| first_of(&e)).filter(|first| *first > self.map().end && *first <= from) {
                return Ok((Seq(first.0 - 1), spot));
            }
            self.read_out()?;
        }
        let marks = &self.map().marks;
        let slot = marks.partition_point(|m| m.after < from);
        let first = Spot { segment: 0, offset: self.segments[0].start };
        Ok(slot.checked_sub(1).map_or((self.base(), first), |i| (marks[i].after, marks[i].spot)))
    }

    /// Narrows what was not read yet until `from` lies near behind the low end: by where its number lets expect it, and by halves, in turn.
    /// Nothing that is found here is believed: whoever reads on from there sees whether each line follows the one before.
    fn between(&mut self, from: Seq) -> Result<Between, ReadError> {
        let mut between = Between { low: self.read_upto(), high: self.end_of(0) };
        let (mut first, mut last, mut is_guess) = (self.map().end, self.end(), true);
        let Segment { path, file, .. } = &mut self.segments[0];
        while between.bytes() > NEAR_BYTES {
            let middle = if is_guess { between.guess(first, from, last) } else { between.low + between.bytes() / 2 };
            let found = event_behind(file, middle, between.high).map_err(|source| ReadError::Io { path: path.clone(), source })?;
            match found {
                Some((offset, seq)) if seq < from => (between.low, first) = (offset, seq),
                Some((_, seq)) => (between.high, last) = (middle, seq),
                None => between.high = middle,
            }
            is_guess = !is_guess;
        }
        Ok(between)
    }

    /// The state after the event `seq`, or before the range that can't be read and holds it.
    pub fn state_at(&mut self, seq: Seq) -> Result<DashState, ReadError> {
        let seq = seq.min(self.end()).max(self.base());
        let mut state = self.state_before(seq)?;
        let keep_at = (seq.0.saturating_sub(state.seq.0) > FOLDED_MIN).then(|| Seq(seq.0 - KEPT_BEFORE));
        let (mut states, mut is_kept, was_whole) = (std::mem::take(&mut self.states), false, self.is_whole());
        for envelope in self.events_from(state.seq.next())? {
            let envelope = envelope?;
            // The reader leaves no gap, so that nothing but the end stops the fold.
            if envelope.seq > seq || state.apply(&envelope).is_err() {
                break;
            }
            if !is_kept && keep_at.is_some_and(|at| envelope.seq >= at) {
                states.keep(&state);
                is_kept = true;
            }
        }
        if was_whole || !self.is_whole() {
            self.states = states;
        }
        Ok(state)
    }

    /// A state up to `seq` from which little is to be folded.
    fn state_before(&mut self, seq: Seq) -> Result<DashState, ReadError> {
        let kept = self.states.before(seq).cloned();
        if kept.as_ref().is_some_and(|kept| seq.0 - kept.seq.0 <= NEAR_EVENTS) {
            return Ok(kept.unwrap_or_default());
        }
        let unread = if !self.is_whole() && seq > self.map().end { self.unread_snapshot_before(seq)? } else { None };
        let snapshot = unread.unwrap_or_else(|| self.snapshot_before(seq));
        Ok(kept.filter(|kept| kept.seq > snapshot.seq).unwrap_or(snapshot))
    }

    /// The newest snapshot up to `seq` that is what it says. One that is not is passed over: the events have everything.
    fn snapshot_before(&mut self, seq: Seq) -> DashState {
        let slot = self.map().snapshots.partition_point(|(s, _)| *s <= seq);
        (0..slot)
            .rev()
            .find_map(|i| self.snapshot(self.map().snapshots[i]))
            .unwrap_or_else(|| DashState { seq: self.base(), ..DashState::default() })
    }

    fn snapshot(&mut self, (seq, spot): (Seq, Spot)) -> Option<DashState> {
        let mut line = Vec::new();
        self.line_at(spot, &mut line).ok()?;
        snapshot::read(&line).filter(|state| state.seq == seq)
    }

    /// The same in what was not read yet. A snapshot is believed if its batch has the checksum that its commit says.
    fn unread_snapshot_before(&mut self, seq: Seq) -> Result<Option<DashState>, ReadError> {
        let low = self.read_upto();
        let mut high = self.between(seq.next())?.high;
        loop {
            let Segment { path, file, .. } = &mut self.segments[0];
            let io = |source| ReadError::Io { path: path.clone(), source };
            let Some(offset) = last_line_before(file, SNAPSHOT_PREFIX, low, high).map_err(io)? else { return Ok(None) };
            high = offset;
            let upto = snapshot_upto(file, offset).map_err(io)?;
            let Some(upto) = upto.filter(|upto| *upto <= seq) else { continue };
            if is_committed(file, low, offset).map_err(io)?
                && let Some(state) = self.snapshot((upto, Spot { segment: 0, offset }))
            {
                self.note_behind(upto, offset)?;
                return Ok(Some(state));
            }
        }
    }

    /// Keeps where the event behind a snapshot begins, which whoever folds on from there asks for next.
    fn note_behind(&mut self, upto: Seq, offset: u64) -> Result<(), ReadError> {
        let until = self.end_of(0);
        let Segment { path, file, .. } = &mut self.segments[0];
        let found = event_behind(file, offset, until).map_err(|source| ReadError::Io { path: path.clone(), source })?;
        self.behind = found.filter(|(_, seq)| *seq == upto.next()).map(|(offset, _)| (upto, Spot { segment: 0, offset }));
        Ok(())
    }

    /// The place of the `count`th boundary of the unit behind `head`, or before it where `count` is negative: the end, or the beginning,
    /// where there are not so many.
    pub fn boundary(&mut self, unit: StepUnit, head: Seq, count: i64) -> Result<Seq, ReadError> {
        let found = if self.is_whole() {
            None
        } else if count >= 0 {
            self.boundary_behind(unit, head, count.max(1) as usize)?
        } else {
            self.boundary_before(unit, head, count.unsigned_abs() as usize)?
        };
        if let Some(found) = found {
            return Ok(found);
        }
        self.read_out()?;
        let places = self.map().boundaries.of(unit);
        Ok(if count >= 0 {
            let first = places.partition_point(|s| *s <= head);
            places.get(first + (count.max(1) as usize - 1)).copied().unwrap_or(self.end())
        } else {
            let before = places.partition_point(|s| *s < head);
            before.checked_sub(count.unsigned_abs() as usize).map_or(Seq(0), |i| places[i])
        })
    }

    /// By what was read, and then by reading a little ahead; unset where that is not enough.
    fn boundary_behind(&mut self, unit: StepUnit, head: Seq, count: usize) -> Result<Option<Seq>, ReadError> {
        let places = self.map().boundaries.of(unit);
        let first = places.partition_point(|s| *s <= head);
        if let Some(place) = places.get(first + count - 1) {
            return Ok(Some(*place));
        }
        let mut missing = count - (places.len() - first);
        let (from, end) = (self.map().end.max(head).next(), self.end());
        for envelope in self.events_from(from)?.take(LOOKED_THROUGH_MAX) {
            let envelope = envelope?;
            missing -= usize::from(unit_of(envelope.event.kind()) == Some(unit));
            if missing == 0 || envelope.seq >= end {
                return Ok(Some(envelope.seq));
            }
        }
        Ok((from > end).then_some(end))
    }

    fn boundary_before(&mut self, unit: StepUnit, head: Seq, count: usize) -> Result<Option<Seq>, ReadError> {
        let (mut high, mut missing, mut looked) = (head, count, 0);
        while !self.is_whole() && high > self.map().end.next() && looked < LOOKED_THROUGH_MAX {
            let low = Seq(high.0.saturating_sub(LOOK_EVENTS as u64)).max(self.map().end.next());
            let mut found = Vec::new();
            for envelope in self.events_from(low)? {
                let envelope = envelope?;
                if envelope.seq >= high {
                    break;
                }
                if unit_of(envelope.event.kind()) == Some(unit) {
                    found.push(envelope.seq);
                }
            }
            if let Some(place) = found.len().checked_sub(missing) {
                return Ok(Some(found[place]));
            }
            (missing, looked, high) = (missing - found.len(), looked + LOOK_EVENTS, low);
        }
        if self.is_whole() || high > self.map().end.next() {
            return Ok(None);
        }
        let places = self.map().boundaries.of(unit);
        let before = places.partition_point(|s| *s < high);
        Ok(Some(before.checked_sub(missing).map_or(Seq(0), |i| places[i])))
    }
}

impl Boundaries {
    pub fn of(&self, unit: StepUnit) -> &[Seq] {
        match unit {
            StepUnit::Token => &self.tokens,
            StepUnit::Phase => &self.phases,
            StepUnit::Decision => &self.decisions,
            StepUnit::Episode => &self.episodes,
        }
    }
}

/// What kind of boundary an event of this kind is, if any.
pub fn unit_of(kind: &str) -> Option<StepUnit> {
    match kind {
        "ThoughtDelta" | "MessageCompleted" => Some(StepUnit::Token),
        "PhaseEntered" => Some(StepUnit::Phase),
        "DecisionSettled" => Some(StepUnit::Decision),
        "EpisodeEnded" => Some(StepUnit::Episode),
        _other => None,
    }
}

/// The first event line that begins behind `from` and before `until`.
fn event_behind(file: &mut BufReader<Body>, from: u64, until: u64) -> io::Result<Option<(u64, Seq)>> {
    file.seek(SeekFrom::Start(from))?;
    let mut offset = from + file.skip_until(b'\n')? as u64;
    let mut start = [0; 40];
    while offset < until {
        let length = read_some(file, &mut start)?;
        if length == 0 {
            return Ok(None);
        }
        if let LineKind::Event(seq) = kind(&start[..length]) {
            return Ok(Some((offset, seq)));
        }
        offset = match start[..length].iter().position(|b| *b == b'\n') {
            Some(end) => file.seek(SeekFrom::Start(offset + end as u64 + 1))?,
            None => offset + length as u64 + file.skip_until(b'\n')? as u64,
        };
    }
    Ok(None)
}

fn read_some(file: &mut BufReader<Body>, into: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < into.len() {
        match file.read(&mut into[length..])? {
            0 => break,
            bytes => length += bytes,
        }
    }
    Ok(length)
}

/// Where the last line begins that begins with `prefix`, from `low` on and before `high`. A line begins at `low`.
fn last_line_before(file: &mut BufReader<Body>, prefix: &[u8], low: u64, high: u64) -> io::Result<Option<u64>> {
    let mut until = high;
    while until > low {
        let from = until.saturating_sub(PIECE_BYTES).max(low);
        // A byte before shows whether a line begins at the first one; the prefix may stand across the piece's end.
        let lead = u64::from(from > low);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from - lead))?;
        file.by_ref().take(until - from + lead + prefix.len() as u64).read_to_end(&mut bytes)?;
        let mut rest = bytes.as_slice();
        if lead == 1 {
            rest.skip_until(b'\n')?;
        }
        let mut found = None;
        while !rest.is_empty() {
            let at = from - lead + (bytes.len() - rest.len()) as u64;
            if at >= until {
                break;
            }
            if rest.starts_with(prefix) {
                found = Some(at);
            }
            rest.skip_until(b'\n')?;
        }
        if found.is_some() {
            return Ok(found);
        }
        until = from;
    }
    Ok(None)
}

/// What the snapshot line at `offset` says that it is up to, by its beginning.
fn snapshot_upto(file: &mut BufReader<Body>, offset: u64) -> io::Result<Option<Seq>> {
    let mut start = [0; 64];
    file.seek(SeekFrom::Start(offset))?;
    let length = read_some(file, &mut start)?;
    let text = String::from_utf8_lossy(&start[..length]);
    let digits = text.split_once("\"upto\":").map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    Ok(digits.and_then(|d| d.parse().ok()).map(Seq))
}

/// Whether the batch that `offset` lies in has the checksum that its commit says.
fn is_committed(file: &mut BufReader<Body>, low: u64, offset: u64) -> io::Result<bool> {
    let mut line = Vec::new();
    let start = match last_line_before(file, COMMIT_PREFIX, low, offset)? {
        Some(commit) => {
            file.seek(SeekFrom::Start(commit))?;
            commit + file.skip_until(b'\n')? as u64
        }
        None => low,
    };
    file.seek(SeekFrom::Start(start))?;
    let mut crc = 0;
    loop {
        match take_line(file, &mut line)? {
            Taken::Whole(_) if kind(&line) == LineKind::Commit => {
                let commit = serde_json::from_slice::<CommitLine>(&line);
                return Ok(commit.is_ok_and(|c| c.crc32c == format!("{crc:08x}")));
            }
            Taken::Whole(_) => crc = crc32c::crc32c_append(crc, &line),
            Taken::Torn(_) | Taken::TooLong(_) | Taken::End => return Ok(false),
        }
    }
}
