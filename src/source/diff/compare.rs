//! In what two decisions differ.

use super::story::Decision;
use super::words::{Token, said_token, token_diff};
use crate::event::{ErrorType, ObservationField, SafeText, Unit};
use serde::Serialize;
use std::fmt;

/// What of a decision differs, in the order in which it comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Observation,
    Thought,
    Action,
    Result,
    Reward,
    /// The hash of the environment's state, and whether the episode ends there.
    State,
    /// The same was said and done, and log-probabilities or the critic's estimate differ.
    Confidence,
}

impl Part {
    /// A letter, for where a word has no room.
    pub fn letter(self) -> char {
        match self {
            Part::Observation => 'O',
            Part::Thought => 'T',
            Part::Action => 'A',
            Part::Result => 'E',
            Part::Reward => 'R',
            Part::State => 'S',
            Part::Confidence => 'L',
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Part::Observation => "observation",
            Part::Thought => "thought",
            Part::Action => "action",
            Part::Result => "result",
            Part::Reward => "reward",
            Part::State => "state",
            Part::Confidence => "log-probabilities",
        }
    }
}

/// What came back of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Saw {
    pub text: Option<SafeText>,
    pub error_type: Option<ErrorType>,
}

/// One thing in which two decisions differ. Where a side has no such thing it is unset.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// A number of the observation.
    Field {
        name: String,
        unit: Unit,
        a: Option<f64>,
        b: Option<f64>,
    },
    /// An observation's words alone, or all of it where the two have other fields.
    Observation {
        a: Option<SafeText>,
        b: Option<SafeText>,
    },
    /// The first token of the thought that parts, counted from 0.
    Token {
        index: usize,
        a: Option<Token>,
        b: Option<Token>,
    },
    /// What was said beside the thought.
    Message {
        a: Option<SafeText>,
        b: Option<SafeText>,
    },
    Action {
        a: Option<SafeText>,
        b: Option<SafeText>,
    },
    Result {
        a: Saw,
        b: Saw,
    },
    Reward {
        a: Option<f64>,
        b: Option<f64>,
    },
    /// Whether the episode ends there: `terminated`, `truncated`, or neither.
    Ends {
        a: Option<&'static str>,
        b: Option<&'static str>,
    },
    Hash {
        a: Option<u64>,
        b: Option<u64>,
    },
    /// The same message, and the token of it, counted from 0, whose log-probabilities are farthest apart.
    Drift {
        index: usize,
        a: Option<Token>,
        b: Option<Token>,
    },
    /// The critic's estimate.
    Value {
        a: Option<f64>,
        b: Option<f64>,
    },
}

impl Difference {
    pub fn part(&self) -> Part {
        match self {
            Difference::Field { .. } | Difference::Observation { .. } => Part::Observation,
            Difference::Token { .. } | Difference::Message { .. } => Part::Thought,
            Difference::Action { .. } => Part::Action,
            Difference::Result { .. } => Part::Result,
            Difference::Reward { .. } => Part::Reward,
            Difference::Ends { .. } | Difference::Hash { .. } => Part::State,
            Difference::Drift { .. } | Difference::Value { .. } => Part::Confidence,
        }
    }
}

/// Nearer than this, two runs of one policy on two machines may lie: the tolerance of `replay --verify=policy`.
const LOGPROB_TOLERANCE: f32 = 2e-5;

/// All in which two decisions differ, in the order in which it came about. `fields` name the numbers of each one's observation.
pub fn differences(a: Option<&Decision>, b: Option<&Decision>, fields: (&[ObservationField], &[ObservationField])) -> Vec<Difference> {
    let mut found = Vec::new();
    observations(&mut found, (a, b), fields);
    said(&mut found, (a, b));
    let action = |d: Option<&Decision>| d.and_then(|d| d.action());
    if a.map(Decision::action_key) != b.map(Decision::action_key) {
        found.push(Difference::Action { a: action(a), b: action(b) });
    }
    let saw = |d: Option<&Decision>| d.map_or_else(Saw::default, |d| Saw { text: d.result.clone(), error_type: d.error_type });
    if saw(a) != saw(b) {
        found.push(Difference::Result { a: saw(a), b: saw(b) });
    }
    came_of(&mut found, (a, b));
    found
}

fn observations(
    found: &mut Vec<Difference>,
    (a, b): (Option<&Decision>, Option<&Decision>),
    (of_a, of_b): (&[ObservationField], &[ObservationField]),
) {
    let seen = |d: Option<&Decision>| d.and_then(|d| d.observation.clone());
    let (seen_a, seen_b) = (seen(a), seen(b));
    let before = found.len();
    if let (Some(seen_a), Some(seen_b)) = (&seen_a, &seen_b)
        && of_a == of_b
        && seen_a.values.len() == seen_b.values.len()
    {
        for (n, (a, b)) in seen_a.values.iter().zip(&seen_b.values).enumerate() {
            if !is_same(*a, *b) {
                let (name, unit) = of_a.get(n).map_or_else(|| (format!("number {}", n + 1), Unit::None), |f| (f.name.clone(), f.unit));
                found.push(Difference::Field { name, unit, a: *a, b: *b });
            }
        }
    }
    let texts = |seen: &Option<crate::event::Observation>| seen.as_ref().map(|o| (o.values.len(), o.text.clone(), o.compact.clone()));
    if found.len() == before && texts(&seen_a) != texts(&seen_b) || of_a != of_b && !same_values(&seen_a, &seen_b) {
        found.push(Difference::Observation { a: seen_a.map(|o| o.text), b: seen_b.map(|o| o.text) });
    }
}

fn same_values(a: &Option<crate::event::Observation>, b: &Option<crate::event::Observation>) -> bool {
    let values = |o: &Option<crate::event::Observation>| o.as_ref().map(|o| o.values.clone()).unwrap_or_default();
    let (a, b) = (values(a), values(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| is_same(*a, *b))
}

fn said(found: &mut Vec<Difference>, (a, b): (Option<&Decision>, Option<&Decision>)) {
    let message = |d: Option<&Decision>| d.and_then(|d| d.message.clone());
    let (a, b) = (message(a), message(b));
    let thought = |m: &Option<crate::event::MessageCompleted>| m.as_ref().map(|m| m.thought.clone());
    if thought(&a) != thought(&b) {
        let words = token_diff(a.as_ref(), b.as_ref());
        let index = words.first().unwrap_or(0);
        found.push(Difference::Token { index, a: words.a.get(index).cloned(), b: words.b.get(index).cloned() });
        return;
    }
    let whole = |m: &Option<crate::event::MessageCompleted>| m.as_ref().map(|m| (m.text.clone(), m.finish_reason));
    if whole(&a) != whole(&b) {
        found.push(Difference::Message { a: a.map(|m| m.text), b: b.map(|m| m.text) });
    }
}

fn came_of(found: &mut Vec<Difference>, (a, b): (Option<&Decision>, Option<&Decision>)) {
    let transition = |d: Option<&Decision>| d.and_then(|d| d.transition.clone());
    let (of_a, of_b) = (transition(a), transition(b));
    let reward = |t: &Option<crate::event::TransitionRecorded>| t.as_ref().map(|t| t.reward);
    if !is_same(reward(&of_a), reward(&of_b)) {
        found.push(Difference::Reward { a: reward(&of_a), b: reward(&of_b) });
    }
    let ends = |t: &Option<crate::event::TransitionRecorded>| t.as_ref().map(|t| ending(t.terminated, t.truncated));
    if ends(&of_a) != ends(&of_b) {
        found.push(Difference::Ends { a: ends(&of_a), b: ends(&of_b) });
    }
    let hash = |t: &Option<crate::event::TransitionRecorded>| t.as_ref().map(|t| t.state_hash);
    if hash(&of_a) != hash(&of_b) {
        found.push(Difference::Hash { a: hash(&of_a), b: hash(&of_b) });
    }
    // What a different message would have is no news.
    if found.iter().any(|d| d.part() == Part::Thought) {
        return;
    }
    drift(found, (a, b));
    let value = |t: &Option<crate::event::TransitionRecorded>| t.as_ref().and_then(|t| t.value);
    if let (Some(a), Some(b)) = (value(&of_a), value(&of_b))
        && !is_same(Some(a), Some(b))
        && (a - b).abs() > f64::from(LOGPROB_TOLERANCE)
    {
        found.push(Difference::Value { a: Some(a), b: Some(b) });
    }
}

/// The whole message counts, the call in it too.
fn drift(found: &mut Vec<Difference>, (a, b): (Option<&Decision>, Option<&Decision>)) {
    let (Some(a), Some(b)) = (a.and_then(|d| d.message.as_ref()), b.and_then(|d| d.message.as_ref())) else { return };
    let apart = |(a, b): (&f32, &f32)| if a == b || a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() };
    let most = a.logprobs.iter().zip(&b.logprobs).map(apart).enumerate().max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
    if let Some((index, _)) = most.filter(|(_, apart)| apart.is_nan() || *apart > LOGPROB_TOLERANCE) {
        found.push(Difference::Drift { index, a: said_token(a, index), b: said_token(b, index) });
    }
}

fn ending(terminated: bool, truncated: bool) -> &'static str {
    match (terminated, truncated) {
        (true, _) => "terminated",
        (false, true) => "truncated",
        (false, false) => "goes on",
    }
}

/// Bit for bit, but that no number is what is not a number.
pub(super) fn is_same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || a.is_nan() && b.is_nan(),
        (a, b) => a.is_none() && b.is_none(),
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
