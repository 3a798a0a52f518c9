//! JSON as lines for people: indented, names apart from values, cut into lines where it must be.

use super::Role;
use super::text::{Ambiguous, wrap};
use crate::event::SafeText;
use serde_json::Value;

const INDENT: usize = 2;

/// Lines of at most about `room` cells. What fits on one line stays on one.
pub fn pretty(value: &Value, room: usize) -> Vec<Vec<(String, Role)>> {
    let mut out = Writer { lines: vec![Vec::new()], room };
    out.value(value, 0);
    out.lines
}

struct Writer {
    lines: Vec<Vec<(String, Role)>>,
    room: usize,
}

impl Writer {
    fn push(&mut self, text: String, role: Role) {
        if let Some(line) = self.lines.last_mut() {
            line.push((text, role));
        }
    }

    fn new_line(&mut self, depth: usize) {
        // Deep nesting must not push everything off the screen.
        let indent = (depth * INDENT).min(self.room / 2);
        self.lines.push(vec![(" ".repeat(indent), Role::Text)]);
    }

    fn used(&self) -> usize {
        self.lines.last().map_or(0, |line| line.iter().map(|(t, _)| super::text::width(t, Ambiguous::Narrow)).sum())
    }

    fn value(&mut self, value: &Value, depth: usize) {
        let flat = SafeText::from(value.to_string());
        match value {
            Value::Object(fields) if !fields.is_empty() && !self.fits(&flat) => self.object(fields, depth),
            Value::Array(items) if !items.is_empty() && !self.fits(&flat) => self.array(items, depth),
            Value::Object(_) | Value::Array(_) => self.flat(value),
            Value::String(_) => self.long(&flat, Role::Observation, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.long(&flat, Role::Text, depth),
        }
    }

    fn fits(&self, flat: &str) -> bool {
        self.used() + super::text::width(flat, Ambiguous::Narrow) <= self.room
    }

    /// All of it on the line that is being written.
    fn flat(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                self.push("{".into(), Role::Dim);
                for (n, (name, value)) in fields.iter().enumerate() {
                    if n > 0 {
                        self.push(", ".into(), Role::Dim);
                    }
                    self.name(name);
                    self.flat(value);
                }
                self.push("}".into(), Role::Dim);
            }
            Value::Array(items) => {
                self.push("[".into(), Role::Dim);
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        self.push(", ".into(), Role::Dim);
                    }
                    self.flat(item);
                }
                self.push("]".into(), Role::Dim);
            }
            Value::String(_) => self.push(SafeText::from(value.to_string()).to_string(), Role::Observation),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.push(value.to_string(), Role::Text),
        }
    }

    fn name(&mut self, name: &str) {
        self.push(SafeText::from(Value::String(name.to_owned()).to_string()).to_string(), Role::Action);
        self.push(": ".into(), Role::Dim);
    }

    fn object(&mut self, fields: &serde_json::Map<String, Value>, depth: usize) {
        self.push("{".into(), Role::Dim);
        for (n, (name, value)) in fields.iter().enumerate() {
            self.new_line(depth + 1);
            self.name(name);
            self.value(value, depth + 1);
            if n + 1 < fields.len() {
                self.push(",".into(), Role::Dim);
            }
        }
        self.new_line(depth);
        self.push("}".into(), Role::Dim);
    }

    fn array(&mut self, items: &[Value], depth: usize) {
        self.push("[".into(), Role::Dim);
        for (n, item) in items.iter().enumerate() {
            self.new_line(depth + 1);
            self.value(item, depth + 1);
            if n + 1 < items.len() {
                self.push(",".into(), Role::Dim);
            }
        }
        self.new_line(depth);
        self.push("]".into(), Role::Dim);
    }

    fn long(&mut self, flat: &str, role: Role, depth: usize) {
        if self.fits(flat) {
            self.push(flat.to_owned(), role);
            return;
        }
        let room = self.room.saturating_sub(((depth + 1) * INDENT).min(self.room / 2)).max(2);
        for (n, line) in wrap(flat, room, Ambiguous::Narrow).into_iter().enumerate() {
            if n > 0 || self.used() > room / 2 {
                self.new_line(depth + 1);
            }
            self.push(line, role);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(value: &Value, room: usize) -> Vec<String> {
        pretty(value, room).into_iter().map(|line| line.into_iter().map(|(text, _)| text).collect()).collect()
    }

    #[test]
    fn what_fits_is_one_line_and_what_does_not_is_indented() {
        let value = json!({"svc": "pay", "to": "v41", "dry_run": false});
        assert_eq!(lines(&value, 60), [r#"{"svc": "pay", "to": "v41", "dry_run": false}"#]);
        assert_eq!(lines(&value, 20), ["{", r#"  "svc": "pay","#, r#"  "to": "v41","#, r#"  "dry_run": false"#, "}"]);
    }

    #[test]
    fn nothing_is_lost_at_any_width_and_hostile_text_is_harmless() {
        let value = json!({"a": ["x".repeat(90), {"b": [1, null, true]}], "\u{1b}[2J": "工单 \u{202e}"});
        let kept = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let whole = kept(&lines(&value, 10_000).concat());
        for room in [3, 5, 12, 40, 200] {
            let shown = lines(&value, room).concat();
            assert_eq!(kept(&shown), whole, "{room}");
            assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
        }
    }
}
