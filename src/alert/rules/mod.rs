//! Rule files, their groups and the states of their alerts, as Prometheus has them.

mod alerts;
mod duration;
mod error;
mod fields;
mod file;
mod group;
mod reading;
pub mod unit;

pub use alerts::{ActiveAlert, Transition};
pub use duration::{format_duration, parse_duration};
pub use error::RuleError;
pub use file::{Rule, RuleFile, RuleGroup, is_label_name, is_metric_name};
pub use group::{Context, Group, RuleOutcome};
