//! Duty: samplers of the machine: host through sysinfo, GPUs through NVML.
//! May import: event, net.
//! Emits: `TelemetrySampled`, `SamplesDropped`.
//! Accepts: nothing.
//! Test: `cargo test --lib telemetry::`, `cargo test --test nvml`.

mod gpu;
mod host;
mod sampler;

pub use gpu::{GpuLibrary, GpuReader};
pub use host::{HostReader, host_name};
pub use sampler::{Sampler, SamplerSettings};
