//! The one loader of other people's YAML: a tree of nodes with the text of every scalar as it stands, which knows where each node is.
//!
//! libyaml (through serde_yaml) reads the document. It gives a node's kind, but neither its text nor its place: so a second walk asks for the texts
//! (`1.10` is a label's value, not the number 1.1), and a place is found, when somebody asks for it, by a walk that stops there.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// Bytes of a document.
pub const BYTES_MAX: usize = 1 << 20;
/// Nodes of a document whose aliases are followed.
const NODES_MAX: usize = 1 << 20;
/// Bytes of all its scalars, aliases followed.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Brackets in brackets; what libyaml does with each token grows with them.
const FLOW_DEPTH_MAX: usize = 1_000;

/// What a scalar is by YAML's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Null,
    Bool,
    Integer,
    Float,
    Text,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Scalar(Scalar, String),
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

/// A node, numbered in the order of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    number: usize,
    pub content: Content,
}

/// Line and column, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("yaml: {message}")]
pub struct YamlError {
    pub place: Place,
    pub message: String,
}

/// The first document of a text.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t str,
    pub root: Node,
}

impl<'t> Document<'t> {
    pub fn parse(text: &'t str) -> Result<Self, YamlError> {
        let refuse = |message: &str| Err(YamlError { place: Place::default(), message: message.to_owned() });
        if text.len() > BYTES_MAX {
            return refuse("the document is larger than 1 MiB");
        }
        // libyaml counts the mark as a column, and what follows would stand right of the rest.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if flow_depth(text) > FLOW_DEPTH_MAX {
            return refuse("brackets are nested too deep");
        }
        let shape = walk(text, None, None)?;
        let root = walk(text, Some(&shape), None)?;
        let mut document = Self { text, root };
        document.root = document.merged(document.root.clone())?;
        Ok(document)
    }

    pub fn place(&self, node: &Node) -> Place {
        match walk(self.text, None, Some(node.number)) {
            Ok(_) => Place::default(),
            Err(error) => error.place,
        }
    }

    /// Puts the mappings below `<<` in its place, and refuses a key that comes twice.
    fn merged(&self, node: Node) -> Result<Node, YamlError> {
        let content = match node.content {
            Content::Scalar(..) => node.content,
            Content::Sequence(items) => Content::Sequence(items.into_iter().map(|item| self.merged(item)).collect::<Result<_, _>>()?),
            Content::Mapping(pairs) => Content::Mapping(self.merged_pairs(pairs)?),
        };
        Ok(Node { number: node.number, content })
    }

    fn merged_pairs(&self, pairs: Vec<(Node, Node)>) -> Result<Vec<(Node, Node)>, YamlError> {
        let mut own: Vec<(Node, Node)> = Vec::new();
        let mut merges = Vec::new();
        let mut first_numbers: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for (key, value) in pairs {
            let value = self.merged(value)?;
            let Some(name) = key.text() else { return Err(self.error(&key, "a key must be a scalar".into())) };
            if name == "<<" {
                merges.push((key, value));
                continue;
            }
            if let Some(first) = first_numbers.insert(name.to_owned(), key.number) {
                let first = self.place_of(first);
                return Err(self.error(&key, format!("mapping key {name:?} already defined at line {}", first.line)));
            }
            own.push((key, value));
        }
        for (key, value) in merges {
            let sources = match value.content {
                Content::Mapping(pairs) => vec![pairs],
                Content::Sequence(items) => items.into_iter().filter_map(|item| item.into_pairs()).collect(),
                Content::Scalar(..) => return Err(self.error(&key, "map merge requires map or sequence of maps as the value".into())),
            };
            for (key, value) in sources.into_iter().flatten() {
                if let Some(name) = key.text().filter(|name| !first_numbers.contains_key(*name)) {
                    first_numbers.insert(name.to_owned(), key.number);
                    own.push((key, value));
                }
            }
        }
        Ok(own)
    }

    fn place_of(&self, number: usize) -> Place {
        self.place(&Node { number, content: Content::Sequence(Vec::new()) })
    }

    fn error(&self, node: &Node, message: String) -> YamlError {
        let place = self.place(node);
        YamlError { place, message: format!("line {}: {message}", place.line) }
    }
}

/// The most brackets that are open at once, whether they are YAML's or a text's.
fn flow_depth(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

impl Node {
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(_, text) => Some(text),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Scalar::Null, _))
    }

    /// As YAML names it: `!!map`.
    pub fn tag(&self) -> &'static str {
        match &self.content {
            Content::Scalar(Scalar::Null, _) => "!!null",
            Content::Scalar(Scalar::Bool, _) => "!!bool",
            Content::Scalar(Scalar::Integer, _) => "!!int",
            Content::Scalar(Scalar::Float, _) => "!!float",
            Content::Scalar(Scalar::Text, _) => "!!str",
            Content::Sequence(_) => "!!seq",
            Content::Mapping(_) => "!!map",
        }
    }

    fn into_pairs(self) -> Option<Vec<(Node, Node)>> {
        match self.content {
            Content::Mapping(pairs) => Some(pairs),
            Content::Scalar(..) | Content::Sequence(_) => None,
        }
    }
}

/// Reads the first document. With `shape`, the kinds of its nodes are known and scalars give their text. It ends at the node `stop_at` by an error that
/// has its place.
fn walk(text: &str, shape: Option<&Node>, stop_at: Option<usize>) -> Result<Node, YamlError> {
    let tally = Tally { nodes: Cell::new(0), text_bytes: Cell::new(0), stop_at };
    let walked = match serde_yaml::Deserializer::from_str(text).next() {
        Some(document) => Walk { tally: &tally, known: shape }.deserialize(document),
        None => return Ok(Node { number: 0, content: Content::Scalar(Scalar::Null, String::new()) }),
    };
    walked.or_else(|error| {
        // A text without a document is a null.
        if error.location().is_none() && stop_at.is_none() && error.to_string() == "EOF while parsing a value" {
            return Ok(Node { number: 0, content: Content::Scalar(Scalar::Null, String::new()) });
        }
        let message = error.to_string();
        let located = || error.location().map_or_else(Place::default, |at| Place { line: at.line(), column: at.column() });
        // libyaml counts lines only in what it could decode.
        let place = control_character(text).filter(|_| message.starts_with("control characters")).unwrap_or_else(located);
        // The place is told apart from the words.
        let end = message.rfind(" at line ").or(message.rfind(" at position ")).unwrap_or(message.len());
        Err(YamlError { place, message: format!("line {}: {}", place.line, &message[..end]) })
    })
}

/// The first character that no YAML may hold.
fn control_character(text: &str) -> Option<Place> {
    let is_refused = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}') || matches!(c, '\u{fffe}' | '\u{ffff}');
    let before = &text[..text.find(is_refused)?];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Some(Place { line: 1 + before.matches('\n').count(), column: 1 + before[line_start..].chars().count() })
}

struct Tally {
    nodes: Cell<usize>,
    text_bytes: Cell<usize>,
    stop_at: Option<usize>,
}

struct Walk<'a> {
    tally: &'a Tally,
    known: Option<&'a Node>,
}

impl<'a> Walk<'a> {
    fn child(&self, pick: impl FnOnce(&'a Content) -> Option<&'a Node>) -> Walk<'a> {
        Walk { tally: self.tally, known: self.known.and_then(|node| pick(&node.content)) }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        let number = self.tally.nodes.get();
        self.tally.nodes.set(number + 1);
        let scalar = match self.known.map(|node| &node.content) {
            Some(Content::Scalar(kind, _)) => Some(*kind),
            Some(Content::Sequence(_) | Content::Mapping(_)) | None => None,
        };
        let visitor = Reader { walk: self, number, scalar };
        if scalar.is_some() { deserializer.deserialize_str(visitor) } else { deserializer.deserialize_any(visitor) }
    }
}

/// Makes a node of what the deserializer finds.
struct Reader<'a> {
    walk: Walk<'a>,
    number: usize,
    scalar: Option<Scalar>,
}

impl Reader<'_> {
    fn node<E: serde::de::Error>(&self, content: Content) -> Result<Node, E> {
        self.checked()?;
        Ok(Node { number: self.number, content })
    }

    fn checked<E: serde::de::Error>(&self) -> Result<(), E> {
        if self.walk.tally.stop_at == Some(self.number) {
            return Err(E::custom("here"));
        }
        if self.number >= NODES_MAX || self.walk.tally.text_bytes.get() > TEXT_BYTES_MAX {
            return Err(E::custom("document contains excessive aliasing"));
        }
        Ok(())
    }

    fn kind<E: serde::de::Error>(&self, kind: Scalar) -> Result<Node, E> {
        self.node(Content::Scalar(kind, String::new()))
    }
}

/// The pair at a place of what is known of a mapping.
fn pair(content: &Content, at: usize) -> Option<&(Node, Node)> {
    match content {
        Content::Mapping(pairs) => pairs.get(at),
        Content::Scalar(..) | Content::Sequence(_) => None,
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Node, E> {
        self.kind(Scalar::Bool)
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Node, E> {
        self.kind(Scalar::Integer)
    }

    fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<Node, E> {
        self.kind(Scalar::Integer)
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Node, E> {
        self.kind(Scalar::Integer)
    }

    fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<Node, E> {
        self.kind(Scalar::Integer)
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Node, E> {
        self.kind(Scalar::Float)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Node, E> {
        self.kind(Scalar::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Node, E> {
        self.kind(Scalar::Null)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Node, E> {
        let bytes = &self.walk.tally.text_bytes;
        bytes.set(bytes.get() + text.len());
        self.checked()?;
        self.node(Content::Scalar(self.scalar.unwrap_or(Scalar::Text), text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.checked()?;
        let mut items = Vec::new();
        loop {
            let at = items.len();
            let child = self.walk.child(|content| match content {
                Content::Sequence(items) => items.get(at),
                Content::Scalar(..) | Content::Mapping(_) => None,
            });
            match access.next_element_seed(child)? {
                Some(item) => items.push(item),
                None => return self.node(Content::Sequence(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.checked()?;
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        loop {
            let at = pairs.len();
            match access.next_key_seed(self.walk.child(|content| pair(content, at).map(|(key, _)| key)))? {
                Some(key) => {
                    let value = self.walk.child(|content| pair(content, at).map(|(_, value)| value));
                    pairs.push((key, access.next_value_seed(value)?));
                }
                None => return self.node(Content::Mapping(pairs)),
            }
        }
    }

    /// A tag of somebody's own (`!secret x`) changes nothing.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Node, A::Error> {
        let (_, variant): (serde::de::IgnoredAny, _) = access.variant()?;
        let visited = variant.newtype_variant_seed(Walk { tally: self.walk.tally, known: self.walk.known })?;
        Ok(Node { number: self.number, content: visited.content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = Document::parse(text).unwrap_err();
        format!("{}: {error}", error.place)
    }

    #[test]
    fn scalars_keep_their_text() {
        let document = Document::parse("a: 1.10\nb: 0x1F\nc: yes\nd: ~\ne: 'x'\nf: true\ng: !mine z\n").unwrap();
        let Content::Mapping(pairs) = &document.root.content else { panic!("{:?}", document.root) };
        let found: Vec<_> = pairs.iter().map(|(key, value)| (key.text().unwrap(), value.tag(), value.text().unwrap())).collect();
        assert_eq!(
            found,
            [
                ("a", "!!float", "1.10"),
                ("b", "!!int", "0x1F"),
                ("c", "!!str", "yes"),
                ("d", "!!null", "~"),
                ("e", "!!str", "x"),
                ("f", "!!bool", "true"),
                ("g", "!!str", "z")
            ]
        );
    }

    #[test]
    fn every_node_knows_its_place() {
        let document = Document::parse("a:\n  - b: 1\n    c: [x, y]\n").unwrap();
        let Content::Mapping(pairs) = &document.root.content else { panic!() };
        let Content::Sequence(items) = &pairs[0].1.content else { panic!() };
        let Content::Mapping(inner) = &items[0].content else { panic!() };
        let Content::Sequence(list) = &inner[1].1.content else { panic!() };
        assert_eq!(document.place(&items[0]).to_string(), "2:5");
        assert_eq!(document.place(&inner[1].0).to_string(), "3:5");
        assert_eq!(document.place(&list[1]).to_string(), "3:12");
    }

    #[test]
    fn a_key_that_comes_twice_is_refused_with_its_place() {
        assert_eq!(refused("a: 1\nb: 2\na: 3\n"), "3:1: yaml: line 3: mapping key \"a\" already defined at line 1");
        assert_eq!(refused("x:\n  - {k: 1, k: 2}\n"), "2:12: yaml: line 2: mapping key \"k\" already defined at line 2");
    }

    #[test]
    fn merges_are_taken() {
        let document = Document::parse("base: &b {a: 1, b: 2}\nx: {<<: *b, a: 3}\n").unwrap();
        let Content::Mapping(pairs) = &document.root.content else { panic!() };
        let Content::Mapping(x) = &pairs[1].1.content else { panic!() };
        let found: Vec<_> = x.iter().map(|(key, value)| (key.text().unwrap(), value.text().unwrap())).collect();
        assert_eq!(found, [("a", "3"), ("b", "2")]);
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let text = "\u{feff}a:\n- b\nc: d\n";
        let document = Document::parse(text).unwrap();
        let Content::Mapping(pairs) = &document.root.content else { panic!("{:?}", document.root) };
        assert_eq!((pairs.len(), document.place(&pairs[0].0)), (2, Place { line: 1, column: 1 }));
    }

    #[test]
    fn bombs_and_brackets_end_soon() {
        let laughs = (0..10).fold("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, i| {
            let alias = format!("*a{i}, ");
            format!("{text}a{}: &a{} [{}]\n", i + 1, i + 1, alias.repeat(9))
        });
        assert!(refused(&laughs).contains("excessive aliasing") || refused(&laughs).contains("repetition limit"), "{}", refused(&laughs));
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(100_000));
        assert!(refused(&long).contains("excessive aliasing"), "{}", refused(&long));
        assert!(refused(&"[".repeat(1_000)).contains("yaml: line 1"));
        for bracket in ["[", "{a: "] {
            assert!(refused(&bracket.repeat(200_000)).contains("nested too deep"));
        }
        assert!(refused(&" ".repeat(BYTES_MAX + 1)).contains("1 MiB"));
    }

    /// What people's editors and other programs put into files.
    #[test]
    fn odd_bytes_are_read_or_told_with_their_line() {
        let tag = |text: &str| Document::parse(text).unwrap().root.tag();
        assert_eq!((tag("\u{feff}a: 1\n"), tag("a: 1\r\nb:\r\n- 2\r\n"), tag("\u{feff}")), ("!!map", "!!map", "!!null"));
        for (text, line) in [("a: 1\nb: x\0y\n", "2"), ("a: 1\nb:\n\t- c\n", "3"), ("a: 1\n\tb: 2\n", "2"), ("a: \u{7f}\n", "1")] {
            let said = refused(text);
            assert_eq!(said.split(':').next(), Some(line), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_great_merge_takes_no_time() {
        let base: String = (0..40_000).map(|i| format!("  k{i}: 1\n")).collect();
        let text = format!("base: &b\n{base}x:\n  <<: *b\n  own: 1\n");
        let document = Document::parse(&text).unwrap();
        let Content::Mapping(pairs) = &document.root.content else { panic!() };
        let Content::Mapping(x) = &pairs[1].1.content else { panic!() };
        assert_eq!(x.len(), 40_001);
    }

    #[test]
    fn broken_text_says_its_line() {
        assert_eq!(refused("a: 1\n b: 2\n").split(':').next(), Some("2"));
        assert_eq!(Document::parse("").unwrap().root.tag(), "!!null");
    }
}
