//! The memory screen's own panes: what the prompt is made of, and what became of older steps.

use super::{Pane, labelled, notice};
use crate::event::SafeText;
use crate::state::{LaneState, MemoryRow, RowKind};
use crate::ui::lang::tr;
use crate::ui::view::Context;
use crate::ui::widgets::text::Ambiguous;
use crate::ui::widgets::{Canvas, Role, format, gauge, text};

type Lines = Vec<(String, Role)>;

/// What the model read last: how long it was, how much of it was still in the cache, its newest observation.
pub fn draw_prompt(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let mut inner = pane.open(canvas, "");
    let Some(lane) = pane.lane() else {
        notice(&mut inner, &tr!("waiting for the first episode"));
        return;
    };
    figures(&mut inner, lane, pane.ctx);
    let mut below = inner.below(FIGURES + 1);
    let lines = prompt_lines(lane, below.width() as usize, below.glyphs().ambiguous);
    scrolled(&mut below, &lines, pane);
}

fn prompt_lines(lane: &LaneState, width: usize, ambiguous: Ambiguous) -> Lines {
    let mut lines = vec![(tr!("goal"), Role::Dim)];
    lines.extend(text::wrap(&lane.episode.goal, width, ambiguous).into_iter().map(|l| (l, Role::Text)));
    if let Some((shown, compact)) = last_observation(lane) {
        for (head, body) in [(tr!("newest observation, as people read it"), shown), (tr!("and as the model reads it"), compact)] {
            lines.push((String::new(), Role::Text));
            lines.push((head, Role::Dim));
            lines.extend(text::wrap(body.trim(), width, ambiguous).into_iter().map(|l| (l, Role::Observation)));
        }
    }
    lines
}

/// Rows of the figures above the prompt's texts.
const FIGURES: u16 = 4;

fn figures(inner: &mut Canvas<'_>, lane: &LaneState, ctx: &Context<'_>) {
    let episode = &lane.episode;
    let tokens = super::memory::prompt_tokens(ctx, lane);
    let tokens = tokens.unwrap_or_else(|| tr!("n/a (no message yet)"));
    let names = [tr!("prompt"), tr!("cached"), tr!("memory")];
    let least = names.iter().map(|name| inner.measure(name)).fold(7, u16::max);
    let [prompt, kept, recalled] = names;
    let mut y = labelled(inner, 0, least, &[(prompt, tokens, Role::Text)]);
    let max = ctx.state.policy.as_ref().and_then(|p| p.context_tokens_max);
    if let (Some(used), Some(max)) = (episode.prompt_tokens, max.filter(|m| *m > 0)) {
        let cells = inner.width().saturating_sub(least + 1).min(40);
        let bar = gauge(f64::from(used) / f64::from(max), cells, inner.glyphs());
        inner.text(least + 1, y, &bar, Role::Curve);
    }
    y += 1;
    let cached = episode.cached_tokens.zip(episode.prompt_tokens).map(|(cached, all)| {
        let share = format::percent_whole(f64::from(cached) / f64::from(all.max(1)));
        tr!("{n} tokens ({share}) were not read again", n = cached, share = share)
    });
    y = labelled(inner, y, least, &[(kept, format::or_unset(cached, |c| c), Role::Text)]);
    let (times, before, after) = episode
        .memories
        .iter()
        .fold((episode.memories.total(), 0u64, 0u64), |(n, b, a), m| (n, b + u64::from(m.before), a + u64::from(m.after)));
    let memory = match times {
        0 => tr!("no step was compressed yet"),
        n => tr!("compressed {n} times, {before} -> {after} tokens", n = n, before = format::count(before), after = format::count(after)),
    };
    labelled(inner, y, least, &[(recalled, memory, Role::Text)]);
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
    let Some(memories) = memories.filter(|m| !m.is_empty()) else {
        notice(&mut inner, &tr!("nothing was compressed in this episode: every step stands in the prompt word for word"));
        return;
    };
    let lines = recall_lines(memories.iter().rev(), inner.width() as usize, inner.glyphs().ambiguous);
    scrolled(&mut inner, &lines, pane);
}

fn recall_lines<'m>(newest_first: impl Iterator<Item = &'m MemoryRow>, width: usize, ambiguous: Ambiguous) -> Lines {
    let mut lines = Vec::new();
    for memory in newest_first {
        let ratio =
            if memory.after > 0 { format!(" ({:.1}:1)", f64::from(memory.before) / f64::from(memory.after)) } else { String::new() };
        let head = tr!(
            "step {n}: {before} -> {after} tokens{ratio}",
            n = memory.step,
            before = memory.before,
            after = memory.after,
            ratio = ratio
        );
        lines.push((head, Role::Strong));
        let body = if memory.summary.trim().is_empty() { tr!("held nothing to keep") } else { memory.summary.trim().to_owned() };
        lines.extend(text::wrap(&body, width, ambiguous).into_iter().map(|l| (l, Role::Text)));
        lines.push((String::new(), Role::Text));
    }
    lines
}

fn scrolled(canvas: &mut Canvas<'_>, lines: &[(String, Role)], pane: &Pane<'_>) {
    let max = lines.len().saturating_sub(canvas.height() as usize);
    let skip = pane.scroll().up.min(max);
    for (y, (line, role)) in (0..canvas.height()).zip(lines.iter().skip(skip)) {
        canvas.text(0, y, line, *role);
    }
    if max > skip && canvas.height() > 1 {
        let (end, y) = (canvas.width(), canvas.height() - 1);
        canvas.text_before(end, y, &tr!("{n} more lines", n = max - skip), Role::Dim);
    }
}

/// How far the prompt's texts can be scrolled in a pane whose inside has that many columns and rows.
pub fn prompt_scroll_max(lane: Option<&LaneState>, (width, height): (u16, u16)) -> usize {
    let lines = lane.map_or(0, |lane| prompt_lines(lane, width as usize, Ambiguous::Narrow).len());
    lines.saturating_sub(height.saturating_sub(FIGURES + 1) as usize)
}

/// The same of the summaries.
pub fn recall_scroll_max(lane: Option<&LaneState>, (width, height): (u16, u16)) -> usize {
    let lines = lane.map_or(0, |lane| recall_lines(lane.episode.memories.iter(), width as usize, Ambiguous::Narrow).len());
    lines.saturating_sub(height as usize)
}
