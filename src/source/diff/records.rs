//! The same as records, one JSON object each; `kind` says which.
//!
//! | kind | what it holds |
//! |---|---|
//! | `episodes` | `a`, `b`: file, episode, seed, level, checkpoint, the branch that it is; `aligned` is how |
//! | `recordings` | `a`, `b`: file, run, when it started |
//! | `given` | `what`, `a`, `b`; `counts` is false for what is told and is no difference |
//! | `divergence`, `drift` | `step` and the first `difference`; a drift is one of log-probabilities or the critic alone |
//! | `step` | `mark` (`=` `~` `-` `+`), `parts`, both sides' decisions, `differences`, `thought`: tokens with `mark`, both log-probabilities |
//! | `outcome` | `what`, `a`, `b`, where an episode ended otherwise |
//! | `cost` | `side`, decisions, tokens, prompt tokens, nanoseconds, tool errors |
//! | `pair`, `unpaired` | an episode of two recordings, and one that has no partner |
//! | `summary` | whether all is the same, and how much of it is |

use super::compare::{Difference, Saw};
use super::episodes::{Cost, EpisodeDiff, First, Given, Mark};
use super::recordings::{PairDiff, RecordingDiff, Unpaired};
use super::story::{Decision, Story};
use super::words::{Token, token_diff};
use crate::event::num::Float;
use crate::journal::Header;
use serde_json::{Value, json};

/// The two episodes.
pub fn episodes(diff: &EpisodeDiff, (a, b): (&str, &str)) -> Value {
    json!({"kind": "episodes", "a": story(&diff.a, a), "b": story(&diff.b, b)})
}

fn story(story: &Story, file: &str) -> Value {
    json!({
        "file": file,
        "lane": story.address.lane,
        "episode": story.address.episode,
        "seed": story.seed(),
        "level": story.level(),
        "checkpoint": story.checkpoint(),
        "branch": story.branch,
        "lacks_parent": story.lacks_parent,
    })
}

pub fn recordings((a, of_a): (&str, &Header), (b, of_b): (&str, &Header)) -> Value {
    let side = |file: &str, header: &Header| json!({"file": file, "run": header.id, "started": header.started});
    json!({"kind": "recordings", "a": side(a, of_a), "b": side(b, of_b)})
}

pub fn given(given: &Given, counts: bool) -> Value {
    json!({"kind": "given", "what": given.what, "a": given.a, "b": given.b, "counts": counts})
}

pub fn outcome(given: &Given) -> Value {
    json!({"kind": "outcome", "what": given.what, "a": given.a, "b": given.b})
}

/// Where they part; `kind` is `divergence` or `drift`.
pub fn first(kind: &str, first: &First) -> Value {
    json!({"kind": kind, "step": first.step, "difference": first.difference.as_ref().map(difference)})
}

pub fn cost(side: &str, cost: &Cost) -> Value {
    json!({
        "kind": "cost",
        "side": side,
        "decisions": cost.decisions,
        "tokens": cost.tokens,
        "prompt_tokens": cost.prompt_tokens,
        "think_ns": cost.think_ns,
        "tool_ns": cost.tool_ns,
        "tool_errors": cost.tool_errors,
    })
}

/// A row with all that it holds.
pub fn step(diff: &EpisodeDiff, row: usize) -> Value {
    let (a, b) = diff.decisions(row);
    let Some(found) = diff.rows.get(row) else { return Value::Null };
    let is_both = a.is_some() && b.is_some();
    let differences: Vec<Value> = if is_both { diff.differences(row).iter().map(difference).collect() } else { Vec::new() };
    json!({
        "kind": "step",
        "mark": found.mark().sign(),
        "parts": found.parts,
        "a": a.map(decision),
        "b": b.map(decision),
        "differences": differences,
        "thought": thought(a, b),
    })
}

fn decision(d: &Decision) -> Value {
    let transition = d.transition.as_ref();
    json!({
        "step": d.step,
        "lane": d.address.map(|a| a.lane),
        "episode": d.address.map(|a| a.episode),
        "seq": d.last,
        "action": d.action(),
        "result": d.result,
        "error_type": d.error_type,
        "reward": float(transition.map(|t| t.reward)),
        "reward_sum": float(transition.map(|t| t.reward_sum)),
        "value": float(transition.and_then(|t| t.value)),
        "terminated": transition.map(|t| t.terminated),
        "truncated": transition.map(|t| t.truncated),
        "state_hash": hash(transition.map(|t| t.state_hash)),
        "tokens": d.tokens(),
        "think_ns": d.message.as_ref().map(|m| m.duration_ns),
        "tool_ns": d.tool_ns,
        "duration_ns": d.duration_ns,
    })
}

/// The thoughts of two decisions token by token, where both think.
pub fn thought(a: Option<&Decision>, b: Option<&Decision>) -> Vec<Value> {
    let words = token_diff(a.and_then(|d| d.message.as_ref()), b.and_then(|d| d.message.as_ref()));
    let record = |(at_a, at_b): &(Option<usize>, Option<usize>)| {
        let (a, b) = (at_a.and_then(|n| words.a.get(n)), at_b.and_then(|n| words.b.get(n)));
        let mark = match (a, b) {
            (Some(_), Some(_)) => Mark::Same,
            (Some(_), None) => Mark::OnlyA,
            (None, _) => Mark::OnlyB,
        };
        let figure = |t: Option<&Token>, of: fn(&Token) -> Option<f32>| single(t.and_then(of));
        json!({
            "mark": mark.sign(),
            "text": a.or(b).map(|t| &t.text),
            "a": at_a,
            "b": at_b,
            "logprob_a": figure(a, |t| t.logprob),
            "logprob_b": figure(b, |t| t.logprob),
            "entropy_a": figure(a, |t| t.entropy),
            "entropy_b": figure(b, |t| t.entropy),
        })
    };
    words.pairs.iter().map(record).collect()
}

fn float(value: Option<f64>) -> Value {
    json!(value.map(Float))
}

/// The shortest digits that read back as this `f32`.
fn single(value: Option<f32>) -> Value {
    value.map_or(Value::Null, |v| {
        if v.is_finite() { v.to_string().parse::<f64>().map_or(Value::Null, |v| json!(v)) } else { json!(Float(f64::from(v))) }
    })
}

fn hash(value: Option<u64>) -> Value {
    json!(value.map(|v| format!("{v:016x}")))
}

/// One thing that differs; `part` says of what.
pub fn difference(difference: &Difference) -> Value {
    let token = |t: &Option<Token>| {
        let record = |t: &Token| json!({"text": t.text, "id": t.id, "logprob": single(t.logprob), "entropy": single(t.entropy)});
        t.as_ref().map(record)
    };
    let saw = |s: &Saw| json!({"text": s.text, "error_type": s.error_type});
    let (what, a, b) = match difference {
        Difference::Field { name, a, b, .. } => (json!(name), float(*a), float(*b)),
        Difference::Observation { a, b } => (json!("text"), json!(a), json!(b)),
        Difference::Token { index, a, b } | Difference::Drift { index, a, b } => (json!(index), json!(token(a)), json!(token(b))),
        Difference::Message { a, b } => (json!("message"), json!(a), json!(b)),
        Difference::Action { a, b } => (json!("action"), json!(a), json!(b)),
        Difference::Result { a, b } => (json!("result"), saw(a), saw(b)),
        Difference::Reward { a, b } => (json!("reward"), float(*a), float(*b)),
        Difference::Ends { a, b } => (json!("ends"), json!(a), json!(b)),
        Difference::Hash { a, b } => (json!("state_hash"), hash(*a), hash(*b)),
        Difference::Value { a, b } => (json!("value"), float(*a), float(*b)),
    };
    json!({"part": difference.part(), "what": what, "a": a, "b": b})
}

pub fn pair(pair: &PairDiff) -> Value {
    json!({
        "kind": "pair",
        "a": pair.a,
        "b": pair.b,
        "seed": pair.seed,
        "same": pair.is_same,
        "divergence": pair.first.as_ref().map(|f| json!({"step": f.step, "difference": f.difference.as_ref().map(difference)})),
        "drift": pair.drift.as_ref().map(|f| json!({"step": f.step, "difference": f.difference.as_ref().map(difference)})),
        "return_a": float(pair.returns.0),
        "return_b": float(pair.returns.1),
        "outcome_a": pair.verdicts.0,
        "outcome_b": pair.verdicts.1,
        "cost_a": pair.costs.0,
        "cost_b": pair.costs.1,
    })
}

pub fn unpaired(side: &str, unpaired: &Unpaired) -> Value {
    json!({"kind": "unpaired", "side": side, "lane": unpaired.address.lane, "episode": unpaired.address.episode, "seed": unpaired.seed})
}

/// The last record about two episodes.
pub fn summary(diff: &EpisodeDiff) -> Value {
    json!({
        "kind": "summary",
        "same": diff.is_same(),
        "steps": diff.rows.len(),
        "steps_same": diff.count(Mark::Same),
        "steps_differ": diff.count(Mark::Differs),
        "steps_only_a": diff.count(Mark::OnlyA),
        "steps_only_b": diff.count(Mark::OnlyB),
        "return_a": float(diff.a.episode_return()),
        "return_b": float(diff.b.episode_return()),
    })
}

/// The last record about two recordings.
pub fn summary_of_all(diff: &RecordingDiff) -> Value {
    json!({
        "kind": "summary",
        "same": diff.is_same(),
        "pairs": diff.pairs,
        "pairs_same": diff.same,
        "only_a": diff.only_a.len(),
        "only_b": diff.only_b.len(),
        "fixed": diff.fixed,
        "broken": diff.broken,
    })
}
