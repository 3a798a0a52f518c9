//! Rows of actions, as help and palette show them.

use super::refusal;
use crate::ui::actions::Entry;
use crate::ui::keymap::KeyMap;
use crate::ui::lang;
use crate::ui::lang::tr;
use crate::ui::palette::keys_shown;
use crate::ui::view::Context;
use crate::ui::widgets::text::{graphemes, wrap};
use crate::ui::widgets::{Canvas, Role};

/// Characters of an entry's texts that a search found.
#[derive(Clone, Copy, Default)]
pub struct Marks<'a> {
    pub name: &'a [usize],
    pub keys: &'a [usize],
    pub help: &'a [usize],
}

/// Columns where keys, name and help begin.
struct Columns {
    name: u16,
    help: u16,
}

impl Columns {
    fn of(width: u16) -> Self {
        if width >= 70 {
            Self { name: 15, help: 37 }
        } else if width >= 40 {
            Self { name: 9, help: 26 }
        } else {
            Self { name: 7, help: 7 }
        }
    }
}

/// One row: keys, name with its argument, what it does. What can't be used says so by a word as well.
pub fn row(canvas: &mut Canvas<'_>, y: u16, entry: &Entry, is_chosen: bool, marks: Marks<'_>, cx: &Context<'_>) {
    let (width, columns) = (canvas.width(), Columns::of(canvas.width()));
    let usable = refusal(entry, cx).is_none();
    let role = match (is_chosen, usable) {
        (true, _) => Role::Selected,
        (false, true) => Role::Text,
        (false, false) => Role::Dim,
    };
    if is_chosen {
        let blank = " ".repeat(width as usize);
        canvas.text(0, y, &blank, Role::Selected);
    }
    let keys = keys_shown(entry, cx.keys);
    let end = columns.name.saturating_sub(1).min(width);
    canvas.text_upto(1, end, y, &keys, role);
    mark(canvas, (1, end), y, &keys, marks.keys);
    let name = format!("{} {}", entry.name, entry.argument);
    let end = if columns.help > columns.name { columns.help.saturating_sub(1).min(width) } else { width };
    let name_end = canvas.text_upto(columns.name, end, y, name.trim_end(), role);
    mark(canvas, (columns.name, end), y, &name, marks.name);
    let mut x = if columns.help > columns.name { columns.help } else { name_end + 1 };
    if !usable {
        x = canvas.text_upto(x, width, y, "n/a ", role);
    }
    let help = lang::text(entry.help);
    canvas.text_upto(x, width, y, &help, role);
    mark(canvas, (x, width), y, &help, marks.help);
}

/// Marks the characters of `text` at those indices, which stands from `x` on and ends before `end`.
fn mark(canvas: &mut Canvas<'_>, (x, end): (u16, u16), y: u16, text: &str, at: &[usize]) {
    let mut column = x;
    for (index, grapheme) in graphemes(text).enumerate() {
        let cells = canvas.measure(grapheme);
        if at.contains(&index) && column.saturating_add(cells) <= end {
            canvas.restyle(column, y, cells, Role::Match);
        }
        column = column.saturating_add(cells);
    }
}

/// The chosen entry in words at the bottom, with the reason where it can't be used; gives the rows that it took.
pub fn in_full(canvas: &mut Canvas<'_>, entry: &Entry, cx: &Context<'_>) -> u16 {
    let (width, height) = (canvas.width(), canvas.height());
    let lines = wrap(&words(entry, cx.keys, refusal(entry, cx)), width.saturating_sub(2) as usize, canvas.glyphs().ambiguous);
    let rows = lines.len() as u16 + 1;
    if height < rows + 3 {
        return 0;
    }
    canvas.rule(height - rows);
    for (y, line) in (height - rows + 1..).zip(&lines) {
        canvas.text(1, y, line, Role::Strong);
    }
    rows
}

fn words(entry: &Entry, keys: &KeyMap, refusal: Option<String>) -> String {
    let name = format!("{} {}", entry.name, entry.argument);
    let keys = keys_shown(entry, keys);
    let keys = if keys.is_empty() { tr!("no key") } else { keys };
    let place = if entry.scope.place().is_empty() { String::new() } else { format!(" {}", lang::text(entry.scope.place())) };
    let reason = refusal.map(|r| format!(" (n/a: {r})")).unwrap_or_default();
    format!(":{}: {} [{keys}{place}]{reason}", name.trim_end(), lang::text(entry.help))
}
