//! Pilothouse: the terminal ops console for agentic reinforcement learning.
//!
//! Commands in, events out; every screen is a fold. The rooms, and what each may import, are in `docs/ARCHITECTURE.md`;
//! `tests/layers.rs` enforces the table.

pub mod agent;
pub mod alert;
pub mod checkpoint;
pub mod cond;
pub mod config;
pub mod engine;
pub mod env;
pub mod event;
pub mod journal;
pub mod learn;
pub mod metrics;
pub mod model;
pub mod net;
pub mod reward;
pub mod run;
pub mod serve;
pub mod source;
pub mod state;
pub mod telemetry;
pub mod tool;
pub mod ui;
