//! The book of a recording: all of its episodes, found by reading on a little at a time.

use crate::event::{BranchStarted, CheckpointId, Envelope, EpisodeEnded, EpisodeId, Event, LaneId, Level, Seed, Seq, Verdict};
use std::collections::BTreeMap;

/// An episode of a recording, as far as it has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    pub lane: LaneId,
    pub episode: EpisodeId,
    /// Unset, like level and checkpoint, where the event that says so can't be read.
    pub seed: Option<Seed>,
    pub level: Option<Level>,
    pub checkpoint: Option<CheckpointId>,
    /// The episode that it goes on from, if it does.
    pub branch: Option<Box<BranchStarted>>,
    /// Its first event, and the last one so far.
    pub first: Seq,
    pub last: Seq,
    /// Decisions that were settled.
    pub decisions: u32,
    /// Sum of the step rewards so far.
    pub reward_sum: Option<f64>,
    pub tool_errors: u32,
    /// Unset while it goes on, and where its end is not in the recording.
    pub end: Option<EpisodeEnded>,
}

impl Episode {
    fn begin(envelope: &Envelope, episode: EpisodeId) -> Self {
        let started = if let Event::EpisodeStarted(e) = &envelope.event { Some(e) } else { None };
        Self {
            lane: envelope.lane,
            episode,
            seed: started.map(|e| e.seed),
            level: started.map(|e| e.level),
            checkpoint: started.and_then(|e| e.checkpoint.clone()),
            branch: None,
            first: envelope.seq,
            last: envelope.seq,
            decisions: 0,
            reward_sum: None,
            tool_errors: 0,
            end: None,
        }
    }

    fn note(&mut self, envelope: &Envelope) {
        self.last = envelope.seq;
        let event = &envelope.event;
        if let Event::TransitionRecorded(e) = event {
            self.reward_sum = Some(e.reward_sum);
        } else if let Event::ToolCallFinished(e) = event {
            self.tool_errors = self.tool_errors.saturating_add(u32::from(e.error_type.is_some()));
        } else if let Event::DecisionSettled(_) = event {
            self.decisions = self.decisions.saturating_add(1);
        } else if let Event::BranchStarted(e) = event {
            self.checkpoint = e.with.checkpoint.clone().or(self.checkpoint.take());
            self.reward_sum = Some(e.reward_sum).filter(|_| e.at_step.0 > 1);
            self.decisions = e.at_step.0.saturating_sub(1);
            self.branch = Some(Box::new(e.clone()));
        } else if let Event::EpisodeEnded(e) = event {
            self.tool_errors = e.tool_errors;
            self.end = Some(e.clone());
        }
    }

    /// Undiscounted return, or the sum so far; unset before the first reward.
    pub fn episode_return(&self) -> Option<f64> {
        self.end.as_ref().map(|e| e.episode_return).or(self.reward_sum)
    }

    /// Decisions, those of an episode that goes on included.
    pub fn length(&self) -> u32 {
        self.end.as_ref().map_or(self.decisions, |e| e.length)
    }

    pub fn verdict(&self) -> Option<Verdict> {
        self.end.as_ref().map(EpisodeEnded::verdict)
    }
}

/// What reading on has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Book {
    /// In the order in which they began.
    pub episodes: Vec<Episode>,
    /// The last event that was read.
    pub read_upto: Seq,
    /// The last event of the recording.
    pub end: Seq,
    /// Places in `episodes` of those that go on from a step of another one.
    pub branches: Vec<usize>,
    /// The newest episode of each lane, by its place in `episodes`.
    newest: BTreeMap<LaneId, usize>,
    /// Places in `episodes`.
    index: BTreeMap<(LaneId, EpisodeId), usize>,
}

impl Book {
    pub fn new(end: Seq) -> Self {
        Self { end, ..Self::default() }
    }

    pub fn is_whole(&self) -> bool {
        self.read_upto >= self.end
    }

    /// Takes up the next event.
    pub fn note(&mut self, envelope: &Envelope) {
        self.read_upto = envelope.seq;
        let Some(episode) = envelope.episode else { return };
        let newest = self.newest.get(&envelope.lane).copied().filter(|i| self.episodes[*i].episode == episode);
        match newest {
            Some(index) => {
                let was_branch = self.episodes[index].branch.is_some();
                self.episodes[index].note(envelope);
                if !was_branch && self.episodes[index].branch.is_some() {
                    self.branches.push(index);
                }
            }
            None => {
                let mut begun = Episode::begin(envelope, episode);
                begun.note(envelope);
                self.push(begun);
            }
        }
    }

    /// Appends an episode that begins.
    pub fn push(&mut self, episode: Episode) {
        let place = self.episodes.len();
        self.newest.insert(episode.lane, place);
        self.index.entry((episode.lane, episode.episode)).or_insert(place);
        if episode.branch.is_some() {
            self.branches.push(place);
        }
        self.episodes.push(episode);
    }

    pub fn find(&self, lane: LaneId, episode: EpisodeId) -> Option<&Episode> {
        self.place(lane, episode).map(|place| &self.episodes[place])
    }

    /// The place of an episode in `episodes`.
    pub fn place(&self, lane: LaneId, episode: EpisodeId) -> Option<usize> {
        self.index.get(&(lane, episode)).copied()
    }

    /// The first episode of a lane.
    pub fn first_of(&self, lane: LaneId) -> Option<&Episode> {
        // A lane that has none is not looked for among all.
        self.newest.get(&lane)?;
        self.episodes.iter().find(|e| e.lane == lane)
    }

    /// Whether any lane but the first has an episode.
    pub fn has_lanes(&self) -> bool {
        self.newest.keys().any(|lane| *lane != LaneId(0))
    }

    /// The episode of a lane that `seq` lies in, or the newest one before it.
    pub fn at(&self, lane: LaneId, seq: Seq) -> Option<&Episode> {
        let before = self.episodes.partition_point(|e| e.first <= seq);
        self.episodes[..before].iter().rev().find(|e| e.lane == lane)
    }
}
