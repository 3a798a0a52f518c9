//! One sample of the machine. A field that a driver can't give is `None`, never zero.

use super::{SafeText, num};
use serde::{Deserialize, Serialize};

/// The host and our own process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Share of all cores in use, in [0, 1].
    #[serde(default, with = "num::float_option")]
    pub cpu_ratio: Option<f64>,
    /// Share of each core in use, in [0, 1].
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::doubles")]
    pub core_ratios: Vec<f64>,
    pub memory_used_bytes: Option<u64>,
    pub memory_total_bytes: Option<u64>,
    /// What can be had without pushing anything out; less than total less used where caches can't be dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_available_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_used_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_total_bytes: Option<u64>,
    /// Tasks that run or wait to, on average over a minute.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub load_1m: Option<f64>,
    /// Cores that this process uses (1.0 is one core).
    #[serde(default, with = "num::float_option")]
    pub process_cpu_cores: Option<f64>,
    pub process_rss_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_threads: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_open_files: Option<u64>,
    #[serde(default, with = "num::float_option")]
    pub process_read_bytes_per_second: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub process_written_bytes_per_second: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub network_received_bytes_per_second: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub network_sent_bytes_per_second: Option<f64>,
    /// Of all disks of the host.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub disk_read_bytes_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub disk_written_bytes_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskSample>,
    /// Events before this one that the recorder has not brought to the disk; unset where nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder_events_behind: Option<u64>,
}

/// The file system that holds the recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskSample {
    pub mount: SafeText,
    pub available_bytes: u64,
    pub total_bytes: u64,
}

/// GPUs as NVML reports them, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuStatus {
    /// No GPU can be read; the reason is for the operator.
    Unavailable {
        reason: SafeText,
    },
    Devices(Vec<GpuSample>),
}

/// One GPU. Every reading is optional by itself: drivers, MIG and permissions hide some and not others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuSample {
    pub index: u32,
    pub name: Option<SafeText>,
    #[serde(default, with = "num::float_option")]
    pub utilization_ratio: Option<f64>,
    /// Share of the time in which memory was read or written, in [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub memory_utilization_ratio: Option<f64>,
    pub memory_used_bytes: Option<u64>,
    pub memory_total_bytes: Option<u64>,
    #[serde(default, with = "num::float_option")]
    pub power_watts: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub power_limit_watts: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub temperature_celsius: Option<f64>,
    pub clock_sm_mhz: Option<u32>,
    pub clock_memory_mhz: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_graphics_mhz: Option<u32>,
    /// Why clocks are not as high as they could be; empty: they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_reasons: Option<Vec<ThrottleReason>>,
    /// 0 (fastest) to 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance_state: Option<u8>,
    pub ecc_uncorrected_total: Option<u64>,
    pub xid_last: Option<u64>,
    /// XID errors since sampling began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xid_total: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<GpuProcess>,
    /// Name of a field above that is `None`, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<(SafeText, SafeText)>,
    /// The device fell off the bus or can't be read at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<SafeText>,
    /// In some samples only: what is asked seldom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Box<GpuHealth>>,
}

/// Why a GPU's clocks are held down, as NVML tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleReason {
    /// Nothing runs on it.
    Idle,
    /// Somebody has set the clocks.
    ApplicationsClocks,
    SwPowerCap,
    /// Clocks are halved at least: too hot, too much power, or the power supply asks for it.
    HwSlowdown,
    SyncBoost,
    SwThermal,
    HwThermal,
    HwPowerBrake,
    DisplayClocks,
}

impl ThrottleReason {
    pub const ALL: [Self; 9] = [
        Self::Idle,
        Self::ApplicationsClocks,
        Self::SwPowerCap,
        Self::HwSlowdown,
        Self::SyncBoost,
        Self::SwThermal,
        Self::HwThermal,
        Self::HwPowerBrake,
        Self::DisplayClocks,
    ];

    /// As series and recordings have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::ApplicationsClocks => "applications_clocks",
            Self::SwPowerCap => "sw_power_cap",
            Self::HwSlowdown => "hw_slowdown",
            Self::SyncBoost => "sync_boost",
            Self::SwThermal => "sw_thermal",
            Self::HwThermal => "hw_thermal",
            Self::HwPowerBrake => "hw_power_brake",
            Self::DisplayClocks => "display_clocks",
        }
    }

    /// Whether it tells of trouble: heat or power supply, not idleness or a setting.
    pub fn is_trouble(self) -> bool {
        match self {
            Self::HwSlowdown | Self::SwThermal | Self::HwThermal | Self::HwPowerBrake => true,
            Self::Idle | Self::ApplicationsClocks | Self::SwPowerCap | Self::SyncBoost | Self::DisplayClocks => false,
        }
    }
}

/// What changes slowly on a GPU, or takes the driver long to tell. Every reading is optional by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuHealth {
    /// Since the driver was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub energy_joules_total: Option<f64>,
    /// From here on clocks are cut.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub temperature_slowdown_celsius: Option<f64>,
    /// Here the GPU turns itself off.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub temperature_shutdown_celsius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub temperature_memory_celsius: Option<f64>,
    /// From here on memory clocks are cut.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub temperature_memory_max_celsius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub power_limit_default_watts: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_sm_max_mhz: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_memory_max_mhz: Option<u32>,
    /// Of the fan's own maximum; more than 1 is possible.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub fan_speed_ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub encoder_utilization_ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub decoder_utilization_ratio: Option<f64>,
    /// Memory that the host sees directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar1_used_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar1_total_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_generation: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_generation_max: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_lanes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_lanes_max: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub pcie_received_bytes_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "num::float_option")]
    pub pcie_sent_bytes_per_second: Option<f64>,
    /// Packets that had to be sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_replays_total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvlinks_active: Option<u32>,
    /// Links that the GPU has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvlinks: Option<u32>,
    /// Checksum errors, replays and recoveries of all links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvlink_errors_total: Option<u64>,
    /// Since the driver was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecc_corrected_total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecc_uncorrected_lifetime_total: Option<u64>,
    /// Older GPUs: pages taken out of use after memory errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_retired_total: Option<u64>,
    /// A page waits for a reset to be retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_retirement_pending: Option<bool>,
    /// Newer GPUs: memory rows replaced after errors that could be corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_remapped_corrected_total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_remapped_uncorrected_total: Option<u64>,
    /// A row waits for a reset to be remapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_remap_pending: Option<bool>,
    /// A row could not be remapped: the GPU is to be replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_remap_failed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mig_enabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mig_instances: Vec<MigInstance>,
    /// Name of a field above that is `None`, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<(SafeText, SafeText)>,
}

/// A part of a GPU in MIG mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigInstance {
    /// As the driver counts them on this GPU.
    pub index: u32,
    pub memory_used_bytes: Option<u64>,
    pub memory_total_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuProcess {
    pub pid: u32,
    pub memory_used_bytes: Option<u64>,
    /// Whether it is this process.
    pub ours: bool,
}
