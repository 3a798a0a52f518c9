//! A process that records or seals is killed at any moment: whatever it was told is committed is there afterwards.
//!
//! `cargo test --test killed` kills some; `cargo test --test killed -- --ignored five_hundred` kills five hundred.

#![allow(clippy::unwrap_used)]
#![cfg(unix)]

mod events;

use events::{Random, header};
use pilothouse::event::*;
use pilothouse::journal::{Journal, Recorder, RecorderSettings, Recording, leftover, seal};
use pilothouse::state::DashState;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// What the killed process is to do; this program runs itself for that.
const TASK: &str = "PILOTHOUSE_KILLED_TASK";
const PATH: &str = "PILOTHOUSE_KILLED_PATH";
const SEED: &str = "PILOTHOUSE_KILLED_SEED";
/// No child goes on for ever, should nobody kill it.
const EVENTS_MAX: usize = 20_000;
/// Events of a recording that is sealed.
const SEALED_EVENTS: usize = 600;
/// How long a child is left alone, at most, in turns of an empty loop; a sealer may well come to its end.
const RECORDER_TURNS: usize = 3_000_000;
const SEALER_TURNS: usize = 12_000_000;
/// A text that lies beside the recording.
const LONG_BYTES: usize = 70_000;

/// The events of a seed, the same whoever makes them.
struct Made {
    random: Random,
    clock: Arc<ManualClock>,
    journal: Journal,
}

impl Made {
    fn new(seed: u64, recorder: Option<Recorder>) -> Self {
        let clock = Arc::new(ManualClock::default());
        Self { random: Random(seed), clock: clock.clone(), journal: Journal::new(clock, recorder) }
    }

    fn append(&mut self) -> Seq {
        self.clock.advance(self.random.below(5_000_000) as u64);
        let place = self.random.place();
        let event = match self.random.below(40) {
            0 => {
                let text = SafeText::new(&format!("{}", self.random.below(9)).repeat(LONG_BYTES));
                LogLine { level: LogLevel::Info, target: SafeText::new("t"), text }.into()
            }
            _ => self.random.event(),
        };
        self.journal.append(place, event)
    }
}

fn recorder(path: &Path) -> Recorder {
    // Commits and snapshots so often that there is always one under way.
    let (commit_interval, snapshot_factor, snapshot_bytes_min) = (Duration::from_millis(1), 0, 16 * 1024);
    let settings = RecorderSettings { commit_interval, snapshot_factor, snapshot_bytes_min, ..RecorderSettings::default() };
    Recorder::with_settings(path, &header(1), settings).unwrap()
}

#[test]
#[ignore = "what the killed process runs"]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let path = PathBuf::from(std::env::var(PATH).unwrap());
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    if task == "seal" {
        println!("committed 0");
        seal(&path).unwrap();
        println!("committed 1");
        return;
    }
    let mut made = Made::new(seed, Some(recorder(&path)));
    for _ in 0..EVENTS_MAX {
        let seq = made.append();
        if seq.0 % 7 == seed % 7 {
            made.journal.commit().unwrap();
            println!("committed {seq}");
        }
    }
}

fn start(task: &str, path: &Path, seed: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(PATH, path).env(SEED, seed.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills the child a random while after it said so many things, and gives the last number that it said.
fn killed(mut child: Child, said: usize, turns: usize) -> u64 {
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut numbers = output.lines().filter_map(|line| line.ok()?.rsplit_once("committed ")?.1.parse().ok());
    let mut last = numbers.by_ref().take(said).last().unwrap_or(0);
    for _ in 0..turns {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had said before it was killed is in the pipe.
    for number in numbers {
        last = last.max(number);
    }
    last
}

fn shown(envelope: &Envelope) -> String {
    format!("{envelope:?}")
}

/// The recorder is killed; how many events were committed.
fn kill_a_recorder(dir: &Path, seed: u64) -> u64 {
    let mut random = Random(seed);
    let path = dir.join(format!("{seed}.jsonl"));
    let said = random.below(12);
    let committed = killed(start("record", &path, seed), said, random.below(RECORDER_TURNS));
    let mut recording = match Recording::open(&path) {
        Ok(recording) => recording,
        Err(e) => {
            assert_eq!(committed, 0, "seed {seed}: {e}");
            return 0;
        }
    };
    assert!(recording.end().0 >= committed, "seed {seed}: {} of {committed}", recording.end());
    // What it wrote is written again, without a file, to compare with.
    let mut made = Made::new(seed, None);
    let wanted = made.journal.tap();
    let mut state = DashState::default();
    for read in recording.events_from(Seq(1)).unwrap().take(committed as usize) {
        let read = read.unwrap();
        made.append();
        let wanted = wanted.recv().unwrap();
        assert_eq!(shown(&read), shown(&wanted), "seed {seed}");
        state.apply(&wanted).unwrap();
    }
    assert_eq!(state.seq, Seq(committed), "seed {seed}");
    assert!(recording.integrity().damage.is_empty(), "seed {seed}: {:?}", recording.integrity().lines());
    let mut late = Recording::open_above(&path, 0).unwrap();
    assert_eq!(format!("{:?}", late.state_at(Seq(committed)).unwrap()), format!("{state:?}"), "seed {seed}");
    committed
}

/// The sealer is killed; whether it had begun, and whether it had left something to tidy up.
fn kill_a_sealer(dir: &Path, seed: u64) -> (bool, bool) {
    let mut random = Random(seed);
    let path = dir.join(format!("{seed}.jsonl"));
    let mut made = Made::new(seed, Some(recorder(&path)));
    for _ in 0..SEALED_EVENTS {
        made.append();
    }
    made.journal.append(Default::default(), RunStateChanged { state: RunState::Ended, reason: "done".into() });
    drop(made);
    let end = Recording::open(&path).unwrap().end();
    let said = killed(start("seal", &path, seed), 1, random.below(SEALER_TURNS));
    let sealed = path.with_extension("jsonl.zst");
    let has_left = path.exists();
    // A sealer that gives up leaves all as it was, and would be told from no other that was killed early.
    let has_begun = said == 1 || sealed.exists() || path.with_extension("sealing").exists();
    for found in [&path, &sealed].into_iter().filter(|p| p.exists()) {
        assert_eq!(Recording::open(found).unwrap().end(), end, "seed {seed}: {}", found.display());
    }
    if has_left {
        assert_eq!(leftover(&path, false).is_some(), path.with_extension("sealing").exists(), "seed {seed}");
        seal(&path).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    assert!(Recording::open(&sealed).unwrap().integrity().is_intact(), "seed {seed}");
    assert!(!path.exists() && !path.with_extension("sealing").exists(), "seed {seed}");
    (has_begun, has_left)
}

fn kills(recorders: u64, sealers: u64) {
    let dir = tempfile::tempdir().unwrap();
    let committed: u64 = (0..recorders).map(|seed| kill_a_recorder(dir.path(), seed)).sum();
    let sealed: Vec<(bool, bool)> = (0..sealers).map(|seed| kill_a_sealer(dir.path(), 1_000_000 + seed)).collect();
    let (begun, has_left) = (sealed.iter().filter(|(begun, _)| *begun).count(), sealed.iter().filter(|(_, left)| *left).count());
    println!("{recorders} recorders were killed behind {committed} committed events; {has_left} of {sealers} sealers while they sealed");
    assert!(committed > recorders, "they were killed too early: {committed} events");
    // Of a few all may have come to their end.
    assert!(sealers < 50 || has_left > 0, "all {sealers} sealers were killed too late");
    assert!(begun > 0, "of {sealers} sealers none got past its start");
}

#[test]
fn a_killed_process_loses_nothing_that_was_committed() {
    kills(16, 4);
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred() {
    kills(450, 50);
}
