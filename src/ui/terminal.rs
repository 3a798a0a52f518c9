//! The terminal itself: taking it over, giving it back whatever happens, and what comes from it.

use super::output::{self, Output};
use super::replies::{Came, Replies};
use crossterm::event::{self, Event as TerminalEvent};
use crossterm::{cursor, execute, terminal};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What reaches the screen's loop.
#[derive(Clone, Debug)]
pub enum Incoming {
    Terminal(TerminalEvent),
    /// SIGTERM, SIGHUP or SIGINT.
    Ended(i32),
    /// Somebody else's SIGTSTP: give the terminal back, then stop.
    Suspend,
    /// SIGCONT: what the terminal shows and how it is set is not known any more.
    Continued,
    /// The terminal said whether its background is light.
    Background {
        is_light: bool,
    },
    /// The terminal is gone.
    HungUp,
}

/// Whether the terminal is ours, so that it is given back exactly once.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Longest time until a hang-up or a resize is seen.
const WATCH: Duration = Duration::from_millis(50);

/// Clicks and the wheel, in the form that knows every column. Not each movement, which is what crossterm's own command asks for.
const MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1006h";

/// Columns and rows; unset where the terminal is gone. crossterm would start another program to find out.
pub fn size() -> Option<(u16, u16)> {
    size_of(io::stdout())
}

fn size_of(terminal: impl std::os::fd::AsFd) -> Option<(u16, u16)> {
    rustix::termios::tcgetwinsize(terminal).ok().map(|size| (size.ws_col, size.ws_row))
}

/// Whether the terminal is ours. It is not after a panic on any thread.
pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Holds the terminal; dropping it gives it back.
pub struct Taken {
    mouse: bool,
}

impl Taken {
    pub fn take(mouse: bool) -> io::Result<Self> {
        if !io::stdout().is_terminal() {
            return Err(io::Error::other("standard output is not a terminal; use --headless"));
        }
        // NO_COLOR makes crossterm swallow reverse and bold too; our theme has no colours then.
        crossterm::style::force_color_output(true);
        let taken = Self { mouse };
        taken.enter()?;
        Ok(taken)
    }

    pub fn enter(&self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let mut bytes = Vec::new();
        execute!(bytes, terminal::EnterAlternateScreen, cursor::Hide, event::EnableBracketedPaste)?;
        if self.mouse {
            bytes.extend_from_slice(MOUSE);
        }
        Output::stdout().write_all(&bytes)
    }

    /// Back to the shell until it continues us.
    pub fn suspend(&self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        self.enter()
    }

    /// Takes the terminal again after somebody else may have set it otherwise.
    pub fn retake(&self) -> io::Result<()> {
        give_back();
        self.enter()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, if it is ours. Safe to call from a panic.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut bytes = Vec::new();
        let written =
            execute!(bytes, event::DisableMouseCapture, event::DisableBracketedPaste, cursor::Show, terminal::LeaveAlternateScreen);
        // A terminal that is gone, or takes nothing, can't be given back.
        let _ = written.and_then(|()| Output::stdout().briefly().write_all(&bytes));
        let _ = terminal::disable_raw_mode();
    }
}

/// At the left end of a line: a character whose width is ambiguous, and the question where the cursor is now (CPR).
const MEASURE: &[u8] = "\x1b[H\u{a7}\x1b[6n".as_bytes();
/// Longest wait for an answer to begin: it comes in a round trip.
const MEASURE_WAIT: Duration = Duration::from_millis(120);
/// Longest wait for the rest of an answer that has begun.
const MEASURE_REST: Duration = Duration::from_millis(900);
/// Bytes that are waited for: an answer, and keys that were pressed meanwhile.
const MEASURE_BYTES_MAX: usize = 1024;

/// Columns that the terminal gives characters of ambiguous width, unset where it does not say; and the keys that came meanwhile. To be
/// asked before anything else reads from it; the first picture covers what was written.
pub fn ask_ambiguous_width() -> (Option<u8>, Vec<TerminalEvent>) {
    if Output::stdout().write_all(MEASURE).is_err() {
        return (None, Vec::new());
    }
    let begun = Instant::now();
    let mut bytes = Vec::new();
    loop {
        let answer = Answer::of(&bytes);
        let until = if answer.is_begun { MEASURE_REST } else { MEASURE_WAIT };
        let left = until.saturating_sub(begun.elapsed());
        if answer.column.is_some() || left.is_zero() || bytes.len() > MEASURE_BYTES_MAX || !has_input(left) {
            return (answer.column.and_then(|column| columns_before(column.saturating_sub(1))), answer.keys);
        }
        let mut more = [0; 256];
        match rustix::io::read(io::stdin(), &mut more) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&more[..count]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Ok(_) | Err(_) => return (None, answer.keys),
        }
    }
}

/// What bytes from the terminal say while an answer is waited for.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    /// Of the cursor, from 1.
    column: Option<u16>,
    /// A control sequence has begun and not ended.
    is_begun: bool,
    /// Plain characters beside it.
    keys: Vec<TerminalEvent>,
}

impl Answer {
    /// `CSI row ; column R` among keys (ECMA-48, 8.3.14). Other control sequences, whole or torn, become nothing.
    fn of(bytes: &[u8]) -> Self {
        let mut answer = Self::default();
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            rest = after;
            match (first, after) {
                (0x1b, [b'[', body @ ..]) => {
                    let Some(end) = body.iter().position(|b| (0x40..=0x7e).contains(b)) else {
                        answer.is_begun = true;
                        return answer;
                    };
                    if body[end] == b'R' && answer.column.is_none() {
                        let numbers = std::str::from_utf8(&body[..end]).ok().and_then(|text| text.split_once(';'));
                        answer.column = numbers.map(|(_, column)| column.parse().unwrap_or(u16::MAX));
                    }
                    rest = &body[end + 1..];
                }
                (0x1b, []) => answer.is_begun = true,
                (b' '..=b'~', _) => {
                    let key = event::KeyEvent::new(event::KeyCode::Char(char::from(*first)), event::KeyModifiers::NONE);
                    answer.keys.push(TerminalEvent::Key(key));
                }
                (_, _) => {}
            }
        }
        answer
    }
}

/// Columns of what stands between the left end, which is 0, and the cursor.
fn columns_before(column: u16) -> Option<u8> {
    u8::try_from(column).ok().filter(|columns| (1..=2).contains(columns))
}

/// Whether something comes from the terminal within `wait`, which is below a second.
fn has_input(wait: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
    matches!(poll(&mut fds, Some(&timeout)), Ok(n) if n > 0) && fds[0].revents().contains(PollFlags::IN)
}

/// A panic gives the terminal back before it prints.
pub fn restore_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        before(info);
    }));
}

/// Reads the terminal on a thread of its own. It watches for a hang-up itself, for crossterm's loop spins when the terminal dies.
/// `replies` knows what the terminal may answer among the keys.
pub fn read_input(tx: SyncSender<Incoming>, mut replies: Replies) -> io::Result<()> {
    std::thread::Builder::new().name("terminal".into()).spawn(move || {
        while let Ok(alive) = is_alive(WATCH) {
            if !alive {
                break;
            }
            // Held only while it is read: what is handed on may have to wait for the loop, which may wait for this.
            while let Some(event) = next_event() {
                if !replies.take(event, Instant::now()).into_iter().all(|came| hand_on(&tx, came)) {
                    return;
                }
            }
            if !replies.idle(Instant::now()).into_iter().all(|came| hand_on(&tx, came)) {
                return;
            }
        }
        let _ = tx.send(Incoming::HungUp);
    })?;
    Ok(())
}

/// Who holds it reads the terminal.
static INPUT: Mutex<()> = Mutex::new(());
/// Another program has the terminal: an interrupt from its keys is meant for that.
static LENT: AtomicBool = AtomicBool::new(false);

/// Nothing is read from the terminal until it is dropped.
pub struct InputHeld {
    _held: MutexGuard<'static, ()>,
}

pub fn input_held() -> InputHeld {
    let held = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
    LENT.store(true, Ordering::SeqCst);
    InputHeld { _held: held }
}

impl Drop for InputHeld {
    fn drop(&mut self) {
        LENT.store(false, Ordering::SeqCst);
    }
}

fn next_event() -> Option<TerminalEvent> {
    let _held = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
    matches!(event::poll(Duration::ZERO), Ok(true)).then(|| event::read().ok()).flatten()
}

/// False where nobody takes it any more.
fn hand_on(tx: &SyncSender<Incoming>, came: Came) -> bool {
    let incoming = match came {
        Came::Event(event) => Incoming::Terminal(event),
        Came::Background { is_light } => Incoming::Background { is_light },
    };
    tx.send(incoming).is_ok()
}

/// Waits for input for at most `wait`, which is below a second; false when the terminal has hung up.
pub fn is_alive(wait: Duration) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => Ok(!fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(e) => Err(e.into()),
    }
}

/// Signals that end, stop or continue the screen in good order.
pub fn watch_signals(tx: SyncSender<Incoming>) -> io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let incoming = match signal {
                SIGTSTP => Incoming::Suspend,
                SIGCONT => Incoming::Continued,
                SIGINT | SIGQUIT if LENT.load(Ordering::SeqCst) => continue,
                other => {
                    // The loop may be caught in a write that nobody takes.
                    output::end(other);
                    Incoming::Ended(other)
                }
            };
            if tx.send(incoming).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portable_pty::{PtySize, native_pty_system};

    #[test]
    fn an_answer_is_found_among_keys_whole_torn_and_absurd() {
        let typed = |answer: &Answer| {
            let char = |event: &TerminalEvent| match event {
                TerminalEvent::Key(event::KeyEvent { code: event::KeyCode::Char(c), .. }) => Some(*c),
                _ => None,
            };
            answer.keys.iter().filter_map(char).collect::<String>()
        };
        for (bytes, column, is_begun, keys) in [
            (&b"\x1b[1;2R"[..], Some(2), false, ""),
            (b"g\x1b[1;3Rt", Some(3), false, "gt"),
            (b"\x1b[1;2", None, true, ""),
            (b"\x1b", None, true, ""),
            (b"\x1b[99999;99999R", Some(u16::MAX), false, ""),
            (b"\x1b[18446744073709551616;1R", Some(1), false, ""),
            (b"\x1b[R", None, false, ""),
            (b"\x1b[A\x1b[<0;3;3M\x1b[1;2R", Some(2), false, ""),
            (b"\xff\x00x", None, false, "x"),
        ] {
            let answer = Answer::of(bytes);
            assert_eq!((answer.column, answer.is_begun, typed(&answer).as_str()), (column, is_begun, keys), "{bytes:?}");
        }
    }

    #[test]
    fn only_one_or_two_columns_are_a_width() {
        assert_eq!([0, 1, 2, 3, 500].map(columns_before), [None, Some(1), Some(2), None, None]);
    }

    #[test]
    fn a_terminal_that_is_gone_has_no_size() {
        let pair = native_pty_system().openpty(PtySize { rows: 30, cols: 100, ..PtySize::default() }).unwrap();
        let name = pair.master.tty_name().unwrap();
        let terminal = std::fs::File::open(name).unwrap();
        assert_eq!(size_of(&terminal), Some((100, 30)));
        drop((pair.master, pair.slave));
        assert_eq!(size_of(&terminal), None);
    }
}
