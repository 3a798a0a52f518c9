//! The palette, drawn.

use super::clear_row;
use super::entries::{Marks, in_full, row};
use crate::ui::actions::Action;
use crate::ui::lang::tr;
use crate::ui::palette::{Palette, find};
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role};
use ratatui::layout::Rect;

/// Rows that it takes where there are more.
const HEIGHT: u16 = 18;

pub fn draw(canvas: &mut Canvas<'_>, palette: &Palette, recent: &[Action], cx: &Context<'_>) {
    let (w, h) = (canvas.width(), canvas.height());
    let (width, height) = (w.min(90), h.min(HEIGHT));
    let y = if h > HEIGHT + 4 { 2 } else { 0 };
    let mut part = canvas.part(Rect::new((w - width) / 2, y, width, height));
    for row in 0..height {
        clear_row(&mut part, row);
    }
    let found = find(palette.line.text(), cx.keys, recent);
    let at = palette.at.min(found.len().saturating_sub(1));
    let badge = if found.is_empty() { tr!("nothing found") } else { tr!("{n} of {all}", n = at + 1, all = found.len()) };
    let mut inner = part.frame(&tr!("Palette"), &badge, true);
    let x = inner.text(0, 0, "> ", Role::Strong);
    super::input::line(&mut inner, x, 0, &palette.line);
    let below = found.get(at).map_or(0, |f| in_full(&mut inner, f.entry, cx));
    let rows = inner.height().saturating_sub(1 + below) as usize;
    let from = (at + 1).saturating_sub(rows);
    for (y, (index, f)) in (1..).zip(found.iter().enumerate().skip(from).take(rows)) {
        let marks = Marks { name: &f.in_name, keys: &f.in_keys, help: &f.in_help };
        row(&mut inner, y, f.entry, index == at, marks, cx);
    }
}
