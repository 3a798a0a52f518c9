//! Files of unit tests, judged by both.

use super::agree;
use super::files::Maker;
use super::random::Random;
use std::collections::BTreeMap;

const FILES: usize = 1_000;
const RULES: &str = "groups:
- name: first
  rules:
  - record: total:x
    expr: sum(x)
  - alert: High
    expr: x > 5
    for: 2m
    labels: {severity: page}
    annotations: {summary: 'x is {{ $value }}'}
- name: second
  interval: 2m
  rules:
  - alert: Total
    expr: total:x > 10
    keep_firing_for: 3m
  - alert: Always
    expr: vector(1)
";

/// Series that go up by one a step, with what they are at a step.
const SERIES: &[&str] = &[
    "{series: x, values: '0+1x30'}",
    "{series: 'x{a=\"b\"}', values: '0 1 2 3 4 5 6 7 8 9 10'}",
    "{series: 'x{a=\"b\", c=\"d\"}', values: '1x5 _ _ 3 stale 7x3'}",
    "{series: 'x', values: '-3+0.5x20'}",
    "{series: '{__name__=\"x\"}', values: '5 NaN Inf -Inf 1e3'}",
];
const BAD_SERIES: &[&str] = &[
    "{series: x, values: '0+1x'}",
    "{series: 'x{', values: '1'}",
    "{series: x, values: ''}",
    "{series: x}",
    "{values: 1}",
    "{series: x, values: 5}",
    "{series: x, values: [1]}",
    "{series: x, values: '1 2', more: 1}",
    "{series: x y, values: '1'}",
    "{series: x, values: '0x3 1x'}",
    "{series: x, values: '1 _x3 2'}",
    "{series: x, values: 'x'}",
    "{series: '', values: '1'}",
    "{series: x, values: '1+1x3 2-1x2'}",
    "x",
    "null",
];
const DURATIONS: &[&str] = &["1m", "30s", "2m", "90s", "5m", "0", "1", "-1m", "x", "''"];

struct Tests {
    maker: Maker,
    /// Seconds of a step of the series.
    step_s: i64,
}

impl Tests {
    fn random(&mut self) -> &mut Random {
        &mut self.maker.random
    }

    fn duration(&mut self, good: usize) -> &'static str {
        let end = if self.random().one_in(40) { DURATIONS.len() } else { good };
        DURATIONS[self.random().below(end)]
    }

    fn expression(&mut self) -> String {
        let minutes = self.random().between(0, 8);
        let at_step = minutes * 60 / self.step_s;
        let off = i64::from(self.random().one_in(8));
        let (expr, labels, value) = match self.random().below(9) {
            0 | 1 => ("x", "'x'", at_step + off),
            2 => ("vector(3)", "'{}'", 3 + off),
            3 => ("2 + 2", "''", 4 + off),
            4 => ("total:x", "'total:x'", minutes * 60 / self.step_s + off),
            5 => ("x > 100", "", 0),
            6 => ("time()", "'{}'", minutes * 60 + off),
            7 => ("count(x)", "'{}'", 1 + off),
            _ => ("ALERTS{alertname=\"Always\"}", "'ALERTS{alertname=\"Always\", alertstate=\"firing\"}'", 1 + off),
        };
        let expected = if labels.is_empty() { String::new() } else { format!(", exp_samples: [{{labels: {labels}, value: {value}}}]") };
        let odd = match self.random().below(120) {
            0 => ", more: 1",
            1 => ", exp_samples: [{labels: 'x{', value: 1}]",
            2 => ", exp_samples: [{value: x}]",
            3 => ", exp_samples: 5",
            _ => "",
        };
        let expected = if odd.is_empty() { expected } else { odd.to_owned() };
        let expr = if self.random().one_in(100) { "x +" } else { expr };
        format!("  - {{expr: {expr:?}, eval_time: {minutes}m{expected}}}\n")
    }

    fn alert(&mut self) -> String {
        let minutes = self.random().between(0, 8);
        let at_step = minutes * 60 / self.step_s;
        let is_shifted = self.random().one_in(8);
        let (name, fires, expected) = match self.random().below(4) {
            0 | 1 => {
                // It is above five from the first step behind it, and waits two minutes.
                let since_m = (6 * self.step_s + 59) / 60;
                let text = format!("{{exp_labels: {{severity: page}}, exp_annotations: {{summary: x is {at_step}}}}}");
                ("High", minutes >= since_m + 2, text)
            }
            2 => ("Always", true, "{}".to_owned()),
            _ => ("None", false, String::new()),
        };
        let expected = if fires != is_shifted { expected } else { String::new() };
        let name = match self.random().below(150) {
            0 => "''",
            1 => "5",
            2 => "[High]",
            _ => name,
        };
        let odd = match self.random().below(150) {
            0 => ", exp_labels: {}",
            1 => ", exp_alerts: {}",
            2 => ", exp_alerts: [{exp_label: {}}]",
            _ => "",
        };
        format!("  - {{eval_time: {minutes}m, alertname: {name}, exp_alerts: [{expected}]{odd}}}\n")
    }

    fn test(&mut self) -> String {
        let interval = self.duration(3);
        self.step_s = match interval {
            "30s" => 30,
            "2m" => 120,
            _ => 60,
        };
        let mut out = format!("- interval: {interval}\n");
        if self.random().one_in(4) {
            out += self.random().pick(&[
                "  name: one\n",
                "  name: 5\n",
                "  external_labels: {a: b}\n",
                "  external_labels: {a: 5}\n",
                "  external_url: http://h/\n",
            ]);
        }
        if self.random().one_in(40) {
            out += self.random().pick(&[
                "  names: one\n",
                "  name: [a]\n",
                "  external_labels: [a]\n",
                "  input_serie: []\n",
                "  external_labels: {1a: b}\n",
                "  name: one\n  name: two\n",
            ]);
        }
        let series = if self.random().one_in(4) { self.random().pick(SERIES) } else { SERIES[0] };
        let series = if self.random().one_in(25) { self.random().pick(BAD_SERIES) } else { series };
        out += &format!("  input_series:\n  - {series}\n");
        let expressions: String = (0..self.random().below(3)).map(|_| self.expression()).collect();
        if !expressions.is_empty() {
            out += &format!("  promql_expr_test:\n{expressions}");
        }
        let alerts: String = (0..self.random().below(3)).map(|_| self.alert()).collect();
        if !alerts.is_empty() {
            out += &format!("  alert_rule_test:\n{alerts}");
        }
        out
    }

    fn file(&mut self) -> String {
        let rules = match self.random().below(60) {
            0 => "[none.yml]",
            1 => "rules.yml",
            2 => "[wrong.yml]",
            3 => "['rules.y*', 'rules.yml']",
            4 => "[]",
            _ => "[rules.yml]",
        };
        let mut out = format!("rule_files: {rules}\n");
        if self.random().one_in(3) {
            // What rules see between two evaluations hangs on it: a minute, or what divides it.
            out += &format!("evaluation_interval: {}\n", self.duration(2));
        }
        if self.random().one_in(8) {
            out += self.random().pick(&[
                "group_eval_order: [first, second]\n",
                "group_eval_order: [second, none]\n",
                "group_eval_order: [first, first]\n",
                "group_eval_order: first\n",
            ]);
        }
        if self.random().one_in(60) {
            out += self.random().pick(&["rule_file: []\n", "tests: []\n", "x: 1\n"]);
        }
        let tests: String = (0..=self.random().below(2)).map(|_| self.test()).collect();
        out += &format!("tests:\n{tests}");
        if self.random().one_in(40) { self.maker.broken(&out) } else { out }
    }
}

#[test]
#[ignore = "needs promtool"]
fn unit_tests_are_judged_as_promtool_judges_them() {
    let mut tests = Tests { maker: Maker { random: Random::new(20_250_803) }, step_s: 60 };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rules.yml"), RULES).unwrap();
    std::fs::write(dir.path().join("wrong.yml"), RULES.replace("x > 5", "x >")).unwrap();
    let texts: BTreeMap<String, String> = (0..FILES).map(|i| (format!("t{i:04}.yml"), tests.file())).collect();
    for (name, text) in &texts {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    agree("test", &texts, dir.path());
}
