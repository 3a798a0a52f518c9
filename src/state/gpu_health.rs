//! What GPUs were asked seldom, kept until they tell it again.

use super::DashState;
use crate::event::{GpuHealth, GpuSample, GpuStatus};
use std::collections::BTreeMap;

impl DashState {
    /// A device that is lost or gone tells nothing any more.
    pub(super) fn take_health(&mut self, gpu: &GpuStatus) {
        let mut before = std::mem::take(&mut self.gpu_health);
        let devices: &[GpuSample] = match gpu {
            GpuStatus::Unavailable { .. } => &[],
            GpuStatus::Devices(devices) => devices,
        };
        let told = |device: &GpuSample| device.health.as_deref().cloned();
        let held = devices.iter().filter(|device| device.lost.is_none());
        let health = held.filter_map(|device| Some((device.index, told(device).or_else(|| before.remove(&device.index))?)));
        self.gpu_health = health.collect::<BTreeMap<u32, GpuHealth>>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_between_two_answers_and_goes_with_the_device() {
        let health = |pcie_lanes| Some(Box::new(GpuHealth { pcie_lanes: Some(pcie_lanes), ..GpuHealth::default() }));
        let device = |index, health| GpuSample { index, health, ..GpuSample::default() };
        let mut state = DashState::default();
        let lanes = |state: &DashState| state.gpu_health.iter().map(|(i, h)| (*i, h.pcie_lanes.unwrap())).collect::<Vec<_>>();
        state.take_health(&GpuStatus::Devices(vec![device(0, health(16)), device(1, health(8))]));
        state.take_health(&GpuStatus::Devices(vec![device(0, None), device(1, health(4))]));
        assert_eq!(lanes(&state), [(0, 16), (1, 4)]);
        state.take_health(&GpuStatus::Devices(vec![GpuSample { lost: Some("gone".into()), ..device(0, None) }, device(1, None)]));
        assert_eq!(lanes(&state), [(1, 4)]);
        state.take_health(&GpuStatus::Unavailable { reason: "driver".into() });
        assert_eq!(lanes(&state), []);
    }
}
