//! The tokens of a thought with a value each: roles for those who see colour, digits for everybody.

use crate::state::{TokenMeasure, TokenTrace};
use crate::ui::widgets::Role;
use crate::ui::widgets::text::{Ambiguous, grapheme_width, graphemes, width, wrap};

/// Nats that a digit stands for, of surprise and entropy.
const NATS_A_DIGIT: f32 = 0.5;
/// The same of a mismatch, which is small where all is well.
const MISMATCH_NATS_A_DIGIT: f32 = 0.1;

pub struct Heat {
    measure: TokenMeasure,
    /// End of each token in the thought, and its value.
    tokens: Vec<(usize, f32)>,
}

/// A line's pieces with their roles, and the digits below it.
type HeatedLine = (Vec<(String, Role)>, String);

impl Heat {
    pub fn new(measure: TokenMeasure, trace: &TokenTrace) -> Self {
        Self { measure, tokens: trace.values(measure) }
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Breaks `text` into lines of at most `room` cells, as every other text is broken.
    pub fn lay_out(&self, text: &str, room: usize, ambiguous: Ambiguous) -> Vec<HeatedLine> {
        let mut at = 0;
        let mut out = Vec::new();
        for line in wrap(text, room, ambiguous) {
            // Breaking leaves out spaces and line feeds, and puts `?` for what is wider than a line.
            let found = text.get(at..).and_then(|rest| rest.find(line.as_str()));
            let start = found.map_or(at, |f| at + f);
            out.push(self.line(&line, start, ambiguous));
            at = (start + line.len()).min(text.len());
        }
        out
    }

    fn line(&self, line: &str, start: usize, ambiguous: Ambiguous) -> HeatedLine {
        let mut spans: Vec<(String, Role)> = Vec::new();
        let mut digits = String::new();
        let (mut cells, mut byte, mut told) = (0usize, start, None);
        for grapheme in graphemes(line) {
            let token = self.tokens.partition_point(|(end, _)| *end <= byte);
            let value = self.tokens.get(token).map(|(_, value)| *value);
            let role = value.map_or(Role::Dim, |v| self.role(v));
            match spans.last_mut() {
                Some((text, same)) if *same == role => text.push_str(grapheme),
                Some(_) | None => spans.push((grapheme.to_owned(), role)),
            }
            if told != Some(token) && grapheme != " " {
                told = Some(token);
                let digit = value.map_or(' ', |v| self.digit(v));
                let gap = cells.saturating_sub(width(&digits, Ambiguous::Narrow));
                digits.push_str(&" ".repeat(gap));
                digits.push(digit);
            }
            cells += grapheme_width(grapheme, ambiguous);
            byte += grapheme.len();
        }
        (spans, digits)
    }

    fn digit(&self, value: f32) -> char {
        let scaled = |step: f32| {
            let steps = (value.abs() / step).floor().clamp(0.0, 9.0) as u32;
            char::from_digit(steps, 10).unwrap_or('9')
        };
        if !value.is_finite() {
            return '!';
        }
        match self.measure {
            TokenMeasure::Surprise | TokenMeasure::Entropy => scaled(NATS_A_DIGIT),
            TokenMeasure::Advantage if value.abs() < 0.05 => '0',
            TokenMeasure::Advantage => {
                if value > 0.0 {
                    '+'
                } else {
                    '-'
                }
            }
            TokenMeasure::LossMask => {
                if value > 0.5 {
                    '1'
                } else {
                    '0'
                }
            }
            TokenMeasure::Mismatch => scaled(MISMATCH_NATS_A_DIGIT),
        }
    }

    fn role(&self, value: f32) -> Role {
        match self.measure {
            TokenMeasure::Surprise | TokenMeasure::Entropy => match value {
                v if v >= 2.0 || v.is_nan() => Role::Bad,
                v if v >= 0.7 => Role::Warn,
                _ => Role::Text,
            },
            TokenMeasure::Advantage => match value {
                v if v > 0.05 => Role::Good,
                v if v < -0.05 => Role::Bad,
                _ => Role::Text,
            },
            TokenMeasure::LossMask => {
                if value > 0.5 {
                    Role::Text
                } else {
                    Role::Dim
                }
            }
            TokenMeasure::Mismatch => match value.abs() {
                v if v >= 0.3 || v.is_nan() => Role::Bad,
                v if v >= 0.1 => Role::Warn,
                _ => Role::Text,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat(tokens: &[(usize, f32)]) -> Heat {
        Heat { measure: TokenMeasure::Surprise, tokens: tokens.to_vec() }
    }

    #[test]
    fn a_digit_stands_below_the_first_cell_of_each_token() {
        let lines = heat(&[(3, 0.1), (6, 2.6), (11, 9.0)]).lay_out("pay is slow", 40, Ambiguous::Narrow);
        assert_eq!(lines.len(), 1);
        let (spans, digits) = &lines[0];
        assert_eq!(digits, "0   5  9");
        assert_eq!(spans, &[("pay".to_owned(), Role::Text), (" is slow".to_owned(), Role::Bad)]);
    }

    #[test]
    fn wrapped_and_wide_text_keeps_its_columns() {
        // 工单 takes four cells and six bytes.
        let lines = heat(&[(6, 0.0), (10, 1.0), (14, 4.5)]).lay_out("工单 pay is", 5, Ambiguous::Narrow);
        let digits: Vec<&str> = lines.iter().map(|(_, digits)| digits.as_str()).collect();
        assert_eq!(digits, ["0", "2", "9"]);
    }

    #[test]
    fn any_text_and_any_tokens_lay_out() {
        for text in ["", " ", "a\n\nb", "👩\u{200d}💻 x", "工"] {
            for room in 0..5 {
                heat(&[(1, f32::NAN), (2, f32::INFINITY), (99, -1.0)]).lay_out(text, room, Ambiguous::Wide);
            }
        }
    }
}
