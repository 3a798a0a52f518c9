//! The words of PromQL, each with its place in the text.

use super::text;

/// Operators between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    Atan2,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Unless,
}

impl Op {
    pub fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Pow => "^",
            Self::Atan2 => "atan2",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "and",
            Self::Or => "or",
            Self::Unless => "unless",
        }
    }

    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Equal | Self::NotEqual | Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual)
    }

    pub fn is_set(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Unless)
    }

    /// The higher, the tighter it binds.
    pub fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And | Self::Unless => 2,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 3,
            Self::Add | Self::Sub => 4,
            Self::Mul | Self::Div | Self::Mod | Self::Atan2 => 5,
            Self::Pow => 6,
        }
    }
}

/// Aggregations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregator {
    Sum,
    Avg,
    Count,
    Min,
    Max,
    Group,
    Stddev,
    Stdvar,
    Topk,
    Bottomk,
    CountValues,
    Quantile,
    Limitk,
    LimitRatio,
}

impl Aggregator {
    const ALL: [(&str, Self); 14] = [
        ("sum", Self::Sum),
        ("avg", Self::Avg),
        ("count", Self::Count),
        ("min", Self::Min),
        ("max", Self::Max),
        ("group", Self::Group),
        ("stddev", Self::Stddev),
        ("stdvar", Self::Stdvar),
        ("topk", Self::Topk),
        ("bottomk", Self::Bottomk),
        ("count_values", Self::CountValues),
        ("quantile", Self::Quantile),
        ("limitk", Self::Limitk),
        ("limit_ratio", Self::LimitRatio),
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }

    /// Refused by Prometheus unless its feature `promql-experimental-functions` is on.
    pub fn is_experimental(self) -> bool {
        matches!(self, Self::Limitk | Self::LimitRatio)
    }

    pub fn takes_parameter(self) -> bool {
        matches!(self, Self::Topk | Self::Bottomk | Self::CountValues | Self::Quantile | Self::Limitk | Self::LimitRatio)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    Offset,
    Smoothed,
    Anchored,
    By,
    Without,
    On,
    Ignoring,
    GroupLeft,
    GroupRight,
    Fill,
    FillLeft,
    FillRight,
    Bool,
}

const KEYWORDS: [(&str, Keyword); 13] = [
    ("offset", Keyword::Offset),
    ("smoothed", Keyword::Smoothed),
    ("anchored", Keyword::Anchored),
    ("by", Keyword::By),
    ("without", Keyword::Without),
    ("on", Keyword::On),
    ("ignoring", Keyword::Ignoring),
    ("group_left", Keyword::GroupLeft),
    ("group_right", Keyword::GroupRight),
    ("fill", Keyword::Fill),
    ("fill_left", Keyword::FillLeft),
    ("fill_right", Keyword::FillRight),
    ("bool", Keyword::Bool),
];

/// Words that stand for a time of the query, or for a function of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preprocessor {
    Start,
    End,
    Step,
    Range,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    End,
    Comma,
    Colon,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    At,
    /// `=`
    Assign,
    EqualRegex,
    NotEqualRegex,
    Number,
    Duration,
    Text,
    Identifier,
    /// An identifier with a colon.
    MetricIdentifier,
    Op(Op),
    Aggregator(Aggregator),
    Keyword(Keyword),
    Preprocessor(Preprocessor),
    /// What can't be read; always the last word.
    Error(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub kind: Kind,
    /// Byte offsets.
    pub start: usize,
    pub end: usize,
}

impl Token {
    /// How Prometheus names it in an error.
    pub fn describe(&self, input: &str) -> String {
        let word = input.get(self.start..self.end).unwrap_or_default();
        match &self.kind {
            Kind::End => "end of input".into(),
            Kind::Identifier => format!("identifier {}", text::quote(word.as_bytes())),
            Kind::MetricIdentifier => format!("metric identifier {}", text::quote(word.as_bytes())),
            Kind::Number => format!("number {}", shortened(word)),
            Kind::Duration => format!("duration {}", shortened(word)),
            Kind::Text => format!("string {}", shortened(word)),
            Kind::Keyword(_) => format!("<{word}>"),
            Kind::Op(_) | Kind::At | Kind::EqualRegex | Kind::NotEqualRegex => format!("<op:{word}>"),
            Kind::Aggregator(_) => format!("<aggr:{word}>"),
            Kind::Error(message) => message.clone(),
            Kind::Comma
            | Kind::Colon
            | Kind::LeftParen
            | Kind::RightParen
            | Kind::LeftBrace
            | Kind::RightBrace
            | Kind::LeftBracket
            | Kind::RightBracket
            | Kind::Assign
            | Kind::Preprocessor(_) => text::quote(word.as_bytes()),
        }
    }
}

fn shortened(word: &str) -> String {
    if word.len() <= 10 {
        return text::quote(word.as_bytes());
    }
    let first: String = word.chars().take(10).collect();
    format!("{}...", text::quote(first.as_bytes()))
}

/// All words of `input`; the last is `End` or `Error`.
pub fn tokens(input: &str) -> Vec<Token> {
    let mut lexer = Lexer { input, at: 0, out: Vec::new(), parens: 0, in_braces: false, in_brackets: false };
    while lexer.step() {}
    lexer.out
}

struct Lexer<'i> {
    input: &'i str,
    at: usize,
    out: Vec<Token>,
    parens: usize,
    in_braces: bool,
    in_brackets: bool,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.input[self.at..].chars().next()
    }

    fn second(&self) -> Option<char> {
        self.input[self.at..].chars().nth(1)
    }

    fn push(&mut self, kind: Kind, length: usize) -> bool {
        let start = self.at;
        self.at += length;
        self.out.push(Token { kind, start, end: self.at });
        true
    }

    fn fail(&mut self, message: String) -> bool {
        self.out.push(Token { kind: Kind::Error(message), start: self.at, end: self.input.len() });
        false
    }

    /// Reads one word; false after the last.
    fn step(&mut self) -> bool {
        let Some(c) = self.peek() else { return self.finish() };
        if matches!(c, ' ' | '\t' | '\n' | '\r') {
            self.at += 1;
            return true;
        }
        if c == '#' {
            self.at += self.input[self.at..].find(['\n', '\r']).unwrap_or(self.input.len() - self.at);
            return true;
        }
        if matches!(c, '"' | '\'' | '`') {
            return self.quoted(c);
        }
        if self.in_braces { self.inside_braces(c) } else { self.outside_braces(c) }
    }

    fn finish(&mut self) -> bool {
        if self.in_braces {
            return self.fail("unexpected end of input inside braces".into());
        }
        if self.parens > 0 {
            return self.fail("unclosed left parenthesis".into());
        }
        if self.in_brackets {
            return self.fail("unclosed left bracket".into());
        }
        self.push(Kind::End, 0);
        false
    }

    fn inside_braces(&mut self, c: char) -> bool {
        match (c, self.second()) {
            (',', _) => self.push(Kind::Comma, 1),
            ('=', Some('~')) => self.push(Kind::EqualRegex, 2),
            ('=', _) => self.push(Kind::Assign, 1),
            ('!', Some('~')) => self.push(Kind::NotEqualRegex, 2),
            ('!', Some('=')) => self.push(Kind::Op(Op::NotEqual), 2),
            ('!', next) => self.fail(format!("unexpected character after '!' inside braces: {}", quoted_char(next))),
            ('{', _) => self.fail("unexpected left brace '{'".into()),
            ('}', _) => {
                self.in_braces = false;
                self.push(Kind::RightBrace, 1)
            }
            (c, _) if is_alpha(c) => {
                let length = self.run(is_alphanumeric);
                self.push(Kind::Identifier, length)
            }
            (c, _) => self.fail(format!("unexpected character inside braces: {}", quoted_char(Some(c)))),
        }
    }

    fn outside_braces(&mut self, c: char) -> bool {
        match (c, self.second()) {
            (',', _) => self.push(Kind::Comma, 1),
            ('*', _) => self.push(Kind::Op(Op::Mul), 1),
            ('/', _) => self.push(Kind::Op(Op::Div), 1),
            ('%', _) => self.push(Kind::Op(Op::Mod), 1),
            ('+', _) => self.push(Kind::Op(Op::Add), 1),
            ('-', _) => self.push(Kind::Op(Op::Sub), 1),
            ('^', _) => self.push(Kind::Op(Op::Pow), 1),
            ('@', _) => self.push(Kind::At, 1),
            ('=', Some('=')) => self.push(Kind::Op(Op::Equal), 2),
            ('=', Some('~')) => self.fail("unexpected character after '=': '~'".into()),
            ('=', _) => self.push(Kind::Assign, 1),
            ('!', Some('=')) => self.push(Kind::Op(Op::NotEqual), 2),
            ('!', next) => self.fail(format!("unexpected character after '!': {}", quoted_char(next))),
            ('<', Some('=')) => self.push(Kind::Op(Op::LessEqual), 2),
            ('<', _) => self.push(Kind::Op(Op::Less), 1),
            ('>', Some('=')) => self.push(Kind::Op(Op::GreaterEqual), 2),
            ('>', _) => self.push(Kind::Op(Op::Greater), 1),
            ('(' | ')' | '{' | '}' | '[' | ']', _) => self.bracket(c),
            (':', _) if self.in_brackets => self.push(Kind::Colon, 1),
            ('.', Some(next)) if next.is_ascii_digit() => self.number_or_duration(),
            (c, _) if c.is_ascii_digit() => self.number_or_duration(),
            (c, _) if is_alpha(c) || c == ':' => self.word(),
            (c, _) => self.fail(format!("unexpected character: {}", quoted_char(Some(c)))),
        }
    }

    fn bracket(&mut self, c: char) -> bool {
        match c {
            '(' => {
                self.parens += 1;
                self.push(Kind::LeftParen, 1)
            }
            ')' if self.parens == 0 => self.fail("unexpected right parenthesis ')'".into()),
            ')' => {
                self.parens -= 1;
                self.push(Kind::RightParen, 1)
            }
            '{' => {
                self.in_braces = true;
                self.push(Kind::LeftBrace, 1)
            }
            '[' if self.in_brackets => self.fail("unexpected left bracket '['".into()),
            '[' => {
                self.in_brackets = true;
                self.push(Kind::LeftBracket, 1)
            }
            ']' if self.in_brackets => {
                self.in_brackets = false;
                self.push(Kind::RightBracket, 1)
            }
            ']' => self.fail("unexpected right bracket ']'".into()),
            c => self.fail(format!("unexpected character: {}", quoted_char(Some(c)))),
        }
    }

    /// Bytes of the run of such characters from here on.
    fn run(&self, accepted: impl Fn(char) -> bool) -> usize {
        let rest = &self.input[self.at..];
        rest.find(|c| !accepted(c)).unwrap_or(rest.len())
    }

    fn word(&mut self) -> bool {
        let in_brackets = self.in_brackets;
        let length = self.run(|c| is_alphanumeric(c) || (c == ':' && !in_brackets));
        let word = &self.input[self.at..self.at + length];
        let kind = keyword(word).unwrap_or(if word.contains(':') { Kind::MetricIdentifier } else { Kind::Identifier });
        // These became words of the language late: a metric of that name is still one where no parenthesis follows.
        let late = matches!(kind, Kind::Keyword(Keyword::Fill | Keyword::FillLeft | Keyword::FillRight))
            || matches!(kind, Kind::Preprocessor(Preprocessor::Step | Preprocessor::Range));
        let opens = self.input[self.at + length..].trim_start().starts_with('(');
        self.push(if late && !opens { Kind::Identifier } else { kind }, length)
    }

    fn number_or_duration(&mut self) -> bool {
        let rest = &self.input[self.at..];
        let length = number_length(rest);
        let next = rest[length..].chars().next();
        if !next.is_some_and(is_alphanumeric) && text::number(&rest[..length]).is_some() {
            return self.push(Kind::Number, length);
        }
        let length = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_duration(&rest[..length]) {
            return self.push(Kind::Duration, length);
        }
        let length = self.run(|c| is_alphanumeric(c) || c == '.').max(1);
        let message = format!("bad number or duration syntax: {}", text::quote(&rest.as_bytes()[..length]));
        self.fail(message)
    }

    fn quoted(&mut self, quote: char) -> bool {
        let body = &self.input[self.at + 1..];
        let mut escaped = false;
        for (i, c) in body.char_indices() {
            match c {
                '\n' if quote != '`' => break,
                _ if escaped => escaped = false,
                '\\' if quote != '`' => escaped = true,
                c if c == quote => return self.push(Kind::Text, i + 2),
                _ => {}
            }
        }
        self.fail(if quote == '`' { "unterminated raw string".into() } else { "unterminated quoted string".into() })
    }
}

/// As Go's `%q` of a character; `None` is the end of the text.
fn quoted_char(c: Option<char>) -> String {
    match c {
        Some('\'') => r"'\''".into(),
        Some(c) => format!("'{}'", text::quote(c.encode_utf8(&mut [0; 4]).as_bytes()).trim_matches('"')),
        None => "'\u{fffd}'".into(),
    }
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let hex = bytes[0] == b'0' && matches!(bytes.get(1), Some(b'x' | b'X'));
    let mut at = if hex { 2 } else { 0 };
    let digit = |b: u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let (mut dot, mut exponent) = (false, false);
    while let Some(b) = bytes.get(at).copied() {
        let is_power = if hex { matches!(b, b'p' | b'P') } else { matches!(b, b'e' | b'E') };
        match b {
            _ if digit(b) || b == b'_' => at += 1,
            b'.' if !dot && !exponent => (dot, at) = (true, at + 1),
            _ if is_power && !exponent => {
                exponent = true;
                at += if matches!(bytes.get(at + 1), Some(b'+' | b'-')) { 2 } else { 1 };
            }
            _ => break,
        }
    }
    at
}

/// Whether it has a duration's shape; what it says is judged where it is used.
fn is_duration(word: &str) -> bool {
    let mut rest = word;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let tail = &rest[digits..];
        let unit = ["ms", "s", "m", "h", "d", "w", "y"].iter().find(|unit| tail.starts_with(**unit));
        match unit {
            Some(unit) if digits > 0 => rest = &tail[unit.len()..],
            Some(_) | None => return false,
        }
    }
    !word.is_empty()
}

fn is_alpha(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic()
}

fn is_alphanumeric(c: char) -> bool {
    is_alpha(c) || c.is_ascii_digit()
}

/// Words of the language in any case.
fn keyword(word: &str) -> Option<Kind> {
    let lower = word.to_ascii_lowercase();
    let op = match lower.as_str() {
        "and" => Kind::Op(Op::And),
        "or" => Kind::Op(Op::Or),
        "unless" => Kind::Op(Op::Unless),
        "atan2" => Kind::Op(Op::Atan2),
        "inf" | "nan" => Kind::Number,
        "start" => Kind::Preprocessor(Preprocessor::Start),
        "end" => Kind::Preprocessor(Preprocessor::End),
        "step" => Kind::Preprocessor(Preprocessor::Step),
        "range" => Kind::Preprocessor(Preprocessor::Range),
        other => {
            let keyword = KEYWORDS.iter().find(|(text, _)| *text == other).map(|(_, keyword)| Kind::Keyword(*keyword));
            let aggregator = || Aggregator::ALL.iter().find(|(text, _)| *text == other).map(|(_, a)| Kind::Aggregator(*a));
            return keyword.or_else(aggregator);
        }
    };
    Some(op)
}

/// Line and column of a byte offset, both from 1, as Prometheus writes them: `1:5`.
pub fn place(input: &str, offset: usize) -> String {
    let before = &input.as_bytes()[..offset.min(input.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.len() - before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1) + 1;
    format!("{line}:{column}")
}
