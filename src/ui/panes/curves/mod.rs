//! The training screen: curves, vital signs of the newest update, evaluations. Its keys are those of every chart.

use super::Pane;
use crate::ui::actions::Action;
use crate::ui::update::{Effect, Facts};
use crate::ui::view::View;
use crate::ui::widgets::Canvas;

/// Draws one of the screen's panes.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    super::notice(&mut inner, "to be built");
}

/// What the keys of a chart do, on this screen and in the reward pane.
pub fn act(action: Action, view: &mut View, _facts: &Facts<'_>) -> Vec<Effect> {
    match action {
        Action::SmoothLess => view.chart.smoothing_tenths = view.chart.smoothing_tenths.saturating_sub(1),
        Action::SmoothMore => view.chart.smoothing_tenths = (view.chart.smoothing_tenths + 1).min(9),
        Action::LogAxis => view.chart.log = !view.chart.log,
        Action::XAxis => view.chart.history = !view.chart.history,
        _ => {}
    }
    Vec::new()
}
