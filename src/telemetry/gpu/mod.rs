//! GPUs through NVML. Each reading is asked for by itself: drivers, MIG and permissions hide some and not others.

mod asked;
mod health;
mod reason;

use crate::event::{GpuProcess, GpuSample, GpuStatus, SafeText, ThrottleReason};
use asked::{Asked, Refused};
use nvml_wrapper::bitmasks::device::ThrottleReasons;
#[cfg(target_os = "linux")]
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use nvml_wrapper::{Device, EventSet, Nvml};
use reason::{load_reason, reason};
use std::path::Path;

/// XID events that one sample takes from a device; the rest wait for the next.
const EVENTS_MAX: u32 = 32;
/// What changes slowly, or takes the driver long to tell, is asked for this often.
const HEALTH_EVERY_NS: u64 = 30_000_000_000;

/// The driver's library, loaded and initialised.
pub struct GpuLibrary {
    nvml: Nvml,
}

impl GpuLibrary {
    /// Loads NVML, from `path` or from where drivers put it. The error is for the operator.
    pub fn load(path: Option<&Path>) -> Result<Self, SafeText> {
        let mut builder = Nvml::builder();
        if let Some(path) = path {
            builder.lib_path(path.as_os_str());
        }
        builder.init().map(|nvml| Self { nvml }).map_err(|error| load_reason(&error, path))
    }

    /// Begins to read: the devices are counted once, and their XID events are listened to from now on.
    pub fn reader(&self) -> GpuReader<'_> {
        let devices = self.nvml.device_count().map(|count| (0..count).map(|index| Gpu::open(&self.nvml, index)).collect());
        GpuReader { devices: devices.map_err(|error| SafeText::new(reason(&error))), own_pid: std::process::id(), health_due_ns: 0 }
    }
}

/// Reads all GPUs again and again.
pub struct GpuReader<'nvml> {
    devices: Result<Vec<Gpu<'nvml>>, SafeText>,
    own_pid: u32,
    health_due_ns: u64,
}

impl GpuReader<'_> {
    /// One sample of each GPU at `now_ns` of a monotonic clock, or why there is none.
    pub fn sample(&mut self, now_ns: u64) -> GpuStatus {
        let asks_health = self.health_due_ns <= now_ns;
        if asks_health {
            self.health_due_ns = now_ns.saturating_add(HEALTH_EVERY_NS);
        }
        match &mut self.devices {
            Err(reason) => GpuStatus::Unavailable { reason: reason.clone() },
            Ok(devices) if devices.is_empty() => GpuStatus::Unavailable { reason: "the NVIDIA driver runs but reports no GPU".into() },
            Ok(devices) => GpuStatus::Devices(devices.iter_mut().map(|gpu| gpu.sample(self.own_pid, now_ns, asks_health)).collect()),
        }
    }
}

struct Gpu<'nvml> {
    index: u32,
    /// Asked for again while it can't be had.
    device: Result<Device<'nvml>, NvmlError>,
    events: Result<EventSet<'nvml>, NvmlError>,
    xid_last: Option<u64>,
    xid_total: u64,
    /// Calls that this device has refused.
    refused: Refused,
    nvml: &'nvml Nvml,
}

impl<'nvml> Gpu<'nvml> {
    fn open(nvml: &'nvml Nvml, index: u32) -> Self {
        let device = nvml.device_by_index(index);
        let events = match &device {
            Ok(device) => listen(nvml, device),
            Err(_) => Err(NvmlError::NotFound),
        };
        Self { index, device, events, xid_last: None, xid_total: 0, refused: Refused::default(), nvml }
    }

    fn sample(&mut self, own_pid: u32, now_ns: u64, asks_health: bool) -> GpuSample {
        if self.device.is_err() {
            *self = Self { xid_last: self.xid_last, xid_total: self.xid_total, ..Self::open(self.nvml, self.index) };
        }
        let mut sample = GpuSample { index: self.index, ..GpuSample::default() };
        let device = match &self.device {
            Ok(device) => device,
            Err(error) => return GpuSample { lost: Some(SafeText::new(reason(error))), ..sample },
        };
        let mut asked = Asked::new(&mut self.refused, now_ns);
        take(&mut sample, &mut asked, device, own_pid);
        sample.missing = asked.take_missing();
        if asks_health {
            sample.health = health::take(&mut asked, device).map(Box::new);
        }
        sample.lost = asked.lost();
        if sample.lost.is_none() {
            self.take_xid(&mut sample);
        }
        sample
    }

    fn take_xid(&mut self, sample: &mut GpuSample) {
        match &self.events {
            Ok(events) => {
                for _ in 0..EVENTS_MAX {
                    match events.wait(0).map(|event| event.event_data) {
                        Ok(Some(error)) => {
                            self.xid_total += 1;
                            match error {
                                XidError::Value(xid) => self.xid_last = Some(xid),
                                XidError::Unknown => {}
                            }
                        }
                        Ok(None) => {}
                        Err(_) => break,
                    }
                }
                (sample.xid_last, sample.xid_total) = (self.xid_last, Some(self.xid_total));
                if self.xid_last.is_none() {
                    sample.missing.push(("xid_last".into(), "none since sampling began".into()));
                }
            }
            Err(error) => sample.missing.push(("xid_last".into(), reason(error).into())),
        }
    }
}

#[cfg(target_os = "linux")]
fn listen<'nvml>(nvml: &'nvml Nvml, device: &Device<'nvml>) -> Result<EventSet<'nvml>, NvmlError> {
    let set = nvml.create_event_set()?;
    device.register_events(EventTypes::CRITICAL_XID_ERROR, set).map_err(|error| error.error)
}

/// NVML has events on Linux only.
#[cfg(not(target_os = "linux"))]
fn listen<'nvml>(_: &'nvml Nvml, _: &Device<'nvml>) -> Result<EventSet<'nvml>, NvmlError> {
    Err(NvmlError::NotSupported)
}

/// What is asked each time.
fn take(sample: &mut GpuSample, asked: &mut Asked<'_>, device: &Device<'_>, own_pid: u32) {
    sample.name = asked.field("name", || device.name()).map(SafeText::from);
    let rates = asked.field("utilization_ratio", || device.utilization_rates());
    sample.utilization_ratio = rates.as_ref().map(|rates| share(rates.gpu));
    sample.memory_utilization_ratio = rates.map(|rates| share(rates.memory));
    let memory = asked.field("memory_used_bytes", || device.memory_info());
    sample.memory_used_bytes = memory.as_ref().map(|memory| memory.used);
    sample.memory_total_bytes = memory.map(|memory| memory.total);
    sample.power_watts = asked.field("power_watts", || device.power_usage()).map(thousandth);
    sample.power_limit_watts = asked.field("power_limit_watts", || device.enforced_power_limit()).map(thousandth);
    sample.temperature_celsius = asked.field("temperature_celsius", || device.temperature(TemperatureSensor::Gpu)).map(f64::from);
    sample.clock_sm_mhz = asked.field("clock_sm_mhz", || device.clock_info(Clock::SM));
    sample.clock_memory_mhz = asked.field("clock_memory_mhz", || device.clock_info(Clock::Memory));
    sample.clock_graphics_mhz = asked.field("clock_graphics_mhz", || device.clock_info(Clock::Graphics));
    sample.throttle_reasons = asked.field("throttle_reasons", || device.current_throttle_reasons()).map(throttling);
    let state = asked.field("performance_state", || device.performance_state());
    sample.performance_state = state.and_then(|state| u8::try_from(state.as_c()).ok()).filter(|state| *state < 16);
    sample.ecc_uncorrected_total =
        asked.field("ecc_uncorrected_total", || device.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile));
    let computing = asked.field("processes", || device.running_compute_processes()).unwrap_or_default();
    let drawing = asked.field("graphics_processes", || device.running_graphics_processes()).unwrap_or_default();
    sample.processes = processes(computing.into_iter().chain(drawing), own_pid);
}

/// Each process once: one that computes and draws is told twice, with the same memory.
fn processes(told: impl Iterator<Item = ProcessInfo>, own_pid: u32) -> Vec<GpuProcess> {
    let mut processes: Vec<GpuProcess> = Vec::new();
    for process in told {
        let memory_used_bytes = match process.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some(bytes),
            UsedGpuMemory::Unavailable => None,
        };
        match processes.iter_mut().find(|known| known.pid == process.pid) {
            Some(known) => known.memory_used_bytes = known.memory_used_bytes.max(memory_used_bytes),
            None => processes.push(GpuProcess { pid: process.pid, memory_used_bytes, ours: process.pid == own_pid }),
        }
    }
    processes
}

/// NVML's bits, by name; a bit of a later driver has none.
fn throttling(bits: ThrottleReasons) -> Vec<ThrottleReason> {
    let bit = |reason| match reason {
        ThrottleReason::Idle => ThrottleReasons::GPU_IDLE,
        ThrottleReason::ApplicationsClocks => ThrottleReasons::APPLICATIONS_CLOCKS_SETTING,
        ThrottleReason::SwPowerCap => ThrottleReasons::SW_POWER_CAP,
        ThrottleReason::HwSlowdown => ThrottleReasons::HW_SLOWDOWN,
        ThrottleReason::SyncBoost => ThrottleReasons::SYNC_BOOST,
        ThrottleReason::SwThermal => ThrottleReasons::SW_THERMAL_SLOWDOWN,
        ThrottleReason::HwThermal => ThrottleReasons::HW_THERMAL_SLOWDOWN,
        ThrottleReason::HwPowerBrake => ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN,
        ThrottleReason::DisplayClocks => ThrottleReasons::DISPLAY_CLOCK_SETTING,
    };
    ThrottleReason::ALL.into_iter().filter(|reason| bits.contains(bit(*reason))).collect()
}

/// NVML gives percent.
fn share(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

/// NVML gives milliwatts.
fn thousandth(milliwatts: u32) -> f64 {
    f64::from(milliwatts) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_error(path: Option<&Path>) -> SafeText {
        GpuLibrary::load(path).err().unwrap()
    }

    #[test]
    fn a_library_that_is_not_there_or_none_is_said_so() {
        let nowhere = Path::new("/nowhere/libnvidia-ml.so.1");
        assert_eq!(load_error(Some(nowhere)).as_str(), "telemetry.nvml_library names /nowhere/libnvidia-ml.so.1, which does not exist");
        let dir = tempfile::tempdir().unwrap();
        let text = dir.path().join("lib.so");
        std::fs::write(&text, "not a library").unwrap();
        assert!(load_error(Some(&text)).ends_with("lib.so can't be loaded as NVML"));
        assert_eq!(load_reason(&NvmlError::DriverNotLoaded, None).as_str(), "the NVIDIA driver is not running");
    }
}
