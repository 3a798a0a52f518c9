//! Duty: the crank: lanes, policy slots, four phases, pause, step, pace, swap at a decision boundary.
//! May import: event, cond, env, reward, agent, tool, checkpoint, model, learn, telemetry, metrics, alert, state, journal.
//! Emits: every event of a run, through the journal.
//! Accepts: commands and facts, by its inbox.
//! Test: `cargo test --lib engine::`.
