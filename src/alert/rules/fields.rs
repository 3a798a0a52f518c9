//! Typed fields of a YAML mapping. What is wrong is collected, so that one look at a file tells all of it.

use super::duration::parse_duration;
use super::error::RuleError;
use crate::alert::yaml::{Content, Document, Node, Scalar};
use crate::event::nearest;

/// Faults of one document; more than these would not be read.
const ERRORS_MAX: usize = 50;

/// Reads values of a document's nodes, and collects what is wrong with them.
pub(super) struct Reader<'d> {
    pub document: &'d Document<'d>,
    pub errors: Vec<RuleError>,
}

impl<'d> Reader<'d> {
    pub fn new(document: &'d Document<'d>) -> Self {
        Self { document, errors: Vec::new() }
    }

    pub fn refuse(&mut self, node: &Node, message: String) {
        if !self.is_full() {
            self.errors.push(RuleError::at(self.document.place(node), message));
        }
    }

    /// To find a place takes a walk through the document, which is not taken for what nobody reads.
    fn is_full(&self) -> bool {
        self.errors.len() >= ERRORS_MAX
    }

    fn mistyped(&mut self, node: &Node, wanted: &str) {
        if self.is_full() {
            return;
        }
        let place = self.document.place(node);
        let shown = match node.text() {
            Some(text) => format!(" `{}`", text.chars().take(40).collect::<String>()),
            None => String::new(),
        };
        self.refuse(node, format!("yaml: line {}: cannot unmarshal {}{shown} into {wanted}", place.line, node.tag()));
    }

    /// The fields of a mapping; those that are not in `known` are refused.
    pub fn fields(&mut self, node: &'d Node, what: &str, known: &[&str]) -> Fields<'d> {
        let pairs = match &node.content {
            Content::Mapping(pairs) => pairs.as_slice(),
            Content::Scalar(Scalar::Null, _) => &[],
            Content::Scalar(..) | Content::Sequence(_) => {
                self.mistyped(node, what);
                &[]
            }
        };
        for (key, _) in pairs {
            let name = key.text().unwrap_or_default();
            if !known.contains(&name) && !self.is_full() {
                let place = self.document.place(key);
                let hint = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("; did you mean {near}?"),
                    None => format!("; it has {}", known.join(", ")),
                };
                self.refuse(key, format!("yaml: line {}: field {name} not found in type {what}{hint}", place.line));
            }
        }
        Fields { pairs }
    }

    pub fn items(&mut self, node: Option<&'d Node>, what: &str) -> &'d [Node] {
        match node.map(|node| (node, &node.content)) {
            Some((_, Content::Sequence(items))) => items,
            None | Some((_, Content::Scalar(Scalar::Null, _))) => &[],
            Some((node, Content::Scalar(..) | Content::Mapping(_))) => {
                self.mistyped(node, what);
                &[]
            }
        }
    }

    /// Any scalar, as it is written.
    pub fn text(&mut self, node: Option<&Node>) -> String {
        match node {
            Some(node) if node.is_null() => String::new(),
            Some(node) => match node.text() {
                Some(text) => text.to_owned(),
                None => {
                    self.mistyped(node, "string");
                    String::new()
                }
            },
            None => String::new(),
        }
    }

    pub fn texts(&mut self, node: Option<&'d Node>) -> Vec<String> {
        self.items(node, "[]string").iter().map(|item| self.text(Some(item))).collect()
    }

    /// Names with their texts, in the order of the names.
    pub fn map(&mut self, node: Option<&'d Node>) -> Vec<(String, String)> {
        let pairs = match node.map(|node| (node, &node.content)) {
            Some((_, Content::Mapping(pairs))) => pairs.as_slice(),
            None | Some((_, Content::Scalar(Scalar::Null, _))) => &[],
            Some((node, Content::Scalar(..) | Content::Sequence(_))) => {
                self.mistyped(node, "map[string]string");
                &[]
            }
        };
        let mut map: Vec<_> =
            pairs.iter().map(|(key, value)| (key.text().unwrap_or_default().to_owned(), self.text(Some(value)))).collect();
        map.sort();
        map
    }

    pub fn duration_ms(&mut self, node: Option<&Node>) -> Option<i64> {
        let node = node.filter(|node| !node.is_null())?;
        match parse_duration(&self.text(Some(node))) {
            Ok(ms) => Some(ms),
            Err(message) => {
                self.refuse(node, message);
                None
            }
        }
    }

    /// A whole number; what is behind the point of another goes, as Prometheus' reader has it.
    pub fn integer(&mut self, node: Option<&Node>) -> Option<i64> {
        let node = node.filter(|node| !node.is_null())?;
        let text = node.text().unwrap_or_default();
        let whole = |value: f64| (value.abs() < i64::MAX as f64).then_some(value as i64);
        let number = match node.tag() {
            "!!int" => text.parse().ok().or_else(|| plain_number(text).and_then(whole)),
            "!!float" => plain_number(text).and_then(whole),
            _ => None,
        };
        if number.is_none() {
            self.mistyped(node, "int");
        }
        number
    }

    pub fn float(&mut self, node: Option<&Node>) -> Option<f64> {
        let node = node.filter(|node| !node.is_null())?;
        let text = node.text().unwrap_or_default().to_ascii_lowercase();
        let number = match text.trim_start_matches('+') {
            ".inf" => Some(f64::INFINITY),
            "-.inf" => Some(f64::NEG_INFINITY),
            ".nan" => Some(f64::NAN),
            digits if matches!(node.tag(), "!!int" | "!!float") => plain_number(digits),
            _ => None,
        };
        if number.is_none() {
            self.mistyped(node, "float64");
        }
        number
    }

    pub fn boolean(&mut self, node: Option<&Node>) -> bool {
        match node.filter(|node| !node.is_null()) {
            None => false,
            Some(node) => match node.text() {
                Some("true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y") => true,
                Some("false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N") => false,
                Some(_) | None => {
                    self.mistyped(node, "bool");
                    false
                }
            },
        }
    }
}

/// A number of YAML that is finite.
fn plain_number(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok().or_else(|| radix(text)).filter(|value: &f64| value.is_finite())
}

/// `0x1F`, `0o17`, `0b1`.
fn radix(digits: &str) -> Option<f64> {
    let (radix, digits) = match digits.get(..2)? {
        "0x" => (16, &digits[2..]),
        "0o" => (8, &digits[2..]),
        "0b" => (2, &digits[2..]),
        _ => return None,
    };
    i64::from_str_radix(digits, radix).ok().map(|number| number as f64)
}

/// The fields of one mapping.
pub(super) struct Fields<'d> {
    pairs: &'d [(Node, Node)],
}

impl<'d> Fields<'d> {
    pub fn get(&self, name: &str) -> Option<&'d Node> {
        self.pairs.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }
}
