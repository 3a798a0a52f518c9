//! Go's ways with strings and numbers, which PromQL's texts follow: quoting, unquoting, the printing and reading of floats.

use std::fmt::Write;

/// What a quoted text says, as bytes: `\xff` is a byte, be the whole UTF-8 or not. Accepts `"…"`, `'…'` and `` `…` ``.
pub fn unquote(quoted: &str) -> Option<Vec<u8>> {
    let mut chars = quoted.chars();
    let quote = chars.next()?;
    let body = chars.as_str().strip_suffix(quote)?;
    match quote {
        '`' => (!body.contains('`')).then(|| body.bytes().filter(|b| *b != b'\r').collect()),
        '"' | '\'' => unescape(body, quote),
        _ => None,
    }
}

fn unescape(body: &str, quote: char) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let mut chars = body.chars();
    let mut utf8 = [0; 4];
    while let Some(c) = chars.next() {
        match c {
            '\n' => return None,
            '\\' => escape(&mut chars, quote, &mut out)?,
            c if c == quote => return None,
            c => out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes()),
        }
    }
    Some(out)
}

fn escape(chars: &mut std::str::Chars<'_>, quote: char, out: &mut Vec<u8>) -> Option<()> {
    let c = chars.next()?;
    let byte = match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        c if c == quote => c as u8,
        'x' => u8::try_from(digits(chars, 2, 16, 0)?).ok()?,
        '0'..='7' => u8::try_from(digits(chars, 2, 8, c.to_digit(8)?)?).ok()?,
        'u' | 'U' => {
            let rune = char::from_u32(digits(chars, if c == 'u' { 4 } else { 8 }, 16, 0)?)?;
            out.extend_from_slice(rune.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(());
        }
        _ => return None,
    };
    out.push(byte);
    Some(())
}

fn digits(chars: &mut std::str::Chars<'_>, count: usize, radix: u32, start: u32) -> Option<u32> {
    (0..count).try_fold(start, |sum, _| sum.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?))
}

/// As Go's `%q` writes it.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| quote_char(c, &mut out));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

fn quote_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        c if (c as u32) < 0x20 || c as u32 == 0x7f => drop(write!(out, "\\x{:02x}", c as u32)),
        c if c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) || ('\u{2028}'..='\u{202e}').contains(&c) => {
            let _ = write!(out, "\\u{:04x}", c as u32);
        }
        c => out.push(c),
    }
}

/// As Go's `%v` and `%g` write a float: shortest, with an exponent below 1e-4 and from 1e6 on (100000, 1e+06, 1.23456789e+08).
pub fn general(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return fixed(value);
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&power) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", power.unsigned_abs());
    }
    fixed(value)
}

/// Shortest, never with an exponent, as Go's `'f', -1`.
pub fn fixed(value: f64) -> String {
    if value == f64::INFINITY {
        return "+Inf".into();
    }
    if value == f64::NEG_INFINITY {
        return "-Inf".into();
    }
    if value.is_nan() { "NaN".into() } else { value.to_string() }
}

/// A number as Go's `strconv` reads it: decimal, `0x`, `0b`, `0o`, leading-zero octal, hexadecimal floats, `_` between digits, Inf, NaN.
pub fn number(text: &str) -> Option<f64> {
    integer(text).or_else(|| float(text))
}

fn integer(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some(_) if lower.starts_with('0') => (8, &lower[1..]),
        Some(_) | None => (10, lower.as_str()),
    };
    let plain = without_underscores(body, radix != 10)?;
    i64::from_str_radix(&plain, radix).ok().filter(|_| !plain.starts_with(['+', '-'])).map(|n| sign * n as f64)
}

/// `None` where an underscore does not stand between digits.
fn without_underscores(digits: &str, after_prefix: bool) -> Option<String> {
    if !digits.contains('_') {
        return Some(digits.to_owned());
    }
    let bytes = digits.as_bytes();
    let between = |at: usize| {
        let before = if at == 0 { after_prefix } else { bytes[at - 1].is_ascii_hexdigit() };
        before && bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit)
    };
    bytes.iter().enumerate().all(|(at, b)| *b != b'_' || between(at)).then(|| digits.replace('_', ""))
}

fn float(text: &str) -> Option<f64> {
    let plain = without_underscores(text, false)?;
    let (negative, body) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain.as_str()),
    };
    let lower = body.to_ascii_lowercase();
    let value = match lower.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        hex if hex.starts_with("0x") => hex_float(&hex[2..]).filter(|value| value.is_finite())?,
        // What is too large is an error, and not infinite.
        decimal if decimal.starts_with(|c: char| c.is_ascii_digit() || c == '.') => decimal.parse().ok().filter(|v: &f64| v.is_finite())?,
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

fn hex_float(body: &str) -> Option<f64> {
    let (mantissa, exponent) = body.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let mut digits = whole.chars().chain(fraction.chars()).map(|c| c.to_digit(16));
    let value = digits.try_fold(0.0, |sum, digit| Some(sum * 16.0 + f64::from(digit?)));
    let power: i32 = exponent.parse().ok()?;
    Some(value? * 2f64.powi(power.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?))
}

/// A duration such as `1h30m`, in milliseconds: units from the largest to the smallest, each once.
pub fn duration_ms(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 7] =
        [("y", 31_536_000_000), ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    if text == "0" {
        return Some(0);
    }
    let (mut rest, mut next_unit, mut sum) = (text, 0, 0i64);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let count: i64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let at = UNITS.iter().position(|(unit, _)| *unit == &rest[..letters]).filter(|at| *at >= next_unit)?;
        rest = &rest[letters..];
        next_unit = at + 1;
        sum = sum.checked_add(count.checked_mul(UNITS[at].1)?)?;
    }
    // Go holds durations as nanoseconds in 64 bits.
    (next_unit > 0 && sum <= i64::MAX / 1_000_000).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_printed_as_go_prints_them() {
        let cases = [
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e-5, "1e-05"),
            (50.0, "50"),
            (100_000.0, "100000"),
            (1_234_567.0, "1.234567e+06"),
            (0.0001, "0.0001"),
            (0.1, "0.1"),
            (123_456.7, "123456.7"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "+Inf"),
            (-0.0, "-0"),
        ];
        for (value, text) in cases {
            assert_eq!(general(value), text);
        }
        assert_eq!((fixed(1e21), fixed(-1.5e-7)), ("1000000000000000000000".into(), "-0.00000015".into()));
    }

    #[test]
    fn numbers_are_read_as_go_reads_them() {
        let cases = [
            ("0x1F", Some(31.0)),
            ("0755", Some(493.0)),
            ("08", Some(8.0)),
            ("1_000", Some(1000.0)),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("0x1p4", Some(16.0)),
            ("Inf", Some(f64::INFINITY)),
            ("-inf", Some(f64::NEG_INFINITY)),
            ("0b11", Some(3.0)),
            ("e3", None),
            ("", None),
            ("1e999", None),
            ("1e", None),
        ];
        for (text, value) in cases {
            assert_eq!(number(text), value, "{text}");
        }
    }

    #[test]
    fn durations_have_units_in_order_and_once() {
        let cases = [
            ("1h30m", Some(5_400_000)),
            ("1y2w", Some(31_536_000_000 + 1_209_600_000)),
            ("5ms", Some(5)),
            ("1m1h", None),
            ("1h1h", None),
            ("5", None),
            ("0", Some(0)),
            ("1000y", None),
            ("", None),
        ];
        for (text, ms) in cases {
            assert_eq!(duration_ms(text), ms, "{text}");
        }
    }

    #[test]
    fn quoting_and_unquoting_go_through_bytes() {
        assert_eq!(unquote(r#""a\xc5z""#), Some(b"a\xc5z".to_vec()));
        assert_eq!(quote(b"a\xc5z\n\"\x01"), r#""a\xc5z\n\"\x01""#);
        assert_eq!(unquote(r"'\u1234\U00010111\377'"), Some([&b"\xe1\x88\xb4"[..], b"\xf0\x90\x84\x91", b"\xff"].concat()));
        assert_eq!(unquote(r"`a\n`"), Some(br"a\n".to_vec()));
        for bad in [r#""\c""#, r#""\'""#, r#"'"#, "\"a", r#""\ud800""#, r#""\400""#, "\"a\nb\""] {
            assert_eq!(unquote(bad), None, "{bad}");
        }
    }
}
