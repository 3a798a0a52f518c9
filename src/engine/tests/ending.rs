//! The end of a run, with somebody who still has something to tell.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn line(text: &str) -> LogLine {
    LogLine { level: LogLevel::Info, target: "test".into(), text: text.into() }
}

#[test]
fn what_others_still_tell_comes_before_the_last_event() {
    let mut rig = Rig::new(heuristic());
    rig.turns(20);
    let (words, speaker) = last_words();
    rig.engine.hear_at_the_end(words);
    let sender = rig.sender.clone();
    let thread = std::thread::spawn(move || {
        assert!(speaker.is_asked_within(Duration::from_secs(60)), "it is never asked");
        sender.send(Command::Pause).unwrap();
        sender.fact(line("told at the end")).unwrap();
    });
    rig.sender.send(Command::Shutdown).unwrap();
    rig.until_state(RunState::Ended);
    thread.join().unwrap();
    let is_told = |e: &Arc<Envelope>| matches!(&e.event, Event::LogLine(l) if l.text.as_str() == "told at the end");
    let told = rig.events.iter().position(is_told).unwrap();
    let aborted = rig.events.iter().rposition(|e| matches!(&e.event, Event::EpisodeEnded(_))).unwrap();
    assert!(aborted < told, "whoever speaks has seen what the end did");
    assert!(matches!(&rig.events.last().unwrap().event, Event::RunStateChanged(c) if c.state == RunState::Ended));
    assert!(matches!(&rig.events[told - 1].event, Event::CommandRejected(r) if r.reason.as_str() == "the run is ending"));
}

#[test]
fn who_says_nothing_is_not_waited_for_for_ever() {
    let mut rig = Rig::new(heuristic());
    let (words, speaker) = last_words();
    rig.engine.hear_at_the_end(words);
    let (clock, is_over) = (rig.clock.clone(), Arc::new(AtomicBool::new(false)));
    let over = is_over.clone();
    let time = std::thread::spawn(move || {
        while !over.load(Ordering::SeqCst) {
            clock.advance(50_000_000);
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    rig.sender.send(Command::Shutdown).unwrap();
    rig.until_state(RunState::Ended);
    is_over.store(true, Ordering::SeqCst);
    time.join().unwrap();
    assert!(speaker.is_asked_within(Duration::ZERO));
}
