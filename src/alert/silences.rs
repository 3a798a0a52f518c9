//! Silences as events tell them: which alerts they cover, and which of them are over.

use crate::event::{LabelSet, Matching, SafeText, Silence, SilenceEnded, SilenceSet};
use crate::metrics::Labels;
use std::collections::BTreeMap;

/// Silences that are kept, whoever made them.
const SILENCES_MAX: usize = 1_000;

#[derive(Debug)]
struct Kept {
    silence: Silence,
    matching: Matching,
}

#[derive(Debug, Default)]
pub struct Silences {
    kept: BTreeMap<SafeText, Kept>,
}

impl Silences {
    pub fn set(&mut self, e: &SilenceSet) {
        // Matchers that can't be used silence nothing, here as on the screen.
        let Ok(matching) = Matching::new(&e.silence.matchers) else { return };
        if self.kept.len() < SILENCES_MAX || self.kept.contains_key(&e.id) {
            self.kept.insert(e.id.clone(), Kept { silence: e.silence.clone(), matching });
        }
    }

    pub fn ended(&mut self, id: &SafeText) {
        self.kept.remove(id);
    }

    /// Whether alerts with these labels tell nobody at this time.
    pub fn covers(&self, labels: &Labels, external: &Labels, at_ms: i64) -> bool {
        let stands = |silence: &Silence| silence.starts_ms <= at_ms && at_ms < silence.ends_ms;
        let value_of = |name: &str| labels.get(name).or_else(|| external.get(name));
        self.kept.values().any(|kept| stands(&kept.silence) && kept.matching.holds_of(value_of))
    }

    /// Those whose time is over; each is told once.
    pub fn expire(&mut self, at_ms: i64) -> Vec<SilenceEnded> {
        let over = self.kept.iter().filter(|(_, kept)| kept.silence.ends_ms <= at_ms).map(|(id, _)| id.clone());
        let over: Vec<SafeText> = over.collect();
        for id in &over {
            self.kept.remove(id);
        }
        over.into_iter().map(|id| SilenceEnded { id }).collect()
    }
}

/// Labels as events have them.
pub fn label_set(labels: &Labels) -> LabelSet {
    labels.iter().map(|(name, value)| (SafeText::new(name), SafeText::new(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::SilenceKind;

    fn silence(matcher: &str, starts_ms: i64, ends_ms: i64) -> Silence {
        let matchers = vec![matcher.parse().unwrap()];
        Silence { kind: SilenceKind::Silence, matchers, starts_ms, ends_ms, created_by: "me".into(), comment: "".into() }
    }

    #[test]
    fn a_silence_covers_from_its_beginning_to_before_its_end_and_is_over_once() {
        let mut silences = Silences::default();
        silences.set(&SilenceSet { id: "s1".into(), silence: silence("cluster=~\"a|b\"", 10, 20) });
        let (labels, external) = (Labels::from_pairs([("alertname", "x")]), Labels::from_pairs([("cluster", "b")]));
        let covered: Vec<bool> = [9, 10, 19, 20].map(|at| silences.covers(&labels, &external, at)).to_vec();
        assert_eq!(covered, [false, true, true, false]);
        assert!(!silences.covers(&labels, &Labels::default(), 15));
        assert!(silences.expire(19).is_empty());
        assert_eq!(silences.expire(20), vec![SilenceEnded { id: "s1".into() }]);
        assert!(silences.expire(21).is_empty());
    }
}
