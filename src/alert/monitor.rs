//! Joins the rooms: envelopes go in, time is told, what rules came to comes out. No IO: live and over a recording it is the same. A clock that it
//! is given measures how long evaluations take, and decides nothing.

use super::pager::{Page, Pager, Why};
use super::promql::Limits;
use super::rules::{Context, Group, RuleFile, RuleOutcome, Transition};
use super::silences::{Silences, label_set};
use crate::event::*;
use crate::metrics::{Caps, Labels, METRIC_NAME, Meter, Store, stale};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// No group is evaluated more often.
pub const INTERVAL_MS_MIN: i64 = 100;
/// A group is told of at least this often, so that a screen knows that it is evaluated.
const TOLD_EVERY_MS: i64 = 60_000;
/// Changes of alerts that wait to be told; beyond them beginnings are left out, ends never.
const UNTOLD_MAX: usize = 20_000;
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
    /// Changes of alerts that are told at once; the rest is told a little later.
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
    /// Series of groups that are no more, which end with the next turn.
    left_over: Vec<Labels>,
    /// Changes of alerts that are still to be told, oldest first.
    untold: VecDeque<Event>,
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
            left_over: Vec::new(),
            untold: VecDeque::new(),
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
        self.left_over.extend(before.into_iter().flat_map(|old| old.group.into_written()));
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
        if let (Event::RunStarted(_), Some(at_ms)) = (&envelope.event, self.at_ms(envelope.t_ns)) {
            // Counters stand at 0 before the run: what goes wrong before the first look at them is an increase, too.
            self.meter.collect(&mut self.store, at_ms.saturating_sub(1));
        }
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
            self.untold.push_back(told(&group, &end, at_ms).into());
        }
        self.tell_some(&mut events);
        let Some(before_ms) = self.done_ms.replace(at_ms) else { return events };
        // A machine that slept evaluates what is now: of each interval its newest times.
        let mut done_ms = before_ms.max(self.intervals().map(|interval| self.reach_ms(at_ms, interval)).min().unwrap_or(before_ms));
        loop {
            let due_ms = self.due_ms(done_ms);
            if due_ms > at_ms {
                break;
            }
            self.turn(due_ms, at_ms, &mut events);
            done_ms = due_ms;
        }
        let pages = self.pager.turn(&self.silences, at_ms);
        self.pages.extend(pages);
        let left_out = self.pager.take_left_out();
        if left_out > 0 {
            let text = format!("{left_out} alerts that began are told to no receiver: too many fire at once");
            events.push(LogLine { level: LogLevel::Warn, target: "rules".into(), text: text.into() }.into());
        }
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

    /// What was due by then and was not done is not made up for.
    fn reach_ms(&self, now_ms: i64, interval: i64) -> i64 {
        now_ms.saturating_sub(self.settings.made_up_max.max(1).saturating_mul(interval))
    }

    /// Does what is due at `at_ms`, unless it is long past `now_ms` for its interval.
    fn turn(&mut self, at_ms: i64, now_ms: i64, events: &mut Vec<Event>) {
        let is_due = |interval: i64| at_ms % interval == 0 && at_ms > self.reach_ms(now_ms, interval);
        let due: Vec<bool> = self.groups.iter().map(|watched| is_due(interval(&watched.group))).collect();
        if is_due(self.collect_ms()) {
            self.meter.collect(&mut self.store, at_ms);
            for series in &self.own {
                // A refused point shows as a gap of a rule that asks for it.
                let _ = self.store.append(series, at_ms, 1.0);
            }
        }
        for (index, _) in due.iter().enumerate().filter(|(_, is_due)| **is_due) {
            self.evaluate(index, at_ms, events);
        }
        self.end_left_over(at_ms);
        self.tell_some(events);
    }

    fn end_left_over(&mut self, at_ms: i64) {
        for ended in std::mem::take(&mut self.left_over) {
            if !self.groups.iter().any(|watched| watched.group.writes(&ended)) {
                // Where nothing more can be written, it ends by itself five minutes later.
                let _ = self.store.append(&ended, at_ms, stale());
            }
        }
    }

    /// A flood is told bit by bit, in its order: an end that nobody was told of would stand for ever.
    fn tell_some(&mut self, events: &mut Vec<Event>) {
        let most = self.settings.changes_told_max.min(self.untold.len());
        events.extend(self.untold.drain(..most));
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

    /// Takes note of what is to be told; `tell_some` does it.
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
        let room = UNTOLD_MAX.saturating_sub(self.untold.len());
        let begins = |transition: &&&Transition| match transition.state {
            AlertState::Firing | AlertState::Pending => true,
            AlertState::Resolved | AlertState::Inactive => false,
        };
        let left_out = transitions.iter().filter(begins).count().saturating_sub(room);
        if left_out > 0 {
            let text = format!("group {group}: {left_out} more alerts began at once than can be told; receivers hear of them");
            events.push(LogLine { level: LogLevel::Warn, target: "rules".into(), text: text.into() }.into());
        }
        let mut beginnings = 0;
        for transition in transitions {
            beginnings += usize::from(begins(&&transition));
            if !begins(&&transition) || beginnings <= room {
                self.untold.push_back(told(group, transition, at_ms).into());
            }
        }
    }
}

/// What is pending or fires, by group and labels, with what is to be told should it be no more.
fn standing(groups: &[Watched]) -> BTreeMap<(SafeText, Labels), Transition> {
    let ends = groups.iter().flat_map(|watched| watched.group.ends().map(|end| ((watched.name.clone(), end.labels.clone()), end)));
    ends.collect()
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
    let further = |reading: &RuleReading| reading.further.iter().map(|value| digits(value.map(|value| value.0))).collect::<Vec<_>>();
    let rest = |reading: &RuleReading| RuleReading { value: None, further: Vec::new(), ..reading.clone() };
    digits(old.value) != digits(new.value) || further(old) != further(new) || rest(old) != rest(new)
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
        starts_ms: transition.fired_at_ms.unwrap_or(transition.active_at_ms),
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
        assert!(!loaded.groups.is_empty());
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
        assert_eq!((pages.len(), pages[0].firing, pages[0].starts_ms), (1, true, 3_000), "since when it fires");
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
    fn a_flood_is_told_bit_by_bit_and_every_end_with_it() {
        let pairs: Vec<String> = (0..150).map(|i| format!("label_replace(vector(1), \"i\", \"{i}\", \"\", \"\")")).collect();
        let expr = format!("({}) and on () vector(time()) < 3", pairs.join(" or "));
        let rules = format!("groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: '{expr}'\n");
        let mut monitor = monitor(&rules);
        let events = monitor.advance(1_000);
        assert_eq!(changes(&events).len(), 100);
        assert_eq!(monitor.take_pages().len(), 150, "receivers hear of all");
        let mut all = events;
        for at_ms in (1_100..=6_000).step_by(100) {
            all.extend(monitor.advance(at_ms));
        }
        let of = |wanted| changes(&all).into_iter().filter(|(state, _)| *state == wanted).count();
        assert_eq!((of(AlertState::Firing), of(AlertState::Resolved)), (150, 150));
    }

    #[test]
    fn a_lag_skips_no_group_but_those_that_it_is_long_for() {
        let group = |name: &str, interval: &str| {
            format!("- name: {name}\n  interval: {interval}\n  rules:\n  - record: x:{name}\n    expr: vector(1)\n")
        };
        let mut monitor = monitor(&format!("groups:\n{}{}", group("quick", "1s"), group("slow", "1m")));
        monitor.settings.made_up_max = 1;
        let evaluated = |events: &[Event]| -> Vec<(String, i64)> {
            let of = |event: &Event| match event {
                Event::RuleEvaluated(e) => Some((e.group.to_string(), e.at_ms)),
                _ => None,
            };
            events.iter().filter_map(of).collect()
        };
        monitor.advance(59_500);
        monitor.tell_all();
        assert_eq!(evaluated(&monitor.advance(61_600)), [("slow".to_owned(), 60_000), ("quick".to_owned(), 61_000)]);
    }

    #[test]
    fn a_rule_that_is_changed_while_it_fires_fires_anew() {
        let rules = |expr: &str| {
            let rule = format!("  - alert: Bang\n    expr: {expr}\n");
            format!("groups:\n- name: g\n  interval: 1s\n  rules:\n  - record: first:one\n    expr: vector(1)\n{rule}")
        };
        let mut monitor = monitor(&rules("vector(7) > 5"));
        assert_eq!(changes(&monitor.advance(1_000)), [(AlertState::Firing, 1_000)]);
        monitor.load("f", "t".into(), RuleFile::parse(&rules("vector(8) > 5")).unwrap());
        let events = monitor.advance(2_000);
        assert_eq!(changes(&events), [(AlertState::Resolved, 2_000), (AlertState::Firing, 2_000)]);
        assert!(readings(&events).all(|reading| reading.error.is_none()), "{events:?}");
    }

    fn readings(events: &[Event]) -> impl Iterator<Item = &RuleReading> {
        events.iter().flat_map(|event| match event {
            Event::RuleEvaluated(e) => e.readings.as_slice(),
            _ => &[],
        })
    }

    #[test]
    fn a_store_that_is_full_hides_no_alert() {
        let mut monitor = monitor("groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: vector(1)\n");
        monitor.store = Store::new(Caps { series_max: 0, ..Caps::default() });
        let events = monitor.advance(1_000);
        assert_eq!(changes(&events), [(AlertState::Firing, 1_000)]);
        let reading = readings(&events).next().unwrap();
        assert!(reading.error.as_ref().is_some_and(|error| error.contains("as many series as are kept")), "{reading:?}");
        assert_eq!((reading.health, reading.firing), (RuleHealth::Error, 1));
    }

    #[test]
    fn more_alerts_than_the_limit_end_those_that_were_told() {
        let one = |i: u8| format!("label_replace(vector(1), \"i\", \"{i}\", \"\", \"\")");
        let expr = format!("{} or {} or ({} and on () vector(time()) >= 2)", one(1), one(2), one(3));
        let rules = format!("groups:\n- name: g\n  interval: 1s\n  limit: 2\n  rules:\n  - alert: A\n    expr: '{expr}'\n");
        let mut monitor = monitor(&rules);
        assert_eq!(changes(&monitor.advance(1_000)), [(AlertState::Firing, 1_000); 2]);
        monitor.take_pages();
        let events = monitor.advance(2_000);
        assert_eq!(changes(&events), [(AlertState::Resolved, 2_000); 2]);
        assert_eq!(readings(&events).next().unwrap().error.as_deref(), Some("exceeded limit of 2 with 3 alerts"));
        assert_eq!(monitor.take_pages().iter().filter(|page| !page.firing).count(), 2);
    }

    #[test]
    fn series_of_a_group_that_is_gone_end() {
        let watcher = "- name: w\n  interval: 1s\n  rules:\n  - alert: Seen\n    expr: ALERTS{alertname=\"A\"}\n";
        let gone = "- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: vector(1)\n";
        let mut monitor = monitor(&format!("groups:\n{gone}{watcher}"));
        monitor.advance(1_000);
        monitor.load("f", "t".into(), RuleFile::parse(&format!("groups:\n{watcher}")).unwrap());
        let ended = changes(&monitor.advance(2_000));
        assert_eq!(ended, [(AlertState::Resolved, 2_000)], "the alert itself");
        assert_eq!(changes(&monitor.advance(3_000)), [(AlertState::Resolved, 3_000)], "and what was seen of it");
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
