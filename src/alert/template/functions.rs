//! Functions of templates: Go's own, and Prometheus'.

use super::TemplateError;
use super::escape::{html, js, lower, path, query_escaped, strip_domain, strip_port, title, upper};
use super::exec::{Machine, OUTPUT_BYTES_MAX, map};
use super::go_regex;
use super::humanize::{humanize, humanize_1024, humanize_duration, humanize_percentage, humanize_timestamp, time};
use super::number;
use super::printf::{TooLong, go_quote, plain, shown, sprintf};
use super::value::{Sample, Value};
use crate::alert::rules::parse_duration;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All names, each with the least and the most arguments.
const TABLE: &[(&str, usize, usize)] = &[
    ("and", 1, usize::MAX),
    ("args", 0, usize::MAX),
    ("call", 1, usize::MAX),
    ("eq", 2, usize::MAX),
    ("externalURL", 0, 0),
    ("first", 1, 1),
    ("ge", 2, 2),
    ("graphLink", 1, 1),
    ("gt", 2, 2),
    ("html", 0, usize::MAX),
    ("humanize", 1, 1),
    ("humanize1024", 1, 1),
    ("humanizeDuration", 1, 1),
    ("humanizePercentage", 1, 1),
    ("humanizeTimestamp", 1, 1),
    ("index", 1, usize::MAX),
    ("js", 0, usize::MAX),
    ("label", 2, 2),
    ("le", 2, 2),
    ("len", 1, 1),
    ("lt", 2, 2),
    ("match", 2, 2),
    ("ne", 2, 2),
    ("not", 1, 1),
    ("now", 0, 0),
    ("or", 1, usize::MAX),
    ("parseDuration", 1, 1),
    ("pathPrefix", 0, 0),
    ("print", 0, usize::MAX),
    ("printf", 1, usize::MAX),
    ("println", 0, usize::MAX),
    ("query", 1, 1),
    ("reReplaceAll", 3, 3),
    ("safeHtml", 1, 1),
    ("slice", 1, 4),
    ("sortByLabel", 2, 2),
    ("stripDomain", 1, 1),
    ("stripPort", 1, 1),
    ("strvalue", 1, 1),
    ("tableLink", 1, 1),
    ("title", 1, 1),
    ("tmpl", 2, 2),
    ("toDuration", 1, 1),
    ("toLower", 1, 1),
    ("toTime", 1, 1),
    ("toUpper", 1, 1),
    ("urlquery", 0, usize::MAX),
    ("value", 1, 1),
];

pub(super) fn is_function(name: &str) -> bool {
    TABLE.iter().any(|(own, _, _)| *own == name)
}

/// Why a call gives nothing.
pub(super) enum Wrong {
    /// It can't be called so.
    Call(String),
    /// It was called and says so itself.
    Value(String),
    /// Something that it called failed.
    Inner(TemplateError),
}

pub(super) type Called<T> = Result<T, Wrong>;

pub(super) fn refuse<T>(message: impl Into<String>) -> Called<T> {
    Err(Wrong::Value(message.into()))
}

pub(super) fn call(machine: &mut Machine<'_>, name: &str, arguments: Vec<Value>) -> Called<Value> {
    let count = arguments.len();
    if let Some((_, least, most)) = TABLE.iter().find(|(own, _, _)| *own == name)
        && (count < *least || count > *most)
    {
        let want = if count < *least && *most > *least { format!("at least {least}") } else { least.to_string() };
        return Err(Wrong::Call(format!("wrong number of args for {name}: want {want} got {count}")));
    }
    let at = |i: usize| arguments.get(i).unwrap_or(&Value::Nil);
    let number = |i: usize| float(at(i));
    let string = |i: usize| text(at(i));
    Ok(match name {
        "and" | "or" => at(count - 1).clone(),
        "not" => Value::Bool(!at(0).is_true()),
        "eq" => Value::Bool(any_equal(at(0), &arguments[1..])?),
        "ne" => Value::Bool(!equal(at(0), at(1))?),
        "lt" => Value::Bool(order(at(0), at(1))? == Some(Ordering::Less)),
        "le" => Value::Bool(matches!(order(at(0), at(1))?, Some(Ordering::Less | Ordering::Equal))),
        // As Go has it, these are the others' opposites, of NaN as well.
        "gt" => Value::Bool(!matches!(order(at(0), at(1))?, Some(Ordering::Less | Ordering::Equal))),
        "ge" => Value::Bool(order(at(0), at(1))? != Some(Ordering::Less)),
        "len" => Value::Int(len(at(0))?),
        "index" => arguments[1..].iter().try_fold(at(0).clone(), |value, key| index(&value, key))?,
        "slice" => slice(at(0), &arguments[1..])?,
        "print" => Value::text(sprint(&arguments, plain)),
        "println" => Value::text(arguments.iter().map(plain).collect::<Vec<_>>().join(" ") + "\n"),
        "printf" => Value::text(sprintf(string(0)?, &arguments[1..], OUTPUT_BYTES_MAX).map_err(|TooLong| too_long())?),
        "html" => Value::text(html(&joined(&arguments))),
        "js" => Value::text(js(&joined(&arguments))),
        "urlquery" => Value::text(query_escaped(&joined(&arguments))),
        "call" if matches!(at(0), Value::Nil) => return refuse("call of nil"),
        "call" => return refuse("non-function of type ".to_owned() + at(0).type_name()),
        "args" => {
            let named = arguments.iter().enumerate().map(|(i, value)| (format!("arg{i}"), value.clone()));
            Value::Args(Arc::new(named.collect::<BTreeMap<_, _>>()))
        }
        "query" => Value::Samples(Arc::new(queried(machine, string(0)?)?)),
        "first" => match samples(at(0))?.first() {
            Some(sample) => Value::Sample(Arc::clone(sample)),
            None => return refuse("first() called on vector with no elements"),
        },
        "value" => Value::Float(sample(at(0))?.value),
        "label" => Value::text(sample(at(1))?.labels.get(string(0)?).map_or("", String::as_str)),
        "strvalue" => Value::text(sample(at(0))?.labels.get("__value__").map_or("", String::as_str)),
        "sortByLabel" => {
            let by = string(0)?;
            let mut sorted = samples(at(1))?.to_vec();
            sorted.sort_by(|a, b| a.labels.get(by).cmp(&b.labels.get(by)));
            Value::Samples(Arc::new(sorted))
        }
        "humanize" => Value::text(humanize(number(0)?)),
        "humanize1024" => Value::text(humanize_1024(number(0)?)),
        "humanizeDuration" => Value::text(humanize_duration(number(0)?)),
        "humanizePercentage" => Value::text(humanize_percentage(number(0)?)),
        "humanizeTimestamp" => Value::text(humanize_timestamp(number(0)?).map_err(Wrong::Value)?),
        "toTime" => Value::Time(time(number(0)?).map_err(Wrong::Value)?),
        "toDuration" => Value::Duration(duration_ns(number(0)?)?),
        "now" => Value::Float(machine.scope.at_ms as f64 / 1000.0),
        "parseDuration" => Value::Float(parse_duration(string(0)?).map_err(Wrong::Value)? as f64 / 1000.0),
        "toUpper" => Value::text(string(0)?.chars().map(upper).collect::<String>()),
        "toLower" => Value::text(string(0)?.chars().map(lower).collect::<String>()),
        "title" => Value::text(title(string(0)?)),
        "safeHtml" => Value::Html(Arc::from(string(0)?)),
        "match" => Value::Bool(regex(string(0)?)?.is_match(string(1)?)),
        "reReplaceAll" => Value::text(replaced(&regex(string(0)?)?, string(1)?, string(2)?)?),
        "stripPort" => Value::text(strip_port(string(0)?)),
        "stripDomain" => Value::text(strip_domain(string(0)?)),
        "graphLink" => Value::text(format!("/graph?g0.expr={}&g0.tab=0", query_escaped(string(0)?))),
        "tableLink" => Value::text(format!("/graph?g0.expr={}&g0.tab=1", query_escaped(string(0)?))),
        "externalURL" => Value::text(machine.scope.external_url),
        "pathPrefix" => Value::text(path(machine.scope.external_url)),
        "tmpl" => Value::text(machine.template_text(string(0)?, at(1).clone()).map_err(Wrong::Inner)?),
        other => return Err(Wrong::Call(format!("function {other:?} not defined"))),
    })
}

fn too_long() -> Wrong {
    Wrong::Value(format!("more than {OUTPUT_BYTES_MAX} bytes"))
}

pub(super) fn mistyped<T>(wanted: &str, value: &Value) -> Called<T> {
    Err(Wrong::Call(format!("wrong type for value; expected {wanted}; got {}", value.type_name())))
}

pub(super) fn text(value: &Value) -> Called<&str> {
    match value {
        Value::Text(text) => Ok(text),
        other => mistyped("string", other),
    }
}

/// A number, or a text that holds one.
fn float(value: &Value) -> Called<f64> {
    match value {
        Value::Float(number) => Ok(*number),
        Value::Int(number) | Value::Int64(number) => Ok(*number as f64),
        Value::Duration(ns) => Ok(*ns as f64 / 1e9),
        Value::Text(text) => {
            number::parse(text).map_or_else(|| refuse(format!("strconv.ParseFloat: parsing {}: invalid syntax", go_quote(text))), Ok)
        }
        other => refuse(format!("can't convert {} to float", other.type_name())),
    }
}

fn duration_ns(seconds: f64) -> Called<i64> {
    let ns = seconds * 1e9;
    // A NaN is no duration either.
    if ns.abs() < i64::MAX as f64 {
        Ok(ns as i64)
    } else {
        refuse(format!("{} cannot be represented as a duration", number::general(seconds, None)))
    }
}

/// A sample; Go's functions fail where there is none, too.
fn sample(value: &Value) -> Called<&Sample> {
    match value {
        Value::Sample(sample) => Ok(sample),
        Value::Nil => refuse("there is no sample"),
        other => mistyped("*template.sample", other),
    }
}

fn samples(value: &Value) -> Called<&[Arc<Sample>]> {
    match value {
        Value::Samples(samples) => Ok(samples),
        Value::Nil => Ok(&[]),
        other => mistyped("template.queryResult", other),
    }
}

fn regex(pattern: &str) -> Called<regex::Regex> {
    go_regex::compile(pattern).map_err(Wrong::Value)
}

/// All matches replaced; a text that grows past its bound is refused before it is whole.
fn replaced(regex: &regex::Regex, with: &str, text: &str) -> Called<String> {
    let mut out = String::new();
    let mut end = 0;
    for found in regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        out.push_str(&text[end..whole.start()]);
        found.expand(with, &mut out);
        end = whole.end();
        if out.len() > OUTPUT_BYTES_MAX {
            return Err(too_long());
        }
    }
    out.push_str(&text[end..]);
    Ok(out)
}

fn queried(machine: &Machine<'_>, query: &str) -> Called<Vec<Arc<Sample>>> {
    let found = (machine.scope.query)(query).map_err(Wrong::Value)?;
    Ok(found.into_iter().map(|sample| Arc::new(Sample { labels: Arc::new(map(&sample.labels)), value: sample.value })).collect())
}

fn any_equal(first: &Value, others: &[Value]) -> Called<bool> {
    if others.is_empty() {
        return refuse("missing argument for comparison");
    }
    for other in others {
        if equal(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What Go compares by its value.
#[derive(PartialEq, PartialOrd)]
enum Basic<'v> {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'v str),
}

impl<'v> Basic<'v> {
    fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(_) | Value::Int64(_) | Value::Byte(_) | Value::Duration(_) | Value::Month(_) | Value::Weekday(_) => {
                value.integer().map(Self::Integer)
            }
            Value::Float(value) => Some(Self::Float(*value)),
            Value::Text(text) | Value::Html(text) => Some(Self::Text(text)),
            Value::Nil | Value::Labels(_) | Value::Args(_) | Value::Sample(_) | Value::Samples(_) | Value::Time(_) | Value::Data(_) => None,
        }
    }

    fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

fn equal(a: &Value, b: &Value) -> Called<bool> {
    if let (Value::Nil, _) | (_, Value::Nil) = (a, b) {
        return Ok(matches!((a, b), (Value::Nil, Value::Nil)));
    }
    for value in [a, b] {
        if let Value::Labels(_) | Value::Args(_) | Value::Samples(_) | Value::Data(_) = value {
            return refuse(format!("uncomparable type {}: {}", value.type_name(), plain(value)));
        }
    }
    match (Basic::of(a), Basic::of(b)) {
        (Some(a), Some(b)) if a.is_same_kind(&b) => Ok(a == b),
        (Some(_), Some(_)) => refuse("incompatible types for comparison"),
        (None, None) => Ok(match (a, b) {
            (Value::Sample(a), Value::Sample(b)) => Arc::ptr_eq(a, b),
            (Value::Time(a), Value::Time(b)) => a == b,
            _ => false,
        }),
        (Some(_), None) | (None, Some(_)) => refuse("incompatible types for comparison"),
    }
}

fn order(a: &Value, b: &Value) -> Called<Option<Ordering>> {
    match (Basic::of(a), Basic::of(b)) {
        (Some(Basic::Bool(_)), Some(Basic::Bool(_))) | (None, _) | (_, None) => refuse("invalid type for comparison"),
        (Some(a), Some(b)) if a.is_same_kind(&b) => Ok(a.partial_cmp(&b)),
        (Some(_), Some(_)) => refuse("incompatible types for comparison"),
    }
}

fn len(value: &Value) -> Called<i64> {
    let len = match value {
        Value::Text(text) | Value::Html(text) => text.len(),
        Value::Labels(map) => map.len(),
        Value::Args(map) => map.len(),
        Value::Samples(samples) => samples.len(),
        Value::Nil
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Int64(_)
        | Value::Byte(_)
        | Value::Float(_)
        | Value::Sample(_)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Month(_)
        | Value::Weekday(_)
        | Value::Data(_) => return refuse(format!("len of type {}", value.type_name())),
    };
    Ok(len as i64)
}

fn index(value: &Value, key: &Value) -> Called<Value> {
    match value {
        Value::Labels(map) => Ok(Value::text(map.get(text(key)?).map_or("", String::as_str))),
        Value::Args(map) => Ok(map.get(text(key)?).cloned().unwrap_or(Value::Nil)),
        Value::Samples(samples) => Ok(Value::Sample(Arc::clone(&samples[within(key, samples.len())?]))),
        Value::Text(text) | Value::Html(text) => Ok(Value::Byte(text.as_bytes()[within(key, text.len())?])),
        Value::Nil => refuse("index of untyped nil"),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Int64(_)
        | Value::Byte(_)
        | Value::Float(_)
        | Value::Sample(_)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Month(_)
        | Value::Weekday(_)
        | Value::Data(_) => refuse(format!("can't index item of type {}", value.type_name())),
    }
}

fn within(key: &Value, len: usize) -> Called<usize> {
    let Some(at) = key.integer() else { return refuse(format!("cannot index slice/array with type {}", key.type_name())) };
    usize::try_from(at).ok().filter(|at| *at < len).map_or_else(|| refuse(format!("index out of range: {at}")), Ok)
}

fn slice(value: &Value, bounds: &[Value]) -> Called<Value> {
    let len = match value {
        Value::Text(_) | Value::Html(_) if bounds.len() == 3 => return refuse("cannot slice string with 3 indexes"),
        Value::Text(text) | Value::Html(text) => text.len(),
        Value::Samples(samples) => samples.len(),
        other => return refuse(format!("can't slice item of type {}", other.type_name())),
    };
    let mut at = [0, len, len];
    for (at, bound) in at.iter_mut().zip(bounds) {
        *at = within(bound, len + 1)?;
    }
    let [from, to, capacity] = at;
    if from > to || to > capacity {
        return refuse(format!("invalid slice index: {from} > {to}"));
    }
    match value {
        Value::Samples(samples) => Ok(Value::Samples(Arc::new(samples[from..to].to_vec()))),
        // Go cuts a letter in two where it is told to; here its bytes are replaced.
        Value::Text(text) => Ok(Value::text(String::from_utf8_lossy(&text.as_bytes()[from..to]))),
        Value::Html(text) => Ok(Value::Html(Arc::from(String::from_utf8_lossy(&text.as_bytes()[from..to])))),
        other => refuse(format!("can't slice item of type {}", other.type_name())),
    }
}

/// As Go's `Sprint`: a space between two where neither is a text.
fn sprint(arguments: &[Value], print: impl Fn(&Value) -> String) -> String {
    let is_text = |value: &Value| matches!(value, Value::Text(_) | Value::Html(_));
    let mut out = String::new();
    for (i, value) in arguments.iter().enumerate() {
        if i > 0 && !is_text(value) && !is_text(&arguments[i - 1]) {
            out.push(' ');
        }
        out.push_str(&print(value));
    }
    out
}

/// Each as an action shows it, joined as `Sprint` joins them.
fn joined(arguments: &[Value]) -> String {
    // What has no value is a text by then.
    let arguments: Vec<Value> =
        arguments.iter().map(|value| if matches!(value, Value::Nil) { Value::text(shown(value)) } else { value.clone() }).collect();
    sprint(&arguments, shown)
}
