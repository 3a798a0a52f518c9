//! Go's regular expressions in the words of ours.

use regex::Regex;

/// Classes that are of ASCII alone in Go.
const CLASSES: &[(char, &str)] =
    &[('d', "[0-9]"), ('D', "[^0-9]"), ('w', "[0-9A-Za-z_]"), ('W', "[^0-9A-Za-z_]"), ('s', r"[\t\n\f\r ]"), ('S', r"[^\t\n\f\r ]")];

pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&translated(pattern)).map_err(|_| format!("error parsing regexp: `{pattern}`"))
}

fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut is_in_class = false;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escape(rest, is_in_class, &mut out),
            '[' if is_in_class && rest.starts_with(':') => {
                // A named class, `[:alpha:]`, as both know it.
                let end = rest.find(":]").map_or(0, |at| at + 2);
                out.push('[');
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            '[' if is_in_class => out.push_str("\\["),
            '[' => {
                is_in_class = true;
                out.push('[');
                let negated = rest.strip_prefix('^');
                out.push_str(if negated.is_some() { "^" } else { "" });
                rest = negated.unwrap_or(rest);
                // What stands first is itself.
                if let Some(behind) = rest.strip_prefix(']') {
                    out.push_str("\\]");
                    rest = behind;
                }
            }
            ']' => {
                is_in_class = false;
                out.push(']');
            }
            '&' | '~' if is_in_class => out.extend(['\\', c]),
            '-' if is_in_class && rest.starts_with('-') => out.push_str("\\-"),
            c => out.push(c),
        }
    }
    out
}

/// What follows a backslash; the rest behind it.
fn escape<'r>(rest: &'r str, is_in_class: bool, out: &mut String) -> &'r str {
    let Some(c) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    let behind = &rest[c.len_utf8()..];
    match c {
        'b' | 'B' if !is_in_class => out.push_str(&format!("(?-u:\\{c})")),
        'Q' => {
            let (literal, behind) = behind.split_once("\\E").unwrap_or((behind, ""));
            out.push_str(&regex::escape(literal));
            return behind;
        }
        c => match CLASSES.iter().find(|(name, _)| *name == c) {
            Some((_, class)) => out.push_str(class),
            None => out.extend(['\\', c]),
        },
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_to_go() {
        for (pattern, text, wanted) in [
            (r"^\d+$", "١", false),
            (r"^\w+$", "ab_1", true),
            (r"^\w+$", "é", false),
            (r"^[\w.-]+$", "a.b-c", true),
            (r"^[[a]+$", "[a", true),
            (r"^[]a]+$", "]a", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"^[[:alpha:]]+$", "ab", true),
            (r"\Qa.b\E+$", "a.bb", true),
            (r"\bx\b", "a x b", true),
            (r"^[\S]$", "a", true),
        ] {
            assert_eq!(compile(pattern).unwrap().is_match(text), wanted, "{pattern}");
        }
        assert!(compile("(").is_err());
    }
}
