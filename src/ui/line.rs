//! A line that is typed: text with a cursor, what could be meant, and the lines that were entered before.

use super::keymap::{is_modified, key_name};
use crossterm::event::{KeyCode, KeyEvent};
use unicode_segmentation::UnicodeSegmentation;

/// Most bytes of a line: more is no command, and a paste may hold anything.
const BYTES_MAX: usize = 4_096;
/// Lines that are remembered.
const HISTORY_MAX: usize = 200;

/// What a completion offers: where in the line it goes, and the words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    pub from: usize,
    pub words: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Line {
    text: String,
    /// Bytes before the cursor; always between two graphemes.
    cursor: usize,
    offer: Offer,
    /// The word of the offer that stands in the line.
    chosen: Option<usize>,
    /// The line of the history that stands here, from the newest on, and what was typed before.
    recalled: Option<(usize, String)>,
}

/// What is offered is no part of what was typed.
impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.cursor) == (&other.text, other.cursor)
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self { cursor: text.len(), text, ..Self::default() }
    }
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    More,
    Entered,
    Cancelled,
}

/// What was entered, newest last. It is kept in memory only.
#[derive(Debug, Default)]
pub struct History(Vec<String>);

impl History {
    pub fn push(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        self.0.retain(|known| known != line);
        self.0.push(line.to_owned());
        if self.0.len() > HISTORY_MAX {
            self.0.remove(0);
        }
    }

    fn back(&self, steps: usize) -> Option<&str> {
        let index = self.0.len().checked_sub(steps + 1)?;
        self.0.get(index).map(String::as_str)
    }
}

impl Line {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands before the cursor, and behind it.
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    pub fn offered(&self) -> (&[String], Option<usize>) {
        (&self.offer.words, self.chosen)
    }

    /// Where something can be completed: the text, with the cursor at its end.
    pub fn completable(&self) -> Option<&str> {
        (self.cursor == self.text.len() && self.chosen.is_none()).then_some(&self.text)
    }

    pub fn offer(&mut self, offer: Offer) {
        (self.offer, self.chosen) = (offer, None);
    }

    /// Puts in text that was typed or pasted; what would not be seen is left out.
    pub fn insert(&mut self, text: &str) {
        self.settle();
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.text.len() + c.len_utf8() > BYTES_MAX {
                break;
            }
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
        self.align();
    }

    /// The next word of the offer, or the one before. One word alone is taken for good.
    pub fn complete(&mut self, forward: bool) {
        let count = self.offer.words.len();
        if count == 0 {
            return;
        }
        let next = match (self.chosen, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        self.text.truncate(self.offer.from);
        self.text.push_str(&self.offer.words[next]);
        self.cursor = self.text.len();
        self.chosen = Some(next);
        if count == 1 {
            if !self.text.ends_with('/') {
                self.text.push(' ');
                self.cursor += 1;
            }
            self.settle();
        }
    }

    /// A modified letter is a command of the line, or nothing: alt-b must not write a b.
    pub fn key(&mut self, key: &KeyEvent, history: &History) -> Edit {
        match key_name(key).unwrap_or_default().as_str() {
            "enter" => return Edit::Entered,
            "esc" => return Edit::Cancelled,
            "tab" => {
                self.complete(true);
                return Edit::More;
            }
            "backtab" => {
                self.complete(false);
                return Edit::More;
            }
            "backspace" | "ctrl-h" if self.text.is_empty() => return Edit::Cancelled,
            "backspace" | "ctrl-h" => self.cut(self.before(), self.cursor),
            "delete" => self.cut(self.cursor, self.behind()),
            "left" => self.cursor = self.before(),
            "right" => self.cursor = self.behind(),
            "home" => self.cursor = 0,
            "end" => self.cursor = self.text.len(),
            "up" => return self.recall(history, true),
            "down" => return self.recall(history, false),
            "ctrl-w" => {
                let head = self.text[..self.cursor].trim_end();
                self.cut(head.rfind(' ').map_or(0, |at| at + 1), self.cursor);
            }
            "ctrl-c" | "ctrl-u" => *self = Self::default(),
            _ => {
                if let KeyCode::Char(c) = key.code
                    && !is_modified(key)
                {
                    self.insert(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        self.settle();
        Edit::More
    }

    fn recall(&mut self, history: &History, older: bool) -> Edit {
        let (steps, typed) = match (self.recalled.take(), older) {
            (None, true) => (Some(0), self.text.clone()),
            (None, false) => return Edit::More,
            (Some((at, typed)), true) => (Some(at + 1), typed),
            (Some((at, typed)), false) => (at.checked_sub(1), typed),
        };
        let Some(steps) = steps else {
            *self = Self::from(typed);
            return Edit::More;
        };
        // Beyond the oldest the oldest stays.
        let found = history.back(steps).map(|line| (steps, line)).or_else(|| Some((steps.checked_sub(1)?, history.back(steps - 1)?)));
        if let Some((at, line)) = found {
            *self = Self { recalled: Some((at, typed)), ..Self::from(line) };
        }
        Edit::More
    }

    fn cut(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
        self.align();
    }

    /// The text is the operator's again: no offer, no history.
    fn settle(&mut self) {
        (self.offer, self.chosen, self.recalled) = (Offer::default(), None, None);
    }

    /// What was put in or taken out may have joined two graphemes.
    fn align(&mut self) {
        let cursor = self.cursor;
        // Letters join nothing, and a pasted line is looked at for each of its characters.
        let beside = [cursor.checked_sub(1).map(|at| self.text.as_bytes()[at]), self.text.as_bytes().get(cursor).copied()];
        if beside.into_iter().flatten().all(|b| b.is_ascii()) {
            return;
        }
        let bound = self.bounds().find(|b| *b >= cursor).unwrap_or(self.text.len());
        self.cursor = bound;
    }

    fn bounds(&self) -> impl Iterator<Item = usize> {
        self.text.grapheme_indices(true).map(|(at, _)| at).chain([self.text.len()])
    }

    fn before(&self) -> usize {
        self.bounds().take_while(|b| *b < self.cursor).last().unwrap_or(0)
    }

    fn behind(&self) -> usize {
        self.bounds().find(|b| *b > self.cursor).unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;

    fn press(line: &mut Line, history: &History, code: KeyCode) -> Edit {
        line.key(&KeyEvent::new(code, KeyModifiers::NONE), history)
    }

    #[test]
    fn a_line_is_edited_where_the_cursor_is() {
        let (mut line, none) = (Line::from("sék"), History::default());
        for code in [KeyCode::Left, KeyCode::Backspace, KeyCode::Char('e'), KeyCode::Char('e'), KeyCode::Home, KeyCode::Delete] {
            press(&mut line, &none, code);
        }
        assert_eq!((line.text(), line.parts().0), ("eek", ""));
        press(&mut line, &none, KeyCode::End);
        line.insert(" 12\u{1b}\n3");
        assert_eq!(line.text(), "eek 123");
        // A cluster is one thing, and marks that come to it stay with it.
        let mut line = Line::from("a\u{301}b");
        press(&mut line, &none, KeyCode::Left);
        line.insert("\u{302}");
        press(&mut line, &none, KeyCode::Backspace);
        assert_eq!(line.text(), "b");
        line.insert(&"x".repeat(2 * BYTES_MAX));
        assert_eq!(line.text().len(), BYTES_MAX);
        assert_eq!(press(&mut Line::default(), &none, KeyCode::Backspace), Edit::Cancelled);
    }

    #[test]
    fn tab_cycles_through_what_is_offered_and_shift_tab_back() {
        let (mut line, none) = (Line::from("colors 1"), History::default());
        let words = ["a", "b", "c"].map(str::to_owned).to_vec();
        line.offer(Offer { from: 7, words });
        let mut seen = Vec::new();
        for code in [KeyCode::Tab, KeyCode::Tab, KeyCode::BackTab, KeyCode::BackTab, KeyCode::BackTab] {
            press(&mut line, &none, code);
            seen.push(line.text()[7..].to_owned());
        }
        assert_eq!(seen, ["a", "b", "a", "c", "b"]);
        line.insert("!");
        assert_eq!((line.text(), line.offered()), ("colors b!", (&[][..], None)));
        line.offer(Offer { from: 0, words: vec!["swap".into()] });
        press(&mut line, &none, KeyCode::Tab);
        assert_eq!((line.text(), line.completable()), ("swap ", Some("swap ")));
    }

    #[test]
    fn lines_come_back_and_what_was_typed_too() {
        let mut history = History::default();
        for entered in ["seek 1", "swap a", "seek 1", "  "] {
            history.push(entered);
        }
        let mut line = Line::from("dra");
        let mut seen = Vec::new();
        for code in [KeyCode::Up, KeyCode::Up, KeyCode::Up, KeyCode::Down, KeyCode::Down, KeyCode::Down] {
            press(&mut line, &history, code);
            seen.push(line.text().to_owned());
        }
        assert_eq!(seen, ["seek 1", "swap a", "swap a", "seek 1", "dra", "dra"]);
        press(&mut line, &History::default(), KeyCode::Up);
        assert_eq!(line.text(), "dra");
    }
}
