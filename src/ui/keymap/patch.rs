//! `keys.ron`: a partial patch over the keys of the table. What it does not name keeps its keys.

use super::names::sequence;
use super::{Binding, KeyMap};
use crate::event::{SafeText, nearest};
use crate::ui::actions::{ACTIONS, Action, Entry, Scope};
use crate::ui::lang::tr;
use crate::ui::patches::{self, quoted, says_nothing};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::path::Path;

/// Why a file of keys can't be used: its place, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct KeysError {
    place: String,
    reason: String,
}

/// Keys that always lead out, or to every command, and what they do.
const WAYS_OUT: [(&str, Action); 3] = [("esc", Action::Back), (":", Action::CommandLine), ("ctrl-c", Action::Quit)];

/// What a file of keys looks like.
const EXAMPLE: &str = "( bind: { \"name\": [\"key\", …], … } )";

/// Most bytes of the file.
const FILE_BYTES_MAX: u64 = 1 << 18;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    bind: Pairs,
}

/// Names with their keys, in the order of the file and with those that stand twice: a map would take the last without a word.
#[derive(Default)]
struct Pairs(Vec<(String, Vec<String>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names of commands with lists of keys: { \"pause\": [\"p\"] }")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

impl KeyMap {
    /// The table's keys as a file changes them.
    pub fn load(path: &Path) -> Result<Self, KeysError> {
        let place = SafeText::from(path.display().to_string()).to_string();
        let text = read(path).map_err(|reason| KeysError { place: place.clone(), reason })?;
        Self::parse(&place, &text)
    }

    /// The same, from text; `place` is named in errors.
    pub fn parse(place: &str, text: &str) -> Result<Self, KeysError> {
        if says_nothing(text) {
            return Ok(Self::default());
        }
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME).with_recursion_limit(64);
        let file: File = options.from_str(text).map_err(|e| KeysError {
            place: format!("{place}:{}:{}", e.span.start.line, e.span.start.col),
            reason: tr!("not valid: {error}; write {example}", error = patches::reason(&e.code.to_string()), example = EXAMPLE),
        })?;
        let fault = |name: &str, reason: String| KeysError { place: at_line(place, text, name), reason };
        let mut map = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for (name, keys) in &file.bind.0 {
            let entry = entry(name).map_err(|reason| fault(name, reason))?;
            if seen.contains(&entry.name) {
                return Err(fault(name, tr!("`{name}` stands twice; keep one", name = entry.name)));
            }
            seen.push(entry.name);
            let keys = keys.iter().map(|key| sequence(key)).collect::<Result<Vec<_>, _>>();
            let keys = keys.map_err(|reason| fault(name, format!("`{}`: {reason}", entry.name)))?;
            if let Some(twice) = (1..keys.len()).find(|i| keys[..*i].contains(&keys[*i])) {
                return Err(fault(name, tr!("`{keys}` stands twice for `{name}`; keep one", keys = keys[twice], name = entry.name)));
            }
            map.rebind(entry, &keys);
        }
        // Found only now: a patch may exchange the keys of two actions.
        let named = |action: Action| file.bind.0.iter().map(|(name, _)| name.as_str()).find(|n| *n == name_of(action));
        if let Some((action, reason)) = map.objection() {
            return Err(fault(named(action).unwrap_or_default(), reason));
        }
        Ok(map)
    }

    fn rebind(&mut self, entry: &Entry, keys: &[String]) {
        let at = self.bindings.iter().position(|b| b.action == entry.action).unwrap_or(self.bindings.len());
        self.bindings.retain(|b| b.action != entry.action);
        let bindings = keys.iter().map(|keys| Binding {
            scope: entry.scope,
            keys: keys.clone(),
            action: entry.action,
            is_own: !entry.keys.contains(&keys.as_str()),
        });
        let at = at.min(self.bindings.len());
        self.bindings.splice(at..at, bindings);
    }

    /// What is wrong with the whole, and the action whose line of the patch is to blame.
    fn objection(&self) -> Option<(Action, String)> {
        for (key, action) in WAYS_OUT {
            if !self.keys_of(action).any(|k| k == key) {
                let name = name_of(action);
                return Some((
                    action,
                    tr!("`{name}` must keep `{key}`, the way out of everything; add it to its keys", name = name, key = key),
                ));
            }
        }
        let pairs = self.bindings.iter().enumerate().flat_map(|(i, a)| self.bindings[i + 1..].iter().map(move |b| (a, b)));
        pairs.filter(|(a, b)| clash(a, b)).map(|(a, b)| (if b.is_own { b.action } else { a.action }, told(a, b))).next()
    }
}

/// Whether two bindings get into each other's way, and one of them is the operator's.
fn clash(a: &Binding, b: &Binding) -> bool {
    let begins =
        |long: &Binding, short: &Binding| long.keys.strip_prefix(&short.keys).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    (a.is_own || b.is_own) && meet(a.scope, b.scope) && (begins(a, b) || begins(b, a))
}

/// Whether two scopes can hold at the same time, so that one hides the other.
fn meet(a: Scope, b: Scope) -> bool {
    a == b || a == Scope::Anywhere || b == Scope::Anywhere || hides(a, b) || hides(b, a)
}

fn hides(narrow: Scope, wide: Scope) -> bool {
    narrow == Scope::List && matches!(wide, Scope::Checkpoints | Scope::Alerts)
        || matches!(narrow, Scope::Episodes | Scope::Diff) && wide == Scope::List
}

fn told(a: &Binding, b: &Binding) -> String {
    let [first, second] = [a, b].map(|b| format!("`{}`", name_of(b.action)));
    if a.keys == b.keys {
        return tr!(
            "`{keys}` is bound to {first} and to {second}; take it from one of them",
            keys = a.keys,
            first = first,
            second = second
        );
    }
    let (short, long) = if a.keys.len() < b.keys.len() { (a, b) } else { (b, a) };
    tr!(
        "`{keys}` of `{name}` begins with `{prefix}` of `{other}`, so it could never be typed; change one of them",
        keys = long.keys,
        name = name_of(long.action),
        prefix = short.keys,
        other = name_of(short.action)
    )
}

fn name_of(action: Action) -> &'static str {
    ACTIONS.iter().find(|e| e.action == action).map_or("", |e| e.name)
}

fn entry(name: &str) -> Result<&'static Entry, String> {
    ACTIONS.iter().find(|e| e.name == name).ok_or_else(|| {
        let near = nearest(name, ACTIONS.iter().map(|e| e.name));
        let hint = near.map_or_else(|| tr!("`?` in the console lists all"), |near| tr!("did you mean `{near}`?", near = near));
        tr!("no command is named `{name}`; {hint}", name = quoted(name), hint = hint)
    })
}

/// The place with the line that holds a name.
fn at_line(place: &str, text: &str, name: &str) -> String {
    let quoted = format!("\"{name}\"");
    let holds = |line: &str| line.split("//").next().unwrap_or_default().contains(&quoted);
    text.lines().position(holds).map_or_else(|| place.to_owned(), |index| format!("{place}:{}", index + 1))
}

/// A pipe or a device would be read for ever.
fn read(path: &Path) -> Result<String, String> {
    let facts = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if !facts.is_file() {
        return Err(tr!("is no regular file"));
    }
    if facts.len() > FILE_BYTES_MAX {
        return Err(tr!("has {n} bytes, which no file of keys has; at most {max} are read", n = facts.len(), max = FILE_BYTES_MAX));
    }
    std::fs::read_to_string(path).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::Lookup;
    use super::*;

    fn error(bind: &str) -> String {
        KeyMap::parse("keys.ron", &format!("(\nbind: {{\n{bind}\n}}\n)")).unwrap_err().to_string()
    }

    #[test]
    fn the_shipped_file_changes_nothing() {
        let text = include_str!("../../../configs/keys.ron");
        assert_eq!(KeyMap::parse("keys.ron", text).unwrap(), KeyMap::default());
        // Its example, uncommented, is good too.
        let example: String = text.lines().map(|l| format!("{}\n", l.strip_prefix("    // ").unwrap_or(l))).collect();
        let map = KeyMap::parse("keys.ron", &example).unwrap();
        assert_ne!(map, KeyMap::default());
    }

    #[test]
    fn a_patch_changes_what_it_names_and_keeps_the_rest() {
        let map = KeyMap::parse("k", r#"( bind: { "toggle": ["space", "alt-p"], "lane": ["f5"], "full": [] } )"#).unwrap();
        let all = [Scope::Anywhere];
        assert_eq!(map.lookup("alt-p", &all), Lookup::Action(Action::TogglePause));
        assert_eq!(map.lookup("space", &all), Lookup::Action(Action::TogglePause));
        assert_eq!(map.lookup("f5", &all), Lookup::Action(Action::NextLane));
        assert_eq!(map.lookup("t", &all), Lookup::Unknown);
        assert_eq!(map.lookup("f", &all), Lookup::Unknown);
        assert_eq!(map.keys_of(Action::FullScreen).count(), 0);
        assert_eq!(map.lookup("g l", &all), Lookup::Action(Action::Screen(crate::ui::view::ScreenId::Live)));
        // A file of comments is one that was not begun yet.
        assert_eq!(KeyMap::parse("k", "// ( bind: {} )\n").unwrap(), KeyMap::default());
        // Two that exchange their keys.
        let map = KeyMap::parse("k", r#"( bind: { "slower": [")"], "faster": ["("] } )"#).unwrap();
        assert_eq!(map.lookup("(", &all), Lookup::Action(Action::Faster));
        // The table's own key said again, where the table hides a wider one.
        assert!(KeyMap::parse("k", r#"( bind: { "log-axis": ["L"] } )"#).is_ok());
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_what_would_be_right() {
        for (bind, says) in [
            ("\"paus\": [\"p\"],", &["keys.ron:3: ", "`paus`", "`pause`"][..]),
            ("\n\"lane\": [\"tt\"],", &["keys.ron:4: ", "`tt` is no key", "\"g l\""]),
            ("\"lane\": [\"T\"],\n\"lane\": [\"U\"]", &["stands twice"]),
            ("\"lane\": [\"f9\", \"F9\"]", &["keys.ron:3: ", "`f9` stands twice for `lane`"]),
            ("\"lane\": \"T\"", &["keys.ron:3:", "not valid"]),
            ("\"lane\": [\"f\"]", &["keys.ron:3: ", "`lane`", "`full`", "`f`"]),
            ("\"lane\": [\"g\"]", &["`g l`", "`live`", "`lane`", "never"]),
            ("\"lane\": [\"f f\"]", &["`f f`", "`full`"]),
            ("\"smooth-less\": [\".\"]", &["`smooth-less`", "`step`"]),
            ("\"lane\": [\"z\"]", &["`z a`", "`fold`"]),
            ("\"sort\": [\"x\"]", &["`sort`", "`mark-compare`"]),
            ("\"close\": []", &["`close`", "`esc`"]),
            ("\"command\": [\"f2\"]", &["`command`", "`:`"]),
            ("\"quit\": [\"q\"]", &["`quit`", "`ctrl-c`"]),
            ("\"lane\": [\"esc\"]", &["`esc`", "`close`", "`lane`"]),
            ("\"fold\": [\": x\"]", &["`: x`", "`command`", "`fold`"]),
        ] {
            let told = error(bind);
            for part in says {
                assert!(told.contains(part), "{bind}: {told}");
            }
        }
        let long = "x".repeat(5_000);
        for bind in [format!("\"{long}\": [\"T\"]"), format!("\"lane\": [\"{long}\"]"), format!("\"lane\": [\"{}\"]", "x ".repeat(2_000))] {
            assert!(error(&bind).len() < 500, "{}", error(&bind));
        }
        assert!(KeyMap::parse("k", "(binds: {})").unwrap_err().to_string().starts_with("k:1:"));
        // Scopes that never hold together share keys.
        assert!(KeyMap::parse("k", r#"( bind: { "fold": ["z a", "="] } )"#).is_ok());
    }

    #[test]
    fn only_a_small_regular_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.ron");
        assert!(KeyMap::load(&path).is_err());
        assert!(KeyMap::load(dir.path()).unwrap_err().to_string().contains("regular"));
        std::fs::write(&path, " ".repeat(FILE_BYTES_MAX as usize + 1)).unwrap();
        assert!(KeyMap::load(&path).unwrap_err().to_string().contains("bytes"));
    }
}
