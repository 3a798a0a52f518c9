//! The rules that ship: right, explained, tested, and of series that there are.

#![allow(clippy::unwrap_used)]

mod shipped;

use pilothouse::alert::promql::{Limits, Query, Value};
use pilothouse::alert::rules::RuleFile;
use pilothouse::metrics::{Meter, Store};
use shipped::lab::{Agent, Lab, Said};
use shipped::rows::{GPU, LIMITS, RUNS, Row, TRAINING};
use shipped::tale::Tale;
use shipped::watch::{fired, only, rules};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

#[test]
fn each_has_a_severity_words_a_runbook_and_a_test() {
    let file = RuleFile::parse(&read("configs/rules.yaml")).unwrap();
    let tests = read("configs/rules_test.yaml");
    let rules: Vec<_> = file.groups.iter().flat_map(|g| &g.rules).collect();
    assert!(rules.len() > 30);
    for rule in rules {
        let text = format!("{rule:?}");
        for part in ["severity", "summary", "description", "runbook_url", "$labels.instance", "$value"] {
            assert!(text.contains(part), "{}: {part}", rule.name);
        }
        let page = read(&format!("docs/runbooks/{}.md", rule.name));
        assert!(["## What it means", "## Look at", "## Do", "## Silence"].iter().all(|part| page.contains(part)), "{}", rule.name);
        assert!(tests.contains(&format!("alertname: {}\n", rule.name)), "{} has no test", rule.name);
    }
}

#[test]
fn every_series_that_they_name_is_in_the_table() {
    let known = read("docs/METRICS.md");
    let rules = read("configs/rules.yaml");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let exprs = rules.lines().filter_map(|l| l.trim().strip_prefix("expr: "));
    let names = exprs.flat_map(|e| e.split(move |c| !is_name(c))).filter(|n| n.starts_with("pilothouse_"));
    for name in names {
        let base = ["_sum", "_count", "_bucket"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(known.contains(name) || known.contains(base), "{name} is no series");
    }
}

#[test]
fn each_rule_is_provoked() {
    let file = rules();
    let there: BTreeSet<&str> = file.groups.iter().flat_map(|g| &g.rules).map(|rule| rule.name.as_str()).collect();
    let provoked: BTreeSet<&str> = [RUNS, TRAINING, LIMITS, GPU].concat().iter().map(|row| row.rule).collect();
    assert_eq!(there, provoked);
}

/// Plays each row's trouble before all rules, and the near miss before its own.
fn provoke(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let name = format!("{} (row {number})", row.rule);
        let found = fired(rules(), &(row.fires)());
        let names: BTreeSet<&str> = found.keys().map(String::as_str).collect();
        let expected: BTreeSet<&str> = row.also.iter().copied().chain([row.rule, "Watchdog"]).collect();
        if names != expected {
            wrong.push(format!("{name} fires {names:?}, not {expected:?}: {found:?}"));
        }
        if let Some(said) = found.get(row.rule).filter(|said| !said.description.contains(row.says)) {
            wrong.push(format!("{name} says {:?}, not {:?}", said.description, row.says));
        }
        wrong.extend(
            found.iter().filter(|(_, said)| said.times > 1).map(|(rule, said)| format!("{name}: {rule} fires {} times", said.times)),
        );
        let near = row.holds.map(|holds| fired(only(row.rule), &holds())).unwrap_or_default();
        if !near.is_empty() {
            wrong.push(format!("{name} fires where there is no trouble: {near:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} things are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn troubles_of_runs_fire() {
    provoke(RUNS);
}

#[test]
fn troubles_of_trainings_fire() {
    provoke(TRAINING);
}

#[test]
fn limits_are_where_they_are_said_to_be() {
    provoke(LIMITS);
}

#[test]
fn troubles_of_gpus_fire() {
    provoke(GPU);
}

/// An agent that knows its task, for forty minutes, and a recorded model that does.
#[test]
fn a_run_without_trouble_fires_the_watchdog_alone() {
    let lab = Lab { lanes: 2, run_s: 2400, ..Lab::default() };
    for (what, tale) in [("runbook", lab.play()), ("deckhand", Tale::repeated(&["success", "healthy"], 100, 2400))] {
        let found = fired(rules(), &tale);
        let times: Vec<(&str, u32)> = found.iter().map(|(name, said)| (name.as_str(), said.times)).collect();
        assert_eq!(times, [("Watchdog", 1)], "{what}: {found:?}");
    }
}

/// Three lanes of a real run: each second of each lane is somebody's.
#[test]
fn what_lanes_wait_for_adds_up_to_the_time_that_passed() {
    let agent = Agent::Puppet(|message| if message == 1000 { Said::Nothing } else { Said::Look });
    let tale = Lab { agent, lanes: 3, run_s: 1200, ..Lab::default() }.play();
    let (mut meter, mut store) = (Meter::new("pilot", "pilothouse"), Store::default());
    let mut due_ns = 0;
    for envelope in &tale.events {
        while envelope.t_ns > due_ns {
            meter.collect(&mut store, meter.time_ms(due_ns).unwrap());
            due_ns += 15_000_000_000;
        }
        meter.observe(envelope);
    }
    let at_ms = meter.time_ms(tale.end_ns).unwrap();
    let ask = |query: &str| match Query::parse(query).unwrap().instant(&store, at_ms, &Limits::default()).unwrap().value {
        Value::Vector(samples) => samples.into_iter().map(|sample| sample.value).collect::<Vec<f64>>(),
        other => panic!("{other:?}"),
    };
    let shares =
        "rate(pilothouse_time_seconds_total[5m]) / ignoring(on) group_left() sum without(on) (rate(pilothouse_time_seconds_total[5m]))";
    assert!(read("docs/METRICS.md").contains(shares));
    let shares = ask(shares);
    assert_eq!(shares.len(), 6);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    let lane_seconds = ask("sum(rate(pilothouse_time_seconds_total[15m]))")[0];
    assert!((lane_seconds - 3.0).abs() < 0.05, "{lane_seconds} seconds of lanes a second, {shares:?}");
    assert_eq!(ask("sum(pilothouse_lanes_waiting)"), [3.0]);
}
