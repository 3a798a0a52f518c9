//! Duty: samplers: host through sysinfo, GPUs through NVML, other processes through their `/metrics`.
//! May import: event, net.
//! Emits: `TelemetrySampled`, `TargetScraped`, `SamplesDropped`.
//! Accepts: nothing.
//! Test: `cargo test --lib telemetry::`, `cargo test --test nvml`.

mod disks;
pub mod exposition;
mod gpu;
mod host;
mod outlet;
mod presets;
mod sampler;
mod scrape;

pub use gpu::{GpuLibrary, GpuReader};
pub use host::{HostReader, host_name};
pub use presets::Preset;
pub use sampler::{Sampler, SamplerSettings};
pub use scrape::{KEPT_MAX, ScrapeTarget, Scraper};
