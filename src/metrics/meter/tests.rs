//! Events in, series out.

use super::*;
use crate::metrics::{Caps, MatchOp, Matcher, TABLE, is_stale};

const START_MS: i64 = 1_767_225_600_000;

struct Run {
    events: Vec<Envelope>,
    t_ns: u64,
}

impl Run {
    fn new() -> Self {
        let mut run = Self { events: Vec::new(), t_ns: 0 };
        run.say(RunStarted {
            run: RunId::from("01J"),
            started: "2026-01-01T00:00:00Z".into(),
            build: "pilothouse 1.2.3".into(),
            agent: "deckhand".into(),
            env: "ops".into(),
            env_version: "1".into(),
            level: Level::L1,
            seed: Seed(1),
            lanes: 2,
            max_steps: 10,
            tools: vec![],
            reward: RewardFormula::default(),
            profile: "dev".into(),
            decoding: None,
        });
        run
    }

    fn say(&mut self, event: impl Into<Event>) {
        let seq = Seq(self.events.len() as u64 + 1);
        let (episode, step) = (Some(EpisodeId(1)), Some(StepIndex(1)));
        self.events.push(Envelope { seq, t_ns: self.t_ns, lane: LaneId(0), episode, step, event: event.into() });
    }

    fn after(&mut self, ms: u64, event: impl Into<Event>) {
        self.t_ns += ms * 1_000_000;
        self.say(event);
    }

    /// One decision whose call ends so.
    fn decision(&mut self, tool: &str, error_type: Option<ErrorType>) {
        self.after(10, PhaseEntered { phase: Phase::Observe });
        let values = vec![Some(3.0), None];
        self.say(ObservationReceived { observation: Observation { values, ..Observation::default() } });
        self.after(40, PhaseEntered { phase: Phase::Think });
        let message = json(
            r#"{"text":"t","thought":"","token_ids":[1,2,3],"logprobs":[-0.5,-1,-0.25],"entropy":[0.5,0.1,0.2],
            "trainer_logprobs":[-0.5,-1,-0.25],"finish_reason":"stop","prompt_tokens":100,"cached_tokens":60,"duration_ns":500000000,"prefill_ns":200000000}"#,
        );
        self.after(500, serde_json::from_value::<MessageCompleted>(message).unwrap());
        self.say(PhaseEntered { phase: Phase::Act });
        self.say(ToolCallStarted { call_id: 1, route: Route::Tool, call: ToolCall::new(tool) });
        let finished = ToolCallFinished { call_id: 1, tool: tool.into(), result: "".into(), error_type, duration_ns: 20_000_000 };
        self.after(30, finished);
        self.after(1, DecisionSettled { duration_ns: 581_000_000, memory_bytes: Some(1234) });
    }

    fn meter(&self) -> Meter {
        let mut meter = Meter::new("host", "pilothouse");
        self.events.iter().for_each(|e| meter.observe(e));
        meter
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn value(store: &Store, name: &str, labels: &[(&str, &str)], at_ms: i64) -> Option<f64> {
    let all = [(METRIC_NAME, name)].into_iter().chain(labels.iter().copied());
    let matchers: Vec<Matcher> = all.map(|(name, value)| Matcher::new(name, MatchOp::Equal, value).unwrap()).collect();
    let found = store.select(&matchers);
    assert!(found.len() < 2, "{found:?}");
    found.first().and_then(|s| s.latest(at_ms - 300_000, at_ms)).map(|p| p.value)
}

#[test]
fn a_decision_becomes_series() {
    let mut run = Run::new();
    run.say(RunStateChanged { state: RunState::Running, reason: "".into() });
    run.decision("restart", None);
    run.decision("restart", Some(ErrorType::Schema));
    let (mut meter, mut store) = (run.meter(), Store::default());
    let at_ms = START_MS + 5000;
    meter.collect(&mut store, at_ms);
    let of = |name: &str, labels: &[(&str, &str)]| value(&store, name, labels, at_ms);
    assert_eq!(of("pilothouse_decisions_total", &[("instance", "host"), ("job", "pilothouse")]), Some(2.0));
    assert_eq!(of("pilothouse_tool_calls_total", &[("error_type", "")]), Some(1.0));
    assert_eq!(of("pilothouse_tool_calls_total", &[("error_type", "schema")]), Some(1.0));
    assert_eq!((of("action_failures_total", &[]), of("pilothouse_actions_total", &[])), (Some(1.0), Some(2.0)));
    assert_eq!(of("pilothouse_format_errors_total", &[("direction", "output"), ("error_type", "schema")]), Some(1.0));
    assert_eq!(of("pilothouse_inference_prefill_duration_seconds_sum", &[]), Some(0.4));
    assert_eq!(of("pilothouse_inference_decode_duration_seconds_sum", &[]), Some(0.6));
    assert_eq!(of("pilothouse_inference_queue_duration_seconds_sum", &[]), Some(0.08));
    assert_eq!(of("pilothouse_tool_duration_seconds_count", &[("tool", "restart")]), Some(2.0));
    assert_eq!(of("pilothouse_env_step_duration_seconds_bucket", &[("le", "0.025")]), Some(2.0));
    assert_eq!(of("pilothouse_env_step_duration_seconds_bucket", &[("le", "0.01")]), Some(0.0));
    assert_eq!(of("pilothouse_env_readings_missing_total", &[]), Some(2.0));
    assert_eq!(of("pilothouse_token_surprisal_nats_count", &[]), Some(6.0));
    assert_eq!((of("pilothouse_effective_sample_size_ratio", &[]), of("pilothouse_mismatch_kl_nats", &[])), (Some(1.0), Some(0.0)));
    assert_eq!(of("pilothouse_agent_memory_bytes", &[]), Some(1234.0));
    assert_eq!(of("pilothouse_build_info", &[("version", "1.2.3")]), Some(1.0));
    assert_eq!(of("pilothouse_last_progress_timestamp_seconds", &[]), Some(START_MS as f64 / 1e3 + 1.162));
    assert_eq!(of("pilothouse_context_used_ratio", &[]), None, "how long the context is was not told");
    assert_eq!(of("up", &[("job", "pilothouse")]), Some(1.0));
    assert_eq!(of("pilothouse_host_cpu_ratio", &[]), None, "what was never sampled has no series");
}

#[test]
fn a_recording_gives_the_same_series_as_the_run() {
    let mut run = Run::new();
    for n in 0..20 {
        run.decision(["restart", "logs", "scale"][n % 3], (n % 4 == 0).then_some(ErrorType::Refused));
    }
    let lines: Vec<String> = run.events.iter().map(|e| serde_json::to_string(e).unwrap()).collect();
    let mut recorded = Meter::new("host", "pilothouse");
    lines.iter().for_each(|line| recorded.observe(&Envelope::from_json(line).unwrap()));
    let live = run.meter();
    assert_eq!(live.exposition(Format::OpenMetrics), recorded.exposition(Format::OpenMetrics));
    // An event that comes twice is one.
    run.events.iter().for_each(|e| recorded.observe(e));
    assert_eq!(live.exposition(Format::Text004), recorded.exposition(Format::Text004));
}

#[test]
fn events_that_are_missing_are_counted() {
    let mut run = Run::new();
    run.decision("restart", None);
    let mut meter = Meter::new("", "");
    run.events.iter().filter(|e| !(3..=5).contains(&e.seq.0)).for_each(|e| meter.observe(e));
    assert!(meter.exposition(Format::Text004).contains("pilothouse_events_missed_total 3\n"));
}

type Given<'g> = (&'g str, &'g [(&'g str, &'g str)], f64);

fn scrape(up: bool, samples: &[Given<'_>]) -> TargetScraped {
    let labels = |pairs: &[(&str, &str)]| pairs.iter().map(|(n, v)| (SafeText::new(n), SafeText::new(v))).collect();
    let samples = samples.iter().map(|(name, pairs, value)| ScrapedSample {
        name: (*name).into(),
        labels: labels(pairs),
        value: *value,
        at_ms: None,
    });
    TargetScraped {
        job: "vllm".into(),
        instance: "h:1".into(),
        url: "".into(),
        up,
        error: None,
        is_unreadable: false,
        duration_ns: 5_000_000,
        samples_total: samples.len() as u32,
        samples: samples.collect(),
    }
}

#[test]
fn a_target_is_written_as_prometheus_would() {
    let mut run = Run::new();
    run.after(
        1000,
        scrape(true, &[("a", &[("job", "x"), ("exported_job", "y")], 1.0), ("b", &[("n", "1")], 2.0), ("b", &[("n", "1")], 9.0)]),
    );
    run.after(1000, scrape(true, &[("a", &[("job", "x"), ("exported_job", "y")], 3.0)]));
    run.after(1000, scrape(false, &[]));
    let (mut meter, mut store) = (run.meter(), Store::default());
    meter.collect(&mut store, START_MS + 5000);
    let a = [("job", "vllm"), ("instance", "h:1"), ("exported_exported_job", "x"), ("exported_job", "y")];
    let b = [("job", "vllm"), ("n", "1")];
    let of = |name: &str, labels: &[(&str, &str)], s: i64| value(&store, name, labels, START_MS + s * 1000);
    assert_eq!((of("a", &a, 1), of("a", &a, 2)), (Some(1.0), Some(3.0)));
    assert_eq!(of("b", &b, 1), Some(2.0), "of two the first holds");
    assert!(of("b", &b, 2).is_some_and(is_stale), "it was left out");
    assert!(of("a", &a, 3).is_some_and(is_stale), "the target is down");
    let about = [("job", "vllm"), ("instance", "h:1")];
    assert_eq!((of("up", &about, 2), of("up", &about, 3)), (Some(1.0), Some(0.0)));
    assert_eq!((of("scrape_samples_scraped", &about, 1), of("scrape_samples_scraped", &about, 3)), (Some(3.0), Some(0.0)));
    assert_eq!(of("scrape_duration_seconds", &about, 1), Some(0.005));
}

#[test]
fn what_can_no_longer_be_read_ends() {
    let sample = |cpu_ratio, utilization_ratio| TelemetrySampled {
        host: HostSample { cpu_ratio, ..HostSample::default() },
        gpu: GpuStatus::Devices(vec![GpuSample { index: 3, utilization_ratio, ..GpuSample::default() }]),
    };
    let mut run = Run::new();
    run.after(1000, sample(Some(0.25), Some(0.5)));
    let mut meter = run.meter();
    let mut store = Store::new(Caps::default());
    meter.collect(&mut store, START_MS + 1000);
    run.after(2000, sample(None, None));
    run.events.iter().for_each(|e| meter.observe(e));
    meter.collect(&mut store, START_MS + 3000);
    let of = |name: &str, s: i64| value(&store, name, &[], START_MS + s * 1000);
    assert_eq!((of("pilothouse_host_cpu_ratio", 1), of("pilothouse_gpu_utilization_ratio", 1)), (Some(0.25), Some(0.5)));
    assert!(of("pilothouse_host_cpu_ratio", 3).is_some_and(is_stale) && of("pilothouse_gpu_utilization_ratio", 3).is_some_and(is_stale));
    assert_eq!((of("pilothouse_gpu_seconds_total", 3), of("pilothouse_gpu_lost", 3)), (Some(2.0), Some(0.0)));
    run.after(1000, sample(Some(0.75), None));
    run.events.iter().for_each(|e| meter.observe(e));
    meter.collect(&mut store, START_MS + 4000);
    assert_eq!(value(&store, "pilothouse_host_cpu_ratio", &[], START_MS + 4000), Some(0.75), "and begins again");
}

#[test]
fn what_a_gpu_tells_seldom_holds_until_it_is_lost() {
    let sample = |health: Option<GpuHealth>, lost: Option<&str>| {
        let throttle_reasons = Some(vec![ThrottleReason::HwThermal]);
        let (health, lost) = (health.map(Box::new), lost.map(SafeText::new));
        let gpu = GpuSample { index: 1, throttle_reasons, health, lost, ..GpuSample::default() };
        TelemetrySampled { host: HostSample::default(), gpu: GpuStatus::Devices(vec![gpu]) }
    };
    let mig = MigInstance { index: 2, memory_used_bytes: Some(5), memory_total_bytes: None };
    let health = GpuHealth {
        energy_joules_total: Some(1.5),
        clock_sm_max_mhz: Some(1980),
        rows_remap_failed: Some(true),
        mig_instances: vec![mig],
        ..GpuHealth::default()
    };
    let mut run = Run::new();
    run.after(1000, sample(Some(health), None));
    run.after(1000, sample(None, None));
    let text = run.meter().exposition(Format::Text004);
    for line in [
        "pilothouse_gpu_energy_joules_total{gpu=\"1\"} 1.5\n",
        "pilothouse_gpu_sm_clock_max_hertz{gpu=\"1\"} 1980000000\n",
        "pilothouse_gpu_rows_remap_failed{gpu=\"1\"} 1\n",
        "pilothouse_gpu_mig_memory_used_bytes{gpu=\"1\",instance_index=\"2\"} 5\n",
        "pilothouse_gpu_throttled{gpu=\"1\",reason=\"hw_thermal\"} 1\n",
        "pilothouse_gpu_throttled{gpu=\"1\",reason=\"idle\"} 0\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert!(!text.contains("pilothouse_gpu_mig_memory_total_bytes{"), "what it did not tell has no series");
    run.after(1000, sample(None, Some("off the bus")));
    assert!(!run.meter().exposition(Format::Text004).contains("pilothouse_gpu_energy_joules_total{"));
}

#[test]
fn names_from_outside_are_bounded() {
    let mut run = Run::new();
    for n in 0..500 {
        run.decision(&format!("tool\"\\\n{n}"), None);
    }
    let text = run.meter().exposition(Format::Text004);
    assert!(text.contains("pilothouse_tool_calls_total{tool=\"tool\\\"\\\\\\n0\"} 1\n"), "{text}");
    assert!(text.contains("pilothouse_tool_calls_total{tool=\"other\"} 436\n"));
}

#[test]
fn every_family_is_named_as_prometheus_wants_it() {
    let mut names = std::collections::BTreeSet::new();
    for family in TABLE {
        let name = family.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(name.starts_with("pilothouse_") || name == "action_failures_total", "{name}");
        assert_eq!(name.ends_with("_total"), family.kind == crate::metrics::Kind::Counter, "{name}");
        let stem = name.strip_suffix("_total").unwrap_or(name);
        assert!(family.unit.is_empty() || stem.ends_with(&format!("_{}", family.unit)), "{name}: {}", family.unit);
        assert!(family.help().ends_with('.') && !family.help().contains('\n'), "{name}");
        assert!(!family.labels.iter().any(|l| ["le", "quantile", "instance", "job", "episode", "call_id"].contains(l)), "{name}");
        for kind in family.source.split(", ").filter(|s| !s.contains("every event")) {
            assert!(Event::KINDS.contains(&kind), "{name}: no event is of kind {kind}");
        }
        if let crate::metrics::Kind::Histogram(ends) = family.kind {
            assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        }
    }
}

#[test]
fn what_a_success_costs_is_told_from_the_first_one_on_and_idle_gpus_are_counted() {
    let mut run = Run::new();
    let sample = || {
        let gpu = |index| GpuSample { index, xid_total: Some(0), ..GpuSample::default() };
        TelemetrySampled { host: HostSample::default(), gpu: GpuStatus::Devices(vec![gpu(0), gpu(1)]) }
    };
    let ended = |success| EpisodeEnded {
        ending: EpisodeEnding::Terminated,
        episode_return: 1.0,
        final_reward: 1.0,
        hybrid: 1.0,
        success,
        length: 1,
        tool_errors: 0,
        thought_fidelity: None,
        truth: "".into(),
    };
    let told = |run: &Run, name: &str, labels: &[(&str, &str)]| {
        let (mut meter, mut store) = (run.meter(), Store::default());
        meter.collect(&mut store, START_MS + 60_000);
        value(&store, name, labels, START_MS + 60_000)
    };
    run.say(sample());
    // Two GPUs are held for ten seconds before it runs, and for twenty while it does.
    run.after(10_000, sample());
    run.say(RunStateChanged { state: RunState::Running, reason: "".into() });
    run.decision("restart", None);
    run.decision("restart", None);
    run.after(20_000 - 2 * 581, sample());
    run.say(ended(false));
    assert_eq!(told(&run, "pilothouse_output_tokens_per_success", &[]), None);
    run.say(ended(true));
    run.say(ended(true));
    assert_eq!(told(&run, "pilothouse_output_tokens_per_success", &[]), Some(3.0));
    assert_eq!(told(&run, "pilothouse_gpu_seconds_per_success", &[]), Some(30.0));
    assert_eq!(told(&run, "pilothouse_gpu_idle_seconds_total", &[("gpu", "1")]), Some(10.0));
    assert_eq!(told(&run, "pilothouse_gpu_seconds_total", &[("gpu", "1")]), Some(30.0));
    assert_eq!(told(&run, "pilothouse_gpu_xid_errors_total", &[("gpu", "0")]), Some(0.0));
}

#[test]
fn who_waits_is_told_and_metrics_that_cannot_be_read_are_format_errors() {
    let mut run = Run::new();
    let inputs = [("direction", "input"), ("error_type", "exposition")];
    let told = |run: &Run, name: &str, labels: &[(&str, &str)]| {
        let (mut meter, mut store) = (run.meter(), Store::default());
        meter.collect(&mut store, START_MS + 60_000);
        value(&store, name, labels, START_MS + 60_000)
    };
    assert_eq!(told(&run, "pilothouse_format_errors_total", &inputs), Some(0.0));
    assert_eq!(told(&run, "pilothouse_samples_dropped_total", &[("sampler", "telemetry")]), Some(0.0));
    run.say(RunStateChanged { state: RunState::Running, reason: "".into() });
    run.say(PhaseEntered { phase: Phase::Think });
    assert_eq!(told(&run, "pilothouse_lanes_waiting", &[("on", "policy")]), Some(1.0));
    run.after(1_000, RunStateChanged { state: RunState::Paused, reason: "".into() });
    assert_eq!(told(&run, "pilothouse_lanes_waiting", &[("on", "policy")]), Some(0.0));
    assert_eq!(told(&run, "pilothouse_lanes_waiting", &[("on", "operator")]), Some(1.0));
    run.say(TargetScraped { is_unreadable: true, ..scrape(false, &[]) });
    run.say(scrape(false, &[]));
    assert_eq!(told(&run, "pilothouse_format_errors_total", &inputs), Some(1.0));
}
