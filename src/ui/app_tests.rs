//! The app without a terminal: keys and the mouse in, commands and pictures out.

use super::*;
use crate::event::{
    CheckpointListed, Command, CommandSender, Inbox, Input, MonotonicClock, Pace, Request, RunState, SafeText, Seed, Seq, inbox,
};
use crate::source::{Playback, RecordingSource};
use crate::ui::view::{PaneId, Share};
use crate::ui::widgets::testing::rows;
use std::path::Path;

/// A live run that says nothing.
struct Quiet(CommandSender);

impl FrameSource for Quiet {
    fn poll(&mut self, _: &mut Vec<Frame>, _: usize) -> Result<SourceStatus, SourceError> {
        Ok(SourceStatus::Drained)
    }

    fn wait(&mut self, _: Duration) -> bool {
        false
    }

    fn commands(&self) -> Option<&CommandSender> {
        Some(&self.0)
    }

    fn playback(&mut self) -> Option<&mut dyn Playback> {
        None
    }
}

fn app(source: Box<dyn FrameSource>, size: (u16, u16)) -> App {
    let options = UiOptions {
        theme: "dark".into(),
        tier: Some(Tier::None),
        ascii: false,
        charts: ChartGlyphs::Braille,
        ambiguous_width: 1,
        mouse: true,
        fps_max: 30,
        read_only: false,
        banner: None,
        recording: None,
        shots: PathBuf::from("."),
        state: None,
        said: Said::default(),
        lang: Lang::English,
        keys: KeyMap::default(),
        screen: ScreenId::Live,
    };
    let caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    let look = Look::new("dark", caps).unwrap();
    App { area: Rect::new(0, 0, size.0, size.1), ..App::new(source, Box::new(crate::ui::backstage::Nobody), options, look) }
}

fn recording() -> RecordingSource {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/success.jsonl");
    RecordingSource::open(&path, MonotonicClock::start()).unwrap()
}

/// A running engine with three checkpoints and a chain of many rows.
fn live(size: (u16, u16)) -> (App, Inbox) {
    let (commands, inbox) = inbox(64);
    let mut app = app(Box::new(Quiet(commands)), size);
    app.state = replay(size).state;
    app.state.run_state = RunState::Running;
    app.state.serving = Some("deckhand-final".into());
    let listed = |name: &str| CheckpointListed { checkpoint: name.into(), sha256: "0".into(), training_step: 1, note: SafeText::default() };
    app.state.checkpoints = ["deckhand-early", "deckhand-middle", "deckhand-final"].map(listed).to_vec();
    (app, inbox)
}

fn replay(size: (u16, u16)) -> App {
    let mut app = app(Box::new(recording()), size);
    app.with_playback(|p| p.set_speed(Pace::Max));
    play_out(&mut app);
    app
}

fn play_out(app: &mut App) {
    while !app.source_ended {
        app.take_frames().unwrap();
    }
}

fn sent(inbox: &Inbox) -> Vec<Command> {
    std::iter::from_fn(|| inbox.try_next())
        .filter_map(|input| match input {
            Input::Request(Request { command, .. }) => Some(command),
            Input::Fact(_) | Input::PolicyLoaded => None,
        })
        .collect()
}

fn press(app: &mut App, code: KeyCode, modifiers: KeyModifiers) {
    app.incoming(Incoming::Terminal(TerminalEvent::Key(KeyEvent::new(code, modifiers))));
}

/// Types text; `\n` is enter, `\x1b` escape.
fn type_keys(app: &mut App, text: &str) {
    for c in text.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            c => KeyCode::Char(c),
        };
        press(app, code, KeyModifiers::NONE);
    }
}

fn point_at(app: &mut App, kind: MouseEventKind, column: u16, row: u16) {
    app.incoming(Incoming::Terminal(TerminalEvent::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })));
}

fn shown(app: &App) -> String {
    rows(&app.picture(app.area)).join("\n")
}

#[test]
fn a_modified_key_is_not_the_key() {
    let (mut app, inbox) = live((120, 36));
    let before = app.view.clone();
    for modifier in [KeyModifiers::ALT, KeyModifiers::CONTROL, KeyModifiers::SUPER, KeyModifiers::ALT | KeyModifiers::CONTROL] {
        for code in
            [KeyCode::Char('q'), KeyCode::Char(' '), KeyCode::Char('k'), KeyCode::Up, KeyCode::Enter, KeyCode::Tab, KeyCode::Char('0')]
        {
            press(&mut app, code, modifier);
            assert!(app.notice.contains("does nothing"), "{modifier:?} {code:?}: {}", app.notice);
        }
    }
    assert_eq!((&app.view, &app.open, app.ended), (&before, &Open::Nothing, None));
    assert_eq!(sent(&inbox), []);
    type_keys(&mut app, "q");
    press(&mut app, KeyCode::Char('y'), KeyModifiers::ALT);
    assert_eq!(app.ended, None, "alt-y is no yes");
    type_keys(&mut app, ":seed 7");
    press(&mut app, KeyCode::Char('b'), KeyModifiers::ALT);
    assert_eq!(app.open, Open::Command("seed 7".into()));
    press(&mut app, KeyCode::Char('w'), KeyModifiers::CONTROL);
    assert_eq!(app.open, Open::Command("seed ".into()));
    press(&mut app, KeyCode::Char('c'), KeyModifiers::CONTROL);
    type_keys(&mut app, "\x1b");
    press(&mut app, KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(app.open, Open::ConfirmQuit, "bound keys still are");
}

#[test]
fn a_new_seed_ends_episodes_so_it_asks_first() {
    let (mut app, inbox) = live((80, 24));
    type_keys(&mut app, ":seed 77\n");
    assert!(shown(&app).contains("seed 77  to confirm"), "{}", shown(&app));
    type_keys(&mut app, "y\n");
    assert_eq!(sent(&inbox), []);
    press(&mut app, KeyCode::Char('u'), KeyModifiers::CONTROL);
    type_keys(&mut app, "seed 77\n");
    assert_eq!(sent(&inbox), [Command::Reseed { seed: Seed(77) }]);
}

#[test]
fn a_swap_waits_for_its_name() {
    let (mut app, inbox) = live((80, 24));
    type_keys(&mut app, ":swap middle\n");
    assert!(shown(&app).contains("swap deckhand-middle  to confirm"), "{}", shown(&app));
    // Nothing, something else, another name, a name that could be two, and a paste are no yes.
    for wrong in ["", "y", "swap", "swap deckhand-early", "swap deckhand", "swap d", "pause deckhand-middle", "swap deckhand-middle now"] {
        type_keys(&mut app, &format!("{wrong}\n"));
        assert!(matches!(app.open, Open::Confirm(..)), "{wrong}");
        press(&mut app, KeyCode::Char('u'), KeyModifiers::CONTROL);
    }
    app.incoming(Incoming::Terminal(TerminalEvent::Paste("swap deckhand-middle".into())));
    type_keys(&mut app, "\n\x1b");
    assert_eq!((&app.open, sent(&inbox)), (&Open::Nothing, vec![]));
    for yes in ["swap deckhand-middle", "SWAP Deckhand-M", " swap  m "] {
        type_keys(&mut app, &format!(":swap deckhand-middle\n{yes}\n"));
        assert_eq!(sent(&inbox), [Command::Swap { checkpoint: "deckhand-middle".into() }], "{yes}");
    }
    type_keys(&mut app, ":swap final\n");
    assert!(app.notice.contains("serves already"));
}

#[test]
fn a_replay_plays_again_from_its_end_and_pauses_by_name() {
    let mut app = replay((120, 36));
    let end = app.playback.as_ref().unwrap().end;
    assert_eq!((app.playback.as_ref().unwrap().head, app.state.seq), (end, end));
    for again in [" ", ":resume\n"] {
        app.with_playback(|p| p.set_speed(Pace::Times(0.1)));
        type_keys(&mut app, again);
        app.take_frames().unwrap();
        let playback = app.playback.clone().unwrap();
        assert!(playback.playing && playback.head < end, "{again:?}: {playback:?}");
        type_keys(&mut app, ":pause\n");
        app.take_frames().unwrap();
        assert!(!app.playback.as_ref().unwrap().playing, "{}", app.notice);
        type_keys(&mut app, ":resume\n");
        app.with_playback(|p| p.set_speed(Pace::Max));
        play_out(&mut app);
        assert_eq!(app.state.seq, end, "to the end, every time");
    }
}

#[test]
fn a_mark_of_a_replay_is_a_place_in_the_recording() {
    let mut app = replay((120, 36));
    type_keys(&mut app, ":seek @40\n");
    app.take_frames().unwrap();
    type_keys(&mut app, "m$");
    app.take_frames().unwrap();
    assert!(app.state.seq > Seq(40));
    type_keys(&mut app, "[");
    app.take_frames().unwrap();
    assert_eq!(app.state.seq, Seq(40), "{}", app.notice);
    type_keys(&mut app, "]");
    assert!(app.notice.starts_with("no later mark"), "{}", app.notice);
}

#[test]
fn digits_reach_what_a_phone_has_no_keys_for() {
    let (mut app, inbox) = live((45, 22));
    assert!(shown(&app).contains("0 menu"), "{}", shown(&app));
    type_keys(&mut app, "2");
    assert_eq!(app.view.focus, PaneId::Reward);
    type_keys(&mut app, "10");
    assert!(shown(&app).contains("1 run: pause") && shown(&app).contains("0 close"), "{}", shown(&app));
    type_keys(&mut app, "1");
    assert!(shown(&app).contains("1 toggle") && shown(&app).contains("0 back"), "{}", shown(&app));
    type_keys(&mut app, "13");
    assert!(matches!(sent(&inbox)[..], [Command::Pause, Command::Step { .. }]), "the menu stays for another");
    type_keys(&mut app, "00");
    assert_eq!(app.open, Open::Nothing);
    // What needs words asks for them.
    let swap = Group::Change.entries().iter().position(|e| e.action == Action::Swap).unwrap() + 1;
    let change = Group::ALL.iter().position(|g| *g == Group::Change).unwrap() + 1;
    type_keys(&mut app, &format!("0{change}{swap}"));
    assert_eq!(app.open, Open::Command("swap ".into()));
    // Every entry of every page, on every page.
    for (page, group) in (1..).zip(Group::ALL) {
        for (n, entry) in (1..).zip(group.entries()) {
            let (mut app, _inbox) = live((45, 22));
            type_keys(&mut app, &format!("0{page}"));
            assert!(shown(&app).contains(&format!("{n} {}", entry.name)), "{}", shown(&app));
            type_keys(&mut app, &n.to_string());
            assert!(!app.notice.contains("does nothing"), "{}", app.notice);
        }
    }
}

#[test]
fn nought_is_the_beginning_where_there_is_one_and_room_to_see_it() {
    let mut app = replay((120, 36));
    type_keys(&mut app, "0");
    app.take_frames().unwrap();
    assert_eq!((app.state.seq, &app.open), (Seq(0), &Open::Nothing));
    let mut small = replay((45, 22));
    type_keys(&mut small, "0");
    assert_eq!(small.open, Open::Menu(None));
    let (mut live, _inbox) = live((120, 36));
    type_keys(&mut live, "0");
    assert_eq!(live.open, Open::Menu(None));
}

#[test]
fn a_click_focuses_and_a_wheel_scrolls_what_is_under_it() {
    let click = MouseEventKind::Down(MouseButton::Left);
    let (mut app, _inbox) = live((120, 36));
    for (x, y, pane) in
        [(100, 5, PaneId::Reward), (100, 17, PaneId::Tools), (50, 30, PaneId::Alerts), (100, 30, PaneId::Log), (3, 3, PaneId::Chain)]
    {
        point_at(&mut app, click, x, y);
        assert_eq!(app.view.focus, pane);
    }
    type_keys(&mut app, "6");
    let before = shown(&app);
    point_at(&mut app, MouseEventKind::ScrollUp, 20, 10);
    assert!(app.view.place.is_some() && app.view.focus == PaneId::Log, "the chain scrolls, the log keeps the focus");
    assert_ne!(shown(&app), before);
    for _ in 0..5 {
        point_at(&mut app, MouseEventKind::ScrollDown, 20, 10);
    }
    assert_eq!(app.view.place, None, "down to the end follows again");
    point_at(&mut app, MouseEventKind::Moved, 100, 5);
    point_at(&mut app, click, 0, 0);
    assert_eq!(app.view.focus, PaneId::Log, "the status bar is no pane");
    // Tabs and strips of a smaller screen are panes too.
    app.area = Rect::new(0, 0, 80, 24);
    point_at(&mut app, click, 14, 22);
    assert_eq!(app.view.focus, PaneId::Reward);
    app.view.focus = PaneId::Chain;
    point_at(&mut app, click, 60, 18);
    assert_eq!(app.view.focus, PaneId::Gpu);
    // What is open is not clicked through.
    type_keys(&mut app, "q");
    point_at(&mut app, click, 3, 3);
    assert_eq!((app.view.focus, app.view.share, &app.open), (PaneId::Gpu, Share::Normal, &Open::ConfirmQuit));
}

#[path = "replay_tests.rs"]
mod replay_screen;
