//! The training screen: curves, vital signs of the newest update, evaluations. Its keys are those of every chart.

pub mod evaluations;
mod figure;
mod keys;
mod options;
mod panel;
mod records;
mod smooth;
#[cfg(test)]
mod tests;
mod traces;
pub mod vitals;

pub use figure::Figure;
pub use keys::{choose, next_axis, scroll, sideways, smooth, to_newest, toggle_cursor, zoom};
pub use options::ChartView;
pub use panel::{Scene, draw as draw_panel};
pub use records::{in_view, records};

use super::{Pane, notice};
use crate::state::DashState;
use crate::ui::actions::Action;
use crate::ui::lang::tr;
use crate::ui::view::{Context, PaneId, View};
use crate::ui::widgets::Canvas;
use ratatui::layout::Rect;

/// What the reward pane offers, in the order in which the keys go through it.
pub const REWARD_FIGURES: &[Figure] = &[
    Figure::Return,
    Figure::StepReward,
    Figure::Success,
    Figure::PolicyLoss,
    Figure::ValueLoss,
    Figure::Entropy,
    Figure::Kl,
    Figure::Hybrid,
    Figure::Length,
];

/// The figures that a pane with curves shows.
pub fn shown(view: &View, state: &DashState, pane: PaneId) -> Vec<Figure> {
    if pane != PaneId::Curves {
        return view.chart.reward.clone();
    }
    if !view.chart.training.is_empty() {
        return view.chart.training.clone();
    }
    Figure::TRAINING.iter().copied().filter(|f| f.has_values(state, None)).collect()
}

/// Draws the training curves.
pub fn draw_curves(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let figures = shown(view, state, PaneId::Curves);
    let scene = Scene { state, lane: pane.lane(), chart: &view.chart };
    if !view.chart.training.is_empty() {
        let mut inner = pane.open(canvas, &tr!("one of {n}", n = Figure::TRAINING.len()));
        draw_panel(&mut inner, scene, &figures);
        return;
    }
    let (width, height) = (canvas.width().saturating_sub(2), canvas.height().saturating_sub(2));
    let hidden = figures.len().saturating_sub(cells(width, height, figures.len()).len());
    let badge = if hidden > 0 { tr!("{n} more: down", n = hidden) } else { String::new() };
    let mut inner = pane.open(canvas, &badge);
    if figures.is_empty() {
        notice(&mut inner, &untrained(pane.ctx));
        return;
    }
    let cells = cells(inner.width(), inner.height(), figures.len());
    for (cell, figure) in cells.iter().zip(&figures) {
        // They move together.
        draw_panel(&mut inner.part(*cell), scene, &[*figure]);
    }
}

/// Why the training screen is empty, and what to do.
pub fn untrained(cx: &Context<'_>) -> String {
    if !cx.state.updates.is_empty() {
        return tr!("n/a (this training has no figures)");
    }
    // What a recording holds behind the playhead is not known here.
    if cx.playback.is_some_and(|p| p.head < p.end) {
        let key = cx.keys.shown(Action::Last).unwrap_or_else(|| ":last".into());
        tr!("no update up to here; {key} goes to the end of the recording", key = key)
    } else {
        tr!("n/a (no training in this run): pilothouse train records one, and its recording shows its curves here")
    }
}

/// Smallest chart of several.
const CELL_MIN: (u16, u16) = (40, 7);

/// Where so many charts stand; fewer where there is no room for all.
pub fn cells(width: u16, height: u16, count: usize) -> Vec<Rect> {
    let count = count.min(usize::from(u8::MAX)) as u16;
    if count == 0 {
        return Vec::new();
    }
    let (across_max, down_max) = ((width / CELL_MIN.0).clamp(1, 3), (height / CELL_MIN.1).max(1));
    let across = count.div_ceil(down_max).min(across_max);
    let down = count.div_ceil(across).min(down_max);
    let edge = |n: u16, of: u16, whole: u16| (u32::from(whole) * u32::from(n) / u32::from(of)) as u16;
    (0..down)
        .flat_map(|row| (0..across).map(move |column| (row, column)))
        .take(usize::from(count))
        .map(|(row, column)| {
            let (x, y) = (edge(column, across, width), edge(row, down, height));
            // A column between two charts stays free.
            let gap = u16::from(column + 1 < across);
            Rect::new(x, y, edge(column + 1, across, width) - x - gap, edge(row + 1, down, height) - y)
        })
        .collect()
}
