//! Going back, forks beside their parents, overridden decisions; and what a verifier says of the recording.

use super::verification::header;
use super::*;

fn paused_in(step: u32, settings: EngineSettings) -> Rig {
    let mut rig = Rig::new(EngineSettings { start_paused: true, ..settings });
    rig.until_state(RunState::Paused);
    rig.step(0, StepUnit::Decision, step);
    rig
}

fn fork(at: u32, with: Variation) -> Command {
    Command::Fork { lane: LaneId(0), episode: None, at: StepIndex(at), with }
}

fn rewind(at: u32) -> Command {
    Command::Rewind { lane: LaneId(0), at: StepIndex(at) }
}

/// What an episode did from a step on: messages, calls, rewards, states.
pub fn course(events: &[Arc<Envelope>], lane: u32, episode: u32, from: u32) -> Vec<String> {
    let here = |e: &&Arc<Envelope>| (e.lane.0, e.episode) == (lane, Some(EpisodeId(episode))) && e.step.is_some_and(|s| s.0 >= from);
    let told = |e: &Arc<Envelope>| match &e.event {
        Event::MessageCompleted(m) => Some(format!("{} says {:?}", e.step.unwrap(), m.text)),
        Event::ObservationReceived(o) => Some(format!("{} sees {:?}", e.step.unwrap(), o.observation)),
        Event::TransitionRecorded(t) => {
            Some(format!("{} does {:?} {} {} {:016x}", e.step.unwrap(), t.action, t.reward, t.reward_sum, t.state_hash))
        }
        _ => None,
    };
    events.iter().filter(here).filter_map(told).collect()
}

fn branches(rig: &Rig) -> Vec<BranchStarted> {
    rig.events.iter().filter_map(|e| if let Event::BranchStarted(b) = &e.event { Some(b.clone()) } else { None }).collect()
}

fn verified(rig: &Rig) {
    let report = verify(&header("1"), rig.events.clone(), &Adder::new()).unwrap();
    assert_eq!(report.difference, None);
}

#[test]
fn a_fork_with_nothing_changed_is_its_parent_bit_for_bit() {
    for settings in [model(), heuristic(), EngineSettings { agent: AgentKind::Oracle, ..model() }] {
        for at in 1..=3 {
            let mut rig = paused_in(2, settings.clone());
            assert_eq!(rig.ask(fork(at, Variation::default())), None);
            rig.ask(Command::Resume);
            rig.until(|e| e.lane == LaneId(0) && matches!(e.event, Event::EpisodeEnded(_)));
            if !rig.events.iter().any(|e| e.lane == LaneId(1) && matches!(e.event, Event::EpisodeEnded(_))) {
                rig.until(|e| e.lane == LaneId(1) && matches!(e.event, Event::EpisodeEnded(_)));
            }
            let parent = course(&rig.events, 0, 1, at);
            assert!(!parent.is_empty());
            assert_eq!(course(&rig.events, 1, 1, 0), parent, "{:?} at {at}", settings.agent);
            let ends: Vec<&EpisodeEnded> =
                rig.events.iter().filter_map(|e| if let Event::EpisodeEnded(end) = &e.event { Some(end) } else { None }).collect();
            assert!(ends.len() >= 2 && ends[0] == ends[1], "{ends:?}");
            verified(&rig);
        }
    }
}

#[test]
fn going_back_decides_the_step_anew_and_the_same_way() {
    let mut rig = paused_in(3, model());
    let before = course(&rig.events, 0, 1, 2);
    assert_eq!(rig.ask(rewind(2)), None);
    assert_eq!(rig.run_state(), RunState::Paused);
    rig.step(0, StepUnit::Decision, 2);
    assert_eq!(course(&rig.events, 0, 2, 0), before);
    let of = &branches(&rig)[0];
    assert_eq!((of.parent_lane, of.parent, of.at_step, of.cause), (LaneId(0), EpisodeId(1), StepIndex(2), BranchCause::Rewind));
    verified(&rig);
    // A branch can be gone back in as well, also before where it parted.
    assert_eq!(rig.ask(rewind(1)), None);
    rig.step(0, StepUnit::Decision, 3);
    assert_eq!(course(&rig.events, 0, 3, 2), before);
    verified(&rig);
}

#[test]
fn going_back_in_the_middle_of_a_message_drops_it() {
    let mut rig = paused_in(1, EngineSettings { streams: true, ..model() });
    rig.step(0, StepUnit::Token, 1);
    assert_eq!(rig.ask(rewind(1)), None);
    rig.step(0, StepUnit::Decision, 1);
    assert_eq!(course(&rig.events, 0, 2, 1), course(&rig.events, 0, 1, 1)[..3]);
    verified(&rig);
}

#[test]
fn another_seed_another_checkpoint_another_action_part_from_the_parent() {
    let seed = Variation { seed: Some(Seed(99)), ..Variation::default() };
    let checkpoint = Variation { checkpoint: Some("b".into()), ..Variation::default() };
    let call = ToolCall::new("add").with("n", 7);
    let action = Variation { first: Overriding { action: Some(call.clone()), result: None }, ..Variation::default() };
    let result = Variation { first: Overriding { action: Some(call.clone()), result: Some("42".into()) }, ..Variation::default() };
    for with in [seed, checkpoint.clone(), action.clone(), result.clone()] {
        let mut rig = paused_in(2, model());
        assert_eq!(rig.ask(fork(2, with.clone())), None);
        rig.ask(Command::Resume);
        rig.until(|e| e.lane == LaneId(1) && matches!(e.event, Event::TransitionRecorded(_)));
        let (parent, branch) = (course(&rig.events, 0, 1, 2), course(&rig.events, 1, 1, 2));
        assert_eq!(parent[0], branch[0], "both see the same");
        assert_ne!(parent[1..3], branch[1..3], "{with}");
        let Event::TransitionRecorded(did) =
            &rig.events.iter().find(|e| e.lane == LaneId(1) && matches!(e.event, Event::TransitionRecorded(_))).unwrap().event
        else {
            unreachable!()
        };
        if with == action {
            assert_eq!(did.action, RecordedAction::Tool(call.clone()));
        }
        if with == result {
            assert_eq!(did.action, RecordedAction::Outside { call: call.clone(), result: ToolResult::ok("42") });
        }
        if with == checkpoint {
            let says =
                |e: &Envelope| e.lane == LaneId(1) && matches!(&e.event, Event::MessageCompleted(m) if m.checkpoint == Some("b".into()));
            assert!(rig.events.iter().any(|e| says(e)));
            let serves = rig.events.iter().filter(|e| matches!(&e.event, Event::CheckpointSwapped(_))).count();
            assert_eq!(serves, 1, "the branch's policy does not serve the run");
        }
        rig.until(|e| e.lane == LaneId(1) && matches!(e.event, Event::EpisodeEnded(_)));
        verified(&rig);
    }
}

#[test]
fn a_branch_is_one_episode_and_its_lane_is_used_again() {
    let mut rig = paused_in(1, model());
    assert_eq!(rig.ask(fork(1, Variation::default())), None);
    rig.ask(Command::Resume);
    rig.until(|e| e.lane == LaneId(1) && matches!(e.event, Event::EpisodeEnded(_)));
    rig.until(|e| e.lane == LaneId(0) && matches!(e.event, Event::EpisodeStarted(_)));
    rig.turns(50);
    rig.ask(Command::Pause);
    let begun =
        |rig: &Rig, lane: u32| rig.events.iter().filter(|e| e.lane == LaneId(lane) && matches!(e.event, Event::EpisodeStarted(_))).count();
    assert_eq!(begun(&rig, 1), 1);
    assert_eq!(rig.ask(fork(1, Variation::default())), None);
    assert_eq!((begun(&rig, 1), begun(&rig, 2)), (2, 0));
}

#[test]
fn a_call_may_be_overridden_until_it_is_carried_out() {
    let mut rig = paused_in(1, model());
    let call = ToolCall::new("add").with("n", 5);
    let with = Overriding { action: Some(call.clone()), result: None };
    assert_eq!(rig.ask(Command::Override { lane: LaneId(0), with: with.clone() }), None);
    rig.step(0, StepUnit::Decision, 1);
    let done: Vec<RecordedAction> =
        rig.events.iter().filter_map(|e| if let Event::TransitionRecorded(t) = &e.event { Some(t.action.clone()) } else { None }).collect();
    assert_eq!(done[1], RecordedAction::Tool(call));
    rig.step(0, StepUnit::Decision, 1);
    let done = rig.events.iter().filter(|e| matches!(&e.event, Event::TransitionRecorded(t) if t.action == done[1])).count();
    assert_eq!(done, 1, "it holds for one decision");
    verified(&rig);
}

#[test]
fn what_can_not_be_done_is_refused_with_its_reason() {
    let mut rig = paused_in(2, model());
    let wrong = Overriding { action: Some(ToolCall::new("teleport")), result: None };
    let asked = [
        (rewind(0), "no step 0"),
        (rewind(9), "there are 1 to 3"),
        (Command::Rewind { lane: LaneId(5), at: StepIndex(1) }, "no lane 5"),
        (Command::Fork { lane: LaneId(0), episode: Some(EpisodeId(77)), at: StepIndex(1), with: Variation::default() }, "not kept"),
        (fork(1, Variation { checkpoint: Some("z".into()), ..Variation::default() }), "no checkpoint is named z"),
        (fork(1, Variation { first: wrong.clone(), ..Variation::default() }), "teleport"),
        (Command::Override { lane: LaneId(0), with: wrong }, "teleport"),
        (Command::Override { lane: LaneId(0), with: Overriding::default() }, "say what"),
    ];
    for (command, why) in asked {
        let said = rig.ask(command.clone()).unwrap_or_default();
        assert!(said.contains(why), "{command}: {said}");
    }
    assert!(branches(&rig).is_empty());
}

#[test]
fn a_branch_whose_checkpoint_can_not_be_loaded_ends_and_says_why() {
    let notes = Shared::default();
    notes.lock().unwrap().broken.insert("c".into(), "torn".into());
    let mut rig = Rig::with(EngineSettings { start_paused: true, ..model() }, Adder::new(), notes);
    rig.until_state(RunState::Paused);
    rig.step(0, StepUnit::Decision, 1);
    assert_eq!(rig.ask(fork(1, Variation { checkpoint: Some("c".into()), ..Variation::default() })), None);
    let told = rig.until(|e| matches!(&e.event, Event::LogLine(l) if l.level == LogLevel::Error));
    assert!(matches!(&told.event, Event::LogLine(l) if l.text.contains("torn")));
    rig.turns(3);
    rig.ask(Command::Resume);
    rig.until(|e| e.lane == LaneId(0) && matches!(e.event, Event::EpisodeEnded(_)));
    verified(&rig);
}

#[test]
fn an_altered_branch_is_found() {
    let mut rig = paused_in(2, model());
    rig.ask(fork(2, Variation::default()));
    let mut events: Vec<Envelope> = rig.events.iter().map(|e| (**e).clone()).collect();
    for e in &mut events {
        if let Event::BranchStarted(b) = &mut e.event {
            b.at_step = StepIndex(1);
        }
    }
    let found = verify(&header("1"), events.into_iter().map(Arc::new), &Adder::new()).unwrap().difference.unwrap();
    assert_eq!(found.field, "state_hash");
}

#[test]
fn a_branch_of_a_branch_decides_by_its_parents_seed_and_weights() {
    let seed = Variation { seed: Some(Seed(99)), ..Variation::default() };
    let checkpoint = Variation { checkpoint: Some("b".into()), ..Variation::default() };
    for with in [seed, checkpoint] {
        let mut rig = paused_in(1, model());
        assert_eq!(rig.ask(fork(1, with.clone())), None);
        rig.ask(Command::Resume);
        rig.until(|e| e.lane == LaneId(1) && e.step == Some(StepIndex(3)) && matches!(e.event, Event::TransitionRecorded(_)));
        let of_branch = Command::Fork { lane: LaneId(1), episode: Some(EpisodeId(1)), at: StepIndex(2), with: Variation::default() };
        assert_eq!(rig.ask(of_branch), None);
        rig.until(|e| e.lane == LaneId(2) && e.step == Some(StepIndex(3)) && matches!(e.event, Event::TransitionRecorded(_)));
        let (parent, again) = (course(&rig.events, 1, 1, 2), course(&rig.events, 2, 1, 0));
        assert!(!again.is_empty() && parent[..again.len().min(parent.len())] == again[..again.len().min(parent.len())], "{with}");
        let (mut policy, run) = (fakes::Talker::new("a", Shared::default()), model().decoding().unwrap());
        let report = verify_policy(&header("1"), rig.events.clone(), &Adder::new(), &mut policy, run).unwrap();
        assert_eq!(report.difference, None, "{with}");
    }
}
