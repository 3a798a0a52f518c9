//! Texts made fit for another place, and parts of addresses.

use super::printf::is_printable;

pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c if u32::from(c) < 0x20 || !c.is_ascii() && !is_printable(c) => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// As Go's `url.QueryEscape`.
pub(super) fn query_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Go turns each letter into one letter.
pub(super) fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

pub(super) fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// As the first of a word, of which two letters in one have a form of their own.
fn large(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        c => upper(c),
    }
}

/// The first letter of each word large.
pub(super) fn title(text: &str) -> String {
    let separates = |c: char| match c {
        c if c.is_ascii() => !(c.is_ascii_alphanumeric() || c == '_'),
        c => !c.is_alphanumeric() && c.is_whitespace(),
    };
    let mut before = ' ';
    text.chars().map(|c| if separates(std::mem::replace(&mut before, c)) { large(c) } else { c }).collect()
}

/// `host:port` and `[host]:port` as their two parts.
fn host_and_port(text: &str) -> Option<(&str, &str)> {
    let (before, port) = text.rsplit_once(':')?;
    let host = match before.strip_prefix('[') {
        Some(bracketed) => bracketed.strip_suffix(']')?,
        None if before.contains(':') => return None,
        None => before,
    };
    (!host.contains(['[', ']']) && !port.contains(['[', ']'])).then_some((host, port))
}

pub(super) fn strip_port(text: &str) -> &str {
    host_and_port(text).map_or(text, |(host, _)| host)
}

/// The first part of a host's name; a port stays, and an address of numbers is left as it is.
pub(super) fn strip_domain(text: &str) -> String {
    let (host, port) = host_and_port(text).unwrap_or((text, ""));
    if host.parse::<std::net::IpAddr>().is_ok() {
        return text.to_owned();
    }
    let host = host.split('.').next().unwrap_or(host);
    match port {
        "" => host.to_owned(),
        port if host.contains(':') => format!("[{host}]:{port}"),
        port => format!("{host}:{port}"),
    }
}

/// The path of a URL.
pub(super) fn path(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = behind.find('/').map_or("", |at| &behind[at..]);
    path.split(['?', '#']).next().unwrap_or(path)
}
