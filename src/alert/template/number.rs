//! Numbers as Go's `strconv` writes and reads them.

/// No number has more digits behind its point.
const DIGITS_MAX: usize = 1_100;

/// NaN and the infinities.
pub(super) fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// Digits of a number and the power of ten behind the first of them.
fn digits(value: f64, precision: Option<usize>) -> (String, i32) {
    let text = match precision {
        None => format!("{:e}", value.abs()),
        Some(precision) => format!("{:.*e}", precision.clamp(1, DIGITS_MAX) - 1, value.abs()),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// `%g`: the shortest digits, or as many as `precision` says, trailing zeros gone.
pub(super) fn general(value: f64, precision: Option<usize>) -> String {
    if let Some(text) = special(value) {
        return text.into();
    }
    let (digits, exponent) = digits(value, precision);
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let mut limit = precision.map_or(6, |precision| i32::try_from(precision.max(1)).unwrap_or(i32::MAX));
    if precision.is_some() && limit > count && count > exponent {
        limit = count;
    }
    // Six is where the shortest form turns to a power; digits that are there anyway are written.
    if precision.is_none() {
        limit = 21.min(limit);
    }
    if exponent < -4 || exponent >= limit {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}{}", power('e', exponent));
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// `e+06`
fn power(letter: char, exponent: i32) -> String {
    format!("{letter}{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// `%e`
pub(super) fn scientific(value: f64, precision: usize) -> String {
    if let Some(text) = special(value) {
        return text.into();
    }
    let (own, more) = split_precision(precision);
    let text = format!("{value:.own$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{mantissa}{}{}", "0".repeat(more), power('e', exponent.parse().unwrap_or(0)))
}

/// `%f`
pub(super) fn fixed(value: f64, precision: usize) -> String {
    let (own, more) = split_precision(precision);
    special(value).map_or_else(|| format!("{value:.own$}") + &"0".repeat(more), str::to_owned)
}

/// Digits that a number can have, and the zeros behind them: Rust's own precision ends at 65,535.
fn split_precision(precision: usize) -> (usize, usize) {
    let own = precision.min(DIGITS_MAX);
    (own, precision - own)
}

/// Mantissa of 53 bits and the power of two that it is multiplied with.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1_074) } else { (fraction | 1 << 52, exponent - 1_075) }
}

/// `%b`: mantissa and power of two.
pub(super) fn binary(value: f64) -> String {
    if let Some(text) = special(value) {
        return text.into();
    }
    let (mantissa, exponent) = parts(value);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    format!("{sign}{mantissa}p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// `%x`: one digit before the point, with as many behind it as `precision` says, or as are needed.
pub(super) fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    if let Some(text) = special(value) {
        return text.into();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let (mut mantissa, mut exponent) = parts(value);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // The leading one stands at bit 60, so that all else is 15 digits.
        let shift = mantissa.leading_zeros() as i32 - 3;
        mantissa <<= shift;
        exponent += 60 - shift;
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let shift = 60 - 4 * precision as u32;
        let (rest, half) = (mantissa & ((1 << shift) - 1), 1 << (shift - 1));
        mantissa >>= shift;
        // Half goes to the even digit.
        if rest > half || rest == half && mantissa & 1 == 1 {
            mantissa += 1;
        }
        mantissa <<= shift;
        if mantissa >> 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let whole = mantissa >> 60;
    let all = format!("{:015x}", mantissa & ((1 << 60) - 1));
    let fraction = match precision {
        None => all.trim_end_matches('0').to_owned(),
        Some(precision) => all.chars().chain(std::iter::repeat('0')).take(precision).collect(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}0x{whole}{point}{fraction}{}", power('p', exponent))
}

/// `ParseFloat`: `None` where it is no number, or too large a one.
pub(super) fn parse(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = digits.to_ascii_lowercase();
    match lower.as_str() {
        "inf" | "infinity" => return text.parse().ok(),
        "nan" => return (digits.len() == text.len()).then_some(f64::NAN),
        _ => {}
    }
    if let Some(hex) = lower.strip_prefix("0x") {
        let value = hexadecimal_value(hex)?;
        return Some(if text.starts_with('-') { -value } else { value });
    }
    if !lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    without_underscores(text)?.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// `1.8p-2`, without the prefix; the power is needed.
fn hexadecimal_value(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || exponent.is_empty() {
        return None;
    }
    let exponent: i32 = exponent.parse().ok()?;
    let mut value = 0.0;
    for digit in digits.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let power = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    Some(value * 2f64.powi(power)).filter(|value| value.is_finite())
}

/// Without the underscores, which have to stand between digits.
pub(super) fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_hexdigit);
    let misplaced = |(at, byte): (usize, &u8)| *byte == b'_' && !(is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    (!bytes.iter().enumerate().any(misplaced)).then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        for (value, text) in [
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e-5, "1e-05"),
            (50.0, "50"),
            (0.5, "0.5"),
            (0.0001, "0.0001"),
            (0.0, "0"),
            (123_456.0, "123456"),
            (1e21, "1e+21"),
            (-2.5, "-2.5"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (100_000.0, "100000"),
            (-0.0, "-0"),
        ] {
            assert_eq!(general(value, None), text);
        }
        for (value, text) in
            [(1234.567, "1235"), (1.235, "1.235"), (12345.0, "1.234e+04"), (0.0, "0"), (12.0, "12"), (999.99, "1000"), (1e-7, "1e-07")]
        {
            assert_eq!(general(value, Some(4)), text);
        }
        assert_eq!(scientific(12345.678, 2), "1.23e+04");
        for (value, text) in [(1.0, "0x1p+00"), (1.5, "0x1.8p+00"), (-0.1, "-0x1.999999999999ap-04"), (0.0, "0x0p+00"), (1024.0, "0x1p+10")]
        {
            assert_eq!(hexadecimal(value, None), text);
        }
        assert_eq!((hexadecimal(1.999, Some(1)), hexadecimal(1.0, Some(3))), ("0x1.0p+01".into(), "0x1.000p+00".into()));
        assert_eq!(binary(1.0), "4503599627370496p-52");
    }

    #[test]
    fn numbers_are_read_as_go_reads_them() {
        for (text, value) in
            [("1", 1.0), ("-1.5e3", -1500.0), (".5", 0.5), ("5.", 5.0), ("+Inf", f64::INFINITY), ("0x1.8p1", 3.0), ("08", 8.0)]
        {
            assert_eq!(parse(text), Some(value), "{text}");
        }
        for text in ["", " 1", "1 ", "1e999", "+nan", "0x1", "1__0", "_1", "infinit", "1e", "x", "."] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
