//! The tools of the ops simulator, declared once: their schemas, and reading a call's arguments.

use super::fault::Cause;
use super::score::Submission;
use crate::event::{ErrorType, ToolCall, ToolResult, ToolSpec};
use serde_json::{Value, json};

/// Replicas a service may be scaled to.
pub const REPLICAS_MAX: u32 = 12;

/// What a query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Logs,
    Traces,
}

impl Query {
    pub fn word(self) -> &'static str {
        match self {
            Query::Logs => "logs",
            Query::Traces => "traces",
        }
    }
}

/// A call whose arguments were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpsCall {
    Query { service: usize, of: Query },
    Scale { service: usize, replicas: u32 },
    Restart { service: usize },
    Rollback { service: usize },
    ShedLoad { service: usize },
    Wait,
    Submit { cause: Cause, also: Option<Cause> },
}

impl OpsCall {
    /// Whether it changes the cluster.
    pub fn mutates(&self) -> bool {
        match self {
            OpsCall::Scale { .. } | OpsCall::Restart { .. } | OpsCall::Rollback { .. } | OpsCall::ShedLoad { .. } => true,
            OpsCall::Query { .. } | OpsCall::Wait | OpsCall::Submit { .. } => false,
        }
    }

    /// What was submitted, if this ends the episode.
    pub fn submission(&self) -> Option<Submission> {
        match *self {
            OpsCall::Submit { cause, also } => Some((cause, also)),
            OpsCall::Query { .. }
            | OpsCall::Scale { .. }
            | OpsCall::Restart { .. }
            | OpsCall::Rollback { .. }
            | OpsCall::ShedLoad { .. }
            | OpsCall::Wait => None,
        }
    }

    /// Reads a call; the error is what the tool answers.
    pub fn parse(call: &ToolCall, names: &[&str]) -> Result<Self, ToolResult> {
        let service = || -> Result<usize, ToolResult> {
            let name = text(call, "svc")?;
            names.iter().position(|n| *n == name).ok_or_else(|| {
                ToolResult::error(ErrorType::Schema, format!("svc: no service is named `{name}`; there are {}", names.join(", ")))
            })
        };
        match call.name.as_str() {
            "query" => {
                let of = match text(call, "of")? {
                    "logs" => Query::Logs,
                    "traces" => Query::Traces,
                    other => return Err(ToolResult::error(ErrorType::Schema, format!("of: `{other}` is neither logs nor traces"))),
                };
                Ok(OpsCall::Query { service: service()?, of })
            }
            "scale" => {
                let replicas = call.arguments.get("n").and_then(Value::as_u64).filter(|n| (1..=u64::from(REPLICAS_MAX)).contains(n));
                let replicas =
                    replicas.ok_or_else(|| ToolResult::error(ErrorType::Schema, format!("n: give 1 to {REPLICAS_MAX} replicas")))?;
                Ok(OpsCall::Scale { service: service()?, replicas: replicas as u32 })
            }
            "restart" => Ok(OpsCall::Restart { service: service()? }),
            "rollback" => Ok(OpsCall::Rollback { service: service()? }),
            "shed" => Ok(OpsCall::ShedLoad { service: service()? }),
            "wait" => Ok(OpsCall::Wait),
            "submit" => {
                let also = if call.arguments.contains_key("also") { Some(cause(call, "also")?) } else { None };
                Ok(OpsCall::Submit { cause: cause(call, "cause")?, also })
            }
            other => Err(ToolResult::error(ErrorType::UnknownTool, format!("no tool is named `{other}`"))),
        }
    }
}

fn text<'a>(call: &'a ToolCall, key: &str) -> Result<&'a str, ToolResult> {
    let value = call.arguments.get(key).and_then(Value::as_str);
    value.ok_or_else(|| ToolResult::error(ErrorType::Schema, format!("{key}: a string is needed")))
}

fn cause(call: &ToolCall, key: &str) -> Result<Cause, ToolResult> {
    let word = text(call, key)?;
    Cause::from_word(word).ok_or_else(|| ToolResult::error(ErrorType::Schema, format!("{key}: `{word}` is not a cause")))
}

/// The tools with `names` filled in; with none, any string is a service. `several` allows a second cause.
pub fn specs(names: &[&str], several: bool) -> Vec<ToolSpec> {
    let svc = if names.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": names}) };
    let causes: Vec<&str> = Cause::ALL.iter().map(|c| c.word()).collect();
    let cause = json!({"type": "string", "enum": causes});
    let replicas: Vec<u32> = (1..=REPLICAS_MAX).collect();
    let tool = |name: &str, description: &str, mutates: bool, properties: Value, required: &[&str]| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters: json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        mutates,
    };
    let mut submit = json!({"cause": cause});
    if several {
        submit["also"] = cause.clone();
    }
    vec![
        tool(
            "query",
            "Read a service's logs or traces; the answer stands in the next observation.",
            false,
            json!({"svc": svc, "of": {"type": "string", "enum": ["logs", "traces"]}}),
            &["svc", "of"],
        ),
        tool(
            "scale",
            "Run a service with n replicas.",
            true,
            json!({"svc": svc, "n": {"type": "integer", "enum": replicas}}),
            &["svc", "n"],
        ),
        tool("restart", "Restart all replicas of a service.", true, json!({"svc": svc}), &["svc"]),
        tool("rollback", "Go back to a service's previous version.", true, json!({"svc": svc}), &["svc"]),
        tool("shed", "Shed load: refuse extra traffic and answer without outside dependencies.", true, json!({"svc": svc}), &["svc"]),
        tool("wait", "Do nothing for one tick.", false, json!({}), &[]),
        tool("submit", "End the incident and name its cause.", false, submit, &["cause"]),
    ]
}
