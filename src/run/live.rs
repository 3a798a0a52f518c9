//! `run`: the live console, or headless.

use super::cli::{GlobalArgs, RunArgs};
use super::exit::{Code, Failure, Outcome};
use super::join::{RunPlan, configuration, recording_path, start};
use crate::config::Config;
use crate::event::*;
use crate::journal::{Delivery, Hub};
use crate::learn::{bootstrap_mean, wilson};
use std::io::{IsTerminal, Write};
use std::time::Duration;

pub fn run(args: &RunArgs, global: &GlobalArgs) -> Outcome {
    let config = configuration(global, Some(args))?;
    let has_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if args.headless || args.json || !has_terminal {
        if !args.headless && !args.json {
            eprintln!("pilothouse: there is no terminal, so this runs headless (--headless says so too)");
        }
        return headless(args, &config);
    }
    console(args, &config)
}

fn record(args: &RunArgs, config: &Config) -> Result<Option<std::path::PathBuf>, Failure> {
    match (&args.record, config.record.enabled) {
        (Some(path), _) => Ok(Some(path.clone())),
        (None, true) => recording_path(config).map(Some),
        (None, false) => Ok(None),
    }
}

fn console(args: &RunArgs, config: &Config) -> Outcome {
    let plan = RunPlan { episodes_max: args.episodes, pace: config.run.pace.0, streams: true, record: record(args, config)? };
    let started = start(config, plan)?;
    super::screen::live(started, config)
}

/// Headless runs are recorded only where a file is named.
fn headless(args: &RunArgs, config: &Config) -> Outcome {
    let plan = RunPlan {
        episodes_max: Some(args.episodes.unwrap_or(1)),
        pace: args.pace.unwrap_or(Pace::Max),
        streams: false,
        record: args.record.clone(),
    };
    let started = start(config, plan)?;
    super::signals::shut_down_on_signal(started.commands.with_origin(Origin::Internal));
    let summary = print(&started.hub, args.json)?;
    if let Some(path) = &started.recording {
        eprintln!("recorded to {}", path.display());
    }
    started.wait();
    summary.print(args.json);
    if summary.failed { Err(Failure::failed(summary.reason)) } else { Ok(Code::Holds) }
}

/// What the episodes came to.
#[derive(Default)]
struct Summary {
    successes: u64,
    returns: Vec<f64>,
    hybrids: Vec<f64>,
    lengths: Vec<f64>,
    tool_errors: u64,
    failed: bool,
    reason: String,
}

impl Summary {
    fn print(&self, json: bool) {
        if json || self.returns.is_empty() {
            return;
        }
        let n = self.returns.len() as u64;
        let success = wilson(self.successes, n);
        let (r, h, l) = (bootstrap_mean(&self.returns), bootstrap_mean(&self.hybrids), bootstrap_mean(&self.lengths));
        println!(
            "{n} episodes: success {:.1} % [{:.1}, {:.1}], return {:.2} [{:.2}, {:.2}], hybrid {:.3} [{:.3}, {:.3}], length {:.1} [{:.1}, {:.1}], {} tool errors (95 % intervals)",
            success.estimate * 100.0,
            success.low * 100.0,
            success.high * 100.0,
            r.estimate,
            r.low,
            r.high,
            h.estimate,
            h.low,
            h.high,
            l.estimate,
            l.low,
            l.high,
            self.tool_errors
        );
    }
}

/// Prints until the run has ended.
fn print(hub: &Hub, json: bool) -> Result<Summary, Failure> {
    let mut subscription = hub.subscribe();
    let mut seen = Seq(0);
    let (mut out, mut summary) = (Vec::new(), Summary::default());
    let stdout = std::io::stdout();
    loop {
        let more = subscription.poll(&mut out, 4096);
        let mut stdout = stdout.lock();
        for delivery in out.drain(..) {
            match delivery {
                Delivery::Event(envelope) => {
                    seen = envelope.seq;
                    one(&envelope, json, &mut stdout, &mut summary).map_err(Failure::failed)?;
                }
                // The first snapshot may hold events already: they are the run's beginning, before any episode.
                Delivery::Snapshot(state) if seen == Seq(0) => seen = state.seq,
                Delivery::Snapshot(state) => {
                    return Err(Failure::failed(format!("printing fell behind at event {}; use --record", state.seq)));
                }
            }
        }
        stdout.flush().map_err(Failure::failed)?;
        drop(stdout);
        if !more {
            if subscription.is_ended() {
                return Ok(summary);
            }
            subscription.wait(Duration::from_millis(200));
        }
    }
}

fn one(envelope: &Envelope, json: bool, out: &mut impl Write, summary: &mut Summary) -> std::io::Result<()> {
    if json {
        writeln!(out, "{}", serde_json::to_string(envelope)?)?;
    }
    match &envelope.event {
        Event::EpisodeEnded(e) => {
            summary.successes += u64::from(e.success);
            summary.returns.push(e.episode_return);
            summary.hybrids.push(e.hybrid);
            summary.lengths.push(f64::from(e.length));
            summary.tool_errors += u64::from(e.tool_errors);
            if !json {
                let verdict = if e.success { "success" } else { "failure" };
                writeln!(
                    out,
                    "lane {} episode {}: {verdict}  return {:.2}  hybrid {:.3}  final {:.2}  length {}  tool errors {}  ({})",
                    envelope.lane,
                    envelope.episode.unwrap_or_default(),
                    e.episode_return,
                    e.hybrid,
                    e.final_reward,
                    e.length,
                    e.tool_errors,
                    e.truth
                )?;
            }
        }
        Event::SinkFailed(e) => {
            summary.failed = true;
            summary.reason = format!("{}: {}", e.sink, e.reason);
        }
        Event::PolicyStateChanged(e) if e.state == PolicyState::Failed => {
            summary.failed = true;
            summary.reason = e.detail.to_string();
        }
        Event::LogLine(e) if e.level == LogLevel::Error => {
            summary.failed = true;
            summary.reason = format!("{}: {}", e.target, e.text);
        }
        _ => {}
    }
    Ok(())
}
