//! A thousand rules over ten thousand series, one evaluation of all; the limit is 100 ms on one core.
//!
//! With `--write DIR` nothing is timed: a thousand rules and a unit test of half an hour over 50 series are written there, for `rules test` and promtool.

use pilothouse::alert::promql::{Limits, Query};
use pilothouse::alert::rules::{Context, Group, RuleFile};
use pilothouse::metrics::{Caps, Labels, METRIC_NAME, Store};

const METRICS: usize = 100;
const SERIES_EACH: usize = 100;
const RULES: usize = 1_000;
/// Half an hour of scrapes.
const SCRAPES: i64 = 120;
const SCRAPE_MS: i64 = 15_000;

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--write").skip(1);
    match arguments.next() {
        Some(directory) => unit::write(std::path::Path::new(&directory)),
        None => divan::main(),
    }
}

/// Files of rules and of a unit test that people could have written.
mod unit {
    use std::fmt::Write as _;
    use std::path::Path;

    const RULES: usize = 1_000;
    const METRICS: usize = 5;
    const SERIES_EACH: usize = 10;
    const MINUTES: usize = 30;

    pub fn write(directory: &Path) {
        std::fs::create_dir_all(directory).expect("a directory");
        for (name, text) in [("speed.rules.yml", rules()), ("speed.test.yml", test())] {
            std::fs::write(directory.join(name), text).expect("written");
        }
    }

    /// Ten groups; every tenth rule records, of the alerts some fire, some wait and some are quiet.
    fn rules() -> String {
        let mut text = String::from("groups:\n");
        for i in 0..RULES {
            if i % 100 == 0 {
                let _ = writeln!(text, "- name: group-{}\n  rules:", i / 100);
            }
            let (metric, job) = (i % METRICS, i / METRICS % 2);
            let _ = match i % 10 {
                0 => writeln!(text, "  - record: job:metric_{metric}:rate_{i}\n    expr: sum by (job) (rate(metric_{metric}[5m]))"),
                1 => alert(&mut text, i, &format!("rate(metric_{metric}{{job=\"job-{job}\"}}[5m]) > 0.05")),
                2 => alert(&mut text, i, &format!("metric_{metric} > {}", i)),
                3 => alert(&mut text, i, &format!("sum by (job) (metric_{metric}) > {}", 10 * i)),
                4 => alert(&mut text, i, &format!("absent(metric_{metric}{{job=\"job-{job}\"}})")),
                5 => alert(&mut text, i, &format!("increase(metric_{metric}[10m]) == 0")),
                6 => alert(&mut text, i, &format!("metric_{metric} / on (instance, job) metric_{} > 2", (metric + 1) % METRICS)),
                7 => alert(&mut text, i, &format!("max_over_time(metric_{metric}[15m]) > 1e4")),
                8 => alert(&mut text, i, &format!("avg without (instance) (metric_{metric}{{job=~\"job-.*\"}}) > 100")),
                _ => alert(&mut text, i, &format!("predict_linear(metric_{metric}[10m], 3600) > 1e3")),
            };
        }
        text
    }

    fn alert(text: &mut String, i: usize, expr: &str) -> std::fmt::Result {
        writeln!(text, "  - alert: Rule{i}\n    expr: {expr}\n    for: {}m\n    labels: {{severity: page, team: team-{}}}", i % 4, i % 7)?;
        writeln!(text, "    annotations:\n      summary: '{{{{ $labels.job }}}} is at {{{{ $value | humanize }}}}'")?;
        writeln!(text, "      description: 'On {{{{ $labels.instance }}}} it is {{{{ printf \"%.2f\" $value }}}} since rule {i}.'")
    }

    fn test() -> String {
        let mut text = String::from("rule_files: [speed.rules.yml]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n");
        for i in 0..METRICS * SERIES_EACH {
            let (metric, own) = (i / SERIES_EACH, i % SERIES_EACH);
            let series = format!("metric_{metric}{{instance=\"host-{own}:9100\", job=\"job-{}\"}}", own % 2);
            let _ = writeln!(text, "  - {{series: '{series}', values: '{own}+{}x{MINUTES}'}}", own * (1 + metric));
        }
        let _ = writeln!(
            text,
            "  promql_expr_test:\n  - {{expr: count(metric_0), eval_time: {MINUTES}m, exp_samples: [{{value: {SERIES_EACH}}}]}}"
        );
        text
    }
}

fn store() -> Store {
    let mut store = Store::new(Caps { series_max: 20 * METRICS * SERIES_EACH, ..Caps::default() });
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

/// What runs in a console: values beside thresholds, states, `ALERTS`, templates and all.
#[divan::bench]
fn a_thousand_rules_as_a_group(bencher: divan::Bencher) {
    let mut text = String::from("groups:\n- name: g\n  rules:\n");
    for (i, rule) in rules().iter().enumerate() {
        text += &format!("  - alert: Rule{i}\n    expr: '{}'\n    annotations: {{summary: '{{{{ $value }}}}'}}\n", rule.text());
    }
    let mut group = Group::new(RuleFile::parse(&text).expect("reads").groups.remove(0), SCRAPE_MS);
    let (mut store, mut at_ms) = (store(), SCRAPES * SCRAPE_MS);
    let (external_labels, limits) = (Labels::default(), Limits::default());
    let context = Context { external_labels: &external_labels, external_url: "", limits: &limits };
    bencher.bench_local(|| {
        // Times go up, by so little that the same series are seen.
        at_ms += 1;
        divan::black_box(group.evaluate(&mut store, at_ms, &context));
    });
}

#[divan::bench]
fn reading_a_thousand_rules() -> usize {
    rules().len()
}
