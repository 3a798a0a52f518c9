//! A run with a rule in every state, for tests of screens.

use crate::event::*;
use crate::state::DashState;
use crate::ui::backstage::DryAsk;
use crate::ui::desk::{DryAlert, DryFound};

/// Ten o'clock.
const EPOCH_MS: i64 = 36_000_000;
const SECOND: u64 = 1_000_000_000;

struct Script(DashState);

impl Script {
    fn say(&mut self, seconds: u64, event: impl Into<Event>) {
        let (seq, event) = (self.0.seq.next(), event.into());
        let envelope = Envelope { seq, t_ns: seconds * SECOND, lane: LaneId(0), episode: None, step: None, event };
        self.0.apply(&envelope).unwrap();
    }

    fn turn(&mut self, seconds: u64, rule: &str, severity: &str, own: &[(&str, &str)], state: AlertState, value: f64) {
        let pairs = [("alertname", rule), ("severity", severity), ("instance", "host-a")];
        let labels = set(&[&pairs, own].concat());
        let at_ms = EPOCH_MS + seconds as i64 * 1_000;
        let detail = AlertDetail { group: "g".into(), labels, annotations: LabelSet::default(), value, active_at_ms: at_ms, at_ms };
        let summary = format!("{rule} is at {value}").into();
        let detail = Some(Box::new(detail));
        self.say(seconds, AlertStateChanged { rule: rule.into(), state, severity: severity.into(), summary, detail });
    }

    fn silence(&mut self, seconds: u64, id: &str, kind: SilenceKind, matchers: &[&str], comment: &str) {
        let silence = Silence {
            kind,
            matchers: matchers.iter().map(|m| m.parse().unwrap()).collect(),
            starts_ms: EPOCH_MS,
            ends_ms: EPOCH_MS + 3 * 3_600_000,
            created_by: "ops1".into(),
            comment: comment.into(),
        };
        self.say(seconds, SilenceSet { id: id.into(), silence });
    }
}

fn set(pairs: &[(&str, &str)]) -> LabelSet {
    pairs.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect()
}

fn rule(name: &str, severity: &str, left: &str, operator: &str, number: f64) -> RuleInfo {
    RuleInfo {
        name: name.into(),
        kind: RuleKind::Alert,
        expr: format!("{left} {operator} {number}").into(),
        for_ms: 60_000,
        keep_firing_for_ms: 0,
        labels: if severity.is_empty() { LabelSet::default() } else { set(&[("severity", severity)]) },
        annotations: set(&[("summary", "{{ $value }}"), ("runbook_url", "docs/runbooks/Watchdog.md")]),
        threshold: Some(Threshold { left: left.into(), operator: operator.into(), number }),
        further: Vec::new(),
    }
}

fn rules() -> Vec<RuleInfo> {
    let further = |join, left: &str, operator: &str, number| FurtherThreshold {
        join,
        threshold: Threshold { left: left.into(), operator: operator.into(), number },
    };
    let success = RuleInfo {
        expr: "success_ratio < 0.85 and on () episodes > 10".into(),
        further: vec![further(Join::And, "episodes", ">", 10.0)],
        ..rule("SuccessLow", "critical", "success_ratio", "<", 0.85)
    };
    let bare =
        RuleInfo { kind: RuleKind::Record, threshold: None, expr: "sum(rate(x[5m]))".into(), ..rule("job:x:rate", "", "x", ">", 0.0) };
    vec![
        rule("ToolRateLimited", "warning", "rate(tool_limited_total[1m])", ">", 4.5),
        rule("RewardDrop", "critical", "return_mean", "<", 0.5),
        rule("GpuTempHigh", "warning", "gpu_temperature_celsius", ">", 70.0),
        rule("EnvTimeouts", "warning", "timeout_ratio", ">", 0.05),
        success,
        rule("KlSpike", "critical", "pilothouse_update_kll", ">", 0.2),
        rule("LossNaN", "critical", "loss", ">", 1.0),
        rule("Flappy", "info", "queue_seconds", ">", 2.0),
        rule("QueueLong", "", "queue", ">", 9.0),
        bare,
    ]
}

fn reading(rule: u32, value: f64) -> RuleReading {
    let health = match rule {
        5 => RuleHealth::NoData,
        6 => RuleHealth::Error,
        _ => RuleHealth::Ok,
    };
    let near = Some("pilothouse_update_kl".into());
    RuleReading {
        rule,
        health,
        error: (rule == 6).then(|| "many-to-many matching not allowed".into()),
        value: (health == RuleHealth::Ok).then_some(value),
        further: if rule == 4 { vec![Some(num::Float(12.0))] } else { Vec::new() },
        unknown: (rule == 5).then(|| UnknownSeries { name: "pilothouse_update_kll".into(), near }),
        series: 1,
        pending: 0,
        firing: 0,
    }
}

/// Half an hour in which everything happened.
pub fn every_state() -> DashState {
    let mut script = Script(DashState::default());
    let group = RuleGroupInfo { name: "g".into(), interval_ms: 5_000, rules: rules() };
    let (file, sha256) = ("rules.yaml".into(), String::new());
    script.say(1, RulesLoaded { file, sha256, error: None, external_labels: LabelSet::default(), groups: vec![group] });
    let values = [4.8, 0.41, 71.0, 0.06, 0.872, 0.0, 0.0, 2.5, 4.0, 17.3];
    for n in 0..60u64 {
        let wave = 0.8 + 0.2 * ((n as f64) * 0.4).sin() * (60 - n) as f64 / 60.0;
        let readings = values.iter().enumerate().map(|(rule, value)| reading(rule as u32, value * if n == 59 { 1.0 } else { wave }));
        let (readings, at_ms) = (readings.collect(), EPOCH_MS + 30_000 * n as i64);
        script.say(30 * n, RuleEvaluated { group: "g".into(), at_ms, duration_ns: 300_000, readings });
    }
    use AlertState::*;
    for (n, state) in [Firing, Resolved].into_iter().cycle().take(7).enumerate() {
        script.turn(1_770 + n as u64, "Flappy", "info", &[], state, 2.5);
    }
    script.turn(1_777, "QueueLong", "", &[], Firing, 11.0);
    script.turn(1_778, "QueueLong", "", &[], Resolved, 4.0);
    script.turn(1_779, "ToolRateLimited", "warning", &[("tool", "web_search")], Pending, 4.7);
    script.turn(1_780, "ToolRateLimited", "warning", &[("tool", "web_search")], Firing, 4.8);
    script.turn(1_781, "RewardDrop", "critical", &[("run", "fin-ops-07")], Firing, 0.41);
    script.turn(1_782, "EnvTimeouts", "warning", &[("env", "sim-3")], Firing, 0.06);
    script.turn(1_783, "GpuTempHigh", "warning", &[("gpu", "0")], Pending, 71.0);
    script.silence(1_784, "s1", SilenceKind::Silence, &["alertname=EnvTimeouts"], "known");
    script.silence(1_785, "s2", SilenceKind::Acknowledgement, &["alertname=RewardDrop"], "on it");
    script.silence(1_786, "s3", SilenceKind::Silence, &["gpu=~\"[0-3]\""], "old");
    script.say(1_787, SilenceEnded { id: "s3".into() });
    let notified = AlertNotified {
        receiver: "webhook".into(),
        rules: vec!["ToolRateLimited".into()],
        ok: true,
        outcome: "200".into(),
        duration_ns: 31_000_000,
    };
    script.say(1_790, notified);
    script.say(1_814, LogLine { level: LogLevel::Info, target: "x".into(), text: "later".into() });
    script.0
}

/// A dry run that found something.
pub fn dry_run() -> (DryAsk, Option<Result<DryFound, String>>) {
    let alert = |labels: &str, fired: u64, resolved: Option<u64>, seq| DryAlert {
        rule: "GpuTempHigh".into(),
        labels: labels.into(),
        value: 71.5,
        fired_t_ns: fired * SECOND,
        resolved_t_ns: resolved.map(|t| t * SECOND),
        step: "1/12".into(),
        seq: Seq(seq),
    };
    let found = DryFound {
        alerts: vec![alert("gpu=0", 60, Some(130), 40), alert("gpu=1", 200, Some(220), 70), alert("gpu=0", 400, None, 80)],
        left_out: 0,
        mute: vec![("KlSpike".into(), "its selectors matched no series".into())],
        t_ns_end: 600 * SECOND,
        damage: None,
    };
    let ask = DryAsk { rule: Some("GpuTempHigh".into()), recording: Some("recordings/success.jsonl".into()), file: "rules.yaml".into() };
    (ask, Some(Ok(found)))
}
