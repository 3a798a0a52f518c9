//! The checkpoints screen: the list, the comparison of two, the rollout.

use super::{Motion, Pane};
use crate::ui::actions::Action;
use crate::ui::update::{Effect, Facts};
use crate::ui::view::{PaneId, View};
use crate::ui::widgets::Canvas;

/// Draws one of the screen's panes.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    super::notice(&mut inner, "to be built");
}

/// Does what is an action of this screen.
pub fn act(_action: Action, _view: &mut View, _facts: &Facts<'_>) -> Vec<Effect> {
    Vec::new()
}

/// Moves in one of the screen's panes, whose inside has that many columns and rows.
pub fn scroll(_view: &mut View, _facts: &Facts<'_>, _pane: PaneId, _inside: (u16, u16), _motion: Motion) {}
