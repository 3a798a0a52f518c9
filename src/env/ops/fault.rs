//! The hidden faults: what each does, and what ends it.

use super::level::LevelParams;
use super::rng::Stream;
use super::topology::Service;
use serde::{Deserialize, Serialize};

/// The six kinds, none included. Their words are what `submit` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// All replicas exit at once. Ended by a restart.
    Crash,
    /// Service times grow tick by tick. Ended by a restart.
    Leak,
    /// A dependency outside the cluster answers slowly. Ended by shedding: the service answers without it.
    Slow,
    /// A new version fails half of its requests. Ended by a rollback.
    Config,
    /// Direct traffic overloads the service. Ended by enough replicas, or by shedding.
    Spike,
    None,
}

impl Cause {
    pub const ALL: [Cause; 6] = [Cause::Crash, Cause::Leak, Cause::Slow, Cause::Config, Cause::Spike, Cause::None];

    pub fn word(self) -> &'static str {
        match self {
            Cause::Crash => "crash",
            Cause::Leak => "leak",
            Cause::Slow => "slow",
            Cause::Config => "config",
            Cause::Spike => "spike",
            Cause::None => "none",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.word() == word)
    }
}

/// A fault of an episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    pub cause: Cause,
    pub service: usize,
    pub onset_tick: u32,
    pub mitigated: bool,
    /// For a spike: replicas that carry it.
    pub replicas_wanted: u32,
}

/// How much direct traffic a spike brings, as a multiple of the usual.
pub const SPIKE_FACTOR: f64 = 2.6;
/// Utilisation at which a spike counts as carried.
const CARRIED_UTILISATION: f64 = 0.75;
/// Growth of service times a tick under a leak, and where it ends.
const LEAK_GROWTH: f64 = 0.7;
const LEAK_FACTOR_MAX: f64 = 6.0;
/// Service times behind a slow dependency, as a multiple of the usual.
const SLOW_FACTOR: f64 = 4.0;
/// Share of requests that a bad configuration fails.
pub const CONFIG_FAIL_RATIO: f64 = 0.5;
/// Share of requests that fail while a service sheds: the price of answering without its dependency.
pub const SHED_FAIL_RATIO: f64 = 0.03;

impl Fault {
    /// A fault of `service`, deployed as `deployed`, that begins with tick `onset_tick`.
    pub fn new(cause: Cause, service: usize, onset_tick: u32, deployed: &Service) -> Self {
        let offered = deployed.usual_rps * (1.0 + SPIKE_FACTOR) * deployed.service_mean_s;
        let replicas_wanted = libm::ceil(offered / CARRIED_UTILISATION) as u32;
        Self { cause, service, onset_tick, mitigated: cause == Cause::None, replicas_wanted }
    }

    pub fn is_active(&self, tick: u32) -> bool {
        !self.mitigated && self.cause != Cause::None && tick >= self.onset_tick
    }

    /// Factor on service times at `tick`.
    pub fn service_factor(&self, tick: u32) -> f64 {
        if !self.is_active(tick) {
            return 1.0;
        }
        match self.cause {
            Cause::Leak => (1.0 + LEAK_GROWTH * f64::from(tick - self.onset_tick + 1)).min(LEAK_FACTOR_MAX),
            Cause::Slow => SLOW_FACTOR,
            Cause::Crash | Cause::Config | Cause::Spike | Cause::None => 1.0,
        }
    }
}

/// Draws the faults of an episode; a healthy one has a single `Cause::None`.
pub fn draw(params: &LevelParams, services: &[Service], rng: &mut Stream) -> Vec<Fault> {
    let healthy = rng.chance(params.healthy_ratio);
    let count = if healthy { 1 } else { 1 + usize::from(rng.chance(params.second_fault_ratio)) };
    let mut faults: Vec<Fault> = Vec::with_capacity(count);
    while faults.len() < count {
        let cause = if healthy { Cause::None } else { Cause::ALL[rng.below(5)] };
        let service = rng.below(services.len());
        let onset_tick = params.onset_tick.0 + rng.below((params.onset_tick.1 - params.onset_tick.0 + 1) as usize) as u32;
        if faults.iter().any(|f| f.service == service || f.cause == cause) {
            continue;
        }
        faults.push(Fault::new(cause, service, onset_tick, &services[service]));
    }
    faults
}
