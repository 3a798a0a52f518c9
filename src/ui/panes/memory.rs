//! Memory and state: the numbers that the agent saw last, with units, and what its prompt costs.

use super::{Pane, labelled, notice};
use crate::event::{Phase, Unit};
use crate::state::LaneState;
use crate::ui::lang::tr;
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role, format};
use std::collections::BTreeMap;

/// `context 310/1.0k tokens`; unset before the first message.
pub fn context_tokens(ctx: &Context<'_>, lane: &LaneState) -> Option<String> {
    prompt_tokens(ctx, lane).map(|tokens| tr!("context {tokens}", tokens = tokens))
}

/// `310/1.0k tokens`; unset before the first message.
pub fn prompt_tokens(ctx: &Context<'_>, lane: &LaneState) -> Option<String> {
    let max = ctx.state.policy.as_ref().and_then(|p| p.context_tokens_max);
    lane.episode.prompt_tokens.map(|n| match max {
        Some(max) => tr!("{n}/{max} tokens", n = format::count(u64::from(n)), max = format::count(u64::from(max))),
        None => tr!("{n} tokens", n = format::count(u64::from(n))),
    })
}

/// A word for a phase.
pub fn phase_word(phase: Phase) -> String {
    match phase {
        Phase::Observe => tr!("observe"),
        Phase::Think => tr!("think"),
        Phase::Act => tr!("act"),
        Phase::Settle => tr!("settle"),
    }
}

/// A value of an observation with its unit.
pub fn reading(value: Option<f64>, unit: Unit) -> String {
    format::or_unset(value, |v| match unit {
        Unit::Milliseconds => format!("{} ms", format::number(v)),
        Unit::Seconds => format!("{} s", format::number(v)),
        Unit::PerSecond => format!("{}/s", format::number(v)),
        Unit::Ratio => format::percent(v),
        Unit::Bytes => format::bytes(v),
        Unit::Count if v.fract() == 0.0 => format!("{v:.0}"),
        Unit::Count | Unit::None => format::number(v),
    })
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let lane = pane.lane();
    let badge = lane.map(|l| tr!("step {n}", n = l.episode.step)).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    let Some(lane) = lane else {
        notice(&mut inner, &tr!("waiting for the first episode"));
        return;
    };
    let y = draw_episode(&mut inner, pane.ctx, lane);
    draw_values(&mut inner.below(y + 1), lane);
}

fn draw_episode(inner: &mut Canvas<'_>, ctx: &Context<'_>, lane: &LaneState) -> u16 {
    let episode = &lane.episode;
    let place = tr!("{n}  level {level}  seed {seed}", n = episode.episode, level = episode.level, seed = episode.seed);
    let phase = lane.phase.map_or_else(|| tr!("n/a (before the first)"), phase_word);
    let tokens = prompt_tokens(ctx, lane).unwrap_or_else(|| tr!("n/a (no message yet)"));
    let ratio = |r: f64| tr!("{ratio}:1 at the last compression", ratio = format!("{r:.1}"));
    let memory = episode.compression_ratio_last.map_or_else(|| tr!("nothing kept"), ratio);
    let errors = format::counted(u64::from(episode.tool_errors), "tool error");
    let lines = [
        (tr!("episode"), place, Role::Text),
        (tr!("phase"), phase, Role::Text),
        (tr!("prompt"), tokens, Role::Text),
        (tr!("memory"), memory, Role::Text),
        (tr!("errors"), errors, if episode.tool_errors > 0 { Role::Warn } else { Role::Text }),
        (tr!("hash"), format!("{:016x}", episode.state_hash), Role::Dim),
    ];
    let mut y = labelled(inner, 0, 0, &lines);
    for (line, role) in super::replay::watch_lines(ctx.desk, ctx.state, ctx.view.lane) {
        inner.text_upto(0, inner.width(), y, &line, role);
        y += 1;
    }
    y
}

fn draw_values(below: &mut Canvas<'_>, lane: &LaneState) {
    let episode = &lane.episode;
    if episode.values.is_empty() {
        notice(below, &tr!("waiting for the first observation"));
        return;
    }
    match pivot(lane) {
        Some(table) if usize::from(below.width()) >= 8 + 10 * table.columns.len() => draw_table(below, &table),
        Some(_) | None => draw_list(below, lane),
    }
}

/// Fields named `service.metric` as a table, where each service has the same metrics.
struct Table {
    columns: Vec<String>,
    /// In the order in which they came.
    rows: Vec<(String, Vec<String>)>,
}

fn pivot(lane: &LaneState) -> Option<Table> {
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for (field, value) in lane.episode.fields.iter().zip(&lane.episode.values) {
        let (name, metric) = field.name.rsplit_once('.')?;
        let at = *index.entry(name).or_insert_with(|| {
            rows.push((crate::event::SafeText::new(name).to_string(), Vec::new()));
            rows.len() - 1
        });
        if at == 0 {
            columns.push(crate::event::SafeText::new(metric).to_string());
        }
        let cells = &mut rows.get_mut(at)?.1;
        if columns.get(cells.len()).map(String::as_str) != Some(metric) {
            return None;
        }
        cells.push(reading(*value, field.unit));
    }
    rows.iter().all(|(_, cells)| cells.len() == columns.len()).then_some(Table { columns, rows })
}

fn draw_table(below: &mut Canvas<'_>, table: &Table) {
    let width = below.width();
    let cells = 10.min(width / (table.columns.len() as u16 + 1));
    let name_width = width.saturating_sub(cells * table.columns.len() as u16).min(14);
    below.text(0, 0, &tr!("last observation"), Role::Dim);
    let mut x = name_width;
    for column in &table.columns {
        x += cells;
        below.text_before(x, 1, column, Role::Dim);
    }
    for (y, (name, values)) in (2u16..).zip(&table.rows) {
        below.text_upto(0, name_width, y, name, Role::Observation);
        let mut x = name_width;
        for value in values {
            x += cells;
            below.text_before(x, y, value, Role::Text);
        }
    }
}

fn draw_list(below: &mut Canvas<'_>, lane: &LaneState) {
    let width = below.width();
    let fields = &lane.episode.fields;
    for (y, (index, value)) in (0..below.height()).zip(lane.episode.values.iter().enumerate()) {
        let (name, unit) =
            fields.get(index).map_or_else(|| (tr!("value {index}", index = index), Unit::None), |f| (f.name.clone(), f.unit));
        let start = below.text_before(width.min(40), y, &reading(*value, unit), Role::Text);
        below.text_upto(0, start.saturating_sub(1), y, &name, Role::Observation);
    }
}
