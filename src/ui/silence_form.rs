//! The form of a silence: matchers row by row, for how long, by whom and why. What is wrong is known while it is typed, by the same checks that
//! the engine makes.

use super::keymap::key_name;
use super::line::{History, Line};
use super::panes::rules::{duration_ms, duration_words};
use crate::event::{MATCHERS_MAX, Matching, SafeText, Silence, SilenceKind, SilenceMatcher};
use crate::state::DashState;
use crate::ui::lang::tr;
use crossterm::event::KeyEvent;
use std::collections::BTreeSet;

/// How long a silence may be said to last, beside any other time.
pub const DURATIONS: [&str; 5] = ["30m", "1h", "2h", "8h", "1d"];
/// Longer is a rule that should be changed.
pub const SILENCE_MS_MAX: i64 = 365 * 86_400 * 1_000;

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    New,
    /// A short silence by which somebody says that they see to it.
    Acknowledge,
    /// It takes the place of the silence of this name.
    Edit(SafeText),
}

/// One condition on a label, as it is filled in. Without a name and a value it is none.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    name: Line,
    is_regex: bool,
    is_not: bool,
    value: Line,
}

impl Row {
    fn of(matcher: &SilenceMatcher) -> Self {
        let (name, value) = (Line::from(matcher.name.as_str()), Line::from(matcher.value.as_str()));
        Self { name, is_regex: matcher.is_regex, is_not: !matcher.is_equal, value }
    }

    fn is_blank(&self) -> bool {
        self.name.text().is_empty() && self.value.text().is_empty()
    }

    fn operator(&self) -> &'static str {
        match (self.is_not, self.is_regex) {
            (false, false) => "=",
            (true, false) => "!=",
            (false, true) => "=~",
            (true, true) => "!~",
        }
    }

    fn matcher(&self) -> SilenceMatcher {
        let (name, value) = (SafeText::new(self.name.text().trim()), SafeText::new(self.value.text()));
        SilenceMatcher { name, value, is_regex: self.is_regex, is_equal: !self.is_not }
    }

    fn problem_of_name(&self) -> Option<String> {
        let name = self.name.text().trim();
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match (name.is_empty(), is_name) {
            (true, _) if self.is_blank() => None,
            (true, _) => Some(tr!("a label is to be named")),
            (false, false) => Some(tr!("a label is letters, digits and _")),
            (false, true) => None,
        }
    }

    fn problem_of_value(&self) -> Option<String> {
        Matching::new(&[self.matcher()]).err().filter(|_| !self.is_blank())
    }
}

/// What the keys are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Name(usize),
    Operator(usize),
    Value(usize),
    Lasts,
    By,
    Note,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SilenceEdit {
    More,
    Send,
    Cancel,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SilenceForm {
    pub purpose: Purpose,
    /// The last one is blank, to be filled in.
    rows: Vec<Row>,
    lasts: Line,
    by: Line,
    note: Line,
    at: Slot,
}

impl SilenceForm {
    pub fn new(purpose: Purpose, matchers: &[SilenceMatcher], lasts_ms: i64, by: &str) -> Self {
        let at = if matchers.is_empty() { Slot::Name(0) } else { Slot::Note };
        let rows = matchers.iter().map(Row::of).chain([Row::default()]).collect();
        let lasts = Line::from(duration_words(lasts_ms));
        Self { purpose, rows, lasts, by: Line::from(by), note: Line::default(), at }
    }

    /// Of a silence that stands: what is left of it, from now on.
    pub fn of(id: &SafeText, silence: &Silence, now_ms: i64) -> Self {
        let left_ms = silence.ends_ms.saturating_sub(now_ms);
        let mut form = Self::new(Purpose::Edit(id.clone()), &silence.matchers, left_ms, &silence.created_by);
        (form.note, form.at) = (Line::from(silence.comment.as_str()), Slot::Lasts);
        form
    }

    pub fn at(&self) -> Slot {
        self.at
    }

    /// Name, operator and value of each row of matchers.
    pub fn matchers(&self) -> impl Iterator<Item = (&Line, &'static str, &Line)> {
        self.rows.iter().map(|row| (&row.name, row.operator(), &row.value))
    }

    pub fn lasts(&self) -> &Line {
        &self.lasts
    }

    pub fn by(&self) -> &Line {
        &self.by
    }

    pub fn note(&self) -> &Line {
        &self.note
    }

    fn slots(&self) -> Vec<Slot> {
        let rows = (0..self.rows.len()).flat_map(|n| [Slot::Name(n), Slot::Operator(n), Slot::Value(n)]);
        rows.chain([Slot::Lasts, Slot::By, Slot::Note]).collect()
    }

    fn filled(&self) -> Vec<SilenceMatcher> {
        self.rows.iter().filter(|row| !row.is_blank()).map(Row::matcher).collect()
    }

    /// What is wrong with a field.
    pub fn problem(&self, slot: Slot) -> Option<String> {
        match slot {
            Slot::Name(n) => self.rows[n].problem_of_name().or_else(|| self.problem_of_all().filter(|_| n == 0)),
            Slot::Operator(_) => None,
            Slot::Value(n) => self.rows[n].problem_of_value(),
            Slot::Lasts => match duration_ms(self.lasts.text().trim()) {
                None => Some(tr!("a time is needed, such as 30m, 2h or 1d")),
                Some(ms) if !(1..=SILENCE_MS_MAX).contains(&ms) => Some(tr!("a silence lasts from a second to a year")),
                Some(_) => None,
            },
            Slot::By => self.by.text().trim().is_empty().then(|| tr!("say who answers for it")),
            Slot::Note => self.note.text().trim().is_empty().then(|| tr!("say why: who comes next is to know")),
        }
    }

    /// What is wrong with the matchers together.
    fn problem_of_all(&self) -> Option<String> {
        let filled = self.filled();
        if filled.is_empty() {
            return Some(tr!("name at least one label, such as alertname"));
        }
        if filled.len() > MATCHERS_MAX {
            return Some(tr!("there are {n} matchers, {max} at most", n = filled.len(), max = MATCHERS_MAX));
        }
        let meets_all = Matching::new(&filled).is_ok_and(|matching| matching.is_of_all());
        meets_all.then(|| tr!("this meets every alert; name a label that an alert must have"))
    }

    /// Every field with what is wrong with it, in the order of the form.
    pub fn problems(&self) -> Vec<(Slot, String)> {
        self.slots().into_iter().filter_map(|slot| Some((slot, self.problem(slot)?))).collect()
    }

    /// Matchers that can be tried on alerts now; none while one of them is wrong.
    pub fn usable(&self) -> Option<Vec<SilenceMatcher>> {
        let is_of_matchers = |slot: &Slot| matches!(slot, Slot::Name(_) | Slot::Operator(_) | Slot::Value(_));
        self.problems().iter().all(|(slot, _)| !is_of_matchers(slot)).then(|| self.filled())
    }

    /// The silence that it comes to, from now (milliseconds since 1970) on; what is wrong, if so, and then the field with it has the keys.
    pub fn silence(&mut self, now_ms: i64) -> Result<Silence, String> {
        if let Some((slot, told)) = self.problems().into_iter().next() {
            self.at = slot;
            return Err(told);
        }
        let lasts_ms = duration_ms(self.lasts.text().trim()).unwrap_or(0);
        Ok(Silence {
            kind: if self.purpose == Purpose::Acknowledge { SilenceKind::Acknowledgement } else { SilenceKind::Silence },
            matchers: self.filled(),
            starts_ms: now_ms,
            ends_ms: now_ms.saturating_add(lasts_ms),
            created_by: SafeText::new(self.by.text().trim()),
            comment: SafeText::new(self.note.text().trim()),
        })
    }

    /// What the field with the keys could be, of what is known.
    pub fn choices(&self, state: &DashState) -> Vec<String> {
        let labels = || state.alerting.alerts.iter().filter_map(|a| a.change.detail.as_ref()).flat_map(|d| d.labels.iter());
        let sorted = |words: BTreeSet<String>| words.into_iter().collect();
        match self.at {
            Slot::Name(_) => sorted(labels().map(|(name, _)| name.to_string()).collect()),
            Slot::Value(n) => {
                let name = self.rows[n].name.text().trim();
                sorted(labels().filter(|(own, _)| own.as_str() == name).map(|(_, value)| value.to_string()).collect())
            }
            Slot::Operator(_) => ["=", "!=", "=~", "!~"].map(str::to_owned).to_vec(),
            Slot::Lasts => DURATIONS.map(str::to_owned).to_vec(),
            Slot::By | Slot::Note => Vec::new(),
        }
    }

    fn line_mut(&mut self) -> Option<&mut Line> {
        match self.at {
            Slot::Name(n) => Some(&mut self.rows[n].name),
            Slot::Value(n) => Some(&mut self.rows[n].value),
            Slot::Operator(_) => None,
            Slot::Lasts => Some(&mut self.lasts),
            Slot::By => Some(&mut self.by),
            Slot::Note => Some(&mut self.note),
        }
    }

    fn text(&self) -> &str {
        match self.at {
            Slot::Name(n) => self.rows[n].name.text(),
            Slot::Operator(n) => self.rows[n].operator(),
            Slot::Value(n) => self.rows[n].value.text(),
            Slot::Lasts => self.lasts.text(),
            Slot::By => self.by.text(),
            Slot::Note => self.note.text(),
        }
    }

    fn set(&mut self, text: &str) {
        if let Slot::Operator(n) = self.at {
            (self.rows[n].is_not, self.rows[n].is_regex) = (text.starts_with('!'), text.ends_with('~'));
        }
        if let Some(line) = self.line_mut() {
            *line = Line::from(text);
        }
        self.keep_a_blank();
    }

    /// The next of what the field could be, or the one before; unset where there is nothing to choose.
    fn choose(&mut self, state: &DashState, forward: bool) -> Option<()> {
        let choices = self.choices(state);
        let count = choices.len();
        let next = match (choices.iter().position(|c| c == self.text()), forward) {
            (_, _) if count == 0 => return None,
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        self.set(&choices[next]);
        Some(())
    }

    fn go(&mut self, by: usize) {
        let slots = self.slots();
        let here = slots.iter().position(|slot| *slot == self.at).unwrap_or(0);
        self.at = slots[(here + by) % slots.len()];
    }

    /// Takes the row of matchers with the keys out.
    fn take_row_out(&mut self) {
        let (Slot::Name(n) | Slot::Operator(n) | Slot::Value(n)) = self.at else { return };
        self.rows.remove(n);
        self.keep_a_blank();
        self.at = Slot::Name(n.min(self.rows.len() - 1));
    }

    fn keep_a_blank(&mut self) {
        if self.rows.last().is_none_or(|row| !row.is_blank()) && self.rows.len() <= MATCHERS_MAX {
            self.rows.push(Row::default());
        }
    }

    /// The field of a cell gets the keys.
    pub fn focus(&mut self, slot: Slot) {
        if self.slots().contains(&slot) {
            self.at = slot;
        }
    }

    pub fn key(&mut self, key: &KeyEvent, state: &DashState) -> SilenceEdit {
        let name = key_name(key).unwrap_or_default();
        let last = self.slots().len() - 1;
        match (name.as_str(), self.at) {
            ("esc" | "ctrl-c", _) => return SilenceEdit::Cancel,
            ("enter", _) => return SilenceEdit::Send,
            ("tab", _) => self.go(1),
            ("backtab", _) => self.go(last),
            ("ctrl-d", _) => self.take_row_out(),
            ("down" | "up", _) => {
                if self.choose(state, name == "down").is_none() {
                    self.go(if name == "down" { 1 } else { last });
                }
            }
            ("left" | "right" | "space", Slot::Operator(_)) => drop(self.choose(state, name != "left")),
            ("!", Slot::Operator(n)) => self.rows[n].is_not ^= true,
            ("~", Slot::Operator(n)) => self.rows[n].is_regex ^= true,
            ("=", Slot::Operator(n)) => (self.rows[n].is_not, self.rows[n].is_regex) = (false, false),
            // A line alone would be closed by it.
            ("backspace" | "ctrl-h", _) if self.text().is_empty() => {}
            (_, _) => {
                if let Some(line) = self.line_mut() {
                    line.key(key, &History::default());
                    self.keep_a_blank();
                }
            }
        }
        SilenceEdit::More
    }

    /// Puts pasted text into the field with the keys.
    pub fn insert(&mut self, text: &str) {
        if let Some(line) = self.line_mut() {
            line.insert(text);
            self.keep_a_blank();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn press(form: &mut SilenceForm, code: KeyCode) -> SilenceEdit {
        form.key(&KeyEvent::new(code, KeyModifiers::NONE), &DashState::default())
    }

    fn type_in(form: &mut SilenceForm, text: &str) {
        for c in text.chars() {
            press(form, KeyCode::Char(c));
        }
    }

    fn form() -> SilenceForm {
        let matchers = ["alertname=GpuHot".parse().unwrap(), "gpu=\"0\"".parse().unwrap()];
        SilenceForm::new(Purpose::New, &matchers, 7_200_000, "ops")
    }

    #[test]
    fn what_is_filled_in_is_the_silence() {
        let mut form = form();
        assert_eq!(form.at(), Slot::Note);
        assert!(form.silence(0).unwrap_err().contains("say why"));
        type_in(&mut form, "fans are swapped");
        let silence = form.silence(1_000).unwrap();
        assert_eq!((silence.starts_ms, silence.ends_ms), (1_000, 7_201_000));
        assert_eq!((silence.created_by.as_str(), silence.comment.as_str()), ("ops", "fans are swapped"));
        let told: Vec<String> = silence.matchers.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["alertname=\"GpuHot\"", "gpu=\"0\""]);
    }

    #[test]
    fn matchers_are_edited_row_by_row_and_one_more_waits() {
        let mut form = form();
        type_in(&mut form, "x");
        form.focus(Slot::Operator(1));
        press(&mut form, KeyCode::Char('~'));
        press(&mut form, KeyCode::Tab);
        press(&mut form, KeyCode::Backspace);
        type_in(&mut form, "[01");
        assert!(matches!(form.problems().as_slice(), [(Slot::Value(1), _)]), "{:?}", form.problems());
        assert!(form.usable().is_none() && form.silence(0).is_err());
        type_in(&mut form, "]");
        assert_eq!(form.usable().unwrap()[1].to_string(), "gpu=~\"[01]\"");
        form.focus(Slot::Name(2));
        type_in(&mut form, "job");
        assert_eq!(form.matchers().count(), 4, "a blank row waits behind it");
        let ctrl_d = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
        form.key(&ctrl_d, &DashState::default());
        assert_eq!((form.at(), form.filled().len()), (Slot::Name(2), 2));
    }

    #[test]
    fn what_meets_every_alert_or_no_label_is_refused() {
        for (matcher, told) in [("gpu!=0", "every alert"), ("gpu=~.*", "every alert")] {
            let mut form = SilenceForm::new(Purpose::New, &[matcher.parse().unwrap()], 1_000, "ops");
            type_in(&mut form, "x");
            assert!(form.silence(0).unwrap_err().contains(told), "{matcher}");
        }
        let mut empty = SilenceForm::new(Purpose::New, &[], 1_000, "ops");
        assert_eq!(empty.at(), Slot::Name(0));
        assert!(empty.silence(0).unwrap_err().contains("at least one label"));
        type_in(&mut empty, "a b");
        assert!(empty.problem(Slot::Name(0)).unwrap().contains("letters"));
    }

    #[test]
    fn a_time_is_typed_or_chosen() {
        let mut form = form();
        form.focus(Slot::Lasts);
        press(&mut form, KeyCode::Down);
        assert_eq!(form.lasts().text(), "8h");
        type_in(&mut form, "x");
        assert!(form.problem(Slot::Lasts).is_some());
        press(&mut form, KeyCode::Up);
        assert_eq!((form.lasts().text(), form.problem(Slot::Lasts)), ("1d", None));
    }
}
