//! What is found out about a recording, held against a naive read of it.

use super::{Errors, Playback, Quest, RecordingSource, Tally, Words};
use crate::event::{CheckpointSwapped, Clock, Envelope, EpisodeId, Event, LaneId, ManualClock, Pace, SafeText, Seq, StepIndex};
use crate::journal::Recording;
use crate::source::{Frame, FrameSource};
use crate::state::{Row, RowKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAMES: [&str; 3] = ["success", "failure", "healthy"];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("recordings/{name}.jsonl"))
}

fn source(name: &str) -> RecordingSource {
    RecordingSource::open(&path(name), Arc::new(ManualClock::default())).unwrap()
}

/// All that reading on finds out, by that many events at a time.
fn read_out(source: &mut RecordingSource, budget: usize) {
    while source.read_on(budget).unwrap() {}
}

/// Asks events one by one, as nobody would who had time.
fn naive(name: &str, holds: impl Fn(&Event) -> bool) -> Vec<Seq> {
    let mut recording = Recording::open(&path(name)).unwrap();
    recording.events_from(Seq(1)).unwrap().map(Result::unwrap).filter(|e| holds(&e.event)).map(|e| e.seq).collect()
}

/// A recording with the header of a sample and these events, numbered anew.
pub(crate) fn made(file: &str, lanes: u32, events: Vec<Envelope>) -> PathBuf {
    let sample = std::fs::read_to_string(path("failure")).unwrap();
    let mut header: serde_json::Value = serde_json::from_str(sample.lines().next().unwrap()).unwrap();
    header["lanes"] = lanes.into();
    let mut text = format!("{header}\n");
    for (seq, event) in (1..).zip(events) {
        text += &serde_json::to_string(&Envelope { seq: Seq(seq), ..event }).unwrap();
        text.push('\n');
    }
    let made = std::env::temp_dir().join(format!("pilothouse-{file}-{}.jsonl", std::process::id()));
    std::fs::write(&made, text).unwrap();
    made
}

/// The events of a sample, one by one.
pub(crate) fn sample(name: &str) -> Vec<Envelope> {
    let mut recording = Recording::open(&path(name)).unwrap();
    recording.events_from(Seq(1)).unwrap().map(|e| Envelope::clone(&e.unwrap())).collect()
}

/// A sample run on so many lanes at once.
pub(crate) fn on_lanes(name: &str, lanes: u32) -> Vec<Envelope> {
    let of_lane = |e: &Envelope, lane| Envelope { lane: LaneId(lane), ..e.clone() };
    let spread = |e: Envelope| (0..if e.episode.is_some() { lanes } else { 1 }).map(|lane| of_lane(&e, lane)).collect::<Vec<_>>();
    sample(name).into_iter().flat_map(spread).collect()
}

#[test]
fn a_swap_within_a_step_is_a_row_of_the_track_as_the_fold_makes_it() {
    let mut events = sample("failure");
    let called = events.iter().rposition(|e| matches!(e.event, Event::ToolCallFinished(_))).unwrap();
    let swapped = CheckpointSwapped { from: Some("a".into()), to: "b".into(), sha256: "0".into() };
    let swap = Envelope { episode: None, step: None, event: swapped.into(), ..events[called].clone() };
    // Before the result, and between it and the reward.
    events.insert(called + 1, swap.clone());
    events.insert(called, swap);
    let path = made("swap", 1, events);
    for budget in [1, 100_000] {
        let mut source = RecordingSource::open(&path, Arc::new(ManualClock::default())).unwrap();
        let track = track_of(&mut source, budget);
        let state = Recording::open(&path).unwrap().state_at(track.last).unwrap();
        let folded: Vec<Row> = state.lanes[&LaneId(0)].transcript.rows.iter().cloned().collect();
        assert_eq!(track.rows, folded, "by {budget}");
        assert!(folded.iter().all(|r| r.episode == EpisodeId(1)));
        let done = |r: &Row| !matches!(&r.kind, RowKind::Action { outcome, reward, .. } if outcome.is_none() || reward.is_none());
        assert!(folded.iter().all(done), "every call has its result and its reward");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_book_has_what_a_naive_read_finds_whatever_the_budget() {
    for name in NAMES {
        for budget in [1, 7, 100_000] {
            let mut source = source(name);
            read_out(&mut source, budget);
            let book = source.book();
            assert!(book.is_whole());
            assert_eq!(book.end, source.end());
            let state = Recording::open(&path(name)).unwrap().state_at(source.end()).unwrap();
            let rows: Vec<_> = state
                .episodes
                .iter()
                .map(|e| (e.lane, e.episode, Some(e.seed), e.checkpoint.clone(), Some(e.end.clone()), e.seq))
                .collect();
            let found: Vec<_> =
                book.episodes.iter().map(|e| (e.lane, e.episode, e.seed, e.checkpoint.clone(), e.end.clone(), e.last)).collect();
            assert_eq!(found, rows, "{name} by {budget}");
            let starts = naive(name, |e| matches!(e, Event::EpisodeStarted(_)));
            assert_eq!(book.episodes.iter().map(|e| e.first).collect::<Vec<_>>(), starts);
            for episode in &book.episodes {
                let end = episode.end.as_ref().unwrap();
                assert_eq!(
                    (episode.length(), episode.decisions, episode.episode_return()),
                    (end.length, end.length, Some(end.episode_return))
                );
                assert_eq!(book.at(episode.lane, episode.last), Some(episode));
            }
        }
    }
}

#[test]
fn a_read_says_how_far_it_has_come() {
    let mut source = source("healthy");
    assert!(source.read_on(10).unwrap());
    assert_eq!((source.book().read_upto, source.book().is_whole()), (Seq(10), false));
}

fn track_of(source: &mut RecordingSource, budget: usize) -> Arc<super::Track> {
    source.track(LaneId(0), EpisodeId(1));
    read_out(source, budget);
    source.track(LaneId(0), EpisodeId(1)).unwrap();
    read_out(source, budget);
    source.track(LaneId(0), EpisodeId(1)).unwrap()
}

#[test]
fn the_rows_of_a_track_are_those_of_the_fold() {
    for name in NAMES {
        for budget in [3, 100_000] {
            let mut source = source(name);
            let track = track_of(&mut source, budget);
            let state = Recording::open(&path(name)).unwrap().state_at(track.last).unwrap();
            let folded: Vec<Row> = state.lanes[&LaneId(0)].transcript.rows.iter().cloned().collect();
            assert_eq!(track.rows, folded, "{name} by {budget}");
            let rewards: Vec<f64> = state.lanes[&LaneId(0)].episode.rewards.iter().map(|p| p.value).collect();
            assert_eq!(track.beats.iter().filter_map(|b| b.reward).collect::<Vec<_>>(), rewards);
            let settled = naive(name, |e| matches!(e, Event::DecisionSettled(_)));
            assert_eq!(track.beats.iter().map(|b| b.last).collect::<Vec<_>>(), settled);
            assert!(track.beats.iter().all(|b| b.observed && b.thought && b.acted));
        }
    }
}

#[test]
fn a_step_ends_where_its_decision_is_settled() {
    let mut source = source("failure");
    read_out(&mut source, 1000);
    let settled = naive("failure", |e| matches!(e, Event::DecisionSettled(_)));
    for (step, seq) in (1..).zip(&settled) {
        assert_eq!(source.step_end(LaneId(0), EpisodeId(1), StepIndex(step)).unwrap(), Some(*seq));
    }
    assert_eq!(source.step_end(LaneId(0), EpisodeId(1), StepIndex(99)).unwrap(), None);
    assert_eq!(source.step_end(LaneId(0), EpisodeId(2), StepIndex(1)).unwrap(), None);
}

fn tally(source: &mut RecordingSource, quest: Quest) -> Arc<Tally> {
    let tallies: BTreeMap<Quest, Arc<Tally>> = source.tallies();
    tallies[&quest].clone()
}

#[test]
fn a_search_finds_what_only_the_unplayed_future_says() {
    let mut source = source("failure");
    let truth = naive("failure", |e| matches!(e, Event::EpisodeEnded(_)));
    let word = {
        let mut recording = Recording::open(&path("failure")).unwrap();
        let end = recording.events_from(truth[0]).unwrap().next().unwrap().unwrap();
        let Event::EpisodeEnded(e) = &end.event else { panic!() };
        e.truth.to_string()
    };
    source.look_for(Quest::Search, Arc::new(Words::new(&word.to_uppercase())));
    source.read_on(20).unwrap();
    let early = tally(&mut source, Quest::Search);
    assert_eq!((early.count(), early.after(Seq(0)), early.read_upto), (0, None, Seq(20)), "nothing is known yet");
    read_out(&mut source, 20);
    let whole = tally(&mut source, Quest::Search);
    assert_eq!((whole.hits_from(Seq(0)).collect::<Vec<_>>(), whole.after(Seq(0))), (truth.clone(), Some(Some(truth[0]))));
    assert_eq!(source.head(), Seq(0), "nothing was played for it");
    source.look_for(Quest::Search, Arc::new(Words::new("no such word anywhere")));
    assert_eq!(tally(&mut source, Quest::Search).read_upto, Seq(0), "a new search begins anew");
    read_out(&mut source, 20);
    assert_eq!(tally(&mut source, Quest::Search).after(Seq(0)), Some(None));
}

#[test]
fn errors_are_those_of_a_naive_read_and_found_from_both_sides() {
    for name in NAMES {
        let mut source = source(name);
        source.look_for(Quest::Errors, Arc::new(Errors));
        read_out(&mut source, 9);
        let errors = naive(name, |e| matches!(e, Event::ToolCallFinished(f) if f.error_type.is_some()));
        let found = tally(&mut source, Quest::Errors);
        assert_eq!(found.hits_from(Seq(0)).collect::<Vec<_>>(), errors, "{name}");
        for from in (0..=source.end().0 + 1).map(Seq) {
            assert_eq!(found.after(from), Some(errors.iter().copied().find(|s| *s > from)));
            assert_eq!(found.before(from), Some(errors.iter().copied().rev().find(|s| *s < from)));
        }
    }
}

#[test]
fn what_is_too_fast_to_watch_plays_a_decision_a_second() {
    let clock = Arc::new(ManualClock::default());
    let open = || RecordingSource::open(&path("failure"), clock.clone() as Arc<dyn Clock>).unwrap();
    assert!(!open().is_by_decision());
    let mut source = open().made_watchable().unwrap();
    let settled = naive("failure", |e| matches!(e, Event::DecisionSettled(_)));
    let is_fast = source.t_ns_end() / (settled.len() as u64) < 200_000_000;
    assert_eq!(source.is_by_decision(), is_fast);
    source.by_decision_always();
    source.set_speed(Pace::Times(1.0));
    let mut frames = Vec::new();
    source.poll(&mut frames, 1).unwrap();
    for seq in settled {
        clock.advance(1_000_000_000);
        frames.clear();
        source.poll(&mut frames, 10_000).unwrap();
        assert!(matches!(frames.last(), Some(Frame::Event(e)) if e.seq == seq), "{seq}");
    }
}

#[test]
fn lanes_play_beside_each_other_a_decision_a_second_each() {
    let path = made("three", 3, on_lanes("failure", 3));
    let clock = Arc::new(ManualClock::default());
    let mut source = RecordingSource::open(&path, clock.clone() as Arc<dyn Clock>).unwrap();
    std::fs::remove_file(path).unwrap();
    source.by_decision_always();
    source.set_speed(Pace::Times(1.0));
    let mut frames = Vec::new();
    source.poll(&mut frames, 1).unwrap();
    frames.clear();
    clock.advance(1_000_000_000);
    source.poll(&mut frames, 10_000).unwrap();
    let settled = |f: &&Frame| matches!(f, Frame::Event(e) if matches!(e.event, Event::DecisionSettled(_)));
    assert_eq!(frames.iter().filter(settled).count(), 3);
}

#[test]
fn tracks_are_kept_by_their_bytes_and_the_newest_always() {
    let long = "x".repeat(600_000);
    let (begun, rest) = {
        let mut events = sample("failure");
        let begun = events.iter().position(|e| matches!(e.event, Event::EpisodeStarted(_))).unwrap();
        let rest = events.split_off(begun);
        (events, rest)
    };
    // Each episode's observations are so long that two of them are too much.
    let heavy = |n: u32| {
        rest.iter().filter(|e| e.episode.is_some()).cloned().map(move |mut e| {
            e.episode = Some(EpisodeId(n));
            e
        })
    };
    let mut events: Vec<Envelope> = begun.into_iter().chain((1..=4).flat_map(heavy)).collect();
    for envelope in &mut events {
        if let Event::ToolCallFinished(e) = &mut envelope.event {
            e.result = SafeText::new(&long);
        }
    }
    let path = made("heavy", 1, events);
    let mut source = RecordingSource::open(&path, Arc::new(ManualClock::default())).unwrap();
    read_out(&mut source, 100_000);
    std::fs::remove_file(path).ok();
    let mut each = 0;
    for n in 1..=4 {
        source.track(LaneId(0), EpisodeId(n)).unwrap();
        read_out(&mut source, 100_000);
        each = source.track(LaneId(0), EpisodeId(n)).unwrap().bytes();
    }
    let (kept, bytes) = source.tracks_kept();
    assert!(4 * each > 8 << 20, "all of them would be too much: {each} each");
    assert!((1..4).contains(&kept) && bytes <= (8 << 20).max(each), "{kept} tracks, {bytes} bytes, {each} each");
}

#[test]
fn a_search_counts_rows_as_the_thought_chain_does() {
    for name in NAMES {
        let mut recording = Recording::open(&path(name)).unwrap();
        let state = recording.state_at(recording.end()).unwrap();
        for word in ["wait", "scale", "refused", "error", "latency"] {
            let mut source = source(name);
            source.look_for(Quest::Search, Arc::new(Words::new(word)));
            read_out(&mut source, 50);
            let rows = state.lanes[&LaneId(0)].transcript.rows.iter();
            let texts = rows.map(|row| match &row.kind {
                RowKind::EpisodeStart { goal, .. } => goal.to_string(),
                RowKind::Observation { text, compact } => format!("{text}\n{compact}"),
                RowKind::Thought { text, .. } | RowKind::Text { text } | RowKind::Note { text } => text.to_string(),
                RowKind::Action { call, outcome, .. } => {
                    format!("{}\n{}", call.display(), outcome.as_ref().map_or("", |o| o.result.as_str()))
                }
                RowKind::Compressed { .. } | RowKind::Swapped { .. } => String::new(),
                RowKind::EpisodeEnd { truth, .. } => truth.to_string(),
            });
            let wanted = texts.filter(|text| text.to_lowercase().contains(word)).count();
            assert_eq!(tally(&mut source, Quest::Search).count(), wanted, "{word} in {name}");
        }
    }
}

#[test]
fn the_end_of_a_step_is_found_by_halving_as_by_reading() {
    let several = made("halving", 3, on_lanes("failure", 3));
    for path in [path("success"), path("failure"), several.clone()] {
        let mut source = RecordingSource::open(&path, Arc::new(ManualClock::default())).unwrap();
        read_out(&mut source, usize::MAX);
        let mut recording = Recording::open(&path).unwrap();
        let events: Vec<Arc<Envelope>> = recording.events_from(Seq(1)).unwrap().map(Result::unwrap).collect();
        for episode in source.book().episodes.clone() {
            for step in (0..episode.length() + 3).map(StepIndex) {
                let here = |e: &&Arc<Envelope>| (e.lane, e.episode, e.step) == (episode.lane, Some(episode.episode), Some(step));
                let wanted = events.iter().filter(here).map(|e| e.seq).max();
                assert_eq!(source.step_end(episode.lane, episode.episode, step).unwrap(), wanted, "{} {step}", path.display());
            }
        }
    }
    std::fs::remove_file(several).unwrap();
}
