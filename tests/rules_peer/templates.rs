//! Templates of every kind, rendered by both.

use super::promtool;
use super::random::Random;
use pilothouse::alert::promql::Limits;
use pilothouse::alert::rules::{Context, Group, RuleFile};
use pilothouse::metrics::{Caps, Labels, Store};
use std::collections::BTreeMap;
use std::path::Path;

/// Templates of one rule.
const TEMPLATES_EACH: usize = 250;
const TEMPLATES: usize = 5_000;
const EXPR: &str = "x";
/// The series that alert, each with another value.
const SERIES: &[(&str, &str, f64)] = &[
    ("0", r#"x{i="0",instance="host-1.example:9100",job="api",n="42"}"#, 1_234_567.0),
    ("1", r#"x{i="1",instance="[::1]:80",job="a<b>&\"c'd",n="1.5e-3"}"#, 0.003_21),
    ("2", r#"x{i="2",instance="10.1.2.3:80",job="ünïcode ǆ",n="x"}"#, f64::NAN),
    ("3", r#"x{i="3",job="tab\there",n="-17"}"#, f64::NEG_INFINITY),
    ("4", r#"x{i="4",instance="plain",job="",n="1435065584.128"}"#, -86_461.5),
    ("5", r#"x{i="5",instance="a.b.c",job="job",n="0"}"#, 0.0),
];
/// What `query` finds.
const QUERIED: &[(&str, f64)] = &[(r#"y{k="a",w="2"}"#, 3.0), (r#"y{k="b",w="1"}"#, 1e-7), (r#"y{k="c",w="3",__value__="sv"}"#, 1e9)];
const EXTERNAL: &[(&str, &str)] = &[("cluster", "lab"), ("zone", "z 1")];

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Text,
    Number,
    Whole,
    Flag,
    Samples,
    Sample,
    Map,
    Time,
    Duration,
    Any,
}

const TYPES: [Type; 10] =
    [Type::Text, Type::Number, Type::Whole, Type::Flag, Type::Samples, Type::Sample, Type::Map, Type::Time, Type::Duration, Type::Any];

struct Maker {
    random: Random,
    /// Variables of the template, whose types nobody knows.
    variables: Vec<String>,
    ranges: usize,
    /// Whether what is made is defined apart, where a rule's variables are not known.
    is_apart: bool,
}

impl Maker {
    /// An operand: what is made of several words stands in parentheses.
    fn operand(&mut self, kind: Type, depth: usize) -> String {
        let text = self.expression(kind, depth);
        let is_one_word = !text.contains([' ', '|']) && !text.starts_with(|c: char| c.is_ascii_lowercase());
        if is_one_word || is_quoted(&text) { text } else { format!("({text})") }
    }

    /// A command or a pipeline.
    fn expression(&mut self, kind: Type, depth: usize) -> String {
        // What is of the wrong kind has to be an error to both.
        let kind = if self.random.one_in(100) { TYPES[self.random.below(TYPES.len())] } else { kind };
        if kind == Type::Any {
            // Samples are shown as addresses in memory.
            let kind = match TYPES[self.random.below(TYPES.len() - 1)] {
                Type::Samples => Type::Sample,
                kind => kind,
            };
            return match self.random.below(12) {
                0 if !self.variables.is_empty() => self.variable(),
                1 => self.call(&["and", "or"], &[Type::Any, Type::Any, Type::Any], depth),
                2 => ".".into(),
                3 => "$".into(),
                4 => format!("{}.arg{}", self.operand_call("args", &[Type::Any, Type::Text], depth), self.random.below(3)),
                5 => format!("index \"abcdef\" {}", self.random.below(7)),
                _ => self.expression(kind, depth),
            };
        }
        if depth == 0 || self.random.one_in(4) {
            return self.leaf(kind);
        }
        match kind {
            Type::Text => self.text(depth - 1),
            Type::Number => self.number(depth - 1),
            Type::Whole => self.whole(depth - 1),
            Type::Flag => self.flag(depth - 1),
            Type::Samples => match self.random.below(3) {
                0 => self.call(&["sortByLabel"], &[Type::Text, Type::Samples], depth - 1),
                1 => format!("sortByLabel \"{}\" {}", self.random.pick(&["k", "w"]), self.operand(Type::Samples, depth - 1)),
                _ => format!("slice {} {}", self.operand(Type::Samples, depth - 1), self.random.below(2)),
            },
            Type::Sample => match self.random.below(3) {
                0 => format!("index {} {}", self.operand(Type::Samples, depth - 1), self.random.below(4)),
                _ => self.call(&["first"], &[Type::Samples], depth - 1),
            },
            Type::Map => match self.random.below(3) {
                0 => self.call(&["args"], &[Type::Any, Type::Any], depth - 1),
                1 => format!("({}).Labels", self.expression(Type::Sample, depth - 1)),
                _ => self.leaf(Type::Map),
            },
            Type::Time => self.time(depth - 1),
            Type::Duration => format!("{}.Sub {}", self.operand(Type::Time, 0), self.operand(Type::Time, 0)),
            Type::Any => self.leaf(Type::Text),
        }
    }

    fn variable(&mut self) -> String {
        let at = self.random.below(self.variables.len());
        self.variables[at].clone()
    }

    fn leaf(&mut self, kind: Type) -> String {
        let from: &[&str] = match kind {
            Type::Text => &[
                r#""plain""#,
                r#""a b.c:1""#,
                r#""""#,
                "`raw \"x\" \\n`",
                r#""é\t\"q\" \\ <&'>""#,
                r#""12.5""#,
                r#""0x1p-2""#,
                r#""1e400""#,
                r#""Inf""#,
                r#""+nan""#,
                r#""host.example:80""#,
                "$labels.instance",
                ".Labels.job",
                "$labels.n",
                "$labels.missing",
                "$externalLabels.cluster",
                ".ExternalLabels.none",
                // The functions externalURL and pathPrefix have nothing to look at in promtool 2.42.
                "$externalURL",
                "$labels.__name__",
                r#""\u00e9\x41\101\a""#,
                "\"a\u{301}\u{a0}b\"",
            ],
            Type::Number => &[
                "$value",
                ".Value",
                "1.5",
                "-2.25",
                "1e3",
                "0.1",
                "1e-7",
                "123456789.0",
                "1e21",
                "0.0",
                "2e300",
                "59.9",
                "3600.5",
                "1_0.5",
                ".5",
                "5.",
                "1e+2",
                "0x1p4",
                "1E2",
            ],
            Type::Whole => &[
                "0",
                "1",
                "2",
                "3",
                "-1",
                "42",
                "0x1F",
                "0b101",
                "0o17",
                "017",
                "1_000",
                "'a'",
                "'é'",
                "'\\n'",
                "100000",
                "1234567890",
                "+5",
                "-0",
                "9223372036854775807",
                "86400",
            ],
            Type::Flag => &["true", "false"],
            Type::Samples => &[
                "query \"sort(y)\"",
                "query \"sort(y)\"",
                "query \"none\"",
                "query \"sort_desc(y > 1)\"",
                "query \"1 +\"",
                "query \"vector(3)\"",
            ],
            // Without an order it is another one each time there.
            Type::Sample => &[
                "query \"sort(y)\" | first",
                "first (query \"sort_desc(y)\")",
                "index (query \"sort(y)\") 1",
                "query \"vector(1)\" | first",
            ],
            Type::Map => &["$labels", ".Labels", "args", "$externalLabels", "args 1 \"x\"", "args"],
            Type::Time => &["toTime 0", "toTime 1435065584.128", "toTime -1.5", "toTime 1e9", "toTime 1706745599", "toTime \"951782400\""],
            Type::Duration => &["(toTime 90.25).Sub (toTime 0)", "(toTime 0).Sub (toTime 100000)", "(toTime 0.001).Sub (toTime 0)"],
            Type::Any => &["nil", "."],
        };
        loop {
            let leaf = if self.random.one_in(80) { "nil" } else { self.random.pick(from) };
            if !(self.is_apart && leaf.contains('$')) || self.random.one_in(100) {
                return leaf.to_owned();
            }
        }
    }

    /// A call, with its last argument before it now and then.
    fn call(&mut self, names: &[&str], kinds: &[Type], depth: usize) -> String {
        let name = self.random.pick(names);
        let mut arguments: Vec<String> = kinds.iter().map(|kind| self.operand(*kind, depth)).collect();
        if self.random.one_in(150) {
            arguments.pop();
        }
        if self.random.one_in(150) {
            arguments.push("1".into());
        }
        match arguments.pop() {
            Some(last) if self.random.one_in(3) => {
                let last = last
                    .strip_prefix('(')
                    .and_then(|inner| inner.strip_suffix(')'))
                    .filter(|inner| !inner.contains(['(', ')']))
                    .unwrap_or(&last)
                    .to_owned();
                format!("{last} | {}", [vec![name.to_owned()], arguments].concat().join(" "))
            }
            last => [vec![name.to_owned()], arguments, last.into_iter().collect()].concat().join(" "),
        }
    }

    fn operand_call(&mut self, name: &str, kinds: &[Type], depth: usize) -> String {
        let arguments: Vec<String> = kinds.iter().map(|kind| self.operand(*kind, depth.saturating_sub(1))).collect();
        format!("({name} {})", arguments.join(" "))
    }

    fn text(&mut self, depth: usize) -> String {
        match self.random.below(19) {
            0 => self.call(
                &["toUpper", "toLower", "title", "stripPort", "stripDomain", "graphLink", "tableLink", "safeHtml"],
                &[Type::Text],
                depth,
            ),
            1 => self.call(&["stripPort", "stripDomain"], &[Type::Text], 0),
            2 => self.call(&["html", "js", "urlquery", "print", "println"], &[Type::Any], depth),
            3 => self.call(&["html", "js", "urlquery", "print", "println"], &[Type::Any, Type::Any, Type::Any], depth),
            4 | 5 => self.call(
                &["humanize", "humanize1024", "humanizeDuration", "humanizePercentage", "humanizeTimestamp"],
                &[Type::Number],
                depth,
            ),
            6 => {
                self.call(&["humanize", "humanize1024", "humanizeDuration", "humanizePercentage", "humanizeTimestamp"], &[Type::Any], depth)
            }
            7 => {
                let (pattern, with) = (self.pattern(), self.random.pick(&["", "x", "$1", "${1}-$2", "$$", "$1x", "${n}"]));
                format!("reReplaceAll {pattern} \"{with}\" {}", self.operand(Type::Text, depth))
            }
            8 => format!("label \"{}\" {}", self.random.pick(&["k", "w", "none", "__name__"]), self.operand(Type::Sample, depth)),
            9 => self.call(&["strvalue"], &[Type::Sample], depth),
            10 => format!("index {} \"{}\"", self.operand(Type::Map, depth), self.random.pick(&["job", "n", "arg0", "none"])),
            // Letters of several bytes are cut in two by Go.
            11 => format!("slice \"abcdef\" {} {}", self.random.below(8), self.random.below(8)),
            12 => self.layout(),
            _ => self.printf(depth),
        }
    }

    fn pattern(&mut self) -> String {
        self.random
            .pick(&[
                r#""(.*):\\d+""#,
                r#""\\w+""#,
                r#""[a-c]*""#,
                r#""(?P<n>[^.]+)\\.""#,
                r#""^""#,
                r#""\\b""#,
                r#""(""#,
                r#""[[:alpha:]]""#,
                r#""é|\\s""#,
                r#""(?i)HOST""#,
            ])
            .to_owned()
    }

    fn layout(&mut self) -> String {
        let layout = self.random.pick(&[
            "2006-01-02T15:04:05Z07:00",
            "Mon Jan _2 3:04:05PM 2006",
            "Monday, 02-Jan-06 15:04:05 MST",
            "02 January 06 15h -0700",
            "15:04:05.000 .999 002",
            "Janet 1/2 Month __2",
            "",
        ]);
        format!("{}.Format \"{layout}\"", self.operand(Type::Time, 1))
    }

    fn time(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => self.call(&["toTime"], &[Type::Number], depth),
            1 => format!("{}.Add {}", self.operand(Type::Time, 0), self.operand(Type::Whole, 0)),
            2 => format!(
                "{}.AddDate {} {} {}",
                self.operand(Type::Time, 0),
                self.random.between(-3, 3),
                self.random.between(-30, 30),
                self.random.between(-400, 400)
            ),
            _ => format!(
                "{}.{} {}",
                self.operand(Type::Time, 0),
                self.random.pick(&["Truncate", "Round"]),
                self.random.pick(&["3600000000000", "1000000000", "86400000000000", "7"])
            ),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => format!("parseDuration \"{}\"", self.random.pick(&["1h30m", "5s", "1d", "0", "x", "1ms", "1.5h", ""])),
            1 => self.call(&["value"], &[Type::Sample], depth),
            2 => format!("({}).Value", self.expression(Type::Sample, depth)),
            3 => format!("{}.{}", self.operand(Type::Duration, 0), self.random.pick(&["Seconds", "Minutes", "Hours"])),
            _ => self.leaf(Type::Number),
        }
    }

    fn whole(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => {
                let kind = if self.random.one_in(2) { Type::Map } else { Type::Text };
                self.call(&["len"], &[kind], depth)
            }
            1 => self.call(&["len"], &[Type::Samples], depth),
            2 => {
                let name = self.random.pick(&[
                    "Year",
                    "Month",
                    "Day",
                    "Hour",
                    "Minute",
                    "Second",
                    "Nanosecond",
                    "Weekday",
                    "YearDay",
                    "Unix",
                    "UnixMilli",
                    "UnixNano",
                    "None",
                ]);
                format!("{}.{name}", self.operand(Type::Time, depth.min(1)))
            }
            _ => self.leaf(Type::Whole),
        }
    }

    fn flag(&mut self, depth: usize) -> String {
        const COMPARISONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];
        match self.random.below(9) {
            0 => self.call(COMPARISONS, &[Type::Number, Type::Number], depth),
            1 => self.call(COMPARISONS, &[Type::Whole, Type::Whole], depth),
            2 => self.call(COMPARISONS, &[Type::Text, Type::Text], depth),
            3 if self.random.one_in(6) => self.call(COMPARISONS, &[Type::Any, Type::Any], depth.min(1)),
            4 => self.call(&["eq"], &[Type::Text, Type::Text, Type::Text, Type::Text], 0),
            5 => self.call(&["not"], &[Type::Any], depth),
            6 => self.call(&["and", "or"], &[Type::Flag, Type::Flag], depth),
            7 => format!(
                "{}.{} {}",
                self.operand(Type::Time, 0),
                self.random.pick(&["After", "Before", "Equal"]),
                self.operand(Type::Time, 0)
            ),
            _ => {
                let pattern = self.pattern();
                format!("match {pattern} {}", self.operand(Type::Text, depth))
            }
        }
    }

    /// A format of several verbs, with about as many arguments.
    fn printf(&mut self, depth: usize) -> String {
        let mut format = String::new();
        let mut arguments = Vec::new();
        for _ in 0..=self.random.below(3) {
            format.push_str(self.random.pick(&["", "a", " ", "é|", "%%"]));
            format.push('%');
            for _ in 0..self.random.below(3) {
                format.push_str(self.random.pick(&["+", "-", "#", " ", "0"]));
            }
            if self.random.one_in(40) {
                format.push_str(self.random.pick(&["[1]", "[2]", "[9]", "[", "[x]"]));
            }
            if self.random.one_in(3) {
                match self.random.below(8) {
                    0 => {
                        format.push('*');
                        arguments.push(self.random.between(-12, 12).to_string());
                    }
                    _ => format.push_str(&self.random.below(14).to_string()),
                }
            }
            if self.random.one_in(3) {
                format.push('.');
                match self.random.below(8) {
                    0 => {
                        format.push('*');
                        arguments.push(self.random.between(-2, 9).to_string());
                    }
                    1 => {}
                    _ => format.push_str(&self.random.below(10).to_string()),
                }
            }
            let (verbs, kind): (&[&str], Type) = match self.random.below(6) {
                0 | 1 => (&["s", "q", "v", "x", "X"], Type::Text),
                2 | 3 => (&["f", "e", "g", "v", "E", "G", "F", "x", "X", "b"], Type::Number),
                4 => (&["d", "v", "x", "X", "o", "O", "b", "c", "q", "U"], Type::Whole),
                _ => (&["t", "v", "s", "d", "T", "f", "q", "z"], Type::Any),
            };
            let verb =
                if self.random.one_in(20) { self.random.pick(&["d", "s", "T", "t", "!", "w", "é", ""]) } else { self.random.pick(verbs) };
            format.push_str(verb);
            arguments.push(self.operand(kind, depth.min(1)));
        }
        if self.random.one_in(20) {
            arguments.pop();
        }
        if self.random.one_in(20) {
            arguments.push(self.operand(Type::Any, 0));
        }
        format!("printf {:?} {}", format, arguments.join(" ")).trim_end().to_owned()
    }

    fn open(&mut self) -> &'static str {
        self.random.pick(&["{{", "{{ ", "{{- ", "{{\n"])
    }

    fn close(&mut self) -> &'static str {
        self.random.pick(&["}}", " }}", " -}}", "\t}}", "  -}}"])
    }

    fn action(&mut self, inner: &str) -> String {
        format!("{}{inner}{}", self.open(), self.close())
    }

    /// Nodes one after the other.
    fn nodes(&mut self, depth: usize) -> String {
        (0..=self.random.below(3)).map(|_| self.node(depth)).collect()
    }

    fn node(&mut self, depth: usize) -> String {
        if depth == 0 {
            let expression = self.expression(Type::Any, 2);
            return self.action(&expression);
        }
        match self.random.below(18) {
            0 => self.random.pick(&["text ", " \n ", "é", "{ ", "}} ", "a - b"]).to_owned(),
            1 | 2 => self.branch("if", depth),
            3 => self.branch("with", depth),
            4 | 5 => self.range(depth),
            6 => {
                let name = format!("$v{}", self.random.below(3));
                let expression = self.expression(Type::Any, 2);
                let is_new = self.random.one_in(2) || !self.variables.contains(&name);
                let action = self.action(&format!("{name} {} {expression}", if is_new { ":=" } else { "=" }));
                self.variables.push(name);
                action
            }
            7 if self.random.one_in(20) => self.random.pick(&["{{/* a }}", "{{/*/}}", "{{ /* a */ }}", "{{/* a */ }}"]).to_owned(),
            7 => self.random.pick(&["{{/* comment */}}", "{{- /* a */ -}}", "{{/*\n*/ -}}"]).to_owned(),
            // A template that calls itself does so for a very long time there.
            8 if !self.is_apart => {
                let defined = if self.random.one_in(10) { 3 } else { 1 };
                let name = format!("\"t{}\"", self.random.below(defined));
                let argument = if self.random.one_in(3) { String::new() } else { self.operand(Type::Any, 1) };
                self.action(&format!("template {name} {argument}"))
            }
            9 if self.ranges > 0 => self.random.pick(&["{{ break }}", "{{continue}}"]).to_owned(),
            10 => {
                let outer = std::mem::take(&mut self.variables);
                let ranges = std::mem::take(&mut self.ranges);
                let was_apart = std::mem::replace(&mut self.is_apart, true);
                let body = self.nodes(depth - 1);
                (self.variables, self.ranges, self.is_apart) = (outer, ranges, was_apart);
                let head = self.operand(Type::Any, 1);
                format!("{{{{ block \"b{}\" {head} }}}}{body}{{{{ end }}}}", self.random.below(40))
            }
            _ => {
                let expression = self.expression(Type::Any, 3);
                self.action(&expression)
            }
        }
    }

    fn branch(&mut self, what: &str, depth: usize) -> String {
        let known = self.variables.len();
        let head = if self.random.one_in(5) {
            self.variables.push("$b".into());
            format!("$b := {}", self.expression(Type::Any, 2))
        } else {
            let kind = if self.random.one_in(2) { Type::Flag } else { Type::Any };
            self.expression(kind, 2)
        };
        let mut out = self.action(&format!("{what} {head}")) + &self.nodes(depth - 1);
        // A chain of `else with` is of Go 1.23.
        while what == "if" && self.random.one_in(3) {
            let condition = self.expression(Type::Flag, 2);
            out += &(self.action(&format!("else if {condition}")) + &self.nodes(depth - 1));
        }
        if self.random.one_in(2) {
            out += &(self.action("else") + &self.nodes(depth - 1));
        }
        self.variables.truncate(known);
        out + &self.action("end")
    }

    fn range(&mut self, depth: usize) -> String {
        let known = self.variables.len();
        let over = match self.random.below(5) {
            0 | 1 => self.expression(Type::Map, 1),
            // To range over a number is of Go 1.22.
            2 if self.random.one_in(8) => self.random.pick(&["1.5", "\"abc\"", "true", "nil", "$labels.none", "query \"1 +\""]).to_owned(),
            _ => self.expression(Type::Samples, 1),
        };
        let variables = match self.random.below(4) {
            0 => "$e := ",
            1 => "$i, $e := ",
            _ => "",
        };
        if !variables.is_empty() {
            self.variables.push("$e".into());
        }
        self.ranges += 1;
        let mut out = self.action(&format!("range {variables}{over}")) + &self.nodes(depth - 1);
        self.ranges -= 1;
        if self.random.one_in(3) {
            out += &(self.action("else") + &self.nodes(depth - 1));
        }
        self.variables.truncate(known);
        out + &self.action("end")
    }

    /// A whole template, now and then one that can't be read.
    fn template(&mut self) -> String {
        self.variables.clear();
        let mut out = String::new();
        for name in 0..1 + self.random.below(2) {
            self.is_apart = true;
            let body = self.nodes(1);
            self.variables.clear();
            self.is_apart = false;
            out += &format!("{{{{ define \"t{name}\" }}}}{body}{{{{ end }}}}");
        }
        out += &self.nodes(3);
        if self.random.one_in(12) { self.broken(&out) } else { out }
    }

    fn broken(&mut self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let at = self.random.below(chars.len() + 1);
        let end = (at + self.random.below(4)).min(chars.len());
        let put = self.random.pick(&[
            "", "{{", "}}", "\"", "(", ")", "|", ".", "$", ",", ":=", "=", "-", "'", "`", " end ", "else", "nil", "@", "_", "1x", "/*",
        ]);
        chars[..at].iter().collect::<String>() + put + &chars[end..].iter().collect::<String>()
    }
}

fn is_quoted(text: &str) -> bool {
    let quote = text.chars().next().unwrap_or(' ');
    matches!(quote, '"' | '`' | '\'')
        && text.len() > 1
        && text.ends_with(quote)
        && !text[1..text.len() - 1].contains(" | ")
        && !text[1..].contains("\" ")
}

fn rules(templates: &BTreeMap<String, String>) -> String {
    let annotations: String =
        templates.iter().map(|(name, text)| format!("      {name}: {}\n", serde_json::to_string(text).unwrap())).collect();
    format!("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: {EXPR}\n    annotations:\n{annotations}")
}

fn test_file() -> String {
    let own = SERIES.iter().map(|(_, series, value)| (*series, *value));
    let series: String = own
        .chain(QUERIED.iter().copied())
        .map(|(series, value)| {
            let value = if value.is_finite() {
                value.to_string()
            } else if value.is_nan() {
                "NaN".into()
            } else {
                "-Inf".into()
            };
            format!("  - {{series: {}, values: {value:?}}}\n", serde_json::to_string(series).unwrap())
        })
        .collect();
    let external: Vec<String> = EXTERNAL.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
    format!(
        "rule_files: [r.yml]\ntests:\n- interval: 1m\n  external_labels: {{{}}}\n  external_url: http://h.example:9/base\n  input_series:\n{series}  alert_rule_test:\n  - {{eval_time: 0m, alertname: A, exp_alerts: []}}\n",
        external.join(", ")
    )
}

/// Annotations of each alert, by its label `i` and the annotation's name.
type Rendered = BTreeMap<(String, String), String>;

fn own(rules_text: &str) -> Rendered {
    let file = RuleFile::parse(rules_text).unwrap();
    let mut store = Store::new(Caps::default());
    for (series, value) in SERIES.iter().map(|(_, series, value)| (*series, *value)).chain(QUERIED.iter().copied()) {
        let (labels, _) = pilothouse::alert::series::parse_series(&format!("{series} 0")).unwrap();
        store.append(&labels, 0, value).unwrap();
    }
    let mut group = Group::new(file.groups[0].clone(), 60_000);
    let (external_labels, limits) = (Labels::from_pairs(EXTERNAL.iter().copied()), Limits::default());
    group.step(&mut store, 0, &Context { external_labels: &external_labels, external_url: "http://h.example:9/base", limits: &limits });
    let alerts = group.alerts(0).map(|alert| (alert.labels.get("i").unwrap().to_owned(), alert.annotations.clone()));
    alerts.flat_map(|(i, pairs)| pairs.into_iter().map(move |(name, text)| ((i.clone(), name), text))).collect()
}

fn peers(directory: &Path) -> Rendered {
    let output = promtool(&["test", "rules", "t.yml"], directory);
    let said = String::from_utf8(output.stderr).unwrap();
    let mut rendered = Rendered::new();
    let mut i = String::new();
    for line in said.lines().map(str::trim_start) {
        if let Some(labels) = line.strip_prefix("Labels:") {
            i = pairs(labels).remove("i").unwrap_or_default();
        } else if let Some(annotations) = line.strip_prefix("Annotations:") {
            rendered.extend(pairs(annotations).into_iter().map(|(name, text)| ((i.clone(), name), text)));
        }
    }
    assert!(!rendered.is_empty(), "{said}");
    rendered
}

/// `{a="b", c="d"}`, quoted as Go quotes.
fn pairs(text: &str) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    let mut rest = text.trim_start_matches('{');
    while let Some((name, behind)) = rest.split_once("=\"") {
        let mut value = Vec::new();
        let mut chars = behind.char_indices();
        let mut end = behind.len();
        while let Some((at, c)) = chars.next() {
            let code = |digits: usize| u32::from_str_radix(&behind[at + 2..at + 2 + digits], 16).unwrap();
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => {
                    let (_, escape) = chars.next().unwrap();
                    let (code, digits) = match escape {
                        'n' => (10, 0),
                        't' => (9, 0),
                        'r' => (13, 0),
                        'a' => (7, 0),
                        'b' => (8, 0),
                        'f' => (12, 0),
                        'v' => (11, 0),
                        'x' => (code(2), 2),
                        'u' => (code(4), 4),
                        'U' => (code(8), 8),
                        other => (other as u32, 0),
                    };
                    if escape == 'x' {
                        value.push(code as u8);
                    } else {
                        value.extend(char::from_u32(code).unwrap().to_string().bytes());
                    }
                    for _ in 0..digits {
                        chars.next();
                    }
                }
                c => value.extend(c.to_string().bytes()),
            }
        }
        pairs.insert(name.trim_start_matches([',', ' ']).to_owned(), String::from_utf8_lossy(&value).into_owned());
        rest = &behind[end..];
    }
    pairs
}

/// Names of the annotations that promtool can't read.
fn unreadable(directory: &Path) -> Vec<String> {
    let said = String::from_utf8(promtool(&["check", "rules", "--lint=none", "r.yml"], directory).stderr).unwrap();
    let name = |line: &str| line.split_once("annotation \"").and_then(|(_, rest)| rest.split_once('"')).map(|(name, _)| name.to_owned());
    said.lines().filter_map(name).collect()
}

/// Whether both gave the same, or both an error, whose words may differ.
fn is_same(own: &str, peer: &str) -> bool {
    const ERROR: &str = "<error expanding template:";
    // Prometheus 3 makes a number of a duration, and its Go ranges over numbers.
    let is_newer = ["can't convert time.Duration to float", "range can't iterate over"].iter().any(|error| peer.contains(error));
    // Addresses in memory and the inside of a time are nobody's business.
    let is_inside = ["0xc0", "c000", "C000", "8246"].iter().any(|address| peer.contains(address)) || own.contains("(*time.Time=");
    own == peer || own.starts_with(ERROR) && peer.starts_with(ERROR) || is_newer || is_inside
}

#[test]
#[ignore = "needs promtool"]
fn templates_are_rendered_as_promtool_renders_them() {
    // A longer search is asked for by the variable.
    let count: usize = std::env::var("PILOTHOUSE_PEER_TEMPLATES").ok().map_or(TEMPLATES, |count| count.parse().unwrap());
    let mut maker = Maker { random: Random::new(20_250_801), variables: Vec::new(), ranges: 0, is_apart: false };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.yml"), test_file()).unwrap();
    let (mut differ, mut rendered, mut unread, mut errors) = (Vec::new(), 0, 0, 0);
    for chunk in 0..count.div_ceil(TEMPLATES_EACH) {
        let templates: BTreeMap<String, String> = (0..TEMPLATES_EACH).map(|i| (format!("a{chunk}_{i}"), maker.template())).collect();
        std::fs::write(dir.path().join("r.yml"), rules(&templates)).unwrap();
        let refused = unreadable(dir.path());
        let mut good = BTreeMap::new();
        for (name, text) in templates {
            let error = pilothouse::alert::template::Template::for_alert("A", &text).err();
            match (error, refused.contains(&name)) {
                (None, false) => drop(good.insert(name, text)),
                (Some(_), true) => unread += 1,
                (Some(error), false) => differ.push(format!("{text:?}\n  is refused by us: {error}")),
                (None, true) => differ.push(format!("{text:?}\n  is refused by promtool")),
            }
        }
        let text = rules(&good);
        std::fs::write(dir.path().join("r.yml"), &text).unwrap();
        let (own, peers) = (own(&text), peers(dir.path()));
        for (key, peer) in &peers {
            rendered += 1;
            errors += usize::from(peer.starts_with("<error"));
            if !is_same(&own[key], peer) {
                differ.push(format!("{:?}\n  of series {}\n  own:  {:?}\n  peer: {peer:?}", good[&key.1], key.0, own[key]));
            }
        }
    }
    eprintln!("{rendered} rendered, {errors} of them errors, {unread} templates can't be read, {} differ", differ.len());
    differ.sort_by_key(String::len);
    // Of a template one series is enough.
    let mut seen = std::collections::BTreeSet::new();
    differ.retain(|text| seen.insert(text.lines().next().unwrap_or_default().to_owned()));
    assert!(differ.is_empty(), "{}", differ.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}
