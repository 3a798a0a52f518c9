//! What keys make of a form, and what it says is wrong.

use super::testing::{form, state};
use super::*;
use crate::event::{Command, Route, Seq};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

fn press(form: &mut Form, codes: &[KeyCode]) {
    for code in codes {
        form.key(&KeyEvent::new(*code, KeyModifiers::NONE));
    }
}

fn write(form: &mut Form, text: &str) {
    text.chars().for_each(|c| press(form, &[KeyCode::Char(c)]));
}

fn problems(form: &Form) -> Vec<String> {
    form.rows().into_iter().filter_map(|row| Some(format!("{}: {}", row.name, row.problem?))).collect()
}

fn clear(form: &mut Form) {
    form.key(&KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
}

fn sent(form: &Form) -> Result<Command, String> {
    form.command(&state(""))
}

#[test]
fn what_is_changed_is_sent_and_what_is_not_is_not() {
    let mut form = form();
    assert!(sent(&form).unwrap_err().contains("nothing is changed"));
    press(&mut form, &[KeyCode::Tab, KeyCode::Tab, KeyCode::Backspace]);
    write(&mut form, "9");
    let call = ToolCall::new("scale").with("svc", "pay").with("n", 9);
    let with = Overriding { action: Some(call), result: None };
    assert_eq!(sent(&form), Ok(Command::Override { lane: LaneId(0), with }));
    // Back to what was said: only the result counts.
    press(&mut form, &[KeyCode::Backspace, KeyCode::Char('6'), KeyCode::Tab, KeyCode::Tab]);
    write(&mut form, "quota");
    let with = Overriding { action: None, result: Some("quota".into()) };
    assert_eq!(sent(&form), Ok(Command::Override { lane: LaneId(0), with }));
}

#[test]
fn what_is_wrong_is_told_while_it_is_typed() {
    let mut form = form();
    press(&mut form, &[KeyCode::Tab, KeyCode::Backspace]);
    assert_eq!(problems(&form), ["svc: `pa` is not one of the choices; did you mean `pay`?"]);
    clear(&mut form);
    assert_eq!(problems(&form), ["svc: it is required and missing"]);
    press(&mut form, &[KeyCode::Tab]);
    write(&mut form, "0");
    assert_eq!(problems(&form), ["svc: it is required and missing", "n: `60` is out of range; give 1 to 12"]);
    clear(&mut form);
    write(&mut form, "six");
    assert_eq!(problems(&form)[1], "n: a whole number is needed, not `six`");
    assert!(sent(&form).unwrap_err().starts_with("svc: "));
    press(&mut form, &[KeyCode::Tab]);
    write(&mut form, "yes");
    assert_eq!(problems(&form)[2], "dry: true or false is needed, not `yes`");
    form.show_problem();
    assert_eq!(form.slot(), Slot::Argument(0));
}

#[test]
fn choices_are_gone_through_and_another_tool_has_other_fields() {
    let mut form = form();
    press(&mut form, &[KeyCode::Tab, KeyCode::Down]);
    assert_eq!(form.call().unwrap().arguments["svc"], "checkout");
    press(&mut form, &[KeyCode::Up, KeyCode::BackTab, KeyCode::Down]);
    assert_eq!((form.call(), form.slots().len()), (Some(ToolCall::new("wait")), 2));
    // What was typed comes back with the tool that takes it.
    press(&mut form, &[KeyCode::Down]);
    assert_eq!(form.call(), Some(ToolCall::new("scale").with("svc", "pay").with("n", 6)));
    clear(&mut form);
    assert_eq!((form.call(), problems(&form).len()), (None, 0));
    write(&mut form, "scael");
    assert_eq!(problems(&form), ["tool: no tool has this name; did you mean scale?"]);
    // Backspace in an empty field closes nothing.
    clear(&mut form);
    assert_eq!(form.key(&KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE)), FormEdit::More);
}

#[test]
fn a_decision_that_went_on_is_not_overridden() {
    let mut form = form();
    press(&mut form, &[KeyCode::Tab, KeyCode::Down]);
    let mut later = state("");
    assert!(form.command(&later).is_ok());
    later.lanes.get_mut(&LaneId(0)).unwrap().episode.step = StepIndex(6);
    assert!(form.command(&later).unwrap_err().contains("went on"));
    later = state("");
    later.lanes.get_mut(&LaneId(0)).unwrap().phase = Some(Phase::Settle);
    assert!(form.command(&later).unwrap_err().contains("went on"));
    let next = Form::of_pending(LaneId(0), &later, Vec::new()).unwrap();
    assert_eq!((next.purpose.place().2, next.call()), (StepIndex(6), None), "the one behind it is to be made next");
    let call = ToolCall::new("wait");
    let row = RowKind::Action { call, route: Route::Tool, outcome: None, reward: None };
    let lane = later.lanes.get_mut(&LaneId(0)).unwrap();
    lane.phase = Some(Phase::Act);
    let (episode, step) = (lane.episode.episode, lane.episode.step);
    lane.transcript.push(Row { seq: Seq(99), t_ns: 0, episode, step, kind: row });
    assert!(Form::of_pending(LaneId(0), &later, Vec::new()).unwrap_err().contains(":rs"));
    assert!(Form::of_pending(LaneId(7), &later, Vec::new()).is_err());
}

#[test]
fn a_message_is_read_as_far_as_it_is_said() {
    let whole = ToolCall::new("scale").with("svc", "pay").with("n", 6);
    let message = "<think>it is <act> slow<act>{\"tool\":\"scale\",\"svc\":\"pay\",\"n\":6}<end>";
    let read = |upto: usize| call_so_far(&message[..upto]);
    assert_eq!(read(message.len()), Some(whole.clone()));
    assert_eq!(read(message.len() - 6), Some(whole.clone()));
    assert_eq!(read(message.find(":6}").unwrap()), Some(ToolCall::new("scale").with("svc", "pay")));
    assert_eq!(read(message.find("ay\"").unwrap()), Some(ToolCall::new("scale")));
    assert_eq!(read(message.find("cale\"").unwrap()), None);
    for upto in 0..message.len() {
        let _ = read(upto);
    }
    assert_eq!(call_so_far("<act>{\"tool\":7}"), None);
    assert_eq!(call_so_far("<act>[]<end>"), None);
}

#[test]
fn a_fork_takes_checkpoint_and_seed_and_may_change_nothing() {
    let mut state = state("");
    state.checkpoints = vec![crate::event::CheckpointListed {
        checkpoint: "deckhand-early".into(),
        sha256: "0".into(),
        training_step: 1,
        note: SafeText::default(),
    }];
    let row = |kind| Row { seq: Seq(9), t_ns: 0, episode: EpisodeId(2), step: StepIndex(4), kind };
    let call = ToolCall::new("scale").with("svc", "pay");
    let action = row(RowKind::Action { call: call.clone(), route: Route::Tool, outcome: None, reward: None });
    let seen = row(RowKind::Note { text: "x".into() });
    let mut form = Form::of_fork(LaneId(0), &seen, &[&seen, &action], &state, Vec::new());
    assert_eq!(form.call(), Some(call));
    let fork = |with| Command::Fork { lane: LaneId(0), episode: Some(EpisodeId(2)), at: StepIndex(4), with };
    assert_eq!(form.command(&state), Ok(fork(Variation::default())));
    press(&mut form, &[KeyCode::BackTab, KeyCode::Char('x')]);
    assert_eq!(problems(&form), ["seed: a whole number is needed"]);
    press(&mut form, &[KeyCode::Backspace, KeyCode::Char('7'), KeyCode::BackTab]);
    write(&mut form, "early");
    let with = Variation { checkpoint: Some("deckhand-early".into()), seed: Some(Seed(7)), first: Overriding::default() };
    assert_eq!(form.command(&state), Ok(fork(with)));
    write(&mut form, "x");
    assert!(form.command(&state).is_err());
}

#[test]
fn hostile_names_and_values_stay_what_they_are() {
    let text = "\u{1b}[2J\u{202e}";
    let parameters = serde_json::json!({"type": "object", "properties": {text: {"enum": [text, 7, {"a": text}]}}});
    let own = ToolSpec { name: text.into(), description: text.into(), parameters, mutates: false };
    let mut form = Form::of_pending(LaneId(0), &state(""), vec![own]).unwrap();
    press(&mut form, &[KeyCode::Down, KeyCode::Tab]);
    for value in [serde_json::json!(text), 7.into(), serde_json::json!({"a": text})] {
        press(&mut form, &[KeyCode::Down]);
        assert_eq!(problems(&form), Vec::<String>::new());
        assert_eq!(form.call(), Some(ToolCall::new(text).with(text, value)));
    }
}
