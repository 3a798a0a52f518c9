//! Duty: the only writer of `seq`; subscriptions (snapshot and dense tail); the recording format: writer, reader, seek, recovery.
//! May import: event, state.
//! Emits: envelopes to the recorder and to subscribers.
//! Accepts: events, in order, from the engine alone.
//! Test: `cargo test --lib journal::`, `cargo test --test one_path`.
