//! What the console knows beside the folded state: the open recording's book, the catalogue of recordings, evaluations and
//! comparisons, breakpoints. Panes read it; what changes it comes from the source and from backstage.

use super::backstage::{Ask, DryAsk, Forked, News, Opened};
use super::bench::Bench;
use super::diff::DiffDesk;
use super::panes::Hits;
use super::stops::Stops;
use super::view::EpisodeSort;
use super::widgets::format;
use crate::event::{EpisodeId, LaneId, Level, RunState, SafeText, Seq};
use crate::source::{Book, Quest, Tally, Track};
use crate::ui::lang::tr;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Desk {
    /// About checkpoints.
    pub bench: Bench,
    /// What was found out about the open recording; empty on a live run.
    pub replay: ReplayDesk,
    pub stops: Stops,
    /// What was compared last.
    pub diff: DiffDesk,
    /// Rows of the live chain that hold what is searched for.
    pub hits: Hits,
    /// Recordings of the state directory, newest first; unset until they are listed.
    pub catalogue: Option<Vec<Recorded>>,
    /// The live run that goes on while a recording is looked at.
    pub parked: Option<ParkedRun>,
    /// Recordings that were opened and not yet sat down to, in the order in which they came.
    pub opened: Vec<Opened>,
    /// A run that goes on from the recording, and was not yet sat down to.
    pub forked: Option<Forked>,
    /// Who is at this console; unset where the environment does not say.
    pub operator: Option<String>,
    /// How long an acknowledgement holds; unset takes half an hour.
    pub acknowledge_minutes: Option<u32>,
    /// The last dry run, and what it came to; unset while it goes on.
    pub dry_run: Option<(DryAsk, Option<Result<DryFound, String>>)>,
    /// A run that is to go on from the recording was asked for, and is neither there nor given up.
    pub fork_asked: bool,
    /// The branch of a run that goes on from a recording is still to begin.
    pub forking: bool,
}

/// What is known of the open recording beside the playhead.
#[derive(Clone, Debug, Default)]
pub struct ReplayDesk {
    pub book: Arc<Book>,
    /// The episode at the playhead, whole, once it is read.
    pub track: Option<Arc<Track>>,
    /// The list of its episodes, filtered and sorted.
    pub order: Option<Arc<Order>>,
    pub tallies: BTreeMap<Quest, Arc<Tally>>,
    /// At `x1` it plays a decision a second, whatever the recorded times are.
    pub by_decision: bool,
    /// It is still being written.
    pub grows: bool,
    /// The breakpoint that stopped it, and where.
    pub stopped: Option<(u32, Seq)>,
    /// What `Quest::Search` looks for, lower case; empty before the first search.
    pub searched: String,
    /// Rows of the transcript that hold what is searched for.
    pub hits: Hits,
    /// Where it is to go as soon as that is known.
    pub looking: Option<Looking>,
}

impl ReplayDesk {
    /// Whether there is more to be read of what was asked for.
    pub fn is_reading(&self) -> bool {
        !self.book.is_whole() || self.track.as_ref().is_some_and(|t| !t.is_whole()) || self.tallies.values().any(|t| !t.is_whole())
    }
}

/// Which episodes of a book a list shows, and in which order: their places in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub episodes: usize,
    /// What of the recording it is by.
    pub read_upto: Seq,
    pub filter: String,
    pub sort: EpisodeSort,
    pub places: Vec<usize>,
}

/// A way that hangs on what is still being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looking {
    pub what: Sought,
    pub from: Seq,
    pub forward: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    Stop,
    Error,
    Match,
    /// The beginning of an episode.
    Episode(LaneId, EpisodeId),
    /// An event that is being written.
    Event(Seq),
}

impl Looking {
    /// Where it leads, if anywhere; unset while that is not known.
    pub fn answer(&self, quests: &[Quest], desk: &ReplayDesk) -> Option<Option<Seq>> {
        if let Sought::Episode(lane, episode) = self.what {
            let found = desk.book.find(lane, episode).map(|e| e.first);
            return (found.is_some() || desk.book.is_whole()).then_some(found);
        }
        if let Sought::Event(seq) = self.what {
            let is_there = desk.book.read_upto >= seq;
            return (is_there || desk.book.is_whole()).then_some(is_there.then_some(seq));
        }
        if self.what == Sought::Match {
            return desk.match_elsewhere(desk.tallies.get(&Quest::Search)?, self.from, self.forward);
        }
        // Of what nobody has begun to read for, nothing is known.
        let tallies: Vec<&Tally> = quests.iter().map(|q| desk.tallies.get(q).map(|t| &**t)).collect::<Option<_>>()?;
        if self.forward {
            let next = tallies.iter().filter_map(|t| t.after(self.from).flatten()).min();
            let is_known = |t: &&Tally| t.is_whole() || next.is_some_and(|next| t.read_upto >= next);
            return tallies.iter().all(is_known).then_some(next);
        }
        let before: Option<Vec<Option<Seq>>> = tallies.iter().map(|t| t.before(self.from)).collect();
        before.map(|found| found.into_iter().flatten().max())
    }
}

impl ReplayDesk {
    /// The nearest match in the episodes that begin after `from`, or before it; unset while it is not known. Lanes run side by side:
    /// by the order in which episodes begin, each is gone through once and none is left out.
    fn match_elsewhere(&self, tally: &Tally, from: Seq, forward: bool) -> Option<Option<Seq>> {
        let episodes = &self.book.episodes;
        let place = if forward { episodes.partition_point(|e| e.first <= from) } else { episodes.partition_point(|e| e.first < from) };
        let places: Box<dyn Iterator<Item = usize>> = if forward { Box::new(place..episodes.len()) } else { Box::new((0..place).rev()) };
        for at in places {
            let episode = &episodes[at];
            let next = episodes[at + 1..].iter().find(|e| e.lane == episode.lane).map(|e| e.first);
            // Up to there it is known what is of this episode, and what holds.
            let known = self.book.read_upto.min(tally.read_upto);
            let within = episode.first..=next.map_or(known, |next| known.min(Seq(next.0.saturating_sub(1))));
            let hit = if forward { tally.hits_of(episode.lane, within).next() } else { tally.last_of(episode.lane, within) };
            let is_whole = next.is_some_and(|next| known.next() >= next) || self.book.is_whole() && tally.is_whole();
            if hit.is_some() && (forward || is_whole) {
                return Some(hit);
            }
            if !is_whole {
                return None;
            }
        }
        (!forward || self.book.is_whole() && tally.is_whole()).then_some(None)
    }
}

/// A recording as its header describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub path: PathBuf,
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The checkpoint that it began with, or the name of an agent that is no model; `training` of a training. Unset where its beginning can't be read.
    pub agent: Option<String>,
    pub env: String,
    pub level: Level,
    pub lanes: u32,
}

/// What rules would have done over a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DryFound {
    /// In the order in which they fired.
    pub alerts: Vec<DryAlert>,
    /// Alerts beyond those.
    pub left_out: u64,
    /// Rules that said nothing, and why.
    pub mute: Vec<(SafeText, SafeText)>,
    pub t_ns_end: u64,
    /// Why not all of the recording was read.
    pub damage: Option<SafeText>,
}

/// An alert that would have fired.
#[derive(Clone, Debug, PartialEq)]
pub struct DryAlert {
    pub rule: SafeText,
    /// What tells it from others of its rule.
    pub labels: SafeText,
    pub value: f64,
    pub fired_t_ns: u64,
    /// Unset where it still fired at the end.
    pub resolved_t_ns: Option<u64>,
    /// `[lane:]episode/step`; empty before the first step.
    pub step: SafeText,
    /// The last event before it fired.
    pub seq: Seq,
}

/// The live run, in short, while something else is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkedRun {
    pub run_state: RunState,
    /// The breakpoint at which it paused.
    pub paused_at: Option<u32>,
    pub alerts_firing: usize,
}

impl Desk {
    /// Backstage took up this work.
    pub fn asked(&mut self, ask: &Ask) {
        match ask {
            Ask::Bench(ask) => self.bench.asked(ask),
            Ask::Diff(ask) => self.diff.asked(ask),
            Ask::CancelDiff => self.diff.cancelled(),
            Ask::Fork { .. } => self.fork_asked = true,
            Ask::DryRun(ask) => self.dry_run = Some((ask.clone(), None)),
            Ask::CancelBench | Ask::Catalogue | Ask::Open { .. } | Ask::Bundle { .. } => {}
        }
    }

    /// Takes up what backstage brought; what to tell the operator, if anything.
    pub fn take(&mut self, news: News) -> Option<String> {
        match news {
            News::Told(text) => Some(text),
            News::Bench(news) => self.bench.take(news),
            News::Catalogue(recordings) => {
                self.catalogue = Some(recordings);
                None
            }
            News::Forked(forked) => {
                (self.forked, self.fork_asked) = (Some(forked), false);
                None
            }
            News::NotForked(told) => {
                self.fork_asked = false;
                Some(told)
            }
            News::DryRun(ask, outcome) => {
                // Of what was asked for last; another one has nobody who waits for it.
                if let Some((asked, found)) = self.dry_run.as_mut().filter(|(asked, _)| *asked == ask) {
                    *found = Some(outcome);
                    return Some(dry_told(asked, found.as_ref()));
                }
                None
            }
            News::Diff(ask, found) => self.diff.take(ask, found),
            News::Opened(opened) => {
                self.opened.push(opened);
                None
            }
        }
    }
}

/// A dry run in a line: of which rules and which recording, and what would have fired.
pub fn dry_told(ask: &DryAsk, found: Option<&Result<DryFound, String>>) -> String {
    let rule = ask.rule.clone().unwrap_or_else(|| tr!("all rules"));
    let recording = ask.recording.as_deref().map_or_else(
        || tr!("this run"),
        |name| std::path::Path::new(name).file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into_owned()),
    );
    let title = SafeText::from(tr!("{rule} on {recording}", rule = rule, recording = recording));
    let outcome = match found {
        None => tr!("being tried"),
        Some(Err(why)) => why.clone(),
        Some(Ok(found)) => match found.alerts.len() as u64 + found.left_out {
            0 => tr!("would not fire"),
            times => tr!("would fire {times}", times = format::counted(times, "time")),
        },
    };
    format!("{title}: {outcome}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{DecisionSettled, Envelope};
    use crate::source::{Probe, Scan};
    use crate::state::DashState;

    struct At(&'static [u64]);

    impl Probe for At {
        fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
            self.0.contains(&envelope.seq.0)
        }

        fn asks_state(&self) -> bool {
            false
        }
    }

    /// Two lanes that take turns, event by event; from 11 on the first one plays another episode. Read up to an event.
    fn desk(hits: &'static [u64], read_upto: u64) -> ReplayDesk {
        let mut book = Book::new(Seq(14));
        let mut scan = Scan::new(Quest::Search, Arc::new(At(hits)), Seq(14), false);
        for n in 1..=read_upto {
            let (lane, episode) = if n > 10 { (0, 2) } else { (1 - n % 2, 1) };
            let envelope = Envelope {
                seq: Seq(n),
                t_ns: n,
                lane: LaneId(lane as u32),
                episode: Some(EpisodeId(episode)),
                step: None,
                event: DecisionSettled { duration_ns: 1, memory_bytes: None }.into(),
            };
            book.note(&envelope);
            scan.note(&envelope);
        }
        ReplayDesk { book: Arc::new(book), tallies: [(Quest::Search, scan.tally)].into(), ..ReplayDesk::default() }
    }

    fn answer(desk: &ReplayDesk, from: u64, forward: bool) -> Option<Option<u64>> {
        let looking = Looking { what: Sought::Match, from: Seq(from), forward };
        looking.answer(&[Quest::Search], desk).map(|found| found.map(|seq| seq.0))
    }

    #[test]
    fn a_search_goes_through_lanes_that_run_side_by_side_and_leaves_none_out() {
        let desk = desk(&[3, 4, 8, 9, 13], 14);
        // From the first lane's episode (3 and 9) to the second one's, which began later, though 4 comes before 9.
        assert_eq!(answer(&desk, 1, true), Some(Some(4)));
        assert_eq!(answer(&desk, 2, true), Some(Some(13)));
        assert_eq!(answer(&desk, 11, true), Some(None));
        assert_eq!(answer(&desk, 11, false), Some(Some(8)));
        assert_eq!(answer(&desk, 2, false), Some(Some(9)));
        assert_eq!(answer(&desk, 1, false), Some(None));
    }

    #[test]
    fn what_is_not_read_yet_is_not_answered() {
        let early = desk(&[4, 13], 6);
        assert_eq!(answer(&early, 1, true), Some(Some(4)));
        assert_eq!(answer(&early, 2, true), None);
        assert_eq!(answer(&early, 11, false), None, "a later match of that lane may come");
        assert_eq!(answer(&early, 1, false), Some(None));
    }
}
