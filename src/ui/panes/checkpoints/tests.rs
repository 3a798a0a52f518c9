//! The checkpoints screen from keys to pictures.

use super::*;
use crate::event::{Command, Level, SafeText, Seed};
use crate::ui::actions::Action;
use crate::ui::backstage::{BenchNews, News};
use crate::ui::bench::{Comparison, Dossier, Estimate, Evaluation, Metric, Soundness, Verdict};
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
    let of = |name: &str| subject(state.checkpoints.iter().find(|c| c.checkpoint.0 == name).unwrap());
    let asked = |effects: &[Effect]| {
        effects.iter().any(|e| *e == Effect::Ask(Ask::Bench(BenchAsk::Compare(of("deckhand-final"), of("deckhand-middle"), SEEDS))))
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
    let estimate = |value: f64| Estimate { value, low: value - 0.05, high: value + 0.05 };
    let news = [
        BenchNews::Soundness("deckhand-early".into(), Soundness::Unsound("model.safetensors differs from its manifest".into())),
        BenchNews::Dossier(
            "deckhand-final".into(),
            Ok(Dossier { bytes: 700_000, fields: vec![("step".into(), "3600".into())], ..Dossier::default() }),
        ),
        BenchNews::Dossier(
            "deckhand-middle".into(),
            Ok(Dossier { bytes: 700_000, fields: vec![("step".into(), "2400".into())], ..Dossier::default() }),
        ),
        BenchNews::Evaluation(
            "deckhand-middle".into(),
            Evaluation { level: Level::L0, wanted: 100, played: 12, figures: None, failed: None },
        ),
        BenchNews::Comparison(Comparison {
            a: "deckhand-final".into(),
            b: "deckhand-middle".into(),
            level: Level::L0,
            seeds: 100,
            metrics: vec![Metric { name: "success".into(), a: 0.99, b: 0.88, delta: estimate(-0.11), verdict: Verdict::Worse }],
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
    for part in ["SERVING", "BLOCKED", "BAD", "12/100", "WORSE !", "+1 fixed", "-30 broken", "seeds 10 11", "and 18 more", "2400"] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    for size in [(45, 22), (80, 24), (200, 50), (20, 5), (1, 1)] {
        drawn(&state, &view, &desk, size);
    }
}

#[test]
fn work_of_the_bench_is_cancelled_and_what_was_found_stays() {
    let (state, mut desk, mut view) = (state(), Desk::default(), view());
    let of = |name: &str| subject(state.checkpoints.iter().find(|c| c.checkpoint.0 == name).unwrap());
    let cancels = |effects: &[Effect]| effects.contains(&Effect::Ask(Ask::CancelBench));
    assert!(!cancels(&press(Action::Back, &mut view, &state, &desk)) && !cancels(&press(Action::Cancel, &mut view, &state, &desk)));
    let asks = [
        BenchAsk::Evaluate(of("deckhand-final"), SEEDS),
        BenchAsk::Verify(of("deckhand-early")),
        BenchAsk::Compare(of("deckhand-early"), of("deckhand-middle"), SEEDS),
    ];
    asks.iter().for_each(|ask| desk.asked(&Ask::Bench(ask.clone()), &state));
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
    let played = Evaluation { level: Level::L0, wanted: SEEDS, played: 12, figures: None, failed: None };
    desk.take(News::Bench(BenchNews::Evaluation("deckhand-final".into(), played)));
    assert!(desk.bench.is_busy());
    // Asked for while the one before is being given up, it is still to come.
    desk.asked(&Ask::Bench(asks[0].clone()), &state);
    desk.take(News::Bench(BenchNews::Cancelled(asks[0].clone())));
    assert_eq!(desk.bench.evaluations[&CheckpointId::from("deckhand-final")].wanted, SEEDS);
    let told: Vec<String> = asks.into_iter().filter_map(|ask| desk.take(News::Bench(BenchNews::Cancelled(ask)))).collect();
    assert!(told[0].contains("after 12 seeds") && told[1].contains("not verified") && told[2].contains("not compared"), "{told:?}");
    assert!(!desk.bench.is_busy());
    let screen = drawn(&state, &view, &desk, (120, 36)).join("\n");
    assert!(!screen.contains("esc cancel") && screen.contains(" 12 ") && !screen.contains("/100"), "{screen}");
    assert_eq!(desk.bench.evaluations.len(), 1, "what was not begun was not evaluated");
    // Asked for again, it goes on from there, until it is done.
    let again = BenchAsk::Evaluate(of("deckhand-final"), SEEDS);
    desk.asked(&Ask::Bench(again.clone()), &state);
    assert!(desk.bench.is_busy());
    desk.take(News::Bench(BenchNews::Done(again)));
    assert!(!desk.bench.is_busy() && desk.bench.evaluations[&CheckpointId::from("deckhand-final")].played == 12);
}

#[test]
fn with_nothing_listed_it_says_so() {
    let (mut state, view) = (state(), view());
    state.checkpoints.clear();
    assert!(drawn(&state, &view, &Desk::default(), (80, 24)).join("\n").contains("no checkpoint is listed"));
}
