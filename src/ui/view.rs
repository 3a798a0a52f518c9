//! What is local to this screen: focus, scrolling, folds, chart options. Panes draw from a `Context` and change nothing.

use super::desk::Desk;
use super::keymap::KeyMap;
use super::lang::Lang;
pub use super::panes::checkpoints::Shelf;
pub use super::panes::curves::ChartView;
pub use super::panes::diff::DiffView;
pub use super::panes::log::LogView;
pub use super::panes::rules::RulesView;
use super::theme::{Caps, Theme};
use crate::event::{EpisodeId, LaneId, Pace, Seq};
use crate::state::{DashState, TokenMeasure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What fills the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenId {
    #[default]
    Live,
    Replay,
    Checkpoints,
    Alerts,
    Training,
    Memory,
    Log,
    /// Two episodes, or two recordings, side by side.
    Diff,
}

impl ScreenId {
    pub const ALL: [ScreenId; 8] = [
        ScreenId::Live,
        ScreenId::Replay,
        ScreenId::Checkpoints,
        ScreenId::Alerts,
        ScreenId::Training,
        ScreenId::Memory,
        ScreenId::Log,
        ScreenId::Diff,
    ];

    /// Its panes, in the order of the digits that focus them; the first has the focus at the beginning.
    pub fn panes(self) -> &'static [PaneId] {
        match self {
            ScreenId::Live => &[PaneId::Chain, PaneId::Reward, PaneId::Tools, PaneId::Gpu, PaneId::Alerts, PaneId::Log],
            ScreenId::Replay => &[PaneId::Transcript, PaneId::Episodes, PaneId::Inspector, PaneId::Timeline],
            ScreenId::Checkpoints => &[PaneId::Checkpoints, PaneId::Compare, PaneId::Rollout],
            ScreenId::Alerts => &[PaneId::Rules, PaneId::RuleDetail, PaneId::Silences],
            ScreenId::Training => &[PaneId::Curves, PaneId::Vitals, PaneId::Evaluations],
            ScreenId::Memory => &[PaneId::Memory, PaneId::Prompt, PaneId::Recall],
            ScreenId::Log => &[PaneId::Log],
            ScreenId::Diff => &[PaneId::Steps, PaneId::StepDetail, PaneId::DiffSummary],
        }
    }

    /// As `:` and `--screen` name it.
    pub fn name(self) -> &'static str {
        match self {
            ScreenId::Live => "live",
            ScreenId::Replay => "replay",
            ScreenId::Checkpoints => "checkpoints",
            ScreenId::Alerts => "alerts",
            ScreenId::Training => "training",
            ScreenId::Memory => "memory",
            ScreenId::Log => "log",
            ScreenId::Diff => "diff",
        }
    }
}

/// The panes of all screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneId {
    #[default]
    Chain,
    Reward,
    Tools,
    Gpu,
    Alerts,
    Log,
    /// On the live screen only where that is wide.
    Memory,
    Transcript,
    Episodes,
    Inspector,
    Timeline,
    Checkpoints,
    Compare,
    Rollout,
    Rules,
    RuleDetail,
    Silences,
    Curves,
    Vitals,
    Evaluations,
    Prompt,
    Recall,
    /// Only above the others.
    Request,
    Runbook,
    Trial,
    TrialFound,
    Steps,
    StepDetail,
    DiffSummary,
    Branches,
}

impl PaneId {
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The digit that focuses it on `screen`, for those that have one there.
    pub fn number(self, screen: ScreenId) -> Option<usize> {
        screen.panes().iter().position(|p| *p == self).map(|i| i + 1)
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

/// By what the list of episodes is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeSort {
    /// As they began.
    #[default]
    Begun,
    Return,
    Length,
    Checkpoint,
    Ending,
}

/// A row of the list of episodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    Episode(LaneId, EpisodeId),
    Recording(PathBuf),
}

/// Options of the replay screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayView {
    /// Where the operator is in the transcript; unset while it follows the playhead.
    pub place: Option<Place>,
    /// What `:filter` was given for the list of episodes.
    pub filter: String,
    pub sort: EpisodeSort,
    /// The cursor of the list; unset while it is at the episode of the playhead.
    pub pick: Option<Pick>,
}

/// State of this screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub screen: ScreenId,
    /// Of the panes of `screen`.
    pub focus: PaneId,
    /// The focus of the screens that were left.
    pub focus_left: BTreeMap<ScreenId, PaneId>,
    /// A pane shown above the others where it has no room beside them.
    pub popup: Option<PaneId>,
    pub share: Share,
    /// The lane that is looked at and stepped.
    pub lane: LaneId,
    pub detail: Detail,
    /// Rows whose fold differs from what `detail` says, by their `seq`; true is open.
    pub folds: BTreeMap<Seq, bool>,
    /// What colours the tokens of thoughts.
    pub overlay: Option<TokenMeasure>,
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
    /// Of the alerts screen.
    pub rules: RulesView,
    pub log: LogView,
    /// The tool under the cursor.
    pub tool: Option<String>,
    /// The branch under the cursor of their tree.
    pub branch: Option<(LaneId, EpisodeId)>,
    /// Of the checkpoints screen.
    pub shelf: Shelf,
    /// The pace that was asked for, and the one there was then: it counts until the engine has answered.
    pub pace_asked: Option<(Pace, Pace)>,
    /// Nobody was here before: the hints say what to begin with.
    pub newcomer: bool,
    pub replay: ReplayView,
    pub diff: DiffView,
}

impl View {
    /// Goes to another screen, and to the pane that had the focus there.
    pub fn go(&mut self, screen: ScreenId) {
        if self.screen != screen {
            self.focus_left.insert(self.screen, self.focus);
            self.focus = self.focus_left.get(&screen).copied().unwrap_or(screen.panes()[0]);
            self.screen = screen;
        }
        self.popup = None;
    }

    /// The pane that keys go to.
    pub fn active(&self) -> PaneId {
        self.popup.unwrap_or(self.focus)
    }

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
    /// It came in a bundle: of when that is.
    pub bundle: Option<String>,
}

/// All that drawing may look at.
pub struct Context<'a> {
    pub state: &'a DashState,
    pub desk: &'a Desk,
    pub keys: &'a KeyMap,
    pub view: &'a View,
    pub theme: &'a Theme,
    pub caps: &'a Caps,
    /// In a replay.
    pub playback: Option<&'a PlaybackView>,
    pub read_only: bool,
    /// Such as PROD.
    pub banner: Option<&'a str>,
    pub lang: Lang,
}
