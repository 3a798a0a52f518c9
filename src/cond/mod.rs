//! Duty: conditions in CEL (Common Expression Language) over events and state: `--until`, breakpoints, filters, guards.
//! May import: event, state.
//! Emits: verdicts.
//! Accepts: an expression, then events.
//! Test: `cargo test --lib cond::`.

mod condition;
mod facts;
mod filter;
mod preset;
mod survey;
mod variable;

pub use condition::{CondError, Condition, Expression};
pub use filter::{Fact, Filter};
pub use variable::Variable;
