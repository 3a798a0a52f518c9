//! What the focused pane shows, as records: for copies and exports.

use super::panes::replay::{Scene, episodes, transcript};
use super::panes::{alerts, chain, checkpoints, curves, log, rules, tools};
use super::view::{PaneId, Scroll};
use crate::event::num::Float;
use crate::state::{LaneState, Row, RowKind, ToolStats};
use serde::Serialize;
use serde_json::{Error, Value, json};

/// The records of the focused pane, in the order in which it shows them.
pub fn records(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    let (state, view) = (scene.state, scene.view);
    let lane = state.lane(view.lane);
    match view.active() {
        PaneId::Chain => all(lane.iter().flat_map(|l| l.transcript.rows.iter())),
        pane @ (PaneId::Reward | PaneId::Curves) => Ok(curves::records(state, view, pane)),
        PaneId::Tools => all(tools::ordered(state).into_iter().map(tool)),
        PaneId::Gpu => all(state.telemetry_history.last().iter().map(|(t_ns, sample)| json!({"t_ns": t_ns, "sample": sample}))),
        PaneId::Alerts => all(alerts::current(state).iter().map(|a| json!({"t_ns": a.t_ns, "alert": a.change}))),
        PaneId::Log => {
            let mut shown: Vec<_> = log::stood(state, &view.log, Scroll::default()).collect();
            shown.reverse();
            all(shown.into_iter())
        }
        PaneId::Memory | PaneId::Inspector | PaneId::Prompt | PaneId::Recall => all(lane.iter().map(|l| &l.episode)),
        // Of a recording, what is still to come as well.
        PaneId::Transcript => all(transcript::rows(scene).iter()),
        PaneId::Episodes => Ok(episodes::records(scene)),
        PaneId::Timeline => all(lane.iter().flat_map(|l| steps(l))),
        PaneId::Checkpoints => all(checkpoints::ordered(state).into_iter()),
        PaneId::Compare | PaneId::Rollout | PaneId::Silences | PaneId::Request => Ok(Vec::new()),
        PaneId::Rules | PaneId::RuleDetail => all(rules::shown(state, view).iter().map(|a| json!({"t_ns": a.t_ns, "alert": a.change}))),
        PaneId::Vitals => all(state.updates.iter()),
        PaneId::Evaluations => all(state.evaluations.iter()),
    }
}

/// The record that a copy is of: the lowest row in view where the newest stands below, the first where it stands above.
pub fn in_view(records: &[Value], scene: Scene<'_>) -> Option<usize> {
    let (state, view) = (scene.state, scene.view);
    let scroll = view.scroll_of(view.focus);
    let last = records.len().checked_sub(1)?;
    Some(match view.active() {
        PaneId::Chain => {
            let transcript = &state.lane(view.lane)?.transcript;
            let seq = chain::cursor_row(view, state)?.seq;
            transcript.rows.iter().position(|row| row.seq == seq)?
        }
        PaneId::Log => {
            // Those that came since following stopped stand below what is seen.
            let below = records.len().saturating_sub(log::stood(state, &view.log, scroll).count());
            last.saturating_sub(scroll.up.saturating_add(below))
        }
        PaneId::Alerts => scroll.up.min(last),
        PaneId::Transcript => {
            let seq = view.replay.place.map_or(state.seq, |place| place.cursor.seq);
            transcript::rows(scene).row_at(seq)?
        }
        PaneId::Episodes => episodes::cursor_record(scene),
        PaneId::Tools => tools::chosen_index(state, view),
        PaneId::Checkpoints => checkpoints::chosen_index(state, &view.shelf),
        PaneId::Rules | PaneId::RuleDetail => rules::at(&rules::shown(state, view), view),
        pane @ (PaneId::Reward | PaneId::Curves) => curves::in_view(state, view, pane)?,
        PaneId::Gpu
        | PaneId::Memory
        | PaneId::Inspector
        | PaneId::Timeline
        | PaneId::Compare
        | PaneId::Rollout
        | PaneId::Silences
        | PaneId::Vitals
        | PaneId::Evaluations
        | PaneId::Prompt
        | PaneId::Recall
        | PaneId::Request => last,
    })
}

/// A record as people write it.
pub fn text(record: &Value, index: usize, scene: Scene<'_>) -> String {
    let row = match scene.view.active() {
        PaneId::Chain => scene.state.lane(scene.view.lane).and_then(|l| l.transcript.rows.get(index)),
        PaneId::Transcript => transcript::rows(scene).get(index),
        PaneId::Reward
        | PaneId::Tools
        | PaneId::Gpu
        | PaneId::Alerts
        | PaneId::Log
        | PaneId::Memory
        | PaneId::Episodes
        | PaneId::Inspector
        | PaneId::Timeline
        | PaneId::Checkpoints
        | PaneId::Compare
        | PaneId::Rollout
        | PaneId::Rules
        | PaneId::RuleDetail
        | PaneId::Silences
        | PaneId::Curves
        | PaneId::Vitals
        | PaneId::Evaluations
        | PaneId::Prompt
        | PaneId::Recall
        | PaneId::Request => None,
    };
    row.map_or_else(|| cells(record).iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join("  "), words)
}

/// Names and values of a record without nesting: what is nested has the path as its name.
pub fn cells(record: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    flatten("", record, &mut out);
    out
}

fn flatten(path: &str, value: &Value, out: &mut Vec<(String, String)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| flatten(&below(name), value, out)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| flatten(&below(&index.to_string()), item, out)),
        Value::Null => out.push((path.to_owned(), String::new())),
        Value::String(text) => out.push((path.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => out.push((path.to_owned(), value.to_string())),
    }
}

fn all<T: Serialize>(items: impl Iterator<Item = T>) -> Result<Vec<Value>, Error> {
    items.map(serde_json::to_value).collect()
}

fn steps(lane: &LaneState) -> impl Iterator<Item = Value> + '_ {
    let episode = lane.episode.episode;
    lane.episode.rewards.iter().map(move |p| json!({"episode": episode, "step": p.step, "t_ns": p.t_ns, "reward": Float(p.value)}))
}

fn tool((name, t): (&String, &ToolStats)) -> Value {
    let error = t.last_error.as_ref();
    json!({
        "tool": name,
        "calls": t.calls_total,
        "errors": t.errors_total,
        "in_flight": t.in_flight,
        "ok_ratio": t.ok_ratio(),
        "p50_ns": t.duration_ns_quantile(0.5),
        "p95_ns": t.duration_ns_quantile(0.95),
        "last_error_type": error.map(|(kind, _)| kind),
        "last_error": error.map(|(_, detail)| detail),
    })
}

/// A row of the thought chain in plain words, nothing folded.
fn words(row: &Row) -> String {
    match &row.kind {
        RowKind::EpisodeStart { seed, level, goal } => format!("episode {}, seed {seed}, {level}: {goal}", row.episode),
        RowKind::Observation { text, .. } | RowKind::Thought { text, .. } | RowKind::Text { text } | RowKind::Note { text } => {
            text.to_string()
        }
        RowKind::Action { call, outcome, reward, .. } => {
            let mut words = call.display().to_string();
            if let Some(outcome) = outcome {
                words.push_str(&format!("\n{}", outcome.result));
            }
            if let Some(reward) = reward {
                words.push_str(&format!("\nreward {reward:+.2}"));
            }
            words
        }
        RowKind::Compressed { before, after, ratio } => format!("memory compressed: {before} -> {after} tokens ({ratio:.1}:1)"),
        RowKind::Swapped { from, to } => format!("{from} -> {to}: {to} serves from here on"),
        RowKind::EpisodeEnd { success, episode_return, hybrid, final_reward, length, truth, .. } => format!(
            "episode {} {} after {length} steps: return {episode_return:.2}, hybrid {hybrid:.3}, final {final_reward:.2}; {truth}",
            row.episode,
            if *success { "succeeded" } else { "failed" },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::DashState;
    use crate::ui::panes::testing::{scene, typical};
    use crate::ui::view::{Scroll, View};

    fn copied(view: &View) -> String {
        let state = typical();
        let scene = scene(&state, view);
        let records = records(scene).unwrap();
        let index = in_view(&records, scene).unwrap();
        text(&records[index], index, scene)
    }

    fn focused(focus: PaneId) -> View {
        View { focus, ..View::default() }
    }

    #[test]
    fn every_pane_has_records_and_one_of_them_is_in_view() {
        let starts = [
            (PaneId::Chain, "Minute 4.00\ngw"),
            (PaneId::Reward, "series return  episode   counted_by episode  first 7  last 7  t_ns_first"),
            (PaneId::Tools, "tool query_logs  calls 33"),
            (PaneId::Gpu, "t_ns"),
            (PaneId::Alerts, "t_ns"),
            (PaneId::Log, "seq"),
        ];
        for (pane, start) in starts {
            let text = copied(&focused(pane));
            assert!(text.starts_with(start), "{pane:?}: {text}");
        }
        assert!(copied(&focused(PaneId::Log)).contains("2 s behind"));
        assert!(copied(&focused(PaneId::Alerts)).contains("RecorderSlow"));
    }

    #[test]
    fn what_was_scrolled_to_is_copied_and_not_the_newest() {
        let mut view = focused(PaneId::Log);
        let state = typical();
        view.scroll.insert(PaneId::Log, Scroll { up: 1, follow: false, total_at_stop: state.log.total() });
        assert!(copied(&view).contains("deckhand-final"), "{}", copied(&view));
        view.scroll.insert(PaneId::Log, Scroll { up: usize::MAX, follow: false, total_at_stop: 0 });
        copied(&view);
    }

    #[test]
    fn with_nothing_there_is_nothing_to_copy() {
        for focus in crate::ui::view::ScreenId::Live.panes().iter().copied() {
            let (state, view) = (DashState::default(), focused(focus));
            let scene = scene(&state, &view);
            let records = records(scene).unwrap();
            assert_eq!((records.len(), in_view(&records, scene)), (0, None));
        }
    }
}
