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
const DEPTH_MAX: usize = 4_096;

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
    use crate::journal::write_part;

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

    #[test]
    fn how_the_run_began_is_known_of_a_part_too() {
        let mut whole = recorded("shift");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("part.jsonl.zst");
        let end = whole.end();
        write_part(&mut whole, Seq(487), end, &path).unwrap();
        let mut part = Recording::open(&path).unwrap();
        let run = whole.run_started().unwrap();
        assert!(run.is_some() && part.run_started().unwrap() == run);
        let first = part.events_from(Seq(1)).unwrap().map(|e| e.unwrap()).find(|e| matches!(e.event, Event::EpisodeStarted(_))).unwrap();
        let wish = || Wish { lane: first.lane, episode: first.episode.unwrap(), at: StepIndex(2), with: Variation::default() };
        let said = |recording: &mut Recording| {
            let recital = recital(recording, wish()).unwrap();
            recital.decisions.iter().map(|d| (d.message.token_ids.clone(), d.state_hash)).collect::<Vec<_>>()
        };
        assert!(!said(&mut part).is_empty());
        assert_eq!(said(&mut part), said(&mut whole));
    }

    /// The events of a recording that is made of those of another one.
    struct Made {
        of: Vec<Envelope>,
        events: Vec<Envelope>,
    }

    impl Made {
        fn add(&mut self, lane: u32, step: u32, event: Event) {
            let seq = Seq(self.events.len() as u64 + 1);
            let (lane, episode) = (LaneId(lane), Some(EpisodeId(1)));
            self.events.push(Envelope { seq, t_ns: seq.0, lane, episode, step: Some(StepIndex(step)), event });
        }

        fn find<T>(&self, is_it: impl Fn(&Event) -> Option<T>) -> T {
            self.of.iter().find_map(|e| is_it(&e.event)).unwrap()
        }

        fn decide(&mut self, lane: u32, step: u32) {
            let mut message = self.find(|e| if let Event::MessageCompleted(e) = e { Some(e.clone()) } else { None });
            message.token_ids = vec![TokenId(lane * 10 + step)];
            let transition = self.find(|e| if let Event::TransitionRecorded(e) = e { Some(e.clone()) } else { None });
            self.add(lane, step, message.into());
            self.add(lane, step, transition.into());
        }
    }

    #[test]
    fn a_branch_of_a_branch_has_the_steps_of_both_that_it_goes_on_from() {
        let of = recorded("failure").events_from(Seq(1)).unwrap().map(|e| Envelope::clone(&e.unwrap())).collect();
        let mut made = Made { of, events: Vec::new() };
        let start = made.find(|e| if let Event::EpisodeStarted(e) = e { Some(e.clone()) } else { None });
        for (lane, at) in [(0, 1), (1, 3), (2, 4)] {
            made.add(lane, 0, start.clone().into());
            if lane > 0 {
                // The first branch has a seed of its own, which the second one goes on with.
                let with = Variation { seed: (lane == 1).then_some(Seed(9)), ..Variation::default() };
                let (parent_lane, parent, at_step, cause) = (LaneId(lane - 1), EpisodeId(1), StepIndex(at), BranchCause::Fork);
                let (state_hash, reward_sum, discounted_sum) = (0, 0.0, 0.0);
                let branch = BranchStarted { parent_lane, parent, at_step, cause, with, state_hash, reward_sum, discounted_sum };
                made.add(lane, 0, branch.into());
            }
            (at..=5).for_each(|step| made.decide(lane, step));
        }
        let header = std::fs::read_to_string(recorded("failure").path()).unwrap().lines().next().unwrap().to_owned();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("nested.jsonl");
        let lines = made.events.iter().map(|e| serde_json::to_string(e).unwrap());
        std::fs::write(&path, std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n") + "\n").unwrap();
        let told = told(&mut Recording::open(&path).unwrap(), LaneId(2), EpisodeId(1), 0).unwrap();
        let said: Vec<u32> = told.decisions.iter().map(|d| d.message.token_ids[0].0).collect();
        assert_eq!((said, told.sampling_seed), (vec![1, 2, 13, 24, 25], Seed(9)));
    }
}
