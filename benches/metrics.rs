//! What series cost: folding an event, collecting, exposing, and the bytes of a sample. `cargo bench --bench metrics`.

use pilothouse::event::Envelope;
use pilothouse::metrics::{Caps, Format, Labels, MatchOp, Matcher, Meter, Store};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const REPETITIONS: usize = 9;
/// Series and points of the store that is asked.
const SERIES: usize = 10_000;
const POINTS: i64 = 720;
const INTERVAL_MS: i64 = 5_000;

/// Median nanoseconds of one of `count` in each repetition.
fn median(count: usize, mut repetition: impl FnMut()) -> f64 {
    let mut each: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let begin = Instant::now();
            repetition();
            begin.elapsed().as_nanos() as f64 / count.max(1) as f64
        })
        .collect();
    each.sort_by(f64::total_cmp);
    each[REPETITIONS / 2]
}

fn events() -> Vec<Envelope> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/shift.jsonl");
    let text = std::fs::read_to_string(path).expect("a golden recording");
    text.lines().filter(|l| l.starts_with("{\"seq\"")).filter_map(|l| Envelope::from_json(l).ok()).collect()
}

fn meters() {
    let events = events();
    let folded = || {
        let mut meter = Meter::new("host", "pilothouse");
        events.iter().for_each(|e| meter.observe(e));
        meter
    };
    println!("observe: {:.0} ns an event ({} events)", median(events.len(), || drop(black_box(folded()))), events.len());
    let mut meter = folded();
    let mut store = Store::new(Caps::default());
    let mut at_ms = 1_800_000_000_000;
    meter.collect(&mut store, at_ms);
    let collected = median(1, || {
        at_ms += INTERVAL_MS;
        meter.collect(&mut store, at_ms);
    });
    println!("collect: {:.1} µs for {} series", collected / 1e3, store.series_count());
    for format in [Format::Text004, Format::OpenMetrics] {
        println!("exposition {format:?}: {:.0} µs", median(1, || drop(black_box(meter.exposition(format)))) / 1e3);
    }
}

/// A value of a series that changes slowly: constants, counters, shares with two places.
fn value(series: usize, n: i64) -> f64 {
    match series % 4 {
        0 => 1.0,
        1 => (n * 50 + (n * 7919 + series as i64) % 13) as f64,
        2 => ((n * 31 + series as i64) % 17) as f64 / 100.0 + 0.5,
        _ => 8_123_456_789.0 + (n / 20 * 4096) as f64,
    }
}

fn stores() {
    let mut store = Store::new(Caps { bytes_max: 1 << 30, ..Caps::default() });
    let labels: Vec<Labels> = (0..SERIES)
        .map(|n| Labels::from_pairs([("__name__", format!("m{}", n % 100)), ("instance", format!("i{}", n % 10)), ("n", n.to_string())]))
        .collect();
    let ids: Vec<_> = labels.iter().filter_map(|l| store.id(l).ok()).collect();
    let begin = Instant::now();
    for n in 0..POINTS {
        for (series, id) in ids.iter().enumerate() {
            store.append_at(*id, 1_800_000_000_000 + n * INTERVAL_MS, value(series, n)).expect("in order");
        }
    }
    let stats = store.stats();
    println!("append by id: {:.0} ns a sample", begin.elapsed().as_nanos() as f64 / stats.points as f64);
    println!(
        "{SERIES} series, {POINTS} points each: {:.2} bytes a sample, the unpacked newest five minutes included",
        stats.bytes as f64 / stats.points as f64
    );
    let until_ms = 1_800_000_000_000 + POINTS * INTERVAL_MS;
    let matchers = [Matcher::new("__name__", MatchOp::Equal, "m7"), Matcher::new("instance", MatchOp::NotEqual, "i3")]
        .map(|m| m.expect("it is right"));
    println!(
        "select by name and != ({} found): {:.1} µs",
        store.select(&matchers).len(),
        median(1, || drop(black_box(store.select(&matchers)))) / 1e3
    );
    let all = store.select(&[]);
    let latest = median(all.len(), || {
        all.iter().for_each(|s| {
            black_box(s.latest(until_ms - 300_000, until_ms));
        })
    });
    let mut points = Vec::new();
    let mut window = |span_ms: i64| {
        median(all.len(), || {
            for series in &all {
                points.clear();
                series.points(until_ms - span_ms, until_ms, &mut points);
                black_box(&points);
            }
        })
    };
    println!("a series: latest {latest:.0} ns, five minutes {:.0} ns, an hour {:.0} ns", window(300_000), window(3_600_000));
}

fn main() {
    meters();
    stores();
}
