//! What is done with input of somebody who means harm. The fuzz targets and the tests run the same functions: they return, whatever the
//! bytes are.

use pilothouse::cond::{Condition, Expression, Fact, Filter};
use pilothouse::event::{Envelope, Seq, StepUnit};
use pilothouse::journal::{Glance, Integrity, Recording, files_of, seal};
use pilothouse::state::DashState;
use std::path::Path;

const UNITS: [StepUnit; 4] = [StepUnit::Token, StepUnit::Phase, StepUnit::Decision, StepUnit::Episode];
/// Events that are asked of one recording: a line may say that it stands for all that can be numbered.
const EVENTS_MAX: usize = 4096;

/// Opens `bytes` as a recording in every way, reads, seeks, and seals it. `dir` is empty before and afterwards.
pub fn recording(dir: &Path, bytes: &[u8]) {
    let path = dir.join("a.jsonl");
    std::fs::write(&path, bytes).unwrap();
    let _ = Glance::at(&path);
    let whole = Recording::open(&path).map(|recording| asked(recording, bytes.len()));
    let late = Recording::open_above(&path, 0).map(|recording| asked(recording, bytes.len()));
    match (whole, late) {
        (Ok(whole), Ok(late)) => assert_eq!(whole, late, "opened by its end it says something else"),
        (Err(error), _) | (_, Err(error)) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(integrity) = Integrity::check(&path) {
        assert_eq!(integrity.lines().is_empty(), integrity.is_intact());
    }
    if let Ok(sealed) = seal(&path) {
        assert!(Recording::open(&sealed.path).unwrap().integrity().damage.is_empty());
    }
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        files_of(&path).iter().for_each(|file| drop(std::fs::remove_file(file)));
    }
}

/// What it says of itself when all was read.
fn asked(mut recording: Recording, salt: usize) -> (Seq, Vec<String>) {
    let end = recording.end().0;
    for part in 1..4 {
        let at = Seq((end / 4).saturating_mul(part) + salt as u64 % 7);
        let events = recording.events_from(at).unwrap().take(EVENTS_MAX);
        events.for_each(|event| drop(event.unwrap()));
        if let Ok(state) = recording.state_at(at) {
            assert!(state.seq <= at.min(recording.end()));
        }
        let place = recording.boundary(UNITS[salt % UNITS.len()], at, [-3, -1, 1, 2][salt / 5 % 4]);
        assert!(place.unwrap() <= recording.end());
    }
    recording.read_out().unwrap();
    (recording.end(), recording.integrity().lines())
}

/// Compiles `text` as a condition, an expression and a filter, and asks each of some events.
pub fn condition(text: &str, events: &[Envelope]) {
    let named = |error: &str| assert!(!error.is_empty() && error.len() < 64 * 1024, "{} bytes of error", error.len());
    // What is typed for a breakpoint may be a preset, and is a condition else.
    let (condition, expression) = (Condition::parse(text), Expression::compile(text));
    let state = DashState::default();
    for envelope in events {
        if let Ok(condition) = &condition {
            condition.matches(envelope, &state);
        }
        if let Ok(expression) = &expression {
            expression.value(envelope, &state);
        }
    }
    condition.err().iter().for_each(|e| named(&e.to_string()));
    expression.err().iter().for_each(|e| named(&e.to_string()));
    match Filter::compile(text, &["name", "events", "seconds", "ended"]) {
        Ok(filter) => {
            filter.matches([("name", Fact::Text("a".into())), ("events", Fact::Count(7)), ("ended", Fact::Flag(true))]);
            filter.matches([("seconds", Fact::Number(f64::NAN)), ("events", Fact::Count(i64::MIN))]);
        }
        Err(error) => named(&error.to_string()),
    }
}

/// Events of which a condition may be asked.
pub fn events() -> Vec<Envelope> {
    let lines = include_str!("../../recordings/failure.jsonl").lines();
    lines.filter_map(|line| Envelope::from_json(line).ok()).step_by(7).collect()
}
