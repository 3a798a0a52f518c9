//! What small screens show instead of panes: strips, an alert line, a log line, tabs, one status line.

use super::{alerts, gpu, lines, log, notice, reward};
use crate::event::GpuStatus;
use crate::ui::lang::tr;
use crate::ui::view::{Context, PaneId, View};
use crate::ui::widgets::{Canvas, Role, format, sparkline, text};

/// Returns of the newest episodes on one row.
fn returns(ctx: &Context<'_>, columns: u16, canvas: &Canvas<'_>) -> String {
    let values: Vec<f64> = ctx.state.episodes.iter().map(|e| e.end.episode_return).collect();
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let range = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    sparkline(&values, ctx.state.episodes.total() - values.len() as u64, columns, range, canvas.glyphs())
}

/// The reward pane in short.
pub fn draw_reward(inner: &mut Canvas<'_>, ctx: &Context<'_>) {
    let width = inner.width();
    let Some(lane) = ctx.state.lane(ctx.view.lane) else {
        notice(inner, &tr!("waiting for the first reward"));
        return;
    };
    let mut y = 0;
    if !ctx.state.episodes.is_empty() && inner.height() >= 3 {
        let x = inner.text(0, 0, &tr!("returns"), Role::Dim) + 1;
        let curve = returns(ctx, width.saturating_sub(x), inner);
        inner.text(x, 0, &curve, Role::Curve);
        y = 1;
    }
    let last = format::or_unset(lane.episode.reward_last, format::reward);
    let sum = format!("{:.2}", lane.episode.reward_sum);
    let now = tr!("step {n}  r {last}  sum {sum}", n = lane.episode.step, last = last, sum = sum);
    inner.text_upto(0, width, y, &now, Role::Text);
    inner.text_upto(0, width, y + 1, &reward::success_newest(ctx.state), Role::Text);
    if let Some(last) = ctx.state.episodes.iter().next_back() {
        let (word, role) = if last.end.success { ("S", Role::Good) } else { ("F", Role::Bad) };
        let (sum, steps) = (format!("{:.2}", last.end.episode_return), format::counted(u64::from(last.end.length), "step"));
        let text = tr!("last {word}  return {sum}  {steps}", word = word, sum = sum, steps = steps);
        inner.text_upto(0, width, y + 2, &text, role);
    }
}

/// The machine in short.
pub fn draw_machine(inner: &mut Canvas<'_>, ctx: &Context<'_>) {
    let width = inner.width();
    let Some(sample) = &ctx.state.telemetry else {
        let text = match ctx.playback {
            Some(_) => tr!("n/a: no sample was recorded up to here"),
            None => tr!("waiting for the first sample"),
        };
        notice(inner, &text);
        return;
    };
    let line = match &sample.gpu {
        GpuStatus::Unavailable { reason } => format!("GPU n/a  {reason}"),
        GpuStatus::Devices(devices) => {
            let parts: Vec<String> =
                devices.iter().map(|d| format!("{} {}", d.index, format::or_unset(d.utilization_ratio, format::percent_whole))).collect();
            format!("GPU {}", parts.join("  "))
        }
    };
    inner.text_upto(0, width, 0, &line, Role::Text);
    let cpu = format::or_unset(sample.host.cpu_ratio, format::percent_whole);
    let rss = format::or_unset(sample.host.process_rss_bytes, |b| format::bytes(b as f64));
    inner.text_upto(0, width, 1, &tr!("cpu {cpu}  ours {rss}", cpu = cpu, rss = rss), Role::Text);
    inner.text_upto(0, width, 2, &tools_line(ctx), Role::Text);
    inner.text_upto(0, width, 3, &gpu::throughput(ctx.state), Role::Text);
}

fn tools_line(ctx: &Context<'_>) -> String {
    let tools = ctx.state.tools.values();
    let (calls, errors) = tools.fold((0, 0), |(c, e), t| (c + t.calls_total, e + t.errors_total));
    match calls {
        0 => tr!("tools: waiting for the first call"),
        _ => {
            let (calls, errors) = (format::counted(calls, "call"), format::counted(errors, "error"));
            tr!("tools {calls}  {errors}", calls = calls, errors = errors)
        }
    }
}

/// For a phone: checkpoint, then returns and success, on two rows.
pub fn draw_summary(canvas: &mut Canvas<'_>, ctx: &Context<'_>) {
    let width = canvas.width();
    let serving = ctx.state.serving.as_ref().map_or_else(|| tr!("n/a (loading)"), |c| c.0.clone());
    super::labelled(canvas, 0, 0, &[(format!(" {}", tr!("policy")), serving, Role::Text)]);
    let success = format::or_unset(ctx.state.success_ratio(reward::SUCCESS_WINDOW), format::percent);
    let last = ctx.state.lane(ctx.view.lane).and_then(|l| l.episode.reward_last);
    let x = canvas.text(0, 1, &format!(" r {} ", format::or_unset(last, format::reward)), Role::Text);
    let end = canvas.text_before(width, 1, &format!(" {}", tr!("success {share}", share = success)), Role::Text);
    let curve = returns(ctx, end.saturating_sub(x), canvas);
    canvas.text(x, 1, &curve, Role::Curve);
    if canvas.height() > 2 {
        canvas.rule(2);
    }
}

/// The alerts that matter most, one a row.
pub fn draw_alerts(canvas: &mut Canvas<'_>, ctx: &Context<'_>) {
    let alerts = alerts::current(ctx.state);
    let width = canvas.width();
    if alerts.is_empty() {
        canvas.text_upto(1, width, 0, &tr!("no alerts"), Role::Dim);
        return;
    }
    let now = ctx.state.t_ns;
    for (y, alert) in (0..canvas.height()).zip(&alerts) {
        let row = ratatui::layout::Rect::new(1, y, width.saturating_sub(2), 1);
        alerts::line(&mut canvas.part(row), 0, alert, now);
    }
    let shown = usize::from(canvas.height());
    lines::more(canvas, alerts.len().saturating_sub(shown));
}

/// The newest line of the log.
pub fn draw_log(canvas: &mut Canvas<'_>, ctx: &Context<'_>) {
    let width = canvas.width();
    match ctx.state.log.last() {
        Some(row) => log::line(&mut canvas.part(ratatui::layout::Rect::new(1, 0, width.saturating_sub(2), 1)), 0, row),
        None => {
            canvas.text_upto(1, width, 0, &tr!("no log lines yet"), Role::Dim);
        }
    }
}

/// `[1 chain] 2 reward …`: the one in brackets is shown.
pub fn draw_tabs(canvas: &mut Canvas<'_>, ctx: &Context<'_>) {
    let mut x = 0;
    for (id, label) in tabs(ctx.view, canvas.width()) {
        x = canvas.text(x, 0, &label, if ctx.view.focus == id { Role::Strong } else { Role::Dim });
    }
}

/// The pane of the tab at column `x`.
pub fn tab_at(view: &View, width: u16, x: u16) -> Option<PaneId> {
    let mut end = 0;
    tabs(view, width)
        .into_iter()
        .find(|(_, label)| {
            end += text::width(label, text::Ambiguous::Narrow) as u16;
            x < end
        })
        .map(|(id, _)| id)
}

fn tabs(view: &View, width: u16) -> Vec<(PaneId, String)> {
    let label = |n: usize, id: PaneId| match (width, id.spec()) {
        (60.., spec) => format!("{n} {}", (spec.tab)()),
        (40.., spec) => format!("{n} {}", spec.tab_short.unwrap_or(spec.tab)()),
        (_, _) => n.to_string(),
    };
    let one = |(n, id): (usize, &PaneId)| {
        let label = label(n, *id);
        (*id, if view.focus == *id { format!("[{label}]") } else { format!(" {label} ") })
    };
    (1..).zip(view.screen.panes()).map(one).collect()
}
