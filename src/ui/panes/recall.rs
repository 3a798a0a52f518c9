//! The memory screen's own panes: what the prompt is made of, and what became of older steps.

use super::Pane;
use crate::ui::widgets::Canvas;

/// Draws one of the screen's panes.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    super::notice(&mut inner, "to be built");
}
