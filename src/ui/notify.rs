//! Alerts that make themselves heard: the terminal's bell, or a notification of the desktop by OSC 9 or OSC 777.

use super::widgets::text;
use crate::config::{Notify, Severity};
use crate::event::{AlertState, AlertStateChanged, SafeText, attach_command};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A rule is heard at most this often.
const EVERY: Duration = Duration::from_secs(60);
/// Rules that are remembered.
const RULES_MAX: usize = 1_000;
/// Cells of each part of a notification.
const CELLS_MAX: usize = 120;

#[derive(Debug)]
pub struct Notifier {
    how: Notify,
    least: Severity,
    in_tmux: bool,
    /// Where the run is, for the command that opens the alert.
    host: String,
    heard: BTreeMap<String, Instant>,
}

impl Notifier {
    pub fn new(how: Notify, least: Severity, in_tmux: bool, host: &str) -> Self {
        Self { how, least, in_tmux, host: host.to_owned(), heard: BTreeMap::new() }
    }

    /// Bytes for the terminal, where this change of a run is to be heard now.
    pub fn take(&mut self, change: &AlertStateChanged, run: &str, now: Instant) -> Option<Vec<u8>> {
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
        Some(self.bytes(change, run))
    }

    fn bytes(&self, change: &AlertStateChanged, run: &str) -> Vec<u8> {
        let (rule, summary) = (plain(&change.rule), plain(&change.summary));
        let summary = match attach_command(&self.host, run, &change.rule) {
            // Half of a command is none.
            command if plain(&command) == command && !(self.how == Notify::Osc777 && command.contains(';')) => {
                format!("{summary} | {command}")
            }
            _too_long => summary,
        };
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
        let mut bell = Notifier::new(Notify::Bell, Severity::Critical, true, "node7");
        assert_eq!(bell.take(&alert("a", "warning", ""), "01RUN", start), None);
        assert_eq!(bell.take(&alert("a", "critical", ""), "01RUN", start), Some(vec![7]));
        assert_eq!(bell.take(&alert("a", "critical", ""), "01RUN", start + Duration::from_secs(59)), None);
        assert_eq!(bell.take(&alert("b", "crit", ""), "01RUN", start + Duration::from_secs(59)), Some(vec![7]));
        assert_eq!(bell.take(&alert("a", "critical", ""), "01RUN", start + EVERY), Some(vec![7]));
        let resolved = AlertStateChanged { state: AlertState::Resolved, ..alert("c", "critical", "") };
        assert_eq!(bell.take(&resolved, "01RUN", start), None);
        let mut none = Notifier::new(Notify::None, Severity::Info, false, "node7");
        assert_eq!(none.take(&alert("a", "critical", ""), "01RUN", start), None);
    }

    #[test]
    fn what_an_alert_says_can_do_nothing_to_the_terminal() {
        let hostile = format!("\u{1b}]0;gone\u{7}\n\u{9c}\u{202e}{};rm", "x".repeat(5_000));
        for (how, in_tmux, escapes) in [(Notify::Osc9, false, 2), (Notify::Osc777, false, 2), (Notify::Osc777, true, 6)] {
            let mut notifier = Notifier::new(how, Severity::Info, in_tmux, "node7");
            let bytes = notifier.take(&alert(&hostile, "info", &hostile), "01RUN", Instant::now()).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.matches('\u{1b}').count(), escapes, "{text:?}");
            assert!(text.chars().all(|c| c == '\u{1b}' || !c.is_control()) && text.len() < 1_200, "{}", text.len());
        }
        let bytes = Notifier::new(Notify::Osc777, Severity::Info, false, "node7")
            .take(&alert("a;b", "info", "c"), "01RUN", Instant::now())
            .unwrap();
        assert_eq!(bytes, b"\x1b]777;notify;a,b;c\x1b\\");
        let mut desktop = Notifier::new(Notify::Osc9, Severity::Info, false, "node7");
        let bytes = desktop.take(&alert("a", "info", "c"), "01RUN", Instant::now()).unwrap();
        assert_eq!(bytes, b"\x1b]9;a: c | ssh -t node7 pilothouse attach 01RUN --alert a\x1b\\");
    }
}
