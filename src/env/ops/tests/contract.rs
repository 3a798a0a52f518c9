use super::*;
use crate::event::{ErrorType, ToolResult};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Calls of the random agent, so that all tools are used.
fn random_calls(seed: u64, level: Level, count: usize) -> Vec<ToolCall> {
    let mut agent = begun(BaselineKind::Random, seed, level);
    (0..count).map(|_| agent.decide(&Observation::default()).call).collect()
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for (seed, level) in (0..8).zip(Level::ALL.into_iter().cycle()) {
        let (mut a, mut b) = (Ops::new(), Ops::new());
        // What was played before leaves no trace.
        b.reset(Seed(99), Level::L3);
        b.step(&wait());
        assert_eq!(a.reset(Seed(seed), level), b.reset(Seed(seed), level));
        for call in random_calls(seed, level, 12) {
            let action = Action::Tool(call);
            assert_eq!(a.step(&action), b.step(&action));
            assert_eq!(a.state_hash(), b.state_hash());
        }
        b.reset(Seed(seed + 1), level);
        assert_ne!(a.state_hash(), b.state_hash());
    }
}

/// Recordings are verified bit for bit, also by later builds and on other machines: whoever changes these bits must raise `VERSION`.
#[test]
fn the_bits_are_those_of_this_version() {
    let hashes = [(7, Level::L0), (8, Level::L3)].map(|(seed, level)| {
        let mut env = Ops::new();
        env.reset(Seed(seed), level);
        random_calls(seed, level, 10).into_iter().for_each(|call| drop(env.step(&Action::Tool(call))));
        env.state_hash()
    });
    assert_eq!(
        (VERSION, hashes),
        ("1.0.0", [1_904_581_278_921_338_423, 9_595_333_152_546_592_606]),
        "raise VERSION, then change the hashes here"
    );
}

#[test]
fn a_restored_snapshot_has_the_same_future() {
    for (seed, level) in (0..12).zip(Level::ALL.into_iter().cycle()) {
        let calls = random_calls(seed, level, 14);
        let (past, future) = calls.split_at(seed as usize % 8);
        let (mut a, mut b) = (Ops::new(), Ops::new());
        a.reset(Seed(seed), level);
        past.iter().for_each(|call| drop(a.step(&Action::Tool(call.clone()))));
        b.reset(Seed(seed + 50), Level::L2);
        b.restore(&a.snapshot()).unwrap();
        assert_eq!(a.state_hash(), b.state_hash());
        assert_eq!(a.snapshot(), b.snapshot());
        for call in future {
            let action = Action::Tool(call.clone());
            assert_eq!(a.oracle(), b.oracle());
            assert_eq!(a.step(&action), b.step(&action));
            assert_eq!(a.state_hash(), b.state_hash());
        }
    }
}

#[test]
fn the_hash_tells_every_difference() {
    let svc = |tool: &str| ToolCall::new(tool).with("svc", "gw");
    let calls = [
        ToolCall::new("wait"),
        svc("query").with("of", "logs"),
        svc("query").with("of", "traces"),
        svc("restart"),
        svc("rollback"),
        svc("shed"),
        svc("scale").with("n", 5),
        svc("scale").with("n", 6),
        ToolCall::new("submit").with("cause", "none"),
        ToolCall::new("submit").with("cause", "leak"),
    ];
    let mut env = Ops::new();
    env.reset(Seed(5), Level::L1);
    let begin = env.snapshot();
    let mut hashes = vec![env.state_hash()];
    for call in calls {
        env.restore(&begin).unwrap();
        env.step(&Action::Tool(call.clone()));
        let hash = env.state_hash();
        assert!(!hashes.contains(&hash), "{} left no mark", call.display());
        hashes.push(hash);
    }
    env.restore(&begin).unwrap();
    assert_eq!(env.state_hash(), hashes[0]);
}

#[test]
fn random_agents_come_to_an_end_on_every_level() {
    for level in Level::ALL {
        for seed in 0..25 {
            play_baseline(BaselineKind::Random, seed, level);
        }
    }
}

#[test]
fn the_cap_truncates_and_later_steps_change_nothing() {
    let mut env = Ops::new();
    env.reset(Seed(2), Level::L0);
    let mut last = None;
    for step in 1..=MAX_STEPS {
        let result = env.step(&wait());
        assert!(!result.terminated);
        assert_eq!(result.truncated, step == MAX_STEPS);
        assert_eq!(result.info.success.is_some(), step == MAX_STEPS);
        last = Some(result);
    }
    let hash = env.state_hash();
    assert_eq!(Some(env.step(&Action::Tool(ToolCall::new("restart").with("svc", "gw")))), last);
    assert_eq!(env.state_hash(), hash);
}

#[test]
fn words_and_outside_calls_pass_a_tick() {
    let mut env = Ops::new();
    env.reset(Seed(2), Level::L0);
    let result = env.step(&Action::Text("hm".into()));
    assert_eq!(result.result.error_type, Some(ErrorType::Format));
    assert!(result.observation.compact.starts_with("t01;"));
    let outside = ToolResult::ok("42");
    let result = env.step(&Action::Outside { call: ToolCall::new("calculator"), result: outside.clone() });
    assert_eq!(result.result, outside);
    assert!(result.observation.compact.starts_with("t02;"));
}

#[test]
fn damaged_and_foreign_snapshots_are_refused() {
    let mut env = Ops::new();
    env.reset(Seed(4), Level::L0);
    let good = env.snapshot();
    let before = env.state_hash();
    let mut try_bytes = |bytes: Vec<u8>| env.restore(&EnvSnapshot { bytes, ..good.clone() });
    for at in (0..good.bytes.len()).step_by(37) {
        let mut bytes = good.bytes.clone();
        bytes[at] ^= 0x20;
        assert!(matches!(try_bytes(bytes), Err(EnvError::SnapshotDamaged(_))), "byte {at}");
    }
    for length in [0, 3, 4, good.bytes.len() / 2] {
        assert!(matches!(try_bytes(good.bytes[..length].to_vec()), Err(EnvError::SnapshotDamaged(_))));
    }
    let foreign = EnvSnapshot { version: "0.9.0".into(), ..good.clone() };
    assert!(matches!(env.restore(&foreign), Err(EnvError::SnapshotVersion { .. })));
    assert_eq!(env.state_hash(), before, "a refused snapshot changes nothing");
}

/// An environment without an episode is a state as well.
#[test]
fn an_environment_without_an_episode_restores_too() {
    let empty = Ops::new();
    let mut env = Ops::new();
    env.reset(Seed(1), Level::L0);
    env.restore(&empty.snapshot()).unwrap();
    assert_eq!(env.state_hash(), empty.state_hash());
    assert_eq!(env.step(&wait()).reward, Ops::new().step(&wait()).reward);
}

/// The declared schemas take what the baselines call and nothing that the tools refuse.
#[test]
fn schemas_and_tools_agree() {
    let mut env = Ops::new();
    let start = env.reset(Seed(7), Level::L2);
    for call in random_calls(7, Level::L2, 60) {
        let spec = start.tools.iter().find(|t| t.name == call.name).unwrap();
        let properties = spec.parameters["properties"].as_object().unwrap();
        for (key, value) in &call.arguments {
            assert!(properties[key]["enum"].as_array().unwrap().contains(value), "{}", call.display());
        }
        let hash = env.state_hash();
        let result = env.step(&Action::Tool(call.clone()));
        assert!(matches!(result.result.error_type, None | Some(ErrorType::Refused)), "{}: {:?}", call.display(), result.result);
        if result.terminated {
            assert_eq!(call.name, "submit");
            env.reset(Seed(7), Level::L2);
        } else {
            assert_ne!(env.state_hash(), hash);
        }
    }
}

#[test]
fn each_bad_argument_is_named() {
    let cases = [
        (json!({"tool": "reboot"}), ErrorType::UnknownTool, "reboot"),
        (json!({"tool": "restart"}), ErrorType::Schema, "svc"),
        (json!({"tool": "restart", "svc": "nobody"}), ErrorType::Schema, "nobody"),
        (json!({"tool": "restart", "svc": 3}), ErrorType::Schema, "svc"),
        (json!({"tool": "scale", "svc": "gw"}), ErrorType::Schema, "n:"),
        (json!({"tool": "scale", "svc": "gw", "n": 0}), ErrorType::Schema, "n:"),
        (json!({"tool": "scale", "svc": "gw", "n": 1e300}), ErrorType::Schema, "n:"),
        (json!({"tool": "query", "svc": "gw", "of": "dreams"}), ErrorType::Schema, "dreams"),
        (json!({"tool": "query", "svc": "gw", "of": 7}), ErrorType::Schema, "of"),
        (json!({"tool": "submit"}), ErrorType::Schema, "cause"),
        (json!({"tool": "submit", "cause": "gremlins"}), ErrorType::Schema, "gremlins"),
        (json!({"tool": "submit", "cause": "leak", "also": null}), ErrorType::Schema, "also"),
    ];
    let mut env = Ops::new();
    env.reset(Seed(1), Level::L0);
    for (case, error_type, word) in cases {
        let Value::Object(mut arguments) = case.clone() else { unreachable!("a case is an object") };
        let Some(Value::String(name)) = arguments.remove("tool") else { unreachable!("a case names its tool") };
        let result = env.step(&Action::Tool(ToolCall { name, arguments }));
        assert_eq!(result.result.error_type, Some(error_type), "{case}: {}", result.result.content);
        assert!(result.result.content.contains(word), "{case}: {}", result.result.content);
        assert!(!result.terminated);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(gw|logs|leak|none|\\PC{0,12})".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let name = "(query|scale|restart|rollback|shed|wait|submit|\\PC{0,8})";
    let key = "(svc|n|of|cause|also|\\PC{0,4})";
    (name, prop::collection::vec((key, any_json()), 0..4))
        .prop_map(|(name, arguments)| ToolCall { name, arguments: arguments.into_iter().collect::<Map<_, _>>() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_calls_never_panic(seed in 0u64..1_000, calls in prop::collection::vec(any_call(), 1..12)) {
        let mut env = Ops::new();
        env.reset(Seed(seed), Level::ALL[seed as usize % 4]);
        for call in calls {
            let result = env.step(&Action::Tool(call));
            prop_assert!((0.0..=1.0).contains(&result.reward));
            prop_assert!(result.observation.values.iter().flatten().all(|v| v.is_finite()));
        }
    }
}
