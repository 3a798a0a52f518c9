//! Errors of NVML in people's words.

use crate::event::SafeText;
use nvml_wrapper::error::NvmlError;
use std::path::Path;

/// Why there is no NVML, in people's words.
pub(super) fn load_reason(error: &NvmlError, path: Option<&Path>) -> SafeText {
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
pub(super) fn reason(error: &NvmlError) -> &'static str {
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
