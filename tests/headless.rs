//! A run without a screen that is asked for more than its episodes: endpoints that are scraped, and the machine.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An endpoint with two series that the preset knows and one that it does not.
fn endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = [0; 4_096];
            let _ = stream.read(&mut head);
            let body = "vllm:num_requests_running 3\nvllm:num_requests_waiting 1\nnobody_knows_it 5\n";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

fn run(home: &std::path::Path, args: &[&str]) -> (Running, impl Iterator<Item = Value>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    command.args(["run", "--json", "--agent", "heuristic", "--pace", "8", "--seed", "7"]).args(args);
    command.env("HOME", home).env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (Running(child), lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).unwrap()))
}

#[test]
fn endpoints_that_a_flag_names_are_scraped_and_the_machine_is_sampled() {
    let (home, address) = (tempfile::tempdir().unwrap(), endpoint());
    let flags = ["--episodes", "100000", "--scrape", &format!("vllm=http://{address}"), "--scrape", &format!("http://{address}/all")];
    let (_running, mut events) = run(home.path(), &flags);
    let (mut jobs, mut is_sampled) = (std::collections::BTreeMap::new(), false);
    while jobs.len() < 2 || !is_sampled {
        let event = events.next().expect("the run goes on");
        is_sampled |= event["k"] == "TelemetrySampled";
        if event["k"] == "TargetScraped" {
            assert_eq!(event["d"]["up"], true, "{event}");
            jobs.insert(event["d"]["job"].as_str().unwrap().to_owned(), event.to_string());
        }
    }
    assert!(jobs["scrape"].contains("nobody_knows_it") && !jobs["vllm"].contains("nobody_knows_it"), "{jobs:?}");
}

#[test]
fn a_run_of_which_nothing_is_asked_has_no_event_that_hangs_on_the_clock() {
    let home = tempfile::tempdir().unwrap();
    let (_running, events) = run(home.path(), &["--episodes", "1", "--max-steps", "4"]);
    let kinds: Vec<String> = events.map(|event| event["k"].as_str().unwrap_or_default().to_owned()).collect();
    assert!(kinds.iter().any(|kind| kind == "EpisodeEnded"), "{kinds:?}");
    for kind in ["TelemetrySampled", "TargetScraped", "RulesLoaded", "RuleEvaluated"] {
        assert!(!kinds.iter().any(|own| own == kind), "{kind}");
    }
}

#[test]
fn a_preset_that_is_none_is_told_with_those_that_there_are() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    let output = command.args(["run", "--headless", "--scrape", "vlm=http://127.0.0.1:1"]).env("HOME", home.path()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("vlm") && told.contains("vllm"), "{told}");
}
