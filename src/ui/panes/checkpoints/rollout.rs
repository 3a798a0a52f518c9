//! What serves, since when, and what served before.

use crate::state::DashState;
use crate::ui::lang::tr;
use crate::ui::panes::Pane;
use crate::ui::panes::lines::{self, Line, labelled, wrapped};
use crate::ui::widgets::text::Ambiguous;
use crate::ui::widgets::{Canvas, Role, format};

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    let lines = lines(pane.ctx.state, inner.width(), inner.glyphs().ambiguous);
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All that the pane has to say.
pub fn lines(state: &DashState, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let last = state.swaps.last();
    let serving = format::or_unset(state.serving.as_ref(), ToString::to_string);
    let since = format::or_unset(last, |s| tr!("{clock} of the run", clock = format::clock(s.t_ns)));
    let previous = format::or_unset(last.and_then(|s| s.from.as_ref()), ToString::to_string);
    let rows = vec![(tr!("serving"), serving, Role::Strong), (tr!("since"), since, Role::Text), (tr!("previous"), previous, Role::Text)];
    let later = tr!(
        "P serves the chosen one, after `swap` and its name were typed; to go back, serve the previous one in the same way. Canary, guards, rollback and undo are not built yet"
    );
    let blank = || Line::of("", Role::Text);
    let mut lines: Vec<Line> = labelled(rows, ambiguous).collect();
    lines.push(blank());
    lines.extend(wrapped(&later, width, ambiguous, Role::Dim));
    lines.extend([blank(), Line::of(tr!("history"), Role::Dim)]);
    lines.extend(state.swaps.iter().rev().map(|swap| {
        let change = swap.from.as_ref().map_or_else(|| tr!("{to} began to serve", to = swap.to), |from| format!("{from} -> {}", swap.to));
        Line(vec![(1, format!("{}  {change}", format::clock(swap.t_ns)), Role::Text)])
    }));
    lines
}
