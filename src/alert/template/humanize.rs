//! Numbers as people read them, as Prometheus' functions of these names write them.

use super::number::general;
use super::time::Time;

const LARGE: [&str; 8] = ["k", "M", "G", "T", "P", "E", "Z", "Y"];
const LARGE_BINARY: [&str; 8] = ["ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"];
const SMALL: [&str; 8] = ["m", "u", "n", "p", "f", "a", "z", "y"];

/// Go's `%.4g`.
fn four(value: f64) -> String {
    general(value, Some(4))
}

fn scaled(mut value: f64, step: f64, prefixes: &[&'static str]) -> (f64, &'static str) {
    let mut prefix = "";
    for next in prefixes {
        if value.abs() < step {
            break;
        }
        (value, prefix) = (value / step, next);
    }
    (value, prefix)
}

fn magnified(mut value: f64) -> (f64, &'static str) {
    let mut prefix = "";
    for next in SMALL {
        if value.abs() >= 1.0 {
            break;
        }
        (value, prefix) = (value * 1000.0, next);
    }
    (value, prefix)
}

pub(super) fn humanize(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return four(value);
    }
    let (value, prefix) = if value.abs() >= 1.0 { scaled(value, 1000.0, &LARGE) } else { magnified(value) };
    four(value) + prefix
}

pub(super) fn humanize_1024(value: f64) -> String {
    if value.abs() <= 1.0 || !value.is_finite() {
        return four(value);
    }
    let (value, prefix) = scaled(value, 1024.0, &LARGE_BINARY);
    four(value) + prefix
}

pub(super) fn humanize_percentage(value: f64) -> String {
    four(value * 100.0) + "%"
}

/// Of seconds.
pub(super) fn humanize_duration(value: f64) -> String {
    if !value.is_finite() {
        return four(value);
    }
    if value == 0.0 {
        return four(value) + "s";
    }
    if value.abs() < 1.0 {
        let (value, prefix) = magnified(value);
        return format!("{}{prefix}s", four(value));
    }
    let (sign, value) = if value < 0.0 { ("-", -value) } else { ("", value) };
    // What is too large turns to the least number there.
    let whole = if value < i64::MAX as f64 { value as i64 } else { i64::MIN };
    let (seconds, minutes, hours, days) = (whole % 60, whole / 60 % 60, whole / 3_600 % 24, whole / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{sign}{}s", four(value)),
        (0, 0, _) => format!("{sign}{minutes}m {seconds}s"),
        (0, _, _) => format!("{sign}{hours}h {minutes}m {seconds}s"),
        (_, _, _) => format!("{sign}{days}d {hours}h {minutes}m {seconds}s"),
    }
}

/// Of seconds since 1970.
pub(super) fn humanize_timestamp(value: f64) -> Result<String, String> {
    if !value.is_finite() {
        return Ok(four(value));
    }
    time(value).map(|time| time.to_string())
}

/// The time at so many seconds since 1970, cut to milliseconds.
pub(super) fn time(seconds: f64) -> Result<Time, String> {
    let nanoseconds = seconds * 1e9;
    if !seconds.is_finite() {
        return Err("value is NaN or Inf".into());
    }
    let overflows = || format!("{} cannot be represented as a nanoseconds timestamp since it overflows int64", general(seconds, None));
    if nanoseconds.abs() >= i64::MAX as f64 {
        return Err(overflows());
    }
    Time::from_ms(nanoseconds as i64 / 1_000_000).ok_or_else(overflows)
}
