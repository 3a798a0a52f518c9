//! Rule files, right and wrong, checked by both.

use super::agree;
use super::random::Random;
use std::collections::BTreeMap;

const FILES: usize = 1_500;

/// Scalars that may stand where another was to be. What is in base64 (`!!binary`) is not read here.
const ODD: &[&str] = &[
    "null",
    "~",
    "",
    "true",
    "no",
    "5",
    "-3",
    "1.5",
    "0x1F",
    "017",
    "1_000",
    "1e3",
    ".inf",
    ".nan",
    "\"\"",
    "'it''s'",
    "\"a\\tb\"",
    "2020-01-01",
    "[]",
    "{}",
    "[a, b]",
    "{a: b}",
    "!!str 5",
    "!!int '5'",
    "!!float 3",
    "!mine x",
    "*none",
    "*anchored",
    "&here 5m",
    "|\n        up\n",
    ">-\n        up\n        == 0\n",
    "'x: y'",
    "x: y",
    "5m",
    "\"\\x41\"",
    "\"\\u00e9\"",
    "é",
    "@x",
    "`x`",
    "%x",
    "- x",
    "? x",
    "x # y",
    "x#y",
    "<<",
    "=",
    "\"a",
    "'a",
    "{a: b",
    "[a",
    "a\tb",
];
const DURATIONS: &[&str] = &[
    "5m", "1h30m", "0s", "0", "1d", "1y2w", "90s", "500ms", "1m30", "5", "-5m", "1.5h", "m", "''", "1h1h", "1m1h", "1000000y", "5 m", "5M",
];
const EXPRESSIONS: &[&str] = &[
    "up == 0",
    "up",
    "1",
    "sum by (job) (rate(x[5m])) > 0.1",
    "rate(x)",
    "x[5m]",
    "up ==",
    "'a'",
    "absent(x)",
    "x and on (a) y",
    "foo(",
    "x offset 5m",
    "x @ 0",
    "histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))",
    "count_values(\"v\", x)",
    "topk(3, x)",
    "{__name__=~\".+\"}",
    "{}",
    "x{a='b'}",
    "x{a=~'('}",
    "-x ^ 2",
    "label_replace(x, 'a', '$1', 'b', '(.*)')",
    "x > bool 1",
    "1 > 2",
    "time()",
    "vector(1)",
    "\"a\"",
    "sum(x) by (job)",
    "x[5m:1m]",
    "x unless y",
    "1 + ",
    "up;",
    "x == # c",
    "avg_over_time(x[1h])",
    "predict_linear(x[1h], 3600) < 0",
    "x * on (a) group_left (b) y",
    "stddev(x)",
    "quantile(0.5, x)",
    "x % 2",
    "((x))",
    "(x",
    "x)",
];
const NAMES: &[&str] = &["A", "High", "job:x:sum", "a b", "1a", "a-b", "é", "\"\"", "''", "x", "instance:y:rate5m", "null", "a.b", "{x}"];
const LABELS: &[&str] =
    &["severity", "team", "a-b", "1a", "__name__", "alertname", "é", "a.b", "\"\"", "5", "true", "_x", "null", "a b", "<<"];
const TEXTS: &[&str] = &[
    "page",
    "'{{ $value }}'",
    "'{{ $labels.x }} of {{ humanize $value }}'",
    "'{{ $nothing }}'",
    "'{{ if }}'",
    "'{{'",
    "5",
    "true",
    "1.10",
    "null",
    "''",
    "'{{ nope }}'",
    "\"{{ printf \\\"%.2f\\\" $value }}\"",
    "'{{ range query \"x\" }}{{ .Value }}{{ end }}'",
    "[a]",
    "{a: b}",
    "|\n        {{ $value }}\n        x\n",
    "2020-01-01",
    "~",
    "é",
];

pub struct Maker {
    pub random: Random,
}

impl Maker {
    /// Mostly what it is to be, now and then something else.
    fn value(&mut self, from: &[&str]) -> String {
        if self.random.one_in(120) { self.random.pick(ODD).to_owned() } else { self.random.pick(from).to_owned() }
    }

    /// Mostly the first few of a list, of which the rest is wrong.
    fn good(&mut self, from: &[&str], good: usize) -> String {
        if self.random.one_in(50) { self.value(from) } else { self.value(&from[..good]) }
    }

    /// For `alert`, `record` and `expr`: promtool 2.42 takes what is written for a text even where it is none (`~`, `{a: b}`), and knows
    /// neither `1_000` nor a duration as a number.
    fn text(&mut self, from: &[&str], good: usize) -> String {
        loop {
            let text = self.good(from, good);
            if !text.starts_with(['~', '[', '{']) && !matches!(text.as_str(), "null" | "1_000" | "5m" | "&here 5m") {
                return text;
            }
        }
    }

    fn map(&mut self, indent: &str) -> String {
        let mut lines = String::new();
        for _ in 0..self.random.below(3) {
            let name = self.good(LABELS, 2);
            let text = self.good(TEXTS, 3);
            lines += &format!("{indent}{name}: {text}\n");
        }
        lines
    }

    fn rule(&mut self) -> String {
        let is_alert = self.random.below(3) > 0;
        let mut fields = Vec::new();
        if is_alert || self.random.one_in(60) {
            fields.push(format!("alert: {}", self.text(NAMES, 4)));
        }
        if !is_alert || self.random.one_in(60) {
            fields.push(format!("record: {}", self.text(&["job:x:sum", "x", "a:b", "a b", "1a", "é", "''", "{x}", "a.b", "5"], 3)));
        }
        if !self.random.one_in(60) {
            fields.push(format!(
                "expr: {}",
                if self.random.one_in(6) { self.text(EXPRESSIONS, EXPRESSIONS.len()) } else { self.text(EXPRESSIONS, 4) }
            ));
        }
        if is_alert && self.random.one_in(2) {
            fields.push(format!("for: {}", self.good(DURATIONS, 8)));
        }
        if is_alert && self.random.one_in(5) {
            fields.push(format!("keep_firing_for: {}", self.good(DURATIONS, 8)));
        }
        if self.random.one_in(2) {
            fields.push(format!("labels:\n{}", self.map("      ")).trim_end().to_owned());
        }
        if is_alert && self.random.one_in(2) || self.random.one_in(60) {
            fields.push(format!("annotations:\n{}", self.map("      ")).trim_end().to_owned());
        }
        if self.random.one_in(100) {
            fields.push(
                self.random
                    .pick(&["exp: up", "For: 5m", "summary: x", "expr: up", "<<: *anchored", "<<: {for: 5m}", "<<: 5", "<<: [*anchored]"])
                    .to_owned(),
            );
        }
        let at = self.random.below(fields.len().max(1));
        fields.rotate_left(at);
        format!("  - {}\n", fields.join("\n    "))
    }

    fn group(&mut self) -> String {
        let mut out = format!("- name: {}\n", self.good(&["g", "h", "i", "j", "g", "''", "5"], 5));
        if self.random.one_in(3) {
            out += &format!("  interval: {}\n", self.good(DURATIONS, 8));
        }
        if self.random.one_in(8) {
            let limit = if self.random.one_in(3) {
                self.value(&["5", "0", "-1", "1.5", "2.0", "x", "'5'", "1e3", "0x10", "99999999999999999999"])
            } else {
                "5".into()
            };
            out += &format!("  limit: {limit}\n");
        }
        if self.random.one_in(100) {
            out += self.random.pick(&["  rule: []\n", "  name: twice\n", "  interval: 5m\n", "  source_tenants: [a]\n"]);
        }
        let rules: String = (0..=self.random.below(3)).map(|_| self.rule()).collect();
        match self.random.below(60) {
            0 => out + "  rules:\n",
            1 => out,
            2 => out + &format!("  rules: {}\n", self.random.pick(ODD)),
            _ => out + "  rules:\n" + &rules,
        }
    }

    pub fn file(&mut self) -> String {
        let groups: String = (0..=self.random.below(2)).map(|_| self.group()).collect();
        let head = self.random.pick(&[
            "",
            "",
            "",
            "",
            "# a comment\n",
            "---\n",
            "%YAML 1.1\n---\n",
            "\u{feff}",
            "x-base: &anchored {for: 5m}\n",
            "\n\n",
        ]);
        let tail = self.random.pick(&["", "", "", "", "", "---\ngroups: 5\n", "...\n", "...\nx: [\n", "---\n", "\n# end", "more: 1\n"]);
        let head = if self.random.one_in(3) { head } else { "" };
        let tail = if self.random.one_in(4) { tail } else { "" };
        let text = format!("{head}groups:\n{groups}{tail}");
        match self.random.below(30) {
            0 | 1 => self.broken(&text),
            2 => text.replace('\n', "\r\n"),
            _ => text,
        }
    }

    /// With some characters gone, or others in their place.
    pub fn broken(&mut self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let at = self.random.below(chars.len() + 1);
        let end = (at + self.random.below(6)).min(chars.len());
        let put = self.random.pick(&[
            "", "\t", ":", "- ", "[", "]", "{", "}", "&a ", "*a", "\"", "'", "#", "|", ">", "!", "%", "@", "\0", "\u{7f}", "\u{85}",
            "\u{feff}", "\n", "  ", "<<: ", "? ", ",",
        ]);
        chars[..at].iter().collect::<String>() + put + &chars[end..].iter().collect::<String>()
    }
}

#[test]
#[ignore = "needs promtool"]
fn rule_files_are_judged_as_promtool_judges_them() {
    let mut maker = Maker { random: Random::new(20_250_802) };
    let dir = tempfile::tempdir().unwrap();
    let texts: BTreeMap<String, String> = (0..FILES).map(|i| (format!("f{i:04}.yml"), maker.file())).collect();
    for (name, text) in &texts {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    agree("check", &texts, dir.path());
}
