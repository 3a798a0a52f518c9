//! A recording verifies, and whatever is altered in it is found and named.

use super::fakes::Talker;
use super::*;
use crate::journal::{FORMAT, Header, HeaderCheckpoint, HeaderEnv, VERSION};

pub fn header(version: &str) -> Header {
    Header {
        fmt: FORMAT.into(),
        v: VERSION,
        id: "01TEST".into(),
        started: String::new(),
        build: String::new(),
        env: HeaderEnv { name: "adder".into(), version: version.into(), params_sha256: "00".repeat(32) },
        level: Level::L0,
        seed: Seed(7),
        config_sha256: String::new(),
        checkpoint: Some(HeaderCheckpoint { id: "a".into(), sha256: "a".repeat(64) }),
        lanes: 2,
        redaction: String::new(),
        cpu: Vec::new(),
    }
}

fn recorded() -> Vec<Arc<Envelope>> {
    play(EngineSettings { lanes: 2, episodes_max: Some(12), ..model() })
}

const RUN: Decoding = Decoding { temperature: 0.7, top_p: 1.0, tokens_max: 64, window_steps: 6, keep_steps: 2, prompt_tokens_max: 928 };

/// Verifies `events` with the one event of `kind` number `nth` altered; returns what was found.
fn altered(events: &[Arc<Envelope>], nth: usize, alter: impl Fn(&mut Event) -> bool) -> Difference {
    let mut events: Vec<Envelope> = events.iter().map(|e| (**e).clone()).collect();
    let mut left = nth;
    let changed = events.iter_mut().find_map(|e| {
        let mut event = e.event.clone();
        if !alter(&mut event) {
            return None;
        }
        left -= 1;
        (left == 0).then(|| {
            e.event = event;
            e.address()
        })
    });
    let found = verify(&header("1"), events.into_iter().map(Arc::new), &Adder::new()).unwrap().difference.expect("it was not found");
    assert_eq!(Some(&found.address), changed.as_ref(), "{found}");
    found
}

#[test]
fn a_run_verifies() {
    let events = recorded();
    let report = verify(&header("1"), events.clone(), &Adder::new()).unwrap();
    assert_eq!(report.difference, None);
    assert_eq!(report.episodes, 12);
    let steps = events.iter().filter(|e| matches!(e.event, Event::TransitionRecorded(_))).count();
    assert_eq!(report.steps as usize, steps);
}

#[test]
fn runs_that_were_cut_reseeded_and_swapped_verify() {
    let mut rig = Rig::new(EngineSettings { lanes: 3, steps_max: Some(4), ..model() });
    rig.until(|e| e.step == Some(StepIndex(2)));
    rig.ask(Command::Reseed { seed: Seed(3) });
    rig.ask(Command::Swap { checkpoint: "b".into() });
    rig.until(|e| e.episode == Some(EpisodeId(4)));
    rig.ask(Command::Shutdown);
    let report = verify(&header("1"), rig.events, &Adder::new()).unwrap();
    assert_eq!(report.difference, None);
    assert!(report.steps > 10);
}

#[test]
fn what_was_altered_is_named() {
    let events = recorded();
    let transition = |change: fn(&mut TransitionRecorded)| {
        move |e: &mut Event| match e {
            Event::TransitionRecorded(t) => {
                change(t);
                true
            }
            _ => false,
        }
    };
    let field = |nth, change| altered(&events, nth, transition(change)).field;
    assert_eq!(field(9, |t| t.reward = f64::from_bits(t.reward.to_bits() ^ 1)), "reward");
    assert_eq!(field(3, |t| t.terminated ^= true), "terminated");
    assert_eq!(field(2, |t| t.truncated ^= true), "truncated");
    assert_eq!(field(20, |t| t.state_hash ^= 1), "state_hash");
    assert_eq!(field(5, |t| t.reward_sum += 1.0), "reward_sum");
    assert_eq!(field(5, |t| t.discounted_sum += 1.0), "discounted_sum");
}

#[test]
fn an_altered_observation_call_result_or_end_is_named() {
    let events = recorded();
    macro_rules! alter {
        ($nth:expr, $kind:ident, $e:ident => $change:expr) => {
            altered(&events, $nth, |event| match event {
                Event::$kind($e) => {
                    $change;
                    true
                }
                _ => false,
            })
            .field
        };
    }
    assert_eq!(alter!(4, ObservationReceived, e => e.observation.values[0] = Some(-1.0)), "observation.values");
    assert_eq!(alter!(4, ObservationReceived, e => e.observation.text = SafeText::new("x")), "observation.text");
    assert_eq!(alter!(7, ObservationReceived, e => e.observation.compact = SafeText::new("x")), "observation.compact");
    assert_eq!(alter!(3, EpisodeStarted, e => e.goal = SafeText::new("x")), "goal");
    assert_eq!(alter!(3, EpisodeStarted, e => e.state_hash ^= 1), "state_hash");
    assert_eq!(alter!(2, EpisodeEnded, e => e.hybrid += 1e-12), "hybrid");
    assert_eq!(alter!(2, EpisodeEnded, e => e.final_reward = 0.25), "final_reward");
    assert_eq!(alter!(2, EpisodeEnded, e => e.episode_return += 1.0), "return");
    assert_eq!(alter!(2, EpisodeEnded, e => e.success ^= true), "success");
    assert_eq!(alter!(2, EpisodeEnded, e => e.length += 1), "length");
    assert_eq!(alter!(2, EpisodeEnded, e => e.tool_errors += 1), "tool_errors");
    assert_eq!(alter!(2, EpisodeEnded, e => e.truth = SafeText::new("x")), "truth");
    assert_eq!(alter!(2, EpisodeEnded, e => e.ending = EpisodeEnding::Aborted), "ending");
    assert_eq!(alter!(2, EpisodeEnded, e => e.thought_fidelity = Some(0.123)), "thought_fidelity");
    assert_eq!(alter!(9, MessageCompleted, e => e.thought = SafeText::new("x")), "thought");
}

#[test]
fn an_altered_refusal_is_named() {
    let events = recorded();
    let refused = |e: &Event| matches!(e, Event::ToolCallFinished(f) if f.error_type.is_some());
    assert!(events.iter().any(|e| refused(&e.event)), "the fake policy makes mistakes");
    let found = altered(&events, 2, |event| match event {
        Event::ToolCallFinished(f) if f.error_type.is_some() => {
            f.error_type = None;
            true
        }
        _ => false,
    });
    assert!(found.field.starts_with("tool result"), "{found}");
}

#[test]
fn another_environment_is_no_difference() {
    let error = verify(&header("2"), recorded(), &Adder::new()).unwrap_err();
    assert!(matches!(error, VerifyError::Environment { .. }));
    assert!(error.to_string().contains("adder 2") && error.to_string().contains("adder 1"), "{error}");
    let ours = Adder::new().with_version("2");
    assert!(verify(&header("2"), recorded(), &ours).is_ok());
}

#[test]
fn an_event_without_an_episode_is_no_difference() {
    let events = recorded().into_iter().filter(|e| !matches!(e.event, Event::EpisodeStarted(_)));
    assert!(matches!(verify(&header("1"), events, &Adder::new()), Err(VerifyError::Recording { .. })));
}

#[test]
fn the_policy_says_the_same_again() {
    let events = recorded();
    let again =
        |name: &str, run| verify_policy(&header("1"), events.clone(), &Adder::new(), &mut Talker::new(name, Shared::default()), run);
    let report = again("a", RUN).unwrap();
    assert_eq!(report.difference, None);
    assert!(report.messages > 30);
    let other = again("b", RUN).unwrap().difference.unwrap();
    assert!(other.field.starts_with("token_ids[") && other.address.ends_with("1/1"), "{other}");
}

#[test]
fn a_log_probability_may_differ_by_the_tolerance_and_no_more() {
    let with = |by: f32| {
        let mut events = recorded();
        let at = events.iter().position(|e| matches!(e.event, Event::MessageCompleted(_))).unwrap();
        let mut e = (*events[at]).clone();
        if let Event::MessageCompleted(m) = &mut e.event {
            m.logprobs[0] += by;
        }
        events[at] = Arc::new(e);
        verify_policy(&header("1"), events, &Adder::new(), &mut Talker::new("a", Shared::default()), RUN).unwrap().difference
    };
    assert_eq!(with(1e-5), None);
    assert_eq!(with(1e-3).unwrap().field, "logprobs[0]");
    assert_eq!(with(f32::NAN).unwrap().field, "logprobs[0]");
}
