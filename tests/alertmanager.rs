//! Alerts and silences beside a real Alertmanager. Ignored by a plain `cargo test`; `.ci/run` installs it and runs them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use pilothouse::alert::notify::{AlertmanagerPlan, Facts, Notifiers, Order, Plan, To};
use pilothouse::alert::pager::{Page, Why};
use pilothouse::event::{Clock, Event, Matching, MonotonicClock, Silence, SilenceKind};
use pilothouse::metrics::Labels;
use pilothouse::net::Client;
use serde_json::Value;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

const PILOTHOUSE: &str = env!("CARGO_BIN_EXE_pilothouse");
/// The longest that anything may take to arrive: a wait, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// An Alertmanager of its own on loopback.
struct Peer {
    folder: tempfile::TempDir,
    port: u16,
    process: Option<Child>,
}

impl Peer {
    fn start() -> Self {
        // Free a moment ago, which is all that can be had.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut peer = Self { folder: tempfile::tempdir().unwrap(), port, process: None };
        let config = "route:\n  receiver: nobody\nreceivers:\n- name: nobody\n";
        std::fs::write(peer.folder.path().join("config.yml"), config).unwrap();
        peer.up();
        peer
    }

    fn up(&mut self) {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let log = std::fs::File::create(path("log")).unwrap();
        let process = Command::new("prometheus-alertmanager")
            .args([format!("--config.file={}", path("config.yml")), format!("--storage.path={}", path("data"))])
            .args([format!("--web.listen-address=127.0.0.1:{}", self.port), "--cluster.listen-address=".into()])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("prometheus-alertmanager: {e}; .ci/run installs it"));
        self.process = Some(process);
        until("the Alertmanager is up", || std::net::TcpStream::connect(("127.0.0.1", self.port)).ok());
    }

    fn down(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn amtool(&self, args: &[&str]) -> Value {
        let output = Command::new("amtool")
            .arg(format!("--alertmanager.url={}", self.url()))
            .args(args)
            .args(["-o", "json"])
            .env("HOME", self.folder.path())
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// Alerts by name, those too that are silenced there.
    fn alerts(&self) -> Vec<Value> {
        self.amtool(&["alert", "query", "--active", "--silenced", "--inhibited"]).as_array().cloned().unwrap_or_default()
    }

    fn alert(&self, name: &str) -> Option<Value> {
        self.alerts().into_iter().find(|alert| alert["labels"]["alertname"] == name)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64
}

fn notifiers(peer: &Peer) -> Notifiers {
    let plan = Plan {
        name: "alertmanager".into(),
        to: To::Alertmanager(AlertmanagerPlan { urls: vec![peer.url()], token: None, silences: true }),
        severity_min: 0,
        matching: Matching::new(&[]).unwrap(),
        send_resolved: true,
        timeout: Duration::from_secs(5),
    };
    let facts = Facts {
        run: "01RUN".into(),
        host: "node7".into(),
        recording: Some("/tmp/a.jsonl".into()),
        external_labels: Labels::from_pairs([("cluster", "a")]),
        epoch_ms: now_ms(),
        refresh_ms: 60_000,
    };
    let clock: Arc<dyn Clock> = MonotonicClock::start();
    Notifiers::start(vec![plan], facts, &Client::new().unwrap(), &clock).unwrap()
}

fn page(name: &str, firing: bool) -> Page {
    Page {
        why: Why::News,
        rule: name.into(),
        group: "g".into(),
        firing,
        labels: Labels::from_pairs([("alertname", name), ("gpu", "0"), ("severity", "critical")]),
        annotations: vec![("summary".into(), "91 °C".into()), ("runbook_url".into(), "https://example.org/x".into())],
        value: 91.0,
        starts_ms: now_ms() - 1_000,
        ends_ms: (!firing).then(now_ms),
        at_ms: now_ms(),
        muted: false,
        seq: 7,
    }
}

fn silence(kind: SilenceKind, matcher: &str) -> Silence {
    let (starts_ms, ends_ms) = (now_ms(), now_ms() + 600_000);
    Silence { kind, matchers: vec![matcher.parse().unwrap()], starts_ms, ends_ms, created_by: "me".into(), comment: "on it".into() }
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn alerts_arrive_with_all_they_say_and_resolve() {
    let peer = Peer::start();
    let notifiers = notifiers(&peer);
    // The second can't be taken: it spoils nothing.
    let bad = Page { annotations: vec![("not a name".into(), "x".into())], ..page("Bad", true) };
    notifiers.tell(&[page("GpuHot", true), bad, page("GpuLost", true)]);
    let alert = until("GpuHot arrives", || peer.alert("GpuHot"));
    assert!(peer.alert("GpuLost").is_some() && peer.alert("Bad").is_none());
    assert_eq!((&alert["labels"]["cluster"], &alert["labels"]["severity"]), (&"a".into(), &"critical".into()));
    assert_eq!(alert["annotations"]["summary"], "91 °C");
    assert_eq!(alert["annotations"]["command"], "ssh -t node7 pilothouse attach 01RUN --alert GpuHot");
    assert_eq!(alert["annotations"]["replay"], "pilothouse replay /tmp/a.jsonl --from @7");
    assert_eq!(alert["generatorURL"], "pilothouse://node7/01RUN?alert=GpuHot&from=7");
    let told = until("the outcome is told", || notifiers.reports().into_iter().find(|e| matches!(e, Event::AlertNotified(_))));
    let Event::AlertNotified(told) = told else { unreachable!() };
    assert!(told.ok && told.outcome.contains("1 alerts left out: Bad: `not a name`"), "{}", told.outcome);
    notifiers.tell(&[page("GpuHot", false)]);
    until("GpuHot resolves", || peer.alert("GpuHot").is_none().then_some(()));
    assert!(peer.alert("GpuLost").is_some());
    notifiers.stop(Duration::from_secs(5));
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn an_alertmanager_that_was_away_learns_of_it_when_it_is_back() {
    let mut peer = Peer::start();
    let notifiers = notifiers(&peer);
    peer.down();
    notifiers.tell(&[page("GpuHot", true)]);
    let failed = |e: &Event| matches!(e, Event::AlertNotified(e) if !e.ok);
    until("the failure is told", || notifiers.reports().iter().any(failed).then_some(()));
    peer.up();
    until("GpuHot arrives after all", || peer.alert("GpuHot"));
    notifiers.stop(Duration::from_secs(5));
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn silences_go_both_ways() {
    let peer = Peer::start();
    let notifiers = notifiers(&peer);
    notifiers.tell(&[page("GpuHot", true)]);
    until("GpuHot arrives", || peer.alert("GpuHot"));
    notifiers.order(&Order::Silence("s1".into(), silence(SilenceKind::Acknowledgement, "alertname=\"GpuHot\"")));
    let seen = until("amtool sees the silence", || peer.amtool(&["silence", "query"]).as_array().and_then(|all| all.first().cloned()));
    assert_eq!((&seen["comment"], &seen["createdBy"]), (&"ACK! on it".into(), &"me".into()));
    until("it mutes", || (peer.alert("GpuHot")?["status"]["state"] == "suppressed").then_some(()));
    let mut told = Vec::new();
    until("its name there is told, and that of here ends", || {
        told.extend(notifiers.reports());
        let ended = told.iter().position(|e| matches!(e, Event::SilenceEnded(e) if e.id.as_str() == "s1"))?;
        let set = told.iter().position(|e| matches!(e, Event::SilenceSet(e) if seen["id"] == e.id.as_str()))?;
        assert!(set < ended, "never without a silence");
        Some(())
    });
    // Ended here.
    notifiers.order(&Order::End(seen["id"].as_str().unwrap().into()));
    until("it ends there", || peer.amtool(&["silence", "query"]).as_array().is_some_and(Vec::is_empty).then_some(()));
    // Made there.
    let add = ["silence", "add", "alertname=~Gpu.*", "-c", "maintenance", "-a", "somebody", "-d", "10m"];
    peer.amtool(&add);
    let heard = until("what amtool made is told", || {
        notifiers.reports().into_iter().find_map(|e| match e {
            Event::SilenceSet(e) if e.silence.comment.as_str() == "maintenance" => Some(e),
            _ => None,
        })
    });
    assert_eq!(heard.silence.kind, SilenceKind::Silence);
    assert_eq!(heard.silence.matchers[0].to_string(), "alertname=~\"Gpu.*\"");
    let mut expire = Command::new("amtool");
    expire.arg(format!("--alertmanager.url={}", peer.url())).args(["silence", "expire", heard.id.as_str()]);
    assert!(expire.env("HOME", peer.folder.path()).status().unwrap().success());
    let over = |e: &Event| matches!(e, Event::SilenceEnded(e) if e.id == heard.id);
    until("that it was ended there is told", || notifiers.reports().iter().any(over).then_some(()));
    notifiers.stop(Duration::from_secs(5));
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn a_run_tells_of_its_rules_and_records_it() {
    let peer = Peer::start();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let rules = "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: Steps\n    expr: sum(pilothouse_env_steps_total) > 2\n    labels: {severity: warning}\n    annotations: {summary: 'steps {{ $value }}'}\n";
    std::fs::write(file("rules.yaml"), rules).unwrap();
    let receivers = format!("alerts.receivers=[(name: \"am\", to: Alertmanager(urls: [\"{}\"]))]", peer.url());
    let mut run = Command::new(PILOTHOUSE)
        .args(["run", "--headless", "--agent", "heuristic", "--episodes", "1000", "--pace", "4", "--seed", "7"])
        .args(["--rules", &file("rules.yaml"), "--record", &file("run.jsonl"), "--set", &receivers, "--set", "alerts.interval_ms=1000"])
        .env("HOME", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let alert = until("the run's alert arrives", || peer.alert("Steps"));
    assert!(alert["annotations"]["summary"].as_str().unwrap().starts_with("steps "), "{alert}");
    let recorded = |what: &str| std::fs::read_to_string(Path::new(&file("run.jsonl"))).is_ok_and(|text| text.contains(what));
    until("the outcome is recorded", || recorded("AlertNotified").then_some(()));
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(recorded("RulesLoaded") && recorded("RuleEvaluated"));
    let eval = Command::new(PILOTHOUSE)
        .args(["rules", "eval", &file("rules.yaml"), "--recording", &file("run.jsonl"), "--step", "1s", "--json"])
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(eval.stdout).unwrap();
    assert!(text.lines().any(|line| line.contains("\"kind\":\"alert\"") && line.contains("Steps")), "{text}");
}
