//! Pane 2, reward: the return of every episode, the steps of this one, and how the hybrid reward is made.

use super::curves::{Figure, Scene, draw_panel};
use super::{Pane, notice};
use crate::event::{RewardFormula, Verdict};
use crate::state::{DashState, EpisodeRow, LaneState};
use crate::ui::lang::tr;
use crate::ui::view::ChartView;
use crate::ui::widgets::{Canvas, Range, Role, format, text};
use ratatui::layout::Rect;

/// Episodes that the share of successes is over.
pub const SUCCESS_WINDOW: usize = 50;

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, pane.ctx.view);
    let names: Vec<String> = view.chart.reward.iter().map(|f| f.title()).collect();
    let mut inner = pane.open(canvas, &names.join(", "));
    let lane = pane.lane();
    if lane.is_none() && state.episodes.is_empty() && state.updates.is_empty() {
        notice(&mut inner, &tr!("waiting for the first reward"));
        return;
    }
    let text = summary(state, lane, inner.width());
    let text_rows = (text.len() as u16).min(inner.height().saturating_sub(4));
    let rows = inner.height() - text_rows;
    let area = Rect::new(0, 0, inner.width(), rows);
    draw_charts(&mut inner.part(area), Scene { state, lane, chart: &view.chart });
    for (y, (line, role)) in (rows..inner.height()).zip(&text) {
        let width = inner.width();
        inner.text_upto(0, width, y, line, *role);
    }
}

/// Rows from which the steps of this episode have a chart of their own below what was chosen.
const TWO_CHARTS_MIN: u16 = 12;

fn draw_charts(canvas: &mut Canvas<'_>, scene: Scene<'_>) {
    let (width, height) = (canvas.width(), canvas.height());
    let figures = &scene.chart.reward;
    let below = if figures.contains(&Figure::StepReward) { Figure::Return } else { Figure::StepReward };
    let two = height >= TWO_CHARTS_MIN && scene.chart.cursor.is_none() && below.has_values(scene.state, scene.lane);
    let upper = if two { height - height / 3 } else { height };
    draw_panel(&mut canvas.part(Rect::new(0, 0, width, upper)), scene, figures);
    if two {
        // It has a length of its own, and is seen whole.
        let chart = ChartView { range: Range::Whole, zoom: 0, left: None, ..scene.chart.clone() };
        draw_panel(&mut canvas.below(upper), Scene { chart: &chart, ..scene }, &[below]);
    }
}

/// The pane in words.
fn summary(state: &DashState, lane: Option<&LaneState>, width: u16) -> Vec<(String, Role)> {
    let mut out = Vec::new();
    if let Some(lane) = lane {
        let episode = &lane.episode;
        let last = format::or_unset(episode.reward_last, format::reward);
        let sum = format!("{:.2}", episode.reward_sum);
        out.push((tr!("step {n}  reward {last}  sum {sum}", n = episode.step, last = last, sum = sum), Role::Text));
        let formula = state.run.as_ref().map_or_else(RewardFormula::default, |r| r.reward);
        out.extend(hybrid(formula, lane, width));
    }
    out.push((success(state), Role::Text));
    if let Some(last) = state.episodes.iter().next_back() {
        out.push(last_episode(last));
    }
    out
}

/// The formula, and the same with this episode's numbers.
fn hybrid(formula: RewardFormula, lane: &LaneState, width: u16) -> Vec<(String, Role)> {
    let RewardFormula { step_weight, final_weight, gamma } = formula;
    let sum = lane.episode.discounted_sum;
    let (last, whole) = match &lane.episode.ended {
        Some(end) => (format!("{:.2}", end.final_reward), format!(" = {:.2}", end.hybrid)),
        None => (tr!("(at the end)"), String::new()),
    };
    let numbers = format!("{step_weight} x {sum:.2} + {final_weight} x {last}{whole}");
    let hybrid = tr!("hybrid");
    let names = format!("{hybrid} = {step_weight} x sum(g^i r) + {final_weight} x final, g {gamma}");
    if width >= 36 {
        let blank = " ".repeat(text::width(&hybrid, text::Ambiguous::Narrow));
        vec![(names, Role::Dim), (format!("{blank} = {numbers}"), Role::Text)]
    } else {
        vec![(format!("{hybrid} {numbers}"), Role::Text)]
    }
}

/// Share of successes of the newest.
pub fn success_newest(state: &DashState) -> String {
    let n = state.judged().take(SUCCESS_WINDOW).count();
    match (state.success_ratio(SUCCESS_WINDOW).map(format::percent), state.has_swapped()) {
        (None, false) => tr!("success n/a (no episode has ended)"),
        (None, true) => tr!("success n/a (no episode since the swap)"),
        (Some(ratio), false) => tr!("success {ratio} of the last {n}", ratio = ratio, n = n),
        (Some(ratio), true) => tr!("success {ratio} of {n} since the swap", ratio = ratio, n = n),
    }
}

/// Share of successes: of the newest, and of all.
pub fn success(state: &DashState) -> String {
    let newest = success_newest(state);
    let of = state.episodes_total.saturating_sub(state.aborted_total);
    if of == 0 {
        return newest;
    }
    format!("{newest}  {}", tr!("{n} of {of} in all", n = state.successes_total, of = of))
}

fn last_episode(row: &EpisodeRow) -> (String, Role) {
    let end = &row.end;
    let (word, role) = match end.verdict() {
        Verdict::Success => ("S".to_owned(), Role::Good),
        Verdict::Failure => ("F".to_owned(), Role::Bad),
        Verdict::Aborted => (tr!("aborted"), Role::Dim),
    };
    let (sum, hybrid) = (format!("{:.2}", end.episode_return), format!("{:.2}", end.hybrid));
    (tr!("last {word} episode {n}  return {sum}  hybrid {hybrid}", word = word, n = row.episode, sum = sum, hybrid = hybrid), role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CheckpointId, EpisodeEnded, EpisodeEnding, EpisodeId, LaneId, Seed, Seq};
    use crate::state::SwapRow;

    fn ended(checkpoint: &str, success: bool) -> EpisodeRow {
        let end = EpisodeEnded {
            ending: EpisodeEnding::Terminated,
            episode_return: 0.0,
            final_reward: 0.0,
            hybrid: 0.0,
            success,
            length: 1,
            tool_errors: 0,
            thought_fidelity: None,
            truth: "".into(),
        };
        let checkpoint = Some(CheckpointId(checkpoint.into()));
        EpisodeRow { seq: Seq(1), t_ns: 1, lane: LaneId(0), episode: EpisodeId(1), seed: Seed(1), checkpoint, end }
    }

    #[test]
    fn success_is_of_the_policy_that_serves() {
        let mut state = DashState::default();
        (0..6).for_each(|_| state.episodes.push(ended("a", false)));
        state.serving = Some(CheckpointId("a".into()));
        assert_eq!(success_newest(&state), "success 0.0% of the last 6");
        state.swaps.push(SwapRow { seq: Seq(2), t_ns: 2, from: state.serving.clone(), to: CheckpointId("b".into()) });
        state.serving = Some(CheckpointId("b".into()));
        assert_eq!(success_newest(&state), "success n/a (no episode since the swap)");
        // It began with the policy before.
        state.episodes.push(ended("a", false));
        state.episodes.push(ended("b", true));
        assert_eq!((state.success_ratio(50), state.judged().count()), (Some(1.0), 1));
        assert!(success_newest(&state).ends_with("of 1 since the swap"), "{}", success_newest(&state));
    }
}
