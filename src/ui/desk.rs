//! What the console knows beside the folded state: the open recording's book, the catalogue of recordings, evaluations and
//! comparisons, breakpoints. Panes read it; what changes it comes from the source and from backstage.

use super::backstage::{Ask, News, Opened};
use super::bench::Bench;
use super::panes::Hits;
use super::stops::Stops;
use super::view::EpisodeSort;
use crate::event::{EpisodeId, LaneId, Level, RunState, Seq};
use crate::source::{Book, Quest, Tally, Track};
use crate::state::DashState;
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
    /// Rows of the live chain that hold what is searched for.
    pub hits: Hits,
    /// Recordings of the state directory, newest first; unset until they are listed.
    pub catalogue: Option<Vec<Recorded>>,
    /// The live run that goes on while a recording is looked at.
    pub parked: Option<ParkedRun>,
    /// A recording that was opened and not yet sat down to.
    pub opened: Option<Opened>,
}

/// What is known of the open recording beside the playhead.
#[derive(Clone, Debug, Default)]
pub struct ReplayDesk {
    pub book: Arc<Book>,
    /// The episode at the playhead, whole, once it is read.
    pub track: Option<Arc<Track>>,
    /// The list of its episodes, filtered and sorted once it is whole.
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
}

impl Looking {
    /// Where it leads, if anywhere; unset while that is not known.
    pub fn answer(&self, quests: &[Quest], desk: &ReplayDesk) -> Option<Option<Seq>> {
        if let Sought::Episode(lane, episode) = self.what {
            let found = desk.book.find(lane, episode).map(|e| e.first);
            return (found.is_some() || desk.book.is_whole()).then_some(found);
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

/// A recording as its header describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub path: PathBuf,
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The checkpoint; unset where the agent is no model, of which the header does not speak.
    pub agent: Option<String>,
    pub env: String,
    pub level: Level,
    pub lanes: u32,
}

/// The live run, in short, while something else is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkedRun {
    pub run_state: RunState,
    pub alerts_firing: usize,
}

impl Desk {
    /// Backstage took up this work.
    pub fn asked(&mut self, ask: &Ask, state: &DashState) {
        match ask {
            Ask::Bench(ask) => self.bench.asked(ask, state.run.as_ref().map_or_else(Level::default, |r| r.level)),
            Ask::Catalogue | Ask::Open { .. } => {}
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
            News::Opened(opened) => {
                self.opened = Some(opened);
                None
            }
        }
    }
}
