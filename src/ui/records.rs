//! What the focused pane shows, as records: for copies and exports.

use super::lang::tr;
use super::panes::alerts::{self, Item};
use super::panes::replay::{Scene, transcript};
use super::panes::{chain, log};
use super::view::{PaneId, Scroll};
use crate::event::num::Float;
use crate::state::{Row, RowKind, SeriesPoint, ToolStats};
use serde::Serialize;
use serde_json::{Error, Value, json};

/// The records of the focused pane, in the order in which it shows them.
pub fn records(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    (scene.view.active().spec().records)(scene)
}

/// The record that a copy is of: the lowest row in view where the newest stands below, the first where it stands above.
pub fn in_view(records: &[Value], scene: Scene<'_>) -> Option<usize> {
    (scene.view.active().spec().in_view)(records, scene).filter(|index| *index < records.len())
}

pub fn chain_in_view(_: &[Value], scene: Scene<'_>) -> Option<usize> {
    let seq = chain::cursor_row(scene.view, scene.state)?.seq;
    scene.lane()?.transcript.rows.iter().position(|row| row.seq == seq)
}

pub fn transcript_in_view(_: &[Value], scene: Scene<'_>) -> Option<usize> {
    let seq = scene.view.replay.place.map_or(scene.state.seq, |place| place.cursor.seq);
    transcript::rows(scene).row_at(seq)
}

pub fn log(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    let mut shown: Vec<_> = log::stood(scene.state, &scene.view.log, Scroll::default()).collect();
    shown.reverse();
    all(shown.into_iter())
}

pub fn log_in_view(records: &[Value], scene: Scene<'_>) -> Option<usize> {
    let scroll = scene.view.scroll_of(PaneId::Log);
    // Those that came since following stopped stand below what is seen.
    let below = records.len().saturating_sub(log::stood(scene.state, &scene.view.log, scroll).count());
    Some(records.len().checked_sub(1)?.saturating_sub(scroll.up.saturating_add(below)))
}

/// Rules and alerts of the console itself, with how they stand.
pub fn alerts(items: &[Item<'_>]) -> Result<Vec<Value>, Error> {
    all(items.iter().map(|item| {
        let alerts: Vec<Value> = item.alerts.iter().map(|a| json!({"t_ns": a.t_ns, "seq": a.seq, "alert": a.change})).collect();
        json!({
            "t_ns": item.since_t_ns,
            "name": item.name,
            "stand": alerts::letter(&item.standing.stand).0,
            "flapping": item.standing.flapping,
            "severity": item.severity,
            "alert": item.own,
            "rule": item.rule.map(|r| &r.info),
            "reading": item.rule.map(|r| &r.reading),
            "alerts": alerts,
        })
    }))
}

pub fn machine(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    all(scene.state.telemetry_history.last().iter().map(|(t_ns, sample)| json!({"t_ns": t_ns, "sample": sample})))
}

/// The episode under way.
pub fn episode(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    all(scene.lane().iter().map(|l| &l.episode))
}

/// The steps of the episode under way.
pub fn steps(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    let Some(episode) = scene.lane().map(|l| &l.episode) else { return Ok(Vec::new()) };
    let step = |p: &SeriesPoint| json!({"episode": episode.episode, "step": p.step, "t_ns": p.t_ns, "reward": Float(p.value)});
    all(episode.rewards.iter().map(step))
}

/// A record as people write it.
pub fn text(record: &Value, index: usize, scene: Scene<'_>) -> String {
    let pane = scene.view.active();
    let row = if pane == PaneId::Chain {
        scene.lane().and_then(|l| l.transcript.rows.get(index))
    } else if pane == PaneId::Transcript {
        transcript::rows(scene).get(index)
    } else {
        None
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

pub fn all<T: Serialize>(items: impl Iterator<Item = T>) -> Result<Vec<Value>, Error> {
    items.map(serde_json::to_value).collect()
}

pub fn tool((name, t): (&String, &ToolStats)) -> Value {
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
        RowKind::EpisodeStart { seed, level, goal } => {
            tr!("episode {episode}, seed {seed}, {level}: {goal}", episode = row.episode, seed = seed, level = level, goal = goal)
        }
        RowKind::Observation { text, .. } | RowKind::Thought { text, .. } | RowKind::Text { text } | RowKind::Note { text } => {
            text.to_string()
        }
        RowKind::Action { call, outcome, reward, .. } => {
            let mut words = call.display().to_string();
            if let Some(outcome) = outcome {
                words.push_str(&format!("\n{}", outcome.result));
            }
            if let Some(reward) = reward {
                words.push_str(&format!("\n{} {reward:+.2}", tr!("reward")));
            }
            words
        }
        RowKind::Compressed { before, after, ratio } => {
            let ratio = format!("{ratio:.1}");
            tr!("memory compressed: {before} -> {after} tokens ({ratio}:1)", before = before, after = after, ratio = ratio)
        }
        RowKind::Swapped { from, to } => tr!("{from} -> {to}: {to} serves from here on", from = from, to = to),
        RowKind::EpisodeEnd { success, episode_return, hybrid, final_reward, length, truncated, aborted, truth } => {
            let [sum, hybrid, last] = [format!("{episode_return:.2}"), format!("{hybrid:.3}"), format!("{final_reward:.2}")];
            let (episode, n) = (row.episode, length);
            if *aborted {
                tr!(
                    "episode {episode} was aborted after {n} steps: return {sum}, hybrid {hybrid}, final {last}; {truth}",
                    episode = episode,
                    n = n,
                    sum = sum,
                    hybrid = hybrid,
                    last = last,
                    truth = truth
                )
            } else if *success {
                tr!(
                    "episode {episode} succeeded after {n} steps: return {sum}, hybrid {hybrid}, final {last}; {truth}",
                    episode = episode,
                    n = n,
                    sum = sum,
                    hybrid = hybrid,
                    last = last,
                    truth = truth
                )
            } else if *truncated {
                tr!(
                    "episode {episode} failed at the step limit after {n} steps: return {sum}, hybrid {hybrid}, final {last}; {truth}",
                    episode = episode,
                    n = n,
                    sum = sum,
                    hybrid = hybrid,
                    last = last,
                    truth = truth
                )
            } else {
                tr!(
                    "episode {episode} failed after {n} steps: return {sum}, hybrid {hybrid}, final {last}; {truth}",
                    episode = episode,
                    n = n,
                    sum = sum,
                    hybrid = hybrid,
                    last = last,
                    truth = truth
                )
            }
        }
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
    fn a_row_is_copied_in_the_operators_language() {
        use crate::event::{EpisodeId, Seq, StepIndex};
        let row = |kind| Row { seq: Seq(1), t_ns: 0, episode: EpisodeId(3), step: StepIndex(1), kind };
        let compressed = row(RowKind::Compressed { before: 900, after: 300, ratio: 3.0 });
        assert_eq!(words(&compressed), "memory compressed: 900 -> 300 tokens (3.0:1)");
        crate::ui::lang::set(crate::ui::lang::Lang::Chinese);
        let told = words(&compressed);
        crate::ui::lang::set(crate::ui::lang::Lang::English);
        assert!(told.contains("900 -> 300") && !told.contains("memory"), "{told}");
    }

    #[test]
    fn a_copy_says_how_an_episode_came_out_as_the_chain_does() {
        use crate::event::{EpisodeId, Seq, StepIndex};
        let told = |success, truncated, aborted| {
            let truth = crate::event::SafeText::new("t");
            let (episode_return, hybrid, final_reward, length) = (1.0, 0.5, 0.2, 9);
            let kind = RowKind::EpisodeEnd { success, episode_return, hybrid, final_reward, length, truncated, aborted, truth };
            words(&Row { seq: Seq(1), t_ns: 0, episode: EpisodeId(3), step: StepIndex(9), kind })
        };
        assert!(told(true, false, false).contains("episode 3 succeeded after 9"));
        assert!(told(false, false, false).contains("episode 3 failed after 9"));
        assert!(told(false, true, false).contains("failed at the step limit"));
        assert!(told(false, false, true).contains("was aborted") && told(true, false, true).contains("was aborted"));
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
