//! The program beside the tools that people use it with: tmux, jq, rsvg-convert. Ignored by a plain `cargo test`; `.ci/run` installs the tools and runs them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const PILOTHOUSE: &str = env!("CARGO_BIN_EXE_pilothouse");
/// The longest that a screen may take to show something: a wait, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

fn run(program: &str, args: &[&str], dir: &Path) -> Output {
    let output = Command::new(program).args(args).env("HOME", dir).current_dir(dir).output();
    output.unwrap_or_else(|e| panic!("{program}: {e}; .ci/run installs it"))
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A tmux server of its own, with the console in its only window.
struct Tmux {
    home: tempfile::TempDir,
}

impl Tmux {
    fn start(columns: u16, rows: u16, arguments: &str) -> Self {
        let tmux = Self { home: tempfile::tempdir().unwrap() };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let command = format!("exec {PILOTHOUSE} {arguments}");
        tmux.tell(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &command]);
        tmux
    }

    fn output(&self, args: &[&str]) -> Output {
        let socket = self.home.path().join("socket");
        let mut all = vec!["-S", socket.to_str().unwrap()];
        all.extend(args);
        run("tmux", &all, self.home.path())
    }

    fn tell(&self, args: &[&str]) {
        stdout(&self.output(args));
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.output(&["capture-pane", "-p"]).stdout).into_owned()
    }

    fn until(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "never: {what}\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn keys(&self, keys: &str) {
        self.tell(&["send-keys", keys]);
    }

    fn ended(&self) {
        let begin = Instant::now();
        while self.output(&["has-session"]).status.success() {
            assert!(begin.elapsed() < PATIENCE, "it never ended\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.output(&["kill-server"]);
    }
}

#[test]
#[ignore = "needs tmux"]
fn the_console_runs_in_tmux_at_every_size() {
    for (columns, rows) in [(80, 24), (120, 36), (200, 50)] {
        let tmux = Tmux::start(columns, rows, "run --seed 7 --no-record");
        tmux.until("the agent decides", |s| s.contains("LIVE") && s.contains("wait()"));
        tmux.keys("Space");
        tmux.until("it pauses", |s| s.contains("PAUSED"));
        tmux.keys("?");
        tmux.until("help opens", |s| s.contains("Keys and commands"));
        tmux.keys("Escape");
        tmux.until("help closes", |s| !s.contains("Keys and commands"));
        for (x, y) in [("45", "22"), ("20", "5"), ("200", "50")] {
            tmux.tell(&["resize-window", "-x", x, "-y", y]);
            tmux.until("it fits the new size", |s| s.contains("PAUSED"));
        }
        tmux.keys("q");
        tmux.until("it asks", |s| s.contains("Quitting ends this run"));
        tmux.keys("y");
        tmux.ended();
    }
}

#[test]
#[ignore = "needs jq"]
fn jq_reads_a_recording() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["run", "--headless", "--agent", "heuristic", "--episodes", "5", "--seed", "7", "--record", "r.jsonl"];
    stdout(&run(PILOTHOUSE, &args, dir.path()));
    let ask = |filter: &str| stdout(&run("jq", &["-s", "-c", filter, "r.jsonl"], dir.path())).trim().to_owned();
    assert_eq!(ask(r#"[.[] | select(.k == "EpisodeEnded")] | length"#), "5");
    assert_eq!(ask("[.[] | .seq | select(. != null)] | . == [range(1; length + 1)]"), "true");
    assert_eq!(ask(".[0].fmt"), "\"pilothouse-rec\"");
    // Sums of rewards as jq adds them are those that were recorded.
    let sums = r#"[.[] | select(.k == "TransitionRecorded") | {ep, r: .d.reward, s: .d.reward_sum}] | group_by(.ep) | all((map(.r) | add) - .[-1].s | fabs < 1e-9)"#;
    assert_eq!(ask(sums), "true");
}

#[test]
#[ignore = "needs zstd"]
fn zstd_reads_a_sealed_recording() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["run", "--headless", "--agent", "heuristic", "--episodes", "5", "--seed", "7", "--record", "r.jsonl"];
    stdout(&run(PILOTHOUSE, &args, dir.path()));
    let events = stdout(&run(PILOTHOUSE, &["replay", "r.jsonl", "--json"], dir.path()));
    stdout(&run(PILOTHOUSE, &["seal", "r.jsonl"], dir.path()));
    let lines = stdout(&run("zstd", &["-dc", "r.jsonl.zst"], dir.path()));
    let unpacked: Vec<&str> = lines.lines().filter(|l| l.starts_with("{\"seq\":")).collect();
    assert_eq!(unpacked, events.lines().collect::<Vec<_>>());
}

#[test]
#[ignore = "needs rsvg-convert"]
fn rsvg_convert_draws_a_screenshot() {
    let dir = tempfile::tempdir().unwrap();
    for (colour, size) in [("always", "120x36"), ("never", "80x24")] {
        let args = ["replay", "sample", "--shot", "s.svg", "--size", size, "--color", colour];
        stdout(&run(PILOTHOUSE, &args, dir.path()));
        stdout(&run("rsvg-convert", &["s.svg", "-o", "s.png"], dir.path()));
        let png = std::fs::read(dir.path().join("s.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        let (columns, rows) = size.split_once('x').unwrap();
        assert!(number(16) > 4 * columns.parse::<u32>().unwrap() && number(20) > 8 * rows.parse::<u32>().unwrap(), "{size}");
    }
}
