//! The words of a template.

use super::TemplateError;

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
        let Some(length) = self.rest().find("*/") else { return self.fail("unclosed comment") };
        self.at += length + 2;
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
        let ends =
            behind.is_empty() || behind.starts_with([' ', '\t', '\r', '\n', '.', ',', '|', ':', ')', '(', '=']) || behind.starts_with("}}");
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
        let bytes = rest
            .char_indices()
            .take_while(|(i, c)| {
                c.is_alphanumeric()
                    || matches!(c, '.' | '_')
                    || (matches!(c, '+' | '-') && (*i == 0 || rest[..*i].ends_with(['e', 'E', 'p', 'P'])))
            })
            .map(|(i, c)| i + c.len_utf8())
            .last()
            .unwrap_or(1);
        let raw = &rest[..bytes];
        if number_of(raw).is_none() {
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
    Float(f64),
}

pub(super) fn number_of(raw: &str) -> Option<Number> {
    let text = raw.replace('_', "");
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text.as_str()),
    };
    let lower = digits.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok().map(|value| Number::Int(sign * value));
        }
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty() {
        let radix = if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
        return match i64::from_str_radix(digits, radix) {
            Ok(value) => Some(Number::Int(sign * value)),
            Err(_) => digits.parse::<f64>().ok().map(|value| Number::Float(value * sign as f64)),
        };
    }
    let has_digit = digits.bytes().any(|b| b.is_ascii_digit());
    if !has_digit || !digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b)) {
        return None;
    }
    digits.parse::<f64>().ok().map(|value| Number::Float(value * sign as f64))
}
