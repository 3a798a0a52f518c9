//! Expressions at random, over series at random: a real Prometheus and this evaluator must answer alike. Ignored by a plain `cargo test`;
//! `.ci/run` installs Prometheus.
//!
//! The peer is Prometheus 2.42, the semantics here are those of Prometheus 3. Where they part, the generator keeps away:
//! - windows were closed on the left: here no sample and no step of a subquery ever falls on an edge (see [`grammar`]);
//! - a counter's extrapolation was cut at zero before it was cut at half a spacing: here counters stay far from zero;
//! - `atan2` between vectors kept the name, and the spread of one value that is no number was 0: not generated;
//! - what a comparison filtered out did not count as a match, and series were not joined: see [`is_known`];
//! - sums of infinities were NaN, and are infinite: `deriv` and `predict_linear` are not asked of them;
//! - a date of NaN or infinity is whatever the processor makes of it, NaN here; names of labels in UTF-8, native histograms, newer functions: not generated.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "promql/grammar.rs"]
mod grammar;
#[path = "promql/remote.rs"]
mod remote;

use grammar::{Grammar, Random, Series, series};
use pilothouse::alert::promql::{Limits, Query, Value};
use pilothouse::metrics::{Caps, Labels, Store};
use remote::Prometheus;
use std::collections::BTreeMap;

/// Whole seconds of Unix time: some way back, so that no clock bears on the answers.
const BASE_MS: i64 = 1_700_000_040_000;
const EXPRESSIONS: usize = 1_500;
const SEED: u64 = 1;

/// By labels, values by time.
type Answer = BTreeMap<Labels, Vec<(i64, f64)>>;

#[derive(Debug)]
enum Outcome {
    Answer(Answer),
    /// The expression was refused before it was evaluated.
    Unread(#[allow(dead_code)] String),
    Failed(#[allow(dead_code)] String),
}

#[derive(Clone, Copy)]
enum When {
    At(i64),
    Range(i64, i64, i64),
}

fn filled(series: &[Series]) -> Store {
    let mut store = Store::new(Caps { series_max: 10_000, bytes_max: 1 << 28, retention_ms: i64::MAX / 4 });
    for one in series {
        for (t_ms, value) in &one.points {
            store.append(&one.labels, *t_ms, *value).unwrap();
        }
    }
    store
}

fn ours(store: &Store, text: &str, when: When) -> Outcome {
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(error) => return Outcome::Unread(error.message),
    };
    // A slow machine is no difference.
    let limits = Limits { time_max: std::time::Duration::from_secs(600), ..Limits::default() };
    let evaluated = match when {
        When::At(at_ms) => query.instant(store, at_ms, &limits),
        When::Range(start_ms, end_ms, step_ms) => query.range(store, start_ms, end_ms, step_ms, &limits),
    };
    let at_ms = if let When::At(at_ms) = when { at_ms } else { 0 };
    match evaluated.map(|evaluated| evaluated.value) {
        Err(error) => Outcome::Failed(error.message),
        Ok(Value::Scalar(value)) => Outcome::Answer([(Labels::default(), vec![(at_ms, value)])].into()),
        Ok(Value::Vector(samples)) => Outcome::Answer(samples.into_iter().map(|s| (s.labels, vec![(at_ms, s.value)])).collect()),
        Ok(Value::Matrix(rows)) => {
            let points = |row: pilothouse::alert::promql::MatrixSeries| row.points.iter().map(|p| (p.t_ms, p.value)).collect();
            Outcome::Answer(rows.into_iter().map(|row| (row.labels.clone(), points(row))).collect())
        }
        Ok(Value::String(text)) => panic!("{text}"),
    }
}

fn is_near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn same(ours: &Answer, theirs: &Answer) -> bool {
    ours.len() == theirs.len()
        && ours.iter().all(|(labels, own)| {
            theirs
                .get(labels)
                .is_some_and(|other| own.len() == other.len() && own.iter().zip(other).all(|(a, b)| a.0 == b.0 && is_near(a.1, b.1)))
        })
}

/// Prometheus 3 finds that several series match before it compares values, 2.42 only with those that the comparison let through. And
/// series of one label set that are never there at the same time become one in Prometheus 3, where 2.42 refuses them.
fn is_known(ours: &Outcome, theirs: &Outcome, when: When) -> bool {
    match (ours, theirs, when) {
        (Outcome::Failed(message), Outcome::Answer(_), _) => message.starts_with("multiple matches for labels"),
        (Outcome::Answer(_), Outcome::Failed(message), When::Range(..)) => message.ends_with("metrics with the same labelset"),
        _ => false,
    }
}

/// What is wrong, where something is.
fn compare(store: &Store, peer: &Prometheus, text: &str, when: When) -> Result<usize, String> {
    let (ours, theirs) = (ours(store, text, when), peer.ask(text, when));
    match (&ours, &theirs) {
        (Outcome::Answer(own), Outcome::Answer(other)) if same(own, other) => Ok(own.len()),
        (Outcome::Unread(_), Outcome::Unread(_)) | (Outcome::Failed(_), Outcome::Failed(_)) => Ok(0),
        _ if is_known(&ours, &theirs, when) => Ok(0),
        _ => Err(format!("{text}\n  Prometheus {theirs:?}\n  ours       {ours:?}")),
    }
}

fn run(seed: u64, count: usize) -> (usize, Vec<String>) {
    let mut random = Random::new(seed);
    let series = series(&mut random, BASE_MS);
    let (store, peer) = (filled(&series), Prometheus::start());
    peer.write(&series);
    let (mut rows, mut wrong) = (0, Vec::new());
    for _ in 0..count {
        let text = Grammar::new(&mut random, BASE_MS).expression();
        let at_ms = BASE_MS + 300 + 1000 * random.below(2_400) as i64;
        let when = match random.below(4) {
            0 => When::Range(at_ms, at_ms + 1000 * random.below(900) as i64, 1000 * (1 + random.below(180) as i64)),
            _ => When::At(at_ms),
        };
        match compare(&store, &peer, &text, when) {
            Ok(count) => rows += count,
            Err(report) => wrong.push(report),
        }
    }
    (rows, wrong)
}

/// `PROMQL_PEER` may give another seed to begin with, and how many: `7,20`.
#[test]
#[ignore = "needs prometheus"]
fn prometheus_answers_alike() {
    let asked = std::env::var("PROMQL_PEER").unwrap_or_else(|_| format!("{SEED},1"));
    let (first, count) = asked.split_once(',').unwrap();
    let mut all = Vec::new();
    for seed in (first.parse().unwrap()..).take(count.parse().unwrap()) {
        let (rows, wrong) = run(seed, EXPRESSIONS);
        println!("seed {seed}: {rows} series compared");
        assert!(rows > EXPRESSIONS, "there was next to nothing to compare: {rows}");
        all.extend(wrong.into_iter().map(|report| format!("seed {seed}: {report}")));
    }
    assert!(all.is_empty(), "{} differ:\n{}", all.len(), all.join("\n"));
}
