//! The line at the bottom that is typed into, and what it could go on with.

use super::clear_row;
use crate::ui::actions::by_name;
use crate::ui::lang;
use crate::ui::line::Line;
use crate::ui::widgets::{Canvas, Role};
use unicode_segmentation::UnicodeSegmentation;

/// Draws a line with its cursor from column `x` on; of a long one, what is around the cursor.
pub fn line(canvas: &mut Canvas<'_>, x: u16, y: u16, line: &Line) {
    let (before, behind) = line.parts();
    let room = canvas.width().saturating_sub(x + 1);
    // From the cursor to the left, so that a long line costs no more than what is seen of it.
    let (mut shown, mut cells) = (before.len(), 0);
    for (at, grapheme) in before.grapheme_indices(true).rev() {
        cells += canvas.measure(grapheme);
        if cells > room {
            break;
        }
        shown = at;
    }
    let shown = &before[shown..];
    let x = canvas.text(x, y, shown, Role::Strong);
    let under = behind.graphemes(true).next();
    let x = canvas.text(x, y, under.unwrap_or("_"), Role::Selected);
    canvas.text(x, y, &behind[under.map_or(0, str::len)..], Role::Strong);
}

/// The command line, and above it what it is told or offered.
pub fn command(canvas: &mut Canvas<'_>, y: u16, typed: &Line, notice: &str) {
    clear_row(canvas, y);
    canvas.text(0, y, ":", Role::Strong);
    line(canvas, 1, y, typed);
    let Some(above) = y.checked_sub(1) else { return };
    let width = canvas.width();
    if !notice.is_empty() {
        clear_row(canvas, above);
        canvas.text_upto(1, width, above, notice, Role::Warn);
        return;
    }
    let (words, chosen) = typed.offered();
    if words.len() > 1 || chosen.is_some() {
        clear_row(canvas, above);
        offered(canvas, above, words, chosen);
        return;
    }
    let name = typed.text().split(' ').next().unwrap_or_default();
    if let Some(entry) = by_name(name).ok().filter(|_| !name.is_empty()) {
        clear_row(canvas, above);
        let text = format!("{} {}", entry.name, entry.argument);
        let x = canvas.text_upto(1, width, above, text.trim_end(), Role::BorderFocused);
        canvas.text_upto(x + 2, width, above, &lang::text(entry.help), Role::Dim);
    }
}

/// As many words as have room, the chosen one among them, and marks where there are more.
fn offered(canvas: &mut Canvas<'_>, y: u16, words: &[String], chosen: Option<usize>) {
    let width = canvas.width();
    let mut from = 0;
    let reach =
        |canvas: &Canvas<'_>, from: usize, to: usize| words[from..=to].iter().map(|w| u32::from(canvas.measure(w)) + 2).sum::<u32>() + 4;
    while chosen.is_some_and(|at| from < at && reach(canvas, from, at) > u32::from(width)) {
        from += 1;
    }
    let mut x = if from > 0 { canvas.text(0, y, "<", Role::Dim) } else { 1 };
    for (index, word) in words.iter().enumerate().skip(from) {
        if x + canvas.measure(word) + 2 > width && index > from {
            canvas.text(width.saturating_sub(1), y, ">", Role::Dim);
            break;
        }
        let role = if chosen == Some(index) { Role::Selected } else { Role::Text };
        x = canvas.text_upto(x, width, y, word, role) + 2;
    }
}
