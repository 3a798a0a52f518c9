//! Silences of this run. The engine only gives them numbers and tells them; the alert rules' thread heeds them.

use super::crank::Engine;
use crate::event::{Event, Matching, SafeText, Silence, SilenceEnded, SilenceSet};

/// Silences that stand at a time.
const SILENCES_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub struct Silences {
    /// Those that stand: made here, or told of another place by a fact.
    ids: Vec<SafeText>,
    next: u64,
}

impl Silences {
    /// Why this silence can't be made.
    pub fn objection(&self, silence: &Silence) -> Option<String> {
        if silence.matchers.is_empty() || silence.matchers.iter().any(|m| m.name.is_empty()) {
            return Some("a silence names at least one label, such as alertname=\"GpuHot\"".into());
        }
        if silence.ends_ms <= silence.starts_ms {
            return Some("a silence ends after it begins".into());
        }
        match Matching::new(&silence.matchers) {
            Err(reason) => return Some(reason),
            Ok(matching) if matching.is_of_all() => {
                return Some("these matchers meet every alert; name at least one label that an alert must have".into());
            }
            Ok(_) => {}
        }
        (self.ids.len() >= SILENCES_MAX).then(|| format!("there are {SILENCES_MAX} silences; end some first"))
    }

    pub fn objection_to_id(&self, id: &SafeText) -> Option<String> {
        (!self.ids.contains(id)).then(|| format!("no silence that stands is named {id}"))
    }

    /// A fact that another thread told: silences of an Alertmanager, and those whose time is over.
    pub fn note(&mut self, fact: &Event) {
        if let Event::SilenceEnded(e) = fact {
            self.ids.retain(|own| *own != e.id);
        }
        if let Event::SilenceSet(e) = fact
            && !self.ids.contains(&e.id)
            && self.ids.len() < SILENCES_MAX
        {
            self.ids.push(e.id.clone());
        }
    }

    fn take(&mut self) -> SafeText {
        self.next += 1;
        let id = SafeText::from(format!("s{}", self.next));
        self.ids.push(id.clone());
        id
    }
}

impl Engine {
    pub(super) fn silence(&mut self, silence: Silence) {
        let id = self.silences.take();
        self.append(SilenceSet { id, silence });
    }

    pub(super) fn unsilence(&mut self, id: SafeText) {
        self.silences.ids.retain(|own| *own != id);
        self.append(SilenceEnded { id });
    }
}
