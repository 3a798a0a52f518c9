//! What can be called on times, durations, months and days: `(toTime x).Format "15:04"`.

use super::functions::{Called, Wrong, mistyped, refuse, text};
use super::time::{DAYS, MONTHS, Time, duration_text};
use super::value::Value;

/// Names of methods with their arguments, by the type that has them.
const TIME: &[(&str, usize)] = &[
    ("Add", 1),
    ("AddDate", 3),
    ("After", 1),
    ("Before", 1),
    ("Compare", 1),
    ("Day", 0),
    ("Equal", 1),
    ("Format", 1),
    ("Hour", 0),
    ("IsDST", 0),
    ("IsZero", 0),
    ("Local", 0),
    ("Minute", 0),
    ("Month", 0),
    ("Nanosecond", 0),
    ("Round", 1),
    ("Second", 0),
    ("String", 0),
    ("Sub", 1),
    ("Truncate", 1),
    ("UTC", 0),
    ("Unix", 0),
    ("UnixMicro", 0),
    ("UnixMilli", 0),
    ("UnixNano", 0),
    ("Weekday", 0),
    ("Year", 0),
    ("YearDay", 0),
];
const DURATION: &[(&str, usize)] = &[
    ("Abs", 0),
    ("Hours", 0),
    ("Microseconds", 0),
    ("Milliseconds", 0),
    ("Minutes", 0),
    ("Nanoseconds", 0),
    ("Round", 1),
    ("Seconds", 0),
    ("String", 0),
    ("Truncate", 1),
];
const NAMED: &[(&str, usize)] = &[("String", 0)];

/// Calls a method; `None` where the value has none of that name.
pub(super) fn call(value: &Value, name: &str, arguments: &[Value]) -> Option<Called<Value>> {
    let methods = match value {
        Value::Time(_) => TIME,
        Value::Duration(_) => DURATION,
        Value::Month(_) | Value::Weekday(_) => NAMED,
        Value::Nil
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Int64(_)
        | Value::Byte(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Html(_)
        | Value::Labels(_)
        | Value::Args(_)
        | Value::Sample(_)
        | Value::Samples(_)
        | Value::Data(_) => &[],
    };
    let (_, count) = methods.iter().find(|(own, _)| *own == name)?;
    if *count != arguments.len() {
        return Some(Err(Wrong::Call(format!("wrong number of args for {name}: want {count} got {}", arguments.len()))));
    }
    Some(match value {
        Value::Time(time) => of_time(*time, name, arguments),
        Value::Duration(ns) => of_duration(*ns, name, arguments),
        Value::Month(month) => Ok(Value::text(usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).unwrap_or(&""))),
        Value::Weekday(day) => Ok(Value::text(usize::try_from(*day).ok().and_then(|at| DAYS.get(at)).unwrap_or(&""))),
        other => mistyped("time.Time", other),
    })
}

fn of_time(time: Time, name: &str, arguments: &[Value]) -> Called<Value> {
    let civil = time.civil();
    let integer = |at: usize| whole(arguments.get(at).unwrap_or(&Value::Nil));
    let other = || match arguments.first() {
        Some(Value::Time(other)) => Ok(*other),
        other => mistyped("time.Time", other.unwrap_or(&Value::Nil)),
    };
    let made = |time: Option<Time>| time.map_or_else(|| refuse("time out of range"), |time| Ok(Value::Time(time)));
    Ok(match name {
        "Add" => return made(time.plus_ns(integer(0)?)),
        "AddDate" => return made(time.plus_date(integer(0)?, integer(1)?, integer(2)?)),
        "Truncate" => return made(time.truncated(integer(0)?)),
        "Round" => return made(time.rounded(integer(0)?)),
        "UTC" | "Local" => Value::Time(time),
        "After" => Value::Bool(time > other()?),
        "Before" => Value::Bool(time < other()?),
        "Equal" => Value::Bool(time == other()?),
        "Compare" => Value::Int(time.cmp(&other()?) as i64),
        "Sub" => Value::Duration(time.since_ns(other()?)),
        "Format" => Value::text(time.format(text(arguments.first().unwrap_or(&Value::Nil))?)),
        "String" => Value::text(time.to_string()),
        "IsDST" => Value::Bool(false),
        "IsZero" => Value::Bool(time.0.as_second() == -62_135_596_800 && time.0.subsec_nanosecond() == 0),
        "Year" => Value::Int(civil.year().into()),
        "Month" => Value::Month(civil.month().into()),
        "Day" => Value::Int(civil.day().into()),
        "Weekday" => Value::Weekday(time.weekday()),
        "YearDay" => Value::Int(civil.day_of_year().into()),
        "Hour" => Value::Int(civil.hour().into()),
        "Minute" => Value::Int(civil.minute().into()),
        "Second" => Value::Int(civil.second().into()),
        "Nanosecond" => Value::Int(civil.subsec_nanosecond().into()),
        "Unix" => Value::Int64(time.0.as_nanosecond().div_euclid(1_000_000_000) as i64),
        "UnixMilli" => Value::Int64(time.0.as_nanosecond().div_euclid(1_000_000) as i64),
        "UnixMicro" => Value::Int64(time.0.as_nanosecond().div_euclid(1_000) as i64),
        "UnixNano" => Value::Int64(time.0.as_nanosecond() as i64),
        other => return Err(Wrong::Call(format!("can't evaluate field {other} in type *time.Time"))),
    })
}

fn of_duration(ns: i64, name: &str, arguments: &[Value]) -> Called<Value> {
    let multiple = || whole(arguments.first().unwrap_or(&Value::Nil));
    Ok(match name {
        "Abs" => Value::Duration(ns.saturating_abs()),
        "Hours" => Value::Float(ns as f64 / 3.6e12),
        "Minutes" => Value::Float(ns as f64 / 6e10),
        "Seconds" => Value::Float((ns / 1_000_000_000) as f64 + (ns % 1_000_000_000) as f64 / 1e9),
        "Milliseconds" => Value::Int64(ns / 1_000_000),
        "Microseconds" => Value::Int64(ns / 1_000),
        "Nanoseconds" => Value::Int64(ns),
        "String" => Value::text(duration_text(ns)),
        "Truncate" => {
            let to = multiple()?;
            Value::Duration(if to <= 0 { ns } else { ns - ns % to })
        }
        "Round" => {
            let to = multiple()?;
            Value::Duration(rounded(ns, to))
        }
        other => return Err(Wrong::Call(format!("can't evaluate field {other} in type time.Duration"))),
    })
}

/// To the nearest multiple; half goes away from zero.
fn rounded(ns: i64, to: i64) -> i64 {
    if to <= 0 {
        return ns;
    }
    let rest = ns % to;
    let down = ns - rest;
    if rest.unsigned_abs() * 2 < to.unsigned_abs() { down } else { down.saturating_add(to * ns.signum()) }
}

/// Of a duration, or of a number that stands in the template.
fn whole(value: &Value) -> Called<i64> {
    match value {
        Value::Int(number) | Value::Duration(number) => Ok(*number),
        other => mistyped("time.Duration", other),
    }
}
