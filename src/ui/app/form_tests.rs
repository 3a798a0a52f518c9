//! The editor of a decision at the screen: keys in, commands and pictures out.

use super::*;
use crate::event::{CommandAccepted, CommandId, CommandRejected, LaneId, Origin, Overriding, StepIndex, ToolCall};
use crate::ui::form::testing::state;
use crate::ui::outside::Back;

const SAID: &str = "<think>x<act>{\"tool\":\"scale\",\"svc\":\"pay\",\"n\":6}<end>";

/// A live run that stands before its call.
fn paused(size: (u16, u16)) -> (App, Inbox) {
    let (mut app, inbox) = live(size);
    app.state = DashState { run_state: RunState::Paused, ..state(SAID) };
    (app, inbox)
}

fn text(app: &App) -> String {
    rows(&app.picture(app.area)).join("\n")
}

#[test]
fn o_opens_the_editor_enter_sends_and_esc_changes_nothing() {
    let (mut app, inbox) = paused((120, 36));
    type_keys(&mut app, "o");
    let shown = text(&app);
    for part in ["Override step 5 of episode 3", "scale", "svc", "pay", "n", "6", "dry", "result", "fits"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    // Keys are text here, and what is wrong stands beside its field.
    type_keys(&mut app, "q");
    assert!(text(&app).contains("no tool has this name; did you mean scale?"), "{}", text(&app));
    type_keys(&mut app, "\n");
    assert!(sent(&inbox).is_empty() && app.notice.contains("no tool"), "{}", app.notice);
    type_keys(&mut app, "\x1b");
    assert_eq!((&app.open, sent(&inbox)), (&Open::Nothing, Vec::new()));
    type_keys(&mut app, "o");
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    type_keys(&mut app, "0");
    assert!(text(&app).contains("`60` is out of range; give 1 to 12"));
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    type_keys(&mut app, "\x1bo");
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    let call = ToolCall::new("scale").with("svc", "checkout").with("n", 6);
    let with = Overriding { action: Some(call), result: None };
    assert_eq!(sent(&inbox), [Command::Override { lane: LaneId(0), with }]);
}

#[test]
fn a_run_that_goes_on_is_paused_for_it_and_goes_on_behind_it() {
    let (mut app, inbox) = paused((80, 24));
    app.state.run_state = RunState::Running;
    type_keys(&mut app, "o");
    assert_eq!((sent(&inbox), &app.open), (vec![Command::Pause], &Open::Nothing));
    app.take_frames().unwrap();
    assert_eq!(app.open, Open::Nothing);
    app.state.run_state = RunState::Paused;
    app.take_frames().unwrap();
    assert!(matches!(app.open, Open::Form(_)));
    type_keys(&mut app, "\x1b");
    assert_eq!(sent(&inbox), [Command::Resume]);
    // What was paused before stays so.
    type_keys(&mut app, "o\x1b");
    assert_eq!(sent(&inbox), []);
}

/// The editor was asked for, and waits for the pause.
fn waiting() -> (App, Inbox, CommandId) {
    let (mut app, inbox) = paused((80, 24));
    app.state.run_state = RunState::Running;
    type_keys(&mut app, "o");
    let Some(Input::Request(request)) = inbox.try_next() else { panic!() };
    assert!(app.form_waits.is_some());
    (app, inbox, request.id)
}

#[test]
fn an_editor_whose_pause_does_not_come_opens_at_no_later_one() {
    let state_of = |state| Event::from(crate::event::RunStateChanged { state, reason: SafeText::default() });
    let nothing_opens = |app: &mut App, why: &str| {
        app.state.run_state = RunState::Paused;
        app.take_frames().unwrap();
        assert_eq!((&app.open, app.form_waits.is_none()), (&Open::Nothing, true), "{why}");
    };
    let (mut app, _inbox, _) = waiting();
    type_keys(&mut app, "\x1b");
    nothing_opens(&mut app, "given up");
    let (mut app, _inbox, _) = waiting();
    app.form_waits_on(&state_of(RunState::Ended));
    nothing_opens(&mut app, "the run ended");
    let (mut app, _inbox, _) = waiting();
    app.view.go(ScreenId::Log);
    app.take_frames().unwrap();
    app.view.go(ScreenId::Live);
    nothing_opens(&mut app, "another screen was looked at");
    let (mut app, _inbox, id) = waiting();
    let rejected = |id| CommandRejected { id, command: Command::Pause, origin: Origin::Console, reason: "no".into() };
    app.form_waits_on(&rejected(CommandId(id.0 + 1)).into());
    assert!(app.form_waits.is_some());
    app.form_waits_on(&rejected(id).into());
    assert_eq!(app.notice, "no");
    nothing_opens(&mut app, "refused");
    let (mut app, _inbox, _) = waiting();
    app.form_waits_on(&state_of(RunState::Paused));
    app.state.run_state = RunState::Paused;
    app.take_frames().unwrap();
    assert!(matches!(app.open, Open::Form(_)));
}

#[test]
fn a_breakpoint_that_paused_the_run_meanwhile_is_not_passed() {
    let (mut app, inbox, _) = waiting();
    (app.state.run_state, app.state.stopped_at) = (RunState::Paused, Some(1));
    app.take_frames().unwrap();
    assert!(matches!(app.open, Open::Form(_)));
    type_keys(&mut app, "\x1b");
    assert_eq!((&app.open, sent(&inbox)), (&Open::Nothing, Vec::new()));
}

#[test]
fn the_editor_of_the_operator_fills_the_form_in_and_mistakes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (mut app, inbox) = paused((100, 30));
    app.options.state = Some(folder.path().to_owned());
    assert_eq!(app.wants_outside(), None);
    type_keys(&mut app, "o");
    press(&mut app, KeyCode::Char('o'), KeyModifiers::CONTROL);
    let (directory, text) = app.wants_outside().unwrap();
    assert_eq!((directory.as_path(), app.wants_outside()), (folder.path(), None));
    assert!(text.contains("\"n\": 6") && text.contains("//   svc: text, required: \"checkout\", \"pay\""), "{text}");
    app.came_back(Back::Text(text.replace("6", "99")));
    assert!(app.notice.contains("n: `99` is out of range"), "{}", app.notice);
    // The same text again, with what is wrong on top.
    press(&mut app, KeyCode::Char('o'), KeyModifiers::CONTROL);
    let (_, again) = app.wants_outside().unwrap();
    assert!(again.starts_with("// ! line ") && again.contains("\"n\": 99"), "{again}");
    app.came_back(Back::Text(again.replace("99", "9")));
    assert_eq!(sent(&inbox), []);
    type_keys(&mut app, "\n");
    let with = Overriding { action: Some(ToolCall::new("scale").with("svc", "pay").with("n", 9)), result: None };
    assert_eq!(sent(&inbox), [Command::Override { lane: LaneId(0), with }]);
    type_keys(&mut app, "o");
    app.came_back(Back::Failed("vi: not found".into()));
    assert!(matches!(app.open, Open::Form(_)) && app.notice == "vi: not found");
}

#[test]
fn what_the_engine_objects_to_comes_back_to_be_mended() {
    let (mut app, inbox) = paused((100, 30));
    type_keys(&mut app, "o");
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    assert_eq!(app.open, Open::Nothing);
    let Some(Input::Request(request)) = inbox.try_next() else { panic!() };
    let other =
        CommandRejected { id: CommandId(request.id.0 + 1), command: request.command.clone(), origin: Origin::Console, reason: "no".into() };
    app.form_answered(&other.clone().into());
    assert_eq!(app.open, Open::Nothing);
    app.form_answered(&CommandRejected { id: request.id, reason: "scale: svc: `checkout` is gone".into(), ..other }.into());
    assert!(matches!(app.open, Open::Form(_)) && text(&app).contains("is gone"), "{}", text(&app));
    type_keys(&mut app, "\n");
    let Some(Input::Request(request)) = inbox.try_next() else { panic!() };
    app.form_answered(&CommandAccepted { id: request.id, command: request.command, origin: Origin::Console }.into());
    assert_eq!((&app.open, app.notice.as_str()), (&Open::Nothing, "step 5 does that instead"));
}

#[test]
fn what_the_engine_objects_to_is_kept_while_something_else_is_open() {
    let (mut app, inbox) = paused((100, 30));
    type_keys(&mut app, "o");
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n:");
    let Some(Input::Request(request)) = inbox.try_next() else { panic!() };
    let (id, command) = (request.id, request.command);
    app.form_answered(&CommandRejected { id, command, origin: Origin::Console, reason: "svc: no".into() }.into());
    assert!(matches!(app.open, Open::Command(_)) && app.notice == "svc: no; o there opens what was sent again", "{}", app.notice);
    type_keys(&mut app, "\x1bo");
    let Open::Form(form) = &app.open else { panic!() };
    assert_eq!(form.call(), Some(ToolCall::new("scale").with("svc", "checkout").with("n", 6)));
    // It was brought back once; then the decision is shown as it is.
    type_keys(&mut app, "\x1bo");
    let Open::Form(form) = &app.open else { panic!() };
    assert_eq!(form.call(), Some(ToolCall::new("scale").with("svc", "pay").with("n", 6)));
}

#[test]
fn a_fork_from_the_cursor_names_its_step() {
    let (mut app, inbox) = live((120, 36));
    app.state.run_state = RunState::Paused;
    type_keys(&mut app, "ggjjjj");
    let row = panes::chain::cursor_row(&app.view, &app.state).cloned().unwrap();
    type_keys(&mut app, "gf");
    assert!(text(&app).contains("Fork before step"), "{}", text(&app));
    type_keys(&mut app, "\n");
    let sent = sent(&inbox);
    let [Command::Fork { lane, episode, at, with }] = sent.as_slice() else { panic!("{sent:?} {}", app.notice) };
    assert_eq!((*lane, *episode, *at), (LaneId(0), Some(row.episode), StepIndex(row.step.0.max(1))));
    assert!(with.is_none());
}

#[test]
fn the_editor_is_drawn_at_every_size() {
    for (width, height) in [(1, 1), (2, 9), (9, 2), (12, 5), (20, 5), (45, 22), (80, 24), (200, 50)] {
        let (mut app, _inbox) = paused((width, height));
        app.edit_pending();
        let Open::Form(_) = app.open else { panic!() };
        for _ in 0..6 {
            text(&app);
            press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
        }
        if std::env::var_os("PILOTHOUSE_SHOW").is_some() {
            println!("{}", text(&app));
        }
    }
}

#[test]
fn a_step_of_a_recording_opens_the_editor_with_its_call() {
    let mut app = replay((120, 36));
    type_keys(&mut app, "gr");
    app.take_frames().unwrap();
    type_keys(&mut app, "gf");
    assert!(text(&app).contains("Fork before step"), "{}", text(&app));
    let Open::Form(form) = &app.open else { panic!() };
    assert!(form.call().is_some());
    // An editor outside is for what runs.
    press(&mut app, KeyCode::Char('o'), KeyModifiers::CONTROL);
    assert_eq!(app.wants_outside(), None);
}

#[test]
fn branches_of_a_recording_are_opened_and_lead_to_their_parents() {
    use crate::event::*;
    let mut app = replay((120, 36));
    type_keys(&mut app, "gb");
    assert_eq!((app.view.popup, app.notice.as_str()), (None, "this recording has no branches"));
    let (mut app, _inbox) = live((80, 24));
    let parent = app.state.lanes[&LaneId(0)].episode.episode;
    let started = BranchStarted {
        parent_lane: LaneId(0),
        parent,
        at_step: StepIndex(2),
        cause: BranchCause::Fork,
        with: Variation { checkpoint: Some("deckhand-early".into()), ..Variation::default() },
        state_hash: 0,
        reward_sum: 0.0,
        discounted_sum: 0.0,
    };
    let begun = EpisodeStarted {
        seed: Seed(1),
        level: Level::L0,
        goal: "".into(),
        briefing: "".into(),
        fields: vec![],
        checkpoint: None,
        state_hash: 0,
    };
    for event in [Event::from(begun), started.into()] {
        let (seq, t_ns) = (app.state.seq.next(), app.state.t_ns);
        let envelope = Envelope { seq, t_ns, lane: LaneId(1), episode: Some(EpisodeId(1)), step: None, event };
        app.state.apply(&envelope).unwrap();
    }
    type_keys(&mut app, "gb");
    assert!(text(&app).contains("└─1:1") && text(&app).contains("deckhand-early"), "{}", text(&app));
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    assert_eq!((app.view.popup, app.view.lane, app.view.screen), (None, LaneId(1), ScreenId::Live));
    // Its own checkpoint, and where it comes from.
    app.area = Rect::new(0, 0, 120, 36);
    assert!(text(&app).contains("deckhand-early (branch)") && text(&app).contains("branch of 0:"), "{}", text(&app));
    type_keys(&mut app, "gb");
    press(&mut app, KeyCode::Backspace, KeyModifiers::NONE);
    assert_eq!((app.view.popup, app.view.lane), (None, LaneId(0)));
    type_keys(&mut app, "gbgb");
    assert_eq!(app.view.popup, None);
}
