//! The injected clock. No room reads the platform's clock by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Nanoseconds since the run began, never going back.
pub trait Clock: Send + Sync {
    fn now_ns(&self) -> u64;
}

/// The platform's monotonic clock, zero when it was made.
pub struct MonotonicClock(Instant);

impl MonotonicClock {
    pub fn start() -> Arc<dyn Clock> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A clock that tests move by hand.
#[derive(Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    pub fn advance(&self, by_ns: u64) {
        self.0.fetch_add(by_ns, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
