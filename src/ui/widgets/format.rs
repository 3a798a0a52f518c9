//! Numbers for people, in one place: units, digits, and `n/a` where there is none.

use super::text::{self, Ambiguous};
use crate::event::Pace;
use crate::ui::lang::{self, tr};

/// What stands where nothing is known.
pub const UNSET: &str = "n/a";

/// `text` of a value, or `n/a`.
pub fn or_unset<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNSET.to_owned(), text)
}

/// A latency: `<1 ms`, `12 ms`, `1.4 s`, `2m 13s`.
pub fn duration(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    match ns {
        0..1_000_000 => "<1 ms".into(),
        1_000_000..999_500_000 => format!("{ms:.0} ms"),
        999_500_000..60_000_000_000 => format!("{:.1} s", ms / 1e3),
        60_000_000_000.. => {
            let seconds = format!("{:02}", ns / 1_000_000_000 % 60);
            tr!("{minutes}m {seconds}s", minutes = ns / 60_000_000_000, seconds = seconds)
        }
    }
}

/// A latency that ends a column of so many cells.
pub fn duration_in(cells: usize, ns: u64) -> String {
    let duration = duration(ns);
    let blanks = cells.saturating_sub(text::width(&duration, Ambiguous::Narrow));
    " ".repeat(blanks) + &duration
}

/// A pace: `x2`, `max`.
pub fn pace(pace: Pace) -> String {
    match pace {
        Pace::Times(_) => pace.to_string(),
        Pace::Max => tr!("max"),
    }
}

/// A time since the run began: `02:13`, `1:02:13`.
pub fn clock(t_ns: u64) -> String {
    let seconds = t_ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes:02}:{seconds:02}") }
}

/// A time within an episode: `00:41.8`.
pub fn clock_tenths(t_ns: u64) -> String {
    format!("{}.{}", clock(t_ns), t_ns / 100_000_000 % 10)
}

/// A number of things: `412`, `3.1k`, `1.2M`.
pub fn count(n: u64) -> String {
    let x = n as f64;
    match n {
        0..1_000 => n.to_string(),
        1_000..999_950 => format!("{:.1}k", x / 1e3),
        999_950..999_950_000 => format!("{:.1}M", x / 1e6),
        999_950_000.. => format!("{:.1}G", x / 1e9),
    }
}

/// Bytes in decimal units: `512 B`, `2.1 GB`.
pub fn bytes(n: f64) -> String {
    let mut value = n.max(0.0);
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        value /= 1e3;
        unit = larger;
    }
    let digits = usize::from(value < 9.95 && unit != "B");
    format!("{value:.digits$} {unit}")
}

/// Bytes a second: `4 MB/s`.
pub fn bytes_rate(per_second: f64) -> String {
    format!("{}/s", bytes(per_second))
}

/// Used of total in the total's unit: `61/139 GB`.
pub fn bytes_of(used: u64, total: u64) -> String {
    let (mut scale, mut unit) = (1.0, "B");
    for (larger, name) in [(1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")] {
        if total as f64 >= larger {
            (scale, unit) = (larger, name);
        }
    }
    let (used, total) = (used as f64 / scale, total as f64 / scale);
    let digits = usize::from(total < 9.95 && unit != "B");
    format!("{used:.digits$}/{total:.digits$} {unit}")
}

/// A share in [0, 1]: `87.2%`.
pub fn percent(ratio: f64) -> String {
    if ratio.is_finite() { format!("{:.1}%", ratio * 100.0) } else { number(ratio) }
}

/// A share in [0, 1] without a fraction: `87%`.
pub fn percent_whole(ratio: f64) -> String {
    if ratio.is_finite() { format!("{:.0}%", ratio * 100.0) } else { number(ratio) }
}

/// A reward, always with its sign: `+0.20`.
pub fn reward(value: f64) -> String {
    if value.is_finite() { format!("{value:+.2}") } else { number(value) }
}

/// Any number in about three digits: `0.042`, `9.51`, `412`, `1.2e9`.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    match value.abs() {
        0.0 => "0".into(),
        a if a < 0.001 => format!("{value:.1e}"),
        a if a < 0.9995 => format!("{value:.3}"),
        a if a < 9.995 => format!("{value:.2}"),
        a if a < 99.95 => format!("{value:.1}"),
        a if a < 1e6 => format!("{value:.0}"),
        _ => format!("{value:.1e}"),
    }
}

/// Two numbers with as few digits as tell them apart.
pub fn apart(a: Option<f64>, b: Option<f64>) -> [String; 2] {
    let fixed = |v: f64| if v.is_finite() { format!("{v:.5}") } else { number(v) };
    let exact = |v: f64| if v.is_finite() { format!("{v}") } else { number(v) };
    let shown = |text: &dyn Fn(f64) -> String| [a, b].map(|v| or_unset(v, text));
    let ways = [shown(&number), shown(&fixed)];
    let is_same = |[a, b]: &[String; 2]| a == b;
    ways.into_iter().find(|w| !is_same(w) || a == b).unwrap_or_else(|| shown(&exact))
}

/// `1 step`, `2 steps`.
pub fn counted(n: u64, singular: &str) -> String {
    // A catalogue has the plural; one form is enough for the languages that there are.
    if let Some(translated) = lang::look_up(&format!("{{n}} {singular}s"), &[("n", count(n))]) {
        return translated;
    }
    if n == 1 { format!("1 {singular}") } else { format!("{} {singular}s", count(n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_where_people_expect() {
        assert_eq!(
            [duration(400), duration(12_300_000), duration(999_600_000), duration(133_000_000_000)],
            ["<1 ms", "12 ms", "1.0 s", "2m 13s"]
        );
        assert_eq!([count(999), count(3_100), count(999_960), count(u64::MAX)], ["999", "3.1k", "1.0M", "18446744073.7G"]);
        assert_eq!([bytes(512.0), bytes(2.14e9), bytes(61.2e9), bytes(999.6e3)], ["512 B", "2.1 GB", "61 GB", "1.0 MB"]);
        assert_eq!([bytes_of(61_000_000_000, 139_000_000_000), bytes_of(0, 0)], ["61/139 GB", "0/0 B"]);
        assert_eq!([clock_tenths(41_890_000_000), clock_tenths(3_733_000_000_000)], ["00:41.8", "1:02:13.0"]);
        assert_eq!([clock(133_000_000_000), clock(3_733_000_000_000)], ["02:13", "1:02:13"]);
    }

    #[test]
    fn units_that_have_words_are_translated_and_keep_their_columns() {
        lang::set(lang::Lang::Chinese);
        let long = [duration(133_000_000_000), duration_in(9, 133_000_000_000), duration_in(9, 12_300_000)];
        let paces = [pace(Pace::Max), pace(Pace::Times(2.0))];
        lang::set(lang::Lang::English);
        assert_eq!(long, ["2分13秒", "  2分13秒", "    12 ms"]);
        assert_eq!(paces, ["最快", "x2"]);
        assert_eq!(duration_in(9, 133_000_000_000), "   2m 13s");
    }

    #[test]
    fn unset_is_not_zero_and_not_finite_is_said() {
        assert_eq!(or_unset(None, percent), "n/a");
        assert_eq!([or_unset(Some(0.0), percent), percent(f64::NAN), reward(f64::NEG_INFINITY)], ["0.0%", "NaN", "-Inf"]);
        assert_eq!([number(0.0), number(0.0421), number(9.512), number(412.2), number(1.2e9)], ["0", "0.042", "9.51", "412", "1.2e9"]);
    }
}
