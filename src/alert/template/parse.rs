//! From words to a tree.

use super::TemplateError;
use super::ast::{Branch, Command, Node, Operand, OperandKind, Pipeline};
use super::functions::is_function;
use super::lex::{Number, Token, Word, lex, number_of};
use std::collections::BTreeMap;

/// Actions and parentheses within each other.
const DEPTH_MAX: usize = 100;

/// The templates of one text: its own, and those that it defines.
#[derive(Clone, Debug)]
pub(super) struct Trees {
    pub main: Vec<Node>,
    pub defined: BTreeMap<String, Vec<Node>>,
}

pub(super) fn parse(name: &str, text: &str) -> Result<Trees, TemplateError> {
    let line = |at: usize| 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let located = |at: usize, message: &str| TemplateError(format!("template: {name}:{}: {message}", line(at)));
    let tokens = lex(text).map_err(|(at, error)| located(at, &error.0))?;
    let mut parser = Parser { tokens, next: 0, variables: vec!["$".into()], defined: BTreeMap::new(), depth: 0, ranges: 0 };
    match parser.list(&[]) {
        Ok((main, _)) => Ok(Trees { main, defined: parser.defined }),
        Err((at, message)) => Err(located(at, &message)),
    }
}

fn is_blank(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| matches!(node, Node::Text(text) if text.trim().is_empty()))
}

type Parsed<T> = Result<T, (usize, String)>;

/// What ended a list.
enum Ended {
    Text,
    End,
    Else,
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// Names that are known here.
    variables: Vec<String>,
    defined: BTreeMap<String, Vec<Node>>,
    depth: usize,
    /// Ranges around this place.
    ranges: usize,
}

impl Parser {
    fn peek(&self) -> &Word {
        self.tokens.get(self.next).map_or(&Word::End, |token| &token.word)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |token| token.at)
    }

    fn take(&mut self) -> Word {
        let word = self.peek().clone();
        self.next += usize::from(self.next < self.tokens.len());
        word
    }

    fn skip_space(&mut self) {
        while *self.peek() == Word::Space {
            self.next += 1;
        }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err((self.at(), message.into()))
    }

    fn unexpected<T>(&self, context: &str) -> Parsed<T> {
        if *self.peek() == Word::End {
            self.fail("unexpected EOF")
        } else {
            self.fail(format!("unexpected {} in {context}", self.peek().shown()))
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return self.fail("nested too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Nodes up to what ends them: the text's end at the top, `end` or `else` within something, whose name is `within`.
    fn list(&mut self, within: &[&str]) -> Parsed<(Vec<Node>, Ended)> {
        let mut nodes = Vec::new();
        loop {
            match self.take() {
                Word::End if within.is_empty() => return Ok((nodes, Ended::Text)),
                Word::End => return self.fail("unexpected EOF"),
                Word::Text(text) => nodes.push(Node::Text(text)),
                Word::Left => {
                    self.skip_space();
                    let keyword = match self.peek() {
                        Word::Identifier(name) if super::lex::is_keyword(name) && name != "nil" => name.clone(),
                        _ => String::new(),
                    };
                    match keyword.as_str() {
                        "end" | "else" if within.is_empty() => return self.fail(format!("unexpected {{{{{keyword}}}}}")),
                        "end" => {
                            self.next += 1;
                            self.right("end")?;
                            return Ok((nodes, Ended::End));
                        }
                        "else" => {
                            self.next += 1;
                            return Ok((nodes, Ended::Else));
                        }
                        "define" if within.is_empty() => self.define()?,
                        "" => nodes.push(self.action()?),
                        keyword => {
                            let keyword = keyword.to_owned();
                            let node = self.deeper(|parser| parser.control(&keyword))?;
                            nodes.push(node);
                        }
                    }
                }
                word => return Err((self.at(), format!("unexpected {} in input", word.shown()))),
            }
        }
    }

    fn right(&mut self, context: &str) -> Parsed<()> {
        self.skip_space();
        if *self.peek() != Word::Right {
            return self.unexpected(context);
        }
        self.next += 1;
        Ok(())
    }

    fn action(&mut self) -> Parsed<Node> {
        Ok(Node::Action(self.pipeline("command", false)?))
    }

    fn control(&mut self, keyword: &str) -> Parsed<Node> {
        let at = self.at();
        self.next += 1;
        match keyword {
            "if" => Ok(Node::If(self.branch("if")?)),
            "with" => Ok(Node::With(self.branch("with")?)),
            "range" => Ok(Node::Range(self.branch("range")?)),
            "break" | "continue" => {
                if self.ranges == 0 {
                    return self.fail(format!("{{{{{keyword}}}}} outside {{{{range}}}}"));
                }
                self.right(keyword)?;
                Ok(if keyword == "break" { Node::Break } else { Node::Continue })
            }
            "template" => {
                let name = self.quoted_name("template clause")?;
                self.skip_space();
                let argument = if *self.peek() == Word::Right {
                    self.next += 1;
                    None
                } else {
                    Some(self.pipeline("template clause", false)?)
                };
                Ok(Node::Template { at, name, argument })
            }
            "block" => {
                let name = self.quoted_name("block clause")?;
                let argument = self.pipeline("block clause", false)?;
                self.body_of(&name, "block")?;
                Ok(Node::Template { at, name, argument: Some(argument) })
            }
            _ => self.fail(format!("unexpected {{{{{keyword}}}}}")),
        }
    }

    fn define(&mut self) -> Parsed<()> {
        self.next += 1;
        let name = self.quoted_name("define clause")?;
        self.right("define clause")?;
        self.deeper(|parser| parser.body_of(&name, "define"))
    }

    fn body_of(&mut self, name: &str, what: &str) -> Parsed<()> {
        let outer = std::mem::replace(&mut self.variables, vec!["$".into()]);
        let ranges = std::mem::take(&mut self.ranges);
        let (body, ended) = self.list(&[what])?;
        (self.variables, self.ranges) = (outer, ranges);
        if matches!(ended, Ended::Else) {
            return self.fail(format!("unexpected {{{{else}}}} in {what} clause"));
        }
        // Of several definitions only one may say anything.
        match self.defined.get(name) {
            Some(known) if !is_blank(known) && !is_blank(&body) => self.fail(format!("multiple definition of template {name:?}")),
            Some(known) if !is_blank(known) => Ok(()),
            Some(_) | None => {
                self.defined.insert(name.to_owned(), body);
                Ok(())
            }
        }
    }

    fn quoted_name(&mut self, context: &str) -> Parsed<String> {
        self.skip_space();
        match self.peek().clone() {
            Word::Quoted(_, text) => {
                self.next += 1;
                Ok(text)
            }
            _ => self.unexpected(context),
        }
    }

    fn branch(&mut self, what: &str) -> Parsed<Branch> {
        let known = self.variables.len();
        let pipeline = self.pipeline(what, what == "range")?;
        self.ranges += usize::from(what == "range");
        let (body, ended) = self.list(&[what])?;
        self.ranges -= usize::from(what == "range");
        let otherwise = match ended {
            Ended::End | Ended::Text => Vec::new(),
            Ended::Else => self.otherwise(what)?,
        };
        self.variables.truncate(known);
        Ok(Branch { pipeline, body, otherwise })
    }

    /// Behind `else`: the rest of a chain, or the last list.
    fn otherwise(&mut self, what: &str) -> Parsed<Vec<Node>> {
        self.skip_space();
        match self.peek().clone() {
            Word::Identifier(name) if name == what && matches!(what, "if" | "with") => {
                self.next += 1;
                let chained = self.deeper(|parser| parser.branch(what))?;
                Ok(vec![if what == "if" { Node::If(chained) } else { Node::With(chained) }])
            }
            _ => {
                self.right("else")?;
                match self.list(&[what])? {
                    (nodes, Ended::End | Ended::Text) => Ok(nodes),
                    (_, Ended::Else) => self.fail("expected end; found {{else}}"),
                }
            }
        }
    }

    /// A pipeline and what closes it: braces, or a parenthesis in an operand.
    fn pipeline(&mut self, context: &str, is_range: bool) -> Parsed<Pipeline> {
        let pipeline = self.pipeline_until(context, is_range, &Word::Right)?;
        Ok(pipeline)
    }

    fn pipeline_until(&mut self, context: &str, is_range: bool, close: &Word) -> Parsed<Pipeline> {
        self.skip_space();
        let mut pipeline = Pipeline { at: self.at(), variables: Vec::new(), is_assignment: false, commands: Vec::new() };
        self.declaration(&mut pipeline, context, is_range)?;
        loop {
            self.skip_space();
            if self.peek() == close {
                self.next += 1;
                break;
            }
            match self.peek() {
                Word::Identifier(_)
                | Word::Variable(_)
                | Word::Field(_)
                | Word::Dot
                | Word::Quoted(..)
                | Word::Char(..)
                | Word::Number(_)
                | Word::OpenParen => pipeline.commands.push(self.command(close)?),
                Word::Text(_)
                | Word::Left
                | Word::Right
                | Word::Space
                | Word::CloseParen
                | Word::Pipe
                | Word::Comma
                | Word::Declare
                | Word::Assign
                | Word::End => return self.unexpected(context),
            }
        }
        if pipeline.commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        for command in pipeline.commands.iter().skip(1) {
            if let Some(OperandKind::Bool(_) | OperandKind::Dot | OperandKind::Nil | OperandKind::Number(..) | OperandKind::Text { .. }) =
                command.arguments.first().map(|argument| &argument.kind)
            {
                return self.fail(format!("non executable command in pipeline stage {}", 2));
            }
        }
        Ok(pipeline)
    }

    /// `$x :=`, `$x =` or, in a range, `$i, $x :=`. Whether a variable that is assigned to is there is known when it is carried out.
    fn declaration(&mut self, pipeline: &mut Pipeline, context: &str, is_range: bool) -> Parsed<()> {
        let begin = self.next;
        let mut names = Vec::new();
        loop {
            self.skip_space();
            let Word::Variable(name) = self.peek().clone() else { break };
            self.next += 1;
            names.push(name);
            self.skip_space();
            match self.peek() {
                Word::Comma if is_range && names.len() < 2 => self.next += 1,
                Word::Comma => return self.fail(format!("too many declarations in {context}")),
                word @ (Word::Declare | Word::Assign) => {
                    pipeline.is_assignment = *word == Word::Assign;
                    self.next += 1;
                    self.variables.extend(names.iter().cloned());
                    pipeline.variables = names;
                    return Ok(());
                }
                _ => break,
            }
        }
        self.next = begin;
        Ok(())
    }

    fn command(&mut self, close: &Word) -> Parsed<Command> {
        let mut command = Command { arguments: Vec::new() };
        loop {
            self.skip_space();
            if let Some(operand) = self.operand()? {
                command.arguments.push(operand);
            }
            match self.peek() {
                Word::Space => {}
                Word::Pipe => {
                    self.next += 1;
                    break;
                }
                word if word == close => break,
                Word::Right | Word::CloseParen => break,
                _ => return self.unexpected("operand"),
            }
            self.skip_space();
            if matches!(self.peek(), Word::Right | Word::CloseParen) {
                break;
            }
        }
        if command.arguments.is_empty() {
            return self.fail("empty command");
        }
        Ok(command)
    }

    fn operand(&mut self) -> Parsed<Option<Operand>> {
        let at = self.at();
        let kind = match self.peek().clone() {
            Word::Identifier(name) => match name.as_str() {
                "true" | "false" => OperandKind::Bool(name == "true"),
                "nil" => OperandKind::Nil,
                _ if is_function(&name) => OperandKind::Function(name),
                _ if super::lex::is_keyword(&name) => return self.unexpected("operand"),
                _ => return self.fail(format!("function {name:?} not defined")),
            },
            Word::Dot => OperandKind::Dot,
            Word::Variable(name) => {
                if !self.variables.contains(&name) {
                    return self.fail(format!("undefined variable {name:?}"));
                }
                OperandKind::Variable(name, Vec::new())
            }
            Word::Field(name) => OperandKind::Field(vec![name]),
            Word::Char(raw, value) => OperandKind::Number(raw, Number::Int(value)),
            Word::Number(raw) => match number_of(&raw) {
                Some(number) => OperandKind::Number(raw, number),
                None => return self.fail(format!("bad number syntax: {raw:?}")),
            },
            Word::Quoted(raw, text) => OperandKind::Text { raw, text },
            Word::OpenParen => {
                self.next += 1;
                let pipeline = self.deeper(|parser| parser.pipeline_until("parenthesized pipeline", false, &Word::CloseParen))?;
                let names = self.chain();
                return Ok(Some(Operand { at, kind: OperandKind::Pipeline(Box::new(pipeline), names) }));
            }
            Word::Text(_)
            | Word::Left
            | Word::Right
            | Word::Space
            | Word::CloseParen
            | Word::Pipe
            | Word::Comma
            | Word::Declare
            | Word::Assign
            | Word::End => return Ok(None),
        };
        self.next += 1;
        let names = self.chain();
        let kind = match (kind, names.is_empty()) {
            (kind, true) => kind,
            (OperandKind::Variable(name, _), false) => OperandKind::Variable(name, names),
            (OperandKind::Field(mut own), false) => {
                own.extend(names);
                OperandKind::Field(own)
            }
            (OperandKind::Function(name), false) => {
                let function = Operand { at, kind: OperandKind::Function(name) };
                let command = Command { arguments: vec![function] };
                let pipeline = Pipeline { at, variables: Vec::new(), is_assignment: false, commands: vec![command] };
                OperandKind::Pipeline(Box::new(pipeline), names)
            }
            (
                kind @ (OperandKind::Dot
                | OperandKind::Nil
                | OperandKind::Bool(_)
                | OperandKind::Number(..)
                | OperandKind::Text { .. }
                | OperandKind::Pipeline(..)),
                false,
            ) => {
                let shown = Operand { at, kind };
                return self.fail(format!("unexpected . after term {:?}", shown.to_string()));
            }
        };
        Ok(Some(Operand { at, kind }))
    }

    fn chain(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        while let Word::Field(name) = self.peek().clone() {
            self.next += 1;
            names.push(name);
        }
        names
    }
}
