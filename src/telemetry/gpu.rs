//! GPUs through NVML. Each reading is asked for by itself: drivers, MIG and permissions hide some and not others.

use crate::event::{GpuProcess, GpuSample, GpuStatus, SafeText};
#[cfg(target_os = "linux")]
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, EventSet, Nvml};
use std::path::Path;

/// XID events that one sample takes from a device; the rest wait for the next.
const EVENTS_MAX: u32 = 32;

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
        GpuReader { devices: devices.map_err(|error| SafeText::new(reason(&error))), own_pid: std::process::id() }
    }
}

/// Reads all GPUs again and again.
pub struct GpuReader<'nvml> {
    devices: Result<Vec<Gpu<'nvml>>, SafeText>,
    own_pid: u32,
}

impl GpuReader<'_> {
    /// One sample of each GPU, or why there is none.
    pub fn sample(&mut self) -> GpuStatus {
        match &mut self.devices {
            Err(reason) => GpuStatus::Unavailable { reason: reason.clone() },
            Ok(devices) if devices.is_empty() => GpuStatus::Unavailable { reason: "the NVIDIA driver runs but reports no GPU".into() },
            Ok(devices) => GpuStatus::Devices(devices.iter_mut().map(|gpu| gpu.sample(self.own_pid)).collect()),
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
    nvml: &'nvml Nvml,
}

impl<'nvml> Gpu<'nvml> {
    fn open(nvml: &'nvml Nvml, index: u32) -> Self {
        let device = nvml.device_by_index(index);
        let events = match &device {
            Ok(device) => listen(nvml, device),
            Err(_) => Err(NvmlError::NotFound),
        };
        Self { index, device, events, xid_last: None, xid_total: 0, nvml }
    }

    fn sample(&mut self, own_pid: u32) -> GpuSample {
        if self.device.is_err() {
            *self = Self { xid_last: self.xid_last, xid_total: self.xid_total, ..Self::open(self.nvml, self.index) };
        }
        let mut reading = Reading { sample: GpuSample { index: self.index, ..GpuSample::default() } };
        match &self.device {
            Ok(device) => reading.take(device, own_pid),
            Err(error) => reading.sample.lost = Some(SafeText::new(reason(error))),
        }
        if reading.sample.lost.is_none() {
            self.take_xid(&mut reading);
        }
        reading.sample
    }

    fn take_xid(&mut self, reading: &mut Reading) {
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
                (reading.sample.xid_last, reading.sample.xid_total) = (self.xid_last, Some(self.xid_total));
                if self.xid_last.is_none() {
                    reading.missing("xid_last", "none since sampling began");
                }
            }
            Err(error) => reading.missing("xid_last", reason(error)),
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

/// A sample that is being filled.
struct Reading {
    sample: GpuSample,
}

impl Reading {
    /// Asks for everything, until the device turns out to be lost.
    fn take(&mut self, device: &Device<'_>, own_pid: u32) {
        self.sample.name = self.field("name", || device.name()).map(SafeText::from);
        let utilization = self.field("utilization_ratio", || device.utilization_rates());
        self.sample.utilization_ratio = utilization.map(|rates| f64::from(rates.gpu) / 100.0);
        let memory = self.field("memory_used_bytes", || device.memory_info());
        self.sample.memory_used_bytes = memory.as_ref().map(|memory| memory.used);
        self.sample.memory_total_bytes = memory.map(|memory| memory.total);
        self.sample.power_watts = self.field("power_watts", || device.power_usage()).map(watts);
        self.sample.power_limit_watts = self.field("power_limit_watts", || device.enforced_power_limit()).map(watts);
        self.sample.temperature_celsius = self.field("temperature_celsius", || device.temperature(TemperatureSensor::Gpu)).map(f64::from);
        self.sample.clock_sm_mhz = self.field("clock_sm_mhz", || device.clock_info(Clock::SM));
        self.sample.clock_memory_mhz = self.field("clock_memory_mhz", || device.clock_info(Clock::Memory));
        self.sample.ecc_uncorrected_total =
            self.field("ecc_uncorrected_total", || device.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile));
        let processes = self.field("processes", || device.running_compute_processes());
        self.sample.processes = processes
            .into_iter()
            .flatten()
            .map(|process| GpuProcess {
                pid: process.pid,
                memory_used_bytes: match process.used_gpu_memory {
                    UsedGpuMemory::Used(bytes) => Some(bytes),
                    UsedGpuMemory::Unavailable => None,
                },
                ours: process.pid == own_pid,
            })
            .collect();
    }

    /// The value, or a note why it is missing.
    fn field<T>(&mut self, name: &str, ask: impl FnOnce() -> Result<T, NvmlError>) -> Option<T> {
        if self.sample.lost.is_some() {
            return None;
        }
        match ask() {
            Ok(value) => Some(value),
            Err(error) => {
                if matches!(error, NvmlError::GpuLost | NvmlError::ResetRequired) {
                    self.sample.lost = Some(SafeText::new(reason(&error)));
                }
                self.missing(name, reason(&error));
                if name == "memory_used_bytes" {
                    self.missing("memory_total_bytes", reason(&error));
                }
                None
            }
        }
    }

    fn missing(&mut self, name: &str, reason: &str) {
        self.sample.missing.push((SafeText::new(name), SafeText::new(reason)));
    }
}

/// NVML gives milliwatts.
fn watts(milliwatts: u32) -> f64 {
    f64::from(milliwatts) / 1000.0
}

/// Why there is no NVML, in people's words.
fn load_reason(error: &NvmlError, path: Option<&Path>) -> SafeText {
    let text = match (error, path) {
        (NvmlError::LibloadingError(_), Some(path)) if !path.exists() => {
            format!("telemetry.nvml_library names {}, which does not exist", path.display())
        }
        (NvmlError::LibloadingError(_), Some(path)) => format!("{} can't be loaded as NVML", path.display()),
        (NvmlError::LibloadingError(_), None) => "no NVIDIA driver here: its NVML library was not found".to_owned(),
        (NvmlError::FailedToLoadSymbol(_), _) => "the library that was loaded is not NVML, or of a very old driver".to_owned(),
        (other, _) => reason(other).to_owned(),
    };
    text.into()
}

/// An error of NVML in people's words, short enough for a pane.
fn reason(error: &NvmlError) -> &'static str {
    match error {
        NvmlError::NotSupported => "this GPU or its mode (MIG, virtual) does not report it",
        NvmlError::NoPermission => "no permission: the administrator has restricted it",
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => "the driver's NVML has no such call: it is too old or too new",
        NvmlError::GpuLost => "the GPU has fallen off the bus: reboot or replace it",
        NvmlError::ResetRequired => "the GPU needs a reset",
        NvmlError::DriverNotLoaded => "the NVIDIA driver is not running",
        NvmlError::LibraryNotFound => "a library of the NVIDIA driver is missing: reinstall the driver",
        NvmlError::LibRmVersionMismatch => "NVML and the running driver differ in version: reboot after the update",
        NvmlError::Timeout => "the driver did not answer in time",
        NvmlError::InsufficientSize(_) => "more came than the driver had announced; the next sample has it",
        NvmlError::NotFound => "the driver does not know this GPU",
        NvmlError::NoData => "the driver has no data yet",
        NvmlError::InsufficientPower => "the GPU's power cables are not attached properly",
        NvmlError::IrqIssue => "the kernel reports an interrupt problem of the GPU",
        NvmlError::OperatingSystem => "the operating system denied the driver access to the GPU",
        // A foreign enum; the rest are faults of the call itself, of which a pane can say no more.
        _ => "the driver could not tell",
    }
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
