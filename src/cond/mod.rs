//! Duty: conditions in CEL (Common Expression Language) over events: `--until`, later breakpoints, filters and guards.
//! May import: event, state.
//! Emits: verdicts.
//! Accepts: an expression, then events.
//! Test: `cargo test --lib cond::`.

use crate::event::{Envelope, Event, RecordedAction, ToolCall};
use cel::{Context, Program, Value};

/// A condition that was compiled once.
///
/// Every event has `kind`, `seq`, `t` (seconds), `lane`, `episode`, `step` and its payload as `d`. Where an event has them there
/// are also `reward`, `terminated`, `truncated`, `tool` (`tool.name`, `tool.args`), `error_type`, `text`, `success`, `length` and
/// `final_reward`. A condition that names what an event does not have does not hold there.
pub struct Condition {
    program: Program,
    source: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CondError {
    #[error("`{source_text}` is not a condition: {reason}")]
    Parse { source_text: String, reason: String },
    #[error("`{source_text}` names `{name}`, which no event has; there are {}", NAMES.join(", "))]
    UnknownName { source_text: String, name: String },
}

/// Names that a condition may use.
pub const NAMES: [&str; 16] = [
    "kind",
    "seq",
    "t",
    "lane",
    "episode",
    "step",
    "d",
    "reward",
    "terminated",
    "truncated",
    "tool",
    "error_type",
    "text",
    "success",
    "length",
    "final_reward",
];

impl Condition {
    pub fn parse(source: &str) -> Result<Self, CondError> {
        let source_text = source.to_owned();
        let program = Program::compile(source)
            .map_err(|e| CondError::Parse { source_text: source_text.clone(), reason: e.to_string().replace('\n', " ") })?;
        if let Some(name) = program.references().variables().into_iter().find(|n| !NAMES.contains(n)) {
            return Err(CondError::UnknownName { source_text, name: name.to_owned() });
        }
        Ok(Self { program, source: source_text })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it holds for this event. What can't be computed, such as a name that the event lacks, does not hold.
    pub fn holds(&self, envelope: &Envelope) -> bool {
        let mut context = Context::default();
        context.add_variable_from_value("kind", envelope.event.kind().to_owned());
        context.add_variable_from_value("seq", envelope.seq.0 as i64);
        context.add_variable_from_value("t", envelope.t_ns as f64 / 1e9);
        context.add_variable_from_value("lane", i64::from(envelope.lane.0));
        if let Some(episode) = envelope.episode {
            context.add_variable_from_value("episode", i64::from(episode.0));
        }
        if let Some(step) = envelope.step {
            context.add_variable_from_value("step", i64::from(step.0));
        }
        payload(&mut context, envelope);
        matches!(self.program.execute(&context), Ok(Value::Bool(true)))
    }
}

fn payload(context: &mut Context<'_, '_>, envelope: &Envelope) {
    if let Ok(mut line) = serde_json::to_value(envelope) {
        // A payload always serialises; `d` is left out otherwise.
        let _ = context.add_variable("d", line["d"].take());
    }
    match &envelope.event {
        Event::TransitionRecorded(e) => {
            context.add_variable_from_value("reward", e.reward);
            context.add_variable_from_value("terminated", e.terminated);
            context.add_variable_from_value("truncated", e.truncated);
            match &e.action {
                RecordedAction::Tool(call) | RecordedAction::Outside { call, .. } => tool(context, call),
                RecordedAction::Text(_) => {}
            }
        }
        Event::ToolCallStarted(e) => tool(context, &e.call),
        Event::ToolCallFinished(e) => {
            tool(context, &ToolCall::new(e.tool.as_str()));
            if let Some(error) = e.error_type
                && let Ok(serde_json::Value::String(word)) = serde_json::to_value(error)
            {
                context.add_variable_from_value("error_type", word);
            }
        }
        Event::MessageCompleted(e) => context.add_variable_from_value("text", e.text.to_string()),
        Event::EpisodeEnded(e) => {
            context.add_variable_from_value("success", e.success);
            context.add_variable_from_value("length", i64::from(e.length));
            context.add_variable_from_value("final_reward", e.final_reward);
        }
        _ => {}
    }
}

fn tool(context: &mut Context<'_, '_>, call: &ToolCall) {
    let _ = context.add_variable("tool", serde_json::json!({"name": call.name, "args": call.arguments}));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{LaneId, Seq, StepIndex, TransitionRecorded};

    fn transition(reward: f64, tool: &str) -> Envelope {
        let event = TransitionRecorded {
            action: RecordedAction::Tool(ToolCall::new(tool).with("svc", "pay")),
            reward,
            terminated: false,
            truncated: false,
            value: None,
            state_hash: 0,
            reward_sum: reward,
            discounted_sum: reward,
        };
        Envelope { seq: Seq(9), t_ns: 2_000_000_000, lane: LaneId(0), episode: None, step: Some(StepIndex(4)), event: event.into() }
    }

    #[test]
    fn conditions_see_the_event() {
        let holds = |text: &str| Condition::parse(text).unwrap().holds(&transition(0.1, "scale"));
        assert!(holds(r#"tool.name == "scale" && reward < 0.2"#));
        assert!(holds(r#"tool.args.svc == "pay" && step == 4 && t >= 2.0"#));
        assert!(holds(r#"kind == "TransitionRecorded" && d.reward < 0.2"#));
        assert!(!holds("reward > 0.2"));
        assert!(!holds("success"));
        assert!(!holds("reward"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Condition::parse(text).err().unwrap().to_string();
        assert!(error("reward <").contains("`reward <`"));
        assert!(error("rewrd < 1.0").contains("`rewrd`"));
    }
}
