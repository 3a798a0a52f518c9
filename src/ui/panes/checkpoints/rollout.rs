//! What serves, since when, and what served before.

use crate::ui::lang::tr;
use crate::ui::panes::{Pane, labelled};
use crate::ui::widgets::{Canvas, Role, format, text};

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let state = pane.ctx.state;
    let mut inner = pane.open(canvas, "");
    let last = state.swaps.last();
    let serving = format::or_unset(state.serving.as_ref(), ToString::to_string);
    let since = format::or_unset(last, |s| tr!("{clock} of the run", clock = format::clock(s.t_ns)));
    let previous = last.and_then(|s| s.from.as_ref());
    let previous = format::or_unset(previous, ToString::to_string);
    let lines = [(tr!("serving"), serving, Role::Strong), (tr!("since"), since, Role::Text), (tr!("previous"), previous, Role::Text)];
    let mut y = labelled(&mut inner, 0, 0, &lines);
    let later = tr!(
        "P serves the chosen one, after `swap` and its name were typed; to go back, serve the previous one in the same way. Canary, guards, rollback and undo are not built yet"
    );
    for line in text::wrap(&later, inner.width() as usize, inner.glyphs().ambiguous) {
        inner.text(0, y + 1, &line, Role::Dim);
        y += 1;
    }
    let width = inner.width();
    inner.text_upto(0, width, y + 2, &tr!("history"), Role::Dim);
    y += 3;
    for swap in state.swaps.iter().rev().take(inner.height().saturating_sub(y) as usize) {
        let change = swap.from.as_ref().map_or_else(|| tr!("{to} began to serve", to = swap.to), |from| format!("{from} -> {}", swap.to));
        inner.text_upto(1, width, y, &format!("{}  {change}", format::clock(swap.t_ns)), Role::Text);
        y += 1;
    }
}
