//! Durations as Prometheus writes them: `1h30m`, `15s`, `0`.

/// Units in the order in which they must come, with their milliseconds.
const UNITS: [(&str, i64); 7] =
    [("y", 365 * 86_400_000), ("w", 7 * 86_400_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Milliseconds, or what is wrong in Prometheus' words.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    match text {
        "" => return Err("empty duration string".into()),
        "0" => return Ok(0),
        _ => {}
    }
    let invalid = || format!("not a valid duration string: {text:?}");
    let mut total: i64 = 0;
    let mut rest = text;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at(digits);
        let letters = behind.bytes().take_while(|b| !b.is_ascii_digit()).count();
        let (unit, behind) = behind.split_at_checked(letters).ok_or_else(invalid)?;
        let ms = units.find(|(name, _)| *name == unit).map(|(_, ms)| *ms).ok_or_else(invalid)?;
        if digits == 0 {
            return Err(invalid());
        }
        let part = number.parse::<i64>().ok().and_then(|number| number.checked_mul(ms));
        total = part.and_then(|part| total.checked_add(part)).filter(|sum| *sum <= i64::MAX / 1_000_000).ok_or("duration out of range")?;
        rest = behind;
    }
    Ok(total)
}

/// As Prometheus prints one: units that divide it, days and more only where nothing is left over.
pub fn format_duration(ms: i64) -> String {
    if ms == 0 {
        return "0s".into();
    }
    let mut out = String::new();
    let mut rest = ms;
    for (unit, unit_ms) in UNITS {
        let is_exact_only = matches!(unit, "y" | "w" | "d");
        if is_exact_only && rest % unit_ms != 0 {
            continue;
        }
        let count = rest / unit_ms;
        if count > 0 {
            out.push_str(&format!("{count}{unit}"));
            rest -= count * unit_ms;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_prometheus_reads_them() {
        for (text, ms) in
            [("0", 0), ("0s", 0), ("1d", 86_400_000), ("1h30m", 5_400_000), ("1m500ms", 60_500), ("1y2w3d4h5m6s7ms", 33_019_506_007)]
        {
            assert_eq!(parse_duration(text), Ok(ms), "{text}");
        }
        for text in ["1", "m", "1m1h", "1.5h", "-1m", "1 m", "1mm", "1m1m", "1ä", " 1m"] {
            assert_eq!(parse_duration(text), Err(format!("not a valid duration string: {text:?}")), "{text}");
        }
        assert_eq!(parse_duration(""), Err("empty duration string".into()));
        assert_eq!(parse_duration("99999999999y"), Err("duration out of range".into()));
    }

    #[test]
    fn durations_are_printed_as_prometheus_prints_them() {
        for text in ["0s", "1m", "1h30m", "7m", "1w", "1d", "25h", "90s", "1500ms"] {
            let printed = format_duration(parse_duration(text).unwrap());
            let expected = match text {
                "25h" => "25h",
                "90s" => "1m30s",
                "1500ms" => "1s500ms",
                same => same,
            };
            assert_eq!(printed, expected);
        }
    }
}
