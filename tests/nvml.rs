//! The GPU sampler against a stand-in NVML library, loaded as the driver's own would be.

#![expect(clippy::unwrap_used, reason = "the helpers belong to the tests")]

use pilothouse::event::{GpuHealth, GpuProcess, GpuSample, GpuStatus, MigInstance, ThrottleReason};
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
clock_graphics_mhz=1965
memory_utilization_percent=41
throttle_bits=68
performance_state=0
ecc_uncorrected=4
ecc_corrected=17
ecc_uncorrected_lifetime=21
energy_millijoules=123456789
temperature_shutdown=98
temperature_slowdown=93
temperature_memory_max=105
power_limit_default_milliwatts=700000
clock_sm_max_mhz=1990
clock_memory_max_mhz=3202
fan_percent=130
encoder_percent=2
decoder_percent=3
bar1_total_bytes=274877906944
bar1_used_bytes=1048576
pcie_generation=4
pcie_generation_max=5
pcie_lanes=8
pcie_lanes_max=16
pcie_sent_kilobytes=1500
pcie_received_kilobytes=2500
pcie_replays=6
nvlinks_active=17
field_82=61
field_91=18
field_38=1
field_45=2
field_52=4
field_59=8
field_29=3
field_30=5
field_31=1
field_142=11
field_143=13
field_144=1
field_145=0
mig_enabled=1
mig_places=4
mig_memory_total_bytes=75161927680
mig_memory_used_bytes=1073741824
";

const SECOND_NS: u64 = 1_000_000_000;

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

    /// How often a call was made.
    fn calls(&self, function: &str) -> usize {
        std::fs::read_to_string(self.dir.path().join("values.calls")).unwrap().lines().filter(|line| *line == function).count()
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
    // Our own computes and draws.
    standin.set(&format!("processes={own}:1048576,4242:na\ngraphics_processes={own}:1048576"));
    let library = standin.load();
    let samples = devices(library.reader().sample(0));
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
        clock_graphics_mhz: Some(1965),
        memory_utilization_ratio: Some(0.41),
        throttle_reasons: Some(vec![ThrottleReason::SwPowerCap, ThrottleReason::HwThermal]),
        performance_state: Some(0),
        ecc_uncorrected_total: Some(4),
        xid_last: None,
        xid_total: Some(0),
        processes: vec![
            GpuProcess { pid: own, memory_used_bytes: Some(1 << 20), ours: true },
            GpuProcess { pid: 4242, memory_used_bytes: None, ours: false },
        ],
        missing: vec![("xid_last".into(), "none since sampling began".into())],
        lost: None,
        health: Some(Box::new(health())),
    };
    assert_eq!(samples[1], expected);
}

/// What `VALUES` says of all that is asked seldom.
fn health() -> GpuHealth {
    let instance = |index| MigInstance { index, memory_used_bytes: Some(1 << 30), memory_total_bytes: Some(70 << 30) };
    GpuHealth {
        energy_joules_total: Some(123_456.789),
        temperature_slowdown_celsius: Some(93.0),
        temperature_shutdown_celsius: Some(98.0),
        temperature_memory_celsius: Some(61.0),
        temperature_memory_max_celsius: Some(105.0),
        power_limit_default_watts: Some(700.0),
        clock_sm_max_mhz: Some(1990),
        clock_memory_max_mhz: Some(3202),
        fan_speed_ratio: Some(1.3),
        encoder_utilization_ratio: Some(0.02),
        decoder_utilization_ratio: Some(0.03),
        bar1_used_bytes: Some(1 << 20),
        bar1_total_bytes: Some(256 << 30),
        pcie_generation: Some(4),
        pcie_generation_max: Some(5),
        pcie_lanes: Some(8),
        pcie_lanes_max: Some(16),
        pcie_received_bytes_per_second: Some(2_500_000.0),
        pcie_sent_bytes_per_second: Some(1_500_000.0),
        pcie_replays_total: Some(6),
        nvlinks_active: Some(17),
        nvlinks: Some(18),
        nvlink_errors_total: Some(15),
        ecc_corrected_total: Some(17),
        ecc_uncorrected_lifetime_total: Some(21),
        pages_retired_total: Some(8),
        pages_retirement_pending: Some(true),
        rows_remapped_corrected_total: Some(11),
        rows_remapped_uncorrected_total: Some(13),
        rows_remap_pending: Some(true),
        rows_remap_failed: Some(false),
        mig_enabled: Some(true),
        mig_instances: vec![instance(0), instance(2)],
        missing: Vec::new(),
    }
}

#[test]
fn what_is_asked_seldom_fails_one_by_one() {
    let standin = StandIn::build(&[]);
    // Field 82, the temperature of the memory, and 145 have no line of their own here.
    let hidden = "nvmlDeviceGetPcieThroughput=error 3\nnvmlDeviceGetMigMode=error 3\nfield_145=none\nnvmlDeviceGetBAR1MemoryInfo=error 999";
    standin.set(hidden);
    let library = standin.load();
    let sample = &devices(library.reader().sample(0))[0];
    let found = sample.health.as_deref().unwrap();
    let expected = GpuHealth {
        bar1_used_bytes: None,
        bar1_total_bytes: None,
        pcie_received_bytes_per_second: None,
        pcie_sent_bytes_per_second: None,
        rows_remap_failed: None,
        mig_enabled: None,
        mig_instances: Vec::new(),
        missing: found.missing.clone(),
        ..health()
    };
    assert_eq!(found, &expected);
    let names: Vec<&str> = found.missing.iter().map(|(name, _)| name.as_str()).collect();
    let hidden = ["bar1_used_bytes", "bar1_total_bytes", "pcie_received_bytes_per_second", "pcie_sent_bytes_per_second"];
    assert_eq!(names, [&hidden[..], &["rows_remap_failed", "mig_enabled"]].concat());
    assert_eq!(sample.missing.len(), 1, "{:?}", sample.missing);
}

#[test]
fn what_is_slow_or_refused_is_asked_seldom() {
    let standin = StandIn::build(&[]);
    standin.set("nvmlDeviceGetUtilizationRates=error 3\nnvmlDeviceGetPowerUsage=error 999\ndevices=1");
    let library = standin.load();
    let mut reader = library.reader();
    let calls = |function: &str| standin.calls(function);
    for second in 0..30 {
        let sample = devices(reader.sample(second * SECOND_NS)).remove(0);
        assert_eq!(sample.health.is_some(), second == 0);
        assert!(missing(&sample, "utilization_ratio").contains("does not report it"), "it is told each time all the same");
        assert_eq!(missing(&sample, "memory_utilization_ratio"), missing(&sample, "utilization_ratio"));
    }
    assert_eq!((calls("nvmlDeviceGetUtilizationRates"), calls("nvmlDeviceGetPcieThroughput")), (1, 2));
    assert_eq!((calls("nvmlDeviceGetPowerUsage"), calls("nvmlDeviceGetTemperature")), (30, 30), "it may be better the next time");
    standin.set("devices=1");
    let at = |reader: &mut pilothouse::telemetry::GpuReader<'_>, second| devices(reader.sample(second * SECOND_NS)).remove(0);
    assert!(at(&mut reader, 30).health.is_some());
    assert_eq!((at(&mut reader, 299).utilization_ratio, at(&mut reader, 300).utilization_ratio), (None, Some(0.93)));
}

#[test]
fn a_call_that_fails_hides_its_own_reading_only() {
    let standin = StandIn::build(&[]);
    // 3: not supported, as utilisation under MIG. 4: no permission.
    standin.set("nvmlDeviceGetUtilizationRates=error 3\nnvmlDeviceGetMemoryInfo_v2=error 4\nnvmlDeviceRegisterEvents=error 3");
    let library = standin.load();
    let sample = &devices(library.reader().sample(0))[0];
    assert_eq!((sample.utilization_ratio, sample.memory_used_bytes, sample.memory_total_bytes), (None, None, None));
    assert_eq!(missing(sample, "utilization_ratio"), "this GPU or its mode (MIG, virtual) does not report it");
    assert_eq!(missing(sample, "memory_used_bytes"), "no permission: the administrator has restricted it");
    assert_eq!(missing(sample, "memory_total_bytes"), missing(sample, "memory_used_bytes"));
    assert_eq!(missing(sample, "memory_utilization_ratio"), missing(sample, "utilization_ratio"));
    assert_eq!(missing(sample, "xid_last"), missing(sample, "utilization_ratio"));
    assert_eq!((sample.power_watts, sample.temperature_celsius), (Some(612.345), Some(71.0)));
    assert_eq!((sample.missing.len(), sample.lost.as_ref()), (5, None));
}

#[test]
fn a_call_that_the_library_lacks_hides_its_own_reading_only() {
    let library = StandIn::build(&["--cfg", "old_driver"]);
    let loaded = library.load();
    let sample = &devices(loaded.reader().sample(0))[0];
    assert_eq!(sample.power_watts, None);
    assert!(missing(sample, "power_watts").starts_with("the driver's NVML has no such call"));
    assert_eq!((sample.power_limit_watts, sample.utilization_ratio), (Some(700.0), Some(0.93)));
}

#[test]
fn a_gpu_that_is_lost_in_the_middle_is_said_so_and_comes_back() {
    let standin = StandIn::build(&[]);
    let library = standin.load();
    let mut reader = library.reader();
    assert_eq!(devices(reader.sample(0))[0].lost, None);
    // 15: the GPU is lost.
    standin.set("nvmlDeviceGetTemperature=error 15");
    let sample = &devices(reader.sample(0))[0];
    assert_eq!(sample.lost.as_deref(), Some("the GPU has fallen off the bus: reboot or replace it"));
    // Nothing after the call that told so was asked.
    assert_eq!((sample.power_watts, sample.temperature_celsius, sample.clock_sm_mhz), (Some(612.345), None, None));
    standin.set("");
    assert_eq!(devices(reader.sample(0))[0].temperature_celsius, Some(71.0));
}

#[test]
fn a_gpu_that_can_t_be_opened_is_asked_for_again() {
    let standin = StandIn::build(&[]);
    standin.set("nvmlDeviceGetHandleByIndex_v2=error 15");
    let library = standin.load();
    let mut reader = library.reader();
    let sample = &devices(reader.sample(0))[1];
    assert_eq!((sample.index, sample.name.as_ref()), (1, None));
    assert!(sample.lost.is_some());
    standin.set("");
    assert_eq!(devices(reader.sample(0))[1].name.as_deref(), Some("H200 stand-in"));
}

#[test]
fn the_last_xid_stays() {
    let standin = StandIn::build(&[]);
    let library = standin.load();
    let mut reader = library.reader();
    let mut xid = || {
        let sample = devices(reader.sample(0)).swap_remove(0);
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
    let none = standin.load().reader().sample(0);
    assert_eq!(none, GpuStatus::Unavailable { reason: "the NVIDIA driver runs but reports no GPU".into() });
    standin.set("nvmlDeviceGetCount_v2=error 15");
    assert!(matches!(standin.load().reader().sample(0), GpuStatus::Unavailable { .. }));
    // 9: the driver is not loaded. 18: library and driver differ.
    standin.set("nvmlInit_v2=error 9");
    assert_eq!(GpuLibrary::load(Some(&standin.library())).err().unwrap().as_str(), "the NVIDIA driver is not running");
    standin.set("nvmlInit_v2=error 18");
    assert!(GpuLibrary::load(Some(&standin.library())).err().unwrap().contains("differ in version"));
}
