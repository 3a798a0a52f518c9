//! A real Prometheus scrapes this program, and the same queries give the same values in both. Ignored by a plain `cargo test`; `.ci/run` installs it.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use pilothouse::alert::promql::{Limits, Query, Value};
use pilothouse::metrics::{Caps, Labels, METRIC_NAME, Store};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PILOTHOUSE: &str = env!("CARGO_BIN_EXE_pilothouse");
/// The longest that a program may take to show something: a wait, not a measurement.
const PATIENCE: Duration = Duration::from_secs(90);
/// Scrapes that a query has to look at.
const SCRAPES: usize = 12;

/// Expressions of every kind over our series. Their values hang on the samples alone.
const QUERIES: [&str; 42] = [
    "up",
    "pilothouse_decisions_total",
    "pilothouse_build_info",
    "count({job=\"pilothouse\"})",
    "count by (__name__) ({__name__=~\"pilothouse_.+\"})",
    "count({job=\"pilothouse\",__name__!~\".*_bucket\"})",
    "rate(action_failures_total[30s])",
    "rate(action_failures_total[30s]) / rate(pilothouse_actions_total[30s])",
    "increase(pilothouse_decisions_total[20s])",
    "irate(pilothouse_decisions_total[30s])",
    "delta(pilothouse_last_progress_timestamp_seconds[20s])",
    "idelta(pilothouse_last_progress_timestamp_seconds[20s])",
    "deriv(pilothouse_decisions_total[30s])",
    "predict_linear(pilothouse_decisions_total[30s], 60)",
    "changes(pilothouse_decisions_total[30s])",
    "resets(pilothouse_decisions_total[30s])",
    "sum(rate(pilothouse_tool_calls_total[30s]))",
    "sum by (tool) (pilothouse_tool_calls_total)",
    "sum without (instance, job) (pilothouse_tool_calls_total)",
    "topk(2, sum by (tool) (pilothouse_tool_calls_total))",
    "bottomk(1, pilothouse_time_seconds_total)",
    "quantile(0.5, pilothouse_time_seconds_total)",
    "stddev(pilothouse_time_seconds_total)",
    "avg(pilothouse_step_reward_bucket)",
    "count_values(\"v\", pilothouse_run_state)",
    "histogram_quantile(0.95, sum by (le) (rate(pilothouse_decision_duration_seconds_bucket[30s])))",
    "histogram_quantile(0.5, sum by (le, tool) (pilothouse_tool_duration_seconds_bucket))",
    "pilothouse_episode_return_sum / pilothouse_episode_return_count",
    "pilothouse_tool_calls_total / on (instance, job) group_left pilothouse_actions_total",
    "pilothouse_tool_calls_total > 5",
    "pilothouse_tool_calls_total > bool 5",
    "pilothouse_run_state == 1 unless pilothouse_run_state{state=\"paused\"}",
    "pilothouse_run_state{state=\"running\"} and on (instance) pilothouse_decisions_total",
    "absent(pilothouse_nothing{job=\"x\"})",
    "absent(pilothouse_decisions_total)",
    "label_replace(pilothouse_run_state, \"s\", \"$1\", \"state\", \"(.).*\")",
    "avg_over_time(pilothouse_events_total[15s])",
    "max_over_time(rate(pilothouse_decisions_total[10s])[20s:5s])",
    "quantile_over_time(0.9, pilothouse_events_total[20s])",
    "clamp_max(pilothouse_pace, 7)",
    "round(pilothouse_env_steps_total offset 5s, 10)",
    "-pilothouse_lanes ^ 2 + scalar(pilothouse_lanes) % 2",
];

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Our program, and where it serves.
fn pilothouse(home: &Path) -> (Running, String) {
    let args = [
        "run",
        "--headless",
        "--agent",
        "random",
        "--episodes",
        "1000000",
        "--pace",
        "32",
        "--seed",
        "7",
        "--lanes",
        "2",
        "--http",
        "127.0.0.1:0",
    ];
    let mut command = Command::new(PILOTHOUSE);
    command.args(args).env("HOME", home).env("XDG_STATE_HOME", home).env("XDG_CONFIG_HOME", home).env_remove("PILOTHOUSE_PROFILE");
    let mut running = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stderr.take().unwrap()).lines();
    let line = lines.by_ref().map_while(Result::ok).find(|l| l.contains("serving http://")).unwrap();
    // Its pipe is read to the end, so that it never waits for us.
    std::thread::spawn(move || lines.count());
    let address = line.split("http://").nth(1).unwrap().trim_end_matches("/metrics").to_owned();
    (running, address)
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn prometheus(home: &Path, target: &str, plain: bool) -> (Running, String) {
    let address = free_address();
    // This Prometheus always asks for OpenMetrics first; a proxy of one header makes it take the plain text.
    let target = if plain { plain_proxy(target) } else { target.to_owned() };
    let config = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\nscrape_configs:\n  - job_name: pilothouse\n    static_configs: [{{targets: ['{target}']}}]\n"
    );
    std::fs::write(home.join("prometheus.yml"), config).unwrap();
    let mut command = Command::new("prometheus");
    command
        .args(["--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--log.level=error"])
        .arg(format!("--web.listen-address={address}"));
    let spawned = command.current_dir(home).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    (Running(spawned.unwrap_or_else(|e| panic!("prometheus: {e}; .ci/run installs it"))), address)
}

/// Passes requests on without their `Accept`.
fn plain_proxy(target: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, target) = (listener.local_addr().unwrap().to_string(), target.to_owned());
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let target = target.clone();
            std::thread::spawn(move || pass_on(client, &target));
        }
    });
    address
}

fn pass_on(mut client: TcpStream, target: &str) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") {
        match client.read(&mut piece) {
            Ok(n) if n > 0 => request.extend_from_slice(&piece[..n]),
            Ok(_) | Err(_) => return,
        }
    }
    let answer = get(target, "/metrics", "text/plain");
    let _ = client.write_all(answer.as_bytes());
}

/// The whole answer, with its head.
fn get(address: &str, path: &str, accept: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(address) else { return String::new() };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    if stream.write_all(request.as_bytes()).is_ok() {
        let _ = stream.read_to_string(&mut answer);
    }
    answer
}

fn ask(address: &str, query: &str, at_ms: Option<i64>) -> serde_json::Value {
    let encoded: String = query.bytes().map(|b| format!("%{b:02X}")).collect();
    let time = at_ms.map(|at| format!("&time={}.{:03}", at / 1000, at % 1000)).unwrap_or_default();
    let answer = get(address, &format!("/api/v1/query?query={encoded}{time}"), "*/*");
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(body).map(|v| v["data"]["result"].clone()).unwrap_or_default()
}

fn labels(metric: &serde_json::Value) -> Labels {
    let pairs = metric.as_object().unwrap();
    Labels::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())))
}

fn number(text: &serde_json::Value) -> f64 {
    let text = text.as_str().unwrap();
    match text {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        text => text.parse().unwrap(),
    }
}

/// Waits for scrapes; the time of the last that is looked at.
fn scraped(address: &str) -> i64 {
    let begin = Instant::now();
    loop {
        let result = ask(address, "up{job=\"pilothouse\"}[2m]", None);
        let times: Vec<f64> = result[0]["values"]
            .as_array()
            .map(|v| v.iter().filter(|v| v[1] == "1").map(|v| v[0].as_f64().unwrap()).collect())
            .unwrap_or_default();
        if times.len() >= SCRAPES {
            return (times[times.len() - 1] * 1000.0).round() as i64;
        }
        assert!(begin.elapsed() < PATIENCE, "it is never scraped: {result}\n{}", get(address, "/api/v1/targets", "*/*"));
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// All that Prometheus has up to a time, in a store of ours.
fn loaded(address: &str, at_ms: i64) -> Store {
    let mut store = Store::new(Caps::default());
    let all = ask(address, "{__name__!=\"\"}[5m]", Some(at_ms));
    for series in all.as_array().unwrap() {
        let labels = labels(&series["metric"]);
        for point in series["values"].as_array().unwrap() {
            let t_ms = (point[0].as_f64().unwrap() * 1000.0).round() as i64;
            store.append(&labels, t_ms, number(&point[1])).unwrap();
        }
    }
    store
}

type Answer = BTreeMap<Labels, f64>;

fn theirs(address: &str, query: &str, at_ms: i64) -> Answer {
    let result = ask(address, query, Some(at_ms));
    let rows = result.as_array().unwrap_or_else(|| panic!("{query}: {result}"));
    rows.iter().map(|row| (labels(&row["metric"]), number(&row["value"][1]))).collect()
}

fn ours(store: &Store, query: &str, at_ms: i64) -> Answer {
    let limits = Limits::default();
    let parsed = Query::parse(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    match parsed.instant(store, at_ms, &limits).unwrap_or_else(|e| panic!("{query}: {e}")).value {
        Value::Vector(samples) => samples.into_iter().map(|s| (s.labels, s.value)).collect(),
        other => panic!("{query}: {other:?}"),
    }
}

fn is_near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn compare(plain: bool) {
    let home = tempfile::tempdir().unwrap();
    let (_run, target) = pilothouse(home.path());
    let (_prometheus, address) = prometheus(home.path(), &target, plain);
    // A time between two scrapes: one that is a scrape's own stands on an edge, which Prometheus 3 left open and this one did not.
    let at_ms = scraped(&address) + 137;
    std::thread::sleep(Duration::from_millis(500));
    let store = loaded(&address, at_ms);
    assert!(store.series_count() > 300, "{}", store.series_count());
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for query in QUERIES {
        let (theirs, ours) = (theirs(&address, query, at_ms), ours(&store, query, at_ms));
        rows += theirs.len();
        let same =
            theirs.len() == ours.len() && theirs.iter().all(|(labels, value)| ours.get(labels).is_some_and(|own| is_near(*own, *value)));
        if !same {
            wrong.push(format!("{query}\n  Prometheus {theirs:?}\n  ours       {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), QUERIES.len(), wrong.join("\n"));
    assert!(rows > 100, "there was next to nothing to compare: {rows}");
    let le = ask(&address, "count by (le) (pilothouse_tool_duration_seconds_bucket{le=\"1.0\"})", Some(at_ms));
    assert_eq!(le.as_array().map(Vec::len), Some(1), "buckets are named alike in both formats");
    let targets = get(&address, "/api/v1/targets", "*/*");
    assert!(targets.contains("\"lastError\":\"\"") && targets.contains("\"health\":\"up\""), "{targets}");
}

#[test]
#[ignore = "needs prometheus"]
fn prometheus_reads_openmetrics_and_queries_come_out_alike() {
    compare(false);
}

#[test]
#[ignore = "needs prometheus"]
fn prometheus_reads_the_plain_text_and_queries_come_out_alike() {
    compare(true);
}

#[test]
#[ignore = "needs promtool"]
fn promtool_has_nothing_to_say_against_our_series() {
    let home = tempfile::tempdir().unwrap();
    let (_run, target) = pilothouse(home.path());
    let begin = Instant::now();
    let body = loop {
        let answer = get(&target, "/metrics", "text/plain");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
        if body.contains("pilothouse_episode_return_count") && body.contains("pilothouse_decisions_total") {
            break body;
        }
        assert!(begin.elapsed() < PATIENCE, "{answer}");
        std::thread::sleep(Duration::from_millis(200));
    };
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.is_empty(), "{said}");
    assert!(!body.contains(METRIC_NAME));
}
