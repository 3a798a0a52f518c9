//! `replay`: a recording in the console, as text, as JSON Lines, or verified.

use super::bundle::{BundleOrigin, is_bundle, unpack_if_bundle};
use super::cli::{GlobalArgs, ReplayArgs, VerifyArg};
use super::exit::{Code, Failure, Outcome, note, say, unwritten};
use super::join::{configuration, environment};
use super::provider::policy_of;
use super::transcript;
use crate::checkpoint;
use crate::cond::Condition;
use crate::config::Config;
use crate::engine::{VerifyError, VerifyReport, verify, verify_policy};
use crate::event::{Decoding, Envelope, EpisodeId, Event, LaneId, Seq, StepAddress};
use crate::journal::{Header, Integrity, Recording, write_json};
use crate::model::{DeviceChoice, LocalPolicy};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The recording that is compiled in.
const SAMPLE: &str = include_str!("../../recordings/success.jsonl");

pub fn replay(args: &ReplayArgs, global: &GlobalArgs) -> Outcome {
    let config = configuration(global, None)?;
    if args.file.as_os_str() == "sample" && !args.file.exists() {
        return sample(args, &config);
    }
    if is_bundle(&args.file) && !has_screen(args) {
        // What is unpacked is gone with the process, also where a signal ends it. A console ends by itself.
        super::signals::remove_on_signal();
    }
    if let Some(bundle) = unpack_if_bundle(&args.file)? {
        return open(&bundle.recording, Some(&bundle.origin), args, &config);
    }
    open(&args.file, None, args, &config)
}

fn has_screen(args: &ReplayArgs) -> bool {
    !args.headless && !args.json && args.verify.is_none() && args.shot.is_none() && super::screen::has_screen()
}

/// Puts the sample where it can be read like any recording.
fn sample(args: &ReplayArgs, config: &Config) -> Outcome {
    let path = std::env::temp_dir().join(format!("pilothouse-sample-{}.jsonl", ulid::Ulid::generate()));
    let write = || -> std::io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)?.write_all(SAMPLE.as_bytes())
    };
    write().map_err(|e| Failure::failed(format!("{}: {e}", path.display())))?;
    let outcome = open(&path, None, args, config);
    let _ = std::fs::remove_file(&path);
    outcome
}

fn open(path: &Path, origin: Option<&BundleOrigin>, args: &ReplayArgs, config: &Config) -> Outcome {
    let has_screen = has_screen(args);
    // The console begins with the end alone, and finds out the rest while it is looked at.
    let opened = if has_screen { Recording::open_quickly(path) } else { Recording::open(path) };
    let mut recording = opened.map_err(Failure::usage)?;
    if let Some(what) = args.verify {
        return verified(&mut recording, what, args);
    }
    let from = args.from.as_deref().map(|text| find(&mut recording, text)).transpose()?;
    let until = args.until.as_deref().map(Condition::parse).transpose().map_err(Failure::usage)?;
    let stop = match &until {
        Some(condition) => stop_at(&mut recording, from.unwrap_or(Seq(1)), condition)?,
        None => None,
    };
    if let Some(shot) = &args.shot {
        let integrity = super::screen::shot(recording, origin, stop.or(from), shot, &args.size, args.screen.into(), config)?;
        return partial(&integrity);
    }
    if !has_screen {
        return headless(&mut recording, args, from.unwrap_or(Seq(1)), stop);
    }
    let integrity = super::screen::replay(recording, origin, from, stop, args.speed, config)?;
    partial(&integrity)
}

/// Where the condition first holds, which is also told.
fn stop_at(recording: &mut Recording, from: Seq, condition: &Condition) -> Result<Option<Seq>, Failure> {
    let found = first(recording, from, condition)?;
    match found {
        Some(seq) => note(format_args!("`{}` holds first at event {seq}", condition.source())),
        None => note(format_args!("`{}` never holds: all of it follows", condition.source())),
    }
    Ok(found)
}

/// The first event from `from` on for which the condition holds.
fn first(recording: &mut Recording, from: Seq, condition: &Condition) -> Result<Option<Seq>, Failure> {
    let mut state = recording.state_at(Seq(from.0.saturating_sub(1))).map_err(Failure::usage)?;
    for envelope in recording.events_from(from).map_err(Failure::usage)? {
        let envelope = envelope.map_err(Failure::usage)?;
        state.apply(&envelope).map_err(Failure::usage)?;
        if condition.matches(&envelope, &state) {
            return Ok(Some(envelope.seq));
        }
    }
    Ok(None)
}

/// The event at which a step begins: `[lane:]episode/step`, a step of the first episode, or `@seq`.
pub fn find(recording: &mut Recording, text: &str) -> Result<Seq, Failure> {
    let bad = || Failure::usage(format!("`{text}` is not a step; write `[lane:]episode/step`, `step`, or `@seq`"));
    if let Some(seq) = text.strip_prefix('@') {
        return seq.parse().map(Seq).map_err(|_| bad());
    }
    let StepAddress { lane, episode, step } = StepAddress::parse(text, LaneId(0)).ok_or_else(bad)?;
    let episode = episode.unwrap_or(EpisodeId(1));
    let from = before_episode(recording, lane, episode)?;
    for envelope in recording.events_from(from).map_err(Failure::usage)? {
        let e = envelope.map_err(Failure::usage)?;
        if e.lane == lane && e.episode == Some(episode) && e.step.unwrap_or_default() >= step {
            return Ok(e.seq);
        }
        if e.lane == lane && e.episode.is_some_and(|e| e > episode) {
            break;
        }
    }
    Err(Failure::usage(format!("the recording has no step {text}")))
}

/// Events that may lie between two of a lane; where more do, all are read.
const APART_MAX: usize = 4096;
/// Reading so many events is quicker than another look.
const NEAR_EVENTS: u64 = 512;

/// A place before an episode of a lane, near it: the episodes of a lane follow each other, so that halving finds it.
pub fn before_episode(recording: &mut Recording, lane: LaneId, episode: EpisodeId) -> Result<Seq, Failure> {
    let (mut low, mut high) = (Seq(1), recording.end());
    while high.0.saturating_sub(low.0) > NEAR_EVENTS {
        let middle = Seq(low.0 + (high.0 - low.0) / 2);
        let events = recording.events_from(middle).map_err(Failure::usage)?.take(APART_MAX);
        let found = events.filter_map(Result::ok).find(|e| e.lane == lane && e.episode.is_some());
        match found {
            Some(e) if e.episode < Some(episode) && e.seq < high => low = e.seq,
            Some(e) if e.episode < Some(episode) => break,
            Some(_) => high = middle,
            // The lane may have ended, or be silent for long.
            None => return Ok(low),
        }
    }
    Ok(low)
}

fn headless(recording: &mut Recording, args: &ReplayArgs, from: Seq, stop: Option<Seq>) -> Outcome {
    let stdout = std::io::stdout();
    let mut out = std::io::BufWriter::new(stdout.lock());
    for envelope in recording.events_from(from).map_err(Failure::usage)? {
        let envelope = match envelope {
            Ok(envelope) => envelope,
            Err(e) => {
                out.flush().map_err(Failure::failed)?;
                return Err(Failure { code: Code::Partial, message: e.to_string() });
            }
        };
        if stop.is_some_and(|s| envelope.seq > s) {
            break;
        }
        let written = if args.json { write_json(&mut out, envelope.as_ref()) } else { transcript::write(&mut out, &envelope) };
        match written {
            Ok(()) => {}
            Err(e) => return Err(unwritten(e)),
        }
    }
    out.flush().map_err(unwritten)?;
    partial(recording.integrity())
}

/// A recording that is not whole is partial input.
fn partial(integrity: &Integrity) -> Outcome {
    if integrity.is_intact() {
        return Ok(Code::Holds);
    }
    Err(Failure { code: Code::Partial, message: integrity.lines().join("\npilothouse: ") })
}

fn verified(recording: &mut Recording, what: VerifyArg, args: &ReplayArgs) -> Outcome {
    let header = recording.header().clone();
    let env = environment(&header.env.name)?;
    let mut events: Vec<Arc<Envelope>> = Vec::new();
    let mut broken = None;
    for envelope in recording.events_from(Seq(1)).map_err(Failure::usage)? {
        match envelope {
            Ok(envelope) => events.push(envelope),
            Err(e) => {
                broken = Some(e.to_string());
                break;
            }
        }
    }
    // What comes behind damage can't be held against the recording: it is partial input, and its steps are named.
    let integrity = recording.integrity();
    if let Some(damaged) = integrity.damage.iter().map(|d| d.from).min() {
        events.retain(|e| e.seq < damaged);
    }
    let integrity = integrity.clone();
    let unbegun = within_part(recording, &mut events)?;
    let report = match what {
        VerifyArg::Sim => verify(&header, events, env.as_ref()).map_err(failure)?,
        VerifyArg::Policy => {
            let (mut policy, decoding) = policy(&header, &events, args.checkpoint.as_deref())?;
            let report = verify_policy(&header, events, env.as_ref(), &mut policy, decoding).map_err(failure)?;
            if report.messages == 0 && report.difference.is_none() {
                return Err(Failure::usage("the recording holds no message of its model: there was nothing to compare"));
            }
            report
        }
    };
    if let Some(difference) = &report.difference {
        return Err(Failure { code: Code::Differs, message: format!("verification differs at {difference}") });
    }
    if let Some(broken) = broken {
        return Err(Failure { code: Code::Partial, message: broken });
    }
    if report.steps == 0 && integrity.is_intact() {
        let what = if unbegun.is_some() { "no episode begins in this part of a recording" } else { "the recording holds no step" };
        return Err(Failure::failed(format!("{what}: there was nothing to compare")));
    }
    if args.json {
        let mut told =
            serde_json::json!({"episodes": report.episodes, "steps": report.steps, "messages": report.messages, "identical": true});
        if let (Some(unbegun), Some(object)) = (&unbegun, told.as_object_mut()) {
            object.insert("from".into(), unbegun.from.0.into());
            object.insert("not_compared".into(), unbegun.episodes.into());
        }
        say(told)?;
    } else {
        say(told(&report, integrity.is_intact()))?;
        if let Some(Unbegun { from, episodes }) = unbegun {
            say(format_args!(
                "a part of a recording, from event {from} on: its beginning is not here; episodes that began before it, or go on from such a one, were not compared ({episodes})"
            ))?;
        }
    }
    partial(&integrity)
}

/// Of a part of a recording.
struct Unbegun {
    /// Its first event.
    from: Seq,
    /// Episodes of which the beginning is not there.
    episodes: usize,
}

/// Leaves of a part's events those that can be played again: of episodes that begin in it, and that go on from no other. How the run was
/// set up is in the state before the first event. None where the recording has its beginning.
fn within_part(recording: &mut Recording, events: &mut Vec<Arc<Envelope>>) -> Result<Option<Unbegun>, Failure> {
    if recording.base() == Seq(0) {
        return Ok(None);
    }
    let from = recording.base().next();
    let (mut begun, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    for envelope in events.iter() {
        let Some(place) = envelope.episode.map(|episode| (envelope.lane, episode)) else { continue };
        if matches!(envelope.event, Event::EpisodeStarted(_)) {
            begun.insert(place);
        } else if let Event::BranchStarted(e) = &envelope.event
            && !begun.contains(&(e.parent_lane, e.parent))
        {
            begun.remove(&place);
        }
        if !begun.contains(&place) {
            left_out.insert(place);
        }
    }
    events.retain(|e| e.episode.is_none_or(|episode| !left_out.contains(&(e.lane, episode))));
    if let Some(run) = recording.run_started().map_err(Failure::usage)? {
        let base = recording.base_state().map_err(Failure::usage)?;
        let event = Event::RunStarted(run);
        events.insert(0, Arc::new(Envelope { seq: base.seq, t_ns: base.t_ns, lane: LaneId(0), episode: None, step: None, event }));
    }
    Ok(Some(Unbegun { from, episodes: left_out.len() }))
}

fn told(report: &VerifyReport, is_whole: bool) -> String {
    let policy = if report.messages > 0 { format!(", {} messages of the policy", report.messages) } else { String::new() };
    let rest = if is_whole { "" } else { "; what is damaged or missing was not compared" };
    format!("verified: {} episodes, {} steps{policy}: identical{rest}", report.episodes, report.steps)
}

fn failure(error: VerifyError) -> Failure {
    match error {
        VerifyError::Environment { .. } => Failure::usage(error),
        VerifyError::Recording { .. } => Failure { code: Code::Differs, message: error.to_string() },
        VerifyError::Policy(_) => Failure::failed(error),
    }
}

/// The policy that made the recording, and how it decoded.
fn policy(header: &Header, events: &[Arc<Envelope>], place: Option<&str>) -> Result<(LocalPolicy, Decoding), Failure> {
    let recorded =
        header.checkpoint.as_ref().ok_or_else(|| Failure::usage("the recording's agent is no model: --verify=sim is all there is"))?;
    let decoding = events.iter().find_map(|e| if let Event::RunStarted(r) = &e.event { r.decoding } else { None });
    let decoding =
        decoding.ok_or_else(|| Failure::usage("the recording does not say how its model decoded: only --verify=sim can verify it"))?;
    let checkpoint = checkpoint::open(place.unwrap_or(&recorded.id.0))
        .map_err(|e| Failure::usage(format!("{e}\n  the recording's checkpoint is {}; name its directory by --checkpoint", recorded.id)))?;
    if checkpoint.sha256 != recorded.sha256 {
        return Err(Failure::usage(format!(
            "{} (sha256 {}) is not the recording's checkpoint, {} (sha256 {}); name its directory by --checkpoint",
            checkpoint.place, checkpoint.sha256, recorded.id, recorded.sha256
        )));
    }
    if events.iter().any(|e| matches!(&e.event, Event::CheckpointSwapped(s) if s.from.is_some())) {
        return Err(Failure::usage("the recording swaps checkpoints: --verify=sim can verify it, --verify=policy can't"));
    }
    Ok((policy_of(&checkpoint, DeviceChoice::Cpu).map_err(Failure::failed)?, decoding))
}
