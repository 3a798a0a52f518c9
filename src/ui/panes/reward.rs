//! Pane 2, reward: the return of every episode, the steps of this one, and how the hybrid reward is made.

use super::{Pane, notice};
use crate::event::{RewardFormula, Verdict};
use crate::state::{DashState, EpisodeRow, LaneState};
use crate::ui::view::ChartView;
use crate::ui::widgets::{Canvas, Chart, Drawn, Role, Window, format};
use ratatui::layout::Rect;

/// Episodes that the share of successes is over.
pub const SUCCESS_WINDOW: usize = 50;

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, options) = (pane.ctx.state, pane.ctx.view.chart);
    let mut inner = pane.open(canvas, if options.history { "all episodes" } else { "this episode" });
    let lane = pane.lane();
    if lane.is_none() && state.episodes.is_empty() {
        notice(&mut inner, "waiting for the first reward");
        return;
    }
    let text = summary(state, lane, inner.width());
    let text_rows = (text.len() as u16).min(inner.height().saturating_sub(4));
    let rows = inner.height() - text_rows;
    let area = Rect::new(0, 0, inner.width(), rows);
    draw_charts(&mut inner.part(area), state, lane, options);
    for (y, (line, role)) in (rows..inner.height()).zip(&text) {
        let width = inner.width();
        inner.text_upto(0, width, y, line, *role);
    }
}

/// One curve, or both where the pane is high.
fn draw_charts(canvas: &mut Canvas<'_>, state: &DashState, lane: Option<&LaneState>, options: ChartView) {
    let (width, height) = (canvas.width(), canvas.height());
    let upper = if height >= 12 { height - height / 3 } else { height };
    let area = Rect::new(0, 0, width, upper);
    draw_titled(&mut canvas.part(area), state, lane, options, options.history || lane.is_none());
    if upper < height {
        draw_titled(&mut canvas.below(upper), state, lane, options, !options.history && lane.is_some());
    }
}

fn draw_titled(canvas: &mut Canvas<'_>, state: &DashState, lane: Option<&LaneState>, options: ChartView, history: bool) {
    let width = canvas.width();
    let title_rows = u16::from(canvas.height() >= 3);
    let (title, drawn) = if history {
        ("return of each episode", draw_history(&mut canvas.below(title_rows), state, options))
    } else {
        ("reward of each step", draw_steps(&mut canvas.below(title_rows), lane, options))
    };
    if title_rows == 0 {
        return;
    }
    let mut notes = Vec::new();
    if options.smoothing_tenths > 0 {
        notes.push(format!("ema .{}", options.smoothing_tenths));
    }
    if options.log {
        notes.push("log".to_owned());
    }
    if drawn.bucket > 1 {
        notes.push(format!("{} a column", drawn.bucket));
    }
    if drawn.skipped > 0 {
        notes.push(format!("{} skipped: not finite", drawn.skipped));
    }
    let end = canvas.text_upto(0, width, 0, title, Role::Dim);
    let note = notes.join("  ");
    if end + 2 + canvas.measure(&note) <= width {
        canvas.text_before(width, 0, &note, Role::Dim);
    }
}

fn draw_history(canvas: &mut Canvas<'_>, state: &DashState, options: ChartView) -> Drawn {
    if state.episodes.is_empty() {
        notice(canvas, "no episode has ended yet");
        return Drawn::default();
    }
    let raw: Vec<f64> = state.episodes.iter().map(|e| e.end.episode_return).collect();
    let values = prepare(&raw, options);
    let marks: Vec<u64> = state.marks.iter().map(|m| m.episodes_total).collect();
    let first = state.episodes.total() - values.len() as u64;
    chart(&values, first, &marks, Window::Whole, "ep", options).draw(canvas)
}

fn draw_steps(canvas: &mut Canvas<'_>, lane: Option<&LaneState>, options: ChartView) -> Drawn {
    let Some(lane) = lane.filter(|l| !l.episode.rewards.is_empty()) else {
        notice(canvas, "waiting for the first step");
        return Drawn::default();
    };
    let raw: Vec<f64> = lane.episode.rewards.iter().map(|p| p.value).collect();
    let values = prepare(&raw, options);
    let first = lane.episode.rewards.total() - values.len() as u64;
    chart(&values, first, &[], Window::Recent, "step", options).draw(canvas)
}

fn chart<'a>(values: &'a [f64], first: u64, marks: &'a [u64], window: Window, unit: &'a str, options: ChartView) -> Chart<'a> {
    let label = if options.log { |v: f64| format::number(10f64.powf(v)) } else { format::number };
    Chart { values, first, window, marks, cursor: None, range: None, label, unit }
}

/// Smooths the raw data first; the chart decimates after. On a log axis what is not positive can't be drawn.
fn prepare(raw: &[f64], options: ChartView) -> Vec<f64> {
    let past = f64::from(options.smoothing_tenths.min(9)) / 10.0;
    let mut mean: Option<f64> = None;
    raw.iter()
        .map(|v| {
            if v.is_finite() {
                mean = Some(mean.map_or(*v, |m| past * m + (1.0 - past) * v));
            }
            let value = if v.is_finite() { mean.unwrap_or(*v) } else { *v };
            if options.log { if value > 0.0 { value.log10() } else { f64::NAN } } else { value }
        })
        .collect()
}

/// The pane in words.
fn summary(state: &DashState, lane: Option<&LaneState>, width: u16) -> Vec<(String, Role)> {
    let mut out = Vec::new();
    if let Some(lane) = lane {
        let episode = &lane.episode;
        let last = format::or_unset(episode.reward_last, format::reward);
        out.push((format!("step {}  reward {last}  sum {:.2}", episode.step, episode.reward_sum), Role::Text));
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
        None => ("(at the end)".to_owned(), String::new()),
    };
    let numbers = format!("{step_weight} x {sum:.2} + {final_weight} x {last}{whole}");
    let names = format!("hybrid = {step_weight} x sum(g^i r) + {final_weight} x final, g {gamma}");
    if width >= 36 {
        vec![(names, Role::Dim), (format!("       = {numbers}"), Role::Text)]
    } else {
        vec![(format!("hybrid {numbers}"), Role::Text)]
    }
}

/// Share of successes: of the newest, and of all.
pub fn success(state: &DashState) -> String {
    match state.success_ratio(SUCCESS_WINDOW) {
        None => "success n/a (no episode has ended)".into(),
        Some(ratio) => {
            // What was cut short counts in neither.
            let whole = state.episodes.iter().filter(|e| e.end.verdict() != Verdict::Aborted).count();
            let all = format!("{} of {} in all", state.successes_total, state.episodes_total.saturating_sub(state.aborted_total));
            format!("success {} of the last {}  {all}", format::percent(ratio), whole.min(SUCCESS_WINDOW))
        }
    }
}

fn last_episode(row: &EpisodeRow) -> (String, Role) {
    let end = &row.end;
    let (word, role) = match end.verdict() {
        Verdict::Success => ("S", Role::Good),
        Verdict::Failure => ("F", Role::Bad),
        Verdict::Aborted => ("aborted", Role::Dim),
    };
    (format!("last {word} episode {}  return {:.2}  hybrid {:.2}", row.episode, end.episode_return, end.hybrid), role)
}
