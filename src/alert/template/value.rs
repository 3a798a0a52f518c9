//! What a template works with, printed as Go prints it.

use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    /// `map[string]string`: a name that is not there is an empty text.
    Labels(Arc<BTreeMap<String, String>>),
    /// `map[string]interface{}`, of the function `args`.
    Args(Arc<BTreeMap<String, Value>>),
    Sample(Arc<Sample>),
    Samples(Arc<Vec<Arc<Sample>>>),
    /// Milliseconds since 1970.
    Time(i64),
    /// What a rule's template starts with.
    Data(Arc<Data>),
}

/// A result of `query`.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub labels: Arc<BTreeMap<String, String>>,
    pub value: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Data {
    pub labels: Arc<BTreeMap<String, String>>,
    pub external_labels: Arc<BTreeMap<String, String>>,
    pub external_url: Arc<str>,
    pub value: f64,
}

impl Value {
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Arc::from(text.as_ref()))
    }

    /// Go's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::Labels(_) => "map[string]string",
            Self::Args(_) => "map[string]interface {}",
            Self::Sample(_) => "*template.sample",
            Self::Samples(_) => "template.queryResult",
            Self::Time(_) => "time.Time",
            Self::Data(_) => {
                "struct { Labels map[string]string; ExternalLabels map[string]string; ExternalURL string; Value interface {} }"
            }
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Labels(map) => !map.is_empty(),
            Self::Args(map) => !map.is_empty(),
            Self::Samples(samples) => !samples.is_empty(),
            Self::Sample(_) | Self::Time(_) | Self::Data(_) => true,
        }
    }
}

impl std::fmt::Display for Value {
    /// Go's `%v`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nil => f.write_str("<no value>"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&general(*value, None)),
            Self::Text(text) => f.write_str(text),
            Self::Labels(map) => labels(f, map),
            Self::Args(map) => {
                let pairs: Vec<String> = map.iter().map(|(name, value)| format!("{name}:{value}")).collect();
                write!(f, "map[{}]", pairs.join(" "))
            }
            Self::Sample(sample) => write!(f, "&{sample}"),
            // Go shows addresses here, which tell nobody anything.
            Self::Samples(samples) => {
                let shown: Vec<String> = samples.iter().map(|sample| sample.to_string()).collect();
                write!(f, "[{}]", shown.join(" "))
            }
            Self::Time(ms) => f.write_str(&time_text(*ms)),
            Self::Data(data) => {
                f.write_str("{")?;
                labels(f, &data.labels)?;
                f.write_str(" ")?;
                labels(f, &data.external_labels)?;
                write!(f, " {} {}}}", data.external_url, general(data.value, None))
            }
        }
    }
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("{")?;
        labels(f, &self.labels)?;
        write!(f, " {}}}", general(self.value, None))
    }
}

fn labels(f: &mut std::fmt::Formatter<'_>, map: &BTreeMap<String, String>) -> std::fmt::Result {
    let pairs: Vec<String> = map.iter().map(|(name, value)| format!("{name}:{value}")).collect();
    write!(f, "map[{}]", pairs.join(" "))
}

/// `2006-01-02 15:04:05.999 +0000 UTC`, as Go prints a time.
pub(super) fn time_text(ms: i64) -> String {
    let Ok(time) = jiff::Timestamp::from_millisecond(ms) else { return format!("{ms}ms") };
    let millis = ms.rem_euclid(1000);
    let fraction = if millis == 0 { String::new() } else { format!(".{millis:03}").trim_end_matches('0').to_owned() };
    format!("{}{fraction} +0000 UTC", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Digits of a number and the power of ten behind the first of them.
fn digits(value: f64, precision: Option<usize>) -> (String, i32) {
    let text = match precision {
        None => format!("{:e}", value.abs()),
        Some(precision) => format!("{:.*e}", precision.max(1) - 1, value.abs()),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// NaN and the infinities, as Go writes them.
pub(super) fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// Go's `%g`: the shortest digits, or as many as `precision` says, trailing zeros gone.
pub(super) fn general(value: f64, precision: Option<usize>) -> String {
    if let Some(text) = special(value) {
        return text.into();
    }
    let (digits, exponent) = digits(value, precision);
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let mut limit = precision.map_or(6, |precision| i32::try_from(precision.max(1)).unwrap_or(i32::MAX));
    if precision.is_some() && limit > count && count > exponent {
        limit = count;
    }
    if precision.is_none() {
        limit = 21.min(limit).max(6);
    }
    if exponent < -4 || exponent >= limit {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// Go's `%e`.
pub(super) fn scientific(value: f64, precision: usize) -> String {
    if let Some(text) = special(value) {
        return text.into();
    }
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        for (value, text) in [
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e-5, "1e-05"),
            (50.0, "50"),
            (0.5, "0.5"),
            (0.0001, "0.0001"),
            (0.0, "0"),
            (123_456.0, "123456"),
            (1e21, "1e+21"),
            (-2.5, "-2.5"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (100_000.0, "100000"),
            (-0.0, "-0"),
        ] {
            assert_eq!(general(value, None), text);
        }
        for (value, text) in
            [(1234.567, "1235"), (1.235, "1.235"), (12345.0, "1.234e+04"), (0.0, "0"), (12.0, "12"), (999.99, "1000"), (1e-7, "1e-07")]
        {
            assert_eq!(general(value, Some(4)), text);
        }
        assert_eq!(scientific(12345.678, 2), "1.23e+04");
        assert_eq!(time_text(1_435_065_584_128), "2015-06-23 13:19:44.128 +0000 UTC");
    }
}
