//! Other processes whose metrics are asked for: as a list in the configuration.

use super::setting::ron_options;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Targets of one configuration.
const TARGETS_MAX: usize = 64;

/// One `/metrics` endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scrape {
    /// What its series' label `job` says.
    pub job: String,
    /// Where it names no path, the preset's.
    pub url: String,
    /// Which samples are kept, and by which names; unset keeps all.
    #[serde(default)]
    pub preset: Option<String>,
    #[serde(default = "five_seconds")]
    pub interval_ms: u32,
    #[serde(default = "two_seconds")]
    pub timeout_ms: u32,
    /// The environment variable with a token that is sent as `Authorization: Bearer`.
    #[serde(default)]
    pub bearer_env: Option<String>,
    /// Labels that each of its samples has besides its own.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

fn five_seconds() -> u32 {
    5_000
}

fn two_seconds() -> u32 {
    2_000
}

/// What is wrong with a list of targets. The URL is not repeated: it may hold a password.
#[expect(clippy::ptr_arg, reason = "the table hands each check a reference to the setting's own type")]
pub(super) fn asked(targets: &Vec<Scrape>) -> Result<(), String> {
    if targets.len() > TARGETS_MAX {
        return Err(format!("has {} targets; give at most {TARGETS_MAX}", targets.len()));
    }
    for (i, target) in targets.iter().enumerate() {
        if target.job.trim().is_empty() {
            return Err("has a target without a job".into());
        }
        if let Err(what) = target.sound() {
            return Err(format!("has a target of job `{}` {what}", target.job));
        }
        if targets[..i].iter().any(|other| other.job == target.job && other.url == target.url) {
            return Err(format!("has a target of job `{}` that stands twice", target.job));
        }
    }
    Ok(())
}

impl Scrape {
    fn sound(&self) -> Result<(), String> {
        let rest = self.url.strip_prefix("http://").or_else(|| self.url.strip_prefix("https://"));
        if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/')) {
            return Err("whose url is none; write one such as http://127.0.0.1:8000/metrics".into());
        }
        if !(500..=3_600_000).contains(&self.interval_ms) {
            return Err(format!("with interval_ms {}; give 500 to 3600000", self.interval_ms));
        }
        if !(10..=self.interval_ms).contains(&self.timeout_ms) {
            return Err(format!("with timeout_ms {}; give 10 to its interval_ms, {}", self.timeout_ms, self.interval_ms));
        }
        Ok(())
    }
}

/// Targets as flags have them, `[PRESET=]URL`, as the setting's text.
pub fn scrape_list(flags: &[String]) -> String {
    let target = |text: &String| {
        // A URL may have an equals sign too, but not before its scheme.
        let preset = text.split_once('=').filter(|(before, _)| !before.contains("://"));
        let (preset, url) = preset.map_or((None, text.as_str()), |(preset, url)| (Some(preset.to_owned()), url));
        let job = preset.clone().unwrap_or_else(|| "scrape".into());
        let (interval_ms, timeout_ms) = (five_seconds(), two_seconds());
        Scrape { job, url: url.to_owned(), preset, interval_ms, timeout_ms, bearer_env: None, labels: BTreeMap::new() }
    };
    let targets: Vec<Scrape> = flags.iter().map(target).collect();
    // Writing texts and numbers to a string can't fail.
    ron_options().to_string(&targets).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::load::{Sources, load};

    fn scrape(list: &str) -> Result<usize, String> {
        let sources = Sources { sets: vec![format!("telemetry.scrape={list}")], ..Sources::default() };
        load(&sources).map(|config| config.telemetry.scrape.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn targets_are_named_by_flags() {
        let flags = ["vllm=http://h:8000", "http://h:1/m?a=b", "node=https://u:canary@h"].map(str::to_owned);
        let sources = Sources { sets: vec![format!("telemetry.scrape={}", super::scrape_list(&flags))], ..Sources::default() };
        let targets = load(&sources).unwrap().telemetry.scrape;
        let read: Vec<_> = targets.iter().map(|t| (t.job.as_str(), t.preset.as_deref(), t.url.as_str())).collect();
        let wanted =
            [("vllm", Some("vllm"), "http://h:8000"), ("scrape", None, "http://h:1/m?a=b"), ("node", Some("node"), "https://u:canary@h")];
        assert_eq!(read, wanted);
        let fault = scrape(&super::scrape_list(&["nowhere".to_owned()])).unwrap_err();
        assert!(fault.contains("whose url is none"), "{fault}");
    }

    #[test]
    fn targets_are_read_and_faults_are_told() {
        assert_eq!(scrape("[]"), Ok(0));
        assert_eq!(
            scrape(r#"[(job: "a", url: "http://h:1"), (job: "a", url: "https://h:2/m", preset: "vllm", labels: {"x": "y"})]"#),
            Ok(2)
        );
        for (list, words) in [
            (r#"[(job: "a", url: "h:1")]"#, "job `a` whose url is none"),
            (r#"[(job: " ", url: "http://h")]"#, "without a job"),
            (r#"[(job: "a", url: "http://h", interval_ms: 100)]"#, "interval_ms 100; give 500"),
            (r#"[(job: "a", url: "http://h", timeout_ms: 6000)]"#, "timeout_ms 6000; give 10 to its interval_ms, 5000"),
            (r#"[(job: "a", url: "http://h"), (job: "a", url: "http://h")]"#, "stands twice"),
            (r#"[(job: "a", url: "http://h", intervalms: 1)]"#, "intervalms"),
        ] {
            let fault = scrape(list).expect_err(list);
            assert!(fault.contains(words), "{fault}");
        }
    }
}
