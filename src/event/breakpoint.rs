//! Where a run is to stop.

use super::{Envelope, EpisodeId, Event, LaneId, SafeText, Seq, StepIndex};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Conditions that have names. `cond` says what they stand for.
pub const PRESETS: [&str; 7] =
    ["tool-error", "reward-below X", "same-action-3", "kl-above X", "entropy-below X", "logprob-below X", "alert"];

/// A place where a run stops, or where it says that it came by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// In CEL, or a preset's name with its number.
    pub when: SafeText,
    /// It goes with the first hit that is not passed over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Hits that are passed over first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignore: u32,
    /// It tells of its hits, and the run goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
}

// serde's `skip_serializing_if` passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Breakpoint {
    pub fn new(when: &str) -> Self {
        Self { when: SafeText::new(when), ..Self::default() }
    }
}

impl std::fmt::Display for Breakpoint {
    /// As it is typed: `reward < 0.0 with once ignore=3`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.when.as_str())?;
        let mut word = " with";
        for (is, option) in [(self.once, "once".to_owned()), (self.log, "log".into()), (self.ignore > 0, format!("ignore={}", self.ignore))]
        {
            if is {
                write!(f, "{word} {option}")?;
                word = "";
            }
        }
        Ok(())
    }
}

/// Whether a breakpoint is asked of this event. One that asks only about the state, and not about the event, is asked in decisions: it is
/// true of a sample of the machine as well, and of the next one. What only tells what was done to the run is not asked of: what holds always
/// would hold of its own hit, and of the command by which the run is to go on.
pub fn is_asked(envelope: &Envelope, asks_event: bool) -> bool {
    let is_of_control = matches!(
        envelope.event,
        Event::BreakpointSet(_)
            | Event::BreakpointHit(_)
            | Event::BreakpointCleared(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::RunStateChanged(_)
            | Event::PaceChanged(_)
            | Event::SilenceSet(_)
            | Event::SilenceEnded(_)
    );
    !is_of_control && (asks_event || envelope.step.is_some())
}

/// Where something begins to hold: not at every event of a decision in which it goes on to hold, such as `step >= 9`, but where it was false
/// just before, and in each decision of a lane anew. Of events that belong to no decision it is where it was false at the one before of these.
#[derive(Clone, Debug, Default)]
pub struct Onset {
    /// The decision of each lane in which it holds, and the event at which it did last; none once it was false.
    holding: BTreeMap<LaneId, (EpisodeId, StepIndex, Seq)>,
    /// The last event of no decision, if it held there.
    beside: Option<Seq>,
}

impl Onset {
    /// Whether it begins to hold at this event. An event of an earlier place is one that is played again.
    pub fn note(&mut self, envelope: &Envelope, holds: bool) -> bool {
        let decision = envelope.episode.zip(envelope.step);
        if !holds {
            match decision {
                Some(_) => drop(self.holding.remove(&envelope.lane)),
                None => self.beside = None,
            }
            return false;
        }
        let Some((episode, step)) = decision else {
            return self.beside.replace(envelope.seq).is_none_or(|seq| envelope.seq <= seq);
        };
        let before = self.holding.insert(envelope.lane, (episode, step, envelope.seq));
        before.is_none_or(|(e, s, seq)| (e, s) != (episode, step) || envelope.seq <= seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_where_it_was_false_before_and_in_each_decision_anew() {
        let mut onset = Onset::default();
        let mut at = |seq: u64, step: Option<u32>, holds: bool| {
            let (lane, episode, step) = (LaneId(0), step.map(|_| EpisodeId(3)), step.map(StepIndex));
            let event = super::super::DecisionSettled { duration_ns: 1, memory_bytes: None }.into();
            onset.note(&Envelope { seq: Seq(seq), t_ns: seq, lane, episode, step, event }, holds)
        };
        assert!(!at(10, Some(8), false) && at(11, Some(9), true));
        assert!(!at(12, None, false) && !at(13, Some(9), true), "what belongs to no decision changes nothing");
        assert!(!at(14, Some(9), false) && at(15, Some(9), true) && !at(16, Some(9), true), "it was false meanwhile");
        assert!(at(17, Some(10), true) && !at(18, Some(10), true));
        assert!(at(17, Some(10), true), "played again");
        assert!(at(19, None, true) && !at(20, None, true), "it goes on to hold beside all decisions");
        assert!(!at(21, None, false) && at(22, None, true));
    }

    #[test]
    fn what_is_not_asked_for_is_not_written() {
        let plain = Breakpoint::new("reward < 0.0");
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"when":"reward < 0.0"}"#);
        let full = Breakpoint { once: true, ignore: 3, log: true, ..plain.clone() };
        assert_eq!((plain.to_string().as_str(), full.to_string().as_str()), ("reward < 0.0", "reward < 0.0 with once log ignore=3"));
        assert_eq!(serde_json::from_str::<Breakpoint>(&serde_json::to_string(&full).unwrap()).unwrap(), full);
    }
}
