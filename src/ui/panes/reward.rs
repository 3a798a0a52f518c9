//! Rewards: the current episode's steps, or all episodes, and the formula as it is.

use crate::state::MarkKind;
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Chart, Role, Window, format};

pub fn badge(cx: &Context<'_>) -> String {
    let what = if cx.view.chart.history { "episodes" } else { "steps" };
    match cx.view.chart.smoothing_tenths {
        0 => what.into(),
        tenths => format!("{what}  ema .{tenths}"),
    }
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let (values, first, unit) = series(cx);
    let values = smoothed(&values, f64::from(cx.view.chart.smoothing_tenths) / 10.0);
    let text = [current(cx), history(cx), formula(cx)];
    let rows = (text.len() as u16).min(canvas.height().saturating_sub(3));
    let chart_rows = canvas.height() - rows;
    if values.is_empty() {
        canvas.text(1, 0, "no reward yet", Role::Dim);
    } else if chart_rows >= 2 {
        let marks = marks(cx);
        let width = canvas.width();
        let mut part = canvas.part(ratatui::layout::Rect::new(0, 0, width, chart_rows));
        let window = if cx.view.chart.history { Window::Whole } else { Window::Recent };
        let chart = Chart { values: &values, first, window, marks: &marks, cursor: None, range: None, label: format::number, unit };
        chart.draw(&mut part);
    }
    for (row, line) in text.iter().take(rows as usize).enumerate() {
        let (y, end) = (chart_rows + row as u16, canvas.width());
        canvas.text_upto(1, end, y, line, if row == 2 { Role::Dim } else { Role::Text });
    }
}

fn series(cx: &Context<'_>) -> (Vec<f64>, u64, &'static str) {
    if cx.view.chart.history {
        let values: Vec<f64> = cx.state.episodes.iter().map(|e| e.end.hybrid).collect();
        let first = cx.state.episodes.total() - values.len() as u64;
        return (values, first, "ep");
    }
    let Some(lane) = cx.state.lane(cx.view.lane) else { return (Vec::new(), 0, "step") };
    let rewards = &lane.episode.rewards;
    (rewards.iter().map(|p| p.value).collect(), rewards.total() - rewards.len() as u64, "step")
}

/// Exponential mean, corrected for its beginning (Kingma & Ba 2015, section 3). What is not finite is passed over.
fn smoothed(values: &[f64], weight: f64) -> Vec<f64> {
    let (mut mean, mut correct) = (0.0, 0.0);
    values
        .iter()
        .map(|v| {
            if !v.is_finite() || weight == 0.0 {
                return *v;
            }
            mean = weight * mean + (1.0 - weight) * v;
            correct = weight * correct + (1.0 - weight);
            mean / correct
        })
        .collect()
}

/// Swaps, pauses and alerts on the axis of episodes.
fn marks(cx: &Context<'_>) -> Vec<u64> {
    if !cx.view.chart.history {
        return Vec::new();
    }
    cx.state.marks.iter().filter(|m| m.kind != MarkKind::Paused).map(|m| m.episodes_total).collect()
}

fn current(cx: &Context<'_>) -> String {
    let Some(lane) = cx.state.lane(cx.view.lane) else { return String::new() };
    let e = &lane.episode;
    let last = e.reward_last.map_or("n/a".into(), |r| format!("{r:+.3}"));
    format!("step {last}  return {:.2}  discounted {:.2}", e.reward_sum, e.discounted_sum)
}

fn history(cx: &Context<'_>) -> String {
    let episodes: Vec<f64> = cx.state.episodes.iter().rev().take(100).map(|e| e.end.hybrid).collect();
    if episodes.is_empty() {
        return "no episode has ended yet".into();
    }
    let mean = episodes.iter().sum::<f64>() / episodes.len() as f64;
    let success = cx.state.success_ratio(100).map_or("n/a".into(), format::percent_whole);
    format!("success {success} of the last {}  hybrid mean {mean:.2}  {} in all", episodes.len(), cx.state.episodes_total)
}

fn formula(cx: &Context<'_>) -> String {
    cx.state.run.as_ref().map_or(String::new(), |run| {
        let f = run.reward;
        format!("hybrid = {}*sum(gamma^i r_i) + {}*final, gamma {}", f.step_weight, f.final_weight, f.gamma)
    })
}

#[cfg(test)]
mod tests {
    use super::smoothed;

    #[test]
    fn a_constant_stays_what_it_is_from_the_first_value_on() {
        assert!(smoothed(&[2.0; 5], 0.9).iter().all(|v| (v - 2.0).abs() < 1e-12));
        assert_eq!(smoothed(&[1.0, f64::NAN, 3.0], 0.0)[0], 1.0);
        assert!(smoothed(&[1.0, f64::NAN, 3.0], 0.5)[2].is_finite());
    }
}
