//! A fork from a recording: its episode is played again in a run of its own, which goes on from one of its steps.

use super::exit::Failure;
use super::join::{Beginning, RunPlan, Started, environment, record_to, start};
use super::replay::before_episode;
use crate::config::Config;
use crate::engine::{Recital, Recited, check_environment};
use crate::event::*;
use crate::journal::Recording;
use crate::source::diff::{Decision, Story};
use std::path::Path;

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
    let plan = RunPlan {
        episodes_max: None,
        pace: Pace::Times(1.0),
        streams: true,
        record,
        tapped: false,
        alerts: super::alerts::is_wanted(config, true),
    };
    start(config, plan, Some(Beginning { recital, run, header }))
}

fn recital(recording: &mut Recording, wish: Wish) -> Result<Recital, Failure> {
    let Wish { lane, episode, at, with } = wish;
    let told = told(recording, Address { lane, episode })?;
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

/// An episode with the decisions of those that it goes on from.
fn told(recording: &mut Recording, address: Address) -> Result<Told, Failure> {
    let (mut began, mut story) = story(recording, address)?;
    let start = story.started.clone().ok_or_else(|| missing(address))?;
    let is_over = story.end.as_ref().is_some_and(|end| end.ending != EpisodeEnding::Aborted);
    let (mut decisions, mut seed, mut before) = (recited(&story, None)?, None, None::<StepIndex>);
    while let Some(branch) = story.branch.take() {
        seed = seed.or(branch.with.seed);
        before = Some(before.map_or(branch.at_step, |step| step.min(branch.at_step)));
        let parent = Address { lane: branch.parent_lane, episode: branch.parent };
        let (parent_began, of_parent) = self::story(recording, parent)?;
        // So this ends, whatever a file says.
        if parent_began >= began {
            return Err(Failure::usage(format!("a branch goes on from episode {parent}, which began later: that is no recording of ours")));
        }
        decisions.splice(..0, recited(&of_parent, before)?);
        (began, story) = (parent_began, of_parent);
    }
    if let Some(lacking) = (1..).zip(&decisions).find_map(|(wanted, (step, _))| (*step != StepIndex(wanted)).then_some(wanted)) {
        return Err(Failure::usage(format!(
            "step {lacking} of episode {address}, or of one that it goes on from, is not in the recording"
        )));
    }
    let sampling_seed = seed.unwrap_or(start.seed);
    Ok(Told { start, sampling_seed, decisions: decisions.into_iter().map(|(_, decision)| decision).collect(), is_over })
}

fn missing(address: Address) -> Failure {
    Failure::usage(format!("the recording has no episode {}:{}", address.lane, address.episode))
}

/// One episode as it is recorded, and the event with which it begins.
fn story(recording: &mut Recording, address: Address) -> Result<(Seq, Story), Failure> {
    let Address { lane, episode } = address;
    let from = before_episode(recording, lane, episode)?;
    let (mut began, mut story) = (None, Story { address, ..Story::default() });
    for envelope in recording.events_from(from).map_err(Failure::usage)? {
        let envelope = envelope.map_err(Failure::usage)?;
        let of_lane = envelope.episode.filter(|_| envelope.lane == lane);
        match of_lane {
            Some(of) if of > episode => break,
            Some(of) if of == episode => {
                began.get_or_insert(envelope.seq);
                story.note(&envelope);
            }
            Some(_) | None => {}
        }
        if story.end.is_some() {
            break;
        }
    }
    began.map(|began| (began, story)).ok_or_else(|| missing(address))
}

/// The decisions that were made, before a step where one is named.
fn recited(story: &Story, before: Option<StepIndex>) -> Result<Vec<(StepIndex, Recited)>, Failure> {
    let made = story.decisions.iter().filter(|d| before.is_none_or(|step| d.step < step));
    let recited = |decision: &Decision| {
        let transition = decision.transition.as_ref()?;
        let Some(message) = decision.message.clone() else {
            let address = story.address;
            return Some(Err(Failure::usage(format!("step {} of episode {address} has no message in the recording", decision.step))));
        };
        Some(Ok((decision.step, Recited { message, action: transition.action.clone(), state_hash: transition.state_hash })))
    };
    made.filter_map(recited).collect()
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

    /// The last of lanes each of which goes on from the one that `parent` says, before the step that stands there.
    fn told_of(branches: &[(u32, u32)], parent: impl Fn(u32) -> u32) -> Result<Told, Failure> {
        let of = recorded("failure").events_from(Seq(1)).unwrap().map(|e| Envelope::clone(&e.unwrap())).collect();
        let mut made = Made { of, events: Vec::new() };
        let start = made.find(|e| if let Event::EpisodeStarted(e) = e { Some(e.clone()) } else { None });
        for (lane, at) in branches {
            made.add(*lane, 0, start.clone().into());
            if *lane > 0 {
                // The first branch has a seed of its own, which those that go on from it keep.
                let with = Variation { seed: (*lane == 1).then_some(Seed(9)), ..Variation::default() };
                let (parent_lane, parent, at_step, cause) = (LaneId(parent(*lane)), EpisodeId(1), StepIndex(*at), BranchCause::Fork);
                let (state_hash, reward_sum, discounted_sum) = (0, 0.0, 0.0);
                let branch = BranchStarted { parent_lane, parent, at_step, cause, with, state_hash, reward_sum, discounted_sum };
                made.add(*lane, 0, branch.into());
            }
            (*at..=5).for_each(|step| made.decide(*lane, step));
        }
        let header = std::fs::read_to_string(recorded("failure").path()).unwrap().lines().next().unwrap().to_owned();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("nested.jsonl");
        let lines = made.events.iter().map(|e| serde_json::to_string(e).unwrap());
        std::fs::write(&path, std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n") + "\n").unwrap();
        let lane = LaneId(branches[branches.len() - 1].0);
        told(&mut Recording::open(&path).unwrap(), Address { lane, episode: EpisodeId(1) })
    }

    fn said(told: &Told) -> Vec<u32> {
        told.decisions.iter().map(|d| d.message.token_ids[0].0).collect()
    }

    #[test]
    fn a_branch_of_a_branch_has_the_steps_of_both_that_it_goes_on_from() {
        let told = told_of(&[(0, 1), (1, 3), (2, 4)], |lane| lane - 1).unwrap();
        assert_eq!((said(&told), told.sampling_seed), (vec![1, 2, 13, 24, 25], Seed(9)));
        // One that parts before its parent did has nothing of it.
        let told = told_of(&[(0, 1), (1, 4), (2, 2)], |lane| lane - 1).unwrap();
        assert_eq!(said(&told), [1, 22, 23, 24, 25]);
    }

    #[test]
    fn however_many_branches_go_on_from_each_other_they_are_followed_and_a_ring_of_them_is_refused() {
        let deep: Vec<(u32, u32)> = std::iter::once((0, 1)).chain((1..=300).map(|lane| (lane, 2))).collect();
        let told = told_of(&deep, |lane| lane - 1).unwrap();
        assert_eq!(said(&told), [1, 3002, 3003, 3004, 3005]);
        for parent in [|lane: u32| lane, |lane: u32| lane + 1] {
            let refused = told_of(&[(2, 2), (1, 3)], parent).map(|_| ()).unwrap_err().message;
            assert!(refused.contains("no recording of ours") || refused.contains("no episode"), "{refused}");
        }
    }

    #[test]
    fn a_step_that_the_recording_lacks_is_named() {
        let refused = told_of(&[(0, 3)], |lane| lane).map(|_| ()).unwrap_err().message;
        assert!(refused.contains("step 1 of episode"), "{refused}");
    }
}
