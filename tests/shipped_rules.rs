//! The rules that ship: right, explained, tested, and of series that there are.

#![allow(clippy::unwrap_used)]

use pilothouse::alert::rules::RuleFile;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

#[test]
fn each_has_a_severity_words_a_runbook_and_a_test() {
    let file = RuleFile::parse(&read("configs/rules.yaml")).unwrap();
    let tests = read("configs/rules_test.yaml");
    let rules: Vec<_> = file.groups.iter().flat_map(|g| &g.rules).collect();
    assert!(rules.len() > 30);
    for rule in rules {
        let text = format!("{rule:?}");
        for part in ["severity", "summary", "description", "runbook_url", "$labels.instance", "$value"] {
            assert!(text.contains(part), "{}: {part}", rule.name);
        }
        let page = read(&format!("docs/runbooks/{}.md", rule.name));
        assert!(["## What it means", "## Look at", "## Do", "## Silence"].iter().all(|part| page.contains(part)), "{}", rule.name);
        assert!(tests.contains(&format!("alertname: {}\n", rule.name)), "{} has no test", rule.name);
    }
}

#[test]
fn every_series_that_they_name_is_in_the_table() {
    let known = read("docs/METRICS.md");
    let rules = read("configs/rules.yaml");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let exprs = rules.lines().filter_map(|l| l.trim().strip_prefix("expr: "));
    let names = exprs.flat_map(|e| e.split(move |c| !is_name(c))).filter(|n| n.starts_with("pilothouse_"));
    for name in names {
        let base = ["_sum", "_count", "_bucket"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(known.contains(name) || known.contains(base), "{name} is no series");
    }
}
