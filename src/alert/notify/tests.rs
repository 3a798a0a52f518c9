//! Who is told what, with programs as receivers and servers of one answer.

use super::super::pager::{Page, Why};
use super::*;
use crate::event::{AlertNotified, MonotonicClock};

pub fn page(gpu: &str, firing: bool) -> Page {
    Page {
        why: Why::News,
        rule: "GpuHot".into(),
        group: "gpu".into(),
        firing,
        labels: Labels::from_pairs([("alertname", "GpuHot"), ("gpu", gpu), ("severity", "critical")]),
        annotations: vec![("summary".into(), "hot".into()), ("runbook_url".into(), "https://example.org/GpuHot".into())],
        value: 91.5,
        starts_ms: 1_700_000_000_000,
        ends_ms: None,
        at_ms: 1_700_000_000_000,
        muted: false,
        seq: 7,
    }
}

pub fn facts() -> Facts {
    Facts {
        run: "01RUN".into(),
        host: "node7".into(),
        recording: Some("/var/lib/a run.jsonl".into()),
        external_labels: Labels::from_pairs([("cluster", "a")]),
        epoch_ms: 1_700_000_000_000,
        refresh_ms: 60_000,
    }
}

pub fn plan(to: To) -> Plan {
    Plan {
        name: "ops".into(),
        to,
        severity_min: 0,
        matching: Matching::new(&[]).unwrap(),
        send_resolved: true,
        timeout: Duration::from_millis(1_500),
    }
}

pub fn program(argv: &[&str]) -> To {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    To::Command(CommandPlan { argv, env: vec![("PATH".into(), std::env::var("PATH").unwrap_or_default())] })
}

pub fn start(plans: Vec<Plan>) -> Notifiers {
    Notifiers::start(plans, facts(), &Client::new().unwrap(), &MonotonicClock::start()).unwrap()
}

/// Until all have made their last attempt.
pub fn stop(notifiers: Notifiers) {
    notifiers.close();
    for _ in 0..4_000 {
        if notifiers.are_done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{:?} did not end", notifiers.leave());
}

/// The first outcome that is told.
fn outcome(notifiers: &Notifiers) -> AlertNotified {
    for _ in 0..4_000 {
        for event in notifiers.reports() {
            if let Event::AlertNotified(e) = event {
                return e;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("nothing was told");
}

#[test]
fn who_is_told_what_hangs_on_severity_labels_and_silences() {
    let any = plan(program(&["true"]));
    let takes = |plan: &Plan, page: &Page| plan.takes(page, &facts().external_labels);
    assert!(takes(&any, &page("0", true)) && takes(&any, &page("0", false)));
    assert!(!takes(&any, &Page { muted: true, ..page("0", true) }));
    assert!(!takes(&any, &Page { why: Why::Refresh, ..page("0", true) }));
    assert!(takes(&any, &Page { why: Why::Repeat, ..page("0", true) }));
    assert!(!takes(&Plan { send_resolved: false, ..any.clone() }, &page("0", false)));
    let gpu1 = Plan { matching: Matching::new(&["gpu=1".parse().unwrap(), "cluster=a".parse().unwrap()]).unwrap(), ..any.clone() };
    assert!(takes(&gpu1, &page("1", true)) && !takes(&gpu1, &page("0", true)));
    let warning = Page { labels: Labels::from_pairs([("alertname", "x"), ("severity", "warning")]), ..page("0", true) };
    let critical = Plan { severity_min: 2, ..any };
    assert!(takes(&critical, &page("0", true)) && !takes(&critical, &warning));
    let alertmanager = |silences| plan(To::Alertmanager(AlertmanagerPlan { urls: Vec::new(), credential: None, silences }));
    let refresh = Page { why: Why::Refresh, muted: true, ..page("0", true) };
    assert!(takes(&alertmanager(true), &refresh), "it silences by itself");
    assert!(!takes(&alertmanager(false), &refresh) && takes(&alertmanager(false), &Page { muted: false, ..refresh }));
}

#[cfg(unix)]
#[test]
fn a_program_gets_one_message_an_evaluation_and_nothing_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let (message, env) = (folder.path().join("message"), folder.path().join("env"));
    let script = format!("cat > '{}'; env > '{}'", message.display(), env.display());
    let notifiers = start(vec![plan(program(&["sh", "-c", &script]))]);
    notifiers.tell(&[page("0", true), page("1", true)]);
    let outcome = outcome(&notifiers);
    assert_eq!((outcome.ok, outcome.outcome.as_str(), outcome.rules.len()), (true, "exit 0", 1));
    let message: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(message).unwrap()).unwrap();
    assert_eq!(message["alerts"].as_array().unwrap().len(), 2);
    let env = std::fs::read_to_string(env).unwrap();
    assert!(!env.contains("CARGO") && !env.contains("HOME="), "{env}");
    stop(notifiers);
}

#[cfg(unix)]
#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let alive = folder.path().join("alive");
    let script = format!("(sleep 4; touch '{}') & sleep 60", alive.display());
    let notifiers = start(vec![plan(program(&["sh", "-c", &script]))]);
    // More than a pipe holds, and nobody reads it.
    let pages: Vec<Page> = (0..400).map(|gpu| page(&gpu.to_string(), true)).collect();
    notifiers.tell(&pages);
    let told = outcome(&notifiers);
    assert!(!told.ok && told.outcome.contains("was killed"), "{}", told.outcome);
    std::thread::sleep(Duration::from_secs(4));
    assert!(!alive.exists(), "what it began goes on");
}

#[test]
fn what_can_t_be_run_is_told_and_given_up() {
    let notifiers = start(vec![plan(program(&["/nowhere/at/all"]))]);
    notifiers.tell(&[page("0", true)]);
    let told = outcome(&notifiers);
    assert!(!told.ok && told.outcome.contains("can't be run") && told.outcome.contains("given up after 1"), "{}", told.outcome);
}
