//! What a row may take: a recording says what it likes, and the state stays small.

use super::Alerting;
use crate::event::{
    AlertNotified, AlertStateChanged, FurtherThreshold, LabelSet, MATCHERS_MAX, RuleInfo, RuleReading, SafeText, Silence, TargetScraped,
    UnknownSeries,
};

/// Bytes of one text that is only shown.
const TEXT_BYTES_MAX: usize = 1_024;
/// Bytes of a label's value where all together are too many.
const VALUE_BYTES_MAX: usize = 256;
const FEW_BYTES_MAX: usize = 96;
/// Conditions of a rule behind the first one.
const FURTHER_MAX: usize = 8;
/// Bytes of an alert's labels and annotations.
const DETAIL_BYTES_MAX: usize = 8 << 10;
/// Bytes of all rules' texts; rules behind that are not kept.
pub const RULES_BYTES_MAX: usize = 4 << 20;
const SILENCE_BYTES_MAX: usize = 8 << 10;
/// Names of rules in a notification.
const NAMES_MAX: usize = 16;

pub fn text(text: &SafeText) -> SafeText {
    cut(text, TEXT_BYTES_MAX)
}

/// Of a text that there are many of.
pub fn few(text: &SafeText) -> SafeText {
    cut(text, FEW_BYTES_MAX)
}

fn cut(text: &SafeText, bytes_max: usize) -> SafeText {
    if text.len() <= bytes_max {
        return text.clone();
    }
    let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    SafeText::from(format!("{}…", &text.as_str()[..end]))
}

fn bytes(labels: &LabelSet) -> usize {
    labels.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<SafeText>()).sum()
}

/// Labels of a usual size as they are, else none: half of them would be other labels.
pub fn labels(labels: &LabelSet) -> LabelSet {
    if bytes(labels) <= DETAIL_BYTES_MAX { labels.clone() } else { LabelSet::default() }
}

pub fn rule_bytes(info: &RuleInfo) -> usize {
    let thresholds = info.threshold.iter().chain(info.further.iter().map(|f| &f.threshold));
    let threshold: usize = thresholds.map(|t| size_of::<FurtherThreshold>() + t.left.len() + t.operator.len()).sum();
    size_of::<RuleInfo>() + info.name.len() + info.expr.len() + bytes(&info.labels) + bytes(&info.annotations) + threshold
}

pub fn reading(e: &RuleReading) -> RuleReading {
    let mut kept = e.clone();
    kept.error = e.error.as_ref().map(text);
    kept.further.truncate(FURTHER_MAX);
    kept.unknown = e.unknown.as_ref().map(|u| UnknownSeries { name: text(&u.name), near: u.near.as_ref().map(text) });
    kept
}

/// Labels of a usual size as they are; long values are cut, and what is still too much goes. An alert without any would look like one of the
/// console itself.
fn shortened(labels: &LabelSet) -> LabelSet {
    if bytes(labels) <= DETAIL_BYTES_MAX {
        return labels.clone();
    }
    let mut left = DETAIL_BYTES_MAX;
    let cut = labels.iter().map(|(name, value)| (text(name), cut(value, VALUE_BYTES_MAX)));
    cut.take_while(|(name, value)| {
        let bytes = name.len() + value.len() + 2 * size_of::<SafeText>();
        left = left.saturating_sub(bytes);
        left > 0
    })
    .collect()
}

/// Annotations go first, then labels are cut: rule, state and summary stay.
pub fn change(e: &AlertStateChanged) -> AlertStateChanged {
    let mut kept =
        AlertStateChanged { rule: text(&e.rule), severity: text(&e.severity), summary: text(&e.summary), state: e.state, detail: None };
    kept.detail = e.detail.clone();
    if let Some(detail) = &mut kept.detail {
        if bytes(&detail.labels) + bytes(&detail.annotations) > DETAIL_BYTES_MAX {
            detail.annotations = LabelSet::default();
        }
        detail.labels = shortened(&detail.labels);
    }
    kept
}

/// Unset where it is larger than any that people make.
pub fn silence(e: &Silence) -> Option<Silence> {
    let bytes: usize = e.matchers.iter().map(|m| m.name.len() + m.value.len()).sum();
    (e.matchers.len() <= MATCHERS_MAX && bytes <= SILENCE_BYTES_MAX).then(|| Silence {
        created_by: text(&e.created_by),
        comment: text(&e.comment),
        ..e.clone()
    })
}

pub fn notified(e: &AlertNotified) -> AlertNotified {
    let rules = e.rules.iter().take(NAMES_MAX).map(text).collect();
    AlertNotified { receiver: text(&e.receiver), rules, outcome: text(&e.outcome), ..*e }
}

pub fn target(e: &TargetScraped) -> TargetScraped {
    TargetScraped {
        job: text(&e.job),
        instance: text(&e.instance),
        url: text(&e.url),
        up: e.up,
        error: e.error.as_ref().map(text),
        is_unreadable: e.is_unreadable,
        duration_ns: e.duration_ns,
        samples_total: e.samples_total,
        samples: Vec::new(),
    }
}

impl Alerting {
    /// The change as it is kept.
    pub(in crate::state) fn bounded(e: &AlertStateChanged) -> AlertStateChanged {
        change(e)
    }
}
