//! The end of a run: what other threads still have to tell comes before its last event.

use super::crank::Engine;
use crate::event::{CommandRejected, Input, LastWords, SafeText};
use std::time::Duration;

/// A thread that has not said its last words by then is waited for no longer.
const LAST_WORDS_NS_MAX: u64 = 2_500_000_000;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Inputs that are still taken once all has been said.
const LEFT_MAX: usize = 4_096;

impl Engine {
    /// Who is to be asked for last words when the run ends.
    pub fn hear_at_the_end(&mut self, last_words: LastWords) {
        self.last_words = Some(last_words);
    }

    pub(super) fn hear_last_words(&mut self) {
        let Some(last_words) = self.last_words.take() else { return };
        last_words.ask();
        let until_ns = self.journal.now_ns().saturating_add(LAST_WORDS_NS_MAX);
        while !last_words.are_said() && self.journal.now_ns() < until_ns {
            if let Some(input) = self.inbox.wait(LOOK_EVERY) {
                self.last_input(input);
            }
        }
        for _ in 0..LEFT_MAX {
            let Some(input) = self.inbox.try_next() else { break };
            self.last_input(input);
        }
    }

    fn last_input(&mut self, input: Input) {
        match input {
            Input::Fact(event) => {
                self.silences.note(&event);
                self.append(*event);
            }
            Input::Request(request) => {
                if self.control.is_new(request.id) {
                    let reason = SafeText::new("the run is ending");
                    self.append(CommandRejected { id: request.id, command: request.command, origin: request.origin, reason });
                }
            }
            Input::PolicyLoaded => {}
        }
    }
}
