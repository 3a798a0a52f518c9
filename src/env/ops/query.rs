//! What a query shows: the only evidence of a cause. A line is a service's own fault, else which callee hurts it, else `ok`.

use super::cluster::Cluster;
use super::fault::{Cause, Fault};
use super::tools::{Query, REPLICAS_MAX};

/// The answer, such as `logs(pay): exit 137`, `logs(gw): down(pay)` or `traces(pay): self`. A silent one says `-`.
pub fn answer(cluster: &Cluster, service: usize, of: Query, silent: bool) -> String {
    let name = &cluster.services[service].name;
    let own = active_fault(cluster, service);
    let says = if silent {
        "-".to_owned()
    } else if let Some(fault) = own {
        match of {
            Query::Logs => log_line(fault),
            Query::Traces => "self".to_owned(),
        }
    } else {
        match hurting_callee(cluster, service) {
            Some((callee, word)) => format!("{word}({})", cluster.services[callee].name),
            None => "ok".to_owned(),
        }
    };
    format!("{}({name}): {says}", of.word())
}

fn active_fault(cluster: &Cluster, service: usize) -> Option<&Fault> {
    cluster.faults.iter().find(|f| f.service == service && f.is_active(cluster.tick))
}

/// A callee of `service` that has, or stands before, an active fault, and how it looks from here.
fn hurting_callee(cluster: &Cluster, service: usize) -> Option<(usize, &'static str)> {
    cluster.services[service].calls.iter().find_map(|&callee| match active_fault(cluster, callee) {
        Some(fault) if matches!(fault.cause, Cause::Crash | Cause::Config) => Some((callee, "down")),
        Some(_) => Some((callee, "slow")),
        None => hurting_callee(cluster, callee).map(|(_, word)| (callee, word)),
    })
}

/// What a faulty service writes to its log.
fn log_line(fault: &Fault) -> String {
    match fault.cause {
        Cause::Crash => "exit 137".into(),
        Cause::Leak => "heap 97".into(),
        Cause::Slow => "db timeout".into(),
        Cause::Config => "bad key".into(),
        Cause::Spike => format!("queue full, want {}", fault.replicas_wanted.min(REPLICAS_MAX)),
        Cause::None => "ok".into(),
    }
}
