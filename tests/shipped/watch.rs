//! The rules that ship, asked all along a run: events to series, series to rules, rules to alerts, as in a live run.

use super::tale::Tale;
use pilothouse::alert::monitor::{Monitor, MonitorSettings};
use pilothouse::alert::rules::RuleFile;
use pilothouse::event::{AlertState, Event};
use std::collections::BTreeMap;

/// What an alert said when it first fired.
#[derive(Debug)]
pub struct Fired {
    pub description: String,
    pub times: u32,
}

pub fn rules() -> RuleFile {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/rules.yaml");
    RuleFile::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The file with that rule alone.
pub fn only(name: &str) -> RuleFile {
    let mut file = rules();
    file.groups.iter_mut().for_each(|group| group.rules.retain(|rule| rule.name == name));
    file
}

/// Alerts that fired, by rule.
pub fn fired(rules: RuleFile, tale: &Tale) -> BTreeMap<String, Fired> {
    let settings =
        MonitorSettings { instance: "pilot".into(), interval_ms: 15_000, made_up_max: i64::from(u32::MAX), ..MonitorSettings::default() };
    let mut monitor = Monitor::new(settings);
    monitor.load("rules.yaml", String::new(), rules);
    let mut fired = BTreeMap::new();
    for envelope in &tale.events {
        if let Some(at_ms) = monitor.at_ms(envelope.t_ns) {
            take(&mut fired, monitor.advance(at_ms - 1));
        }
        monitor.observe(envelope);
    }
    let end_ms = monitor.at_ms(tale.end_ns).unwrap();
    take(&mut fired, monitor.advance(end_ms));
    fired
}

fn take(fired: &mut BTreeMap<String, Fired>, events: Vec<Event>) {
    for event in events {
        if let Event::RuleEvaluated(e) = &event {
            assert!(e.readings.iter().all(|reading| reading.error.is_none()), "{e:?}");
        }
        let Event::AlertStateChanged(e) = event else { continue };
        if e.state == AlertState::Firing {
            let annotations = &e.detail.as_ref().unwrap().annotations;
            let description = annotations.iter().find(|(name, _)| name.as_str() == "description").unwrap().1.to_string();
            fired.entry(e.rule.to_string()).or_insert(Fired { description, times: 0 }).times += 1;
        }
    }
}
