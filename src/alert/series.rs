//! Series as Prometheus' unit tests write them: `name{label="value"} 0+10x5 _ stale`.

use super::promql::{text, token};
use crate::metrics::{Labels, METRIC_NAME, stale};
use token::{Kind, Token};

/// Values that one item may stand for, and all items of a series together.
const VALUES_MAX: usize = 4_000_000;

/// What stands at one step of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeriesValue {
    /// A number, or the stale marker.
    Number(f64),
    /// No sample.
    Omitted,
    /// A native histogram, `{{…}}`, which is not kept here.
    Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SeriesError {
    pub message: String,
    /// Byte offset in the text.
    pub offset: usize,
}

fn error<T>(message: impl Into<String>, offset: usize) -> Result<T, SeriesError> {
    Err(SeriesError { message: message.into(), offset })
}

/// A series and its values. `axn` stands for n + 1 values, `a+bxn` for a, a+b, … up to a+n·b, `_xn` for n gaps.
pub fn parse_series(input: &str) -> Result<(Labels, Vec<SeriesValue>), SeriesError> {
    let (labels, end) = metric(input)?;
    let mut values = Vec::new();
    let mut at = end;
    while let Some((start, stop)) = item_at(input, at)? {
        item(&input[start..stop], start, &mut values)?;
        at = stop;
    }
    Ok((labels, values))
}

/// `name{a="b"}`, `{a="b"}` or `{"name", a="b"}`, alone.
pub fn parse_metric(input: &str) -> Result<Labels, SeriesError> {
    let (labels, end) = metric(input)?;
    if input[end..].trim().is_empty() { Ok(labels) } else { error("unexpected text after the metric", end) }
}

/// The labels, and the offset behind them.
fn metric(input: &str) -> Result<(Labels, usize), SeriesError> {
    // Only the description is read as PromQL's words: values are of another grammar.
    let lead = input.len() - input.trim_start().len();
    let end = description_end(input, lead);
    let words = token::tokens(&input[..end]);
    let mut reader = Reader { input, words: &words, at: 0, pairs: Vec::new() };
    reader.metric()?;
    if reader.pairs.is_empty() && !input[..end].contains('{') {
        return error("expected a metric name or labels", lead);
    }
    Ok((Labels::from_pairs(reader.pairs), end))
}

/// Where the description ends: behind the closing brace, or at the first space where no brace follows the name.
fn description_end(input: &str, lead: usize) -> usize {
    let name = input[lead..].find(|c: char| c.is_whitespace() || c == '{').map_or(input.len(), |at| lead + at);
    let Some(open) = input[name..].find(|c: char| !c.is_whitespace()).map(|at| name + at) else { return name };
    if !input[open..].starts_with('{') || input[open..].starts_with("{{") {
        return name;
    }
    let (mut quote, mut escaped) = (None, false);
    for (i, c) in input[open..].char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(q) if c == '\\' && q != '`' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if c == '}' => return open + i + 1,
            None => {}
        }
    }
    input.len()
}

struct Reader<'i> {
    input: &'i str,
    words: &'i [Token],
    at: usize,
    pairs: Vec<(String, String)>,
}

impl Reader<'_> {
    fn kind(&self) -> &Kind {
        self.words.get(self.at).map_or(&Kind::End, |word| &word.kind)
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, SeriesError> {
        match self.words.get(self.at) {
            Some(Token { kind: Kind::Error(message), start, .. }) => error(message.clone(), *start),
            Some(word) => error(format!("unexpected {} in label set, expected {wanted}", word.describe(self.input)), word.start),
            None => error("unexpected end of input", self.input.len()),
        }
    }

    fn word(&self) -> &str {
        self.words.get(self.at).map_or("", |word| &self.input[word.start..word.end])
    }

    fn quoted(&self) -> Result<String, SeriesError> {
        let bytes = text::unquote(self.word()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        bytes.ok_or_else(|| SeriesError { message: format!("invalid quoted string {}", self.word()), offset: self.words[self.at].start })
    }

    fn metric(&mut self) -> Result<(), SeriesError> {
        match self.kind() {
            Kind::LeftBrace | Kind::End => {}
            Kind::Error(_) | Kind::Comma | Kind::Number | Kind::Text | Kind::LeftParen => return self.unexpected("metric name"),
            _ => {
                self.pairs.push((METRIC_NAME.into(), self.word().into()));
                self.at += 1;
            }
        }
        if *self.kind() == Kind::LeftBrace {
            self.at += 1;
            self.labels()?;
        }
        if *self.kind() == Kind::End { Ok(()) } else { self.unexpected("end of the description") }
    }

    fn labels(&mut self) -> Result<(), SeriesError> {
        loop {
            match self.kind() {
                Kind::RightBrace => {
                    self.at += 1;
                    return Ok(());
                }
                Kind::Identifier => {
                    let name = self.word().to_owned();
                    self.at += 1;
                    self.value(name)?;
                }
                Kind::Text => {
                    let name = self.quoted()?;
                    self.at += 1;
                    if *self.kind() == Kind::Assign { self.value(name)? } else { self.pairs.push((METRIC_NAME.into(), name)) }
                }
                _ => return self.unexpected("identifier or \"}\""),
            }
            match self.kind() {
                Kind::Comma => self.at += 1,
                Kind::RightBrace => {}
                _ => return self.unexpected("\",\" or \"}\""),
            }
        }
    }

    fn value(&mut self, name: String) -> Result<(), SeriesError> {
        if *self.kind() != Kind::Assign {
            return self.unexpected("\"=\"");
        }
        self.at += 1;
        if *self.kind() != Kind::Text {
            return self.unexpected("string");
        }
        let value = self.quoted()?;
        self.at += 1;
        self.pairs.push((name, value));
        Ok(())
    }
}

/// Start and end of the next item from `at` on. A histogram holds spaces.
fn item_at(input: &str, at: usize) -> Result<Option<(usize, usize)>, SeriesError> {
    let rest = &input[at..];
    let start = at + rest.len() - rest.trim_start().len();
    if start == input.len() {
        return Ok(None);
    }
    if start == at {
        return error(format!("unexpected character in series values: {:?}", &input[at..at + 1]), at);
    }
    let mut end = start;
    while end < input.len() && !input[end..].starts_with(char::is_whitespace) {
        if input[end..].starts_with("{{") {
            let Some(close) = input[end..].find("}}") else { return error("histogram description incomplete", end) };
            end += close + 2;
        } else {
            end += input[end..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Ok(Some((start, end)))
}

fn item(text: &str, offset: usize, values: &mut Vec<SeriesValue>) -> Result<(), SeriesError> {
    let (body, times) = repetition(text, offset)?;
    let first = values.len();
    if body == "_" {
        values.extend(std::iter::repeat_n(SeriesValue::Omitted, times.unwrap_or(1)));
    } else if body.starts_with("{{") {
        values.extend(std::iter::repeat_n(SeriesValue::Histogram, times.map_or(1, |n| n + 1)));
    } else if body == "stale" && times.is_none() {
        values.push(SeriesValue::Number(stale()));
    } else {
        let (start, step) = start_and_step(body, offset, times.is_some())?;
        let mut value = start;
        for _ in 0..times.map_or(1, |n| n + 1) {
            values.push(SeriesValue::Number(value));
            value += step;
        }
    }
    if values.len() > VALUES_MAX || values.len() < first {
        return error(format!("a series of more than {VALUES_MAX} values"), offset);
    }
    Ok(())
}

/// `body` and the count of `bodyxN`.
fn repetition(text: &str, offset: usize) -> Result<(&str, Option<usize>), SeriesError> {
    let from = text.rfind("}}").map_or(0, |at| at + 2);
    let Some(x) = text[from..].find('x').map(|at| from + at) else { return Ok((text, None)) };
    match text[x + 1..].parse::<usize>() {
        Ok(times) if times <= VALUES_MAX => Ok((&text[..x], Some(times))),
        Ok(times) => error(format!("invalid repetition in series values: {times} is more than {VALUES_MAX}"), offset + x),
        Err(_) => error(format!("invalid repetition in series values: {:?}", &text[x + 1..]), offset + x),
    }
}

/// `a`, or `a` and `±b` where the item repeats.
fn start_and_step(body: &str, offset: usize, repeats: bool) -> Result<(f64, f64), SeriesError> {
    let sign = |at: &usize| matches!(body.as_bytes()[*at], b'+' | b'-') && !matches!(body.as_bytes()[*at - 1], b'e' | b'E');
    let split = (1..body.len()).find(sign);
    let (start, step) = match split {
        Some(at) if repeats => (&body[..at], Some(&body[at..])),
        Some(_) | None => (body, None),
    };
    let read = |text: &str| number(text).ok_or(SeriesError { message: format!("unexpected {text:?} in series values"), offset });
    Ok((read(start)?, step.map(read).transpose()?.unwrap_or(0.0)))
}

/// Hexadecimal is not read here: `0x3` is three zeros more.
fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']);
    let plain = text.len() - digits.len() <= 1 && !digits.to_ascii_lowercase().starts_with("0b");
    text::number(text).filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::is_stale;

    fn values(text: &str) -> Vec<f64> {
        let (_, values) = parse_series(text).unwrap();
        values.iter().map(|v| if let SeriesValue::Number(n) = v { *n } else { f64::NAN }).collect()
    }

    #[test]
    fn repetitions_count_the_first_value() {
        assert_eq!(values("a 1+2x3"), [1.0, 3.0, 5.0, 7.0]);
        assert_eq!(values("a 1-2x2 5"), [1.0, -1.0, -3.0, 5.0]);
        assert_eq!(values("a 1x3"), [1.0; 4]);
        assert_eq!(values("a 0x2"), [0.0; 3]);
        assert_eq!(values("a -1e3+1e-1x1"), [-1000.0, -999.9]);
        assert_eq!(values("a -Inf +Inf Inf"), [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY]);
        assert_eq!(parse_series("a _x2 _ 1").unwrap().1[..3], [SeriesValue::Omitted; 3]);
        assert_eq!(parse_series("a").unwrap().1, []);
        assert!(is_stale(values("a stale")[0]) && values("a NaN")[0].is_nan());
    }

    #[test]
    fn names_may_stand_outside_and_inside_of_braces() {
        for text in [r#"a.b{c="d e"}"#, r#"{"a.b"}"#] {
            let _ = parse_metric(text);
        }
        let whole = Labels::from_pairs([(METRIC_NAME, "up"), ("job", "a } b\"")]);
        for text in [r#"up{job="a } b\""}"#, r#"{__name__="up",job="a } b\"",}"#, r#"{"up", job='a } b"'}"#, r#" up {job="a } b\""} "#] {
            assert_eq!(parse_metric(text).unwrap(), whole, "{text}");
        }
        assert_eq!(parse_series("sum 1").unwrap().0, Labels::from_pairs([(METRIC_NAME, "sum")]));
        assert_eq!(parse_series("a:b{} 1").unwrap().0.name(), Some("a:b"));
        assert_eq!(parse_metric("{}").unwrap(), Labels::default());
    }

    #[test]
    fn histograms_are_recognised_and_not_read() {
        let (_, values) = parse_series("h {{schema:0 sum:1 count:2}}x2 {{}}+{{count:1}}x1 3").unwrap();
        assert_eq!(values.iter().filter(|v| **v == SeriesValue::Histogram).count(), 5);
    }

    #[test]
    fn what_is_wrong_says_where() {
        for (text, offset) in [("a 1 b", 4), ("a 1x", 3), ("a 1x99999999999", 3), ("a{b=c} 1", 4), ("a{b=\"c\" 1", 8), ("a 1+", 2)] {
            assert_eq!(parse_series(text).unwrap_err().offset, offset, "{text}");
        }
    }
}
