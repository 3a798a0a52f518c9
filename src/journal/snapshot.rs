//! The folded state in a line of a recording, so that a seek begins there: how it is written and read, and when the next one is due.

use super::frames::unpacked;
use super::line::{LINE_BYTES_MAX, SNAPSHOT_KIND};
use super::recorder::RecorderSettings;
use crate::event::Seq;
use crate::state::DashState;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{self, Write};
use zeekstd::EncodeOptions;

/// A state that unpacks to more is none of ours.
const STATE_BYTES_MAX: u64 = LINE_BYTES_MAX as u64;
/// Packs a state to a seventh of its JSON, as small as level 6 does and in a third of the time.
const LEVEL: i32 = 1;

/// A snapshot's line as it is found. Recordings of earlier builds have the state as it is.
#[derive(Deserialize)]
struct Found<'a> {
    upto: Seq,
    #[serde(borrow)]
    packed: Option<Cow<'a, str>>,
    state: Option<Box<DashState>>,
}

/// Appends the line of `state`: `{"k":"Snapshot","upto":n,"packed":…}`, its JSON in Zstandard in base64. On failure nothing is appended
/// that was not taken back.
pub fn write(out: &mut Vec<u8>, state: &DashState) -> io::Result<()> {
    let mut packed = Vec::new();
    let mut encoder = EncodeOptions::new().compression_level(LEVEL).into_encoder(&mut packed).map_err(io::Error::other)?;
    encoder.write_all(&serde_json::to_vec(state)?)?;
    encoder.finish().map_err(io::Error::other)?;
    writeln!(out, "{{\"k\":\"{SNAPSHOT_KIND}\",\"upto\":{},\"packed\":\"{}\"}}", state.seq, STANDARD.encode(packed))
}

/// The state that a snapshot's line holds. None where it can't be read, or is not of the event that the line names.
pub fn read(line: &[u8]) -> Option<DashState> {
    let found = serde_json::from_slice::<Found>(line).ok()?;
    let state = match (found.packed, found.state) {
        (Some(packed), _) => serde_json::from_slice(&unpacked(&STANDARD.decode(&*packed).ok()?, STATE_BYTES_MAX)?).ok()?,
        (None, state) => *state?,
    };
    (state.seq == found.upto).then_some(state)
}

/// When a snapshot is due: after so many times its own bytes, so that it takes a bounded share of the file.
pub struct Cadence {
    factor: usize,
    bytes_min: usize,
    bytes_max: usize,
    /// Bytes since the last one, and how long that was.
    since: usize,
    length: usize,
}

impl Cadence {
    pub fn of(settings: &RecorderSettings) -> Self {
        let RecorderSettings { snapshot_factor: factor, snapshot_bytes_min: bytes_min, snapshot_bytes_max, .. } = *settings;
        Self { factor, bytes_min, bytes_max: LINE_BYTES_MAX.min(snapshot_bytes_max), since: 0, length: 0 }
    }

    /// Takes note of an event's line of so many bytes, and appends a snapshot of the state behind it where one is due. One that is too long
    /// for the reader is left out: the events have everything.
    pub fn after(&mut self, bytes: usize, state: &DashState, batch: &mut Vec<u8>) {
        self.since += bytes;
        if self.since < self.bytes_min.max(self.factor.saturating_mul(self.length)) {
            return;
        }
        self.write(state, batch, self.bytes_max);
    }

    /// Appends a snapshot that is due whatever came before it, such as that with which a part begins.
    pub fn at_once(&mut self, state: &DashState, batch: &mut Vec<u8>) {
        self.write(state, batch, LINE_BYTES_MAX);
    }

    fn write(&mut self, state: &DashState, batch: &mut Vec<u8>, bytes_max: usize) {
        let before = batch.len();
        let written = write(batch, state);
        self.length = batch.len() - before;
        if written.is_err() || self.length >= bytes_max {
            batch.truncate(before);
        }
        self.since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Envelope, LaneId, LogLevel, LogLine, SafeText};

    fn state() -> DashState {
        let mut state = DashState::default();
        for n in 1..=400 {
            let text = SafeText::new(&format!("line {n} of a log\u{1b}[2J"));
            let event = LogLine { level: LogLevel::Info, target: SafeText::new("t"), text }.into();
            state.apply(&Envelope { seq: Seq(n), t_ns: n, lane: LaneId(0), episode: None, step: None, event }).unwrap();
        }
        state
    }

    #[test]
    fn a_state_comes_back_packed_and_as_earlier_builds_wrote_it() {
        let state = state();
        let mut line = Vec::new();
        write(&mut line, &state).unwrap();
        let text = std::str::from_utf8(&line).unwrap();
        assert!(text.starts_with("{\"k\":\"Snapshot\",\"upto\":400,\"packed\":\"") && text.ends_with("\"}\n"), "{text}");
        assert!(line.len() * 5 < serde_json::to_vec(&state).unwrap().len(), "{}", line.len());
        assert_eq!(read(&line).unwrap(), state);
        let plain = serde_json::json!({"k": "Snapshot", "upto": 400, "state": state}).to_string();
        assert_eq!(read(plain.as_bytes()).unwrap(), state);
        let other = serde_json::json!({"k": "Snapshot", "upto": 401, "state": state}).to_string();
        assert!(read(other.as_bytes()).is_none(), "it is not of the event that it names");
    }

    #[test]
    fn what_is_no_state_is_passed_over() {
        let mut line = Vec::new();
        write(&mut line, &state()).unwrap();
        let text = String::from_utf8(line).unwrap();
        let packed = |bytes: &[u8]| format!("{{\"k\":\"Snapshot\",\"upto\":400,\"packed\":\"{}\"}}\n", STANDARD.encode(bytes));
        let (_, rest) = text.split_once("packed\":\"").unwrap();
        let bytes = STANDARD.decode(rest.trim_end().trim_end_matches("\"}")).unwrap();
        assert!(read(packed(&bytes).as_bytes()).is_some());
        for cut in [0, 1, 9, bytes.len() / 2, bytes.len() - 1] {
            assert!(read(packed(&bytes[..cut]).as_bytes()).is_none(), "cut to {cut}");
        }
        for broken in [text.replace("packed\":\"", "packed\":\"!"), text.replace("400", "399"), "{\"k\":\"Snapshot\",\"upto\":400}".into()]
        {
            assert!(read(broken.as_bytes()).is_none(), "{}", &broken[..40.min(broken.len())]);
        }
        // More zeros than anybody wants to have in memory.
        let mut bomb = Vec::new();
        let mut encoder = EncodeOptions::new().into_encoder(&mut bomb).unwrap();
        io::copy(&mut io::Read::take(io::repeat(b' '), STATE_BYTES_MAX + 1), &mut encoder).unwrap();
        encoder.finish().unwrap();
        assert!(bomb.len() < 1 << 20 && unpacked(&bomb, STATE_BYTES_MAX).is_none());
        assert!(read(packed(&bomb).as_bytes()).is_none());
    }

    #[test]
    fn snapshots_take_a_bounded_share_of_the_file() {
        let state = state();
        let mut cadence = Cadence::of(&RecorderSettings { snapshot_bytes_min: 100, ..RecorderSettings::default() });
        let (mut batch, mut written) = (Vec::new(), 0);
        for _ in 0..100_000 {
            written += 100;
            cadence.after(100, &state, &mut batch);
        }
        assert!(batch.len() * 100 < 7 * (batch.len() + written) && batch.len() * 100 > 5 * written, "{} of {written}", batch.len());
    }
}
