//! Every screen, with every pane of it in focus, at many sizes; and what the alerts, memory and log screens say.

use super::arrange;
use super::testing::{do_keys, drawn, hostile, typical};
use crate::event::{AlertState, LogLevel, Seq};
use crate::state::DashState;
use crate::ui::desk::Desk;
use crate::ui::view::{PaneId, ScreenId, Share, View};
use ratatui::layout::Rect;

/// Views of every screen: each pane in focus, and each pane that can stand above the others.
fn views() -> Vec<View> {
    let mut views = Vec::new();
    for screen in ScreenId::ALL {
        for focus in screen.panes() {
            for share in [Share::Normal, Share::Half, Share::Full] {
                views.push(View { screen, focus: *focus, share, ..View::default() });
            }
        }
        for popup in [PaneId::Request, PaneId::Episodes, PaneId::Inspector] {
            views.push(View { screen, focus: screen.panes()[0], popup: Some(popup), ..View::default() });
        }
    }
    views
}

#[test]
fn every_screen_shows_something_at_every_size_and_no_control_reaches_a_cell() {
    let sizes = [(1, 1), (2, 3), (7, 2), (20, 5), (36, 14), (45, 22), (60, 16), (80, 24), (100, 28), (120, 36), (200, 50), (500, 200)];
    for (n, view) in views().into_iter().enumerate() {
        for (m, state) in [DashState::default(), typical(), hostile()].iter().enumerate() {
            // All sizes in turn: every view meets four of them with each state.
            for size in sizes.iter().skip((n + m) % 3).step_by(3) {
                let rows = drawn(state, &view, &Desk::default(), *size);
                assert!(rows.iter().any(|r| !r.trim().is_empty()), "{size:?} {view:?}");
                assert!(!rows.concat().contains(char::is_control), "{size:?} {view:?}");
            }
        }
    }
}

#[test]
fn panes_fill_the_screen_and_do_not_overlap() {
    for view in views() {
        for (width, height) in (1..=250).step_by(7).flat_map(|w| (1..=80).step_by(3).map(move |h| (w, h))) {
            let l = arrange(width, height, &view);
            let single = [l.summary, l.alerts, l.log, l.tabs];
            let all: Vec<Rect> = single.into_iter().flatten().chain(l.panes.iter().chain(&l.strips).map(|p| p.1)).collect();
            let cells: u32 = all.iter().map(|r| r.area()).sum();
            assert_eq!(cells, u32::from(width) * u32::from(height), "{width}x{height} {view:?}: {l:?}");
            for (n, a) in all.iter().enumerate() {
                assert!(a.right() <= width && a.bottom() <= height);
                assert!(all[n + 1..].iter().all(|b| !a.intersects(*b)), "{width}x{height}: {l:?}");
            }
            assert!(l.panes.iter().any(|(id, _)| *id == view.focus), "what has the focus is shown: {width}x{height} {view:?}");
            assert!(l.popup.is_none_or(|(_, p)| p.right() <= width && p.bottom() <= height && p.area() > 0));
        }
    }
}

#[test]
fn screens_keep_their_focus() {
    let mut view = View::default();
    let state = typical();
    do_keys(&["3", "g ?", "g a", "2", "g l"], &mut view, &state);
    assert_eq!((view.screen, view.focus), (ScreenId::Live, PaneId::Tools));
    do_keys(&["g a"], &mut view, &state);
    assert_eq!((view.screen, view.focus), (ScreenId::Alerts, PaneId::RuleDetail));
}

fn screen(view: &View, state: &DashState) -> String {
    drawn(state, view, &Desk::default(), (120, 36)).join("\n")
}

#[test]
fn the_alerts_screen_says_what_fires_since_when_and_what_it_did_before() {
    let mut state = typical();
    let (t_ns, mut change) = state.alerts.last().cloned().unwrap();
    change.state = AlertState::Resolved;
    state.t_ns = t_ns + 61_000_000_000;
    state.alerts.push((t_ns + 60_000_000_000, change));
    let mut view = View::default();
    view.go(ScreenId::Alerts);
    let shown = screen(&view, &state);
    // The run is a minute and a half old: of twelve cells of two and a half minutes the last one alone is known.
    assert!(shown.contains("           F┃"), "{shown}");
    for part in ["resolved", "RecorderSlow", "00:01", "history, newest first", "FIRING", "n/a"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    view.rules_filter = "nothing like it".into();
    assert!(screen(&view, &state).contains("no rule holds nothing like it"));
}

#[test]
fn the_log_shows_fewer_levels_and_only_what_is_asked_for() {
    let mut state = typical();
    let row = state.log.last().cloned().unwrap();
    for (level, text) in [(LogLevel::Debug, "a detail"), (LogLevel::Error, "it broke")] {
        state.log.push(crate::state::LogRow { seq: Seq(900), level, text: text.into(), ..row.clone() });
    }
    let mut view = View::default();
    do_keys(&["g ?"], &mut view, &state);
    let all = screen(&view, &state);
    assert!(all.contains("a detail") && all.contains("it broke"));
    do_keys(&["o"], &mut view, &state);
    assert!(!screen(&view, &state).contains("a detail"));
    do_keys(&["o", "o"], &mut view, &state);
    let errors = screen(&view, &state);
    assert!(errors.contains("it broke") && !errors.contains("2 s behind") && errors.contains("E+"), "{errors}");
    view.log = crate::ui::view::LogView { filter: "behind".into(), ..Default::default() };
    let found = screen(&view, &state);
    assert!(found.contains("2 s behind") && !found.contains("it broke"), "{found}");
}

#[test]
fn the_memory_screen_has_the_prompt_both_ways_and_the_summaries() {
    let mut state = typical();
    let lane = state.lanes.values_mut().next().unwrap();
    let memory = crate::state::MemoryRow {
        seq: Seq(1),
        step: crate::event::StepIndex(3),
        before: 240,
        after: 30,
        summary: "pay restarts every two minutes".into(),
    };
    lane.episode.memories.push(memory);
    let mut view = View::default();
    do_keys(&["g m", "2", "f"], &mut view, &state);
    let mut shown = screen(&view, &state);
    do_keys(&["f"], &mut view, &state);
    shown.push_str(&screen(&view, &state));
    for part in ["as the model reads it", "t01;gw p6 e0", "240 -> 30 tokens (8.0:1)", "pay restarts every two minutes", "cached"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
}

#[test]
fn enter_on_a_tool_shows_its_newest_request_and_response() {
    let (state, mut view) = (typical(), View::default());
    do_keys(&["3", "enter"], &mut view, &state);
    let shown = screen(&view, &state);
    for part in ["Request and response", "\"service\": \"pay\"", "response: ok after 12 ms", "exit 137"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    do_keys(&["esc"], &mut view, &state);
    assert_eq!((view.popup, view.focus), (None, PaneId::Tools));
}
