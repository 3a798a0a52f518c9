//! Text from models and tools is hostile until it is `SafeText`.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::{self, Write as _};
use std::ops::Deref;
use unicode_width::UnicodeWidthChar;

/// Combining marks that may follow one base character before the rest is dropped.
const MARKS_MAX: usize = 8;
/// Joiners of one emoji: a family has three, and no emoji has ten.
const JOINERS_MAX: usize = 9;

/// Text without control characters, escapes, bidirectional overrides or invisible characters.
///
/// Controls become their visible pictures (`␛`), invisible and direction-changing characters become `⟨U+202E⟩`, a
/// pile of combining marks is cut. Line feeds and tabs stay. Making safe text from safe text changes nothing.
/// Reading one from a file makes it safe again: a recording is not to be trusted either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SafeText(String);

impl SafeText {
    /// The only way in.
    pub fn new(untrusted: &str) -> Self {
        // Most text is of letters that need no look at what stands beside them.
        if untrusted.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
            return Self(untrusted.to_owned());
        }
        Self::looked_at(untrusted)
    }

    fn looked_at(untrusted: &str) -> Self {
        let mut out = String::with_capacity(untrusted.len());
        let mut marks = 0;
        let mut joiners = 0;
        let mut chars = untrusted.chars().peekable();
        let mut previous = '\0';
        while let Some(c) = chars.next() {
            let is_mark = is_mark(c);
            marks = if is_mark { marks + 1 } else { 0 };
            if !is_emoji(c) && c != '\u{200d}' {
                joiners = 0;
            }
            match c {
                '\n' | '\t' => out.push(c),
                '\r' if chars.peek() == Some(&'\n') => {}
                '\0'..='\x1f' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
                '\x7f' => out.push('\u{2421}'),
                // A joiner is wanted between the parts of one emoji only.
                '\u{200d}' if joiners < JOINERS_MAX && is_emoji(previous) && chars.peek().copied().is_some_and(is_emoji) => {
                    joiners += 1;
                    out.push(c);
                }
                _ if is_hidden(c) => {
                    let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
                }
                _ if is_mark && marks > MARKS_MAX => {}
                _ => out.push(c),
            }
            previous = c;
        }
        Self(out)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends `more`. A pile of combining marks is cut across the seam too, so that the whole is what `new` would leave alone.
    pub fn push(&mut self, more: &SafeText) {
        let mut marks = self.0.chars().rev().take_while(|c| is_mark(*c)).count();
        let mut leading = true;
        self.0.extend(more.0.chars().filter(|c| {
            leading &= is_mark(*c);
            marks += usize::from(leading);
            !leading || marks <= MARKS_MAX
        }));
    }
}

/// Takes no cell of its own.
fn is_mark(c: char) -> bool {
    c.width() == Some(0) && !c.is_control()
}

/// Emoji and what may stand inside an emoji sequence.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// C1 controls, bidirectional controls, zero-width and tag characters, line and paragraph separators.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180d}' | '\u{180f}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' | '\u{f0000}'..='\u{10ffff}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{3164}' | '\u{115f}' | '\u{1160}' | '\u{ffa0}')
}

impl Deref for SafeText {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for SafeText {
    fn from(untrusted: &str) -> Self {
        Self::new(untrusted)
    }
}

impl From<String> for SafeText {
    fn from(untrusted: String) -> Self {
        Self::new(&untrusted)
    }
}

impl<'de> Deserialize<'de> for SafeText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(d)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_the_same_whether_it_is_looked_at_or_not() {
        for byte in (0..0x80u8).filter(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
            let text = format!("a{0}{0}b", char::from(byte));
            assert_eq!((SafeText::looked_at(&text), SafeText::new(&text).as_str()), (SafeText(text.clone()), text.as_str()));
        }
    }

    #[test]
    fn controls_and_overrides_become_visible() {
        assert_eq!(SafeText::new("a\x1b[2Jb\x7f\u{9b}").as_str(), "a␛[2Jb␡⟨U+009B⟩");
        assert_eq!(SafeText::new("x\u{202e}y\u{200b}").as_str(), "x⟨U+202E⟩y⟨U+200B⟩");
        assert_eq!(SafeText::new("1\r\n2\t3\r").as_str(), "1\n2\t3␍");
    }

    #[test]
    fn piles_of_marks_are_cut_and_emoji_live() {
        let zalgo = format!("e{}", "\u{301}".repeat(5000));
        assert_eq!(SafeText::new(&zalgo).chars().count(), 1 + MARKS_MAX);
        assert_eq!(SafeText::new("👩\u{200d}💻 工单").as_str(), "👩\u{200d}💻 工单");
        assert_eq!(SafeText::new("a\u{200d}b").as_str(), "a⟨U+200D⟩b");
    }

    #[test]
    fn marks_are_cut_across_a_seam() {
        let mut text = SafeText::new(&format!("e{}", "\u{301}".repeat(6)));
        text.push(&SafeText::new(&format!("{}f\u{301}", "\u{302}".repeat(6))));
        assert_eq!(text.chars().count(), 1 + MARKS_MAX + 2);
        assert_eq!(SafeText::new(&text), text);
    }

    #[test]
    fn safe_text_is_a_fixed_point() {
        for hostile in ["\x1b]52;c;AAAA\x07", "\u{2066}abc\u{2069}", "a\u{300}\u{301}", "␛"] {
            let once = SafeText::new(hostile);
            assert_eq!(SafeText::new(&once), once);
        }
    }
}
