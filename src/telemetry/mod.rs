//! Duty: samplers of the machine: host through sysinfo, GPUs through NVML.
//! May import: event, net.
//! Emits: `TelemetrySampled`, `SamplesDropped`.
//! Accepts: nothing.
//! Test: `cargo test --lib telemetry::`, `cargo test --test nvml`.
