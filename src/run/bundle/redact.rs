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
        // Addresses of receivers can be keys.
        let is_who_is_told = line.path == "alerts.receivers" && line.value.contains('(');
        if is_who_is_told || is_secret_name(line.path) || is_from_environment && is_text {
            None
        } else {
            Some(self.text(line.value.as_str()))
        }
    }

    /// Masks what must not leave in a picture, cell by cell, so that nothing moves: row by row, and in each column of text what goes on in
    /// its next row.
    pub fn picture(&self, picture: &mut Buffer) {
        let area = picture.area;
        let rows: Vec<Stretch> = (area.top()..area.bottom()).map(|y| Stretch::of(picture, y, area.left(), area.right())).collect();
        let (mut joined, mut cells): (Vec<Stretch>, Vec<Stretch>) = Default::default();
        let mut open: Vec<Stretch> = Vec::new();
        for y in area.top()..area.bottom() {
            let mut next = Vec::new();
            for (left, right) in columns(picture, y) {
                let cell = Stretch::of(picture, y, left, right);
                let own = cell.trimmed();
                cells.push(cell);
                match open.iter().position(|above| above.columns == (left, right)).map(|at| open.swap_remove(at)) {
                    Some(above) if !own.text.is_empty() => next.push(above.and(own)),
                    Some(above) => joined.push(above),
                    None => next.push(own),
                }
            }
            joined.append(&mut open);
            open = next;
        }
        joined.append(&mut open);
        for stretch in rows.iter().chain(&joined) {
            self.pieces(&stretch.text).into_iter().for_each(|(start, end, _)| stretch.mask(start, end, picture));
        }
        for cell in &cells {
            self.cut(&cell.text).into_iter().for_each(|(start, end)| cell.mask(start, end, picture));
        }
    }

    /// The beginning of a secret that a pane cut: it stands at the pane's edge.
    fn cut(&self, text: &str) -> Option<(usize, usize)> {
        let text = text.strip_suffix(' ').unwrap_or(text).trim_end_matches('…');
        let end = text.len();
        let begun = |secret: &String| {
            let lengths = secret.char_indices().map(|(at, _)| at).skip(SECRET_CHARS_MIN);
            lengths.filter(|length| text.ends_with(&secret[..*length])).last()
        };
        self.secrets.iter().filter_map(begun).max().map(|length| (end - length, end))
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

/// Text of a picture, and where each of its cells is.
#[derive(Debug)]
struct Stretch {
    text: String,
    /// Where each cell's symbol begins in the text.
    starts: Vec<usize>,
    places: Vec<(u16, u16)>,
    columns: (u16, u16),
}

impl Stretch {
    fn of(picture: &Buffer, y: u16, left: u16, right: u16) -> Self {
        let mut stretch = Self { text: String::new(), starts: Vec::new(), places: Vec::new(), columns: (left, right) };
        (left..right).for_each(|x| stretch.push((x, y), picture[(x, y)].symbol()));
        stretch
    }

    fn push(&mut self, place: (u16, u16), symbol: &str) {
        self.starts.push(self.text.len());
        self.places.push(place);
        self.text.push_str(symbol);
    }

    fn mask(&self, start: usize, end: usize, picture: &mut Buffer) {
        let inside = self.starts.iter().zip(&self.places).filter(|(at, _)| (start..end).contains(*at));
        inside.for_each(|(_, place)| {
            picture[*place].set_symbol("*");
        });
    }

    /// Without what indents it and stands behind it.
    fn trimmed(&self) -> Self {
        let from = self.text.len() - self.text.trim_start().len();
        let upto = self.text.trim_end().len();
        let mut trimmed = Self { text: String::new(), starts: Vec::new(), places: Vec::new(), columns: self.columns };
        let ends = self.starts.iter().skip(1).copied().chain([self.text.len()]);
        for ((start, end), place) in self.starts.iter().zip(ends).zip(&self.places) {
            if *start >= from && end <= upto {
                trimmed.push(*place, &self.text[*start..end]);
            }
        }
        trimmed
    }

    fn and(mut self, below: Self) -> Self {
        let length = self.text.len();
        self.text.push_str(&below.text);
        self.starts.extend(below.starts.iter().map(|at| at + length));
        self.places.extend(below.places);
        self
    }
}

/// What stands between the frames of a row: left, and behind the last.
fn columns(picture: &Buffer, y: u16) -> Vec<(u16, u16)> {
    let area = picture.area;
    let is_frame = |x: &u16| picture[(*x, y)].symbol().starts_with(|c| ('\u{2500}'..='\u{259f}').contains(&c));
    let frames = (area.left()..area.right()).filter(is_frame);
    let mut from = area.left();
    let mut found = Vec::new();
    for frame in frames.chain([area.right()]) {
        if frame > from {
            found.push((from, frame));
        }
        from = frame + 1;
    }
    found
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

    #[test]
    fn a_secret_that_goes_on_in_the_next_row_or_is_cut_is_masked_too() {
        let mut picture = Buffer::with_lines(["│ it is canary │other    │", "│   -01        │canar    │", "│ 23 and more  │canary-… │"]);
        redactor().picture(&mut picture);
        let wanted = Buffer::with_lines(["│ it is ****** │other    │", "│   ***        │canar    │", "│ ** and more  │*******… │"]);
        assert_eq!(picture, wanted);
        // What stands side by side is not one text, nor is what a frame parts.
        let lines = ["│cana│ry-0123│", "├────┼───────┤", "│ry-0│123    │"];
        let mut picture = Buffer::with_lines(lines);
        redactor().picture(&mut picture);
        assert_eq!(picture, Buffer::with_lines(lines));
    }
}
