//! One way for every call: is there such a tool, do the arguments fit, who answers.

use super::calculator;
use crate::event::schema::{Schema, SchemaError, Violation, cut};
use crate::event::{ErrorType, SafeText, ToolCall, ToolResult, ToolSpec, nearest};

/// Tools that can't be offered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    #[error("tool `{tool}`: {source}")]
    Schema { tool: String, source: SchemaError },
    #[error("two tools are named `{0}`; rename one")]
    Duplicate(String),
}

/// Why a call was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    #[error("no tool is named `{name}`; {hint}")]
    UnknownTool { name: SafeText, hint: SafeText },
    #[error("{tool}: {violation}")]
    Schema { tool: SafeText, violation: Violation },
}

impl CallError {
    pub fn error_type(&self) -> ErrorType {
        match self {
            CallError::UnknownTool { .. } => ErrorType::UnknownTool,
            CallError::Schema { .. } => ErrorType::Schema,
        }
    }
}

impl From<CallError> for ToolResult {
    fn from(error: CallError) -> Self {
        ToolResult::error(error.error_type(), error.to_string())
    }
}

/// Where a call goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Routed {
    /// The arguments fit: the environment takes it as `Action::Tool`.
    Environment,
    /// Answered in this process: the environment takes it as `Action::Outside` with this result, which may be the tool's own error.
    Finished(ToolResult),
    /// Never made. The environment takes the message as `Action::Text`; the agent is told why.
    Refused(CallError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Environment,
    Calculator,
}

/// The tools of one episode. Make a new one when an episode brings other names.
#[derive(Clone, Debug)]
pub struct Router {
    tools: Vec<(ToolSpec, Schema, Owner)>,
}

impl Router {
    /// The environment's tools, then the calculator unless the environment has its own tool of that name.
    pub fn new(environment: &[ToolSpec]) -> Result<Self, LoadError> {
        let mut tools: Vec<(ToolSpec, Schema, Owner)> = Vec::with_capacity(environment.len() + 1);
        let calculator = calculator::spec();
        let is_own = environment.iter().any(|spec| spec.name == calculator.name);
        let builtin = (!is_own).then_some((&calculator, Owner::Calculator));
        for (spec, owner) in environment.iter().map(|spec| (spec, Owner::Environment)).chain(builtin) {
            if tools.iter().any(|(known, ..)| known.name == spec.name) {
                return Err(LoadError::Duplicate(spec.name.clone()));
            }
            let schema = Schema::of_parameters(&spec.parameters).map_err(|source| LoadError::Schema { tool: spec.name.clone(), source })?;
            tools.push((spec.clone(), schema, owner));
        }
        Ok(Self { tools })
    }

    /// All tools, the environment's first.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|(spec, ..)| spec)
    }

    /// Validates a call and says who answers it, or answers it here. Never blocks.
    pub fn route(&self, call: &ToolCall) -> Routed {
        let Some((spec, schema, owner)) = self.tools.iter().find(|(spec, ..)| spec.name == call.name) else {
            return Routed::Refused(self.unknown(&call.name));
        };
        if let Err(violation) = schema.check(&call.arguments) {
            return Routed::Refused(CallError::Schema { tool: SafeText::new(&spec.name), violation });
        }
        match owner {
            Owner::Environment => Routed::Environment,
            Owner::Calculator => Routed::Finished(calculator::answer(call)),
        }
    }

    fn unknown(&self, name: &str) -> CallError {
        let names = || self.specs().map(|spec| spec.name.as_str());
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        CallError::UnknownTool { name: cut(name), hint: hint.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn tool(name: &str, parameters: Value) -> ToolSpec {
        ToolSpec { name: name.into(), description: String::new(), parameters, mutates: false }
    }

    fn router() -> Router {
        let scale = json!({"type": "object", "properties": {"svc": {"type": "string", "enum": ["pay"]}}, "required": ["svc"], "additionalProperties": false});
        Router::new(&[tool("scale", scale), tool("wait", json!({"type": "object", "additionalProperties": false}))]).unwrap()
    }

    fn refused(call: ToolCall) -> ToolResult {
        match router().route(&call) {
            Routed::Refused(error) => error.into(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_call_goes_to_its_owner() {
        assert_eq!(router().route(&ToolCall::new("scale").with("svc", "pay")), Routed::Environment);
        let call = ToolCall::new("calculator").with("expression", "2 * (3 + 4)");
        assert_eq!(router().route(&call), Routed::Finished(ToolResult::ok("14")));
        let names: Vec<String> = router().specs().map(|spec| spec.name.clone()).collect();
        assert_eq!(names, ["scale", "wait", "calculator"]);
    }

    #[test]
    fn an_unknown_tool_and_a_bad_argument_are_told_apart() {
        let result = refused(ToolCall::new("scael"));
        assert_eq!(result.error_type, Some(ErrorType::UnknownTool));
        insta::assert_snapshot!(result.content, @"no tool is named `scael`; did you mean `scale`?");
        insta::assert_snapshot!(refused(ToolCall::new("rm -rf /")).content, @"no tool is named `rm -rf /`; there are scale, wait, calculator");
        let result = refused(ToolCall::new("scale").with("svc", "db"));
        assert_eq!(result.error_type, Some(ErrorType::Schema));
        insta::assert_snapshot!(result.content, @"scale: svc: `db` is not one of pay");
        insta::assert_snapshot!(refused(ToolCall::new("wait").with("n", 1)).content, @"wait: n: no argument has this name; it takes none");
        insta::assert_snapshot!(refused(ToolCall::new("calculator").with("expression", 7)).content, @"calculator: expression: a string is needed, not `7`");
    }

    #[test]
    fn tools_that_can_t_be_offered_are_refused_at_load() {
        let open = || json!({"type": "object"});
        assert_eq!(Router::new(&[tool("a", open()), tool("a", open())]).unwrap_err(), LoadError::Duplicate("a".into()));
        let error = Router::new(&[tool("a", json!({"type": "object", "oneOf": []}))]).unwrap_err();
        assert!(error.to_string().starts_with("tool `a`: the schema keyword `oneOf`"), "{error}");
    }

    #[test]
    fn an_environment_with_its_own_calculator_keeps_it() {
        let router = Router::new(&[tool("calculator", json!({"type": "object"}))]).unwrap();
        assert_eq!(router.route(&ToolCall::new("calculator")), Routed::Environment);
        assert_eq!(router.specs().count(), 1);
    }

    #[test]
    fn the_ops_simulator_s_schemas_are_all_checkable() {
        // The shapes of its tools: strings and integers by enum, closed objects.
        let parameters = json!({"type": "object", "properties": {"n": {"type": "integer", "enum": [1, 2, 3]}}, "required": ["n"], "additionalProperties": false});
        let router = Router::new(&[tool("scale", parameters)]).unwrap();
        assert_eq!(router.route(&ToolCall::new("scale").with("n", 3)), Routed::Environment);
        assert!(matches!(router.route(&ToolCall::new("scale").with("n", 4)), Routed::Refused(_)));
        assert!(matches!(router.route(&ToolCall::new("scale").with("n", 3.0)), Routed::Refused(_)));
    }

    proptest! {
        #[test]
        fn no_call_panics(name in "\\PC{0,20}", key in "[a-z]{0,8}", value in "\\PC{0,40}") {
            let router = router();
            router.route(&ToolCall::new(name).with(&key, value.clone()));
            router.route(&ToolCall::new("calculator").with("expression", value));
        }
    }
}
