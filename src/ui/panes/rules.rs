//! The alerts screen: rules and what fires, one of them in full, silences.

use super::Pane;
use crate::ui::widgets::Canvas;

/// Draws one of the screen's panes.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    super::notice(&mut inner, "to be built");
}
