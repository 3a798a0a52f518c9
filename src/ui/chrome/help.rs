//! Help: every action with its keys, by topic and place; it can be searched, and it runs what is chosen.

use super::clear_row;
use super::entries::{Marks, in_full, row};
use crate::ui::actions::{ACTIONS, Action, Entry, Group, Scope};
use crate::ui::keymap::KeyMap;
use crate::ui::lang;
use crate::ui::lang::tr;
use crate::ui::line::Line;
use crate::ui::palette::keys_shown;
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role};
use ratatui::layout::Rect;

/// What of the help is shown, and which entry is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Help {
    pub at: usize,
    pub filter: Line,
    /// Keys go to the filter.
    pub is_typing: bool,
}

/// The heading of an entry.
fn heading(entry: &Entry) -> String {
    lang::text(if entry.scope == Scope::Anywhere { topic(entry.action).title() } else { entry.scope.place() })
}

/// Its page of the menu, or the one that it would be on if there were room.
fn topic(action: Action) -> Group {
    let is = |actions: &[Action]| actions.contains(&action);
    action.group().unwrap_or_else(|| {
        if matches!(action, Action::FocusPane(_)) {
            Group::Move
        } else if is(&[Action::Pause, Action::Resume]) {
            Group::Run
        } else if is(&[Action::PreviousStep]) {
            Group::Replay
        } else {
            Group::More
        }
    })
}

/// The entries that hold the filter's text, in the order in which they are shown.
pub fn entries(filter: &str, keys: &KeyMap) -> Vec<&'static Entry> {
    let filter = filter.to_lowercase();
    let holds = |e: &&Entry| {
        let text = format!("{} {} {} {} {}", e.name, e.argument, keys_shown(e, keys), lang::text(e.help), heading(e)).to_lowercase();
        filter.split_whitespace().all(|word| text.contains(word))
    };
    let mut found: Vec<&Entry> = ACTIONS.iter().filter(holds).collect();
    let of_topic = |e: &Entry| Group::ALL.iter().position(|g| *g == topic(e.action)).unwrap_or(Group::ALL.len());
    let rank = |e: &&Entry| if e.scope == Scope::Anywhere { (0, of_topic(e)) } else { (1, e.scope as usize) };
    found.sort_by_key(rank);
    found
}

/// A row of the help.
enum Row<'a> {
    Heading(String),
    Entry(usize, &'a Entry),
}

fn rows<'a>(entries: &[&'a Entry]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut last = String::new();
    for (index, entry) in entries.iter().enumerate() {
        let heading = heading(entry);
        if heading != last {
            rows.push(Row::Heading(heading.clone()));
            last = heading;
        }
        rows.push(Row::Entry(index, entry));
    }
    rows
}

pub fn draw(canvas: &mut Canvas<'_>, help: &Help, cx: &Context<'_>) {
    let (w, h) = (canvas.width(), canvas.height());
    let width = w.min(90);
    let mut part = canvas.part(Rect::new((w - width) / 2, 0, width, h));
    for row in 0..h {
        clear_row(&mut part, row);
    }
    let entries = entries(help.filter.text(), cx.keys);
    let at = help.at.min(entries.len().saturating_sub(1));
    let position = if entries.is_empty() { tr!("nothing found") } else { tr!("{n} of {all}", n = at + 1, all = entries.len()) };
    let badge = if width >= 60 { tr!("{position}  / filter  enter runs  esc closes", position = position) } else { position };
    let mut inner = part.frame(&tr!("Keys and commands"), &badge, true);
    let mut top = 0;
    if help.is_typing || !help.filter.text().is_empty() {
        let x = inner.text(0, 0, "/", Role::Strong);
        if help.is_typing {
            super::input::line(&mut inner, x, 0, &help.filter);
        } else {
            inner.text(x, 0, help.filter.text(), Role::Strong);
        }
        top = 1;
    }
    let below = entries.get(at).map_or(0, |entry| in_full(&mut inner, entry, cx));
    let height = inner.height().saturating_sub(top + below) as usize;
    list(&mut inner, top, height, &rows(&entries), at, cx);
}

fn list(inner: &mut Canvas<'_>, top: u16, height: usize, rows: &[Row<'_>], at: usize, cx: &Context<'_>) {
    let chosen = rows.iter().position(|r| matches!(r, Row::Entry(index, _) if *index == at)).unwrap_or(0);
    let from = chosen.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    for (y, shown) in (top..).zip(rows.iter().skip(from).take(height)) {
        match shown {
            Row::Heading(text) => {
                let width = inner.width();
                inner.text_upto(0, width, y, text, Role::Title);
            }
            Row::Entry(index, entry) => row(inner, y, entry, *index == at, Marks::default(), cx),
        }
    }
}
