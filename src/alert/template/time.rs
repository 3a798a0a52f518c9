//! Go's times, durations, months and days of the week, as far as rules use them.

use std::fmt::Write as _;

const SECOND_NS: i64 = 1_000_000_000;
pub(super) const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
pub(super) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A point in time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time(pub jiff::Timestamp);

impl Time {
    /// `None` outside of the years that are known here, which are more than Go can count nanoseconds for.
    pub fn from_ms(ms: i64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(ms).ok().map(Self)
    }

    pub fn civil(self) -> jiff::civil::DateTime {
        jiff::tz::TimeZone::UTC.to_datetime(self.0)
    }

    /// Days since Sunday.
    pub fn weekday(self) -> i64 {
        i64::from(self.civil().weekday().to_sunday_zero_offset())
    }

    pub fn plus_ns(self, ns: i64) -> Option<Self> {
        self.0.checked_add(jiff::SignedDuration::from_nanos(ns)).ok().map(Self)
    }

    /// Nanoseconds since the other, no more than Go can count.
    pub fn since_ns(self, other: Self) -> i64 {
        let ns = self.0.as_nanosecond() - other.0.as_nanosecond();
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Down to a multiple of the duration since the year 1, as Go counts.
    pub fn truncated(self, ns: i64) -> Option<Self> {
        if ns <= 0 {
            return Some(self);
        }
        let year_one = i128::from(SECOND_NS) * -62_135_596_800;
        let rest = (self.0.as_nanosecond() - year_one).rem_euclid(i128::from(ns));
        jiff::Timestamp::from_nanosecond(self.0.as_nanosecond() - rest).ok().map(Self)
    }

    /// To the nearest multiple of the duration; half goes up.
    pub fn rounded(self, ns: i64) -> Option<Self> {
        let down = self.truncated(ns)?;
        let rest = self.since_ns(down);
        if ns <= 0 || rest < ns - rest { Some(down) } else { down.plus_ns(ns) }
    }

    /// Years, months and days more; a day that a month has not runs over into the next, as Go has it.
    pub fn plus_date(self, years: i64, months: i64, days: i64) -> Option<Self> {
        let civil = self.civil();
        let months = (i64::from(civil.year()) + years).checked_mul(12)?.checked_add(i64::from(civil.month()) - 1)?.checked_add(months)?;
        let year = i16::try_from(months.div_euclid(12)).ok()?;
        let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
        let first = jiff::civil::Date::new(year, month, 1).ok()?;
        let days = jiff::Span::new().try_days(days.checked_add(i64::from(civil.day()) - 1)?).ok()?;
        let date = first.checked_add(days).ok()?;
        jiff::tz::TimeZone::UTC.to_timestamp(date.to_datetime(civil.time())).ok().map(Self)
    }

    /// By Go's layouts: the reference time is `Mon Jan 2 15:04:05.999999999 MST 2006`.
    pub fn format(self, layout: &str) -> String {
        let mut out = String::new();
        let mut rest = layout;
        while let Some(c) = rest.chars().next() {
            match ELEMENTS.iter().find(|(name, _)| starts_with(rest, name)) {
                Some((name, element)) => {
                    self.element(*element, &mut out);
                    rest = &rest[name.len()..];
                }
                None => {
                    let fraction = fraction_bytes(rest);
                    if fraction > 0 {
                        self.fraction(&rest[..fraction], &mut out);
                        rest = &rest[fraction..];
                    } else {
                        out.push(c);
                        rest = &rest[c.len_utf8()..];
                    }
                }
            }
        }
        out
    }

    fn element(self, element: Element, out: &mut String) {
        let civil = self.civil();
        let (hour, twelve) = (civil.hour(), (civil.hour() + 11) % 12 + 1);
        let month = MONTHS.get(civil.month() as usize - 1).copied().unwrap_or_default();
        let day = DAYS.get(self.weekday() as usize).copied().unwrap_or_default();
        let written = match element {
            Element::Year => write!(out, "{:04}", civil.year()),
            Element::ShortYear => write!(out, "{:02}", civil.year().rem_euclid(100)),
            Element::LongMonth => write!(out, "{month}"),
            Element::ShortMonth => write!(out, "{}", &month[..3]),
            Element::ZeroMonth => write!(out, "{:02}", civil.month()),
            Element::Month => write!(out, "{}", civil.month()),
            Element::LongDay => write!(out, "{day}"),
            Element::ShortDay => write!(out, "{}", &day[..3]),
            Element::YearDay => write!(out, "{:03}", civil.day_of_year()),
            Element::SpaceYearDay => write!(out, "{:3}", civil.day_of_year()),
            Element::ZeroDay => write!(out, "{:02}", civil.day()),
            Element::SpaceDay => write!(out, "{:2}", civil.day()),
            Element::Day => write!(out, "{}", civil.day()),
            Element::Hour => write!(out, "{hour:02}"),
            Element::ZeroTwelve => write!(out, "{twelve:02}"),
            Element::Twelve => write!(out, "{twelve}"),
            Element::ZeroMinute => write!(out, "{:02}", civil.minute()),
            Element::Minute => write!(out, "{}", civil.minute()),
            Element::ZeroSecond => write!(out, "{:02}", civil.second()),
            Element::Second => write!(out, "{}", civil.second()),
            Element::Noon => write!(out, "{}", if hour < 12 { "AM" } else { "PM" }),
            Element::SmallNoon => write!(out, "{}", if hour < 12 { "am" } else { "pm" }),
            Element::Zone => write!(out, "UTC"),
            Element::Z => write!(out, "Z"),
            Element::Offset(text) => write!(out, "{text}"),
        };
        // A text takes all that is written to it.
        let _ = written;
    }

    /// `.000` writes the digits, `.999` only those before trailing zeros; a comma is kept.
    fn fraction(self, pattern: &str, out: &mut String) {
        let digits = pattern.len() - 1;
        let all = format!("{:09}", self.civil().subsec_nanosecond());
        let shown = all.get(..digits).unwrap_or(&all);
        let shown = if pattern.ends_with('9') { shown.trim_end_matches('0') } else { shown };
        if !shown.is_empty() {
            out.push_str(&pattern[..1]);
            out.push_str(shown);
        }
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.format("2006-01-02 15:04:05.999999999 -0700 MST"))
    }
}

/// What a part of a layout stands for.
#[derive(Clone, Copy)]
enum Element {
    Year,
    ShortYear,
    LongMonth,
    ShortMonth,
    ZeroMonth,
    Month,
    LongDay,
    ShortDay,
    YearDay,
    SpaceYearDay,
    ZeroDay,
    SpaceDay,
    Day,
    Hour,
    ZeroTwelve,
    Twelve,
    ZeroMinute,
    Minute,
    ZeroSecond,
    Second,
    Noon,
    SmallNoon,
    Zone,
    /// Of ISO 8601, which has a letter for UTC.
    Z,
    Offset(&'static str),
}

/// The parts of a layout: of two that begin alike the longer stands first.
const ELEMENTS: &[(&str, Element)] = &[
    ("January", Element::LongMonth),
    ("Jan", Element::ShortMonth),
    ("Monday", Element::LongDay),
    ("Mon", Element::ShortDay),
    ("MST", Element::Zone),
    ("002", Element::YearDay),
    ("01", Element::ZeroMonth),
    ("02", Element::ZeroDay),
    ("03", Element::ZeroTwelve),
    ("04", Element::ZeroMinute),
    ("05", Element::ZeroSecond),
    ("06", Element::ShortYear),
    ("15", Element::Hour),
    ("1", Element::Month),
    ("2006", Element::Year),
    ("2", Element::Day),
    // Go takes this one for an underscore before a year.
    ("__2", Element::SpaceYearDay),
    ("_2", Element::SpaceDay),
    ("3", Element::Twelve),
    ("4", Element::Minute),
    ("5", Element::Second),
    ("PM", Element::Noon),
    ("pm", Element::SmallNoon),
    ("-070000", Element::Offset("+000000")),
    ("-07:00:00", Element::Offset("+00:00:00")),
    ("-0700", Element::Offset("+0000")),
    ("-07:00", Element::Offset("+00:00")),
    ("-07", Element::Offset("+00")),
    ("Z070000", Element::Z),
    ("Z07:00:00", Element::Z),
    ("Z0700", Element::Z),
    ("Z07:00", Element::Z),
    ("Z07", Element::Z),
];

fn starts_with(text: &str, name: &str) -> bool {
    let Some(behind) = text.strip_prefix(name) else { return false };
    match name {
        // "January" is a month, "Janet" is a name.
        "Jan" | "Mon" => !behind.starts_with(|c: char| c.is_ascii_lowercase()),
        "_2" => !behind.starts_with("006"),
        _ => true,
    }
}

/// Bytes of `.000` or `.999`; 0 where there are none.
fn fraction_bytes(rest: &str) -> usize {
    let Some(behind) = rest.strip_prefix(['.', ',']) else { return 0 };
    let Some(digit) = behind.chars().next().filter(|c| matches!(c, '0' | '9')) else { return 0 };
    let digits = behind.chars().take_while(|c| *c == digit).count();
    if behind[digits..].starts_with(|c: char| c.is_ascii_digit()) { 0 } else { 1 + digits }
}

/// Nanoseconds as Go's `Duration` prints them: `1h2m3.5s`, `1.5ms`.
pub(super) fn duration_text(ns: i64) -> String {
    let (sign, all) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let decimal = |unit: u64| {
        let width = unit.ilog10() as usize;
        let fraction = if width == 0 { String::new() } else { format!(".{:0width$}", all % unit) };
        let fraction = fraction.trim_end_matches('0').trim_end_matches('.').to_owned();
        (all / unit, fraction)
    };
    match all {
        0 => "0s".into(),
        1..1_000 => format!("{sign}{all}ns"),
        1_000..1_000_000 => {
            let (whole, fraction) = decimal(1_000);
            format!("{sign}{whole}{fraction}µs")
        }
        1_000_000..1_000_000_000 => {
            let (whole, fraction) = decimal(1_000_000);
            format!("{sign}{whole}{fraction}ms")
        }
        _ => {
            let (whole, fraction) = decimal(SECOND_NS as u64);
            let (hours, minutes, seconds) = (whole / 3_600, whole / 60 % 60, whole % 60);
            match (hours, minutes) {
                (0, 0) => format!("{sign}{seconds}{fraction}s"),
                (0, _) => format!("{sign}{minutes}m{seconds}{fraction}s"),
                (_, _) => format!("{sign}{hours}h{minutes}m{seconds}{fraction}s"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_gos() {
        let time = Time::from_ms(1_435_065_584_128).unwrap();
        for (layout, text) in [
            ("2006-01-02T15:04:05Z07:00", "2015-06-23T13:19:44Z"),
            ("Mon, 02 Jan 2006 15:04:05 MST", "Tue, 23 Jun 2015 13:19:44 UTC"),
            ("Monday January _2 3:04PM '06 -07:00", "Tuesday June 23 1:19PM '15 +00:00"),
            ("15:04:05.000000 .999", "13:19:44.128000 .128"),
            ("002 __2 1/2 03 3pm", "174 174 6/23 01 1pm"),
            ("Janet", "Janet"),
        ] {
            assert_eq!(time.format(layout), text, "{layout}");
        }
        assert_eq!(time.to_string(), "2015-06-23 13:19:44.128 +0000 UTC");
    }

    #[test]
    fn durations_are_gos() {
        for (ns, text) in [
            (0, "0s"),
            (1_500_000, "1.5ms"),
            (1_100, "1.1µs"),
            (3_723_500_000_000, "1h2m3.5s"),
            (-60_000_000_000, "-1m0s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(duration_text(ns), text);
        }
    }
}
