//! The state at the playhead: reward and its parts, the policy's figures, memory, tools, the observation and how it changed.

use super::Scene;
use crate::event::{LaneId, Unit};
use crate::state::{CurrentEpisode, LaneState, Outcome, Row, RowKind};
use crate::ui::desk::Desk;
use crate::ui::lang::tr;
use crate::ui::panes::chain_rows::error_word;
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::panes::memory::reading;
use crate::ui::panes::{Pane, notice};
use crate::ui::stops;
use crate::ui::widgets::{Canvas, Glyphs, Role, format};

/// A line: a label, and a value behind it.
pub type Text = (String, Role);

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let badge = scene.state.lane(scene.view.lane).map(|l| format!("{} {}", tr!("step"), l.episode.step)).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    let lines = lines(scene, inner.width(), inner.glyphs());
    if lines.is_empty() {
        notice(&mut inner, &tr!("no step is played yet"));
        return;
    }
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

/// All that the pane has to say, in lines of at most `width` cells.
pub fn lines(scene: Scene<'_>, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let Some(lane) = scene.state.lane(scene.view.lane) else { return Vec::new() };
    let mut out = Vec::new();
    rewards(scene, &lane.episode, &mut out);
    policy(scene, lane, &mut out);
    memory(scene, lane, &mut out);
    tools(scene, lane, &mut out);
    out.extend(watch_lines(scene.desk, scene.state, scene.view.lane));
    observation(scene, &lane.episode, &mut out);
    out.push((tr!("[b] break here  [w] watch"), Role::Dim));
    out.into_iter().flat_map(|(line, role)| wrapped(&line, width, glyphs.ambiguous, role)).collect()
}

fn rewards(scene: Scene<'_>, episode: &CurrentEpisode, out: &mut Vec<Text>) {
    let step = format::or_unset(episode.reward_last, format::reward);
    out.push((tr!("reward   step {step}  sum {sum}", step = step, sum = format::number(episode.reward_sum)), Role::Text));
    let formula = scene.state.run.as_ref().map(|r| r.reward);
    if let Some(f) = formula {
        let (disc, last) = (format::number(episode.discounted_sum), episode.ended.as_ref().map(|e| e.final_reward));
        let last = format::or_unset(last, format::number);
        out.push((format!(" {}*disc {disc} + {}*final {last}", f.step_weight, f.final_weight), Role::Text));
    }
    let hybrid = format::or_unset(episode.ended.as_ref().map(|e| e.hybrid), format::number);
    let reason = if episode.ended.is_none() { format!(" {}", tr!("(at its end)")) } else { String::new() };
    out.push((tr!("hybrid   {hybrid}{reason}", hybrid = hybrid, reason = reason), Role::Text));
    let gamma = format::or_unset(formula.map(|f| f.gamma), |g| g.to_string());
    let value = scene.track().and_then(|t| t.beat_at(scene.state.seq).and_then(|i| t.beats[i].value));
    out.push((tr!("gamma {gamma}  value {value}  adv n/a", gamma = gamma, value = format::or_unset(value, format::number)), Role::Text));
}

fn rows_of_step<'a>(scene: Scene<'_>, lane: &'a LaneState) -> impl Iterator<Item = &'a Row> + use<'a> {
    let (episode, step) = (lane.episode.episode, lane.episode.step);
    let seq = scene.state.seq;
    let newest = lane.transcript.rows.iter().rev().take_while(move |r| r.episode == episode);
    newest.filter(move |r| r.step == step && r.seq <= seq)
}

fn policy(scene: Scene<'_>, lane: &LaneState, out: &mut Vec<Text>) {
    let name = lane.episode.checkpoint.as_ref().map(ToString::to_string);
    let agent = name.or_else(|| scene.state.run.as_ref().map(|r| r.agent.to_string()));
    out.push((tr!("policy   {name}", name = agent.unwrap_or_else(|| format::UNSET.into())), Role::Text));
    let thought = rows_of_step(scene, lane).find_map(|r| match &r.kind {
        RowKind::Thought { tokens, logprob_mean, entropy_mean, .. } => Some((*tokens, *logprob_mean, *entropy_mean)),
        RowKind::EpisodeStart { .. }
        | RowKind::Observation { .. }
        | RowKind::Action { .. }
        | RowKind::Text { .. }
        | RowKind::Compressed { .. }
        | RowKind::Swapped { .. }
        | RowKind::EpisodeEnd { .. }
        | RowKind::Note { .. } => None,
    });
    let figure = |value: Option<f32>| format::or_unset(value, |v| format!("{v:.2}"));
    out.push(match thought {
        Some((tokens, logprob, entropy)) => (
            tr!("message  logp {logp}  entropy {entropy}  {n} tokens", logp = figure(logprob), entropy = figure(entropy), n = tokens),
            Role::Text,
        ),
        None => (tr!("message  n/a (none yet in this step)"), Role::Dim),
    });
}

fn memory(scene: Scene<'_>, lane: &LaneState, out: &mut Vec<Text>) {
    let max = scene.state.policy.as_ref().and_then(|p| p.context_tokens_max);
    let tokens = lane.episode.prompt_tokens.map(|n| match max {
        Some(max) => format!("{n}/{max}"),
        None => n.to_string(),
    });
    out.push((tr!("prompt   {tokens} tokens", tokens = tokens.unwrap_or_else(|| format::UNSET.into())), Role::Text));
    let ratio = lane.episode.compression_ratio_last;
    out.push((tr!("memory   {ratio}", ratio = ratio.map_or_else(|| tr!("nothing compressed"), |r| format!("{r:.1}:1"))), Role::Text));
    for row in rows_of_step(scene, lane) {
        if let RowKind::Compressed { before, after, .. } = &row.kind {
            out.push((format!(" + {}", tr!("compressed {before} -> {after} tokens", before = before, after = after)), Role::Strong));
        }
    }
}

fn tools(scene: Scene<'_>, lane: &LaneState, out: &mut Vec<Text>) {
    let mut any = false;
    for row in rows_of_step(scene, lane) {
        let RowKind::Action { call, outcome, .. } = &row.kind else { continue };
        any = true;
        let (status, role) = match outcome {
            None => (tr!("in flight"), Role::Warn),
            Some(Outcome { error_type: Some(e), duration_ns, .. }) => {
                (format!("E {} {}", error_word(*e), format::duration(*duration_ns)), Role::Bad)
            }
            Some(Outcome { error_type: None, duration_ns, .. }) => (format!("ok {}", format::duration(*duration_ns)), Role::Text),
        };
        out.push((tr!("tools    {name} {status}", name = call.name, status = status), role));
    }
    if !any {
        out.push((tr!("tools    none yet in this step"), Role::Dim));
    }
}

/// Watched expressions: what they come to, or whether they hold in this step and how often they did.
pub fn watch_lines(desk: &Desk, state: &crate::state::DashState, lane: LaneId) -> Vec<Text> {
    let line = |stop: &stops::Stop| {
        if let Some(ledger) = &stop.ledger {
            let (value, is_new) = stops::comes_to(stop, ledger, lane, desk, state);
            let role = if is_new { Role::Strong } else { Role::Text };
            return (tr!("watch    {text}: {value}", text = stop.text, value = value), role);
        }
        let (here, role) =
            if stops::holds_here(stop, desk, state) { (tr!("true here"), Role::Strong) } else { (tr!("not here"), Role::Text) };
        (tr!("watch    {text}: {here}, {held}", text = stop.text, here = here, held = stops::held(stop, desk, state)), role)
    };
    desk.stops.watches().map(line).collect()
}

fn observation(scene: Scene<'_>, episode: &CurrentEpisode, out: &mut Vec<Text>) {
    if episode.values.is_empty() {
        out.push((tr!("observation n/a (none yet)"), Role::Dim));
        return;
    }
    out.push((tr!("observation, ~ changed since the step before"), Role::Dim));
    let before = scene.track().and_then(|t| {
        let at = t.beats.iter().position(|b| b.step == episode.step)?;
        at.checked_sub(1).map(|at| t.beats[at].values.as_slice())
    });
    for (index, value) in episode.values.iter().enumerate() {
        let field = episode.fields.get(index);
        let unit = field.map_or(Unit::None, |f| f.unit);
        let name = field.map_or_else(|| tr!("value {index}", index = index), |f| f.name.clone());
        let now = reading(*value, unit);
        let was = before.and_then(|b| b.get(index)).map(|v| reading(*v, unit)).filter(|was| *was != now);
        out.push(match was {
            Some(was) => (format!("~ {name} {was} -> {now}"), Role::Strong),
            None => (format!("  {name} {now}"), Role::Text),
        });
    }
}
