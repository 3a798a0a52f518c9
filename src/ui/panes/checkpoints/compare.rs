//! Two checkpoints on the same seeds, what their configurations say, how their weights differ.

use super::{Shelf, estimate, pair};
use crate::event::Seed;
use crate::state::DashState;
use crate::ui::bench::{Comparison, Dossier, Evaluation, Metric, Setting, Subject, Verdict};
use crate::ui::desk::Desk;
use crate::ui::lang::tr;
use crate::ui::panes::lines::{self, Line};
use crate::ui::panes::replay::Scene;
use crate::ui::panes::{Pane, notice};
use crate::ui::widgets::{Canvas, Role, format};
use serde_json::{Value, json};

/// Seeds of a list that are named one by one.
const SEEDS_NAMED: usize = 12;
/// From this change on a tensor counts as changed.
const CHANGED: f64 = 0.01;

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let ctx = pane.ctx;
    let pair = pair(ctx.state, &ctx.view.shelf);
    let badge = pair.as_ref().map(|(a, b)| format!("A={}  B={}", a.id, b.id)).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    if pair.is_none() {
        notice(&mut inner, &tr!("mark two checkpoints with x, then d compares them seed by seed"));
        return;
    }
    let lines = lines(ctx.desk, &ctx.view.shelf, ctx.state, inner.width());
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All that there is to say of the pair.
pub fn lines(desk: &Desk, shelf: &Shelf, state: &DashState, width: u16) -> Vec<Line> {
    let Some((a, b)) = pair(state, shelf) else { return Vec::new() };
    let bench = &desk.bench;
    let mut lines = Vec::new();
    let setting = Setting::of(state);
    match bench.comparison_of(&a, &b, &setting) {
        Some(comparison) => metrics(&mut lines, comparison, width),
        None => progress(&mut lines, [&a, &b].map(|subject| (subject, bench.evaluation(subject, &setting)))),
    }
    let dossier = |id| bench.dossiers.get(id).and_then(|d: &Result<Dossier, String>| d.as_ref().ok());
    if let (Some(a), Some(b)) = (dossier(&a), dossier(&b)) {
        fields(&mut lines, a, b);
    }
    let weights = bench.weights.as_ref().filter(|(of_a, of_b, _)| *of_a == a && *of_b == b).map(|(_, _, found)| found);
    match weights {
        Some(Ok(change)) => {
            let changed = change.tensors.iter().filter(|(_, norm)| *norm > CHANGED).count();
            let head = tr!("weights: {n} of {all} tensors changed by more than 1%", n = changed, all = change.tensors.len());
            lines.push(Line(vec![(0, head, Role::Text)]));
            let most = change.tensors.iter().take(3).map(|(name, norm)| format!("{name} {}", format::percent(*norm)));
            lines.push(Line(vec![(2, most.collect::<Vec<_>>().join("  "), Role::Dim)]));
            if !change.unmatched.is_empty() {
                lines.push(Line(vec![(2, tr!("not in both: {names}", names = change.unmatched.join(", ")), Role::Warn)]));
            }
        }
        Some(Err(reason)) => lines.push(Line(vec![(0, tr!("weights n/a: {reason}", reason = reason), Role::Dim)])),
        None => {}
    }
    lines
}

fn progress(lines: &mut Vec<Line>, pair: [(&Subject, Option<&Evaluation>); 2]) {
    if pair.iter().all(|(_, evaluation)| evaluation.is_none()) {
        lines.push(Line(vec![(0, tr!("press d: both are played on the same held-out seeds"), Role::Dim)]));
        return;
    }
    for (letter, (Subject { id, .. }, evaluation)) in ["A", "B"].into_iter().zip(pair) {
        let text = match evaluation {
            None => tr!("waits for its turn"),
            Some(Evaluation { failed: Some(reason), .. }) => tr!("failed: {reason}", reason = reason),
            Some(e) => {
                let success = format::or_unset(e.figures, |f| format::percent(f.success.value));
                tr!("{n} of {all} seeds played, success {p}", n = e.played, all = e.wanted, p = success)
            }
        };
        lines.push(Line(vec![(0, format!("{letter} {id}: {text}"), Role::Text)]));
    }
}

/// What is shown of a metric behind its name, and where: on a phone the verdict comes before everything else.
#[derive(Clone, Copy)]
enum Cell {
    A,
    B,
    Delta,
    Interval,
    Verdict,
    /// Pairs of episodes that count.
    Pairs,
}

fn columns(width: u16) -> &'static [(Cell, u16)] {
    match width {
        68.. => &[(Cell::A, 15), (Cell::B, 23), (Cell::Delta, 31), (Cell::Interval, 39), (Cell::Verdict, 56), (Cell::Pairs, 65)],
        60.. => &[(Cell::A, 13), (Cell::B, 20), (Cell::Delta, 27), (Cell::Interval, 34), (Cell::Verdict, 49), (Cell::Pairs, 57)],
        _ => &[(Cell::Delta, 13), (Cell::Verdict, 20), (Cell::Pairs, 28), (Cell::Interval, 32)],
    }
}

fn metrics(lines: &mut Vec<Line>, comparison: &Comparison, width: u16) {
    let head = |cell: Cell| match cell {
        Cell::A => "A".to_owned(),
        Cell::B => "B".to_owned(),
        Cell::Delta => tr!("delta"),
        Cell::Interval => tr!("95% interval"),
        Cell::Verdict => tr!("verdict"),
        Cell::Pairs => "n".to_owned(),
    };
    let heads = columns(width).iter().map(|(cell, x)| (*x, head(*cell), Role::Dim));
    lines.push(Line(std::iter::once((0, tr!("metric"), Role::Dim)).chain(heads).collect()));
    lines.extend(comparison.metrics.iter().map(|m| metric(m, width)));
    let paired = tr!("paired over {n} held-out seeds, level {level}", n = comparison.seeds, level = comparison.setting.level);
    lines.push(Line(vec![(0, paired, Role::Dim)]));
    lines.push(Line(vec![(0, tr!("both: over the seeds that both solved; of twenty such intervals one misses by chance"), Role::Dim)]));
    let flips = [
        (tr!("+{n} fixed", n = comparison.fixed.len()), &comparison.fixed, Role::Good),
        (tr!("-{n} broken", n = comparison.broken.len()), &comparison.broken, Role::Bad),
    ];
    for (head, seeds, role) in flips {
        lines.push(Line(vec![(0, format!("{head}  "), role), (14, named(seeds), Role::Text)]));
    }
}

fn named(seeds: &[Seed]) -> String {
    if seeds.is_empty() {
        return String::new();
    }
    let some: Vec<String> = seeds.iter().take(SEEDS_NAMED).map(ToString::to_string).collect();
    let more = seeds.len().saturating_sub(SEEDS_NAMED);
    let more = if more > 0 { format!(" {}", tr!("and {n} more", n = more)) } else { String::new() };
    tr!("seeds {list}{more}", list = some.join(" "), more = more)
}

fn metric(m: &Metric, width: u16) -> Line {
    let (word, role) = match m.verdict {
        Verdict::Better => (tr!("better"), Role::Good),
        Verdict::Worse => (tr!("WORSE !"), Role::Bad),
        Verdict::Same => (tr!("same"), Role::Dim),
        Verdict::Differs => (tr!("differs"), Role::Warn),
        Verdict::Inconclusive => (tr!("unclear"), Role::Dim),
    };
    // The mean of no pair, and the spread of one.
    let number = |v: f64| if v.is_nan() { format::UNSET.to_owned() } else { format::number(v) };
    let signed = |v: f64| if v > 0.0 { format!("+{}", number(v)) } else { number(v) };
    let cell = |cell: Cell| match cell {
        Cell::A => (number(m.a), Role::Text),
        Cell::B => (number(m.b), Role::Text),
        Cell::Delta => (signed(m.delta.value), role),
        Cell::Interval => (format!("[{},{}]", signed(m.delta.low), signed(m.delta.high)), Role::Text),
        Cell::Verdict => (word.clone(), role),
        Cell::Pairs => (m.pairs.to_string(), Role::Dim),
    };
    let cells = columns(width).iter().map(|(which, x)| {
        let (text, role) = cell(*which);
        (*x, text, role)
    });
    Line(std::iter::once((0, name(&m.name), Role::Text)).chain(cells).collect())
}

/// The measures that backstage takes have English names; this is how the interface calls them.
pub fn name(measure: &str) -> String {
    match measure {
        "success" => tr!("success"),
        "final reward" => tr!("final reward"),
        "return" => tr!("return"),
        "steps, solved" => tr!("steps, both"),
        "tool errors" => tr!("tool errors"),
        "tokens, solved" => tr!("tokens, both"),
        other => other.to_owned(),
    }
}

/// A line for each measure of the comparison that is shown.
pub fn records(scene: Scene<'_>) -> Vec<Value> {
    let Some((a, b)) = pair(scene.state, &scene.view.shelf) else { return Vec::new() };
    let Some(found) = scene.desk.bench.comparison_of(&a, &b, &Setting::of(scene.state)) else { return Vec::new() };
    let record = |m: &Metric| {
        json!({
            "a": a.id,
            "b": b.id,
            "level": found.setting.level,
            "metric": m.name,
            "pairs": m.pairs,
            "mean_a": m.a,
            "mean_b": m.b,
            "delta": estimate(Some(m.delta)),
            "verdict": m.verdict.word(),
        })
    };
    found.metrics.iter().map(record).collect()
}

/// Fields in which the two differ.
fn fields(lines: &mut Vec<Line>, a: &Dossier, b: &Dossier) {
    let value = |dossier: &Dossier, name: &str| dossier.fields.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
    let mut names: Vec<&String> = a.fields.iter().chain(&b.fields).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let different: Vec<Line> = names
        .into_iter()
        .filter_map(|name| {
            let (before, after) = (value(a, name), value(b, name));
            let text = |v: Option<String>| format::or_unset(v, |v| v);
            (before != after).then(|| Line(vec![(2, format!("{name}  {} -> {}", text(before), text(after)), Role::Text)]))
        })
        .collect();
    let head = if different.is_empty() { tr!("manifests say the same of both") } else { tr!("manifests differ in") };
    lines.push(Line(vec![(0, head, Role::Text)]));
    lines.extend(different);
}
