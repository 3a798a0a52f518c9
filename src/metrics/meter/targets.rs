//! What other endpoints said, on its way to the store.

use super::names::Names;
use super::{outcome, seconds};
use crate::event::{LabelSet, SafeText, ScrapedSample, TargetScraped};
use crate::metrics::registry::Registry;
use crate::metrics::table::Metric;
use crate::metrics::{AppendError, Labels, METRIC_NAME, SeriesId, Store, stale};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Samples that wait for a store; older scrapes give way.
const PENDING_SAMPLES_MAX: usize = 1_000_000;
/// An endpoint's own time may be so far ahead of ours, as Prometheus has it.
const AHEAD_MS_MAX: i64 = 600_000;
/// What is said of a scrape itself.
const ABOUT: [&str; 4] = ["up", "scrape_duration_seconds", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling"];

/// What is wrong with metrics that can't be read, among format errors.
pub(super) const UNREADABLE: &str = "exposition";

#[derive(Debug)]
struct Scrape {
    at_ms: i64,
    /// Job and instance.
    target: (SafeText, SafeText),
    up: bool,
    duration_seconds: f64,
    samples_total: u32,
    samples: Vec<ScrapedSample>,
}

/// A series that a target gave in its newest scrapes.
#[derive(Debug)]
struct Known {
    id: SeriesId,
    round: u64,
    /// It came with a time of its own: then it does not end when it is left out.
    own_time: bool,
}

#[derive(Debug, Default)]
struct Target {
    round: u64,
    known: HashMap<SafeText, HashMap<LabelSet, Known>>,
}

#[derive(Debug)]
pub(super) struct Targets {
    /// Whether samples are kept for a store.
    pub keep: bool,
    pending: VecDeque<Scrape>,
    pending_samples: usize,
    targets: BTreeMap<(SafeText, SafeText), Target>,
}

impl Default for Targets {
    fn default() -> Self {
        Self { keep: true, pending: VecDeque::new(), pending_samples: 0, targets: BTreeMap::new() }
    }
}

impl Targets {
    /// `at_ms` is unset while it is not known when the run began; then there is no time to write it at.
    pub fn scraped(&mut self, registry: &mut Registry, names: &mut Names, at_ms: Option<i64>, e: &TargetScraped) {
        let of = [names.bounded("target_job", e.job.as_str()), names.bounded("target_instance", e.instance.as_str())];
        registry.set(Metric::TargetUp, &of, f64::from(u8::from(e.up)));
        registry.add(Metric::Scrapes, &[of[0], of[1], outcome(e.up)], 1.0);
        if e.is_unreadable {
            registry.add(Metric::FormatErrors, &["input", UNREADABLE], 1.0);
        }
        let Some(at_ms) = at_ms.filter(|_| self.keep) else { return };
        self.pending_samples += e.samples.len();
        self.pending.push_back(Scrape {
            at_ms,
            target: (e.job.clone(), e.instance.clone()),
            up: e.up,
            duration_seconds: seconds(e.duration_ns),
            samples_total: e.samples_total,
            samples: e.samples.clone(),
        });
        while self.pending_samples > PENDING_SAMPLES_MAX && self.pending.len() > 1 {
            self.pending_samples -= self.pending.pop_front().map_or(0, |oldest| oldest.samples.len());
        }
    }

    /// Writes what was scraped since the last time, each scrape at its own time.
    pub fn write(&mut self, store: &mut Store) {
        self.pending_samples = 0;
        for scrape in std::mem::take(&mut self.pending) {
            self.targets.entry(scrape.target.clone()).or_default().write(store, &scrape);
        }
    }
}

impl Target {
    fn write(&mut self, store: &mut Store, scrape: &Scrape) {
        self.round += 1;
        if scrape.up {
            scrape.samples.iter().for_each(|sample| self.sample(store, scrape, sample));
        }
        self.end_others(store, scrape.at_ms);
        // What is kept of the samples is what stays after relabeling.
        let kept = if scrape.up { scrape.samples.len() as f64 } else { 0.0 };
        let scraped = if scrape.up { f64::from(scrape.samples_total) } else { 0.0 };
        let figures = [f64::from(u8::from(scrape.up)), scrape.duration_seconds, scraped, kept];
        for (name, figure) in ABOUT.into_iter().zip(figures) {
            let own = [(METRIC_NAME, name), ("job", scrape.target.0.as_str()), ("instance", scrape.target.1.as_str())];
            // What the store refuses it counts.
            let _ = store.append(&Labels::from_pairs(own), scrape.at_ms, figure);
        }
    }

    fn sample(&mut self, store: &mut Store, scrape: &Scrape, sample: &ScrapedSample) {
        let at_ms = match sample.at_ms {
            Some(own) if own > scrape.at_ms.saturating_add(AHEAD_MS_MAX) => return,
            own => own.unwrap_or(scrape.at_ms),
        };
        let round = self.round;
        let known = self.known.get_mut(&sample.name).and_then(|by_labels| by_labels.get_mut(&sample.labels));
        if let Some(known) = known {
            // Of two samples of one series in a scrape the first holds.
            if known.round == round && sample.at_ms.is_none() {
                return;
            }
            known.round = round;
            known.own_time = sample.at_ms.is_some();
            if store.append_at(known.id, at_ms, sample.value) != Err(AppendError::Gone) {
                return;
            }
        }
        let Ok(id) = store.id(&labelled(sample, &scrape.target)) else { return };
        let _ = store.append_at(id, at_ms, sample.value);
        let known = Known { id, round, own_time: sample.at_ms.is_some() };
        self.known.entry(sample.name.clone()).or_default().insert(sample.labels.clone(), known);
    }

    /// Series of the scrape before that are not in this one have ended.
    fn end_others(&mut self, store: &mut Store, at_ms: i64) {
        let round = self.round;
        for by_labels in self.known.values_mut() {
            by_labels.retain(|_, known| {
                if known.round != round && !known.own_time {
                    let _ = store.append_at(known.id, at_ms, stale());
                }
                known.round == round
            });
        }
        self.known.retain(|_, by_labels| !by_labels.is_empty());
    }
}

/// A sample's labels with those of its target. One of its own that the target has too becomes `exported_…`, as often as it takes.
fn labelled(sample: &ScrapedSample, (job, instance): &(SafeText, SafeText)) -> Labels {
    let target = [("job", job.as_str()), ("instance", instance.as_str())];
    let mut labels: BTreeMap<String, &str> = BTreeMap::new();
    let clashes = |name: &str, value: &str| !value.is_empty() && target.iter().any(|(own, value)| *own == name && !value.is_empty());
    let own = || sample.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).filter(|(name, _)| *name != METRIC_NAME);
    labels.extend(own().filter(|(name, value)| !clashes(name, value)).map(|(name, value)| (name.to_owned(), value)));
    for (name, value) in own().filter(|(name, value)| clashes(name, value)) {
        let mut renamed = format!("exported_{name}");
        while labels.contains_key(&renamed) {
            renamed.insert_str(0, "exported_");
        }
        labels.insert(renamed, value);
    }
    labels.extend(target.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| ((*name).to_owned(), *value)));
    labels.insert(METRIC_NAME.to_owned(), sample.name.as_str());
    Labels::from_pairs(labels)
}
