//! Alerts of whole runs, and how they stand in the state that every screen draws.

use super::super::join::{RunPlan, Started, start};
use super::*;
use crate::alert::notify::hook::{Hook, say};
use crate::alert::pager::{Page, Why};
use crate::alert::rules::RuleFile;
use crate::config::{Sources, file_list, load};
use crate::event::*;
use crate::journal::Recording;
use crate::state::{DashState, Stand};
use std::path::PathBuf;

#[allow(dead_code, reason = "shared with a test that uses all of it")]
#[path = "../../tests/alertmanager/peer.rs"]
mod peer;

const ALWAYS: &str =
    "groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: Always\n    expr: vector(1)\n    labels: {severity: critical}\n";

/// A run with these rules and one receiver, in a folder of its own.
struct Live {
    folder: tempfile::TempDir,
    started: Started,
}

impl Live {
    fn start(rules: &str, receiver: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules.yaml");
        std::fs::write(&file, rules).unwrap();
        let sets = vec![
            "run.agent=heuristic".to_owned(),
            "alerts.interval_ms=100".to_owned(),
            format!("alerts.rules={}", file_list(&[file])),
            format!("alerts.receivers=[(name: \"ops\", timeout_seconds: 300, to: {receiver})]"),
        ];
        let config = load(&Sources { sets, ..Sources::default() }).unwrap();
        let record = Some(folder.path().join("run.jsonl"));
        let plan = RunPlan { episodes_max: None, pace: "4".parse().unwrap(), streams: false, record, tapped: false, alerts: true };
        let Ok(started) = start(&config, plan, None) else { panic!("the run does not start") };
        Self { folder, started }
    }

    fn rules(&self) -> PathBuf {
        self.folder.path().join("rules.yaml")
    }

    /// What holds of the state, once it does.
    fn until<T>(&self, what: &str, found: impl Fn(&DashState) -> Option<T>) -> T {
        peer::until(what, || found(&self.started.hub.state()))
    }

    /// Ends it; all of its events, and what is said of receivers on the way out.
    fn end(self) -> Vec<Arc<Envelope>> {
        let path = self.folder.path().join("run.jsonl");
        self.started.shut_down();
        let mut recording = Recording::open(&path).unwrap();
        recording.events_from(Seq(1)).unwrap().map(|e| e.unwrap()).collect()
    }
}

fn webhook(hook: &Hook) -> String {
    format!("Webhook(url: \"{}\")", hook.url())
}

fn is_end(e: &Arc<Envelope>) -> bool {
    matches!(&e.event, Event::RunStateChanged(c) if c.state == RunState::Ended)
}

#[test]
fn what_a_receiver_answers_while_the_run_ends_is_recorded() {
    let hook = Hook::start(|_, stream| {
        std::thread::sleep(Duration::from_millis(300));
        say(stream, "200 OK", "");
    });
    let live = Live::start(ALWAYS, &webhook(&hook));
    hook.wait_for(1);
    let events = live.end();
    let notified = events.iter().position(|e| matches!(&e.event, Event::AlertNotified(n) if n.ok)).expect("its answer is recorded");
    assert!(events[notified..].iter().any(is_end) && is_end(events.last().unwrap()), "{:?}", events.last());
}

#[test]
fn a_receiver_that_hangs_is_left_behind_and_told_of() {
    let hook = Hook::start(|_, stream| {
        let _ = std::io::Read::read(stream, &mut [0]);
    });
    let live = Live::start(ALWAYS, &webhook(&hook));
    hook.wait_for(1);
    let events = live.end();
    let words = left_behind_words("ops");
    assert!(events.iter().any(|e| matches!(&e.event, Event::LogLine(l) if l.text.as_str() == words)), "{words}");
    assert!(is_end(events.last().unwrap()));
}

#[test]
fn rules_are_read_again_while_their_alerts_fire() {
    let hook = Hook::saying("200 OK");
    let live = Live::start(ALWAYS, &webhook(&hook));
    assert_eq!(hook.wait_for(1)[0].json()["alerts"][0]["status"], "firing");
    let of_rule = |state: &DashState, name: &str| state.alerting.rules.iter().any(|rule| rule.info.name.as_str() == name);
    let fires = |state: &DashState| state.alerting.alerts.iter().any(|alert| alert.change.state == AlertState::Firing);
    // One that is wrong changes nothing, and says where.
    std::fs::write(live.rules(), ALWAYS.replace("vector(1)", "vector(1")).unwrap();
    let fault = live.until("the fault is told", |state| state.alerting.error.clone());
    assert!(fault.contains("rules.yaml:6:"), "{fault}");
    let state = live.started.hub.state();
    assert!(of_rule(&state, "Always") && fires(&state));
    // Without the rule its alert is over, and whoever heard of it is told.
    std::fs::write(live.rules(), ALWAYS.replace("Always", "Other").replace("vector(1)", "vector(1) > 2")).unwrap();
    live.until("the rule is gone", |state| (of_rule(state, "Other") && !fires(state)).then_some(()));
    let told = hook.wait_for(2)[1].json();
    assert_eq!((&told["alerts"][0]["status"], &told["alerts"][0]["labels"]["alertname"]), (&"resolved".into(), &"Always".into()));
    let state = live.started.hub.state();
    assert!(state.alerting.error.is_none() && !of_rule(&state, "Always"));
    live.end();
}

/// A monitor whose events are folded as those of a run are.
struct Told {
    monitor: Monitor,
    state: DashState,
    pages: Vec<Page>,
}

impl Told {
    fn new(rules: &str) -> Self {
        let mut monitor = Monitor::new(MonitorSettings::default());
        monitor.begins_at(0);
        let loaded = monitor.load("f", "s".into(), RuleFile::parse(rules).unwrap());
        let mut told = Self { monitor, state: DashState::default(), pages: Vec::new() };
        told.say(0, loaded.into());
        told.until(0, 0);
        told
    }

    /// One rule, evaluated each second.
    fn of_rule(expr: &str, rest: &str) -> Self {
        Self::new(&format!("groups:\n- name: g\n  interval: 1s\n  rules:\n  - alert: A\n    expr: '{expr}'\n{rest}"))
    }

    fn say(&mut self, at_ms: u64, event: Event) {
        let envelope = Envelope { seq: self.state.seq.next(), t_ns: at_ms * 1_000_000, lane: LaneId(0), episode: None, step: None, event };
        self.monitor.observe(&envelope);
        self.state.apply(&envelope).unwrap();
    }

    /// Half a second after the other.
    fn until(&mut self, from_ms: u64, to_ms: u64) {
        for at_ms in (from_ms..=to_ms).step_by(500) {
            for event in self.monitor.advance(at_ms as i64) {
                self.say(at_ms, event);
            }
            self.pages.extend(self.monitor.take_pages());
        }
    }

    fn silence(&mut self, kind: SilenceKind, from_ms: i64, to_ms: i64) {
        let matchers = vec!["alertname=A".parse().unwrap()];
        let (created_by, comment) = ("me".into(), "on it".into());
        let silence = Silence { kind, matchers, starts_ms: from_ms, ends_ms: to_ms, created_by, comment };
        self.say(from_ms as u64, SilenceSet { id: "s1".into(), silence }.into());
    }

    fn stand(&self) -> Stand {
        self.state.alerting.rule_standing(&self.state.alerting.rules[0], self.state.t_ns).stand
    }

    fn flaps(&self) -> bool {
        self.state.alerting.rule_standing(&self.state.alerting.rules[0], self.state.t_ns).flapping
    }

    /// Times, why, whether it fires; without what is muted.
    fn heard(&self) -> Vec<(i64, Why, bool)> {
        self.pages.iter().filter(|page| !page.muted).map(|page| (page.at_ms, page.why, page.firing)).collect()
    }
}

#[test]
fn what_matches_no_series_and_what_can_t_be_evaluated_stand_as_such() {
    let mut told = Told::of_rule("nothing_of_this_name > 1", "");
    told.until(500, 1_000);
    assert_eq!(told.stand(), Stand::NoData);
    let twice = "label_replace(vector(1), \"a\", \"1\", \"\", \"\") or label_replace(vector(1), \"a\", \"2\", \"\", \"\")";
    let mut told = Told::of_rule(twice, "    labels: {a: x}\n");
    told.until(500, 1_000);
    let Stand::Error(why) = told.stand() else { panic!("{:?}", told.stand()) };
    assert!(why.contains("same labelset after applying alert labels"), "{why}");
    assert!(told.pages.is_empty());
}

#[test]
fn what_comes_and_goes_flaps() {
    let mut told = Told::of_rule("vector(time() % 2) < 1", "");
    told.until(500, 4_000);
    assert!(!told.flaps());
    told.until(4_500, 8_000);
    assert!(told.flaps());
}

#[test]
fn what_is_kept_firing_is_silenced_as_what_fires() {
    let mut told = Told::of_rule("vector(time()) < 3", "    keep_firing_for: 6s\n");
    told.until(500, 4_000);
    assert_eq!(told.stand(), Stand::Firing, "though it holds no more");
    told.silence(SilenceKind::Silence, 4_000, 6_000);
    told.until(4_500, 5_500);
    assert!(matches!(told.stand(), Stand::Silenced(_)), "{:?}", told.stand());
    told.until(6_000, 6_500);
    assert_eq!(told.stand(), Stand::Firing);
    told.until(7_000, 10_000);
    assert_eq!(told.stand(), Stand::Ok);
    assert_eq!(told.heard(), [(1_000, Why::News, true), (6_000, Why::News, true), (9_000, Why::News, false)]);
}

#[test]
fn an_acknowledgement_names_who_sees_to_it_and_when_it_is_over_all_hear_again() {
    let mut told = Told::of_rule("vector(1)", "    labels: {severity: critical}\n");
    told.until(500, 1_500);
    told.silence(SilenceKind::Acknowledgement, 2_000, 4_000);
    told.until(2_000, 3_500);
    let Stand::Acknowledged(hush) = told.stand() else { panic!("{:?}", told.stand()) };
    assert_eq!((hush.by.as_str(), hush.comment.as_str(), hush.until_ms), ("me", "on it", 4_000));
    let alert = |told: &Told| told.state.alerting.alerts[0].change.clone();
    assert!(told.state.alerting.is_hushed(&alert(&told), told.state.t_ns), "no bell rings");
    told.until(4_000, 4_500);
    assert_eq!(told.stand(), Stand::Firing);
    assert!(!told.state.alerting.is_hushed(&alert(&told), told.state.t_ns));
    assert!(told.state.alerting.silences[&SafeText::from("s1")].ended_t_ns.is_some(), "its end is an event");
    assert_eq!(told.heard(), [(1_000, Why::News, true), (4_000, Why::News, true)]);
}

#[test]
#[ignore = "needs prometheus-alertmanager and amtool"]
fn silences_of_the_console_and_of_the_alertmanager_are_the_same() {
    let peer = peer::Peer::start();
    let live = Live::start(ALWAYS, &format!("Alertmanager(urls: [\"{}\"])", peer.url()));
    peer::until("it fires there", || peer.alert("Always"));
    let stand = |state: &DashState| {
        let alert = state.alerting.alerts.first()?;
        Some(state.alerting.alert_standing(alert, state.t_ns).stand)
    };
    let silence = |state: &DashState| match stand(state)? {
        Stand::Silenced(hush) | Stand::Acknowledged(hush) => Some(hush),
        _other => None,
    };
    let fires = |state: &DashState| (stand(state)? == Stand::Firing).then_some(());
    // Made here, ended here.
    let starts_ms = jiff::Timestamp::now().as_millisecond();
    let made = Silence {
        kind: SilenceKind::Silence,
        matchers: vec!["alertname=Always".parse().unwrap()],
        starts_ms,
        ends_ms: starts_ms + 600_000,
        created_by: "me".into(),
        comment: "fans".into(),
    };
    live.started.commands.send(Command::Silence(made)).unwrap();
    peer::until("it is silenced there", || (peer.alert("Always")?["status"]["state"] == "suppressed").then_some(()));
    let hush = live.until("it has the name that it has there", |state| silence(state).filter(|hush| hush.id.as_str() != "s1"));
    live.started.commands.send(Command::Unsilence { id: hush.id }).unwrap();
    peer::until("it fires there again", || (peer.alert("Always")?["status"]["state"] == "active").then_some(()));
    live.until("it fires here again", fires);
    // Made there, ended here.
    peer.amtool(&["silence", "add", "alertname=Always", "-c", "maintenance", "-a", "somebody", "-d", "10m"]);
    let hush = live.until("what was made there is heeded here", silence);
    assert_eq!((hush.by.as_str(), hush.comment.as_str()), ("somebody", "maintenance"));
    live.started.commands.send(Command::Unsilence { id: hush.id }).unwrap();
    peer::until("it is ended there", || peer.amtool(&["silence", "query"]).as_array().is_some_and(Vec::is_empty).then_some(()));
    live.until("it fires here again", fires);
    // Made there, ended there.
    peer.amtool(&["silence", "add", "alertname=Always", "-c", "again", "-a", "somebody", "-d", "10m"]);
    let hush = live.until("it is heeded", silence);
    let expire = ["silence", "expire", hush.id.as_str()];
    peer.amtool(&expire);
    live.until("and its end, too", fires);
    live.end();
}
