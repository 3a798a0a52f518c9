//! The end of a recording, read back from there: what opening needs of a file that is too long to be read whole.

use super::body::Body;
use super::line::{COMMIT_KIND, CommitLine, LineKind, crc_hex, event_kind, kind};
use super::scan::{first_of, parse};
use crate::event::{Event, RunState, Seq};
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The first look reaches so far back; each next one eight times as far.
const WINDOW_BYTES: u64 = 256 * 1024;
/// A last batch that is longer is not looked for.
const WINDOW_BYTES_MAX: u64 = 64 << 20;

/// What the end of a file says. It is a guess as to the whole until that was read, for damage may lie before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    pub end: Seq,
    pub t_ns_end: u64,
    pub run_ended: bool,
    pub committed_upto: Seq,
    pub uncommitted: u64,
    pub torn_bytes: u64,
    /// Where the last whole line ends.
    pub length: u64,
}

/// Reads back from the end of a file whose lines begin at `start`. None where anything is not as the writer leaves it: then only a
/// whole read can tell.
pub fn read(file: &mut BufReader<Body>, start: u64) -> io::Result<Option<Tail>> {
    let length = file.get_ref().length()?;
    let mut window = WINDOW_BYTES;
    loop {
        let from = length.saturating_sub(window).max(start);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.by_ref().take(length - from).read_to_end(&mut bytes)?;
        if let Some(commits) = last_commits(&bytes) {
            return Ok(understood(&bytes, commits, from));
        }
        if from == start || window >= WINDOW_BYTES_MAX {
            return Ok(None);
        }
        window *= 8;
    }
}

/// Where lines begin in `bytes`, first to last; the first line may be half of one.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    bytes.split_inclusive(|b| *b == b'\n').filter_map(move |line| {
        let place = at;
        at += line.len();
        (place > 0 && line.ends_with(b"\n")).then_some((place, line))
    })
}

/// Beginnings and ends of the last two commit lines.
fn last_commits(bytes: &[u8]) -> Option<[(usize, usize); 2]> {
    let (mut before, mut last) = (None, None);
    for (at, line) in lines(bytes).filter(|(_, line)| kind(line) == LineKind::Commit) {
        before = last.replace((at, at + line.len()));
    }
    Some([before?, last?])
}

fn understood(bytes: &[u8], [before, last]: [(usize, usize); 2], from: u64) -> Option<Tail> {
    let commit = |(start, end): (usize, usize)| serde_json::from_slice::<CommitLine>(&bytes[start..end]).ok();
    let (before_line, commit_line) = (commit(before)?, commit(last)?);
    let batch = &bytes[before.1..last.0];
    if commit_line.k != COMMIT_KIND || commit_line.prev != before_line.crc32c || commit_line.crc32c != crc_hex(batch) {
        return None;
    }
    let mut tail = Tail { end: before_line.upto, committed_upto: commit_line.upto, ..Tail::default() };
    let mut upto = before.1;
    for (at, line) in lines(bytes).filter(|(at, _)| *at >= before.1) {
        match kind(line) {
            LineKind::Event(_) => tail.take(line, at > last.0)?,
            LineKind::Snapshot => {}
            LineKind::Commit if at == last.0 && tail.end == commit_line.upto => {}
            LineKind::Commit | LineKind::Other => return None,
        }
        upto = at + line.len();
    }
    tail.torn_bytes = (bytes.len() - upto) as u64;
    tail.length = from + upto as u64;
    // The run's state may have changed before the last batch.
    let changed = lines(&bytes[..upto]).filter(|(_, line)| event_kind(line) == Some("RunStateChanged")).last();
    let changed = changed.and_then(|(_, line)| parse(line).ok());
    tail.run_ended = changed.is_some_and(|e| matches!(&e.event, Event::RunStateChanged(e) if e.state == RunState::Ended));
    Some(tail)
}

impl Tail {
    /// Takes up the next event line, if it follows.
    fn take(&mut self, line: &[u8], is_uncommitted: bool) -> Option<()> {
        let envelope = parse(line).ok()?;
        if self.end.0 == u64::MAX || first_of(&envelope) != self.end.next() {
            return None;
        }
        (self.end, self.t_ns_end) = (envelope.seq, envelope.t_ns);
        self.uncommitted += u64::from(is_uncommitted);
        Some(())
    }
}
