//! Loading, swapping, and policies that fail.

use super::*;

fn swap(name: &str) -> Command {
    Command::Swap { checkpoint: name.into() }
}

fn speaker(e: &Envelope) -> Option<&str> {
    match &e.event {
        Event::MessageCompleted(m) => m.checkpoint.as_ref().map(|c| c.0.as_str()),
        _ => None,
    }
}

fn broken(name: &str, reason: &str) -> Shared {
    let notes = Shared::default();
    notes.lock().unwrap().broken.insert(name.into(), reason.into());
    notes
}

#[test]
fn a_swap_lets_messages_finish_and_names_who_speaks() {
    let mut rig = Rig::new(EngineSettings { lanes: 3, streams: true, ..model() });
    rig.until(|e| matches!(e.event, Event::ThoughtDelta(_)));
    assert_eq!(rig.ask(swap("b")), None);
    rig.until(|e| matches!(e.event, Event::CheckpointSwapped(_)));
    let at = rig.events.iter().rposition(|e| matches!(e.event, Event::CheckpointSwapped(_))).unwrap();
    for lane in 0..3 {
        rig.until(|e| e.lane == LaneId(lane) && speaker(e) == Some("b"));
    }
    for (index, e) in rig.events.iter().enumerate() {
        let Some(named) = speaker(e) else { continue };
        let Event::MessageCompleted(message) = &e.event else { unreachable!() };
        assert!(message.text.starts_with(named), "{named} is named, but {} was said", message.text);
        assert!(index > at || named == "a");
        // What begins after the swap is by the new weights.
        let began = rig.events[..index]
            .iter()
            .rposition(|b| b.lane == e.lane && matches!(b.event, Event::PhaseEntered(PhaseEntered { phase: Phase::Think })));
        assert_eq!(named, if began.unwrap() > at { "b" } else { "a" });
    }
    let Event::CheckpointSwapped(swapped) = &rig.events[at].event else { unreachable!() };
    assert_eq!((swapped.from.as_ref().unwrap().0.as_str(), swapped.to.0.as_str(), swapped.sha256.len()), ("a", "b", 64));
}

#[test]
fn a_swap_that_fails_says_why_and_the_old_one_serves() {
    let mut rig = Rig::with(model(), Adder::new(), broken("c", "its checksum differs: fetch it again"));
    rig.until_state(RunState::Running);
    assert_eq!(rig.ask(swap("c")), None);
    let refused = rig.until(|e| matches!(e.event, Event::CommandRejected(_)));
    assert!(matches!(&refused.event, Event::CommandRejected(r) if r.reason.contains("checksum")));
    assert_eq!(rig.run_state(), RunState::Running);
    rig.until(|e| speaker(e) == Some("a"));
    assert_eq!(rig.ask(swap("b")), None);
    rig.until(|e| speaker(e) == Some("b"));
}

#[test]
fn a_swap_while_paused_serves_after_the_pause() {
    let mut rig = Rig::new(model());
    rig.until(|e| matches!(e.event, Event::MessageCompleted(_)));
    assert_eq!(rig.ask(Command::Pause), None);
    assert_eq!(rig.ask(swap("b")), None);
    rig.until(|e| matches!(e.event, Event::CheckpointSwapped(_)));
    assert_eq!(rig.run_state(), RunState::Paused);
    assert_eq!(rig.ask(Command::Resume), None);
    rig.until(|e| speaker(e) == Some("b"));
}

#[test]
fn a_pause_while_the_policy_loads_is_kept() {
    let mut rig = Rig::new(model());
    rig.sender.send(Command::Pause).unwrap();
    rig.until(|e| matches!(e.event, Event::CheckpointSwapped(_)));
    rig.turns(10);
    assert_eq!((rig.run_state(), rig.count("EpisodeStarted")), (RunState::Paused, 0));
    assert_eq!(rig.ask(Command::Resume), None);
    rig.until(|e| speaker(e) == Some("a"));
}

#[test]
fn a_load_is_taken_though_the_inbox_was_full() {
    let mut rig = Rig::new(EngineSettings { start_paused: true, ..model() });
    let fact = || SamplesDropped { sampler: SafeText::new("host"), count: 1 };
    rig.until_state(RunState::Paused);
    rig.sender.send(swap("b")).unwrap();
    while rig.sender.fact(fact()).is_ok() {}
    rig.crank();
    while rig.sender.fact(fact()).is_ok() {}
    for _ in 0..10_000 {
        if rig.events.iter().any(|e| matches!(&e.event, Event::CheckpointSwapped(s) if s.to.0 == "b")) {
            return;
        }
        rig.crank();
        while rig.sender.fact(fact()).is_ok() {}
        std::thread::yield_now();
    }
    panic!("the load was lost");
}

#[test]
fn without_a_policy_nothing_runs_and_another_may_be_loaded() {
    let mut rig = Rig::with(model(), Adder::new(), broken("a", "no such file"));
    rig.until(|e| matches!(&e.event, Event::PolicyStateChanged(c) if c.state == PolicyState::Failed));
    rig.until_state(RunState::Paused);
    assert!(rig.ask(Command::Resume).unwrap().contains("no policy"));
    assert_eq!(rig.ask(swap("b")), None);
    rig.until(|e| matches!(e.event, Event::CheckpointSwapped(_)));
    if rig.run_state() == RunState::Paused {
        assert_eq!(rig.ask(Command::Resume), None);
    }
    rig.until(|e| speaker(e) == Some("b"));
}

#[test]
fn a_headless_run_without_a_policy_ends() {
    let settings = EngineSettings { episodes_max: Some(3), ..model() };
    let mut rig = Rig::with(settings, Adder::new(), broken("a", "no such file"));
    rig.until_state(RunState::Ended);
    assert_eq!(rig.count("EpisodeStarted"), 0);
}

#[test]
fn a_policy_that_refuses_a_prompt_fails_its_lane_only() {
    let notes = Shared::default();
    notes.lock().unwrap().open_fails_at = Some(5);
    let mut rig = Rig::with(EngineSettings { lanes: 2, ..model() }, Adder::new(), notes);
    let told = rig.until(|e| matches!(&e.event, Event::LogLine(l) if l.level == LogLevel::Error));
    assert!(matches!(&told.event, Event::LogLine(l) if l.text.contains("window_steps")), "{told:?}");
    rig.until_state(RunState::Paused);
    let aborted = |e: &&Arc<Envelope>| matches!(&e.event, Event::EpisodeEnded(e) if e.ending == EpisodeEnding::Aborted);
    assert_eq!(rig.events.iter().filter(aborted).count(), 1);
    assert_eq!(rig.ask(Command::Resume), None);
    rig.until(|e| matches!(e.event, Event::MessageCompleted(_)));
}

#[test]
fn a_policy_that_fails_mid_batch_ends_every_lane_whole() {
    for episodes_max in [None, Some(40)] {
        let mut rig = Rig::new(EngineSettings { lanes: 3, streams: true, episodes_max, ..model() });
        rig.until(|e| matches!(e.event, Event::ThoughtDelta(_)));
        rig.notes.lock().unwrap().advance_fails = true;
        rig.until_state(if episodes_max.is_some() { RunState::Ended } else { RunState::Paused });
        rig.turns(10);
        // Where the run only pauses, a lane that was not decoding just then keeps its episode.
        let open = rig.count("EpisodeStarted") - rig.count("EpisodeEnded");
        assert!(open < 3 && (open == 0 || episodes_max.is_none()), "{open} are open");
    }
}
