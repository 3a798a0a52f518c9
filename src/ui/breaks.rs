//! Breakpoints, as they are typed: those of a live run are asked of the engine, those of a recording are stops of this seat.

use super::stops::{self, Kind, StopEffect, What};
use super::update::{Effect, Facts};
use super::view::View;
use super::widgets::format;
use crate::event::{Breakpoint, Command, LaneId, PRESETS, Seq, StepIndex};
use crate::state::BreakpointRow;
use crate::ui::lang::tr;

/// `:break CONDITION [with once log ignore=N]`; `:tbreak` is the same with `once`.
pub fn set(name: &str, text: &str, once: bool) -> Vec<Effect> {
    if text.is_empty() {
        return vec![Effect::OpenCommand(format!("{name} "))];
    }
    // No expression: `fields` is no name.
    if text == "fields" {
        return vec![Effect::TellFields];
    }
    match parse(text) {
        Ok(typed) => {
            let breakpoint = Breakpoint { once: once || typed.once, ..typed };
            vec![Effect::Stops(StopEffect::Set(Kind::Break, What::Condition(breakpoint)))]
        }
        Err(told) => vec![Effect::Mistake(told)],
    }
}

/// `:cond N CONDITION [with …]`.
pub fn change(argument: &str) -> Vec<Effect> {
    let typed = argument.split_once(' ').and_then(|(number, rest)| Some((number_of(number)?, rest.trim())));
    match typed {
        None => vec![Effect::Mistake(tr!("write the number of a breakpoint and its new condition: :cond 1 reward < 0.0"))],
        Some((number, text)) => match parse(text) {
            Ok(breakpoint) => vec![Effect::Stops(StopEffect::Change(number, breakpoint))],
            Err(told) => vec![Effect::Mistake(told)],
        },
    }
}

fn number_of(text: &str) -> Option<u32> {
    text.trim_start_matches("bp").parse().ok()
}

/// What stands behind the last ` with ` is options, if it begins like one.
fn parse(text: &str) -> Result<Breakpoint, String> {
    let plain = Breakpoint::new(text.trim());
    let Some((when, options)) = text.rsplit_once(" with ") else { return Ok(plain) };
    let is_option = |word: &str| word == "once" || word == "log" || word.starts_with("ignore");
    if !options.split_whitespace().next().is_some_and(is_option) {
        return Ok(plain);
    }
    let mut breakpoint = Breakpoint::new(when.trim());
    for word in options.split_whitespace() {
        match (word, word.strip_prefix("ignore=").map(str::parse)) {
            ("once", _) => breakpoint.once = true,
            ("log", _) => breakpoint.log = true,
            (_, Some(Ok(ignore))) => breakpoint.ignore = ignore,
            (_, Some(Err(_)) | None) => return Err(tr!("`{text}` is no option; there are once, log, ignore=N", text = word)),
        }
    }
    Ok(breakpoint)
}

/// A breakpoint at the step of the cursor or the playhead; away, where one is.
pub fn here(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(seq) = super::panes::replay::place(view, facts.state, facts.desk, facts.playback) else {
        return vec![Effect::Notice(tr!("there is no step yet to stop at"))];
    };
    if facts.playback.is_some() {
        return here_in_recording(seq, view, facts);
    }
    let Some(lane) = facts.state.lane(view.lane) else { return vec![Effect::Notice(tr!("there is no step yet to stop at"))] };
    let step = super::panes::chain::cursor_row(view, facts.state).map_or(lane.episode.step, |r| r.step);
    let breakpoint = at_step(view.lane, step);
    let same = facts.state.breakpoints.iter().find(|(_, row)| row.breakpoint.when == breakpoint.when);
    vec![match same {
        Some((number, _)) => Effect::Send(Command::Unbreak { number: Some(*number) }),
        None => Effect::Stops(StopEffect::Set(Kind::Break, What::Condition(breakpoint))),
    }]
}

/// Where this step begins, in whichever episode of the lane is next to come there.
fn at_step(lane: LaneId, step: StepIndex) -> Breakpoint {
    Breakpoint::new(&format!("phase == 'observe' && step == {step} && lane == {lane}"))
}

fn here_in_recording(seq: Seq, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let track = facts.desk.replay.track.as_ref().filter(|t| t.lane == view.lane);
    let beat = track.and_then(|t| t.beat_at(seq).map(|i| (t.episode, t.beats[i].clone())));
    let is_here = |at: Seq| beat.as_ref().map_or(at == seq, |(_, b)| (b.first..=b.last).contains(&at));
    if let Some(stop) = facts.desk.stops.breaks().find(|s| s.at.is_some_and(|(lane, at)| lane == view.lane && is_here(at))) {
        return vec![Effect::Stops(StopEffect::Delete(Some(stop.number)))];
    }
    let address = match &beat {
        Some((episode, beat)) if is_here(seq) && view.lane != LaneId(0) => format!("{}:{episode}/{} @{seq}", view.lane, beat.step),
        Some((episode, beat)) if is_here(seq) => format!("{episode}/{} @{seq}", beat.step),
        Some(_) | None => format!("@{seq}"),
    };
    vec![Effect::Stops(StopEffect::Set(Kind::Break, What::At(view.lane, seq, address)))]
}

/// `:breakpoints [clear|delete N|presets]`.
pub fn list(argument: &str, lane: LaneId, facts: &Facts<'_>) -> Vec<Effect> {
    let mut words = argument.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => vec![Effect::Tell(tr!("Breakpoints"), listed(facts, lane))],
        (Some("clear"), None) => vec![Effect::Stops(StopEffect::Delete(None))],
        (Some("presets"), None) => {
            vec![Effect::Tell(tr!("Presets of :break"), PRESETS.iter().map(|p| format!(":break {p}")).collect())]
        }
        (Some("delete"), Some(number)) => match number_of(number) {
            Some(number) => vec![Effect::Stops(StopEffect::Delete(Some(number)))],
            None => vec![Effect::Notice(tr!("`{number}` is no number of a breakpoint", number = number))],
        },
        (Some(_), _) => vec![Effect::Notice(tr!("write :breakpoints, or clear, delete N, presets behind it"))],
    }
}

fn listed(facts: &Facts<'_>, lane: LaneId) -> Vec<String> {
    let of_run = facts.state.breakpoints.iter().filter(|_| facts.playback.is_none());
    let mut lines: Vec<String> = of_run.map(|(number, row)| line(*number, row)).collect();
    lines.extend(facts.desk.stops.all.iter().map(|stop| stops::line(stop, lane, facts)));
    if lines.is_empty() {
        lines.push(tr!("none is set; b sets one here, :break one with a condition"));
    }
    lines.push(tr!(":cond N CONDITION changes one, :breakpoints delete N takes one away"));
    lines
}

/// One of a live run.
fn line(number: u32, row: &BreakpointRow) -> String {
    let held = match &row.last {
        None => tr!("hit 0 times"),
        Some(last) => tr!("hit {times}, last at event {last}", times = format::counted(row.hits, "time"), last = last),
    };
    format!("bp{number}  {}  {held}", row.breakpoint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_behind_with_and_a_text_may_hold_the_word() {
        let read = |text: &str| parse(text).map(|b| b.to_string());
        assert_eq!(read("reward < 0.0").as_deref(), Ok("reward < 0.0"));
        assert_eq!(read("reward < 0.0 with log ignore=3").as_deref(), Ok("reward < 0.0 with log ignore=3"));
        assert_eq!(read("text == 'dealt with it'"), Ok("text == 'dealt with it'".into()));
        assert_eq!(parse("text == 'x with y' with once").unwrap().when.as_str(), "text == 'x with y'");
        assert!(read("reward < 0.0 with ignore=x").is_err() && read("reward < 0.0 with once twice").is_err());
        assert!(matches!(&change("bp2 step == 3")[..], [Effect::Stops(StopEffect::Change(2, b))] if b.when.as_str() == "step == 3"));
        assert!(matches!(&change("step == 3")[..], [Effect::Mistake(_)]));
    }
}
