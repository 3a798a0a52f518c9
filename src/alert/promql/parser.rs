//! Words to tree. Precedence climbing over the words of [`super::token`]; depth is bounded, so that no text can exhaust the stack.

use super::QueryError;
use super::ast::{Aggregate, At, Card, DurationExpr, Expr, Grouping, Link, Matching, Moment, Node, Reach, Selector, Subquery, Type};
use super::functions;
use super::text;
use super::token::{Aggregator, Keyword, Kind, Op, Preprocessor, Token, place, tokens};
use crate::metrics::regexp::Allowance;
use crate::metrics::{METRIC_NAME, MatchOp, Matcher};

/// Nesting of parentheses, calls and signs. An evaluation recurses as deep; 2 MiB of stack hold it.
const DEPTH_MAX: usize = 100;
/// Labels, matchers or arguments in one list: each is looked at for every series.
const LIST_MAX: usize = 1000;
/// Bytes of an expression.
const LENGTH_MAX: usize = 1 << 20;

pub type Parsed<T> = Result<T, QueryError>;

/// An error with its place in front, as Prometheus prints it.
pub fn parse_error(input: &str, offset: usize, message: &str) -> QueryError {
    QueryError { message: format!("{}: parse error: {message}", place(input, offset)), offset: Some(offset) }
}

/// A tree whose grammar is right; its types are not checked yet.
pub fn parse(input: &str) -> Parsed<Expr> {
    if input.len() > LENGTH_MAX {
        return Err(parse_error(input, 0, &format!("expression is longer than {LENGTH_MAX} bytes")));
    }
    let mut parser = Parser { input, words: tokens(input), at: 0, depth: 0, aggregations: 0, selectors: 0, regexes: Allowance::default() };
    if *parser.kind() == Kind::End {
        return Err(QueryError { message: "unknown position: parse error: no expression found in input".into(), offset: None });
    }
    let expr = parser.expr(0)?;
    match parser.kind() {
        Kind::End => Ok(expr),
        _ => parser.unexpected("", ""),
    }
}

struct Parser<'i> {
    input: &'i str,
    words: Vec<Token>,
    at: usize,
    depth: usize,
    /// Aggregations that are open here: an error inside of one is called an error of the aggregation.
    aggregations: usize,
    selectors: usize,
    regexes: Allowance,
}

impl Parser<'_> {
    fn kind(&self) -> &Kind {
        // The last word is `End` or `Error`, and nothing passes it.
        self.words.get(self.at).map_or(&Kind::End, |word| &word.kind)
    }

    fn kind_after(&self, count: usize) -> &Kind {
        self.words.get(self.at + count).map_or(&Kind::End, |word| &word.kind)
    }

    fn start(&self) -> usize {
        self.words.get(self.at).map_or(self.input.len(), |word| word.start)
    }

    /// Where the last word that was taken ends.
    fn last_end(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(0, |word| word.end)
    }

    fn word(&self) -> &str {
        self.words.get(self.at).and_then(|word| self.input.get(word.start..word.end)).unwrap_or_default()
    }

    fn take(&mut self, kind: &Kind) -> bool {
        let found = self.kind() == kind;
        self.at += usize::from(found);
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        self.take(&Kind::Keyword(keyword))
    }

    fn fail<T>(&self, offset: usize, message: impl AsRef<str>) -> Parsed<T> {
        Err(parse_error(self.input, offset, message.as_ref()))
    }

    fn unexpected<T>(&self, context: &str, expected: &str) -> Parsed<T> {
        let Some(word) = self.words.get(self.at) else { return self.fail(self.input.len(), "unexpected end of input") };
        if let Kind::Error(message) = &word.kind {
            return self.fail(word.start, message);
        }
        let context = if context.is_empty() && self.aggregations > 0 { "aggregation" } else { context };
        let mut message = format!("unexpected {}", word.describe(self.input));
        if !context.is_empty() {
            message.push_str(" in ");
            message.push_str(context);
        }
        if !expected.is_empty() {
            message.push_str(", expected ");
            message.push_str(expected);
        }
        self.fail(word.start, message)
    }

    fn check_length(&self, length: usize) -> Parsed<()> {
        if length <= LIST_MAX { Ok(()) } else { self.fail(self.start(), format!("more than {LIST_MAX} in one list")) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            return self.fail(self.start(), format!("expression is nested deeper than {DEPTH_MAX} levels"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Operators that bind at least as tightly as `lowest`.
    fn expr(&mut self, lowest: u8) -> Parsed<Expr> {
        let mut left = self.deeper(Self::operand)?;
        while let Kind::Op(op) = *self.kind()
            && op.precedence() >= lowest
        {
            let op_start = self.start();
            self.at += 1;
            let (return_bool, matching) = self.binary_modifiers()?;
            let next = if op == Op::Pow { op.precedence() } else { op.precedence() + 1 };
            let right = self.deeper(|parser| parser.expr(next))?;
            let kind = right.kind();
            let link = Link { op, op_start, return_bool, matching, right, kind };
            left = chained(left, link);
        }
        Ok(left)
    }

    /// A sign binds as tightly as `*`: `-1^2` is −(1²).
    fn operand(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let negative = match self.kind() {
            Kind::Op(Op::Sub) => true,
            Kind::Op(Op::Add) => false,
            _ => {
                let primary = self.primary()?;
                return self.postfix(primary);
            }
        };
        self.at += 1;
        let inner = self.deeper(|parser| parser.expr(Op::Pow.precedence()))?;
        let end = inner.end;
        let node = match inner.node {
            Node::Number(value) => Node::Number(if negative { -value } else { value }),
            _ if negative => Node::Negated(Box::new(inner)),
            _ => Node::Plus(Box::new(inner)),
        };
        Ok(Expr { node, start, end })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let opens = *self.kind_after(1) == Kind::LeftParen;
        let node = match self.kind().clone() {
            Kind::Number | Kind::Duration => Node::Number(self.number()?),
            Kind::Text => Node::Text(self.quoted()?),
            Kind::LeftParen => {
                self.at += 1;
                let inner = self.expr(0)?;
                if !self.take(&Kind::RightParen) {
                    return self.unexpected("", "");
                }
                Node::Paren(Box::new(inner))
            }
            Kind::LeftBrace => self.selector(None)?,
            Kind::Identifier | Kind::Preprocessor(_) if opens => self.call()?,
            Kind::Aggregator(op) if opens || matches!(self.kind_after(1), Kind::Keyword(Keyword::By | Keyword::Without)) => {
                self.aggregate(op)?
            }
            Kind::Identifier
            | Kind::MetricIdentifier
            | Kind::Aggregator(_)
            | Kind::Preprocessor(_)
            | Kind::Op(Op::And | Op::Or | Op::Unless)
            | Kind::Keyword(Keyword::By | Keyword::Without | Keyword::Offset | Keyword::Smoothed | Keyword::Anchored) => {
                let name = self.word().to_owned();
                self.at += 1;
                self.selector(Some(name))?
            }
            _ => return self.unexpected("", ""),
        };
        Ok(Expr { node, start, end: self.last_end() })
    }

    fn number(&mut self) -> Parsed<f64> {
        let word = self.word();
        let value = match self.kind() {
            Kind::Duration => text::duration_ms(word).map(|ms| ms as f64 / 1000.0),
            _ => text::number(word),
        };
        let Some(value) = value else {
            let what = if *self.kind() == Kind::Duration { "not a valid duration string" } else { "error parsing number" };
            return self.fail(self.start(), format!("{what}: {}", text::quote(word.as_bytes())));
        };
        self.at += 1;
        Ok(value)
    }

    /// With an optional sign.
    fn signed_number(&mut self) -> Parsed<Option<f64>> {
        let sign = usize::from(matches!(self.kind(), Kind::Op(Op::Add | Op::Sub)));
        if !matches!(self.kind_after(sign), Kind::Number | Kind::Duration) {
            return Ok(None);
        }
        let negative = *self.kind() == Kind::Op(Op::Sub);
        self.at += sign;
        let value = self.number()?;
        Ok(Some(if negative { -value } else { value }))
    }

    fn quoted(&mut self) -> Parsed<Vec<u8>> {
        let word = self.word();
        let Some(bytes) = text::unquote(word) else {
            return self.fail(self.start(), format!("error unquoting string {}: invalid syntax", text::quote(word.as_bytes())));
        };
        self.at += 1;
        Ok(bytes)
    }

    fn call(&mut self) -> Parsed<Node> {
        let (name, start) = (self.word().to_owned(), self.start());
        self.at += 1;
        let Some(function) = functions::find(&name) else {
            return self.fail(start, format!("unknown function with name {}", text::quote(name.as_bytes())));
        };
        Ok(Node::Call(function, self.arguments()?))
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        if !self.take(&Kind::LeftParen) {
            return self.unexpected("", "");
        }
        if self.take(&Kind::RightParen) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expr(0)?);
            self.check_length(arguments.len())?;
            let comma = self.start();
            if self.take(&Kind::RightParen) {
                return Ok(arguments);
            }
            if !self.take(&Kind::Comma) {
                return self.unexpected("", "");
            }
            if *self.kind() == Kind::RightParen {
                return self.fail(comma, "trailing commas not allowed in function call args");
            }
        }
    }

    fn aggregate(&mut self, op: Aggregator) -> Parsed<Node> {
        let start = self.start();
        self.at += 1;
        self.aggregations += 1;
        let before = self.grouping_clause()?;
        let mut arguments = self.arguments()?;
        self.aggregations -= 1;
        let grouping = match before {
            Some(grouping) => grouping,
            None => self.grouping_clause()?.unwrap_or_default(),
        };
        if arguments.is_empty() {
            return self.fail(start, "no arguments for aggregate expression provided");
        }
        let wanted = if op.takes_parameter() { 2 } else { 1 };
        if arguments.len() != wanted {
            let got = arguments.len();
            let message = format!("wrong number of arguments for aggregate expression provided, expected {wanted}, got {got}");
            return self.fail(start, message);
        }
        let parameter = op.takes_parameter().then(|| arguments.remove(0));
        Ok(Node::Aggregate(Box::new(Aggregate { op, grouping, parameter, expr: arguments.remove(0) })))
    }

    fn grouping_clause(&mut self) -> Parsed<Option<Grouping>> {
        let without = match self.kind() {
            Kind::Keyword(Keyword::By) => false,
            Kind::Keyword(Keyword::Without) => true,
            _ => return Ok(None),
        };
        self.at += 1;
        let mut labels = self.label_list()?;
        labels.sort_unstable();
        labels.dedup();
        Ok(Some(Grouping { without, labels }))
    }

    fn label_list(&mut self) -> Parsed<Vec<String>> {
        let mut labels = Vec::new();
        if !self.take(&Kind::LeftParen) {
            return self.unexpected("grouping opts", "\"(\"");
        }
        while !self.take(&Kind::RightParen) {
            labels.push(self.grouping_label()?);
            self.check_length(labels.len())?;
            if !self.take(&Kind::Comma) && *self.kind() != Kind::RightParen {
                return self.unexpected("grouping opts", "\",\" or \")\"");
            }
        }
        Ok(labels)
    }

    fn grouping_label(&mut self) -> Parsed<String> {
        let label = match self.kind() {
            Kind::Text => {
                let start = self.start();
                let bytes = self.quoted()?;
                return match String::from_utf8(bytes) {
                    Ok(label) if !label.is_empty() => Ok(label),
                    Ok(_) | Err(_) => self.fail(start, "invalid label name in grouping opts"),
                };
            }
            Kind::Identifier | Kind::Aggregator(_) | Kind::Keyword(_) | Kind::Preprocessor(_) => self.word().to_owned(),
            Kind::Op(Op::And | Op::Or | Op::Unless | Op::Atan2) => self.word().to_owned(),
            _ => return self.unexpected("grouping opts", "label"),
        };
        self.at += 1;
        Ok(label)
    }

    fn binary_modifiers(&mut self) -> Parsed<(bool, Matching)> {
        let return_bool = self.take_keyword(Keyword::Bool);
        let mut matching = Matching::default();
        let on = self.take_keyword(Keyword::On);
        if on || self.take_keyword(Keyword::Ignoring) {
            matching.on = on;
            matching.labels = self.label_list()?;
            let card = match self.kind() {
                Kind::Keyword(Keyword::GroupLeft) => Card::ManyToOne,
                Kind::Keyword(Keyword::GroupRight) => Card::OneToMany,
                _ => Card::OneToOne,
            };
            if card != Card::OneToOne {
                self.at += 1;
                matching.card = card;
                if *self.kind() == Kind::LeftParen {
                    matching.include = self.label_list()?;
                }
            }
        }
        self.fills(&mut matching)?;
        Ok((return_bool, matching))
    }

    fn fills(&mut self, matching: &mut Matching) -> Parsed<()> {
        loop {
            let (left, right) = match self.kind() {
                Kind::Keyword(Keyword::Fill) => (true, true),
                Kind::Keyword(Keyword::FillLeft) => (true, false),
                Kind::Keyword(Keyword::FillRight) => (false, true),
                _ => return Ok(()),
            };
            if (left && matching.fill_left.is_some()) || (right && matching.fill_right.is_some()) {
                return self.unexpected("", "");
            }
            self.at += 1;
            let opened = self.take(&Kind::LeftParen);
            let value = if opened { self.signed_number()? } else { None };
            let Some(value) = value else { return self.unexpected("fill modifier", "number") };
            if !self.take(&Kind::RightParen) {
                return self.unexpected("fill modifier", "\")\"");
            }
            matching.fill_left = if left { Some(value) } else { matching.fill_left };
            matching.fill_right = if right { Some(value) } else { matching.fill_right };
        }
    }

    /// The braces after a name, or alone.
    fn selector(&mut self, name: Option<String>) -> Parsed<Node> {
        let mut matchers = Vec::new();
        if self.take(&Kind::LeftBrace) {
            while !self.take(&Kind::RightBrace) {
                matchers.push(self.matcher()?);
                self.check_length(matchers.len())?;
                if !self.take(&Kind::Comma) && *self.kind() != Kind::RightBrace {
                    return self.unexpected("label matching", "\",\" or \"}\"");
                }
            }
        }
        if let Some(name) = &name {
            matchers.push(self.build_matcher(METRIC_NAME, MatchOp::Equal, name, self.start())?);
        }
        let index = self.selectors;
        self.selectors += 1;
        Ok(Node::Selector(Selector { name, matchers, moment: Moment::default(), reach: Reach::Plain, index }))
    }

    fn build_matcher(&mut self, name: &str, op: MatchOp, value: &str, start: usize) -> Parsed<Matcher> {
        Matcher::within(&mut self.regexes, name, op, value).or_else(|error| self.fail(start, error.to_string()))
    }

    fn matcher(&mut self) -> Parsed<Matcher> {
        let start = self.start();
        let name = match self.kind() {
            Kind::Identifier => {
                let name = self.word().to_owned();
                self.at += 1;
                name
            }
            Kind::Text => {
                let name = self.utf8()?;
                if matches!(self.kind(), Kind::Comma | Kind::RightBrace) {
                    return self.build_matcher(METRIC_NAME, MatchOp::Equal, &name, start);
                }
                name
            }
            _ => return self.unexpected("label matching", "identifier or \"}\""),
        };
        let op = match self.kind() {
            Kind::Assign => MatchOp::Equal,
            Kind::Op(Op::NotEqual) => MatchOp::NotEqual,
            Kind::EqualRegex => MatchOp::Regex,
            Kind::NotEqualRegex => MatchOp::NotRegex,
            _ => return self.unexpected("label matching", "label matching operator"),
        };
        self.at += 1;
        if *self.kind() != Kind::Text {
            return self.unexpected("label matching", "string");
        }
        let value = self.utf8()?;
        self.build_matcher(&name, op, &value, start)
    }

    fn utf8(&mut self) -> Parsed<String> {
        // No series has a label that is not UTF-8, so what is lost here could find nothing.
        Ok(String::from_utf8_lossy(&self.quoted()?).into_owned())
    }

    /// Ranges, `offset` and `@` behind an expression.
    fn postfix(&mut self, mut expr: Expr) -> Parsed<Expr> {
        let mut nested = 0;
        loop {
            expr = match self.kind() {
                Kind::LeftBracket => {
                    nested += 1;
                    if self.depth + nested > DEPTH_MAX {
                        return self.fail(self.start(), format!("expression is nested deeper than {DEPTH_MAX} levels"));
                    }
                    self.bracket(expr)?
                }
                Kind::Keyword(Keyword::Offset) => self.offset(expr)?,
                Kind::At => self.at_modifier(expr)?,
                Kind::Keyword(Keyword::Smoothed) => self.reach(expr, Reach::Smoothed)?,
                Kind::Keyword(Keyword::Anchored) => self.reach(expr, Reach::Anchored)?,
                _ => return Ok(expr),
            };
        }
    }

    fn bracket(&mut self, expr: Expr) -> Parsed<Expr> {
        let open = self.start();
        self.at += 1;
        if matches!(self.kind(), Kind::RightBracket | Kind::Colon) {
            return self.unexpected("subquery or range selector", "number, duration, step(), or range()");
        }
        let range_start = self.start();
        let range = self.deeper(|parser| parser.duration(0))?;
        self.positive(&range, range_start)?;
        if self.take(&Kind::Colon) {
            return self.subquery(expr, range);
        }
        if !self.take(&Kind::RightBracket) {
            return self.unexpected("subquery or range", "\":\" or \"]\"");
        }
        let (start, end) = (expr.start, self.last_end());
        match expr.node {
            Node::Selector(selector) if selector.moment.offset.is_some() => self.fail(open, "no offset modifiers allowed before range"),
            Node::Selector(selector) if selector.moment.at.is_some() => self.fail(open, "no @ modifiers allowed before range"),
            Node::Selector(selector) => Ok(Expr { node: Node::Range(selector, range), start, end }),
            _ => self.fail(open, "ranges only allowed for vector selectors"),
        }
    }

    fn subquery(&mut self, expr: Expr, range: DurationExpr) -> Parsed<Expr> {
        let start = expr.start;
        let step = if *self.kind() == Kind::RightBracket {
            None
        } else {
            let step_start = self.start();
            let step = self.deeper(|parser| parser.duration(0))?;
            self.positive(&step, step_start)?;
            Some(step)
        };
        if !self.take(&Kind::RightBracket) {
            return self.unexpected("subquery selector", if step.is_some() { "\"]\"" } else { "duration or \"]\"" });
        }
        let subquery = Subquery { expr, range, step, moment: Moment::default() };
        Ok(Expr { node: Node::Subquery(Box::new(subquery)), start, end: self.last_end() })
    }

    /// What is constant is judged here; the rest when it is evaluated.
    fn positive(&self, duration: &DurationExpr, start: usize) -> Parsed<()> {
        if !duration.is_constant() {
            return Ok(());
        }
        match duration.ms(0, 0) {
            Some(ms) if ms > 0 => Ok(()),
            Some(_) => self.fail(start, "duration must be greater than 0"),
            None => self.fail(start, "duration out of range"),
        }
    }

    /// A computed duration inside of brackets or parentheses.
    fn duration(&mut self, lowest: u8) -> Parsed<DurationExpr> {
        let mut left = self.duration_operand()?;
        while let Kind::Op(op @ (Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Pow)) = *self.kind()
            && op.precedence() >= lowest
        {
            self.at += 1;
            let next = if op == Op::Pow { op.precedence() } else { op.precedence() + 1 };
            let right_start = self.start();
            let right = self.deeper(|parser| parser.duration(next))?;
            if matches!(op, Op::Div | Op::Mod) && right.is_constant() && right.ms(0, 0) == Some(0) {
                return self.fail(right_start, if op == Op::Div { "division by zero" } else { "modulo by zero" });
            }
            left = DurationExpr::Binary(op, Box::new(left), Box::new(right));
            left = folded(left);
        }
        Ok(left)
    }

    fn duration_operand(&mut self) -> Parsed<DurationExpr> {
        match self.kind() {
            Kind::Op(Op::Sub) => {
                self.at += 1;
                let inner = self.deeper(|parser| parser.duration(Op::Pow.precedence()))?;
                Ok(folded(DurationExpr::Negated(Box::new(inner))))
            }
            Kind::Op(Op::Add) => {
                self.at += 1;
                self.deeper(|parser| parser.duration(Op::Pow.precedence()))
            }
            _ => self.duration_atom(),
        }
    }

    fn duration_atom(&mut self) -> Parsed<DurationExpr> {
        match *self.kind() {
            Kind::Number | Kind::Duration => Ok(DurationExpr::Seconds(self.number()?)),
            Kind::LeftParen => {
                self.at += 1;
                let inner = self.deeper(|parser| parser.duration(0))?;
                if self.take(&Kind::RightParen) { Ok(inner) } else { self.unexpected("duration expression", "\")\"") }
            }
            Kind::Preprocessor(word @ (Preprocessor::Step | Preprocessor::Range)) => {
                self.at += 1;
                if !self.take(&Kind::LeftParen) || !self.take(&Kind::RightParen) {
                    return self.unexpected("duration expression", "\"()\"");
                }
                Ok(if word == Preprocessor::Step { DurationExpr::Step } else { DurationExpr::Range })
            }
            Kind::Aggregator(op @ (Aggregator::Min | Aggregator::Max)) => self.duration_pair(op),
            Kind::Identifier if self.word() == "min_of" => self.duration_pair(Aggregator::Min),
            Kind::Identifier if self.word() == "max_of" => self.duration_pair(Aggregator::Max),
            _ => self.unexpected("subquery or range selector", "number, duration, step(), or range()"),
        }
    }

    /// `min(a, b)`, `max(a, b)`
    fn duration_pair(&mut self, op: Aggregator) -> Parsed<DurationExpr> {
        self.at += 1;
        if !self.take(&Kind::LeftParen) {
            return self.unexpected("duration expression", "\"(\"");
        }
        let first = Box::new(self.deeper(|parser| parser.duration(0))?);
        if !self.take(&Kind::Comma) {
            return self.unexpected("duration expression", "\",\"");
        }
        let second = Box::new(self.deeper(|parser| parser.duration(0))?);
        if !self.take(&Kind::RightParen) {
            return self.unexpected("duration expression", "\")\"");
        }
        Ok(if op == Aggregator::Min { DurationExpr::Min(first, second) } else { DurationExpr::Max(first, second) })
    }

    fn offset(&mut self, mut expr: Expr) -> Parsed<Expr> {
        self.at += 1;
        let negative = *self.kind() == Kind::Op(Op::Sub);
        if matches!(self.kind(), Kind::Op(Op::Add | Op::Sub)) {
            self.at += 1;
        }
        let start = self.start();
        let starts = matches!(self.kind(), Kind::Number | Kind::Duration | Kind::LeftParen | Kind::Preprocessor(_) | Kind::Aggregator(_));
        if !starts && !matches!(self.word(), "min_of" | "max_of") {
            return self.unexpected("offset", "number, duration, step(), or range()");
        }
        let duration = self.deeper(Self::duration_atom)?;
        if duration.is_constant() && duration.ms(0, 0).is_none() {
            return self.fail(start, "duration out of range");
        }
        let duration = if negative { folded(DurationExpr::Negated(Box::new(duration))) } else { duration };
        let (expr_start, end) = (expr.start, self.last_end());
        let Some(moment) = moment_mut(&mut expr) else {
            let wanted = "an instant vector selector or range vector selector or a subquery";
            return self.fail(expr_start, format!("offset modifier must be preceded by {wanted}"));
        };
        if moment.offset.is_some() {
            return self.fail(expr_start, "offset may not be set multiple times");
        }
        moment.offset = Some(duration);
        expr.end = end;
        Ok(expr)
    }

    /// `anchored`, `smoothed`
    fn reach(&mut self, mut expr: Expr, reach: Reach) -> Parsed<Expr> {
        self.at += 1;
        let (start, word) = (expr.start, reach.word());
        let is_range = matches!(expr.node, Node::Range(..));
        match &mut expr.node {
            Node::Selector(selector) | Node::Range(selector, _) => {
                if selector.reach != Reach::Plain && selector.reach != reach {
                    return self.fail(start, "anchored and smoothed modifiers cannot be used together");
                }
                if reach == Reach::Anchored && !is_range {
                    return self.fail(start, "anchored modifier can only be used with a range vector selector");
                }
                selector.reach = reach;
                expr.end = self.last_end();
                Ok(expr)
            }
            Node::Subquery(_) => self.fail(start, format!("{word} modifier is not supported for subqueries")),
            Node::Number(_)
            | Node::Text(_)
            | Node::Call(..)
            | Node::Aggregate(_)
            | Node::Chain(..)
            | Node::Negated(_)
            | Node::Plus(_)
            // Prometheus' words: it takes them of selectors alone.
            | Node::Paren(_) => self.fail(start, format!("{word} modifier not implemented")),
        }
    }

    fn at_modifier(&mut self, mut expr: Expr) -> Parsed<Expr> {
        self.at += 1;
        let at = match *self.kind() {
            Kind::Preprocessor(word @ (Preprocessor::Start | Preprocessor::End)) => {
                self.at += 1;
                if !self.take(&Kind::LeftParen) || !self.take(&Kind::RightParen) {
                    return self.unexpected("@", "timestamp");
                }
                if word == Preprocessor::Start { At::Start } else { At::End }
            }
            _ => {
                let Some(seconds) = self.signed_number()? else { return self.unexpected("@", "timestamp") };
                if !seconds.is_finite() || seconds.abs() >= i64::MAX as f64 {
                    let bounds = if seconds.is_finite() { format!("{seconds:.6}") } else { text::fixed(seconds) };
                    return self.fail(expr.start, format!("timestamp out of bounds for @ modifier: {bounds}"));
                }
                At::Ms((seconds * 1000.0).round() as i64)
            }
        };
        let (expr_start, end) = (expr.start, self.last_end());
        let Some(moment) = moment_mut(&mut expr) else {
            let wanted = "an instant vector selector or range vector selector or a subquery";
            return self.fail(expr_start, format!("@ modifier must be preceded by {wanted}"));
        };
        if moment.at.is_some() {
            return self.fail(expr_start, "@ <timestamp> may not be set multiple times");
        }
        moment.at = Some(at);
        expr.end = end;
        Ok(expr)
    }
}

/// Constants are worked out at once, so that a long sum stays flat.
fn folded(duration: DurationExpr) -> DurationExpr {
    if !duration.is_constant() {
        return duration;
    }
    let seconds = match &duration {
        DurationExpr::Negated(inner) => inner.constant().map(|value| -value),
        _ => duration.constant(),
    };
    seconds.map_or(duration, DurationExpr::Seconds)
}

fn moment_mut(expr: &mut Expr) -> Option<&mut Moment> {
    match &mut expr.node {
        Node::Selector(selector) | Node::Range(selector, _) => Some(&mut selector.moment),
        Node::Subquery(subquery) => Some(&mut subquery.moment),
        Node::Number(_)
        | Node::Text(_)
        | Node::Call(..)
        | Node::Aggregate(_)
        | Node::Chain(..)
        | Node::Negated(_)
        | Node::Plus(_)
        | Node::Paren(_) => None,
    }
}

fn chained(left: Expr, link: Link) -> Expr {
    let (start, end) = (left.start, link.right.end);
    let node = match left.node {
        Node::Chain(first, mut links) => {
            links.push(link);
            Node::Chain(first, links)
        }
        _ => Node::Chain(Box::new(left), vec![link]),
    };
    Expr { node, start, end }
}

/// The type of a chain up to a link, from the type so far and the type of the link's right side.
pub fn chain_type(left: Type, right: Type) -> Type {
    if left == Type::Scalar && right == Type::Scalar { Type::Scalar } else { Type::Vector }
}
