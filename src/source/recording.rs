//! A recording, played at any speed.

use super::{Frame, FrameSource, Playback, SourceError, SourceStatus};
use crate::event::{Clock, CommandSender, Envelope, Pace, Seq, StepUnit};
use crate::journal::Recording;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub struct RecordingSource {
    recording: Recording,
    clock: Arc<dyn Clock>,
    /// The last event that was handed out.
    head: Seq,
    head_t_ns: u64,
    playing: bool,
    speed: Pace,
    /// The clock, and the recorded time at which the playhead was then.
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

impl RecordingSource {
    pub fn new(recording: Recording, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        let (damage, damages) = (recording.integrity().told(), recording.integrity().damage.len());
        Ok(Self {
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

    /// Takes the present as the origin of the playhead, which stays where it is: in a long gap that is between two events.
    fn rebase(&mut self) {
        let next_t_ns = self.ahead.front().map_or(self.head_t_ns, |e| e.t_ns);
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
            (self.head, self.head_t_ns) = (state.seq, state.t_ns);
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
            match self.next_event()? {
                None => return Ok(SourceStatus::Ended),
                Some(envelope) if envelope.t_ns > reached => return Ok(SourceStatus::Drained),
                Some(_) => {
                    if let Some(envelope) = self.ahead.pop_front() {
                        (self.head, self.head_t_ns) = (envelope.seq, envelope.t_ns);
                        out.push(Frame::Event(envelope));
                    }
                }
            }
        }
        Ok(SourceStatus::More)
    }

    fn wait(&mut self, timeout: Duration) -> bool {
        if self.jump.is_some() {
            return true;
        }
        let due_ns = match (self.playing, self.speed, self.next_event()) {
            (false, _, _) | (true, _, Ok(None) | Err(_)) => u64::MAX,
            (true, Pace::Max, Ok(Some(_))) => 0,
            (true, Pace::Times(times), Ok(Some(next))) => {
                let t_ns = next.t_ns;
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
}
