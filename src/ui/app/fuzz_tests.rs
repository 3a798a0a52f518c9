//! Whatever is pressed, pasted, clicked or resized, in whatever order: nothing panics, and there is always a way out.

use super::*;
use crate::ui::actions::ACTIONS;
use proptest::prelude::*;

/// Something an operator, or a hostile clipboard, does.
#[derive(Clone, Debug)]
enum Deed {
    /// A key sequence of the table.
    Bound(usize, usize),
    Type(String),
    Press(KeyCode, KeyModifiers),
    Paste(String),
    Mouse(MouseEventKind, u16, u16),
    Resize(u16, u16),
    Frames,
}

fn code() -> impl Strategy<Value = KeyCode> {
    use KeyCode::*;
    let named = prop::sample::select(vec![
        Enter,
        Esc,
        Tab,
        BackTab,
        Backspace,
        Up,
        Down,
        Left,
        Right,
        Home,
        End,
        PageUp,
        PageDown,
        Insert,
        Delete,
        F(1),
        F(12),
        Null,
    ]);
    prop_oneof![4 => named, 1 => any::<char>().prop_map(Char), 3 => prop::char::range(' ', '~').prop_map(Char)]
}

fn modifiers() -> impl Strategy<Value = KeyModifiers> {
    prop_oneof![6 => Just(KeyModifiers::NONE), 2 => Just(KeyModifiers::CONTROL), 1 => Just(KeyModifiers::ALT)]
}

fn mouse() -> impl Strategy<Value = MouseEventKind> {
    let left = MouseEventKind::Down(MouseButton::Left);
    prop::sample::select(vec![left, MouseEventKind::ScrollUp, MouseEventKind::ScrollDown, MouseEventKind::Drag(MouseButton::Left)])
}

fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![3 => (1..=500u16, 1..=200u16), 3 => (1..=60u16, 1..=30u16), 1 => Just((1, 1)), 1 => Just((500, 200)), 2 => Just((45, 22))]
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just("\u{1b}[200~q\u{1b}[201~\u{1b}]0;x\u{7}\r\n:quit\r".to_owned()),
        Just("a\u{301}\u{301}\u{202e}\u{200d}工\u{1f469}\u{200d}\u{1f680}".repeat(50)),
        Just("x".repeat(100_000)),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    let words = prop::sample::select(vec![
        ":swap ",
        ":theme ",
        ":pace ",
        ":seek ",
        ":lane ",
        ":b",
        "/",
        "?",
        "/le",
        "0",
        "01",
        "swap deckhand-early",
        "z",
        "g",
        "max",
    ]);
    prop_oneof![
        6 => (0..ACTIONS.len(), 0..3usize).prop_map(|(action, key)| Deed::Bound(action, key)),
        3 => words.prop_map(|word| Deed::Type(word.to_owned())),
        6 => (code(), modifiers()).prop_map(|(code, modifiers)| Deed::Press(code, modifiers)),
        1 => hostile().prop_map(Deed::Paste),
        1 => (mouse(), 0..500u16, 0..200u16).prop_map(|(kind, x, y)| Deed::Mouse(kind, x, y)),
        2 => size().prop_map(|(width, height)| Deed::Resize(width, height)),
        1 => Just(Deed::Frames),
    ]
}

/// A key of the table, as the terminal reports it.
fn press_named(app: &mut App, name: &str) {
    let (modifiers, plain) = name.strip_prefix("ctrl-").map_or((KeyModifiers::NONE, name), |rest| (KeyModifiers::CONTROL, rest));
    let code = match plain {
        "space" => KeyCode::Char(' '),
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        plain => KeyCode::Char(plain.chars().next().unwrap()),
    };
    press_safely(app, code, modifiers);
}

/// Nothing here writes files into the directory that the tests run in.
fn press_safely(app: &mut App, code: KeyCode, modifiers: KeyModifiers) {
    let writes = matches!(&app.open, Open::Command(line) if ["ex", "sh"].iter().any(|name| line.text().trim_start().starts_with(name)));
    let code = if writes && code == KeyCode::Enter { KeyCode::Esc } else { code };
    press(app, code, modifiers);
}

fn perform(app: &mut App, deed: &Deed) {
    match deed {
        Deed::Bound(action, key) => {
            let keys = ACTIONS[*action].keys;
            for name in keys.get(key % keys.len().max(1)).into_iter().flat_map(|k| k.split(' ')) {
                press_named(app, name);
            }
        }
        Deed::Type(text) => text.chars().for_each(|c| press_safely(app, KeyCode::Char(c), KeyModifiers::NONE)),
        Deed::Press(code, modifiers) => press_safely(app, *code, *modifiers),
        Deed::Paste(text) => app.incoming(Incoming::Terminal(TerminalEvent::Paste(text.clone()))),
        Deed::Mouse(kind, x, y) => point_at(app, *kind, *x, *y),
        Deed::Resize(width, height) => app.area = Rect::new(0, 0, *width, *height),
        Deed::Frames => {
            app.take_frames().unwrap();
        }
    }
    assert_eq!(app.picture(app.area).area, app.area);
    // It was let out; it goes on for the sake of what comes next.
    app.ended = None;
}

/// Escape a few times, then `q` and `y`: out of everything.
fn leave(app: &mut App) {
    for _ in 0..6 {
        press(app, KeyCode::Esc, KeyModifiers::NONE);
    }
    assert_eq!(app.open, Open::Nothing);
    type_keys(app, "q");
    if app.ended.is_none() {
        type_keys(app, "y");
    }
    assert_eq!(app.ended, Some(Ended::Quit), "{:?} {}", app.open, app.notice);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_breaks_a_live_screen(deeds in prop::collection::vec(deed(), 1..60)) {
        let directory = tempfile::tempdir().unwrap();
        let (mut app, _inbox) = live((120, 36));
        app.options.shots = directory.path().to_owned();
        deeds.iter().for_each(|deed| perform(&mut app, deed));
        leave(&mut app);
    }

    #[test]
    fn nothing_breaks_a_replay(deeds in prop::collection::vec(deed(), 1..60)) {
        let directory = tempfile::tempdir().unwrap();
        let mut app = replay((80, 24));
        app.options.shots = directory.path().to_owned();
        deeds.iter().for_each(|deed| perform(&mut app, deed));
        leave(&mut app);
    }
}
