//! What a GPU is asked seldom: it changes slowly, or takes the driver tens of milliseconds to tell.

use super::asked::Asked;
use super::{share, thousandth};
use crate::event::{GpuHealth, MigInstance};
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureThreshold};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id;

/// Most links that NVML knows of a GPU.
const NVLINKS_MAX: u32 = 18;
/// Most instances that a GPU can be cut into.
const MIG_MAX: u32 = 64;

/// All readings that can be had; `None` where the device was lost before.
pub(super) fn take(asked: &mut Asked<'_>, device: &Device<'_>) -> Option<GpuHealth> {
    if asked.lost().is_some() {
        return None;
    }
    let mut health = GpuHealth::default();
    heat_and_power(&mut health, asked, device);
    buses(&mut health, asked, device);
    memory_errors(&mut health, asked, device);
    instances(&mut health, asked, device);
    health.missing = asked.take_missing();
    Some(health)
}

fn heat_and_power(health: &mut GpuHealth, asked: &mut Asked<'_>, device: &Device<'_>) {
    // Millijoules.
    health.energy_joules_total = asked.field("energy_joules_total", || device.total_energy_consumption()).map(|mj| mj as f64 / 1000.0);
    let mut threshold = |name, which| asked.field(name, || device.temperature_threshold(which)).map(f64::from);
    health.temperature_slowdown_celsius = threshold("temperature_slowdown_celsius", TemperatureThreshold::Slowdown);
    health.temperature_shutdown_celsius = threshold("temperature_shutdown_celsius", TemperatureThreshold::Shutdown);
    health.temperature_memory_max_celsius = threshold("temperature_memory_max_celsius", TemperatureThreshold::MemoryMax);
    health.temperature_memory_celsius =
        number(asked, device, "temperature_memory_celsius", field_id::NVML_FI_DEV_MEMORY_TEMP).map(|n| n as f64);
    health.power_limit_default_watts = asked.field("power_limit_default_watts", || device.power_management_limit_default()).map(thousandth);
    health.clock_sm_max_mhz = asked.field("clock_sm_max_mhz", || device.max_clock_info(Clock::SM));
    health.clock_memory_max_mhz = asked.field("clock_memory_max_mhz", || device.max_clock_info(Clock::Memory));
    health.fan_speed_ratio = asked.field("fan_speed_ratio", || device.fan_speed(0)).map(share);
    health.encoder_utilization_ratio =
        asked.field("encoder_utilization_ratio", || device.encoder_utilization()).map(|info| share(info.utilization));
    health.decoder_utilization_ratio =
        asked.field("decoder_utilization_ratio", || device.decoder_utilization()).map(|info| share(info.utilization));
}

fn buses(health: &mut GpuHealth, asked: &mut Asked<'_>, device: &Device<'_>) {
    let bar1 = asked.field("bar1_used_bytes", || device.bar1_memory_info());
    health.bar1_used_bytes = bar1.as_ref().map(|memory| memory.used);
    health.bar1_total_bytes = bar1.map(|memory| memory.total);
    health.pcie_generation = asked.field("pcie_generation", || device.current_pcie_link_gen());
    health.pcie_generation_max = asked.field("pcie_generation_max", || device.max_pcie_link_gen());
    health.pcie_lanes = asked.field("pcie_lanes", || device.current_pcie_link_width());
    health.pcie_lanes_max = asked.field("pcie_lanes_max", || device.max_pcie_link_width());
    // Kilobytes a second, over the 20 ms that the call takes.
    let mut rate = |name, counter| asked.field(name, || device.pcie_throughput(counter)).map(|kilobytes| f64::from(kilobytes) * 1000.0);
    health.pcie_received_bytes_per_second = rate("pcie_received_bytes_per_second", PcieUtilCounter::Receive);
    health.pcie_sent_bytes_per_second = rate("pcie_sent_bytes_per_second", PcieUtilCounter::Send);
    health.pcie_replays_total = asked.field("pcie_replays_total", || device.pcie_replay_counter()).map(u64::from);
    links(health, asked, device);
}

fn links(health: &mut GpuHealth, asked: &mut Asked<'_>, device: &Device<'_>) {
    let Some(count) = number(asked, device, "nvlinks", field_id::NVML_FI_DEV_NVLINK_LINK_COUNT) else { return };
    let count = u32::try_from(count).unwrap_or(NVLINKS_MAX).min(NVLINKS_MAX);
    health.nvlinks = Some(count);
    if count == 0 {
        return;
    }
    let active = || (0..count).try_fold(0, |active, link| Ok(active + u32::from(device.link_wrapper_for(link).is_active()?)));
    health.nvlinks_active = asked.field("nvlinks_active", active);
    let kinds = [
        field_id::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL,
        field_id::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
        field_id::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
        field_id::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
    ];
    let errors = || kinds.into_iter().try_fold(0_u64, |sum, kind| Ok(sum.saturating_add(value(device, kind)?)));
    health.nvlink_errors_total = asked.field("nvlink_errors_total", errors);
}

fn memory_errors(health: &mut GpuHealth, asked: &mut Asked<'_>, device: &Device<'_>) {
    health.ecc_corrected_total =
        asked.field("ecc_corrected_total", || device.total_ecc_errors(MemoryError::Corrected, EccCounter::Volatile));
    health.ecc_uncorrected_lifetime_total =
        asked.field("ecc_uncorrected_lifetime_total", || device.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Aggregate));
    let retired = || {
        let of = |kind| value(device, kind);
        Ok(of(field_id::NVML_FI_DEV_RETIRED_SBE)?.saturating_add(of(field_id::NVML_FI_DEV_RETIRED_DBE)?))
    };
    health.pages_retired_total = asked.field("pages_retired_total", retired);
    let mut number = |name, kind| number(asked, device, name, kind);
    let flag = |number: Option<u64>| number.map(|number| number != 0);
    health.pages_retirement_pending = flag(number("pages_retirement_pending", field_id::NVML_FI_DEV_RETIRED_PENDING));
    health.rows_remapped_corrected_total = number("rows_remapped_corrected_total", field_id::NVML_FI_DEV_REMAPPED_COR);
    health.rows_remapped_uncorrected_total = number("rows_remapped_uncorrected_total", field_id::NVML_FI_DEV_REMAPPED_UNC);
    health.rows_remap_pending = flag(number("rows_remap_pending", field_id::NVML_FI_DEV_REMAPPED_PENDING));
    health.rows_remap_failed = flag(number("rows_remap_failed", field_id::NVML_FI_DEV_REMAPPED_FAILURE));
}

fn instances(health: &mut GpuHealth, asked: &mut Asked<'_>, device: &Device<'_>) {
    health.mig_enabled = asked.field("mig_enabled", || device.mig_mode()).map(|mode| mode.current != 0);
    if health.mig_enabled != Some(true) {
        return;
    }
    let places = asked.field("mig_instances", || device.mig_device_count()).unwrap_or(0).min(MIG_MAX);
    // A place without an instance is not found.
    let there = (0..places).filter_map(|index| Some((index, device.mig_device_by_index(index).ok()?)));
    health.mig_instances = there
        .map(|(index, instance)| {
            let memory = asked.field("mig_instance_memory", || instance.memory_info());
            MigInstance { index, memory_used_bytes: memory.as_ref().map(|m| m.used), memory_total_bytes: memory.map(|m| m.total) }
        })
        .collect();
}

fn number(asked: &mut Asked<'_>, device: &Device<'_>, name: &'static str, kind: u32) -> Option<u64> {
    asked.field(name, || value(device, kind))
}

/// One of the values that NVML gives by number.
fn value(device: &Device<'_>, kind: u32) -> Result<u64, NvmlError> {
    let mut values = device.field_values_for(&[FieldId(kind)])?;
    match values.pop().ok_or(NvmlError::NoData)??.value? {
        SampleValue::U32(number) => Ok(u64::from(number)),
        SampleValue::U64(number) => Ok(number),
        // None of those that are asked for is negative or a fraction.
        SampleValue::I64(number) => u64::try_from(number).map_err(|_| NvmlError::NoData),
        SampleValue::F64(_) => Err(NvmlError::NoData),
    }
}
