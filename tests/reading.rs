//! A recording that is opened by its end says the same as one that was read whole, whatever was read of it meanwhile, and whatever was
//! done to it.

#![allow(clippy::unwrap_used)]

mod events;

use events::{Random, header};
use pilothouse::event::*;
use pilothouse::journal::{Glance, Integrity, Journal, Recorder, RecorderSettings, Recording, SealError, files_of, leftover, seal};
use pilothouse::source::{Errors, Frame, FrameSource, Playback, Quest, RecordingSource, SourceStatus};
use pilothouse::state::DashState;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Another block of the recording stands somewhere once more.
const MOVED: usize = 7;
const UNITS: [StepUnit; 4] = [StepUnit::Token, StepUnit::Phase, StepUnit::Decision, StepUnit::Episode];

/// A recording of random events, with a commit and a snapshot now and then. Its lines.
fn record(path: &Path, seed: u64, events: usize) -> Vec<Vec<u8>> {
    let settings = RecorderSettings {
        commit_interval: Duration::from_secs(600),
        snapshot_factor: 0,
        snapshot_bytes_min: 24 * 1024,
        ..RecorderSettings::default()
    };
    let clock = Arc::new(ManualClock::default());
    let mut journal = Journal::new(clock.clone(), Some(Recorder::with_settings(path, &header(seed), settings).unwrap()));
    let mut random = Random(seed);
    for _ in 0..events {
        clock.advance(random.below(5_000_000) as u64);
        let event = random.event();
        journal.append(random.place(), event);
        if random.below(9) == 0 {
            journal.commit().unwrap();
        }
    }
    journal.append(Default::default(), RunStateChanged { state: RunState::Ended, reason: "done".into() });
    drop(journal);
    std::fs::read(path).unwrap().split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

/// What is done to a recording: nothing, and then ever worse.
fn hurt(lines: &mut Vec<Vec<u8>>, how: usize, random: &mut Random) {
    let at = 1 + random.below(lines.len() - 1);
    match how {
        0 => {}
        1 => {
            // Torn.
            let keep = random.below(lines[at].len());
            lines.truncate(at + 1);
            lines[at].truncate(keep);
        }
        2 => {
            let byte = random.below(lines[at].len());
            lines[at][byte] ^= 1 << random.below(7);
        }
        3 => drop(lines.remove(at)),
        4 => lines.insert(at, b"neither\n".to_vec()),
        5 => lines.insert(at, lines[at].clone()),
        6 => {
            let other = 1 + at % (lines.len() - 1);
            lines.swap(at, other);
        }
        MOVED => {
            let from = 1 + random.below(lines.len() - 1);
            let block = lines[from..(from + 20).min(lines.len())].to_vec();
            lines.splice(at..at, block);
        }
        _ => (0..6).for_each(|_| hurt(lines, 2, random)),
    }
}

fn shown(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn events_of(recording: &mut Recording, from: Seq, count: usize) -> Vec<String> {
    recording.events_from(from).unwrap().take(count).map(|e| shown(&e.unwrap())).collect()
}

#[test]
fn what_is_read_late_is_what_is_read_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late, mut damaged) = (0, 0);
    for seed in 0..8 {
        let written = record(&dir.path().join(format!("{seed}.jsonl")), seed, 400);
        for how in 0..9 {
            for round in 0..if how == 0 { 1 } else { 4 } {
                let mut random = Random(1000 * seed + 10 * how as u64 + round);
                let mut lines = written.clone();
                hurt(&mut lines, how, &mut random);
                let path = dir.path().join("hurt.jsonl");
                std::fs::write(&path, lines.concat()).unwrap();
                let said = format!("seed {seed}, hurt {how}, round {round}");
                let Ok(mut whole) = Recording::open(&path) else { continue };
                damaged += usize::from(!whole.integrity().damage.is_empty());
                late += usize::from(compare(&path, &mut whole, how != MOVED, &mut random, &said));
            }
        }
    }
    assert!(late > 100 && damaged > 50, "{late} of them were opened by their end, {damaged} were damaged");
}

/// Asks both the same; whether the one was opened by its end alone. Where lines stand twice, which of them are the right ones is known only
/// when all was read: until then the answers need only be some.
fn compare(path: &Path, whole: &mut Recording, is_strict: bool, random: &mut Random, said: &str) -> bool {
    let mut late = Recording::open_above(path, 0).unwrap();
    let was_late = !late.is_whole();
    let end = whole.end();
    assert_eq!((late.end(), late.t_ns_end()), (end, whole.t_ns_end()), "{said}");
    for asked in 0..24 {
        let at = Seq(random.below(end.0 as usize + 3) as u64);
        let said = format!("{said}: question {asked} at {at}, end {end}");
        match random.below(4) {
            0 | 1 if !is_strict => {
                assert!(late.state_at(at).unwrap().seq <= end);
                let seqs: Vec<Seq> = late.events_from(at).unwrap().take(40).map(|e| e.unwrap().seq).collect();
                assert!(seqs.windows(2).all(|w| w[0] < w[1]), "{said}: {seqs:?}");
            }
            2 if !is_strict => drop(late.boundary(UNITS[random.below(4)], at, random.below(9) as i64 - 4).unwrap()),
            0 => assert_eq!(shown(&late.state_at(at).unwrap()), shown(&whole.state_at(at).unwrap()), "{said}"),
            1 => {
                let count = 1 + random.below(60);
                assert_eq!(events_of(&mut late, at, count), events_of(whole, at, count), "{said}");
            }
            2 => {
                let (unit, count) = (UNITS[random.below(4)], random.below(9) as i64 - 4);
                let (found, wanted) = (late.boundary(unit, at, count).unwrap(), whole.boundary(unit, at, count).unwrap());
                assert_eq!(found, wanted, "{said}: {unit:?} by {count}");
            }
            _ => drop(late.read_on(random.below(20_000) as u64).unwrap()),
        }
    }
    late.read_out().unwrap();
    let told = |integrity: &Integrity| shown(&integrity);
    assert_eq!(told(late.integrity()), told(whole.integrity()), "{said}");
    assert_eq!(events_of(&mut late, Seq(1), usize::MAX), events_of(whole, Seq(1), usize::MAX), "{said}");
    was_late
}

/// A recorder that appends to `path`, and the journal above it.
fn writing(path: &Path) -> (Arc<ManualClock>, Journal) {
    let clock = Arc::new(ManualClock::default());
    let settings = RecorderSettings { commit_interval: Duration::from_secs(600), ..RecorderSettings::default() };
    let recorder = Recorder::with_settings(path, &header(1), settings).unwrap();
    (clock.clone(), Journal::new(clock, Some(recorder)))
}

fn take(source: &mut RecordingSource, state: &mut DashState) {
    let mut frames = Vec::new();
    while source.poll(&mut frames, 64).unwrap() == SourceStatus::More {}
    for frame in frames {
        match frame {
            Frame::Snapshot(snapshot) => *state = *snapshot,
            Frame::Event(envelope) => state.apply(&envelope).unwrap(),
        }
    }
}

#[test]
fn a_recording_that_grows_is_followed_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    for quickly in [false, true] {
        let path = dir.path().join(format!("{quickly}.jsonl"));
        let (_, mut journal) = writing(&path);
        let mut random = Random(3);
        let mut append = |journal: &mut Journal, count: usize| {
            for _ in 0..count {
                let event = random.event();
                // A run that says that it has ended grows no more.
                if matches!(&event, Event::RunStateChanged(e) if e.state == RunState::Ended) {
                    continue;
                }
                journal.append(random.place(), event);
                if random.below(5) == 0 {
                    journal.commit().unwrap();
                }
            }
            journal.commit().unwrap();
        };
        append(&mut journal, 60);
        let clock = Arc::new(ManualClock::default());
        let recording = if quickly { Recording::open_above(&path, 0) } else { Recording::open(&path) };
        let mut source = RecordingSource::new(recording.unwrap(), clock.clone()).unwrap();
        assert!(source.is_growing() && source.damage().is_none(), "{:?}", source.damage());
        source.look_for(Quest::Errors, Arc::new(Errors));
        source.seek(Seq(u64::MAX));
        let mut state = DashState::default();
        for _ in 0..6 {
            append(&mut journal, 30);
            clock.advance(1_000_000_000);
            take(&mut source, &mut state);
            assert_eq!(state.seq, journal.state().seq);
            while source.read_on(50).unwrap() {}
            assert!(source.book().is_whole() && source.tallies()[&Quest::Errors].is_whole());
        }
        // A step back stays there.
        source.step(StepUnit::Phase, -1);
        take(&mut source, &mut state);
        let stays = state.seq;
        append(&mut journal, 30);
        clock.advance(1_000_000_000);
        take(&mut source, &mut state);
        assert_eq!((state.seq, source.end()), (stays, journal.state().seq));
        journal.append(Default::default(), RunStateChanged { state: RunState::Ended, reason: "done".into() });
        let measure = journal.state();
        drop(journal);
        clock.advance(1_000_000_000);
        source.seek(Seq(u64::MAX));
        take(&mut source, &mut state);
        clock.advance(1_000_000_000);
        take(&mut source, &mut state);
        assert_eq!((shown(&state), source.is_growing(), source.damage()), (shown(&measure), false, None));
        let mut tally = source.tallies()[&Quest::Errors].clone();
        while source.read_on(50).unwrap() {
            tally = source.tallies()[&Quest::Errors].clone();
        }
        let errors = |e: &Envelope| matches!(&e.event, Event::ToolCallFinished(e) if e.error_type.is_some());
        let mut whole = Recording::open(&path).unwrap();
        let wanted: Vec<Seq> = whole.events_from(Seq(1)).unwrap().map(Result::unwrap).filter(|e| errors(e)).map(|e| e.seq).collect();
        assert_eq!(tally.hits_from(Seq(0)).collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn a_file_that_is_cut_renamed_or_gone_while_it_is_followed_ends_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let (_, mut journal) = writing(&path);
    for _ in 0..20 {
        journal.append(Default::default(), PaceChanged { pace: Pace::Max });
        journal.commit().unwrap();
    }
    let clock = Arc::new(ManualClock::default());
    let mut source = RecordingSource::new(Recording::open_above(&path, 0).unwrap(), clock.clone()).unwrap();
    let mut state = DashState::default();
    source.seek(Seq(u64::MAX));
    take(&mut source, &mut state);
    std::fs::rename(&path, dir.path().join("b.jsonl")).unwrap();
    clock.advance(1_000_000_000);
    take(&mut source, &mut state);
    assert_eq!(source.damage(), None, "a file that has another name is the same file");
    std::fs::File::options().write(true).open(dir.path().join("b.jsonl")).unwrap().set_len(900).unwrap();
    clock.advance(1_000_000_000);
    take(&mut source, &mut state);
    assert!(source.damage().unwrap().contains("is shorter than it was"), "{:?}", source.damage());
    source.seek(Seq(3));
    take(&mut source, &mut state);
    source.set_speed(Pace::Max);
    source.set_playing(true);
    take(&mut source, &mut state);
    while source.read_on(50).unwrap() {}
    std::fs::remove_file(dir.path().join("b.jsonl")).unwrap();
    clock.advance(1_000_000_000);
    take(&mut source, &mut state);
}

/// What an open recording tells after something was done to its file, and whether its first events are still read.
fn told_after(quickly: bool, sealed: bool, change: impl FnOnce(&Path)) -> (String, bool) {
    let dir = tempfile::tempdir().unwrap();
    let mut path = dir.path().join("a.jsonl");
    record(&path, 1, 300);
    if sealed {
        path = seal(&path).unwrap().path;
    }
    let mut recording = if quickly { Recording::open_above(&path, 0) } else { Recording::open(&path) }.unwrap();
    let before = events_of(&mut recording, Seq(1), 20);
    assert!(recording.integrity().is_intact());
    change(&path);
    let after = events_of(&mut recording, Seq(1), 20);
    recording.read_out().unwrap();
    let told = recording.integrity().told().unwrap_or_default();
    assert_eq!(told.is_empty(), recording.integrity().is_intact());
    (told, before == after)
}

#[test]
fn a_file_that_is_changed_under_an_open_recording_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let [other, other_sealed] = ["other.jsonl", "sealed.jsonl"].map(|name| dir.path().join(name));
    record(&other, 2, 300);
    record(&other_sealed, 2, 300);
    let other_sealed = seal(&other_sealed).unwrap().path;
    let text = std::fs::read_to_string(&other).unwrap().replacen("01J0", "01J1", 1);
    for quickly in [false, true] {
        for sealed in [false, true] {
            let by = if sealed { &other_sealed } else { &other };
            let (told, is_same) = told_after(quickly, sealed, |path| {
                std::fs::copy(by, path.with_extension("new")).unwrap();
                std::fs::rename(path.with_extension("new"), path).unwrap();
            });
            assert!(told.contains("is another file now") && is_same, "{told}");
            let (told, _) = told_after(quickly, sealed, |path| {
                let file = std::fs::File::options().write(true).open(path).unwrap();
                file.set_len(file.metadata().unwrap().len() / 2).unwrap();
            });
            assert!(told.contains("is shorter than it was"), "{told}");
            let (told, is_same) = told_after(quickly, sealed, |path| std::fs::remove_file(path).unwrap());
            assert!(told.is_empty() && is_same, "what is gone can still be read: {told}");
        }
        let (told, _) = told_after(quickly, false, |path| std::fs::write(path, &text).unwrap());
        assert!(told.contains("was overwritten"), "{told}");
    }
}

#[test]
fn a_recording_with_plain_snapshots_reads_as_one_with_packed_ones() {
    let dir = tempfile::tempdir().unwrap();
    let [packed, plain] = ["packed.jsonl", "plain.jsonl"].map(|name| dir.path().join(name));
    let lines = record(&packed, 5, 400);
    let mut recording = Recording::open(&packed).unwrap();
    // As earlier builds wrote it: the state as it is, and commits that fit.
    let (mut out, mut batch, mut prev, mut snapshots) = (lines[0].clone(), Vec::new(), crc(&lines[0]), 0);
    for line in &lines[1..] {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        match value["k"].as_str().unwrap() {
            "Snapshot" => {
                let upto = value["upto"].as_u64().unwrap();
                let state = serde_json::to_string(&recording.state_at(Seq(upto)).unwrap()).unwrap();
                batch.extend(format!("{{\"k\":\"Snapshot\",\"upto\":{upto},\"state\":{state}}}\n").into_bytes());
                snapshots += 1;
            }
            "Commit" => {
                let next = crc(&batch);
                out.append(&mut batch);
                out.extend(
                    format!("{{\"k\":\"Commit\",\"upto\":{},\"crc32c\":\"{next}\",\"prev\":\"{prev}\"}}\n", value["upto"]).into_bytes(),
                );
                prev = next;
            }
            _ => batch.extend(line),
        }
    }
    std::fs::write(&plain, out).unwrap();
    let mut plain_one = Recording::open_above(&plain, 0).unwrap();
    let mut random = Random(5);
    for _ in 0..30 {
        let at = Seq(random.below(402) as u64);
        let (found, wanted) = (plain_one.state_at(at).unwrap(), recording.state_at(at).unwrap());
        assert_eq!(shown(&found), shown(&wanted), "at {at}");
    }
    plain_one.read_out().unwrap();
    assert!(snapshots > 3 && plain_one.integrity().is_intact(), "{:?}", plain_one.integrity().lines());
}

fn crc(bytes: &[u8]) -> String {
    format!("{:08x}", crc32c::crc32c(bytes))
}

#[test]
fn a_seal_that_was_cut_short_is_brought_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    record(&path, 6, 100);
    let plain = std::fs::read(&path).unwrap();
    let sealed = seal(&path).unwrap();
    assert_eq!(sealed.leftover, None);
    let bytes = std::fs::read(&sealed.path).unwrap();
    // Between its new name and the removal of the plain file.
    std::fs::write(&path, &plain).unwrap();
    assert_eq!(seal(&path).unwrap().path, sealed.path);
    assert!(!path.exists() && std::fs::read(&sealed.path).unwrap() == bytes);
    // Another run of that name is no such thing.
    record(&dir.path().join("b.jsonl"), 7, 100);
    std::fs::rename(dir.path().join("b.jsonl"), &path).unwrap();
    assert!(matches!(seal(&path), Err(SealError::Taken(_))));
    assert!(path.exists() && std::fs::read(&sealed.path).unwrap() == bytes);
    // While it is written: a link that somebody put there is removed, and not followed.
    std::fs::remove_file(&sealed.path).unwrap();
    let (aside, secret) = (dir.path().join("a.sealing"), dir.path().join("secret"));
    std::fs::write(&secret, "secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, &aside).unwrap();
    #[cfg(not(unix))]
    std::fs::write(&aside, "half").unwrap();
    assert_eq!(leftover(&path, false), Some(aside.clone()));
    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    assert_eq!(leftover(&path, true), None, "it is somebody's");
    drop(held);
    assert_eq!(seal(&path).unwrap().leftover, Some(aside.clone()));
    assert!(!aside.exists() && std::fs::read_to_string(&secret).unwrap() == "secret");
}

#[test]
fn a_sealed_recording_folds_to_the_same_state_and_is_read_from_anywhere() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..6 {
        let path = dir.path().join(format!("{seed}.jsonl"));
        record(&path, seed, 500);
        let mut plain = Recording::open(&path).unwrap();
        let (end, wanted) = (plain.end(), events_of(&mut plain, Seq(1), usize::MAX));
        let state = plain.state_at(end).unwrap();
        let sealed = seal(&path).unwrap();
        assert!(!path.exists() && sealed.path.ends_with(format!("{seed}.jsonl.zst")));
        let (mut whole, mut late) = (Recording::open(&sealed.path).unwrap(), Recording::open_above(&sealed.path, 0).unwrap());
        assert!(whole.integrity().is_intact(), "{:?}", whole.integrity().lines());
        assert_eq!(whole.state_at(end).unwrap().episodes_total, state.episodes_total);
        let kept: Vec<String> = events_of(&mut whole, Seq(1), usize::MAX);
        let is_kept = |line: &&String| !line.contains("ThoughtDelta(");
        let without = |lines: &[String]| lines.iter().filter(is_kept).filter(|l| !l.contains("Elided(")).cloned().collect::<Vec<_>>();
        assert_eq!(without(&kept), without(&wanted));
        let mut random = Random(seed);
        for _ in 0..20 {
            let at = Seq(random.below(end.0 as usize + 1) as u64);
            assert_eq!(shown(&late.state_at(at).unwrap()), shown(&whole.state_at(at).unwrap()), "seed {seed} at {at}");
        }
        assert!(seal(&sealed.path).is_err(), "it is sealed already");
        // A byte that is flipped in it is found, or does no harm.
        let mut bytes = std::fs::read(&sealed.path).unwrap();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(7);
        std::fs::write(&sealed.path, bytes).unwrap();
        if let Ok(mut recording) = Recording::open(&sealed.path) {
            let _ = recording.state_at(end);
            let _ = recording.events_from(Seq(1)).map(|events| events.count());
        }
    }
}

#[test]
fn what_is_damaged_or_still_written_is_not_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let (_, mut journal) = writing(&path);
    journal.append(Default::default(), PaceChanged { pace: Pace::Max });
    journal.commit().unwrap();
    assert!(matches!(seal(&path), Err(SealError::Held(_))));
    drop(journal);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"seq\":2,\"t\":");
    std::fs::write(&path, &bytes).unwrap();
    let sealed = seal(&path).unwrap();
    assert_eq!(std::fs::read(dir.path().join("a.torn")).unwrap(), b"{\"seq\":2,\"t\":");
    assert_eq!(Recording::open(&sealed.path).unwrap().end(), Seq(1));
    let damaged = dir.path().join("b.jsonl");
    let at = bytes.iter().position(|b| *b == b'\n').unwrap() + 3;
    bytes[at] ^= 1;
    std::fs::write(&damaged, &bytes).unwrap();
    assert!(matches!(seal(&damaged), Err(SealError::Damaged { .. })));
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!names.iter().any(|n| n.to_string_lossy().contains("sealing")), "{names:?}");
}

#[test]
fn sealing_makes_nothing_whole_that_was_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let lines = record(&path, 3, 200);
    let last = lines.iter().rposition(|l| l.starts_with(b"{\"k\":\"Commit\"")).unwrap();
    let mut cut = lines[..last].concat();
    cut.extend_from_slice(b"{\"seq\":");
    std::fs::write(&path, cut).unwrap();
    let plain = Integrity::check(&path).unwrap();
    assert!(plain.uncommitted > 0 && plain.torn_bytes == 7 && !plain.is_intact());
    let sealed = seal(&path).unwrap().path;
    assert_eq!(Integrity::check(&sealed).unwrap(), plain);
    let mut late = Recording::open_above(&sealed, 0).unwrap();
    assert_eq!(late.integrity(), &plain);
    late.read_out().unwrap();
    assert_eq!(late.integrity(), &plain);
}

#[test]
fn a_seal_that_failed_is_tried_again_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let names = || {
        let mut names: Vec<String> =
            std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    for (torn, kept) in [("other", vec!["a.1.torn", "a.jsonl.zst", "a.torn"]), ("{\"seq\":", vec!["a.jsonl.zst", "a.torn"])] {
        let path = dir.path().join("a.jsonl");
        let mut bytes = record(&path, 4, 20).concat();
        bytes.extend_from_slice(b"{\"seq\":");
        std::fs::write(&path, bytes).unwrap();
        std::fs::write(dir.path().join("a.torn"), torn).unwrap();
        std::fs::write(dir.path().join("a.sealing"), "of a process that is gone").unwrap();
        // Who reads it or seals it holds it.
        let held = std::fs::File::open(&path).unwrap();
        held.lock().unwrap();
        assert!(matches!(seal(&path), Err(SealError::Held(_))));
        drop(held);
        let sealed = seal(&path).unwrap().path;
        assert_eq!(names(), kept);
        assert!(Recorder::with_settings(&path, &header(4), RecorderSettings::default()).is_err(), "the name is taken");
        assert_eq!(names(), kept);
        files_of(&sealed).iter().for_each(|file| std::fs::remove_file(file).unwrap());
        assert!(names().is_empty(), "{:?}", names());
    }
}

#[test]
fn what_lies_beside_two_recordings_goes_with_the_last_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, sealed, other] = ["a.jsonl", "a.jsonl.zst", "a.1.jsonl"].map(|name| dir.path().join(name));
    record(&plain, 1, 20);
    let bytes = std::fs::read(&plain).unwrap();
    seal(&plain).unwrap();
    std::fs::write(&plain, bytes).unwrap();
    std::fs::write(dir.path().join("a.pin"), "").unwrap();
    record(&other, 2, 20);
    assert_eq!(files_of(&plain), vec![plain.clone()]);
    std::fs::remove_file(&plain).unwrap();
    assert_eq!(files_of(&sealed), [sealed.clone(), dir.path().join("a.pin")], "a recording of its own is no part of it");
}

#[test]
fn long_texts_stay_beside_a_sealed_recording() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let (_, mut journal) = writing(&path);
    let text = SafeText::new(&"0123456789".repeat(20_000));
    let line = LogLine { level: LogLevel::Info, target: SafeText::new("t"), text };
    journal.append(Default::default(), line);
    drop(journal);
    let plain = events_of(&mut Recording::open(&path).unwrap(), Seq(1), usize::MAX);
    let sealed = seal(&path).unwrap();
    assert!(std::fs::metadata(&sealed.path).unwrap().len() < 4096 && dir.path().join("a.blobs").is_dir());
    assert!(sealed.bytes_after > 200_000, "what lies beside it counts");
    assert_eq!(Glance::at(&sealed.path).unwrap().unwrap().bytes, sealed.bytes_after);
    let mut recording = Recording::open(&sealed.path).unwrap();
    assert_eq!(events_of(&mut recording, Seq(1), usize::MAX), plain);
    assert!(recording.integrity().damage.is_empty());
}

#[test]
fn what_reading_found_is_told_while_the_file_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let (_, mut journal) = writing(&path);
    let text = SafeText::new(&"0123456789".repeat(20_000));
    journal.append(Default::default(), LogLine { level: LogLevel::Info, target: SafeText::new("t"), text });
    journal.commit().unwrap();
    std::fs::remove_dir_all(dir.path().join("a.blobs")).unwrap();
    let mut recording = Recording::open(&path).unwrap();
    events_of(&mut recording, Seq(1), usize::MAX);
    assert_eq!(recording.integrity().damage.len(), 1);
    for _ in 0..2 {
        journal.append(Default::default(), PaceChanged { pace: Pace::Max });
        journal.commit().unwrap();
        assert!(recording.follow().unwrap());
        assert_eq!(recording.integrity().damage.len(), 1);
    }
}

#[test]
fn a_damaged_frame_of_a_sealed_recording_costs_its_own_events_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.jsonl");
    record(&path, 3, 12_000);
    assert!(std::fs::metadata(&path).unwrap().len() > 4 << 20, "it has several frames");
    let sealed = seal(&path).unwrap().path;
    let (end, all) = {
        let mut whole = Recording::open(&sealed).unwrap();
        (whole.end(), events_of(&mut whole, Seq(1), usize::MAX).len())
    };
    let mut bytes = std::fs::read(&sealed).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&sealed, bytes).unwrap();
    for late in [false, true] {
        let mut recording = if late { Recording::open_above(&sealed, 0).unwrap() } else { Recording::open(&sealed).unwrap() };
        let read = events_of(&mut recording, Seq(1), usize::MAX).len();
        assert!(read > all / 3 && read < all, "{read} of {all}");
        assert_eq!(recording.state_at(end).unwrap().seq, end);
        while recording.read_on(1 << 20).unwrap() {}
        assert_eq!(recording.integrity().damage.len(), 1, "{:?}", recording.integrity().lines());
    }
}
