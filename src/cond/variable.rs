//! The names that a condition knows.

use super::facts::Facts;
use crate::event::{Envelope, Event, RunState};
use crate::state::{DashState, RowKind};
use cel::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

macro_rules! variables {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// A name that a condition can use. One that the event says nothing about is undeclared for that event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Variable {
            $($(#[doc = $doc])* $name,)*
        }

        impl Variable {
            pub const ALL: &'static [Variable] = &[$(Variable::$name,)*];

            /// As it is written in an expression.
            pub fn name(self) -> &'static str {
                match self { $(Variable::$name => $text,)* }
            }

            /// What it is, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Variable::$name => concat!($($doc),*),)* }.trim()
            }
        }
    };
}

variables! {
    /// Kind of the event, such as `"ToolCallFinished"`.
    Kind = "kind",
    /// Position in the run.
    Seq = "seq",
    /// Seconds since the run began.
    Time = "t",
    /// Environment slot.
    Lane = "lane",
    /// Number of the episode.
    Episode = "episode",
    /// Number of the decision in its episode.
    Step = "step",
    /// `"[lane:]episode/step"`, or `"@seq"`.
    Address = "address",
    /// What is said: a thought, a message, an observation, a tool's result, a reason.
    Text = "text",
    /// `tool.name`, and `tool.args` where the event holds the call; empty for other events.
    Tool = "tool",
    /// Why a tool call failed, such as `"schema"`.
    ErrorType = "error_type",
    /// Step reward of a transition.
    Reward = "reward",
    /// Sum of the step rewards so far.
    RewardSum = "reward_sum",
    /// Whether a transition ended its episode by itself.
    Terminated = "terminated",
    /// Whether a transition ended its episode by the limit.
    Truncated = "truncated",
    /// The critic's estimate of a transition.
    ValueEstimate = "value",
    /// Return of an episode that ended (`return` is a reserved word).
    EpisodeReturn = "episode_return",
    /// Share of the task that an episode did.
    FinalReward = "final_reward",
    /// Hybrid reward of an episode that ended.
    Hybrid = "hybrid",
    /// Whether an episode that ended succeeded.
    Success = "success",
    /// Decisions of an episode that ended.
    Length = "length",
    /// Tokens of a finished message.
    Tokens = "tokens",
    /// Least log-probability of a finished message's tokens.
    LogprobMin = "logprob_min",
    /// Mean log-probability of a finished message's tokens.
    LogprobMean = "logprob_mean",
    /// Greatest entropy of a finished message's tokens, in nats.
    EntropyMax = "entropy_max",
    /// Mean entropy of a finished message's tokens, in nats.
    EntropyMean = "entropy_mean",
    /// Why a message ended, such as `"stop"`.
    FinishReason = "finish_reason",
    /// Phase that was entered: `"observe"`, `"think"`, `"act"`, `"settle"`.
    Phase = "phase",
    /// Checkpoint that the event names.
    Checkpoint = "checkpoint",
    /// `alert.rule`, `alert.state`, `alert.severity`; empty for other events.
    Alert = "alert",
    /// Latest readings of the lane by field, such as `obs["checkout.p95"]`; one that is missing is not in it.
    Obs = "obs",
    /// `run.state`, `run.episodes`, `run.successes`, `run.decisions`, `run.reward_sum` (of the lane's episode).
    Run = "run",
    /// Approximate KL divergence of an update of training.
    Kl = "kl",
    /// How often the lane made the same call in a row, the one that begins included.
    Repeats = "repeats",
    /// Everything that the event says, as a recording writes it: `d.reward`.
    Data = "d",
}

impl Variable {
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.name() == name)
    }

    /// Its value for this event; unset where the event has none.
    pub fn value(self, envelope: &Envelope, facts: &Facts<'_>, state: &DashState) -> Option<Value> {
        let message = facts.message;
        let extreme = |values: &[f32], pick: fn(f64, f64) -> f64| values.iter().map(|v| f64::from(*v)).reduce(pick).map(Value::Float);
        match self {
            Variable::Kind => Some(envelope.event.kind().into()),
            Variable::Seq => Some(count(envelope.seq.0)),
            Variable::Time => Some(Value::Float(envelope.t_ns as f64 * 1e-9)),
            Variable::Lane => Some(count(envelope.lane.0.into())),
            Variable::Episode => envelope.episode.map(|e| count(e.0.into())),
            Variable::Step => envelope.step.map(|s| count(s.0.into())),
            Variable::Address => Some(envelope.address().into()),
            Variable::Text => facts.text.map(Value::from),
            Variable::Tool => Some(tool(facts)),
            Variable::ErrorType => facts.error_type.map(|e| word(&e)),
            Variable::Reward => facts.transition.map(|t| Value::Float(t.reward)),
            Variable::RewardSum => facts.transition.map(|t| Value::Float(t.reward_sum)),
            Variable::Terminated => facts.transition.map(|t| Value::Bool(t.terminated)),
            Variable::Truncated => facts.transition.map(|t| Value::Bool(t.truncated)),
            Variable::ValueEstimate => facts.transition.and_then(|t| t.value).map(Value::Float),
            Variable::EpisodeReturn => facts.episode_end.map(|e| Value::Float(e.episode_return)),
            Variable::FinalReward => facts.episode_end.map(|e| Value::Float(e.final_reward)),
            Variable::Hybrid => facts.episode_end.map(|e| Value::Float(e.hybrid)),
            Variable::Success => facts.episode_end.map(|e| Value::Bool(e.success)),
            Variable::Length => facts.episode_end.map(|e| count(e.length.into())),
            Variable::Tokens => message.map(|m| count(m.token_ids.len() as u64)),
            Variable::LogprobMin => message.and_then(|m| extreme(&m.logprobs, f64::min)),
            Variable::LogprobMean => message.and_then(|m| mean(&m.logprobs)),
            Variable::EntropyMax => message.and_then(|m| extreme(&m.entropy, f64::max)),
            Variable::EntropyMean => message.and_then(|m| mean(&m.entropy)),
            Variable::FinishReason => message.map(|m| word(&m.finish_reason)),
            Variable::Phase => facts.phase.map(|p| word(&p)),
            Variable::Checkpoint => facts.checkpoint.map(|c| c.0.as_str().into()),
            Variable::Alert => Some(alert(facts)),
            Variable::Kl => facts.update.and_then(|u| u.approx_kl).map(Value::Float),
            Variable::Repeats => facts.is_call.then(|| count(repeats(envelope, state))),
            // An event of no episode has no lane whose readings these could be.
            Variable::Obs => envelope.episode.map(|_| observation(envelope, state)),
            Variable::Run => Some(run(envelope, state)),
            Variable::Data => serde_json::to_value(envelope).ok().map(|line| from_json(&line["d"])),
        }
    }

    /// The fields of a variable that has fixed ones, which are those of its sample.
    pub fn fields(self) -> Option<BTreeSet<String>> {
        let Value::Map(map) = self.sample() else { return None };
        let names: BTreeSet<String> = map.map.keys().map(ToString::to_string).collect();
        (!names.is_empty()).then_some(names)
    }

    /// Whether it is something that the event says. The others are true of any event: where and when it is, and how the run stands.
    pub fn is_of_event(self) -> bool {
        !matches!(
            self,
            Variable::Seq
                | Variable::Time
                | Variable::Lane
                | Variable::Episode
                | Variable::Step
                | Variable::Address
                | Variable::Obs
                | Variable::Run
        )
    }

    /// All that it can be, where that is a closed list of words.
    pub fn words(self) -> Option<&'static [&'static str]> {
        match self {
            Variable::Kind => Some(Event::KINDS),
            Variable::Phase => Some(&["observe", "think", "act", "settle"]),
            Variable::FinishReason => Some(&["stop", "length", "cancelled", "scripted"]),
            Variable::Seq
            | Variable::Time
            | Variable::Lane
            | Variable::Episode
            | Variable::Step
            | Variable::Address
            | Variable::Text
            | Variable::Tool
            | Variable::ErrorType
            | Variable::Reward
            | Variable::RewardSum
            | Variable::Terminated
            | Variable::Truncated
            | Variable::ValueEstimate
            | Variable::EpisodeReturn
            | Variable::FinalReward
            | Variable::Hybrid
            | Variable::Success
            | Variable::Length
            | Variable::Tokens
            | Variable::LogprobMin
            | Variable::LogprobMean
            | Variable::EntropyMax
            | Variable::EntropyMean
            | Variable::Kl
            | Variable::Repeats
            | Variable::Checkpoint
            | Variable::Alert
            | Variable::Obs
            | Variable::Run
            | Variable::Data => None,
        }
    }

    /// The table of the README.
    pub fn table_markdown() -> String {
        let row = |v: &Variable| format!("| `{}` | {} |\n", v.name(), v.about().replace('|', "\\|"));
        format!("| name | what it is |\n|---|---|\n{}", Self::ALL.iter().map(row).collect::<String>())
    }

    /// All names, and the fields of those that have fixed ones: `reward`, `tool`, `tool.name`.
    pub fn names_with_fields() -> Vec<String> {
        let with_fields = |v: &Variable| {
            let fields = v.fields().unwrap_or_default().into_iter().map(|field| format!("{}.{field}", v.name()));
            std::iter::once(v.name().to_owned()).chain(fields).collect::<Vec<_>>()
        };
        Self::ALL.iter().flat_map(with_fields).collect()
    }

    /// A value of the type that it has.
    pub fn sample(self) -> Value {
        match self {
            Variable::Kind
            | Variable::Address
            | Variable::Text
            | Variable::ErrorType
            | Variable::FinishReason
            | Variable::Phase
            | Variable::Checkpoint => "".into(),
            Variable::Seq
            | Variable::Lane
            | Variable::Episode
            | Variable::Step
            | Variable::Length
            | Variable::Tokens
            | Variable::Repeats => Value::Int(0),
            Variable::Time
            | Variable::Reward
            | Variable::RewardSum
            | Variable::ValueEstimate
            | Variable::EpisodeReturn
            | Variable::FinalReward
            | Variable::Hybrid
            | Variable::LogprobMin
            | Variable::LogprobMean
            | Variable::EntropyMax
            | Variable::EntropyMean
            | Variable::Kl => Value::Float(0.0),
            Variable::Terminated | Variable::Truncated | Variable::Success => Value::Bool(false),
            Variable::Tool => map([("name", Some("".into())), ("args", Some(map([])))]),
            Variable::Alert => map([("rule", Some("".into())), ("state", Some("".into())), ("severity", Some("".into()))]),
            Variable::Run => run_value(RunState::Starting, [0; 3], Some(0.0)),
            Variable::Obs | Variable::Data => map([]),
        }
    }
}

fn count(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn mean(values: &[f32]) -> Option<Value> {
    (!values.is_empty()).then(|| Value::Float(values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64))
}

/// The word by which a plain enum stands in a recording.
fn word<T: serde::Serialize>(value: &T) -> Value {
    let written = serde_json::to_value(value).ok();
    written.as_ref().and_then(|v| v.as_str()).unwrap_or_default().into()
}

fn map<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let entries: HashMap<String, Value> = entries.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))).collect();
    entries.into()
}

fn tool(facts: &Facts<'_>) -> Value {
    let arguments = facts.call.map(|call| {
        let arguments: HashMap<String, Value> = call.arguments.iter().map(|(k, v)| (k.clone(), from_json(v))).collect();
        arguments.into()
    });
    map([("name", facts.tool.map(Value::from)), ("args", arguments)])
}

fn alert(facts: &Facts<'_>) -> Value {
    let alert = facts.alert;
    map([
        ("rule", alert.map(|a| a.rule.as_str().into())),
        ("state", alert.map(|a| word(&a.state))),
        ("severity", alert.map(|a| a.severity.as_str().into())),
    ])
}

fn observation(envelope: &Envelope, state: &DashState) -> Value {
    let Some(lane) = state.lane(envelope.lane) else { return map([]) };
    let readings = lane.episode.fields.iter().zip(&lane.episode.values);
    let known: HashMap<String, Value> = readings.filter_map(|(f, v)| Some((f.name.clone(), Value::Float((*v)?)))).collect();
    known.into()
}

/// Same calls at the end of the lane's episode.
fn repeats(envelope: &Envelope, state: &DashState) -> u64 {
    let Some(lane) = state.lane(envelope.lane) else { return 0 };
    let of_episode = lane.transcript.rows.iter().rev().take_while(|r| Some(r.episode) == envelope.episode);
    let mut calls = of_episode.filter_map(|r| if let RowKind::Action { call, .. } = &r.kind { Some(call) } else { None });
    calls.next().map_or(0, |newest| 1 + calls.take_while(|call| *call == newest).count() as u64)
}

fn run(envelope: &Envelope, state: &DashState) -> Value {
    let counts = [state.episodes_total, state.successes_total, state.decisions_total];
    run_value(state.run_state, counts, state.lane(envelope.lane).map(|l| l.episode.reward_sum))
}

fn run_value(state: RunState, [episodes, successes, decisions]: [u64; 3], reward_sum: Option<f64>) -> Value {
    map([
        ("state", Some(word(&state))),
        ("episodes", Some(count(episodes))),
        ("successes", Some(count(successes))),
        ("decisions", Some(count(decisions))),
        ("reward_sum", reward_sum.map(Value::Float)),
    ])
}

/// As a recording would write it. What JSON has no form for is null.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(n) => (*n).into(),
        Value::UInt(n) => (*n).into(),
        Value::Float(x) => (*x).into(),
        Value::String(s) => s.as_str().into(),
        Value::List(items) => items.iter().map(to_json).collect::<Vec<_>>().into(),
        // In order, for the same value is to be written the same way.
        Value::Map(map) => {
            let sorted: BTreeMap<String, serde_json::Value> = map.map.iter().map(|(k, v)| (k.to_string(), to_json(v))).collect();
            sorted.into_iter().collect::<serde_json::Map<_, _>>().into()
        }
        // Functions, bytes and foreign types: no name of ours has one.
        _ => serde_json::Value::Null,
    }
}

/// Whole numbers become integers, so that `tool.args.to == 4` holds.
fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(*b),
        serde_json::Value::Number(n) => n.as_i64().map(Value::Int).or_else(|| n.as_f64().map(Value::Float)).unwrap_or(Value::Null),
        serde_json::Value::String(s) => Value::String(Arc::new(s.clone())),
        serde_json::Value::Array(items) => Value::List(Arc::new(items.iter().map(from_json).collect())),
        serde_json::Value::Object(entries) => {
            let entries: HashMap<String, Value> = entries.iter().map(|(k, v)| (k.clone(), from_json(v))).collect();
            entries.into()
        }
    }
}
