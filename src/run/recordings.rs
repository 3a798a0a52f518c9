//! `recordings` and `seal`: what is kept, what is thrown away, what is packed.

use super::cli::{GlobalArgs, RecordingsArgs, RecordingsCmd, RecordingsLsArgs, RecordingsOrder, RecordingsPruneArgs, SealArgs};
use super::exit::{Code, Failure, Outcome, note, say, unwritten};
use super::join::configuration;
use crate::cond::{Fact, Filter};
use crate::event::SafeText;
use crate::journal::{Glance, ReadError, SealError, Sealed, files_of, label, leftover, pin, seal, write_json};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

const DAY_SECONDS: f64 = 86_400.0;
const MEGABYTE: u64 = 1_000_000;
const NS_PER_SECOND: f64 = 1e9;

pub fn run(args: &RecordingsArgs, global: &GlobalArgs) -> Outcome {
    match &args.command {
        None => ls(&args.ls, global),
        Some(RecordingsCmd::Ls(args)) => ls(args, global),
        Some(RecordingsCmd::Prune(args)) => prune(args, global),
        Some(RecordingsCmd::Pin { file }) => set_pin(file, true),
        Some(RecordingsCmd::Unpin { file }) => set_pin(file, false),
    }
}

/// A recording in the list.
struct Row {
    path: PathBuf,
    name: String,
    glance: Glance,
    is_pinned: bool,
}

/// What a filter may ask for.
const FACTS: [&str; 15] = [
    "name",
    "started",
    "env",
    "env_version",
    "level",
    "seed",
    "lanes",
    "agent",
    "bytes",
    "events",
    "seconds",
    "ended",
    "sealed",
    "running",
    "pinned",
];

impl Row {
    /// None where the file is no recording, or the later segment of one.
    fn at(path: PathBuf) -> Result<Option<Self>, ReadError> {
        let Some(name) = label(&path) else { return Ok(None) };
        let is_pinned = pin(&path).exists();
        Ok(Glance::at(&path)?.map(|glance| Self { path, name, glance, is_pinned }))
    }

    fn facts(&self) -> impl Iterator<Item = (&'static str, Fact)> {
        let Glance { header, bytes, is_sealed, is_held, ending } = &self.glance;
        let count = |n: u64| Fact::Count(i64::try_from(n).unwrap_or(i64::MAX));
        let known = [
            ("name", Some(Fact::Text(self.name.clone()))),
            ("started", Some(Fact::Text(header.started.clone()))),
            ("env", Some(Fact::Text(header.env.name.clone()))),
            ("env_version", Some(Fact::Text(header.env.version.clone()))),
            ("level", Some(Fact::Text(header.level.to_string()))),
            ("seed", Some(count(header.seed.0))),
            ("lanes", Some(count(u64::from(header.lanes)))),
            ("agent", header.checkpoint.as_ref().map(|c| Fact::Text(c.id.0.clone()))),
            ("bytes", Some(count(*bytes))),
            ("events", ending.map(|e| count(e.end.0))),
            ("seconds", ending.map(|e| Fact::Number(e.t_ns_end as f64 / NS_PER_SECOND))),
            ("ended", ending.map(|e| Fact::Flag(e.run_ended))),
            ("sealed", Some(Fact::Flag(*is_sealed))),
            ("running", Some(Fact::Flag(*is_held))),
            ("pinned", Some(Fact::Flag(self.is_pinned))),
        ];
        known.into_iter().filter_map(|(name, fact)| Some((name, fact?)))
    }

    fn json(&self) -> serde_json::Value {
        let mut object = serde_json::Map::new();
        object.insert("file".into(), self.path.display().to_string().into());
        // What is not known is null: unset is not zero.
        FACTS.iter().for_each(|name| drop(object.insert((*name).into(), serde_json::Value::Null)));
        for (name, fact) in self.facts() {
            let value = match fact {
                Fact::Text(text) => text.into(),
                Fact::Count(n) => n.into(),
                Fact::Number(x) => x.into(),
                Fact::Flag(is) => is.into(),
            };
            object.insert(name.into(), value);
        }
        object.into()
    }

    fn line(&self) -> String {
        let Glance { header, bytes, is_sealed, is_held, ending } = &self.glance;
        let unknown = || "n/a".to_owned();
        let events = ending.map_or_else(unknown, |e| e.end.to_string());
        let seconds = ending.map_or_else(unknown, |e| format!("{:.1}", e.t_ns_end as f64 / NS_PER_SECOND));
        let state = match ending {
            _ if *is_held => "running",
            Some(e) if e.run_ended => "ended",
            Some(_) => "unfinished",
            None => "n/a",
        };
        // A run may have swapped its policy: the header knows the first one.
        let agent = header.checkpoint.as_ref().map_or("n/a", |c| c.id.0.as_str());
        let marks = format!("{}{}", if *is_sealed { " sealed" } else { "" }, if self.is_pinned { " pinned" } else { "" });
        let started = header.started.get(..19).unwrap_or(&header.started);
        format!(
            "{:<28} {started:<19} {:<8} {:<5} {:>5} {agent:<20} {events:>9} {seconds:>9} {bytes:>12} {state}{marks}",
            self.name,
            header.env.name,
            header.level.to_string(),
            header.lanes
        )
    }
}

/// What the columns of `Row::line` are.
fn heads() -> String {
    format!(
        "{:<28} {:<19} {:<8} {:<5} {:>5} {:<20} {:>9} {:>9} {:>12} state",
        "name", "started (UTC)", "env", "level", "lanes", "first policy", "events", "seconds", "bytes"
    )
}

/// A path may hold anything.
fn one_line(text: &str) -> String {
    SafeText::new(text).replace(['\n', '\t'], " ")
}

/// Prints a JSON object in a line that is harmless to a terminal.
fn say_json(value: &serde_json::Value) -> Result<(), Failure> {
    write_json(&mut std::io::stdout(), value).map_err(unwritten)
}

/// Prints the rows, for people with a line of heads.
fn list<'a>(rows: impl IntoIterator<Item = &'a Row>, is_json: bool) -> Result<(), Failure> {
    for (n, row) in rows.into_iter().enumerate() {
        if is_json {
            say_json(&row.json())?;
            continue;
        }
        if n == 0 {
            say(heads())?;
        }
        say(row.line())?;
    }
    Ok(())
}

fn filter(source: Option<&str>) -> Result<Option<Filter>, Failure> {
    source.map(|source| Filter::compile(source, &FACTS)).transpose().map_err(Failure::usage)
}

/// All recordings of the directory, newest first; what can't be read is told.
fn rows(dir: Option<&Path>, global: &GlobalArgs) -> Result<Vec<Row>, Failure> {
    let dir = match dir {
        Some(dir) => dir.to_owned(),
        None => {
            let config = configuration(global, None)?;
            super::screen::recordings(&config).ok_or_else(|| Failure::usage("there is no directory for recordings; name one by --dir"))?
        }
    };
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Failure::usage(format!("{}: {e}", dir.display()))),
    };
    let mut rows = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|p| p.is_file()) {
        match Row::at(path) {
            Ok(row) => rows.extend(row),
            Err(ReadError::NotARecording { .. }) => {}
            Err(e) => note(format_args!("pilothouse: passed over: {e}")),
        }
    }
    rows.sort_by(|a, b| b.glance.header.started.cmp(&a.glance.header.started).then_with(|| a.name.cmp(&b.name)));
    Ok(rows)
}

/// The newest recording of the state directory.
pub fn newest(global: &GlobalArgs) -> Result<Option<PathBuf>, Failure> {
    Ok(rows(None, global)?.into_iter().next().map(|row| row.path))
}

fn ls(args: &RecordingsLsArgs, global: &GlobalArgs) -> Outcome {
    let filter = filter(args.filter.as_deref())?;
    let mut rows = rows(args.dir.as_deref(), global)?;
    rows.retain(|row| filter.as_ref().is_none_or(|f| f.matches(row.facts())));
    let ending = |row: &Row| row.glance.ending;
    match args.sort {
        RecordingsOrder::Started => {}
        RecordingsOrder::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        RecordingsOrder::Bytes => rows.sort_by_key(|row| Reverse(row.glance.bytes)),
        RecordingsOrder::Events => rows.sort_by_key(|row| Reverse(ending(row).map(|e| e.end))),
        RecordingsOrder::Seconds => rows.sort_by_key(|row| Reverse(ending(row).map(|e| e.t_ns_end))),
    }
    list(&rows, args.json)?;
    if rows.is_empty() && !args.json {
        note("no recordings");
    }
    Ok(Code::Holds)
}

fn prune(args: &RecordingsPruneArgs, global: &GlobalArgs) -> Outcome {
    if args.older_than.is_none() && args.keep_mb.is_none() && args.filter.is_none() {
        return Err(Failure::usage("say which: --older-than DAYS, --keep-mb MB, --filter CEL"));
    }
    let filter = filter(args.filter.as_deref())?;
    let rows = rows(args.dir.as_deref(), global)?;
    let doomed = doomed(&rows, args, filter.as_ref());
    // Of recordings that stay too: nothing of it is of use to anybody.
    for left in rows.iter().filter_map(|row| leftover(&row.path, args.yes)) {
        let what = if args.yes { "removed" } else { "would be removed" };
        note(one_line(&format!("{what}: {}, left by a seal that was cut short", left.display())));
    }
    let (mut gone, mut failed) = (Vec::new(), None);
    for row in doomed {
        let removed = if args.yes { remove(&row.path) } else { Ok(()) };
        match removed {
            Ok(()) => gone.push(row),
            Err(e) => drop(failed.get_or_insert(format!("{}: {e}", row.path.display()))),
        }
    }
    let freed: u64 = gone.iter().map(|row| row.glance.bytes).sum();
    list(gone.iter().copied(), args.json)?;
    let what = if args.yes { "removed" } else { "would be removed; --yes removes them" };
    note(format_args!("{} recordings of {} MB {what}", gone.len(), freed / MEGABYTE));
    failed.map_or(Ok(Code::Holds), |reason| Err(Failure::failed(reason)))
}

/// Those that are to go: none that is pinned, and none whose run goes on.
fn doomed<'a>(rows: &'a [Row], args: &RecordingsPruneArgs, filter: Option<&Filter>) -> Vec<&'a Row> {
    let mut kept_bytes = 0;
    let mut doomed = Vec::new();
    for row in rows {
        kept_bytes += row.glance.bytes;
        let is_old = args.older_than.is_none_or(|days| age_days(&row.glance.header.started).is_some_and(|age| age > days));
        let is_over = args.keep_mb.is_none_or(|mb| kept_bytes > mb.saturating_mul(MEGABYTE));
        let is_safe = row.is_pinned || row.glance.is_held;
        if !is_safe && is_old && is_over && filter.is_none_or(|f| f.matches(row.facts())) {
            doomed.push(row);
        }
    }
    doomed
}

fn age_days(started: &str) -> Option<f64> {
    let started: jiff::Timestamp = started.parse().ok()?;
    Some(jiff::Timestamp::now().duration_since(started).as_secs_f64() / DAY_SECONDS)
}

fn remove(path: &Path) -> std::io::Result<()> {
    // The recording itself goes last, so that what is left of an interrupted removal is still listed.
    for file in files_of(path).iter().rev() {
        if file.is_dir() { std::fs::remove_dir_all(file)? } else { std::fs::remove_file(file)? }
    }
    Ok(())
}

fn set_pin(file: &Path, is_pinned: bool) -> Outcome {
    if Glance::at(file).map_err(Failure::usage)?.is_none() {
        return Err(Failure::usage(format!("{} is a later part of a recording; name its first file", file.display())));
    }
    let pin = pin(file);
    let done = match is_pinned {
        true => std::fs::write(&pin, ""),
        false if pin.exists() => std::fs::remove_file(&pin),
        false => Ok(()),
    };
    done.map_err(|e| Failure::failed(format!("{}: {e}", pin.display())))?;
    Ok(Code::Holds)
}

pub fn seal_all(args: &SealArgs) -> Outcome {
    // A file that can't be sealed keeps no other from it; the first refusal decides the exit code.
    let mut refused = None;
    for file in &args.files {
        let sealed = match seal(file).map_err(refusal) {
            Ok(sealed) => sealed,
            Err(failure) => {
                if refused.is_some() {
                    note(&failure.message);
                }
                refused = refused.or(Some(failure));
                continue;
            }
        };
        if args.json {
            let Sealed { path, bytes_before, bytes_after, elided, .. } = &sealed;
            let file = path.display().to_string();
            say_json(&serde_json::json!({"file": file, "bytes_before": bytes_before, "bytes_after": bytes_after, "elided": elided}))?;
        } else {
            say(one_line(&told(&sealed)))?;
        }
        if let Some(left) = &sealed.leftover {
            note(one_line(&format!("removed: {}, left by a seal that was cut short", left.display())));
        }
    }
    refused.map_or(Ok(Code::Holds), Err)
}

fn told(sealed: &Sealed) -> String {
    let share = sealed.bytes_after as f64 / sealed.bytes_before.max(1) as f64 * 100.0;
    format!("sealed: {}, {} of {} bytes ({share:.1} %)", sealed.path.display(), sealed.bytes_after, sealed.bytes_before)
}

fn refusal(error: SealError) -> Failure {
    let code = match &error {
        SealError::Damaged { .. } => Code::Partial,
        SealError::Read(_) | SealError::Already(_) | SealError::Taken(_) | SealError::Held(_) => Code::Usage,
        SealError::Changed(_) | SealError::Io { .. } | SealError::Record(_) | SealError::NotTheSame(_) => Code::Failed,
    };
    Failure { code, message: error.to_string() }
}

/// Seals what a run has recorded, where the configuration wants it. The name that the recording has then; what can't be sealed stays as it is.
pub fn sealed_if_wanted(path: &Path, is_wanted: bool) -> PathBuf {
    if !is_wanted {
        return path.to_owned();
    }
    match seal(path) {
        Ok(sealed) => sealed.path,
        Err(e) => {
            note(format_args!("pilothouse: not sealed: {e}"));
            path.to_owned()
        }
    }
}
