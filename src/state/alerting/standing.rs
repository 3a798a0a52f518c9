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

    /// Whether a change is to be heard by nobody: a silence or an acknowledgement covers it.
    pub fn is_hushed(&self, change: &AlertStateChanged, t_ns: u64) -> bool {
        self.at_ms(t_ns).is_some_and(|at_ms| self.silenced_by(change, at_ms).is_some())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{
        AlertDetail, RuleEvaluated, RuleGroupInfo, RuleInfo, RuleKind, RuleReading, RulesLoaded, Seq, Silence, SilenceEnded, SilenceSet,
    };

    const SECOND: u64 = 1_000_000_000;

    fn change(state: AlertState, gpu: &str) -> AlertStateChanged {
        let labels = [("alertname", "Hot"), ("gpu", gpu)].into_iter().map(|(n, v)| (n.into(), v.into())).collect();
        let detail = AlertDetail { group: "g".into(), labels, annotations: LabelSet::default(), value: 1.0, active_at_ms: 0, at_ms: 0 };
        AlertStateChanged { rule: "Hot".into(), state, severity: "critical".into(), summary: "".into(), detail: Some(Box::new(detail)) }
    }

    /// A run that began in 1970, with one rule.
    fn alerting() -> Alerting {
        let rule = RuleInfo {
            name: "Hot".into(),
            kind: RuleKind::Alert,
            expr: "t > 1".into(),
            for_ms: 0,
            keep_firing_for_ms: 0,
            labels: LabelSet::default(),
            annotations: LabelSet::default(),
            threshold: None,
            further: Vec::new(),
        };
        let mut alerting = Alerting { epoch_ms: Some(0), ..Alerting::default() };
        let group = RuleGroupInfo { name: "g".into(), interval_ms: 1_000, rules: vec![rule] };
        let external_labels = [("cluster".into(), "a".into())].into_iter().collect();
        alerting.loaded(0, &RulesLoaded { file: "f".into(), sha256: "".into(), error: None, external_labels, groups: vec![group] });
        alerting
    }

    fn silence(kind: SilenceKind, matcher: &str, ends_ms: i64) -> SilenceSet {
        let matchers = vec![matcher.parse().unwrap()];
        let silence = Silence { kind, matchers, starts_ms: 0, ends_ms, created_by: "me".into(), comment: "on it".into() };
        SilenceSet { id: "s1".into(), silence }
    }

    #[test]
    fn a_rule_stands_as_the_worst_of_its_alerts() {
        let mut alerting = alerting();
        let stand = |alerting: &Alerting, t_ns| alerting.rule_standing(&alerting.rules[0], t_ns).stand;
        assert_eq!(stand(&alerting, 0), Stand::Ok);
        alerting.changed(SECOND, Seq(1), &change(AlertState::Pending, "1"));
        assert_eq!(stand(&alerting, SECOND), Stand::Pending);
        alerting.changed(SECOND, Seq(2), &change(AlertState::Firing, "0"));
        assert_eq!(stand(&alerting, SECOND), Stand::Firing);
        alerting.silenced(SECOND, &silence(SilenceKind::Acknowledgement, "gpu=0", 5_000));
        assert_eq!(stand(&alerting, SECOND), Stand::Pending, "what is seen to comes behind what waits");
        alerting.changed(2 * SECOND, Seq(3), &change(AlertState::Inactive, "1"));
        let Stand::Acknowledged(hush) = stand(&alerting, 2 * SECOND) else { panic!("{:?}", stand(&alerting, 2 * SECOND)) };
        assert_eq!((hush.by.as_str(), hush.comment.as_str(), hush.until_ms), ("me", "on it", 5_000));
        assert!(
            alerting.is_hushed(&change(AlertState::Firing, "0"), 2 * SECOND)
                && !alerting.is_hushed(&change(AlertState::Firing, "1"), 2 * SECOND)
        );
        assert_eq!(stand(&alerting, 5 * SECOND), Stand::Firing, "its time is over, whether or not that was told");
        alerting.silence_ended(3 * SECOND, &SilenceEnded { id: "s1".into() });
        assert_eq!(stand(&alerting, 4 * SECOND), Stand::Firing);
        alerting.silenced(4 * SECOND, &silence(SilenceKind::Silence, "cluster=a", 9_000));
        assert!(matches!(stand(&alerting, 4 * SECOND), Stand::Silenced(_)), "labels of all alerts count");
    }

    #[test]
    fn a_rule_without_series_or_with_an_error_says_so() {
        let mut alerting = alerting();
        let read = |health, error: Option<&str>| {
            let error = error.map(SafeText::from);
            let reading =
                RuleReading { rule: 0, health, error, value: None, further: Vec::new(), unknown: None, series: 0, pending: 0, firing: 0 };
            RuleEvaluated { group: "g".into(), at_ms: 1_000, duration_ns: 1, readings: vec![reading] }
        };
        alerting.evaluated(SECOND, &read(RuleHealth::NoData, None));
        assert_eq!(alerting.rule_standing(&alerting.rules[0], SECOND).stand, Stand::NoData);
        alerting.evaluated(SECOND, &read(RuleHealth::Error, Some("many-to-many")));
        assert_eq!(alerting.rule_standing(&alerting.rules[0], SECOND).stand, Stand::Error("many-to-many".into()));
    }

    #[test]
    fn what_begins_and_ends_again_and_again_flaps_for_a_while() {
        let mut alerting = alerting();
        let mut seconds = 0;
        for _ in 0..3 {
            for state in [AlertState::Pending, AlertState::Firing, AlertState::Resolved, AlertState::Pending, AlertState::Inactive] {
                seconds += 1;
                alerting.changed(seconds * SECOND, Seq(seconds), &change(state, "0"));
            }
        }
        let flaps = |t_ns| alerting.rule_standing(&alerting.rules[0], t_ns).flapping;
        assert!(flaps(seconds * SECOND) && !flaps(2_000 * SECOND));
        assert_eq!(
            (alerting.alerts.len(), alerting.alerts[0].change.state),
            (1, AlertState::Resolved),
            "it keeps what it knows of its past"
        );
    }

    #[test]
    fn hostile_events_take_no_room() {
        let mut alerting = alerting();
        let long = "x".repeat(1 << 20);
        for i in 0..50 {
            let mut huge = change(AlertState::Firing, &format!("{long}{i}"));
            huge.summary = long.as_str().into();
            alerting.changed(1, Seq(i), &huge);
            alerting.silenced(1, &silence(SilenceKind::Silence, &format!("a={long}"), 10));
        }
        let bytes = serde_json::to_string(&alerting).unwrap().len();
        assert!(bytes < 1 << 20, "{bytes}");
        assert!(alerting.silences.is_empty());
    }
}
