//! Duty: the router: descriptors, schema validation, the environment's tools and the built-in calculator.
//! May import: event, net, cond.
//! Emits: tool results and error types.
//! Accepts: tool calls as the agent made them.
//! Test: `cargo test --lib tool::`.

pub mod calculator;
mod router;

pub use router::{CallError, Routed, Router};
