//! A runbook above the panes: plain text, its headings strong.

use crate::ui::lang::tr;
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::panes::{Pane, notice};
use crate::ui::view::View;
use crate::ui::widgets::{Canvas, Glyphs, Role};

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let view = pane.ctx.view;
    let mut inner = pane.open(canvas, view.rules.page.as_ref().map_or("", |(name, _)| name.as_str()));
    if view.rules.page.is_none() {
        notice(&mut inner, &tr!("no runbook is open"));
        return;
    }
    let lines = lines(view, inner.width(), inner.glyphs());
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

pub fn lines(view: &View, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let Some((_, text)) = &view.rules.page else { return Vec::new() };
    let role = |line: &str| if line.starts_with('#') { Role::Strong } else { Role::Text };
    text.lines().flat_map(|line| wrapped(line.trim_start_matches("# "), width, glyphs.ambiguous, role(line))).collect()
}
