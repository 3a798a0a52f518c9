//! Alerts and silences beside a real Alertmanager. Ignored by a plain `cargo test`; `.ci/run` installs it and runs them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "alertmanager/peer.rs"]
mod peer;

use peer::{Peer, until};
use pilothouse::alert::notify::{AlertmanagerPlan, Credential, Facts, Notifiers, Order, Plan, To, Token};
use pilothouse::alert::pager::{Page, Why};
use pilothouse::event::{Clock, Event, Matching, MonotonicClock, Silence, SilenceKind};
use pilothouse::metrics::Labels;
use pilothouse::net::Client;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const PILOTHOUSE: &str = env!("CARGO_BIN_EXE_pilothouse");

fn now_ms() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64
}

fn notifiers(peer: &Peer) -> Notifiers {
    telling(vec![peer.url()], None)
}

fn telling(urls: Vec<String>, credential: Option<Credential>) -> Notifiers {
    let plan = Plan {
        name: "alertmanager".into(),
        to: To::Alertmanager(AlertmanagerPlan { urls, credential, silences: true }),
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

fn stop(notifiers: &Notifiers) {
    notifiers.close();
    until("all have ended", || notifiers.are_done().then_some(()));
}

/// The next outcome.
fn outcome(notifiers: &Notifiers) -> pilothouse::event::AlertNotified {
    until("the outcome is told", || {
        notifiers.reports().into_iter().find_map(|event| match event {
            Event::AlertNotified(e) => Some(e),
            _other => None,
        })
    })
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
    stop(&notifiers);
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
    stop(&notifiers);
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
    stop(&notifiers);
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

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn each_of_several_alertmanagers_is_told_and_one_that_is_down_or_hangs_keeps_nothing_from_the_others() {
    let (mut first, second) = (Peer::start(), Peer::start());
    // It takes connections and says nothing.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let urls = vec![format!("http://{}", hanging.local_addr().unwrap()), first.url(), second.url()];
    let notifiers = telling(urls, None);
    notifiers.tell(&[page("Both", true)]);
    until("the first hears", || first.alert("Both"));
    until("the second hears", || second.alert("Both"));
    let told = outcome(&notifiers);
    assert!(told.ok && told.outcome.contains("did not answer within"), "{}", told.outcome);
    first.down();
    notifiers.tell(&[page("One", true)]);
    until("the one that is left hears", || second.alert("One"));
    let told = outcome(&notifiers);
    assert!(told.ok && told.outcome.contains("nothing listens there"), "{}", told.outcome);
    notifiers.close();
    notifiers.leave();
}

/// User and password are admin and test, hashed as `--web.config.file` asks.
const ADMIN_TEST: &str = "basic_auth_users:\n  admin: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n";

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn an_alertmanager_behind_a_password_is_told_by_user_or_url() {
    let peer = Peer::guarded(Some(ADMIN_TEST));
    let credential = |password: &str| Some(Credential { user: Some("admin".into()), token: Token::Text(password.into()) });
    let seen = |name: &str| {
        let output = Command::new("amtool")
            .arg(format!("--alertmanager.url=http://admin:test@127.0.0.1:{}", peer.port))
            .args(["alert", "query", "-o", "json", name])
            .env("HOME", peer.folder.path())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).contains(name).then_some(())
    };
    let wrong = telling(vec![peer.url()], credential("canary"));
    wrong.tell(&[page("Wrong", true)]);
    let told = outcome(&wrong);
    assert!(!told.ok && told.outcome.contains("401") && !told.outcome.contains("canary"), "{}", told.outcome);
    stop(&wrong);
    let by_user = telling(vec![peer.url()], credential("test"));
    by_user.tell(&[page("ByUser", true)]);
    until("it hears", || seen("ByUser"));
    stop(&by_user);
    let by_url = telling(vec![format!("http://admin:test@127.0.0.1:{}", peer.port)], None);
    by_url.tell(&[page("ByUrl", true)]);
    until("it hears", || seen("ByUrl"));
    assert!(outcome(&by_url).ok);
    stop(&by_url);
}

/// Lets those pass who bring this token.
fn token_proxy(token: &'static str, port: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte).is_ok_and(|count| count > 0) {
                    head.push(byte[0]);
                }
                let text = String::from_utf8(head).unwrap();
                if !text.contains(&format!("Bearer {token}\r\n")) {
                    let _ = client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    return;
                }
                let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                server.write_all(text.replacen("\r\n", "\r\nconnection: close\r\n", 1).as_bytes()).unwrap();
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let _ = std::io::copy(&mut server, &mut client);
                let _ = client.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    url
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn a_token_is_read_from_its_file_each_time() {
    let peer = Peer::start();
    let file = peer.folder.path().join("token");
    std::fs::write(&file, "old\n").unwrap();
    let notifiers = telling(vec![token_proxy("new", peer.port)], Some(Credential { user: None, token: Token::File(file.clone()) }));
    notifiers.tell(&[page("Old", true)]);
    let told = outcome(&notifiers);
    assert!(!told.ok && told.outcome.starts_with("403; given up after 1"), "{}", told.outcome);
    std::fs::write(&file, "new\n").unwrap();
    notifiers.tell(&[page("New", true)]);
    until("it hears", || peer.alert("New"));
    assert!(peer.alert("Old").is_none());
    stop(&notifiers);
}

/// A run of its own with one rule that fires at once, and this receiver.
fn run(folder: &Path, receiver: &str) -> std::process::Child {
    let file = |name: &str| folder.join(name).display().to_string();
    let rules = "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: Always\n    expr: vector(1)\n    labels: {severity: warning}\n";
    std::fs::write(file("rules.yaml"), rules).unwrap();
    Command::new(PILOTHOUSE)
        .args(["run", "--headless", "--agent", "heuristic", "--episodes", "1000", "--pace", "4", "--seed", "7"])
        .args(["--rules", &file("rules.yaml"), "--record", &file("run.jsonl"), "--set", "alerts.interval_ms=1000"])
        .args(["--set", &format!("alerts.receivers=[(name: \"am\", to: {receiver})]")])
        .env("HOME", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn terminate(run: &mut std::process::Child) {
    assert!(Command::new("kill").arg(run.id().to_string()).status().unwrap().success());
    run.wait().unwrap();
}

fn ms(value: &serde_json::Value) -> i64 {
    value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn what_fires_is_told_again_through_a_restart_and_ends_by_itself_when_the_run_is_gone() {
    let (mut peer, folder) = (Peer::start(), tempfile::tempdir().unwrap());
    let mut run = run(folder.path(), &format!("Alertmanager(urls: [\"{}\"], resend_seconds: 1)", peer.url()));
    let first = until("it fires", || peer.alert("Always"));
    let again = until("it is told again", || peer.alert("Always").filter(|alert| alert["endsAt"] != first["endsAt"]));
    assert_eq!(again["startsAt"], first["startsAt"]);
    // It ends by itself after four refreshes without news.
    let lasts_ms = ms(&again["endsAt"]) - ms(&again["updatedAt"]);
    assert!((2_000..=6_000).contains(&lasts_ms), "{again}");
    peer.down();
    peer.up();
    until("it is told after a restart", || peer.alert("Always"));
    terminate(&mut run);
    until("it ends by itself", || peer.alert("Always").is_none().then_some(()));
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn what_is_silenced_there_is_silenced_here() {
    use pilothouse::journal::Recording;
    let (peer, folder) = (Peer::start(), tempfile::tempdir().unwrap());
    let mut run = run(folder.path(), &format!("Alertmanager(urls: [\"{}\"])", peer.url()));
    until("it fires", || peer.alert("Always"));
    peer.amtool(&["silence", "add", "alertname=Always", "-c", "maintenance", "-a", "somebody", "-d", "10m"]);
    let recorded = |what: &str| std::fs::read_to_string(folder.path().join("run.jsonl")).is_ok_and(|text| text.contains(what));
    until("the silence is told", || recorded("\"maintenance\"").then_some(()));
    terminate(&mut run);
    let mut recording = Recording::open(&folder.path().join("run.jsonl")).unwrap();
    let state = recording.state_at(recording.end()).unwrap();
    let alert = state.alerting.alerts.iter().find(|alert| alert.change.rule.as_str() == "Always").unwrap();
    let standing = state.alerting.alert_standing(alert, state.t_ns);
    let pilothouse::state::Stand::Silenced(hush) = standing.stand else { panic!("{standing:?}") };
    assert_eq!((hush.by.as_str(), hush.comment.as_str()), ("somebody", "maintenance"));
}
