//! What drives the network: when requests arrive, how long each takes, where it goes next.

use super::NAME;
use super::queue::{SECOND_NS, Workload};
use super::rng::{Purpose, Stream};
use super::topology::Service;
use crate::event::Seed;
use serde::{Deserialize, Serialize};

/// The random streams and rates that drive the network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    services: Vec<Service>,
    /// What holds for each service during this tick.
    pub modes: Vec<Mode>,
    arrivals: Stream,
    service: Stream,
    routing: Stream,
}

/// What the faults and the operator do to one service during a tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Mode {
    /// Multiple of the usual service time.
    pub service_factor: f64,
    /// Share of requests that the service itself fails.
    pub fail_ratio: f64,
    /// Direct traffic, as a multiple of the usual.
    pub spike_factor: f64,
}

impl Mode {
    pub const NORMAL: Mode = Mode { service_factor: 1.0, fail_ratio: 0.0, spike_factor: 0.0 };
}

/// Source of the world's requests at the gateway.
pub const WORLD: usize = 0;

/// Source of the direct traffic of `service` during a spike.
pub fn spike_source(service: usize) -> usize {
    service + 1
}

impl Workload for Traffic {
    fn next_arrival_ns(&mut self, source: usize, _now_ns: u64) -> Option<u64> {
        let rps = if source == WORLD { self.services[0].usual_rps } else { self.spike_rps(source - 1)? };
        Some(to_ns(self.arrivals.exponential(1.0 / rps)))
    }

    fn entry(&mut self, source: usize) -> usize {
        source.saturating_sub(1)
    }

    fn service_ns(&mut self, station: usize, _now_ns: u64) -> u64 {
        let s = &self.services[station];
        to_ns(self.service.log_normal(s.service_mean_s * self.modes[station].service_factor, s.service_cv))
    }

    fn fails(&mut self, station: usize) -> bool {
        let ratio = self.modes[station].fail_ratio;
        ratio > 0.0 && self.routing.chance(ratio)
    }

    fn next_station(&mut self, station: usize) -> Option<usize> {
        let s = &self.services[station];
        if s.calls.is_empty() || self.routing.chance(s.stop_ratio) {
            return None;
        }
        // Direct traffic is answered by the service itself: a spike of a service stays its own.
        let spike = self.modes[station].spike_factor;
        if spike > 0.0 && self.routing.chance(spike / (1.0 + spike)) {
            return None;
        }
        Some(s.calls[self.routing.below(s.calls.len())])
    }
}

impl Traffic {
    pub fn new(services: &[Service], seed: Seed) -> Self {
        let stream = |purpose| Stream::new(NAME, seed.0, purpose);
        Self {
            services: services.to_vec(),
            modes: vec![Mode::NORMAL; services.len()],
            arrivals: stream(Purpose::Arrivals),
            service: stream(Purpose::Service),
            routing: stream(Purpose::Routing),
        }
    }

    fn spike_rps(&self, service: usize) -> Option<f64> {
        let factor = self.modes[service].spike_factor;
        (factor > 0.0).then(|| self.services[service].usual_rps * factor)
    }
}

fn to_ns(seconds: f64) -> u64 {
    libm::round(seconds * SECOND_NS as f64) as u64
}
