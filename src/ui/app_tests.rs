//! The app without a terminal: keys and the mouse in, commands and pictures out.

use super::*;
use crate::event::{
    CheckpointListed, Command, CommandSender, Inbox, Input, MonotonicClock, Pace, Request, RunState, SafeText, Seed, Seq, inbox,
};
use crate::source::{Playback, RecordingSource};
use crate::ui::view::{PaneId, Share};
use crate::ui::widgets::testing::rows;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::path::Path;

#[path = "app/fuzz_tests.rs"]
mod fuzz;

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
        ascii: Some(false),
        charts: ChartGlyphs::Braille,
        ambiguous_width: Some(1),
        mouse: true,
        fps_max: 30,
        bytes_per_second: None,
        read_only: false,
        banner: None,
        recording: None,
        shots: PathBuf::from("."),
        state: None,
        said: Said::default(),
        lang: Lang::English,
        keys: KeyMap::default(),
        keys_file: None,
        notify: (Notify::None, Severity::Info),
        host: "node7".into(),
        acknowledge_minutes: 5,
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

#[test]
fn a_pace_that_is_none_is_told_in_the_operators_language() {
    let mut app = app(Box::new(recording()), (80, 24));
    app.take_frames().unwrap();
    type_keys(&mut app, ":pace F\n");
    assert!(app.notice.contains("`F` is not a pace; write max"), "{}", app.notice);
    crate::ui::lang::set(Lang::Chinese);
    type_keys(&mut app, "\x1b:pace F\n");
    crate::ui::lang::set(Lang::English);
    assert!(app.notice.contains("不是速度"), "{}", app.notice);
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
fn words_for_a_swap_that_is_refused_are_no_keys() {
    let (mut app, inbox) = live((80, 24));
    type_keys(&mut app, "gc");
    app.view.shelf.chosen = app.state.serving.clone();
    let before = app.view.clone();
    type_keys(&mut app, "Pswap final");
    assert!(shown(&app).contains("serves already") && matches!(app.open, Open::Refused(_)), "{}", shown(&app));
    type_keys(&mut app, "\n");
    assert_eq!((&app.open, &app.view.shelf, app.view.focus, sent(&inbox)), (&Open::Nothing, &before.shelf, before.focus, vec![]));
}

#[test]
fn what_asks_for_a_swap_leaves_the_comparison_in_sight() {
    use crate::ui::bench::{Comparison, Estimate, Metric, Setting, Subject, Verdict};
    for size in [(80, 24), (120, 36), (200, 50)] {
        let (mut app, _inbox) = live(size);
        type_keys(&mut app, "gc");
        app.view.shelf.chosen = Some("deckhand-middle".into());
        let of = |name: &str| Subject::of(app.state.checkpoints.iter().find(|c| c.checkpoint.0 == name).unwrap());
        let delta = Estimate { value: 0.5, low: 0.25, high: 0.75 };
        app.desk.bench.comparison = Some(Comparison {
            a: of("deckhand-final"),
            b: of("deckhand-middle"),
            setting: Setting::of(&app.state),
            seeds: 100,
            metrics: vec![Metric { name: "tool errors".into(), a: 0.25, b: 0.75, pairs: 98, delta, verdict: Verdict::Worse }],
            fixed: vec![],
            broken: vec![],
        });
        type_keys(&mut app, "P");
        let shown = shown(&app);
        for part in ["+0.5", "[+0.250,+0.750]", "WORSE !", " 98", "WORSE ! tool errors", "NOT verified", "NOT evaluated", "to confirm"] {
            assert!(shown.contains(part), "{part} {size:?}: {shown}");
        }
    }
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
    assert!(shown(&app).contains("1 pause") && shown(&app).contains("0 back"), "{}", shown(&app));
    type_keys(&mut app, "13");
    assert!(matches!(sent(&inbox)[..], [Command::Pause, Command::Step { .. }]), "the menu stays for another");
    type_keys(&mut app, "00");
    assert_eq!(app.open, Open::Nothing);
    // What needs words asks for them.
    let swap = Group::Change.entries().iter().position(|e| e.action == Action::Swap).unwrap() + 1;
    let change = Group::pages(&app.view).iter().position(|g| *g == Group::Change).unwrap() + 1;
    type_keys(&mut app, &format!("0{change}{swap}"));
    assert_eq!(app.open, Open::Command("swap ".into()));
    // Every entry of every page, on every page.
    let on_alerts = View { screen: ScreenId::Alerts, focus: PaneId::Rules, ..View::default() };
    let pages =
        [View::default(), on_alerts].into_iter().flat_map(|view| (1..).zip(Group::pages(&view)).map(move |page| (view.clone(), page)));
    for (view, (page, group)) in pages {
        for (n, entry) in (1..).zip(group.entries()) {
            let (mut app, _inbox) = live((45, 22));
            app.view = view.clone();
            type_keys(&mut app, &format!("0{page}"));
            let word = chrome::menu::word(entry, &app.context());
            assert!(shown(&app).contains(&format!("{n} {word}")), "{}", shown(&app));
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

#[test]
fn a_mistake_leaves_the_line_to_be_mended() {
    let (mut app, inbox) = live((80, 24));
    type_keys(&mut app, ":swapp deckhand-early\n");
    assert_eq!(app.open, Open::Command("swapp deckhand-early".into()));
    assert!(shown(&app).contains("did you mean swap?"), "{}", shown(&app));
    for _ in 0.." deckhand-early".len() + 1 {
        press(&mut app, KeyCode::Left, KeyModifiers::NONE);
    }
    press(&mut app, KeyCode::Delete, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    assert!(matches!(app.open, Open::Confirm(..)), "{:?}", app.open);
    type_keys(&mut app, "\x1b:");
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(app.open, Open::Command("swap deckhand-early".into()), "what was entered comes back");
    type_keys(&mut app, "\x1b:theme drak\n");
    assert_eq!(app.open, Open::Command("theme drak".into()));
    type_keys(&mut app, "\x1b:lane 9\n");
    assert!(app.notice.contains("no lane 9"), "{}", app.notice);
    assert_eq!(sent(&inbox), []);
}

#[test]
fn tab_completes_what_the_state_knows() {
    let (mut app, _inbox) = live((80, 24));
    type_keys(&mut app, ":swa");
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    assert!(shown(&app).contains("deckhand-early  deckhand-middle  deckhand-final"), "{}", shown(&app));
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
    assert_eq!(app.open, Open::Command("swap deckhand-middle".into()));
    press(&mut app, KeyCode::BackTab, KeyModifiers::SHIFT);
    assert_eq!(app.open, Open::Command("swap deckhand-early".into()));
}

#[test]
fn the_palette_finds_runs_and_asks_for_what_is_missing() {
    for size in [(120, 36), (45, 22), (20, 5)] {
        let (mut app, inbox) = live(size);
        press(&mut app, KeyCode::Char('p'), KeyModifiers::CONTROL);
        type_keys(&mut app, "gtrain");
        assert!(shown(&app).contains("training"), "{}", shown(&app));
        type_keys(&mut app, "\n");
        assert_eq!((app.view.screen, &app.open), (ScreenId::Training, &Open::Nothing));
        press(&mut app, KeyCode::Char('p'), KeyModifiers::CONTROL);
        type_keys(&mut app, "swap\n");
        assert_eq!(app.open, Open::Command("swap ".into()));
        type_keys(&mut app, "\x1b");
        // What can't be used says why, and does nothing.
        press(&mut app, KeyCode::Char('p'), KeyModifiers::CONTROL);
        type_keys(&mut app, "seek\n");
        assert!(app.notice.contains("needs a recording"), "{}", app.notice);
        assert_eq!(sent(&inbox), []);
    }
}

#[test]
fn help_is_searched_and_runs_what_is_chosen() {
    for size in [(120, 36), (45, 22), (20, 5)] {
        let (mut app, _inbox) = live(size);
        type_keys(&mut app, "?");
        assert!(size.0 < 45 || shown(&app).contains("1 of"), "{}", shown(&app));
        type_keys(&mut app, "/screen: the log\n");
        assert!((size.0 < 45 || shown(&app).contains("1 of 1")) && shown(&app).contains("log"), "{}", shown(&app));
        type_keys(&mut app, "\n");
        assert_eq!((app.view.screen, &app.open), (ScreenId::Log, &Open::Nothing));
        type_keys(&mut app, "?/zzz\x1b");
        assert!(matches!(&app.open, Open::Help(help) if help.filter.text().is_empty()));
        type_keys(&mut app, "\x1b");
        assert_eq!(app.open, Open::Nothing);
    }
}

#[test]
fn help_says_why_something_cannot_be_used() {
    let (mut app, _inbox) = live((120, 36));
    type_keys(&mut app, "?/seek\n");
    assert!(shown(&app).contains("n/a") && shown(&app).contains("(n/a: seek needs a recording;"), "{}", shown(&app));
}

#[test]
fn the_way_out_is_always_among_the_hints_and_keys_are_the_operators() {
    for screen in ScreenId::ALL {
        for (width, height) in [(200, 50), (120, 36), (80, 24), (45, 22)] {
            let (mut live, _inbox) = live((width, height));
            let mut replay = app(Box::new(recording()), (width, height));
            for app in [&mut live, &mut replay] {
                app.view.go(screen);
                for pane in screen.panes() {
                    app.view.focus = *pane;
                    let hints = shown(app).lines().last().unwrap().to_owned();
                    assert!(hints.contains("? help") && hints.contains("q quit"), "{screen:?} {width}: {hints}");
                }
            }
        }
    }
    let (mut app, _inbox) = live((80, 24));
    app.options.keys = KeyMap::parse("k", r#"( bind: { "quit": ["f10", "ctrl-c"], "help": ["f1"] } )"#).unwrap();
    assert!(shown(&app).contains("f10 quit") && shown(&app).contains("f1 help"), "{}", shown(&app));
    press(&mut app, KeyCode::Char('q'), KeyModifiers::NONE);
    assert!(app.notice.contains("f1 lists the keys"), "{}", app.notice);
    press(&mut app, KeyCode::F(1), KeyModifiers::NONE);
    type_keys(&mut app, "/enter runs\n");
    assert!(shown(&app).contains("f1 ") && shown(&app).contains("[f1]"), "{}", shown(&app));
}

#[test]
fn who_is_new_is_told_what_to_begin_with_once() {
    let state = tempfile::tempdir().unwrap();
    for (times, width) in [(0, 120), (1, 120)] {
        let (mut app, _inbox) = live((width, 36));
        app.options.state = Some(state.path().to_owned());
        app.resume();
        assert_eq!(shown(&app).contains("new here? ? shows every key, space pauses, . steps, q quits"), times == 0, "{}", shown(&app));
        type_keys(&mut app, "jjjjj");
        assert!(!shown(&app).contains("new here"));
        app.remember();
    }
}

#[test]
fn keys_are_read_again_when_they_are_saved_and_a_mistake_keeps_the_last_good_ones() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ron");
    let (mut app, _inbox) = live((80, 24));
    app.keys_watch = Some(Watch::on(&path));
    let start = Instant::now();
    let mut seconds = 0;
    let mut save = |app: &mut App, text: &str| {
        std::fs::write(&path, text).unwrap();
        seconds += 2;
        app.read_again(start + Duration::from_secs(seconds))
    };
    assert!(save(&mut app, r#"( bind: { "lane": ["f5"] } )"#));
    assert_eq!(app.options.keys.shown(Action::NextLane).as_deref(), Some("f5"));
    assert!(save(&mut app, "( bind: {\n \"lane\": [\"f\"] } )"));
    assert!(app.notice.contains("keys.ron:2:") && app.notice.contains("last good"), "{}", app.notice);
    assert_eq!(app.options.keys.shown(Action::NextLane).as_deref(), Some("f5"));
}
#[path = "diff_tests.rs"]
mod diff_screen;
#[path = "app/form_tests.rs"]
mod forms;
#[path = "replay_tests.rs"]
mod replay_screen;
#[path = "snapshot_tests.rs"]
mod snapshots;
