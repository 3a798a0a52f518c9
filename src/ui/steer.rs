//! What steers the run, or the playback of a recording: pause, step, pace, seed, swap.

use super::panes::checkpoints::known;
use super::update::{Confirm, Effect, Facts};
use super::view::{PlaybackView, View};
use crate::event::{CheckpointId, Command, Pace, RunState, Seed, Seq, StepUnit};
use crate::ui::lang::tr;

/// Pauses what runs, resumes what does not.
pub fn toggle(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match (facts.playback, facts.state.run_state) {
        (Some(p), _) if p.playing => vec![Effect::Play(false)],
        (Some(p), _) => play(view, p),
        (None, RunState::Running | RunState::Stepping) => vec![Effect::Send(Command::Pause)],
        (None, RunState::Starting | RunState::Paused | RunState::Ended) => vec![Effect::Send(Command::Resume)],
    }
}

pub fn pause(facts: &Facts<'_>) -> Vec<Effect> {
    vec![facts.playback.map_or(Effect::Send(Command::Pause), |_| Effect::Play(false))]
}

pub fn resume(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    facts.playback.map_or_else(|| vec![Effect::Send(Command::Resume)], |p| play(view, p))
}

/// One unit further.
pub fn step(unit: StepUnit, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    match facts.playback {
        Some(_) => vec![Effect::StepPlayback(unit, 1)],
        None => vec![Effect::Send(Command::Step { lane: view.lane, unit, count: 1 })],
    }
}

/// The pace that run or playback has.
fn told(facts: &Facts<'_>) -> Pace {
    facts.playback.map_or(facts.state.pace.unwrap_or(Pace::Times(1.0)), |p| p.speed)
}

/// Slower or faster.
pub fn change_pace(change: impl Fn(Pace) -> Pace, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let told = told(facts);
    // Until the engine has answered, the pace that was asked for last counts: `)))` is three steps.
    let current = view.pace_asked.filter(|(_, before)| *before == told).map_or(told, |(asked, _)| asked);
    ask_pace(change(current), view, facts)
}

/// The pace that was typed.
pub fn set_pace(argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match argument.parse() {
        Ok(asked) => ask_pace(asked, view, facts),
        // The words of the parser are those of the command line.
        Err(_) => {
            let text = super::patches::quoted(argument);
            vec![Effect::Mistake(tr!("`{text}` is not a pace; write max or a factor from 0.1 to 1000, such as 2 or x2", text = text))]
        }
    }
}

fn ask_pace(pace: Pace, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.pace_asked = Some((pace, told(facts)));
    match facts.playback {
        Some(_) => vec![Effect::SetSpeed(pace)],
        None => vec![Effect::Send(Command::SetPace(pace))],
    }
}

/// Begins anew from a seed, after it was typed.
pub fn seed(argument: &str, facts: &Facts<'_>) -> Vec<Effect> {
    match argument.parse::<u64>() {
        Ok(seed) => vec![Effect::Confirm(Confirm {
            verb: "seed",
            name: argument.to_owned(),
            others: Vec::new(),
            what: tr!("ends {episodes} under way and begins anew from seed {seed}", episodes = running(facts), seed = seed),
            command: Command::Reseed { seed: Seed(seed) },
        })],
        Err(_) => vec![Effect::Mistake(tr!("`{argument}` is no seed; write a whole number", argument = argument))],
    }
}

/// Plays on; at the end, from the beginning again.
fn play(view: &mut View, playback: &PlaybackView) -> Vec<Effect> {
    if playback.end == Seq(0) {
        return vec![Effect::Notice(tr!("the recording holds no events"))];
    }
    if playback.head < playback.end {
        return vec![Effect::Play(true)];
    }
    view.place = None;
    vec![Effect::Seek(Seq(0)), Effect::Play(true), Effect::Notice(tr!("from the beginning again"))]
}

/// The checkpoint of that name, or of the end of it behind a `-`.
pub fn checkpoint_named(text: &str, facts: &Facts<'_>) -> Result<CheckpointId, String> {
    let suffix = format!("-{text}");
    let mut known = facts.state.checkpoints.iter().map(|c| &c.checkpoint);
    known.find(|c| c.0 == text || c.0.ends_with(&suffix)).cloned().ok_or_else(|| {
        let names: Vec<&str> = facts.state.checkpoints.iter().map(|c| c.checkpoint.0.as_str()).collect();
        tr!("no checkpoint is named {argument}; there are {names}", argument = text, names = names.join(", "))
    })
}

/// Serves another checkpoint, after its name was typed.
pub fn swap(argument: &str, facts: &Facts<'_>) -> Vec<Effect> {
    let names: Vec<String> = facts.state.checkpoints.iter().map(|c| c.checkpoint.0.clone()).collect();
    if argument.is_empty() {
        return vec![Effect::Mistake(tr!("swap needs a checkpoint: {names}", names = names.join(", ")))];
    }
    let name = match checkpoint_named(argument, facts) {
        Ok(found) => found.0,
        Err(told) => return vec![Effect::Mistake(told)],
    };
    if facts.state.serving.as_ref().is_some_and(|serving| serving.0 == name) {
        return vec![Effect::Mistake(tr!("{name} serves already", name = name))];
    }
    let from = facts.state.serving.as_ref().map_or("n/a", |c| c.0.as_str());
    let change = tr!("{from} -> {name}, on all lanes, from the next decision on", from = from, name = name);
    let id = CheckpointId::from(name.as_str());
    vec![Effect::Confirm(Confirm {
        verb: "swap",
        what: std::iter::once(change).chain(known(&id, facts)).collect::<Vec<_>>().join("\n"),
        others: names.into_iter().filter(|n| *n != name).collect(),
        command: Command::Swap { checkpoint: id },
        name,
    })]
}

/// The episodes that run, in words.
fn running(facts: &Facts<'_>) -> String {
    match facts.state.lanes.values().filter(|lane| lane.episode.ended.is_none()).count() {
        1 => tr!("the episode"),
        count => tr!("{n} episodes", n = count),
    }
}
