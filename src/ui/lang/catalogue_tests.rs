//! The catalogue against the sources: each text has its message, each message its text, with the same placeables.

use super::{CHINESE, Lang, id, look_up, set};
use crate::ui::actions::{ACTIONS, Group, Scope};
use crate::ui::view::PaneId;
use crate::ui::widgets::text::{Ambiguous, width};
use fluent_bundle::FluentResource;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Tables whose texts are translated where they are drawn, by how an expression that takes one ends.
const TABLES: [&str; 3] = [".title()", ".place()", ".help"];

fn sources() -> Vec<(PathBuf, String)> {
    let mut folders: Vec<PathBuf> = ["src/ui", "src/run"].iter().map(|f| Path::new(env!("CARGO_MANIFEST_DIR")).join(f)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "lang.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
                found.push((path, lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    found
}

/// What stands behind each `call` of a source that is no part of a longer name.
fn behind<'c>(code: &'c str, call: &'static str) -> impl Iterator<Item = &'c str> {
    let begins = code.match_indices(call);
    let whole = begins.filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    whole.filter(|(at, _)| !code[..*at].ends_with("fn ")).map(|(at, call)| &code[at + call.len()..])
}

/// The string literal at the beginning of `code`.
fn literal(code: &str) -> Option<String> {
    let mut chars = code.trim_start().strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => match chars.next()? {
                '\n' => chars = chars.as_str().trim_start().chars(),
                'n' => text.push('\n'),
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
}

/// Every text of the interface, and where it was found first.
fn texts() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut add = |text: String, place: &str| {
        texts.entry(text).or_insert_with(|| place.to_owned());
    };
    for (path, code) in sources() {
        let place = path.display().to_string();
        for rest in behind(&code, "tr!(") {
            add(literal(rest).unwrap_or_else(|| panic!("{place}: tr! of no literal")), &place);
        }
        for rest in behind(&code, "counted(") {
            let at = rest.find('"').unwrap_or_else(|| panic!("{place}: counted without a word"));
            add(format!("{{n}} {}s", literal(&rest[at..]).unwrap()), &place);
        }
        for rest in behind(&code, "lang::text(") {
            let argument = rest.split([';', ',', '\n']).next().unwrap().trim_end_matches(')').to_owned() + ")";
            let is_known = TABLES.iter().any(|t| argument.contains(t));
            assert!(is_known, "{place}: lang::text({argument}: name its table in this test");
        }
    }
    for entry in ACTIONS {
        add(entry.help.to_owned(), "help of an action");
        add(format!("command {}", entry.name), "name of an action");
    }
    for scope in [Scope::Chain, Scope::Chart, Scope::List, Scope::Checkpoints, Scope::Alerts, Scope::Episodes, Scope::Diff, Scope::Branches]
    {
        add(scope.place().to_owned(), "place of a scope");
    }
    Group::ALL.iter().for_each(|g| add(g.title().to_owned(), "page of the menu"));
    panes().for_each(|p| add(p.title().to_owned(), "title of a pane"));
    texts
}

/// All panes: as a variant is left out, its title shows in English, and the screens' test sees it.
pub fn panes() -> impl Iterator<Item = PaneId> {
    let of_screens = crate::ui::view::ScreenId::ALL.iter().flat_map(|s| s.panes().iter().copied());
    let above =
        [PaneId::Episodes, PaneId::Inspector, PaneId::Request, PaneId::Branches, PaneId::Runbook, PaneId::Trial, PaneId::TrialFound];
    of_screens.chain([PaneId::Memory]).chain(above)
}

/// Messages of the catalogue: each stands on a line of its own.
fn messages() -> Vec<(&'static str, &'static str)> {
    let lines = CHINESE.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|l| l.split_once(" = ").unwrap_or_else(|| panic!("no message: {l}"))).collect()
}

/// Names between `open` and `close`.
fn placeables(text: &str, open: &str, close: &str) -> BTreeSet<String> {
    let inside = text.split(open).skip(1).filter_map(|rest| rest.split_once(close)).map(|(name, _)| name.trim().to_owned());
    inside.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')).collect()
}

#[test]
fn no_two_texts_share_a_message() {
    let mut by_id: BTreeMap<String, String> = BTreeMap::new();
    for (text, place) in texts() {
        let other = by_id.insert(id(&text), text.clone());
        assert_eq!(other, None, "has the id of `{text}` ({place}); say one of them otherwise");
    }
}

#[test]
fn every_text_has_a_message_and_no_message_is_stale() {
    let messages: BTreeMap<&str, &str> = messages().into_iter().collect();
    let texts = texts();
    assert!(texts.len() > 700, "the sources are read: {}", texts.len());
    let missing: Vec<_> = texts.iter().filter(|(text, _)| !messages.contains_key(id(text).as_str())).collect();
    assert!(missing.is_empty(), "not in the catalogue: {missing:#?}");
    let ids: BTreeSet<String> = texts.keys().map(|text| id(text)).collect();
    let stale: Vec<_> = messages.keys().filter(|id| !ids.contains(**id)).collect();
    assert!(stale.is_empty(), "said nowhere any more: {stale:#?}");
}

#[test]
fn a_message_has_the_placeables_of_its_text_and_comes_out_whole() {
    let messages: BTreeMap<&str, &str> = messages().into_iter().collect();
    set(Lang::Chinese);
    for (text, place) in texts() {
        let Some(message) = messages.get(id(&text).as_str()) else { continue };
        let names = placeables(&text, "{", "}");
        assert_eq!(placeables(message, "{ $", " }"), names, "{place}: {text}");
        let args: Vec<(&'static str, String)> = names.iter().map(|n| (&*Box::leak(n.clone().into_boxed_str()), format!("<{n}>"))).collect();
        let shown = look_up(&text, &args).unwrap_or_else(|| panic!("no translation comes out: {text}"));
        assert!(names.iter().all(|n| shown.contains(&format!("<{n}>"))) && !shown.contains('{'), "{text}: {shown}");
        assert!(!shown.contains(char::is_control), "{text}: {shown:?}");
        assert_eq!(width(&shown, Ambiguous::Narrow), width(&shown, Ambiguous::Wide), "as wide on every terminal: {shown}");
    }
    set(Lang::English);
}

#[test]
fn the_catalogue_is_valid_and_names_no_message_twice() {
    if let Err((_, errors)) = FluentResource::try_new(CHINESE.to_owned()) {
        panic!("{errors:?}");
    }
    let mut seen = BTreeSet::new();
    let twice: Vec<_> = messages().into_iter().map(|(id, _)| id).filter(|id| !seen.insert(*id)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
