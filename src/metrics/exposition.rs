//! The text in which Prometheus reads series: its own format 0.0.4, and OpenMetrics 1.0.

use super::registry::{Registry, bucket_end};
use super::table::{Family, Kind};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text004,
    OpenMetrics,
}

impl Format {
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Text004 => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// All families that have a series.
pub(super) fn render(registry: &Registry, format: Format) -> String {
    let mut out = String::with_capacity(32 * 1024);
    for (family, children) in registry.children().filter(|(_, children)| !children.is_empty()) {
        head(&mut out, family, format);
        for child in children {
            child.series(family, |ending, le, value| {
                let values = child.values.iter().map(|v| &**v);
                line(&mut out, (family.name, ending), family.labels.iter().copied().zip(values), le, value);
            });
        }
    }
    if format == Format::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn head(out: &mut String, family: &Family, format: Format) {
    // OpenMetrics names a counter without the ending that its samples have.
    let name = match format {
        Format::OpenMetrics if family.kind == Kind::Counter => family.name.strip_suffix("_total").unwrap_or(family.name),
        Format::OpenMetrics | Format::Text004 => family.name,
    };
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram(_) => "histogram",
    };
    // Writing to a string can't fail.
    let _ = write!(out, "# HELP {name} ");
    escape(out, &family.help(), format == Format::OpenMetrics);
    let _ = write!(out, "\n# TYPE {name} {kind}\n");
    if format == Format::OpenMetrics && !family.unit.is_empty() {
        let _ = writeln!(out, "# UNIT {name} {}", family.unit);
    }
}

fn line<'a>(out: &mut String, (name, ending): (&str, &str), labels: impl Iterator<Item = (&'a str, &'a str)>, le: Option<f64>, value: f64) {
    out.push_str(name);
    out.push_str(ending);
    let mut open = '{';
    let mut label = |out: &mut String, name: &str, value: &str| {
        out.push(std::mem::replace(&mut open, ','));
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value, true);
        out.push('"');
    };
    // A label without a value is no label.
    labels.filter(|(_, value)| !value.is_empty()).for_each(|(name, value)| label(out, name, value));
    if let Some(end) = le {
        label(out, "le", &bucket_end(end));
    }
    if open == ',' {
        out.push('}');
    }
    out.push(' ');
    number(out, value);
    out.push('\n');
}

fn escape(out: &mut String, text: &str, quotes: bool) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            c => out.push(c),
        }
    }
}

fn number(out: &mut String, value: f64) {
    let _ = if value.is_nan() {
        out.write_str("NaN")
    } else if value.is_infinite() {
        out.write_str(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else if value != 0.0 && !(1e-5..1e17).contains(&value.abs()) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    };
}
