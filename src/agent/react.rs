//! The ReAct loop (Yao et al. 2022) of one lane as a pure state machine: inputs in, effects out. The engine carries the effects out.

use super::format::{FormatError, Parsed, parse_message, thought_of};
use crate::event::{Phase, SafeText};

/// What the driver tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<'a> {
    /// A decision begins: the observation was taken up.
    Observed,
    /// A piece of the message.
    Piece(&'a str),
    /// The message is whole, or was ended.
    Said,
    /// The call was made, or the words were taken.
    Acted,
    /// Reward and memory are done.
    Settled,
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the policy for the next piece.
    Decode,
    /// Take this to the environment.
    Act(Intention),
    /// Count the reward, remember the step.
    Settle,
    /// Begin the next decision.
    Observe,
}

/// What a message asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Intention {
    Call(Parsed),
    /// No valid call: the words go to the environment as they are.
    Words {
        text: SafeText,
        thought: SafeText,
        error: FormatError,
    },
}

/// An input that does not fit the phase: a fault of the driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{input} does not belong into the phase {phase:?}")]
pub struct OutOfPhase {
    pub phase: Phase,
    pub input: &'static str,
}

/// One lane's place in the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct React {
    phase: Phase,
    message: String,
}

impl Default for React {
    fn default() -> Self {
        Self { phase: Phase::Observe, message: String::new() }
    }
}

impl React {
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The message so far, marks included.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn on(&mut self, input: Input<'_>) -> Result<Effect, OutOfPhase> {
        match (self.phase, input) {
            (Phase::Observe, Input::Observed) => {
                self.message.clear();
                self.phase = Phase::Think;
                Ok(Effect::Decode)
            }
            (Phase::Think, Input::Piece(text)) => {
                self.message.push_str(text);
                Ok(Effect::Decode)
            }
            (Phase::Think, Input::Said) => {
                self.phase = Phase::Act;
                Ok(Effect::Act(self.intention()))
            }
            (Phase::Act, Input::Acted) => {
                self.phase = Phase::Settle;
                Ok(Effect::Settle)
            }
            (Phase::Settle, Input::Settled) => {
                self.phase = Phase::Observe;
                Ok(Effect::Observe)
            }
            (phase, input) => Err(OutOfPhase { phase, input: input.name() }),
        }
    }

    fn intention(&self) -> Intention {
        match parse_message(&self.message) {
            Ok(parsed) => Intention::Call(parsed),
            Err(error) => Intention::Words { text: SafeText::new(&self.message), thought: thought_of(&self.message), error },
        }
    }
}

impl Input<'_> {
    fn name(&self) -> &'static str {
        match self {
            Input::Observed => "an observation",
            Input::Piece(_) => "a piece of a message",
            Input::Said => "the end of a message",
            Input::Acted => "the end of a call",
            Input::Settled => "the end of a decision",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_goes_round() {
        let mut react = React::default();
        assert_eq!(react.on(Input::Observed), Ok(Effect::Decode));
        for piece in ["alert(), ", "wait", "<act>", "{\"tool\":\"wait\"}", "<end>"] {
            assert_eq!(react.on(Input::Piece(piece)), Ok(Effect::Decode));
        }
        let Ok(Effect::Act(Intention::Call(parsed))) = react.on(Input::Said) else { panic!("no call") };
        assert_eq!(parsed.call.name, "wait");
        assert_eq!(react.on(Input::Acted), Ok(Effect::Settle));
        assert_eq!(react.on(Input::Settled), Ok(Effect::Observe));
        assert_eq!(react.on(Input::Observed), Ok(Effect::Decode));
        assert_eq!(react.message(), "");
    }

    #[test]
    fn words_without_a_call_are_kept() {
        let mut react = React::default();
        react.on(Input::Observed).unwrap();
        react.on(Input::Piece("hm")).unwrap();
        let effect = react.on(Input::Said).unwrap();
        assert!(matches!(effect, Effect::Act(Intention::Words { error: FormatError::NoCall, .. })));
    }

    #[test]
    fn an_input_out_of_phase_changes_nothing() {
        let mut react = React::default();
        let before = react.clone();
        assert!(react.on(Input::Acted).is_err());
        assert_eq!(react, before);
    }
}
