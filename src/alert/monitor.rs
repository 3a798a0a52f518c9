//! Joins the rooms: envelopes go in, time is told, what rules came to comes out. No clock and no IO: live and over a recording it is the same.

use super::pager::{Page, Pager, Why};
use super::promql::Limits;
use super::rules::{Context, Group, RuleFile, RuleOutcome, Transition};
use super::silences::{Silences, label_set};
use crate::event::*;
use crate::metrics::{Caps, Labels, METRIC_NAME, Meter, Store, stale};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// No group is evaluated more often.
pub const INTERVAL_MS_MIN: i64 = 100;
/// A group is told of at least this often, so that a screen knows that it is evaluated.
const TOLD_EVERY_MS: i64 = 60_000;
/// Alerts of this process itself that are followed.
const OWN_MAX: usize = 64;

#[derive(Clone)]
pub struct MonitorSettings {
    /// Between two looks at the run's series, and of groups that name none.
    pub interval_ms: i64,
    /// What alerts have besides their own labels when they are sent out.
    pub external_labels: Labels,
    pub external_url: String,
    pub instance: String,
    pub job: String,
    /// Evaluations that are made up for where time was lost; the rest is skipped, as Prometheus does.
    pub made_up_max: i64,
    /// Changes of alerts that one evaluation of a group tells one by one; how many more there were is told in one line.
    pub changes_told_max: usize,
    pub repeat_ms: i64,
    pub refresh_ms: i64,
    pub caps: Caps,
    pub limits: Limits,
    /// Measures evaluations; without one they take no time.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Default for MonitorSettings {
    fn default() -> Self {
        Self {
            interval_ms: 5_000,
            external_labels: Labels::default(),
            external_url: String::new(),
            instance: "localhost".into(),
            job: "pilothouse".into(),
            made_up_max: 1,
            changes_told_max: 100,
            repeat_ms: 4 * 3_600_000,
            refresh_ms: 60_000,
            caps: Caps::default(),
            limits: Limits::default(),
            clock: None,
        }
    }
}

struct Watched {
    group: Group,
    name: SafeText,
    /// Readings as they were told.
    told: Vec<Option<RuleReading>>,
    told_ms: Option<i64>,
}

pub struct Monitor {
    settings: MonitorSettings,
    meter: Meter,
    store: Store,
    groups: Vec<Watched>,
    silences: Silences,
    pager: Pager,
    pages: Vec<Page>,
    /// Ends of alerts whose rules are no more, to be told at the next turn.
    orphans: Vec<(SafeText, Transition)>,
    /// Alerts of this process itself that fire, as `ALERTS` has them.
    own: BTreeSet<Labels>,
    /// Up to where all that was due is done; milliseconds since 1970.
    done_ms: Option<i64>,
    epoch_ms: Option<i64>,
    seq: u64,
}

impl Monitor {
    pub fn new(settings: MonitorSettings) -> Self {
        let pager = Pager::new(settings.repeat_ms, settings.refresh_ms, settings.external_labels.clone());
        Self {
            meter: Meter::new(&settings.instance, &settings.job),
            store: Store::new(settings.caps),
            groups: Vec::new(),
            silences: Silences::default(),
            pager,
            pages: Vec::new(),
            orphans: Vec::new(),
            own: BTreeSet::new(),
            done_ms: None,
            epoch_ms: None,
            seq: 0,
            settings,
        }
    }

    /// Puts rules in force. Alerts of rules that did not change go on.
    pub fn load(&mut self, file: &str, sha256: String, rules: RuleFile) -> RulesLoaded {
        let stood = standing(&self.groups);
        let mut before = std::mem::take(&mut self.groups);
        for group in rules.groups {
            let mut group = Group::new(group, self.settings.interval_ms);
            if let Some(at) = before.iter().position(|old| old.group.name() == group.name()) {
                group.adopt(before.remove(at).group);
            }
            let (name, told) = (SafeText::new(group.name()), vec![None; group.rules().len()]);
            self.groups.push(Watched { group, name, told, told_ms: None });
        }
        // Nobody else would say that they are over: their rules are gone, or ask something else now.
        let stands = standing(&self.groups);
        self.orphans.extend(stood.into_iter().filter(|(key, _)| !stands.contains_key(key)).map(|((group, _), end)| (group, end)));
        RulesLoaded {
            file: file.into(),
            sha256,
            error: None,
            external_labels: label_set(&self.settings.external_labels),
            groups: self.groups.iter().map(|watched| watched.group.info()).collect(),
        }
    }

    pub fn observe(&mut self, envelope: &Envelope) {
        self.seq = envelope.seq.0;
        if let Event::RunStarted(e) = &envelope.event {
            self.epoch_ms = e.started.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond());
        }
        self.heed(&envelope.event, envelope.t_ns);
        self.meter.observe(envelope);
    }

    /// When the run began, where no event tells; milliseconds since 1970.
    pub fn begins_at(&mut self, epoch_ms: i64) {
        self.epoch_ms = Some(epoch_ms);
        self.meter.begun_at(epoch_ms);
    }

    /// Alert time of a time of the run; unset before it has begun.
    pub fn at_ms(&self, t_ns: u64) -> Option<i64> {
        self.epoch_ms.map(|epoch| epoch.saturating_add((t_ns / 1_000_000) as i64))
    }

    /// Silences, and alerts of this process itself.
    fn heed(&mut self, event: &Event, t_ns: u64) {
        if let Event::SilenceSet(e) = event {
            self.silences.set(e);
        }
        if let Event::SilenceEnded(e) = event {
            self.silences.ended(&e.id);
        }
        if let Event::AlertStateChanged(e) = event
            && e.detail.is_none()
        {
            self.own_alert(e, self.at_ms(t_ns).unwrap_or_default());
        }
    }

    /// All silences anew, where events were missed.
    pub fn silences_are<'s>(&mut self, standing: impl Iterator<Item = (&'s SafeText, &'s Silence)>) {
        self.silences = Silences::default();
        standing.for_each(|(id, silence)| self.silences.set(&SilenceSet { id: id.clone(), silence: silence.clone() }));
    }

    fn own_alert(&mut self, e: &AlertStateChanged, at_ms: i64) {
        let labels = Labels::from_pairs([("alertname", e.rule.as_str()), ("severity", e.severity.as_str())]);
        let firing = match e.state {
            AlertState::Firing if self.own.len() < OWN_MAX => true,
            AlertState::Resolved | AlertState::Inactive => false,
            AlertState::Pending | AlertState::Firing => return,
        };
        let series = labels.with(METRIC_NAME, "ALERTS").with("alertstate", "firing");
        if firing {
            self.own.insert(series);
        } else if self.own.remove(&series) {
            // The time of a marker has to be later than the series' last point.
            let _ = self.store.append(&series, at_ms, stale());
        }
        self.pager.changed(Page {
            why: Why::News,
            rule: e.rule.to_string(),
            group: String::new(),
            firing,
            labels,
            annotations: vec![("summary".into(), e.summary.to_string())],
            value: f64::from(u8::from(firing)),
            starts_ms: at_ms,
            ends_ms: (!firing).then_some(at_ms),
            at_ms,
            muted: false,
            seq: self.seq,
        });
    }

    fn intervals(&self) -> impl Iterator<Item = i64> {
        let own = self.settings.interval_ms.max(INTERVAL_MS_MIN);
        std::iter::once(own).chain(self.groups.iter().map(|watched| interval(&watched.group)))
    }

    /// The series are looked at as often as the quickest group asks.
    fn collect_ms(&self) -> i64 {
        self.intervals().min().unwrap_or(INTERVAL_MS_MIN)
    }

    /// When something is due next. All that is due is so at whole multiples of its interval, whatever the run's beginning.
    pub fn due_ms(&self, after_ms: i64) -> i64 {
        let next = |interval: i64| (after_ms.div_euclid(interval).saturating_add(1)).saturating_mul(interval);
        self.intervals().map(next).min().unwrap_or(i64::MAX)
    }

    /// Does what has become due since the last call.
    pub fn advance(&mut self, at_ms: i64) -> Vec<Event> {
        let mut events: Vec<Event> = self.silences.expire(at_ms).into_iter().map(Event::from).collect();
        for (group, end) in std::mem::take(&mut self.orphans) {
            self.pager.changed(page(&group, &end, at_ms, self.seq));
            events.push(told(&group, &end, at_ms).into());
        }
        let Some(mut done) = self.done_ms.replace(at_ms) else { return events };
        let made_up_ms = self.settings.made_up_max.max(1).saturating_mul(self.collect_ms());
        if at_ms.saturating_sub(done) > made_up_ms {
            // A machine that slept evaluates what is now.
            done = at_ms - made_up_ms;
        }
        loop {
            let due = self.due_ms(done);
            if due > at_ms {
                break;
            }
            self.turn(due, &mut events);
            done = due;
        }
        let pages = self.pager.turn(&self.silences, at_ms);
        self.pages.extend(pages);
        events
    }

    /// What receivers are to be told, since the last call.
    pub fn take_pages(&mut self) -> Vec<Page> {
        std::mem::take(&mut self.pages)
    }

    /// Tells all readings again at the next evaluations: some may not have arrived.
    pub fn tell_all(&mut self) {
        self.groups.iter_mut().for_each(|watched| watched.told.fill(None));
    }

    /// Rules with their groups.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(|watched| &watched.group)
    }

    fn turn(&mut self, at_ms: i64, events: &mut Vec<Event>) {
        if at_ms % self.collect_ms() == 0 {
            self.meter.collect(&mut self.store, at_ms);
            for series in &self.own {
                // A refused point shows as a gap of a rule that asks for it.
                let _ = self.store.append(series, at_ms, 1.0);
            }
        }
        for index in 0..self.groups.len() {
            if at_ms % interval(&self.groups[index].group) == 0 {
                self.evaluate(index, at_ms, events);
            }
        }
    }

    fn evaluate(&mut self, index: usize, at_ms: i64, events: &mut Vec<Event>) {
        let settings = &self.settings;
        let context =
            Context { external_labels: &settings.external_labels, external_url: &settings.external_url, limits: &settings.limits };
        let now_ns = || settings.clock.as_ref().map_or(0, |clock| clock.now_ns());
        let began_ns = now_ns();
        let watched = &mut self.groups[index];
        let outcomes = watched.group.evaluate(&mut self.store, at_ms, &context);
        let duration_ns = now_ns().saturating_sub(began_ns);
        let readings = changed(&mut watched.told, &outcomes);
        if !readings.is_empty() || watched.told_ms.is_none_or(|told| at_ms - told >= TOLD_EVERY_MS) {
            watched.told_ms = Some(at_ms);
            events.push(RuleEvaluated { group: watched.name.clone(), at_ms, duration_ns, readings }.into());
        }
        let group = watched.name.clone();
        self.tell(&group, at_ms, &outcomes, events);
    }

    fn tell(&mut self, group: &SafeText, at_ms: i64, outcomes: &[RuleOutcome], events: &mut Vec<Event>) {
        let mut transitions: Vec<&Transition> = outcomes.iter().flat_map(|outcome| &outcome.transitions).collect();
        for transition in &transitions {
            match transition.state {
                AlertState::Firing | AlertState::Resolved => self.pager.changed(page(group, transition, at_ms, self.seq)),
                AlertState::Pending | AlertState::Inactive => {}
            }
        }
        if !self.pager.is_idle() {
            for alert in outcomes.iter().flat_map(|outcome| &outcome.alerts).filter(|alert| alert.state == AlertState::Firing) {
                self.pager.says(group, &alert.labels, &alert.annotations, alert.value);
            }
        }
        // What fires is told before all else.
        transitions.sort_by_key(|transition| match transition.state {
            AlertState::Firing => 0,
            AlertState::Resolved => 1,
            AlertState::Pending => 2,
            AlertState::Inactive => 3,
        });
        let most = self.settings.changes_told_max;
        events.extend(transitions.iter().take(most).map(|transition| Event::from(told(group, transition, at_ms))));
        let rest = transitions.len().saturating_sub(most);
        if rest > 0 {
            let text = format!("group {group}: {rest} more alerts changed at once; {most} are told one by one");
            events.push(LogLine { level: LogLevel::Warn, target: "rules".into(), text: text.into() }.into());
        }
    }
}

/// What is pending or fires, by group and labels, with what is to be told should it be no more.
fn standing(groups: &[Watched]) -> BTreeMap<(SafeText, Labels), Transition> {
    let mut standing = BTreeMap::new();
    for watched in groups {
        for (index, rule) in watched.group.rules().iter().enumerate() {
            for alert in watched.group.alerts(index) {
                let state = match alert.state {
                    AlertState::Firing => AlertState::Resolved,
                    AlertState::Pending => AlertState::Inactive,
                    AlertState::Resolved | AlertState::Inactive => continue,
                };
                let end = Transition {
                    rule: rule.name.clone(),
                    state,
                    labels: alert.labels.clone(),
                    annotations: alert.annotations.clone(),
                    value: alert.value,
                    active_at_ms: alert.active_at_ms,
                };
                standing.insert((watched.name.clone(), alert.labels.clone()), end);
            }
        }
    }
    standing
}

fn interval(group: &Group) -> i64 {
    group.interval_ms().max(INTERVAL_MS_MIN)
}

/// Readings that are not what was told, which they are from now on.
fn changed(told: &mut [Option<RuleReading>], outcomes: &[RuleOutcome]) -> Vec<RuleReading> {
    let mut readings = Vec::new();
    for (told, outcome) in told.iter_mut().zip(outcomes) {
        if told.as_ref().is_none_or(|old| is_news(old, &outcome.reading)) {
            *told = Some(outcome.reading.clone());
            readings.push(outcome.reading.clone());
        }
    }
    readings
}

/// Values that agree in four digits are one on every screen.
fn is_news(old: &RuleReading, new: &RuleReading) -> bool {
    let digits = |value: Option<f64>| value.map(|value| format!("{value:.3e}"));
    let rest = |reading: &RuleReading| RuleReading { value: None, ..reading.clone() };
    digits(old.value) != digits(new.value) || rest(old) != rest(new)
}

fn page(group: &SafeText, transition: &Transition, at_ms: i64, seq: u64) -> Page {
    let firing = transition.state == AlertState::Firing;
    Page {
        why: Why::News,
        rule: transition.rule.clone(),
        group: group.to_string(),
        firing,
        labels: transition.labels.clone(),
        annotations: transition.annotations.clone(),
        value: transition.value,
        starts_ms: transition.active_at_ms,
        ends_ms: (!firing).then_some(at_ms),
        at_ms,
        muted: false,
        seq,
    }
}

fn told(group: &SafeText, transition: &Transition, at_ms: i64) -> AlertStateChanged {
    let annotation = |name: &str| transition.annotations.iter().find(|(own, _)| own == name).map(|(_, text)| text.as_str());
    let annotations = transition.annotations.iter().map(|(name, text)| (SafeText::new(name), SafeText::new(text)));
    AlertStateChanged {
        rule: SafeText::new(&transition.rule),
        state: transition.state,
        severity: SafeText::new(transition.labels.get("severity").unwrap_or_default()),
        summary: SafeText::new(annotation("summary").or_else(|| annotation("description")).unwrap_or_default()),
        detail: Some(Box::new(AlertDetail {
            group: group.clone(),
            labels: label_set(&transition.labels),
            annotations: annotations.collect(),
            value: transition.value,
            active_at_ms: transition.active_at_ms,
            at_ms,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: vector(1) > 0\n    for: 2s\n    labels: {severity: critical}\n    annotations: {description: 'd {{ $value }}'}\n";

    fn monitor(rules: &str) -> Monitor {
        let mut monitor = Monitor::new(MonitorSettings { made_up_max: 100, ..MonitorSettings::default() });
        monitor.begins_at(0);
        let loaded = monitor.load("f", "s".into(), RuleFile::parse(rules).unwrap());
        assert_eq!(loaded.groups.len(), 1);
        monitor.advance(0);
        monitor
    }

    fn changes(events: &[Event]) -> Vec<(AlertState, i64)> {
        let change = |event: &Event| match event {
            Event::AlertStateChanged(e) => Some((e.state, e.detail.as_ref().unwrap().at_ms)),
            _ => None,
        };
        events.iter().filter_map(change).collect()
    }

    #[test]
    fn groups_are_evaluated_at_multiples_of_their_interval_and_alerts_told() {
        let mut monitor = monitor(RULES);
        assert_eq!(monitor.due_ms(0), 1_000);
        assert!(monitor.advance(999).is_empty());
        let events = monitor.advance(3_500);
        assert_eq!(changes(&events), [(AlertState::Pending, 1_000), (AlertState::Firing, 3_000)]);
        let Some(Event::AlertStateChanged(e)) = events.last() else { panic!("{events:?}") };
        assert_eq!((e.severity.as_str(), e.summary.as_str()), ("critical", "d 1"));
        let pages = monitor.take_pages();
        assert_eq!((pages.len(), pages[0].firing, pages[0].starts_ms), (1, true, 1_000));
        // What does not change is not told again, but for a sign of life.
        assert!(monitor.advance(59_000).iter().all(|e| !matches!(e, Event::AlertStateChanged(_))));
        let signs = monitor.advance(70_000);
        assert!(signs.iter().any(|e| matches!(e, Event::RuleEvaluated(e) if e.readings.is_empty())), "{signs:?}");
    }

    #[test]
    fn a_rule_that_did_not_change_goes_on_and_one_that_did_ends_its_alerts() {
        let mut monitor = monitor(RULES);
        monitor.advance(3_500);
        monitor.take_pages();
        monitor.load("f", "t".into(), RuleFile::parse(RULES).unwrap());
        assert_eq!(changes(&monitor.advance(4_500)), []);
        monitor.load("f", "u".into(), RuleFile::parse(&RULES.replace("> 0", "> 5")).unwrap());
        assert_eq!(changes(&monitor.advance(5_200)), [(AlertState::Resolved, 5_200)]);
        let pages = monitor.take_pages();
        assert_eq!((pages.len(), pages[0].firing), (1, false));
    }

    #[test]
    fn a_machine_that_slept_evaluates_what_is_now() {
        let mut monitor = monitor(RULES);
        monitor.settings.made_up_max = 1;
        let events = monitor.advance(8 * 3_600_000);
        let evaluated = events.iter().filter(|e| matches!(e, Event::RuleEvaluated(_))).count();
        assert_eq!((evaluated, changes(&events)), (1, vec![(AlertState::Pending, 8 * 3_600_000)]));
    }

    #[test]
    fn a_flood_is_told_up_to_a_bound_and_the_rest_in_a_line() {
        let pairs: Vec<String> = (0..300).map(|i| format!("label_replace(vector(1), \"i\", \"{i}\", \"\", \"\")")).collect();
        let rules = format!("groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: '{}'\n", pairs.join(" or "));
        let mut monitor = monitor(&rules);
        let events = monitor.advance(1_000);
        assert_eq!(changes(&events).len(), 100);
        let line = events.iter().find_map(|e| match e {
            Event::LogLine(e) => Some(e.text.to_string()),
            _ => None,
        });
        assert_eq!(line.unwrap(), "group g: 200 more alerts changed at once; 100 are told one by one");
        assert_eq!(monitor.take_pages().len(), 300, "receivers hear of all");
    }

    #[test]
    fn alerts_of_the_process_itself_are_paged_and_can_be_asked_for() {
        let rules = "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: B\n    expr: ALERTS{alertname=\"Recorder\"} == 1\n";
        let mut monitor = monitor(rules);
        let own =
            |state| AlertStateChanged { rule: "Recorder".into(), state, severity: "critical".into(), summary: "full".into(), detail: None };
        let envelope = |seq, t_ns, event| Envelope { seq: Seq(seq), t_ns, lane: LaneId(0), episode: None, step: None, event };
        monitor.observe(&envelope(1, 500_000_000, own(AlertState::Firing).into()));
        assert_eq!(changes(&monitor.advance(1_500)), [(AlertState::Firing, 1_000)]);
        let rules_told: Vec<String> = monitor.take_pages().into_iter().map(|page| page.rule).collect();
        assert_eq!(rules_told, ["Recorder", "B"]);
        monitor.observe(&envelope(2, 1_600_000_000, own(AlertState::Resolved).into()));
        assert_eq!(changes(&monitor.advance(2_500)), [(AlertState::Resolved, 2_000)]);
    }
}
