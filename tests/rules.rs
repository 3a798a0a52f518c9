//! Rule files and their unit tests: promtool's verdicts, through the program as people call it.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn pilothouse(args: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pilothouse")).args(args).current_dir(directory).output().unwrap()
}

/// The cases beside the checkout, where they are; in CI they have to be.
fn cases() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/rules");
    assert!(folder.is_dir() || std::env::var_os("CI").is_none(), "{} is missing", folder.display());
    folder.is_dir().then_some(folder)
}

#[test]
fn all_that_a_test_expects_in_vain_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.yml"), "groups: [{name: g, rules: [{alert: A, expr: vector(1)}]}]\n").unwrap();
    let tests = "rule_files: [r.yml]\ntests:\n- input_series: [{series: up, values: 0x10}]\n  alert_rule_test: [{eval_time: 1m, alertname: A}]\n  \
                 promql_expr_test: [{expr: sum(up), eval_time: 2m, exp_samples: [{value: 1}]}]\n";
    std::fs::write(folder.path().join("t.yml"), tests).unwrap();
    let output = pilothouse(&["rules", "test", "t.yml"], folder.path());
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("alertname: A") && said.contains("sum(up)"), "{said}");
}

#[test]
fn verdicts_are_promtools() {
    let Some(folder) = cases() else { return };
    let manifest: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(folder.join("MANIFEST.json")).unwrap()).unwrap();
    assert!(manifest.len() >= 36);
    let mut wrong = Vec::new();
    for case in &manifest {
        let (verb, file) = (case["cmd"].as_str().unwrap(), case["file"].as_str().unwrap());
        let output = pilothouse(&["rules", verb, file], &folder);
        if output.status.code().map(i64::from) != case["exit"].as_i64() {
            let said = [output.stdout, output.stderr].concat();
            wrong.push(format!(
                "{verb} {file}: {:?}, should be {}\n{}",
                output.status.code(),
                case["exit"],
                String::from_utf8_lossy(&said)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), manifest.len(), wrong.join("\n"));
}

#[test]
fn the_rules_that_ship_hold_their_tests_and_each_is_seen_to_fire_and_not_to() {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let checked = pilothouse(&["rules", "check", "rules.yaml", "--json"], &configs);
    let line: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(
        (checked.status.code(), &line["ok"], &line["duplicates"]),
        (Some(0), &Value::Bool(true), &Value::Array(Vec::new())),
        "{line}"
    );
    let tested = pilothouse(&["rules", "test", "rules_test.yaml", "--coverage", "--json"], &configs);
    let said = String::from_utf8(tested.stdout).unwrap();
    assert_eq!(tested.status.code(), Some(0), "{said}");
    let coverage: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(coverage["never_firing"], Value::Array(Vec::new()));
}

const RULES: &str = "groups:
- name: g
  rules:
  - record: job:x:sum
    expr: sum by (job) (x)
  - alert: High
    expr: job:x:sum > 5
    for: 1m
    labels: {severity: page}
    annotations: {summary: high, description: 'of job {{ $labels.job }}'}
";

/// A directory with these rules and this test file.
fn directory(test: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.rules.yml"), RULES).unwrap();
    std::fs::write(dir.path().join("t.yml"), test).unwrap();
    dir
}

fn test_file(expected: &str) -> String {
    format!(
        "rule_files: ['*.rules.yml']
evaluation_interval: 1m
tests:
- name: one
  input_series: [{{series: 'x{{job=\"a\", i=\"0\"}}', values: '3x9'}}, {{series: 'x{{job=\"a\", i=\"1\"}}', values: '3x9'}}]
  promql_expr_test:
  - {{expr: 'job:x:sum', eval_time: 2m, exp_samples: [{{labels: 'job:x:sum{{job=\"a\"}}', value: 6}}]}}
  alert_rule_test:
  - {{eval_time: 0m, alertname: High, exp_alerts: []}}
  - eval_time: 90s
    alertname: High
    exp_alerts: [{{exp_labels: {{{expected}}}, exp_annotations: {{summary: high, description: of job a}}}}]
"
    )
}

#[test]
fn an_expectation_that_is_wrong_fails_and_says_both() {
    let right = directory(&test_file("severity: page, job: a"));
    assert_eq!(pilothouse(&["rules", "test", "t.yml"], right.path()).status.code(), Some(0));
    let wrong = directory(&test_file("severity: page"));
    let output = pilothouse(&["rules", "test", "t.yml"], wrong.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    for part in ["name: one", "alertname: High, time: 1m30s", r#"Labels:{alertname="High", severity="page"}"#, r#"job="a""#] {
        assert!(said.contains(part), "{part}:\n{said}");
    }
    // Only what is named is compared.
    assert_eq!(pilothouse(&["rules", "test", "t.yml", "--partial"], wrong.path()).status.code(), Some(0));
    // No test of that name, so nothing that could fail.
    assert_eq!(pilothouse(&["rules", "test", "t.yml", "--run", "^two$"], wrong.path()).status.code(), Some(0));
}

/// promtool takes no standard input; its exit codes of remarks are these.
#[test]
fn duplicates_are_remarked_on_and_fatal_where_it_is_asked() {
    let twice = "groups: [{name: g, rules: [{record: a, expr: x}, {record: a, expr: y}]}]";
    let check = |args: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
            .args([&["rules", "check"], args].concat())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), twice.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = check(&["-"]);
    assert!(code == Some(0) && said.contains("1 duplicate rule(s) found") && said.contains("a{}"), "{code:?} {said}");
    assert_eq!(check(&["-", "--lint-fatal"]).0, Some(3));
    assert_eq!(check(&["-", "--lint-fatal", "--lint=none"]), (Some(0), String::new()));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.yml"), b"groups:\n- name: \xff\n").unwrap();
    let output = pilothouse(&["rules", "check", "bad.yml", "."], dir.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("bad.yml: is not text in UTF-8, in line 2") && said.contains(".: is no regular file"), "{said}");
}

#[test]
fn outcomes_are_written_for_ci() {
    let dir = directory(&test_file("severity: page"));
    let output = pilothouse(&["rules", "test", "t.yml", "--junit", "out.xml"], dir.path());
    assert_eq!(output.status.code(), Some(1));
    let written = std::fs::read_to_string(dir.path().join("out.xml")).unwrap();
    assert!(written.contains(r#"<testsuite name="t.yml" tests="1" failures="1">"#) && written.contains("alertname: High"), "{written}");
}

#[test]
fn what_is_wrong_with_a_test_file_is_told_with_its_line() {
    let dir = directory("rule_files: [a.rules.yml]\ntests:\n- input_serie: []\n  interval: 1 minute\n");
    let output = pilothouse(&["rules", "test", "t.yml"], dir.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("t.yml:3:3") && said.contains("did you mean input_series?") && said.contains("t.yml:4:"), "{said}");
    assert_eq!(pilothouse(&["rules", "test", "none.yml"], dir.path()).status.code(), Some(1));
}

/// promtool and this program say the same of files that neither was made for.
#[test]
#[ignore = "needs promtool"]
fn promtool_agrees_on_what_ships_and_on_the_cases() {
    let promtool =
        |args: &[&str], directory: &Path| Command::new("promtool").args(args).current_dir(directory).output().unwrap().status.code();
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    assert_eq!(promtool(&["check", "rules", "rules.yaml"], &configs), Some(0));
    assert_eq!(promtool(&["test", "rules", "rules_test.yaml"], &configs), Some(0));
    for (expected, code) in [("severity: page, job: a", 0), ("severity: page", 1), ("severity: page, job: b", 1)] {
        let dir = directory(&test_file(expected));
        let own = pilothouse(&["rules", "test", "t.yml"], dir.path()).status.code();
        assert_eq!((own, promtool(&["test", "rules", "t.yml"], dir.path())), (Some(code), Some(code)), "{expected}");
    }
}
