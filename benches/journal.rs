//! The recording: what an append with its commit costs, how long opening and seeking take in a million events, how fast the fold is.
#![allow(clippy::unwrap_used)]

use pilothouse::event::*;
use pilothouse::journal::{FORMAT, Header, HeaderEnv, Journal, Place, Recorder, Recording, VERSION, seal};
use pilothouse::state::DashState;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const EVENTS: u64 = 1_000_000;
/// Events that are appended without a wait for each.
const BUFFERED: u64 = 200_000;

fn main() {
    divan::main();
}

fn header() -> Header {
    Header {
        fmt: FORMAT.into(),
        v: VERSION,
        id: RunId::from("01J00000000000000000000000"),
        started: "2026-01-01T00:00:00Z".into(),
        build: "bench".into(),
        env: HeaderEnv { name: "ops".into(), version: "1".into(), params_sha256: "ab".into() },
        level: Level::L1,
        seed: Seed(1),
        config_sha256: "cd".into(),
        checkpoint: None,
        lanes: 1,
        redaction: "v1".into(),
        cpu: vec![],
    }
}

/// The `i`th event of a run that thinks in eight pieces.
fn event(i: u64) -> (Place, Event) {
    let (step, part) = (i / 12, i % 12);
    let place = Place { lane: LaneId(0), episode: Some(EpisodeId(1 + (step / 50) as u32)), step: Some(StepIndex(1 + (step % 50) as u32)) };
    let text = |t: &str| SafeText::new(t);
    let event = match part {
        0 => PhaseEntered { phase: Phase::Think }.into(),
        1..=8 => ThoughtDelta { text: text("p95 of cart is high, "), tokens: 6 }.into(),
        9 => {
            ToolCallStarted { call_id: step, route: Route::Tool, call: ToolCall::new("scale").with("service", "cart").with("by", 1) }.into()
        }
        10 => {
            let result = text("cart has 4 replicas");
            ToolCallFinished { call_id: step, tool: text("scale"), result, error_type: None, duration_ns: 1_200_000 }.into()
        }
        _ => DecisionSettled { duration_ns: 900_000_000, memory_bytes: None }.into(),
    };
    (place, event)
}

/// A recording of a million events, made once; its directory is the process's.
fn million() -> &'static PathBuf {
    static FILE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &FILE
        .get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("million.jsonl");
            let recorder = Recorder::create(&path, &header(), Duration::from_secs(600)).unwrap();
            let mut journal = Journal::new(Arc::new(ManualClock::default()), Some(recorder));
            for i in 0..EVENTS {
                let (place, event) = event(i);
                journal.append(place, event);
            }
            journal.commit().unwrap();
            (dir, path)
        })
        .1
}

/// The same, sealed: its size in percent is printed.
fn sealed_million() -> &'static PathBuf {
    static FILE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &FILE
        .get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("million.jsonl");
            std::fs::copy(million(), &path).unwrap();
            let sealed = seal(&path).unwrap();
            eprintln!("sealed: {} of {} bytes", sealed.bytes_after, sealed.bytes_before);
            (dir, sealed.path)
        })
        .1
}

#[divan::bench(sample_count = 200)]
fn append_and_commit(bencher: divan::Bencher) {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&dir.path().join("a.jsonl"), &header(), Duration::from_secs(600)).unwrap();
    let mut journal = Journal::new(Arc::new(ManualClock::default()), Some(recorder));
    let mut i = 0;
    bencher.bench_local(|| {
        let (place, event) = event(i);
        i += 1;
        journal.append(place, event);
        journal.commit().unwrap();
    });
}

/// The same number of bytes by a plain file: what the disk itself costs.
#[divan::bench(sample_count = 200)]
fn write_and_sync_as_much(bencher: divan::Bencher) {
    let dir = tempfile::tempdir().unwrap();
    // An event, and the commit behind it.
    let bytes = [b'x'; 130 + 76];
    let mut file = File::create(dir.path().join("a")).unwrap();
    bencher.bench_local(|| {
        file.write_all(&bytes).unwrap();
        file.sync_data().unwrap();
    });
}

/// As a run appends: commits come by themselves, and the last one is waited for.
#[divan::bench(sample_count = 7, sample_size = 1)]
fn append_buffered(bencher: divan::Bencher) {
    let dir = tempfile::tempdir().unwrap();
    let mut run = 0;
    bencher.counter(divan::counter::ItemsCount::new(BUFFERED)).bench_local(|| {
        run += 1;
        let recorder = Recorder::create(&dir.path().join(format!("{run}.jsonl")), &header(), Duration::from_millis(100)).unwrap();
        let mut journal = Journal::new(Arc::new(ManualClock::default()), Some(recorder));
        for i in 0..BUFFERED {
            let (place, event) = event(i);
            journal.append(place, event);
        }
        journal.commit().unwrap();
    });
}

/// By its end alone, as the console opens it; and a place in the middle, of which nothing was read.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn open_and_seek_in_a_million(bencher: divan::Bencher) {
    let path = million();
    let mut at = 0;
    bencher.bench_local(|| {
        at = (at + 618_033) % EVENTS;
        let mut recording = Recording::open_quickly(path).unwrap();
        recording.state_at(Seq(at)).unwrap().seq
    });
}

/// The same in a sealed one.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn open_and_seek_in_a_sealed_million(bencher: divan::Bencher) {
    let path = sealed_million();
    let mut at = 0;
    bencher.bench_local(|| {
        at = (at + 618_033) % EVENTS;
        let mut recording = Recording::open_quickly(path).unwrap();
        recording.state_at(Seq(at)).unwrap().seq
    });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn read_a_million_whole(bencher: divan::Bencher) {
    let path = million();
    bencher.bench_local(|| Recording::open(path).unwrap().end());
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn seek_in_a_million(bencher: divan::Bencher) {
    let mut recording = Recording::open(million()).unwrap();
    let mut at = 0;
    bencher.bench_local(|| {
        at = (at + 618_033) % EVENTS;
        recording.state_at(Seq(at)).unwrap().seq
    });
}

#[divan::bench(sample_count = 20)]
fn fold_a_thousand(bencher: divan::Bencher) {
    let mut recording = Recording::open(million()).unwrap();
    let events: Vec<_> = recording.events_from(Seq(1)).unwrap().take(1000).map(Result::unwrap).collect();
    bencher.counter(divan::counter::ItemsCount::new(1000u32)).bench_local(|| {
        let mut state = DashState::default();
        events.iter().for_each(|e| state.apply(e).unwrap());
        state.seq
    });
}
