//! Forks of the built-in agent in the simulator, compared with what they go on from.

use super::*;
use crate::event::{CheckpointId, Command, EpisodeId, Event, LaneId, Pace, StepIndex, Variation};
use crate::run::cli::{Cli, Cmd};
use crate::run::join::{RunPlan, configuration, start};
use clap::Parser;
use std::path::Path;

/// Plays an episode, forks it before a step as often as there are variations, and ends when the forks have ended.
fn forked(file: &Path, at: u32, variations: &[Variation]) {
    let cli = Cli::parse_from(["pilothouse", "run", "--seed", "36", "--checkpoint", "deckhand-final", "--max-steps", "6"]);
    let Some(Cmd::Run(run)) = &cli.command else { panic!() };
    let config = configuration(&cli.global, Some(run)).unwrap();
    let plan = RunPlan { episodes_max: None, pace: Pace::Max, streams: false, record: Some(file.to_owned()), tapped: true, alerts: false };
    let mut started = start(&config, plan, None).unwrap();
    let events = started.tap.take().unwrap();
    let (mut asked, mut open) = (false, variations.len());
    while open > 0 {
        let envelope = events.recv_timeout(std::time::Duration::from_secs(120)).unwrap();
        match &envelope.event {
            Event::EpisodeEnded(_) if envelope.lane == LaneId(0) && !asked => {
                asked = true;
                for with in variations {
                    let (lane, episode) = (LaneId(0), envelope.episode);
                    started.commands.send(Command::Fork { lane, episode, at: StepIndex(at), with: with.clone() }).unwrap();
                }
            }
            Event::EpisodeEnded(_) if envelope.lane != LaneId(0) => open -= 1,
            Event::CommandRejected(e) => panic!("{}", e.reason),
            _ => {}
        }
    }
    // The run waits for whoever reads it.
    let reader = std::thread::spawn(move || events.iter().for_each(drop));
    started.shut_down();
    reader.join().unwrap();
}

#[test]
fn an_unchanged_fork_is_its_parent_and_another_checkpoint_parts_at_a_step() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("forks.jsonl");
    let early = Variation { checkpoint: Some(CheckpointId::from("deckhand-early")), ..Variation::default() };
    forked(&file, 3, &[Variation::default(), early]);
    let mut told = Vec::new();
    for lane in [1, 2] {
        let fork = Address { lane: LaneId(lane), episode: EpisodeId(1) };
        let compared = episodes_of((&Named::new(file.clone(), None), fork), None, &never).unwrap();
        assert_eq!(compared.broken, Vec::<String>::new());
        let Found::Episodes(diff) = compared.found else { panic!() };
        let with = diff.b.branch.as_ref().unwrap().with.clone();
        if with.is_none() {
            assert!(diff.is_same(), "{:?} {:?} {:?}", diff.first, diff.drift, diff.given);
            assert!(diff.rows.len() > 3 && diff.b.decisions.len() == diff.a.decisions.len());
            told.push("same");
        } else {
            let first = diff.first.as_ref().unwrap();
            assert!(first.step >= StepIndex(3), "{first:?}");
            assert!(matches!(first.difference, Some(Difference::Token { .. })), "{first:?}");
            assert!(told_first(first, &diff).starts_with("token "));
            assert!(diff.given.iter().any(|g| g.what == "checkpoint" && g.b.as_deref() == Some("deckhand-early")), "{:?}", diff.given);
            told.push("differs");
        }
    }
    told.sort_unstable();
    assert_eq!(told, ["differs", "same"]);
}

#[test]
fn a_name_is_a_file_an_episode_of_it_or_an_episode_of_the_other_file() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("a#1");
    std::fs::write(&odd, "").unwrap();
    let at = |text: &str| Some(text.parse::<Address>().unwrap());
    let parsed = |text: &str| Typed::parse(text).map(|n| (n.file.map(|f| f.display().to_string()), n.address)).map_err(|e| e.to_string());
    assert_eq!(parsed("x.jsonl"), Ok((Some("x.jsonl".into()), None)));
    assert_eq!(parsed("x.jsonl#1:3"), Ok((Some("x.jsonl".into()), at("1:3"))));
    assert_eq!(parsed("#2"), Ok((None, at("0:2"))));
    assert_eq!(parsed("1:2"), Ok((None, at("1:2"))), "what no shell takes for a comment");
    let odd = odd.display().to_string();
    assert_eq!(parsed(&odd), Ok((Some(odd.clone()), None)), "a file of that very name");
    assert!(parsed("x.jsonl#one").unwrap_err().contains("no episode"));
}
