//! Going back, forks, and decisions that the operator makes otherwise: what is typed, as commands to the engine.

use super::backstage::Ask;
use super::steer::checkpoint_named;
use super::update::{Effect, Facts};
use super::view::View;
use crate::event::{
    CheckpointId, Command, EpisodeId, LaneId, Overriding, SafeText, Schema, Seed, StepIndex, StepUnit, ToolCall, ToolSpec, Variation,
    nearest,
};
use crate::ui::lang::tr;
use serde_json::Value;

/// `:rs [STEP]`: the lane decides a step anew; without a number, the one before that under way. A recording is stepped back.
pub fn rewind(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    if facts.playback.is_some() {
        return vec![Effect::StepPlayback(StepUnit::Decision, -1)];
    }
    let Some(lane) = facts.state.lane(view.lane) else { return vec![Effect::Mistake(tr!("no episode runs yet"))] };
    let at = match argument {
        "" => lane.episode.step.0.saturating_sub(1).max(1),
        typed => match typed.parse() {
            Ok(step) => step,
            Err(_) => return vec![Effect::Mistake(tr!("`{text}` is no step; write its number", text = typed))],
        },
    };
    vec![Effect::Send(Command::Rewind { lane: view.lane, at: StepIndex(at) })]
}

/// `:rc`: back to the last place in this episode where a breakpoint held.
pub fn rewind_to_stop(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(lane) = facts.state.lane(view.lane) else { return vec![Effect::Mistake(tr!("no episode runs yet"))] };
    let held = lane.stops.iter().filter(|(episode, _)| *episode == lane.episode.episode).map(|(_, step)| *step);
    match held.filter(|step| *step < lane.episode.step).max() {
        Some(at) => vec![Effect::Send(Command::Rewind { lane: view.lane, at })],
        None => vec![Effect::Notice(tr!("no breakpoint held at an earlier step of this episode"))],
    }
}

/// `:fork [at STEP|[LANE:]EPISODE/STEP] [with checkpoint=… seed=… action='…' result='…']`.
pub fn fork(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    match fork_of(argument, view, facts) {
        Ok(command) if facts.playback.is_none() => vec![Effect::Send(command)],
        Ok(command) => from_recording(command, facts),
        Err(told) => vec![Effect::Mistake(told)],
    }
}

/// A fork of an episode of the recording that is looked at: it goes on live.
pub fn from_recording(fork: Command, facts: &Facts<'_>) -> Vec<Effect> {
    let Command::Fork { lane, episode, at, with } = fork else { return Vec::new() };
    if facts.desk.parked.is_some() {
        let told = tr!("a live run goes on behind this recording: fork from a recording that pilothouse replay opened");
        return vec![Effect::Mistake(told)];
    }
    if facts.desk.fork_asked {
        return vec![Effect::Mistake(tr!("a fork is on its way already; the console goes to it when it is there"))];
    }
    let Some(episode) = episode.or_else(|| facts.state.lane(lane).map(|l| l.episode.episode)) else {
        return vec![Effect::Mistake(tr!("no episode runs yet"))];
    };
    let recording = facts.playback.map(|p| p.name.clone()).unwrap_or_default();
    let told = tr!("playing episode {episode} again up to step {step}", episode = episode, step = at);
    vec![Effect::Notice(told), Effect::Ask(Ask::Fork { recording, lane, episode, at, with })]
}

/// Why a call can't be made with these tools; `None` when it can, or when that is for whoever carries it out to say.
pub fn objection_to_call<'a>(call: &ToolCall, mut tools: impl Iterator<Item = &'a ToolSpec> + Clone) -> Option<String> {
    let Some(tool) = tools.clone().find(|t| t.name == call.name) else {
        tools.next()?;
        let told = tr!("no tool has the name `{name}`", name = call.name);
        let near = nearest(&call.name, tools.map(|t| t.name.as_str()));
        return Some(match near {
            Some(near) => tr!("{told}; did you mean {near}?", told = told, near = near),
            None => told,
        });
    };
    let violation = Schema::of_parameters(&tool.parameters).ok()?.check(&call.arguments).err()?;
    Some(format!("{}: {violation}", call.name))
}

fn fork_of(argument: &str, view: &View, facts: &Facts<'_>) -> Result<Command, String> {
    let (place, with) = match argument.strip_prefix("with ").map(|with| ("", with)).or_else(|| argument.split_once(" with ")) {
        Some((place, with)) => (place.trim(), with),
        None => (argument.trim(), ""),
    };
    let place = place.strip_prefix("at ").unwrap_or(place).trim();
    let (lane, episode, at) = match place {
        "" => {
            let lane = facts.state.lane(view.lane).ok_or_else(|| tr!("no episode runs yet"))?;
            (view.lane, None, StepIndex(lane.episode.step.0.max(1)))
        }
        typed => {
            address(typed, view.lane).ok_or_else(|| tr!("`{text}` is no step; write 5, or 12/5 for step 5 of episode 12", text = typed))?
        }
    };
    Ok(Command::Fork { lane, episode, at, with: variation(with, facts)? })
}

/// `5`, `12/5` or `0:12/5`.
fn address(text: &str, lane: LaneId) -> Option<(LaneId, Option<EpisodeId>, StepIndex)> {
    crate::event::StepAddress::parse(text, lane).map(|a| (a.lane, a.episode, a.step))
}

/// `:override action='…' result='…'`: of the decision under way.
pub fn override_decision(argument: &str, view: &View) -> Vec<Effect> {
    let parsed = pairs(argument).and_then(|pairs| {
        let mut with = Overriding::default();
        for (name, value) in pairs {
            first_decision(&mut with, &name, &value)?;
        }
        Ok(with)
    });
    match parsed {
        Ok(with) if with.is_none() => {
            vec![Effect::Mistake(tr!("say what it is to do: action='scale(svc=pay, n=6)', result='TEXT', or both"))]
        }
        Ok(with) => vec![Effect::Send(Command::Override { lane: view.lane, with })],
        Err(told) => vec![Effect::Mistake(told)],
    }
}

fn variation(text: &str, facts: &Facts<'_>) -> Result<Variation, String> {
    let mut with = Variation::default();
    for (name, value) in pairs(text)? {
        match name.as_str() {
            // What a recorded run could serve says nothing of what can serve here.
            "checkpoint" if facts.playback.is_some() => with.checkpoint = Some(CheckpointId(value)),
            "checkpoint" => with.checkpoint = Some(checkpoint_named(&value, facts)?),
            "seed" => {
                let seed = value.parse().map_err(|_| tr!("`{argument}` is no seed; write a whole number", argument = value))?;
                with.seed = Some(Seed(seed));
            }
            _ => first_decision(&mut with.first, &name, &value)?,
        }
    }
    Ok(with)
}

fn first_decision(with: &mut Overriding, name: &str, value: &str) -> Result<(), String> {
    match name {
        "action" => with.action = Some(call(value)?),
        "result" => with.result = Some(SafeText::new(value)),
        _ => return Err(tr!("`{name}` is nothing that can be changed; there are checkpoint, seed, action, result", name = name)),
    }
    Ok(())
}

/// `name=value name='several words'`; a quote ends where it began.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let missing = || tr!("write name=value, or name='several words', not `{text}`", text = super::patches::quoted(text));
        let (name, after) = rest.split_once('=').ok_or_else(missing)?;
        let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let (value, behind) = match quote {
            Some(quote) => after[1..].split_once(quote).ok_or_else(missing)?,
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        if quote.is_some() && !behind.is_empty() && !behind.starts_with(' ') {
            return Err(missing());
        }
        pairs.push((name.trim().to_owned(), value.to_owned()));
        rest = behind.trim_start();
    }
    Ok(pairs)
}

/// A call as the chain shows it, `scale(svc=pay, n=6)`, or as the agent writes it, `{"tool":"scale","svc":"pay","n":6}`.
fn call(text: &str) -> Result<ToolCall, String> {
    let wrong = || tr!("`{text}` is no call; write it as the chain shows it: scale(svc=pay, n=6)", text = super::patches::quoted(text));
    if text.trim_start().starts_with('{') {
        let Ok(Value::Object(mut fields)) = serde_json::from_str(text) else { return Err(wrong()) };
        let Some(Value::String(name)) = fields.remove("tool") else { return Err(wrong()) };
        return Ok(ToolCall { name, arguments: fields });
    }
    let (name, arguments) = text.trim().strip_suffix(')').and_then(|t| t.split_once('(')).ok_or_else(wrong)?;
    let mut call = ToolCall::new(name.trim());
    for argument in arguments.split(',').map(str::trim).filter(|a| !a.is_empty()) {
        let (key, value) = argument.split_once('=').ok_or_else(wrong)?;
        // What is no number, truth value or quoted text is text.
        let value = serde_json::from_str(value.trim()).unwrap_or_else(|_| Value::String(value.trim().to_owned()));
        call.arguments.insert(key.trim().to_owned(), value);
    }
    Ok(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_as_the_chain_shows_them_and_as_the_agent_writes_them() {
        let wanted = ToolCall::new("scale").with("svc", "pay").with("n", 6);
        assert_eq!(call("scale(svc=pay, n=6)").as_ref(), Ok(&wanted));
        assert_eq!(call(&wanted.display()).as_ref(), Ok(&wanted));
        assert_eq!(call(r#"{"tool":"scale","svc":"pay","n":6}"#).as_ref(), Ok(&wanted));
        assert_eq!(call("wait()"), Ok(ToolCall::new("wait")));
        for wrong in ["scale", "scale(pay)", "{}", "{\"tool\":3}", ""] {
            assert!(call(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_may_hold_spaces_in_quotes() {
        let read = pairs("seed=7  result='logs(pay): it''s fine' action=\"wait()\"");
        assert!(read.is_err(), "a quote in a quote: {read:?}");
        let read = pairs("seed=7  result='logs(pay): exit 137' action=\"wait()\"").unwrap();
        let read: Vec<(&str, &str)> = read.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(read, [("seed", "7"), ("result", "logs(pay): exit 137"), ("action", "wait()")]);
        assert!(pairs("result='open").is_err() && pairs("seed").is_err());
    }

    #[test]
    fn places_are_steps_or_addresses() {
        let lane = LaneId(2);
        assert_eq!(address("5", lane), Some((lane, None, StepIndex(5))));
        assert_eq!(address("12/5", lane), Some((lane, Some(EpisodeId(12)), StepIndex(5))));
        assert_eq!(address("0:12/5", lane), Some((LaneId(0), Some(EpisodeId(12)), StepIndex(5))));
        assert!(["", "x", "1/", "a:1/2", "1/2/3"].iter().all(|text| address(text, lane).is_none()));
    }
}
