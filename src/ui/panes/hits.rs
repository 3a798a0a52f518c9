//! Which rows hold what is searched for, kept from picture to picture: what was looked at once is not looked at again.

use super::chain_rows::holds;
use super::chain_sheet::Rows;
use crate::event::{LaneId, Seq};
use std::cell::RefCell;
use std::rc::Rc;

/// The newest rows may still change: a call's result comes later.
const UNSETTLED: usize = 16;

/// Rows that hold a needle. Not a part of what is shown, only what it was made from; two that differ show the same.
#[derive(Clone, Debug, Default)]
pub struct Hits(RefCell<Kept>);

#[derive(Clone, Debug, Default)]
struct Kept {
    lane: LaneId,
    needle: String,
    /// The oldest row that was looked at, and the newest one that will not change any more.
    looked: Option<(Seq, Seq)>,
    hits: Rc<Vec<Seq>>,
    /// Rows that were looked at, ever.
    #[cfg(test)]
    work: usize,
}

impl Hits {
    /// The rows that hold `needle` (in lower case), oldest first; none for an empty one. A row of the same `seq` is the same row.
    pub fn of(&self, rows: Rows<'_>, lane: LaneId, needle: &str) -> Rc<Vec<Seq>> {
        let mut kept = self.0.borrow_mut();
        kept.look(rows, lane, needle);
        Rc::clone(&kept.hits)
    }

    /// Other events are looked at from now on.
    pub fn forget(&self) {
        *self.0.borrow_mut() = Kept::default();
    }
}

impl Kept {
    fn look(&mut self, rows: Rows<'_>, lane: LaneId, needle: &str) {
        let edges = rows.get(0).filter(|_| !needle.is_empty()).zip(rows.last());
        let Some((oldest, newest)) = edges.map(|(first, last)| (first.seq, last.seq)) else {
            self.forget();
            return;
        };
        if self.lane != lane || self.needle != needle || self.looked.is_none_or(|(first, _)| oldest < first) {
            self.forget();
            (self.lane, self.needle) = (lane, needle.to_owned());
        }
        let settled = self.looked.map_or(Seq(0), |(_, upto)| upto.min(newest));
        let hits = Rc::make_mut(&mut self.hits);
        hits.truncate(hits.partition_point(|seq| *seq <= settled));
        hits.drain(..hits.partition_point(|seq| *seq < oldest));
        let from = if self.looked.is_some() { rows.row_at(settled).map_or(0, |at| at + 1) } else { 0 };
        for row in (from..rows.len()).filter_map(|at| rows.get(at)) {
            #[cfg(test)]
            (self.work += 1);
            if holds(row, needle) {
                hits.push(row.seq);
            }
        }
        let upto = rows.len().checked_sub(1 + UNSETTLED).and_then(|at| rows.get(at)).map_or(settled, |row| row.seq);
        self.looked = Some((oldest, upto));
    }

    fn forget(&mut self) {
        (self.looked, self.hits) = (None, Rc::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EpisodeId, StepIndex};
    use crate::state::{Row, RowKind};
    use proptest::prelude::*;

    fn row(seq: u64) -> Row {
        let text = if seq.is_multiple_of(3) { "a hit" } else { "nothing" }.into();
        Row { seq: Seq(seq), t_ns: seq, episode: EpisodeId(1), step: StepIndex(1), kind: RowKind::Text { text } }
    }

    proptest! {
        /// Windows that slide, grow, jump back: always what looking at every row finds.
        #[test]
        fn what_is_kept_is_what_is_there(windows in prop::collection::vec((1..200u64, 0..80u64, 0..3u8), 1..40)) {
            let hits = Hits::default();
            for (first, count, other) in windows {
                let rows: Vec<Row> = (first..first + count).map(row).collect();
                let (lane, needle) = (LaneId(u32::from(other == 1)), if other == 2 { "noth" } else { "hit" });
                let found = hits.of(Rows { before: &rows, ..Rows::default() }, lane, needle).to_vec();
                let wanted: Vec<Seq> = rows.iter().filter(|r| holds(r, needle)).map(|r| r.seq).collect();
                prop_assert_eq!(found, wanted);
            }
        }
    }

    #[test]
    fn a_result_that_comes_later_is_found_and_old_rows_are_not_looked_at_again() {
        let (hits, mut rows): (Hits, Vec<Row>) = (Hits::default(), (1..=1000).map(row).collect());
        let count = |rows: &[Row]| hits.of(Rows { before: rows, ..Rows::default() }, LaneId(0), "hit").len();
        let before = count(&rows);
        rows[999].kind = RowKind::Text { text: "a hit after all".into() };
        assert_eq!(count(&rows), before + 1);
        assert!(hits.0.borrow().work <= 1000 + UNSETTLED);
    }
}
