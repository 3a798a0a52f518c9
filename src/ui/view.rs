//! What is local to this screen: focus, scrolling, folds, chart options. Panes draw from a `Context` and change nothing.

use super::theme::{Caps, Theme};
use crate::event::{LaneId, Pace, Seq};
use crate::state::DashState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The panes, in the order of their numbers; `Memory` has none and stands on wide screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneId {
    #[default]
    Chain,
    Reward,
    Tools,
    Gpu,
    Alerts,
    Log,
    Memory,
}

impl PaneId {
    /// Those that a digit focuses: 1 to 6.
    pub const NUMBERED: [PaneId; 6] = [PaneId::Chain, PaneId::Reward, PaneId::Tools, PaneId::Gpu, PaneId::Alerts, PaneId::Log];

    pub fn title(self) -> &'static str {
        match self {
            PaneId::Chain => "Thought chain",
            PaneId::Reward => "Reward",
            PaneId::Tools => "Tools",
            PaneId::Gpu => "GPU",
            PaneId::Alerts => "Alerts",
            PaneId::Log => "Log",
            PaneId::Memory => "Memory and state",
        }
    }

    /// 1 to 6, for those that have a number.
    pub fn number(self) -> Option<usize> {
        Self::NUMBERED.iter().position(|p| *p == self).map(|i| i + 1)
    }
}

/// How much of each row of the thought chain is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// One line a row.
    Brief,
    /// Thoughts and actions whole, observations in one line.
    #[default]
    Normal,
    /// Everything.
    Full,
}

impl Detail {
    pub fn next(self) -> Self {
        match self {
            Detail::Brief => Detail::Normal,
            Detail::Normal => Detail::Full,
            Detail::Full => Detail::Brief,
        }
    }
}

/// Scrolling of a list other than the thought chain, which has a `Place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scroll {
    /// Lines away from home: the newest line of the log, the first of every other list.
    pub up: usize,
    pub follow: bool,
    /// Entries ever pushed when following stopped.
    pub total_at_stop: u64,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { up: 0, follow: true, total_at_stop: 0 }
    }
}

/// A line of the thought chain: a row by its `seq`, and a line of that row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub seq: Seq,
    pub line: usize,
}

/// Where the operator is in the thought chain once following has stopped. It hangs on rows, so nothing that comes moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The uppermost line that is seen.
    pub top: Spot,
    pub cursor: Spot,
    /// The newest row when following stopped, to tell how many are new.
    pub newest_at_stop: Seq,
}

/// How much of the screen the focused pane has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    #[default]
    Normal,
    Half,
    Full,
}

impl Share {
    pub fn bigger(self) -> Self {
        match self {
            Share::Normal => Share::Half,
            Share::Half | Share::Full => Share::Full,
        }
    }

    pub fn smaller(self) -> Self {
        match self {
            Share::Full => Share::Half,
            Share::Half | Share::Normal => Share::Normal,
        }
    }
}

/// Options of the curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChartView {
    /// Weight of the past in the exponential mean, in tenths: 0 to 9.
    pub smoothing_tenths: u8,
    /// All episodes instead of the current one.
    pub history: bool,
    pub log: bool,
}

/// State of this screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub focus: PaneId,
    pub share: Share,
    /// The lane that is looked at and stepped.
    pub lane: LaneId,
    pub detail: Detail,
    /// Rows whose fold differs from what `detail` says, by their `seq`; true is open.
    pub folds: BTreeMap<Seq, bool>,
    /// Show calls and results as JSON, and observations in the model's compact form.
    pub raw: bool,
    pub scroll: BTreeMap<PaneId, Scroll>,
    /// Unset while the thought chain follows its newest row.
    pub place: Option<Place>,
    /// Places that were marked: rows of the chain, or events of a recording.
    pub marks: BTreeSet<Seq>,
    /// What `/` looks for, lower case; empty for nothing.
    pub search: String,
    pub chart: ChartView,
}

impl View {
    pub fn scroll_of(&self, pane: PaneId) -> Scroll {
        self.scroll.get(&pane).copied().unwrap_or_default()
    }
}

/// The playhead of a recording, as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaybackView {
    pub head: Seq,
    pub end: Seq,
    pub t_ns_end: u64,
    pub playing: bool,
    pub speed: Pace,
    pub damage: Option<String>,
    pub name: String,
}

/// All that drawing may look at.
pub struct Context<'a> {
    pub state: &'a DashState,
    pub view: &'a View,
    pub theme: &'a Theme,
    pub caps: &'a Caps,
    /// In a replay.
    pub playback: Option<&'a PlaybackView>,
    pub read_only: bool,
    /// Such as PROD.
    pub banner: Option<&'a str>,
}
