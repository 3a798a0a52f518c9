//! The form of a silence, drawn: what is wrong stands beside its field, and below which alerts it would hush now.

use super::clear_row;
use crate::ui::lang::tr;
use crate::ui::line::Line;
use crate::ui::panes::rules::hushed;
use crate::ui::silence_form::{DURATIONS, Purpose, SilenceForm, Slot};
use crate::ui::view::Context;
use crate::ui::widgets::text::wrap;
use crate::ui::widgets::{Canvas, Role};
use ratatui::layout::Rect;

const WIDTH_MAX: u16 = 96;
/// Alerts that are listed below the fields.
const HUSHED_MAX: usize = 6;
/// Cells of the words in front of the fields.
const WORD: u16 = 7;

/// Where the fields stand inside the frame: rows of matchers from 0 on, then time, name and note.
struct Places {
    outer: Rect,
    name: (u16, u16),
    operator: u16,
    value: u16,
    rows: u16,
}

impl Places {
    fn of((w, h): (u16, u16), form: &SilenceForm) -> Self {
        let rows = form.matchers().count() as u16;
        let width = w.saturating_sub(2).min(WIDTH_MAX).max(w.min(10));
        // Fields, a rule, the alerts and the keys.
        let height = (rows + 3 + 1 + HUSHED_MAX as u16 + 3 + 2).min(h);
        let outer = Rect::new((w - width) / 2, (h - height) / 2, width, height);
        let name = (WORD, WORD + (width / 4).clamp(8, 20));
        Self { outer, name, operator: name.1 + 1, value: name.1 + 4, rows }
    }

    fn row_of(&self, slot: Slot) -> u16 {
        match slot {
            Slot::Name(n) | Slot::Operator(n) | Slot::Value(n) => n as u16,
            Slot::Lasts => self.rows,
            Slot::By => self.rows + 1,
            Slot::Note => self.rows + 2,
        }
    }

    /// Rows of fields that are left out above, so that the one with the keys is in view.
    fn skip(&self, at: Slot) -> u16 {
        let room = self.outer.height.saturating_sub(2).max(1);
        (self.row_of(at) + 1).saturating_sub(room)
    }
}

/// The field under a cell of the screen.
pub fn slot_at(area: Rect, form: &SilenceForm, x: u16, y: u16) -> Option<Slot> {
    let places = Places::of((area.width, area.height), form);
    let x = x.checked_sub(places.outer.x + 1)?;
    let y = y.checked_sub(places.outer.y + 1).filter(|y| y + 2 < places.outer.height)? + places.skip(form.at());
    let matcher = usize::from(y);
    Some(match y.checked_sub(places.rows) {
        Some(0) => Slot::Lasts,
        Some(1) => Slot::By,
        Some(2) => Slot::Note,
        Some(_) => return None,
        None if x < places.operator => Slot::Name(matcher),
        None if x < places.value => Slot::Operator(matcher),
        None => Slot::Value(matcher),
    })
}

pub fn draw(canvas: &mut Canvas<'_>, form: &SilenceForm, cx: &Context<'_>) {
    let places = Places::of((canvas.width(), canvas.height()), form);
    let mut part = canvas.part(places.outer);
    (0..places.outer.height).for_each(|y| clear_row(&mut part, y));
    let wrong = form.problems().len();
    let badge = if wrong == 0 { tr!("fits") } else { tr!("{n} to be mended", n = wrong) };
    let mut inner = part.frame(&title(form), &badge, true);
    let skip = places.skip(form.at());
    for (n, (name, operator, value)) in form.matchers().enumerate() {
        let y = n as u16;
        word(&mut inner, y, skip, &if n == 0 { tr!("match") } else { String::new() });
        field(&mut inner, form, (places.name.0, y, skip), places.name.1, Slot::Name(n), name);
        let role = if form.at() == Slot::Operator(n) { Role::Selected } else { Role::Text };
        if let Some(y) = y.checked_sub(skip) {
            inner.text_upto(places.operator, places.value, y, operator, role);
        }
        let end = inner.width();
        field(&mut inner, form, (places.value, y, skip), end, Slot::Value(n), value);
    }
    let end = inner.width();
    for (slot, label, line) in
        [(Slot::Lasts, tr!("for"), form.lasts()), (Slot::By, tr!("by"), form.by()), (Slot::Note, tr!("why"), form.note())]
    {
        let y = places.row_of(slot);
        word(&mut inner, y, skip, &label);
        let until = if slot == Slot::Lasts { (WORD + 12).min(end) } else { end };
        field(&mut inner, form, (WORD, y, skip), until, slot, line);
        if let (Slot::Lasts, Some(y)) = (slot, y.checked_sub(skip)) {
            inner.text_upto(until + 1, end, y, &DURATIONS.join(" "), Role::Dim);
        }
    }
    let fields = (places.rows + 3).saturating_sub(skip);
    if fields < inner.height() {
        inner.rule(fields);
        below(&mut inner.below(fields + 1), form, cx);
    }
}

fn title(form: &SilenceForm) -> String {
    match &form.purpose {
        Purpose::New => tr!("Silence"),
        Purpose::Acknowledge => tr!("Acknowledge"),
        Purpose::Edit(id) => tr!("Silence {id}, edited", id = id),
    }
}

fn word(inner: &mut Canvas<'_>, y: u16, skip: u16, word: &str) {
    if let Some(y) = y.checked_sub(skip) {
        inner.text_upto(0, WORD, y, word, Role::Dim);
    }
}

/// A field: `!` in front of it where something is wrong.
fn field(inner: &mut Canvas<'_>, form: &SilenceForm, (x, y, skip): (u16, u16, u16), end: u16, slot: Slot, line: &Line) {
    let Some(y) = y.checked_sub(skip).filter(|_| x < end) else { return };
    if form.problem(slot).is_some() {
        inner.text(x.saturating_sub(1), y, "!", Role::Bad);
    }
    let mut part = inner.part(Rect::new(x, y, end - x, 1));
    if form.at() == slot {
        super::input::line(&mut part, 0, 0, line);
    } else {
        let room = part.width();
        part.text_upto(0, room, 0, line.text(), Role::Text);
    }
}

/// What is wrong, which alerts it would hush, and the keys.
fn below(inner: &mut Canvas<'_>, form: &SilenceForm, cx: &Context<'_>) {
    let (width, height) = (inner.width(), inner.height());
    let ambiguous = inner.glyphs().ambiguous;
    let problems = form.problems();
    let here = problems.iter().find(|(slot, _)| *slot == form.at()).or(problems.first());
    let mut lines: Vec<(String, Role)> = here.iter().map(|(_, told)| (format!("! {told}"), Role::Bad)).collect();
    if let Some(matchers) = form.usable() {
        let found = hushed(cx.state, &matchers);
        lines.push((tr!("hushes now: {n}", n = found.len()), Role::Strong));
        lines.extend(found.iter().take(HUSHED_MAX).map(|alert| (format!("  {alert}"), Role::Text)));
        let more = found.len().saturating_sub(HUSHED_MAX);
        lines.extend((more > 0).then(|| (format!("  +{more}"), Role::Dim)));
    }
    let choose = if form.choices(cx.state).is_empty() { String::new() } else { format!("{}   ", tr!("up down choose")) };
    let keys =
        wrap(&tr!("enter sends   tab next   {choose}ctrl-d takes the row out   esc gives up", choose = choose), width.into(), ambiguous);
    // The keys are never left out.
    let room = usize::from(height).saturating_sub(keys.len());
    let lines = lines.into_iter().flat_map(|(text, role)| {
        let wrapped = wrap(&text, usize::from(width.max(1)), ambiguous);
        wrapped.into_iter().map(move |line| (line, role))
    });
    let keys = keys.into_iter().map(|line| (line, Role::Dim));
    for (y, (text, role)) in (0..height).zip(lines.take(room).chain(keys)) {
        inner.text(0, y, &text, role);
    }
}
