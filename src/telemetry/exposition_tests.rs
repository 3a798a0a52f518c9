use super::*;
use proptest::prelude::*;
use std::fmt::Write as _;

fn read(text: &str, dialect: Dialect) -> Result<Vec<Sample>, String> {
    let mut samples = Vec::new();
    parse(text.as_bytes(), dialect, &Caps::default(), |sample| samples.push(sample)).map_err(|fault| fault.to_string())?;
    Ok(samples)
}

fn text(text: &str) -> Vec<Sample> {
    read(text, Dialect::Text004).unwrap_or_else(|fault| panic!("{text:?}: {fault}"))
}

fn fault(text: &str) -> String {
    read(text, Dialect::Text004).expect_err(text)
}

fn sample(name: &str, labels: &[(&str, &str)], value: f64, at_ms: Option<i64>) -> Sample {
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Sample { name: name.to_owned(), labels, value, at_ms }
}

#[test]
fn what_crates_lose_is_read() {
    for (line, expected) in [
        ("a 1", sample("a", &[], 1.0, None)),
        ("vllm:num_requests_running{model=\"x\"} 3", sample("vllm:num_requests_running", &[("model", "x")], 3.0, None)),
        ("a{} 1", sample("a", &[], 1.0, None)),
        ("a{b=\"c\",} 1", sample("a", &[("b", "c")], 1.0, None)),
        ("a {  b = \"c\" , d=\"\" } \t 1 ", sample("a", &[("b", "c")], 1.0, None)),
        (r#"a{b="{x=1,y}",c="=\"\\n\n"} 1"#, sample("a", &[("b", "{x=1,y}"), ("c", "=\"\\n\n")], 1.0, None)),
        (r#"a{b="\q"} 1"#, sample("a", &[("b", "\\q")], 1.0, None)),
        ("a{b=\"two\nlines\"} 1", sample("a", &[("b", "two\nlines")], 1.0, None)),
        ("a{b=\"# HELP\"} 1 # no comment", sample("", &[], 0.0, None)),
        (r#"{"a.b", x="y"} 1"#, sample("a.b", &[("x", "y")], 1.0, None)),
        (r#"{x="y", "a b"} 1"#, sample("a b", &[("x", "y")], 1.0, None)),
        (r#"a{"b.c"="ü"} 1"#, sample("a", &[("b.c", "ü")], 1.0, None)),
        ("a 1 1700000000123", sample("a", &[], 1.0, Some(1_700_000_000_123))),
        ("a 1 -5", sample("a", &[], 1.0, Some(-5))),
        ("a +Inf", sample("a", &[], f64::INFINITY, None)),
        ("a -inf", sample("a", &[], f64::NEG_INFINITY, None)),
        ("a 1e-05", sample("a", &[], 1e-5, None)),
        ("\t a .5", sample("a", &[], 0.5, None)),
    ] {
        if expected.name.is_empty() {
            // Text behind a sample is a timestamp that is none.
            assert!(fault(line).contains("no timestamp"));
            continue;
        }
        assert_eq!(text(line), vec![expected.clone()], "{line}");
        assert_eq!(text(&format!("# HELP a b\n\n# TYPE a gauge\n{line}\n# any\n#\n")), vec![expected], "{line}");
    }
    assert!(text("a NaN")[0].value.is_nan());
    assert!(text("").is_empty() && text("\n \n").is_empty());
}

#[test]
fn a_line_that_can_t_be_read_is_told_with_its_number() {
    for (line, words) in [
        ("a", "a value is missing: the line ends here"),
        ("a{b=\"c\" 1", "`,` or `}` should stand where `1` is"),
        ("a{b=c} 1", "the value of label `b` in quotes should stand where `c` is"),
        ("a{b} 1", "`=` behind label `b` should stand where `}` is"),
        ("a{,} 1", "the name of a label should stand where `,` is"),
        ("a{b=\"c\",b=\"d\"} 1", "label `b` stands twice"),
        ("a{0=\"c\"} 1", "the name of a label"),
        ("{b=\"c\"} 1", "the name of a metric"),
        ("{} 1", "the name of a metric"),
        ("0a 1", "begins with a digit"),
        ("a 1 2 3", "the end of the line should stand where `3` is"),
        ("a 1 2.5", "`2.5` is no timestamp in milliseconds"),
        ("a x", "`x` is no value"),
        ("a 0x1p4", "`0x1p4` is no value"),
        ("a 1_000", "`1_000` is no value"),
        ("a 1e999", "`1e999` is no value"),
        ("a -nan", "`-nan` is no value"),
        ("a 1\r", "carriage return"),
        ("# TYPE a thing", "`thing` is no type of a metric"),
        ("# HELP 0", "should stand behind # HELP"),
        ("\"a\" 1", "the name of a metric should stand where `\"` is"),
        ("a{\"x\"} 1", "`=` behind label `x`"),
        ("é 1", "should stand where `é` is"),
    ] {
        let found = fault(&format!("ok 1\nok{{a=\"two\nlines\"}} 2\n{line}\nok 1\n"));
        assert!(found.starts_with("line 4: ") && found.contains(words), "{line:?}: {found}");
    }
    assert!(fault("a 1\na{b=\"").starts_with("line 2: a quote is not closed"));
    let found = parse(b"a 1\na{b=\"\xff\"} 1\n", Dialect::Text004, &Caps::default(), |_| {}).unwrap_err();
    assert_eq!(found.to_string(), "line 2: it is not text in UTF-8");
}

#[test]
fn open_metrics_has_seconds_exemplars_and_an_end() {
    let read = |text: &str| read(text, Dialect::OpenMetrics);
    let whole = "# TYPE a counter\n# UNIT a seconds\n# HELP a \"b\nb\n";
    assert!(read(whole).is_err());
    let text = "# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds Text.\na_seconds_total{b=\"c\"} 5 1700000000.123 # {trace_id=\"x,}# \"} 0.5 1.7e9\na_seconds_created{b=\"c\"} 1.7e9\nb_bucket{le=\"+Inf\"} 3 # {} 1\nc 1\n# EOF\n";
    let samples = read(text).unwrap();
    assert_eq!(samples[0], sample("a_seconds_total", &[("b", "c")], 5.0, Some(1_700_000_000_123)));
    assert_eq!(samples.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["a_seconds_total", "a_seconds_created", "b_bucket", "c"]);
    assert!(read("a 1\n# EOF").is_ok());
    for (text, words) in [
        ("a 1\n", "cut short"),
        ("a 1", "end of the line"),
        ("a 1\n# EOF\n\n", "behind `# EOF`"),
        ("a  1\n# EOF\n", "a value"),
        ("a 1\n\n# EOF\n", "empty"),
        ("# any\n# EOF\n", "only the comments"),
        ("a{b=\"two\nlines\"} 1\n# EOF\n", "quote is not closed"),
        ("a 1 # x\n# EOF\n", "labels of an exemplar"),
        ("a 1 NaN\n# EOF\n", "no timestamp in seconds"),
        ("# TYPE a untyped\n# EOF\n", "no type"),
    ] {
        let found = read(text).expect_err(text);
        assert!(found.contains(words), "{text:?}: {found}");
    }
}

#[test]
fn the_dialect_is_by_the_content_type() {
    let open = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(Dialect::of_content_type(Some(open)), Dialect::OpenMetrics);
    assert_eq!(Dialect::of_content_type(Some("text/plain; version=0.0.4")), Dialect::Text004);
    assert_eq!(Dialect::of_content_type(None), Dialect::Text004);
}

#[test]
fn caps_hold() {
    let caps = Caps { samples_max: 2, labels_max: 2, label_bytes_max: 4 };
    let found = |text: &str| parse(text.as_bytes(), Dialect::Text004, &caps, |_| {}).map_err(|fault| fault.to_string());
    assert_eq!(found("a 1\na 1\n"), Ok(()));
    assert_eq!(found("a 1\na 1\na 1\n"), Err("line 3: there are more than 2 samples".into()));
    assert_eq!(found("a{a=\"1\",b=\"1\"} 1"), Ok(()));
    assert!(found("a{a=\"1\",b=\"1\",c=\"1\"} 1").unwrap_err().contains("more than 2 labels"));
    assert!(found("a{a=\"12345\"} 1").unwrap_err().contains("longer than 4 bytes"));
    assert!(found("a{a=\"xxxxxxxxxxxxxxxxx").unwrap_err().contains("longer than 4 bytes") || found("a{a=\"x").is_err());
}

fn write(samples: &[Sample]) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    samples.iter().fold(String::new(), |mut out, sample| {
        let labels: Vec<String> =
            sample.labels.iter().map(|(name, value)| format!("\"{}\"=\"{}\"", escaped(name), escaped(value))).collect();
        let at = sample.at_ms.map(|at| format!(" {at}")).unwrap_or_default();
        let _ = writeln!(out, "{{\"{}\",{}}} {:e}{at}", escaped(&sample.name), labels.join(","), sample.value);
        out
    })
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let labels = proptest::collection::btree_map("[^\r]{1,8}", "[^\r]{1,12}", 0..4);
    (".{1,12}", labels, -1e300f64..1e300, proptest::option::of(any::<i64>())).prop_map(|(name, labels, value, at_ms)| Sample {
        name,
        labels: labels.into_iter().collect(),
        value,
        at_ms,
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(samples in proptest::collection::vec(any_sample(), 0..8)) {
        prop_assert_eq!(text(&write(&samples)), samples);
    }

    #[test]
    fn nothing_panics(text in r#"([a-z:]{0,3}|[{}=,"\\# \n\t\r]|[0-9.eE+-]{0,4}|\PC|# (TYPE|HELP|EOF|UNIT) ){0,60}"#) {
        let _ = read(&text, Dialect::Text004);
        let _ = read(&text, Dialect::OpenMetrics);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes, Dialect::Text004, &Caps::default(), |_| {});
        let _ = parse(&bytes, Dialect::OpenMetrics, &Caps::default(), |_| {});
    }
}
