//! Duty: every series by name, kind, unit and help in one table; its values, folded from events; the ring store; text exposition.
//! May import: event.
//! Emits: nothing.
//! Accepts: envelopes, samples of scraped endpoints, results of recording rules.
//! Test: `cargo test --lib metrics::`.

#[cfg(test)]
mod docs;
mod exposition;
mod labels;
mod matcher;
mod meter;
pub(crate) mod regexp;
mod registry;
mod store;
mod table;

pub use exposition::Format;
pub use labels::{Labels, METRIC_NAME};
pub use matcher::{MatchOp, Matcher, MatcherError};
pub use meter::Meter;
pub use store::{AppendError, Caps, Point, SeriesId, SeriesRef, Store, StoreStats, is_stale, stale};
pub use table::{Family, Kind, TABLE};
