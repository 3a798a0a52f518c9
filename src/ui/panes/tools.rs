//! Tools: calls, share that succeeded, latencies, the last error.

use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role, format};

pub fn badge(cx: &Context<'_>) -> String {
    let calls: u64 = cx.state.tools.values().map(|t| t.calls_total).sum();
    let errors: u64 = cx.state.tools.values().map(|t| t.errors_total).sum();
    format!("{calls} calls, {errors} errors")
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    if cx.state.tools.is_empty() {
        canvas.text(1, 0, "no tool was called yet", Role::Dim);
        return;
    }
    let end = canvas.width();
    canvas.text_upto(1, end, 0, &format!("{:<12}{:>7}{:>8}{:>10}{:>10}", "tool", "calls", "ok", "p50", "p95"), Role::Dim);
    let mut y = 1;
    let mut last = None;
    for (name, stats) in &cx.state.tools {
        let time = |q| stats.duration_ns_quantile(q).map_or("n/a".into(), format::duration);
        let ok = stats.ok_ratio().map_or("n/a".into(), format::percent);
        let flight = if stats.in_flight > 0 { "  in flight" } else { "" };
        let row = format!(
            "{:<12}{:>7}{:>8}{:>10}{:>10}{flight}",
            crate::event::SafeText::new(name).as_str(),
            format::count(stats.calls_total),
            ok,
            time(0.5),
            time(0.95)
        );
        canvas.text_upto(1, end, y, &row, if stats.errors_total > 0 { Role::Warn } else { Role::Text });
        if let Some(error) = &stats.last_error {
            last = Some((name.clone(), error.clone()));
        }
        y += 1;
    }
    if let Some((name, (kind, text))) = last {
        canvas.text_upto(1, end, y + 1, &format!("last error: {name} {kind:?}: {text}"), Role::Bad);
    }
}
