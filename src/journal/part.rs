//! A part of a recording: its last minutes, say, in a file that opens by itself.
//!
//! The header says where the part begins; behind it stands the state before its first event, and then the events, with commits of their own.
//! Other snapshots are a short cut and are not believed; this one is, for what it was made of is not there: its batch must have the checksum
//! that its commit says. A part is sealed as a whole recording is, but for the pieces of text, which are all left in.

use super::header::Header;
use super::integrity::{Damage, Integrity};
use super::medium::create_private;
use super::reader::{ReadError, Recording};
use super::seal::{Packed, SealError, SealMark};
use crate::event::{RunId, RunStarted, Seq};
use crate::state::DashState;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// In a part's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartMark {
    /// Its first event.
    pub from: Seq,
    /// The run that it is of.
    pub of: RunId,
    /// The last commit's `crc32c` of the recording that it was taken from.
    #[serde(default)]
    pub head: String,
    /// What could not be read there: `Elided` stands for it here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<Damage>,
}

impl PartMark {
    /// The event before the first one.
    pub(super) fn base(&self) -> Seq {
        Seq(self.from.0.saturating_sub(1))
    }
}

impl Recording {
    /// What its header says of being a part of another recording. A whole one that was copied says it too, and begins at 1.
    pub fn part(&self) -> Option<&PartMark> {
        self.part.as_ref()
    }

    /// The last event that is not in it; 0 of a whole recording.
    pub fn base(&self) -> Seq {
        self.part.as_ref().map_or(Seq(0), PartMark::base)
    }

    /// The state from which its first event is folded: that of a run that has not begun, or what a part says.
    pub fn base_state(&mut self) -> Result<DashState, ReadError> {
        self.state_at(self.base())
    }

    /// How the run began, which its first event says, and of a part the state before it; unset where neither does.
    pub fn run_started(&mut self) -> Result<Option<RunStarted>, ReadError> {
        Ok(self.state_at(self.base().next())?.run)
    }
}

/// Writes the events `from` to `upto` of a recording into a new file at `path`, sealed. Long texts go beside it.
pub fn write_part(recording: &mut Recording, from: Seq, upto: Seq, path: &Path) -> Result<(), SealError> {
    let io = |source| SealError::Io { path: path.to_owned(), source };
    let from = from.max(recording.base().next());
    // Reading it finds what opening had not, and the header is to say it.
    for envelope in recording.events_from(from)? {
        if envelope?.seq >= upto {
            break;
        }
    }
    let (mark, part) = marks(recording, from, upto);
    let base = recording.state_at(part.base())?;
    let header = recording.header().clone();
    let file = create_private(path).map_err(io)?;
    let mut out = Packed::begin(path, file, &header, mark, Some(part))?;
    if base.seq > Seq(0) {
        out.begin_at(base);
    }
    for envelope in recording.events_from(from)? {
        let envelope = envelope?;
        if envelope.seq > upto {
            break;
        }
        out.add(&envelope)?;
    }
    out.end()?.sync_all().map_err(io)
}

/// What the header is to say.
fn marks(recording: &Recording, from: Seq, upto: Seq) -> (SealMark, PartMark) {
    let Integrity { committed_upto, uncommitted, torn_bytes, ref damage, .. } = *recording.integrity();
    // Of an end that is not taken along nothing is to be told.
    let has_end = upto >= recording.end();
    let (uncommitted, torn_bytes) = if has_end { (uncommitted, torn_bytes) } else { (0, 0) };
    let head = recording.chain_head().to_owned();
    let damage: Vec<Damage> = damage.iter().filter(|d| d.upto >= from && d.from <= upto).cloned().collect();
    let mark = SealMark { head: head.clone(), upto, committed_upto: committed_upto.min(upto), uncommitted, torn_bytes };
    (mark, PartMark { from, of: recording.header().id.clone(), head, damage })
}

/// A part's header, for those who look at nothing else.
#[derive(Serialize)]
pub(super) struct Marked<'a> {
    #[serde(flatten)]
    pub(super) header: &'a Header,
    pub(super) sealed: SealMark,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<PartMark>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::journal::Glance;
    use std::path::PathBuf;

    fn shift() -> Recording {
        Recording::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/shift.jsonl")).unwrap()
    }

    fn part(dir: &Path, from: u64, upto: u64) -> PathBuf {
        let path = dir.join(format!("{from}.jsonl.zst"));
        write_part(&mut shift(), Seq(from), Seq(upto), &path).unwrap();
        path
    }

    fn events(recording: &mut Recording, from: u64) -> Vec<String> {
        let events = recording.events_from(Seq(from)).unwrap();
        events.map(|e| serde_json::to_string(&*e.unwrap()).unwrap()).collect()
    }

    #[test]
    fn a_part_says_of_its_events_and_states_what_the_whole_says() {
        let dir = tempfile::tempdir().unwrap();
        let (mut whole, path) = (shift(), part(dir.path(), 500, u64::MAX));
        for mut part in [Recording::open(&path).unwrap(), Recording::open_above(&path, 0).unwrap()] {
            assert_eq!((part.base(), part.end(), part.t_ns_end()), (Seq(499), whole.end(), whole.t_ns_end()));
            assert_eq!(part.integrity().lines(), Vec::<String>::new());
            assert_eq!(events(&mut part, 1), events(&mut whole, 500));
            assert_eq!(events(&mut part, 700), events(&mut whole, 700));
            for seq in [0, 1, 499, 500, 501, 640, 783, 9_999] {
                assert_eq!(part.state_at(Seq(seq)).unwrap(), whole.state_at(Seq(seq.max(499))).unwrap(), "{seq}");
            }
        }
        let glance = Glance::at(&path).unwrap().unwrap();
        assert!(glance.ending.is_some_and(|e| e.run_ended && e.end == whole.end()));
    }

    #[test]
    fn a_part_that_ends_early_is_unfinished_and_one_of_the_last_event_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let early = Recording::open(&part(dir.path(), 1, 300)).unwrap();
        assert_eq!((early.base(), early.end(), early.integrity().run_ended), (Seq(0), Seq(300), false));
        assert!(early.integrity().lines()[0].ends_with("its last committed event is 300"), "{:?}", early.integrity());
        let last = part(dir.path(), 783, 783);
        let mut recording = Recording::open(&last).unwrap();
        assert!(recording.integrity().is_intact() && events(&mut recording, 1).len() == 1);
        // Of a part the part.
        let path = dir.path().join("of.jsonl.zst");
        write_part(&mut Recording::open(&part(dir.path(), 500, u64::MAX)).unwrap(), Seq(1), Seq(600), &path).unwrap();
        let of = Recording::open(&path).unwrap();
        assert_eq!((of.part().unwrap().from, of.end()), (Seq(500), Seq(600)));
    }

    /// A plain recording of the events behind 600, with a state that may be forged.
    fn forged(dir: &Path, state: impl FnOnce(&mut DashState)) -> PathBuf {
        let mut whole = shift();
        let mut base = whole.state_at(Seq(600)).unwrap();
        state(&mut base);
        let path = dir.join("forged.jsonl.zst");
        let header = whole.header().clone();
        let (mark, mut part) = marks(&whole, Seq(601), whole.end());
        part.from = Seq(601);
        let mut out = Packed::begin(&path, create_private(&path).unwrap(), &header, mark, Some(part)).unwrap();
        out.begin_at(base);
        for envelope in whole.events_from(Seq(601)).unwrap() {
            out.add(&envelope.unwrap()).unwrap();
        }
        out.end().unwrap();
        path
    }

    #[test]
    fn a_state_that_is_of_another_event_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let path = forged(dir.path(), |state| state.seq = Seq(7));
        let mut recording = Recording::open(&path).unwrap();
        let state = recording.base_state().unwrap();
        assert_eq!((state.seq, state.episodes_total), (Seq(600), 0));
        assert_eq!(events(&mut recording, 1).len(), 183);
        let state = recording.state_at(Seq(783)).unwrap();
        assert_eq!(state.seq, Seq(783));
    }

    #[test]
    fn what_was_damaged_there_is_damaged_here() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("a.jsonl");
        let text = std::fs::read_to_string(shift().path()).unwrap();
        std::fs::write(&plain, text.replacen("\"seq\":650,", "\"seq\":65x,", 1)).unwrap();
        let path = dir.path().join("b.jsonl.zst");
        let (whole, mut damaged) = (shift(), Recording::open(&plain).unwrap());
        write_part(&mut damaged, Seq(500), whole.end(), &path).unwrap();
        let mut part = Recording::open(&path).unwrap();
        assert!(!part.integrity().damage.is_empty());
        assert_eq!(part.integrity().damage, damaged.integrity().damage);
        let mut events = part.events_from(Seq(1)).unwrap().map(|e| e.unwrap());
        assert!(events.any(|e| matches!(&e.event, Event::Elided(e) if e.from <= Seq(650) && e.upto >= Seq(650))));
        // Damage before the part is none of it.
        let path = dir.path().join("c.jsonl.zst");
        write_part(&mut damaged, Seq(780), whole.end(), &path).unwrap();
        assert!(Recording::open(&path).unwrap().integrity().is_intact());
    }

    #[test]
    fn a_beginning_that_no_part_can_have_is_no_panic() {
        let dir = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(shift().path()).unwrap();
        for from in ["0", "1", "18446744073709551615", "2"] {
            let path = dir.path().join(format!("{from}.jsonl"));
            std::fs::write(&path, text.replacen("\"lanes\"", &format!("\"part\":{{\"from\":{from},\"of\":\"x\"}},\"lanes\""), 1)).unwrap();
            let mut recording = Recording::open(&path).unwrap();
            let _ = (events(&mut recording, 1), recording.state_at(Seq(u64::MAX)).unwrap(), recording.base_state().unwrap());
        }
    }
}
