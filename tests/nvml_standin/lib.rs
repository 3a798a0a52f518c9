//! A stand-in for NVIDIA's NVML: a shared library of the same C interface that answers with the values of a file.
//!
//! Compiled by `tests/nvml.rs`, which names the file in `NVML_STANDIN_VALUES` at that time. The file holds lines `name=value`; a line
//! `FUNCTION=error CODE` makes that call fail. It is read anew at each call, so that values can change while it is loaded.
//! Each call that may be refused writes a line of its name to the file `VALUES.calls`.
//! With `--cfg old_driver` the power call is missing, as in a library of another version.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_uint, c_ulonglong, c_void};

type Return = c_uint;
const SUCCESS: Return = 0;
const INSUFFICIENT_SIZE: Return = 7;
const TIMEOUT: Return = 10;
const XID_CRITICAL: c_ulonglong = 8;

fn text(name: &str) -> Option<String> {
    let file = std::fs::read_to_string(env!("NVML_STANDIN_VALUES")).ok()?;
    let line = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(line.to_owned())
}

fn number(name: &str) -> u64 {
    text(name).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The code that the file asks of this call, which is noted.
fn outcome(function: &str) -> Return {
    use std::io::Write;
    let calls = std::fs::OpenOptions::new().create(true).append(true).open(concat!(env!("NVML_STANDIN_VALUES"), ".calls"));
    let _ = calls.and_then(|mut calls| writeln!(calls, "{function}"));
    text(function).and_then(|text| text.strip_prefix("error ")?.parse().ok()).unwrap_or(SUCCESS)
}

/// Answers one number through a pointer.
fn give<T>(function: &str, out: *mut T, value: T) -> Return {
    let code = outcome(function);
    if code == SUCCESS {
        unsafe { out.write(value) };
    }
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> Return {
    outcome("nvmlInit_v2")
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> Return {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> Return {
    give("nvmlDeviceGetCount_v2", count, number("devices") as c_uint)
}

/// A device is its index + 1, so that none is null.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut *mut c_void) -> Return {
    give("nvmlDeviceGetHandleByIndex_v2", device, (index as usize + 1) as *mut c_void)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetName(_: *mut c_void, name: *mut c_char, length: c_uint) -> Return {
    let code = outcome("nvmlDeviceGetName");
    let text = text("name").unwrap_or_default();
    if code == SUCCESS {
        let bytes = text.as_bytes().iter().take(length as usize - 1).copied().chain([0]);
        for (i, byte) in bytes.enumerate() {
            unsafe { name.add(i).write(byte as c_char) };
        }
    }
    code
}

#[repr(C)]
pub struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetUtilizationRates(_: *mut c_void, out: *mut Utilization) -> Return {
    let value = Utilization { gpu: number("utilization_percent") as c_uint, memory: number("memory_utilization_percent") as c_uint };
    give("nvmlDeviceGetUtilizationRates", out, value)
}

#[repr(C)]
pub struct Memory {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: *mut c_void, out: *mut Memory) -> Return {
    let version = unsafe { (*out).version };
    // An instance of MIG has its own memory.
    let of = |name: &str| number(&if device as usize > MIG_BASE { format!("mig_{name}") } else { name.to_owned() });
    let (total, used) = (of("memory_total_bytes"), of("memory_used_bytes"));
    give("nvmlDeviceGetMemoryInfo_v2", out, Memory { version, total, reserved: 0, free: total - used, used })
}

#[cfg(not(old_driver))]
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetPowerUsage(_: *mut c_void, out: *mut c_uint) -> Return {
    give("nvmlDeviceGetPowerUsage", out, number("power_milliwatts") as c_uint)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetEnforcedPowerLimit(_: *mut c_void, out: *mut c_uint) -> Return {
    give("nvmlDeviceGetEnforcedPowerLimit", out, number("power_limit_milliwatts") as c_uint)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetTemperature(_: *mut c_void, _sensor: c_uint, out: *mut c_uint) -> Return {
    give("nvmlDeviceGetTemperature", out, number("temperature_celsius") as c_uint)
}

/// Clock 0 is that of the graphics engine, 1 of the multiprocessors, 2 of the memory.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetClockInfo(_: *mut c_void, clock: c_uint, out: *mut c_uint) -> Return {
    let name = ["clock_graphics_mhz", "clock_sm_mhz", "clock_memory_mhz", ""][clock as usize];
    give("nvmlDeviceGetClockInfo", out, number(name) as c_uint)
}

/// Error type 0 is corrected, 1 uncorrected; counter 0 is since the driver was loaded, 1 for ever.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetTotalEccErrors(_: *mut c_void, error: c_uint, counter: c_uint, out: *mut c_ulonglong) -> Return {
    let name = match (error, counter) {
        (1, 0) => "ecc_uncorrected",
        (0, 0) => "ecc_corrected",
        (1, 1) => "ecc_uncorrected_lifetime",
        _ => return 2,
    };
    give("nvmlDeviceGetTotalEccErrors", out, number(name))
}

#[repr(C)]
pub struct Process {
    pid: c_uint,
    used_memory: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `processes=PID:BYTES,PID:na`
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(_: *mut c_void, count: *mut c_uint, out: *mut Process) -> Return {
    give_processes("nvmlDeviceGetComputeRunningProcesses_v3", "processes", count, out)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v3(_: *mut c_void, count: *mut c_uint, out: *mut Process) -> Return {
    give_processes("nvmlDeviceGetGraphicsRunningProcesses_v3", "graphics_processes", count, out)
}

fn give_processes(function: &str, name: &str, count: *mut c_uint, out: *mut Process) -> Return {
    let code = outcome(function);
    let list = text(name).unwrap_or_default();
    let entries: Vec<(u32, u64)> = list
        .split(',')
        .filter_map(|entry| entry.split_once(':'))
        .map(|(pid, bytes)| (pid.parse().unwrap_or(0), bytes.parse().unwrap_or(u64::MAX)))
        .collect();
    let room = unsafe { count.replace(entries.len() as c_uint) } as usize;
    if code != SUCCESS || entries.is_empty() {
        return code;
    }
    if out.is_null() || room < entries.len() {
        return INSUFFICIENT_SIZE;
    }
    for (i, (pid, used_memory)) in entries.into_iter().enumerate() {
        let process = Process { pid, used_memory, gpu_instance: c_uint::MAX, compute_instance: c_uint::MAX };
        unsafe { out.add(i).write(process) };
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlEventSetCreate(set: *mut *mut c_void) -> Return {
    give("nvmlEventSetCreate", set, std::ptr::without_provenance_mut(1))
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlEventSetFree(_: *mut c_void) -> Return {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceRegisterEvents(_: *mut c_void, events: c_ulonglong, _: *mut c_void) -> Return {
    if events == XID_CRITICAL { outcome("nvmlDeviceRegisterEvents") } else { 2 }
}

#[repr(C)]
pub struct EventData {
    device: *mut c_void,
    event_type: c_ulonglong,
    event_data: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `xid=N` is delivered once: the file `VALUES.xid-taken` remembers it.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlEventSetWait_v2(_: *mut c_void, out: *mut EventData, _timeout_ms: c_uint) -> Return {
    let Some(xid) = text("xid") else { return TIMEOUT };
    let taken = concat!(env!("NVML_STANDIN_VALUES"), ".xid-taken");
    if std::fs::read_to_string(taken).is_ok_and(|last| last == xid) {
        return TIMEOUT;
    }
    let _ = std::fs::write(taken, &xid);
    let event_data = xid.parse().unwrap_or(0);
    let device = std::ptr::without_provenance_mut(1);
    unsafe { out.write(EventData { device, event_type: XID_CRITICAL, event_data, gpu_instance: 0, compute_instance: 0 }) };
    SUCCESS
}

/// Handles above this are those of MIG instances.
const MIG_BASE: usize = 1 << 16;

macro_rules! readings {
    ($( $function:ident $kind:ty, $name:literal; )*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $function(_: *mut c_void, out: *mut $kind) -> Return {
            give(stringify!($function), out, number($name) as $kind)
        }
    )* };
}

readings! {
    nvmlDeviceGetCurrentClocksThrottleReasons c_ulonglong, "throttle_bits";
    nvmlDeviceGetPerformanceState c_uint, "performance_state";
    nvmlDeviceGetTotalEnergyConsumption c_ulonglong, "energy_millijoules";
    nvmlDeviceGetPowerManagementDefaultLimit c_uint, "power_limit_default_milliwatts";
    nvmlDeviceGetCurrPcieLinkGeneration c_uint, "pcie_generation";
    nvmlDeviceGetMaxPcieLinkGeneration c_uint, "pcie_generation_max";
    nvmlDeviceGetCurrPcieLinkWidth c_uint, "pcie_lanes";
    nvmlDeviceGetMaxPcieLinkWidth c_uint, "pcie_lanes_max";
    nvmlDeviceGetPcieReplayCounter c_uint, "pcie_replays";
    nvmlDeviceGetMaxMigDeviceCount c_uint, "mig_places";
}

/// Threshold 0 is shutdown, 1 slowdown, 2 that of the memory.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetTemperatureThreshold(_: *mut c_void, which: c_uint, out: *mut c_uint) -> Return {
    let name = ["temperature_shutdown", "temperature_slowdown", "temperature_memory_max"][which as usize];
    give("nvmlDeviceGetTemperatureThreshold", out, number(name) as c_uint)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetMaxClockInfo(_: *mut c_void, clock: c_uint, out: *mut c_uint) -> Return {
    let name = if clock == 1 { "clock_sm_max_mhz" } else { "clock_memory_max_mhz" };
    give("nvmlDeviceGetMaxClockInfo", out, number(name) as c_uint)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetFanSpeed_v2(_: *mut c_void, _fan: c_uint, out: *mut c_uint) -> Return {
    give("nvmlDeviceGetFanSpeed_v2", out, number("fan_percent") as c_uint)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetEncoderUtilization(_: *mut c_void, out: *mut c_uint, period: *mut c_uint) -> Return {
    unsafe { period.write(1) };
    give("nvmlDeviceGetEncoderUtilization", out, number("encoder_percent") as c_uint)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetDecoderUtilization(_: *mut c_void, out: *mut c_uint, period: *mut c_uint) -> Return {
    unsafe { period.write(1) };
    give("nvmlDeviceGetDecoderUtilization", out, number("decoder_percent") as c_uint)
}

#[repr(C)]
pub struct Bar1 {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetBAR1MemoryInfo(_: *mut c_void, out: *mut Bar1) -> Return {
    let (total, used) = (number("bar1_total_bytes"), number("bar1_used_bytes"));
    give("nvmlDeviceGetBAR1MemoryInfo", out, Bar1 { total, free: total - used, used })
}

/// Counter 0 is what is sent, 1 what is received; kilobytes a second.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetPcieThroughput(_: *mut c_void, counter: c_uint, out: *mut c_uint) -> Return {
    let name = if counter == 0 { "pcie_sent_kilobytes" } else { "pcie_received_kilobytes" };
    give("nvmlDeviceGetPcieThroughput", out, number(name) as c_uint)
}

/// The first `nvlinks_active` links are up.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetNvLinkState(_: *mut c_void, link: c_uint, out: *mut c_uint) -> Return {
    give("nvmlDeviceGetNvLinkState", out, c_uint::from(u64::from(link) < number("nvlinks_active")))
}

#[repr(C)]
pub struct FieldValue {
    field: c_uint,
    scope: c_uint,
    timestamp: i64,
    latency: i64,
    value_type: c_uint,
    code: Return,
    value: c_ulonglong,
}

/// `field_N=VALUE`; a field without a line is not supported. Value type 3 is an unsigned long long.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetFieldValues(_: *mut c_void, count: i32, values: *mut FieldValue) -> Return {
    let code = outcome("nvmlDeviceGetFieldValues");
    for i in 0..count as usize {
        let value = unsafe { &mut *values.add(i) };
        let given = text(&format!("field_{}", value.field)).and_then(|text| text.parse().ok());
        (value.value_type, value.code) = (3, if given.is_some() { SUCCESS } else { 3 });
        value.value = given.unwrap_or(0);
    }
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetMigMode(_: *mut c_void, current: *mut c_uint, pending: *mut c_uint) -> Return {
    unsafe { pending.write(0) };
    give("nvmlDeviceGetMigMode", current, number("mig_enabled") as c_uint)
}

/// Each second place has an instance.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(_: *mut c_void, index: c_uint, out: *mut *mut c_void) -> Return {
    let code = if index % 2 == 0 { outcome("nvmlDeviceGetMigDeviceHandleByIndex") } else { 6 };
    if code == SUCCESS {
        unsafe { out.write(std::ptr::without_provenance_mut(MIG_BASE + 1 + index as usize)) };
    }
    code
}
