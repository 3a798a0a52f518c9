//! The import table of the architecture, held against every path in `src/`; who may use which outside crate; who may read a clock.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ENGINE: &[&str] = &[
    "event",
    "cond",
    "env",
    "reward",
    "agent",
    "net",
    "endpoint",
    "tool",
    "checkpoint",
    "model",
    "learn",
    "telemetry",
    "metrics",
    "alert",
    "state",
    "journal",
];
const UI: &[&str] = &["event", "state", "source", "config"];

/// Every room and what it may import. A room that is not here may not exist.
const TABLE: &[(&str, &[&str])] = &[
    ("event", &[]),
    ("cond", &["event", "state"]),
    ("env", &["event"]),
    ("reward", &["event"]),
    ("agent", &["event"]),
    ("net", &["event"]),
    ("endpoint", &["event", "agent", "net"]),
    ("tool", &["event", "net", "cond"]),
    ("checkpoint", &["event", "cond"]),
    ("model", &["event", "agent", "checkpoint"]),
    ("learn", &["event", "env", "agent", "reward", "model", "checkpoint"]),
    ("telemetry", &["event", "net"]),
    ("metrics", &["event"]),
    ("alert", &["event", "metrics", "net"]),
    ("state", &["event"]),
    ("journal", &["event", "state"]),
    ("engine", ENGINE),
    ("source", &["event", "state", "journal"]),
    ("remote", &["event", "state", "journal", "source"]),
    ("serve", &["event", "metrics", "state", "journal", "source"]),
    ("interop", &["event", "state", "journal"]),
    ("config", &["event"]),
    ("ui", UI),
];
/// The room that joins all others; nobody imports it but `main.rs`.
const JOINER: &str = "run";

/// Outside crates that one room alone may use.
const OWNED_CRATES: &[(&str, &[&str])] = &[
    ("candle_core", &["model"]),
    ("candle_nn", &["model"]),
    ("llguidance", &["model"]),
    ("tokenizers", &["model"]),
    ("reqwest", &["net"]),
    ("promql_parser", &["alert"]),
    ("axum", &["serve"]),
    ("nvml_wrapper", &["telemetry"]),
    ("sysinfo", &["telemetry"]),
    ("cel", &["cond"]),
    ("zeekstd", &["journal"]),
    ("ratatui", &["ui", "run"]),
    ("crossterm", &["ui", "run"]),
    ("clap", &["run"]),
    ("zip", &["run"]),
];

/// What reads the platform's clock or its randomness.
const CLOCKS: &[&str] = &["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now", "Ulid::new", "from_os_rng", "thread_rng"];
/// Files and folders that may: the injected clock itself, the recorder's commit interval, samples, the screen's own pace, and the room that
/// starts runs; how long a query and a connection may take. Nothing that decides what an event holds is here.
const CLOCK_READERS: &[&str] =
    &["event/clock.rs", "journal/recorder.rs", "alert/promql/eval/budget.rs", "serve/connection.rs", "telemetry/", "ui/", "run/"];

const DUTY_LINES: [&str; 5] = ["//! Duty: ", "//! May import: ", "//! Emits: ", "//! Accepts: ", "//! Test: "];

fn allowed(room: &str) -> Option<&'static [&'static str]> {
    TABLE.iter().find(|(name, _)| *name == room).map(|(_, imports)| *imports)
}

/// Blanks comments, strings and characters, so that what is left is code. Line feeds stay where they are.
fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut i = 0;
    while i < chars.len() {
        let end = match (chars[i], chars.get(i + 1)) {
            ('/', Some('/')) => i + chars[i..].iter().take_while(|c| **c != '\n').count(),
            ('/', Some('*')) => block_comment_end(&chars, i),
            ('r', Some('"' | '#')) if raw_string_hashes(&chars, i).is_some() => raw_string_end(&chars, i),
            ('"', _) => quoted_end(&chars, i, '"'),
            ('\'', Some('\\')) => quoted_end(&chars, i, '\''),
            ('\'', Some(_)) if chars.get(i + 2) == Some(&'\'') => i + 3,
            _ => i,
        };
        if end == i {
            out.push(chars[i]);
            i += 1;
        } else {
            out.extend(chars[i..end.min(chars.len())].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            i = end;
        }
    }
    out
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut depth, mut i) = (0, start);
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

/// Number of `#` when a raw string begins at `start`, and not a name that ends in `r` or a raw name.
fn raw_string_hashes(chars: &[char], start: usize) -> Option<usize> {
    let before = start.checked_sub(1).map(|i| chars[i]);
    if before.is_some_and(|c| (c.is_alphanumeric() || c == '_') && c != 'b') {
        return None;
    }
    let hashes = chars[start + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(start + 1 + hashes) == Some(&'"')).then_some(hashes)
}

fn raw_string_end(chars: &[char], start: usize) -> usize {
    let hashes = raw_string_hashes(chars, start).unwrap_or(0);
    let mut i = start + hashes + 2;
    while i < chars.len() {
        if chars[i] == '"' && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes {
            return i + 1 + hashes;
        }
        i += 1;
    }
    i
}

fn quoted_end(chars: &[char], start: usize, quote: char) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// Words and marks of the code; `::` is one mark.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if c == ':' && chars.peek() == Some(&':') {
            chars.next();
            tokens.push("::".into());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

/// First names of a path that goes on at `at`: `::name…` or `::{name…, name…}`.
fn heads(tokens: &[String], at: usize) -> Vec<String> {
    if tokens.get(at).map(String::as_str) != Some("::") {
        return Vec::new();
    }
    match tokens.get(at + 1).map(String::as_str) {
        Some("{") => {}
        Some(name) => return vec![name.to_owned()],
        None => return Vec::new(),
    }
    let (mut depth, mut heads, mut is_head) = (0, Vec::new(), true);
    for token in &tokens[at + 1..] {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            "," if depth == 1 => is_head = true,
            name => {
                if depth == 1 && is_head {
                    heads.push(name.to_owned());
                }
                is_head = false;
            }
        }
    }
    heads
}

/// Modules between the crate and what the file holds: 1 for `event/mod.rs`, 2 for `event/ids.rs`.
fn module_depth(file: &str) -> usize {
    let parts = file.split('/').count();
    if file.ends_with("/mod.rs") { parts - 1 } else { parts }
}

/// What a file does that its room may not. `file` is its path below `src/`.
fn violations(file: &str, source: &str) -> Vec<String> {
    let room = file.split('/').next().unwrap_or_default();
    let code = code_only(source);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    let mut import = |name: &str, by: &str| {
        let fine = name == room || room == JOINER || allowed(room).is_some_and(|rooms| rooms.contains(&name));
        if !fine {
            found.push(format!("{file}: room `{room}` may not import `{name}` ({by})"));
        }
    };
    let mut depth = module_depth(file);
    let mut inline = Vec::new();
    let mut braces = 0_usize;
    for (i, token) in tokens.iter().enumerate() {
        let at = |back: usize| i.checked_sub(back).map_or("", |i| tokens[i].as_str());
        match token.as_str() {
            "{" => {
                braces += 1;
                if at(2) == "mod" {
                    inline.push(braces);
                    depth += 1;
                }
            }
            "}" => {
                if inline.last() == Some(&braces) {
                    inline.pop();
                    depth -= 1;
                }
                braces = braces.saturating_sub(1);
            }
            "crate" if at(1) == "(" && at(2) == "pub" => {}
            "crate" => match heads(&tokens, i + 1) {
                names if names.is_empty() => import("crate", "the crate itself, under another name"),
                names => names.iter().for_each(|name| import(name, &format!("crate::{name}"))),
            },
            "pilothouse" if tokens.get(i + 1).is_some_and(|t| t == "::") => import("pilothouse", "the crate by its outside name"),
            "super" if at(1) != "::" => {
                let chain = tokens[i..].iter().step_by(2).take_while(|t| *t == "super").count();
                if chain >= depth {
                    heads(&tokens, i + 2 * chain - 1).iter().for_each(|name| import(name, "by `super`, out of the room"));
                }
            }
            _ => {}
        }
    }
    for (name, owners) in OWNED_CRATES {
        let used = tokens.iter().zip(tokens.iter().skip(1)).any(|(a, b)| a == name && b == "::");
        if used && !owners.contains(&room) {
            found.push(format!("{file}: only {owners:?} may use the crate `{name}`"));
        }
    }
    let packed: String = code.split_whitespace().collect();
    for clock in CLOCKS {
        if packed.contains(clock) && !CLOCK_READERS.iter().any(|reader| file.starts_with(reader)) {
            found.push(format!("{file}: `{clock}` is the platform's; clocks, ids and randomness are injected"));
        }
    }
    found
}

/// What is wrong with the head of a room's `mod.rs`.
fn head_violations(room: &str, source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, (want, line)) in DUTY_LINES.iter().zip(source.lines().chain(std::iter::repeat(""))).enumerate() {
        if !line.starts_with(want) || line.trim_end() == want.trim_end() {
            found.push(format!("{room}/mod.rs: line {} is to begin with `{want}`", number + 1));
        }
    }
    let says = source.lines().nth(1).and_then(|l| l.strip_prefix(DUTY_LINES[1])).unwrap_or_default().trim_end_matches('.');
    let table = match allowed(room) {
        _ if room == JOINER => "everything".to_owned(),
        None => return vec![format!("room `{room}` is not in the table")],
        Some([]) => "nothing".to_owned(),
        Some(rooms) => rooms.join(", "),
    };
    if says != table {
        found.push(format!("{room}/mod.rs says that it may import `{says}`; the table says `{table}`"));
    }
    found
}

fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Source by path below `src/`.
fn sources() -> BTreeMap<String, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let name = |path: &Path| path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
    files.into_iter().map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn every_room_imports_only_what_the_table_says() {
    let sources = sources();
    assert!(sources.len() > 20, "the sources were not found");
    let found: Vec<String> = sources.iter().filter(|(f, _)| f.contains('/')).flat_map(|(file, text)| violations(file, text)).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_room_opens_with_its_duty() {
    let sources = sources();
    let rooms: Vec<&str> = sources.keys().filter_map(|f| f.strip_suffix("/mod.rs")).filter(|r| !r.contains('/')).collect();
    let folders: std::collections::BTreeSet<&str> = sources.keys().filter_map(|f| f.split_once('/')).map(|(room, _)| room).collect();
    assert_eq!(rooms, folders.into_iter().collect::<Vec<_>>(), "each folder is a room with a `mod.rs`");
    let found: Vec<String> = rooms.iter().flat_map(|room| head_violations(room, &sources[&format!("{room}/mod.rs")])).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_program_begins_in_run_alone() {
    let main = tokens(&code_only(&sources()["main.rs"]));
    let rooms: Vec<String> = main.iter().enumerate().filter(|(_, t)| *t == "pilothouse").flat_map(|(i, _)| heads(&main, i + 1)).collect();
    assert!(!rooms.is_empty() && rooms.iter().all(|r| r == JOINER), "main.rs imports {rooms:?}");
}

#[test]
fn the_table_has_no_circle() {
    // Each room imports only rooms above it, once the table is sorted; so take away, again and again, what imports nothing that is left.
    let mut left: Vec<&str> = TABLE.iter().map(|(room, _)| *room).collect();
    while !left.is_empty() {
        let before = left.len();
        left = left.iter().copied().filter(|room| allowed(room).is_some_and(|rooms| rooms.iter().any(|r| left.contains(r)))).collect();
        assert!(left.len() < before, "rooms that import each other: {left:?}");
    }
}

/// Breaks each rule on purpose: a check that can't fail checks nothing.
#[test]
fn each_kind_of_violation_is_found() {
    let wrong = [
        ("event/a.rs", "use crate::state::DashState;"),
        ("ui/app.rs", "use crate::{event::{Seq, Event}, engine::Engine};"),
        ("ui/app.rs", "fn f() -> crate :: model::Model { todo() }"),
        ("ui/panes/gpu.rs", "use super::super::super::engine::Engine;"),
        ("ui/mod.rs", "use super::{source, tool};"),
        ("ui/mod.rs", "mod tests { use super::super::engine::Engine; }"),
        ("engine/crank.rs", "use crate::run::main;"),
        ("engine/crank.rs", "use crate as whole;"),
        ("engine/crank.rs", "use pilothouse::run;"),
        ("learn/bc.rs", "use candle_core::Tensor;"),
        ("engine/crank.rs", "let t = std::time::Instant::now();"),
        ("state/fold.rs", "let t = SystemTime\n    ::now();"),
        ("attic/mod.rs", "use crate::event::Seq;"),
    ];
    for (file, source) in wrong {
        assert_eq!(violations(file, source).len(), 1, "{file}: {source}: {:?}", violations(file, source));
    }
    let right = [
        ("ui/app.rs", "use crate::{event::{Seq, Event}, state, source::FrameSource};"),
        ("ui/panes/gpu.rs", "use super::super::theme::Theme; use super::Pane;"),
        ("ui/mod.rs", "mod tests { use super::super::state::Ring; use super::*; }"),
        (
            "event/a.rs",
            "// crate::engine\n/* crate::run /* nested */ crate::ui */ pub(crate) fn f() -> &'static str { \"crate::engine { \" }",
        ),
        ("event/a.rs", "const A: &str = r#\"crate::run\" {\"#; const B: char = '\"'; fn f<'a>(x: &'a str) -> &'a str { x }"),
        ("run/a.rs", "use crate::{engine, ui}; fn f() { Instant::now(); }"),
    ];
    for (file, source) in right {
        assert_eq!(violations(file, source), Vec::<String>::new(), "{file}: {source}");
    }
    assert!(!head_violations("cond", "//! Duty: x\n//! May import: event, engine.\n").is_empty());
}
