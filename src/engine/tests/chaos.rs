//! Any commands in any order: never a panic, never an event out of place, and a shutdown always ends it.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Doing {
    Turns(u8),
    Wait(u32),
    Ask(Command),
    /// The last request once more.
    Again,
    Break(bool),
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        Just(Pace::Max),
        Just(Pace::Times(1.0)),
        Just(Pace::Times(100.0)),
        Just(Pace::Times(-1.0)),
        Just(Pace::Times(f64::INFINITY))
    ]
}

fn unit() -> impl Strategy<Value = StepUnit> {
    prop_oneof![Just(StepUnit::Token), Just(StepUnit::Phase), Just(StepUnit::Decision), Just(StepUnit::Episode)]
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        Just(Command::Pause),
        Just(Command::Resume),
        (0..4u32, unit(), 0..5u32).prop_map(|(lane, unit, count)| Command::Step { lane: LaneId(lane), unit, count }),
        pace().prop_map(Command::SetPace),
        "[abcz]".prop_map(|name| Command::Swap { checkpoint: CheckpointId(name) }),
        any::<u64>().prop_map(|seed| Command::Reseed { seed: Seed(seed) }),
        (0..4u32, 0..7u32).prop_map(|(lane, at)| Command::Rewind { lane: LaneId(lane), at: StepIndex(at) }),
        (0..6u32, prop::option::of(0..6u32), 0..7u32, variation()).prop_map(|(lane, episode, at, with)| Command::Fork {
            lane: LaneId(lane),
            episode: episode.map(EpisodeId),
            at: StepIndex(at),
            with
        }),
        (prop::option::of(0..4u32), breakpoint()).prop_map(|(number, breakpoint)| Command::Break { number, breakpoint }),
        prop::option::of(0..4u32).prop_map(|number| Command::Unbreak { number }),
        ("[a ]", any::<bool>()).prop_map(|(name, is_ack)| Command::Silence(silence(&name, is_ack))),
        "s[1-3]".prop_map(|id| Command::Unsilence { id: id.as_str().into() }),
        (0..4u32, overriding()).prop_map(|(lane, with)| Command::Override { lane: LaneId(lane), with }),
    ]
}

fn silence(name: &str, is_ack: bool) -> Silence {
    let matcher = SilenceMatcher { name: name.trim().into(), value: "x".into(), is_regex: false, is_equal: true };
    let kind = if is_ack { SilenceKind::Acknowledgement } else { SilenceKind::Silence };
    Silence { kind, matchers: vec![matcher], starts_ms: 0, ends_ms: 60_000, created_by: "ops".into(), comment: "".into() }
}

fn breakpoint() -> impl Strategy<Value = Breakpoint> {
    let when = prop_oneof![
        Just("true"),
        Just("step >= 2"),
        Just("reward < 0.5"),
        Just("tool-error"),
        Just("kind == 'RunStateChanged'"),
        Just("(")
    ];
    (when, any::<bool>(), 0..3u32, any::<bool>()).prop_map(|(when, once, ignore, log)| Breakpoint { when: when.into(), once, ignore, log })
}

fn overriding() -> impl Strategy<Value = Overriding> {
    let call = prop_oneof![
        Just(ToolCall::new("wait")),
        (0..12i64).prop_map(|n| ToolCall::new("add").with("n", n)),
        Just(ToolCall::new("teleport"))
    ];
    (prop::option::of(call), prop::option::of(Just("it is done".into()))).prop_map(|(action, result)| Overriding { action, result })
}

fn variation() -> impl Strategy<Value = Variation> {
    let checkpoint = prop::option::of("[abcz]".prop_map(CheckpointId));
    (checkpoint, prop::option::of(any::<u64>().prop_map(Seed)), overriding()).prop_map(|(checkpoint, seed, first)| Variation {
        checkpoint,
        seed,
        first,
    })
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        4 => (0..40u8).prop_map(Doing::Turns),
        2 => (0..2_000_000_000u32).prop_map(Doing::Wait),
        5 => command().prop_map(Doing::Ask),
        1 => Just(Doing::Again),
        1 => any::<bool>().prop_map(Doing::Break),
    ]
}

fn settings() -> impl Strategy<Value = EngineSettings> {
    let agent = prop_oneof![
        3 => Just(AgentKind::Model("a".into())),
        1 => Just(AgentKind::Oracle),
        1 => Just(AgentKind::Baseline(BaselineKind::Random)),
    ];
    let limits = (prop::option::of(0..12u32), prop::option::of(1..5u32));
    (agent, 0..4u32, limits, pace(), any::<bool>(), any::<bool>()).prop_map(|(agent, lanes, limits, pace, streams, start_paused)| {
        // The settings' own pace was checked where they were read.
        let pace = if matches!(pace, Pace::Times(t) if !(t.is_finite() && t > 0.0)) { Pace::Max } else { pace };
        let (episodes_max, steps_max) = limits;
        EngineSettings { agent, lanes, episodes_max, steps_max, pace, streams, start_paused, ..model() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_commands_in_any_order(settings in settings(), doings in prop::collection::vec(doing(), 0..40), c_is_broken: bool) {
        let notes = Shared::default();
        if c_is_broken {
            notes.lock().unwrap().broken.insert("c".into(), "torn".into());
        }
        let mut rig = Rig::with(settings, Adder::new(), notes);
        let mut last = Command::Pause;
        let mut id = 0;
        let send = |rig: &Rig, id: u64, command: &Command| {
            let request = Request { id: CommandId(id), origin: Origin::Console, command: command.clone() };
            // Full or ended: both may be.
            let _ = rig.sender.input(Input::Request(request));
        };
        for doing in doings {
            match doing {
                Doing::Turns(turns) => rig.turns(usize::from(turns)),
                Doing::Wait(ns) => rig.clock.advance(u64::from(ns)),
                Doing::Ask(command) => {
                    id += 1;
                    send(&rig, id, &command);
                    last = command;
                }
                Doing::Again => send(&rig, id, &last),
                Doing::Break(fails) => rig.notes.lock().unwrap().advance_fails = fails,
            }
        }
        rig.turns(2);
        send(&rig, id + 1, &Command::Shutdown);
        rig.turns(2);
        prop_assert_eq!(rig.run_state(), RunState::Ended);
        prop_assert_eq!(rig.count("EpisodeStarted"), rig.count("EpisodeEnded"));
    }
}
