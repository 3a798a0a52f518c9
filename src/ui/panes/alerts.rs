//! Alerts of this process: the newest state of each rule.

use crate::event::{AlertState, AlertStateChanged};
use crate::state::DashState;
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role, format};
use std::collections::BTreeMap;

/// The newest state of every rule, with its time.
pub fn current(state: &DashState) -> Vec<(u64, &AlertStateChanged)> {
    let newest: BTreeMap<&str, (u64, &AlertStateChanged)> = state.alerts.iter().map(|(t, a)| (a.rule.as_str(), (*t, a))).collect();
    newest.into_values().collect()
}

pub fn badge(cx: &Context<'_>) -> String {
    let firing = crate::ui::chrome::firing(cx);
    if firing > 0 { format!("{firing} firing") } else { "none firing".into() }
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let alerts = current(cx.state);
    if alerts.is_empty() {
        canvas.text(1, 0, "nothing fires", Role::Dim);
        return;
    }
    let end = canvas.width();
    for (y, (t_ns, alert)) in alerts.iter().enumerate() {
        let (letter, role) = match alert.state {
            AlertState::Firing => ('F', Role::Bad),
            AlertState::Pending => ('P', Role::Warn),
            AlertState::Inactive | AlertState::Resolved => ('.', Role::Dim),
        };
        let text = format!("{letter} {} {} {}", alert.rule, format::clock(*t_ns), alert.summary);
        canvas.text_upto(1, end, y as u16, &text, role);
    }
}
