//! The menu by digits: pages of actions, for keyboards that have little more.

use super::{clear_row, refusal};
use crate::ui::actions::{Action, Entry, Group};
use crate::ui::lang::tr;
use crate::ui::lang::{self, Lang};
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role};
use ratatui::layout::Rect;

/// Cells of a column.
const COLUMN: u16 = 22;

/// What an action is called here: in words, where its name behind `:` is short or joined.
pub fn word(entry: &Entry, cx: &Context<'_>) -> String {
    if entry.action == Action::TogglePause {
        return super::hints::toggle_word(cx);
    }
    if lang::current() != Lang::English {
        return lang::name(entry.name);
    }
    let word = match entry.name {
        "back" => "step back",
        "prev" => "previous step",
        "next" => "next step",
        "prev-episode" => "previous episode",
        "first" => "beginning",
        "last" => "end",
        "seek" => "go to",
        "continue" => "to the next stop",
        "continue-back" => "to the last stop",
        "top" => "oldest row",
        "bottom" => "newest row",
        "lane" => "next lane",
        "focus-next" => "next pane",
        "focus-previous" => "previous pane",
        "full" => "full screen",
        "raw" => "as the model reads",
        "overlay" => "mark tokens",
        "mark-compare" => "mark to compare",
        "break-here" => "breakpoint here",
        "break" => "break at condition",
        "command" => "type a command",
        "palette" => "find an action",
        name => return name.replace('-', " "),
    };
    word.to_owned()
}

/// Above the last row, so that the pane and what an action says stay in sight.
pub fn draw(canvas: &mut Canvas<'_>, group: Option<Group>, cx: &Context<'_>) {
    let (title, items) = match group {
        None => (tr!("menu"), Group::pages(cx.view).iter().map(|g| (lang::text(g.title()), true)).collect::<Vec<_>>()),
        Some(group) => (lang::text(group.title()), group.entries().iter().map(|e| (word(e, cx), refusal(e, cx).is_none())).collect()),
    };
    let columns = (canvas.width() / COLUMN).clamp(1, 4);
    let rows = (items.len() as u16).div_ceil(columns);
    let height = (rows + 1).min(canvas.height().saturating_sub(1));
    let area = Rect::new(0, canvas.height() - 1 - height, canvas.width(), height);
    let mut part = canvas.part(area);
    for row in 0..height {
        clear_row(&mut part, row);
    }
    part.rule(0);
    let back = if group.is_some() { tr!("0 back") } else { tr!("0 close") };
    part.text(1, 0, &format!(" {title}  {back} "), Role::Title);
    for (n, (name, usable)) in (0u16..).zip(items) {
        let (x, y) = (n / rows * COLUMN, n % rows + 1);
        let role = if usable { Role::Text } else { Role::Dim };
        let mark = if usable { "" } else { " (n/a)" };
        part.text_upto(x + 1, x + COLUMN, y, &format!("{} {name}{mark}", n + 1), role);
    }
}
