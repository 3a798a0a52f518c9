//! A rule file as Prometheus has it.

use super::error::RuleError;
use super::fields::Reader;
use crate::alert::promql::Query;
use crate::alert::template::Template;
use crate::alert::yaml::{Document, Node};
use crate::event::RuleKind;
use crate::metrics::METRIC_NAME;
use std::collections::HashSet;

const FILE_FIELDS: [&str; 1] = ["groups"];
const GROUP_FIELDS: [&str; 6] = ["name", "interval", "query_offset", "limit", "labels", "rules"];
const RULE_FIELDS: [&str; 7] = ["record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations"];

/// A file that was read and found right.
#[derive(Clone, Debug, Default)]
pub struct RuleFile {
    pub groups: Vec<RuleGroup>,
}

/// Rules that are evaluated one after the other, at one interval.
#[derive(Clone, Debug)]
pub struct RuleGroup {
    pub name: String,
    /// Unset: the default of whoever evaluates it.
    pub interval_ms: Option<i64>,
    /// How far back its expressions are asked.
    pub query_offset_ms: i64,
    /// Series that a recording rule may make, or alerts that an alerting rule may have; 0 is no limit.
    pub limit: usize,
    /// Of all its rules, where a rule has none of that name.
    pub labels: Vec<(String, String)>,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub kind: RuleKind,
    /// The alert's name, or the recorded series'.
    pub name: String,
    pub query: Query,
    pub for_ms: i64,
    pub keep_firing_for_ms: i64,
    /// Values are templates in alerting rules. In the order of their names.
    pub labels: Vec<(String, String)>,
    pub annotations: Vec<(String, String)>,
}

impl Rule {
    /// Whether alerts of the one are alerts of the other: what is said of them may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name && self.query.text() == other.query.text() && self.labels == other.labels
    }
}

impl RuleFile {
    /// Everything that promtool's check would find.
    pub fn parse(text: &str) -> Result<Self, Vec<RuleError>> {
        let document = Document::parse(text).map_err(|error| vec![error.into()])?;
        let mut reader = Reader::new(&document);
        let file = read_file(&mut reader);
        if reader.errors.is_empty() { Ok(file) } else { Err(reader.errors) }
    }

    pub fn rules_count(&self) -> usize {
        self.groups.iter().map(|group| group.rules.len()).sum()
    }
}

fn read_file(reader: &mut Reader<'_>) -> RuleFile {
    let document = reader.document;
    let fields = reader.fields(&document.root, "rulefmt.RuleGroups", &FILE_FIELDS);
    let mut names = HashSet::new();
    let mut groups = Vec::new();
    for node in reader.items(fields.get("groups"), "[]rulefmt.RuleGroup") {
        let group = read_group(reader, node);
        if group.name.is_empty() {
            reader.refuse(node, "Groupname must not be empty".into());
        } else if !names.insert(group.name.clone()) {
            reader.refuse(node, format!("groupname: \"{}\" is repeated in the same file", group.name));
        }
        groups.push(group);
    }
    RuleFile { groups }
}

fn read_group<'d>(reader: &mut Reader<'d>, node: &'d Node) -> RuleGroup {
    let fields = reader.fields(node, "rulefmt.RuleGroup", &GROUP_FIELDS);
    let mut group = RuleGroup {
        name: reader.text(fields.get("name")),
        interval_ms: reader.duration_ms(fields.get("interval")).filter(|ms| *ms > 0),
        query_offset_ms: reader.duration_ms(fields.get("query_offset")).unwrap_or(0),
        limit: usize::try_from(reader.integer(fields.get("limit")).unwrap_or(0)).unwrap_or(0),
        labels: reader.map(fields.get("labels")),
        rules: Vec::new(),
    };
    if let Some(labels) = fields.get("labels") {
        refuse_labels(reader, labels, &group.labels);
    }
    for (i, node) in reader.items(fields.get("rules"), "[]rulefmt.RuleNode").iter().enumerate() {
        let known = reader.errors.len();
        let (name, rule) = read_rule(reader, node);
        for error in &mut reader.errors[known..] {
            error.group = Some(group.name.clone());
            error.rule = Some((i + 1, name.clone()));
        }
        group.rules.extend(rule);
    }
    group
}

/// Name and rule; no rule where its expression can't be read.
fn read_rule<'d>(reader: &mut Reader<'d>, node: &'d Node) -> (String, Option<Rule>) {
    let fields = reader.fields(node, "rulefmt.RuleNode", &RULE_FIELDS);
    let place_of = |name| fields.get(name).unwrap_or(node);
    let (record, alert, expr) = (reader.text(fields.get("record")), reader.text(fields.get("alert")), reader.text(fields.get("expr")));
    match (record.is_empty(), alert.is_empty()) {
        (false, false) => reader.refuse(place_of("record"), "only one of 'record' and 'alert' must be set".into()),
        (true, true) => reader.refuse(node, "one of 'record' or 'alert' must be set".into()),
        (true, false) | (false, true) => {}
    }
    let (kind, name) = if alert.is_empty() { (RuleKind::Record, record) } else { (RuleKind::Alert, alert) };
    let query = if expr.is_empty() {
        reader.refuse(place_of("expr"), "field 'expr' must be set in rule".into());
        None
    } else {
        // What runs here is to run in an unconfigured Prometheus, too.
        let parsed = Query::parse(&expr).and_then(|query| query.experimental().map_or(Ok(query), Err));
        parsed.map_err(|error| reader.refuse(place_of("expr"), format!("could not parse expression: {error}"))).ok()
    };
    let labels = reader.map(fields.get("labels"));
    let annotations = reader.map(fields.get("annotations"));
    let for_ms = reader.duration_ms(fields.get("for")).unwrap_or(0);
    let keep_firing_for_ms = reader.duration_ms(fields.get("keep_firing_for")).unwrap_or(0);
    if kind == RuleKind::Record && !name.is_empty() {
        let wrong = [("annotations", !annotations.is_empty()), ("for", for_ms != 0), ("keep_firing_for", keep_firing_for_ms != 0)];
        for (field, _) in wrong.iter().filter(|(_, is_set)| *is_set) {
            reader.refuse(place_of(field), format!("invalid field '{field}' in recording rule"));
        }
        if !is_metric_name(&name) {
            reader.refuse(place_of("record"), format!("invalid recording rule name: {name}"));
        }
    }
    refuse_labels(reader, place_of("labels"), &labels);
    for (annotation, _) in annotations.iter().filter(|(annotation, _)| !is_label_name(annotation)) {
        reader.refuse(place_of("annotations"), format!("invalid annotation name: {annotation}"));
    }
    if kind == RuleKind::Alert {
        for (what, place, pairs) in [("label", "labels", &labels), ("annotation", "annotations", &annotations)] {
            for (own, text) in pairs {
                if let Err(error) = Template::for_alert(&name, text) {
                    reader.refuse(place_of(place), format!("{what} {own:?}: {error}"));
                }
            }
        }
    }
    let rule = query.map(|query| Rule { kind, name: name.clone(), query, for_ms, keep_firing_for_ms, labels, annotations });
    (name, rule)
}

fn refuse_labels(reader: &mut Reader<'_>, place: &Node, labels: &[(String, String)]) {
    for (name, _) in labels.iter().filter(|(name, _)| !is_label_name(name) || name == METRIC_NAME) {
        reader.refuse(place, format!("invalid label name: {name}"));
    }
}

/// Names as Prometheus had them before UTF-8: 2.42 refuses others, Prometheus 3 takes them. Refused here, because a label that Prometheus 2 and the tools
/// around it can't take makes a file that works in one place only.
pub fn is_label_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

pub fn is_metric_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b == b':')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each place is looked for by a walk through the file: of very many faults only the first are.
    #[test]
    fn a_file_of_nothing_but_faults_ends_soon() {
        let unknown: String = (0..60_000).map(|i| format!("f{i}: 1\n")).collect();
        assert_eq!(RuleFile::parse(&unknown).unwrap_err().len(), 50);
        let mistyped = format!("groups:\n{}", "- 5\n".repeat(60_000));
        assert_eq!(RuleFile::parse(&mistyped).unwrap_err().len(), 50);
    }

    #[test]
    fn a_limit_is_read_as_prometheus_reads_it() {
        let limit = |text: &str| {
            let file = RuleFile::parse(&format!("groups: [{{name: g, limit: {text}, rules: []}}]"));
            file.map(|file| file.groups[0].limit).map_err(|errors| errors[0].to_string())
        };
        assert_eq!((limit("5"), limit("1e3"), limit("1.5"), limit("0x10"), limit("-1")), (Ok(5), Ok(1_000), Ok(1), Ok(16), Ok(0)));
        assert!(limit("'5'").is_err() && limit(".inf").is_err() && limit("99999999999999999999").is_err());
    }
}
