//! A template as a tree, which prints itself as Go's errors show it.

use super::lex::Number;
use std::fmt;

#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    Action(Pipeline),
    If(Branch),
    With(Branch),
    Range(Branch),
    Break,
    Continue,
    Template { at: usize, name: String, argument: Option<Pipeline> },
}

#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub pipeline: Pipeline,
    pub body: Vec<Node>,
    pub otherwise: Vec<Node>,
}

#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub at: usize,
    /// Variables that it sets, and whether they were there before.
    pub variables: Vec<String>,
    pub is_assignment: bool,
    pub commands: Vec<Command>,
}

#[derive(Clone, Debug)]
pub(super) struct Command {
    pub arguments: Vec<Operand>,
}

#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub at: usize,
    pub kind: OperandKind,
}

#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    Dot,
    Nil,
    Bool(bool),
    Number(String, Number),
    Text {
        raw: String,
        text: String,
    },
    Function(String),
    /// `$x.A.B`
    Variable(String, Vec<String>),
    /// `.A.B`
    Field(Vec<String>),
    /// `(pipeline).A.B`
    Pipeline(Box<Pipeline>, Vec<String>),
}

fn fields(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    names.iter().try_for_each(|name| write!(f, ".{name}"))
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Dot => f.write_str("."),
            OperandKind::Nil => f.write_str("nil"),
            OperandKind::Bool(value) => write!(f, "{value}"),
            OperandKind::Number(raw, _) => f.write_str(raw),
            OperandKind::Text { raw, .. } => f.write_str(raw),
            OperandKind::Function(name) => f.write_str(name),
            OperandKind::Variable(name, names) => {
                f.write_str(name)?;
                fields(f, names)
            }
            OperandKind::Field(names) => fields(f, names),
            OperandKind::Pipeline(pipeline, names) => {
                write!(f, "({pipeline})")?;
                fields(f, names)
            }
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{argument}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            write!(f, "{} {} ", self.variables.join(", "), if self.is_assignment { "=" } else { ":=" })?;
        }
        for (i, command) in self.commands.iter().enumerate() {
            write!(f, "{}{command}", if i == 0 { "" } else { " | " })?;
        }
        Ok(())
    }
}
