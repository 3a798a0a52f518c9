//! One episode of a recording, whole: its rows as the fold makes them, and what happened at each step.

use super::Episode;
use crate::event::{Envelope, EpisodeId, Event, LaneId, Seq, StepIndex};
use crate::state::{DashState, Row, Transcript};

/// What happened at a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beat {
    pub step: StepIndex,
    /// Its first event, and its last one, which settles the decision.
    pub first: Seq,
    pub last: Seq,
    pub t_ns: u64,
    pub observed: bool,
    pub thought: bool,
    pub acted: bool,
    /// A tool call failed.
    pub failed: bool,
    /// Unset before the transition.
    pub reward: Option<f64>,
    /// The critic's estimate; unset where the policy has no value head.
    pub value: Option<f64>,
    /// The observation's numbers, one a field of the episode.
    pub values: Vec<Option<f64>>,
}

/// An episode of a recording, past and future alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    pub lane: LaneId,
    pub episode: EpisodeId,
    pub first: Seq,
    pub last: Seq,
    /// Recorded times of its first and its last event.
    pub t_ns_first: u64,
    pub t_ns_last: u64,
    pub rows: Vec<Row>,
    /// In the order of the steps.
    pub beats: Vec<Beat>,
    /// The last event that was read; `last` when all was.
    pub read_upto: Seq,
}

impl Track {
    /// Of which nothing was read yet.
    pub fn begin(episode: &Episode) -> Self {
        Self { lane: episode.lane, episode: episode.episode, first: episode.first, last: episode.last, ..Self::default() }
    }

    pub fn is_whole(&self) -> bool {
        self.read_upto >= self.last
    }

    /// About what it takes in memory.
    pub fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|row| size_of::<Row>() + row.bytes()).sum();
        let beats: usize = self.beats.iter().map(|beat| size_of::<Beat>() + beat.values.len() * size_of::<Option<f64>>()).sum();
        rows + beats
    }

    /// The place in `beats` of the step that `seq` lies in, or of the newest one before it.
    pub fn beat_at(&self, seq: Seq) -> Option<usize> {
        self.beats.partition_point(|b| b.first <= seq).checked_sub(1)
    }

    pub fn beat(&self, step: StepIndex) -> Option<&Beat> {
        self.beats.binary_search_by_key(&step, |b| b.step).ok().and_then(|at| self.beats.get(at))
    }

    /// The last event at which a row is finished and the next one has not begun: with it, a call has its result and its reward.
    pub fn row_end(&self, index: usize) -> Option<Seq> {
        let row = self.rows.get(index)?;
        let next = self.rows.get(index + 1).map_or(self.last, |next| Seq(next.seq.0.saturating_sub(1)));
        let beat = self.beat_at(row.seq).and_then(|at| self.beats.get(at)).filter(|b| (b.first..=b.last).contains(&row.seq));
        Some(beat.map_or(next, |b| next.min(b.last)).max(row.seq))
    }

    /// The last row or step that begins within `t_ns` of the episode's beginning.
    pub fn seq_at(&self, t_ns: u64) -> Seq {
        let upto = self.t_ns_first.saturating_add(t_ns);
        if upto >= self.t_ns_last {
            return self.last;
        }
        let rows = self.rows.iter().map(|r| (r.t_ns, r.seq));
        let beats = self.beats.iter().map(|b| (b.t_ns, b.first));
        rows.chain(beats).filter(|(t, _)| *t <= upto).map(|(_, seq)| seq).max().unwrap_or(self.first)
    }

    fn note(&mut self, envelope: &Envelope) {
        self.t_ns_last = envelope.t_ns;
        let Some(step) = envelope.step else { return };
        if self.beats.last().is_none_or(|b| b.step != step) {
            self.beats.push(Beat { step, first: envelope.seq, t_ns: envelope.t_ns, ..Beat::default() });
        }
        let Some(beat) = self.beats.last_mut() else { return };
        beat.last = envelope.seq;
        let event = &envelope.event;
        if let Event::ObservationReceived(e) = event {
            beat.observed = true;
            beat.values.clone_from(&e.observation.values);
        } else if let Event::TransitionRecorded(e) = event {
            beat.acted = true;
            (beat.reward, beat.value) = (Some(e.reward), e.value);
        } else if let Event::ToolCallFinished(e) = event {
            beat.failed |= e.error_type.is_some();
        }
        beat.thought |= matches!(event, Event::MessageCompleted(_));
        beat.acted |= matches!(event, Event::ToolCallStarted(_));
    }
}

/// What it takes to make a track from the episode's events.
#[derive(Default)]
pub struct Tracker {
    /// Folds this lane alone. Its transcript holds only the newest rows, so that none falls out.
    state: DashState,
    /// Rows of the track that the fold can't change any more.
    closed: usize,
}

impl Tracker {
    /// Takes up the next event of the recording.
    pub fn note(&mut self, track: &mut Track, envelope: &Envelope) {
        track.read_upto = envelope.seq.min(track.last);
        let is_here = envelope.lane == track.lane && envelope.episode == Some(track.episode);
        // A swap is no lane's event, and has a row in each.
        let is_swap = matches!(envelope.event, Event::CheckpointSwapped(_));
        if !is_here && !is_swap || envelope.seq > track.last {
            return;
        }
        if envelope.seq == track.first {
            track.t_ns_first = envelope.t_ns;
        }
        if is_here {
            track.note(envelope);
        }
        // Events between that are not this episode's are left out, which is no gap here.
        self.state.seq = Seq(envelope.seq.0.saturating_sub(1));
        let folded = self.state.apply(envelope).is_ok();
        if folded && !matches!(envelope.event, Event::ThoughtDelta(_) | Event::PhaseEntered(_)) {
            self.take_rows(track);
        }
    }

    fn take_rows(&mut self, track: &mut Track) {
        let Some(lane) = self.state.lanes.get_mut(&track.lane) else { return };
        let rows = &lane.transcript.rows;
        track.rows.truncate(self.closed);
        track.rows.extend(rows.iter().cloned());
        // What follows the row that can still change is kept with it.
        let open = lane.transcript.open_row().unwrap_or(0);
        if open > 0 {
            self.closed += open;
            let kept: Vec<Row> = rows.iter().skip(open).cloned().collect();
            lane.transcript = Transcript::default();
            kept.into_iter().for_each(|row| lane.transcript.push(row));
        }
    }
}
