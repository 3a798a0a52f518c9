//! Duty: the hybrid reward and its γ.
//! May import: event.
//! Emits: numbers; it keeps only running sums.
//! Accepts: step rewards, the final reward.
//! Test: `cargo test --lib reward::`.
