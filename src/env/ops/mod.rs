//! The ops simulator: a discrete-event cluster of M/G/c/K stations with a hidden fault.

use super::*;

/// The cluster.
pub struct Ops;

impl Ops {
    #[expect(clippy::new_without_default)]
    pub fn new() -> Self {
        Self
    }
}

impl Environment for Ops {
    fn spec(&self) -> &EnvSpec {
        todo!()
    }
    fn reset(&mut self, _: Seed, _: Level) -> Reset {
        todo!()
    }
    fn step(&mut self, _: &Action) -> StepResult {
        todo!()
    }
    fn snapshot(&self) -> EnvSnapshot {
        todo!()
    }
    fn restore(&mut self, _: &EnvSnapshot) -> Result<(), EnvError> {
        todo!()
    }
    fn state_hash(&self) -> u64 {
        todo!()
    }
    fn oracle(&self) -> Decision {
        todo!()
    }
    fn fresh(&self) -> Box<dyn Environment> {
        todo!()
    }
    fn baseline(&self, _: BaselineKind) -> Box<dyn Baseline> {
        todo!()
    }
}
