//! What Prometheus says of texts, values of the pitfalls that everybody meets, caps, and texts at random.

use super::*;
use crate::metrics::{METRIC_NAME, stale};
use proptest::prelude::*;

fn message(text: &str) -> String {
    Query::parse(text).expect_err(text).message
}

fn store(lines: &[(&str, i64)]) -> Store {
    let mut store = Store::default();
    for (line, step_ms) in lines {
        let (labels, values) = crate::alert::series::parse_series(line).unwrap();
        for (i, value) in values.iter().enumerate() {
            if let crate::alert::series::SeriesValue::Number(value) = value {
                store.append(&labels, i as i64 * step_ms, *value).unwrap();
            }
        }
    }
    store
}

fn values(store: &Store, text: &str, at_ms: i64) -> Vec<f64> {
    match Query::parse(text).unwrap().instant(store, at_ms, &Limits::default()).unwrap().value {
        Value::Scalar(value) => vec![value],
        Value::Vector(samples) => samples.iter().map(|s| s.value).collect(),
        other => panic!("{other:?}"),
    }
}

fn names(store: &Store, text: &str) -> Vec<String> {
    let Value::Vector(samples) = Query::parse(text).unwrap().instant(store, 300_000, &Limits::default()).unwrap().value else { panic!() };
    samples.iter().map(|s| s.labels.to_string()).collect()
}

fn failure(store: &Store, text: &str) -> String {
    Query::parse(text).unwrap().instant(store, 0, &Limits::default()).unwrap_err().message
}

#[test]
fn errors_are_worded_and_placed_as_prometheus_does() {
    let cases = [
        ("", "unknown position: parse error: no expression found in input"),
        ("1+", "1:3: parse error: unexpected end of input"),
        ("*test", "1:1: parse error: unexpected <op:*>"),
        (
            "1 offset 1d",
            "1:1: parse error: offset modifier must be preceded by an instant vector selector or range vector selector or a subquery",
        ),
        ("foo offset 1s offset 2s", "1:1: parse error: offset may not be set multiple times"),
        ("a - on(b) ignoring(c) d", "1:11: parse error: unexpected <ignoring>"),
        ("((1)", "1:5: parse error: unclosed left parenthesis"),
        ("(1))", "1:4: parse error: unexpected right parenthesis ')'"),
        ("1 and 1", "1:1: parse error: set operator \"and\" not allowed in binary scalar expression"),
        ("1 == 1", "1:3: parse error: comparisons between scalars must use BOOL modifier"),
        ("a + bool b", "1:3: parse error: bool modifier can only be used on comparison operators"),
        ("a + group_left b", "1:5: parse error: unexpected <group_left>"),
        ("rate(a)", "1:6: parse error: expected type range vector in call to function \"rate\", got instant vector"),
        ("sum(a[5m])", "1:5: parse error: expected type instant vector in aggregation expression, got range vector"),
        ("topk(a, b)", "1:6: parse error: expected type scalar in aggregation parameter, got instant vector"),
        ("nope(a)", "1:1: parse error: unknown function with name \"nope\""),
        ("floor()", "1:1: parse error: expected 1 argument(s) in call to \"floor\", got 0"),
        ("hour(a, b)", "1:1: parse error: expected at most 1 argument(s) in call to \"hour\", got 2"),
        ("label_join()", "1:1: parse error: expected at least 3 argument(s) in call to \"label_join\", got 0"),
        ("sum()", "1:1: parse error: no arguments for aggregate expression provided"),
        ("topk(a)", "1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, got 1"),
        ("sum(a b)", "1:7: parse error: unexpected identifier \"b\" in aggregation"),
        ("sum by a (b)", "1:8: parse error: unexpected identifier \"a\" in grouping opts, expected \"(\""),
        ("a}", "1:2: parse error: unexpected character: '}'"),
        ("a @ -Inf", "1:1: parse error: timestamp out of bounds for @ modifier: -Inf"),
        ("1e999", "1:1: parse error: bad number or duration syntax: \"1e999\""),
        ("{}", "1:1: parse error: vector selector must contain at least one non-empty matcher"),
        ("{x=\"\"}", "1:1: parse error: vector selector must contain at least one non-empty matcher"),
        ("foo{__name__=\"bar\"}", "1:1: parse error: metric name must not be set twice: \"foo\" or \"bar\""),
        ("foo{gibberish}", "1:14: parse error: unexpected \"}\" in label matching, expected label matching operator"),
        ("foo{1}", "1:5: parse error: unexpected character inside braces: '1'"),
        ("foo{a=b}", "1:7: parse error: unexpected identifier \"b\" in label matching, expected string"),
        ("foo[5m", "1:7: parse error: unclosed left bracket"),
        ("(a)[5m]", "1:4: parse error: ranges only allowed for vector selectors"),
        ("a[0m]", "1:3: parse error: duration must be greater than 0"),
        ("rate(a[5m])[5m]", "1:12: parse error: ranges only allowed for vector selectors"),
        ("a[5m][5m:]", "1:1: parse error: subquery is only allowed on instant vector, got matrix instead"),
        ("-\"x\"", "1:1: parse error: unary expression only allowed on expressions of type scalar or instant vector, got \"string\""),
        ("a\n  + +", "2:6: parse error: unexpected end of input"),
        ("a @ start()  @ 5", "1:1: parse error: @ <timestamp> may not be set multiple times"),
        ("a + on(x) group_left(x) b", "1:3: parse error: label \"x\" must not occur in ON and GROUP clause at once"),
        ("a and on(x) group_left() b", "1:1: parse error: no grouping allowed for \"and\" operation"),
        ("\"a", "1:1: parse error: unterminated quoted string"),
        ("rate(a[5m],)", "1:11: parse error: trailing commas not allowed in function call args"),
        ("a smoothed anchored", "1:1: parse error: anchored and smoothed modifiers cannot be used together"),
        ("a[5m:] smoothed", "1:1: parse error: smoothed modifier is not supported for subqueries"),
        ("(a) anchored", "1:1: parse error: anchored modifier not implemented"),
    ];
    for (text, wanted) in cases {
        assert_eq!(message(text), wanted, "{text}");
    }
    assert!(message("a{b=~\"(\"}").starts_with("1:3: parse error: error parsing regexp: "));
}

#[test]
fn texts_of_prometheus_three_are_read() {
    let texts = [
        "x[1h+30m]",
        "x[10]",
        "x[0.5]",
        "rate(x[(1m + step()) * 2])",
        "{\"foo.bar\", \"a b\"=\"c\"}",
        "sum by (\"a.b\", on, group_left, sum, bool) (x)",
        "0xFF + 1_000 + 0755 + 1e3 + Inf + NaN",
        "\"\\377\\x41\"",
        "sum(a) by (b) + on () group_left avg without (c,) (d)",
        "offset + by + without + and + or + start + end",
        "x offset -5m @ -3.5",
        "x @ end() offset 5m",
        "a + fill_left(-1) fill_right(2) b",
        "# comment\n1 # more",
        "SUM BY(a) (X) AND ON(c) Y",
        "5m + 30",
        "min_over_time(x[5m:])[1h:1m]",
    ];
    for text in texts {
        assert!(Query::parse(text).is_ok(), "{text}: {}", message(text));
    }
}

#[test]
fn operators_bind_as_in_prometheus() {
    let store = Store::default();
    for (text, value) in
        [("-2^2", -4.0), ("2^3^2", 512.0), ("-7%3", -1.0), ("2*3+4^-1", 6.25), ("1-2-3", -4.0), ("8/4/2", 1.0), ("2^-1*4", 2.0)]
    {
        assert_eq!(values(&store, text, 0), [value], "{text}");
    }
}

#[test]
fn rates_reach_to_the_windows_edges() {
    let minute = 60_000;
    let grows = store(&[("a 0+10x10", minute), ("r 10 20 5 15 25", minute)]);
    assert_eq!(values(&grows, "increase(a[5m])", 330_000), [50.0]);
    assert!((values(&grows, "rate(a[5m])", 330_000)[0] - 50.0 / 300.0).abs() < 1e-12);
    assert_eq!(values(&grows, "increase(r[5m])", 270_000), [43.75]);
    // The left edge is not in the window.
    assert_eq!(values(&grows, "count_over_time(a[5m])", 300_000), [5.0]);
}

#[test]
fn names_go_at_once_unless_told_otherwise() {
    let two = store(&[("a 1", 60_000), ("b 2", 60_000)]);
    assert_eq!(failure(&two, "-{__name__=~\"a|b\"}"), "vector cannot contain metrics with the same labelset");
    let late = Limits { delayed_name_removal: true, ..Limits::default() };
    let counted = Query::parse("sum by (x) (abs({__name__=~\"a|b\"}))").unwrap().instant(&two, 0, &late).unwrap();
    assert_eq!(counted.value, Value::Vector(vec![VectorSample { labels: Labels::default(), value: 3.0 }]));
    let one = store(&[("a{x=\"1\"} 5", 60_000)]);
    for (text, wanted) in
        [("a > 1", "a{x=\"1\"}"), ("a > bool 1", "{x=\"1\"}"), ("last_over_time(a[10m])", "a{x=\"1\"}"), ("a * 1", "{x=\"1\"}")]
    {
        let Value::Vector(samples) = Query::parse(text).unwrap().instant(&one, 0, &Limits::default()).unwrap().value else { panic!() };
        assert_eq!(samples[0].labels.to_string(), wanted, "{text}");
    }
}

#[test]
fn a_stale_marker_ends_a_selector_and_no_window() {
    let mut ends = store(&[("a 1 2", 60_000)]);
    ends.append(&Labels::from_pairs([(METRIC_NAME, "a")]), 120_000, stale()).unwrap();
    assert!(values(&ends, "a", 119_999).len() == 1 && values(&ends, "a", 120_000).is_empty());
    assert_eq!(values(&ends, "sum_over_time(a[5m])", 121_000), [3.0]);
    // A point serves five minutes, and no longer.
    let once = store(&[("a 1", 60_000)]);
    assert!(values(&once, "a", 299_999).len() == 1 && values(&once, "a", 300_000).is_empty());
}

#[test]
fn matching_fails_in_prometheus_words() {
    let many = store(&[("a{x=\"1\",y=\"1\"} 1", 1), ("a{x=\"1\",y=\"2\"} 1", 1), ("b{x=\"1\"} 1", 1), ("b{x=\"1\",z=\"1\"} 1", 1)]);
    assert_eq!(
        failure(&many, "b{z=\"1\"} * on(x) a"),
        "found duplicate series for the match group {x=\"1\"} on the right hand-side of the operation: \
         [{__name__=\"a\", x=\"1\", y=\"1\"}, {__name__=\"a\", x=\"1\", y=\"2\"}];\
         many-to-many matching not allowed: matching labels must be unique on one side"
    );
    assert_eq!(
        failure(&many, "a * on(x) b{z=\"1\"}"),
        "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
    );
    assert_eq!(
        failure(&many, "a * on(x) group_left(y) b{z=\"1\"}"),
        "multiple matches for labels: grouping labels must ensure unique matches"
    );
    assert_eq!(names(&store(&[("m{a=\"1\"} 1", 1)]), "absent(n{a=\"1\",b=~\"x\",c=\"2\",c=\"3\"})"), ["{a=\"1\"}"]);
}

#[test]
fn remarks_say_what_and_where() {
    let store =
        store(&[("gauge 1 2 3", 60_000), ("h{le=\"1\"} 2 2 2", 60_000), ("h{le=\"x\"} 2 2 2", 60_000), ("h{le=\"+Inf\"} 1 1 1", 60_000)]);
    let said = |text: &str| {
        let evaluated = Query::parse(text).unwrap().instant(&store, 120_000, &Limits::default()).unwrap();
        [evaluated.warnings, evaluated.infos].concat()
    };
    assert_eq!(
        said("1 + rate(gauge[5m])"),
        ["PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: \"gauge\" (1:10)"]
    );
    assert_eq!(said("quantile(2, gauge)"), ["PromQL warning: quantile value should be between 0 and 1, got 2 (1:10)"]);
    let both = said("histogram_quantile(0.5, h)");
    assert_eq!(both[0], "PromQL warning: bucket label \"le\" is missing or has a malformed value of \"x\" for metric name \"h\" (1:25)");
    assert!(both[1].starts_with("PromQL info: input to histogram_quantile needed to be fixed for monotonicity"), "{both:?}");
}

#[test]
fn deep_and_long_texts_end_well_on_a_small_stack() {
    let on_small_stack = || {
        let store = store(&[("a 1 2 3", 60_000)]);
        let nested = |open: &str, inner: &str, close: &str, n: usize| format!("{}{inner}{}", open.repeat(n), close.repeat(n));
        for (open, close) in
            [("(", ")"), ("-", ""), ("abs(", ")"), ("sum(", ")"), ("1^", ""), ("a and (", ")"), ("-(", ")"), ("(((", ")))")]
        {
            let deep = nested(open, "a", close, 10_000);
            assert!(message(&deep).contains("nested deeper than 100 levels"), "{open}");
            // What is let through can be evaluated.
            let most = (1..=100).rev().map(|n| nested(open, "a", close, n)).find_map(|text| Query::parse(&text).ok());
            let _ = most.unwrap().instant(&store, 60_000, &Limits::default()).unwrap();
        }
        assert!(message(&format!("a{}", "[5m:1m]".repeat(10_000))).contains("nested deeper"));
        assert!(message(&format!("a[{}1m{}]", "(".repeat(10_000), ")".repeat(10_000))).contains("nested deeper"));
        assert!(message(&format!("a[{}1m]", "-".repeat(10_000))).contains("nested deeper"));
        let long = format!("a{}", " + a".repeat(20_000));
        assert_eq!(values(&store, &long, 60_000), [40_002.0]);
        assert!(message(&format!("a[1s{}]", "+1ms".repeat(20_000)).replace(']', "][")).contains("parse error"));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(on_small_stack).unwrap().join().unwrap();
}

#[test]
fn label_values_that_double_end_in_an_error() {
    let empty = Store::default();
    let nested = |from: &str, call: &dyn Fn(String) -> String| (0..40).fold(from.to_owned(), |inner, _| call(inner));
    let ten = r#"label_replace(vector(1), "a", "xxxxxxxxxx", "", "")"#;
    let replaced = nested(ten, &|inner| format!(r#"label_replace({inner}, "a", "${{1}}${{1}}", "a", "(.*)")"#));
    let joined = nested(ten, &|inner| format!(r#"label_join({inner}, "a", "", "a", "a")"#));
    for text in [replaced, joined] {
        assert_eq!(failure(&empty, &text), "label values of more than 32 MiB would be made");
    }
}

#[test]
fn what_prometheus_has_behind_a_switch_is_told() {
    let told = |text: &str| Query::parse(text).unwrap().experimental().map(|error| error.message);
    assert_eq!(told("sum(rate(a[5m])) > 1"), None);
    assert_eq!(told("1 + sum(mad_over_time(a[5m]))").unwrap(), "1:9: parse error: function \"mad_over_time\" is not enabled");
    assert!(told("limitk(2, a)").unwrap().starts_with("1:1: parse error: limitk() is experimental"));
}

#[test]
fn absent_goes_through_its_matchers_in_their_order() {
    let empty = Store::default();
    for (text, labels) in [
        (r#"absent(x{job!="b",job="a"})"#, r#"{job="a"}"#),
        (r#"absent(x{job="a",job!="b"})"#, "{}"),
        (r#"absent(x{job="a",job="b",foo="bar"})"#, r#"{foo="bar"}"#),
    ] {
        assert_eq!(names(&empty, text), [labels], "{text}");
    }
}

#[test]
fn what_would_cost_too_much_is_refused() {
    let store = store(&[("a 0+1x1000", 1000)]);
    let run = |text: &str, limits: Limits| Query::parse(text).unwrap().instant(&store, 900_000, &limits).unwrap_err().message;
    let too_many = "query processing would load too many samples into memory in query execution";
    assert_eq!(run("count_over_time(a[10y:1ms])", Limits::default()), too_many);
    assert_eq!(run("sum_over_time(a[10m])", Limits { samples_max: 100, ..Limits::default() }), too_many);
    let nested = "sum_over_time(sum_over_time(sum_over_time(a[1h:1s])[1h:1s])[1h:1s])";
    assert_eq!(run(nested, Limits { time_max: Duration::from_millis(50), ..Limits::default() }), "query timed out in query execution");
    assert!(Query::parse("a[300y]").is_err());
    let many = vec!["a"; 1000].join(" + ");
    assert_eq!(run(&many, Limits { samples_max: 900, ..Limits::default() }), too_many);
    for (open, item, close) in
        [("sum by (", "x,", "x) (a)"), ("a{", "x=\"1\",", "}"), ("label_join(", "a,", "a)"), ("a + on (", "x,", ") a")]
    {
        assert!(message(&format!("{open}{}{close}", item.repeat(2000))).contains("more than 1000 in one list"));
    }
    let pattern = ["a{x=~\"[\\\\pL\\\\pN]{40}\"}"; 100].join(" or ");
    assert!(message(&pattern).ends_with("error parsing regexp: too many expressions, or too large ones"));
    // A text that a function makes counts by its size.
    let large = format!("label_replace(a, \"x\", \"{}\", \"\", \"\")", "x".repeat(50_000));
    assert_eq!(run(&large, Limits { samples_max: 3_000, ..Limits::default() }), too_many);
    let range = Query::parse("a").unwrap().range(&store, 0, i64::MAX, 1, &Limits::default());
    assert!(range.unwrap_err().message.starts_with("exceeded maximum resolution of 11,000 points per timeseries."));
    assert!(Query::parse("a").unwrap().range(&store, 0, 10, 0, &Limits::default()).is_err());
}

#[test]
fn what_is_fixed_in_time_is_evaluated_once() {
    let store = store(&[("a 0+1x1000", 1000)]);
    // A thousand points once, and not at each of a thousand steps.
    let limits = Limits { samples_max: 20_000, ..Limits::default() };
    for text in [
        "sum(sum_over_time(a[16m] @ 900)) + time() * 0",
        "a * on () group_left max_over_time(sum_over_time(a[1m] @ 900)[5m:10s] @ 950)",
        "vector(time()) > scalar(sum_over_time((a)[16m:1s] @ end()))",
        "max_over_time(vector(time() + scalar(sum_over_time(a[16m] @ 900)))[1m:30s])",
    ] {
        let query = Query::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let answer = query.range(&store, 0, 999_000, 1000, &limits);
        assert!(answer.is_ok(), "{text}: {answer:?}");
    }
    let moving = Query::parse("sum(sum_over_time(a[16m]))").unwrap().range(&store, 0, 999_000, 1000, &limits);
    assert!(moving.is_err());
    // These look at the time of the evaluation, wherever their series are looked at.
    for text in
        ["predict_linear(a[5m] @ 900, 0)", "timestamp(timestamp(a @ 900))", "vector(time()) + on () a @ 900", "minute() + on () a @ 900"]
    {
        let Value::Matrix(rows) = Query::parse(text).unwrap().range(&store, 0, 600_000, 300_000, &limits).unwrap().value else { panic!() };
        assert!(rows[0].points[0].value < rows[0].points[1].value && rows[0].points[1].value < rows[0].points[2].value, "{text}: {rows:?}");
    }
}

/// Expressions of all kinds; many of them of wrong types.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b{x=~\"1|2\"}".to_owned()),
        Just("{__name__=~\".+\"}".to_owned()),
        Just("a[5m]".to_owned()),
        Just("b[3m] offset -1m".to_owned()),
        Just("a @ 60".to_owned()),
        Just("\"x\"".to_owned()),
        Just("time()".to_owned()),
        "-?[0-9]{1,4}(\\.[0-9])?".prop_map(|number| number),
    ];
    let functions = [
        "rate",
        "sum_over_time",
        "deriv",
        "abs",
        "sort_desc",
        "absent",
        "scalar",
        "vector",
        "hour",
        "timestamp",
        "changes",
        "irate",
        "holt_winters",
        "label_join",
        "quantile_over_time",
        "histogram_quantile",
        "histogram_fraction",
        "predict_linear",
        "clamp",
        "round",
        "label_replace",
        "info",
        "sort_by_label",
        "mad_over_time",
        "avg_over_time",
        "absent_over_time",
        "year",
    ];
    let operators = [
        "+",
        "-",
        "*",
        "/",
        "%",
        "^",
        "==",
        "> bool",
        "<",
        "and",
        "or",
        "unless",
        "atan2",
        "* on(x)",
        "+ ignoring(x) group_left(y)",
        "+ fill(1)",
    ];
    let aggregations =
        ["sum", "avg by (x)", "topk", "count_values", "quantile without (y)", "stddev", "limit_ratio", "limitk by (x)", "group"];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(operators.to_vec()), inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (prop::sample::select(functions.to_vec()), prop::collection::vec(inner.clone(), 0..5))
                .prop_map(|(name, args)| format!("{name}({})", args.join(", "))),
            (prop::sample::select(aggregations.to_vec()), prop::collection::vec(inner.clone(), 1..3))
                .prop_map(|(name, args)| format!("{name}({})", args.join(", "))),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.clone().prop_map(|a| format!("({a})[10m:1m] offset 30s")),
            inner.prop_map(|a| format!("sum_over_time({a}[5m:])")),
        ]
    })
}

fn try_all(text: &str) {
    let store = store(&[
        ("a{x=\"1\"} 1 2 NaN 4 -Inf stale 7 8 9 10", 60_000),
        ("a{x=\"2\",y=\"q\"} 5+1x8", 60_000),
        ("b{x=\"1\",le=\"1\"} 0+1x9", 60_000),
        ("b{x=\"1\",le=\"+Inf\"} 0+3x9", 60_000),
    ]);
    let limits = Limits { samples_max: 200_000, ..Limits::default() };
    match Query::parse(text) {
        Ok(query) => {
            let _ = (query.instant(&store, 500_000, &limits), query.range(&store, 0, 600_000, 77_000, &limits), query.conditions());
            let _ = (
                query.instant(&store, i64::MAX, &limits),
                query.instant(&store, i64::MIN, &limits),
                query.finds_series(&store, 0, &limits),
            );
        }
        Err(error) => assert!(error.message.contains("parse error") && error.offset.is_none_or(|at| at <= text.len()), "{error:?}"),
    }
}

proptest! {
    #[test]
    fn no_expression_ends_in_a_panic(text in expression()) {
        try_all(&text);
    }

    #[test]
    fn no_words_end_in_a_panic(words in prop::collection::vec("[a-z]{1,3}|[0-9]{1,3}[smhdwyx]{0,2}|[-+*/%^(){}\\[\\],:@=!~<>\"'`\\\\#. ]|offset|sum|by|or|\\PC", 0..24)) {
        try_all(&words.join(" "));
        try_all(&words.concat());
    }
}

/// What promql-parser, a port of Prometheus' own grammar, does not read or reads otherwise.
const UNKNOWN_TO_THE_OTHER: [&str; 3] = ["info(", "histogram_fraction", "holt_winters"];

proptest! {
    /// A parser by others takes for an expression what is taken for one here. (The other way it is laxer: it checks fewer types.)
    #[test]
    fn another_parser_reads_what_is_read_here(text in expression()) {
        prop_assume!(!UNKNOWN_TO_THE_OTHER.iter().any(|word| text.contains(word)));
        let (own, other) = (Query::parse(&text).map(|_| ()), promql_parser::parser::parse(&text).map(|_| ()));
        prop_assert!(own.is_err() || other.is_ok(), "{}: {:?}", text, other);
    }
}
