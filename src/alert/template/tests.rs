//! Templates as rules have them, beside what Go says of them.

use super::*;
use proptest::prelude::*;

fn expand(text: &str) -> Result<String, String> {
    let labels = Labels::from_pairs([("instance", "host-1.example:9100"), ("job", "a")]);
    let external = Labels::from_pairs([("cluster", "lab")]);
    let query = |text: &str| {
        let sample = |n: u32| VectorSample {
            labels: Labels::from_pairs([("__name__", "up".to_owned()), ("i", n.to_string())]),
            value: f64::from(n),
        };
        if text == "none" { Ok(Vec::new()) } else { Ok(vec![sample(2), sample(1)]) }
    };
    let scope = Scope {
        labels: &labels,
        external_labels: &external,
        external_url: "http://h:9/base",
        value: 1_234_567.0,
        at_ms: 5_000,
        query: &query,
    };
    Template::for_alert("A", text).and_then(|template| template.expand(&scope)).map_err(|error| error.0)
}

#[test]
fn templates_come_out_as_gos() {
    for (text, wanted) in [
        ("{{ $value }} of {{ $labels.instance }}", "1.234567e+06 of host-1.example:9100"),
        ("{{ $labels.none }}|{{ .Labels.job }}|{{ $externalLabels.cluster }}|{{ .ExternalURL }}", "|a|lab|http://h:9/base"),
        (
            "{{ $value | humanize }} {{ humanize1024 $value }} {{ 3661 | humanizeDuration }} {{ humanizePercentage 0.1234 }}",
            "1.235M 1.177Mi 1h 1m 1s 12.34%",
        ),
        (r#"{{ printf "%.2f|%5s|%q" $value "x" "y" }}"#, "1234567.00|    x|\"y\""),
        ("{{ if gt $value 5.0 }}high{{ else if eq 1 1 }}x{{ else }}low{{ end }}", "high"),
        ("{{ if and (gt $value 5.0) (not false) }}a{{ end }}{{ if or false \"\" }}b{{ end }}", "a"),
        ("a {{- /* none */ -}} b {{- \"c\" -}} d", "abcd"),
        ("{{ range query \"up\" }}{{ .Labels.i }}={{ .Value }} {{ end }}", "2=2 1=1 "),
        ("{{ range $i, $s := query \"up\" | sortByLabel \"i\" }}{{ $i }}:{{ $s | value }},{{ end }}", "0:1,1:2,"),
        ("{{ range query \"none\" }}x{{ else }}nothing{{ end }}", "nothing"),
        ("{{ with query \"up\" }}{{ . | first | label \"i\" }}{{ end }}", "2"),
        ("{{ range $k, $v := $labels }}{{ $k }}={{ $v }};{{ end }}", "instance=host-1.example:9100;job=a;"),
        ("{{ $x := 1 }}{{ range query \"up\" }}{{ $x = .Value }}{{ end }}{{ $x }}", "1"),
        ("{{ range query \"up\" }}{{ if eq .Value 1.0 }}{{ break }}{{ end }}{{ .Value }}{{ end }}", "2"),
        ("{{ define \"t\" }}<{{ .arg0 }}>{{ end }}{{ template \"t\" args 1 2 }}{{ tmpl \"t\" (args \"x\") }}", "<1><x>"),
        ("{{ reReplaceAll \"(.*):\\\\d+\" \"$1\" $labels.instance }} {{ match \"^h\" \"host\" }}", "host-1.example true"),
        (
            "{{ stripPort $labels.instance }} {{ stripDomain $labels.instance }} {{ title \"a bc\" }} {{ toUpper \"x\" }}",
            "host-1.example host-1:9100 A Bc X",
        ),
        ("{{ len \"abc\" }} {{ index $labels \"job\" }} {{ slice \"abcd\" 1 3 }} {{ print 1 2 \"x\" 3 }}", "3 a bc 1 2x3"),
        ("{{ humanizeTimestamp 1435065584.128 }}", "2015-06-23 13:19:44.128 +0000 UTC"),
        ("{{ graphLink \"up == 1\" }} {{ pathPrefix }}", "/graph?g0.expr=up+%3D%3D+1&g0.tab=0 /base"),
        ("{{ urlquery \"a b\" }} {{ html \"<a>\" }} {{ parseDuration \"1h30m\" }}", "a+b &lt;a&gt; 5400"),
    ] {
        assert_eq!(expand(text).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, part) in [
        ("{{ $valu }}", "error parsing template __alert_A: template: __alert_A:1: undefined variable \"$valu\""),
        ("{{ if }}x{{ end }}", "missing value for if"),
        ("{{ $value ", "unclosed action"),
        ("{{ nothing }}", "function \"nothing\" not defined"),
        ("{{ if true }}", "unexpected EOF"),
        ("{{ end }}", "unexpected {{end}}"),
        ("{{ .Foo }}", "at <.Foo>: can't evaluate field Foo in type struct"),
        ("{{ query \"none\" | first }}", "error calling first: first() called on vector with no elements"),
        ("{{ humanize \"x\" }}", "strconv.ParseFloat: parsing \"x\": invalid syntax"),
        ("{{ eq 1 1.0 }}", "incompatible types for comparison"),
        ("{{ humanize 1 2 }}", "wrong number of args for humanize: want 1 got 2"),
        ("{{ template \"none\" }}", "template \"none\" not defined"),
    ] {
        let error = expand(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn nothing_goes_on_for_ever() {
    let deep = expand("{{ define \"t\" }}{{ template \"t\" . }}{{ end }}{{ template \"t\" . }}").unwrap_err();
    assert!(deep.contains("maximum template depth"), "{deep}");
    let wide = format!("{}x{}", "{{ range query \"up\" }}".repeat(20), "{{ end }}".repeat(20));
    assert!(expand(&wide).unwrap_err().contains("steps"));
    let long = expand(
        "{{ define \"d\" }}{{ printf \"%10000s\" \"\" }}{{ end }}{{ range query \"up\" }}{{ end }}{{ $x := printf \"%9999d\" 1 }}{{ $x }}",
    );
    assert_eq!(long.unwrap().len(), 9_999);
    assert!(expand(&"{{ if true }}".repeat(50_000)).is_err());
    assert!(expand(&format!("{{{{ {}1{} }}}}", "(".repeat(50_000), ")".repeat(50_000))).is_err());
}

proptest! {
    /// Whatever a file holds, it ends, and nothing panics.
    #[test]
    fn no_text_panics(pieces in prop::collection::vec(prop::sample::select(vec![
        "{{", "}}", "{{-", "-}}", " ", "if", "else", "end", "range", "with", "define", "template", "block", "\"t\"", "$x", ":=", "=", "$value",
        "$labels", ".", ".Labels", ".a", "(", ")", "|", ",", "1", "1.5", "-", "\"", "`", "'", "'a'", "/*", "*/", "printf", "\"%*.*d%v%\"", "humanize", "query",
        "first", "index", "slice", "len", "eq", "é", "\n", "break", "continue", "nil", "true", "args", "tmpl", "0x", "\\",
    ]), 0..40)) {
        let _ = expand(&pieces.concat());
        let _ = expand(&format!("{{{{ {} }}}}", pieces.join(" ")));
    }
}
