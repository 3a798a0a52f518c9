//! A recording, played at any speed.

use super::study::Study;
use super::{Book, Frame, FrameSource, Playback, Probe, Quest, SourceError, SourceStatus, Tally, Track};
use crate::event::{Clock, CommandSender, Envelope, EpisodeId, LaneId, Pace, Seq, StepIndex, StepUnit};
use crate::journal::Recording;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub struct RecordingSource {
    recording: Recording,
    clock: Arc<dyn Clock>,
    /// The last event that was handed out, and the time at which it is played.
    head: Seq,
    head_t_ns: u64,
    playing: bool,
    speed: Pace,
    /// A decision a second, whatever the recorded times are.
    by_decision: bool,
    study: Study,
    /// The clock, and the time of the recording at which the playhead was then.
    origin: (u64, u64),
    jump: Option<Seq>,
    /// Events read ahead, oldest first.
    ahead: std::collections::VecDeque<Arc<Envelope>>,
    damage: Option<String>,
    /// Findings of which `damage` tells; reading may find more.
    damages: usize,
}

/// Events that are read from the file at a time.
const READ_AHEAD: usize = 512;
/// Decisions faster than five a second can't be watched.
const DECISION_NS_MIN: u64 = 200_000_000;
/// A decision's time where one a second is played, in each lane.
const DECISION_NS: u64 = 1_000_000_000;

impl RecordingSource {
    pub fn new(recording: Recording, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        let (damage, damages) = (recording.integrity().told(), recording.integrity().damage.len());
        Ok(Self {
            study: Study::new(recording.end()),
            by_decision: false,
            recording,
            clock,
            head: Seq(0),
            head_t_ns: 0,
            playing: true,
            speed: Pace::Times(1.0),
            origin: (0, 0),
            jump: Some(Seq(0)),
            ahead: Default::default(),
            damage,
            damages,
        })
    }

    /// Opens a file.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        Self::new(Recording::open(path)?, clock)
    }

    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Plays a decision a second where the recorded ones are too fast to watch, as those of a run without a screen are.
    pub fn made_watchable(mut self) -> Self {
        let decisions = self.recording.boundaries().decisions.len() as u64;
        // Each lane decides for itself.
        let mean_ns = self.recording.t_ns_end().saturating_mul(self.lanes()).checked_div(decisions);
        self.by_decision = mean_ns.is_some_and(|ns| ns < DECISION_NS_MIN);
        self
    }

    fn lanes(&self) -> u64 {
        u64::from(self.recording.header().lanes.max(1))
    }

    #[cfg(test)]
    pub(super) fn tracks_kept(&self) -> (usize, usize) {
        self.study.kept()
    }

    #[cfg(test)]
    pub(super) fn by_decision_always(&mut self) {
        self.by_decision = true;
    }

    /// When an event is played: at its recorded time, or by the decision that it belongs to.
    fn play_ns(&self, seq: Seq, t_ns: u64) -> u64 {
        if !self.by_decision {
            return t_ns;
        }
        let decisions = &self.recording.boundaries().decisions;
        let settled = decisions.partition_point(|s| *s < seq);
        let from = settled.checked_sub(1).map_or(0, |i| decisions[i].0);
        let upto = decisions.get(settled).map_or(self.recording.end().0, |s| s.0);
        let part = (seq.0 - from.min(seq.0)) as f64 / (upto - from).max(1) as f64;
        let decision_ns = DECISION_NS / self.lanes();
        (settled as u64).saturating_mul(decision_ns).saturating_add((part * decision_ns as f64) as u64)
    }

    /// Takes the present as the origin of the playhead, which stays where it is: in a long gap that is between two events.
    fn rebase(&mut self) {
        let next_t_ns = self.ahead.front().map_or(self.head_t_ns, |e| self.play_ns(e.seq, e.t_ns));
        let t_ns = if self.playing { self.reached_t_ns().min(next_t_ns).max(self.head_t_ns) } else { self.origin.1 };
        self.origin = (self.clock.now_ns(), t_ns);
    }

    /// Recorded time that the playhead has reached.
    fn reached_t_ns(&self) -> u64 {
        match self.speed {
            Pace::Max => u64::MAX,
            Pace::Times(times) => {
                let elapsed = self.clock.now_ns().saturating_sub(self.origin.0) as f64;
                self.origin.1.saturating_add((elapsed * times) as u64)
            }
        }
    }

    fn next_event(&mut self) -> Result<Option<&Arc<Envelope>>, SourceError> {
        if self.ahead.is_empty() && self.head < self.recording.end() {
            let from = self.head.next();
            for envelope in self.recording.events_from(from)?.take(READ_AHEAD) {
                self.ahead.push_back(envelope?);
            }
            let integrity = self.recording.integrity();
            if integrity.damage.len() != self.damages {
                (self.damage, self.damages) = (integrity.told(), integrity.damage.len());
            }
        }
        Ok(self.ahead.front())
    }

    fn boundaries(&self, unit: StepUnit) -> &[Seq] {
        let b = self.recording.boundaries();
        match unit {
            StepUnit::Token => &b.tokens,
            StepUnit::Phase => &b.phases,
            StepUnit::Decision => &b.decisions,
            StepUnit::Episode => &b.episodes,
        }
    }
}

impl FrameSource for RecordingSource {
    fn poll(&mut self, out: &mut Vec<Frame>, budget: usize) -> Result<SourceStatus, SourceError> {
        if let Some(seq) = self.jump.take() {
            let state = self.recording.state_at(seq)?;
            (self.head, self.head_t_ns) = (state.seq, self.play_ns(state.seq, state.t_ns));
            self.ahead.clear();
            self.origin = (self.clock.now_ns(), self.head_t_ns);
            out.push(Frame::Snapshot(Box::new(state)));
            return Ok(SourceStatus::More);
        }
        if !self.playing {
            return Ok(if self.head >= self.recording.end() { SourceStatus::Ended } else { SourceStatus::Drained });
        }
        let reached = self.reached_t_ns();
        for _ in 0..budget {
            let Some(envelope) = self.next_event()?.cloned() else { return Ok(SourceStatus::Ended) };
            let due = self.play_ns(envelope.seq, envelope.t_ns);
            if due > reached {
                return Ok(SourceStatus::Drained);
            }
            self.ahead.pop_front();
            (self.head, self.head_t_ns) = (envelope.seq, due);
            out.push(Frame::Event(envelope));
        }
        Ok(SourceStatus::More)
    }

    fn wait(&mut self, timeout: Duration) -> bool {
        if self.jump.is_some() {
            return true;
        }
        let next = self.next_event().ok().flatten().map(|e| (e.seq, e.t_ns));
        let due_ns = match (self.playing, self.speed, next) {
            (false, _, _) | (true, _, None) => u64::MAX,
            (true, Pace::Max, Some(_)) => 0,
            (true, Pace::Times(times), Some((seq, t_ns))) => {
                let t_ns = self.play_ns(seq, t_ns);
                (t_ns.saturating_sub(self.reached_t_ns()) as f64 / times) as u64
            }
        };
        let due = Duration::from_nanos(due_ns);
        std::thread::sleep(due.min(timeout));
        due <= timeout
    }

    fn commands(&self) -> Option<&CommandSender> {
        None
    }

    fn playback(&mut self) -> Option<&mut dyn Playback> {
        Some(self)
    }
}

impl Playback for RecordingSource {
    fn head(&self) -> Seq {
        self.jump.unwrap_or(self.head)
    }

    fn end(&self) -> Seq {
        self.recording.end()
    }

    fn t_ns_end(&self) -> u64 {
        self.recording.t_ns_end()
    }

    fn is_playing(&self) -> bool {
        self.playing
    }

    fn set_playing(&mut self, playing: bool) {
        self.rebase();
        self.playing = playing;
    }

    fn speed(&self) -> Pace {
        self.speed
    }

    fn set_speed(&mut self, speed: Pace) {
        self.rebase();
        self.speed = speed;
    }

    fn seek(&mut self, seq: Seq) {
        self.jump = Some(seq.min(self.recording.end()));
    }

    fn step(&mut self, unit: StepUnit, count: i64) {
        let head = self.head();
        let places = self.boundaries(unit);
        let target = if count >= 0 {
            let first = places.partition_point(|s| *s <= head);
            places.get(first + (count.max(1) as usize - 1)).copied().unwrap_or(self.recording.end())
        } else {
            let before = places.partition_point(|s| *s < head);
            before.checked_sub(count.unsigned_abs() as usize).map_or(Seq(0), |i| places[i])
        };
        self.set_playing(false);
        self.seek(target);
    }

    fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    fn is_by_decision(&self) -> bool {
        self.by_decision
    }

    fn read_on(&mut self, budget: usize) -> Result<bool, SourceError> {
        Ok(self.study.read_on(&mut self.recording, budget)?)
    }

    fn book(&self) -> Arc<Book> {
        self.study.book()
    }

    fn track(&mut self, lane: LaneId, episode: EpisodeId) -> Option<Arc<Track>> {
        self.study.track(lane, episode)
    }

    fn step_end(&mut self, lane: LaneId, episode: EpisodeId, step: StepIndex) -> Result<Option<Seq>, SourceError> {
        let Some((first, last)) = self.study.book().find(lane, episode).map(|e| (e.first, e.last)) else { return Ok(None) };
        let mut end = None;
        for envelope in self.recording.events_from(first)? {
            let envelope = envelope?;
            let is_here = envelope.lane == lane && envelope.episode == Some(episode);
            if envelope.seq > last || is_here && envelope.step.is_some_and(|s| s > step) {
                break;
            }
            if is_here && envelope.step == Some(step) {
                end = Some(envelope.seq);
            }
        }
        Ok(end)
    }

    fn lane_at(&mut self, seq: Seq) -> Result<Option<LaneId>, SourceError> {
        let event = self.recording.events_from(seq)?.next().transpose()?;
        Ok(event.filter(|e| e.seq == seq && e.episode.is_some()).map(|e| e.lane))
    }

    fn look_for(&mut self, quest: Quest, probe: Arc<dyn Probe>) {
        self.study.look_for(quest, probe);
    }

    fn forget(&mut self, quest: Quest) {
        self.study.forget(quest);
    }

    fn tallies(&self) -> BTreeMap<Quest, Arc<Tally>> {
        self.study.tallies()
    }
}
