//! `rules check`: what promtool would say of rule files.

use super::cli::RulesCheckArgs;
use super::exit::{Code, Failure, Outcome, note, say};
use super::rule_files::text;
use crate::alert::rules::RuleFile;
use serde_json::json;
use std::path::Path;

/// Reads each file; the first line of each is its name, then what was found. All are read, also behind one that is wrong.
pub fn run(args: &RulesCheckArgs) -> Outcome {
    let mut failed = 0;
    for path in &args.files {
        failed += usize::from(!check(path, args.json)?);
    }
    match failed {
        0 => Ok(Code::Holds),
        1 => Err(Failure::failed("1 rule file is wrong")),
        _ => Err(Failure::failed(format!("{failed} rule files are wrong"))),
    }
}

fn check(path: &Path, as_json: bool) -> Result<bool, Failure> {
    let name = path.display().to_string();
    let read = text(path)
        .map_err(|fault| vec![fault])
        .and_then(|text| RuleFile::parse(&text).map_err(|faults| faults.iter().map(|fault| format!("{name}:{fault}")).collect::<Vec<_>>()));
    let twice = read.as_ref().map_or_else(|_| Vec::new(), duplicates);
    if as_json {
        let (rules, faults) = match &read {
            Ok(file) => (Some(file.rules_count()), &[][..]),
            Err(faults) => (None, faults.as_slice()),
        };
        say(json!({"kind": "file", "file": name, "ok": read.is_ok(), "rules": rules, "errors": faults, "duplicates": twice}))?;
        return Ok(read.is_ok());
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
    Ok(read.is_ok())
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
