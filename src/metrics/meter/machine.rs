//! The host, our process, GPUs. A field that can't be read has no series.

use super::names::Names;
use super::{health, seconds};
use crate::event::{GpuHealth, GpuSample, GpuStatus, HostSample, TelemetrySampled, ThrottleReason};
use crate::metrics::registry::Registry;
use crate::metrics::table::Metric;
use std::collections::BTreeMap;

/// A longer gap between two samples is none of the run's: the machine slept, or samples were dropped.
const GAP_NS_MAX: u64 = 60_000_000_000;
const GPU_METRICS: [Metric; 20] = [
    Metric::Gpus,
    Metric::GpuInfo,
    Metric::GpuLost,
    Metric::GpuUtilization,
    Metric::GpuMemoryUsed,
    Metric::GpuMemoryTotal,
    Metric::GpuPower,
    Metric::GpuPowerLimit,
    Metric::GpuTemperature,
    Metric::GpuClockSm,
    Metric::GpuClockMemory,
    Metric::GpuEcc,
    Metric::GpuXid,
    Metric::GpuXids,
    Metric::GpuProcesses,
    Metric::GpuProcessMemory,
    Metric::GpuMemoryBusy,
    Metric::GpuClockGraphics,
    Metric::GpuThrottled,
    Metric::GpuPerformanceState,
];

#[derive(Debug, Default)]
pub(super) struct Machine {
    last_ns: Option<u64>,
    /// What each GPU told last of what it is asked seldom.
    health: BTreeMap<u32, GpuHealth>,
    /// For which all GPUs together were held; unset where none was ever seen.
    gpu_seconds: Option<f64>,
}

impl Machine {
    pub fn gpu_seconds(&self) -> Option<f64> {
        self.gpu_seconds
    }

    /// `is_idle`: the run does not run.
    pub fn sample(&mut self, registry: &mut Registry, names: &mut Names, t_ns: u64, is_idle: bool, e: &TelemetrySampled) {
        let passed_ns = self.last_ns.map_or(0, |last| t_ns.saturating_sub(last).min(GAP_NS_MAX));
        self.last_ns = Some(t_ns);
        host(registry, names, &e.host);
        let metrics: Vec<Metric> = GPU_METRICS.into_iter().chain(health::metrics()).collect();
        registry.renew(&metrics);
        match &e.gpu {
            GpuStatus::Unavailable { .. } => self.health.clear(),
            GpuStatus::Devices(devices) => {
                registry.set(Metric::Gpus, &[], devices.len() as f64);
                let passed_seconds = seconds(passed_ns);
                *self.gpu_seconds.get_or_insert(0.0) += passed_seconds * devices.len() as f64;
                for device in devices {
                    gpu(registry, names, passed_seconds, device);
                    self.health(registry, names, device);
                    let idle_seconds = if is_idle { passed_seconds } else { 0.0 };
                    let index = device.index.to_string();
                    registry.add(Metric::GpuIdle, &[names.bounded("gpu", &index)], idle_seconds);
                }
            }
        }
        registry.settle(&metrics);
    }
}

impl Machine {
    fn health(&mut self, registry: &mut Registry, names: &mut Names, device: &GpuSample) {
        if device.lost.is_some() {
            self.health.remove(&device.index);
        } else if let Some(health) = &device.health {
            self.health.insert(device.index, (**health).clone());
        }
        if let Some(health) = self.health.get(&device.index) {
            let index = device.index.to_string();
            let gpu = names.bounded("gpu", &index);
            health::set(registry, names, gpu, health);
        }
    }
}

fn host(registry: &mut Registry, names: &mut Names, host: &HostSample) {
    let whole = |n: Option<u64>| n.map(|n| n as f64);
    let figures = [
        (Metric::HostCpu, host.cpu_ratio),
        (Metric::HostMemoryUsed, whole(host.memory_used_bytes)),
        (Metric::HostMemoryTotal, whole(host.memory_total_bytes)),
        (Metric::HostMemoryAvailable, whole(host.memory_available_bytes)),
        (Metric::SwapUsed, whole(host.swap_used_bytes)),
        (Metric::SwapTotal, whole(host.swap_total_bytes)),
        (Metric::HostLoad, host.load_1m),
        (Metric::ProcessThreads, whole(host.process_threads)),
        (Metric::ProcessOpenFiles, whole(host.process_open_files)),
        (Metric::ProcessCpu, host.process_cpu_cores),
        (Metric::ProcessRss, whole(host.process_rss_bytes)),
        (Metric::ProcessRead, host.process_read_bytes_per_second),
        (Metric::ProcessWritten, host.process_written_bytes_per_second),
        (Metric::DiskRead, host.disk_read_bytes_per_second),
        (Metric::DiskWritten, host.disk_written_bytes_per_second),
        (Metric::NetworkReceived, host.network_received_bytes_per_second),
        (Metric::NetworkSent, host.network_sent_bytes_per_second),
        (Metric::RecorderBehind, whole(host.recorder_events_behind)),
    ];
    figures.into_iter().for_each(|(metric, figure)| registry.set_known(metric, &[], figure));
    let lists = [Metric::HostCore, Metric::DiskAvailable, Metric::DiskSize];
    registry.renew(&lists);
    for (core, ratio) in host.core_ratios.iter().enumerate() {
        let core = core.to_string();
        registry.set(Metric::HostCore, &[names.bounded("core", &core)], *ratio);
    }
    if let Some(disk) = &host.disk {
        let mount = names.bounded("mount", disk.mount.as_str());
        registry.set(Metric::DiskAvailable, &[mount], disk.available_bytes as f64);
        registry.set(Metric::DiskSize, &[mount], disk.total_bytes as f64);
    }
    registry.settle(&lists);
}

fn gpu(registry: &mut Registry, names: &mut Names, passed_seconds: f64, device: &GpuSample) {
    let index = device.index.to_string();
    let gpu = names.bounded("gpu", &index);
    registry.set(Metric::GpuLost, &[gpu], f64::from(u8::from(device.lost.is_some())));
    registry.add(Metric::GpuSeconds, &[gpu], passed_seconds);
    if let Some(name) = &device.name {
        registry.set(Metric::GpuInfo, &[gpu, names.bounded("gpu_name", name.as_str())], 1.0);
    }
    if let Some(utilization) = device.utilization_ratio {
        registry.add(Metric::GpuBusy, &[gpu], utilization * passed_seconds);
    }
    let whole = |n: Option<u64>| n.map(|n| n as f64);
    let hertz = |mhz: Option<u32>| mhz.map(|mhz| f64::from(mhz) * 1e6);
    let figures = [
        (Metric::GpuUtilization, device.utilization_ratio),
        (Metric::GpuMemoryUsed, whole(device.memory_used_bytes)),
        (Metric::GpuMemoryTotal, whole(device.memory_total_bytes)),
        (Metric::GpuPower, device.power_watts),
        (Metric::GpuPowerLimit, device.power_limit_watts),
        (Metric::GpuTemperature, device.temperature_celsius),
        (Metric::GpuClockSm, hertz(device.clock_sm_mhz)),
        (Metric::GpuClockMemory, hertz(device.clock_memory_mhz)),
        (Metric::GpuEcc, whole(device.ecc_uncorrected_total)),
        (Metric::GpuXid, whole(device.xid_last)),
        (Metric::GpuMemoryBusy, device.memory_utilization_ratio),
        (Metric::GpuClockGraphics, hertz(device.clock_graphics_mhz)),
        (Metric::GpuPerformanceState, device.performance_state.map(f64::from)),
        (Metric::GpuXids, whole(device.xid_total)),
    ];
    for (metric, figure) in figures.into_iter().filter_map(|(metric, figure)| figure.map(|figure| (metric, figure))) {
        registry.set(metric, &[gpu], figure);
    }
    if let Some(reasons) = &device.throttle_reasons {
        for reason in ThrottleReason::ALL {
            registry.set(Metric::GpuThrottled, &[gpu, reason.name()], f64::from(u8::from(reasons.contains(&reason))));
        }
    }
    for (owner, ours) in [("ours", true), ("others", false)] {
        let of = || device.processes.iter().filter(move |p| p.ours == ours);
        registry.set(Metric::GpuProcesses, &[gpu, owner], of().count() as f64);
        if let Some(bytes) = of().filter_map(|p| p.memory_used_bytes).reduce(u64::saturating_add) {
            registry.set(Metric::GpuProcessMemory, &[gpu, owner], bytes as f64);
        }
    }
}
