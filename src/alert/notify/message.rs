//! The message that receivers get: Alertmanager's webhook JSON, version 4, so that existing receivers can read it.

use crate::alert::pager::Page;
use crate::event::{attach_command, shell_word};
use crate::metrics::Labels;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Alerts of one message; of more it is said how many there are.
pub const ALERTS_MAX: usize = 500;
/// Go's zero time: an alert that fires has no end.
const NO_END: &str = "0001-01-01T00:00:00Z";

/// What every page says of the run.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub run: String,
    pub host: String,
    /// The file that the run is recorded to.
    pub recording: Option<String>,
    pub external_labels: Labels,
    /// Milliseconds since 1970 at the run's beginning.
    pub epoch_ms: i64,
    /// Between two refreshes of what fires.
    pub refresh_ms: i64,
}

impl Facts {
    /// What to paste to see the alert where it runs.
    pub fn command(&self, page: &Page) -> String {
        attach_command(&self.host, &self.run, &page.rule)
    }

    /// What to paste on the machine of the recording, to see what led to it.
    pub fn replay(&self, page: &Page) -> Option<String> {
        self.recording.as_ref().map(|file| format!("pilothouse replay {} --from @{}", shell_word(file), page.seq.max(1)))
    }

    pub fn generator_url(&self, page: &Page) -> String {
        format!("pilothouse://{}/{}?alert={}&from={}", escaped(&self.host), escaped(&self.run), escaped(&page.rule), page.seq)
    }

    /// Labels as they are sent out: an alert's own come before those of all.
    pub fn labels(&self, page: &Page) -> BTreeMap<String, String> {
        let of_all = self.external_labels.iter();
        of_all.chain(page.labels.iter()).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Annotations of the rule, with the commands beside them.
    pub fn annotations(&self, page: &Page) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, String> = page.annotations.iter().cloned().collect();
        all.entry("command".into()).or_insert_with(|| self.command(page));
        if let Some(replay) = self.replay(page) {
            all.entry("replay".into()).or_insert(replay);
        }
        all
    }
}

/// For a part of a URL.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Milliseconds since 1970 as RFC 3339.
pub fn time(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| NO_END.to_owned(), |at| at.to_string())
}

/// By what Prometheus and Alertmanager tell label sets apart: FNV-1a over names and values.
fn fingerprint(labels: &BTreeMap<String, String>) -> String {
    const SEPARATOR: u8 = 255;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (name, value) in labels {
        let bytes = name.bytes().chain([SEPARATOR]).chain(value.bytes()).chain([SEPARATOR]);
        bytes.for_each(|byte| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    }
    format!("{hash:016x}")
}

/// What all of them have in common.
fn common(sets: &[BTreeMap<String, String>]) -> Map<String, Value> {
    let Some((first, rest)) = sets.split_first() else { return Map::new() };
    let in_all = |(name, value): &(&String, &String)| rest.iter().all(|set| set.get(*name) == Some(*value));
    first.iter().filter(in_all).map(|(name, value)| (name.clone(), json!(value))).collect()
}

/// One message to one receiver.
pub fn message(pages: &[Page], receiver: &str, facts: &Facts) -> Value {
    let kept = &pages[..pages.len().min(ALERTS_MAX)];
    let labels: Vec<_> = kept.iter().map(|page| facts.labels(page)).collect();
    let annotations: Vec<_> = kept.iter().map(|page| facts.annotations(page)).collect();
    let status = |firing: bool| if firing { "firing" } else { "resolved" };
    let alerts: Vec<Value> = kept
        .iter()
        .zip(labels.iter().zip(&annotations))
        .map(|(page, (labels, annotations))| {
            json!({
                "status": status(page.firing),
                "labels": labels,
                "annotations": annotations,
                "startsAt": time(page.starts_ms),
                "endsAt": page.ends_ms.map_or_else(|| NO_END.to_owned(), time),
                "generatorURL": facts.generator_url(page),
                "fingerprint": fingerprint(labels),
                "value": shown(page.value),
                "command": facts.command(page),
                "replay": facts.replay(page),
                "runbook": annotations.get("runbook_url").or_else(|| annotations.get("runbook")),
            })
        })
        .collect();
    json!({
        "version": "4",
        "groupKey": format!("pilothouse/{}/{receiver}", facts.run),
        "truncatedAlerts": pages.len() - kept.len(),
        "status": status(pages.iter().any(|page| page.firing)),
        "receiver": receiver,
        "groupLabels": {},
        "commonLabels": common(&labels),
        "commonAnnotations": common(&annotations),
        "externalURL": format!("pilothouse://{}/{}", escaped(&facts.host), escaped(&facts.run)),
        "alerts": alerts,
    })
}

/// A number, or what JSON has none for as text.
fn shown(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, page};
    use super::*;

    #[test]
    fn words_of_a_command_are_safe_for_a_shell() {
        let hostile = Page { rule: "x; rm -rf ~".into(), ..page("0", true) };
        assert_eq!(facts().command(&hostile), r"ssh -t node7 'pilothouse attach 01RUN --alert '\''x; rm -rf ~'\'''");
        assert_eq!(facts().replay(&hostile).unwrap(), "pilothouse replay '/var/lib/a run.jsonl' --from @7");
        assert_eq!(facts().generator_url(&hostile), "pilothouse://node7/01RUN?alert=x%3B%20rm%20-rf%20~&from=7");
    }

    #[test]
    fn a_message_is_what_webhooks_of_alertmanager_read() {
        let pages = [page("0", true), Page { ends_ms: Some(1_700_000_060_000), ..page("1", false) }];
        let message = message(&pages, "ops", &facts());
        assert_eq!(message["version"], "4");
        assert_eq!((&message["status"], &message["receiver"]), (&json!("firing"), &json!("ops")));
        assert_eq!(message["commonLabels"], json!({"alertname": "GpuHot", "cluster": "a", "severity": "critical"}));
        let alerts = message["alerts"].as_array().unwrap();
        assert_eq!(alerts[0]["labels"]["gpu"], "0");
        assert_eq!(alerts[0]["startsAt"], "2023-11-14T22:13:20Z");
        assert_eq!((&alerts[0]["endsAt"], &alerts[1]["endsAt"]), (&json!(NO_END), &json!("2023-11-14T22:14:20Z")));
        assert_eq!(alerts[1]["status"], "resolved");
        assert_eq!(alerts[0]["annotations"]["command"], "ssh -t node7 pilothouse attach 01RUN --alert GpuHot");
        assert_eq!(alerts[0]["runbook"], "https://example.org/GpuHot");
    }

    #[test]
    fn fingerprints_are_those_of_prometheus() {
        // Of no labels it is FNV's offset; amtool shows the others.
        assert_eq!(fingerprint(&BTreeMap::new()), "cbf29ce484222325");
        let labels = BTreeMap::from([("alertname".to_owned(), "x".to_owned())]);
        assert_ne!(fingerprint(&labels), fingerprint(&BTreeMap::from([("alertname".to_owned(), "y".to_owned())])));
    }

    #[test]
    fn a_flood_is_cut_and_counted() {
        let pages: Vec<Page> = (0..ALERTS_MAX + 7).map(|gpu| page(&gpu.to_string(), true)).collect();
        let message = message(&pages, "ops", &facts());
        assert_eq!((message["alerts"].as_array().unwrap().len(), &message["truncatedAlerts"]), (ALERTS_MAX, &json!(7)));
    }
}
