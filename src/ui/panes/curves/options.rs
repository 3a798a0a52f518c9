//! What the operator chose of the curves.

use super::figure::Figure;
use crate::ui::widgets::Range;
use serde::{Deserialize, Serialize};

/// What the horizontal axis measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum XAxis {
    /// Episodes, steps or updates.
    #[default]
    Step,
    /// Time since the run began.
    Relative,
    /// The clock (UTC), where it is known when the run began.
    Wall,
}

impl XAxis {
    pub fn next(self) -> Self {
        match self {
            XAxis::Step => XAxis::Relative,
            XAxis::Relative => XAxis::Wall,
            XAxis::Wall => XAxis::Step,
        }
    }
}

/// Options of the curves, the same for every chart of a screen. All but cursor and panning survive a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChartView {
    /// Weight of the past in the exponential mean, in tenths: 0 to 9.
    pub smoothing_tenths: u8,
    pub log: bool,
    pub axis: XAxis,
    pub range: Range,
    /// Powers of two by which values are drawn wider than the range says.
    pub zoom: i8,
    /// Figures of the reward pane; at least one.
    pub reward: Vec<Figure>,
    /// Figures of the training screen; none for all that there are, a chart each.
    pub training: Vec<Figure>,
    /// Value at the left edge of what was panned to, counted from the first one of the chart's first curve. Unset follows.
    #[serde(skip)]
    pub left: Option<u64>,
    /// Value under the cursor, counted in the same way.
    #[serde(skip)]
    pub cursor: Option<u64>,
}

impl Default for ChartView {
    fn default() -> Self {
        Self {
            smoothing_tenths: 0,
            log: false,
            axis: XAxis::default(),
            range: Range::default(),
            zoom: 0,
            reward: vec![Figure::Return],
            training: Vec::new(),
            left: None,
            cursor: None,
        }
    }
}

/// Curves that one chart can tell apart.
pub const FIGURES_MAX: usize = 3;

impl ChartView {
    /// What a file says, made such as the keys could have made it.
    pub fn sane(mut self) -> Self {
        self.smoothing_tenths = self.smoothing_tenths.min(9);
        self.reward.truncate(FIGURES_MAX);
        self.training.truncate(FIGURES_MAX);
        if self.reward.is_empty() {
            self.reward.push(Figure::Return);
        }
        self
    }

    /// Sees all of it again.
    pub fn show_whole(&mut self) {
        (self.range, self.zoom, self.left) = (Range::Whole, 0, None);
    }

    /// Sees the newest in full resolution, and follows.
    pub fn show_newest(&mut self) {
        (self.range, self.zoom, self.left) = (Range::Recent, 0, None);
    }
}
