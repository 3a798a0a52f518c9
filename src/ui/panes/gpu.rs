//! Pane 4, machine: each GPU or why there is none, then the host and our own process.

use super::lines::{Line, wrapped};
use super::{Pane, notice};
use crate::event::{GpuHealth, GpuSample, GpuStatus, HostSample, RunState, SafeText, TelemetrySampled, ThrottleReason, WaitOn};
use crate::state::{DashState, LaneState, Row, RowKind};
use crate::ui::lang::tr;
use crate::ui::widgets::{Canvas, Glyphs, Role, format, gauge, sparkline};

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let state = pane.ctx.state;
    let devices = devices(state);
    let badge = match (stands_still(pane), devices) {
        (true, _) => tr!("still while paused"),
        (false, 0) => String::new(),
        (false, devices) => format::counted(devices as u64, "device"),
    };
    let mut inner = pane.open(canvas, &badge);
    let Some(sample) = &state.telemetry else {
        let text = match pane.ctx.playback {
            Some(_) => tr!("n/a: no sample was recorded up to here"),
            None => tr!("waiting for the first sample"),
        };
        notice(&mut inner, &text);
        return;
    };
    // The host's lines stand below and are never pushed out by devices.
    let host_rows = 6.min(inner.height() / 2);
    let y = draw_gpus(&mut inner, sample, state, pane.scroll().up, host_rows);
    let mut below = inner.below(y);
    // What is asked seldom is there where the pane has room for it.
    let extra = if below.height() >= 12 { extra_lines(state, below.width(), below.glyphs()) } else { Vec::new() };
    let rows = (extra.len() as u16).min(below.height().saturating_sub(8));
    let host = below.height() - rows;
    let width = below.width();
    draw_host(&mut below.part(ratatui::layout::Rect::new(0, 0, width, host)), state, &sample.host);
    super::lines::draw(&mut below.below(host), &extra, 0);
}

/// Whom the run waits for, as one bar with letters, and the endpoints that are scraped.
fn extra_lines(state: &DashState, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let mut lines = vec![Line::of("", Role::Text), Line::of(waits_bar(state, width.saturating_sub(11)), Role::Curve)];
    lines.extend(wrapped(&waits_words(state), width, glyphs.ambiguous, Role::Text));
    for target in state.alerting.targets.values() {
        let scrape = &target.scrape;
        let since = format::clock(state.t_ns.saturating_sub(target.since_t_ns));
        let took = format::duration(scrape.duration_ns);
        let (word, role) = if scrape.up { (tr!("up"), Role::Text) } else { (tr!("DOWN"), Role::Bad) };
        let error = scrape.error.as_ref().map_or_else(String::new, |e| format!("  {e}"));
        let text = tr!(
            "{job} {instance}  {word} {since}  {took}",
            job = scrape.job,
            instance = scrape.instance,
            word = word,
            since = since,
            took = took
        );
        lines.extend(wrapped(&format!("{text}{error}"), width, glyphs.ambiguous, role));
    }
    lines
}

fn wait_letter(on: WaitOn) -> (&'static str, String) {
    match on {
        WaitOn::Policy => ("P", tr!("policy")),
        WaitOn::Environment => ("E", tr!("environment")),
        WaitOn::Tool => ("T", tr!("tool")),
        WaitOn::Training => ("L", tr!("learning")),
        WaitOn::WeightUpdate => ("W", tr!("weights")),
        WaitOn::Operator => ("O", tr!("operator")),
    }
}

/// One bar: each whom it waits for has cells by its share, of its letter.
fn waits_bar(state: &DashState, cells: u16) -> String {
    let total: u64 = WaitOn::ALL.iter().map(|on| state.waits.total_ns(*on)).fold(0, u64::saturating_add);
    if total == 0 {
        return tr!("waits for  n/a yet");
    }
    let (mut bar, mut until, mut done) = (String::new(), 0u128, 0usize);
    for on in WaitOn::ALL {
        until += u128::from(state.waits.total_ns(on));
        let end = (until * u128::from(cells) / u128::from(total)) as usize;
        bar.push_str(&wait_letter(on).0.repeat(end.saturating_sub(done)));
        done = end.max(done);
    }
    tr!("waits for  {bar}", bar = bar)
}

/// Shares in words, and how many lanes wait for whom right now.
fn waits_words(state: &DashState) -> String {
    let total: u64 = WaitOn::ALL.iter().map(|on| state.waits.total_ns(*on)).fold(0, u64::saturating_add);
    let share = |on: WaitOn| format::percent_whole(state.waits.total_ns(on) as f64 / total.max(1) as f64);
    let mut parts: Vec<String> = Vec::new();
    for on in WaitOn::ALL {
        let lanes = state.waits.lanes_on(on);
        if state.waits.total_ns(on) > 0 || lanes > 0 {
            let (letter, word) = wait_letter(on);
            let now = if lanes > 0 { tr!(" ({n} now)", n = lanes) } else { String::new() };
            parts.push(format!("{letter} {word} {}{now}", share(on)));
        }
    }
    parts.join("  ")
}

/// Number of devices.
pub fn devices(state: &DashState) -> usize {
    state.telemetry.as_ref().map_or(0, |t| match &t.gpu {
        GpuStatus::Devices(devices) => devices.len(),
        GpuStatus::Unavailable { .. } => 0,
    })
}

/// Whether samples are drawn only when they tell something new.
fn stands_still(pane: &Pane<'_>) -> bool {
    match pane.ctx.state.run_state {
        RunState::Paused => pane.ctx.playback.is_none(),
        RunState::Starting | RunState::Running | RunState::Stepping | RunState::Ended => false,
    }
}

fn draw_gpus(inner: &mut Canvas<'_>, sample: &TelemetrySampled, state: &DashState, page: usize, keep: u16) -> u16 {
    let width = inner.width();
    let devices = match &sample.gpu {
        GpuStatus::Unavailable { reason } => {
            let x = inner.text(0, 0, "GPU n/a  ", Role::Text);
            inner.text_upto(x, width, 0, reason, Role::Dim);
            return 1;
        }
        GpuStatus::Devices(devices) => devices,
    };
    let mut y = 0;
    let first = page.min(devices.len().saturating_sub(1));
    for (shown, device) in devices.iter().skip(first).enumerate() {
        if y + 2 + keep > inner.height() && shown > 0 {
            let devices = format::counted((devices.len() - first - shown) as u64, "device");
            let more = tr!("{devices} more", devices = devices);
            inner.text_upto(0, width, y, &more, Role::Dim);
            return y + 1;
        }
        y = draw_device(inner, y, device, state, keep);
    }
    y
}

fn draw_device(inner: &mut Canvas<'_>, y: u16, device: &GpuSample, state: &DashState, keep: u16) -> u16 {
    let width = inner.width();
    let name = device.name.as_ref().map_or("", |n| n.as_str());
    let x = inner.text(0, y, &format!("{} ", device.index), Role::Strong);
    if let Some(reason) = &device.lost {
        inner.text_upto(x, width, y, &tr!("{name} LOST: {reason}", name = name, reason = reason), Role::Bad);
        return y + 1;
    }
    let memory = match (device.memory_used_bytes, device.memory_total_bytes) {
        (Some(used), Some(total)) => format::bytes_of(used, total),
        (Some(used), None) => format::bytes(used as f64),
        (None, _) => format::UNSET.to_owned(),
    };
    let use_text = format::or_unset(device.utilization_ratio, format::percent_whole);
    let right = tr!("util {share}  mem {memory}", share = format!("{use_text:>4}"), memory = memory);
    let start = inner.text_before(width, y, &right, Role::Text);
    inner.text_upto(x, start.saturating_sub(1), y, name, Role::Text);
    let power = match (device.power_watts, device.power_limit_watts) {
        (Some(now), Some(limit)) => format!("{now:.0}/{limit:.0} W"),
        (Some(now), None) => format!("{now:.0} W"),
        (None, _) => tr!("power n/a"),
    };
    let health = state.gpu_health.get(&device.index);
    let temperature = temperature(device, health);
    let clock = device.clock_sm_mhz.map_or("sm n/a".into(), |c| format!("sm {c} MHz"));
    let ecc = device.ecc_uncorrected_total.map_or("ecc n/a".into(), |e| format!("ecc {e}"));
    let bad = device.ecc_uncorrected_total.is_some_and(|e| e > 0) || device.xid_last.is_some_and(|x| x > 0);
    let throttled = throttled(device);
    let xid = device.xid_last.filter(|x| *x > 0).map_or(String::new(), |x| format!("  XID {x}"));
    let line = format!("{power}  {temperature}{throttled}  {clock}  {ecc}{xid}");
    let role = if bad || !throttled.is_empty() { Role::Bad } else { Role::Dim };
    inner.text_upto(2, width, y + 1, &line, role);
    let mut y = y + 2;
    for (line, role) in health.map(health_lines).unwrap_or_default() {
        // The curve below comes first.
        if y + keep + 1 < inner.height() {
            inner.text_upto(2, width, y, &line, role);
            y += 1;
        }
    }
    // That there was no XID error yet is no gap.
    let is_gap = |(field, _): &&(SafeText, SafeText)| field.as_str() != "xid_last" || device.xid_total.is_none();
    if let Some((field, reason)) = device.missing.iter().find(is_gap).filter(|_| y + keep < inner.height()) {
        inner.text_upto(2, width, y, &format!("{field} n/a: {reason}"), Role::Dim);
        y += 1;
    }
    if y + keep < inner.height() {
        let curve = utilization(state, device.index, width.saturating_sub(2), inner);
        inner.text(2, y, &curve, Role::Curve);
        y += 1;
    }
    y
}

/// With the temperature from which on clocks are cut, where it is known.
fn temperature(device: &GpuSample, health: Option<&GpuHealth>) -> String {
    match (device.temperature_celsius, health.and_then(|h| h.temperature_slowdown_celsius)) {
        (Some(now), Some(limit)) => format!("{now:.0}/{limit:.0} C"),
        (Some(now), None) => format!("{now:.0} C"),
        (None, _) => tr!("temp n/a"),
    }
}

/// In words, why clocks are cut; empty where the reason is no trouble.
fn throttled(device: &GpuSample) -> String {
    let reasons = device.throttle_reasons.iter().flatten().filter(|reason| reason.is_trouble());
    let words: Vec<String> = reasons.map(|reason| throttle_words(*reason)).collect();
    if words.is_empty() { String::new() } else { format!("  {}", tr!("THROTTLED: {why}", why = words.join(", "))) }
}

fn throttle_words(reason: ThrottleReason) -> String {
    match reason {
        ThrottleReason::Idle => tr!("idle"),
        ThrottleReason::ApplicationsClocks | ThrottleReason::DisplayClocks => tr!("clocks are set"),
        ThrottleReason::SwPowerCap => tr!("power limit"),
        ThrottleReason::HwSlowdown => tr!("hardware slowdown"),
        ThrottleReason::SyncBoost => tr!("another GPU"),
        ThrottleReason::SwThermal | ThrottleReason::HwThermal => tr!("too hot"),
        ThrottleReason::HwPowerBrake => tr!("power supply"),
    }
}

/// What is asked seldom, the troubles first.
fn health_lines(health: &GpuHealth) -> Vec<(String, Role)> {
    let mut lines = Vec::new();
    let mut trouble = |is_so: Option<bool>, text: String| {
        if is_so == Some(true) {
            lines.push((text, Role::Bad));
        }
    };
    trouble(health.rows_remap_failed, tr!("memory rows could not be replaced: replace the GPU"));
    trouble(health.rows_remap_pending, tr!("memory rows wait for a reset to be replaced"));
    trouble(health.pages_retirement_pending, tr!("memory pages wait for a reset to be retired"));
    let down = health.nvlinks_active.zip(health.nvlinks).filter(|(active, all)| active < all);
    trouble(down.map(|_| true), down.map_or(String::new(), |(active, all)| tr!("NVLink {n} of {all} up", n = active, all = all)));
    let narrow = health.pcie_lanes.zip(health.pcie_lanes_max).is_some_and(|(now, most)| now < most);
    let figures = [link(health), energy(health), replaced(health), mig(health)];
    let text = figures.into_iter().flatten().collect::<Vec<_>>().join("  ");
    if !text.is_empty() {
        lines.push((text, if narrow { Role::Warn } else { Role::Dim }));
    }
    lines
}

/// PCIe as it runs, of what it could, with its traffic.
fn link(health: &GpuHealth) -> Option<String> {
    let of = |now: Option<u32>, most: Option<u32>| match (now?, most) {
        (now, Some(most)) if now != most => Some(format!("{now}/{most}")),
        (now, _) => Some(now.to_string()),
    };
    let generation = of(health.pcie_generation, health.pcie_generation_max)?;
    let lanes = of(health.pcie_lanes, health.pcie_lanes_max)?;
    let rates = health.pcie_received_bytes_per_second.zip(health.pcie_sent_bytes_per_second);
    let traffic = rates.map_or(String::new(), |(received, sent)| {
        format!(" {}", tr!("in {received}  out {sent}", received = format::bytes_rate(received), sent = format::bytes_rate(sent)))
    });
    Some(format!("PCIe {generation} x{lanes}{traffic}"))
}

fn energy(health: &GpuHealth) -> Option<String> {
    // A kilowatt-hour is 3.6 million joules.
    health.energy_joules_total.map(|joules| format!("{} kWh", format::number(joules / 3.6e6)))
}

/// Errors of the memory that the GPU has mended.
fn replaced(health: &GpuHealth) -> Option<String> {
    let rows = health.rows_remapped_corrected_total.unwrap_or(0).saturating_add(health.rows_remapped_uncorrected_total.unwrap_or(0));
    let mended = rows.saturating_add(health.pages_retired_total.unwrap_or(0));
    let corrected = health.ecc_corrected_total.unwrap_or(0);
    (mended > 0 || corrected > 0).then(|| tr!("ecc corrected {n}, replaced {rows}", n = corrected, rows = mended))
}

fn mig(health: &GpuHealth) -> Option<String> {
    let used = health.mig_instances.iter().map(|instance| match (instance.memory_used_bytes, instance.memory_total_bytes) {
        (Some(used), Some(total)) => format!("{} {}", instance.index, format::bytes_of(used, total)),
        (None, _) | (_, None) => format!("{} {}", instance.index, format::UNSET),
    });
    (health.mig_enabled == Some(true)).then(|| format!("MIG {}", used.collect::<Vec<_>>().join(", ")))
}

/// Utilisation of a device over the samples that are kept.
fn utilization(state: &DashState, index: u32, columns: u16, canvas: &Canvas<'_>) -> String {
    let values: Vec<f64> = state
        .telemetry_history
        .iter()
        .map(|(_, sample)| match &sample.gpu {
            GpuStatus::Devices(devices) => devices.iter().find(|d| d.index == index).and_then(|d| d.utilization_ratio).unwrap_or(f64::NAN),
            GpuStatus::Unavailable { .. } => f64::NAN,
        })
        .collect();
    let first = state.telemetry_history.total() - values.len() as u64;
    sparkline(&values, first, columns, (0.0, 1.0), canvas.glyphs())
}

/// Use of all cores over the samples that are kept.
fn cpu_history(state: &DashState, columns: u16, canvas: &Canvas<'_>) -> String {
    let values: Vec<f64> = state.telemetry_history.iter().map(|(_, s)| s.host.cpu_ratio.unwrap_or(f64::NAN)).collect();
    let first = state.telemetry_history.total() - values.len() as u64;
    sparkline(&values, first, columns, (0.0, 1.0), canvas.glyphs())
}

fn draw_host(below: &mut Canvas<'_>, state: &DashState, host: &HostSample) {
    let width = below.width();
    let mut lines: Vec<(String, String, Role)> = Vec::new();
    let mut line = |label: String, value: String| lines.push((label, value, Role::Text));
    let cpu = format::or_unset(host.cpu_ratio, format::percent_whole);
    let cores = host.process_cpu_cores.map_or(String::new(), |c| format!("  {}", tr!("ours {n} cores", n = format!("{c:.1}"))));
    let bar = host.cpu_ratio.filter(|_| width >= 40).map_or(String::new(), |r| format!("  {}", gauge(r, 10, below.glyphs())));
    let load = host.load_1m.map_or(String::new(), |load| format!("  {}", tr!("load {n}", n = format!("{load:.1}"))));
    line("cpu".into(), format!("{cpu:>4}{bar}{cores}{load}"));
    let memory = match (host.memory_used_bytes, host.memory_total_bytes) {
        (Some(used), Some(total)) => format::bytes_of(used, total),
        (None, _) | (_, None) => format::UNSET.to_owned(),
    };
    let rss = format::or_unset(host.process_rss_bytes, |b| format::bytes(b as f64));
    let swap = host
        .swap_used_bytes
        .filter(|used| *used > 0)
        .map_or(String::new(), |used| format!("  {}", tr!("swap {bytes}", bytes = format::bytes(used as f64))));
    line(tr!("mem"), format!("{}{swap}", tr!("{memory}  ours {rss}", memory = memory, rss = rss)));
    let rate = |v: Option<f64>| format::or_unset(v, format::bytes_rate);
    let free =
        |d: &crate::event::DiskSample| tr!("{free} free on {mount}", free = format::bytes(d.available_bytes as f64), mount = d.mount);
    line(tr!("disk"), format::or_unset(host.disk.as_ref(), free));
    let (read, written) = (rate(host.process_read_bytes_per_second), rate(host.process_written_bytes_per_second));
    let files = host.process_open_files.map_or(String::new(), |n| format!("  {}", tr!("{n} files open", n = n)));
    line("io".into(), format!("{}{files}", tr!("read {read}  write {written}", read = read, written = written)));
    let (received, sent) = (rate(host.network_received_bytes_per_second), rate(host.network_sent_bytes_per_second));
    line(tr!("net"), tr!("in {received}  out {sent}", received = received, sent = sent));
    line(tr!("done"), throughput(state));
    let y = super::labelled(below, 0, 0, &lines);
    if y < below.height() && width >= 12 {
        let curve = cpu_history(state, width - 5, below);
        below.text(0, y, "cpu", Role::Dim);
        below.text(5, y, &curve, Role::Curve);
    }
}

/// Seconds that a rate is over.
const RATE_SECONDS: u64 = 30;

/// Totals of the run, with the decisions a second of late: a pause long ago says nothing of how fast it goes now.
pub fn throughput(state: &DashState) -> String {
    let decisions = format::counted(state.decisions_total, "decision");
    let tokens = format::counted(state.tokens_total, "token");
    match decisions_rate(state) {
        Some((rate, seconds)) => {
            let rate = format::number(rate);
            tr!("{decisions} ({rate}/s in {n} s)  {tokens}", decisions = decisions, rate = rate, n = seconds, tokens = tokens)
        }
        None => format!("{decisions}  {tokens}"),
    }
}

/// Decisions a second of all lanes, and over how many seconds that is; unset in the first second.
fn decisions_rate(state: &DashState) -> Option<(f64, u64)> {
    const NS: u64 = 1_000_000_000;
    // What fell out of a lane that decides fast would count as nothing.
    let full = state.lanes.values().map(|lane| &lane.transcript.rows).filter(|rows| rows.total() > rows.len() as u64);
    let oldest = full.filter_map(|rows| rows.get(0)).map(|row| row.t_ns).max().unwrap_or(0);
    let since = state.t_ns.saturating_sub(RATE_SECONDS * NS).max(oldest);
    let span_ns = state.t_ns.saturating_sub(since);
    let is_decision = |row: &&Row| matches!(row.kind, RowKind::Action { .. } | RowKind::Text { .. });
    let newer = |lane: &LaneState| lane.transcript.rows.iter().rev().take_while(|r| r.t_ns > since).filter(is_decision).count();
    let count: usize = state.lanes.values().map(newer).sum();
    (span_ns >= NS).then(|| (count as f64 * NS as f64 / span_ns as f64, span_ns / NS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Envelope, EpisodeId, LaneId, Route, Seq, StepIndex, ToolCall, ToolCallStarted};

    #[test]
    fn the_rate_is_of_late_and_has_its_unit() {
        let mut state = DashState::default();
        let mut call = |seconds: f64| {
            let started = ToolCallStarted { call_id: 1, call: ToolCall::new("wait"), route: Route::Tool };
            let t_ns = (seconds * 1e9) as u64;
            let (lane, episode, step) = (LaneId(0), Some(EpisodeId(1)), Some(StepIndex(1)));
            state.apply(&Envelope { seq: state.seq.next(), t_ns, lane, episode, step, event: started.into() }).unwrap();
            state.decisions_total += 1;
            throughput(&state)
        };
        (1..=40).for_each(|n| drop(call(f64::from(n) / 10.0)));
        assert_eq!(call(5.0), "41 decisions (8.20/s in 5 s)  0 tokens");
        // An hour's pause later.
        assert_eq!(call(3_600.0), "42 decisions (0.033/s in 30 s)  0 tokens");
        assert_eq!(state.seq, Seq(42));
    }
    #[test]
    fn troubles_of_a_gpu_come_before_its_figures() {
        let sound = GpuHealth {
            energy_joules_total: Some(7.2e6),
            pcie_generation: Some(5),
            pcie_generation_max: Some(5),
            pcie_lanes: Some(16),
            pcie_lanes_max: Some(16),
            nvlinks: Some(18),
            nvlinks_active: Some(18),
            rows_remap_failed: Some(false),
            ..GpuHealth::default()
        };
        assert_eq!(health_lines(&sound), [("PCIe 5 x16  2.00 kWh".to_owned(), Role::Dim)]);
        let ill = GpuHealth { nvlinks_active: Some(17), pcie_lanes: Some(8), rows_remap_failed: Some(true), ..sound };
        let lines = health_lines(&ill);
        assert_eq!(lines[0], ("memory rows could not be replaced: replace the GPU".to_owned(), Role::Bad));
        assert_eq!(lines[1], ("NVLink 17 of 18 up".to_owned(), Role::Bad));
        assert_eq!(lines[2], ("PCIe 5 x8/16  2.00 kWh".to_owned(), Role::Warn));
        assert_eq!(health_lines(&GpuHealth::default()), []);
    }

    #[test]
    fn a_gpu_that_is_idle_is_not_throttled() {
        let device = |reasons: &[ThrottleReason]| GpuSample { throttle_reasons: Some(reasons.to_vec()), ..GpuSample::default() };
        assert_eq!(throttled(&device(&[ThrottleReason::Idle, ThrottleReason::SwPowerCap])), "");
        assert_eq!(throttled(&device(&[ThrottleReason::SwPowerCap, ThrottleReason::HwThermal])), "  THROTTLED: too hot");
    }
}
