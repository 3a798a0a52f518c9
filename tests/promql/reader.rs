//! Reads Prometheus' own evaluation tests: `load`, `clear`, `eval …` with what is expected.

use pilothouse::alert::promql::{Limits, Query, QueryError, Value};
use pilothouse::alert::series::{SeriesValue, parse_metric, parse_series};
use pilothouse::metrics::{Caps, Labels, Store};
use std::collections::BTreeMap;

/// How far values may be apart, as a share: the tests' own tolerance.
const TOLERANCE: f64 = 1e-6;

#[derive(Debug, Default)]
pub struct Tally {
    pub ran: usize,
    pub held: usize,
    /// Evaluations about native histograms, or about when counters started: neither is kept here.
    pub skipped: usize,
    /// `file:line: expression: what is wrong`.
    pub failures: Vec<String>,
}

#[derive(Clone, Copy)]
enum When {
    At(i64),
    Steps { start: i64, end: i64, step: i64 },
}

/// What an evaluation is to give.
#[derive(Default)]
struct Expected {
    fails: Option<Wording>,
    warns: Vec<Wording>,
    informs: Vec<Wording>,
    no_warn: bool,
    no_info: bool,
    ordered: bool,
    text: Option<String>,
    scalar: Option<f64>,
    range: Option<(i64, i64)>,
    series: Vec<(Labels, Vec<SeriesValue>)>,
}

enum Wording {
    Any,
    Exact(String),
    Pattern(String),
}

impl Wording {
    fn fits(&self, said: &str) -> bool {
        match self {
            Self::Any => true,
            // Remarks may be told without their place.
            Self::Exact(text) => said.strip_prefix(text.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(" (")),
            Self::Pattern(pattern) => regex::Regex::new(pattern).unwrap().is_match(said),
        }
    }
}

type Points = BTreeMap<i64, f64>;

#[derive(Default)]
pub struct Reader {
    series: BTreeMap<Labels, Points>,
    /// Series with something in them that is not kept.
    unkept: Vec<Labels>,
    store: Option<Store>,
    unkept_store: Option<Store>,
    pub tally: Tally,
}

/// Prometheus runs these tests with names dropped late.
fn limits() -> Limits {
    Limits { delayed_name_removal: true, ..Limits::default() }
}

/// Or why a line can't be read.
type Read<T> = Result<T, String>;

/// The value of an expression without series.
fn constant(text: &str) -> Read<Value> {
    let query = Query::parse(text).map_err(|e| format!("{text}: {e}"))?;
    query.instant(&Store::default(), 0, &Limits::default()).map(|evaluated| evaluated.value).map_err(|e| format!("{text}: {e}"))
}

/// `5m`, or seconds.
fn time(text: &str) -> Read<i64> {
    match constant(text)? {
        Value::Scalar(seconds) => Ok((seconds * 1000.0).round() as i64),
        other => Err(format!("{text} is no time but {other:?}")),
    }
}

pub fn run(name: &str, text: &str) -> Tally {
    let mut reader = Reader::default();
    let lines: Vec<&str> = text.lines().map(str::trim).map(|line| if line.starts_with('#') { "" } else { line }).collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let end = at + 1 + lines[at + 1..].iter().position(|line| line.is_empty()).unwrap_or(lines.len() - at - 1);
        let body = &lines[at + 1..end];
        let word = line.split_whitespace().next().unwrap_or_default();
        match word {
            "" => at += 1,
            "clear" => {
                reader = Reader { tally: reader.tally, ..Reader::default() };
                at += 1;
            }
            _ => {
                let place = format!("{name}:{}", at + 1);
                let read = match word {
                    "load" | "load_with_nhcb" => reader.load(line[word.len()..].trim(), body, word == "load_with_nhcb"),
                    _ if word.starts_with("eval") => reader.eval(&place, line, body),
                    _ => Err("no command that is known".into()),
                };
                if let Err(why) = read {
                    reader.tally.failures.push(format!("{place}: {line}: {why}"));
                }
                at = end;
            }
        }
    }
    reader.tally
}

impl Reader {
    fn load(&mut self, step: &str, body: &[&str], also_native: bool) -> Read<()> {
        let step = time(step)?;
        let mut defined: BTreeMap<Labels, Points> = BTreeMap::new();
        for line in body {
            // `series@st …` says when counters started.
            if let Some(labels) = line.split_once("@st").and_then(|(metric, _)| parse_metric(metric).ok()) {
                self.unkept.push(labels);
                continue;
            }
            let (labels, values) = parse_series(line).map_err(|e| format!("{line}: {e}"))?;
            if values.contains(&SeriesValue::Histogram) {
                self.unkept.push(labels.clone());
            }
            if also_native && let Some(name) = labels.name().and_then(|name| name.strip_suffix("_bucket")) {
                self.unkept.push(labels.with("__name__", name).with("le", ""));
            }
            let point = |(i, value): (usize, &SeriesValue)| match value {
                SeriesValue::Number(value) => Some((i as i64 * step, *value)),
                SeriesValue::Omitted | SeriesValue::Histogram => None,
            };
            // Of a series that is defined twice the last definition holds.
            defined.insert(labels, values.iter().enumerate().filter_map(point).collect());
        }
        for (labels, points) in defined {
            self.series.entry(labels).or_default().extend(points);
        }
        self.store = None;
        self.unkept_store = None;
        Ok(())
    }

    fn build(&mut self) {
        let caps = || Caps { series_max: 1_000_000, bytes_max: 1 << 30, retention_ms: i64::MAX / 4 };
        if self.store.is_none() {
            let mut store = Store::new(caps());
            for (labels, points) in &self.series {
                for (t, value) in points {
                    store.append(labels, *t, *value).unwrap();
                }
            }
            let mut unkept = Store::new(caps());
            for labels in &self.unkept {
                let _ = unkept.append(labels, 0, 1.0);
            }
            (self.store, self.unkept_store) = (Some(store), Some(unkept));
        }
    }

    fn eval(&mut self, place: &str, line: &str, body: &[&str]) -> Read<()> {
        self.build();
        let (when, expression, mut expected) = head(line)?;
        let is_native = body.iter().any(|line| line.contains("{{"));
        let unkept = self.unkept_store.as_ref().unwrap();
        let query = Query::parse(expression);
        let selects_unkept = query.as_ref().is_ok_and(|query| query.selectors().any(|m| !unkept.select(m).is_empty()));
        if is_native || selects_unkept {
            self.tally.skipped += 1;
            return Ok(());
        }
        expected.read(body)?;
        self.tally.ran += 1;
        match query.map_err(Problem::Query).and_then(|query| check(&query, self.store.as_ref().unwrap(), when, &expected)) {
            Ok(()) => self.tally.held += 1,
            Err(problem) if problem.is_wanted(&expected) => self.tally.held += 1,
            Err(problem) => self.tally.failures.push(format!("{place}: {expression}: {problem:?}")),
        }
        Ok(())
    }
}

#[derive(Debug)]
enum Problem {
    /// The query was refused.
    Query(QueryError),
    /// It gave something else.
    Wrong(#[allow(dead_code)] String),
}

impl Problem {
    fn is_wanted(&self, expected: &Expected) -> bool {
        match (self, &expected.fails) {
            (Self::Query(error), Some(wording)) => wording.fits(&error.message),
            _ => false,
        }
    }
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Wrong(message.into()))
}

/// `eval instant at 5m EXPR`, `eval range from 0 to 5m step 1m EXPR`
fn head(line: &str) -> Read<(When, &str, Expected)> {
    let mut rest = line;
    let mut word = || {
        let trimmed = rest.trim_start();
        let (word, after) = trimmed.split_at(trimmed.find(char::is_whitespace).unwrap_or(trimmed.len()));
        rest = after;
        word
    };
    let (command, kind) = (word(), word());
    let mut next = |name: &str| match word() {
        found if found == name => time(word()),
        found => Err(format!("{found:?} where {name:?} is expected")),
    };
    let when = match kind {
        "instant" => When::At(next("at")?),
        "range" => When::Steps { start: next("from")?, end: next("to")?, step: next("step")? },
        other => return Err(format!("{other:?} is no kind of evaluation")),
    };
    let mut expected = Expected::default();
    match command {
        "eval" => {}
        "eval_fail" => expected.fails = Some(Wording::Any),
        "eval_warn" => expected.warns.push(Wording::Any),
        "eval_info" => expected.informs.push(Wording::Any),
        "eval_ordered" => expected.ordered = true,
        other => return Err(format!("{other:?} is no kind of evaluation")),
    }
    Ok((when, rest.trim(), expected))
}

fn wording(rest: &str) -> Wording {
    let rest = rest.trim();
    if let Some(text) = rest.strip_prefix("msg:") {
        return Wording::Exact(text.trim().to_owned());
    }
    rest.strip_prefix("regex:").map_or(Wording::Any, |pattern| Wording::Pattern(pattern.trim().to_owned()))
}

impl Expected {
    fn read(&mut self, body: &[&str]) -> Read<()> {
        for line in body {
            if let Some(rest) = line.strip_prefix("expected_fail_message") {
                self.fails = Some(Wording::Exact(rest.trim().to_owned()));
            } else if let Some(rest) = line.strip_prefix("expected_fail_regexp") {
                self.fails = Some(Wording::Pattern(rest.trim().to_owned()));
            } else if let Some(rest) = line.strip_prefix("expect ") {
                self.expectation(rest.trim())?;
            } else if let Some(value) = plain_number(line) {
                self.scalar = Some(value);
            } else {
                self.series.push(expected_series(line)?);
            }
        }
        Ok(())
    }

    fn expectation(&mut self, rest: &str) -> Read<()> {
        let (word, rest) = rest.split_at(rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len()));
        match word {
            "fail" => self.fails = Some(wording(rest)),
            "warn" => self.warns.push(wording(rest)),
            "info" => self.informs.push(wording(rest)),
            "no_warn" => self.no_warn = true,
            "no_info" => self.no_info = true,
            "ordered" => self.ordered = true,
            "string" => match constant(rest.trim())? {
                Value::String(text) => self.text = Some(text),
                other => return Err(format!("{rest} is no string but {other:?}")),
            },
            "range" => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let ["vector", "from", start, "to", _, "step", step] = words[..] else {
                    return Err(format!("expect range{rest}: not `vector from START to END step STEP`"));
                };
                self.range = Some((time(start)?, time(step)?));
            }
            other => return Err(format!("expect {other} is not known")),
        }
        Ok(())
    }
}

fn plain_number(text: &str) -> Option<f64> {
    text.replace("Inf", "inf").parse().ok()
}

/// Without values it is a series without points.
fn expected_series(line: &str) -> Read<(Labels, Vec<SeriesValue>)> {
    parse_series(line).or_else(|_| parse_metric(line).map(|labels| (labels, Vec::new()))).map_err(|e| format!("{line}: {e}"))
}

fn is_close(a: f64, b: f64) -> bool {
    if a == b || (a.is_nan() && b.is_nan()) {
        return true;
    }
    if a == 0.0 || b == 0.0 || a.abs() + b.abs() < f64::MIN_POSITIVE {
        return (a - b).abs() < TOLERANCE * f64::MIN_POSITIVE;
    }
    (a - b).abs() / (a.abs() + b.abs()).min(f64::MAX) < TOLERANCE
}

fn check(query: &Query, store: &Store, when: When, expected: &Expected) -> Result<(), Problem> {
    let limits = limits();
    let evaluated = match when {
        When::At(t) => query.instant(store, t, &limits),
        When::Steps { start, end, step } => query.range(store, start, end, step, &limits),
    };
    let evaluated = evaluated.map_err(Problem::Query)?;
    if expected.fails.is_some() {
        return wrong("did not fail");
    }
    for (wanted, refused, said) in
        [(&expected.warns, expected.no_warn, &evaluated.warnings), (&expected.informs, expected.no_info, &evaluated.infos)]
    {
        // Each wording is to be met, and each remark to be one of them.
        let met = wanted.iter().all(|wording| said.iter().any(|text| wording.fits(text)));
        let expected = wanted.is_empty() || said.iter().all(|text| wanted.iter().any(|wording| wording.fits(text)));
        if !met || !expected || (refused && !said.is_empty()) {
            return wrong(format!("remarks are {said:?}"));
        }
    }
    match (&evaluated.value, when) {
        (Value::Scalar(value), _) if expected.scalar.is_some_and(|wanted| is_close(wanted, *value)) => Ok(()),
        (Value::String(text), _) if expected.text.as_ref() == Some(text) => Ok(()),
        (Value::Scalar(_) | Value::String(_), _) => wrong(format!("{:?}", evaluated.value)),
        (Value::Vector(samples), When::At(t)) => {
            let given = samples.iter().map(|s| (s.labels.clone(), vec![(t, s.value)])).collect();
            compare(given, t, 1, expected)?;
            if expected.ordered { Ok(()) } else { check_in_range(query, store, t, expected) }
        }
        (Value::Matrix(series), _) => {
            let given = series.iter().map(|s| (s.labels.clone(), s.points.iter().map(|p| (p.t_ms, p.value)).collect())).collect();
            let (start, step) = match (when, expected.range) {
                (When::Steps { start, step, .. }, _) | (When::At(_), Some((start, step))) => (start, step),
                (When::At(_), None) => return wrong("a range vector"),
            };
            compare(given, start, step, expected)
        }
        (Value::Vector(_), When::Steps { .. }) => wrong("a vector"),
    }
}

/// The middle one of three steps is to give what the instant gives.
fn check_in_range(query: &Query, store: &Store, t: i64, expected: &Expected) -> Result<(), Problem> {
    if ["start()", "end()", "step()", "range()"].iter().any(|word| query.text().to_lowercase().contains(word)) {
        return Ok(());
    }
    let evaluated = query.range(store, t - 60_000, t + 60_000, 60_000, &limits()).map_err(Problem::Query)?;
    let Value::Matrix(series) = evaluated.value else { return wrong("no matrix") };
    let at_t = series.iter().filter_map(|s| Some((s.labels.clone(), vec![(t, s.points.iter().find(|p| p.t_ms == t)?.value)])));
    compare(at_t.collect(), t, 1, expected).map_err(|problem| Problem::Wrong(format!("in a range: {problem:?}")))
}

fn compare(given: Vec<(Labels, Vec<(i64, f64)>)>, start: i64, step: i64, expected: &Expected) -> Result<(), Problem> {
    let all = || format!("{given:?}");
    if given.len() != expected.series.len() {
        return wrong(format!("{} series, not {}: {}", given.len(), expected.series.len(), all()));
    }
    for (i, (labels, values)) in expected.series.iter().enumerate() {
        let found =
            if expected.ordered { given.get(i).filter(|(own, _)| own == labels) } else { given.iter().find(|(own, _)| own == labels) };
        let Some((_, points)) = found else { return wrong(format!("no {labels}: {}", all())) };
        let wanted: Vec<(i64, f64)> = values
            .iter()
            .enumerate()
            .filter_map(|(i, value)| match value {
                SeriesValue::Number(value) => Some((start + i as i64 * step, *value)),
                SeriesValue::Omitted | SeriesValue::Histogram => None,
            })
            .collect();
        let same = wanted.len() == points.len() && wanted.iter().zip(points).all(|(a, b)| a.0 == b.0 && is_close(a.1, b.1));
        if !same {
            return wrong(format!("{labels} is {points:?}, not {wanted:?}"));
        }
    }
    Ok(())
}
