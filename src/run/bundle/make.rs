//! Making a bundle: the part, what stands beside it, and what is left out.

use super::BUNDLE_SUFFIX;
use super::manifest::*;
use super::pack::{self, Body};
use super::redact::Redactor;
use super::scene::{Moments, pictures};
use super::unpack::{Scratch, unpack_if_bundle};
use crate::checkpoint;
use crate::config::Config;
use crate::event::{CheckpointId, Envelope, Event, MonotonicClock, SafeText, Seq};
use crate::journal::{Header, Recording, label, write_part};
use crate::run::exit::Failure;
use crate::run::join::BUILD;
use crate::run::replay::find;
use crate::source::RecordingSource;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const NS_PER_SECOND: f64 = 1e9;
/// Of a longer log the end is taken.
const LOG_BYTES_MAX: usize = 8 << 20;

/// Which part of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Span {
    #[default]
    Whole,
    /// So many nanoseconds before its end.
    Last(u64),
    /// From a step or an event on.
    From(String),
}

impl Span {
    pub fn of(last: Option<&str>, from: Option<&str>) -> Result<Self, String> {
        match (last, from) {
            (Some(last), _) => duration_ns(last).map(Self::Last),
            (None, Some(from)) => Ok(Self::From(from.to_owned())),
            (None, None) => Ok(Self::Whole),
        }
    }
}

/// `10m`, `90s`, `1h30m`.
fn duration_ns(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is no length of time; write one such as 10m, 90s or 1h30m");
    let parsed: jiff::SignedDuration = text.trim().parse().map_err(|_| bad())?;
    u64::try_from(parsed.as_nanos()).ok().filter(|ns| *ns > 0).ok_or_else(bad)
}

/// What is to be packed.
#[derive(Clone, Debug)]
pub struct Wish {
    pub recording: PathBuf,
    pub span: Span,
    /// What the recording is called; else after its file.
    pub name: Option<String>,
    /// Else that name, here.
    pub output: Option<PathBuf>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Made {
    pub path: PathBuf,
    pub bytes: u64,
    pub from: Seq,
    pub upto: Seq,
    pub from_ns: u64,
    pub upto_ns: u64,
    /// The run went on while it was made.
    pub is_growing: bool,
    /// What is wrong with the recording.
    pub findings: Vec<String>,
    pub has_beginning: bool,
    /// Events that hold what looks like a secret, and are in it as they were recorded.
    pub secrets: u64,
}

impl Made {
    /// What whoever hands it on must know.
    pub fn secrets_told(&self) -> Option<String> {
        (self.secrets > 0).then(|| secrets_told(self.secrets))
    }

    /// In a line.
    pub fn told(&self) -> String {
        let part = if self.has_beginning { "all" } else { "a part" };
        let seconds = |ns: u64| ns as f64 / NS_PER_SECOND;
        let events = if self.upto < self.from { "no event".to_owned() } else { format!("events {} to {}", self.from, self.upto) };
        format!(
            "{}: {} bytes, {part} of the recording: {events}, {:.1} s to {:.1} s of the run",
            self.path.display(),
            self.bytes,
            seconds(self.from_ns),
            seconds(self.upto_ns)
        )
    }
}

fn secrets_told(events: u64) -> String {
    let hold = if events == 1 { "event holds" } else { "events hold" };
    format!("{events} {hold} what looks like a secret, as recorded: look at that before this file is handed on")
}

/// Packs it.
pub fn make(wish: &Wish, config: &Config, redactor: &Redactor) -> Result<Made, Failure> {
    // A bundle can be bundled again, such as its last minute.
    let unpacked = unpack_if_bundle(&wish.recording)?;
    let path = unpacked.as_ref().map_or(wish.recording.as_path(), |u| u.recording.as_path());
    let mut recording = Recording::open(path).map_err(Failure::usage)?;
    let of_file = || unpacked.as_ref().map_or_else(|| name_of(path), |u| u.origin.name.clone());
    let name = wish.name.clone().unwrap_or_else(of_file);
    let output = wish.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}{BUNDLE_SUFFIX}")));
    if std::fs::symlink_metadata(&output).is_ok() {
        return Err(pack::taken(&output, &std::io::ErrorKind::AlreadyExists.into()).unwrap_or_else(|| Failure::usage("it exists")));
    }
    // In this order: what was written before the writer let go is read.
    let is_held = recording.is_growing();
    recording.follow().map_err(Failure::usage)?;
    let is_growing = is_held && !recording.integrity().run_ended;
    let upto = if is_growing { recording.integrity().committed_upto } else { recording.end() };
    let from = begin(&mut recording, &wish.span, upto)?;
    let scratch = Scratch::make()?;
    let part = scratch.path().join(RECORDING);
    write_part(&mut recording, from, upto, &part).map_err(Failure::failed)?;
    // That its end is missing is no finding while it is written.
    let mut integrity = recording.integrity().clone();
    if is_growing {
        (integrity.run_ended, integrity.uncommitted, integrity.torn_bytes) = (true, 0, 0);
    }
    let findings = integrity.lines();
    packed(Parts { scratch: &scratch, part: &part, name: &name, output, is_growing, findings, from, upto }, config, redactor)
}

/// What `make` has found out.
struct Parts<'a> {
    scratch: &'a Scratch,
    part: &'a Path,
    name: &'a str,
    output: PathBuf,
    is_growing: bool,
    findings: Vec<String>,
    from: Seq,
    upto: Seq,
}

fn packed(parts: Parts<'_>, config: &Config, redactor: &Redactor) -> Result<Made, Failure> {
    let mut recording = Recording::open(parts.part).map_err(Failure::failed)?;
    let read = Read::of(&mut recording, redactor)?;
    let header = recording.header().clone();
    let has_beginning = recording.base() == Seq(0);
    let (from_ns, upto_ns) = (read.from_ns.unwrap_or(0), recording.t_ns_end());
    let made = jiff::Timestamp::now();
    let mut left_out = vec![
        LeftOut::new("weights", "a checkpoint is named by its sha256 and never packed"),
        LeftOut::new(
            "secrets",
            "values of fields and variables whose name says key, secret, token or the like, text from PILOTHOUSE__ variables, the home directory, user and host are not in the texts and pictures",
        ),
    ];
    if !has_beginning {
        left_out.push(LeftOut::new(
            format!("events 1 to {}", parts.from.0.saturating_sub(1)),
            "only a part was asked for; the state before it is there",
        ));
    }
    if read.secrets > 0 {
        left_out.push(LeftOut::new("secrets in the events are not left out", secrets_told(read.secrets)));
    }
    let rules = rules_in_force(&recording.state_at(recording.end()).map_err(Failure::failed)?);
    if rules.is_none() {
        left_out.push(LeftOut::new(RULES, "this run has no rules"));
    }
    let mut bodies = vec![(RECORDING.into(), Body::File(parts.part.to_owned()))];
    bodies.extend(rules.map(|rules| (RULES.into(), Body::Bytes(redactor.text(&rules).into_bytes()))));
    bodies.extend(blobs(parts.scratch)?);
    bodies.push((CONFIG.into(), Body::Bytes(configuration(config, &header, redactor).into_bytes())));
    bodies.push((CHECKPOINTS.into(), Body::Bytes(checkpoints(&header, &read.checkpoints, redactor).into_bytes())));
    bodies.push((LOG.into(), Body::Bytes(read.log.into_bytes())));
    let mut source = RecordingSource::new(recording, MonotonicClock::start()).map_err(Failure::failed)?;
    let lang = crate::run::screen::lang(config);
    let (drawn, undrawn) = pictures(&mut source, read.moments, lang, parts.name, redactor).map_err(Failure::failed)?;
    bodies.extend(drawn);
    if undrawn > 0 {
        left_out.push(LeftOut::new(format!("{SCREENS}of {undrawn} more moments"), "a few are drawn; the recording has them all"));
    }
    let recorded = Recorded {
        run: header.id,
        name: redactor.text(parts.name),
        from: parts.from,
        upto: parts.upto,
        from_ns,
        upto_ns,
        has_beginning,
        is_growing: parts.is_growing,
        findings: parts.findings.iter().map(|f| redactor.text(f)).collect(),
    };
    let readme = readme(&recorded, &made.to_string());
    bodies.insert(0, (README.into(), Body::Bytes(readme.into_bytes())));
    let entries = pack::entries(&bodies).map_err(|e| Failure::failed(format!("{}: {e}", parts.part.display())))?;
    let manifest =
        Manifest { fmt: FORMAT.into(), v: VERSION, made: made.to_string(), build: BUILD.into(), recording: recorded, entries, left_out };
    let bytes = pack::write(&parts.output, &manifest, &bodies)?;
    Ok(Made {
        path: parts.output,
        bytes,
        from: parts.from,
        upto: parts.upto,
        from_ns,
        upto_ns,
        is_growing: parts.is_growing,
        findings: parts.findings,
        has_beginning,
        secrets: read.secrets,
    })
}

/// The alert rules in force at the end, as a rule file; unset where there are none.
fn rules_in_force(state: &crate::state::DashState) -> Option<String> {
    let alerting = &state.alerting;
    let mut groups: Vec<(&SafeText, u64, Vec<Value>)> = Vec::new();
    for row in &alerting.rules {
        let info = &row.info;
        let mut rule = serde_json::Map::new();
        let key = match info.kind {
            crate::event::RuleKind::Alert => "alert",
            crate::event::RuleKind::Record => "record",
        };
        rule.insert(key.into(), json!(info.name));
        rule.insert("expr".into(), json!(info.expr));
        for (name, ms) in [("for", info.for_ms), ("keep_firing_for", info.keep_firing_for_ms)] {
            (ms > 0).then(|| rule.insert(name.into(), json!(format!("{ms}ms"))));
        }
        for (name, set) in [("labels", &info.labels), ("annotations", &info.annotations)] {
            (!set.is_empty()).then(|| rule.insert(name.into(), json!(set)));
        }
        match groups.last_mut().filter(|(name, ..)| **name == row.group) {
            Some((_, _, rules)) => rules.push(Value::Object(rule)),
            None => groups.push((&row.group, row.interval_ms, vec![Value::Object(rule)])),
        }
    }
    let groups: Vec<Value> = groups
        .iter()
        .map(|(name, interval_ms, rules)| json!({"name": name, "interval": format!("{interval_ms}ms"), "rules": rules}))
        .collect();
    let text = serde_yaml::to_string(&json!({ "groups": groups })).ok()?;
    let head = format!("# The rules in force at the end, from {}, sha256 {}.", alerting.file, alerting.sha256);
    let lacks = "# As the events tell them: without remarks, limits and query offsets; labels of groups stand with their rules.";
    (!groups.is_empty()).then(|| format!("{head}\n{lacks}\n{text}"))
}

/// What the bundle is called after.
fn name_of(path: &Path) -> String {
    label(path).or_else(|| Some(path.file_name()?.to_string_lossy().into_owned())).unwrap_or_else(|| "recording".into())
}

/// The first event of the part.
fn begin(recording: &mut Recording, span: &Span, upto: Seq) -> Result<Seq, Failure> {
    let first = recording.base().next();
    match span {
        Span::Whole => Ok(first),
        Span::Last(ns) => {
            let end_ns = recording.state_at(upto).map_err(Failure::usage)?.t_ns;
            first_at(recording, end_ns.saturating_sub(*ns), upto)
        }
        Span::From(step) => find(recording, step).map(|seq| seq.clamp(first, upto.max(first))),
    }
}

/// The first event that came at this time or later. Time does not go back, so that halving finds it.
fn first_at(recording: &mut Recording, t_ns: u64, upto: Seq) -> Result<Seq, Failure> {
    let (mut low, mut high) = (recording.base().next(), upto);
    while low < high {
        let middle = Seq(low.0 + (high.0 - low.0) / 2);
        let found = recording.events_from(middle).map_err(Failure::usage)?.next().transpose().map_err(Failure::usage)?;
        match found {
            Some(event) if event.t_ns < t_ns => low = event.seq.max(middle).next(),
            Some(_) | None => high = middle,
        }
    }
    Ok(low.min(upto.max(recording.base().next())))
}

/// What one pass over the part finds.
#[derive(Default)]
struct Read {
    from_ns: Option<u64>,
    log: String,
    moments: Moments,
    checkpoints: BTreeMap<CheckpointId, Named>,
    /// Events that hold what looks like a secret.
    secrets: u64,
}

/// What the events say of a checkpoint.
#[derive(Clone, Debug, Default)]
struct Named {
    sha256: Option<String>,
    step: Option<u64>,
}

impl Read {
    fn of(recording: &mut Recording, redactor: &Redactor) -> Result<Self, Failure> {
        let mut read = Self::default();
        // What was listed before the part begins is in the state.
        for listed in recording.base_state().map_err(Failure::failed)?.checkpoints {
            read.name(&listed.checkpoint, Some(&listed.sha256), Some(listed.training_step));
        }
        if let Some(first) = &recording.header().checkpoint {
            read.name(&first.id.clone(), Some(&first.sha256.clone()), None);
        }
        for envelope in recording.events_from(Seq(1)).map_err(Failure::failed)? {
            let envelope = envelope.map_err(Failure::failed)?;
            read.note(&envelope, redactor);
        }
        Ok(read)
    }

    fn name(&mut self, id: &CheckpointId, sha256: Option<&str>, step: Option<u64>) {
        let named = self.checkpoints.entry(id.clone()).or_default();
        named.sha256 = sha256.filter(|s| !s.is_empty()).map(str::to_owned).or(named.sha256.take());
        named.step = step.or(named.step);
    }

    fn note(&mut self, envelope: &Envelope, redactor: &Redactor) {
        self.from_ns.get_or_insert(envelope.t_ns);
        self.moments.note(envelope);
        let is_secret = serde_json::to_string(envelope).is_ok_and(|text| redactor.has_secret(&text));
        self.secrets += u64::from(is_secret);
        if let Event::LogLine(e) = &envelope.event {
            let t = envelope.t_ns as f64 / NS_PER_SECOND;
            let text = redactor.text(&format!("{t:>12.3} @{} {:?} {}: {}", envelope.seq, e.level, e.target, e.text));
            let _ = writeln!(self.log, "{}", text.replace('\n', "\n             "));
            self.shorten_log();
        } else if let Event::CheckpointListed(e) = &envelope.event {
            self.name(&e.checkpoint, Some(&e.sha256), Some(e.training_step));
        } else if let Event::CheckpointSaved(e) = &envelope.event {
            self.name(&e.checkpoint, Some(&e.sha256), Some(e.training_step));
        } else if let Event::CheckpointSwapped(e) = &envelope.event {
            self.name(&e.to, Some(&e.sha256), None);
        }
    }

    fn shorten_log(&mut self) {
        if self.log.len() > LOG_BYTES_MAX
            && let Some(cut) = self.log.bytes().skip(LOG_BYTES_MAX / 2).position(|b| b == b'\n')
        {
            self.log.replace_range(..LOG_BYTES_MAX / 2 + cut + 1, "[earlier lines are in the recording]\n");
        }
    }
}

/// Long texts that the part names.
fn blobs(scratch: &Scratch) -> Result<Vec<(String, Body)>, Failure> {
    let dir = scratch.path().join(BLOBS);
    let Ok(entries) = std::fs::read_dir(&dir) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Failure::failed)?;
        found.push((format!("{BLOBS}{}", entry.file_name().to_string_lossy()), Body::File(entry.path())));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The configuration as it is resolved here, with where each value comes from. It may be another one than the run's, which is said.
fn configuration(config: &Config, header: &Header, redactor: &Redactor) -> String {
    let (here, there) = (config.sha256(), &header.config_sha256);
    let same = if here == *there { "the run's own" } else { "not the run's: values differ, or flags of `run` stood for some" };
    let mut out = format!(
        "// The configuration where this bundle was made (profile {}), {same}.\n// sha256 here: {here}\n// sha256 of the run's: {there}\n(\n",
        config.profile_name
    );
    let mut section = "";
    for line in config.lines() {
        let Some((of, field)) = line.path.split_once('.') else { continue };
        if of != section {
            out.push_str(if section.is_empty() { "" } else { "    ),\n" });
            let _ = writeln!(out, "    {of}: (");
            section = of;
        }
        let origin = redactor.text(&line.origin.to_string()).replace('\n', " ");
        let _ = match redactor.setting(&line) {
            Some(value) => writeln!(out, "        {field}: {value}, // {origin}"),
            None => writeln!(out, "        // {field}: redacted // {origin}"),
        };
    }
    out.push_str(if section.is_empty() { ")\n" } else { "    ),\n)\n" });
    out
}

/// Identities of the checkpoints that the part names, and what their manifests say where they are here.
fn checkpoints(header: &Header, named: &BTreeMap<CheckpointId, Named>, redactor: &Redactor) -> String {
    let begun_with = header.checkpoint.as_ref().map(|c| c.id.0.as_str());
    let rows: Vec<Value> = named.iter().map(|(id, named)| identity(id, named)).collect();
    let text = serde_json::to_string_pretty(&json!({"begun_with": begun_with, "checkpoints": rows})).unwrap_or_default();
    // An id is as a file named it.
    SafeText::new(&redactor.text(&text)).to_string() + "\n"
}

fn identity(id: &CheckpointId, named: &Named) -> Value {
    // A name in a recording is not to lead to files of this machine: only what is built in is looked up.
    let known = checkpoint::builtin().iter().find(|b| b.name == id.0).and_then(|b| b.open().ok());
    let known = known.filter(|c| named.sha256.as_ref().is_none_or(|sha| *sha == c.sha256));
    let manifest = known.as_ref().map(|c| {
        let m = &c.manifest;
        json!({"created": m.created, "schema": m.schema, "architecture": m.architecture, "tokenizer_sha256": m.tokenizer_sha256,
               "fingerprint": m.fingerprint, "evaluation": m.evaluation, "training": m.training, "files": m.files})
    });
    json!({
        "id": id.0,
        "sha256": named.sha256,
        "step": named.step.or(known.as_ref().map(|c| c.manifest.step)),
        "parent": known.as_ref().and_then(|c| c.manifest.parent.clone()),
        "manifest": manifest,
    })
}

/// What to type on the other machine.
fn readme(recorded: &Recorded, made: &str) -> String {
    let seconds = |ns: u64| ns as f64 / NS_PER_SECOND;
    let part = if recorded.has_beginning {
        "the whole recording".to_owned()
    } else {
        "a part of a recording (its beginning is not here, but the state to begin with)".to_owned()
    };
    format!(
        "An incident bundle of Pilothouse, made {made} by {BUILD}.\n\
         It holds {part}:\n\
         events {} to {}, {:.1} s to {:.1} s of run {}.\n\n\
         On the other machine (FILE is this bundle, as it is; there is nothing to unpack):\n\n\
         \x20   pilothouse replay FILE              the console on it\n\
         \x20   pilothouse replay FILE --headless   the transcript\n\
         \x20   pilothouse replay FILE --json       the events as JSON Lines\n\
         \x20   pilothouse replay FILE --verify     plays the episodes again and compares\n\n\
         Without pilothouse: `unzip FILE`, then `zstd -dc {RECORDING}` gives the events as JSON Lines, screens/ has\n\
         pictures of the console, {LOG} the log, {CHECKPOINTS} which checkpoints decided, {CONFIG} the configuration.\n\
         {MANIFEST} says what is in the bundle, with a sha256 of each entry, and what was left out and why.\n",
        recorded.from,
        recorded.upto,
        seconds(recorded.from_ns),
        seconds(recorded.upto_ns),
        recorded.run
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_read_and_anything_else_is_told() {
        assert_eq!(duration_ns("10m"), Ok(600_000_000_000));
        assert_eq!(duration_ns("1h30m"), Ok(5_400_000_000_000));
        assert_eq!(duration_ns(" 250ms "), Ok(250_000_000));
        for bad in ["", "ten", "10", "-5m", "0s", "10 parsecs", "\u{1b}[2J"] {
            assert!(duration_ns(bad).unwrap_err().contains("10m, 90s or 1h30m"), "{bad}");
        }
    }
}
