//! The thought chain as one long sheet of lines: what is seen of it, and how the operator moves over it.
//!
//! Only what is seen or passed over is laid out: a transcript of thousands of rows moves like one of a hundred.

use super::chain_rows::{Line, Shape, holds, lay_out};
use crate::event::Seq;
use crate::state::{Row, Transcript};
use crate::ui::view::{Place, Spot, View};

/// Rows of a chain, oldest first: those that the fold holds, and in a replay those that fell out of it and those to come.
#[derive(Clone, Copy, Default)]
pub struct Rows<'a> {
    pub before: &'a [Row],
    pub folded: Option<&'a Transcript>,
    /// Folded rows that are left out: those of earlier episodes.
    pub skip: usize,
    pub after: &'a [Row],
}

impl<'a> Rows<'a> {
    pub fn of(transcript: &'a Transcript) -> Self {
        Self { folded: Some(transcript), ..Self::default() }
    }

    pub fn folded_len(&self) -> usize {
        self.folded.map_or(0, |t| t.rows.len()).saturating_sub(self.skip)
    }

    pub fn len(&self) -> usize {
        self.before.len() + self.folded_len() + self.after.len()
    }

    pub fn get(&self, index: usize) -> Option<&'a Row> {
        let Some(index) = index.checked_sub(self.before.len()) else { return self.before.get(index) };
        match index.checked_sub(self.folded_len()) {
            None => self.folded.and_then(|t| t.rows.get(self.skip + index)),
            Some(index) => self.after.get(index),
        }
    }

    pub fn last(&self) -> Option<&'a Row> {
        self.get(self.len().checked_sub(1)?)
    }

    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'a Row> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }

    /// The row of that `seq`, or the nearest older one.
    pub fn row_at(&self, seq: Seq) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(|r| r.seq <= seq) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    /// Rows that gave way to newer ones.
    fn fallen_out(&self) -> u64 {
        self.folded.map_or(0, |t| t.rows.total() - t.rows.len() as u64)
    }
}

/// A line, by the index of its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub index: usize,
    pub line: usize,
}

/// What is seen, and where the cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub top: At,
    pub cursor: At,
}

/// How the operator moves; positive is down, to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// The cursor by lines; what is seen goes along.
    Lines(i64),
    /// What is seen by lines, as a wheel does; the cursor goes along.
    View(i64),
    Pages(i64),
    Oldest,
    Row(Seq),
}

/// A transcript with the way in which it is laid out.
pub struct Sheet<'a> {
    pub rows: Rows<'a>,
    pub view: &'a View,
    /// Where the operator is in it; unset while it follows.
    pub place: Option<Place>,
    /// The row that is followed, in place of the newest one.
    pub anchor: Option<usize>,
    pub shape: Shape,
    /// Lines that are seen; at least 1.
    pub height: usize,
    /// Lines of the message that is being decoded.
    pub streaming: usize,
}

impl Sheet<'_> {
    /// Whether the playhead stands before the first row.
    pub fn is_all_future(&self) -> bool {
        self.anchor.is_some() && self.rows.before.is_empty() && self.rows.folded_len() == 0
    }

    pub fn lines(&self, row: &Row) -> Vec<Line> {
        let lines = lay_out(row, &self.shape, self.view.folds.get(&row.seq).copied());
        let needle = self.view.search.as_str();
        // What was searched for is not hidden in a fold.
        let hidden = !needle.is_empty() && holds(row, needle) && !lines.iter().any(|l| l.holds(needle));
        if hidden { lay_out(row, &self.shape, Some(true)) } else { lines }
    }

    fn height_of(&self, index: usize) -> usize {
        self.rows.get(index).map_or(0, |row| self.lines(row).len())
    }

    /// The last line of a row.
    fn end_of(&self, index: usize) -> At {
        At { index, line: self.height_of(index).saturating_sub(1) }
    }

    /// The last line of all.
    fn last(&self) -> At {
        self.end_of(self.rows.len().saturating_sub(1))
    }

    /// The line of a spot, or what is left of it: rows fall out, folds close, a replay goes back.
    fn find(&self, spot: Spot) -> At {
        match self.rows.row_at(spot.seq) {
            Some(index) => At { index, line: spot.line.min(self.end_of(index).line) },
            None => At::default(),
        }
    }

    fn spot(&self, at: At) -> Spot {
        Spot { seq: self.rows.get(at.index).map_or(Seq(0), |r| r.seq), line: at.line }
    }

    /// `lines` further down (or up, when negative), but not beyond either end.
    fn along(&self, from: At, lines: i64) -> At {
        let mut at = from;
        let mut left = usize::try_from(lines.unsigned_abs()).unwrap_or(usize::MAX);
        if lines < 0 {
            while left > at.line {
                if at.index == 0 {
                    return At::default();
                }
                left -= at.line + 1;
                at = self.end_of(at.index - 1);
            }
            return At { line: at.line - left, ..at };
        }
        loop {
            let end = self.end_of(at.index);
            let below = end.line.saturating_sub(at.line);
            if left <= below {
                return At { line: at.line + left, ..at };
            }
            if at.index + 1 >= self.rows.len() {
                return end;
            }
            left -= below + 1;
            at = At { index: at.index + 1, line: 0 };
        }
    }

    /// The lowest top: below it the sheet would end before the pane does.
    fn top_lowest(&self) -> At {
        self.along(self.last(), -(self.height as i64 - 1))
    }

    fn bottom(&self, top: At) -> At {
        self.along(top, self.height as i64 - 1)
    }

    /// Begins at a row whose number is a multiple of a stride, the earliest from which all that follows fits: so the text
    /// stands still until the pane is full, whatever was drawn before.
    fn top_following(&self) -> At {
        let stride = (self.height as u64 / 6).max(1);
        let fallen_out = self.rows.fallen_out();
        let (mut used, mut best) = (self.streaming, None);
        for index in (0..self.rows.len()).rev() {
            used += self.height_of(index);
            if used > self.height {
                let room = self.height.saturating_sub(self.streaming).max(1) as i64;
                return best.map_or_else(|| self.along(self.last(), 1 - room), |index| At { index, line: 0 });
            }
            if (fallen_out + index as u64).is_multiple_of(stride) {
                best = Some(index);
            }
        }
        At::default()
    }

    /// The followed row with some of what is to come below it.
    fn top_anchored(&self, anchor: usize) -> At {
        self.along(self.end_of(anchor), -(self.height as i64 * 2 / 3)).min(self.top_lowest())
    }

    /// What is seen now.
    pub fn seen(&self) -> Seen {
        match (&self.place, self.anchor) {
            (None, None) => Seen { top: self.top_following(), cursor: self.last() },
            (None, Some(anchor)) => Seen { top: self.top_anchored(anchor), cursor: At { index: anchor, line: 0 } },
            // The lines between may have grown since: the cursor stays in sight.
            (Some(place), _) => self.with_cursor(self.find(place.top), self.find(place.cursor)),
        }
    }

    /// Moves what is seen by as little as shows the cursor.
    fn with_cursor(&self, top: At, cursor: At) -> Seen {
        let top = if cursor < top {
            cursor
        } else if cursor > self.bottom(top) {
            self.along(cursor, 1 - self.height as i64)
        } else {
            top
        };
        Seen { top, cursor }
    }

    /// The place after a motion; unset where it follows the newest row.
    pub fn moved(&self, motion: Motion) -> Option<Place> {
        let before = self.seen();
        let page = (self.height as i64 - 2).max(1);
        let (after, at_end) = match motion {
            Motion::Lines(lines) => {
                let cursor = self.along(before.cursor, lines);
                (self.with_cursor(before.top, cursor), cursor == self.last())
            }
            Motion::View(lines) => self.viewed(before, lines),
            Motion::Pages(pages) => {
                let (seen, _) = self.viewed(before, pages * page);
                let cursor = self.along(before.cursor, pages * page);
                (self.with_cursor(seen.top, cursor), cursor == self.last())
            }
            Motion::Oldest => (Seen { top: At::default(), cursor: At::default() }, self.last() == At::default()),
            Motion::Row(seq) => (self.at_row(before, seq), false),
        };
        if at_end && self.anchor.is_none() {
            return None;
        }
        let newest = || self.rows.last().map_or(Seq(0), |r| r.seq);
        let newest_at_stop = self.place.map_or_else(newest, |p| p.newest_at_stop);
        Some(Place { top: self.spot(after.top), cursor: self.spot(after.cursor), newest_at_stop })
    }

    /// What is seen moves; whether it stands at the end then.
    fn viewed(&self, before: Seen, lines: i64) -> (Seen, bool) {
        let lowest = self.top_lowest();
        let top = self.along(before.top, lines).min(lowest.max(before.top));
        let cursor = before.cursor.clamp(top, self.bottom(top));
        // What fits into the pane does not scroll, and goes on following.
        let still = self.place.is_none() && top == before.top;
        (Seen { top, cursor }, still || (lines > 0 && top >= lowest))
    }

    /// The cursor on a row. What is seen moves only where the row is not wholly in it.
    fn at_row(&self, before: Seen, seq: Seq) -> Seen {
        let cursor = self.find(Spot { seq, line: 0 });
        if cursor >= before.top && self.end_of(cursor.index) <= self.bottom(before.top) {
            return Seen { cursor, ..before };
        }
        let top = self.along(cursor, -(self.height as i64 / 3)).min(self.top_lowest());
        Seen { top, cursor }
    }
}
