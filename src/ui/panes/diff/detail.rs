//! The step under the cursor: what each thought, did and found.

use super::{compared, cursor, logprob, record, steps, told};
use crate::event::ToolCall;
use crate::source::diff::{Decision, Difference, EpisodeDiff, Found, Token, TokenPair, WordDiff, token_diff};
use crate::ui::lang::tr;
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::panes::replay::Scene;
use crate::ui::panes::{Pane, notice};
use crate::ui::widgets::text::{self, Ambiguous};
use crate::ui::widgets::{Canvas, Glyphs, Role, format};
use serde_json::Value;

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let mut inner = pane.open(canvas, &badge(scene));
    if compared(scene).is_none() {
        notice(&mut inner, &steps::nothing(scene));
        return;
    }
    let lines = lines(scene, inner.width(), inner.glyphs());
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

fn badge(scene: Scene<'_>) -> String {
    let Some(Found::Episodes(diff)) = compared(scene).map(|c| &c.found) else { return String::new() };
    match diff.decisions(cursor(scene)) {
        (Some(a), Some(b)) if a.step != b.step => tr!("step {a} of A, {b} of B", a = a.step, b = b.step),
        (Some(d), _) | (None, Some(d)) => tr!("step {step}", step = d.step),
        (None, None) => String::new(),
    }
}

pub fn records(scene: Scene<'_>) -> Vec<Value> {
    compared(scene).map(|c| record(&c.found, cursor(scene))).into_iter().collect()
}

/// All that there is to say of the step.
pub fn lines(scene: Scene<'_>, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let Some(compared) = compared(scene) else { return Vec::new() };
    let item = cursor(scene);
    match &compared.found {
        Found::Episodes(diff) => of_step(diff, item, width, glyphs.ambiguous),
        Found::Recordings(_, pairs) => {
            let Some(pair) = pairs.get(item) else { return vec![Line::of(tr!("this episode has no partner"), Role::Dim)] };
            let mut lines = vec![Line::of(tr!("enter compares the two step by step"), Role::Dim)];
            for first in [&pair.first, &pair.drift].into_iter().flatten() {
                let what = first.difference.as_ref().map_or_else(|| tr!("only one goes on"), told);
                lines.extend(wrapped(&tr!("step {step}: {what}", step = first.step, what = what), width, glyphs.ambiguous, Role::Text));
            }
            lines
        }
    }
}

fn of_step(diff: &EpisodeDiff, item: usize, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let (a, b) = diff.decisions(item);
    let mut lines = Vec::new();
    match (a, b) {
        (Some(a), Some(b)) => both(&mut lines, diff, item, (a, b), width, ambiguous),
        (Some(d), None) => alone(&mut lines, "-", tr!("only A has it"), d, (width, ambiguous), Role::Bad),
        (None, Some(d)) => alone(&mut lines, "+", tr!("only B has it"), d, (width, ambiguous), Role::Good),
        (None, None) => {}
    }
    lines
}

fn alone(lines: &mut Vec<Line>, sign: &str, head: String, d: &Decision, (width, ambiguous): (u16, Ambiguous), role: Role) {
    lines.push(Line::of(head, Role::Strong));
    let texts = [d.message.as_ref().map(|m| m.thought.clone()), d.action(), d.result.clone()];
    for text in texts.into_iter().flatten() {
        lines.extend(wrapped(&format!("{sign} {text}"), width, ambiguous, role));
    }
    if let Some(t) = &d.transition {
        lines.push(Line::of(tr!("reward {reward}", reward = format::reward(t.reward)), Role::Text));
    }
    let (a, b) = if sign == "-" { (Some(d), None) } else { (None, Some(d)) };
    cost(lines, a, b);
}

fn both(lines: &mut Vec<Line>, diff: &EpisodeDiff, item: usize, (a, b): (&Decision, &Decision), width: u16, ambiguous: Ambiguous) {
    let parts: Vec<String> = diff.rows.get(item).map(|row| row.parts.iter().map(|p| part(*p)).collect()).unwrap_or_default();
    match parts.is_empty() {
        true => lines.push(Line::of(tr!("= the same"), Role::Dim)),
        false => lines.extend(wrapped(&format!("~ {}", parts.join(", ")), width, ambiguous, Role::Warn)),
    }
    let words = token_diff(a.message.as_ref(), b.message.as_ref());
    if !words.pairs.is_empty() {
        lines.push(Line::of(tr!("thought"), Role::Title));
        lines.extend(thought(&words, width, ambiguous));
    }
    lines.push(Line::of(tr!("action"), Role::Title));
    action(lines, (a, b), (width, ambiguous));
    let differences = diff.differences(item);
    for (title, is_it) in sections() {
        let found: Vec<&Difference> = differences.iter().filter(|d| is_it(d)).collect();
        if !found.is_empty() {
            lines.push(Line::of(title, Role::Title));
            lines.extend(found.iter().flat_map(|d| wrapped(&format!("~ {}", told(d)), width, ambiguous, Role::Text)));
        }
    }
    cost(lines, Some(a), Some(b));
    if !words.pairs.is_empty() {
        tokens(lines, &words, width);
    }
}

type Section = (String, fn(&Difference) -> bool);

fn sections() -> [Section; 4] {
    [
        (tr!("result"), |d| matches!(d, Difference::Result { .. } | Difference::Message { .. })),
        (tr!("reward and state"), |d| matches!(d, Difference::Reward { .. } | Difference::Ends { .. } | Difference::Hash { .. })),
        (tr!("confidence"), |d| matches!(d, Difference::Drift { .. } | Difference::Value { .. })),
        (tr!("observation"), |d| matches!(d, Difference::Field { .. } | Difference::Observation { .. })),
    ]
}

/// What of a decision differs, in a word.
pub fn part(part: crate::source::diff::Part) -> String {
    use crate::source::diff::Part;
    match part {
        Part::Observation => tr!("observation"),
        Part::Thought => tr!("thought"),
        Part::Action => tr!("action"),
        Part::Result => tr!("result"),
        Part::Reward => tr!("reward"),
        Part::State => tr!("state"),
        Part::Confidence => tr!("confidence"),
    }
}

/// The thought, with what only one of the two says between signs.
fn thought(words: &WordDiff, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let mut pieces: Vec<(String, Role)> = Vec::new();
    for run in words.pairs.chunk_by(|x, y| (x.0.is_some(), x.1.is_some()) == (y.0.is_some(), y.1.is_some())) {
        let joined = |tokens: &[Token], of: fn(&TokenPair) -> Option<usize>| {
            run.iter().filter_map(|p| tokens.get(of(p)?)).map(|t| t.text.as_str()).collect::<String>()
        };
        match run.first() {
            Some((Some(_), Some(_))) => pieces.push((joined(&words.a, |p| p.0), Role::Thought)),
            Some((Some(_), None)) => pieces.push((format!("[-{}-]", joined(&words.a, |p| p.0)), Role::Bad)),
            Some((None, _)) => pieces.push((format!("{{+{}+}}", joined(&words.b, |p| p.1)), Role::Good)),
            None => {}
        }
    }
    flowed(&pieces, width, ambiguous)
}

/// Pieces behind each other, broken where a line is full.
fn flowed(pieces: &[(String, Role)], width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut line: Vec<(u16, String, Role)> = Vec::new();
    let mut x = 0u16;
    for (text, role) in pieces {
        let text = text.replace('\n', " ");
        let mut piece = String::new();
        let mut from = x;
        for grapheme in text::graphemes(&text) {
            let cells = text::grapheme_width(grapheme, ambiguous) as u16;
            if x + cells > width && x > 0 {
                line.push((from, std::mem::take(&mut piece), *role));
                lines.push(Line(std::mem::take(&mut line)));
                (x, from) = (0, 0);
            }
            piece.push_str(grapheme);
            x = x.saturating_add(cells);
        }
        if !piece.is_empty() {
            line.push((from, piece, *role));
        }
    }
    if !line.is_empty() {
        lines.push(Line(line));
    }
    lines
}

fn action(lines: &mut Vec<Line>, (a, b): (&Decision, &Decision), (width, ambiguous): (u16, Ambiguous)) {
    let does = |d: &Decision| d.action().map_or_else(|| tr!("no action"), |t| t.replace('\n', " "));
    if a.action_key() == b.action_key() {
        lines.extend(wrapped(&format!("= {}", does(a)), width, ambiguous, Role::Action));
        return;
    }
    lines.extend(wrapped(&format!("- {}", does(a)), width, ambiguous, Role::Bad));
    lines.extend(wrapped(&format!("+ {}", does(b)), width, ambiguous, Role::Good));
    if let (Some(a), Some(b)) = (a.tool_call(), b.tool_call())
        && a.name == b.name
    {
        lines.extend(arguments(a, b).into_iter().flat_map(|line| wrapped(&line, width, ambiguous, Role::Text).collect::<Vec<_>>()));
    }
}

/// The arguments in which two calls of one tool differ.
fn arguments(a: &ToolCall, b: &ToolCall) -> Vec<String> {
    let mut names: Vec<&String> = a.arguments.keys().chain(b.arguments.keys()).collect();
    names.sort();
    names.dedup();
    let line = |name: &String| match (a.arguments.get(name), b.arguments.get(name)) {
        (Some(a), Some(b)) if a == b => None,
        (Some(a), Some(b)) => Some(format!("  ~ {name}: {a} -> {b}")),
        (Some(a), None) => Some(format!("  - {name}: {a}")),
        (None, b) => b.map(|b| format!("  + {name}: {b}")),
    };
    names.into_iter().filter_map(line).collect()
}

fn cost(lines: &mut Vec<Line>, a: Option<&Decision>, b: Option<&Decision>) {
    let of = |d: Option<&Decision>| {
        let d = d?;
        let think = format::or_unset(d.message.as_ref(), |m| format::duration(m.duration_ns));
        Some(tr!("{n} tokens, {think} thinking, {tool} in tools", n = d.tokens(), think = think, tool = format::duration(d.tool_ns)))
    };
    lines.push(Line::of(tr!("cost"), Role::Title));
    for (letter, text) in [("A", of(a)), ("B", of(b))] {
        lines.extend(text.map(|text| Line::of(format!("{letter} {text}"), Role::Text)));
    }
}

/// Every token with both log-probabilities.
fn tokens(lines: &mut Vec<Line>, words: &WordDiff, width: u16) {
    let (in_a, in_b) = if width >= 44 { (21, 33) } else { (14, 25) };
    lines.push(Line(vec![(0, tr!("token"), Role::Title), (in_a, tr!("log-prob A"), Role::Dim), (in_b, "B".to_owned(), Role::Dim)]));
    for (a, b) in &words.pairs {
        let (a, b) = (a.and_then(|n| words.a.get(n)), b.and_then(|n| words.b.get(n)));
        let (sign, role) = match (a, b) {
            (Some(_), Some(_)) => ("=", Role::Text),
            (Some(_), None) => ("-", Role::Bad),
            (None, _) => ("+", Role::Good),
        };
        let figure = |t: Option<&Token>| if t.is_some() { logprob(t) } else { String::new() };
        let text = format!("{sign} {}", super::quoted(a.or(b)));
        lines.push(Line(vec![(0, text, role), (in_a, figure(a), Role::Text), (in_b, figure(b), Role::Text)]));
    }
}
