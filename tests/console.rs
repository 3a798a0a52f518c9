//! The console in a terminal of its own: what it writes, and that it gives the terminal back whatever ends it.

#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The longest that anything here may take: a wait, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

fn parser(rows: u16, columns: u16) -> vt100::Parser {
    let size = |n| std::num::NonZero::new(n).unwrap();
    vt100::Parser::new(size(rows), size(columns), 0)
}

struct Console {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    output: Arc<Mutex<Vec<u8>>>,
    /// Ask the reader to let go of the terminal when it next reads something.
    let_go: Arc<AtomicBool>,
    home: Arc<tempfile::TempDir>,
}

impl Console {
    /// `pilothouse ARGS` on a terminal of `columns` x `rows`, with a home of its own.
    fn start(arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_at(Arc::new(tempfile::tempdir().unwrap()), arguments, columns, rows)
    }

    fn start_at(home: Arc<tempfile::TempDir>, arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(home, arguments, &[], columns, rows)
    }

    fn start_with(home: Arc<tempfile::TempDir>, arguments: &[&str], environment: &[(&str, &str)], columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows, cols: columns, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_pilothouse"));
        command.args(arguments);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("HOME", home.path());
        command.cwd(home.path());
        environment.iter().for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let output = Arc::new(Mutex::new(Vec::new()));
        let let_go = Arc::new(AtomicBool::new(false));
        let (sink, stop) = (output.clone(), let_go.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                sink.lock().unwrap().extend_from_slice(&bytes[..n]);
                if stop.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        Self { child, master: Some(pair.master), writer: Some(writer), output, let_go, home }
    }

    fn output(&self) -> Vec<u8> {
        self.output.lock().unwrap().clone()
    }

    fn screen(&self, columns: u16, rows: u16) -> String {
        let mut parser = parser(rows, columns);
        parser.process(&self.output());
        parser.screen().contents()
    }

    fn until(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < PATIENCE, "never: {what}; screen:\n{}", self.screen(100, 30));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn until_shown(&self, text: &str) {
        self.until(text, |c| c.screen(100, 30).contains(text));
    }

    fn keys(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.process_id().unwrap() as i32).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end; whether it was a good one.
    fn ended(&mut self) -> bool {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            assert!(begin.elapsed() < PATIENCE, "it never ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The alternate screen was left and the cursor is back.
    fn assert_given_back(&self) {
        self.until("the terminal is given back", |c| {
            let mut parser = parser(30, 100);
            parser.process(&c.output());
            let screen = parser.screen();
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
        });
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // It has ended already, except where a test failed.
        let _ = self.child.kill();
    }
}

fn live() -> Console {
    let console = Console::start(&QUIET, 100, 30);
    console.until_shown("LIVE");
    console
}

/// Where the cursor is behind the character that was written to find out is answered here before it is asked.
#[test]
fn the_width_of_ambiguous_characters_is_asked_of_the_terminal() {
    for (column, frame) in [(2, true), (3, false)] {
        let mut console = Console::start(&QUIET, 100, 30);
        console.keys(&format!("\x1b[1;{column}R"));
        console.until_shown("LIVE");
        console.until("a frame", |c| c.screen(100, 30).contains('\u{2510}') == frame && c.screen(100, 30).contains("Reward"));
        // The answer was no key.
        console.keys("?");
        console.until_shown("Keys and commands");
    }
}

/// The picture comes, nothing of the answer is a key, and a signal gives the terminal back.
#[test]
fn an_absurd_or_torn_answer_holds_nothing_up() {
    for answer in ["\x1b[99999;99999R", "\x1b[18446744073709551616;1R", "\x1b[1;2", "\x1b[R", "\x1b"] {
        let mut console = Console::start(&QUIET, 100, 30);
        console.keys(answer);
        console.until_shown("LIVE");
        console.until("the run goes on", |c| c.screen(100, 30).contains("ep 1"));
        assert!(!console.screen(100, 30).contains("PAUSED"), "{answer:?}");
        console.signal(rustix::process::Signal::TERM);
        console.ended();
        console.assert_given_back();
    }
}

#[test]
fn space_pauses_help_opens_and_quitting_asks_first() {
    let mut console = live();
    console.keys(" ");
    console.until_shown("PAUSED");
    console.keys("?");
    console.until_shown("Keys and commands");
    console.keys("\x1b");
    console.until("help closes", |c| !c.screen(100, 30).contains("Keys and commands"));
    console.keys("q");
    console.until_shown("Quitting ends this run");
    console.keys("n");
    console.until_shown("the run goes on");
    console.keys("qy");
    assert!(console.ended());
    console.assert_given_back();
}

#[test]
fn a_paste_triggers_nothing() {
    let mut console = live();
    console.keys("\x1b[200~qy q\x1b[201~");
    console.until_shown("pasted text is not taken as keys");
    assert!(console.child.try_wait().unwrap().is_none());
    console.keys("\x03");
    console.until_shown("Quitting ends this run");
    console.keys("\x03");
    assert!(console.ended());
}

#[test]
fn signals_give_the_terminal_back() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        let mut console = live();
        console.signal(signal);
        console.ended();
        console.assert_given_back();
    }
}

#[test]
fn a_stop_gives_the_terminal_back_and_continuing_paints_again() {
    let mut console = live();
    console.keys("\x1a");
    console.assert_given_back();
    let before = console.output().len();
    console.signal(rustix::process::Signal::CONT);
    console.until("it paints again", |c| {
        let output = c.output();
        output.len() > before && {
            let mut parser = parser(30, 100);
            parser.process(&output);
            parser.screen().alternate_screen() && parser.screen().contents().contains("LIVE")
        }
    });
    console.keys("qy");
    assert!(console.ended());
    console.assert_given_back();
}

#[test]
fn a_terminal_that_goes_away_ends_the_console() {
    let mut console = live();
    console.let_go.store(true, Ordering::SeqCst);
    console.keys("?");
    console.writer = None;
    console.master = None;
    console.ended();
}

/// Seconds of processor time that a process has used.
fn processor_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |n: usize| fields.get(n).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

#[cfg(target_os = "linux")]
#[test]
fn a_dead_terminal_ends_a_paused_console_without_a_spin() {
    let mut console = live();
    console.keys(" ");
    console.until_shown("PAUSED");
    let pid = console.child.process_id().unwrap();
    console.let_go.store(true, Ordering::SeqCst);
    console.keys("?");
    let (used, begin) = (processor_seconds(pid), Instant::now());
    console.writer = None;
    console.master = None;
    let mut last = used;
    while console.child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < PATIENCE, "it never ended");
        last = last.max(processor_seconds(pid));
        std::thread::sleep(Duration::from_millis(10));
    }
    // Not the time that passed, which a busy machine stretches: work that was done.
    assert!(last - used < 0.5, "{} s of processor time", last - used);
}

#[test]
fn a_click_focuses_and_no_mouse_leaves_the_mouse_alone() {
    let console_with = |flags: &[&str]| {
        let mut arguments = vec!["run", "--agent", "heuristic", "--seed", "7", "--no-record"];
        arguments.extend(flags);
        let console = Console::start(&arguments, 100, 30);
        console.until_shown("LIVE");
        console
    };
    let has = |console: &Console, escape: &[u8]| console.output().windows(escape.len()).any(|w| w == escape);
    let mut console = console_with(&[]);
    assert!(has(&console, b"\x1b[?1000h") && has(&console, b"\x1b[?1006h"));
    assert!(!has(&console, b"\x1b[?1003h"), "movements are nobody's business");
    console.until_shown("┏━ 1 Thought chain ");
    console.keys("\x1b[<0;80;5M\x1b[<0;80;5m");
    console.until_shown("┏━ 2 Reward ");
    console.keys("qy");
    assert!(console.ended());
    let mut console = console_with(&["--no-mouse"]);
    assert!(!has(&console, b"\x1b[?1000h"));
    console.keys("qy");
    assert!(console.ended());
}

const QUIET: [&str; 6] = ["run", "--agent", "heuristic", "--seed", "7", "--no-record"];

#[test]
fn the_screen_is_remembered_and_a_broken_memory_is_told() {
    let mut console = live();
    console.keys("3f");
    console.until("the tools fill the screen", |c| c.screen(100, 30).contains("3 Tools") && !c.screen(100, 30).contains("1 Thought"));
    console.keys("qy");
    assert!(console.ended());
    let home = console.home.clone();
    let mut again = Console::start_at(home.clone(), &QUIET, 100, 30);
    again.until("the tools fill the screen again", |c| c.screen(100, 30).contains("3 Tools"));
    assert!(!again.screen(100, 30).contains("1 Thought"));
    again.keys("qy");
    assert!(again.ended());
    let memory = home.path().join(".local/state/pilothouse/screen.ron");
    std::fs::write(&memory, "(version: 99)").unwrap();
    let mut fresh = Console::start_at(home, &QUIET, 100, 30);
    fresh.until_shown("is ignored");
    fresh.keys("qy");
    assert!(fresh.ended());
}

#[test]
fn a_copy_goes_to_the_terminal_and_an_export_to_a_new_file() {
    let mut console = live();
    console.until_shown("waited 15 s");
    console.keys("y");
    console.until("a copy", |c| String::from_utf8_lossy(&c.output()).contains("\x1b]52;c;"));
    console.until_shown("copied a row of Thought chain");
    for says in ["wrote ", "is there already"] {
        console.keys(":export json chain.jsonl\r");
        console.until_shown(says);
    }
    let rows = std::fs::read_to_string(console.home.path().join("chain.jsonl")).unwrap();
    assert!(rows.lines().all(|line| line.starts_with("{\"seq\"")), "{rows}");
    console.keys("qy");
    assert!(console.ended());
}

/// A paused run writes nothing: samples of the machine and evaluations of rules move digits, and nobody asked for those.
#[test]
fn a_pause_costs_no_bytes() {
    let often = ["--set", "telemetry.interval_ms=100", "--set", "alerts.interval_ms=100"];
    let mut console = Console::start(&[&QUIET[..], &often].concat(), 100, 30);
    console.until_shown("LIVE");
    console.keys(" ");
    console.until_shown("PAUSED");
    // What was on its way when it paused.
    std::thread::sleep(Duration::from_secs(2));
    let before = console.output().len();
    std::thread::sleep(Duration::from_secs(5));
    let written = console.output().len() - before;
    assert_eq!(written, 0, "{written} bytes in 5 s, about 50 samples and as many evaluations");
    console.keys("4");
    console.until_shown("still while paused");
    console.keys("qy");
    assert!(console.ended());
}

/// Everything that is written is printable text or one of these: no escape that came from elsewhere.
#[test]
fn only_our_own_escapes_are_written() {
    let mut console = live();
    console.keys("?");
    console.until_shown("Keys and commands");
    console.keys("\x1b");
    console.until("help closes", |c| !c.screen(100, 30).contains("Keys and commands"));
    console.keys("qy");
    console.ended();
    console.assert_given_back();
    let output = String::from_utf8(console.output()).unwrap();
    for (at, _) in output.match_indices('\x1b') {
        let rest = &output[at + 1..];
        // The question for the background, asked once, and how it ends.
        if rest.starts_with("]11;?\u{1b}\\") || rest.starts_with('\\') {
            continue;
        }
        let body = rest.strip_prefix('[').unwrap_or_else(|| panic!("no control sequence: {:?}", &rest[..8.min(rest.len())]));
        let end = body.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        let (parameters, last) = (&body[..end], &body[end..=end]);
        let known = match last {
            "m" | "H" => parameters.chars().all(|c| c.is_ascii_digit() || c == ';'),
            "J" => parameters == "2",
            // Along a row, and the question where the cursor is, asked once at the start.
            "C" => parameters.chars().all(|c| c.is_ascii_digit()),
            "n" => parameters == "6",
            "h" | "l" => ["?1049", "?25", "?2004", "?2026", "?1000", "?1002", "?1003", "?1006", "?1015"].contains(&parameters),
            _ => false,
        };
        assert!(known, "{parameters}{last}");
    }
    assert!(!output.contains(['\u{7}', '\u{9b}', '\u{202e}']));
}

/// A terminal that takes nothing any more, such as one that was stopped by ctrl-s: a signal ends the console all the same.
#[test]
fn a_signal_ends_a_console_whose_terminal_takes_nothing() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
        let mut console = live();
        // The reader stops at the next byte; pages of help fill what the kernel holds for it.
        console.let_go.store(true, Ordering::SeqCst);
        for _ in 0..40 {
            console.keys("?\x0c\x1b[6~\x0c\x1b");
            std::thread::sleep(Duration::from_millis(30));
        }
        let begin = Instant::now();
        console.signal(signal);
        console.ended();
        assert!(begin.elapsed() < PATIENCE / 6, "{:?}", begin.elapsed());
    }
}

#[test]
fn a_light_terminal_gets_the_light_theme_and_its_answer_is_no_key() {
    let mut console = live();
    console.until("the question", |c| c.output().windows(7).any(|w| w == b"\x1b]11;?\x1b"));
    // In pieces, as over a slow link.
    for piece in ["\x1b]11;rg", "b:ffff/ff", "ff/ffff\x1b\\"] {
        console.keys(piece);
        std::thread::sleep(Duration::from_millis(200));
    }
    // The light theme's background, of 256 colours.
    console.until("light", |c| String::from_utf8_lossy(&c.output()).contains("48;5;231m"));
    assert!(console.screen(100, 30).contains("LIVE") && !console.screen(100, 30).contains("does nothing"), "{}", console.screen(100, 30));
    console.keys("qy");
    assert!(console.ended());
}

#[test]
fn a_mistake_in_the_keys_ends_the_start_and_names_the_line() {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let directory = home.path().join(".config/pilothouse");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("keys.ron"), "( bind: {\n  \"lane\": [\"f\"],\n} )").unwrap();
    let mut console = Console::start_at(home.clone(), &QUIET, 100, 30);
    assert!(!console.ended());
    console.until("what is wrong", |c| String::from_utf8_lossy(&c.output()).contains("keys.ron:2:"));
    assert!(!String::from_utf8_lossy(&console.output()).contains("\x1b[?1049h"), "before the screen is taken");
    std::fs::write(directory.join("keys.ron"), "( bind: {\n  \"lane\": [\"f5\"],\n} )").unwrap();
    let mut console = Console::start_at(home, &QUIET, 100, 30);
    console.until_shown("LIVE");
    console.keys("t");
    console.until_shown("t does nothing");
    console.keys("qy");
    assert!(console.ended());
}

/// A console with an editor of its own: a script, which gets the file as its last argument.
fn with_editor(script: &str) -> Console {
    use std::os::unix::fs::PermissionsExt;
    let home = Arc::new(tempfile::tempdir().unwrap());
    let path = home.path().join("the editor");
    std::fs::write(&path, format!("#!/bin/sh\ncd '{}'\n{script}\n", home.path().display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let editor = format!("'{}' -x", path.display());
    let mut console = Console::start_with(home, &QUIET, &[("EDITOR", &editor)], 100, 30);
    console.until_shown("LIVE");
    console.keys(" ");
    console.until_shown("PAUSED");
    // Before the call of a decision, wherever the run paused.
    while !console.screen(100, 30).contains("Override step") {
        console.keys("o");
        console.until("an answer", |c| ["Override step", "nothing is pending"].iter().any(|a| c.screen(100, 30).contains(a)));
        if console.screen(100, 30).contains("nothing is pending") {
            console.keys(">");
            console.until("the next phase", |c| !c.screen(100, 30).contains("nothing is pending") && c.screen(100, 30).contains("PAUSED"));
        }
    }
    console
}

#[test]
fn an_outside_editor_gets_the_terminal_and_what_it_leaves_is_sent() {
    let mut console = with_editor(
        "stat -c '%a' \"$2\" >mode; stty -a <&1 >terminal; cp \"$2\" seen; read word; echo $word >word
         if [ -e bad ]; then echo '{\"action\": {\"tool\": \"wait\"}, \"result\": \"told otherwise\"}' >\"$2\"; else touch bad; echo '{\"action\": {' >\"$2\"; fi",
    );
    let home = console.home.clone();
    let file = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap_or_default();
    for (word, told) in [("one", "line 1: EOF"), ("two", "read; enter sends it")] {
        console.keys("\x0f");
        console.assert_given_back();
        // What is typed there is the editor's, all of it.
        console.keys(&format!("q{word}\n"));
        console.until_shown(told);
        console.until("what was typed", |_| file("word") == format!("q{word}\n"));
        assert_eq!(file("mode"), "600\n");
        assert!(file("terminal").contains(" icanon") && file("terminal").contains(" echo "), "{}", file("terminal"));
    }
    assert!(file("seen").starts_with("// ! line 2: EOF"), "{}", file("seen"));
    let left = std::fs::read_dir(home.path().join(".local/state/pilothouse")).unwrap();
    assert!(!left.filter_map(Result::ok).any(|e| e.file_name().to_string_lossy().starts_with("decision")), "it is gone");
    console.keys("\r");
    console.until_shown("does that instead");
    console.keys(".");
    console.until_shown("told otherwise");
    console.keys("qy");
    assert!(console.ended());
    console.assert_given_back();
}

#[test]
fn an_editor_that_fails_is_told_and_a_signal_ends_both() {
    let mut console = with_editor("if [ -e once ]; then echo $$ >pid; exec sleep 100; fi; touch once; exit 3");
    console.keys("\x0f");
    console.until_shown("nothing is changed");
    let pid = console.home.path().join("pid");
    console.keys("\x0f");
    console.until("the editor runs", |_| std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')));
    // An interrupt is for the editor alone, and this one takes none of it.
    console.signal(rustix::process::Signal::INT);
    console.signal(rustix::process::Signal::TERM);
    console.ended();
    console.assert_given_back();
    let number: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let editor = rustix::process::Pid::from_raw(number).unwrap();
    console.until("the editor ends too", |_| rustix::process::test_kill_process(editor).is_err());
}

#[test]
fn a_fork_from_a_recording_goes_on_live_is_recorded_and_is_its_parent_where_nothing_was_changed() {
    let recording = format!("{}/recordings/failure.jsonl", env!("CARGO_MANIFEST_DIR"));
    let mut console = Console::start(&["replay", &recording], 100, 30);
    console.until_shown("REPLAY");
    console.keys(":fork at 0:1/9\r");
    console.until_shown("there are 1 to 7");
    console.keys(":fork at 0:1/3\r");
    console.until_shown("PAUSED");
    console.until_shown("fork");
    console.keys(":pace max\r:resume\r");
    console.until("the branch is played", |c| c.screen(100, 30).contains("PAUSED") && c.screen(100, 30).contains("ep 1 7/120"));
    console.keys("qy");
    assert!(console.ended());
    let written: Vec<_> = std::fs::read_dir(console.home.path().join(".local/state/pilothouse/recordings")).unwrap().collect();
    let [Ok(entry)] = &written[..] else { panic!("{written:?}") };
    let recorded = entry.path().display().to_string();
    let code = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        let done = command.args(arguments).env("HOME", console.home.path()).output().unwrap();
        assert_eq!(
            done.status.code(),
            Some(0),
            "{arguments:?}: {} {}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
    };
    code(&["replay", &recorded, "--verify=policy"]);
    code(&["diff", &format!("{recorded}#0:1"), "1:1"]);
    // The episode that was played again is the recorded one.
    code(&["diff", &format!("{recording}#0:1"), &format!("{recorded}#0:1")]);
}
