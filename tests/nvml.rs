//! The GPU sampler against a stand-in NVML library, loaded as the driver's own would be.

#![expect(clippy::unwrap_used, reason = "the helpers belong to the tests")]

use pilothouse::event::{GpuProcess, GpuSample, GpuStatus};
use pilothouse::telemetry::GpuLibrary;
use std::path::{Path, PathBuf};
use std::process::Command;

const VALUES: &str = "\
devices=2
name=H200 stand-in
utilization_percent=93
memory_total_bytes=150754820096
memory_used_bytes=65498251264
power_milliwatts=612345
power_limit_milliwatts=700000
temperature_celsius=71
clock_sm_mhz=1980
clock_memory_mhz=3201
ecc_uncorrected=4
";

/// The library, compiled for one test, and the file that it reads.
struct StandIn {
    dir: tempfile::TempDir,
}

impl StandIn {
    fn build(flags: &[&str]) -> Self {
        let standin = Self { dir: tempfile::tempdir().unwrap() };
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "nvml_standin", "-o"])
            .arg(standin.library())
            .args(flags)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nvml_standin/lib.rs"))
            .env("NVML_STANDIN_VALUES", standin.values())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        standin.set("");
        standin
    }

    fn library(&self) -> PathBuf {
        self.dir.path().join("libnvidia-ml.so.1")
    }

    fn values(&self) -> PathBuf {
        self.dir.path().join("values")
    }

    /// The usual values with `more` before them: the first line of a name counts.
    fn set(&self, more: &str) {
        std::fs::write(self.values(), format!("{more}\n{VALUES}")).unwrap();
    }

    fn load(&self) -> GpuLibrary {
        GpuLibrary::load(Some(&self.library())).unwrap_or_else(|reason| panic!("{reason}"))
    }
}

fn devices(status: GpuStatus) -> Vec<GpuSample> {
    match status {
        GpuStatus::Devices(devices) => devices,
        GpuStatus::Unavailable { reason } => panic!("{reason}"),
    }
}

fn missing<'a>(sample: &'a GpuSample, field: &str) -> &'a str {
    let entry = sample.missing.iter().find(|(name, _)| name.as_str() == field);
    entry.map_or_else(|| panic!("{field} is not missing: {sample:?}"), |(_, reason)| reason.as_str())
}

#[test]
fn every_reading_comes_through_with_its_unit() {
    let standin = StandIn::build(&[]);
    let own = std::process::id();
    standin.set(&format!("processes={own}:1048576,4242:na"));
    let library = standin.load();
    let samples = devices(library.reader().sample());
    assert_eq!(samples.len(), 2);
    let expected = GpuSample {
        index: 1,
        name: Some("H200 stand-in".into()),
        utilization_ratio: Some(0.93),
        memory_used_bytes: Some(65_498_251_264),
        memory_total_bytes: Some(150_754_820_096),
        power_watts: Some(612.345),
        power_limit_watts: Some(700.0),
        temperature_celsius: Some(71.0),
        clock_sm_mhz: Some(1980),
        clock_memory_mhz: Some(3201),
        ecc_uncorrected_total: Some(4),
        xid_last: None,
        xid_total: Some(0),
        processes: vec![
            GpuProcess { pid: own, memory_used_bytes: Some(1 << 20), ours: true },
            GpuProcess { pid: 4242, memory_used_bytes: None, ours: false },
        ],
        missing: vec![("xid_last".into(), "none since sampling began".into())],
        lost: None,
    };
    assert_eq!(samples[1], expected);
}

#[test]
fn a_call_that_fails_hides_its_own_reading_only() {
    let standin = StandIn::build(&[]);
    // 3: not supported, as utilisation under MIG. 4: no permission.
    standin.set("nvmlDeviceGetUtilizationRates=error 3\nnvmlDeviceGetMemoryInfo_v2=error 4\nnvmlDeviceRegisterEvents=error 3");
    let library = standin.load();
    let sample = &devices(library.reader().sample())[0];
    assert_eq!((sample.utilization_ratio, sample.memory_used_bytes, sample.memory_total_bytes), (None, None, None));
    assert_eq!(missing(sample, "utilization_ratio"), "this GPU or its mode (MIG, virtual) does not report it");
    assert_eq!(missing(sample, "memory_used_bytes"), "no permission: the administrator has restricted it");
    assert_eq!(missing(sample, "memory_total_bytes"), missing(sample, "memory_used_bytes"));
    assert_eq!(missing(sample, "xid_last"), missing(sample, "utilization_ratio"));
    assert_eq!((sample.power_watts, sample.temperature_celsius), (Some(612.345), Some(71.0)));
    assert_eq!((sample.missing.len(), sample.lost.as_ref()), (4, None));
}

#[test]
fn a_call_that_the_library_lacks_hides_its_own_reading_only() {
    let library = StandIn::build(&["--cfg", "old_driver"]);
    let loaded = library.load();
    let sample = &devices(loaded.reader().sample())[0];
    assert_eq!(sample.power_watts, None);
    assert!(missing(sample, "power_watts").starts_with("the driver's NVML has no such call"));
    assert_eq!((sample.power_limit_watts, sample.utilization_ratio), (Some(700.0), Some(0.93)));
}

#[test]
fn a_gpu_that_is_lost_in_the_middle_is_said_so_and_comes_back() {
    let standin = StandIn::build(&[]);
    let library = standin.load();
    let mut reader = library.reader();
    assert_eq!(devices(reader.sample())[0].lost, None);
    // 15: the GPU is lost.
    standin.set("nvmlDeviceGetTemperature=error 15");
    let sample = &devices(reader.sample())[0];
    assert_eq!(sample.lost.as_deref(), Some("the GPU has fallen off the bus: reboot or replace it"));
    // Nothing after the call that told so was asked.
    assert_eq!((sample.power_watts, sample.temperature_celsius, sample.clock_sm_mhz), (Some(612.345), None, None));
    standin.set("");
    assert_eq!(devices(reader.sample())[0].temperature_celsius, Some(71.0));
}

#[test]
fn a_gpu_that_can_t_be_opened_is_asked_for_again() {
    let standin = StandIn::build(&[]);
    standin.set("nvmlDeviceGetHandleByIndex_v2=error 15");
    let library = standin.load();
    let mut reader = library.reader();
    let sample = &devices(reader.sample())[1];
    assert_eq!((sample.index, sample.name.as_ref()), (1, None));
    assert!(sample.lost.is_some());
    standin.set("");
    assert_eq!(devices(reader.sample())[1].name.as_deref(), Some("H200 stand-in"));
}

#[test]
fn the_last_xid_stays() {
    let standin = StandIn::build(&[]);
    let library = standin.load();
    let mut reader = library.reader();
    let mut xid = || {
        let sample = devices(reader.sample()).swap_remove(0);
        (sample.xid_last, sample.xid_total)
    };
    assert_eq!(xid(), (None, Some(0)));
    standin.set("xid=79");
    assert_eq!(xid(), (Some(79), Some(1)));
    assert_eq!(xid(), (Some(79), Some(1)));
}

#[test]
fn no_gpu_and_no_driver_have_a_reason() {
    let standin = StandIn::build(&[]);
    standin.set("devices=0");
    let none = standin.load().reader().sample();
    assert_eq!(none, GpuStatus::Unavailable { reason: "the NVIDIA driver runs but reports no GPU".into() });
    standin.set("nvmlDeviceGetCount_v2=error 15");
    assert!(matches!(standin.load().reader().sample(), GpuStatus::Unavailable { .. }));
    // 9: the driver is not loaded. 18: library and driver differ.
    standin.set("nvmlInit_v2=error 9");
    assert_eq!(GpuLibrary::load(Some(&standin.library())).err().unwrap().as_str(), "the NVIDIA driver is not running");
    standin.set("nvmlInit_v2=error 18");
    assert!(GpuLibrary::load(Some(&standin.library())).err().unwrap().contains("differ in version"));
}
