//! What a `/metrics` endpoint says: Prometheus' text format 0.0.4 and OpenMetrics 1.0.
//!
//! As Prometheus takes it: one line that can't be read spoils the whole scrape, for what stands behind it may belong to something else.
//! Sources: the exposition format of Prometheus' documentation, the OpenMetrics specification 1.0.0.

/// The two formats. They differ in blanks, timestamps, exemplars and how they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Timestamps in milliseconds; any blanks and comments.
    Text004,
    /// Timestamps in seconds; exemplars; single blanks; ends with `# EOF`.
    OpenMetrics,
}

impl Dialect {
    /// By the answer's `Content-Type`; without one that says otherwise it is the text format.
    pub fn of_content_type(content_type: Option<&str>) -> Self {
        let kind = content_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/openmetrics-text") { Dialect::OpenMetrics } else { Dialect::Text004 }
    }
}

/// What one answer may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    pub samples_max: usize,
    pub labels_max: usize,
    /// Of one name or one value.
    pub label_bytes_max: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { samples_max: 200_000, labels_max: 128, label_bytes_max: 16 << 10 }
    }
}

/// One sample. Labels are in the order of the text, without those whose value is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: Vec<(String, String)>,
    pub value: f64,
    /// Milliseconds since 1970, where the endpoint gives a time.
    pub at_ms: Option<i64>,
}

/// Why an answer can't be read. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ExpositionError {
    pub line: usize,
    pub problem: String,
}

/// Hands each sample to `each`. At a fault what was handed out before is to be thrown away.
pub fn parse(bytes: &[u8], dialect: Dialect, caps: &Caps, mut each: impl FnMut(Sample)) -> Result<(), ExpositionError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
        ExpositionError { line, problem: "it is not text in UTF-8".into() }
    })?;
    let mut reader = Reader { text, at: 0, dialect, caps };
    let mut samples = 0;
    // Where the line under way begins: a fault within it is told of that line.
    let mut start = 0;
    let outcome = loop {
        match reader.line() {
            Ok(Line::Sample(sample)) => {
                samples += 1;
                if samples > caps.samples_max {
                    break Err(format!("there are more than {} samples", caps.samples_max));
                }
                each(sample);
            }
            Ok(Line::Other) => {}
            Ok(Line::End) => return Ok(()),
            Err(problem) => break Err(problem),
        }
        start = reader.at;
    };
    let line = 1 + text.as_bytes().iter().take(start).filter(|byte| **byte == b'\n').count();
    outcome.map_err(|problem| ExpositionError { line, problem })
}

enum Line {
    Sample(Sample),
    /// A comment, or nothing.
    Other,
    End,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
    caps: &'t Caps,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Up to the first byte, an ASCII one, for which `ends` holds.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Blanks of the text format, which OpenMetrics has not.
    fn blanks(&mut self) {
        if self.dialect == Dialect::Text004 {
            self.until(|byte| !matches!(byte, b' ' | b'\t'));
        }
    }

    /// One line, with its line feed.
    fn line(&mut self) -> Result<Line, String> {
        self.blanks();
        match (self.peek(), self.dialect) {
            (None, Dialect::Text004) => Ok(Line::End),
            (None, Dialect::OpenMetrics) => Err("it does not end with `# EOF`: the answer was cut short".into()),
            (Some(b'\n'), Dialect::Text004) => {
                self.at += 1;
                Ok(Line::Other)
            }
            (Some(b'\n'), Dialect::OpenMetrics) => Err("it is empty, which OpenMetrics does not allow".into()),
            (Some(b'#'), _) => self.comment(),
            (Some(_), _) => self.sample().map(Line::Sample),
        }
    }

    fn comment(&mut self) -> Result<Line, String> {
        let line = self.until(|byte| byte == b'\n');
        let has_line_feed = self.take(b'\n');
        if self.dialect == Dialect::OpenMetrics && line == "# EOF" {
            return if self.rest().is_empty() { Ok(Line::End) } else { Err("something stands behind `# EOF`".into()) };
        }
        let strict = self.dialect == Dialect::OpenMetrics;
        let Some(words) = line
            .strip_prefix('#')
            .map(|text| if strict { text.strip_prefix(' ').unwrap_or("") } else { text.trim_start_matches([' ', '\t']) })
        else {
            return Ok(Line::Other);
        };
        let (word, what) = words.split_once([' ', '\t']).unwrap_or((words, ""));
        match (word, strict) {
            ("TYPE", _) => self.kind(what)?,
            ("HELP", _) => drop(described(what, "HELP")?),
            ("UNIT", true) => drop(described(what, "UNIT")?),
            (_, true) => return Err("OpenMetrics has only the comments # TYPE, # HELP, # UNIT and # EOF".into()),
            (_, false) => {}
        }
        if strict && !has_line_feed {
            return Err("it does not end with `# EOF`: the answer was cut short".into());
        }
        Ok(Line::Other)
    }

    fn kind(&self, what: &str) -> Result<(), String> {
        let kind = described(what, "TYPE")?.trim_matches([' ', '\t']);
        let known = match self.dialect {
            Dialect::Text004 => matches!(kind, "counter" | "gauge" | "histogram" | "summary" | "untyped"),
            Dialect::OpenMetrics => {
                matches!(kind, "counter" | "gauge" | "histogram" | "summary" | "unknown" | "gaugehistogram" | "stateset" | "info")
            }
        };
        if known { Ok(()) } else { Err(format!("`{}` is no type of a metric", cut(kind))) }
    }

    fn sample(&mut self) -> Result<Sample, String> {
        let mut name = self.until(|byte| !is_name_byte(byte)).to_owned();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("`{}` is no name of a metric: it begins with a digit", cut(&name)));
        }
        self.blanks();
        let labels = if self.take(b'{') { self.labels(Some(&mut name))? } else { Vec::new() };
        if name.is_empty() {
            return Err(self.unexpected("the name of a metric"));
        }
        let value = self.number("a value")?;
        let value = float(value).ok_or_else(|| format!("`{}` is no value", cut(value)))?;
        let at_ms = self.timestamp()?;
        if self.dialect == Dialect::OpenMetrics {
            self.exemplar()?;
        }
        self.blanks();
        if !self.take(b'\n') && (self.dialect == Dialect::OpenMetrics || self.peek().is_some()) {
            return Err(self.unexpected("the end of the line"));
        }
        Ok(Sample { name, labels, value, at_ms })
    }

    /// What stands behind the labels: in OpenMetrics behind one blank, else behind any number of them.
    fn number(&mut self, what: &str) -> Result<&'t str, String> {
        self.blanks();
        if self.dialect == Dialect::OpenMetrics && !self.take(b' ') {
            return Err(self.unexpected("one blank"));
        }
        let word = self.until(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
        if word.is_empty() {
            return Err(self.unexpected(what));
        }
        if word.ends_with('\r') {
            return Err("it ends with a carriage return; lines end with a line feed alone".into());
        }
        Ok(word)
    }

    fn timestamp(&mut self) -> Result<Option<i64>, String> {
        self.blanks();
        match (self.peek(), self.dialect) {
            (None | Some(b'\n'), _) => Ok(None),
            (Some(_), Dialect::OpenMetrics) if self.rest().starts_with(" # ") => Ok(None),
            (Some(_), Dialect::Text004) => {
                let word = self.number("a timestamp")?;
                word.parse().map(Some).map_err(|_| format!("`{}` is no timestamp in milliseconds", cut(word)))
            }
            (Some(_), Dialect::OpenMetrics) => {
                let word = self.number("a timestamp")?;
                let seconds = float(word).filter(|seconds| seconds.is_finite() && seconds.abs() < 9.0e15);
                let seconds = seconds.ok_or_else(|| format!("`{}` is no timestamp in seconds", cut(word)))?;
                Ok(Some((seconds * 1000.0) as i64))
            }
        }
    }

    /// ` # {labels} value [timestamp]`: an example of what a sample counts. It is read, so that what stands in it spoils nothing, and left.
    fn exemplar(&mut self) -> Result<(), String> {
        if !self.rest().starts_with(" # ") {
            return Ok(());
        }
        self.at += 3;
        if !self.take(b'{') {
            return Err(self.unexpected("the labels of an exemplar"));
        }
        self.labels(None)?;
        let value = self.number("the value of an exemplar")?;
        if float(value).is_none() {
            return Err(format!("`{}` is no value of an exemplar", cut(value)));
        }
        self.timestamp().map(drop)
    }

    /// Behind `{`, up to and with `}`. A quoted text alone is the metric's name, where that has not been given.
    fn labels(&mut self, mut name: Option<&mut String>) -> Result<Vec<(String, String)>, String> {
        let mut labels: Vec<(String, String)> = Vec::new();
        loop {
            self.blanks();
            if self.take(b'}') {
                break;
            }
            let is_quoted = self.peek() == Some(b'"');
            let own = if is_quoted { self.quoted()? } else { self.until(|byte| !is_label_byte(byte)).to_owned() };
            if own.is_empty() || own.starts_with(|c: char| c.is_ascii_digit() && !is_quoted) {
                return Err(self.unexpected("the name of a label"));
            }
            self.blanks();
            match (self.take(b'='), &mut name) {
                (true, _) => self.value_of(own, &mut labels)?,
                (false, Some(name)) if is_quoted && name.is_empty() => **name = own,
                (false, _) => return Err(self.unexpected(&format!("`=` behind label `{}`", cut(&own)))),
            }
            self.blanks();
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        labels.retain(|(_, value)| !value.is_empty());
        Ok(labels)
    }

    fn value_of(&mut self, name: String, labels: &mut Vec<(String, String)>) -> Result<(), String> {
        self.blanks();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(&format!("the value of label `{}` in quotes", cut(&name))));
        }
        let value = self.quoted()?;
        if labels.iter().any(|(own, _)| *own == name) {
            return Err(format!("label `{}` stands twice", cut(&name)));
        }
        if labels.len() == self.caps.labels_max {
            return Err(format!("a series has more than {} labels", self.caps.labels_max));
        }
        if name.len().max(value.len()) > self.caps.label_bytes_max {
            return Err(format!("label `{}` is longer than {} bytes", cut(&name), self.caps.label_bytes_max));
        }
        labels.push((name, value));
        Ok(())
    }

    /// From quote to quote. `\\`, `\"` and `\n` are escapes; another backslash stands for itself.
    fn quoted(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            out.push_str(self.until(|byte| matches!(byte, b'"' | b'\\' | b'\n')));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\n') if self.dialect == Dialect::Text004 => {
                    self.at += 1;
                    out.push('\n');
                }
                Some(b'\\') => {
                    self.at += 1;
                    let Some(escaped) = self.rest().chars().next() else { return Err("a quote is not closed".into()) };
                    self.at += escaped.len_utf8();
                    match escaped {
                        '\\' | '"' => out.push(escaped),
                        'n' => out.push('\n'),
                        other => out.extend(['\\', other]),
                    }
                }
                Some(_) | None => return Err("a quote is not closed".into()),
            }
            if out.len() > self.caps.label_bytes_max {
                return Err(format!("a quoted text is longer than {} bytes; perhaps its quote is not closed", self.caps.label_bytes_max));
            }
        }
    }

    fn unexpected(&self, wanted: &str) -> String {
        match self.rest().chars().next() {
            None => format!("{wanted} is missing: the answer ends here"),
            Some('\n') => format!("{wanted} is missing: the line ends here"),
            Some('\r') => "it ends with a carriage return; lines end with a line feed alone".into(),
            Some(found) => format!("{wanted} should stand where `{found}` is"),
        }
    }
}

/// What a comment says of a metric behind its name.
fn described<'t>(what: &'t str, word: &str) -> Result<&'t str, String> {
    let what = what.trim_start_matches([' ', '\t']);
    if what.starts_with('"') {
        // A name in quotes may hold blanks; what stands behind it is not asked for.
        let closing = what.char_indices().skip(1).scan(false, |escaped, (at, c)| {
            let closes = c == '"' && !*escaped;
            *escaped = c == '\\' && !*escaped;
            Some((at, closes))
        });
        let end = closing.into_iter().find(|(_, closes)| *closes).map(|(at, _)| at);
        return end.and_then(|end| what.get(end + 1..)).ok_or_else(|| format!("a quote behind # {word} is not closed"));
    }
    let (name, rest) = what.split_once([' ', '\t']).unwrap_or((what, ""));
    let is_name = !name.is_empty() && name.bytes().all(is_name_byte) && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_name { Ok(rest) } else { Err(format!("the name of a metric should stand behind # {word}")) }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':')
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// As Go reads a number in decimal: a signed NaN and a number too large for a double are none.
fn float(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let is_signed = text.starts_with(['+', '-']);
    let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let fits = if has_digits { value.is_finite() } else { !(value.is_nan() && is_signed) };
    fits.then_some(value)
}

/// The beginning of a text, for an error.
fn cut(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let mut short: String = text.chars().take(CHARS_MAX).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
#[path = "exposition_tests.rs"]
mod tests;
