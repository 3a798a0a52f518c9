//! Alert rules and what they came to, silences, notifications, and what was scraped.

use super::{SafeText, num};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names and values of labels or annotations, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabelSet(BTreeMap<SafeText, SafeText>);

impl LabelSet {
    pub fn get(&self, name: &str) -> Option<&SafeText> {
        self.0.iter().find(|(own, _)| own.as_str() == name).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&SafeText, &SafeText)> {
        self.0.iter()
    }

    /// `gpu=0`: those that tell an alert from others of its rule. Every alert has a name, a severity, and the job and instance of the run.
    pub fn telling(&self) -> String {
        let is_telling = |name: &SafeText| !matches!(name.as_str(), "alertname" | "severity" | "job" | "instance");
        let pairs: Vec<String> =
            self.0.iter().filter(|(name, _)| is_telling(name)).map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<(SafeText, SafeText)> for LabelSet {
    fn from_iter<I: IntoIterator<Item = (SafeText, SafeText)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl std::fmt::Display for LabelSet {
    /// `gpu=0 instance=host`, as people read it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertState {
    Inactive,
    Pending,
    Firing,
    Resolved,
}

/// An alert began to wait, to fire, or ended: one of a rule (`detail`), or of this process itself, such as a recorder that fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertStateChanged {
    pub rule: SafeText,
    pub state: AlertState,
    pub severity: SafeText,
    pub summary: SafeText,
    /// Unset for alerts of this process itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<AlertDetail>>,
}

/// What a rule's alert is about. Rule, group and labels tell it from others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertDetail {
    pub group: SafeText,
    /// With `alertname`, external labels not included.
    pub labels: LabelSet,
    /// Templates expanded.
    #[serde(default, skip_serializing_if = "LabelSet::is_empty")]
    pub annotations: LabelSet,
    #[serde(with = "num::float")]
    pub value: f64,
    /// When the expression began to hold, and of when this is; milliseconds since 1970.
    pub active_at_ms: i64,
    pub at_ms: i64,
}

/// A rule file was read, or a new version of it could not be: then the last good one stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulesLoaded {
    pub file: SafeText,
    pub sha256: String,
    /// What is wrong with it, with the line; `groups` is empty then and the rules before go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SafeText>,
    /// What every alert has besides its own labels when it is sent out.
    #[serde(default, skip_serializing_if = "LabelSet::is_empty")]
    pub external_labels: LabelSet,
    pub groups: Vec<RuleGroupInfo>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleGroupInfo {
    pub name: SafeText,
    pub interval_ms: u64,
    pub rules: Vec<RuleInfo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    Alert,
    Record,
}

/// A rule as its file has it: templates are not expanded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleInfo {
    pub name: SafeText,
    pub kind: RuleKind,
    pub expr: SafeText,
    #[serde(default)]
    pub for_ms: u64,
    #[serde(default)]
    pub keep_firing_for_ms: u64,
    #[serde(default, skip_serializing_if = "LabelSet::is_empty")]
    pub labels: LabelSet,
    #[serde(default, skip_serializing_if = "LabelSet::is_empty")]
    pub annotations: LabelSet,
    /// Where the expression compares with a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// Its other comparisons with numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherThreshold>,
}

/// How a condition is joined to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    And,
    Or,
}

/// One more condition of an expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FurtherThreshold {
    pub join: Join,
    pub threshold: Threshold,
}

/// `left operator number`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    pub left: SafeText,
    pub operator: SafeText,
    #[serde(with = "num::float")]
    pub number: f64,
}

/// A group of rules was evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleEvaluated {
    pub group: SafeText,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub duration_ns: u64,
    /// Rules whose reading is not what it was at the evaluation before.
    pub readings: Vec<RuleReading>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleHealth {
    Ok,
    /// Its selectors match no series at all, so that it can't say anything.
    NoData,
    Error,
}

/// What one rule came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleReading {
    /// Its place in the group, from 0.
    pub rule: u32,
    pub health: RuleHealth,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SafeText>,
    /// The left side of the comparison where there is one (of several series that nearest to firing), else the value of the expression.
    #[serde(default, with = "num::float_option", skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The same of the further conditions, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Option<num::Float>>,
    /// A name in the expression that no series has, where the rule can't say anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownSeries>,
    /// Results of the expression.
    pub series: u32,
    pub pending: u32,
    pub firing: u32,
}

/// A name that no series has, and the one that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownSeries {
    pub name: SafeText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<SafeText>,
}

/// One condition on a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilenceMatcher {
    pub name: SafeText,
    pub value: SafeText,
    pub is_regex: bool,
    pub is_equal: bool,
}

impl std::fmt::Display for SilenceMatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let operator = match (self.is_equal, self.is_regex) {
            (true, false) => "=",
            (false, false) => "!=",
            (true, true) => "=~",
            (false, true) => "!~",
        };
        // As it is read back: a value may hold quotes.
        write!(f, "{}{operator}\"", self.name)?;
        for c in self.value.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SilenceKind {
    Silence,
    /// A short silence by which somebody says that they have seen it and see to it.
    Acknowledgement,
}

/// Alerts whose labels meet all matchers tell nobody for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    pub kind: SilenceKind,
    pub matchers: Vec<SilenceMatcher>,
    /// Milliseconds since 1970.
    pub starts_ms: i64,
    pub ends_ms: i64,
    pub created_by: SafeText,
    pub comment: SafeText,
}

/// A silence was made here, or seen in the Alertmanager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilenceSet {
    pub id: SafeText,
    #[serde(flatten)]
    pub silence: Silence,
}

/// A silence ended before or at its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilenceEnded {
    pub id: SafeText,
}

/// A receiver was told of alerts, or could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertNotified {
    /// Such as `webhook`, `alertmanager`, `command`.
    pub receiver: SafeText,
    pub rules: Vec<SafeText>,
    pub ok: bool,
    /// Such as `200`, or why not.
    pub outcome: SafeText,
    pub duration_ns: u64,
}

/// A `/metrics` endpoint was asked. `samples` has every sample that is kept, each time: a reader needs no scrape before this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetScraped {
    pub job: SafeText,
    pub instance: SafeText,
    pub url: SafeText,
    pub up: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SafeText>,
    /// It answered, and the answer could not be read as metrics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unreadable: bool,
    pub duration_ns: u64,
    /// Samples that the endpoint gave; `samples` has those that are kept.
    pub samples_total: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<ScrapedSample>,
}

/// One sample of an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScrapedSample {
    pub name: SafeText,
    #[serde(default, skip_serializing_if = "LabelSet::is_empty")]
    pub labels: LabelSet,
    #[serde(with = "num::float")]
    pub value: f64,
    /// The endpoint's own time, where it gives one; milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}
