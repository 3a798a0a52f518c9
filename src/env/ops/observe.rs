//! What an operator sees of the cluster: late, noisy and incomplete, as numbers, in words, and in the model's compact form.
//!
//! Compact form: `t03;gw p5 e0 c4 r5 n2;pay p9 e6 c9 r5 n2;logs(pay): exit 137;hot(pay);alert(gw,pay)`. Levels are one
//! digit each: `p` and `r` are 5 + 2·log2(now / usual), `e` is a band of the error share, `c` is CPU in tenths, `n` is replicas; `?` is missing.

use super::cluster::{Cluster, Reading};
use super::level::LevelParams;
use super::rng::Stream;
use super::topology::Service;
use crate::event::{Observation, ObservationField, SafeText, Unit};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Level at which response times alert: about 2.8 times the usual.
const ALERT_P95_LEVEL: u8 = 8;
/// Band at which errors alert: 8 % and more.
const ALERT_ERROR_BAND: u8 = 3;
/// CPU tenths from which a service is called hot.
const HOT_CPU_TENTHS: u8 = 9;
/// Upper ends of the error bands 0 to 8; what lies above is band 9.
const ERROR_BANDS: [f64; 9] = [0.01, 0.03, 0.08, 0.14, 0.22, 0.35, 0.5, 0.7, 0.9];

/// One service's readings as they are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub p95_s: Option<f64>,
    pub rps: Option<f64>,
    pub error_ratio: Option<f64>,
    pub cpu_ratio: Option<f64>,
}

/// The monitoring system: it remembers windows, so that it can show them late.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Monitor {
    /// Ticks by which each service's readings are late.
    delays: Vec<u32>,
    /// True readings, newest last; as many as the longest delay needs.
    history: Vec<Vec<Reading>>,
}

impl Monitor {
    pub fn new(params: &LevelParams, usual: &[Reading], rng: &mut Stream) -> Self {
        let (low, high) = params.delay_ticks;
        let delays = (0..usual.len()).map(|_| low + rng.below((high - low + 1) as usize) as u32).collect();
        // Before the episode all was as usual.
        Self { delays, history: vec![usual.to_vec(); high as usize + 1] }
    }

    pub fn record(&mut self, readings: Vec<Reading>) {
        self.history.remove(0);
        self.history.push(readings);
    }

    /// What is seen now. Draws the same number of words whatever is missing.
    pub fn look(&self, params: &LevelParams, rng: &mut Stream) -> Vec<Seen> {
        (0..self.delays.len())
            .map(|index| {
                let reading = self.history[self.history.len() - 1 - self.delays[index] as usize][index];
                let mut noisy = |value: Option<f64>| {
                    let noise = libm::exp(params.noise_sigma * rng.normal());
                    let missing = rng.chance(params.missing_ratio);
                    value.filter(|_| !missing).map(|v| v * noise)
                };
                Seen {
                    p95_s: noisy(reading.p95_s),
                    rps: noisy(Some(reading.rps)),
                    error_ratio: noisy(reading.error_ratio).map(|e| e.min(1.0)),
                    cpu_ratio: noisy(Some(reading.cpu_ratio)).map(|c| c.min(1.0)),
                }
            })
            .collect()
    }
}

/// 5 + 2·log2(now / usual), within 0 to 9.
fn ratio_level(now: f64, usual: f64) -> u8 {
    if now <= 0.0 || usual <= 0.0 {
        return 0;
    }
    (5.0 + libm::round(2.0 * libm::log2(now / usual))).clamp(0.0, 9.0) as u8
}

fn error_band(ratio: f64) -> u8 {
    ERROR_BANDS.iter().filter(|&&end| ratio >= end).count() as u8
}

fn cpu_tenths(ratio: f64) -> u8 {
    libm::floor(ratio * 10.0).clamp(0.0, 9.0) as u8
}

/// The readings of a service as one-digit levels.
struct Levels {
    p95: Option<u8>,
    errors: Option<u8>,
    cpu: Option<u8>,
    rps: Option<u8>,
}

impl Levels {
    fn new(seen: &Seen, usual: &Reading) -> Self {
        Self {
            p95: seen.p95_s.zip(usual.p95_s).map(|(now, usual)| ratio_level(now, usual)),
            errors: seen.error_ratio.map(error_band),
            cpu: seen.cpu_ratio.map(cpu_tenths),
            rps: seen.rps.map(|now| ratio_level(now, usual.rps)),
        }
    }

    fn alerts(&self) -> bool {
        self.p95.is_some_and(|p| p >= ALERT_P95_LEVEL) || self.errors.is_some_and(|e| e >= ALERT_ERROR_BAND)
    }
}

fn digit(level: Option<u8>) -> char {
    level.map_or('?', |l| char::from(b'0' + l.min(9)))
}

/// All that an observation is made of.
pub struct Scene<'a> {
    pub cluster: &'a Cluster,
    pub seen: &'a [Seen],
    /// Answer to the last query, such as `logs(pay): exit 137`.
    pub answer: Option<&'a str>,
}

impl Scene<'_> {
    pub fn observation(&self) -> Observation {
        Observation { values: self.values(), text: SafeText::from(self.words()), compact: SafeText::from(self.compact()) }
    }

    /// Names that carry an alert, in topological order.
    fn alerting(&self) -> Vec<&str> {
        self.names_where(Levels::alerts)
    }

    fn names_where(&self, holds: impl Fn(&Levels) -> bool) -> Vec<&str> {
        let levels = self.seen.iter().zip(&self.cluster.usual).map(|(s, u)| Levels::new(s, u));
        self.cluster.services.iter().zip(levels).filter(|(_, l)| holds(l)).map(|(s, _)| s.name.as_str()).collect()
    }

    fn compact(&self) -> String {
        let mut text = format!("t{:02}", self.cluster.tick);
        for (index, service) in self.cluster.services.iter().enumerate() {
            let l = Levels::new(&self.seen[index], &self.cluster.usual[index]);
            let (p, e, c, r) = (digit(l.p95), digit(l.errors), digit(l.cpu), digit(l.rps));
            let _ = write!(text, ";{} p{p} e{e} c{c} r{r} n{}", service.name, self.cluster.status[index].replicas);
        }
        if let Some(answer) = self.answer {
            let _ = write!(text, ";{answer}");
        }
        let hot = self.names_where(|l| l.cpu.is_some_and(|c| c >= HOT_CPU_TENTHS));
        let _ = write!(text, ";hot({});alert({})", hot.join(","), self.alerting().join(","));
        text
    }

    fn words(&self) -> String {
        let mut text = format!("Minute {:.2}\n", f64::from(self.cluster.tick) * 0.25);
        for (index, service) in self.cluster.services.iter().enumerate() {
            let (seen, usual) = (&self.seen[index], &self.cluster.usual[index]);
            let _ = writeln!(
                text,
                "{:<7} p95 {} (usual {})  {} requests/s  errors {}  CPU {}  {} replicas",
                service.name,
                milliseconds(seen.p95_s),
                milliseconds(usual.p95_s),
                seen.rps.map_or("n/a".into(), |v| format!("{v:.1}")),
                percent(seen.error_ratio),
                percent(seen.cpu_ratio),
                self.cluster.status[index].replicas,
            );
        }
        if let Some(answer) = self.answer {
            let _ = writeln!(text, "Query: {answer}");
        }
        let alerting = self.alerting();
        let _ = write!(text, "Alerts: {}", if alerting.is_empty() { "none".to_owned() } else { alerting.join(", ") });
        text
    }

    fn values(&self) -> Vec<Option<f64>> {
        let readings = self.seen.iter().zip(&self.cluster.status);
        readings
            .flat_map(|(seen, status)| {
                [seen.p95_s.map(|s| s * 1e3), seen.rps, seen.error_ratio, seen.cpu_ratio, Some(f64::from(status.replicas))]
            })
            .collect()
    }
}

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or("n/a".into(), |s| format!("{:.0} ms", s * 1e3))
}

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or("n/a".into(), |r| format!("{:.1} %", r * 100.0))
}

/// Names and units of `Observation::values`.
pub fn fields(services: &[Service]) -> Vec<ObservationField> {
    let each =
        [("p95", Unit::Milliseconds), ("rps", Unit::PerSecond), ("errors", Unit::Ratio), ("cpu", Unit::Ratio), ("replicas", Unit::Count)];
    services
        .iter()
        .flat_map(|s| each.iter().map(move |(name, unit)| ObservationField { name: format!("{}.{name}", s.name), unit: *unit }))
        .collect()
}
