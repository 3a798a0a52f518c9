//! One path: however the events reach a screen, the screen is the same. And a recording that was cut or changed says so.

#![allow(clippy::unwrap_used)]

mod events;

use events::Random;
use pilothouse::event::{Envelope, Event, Level, ManualClock, MonotonicClock, Pace, RunId, Seed, Seq};
use pilothouse::journal::{Delivery, Header, HeaderEnv, Hub, Integrity, Journal, Recorder, Recording, Subscription};
use pilothouse::source::{FrameSource, LiveSource, Playback, RecordingSource, SourceStatus};
use pilothouse::state::DashState;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SEEDS: u64 = 300;
/// Longer than any test: commits are made when a test asks.
const COMMIT_INTERVAL: Duration = Duration::from_secs(600);

fn header(seed: u64) -> Header {
    Header {
        fmt: "pilothouse-rec".into(),
        v: [1, 0],
        id: RunId::from("01J00000000000000000000000"),
        started: "2026-01-01T00:00:00Z".into(),
        build: "test".into(),
        env: HeaderEnv { name: "ops".into(), version: "1".into(), params_sha256: "ab".into() },
        level: Level::L1,
        seed: Seed(seed),
        config_sha256: "cd".into(),
        checkpoint: None,
        lanes: 3,
        redaction: "v1".into(),
        cpu: vec!["avx2".into()],
    }
}

fn fold(state: &mut DashState, delivery: Delivery) {
    match delivery {
        Delivery::Snapshot(snapshot) => *state = *snapshot,
        Delivery::Event(envelope) => state.apply(&envelope).unwrap(),
    }
}

/// Polls once. The number of snapshots that came.
fn take(subscription: &mut Subscription, state: &mut DashState, budget: usize) -> usize {
    let mut out = Vec::new();
    subscription.poll(&mut out, budget);
    let snapshots = out.iter().filter(|d| matches!(d, Delivery::Snapshot(_))).count();
    out.into_iter().for_each(|delivery| fold(state, delivery));
    snapshots
}

/// Plays a source to its end, or to where nothing is left.
fn drain(source: &mut dyn FrameSource, state: &mut DashState, budget: usize) {
    loop {
        let mut out = Vec::new();
        let status = source.poll(&mut out, budget).unwrap();
        out.into_iter().for_each(|frame| fold(state, frame));
        if status != SourceStatus::More {
            return;
        }
    }
}

fn through_json(state: &DashState) -> DashState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

/// Writes a recording of `events` random events, one commit after each `per_commit`. The bytes of it.
fn record(path: &Path, seed: u64, events: usize, per_commit: usize) -> Vec<u8> {
    let recorder = Recorder::create(path, &header(seed), COMMIT_INTERVAL).unwrap();
    let mut journal = Journal::new(Arc::new(ManualClock::default()), Some(recorder));
    let mut random = Random(seed);
    for i in 1..=events {
        let event = random.event();
        journal.append(random.place(), event);
        if i % per_commit == 0 {
            journal.commit().unwrap();
        }
    }
    drop(journal);
    std::fs::read(path).unwrap()
}

#[test]
fn live_replay_late_and_lagging_views_end_in_the_same_state() {
    let dir = tempfile::tempdir().unwrap();
    let mut lags = 0;
    for seed in 0..SEEDS {
        lags += one_seed(seed, &dir.path().join(format!("{seed}.jsonl")));
    }
    assert!(lags > SEEDS as usize, "the laggard did not lag");
}

fn one_seed(seed: u64, path: &Path) -> usize {
    let mut random = Random(seed);
    let clock = Arc::new(ManualClock::default());
    let mut journal = Journal::new(clock.clone(), Some(Recorder::create(path, &header(seed), COMMIT_INTERVAL).unwrap()));
    let mut live = LiveSource::new(&journal.hub(), None);
    let mut live_state = DashState::default();
    // What each event was, folded plainly: the measure of all others.
    let mut tap = journal.hub().subscribe();
    let mut deliveries = Vec::new();
    tap.poll(&mut deliveries, 1);
    let small = Hub::new(1 + random.below(7));
    let (mut laggard, mut lagging_state, mut lags) = (small.subscribe(), DashState::default(), 0);
    let (mut late, mut late_state) = (None, DashState::default());
    let (mut reloaded, mut prefix, mut envelopes) = (DashState::default(), DashState::default(), Vec::<Arc<Envelope>>::new());

    let events = 40 + random.below(160);
    let join_at = random.below(events);
    let keep_at = random.below(events);
    for i in 0..events {
        clock.advance(random.below(50_000_000) as u64);
        let (place, event) = (random.place(), random.event());
        journal.append(place, event);
        deliveries.clear();
        tap.poll(&mut deliveries, usize::MAX);
        for delivery in deliveries.drain(..) {
            let Delivery::Event(envelope) = delivery else { panic!("the tap lagged") };
            small.publish(envelope.clone());
            reloaded.apply(&envelope).unwrap();
            envelopes.push(envelope);
        }
        if i == join_at {
            late = Some(journal.hub().subscribe());
        }
        if i == keep_at {
            reloaded = through_json(&reloaded);
            prefix = reloaded.clone();
        }
        match random.below(6) {
            0 => drain(&mut live, &mut live_state, 1 + random.below(9)),
            1 => lags += take(&mut laggard, &mut lagging_state, 1 + random.below(9)),
            2 => drop(late.as_mut().map(|late| take(late, &mut late_state, 1 + random.below(9)))),
            _ => {}
        }
    }
    let recorder_failure = journal.recorder_failure();
    assert_eq!(recorder_failure, None);
    let measure = journal.state();
    journal.hub().close();
    drop(journal);

    drain(&mut live, &mut live_state, 5);
    assert_eq!(live_state, measure, "seed {seed}: live");
    let mut late = late.expect("joined");
    while !late.is_ended() {
        take(&mut late, &mut late_state, 5);
    }
    assert_eq!(late_state, measure, "seed {seed}: late");
    for _ in 0..events {
        lags += take(&mut laggard, &mut lagging_state, 5);
    }
    assert_eq!(lagging_state, measure, "seed {seed}: laggard");
    assert_eq!(reloaded, measure, "seed {seed}: a snapshot that went through JSON, then the tail");

    let mut recording = Recording::open(path).unwrap();
    let read: Vec<_> = recording.events_from(Seq(1)).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, envelopes, "seed {seed}: the file has other events");
    assert_eq!(recording.state_at(prefix.seq).unwrap(), prefix, "seed {seed}: seek");
    let mut replay = RecordingSource::new(recording, MonotonicClock::start()).unwrap();
    assert_eq!(replay.damage(), None);
    replay.set_speed(Pace::Max);
    let mut replayed = DashState::default();
    drain(&mut replay, &mut replayed, 1 + random.below(30));
    assert_eq!(replayed, measure, "seed {seed}: replay");
    replay.seek(prefix.seq);
    replay.set_playing(false);
    drain(&mut replay, &mut replayed, 3);
    assert_eq!(replayed, prefix, "seed {seed}: back");
    replay.set_playing(true);
    drain(&mut replay, &mut replayed, 7);
    assert_eq!(replayed, measure, "seed {seed}: forth again");
    lags
}

#[test]
fn every_kind_is_folded_and_survives_its_line() {
    let mut random = Random(1);
    let mut state = DashState::default();
    for kind in Event::KINDS {
        for _ in 0..20 {
            let (place, event) = (random.place(), random.event_of(kind));
            let (lane, episode, step) = (place.lane, place.episode, place.step);
            let envelope = Envelope { seq: state.seq.next(), t_ns: 1, lane, episode, step, event };
            let line = serde_json::to_string(&envelope).unwrap();
            assert_eq!(Envelope::from_json(&line).unwrap(), envelope, "{line}");
            state.apply(&envelope).unwrap();
            assert_eq!(through_json(&state), state, "{kind}");
        }
    }
    assert_eq!(state.seq.0, 20 * Event::KINDS.len() as u64);
}

#[test]
fn a_gap_is_an_error_and_leaves_the_state_alone() {
    let mut random = Random(2);
    let mut state = DashState::default();
    let envelope = Envelope { seq: Seq(2), t_ns: 1, lane: Default::default(), episode: None, step: None, event: random.event() };
    assert!(state.apply(&envelope).is_err());
    assert_eq!(state, DashState::default());
}

#[test]
fn the_same_events_give_the_same_lines_whatever_the_commits_did() {
    let dir = tempfile::tempdir().unwrap();
    let lines = |bytes: Vec<u8>| -> Vec<String> {
        String::from_utf8(bytes).unwrap().lines().filter(|l| l.starts_with("{\"seq\":")).map(str::to_owned).collect()
    };
    let often = lines(record(&dir.path().join("a.jsonl"), 5, 150, 1));
    let seldom = lines(record(&dir.path().join("b.jsonl"), 5, 150, 70));
    assert_eq!(often.len(), 150);
    assert_eq!(often, seldom);
}

#[test]
fn no_recording_holds_a_raw_control_byte() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = record(&dir.path().join("a.jsonl"), 6, 400, 50);
    let text = String::from_utf8(bytes).unwrap();
    let raw = |c: char| {
        c != '\n'
            && (c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
    };
    assert!(!text.chars().any(raw));
}

/// Events up to the last commit line of `bytes`.
fn committed(bytes: &[u8]) -> u64 {
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let text = String::from_utf8_lossy(&bytes[..whole]);
    let last = text.lines().rfind(|l| l.starts_with("{\"k\":\"Commit\""));
    last.map_or(0, |l| serde_json::from_str::<serde_json::Value>(l).unwrap()["upto"].as_u64().unwrap())
}

#[test]
fn a_recording_that_is_cut_anywhere_loses_nothing_that_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = record(&dir.path().join("a.jsonl"), 7, 60, 9);
    let header_bytes = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    let cut = dir.path().join("cut.jsonl");
    for length in (header_bytes..bytes.len()).step_by(23) {
        std::fs::write(&cut, &bytes[..length]).unwrap();
        let mut recording = Recording::open(&cut).unwrap();
        let want = committed(&bytes[..length]);
        assert!(recording.end().0 >= want, "cut at {length}: {} of {want}", recording.end());
        assert_eq!(recording.state_at(Seq(want)).unwrap().seq, Seq(want));
        let found = Integrity::check(&cut).unwrap();
        assert_eq!((found.committed_upto, found.damage.len()), (Seq(want), 0), "cut at {length}: {found:?}");
        assert_eq!(std::fs::read(&cut).unwrap().len(), length, "reading changes nothing");
    }
}

#[test]
fn a_byte_that_is_flipped_anywhere_is_found_and_its_steps_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = record(&dir.path().join("a.jsonl"), 8, 60, 9);
    let (path, mut random) = (dir.path().join("flipped.jsonl"), Random(8));
    assert!(Integrity::check(&dir.path().join("a.jsonl")).unwrap().is_intact());
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << random.below(8);
        std::fs::write(&path, &flipped).unwrap();
        let Ok(found) = Integrity::check(&path) else { continue };
        assert!(!found.is_intact(), "byte {at} of {}", bytes.len());
        let tail = found.torn_bytes > 0 || found.uncommitted > 0;
        assert!(tail || found.damage.iter().all(|d| d.upto >= d.from && !d.steps.is_empty()), "{found:?}");
        // Whatever is read of it is read in order, and without a panic.
        if let Ok(mut recording) = Recording::open(&path) {
            let end = recording.end();
            let _ = recording.state_at(end);
        }
    }
}

#[test]
fn a_recording_is_private_and_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/a.jsonl");
    record(&path, 9, 5, 5);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
    assert!(Recorder::create(&path, &header(9), COMMIT_INTERVAL).is_err());
    let names: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["a.jsonl"], "the reserve is gone at the end");
}

#[test]
fn what_is_no_recording_or_a_newer_one_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    for text in ["", "\n", "{}\n", "not json\n", "{\"fmt\":\"other\",\"v\":[1,0]}\n"] {
        std::fs::write(&path, text).unwrap();
        assert!(Recording::open(&path).err().unwrap().to_string().contains("not a recording"), "{text:?}");
    }
    std::fs::write(&path, "{\"fmt\":\"pilothouse-rec\",\"v\":[2,3]}\n").unwrap();
    let error = Recording::open(&path).err().unwrap().to_string();
    assert!(error.contains("2.3") && error.contains("2.x"), "{error}");
}
