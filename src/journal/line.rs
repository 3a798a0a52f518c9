//! Lines of a recording: telling them apart without parsing them, and writing them without a raw control byte.

use super::{Header, RecordError};
use crate::event::Seq;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// A commit: everything up to it was synced together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitLine {
    pub k: String,
    pub upto: Seq,
    /// Of the lines since the last commit, newlines included; 8 hexadecimal digits.
    pub crc32c: String,
    /// `crc32c` of the commit before; of the header line for the first one.
    pub prev: String,
}

/// In a segment's header: which segment of the recording it is, the first event in it, and the last commit's `crc32c` before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentMark {
    pub number: u32,
    pub from: Seq,
    pub prev: String,
}

/// The first line of a segment: the recording's header, and its place behind it.
#[derive(Serialize)]
pub struct SegmentHeader<'a> {
    #[serde(flatten)]
    pub header: &'a Header,
    pub segment: &'a SegmentMark,
}

/// No line of ours is longer: the writer leaves out a snapshot that would be.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// What `take_line` found, and how many bytes it takes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Whole(u64),
    /// The file ends within the line.
    Torn(u64),
    /// Passed over; only its beginning was kept.
    TooLong(u64),
    End,
}

/// Reads one line, newline included.
pub fn take_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Taken> {
    line.clear();
    let bytes = file.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', line)?;
    Ok(match line.last() {
        None => Taken::End,
        Some(b'\n') => Taken::Whole(bytes as u64),
        Some(_) if bytes < LINE_BYTES_MAX => Taken::Torn(bytes as u64),
        Some(_) => Taken::TooLong((bytes + file.skip_until(b'\n')?) as u64),
    })
}

pub const COMMIT_KIND: &str = "Commit";
pub const SNAPSHOT_KIND: &str = "Snapshot";
pub const COMMIT_PREFIX: &[u8] = br#"{"k":"Commit""#;
pub const SNAPSHOT_PREFIX: &[u8] = br#"{"k":"Snapshot""#;
const EVENT_PREFIX: &[u8] = br#"{"seq":"#;

/// What a line is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Event(Seq),
    Commit,
    Snapshot,
    /// Nothing that this format has.
    Other,
}

pub fn kind(line: &[u8]) -> LineKind {
    if let Some(rest) = line.strip_prefix(EVENT_PREFIX) {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let seq = std::str::from_utf8(&rest[..digits]).ok().and_then(|t| t.parse().ok());
        return seq.map_or(LineKind::Other, |s| LineKind::Event(Seq(s)));
    }
    if line.starts_with(COMMIT_PREFIX) {
        LineKind::Commit
    } else if line.starts_with(SNAPSHOT_PREFIX) {
        LineKind::Snapshot
    } else {
        LineKind::Other
    }
}

/// The value of `k` of an event line, without parsing the line.
pub fn event_kind(line: &[u8]) -> Option<&str> {
    const KEY: &[u8] = br#","k":""#;
    // `k` comes within the first bytes: before it stand three numbers.
    let head = &line[..line.len().min(120)];
    let at = head.windows(KEY.len()).position(|w| w == KEY)? + KEY.len();
    let rest = &line[at..];
    let end = rest.iter().position(|b| *b == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

pub fn crc_hex(bytes: &[u8]) -> String {
    format!("{:08x}", crc32c::crc32c(bytes))
}

/// Writes `value` as one line, as harmless to a terminal as a recording's.
pub fn write_json<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    let mut line = Vec::new();
    write_line(&mut line, value).map_err(io::Error::other)?;
    out.write_all(&line)
}

/// Appends `value` as one line. Control, bidirectional and invisible characters become `\u` escapes, so that `cat` of a recording is harmless.
pub fn write_line<T: Serialize>(out: &mut Vec<u8>, value: &T) -> Result<(), RecordError> {
    let before = out.len();
    if let Err(e) = serde_json::to_writer(&mut *out, value) {
        out.truncate(before);
        return Err(RecordError::Encode(e.to_string()));
    }
    // Most lines are plain: one look at their bytes is enough.
    if out[before..].iter().any(|b| !matches!(b, b' '..=b'~')) {
        let line = out.split_off(before);
        let text = String::from_utf8(line).map_err(|e| RecordError::Encode(e.to_string()))?;
        escape(out, &text);
    }
    out.push(b'\n');
    Ok(())
}

fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| needs_escape(*c)) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.extend_from_slice(rest.as_bytes());
}

fn needs_escape(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped_and_reads_back() {
        let text = "a\u{1b}[2J\u{202e}\u{9b}\u{e0041}é工";
        let mut out = Vec::new();
        write_line(&mut out, &text).unwrap();
        let written = std::str::from_utf8(&out).unwrap();
        assert!(written.trim_end().chars().all(|c| !needs_escape(c)), "{written:?}");
        assert_eq!(serde_json::from_str::<String>(written).unwrap(), text);
    }

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(kind(br#"{"seq":12,"t":1}"#), LineKind::Event(Seq(12)));
        assert_eq!(kind(br#"{"k":"Commit","upto":1}"#), LineKind::Commit);
        assert_eq!(kind(br#"{"seq":,"#), LineKind::Other);
        assert_eq!(event_kind(br#"{"seq":12,"t":1,"lane":0,"k":"LogLine","d":{}}"#), Some("LogLine"));
    }
}
