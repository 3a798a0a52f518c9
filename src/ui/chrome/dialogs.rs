//! What asks before it does something.

use super::clear_row;
use crate::ui::lang::tr;
use crate::ui::line::Line;
use crate::ui::panes::layout::arrange;
use crate::ui::update::Confirm;
use crate::ui::view::{Context, PaneId};
use crate::ui::widgets::text::wrap;
use crate::ui::widgets::{Canvas, Role};
use ratatui::layout::Rect;

pub fn quit(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let text = match crate::ui::recording_failure(cx.state) {
        None => tr!("Quitting ends this run; what was recorded is kept.  y quits, any other key goes on"),
        Some(reason) => tr!(
            "Quitting ends this run, whose recording FAILED: what was not committed is lost ({reason}).  y quits, any other key goes on",
            reason = reason
        ),
    };
    dialog(canvas, &tr!("Quit"), &[&text]);
}

pub fn told(canvas: &mut Canvas<'_>, title: &str, lines: &[String]) {
    dialog(canvas, title, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

pub fn confirmation(canvas: &mut Canvas<'_>, confirm: &Confirm, typed: &Line, cx: &Context<'_>) {
    let (verb, name) = (confirm.verb, &confirm.name);
    let (before, behind) = typed.parts();
    let title = cx
        .banner
        .map_or_else(|| tr!("Really {verb}?", verb = verb), |banner| tr!("Really {verb} on {banner}?", verb = verb, banner = banner));
    let asked = tr!("type  {verb} {name}  to confirm; esc cancels", verb = verb, name = name);
    let input = format!("{before}_{behind}");
    let paragraphs: Vec<&str> = confirm.what.lines().chain([asked.as_str(), input.as_str()]).collect();
    dialog_above(canvas, &title, &paragraphs, room_above_comparison(canvas, cx));
}

pub fn refused(canvas: &mut Canvas<'_>, why: &str) {
    dialog(canvas, &tr!("Not done"), &[why, &tr!("esc or enter closes this")]);
}

/// Rows above the comparison, which speaks for or against what is to be confirmed; all rows where it is not shown.
fn room_above_comparison(canvas: &Canvas<'_>, cx: &Context<'_>) -> u16 {
    let area = super::between(Rect::new(0, 0, canvas.width(), canvas.height()));
    let panes = arrange(area.width, area.height, cx.view).panes;
    panes.iter().find(|(pane, _)| *pane == PaneId::Compare).map_or(canvas.height(), |(_, place)| area.y + place.y)
}

fn dialog(canvas: &mut Canvas<'_>, title: &str, paragraphs: &[&str]) {
    dialog_above(canvas, title, paragraphs, canvas.height());
}

/// In the middle, or, where something below it is to be seen, at the end of those rows if it has room in them.
fn dialog_above(canvas: &mut Canvas<'_>, title: &str, paragraphs: &[&str], rows: u16) {
    let width = (canvas.width().saturating_sub(4)).min(64);
    let ambiguous = canvas.glyphs().ambiguous;
    let lines: Vec<String> = paragraphs.iter().flat_map(|p| wrap(p, width.saturating_sub(4) as usize, ambiguous)).collect();
    let height = (lines.len() as u16 + 2).min(canvas.height());
    let middle = (canvas.height() - height) / 2;
    let y = if rows < canvas.height() && height < rows { rows - height } else { middle };
    let x = (canvas.width() - width) / 2;
    let mut part = canvas.part(Rect::new(x, y, width, height));
    for row in 0..height {
        clear_row(&mut part, row);
    }
    let mut inner = part.frame(title, "", true);
    // Where not all fits, the end does: what is typed stands there.
    let skip = lines.len().saturating_sub(inner.height() as usize);
    for (row, line) in lines.iter().skip(skip).enumerate() {
        inner.text(1, row as u16, line, Role::Strong);
    }
}
