//! Every screen, with every pane of it in focus, at many sizes; and what the alerts, memory and log screens say.

use super::arrange;
use super::testing::{do_keys, drawn, hostile, typical};
use crate::event::{AlertState, Command, LogLevel, Seq, SilenceKind, StepIndex};
use crate::state::DashState;
use crate::ui::actions::Action;
use crate::ui::desk::Desk;
use crate::ui::update::{Effect, Facts, Pointer, act, point};
use crate::ui::view::{PaneId, ScreenId, Share, View};
use crate::ui::widgets::Glyphs;
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
        for popup in
            [PaneId::Request, PaneId::Episodes, PaneId::Inspector, PaneId::Branches, PaneId::Runbook, PaneId::Trial, PaneId::TrialFound]
        {
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
fn where_not_all_panes_are_shown_tabs_name_them_with_their_digits() {
    let state = typical();
    for size in [(80, 24), (45, 22)] {
        for screen in ScreenId::ALL.into_iter().filter(|s| s.panes().len() > 1) {
            let mut view = View::default();
            view.go(screen);
            let rows = drawn(&state, &view, &Desk::default(), size);
            let tabs = rows.iter().rev().find(|row| row.contains("[1 ")).unwrap_or_else(|| panic!("{screen:?} {size:?}"));
            for digit in 2..=screen.panes().len() {
                assert!(tabs.contains(&format!(" {digit} ")), "{screen:?} {size:?}: {tabs}");
            }
        }
    }
}

#[test]
fn a_table_that_is_cut_says_how_many_rows_it_lacks() {
    let mut view = View::default();
    view.go(ScreenId::Memory);
    let cut = |view: &View, size| drawn(&typical(), view, &Desk::default(), size).iter().any(|row| row.contains(" +"));
    assert!(cut(&view, (80, 24)) && !cut(&view, (80, 40)));
    let mut state = typical();
    let (t_ns, change) = state.alerts.last().cloned().unwrap();
    for n in 0..30 {
        let rule = format!("Rule{n}").into();
        state.alerts.push((t_ns, crate::event::AlertStateChanged { rule, ..change.clone() }));
    }
    for (screen, focus, size) in [
        (ScreenId::Alerts, PaneId::Rules, (120, 36)),
        (ScreenId::Live, PaneId::Alerts, (120, 36)),
        (ScreenId::Live, PaneId::Chain, (45, 22)),
    ] {
        let rows = drawn(&state, &View { screen, focus, ..View::default() }, &Desk::default(), size);
        let hidden = |row: &String| row.split(" +").any(|part| part.starts_with("1") || part.starts_with("2"));
        assert!(rows.iter().any(hidden), "{screen:?} {focus:?}: {}", rows.join("\n"));
    }
}

/// A run with more to say than panes have rows.
fn wordy() -> DashState {
    let mut state = typical();
    let (t_ns, change) = state.alerts.last().cloned().unwrap();
    let row = |n: u64| crate::state::SwapRow {
        seq: Seq(n),
        t_ns: n * 1_000_000_000,
        from: Some("a".into()),
        to: format!("to-{n}").as_str().into(),
    };
    for n in 1..=40 {
        state.alerts.push((t_ns + n, crate::event::AlertStateChanged { summary: format!("change {n}").into(), ..change.clone() }));
        state.swaps.push(row(n));
    }
    let lane = state.lanes.values_mut().next().unwrap();
    for n in 1..=20 {
        let summary = format!("summary {n}").into();
        lane.episode.memories.push(crate::state::MemoryRow { seq: Seq(n), step: StepIndex(n as u32), before: 240, after: 30, summary });
    }
    state
}

#[test]
fn what_is_longer_than_its_pane_is_reached_by_keys_and_by_the_wheel() {
    let state = wordy();
    let panes = [
        (ScreenId::Checkpoints, PaneId::Rollout, "a -> to-1 "),
        (ScreenId::Alerts, PaneId::RuleDetail, "2 s behind"),
        (ScreenId::Live, PaneId::Memory, "summary 1 "),
        (ScreenId::Memory, PaneId::Recall, "summary 1 "),
        (ScreenId::Memory, PaneId::Prompt, "t01;gw p6 e0"),
    ];
    for (screen, focus, last) in panes {
        // The narrow column of the live screen, and small screens of the others.
        let size = if screen == ScreenId::Live { (200, 50) } else { (60, 16) };
        let mut view = View { screen, focus, ..View::default() };
        let shows = |view: &View| drawn(&state, view, &Desk::default(), size).iter().any(|row| format!("{row} ").contains(last));
        assert!(!shows(&view), "{focus:?}: it has room for all");
        let desk = Desk::default();
        let area = Rect::new(0, 1, size.0, size.1 - 2);
        let facts = Facts { state: &state, desk: &desk, playback: None, can_command: true, area, glyphs: Glyphs::default() };
        act(Action::Bottom, "", &mut view, &facts);
        assert!(shows(&view), "{focus:?} by G: {}", drawn(&state, &view, &Desk::default(), size).join("\n"));
        act(Action::Top, "", &mut view, &facts);
        assert!(!shows(&view), "{focus:?} by gg");
        let mut cells = (0..size.0).flat_map(|x| (0..size.1).map(move |y| (x, y)));
        let (x, y) = cells.find(|(x, y)| super::pane_at(&view, area, *x, *y) == Some(focus)).unwrap();
        for _ in 0..60 {
            point(Pointer::WheelDown, x, y, &mut view, &facts);
        }
        assert!(shows(&view), "{focus:?} by wheel");
    }
}

#[test]
fn the_column_beside_the_six_panes_is_reached_by_tab() {
    let state = typical();
    let desk = Desk::default();
    let facts = |area| Facts { state: &state, desk: &desk, playback: None, can_command: true, area, glyphs: Glyphs::default() };
    let mut view = View { focus: PaneId::Log, ..View::default() };
    act(Action::FocusNext, "", &mut view, &facts(Rect::new(0, 1, 200, 48)));
    assert_eq!(view.focus, PaneId::Memory);
    act(Action::FocusNext, "", &mut view, &facts(Rect::new(0, 1, 200, 48)));
    assert_eq!(view.focus, PaneId::Chain);
    act(Action::FocusPrevious, "", &mut view, &facts(Rect::new(0, 1, 120, 34)));
    assert_eq!(view.focus, PaneId::Log, "a narrower screen has no such column");
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
    for part in ["resolved", "RecorderSlow", "00:01", "history, newest first", "FIRING", "n/a"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    view.rules.filter = "nothing like it".into();
    assert!(screen(&view, &state).contains("no rule holds nothing like it"));
}

/// A rule of each state, an endpoint that is down.
fn alerting() -> DashState {
    use crate::event::*;
    let mut state = DashState::default();
    let mut say = |seconds: u64, event: Event| {
        let seq = state.seq.next();
        let (episode, step) = (None, None);
        state.apply(&Envelope { seq, t_ns: seconds * 1_000_000_000, lane: LaneId(0), episode, step, event }).unwrap();
    };
    let set = |pairs: &[(&str, &str)]| -> LabelSet { pairs.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect() };
    let names = ["ToolRateLimited", "GpuTempHigh", "EnvTimeouts", "SuccessLow", "KlSpike", "LossNaN"];
    let rule = |name: &str| RuleInfo {
        name: name.into(),
        kind: RuleKind::Alert,
        expr: "pilothouse_gpu_temperature_celsius > 70".into(),
        for_ms: 60_000,
        keep_firing_for_ms: 0,
        labels: set(&[("severity", "warning")]),
        annotations: set(&[("runbook_url", "docs/runbooks/Watchdog.md")]),
        threshold: Some(Threshold { left: "pilothouse_gpu_temperature_celsius".into(), operator: ">".into(), number: 70.0 }),
        further: Vec::new(),
    };
    let group = RuleGroupInfo { name: "g".into(), interval_ms: 5_000, rules: names.iter().map(|n| rule(n)).collect() };
    let loaded = RulesLoaded {
        file: "rules.yaml".into(),
        sha256: String::new(),
        error: None,
        external_labels: LabelSet::default(),
        groups: vec![group],
    };
    say(1, loaded.into());
    let health = |rule: u32| match rule {
        4 => RuleHealth::NoData,
        5 => RuleHealth::Error,
        _ => RuleHealth::Ok,
    };
    let reading = |rule: u32| RuleReading {
        rule,
        health: health(rule),
        error: (rule == 5).then(|| "parse error col 12".into()),
        value: (rule < 4).then_some(71.0),
        further: Vec::new(),
        unknown: None,
        series: 1,
        pending: 0,
        firing: 0,
    };
    let evaluated = RuleEvaluated { group: "g".into(), at_ms: 50_400_000, duration_ns: 300_000, readings: (0..6).map(reading).collect() };
    say(2, evaluated.into());
    for (name, firing) in [(names[0], true), (names[1], false), (names[2], true)] {
        let labels = set(&[("alertname", name), ("gpu", "0"), ("severity", "warning")]);
        let detail = AlertDetail { group: "g".into(), labels, annotations: LabelSet::default(), value: 71.0, active_at_ms: 0, at_ms: 0 };
        let changed = AlertStateChanged {
            rule: name.into(),
            state: if firing { AlertState::Firing } else { AlertState::Pending },
            severity: "warning".into(),
            summary: "it is hot".into(),
            detail: Some(Box::new(detail)),
        };
        say(3, changed.into());
    }
    let silence = Silence {
        kind: SilenceKind::Silence,
        matchers: vec!["alertname=EnvTimeouts".parse().unwrap()],
        starts_ms: 0,
        ends_ms: 52_200_000,
        created_by: "ops".into(),
        comment: "known".into(),
    };
    say(4, SilenceSet { id: "s1".into(), silence }.into());
    say(34, LogLine { level: LogLevel::Info, target: "x".into(), text: "later".into() }.into());
    state
}

#[test]
fn rules_stand_in_words_with_value_threshold_and_progress() {
    let state = alerting();
    let mut view = View::default();
    view.go(ScreenId::Alerts);
    let shown = screen(&view, &state);
    for part in [
        "1 firing 1 pending 1 silenced 1 error 1 nodata 1 ok",
        "rules: rules.yaml ok",
        "F FIRING",
        "71.0 C > 70.0 C",
        "P pending",
        "31/60s",
        "S silenced",
        "until 14:30",
        "by ops",
        "? nodata",
        "matches no series",
        "E error",
        "parse error col 12",
        "active silences 1",
        "matches now: 1",
    ] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    do_keys(&["O", "S"], &mut view, &state);
    let fewer = screen(&view, &state);
    assert!(!fewer.contains("S silenced") && !fewer.contains("LossNaN") && fewer.contains("GpuTempHigh"), "{fewer}");
    // The live screen heeds the silence too.
    let live = drawn(&state, &View::default(), &Desk::default(), (120, 36)).join("\n");
    assert!(live.contains("1F 1P 1S 1E") && live.contains("- 1 inactive"), "{live}");
    for size in [(80, 24), (45, 22), (200, 50)] {
        let rows = drawn(&state, &view, &Desk::default(), size).join("\n");
        assert!(rows.contains("ToolRateLimited"), "{size:?}:\n{rows}");
    }
}

#[test]
fn the_runbook_opens_above_the_panes() {
    let state = alerting();
    let mut view = View::default();
    do_keys(&["g a", "r"], &mut view, &state);
    assert_eq!(view.popup, Some(PaneId::Runbook));
    assert!(screen(&view, &state).contains("dead-man"));
    do_keys(&["esc"], &mut view, &state);
    assert_eq!(view.popup, None);
}

/// It holds as long as the configuration says, and half an hour where it says nothing.
#[test]
fn an_acknowledgement_is_a_silence_of_the_configured_time() {
    let state = alerting();
    for (desk, minutes) in [(Desk::default(), 30), (Desk { acknowledge_minutes: Some(5), ..Desk::default() }, 5)] {
        let mut view = View::default();
        view.go(ScreenId::Alerts);
        let area = Rect::new(0, 1, 120, 34);
        let facts = Facts { state: &state, desk: &desk, playback: None, can_command: true, area, glyphs: Glyphs::default() };
        let effects = act(Action::Acknowledge, "mine", &mut view, &facts);
        let Some(Effect::Send(Command::Silence(silence))) = effects.first() else { panic!("{effects:?}") };
        assert_eq!(silence.ends_ms - silence.starts_ms, minutes * 60_000);
        assert_eq!((silence.kind, silence.comment.as_str()), (SilenceKind::Acknowledgement, "mine"));
    }
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
        step: StepIndex(3),
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

#[test]
fn a_long_log_line_is_broken_where_rows_are_empty_and_no_word_is_said_twice() {
    let mut state = DashState::default();
    let words: Vec<String> = (0..40).map(|n| format!("word{n:02}")).collect();
    state.log.push(crate::state::LogRow {
        seq: Seq(1),
        t_ns: 1,
        level: LogLevel::Warn,
        target: "gateway".into(),
        text: words.join(" ").as_str().into(),
    });
    let mut view = View::default();
    view.go(ScreenId::Log);
    for whole in [false, true] {
        view.log.whole = whole;
        let shown = screen(&view, &state);
        for word in &words {
            assert_eq!(shown.matches(word.as_str()).count(), 1, "{word}: {shown}");
        }
    }
}
