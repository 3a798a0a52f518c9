//! What is generated, given to this program and to promtool 2.42: templates, rule files and files of unit tests have to come to the same.
//!
//! Where the two differ on purpose, because Prometheus 3 does, the generators leave it out and say so.

#![allow(clippy::unwrap_used)]

#[path = "rules_peer/files.rs"]
mod files;
#[path = "rules_peer/random.rs"]
mod random;
#[path = "rules_peer/templates.rs"]
mod templates;
#[path = "rules_peer/units.rs"]
mod units;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Files that one call looks at.
const FILES_AT_ONCE: usize = 200;

fn promtool(args: &[&str], directory: &Path) -> Output {
    Command::new("promtool").args(args).current_dir(directory).stdin(Stdio::null()).output().unwrap()
}

/// Verdicts of both programs on files: whether each holds, and what was said of it.
struct Verdicts {
    own: BTreeMap<String, (bool, String)>,
    peer: BTreeMap<String, (bool, String)>,
}

/// `rules check` or `rules test` of all files, by both.
fn verdicts(verb: &str, files: &[String], directory: &Path) -> Verdicts {
    let mut verdicts = Verdicts { own: BTreeMap::new(), peer: BTreeMap::new() };
    for files in files.chunks(FILES_AT_ONCE) {
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        let output = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
            .args([["rules", verb, "--json"].as_slice(), names.as_slice()].concat())
            .current_dir(directory)
            .output()
            .unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            if line["kind"] == "file" {
                verdicts.own.insert(line["file"].as_str().unwrap().to_owned(), (line["ok"].as_bool().unwrap(), line.to_string()));
            }
        }
        // Only one file after the other: which file stderr is about would not be known.
        for name in names {
            let args: &[&str] = if verb == "check" { &["check", "rules", "--lint=none", name] } else { &["test", "rules", name] };
            let output = promtool(args, directory);
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            verdicts.peer.insert(name.to_owned(), (output.status.success(), said));
        }
    }
    verdicts
}

/// Fails where the verdicts differ, and shows the first files that do.
fn agree(verb: &str, texts: &BTreeMap<String, String>, directory: &Path) {
    let names: Vec<String> = texts.keys().cloned().collect();
    let verdicts = verdicts(verb, &names, directory);
    let mut differ = Vec::new();
    let mut right = 0;
    for name in &names {
        let (own, peer) = (&verdicts.own[name], &verdicts.peer[name]);
        right += usize::from(peer.0);
        if own.0 != peer.0 {
            differ.push(format!("== {name}\n{}\n-- own {}: {}\n-- promtool {}: {}", texts[name], own.0, own.1, peer.0, peer.1));
        }
    }
    eprintln!("{verb}: {} files, {right} right to promtool, {} verdicts differ", names.len(), differ.len());
    assert!(
        differ.is_empty(),
        "{} of {} differ:\n{}",
        differ.len(),
        names.len(),
        differ.join("\n").chars().take(40_000).collect::<String>()
    );
    assert!(
        right * 5 > names.len() && right < names.len(),
        "the generator makes too few of one kind: {right} of {} are right",
        names.len()
    );
}
