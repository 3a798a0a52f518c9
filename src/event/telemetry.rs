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
    /// Cores that this process uses (1.0 is one core).
    #[serde(default, with = "num::float_option")]
    pub process_cpu_cores: Option<f64>,
    pub process_rss_bytes: Option<u64>,
    #[serde(default, with = "num::float_option")]
    pub process_read_bytes_per_second: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub process_written_bytes_per_second: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub network_received_bytes_per_second: Option<f64>,
    #[serde(default, with = "num::float_option")]
    pub network_sent_bytes_per_second: Option<f64>,
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuProcess {
    pub pid: u32,
    pub memory_used_bytes: Option<u64>,
    /// Whether it is this process.
    pub ours: bool,
}
