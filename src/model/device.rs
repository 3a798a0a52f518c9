//! Where the network runs, and why there.

use super::ModelError;
use candle_core::Device;

/// What the operator asks for: `--device auto|cpu|cuda:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU where this build and this machine have one that is free, else the CPU.
    #[default]
    Auto,
    Cpu,
    Cuda(usize),
}

impl std::str::FromStr for DeviceChoice {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let bad = || ModelError::Device { wanted: text.to_owned(), reason: "write auto, cpu or cuda:N".to_owned() };
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(|n| n.parse().ok()).map(Self::Cuda).ok_or_else(bad),
        }
    }
}

/// A device and the reason in words.
#[derive(Clone, Debug)]
pub struct ChosenDevice {
    pub device: Device,
    pub reason: String,
}

/// Picks the device. `busy_gpus` are those on which other processes compute, as telemetry sees them: `auto` never takes one of them.
pub fn choose_device(choice: DeviceChoice, busy_gpus: &[usize]) -> Result<ChosenDevice, ModelError> {
    let cpu = |reason: String| ChosenDevice { device: Device::Cpu, reason };
    match choice {
        DeviceChoice::Cpu => Ok(cpu("cpu: asked for".to_owned())),
        DeviceChoice::Cuda(n) => match open_cuda(n) {
            Ok(device) => Ok(ChosenDevice { device, reason: format!("cuda:{n}: asked for") }),
            Err(reason) => Err(ModelError::Device { wanted: format!("cuda:{n}"), reason }),
        },
        DeviceChoice::Auto if busy_gpus.contains(&0) => {
            Ok(cpu("cpu: another process computes on cuda:0; ask for it with --device cuda:0".to_owned()))
        }
        DeviceChoice::Auto => Ok(match open_cuda(0) {
            Ok(device) => ChosenDevice { device, reason: "cuda:0: free".to_owned() },
            Err(reason) => cpu(format!("cpu: {reason}")),
        }),
    }
}

fn open_cuda(n: usize) -> Result<Device, String> {
    if !candle_core::utils::cuda_is_available() {
        return Err("this build has no CUDA (cargo build --features cuda makes one that has)".to_owned());
    }
    Device::new_cuda(n).map_err(|e| format!("cuda:{n} can't be opened: {}", e.to_string().lines().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_parsed() {
        for (text, choice) in
            [("auto", DeviceChoice::Auto), ("cpu", DeviceChoice::Cpu), ("cuda:3", DeviceChoice::Cuda(3)), ("cuda", DeviceChoice::Cuda(0))]
        {
            assert_eq!(text.parse::<DeviceChoice>().unwrap(), choice);
        }
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_reason_is_given() {
        assert_eq!(choose_device(DeviceChoice::Cpu, &[]).unwrap().reason, "cpu: asked for");
        let busy = choose_device(DeviceChoice::Auto, &[0]).unwrap();
        assert!(busy.device.is_cpu() && busy.reason.contains("another process"));
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_build_without_cuda_says_so() {
        let auto = choose_device(DeviceChoice::Auto, &[]).unwrap();
        assert!(auto.device.is_cpu() && auto.reason.contains("this build has no CUDA"));
        assert!(choose_device(DeviceChoice::Cuda(0), &[]).unwrap_err().to_string().contains("--features cuda"));
    }
}
