//! Regular expressions in the syntax of Prometheus, which is Go's (RE2), compiled by the crate `regex`. The two differ in places, and a
//! pattern must not silently match something else: such places are rewritten, and what Go refuses is refused in Go's words.

use regex::{Regex, RegexBuilder};
use std::fmt::Write;

/// The most that one repetition may ask for.
const REPEAT_MAX: u32 = 1000;
/// Bytes of a compiled pattern: of one of the many, and of one of the few that may be larger.
const SIZE_MAX: usize = 256 << 10;
const LARGE_MAX: usize = 10 << 20;

/// Go's `\d`, `\s` and `\w` are of ASCII.
const DIGIT: &str = "0-9";
const SPACE: &str = r"\t\n\x0C\r ";
const WORD: &str = "0-9A-Za-z_";

/// How many patterns one expression may still have compiled: each costs time and memory, some of a dozen bytes a great deal.
#[derive(Debug)]
pub struct Allowance {
    patterns: usize,
    large: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { patterns: 1000, large: 16 }
    }
}

impl Allowance {
    /// A pattern of whole texts, in which `.` is any character, as label matchers and `label_replace` have it. The error is Go's, with
    /// the part that it is about.
    pub fn whole(&mut self, pattern: &str) -> Result<Regex, String> {
        let too_many = || "too many expressions, or too large ones".to_owned();
        self.patterns = self.patterns.checked_sub(1).ok_or_else(too_many)?;
        let own = Translator { pattern, at: 0, out: String::with_capacity(pattern.len() + 8) }.translated()?;
        let compile = |size: usize| RegexBuilder::new(&format!("^(?s:{own})$")).size_limit(size).build();
        let compiled = match compile(SIZE_MAX) {
            Err(regex::Error::CompiledTooBig(_)) => {
                self.large = self.large.checked_sub(1).ok_or_else(too_many)?;
                compile(LARGE_MAX)
            }
            compiled => compiled,
        };
        compiled.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "expression too large".into(),
            other => last_line(&other.to_string()),
        })
    }
}

/// Messages of `regex` draw the pattern, which says nothing about the one that was given.
fn last_line(message: &str) -> String {
    message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// What a repetition would repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Something,
    /// One that stands there.
    Repetition(usize),
}

struct Translator<'p> {
    pattern: &'p str,
    at: usize,
    out: String,
}

fn refused<T>(what: &str, part: &str) -> Result<T, String> {
    Err(format!("{what}: `{part}`"))
}

impl Translator<'_> {
    fn rest(&self) -> &str {
        &self.pattern[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn translated(mut self) -> Result<String, String> {
        let (mut groups, mut before) = (0usize, Before::Nothing);
        while let Some(c) = self.peek() {
            let start = self.at;
            before = match c {
                '\\' => self.escape(before)?,
                '[' => {
                    self.class()?;
                    Before::Something
                }
                '(' => {
                    groups += usize::from(self.group()?);
                    Before::Nothing
                }
                ')' if groups == 0 => return refused("unexpected )", self.pattern),
                ')' => {
                    groups -= 1;
                    self.copy(1);
                    Before::Something
                }
                '|' => {
                    self.copy(1);
                    Before::Nothing
                }
                '*' | '+' | '?' => self.repetition(start, 1, before)?,
                '{' => match self.counts() {
                    Some(length) => self.repetition(start, length, before)?,
                    // Go takes a brace that is no repetition for itself.
                    None => self.literal('{', 1),
                },
                c => self.literal(c, c.len_utf8()),
            };
        }
        if groups > 0 {
            return refused("missing closing )", self.pattern);
        }
        Ok(self.out)
    }

    fn copy(&mut self, length: usize) {
        let end = self.at + length;
        self.out.push_str(&self.pattern[self.at..end]);
        self.at = end;
    }

    fn literal(&mut self, c: char, length: usize) -> Before {
        self.at += length;
        // These mean in both what they mean; all else stands for itself.
        if matches!(c, '.' | '^' | '$') {
            self.out.push(c);
        } else {
            self.code(c as u32);
        }
        Before::Something
    }

    /// A character as itself, whatever it would mean.
    fn code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(c) if c.is_alphanumeric() || !c.is_ascii() => self.out.push(c),
            _ => drop(write!(self.out, "\\x{{{code:x}}}")),
        }
    }

    /// `*`, `+?`, `{2,3}` …
    fn repetition(&mut self, start: usize, length: usize, before: Before) -> Result<Before, String> {
        let lazy = usize::from(self.pattern[start + length..].starts_with('?'));
        let text = &self.pattern[start..start + length + lazy];
        match before {
            Before::Nothing => return refused("missing argument to repetition operator", text),
            Before::Repetition(first) => {
                return refused("invalid nested repetition operator", &self.pattern[first..start + text.len()]);
            }
            Before::Something => {}
        }
        if let Some(counts) = text.strip_prefix('{').and_then(|text| text.split_once('}')).map(|(counts, _)| counts) {
            let number = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= REPEAT_MAX);
            let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
            let fits = number(least).is_some_and(|least| most.is_empty() || number(most).is_some_and(|most| least <= most));
            if !fits {
                return refused("invalid repeat count", &text[..length]);
            }
        }
        self.copy(length + lazy);
        Ok(Before::Repetition(start))
    }

    /// Length of `{n}`, `{n,}` or `{n,m}` here.
    fn counts(&self) -> Option<usize> {
        let body = self.rest().strip_prefix('{')?.split_once('}')?.0;
        let (least, most) = body.split_once(',').unwrap_or((body, ""));
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        (!least.is_empty() && is_number(least) && is_number(most)).then_some(body.len() + 2)
    }

    /// True where a group opens, false for flags alone.
    fn group(&mut self) -> Result<bool, String> {
        let rest = self.rest();
        let Some(flags) = rest.strip_prefix("(?") else {
            self.copy(1);
            return Ok(true);
        };
        if let Some(named) = flags.strip_prefix("P<").or_else(|| flags.strip_prefix('<')) {
            let Some((name, _)) = named.split_once('>') else { return refused("invalid named capture", rest) };
            let length = rest.len() - named.len() + name.len() + 1;
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return refused("invalid named capture", &rest[..length]);
            }
            self.copy(length);
            return Ok(true);
        }
        let length = flags.find(|c| !matches!(c, 'i' | 'm' | 's' | 'U' | '-')).unwrap_or(flags.len());
        let (names, closed) = (&flags[..length], flags[length..].chars().next());
        let turned_off = names.split_once('-');
        let is_well_formed = turned_off.is_none_or(|(_, off)| !off.is_empty() && !off.contains('-'));
        if !matches!(closed, Some(':' | ')')) || !is_well_formed || (names.is_empty() && closed == Some(')')) {
            let end = flags[length..].chars().next().map_or(0, char::len_utf8);
            return match closed {
                None => refused("missing closing )", self.pattern),
                Some(_) => refused("invalid or unsupported Perl syntax", &rest[..2 + length + end]),
            };
        }
        self.copy(2 + length + 1);
        Ok(closed == Some(':'))
    }

    fn escape(&mut self, before: Before) -> Result<Before, String> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.take() else { return refused("trailing backslash at end of expression", "") };
        match c {
            'Q' => return Ok(self.quoted(before)),
            'A' | 'z' | 'B' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'b' => self.out.push_str(r"(?-u:\b)"),
            'd' | 's' | 'w' => drop(write!(self.out, "[{}]", perl_class(c))),
            'D' | 'S' | 'W' => drop(write!(self.out, "[^{}]", perl_class(c))),
            'p' | 'P' => self.property(start, c)?,
            _ => {
                let code = self.character(start, c)?;
                self.code(code);
            }
        }
        Ok(Before::Something)
    }

    /// `\Q…\E`, to the end where `\E` is missing.
    fn quoted(&mut self, before: Before) -> Before {
        let text = self.rest();
        let (body, length) = text.split_once("\\E").map_or((text, text.len()), |(body, _)| (body, body.len() + 2));
        let body = body.to_owned();
        self.at += length;
        body.chars().for_each(|c| self.code(c as u32));
        if body.is_empty() { before } else { Before::Something }
    }

    /// `\pN`, `\p{Greek}`, `\P{^Lu}`
    fn property(&mut self, start: usize, letter: char) -> Result<(), String> {
        let rest = self.rest();
        let (name, length) = match rest.strip_prefix('{') {
            Some(braced) => match braced.split_once('}') {
                Some((name, _)) => (name, name.len() + 2),
                None => return refused("invalid character class range", &self.pattern[start..]),
            },
            None => {
                let length = rest.chars().next().map_or(0, char::len_utf8);
                (&rest[..length], length)
            }
        };
        let (negated, name) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
        let is_negative = (letter == 'P') != negated;
        let own = if name == "Any" { "any".to_owned() } else { name.to_owned() };
        self.at += length;
        let property = format!("\\{}{{{own}}}", if is_negative { 'P' } else { 'p' });
        let is_name = !own.is_empty() && own.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if !is_name || Regex::new(&property).is_err() {
            return refused("invalid character class range", &self.pattern[start..self.at]);
        }
        self.out.push_str(&property);
        Ok(())
    }

    /// The character that an escape other than a class stands for; `c` follows the backslash at `start`.
    fn character(&mut self, start: usize, c: char) -> Result<u32, String> {
        let code = match c {
            'a' => Some(7),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            'x' => self.hexadecimal(),
            // A digit alone would refer back to a group, which there is not.
            '1'..='7' if !self.peek().is_some_and(|next| next.is_digit(8)) => None,
            '0'..='7' => Some(self.octal(c)),
            c if c.is_ascii_punctuation() => Some(c as u32),
            _ => None,
        };
        code.filter(|code| char::from_u32(*code).is_some())
            .map_or_else(|| refused("invalid escape sequence", &self.pattern[start..self.at]), Ok)
    }

    fn octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
            self.at += 1;
            code = code * 8 + digit;
        }
        code
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let rest = self.rest();
        let (digits, length) = match rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map(|(digits, _)| (digits, digits.len() + 2))?,
            None => (rest.get(..2)?, 2),
        };
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
        self.at += length;
        code
    }

    /// `[…]`
    fn class(&mut self) -> Result<(), String> {
        let start = self.at;
        self.copy(1);
        if self.peek() == Some('^') {
            self.copy(1);
        }
        let mut is_first = true;
        loop {
            let missing = || refused("missing closing ]", &self.pattern[start..]);
            let Some(c) = self.peek() else { return missing() };
            if c == ']' && !is_first {
                self.copy(1);
                return Ok(());
            }
            is_first = false;
            if self.class_of_many()? {
                continue;
            }
            let from_start = self.at;
            let from = self.class_character(start)?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]") && self.rest().len() > 1;
            self.code(from);
            if is_range {
                self.at += 1;
                let to = self.class_character(start)?;
                if to < from {
                    return refused("invalid character class range", &self.pattern[from_start..self.at]);
                }
                self.out.push('-');
                self.code(to);
            }
        }
    }

    /// `[:alpha:]`, `\d`, `\pN` within a class.
    fn class_of_many(&mut self) -> Result<bool, String> {
        let rest = self.rest();
        if let Some(body) = rest.strip_prefix("[:")
            && let Some((name, _)) = body.split_once(":]")
        {
            let length = name.len() + 4;
            let bare = name.strip_prefix('^').unwrap_or(name);
            if !POSIX.contains(&bare) {
                return refused("invalid character class range", &rest[..length]);
            }
            self.copy(length);
            return Ok(true);
        }
        let start = self.at;
        match rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
            Some(c @ ('d' | 's' | 'w')) => self.out.push_str(perl_class(c)),
            Some(c @ ('D' | 'S' | 'W')) => drop(write!(self.out, "[^{}]", perl_class(c))),
            Some(c @ ('p' | 'P')) => {
                self.at += 2;
                return self.property(start, c).map(|()| true);
            }
            _ => return Ok(false),
        }
        self.at += 2;
        Ok(true)
    }

    fn class_character(&mut self, class: usize) -> Result<u32, String> {
        let start = self.at;
        match self.take() {
            Some('\\') => match self.take() {
                Some(c) => self.character(start, c),
                None => refused("trailing backslash at end of expression", ""),
            },
            Some(c) => Ok(c as u32),
            None => refused("missing closing ]", &self.pattern[class..]),
        }
    }
}

const POSIX: [&str; 14] =
    ["alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word", "xdigit"];

fn perl_class(c: char) -> &'static str {
    match c.to_ascii_lowercase() {
        'd' => DIGIT,
        's' => SPACE,
        _ => WORD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(pattern: &str) -> Result<Regex, String> {
        Allowance::default().whole(pattern)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        // Pattern, a text that it matches, one that it does not.
        let cases = [
            ("a.c", "a\nc", "a"),
            (r"\d+", "12", "١٢"),
            (r"[\d]+", "12", "١٢"),
            (r"\w", "a", "é"),
            (r"[^\W]", "a", "é"),
            (r"\s", "\t", "\u{a0}"),
            (r"\S", "\u{a0}", " "),
            (r"\pN+", "1٢", "a"),
            (r"\p{Greek}\P{Greek}", "αa", "aα"),
            (r"\p{^Lu}", "a", "A"),
            (r"[\p{Lu}x]", "x", "a"),
            (r"\Qa.b*\E+", "a.b**", "aab"),
            (r"\Qa|b", "a|b", "a"),
            (r"a{", "a{", "a"),
            (r"a{,2}", "a{,2}", "aa"),
            (r"a{1,2}b{2}", "aabb", "ab"),
            (r"[[a]", "[", "b"),
            (r"[a&&b]", "&", "c"),
            (r"[!--b]+", "#b", "c"),
            (r"[]a]", "]", "b"),
            (r"[^]a]", "b", "]"),
            (r"[[:alpha:]1-]", "-", "2"),
            (r"[[:^digit:]]", "a", "1"),
            (r"\<a\>", "<a>", "a"),
            (r"\101\x41\x{41}", "AAA", "A"),
            (r"[\101-\x43]", "B", "D"),
            (r"(?i)ab", "AB", "a"),
            (r"(?i:a)b", "Ab", "AB"),
            (r"(?P<x>a)(?<y>b)(?:c)", "abc", "ab"),
            (r"a|", "", "b"),
            (r"(?-s:a.)", "ab", "a\n"),
            (r"\Aab\z", "ab", "abc"),
            (r"a\b.*", "a-", "ab"),
            ("#x y", "#x y", "#x"),
            ("a~b", "a~b", "ab"),
            ("", "", "a"),
            ("é+", "éé", "e"),
        ];
        for (pattern, yes, no) in cases {
            let regex = whole(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
            assert!(regex.is_match(yes), "{pattern} {yes:?}");
            assert!(!regex.is_match(no), "{pattern} {no:?}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        let cases = [
            ("(", "missing closing ): `(`"),
            ("a)|(b", "unexpected ): `a)|(b`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a|+", "missing argument to repetition operator: `+`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{2}?+", "invalid nested repetition operator: `{2}?+`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
            (r"\y", r"invalid escape sequence: `\y`"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\C", r"invalid escape sequence: `\C`"),
            (r"\Z", r"invalid escape sequence: `\Z`"),
            (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?x)a", "invalid or unsupported Perl syntax: `(?x`"),
            ("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ];
        for (pattern, wanted) in cases {
            assert_eq!(whole(pattern).expect_err(pattern), wanted);
        }
        assert_eq!(whole(r"(\pL{900}){9}").unwrap_err(), "expression too large");
    }

    #[test]
    fn an_expression_has_so_many_patterns_and_no_more() {
        let mut allowance = Allowance::default();
        assert_eq!((0..30).filter(|_| allowance.whole(r"[\pL\pN]{40}").is_ok()).count(), 16);
        assert_eq!((0..2000).filter(|_| allowance.whole("a|b").is_ok()).count(), 1000 - 30);
    }

    proptest::proptest! {
        #[test]
        fn no_pattern_ends_in_a_panic(pattern in r"([a-z(){}\[\]\\|*+?^$.:,<>-]|\\[a-zA-Z0-9]|\(\?|\PC){0,12}") {
            let _ = whole(&pattern);
        }
    }
}
