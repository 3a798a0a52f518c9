//! What two episodes, or two recordings, have in common and what not.

use super::recordings::paired;
use super::*;
use crate::event::*;
use crate::journal::Recording;
use crate::source::Episode;
use crate::source::tests::{made, on_lanes, sample};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("recordings/{name}.jsonl"))
}

fn named(file: &Path, address: &str) -> Named {
    Named::new(file.to_owned(), (!address.is_empty()).then(|| address.parse().unwrap()))
}

fn never() -> bool {
    false
}

fn episodes_of(file: &Path, a: &str, b: Option<&str>) -> EpisodeDiff {
    let compared = compare(&named(file, a), b.map(|b| named(file, b)).as_ref(), &never).unwrap();
    let Found::Episodes(diff) = compared.found else { panic!() };
    *diff
}

fn recordings_of(a: &Path, b: &Path) -> (RecordingDiff, Vec<PairDiff>, Vec<String>) {
    let compared = compare(&named(a, ""), Some(&named(b, "")), &never).unwrap();
    let Found::Recordings(diff, pairs) = compared.found else { panic!() };
    (*diff, pairs, compared.broken)
}

/// A sample with a branch of its episode from a step on, in lane 1. Each of the branch's events may be changed.
fn forked(file: &str, at: u32, change: impl Fn(&mut Envelope)) -> PathBuf {
    let events = sample("failure");
    let first = |e: &&Envelope| matches!(e.event, Event::EpisodeStarted(_));
    let started = events.iter().find(first).unwrap().clone();
    let before = |e: &&Envelope| matches!(&e.event, Event::TransitionRecorded(_)) && e.step == Some(StepIndex(at - 1));
    let sums = events.iter().find(before).map(|e| if let Event::TransitionRecorded(t) = &e.event { t.clone() } else { unreachable!() });
    let branch = BranchStarted {
        parent_lane: LaneId(0),
        parent: EpisodeId(1),
        at_step: StepIndex(at),
        cause: BranchCause::Fork,
        with: Variation::default(),
        state_hash: sums.as_ref().map_or(0, |t| t.state_hash),
        reward_sum: sums.as_ref().map_or(0.0, |t| t.reward_sum),
        discounted_sum: sums.as_ref().map_or(0.0, |t| t.discounted_sum),
    };
    let mut own = vec![started.clone(), Envelope { event: branch.into(), ..started }];
    own.extend(
        events
            .iter()
            .filter(|e| e.episode.is_some() && (e.step >= Some(StepIndex(at)) || matches!(e.event, Event::EpisodeEnded(_))))
            .cloned(),
    );
    for (n, event) in own.iter_mut().enumerate() {
        (event.lane, event.t_ns) = (LaneId(1), 9_000_000_000 + n as u64);
        change(event);
        // What hangs on the clock is no difference.
        match &mut event.event {
            Event::MessageCompleted(m) => m.duration_ns += 77,
            Event::ToolCallStarted(c) => c.call_id += 1000,
            Event::ToolCallFinished(c) => (c.call_id, c.duration_ns) = (c.call_id + 1000, 1),
            Event::DecisionSettled(d) => d.duration_ns += 5,
            _ => {}
        }
    }
    let at = events.iter().rposition(|e| e.episode.is_some()).unwrap() + 1;
    let all = [&events[..at], &own, &events[at..]].concat();
    made(file, 2, all)
}

#[test]
fn a_branch_with_nothing_changed_is_the_same_as_what_it_goes_on_from() {
    for at in [1, 2, 4] {
        let file = forked(&format!("diff-same-{at}"), at, |_| {});
        let diff = episodes_of(&file, "1:1", None);
        assert_eq!((diff.a.address.to_string(), diff.b.address.to_string()), ("1".into(), "1:1".into()), "what was there first is A");
        assert!(diff.is_same(), "{at}: {:?} {:?} {:?}", diff.first, diff.given, diff.outcome);
        assert_eq!(diff.rows.len(), diff.a.decisions.len());
        assert_eq!(diff.b.decisions.len(), diff.a.decisions.len(), "the steps before the branch are its parent's");
        let lane = |d: &Decision| d.address.unwrap().lane.0;
        assert!(diff.b.decisions.iter().all(|d| lane(d) == u32::from(d.step >= StepIndex(at))));
        let (a, b) = diff.costs();
        assert!(a.tokens == b.tokens && a.think_ns < b.think_ns, "time is cost");
        std::fs::remove_file(file).unwrap();
    }
}

/// An episode and a branch of it, in which the third token of the thought at step 5 is another one.
pub(crate) fn forked_diff() -> EpisodeDiff {
    let message = |e: &mut Envelope| {
        if let (Event::MessageCompleted(m), Some(StepIndex(5))) = (&mut e.event, e.step) {
            let (from, upto) = (m.token_ends[1] as usize, m.token_ends[2] as usize);
            let text = format!("{}{}{}", &m.text[..from], "x".repeat(upto - from), &m.text[upto..]);
            m.thought = SafeText::new(&text[..m.thought.len()]);
            (m.text, m.logprobs[2]) = (SafeText::new(&text), -2.5);
        }
    };
    let file = forked(&format!("diff-token-{:?}", std::thread::current().id()), 3, message);
    let diff = episodes_of(&file, "1", Some("1:1"));
    std::fs::remove_file(file).unwrap();
    diff
}

#[test]
fn one_token_one_reward_one_reading_is_found_where_it_is() {
    let at = Some(StepIndex(5));
    let diff = forked_diff();
    let first = diff.first.clone().unwrap();
    assert_eq!(first.step, StepIndex(5));
    let Some(Difference::Token { index: 2, a: Some(a), b: Some(b) }) = first.difference else { panic!("{first:?}") };
    assert!(b.text.chars().all(|c| c == 'x') && a.text != b.text && b.logprob == Some(-2.5) && a.logprob.is_some(), "{a:?} {b:?}");
    assert_eq!(diff.rows[first.row].parts, [Part::Thought]);
    assert_eq!(diff.count(Mark::Differs), 1);

    let reward = |e: &mut Envelope| {
        if let (Event::TransitionRecorded(t), true) = (&mut e.event, e.step == at) {
            t.reward += 1e-12;
        }
    };
    let file = forked("diff-reward", 3, reward);
    let diff = episodes_of(&file, "1", Some("1:1"));
    assert!(matches!(diff.first, Some(First { step: StepIndex(5), difference: Some(Difference::Reward { .. }), .. })), "{:?}", diff.first);
    std::fs::remove_file(file).unwrap();

    let reading = |e: &mut Envelope| {
        if let (Event::ObservationReceived(o), true) = (&mut e.event, e.step == at) {
            o.observation.values[1] = None;
        }
    };
    let file = forked("diff-reading", 3, reading);
    let diff = episodes_of(&file, "1", Some("1:1"));
    let Some(Difference::Field { name, a: Some(_), b: None, .. }) = diff.first.unwrap().difference else { panic!() };
    assert_eq!(name, diff.a.started.unwrap().fields[1].name);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn another_confidence_alone_is_told_and_is_no_place_where_they_part() {
    let surer = |by: f32| {
        move |e: &mut Envelope| {
            if let (Event::MessageCompleted(m), Some(StepIndex(4))) = (&mut e.event, e.step) {
                m.logprobs[1] -= by;
            }
        }
    };
    let file = forked("diff-drift", 2, surer(0.25));
    let diff = episodes_of(&file, "1", Some("1:1"));
    assert_eq!((diff.first.clone(), diff.is_same()), (None, false));
    let drift = diff.drift.unwrap();
    assert!(matches!(drift, First { step: StepIndex(4), difference: Some(Difference::Drift { index: 1, .. }), .. }), "{drift:?}");
    std::fs::remove_file(file).unwrap();
    let file = forked("diff-near", 2, surer(1e-5));
    assert!(episodes_of(&file, "1", Some("1:1")).is_same(), "as near as two machines are");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_call_more_shifts_what_follows_and_does_not_make_all_of_it_differ() {
    let call = |name: &str| ToolCall::new(name);
    let a = story(&[call("wait"), call("query"), call("scale"), call("submit")]);
    let b = story(&[call("wait"), call("restart"), call("query"), call("scale"), call("submit")]);
    let diff = EpisodeDiff::new(a, b);
    let rows: Vec<_> = diff.rows.iter().map(|r| (r.mark().sign(), r.a, r.b)).collect();
    // The two decisions at the step where they part stand side by side: they were made in the same state.
    assert_eq!(rows[..2], [('=', Some(0), Some(0)), ('~', Some(1), Some(1))]);
    assert_eq!(rows[2..], [('+', None, Some(2)), ('=', Some(2), Some(3)), ('=', Some(3), Some(4))]);
    assert_eq!(diff.first.unwrap().step, StepIndex(2));
}

#[test]
fn of_what_is_repeated_the_first_ones_belong_together() {
    let calls = |names: &[&str]| names.iter().map(|name| ToolCall::new(*name)).collect::<Vec<_>>();
    let a = story(&calls(&["query", "wait", "submit"]));
    let b = story(&calls(&["scale", "wait", "wait", "wait", "submit"]));
    let rows: Vec<_> = EpisodeDiff::new(a, b).rows.iter().map(|r| (r.mark().sign(), r.a, r.b)).collect();
    let one = |n| ('+', None, Some(n));
    assert_eq!(rows, [('~', Some(0), Some(0)), ('=', Some(1), Some(1)), one(2), one(3), ('=', Some(2), Some(4))]);
}

/// Decisions of a made-up episode, which did that.
fn story(calls: &[ToolCall]) -> Story {
    let decision = |(n, call): (usize, &ToolCall)| Decision {
        step: StepIndex(n as u32 + 1),
        address: Some(Address::default()),
        transition: Some(transition(call.clone(), 0.0, 0)),
        ..Decision::default()
    };
    Story { decisions: calls.iter().enumerate().map(decision).collect(), ..Story::default() }
}

fn transition(call: ToolCall, reward: f64, state_hash: u64) -> TransitionRecorded {
    TransitionRecorded {
        action: RecordedAction::Tool(call),
        reward,
        terminated: false,
        truncated: false,
        value: None,
        state_hash,
        reward_sum: 0.0,
        discounted_sum: 0.0,
    }
}

fn message(words: &[&str]) -> MessageCompleted {
    let text = words.concat();
    let ends = words.iter().scan(0, |end, w| {
        *end += w.len() as u32;
        Some(*end)
    });
    MessageCompleted {
        text: SafeText::new(&text),
        thought: SafeText::new(&text),
        token_ids: vec![TokenId(1); words.len()],
        logprobs: words.iter().map(|w| -(w.len() as f32)).collect(),
        entropy: Vec::new(),
        token_ends: ends.collect(),
        trainer_logprobs: Vec::new(),
        advantages: Vec::new(),
        loss_mask: Vec::new(),
        finish_reason: FinishReason::Stop,
        prompt_tokens: 1,
        cached_tokens: 0,
        checkpoint: None,
        duration_ns: 1,
        prefill_ns: None,
    }
}

prop_compose! {
    fn any_decision()(tool in 0usize..4, n in 0u8..3, words in prop::collection::vec(0usize..4, 0..5), reward in 0u8..3, hash in 0u64..3)
        -> Decision
    {
        let call = ToolCall::new(["wait", "query", "scale", "submit"][tool]).with("n", n);
        let words: Vec<&str> = words.into_iter().map(|w| ["pay ", "is ", "slow", "er"][w]).collect();
        Decision {
            address: Some(Address::default()),
            message: Some(message(&words)),
            transition: Some(transition(call, f64::from(reward), hash)),
            ..Decision::default()
        }
    }
}

fn any_story() -> impl Strategy<Value = Story> {
    let numbered = |mut decisions: Vec<Decision>| {
        (1..).zip(&mut decisions).for_each(|(n, d)| d.step = StepIndex(n));
        Story { decisions, ..Story::default() }
    };
    prop::collection::vec(any_decision(), 0..12).prop_map(numbered)
}

/// Two that have much in common: the second is the first with some steps changed, left out or put in.
fn related() -> impl Strategy<Value = (Story, Story)> {
    let edits = prop::collection::vec((0usize..12, 0u8..3, any_decision()), 0..4);
    (any_story(), edits).prop_map(|(a, edits)| {
        let mut b = a.clone();
        for (at, what, decision) in edits {
            let at = at.min(b.decisions.len());
            match (what, at < b.decisions.len()) {
                (0, true) => drop(b.decisions.remove(at)),
                (1, true) => b.decisions[at] = decision,
                _ => b.decisions.insert(at, decision),
            }
        }
        (1..).zip(&mut b.decisions).for_each(|(n, d)| d.step = StepIndex(n));
        (a, b)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_differs_from_itself(a in any_story()) {
        let diff = EpisodeDiff::new(a.clone(), a);
        prop_assert!(diff.is_same() && diff.rows.iter().all(|row| row.mark() == Mark::Same));
    }

    #[test]
    fn each_decision_has_its_row_and_the_mirror_shows_the_same((a, b) in related()) {
        let (there, back) = (EpisodeDiff::new(a.clone(), b.clone()), EpisodeDiff::new(b.clone(), a.clone()));
        let places = |of: fn(&Row) -> Option<usize>| there.rows.iter().filter_map(of).collect::<Vec<_>>();
        prop_assert_eq!(places(|r| r.a), (0..a.decisions.len()).collect::<Vec<_>>());
        prop_assert_eq!(places(|r| r.b), (0..b.decisions.len()).collect::<Vec<_>>());
        let rows = |diff: &EpisodeDiff, flip: bool| {
            diff.rows.iter().map(|r| if flip { (r.b, r.a, r.parts.clone()) } else { (r.a, r.b, r.parts.clone()) }).collect::<Vec<_>>()
        };
        prop_assert_eq!(rows(&there, false), rows(&back, true));
        let first = |diff: &EpisodeDiff| diff.first.as_ref().map(|f| (f.row, f.step, f.difference.as_ref().map(Difference::part)));
        prop_assert_eq!(first(&there), first(&back));
        prop_assert_eq!(there.is_same(), a.decisions == b.decisions);
    }

    #[test]
    fn tokens_of_both_come_out_whole_and_mirrored(a in any_decision(), b in any_decision()) {
        let (a, b) = (a.message.unwrap(), b.message.unwrap());
        let (there, back) = (token_diff(Some(&a), Some(&b)), token_diff(Some(&b), Some(&a)));
        let text = |tokens: &[Token]| tokens.iter().map(|t| t.text.as_str()).collect::<String>();
        prop_assert_eq!(text(&there.a), a.thought.to_string());
        prop_assert_eq!(there.pairs.iter().filter_map(|p| p.1).collect::<Vec<_>>(), (0..there.b.len()).collect::<Vec<_>>());
        let are_one = |pair: &(Option<usize>, Option<usize>)| match pair {
            (Some(a), Some(b)) => there.a[*a].text == there.b[*b].text,
            (a, b) => a.is_some() != b.is_some(),
        };
        prop_assert!(there.pairs.iter().all(are_one));
        let both = |w: &WordDiff| w.pairs.iter().filter(|p| p.0.is_some() && p.1.is_some()).count();
        prop_assert_eq!(both(&there), both(&back));
        prop_assert_eq!(there.first(), back.first());
    }
}

#[test]
fn a_model_and_a_runbook_are_compared_by_words() {
    let scripted =
        MessageCompleted { token_ids: Vec::new(), token_ends: Vec::new(), logprobs: Vec::new(), ..message(&["pay ", "is ", "down"]) };
    let words = token_diff(Some(&message(&["pa", "y is", " slow"])), Some(&scripted));
    let texts = |tokens: &[Token]| tokens.iter().map(|t| t.text.clone()).collect::<Vec<_>>();
    assert_eq!(
        (texts(&words.a), texts(&words.b)),
        (vec!["pay ".into(), "is ".into(), "slow".into()], vec!["pay ".into(), "is ".into(), "down".into()])
    );
    assert_eq!(words.first(), Some(2));
    assert!(words.a.iter().all(|t| t.logprob.is_none()), "what is no token has no log-probability");
}

#[test]
fn every_lane_reads_the_same_and_what_lies_between_is_leapt_over() {
    let file = made("diff-lanes", 3, on_lanes("failure", 3));
    let mut recording = Recording::open(&file).unwrap();
    let survey = Survey::of(&mut recording, &never).unwrap();
    let of = |lane| Address { lane: LaneId(lane), episode: EpisodeId(1) };
    let stories = survey.stories(&mut recording, &[of(0), of(2)], &never).unwrap();
    assert_eq!(stories.len(), 2);
    let diff = EpisodeDiff::new(stories[&of(0)].clone(), stories[&of(2)].clone());
    assert!(diff.is_same() && diff.rows.len() > 5);
    let missing = survey.story(&mut recording, Address { lane: LaneId(3), episode: EpisodeId(1) }, &never).unwrap_err();
    assert!(missing.to_string().contains("there is no episode 3:1") && missing.to_string().contains("1, 1:1, 2:1"), "{missing}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn recordings_are_compared_by_lane_and_number_then_by_seed() {
    let begun = |lane: u32, episode: u32, seed: u64| {
        let mut book = crate::source::Book::new(Seq(1));
        let event = sample("failure").into_iter().find(|e| matches!(e.event, Event::EpisodeStarted(_))).unwrap();
        let Event::EpisodeStarted(started) = event.event else { unreachable!() };
        let started = EpisodeStarted { seed: Seed(seed), ..started };
        book.note(&Envelope { lane: LaneId(lane), episode: Some(EpisodeId(episode)), event: started.into(), ..event });
        book.episodes.remove(0)
    };
    let a: Vec<Episode> = vec![begun(0, 1, 10), begun(0, 2, 11), begun(0, 3, 12), begun(1, 1, 10)];
    let b: Vec<Episode> = vec![begun(0, 1, 10), begun(1, 1, 12), begun(0, 2, 13)];
    let (pairs, only_a, only_b) = paired(&a, &b);
    let told: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}={b}")).collect();
    assert_eq!(told, ["1=1", "3=1:1"]);
    let alone = |all: &[Unpaired]| all.iter().map(|u| u.address.to_string()).collect::<Vec<_>>();
    assert_eq!((alone(&only_a), alone(&only_b)), (vec!["2".to_owned(), "1:1".into()], vec!["2".to_owned()]));
    let (back, _, _) = paired(&b, &a);
    let mut mirrored: Vec<String> = back.iter().map(|(b, a)| format!("{a}={b}")).collect();
    mirrored.sort();
    assert_eq!(mirrored, told);
}

#[test]
fn two_recordings_as_wholes() {
    let (diff, pairs, broken) = recordings_of(&golden("shift"), &golden("shift"));
    assert!(diff.is_same() && broken.is_empty() && !pairs.is_empty() && pairs.iter().all(|p| p.is_same), "{diff:?}");
    assert_eq!(diff.costs.0, diff.costs.1);
    let (diff, pairs, _) = recordings_of(&golden("success"), &golden("failure"));
    assert!(!diff.is_same() && pairs.is_empty());
    assert_eq!((diff.only_a.len(), diff.only_b.len()), (1, 1));
    assert!(diff.given.iter().any(|g| g.what == "checkpoint") && diff.given.iter().any(|g| g.what == "seed"), "{:?}", diff.given);
    assert!(diff.given.iter().all(|g| g.what != "build"));
}

#[test]
fn a_recording_that_is_torn_is_compared_as_far_as_it_goes() {
    let text = std::fs::read_to_string(golden("failure")).unwrap();
    let file = std::env::temp_dir().join(format!("pilothouse-diff-torn-{}.jsonl", std::process::id()));
    // In the middle of a line of step 5.
    let at = text.find(r#""ep":1,"step":5"#).unwrap();
    let line = text[at..].find("\"k\":\"TransitionRecorded\"").unwrap();
    std::fs::write(&file, &text[..at + line + 40]).unwrap();
    let (diff, pairs, broken) = recordings_of(&golden("failure"), &file);
    assert!(!diff.is_same() && pairs.len() == 1, "{diff:?}");
    assert!(broken.iter().any(|line| line.contains("torn")) && broken.iter().any(|line| line.contains("unfinished")), "{broken:?}");
    let first = pairs[0].first.clone().unwrap();
    assert_eq!(first.step, StepIndex(5), "what was cut off is missing in B: {first:?}");
    assert_eq!(pairs[0].verdicts.1, None);
    let only_header: String = text.lines().take(1).map(|l| format!("{l}\n")).collect();
    std::fs::write(&file, only_header).unwrap();
    let (diff, pairs, broken) = recordings_of(&file, &file);
    assert!(diff.is_same() && pairs.is_empty() && !broken.is_empty(), "without any episode");
    let none = compare(&named(&file, "1"), Some(&named(&golden("failure"), "1")), &never).unwrap_err();
    assert!(none.to_string().contains("it has no episodes"), "{none}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_branch_that_names_itself_or_what_is_not_there_ends_the_search() {
    for (parent_lane, parent) in [(1, 1), (7, 7)] {
        let file = forked(&format!("diff-loop-{parent_lane}"), 3, |e| {
            if let Event::BranchStarted(b) = &mut e.event {
                (b.parent_lane, b.parent) = (LaneId(parent_lane), EpisodeId(parent));
            }
        });
        let compared = compare(&named(&file, "1:1"), Some(&named(&file, "1")), &never).unwrap();
        assert!(compared.broken.iter().any(|line| line.contains("goes on from")), "{:?}", compared.broken);
        let Found::Episodes(diff) = compared.found else { panic!() };
        assert_eq!(diff.a.decisions[0].step, StepIndex(3));
        let alone = compare(&named(&file, "1:1"), None, &never).unwrap_err();
        assert!(matches!(alone, DiffError::NoBranch { .. }), "{alone}");
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn work_that_is_given_up_ends() {
    let gave_up = compare(&named(&golden("shift"), ""), Some(&named(&golden("shift"), "")), &|| true);
    assert!(matches!(gave_up, Err(DiffError::Cancelled)));
}

#[test]
fn every_record_is_one_line_and_keeps_what_is_no_number() {
    let mut a = story(&[ToolCall::new("wait")]);
    a.decisions[0].message = Some(message(&["pay\n", "is"]));
    let mut b = a.clone();
    b.decisions[0].message = Some(MessageCompleted { logprobs: vec![f32::NAN, f32::NEG_INFINITY], ..message(&["pay\n", "was"]) });
    b.decisions[0].transition.as_mut().unwrap().reward = f64::INFINITY;
    let diff = EpisodeDiff::new(a, b);
    let record = records::step(&diff, 0).to_string();
    assert!(!record.contains('\n') && record.contains(r#""b":"+Inf""#) && record.contains(r#""logprob_b":"-Inf""#), "{record}");
    assert_eq!(records::summary(&diff)["same"], false);
}
