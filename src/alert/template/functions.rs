//! Functions of templates: Go's own, and Prometheus'.

use super::TemplateError;
use super::exec::{Machine, map};
use super::humanize::{humanize, humanize_1024, humanize_duration, humanize_percentage, humanize_timestamp, time_ms};
use super::printf::{go_quote, sprintf};
use super::value::{Sample, Value};
use crate::alert::rules::parse_duration;
use regex::Regex;
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

type Called<T> = Result<T, Wrong>;

fn refuse<T>(message: impl Into<String>) -> Called<T> {
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
        "print" => Value::text(sprint(&arguments)),
        "println" => Value::text(arguments.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ") + "\n"),
        "printf" => Value::text(sprintf(string(0)?, &arguments[1..])),
        "html" => Value::text(html(&joined(&arguments))),
        "js" => Value::text(js(&joined(&arguments))),
        "urlquery" => Value::text(query_escaped(&joined(&arguments))),
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
        "toTime" => Value::Time(time_ms(number(0)?).map_err(Wrong::Value)?),
        "now" => Value::Float(machine.scope.at_ms as f64 / 1000.0),
        "parseDuration" => Value::Float(parse_duration(string(0)?).map_err(Wrong::Value)? as f64 / 1000.0),
        "toUpper" => Value::text(string(0)?.to_uppercase()),
        "toLower" => Value::text(string(0)?.to_lowercase()),
        "title" => Value::text(title(string(0)?)),
        "safeHtml" => at(0).clone(),
        "match" => Value::Bool(regex(string(0)?)?.is_match(string(1)?)),
        "reReplaceAll" => Value::text(regex(string(0)?)?.replace_all(string(2)?, string(1)?)),
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

fn text(value: &Value) -> Called<&str> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(Wrong::Call(format!("wrong type for value; expected string; got {}", other.type_name()))),
    }
}

/// A number, or a text that holds one.
fn float(value: &Value) -> Called<f64> {
    match value {
        Value::Float(number) => Ok(*number),
        Value::Int(number) => Ok(*number as f64),
        Value::Text(text) => {
            let number = if text.trim() == &**text { text.parse::<f64>().ok() } else { None };
            number.map_or_else(|| refuse(format!("strconv.ParseFloat: parsing {}: invalid syntax", go_quote(text))), Ok)
        }
        other => refuse(format!("can't convert {} to float", other.type_name())),
    }
}

fn sample(value: &Value) -> Called<&Sample> {
    match value {
        Value::Sample(sample) => Ok(sample),
        other => Err(Wrong::Call(format!("wrong type for value; expected *template.sample; got {}", other.type_name()))),
    }
}

fn samples(value: &Value) -> Called<&[Arc<Sample>]> {
    match value {
        Value::Samples(samples) => Ok(samples),
        other => Err(Wrong::Call(format!("wrong type for value; expected template.queryResult; got {}", other.type_name()))),
    }
}

fn queried(machine: &Machine<'_>, query: &str) -> Called<Vec<Arc<Sample>>> {
    let found = (machine.scope.query)(query).map_err(Wrong::Value)?;
    Ok(found.into_iter().map(|sample| Arc::new(Sample { labels: Arc::new(map(&sample.labels)), value: sample.value })).collect())
}

fn any_equal(first: &Value, others: &[Value]) -> Called<bool> {
    for other in others {
        if equal(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal(a: &Value, b: &Value) -> Called<bool> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        (Value::Int(a), Value::Int(b)) => Ok(a == b),
        (Value::Float(a), Value::Float(b)) => Ok(a == b),
        (Value::Text(a), Value::Text(b)) => Ok(a == b),
        (Value::Nil, Value::Nil) => Ok(true),
        (Value::Nil, _) | (_, Value::Nil) => Ok(false),
        _ => refuse("incompatible types for comparison"),
    }
}

fn order(a: &Value, b: &Value) -> Called<Option<Ordering>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Some(a.cmp(b))),
        (Value::Float(a), Value::Float(b)) => Ok(a.partial_cmp(b)),
        (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))),
        (Value::Bool(_), Value::Bool(_)) => refuse("invalid type for comparison"),
        _ => refuse("incompatible types for comparison"),
    }
}

fn len(value: &Value) -> Called<i64> {
    let len = match value {
        Value::Text(text) => text.len(),
        Value::Labels(map) => map.len(),
        Value::Args(map) => map.len(),
        Value::Samples(samples) => samples.len(),
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Sample(_) | Value::Time(_) | Value::Data(_) => {
            return refuse(format!("len of type {}", value.type_name()));
        }
    };
    Ok(len as i64)
}

fn index(value: &Value, key: &Value) -> Called<Value> {
    match value {
        Value::Labels(map) => Ok(Value::text(map.get(text(key)?).map_or("", String::as_str))),
        Value::Args(map) => Ok(map.get(text(key)?).cloned().unwrap_or(Value::Nil)),
        Value::Samples(samples) => Ok(Value::Sample(Arc::clone(&samples[within(key, samples.len())?]))),
        Value::Text(text) => Ok(Value::Int(i64::from(text.as_bytes()[within(key, text.len())?]))),
        Value::Nil => refuse("index of untyped nil"),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Sample(_) | Value::Time(_) | Value::Data(_) => {
            refuse(format!("can't index item of type {}", value.type_name()))
        }
    }
}

fn within(key: &Value, len: usize) -> Called<usize> {
    let Value::Int(at) = key else { return refuse(format!("cannot index slice/array with type {}", key.type_name())) };
    usize::try_from(*at).ok().filter(|at| *at < len).map_or_else(|| refuse(format!("index out of range: {at}")), Ok)
}

fn slice(value: &Value, bounds: &[Value]) -> Called<Value> {
    let len = usize::try_from(len(value)?).unwrap_or(0);
    let bound = |i: usize, unset: usize| match bounds.get(i) {
        None => Ok(unset),
        Some(Value::Int(at)) => {
            usize::try_from(*at).ok().filter(|at| *at <= len).map_or_else(|| refuse(format!("index out of range: {at}")), Ok)
        }
        Some(other) => refuse(format!("cannot index slice/array with type {}", other.type_name())),
    };
    let (from, to) = (bound(0, 0)?, bound(1, len)?);
    if from > to {
        return refuse(format!("invalid slice index: {from} > {to}"));
    }
    match value {
        Value::Text(text) => Ok(Value::text(String::from_utf8_lossy(&text.as_bytes()[from..to]))),
        Value::Samples(samples) => Ok(Value::Samples(Arc::new(samples[from..to].to_vec()))),
        other => refuse(format!("can't slice item of type {}", other.type_name())),
    }
}

/// As Go's `Sprint`: a space between two where neither is a text.
fn sprint(arguments: &[Value]) -> String {
    let mut out = String::new();
    for (i, value) in arguments.iter().enumerate() {
        let is_text = |value: &Value| matches!(value, Value::Text(_));
        if i > 0 && !is_text(value) && !is_text(&arguments[i - 1]) {
            out.push(' ');
        }
        match value {
            Value::Nil => out.push_str("<nil>"),
            value => out.push_str(&value.to_string()),
        }
    }
    out
}

/// One text as it is, more as `Sprint` joins them.
fn joined(arguments: &[Value]) -> String {
    sprint(arguments)
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// As Go's `url.QueryEscape`.
fn query_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// The first letter of each word large.
fn title(text: &str) -> String {
    let mut before = ' ';
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if before.is_alphanumeric() || matches!(before, '_' | '\'') {
            out.push(c);
        } else {
            out.extend(c.to_uppercase());
        }
        before = c;
    }
    out
}

fn regex(pattern: &str) -> Called<Regex> {
    Regex::new(pattern).map_err(|error| Wrong::Value(format!("error parsing regexp: {error}")))
}

/// `host:port` and `[host]:port` without the port.
fn strip_port(text: &str) -> String {
    let Some((host, port)) = text.rsplit_once(':') else { return text.to_owned() };
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => host.to_owned(),
        None if host.contains(':') || port.contains(']') => text.to_owned(),
        None => host.to_owned(),
    }
}

/// The first part of a host's name; a port stays.
fn strip_domain(text: &str) -> String {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, Some(port)),
        _ => (text, None),
    };
    if host.parse::<std::net::IpAddr>().is_ok() || text.starts_with('[') {
        return text.to_owned();
    }
    let host = host.split('.').next().unwrap_or(host);
    port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The path of a URL.
fn path(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = behind.find('/').map_or("", |at| &behind[at..]);
    path.split(['?', '#']).next().unwrap_or(path)
}
