//! Alerts that make themselves heard: the terminal's bell, or a notification of the desktop by OSC 9 or OSC 777.

use super::widgets::text;
use crate::config::{Notify, Severity};
use crate::event::{AlertState, AlertStateChanged, SafeText};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A rule is heard at most this often.
const EVERY: Duration = Duration::from_secs(60);
/// Rules that are remembered.
const RULES_MAX: usize = 1_000;
/// Cells of a notification.
const CELLS_MAX: usize = 120;

#[derive(Debug)]
pub struct Notifier {
    how: Notify,
    least: Severity,
    in_tmux: bool,
    heard: BTreeMap<String, Instant>,
}

impl Notifier {
    pub fn new(how: Notify, least: Severity, in_tmux: bool) -> Self {
        Self { how, least, in_tmux, heard: BTreeMap::new() }
    }

    /// Bytes for the terminal, where this change is to be heard now.
    pub fn take(&mut self, change: &AlertStateChanged, now: Instant) -> Option<Vec<u8>> {
        if self.how == Notify::None || change.state != AlertState::Firing || severity(&change.severity) < self.least {
            return None;
        }
        let rule = change.rule.to_string();
        if self.heard.get(&rule).is_some_and(|at| now.saturating_duration_since(*at) < EVERY) {
            return None;
        }
        self.heard.retain(|_, at| now.saturating_duration_since(*at) < EVERY);
        if self.heard.len() < RULES_MAX {
            self.heard.insert(rule, now);
        }
        Some(self.bytes(change))
    }

    fn bytes(&self, change: &AlertStateChanged) -> Vec<u8> {
        let (rule, summary) = (plain(&change.rule), plain(&change.summary));
        let sequence = match self.how {
            Notify::None => return Vec::new(),
            Notify::Bell => return b"\x07".to_vec(),
            Notify::Osc9 => format!("\x1b]9;{rule}: {summary}\x1b\\"),
            // Its parts have semicolons between.
            Notify::Osc777 => format!("\x1b]777;notify;{};{}\x1b\\", rule.replace(';', ","), summary.replace(';', ",")),
        };
        if self.in_tmux {
            return format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")).into_bytes();
        }
        sequence.into_bytes()
    }
}

/// No control character, on one line, and not longer than a notification is.
fn plain(raw: &str) -> String {
    let safe = SafeText::new(raw);
    let line: String = safe.as_str().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text::truncate(&line, CELLS_MAX, "...", text::Ambiguous::Narrow)
}

/// Rules write it as they like; what nobody knows matters as much as a warning.
fn severity(word: &str) -> Severity {
    match word.to_lowercase().as_str() {
        "info" | "information" | "notice" | "low" => Severity::Info,
        "crit" | "critical" | "page" | "error" | "fatal" | "high" | "emergency" => Severity::Critical,
        _ => Severity::Warning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(rule: &str, severity: &str, summary: &str) -> AlertStateChanged {
        AlertStateChanged { rule: rule.into(), state: AlertState::Firing, severity: severity.into(), summary: summary.into(), detail: None }
    }

    #[test]
    fn a_rule_is_heard_once_a_minute_and_only_where_it_matters() {
        let start = Instant::now();
        let mut bell = Notifier::new(Notify::Bell, Severity::Critical, true);
        assert_eq!(bell.take(&alert("a", "warning", ""), start), None);
        assert_eq!(bell.take(&alert("a", "critical", ""), start), Some(vec![7]));
        assert_eq!(bell.take(&alert("a", "critical", ""), start + Duration::from_secs(59)), None);
        assert_eq!(bell.take(&alert("b", "crit", ""), start + Duration::from_secs(59)), Some(vec![7]));
        assert_eq!(bell.take(&alert("a", "critical", ""), start + EVERY), Some(vec![7]));
        let resolved = AlertStateChanged { state: AlertState::Resolved, ..alert("c", "critical", "") };
        assert_eq!(bell.take(&resolved, start), None);
        let mut none = Notifier::new(Notify::None, Severity::Info, false);
        assert_eq!(none.take(&alert("a", "critical", ""), start), None);
    }

    #[test]
    fn what_an_alert_says_can_do_nothing_to_the_terminal() {
        let hostile = format!("\u{1b}]0;gone\u{7}\n\u{9c}\u{202e}{};rm", "x".repeat(5_000));
        for (how, in_tmux, escapes) in [(Notify::Osc9, false, 2), (Notify::Osc777, false, 2), (Notify::Osc777, true, 6)] {
            let mut notifier = Notifier::new(how, Severity::Info, in_tmux);
            let bytes = notifier.take(&alert(&hostile, "info", &hostile), Instant::now()).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.matches('\u{1b}').count(), escapes, "{text:?}");
            assert!(text.chars().all(|c| c == '\u{1b}' || !c.is_control()) && text.len() < 1_200, "{}", text.len());
        }
        let bytes = Notifier::new(Notify::Osc777, Severity::Info, false).take(&alert("a;b", "info", "c"), Instant::now()).unwrap();
        assert_eq!(bytes, b"\x1b]777;notify;a,b;c\x1b\\");
    }
}
