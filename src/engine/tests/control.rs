//! Pause, step, pace, reseed, shutdown; and what is refused.

use super::*;

fn streaming(lanes: u32) -> EngineSettings {
    EngineSettings { lanes, streams: true, ..model() }
}

/// A run of `lanes` lanes that was paused before anything moved.
fn paused(settings: EngineSettings) -> Rig {
    let mut rig = Rig::new(EngineSettings { start_paused: true, ..settings });
    rig.until_state(RunState::Paused);
    rig
}

#[test]
fn a_pause_answers_before_the_next_token() {
    for turns in 0..40 {
        let mut rig = Rig::new(streaming(3));
        rig.until_state(RunState::Running);
        rig.turns(turns);
        rig.sender.send(Command::Pause).unwrap();
        assert_eq!(kinds(rig.crank()), ["CommandAccepted", "RunStateChanged"]);
        for _ in 0..5 {
            assert!(rig.crank().is_empty());
        }
    }
}

#[test]
fn a_paused_message_goes_on_where_it_was() {
    let mut rig = paused(streaming(1));
    rig.step(0, StepUnit::Token, 2);
    assert_eq!(rig.notes.lock().unwrap().opened, 1);
    assert_eq!(rig.ask(Command::Resume), None);
    let whole = rig.until(|e| matches!(e.event, Event::MessageCompleted(_)));
    assert_eq!(rig.notes.lock().unwrap().opened, 1);
    let Event::MessageCompleted(message) = &whole.event else { unreachable!() };
    assert!(message.token_ids.len() >= 2);
}

#[test]
fn how_long_a_lane_stood_still_is_no_part_of_how_long_it_thought() {
    const MINUTE_NS: u64 = 60_000_000_000;
    let mut rig = paused(streaming(2));
    rig.step(0, StepUnit::Token, 2);
    rig.clock.advance(MINUTE_NS);
    rig.step(0, StepUnit::Token, 1);
    rig.clock.advance(MINUTE_NS);
    // The other lane goes on while this one stands still, and the other way round.
    rig.step(1, StepUnit::Token, 2);
    rig.clock.advance(MINUTE_NS);
    assert_eq!(rig.ask(Command::Resume), None);
    rig.clock.advance(7);
    rig.turns(300);
    let first = rig.events.iter().filter(|e| e.step == Some(StepIndex(1)) && e.episode == Some(EpisodeId(1)));
    let spent: Vec<u64> = first
        .filter_map(|e| match &e.event {
            Event::MessageCompleted(m) => Some(m.duration_ns),
            _ => None,
        })
        .collect();
    assert_eq!(spent, [7, 7]);
}

#[test]
fn a_step_moves_one_token_of_one_lane() {
    let mut rig = paused(streaming(3));
    let first = rig.step(1, StepUnit::Token, 1);
    assert!(first.iter().all(|e| e.lane == LaneId(1)));
    assert_eq!(kinds(&first), ["EpisodeStarted", "PhaseEntered", "ObservationReceived", "PhaseEntered", "ThoughtDelta"]);
    let second = rig.step(1, StepUnit::Token, 1);
    assert!(second.iter().filter(|e| matches!(e.event, Event::ThoughtDelta(_))).count() == 1);
}

#[test]
fn several_tokens_are_one_step() {
    let mut rig = paused(streaming(2));
    let moved = rig.step(0, StepUnit::Token, 40);
    let deltas = moved.iter().filter(|e| matches!(e.event, Event::ThoughtDelta(_))).count();
    assert_eq!(deltas, 40);
}

#[test]
fn four_phases_are_a_decision() {
    let mut rig = paused(model());
    let steps: Vec<Vec<String>> =
        (0..4).map(|_| kinds(&rig.step(0, StepUnit::Phase, 1)).into_iter().map(str::to_owned).collect()).collect();
    assert_eq!(steps[0], ["EpisodeStarted", "PhaseEntered", "ObservationReceived"]);
    assert_eq!(steps[1], ["PhaseEntered", "MessageCompleted"]);
    assert_eq!(steps[2].last().unwrap(), "ToolCallFinished");
    assert_eq!(steps[3], ["PhaseEntered", "TransitionRecorded", "DecisionSettled"]);
}

#[test]
fn a_step_of_a_decision_ends_at_its_boundary() {
    let mut rig = paused(model());
    for _ in 0..3 {
        let moved = rig.step(0, StepUnit::Decision, 1);
        let settled = moved.iter().filter(|e| matches!(e.event, Event::DecisionSettled(_))).count();
        assert_eq!(settled, 1);
        assert!(matches!(moved.last().unwrap().event, Event::DecisionSettled(_) | Event::EpisodeEnded(_)));
    }
    // From the middle of a decision it goes to the end of this one.
    rig.step(0, StepUnit::Phase, 2);
    let rest = rig.step(0, StepUnit::Decision, 1);
    assert!(!kinds(&rest).contains(&"ObservationReceived"));
}

#[test]
fn a_step_of_episodes_ends_at_their_ends() {
    let mut rig = paused(EngineSettings { lanes: 2, ..model() });
    let moved = rig.step(1, StepUnit::Episode, 3);
    let ends = moved.iter().filter(|e| matches!(e.event, Event::EpisodeEnded(_))).count();
    assert_eq!(ends, 3);
    assert!(matches!(moved.last().unwrap().event, Event::EpisodeEnded(_)));
    assert!(moved.iter().all(|e| e.lane == LaneId(1)));
}

#[test]
fn a_step_of_more_episodes_than_there_are_ends_all_the_same() {
    let mut rig = paused(EngineSettings { lanes: 2, episodes_max: Some(3), ..heuristic() });
    rig.step(0, StepUnit::Episode, 9);
    assert_eq!(rig.count("EpisodeEnded"), 2);
    let refused = rig.ask(Command::Step { lane: LaneId(0), unit: StepUnit::Token, count: 1 }).unwrap();
    assert!(refused.contains("all its episodes"), "{refused}");
    assert_eq!(rig.ask(Command::Resume), None);
    rig.until_state(RunState::Ended);
    assert_eq!(rig.count("EpisodeEnded"), 3);
}

#[test]
fn a_scripted_agent_steps_too() {
    let mut rig = paused(EngineSettings { streams: true, ..heuristic() });
    let kinds_of = |events: &[Arc<Envelope>]| kinds(events).last().map(|k| (*k).to_owned());
    assert_eq!(kinds_of(&rig.step(0, StepUnit::Token, 1)).unwrap(), "MessageCompleted");
    assert_eq!(kinds_of(&rig.step(0, StepUnit::Phase, 1)).unwrap(), "ToolCallFinished");
    assert_eq!(kinds_of(&rig.step(0, StepUnit::Decision, 1)).unwrap(), "DecisionSettled");
}

#[test]
fn the_same_command_twice_does_nothing_twice() {
    let mut rig = paused(streaming(1));
    let request = |command| Input::Request(Request { id: CommandId(99), origin: Origin::Console, command });
    let step = Command::Step { lane: LaneId(0), unit: StepUnit::Decision, count: 1 };
    for _ in 0..3 {
        rig.sender.input(request(step.clone())).unwrap();
    }
    rig.until_state(RunState::Stepping);
    rig.until_state(RunState::Paused);
    rig.turns(50);
    assert_eq!((rig.count("CommandAccepted"), rig.count("DecisionSettled")), (1, 1));
    rig.sender.input(request(Command::Resume)).unwrap();
    assert!(rig.crank().is_empty());
    assert_eq!(rig.run_state(), RunState::Paused);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let mut rig = paused(EngineSettings { lanes: 2, ..model() });
    let step = |lane, count| Command::Step { lane: LaneId(lane), unit: StepUnit::Token, count };
    let mut refused = |command: Command, word: &str| {
        let before = rig.run_state();
        let reason = rig.ask(command.clone()).unwrap_or_else(|| panic!("{command:?} was accepted"));
        assert!(reason.contains(word), "{reason}");
        assert_eq!(rig.run_state(), before);
    };
    refused(Command::Pause, "resume");
    refused(step(2, 1), "0 to 1");
    refused(step(0, 0), "1 to");
    refused(step(0, u32::MAX), "1 to");
    refused(Command::SetPace(Pace::Times(0.0)), "positive");
    refused(Command::SetPace(Pace::Times(f64::NAN)), "positive");
    refused(Command::Swap { checkpoint: "zzz".into() }, "there are a, b, c");
    assert_eq!(rig.ask(Command::Resume), None);
    assert!(rig.ask(Command::Resume).unwrap().contains("pause"));
    let mut scripted = Rig::new(heuristic());
    assert!(scripted.ask(Command::Swap { checkpoint: "b".into() }).unwrap().contains("heuristic"));
}

#[test]
fn a_token_waits_for_its_time() {
    let mut rig = Rig::new(EngineSettings { pace: Pace::Times(1.0), ..streaming(2) });
    rig.until_state(RunState::Running);
    let mut told = 0;
    for _ in 0..200 {
        rig.clock.advance(1_000_000);
        told += rig.crank().iter().filter(|e| e.lane == LaneId(0) && matches!(e.event, Event::ThoughtDelta(_))).count();
    }
    // 200 ms at 25 ms a token, less a rest of 60 ms after `observe`.
    assert!((3..=8).contains(&told), "{told}");
    let before = rig.events.len();
    rig.turns(50);
    assert!(rig.events.len() <= before + 4, "time stands still, so nothing goes on");
    assert_eq!(rig.ask(Command::SetPace(Pace::Max)), None);
    rig.until(|e| matches!(e.event, Event::EpisodeEnded(_)));
}

#[test]
fn a_step_does_not_wait_for_the_pace() {
    let mut rig = paused(EngineSettings { pace: Pace::Times(0.1), ..streaming(1) });
    rig.step(0, StepUnit::Episode, 1);
    assert_eq!(rig.clock.now_ns(), 0);
}

#[test]
fn a_forgotten_pause_ends_where_the_place_asks_for_it() {
    let mut rig = paused(EngineSettings { pause_ns_max: Some(3_000_000_000), ..streaming(1) });
    rig.clock.advance(2_900_000_000);
    rig.turns(3);
    assert_eq!(rig.run_state(), RunState::Paused);
    rig.clock.advance(200_000_000);
    rig.turns(3);
    assert_eq!(rig.run_state(), RunState::Running);
    let mut lasting = paused(streaming(1));
    lasting.clock.advance(u64::MAX / 4);
    lasting.turns(3);
    assert_eq!(lasting.run_state(), RunState::Paused);
}

#[test]
fn a_reseeded_run_is_the_run_of_that_seed() {
    let settings = EngineSettings { lanes: 2, ..model() };
    let seeds = |events: &[Arc<Envelope>]| {
        let seed = |e: &Arc<Envelope>| if let Event::EpisodeStarted(s) = &e.event { Some(s.seed) } else { None };
        events.iter().filter_map(seed).collect::<Vec<_>>()
    };
    let mut rig = Rig::new(settings.clone());
    rig.turns(100);
    rig.until_state(RunState::Running);
    rig.until(|e| matches!(e.event, Event::MessageCompleted(_)));
    let from = rig.events.len();
    assert_eq!(rig.ask(Command::Reseed { seed: Seed(99) }), None);
    let aborted = rig.events[from..].iter().filter(|e| matches!(&e.event, Event::EpisodeEnded(e) if e.ending == EpisodeEnding::Aborted));
    assert_eq!(aborted.count(), 2);
    rig.turns(500);
    let fresh = play(EngineSettings { seed: Seed(99), episodes_max: Some(4), ..settings });
    let (again, expected) = (seeds(&rig.events[from..]), seeds(&fresh));
    assert_eq!(again[..2], expected[..2]);
    let number = |n| episode_seed(Seed(99), n);
    assert_eq!(expected[..2], [number(0), number(1)]);
}

#[test]
fn a_shutdown_in_any_phase_ends_whole() {
    for phases in 0..9 {
        for tokens in 0..3 {
            let mut rig = paused(streaming(2));
            if phases > 0 {
                rig.step(1, StepUnit::Phase, phases);
            }
            if tokens > 0 {
                rig.step(1, StepUnit::Token, tokens);
            }
            let open = rig.count("EpisodeStarted") - rig.count("EpisodeEnded");
            let from = rig.events.len();
            rig.sender.send(Command::Shutdown).unwrap();
            rig.sender.send(Command::Resume).unwrap();
            rig.crank();
            let expected: Vec<&str> =
                ["CommandAccepted"].into_iter().chain(vec!["EpisodeEnded"; open]).chain(["RunStateChanged"]).collect();
            assert_eq!(kinds(&rig.events[from..]), expected);
            assert_eq!(rig.run_state(), RunState::Ended);
            assert!(rig.crank().is_empty());
        }
    }
}

#[test]
fn a_thread_runs_to_the_end() {
    let clock = MonotonicClock::start();
    let journal = Journal::new(clock.clone(), None);
    let hub = journal.hub();
    let (sender, inbox) = inbox(8);
    let provider = Arc::new(Shelf(Shared::default()));
    let settings = EngineSettings { episodes_max: Some(3), ..model() };
    let engine = Engine::new(settings, &Adder::new(), journal, inbox, sender, provider, clock);
    std::thread::spawn(move || engine.run()).join().unwrap();
    let state = hub.state();
    assert_eq!((state.run_state, state.episodes_total), (RunState::Ended, 3));
}
