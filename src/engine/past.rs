//! Where a lane can go back to: before every decision of its newest episodes.
//!
//! An episode is copied whole at every sixteenth decision; what lies between is played again with the actions that were taken, so that a
//! long episode costs little to keep and any of its decisions is a few simulated steps away.

use super::lane::Mind;
use crate::env::{Baseline, EnvSnapshot, Environment};
use crate::event::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// Decisions between two whole copies.
const STRIDE: u32 = 16;
/// Episodes of a lane that are kept, the one that runs included.
const EPISODES_MAX: usize = 4;

/// An episode before a decision.
pub struct Moment {
    env: EnvSnapshot,
    baseline: Option<Box<dyn Baseline>>,
    pub mind: Mind,
}

impl Moment {
    pub fn new(env: &dyn Environment, baseline: Option<&dyn Baseline>, mind: &Mind) -> Self {
        Self { env: env.snapshot(), baseline: baseline.map(Baseline::duplicate), mind: mind.clone() }
    }

    /// Makes `env` what it was then; gives the scripted agent of then.
    pub fn restore(&self, env: &mut dyn Environment) -> Result<Option<Box<dyn Baseline>>, String> {
        env.restore(&self.env).map_err(|e| e.to_string())?;
        Ok(self.baseline.as_ref().map(|b| b.duplicate()))
    }
}

/// A decision as it was made.
pub struct Taken {
    pub action: RecordedAction,
    pub thought: SafeText,
    /// Whether the thought begins with a span of the observation.
    pub is_faithful: bool,
    pub is_error: bool,
    /// Of the environment behind it.
    pub state_hash: u64,
}

/// An episode that can be gone back in.
#[derive(Clone)]
struct Kept {
    start: EpisodeStarted,
    episode: EpisodeId,
    /// What its messages are sampled by: its own seed, or that of the branch that it is.
    sampling_seed: Seed,
    moments: Vec<Arc<Moment>>,
    taken: Vec<Arc<Taken>>,
    is_over: bool,
}

/// What a branch begins with.
pub struct Point {
    pub start: EpisodeStarted,
    pub parent: EpisodeId,
    pub at: StepIndex,
    pub sampling_seed: Seed,
    moments: Vec<Arc<Moment>>,
    taken: Vec<Arc<Taken>>,
}

impl Point {
    /// The newest whole copy before the decision, and what was done from there up to it.
    pub fn way(&self) -> Option<(Arc<Moment>, &[Arc<Taken>])> {
        let moment = self.moments.last()?;
        Some((moment.clone(), self.taken.get(moment.mind.step.0 as usize..)?))
    }
}

/// Episodes of a lane, newest last.
#[derive(Default)]
pub struct Past {
    episodes: VecDeque<Kept>,
}

impl Past {
    /// A new episode, before its first decision.
    pub fn begin(&mut self, episode: EpisodeId, start: EpisodeStarted, moment: Moment) {
        let sampling_seed = start.seed;
        self.keep(Kept { start, episode, sampling_seed, moments: vec![Arc::new(moment)], taken: Vec::new(), is_over: false });
    }

    /// An episode that goes on from a point of another one.
    pub fn branch(&mut self, episode: EpisodeId, point: Point) {
        let Point { start, sampling_seed, moments, taken, .. } = point;
        self.keep(Kept { start, episode, sampling_seed, moments, taken, is_over: false });
    }

    /// The newest episode's messages are sampled by this from now on.
    pub fn sampled_by(&mut self, seed: Seed) {
        if let Some(kept) = self.episodes.back_mut() {
            kept.sampling_seed = seed;
        }
    }

    fn keep(&mut self, kept: Kept) {
        if self.episodes.len() == EPISODES_MAX {
            self.episodes.pop_front();
        }
        self.episodes.push_back(kept);
    }

    /// A decision of the newest episode was made. `moment` copies the lane where that is due.
    pub fn took(&mut self, taken: Taken, moment: impl FnOnce() -> Moment) {
        let Some(kept) = self.episodes.back_mut() else { return };
        kept.taken.push(Arc::new(taken));
        if (kept.taken.len() as u32).is_multiple_of(STRIDE) {
            kept.moments.push(Arc::new(moment()));
        }
    }

    pub fn end(&mut self) {
        if let Some(kept) = self.episodes.back_mut() {
            kept.is_over = true;
        }
    }

    /// Before the decision `at` of an episode, the newest one where none is named. Says why there is no such point.
    pub fn point(&self, episode: Option<EpisodeId>, at: StepIndex) -> Result<Point, String> {
        let of = |id: EpisodeId| self.episodes.iter().find(|k| k.episode == id);
        let Some(kept) = episode.map_or(self.episodes.back(), of) else {
            let known: Vec<String> = self.episodes.iter().map(|k| k.episode.to_string()).collect();
            let known = if known.is_empty() { "none yet".into() } else { known.join(", ") };
            return Err(format!("that episode is not kept; the lane can go back in: {known}. Older ones are in the recording"));
        };
        let steps = kept.taken.len() as u32;
        let last = if kept.is_over { steps } else { steps + 1 };
        if at.0 == 0 || at.0 > last {
            return Err(format!("episode {} has no step {at} to go back to; there are 1 to {last}", kept.episode));
        }
        let before = at.0 - 1;
        let moments = kept.moments.iter().filter(|m| m.mind.step.0 <= before).cloned().collect();
        let taken = kept.taken[..before as usize].to_vec();
        let (start, sampling_seed) = (kept.start.clone(), kept.sampling_seed);
        Ok(Point { start, parent: kept.episode, at, sampling_seed, moments, taken })
    }
}
