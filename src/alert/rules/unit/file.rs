//! A test file as promtool has it.

use crate::alert::rules::RuleError;
use crate::alert::rules::fields::Reader;
use crate::alert::series::{SeriesValue, parse_metric, parse_series};
use crate::alert::yaml::{Document, Node};
use crate::metrics::Labels;

const FILE_FIELDS: [&str; 5] = ["rule_files", "evaluation_interval", "group_eval_order", "fuzzy_compare", "tests"];
const TEST_FIELDS: [&str; 8] =
    ["name", "interval", "input_series", "alert_rule_test", "promql_expr_test", "external_labels", "external_url", "start_timestamp"];
const MINUTE_MS: i64 = 60_000;

/// A file of tests. Times are milliseconds.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// As written: relative to the file, with wildcards.
    pub rule_files: Vec<String>,
    pub evaluation_interval_ms: i64,
    /// Groups that are evaluated first, in this order.
    pub group_eval_order: Vec<String>,
    /// Numbers need only be nearly the same.
    pub fuzzy_compare: bool,
    pub tests: Vec<TestGroup>,
}

/// Series, and what is asked of the rules over them.
#[derive(Clone, Debug)]
pub struct TestGroup {
    pub name: String,
    /// Between two values of a series.
    pub interval_ms: i64,
    pub series: Vec<(Labels, Vec<SeriesValue>)>,
    pub alerts: Vec<AlertTest>,
    pub expressions: Vec<ExprTest>,
    pub external_labels: Vec<(String, String)>,
    pub external_url: String,
    /// Time of the first value.
    pub start_ms: i64,
}

/// The alerts of one name that are to fire at a time, counted from the start.
#[derive(Clone, Debug)]
pub struct AlertTest {
    pub eval_ms: i64,
    pub alert: String,
    pub expected: Vec<ExpectedAlert>,
}

#[derive(Clone, Debug)]
pub struct ExpectedAlert {
    pub labels: Vec<(String, String)>,
    pub annotations: Vec<(String, String)>,
}

/// What an expression is to be at a time, counted from the start.
#[derive(Clone, Debug)]
pub struct ExprTest {
    pub expr: String,
    pub eval_ms: i64,
    pub expected: Vec<ExpectedSample>,
}

#[derive(Clone, Debug)]
pub struct ExpectedSample {
    pub labels: Labels,
    pub value: f64,
}

impl TestFile {
    pub fn parse(text: &str) -> Result<Self, Vec<RuleError>> {
        let document = Document::parse(text).map_err(|error| vec![error.into()])?;
        let mut reader = Reader::new(&document);
        let file = read_file(&mut reader);
        if reader.errors.is_empty() { Ok(file) } else { Err(reader.errors) }
    }
}

fn read_file(reader: &mut Reader<'_>) -> TestFile {
    let document = reader.document;
    let fields = reader.fields(&document.root, "main.unitTestFile", &FILE_FIELDS);
    let evaluation_interval_ms = reader.duration_ms(fields.get("evaluation_interval")).filter(|ms| *ms > 0).unwrap_or(MINUTE_MS);
    let mut file = TestFile {
        rule_files: reader.texts(fields.get("rule_files")),
        evaluation_interval_ms,
        group_eval_order: reader.texts(fields.get("group_eval_order")),
        fuzzy_compare: reader.boolean(fields.get("fuzzy_compare")),
        tests: Vec::new(),
    };
    for (i, name) in file.group_eval_order.iter().enumerate() {
        if file.group_eval_order[..i].contains(name) {
            let node = fields.get("group_eval_order").unwrap_or(&document.root);
            reader.refuse(node, format!("group name repeated in evaluation order: {name}"));
        }
    }
    for node in reader.items(fields.get("tests"), "[]main.testGroup") {
        let test = read_test(reader, node, evaluation_interval_ms);
        file.tests.push(test);
    }
    file
}

fn read_test<'d>(reader: &mut Reader<'d>, node: &'d Node, interval_ms: i64) -> TestGroup {
    let fields = reader.fields(node, "main.testGroup", &TEST_FIELDS);
    TestGroup {
        name: reader.text(fields.get("name")),
        interval_ms: reader.duration_ms(fields.get("interval")).filter(|ms| *ms > 0).unwrap_or(interval_ms),
        series: reader.items(fields.get("input_series"), "[]main.series").iter().filter_map(|node| read_series(reader, node)).collect(),
        alerts: reader.items(fields.get("alert_rule_test"), "[]main.alertTestCase").iter().map(|node| read_alerts(reader, node)).collect(),
        expressions: reader
            .items(fields.get("promql_expr_test"), "[]main.promqlTestCase")
            .iter()
            .map(|node| read_expr(reader, node))
            .collect(),
        external_labels: reader.map(fields.get("external_labels")),
        external_url: reader.text(fields.get("external_url")),
        start_ms: fields.get("start_timestamp").map_or(0, |node| read_time(reader, node)),
    }
}

/// Seconds since 1970, or RFC 3339.
fn read_time(reader: &mut Reader<'_>, node: &Node) -> i64 {
    let text = reader.text(Some(node));
    let seconds = text.parse::<f64>().ok().filter(|s| s.is_finite()).map(|seconds| (seconds * 1_000.0) as i64);
    let time = seconds.or_else(|| text.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond()));
    if time.is_none() {
        reader.refuse(node, format!("`{text}` is neither seconds since 1970 nor a time such as 2026-01-31T12:00:00Z"));
    }
    time.unwrap_or(0)
}

fn read_series<'d>(reader: &mut Reader<'d>, node: &'d Node) -> Option<(Labels, Vec<SeriesValue>)> {
    let fields = reader.fields(node, "main.series", &["series", "values"]);
    let (series, values) = (reader.text(fields.get("series")), reader.text(fields.get("values")));
    match parse_series(&format!("{series} {values}")) {
        Ok(read) => Some(read),
        Err(error) => {
            reader.refuse(fields.get("series").unwrap_or(node), format!("series {series}: {error}"));
            None
        }
    }
}

fn read_alerts<'d>(reader: &mut Reader<'d>, node: &'d Node) -> AlertTest {
    let fields = reader.fields(node, "main.alertTestCase", &["eval_time", "alertname", "exp_alerts"]);
    let expected = reader.items(fields.get("exp_alerts"), "[]main.alert").iter().map(|node| {
        let fields = reader.fields(node, "main.alert", &["exp_labels", "exp_annotations"]);
        ExpectedAlert { labels: reader.map(fields.get("exp_labels")), annotations: reader.map(fields.get("exp_annotations")) }
    });
    let expected = expected.collect();
    let alert = reader.text(fields.get("alertname"));
    if alert.is_empty() {
        reader.refuse(node, "an item under alert_rule_test misses required attribute alertname".into());
    }
    AlertTest { eval_ms: reader.duration_ms(fields.get("eval_time")).unwrap_or(0), alert, expected }
}

fn read_expr<'d>(reader: &mut Reader<'d>, node: &'d Node) -> ExprTest {
    let fields = reader.fields(node, "main.promqlTestCase", &["expr", "eval_time", "exp_samples"]);
    let mut expected = Vec::new();
    for node in reader.items(fields.get("exp_samples"), "[]main.sample") {
        let fields = reader.fields(node, "main.sample", &["labels", "value", "histogram"]);
        if let Some(histogram) = fields.get("histogram") {
            reader.refuse(histogram, "native histograms are not known here".into());
        }
        let text = reader.text(fields.get("labels"));
        let labels = if text.trim().is_empty() { Ok(Labels::default()) } else { parse_metric(&text) };
        let value = reader.float(fields.get("value")).unwrap_or(0.0);
        match labels {
            Ok(labels) => expected.push(ExpectedSample { labels, value }),
            Err(error) => reader.refuse(fields.get("labels").unwrap_or(node), format!("labels {text}: {error}")),
        }
    }
    ExprTest { expr: reader.text(fields.get("expr")), eval_ms: reader.duration_ms(fields.get("eval_time")).unwrap_or(0), expected }
}
