//! Go's formatted printing.

use super::number::{binary, fixed, general, hexadecimal, scientific};
use super::time::{DAYS, MONTHS, duration_text};
use super::value::{Data, Sample, Value};
use std::collections::BTreeMap;

/// Width and precision beyond this are no number to Go.
const NUMBER_MAX: i64 = 1_000_000;

#[derive(Clone, Copy, Default)]
struct Spec {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%+v` and `%#v`.
    names: bool,
    go: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// More than `bytes_max` were asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Go's `Sprintf`. What a verb can't show is told in the text, as Go tells it.
pub(super) fn sprintf(format: &str, arguments: &[Value], bytes_max: usize) -> Result<String, TooLong> {
    let mut printer = Printer { rest: format, arguments, next: 0, is_reordered: false, is_index_good: true, out: String::new() };
    while let Some(at) = printer.rest.find('%') {
        printer.out.push_str(&printer.rest[..at]);
        printer.rest = &printer.rest[at + 1..];
        printer.directive();
        if printer.out.len() > bytes_max {
            return Err(TooLong);
        }
    }
    printer.out.push_str(printer.rest);
    printer.extra();
    if printer.out.len() > bytes_max { Err(TooLong) } else { Ok(printer.out) }
}

/// Go's `%v`.
pub(super) fn plain(value: &Value) -> String {
    formatted(&Spec::default(), 'v', value)
}

/// As an action `{{ value }}` shows one: what is nothing has no value, and a pointer is what it points to.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Nil => "<no value>".into(),
        Value::Sample(sample) => structure_of(&Spec::default(), 'v', sample),
        value => plain(value),
    }
}

struct Printer<'p> {
    rest: &'p str,
    arguments: &'p [Value],
    /// The argument that comes next.
    next: usize,
    is_reordered: bool,
    is_index_good: bool,
    out: String,
}

impl Printer<'_> {
    /// What follows a `%`.
    fn directive(&mut self) {
        self.is_index_good = true;
        let mut spec = self.flags();
        let mut behind_index = self.index();
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            match self.starred() {
                Some(width) => {
                    spec.minus |= width < 0;
                    spec.zero &= width >= 0;
                    spec.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => self.out.push_str("%!(BADWIDTH)"),
            }
            behind_index = false;
        } else {
            spec.width = self.digits();
            self.is_index_good &= !(behind_index && spec.width.is_some());
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            self.is_index_good &= !behind_index;
            behind_index = self.index();
            if let Some(rest) = self.rest.strip_prefix('*') {
                self.rest = rest;
                spec.precision = self.starred().and_then(|precision| usize::try_from(precision).ok());
                if spec.precision.is_none() {
                    self.out.push_str("%!(BADPREC)");
                }
                behind_index = false;
            } else {
                spec.precision = Some(self.digits().unwrap_or(0));
            }
        }
        if !behind_index {
            self.index();
        }
        let Some(verb) = self.rest.chars().next() else {
            self.out.push_str("%!(NOVERB)");
            return;
        };
        self.rest = &self.rest[verb.len_utf8()..];
        self.verb(spec, verb);
    }

    fn flags(&mut self) -> Spec {
        let mut spec = Spec::default();
        while let Some(c) = self.rest.chars().next() {
            match c {
                '#' => spec.sharp = true,
                '0' => spec.zero = !spec.minus,
                '+' => spec.plus = true,
                '-' => (spec.minus, spec.zero) = (true, false),
                ' ' => spec.space = true,
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
        spec
    }

    fn verb(&mut self, mut spec: Spec, verb: char) {
        match (verb, self.arguments.get(self.next)) {
            ('%', _) => self.out.push('%'),
            (verb, _) if !self.is_index_good => self.out.push_str(&format!("%!{verb}(BADINDEX)")),
            (verb, None) => self.out.push_str(&format!("%!{verb}(MISSING)")),
            (verb, Some(value)) => {
                if verb == 'v' {
                    (spec.go, spec.sharp) = (spec.sharp, false);
                    (spec.names, spec.plus) = (spec.plus, false);
                }
                // An error is wrapped by `Errorf` alone.
                let shown = if verb == 'w' { wrong(&spec, verb, value) } else { formatted(&spec, verb, value) };
                self.out.push_str(&shown);
                self.next += 1;
            }
        }
    }

    /// `[n]`: whether there was one that was right.
    fn index(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix('[') else { return false };
        self.is_reordered = true;
        let Some((inner, behind)) = rest.split_once(']') else {
            self.is_index_good = false;
            self.rest = rest;
            return false;
        };
        self.rest = behind;
        let number = inner.parse::<usize>().ok().filter(|_| inner.bytes().all(|b| b.is_ascii_digit()));
        match number.filter(|number| (1..=self.arguments.len()).contains(number)) {
            Some(number) => {
                self.next = number - 1;
                true
            }
            None => {
                self.is_index_good = false;
                false
            }
        }
    }

    /// The whole number that `*` stands for.
    fn starred(&mut self) -> Option<i64> {
        let number = self.arguments.get(self.next)?.integer();
        self.next += 1;
        number.filter(|number| number.abs() <= NUMBER_MAX)
    }

    /// Digits of a width or a precision; where they say too much, Go reads no further.
    fn digits(&mut self) -> Option<usize> {
        let count = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let number = digits.parse::<i64>().unwrap_or(if count == 0 { -1 } else { i64::MAX });
        if number > NUMBER_MAX {
            self.rest = "";
        }
        usize::try_from(number).ok().filter(|_| number <= NUMBER_MAX)
    }

    fn extra(&mut self) {
        if self.is_reordered || self.next >= self.arguments.len() {
            return;
        }
        let spec = Spec::default();
        let extra: Vec<String> = self.arguments[self.next..].iter().map(|value| typed(&spec, value)).collect();
        self.out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
}

fn typed(spec: &Spec, value: &Value) -> String {
    match value {
        Value::Nil => "<nil>".into(),
        _ => format!("{}={}", value.type_name(), formatted(spec, 'v', value)),
    }
}

/// What a type says of itself is not asked then.
fn wrong(spec: &Spec, verb: char, value: &Value) -> String {
    let shown = match value {
        Value::Duration(number) | Value::Month(number) | Value::Weekday(number) => {
            format!("{}={}", value.type_name(), formatted(spec, 'v', &Value::Int(*number)))
        }
        value => typed(spec, value),
    };
    format!("%!{verb}({shown})")
}

fn formatted(spec: &Spec, verb: char, value: &Value) -> String {
    if verb == 'T' {
        return cut_and_padded(spec, value.type_name());
    }
    let done = match value {
        Value::Nil if verb == 'v' => Some(padded(spec, "<nil>")),
        Value::Nil => None,
        Value::Bool(flag) => matches!(verb, 't' | 'v').then(|| padded(spec, if *flag { "true" } else { "false" })),
        Value::Int(number) | Value::Int64(number) => integer(spec, verb, *number, true),
        Value::Byte(number) => integer(spec, verb, i64::from(*number), false),
        Value::Float(number) => float(spec, verb, *number),
        Value::Text(text) | Value::Html(text) => string(spec, verb, text),
        Value::Time(time) => named(spec, verb, &time.to_string(), None),
        Value::Duration(ns) => named(spec, verb, &duration_text(*ns), Some(*ns)),
        Value::Month(month) => named(spec, verb, name_in(&MONTHS, *month - 1), Some(*month)),
        Value::Weekday(day) => named(spec, verb, name_in(&DAYS, *day), Some(*day)),
        Value::Labels(map) => {
            return listed(spec, "map[string]string", map.iter().map(|(name, value)| pair(spec, verb, name, &Value::text(value))));
        }
        Value::Args(map) => return listed(spec, "map[string]interface {}", map.iter().map(|(name, value)| pair(spec, verb, name, value))),
        Value::Sample(sample) => Some(format!("&{}", structure_of(spec, verb, sample))),
        // Go shows addresses here, which tell nobody anything.
        Value::Samples(samples) => {
            let shown: Vec<String> = samples.iter().map(|sample| format!("&{}", structure_of(spec, verb, sample))).collect();
            Some(format!("[{}]", shown.join(" ")))
        }
        Value::Data(data) => Some(data_of(spec, verb, data)),
    };
    done.unwrap_or_else(|| wrong(spec, verb, value))
}

fn name_in(names: &[&'static str], at: i64) -> &'static str {
    usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or("%!(BAD)")
}

/// Of a type that says itself how it is written.
fn named(spec: &Spec, verb: char, text: &str, number: Option<i64>) -> Option<String> {
    match (verb, number) {
        ('v', Some(number)) if spec.go => integer(&Spec { go: false, ..*spec }, 'd', number, true),
        ('v' | 's' | 'x' | 'X' | 'q', _) => string(&Spec { go: false, ..*spec }, verb, text),
        (verb, Some(number)) => integer(spec, verb, number, true),
        (_, None) => None,
    }
}

fn pair(spec: &Spec, verb: char, name: &str, value: &Value) -> String {
    format!("{}:{}", formatted(spec, verb, &Value::text(name)), element(spec, verb, value))
}

/// Within something an interface that is nothing is always `<nil>`.
fn element(spec: &Spec, verb: char, value: &Value) -> String {
    match value {
        Value::Nil if spec.go => "interface {}(nil)".into(),
        Value::Nil => "<nil>".into(),
        value => formatted(spec, verb, value),
    }
}

fn listed(spec: &Spec, type_name: &str, pairs: impl Iterator<Item = String>) -> String {
    let pairs: Vec<String> = pairs.collect();
    if spec.go { format!("{type_name}{{{}}}", pairs.join(", ")) } else { format!("map[{}]", pairs.join(" ")) }
}

fn structure(spec: &Spec, verb: char, type_name: &str, fields: &[(&str, Value)]) -> String {
    let shown = |(name, value): &(&str, Value)| {
        let value = formatted(spec, verb, value);
        if spec.go || spec.names { format!("{name}:{value}") } else { value }
    };
    let fields: Vec<String> = fields.iter().map(shown).collect();
    if spec.go { format!("{type_name}{{{}}}", fields.join(", ")) } else { format!("{{{}}}", fields.join(" ")) }
}

fn structure_of(spec: &Spec, verb: char, sample: &Sample) -> String {
    let labels: &std::sync::Arc<BTreeMap<String, String>> = &sample.labels;
    let fields = [("Labels", Value::Labels(std::sync::Arc::clone(labels))), ("Value", Value::Float(sample.value))];
    structure(spec, verb, "template.sample", &fields)
}

fn data_of(spec: &Spec, verb: char, data: &Data) -> String {
    let fields = [
        ("Labels", Value::Labels(std::sync::Arc::clone(&data.labels))),
        ("ExternalLabels", Value::Labels(std::sync::Arc::clone(&data.external_labels))),
        ("ExternalURL", Value::Text(std::sync::Arc::clone(&data.external_url))),
        ("Value", Value::Float(data.value)),
    ];
    structure(
        spec,
        verb,
        "struct { Labels map[string]string; ExternalLabels map[string]string; ExternalURL string; Value float64 }",
        &fields,
    )
}

fn string(spec: &Spec, verb: char, text: &str) -> Option<String> {
    match verb {
        'v' if spec.go => Some(quoted(spec, text)),
        's' | 'v' => Some(cut_and_padded(spec, text)),
        'q' => Some(quoted(spec, text)),
        'x' | 'X' => Some(hex_text(spec, verb, text)),
        _ => None,
    }
}

fn cut<'t>(spec: &Spec, text: &'t str) -> &'t str {
    let end = spec.precision.and_then(|precision| text.char_indices().nth(precision));
    end.map_or(text, |(at, _)| &text[..at])
}

fn cut_and_padded(spec: &Spec, text: &str) -> String {
    padded(spec, cut(spec, text))
}

fn quoted(spec: &Spec, text: &str) -> String {
    let cut = cut(spec, text);
    let is_raw = |c: char| c == '\t' || c != '`' && c != '\u{feff}' && (c as u32) >= 0x20 && c != '\x7f';
    let shown = if spec.sharp && cut.chars().all(is_raw) { format!("`{cut}`") } else { quote(cut, '"', spec.plus) };
    padded(spec, &shown)
}

/// Every byte as two digits.
fn hex_text(spec: &Spec, verb: char, text: &str) -> String {
    let length = spec.precision.unwrap_or(usize::MAX).min(text.len());
    let digits = |byte: &u8| if verb == 'x' { format!("{byte:02x}") } else { format!("{byte:02X}") };
    let prefix = format!("0{verb}");
    let bytes: Vec<String> = text.as_bytes()[..length].iter().map(digits).collect();
    let shown = match (spec.space, spec.sharp && length > 0) {
        (true, true) => bytes.iter().map(|byte| format!("{prefix}{byte}")).collect::<Vec<_>>().join(" "),
        (true, false) => bytes.join(" "),
        (false, true) => format!("{prefix}{}", bytes.concat()),
        (false, false) => bytes.concat(),
    };
    padded(spec, &shown)
}

/// A text between quotes as Go's `%q` writes it.
pub(super) fn go_quote(text: &str) -> String {
    quote(text, '"', false)
}

fn quote(text: &str, mark: char, is_ascii: bool) -> String {
    let mut out = String::from(mark);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if c == mark => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\x0b' => out.push_str("\\v"),
            c if c.is_ascii() && !c.is_ascii_control() => out.push(c),
            c if c.is_ascii() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if !is_ascii && is_printable(c) => out.push(c),
            c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push(mark);
    out
}

/// Letters, marks, numbers, signs and the space, as Go counts them.
pub(super) fn is_printable(c: char) -> bool {
    // Of a text that does not begin with it, a mark is shown as it is.
    c == '\\' || matches!(c, '"' | '\'') || !format!("x{c}").escape_debug().any(|c| c == '\\')
}

fn integer(spec: &Spec, verb: char, number: i64, is_signed: bool) -> Option<String> {
    let magnitude = number.unsigned_abs();
    let character = u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
    let digits = match verb {
        'v' if spec.go && !is_signed => format!("{magnitude:x}"),
        'd' | 'v' => magnitude.to_string(),
        'b' => format!("{magnitude:b}"),
        'o' | 'O' => format!("{magnitude:o}"),
        'x' => format!("{magnitude:x}"),
        'X' => format!("{magnitude:X}"),
        'c' => return Some(padded(spec, &character.to_string())),
        'q' => return Some(padded(spec, &quote(&character.to_string(), '\'', spec.plus))),
        'U' => return Some(code_point(spec, number, character)),
        _ => return None,
    };
    if spec.precision == Some(0) && number == 0 {
        return Some(padded(&Spec { zero: false, ..*spec }, ""));
    }
    let has_sign = number < 0 || spec.plus || spec.space;
    let least = match (spec.precision, spec.width) {
        (Some(precision), _) => precision,
        (None, Some(width)) if spec.zero => width.saturating_sub(usize::from(has_sign)),
        (None, _) => 0,
    };
    let mut digits = zeros_before(&digits, least);
    let is_go = verb == 'v' && spec.go && !is_signed;
    let prefix = match verb {
        'O' if spec.sharp && !digits.starts_with('0') => "0o0",
        'b' if spec.sharp => "0b",
        'o' if spec.sharp && !digits.starts_with('0') => "0",
        'x' if spec.sharp => "0x",
        'X' if spec.sharp => "0X",
        'O' => "0o",
        _ if is_go => "0x",
        _ => "",
    };
    digits.insert_str(0, prefix);
    if has_sign {
        digits.insert(
            0,
            if number < 0 {
                '-'
            } else if spec.plus {
                '+'
            } else {
                ' '
            },
        );
    }
    Some(padded(&Spec { zero: false, ..*spec }, &digits))
}

/// `U+0041`
fn code_point(spec: &Spec, number: i64, character: char) -> String {
    let least = spec.precision.unwrap_or(0).max(4);
    let mut text = format!("U+{}", zeros_before(&format!("{:X}", number as u64), least));
    if spec.sharp && u32::try_from(number).is_ok_and(|code| char::from_u32(code).is_some()) && is_printable(character) {
        text.push_str(&format!(" '{character}'"));
    }
    padded(&Spec { zero: false, ..*spec }, &text)
}

fn float(spec: &Spec, verb: char, number: f64) -> Option<String> {
    let precision = spec.precision;
    let text = match verb {
        'f' | 'F' => fixed(number, precision.unwrap_or(6)),
        'e' | 'E' => scientific(number, precision.unwrap_or(6)),
        'g' | 'G' | 'v' => general(number, precision),
        'x' | 'X' => hexadecimal(number, precision),
        'b' => binary(number),
        _ => return None,
    };
    let text = match verb {
        'E' | 'G' if number.is_finite() => text.replace('e', "E"),
        'X' if number.is_finite() => text.to_uppercase(),
        _ => text,
    };
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (if text.starts_with('-') { '-' } else { '+' }, digits),
        None => ('+', text.as_str()),
    };
    let sign = if sign == '+' && spec.space && !spec.plus { ' ' } else { sign };
    if !number.is_finite() {
        let is_bare = number.is_nan() && !spec.space && !spec.plus;
        let shown = if is_bare { digits.to_owned() } else { format!("{sign}{digits}") };
        return Some(padded(&Spec { zero: false, ..*spec }, &shown));
    }
    let digits = if spec.sharp && verb != 'b' { pointed(digits, verb, precision) } else { digits.to_owned() };
    if !spec.plus && sign == '+' {
        return Some(padded(spec, &digits));
    }
    // Zeros stand between sign and digits.
    if spec.zero {
        let width = spec.width.unwrap_or(0).saturating_sub(1);
        return Some(format!("{sign}{}", zeros_before(&digits, width)));
    }
    Some(padded(spec, &format!("{sign}{digits}")))
}

/// With a point, and with the zeros that `%g` leaves out.
fn pointed(digits: &str, verb: char, precision: Option<usize>) -> String {
    let is_hex = matches!(verb, 'x' | 'X');
    let tail_at = digits.find(if is_hex { ['p', 'P'] } else { ['e', 'E'] }).unwrap_or(digits.len());
    let (mantissa, tail) = digits.split_at(tail_at);
    let mut wanted = match verb {
        'g' | 'G' | 'v' | 'x' => precision.map_or(6, |precision| precision as i64),
        _ => 0,
    };
    let significant = mantissa.trim_start_matches(['0', '.']);
    // Go counts the prefix of a hexadecimal number among its digits.
    let from = if is_hex { mantissa.trim_start_matches('0') } else { significant };
    wanted -= from.chars().filter(|c| *c != '.').count() as i64;
    let mut out = mantissa.to_owned();
    if !mantissa.contains('.') {
        wanted -= i64::from(mantissa == "0");
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', usize::try_from(wanted).unwrap_or(0)));
    out + tail
}

/// Rust's own widths end at 65,535.
fn padded(spec: &Spec, text: &str) -> String {
    let filler = if spec.zero { "0" } else { " " };
    let missing = filler.repeat(spec.width.unwrap_or(0).saturating_sub(text.chars().count()));
    if spec.minus { format!("{text}{missing}") } else { format!("{missing}{text}") }
}

/// With zeros before it, up to a length.
fn zeros_before(text: &str, length: usize) -> String {
    "0".repeat(length.saturating_sub(text.len())) + text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_gos() {
        let f = |format: &str, value: Value| sprintf(format, &[value], 1 << 20).unwrap();
        assert_eq!(f("%.2f", Value::Float(1234.5)), "1234.50");
        assert_eq!(f("%8.3f|", Value::Float(1.0)), "   1.000|");
        assert_eq!(f("%-8.1f|", Value::Float(1.0)), "1.0     |");
        assert_eq!(f("%+d", Value::Int(5)), "+5");
        assert_eq!(f("%05d", Value::Int(-42)), "-0042");
        assert_eq!(f("%x", Value::Int(255)), "ff");
        assert_eq!(f("%#x", Value::Int(255)), "0xff");
        assert_eq!(f("%5d", Value::Float(1.0)), "%!d(float64=    1)");
        assert_eq!(f("%s", Value::Float(1.0)), "%!s(float64=1)");
        assert_eq!(f("%d", Value::text("a")), "%!d(string=a)");
        assert_eq!(f("%q", Value::text("a\"b")), "\"a\\\"b\"");
        assert_eq!(f("%.3s|%%", Value::text("abcdef")), "abc|%");
        assert_eq!(f("%t", Value::Bool(true)), "true");
        assert_eq!(f("%e", Value::Float(1234.5)), "1.234500e+03");
        assert_eq!(f("%g", Value::Float(1e6)), "1e+06");
        assert_eq!(f("%#g", Value::Float(1.0)), "1.00000");
        assert_eq!(f("%v %v", Value::Int(1)), "1 %!v(MISSING)");
        assert_eq!(f("%[1]v %[1]T %[3]v", Value::Int(1)), "1 int %!v(BADINDEX)");
        assert_eq!(f("x", Value::Int(1)), "x%!(EXTRA int=1)");
        assert_eq!(f("%", Value::Int(1)), "%!(NOVERB)%!(EXTRA int=1)");
        assert_eq!(f("%T", Value::Float(1.0)), "float64");
        assert_eq!(f("%9999999d", Value::Int(1)), "%!(NOVERB)%!(EXTRA int=1)");
    }

    #[test]
    fn a_width_of_a_million_is_the_most() {
        assert_eq!(sprintf("%1000000d%1000000d", &[Value::Int(1), Value::Int(2)], 1 << 20), Err(TooLong));
        assert_eq!(sprintf(&"%[1]1000000d".repeat(100_000), &[Value::Int(1)], 1 << 20), Err(TooLong));
        let long = sprintf("%.1000000f", &[Value::Float(0.1)], 1 << 20).unwrap();
        assert_eq!((long.len(), &long[..8]), (1_000_002, "0.100000"));
    }
}
