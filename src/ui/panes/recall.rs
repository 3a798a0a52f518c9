//! The memory screen's own panes: what the prompt is made of, and what became of older steps.

use super::lines::{self, Line, labelled, wrapped};
use super::memory::prompt_tokens;
use super::{Pane, notice};
use crate::event::SafeText;
use crate::state::{DashState, LaneState, MemoryRow, RowKind};
use crate::ui::lang::tr;
use crate::ui::widgets::text::{self, Ambiguous};
use crate::ui::widgets::{Canvas, Glyphs, Role, format, gauge};

/// What the model read last: how long it was, how much of it was still in the cache, its newest observation.
pub fn draw_prompt(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    let Some(lane) = pane.lane() else {
        notice(&mut inner, &tr!("waiting for the first episode"));
        return;
    };
    let lines = prompt_lines(pane.ctx.state, lane, inner.width(), inner.glyphs());
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All that there is to say of the prompt.
pub fn prompt_lines(state: &DashState, lane: &LaneState, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let ambiguous = glyphs.ambiguous;
    let tokens = prompt_tokens(state, lane).unwrap_or_else(|| tr!("n/a (no message yet)"));
    let names = [tr!("prompt"), tr!("cached"), tr!("memory")];
    let value_at = names.iter().map(|name| text::width(name, ambiguous)).max().unwrap_or(0) as u16 + 1;
    let [prompt, kept, recalled] = names;
    let figures = vec![(prompt, tokens, Role::Text), (kept, cached(lane), Role::Text), (recalled, compressed(lane), Role::Text)];
    let mut lines: Vec<Line> = labelled(figures, ambiguous).collect();
    let max = state.policy.as_ref().and_then(|p| p.context_tokens_max);
    if let (Some(used), Some(max)) = (lane.episode.prompt_tokens, max.filter(|m| *m > 0)) {
        let cells = width.saturating_sub(value_at).min(40);
        lines.insert(1, Line(vec![(value_at, gauge(f64::from(used) / f64::from(max), cells, glyphs), Role::Curve)]));
    }
    lines.extend([Line::of("", Role::Text), Line::of(tr!("goal"), Role::Dim)]);
    lines.extend(wrapped(&lane.episode.goal, width, ambiguous, Role::Text));
    lines.push(Line::of("", Role::Text));
    lines.extend(observation_lines(lane, width, ambiguous));
    lines
}

/// The newest observation, as people and as the model read it.
pub fn observation_lines(lane: &LaneState, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let Some((shown, compact)) = last_observation(lane) else { return Vec::new() };
    let mut lines = vec![Line::of(tr!("newest observation, as people read it"), Role::Dim)];
    lines.extend(wrapped(shown.trim(), width, ambiguous, Role::Observation));
    lines.extend([Line::of("", Role::Text), Line::of(tr!("and as the model reads it"), Role::Dim)]);
    lines.extend(wrapped(compact.trim(), width, ambiguous, Role::Observation));
    lines
}

/// How much of the prompt was not read again.
pub fn cached(lane: &LaneState) -> String {
    let (cached, all) = (lane.episode.cached_tokens, lane.episode.prompt_tokens);
    format::or_unset(cached.zip(all), |(cached, all)| {
        let share = format::percent_whole(f64::from(cached) / f64::from(all.max(1)));
        tr!("{n} tokens ({share}) were not read again", n = cached, share = share)
    })
}

/// What came of all compressions in this episode.
pub fn compressed(lane: &LaneState) -> String {
    let [before, after] = [lane.episode.compressed_before, lane.episode.compressed_after].map(format::count);
    match lane.episode.memories.total() {
        0 => tr!("no step was compressed yet"),
        1 => tr!("compressed once, {before} -> {after} tokens", before = before, after = after),
        n => tr!("compressed {n} times, {before} -> {after} tokens", n = n, before = before, after = after),
    }
}

fn last_observation(lane: &LaneState) -> Option<(&SafeText, &SafeText)> {
    lane.transcript
        .rows
        .iter()
        .rev()
        .find_map(|row| if let RowKind::Observation { text, compact } = &row.kind { Some((text, compact)) } else { None })
}

/// The summaries that stand for older steps, the newest first.
pub fn draw_recall(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let memories = pane.lane().map(|l| &l.episode.memories);
    let badge = memories.map(|m| m.total().to_string()).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    let Some(lane) = pane.lane() else {
        notice(&mut inner, &tr!("waiting for the first episode"));
        return;
    };
    let lines = recall_lines(lane, inner.width(), inner.glyphs().ambiguous);
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All summaries, the newest first.
pub fn recall_lines(lane: &LaneState, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let memories = &lane.episode.memories;
    if memories.is_empty() {
        let none = tr!("nothing was compressed in this episode: every step stands in the prompt word for word");
        return wrapped(&none, width, ambiguous, Role::Dim).chain([Line::of("", Role::Text)]).collect();
    }
    memories.iter().rev().flat_map(|memory| summary_lines(memory, width, ambiguous)).collect()
}

fn summary_lines(memory: &MemoryRow, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let ratio = if memory.after > 0 { format!(" ({:.1}:1)", f64::from(memory.before) / f64::from(memory.after)) } else { String::new() };
    let head =
        tr!("step {n}: {before} -> {after} tokens{ratio}", n = memory.step, before = memory.before, after = memory.after, ratio = ratio);
    let body = if memory.summary.trim().is_empty() { tr!("held nothing to keep") } else { memory.summary.trim().to_owned() };
    let mut lines = vec![Line::of(head, Role::Strong)];
    lines.extend(wrapped(&body, width, ambiguous, Role::Text));
    lines.push(Line::of("", Role::Text));
    lines
}
