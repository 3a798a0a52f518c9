//! `rules check`: what promtool would say of rule files.

use super::cli::{LintArg, RulesCheckArgs};
use super::exit::{Code, Failure, Outcome, note, say};
use super::rule_files::text_or_input;
use crate::alert::rules::RuleFile;
use serde_json::json;
use std::path::Path;

/// Reads each file; the first line of each is its name, then what was found. All are read, also behind one that is wrong. Exit code 1 where one is wrong,
/// else 3 where there is a remark that `--lint-fatal` asks about.
pub fn run(args: &RulesCheckArgs) -> Outcome {
    let (mut failed, mut remarked) = (0, false);
    for path in &args.files {
        let found = check(path, args)?;
        failed += usize::from(!found.is_right);
        remarked |= found.is_remarked;
    }
    match failed {
        0 if remarked && args.lint_fatal => Ok(Code::Differs),
        0 => Ok(Code::Holds),
        1 => Err(Failure::failed("1 rule file is wrong")),
        _ => Err(Failure::failed(format!("{failed} rule files are wrong"))),
    }
}

struct Found {
    is_right: bool,
    is_remarked: bool,
}

fn check(path: &Path, args: &RulesCheckArgs) -> Result<Found, Failure> {
    let name = path.display().to_string();
    let read = text_or_input(path)
        .map_err(|fault| vec![fault])
        .and_then(|text| RuleFile::parse(&text).map_err(|faults| faults.iter().map(|fault| format!("{name}:{fault}")).collect::<Vec<_>>()));
    let twice = match (&read, args.lint) {
        (Ok(file), LintArg::All | LintArg::DuplicateRules) => duplicates(file),
        (Ok(_), LintArg::None) | (Err(_), _) => Vec::new(),
    };
    let found = Found { is_right: read.is_ok(), is_remarked: !twice.is_empty() };
    if args.json {
        let (rules, faults) = match &read {
            Ok(file) => (Some(file.rules_count()), &[][..]),
            Err(faults) => (None, faults.as_slice()),
        };
        say(json!({"kind": "file", "file": name, "ok": read.is_ok(), "rules": rules, "errors": faults, "duplicates": twice}))?;
        return Ok(found);
    }
    say(format_args!("Checking {name}"))?;
    match &read {
        Ok(file) => {
            if !twice.is_empty() {
                note(format_args!("  {} duplicate rule(s) found.\n    {}", twice.len(), twice.join("\n    ")));
            }
            say(format_args!("  SUCCESS: {} rules found\n", file.rules_count()))?;
        }
        Err(faults) => note(format_args!("  FAILED:\n    {}\n", faults.join("\n    "))),
    }
    Ok(found)
}

/// Rules that say the same series of the same labels twice: it holds, but is seldom meant.
fn duplicates(file: &RuleFile) -> Vec<String> {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for rule in file.groups.iter().flat_map(|group| &group.rules) {
        let labels: Vec<String> = rule.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        *seen.entry(format!("{}{{{}}}", rule.name, labels.join(", "))).or_default() += 1;
    }
    seen.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}
