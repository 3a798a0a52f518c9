//! Samples beside a run: of the machine, and of the endpoints that are scraped.

use super::exit::Failure;
use super::join::Started;
use crate::config::{Config, Scrape};
use crate::event::{MonotonicClock, Origin};
use crate::net::Secret;
use crate::telemetry::{Preset, Sampler, SamplerSettings, ScrapeTarget};
use std::time::Duration;

/// Time between two samples of the machine, over a slow link.
const SLOW_INTERVAL_MS: u32 = 5_000;

/// Whether a run without a screen is sampled: only where somebody asks what comes of it, for its events hang on the clock.
pub fn is_wanted_headless(config: &Config, has_rules: bool) -> bool {
    has_rules || config.serve.http.is_some() || !config.telemetry.scrape.is_empty()
}

/// Samples the machine for a run, and asks the endpoints that the configuration names.
pub fn sampler(started: &Started, config: &Config) -> Result<Sampler, Failure> {
    // A slow link has no room for samples every second.
    let interval_ms =
        if config.ui.low_bandwidth { config.telemetry.interval_ms.max(SLOW_INTERVAL_MS) } else { config.telemetry.interval_ms };
    let telemetry = SamplerSettings {
        interval: Duration::from_millis(u64::from(interval_ms)),
        nvml_library: config.telemetry.nvml_library.clone(),
        disk_of: started.recording.clone(),
        targets: scrape_targets(config)?,
    };
    Sampler::start(telemetry, MonotonicClock::start(), started.commands.with_origin(Origin::Internal)).map_err(Failure::failed)
}

/// The endpoints whose metrics are asked for; their tokens are taken from the environment.
fn scrape_targets(config: &Config) -> Result<Vec<ScrapeTarget>, Failure> {
    config.telemetry.scrape.iter().map(scrape_target).collect()
}

fn scrape_target(scrape: &Scrape) -> Result<ScrapeTarget, Failure> {
    let fault = |what: &str| Failure::usage(format!("telemetry.scrape: job `{}`: {what}", scrape.job));
    let preset = scrape.preset.as_deref().map_or_else(|| Ok(Preset::everything()), Preset::named).map_err(|what| fault(&what))?;
    let bearer = match &scrape.bearer_env {
        None => None,
        Some(name) => Some(std::env::var(name).map_err(|_| fault(&format!("the environment has no variable {name} with its token")))?),
    };
    Ok(ScrapeTarget {
        job: scrape.job.clone(),
        url: scrape.url.clone(),
        preset,
        interval: Duration::from_millis(u64::from(scrape.interval_ms)),
        timeout: Duration::from_millis(u64::from(scrape.timeout_ms)),
        bearer: bearer.map(Secret::new),
        labels: scrape.labels.clone().into_iter().collect(),
    })
}
