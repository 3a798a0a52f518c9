//! Memory and state: the numbers that the agent saw last, with units, and what its prompt costs.

use super::Pane;
use super::lines::{self, Line, labelled, wrapped};
use super::recall::{cached, compressed, observation_lines, recall_lines};
use super::replay::Scene;
use crate::event::{Phase, Unit};
use crate::state::{DashState, LaneState};
use crate::ui::lang::tr;
use crate::ui::view::ScreenId;
use crate::ui::widgets::text::{self, Ambiguous};
use crate::ui::widgets::{Canvas, Role, format};
use std::collections::BTreeMap;

/// `context 310/1.0k tokens`; unset before the first message.
pub fn context_tokens(state: &DashState, lane: &LaneState) -> Option<String> {
    prompt_tokens(state, lane).map(|tokens| tr!("context {tokens}", tokens = tokens))
}

/// `310/1.0k tokens`; unset before the first message.
pub fn prompt_tokens(state: &DashState, lane: &LaneState) -> Option<String> {
    let max = state.policy.as_ref().and_then(|p| p.context_tokens_max);
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
    let badge = pane.lane().map(|l| tr!("step {n}", n = l.episode.step)).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    let lines = lines(Scene::of(pane.ctx), inner.width(), inner.glyphs().ambiguous);
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All that the pane has to say.
pub fn lines(scene: Scene<'_>, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let Some(lane) = scene.state.lane(scene.view.lane) else {
        return wrapped(&tr!("waiting for the first episode"), width, ambiguous, Role::Dim).collect();
    };
    let mut lines: Vec<Line> = labelled(figures(scene.state, lane), ambiguous).collect();
    lines.extend(super::replay::watch_lines(scene.desk, scene.state, scene.view.lane).into_iter().map(|(line, role)| Line::of(line, role)));
    lines.push(Line::of("", Role::Text));
    lines.extend(value_lines(lane, width, ambiguous));
    // The memory screen has panes for these.
    if scene.view.screen == ScreenId::Live {
        lines.extend([Line::of("", Role::Text), Line::of(tr!("compressed memory, the newest first"), Role::Dim)]);
        lines.extend(recall_lines(lane, width, ambiguous));
        lines.extend(observation_lines(lane, width, ambiguous));
    }
    lines
}

fn figures(state: &DashState, lane: &LaneState) -> Vec<(String, String, Role)> {
    let episode = &lane.episode;
    let place = tr!("{n}  level {level}  seed {seed}", n = episode.episode, level = episode.level, seed = episode.seed);
    let phase = lane.phase.map_or_else(|| tr!("n/a (before the first)"), phase_word);
    let tokens = prompt_tokens(state, lane).unwrap_or_else(|| tr!("n/a (no message yet)"));
    let ratio = |r: f64| tr!("{ratio}:1 at the last compression", ratio = format!("{r:.1}"));
    let memory = episode.compression_ratio_last.map_or_else(|| tr!("nothing kept"), ratio);
    let errors = format::counted(u64::from(episode.tool_errors), "tool error");
    vec![
        (tr!("episode"), place, Role::Text),
        (tr!("phase"), phase, Role::Text),
        (tr!("prompt"), tokens, Role::Text),
        (tr!("cached"), cached(lane), Role::Text),
        (tr!("memory"), memory, Role::Text),
        (String::new(), compressed(lane), Role::Dim),
        (tr!("errors"), errors, if episode.tool_errors > 0 { Role::Warn } else { Role::Text }),
        (tr!("hash"), format!("{:016x}", episode.state_hash), Role::Dim),
    ]
}

/// The newest observation in numbers.
fn value_lines(lane: &LaneState, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    if lane.episode.values.is_empty() {
        return wrapped(&tr!("waiting for the first observation"), width, ambiguous, Role::Dim).collect();
    }
    match pivot(lane) {
        Some(table) if usize::from(width) >= 8 + 10 * table.columns.len() => table_lines(&table, width, ambiguous),
        Some(_) | None => list_lines(lane, width, ambiguous),
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

/// A value that ends before column `end`, a blank between it and what stands before.
fn before(end: u16, value: &str, ambiguous: Ambiguous) -> (u16, String) {
    (end.saturating_sub(text::width(value, ambiguous) as u16 + 1), format!(" {value}"))
}

fn table_lines(table: &Table, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let count = table.columns.len() as u16;
    let cells = 10.min(width / (count + 1));
    let names = width.saturating_sub(cells * count).min(14);
    let row = |name: &str, roles: (Role, Role), values: &[String]| {
        let cell = |(index, value): (u16, &String)| {
            let (x, value) = before(names + cells * (index + 1), value, ambiguous);
            (x, value, roles.1)
        };
        Line(std::iter::once((0, name.to_owned(), roles.0)).chain((0u16..).zip(values).map(cell)).collect())
    };
    let mut lines = vec![Line::of(tr!("last observation"), Role::Dim), row("", (Role::Dim, Role::Dim), &table.columns)];
    lines.extend(table.rows.iter().map(|(name, values)| row(name, (Role::Observation, Role::Text), values)));
    lines
}

fn list_lines(lane: &LaneState, width: u16, ambiguous: Ambiguous) -> Vec<Line> {
    let fields = &lane.episode.fields;
    let line = |(index, value): (usize, &Option<f64>)| {
        let (name, unit) =
            fields.get(index).map_or_else(|| (tr!("value {index}", index = index), Unit::None), |f| (f.name.clone(), f.unit));
        let (x, value) = before(width.min(40), &reading(*value, unit), ambiguous);
        Line(vec![(0, name, Role::Observation), (x, value, Role::Text)])
    };
    lane.episode.values.iter().enumerate().map(line).collect()
}
