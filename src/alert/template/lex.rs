//! The words of a template.

use super::TemplateError;
use super::number::{self, without_underscores};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Text(String),
    /// `{{` and `}}`.
    Left,
    Right,
    Space,
    OpenParen,
    CloseParen,
    Pipe,
    Comma,
    Declare,
    Assign,
    Dot,
    /// `.Name`
    Field(String),
    /// `$` or `$name`
    Variable(String),
    Identifier(String),
    /// As it stands, with what it says.
    Quoted(String, String),
    /// A character, as it stands.
    Char(String, i64),
    Number(String),
    End,
}

/// A word and its byte offset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub word: Word,
    pub at: usize,
}

impl Word {
    /// As Go's errors show one.
    pub fn shown(&self) -> String {
        match self {
            Word::Text(text) => go_quoted(text),
            Word::Left => "\"{{\"".into(),
            Word::Right => "\"}}\"".into(),
            Word::Space => "\" \"".into(),
            Word::OpenParen => "\"(\"".into(),
            Word::CloseParen => "\")\"".into(),
            Word::Pipe => "\"|\"".into(),
            Word::Comma => "\",\"".into(),
            Word::Declare => "\":=\"".into(),
            Word::Assign => "\"=\"".into(),
            Word::Dot => "<.>".into(),
            Word::Field(name) => format!("<.{name}>"),
            Word::Variable(name) => go_quoted(name),
            Word::Identifier(name) if is_keyword(name) => format!("<{name}>"),
            Word::Identifier(name) => go_quoted(name),
            Word::Quoted(raw, _) | Word::Char(raw, _) | Word::Number(raw) => go_quoted(raw),
            Word::End => "EOF".into(),
        }
    }
}

pub(super) fn is_keyword(name: &str) -> bool {
    matches!(name, "block" | "break" | "continue" | "define" | "else" | "end" | "if" | "nil" | "range" | "template" | "with")
}

/// `"text"`, its beginning only where it is long.
fn go_quoted(text: &str) -> String {
    if text.chars().count() > 10 { format!("{:?}...", text.chars().take(10).collect::<String>()) } else { format!("{text:?}") }
}

/// Reads all words; errors have line and name put before them by whoever knows them.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, (usize, TemplateError)> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), trims_next: false };
    lexer.run()?;
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    trims_next: bool,
}

type Lexed<T> = Result<T, (usize, TemplateError)>;

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail<T>(&self, message: impl Into<String>) -> Lexed<T> {
        Err((self.at, TemplateError(message.into())))
    }

    fn push(&mut self, word: Word, bytes: usize) {
        self.tokens.push(Token { word, at: self.at });
        self.at += bytes;
    }

    fn run(&mut self) -> Lexed<()> {
        loop {
            let Some(length) = self.rest().find("{{") else {
                self.text_until(self.text.len(), false);
                self.tokens.push(Token { word: Word::End, at: self.text.len() });
                return Ok(());
            };
            let open = self.at + length;
            let trims = self.text[open + 2..].strip_prefix('-').is_some_and(|rest| rest.starts_with(is_space));
            self.text_until(open, trims);
            let inner = open + if trims { 4 } else { 2 };
            if self.text[inner.min(self.text.len())..].starts_with("/*") {
                self.at = inner;
                self.comment()?;
                continue;
            }
            self.push(Word::Left, 2);
            self.at = inner;
            self.action()?;
        }
    }

    fn text_until(&mut self, end: usize, trims: bool) {
        let whole = &self.text[self.at..end];
        let trimmed = if std::mem::take(&mut self.trims_next) { whole.trim_start_matches(is_space) } else { whole };
        let trimmed = if trims { trimmed.trim_end_matches(is_space) } else { trimmed };
        if !trimmed.is_empty() {
            self.tokens.push(Token { word: Word::Text(trimmed.to_owned()), at: self.at });
        }
        self.at = end;
    }

    fn comment(&mut self) -> Lexed<()> {
        let Some(length) = self.rest()[2..].find("*/") else { return self.fail("unclosed comment") };
        self.at += length + 4;
        let behind = self.rest();
        let trims = behind.starts_with(is_space) && behind[1..].starts_with("-}}");
        if !trims && !behind.starts_with("}}") {
            return self.fail("comment ends before closing delimiter");
        }
        self.at += if trims { 4 } else { 2 };
        self.trims_next = trims;
        Ok(())
    }

    /// The words up to the closing braces.
    fn action(&mut self) -> Lexed<()> {
        let mut parens = 0usize;
        loop {
            let rest = self.rest();
            let trims = rest.starts_with(is_space) && rest[1..].starts_with("-}}");
            if trims || rest.starts_with("}}") {
                if parens > 0 {
                    return self.fail("unclosed left paren");
                }
                self.push(Word::Right, if trims { 4 } else { 2 });
                self.trims_next = trims;
                return Ok(());
            }
            let Some(c) = rest.chars().next() else { return self.fail("unclosed action") };
            match c {
                ' ' | '\t' | '\r' | '\n' => {
                    let mut bytes = rest.bytes().take_while(|b| b" \t\r\n".contains(b)).count();
                    // The last space may belong to ` -}}`.
                    if bytes > 1 && rest[bytes..].starts_with("-}}") {
                        bytes -= 1;
                    }
                    self.push(Word::Space, bytes);
                }
                '(' => {
                    parens += 1;
                    self.push(Word::OpenParen, 1);
                }
                ')' if parens == 0 => return self.fail("unexpected right paren"),
                ')' => {
                    parens -= 1;
                    self.push(Word::CloseParen, 1);
                }
                '|' => self.push(Word::Pipe, 1),
                ',' => self.push(Word::Comma, 1),
                '=' => self.push(Word::Assign, 1),
                ':' if rest.starts_with(":=") => self.push(Word::Declare, 2),
                ':' => return self.fail("expected :="),
                '"' => self.quoted()?,
                '`' => self.raw()?,
                '\'' => self.character()?,
                '.' if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.field()?,
                '$' => {
                    let bytes = 1 + name_bytes(&rest[1..]);
                    self.named(Word::Variable(rest[..bytes].to_owned()), bytes)?;
                }
                '+' | '-' | '.' | '0'..='9' => self.number()?,
                _ if c.is_alphabetic() || c == '_' => {
                    let bytes = name_bytes(rest);
                    self.named(Word::Identifier(rest[..bytes].to_owned()), bytes)?;
                }
                _ => return self.fail(format!("unrecognized character in action: {}", unicode(c))),
            }
        }
    }

    fn named(&mut self, word: Word, bytes: usize) -> Lexed<()> {
        let behind = &self.rest()[bytes..];
        let ends = behind.is_empty() || behind.starts_with([' ', '\t', '\r', '\n', '.', ',', '|', ':', ')', '(', '}']);
        if !ends {
            let c = behind.chars().next().unwrap_or(' ');
            return self.fail(format!("bad character {}", unicode(c)));
        }
        self.push(word, bytes);
        Ok(())
    }

    fn field(&mut self) -> Lexed<()> {
        let bytes = name_bytes(&self.rest()[1..]);
        let word = if bytes == 0 { Word::Dot } else { Word::Field(self.rest()[1..1 + bytes].to_owned()) };
        self.named(word, 1 + bytes)
    }

    fn number(&mut self) -> Lexed<()> {
        let rest = self.rest();
        let bytes = number_bytes(rest);
        let raw = &rest[..bytes];
        let is_whole = !rest[bytes..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '+' | '-'));
        if !is_whole || number_of(raw).is_none() {
            return self.fail(format!("bad number syntax: {raw:?}"));
        }
        self.push(Word::Number(raw.to_owned()), bytes);
        Ok(())
    }

    fn quoted(&mut self) -> Lexed<()> {
        let (text, bytes) = match unquoted(self.rest(), '"') {
            Ok(found) => found,
            Err(message) => return self.fail(message),
        };
        let raw = self.rest()[..bytes].to_owned();
        self.push(Word::Quoted(raw, text), bytes);
        Ok(())
    }

    fn raw(&mut self) -> Lexed<()> {
        let Some(length) = self.rest()[1..].find('`') else { return self.fail("unterminated raw quoted string") };
        let raw = self.rest()[..length + 2].to_owned();
        let text = raw[1..=length].replace('\r', "");
        self.push(Word::Quoted(raw, text), length + 2);
        Ok(())
    }

    fn character(&mut self) -> Lexed<()> {
        let (text, bytes) = match unquoted(self.rest(), '\'') {
            Ok(found) => found,
            Err(_) => return self.fail("unterminated character constant"),
        };
        let raw = self.rest()[..bytes].to_owned();
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => self.push(Word::Char(raw, i64::from(u32::from(c))), bytes),
            _ => return self.fail(format!("malformed character constant: {raw}")),
        }
        Ok(())
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn name_bytes(text: &str) -> usize {
    text.char_indices().find(|(_, c)| !c.is_alphanumeric() && *c != '_').map_or(text.len(), |(i, _)| i)
}

fn unicode(c: char) -> String {
    if c.is_control() { format!("U+{:04X}", u32::from(c)) } else { format!("U+{:04X} '{c}'", u32::from(c)) }
}

/// The text between quotes, escapes resolved, and the bytes that it takes.
fn unquoted(text: &str, quote: char) -> Result<(String, usize), String> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            _ if c == quote => return Ok((out, i + 1)),
            '\n' => break,
            '\\' => {
                let Some((at, escape)) = chars.next() else { break };
                let hex = |digits: usize| {
                    let code = text.get(at + 1..at + 1 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    code.and_then(char::from_u32).map(|c| (c, digits))
                };
                let (c, skipped) = match escape {
                    'n' => ('\n', 0),
                    't' => ('\t', 0),
                    'r' => ('\r', 0),
                    'a' => ('\x07', 0),
                    'b' => ('\x08', 0),
                    'f' => ('\x0c', 0),
                    'v' => ('\x0b', 0),
                    '\\' | '"' | '\'' => (escape, 0),
                    'x' => hex(2).ok_or("invalid syntax")?,
                    'u' => hex(4).ok_or("invalid syntax")?,
                    'U' => hex(8).ok_or("invalid syntax")?,
                    '0'..='7' => {
                        let code = text.get(at..at + 3).and_then(|octal| u32::from_str_radix(octal, 8).ok());
                        (code.and_then(char::from_u32).ok_or("invalid syntax")?, 2)
                    }
                    _ => return Err("invalid syntax".into()),
                };
                out.push(c);
                for _ in 0..skipped {
                    chars.next();
                }
            }
            c => out.push(c),
        }
    }
    Err("unterminated quoted string".into())
}

/// A number as Go's constants have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    /// Whole, and larger than a number of Go's templates can be.
    Unsigned,
    Float(f64),
}

/// Bytes of what could be a number.
fn number_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize, is_part: fn(&u8) -> bool| from + bytes[from..].iter().take_while(|b| is_part(b)).count();
    let one_of = |at: usize, set: &[u8]| usize::from(bytes.get(at).is_some_and(|b| set.contains(b)));
    let decimal: fn(&u8) -> bool = |b| b.is_ascii_digit() || *b == b'_';
    let mut at = one_of(0, b"+-");
    let prefix = match bytes.get(at..at + 2) {
        Some([b'0', letter]) => letter.to_ascii_lowercase(),
        Some(_) | None => 0,
    };
    let digits: fn(&u8) -> bool = match prefix {
        b'x' => |b| b.is_ascii_hexdigit() || *b == b'_',
        b'o' => |b| matches!(b, b'0'..=b'7' | b'_'),
        b'b' => |b| matches!(b, b'0' | b'1' | b'_'),
        _ => decimal,
    };
    at = run(if matches!(prefix, b'x' | b'o' | b'b') { at + 2 } else { at }, digits);
    if one_of(at, b".") == 1 {
        at = run(at + 1, digits);
    }
    let power: &[u8] = match prefix {
        b'x' => b"pP",
        b'o' | b'b' => b"",
        _ => b"eE",
    };
    if one_of(at, power) == 1 {
        at = run(at + 1 + one_of(at + 1, b"+-"), decimal);
    }
    at
}

pub(super) fn number_of(raw: &str) -> Option<Number> {
    let text = without_underscores(raw.strip_prefix(['+', '-']).unwrap_or(raw))?;
    let is_negative = raw.starts_with('-');
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some(_) if lower.starts_with('0') => (8, &lower[1..]),
        Some(_) | None => (10, lower.as_str()),
    };
    if let Ok(magnitude) = u64::from_str_radix(digits, radix) {
        let signed = if is_negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        return match signed {
            Some(number) => Some(Number::Int(number)),
            // A sign is for numbers that have one.
            None => (!raw.starts_with(['+', '-'])).then_some(Number::Unsigned),
        };
    }
    // A whole number that is too large is none.
    let value = number::parse(raw).filter(|_| raw.contains(['.', 'e', 'E', 'p', 'P']))?;
    let is_hex_int = lower.starts_with("0x") && !lower.contains('p');
    (!is_hex_int).then_some(Number::Float(value))
}
