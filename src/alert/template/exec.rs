//! Carrying out a template: never longer than its bounds.

use super::ast::{Branch, Command, Node, Operand, OperandKind, Pipeline};
use super::lex::Number;
use super::parse::Trees;
use super::printf::shown;
use super::value::{Data, Value};
use super::{Scope, TemplateError, functions, methods};
use crate::metrics::Labels;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nodes and function calls of one expansion.
const STEPS_MAX: usize = 200_000;
pub(super) const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// All texts that functions of one expansion make.
const MADE_BYTES_MAX: usize = 16 << 20;
/// Templates that call each other.
const DEPTH_MAX: usize = 100;

/// Expands the text of a rule.
pub(super) fn run(name: &str, text: &str, trees: &Trees, scope: &Scope<'_>) -> Result<String, TemplateError> {
    let data = Value::Data(Arc::new(Data {
        labels: Arc::new(map(scope.labels)),
        external_labels: Arc::new(map(scope.external_labels)),
        external_url: Arc::from(scope.external_url),
        value: scope.value,
    }));
    let mut machine = Machine { name, text, trees, scope, out: String::new(), variables: Vec::new(), steps: 0, made_bytes: 0, depth: 0 };
    machine.variables.push(("$".into(), data.clone()));
    machine.nodes(&trees.main, &data)?;
    Ok(machine.out)
}

pub(super) fn map(labels: &Labels) -> BTreeMap<String, String> {
    labels.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What a list of nodes wants of the range around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
}

pub(super) type Done<T> = Result<T, TemplateError>;

pub(super) struct Machine<'m> {
    name: &'m str,
    text: &'m str,
    trees: &'m Trees,
    pub scope: &'m Scope<'m>,
    out: String,
    variables: Vec<(String, Value)>,
    steps: usize,
    made_bytes: usize,
    depth: usize,
}

impl Machine<'_> {
    /// An error with its place, as Go writes it.
    fn fail<T>(&self, at: usize, node: &str, message: &str) -> Done<T> {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        let column = before.iter().rposition(|b| *b == b'\n').map_or(before.len(), |newline| before.len() - newline - 1);
        let shown = if node.chars().count() > 20 { format!("{}...", node.chars().take(20).collect::<String>()) } else { node.to_owned() };
        Err(TemplateError(format!("template: {0}:{line}:{column}: executing {0:?} at <{shown}>: {message}", self.name)))
    }

    fn step(&mut self) -> Done<()> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(TemplateError(format!("template: {}: more than {STEPS_MAX} steps", self.name)));
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Done<()> {
        if self.out.len() + text.len() > OUTPUT_BYTES_MAX {
            return Err(TemplateError(format!("template: {}: more than {OUTPUT_BYTES_MAX} bytes of output", self.name)));
        }
        self.out.push_str(text);
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node], dot: &Value) -> Done<Flow> {
        for node in nodes {
            self.step()?;
            let flow = self.node(node, dot)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn node(&mut self, node: &Node, dot: &Value) -> Done<Flow> {
        match node {
            Node::Text(text) => self.print(text)?,
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    self.print(&shown(&value))?;
                }
            }
            Node::If(branch) => return self.scoped(|m| m.condition(branch, dot, false)),
            Node::With(branch) => return self.scoped(|m| m.condition(branch, dot, true)),
            Node::Range(branch) => return self.scoped(|m| m.range(branch, dot)),
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Template { at, name, argument } => {
                let argument = argument.as_ref().map_or(Ok(Value::Nil), |argument| self.pipeline(argument, dot))?;
                self.call_template(*at, name, argument)?;
            }
        }
        Ok(Flow::On)
    }

    /// What is set inside ends with it.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        let known = self.variables.len();
        let result = inner(self);
        self.variables.truncate(known);
        result
    }

    fn condition(&mut self, branch: &Branch, dot: &Value, is_with: bool) -> Done<Flow> {
        let value = self.pipeline(&branch.pipeline, dot)?;
        match value.is_true() {
            true => self.nodes(&branch.body, if is_with { &value } else { dot }),
            false => self.nodes(&branch.otherwise, dot),
        }
    }

    fn range(&mut self, branch: &Branch, dot: &Value) -> Done<Flow> {
        let over = self.pipeline(&branch.pipeline, dot)?;
        let items: Vec<(Value, Value)> = match &over {
            Value::Samples(samples) => {
                samples.iter().enumerate().map(|(i, sample)| (Value::Int(i as i64), Value::Sample(Arc::clone(sample)))).collect()
            }
            Value::Labels(map) => map.iter().map(|(name, value)| (Value::text(name), Value::text(value))).collect(),
            Value::Args(map) => map.iter().map(|(name, value)| (Value::text(name), value.clone())).collect(),
            // Go counts since 1.22; each turn is a step, of which there are only so many.
            Value::Int(count) | Value::Int64(count) => {
                (0..(*count).min(STEPS_MAX as i64 + 1)).map(|i| (Value::Int(i), Value::Int(i))).collect()
            }
            Value::Nil => Vec::new(),
            Value::Bool(_)
            | Value::Byte(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Html(_)
            | Value::Sample(_)
            | Value::Time(_)
            | Value::Duration(_)
            | Value::Month(_)
            | Value::Weekday(_)
            | Value::Data(_) => {
                let message = format!("range can't iterate over {}", shown(&over));
                return self.fail(branch.pipeline.at, &branch.pipeline.to_string(), &message);
            }
        };
        if items.is_empty() {
            return self.nodes(&branch.otherwise, dot);
        }
        for (key, item) in items {
            self.step()?;
            let known = self.variables.len();
            match branch.pipeline.variables.as_slice() {
                [one] => self.turn(branch, one, item.clone())?,
                [first, second] => {
                    self.turn(branch, first, key)?;
                    self.turn(branch, second, item.clone())?;
                }
                _ => {}
            }
            let flow = self.nodes(&branch.body, &item);
            self.variables.truncate(known);
            if flow? == Flow::Break {
                break;
            }
        }
        Ok(Flow::On)
    }

    /// Sets a variable of a range for one turn.
    fn turn(&mut self, branch: &Branch, name: &str, value: Value) -> Done<()> {
        self.set(&branch.pipeline, name, value)
    }

    fn set(&mut self, pipeline: &Pipeline, name: &str, value: Value) -> Done<()> {
        if !pipeline.is_assignment {
            self.variables.push((name.to_owned(), value));
            return Ok(());
        }
        match self.variables.iter_mut().rev().find(|(own, _)| own == name) {
            Some((_, known)) => {
                *known = value;
                Ok(())
            }
            None => self.fail(pipeline.at, &pipeline.to_string(), &format!("undefined variable: {name}")),
        }
    }

    /// Runs a defined template into the output.
    fn call_template(&mut self, at: usize, name: &str, argument: Value) -> Done<()> {
        let Some(nodes) = self.trees.defined.get(name) else {
            return self.fail(at, &format!("{{{{template {name:?}}}}}"), &format!("template {name:?} not defined"));
        };
        if self.depth >= DEPTH_MAX {
            return self.fail(at, &format!("{{{{template {name:?}}}}}"), &format!("exceeded maximum template depth ({DEPTH_MAX})"));
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.variables, vec![("$".into(), argument.clone())]);
        let done = self.nodes(nodes, &argument);
        self.variables = outer;
        self.depth -= 1;
        done.map(drop)
    }

    /// What a defined template comes to, for the function `tmpl`.
    pub fn template_text(&mut self, name: &str, argument: Value) -> Done<String> {
        let outer = std::mem::take(&mut self.out);
        let done = self.call_template(0, name, argument);
        let text = std::mem::replace(&mut self.out, outer);
        done.map(|()| text)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Value) -> Done<Value> {
        let value = self.value_of(pipeline, dot)?;
        for name in &pipeline.variables {
            self.set(pipeline, name, value.clone())?;
        }
        Ok(value)
    }

    fn value_of(&mut self, pipeline: &Pipeline, dot: &Value) -> Done<Value> {
        let mut last = None;
        for command in &pipeline.commands {
            self.step()?;
            last = Some(self.command(command, dot, last)?);
        }
        Ok(last.unwrap_or(Value::Nil))
    }

    fn command(&mut self, command: &Command, dot: &Value, last: Option<Value>) -> Done<Value> {
        let Some((first, rest)) = command.arguments.split_first() else { return Ok(Value::Nil) };
        match &first.kind {
            OperandKind::Function(name) => return self.function(first, name, rest, dot, last),
            OperandKind::Nil => return self.fail(first.at, "nil", "nil is not a command"),
            OperandKind::Dot | OperandKind::Bool(_) | OperandKind::Number(..) | OperandKind::Text { .. } => {}
            OperandKind::Variable(_, names) | OperandKind::Field(names) | OperandKind::Pipeline(_, names) => {
                if let Some((method, names)) = names.split_last() {
                    let value = self.base(first, dot)?;
                    let value = self.fields(first, value, names)?;
                    let mut arguments = self.operands(rest, dot)?;
                    let has_arguments = !rest.is_empty() || last.is_some();
                    arguments.extend(last);
                    return self.field(first, value, method, has_arguments, &arguments);
                }
            }
        }
        if !rest.is_empty() || last.is_some() {
            return self.fail(first.at, &first.to_string(), &format!("can't give argument to non-function {first}"));
        }
        self.operand(first, dot)
    }

    fn operands(&mut self, operands: &[Operand], dot: &Value) -> Done<Vec<Value>> {
        operands.iter().map(|operand| self.operand(operand, dot)).collect()
    }

    fn function(&mut self, at: &Operand, name: &str, rest: &[Operand], dot: &Value, last: Option<Value>) -> Done<Value> {
        let mut arguments = Vec::with_capacity(rest.len() + 1);
        for operand in rest {
            let value = self.operand(operand, dot)?;
            // What decides is the last that is worked out.
            let decides = match name {
                "and" => !value.is_true(),
                "or" => value.is_true(),
                _ => false,
            };
            if decides {
                return Ok(value);
            }
            arguments.push(value);
        }
        arguments.extend(last);
        self.step()?;
        let called = functions::call(self, name, arguments);
        self.called(at, name, rest, called)
    }

    /// The value of a call, or its error with its place.
    fn called(&mut self, at: &Operand, name: &str, rest: &[Operand], called: functions::Called<Value>) -> Done<Value> {
        match called {
            Ok(value) => {
                if let Value::Text(text) | Value::Html(text) = &value {
                    self.made_bytes += text.len();
                }
                if self.made_bytes > MADE_BYTES_MAX {
                    return self.fail(at.at, name, &format!("more than {MADE_BYTES_MAX} bytes of texts"));
                }
                Ok(value)
            }
            Err(functions::Wrong::Call(message)) => self.fail(at.at, name, &message),
            Err(functions::Wrong::Value(message)) => self.fail(at.at, &shown_call(name, rest), &format!("error calling {name}: {message}")),
            Err(functions::Wrong::Inner(error)) => Err(error),
        }
    }

    fn operand(&mut self, operand: &Operand, dot: &Value) -> Done<Value> {
        let value = self.base(operand, dot)?;
        match &operand.kind {
            OperandKind::Variable(_, names) | OperandKind::Field(names) | OperandKind::Pipeline(_, names) => {
                self.fields(operand, value, names)
            }
            OperandKind::Dot
            | OperandKind::Nil
            | OperandKind::Bool(_)
            | OperandKind::Number(..)
            | OperandKind::Text { .. }
            | OperandKind::Function(_) => Ok(value),
        }
    }

    /// What an operand is without its fields.
    fn base(&mut self, operand: &Operand, dot: &Value) -> Done<Value> {
        match &operand.kind {
            OperandKind::Dot | OperandKind::Field(_) => Ok(dot.clone()),
            OperandKind::Nil => Ok(Value::Nil),
            OperandKind::Bool(value) => Ok(Value::Bool(*value)),
            OperandKind::Number(_, Number::Int(number)) => Ok(Value::Int(*number)),
            OperandKind::Number(raw, Number::Unsigned) => self.fail(operand.at, raw, &format!("{raw} overflows int")),
            OperandKind::Number(_, Number::Float(number)) => Ok(Value::Float(*number)),
            OperandKind::Text { text, .. } => Ok(Value::text(text)),
            OperandKind::Function(name) => self.function(operand, name, &[], dot, None),
            OperandKind::Variable(name, _) => match self.variables.iter().rev().find(|(own, _)| own == name) {
                Some((_, value)) => Ok(value.clone()),
                None => self.fail(operand.at, name, &format!("undefined variable: {name}")),
            },
            OperandKind::Pipeline(pipeline, _) => self.pipeline(pipeline, dot),
        }
    }

    fn fields(&mut self, operand: &Operand, value: Value, names: &[String]) -> Done<Value> {
        let is_nothing = matches!(value, Value::Nil);
        names.iter().try_fold(value, |value, name| {
            // What is nothing from the start has all fields, as Prometheus asks Go for zeroes; what a map has not, has none.
            if !is_nothing && matches!(value, Value::Nil) {
                return self.fail(operand.at, &operand.to_string(), &format!("nil pointer evaluating interface {{}}.{name}"));
            }
            self.field(operand, value, name, false, &[])
        })
    }

    /// A field, or what a method comes to.
    fn field(&mut self, operand: &Operand, value: Value, name: &str, has_arguments: bool, arguments: &[Value]) -> Done<Value> {
        if matches!(value, Value::Nil) {
            return Ok(Value::Nil);
        }
        if let Some(called) = methods::call(&value, name, arguments) {
            return self.called(operand, name, &[], called);
        }
        let found = match (&value, name) {
            (Value::Labels(map), name) => Some(Value::text(map.get(name).map_or("", String::as_str))),
            (Value::Args(map), name) => Some(map.get(name).cloned().unwrap_or(Value::Nil)),
            (Value::Sample(sample), "Labels") => Some(Value::Labels(Arc::clone(&sample.labels))),
            (Value::Sample(sample), "Value") => Some(Value::Float(sample.value)),
            (Value::Data(data), "Labels") => Some(Value::Labels(Arc::clone(&data.labels))),
            (Value::Data(data), "ExternalLabels") => Some(Value::Labels(Arc::clone(&data.external_labels))),
            (Value::Data(data), "ExternalURL") => Some(Value::Text(Arc::clone(&data.external_url))),
            (Value::Data(data), "Value") => Some(Value::Float(data.value)),
            _ => None,
        };
        match found {
            Some(_) if has_arguments => self.fail(operand.at, &operand.to_string(), &format!("{name} is not a method but has arguments")),
            Some(found) => Ok(found),
            None => self.fail(operand.at, &operand.to_string(), &format!("can't evaluate field {name} in type {}", value.type_name())),
        }
    }
}

fn shown_call(name: &str, rest: &[Operand]) -> String {
    rest.iter().fold(name.to_owned(), |text, operand| format!("{text} {operand}"))
}
