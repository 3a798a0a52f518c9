//! Tools: what may be called, a call, and what came back.

use super::SafeText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool that the agent may call. `parameters` is a JSON Schema of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: Value,
    /// Whether a call changes anything outside the agent.
    pub mutates: bool,
}

/// A call as the agent made it. Arguments are not validated yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub name: String,
    pub arguments: Map<String, Value>,
}

impl ToolCall {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: Map::new() }
    }

    /// Adds one argument.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(key.to_owned(), value.into());
        self
    }

    /// `name(key=value, …)`, safe to show.
    pub fn display(&self) -> SafeText {
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|(k, v)| match v {
                Value::String(s) => format!("{k}={s}"),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => format!("{k}={v}"),
            })
            .collect();
        SafeText::from(format!("{}({})", self.name, arguments.join(", ")))
    }
}

/// Which way an action went out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Plain words, no call.
    Text,
    /// A tool of the environment or of this process.
    Tool,
    /// Something outside this process.
    Api,
}

/// Why a tool call failed; the label `error_type` of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// The message held no call that could be parsed.
    Format,
    UnknownTool,
    /// The arguments do not fit the tool's schema.
    Schema,
    /// The environment or the tool refused: the target is locked, gone, or at its limit.
    Refused,
    RateLimited,
    Timeout,
    /// The tool itself failed.
    Failed,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub content: SafeText,
    /// `None` when the call succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<ErrorType>,
}

impl ToolResult {
    pub fn ok(content: impl Into<SafeText>) -> Self {
        Self { content: content.into(), error_type: None }
    }

    pub fn error(error_type: ErrorType, content: impl Into<SafeText>) -> Self {
        Self { content: content.into(), error_type: Some(error_type) }
    }
}
