//! A recording, played at any speed.

use super::study::Study;
use super::{Book, Frame, FrameSource, Playback, Probe, Quest, SourceError, SourceStatus, Tally, Track};
use crate::event::{Clock, CommandSender, Envelope, EpisodeId, Event, LaneId, Pace, Seq, StepIndex, StepUnit};
use crate::journal::{Integrity, Recording};
use crate::state::DashState;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
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
    beat: Beat,
    study: Study,
    /// The clock, and the time of the recording at which the playhead was then.
    origin: (u64, u64),
    jump: Option<Seq>,
    /// Events read ahead, oldest first.
    ahead: std::collections::VecDeque<Arc<Envelope>>,
    damage: Option<String>,
    /// Findings of which `damage` tells; reading may find more.
    damages: usize,
    /// The same for whoever holds it, when the source is gone.
    found: Arc<Mutex<Integrity>>,
    /// The run goes on in it; when that was last looked at.
    grows: bool,
    looked_ns: u64,
    /// What is new is handed out as it comes.
    follows: bool,
    bundle: Option<String>,
}

/// The decision that is played, where one a second is.
#[derive(Clone, Copy, Default)]
struct Beat {
    /// Where the decision before it was settled, and where it is settled itself.
    from: Seq,
    upto: Seq,
    /// Decisions that were settled since the playhead was set.
    settled: u64,
}

/// Events that are read from the file at a time.
const READ_AHEAD: usize = 512;
/// Decisions faster than five a second can't be watched.
const DECISION_NS_MIN: u64 = 200_000_000;
/// A decision's time where one a second is played, in each lane.
const DECISION_NS: u64 = 1_000_000_000;
/// Events at the beginning that show how fast decisions come, where not all was read.
const SHOWN_EVENTS: usize = 4096;
/// Bytes of the recording that are read at a time beside playing it.
const READ_ON_BYTES: u64 = 2 << 20;
/// Time between two looks at a file that grows.
const LOOK_NS: u64 = 100_000_000;
/// Between two looks whether a file that nobody writes is still what was opened.
const LOOK_SELDOM_NS: u64 = 1_000_000_000;

impl RecordingSource {
    pub fn new(recording: Recording, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        let grows = recording.is_growing();
        let mut source = Self {
            study: Study::new(recording.end(), grows),
            by_decision: false,
            beat: Beat::default(),
            recording,
            clock,
            head: Seq(0),
            head_t_ns: 0,
            playing: true,
            speed: Pace::Times(1.0),
            origin: (0, 0),
            jump: Some(Seq(0)),
            ahead: Default::default(),
            damage: None,
            damages: 0,
            found: Arc::default(),
            grows,
            looked_ns: 0,
            follows: false,
            bundle: None,
        };
        source.looked_ns = source.clock.now_ns();
        source.tell_damage();
        Ok(source)
    }

    /// Opens a file.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        Self::new(Recording::open_quickly(path)?, clock)
    }

    /// What is known to be wrong with the recording, also later on.
    pub fn findings(&self) -> Arc<Mutex<Integrity>> {
        self.found.clone()
    }

    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// It came in a bundle; of when that is.
    pub fn set_bundle(&mut self, when: Option<String>) {
        self.bundle = when;
    }

    /// The state after an event, wherever the playhead is.
    pub fn state_at(&mut self, seq: Seq) -> Result<DashState, SourceError> {
        Ok(self.recording.state_at(seq)?)
    }

    /// Plays a decision a second where the recorded ones are too fast to watch, as those of a run without a screen are.
    pub fn made_watchable(mut self) -> Result<Self, SourceError> {
        let (mut decisions, mut t_ns) = (0u64, 0);
        let begun_ns = self.recording.base_state()?.t_ns;
        for envelope in self.recording.events_from(Seq(1))?.take(SHOWN_EVENTS) {
            let envelope = envelope?;
            decisions += u64::from(matches!(envelope.event, Event::DecisionSettled(_)));
            t_ns = envelope.t_ns.saturating_sub(begun_ns);
        }
        // Each lane decides for itself.
        let mean_ns = t_ns.saturating_mul(self.lanes()).checked_div(decisions);
        self.by_decision = mean_ns.is_some_and(|ns| ns < DECISION_NS_MIN);
        Ok(self)
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
    fn play_ns(&mut self, seq: Seq, t_ns: u64) -> Result<u64, SourceError> {
        if !self.by_decision {
            return Ok(t_ns);
        }
        while seq > self.beat.upto {
            let next = self.recording.boundary(StepUnit::Decision, self.beat.upto, 1)?;
            if next <= self.beat.upto {
                break;
            }
            self.beat = Beat { from: self.beat.upto, upto: next, settled: self.beat.settled + 1 };
        }
        let Beat { from, upto, settled } = self.beat;
        let part = (seq.0.saturating_sub(from.0) as f64 / upto.0.saturating_sub(from.0).max(1) as f64).min(1.0);
        let decision_ns = DECISION_NS / self.lanes();
        Ok(settled.saturating_mul(decision_ns).saturating_add((part * decision_ns as f64) as u64))
    }

    /// Finds the decision that the playhead stands in.
    fn set_beat(&mut self, head: Seq) -> Result<(), SourceError> {
        if self.by_decision {
            let from = self.recording.boundary(StepUnit::Decision, head, -1)?;
            let upto = self.recording.boundary(StepUnit::Decision, Seq(head.0.saturating_sub(1)), 1)?;
            self.beat = Beat { from, upto, settled: 0 };
        }
        Ok(())
    }

    /// Takes the present as the origin of the playhead, which stays where it is: in a long gap that is between two events.
    fn rebase(&mut self) {
        let next = self.ahead.front().map(|e| (e.seq, e.t_ns));
        let next_t_ns = next.and_then(|(seq, t_ns)| self.play_ns(seq, t_ns).ok()).unwrap_or(self.head_t_ns);
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
            self.note_damage();
        }
        Ok(self.ahead.front())
    }

    fn note_damage(&mut self) {
        if self.recording.integrity().findings() != self.damages {
            self.tell_damage();
        }
    }

    fn tell_damage(&mut self) {
        let integrity = self.recording.integrity();
        self.damages = integrity.findings();
        // That its end is missing is no damage while it is written.
        let is_told = !self.grows || self.damages > 0;
        self.damage = integrity.told().filter(|_| is_told);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone_from(integrity);
    }

    /// Looks now and then whether more was written.
    fn look_again(&mut self) -> Result<(), SourceError> {
        let now_ns = self.clock.now_ns();
        let looked_ago_ns = now_ns.saturating_sub(self.looked_ns);
        if looked_ago_ns < if self.grows { LOOK_NS } else { LOOK_SELDOM_NS } {
            return Ok(());
        }
        self.looked_ns = now_ns;
        if !self.grows {
            self.recording.look()?;
            self.note_damage();
            return Ok(());
        }
        // In this order: what was written before the writer let go is read.
        self.grows = self.recording.is_growing();
        let has_more = self.recording.follow()?;
        self.grows &= !self.recording.integrity().run_ended;
        if has_more || !self.grows {
            self.study.note_end(self.recording.end(), self.grows);
            self.tell_damage();
        } else {
            self.note_damage();
        }
        Ok(())
    }
}

impl FrameSource for RecordingSource {
    fn poll(&mut self, out: &mut Vec<Frame>, budget: usize) -> Result<SourceStatus, SourceError> {
        self.look_again()?;
        if let Some(seq) = self.jump.take() {
            let state = self.recording.state_at(seq);
            self.note_damage();
            let state = state?;
            self.set_beat(state.seq)?;
            (self.head, self.head_t_ns) = (state.seq, self.play_ns(state.seq, state.t_ns)?);
            self.ahead.clear();
            self.origin = (self.clock.now_ns(), self.head_t_ns);
            out.push(Frame::Snapshot(Box::new(state)));
            return Ok(SourceStatus::More);
        }
        let at_end = if self.grows { SourceStatus::Drained } else { SourceStatus::Ended };
        if !self.is_playing() {
            return Ok(if self.head >= self.recording.end() { at_end } else { SourceStatus::Drained });
        }
        let reached = if self.follows { u64::MAX } else { self.reached_t_ns() };
        for _ in 0..budget {
            let Some(envelope) = self.next_event()?.cloned() else { return Ok(at_end) };
            let due = self.play_ns(envelope.seq, envelope.t_ns)?;
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
        let due_ns = match (self.is_playing(), self.speed, next) {
            (true, _, Some(_)) if self.follows => 0,
            (false, _, _) | (true, _, None) if self.grows => LOOK_NS,
            (false, _, _) | (true, _, None) => u64::MAX,
            (true, Pace::Max, Some(_)) => 0,
            (true, Pace::Times(times), Some((seq, t_ns))) => {
                let t_ns = self.play_ns(seq, t_ns).unwrap_or(t_ns);
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

/// Events that are rather read one by one than halved once more.
const HALVED_UPTO: u64 = if cfg!(test) { 2 } else { 256 };

impl RecordingSource {
    /// An event of an episode at or before the last one of a step, and near it: found by halving, for steps only go up in it.
    fn before_step(
        &mut self,
        (lane, episode): (LaneId, EpisodeId),
        step: StepIndex,
        (first, last): (Seq, Seq),
    ) -> Result<Seq, SourceError> {
        let (mut low, mut high) = (first, last.next());
        while high.0.saturating_sub(low.0) > HALVED_UPTO {
            let middle = Seq(low.0 + (high.0 - low.0) / 2);
            let mut found = None;
            for envelope in self.recording.events_from(middle)? {
                let envelope = envelope?;
                if envelope.seq >= high {
                    break;
                }
                if envelope.lane == lane && envelope.episode == Some(episode) && envelope.step.is_some() {
                    found = Some((envelope.seq, envelope.step));
                    break;
                }
            }
            match found {
                Some((seq, at)) if at <= Some(step) => low = seq,
                Some(_) | None => high = middle,
            }
        }
        Ok(low)
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
        self.playing || self.follows
    }

    fn is_growing(&self) -> bool {
        self.grows
    }

    fn set_playing(&mut self, playing: bool) {
        self.rebase();
        (self.playing, self.follows) = (playing, false);
    }

    fn speed(&self) -> Pace {
        self.speed
    }

    fn set_speed(&mut self, speed: Pace) {
        self.rebase();
        self.speed = speed;
    }

    fn seek(&mut self, seq: Seq) {
        self.follows = self.grows && seq >= self.recording.end();
        self.jump = Some(seq.min(self.recording.end()));
    }

    fn step(&mut self, unit: StepUnit, count: i64) {
        // What can't be read, the playhead meets as well.
        let target = self.recording.boundary(unit, self.head(), count).unwrap_or(self.head());
        self.set_playing(false);
        self.seek(target);
        self.follows = false;
    }

    fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    fn bundle(&self) -> Option<&str> {
        self.bundle.as_deref()
    }

    fn is_by_decision(&self) -> bool {
        self.by_decision
    }

    fn read_on(&mut self, budget: usize) -> Result<bool, SourceError> {
        if self.recording.read_on(READ_ON_BYTES)? {
            if self.recording.is_whole() {
                self.tell_damage();
            }
            self.note_damage();
            return Ok(true);
        }
        // Reading may have found another end than the one that the file's last lines say.
        self.study.note_end(self.recording.end(), self.grows);
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
        // An episode may have any number of steps: one that is read already is not read again.
        if let Some(beat) = self.study.beat(lane, episode, step) {
            return Ok(Some(beat));
        }
        let from = self.before_step((lane, episode), step, (first, last))?;
        let mut end = None;
        for envelope in self.recording.events_from(from)? {
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
