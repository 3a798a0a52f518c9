//! Runs that begin with a recorded episode: it comes out as it was, and the branch goes on from it.

use super::branching::course;
use super::verification::header;
use super::*;
use std::collections::VecDeque;

/// The first episode of a run, as a recording has it.
fn recital(events: &[Arc<Envelope>], at: u32, with: Variation) -> Recital {
    let of_first = || events.iter().filter(|e| e.lane == LaneId(0) && e.episode == Some(EpisodeId(1)));
    let start = of_first().find_map(|e| if let Event::EpisodeStarted(s) = &e.event { Some(s.clone()) } else { None }).unwrap();
    let messages = of_first().filter_map(|e| if let Event::MessageCompleted(m) = &e.event { Some(m.clone()) } else { None });
    let settled = of_first().filter_map(|e| if let Event::TransitionRecorded(t) = &e.event { Some(t.clone()) } else { None });
    let recited = |(message, t): (MessageCompleted, TransitionRecorded)| Recited { message, action: t.action, state_hash: t.state_hash };
    let decisions: VecDeque<Recited> = messages.zip(settled).map(recited).collect();
    let sampling_seed = start.seed;
    Recital { source: "a test".into(), start, sampling_seed, decisions, at: StepIndex(at), with }
}

fn recorded(settings: &EngineSettings) -> Vec<Arc<Envelope>> {
    play(EngineSettings { episodes_max: Some(1), ..settings.clone() })
}

fn gone_on(settings: &EngineSettings, recital: Recital) -> Rig {
    let mut rig = Rig::reciting(EngineSettings { streams: true, ..settings.clone() }, recital);
    rig.until(|e| matches!(e.event, Event::BranchStarted(_)));
    rig.until_state(RunState::Paused);
    assert_eq!(rig.ask(Command::Resume), None);
    rig.until(|e| e.lane == LaneId(1) && matches!(e.event, Event::EpisodeEnded(_)));
    rig
}

#[test]
fn an_episode_comes_out_as_it_was_and_its_branch_with_nothing_changed_too() {
    for settings in [model(), heuristic(), EngineSettings { agent: AgentKind::Oracle, ..model() }] {
        let events = recorded(&settings);
        for at in 1..=3 {
            let mut rig = gone_on(&settings, recital(&events, at, Variation::default()));
            assert_eq!(course(&rig.events, 0, 1, 0), course(&events, 0, 1, 0), "{:?}", settings.agent);
            assert_eq!(course(&rig.events, 1, 1, 0), course(&events, 0, 1, at), "{:?} at {at}", settings.agent);
            let report = verify(&header("1"), rig.events.clone(), &Adder::new()).unwrap();
            assert_eq!(report.difference, None);
            // It waits for more, and more can be forked from both.
            rig.until_state(RunState::Paused);
            let again = Command::Fork { lane: LaneId(0), episode: Some(EpisodeId(1)), at: StepIndex(1), with: Variation::default() };
            assert_eq!(rig.ask(again), None);
            assert!(rig.ask(Command::Reseed { seed: Seed(3) }).unwrap().contains("branches of a recorded episode"));
        }
    }
}

#[test]
fn another_action_parts_from_the_recorded_one() {
    let events = recorded(&model());
    let call = ToolCall::new("add").with("n", 7);
    let with = Variation { first: Overriding { action: Some(call.clone()), result: Some("42".into()) }, ..Variation::default() };
    let rig = gone_on(&model(), recital(&events, 2, with));
    let acted: Vec<RecordedAction> = rig
        .events
        .iter()
        .filter(|e| e.lane == LaneId(1))
        .filter_map(|e| if let Event::TransitionRecorded(t) = &e.event { Some(t.action.clone()) } else { None })
        .collect();
    assert_eq!(acted[0], RecordedAction::Outside { call, result: ToolResult::ok("42") });
    // What was given once is given again when that branch is recited.
    let branch: Vec<Arc<Envelope>> = rig.events.clone();
    let report = verify(&header("1"), branch, &Adder::new()).unwrap();
    assert_eq!(report.difference, None);
}

#[test]
fn an_overridden_decision_is_recited_as_it_was_carried_out() {
    let mut rig = Rig::new(EngineSettings { start_paused: true, episodes_max: Some(1), ..model() });
    rig.until_state(RunState::Paused);
    rig.step(0, StepUnit::Decision, 1);
    rig.step(0, StepUnit::Phase, 1);
    let with = Overriding { action: Some(ToolCall::new("add").with("n", 3)), result: Some("told".into()) };
    assert_eq!(rig.ask(Command::Override { lane: LaneId(0), with }), None);
    rig.ask(Command::Resume);
    rig.until_state(RunState::Ended);
    let again = gone_on(&model(), recital(&rig.events, 3, Variation::default()));
    assert_eq!(course(&again.events, 0, 1, 0), course(&rig.events, 0, 1, 0));
}

#[test]
fn a_branch_that_is_refused_is_said_in_the_pause() {
    let events = recorded(&model());
    let call = ToolCall::new("teleport");
    let with = Variation { first: Overriding { action: Some(call), result: None }, ..Variation::default() };
    let mut rig = Rig::reciting(model(), recital(&events, 2, with));
    let paused = rig.until(|e| matches!(&e.event, Event::RunStateChanged(c) if c.state == RunState::Paused));
    assert!(
        matches!(&paused.event, Event::RunStateChanged(c) if c.reason.contains("not forked: ") && c.reason.contains("teleport")),
        "{paused:?}"
    );
    assert_eq!((rig.count("BranchStarted"), rig.count("CommandRejected")), (0, 1));
    let again = Command::Fork { lane: LaneId(0), episode: Some(EpisodeId(1)), at: StepIndex(2), with: Variation::default() };
    assert_eq!(rig.ask(again), None);
}

#[test]
fn nothing_else_is_done_to_an_episode_while_it_is_played_again() {
    let events = recorded(&model());
    let mut rig = Rig::reciting(model(), recital(&events, 2, Variation::default()));
    rig.until(|e| matches!(e.event, Event::EpisodeStarted(_)));
    let rewind = Command::Rewind { lane: LaneId(0), at: StepIndex(1) };
    assert!(rig.ask(rewind).unwrap().contains("still being played again"));
    rig.until(|e| matches!(e.event, Event::BranchStarted(_)));
}

#[test]
fn what_comes_out_otherwise_is_said_and_nothing_is_forked() {
    let events = recorded(&model());
    let mut changed = recital(&events, 2, Variation::default());
    changed.decisions[1].state_hash ^= 1;
    let mut rig = Rig::reciting(model(), changed);
    let told = rig.until(|e| matches!(&e.event, Event::LogLine(l) if l.level == LogLevel::Error));
    assert!(matches!(&told.event, Event::LogLine(l) if l.text.contains("step 2 comes out otherwise")), "{told:?}");
    rig.turns(50);
    assert_eq!(rig.count("BranchStarted"), 0);
    let mut elsewhere = recital(&events, 2, Variation::default());
    elsewhere.start.state_hash ^= 1;
    let mut rig = Rig::reciting(model(), elsewhere);
    let told = rig.until(|e| matches!(&e.event, Event::LogLine(l) if l.level == LogLevel::Error));
    assert!(matches!(&told.event, Event::LogLine(l) if l.text.contains("begins otherwise here")), "{told:?}");
}

#[test]
fn a_recording_that_ends_in_the_middle_is_recited_as_far_as_it_goes() {
    let events = recorded(&model());
    let mut cut = recital(&events, 3, Variation::default());
    cut.decisions.truncate(2);
    let rig = gone_on(&model(), cut);
    assert_eq!(course(&rig.events, 1, 1, 0), course(&events, 0, 1, 3));
    let ended = rig
        .events
        .iter()
        .find_map(|e| if let (LaneId(0), Event::EpisodeEnded(end)) = (e.lane, &e.event) { Some(end.ending) } else { None });
    assert_eq!(ended, Some(EpisodeEnding::Aborted));
}
