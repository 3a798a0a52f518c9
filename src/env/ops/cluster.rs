//! The cluster: the queueing network under its traffic, its faults, and what operators do to it.

use super::fault::{CONFIG_FAIL_RATIO, Cause, Fault, SHED_FAIL_RATIO, SPIKE_FACTOR};
use super::queue::{Network, SECOND_NS, Station, Workload};
use super::rng::{Purpose, Stream, StreamState};
use super::topology::Service;
use serde::{Deserialize, Serialize};

/// Simulated time of one decision.
pub const TICK_NS: u64 = 15 * SECOND_NS;
/// How long a restarted or rolled back service is away.
const RESTART_NS: u64 = 3 * SECOND_NS;
/// Ticks before the episode, in which the usual values are measured.
const WARM_UP_TICKS: u64 = 12;

/// What holds for a service now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub replicas: u32,
    pub version: u32,
    pub shedding: bool,
    /// Down until then.
    down_until_ns: u64,
}

/// One service's true readings over a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// 95th percentile of response times, subtree included; unset when nothing finished well.
    pub p95_s: Option<f64>,
    pub rps: f64,
    /// Unset when nothing arrived.
    pub error_ratio: Option<f64>,
    pub cpu_ratio: f64,
}

/// The random streams and rates that drive the network.
pub struct Traffic {
    services: Vec<Service>,
    arrivals: Stream,
    service: Stream,
    routing: Stream,
    modes: Vec<Mode>,
    spike_source_of: Option<usize>,
}

/// What the faults and the operator do to one service during a tick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Mode {
    service_factor: f64,
    fail_ratio: f64,
    spike_factor: f64,
}

const NORMAL: Mode = Mode { service_factor: 1.0, fail_ratio: 0.0, spike_factor: 0.0 };

impl Workload for Traffic {
    fn next_arrival_ns(&mut self, source: usize, _now_ns: u64) -> Option<u64> {
        // Source 0 is the world at the gateway; source i + 1 is direct traffic of service i during a spike.
        let rps = if source == 0 { self.services[0].usual_rps } else { self.spike_rps(source - 1)? };
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
    fn spike_rps(&self, service: usize) -> Option<f64> {
        let factor = self.modes[service].spike_factor;
        (factor > 0.0).then(|| self.services[service].usual_rps * factor)
    }
}

fn to_ns(seconds: f64) -> u64 {
    libm::round(seconds * SECOND_NS as f64) as u64
}

/// The cluster of an episode.
pub struct Cluster {
    pub services: Vec<Service>,
    pub status: Vec<Status>,
    pub faults: Vec<Fault>,
    /// Decisions since the episode began.
    pub tick: u32,
    /// What is usual, measured before the episode.
    pub usual: Vec<Reading>,
    network: Network,
    traffic: Traffic,
}

/// A cluster at rest.
#[derive(Serialize, Deserialize)]
pub struct ClusterState {
    services: Vec<Service>,
    status: Vec<Status>,
    faults: Vec<Fault>,
    tick: u32,
    usual: Vec<Reading>,
    network: Network,
    streams: [StreamState; 3],
    modes: Vec<Mode>,
    spike_source_of: Option<usize>,
}

impl Cluster {
    /// Builds the cluster and runs it, healthy, until its usual values are known.
    pub fn new(services: Vec<Service>, faults: Vec<Fault>, seed: u64) -> Self {
        let stations = services.iter().map(|s| Station::new(s.replicas, s.capacity)).collect();
        let status = services.iter().map(|s| Status { replicas: s.replicas, version: 7, shedding: false, down_until_ns: 0 }).collect();
        let stream = |purpose| Stream::new("ops", seed, purpose);
        let traffic = Traffic {
            modes: vec![NORMAL; services.len()],
            services: services.clone(),
            arrivals: stream(Purpose::Arrivals),
            service: stream(Purpose::Service),
            routing: stream(Purpose::Routing),
            spike_source_of: None,
        };
        let mut cluster = Self { usual: Vec::new(), services, status, faults, tick: 0, network: Network::new(stations), traffic };
        cluster.network.start_source(0, &mut cluster.traffic);
        // The first two ticks fill the empty queues and are thrown away.
        cluster.network.run_until(2 * TICK_NS, &mut cluster.traffic);
        cluster.take_readings(2);
        cluster.network.run_until(WARM_UP_TICKS * TICK_NS, &mut cluster.traffic);
        cluster.usual = cluster.take_readings(WARM_UP_TICKS - 2);
        cluster
    }

    /// Runs one tick and returns each service's true readings.
    pub fn advance(&mut self) -> Vec<Reading> {
        self.tick += 1;
        let begin_ns = self.network.now_ns();
        self.set_modes();
        self.set_servers();
        if self.status.iter().any(|s| s.down_until_ns > begin_ns) {
            self.network.run_until(begin_ns + RESTART_NS, &mut self.traffic);
            self.set_servers();
        }
        self.network.run_until(begin_ns + TICK_NS, &mut self.traffic);
        self.take_readings(1)
    }

    /// Events that the queueing network has processed.
    pub fn events_total(&self) -> u64 {
        self.network.events_total
    }

    fn set_modes(&mut self) {
        for (index, mode) in self.traffic.modes.iter_mut().enumerate() {
            *mode = NORMAL;
            if self.status[index].shedding {
                mode.fail_ratio = SHED_FAIL_RATIO;
            }
        }
        let mut spike = None;
        for fault in self.faults.iter().filter(|f| f.cause != Cause::None && self.tick >= f.onset_tick) {
            let mode = &mut self.traffic.modes[fault.service];
            mode.service_factor *= fault.service_factor(self.tick);
            if fault.cause == Cause::Config && !fault.mitigated {
                mode.fail_ratio = CONFIG_FAIL_RATIO;
                self.status[fault.service].version = 8;
            }
            // The extra traffic stays when replicas carry it; only shedding turns it away.
            if fault.cause == Cause::Spike && !self.status[fault.service].shedding {
                mode.spike_factor = SPIKE_FACTOR;
                spike = Some(fault.service);
            }
        }
        if self.traffic.spike_source_of.is_none()
            && let Some(service) = spike
        {
            self.traffic.spike_source_of = Some(service);
            self.network.start_source(service + 1, &mut self.traffic);
        }
    }

    fn set_servers(&mut self) {
        let now_ns = self.network.now_ns();
        for index in 0..self.services.len() {
            let crashed = self.faults.iter().any(|f| f.cause == Cause::Crash && f.service == index && f.is_active(self.tick));
            let away = crashed || self.status[index].down_until_ns > now_ns;
            if away {
                self.network.fail_waiting(index);
            }
            self.network.set_servers(index, if away { 0 } else { self.status[index].replicas }, &mut self.traffic);
        }
    }

    fn take_readings(&mut self, ticks: u64) -> Vec<Reading> {
        (0..self.services.len())
            .map(|index| {
                let mut window = self.network.take_window(index);
                let window_ns = ticks * TICK_NS;
                let seen = window.finished;
                window.responses_ns.sort_unstable();
                let rank = (window.responses_ns.len() * 95).div_ceil(100);
                let p95_s = rank.checked_sub(1).map(|r| window.responses_ns[r] as f64 / SECOND_NS as f64);
                let servers_ns = window_ns * u64::from(self.status[index].replicas.max(1));
                let mut cpu_ratio = (window.busy_ns as f64 / servers_ns as f64).min(1.0);
                // Waiting for an outside dependency keeps a server, not a processor.
                let slow = self.faults.iter().find(|f| f.service == index && f.cause == Cause::Slow);
                cpu_ratio /= slow.map_or(1.0, |f| f.service_factor(self.tick));
                Reading {
                    p95_s,
                    rps: window.arrivals as f64 * SECOND_NS as f64 / window_ns as f64,
                    error_ratio: (seen > 0).then(|| window.failed as f64 / seen as f64),
                    cpu_ratio,
                }
            })
            .collect()
    }

    pub fn scale(&mut self, service: usize, replicas: u32) {
        self.status[service].replicas = replicas;
        for fault in self.faults.iter_mut().filter(|f| f.service == service && f.cause == Cause::Spike) {
            fault.mitigated = replicas >= fault.replicas_wanted || self.status[service].shedding;
        }
    }

    pub fn restart(&mut self, service: usize) {
        self.status[service].down_until_ns = self.network.now_ns() + RESTART_NS;
        let tick = self.tick;
        for fault in self.faults.iter_mut().filter(|f| f.service == service && tick >= f.onset_tick) {
            fault.mitigated |= matches!(fault.cause, Cause::Crash | Cause::Leak);
        }
    }

    /// Back to the version before; false when there is none.
    pub fn rollback(&mut self, service: usize) -> bool {
        if self.status[service].version <= 6 {
            return false;
        }
        self.status[service].version -= 1;
        self.status[service].down_until_ns = self.network.now_ns() + RESTART_NS;
        let tick = self.tick;
        for fault in self.faults.iter_mut().filter(|f| f.service == service && tick >= f.onset_tick) {
            fault.mitigated |= fault.cause == Cause::Config;
        }
        true
    }

    pub fn shed_load(&mut self, service: usize) {
        self.status[service].shedding = true;
        for fault in self.faults.iter_mut().filter(|f| f.service == service) {
            fault.mitigated |= matches!(fault.cause, Cause::Slow | Cause::Spike) && self.tick >= fault.onset_tick;
        }
    }

    /// Replicas beyond what was deployed.
    pub fn extra_replicas(&self) -> u32 {
        self.status.iter().zip(&self.services).map(|(now, s)| now.replicas.saturating_sub(s.replicas)).sum()
    }

    pub fn state(&self) -> ClusterState {
        ClusterState {
            services: self.services.clone(),
            status: self.status.clone(),
            faults: self.faults.clone(),
            tick: self.tick,
            usual: self.usual.clone(),
            network: self.network.clone(),
            streams: [self.traffic.arrivals.state(), self.traffic.service.state(), self.traffic.routing.state()],
            modes: self.traffic.modes.clone(),
            spike_source_of: self.traffic.spike_source_of,
        }
    }

    pub fn from_state(state: ClusterState) -> Self {
        let [arrivals, service, routing] = &state.streams;
        let traffic = Traffic {
            services: state.services.clone(),
            arrivals: Stream::from_state(arrivals),
            service: Stream::from_state(service),
            routing: Stream::from_state(routing),
            modes: state.modes,
            spike_source_of: state.spike_source_of,
        };
        Self {
            services: state.services,
            status: state.status,
            faults: state.faults,
            tick: state.tick,
            usual: state.usual,
            network: state.network,
            traffic,
        }
    }

    /// Feeds all that can change during an episode to a hasher.
    pub fn hash_state(&self, hasher: &mut impl std::hash::Hasher) {
        use std::hash::Hash;
        self.network.hash_state(hasher);
        self.tick.hash(hasher);
        for status in &self.status {
            (status.replicas, status.version, status.shedding, status.down_until_ns).hash(hasher);
        }
        for fault in &self.faults {
            (fault.cause, fault.service, fault.onset_tick, fault.mitigated).hash(hasher);
        }
        self.traffic.arrivals.state().hash(hasher);
        self.traffic.service.state().hash(hasher);
        self.traffic.routing.state().hash(hasher);
    }
}
