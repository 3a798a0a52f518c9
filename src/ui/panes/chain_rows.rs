//! One row of the thought chain, laid out as lines.

use super::heat::Heat;
use crate::event::{ErrorType, SafeText, ToolCall};
use crate::state::{Outcome, Row, RowKind, TokenMeasure};
use crate::ui::lang::tr;
use crate::ui::view::Detail;
use crate::ui::widgets::{Glyphs, Role, format, json, text};

/// Lines of a result that `Normal` shows.
const RESULT_LINES: usize = 2;
/// From this width on, lines begin with marks for cursor and fold.
pub const MARKS_WIDTH_MIN: u16 = 50;

/// A line: spans from the left, and one text at its right end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    pub spans: Vec<(String, Role)>,
    pub right: Option<(String, Role)>,
}

/// What a row's lines depend on, beside the row.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub width: u16,
    pub detail: Detail,
    /// The observation as the model reads it, not as people do.
    pub compact: bool,
    /// What marks the tokens of thoughts.
    pub overlay: Option<TokenMeasure>,
    pub glyphs: Glyphs,
}

impl Shape {
    /// Columns before the text.
    pub fn indent(&self) -> u16 {
        let marks = if self.width >= MARKS_WIDTH_MIN { 2 } else { 0 };
        marks + if self.width >= 20 { 6 } else { 2 }
    }
}

/// Lays `row` out. `open` is the row's own fold; unset, the detail level decides.
pub fn lay_out(row: &Row, shape: &Shape, open: Option<bool>) -> Vec<Line> {
    let detail = match open {
        None => shape.detail,
        Some(true) => Detail::Full,
        Some(false) => Detail::Brief,
    };
    let mut out = Builder::new(shape, row.step.0);
    match &row.kind {
        RowKind::EpisodeStart { seed, level, goal } => out.episode_start(row, *seed, &level.to_string(), goal),
        RowKind::Observation { text, compact } => {
            let shown = if shape.compact { compact } else { text };
            out.observation(shown, if shape.compact && detail == Detail::Normal { Detail::Full } else { detail });
        }
        RowKind::Thought { text, tokens, duration_ns, logprob_mean, entropy_mean, trace } => {
            let figures = format!("{}  {}", format::counted(u64::from(*tokens), "token"), format::duration(*duration_ns));
            let heat = shape.overlay.zip(trace.as_deref()).map(|(measure, trace)| Heat::new(measure, trace));
            match heat.filter(|heat| !heat.is_empty() && detail != Detail::Brief) {
                Some(heat) => out.heated(text, &heat, &figures),
                None => out.thought(text, detail, &figures),
            }
            if detail == Detail::Full {
                let part = |value: &Option<f32>| format::or_unset(*value, |v| format!("{v:.2}"));
                let (logprob, entropy) = (part(logprob_mean), part(entropy_mean));
                out.note(&tr!("mean log-prob {logprob}  mean entropy {entropy} nats", logprob = logprob, entropy = entropy));
            }
        }
        RowKind::Action { call, outcome, reward, .. } => {
            if shape.compact && detail != Detail::Brief {
                out.json_action(call, outcome.as_ref(), *reward);
            } else {
                let json = || SafeText::from(serde_json::to_string(call).unwrap_or_default());
                let call = if shape.compact { json() } else { call.display() };
                out.action(&call, outcome.as_ref(), *reward, detail);
            }
        }
        RowKind::Text { text } => out.thought(text, detail, &tr!("no call")),
        RowKind::Compressed { before, after: 0, .. } => {
            out.plain('M', &tr!("memory emptied: {before} tokens held nothing to keep", before = before), Role::Dim)
        }
        RowKind::Compressed { before, after, ratio } => {
            let ratio = format!("{ratio:.1}");
            let text = tr!("memory compressed: {before} -> {after} tokens ({ratio}:1)", before = before, after = after, ratio = ratio);
            out.plain('M', &text, Role::Dim);
        }
        RowKind::EpisodeEnd { success, episode_return, hybrid, final_reward, length, truncated, aborted, truth } => {
            let (word, role) = match (success, aborted, truncated) {
                (_, true, _) => (tr!("X ABORTED"), Role::Warn),
                (true, false, _) => (tr!("S SUCCESS"), Role::Good),
                (false, false, true) => (tr!("F FAILED (step limit)"), Role::Bad),
                (false, false, false) => (tr!("F FAILED"), Role::Bad),
            };
            let figures = tr!(
                "{steps}  return {sum}  hybrid {hybrid}  final {last}",
                steps = format::counted(u64::from(*length), "step"),
                sum = format!("{episode_return:.2}"),
                hybrid = format!("{hybrid:.2}"),
                last = format!("{final_reward:.2}")
            );
            out.episode_end(row, (&word, role), &figures, truth);
        }
        RowKind::Swapped { from, to } => {
            out.plain('C', &tr!("{from} -> {to}: serves from here on", from = from, to = to), Role::Mark);
        }
        RowKind::Note { text } => out.plain('N', text, Role::Dim),
    }
    out.lines
}

/// The message that is being decoded.
pub fn lay_out_streaming(raw: &SafeText, step: u32, rate: &str, shape: &Shape) -> Vec<Line> {
    // The marks of the message format are for the model; people read words.
    let words = raw.replace("<think>", "").replace("<end>", "").replace("<act>", "\n=> ");
    let mut out = Builder::new(shape, step);
    out.wrapped('T', words.trim_start(), Role::Thought);
    out.lines.push(Line { spans: Vec::new(), right: Some((tr!("streaming  {rate}", rate = rate), Role::Dim)) });
    out.lines
}

/// Whether a row holds `needle`, which is in lower case.
pub fn holds(row: &Row, needle: &str) -> bool {
    let has = |hay: &str| text::holds(hay, needle);
    match &row.kind {
        RowKind::EpisodeStart { goal, .. } => has(goal),
        RowKind::Observation { text, compact } => has(text) || has(compact),
        RowKind::Thought { text, .. } | RowKind::Text { text } | RowKind::Note { text } => has(text),
        RowKind::Action { call, outcome, .. } => has(&call.display()) || outcome.as_ref().is_some_and(|o| has(&o.result)),
        RowKind::Compressed { .. } => has("memory compressed") || has(&tr!("memory compressed")),
        RowKind::Swapped { from, to } => has(&from.0) || has(&to.0) || has("swap"),
        RowKind::EpisodeEnd { truth, .. } => has(truth),
    }
}

/// Whether a row is a call that failed.
pub fn failed(row: &Row) -> bool {
    matches!(&row.kind, RowKind::Action { outcome: Some(Outcome { error_type: Some(_), .. }), .. })
}

/// A word for why a call failed.
pub fn error_word(error: ErrorType) -> String {
    match error {
        ErrorType::Format => tr!("format"),
        ErrorType::UnknownTool => tr!("unknown tool"),
        ErrorType::Schema => tr!("schema"),
        ErrorType::Refused => tr!("refused"),
        ErrorType::RateLimited => tr!("rate limited"),
        ErrorType::Timeout => tr!("timeout"),
        ErrorType::Failed => tr!("failed"),
    }
}

/// What came of a call, in short.
fn status(outcome: Option<&Outcome>) -> (String, Role) {
    match outcome {
        None => (tr!("in flight"), Role::Warn),
        Some(Outcome { error_type: None, duration_ns, .. }) => (format!("{}  ok", format::duration_in(7, *duration_ns)), Role::Dim),
        Some(Outcome { error_type: Some(e), duration_ns, .. }) => {
            (format!("{}  E {}", format::duration_in(7, *duration_ns), error_word(*e)), Role::Bad)
        }
    }
}

struct Builder<'a> {
    shape: &'a Shape,
    step: u32,
    /// Columns before the text.
    indent: u16,
    lines: Vec<Line>,
}

impl<'a> Builder<'a> {
    fn new(shape: &'a Shape, step: u32) -> Self {
        Self { shape, step, indent: shape.indent(), lines: Vec::new() }
    }

    fn room(&self) -> usize {
        self.shape.width.saturating_sub(self.indent).max(1) as usize
    }

    /// A thought with its tokens marked: roles on the text, and below each line the digit of every token under its first cell.
    fn heated(&mut self, text: &str, heat: &Heat, figures: &str) {
        let lines = heat.lay_out(text, self.room(), self.shape.glyphs.ambiguous);
        for (number, (spans, digits)) in lines.into_iter().enumerate() {
            if number == 0 {
                let mut line = self.head('T', 'v');
                line.extend(spans);
                self.lines.push(Line { spans: line, right: None });
                self.right(figures, Role::Dim);
            } else {
                let pad = (" ".repeat(self.indent as usize), Role::Text);
                self.lines.push(Line { spans: std::iter::once(pad).chain(spans).collect(), right: None });
            }
            self.more(digits, Role::Dim);
        }
    }

    /// A call and its result as JSON, indented where there is room for that.
    fn json_action(&mut self, call: &ToolCall, outcome: Option<&Outcome>, reward: Option<f64>) {
        let (status, role) = status(outcome);
        let right = reward.map_or_else(|| status.clone(), |r| format!("{status}  r {}", format::reward(r)));
        let pretty = serde_json::to_value(call).map(|value| json::pretty(&value, self.room())).unwrap_or_default();
        for (number, line) in pretty.into_iter().enumerate() {
            if number == 0 {
                let mut spans = self.head('A', 'v');
                spans.extend(line);
                self.lines.push(Line { spans, right: None });
                self.right(&right, role);
            } else {
                self.more_spans(line);
            }
        }
        let Some(outcome) = outcome.filter(|o| !o.result.trim().is_empty()) else { return };
        match serde_json::from_str::<serde_json::Value>(&outcome.result) {
            Ok(value) if value.is_object() || value.is_array() => {
                for line in json::pretty(&value, self.room()) {
                    self.more_spans(line);
                }
            }
            Ok(_) | Err(_) => self.result(&outcome.result, Detail::Full, outcome.error_type.is_some()),
        }
    }

    fn more_spans(&mut self, spans: Vec<(String, Role)>) {
        let pad = (" ".repeat(self.indent as usize), Role::Text);
        self.lines.push(Line { spans: std::iter::once(pad).chain(spans).collect(), right: None });
    }

    fn wrap(&self, text: &str) -> Vec<String> {
        text::wrap(text, self.room(), self.shape.glyphs.ambiguous)
    }

    fn cells(&self, text: &str) -> usize {
        text::width(text, self.shape.glyphs.ambiguous)
    }

    fn cut(&self, text: &str, room: usize) -> String {
        text::truncate(text, room, self.shape.glyphs.cut(), self.shape.glyphs.ambiguous)
    }

    /// The head of a row's first line: fold mark, step, letter.
    fn head(&self, letter: char, fold: char) -> Vec<(String, Role)> {
        let role = match letter {
            'T' => Role::Thought,
            'A' => Role::Action,
            'O' => Role::Observation,
            _ => Role::Dim,
        };
        let mut spans = Vec::new();
        if self.shape.width >= MARKS_WIDTH_MIN {
            spans.push((format!(" {fold}"), Role::Dim));
        }
        if self.shape.width >= 20 {
            spans.push((format!("{:>3} ", self.step), Role::Dim));
        }
        spans.push((format!("{letter} "), role));
        spans
    }

    fn first(&mut self, letter: char, fold: char, text: String, role: Role) {
        let mut spans = self.head(letter, fold);
        spans.push((text, role));
        self.lines.push(Line { spans, right: None });
    }

    fn more(&mut self, text: String, role: Role) {
        let pad = " ".repeat(self.indent as usize);
        self.lines.push(Line { spans: vec![(pad, Role::Text), (text, role)], right: None });
    }

    /// Puts `right` at the end of the last line where it has room; says whether it did.
    fn right(&mut self, right: &str, role: Role) -> bool {
        let used: usize = self.lines.last().map_or(0, |l| l.spans.iter().map(|(t, _)| self.cells(t)).sum());
        let fits = used + 2 + self.cells(right) <= self.shape.width as usize;
        if let Some(line) = self.lines.last_mut().filter(|_| fits) {
            line.right = Some((right.to_owned(), role));
        }
        fits
    }

    fn wrapped(&mut self, letter: char, text: &str, role: Role) {
        let mut lines = self.wrap(text).into_iter();
        let first = lines.next().unwrap_or_default();
        let fold = if lines.len() > 0 { 'v' } else { ' ' };
        self.first(letter, fold, first, role);
        for line in lines {
            self.more(line, role);
        }
    }

    /// Says of the row's first line that it can be folded, whatever its length.
    fn can_fold(&mut self, can: bool) {
        let mark = self.lines.first_mut().and_then(|line| line.spans.first_mut());
        if let Some((mark, _)) = mark.filter(|_| can && self.shape.width >= MARKS_WIDTH_MIN) {
            *mark = " v".into();
        }
    }

    fn plain(&mut self, letter: char, text: &str, role: Role) {
        self.wrapped(letter, text, role);
    }

    fn note(&mut self, text: &str) {
        for line in self.wrap(text) {
            self.more(line, Role::Dim);
        }
    }

    fn thought(&mut self, text: &str, detail: Detail, figures: &str) {
        if text.trim().is_empty() {
            self.first('T', ' ', tr!("(no thought)"), Role::Dim);
        } else if detail == Detail::Brief {
            self.one_line('T', text, Role::Thought);
            return;
        } else {
            self.wrapped('T', text.trim(), Role::Thought);
        }
        if !self.right(figures, Role::Dim) && detail == Detail::Full {
            self.note(figures);
        }
    }

    /// The first line of `text`, and how many more there are.
    fn one_line(&mut self, letter: char, text: &str, role: Role) {
        let hidden = self.wrap(text.trim()).len().saturating_sub(1);
        let more = if hidden > 0 { format!("[+{}]", format::counted(hidden as u64, "line")) } else { String::new() };
        let room = self.room().saturating_sub(if hidden > 0 { self.cells(&more) + 2 } else { 0 });
        let line = self.cut(text.trim(), room);
        self.first(letter, if hidden > 0 { '>' } else { ' ' }, line, role);
        if hidden > 0 {
            self.right(&more, Role::Dim);
        }
    }

    fn observation(&mut self, text: &str, detail: Detail) {
        if detail == Detail::Full {
            self.wrapped('O', text.trim(), Role::Observation);
            return;
        }
        // An observation's first line says when, its last line what is wrong.
        let mut lines = text.trim().lines();
        let (first, last) = (lines.next().unwrap_or(""), lines.next_back());
        let between = lines.count();
        let summary = last.map_or_else(|| first.to_owned(), |last| format!("{first}  {last}"));
        if between == 0 {
            self.one_line('O', &summary, Role::Observation);
            return;
        }
        let more = format!("[+{}]", format::counted(between as u64, "line"));
        let line = self.cut(&summary, self.room().saturating_sub(self.cells(&more) + 2));
        self.first('O', '>', line, Role::Observation);
        self.right(&more, Role::Dim);
    }

    fn action(&mut self, call: &SafeText, outcome: Option<&Outcome>, reward: Option<f64>, detail: Detail) {
        let (status, role) = status(outcome);
        let right = reward.map_or_else(|| status.clone(), |r| format!("{status}  r {}", format::reward(r)));
        let room = self.room().saturating_sub(self.cells(&right) + 2);
        let result = outcome.map_or("", |o| o.result.trim());
        let hidden = detail == Detail::Brief && !result.is_empty();
        let fits = self.cells(call) <= room && !call.contains('\n');
        if detail == Detail::Brief && room >= 8 {
            let line = self.cut(call, room);
            self.first('A', if hidden { '>' } else { ' ' }, line, Role::Action);
        } else if fits {
            self.first('A', if result.is_empty() { ' ' } else { 'v' }, call.to_string(), Role::Action);
        } else {
            self.wrapped('A', call, Role::Action);
            self.can_fold(!result.is_empty());
        }
        if !self.right(&right, role) {
            // On a narrow screen the figures have a line of their own.
            let line = Line { spans: Vec::new(), right: Some((right, role)) };
            self.lines.push(line);
        }
        if !hidden && !result.is_empty() {
            self.result(result, detail, outcome.is_some_and(|o| o.error_type.is_some()));
        }
    }

    fn result(&mut self, result: &str, detail: Detail, failed: bool) {
        let role = if failed { Role::Bad } else { Role::Dim };
        let lines = self.wrap(result);
        let shown = if detail == Detail::Full { lines.len() } else { RESULT_LINES.min(lines.len()) };
        let hidden = lines.len() - shown;
        for line in lines.into_iter().take(shown) {
            self.more(line, role);
        }
        if hidden > 0 {
            let more = format!("[+{}]", format::counted(hidden as u64, "line"));
            if !self.right(&more, Role::Dim) {
                self.more(more, Role::Dim);
            }
        }
    }

    fn rule(&mut self, text: &str, role: Role) {
        let across = if self.shape.glyphs.plain() { "-" } else { "─" };
        let text = self.cut(&format!("{across}{across} {text} "), self.shape.width as usize);
        let rest = across.repeat((self.shape.width as usize).saturating_sub(self.cells(&text)));
        self.lines.push(Line { spans: vec![(text, role), (rest, Role::Border)], right: None });
    }

    fn episode_start(&mut self, row: &Row, seed: u64, level: &str, goal: &str) {
        self.rule(&tr!("episode {n}  level {level}  seed {seed}", n = row.episode, level = level, seed = seed), Role::Strong);
        if !goal.trim().is_empty() {
            self.note(&tr!("goal: {goal}", goal = goal.trim()));
        }
    }

    fn episode_end(&mut self, row: &Row, ending: (&str, Role), figures: &str, truth: &str) {
        self.rule(&tr!("episode {n}  {ending}", n = row.episode, ending = ending.0), ending.1);
        for line in self.wrap(figures) {
            self.more(line, Role::Text);
        }
        if !truth.trim().is_empty() {
            self.note(&tr!("truth: {truth}", truth = truth.trim()));
        }
    }
}
