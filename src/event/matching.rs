//! Whether a silence's matchers hold of labels, as Alertmanager has it.

use super::{LabelSet, SilenceMatcher};
use regex::{Regex, RegexBuilder};
use std::sync::{Arc, OnceLock};

/// Matchers of one silence.
pub const MATCHERS_MAX: usize = 64;
/// Bytes that one regular expression may take when it is compiled.
const REGEX_BYTES_MAX: usize = 256 << 10;

#[derive(Clone, Debug)]
enum Test {
    Is(String),
    Like(Regex),
}

#[derive(Clone, Debug)]
struct One {
    name: String,
    test: Test,
    is_equal: bool,
}

impl One {
    fn holds_of(&self, value: &str) -> bool {
        let found = match &self.test {
            Test::Is(own) => own == value,
            Test::Like(regex) => regex.is_match(value),
        };
        found == self.is_equal
    }
}

/// Matchers of labels, compiled: all must hold. A label that is not there is empty; an expression is of the whole value.
#[derive(Clone, Debug)]
pub struct Matching(Vec<One>);

impl Matching {
    /// Why they can't be used, if so: it names the matcher.
    pub fn new(matchers: &[SilenceMatcher]) -> Result<Self, String> {
        if matchers.len() > MATCHERS_MAX {
            return Err(format!("there are {} matchers; give at most {MATCHERS_MAX}", matchers.len()));
        }
        let one = |m: &SilenceMatcher| {
            let test = if m.is_regex {
                let whole = RegexBuilder::new(&format!("^(?:{})$", m.value)).size_limit(REGEX_BYTES_MAX).build();
                Test::Like(whole.map_err(|error| format!("{m}: {error}"))?)
            } else {
                Test::Is(m.value.to_string())
            };
            Ok(One { name: m.name.to_string(), test, is_equal: m.is_equal })
        };
        matchers.iter().map(one).collect::<Result<_, String>>().map(Self)
    }

    pub fn holds_of<'v>(&self, value_of: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.iter().all(|one| one.holds_of(value_of(&one.name).unwrap_or_default()))
    }

    /// Of an alert's labels; those that all alerts of a process have besides stand in `external`.
    pub fn covers(&self, labels: &LabelSet, external: &LabelSet) -> bool {
        self.holds_of(|name| labels.get(name).or_else(|| external.get(name)).map(|value| value.as_str()))
    }

    /// Whether no matcher asks for anything: every alert would meet them.
    pub fn is_of_all(&self) -> bool {
        self.0.iter().all(|one| one.holds_of(""))
    }
}

/// Compiled when it is first asked for. It is no part of what is stored or compared: the matchers beside it say it all.
#[derive(Clone, Debug, Default)]
pub struct LazyMatching(OnceLock<Option<Arc<Matching>>>);

impl LazyMatching {
    /// Unset where the matchers can't be used; then nothing is silenced by them.
    pub fn of(&self, matchers: &[SilenceMatcher]) -> Option<&Matching> {
        self.0.get_or_init(|| Matching::new(matchers).ok().map(Arc::new)).as_deref()
    }
}

impl PartialEq for LazyMatching {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::str::FromStr for SilenceMatcher {
    type Err = String;

    /// `name="value"`, `!=`, `=~`, `!~`; the quotes may be left out.
    fn from_str(text: &str) -> Result<Self, String> {
        let end =
            text.find(['=', '!']).ok_or_else(|| format!("`{text}` is no matcher: write name=\"value\", or !=, =~, !~ in place of ="))?;
        let (name, rest) = text.split_at(end);
        let operators = [("=~", true, true), ("!~", true, false), ("!=", false, false), ("=", false, true)];
        let found = operators.into_iter().find_map(|(sign, is_regex, is_equal)| Some((rest.strip_prefix(sign)?, is_regex, is_equal)));
        let (value, is_regex, is_equal) = found.ok_or_else(|| format!("`{text}` is no matcher: behind the name stands =, !=, =~ or !~"))?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || name.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(format!("`{text}`: `{name}` is no name of a label: letters, digits and _"));
        }
        Ok(Self { name: name.into(), value: unquoted(value.trim())?.as_str().into(), is_regex, is_equal })
    }
}

fn unquoted(value: &str) -> Result<String, String> {
    let Some(inner) = value.strip_prefix('"') else { return Ok(value.to_owned()) };
    let inner = inner.strip_suffix('"').ok_or_else(|| format!("the quote in {value} is not closed"))?;
    let (mut out, mut chars) = (String::with_capacity(inner.len()), inner.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some(c @ ('"' | '\\')) => out.push(c),
                Some(other) => out.extend(['\\', other]),
                None => return Err(format!("{value} ends in a backslash")),
            },
            '"' => return Err(format!("{value} has a quote in it; write \\\"")),
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(matcher: &str, labels: &[(&str, &str)]) -> bool {
        let labels: LabelSet = labels.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        Matching::new(&[matcher.parse().unwrap()]).unwrap().covers(&labels, &LabelSet::default())
    }

    #[test]
    fn matchers_are_those_of_alertmanager() {
        let gpu0 = [("alertname", "GpuHot"), ("gpu", "0")];
        for (matcher, holds) in [
            ("alertname=\"GpuHot\"", true),
            ("alertname=GpuHot", true),
            ("alertname=\"Gpu\"", false),
            ("alertname=~\"Gpu\"", false),
            ("alertname=~\"Gpu.*\"", true),
            ("alertname=~\"Gpu|GpuHot\"", true),
            ("alertname!~\"Gpu.*\"", false),
            ("gpu!=\"1\"", true),
            ("team=\"\"", true),
            ("team!=\"\"", false),
            ("team!=\"ml\"", true),
            ("team=~\".*\"", true),
        ] {
            assert_eq!(covers(matcher, &gpu0), holds, "{matcher}");
        }
        let labels: LabelSet = [("cluster".into(), "a".into())].into_iter().collect();
        let matching = Matching::new(&["cluster=a".parse().unwrap()]).unwrap();
        assert!(matching.covers(&LabelSet::default(), &labels), "what all alerts have counts too");
    }

    #[test]
    fn what_is_wrong_with_a_matcher_is_said() {
        let fault = |text: &str| text.parse::<SilenceMatcher>().unwrap_err();
        assert!(fault("GpuHot").contains("is no matcher"));
        assert!(fault("a b=c").contains("`a b` is no name of a label"));
        assert!(fault("a=\"b").contains("is not closed"));
        assert!(fault("a!b").contains("behind the name"));
        assert!(Matching::new(&["a=~(".parse().unwrap()]).unwrap_err().starts_with("a=~\"(\""));
        let huge: SilenceMatcher = "a=~(\\w{1000}){1000}".parse().unwrap();
        assert!(Matching::new(&[huge]).is_err(), "what takes too much memory is refused");
        let many: Vec<SilenceMatcher> = vec!["a=b".parse().unwrap(); MATCHERS_MAX + 1];
        assert!(Matching::new(&many).is_err());
        assert!(Matching::new(&["a=~.*".parse().unwrap()]).unwrap().is_of_all());
        assert!(!Matching::new(&["a=~.*".parse().unwrap(), "b=c".parse().unwrap()]).unwrap().is_of_all());
    }

    #[test]
    fn a_matcher_reads_back() {
        for text in ["a=\"b\"", "a!=\"b c\"", "a=~\"x|y\"", "a!~\"z\""] {
            assert_eq!(text.parse::<SilenceMatcher>().unwrap().to_string(), text);
        }
    }
}
