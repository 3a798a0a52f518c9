//! A rule's value next to its threshold, in the unit that the names in its expression tell.

use crate::event::{Join, RuleHealth, RuleReading, Threshold};
use crate::state::RuleRow;
use crate::ui::lang::tr;
use crate::ui::widgets::format;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Plain,
    Ratio,
    Bytes,
    Seconds,
    Celsius,
    Watts,
    PerSecond,
}

/// The unit of what stands left of the operator. Where two series meet, their units say nothing of the result.
fn unit(left: &str) -> Unit {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut units: Vec<Unit> = Vec::new();
    for name in left.split(|c| !is_name(c)) {
        let base = ["_total", "_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let ends = [
            ("_ratio", Unit::Ratio),
            ("_bytes", Unit::Bytes),
            ("_seconds", Unit::Seconds),
            ("_celsius", Unit::Celsius),
            ("_watts", Unit::Watts),
        ];
        units.extend(ends.iter().find(|(end, _)| base.ends_with(end)).map(|(_, unit)| *unit));
    }
    let is_rate = ["rate(", "irate("].iter().any(|f| left.contains(f)) && !left.contains("histogram_quantile");
    match (left.contains(['/', '*']), is_rate, units.as_slice()) {
        (true, ..) => Unit::Plain,
        (false, true, []) => Unit::PerSecond,
        // Seconds a second are a number; bytes a second are none that is drawn by itself.
        (false, true, _) => Unit::Plain,
        (false, false, [first, ..]) => *first,
        (false, false, []) => Unit::Plain,
    }
}

fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ratio => format::percent(value),
        Unit::Bytes if value.is_finite() => format::bytes(value),
        Unit::Seconds if value.is_finite() && (0.0..1e9).contains(&value) => format::duration((value * 1e9) as u64),
        Unit::Celsius => format!("{} C", format::number(value)),
        Unit::Watts => format!("{} W", format::number(value)),
        Unit::PerSecond => format!("{}/s", format::number(value)),
        Unit::Plain | Unit::Bytes | Unit::Seconds => format::number(value),
    }
}

/// A value of the left side.
pub fn of_left(threshold: Option<&Threshold>, value: f64) -> String {
    number(value, threshold.map_or(Unit::Plain, |t| unit(&t.left)))
}

/// A condition of a rule, how it is joined to those before, and its value now.
pub struct Compared<'r> {
    pub join: Option<Join>,
    pub threshold: &'r Threshold,
    pub value: Option<f64>,
}

impl Compared<'_> {
    /// `71 C > 70 C`.
    pub fn text(&self) -> String {
        let t = self.threshold;
        let value = self.value.map_or_else(|| format::UNSET.to_owned(), |value| of_left(Some(t), value));
        format!("{value} {} {}", t.operator, of_left(Some(t), t.number))
    }
}

/// Every comparison with a number on which a rule stands.
pub fn conditions(rule: &RuleRow) -> Vec<Compared<'_>> {
    let reading = rule.reading.as_ref();
    let first = rule.info.threshold.iter().map(|threshold| Compared { join: None, threshold, value: reading.and_then(|r| r.value) });
    let value = |n: usize| reading.and_then(|r| r.further.get(n).copied().flatten()).map(|value| value.0);
    let further = rule.info.further.iter().enumerate();
    let further = further.map(|(n, further)| Compared { join: Some(further.join), threshold: &further.threshold, value: value(n) });
    first.chain(further).collect()
}

pub fn join_word(join: Join) -> String {
    match join {
        Join::And => tr!("and"),
        Join::Or => tr!("or"),
    }
}

/// `71 C > 70 C`, of several conditions all; a rule without any has its bare value, and one that can't say anything says why.
pub fn compared(rule: &RuleRow) -> Option<String> {
    let reading = rule.reading.as_ref()?;
    match reading.health {
        RuleHealth::Error => return Some(reading.error.as_ref().map_or_else(|| tr!("error"), |e| e.to_string())),
        RuleHealth::NoData => return Some(no_series(reading)),
        RuleHealth::Ok => {}
    }
    let conditions = conditions(rule);
    if conditions.is_empty() {
        return reading.value.map(|value| of_left(None, value));
    }
    let parts = conditions.iter().flat_map(|c| [c.join.map(join_word), Some(c.text())]).flatten();
    Some(parts.collect::<Vec<_>>().join(" "))
}

/// Why a rule can't say anything, with the name that is wrong, if one is.
fn no_series(reading: &RuleReading) -> String {
    unknown(reading).unwrap_or_else(|| tr!("matches no series"))
}

/// Which name no series has, and which one was probably meant.
pub fn unknown(reading: &RuleReading) -> Option<String> {
    let unknown = reading.unknown.as_ref()?;
    Some(match &unknown.near {
        Some(near) => tr!("no series is named {name}; did you mean {near}?", name = unknown.name, near = near),
        None => tr!("no series is named {name}", name = unknown.name),
    })
}

/// A time of day, UTC.
pub fn clock(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms).map_or_else(|_| format::UNSET.into(), |t| t.strftime("%H:%M").to_string())
}

/// The same with seconds.
pub fn clock_seconds(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms).map_or_else(|_| format::UNSET.into(), |t| t.strftime("%H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_what_the_names_tell() {
        for (left, expected) in [
            ("pilothouse_gpu_utilization_ratio", Unit::Ratio),
            ("max(pilothouse_gpu_memory_used_bytes)", Unit::Bytes),
            ("histogram_quantile(0.95, sum by (le) (rate(pilothouse_tool_duration_seconds_bucket[5m])))", Unit::Seconds),
            ("rate(pilothouse_time_seconds_total[5m])", Unit::Plain),
            ("rate(action_failures_total[5m])", Unit::PerSecond),
            ("a_bytes / b_bytes", Unit::Plain),
            ("pilothouse_gpu_temperature_celsius", Unit::Celsius),
            ("pilothouse_update_entropy", Unit::Plain),
        ] {
            assert_eq!(unit(left), expected, "{left}");
        }
        let t = Threshold { left: "x_ratio".into(), operator: "<".into(), number: 0.85 };
        assert_eq!([of_left(Some(&t), 0.872), of_left(None, 4.8), of_left(Some(&t), f64::NAN)], ["87.2%", "4.80", "NaN"]);
        assert_eq!([clock(0), clock(i64::MAX)], ["00:00", "n/a"]);
    }
}
