//! The checkpoints screen from keys to pictures.

use super::*;
use crate::event::{Command, SafeText, Seed};
use crate::ui::actions::Action;
use crate::ui::backstage::{BenchNews, News};
use crate::ui::bench::{Comparison, Dossier, Evaluation, Figures, Metric};
use crate::ui::desk::Desk;
use crate::ui::panes::testing::{drawn, typical};
use crate::ui::update::act as act_anywhere;
use crate::ui::view::ScreenId;
use crate::ui::widgets::Glyphs;
use ratatui::layout::Rect;

fn state() -> DashState {
    let mut state = typical();
    let listed = |(n, name): (u64, &str)| CheckpointListed {
        checkpoint: name.into(),
        sha256: format!("{n}b1f{}", "0".repeat(60)),
        training_step: n * 1200,
        note: SafeText::new("behaviour cloning"),
    };
    state.checkpoints = [(1, "deckhand-early"), (2, "deckhand-middle"), (3, "deckhand-final")].map(listed).to_vec();
    state
}

fn view() -> View {
    let mut view = View::default();
    view.go(ScreenId::Checkpoints);
    view
}

fn press(action: Action, view: &mut View, state: &DashState, desk: &Desk) -> Vec<Effect> {
    let area = Rect::new(0, 1, 120, 34);
    let facts = Facts { state, desk, playback: None, can_command: true, area, glyphs: Glyphs::default() };
    act_anywhere(action, "", view, &facts)
}

#[test]
fn two_are_marked_and_compared_and_the_serving_one_is_a_by_itself() {
    let (state, desk, mut view) = (state(), Desk::default(), view());
    press(Action::Down, &mut view, &state, &desk);
    assert_eq!(view.shelf.chosen, Some("deckhand-middle".into()), "what serves is the newest, and the cursor began there");
    let of = |name: &str| subject(&name.into(), &state).unwrap();
    let asked = |effects: &[Effect]| {
        effects.iter().any(|e| {
            *e == Effect::Ask(Ask::Bench(BenchAsk::Compare(of("deckhand-final"), of("deckhand-middle"), Setting::of(&state), SEEDS)))
        })
    };
    assert!(asked(&press(Action::Compare, &mut view, &state, &desk)));
    assert_eq!(view.focus, PaneId::Compare);
    view.focus = PaneId::Checkpoints;
    view.shelf.marked.clear();
    press(Action::MarkForCompare, &mut view, &state, &desk);
    press(Action::Down, &mut view, &state, &desk);
    press(Action::MarkForCompare, &mut view, &state, &desk);
    assert_eq!(view.shelf.marked, ["deckhand-middle".into(), "deckhand-early".into()]);
    press(Action::MarkForCompare, &mut view, &state, &desk);
    assert_eq!(view.shelf.marked, ["deckhand-middle".into()]);
}

#[test]
fn promoting_asks_for_the_name_first() {
    let (state, desk, mut view) = (state(), Desk::default(), view());
    press(Action::Down, &mut view, &state, &desk);
    let effects = press(Action::Promote, &mut view, &state, &desk);
    let [Effect::Confirm(confirm)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(confirm.command, Command::Swap { checkpoint: "deckhand-middle".into() });
}

fn found(state: &DashState) -> Desk {
    let mut desk = Desk::default();
    let of = |name: &str| subject(&name.into(), state).unwrap();
    let estimate = |value: f64| Estimate { value, low: value - 0.05, high: value + 0.05 };
    let news = [
        BenchNews::Soundness(of("deckhand-early"), Soundness::Unsound("model.safetensors differs from its manifest".into())),
        BenchNews::Dossier(
            of("deckhand-final"),
            Ok(Dossier { bytes: 700_000, fields: vec![("step".into(), "3600".into())], ..Dossier::default() }),
        ),
        BenchNews::Dossier(
            of("deckhand-middle"),
            Ok(Dossier { bytes: 700_000, fields: vec![("step".into(), "2400".into())], ..Dossier::default() }),
        ),
        BenchNews::Evaluation(
            of("deckhand-middle"),
            Setting::of(state),
            Evaluation { wanted: 100, played: 12, figures: None, failed: None },
        ),
        BenchNews::Comparison(Comparison {
            a: of("deckhand-final"),
            b: of("deckhand-middle"),
            setting: Setting::of(state),
            seeds: 100,
            metrics: vec![Metric { name: "success".into(), a: 0.99, b: 0.88, pairs: 97, delta: estimate(-0.11), verdict: Verdict::Worse }],
            fixed: vec![Seed(3)],
            broken: (10..40).map(Seed).collect(),
        }),
    ];
    for news in news {
        desk.take(News::Bench(news));
    }
    assert!(!state.checkpoints.is_empty());
    desk
}

#[test]
fn the_screen_says_what_was_found_with_words_and_not_by_colour() {
    let (state, mut view) = (state(), view());
    let desk = found(&state);
    view.shelf.marked = vec!["deckhand-final".into(), "deckhand-middle".into()];
    let screen = drawn(&state, &view, &desk, (120, 36)).join("\n");
    for part in ["SERVING", "BLOCKED", "BAD", "12/100", "WORSE !", "+1 fixed", "-30 broken", "seeds 10 11", "and 18 more", "2400", " 97"] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    for size in [(45, 22), (80, 24), (200, 50), (20, 5), (1, 1)] {
        drawn(&state, &view, &desk, size);
    }
}

#[test]
fn the_swap_dialog_says_what_speaks_against_it_and_a_refusal_says_why() {
    let (mut state, mut view) = (state(), view());
    let mut desk = found(&state);
    let what = |view: &mut View, state: &DashState, desk: &Desk| match press(Action::Promote, view, state, desk).remove(0) {
        Effect::Confirm(confirm) => confirm.what,
        Effect::Refuse(why) => format!("refused: {why}"),
        other => panic!("{other:?}"),
    };
    view.shelf.chosen = Some("deckhand-middle".into());
    let told = what(&mut view, &state, &desk);
    for part in ["sha256 2b1f..00: NOT verified", "NOT evaluated", "against deckhand-final on 100 seeds: WORSE ! success"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let middle = subject(&"deckhand-middle".into(), &state).unwrap();
    let success = Estimate { value: 0.88, low: 0.8, high: 0.93 };
    let figures = Some(Figures { success, episode_return: success, length: success, tool_errors: success });
    let evaluation = Evaluation { wanted: 100, played: 100, figures, failed: None };
    desk.take(News::Bench(BenchNews::Evaluation(middle.clone(), Setting::of(&state), evaluation)));
    desk.take(News::Bench(BenchNews::Soundness(middle.clone(), Soundness::Sound)));
    let told = what(&mut view, &state, &desk);
    assert!(told.contains("2b1f..00: verified") && told.contains("success 88.0% [80.0%,93.0%] on 100 held-out seeds"), "{told}");
    // Where the other one serves, better is what it would be worse by.
    state.serving = Some("deckhand-middle".into());
    view.shelf.chosen = Some("deckhand-final".into());
    assert!(what(&mut view, &state, &desk).contains("nothing is clearly worse"));
    view.shelf.chosen = Some("deckhand-middle".into());
    assert!(what(&mut view, &state, &desk).starts_with("refused: ") && what(&mut view, &state, &desk).contains("serves already"));
    view.shelf.chosen = Some("deckhand-early".into());
    assert!(what(&mut view, &state, &desk).contains("BAD"));
    // What was found of a namesake with other files is not this one's.
    state.checkpoints.iter_mut().for_each(|c| c.sha256 = "f".repeat(64));
    assert!(what(&mut view, &state, &desk).contains("NOT verified"));
    let screen = drawn(&state, &view, &desk, (120, 36)).join("\n");
    assert!(!screen.contains("BLOCKED") && !screen.contains("WORSE"), "{screen}");
}

#[test]
fn list_and_comparison_have_records_of_what_was_found() {
    let (state, mut view) = (state(), view());
    let desk = found(&state);
    view.shelf.marked = vec!["deckhand-final".into(), "deckhand-middle".into()];
    let scene = Scene { state: &state, desk: &desk, view: &view, playback: None };
    let list = records(scene).unwrap();
    assert_eq!((&list[2]["checkpoint"], &list[1]["seeds"]), (&json!("deckhand-early"), &json!(12)));
    assert_eq!(list[2]["check"], "bad: model.safetensors differs from its manifest");
    let compared = compare::records(scene);
    assert_eq!((&compared[0]["metric"], &compared[0]["verdict"], &compared[0]["pairs"]), (&json!("success"), &json!("worse"), &json!(97)));
}

#[test]
fn a_return_with_its_interval_is_not_cut() {
    let (state, view) = (state(), view());
    let mut desk = Desk::default();
    let value = Estimate { value: 34.71, low: -22.78, high: 147.05 };
    let success = Estimate { value: 1.0, low: 0.963, high: 1.0 };
    let figures = Some(Figures { success, episode_return: value, length: value, tool_errors: value });
    let evaluation = Evaluation { wanted: 100, played: 100, figures, failed: None };
    let of = subject(&"deckhand-middle".into(), &state).unwrap();
    desk.take(News::Bench(BenchNews::Evaluation(of, Setting::of(&state), evaluation)));
    let screen = drawn(&state, &view, &desk, (120, 36)).join("\n");
    assert!(screen.contains("100.0% [96.3%,100.0%] 34.71 [-22.78,147.05]"), "{screen}");
}

#[test]
fn work_of_the_bench_is_cancelled_and_what_was_found_stays() {
    let (state, mut desk, mut view) = (state(), Desk::default(), view());
    let of = |name: &str| subject(&name.into(), &state).unwrap();
    let cancels = |effects: &[Effect]| effects.contains(&Effect::Ask(Ask::CancelBench));
    assert!(!cancels(&press(Action::Back, &mut view, &state, &desk)) && !cancels(&press(Action::Cancel, &mut view, &state, &desk)));
    let asks = [
        BenchAsk::Evaluate(of("deckhand-final"), Setting::of(&state), SEEDS),
        BenchAsk::Verify(of("deckhand-early")),
        BenchAsk::Compare(of("deckhand-early"), of("deckhand-middle"), Setting::of(&state), SEEDS),
    ];
    asks.iter().for_each(|ask| desk.asked(&Ask::Bench(ask.clone())));
    assert!(drawn(&state, &view, &desk, (120, 36)).join("\n").contains("esc cancel"));
    // What is open is closed first.
    view.popup = Some(PaneId::Compare);
    assert!(!cancels(&press(Action::Back, &mut view, &state, &desk)));
    view.search = "x".into();
    assert!(!cancels(&press(Action::Back, &mut view, &state, &desk)));
    assert!(cancels(&press(Action::Back, &mut view, &state, &desk)));
    let mut elsewhere = View::default();
    assert!(
        !cancels(&press(Action::Back, &mut elsewhere, &state, &desk)) && cancels(&press(Action::Cancel, &mut elsewhere, &state, &desk))
    );
    let played = Evaluation { wanted: SEEDS, played: 12, figures: None, failed: None };
    desk.take(News::Bench(BenchNews::Evaluation(of("deckhand-final"), Setting::of(&state), played)));
    assert!(desk.bench.is_busy());
    // Asked for while the one before is being given up, it is still to come.
    desk.asked(&Ask::Bench(asks[0].clone()));
    desk.take(News::Bench(BenchNews::Cancelled(asks[0].clone())));
    assert_eq!(desk.bench.evaluations[&(of("deckhand-final"), Setting::of(&state))].wanted, SEEDS);
    let told: Vec<String> = asks.into_iter().filter_map(|ask| desk.take(News::Bench(BenchNews::Cancelled(ask)))).collect();
    assert!(told[0].contains("after 12 seeds") && told[1].contains("not verified") && told[2].contains("not compared"), "{told:?}");
    assert!(!desk.bench.is_busy());
    let screen = drawn(&state, &view, &desk, (120, 36)).join("\n");
    assert!(!screen.contains("esc cancel") && screen.contains(" 12 ") && !screen.contains("/100"), "{screen}");
    assert_eq!(desk.bench.evaluations.len(), 1, "what was not begun was not evaluated");
    // Asked for again, it goes on from there, until it is done.
    let again = BenchAsk::Evaluate(of("deckhand-final"), Setting::of(&state), SEEDS);
    desk.asked(&Ask::Bench(again.clone()));
    assert!(desk.bench.is_busy());
    desk.take(News::Bench(BenchNews::Done(again)));
    assert!(!desk.bench.is_busy() && desk.bench.evaluations[&(of("deckhand-final"), Setting::of(&state))].played == 12);
}

#[test]
fn with_nothing_listed_it_says_so() {
    let (mut state, view) = (state(), view());
    state.checkpoints.clear();
    assert!(drawn(&state, &view, &Desk::default(), (80, 24)).join("\n").contains("no checkpoint is listed"));
}
