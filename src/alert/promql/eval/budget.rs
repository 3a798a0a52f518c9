//! What an evaluation may still cost. The only clock of this room: it decides no value, only when a query is given up.

use super::super::{Limits, QueryError};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// So many points pass between two looks at the clock.
const LOOK_EVERY: usize = 16_384;

const TIMED_OUT: &str = "query timed out in query execution";
const TOO_MANY: &str = "query processing would load too many samples into memory in query execution";

pub struct Budget {
    samples_max: usize,
    steps_max: usize,
    time_max: Duration,
    started: Instant,
    samples: Cell<usize>,
    next_look: Cell<usize>,
}

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        let (samples_max, steps_max, time_max) = (limits.samples_max, limits.steps_max, limits.time_max);
        Self { samples_max, steps_max, time_max, started: Instant::now(), samples: Cell::new(0), next_look: Cell::new(LOOK_EVERY) }
    }

    /// Takes note of points that were loaded, or of work that costs as much.
    pub fn spend(&self, count: usize) -> Result<(), QueryError> {
        let samples = self.samples.get().saturating_add(count);
        self.samples.set(samples);
        if samples > self.samples_max {
            return Err(error(TOO_MANY));
        }
        if samples >= self.next_look.get() {
            self.next_look.set(samples + LOOK_EVERY);
            self.look()?;
        }
        Ok(())
    }

    pub fn look(&self) -> Result<(), QueryError> {
        if self.started.elapsed() > self.time_max {
            return Err(error(TIMED_OUT));
        }
        Ok(())
    }

    /// Whether a range query may have so many steps.
    pub fn steps(&self, count: i64) -> Result<(), QueryError> {
        if usize::try_from(count).is_ok_and(|count| count <= self.steps_max) {
            return Ok(());
        }
        let max = thousands(self.steps_max);
        Err(error(&format!("exceeded maximum resolution of {max} points per timeseries. Try decreasing the query resolution (?step=XX)")))
    }

    /// Whether so many steps could be made at all, before the first is made.
    pub fn afford(&self, count: i64) -> Result<(), QueryError> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if self.samples.get().saturating_add(count) > self.samples_max {
            return Err(error(TOO_MANY));
        }
        self.look()
    }
}

/// Time that several queries have together: those of all templates of a rule.
pub struct SharedTime {
    started: Instant,
    time_max: Duration,
}

impl SharedTime {
    /// As long as one query may take.
    pub fn new(limits: &Limits) -> Self {
        Self { started: Instant::now(), time_max: limits.time_max }
    }

    /// For the next query.
    pub fn limits(&self, limits: &Limits) -> Result<Limits, QueryError> {
        match self.time_max.checked_sub(self.started.elapsed()) {
            Some(time_max) => Ok(Limits { time_max, ..*limits }),
            None => Err(error(TIMED_OUT)),
        }
    }
}

/// `11000` as `11,000`.
fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

fn error(message: &str) -> QueryError {
    QueryError { message: message.to_owned(), offset: None }
}
