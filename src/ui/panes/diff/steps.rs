//! The two side by side, a row a step; of two recordings, a row an episode.

use super::summary::verdict;
use super::{Shown, compared, count, cursor, mark_at, shown, told};
use crate::event::CheckpointId;
use crate::source::diff::{Decision, EpisodeDiff, Found, Mark, PairDiff, Row, Story};
use crate::ui::diff::Compared;
use crate::ui::lang::tr;
use crate::ui::panes::lines::more;
use crate::ui::panes::replay::Scene;
use crate::ui::panes::{Pane, notice};
use crate::ui::view::PaneId;
use crate::ui::widgets::{Canvas, Role, format, text};
use ratatui::layout::Rect;

/// Rows above the list's own.
pub fn head(height: u16) -> u16 {
    if height >= 4 { 1 } else { 0 }
}

pub fn list_rows(height: u16) -> usize {
    usize::from(height.saturating_sub(head(height))).max(1)
}

/// The first row that is seen: as it was scrolled, but the cursor stays in sight.
pub fn top(lines: usize, cursor: usize, rows: usize, scrolled: usize) -> usize {
    scrolled.clamp(cursor.saturating_sub(rows - 1), cursor).min(lines.saturating_sub(rows))
}

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let badge = badge(scene);
    let mut inner = pane.open(canvas, &badge);
    let Some(compared) = compared(scene) else {
        notice(&mut inner, &nothing(scene));
        return;
    };
    let (width, height) = (inner.width(), inner.height());
    let rows = shown(&compared.found, &scene.view.diff);
    if rows.is_empty() {
        notice(&mut inner, &tr!("there is no step in either"));
        return;
    }
    let above = head(height);
    if above > 0 {
        draw_head(&mut inner, compared, scene);
    }
    let here = cursor(scene);
    let at = rows.iter().position(|row| row.holds(here)).unwrap_or(0);
    let seen = list_rows(height);
    let first = top(rows.len(), at, seen, scene.view.scroll_of(PaneId::Steps).up);
    for (y, (n, row)) in (above..height).zip(rows.iter().enumerate().skip(first)) {
        draw_row(&mut inner, y, *row, compared, scene);
        if n == at {
            inner.text(0, y, ">", Role::Strong);
            if scene.view.active() == PaneId::Steps {
                inner.restyle(0, y, width, Role::Selected);
            }
        }
    }
    let area = Rect::new(0, 0, width, height);
    more(&mut inner.part(area), rows.len().saturating_sub(first + seen));
}

/// What stands where nothing was compared yet.
pub(super) fn nothing(scene: Scene<'_>) -> String {
    let diff = &scene.desk.diff;
    match &diff.failed {
        _ if diff.is_asked() => tr!("comparing; esc gives up"),
        Some(reason) => tr!("not compared: {reason}", reason = reason),
        None => tr!(
            "nothing was compared yet: :diff compares this branch with what it goes on from, :diff 3 1:3 two episodes, :diff FILE two recordings; in the list of episodes x marks and d compares"
        ),
    }
}

fn badge(scene: Scene<'_>) -> String {
    match compared(scene).map(|c| &c.found) {
        _ if scene.desk.diff.is_asked() => tr!("comparing"),
        None => String::new(),
        Some(found) => {
            let of = |mark| (0..count(found)).filter(|item| mark_at(found, *item) == mark).count();
            format!("={} ~{} -{} +{}", of(Mark::Same), of(Mark::Differs), of(Mark::OnlyA), of(Mark::OnlyB))
        }
    }
}

/// Where the halves begin and end.
struct Halves {
    a: (u16, u16),
    b: (u16, u16),
}

/// Cells in front of them: cursor, sign, step numbers, letters.
const FRONT: u16 = 19;
const FRONT_NARROW: u16 = 13;

fn front(width: u16) -> u16 {
    if width >= 56 { FRONT } else { FRONT_NARROW }
}

fn halves(width: u16) -> Halves {
    let front = front(width);
    let middle = front + width.saturating_sub(front) / 2;
    Halves { a: (front, middle.saturating_sub(1)), b: (middle + 1, width) }
}

fn draw_head(inner: &mut Canvas<'_>, compared: &Compared, scene: Scene<'_>) {
    let width = inner.width();
    let Halves { a, b } = halves(width);
    let (title_a, title_b) = match &compared.found {
        Found::Episodes(diff) => (titled(&diff.a), titled(&diff.b)),
        Found::Recordings(..) => (named(compared, 0), named(compared, 1)),
    };
    inner.text_upto(2, a.0, 0, &tr!("step"), Role::Dim);
    let is_steps = matches!(compared.found, Found::Episodes(_));
    for (letter, title, (x, end), is_chosen) in [("A", title_a, a, !scene.view.diff.side_b), ("B", title_b, b, scene.view.diff.side_b)] {
        // The side that enter opens.
        let chosen = is_chosen && is_steps;
        let sign = if chosen { ">" } else { " " };
        inner.text_upto(x, end, 0, &format!("{sign}{letter} {title}"), if chosen { Role::Strong } else { Role::Dim });
    }
}

fn titled(story: &Story) -> String {
    let who = story.checkpoint().map_or(String::new(), |CheckpointId(id)| format!(" {id}"));
    format!("{}{who}", story.address)
}

pub(super) fn named(compared: &Compared, side: usize) -> String {
    let path = &compared.files[side].path;
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn role(mark: Mark) -> Role {
    match mark {
        Mark::Same => Role::Dim,
        Mark::Differs => Role::Warn,
        Mark::OnlyA => Role::Bad,
        Mark::OnlyB => Role::Good,
    }
}

fn draw_row(inner: &mut Canvas<'_>, y: u16, row: Shown, compared: &Compared, scene: Scene<'_>) {
    let width = inner.width();
    match row {
        Shown::Fold(from, upto) => {
            let n = upto - from;
            let text = match &compared.found {
                Found::Episodes(diff) => {
                    let step = |item: usize| diff.decisions(item).0.map_or(0, |d| d.step.0);
                    tr!("steps {from} to {upto}: the same", from = step(from), upto = step(upto - 1))
                }
                Found::Recordings(..) => tr!("{n} pairs of episodes: the same", n = n),
            };
            inner.text(1, y, "=", Role::Dim);
            inner.text_upto(3, width, y, &text, Role::Dim);
        }
        Shown::Item(item) => {
            let mark = mark_at(&compared.found, item);
            inner.text(1, y, &mark.sign().to_string(), role(mark));
            match &compared.found {
                Found::Episodes(diff) => draw_step(inner, y, diff, item, scene),
                Found::Recordings(diff, pairs) => match pairs.get(item) {
                    Some(pair) => draw_pair(inner, y, pair),
                    None => {
                        let n = item - pairs.len();
                        let alone = diff.only_a.get(n).or_else(|| diff.only_b.get(n - diff.only_a.len().min(n)));
                        let text = alone.map(|u| {
                            let seed = format::or_unset(u.seed, |s| s.to_string());
                            tr!("{episode} seed {seed}: has no partner", episode = u.address, seed = seed)
                        });
                        inner.text_upto(3, width, y, &text.unwrap_or_default(), role(mark));
                    }
                },
            }
        }
    }
}

fn draw_step(inner: &mut Canvas<'_>, y: u16, diff: &EpisodeDiff, item: usize, scene: Scene<'_>) {
    let width = inner.width();
    let Some(row) = diff.rows.get(item) else { return };
    let (a, b) = diff.decisions(item);
    let steps = match (a, b) {
        (Some(a), Some(b)) if a.step != b.step => format!("{}|{}", a.step, b.step),
        (Some(d), _) | (None, Some(d)) => d.step.to_string(),
        (None, None) => String::new(),
    };
    let front = front(width);
    let letters = letters(row);
    let room = front.saturating_sub(letters.len() as u16 + 1);
    inner.text_upto(3, room.max(4), y, &steps, Role::Text);
    inner.text_upto(room, front, y, &letters, Role::Warn);
    let Halves { a: in_a, b: in_b } = halves(width);
    let does = |d: Option<&Decision>| d.map(|d| d.action().map_or_else(|| tr!("no action"), |t| t.replace('\n', " ")));
    let search = &scene.view.search;
    let found = |d: Option<&Decision>| !search.is_empty() && does(d).is_some_and(|t| text::holds(&t, search));
    match (does(a), does(b)) {
        (Some(of_a), Some(of_b)) if of_a == of_b => {
            let role = if found(a) { Role::Match } else { Role::Text };
            inner.text_upto(in_a.0, width, y, &of_a, if row.mark() == Mark::Same { Role::Dim } else { role });
        }
        (of_a, of_b) => {
            for (text, (x, end), role, is_found) in [(of_a, in_a, Role::Bad, found(a)), (of_b, in_b, Role::Good, found(b))] {
                inner.text_upto(x, end, y, &text.unwrap_or_default(), if is_found { Role::Match } else { role });
            }
            inner.text_upto(in_a.1, width, y, "|", Role::Border);
        }
    }
}

fn letters(row: &Row) -> String {
    row.parts.iter().map(|part| part.letter()).collect()
}

fn draw_pair(inner: &mut Canvas<'_>, y: u16, pair: &PairDiff) {
    let width = inner.width();
    let names = if pair.a == pair.b { pair.a.to_string() } else { format!("{}|{}", pair.a, pair.b) };
    let front = front(width).min(13);
    inner.text_upto(3, front, y, &names, Role::Text);
    let [a, b] = format::apart(pair.returns.0, pair.returns.1);
    let verdicts = match pair.verdicts {
        (a, b) if a == b => format::or_unset(a, verdict),
        (a, b) => {
            let word = |v: Option<&'static str>| v.map_or_else(|| tr!("unfinished"), verdict);
            format!("{} -> {}", word(a), word(b))
        }
    };
    let returns = if pair.is_same { a } else { format!("{a} -> {b}") };
    let role = if pair.is_flip() { Role::Warn } else { Role::Text };
    let x = inner.text_upto(front, width, y, &format!("{returns}  {verdicts}  "), if pair.is_same { Role::Dim } else { role });
    let first = pair.first.as_ref().or(pair.drift.as_ref());
    if let Some(first) = first {
        let what = first.difference.as_ref().map_or_else(|| tr!("only one goes on"), told);
        inner.text_upto(x, width, y, &tr!("step {step}: {what}", step = first.step, what = what), Role::Dim);
    }
}
