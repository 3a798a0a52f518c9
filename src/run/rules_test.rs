//! `rules test`: promtool's unit tests of rules.

use super::cli::RulesTestArgs;
use super::exit::{Code, Failure, Outcome, note, say};
use super::junit;
use super::rule_files::{parse, text};
use crate::alert::rules::unit::{self, TestFile, Wishes};
use crate::alert::rules::{RuleError, RuleFile};
use crate::event::RuleKind;
use regex::Regex;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that one pattern may stand for.
const FILES_MAX: usize = 1_000;

/// Alerting rules of a test file, and which of them its tests saw fire and not fire.
#[derive(Default)]
struct Coverage {
    rules: BTreeSet<String>,
    firing: BTreeSet<String>,
    quiet: BTreeSet<String>,
}

/// Runs each file. Exit code 1 where one does not hold, as promtool's.
pub fn run(args: &RulesTestArgs) -> Outcome {
    let only = args.run.as_deref().map(Regex::new).transpose().map_err(|error| Failure::usage(format!("--run: {error}")))?;
    let wishes = Wishes { partial: args.partial, only: only.as_ref() };
    let (mut failed, mut coverage, mut suites) = (0, Coverage::default(), String::new());
    for path in &args.files {
        let outcome = test(path, wishes, args.json, &mut coverage)?;
        failed += usize::from(!holds(&outcome));
        suites += &junit::suite(&path.display().to_string(), &outcome);
    }
    if let Some(path) = &args.junit {
        let written = std::fs::write(path, junit::document(&suites));
        written.map_err(|error| Failure::failed(format!("{} can't be written: {error}", path.display())))?;
    }
    if args.coverage {
        tell(&coverage, args.json)?;
    }
    match failed {
        0 => Ok(Code::Holds),
        1 => Err(Failure::failed("1 test file does not hold")),
        _ => Err(Failure::failed(format!("{failed} test files do not hold"))),
    }
}

/// What the tests of a file came to, or why they could not run.
type Tested = Result<unit::Outcome, String>;

fn holds(outcome: &Tested) -> bool {
    outcome.as_ref().is_ok_and(|outcome| outcome.failed.is_empty())
}

fn test(path: &Path, wishes: Wishes<'_>, as_json: bool, coverage: &mut Coverage) -> Result<Tested, Failure> {
    let name = path.display().to_string();
    if !as_json {
        say(format_args!("Unit Testing:  {name}"))?;
    }
    let outcome = load(path).map(|(file, rules)| {
        let outcome = file.run(&rules, wishes);
        let alerting =
            rules.iter().flat_map(|file| &file.groups).flat_map(|group| &group.rules).filter(|rule| rule.kind == RuleKind::Alert);
        coverage.rules.extend(alerting.map(|rule| rule.name.clone()));
        coverage.firing.extend(outcome.seen_firing.iter().cloned());
        coverage.quiet.extend(outcome.seen_quiet.iter().cloned());
        outcome
    });
    if as_json {
        print_json(&name, &outcome)?;
    } else {
        print(&outcome)?;
    }
    Ok(outcome)
}

fn print(outcome: &Tested) -> Result<(), Failure> {
    match outcome {
        Ok(outcome) if outcome.failed.is_empty() => say("  SUCCESS\n"),
        Ok(outcome) => {
            note("  FAILED:");
            for failed in &outcome.failed {
                let test = if failed.test.is_empty() { String::new() } else { format!("    name: {},\n", failed.test) };
                note(format_args!("{test}{}", failed.what));
            }
            note("");
            Ok(())
        }
        Err(fault) => {
            note(format_args!("  FAILED:\n    {fault}\n"));
            Ok(())
        }
    }
}

fn print_json(name: &str, outcome: &Tested) -> Result<(), Failure> {
    match outcome {
        Ok(outcome) => {
            for failed in &outcome.failed {
                say(json!({"kind": "failure", "file": name, "test": failed.test, "what": failed.what.trim()}))?;
            }
            say(
                json!({"kind": "file", "file": name, "ok": outcome.failed.is_empty(), "tests": outcome.tests.len(), "failures": outcome.failed.len()}),
            )
        }
        Err(fault) => say(json!({"kind": "file", "file": name, "ok": false, "error": fault})),
    }
}

/// Alerting rules that no test saw fire, and those that none saw quiet.
fn tell(coverage: &Coverage, as_json: bool) -> Result<(), Failure> {
    let never = |seen: &BTreeSet<String>| coverage.rules.difference(seen).cloned().collect::<Vec<_>>();
    let (fire, quiet) = (never(&coverage.firing), never(&coverage.quiet));
    let rules = coverage.rules.len();
    if as_json {
        return say(json!({"kind": "coverage", "rules": rules, "never_firing": fire, "never_quiet": quiet}));
    }
    let names = |names: &[String]| if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    say(format_args!("Coverage: {rules} alerting rules"))?;
    say(format_args!("  {} seen to fire by no test{}", fire.len(), names(&fire)))?;
    say(format_args!("  {} seen not to fire by no test{}", quiet.len(), names(&quiet)))
}

/// The tests, and the rules that they name, which lie beside them.
fn load(path: &Path) -> Result<(TestFile, Vec<RuleFile>), String> {
    let lines =
        |faults: Vec<RuleError>| faults.iter().map(|fault| format!("{}:{fault}", path.display())).collect::<Vec<_>>().join("\n    ");
    let file = TestFile::parse(&text(path)?).map_err(lines)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let (mut rules, mut read) = (Vec::new(), BTreeSet::new());
    for pattern in &file.rule_files {
        let found = matching(directory, pattern)?;
        if found.is_empty() {
            note(format_args!("  WARNING: no file match pattern {}", directory.join(pattern).display()));
        }
        // What two patterns find is there once.
        for found in found.into_iter().filter(|found| read.insert(found.clone())) {
            rules.push(parse(&found.display().to_string(), &text(&found)?)?);
        }
    }
    Ok((file, rules))
}

/// Files that a path with `*`, `?` and `[a-z]` in its parts stands for, in the order of their names.
fn matching(directory: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![if pattern.starts_with('/') { PathBuf::from("/") } else { directory.to_owned() }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            found = found.into_iter().map(|path| path.join(part)).filter(|path| path.exists()).collect();
            continue;
        }
        let regex = wildcard(part).map_err(|_| format!("{pattern}: syntax error in pattern"))?;
        let mut next = Vec::new();
        for folder in &found {
            let Ok(entries) = std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) else { continue };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            next.extend(names.filter(|name| regex.is_match(name)).map(|name| folder.join(name)).take(FILES_MAX));
        }
        next.sort();
        next.truncate(FILES_MAX);
        found = next;
    }
    Ok(found)
}

fn wildcard(part: &str) -> Result<Regex, regex::Error> {
    let mut regex = String::from("^(?s:");
    let mut in_set = false;
    for c in part.chars() {
        match c {
            '*' if !in_set => regex.push_str(".*"),
            '?' if !in_set => regex.push('.'),
            '[' | ']' => {
                in_set = c == '[';
                regex.push(c);
            }
            '^' | '-' if in_set => regex.push(c),
            other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push_str(")$");
    Regex::new(&regex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_files_in_order() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a.d")).unwrap();
        for name in ["b.yml", "a.yml", "c.yaml", "a.d/x.yml"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let names = |pattern: &str| {
            let found = matching(dir.path(), pattern).unwrap();
            found.iter().map(|path| path.strip_prefix(dir.path()).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names("*.yml"), ["a.yml", "b.yml"]);
        assert_eq!(names("[bc].y*ml"), ["b.yml", "c.yaml"]);
        assert_eq!(names("*/?.yml"), ["a.d/x.yml"]);
        assert_eq!((names("a.yml"), names("d.yml")), (vec!["a.yml".to_owned()], Vec::new()));
        assert!(matching(dir.path(), "[a").is_err());
    }
}
