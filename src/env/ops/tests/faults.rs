use super::*;
use crate::env::ops::cluster::Cluster;
use crate::env::ops::fault::{Cause, Fault};
use crate::env::ops::rng::{Purpose, Stream};
use crate::env::ops::tools::REPLICAS_MAX;

/// Ticks over which an effect is looked at.
const LOOK_TICKS: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Nothing,
    Restart,
    Rollback,
    Scale,
    Shed,
}

const ACTS: [Act; 5] = [Act::Nothing, Act::Restart, Act::Rollback, Act::Scale, Act::Shed];

fn ends(act: Act, cause: Cause) -> bool {
    match cause {
        Cause::Crash | Cause::Leak => act == Act::Restart,
        Cause::Slow => act == Act::Shed,
        Cause::Config => act == Act::Rollback,
        Cause::Spike => act == Act::Scale || act == Act::Shed,
        Cause::None => true,
    }
}

fn cluster_with(seed: u64, level: Level, cause: Cause) -> Cluster {
    let services = topology::draw(&level::params(level), &mut Stream::new(NAME, seed, Purpose::Topology));
    let service = seed as usize % services.len();
    let fault = Fault::new(cause, service, 1, &services[service]);
    Cluster::new(services, vec![fault], Seed(seed))
}

fn do_to(cluster: &mut Cluster, act: Act) {
    let Fault { service, replicas_wanted, .. } = cluster.faults[0];
    match act {
        Act::Nothing => {}
        Act::Restart => cluster.restart(service),
        Act::Rollback => drop(cluster.rollback(service)),
        Act::Scale => cluster.scale(service, replicas_wanted.min(REPLICAS_MAX)),
        Act::Shed => cluster.shed_load(service),
    }
}

/// Ticks of the next few in which the faulty service keeps its objective.
fn kept_ticks(cluster: &mut Cluster) -> usize {
    let service = cluster.faults[0].service;
    (0..LOOK_TICKS).filter(|_| score::keeps_objective(&cluster.advance()[service], &cluster.usual[service])).count()
}

/// A remedy works by what it does to the queues, not by a flag alone.
#[test]
fn each_remedy_ends_its_own_fault_and_no_other() {
    for cause in Cause::ALL {
        for act in ACTS {
            for (seed, level) in (0..8).zip([Level::L0, Level::L1].into_iter().cycle()) {
                let mut cluster = cluster_with(seed, level, cause);
                (0..4).for_each(|_| drop(cluster.advance()));
                do_to(&mut cluster, act);
                (0..2).for_each(|_| drop(cluster.advance()));
                let kept = kept_ticks(&mut cluster);
                let what = format!("{act:?} on {} ({level} seed {seed}): kept {kept} of {LOOK_TICKS}", cause.word());
                assert_eq!(cluster.faults[0].mitigated, ends(act, cause), "{what}");
                // More replicas take the waiting away that a slow dependency causes, not the slowness.
                let relieves = (act, cause) == (Act::Scale, Cause::Slow);
                assert!(if ends(act, cause) { kept >= 4 } else { kept <= 1 || relieves }, "{what}");
            }
        }
    }
}

#[test]
fn normal_reads_normal() {
    let (mut ticks, mut alerts, mut hot) = (0, 0, 0);
    for level in [Level::L0, Level::L1] {
        for seed in (0..300).filter(|&s| is_healthy(s, level)) {
            let mut env = Ops::new();
            env.reset(Seed(seed), level);
            for _ in 0..15 {
                let compact = env.step(&wait()).observation.compact;
                ticks += 1;
                alerts += u32::from(!compact.ends_with("alert()"));
                hot += u32::from(!compact.contains("hot()"));
            }
        }
    }
    assert!(ticks > 1_000);
    assert!(alerts * 200 < ticks, "{alerts} alerts in {ticks} healthy ticks");
    assert!(hot * 100 < ticks, "{hot} hot in {ticks} healthy ticks");
}

fn is_healthy(seed: u64, level: Level) -> bool {
    let mut env = Ops::new();
    env.reset(Seed(seed), level);
    env.episode.unwrap().cluster.faults[0].cause == Cause::None
}

#[test]
fn every_fault_alerts_at_its_service_before_the_runbook_would_call_it_healthy() {
    for level in [Level::L0, Level::L1] {
        for seed in (0..80).filter(|&s| !is_healthy(s, level)) {
            let mut env = Ops::new();
            env.reset(Seed(seed), level);
            let fault = env.episode.as_ref().unwrap().cluster.faults[0].clone();
            let name = env.episode.as_ref().unwrap().cluster.services[fault.service].name.clone();
            let alerted = (1..10).any(|_| {
                let compact = env.step(&wait()).observation.compact;
                compact.rsplit(';').next().unwrap().split(['(', ',', ')']).any(|n| n == name)
            });
            assert!(alerted, "{level} seed {seed}: {} of {name} from tick {}", fault.cause.word(), fault.onset_tick);
        }
    }
}

#[test]
fn levels_grow_and_a_tick_stays_small() {
    for (level, sizes) in Level::ALL.into_iter().zip([3..=4, 4..=6, 6..=9, 8..=12]) {
        for seed in 0..20 {
            let mut env = Ops::new();
            env.reset(Seed(seed), level);
            let services = env.episode.as_ref().unwrap().cluster.services.len();
            assert!(sizes.contains(&services), "{level}: {services}");
            for _ in 0..10 {
                let before = env.queue_events_total();
                env.step(&Action::Tool(env.oracle().call));
                let events = env.queue_events_total() - before;
                assert!(events <= 2_300, "{level} seed {seed}: {events} queue events in a tick");
            }
        }
    }
}

fn first_seed(level: Level, wanted: impl Fn(&[Fault]) -> bool) -> u64 {
    (0..2_000)
        .find(|&seed| {
            let mut env = Ops::new();
            env.reset(Seed(seed), level);
            wanted(&env.episode.unwrap().cluster.faults)
        })
        .unwrap()
}

/// Plays the oracle until all is mitigated, then `calls`; the final reward.
fn final_after(seed: u64, level: Level, cure: bool, calls: &[ToolCall]) -> f64 {
    let mut env = Ops::new();
    env.reset(Seed(seed), level);
    while cure && env.oracle().call.name != "submit" {
        env.step(&Action::Tool(env.oracle().call));
    }
    let last = calls.iter().map(|call| env.step(&Action::Tool(call.clone()))).last().unwrap();
    last.info.final_reward.unwrap()
}

fn submit(cause: Cause) -> ToolCall {
    ToolCall::new("submit").with("cause", cause.word())
}

#[test]
fn the_final_reward_is_half_for_mitigated_and_half_for_the_cause() {
    let crash = first_seed(Level::L0, |f| f[0].cause == Cause::Crash);
    assert_eq!(final_after(crash, Level::L0, true, &[submit(Cause::Crash)]), 1.0);
    assert_eq!(final_after(crash, Level::L0, true, &[submit(Cause::Leak)]), 0.5);
    assert_eq!(final_after(crash, Level::L0, false, &[submit(Cause::Crash)]), 0.5);
    assert_eq!(final_after(crash, Level::L0, false, &[submit(Cause::None)]), 0.0);
    let starve = ToolCall::new("scale").with("svc", "gw").with("n", 1);
    assert_eq!(final_after(crash, Level::L0, true, &[starve, submit(Cause::Crash)]), 0.5, "a cure may not starve a service");

    let healthy = first_seed(Level::L0, |f| f[0].cause == Cause::None);
    let touch = ToolCall::new("restart").with("svc", "gw");
    assert_eq!(final_after(healthy, Level::L0, false, &[submit(Cause::None)]), 1.0);
    assert_eq!(final_after(healthy, Level::L0, false, &[touch, submit(Cause::None)]), 0.0);
    assert_eq!(final_after(healthy, Level::L0, false, &[submit(Cause::Leak)]), 0.5);

    let two = first_seed(Level::L2, |f| f.len() == 2 && f[0].cause == Cause::Crash && f[1].cause == Cause::Leak);
    let both = submit(Cause::Leak).with("also", "crash");
    assert_eq!(final_after(two, Level::L2, true, &[both]), 1.0);
    assert_eq!(final_after(two, Level::L2, true, &[submit(Cause::Leak)]), 0.75);
}
