//! What receivers are to be told, and when: of what fires, of what has ended, again after a while, and nothing while a silence covers it.

use super::silences::Silences;
use crate::metrics::Labels;
use std::collections::BTreeMap;

/// Alerts that are followed; a rule that has more floods nobody.
const ACTIVE_MAX: usize = 10_000;
/// How long what has ended is refreshed, so that an Alertmanager that was away learns of it.
const ENDED_REFRESHED_MS: i64 = 15 * 60 * 1_000;

/// Why something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It began or ended, or a silence that covered it is over.
    News,
    /// It still fires after a long while.
    Repeat,
    /// As it was: for receivers that forget what they don't hear again.
    Refresh,
}

/// One alert for receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub why: Why,
    pub rule: String,
    pub group: String,
    pub firing: bool,
    /// With `alertname`, without external labels.
    pub labels: Labels,
    pub annotations: Vec<(String, String)>,
    pub value: f64,
    /// Times are milliseconds since 1970.
    pub starts_ms: i64,
    pub ends_ms: Option<i64>,
    pub at_ms: i64,
    /// A silence of this run covers it.
    pub muted: bool,
    /// The last event that was seen before it began to fire.
    pub seq: u64,
}

impl Page {
    pub fn severity(&self) -> &str {
        self.labels.get("severity").unwrap_or_default()
    }

    /// What tells it from other alerts.
    pub fn key(&self) -> (&str, &Labels) {
        (&self.group, &self.labels)
    }
}

#[derive(Debug)]
struct Active {
    page: Page,
    is_new: bool,
    told_ms: Option<i64>,
    refreshed_ms: i64,
    /// As of the last turn.
    is_muted: bool,
}

/// Follows what fires. Pure: it is told the time.
#[derive(Debug)]
pub struct Pager {
    active: BTreeMap<(String, Labels), Active>,
    repeat_ms: i64,
    refresh_ms: i64,
    external_labels: Labels,
    left_out: u64,
}

impl Pager {
    pub fn new(repeat_ms: i64, refresh_ms: i64, external_labels: Labels) -> Self {
        Self { active: BTreeMap::new(), repeat_ms, refresh_ms, external_labels, left_out: 0 }
    }

    /// An alert began to fire or ended.
    pub fn changed(&mut self, page: Page) {
        let key = (page.group.clone(), page.labels.clone());
        if page.firing && self.active.len() >= ACTIVE_MAX && !self.active.contains_key(&key) {
            // What has ended and was told gives way.
            self.active.retain(|_, active| active.page.firing || active.is_new);
        }
        let is_full = self.active.len() >= ACTIVE_MAX;
        match self.active.get_mut(&key) {
            Some(active) => {
                let began = !active.page.firing && page.firing;
                if began {
                    active.told_ms = None;
                }
                // Its beginning was told with the event behind which it began.
                let seq = if began { page.seq } else { active.page.seq };
                (active.page, active.is_new) = (Page { seq, ..page }, true);
            }
            // The end of what is not known was told to nobody.
            None if !page.firing => {}
            None if is_full => self.left_out += 1,
            None => {
                let active = Active { refreshed_ms: page.at_ms, page, is_new: true, told_ms: None, is_muted: false };
                self.active.insert(key, active);
            }
        }
    }

    /// What a firing alert says now.
    pub fn says(&mut self, group: &str, labels: &Labels, annotations: &[(String, String)], value: f64) {
        if let Some(active) = self.active.get_mut(&(group.to_owned(), labels.clone())) {
            active.page.value = value;
            if active.page.annotations != annotations {
                active.page.annotations = annotations.to_vec();
            }
        }
    }

    /// Alerts that began since the last call and that no receiver hears of: too many fire.
    pub fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// What is to be told now.
    pub fn turn(&mut self, silences: &Silences, at_ms: i64) -> Vec<Page> {
        let (repeat_ms, refresh_ms) = (self.repeat_ms, self.refresh_ms);
        let mut told = Vec::new();
        for active in self.active.values_mut() {
            let muted = silences.covers(&active.page.labels, &self.external_labels, at_ms);
            let is_over = std::mem::replace(&mut active.is_muted, muted) && !muted;
            let is_due = |since: i64, every: i64| at_ms - since >= every;
            let why = match (active.page.firing, active.told_ms) {
                // What was told of nobody needs no end.
                (false, told) if active.is_new => Some((Why::News, muted || told.is_none())),
                (true, None) if !muted || active.is_new => Some((Why::News, muted)),
                // Whoever silenced it, or said that they see to it, has not been done with it in time.
                (true, Some(_)) if is_over => Some((Why::News, false)),
                (true, Some(told)) if !muted && is_due(told, repeat_ms) => Some((Why::Repeat, false)),
                (_, told) if is_due(active.refreshed_ms, refresh_ms) => Some((Why::Refresh, muted || told.is_none())),
                (true | false, _) => None,
            };
            let Some((why, muted)) = why else { continue };
            active.is_new = false;
            active.refreshed_ms = at_ms;
            if why != Why::Refresh && !muted {
                active.told_ms = Some(at_ms);
            }
            told.push(Page { why, muted, at_ms, ..active.page.clone() });
        }
        self.active.retain(|_, a| a.page.firing || a.page.ends_ms.is_some_and(|ended| at_ms - ended < ENDED_REFRESHED_MS));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Silence, SilenceKind, SilenceSet};

    fn page(gpu: &str, firing: bool, at_ms: i64) -> Page {
        Page {
            why: Why::News,
            rule: "GpuHot".into(),
            group: "gpu".into(),
            firing,
            labels: Labels::from_pairs([("alertname", "GpuHot"), ("gpu", gpu)]),
            annotations: Vec::new(),
            value: 1.0,
            starts_ms: 0,
            ends_ms: (!firing).then_some(at_ms),
            at_ms,
            muted: false,
            seq: 7,
        }
    }

    fn told(pager: &mut Pager, silences: &Silences, at_ms: i64) -> Vec<(Why, bool, bool)> {
        pager.turn(silences, at_ms).into_iter().map(|p| (p.why, p.firing, p.muted)).collect()
    }

    fn silence_gpu0(from_ms: i64, to_ms: i64) -> Silences {
        let mut silences = Silences::default();
        let silence = Silence {
            kind: SilenceKind::Acknowledgement,
            matchers: vec!["gpu=0".parse().unwrap()],
            starts_ms: from_ms,
            ends_ms: to_ms,
            created_by: "me".into(),
            comment: "".into(),
        };
        silences.set(&SilenceSet { id: "s1".into(), silence });
        silences
    }

    #[test]
    fn what_fires_is_told_once_refreshed_repeated_and_ended() {
        let (mut pager, none) = (Pager::new(1_000, 100, Labels::default()), Silences::default());
        pager.changed(page("0", true, 10));
        assert_eq!(told(&mut pager, &none, 10), [(Why::News, true, false)]);
        assert_eq!(told(&mut pager, &none, 20), []);
        assert_eq!(told(&mut pager, &none, 110), [(Why::Refresh, true, false)]);
        assert_eq!(told(&mut pager, &none, 1_010), [(Why::Repeat, true, false)]);
        pager.changed(page("0", false, 1_020));
        assert_eq!(told(&mut pager, &none, 1_020), [(Why::News, false, false)]);
        assert_eq!(told(&mut pager, &none, 1_120), [(Why::Refresh, false, false)]);
        assert_eq!(told(&mut pager, &none, 1_020 + ENDED_REFRESHED_MS), [(Why::Refresh, false, false)]);
        assert!(pager.is_idle());
    }

    #[test]
    fn a_silence_mutes_and_what_still_fires_behind_it_is_news() {
        let silences = silence_gpu0(0, 500);
        let mut pager = Pager::new(10_000, 10_000, Labels::default());
        pager.changed(page("0", true, 10));
        pager.changed(page("1", true, 10));
        assert_eq!(told(&mut pager, &silences, 10), [(Why::News, true, true), (Why::News, true, false)]);
        assert_eq!(told(&mut pager, &silences, 499), []);
        assert_eq!(told(&mut pager, &silences, 500), [(Why::News, true, false)], "nobody had been told");
        assert_eq!(told(&mut pager, &silences, 501), []);
    }

    #[test]
    fn what_was_told_and_then_acknowledged_is_told_again_when_that_is_over() {
        let silences = silence_gpu0(100, 500);
        let mut pager = Pager::new(10_000, 10_000, Labels::default());
        pager.changed(page("0", true, 10));
        assert_eq!(told(&mut pager, &silences, 10), [(Why::News, true, false)]);
        assert_eq!(told(&mut pager, &silences, 200), []);
        assert_eq!(told(&mut pager, &silences, 500), [(Why::News, true, false)]);
        assert_eq!(told(&mut pager, &silences, 600), []);
        pager.changed(page("0", false, 700));
        assert_eq!(told(&mut pager, &silences, 700), [(Why::News, false, false)]);
    }

    #[test]
    fn the_end_of_what_nobody_heard_of_is_not_told_either() {
        let silences = silence_gpu0(0, 500);
        let mut pager = Pager::new(10_000, 10_000, Labels::default());
        pager.changed(page("0", true, 10));
        told(&mut pager, &silences, 10);
        pager.changed(page("0", false, 20));
        assert_eq!(told(&mut pager, &silences, 20), [(Why::News, false, true)]);
        // It fires again behind the silence.
        pager.changed(page("0", true, 600));
        assert_eq!(told(&mut pager, &silences, 600), [(Why::News, true, false)]);
        pager.changed(page("9", false, 600));
        assert_eq!(told(&mut pager, &silences, 601), [], "an end of what was never seen");
    }

    #[test]
    fn a_flood_is_followed_up_to_a_bound() {
        let (mut pager, none) = (Pager::new(1_000, 100, Labels::default()), Silences::default());
        (0..ACTIVE_MAX + 5).for_each(|gpu| pager.changed(page(&gpu.to_string(), true, 1)));
        assert_eq!(pager.turn(&none, 1).len(), ACTIVE_MAX);
    }
}
