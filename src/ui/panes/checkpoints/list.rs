//! The list: one checkpoint a row, the newest first.

use super::{chosen, ordered};
use crate::event::CheckpointListed;
use crate::ui::bench::{Evaluation, Setting, Soundness, Subject};
use crate::ui::lang::tr;
use crate::ui::panes::{Pane, lines, notice};
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role, format};
use ratatui::layout::Rect;

/// A column: its head, its cells, and the width of the pane from which it is shown.
struct Column {
    kind: Kind,
    cells: u16,
    from: u16,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Step,
    Created,
    Sha,
    Check,
    Size,
    Episodes,
    Success,
    Return,
    State,
    Note,
}

const COLUMNS: [Column; 10] = [
    Column { kind: Kind::Step, cells: 8, from: 30 },
    Column { kind: Kind::Created, cells: 11, from: 100 },
    Column { kind: Kind::Sha, cells: 9, from: 90 },
    Column { kind: Kind::Check, cells: 6, from: 60 },
    Column { kind: Kind::Size, cells: 9, from: 130 },
    Column { kind: Kind::Episodes, cells: 8, from: 70 },
    Column { kind: Kind::Success, cells: 22, from: 66 },
    Column { kind: Kind::Return, cells: 23, from: 116 },
    Column { kind: Kind::State, cells: 9, from: 38 },
    Column { kind: Kind::Note, cells: 0, from: 150 },
];

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let ctx = pane.ctx;
    let all = ordered(ctx.state);
    let setting = Setting::of(ctx.state);
    let is_evaluated = ctx.desk.bench.evaluations.keys().any(|(_, there)| *there == setting);
    let level = is_evaluated.then(|| tr!("evaluated at level {level}", level = setting.level));
    let mut inner = pane.open(canvas, &format!("{}  {}", level.unwrap_or_default(), all.len()));
    if all.is_empty() && ctx.playback.is_some() && ctx.state.run.is_none() {
        notice(&mut inner, &tr!("the recording stands at its beginning: what it says of checkpoints comes with its first events"));
        return;
    }
    if all.is_empty() {
        notice(&mut inner, &tr!("no checkpoint is listed: the agent of this run is no model, or its policy is still loading"));
        return;
    }
    let width = inner.width();
    let shown: Vec<&Column> = COLUMNS.iter().filter(|c| width >= c.from).collect();
    let taken: u16 = shown.iter().map(|c| c.cells).sum();
    let longest = all.iter().map(|c| inner.measure(&c.checkpoint.0)).max().unwrap_or(0);
    let names = longest.min(width.saturating_sub(taken + 4)).max(6);
    head(&mut inner, names, &shown);
    let footer = u16::from(inner.height() >= 6);
    let rows = inner.height().saturating_sub(1 + footer) as usize;
    let here = chosen(ctx.state, &ctx.view.shelf).map(|c| &c.checkpoint);
    let at = all.iter().position(|c| Some(&c.checkpoint) == here).unwrap_or(0);
    let skip = (at + 1).saturating_sub(rows);
    for (y, listed) in (1u16..).zip(all.iter().skip(skip).take(rows)) {
        row(&mut inner, y, listed, names, &shown, ctx);
        if Some(&listed.checkpoint) == here {
            inner.restyle(0, y, width, Role::Selected);
        }
    }
    let whole = Rect::new(0, 0, width, 1 + rows as u16);
    lines::more(&mut inner.part(whole), all.len().saturating_sub(skip + rows));
    if footer > 0 {
        keys(&mut inner, ctx);
    }
}

fn head(inner: &mut Canvas<'_>, names: u16, columns: &[&Column]) {
    inner.text_upto(4, 4 + names, 0, &tr!("id"), Role::Dim);
    let mut x = 4 + names;
    for column in columns {
        let name = match column.kind {
            Kind::Step => tr!("step"),
            Kind::Created => tr!("created"),
            Kind::Sha => "sha256".to_owned(),
            Kind::Check => tr!("check"),
            Kind::Size => tr!("size"),
            Kind::Episodes => tr!("seeds"),
            Kind::Success => tr!("success"),
            Kind::Return => tr!("return"),
            Kind::State => tr!("state"),
            Kind::Note => tr!("note"),
        };
        let end = if column.cells == 0 { inner.width() } else { x + column.cells };
        inner.text_upto(x + 1, end, 0, &name, Role::Dim);
        x = end;
    }
}

fn row(inner: &mut Canvas<'_>, y: u16, listed: &CheckpointListed, names: u16, columns: &[&Column], ctx: &Context<'_>) {
    let id = &listed.checkpoint;
    let serves = ctx.state.serving.as_ref() == Some(id);
    let mark = match ctx.view.shelf.marked.iter().position(|m| m == id) {
        Some(0) => "A",
        Some(_) => "B",
        None => " ",
    };
    inner.text(0, y, mark, Role::Mark);
    inner.text(2, y, if serves { "*" } else { " " }, Role::Good);
    inner.text_upto(4, 4 + names, y, &id.0, if serves { Role::Strong } else { Role::Text });
    let mut x = 4 + names;
    for column in columns {
        let (text, role) = cell(column.kind, listed, ctx);
        let end = if column.cells == 0 { inner.width() } else { x + column.cells };
        inner.text_upto(x + 1, end, y, &text, role);
        x = end;
    }
}

fn cell(kind: Kind, listed: &CheckpointListed, ctx: &Context<'_>) -> (String, Role) {
    let bench = &ctx.desk.bench;
    let subject = Subject::of(listed);
    let dossier = bench.dossiers.get(&subject).and_then(|d| d.as_ref().ok());
    let evaluation = bench.evaluation(&subject, &Setting::of(ctx.state));
    let figures = evaluation.and_then(|e| e.figures);
    match kind {
        Kind::Step => (format::count(listed.training_step), Role::Text),
        Kind::Created => {
            let day = dossier.and_then(|d| d.created.as_ref()).and_then(|c| c.get(..10));
            (format::or_unset(day, str::to_owned), Role::Text)
        }
        Kind::Sha => (short_sha(&listed.sha256), Role::Dim),
        Kind::Check => check(bench.soundness.get(&subject)),
        Kind::Size => (format::or_unset(dossier, |d| format::bytes(d.bytes as f64)), Role::Text),
        Kind::Episodes => (format::or_unset(evaluation, episodes), Role::Text),
        Kind::Success => {
            (format::or_unset(figures, |f| within(f.success.value, f.success.low, f.success.high, format::percent)), Role::Text)
        }
        Kind::Return => {
            let number = |v: f64| if v.is_nan() { format::UNSET.to_owned() } else { format!("{v:.2}") };
            (format::or_unset(figures, |f| within(f.episode_return.value, f.episode_return.low, f.episode_return.high, number)), Role::Text)
        }
        Kind::State => state(listed, ctx),
        Kind::Note => (listed.note.to_string(), Role::Dim),
    }
}

/// `9b1f..e2`: both ends of a hash.
pub fn short_sha(sha256: &str) -> String {
    match (sha256.get(..4), sha256.get(sha256.len().saturating_sub(2)..)) {
        (Some(start), Some(end)) if sha256.len() > 8 => format!("{start}..{end}"),
        (_, _) => sha256.to_owned(),
    }
}

fn check(soundness: Option<&Soundness>) -> (String, Role) {
    match soundness {
        None | Some(Soundness::Unknown) => ("-".into(), Role::Dim),
        Some(Soundness::Checking) => ("..".into(), Role::Dim),
        Some(Soundness::Sound) => (tr!("ok"), Role::Good),
        Some(Soundness::Unsound(_)) => (tr!("BAD"), Role::Bad),
        Some(Soundness::Unavailable(_)) => (format::UNSET.into(), Role::Dim),
    }
}

fn episodes(evaluation: &Evaluation) -> String {
    match (&evaluation.failed, evaluation.is_done()) {
        (Some(_), _) => tr!("failed"),
        (None, true) => evaluation.played.to_string(),
        (None, false) => format!("{}/{}", evaluation.played, evaluation.wanted),
    }
}

pub fn within(value: f64, low: f64, high: f64, text: impl Fn(f64) -> String) -> String {
    format!("{} [{},{}]", text(value), text(low), text(high))
}

fn state(listed: &CheckpointListed, ctx: &Context<'_>) -> (String, Role) {
    let id = &listed.checkpoint;
    let previous = ctx.state.swaps.iter().rev().find(|s| Some(&s.to) == ctx.state.serving.as_ref()).and_then(|s| s.from.as_ref());
    if ctx.state.serving.as_ref() == Some(id) {
        (tr!("SERVING"), Role::Good)
    } else if matches!(ctx.desk.bench.soundness.get(&Subject::of(listed)), Some(Soundness::Unsound(_))) {
        (tr!("BLOCKED"), Role::Bad)
    } else if previous == Some(id) {
        (tr!("previous"), Role::Text)
    } else {
        ("-".into(), Role::Dim)
    }
}

fn keys(inner: &mut Canvas<'_>, ctx: &Context<'_>) {
    use crate::ui::actions::Action;
    let cancel = ctx.desk.bench.is_busy().then(|| (Action::Back, tr!("cancel")));
    let named = [
        (Action::MarkForCompare, tr!("mark")),
        (Action::Compare, tr!("compare")),
        (Action::Evaluate, tr!("evaluate")),
        (Action::Verify, tr!("verify")),
        (Action::Promote, tr!("promote (typed)")),
    ];
    let (width, y) = (inner.width(), inner.height() - 1);
    let mut x = 0;
    for (action, name) in cancel.into_iter().chain(named) {
        let key = ctx.keys.keys_of(action).next().unwrap_or_default();
        let text = format!("{key} {name}  ");
        if x + inner.measure(&text) > width {
            break;
        }
        x = inner.text(x, y, &text, Role::Dim);
    }
}
