//! While nothing runs the screen stands still. Samples of the machine and evaluations of rules go on; they are drawn when they tell something new,
//! not because a digit moved: a key draws the newest ones at any time.

use crate::event::{Envelope, Event, GpuSample, GpuStatus, RuleHealth, RunState, TelemetrySampled};
use crate::state::DashState;
use std::time::{Duration, Instant};

/// What moved is drawn at most this often.
const MOVED_EVERY: Duration = Duration::from_secs(10);
/// Parts of a whole, such as utilisation, that count as moved.
const RATIO: f64 = 0.2;
const WATTS: f64 = 50.0;
const CELSIUS: f64 = 5.0;

/// What of the machine stands on the screen.
#[derive(Debug, Default)]
pub struct Still {
    shown: Option<TelemetrySampled>,
    at: Option<Instant>,
    /// Rules that found no series, and those that failed.
    ill: (usize, usize),
}

impl Still {
    /// The state was drawn.
    pub fn drawn(&mut self, state: &DashState, now: Instant) {
        self.ill = ill(state);
        if self.shown != state.telemetry {
            self.shown.clone_from(&state.telemetry);
            self.at = Some(now);
        }
    }

    /// Whether an event is a reason to draw; `state` is that behind it.
    pub fn is_news(&self, envelope: &Envelope, state: &DashState, now: Instant) -> bool {
        let stands = match state.run_state {
            RunState::Paused | RunState::Ended => true,
            RunState::Starting | RunState::Running | RunState::Stepping => false,
        };
        // What begins or ends to fire is an event of its own.
        if let (Event::RuleEvaluated(_), true) = (&envelope.event, stands) {
            return ill(state) != self.ill;
        }
        let Event::TelemetrySampled(sample) = &envelope.event else { return true };
        let (Some(shown), true) = (&self.shown, stands) else { return true };
        let rested = self.at.is_none_or(|at| now.saturating_duration_since(at) >= MOVED_EVERY);
        is_urgent(&shown.gpu, &sample.gpu) || rested && has_moved(shown, sample)
    }
}

fn ill(state: &DashState) -> (usize, usize) {
    let count = |health| state.alerting.rules.iter().filter(|r| r.reading.as_ref().is_some_and(|r| r.health == health)).count();
    (count(RuleHealth::NoData), count(RuleHealth::Error))
}

/// Devices that come, go or fail are never held back.
fn is_urgent(shown: &GpuStatus, now: &GpuStatus) -> bool {
    match (shown, now) {
        (GpuStatus::Devices(a), GpuStatus::Devices(b)) => {
            let health = |d: &GpuSample| (d.index, d.lost.clone(), d.ecc_uncorrected_total, d.xid_last);
            !a.iter().map(health).eq(b.iter().map(health))
        }
        (GpuStatus::Unavailable { .. }, GpuStatus::Unavailable { .. }) => false,
        (GpuStatus::Devices(_), GpuStatus::Unavailable { .. }) | (GpuStatus::Unavailable { .. }, GpuStatus::Devices(_)) => true,
    }
}

fn has_moved(shown: &TelemetrySampled, now: &TelemetrySampled) -> bool {
    let (a, b) = (&shown.host, &now.host);
    let disk = |s: &TelemetrySampled| s.host.disk.as_ref().and_then(|d| share(Some(d.available_bytes), Some(d.total_bytes)));
    moved(a.cpu_ratio, b.cpu_ratio, RATIO)
        || moved(share(a.memory_used_bytes, a.memory_total_bytes), share(b.memory_used_bytes, b.memory_total_bytes), RATIO / 4.0)
        || moved(disk(shown), disk(now), RATIO / 4.0)
        || match (&shown.gpu, &now.gpu) {
            (GpuStatus::Devices(a), GpuStatus::Devices(b)) => a.iter().zip(b).any(|(a, b)| device_has_moved(a, b)),
            (GpuStatus::Devices(_) | GpuStatus::Unavailable { .. }, GpuStatus::Devices(_) | GpuStatus::Unavailable { .. }) => false,
        }
}

fn device_has_moved(a: &GpuSample, b: &GpuSample) -> bool {
    moved(a.utilization_ratio, b.utilization_ratio, RATIO)
        || moved(share(a.memory_used_bytes, a.memory_total_bytes), share(b.memory_used_bytes, b.memory_total_bytes), RATIO / 4.0)
        || moved(a.power_watts, b.power_watts, WATTS)
        || moved(a.temperature_celsius, b.temperature_celsius, CELSIUS)
        || is_slowed(a) != is_slowed(b)
}

/// Whether its clocks are cut for trouble.
fn is_slowed(device: &GpuSample) -> bool {
    device.throttle_reasons.iter().flatten().any(|reason| reason.is_trouble())
}

fn share(part: Option<u64>, whole: Option<u64>) -> Option<f64> {
    Some(part? as f64 / whole.filter(|w| *w > 0)? as f64)
}

/// A value that comes or goes has moved too.
fn moved(a: Option<f64>, b: Option<f64>, by: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() >= by,
        (None, None) => false,
        (Some(_), None) | (None, Some(_)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{
        EpisodeId, HostSample, LabelSet, LaneId, LogLevel, LogLine, RuleEvaluated, RuleGroupInfo, RuleInfo, RuleKind, RuleReading,
        RulesLoaded, Seq, StepIndex, ThrottleReason,
    };

    fn sample(cpu: f64, celsius: f64, ecc: u64) -> TelemetrySampled {
        let host = HostSample { cpu_ratio: Some(cpu), ..HostSample::default() };
        let gpu = GpuSample { temperature_celsius: Some(celsius), ecc_uncorrected_total: Some(ecc), ..GpuSample::default() };
        TelemetrySampled { host, gpu: GpuStatus::Devices(vec![gpu]) }
    }

    fn event(event: impl Into<Event>) -> Envelope {
        let (episode, step): (Option<EpisodeId>, Option<StepIndex>) = (None, None);
        Envelope { seq: Seq(1), t_ns: 0, lane: LaneId(0), episode, step, event: event.into() }
    }

    #[test]
    fn a_pause_stands_still_until_something_moves_and_faults_show_at_once() {
        let start = Instant::now();
        let later = start + Duration::from_secs(11);
        let mut still = Still::default();
        still.drawn(&DashState { telemetry: Some(sample(0.30, 50.0, 0)), ..DashState::default() }, start);
        let of = |run_state| DashState { run_state, ..DashState::default() };
        let news = |s: TelemetrySampled, run_state, now| still.is_news(&event(s), &of(run_state), now);
        assert!(!news(sample(0.36, 51.0, 0), RunState::Paused, later), "a digit moved");
        assert!(!news(sample(0.90, 50.0, 0), RunState::Paused, start), "too soon");
        assert!(news(sample(0.90, 50.0, 0), RunState::Paused, later));
        let mut slowed = sample(0.30, 50.0, 0);
        let GpuStatus::Devices(devices) = &mut slowed.gpu else { unreachable!() };
        devices[0].throttle_reasons = Some(vec![ThrottleReason::HwThermal]);
        assert!(news(slowed, RunState::Paused, later));
        assert!(news(sample(0.30, 70.0, 0), RunState::Ended, later));
        assert!(news(sample(0.30, 50.0, 1), RunState::Paused, start), "a fault waits for nothing");
        assert!(news(sample(0.36, 51.0, 0), RunState::Running, start));
        let line = LogLine { level: LogLevel::Warn, target: "recorder".into(), text: "slow".into() };
        assert!(still.is_news(&event(line), &of(RunState::Paused), start), "what is no sample is always news");
    }

    #[test]
    fn an_evaluation_is_news_in_a_pause_where_a_rule_begins_to_fail() {
        let group = |health| {
            let reading = RuleReading {
                rule: 0,
                health,
                error: None,
                value: Some(2.0),
                further: Vec::new(),
                unknown: None,
                series: 1,
                pending: 0,
                firing: 0,
            };
            RuleEvaluated { group: "g".into(), at_ms: 5_000, duration_ns: 1, readings: vec![reading] }
        };
        let rule = RuleInfo {
            name: "A".into(),
            kind: RuleKind::Alert,
            expr: "x > 1".into(),
            for_ms: 0,
            keep_firing_for_ms: 0,
            labels: LabelSet::default(),
            annotations: LabelSet::default(),
            threshold: None,
            further: Vec::new(),
        };
        let info = RuleGroupInfo { name: "g".into(), interval_ms: 5_000, rules: vec![rule] };
        let loaded =
            RulesLoaded { file: "f".into(), sha256: String::new(), error: None, external_labels: LabelSet::default(), groups: vec![info] };
        let mut state = DashState::default();
        state.apply(&event(loaded)).unwrap();
        state.run_state = RunState::Paused;
        let mut still = Still::default();
        still.drawn(&state, Instant::now());
        let mut seq = 1;
        let mut evaluated = |state: &mut DashState, health| {
            seq += 1;
            let envelope = Envelope { seq: Seq(seq), ..event(group(health)) };
            state.apply(&envelope).unwrap();
            envelope
        };
        let well = evaluated(&mut state, RuleHealth::Ok);
        assert!(!still.is_news(&well, &state, Instant::now()));
        assert!(still.is_news(&well, &DashState { run_state: RunState::Running, ..state.clone() }, Instant::now()));
        let failed = evaluated(&mut state, RuleHealth::Error);
        assert!(still.is_news(&failed, &state, Instant::now()));
    }
}
