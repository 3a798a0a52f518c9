//! The part of JSON Schema that tools use: type, properties, required, additionalProperties, enum, minimum, maximum.
//!
//! Anything else is refused when the tool is loaded, naming the keyword: a constraint that is silently not checked is worse than none.

use super::{SafeText, nearest};
use serde_json::{Map, Value};

/// A schema that this program can't check.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SchemaError {
    #[error("the schema keyword `{keyword}` at `{at}` is not supported; use: {known}", known = KEYWORDS.join(", "))]
    UnknownKeyword { at: String, keyword: String },
    #[error("the schema keyword `{keyword}` at `{at}` should be {expected}")]
    BadKeyword { at: String, keyword: &'static str, expected: &'static str },
    #[error("the schema at `{at}` requires `{name}`, which is not among its properties")]
    RequiredUnknown { at: String, name: String },
    #[error("the parameters of a tool are an object: `\"type\": \"object\"` is missing")]
    NotAnObject,
}

/// Arguments that do not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{argument}: {problem}")]
pub struct Violation {
    /// Path of the argument, such as `svc` or `range.from`.
    pub argument: SafeText,
    pub problem: SafeText,
}

const KEYWORDS: [&str; 9] =
    ["type", "properties", "required", "additionalProperties", "enum", "minimum", "maximum", "description", "title"];

/// What kind of value an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

impl Type {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "object" => Type::Object,
            "array" => Type::Array,
            "string" => Type::String,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            _ => return None,
        })
    }

    fn words(self) -> &'static str {
        match self {
            Type::Object => "an object",
            Type::Array => "an array",
            Type::String => "a string",
            Type::Number => "a number",
            Type::Integer => "a whole number",
            Type::Boolean => "true or false",
            Type::Null => "null",
        }
    }

    /// Stricter than JSON Schema in one point: `8.0` is not an integer, because the tools read integers as such.
    fn fits(self, value: &Value) -> bool {
        match self {
            Type::Object => value.is_object(),
            Type::Array => value.is_array(),
            Type::String => value.is_string(),
            Type::Number => value.is_number(),
            Type::Integer => value.is_i64() || value.is_u64(),
            Type::Boolean => value.is_boolean(),
            Type::Null => value.is_null(),
        }
    }
}

/// A checked schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    kind: Option<Type>,
    description: SafeText,
    /// In the order of the schema.
    properties: Vec<(String, Schema)>,
    required: Vec<String>,
    closed: bool,
    choices: Option<Vec<Value>>,
    minimum: Option<f64>,
    maximum: Option<f64>,
}

impl Schema {
    /// Reads the `parameters` of a tool.
    pub fn of_parameters(parameters: &Value) -> Result<Self, SchemaError> {
        let schema = Self::compile(parameters, "parameters")?;
        if schema.kind == Some(Type::Object) { Ok(schema) } else { Err(SchemaError::NotAnObject) }
    }

    fn compile(source: &Value, at: &str) -> Result<Self, SchemaError> {
        let bad = |keyword, expected| SchemaError::BadKeyword { at: at.to_owned(), keyword, expected };
        let map = source.as_object().ok_or_else(|| bad("schema", "an object"))?;
        if let Some(keyword) = map.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
            return Err(SchemaError::UnknownKeyword { at: at.to_owned(), keyword: keyword.clone() });
        }
        let kind = match map.get("type") {
            None => None,
            Some(word) => {
                Some(word.as_str().and_then(Type::from_word).ok_or_else(|| bad("type", "the name of one JSON type, such as `string`"))?)
            }
        };
        let mut properties = Vec::new();
        for (name, inner) in keyword_or_empty(map, "properties", Value::as_object).ok_or_else(|| bad("properties", "an object"))? {
            properties.push((name.clone(), Self::compile(inner, &format!("{at}.{name}"))?));
        }
        let required = required(map).ok_or_else(|| bad("required", "an array of names"))?;
        if let Some(name) = required.iter().find(|name| !properties.iter().any(|(known, _)| known == *name)) {
            return Err(SchemaError::RequiredUnknown { at: at.to_owned(), name: name.clone() });
        }
        let closed = match map.get("additionalProperties") {
            None => false,
            Some(open) => !open.as_bool().ok_or_else(|| bad("additionalProperties", "true or false"))?,
        };
        let choices = match map.get("enum") {
            None => None,
            Some(list) => {
                let list = list.as_array().filter(|list| !list.is_empty());
                Some(list.ok_or_else(|| bad("enum", "an array of at least one value"))?.clone())
            }
        };
        let minimum = bound(map, "minimum").ok_or_else(|| bad("minimum", "a number"))?;
        let maximum = bound(map, "maximum").ok_or_else(|| bad("maximum", "a number"))?;
        let description = SafeText::new(map.get("description").and_then(Value::as_str).unwrap_or_default());
        Ok(Self { kind, description, properties, required, closed, choices, minimum, maximum })
    }

    pub fn kind(&self) -> Option<Type> {
        self.kind
    }

    /// What the tool says of it; may be empty.
    pub fn description(&self) -> &SafeText {
        &self.description
    }

    /// The only values that it may have; none where it may have others.
    pub fn choices(&self) -> &[Value] {
        self.choices.as_deref().unwrap_or_default()
    }

    /// The arguments that it knows, in its order, and whether a call must have them.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &Schema, bool)> {
        self.properties.iter().map(|(name, schema)| (name.as_str(), schema, self.required.contains(name)))
    }

    /// The bounds of a number, in words; unset where there are none.
    pub fn bounds(&self) -> Option<String> {
        (self.minimum.is_some() || self.maximum.is_some()).then(|| self.range())
    }

    /// The value that typed text stands for: of a text the text itself, unless it is in quotes; of anything else what JSON makes of it. What
    /// can't be read is the text, which `check_one` then refuses by its kind.
    pub fn read(&self, text: &str) -> Value {
        let as_text = || Value::String(text.to_owned());
        let quoted = || serde_json::from_str(text.trim()).ok().filter(Value::is_string);
        match self.kind {
            Some(Type::String) => quoted().unwrap_or_else(as_text),
            Some(Type::Object | Type::Array | Type::Number | Type::Integer | Type::Boolean | Type::Null) | None => {
                let is_choice = self.choices().iter().any(|choice| choice.as_str() == Some(text));
                let read = serde_json::from_str(text.trim()).ok().filter(|_| !is_choice);
                read.unwrap_or_else(as_text)
            }
        }
    }

    /// The text that `read` makes this value of: strings without quotes where that is clear.
    pub fn written(&self, value: &Value) -> String {
        let text = plain(value);
        if !text.is_empty() && self.read(&text) == *value { text } else { value.to_string() }
    }

    /// Whether the value of one argument fits.
    pub fn check_one(&self, name: &str, value: &Value) -> Result<(), Violation> {
        self.check_value(value, name)
    }

    /// Whether the arguments of a call fit; the first that does not is named.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), Violation> {
        self.check_object(arguments, "")
    }

    fn check_object(&self, object: &Map<String, Value>, at: &str) -> Result<(), Violation> {
        if self.closed
            && let Some(name) = object.keys().find(|name| self.property(name).is_none())
        {
            let known = self.properties.iter().map(|(name, _)| name.as_str());
            let hint = match nearest(name, known.clone()) {
                Some(near) => format!("; did you mean `{near}`?"),
                None if self.properties.is_empty() => "; it takes none".to_owned(),
                None => format!("; it takes {}", known.collect::<Vec<_>>().join(", ")),
            };
            return Err(violation(&path(at, name), format!("no argument has this name{hint}")));
        }
        if let Some(name) = self.required.iter().find(|name| !object.contains_key(*name)) {
            return Err(violation(&path(at, name), "it is required and missing".to_owned()));
        }
        for (name, schema) in &self.properties {
            if let Some(value) = object.get(name) {
                schema.check_value(value, &path(at, name))?;
            }
        }
        Ok(())
    }

    fn check_value(&self, value: &Value, at: &str) -> Result<(), Violation> {
        if let Some(kind) = self.kind
            && !kind.fits(value)
        {
            return Err(violation(at, format!("{} is needed, not {}", kind.words(), shown(value))));
        }
        if let Some(choices) = &self.choices
            && !choices.contains(value)
        {
            return Err(violation(at, not_a_choice(value, choices)));
        }
        if let Some(number) = value.as_f64() {
            let low = self.minimum.is_some_and(|minimum| number < minimum);
            let high = self.maximum.is_some_and(|maximum| number > maximum);
            if low || high {
                return Err(violation(at, format!("{} is out of range; give {}", shown(value), self.range())));
            }
        }
        match value {
            Value::Object(object) => self.check_object(object, at),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Ok(()),
        }
    }

    fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, schema)| schema)
    }

    fn range(&self) -> String {
        match (self.minimum, self.maximum) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("{low} or more"),
            (None, Some(high)) => format!("{high} or less"),
            (None, None) => "any number".to_owned(),
        }
    }
}

/// `Some(empty)` where the keyword is absent, `None` where it has another shape.
fn keyword_or_empty<'a>(
    map: &'a Map<String, Value>,
    keyword: &str,
    read: fn(&Value) -> Option<&Map<String, Value>>,
) -> Option<Vec<(&'a String, &'a Value)>> {
    match map.get(keyword) {
        None => Some(Vec::new()),
        Some(value) => read(value).map(|inner| inner.iter().collect()),
    }
}

fn required(map: &Map<String, Value>) -> Option<Vec<String>> {
    match map.get("required") {
        None => Some(Vec::new()),
        Some(list) => list.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
    }
}

/// `Some(None)` where the keyword is absent, `None` where it is no number.
fn bound(map: &Map<String, Value>, keyword: &str) -> Option<Option<f64>> {
    match map.get(keyword) {
        None => Some(None),
        Some(value) => value.as_f64().map(Some),
    }
}

fn path(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn violation(argument: &str, problem: String) -> Violation {
    Violation { argument: cut(argument), problem: problem.into() }
}

fn not_a_choice(value: &Value, choices: &[Value]) -> String {
    let words = || choices.iter().filter_map(Value::as_str);
    match value.as_str().and_then(|word| nearest(word, words())) {
        Some(near) => format!("{} is not one of the choices; did you mean `{near}`?", shown(value)),
        None => {
            let list: Vec<String> = choices.iter().map(plain).collect();
            format!("{} is not one of {}", shown(value), list.join(", "))
        }
    }
}

/// A value as people write it: strings without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown(value: &Value) -> String {
    format!("`{}`", cut(&plain(value)))
}

/// Text from a model, safe and short enough for a message.
pub fn cut(text: &str) -> SafeText {
    const CHARS_MAX: usize = 80;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => SafeText::from(format!("{}…", &text[..end])),
        None => SafeText::new(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::of_parameters(&json!({
            "type": "object",
            "properties": {
                "svc": {"type": "string", "enum": ["checkout", "pay"], "description": "the service"},
                "n": {"type": "integer", "minimum": 1, "maximum": 12},
                "share": {"type": "number", "maximum": 1},
                "range": {"type": "object", "properties": {"from": {"type": "integer"}}, "required": ["from"], "additionalProperties": false},
                "dry": {"type": "boolean"},
            },
            "required": ["svc"],
            "additionalProperties": false,
        }))
        .unwrap()
    }

    fn problem(arguments: Value) -> String {
        schema().check(arguments.as_object().unwrap()).map_or_else(|e| e.to_string(), |()| "fits".to_owned())
    }

    #[test]
    fn what_fits_passes() {
        assert_eq!(problem(json!({"svc": "pay"})), "fits");
        assert_eq!(problem(json!({"svc": "pay", "n": 12, "share": 0.5, "dry": false, "range": {"from": 3}})), "fits");
        assert_eq!(problem(json!({"svc": "pay", "share": 1})), "fits");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        insta::assert_snapshot!(problem(json!({})), @"svc: it is required and missing");
        insta::assert_snapshot!(problem(json!({"svc": "chekout"})), @"svc: `chekout` is not one of the choices; did you mean `checkout`?");
        insta::assert_snapshot!(problem(json!({"svc": "db"})), @"svc: `db` is not one of checkout, pay");
        insta::assert_snapshot!(problem(json!({"svc": 3})), @"svc: a string is needed, not `3`");
        insta::assert_snapshot!(problem(json!({"svc": "pay", "n": 0})), @"n: `0` is out of range; give 1 to 12");
        insta::assert_snapshot!(problem(json!({"svc": "pay", "n": 2.0})), @"n: a whole number is needed, not `2.0`");
        insta::assert_snapshot!(problem(json!({"svc": "pay", "share": 1.5})), @"share: `1.5` is out of range; give 1 or less");
        insta::assert_snapshot!(problem(json!({"svc": "pay", "svcs": 1})), @"svcs: no argument has this name; did you mean `svc`?");
        insta::assert_snapshot!(problem(json!({"svc": "pay", "range": {}})), @"range.from: it is required and missing");
        insta::assert_snapshot!(problem(json!({"svc": "pay", "range": {"from": 1, "zzz": 2}})), @"range.zzz: no argument has this name; it takes from");
    }

    #[test]
    fn what_is_written_is_read_as_the_same_value() {
        let any = Schema::compile(&json!({}), "x").unwrap();
        let text = Schema::compile(&json!({"type": "string"}), "x").unwrap();
        let whole = Schema::compile(&json!({"type": "integer"}), "x").unwrap();
        let choice = Schema::compile(&json!({"enum": ["1", 1, "a b"]}), "x").unwrap();
        let values = json!(["", "\"\"", "\"a\"", "6", "true", " 6 ", "a b", "\u{1b}[2J\n", 6, -1.5, true, null, [1, "x"], {"a": {"b": 1}}]);
        for value in values.as_array().unwrap() {
            for schema in [&any, &text, &whole, &choice].into_iter().filter(|s| s.kind != Some(Type::String) || value.is_string()) {
                assert_eq!(schema.read(&schema.written(value)), *value, "{value} as {:?}", schema.written(value));
            }
        }
        assert_eq!((text.read("6"), text.read("\"6\""), whole.read(" 6"), whole.read("x")), (json!("6"), json!("6"), json!(6), json!("x")));
        assert_eq!((choice.read("1"), choice.read("a b")), (json!("1"), json!("a b")));
    }

    #[test]
    fn hostile_arguments_are_cut_and_made_safe() {
        let text = problem(json!({"svc": format!("\u{1b}[2J{}", "x".repeat(100_000))}));
        assert!(text.len() < 400 && !text.contains('\u{1b}'), "{text}");
    }

    fn refusal(parameters: Value) -> String {
        Schema::of_parameters(&parameters).unwrap_err().to_string()
    }

    #[test]
    fn a_schema_that_can_t_be_checked_is_refused_by_its_keyword() {
        insta::assert_snapshot!(refusal(json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}})), @"the schema keyword `pattern` at `parameters.a` is not supported; use: type, properties, required, additionalProperties, enum, minimum, maximum, description, title");
        insta::assert_snapshot!(refusal(json!({"type": "text"})), @"the schema keyword `type` at `parameters` should be the name of one JSON type, such as `string`");
        insta::assert_snapshot!(refusal(json!({"type": "object", "required": ["a"]})), @"the schema at `parameters` requires `a`, which is not among its properties");
        insta::assert_snapshot!(refusal(json!({"type": "string"})), @r#"the parameters of a tool are an object: `"type": "object"` is missing"#);
        assert!(refusal(json!({"type": "object", "additionalProperties": {}})).contains("additionalProperties"));
        assert!(refusal(json!({"type": "object", "properties": {"a": {"enum": []}}})).contains("enum"));
        assert!(refusal(json!({"type": "object", "properties": {"a": {"minimum": "1"}}})).contains("minimum"));
        assert!(refusal(json!([])).contains("should be an object"));
    }
}
