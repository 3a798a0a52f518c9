//! Duty: training and evaluation: behaviour cloning with DAgger, evaluation statistics.
//! May import: event, env, agent, reward, model, checkpoint.
//! Emits: `UpdateCompleted`, `EvaluationCompleted`, checkpoints.
//! Accepts: environments, teachers, seeds.
//! Test: `cargo test --lib learn::`.
