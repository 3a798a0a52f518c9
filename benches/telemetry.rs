//! What one sample of the host costs. At one sample a second, 5 ms is half a percent of a core.

use pilothouse::event::{Clock, MonotonicClock};
use pilothouse::telemetry::HostReader;

fn main() {
    divan::main();
}

#[divan::bench]
fn host_sample(bencher: divan::Bencher) {
    let clock: std::sync::Arc<dyn Clock> = MonotonicClock::start();
    let mut reader = HostReader::new(Some(std::env::temp_dir()));
    bencher.bench_local(|| reader.sample(clock.now_ns()));
}
