//! Breakpoints: where they stop a run, what they tell, and when they don't.

use super::*;

fn at(when: &str) -> Command {
    Command::Break { number: None, breakpoint: Breakpoint::new(when) }
}

fn hits(rig: &Rig) -> Vec<(String, BreakpointHit)> {
    let hit = |e: &Arc<Envelope>| if let Event::BreakpointHit(hit) = &e.event { Some((e.address(), hit.clone())) } else { None };
    rig.events.iter().filter_map(hit).collect()
}

fn paused() -> Rig {
    let mut rig = Rig::new(EngineSettings { start_paused: true, streams: true, ..model() });
    rig.until_state(RunState::Paused);
    rig
}

/// Goes on until it stands still again; the events in between.
fn on(rig: &mut Rig) -> Vec<Arc<Envelope>> {
    let from = rig.events.len();
    assert_eq!(rig.ask(Command::Resume), None);
    rig.until_state(RunState::Paused);
    rig.events[from..].to_vec()
}

#[test]
fn a_run_stops_at_the_boundary_behind_the_event_and_says_why() {
    for (when, kind, behind) in [
        ("reward < 1e9 && step == 2", "TransitionRecorded", &["PhaseEntered", "DecisionSettled"][..]),
        ("phase == 'act' && step == 2", "PhaseEntered", &["ToolCallStarted", "ToolCallFinished", "TransitionRecorded"]),
        ("kind == 'ThoughtDelta' && step == 2", "ThoughtDelta", &["ThoughtDelta", "MessageCompleted"]),
    ] {
        let mut rig = paused();
        assert_eq!(rig.ask(at(when)), None);
        let passed = on(&mut rig);
        let stop = passed.iter().position(|e| matches!(e.event, Event::BreakpointHit(_))).unwrap();
        let Event::BreakpointHit(hit) = &passed[stop].event else { unreachable!() };
        let held = passed.iter().position(|e| e.seq == hit.at).unwrap();
        assert_eq!((hit.number, hit.kind.as_str(), hit.hits, hit.outcome), (1, kind, 1, HitOutcome::Paused));
        assert_eq!((passed[held].event.kind(), passed[stop].address()), (kind, "1/2".into()));
        assert!(hit.why.iter().any(|s| s.name.as_str() == "step" && s.value.as_str() == "2"), "{:?}", hit.why);
        // Between the event and the stop there is at most what the same phase, or the same token, had still to tell.
        let between: Vec<&str> = passed[held + 1..stop].iter().map(|e| e.event.kind()).collect();
        assert!(between.iter().all(|kind| behind.contains(kind)), "{when}: {between:?}");
        let last = passed.last().unwrap();
        assert!(matches!(&last.event, Event::RunStateChanged(c) if c.reason.contains("bp1 holds at 1/2")), "{last:?}");
        let state = rig.engine.journal.state();
        assert_eq!((state.stopped_at, state.breakpoints[&1].hits), (Some(1), 1));
        rig.ask(Command::Resume);
        assert_eq!(rig.engine.journal.state().stopped_at, None);
    }
}

#[test]
fn a_condition_that_goes_on_to_hold_stops_once_a_decision() {
    let mut rig = paused();
    rig.ask(at("step >= 2"));
    let stops: Vec<String> = (0..3).map(|_| on(&mut rig).last().map(|_| hits(&rig).last().unwrap().0.clone()).unwrap()).collect();
    assert_eq!(stops, ["1/2", "1/3", "1/4"]);
}

#[test]
fn one_that_only_tells_goes_on_one_that_ignores_counts_and_one_that_stops_once_is_gone() {
    let mut rig = paused();
    let set = |breakpoint: Breakpoint| Command::Break { number: None, breakpoint };
    rig.ask(set(Breakpoint { log: true, ..Breakpoint::new("kind == 'DecisionSettled'") }));
    rig.ask(set(Breakpoint { once: true, ignore: 2, ..Breakpoint::new("phase == 'observe'") }));
    on(&mut rig);
    let told: Vec<(String, u32, HitOutcome)> = hits(&rig).iter().map(|(a, h)| (a.clone(), h.number, h.outcome)).collect();
    let of = |n: u32| told.iter().filter(|(_, number, _)| *number == n).map(|(a, _, o)| (a.as_str(), *o)).collect::<Vec<_>>();
    assert_eq!(of(1), [("1/1", HitOutcome::Logged), ("1/2", HitOutcome::Logged)]);
    assert_eq!(of(2), [("1/1", HitOutcome::Ignored), ("1/2", HitOutcome::Ignored), ("1/3", HitOutcome::Paused)]);
    let state = rig.engine.journal.state();
    assert_eq!(state.breakpoints.keys().copied().collect::<Vec<_>>(), [1], "bp2 had its one hit");
    assert_eq!(rig.count("BreakpointCleared"), 1);
    assert_eq!(rig.ask(Command::Unbreak { number: Some(2) }).unwrap(), "there is no bp2; there are bp1");
    // Numbers are not used twice.
    rig.ask(at("tool-error"));
    assert_eq!(rig.engine.journal.state().breakpoints.keys().copied().collect::<Vec<_>>(), [1, 3]);
    assert_eq!(rig.ask(Command::Unbreak { number: None }), None);
    assert!(rig.engine.journal.state().breakpoints.is_empty());
}

#[test]
fn a_breakpoint_can_be_given_another_condition() {
    let mut rig = paused();
    rig.ask(at("step == 99"));
    rig.ask(Command::Break { number: Some(1), breakpoint: Breakpoint::new("step == 2") });
    on(&mut rig);
    assert_eq!(hits(&rig)[0].0, "1/2");
    let refused = rig.ask(Command::Break { number: Some(1), breakpoint: Breakpoint::new("stepp == 2") }).unwrap();
    assert!(refused.contains("did you mean `step`"), "{refused}");
    assert_eq!(rig.engine.journal.state().breakpoints[&1].breakpoint.when.as_str(), "step == 2", "the old one stays");
    let refused = rig.ask(Command::Break { number: Some(7), breakpoint: Breakpoint::new("step == 2") }).unwrap();
    assert!(refused.contains("there is no bp7"), "{refused}");
}

#[test]
fn what_always_holds_hits_no_breakpoint_by_its_own_hit() {
    let mut rig = paused();
    rig.ask(at("true"));
    rig.turns(20);
    let told = rig.count("BreakpointHit");
    assert_eq!(told, 0, "what is done to the run hits nothing");
    on(&mut rig);
    assert!(hits(&rig).iter().all(|(_, hit)| !hit.kind.starts_with("Breakpoint")));
    // The run goes on all the same, a decision at a time, and says nothing while it stands still.
    let mut stops = Vec::new();
    for _ in 0..3 {
        on(&mut rig);
        stops.push(hits(&rig).last().unwrap().0.clone());
        let before = rig.count("BreakpointHit");
        rig.sender
            .input(Input::Fact(Box::new(LogLine { level: LogLevel::Info, target: "t".into(), text: "a sample".into() }.into())))
            .unwrap();
        rig.turns(5);
        assert_eq!(rig.count("BreakpointHit"), before);
    }
    assert_eq!(stops.len(), 3);
    assert!(stops.windows(2).all(|two| two[0] != two[1]), "{stops:?}");
}

#[test]
fn what_holds_of_the_state_stops_once_a_decision_and_lets_the_run_go_on() {
    for when in ["obs['sum'] > -1.0", "run.decisions >= 0", "seq > 0", "obs['sum'] > -1.0 || reward < 0.0", "t >= 0.0"] {
        let mut rig = paused();
        assert_eq!(rig.ask(at(when)), None, "{when}");
        let fact = || Input::Fact(Box::new(LogLine { level: LogLevel::Info, target: "t".into(), text: "a sample".into() }.into()));
        let mut stops = Vec::new();
        for _ in 0..3 {
            on(&mut rig);
            stops.push(hits(&rig).last().unwrap().0.clone());
            for _ in 0..3 {
                rig.sender.input(fact()).unwrap();
                rig.turns(2);
            }
        }
        assert_eq!(stops, ["1/1", "1/2", "1/3"], "{when}");
        assert_eq!(hits(&rig).len(), 3, "{when}: {:?}", hits(&rig));
    }
}

#[test]
fn one_that_stops_once_has_one_hit_and_one_that_is_taken_away_has_none() {
    let mut rig = paused();
    let breakpoint = Breakpoint { once: true, ..Breakpoint::new("phase == 'settle' || kind == 'DecisionSettled'") };
    rig.ask(Command::Break { number: None, breakpoint });
    on(&mut rig);
    rig.ask(Command::Resume);
    rig.turns(40);
    assert_eq!((hits(&rig).len(), rig.count("BreakpointCleared")), (1, 1));
    // It holds at the very event after which it is taken away.
    let mut rig = paused();
    rig.ask(at("kind == 'LogLine'"));
    rig.sender.input(Input::Fact(Box::new(LogLine { level: LogLevel::Info, target: "t".into(), text: "x".into() }.into()))).unwrap();
    rig.sender.send(Command::Unbreak { number: None }).unwrap();
    rig.turns(5);
    assert_eq!(hits(&rig).len(), 0);
}

#[test]
fn lanes_that_are_decoded_together_have_all_said_their_token_before_the_run_stands_still() {
    let mut rig = Rig::new(EngineSettings { start_paused: true, streams: true, lanes: 3, ..model() });
    rig.until_state(RunState::Paused);
    rig.ask(at("kind == 'ThoughtDelta' && lane == 0"));
    for _ in 0..5 {
        // What a lane says while it should hold is a fault of the events' grammar, which the rig looks at.
        let passed = on(&mut rig);
        let stop = passed.iter().position(|e| matches!(e.event, Event::BreakpointHit(_))).unwrap();
        assert!(passed[stop..].iter().all(|e| e.event.kind() != "ThoughtDelta"), "{:?}", kinds(&passed[stop..]));
    }
}

#[test]
fn there_is_an_end_to_how_many_are_set() {
    let mut rig = paused();
    for _ in 0..64 {
        assert_eq!(rig.ask(at("tool-error")), None);
    }
    assert!(rig.ask(at("tool-error")).unwrap().contains("64 breakpoints already"));
}

#[test]
fn a_step_that_meets_a_breakpoint_ends_there() {
    let mut rig = paused();
    rig.ask(at("phase == 'act'"));
    rig.step(0, StepUnit::Decision, 3);
    assert_eq!(hits(&rig).iter().map(|(a, _)| a.as_str()).collect::<Vec<_>>(), ["1/1"]);
    assert_eq!(rig.count("DecisionSettled"), 0);
}
