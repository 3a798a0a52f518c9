//! What the console asks for behind the scene: evaluations, verifications, the catalogue of recordings.

use super::bench::{Bench, BenchPlan};
use crate::config::Config;
use crate::event::Level;
use crate::ui::backstage::{Ask, Backstage, News};

/// The crew: work in threads of its own, whose results wait to be collected.
pub struct Crew {
    plan: Option<BenchPlan>,
    /// Started when it is first needed.
    bench: Option<Bench>,
}

impl Crew {
    /// `env` and `level` of the run or the recording that is looked at.
    pub fn new(config: &Config, env: &str, level: Level) -> Self {
        Self { plan: Some(BenchPlan::new(config, env, level)), bench: None }
    }
}

impl Backstage for Crew {
    fn ask(&mut self, ask: Ask) -> Result<(), String> {
        match ask {
            Ask::Bench(ask) => {
                if let Some(plan) = self.plan.take() {
                    self.bench = Some(Bench::start(plan).map_err(|e| e.to_string())?);
                }
                self.bench.as_ref().map_or(Err("the thread that evaluates could not be started".to_owned()), |bench| bench.ask(ask))
            }
        }
    }

    fn news(&mut self) -> Vec<News> {
        self.bench.iter().flat_map(Bench::news).map(News::Bench).collect()
    }
}
