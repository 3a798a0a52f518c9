//! How a rule or an alert stands, for whoever is on call: what fires, what somebody silenced, what can't say anything.

use super::{AlertRow, Alerting, RuleRow, SilenceRow, labels};
use crate::event::{AlertState, AlertStateChanged, LabelSet, RuleHealth, SafeText, SilenceKind};

/// Turns within the window by which an alert flaps: it began and ended three times.
const FLAPPING_TURNS: usize = 6;
/// At least this long, and at least so many evaluations.
const FLAPPING_WINDOW_MS: u64 = 15 * 60 * 1_000;
const FLAPPING_EVALUATIONS: u64 = 40;

/// By which silence something is silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hush {
    pub id: SafeText,
    /// Milliseconds since 1970.
    pub until_ms: i64,
    pub by: SafeText,
    pub comment: SafeText,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stand {
    /// Also alerts of it are pending, perhaps.
    Firing,
    /// It fires, and a silence covers it; of a rule, all alerts of it that fire.
    Silenced(Hush),
    /// It fires, and somebody has said that they see to it.
    Acknowledged(Hush),
    Pending,
    /// The rule can't be evaluated.
    Error(SafeText),
    /// The rule's selectors match no series.
    NoData,
    /// Nothing fires or waits. A rule that was not evaluated yet, too.
    Ok,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub stand: Stand,
    /// It began and ended again and again in the last quarter of an hour.
    pub flapping: bool,
}

impl SilenceRow {
    /// Whether it holds at this time; milliseconds since 1970.
    pub fn stands(&self, at_ms: i64) -> bool {
        self.ended_t_ns.is_none() && self.silence.starts_ms <= at_ms && at_ms < self.silence.ends_ms
    }

    /// Whether an alert's labels meet it, whatever the time.
    pub fn covers(&self, labels: &LabelSet, external: &LabelSet) -> bool {
        self.matching.of(&self.silence.matchers).is_some_and(|matching| matching.covers(labels, external))
    }
}

/// The labels that silences look at: of an alert of this process itself, its name and severity.
fn labels_of(change: &AlertStateChanged) -> LabelSet {
    labels(change).cloned().unwrap_or_else(|| {
        let pairs = [("alertname", &change.rule), ("severity", &change.severity)];
        pairs.into_iter().map(|(name, value)| (SafeText::from(name), value.clone())).collect()
    })
}

impl Alerting {
    /// The silence that covers a change, if one does at this time (milliseconds since 1970): that which lasts longest.
    pub fn silenced_by(&self, change: &AlertStateChanged, at_ms: i64) -> Option<(&SafeText, &SilenceRow)> {
        if self.silences.is_empty() {
            return None;
        }
        let labels = labels_of(change);
        let standing = self.silences.iter().filter(|(_, row)| row.stands(at_ms) && row.covers(&labels, &self.external_labels));
        standing.max_by_key(|(_, row)| row.silence.ends_ms)
    }

    fn hush(&self, change: &AlertStateChanged, at_ms: i64) -> Option<Stand> {
        let (id, row) = self.silenced_by(change, at_ms)?;
        let silence = &row.silence;
        let hush = Hush { id: id.clone(), until_ms: silence.ends_ms, by: silence.created_by.clone(), comment: silence.comment.clone() };
        Some(match silence.kind {
            SilenceKind::Silence => Stand::Silenced(hush),
            SilenceKind::Acknowledgement => Stand::Acknowledged(hush),
        })
    }

    /// How an alert of this process itself stands while it fires.
    pub fn change_standing(&self, change: &AlertStateChanged, t_ns: u64) -> Stand {
        self.at_ms(t_ns).and_then(|at_ms| self.hush(change, at_ms)).unwrap_or(Stand::Firing)
    }

    /// How one alert stands at a time of the run.
    pub fn alert_standing(&self, alert: &AlertRow, t_ns: u64) -> Standing {
        let stand = match alert.change.state {
            AlertState::Inactive | AlertState::Resolved => Stand::Ok,
            AlertState::Pending => Stand::Pending,
            AlertState::Firing => self.at_ms(t_ns).and_then(|at_ms| self.hush(&alert.change, at_ms)).unwrap_or(Stand::Firing),
        };
        let rule =
            alert.change.detail.as_ref().and_then(|d| self.rules.iter().find(|r| r.group == d.group && r.info.name == alert.change.rule));
        let window_ns = window_ms(rule.map_or(0, |r| r.interval_ms)).saturating_mul(1_000_000);
        let recent = alert.turns.iter().filter(|turn| **turn <= t_ns && t_ns - **turn <= window_ns).count();
        Standing { stand, flapping: recent >= FLAPPING_TURNS }
    }

    /// Alerts of a rule, in the order in which they came into their states.
    pub fn alerts_of<'a>(&'a self, rule: &'a RuleRow) -> impl Iterator<Item = &'a AlertRow> {
        let is_of = |a: &&AlertRow| a.change.rule == rule.info.name && a.change.detail.as_ref().is_some_and(|d| d.group == rule.group);
        self.alerts.iter().filter(is_of)
    }

    /// How a rule stands at a time of the run: as the worst of its alerts, else as its evaluation went.
    pub fn rule_standing(&self, rule: &RuleRow, t_ns: u64) -> Standing {
        let alerts: Vec<Standing> = self.alerts_of(rule).map(|alert| self.alert_standing(alert, t_ns)).collect();
        let flapping = alerts.iter().any(|a| a.flapping);
        let worst = alerts.into_iter().map(|a| a.stand).min_by_key(rank).unwrap_or(Stand::Ok);
        let stand = match (&rule.reading, worst) {
            (Some(reading), _) if reading.health == RuleHealth::Error => Stand::Error(reading.error.clone().unwrap_or_default()),
            // An alert that is kept firing for a while outlives its series.
            (Some(reading), Stand::Ok) if reading.health == RuleHealth::NoData => Stand::NoData,
            // Of many alerts only some are kept here; how many fire is known.
            (Some(reading), Stand::Ok) if reading.firing > 0 => Stand::Firing,
            (Some(reading), Stand::Ok) if reading.pending > 0 => Stand::Pending,
            (_, worst) => worst,
        };
        Standing { stand, flapping }
    }
}

/// What somebody must see first.
fn rank(stand: &Stand) -> u8 {
    match stand {
        Stand::Firing => 0,
        Stand::Pending => 1,
        Stand::Acknowledged(_) => 2,
        Stand::Silenced(_) => 3,
        Stand::Error(_) => 4,
        Stand::NoData => 5,
        Stand::Ok => 6,
    }
}

fn window_ms(interval_ms: u64) -> u64 {
    FLAPPING_WINDOW_MS.max(interval_ms.saturating_mul(FLAPPING_EVALUATIONS))
}
