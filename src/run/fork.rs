//! A fork from a recording: its episode is played again in a run of its own, which goes on from one of its steps.

use super::exit::Failure;
use super::join::{Beginning, RunPlan, Started, environment, record_to, start};
use super::replay::before_episode;
use crate::config::Config;
use crate::engine::{Recital, Recited, check_environment};
use crate::event::*;
use crate::journal::Recording;
use std::path::Path;

/// Branches of branches are followed so far; a file may say what it will.
const DEPTH_MAX: usize = 64;

/// What is to be forked.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    pub lane: LaneId,
    pub episode: EpisodeId,
    /// The branch begins before this decision.
    pub at: StepIndex,
    pub with: Variation,
}

/// Starts the run. It pauses before the branch's first decision.
pub fn fork(path: &Path, wish: Wish, config: &Config) -> Result<Started, Failure> {
    let mut recording = Recording::open_quickly(path).map_err(Failure::usage)?;
    let header = recording.header().clone();
    check_environment(&header, environment(&header.env.name)?.spec()).map_err(Failure::usage)?;
    let run = recording.run_started().map_err(Failure::usage)?;
    let run = run.ok_or_else(|| Failure::usage("the recording does not say how its run began: nothing can be forked from it"))?;
    let recital = recital(&mut recording, wish)?;
    let record = record_to(None, false, config)?;
    let plan = RunPlan { episodes_max: None, pace: Pace::Times(1.0), streams: true, record, tapped: false };
    start(config, plan, Some(Beginning { recital, run, header }))
}

fn recital(recording: &mut Recording, wish: Wish) -> Result<Recital, Failure> {
    let Wish { lane, episode, at, with } = wish;
    let told = told(recording, lane, episode, 0)?;
    let steps = told.decisions.len() as u32;
    let last = if told.is_over { steps } else { steps + 1 };
    if at.0 == 0 || at.0 > last {
        return Err(Failure::usage(format!("episode {lane}:{episode} has no step {at} to fork before; there are 1 to {last}")));
    }
    let name = recording.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = SafeText::from(format!("episode {lane}:{episode} of {name}"));
    Ok(Recital { source, start: told.start, sampling_seed: told.sampling_seed, decisions: told.decisions.into(), at, with })
}

/// An episode as the recording tells it, from its first decision on, also where it is a branch.
struct Told {
    start: EpisodeStarted,
    sampling_seed: Seed,
    decisions: Vec<Recited>,
    is_over: bool,
}

fn told(recording: &mut Recording, lane: LaneId, episode: EpisodeId, depth: usize) -> Result<Told, Failure> {
    let missing = || Failure::usage(format!("the recording has no episode {lane}:{episode}"));
    let from = before_episode(recording, lane, episode)?;
    let (mut start, mut branch, mut is_over): (Option<EpisodeStarted>, Option<BranchStarted>, bool) = (None, None, false);
    let (mut said, mut decisions): (Option<MessageCompleted>, Vec<Recited>) = (None, Vec::new());
    for envelope in recording.events_from(from).map_err(Failure::usage)? {
        let envelope = envelope.map_err(Failure::usage)?;
        if envelope.lane != lane || envelope.episode.is_none() {
            continue;
        }
        if envelope.episode > Some(episode) {
            break;
        }
        if envelope.episode < Some(episode) {
            continue;
        }
        if let Event::EpisodeStarted(e) = &envelope.event {
            start = Some(e.clone());
        } else if let Event::BranchStarted(e) = &envelope.event {
            branch = Some(e.clone());
        } else if let Event::MessageCompleted(e) = &envelope.event {
            said = Some(e.clone());
        } else if let Event::TransitionRecorded(e) = &envelope.event {
            let message = said.take().ok_or_else(|| Failure::usage(format!("event {}: a decision without its message", envelope.seq)))?;
            decisions.push(Recited { message, action: e.action.clone(), state_hash: e.state_hash });
        } else if let Event::EpisodeEnded(e) = &envelope.event {
            is_over = e.ending != EpisodeEnding::Aborted;
            break;
        } else if matches!(envelope.event, Event::Elided(_)) {
            return Err(Failure::usage(format!("event {}: a part of the episode is missing", envelope.seq)));
        }
    }
    let start = start.ok_or_else(missing)?;
    let mut sampling_seed = start.seed;
    if let Some(branch) = branch {
        if depth == DEPTH_MAX {
            return Err(Failure::usage(format!("{DEPTH_MAX} branches of each other and more: that is no recording of ours")));
        }
        let parent = told_of_parent(recording, &branch, depth)?;
        sampling_seed = branch.with.seed.unwrap_or(parent.sampling_seed);
        decisions.splice(..0, parent.decisions);
    }
    Ok(Told { start, sampling_seed, decisions, is_over })
}

/// The parent's decisions up to where the branch parts from it.
fn told_of_parent(recording: &mut Recording, branch: &BranchStarted, depth: usize) -> Result<Told, Failure> {
    let mut parent = told(recording, branch.parent_lane, branch.parent, depth + 1)?;
    let before = branch.at_step.0.saturating_sub(1) as usize;
    if parent.decisions.len() < before {
        return Err(Failure::usage(format!("episode {}:{} lacks steps before {}", branch.parent_lane, branch.parent, branch.at_step)));
    }
    parent.decisions.truncate(before);
    Ok(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(name: &str) -> Recording {
        Recording::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("recordings/{name}.jsonl"))).unwrap()
    }

    fn wish(episode: u32, at: u32) -> Wish {
        Wish { lane: LaneId(0), episode: EpisodeId(episode), at: StepIndex(at), with: Variation::default() }
    }

    #[test]
    fn an_episode_is_told_whole_and_a_step_that_is_not_there_is_named() {
        let mut recording = recorded("failure");
        let told = recital(&mut recording, wish(1, 3)).unwrap();
        assert_eq!((told.decisions.len(), told.at), (7, StepIndex(3)));
        assert!(told.decisions.iter().all(|d| !d.message.token_ids.is_empty()));
        let error = |w: Wish| recital(&mut recorded("failure"), w).unwrap_err().message;
        assert!(error(wish(1, 8)).contains("there are 1 to 7"), "{}", error(wish(1, 8)));
        assert!(error(wish(1, 0)).contains("no step 0") && error(wish(9, 1)).contains("no episode 0:9"));
    }
}
