//! A thousand rules over ten thousand series, one evaluation of all; the limit is 100 ms on one core.

use pilothouse::alert::promql::{Limits, Query};
use pilothouse::metrics::{Caps, Labels, METRIC_NAME, Store};

const METRICS: usize = 100;
const SERIES_EACH: usize = 100;
const RULES: usize = 1_000;
/// Half an hour of scrapes.
const SCRAPES: i64 = 120;
const SCRAPE_MS: i64 = 15_000;

fn main() {
    divan::main();
}

fn store() -> Store {
    let mut store = Store::new(Caps { series_max: METRICS * SERIES_EACH, ..Caps::default() });
    let series: Vec<Labels> = (0..METRICS * SERIES_EACH).map(labels).collect();
    for scrape in 0..SCRAPES {
        for (i, labels) in series.iter().enumerate() {
            store.append(labels, scrape * SCRAPE_MS, (scrape * (1 + i as i64 % 7)) as f64).expect("in order");
        }
    }
    store
}

fn labels(i: usize) -> Labels {
    let (metric, own) = (i / SERIES_EACH, i % SERIES_EACH);
    Labels::from_pairs([
        (METRIC_NAME, format!("pilothouse_metric_{metric}_total")),
        ("instance", format!("host-{}:9100", own % 10)),
        ("job", format!("job-{}", own / 10)),
        ("tool", format!("tool-{}", own % 3)),
    ])
}

/// The kinds of expressions that rules are made of, each over all series of one metric, of one job, or of one series.
fn rules() -> Vec<Query> {
    let kinds = [
        |m: usize, _: usize| format!("sum by (job) (rate(pilothouse_metric_{m}_total[5m])) > 1"),
        |m, j| format!("rate(pilothouse_metric_{m}_total{{job=\"job-{j}\"}}[5m]) > 0.4"),
        |m, j| {
            format!(
                "pilothouse_metric_{m}_total{{job=\"job-{j}\"}} / on (instance, job, tool) pilothouse_metric_{}_total > 2",
                (m + 1) % METRICS
            )
        },
        |m, j| format!("avg without (instance) (pilothouse_metric_{m}_total{{job=~\"job-{j}|job-0\"}}) > 100"),
        |m, j| format!("absent(pilothouse_metric_{m}_total{{job=\"job-{j}\",instance=\"host-1:9100\"}})"),
        |m, j| format!("increase(pilothouse_metric_{m}_total{{job=\"job-{j}\"}}[10m]) == 0"),
        |m, _| format!("max(pilothouse_metric_{m}_total) - min(pilothouse_metric_{m}_total) > 1e6"),
        |m, j| format!("max_over_time(pilothouse_metric_{m}_total{{instance=\"host-{j}:9100\"}}[5m]) > 1e4"),
        |m, j| format!("pilothouse_metric_{m}_total{{job=\"job-{j}\"}} > 1e4 and on (job) pilothouse_metric_{m}_total > 1"),
        |m, j| format!("predict_linear(pilothouse_metric_{m}_total{{job=\"job-{j}\"}}[10m], 3600) > 1e6"),
    ];
    (0..RULES).map(|i| Query::parse(&kinds[i % kinds.len()](i / kinds.len() % METRICS, i % 9)).expect("reads")).collect()
}

#[divan::bench]
fn a_thousand_rules_over_ten_thousand_series(bencher: divan::Bencher) {
    let (store, rules, limits, at_ms) = (store(), rules(), Limits::default(), SCRAPES * SCRAPE_MS - 1);
    bencher.bench_local(|| {
        for rule in &rules {
            divan::black_box(rule.instant(&store, at_ms, &limits).expect("holds"));
        }
    });
}

#[divan::bench]
fn reading_a_thousand_rules() -> usize {
    rules().len()
}
