//! What must not leave this machine: secrets, who works here, and where.

use crate::config::{Line, Origin};
use ratatui::buffer::Buffer;
use std::ffi::OsString;
use std::path::Path;

/// A shorter value is no secret, and would be found everywhere.
const SECRET_CHARS_MIN: usize = 6;
const NAME_CHARS_MIN: usize = 3;
/// What stands in the place of a secret.
const MASK: &str = "[redacted]";
/// Words of a name that say that its value is secret.
const SECRET_WORDS: [&str; 13] =
    ["key", "apikey", "secret", "token", "password", "passwd", "pass", "pwd", "credential", "credentials", "auth", "bearer", "cookie"];
/// Names that say nothing of who it is.
const NOBODY: [&str; 8] = ["root", "user", "admin", "ubuntu", "runner", "guest", "ops", "localhost"];
/// How secrets of common services begin, and how much at least comes behind it.
const SHAPES: [&str; 12] = ["sk-", "sk_live_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "hf_", "AKIA", "eyJ"];
const SHAPE_CHARS_MIN: usize = 16;

/// Whether a name says that its value is secret: `MY_API_KEY`, `gateway.auth`; not `ui.keys` or `agent.tokens_max`.
fn is_secret_name(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| SECRET_WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Takes out of texts what must not leave this machine.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Masked wherever they stand, the longest first.
    secrets: Vec<String>,
    /// The home directory, which becomes `~`.
    home: Option<String>,
    /// Names of people and machines, which are replaced as whole words.
    names: Vec<(String, &'static str)>,
}

impl Redactor {
    /// Of this process and this machine.
    pub fn of_process() -> Self {
        Self::new(std::env::vars_os(), crate::telemetry::host_name())
    }

    pub fn new(vars: impl Iterator<Item = (OsString, OsString)>, host: Option<String>) -> Self {
        let mut found = Self::default();
        for (name, value) in vars {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            match &*name {
                "HOME" if value.len() > 1 && Path::new(&*value).is_absolute() => found.home(&value),
                "USER" | "LOGNAME" => found.name(&value, "<user>"),
                "HOSTNAME" => found.name(&value, "<host>"),
                name if is_secret_name(name) && value.chars().count() >= SECRET_CHARS_MIN => found.secrets.push(value.into_owned()),
                _other => {}
            }
        }
        if let Some(host) = host {
            found.name(&host, "<host>");
            found.name(host.split('.').next().unwrap_or_default(), "<host>");
        }
        found.secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        found.names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        found
    }

    fn home(&mut self, path: &str) {
        let path = path.trim_end_matches('/');
        self.home = Some(path.to_owned());
        if let Some(own) = Path::new(path).file_name().and_then(|name| name.to_str()) {
            self.name(own, "<user>");
        }
    }

    fn name(&mut self, name: &str, becomes: &'static str) {
        let is_known = NOBODY.contains(&name) || self.names.iter().any(|(known, _)| known == name);
        if name.chars().count() >= NAME_CHARS_MIN && !is_known {
            self.names.push((name.to_owned(), becomes));
        }
    }

    /// The text without what must not leave.
    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        let pieces = self.pieces(text);
        for (start, end, becomes) in pieces.into_iter().rev() {
            out.replace_range(start..end, becomes);
        }
        out
    }

    /// Whether there is a secret in it.
    pub fn has_secret(&self, text: &str) -> bool {
        self.secrets.iter().any(|s| text.contains(s)) || shapes(text).next().is_some()
    }

    /// The value of a setting as a bundle has it; none where it has it not.
    pub fn setting(&self, line: &Line) -> Option<String> {
        let is_from_environment = match line.origin {
            Origin::Env(_) => true,
            Origin::Default | Origin::Profile(_) | Origin::File(_) | Origin::Set | Origin::Flag(_) => false,
        };
        // Numbers and switches tell nothing of the environment that they come from; words may.
        let is_text = line.value.contains('"');
        if is_secret_name(line.path) || is_from_environment && is_text { None } else { Some(self.text(line.value.as_str())) }
    }

    /// Masks what must not leave in a picture, cell by cell, so that nothing moves.
    pub fn picture(&self, picture: &mut Buffer) {
        let area = picture.area;
        for y in area.top()..area.bottom() {
            // Where each cell's symbol begins in the row's text.
            let (mut row, mut starts) = (String::new(), Vec::new());
            for x in area.left()..area.right() {
                starts.push(row.len());
                row.push_str(picture[(x, y)].symbol());
            }
            for (start, end, _) in self.pieces(&row) {
                for (x, at) in (area.left()..).zip(&starts) {
                    if (start..end).contains(at) {
                        picture[(x, y)].set_symbol("*");
                    }
                }
            }
        }
    }

    /// Stretches of the text that are to be replaced, in order and apart from each other.
    fn pieces(&self, text: &str) -> Vec<(usize, usize, &'static str)> {
        let mut found: Vec<(usize, usize, &'static str)> = Vec::new();
        let mut add = |start: usize, end: usize, becomes| {
            if found.iter().all(|(a, b, _)| end <= *a || *b <= start) {
                found.push((start, end, becomes));
            }
        };
        for secret in &self.secrets {
            text.match_indices(secret.as_str()).for_each(|(at, _)| add(at, at + secret.len(), MASK));
        }
        shapes(text).for_each(|(start, end)| add(start, end, MASK));
        if let Some(home) = &self.home {
            whole(text, home, |c| c.is_alphanumeric() || c == '_' || c == '-').for_each(|(start, end)| add(start, end, "~"));
        }
        for (name, becomes) in &self.names {
            whole(text, name, |c| c.is_alphanumeric() || c == '_').for_each(|(start, end)| add(start, end, becomes));
        }
        found.sort_unstable();
        found
    }
}

/// Where a word stands that is not part of a longer one.
fn whole<'a>(text: &'a str, word: &'a str, is_part: impl Fn(char) -> bool + Copy + 'a) -> impl Iterator<Item = (usize, usize)> + 'a {
    text.match_indices(word).map(|(at, word)| (at, at + word.len())).filter(move |(start, end)| {
        // A path begins with a separator, whatever stands before it.
        let before = text[..*start].chars().next_back().filter(|_| !word.starts_with('/'));
        let behind = text[*end..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

/// What looks like a secret of a common service, or like the password in an address.
fn shapes(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_secret = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begun = SHAPES.iter().flat_map(move |shape| {
        text.match_indices(shape).filter_map(move |(at, _)| {
            let is_inside = text[..at].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
            let length = text[at..].find(|c| !is_secret(c)).unwrap_or(text.len() - at);
            (!is_inside && length >= SHAPE_CHARS_MIN).then_some((at, at + length))
        })
    });
    let in_address = text.match_indices("://").filter_map(|(at, mark)| {
        let start = at + mark.len();
        let rest = &text[start..];
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>')).unwrap_or(rest.len());
        let at = rest[..end].rfind('@')?;
        Some((start, start + at))
    });
    begun.chain(in_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let vars = [
            ("HOME", "/home/alice"),
            ("USER", "alice"),
            ("SOME_API_KEY", "canary-0123"),
            ("PATH", "/usr/bin"),
            ("KEYBOARD", "querty-layout"),
            ("OTHER_TOKEN", "short"),
        ];
        Redactor::new(vars.into_iter().map(|(n, v)| (n.into(), v.into())), Some("box7.corp.example".into()))
    }

    #[test]
    fn secrets_home_user_and_host_are_taken_out_and_nothing_else() {
        let text = "alice@box7 wrote /home/alice/a.jsonl and /home/alicent/b with xcanary-0123x; malice, /usr/bin querty-layout short";
        assert_eq!(
            redactor().text(text),
            "<user>@<host> wrote ~/a.jsonl and /home/alicent/b with x[redacted]x; malice, /usr/bin querty-layout short"
        );
        assert_eq!(redactor().text("box7.corp.example:80 工 alice"), "<host>:80 工 <user>");
    }

    #[test]
    fn what_looks_like_a_secret_is_one() {
        let redactor = Redactor::default();
        assert_eq!(redactor.text("key sk-abcdefghijklmnop1234, ask-me-if-you-want-to"), "key [redacted], ask-me-if-you-want-to");
        assert_eq!(redactor.text("https://bob:hunter2@host/x and https://host/a@b"), "https://[redacted]@host/x and https://host/a@b");
        assert!(redactor.has_secret("ghp_abcdefghijklmnop") && !redactor.has_secret("ghp_ab"));
    }

    #[test]
    fn names_of_secret_fields_are_known_from_those_that_are_not() {
        for secret in ["MY_API_KEY", "gateway.auth", "x.api-key", "DB_PASSWORD", "token"] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for open in ["ui.keys", "agent.tokens_max", "KEYBOARD", "monkey", "author"] {
            assert!(!is_secret_name(open), "{open}");
        }
    }

    #[test]
    fn a_setting_of_the_environment_is_left_out_where_it_is_text() {
        let line = |path, value: &str, origin| Line { path, value: value.into(), origin };
        let env = || Origin::Env("PILOTHOUSE__X".into());
        let redactor = redactor();
        assert_eq!(redactor.setting(&line("run.lanes", "4", env())), Some("4".to_owned()));
        assert_eq!(redactor.setting(&line("profile.banner", "Some(\"x\")", env())), None);
        assert_eq!(
            redactor.setting(&line("profile.banner", "Some(\"canary-0123\")", Origin::Set)),
            Some("Some(\"[redacted]\")".to_owned())
        );
        assert_eq!(redactor.setting(&line("gateway.key", "\"x\"", Origin::Default)), None);
    }

    #[test]
    fn a_picture_keeps_its_columns() {
        let mut picture = Buffer::with_lines(["│工 canary-0123 │ alice│", "nothing here"]);
        redactor().picture(&mut picture);
        assert_eq!(picture, Buffer::with_lines(["│工 *********** │ *****│", "nothing here"]));
    }
}
