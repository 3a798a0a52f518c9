//! Duty: Prometheus' rules in this process: PromQL, rule files and their unit tests, templates, alerts' states, silences, notifiers.
//! May import: event, metrics, net.
//! Emits: `RulesLoaded`, `RuleEvaluated`, `AlertStateChanged`, `AlertNotified`.
//! Accepts: envelopes, rule files.
//! Test: `cargo test --lib alert::`, `cargo test --test rules`, `cargo test --test promql`.

pub mod monitor;
pub mod notify;
pub mod pager;
pub mod promql;
pub mod rules;
pub mod series;
pub mod silences;
pub mod template;
pub mod yaml;
