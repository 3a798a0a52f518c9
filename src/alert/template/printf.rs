//! Go's formatted printing.

use super::value::{Value, general, scientific, special};

/// Columns and digits that a format may ask for.
const WIDTH_MAX: usize = 10_000;

#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

pub(super) fn sprintf(format: &str, arguments: &[Value]) -> String {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    let mut next = 0;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        loop {
            match chars.peek() {
                Some('-') => spec.minus = true,
                Some('+') => spec.plus = true,
                Some('#') => spec.sharp = true,
                Some(' ') => spec.space = true,
                Some('0') => spec.zero = true,
                Some(_) | None => break,
            }
            chars.next();
        }
        spec.width = number(&mut chars, arguments, &mut next, &mut out, "WIDTH");
        if chars.peek() == Some(&'.') {
            chars.next();
            spec.precision = Some(number(&mut chars, arguments, &mut next, &mut out, "PREC").unwrap_or(0));
        }
        match chars.next() {
            None => {
                out.push_str("%!(NOVERB)");
                break;
            }
            Some('%') => out.push('%'),
            Some(verb) => match arguments.get(next) {
                None => out.push_str(&format!("%!{verb}(MISSING)")),
                Some(value) => {
                    out.push_str(&formatted(&spec, verb, value));
                    next += 1;
                }
            },
        }
    }
    if next < arguments.len() {
        let extra: Vec<String> = arguments[next..].iter().map(typed).collect();
        out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    out
}

/// Digits, or `*`, which takes an argument.
fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    arguments: &[Value],
    next: &mut usize,
    out: &mut String,
    what: &str,
) -> Option<usize> {
    if chars.peek() == Some(&'*') {
        chars.next();
        let argument = arguments.get(*next);
        *next += 1;
        return match argument {
            Some(Value::Int(number)) => usize::try_from(*number).ok().map(|number| number.min(WIDTH_MAX)),
            Some(_) | None => {
                out.push_str(&format!("%!(BAD{what})"));
                None
            }
        };
    }
    let mut found = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        found = Some((found.unwrap_or(0) * 10 + digit as usize).min(WIDTH_MAX));
        chars.next();
    }
    found
}

fn typed(value: &Value) -> String {
    match value {
        Value::Nil => "<nil>".into(),
        _ => format!("{}={value}", value.type_name()),
    }
}

fn wrong(verb: char, value: &Value) -> String {
    format!("%!{verb}({})", typed(value))
}

fn formatted(spec: &Spec, verb: char, value: &Value) -> String {
    match verb {
        'T' => return padded(spec, value.type_name().to_owned(), false),
        'v' if matches!(value, Value::Nil) => return padded(spec, "<nil>".into(), false),
        _ => {}
    }
    match value {
        Value::Bool(flag) => match verb {
            't' | 'v' => padded(spec, flag.to_string(), false),
            _ => wrong(verb, value),
        },
        Value::Int(number) => integer(spec, verb, *number).unwrap_or_else(|| wrong(verb, value)),
        Value::Float(number) => float(spec, verb, *number).unwrap_or_else(|| wrong(verb, value)),
        Value::Text(text) => string(spec, verb, text).unwrap_or_else(|| wrong(verb, value)),
        Value::Nil => wrong(verb, value),
        Value::Labels(_) | Value::Args(_) | Value::Sample(_) | Value::Samples(_) | Value::Time(_) | Value::Data(_) => match verb {
            'v' | 's' => padded(spec, value.to_string(), false),
            'q' => padded(spec, go_quote(&value.to_string()), false),
            _ => wrong(verb, value),
        },
    }
}

fn string(spec: &Spec, verb: char, text: &str) -> Option<String> {
    let cut: String = match spec.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    };
    let shown = match verb {
        'v' if spec.sharp => go_quote(&cut),
        's' | 'v' => cut,
        'q' if spec.sharp && !cut.contains('`') => format!("`{cut}`"),
        'q' => go_quote(&cut),
        'x' | 'X' => {
            let separator = if spec.space { " " } else { "" };
            let bytes: Vec<String> = cut.bytes().map(|b| if verb == 'x' { format!("{b:02x}") } else { format!("{b:02X}") }).collect();
            bytes.join(separator)
        }
        _ => return None,
    };
    Some(padded(spec, shown, false))
}

/// A text between quotes as Go's `%q` writes it.
pub(super) fn go_quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\x0b' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c == '\x7f' => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn integer(spec: &Spec, verb: char, number: i64) -> Option<String> {
    let magnitude = number.unsigned_abs();
    let (digits, prefix) = match verb {
        'd' | 'v' => (magnitude.to_string(), ""),
        'b' => (format!("{magnitude:b}"), "0b"),
        'o' => (format!("{magnitude:o}"), "0"),
        'O' => (format!("0o{magnitude:o}"), ""),
        'x' => (format!("{magnitude:x}"), "0x"),
        'X' => (format!("{magnitude:X}"), "0X"),
        'c' => return Some(padded(spec, u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}').to_string(), false)),
        'q' => {
            return Some(padded(spec, format!("'{}'", u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')), false));
        }
        'U' => return Some(padded(spec, format!("U+{number:04X}"), false)),
        _ => return None,
    };
    let digits = match spec.precision {
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    };
    let prefix = if spec.sharp { prefix } else { "" };
    Some(signed(spec, number < 0, format!("{prefix}{digits}"), spec.precision.is_none()))
}

fn float(spec: &Spec, verb: char, number: f64) -> Option<String> {
    let text = match verb {
        'f' | 'F' => special(number).map_or_else(|| format!("{number:.*}", spec.precision.unwrap_or(6)), str::to_owned),
        'e' => scientific(number, spec.precision.unwrap_or(6)),
        'E' => scientific(number, spec.precision.unwrap_or(6)).replace('e', "E"),
        'g' | 'v' => general(number, spec.precision),
        'G' => general(number, spec.precision).replace('e', "E"),
        _ => return None,
    };
    let is_finite = number.is_finite();
    if number.is_infinite() && number > 0.0 {
        return Some(padded(spec, "+Inf".into(), false));
    }
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits.to_owned()),
        None => (false, text),
    };
    Some(signed(spec, is_negative, digits, is_finite))
}

/// With its sign, zeros between sign and digits where they are asked for.
fn signed(spec: &Spec, is_negative: bool, digits: String, may_zero: bool) -> String {
    let sign = match (is_negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    };
    if spec.zero && !spec.minus && may_zero {
        let width = spec.width.unwrap_or(0).saturating_sub(sign.len());
        return format!("{sign}{digits:0>width$}");
    }
    padded(spec, format!("{sign}{digits}"), true)
}

fn padded(spec: &Spec, text: String, is_number: bool) -> String {
    let width = spec.width.unwrap_or(0);
    if spec.minus {
        format!("{text:<width$}")
    } else if spec.zero && !is_number {
        format!("{text:0>width$}")
    } else {
        format!("{text:>width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_flags_and_mistakes_are_gos() {
        let f = |format, value| sprintf(format, &[value]);
        assert_eq!(f("%.2f", Value::Float(1.005)), "1.00");
        assert_eq!(f("%8.2f|", Value::Float(-3.24159)), "   -3.24|");
        assert_eq!(f("%-8.2f|", Value::Float(3.0)), "3.00    |");
        assert_eq!(f("%08.2f", Value::Float(-3.0)), "-0003.00");
        assert_eq!(f("%+d", Value::Int(5)), "+5");
        assert_eq!(f("%05d", Value::Int(-5)), "-0005");
        assert_eq!(f("%x", Value::Int(255)), "ff");
        assert_eq!(f("%#x", Value::Int(255)), "0xff");
        assert_eq!(f("%d", Value::Float(1.0)), "%!d(float64=1)");
        assert_eq!(f("%s", Value::Float(1.0)), "%!s(float64=1)");
        assert_eq!(f("%d", Value::text("a")), "%!d(string=a)");
        assert_eq!(f("%q", Value::text("a\"b")), "\"a\\\"b\"");
        assert_eq!(f("%.3s|%%", Value::text("abcdef")), "abc|%");
        assert_eq!(f("%t", Value::Bool(true)), "true");
        assert_eq!(f("%e", Value::Float(1234.5)), "1.234500e+03");
        assert_eq!(f("%g", Value::Float(1e6)), "1e+06");
        assert_eq!(f("%v %v", Value::Int(1)), "1 %!v(MISSING)");
        assert_eq!(f("x", Value::Int(1)), "x%!(EXTRA int=1)");
        assert_eq!(f("%", Value::Int(1)), "%!(NOVERB)%!(EXTRA int=1)");
        assert_eq!(f("%T", Value::Float(1.0)), "float64");
    }
}
