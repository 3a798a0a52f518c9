//! Processor time that a sample of the host costs. At one sample a second, 5 ms of it is half a percent of a core. What a GPU's driver takes is
//! not in it: that needs the GPU.

#![allow(clippy::unwrap_used)]

use pilothouse::telemetry::HostReader;
use std::time::Duration;

const SAMPLES: u64 = 60;
const SECOND_NS: u64 = 1_000_000_000;
/// The host's figures are not read anew sooner.
const PAUSE: Duration = Duration::from_millis(210);

/// Processor time of this thread in nanoseconds: the first number of Linux' `schedstat`.
fn thread_cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_ascii_whitespace().next().and_then(|word| word.parse().ok()).expect("processor time is told on Linux only")
}

fn main() {
    let mut host = HostReader::new(Some(std::env::temp_dir()));
    drop(host.sample(0));
    let mut costs_ms: Vec<f64> = (1..=SAMPLES)
        .map(|n| {
            std::thread::sleep(PAUSE);
            let before_ns = thread_cpu_ns();
            drop(host.sample(n * SECOND_NS));
            (thread_cpu_ns() - before_ns) as f64 / 1e6
        })
        .collect();
    costs_ms.sort_by(f64::total_cmp);
    let mean_ms = costs_ms.iter().sum::<f64>() / costs_ms.len() as f64;
    let (median_ms, most_ms) = (costs_ms[costs_ms.len() / 2], costs_ms[costs_ms.len() - 1]);
    println!(
        "a sample of the host: mean {mean_ms:.3} ms, median {median_ms:.3}, most {most_ms:.3}; {:.3} % of a core at one a second",
        mean_ms / 10.0
    );
}
