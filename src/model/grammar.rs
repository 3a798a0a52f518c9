//! Constrained decoding: a message is a thought, `<act>`, and a call that is valid for one of the tools; nothing else can be sampled.

use super::Tokenizer;
use crate::agent::{PolicyError, Role};
use crate::event::{TokenId, ToolSpec};
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie};
use llguidance::{Matcher, ParserFactory};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// Compiled grammars that are kept: each episode may have its own names.
const CACHE_MAX: usize = 64;

/// Widest range of integers that is listed value by value.
const INTEGERS_LISTED_MAX: i64 = 256;

/// Keywords of JSON Schema that a parameter may use. Others would be ignored or refused later, so they are refused by name.
const KEYWORDS: [&str; 24] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
    "title",
    "description",
    "default",
    "examples",
    "$comment",
];

/// Makes grammars for one vocabulary and keeps them.
pub struct Grammars {
    factory: ParserFactory,
    marks: Marks,
    /// Newest last; keyed by the grammar's text.
    cache: VecDeque<(String, Matcher)>,
}

/// The state of one message's grammar.
pub struct Constraint {
    matcher: Matcher,
    marks: Marks,
    /// Tokens that the thought may still have; `None` once it has ended.
    thought_tokens_left: Option<u32>,
}

/// What a constraint knows of the vocabulary.
#[derive(Clone)]
struct Marks {
    act: TokenId,
    end: TokenId,
    /// Tokens that are one byte in the middle of a character.
    continuations: Arc<Vec<u32>>,
}

impl Grammars {
    pub fn new(tokenizer: &Tokenizer) -> Result<Self, PolicyError> {
        let words: Vec<Vec<u8>> = (0..tokenizer.vocab_size() as u32).map(|id| trie_word(tokenizer, TokenId(id))).collect();
        let info = TokRxInfo::new(words.len() as u32, tokenizer.end().0);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(TokTrie::from(&info, &words)));
        // Slices pay for vocabularies of 100,000; here they only cost.
        let mut factory =
            ParserFactory::new(&environment, InferenceCapabilities::default(), &[]).map_err(|e| PolicyError::Backend(e.to_string()))?;
        factory.quiet();
        let continuations = (0u32..).zip(&words).filter(|(_, w)| matches!(w.as_slice(), [0x80..=0xbf])).map(|(id, _)| id).collect();
        let marks = Marks { act: tokenizer.mark(Role::Action), end: tokenizer.end(), continuations: Arc::new(continuations) };
        Ok(Self { factory, marks, cache: VecDeque::new() })
    }

    /// The grammar of a message at its beginning. The thought has at most `thought_tokens_max` tokens, and at most three more where the last character
    /// needs them.
    pub fn constraint(&mut self, tools: &[ToolSpec], thought_tokens_max: u32) -> Result<Constraint, PolicyError> {
        let text = grammar_text(tools)?;
        let known = self.cache.iter().position(|(key, _)| *key == text).and_then(|i| self.cache.remove(i));
        let entry = match known {
            Some(entry) => entry,
            None => (text.clone(), self.compile(tools, text)?),
        };
        let matcher = entry.1.clone();
        self.cache.push_back(entry);
        if self.cache.len() > CACHE_MAX {
            self.cache.pop_front();
        }
        Ok(Constraint { matcher, marks: self.marks.clone(), thought_tokens_left: Some(thought_tokens_max) })
    }

    fn compile(&self, tools: &[ToolSpec], text: String) -> Result<Matcher, PolicyError> {
        let matcher = Matcher::new(self.factory.create_parser(TopLevelGrammar::from_lark(text)));
        match matcher.get_error() {
            None => Ok(matcher),
            Some(reason) => Err(PolicyError::Grammar { tool: self.culprit(tools), reason: first_line(&reason) }),
        }
    }

    /// The tool that can't be compiled by itself, or all of them.
    fn culprit(&self, tools: &[ToolSpec]) -> String {
        let fails = |tool: &&ToolSpec| {
            let text = grammar_text(std::slice::from_ref(*tool)).unwrap_or_default();
            Matcher::new(self.factory.create_parser(TopLevelGrammar::from_lark(text))).is_error()
        };
        match tools.iter().find(fails) {
            Some(tool) => tool.name.clone(),
            None => tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", "),
        }
    }
}

impl Constraint {
    /// The tokens that may come next; the end of the message when nothing else may.
    pub fn allowed(&mut self) -> Result<SimpleVob, PolicyError> {
        let mask = self.matcher.compute_mask_or_eos().map_err(failed)?;
        Ok(if self.thought_tokens_left == Some(0) { self.end_of_thought(mask) } else { mask })
    }

    /// Of `mask`, what leads to the end of the thought: its mark, or first the rest of the character.
    fn end_of_thought(&self, mask: SimpleVob) -> SimpleVob {
        let mut only = SimpleVob::alloc(mask.len());
        if mask.is_allowed(self.marks.act.0) {
            only.allow_token(self.marks.act.0);
        } else {
            self.marks.continuations.iter().filter(|id| mask.is_allowed(**id)).for_each(|id| only.allow_token(*id));
        }
        if only.is_zero() { mask } else { only }
    }

    /// Takes a token that [`Self::allowed`] holds.
    pub fn take(&mut self, token: TokenId) -> Result<(), PolicyError> {
        if token == self.marks.end {
            return Ok(());
        }
        self.thought_tokens_left = self.thought_tokens_left.filter(|_| token != self.marks.act).map(|left| left.saturating_sub(1));
        self.matcher.consume_token(token.0).map_err(failed)
    }
}

fn failed(error: impl std::fmt::Display) -> PolicyError {
    PolicyError::Backend(format!("grammar: {}", first_line(&error.to_string())))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Bytes of a token as the trie wants them: special tokens behind 0xFF. A plain token that begins with that byte is part of no text and left out.
fn trie_word(tokenizer: &Tokenizer, token: TokenId) -> Vec<u8> {
    let bytes = tokenizer.token_bytes(token);
    match (tokenizer.is_special(token), bytes.first()) {
        (true, _) => [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes].concat(),
        (false, Some(&TokTrie::SPECIAL_TOKEN_MARKER)) => Vec::new(),
        (false, _) => bytes.to_vec(),
    }
}

/// The grammar in llguidance's dialect of Lark. A thought has no `<`, so that its text can't imitate the mark behind it. Keys stand in the order in which the tool declares them, without whitespace.
fn grammar_text(tools: &[ToolSpec]) -> Result<String, PolicyError> {
    if tools.is_empty() {
        return Err(PolicyError::Grammar { tool: String::new(), reason: "there are no tools".to_owned() });
    }
    let calls: Vec<String> = tools.iter().map(call_rule).collect::<Result<_, _>>()?;
    Ok(format!("start: thought <act> call\nthought: /[^<]*/\ncall: {}\n", calls.join("\n    | ")))
}

/// `"{\"tool\":\"restart\"" ",\"svc\":" %json {…} "}"`
fn call_rule(tool: &ToolSpec) -> Result<String, PolicyError> {
    let fail = |reason: String| PolicyError::Grammar { tool: tool.name.clone(), reason };
    let empty = Map::new();
    let schema = tool.parameters.as_object().ok_or_else(|| fail("its parameters are not a JSON Schema object".to_owned()))?;
    check_keywords(schema, "parameters").map_err(&fail)?;
    if schema.get("type").is_some_and(|t| t != "object") {
        return Err(fail(format!("parameters: `type` is {}, it must be \"object\"", schema["type"])));
    }
    if let Some(keyword) = ["enum", "const", "anyOf", "pattern"].iter().find(|k| schema.contains_key(**k)) {
        return Err(fail(format!("parameters: keyword `{keyword}` is not supported here")));
    }
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(missing) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(fail(format!("parameters: `required` names `{missing}`, which `properties` does not have")));
    }
    let mut rule = literal(&format!("{{\"tool\":{}", Value::from(tool.name.as_str())));
    for (name, property) in properties {
        if name == "tool" {
            return Err(fail("a parameter can't be called `tool`, the call's own key".to_owned()));
        }
        let value = property_rule(name, property).map_err(&fail)?;
        let pair = format!("{} {value}", literal(&format!(",{}:", Value::from(name.as_str()))));
        rule += &if required.contains(&name.as_str()) { format!(" {pair}") } else { format!(" ({pair})?") };
    }
    Ok(format!("{rule} {}", literal("}")))
}

fn property_rule(name: &str, property: &Value) -> Result<String, String> {
    let schema = property.as_object().ok_or_else(|| format!("parameter `{name}` is not a JSON Schema object"))?;
    check_keywords(schema, name)?;
    let mut schema = small_integers(schema).unwrap_or_else(|| schema.clone());
    schema.insert("x-guidance".to_owned(), json!({"whitespace_flexible": false}));
    Ok(format!("%json {}", Value::from(schema)))
}

/// An integer within narrow bounds as the list of its values. As a pattern it would allow `-0`, which JSON readers take for a float.
fn small_integers(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
    let (low, high) = (bound("minimum")?, bound("maximum")?);
    let is_plain = schema.get("type")? == "integer"
        && !["multipleOf", "exclusiveMinimum", "exclusiveMaximum", "enum", "const"].iter().any(|k| schema.contains_key(*k));
    let is_narrow = high.checked_sub(low).is_some_and(|width| (0..INTEGERS_LISTED_MAX).contains(&width));
    (is_plain && is_narrow).then(|| Map::from_iter([("enum".to_owned(), (low..=high).map(Value::from).collect())]))
}

/// A literal of Lark. Its escapes are those of JSON.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

/// Refuses the first keyword that is not in [`KEYWORDS`], at any depth.
fn check_keywords(schema: &Map<String, Value>, place: &str) -> Result<(), String> {
    if let Some(keyword) = schema.keys().find(|k| !KEYWORDS.contains(&k.as_str())) {
        return Err(format!("{place}: keyword `{keyword}` is not supported"));
    }
    let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(k, v)| (k.as_str(), v));
    let listed = ["anyOf", "prefixItems"].iter().filter_map(|k| schema.get(*k)?.as_array()).flatten().map(|v| (place, v));
    let single = ["items", "additionalProperties"].iter().filter_map(|k| schema.get(*k)).map(|v| (place, v));
    for (name, inner) in named.chain(listed).chain(single) {
        if let Some(inner) = inner.as_object() {
            check_keywords(inner, name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{tiny_tokenizer, tool};
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn tools() -> Vec<ToolSpec> {
        vec![
            tool(
                "restart",
                json!({"type": "object", "properties": {"svc": {"enum": ["pay", "mail"]}}, "required": ["svc"], "additionalProperties": false}),
            ),
            tool(
                "scale",
                json!({"type": "object", "properties": {"svc": {"enum": ["pay", "mail"]}, "by": {"type": "integer", "minimum": -2, "maximum": 8}},
                "required": ["svc", "by"]}),
            ),
            tool("scale_up", json!({"properties": {"why": {"type": "string", "maxLength": 6}}})),
            tool("wait", json!({"type": "object"})),
        ]
    }

    /// A message by uniform choice among the allowed tokens. Thoughts end sooner than by chance, so that calls get their share.
    fn walk(constraint: &mut Constraint, tokenizer: &Tokenizer, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let act = tokenizer.mark(Role::Action).0;
        let mut ids = Vec::new();
        while ids.last() != Some(&tokenizer.end().0) {
            assert!(ids.len() < 400, "{}", tokenizer.decode(&ids));
            let allowed: Vec<u32> = constraint.allowed().unwrap().iter().collect();
            let pick = allowed[rng.next_u32() as usize % allowed.len()];
            let token = if allowed.contains(&act) && rng.next_u32().is_multiple_of(6) { act } else { pick };
            constraint.take(TokenId(token)).unwrap();
            ids.push(token);
        }
        ids
    }

    fn valid(tools: &[ToolSpec], call: &Map<String, Value>) -> bool {
        let Some(tool) = tools.iter().find(|t| call["tool"] == t.name) else { return false };
        let svc = |v: &Value| v == "pay" || v == "mail";
        let keys: Vec<&str> = call.keys().map(String::as_str).collect();
        match tool.name.as_str() {
            "restart" => keys == ["tool", "svc"] && svc(&call["svc"]),
            "scale" => keys == ["tool", "svc", "by"] && svc(&call["svc"]) && call["by"].as_i64().is_some_and(|n| (-2..=8).contains(&n)),
            "scale_up" => keys == ["tool"] || (keys == ["tool", "why"] && call["why"].as_str().is_some_and(|s| s.chars().count() <= 6)),
            _ => keys == ["tool"],
        }
    }

    #[test]
    fn random_walks_make_valid_calls_only() {
        let (tokenizer, tools) = (tiny_tokenizer(), tools());
        let mut grammars = Grammars::new(&tokenizer).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut names = std::collections::BTreeSet::new();
        for _ in 0..300 {
            let ids = walk(&mut grammars.constraint(&tools, 12).unwrap(), &tokenizer, &mut rng);
            let special = ids.iter().filter(|id| tokenizer.is_special(TokenId(**id))).count();
            let act = ids.iter().position(|id| *id == tokenizer.mark(Role::Action).0).unwrap();
            assert!(special == 2 && act <= 15, "{}", tokenizer.decode(&ids));
            assert!(
                std::str::from_utf8(&ids[..act].iter().flat_map(|id| tokenizer.token_bytes(TokenId(*id)).to_vec()).collect::<Vec<u8>>())
                    .is_ok()
            );
            assert!(!tokenizer.decode(&ids[..act]).contains('<'));
            let text = tokenizer.decode(&ids[act + 1..ids.len() - 1]);
            let call: Map<String, Value> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert!(valid(&tools, &call), "{text}");
            assert!(!text.contains("\": ") && !text.contains(", \""), "{text}");
            names.insert(call["tool"].to_string());
        }
        assert_eq!(names.len(), 4, "{names:?}");
        assert_eq!(grammars.cache.len(), 1);
    }

    #[test]
    fn a_schema_that_is_not_supported_is_refused_with_tool_and_keyword() {
        let mut grammars = Grammars::new(&tiny_tokenizer()).unwrap();
        let mut refuse = |parameters: Value| {
            let tools = [tools().remove(0), tool("odd", parameters)];
            let error = grammars.constraint(&tools, 12).err().unwrap();
            assert!(matches!(&error, PolicyError::Grammar { tool, .. } if tool == "odd"), "{error}");
            error.to_string()
        };
        assert!(refuse(json!({"oneOf": []})).contains("`oneOf`"));
        assert!(refuse(json!({"properties": {"a": {"if": {}, "then": {}}}})).contains("`if`"));
        assert!(refuse(json!({"properties": {"a": {"items": {"$ref": "#/x"}}}})).contains("`$ref`"));
        assert!(refuse(json!({"properties": {}, "required": ["b"]})).contains("`b`"));
        assert!(refuse(json!({"properties": {"tool": {}}})).contains("`tool`"));
        assert!(refuse(json!({"type": "array"})).contains("array"));
        assert!(refuse(json!("text")).contains("JSON Schema"));
        assert!(refuse(json!({"properties": {"a": {"type": "string", "pattern": "(["}}})).len() > 20);
        assert!(grammars.constraint(&[], 12).is_err());
    }

    #[test]
    fn a_thought_can_have_no_tokens_and_grammars_are_kept_in_bounds() {
        let tokenizer = tiny_tokenizer();
        let mut grammars = Grammars::new(&tokenizer).unwrap();
        let mut constraint = grammars.constraint(&tools(), 0).unwrap();
        assert_eq!(constraint.allowed().unwrap().to_list(), [tokenizer.mark(Role::Action).0]);
        for n in 0..70 {
            grammars.constraint(&[tool(&format!("t{n}"), json!({}))], 4).unwrap();
        }
        assert_eq!(grammars.cache.len(), CACHE_MAX);
    }
}
