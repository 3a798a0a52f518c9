//! Pane 5, alerts: the newest state of every rule, what fires first.

use super::lines::more;
use super::{Pane, notice};
use crate::event::{AlertState, AlertStateChanged};
use crate::state::DashState;
use crate::ui::lang::tr;
use crate::ui::widgets::{Canvas, Role, format};
use std::collections::BTreeMap;

/// A rule's newest transition and its time.
pub struct Alert<'a> {
    pub t_ns: u64,
    pub change: &'a AlertStateChanged,
}

/// Rules whose newest state is firing.
pub fn firing(state: &DashState) -> usize {
    current(state).iter().filter(|a| a.change.state == AlertState::Firing).count()
}

/// A letter and a role for a state.
pub fn letter(state: AlertState) -> (&'static str, Role) {
    match state {
        AlertState::Firing => ("F", Role::Bad),
        AlertState::Pending => ("P", Role::Warn),
        AlertState::Resolved => (".", Role::Good),
        AlertState::Inactive => ("-", Role::Dim),
    }
}

/// The newest transition of each rule: firing, pending, then the rest; within these the newest first.
pub fn current(state: &DashState) -> Vec<Alert<'_>> {
    let mut by_rule: BTreeMap<&str, Alert<'_>> = BTreeMap::new();
    for (t_ns, change) in state.alerts.iter() {
        by_rule.insert(&change.rule, Alert { t_ns: *t_ns, change });
    }
    let mut alerts: Vec<Alert<'_>> = by_rule.into_values().collect();
    let rank = |state| match state {
        AlertState::Firing => 0,
        AlertState::Pending => 1,
        AlertState::Resolved => 2,
        AlertState::Inactive => 3,
    };
    alerts.sort_by_key(|a| (rank(a.change.state), std::cmp::Reverse(a.t_ns)));
    alerts
}

/// Why the recording of a run fails now, in the words of the alert that fires for it.
pub fn recording_failure(state: &DashState) -> Option<String> {
    const RULE: &str = "RecordingFailed";
    let newest = state.alerts.iter().rev().find(|(_, change)| change.rule.as_str() == RULE)?;
    (newest.1.state == AlertState::Firing).then(|| newest.1.summary.to_string())
}

/// `2F 1P`, or nothing where nothing fires and nothing is pending.
pub fn counts(alerts: &[Alert<'_>]) -> String {
    let count = |state| alerts.iter().filter(|a| a.change.state == state).count();
    let parts = [(count(AlertState::Firing), "F"), (count(AlertState::Pending), "P")];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, letter)| format!("{n}{letter}")).collect();
    parts.join(" ")
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let alerts = current(pane.ctx.state);
    let mut inner = pane.open(canvas, &counts(&alerts));
    if alerts.is_empty() {
        notice(
            &mut inner,
            &format!(
                "{}\n{}",
                tr!("nothing fires"),
                tr!("no alert rules are loaded; alerts of the console itself, such as a recorder that fails, come here")
            ),
        );
        return;
    }
    let skip = pane.scroll().up.min(alerts.len().saturating_sub(inner.height() as usize));
    let now = pane.ctx.state.t_ns;
    for (y, alert) in (0..inner.height()).zip(alerts.iter().skip(skip)) {
        line(&mut inner, y, alert, now);
    }
    let shown = skip + usize::from(inner.height());
    more(&mut inner, alerts.len().saturating_sub(shown));
}

/// One alert: letter, rule, severity, age, summary.
pub fn line(canvas: &mut Canvas<'_>, y: u16, alert: &Alert<'_>, now_t_ns: u64) {
    let width = canvas.width();
    let (letter, role) = letter(alert.change.state);
    let age = format::clock(now_t_ns.saturating_sub(alert.t_ns));
    let end = if width >= 24 { canvas.text_before(width, y, &age, Role::Dim).saturating_sub(1) } else { width };
    let mut x = canvas.text(0, y, &format!("{letter} "), role);
    x = canvas.text_upto(x, end, y, &format!("{} ", alert.change.rule), role);
    if width >= 50 && !alert.change.severity.is_empty() {
        x = canvas.text_upto(x, end, y, &format!("{} ", alert.change.severity), Role::Dim);
    }
    canvas.text_upto(x, end, y, &alert.change.summary, Role::Text);
}
