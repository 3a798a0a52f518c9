//! How a decision is written as text: `THOUGHT<act>{"tool":"restart","svc":"pay"}<end>`, the prompt having ended with `<think>`.

use crate::event::{SafeText, ToolCall};
use serde_json::{Map, Value};

/// The mark between thought and call, and the one that ends a message.
pub const ACT_MARK: &str = "<act>";
pub const END_MARK: &str = "<end>";
/// The key of the call's object that names the tool.
pub const TOOL_KEY: &str = "tool";

/// A message that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub thought: SafeText,
    pub call: ToolCall,
}

/// A message without a call that can be read. The thought is kept as far as there was one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FormatError {
    #[error("the message has no call: no {ACT_MARK} in it")]
    NoCall,
    #[error("the call was cut off: no {END_MARK} follows it")]
    NoEnd,
    #[error("the call is not a JSON object with a `{TOOL_KEY}`: {0}")]
    BadJson(String),
}

/// The call as the flat object that the model writes: the tool's name first, then its arguments in their order.
pub fn render_call(call: &ToolCall) -> String {
    let mut object = Map::new();
    object.insert(TOOL_KEY.to_owned(), Value::from(call.name.as_str()));
    object.extend(call.arguments.clone());
    Value::Object(object).to_string()
}

pub fn render_message(thought: &str, call: &ToolCall) -> String {
    format!("{thought}{ACT_MARK}{}{END_MARK}", render_call(call))
}

/// The thought of a message, whole or not.
pub fn thought_of(message: &str) -> SafeText {
    let thought = message.split(ACT_MARK).next().unwrap_or_default();
    SafeText::new(thought.strip_suffix(END_MARK).unwrap_or(thought))
}

pub fn parse_message(message: &str) -> Result<Parsed, FormatError> {
    let (_, rest) = message.split_once(ACT_MARK).ok_or(FormatError::NoCall)?;
    let json = rest.strip_suffix(END_MARK).ok_or(FormatError::NoEnd)?;
    let mut arguments: Map<String, Value> = serde_json::from_str(json).map_err(|e| FormatError::BadJson(e.to_string()))?;
    match arguments.shift_remove(TOOL_KEY) {
        Some(Value::String(name)) => Ok(Parsed { thought: thought_of(message), call: ToolCall { name, arguments } }),
        Some(other) => Err(FormatError::BadJson(format!("`{TOOL_KEY}` is {other}, not a name"))),
        None => Err(FormatError::BadJson(format!("`{TOOL_KEY}` is missing"))),
    }
}

/// Whether the thought's first clause is a verbatim span of what was observed: the measure of thought fidelity.
pub fn is_faithful(thought: &str, observation: &str) -> bool {
    let clause = thought.split(", ").next().unwrap_or_default();
    !clause.is_empty() && observation.contains(clause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_reads_back() {
        let call = ToolCall::new("scale").with("svc", "pay").with("n", 8);
        let text = render_message("logs(pay): queue full, want 8, spike, scale", &call);
        assert_eq!(text, r#"logs(pay): queue full, want 8, spike, scale<act>{"tool":"scale","svc":"pay","n":8}<end>"#);
        let parsed = parse_message(&text).unwrap();
        assert_eq!(parsed.call, call);
        assert_eq!(parsed.thought.as_str(), "logs(pay): queue full, want 8, spike, scale");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(parse_message("hm"), Err(FormatError::NoCall));
        assert_eq!(parse_message("hm<act>{\"tool\":\"wait\"}"), Err(FormatError::NoEnd));
        assert!(matches!(parse_message("hm<act>{}<end>"), Err(FormatError::BadJson(_))));
        assert!(matches!(parse_message("hm<act>{\"tool\":3}<end>"), Err(FormatError::BadJson(_))));
        assert!(matches!(parse_message("hm<act>[<end>"), Err(FormatError::BadJson(_))));
    }

    #[test]
    fn fidelity_asks_for_a_span() {
        let seen = "t03;gw p9 e1 c9 r5 n2;hot();alert(gw,pay)";
        assert!(is_faithful("alert(gw,pay), query pay", seen));
        assert!(!is_faithful("alert(gw), query gw", seen));
        assert!(!is_faithful("", seen));
    }

    proptest! {
        #[test]
        fn any_call_round_trips(name in "[a-z]{1,8}", args in prop::collection::vec(("[a-s]{1,6}", "\\PC{0,12}"), 0..4), thought in "[a-z ,():]{0,40}") {
            let mut call = ToolCall::new(name);
            for (key, value) in args {
                if key != TOOL_KEY { call = call.with(&key, value); }
            }
            let parsed = parse_message(&render_message(&thought, &call)).unwrap();
            prop_assert_eq!(parsed.call, call);
            prop_assert_eq!(parsed.thought.as_str(), thought);
        }

        #[test]
        fn garbage_never_panics(text in "\\PC{0,60}") {
            let _ = parse_message(&text);
            let _ = parse_message(&format!("x<act>{text}<end>"));
        }
    }
}
