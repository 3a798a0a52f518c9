//! One path: however the events reach a screen, the screen is the same. And a recording that was cut or changed says so.

#![allow(clippy::unwrap_used)]

mod events;

use base64::Engine;
use events::{Random, header};
use pilothouse::event::{
    Envelope, EpisodeId, Event, LaneId, LogLevel, LogLine, ManualClock, MonotonicClock, Pace, PaceChanged, RunState, RunStateChanged, Seq,
    StepIndex,
};
use pilothouse::journal::{Delivery, Hub, Integrity, Journal, Place, Recorder, RecorderSettings, Recording, Subscription};
use pilothouse::source::{FrameSource, LiveSource, Playback, RecordingSource, SourceStatus};
use pilothouse::state::DashState;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SEEDS: u64 = 300;
/// Longer than any test: commits are made when a test asks.
const COMMIT_INTERVAL: Duration = Duration::from_secs(600);

/// A snapshot after so many bytes of events.
fn snapshots_each(bytes: usize) -> RecorderSettings {
    RecorderSettings { commit_interval: COMMIT_INTERVAL, snapshot_factor: 0, snapshot_bytes_min: bytes, ..RecorderSettings::default() }
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

/// Equal to the last bit, not-a-number included, which no `==` is.
#[track_caller]
fn same<T: std::fmt::Debug>(found: &T, wanted: &T, what: &str) {
    let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
    let at = found.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let near = |text: &str| text.bytes().skip(at.saturating_sub(80)).take(160).map(char::from).collect::<String>();
    assert!(found == wanted, "{what}: at byte {at}\n  found:  {}\n  wanted: {}", near(&found), near(&wanted));
}

fn ended() -> Event {
    RunStateChanged { state: RunState::Ended, reason: "done".into() }.into()
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
    journal.append(Default::default(), ended());
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
    let mut journal = Journal::new(clock.clone(), Some(Recorder::with_settings(path, &header(seed), snapshots_each(12 * 1024)).unwrap()));
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
        let (place, event) = (random.place(), if i + 1 == events { ended() } else { random.event() });
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
    same(&live_state, &measure, &format!("seed {seed}: live"));
    let mut late = late.expect("joined");
    while !late.is_ended() {
        take(&mut late, &mut late_state, 5);
    }
    same(&late_state, &measure, &format!("seed {seed}: late"));
    for _ in 0..events {
        lags += take(&mut laggard, &mut lagging_state, 5);
    }
    same(&lagging_state, &measure, &format!("seed {seed}: laggard"));
    same(&reloaded, &measure, &format!("seed {seed}: a snapshot that went through JSON, then the tail"));

    let mut recording = Recording::open(path).unwrap();
    let read: Vec<_> = recording.events_from(Seq(1)).unwrap().map(Result::unwrap).collect();
    same(&read, &envelopes, &format!("seed {seed}: the file has other events"));
    same(&recording.state_at(prefix.seq).unwrap(), &prefix, &format!("seed {seed}: seek"));
    let mut replay = RecordingSource::new(recording, MonotonicClock::start()).unwrap();
    assert_eq!(replay.damage(), None);
    replay.set_speed(Pace::Max);
    let mut replayed = DashState::default();
    drain(&mut replay, &mut replayed, 1 + random.below(30));
    same(&replayed, &measure, &format!("seed {seed}: replay"));
    replay.seek(prefix.seq);
    replay.set_playing(false);
    drain(&mut replay, &mut replayed, 3);
    same(&replayed, &prefix, &format!("seed {seed}: back"));
    replay.set_playing(true);
    drain(&mut replay, &mut replayed, 7);
    same(&replayed, &measure, &format!("seed {seed}: forth again"));
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
            same(&Envelope::from_json(&line).unwrap(), &envelope, &line);
            state.apply(&envelope).unwrap();
            same(&through_json(&state), &state, kind);
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
    assert_eq!(often.len(), 151);
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
    // The cuts at a line's end are those that nothing but the run's missing end shows.
    let ends = (header_bytes..bytes.len()).filter(|at| bytes[at - 1] == b'\n');
    for length in ends.chain((header_bytes..bytes.len()).step_by(23)) {
        std::fs::write(&cut, &bytes[..length]).unwrap();
        let mut recording = Recording::open(&cut).unwrap();
        let want = committed(&bytes[..length]);
        assert!(recording.end().0 >= want, "cut at {length}: {} of {want}", recording.end());
        assert_eq!(recording.state_at(Seq(want)).unwrap().seq, Seq(want));
        let found = Integrity::check(&cut).unwrap();
        assert!(!found.is_intact(), "cut at {length}");
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

/// Writes a recording of known steps, a step an event, by batches of `per_commit`.
fn record_steps(path: &Path, steps: u32, per_commit: u32, settings: RecorderSettings) -> Vec<String> {
    let recorder = Recorder::with_settings(path, &header(1), settings).unwrap();
    let mut journal = Journal::new(Arc::new(ManualClock::default()), Some(recorder));
    for step in 1..=steps {
        let place = Place { lane: LaneId(0), episode: Some(EpisodeId(1)), step: Some(StepIndex(step)) };
        journal.append(place, LogLine { level: LogLevel::Info, target: "t".into(), text: format!("step {step}").as_str().into() });
        if step % per_commit == 0 {
            journal.commit().unwrap();
        }
    }
    journal.append(Place::default(), ended());
    drop(journal);
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn plain() -> RecorderSettings {
    RecorderSettings { commit_interval: COMMIT_INTERVAL, ..RecorderSettings::default() }
}

/// The steps of `1/3 to 1/5`.
fn named(steps: &str) -> std::ops::RangeInclusive<u32> {
    let number = |text: &str| match text {
        "the start" => 0,
        "the end" => u32::MAX,
        step => step.rsplit('/').next().and_then(|t| t.parse().ok()).unwrap_or_else(|| panic!("{steps}")),
    };
    let (first, last) = steps.split_once(" to ").unwrap();
    number(first)..=number(last)
}

#[test]
fn damage_in_the_middle_is_passed_over_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let lines = record_steps(&path, 40, 4, plain());
    let (broken, steps) = (dir.path().join("broken.jsonl"), 40);
    let event = |seq: u32| lines.iter().position(|l| l.starts_with(&format!("{{\"seq\":{seq},"))).unwrap();
    for seq in 1..=steps {
        let line = lines[event(seq)].clone();
        for hurt in ["garbage".to_owned(), line[..line.len() - 3].to_owned(), line.replacen(&format!("{seq},"), "9999,", 1), String::new()]
        {
            let mut changed = lines.clone();
            changed[event(seq)] = hurt.clone();
            std::fs::write(&broken, changed.join("\n") + "\n").unwrap();
            let recording = Recording::open(&broken).unwrap();
            let damage = recording.integrity().damage.clone();
            assert_eq!(damage.len(), 1, "{hurt}: {damage:?}");
            assert!((damage[0].from.0..=damage[0].upto.0).contains(&u64::from(seq)), "{hurt}: {damage:?}");
            assert!(named(&damage[0].steps).contains(&seq), "event {seq}, {hurt}: {damage:?}");
            let mut replay = RecordingSource::new(recording, MonotonicClock::start()).unwrap();
            replay.set_speed(Pace::Max);
            let mut state = DashState::default();
            drain(&mut replay, &mut state, 3);
            assert_eq!((state.seq, state.log.len()), (Seq(u64::from(steps) + 1), steps as usize - 1), "{hurt}");
            // From anywhere, the range itself included.
            for from in [1, seq, seq + 1] {
                replay.seek(Seq(u64::from(from)));
                drain(&mut replay, &mut state, 3);
                replay.set_playing(true);
                drain(&mut replay, &mut state, 3);
                assert_eq!(state.seq, Seq(u64::from(steps) + 1));
            }
        }
    }
}

#[test]
fn a_line_that_is_broken_under_a_chain_that_holds_is_found_by_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let lines = record_steps(&path, 6, 100, plain());
    let batch = lines[1..lines.len() - 1].join("\n").replacen("\"text\":\"step 3\"", "\"text\":3", 1) + "\n";
    let mut commit: serde_json::Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    commit["crc32c"] = format!("{:08x}", crc32c::crc32c(batch.as_bytes())).into();
    std::fs::write(&path, format!("{}\n{batch}{commit}\n", lines[0])).unwrap();
    let found = Integrity::check(&path).unwrap();
    assert_eq!(found.damage.iter().map(|d| (d.from, d.upto)).collect::<Vec<_>>(), [(Seq(3), Seq(3))], "{found:?}");
    let mut recording = Recording::open(&path).unwrap();
    let kinds: Vec<_> = recording.events_from(Seq(1)).unwrap().map(|e| e.unwrap().event.kind().to_owned()).collect();
    assert_eq!((kinds[2].as_str(), kinds.len()), ("Elided", 7));
    assert!(!recording.integrity().is_intact());
}

#[test]
fn the_step_of_a_flipped_byte_is_among_those_that_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let lines = record_steps(&path, 30, 3, plain());
    let flipped = dir.path().join("flipped.jsonl");
    for (index, line) in lines.iter().enumerate().filter(|(_, l)| l.contains("\"step\":")) {
        let step = serde_json::from_str::<serde_json::Value>(line).unwrap()["step"].as_u64().unwrap() as u32;
        for at in line.find("\"d\":").unwrap()..line.len() {
            let mut bytes: Vec<Vec<u8>> = lines.iter().map(|l| l.clone().into_bytes()).collect();
            bytes[index][at] ^= 1 << (at % 7);
            std::fs::write(&flipped, [bytes.join(&b'\n'), vec![b'\n']].concat()).unwrap();
            let found = Integrity::check(&flipped).unwrap();
            assert!(found.damage.iter().any(|d| named(&d.steps).contains(&step)), "step {step}, byte {at}: {found:?}");
        }
    }
}

#[test]
fn a_seek_uses_a_snapshot_and_believes_none_that_lies() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let lines = record_steps(&path, 200, 10, snapshots_each(2048));
    let snapshots = lines.iter().filter(|l| l.starts_with("{\"k\":\"Snapshot\"")).count();
    assert!(snapshots > 2, "{snapshots}");
    assert!(lines.iter().all(|l| !l.contains("\"capacity\"") && !l.contains("\"bytes\"")));
    let (mut recording, mut whole) = (Recording::open(&path).unwrap(), DashState::default());
    let events: Vec<_> = recording.events_from(Seq(1)).unwrap().map(Result::unwrap).collect();
    let mut states = BTreeMap::new();
    for envelope in &events {
        whole.apply(envelope).unwrap();
        same(&recording.state_at(envelope.seq).unwrap(), &whole, "seek");
        states.insert(envelope.seq.0, serde_json::to_string(&whole).unwrap());
    }
    let snapshot_of = |line: &str, from: &str, to: &str| {
        let found: serde_json::Value = serde_json::from_str(line).unwrap();
        let state = states[&found["upto"].as_u64().unwrap()].replacen(from, to, 1);
        let mut packed = Vec::new();
        let mut encoder = zeekstd::EncodeOptions::new().into_encoder(&mut packed).unwrap();
        encoder.write_all(state.as_bytes()).unwrap();
        encoder.finish().unwrap();
        let packed = base64::engine::general_purpose::STANDARD.encode(packed);
        format!("{{\"k\":\"Snapshot\",\"upto\":{},\"packed\":\"{packed}\"}}", found["upto"])
    };
    // A mark that only snapshots have shows that they are used; a false seq shows that they are not believed.
    let rewrite = |from: &str, to: &str| {
        let (mut out, mut batch) = (format!("{}\n", lines[0]), String::new());
        let mut prev = format!("{:08x}", crc32c::crc32c(out.as_bytes()));
        for line in &lines[1..] {
            if line.starts_with("{\"k\":\"Commit\"") {
                let mut commit: serde_json::Value = serde_json::from_str(line).unwrap();
                let crc = format!("{:08x}", crc32c::crc32c(batch.as_bytes()));
                (commit["crc32c"], commit["prev"]) = (crc.clone().into(), prev.into());
                out.push_str(&format!("{batch}{commit}\n"));
                (prev, batch) = (crc, String::new());
            } else {
                let snapshot = line.starts_with("{\"k\":\"Snapshot\"");
                batch.push_str(&if snapshot { snapshot_of(line, from, to) } else { line.clone() });
                batch.push('\n');
            }
        }
        std::fs::write(&path, out).unwrap();
        let mut recording = Recording::open(&path).unwrap();
        assert!(recording.integrity().is_intact(), "{:?}", recording.integrity().lines());
        recording.state_at(Seq(150)).unwrap()
    };
    assert_eq!(rewrite("\"unknown_events_total\":0", "\"unknown_events_total\":77").unknown_events_total, 77);
    let lied = rewrite("{\"seq\":", "{\"seq\":1");
    assert_eq!((lied.seq, lied.log.len()), (Seq(150), 150));
}

#[test]
fn no_snapshot_is_longer_than_the_settings_allow() {
    let dir = tempfile::tempdir().unwrap();
    let small = RecorderSettings { snapshot_bytes_max: 3000, ..snapshots_each(2048) };
    let lines = record_steps(&dir.path().join("a.jsonl"), 200, 10, small);
    let longest = lines.iter().filter(|l| l.starts_with("{\"k\":\"Snapshot\"")).map(String::len).max();
    assert!(longest.is_none_or(|bytes| bytes < 3000), "{longest:?}");
}

#[test]
fn numbers_at_their_end_do_not_end_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let lines = record_steps(&path, 3, 100, plain());
    let max = u64::MAX;
    for tail in [
        format!("{{\"seq\":{max},\"t\":{max},\"lane\":0,\"k\":\"LogLine\",\"d\":{{\"level\":\"info\",\"target\":\"\",\"text\":\"\"}}}}"),
        format!("{{\"seq\":{max},\"t\":{max},\"lane\":0,\"k\":\"Elided\",\"d\":{{\"from\":5,\"upto\":{max}}}}}"),
    ] {
        std::fs::write(
            &path,
            format!("{}\n{tail}\n{tail}\n{{\"k\":\"Commit\",\"upto\":{max},\"crc32c\":\"\",\"prev\":\"\"}}\n", lines.join("\n")),
        )
        .unwrap();
        let recording = Recording::open(&path).unwrap();
        let end = recording.end();
        let mut replay = RecordingSource::new(recording, MonotonicClock::start()).unwrap();
        replay.set_speed(Pace::Max);
        let mut state = DashState::default();
        drain(&mut replay, &mut state, 3);
        assert_eq!(state.seq, end);
        assert!(replay.damage().is_some());
        replay.seek(Seq(max));
        drain(&mut replay, &mut state, 3);
        assert_eq!(state.seq, end);
    }
}

#[test]
fn a_change_of_speed_in_a_gap_does_not_begin_it_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let clock = Arc::new(ManualClock::default());
    let mut journal = Journal::new(clock.clone(), Some(Recorder::create(&path, &header(1), COMMIT_INTERVAL).unwrap()));
    journal.append(Place::default(), PaceChanged { pace: Pace::Max });
    clock.advance(10_000_000_000);
    journal.append(Place::default(), ended());
    drop(journal);
    let clock = Arc::new(ManualClock::default());
    let mut replay = RecordingSource::new(Recording::open(&path).unwrap(), clock.clone()).unwrap();
    let mut state = DashState::default();
    drain(&mut replay, &mut state, 9);
    for i in 0..9 {
        clock.advance(1_000_000_000);
        match i % 3 {
            0 => replay.set_speed(Pace::Times(1.0)),
            1 => replay.set_playing(true),
            _ => {
                replay.set_playing(false);
                clock.advance(5_000_000_000);
                replay.set_playing(true);
            }
        }
        drain(&mut replay, &mut state, 9);
        assert_eq!(state.seq, Seq(1), "after {} s", i + 1);
    }
    clock.advance(1_000_000_000);
    drain(&mut replay, &mut state, 9);
    assert_eq!(state.seq, Seq(2));
}
