//! `run`: the live console, or headless.

use super::alerts::is_wanted;
use super::cli::{GlobalArgs, RunArgs};
use super::exit::{Code, Failure, Outcome, note, say, unwritten};
use super::join::{RunPlan, configuration, record_to, start};
use super::recordings::sealed_if_wanted;
use super::sampling;
use crate::config::Config;
use crate::event::*;
use crate::journal::write_json;
use crate::learn::{bootstrap_mean, wilson};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};

pub fn run(args: &RunArgs, global: &GlobalArgs) -> Outcome {
    let config = configuration(global, Some(args))?;
    if args.headless || args.json || !super::screen::has_screen() {
        if !args.headless && !args.json {
            note("pilothouse: there is no terminal that can show a screen, so this runs headless (--headless says so too)");
        }
        return headless(args, &config);
    }
    console(args, &config)
}

fn console(args: &RunArgs, config: &Config) -> Outcome {
    let plan = RunPlan {
        episodes_max: args.episodes,
        pace: config.run.pace.0,
        streams: true,
        record: record_to(args.record.as_deref(), args.no_record, config)?,
        tapped: false,
        alerts: is_wanted(config, true),
    };
    let started = start(config, plan, None)?;
    super::screen::live(started, config)
}

/// Where `--headless` is said, only a file that is named is recorded to; a console that found no terminal records as it would have.
fn headless(args: &RunArgs, config: &Config) -> Outcome {
    let plan = RunPlan {
        episodes_max: Some(args.episodes.unwrap_or(1)),
        pace: args.pace.unwrap_or(Pace::Max),
        streams: false,
        record: if args.headless || args.json { args.record.clone() } else { record_to(args.record.as_deref(), args.no_record, config)? },
        tapped: true,
        alerts: is_wanted(config, false),
    };
    let is_sampled = sampling::is_wanted_headless(config, plan.alerts);
    let mut started = start(config, plan, None)?;
    let sampler = is_sampled.then(|| sampling::sampler(&started, config)).transpose()?;
    if let Some(address) = started.http() {
        note(format_args!("serving http://{address}/metrics"));
    }
    let signal = super::signals::shut_down_on_signal(started.commands.with_origin(Origin::Internal));
    let printed = started.tap.take().map_or_else(|| Ok(Summary::default()), |events| print(&events, args.json));
    let summary = match printed {
        Ok(summary) => summary,
        // A reader that has seen enough, such as `head`, ends the run.
        Err(e) => {
            started.shut_down();
            return Err(unwritten(e));
        }
    };
    let recording = started.recording.clone();
    // The engine has ended: nobody takes samples any more.
    drop(sampler);
    started.wait();
    if let Some(path) = recording {
        let what = if summary.failed { "what was committed is in" } else { "recorded to" };
        let path = sealed_if_wanted(&path, config.record.seal && !summary.failed);
        note(format_args!("{what} {}", path.display()));
    }
    if !args.json {
        summary.print()?;
    }
    match signal.load(Ordering::SeqCst) {
        _ if summary.failed => Err(Failure::failed(summary.reason)),
        0 => Ok(Code::Holds),
        signal => Err(Failure::failed(format!("ended by signal {signal}; what was recorded is whole"))),
    }
}

/// What the episodes came to.
#[derive(Default)]
struct Summary {
    successes: u64,
    returns: Vec<f64>,
    hybrids: Vec<f64>,
    lengths: Vec<f64>,
    tool_errors: u64,
    /// Episodes that were cut short by the operator or a failure.
    aborted: u64,
    failed: bool,
    reason: String,
}

impl Summary {
    fn add(&mut self, e: &EpisodeEnded) {
        if e.verdict() == Verdict::Aborted {
            self.aborted += 1;
            return;
        }
        self.successes += u64::from(e.success);
        self.returns.push(e.episode_return);
        self.hybrids.push(e.hybrid);
        self.lengths.push(f64::from(e.length));
        self.tool_errors += u64::from(e.tool_errors);
    }

    fn print(&self) -> Result<(), Failure> {
        if self.aborted > 0 {
            say(format_args!("{} episodes were aborted and count in nothing below", self.aborted))?;
        }
        let n = self.returns.len() as u64;
        if n < 2 {
            // One value has no interval.
            return Ok(());
        }
        let success = wilson(self.successes, n);
        let percent = |p: f64| p * 100.0;
        say(format_args!(
            "{n} episodes: success {:.1} % [{:.1}, {:.1}], return {}, hybrid {}, length {}, {} tool errors (95 % intervals)",
            percent(success.estimate),
            percent(success.low),
            percent(success.high),
            within(&self.returns),
            within(&self.hybrids),
            within(&self.lengths),
            self.tool_errors
        ))
    }
}

fn within(values: &[f64]) -> String {
    super::eval::within(&bootstrap_mean(values))
}

/// Prints until the run has ended. The run waits for whoever reads the output.
fn print(events: &Receiver<Arc<Envelope>>, json: bool) -> std::io::Result<Summary> {
    let mut summary = Summary::default();
    let stdout = std::io::stdout();
    let mut out = std::io::BufWriter::new(stdout.lock());
    loop {
        let next = match events.try_recv() {
            Ok(envelope) => Some(envelope),
            Err(TryRecvError::Empty) => {
                out.flush()?;
                events.recv().ok()
            }
            Err(TryRecvError::Disconnected) => None,
        };
        let Some(envelope) = next else { break };
        one(&envelope, json, &mut out, &mut summary)?;
    }
    out.flush()?;
    Ok(summary)
}

fn one(envelope: &Envelope, json: bool, out: &mut impl Write, summary: &mut Summary) -> std::io::Result<()> {
    if json {
        write_json(out, envelope)?;
    }
    if let Event::EpisodeEnded(e) = &envelope.event {
        summary.add(e);
        if !json {
            episode_line(out, envelope, e)?;
        }
    }
    if let Some(reason) = failure(&envelope.event) {
        (summary.failed, summary.reason) = (true, reason);
    }
    Ok(())
}

fn episode_line(out: &mut impl Write, envelope: &Envelope, e: &EpisodeEnded) -> std::io::Result<()> {
    writeln!(
        out,
        "lane {} episode {}: {}  return {:.2}  hybrid {:.3}  final {:.2}  length {}  tool errors {}  ({})",
        envelope.lane,
        envelope.episode.unwrap_or_default(),
        e.verdict().word(),
        e.episode_return,
        e.hybrid,
        e.final_reward,
        e.length,
        e.tool_errors,
        e.truth
    )
}

/// Why a run that says this has failed.
fn failure(event: &Event) -> Option<String> {
    if let Event::SinkFailed(e) = event {
        return Some(format!("{}: {}", e.sink, e.reason));
    }
    if let Event::PolicyStateChanged(e) = event {
        return (e.state == PolicyState::Failed).then(|| e.detail.to_string());
    }
    if let Event::LogLine(e) = event {
        return (e.level == LogLevel::Error).then(|| format!("{}: {}", e.target, e.text));
    }
    None
}
