//! Which format an `Accept` header asks for.

use crate::metrics::Format;

/// One range of the header.
struct Range<'h> {
    kind: &'h str,
    subtype: &'h str,
    version: Option<&'h str>,
    quality: f64,
}

/// The format that is wanted most; the plain one where none is named, as Prometheus' own clients do.
pub(super) fn negotiate(accept: &str) -> Format {
    let ranges: Vec<Range<'_>> = accept.split(',').filter_map(range).collect();
    let open = quality(&ranges, |r| {
        r.kind == "application" && r.subtype == "openmetrics-text" && r.version.is_none_or(|v| v == "1.0.0" || v == "0.0.1")
    });
    // Wildcards ask for nothing in particular.
    let plain = quality(&ranges, |r| {
        (r.kind == "text" && r.subtype == "plain" && r.version.is_none_or(|v| v == "0.0.4"))
            || (r.kind == "text" && r.subtype == "*")
            || (r.kind == "*" && r.subtype == "*")
    });
    if open > 0.0 && open >= plain { Format::OpenMetrics } else { Format::Text004 }
}

fn quality(ranges: &[Range<'_>], is_meant: impl Fn(&Range<'_>) -> bool) -> f64 {
    ranges.iter().filter(|r| is_meant(r)).map(|r| r.quality).fold(0.0, f64::max)
}

fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let (kind, subtype) = parts.next()?.split_once('/')?;
    let (mut version, mut quality) = (None, 1.0);
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name.trim() {
            "version" => version = Some(value.trim().trim_matches('"')),
            // A quality that is none makes the range count for nothing.
            "q" => quality = value.trim().parse().ok().filter(|q| (0.0..=1.0).contains(q)).unwrap_or(0.0),
            _ => {}
        }
    }
    Some(Range { kind, subtype, version, quality })
}
