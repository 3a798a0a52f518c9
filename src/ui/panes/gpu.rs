//! GPUs as NVML gives them, and the host. What can't be known is n/a, with the reason.

use crate::event::{GpuSample, GpuStatus};
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role, format, gauge};

pub fn badge(cx: &Context<'_>) -> String {
    match cx.state.telemetry.as_ref().map(|t| &t.gpu) {
        Some(GpuStatus::Devices(devices)) => format::counted(devices.len() as u64, "device"),
        Some(GpuStatus::Unavailable { .. }) => "no GPU".into(),
        None => String::new(),
    }
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let end = canvas.width();
    let mut y = 0;
    let mut line = |canvas: &mut Canvas<'_>, text: &str, role| {
        canvas.text_upto(1, end, y, text, role);
        y += 1;
    };
    match cx.state.telemetry.as_ref() {
        None => line(canvas, "no sample yet", Role::Dim),
        Some(sample) => {
            match &sample.gpu {
                GpuStatus::Unavailable { reason } => line(canvas, &format!("GPU n/a: {reason}"), Role::Dim),
                GpuStatus::Devices(devices) => {
                    for device in devices {
                        for text in gpu(device, canvas) {
                            line(canvas, &text, Role::Text);
                        }
                    }
                }
            }
            let h = &sample.host;
            let n = |v: Option<f64>, f: fn(f64) -> String| v.map_or("n/a".into(), f);
            let memory = h.memory_used_bytes.zip(h.memory_total_bytes).map_or("n/a".into(), |(u, t)| format::bytes_of(u, t));
            line(canvas, &format!("cpu {}  memory {memory}", n(h.cpu_ratio, format::percent)), Role::Text);
            let cores = h.process_cpu_cores.map_or("n/a".into(), |c| format!("{c:.2} cores"));
            let rss = h.process_rss_bytes.map_or("n/a".into(), |b| format::bytes(b as f64));
            line(canvas, &format!("ours {cores}  rss {rss}"), Role::Text);
            let disk = h
                .disk
                .as_ref()
                .map_or("disk n/a".into(), |d| format!("disk {} free on {}", format::bytes(d.available_bytes as f64), d.mount));
            line(canvas, &format!("{disk}  io {}", n(h.process_written_bytes_per_second, format::bytes_rate)), Role::Text);
        }
    }
    let device = cx.state.policy.as_ref().map_or(String::new(), |p| p.detail.to_string());
    line(canvas, &format!("model {device}"), Role::Dim);
    let seconds = (cx.state.t_ns as f64 / 1e9).max(1e-9);
    line(
        canvas,
        &format!(
            "{} tokens, {:.1}/s  {} decisions",
            format::count(cx.state.tokens_total),
            cx.state.tokens_total as f64 / seconds,
            format::count(cx.state.decisions_total)
        ),
        Role::Text,
    );
}

fn gpu(device: &GpuSample, canvas: &Canvas<'_>) -> Vec<String> {
    if let Some(reason) = &device.lost {
        return vec![format!("{} lost: {reason}", device.index)];
    }
    let n = |v: Option<f64>, f: &dyn Fn(f64) -> String| v.map_or("n/a".to_owned(), f);
    let memory = device.memory_used_bytes.zip(device.memory_total_bytes).map_or("n/a".into(), |(u, t)| format::bytes_of(u, t));
    let bar = device.utilization_ratio.map_or(String::new(), |r| gauge(r, 8, canvas.glyphs()));
    let name = device.name.as_ref().map_or("GPU", |n| n.as_str());
    vec![
        format!("{} {name} util {} {bar} mem {memory}", device.index, n(device.utilization_ratio, &format::percent_whole)),
        format!(
            "  {} W  {} C  sm {} MHz  ecc {}",
            n(device.power_watts, &|w| format!("{w:.0}")),
            n(device.temperature_celsius, &|t| format!("{t:.0}")),
            device.clock_sm_mhz.map_or("n/a".into(), |c| c.to_string()),
            device.ecc_uncorrected_total.map_or("n/a".into(), |c| c.to_string())
        ),
    ]
}
