//! Rewards: what a tick was worth, and what share of the task was done.

use super::cluster::{Cluster, Reading};
use super::fault::Cause;

/// A service within its objective answers in at most this many times its usual p95 …
const SLO_P95_FACTOR: f64 = 2.0;
/// … and fails at most this share.
const SLO_ERROR_RATIO: f64 = 0.05;
/// Cost of one replica beyond the deployed ones, a tick.
const REPLICA_COST: f64 = 0.01;
/// Cost of one change to the cluster.
const CHANGE_COST: f64 = 0.05;

/// What an agent submitted: a cause, and on levels with two faults a second one.
pub type Submission = (Cause, Option<Cause>);

/// Whether a service keeps its objective, by its true readings.
pub fn keeps_objective(now: &Reading, usual: &Reading) -> bool {
    let fast = now.p95_s.zip(usual.p95_s).is_some_and(|(now, usual)| now <= SLO_P95_FACTOR * usual);
    fast && now.error_ratio.is_none_or(|e| e <= SLO_ERROR_RATIO)
}

/// Share of services within their objective, less the cost of replicas and changes, within [0, 1].
pub fn step_reward(cluster: &Cluster, readings: &[Reading], changed: bool) -> f64 {
    let keeping = readings.iter().zip(&cluster.usual).filter(|(now, usual)| keeps_objective(now, usual)).count();
    let share = keeping as f64 / readings.len() as f64;
    let cost = REPLICA_COST * f64::from(cluster.extra_replicas()) + if changed { CHANGE_COST } else { 0.0 };
    (share - cost).clamp(0.0, 1.0)
}

/// Half for mitigated, half for the exact cause; on a healthy cluster any change ends with 0.
pub fn final_reward(cluster: &Cluster, changed: bool, submitted: Option<Submission>) -> f64 {
    let faults = &cluster.faults;
    let healthy = faults.iter().all(|f| f.cause == Cause::None);
    if healthy && changed {
        return 0.0;
    }
    // A fault that has not begun counts as present: submitting early is guessing.
    // Nothing is mitigated by a cure that leaves a service too small for its load.
    let ended = if cluster.carries_its_load() { faults.iter().filter(|f| f.mitigated).count() } else { 0 };
    let mitigated = ended as f64 / faults.len() as f64;
    let Some((cause, also)) = submitted else { return if healthy { 0.0 } else { 0.5 * mitigated } };
    let named: Vec<Cause> = std::iter::once(cause).chain(also.filter(|a| *a != cause)).collect();
    let hits = faults.iter().filter(|f| named.contains(&f.cause)).count() as f64;
    let exact = hits / faults.len().max(named.len()) as f64;
    0.5 * mitigated + 0.5 * exact
}
