//! JUnit's XML, which CI systems read: a suite a file, a case a test.

use crate::alert::rules::unit::Outcome;

pub fn document(suites: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

/// A file whose tests could not run is one case that failed.
pub fn suite(file: &str, outcome: &Result<Outcome, String>) -> String {
    let cases: Vec<(String, Vec<&str>)> = match outcome {
        Ok(outcome) => outcome.tests.iter().enumerate().map(|(i, name)| (case_name(i, name), failures(outcome, i))).collect(),
        Err(fault) => vec![("reading".to_owned(), vec![fault.as_str()])],
    };
    let failed = cases.iter().filter(|(_, failures)| !failures.is_empty()).count();
    let mut out = format!("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\">\n", escaped(file), cases.len());
    for (name, failures) in &cases {
        out += &format!("    <testcase classname=\"{}\" name=\"{}\"", escaped(file), escaped(name));
        if failures.is_empty() {
            out += "/>\n";
            continue;
        }
        let first = failures[0].trim().lines().next().unwrap_or_default();
        out += &format!(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", escaped(first), escaped(&failures.join("\n")));
    }
    out + "  </testsuite>\n"
}

fn case_name(number: usize, name: &str) -> String {
    if name.is_empty() { format!("test {}", number + 1) } else { name.to_owned() }
}

fn failures(outcome: &Outcome, number: usize) -> Vec<&str> {
    outcome.failed.iter().filter(|failed| failed.number == number).map(|failed| failed.what.as_str()).collect()
}

/// XML has no control characters, however they are written.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::rules::unit::Failed;

    #[test]
    fn each_test_is_a_case_and_text_is_escaped() {
        let failed = vec![Failed { number: 1, test: String::new(), what: "    alertname: A<b>, \u{1b}\"x\"\n more".into() }];
        let outcome = Outcome { tests: vec!["a & b".into(), String::new()], failed, ..Outcome::default() };
        let text = document(&(suite("t.yml", &Ok(outcome)) + &suite("u.yml", &Err("u.yml:3: wrong".into()))));
        for part in [
            r#"<testsuite name="t.yml" tests="2" failures="1">"#,
            r#"<testcase classname="t.yml" name="a &amp; b"/>"#,
            r#"name="test 2">"#,
            "<failure message=\"alertname: A&lt;b&gt;, \u{fffd}&quot;x&quot;\">",
            r#"<testsuite name="u.yml" tests="1" failures="1">"#,
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
