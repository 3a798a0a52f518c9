//! An episode of a recording, read into decisions.

use super::{Address, Cancel, DiffError};
use crate::event::{
    BranchStarted, CheckpointId, Envelope, EpisodeEnded, EpisodeStarted, ErrorType, Event, LaneId, Level, MessageCompleted, Observation,
    RecordedAction, RunStarted, SafeText, Seed, Seq, StepIndex, ToolCall, TransitionRecorded,
};
use crate::journal::{ReadError, Recording};
use crate::source::{Book, Episode};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One decision, with what it began from and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    pub step: StepIndex,
    /// Where it is recorded: steps before a branch are its parent's.
    pub address: Option<Address>,
    /// Its last event.
    pub last: Seq,
    pub observation: Option<Observation>,
    pub message: Option<MessageCompleted>,
    /// A call that was made; the transition holds what the environment took.
    pub call: Option<ToolCall>,
    pub result: Option<SafeText>,
    pub error_type: Option<ErrorType>,
    pub transition: Option<TransitionRecorded>,
    pub tool_ns: u64,
    /// Unset until it is settled.
    pub duration_ns: Option<u64>,
}

impl Decision {
    /// What was done, as a reader wants it; unset before anything was.
    pub fn action(&self) -> Option<SafeText> {
        match self.transition.as_ref().map(|t| &t.action) {
            Some(RecordedAction::Text(text)) => Some(text.clone()),
            Some(RecordedAction::Tool(call)) => Some(call.display()),
            Some(RecordedAction::Outside { call, .. }) => Some(SafeText::from(format!("{} (answered outside)", call.display()))),
            None => self.call.as_ref().map(ToolCall::display),
        }
    }

    /// The call that the environment took, or that was made.
    pub fn tool_call(&self) -> Option<&ToolCall> {
        match self.transition.as_ref().map(|t| &t.action) {
            Some(RecordedAction::Tool(call) | RecordedAction::Outside { call, .. }) => Some(call),
            Some(RecordedAction::Text(_)) => None,
            None => self.call.as_ref(),
        }
    }

    /// By which decisions are laid side by side: what was done, whatever the order of the arguments.
    pub fn action_key(&self) -> String {
        let of_call = |call: &ToolCall| {
            let sorted: BTreeMap<_, _> = call.arguments.iter().collect();
            let mut key = format!("tool {:?}", call.name);
            for (name, value) in sorted {
                // A string takes all that is written to it.
                let _ = write!(key, " {name:?}={value}");
            }
            key
        };
        match self.transition.as_ref().map(|t| &t.action) {
            Some(RecordedAction::Text(text)) => format!("text {text:?}"),
            Some(RecordedAction::Tool(call)) => of_call(call),
            Some(RecordedAction::Outside { call, .. }) => format!("outside {}", of_call(call)),
            None => self.call.as_ref().map_or_else(String::new, of_call),
        }
    }

    pub fn tokens(&self) -> u64 {
        self.message.as_ref().map_or(0, |m| m.token_ids.len() as u64)
    }

    fn note(&mut self, envelope: &Envelope) {
        self.last = envelope.seq;
        let event = &envelope.event;
        if let Event::ObservationReceived(e) = event {
            self.observation = Some(e.observation.clone());
        } else if let Event::MessageCompleted(e) = event {
            self.message = Some(e.clone());
        } else if let Event::ToolCallStarted(e) = event {
            self.call = Some(e.call.clone());
        } else if let Event::ToolCallFinished(e) = event {
            (self.result, self.error_type) = (Some(e.result.clone()), e.error_type);
            self.tool_ns = self.tool_ns.saturating_add(e.duration_ns);
        } else if let Event::TransitionRecorded(e) = event {
            self.transition = Some(e.clone());
        } else if let Event::DecisionSettled(e) = event {
            self.duration_ns = Some(e.duration_ns);
        }
    }
}

/// An episode, whole: a branch with the steps of its parent that it goes on from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    pub address: Address,
    /// Unset where the event that says so can't be read.
    pub started: Option<EpisodeStarted>,
    pub branch: Option<BranchStarted>,
    /// In the order of the steps.
    pub decisions: Vec<Decision>,
    /// Unset while it goes on, and where its end is not in the recording.
    pub end: Option<EpisodeEnded>,
    /// Steps of the parent could not be read.
    pub lacks_parent: bool,
}

impl Story {
    pub fn seed(&self) -> Option<Seed> {
        self.started.as_ref().map(|s| s.seed)
    }

    pub fn level(&self) -> Option<Level> {
        self.started.as_ref().map(|s| s.level)
    }

    /// Whose weights decide: those that the branch was given, else those that its episode began with.
    pub fn checkpoint(&self) -> Option<&CheckpointId> {
        let given = self.branch.as_ref().and_then(|b| b.with.checkpoint.as_ref());
        given.or(self.started.as_ref().and_then(|s| s.checkpoint.as_ref()))
    }

    /// Undiscounted return, or the sum so far; unset before the first reward.
    pub fn episode_return(&self) -> Option<f64> {
        let last = || self.decisions.iter().rev().find_map(|d| d.transition.as_ref());
        self.end.as_ref().map(|e| e.episode_return).or_else(|| last().map(|t| t.reward_sum))
    }

    /// Takes up the next event of the episode.
    pub fn note(&mut self, envelope: &Envelope) {
        let event = &envelope.event;
        if let Event::EpisodeStarted(e) = event {
            self.started = Some(e.clone());
        } else if let Event::BranchStarted(e) = event {
            self.branch = Some(e.clone());
        } else if let Event::EpisodeEnded(e) = event {
            self.end = Some(e.clone());
        }
        let Some(step) = envelope.step else { return };
        if self.decisions.last().is_none_or(|d| d.step != step) {
            let address = Some(self.address);
            self.decisions.push(Decision { step, address, ..Decision::default() });
        }
        if let Some(decision) = self.decisions.last_mut() {
            decision.note(envelope);
        }
    }
}

/// All episodes of a recording, and whose branches they are.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    pub book: Book,
    pub branches: BTreeMap<Address, BranchStarted>,
    pub run: Option<RunStarted>,
}

/// Events between two looks at whether the work is still wanted.
const LOOK_EVENTS: usize = 4_096;
/// A gap that is read rather than leapt over.
const GAP_EVENTS: u64 = 512;

impl Survey {
    /// Reads the recording once.
    pub fn of(recording: &mut Recording, is_cancelled: Cancel<'_>) -> Result<Self, DiffError> {
        let mut survey = Self { book: Book::new(recording.end()), run: recording.run_started()?, ..Self::default() };
        for (n, envelope) in recording.events_from(Seq(1))?.enumerate() {
            if n % LOOK_EVENTS == 0 && is_cancelled() {
                return Err(DiffError::Cancelled);
            }
            let envelope = envelope?;
            survey.book.note(&envelope);
            let address = envelope.episode.map(|episode| Address { lane: envelope.lane, episode });
            if let (Event::BranchStarted(e), Some(address)) = (&envelope.event, address) {
                survey.branches.entry(address).or_insert_with(|| e.clone());
            } else if let (Event::RunStarted(e), None) = (&envelope.event, &survey.run) {
                survey.run = Some(e.clone());
            }
        }
        Ok(survey)
    }

    pub fn episode(&self, address: Address) -> Option<&Episode> {
        self.book.find(address.lane, address.episode)
    }

    /// The episodes that there are, in words: all of a few, else the first and the last of each lane.
    pub fn there(&self) -> String {
        const NAMED: usize = 12;
        let all = &self.book.episodes;
        let address = |e: &Episode| Address::from((e.lane, e.episode)).to_string();
        match all.as_slice() {
            [] => "no episodes".to_owned(),
            few if few.len() <= NAMED => few.iter().map(address).collect::<Vec<_>>().join(", "),
            many => {
                let mut lanes: BTreeMap<LaneId, (Address, Address, usize)> = BTreeMap::new();
                for e in many {
                    let at = Address::from((e.lane, e.episode));
                    let (_, last, n) = lanes.entry(e.lane).or_insert((at, at, 0));
                    (*last, *n) = (at, *n + 1);
                }
                let lane =
                    |(first, last, n): &(Address, Address, usize)| if *n == 1 { first.to_string() } else { format!("{first} to {last}") };
                let more = lanes.len().saturating_sub(NAMED);
                let told: Vec<String> = lanes.values().take(NAMED).map(lane).collect();
                let more = if more > 0 { format!(" and {more} more lanes") } else { String::new() };
                told.join(", ") + &more
            }
        }
    }

    /// The episode that an episode goes on from; unset where it is no branch, or one whose parent began no earlier.
    pub fn parent(&self, address: Address) -> Option<Address> {
        let branch = self.branches.get(&address)?;
        let parent = Address { lane: branch.parent_lane, episode: branch.parent };
        let began = |address| self.episode(address).map(|e| e.first);
        began(parent).filter(|first| began(address).is_some_and(|own| *first < own)).map(|_| parent)
    }

    /// Reads one episode, whole.
    pub fn story(&self, recording: &mut Recording, address: Address, is_cancelled: Cancel<'_>) -> Result<Story, DiffError> {
        let mut found = self.stories(recording, &[address], is_cancelled)?;
        let none = || DiffError::NoEpisode { address, name: recording.path().display().to_string(), there: self.there() };
        found.remove(&address).ok_or_else(none)
    }

    /// Reads episodes, whole, in one go through the recording.
    pub fn stories(
        &self,
        recording: &mut Recording,
        wanted: &[Address],
        is_cancelled: Cancel<'_>,
    ) -> Result<BTreeMap<Address, Story>, DiffError> {
        let mut ranges: BTreeMap<Address, (Seq, Seq)> = BTreeMap::new();
        for address in wanted {
            // Ancestors began earlier each, so that this ends.
            let mut next = Some(*address);
            while let Some((at, episode)) = next.and_then(|at| Some((at, self.episode(at)?))) {
                ranges.insert(at, (episode.first, episode.last));
                next = self.parent(at);
            }
        }
        let mut read = read_ranges(recording, &ranges, is_cancelled)?;
        let whole = |address: &Address| self.joined(&mut read, *address).map(|story| (*address, story));
        Ok(wanted.iter().filter_map(whole).collect())
    }

    /// A branch's own steps behind those of its parent.
    fn joined(&self, read: &mut BTreeMap<Address, Story>, address: Address) -> Option<Story> {
        let mut story = read.get(&address)?.clone();
        let mut at = address;
        while let Some(branch) = self.branches.get(&at) {
            let from = story.decisions.first().map_or(branch.at_step, |d| d.step.min(branch.at_step));
            let Some((parent, of)) = self.parent(at).and_then(|p| Some((p, read.get(&p)?))) else {
                story.lacks_parent = branch.at_step > StepIndex(1);
                break;
            };
            let before: Vec<Decision> = of.decisions.iter().filter(|d| d.step < from).cloned().collect();
            story.decisions.splice(0..0, before);
            at = parent;
        }
        Some(story)
    }
}

/// Reads what lies in the ranges, and leaps over what lies between them.
fn read_ranges(
    recording: &mut Recording,
    ranges: &BTreeMap<Address, (Seq, Seq)>,
    is_cancelled: Cancel<'_>,
) -> Result<BTreeMap<Address, Story>, DiffError> {
    let mut stories: BTreeMap<Address, Story> =
        ranges.keys().map(|address| (*address, Story { address: *address, ..Story::default() })).collect();
    let mut spans: Vec<(Seq, Seq)> = ranges.values().copied().collect();
    spans.sort();
    for (first, last) in joined_spans(&spans) {
        read_span(recording, (first, last), &mut stories, is_cancelled)?;
    }
    Ok(stories)
}

/// Spans that overlap, or nearly touch, as one.
fn joined_spans(spans: &[(Seq, Seq)]) -> Vec<(Seq, Seq)> {
    let mut joined: Vec<(Seq, Seq)> = Vec::new();
    for (first, last) in spans {
        match joined.last_mut() {
            Some((_, end)) if first.0 <= end.0.saturating_add(GAP_EVENTS) => *end = (*end).max(*last),
            Some(_) | None => joined.push((*first, *last)),
        }
    }
    joined
}

fn read_span(
    recording: &mut Recording,
    (first, last): (Seq, Seq),
    stories: &mut BTreeMap<Address, Story>,
    is_cancelled: Cancel<'_>,
) -> Result<(), DiffError> {
    let events = recording.events_from(first)?;
    for (n, envelope) in events.enumerate() {
        if n % LOOK_EVENTS == 0 && is_cancelled() {
            return Err(DiffError::Cancelled);
        }
        let envelope = envelope.map_err(|e: ReadError| DiffError::Read(e))?;
        if envelope.seq > last {
            break;
        }
        let address = envelope.episode.map(|episode| Address { lane: envelope.lane, episode });
        if let Some(story) = address.and_then(|address| stories.get_mut(&address)) {
            story.note(&envelope);
        }
    }
    Ok(())
}
