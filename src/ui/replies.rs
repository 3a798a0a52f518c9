//! What a terminal answers when it is asked for its background. The answer comes among the keys, at once, late or in pieces, and
//! crossterm takes it for keys: alt-], then its characters, then alt-\ or ctrl-g. So it is picked out of them here, and never becomes a
//! key press. Other answers, to questions of programs that ran here before or of tmux, come in the same way and are passed over: a string that
//! begins with `ESC ]`, `ESC P`, `ESC _`, `ESC ^` or `ESC X` and comes in one go is no typing.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// Asks for the background's colour (OSC 11).
pub const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";

/// How the answer begins, behind `ESC ]`.
const BEGINS: &str = "11;rgb";
/// Longer is no answer.
const LENGTH_MAX: usize = 64;
/// So long a lone escape is held back, while an answer may come.
const ESCAPE: Duration = Duration::from_millis(40);
/// So long after the question a beginning that may be one is held back until the next key.
const EXPECTED: Duration = Duration::from_secs(10);
/// So long the rest of an answer that has begun may take.
const REST: Duration = Duration::from_secs(5);

/// A key that comes later than this behind the one before does not belong to a string of the terminal.
const GAP: Duration = Duration::from_millis(100);
/// Longer is no string of a terminal.
const STRING_MAX: usize = 1 << 20;

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    Event(Event),
    /// Whether the background is light.
    Background {
        is_light: bool,
    },
}

#[derive(Debug)]
pub struct Replies {
    asked: Option<Instant>,
    /// A lone escape, which may begin an answer.
    escape: Option<Instant>,
    /// An escape that was let go at last; `]` right behind it may still begin an answer.
    escaped: bool,
    reading: Option<Reading>,
    passing: Option<Passing>,
}

/// A string that is passed over.
#[derive(Debug)]
struct Passing {
    last: Instant,
    length: usize,
    /// The first half of its terminator came.
    closing: bool,
}

/// An answer, as far as it has come.
#[derive(Debug)]
struct Reading {
    held: Vec<Event>,
    text: String,
    /// The first half of its terminator came.
    closing: bool,
    last: Instant,
}

/// A key, as far as it matters here.
enum Sign {
    Plain(char),
    Alt(char),
    Bell,
    Escape,
    Other,
}

fn sign(key: &KeyEvent) -> Sign {
    let alone = KeyModifiers::NONE | KeyModifiers::SHIFT;
    match (key.code, key.modifiers) {
        (KeyCode::Char('g'), KeyModifiers::CONTROL) => Sign::Bell,
        (KeyCode::Char(c), modifiers) if (modifiers - KeyModifiers::SHIFT) == KeyModifiers::ALT => Sign::Alt(c),
        (KeyCode::Char(c), modifiers) if alone.contains(modifiers) => Sign::Plain(c),
        (KeyCode::Esc, KeyModifiers::NONE) => Sign::Escape,
        _ => Sign::Other,
    }
}

fn escape() -> Event {
    Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))
}

impl Replies {
    /// `asked` is when the question goes out, if it does.
    pub fn new(asked: Option<Instant>) -> Self {
        Self { asked, escape: None, escaped: false, reading: None, passing: None }
    }

    /// What an event comes to; nothing while it may be part of an answer.
    pub fn take(&mut self, event: Event, now: Instant) -> Vec<Came> {
        let Event::Key(key) = &event else { return vec![Came::Event(event)] };
        if key.kind == KeyEventKind::Release {
            return vec![Came::Event(event)];
        }
        let sign = sign(key);
        if self.passes_over(&sign, now) {
            return Vec::new();
        }
        if self.asked.is_none() {
            return vec![Came::Event(event)];
        }
        match self.reading.take() {
            Some(reading) => self.go_on(reading, &sign, event, now),
            None => self.begin(&sign, event, now),
        }
    }

    /// Whether a key belongs to a string that is passed over.
    fn passes_over(&mut self, sign: &Sign, now: Instant) -> bool {
        if let Some(mut passing) = self.passing.take_if(|_| true) {
            let is_late = now.saturating_duration_since(passing.last) > GAP || passing.length >= STRING_MAX;
            (passing.last, passing.length) = (now, passing.length + 1);
            match sign {
                Sign::Bell | Sign::Alt('\\') if !is_late => return true,
                Sign::Plain('\\') if passing.closing && !is_late => return true,
                Sign::Escape if !passing.closing && !is_late => {
                    passing.closing = true;
                    self.passing = Some(passing);
                    return true;
                }
                Sign::Plain(_) if !passing.closing && !is_late => {
                    self.passing = Some(passing);
                    return true;
                }
                Sign::Plain(_) | Sign::Alt(_) | Sign::Bell | Sign::Escape | Sign::Other => {}
            }
        }
        let begins = match sign {
            Sign::Alt('P' | '_' | '^' | 'X') => self.reading.is_none(),
            Sign::Alt(']') => self.asked.is_none(),
            Sign::Plain(_) | Sign::Alt(_) | Sign::Bell | Sign::Escape | Sign::Other => false,
        };
        if begins {
            self.pass(now);
        }
        begins
    }

    fn pass(&mut self, now: Instant) {
        self.passing = Some(Passing { last: now, length: 0, closing: false });
    }

    fn begin(&mut self, sign: &Sign, event: Event, now: Instant) -> Vec<Came> {
        let was_escape = self.escape.take().is_some();
        let after_escape = was_escape || std::mem::take(&mut self.escaped);
        let mut came = Vec::new();
        match sign {
            Sign::Alt(']') | Sign::Plain(']') if matches!(sign, Sign::Alt(_)) || after_escape => {
                let mut held = if was_escape { vec![escape()] } else { Vec::new() };
                held.push(event);
                self.reading = Some(Reading { held, text: String::new(), closing: false, last: now });
                return came;
            }
            Sign::Plain(_) | Sign::Alt(_) | Sign::Bell | Sign::Escape | Sign::Other => {}
        }
        if was_escape {
            came.push(Came::Event(escape()));
        }
        if matches!(sign, Sign::Escape) && self.is_expected(now) {
            self.escape = Some(now);
        } else {
            came.push(Came::Event(event));
        }
        came
    }

    fn go_on(&mut self, mut reading: Reading, sign: &Sign, event: Event, now: Instant) -> Vec<Came> {
        let has_begun = reading.text.starts_with(BEGINS);
        let in_one_go = now.saturating_duration_since(reading.last) <= GAP;
        reading.last = now;
        match sign {
            Sign::Plain('\\') if reading.closing => return self.answered(&reading.text),
            Sign::Bell | Sign::Alt('\\') if has_begun => return self.answered(&reading.text),
            Sign::Escape if has_begun => reading.closing = true,
            Sign::Plain(c) if c.is_ascii() && !reading.closing && reading.text.len() < LENGTH_MAX => {
                reading.text.push(*c);
                reading.held.push(event);
                if !(BEGINS.starts_with(&reading.text) || reading.text.starts_with(BEGINS)) {
                    // The answer to another question.
                    if in_one_go {
                        self.pass(now);
                        return Vec::new();
                    }
                    return reading.held.into_iter().map(Came::Event).collect();
                }
            }
            // Longer than any answer: the rest of it is no typing either.
            Sign::Plain(_) if has_begun && !reading.closing => {
                self.pass(now);
                return Vec::new();
            }
            Sign::Plain(_) | Sign::Alt(_) | Sign::Bell | Sign::Escape | Sign::Other => {
                // No answer after all, or a broken one: what had begun as one is no key.
                let held = if has_begun { Vec::new() } else { reading.held };
                return held.into_iter().chain([event]).map(Came::Event).collect();
            }
        }
        self.reading = Some(reading);
        Vec::new()
    }

    fn answered(&mut self, text: &str) -> Vec<Came> {
        is_light(text).map(|is_light| Came::Background { is_light }).into_iter().collect()
    }

    fn is_expected(&self, now: Instant) -> bool {
        self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < EXPECTED)
    }

    /// What is held back no longer when nothing comes.
    pub fn idle(&mut self, now: Instant) -> Vec<Came> {
        if self.escape.is_some_and(|since| now.saturating_duration_since(since) >= ESCAPE) {
            self.escape = None;
            self.escaped = true;
            return vec![Came::Event(escape())];
        }
        let waits = |r: &Reading| r.text.starts_with(BEGINS) && now.saturating_duration_since(r.last) < REST;
        let is_stale = self.reading.as_ref().is_some_and(|r| !waits(r) && !self.is_expected(now));
        match self.reading.take_if(|_| is_stale) {
            Some(reading) if !reading.text.starts_with(BEGINS) => reading.held.into_iter().map(Came::Event).collect(),
            Some(_) | None => Vec::new(),
        }
    }
}

/// Reads `11;rgb:RRRR/GGGG/BBBB`, of one to four digits each, and of `rgba` what is there of it.
fn is_light(text: &str) -> Option<bool> {
    let (_, values) = text.split_once(':')?;
    let share = |digits: &str| -> Option<f64> {
        let max = 16f64.powi(i32::try_from(digits.len()).ok().filter(|n| (1..=4).contains(n))?) - 1.0;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / max)
    };
    let mut parts = values.split('/').map(share);
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn plain(c: char) -> Event {
        key(KeyCode::Char(c), KeyModifiers::NONE)
    }

    /// The keys that crossterm makes of these bytes.
    fn keys(bytes: &str) -> Vec<Event> {
        let mut alt = false;
        let mut keys = Vec::new();
        for c in bytes.chars() {
            let modifiers = if std::mem::take(&mut alt) { KeyModifiers::ALT } else { KeyModifiers::NONE };
            match c {
                '\u{1b}' => alt = true,
                '\u{7}' => keys.push(key(KeyCode::Char('g'), KeyModifiers::CONTROL)),
                c => keys.push(key(KeyCode::Char(c), modifiers)),
            }
        }
        keys
    }

    fn feed(replies: &mut Replies, events: Vec<Event>, at: Instant) -> Vec<Came> {
        events.into_iter().flat_map(|e| replies.take(e, at)).collect()
    }

    #[test]
    fn an_answer_becomes_no_key_whole_late_and_in_pieces() {
        let start = Instant::now();
        let later = |ms| start + Duration::from_millis(ms);
        for (answer, light) in [
            ("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\", true),
            ("\u{1b}]11;rgb:1e1e/1E1E/2E2E\u{7}", false),
            ("\u{1b}]11;rgb:f/f/e\u{7}", true),
            ("\u{1b}]11;rgba:00/00/00/ff\u{1b}\\", false),
        ] {
            let expected = [Came::Background { is_light: light }];
            assert_eq!(feed(&mut Replies::new(Some(start)), keys(answer), later(1)), expected, "{answer:?}");
            assert_eq!(feed(&mut Replies::new(Some(start)), keys(answer), later(60_000)), expected, "a minute late");
            for cut in 1..answer.len() {
                let mut replies = Replies::new(Some(start));
                let (mut came, mut rest) = (Vec::new(), answer);
                for (piece, at) in [(&answer[..cut], 2_000), (&answer[cut..], 2_600)] {
                    // A read that ends in an escape makes it a key of its own.
                    let (body, alone) = piece.strip_suffix('\u{1b}').map_or((piece, false), |body| (body, true));
                    let mut events = keys(body);
                    events.extend(alone.then(escape));
                    came.extend(feed(&mut replies, events, later(at)));
                    came.extend(replies.idle(later(at + 100)));
                    rest = &rest[piece.len()..];
                }
                assert_eq!(rest, "");
                // All that may be seen of it is its first escape, where that came alone.
                came.retain(|c| *c != Came::Event(escape()));
                assert_eq!(came, expected, "{answer:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_answer_stays_keys() {
        let start = Instant::now();
        let mut replies = Replies::new(Some(start));
        let typed = keys("a]b11;");
        assert_eq!(feed(&mut replies, typed.clone(), start), typed.into_iter().map(Came::Event).collect::<Vec<_>>());
        // With time between them they are keys that somebody presses.
        let pressed = keys("\u{1b}]x");
        assert_eq!(replies.take(pressed[0].clone(), start), []);
        assert_eq!(replies.take(pressed[1].clone(), start + GAP * 2), pressed.into_iter().map(Came::Event).collect::<Vec<_>>());
        assert_eq!(replies.take(escape(), start), []);
        assert_eq!(replies.take(plain('q'), start), [Came::Event(escape()), Came::Event(plain('q'))]);
        assert_eq!(replies.take(escape(), start), []);
        assert_eq!(replies.idle(start + ESCAPE), [Came::Event(escape())]);
        // Long after the question nothing is held back for long.
        let late = start + EXPECTED;
        assert_eq!(replies.take(plain('x'), late), [Came::Event(plain('x'))]);
        assert_eq!(replies.take(escape(), late), [Came::Event(escape())]);
        assert_eq!(replies.take(keys("\u{1b}]").remove(0), late), []);
        assert_eq!(replies.idle(late), [Came::Event(keys("\u{1b}]").remove(0))]);
        // Where nothing was asked, nothing is held back.
        assert_eq!(Replies::new(None).take(escape(), start), [Came::Event(escape())]);
    }

    #[test]
    fn answers_to_questions_of_others_are_no_keys() {
        let start = Instant::now();
        for asked in [None, Some(start)] {
            for answer in [
                "\u{1b}P>|tmux 3.4\u{1b}\\",
                "\u{1b}]11;qqq\u{7}",
                "\u{1b}]52;c;cXVpdA==\u{1b}\\",
                "\u{1b}_Gi=31;OK\u{1b}\\",
                "\u{1b}]10;rgb:ffff/ffff/ffff\u{7}",
            ] {
                let mut replies = Replies::new(asked);
                assert_eq!(feed(&mut replies, keys(answer), start), [], "{answer:?}");
                assert_eq!(replies.take(plain('q'), start), [Came::Event(plain('q'))], "{answer:?}");
            }
            // One that never ends lets keys through as soon as somebody presses them.
            let mut replies = Replies::new(asked);
            feed(&mut replies, keys("\u{1b}Pqqq"), start);
            assert_eq!(replies.take(plain('q'), start + GAP * 2), [Came::Event(plain('q'))]);
        }
        // Two escapes lead out, however fast they come.
        let mut replies = Replies::new(None);
        feed(&mut replies, keys("\u{1b}Pqq"), start);
        assert_eq!(feed(&mut replies, vec![escape(), escape(), plain('q')], start), [Came::Event(escape()), Came::Event(plain('q'))]);
    }

    #[test]
    fn a_broken_answer_says_nothing_and_lets_keys_through() {
        let start = Instant::now();
        let mut replies = Replies::new(Some(start));
        let broken = format!("\u{1b}]11;rgb:{}", "f".repeat(100));
        let came = feed(&mut replies, keys(&broken), start);
        assert!(came.iter().all(|c| *c == Came::Event(plain('f'))) && came.len() < 50, "{}", came.len());
        assert_eq!(feed(&mut replies, keys("\u{1b}]11;rgb:zz/0/0\u{7}q"), start), [Came::Event(plain('q'))]);
        let up = key(KeyCode::Up, KeyModifiers::NONE);
        assert_eq!(feed(&mut replies, [keys("\u{1b}]11;rgb:ff"), vec![up.clone()]].concat(), start), [Came::Event(up)]);
    }
}
