//! What a condition costs an event: `cargo bench --bench cond`. Each is asked of all events of a recording, whatever their kind.

use pilothouse::cond::Condition;
use pilothouse::event::{Envelope, Seq};
use pilothouse::journal::Recording;
use pilothouse::state::DashState;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const REPETITIONS: usize = 9;
/// Times that the recording is gone through in one repetition.
const ROUNDS: usize = 200;

/// Simple ones first; presets as they are typed.
const CONDITIONS: [&str; 9] = [
    "reward < 0.0",
    "kind == 'ToolCallFinished'",
    "phase == 'observe' && step == 3 && lane == 0",
    "tool-error",
    "same-action-3",
    "tool.name == 'scale' && reward < 0.0",
    "obs['pay.p95'] > 400.0",
    "run.successes > 3",
    "d.reward < 0.0",
];

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/shift.jsonl");
    let mut recording = Recording::open(&path).expect("a golden recording");
    let mut state = DashState::default();
    let mut events: Vec<Arc<Envelope>> = Vec::new();
    for event in recording.events_from(Seq(1)).expect("it is whole") {
        let event = event.expect("it is whole");
        state.apply(&event).expect("it is dense");
        events.push(event);
    }
    println!("{} events, {ROUNDS} rounds a repetition, {REPETITIONS} repetitions", events.len());
    for source in CONDITIONS {
        let condition = Condition::parse(source).expect("it compiles");
        let mut costs: Vec<f64> = (0..REPETITIONS).map(|_| micros_an_event(&condition, &events, &state)).collect();
        costs.sort_by(f64::total_cmp);
        println!("{source:<48} {:>6.2} us an event  ({:.2} to {:.2})", costs[REPETITIONS / 2], costs[0], costs[REPETITIONS - 1]);
    }
}

fn micros_an_event(condition: &Condition, events: &[Arc<Envelope>], state: &DashState) -> f64 {
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        for event in events {
            black_box(condition.matches(event, state));
        }
    }
    begin.elapsed().as_secs_f64() * 1e6 / (ROUNDS * events.len()) as f64
}
