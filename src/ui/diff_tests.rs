//! The diff screen by its keys: episodes that are marked, two recordings, the way into the replay and back.

use super::replay_screen::{file, keys};
use super::*;
use crate::event::{EpisodeId, StepIndex};
use crate::source::diff::Found;
use crate::source::diff::tests::forked_diff;
use crate::ui::diff::{Compared, DiffFile};
use crate::ui::view::{PaneId, ScreenId};
use std::sync::Arc;

/// The replay screen at a recording that is known by its file.
fn opened(name: &str, size: (u16, u16)) -> App {
    let mut app = replay_screen::opened(name, size);
    app.options.recording = Some(file(name).display().to_string());
    keys(&mut app, "");
    app
}

/// An episode and its branch, in which one token is another one.
pub fn compared() -> Arc<Compared> {
    let name = DiffFile { path: "forks.jsonl".into(), asked: None };
    Arc::new(Compared { files: [name.clone(), name], found: Found::Episodes(Box::new(forked_diff())), broken: Vec::new() })
}

fn at_diff(size: (u16, u16)) -> App {
    let mut app = opened("failure", size);
    app.desk.diff.compared = Some(compared());
    app.view.go(ScreenId::Diff);
    app
}

#[test]
fn two_marked_episodes_are_compared_and_enter_goes_to_the_step_of_the_chosen_side() {
    let mut app = opened("shift", (120, 36));
    keys(&mut app, "Eggxjx");
    assert!(app.notice.contains("d compares them"), "{}", app.notice);
    let text = shown(&app);
    assert!(text.lines().any(|l| l.contains(" A") && l.contains(" 1 ")) && text.lines().any(|l| l.contains(">B")), "{text}");
    keys(&mut app, "d");
    assert_eq!(app.view.screen, ScreenId::Diff, "{}", app.notice);
    let text = shown(&app);
    for part in ["Side by side", "This step", "Summary", ">A 1", "B 2", "they part at step 1", "state hash"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let Found::Episodes(diff) = &app.desk.diff.compared.as_ref().unwrap().found else { panic!() };
    let second = diff.decisions(1);
    let (step_a, step_b) = (second.0.unwrap().step, second.1.unwrap().step);
    keys(&mut app, "j\n");
    assert_eq!((app.view.screen, app.state.lane(app.view.lane).unwrap().episode.step), (ScreenId::Replay, step_a));
    assert_eq!(app.state.lane(app.view.lane).unwrap().episode.episode, EpisodeId(1));
    keys(&mut app, "gd");
    assert_eq!(app.view.screen, ScreenId::Diff);
    app.do_action(Action::SideB);
    keys(&mut app, "\n");
    let lane = app.state.lane(app.view.lane).unwrap();
    assert_eq!((app.view.screen, lane.episode.episode, lane.episode.step), (ScreenId::Replay, EpisodeId(2), step_b));
}

#[test]
fn a_line_names_episodes_or_a_file_and_a_mistake_stays_to_be_mended() {
    let mut app = opened("shift", (120, 36));
    for (line, told) in [
        ("diff", "is no branch"),
        ("diff 1 99", "there is no episode 99"),
        ("diff 1 1", "nothing differs from itself"),
        ("diff 1 x:y", "x:y"),
        ("diff 1 no-such-file.jsonl", "can't be compared with an episode"),
    ] {
        keys(&mut app, &format!(":{line}\n"));
        let told_now = format!("{}{}", app.notice, shown(&app));
        assert!(told_now.contains(told), "{line}: {told_now}");
        type_keys(&mut app, "\u{1b}");
        app.open = Open::Nothing;
    }
    keys(&mut app, ":diff 2 3\n");
    assert_eq!(app.view.screen, ScreenId::Diff);
    assert!(shown(&app).contains(">A 2"), "{}", shown(&app));
}

#[test]
fn two_recordings_are_a_list_of_episodes_and_enter_compares_a_pair() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, &format!(":diff {}\n", file("success").display()));
    let text = shown(&app);
    for part in ["has no partner", "-1", "+1", "checkpoint: deckhand-middle"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    keys(&mut app, "\n");
    assert!(app.notice.contains("no partner"), "{}", app.notice);
    // A copy has the same episodes.
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy.jsonl");
    std::fs::copy(file("failure"), &copy).unwrap();
    keys(&mut app, &format!(":diff {}\n", copy.display()));
    assert!(app.notice.contains("nothing differs"), "{}", app.notice);
    keys(&mut app, "\n");
    assert!(shown(&app).contains("steps 1 to 7: the same"), "{}", shown(&app));
}

#[test]
fn differences_are_gone_through_found_folded_copied_and_written() {
    let mut app = at_diff((120, 36));
    let text = shown(&app);
    for part in ["steps 1 to 4: the same", "they part at step 5", "[-", "{+", "T "] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    keys(&mut app, "za");
    assert!(!shown(&app).contains("steps 1 to 4"), "{}", shown(&app));
    keys(&mut app, "gg");
    let item = |app: &App| app.view.diff.item;
    assert_eq!(item(&app), Some(0));
    keys(&mut app, "n");
    assert_eq!(item(&app), Some(4));
    keys(&mut app, "n");
    assert!(app.notice.contains("no later difference"), "{}", app.notice);
    keys(&mut app, "gg/submit\n");
    assert!(item(&app) > Some(4), "{:?} {}", item(&app), app.notice);
    keys(&mut app, "y");
    assert!(app.notice.contains("copied"), "{}", app.notice);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("steps.json");
    keys(&mut app, &format!(":export json {}\n", out.display()));
    let written = std::fs::read_to_string(&out).unwrap();
    let records: Vec<serde_json::Value> = written.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((records.len(), records[4]["mark"].as_str()), (7, Some("~")));
}

#[test]
fn every_size_shows_the_step_where_they_part_also_without_unicode() {
    for size in [(45, 22), (80, 24), (120, 36), (200, 50), (20, 5), (7, 3), (1, 1)] {
        for focus in ScreenId::Diff.panes() {
            let mut app = at_diff(size);
            app.look.caps.ascii = true;
            app.view.focus = *focus;
            let text = shown(&app);
            assert!(text.is_ascii(), "{size:?} {focus:?}:\n{text}");
            if size.0 >= 45 && *focus == PaneId::Steps {
                assert!(text.contains("~5") || text.contains("~ 5"), "{size:?}:\n{text}");
            }
        }
    }
}

#[test]
fn what_was_given_up_comes_to_nothing() {
    let mut app = opened("failure", (120, 36));
    app.desk.diff.compared = None;
    let (a, b) = (crate::ui::diff::DiffSide { file: Some(file("failure")), address: "1".parse().ok() }, None);
    let ask = crate::ui::diff::DiffAsk { a, b };
    app.desk.diff.asked(&ask);
    app.view.go(ScreenId::Diff);
    assert!(shown(&app).contains("comparing"));
    app.do_action(Action::Back);
    assert!(!app.desk.diff.is_asked());
    assert_eq!(app.desk.diff.take(ask, Some(Ok(compared()))), None);
    assert!(app.desk.diff.compared.is_none());
}

#[test]
fn a_step_of_a_recording_that_is_not_open_is_gone_to_when_it_is() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, &format!(":diff {}#1\n", file("success").display()));
    app.do_action(Action::SideB);
    let Found::Episodes(diff) = &app.desk.diff.compared.as_ref().unwrap().found else { panic!() };
    let step = diff.decisions(2).1.unwrap().step;
    keys(&mut app, "ggjj\n");
    assert_eq!(app.playback.as_ref().unwrap().name, file("success").display().to_string(), "{}", app.notice);
    assert_eq!((app.view.screen, app.state.lane(app.view.lane).unwrap().episode.step), (ScreenId::Replay, step));
    assert!(step > StepIndex(0));
}
