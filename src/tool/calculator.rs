//! The built-in calculator: arithmetic on floats, and nothing else. No variables, no assignment, no other evaluation.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/" | "%") signed)*
//! signed  = ("-" | "+") signed | power            so that -2^2 is -4
//! power   = atom ("^" signed)?                    right-associative: 2^3^2 is 512
//! atom    = number | "(" sum ")" | name "(" sum ("," sum)* ")"
//! ```

use crate::event::{ErrorType, SafeText, ToolCall, ToolResult, ToolSpec};
use serde_json::{Value, json};

/// Longest expression, in bytes.
const EXPRESSION_BYTES_MAX: usize = 1000;
/// Deepest nesting of parentheses, signs and powers.
const DEPTH_MAX: u32 = 64;

/// Each function and what it makes of its arguments; there is at least one.
const FUNCTIONS: [(&str, Arity, Function); 7] = [
    ("min", Arity::Any, |xs| xs.iter().copied().fold(f64::INFINITY, f64::min)),
    ("max", Arity::Any, |xs| xs.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    ("abs", Arity::One, |xs| xs[0].abs()),
    ("sqrt", Arity::One, |xs| xs[0].sqrt()),
    ("floor", Arity::One, |xs| xs[0].floor()),
    ("ceil", Arity::One, |xs| xs[0].ceil()),
    ("round", Arity::One, |xs| xs[0].round()),
];

type Function = fn(&[f64]) -> f64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arity {
    One,
    Any,
}

/// Why an expression has no value. `at` counts characters from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalculatorError {
    #[error("the expression has {bytes} bytes, at most {EXPRESSION_BYTES_MAX} are taken")]
    TooLong { bytes: usize },
    #[error("the expression nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
    #[error("at character {at}: {expected} was expected, not {found}")]
    Unexpected { at: usize, expected: &'static str, found: SafeText },
    #[error("at character {at}: no function is named `{name}`; there are min, max, abs, sqrt, floor, ceil, round")]
    UnknownFunction { at: usize, name: SafeText },
    #[error("at character {at}: `{name}` takes one argument, not {found}")]
    Arity { at: usize, name: &'static str, found: usize },
    #[error("at character {at}: division by zero")]
    DivisionByZero { at: usize },
    #[error("at character {at}: the result is not a real number")]
    NotReal { at: usize },
    #[error("at character {at}: the result is too large")]
    Overflow { at: usize },
}

/// The calculator as a tool.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: "calculator".into(),
        description: "Evaluate arithmetic: + - * / % ^, parentheses, min, max, abs, sqrt, floor, ceil, round.".into(),
        parameters: json!({
            "type": "object",
            "properties": {"expression": {"type": "string", "description": "such as 2 * (3 + 4)"}},
            "required": ["expression"],
            "additionalProperties": false,
        }),
        mutates: false,
    }
}

/// Answers a call whose arguments fit the schema.
pub(super) fn answer(call: &ToolCall) -> ToolResult {
    let expression = call.arguments.get("expression").and_then(Value::as_str).unwrap_or_default();
    match evaluate(expression) {
        Ok(value) => ToolResult::ok(format_number(value)),
        Err(error) => ToolResult::error(ErrorType::Failed, error.to_string()),
    }
}

/// The value of an expression; always finite.
pub fn evaluate(expression: &str) -> Result<f64, CalculatorError> {
    if expression.len() > EXPRESSION_BYTES_MAX {
        return Err(CalculatorError::TooLong { bytes: expression.len() });
    }
    let mut parser = Parser { chars: expression.chars().collect(), at: 0, depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

/// The shortest text that reads back as the same number; whole numbers without a point.
fn format_number(value: f64) -> String {
    const PLAIN_MAX: f64 = 1e15;
    if value == value.trunc() && value.abs() < PLAIN_MAX {
        // Adding zero turns -0 into 0.
        return format!("{:.0}", value + 0.0);
    }
    Value::from(value).to_string()
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: u32,
}

impl Parser {
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }

    /// Takes the next character if it is one of `wanted`; its position is that of error messages.
    fn take(&mut self, wanted: &[char]) -> Option<(char, usize)> {
        let c = self.peek().filter(|c| wanted.contains(c))?;
        self.at += 1;
        Some((c, self.at))
    }

    fn unexpected(&mut self, expected: &'static str) -> CalculatorError {
        let found = match self.peek() {
            Some(c) => SafeText::from(format!("`{c}`")),
            None => SafeText::new("the end"),
        };
        CalculatorError::Unexpected { at: self.at + 1, expected, found }
    }

    /// Runs `parse` one level deeper.
    fn deeper(&mut self, parse: fn(&mut Self) -> Result<f64, CalculatorError>) -> Result<f64, CalculatorError> {
        if self.depth == DEPTH_MAX {
            return Err(CalculatorError::TooDeep);
        }
        self.depth += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn sum(&mut self) -> Result<f64, CalculatorError> {
        let mut left = self.product()?;
        while let Some((operator, at)) = self.take(&['+', '-']) {
            let right = self.product()?;
            left = finite(if operator == '+' { left + right } else { left - right }, at)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<f64, CalculatorError> {
        let mut left = self.signed()?;
        while let Some((operator, at)) = self.take(&['*', '/', '%']) {
            let right = self.signed()?;
            if operator != '*' && right == 0.0 {
                return Err(CalculatorError::DivisionByZero { at });
            }
            left = finite(
                match operator {
                    '*' => left * right,
                    '/' => left / right,
                    _ => left % right,
                },
                at,
            )?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<f64, CalculatorError> {
        match self.take(&['-', '+']) {
            Some(('-', _)) => Ok(-self.deeper(Self::signed)?),
            Some(_) => self.deeper(Self::signed),
            None => self.power(),
        }
    }

    fn power(&mut self) -> Result<f64, CalculatorError> {
        let base = self.atom()?;
        let Some((_, at)) = self.take(&['^']) else { return Ok(base) };
        let exponent = self.deeper(Self::signed)?;
        if base == 0.0 && exponent < 0.0 {
            return Err(CalculatorError::DivisionByZero { at });
        }
        // Not the platform's: a recording verifies on another machine.
        finite(libm::pow(base, exponent), at)
    }

    fn atom(&mut self) -> Result<f64, CalculatorError> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let value = self.deeper(Self::sum)?;
                self.close()?;
                Ok(value)
            }
            Some('0'..='9' | '.') => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.function(),
            Some(_) | None => Err(self.unexpected("a number, a function or `(`")),
        }
    }

    fn close(&mut self) -> Result<(), CalculatorError> {
        self.take(&[')']).map(|_| ()).ok_or_else(|| self.unexpected("`)`"))
    }

    fn number(&mut self) -> Result<f64, CalculatorError> {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_digit() || c == '.');
        if self.chars.get(self.at).is_some_and(|c| matches!(c, 'e' | 'E')) {
            self.at += 1;
            if self.chars.get(self.at).is_some_and(|c| matches!(c, '+' | '-')) {
                self.at += 1;
            }
            self.skip_while(|c| c.is_ascii_digit());
        }
        let text: String = self.chars[start..self.at].iter().collect();
        match text.parse::<f64>() {
            Ok(value) => finite(value, start + 1),
            Err(_) => Err(CalculatorError::Unexpected { at: start + 1, expected: "a number", found: format!("`{text}`").into() }),
        }
    }

    fn skip_while(&mut self, wanted: fn(char) -> bool) {
        while self.chars.get(self.at).is_some_and(|c| wanted(*c)) {
            self.at += 1;
        }
    }

    fn function(&mut self) -> Result<f64, CalculatorError> {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let name: String = self.chars[start..self.at].iter().collect();
        let at = start + 1;
        let Some((name, arity, apply)) = FUNCTIONS.into_iter().find(|(known, ..)| *known == name) else {
            return Err(CalculatorError::UnknownFunction { at, name: crate::event::schema::cut(&name) });
        };
        self.take(&['(']).ok_or_else(|| self.unexpected("`(`"))?;
        let mut arguments = vec![self.deeper(Self::sum)?];
        while self.take(&[',']).is_some() {
            arguments.push(self.deeper(Self::sum)?);
        }
        self.close()?;
        if arity == Arity::One && arguments.len() != 1 {
            return Err(CalculatorError::Arity { at, name, found: arguments.len() });
        }
        finite(apply(&arguments), at)
    }
}

fn finite(value: f64, at: usize) -> Result<f64, CalculatorError> {
    if value.is_nan() {
        Err(CalculatorError::NotReal { at })
    } else if value.is_infinite() {
        Err(CalculatorError::Overflow { at })
    } else {
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn precedence_and_functions() {
        for (expression, value) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("100 / 5 / 2", 10.0),
            ("7 % 4 * 2", 6.0),
            ("-7 % 3", -1.0),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("--3", 3.0),
            ("2*-3", -6.0),
            ("min(3, 1 + 1, 9)", 2.0),
            ("max(-1)", -1.0),
            ("sqrt(abs(-16))", 4.0),
            ("floor(2.7) + ceil(2.1) + round(2.5)", 8.0),
            ("1.5e3 + .5", 1500.5),
            ("1e-2", 0.01),
        ] {
            assert_eq!(evaluate(expression), Ok(value), "{expression}");
        }
    }

    fn problem(expression: &str) -> String {
        evaluate(expression).unwrap_err().to_string()
    }

    #[test]
    fn what_has_no_value_says_where_and_why() {
        insta::assert_snapshot!(problem("1 / (2 - 2)"), @"at character 3: division by zero");
        insta::assert_snapshot!(problem("1 % 0"), @"at character 3: division by zero");
        insta::assert_snapshot!(problem("0 ^ -1"), @"at character 3: division by zero");
        insta::assert_snapshot!(problem("sqrt(-1)"), @"at character 1: the result is not a real number");
        insta::assert_snapshot!(problem("(-8)^0.5"), @"at character 5: the result is not a real number");
        insta::assert_snapshot!(problem("9^999"), @"at character 2: the result is too large");
        insta::assert_snapshot!(problem("1e999"), @"at character 1: the result is too large");
        insta::assert_snapshot!(problem("1e308 * 10"), @"at character 7: the result is too large");
        insta::assert_snapshot!(problem(""), @"at character 1: a number, a function or `(` was expected, not the end");
        insta::assert_snapshot!(problem("2 +"), @"at character 4: a number, a function or `(` was expected, not the end");
        insta::assert_snapshot!(problem("2 3"), @"at character 3: an operator or the end was expected, not `3`");
        insta::assert_snapshot!(problem("(2"), @"at character 3: `)` was expected, not the end");
        insta::assert_snapshot!(problem("1.2.3"), @"at character 1: a number was expected, not `1.2.3`");
        insta::assert_snapshot!(problem("exec(1)"), @"at character 1: no function is named `exec`; there are min, max, abs, sqrt, floor, ceil, round");
        insta::assert_snapshot!(problem("abs(1, 2)"), @"at character 1: `abs` takes one argument, not 2");
        insta::assert_snapshot!(problem("min()"), @"at character 5: a number, a function or `(` was expected, not `)`");
    }

    #[test]
    fn long_and_deep_expressions_are_refused() {
        assert_eq!(evaluate(&"(".repeat(500)), Err(CalculatorError::TooDeep));
        assert_eq!(evaluate(&format!("1{}", "^1".repeat(400))), Err(CalculatorError::TooDeep));
        assert_eq!(evaluate(&"-".repeat(900)), Err(CalculatorError::TooDeep));
        assert!(matches!(evaluate(&"1+".repeat(1_000_000)), Err(CalculatorError::TooLong { bytes: 2_000_000 })));
        assert_eq!(evaluate(&format!("{}1{}", "(".repeat(64), ")".repeat(64))), Ok(1.0));
    }

    #[test]
    fn numbers_are_written_short_and_exact() {
        assert_eq!(format_number(14.0), "14");
        assert_eq!(format_number(-0.0), "0");
        assert_eq!(format_number(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(format_number(1e300), "1e+300");
    }

    /// An expression as text beside its value, computed without the parser.
    fn tree() -> impl Strategy<Value = (String, f64)> {
        let leaf = (0u32..1000).prop_map(|n| (n.to_string(), f64::from(n)));
        leaf.prop_recursive(5, 60, 2, |inner| {
            (inner.clone(), inner, 0..4u8).prop_map(|((a, x), (b, y), operator)| match operator {
                0 => (format!("({a} + {b})"), x + y),
                1 => (format!("({a}-{b})"), x - y),
                2 => (format!("{a} * ({b})"), x * y),
                _ => (format!("max({a}, -{b})"), x.max(-y)),
            })
        })
    }

    proptest! {
        #[test]
        fn parsing_equals_computing((text, value) in tree()) {
            prop_assert_eq!(evaluate(&text).unwrap(), value);
        }

        #[test]
        fn garbage_never_panics_and_values_are_finite(text in "[-0-9a-z+*/%^(). ,]{0,40}") {
            if let Ok(value) = evaluate(&text) {
                prop_assert!(value.is_finite());
            }
        }
    }
}
