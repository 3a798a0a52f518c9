//! What GPUs are asked seldom. The newest answer counts until the next.

use super::names::Names;
use crate::event::GpuHealth;
use crate::metrics::registry::Registry;
use crate::metrics::table::Metric;

/// Readings of one GPU, each with its series.
fn readings(h: &GpuHealth) -> [(Metric, Option<f64>); 32] {
    let whole = |n: Option<u64>| n.map(|n| n as f64);
    let count = |n: Option<u32>| n.map(f64::from);
    let hertz = |mhz: Option<u32>| mhz.map(|mhz| f64::from(mhz) * 1e6);
    let flag = |flag: Option<bool>| flag.map(|flag| f64::from(u8::from(flag)));
    [
        (Metric::GpuEnergy, h.energy_joules_total),
        (Metric::GpuSlowdown, h.temperature_slowdown_celsius),
        (Metric::GpuShutdown, h.temperature_shutdown_celsius),
        (Metric::GpuMemoryTemperature, h.temperature_memory_celsius),
        (Metric::GpuMemoryTemperatureMax, h.temperature_memory_max_celsius),
        (Metric::GpuPowerDefault, h.power_limit_default_watts),
        (Metric::GpuClockSmMax, hertz(h.clock_sm_max_mhz)),
        (Metric::GpuClockMemoryMax, hertz(h.clock_memory_max_mhz)),
        (Metric::GpuFan, h.fan_speed_ratio),
        (Metric::GpuEncoder, h.encoder_utilization_ratio),
        (Metric::GpuDecoder, h.decoder_utilization_ratio),
        (Metric::GpuBar1Used, whole(h.bar1_used_bytes)),
        (Metric::GpuBar1Total, whole(h.bar1_total_bytes)),
        (Metric::GpuPcieGeneration, count(h.pcie_generation)),
        (Metric::GpuPcieGenerationMax, count(h.pcie_generation_max)),
        (Metric::GpuPcieLanes, count(h.pcie_lanes)),
        (Metric::GpuPcieLanesMax, count(h.pcie_lanes_max)),
        (Metric::GpuPcieReceived, h.pcie_received_bytes_per_second),
        (Metric::GpuPcieSent, h.pcie_sent_bytes_per_second),
        (Metric::GpuPcieReplays, whole(h.pcie_replays_total)),
        (Metric::GpuNvlinks, count(h.nvlinks)),
        (Metric::GpuNvlinksActive, count(h.nvlinks_active)),
        (Metric::GpuNvlinkErrors, whole(h.nvlink_errors_total)),
        (Metric::GpuEccCorrected, whole(h.ecc_corrected_total)),
        (Metric::GpuEccLifetime, whole(h.ecc_uncorrected_lifetime_total)),
        (Metric::GpuPagesRetired, whole(h.pages_retired_total)),
        (Metric::GpuPagesPending, flag(h.pages_retirement_pending)),
        (Metric::GpuRowsCorrected, whole(h.rows_remapped_corrected_total)),
        (Metric::GpuRowsUncorrected, whole(h.rows_remapped_uncorrected_total)),
        (Metric::GpuRowsPending, flag(h.rows_remap_pending)),
        (Metric::GpuRowsFailed, flag(h.rows_remap_failed)),
        (Metric::GpuMigEnabled, flag(h.mig_enabled)),
    ]
}

/// All series of this file.
pub(super) fn metrics() -> impl Iterator<Item = Metric> {
    let own = readings(&GpuHealth::default()).map(|(metric, _)| metric);
    own.into_iter().chain([Metric::GpuMigMemoryUsed, Metric::GpuMigMemoryTotal])
}

/// `gpu`: the value of the label.
pub(super) fn set(registry: &mut Registry, names: &mut Names, gpu: &str, health: &GpuHealth) {
    for (metric, reading) in readings(health) {
        if let Some(reading) = reading {
            registry.set(metric, &[gpu], reading);
        }
    }
    for instance in &health.mig_instances {
        let index = instance.index.to_string();
        let values = [gpu, names.bounded("instance_index", &index)];
        let memory = [(Metric::GpuMigMemoryUsed, instance.memory_used_bytes), (Metric::GpuMigMemoryTotal, instance.memory_total_bytes)];
        for (metric, bytes) in memory {
            if let Some(bytes) = bytes {
                registry.set(metric, &values, bytes as f64);
            }
        }
    }
}
