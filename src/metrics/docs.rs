//! `docs/METRICS.md`, made from the table: `PILOTHOUSE_UPDATE=1 cargo test --lib metrics::docs`.

use super::table::{Kind, SECTIONS, TABLE};
use std::fmt::Write as _;

const HEAD: &str = "# Series

Made from `src/metrics/table.rs` by `PILOTHOUSE_UPDATE=1 cargo test --lib metrics::docs`; a test compares them.

`pilothouse run --http 127.0.0.1:9464` serves them at `/metrics` as Prometheus' text 0.0.4 and as OpenMetrics 1.0, whichever is asked for. Rules in the
process see the same series, with the labels `instance` and `job`. All are folded from events and from nothing else, so a recording gives the series of its run.

- Units are base units: seconds, bytes, ratios of 1. Counters end in `_total`.
- No label has the number of an episode, a step or a call. Of names that come from outside (tools, mounts, receivers, targets, …) the first 64 of each
  label are kept, all others are `other`.
- What can't be read has no series; it is never 0. A series that was there gets a stale marker.
- Counters and histograms whose labels are known begin at 0 with the run, so that `increase` sees their first event.
- Histograms leave out observations that are no finite numbers.

Beside these the store in the process has, as Prometheus would: `up` (this process: 1), and of each scraped target its own series with the target's `job` and
`instance` (a label of the sample's own that clashes becomes `exported_…`), `up`, `scrape_duration_seconds`, `scrape_samples_scraped` and
`scrape_samples_post_metric_relabeling` (samples that were kept); of rules `ALERTS`, `ALERTS_FOR_STATE` and what they record.
";

/// What people ask for and no event tells.
const MISSING: &[(&str, &str)] = &[
    (
        "Regret to the oracle in step rewards, a judge's score",
        "no event has what the oracle would have earned in the same episode, and there is no judge; the regret in the task that was done is among the expressions",
    ),
    (
        "Format errors of direction `input` by the agent's tools and by clients",
        "tools and clients are in the process and hand over values, not text; what is read from outside are the metrics of targets",
    ),
    (
        "Length and oldest age of the environment's queue, in `ops`",
        "its observations have no such field; of an environment whose fields end in `queue_length` and `queue_oldest_age` there are series",
    ),
    (
        "Share of groups without a spread of rewards",
        "no event tells which episodes are one group: that comes with a trainer that is connected",
    ),
    (
        "Off-policy lag in updates",
        "no event tells the update by which a token was sampled: that comes with a trainer that is connected; `pilothouse_policy_staleness_steps` compares checkpoints",
    ),
    ("Latency by quantiles", "histograms are there: `histogram_quantile` makes them for any window"),
    ("Time to first token of scripted agents, and of recordings of earlier builds", "they have no `prefill_ns`"),
];

const QUERIES: &[(&str, &str)] = &[
    ("Failed actions a second (the classic rule)", "rate(action_failures_total[5m]) > 0.1"),
    ("Share of failed actions", "rate(action_failures_total[5m]) / rate(pilothouse_actions_total[5m])"),
    (
        "Success",
        "sum(increase(pilothouse_episodes_total{verdict=\"success\"}[1h])) / sum(increase(pilothouse_episodes_total{verdict!=\"aborted\"}[1h]))",
    ),
    (
        "Truncated episodes",
        "sum(increase(pilothouse_episodes_total{ending=\"truncated\"}[1h])) / sum(increase(pilothouse_episodes_total{verdict!=\"aborted\"}[1h]))",
    ),
    (
        "Messages cut at the limit of tokens",
        "rate(pilothouse_inference_requests_total{finish_reason=\"length\"}[5m]) / ignoring(finish_reason) sum without(finish_reason) (rate(pilothouse_inference_requests_total[5m]))",
    ),
    ("Slowest 5 % of messages", "histogram_quantile(0.95, sum by (le) (rate(pilothouse_inference_duration_seconds_bucket[5m])))"),
    ("Mean return", "increase(pilothouse_episode_return_sum[1h]) / increase(pilothouse_episode_return_count[1h])"),
    (
        "Compression",
        "sum without(side) (increase(pilothouse_memory_compressed_tokens_total{side=\"before\"}[1h])) / sum without(side) (increase(pilothouse_memory_compressed_tokens_total{side=\"after\"}[1h]))",
    ),
    (
        "Regret to the oracle: the share of the task that was left undone (the oracle of `ops` does all of it)",
        "1 - increase(pilothouse_episode_final_reward_sum[1h]) / increase(pilothouse_episode_final_reward_count[1h])",
    ),
    (
        "Tokens per success",
        "sum(increase(pilothouse_output_tokens_total[1h])) / sum(increase(pilothouse_episodes_total{verdict=\"success\"}[1h]))",
    ),
    (
        "GPU-seconds per success",
        "sum(increase(pilothouse_gpu_seconds_total[1h])) / sum(increase(pilothouse_episodes_total{verdict=\"success\"}[1h]))",
    ),
    (
        "Share of the GPUs' time that an idle instance cost",
        "sum(rate(pilothouse_gpu_idle_seconds_total[1h])) / sum(rate(pilothouse_gpu_seconds_total[1h]))",
    ),
    (
        "Whom the run waits for: shares, which add up to 1",
        "rate(pilothouse_time_seconds_total[5m]) / ignoring(on) group_left() sum without(on) (rate(pilothouse_time_seconds_total[5m]))",
    ),
    ("Seconds without progress", "time() - pilothouse_last_progress_timestamp_seconds"),
];

fn markdown() -> String {
    let mut out = String::from(HEAD);
    let mut families = TABLE.iter();
    for (section, count) in SECTIONS {
        // Writing to a string can't fail.
        let _ = write!(out, "\n## {section}\n\n| series | kind | labels | what it is | from |\n|---|---|---|---|---|\n");
        for family in families.by_ref().take(*count) {
            let kind = match family.kind {
                Kind::Counter => "counter".to_owned(),
                Kind::Gauge => "gauge".to_owned(),
                Kind::Histogram(ends) => {
                    format!("histogram: {}", ends.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
                }
            };
            let labels = family.labels.iter().map(|l| format!("`{l}`")).collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "| `{}` | {kind} | {labels} | {} | {} |", family.name, family.help(), family.source);
        }
    }
    out.push_str("\n## Expressions\n\n| what | PromQL |\n|---|---|\n");
    for (what, query) in QUERIES {
        let _ = writeln!(out, "| {what} | `{query}` |");
    }
    out.push_str("\n## What is not there, and why\n\n| asked for | why not |\n|---|---|\n");
    for (what, why) in MISSING {
        let _ = writeln!(out, "| {what} | {why} |");
    }
    out
}

#[test]
fn the_documentation_is_the_tables() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/METRICS.md");
    if std::env::var_os("PILOTHOUSE_UPDATE").is_some() {
        std::fs::write(&path, markdown()).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == markdown(), "docs/METRICS.md is not what the table says; PILOTHOUSE_UPDATE=1 writes it");
}

#[test]
fn every_series_of_the_expressions_is_in_the_table() {
    for (what, query) in QUERIES {
        let words = query
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|w| w.starts_with("pilothouse_") || w.starts_with("action_"));
        for word in words {
            let is_of = |family: &super::Family| match family.kind {
                Kind::Histogram(_) => ["_bucket", "_sum", "_count"].iter().any(|ending| word.strip_suffix(ending) == Some(family.name)),
                Kind::Counter | Kind::Gauge => family.name == word,
            };
            assert!(TABLE.iter().any(is_of), "{what}: {word}");
        }
    }
}
