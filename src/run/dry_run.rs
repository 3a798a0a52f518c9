//! What rules would have done over a recording: the same monitor as in a run, driven by the recorded times.

use super::bundle::unpack_if_bundle;
use super::rule_files::only;
use crate::alert::monitor::{INTERVAL_MS_MIN, Monitor, MonitorSettings};
use crate::alert::rules::RuleFile;
use crate::event::{AlertState, AlertStateChanged, Envelope, Event, RuleHealth, RuleReading, RulesLoaded, Seq};
use crate::journal::Recording;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// Alerts that are listed.
const ROWS_MAX: usize = 10_000;
/// Evaluations that one gap of the recording may cost.
const MADE_UP_MAX: i64 = 20_000;
/// A recording that is shorter than so many intervals of a group is looked at more often than the group says.
const STEPS_MIN: i64 = 10;

/// An alert that would have fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DryRow {
    pub group: String,
    pub rule: String,
    /// With `alertname`.
    pub labels: Vec<(String, String)>,
    /// Templates expanded, of when it began to fire.
    pub annotations: Vec<(String, String)>,
    #[serde(with = "crate::event::num::float")]
    pub value: f64,
    /// Time of the run at which it began to fire.
    pub fired_t_ns: u64,
    /// Unset where it still fired at the end.
    pub resolved_t_ns: Option<u64>,
    /// Where the run stood then: `[lane:]episode/step`; empty before the first step.
    pub step: String,
    /// The last event before it fired.
    pub seq: u64,
}

/// A rule that said nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DryMute {
    pub group: String,
    pub rule: String,
    /// Such as that its selectors matched no series at all, or an evaluation's error.
    pub why: String,
}

/// Another interval than a group has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hurried {
    pub group: String,
    pub interval_ms: i64,
    /// What the group says, or what is used where it says nothing.
    pub own_interval_ms: i64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DryRun {
    /// In the order in which they fired.
    pub rows: Vec<DryRow>,
    /// Alerts beyond what is listed.
    pub rows_left_out: u64,
    pub mute: Vec<DryMute>,
    pub evaluations: u64,
    /// Groups that were evaluated more often than they say, because the recording is short.
    pub hurried: Vec<Hurried>,
    /// Of the recording.
    pub t_ns_end: u64,
    /// Why not all of the recording was read; unset for a whole one.
    pub damage: Option<String>,
}

/// Runs rules over a recording, or only the one that is named. The error is for the operator.
pub fn dry_run(rules: RuleFile, recording: &Path, rule: Option<&str>, settings: MonitorSettings) -> Result<DryRun, String> {
    let rules = match rule {
        Some(name) if !rules.groups.iter().any(|g| g.rules.iter().any(|r| r.name == name)) => {
            return Err(format!("no rule is named {name}"));
        }
        Some(name) => only(rules, name),
        None => rules,
    };
    evaluate(rules, recording, settings)
}

/// Runs rules over a recording, sealed or not, or over the one in a bundle.
pub fn evaluate(mut rules: RuleFile, path: &Path, settings: MonitorSettings) -> Result<DryRun, String> {
    let bundle = unpack_if_bundle(path).map_err(|failure| failure.message)?;
    let path = bundle.as_ref().map_or(path, |bundle| bundle.recording.as_path());
    let mut recording = Recording::open(path).map_err(|error| error.to_string())?;
    let epoch_ms = began_ms(&mut recording)?;
    let hurried = hurry(&mut rules, recording.t_ns_end(), settings.interval_ms);
    let mut monitor = Monitor::new(MonitorSettings { made_up_max: MADE_UP_MAX, changes_told_max: ROWS_MAX, clock: None, ..settings });
    let mut table = Table::new(&monitor.load("", String::new(), rules), epoch_ms);
    monitor.begins_at(epoch_ms);
    let base = recording.base().next();
    let mut broken = None;
    for envelope in recording.events_from(base).map_err(|error| error.to_string())? {
        match envelope {
            Ok(envelope) => table.go_to(&mut monitor, &envelope),
            Err(error) => {
                broken = Some(error.to_string());
                break;
            }
        }
    }
    let at_ms = monitor.at_ms(table.run.t_ns_end);
    table.take(monitor.advance(at_ms.unwrap_or(epoch_ms)));
    let integrity = recording.integrity();
    let damage = (!integrity.is_intact()).then(|| integrity.lines().join("; "));
    Ok(DryRun { damage: broken.or(damage), mute: table.mute(), hurried, ..table.run })
}

/// Shortens intervals that a recording has too little time for: of rules that are looked at once or never nothing would be seen.
fn hurry(rules: &mut RuleFile, t_ns_end: u64, default_ms: i64) -> Vec<Hurried> {
    let length_ms = i64::try_from(t_ns_end / 1_000_000).unwrap_or(i64::MAX);
    let interval_ms = (length_ms / STEPS_MIN).max(INTERVAL_MS_MIN);
    let mut hurried = Vec::new();
    for group in &mut rules.groups {
        let own_interval_ms = group.interval_ms.unwrap_or(default_ms);
        if own_interval_ms > interval_ms {
            group.interval_ms = Some(interval_ms);
            hurried.push(Hurried { group: group.name.clone(), interval_ms, own_interval_ms });
        }
    }
    hurried
}

/// Milliseconds since 1970 when the run began, of which its first event tells, or the header where that is not there.
fn began_ms(recording: &mut Recording) -> Result<i64, String> {
    let started = recording.run_started().map_err(|error| error.to_string())?.map(|run| run.started);
    let started = started.unwrap_or_else(|| recording.header().started.clone());
    let at = started.parse::<jiff::Timestamp>();
    at.map(|at| at.as_millisecond()).map_err(|_| format!("the recording does not say when its run began: `{started}` is no time"))
}

/// What is found out on the way.
struct Table {
    run: DryRun,
    epoch_ms: i64,
    step: String,
    seq: Seq,
    /// By group and place: the rule's name, whether it ever saw a series, and its last error.
    rules: HashMap<(String, u32), Seen>,
    order: Vec<(String, u32)>,
    /// Rows of what fires.
    firing: HashMap<(String, Vec<(String, String)>), usize>,
}

#[derive(Default)]
struct Seen {
    name: String,
    was_ok: bool,
    error: Option<String>,
    evaluated: bool,
}

impl Table {
    fn new(loaded: &RulesLoaded, epoch_ms: i64) -> Self {
        let mut table = Self {
            run: DryRun::default(),
            epoch_ms,
            step: String::new(),
            seq: Seq(0),
            rules: HashMap::new(),
            order: Vec::new(),
            firing: HashMap::new(),
        };
        for group in &loaded.groups {
            for (index, rule) in group.rules.iter().enumerate() {
                let key = (group.name.to_string(), index as u32);
                table.order.push(key.clone());
                table.rules.insert(key, Seen { name: rule.name.to_string(), ..Seen::default() });
            }
        }
        table
    }

    /// All that was due before an event, and then the event.
    fn go_to(&mut self, monitor: &mut Monitor, envelope: &Envelope) {
        if let Some(at_ms) = monitor.at_ms(envelope.t_ns) {
            self.take(monitor.advance(at_ms.saturating_sub(1)));
        }
        monitor.observe(envelope);
        self.seq = envelope.seq;
        self.run.t_ns_end = self.run.t_ns_end.max(envelope.t_ns);
        if envelope.episode.is_some() && envelope.step.is_some() {
            self.step = envelope.address();
        }
    }

    fn take(&mut self, events: Vec<Event>) {
        for event in events {
            if let Event::RuleEvaluated(e) = &event {
                self.run.evaluations += 1;
                e.readings.iter().for_each(|reading| self.reading(e.group.as_str(), reading));
            }
            if let Event::AlertStateChanged(e) = &event {
                self.changed(e);
            }
        }
    }

    fn reading(&mut self, group: &str, reading: &RuleReading) {
        let Some(seen) = self.rules.get_mut(&(group.to_owned(), reading.rule)) else { return };
        seen.evaluated = true;
        match reading.health {
            RuleHealth::Ok => seen.was_ok = true,
            RuleHealth::NoData => {}
            RuleHealth::Error => seen.error = reading.error.as_ref().map(ToString::to_string),
        }
    }

    fn t_ns(&self, at_ms: i64) -> u64 {
        u64::try_from(at_ms.saturating_sub(self.epoch_ms)).unwrap_or(0).saturating_mul(1_000_000)
    }

    fn changed(&mut self, e: &AlertStateChanged) {
        let Some(detail) = &e.detail else { return };
        let pairs = |set: &crate::event::LabelSet| set.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>();
        let labels = pairs(&detail.labels);
        let key = (detail.group.to_string(), labels.clone());
        let t_ns = self.t_ns(detail.at_ms);
        match e.state {
            AlertState::Pending | AlertState::Inactive => {}
            AlertState::Resolved => {
                if let Some(row) = self.firing.remove(&key) {
                    self.run.rows[row].resolved_t_ns = Some(t_ns);
                }
            }
            AlertState::Firing if self.run.rows.len() >= ROWS_MAX => self.run.rows_left_out += 1,
            AlertState::Firing => {
                self.firing.insert(key, self.run.rows.len());
                self.run.rows.push(DryRow {
                    group: detail.group.to_string(),
                    rule: e.rule.to_string(),
                    labels,
                    annotations: pairs(&detail.annotations),
                    value: detail.value,
                    fired_t_ns: t_ns,
                    resolved_t_ns: None,
                    step: self.step.clone(),
                    seq: self.seq.0,
                });
            }
        }
    }

    /// Rules that could say nothing, in the order of the file.
    fn mute(&mut self) -> Vec<DryMute> {
        let rules = std::mem::take(&mut self.rules);
        let why = |seen: &Seen| match &seen.error {
            Some(error) => Some(error.clone()),
            None if !seen.evaluated => Some("the recording is shorter than its interval".to_owned()),
            None if !seen.was_ok => Some("its selectors matched no series".to_owned()),
            None => None,
        };
        let of = |key: &(String, u32)| {
            let seen = rules.get(key)?;
            Some(DryMute { group: key.0.clone(), rule: seen.name.clone(), why: why(seen)? })
        };
        self.order.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::training_record::TrainingRecord;
    use super::*;
    use crate::run::rule_files::parse;

    fn tried(rules: &str, path: &Path, rule: Option<&str>) -> Result<DryRun, String> {
        dry_run(parse("rules", rules)?, path, rule, MonitorSettings::default())
    }
    use crate::event::{ManualClock, Seed, UpdateCompleted};
    use std::path::PathBuf;
    use std::sync::Arc;

    /// Half a minute, with an event each second.
    fn recording(folder: &Path) -> PathBuf {
        let path = folder.join("half-minute.jsonl");
        let env = crate::env::make("ops").unwrap();
        let clock = Arc::new(ManualClock::default());
        let mut record = TrainingRecord::begin(Some(&path), clock.clone(), env.spec(), Seed(7), "abc".into()).unwrap();
        for update in 1..=30 {
            clock.advance(1_000_000_000);
            record.update(UpdateCompleted { update, ..UpdateCompleted::default() });
        }
        record.end("trained").unwrap();
        path
    }

    #[test]
    fn what_would_have_fired_is_found_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = recording(folder.path());
        let rules = "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: Always\n    expr: vector(2) > 1\n    for: 2s\n    annotations: {summary: '{{ $value }}'}\n  - alert: Never\n    expr: no_such_series > 1\n";
        let run = tried(rules, &path, None).unwrap();
        assert_eq!(run.rows.len(), 1, "{run:?}");
        let row = &run.rows[0];
        assert_eq!((row.rule.as_str(), row.value, row.resolved_t_ns), ("Always", 2.0, None));
        assert_eq!(row.annotations, [("summary".to_owned(), "2".to_owned())]);
        assert!((2_000_000_000..4_000_000_000).contains(&row.fired_t_ns), "{}", row.fired_t_ns);
        assert!((2..6).contains(&row.seq), "{row:?}");
        assert_eq!(run.mute.iter().map(|m| m.rule.as_str()).collect::<Vec<_>>(), ["Never"]);
        assert_eq!((run.damage, run.t_ns_end), (None, 30_000_000_000));
        let only = tried(rules, &path, Some("Never")).unwrap();
        assert!(only.rows.is_empty() && only.mute.len() == 1);
        assert_eq!(tried(rules, &path, Some("Nope")).unwrap_err(), "no rule is named Nope");
        assert!(tried("groups: 3", &path, None).unwrap_err().starts_with("rules:1:"));
    }

    /// Of half a minute a group of once a minute would see nothing.
    #[test]
    fn a_short_recording_is_looked_at_more_often() {
        let folder = tempfile::tempdir().unwrap();
        let path = recording(folder.path());
        let rules = "groups:\n- name: g\n  interval: 1m\n  rules:\n  - alert: Always\n    expr: vector(2) > 1\n- name: h\n  interval: 3s\n  rules: []\n";
        let run = tried(rules, &path, None).unwrap();
        assert_eq!(run.hurried, [Hurried { group: "g".into(), interval_ms: 3_000, own_interval_ms: 60_000 }]);
        assert_eq!((run.rows.len(), run.mute.len()), (1, 0), "{run:?}");
    }

    #[test]
    fn the_same_recording_gives_the_same_alerts_and_a_damaged_one_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = recording(folder.path());
        let rules = "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: vector(time()) % 7 > 3\n";
        let first = tried(rules, &path, None).unwrap();
        assert!(first.rows.len() > 2, "{first:?}");
        assert_eq!(first, tried(rules, &path, None).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() * 2 / 3]).unwrap();
        assert!(tried(rules, &path, None).unwrap().damage.is_some());
    }
}
