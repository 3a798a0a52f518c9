//! What is found out about a recording beside playing it: the book, tracks of episodes, tallies. Each read takes a little.

use super::tally::Scan;
use super::track::Tracker;
use super::{Book, Probe, Quest, Tally, Track};
use crate::event::{EpisodeId, LaneId, Seq, StepIndex};
use crate::journal::{ReadError, Recording};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Tracks that are kept, and bytes of all of them: the one asked for last is kept whatever its size.
const TRACKS_MAX: usize = 8;
const TRACKS_BYTES_MAX: usize = 8 << 20;

pub struct Study {
    book: Arc<Book>,
    /// The one asked for last stands last.
    tracks: VecDeque<Arc<Track>>,
    /// What makes the last of `tracks`, while that is not whole.
    tracker: Option<Tracker>,
    scans: BTreeMap<Quest, Scan>,
    /// The last event, as the recording says.
    end: Seq,
    /// More may be written.
    grows: bool,
}

impl Study {
    pub fn new(end: Seq, grows: bool) -> Self {
        Self { book: Arc::new(Book::new(end)), tracks: VecDeque::new(), tracker: None, scans: BTreeMap::new(), end, grows }
    }

    /// The recording ends there, as far as is known now.
    pub fn note_end(&mut self, end: Seq, grows: bool) {
        if (self.end, self.grows) == (end, grows) {
            return;
        }
        (self.end, self.grows) = (end, grows);
        Arc::make_mut(&mut self.book).end = end;
        self.scans.values_mut().for_each(|scan| scan.note_end(end, grows));
    }

    pub fn book(&self) -> Arc<Book> {
        self.book.clone()
    }

    pub fn tallies(&self) -> BTreeMap<Quest, Arc<Tally>> {
        self.scans.iter().map(|(quest, scan)| (*quest, scan.tally.clone())).collect()
    }

    pub fn look_for(&mut self, quest: Quest, probe: Arc<dyn Probe>) {
        self.scans.insert(quest, Scan::new(quest, probe, self.book.end, self.grows));
    }

    pub fn forget(&mut self, quest: Quest) {
        self.scans.remove(&quest);
    }

    /// The track of an episode, as far as it is read; unset while the book does not have the episode.
    pub fn track(&mut self, lane: LaneId, episode: EpisodeId) -> Option<Arc<Track>> {
        let book = self.book.clone();
        let found = book.find(lane, episode)?;
        let is_it = |t: &Arc<Track>| t.lane == lane && t.episode == episode && t.last >= found.last;
        if self.tracks.back().is_some_and(is_it) {
            return self.tracks.back().cloned();
        }
        self.drop_unfinished();
        let kept = self.tracks.iter().position(is_it).and_then(|at| self.tracks.remove(at));
        let track = kept.unwrap_or_else(|| {
            self.tracker = Some(Tracker::default());
            Arc::new(Track::begin(found))
        });
        self.tracks.retain(|t| t.lane != lane || t.episode != episode);
        self.tracks.push_back(track.clone());
        self.drop_oldest();
        Some(track)
    }

    /// The last event of a step, where a track knows it.
    pub fn beat(&self, lane: LaneId, episode: EpisodeId, step: StepIndex) -> Option<Seq> {
        let track = self.tracks.iter().find(|t| (t.lane, t.episode) == (lane, episode))?;
        let beat = track.beat(step)?;
        (track.is_whole() || track.beats.last() != Some(beat)).then_some(beat.last)
    }

    fn drop_oldest(&mut self) {
        let mut bytes: usize = self.tracks.iter().map(|t| t.bytes()).sum();
        while self.tracks.len() > 1 && (self.tracks.len() > TRACKS_MAX || bytes > TRACKS_BYTES_MAX) {
            bytes -= self.tracks.pop_front().map_or(0, |t| t.bytes());
        }
    }

    fn drop_unfinished(&mut self) {
        if self.tracker.take().is_some() {
            self.tracks.pop_back();
        }
    }

    #[cfg(test)]
    pub fn kept(&self) -> (usize, usize) {
        (self.tracks.len(), self.tracks.iter().map(|t| t.bytes()).sum())
    }

    /// Reads on, at most about `budget` events for each of what is not done; whether anything was found out.
    pub fn read_on(&mut self, recording: &mut Recording, budget: usize) -> Result<bool, ReadError> {
        let tracked = self.read_track(recording, budget)?;
        let booked = self.read_book(recording, budget)?;
        Ok(self.read_scans(recording, budget)? || tracked || booked)
    }

    fn read_book(&mut self, recording: &mut Recording, budget: usize) -> Result<bool, ReadError> {
        if self.book.is_whole() {
            return Ok(false);
        }
        let book = Arc::make_mut(&mut self.book);
        let before = book.read_upto;
        for envelope in recording.events_from(before.next())?.take(budget) {
            book.note(&*envelope?);
        }
        if book.read_upto == before {
            // Nothing more can be read, whatever the file said of its end.
            book.end = before;
        }
        Ok(true)
    }

    fn read_track(&mut self, recording: &mut Recording, budget: usize) -> Result<bool, ReadError> {
        let (Some(tracker), Some(track)) = (self.tracker.as_mut(), self.tracks.back_mut()) else { return Ok(false) };
        // Changed where it lies, but for a copy that somebody holds.
        let track = Arc::make_mut(track);
        let from = track.read_upto.next().max(track.first);
        for envelope in recording.events_from(from)?.take(budget) {
            tracker.note(track, &*envelope?);
            if track.is_whole() {
                break;
            }
        }
        if track.read_upto < from {
            track.last = track.read_upto;
        }
        let is_whole = track.is_whole();
        if is_whole {
            self.tracker = None;
            self.drop_oldest();
        }
        Ok(true)
    }

    /// The scan that is farthest behind reads on, and those at the same place with it: conditions that were set together are
    /// answered by one read of the file.
    fn read_scans(&mut self, recording: &mut Recording, budget: usize) -> Result<bool, ReadError> {
        let unread = self.scans.values().filter(|s| !s.tally.is_whole()).map(|s| s.tally.read_upto).min();
        let Some(mut upto) = unread else { return Ok(false) };
        if upto < recording.base() {
            // A part begins in the midst of a run.
            let base = recording.base_state()?;
            self.scans.values_mut().filter(|s| s.tally.read_upto < base.seq).for_each(|scan| scan.begin_at(&base));
            upto = base.seq;
        }
        let mut together: Vec<&mut Scan> = self.scans.values_mut().filter(|s| s.tally.read_upto == upto && !s.tally.is_whole()).collect();
        for envelope in recording.events_from(upto.next())?.take(budget) {
            let envelope = envelope?;
            together.iter_mut().for_each(|scan| scan.note(&envelope));
        }
        let grows = self.grows;
        together.iter_mut().filter(|s| s.tally.read_upto == upto).for_each(|scan| scan.note_end(upto, grows));
        Ok(true)
    }
}
