//! The editor of a decision, drawn: a row a field, what is wrong with it beside it, and below what is to be known of the row at the cursor.

use super::clear_row;
use crate::ui::form::{Form, FormRow, Purpose};
use crate::ui::lang::tr;
use crate::ui::view::Context;
use crate::ui::widgets::text::wrap;
use crate::ui::widgets::{Canvas, Role};
use ratatui::layout::Rect;

const WIDTH_MAX: u16 = 110;
/// Cells of the longest name that is shown whole.
const NAME_MAX: u16 = 20;
/// Columns from which what is wrong has room beside a field.
const BESIDE_WIDTH_MIN: u16 = 64;
/// Rows for what is said of the field at the cursor.
const EXPLAINED_MAX: u16 = 5;

pub fn draw(canvas: &mut Canvas<'_>, form: &Form, cx: &Context<'_>) {
    let (w, h) = (canvas.width(), canvas.height());
    let width = w.saturating_sub(2).min(WIDTH_MAX).max(w.min(10));
    let rows = form.rows();
    let inside = width.saturating_sub(2);
    let mut below = explained(canvas, form, &rows, cx, inside);
    below.truncate(usize::from(EXPLAINED_MAX.min(h.saturating_sub(5))));
    let keys = wrap(&keys(form), usize::from(inside.max(1)), canvas.glyphs().ambiguous);
    let wanted = rows.len() as u16 + below.len() as u16 + keys.len() as u16 + 3;
    let height = wanted.min(h);
    let mut part = canvas.part(Rect::new((w - width) / 2, (h - height) / 2, width, height));
    for y in 0..height {
        clear_row(&mut part, y);
    }
    let wrong = rows.iter().filter(|row| row.problem.is_some()).count();
    let badge = if wrong == 0 { tr!("fits") } else { tr!("{n} to be mended", n = wrong) };
    let mut inner = part.frame(&title(form), &badge, true);
    // The field at the cursor is never left out; what is said of it is, where there is no room.
    let room = inner.height();
    let rest = (below.len() + keys.len() + 1) as u16;
    let fields = room.saturating_sub(rest).max(1).min(rows.len() as u16);
    let from = (form.at() + 1).saturating_sub(usize::from(fields));
    let name = rows.iter().map(|row| inner.measure(&row.name)).max().unwrap_or(0).min(NAME_MAX);
    for (y, (index, row)) in (0..fields).zip(rows.iter().enumerate().skip(from)) {
        draw_row(&mut inner, y, row, name, index == form.at());
    }
    if fields < room {
        inner.rule(fields);
    }
    for (y, (text, role)) in (fields + 1..room).zip(below.iter().cloned().chain(keys.into_iter().map(|line| (line, Role::Dim)))) {
        inner.text(0, y, &text, role);
    }
}

fn title(form: &Form) -> String {
    let (lane, episode, step) = form.purpose.place();
    match form.purpose {
        Purpose::Override { .. } => {
            tr!("Override step {step} of episode {episode}, lane {lane}", step = step, episode = episode, lane = lane)
        }
        Purpose::Fork { .. } => {
            tr!("Fork before step {step} of episode {episode}, lane {lane}", step = step, episode = episode, lane = lane)
        }
    }
}

fn keys(form: &Form) -> String {
    let choose = if form.choices(form.slot()).is_empty() { String::new() } else { format!("{}   ", tr!("up down choose")) };
    tr!("enter sends   tab next   {choose}ctrl-o $EDITOR   esc leaves all as it is", choose = choose)
}

/// What is wrong with the field at the cursor, and what it takes.
fn explained(canvas: &Canvas<'_>, form: &Form, rows: &[FormRow<'_>], cx: &Context<'_>, width: u16) -> Vec<(String, Role)> {
    let ambiguous = canvas.glyphs().ambiguous;
    let lines = |text: String, role: Role| wrap(&text, usize::from(width.max(1)), ambiguous).into_iter().map(move |line| (line, role));
    let stale = form.stale(cx.state).into_iter().map(|told| (told, Role::Bad));
    let problem = rows.get(form.at()).and_then(|row| row.problem.clone()).map(|told| (format!("! {told}"), Role::Bad));
    let told = form.explained().into_iter().map(|told| (told, Role::Text));
    stale.chain(problem).chain(told).flat_map(|(text, role)| lines(text, role)).collect()
}

fn draw_row(inner: &mut Canvas<'_>, y: u16, row: &FormRow<'_>, name: u16, is_at: bool) {
    let width = inner.width();
    let beside = width >= BESIDE_WIDTH_MIN;
    inner.text(0, y, if is_at { ">" } else { " " }, Role::Strong);
    if row.problem.is_some() {
        inner.text(1, y, "!", Role::Bad);
    }
    inner.text_upto(2, 2 + name, y, &row.name, if is_at { Role::Strong } else { Role::Text });
    inner.text(2 + name, y, if row.is_required { "*" } else { " " }, Role::Dim);
    let (from, end) = (4 + name, if beside { width / 2 + 4 } else { width });
    if from >= end {
        return;
    }
    let mut part = inner.part(Rect::new(from, y, end - from, 1));
    match is_at {
        true => super::input::line(&mut part, 0, 0, row.line),
        false => {
            let room = part.width();
            part.text_upto(0, room, 0, row.line.text(), Role::Text);
        }
    }
    if let Some(problem) = row.problem.as_ref().filter(|_| beside) {
        inner.text_upto(end + 1, width, y, problem, Role::Bad);
    }
}
