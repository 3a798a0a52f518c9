//! What rules would have done over a recording: the same monitor as in a run, driven by the recorded times.

use std::path::Path;

/// An alert that would have fired.
#[derive(Clone, Debug, PartialEq)]
pub struct DryRow {
    pub group: String,
    pub rule: String,
    /// With `alertname`.
    pub labels: Vec<(String, String)>,
    /// Templates expanded, of when it began to fire.
    pub annotations: Vec<(String, String)>,
    pub value: f64,
    /// Time of the run at which it began to fire.
    pub fired_t_ns: u64,
    /// Unset where it still fired at the end.
    pub resolved_t_ns: Option<u64>,
    /// Where the run stood then: `[lane:]episode/step`; empty before the first step.
    pub step: String,
    /// The event behind which it fired.
    pub seq: u64,
}

/// A rule that said nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryMute {
    pub group: String,
    pub rule: String,
    /// Such as that its selectors matched no series at all, or an evaluation's error.
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DryRun {
    /// In the order in which they fired.
    pub rows: Vec<DryRow>,
    pub mute: Vec<DryMute>,
    pub evaluations: u64,
    /// Of the recording.
    pub t_ns_end: u64,
    /// Why not all of the recording was read; unset for a whole one.
    pub damage: Option<String>,
}

/// Runs rules (the text of a rule file) over a recording, or only the one that is named. The error is for the operator.
pub fn dry_run(_rules_text: &str, _recording: &Path, _rule: Option<&str>) -> Result<DryRun, String> {
    Err("not built yet".into())
}
