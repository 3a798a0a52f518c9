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
use crate::event::{RunId, Seq};
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
        out.begin_at(base)?;
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
