//! How fast the headless simulator is: `cargo bench --bench sim`. Prints medians and extremes of several repetitions.

use pilothouse::env::ops::Ops;
use pilothouse::env::{Action, Baseline, BaselineKind, Environment};
use pilothouse::event::{Level, Seed, ToolCall};
use std::hint::black_box;
use std::time::Instant;

const REPETITIONS: usize = 9;
/// Episodes a repetition.
const EPISODES: u64 = 40;
/// Ticks of an episode in which nobody does anything.
const IDLE_TICKS: u32 = 60;

/// Median, least and most of a rate.
fn report(what: &str, unit: &str, mut rate: impl FnMut() -> f64) {
    let mut rates: Vec<f64> = (0..REPETITIONS).map(|_| rate()).collect();
    rates.sort_by(f64::total_cmp);
    let (least, median, most) = (rates[0], rates[REPETITIONS / 2], rates[REPETITIONS - 1]);
    println!("{what:<34} {median:>12.0} {unit}  ({least:.0} to {most:.0})");
}

/// Queue events a second of bare simulation, observations included: idle episodes.
fn queue_events_per_s(level: Level) -> f64 {
    let mut env = Ops::new();
    let (mut events, begin) = (0, Instant::now());
    for seed in 0..EPISODES {
        env.reset(Seed(seed), level);
        for _ in 0..IDLE_TICKS {
            black_box(env.step(&Action::Tool(ToolCall::new("wait"))));
        }
        events += env.queue_events_total();
    }
    events as f64 / begin.elapsed().as_secs_f64()
}

/// Episodes and decisions a second of a whole episode played by the runbook.
fn runbook_rates(level: Level) -> (f64, f64) {
    let mut env = Ops::new();
    let mut agent = env.baseline(BaselineKind::Heuristic);
    let (mut decisions, begin) = (0, Instant::now());
    for seed in 0..EPISODES {
        decisions += play(&mut env, agent.as_mut(), Seed(seed), level);
    }
    let seconds = begin.elapsed().as_secs_f64();
    (EPISODES as f64 / seconds, f64::from(decisions) / seconds)
}

fn play(env: &mut Ops, agent: &mut dyn Baseline, seed: Seed, level: Level) -> u32 {
    let start = env.reset(seed, level);
    agent.begin(&start, seed);
    let mut observation = start.observation;
    for decisions in 1.. {
        let call = agent.decide(&observation).call;
        agent.took(&call);
        let result = env.step(&Action::Tool(call));
        if result.terminated || result.truncated {
            return decisions;
        }
        observation = result.observation;
    }
    0
}

/// Environments in the middle of an episode.
fn under_way(level: Level) -> Ops {
    let mut env = Ops::new();
    env.reset(Seed(1), level);
    for _ in 0..8 {
        env.step(&Action::Tool(ToolCall::new("wait")));
    }
    env
}

fn per_s(times: u32, mut work: impl FnMut()) -> f64 {
    let begin = Instant::now();
    for _ in 0..times {
        work();
    }
    f64::from(times) / begin.elapsed().as_secs_f64()
}

fn main() {
    for level in Level::ALL {
        report(&format!("{level} queue events"), "events/s", || queue_events_per_s(level));
    }
    for level in Level::ALL {
        report(&format!("{level} runbook episodes"), "episodes/s", || runbook_rates(level).0);
        report(&format!("{level} runbook decisions"), "decisions/s", || runbook_rates(level).1);
    }
    for level in [Level::L0, Level::L3] {
        let env = under_way(level);
        let snapshot = env.snapshot();
        println!("{level} snapshot has {} bytes", snapshot.bytes.len());
        report(&format!("{level} state hashes"), "hashes/s", || per_s(200, || _ = black_box(env.state_hash())));
        report(&format!("{level} snapshots"), "snapshots/s", || per_s(200, || _ = black_box(env.snapshot())));
        let mut other = Ops::new();
        report(&format!("{level} restores"), "restores/s", || {
            per_s(200, || other.restore(&snapshot).expect("the snapshot was just made by the same build"))
        });
    }
}
