//! What a run tells, and that it tells the same each time.

use super::*;
use std::collections::BTreeMap;

/// Everything of an event but when it was and how long it took.
fn timeless(e: &Envelope) -> String {
    let mut value = serde_json::to_value(e).unwrap();
    value["t"] = 0.into();
    if value["d"].get("duration_ns").is_some() {
        value["d"]["duration_ns"] = 0.into();
    }
    value.to_string()
}

/// The events of each episode by its seed, without what says on which lane it was played.
fn by_seed(events: &[Arc<Envelope>]) -> BTreeMap<Seed, Vec<String>> {
    let mut seeds: BTreeMap<LaneId, Seed> = BTreeMap::new();
    let mut episodes: BTreeMap<Seed, Vec<String>> = BTreeMap::new();
    for e in events.iter().filter(|e| e.episode.is_some()) {
        if let Event::EpisodeStarted(started) = &e.event {
            seeds.insert(e.lane, started.seed);
        }
        let mut value: serde_json::Value = serde_json::from_str(&timeless(e)).unwrap();
        for key in ["seq", "lane", "ep"] {
            value[key] = 0.into();
        }
        if value["d"].get("call_id").is_some() {
            value["d"]["call_id"] = 0.into();
        }
        episodes.entry(seeds[&e.lane]).or_default().push(value.to_string());
    }
    episodes
}

#[test]
fn a_decision_is_told_in_order() {
    let events = play(EngineSettings { episodes_max: Some(1), streams: true, ..heuristic() });
    let expected = [
        "RunStarted",
        "CheckpointListed",
        "CheckpointListed",
        "CheckpointListed",
        "PaceChanged",
        "PolicyStateChanged",
        "RunStateChanged",
        "EpisodeStarted",
        "PhaseEntered",
        "ObservationReceived",
        "PhaseEntered",
        "ThoughtDelta",
        "MessageCompleted",
        "PhaseEntered",
        "ToolCallStarted",
        "ToolCallFinished",
        "PhaseEntered",
        "TransitionRecorded",
        "DecisionSettled",
        "PhaseEntered",
    ];
    assert_eq!(kinds(&events)[..expected.len()], expected);
    assert_eq!(kinds(&events)[events.len() - 3..], ["DecisionSettled", "EpisodeEnded", "RunStateChanged"]);
}

#[test]
fn a_model_is_loaded_before_it_runs() {
    let events = play(EngineSettings { episodes_max: Some(1), ..model() });
    let states: Vec<_> = events
        .iter()
        .filter_map(|e| match &e.event {
            Event::PolicyStateChanged(c) => Some(format!("{:?}", c.state)),
            Event::CheckpointSwapped(_) => Some("Swapped".into()),
            Event::RunStateChanged(c) => Some(format!("{:?}", c.state)),
            _ => None,
        })
        .collect();
    assert_eq!(states, ["Loading", "Ready", "Swapped", "Running", "Ended"]);
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let settings = EngineSettings { episodes_max: Some(20), lanes: 3, ..model() };
    let told = |settings: &EngineSettings| play(settings.clone()).iter().map(|e| timeless(e)).collect::<Vec<_>>();
    let (first, second) = (told(&settings), told(&settings));
    assert_eq!(first, second);
    let other = told(&EngineSettings { seed: Seed(8), ..settings });
    assert_ne!(first, other);
}

#[test]
fn an_episode_does_not_hang_on_the_number_of_lanes() {
    let run = |lanes| by_seed(&play(EngineSettings { episodes_max: Some(20), lanes, ..model() }));
    let alone = run(1);
    assert_eq!(alone.len(), 20);
    assert_eq!(alone, run(4));
    assert_eq!(alone, run(7));
}

#[test]
fn a_pause_in_the_middle_changes_no_episode() {
    let settings = EngineSettings { episodes_max: Some(60), lanes: 2, ..model() };
    let mut rig = Rig::new(settings.clone());
    for turns in 1..30 {
        rig.turns(turns);
        if rig.run_state() != RunState::Running {
            continue;
        }
        assert_eq!(rig.ask(Command::Pause), None);
        rig.step(turns as u32 % 2, StepUnit::Token, 1);
        assert_eq!(rig.ask(Command::Resume), None);
    }
    rig.until_state(RunState::Ended);
    assert_eq!(by_seed(&rig.events), by_seed(&play(settings)));
}

#[test]
fn a_message_that_calls_nothing_valid_is_an_error_and_the_episode_goes_on() {
    let events = play(EngineSettings { episodes_max: Some(60), ..model() });
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for pair in events.windows(3) {
        if let (Event::ToolCallFinished(call), Event::TransitionRecorded(t)) = (&pair[0].event, &pair[2].event) {
            let error = call.error_type.map_or("none".into(), |e| format!("{e:?}"));
            let way = match &t.action {
                RecordedAction::Text(_) => "text",
                RecordedAction::Tool(_) => "tool",
                RecordedAction::Outside { result, .. } => {
                    assert_eq!(result.content.as_str(), "5");
                    "outside"
                }
            };
            *seen.entry(format!("{way} {error}")).or_default() += 1;
        }
    }
    let ways: Vec<&str> = seen.keys().map(String::as_str).collect();
    assert_eq!(ways, ["outside none", "text Format", "text Schema", "text UnknownTool", "tool Refused", "tool none"]);
    let told: u32 = events.iter().map(|e| if let Event::EpisodeEnded(e) = &e.event { e.tool_errors } else { 0 }).sum();
    let errors: u32 = seen.iter().filter(|(way, _)| !way.ends_with("none")).map(|(_, n)| n).sum();
    assert_eq!(told, errors);
}

#[test]
fn an_end_adds_up() {
    let formula = RewardFormula { step_weight: 0.5, final_weight: 0.25, gamma: 0.5 };
    let events = play(EngineSettings { episodes_max: Some(10), reward: formula, ..model() });
    let (mut rewards, mut ends) = (Vec::new(), 0);
    for e in &events {
        match &e.event {
            Event::TransitionRecorded(t) => rewards.push(t.reward),
            Event::EpisodeEnded(end) => {
                let discounted: f64 = rewards.iter().enumerate().map(|(i, r)| 0.5f64.powi(i as i32) * r).sum();
                assert!((end.hybrid - (0.5 * discounted + 0.25 * 0.5)).abs() < 1e-12);
                assert!((end.episode_return - rewards.iter().sum::<f64>()).abs() < 1e-12);
                assert_eq!((end.length as usize, end.ending), (rewards.len(), EpisodeEnding::Terminated));
                assert!(end.truth.starts_with("seed "));
                rewards.clear();
                ends += 1;
            }
            _ => {}
        }
    }
    assert_eq!(ends, 10);
}

#[test]
fn an_episode_is_truncated_at_the_asked_length() {
    let events = play(EngineSettings { episodes_max: Some(5), steps_max: Some(2), ..model() });
    let ended = |e: &Arc<Envelope>| if let Event::EpisodeEnded(e) = &e.event { Some((e.ending, e.length)) } else { None };
    let ends: Vec<_> = events.iter().filter_map(ended).collect();
    assert_eq!(ends, [(EpisodeEnding::Truncated, 2); 5]);
    // The environment says what came of an episode that was cut below its own limit.
    let told =
        events.iter().filter(|e| matches!(&e.event, Event::EpisodeEnded(e) if e.final_reward == 0.25 && e.truth.as_str() == "cut short"));
    assert_eq!(told.count(), 5);
}

#[test]
fn a_full_window_is_compressed() {
    let window = WindowSettings { window_steps: 2, keep_steps: 1, ..WindowSettings::default() };
    let mut rig = Rig::new(EngineSettings { episodes_max: Some(10), window, ..model() });
    rig.until_state(RunState::Ended);
    assert!(rig.count("MemoryCompressed") > 5);
}

#[test]
fn deltas_come_one_by_one_for_a_reader_and_in_groups_at_full_speed() {
    let longest = |pace| {
        let mut rig = Rig::new(EngineSettings { episodes_max: Some(4), streams: true, pace, ..model() });
        for _ in 0..100_000 {
            rig.clock.advance(50_000_000);
            rig.crank();
            if rig.run_state() == RunState::Ended {
                break;
            }
        }
        let tokens = |e: &Arc<Envelope>| if let Event::ThoughtDelta(d) = &e.event { Some(d.tokens) } else { None };
        rig.events.iter().filter_map(tokens).max()
    };
    assert_eq!(longest(Pace::Times(1.0)), Some(1));
    assert_eq!(longest(Pace::Max), Some(8));
}

#[test]
fn a_reward_out_of_range_ends_the_episode_and_says_so() {
    let env = Adder::new().with_final_reward(1.5);
    let mut rig = Rig::with(heuristic(), env, Shared::default());
    let told = rig.until(|e| matches!(&e.event, Event::LogLine(l) if l.level == LogLevel::Error));
    assert!(matches!(&told.event, Event::LogLine(l) if l.text.contains("1.5")), "{told:?}");
    rig.until_state(RunState::Paused);
    assert_eq!((rig.count("EpisodeStarted"), rig.count("EpisodeEnded")), (1, 1));
    assert_eq!(rig.ask(Command::Resume), None);
    rig.turns(1);
    assert_eq!(rig.count("EpisodeStarted"), 2);
}

#[test]
fn a_fact_becomes_an_event() {
    let mut rig = Rig::new(EngineSettings { start_paused: true, ..heuristic() });
    rig.sender.fact(SamplesDropped { sampler: SafeText::new("host"), count: 3 }).unwrap();
    assert_eq!(kinds(rig.crank()), ["SamplesDropped"]);
}
