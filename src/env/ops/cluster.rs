//! The cluster: the queueing network under its traffic, its faults, and what operators do to it.

use super::fault::{CONFIG_FAIL_RATIO, Cause, Fault, SHED_FAIL_RATIO, SPIKE_FACTOR};
use super::queue::{Network, SECOND_NS, Station};
use super::topology::Service;
use super::traffic::{Mode, Traffic, WORLD, spike_source};
use crate::event::Seed;
use serde::{Deserialize, Serialize};

/// Simulated time of one decision.
pub const TICK_NS: u64 = 15 * SECOND_NS;
/// How long a restarted or rolled back service is away.
const RESTART_NS: u64 = 3 * SECOND_NS;
/// Version that runs when the episode begins, and the oldest one that is kept.
const USUAL_VERSION: u32 = 7;
const OLDEST_VERSION: u32 = 6;
/// Utilisation above which a service does not carry its load.
const UTILISATION_MAX: f64 = 0.9;
/// Ticks before the episode, in which the usual values are measured.
const WARM_UP_TICKS: u64 = 12;

/// What holds for a service now.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// The cluster of an episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Whether the direct traffic of a spike was started.
    spike_started: bool,
}

impl Cluster {
    /// Builds the cluster and runs it, healthy, until its usual values are known.
    pub fn new(services: Vec<Service>, faults: Vec<Fault>, seed: Seed) -> Self {
        let stations = services.iter().map(|s| Station::new(s.replicas, s.capacity)).collect();
        let status =
            services.iter().map(|s| Status { replicas: s.replicas, version: USUAL_VERSION, shedding: false, down_until_ns: 0 }).collect();
        let traffic = Traffic::new(&services, seed);
        let network = Network::new(stations);
        let mut cluster = Self { services, status, faults, tick: 0, usual: Vec::new(), network, traffic, spike_started: false };
        cluster.network.start_source(WORLD, &mut cluster.traffic);
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
            *mode = Mode::NORMAL;
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
                self.status[fault.service].version = USUAL_VERSION + 1;
            }
            // The extra traffic stays when replicas carry it; only shedding turns it away.
            if fault.cause == Cause::Spike && !self.status[fault.service].shedding {
                mode.spike_factor = SPIKE_FACTOR;
                spike = Some(fault.service);
            }
        }
        if !self.spike_started
            && let Some(service) = spike
        {
            self.spike_started = true;
            self.network.start_source(spike_source(service), &mut self.traffic);
        }
    }

    fn set_servers(&mut self) {
        let now_ns = self.network.now_ns();
        for index in 0..self.services.len() {
            let crashed = self.faults.iter().any(|f| f.cause == Cause::Crash && f.service == index && f.is_active(self.tick));
            let away = crashed || self.status[index].down_until_ns > now_ns;
            if away {
                self.network.fail_inside(index);
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
        self.mitigate(service, &[Cause::Crash, Cause::Leak]);
    }

    /// Back to the version before, which is returned; `None` where there is none.
    pub fn rollback(&mut self, service: usize) -> Option<u32> {
        let status = &mut self.status[service];
        if status.version <= OLDEST_VERSION {
            return None;
        }
        status.version -= 1;
        status.down_until_ns = self.network.now_ns() + RESTART_NS;
        let version = status.version;
        self.mitigate(service, &[Cause::Config]);
        Some(version)
    }

    /// Refuses direct traffic and answers without outside dependencies, from now on.
    pub fn shed_load(&mut self, service: usize) {
        self.status[service].shedding = true;
        self.mitigate(service, &[Cause::Slow, Cause::Spike]);
    }

    /// Ends the faults of `service` that have begun and are of these causes.
    fn mitigate(&mut self, service: usize, causes: &[Cause]) {
        for fault in self.faults.iter_mut().filter(|f| f.service == service && self.tick >= f.onset_tick) {
            fault.mitigated |= causes.contains(&fault.cause);
        }
    }

    /// Whether every service has the replicas that its usual traffic, and a spike that was not turned away, needs.
    pub fn carries_its_load(&self) -> bool {
        self.services.iter().enumerate().all(|(index, service)| {
            let spiked = self.faults.iter().any(|f| f.cause == Cause::Spike && f.service == index && self.tick >= f.onset_tick);
            let factor = if spiked && !self.status[index].shedding { 1.0 + SPIKE_FACTOR } else { 1.0 };
            service.usual_rps * factor * service.service_mean_s <= UTILISATION_MAX * f64::from(self.status[index].replicas)
        })
    }

    /// Replicas beyond what was deployed.
    pub fn extra_replicas(&self) -> u32 {
        self.status.iter().zip(&self.services).map(|(now, s)| now.replicas.saturating_sub(s.replicas)).sum()
    }
}
