//! What the console asks for behind the scene: evaluations, verifications, the catalogue of recordings.

use super::alerts;
use super::bench::{Bench, BenchPlan};
use super::bundle::{BUNDLE_SUFFIX, Made, Redactor, Span, Wish, make};
use super::diff::unpack_bundles;
use super::dry_run::{DryRow, DryRun, dry_run};
use super::fork;
use super::rule_files::{self, RulesWatch};
use super::screen::ForkedRun;
use crate::alert::rules::RuleFile;
use crate::cond::{CondError, Condition, Expression, Variable};
use crate::config::Config;
use crate::event::{Envelope, Event, LabelSet, Level, MonotonicClock, PRESETS, RunStarted, SafeText, Seed, Seq, ToolSpec};
use crate::journal::{Recording, label, stem};
use crate::source::{LiveSource, Probe, RecordingSource};
use crate::state::DashState;
use crate::ui::backstage::{Ask, Backstage, DryAsk, Forked, News, NotPlaced, OpenAt, Opened};
use crate::ui::desk::{DryAlert, DryFound, Recorded};
use crate::ui::diff;
use crate::ui::lang::tr;
use crate::ui::watches::{Gauge, Watched};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The crew: work in threads of its own, whose results wait to be collected.
pub struct Crew {
    sender: Sender<News>,
    results: Receiver<News>,
    /// Where recordings are kept, if anywhere.
    recordings: Option<PathBuf>,
    /// What the live run is recorded to.
    own: Option<PathBuf>,
    /// How checkpoints are to be evaluated, until the bench is started.
    plan: Option<BenchPlan>,
    bench: Option<Bench>,
    /// How runs that go on from a recording are set up, and what a bundle says of it.
    config: Config,
    /// The last run that went on from a recording.
    forked: Arc<Mutex<Option<ForkedRun>>>,
    /// Set, it ends the comparison that was asked for last.
    diff_cancelled: Arc<AtomicBool>,
    /// What came in a bundle: what the console calls it, and where it lies.
    unpacked: Option<(String, PathBuf)>,
}

impl Crew {
    pub fn new(recordings: Option<PathBuf>, own: Option<PathBuf>, config: &Config) -> Self {
        let (sender, results) = channel();
        let (plan, config) = (Some(BenchPlan::new(config)), config.clone());
        let (forked, diff_cancelled) = Default::default();
        Self { sender, results, recordings, own, plan, bench: None, config, forked, diff_cancelled, unpacked: None }
    }

    /// The run that goes on from the recording, for whoever outlives the console.
    pub fn forked(&self) -> Arc<Mutex<Option<ForkedRun>>> {
        self.forked.clone()
    }

    /// The recording came in a bundle.
    pub fn with_unpacked(mut self, unpacked: Option<(String, PathBuf)>) -> Self {
        self.unpacked = unpacked;
        self
    }

    /// Where the recording lies that the console calls so.
    fn path_of(&self, name: &str) -> PathBuf {
        let there = self.unpacked.as_ref().filter(|(unpacked, _)| unpacked == name);
        there.map_or_else(|| PathBuf::from(name), |(_, path)| path.clone())
    }

    fn bundle(&self, recording: Option<&str>, argument: &str) -> Result<(), String> {
        let there = self.unpacked.as_ref().filter(|(name, _)| recording == Some(name));
        let path = match recording {
            Some(name) => self.path_of(name),
            None => self.own.clone().ok_or_else(|| tr!("this run is not recorded: there is nothing to pack"))?,
        };
        let (span, output) = bundle_words(argument)?;
        let named = there.and_then(|(name, _)| name.strip_suffix(BUNDLE_SUFFIX)).map(str::to_owned);
        let name = named.or_else(|| label(&path)).unwrap_or_else(|| "recording".into());
        let config = self.config.clone();
        self.begin(move || {
            let output = output.unwrap_or_else(|| free_name(&name));
            let output = std::path::absolute(&output).unwrap_or(output);
            let wish = Wish { recording: path, span, name: Some(name), output: Some(output) };
            News::Told(match make(&wish, &config, &Redactor::of_process()) {
                Ok(made) => packed_told(&made),
                Err(failure) => tr!("not packed: {why}", why = failure.message),
            })
        })
    }

    /// Tries rules on a recording, as `rules eval` does.
    fn dry_run(&self, ask: DryAsk) -> Result<(), String> {
        let path = ask.recording.as_deref().map(|name| self.path_of(name)).or_else(|| self.own.clone());
        let path = path.ok_or_else(|| tr!("this run is not recorded: choose another recording"))?;
        let (rules, settings) = (self.rules(&ask.file)?, alerts::settings(&self.config));
        self.begin(move || {
            let found = dry_run(rules, &path, ask.rule.as_deref(), settings).map(found);
            News::DryRun(ask, found)
        })
    }

    /// The rules of a file, or those of this console: a recording's own file need not be here.
    fn rules(&self, file: &str) -> Result<RuleFile, String> {
        let path = PathBuf::from(file);
        if !self.config.alerts.rules.contains(&path) && path.is_file() {
            return rule_files::parse(file, &rule_files::text(&path)?);
        }
        RulesWatch::new(&self.config.alerts.rules).read().map(|rules| rules.file)
    }

    /// Does the work in a thread of its own.
    fn begin(&self, work: impl FnOnce() -> News + Send + 'static) -> Result<(), String> {
        let sender = self.sender.clone();
        let thread = std::thread::Builder::new().name("backstage".into()).spawn(move || {
            // Nobody collects when the console is gone.
            let _ = sender.send(work());
        });
        thread.map(drop).map_err(|e| format!("no thread for it: {e}"))
    }
}

impl Backstage for Crew {
    fn ask(&mut self, ask: Ask) -> Result<(), String> {
        match ask {
            Ask::Bench(ask) => {
                if let Some(plan) = self.plan.take() {
                    self.bench = Some(Bench::start(plan).map_err(|e| e.to_string())?);
                }
                self.bench.as_ref().map_or(Err("the thread that evaluates could not be started".to_owned()), |bench| bench.ask(ask))
            }
            Ask::CancelBench => {
                self.bench.iter().for_each(Bench::cancel);
                Ok(())
            }
            Ask::Fork { recording, lane, episode, at, with } => {
                let path = self.path_of(&recording);
                let (config, forked) = (self.config.clone(), self.forked.clone());
                self.begin(move || fork_live(&path, fork::Wish { lane, episode, at, with }, &config, &forked))
            }
            Ask::Catalogue => {
                let directories = self.recordings.clone().into_iter().chain(self.own.as_deref().and_then(Path::parent).map(Path::to_owned));
                let directories: std::collections::BTreeSet<PathBuf> = directories.collect();
                self.begin(move || News::Catalogue(catalogue(directories.iter())))
            }
            Ask::Diff(ask) => {
                self.diff_cancelled.store(true, Ordering::Relaxed);
                self.diff_cancelled = Arc::default();
                let (cancelled, own) = (self.diff_cancelled.clone(), self.own.clone());
                let (file_a, mut a, mut b) = diff::resolved(&ask, own.as_deref())?;
                for side in [Some(&mut a), b.as_mut().map(|(_, b)| b)].into_iter().flatten() {
                    side.file = self.path_of(&side.name);
                }
                self.begin(move || {
                    // A bundle that is not the one that is open is there until all is read.
                    let compared = match unpack_bundles(&mut a, b.as_mut().map(|(_, b)| b)) {
                        Ok(_held) => diff::compared((file_a, a, b), &|| cancelled.load(Ordering::Relaxed)),
                        Err(failure) => Some(Err(failure.message)),
                    };
                    News::Diff(ask, compared)
                })
            }
            Ask::CancelDiff => {
                self.diff_cancelled.store(true, Ordering::Relaxed);
                Ok(())
            }
            Ask::DryRun(ask) => self.dry_run(ask),
            Ask::Bundle { recording, argument } => self.bundle(recording.as_deref(), &argument),
            Ask::Open { path, at } => {
                let asked = path.clone();
                let path = path.or_else(|| self.own.clone()).ok_or("this run is not recorded: there is nothing to open")?;
                let lies_at = self.path_of(&path.display().to_string());
                self.begin(move || open(&lies_at).map_or_else(News::Told, |source| News::Opened(opened(asked, &path, source, at))))
            }
        }
    }

    fn news(&mut self) -> Vec<News> {
        let news: Vec<News> = self.results.try_iter().collect();
        for news in &news {
            if let News::Forked(forked) = news {
                self.own.clone_from(&forked.recording);
            }
        }
        let of_bench = self.bench.iter().flat_map(Bench::news).map(News::Bench);
        news.into_iter().chain(of_bench).collect()
    }

    fn compile(&self, source: &str) -> Result<Arc<dyn Probe>, String> {
        Condition::parse(source).map(|c| Arc::new(Compiled(c)) as Arc<dyn Probe>).map_err(|e| one_line(&e))
    }

    fn watch(&self, source: &str) -> Result<Watched, String> {
        // A preset is a condition, also one that has the name of a variable.
        let is_preset = PRESETS.contains(&source.trim());
        match Expression::compile(source) {
            Ok(expression) if !is_preset && !expression.is_condition() => Ok(Watched::Value(Arc::new(Valued(expression)))),
            Ok(_) | Err(_) => self.compile(source).map(Watched::Condition),
        }
    }

    fn condition_fields(&self) -> Vec<String> {
        let mut lines = vec![Variable::names_with_fields().join(", ")];
        for variable in Variable::ALL {
            if let Some(words) = variable.words() {
                lines.push(format!("{}: {}", variable.name(), words.join(", ")));
            }
        }
        lines
    }

    fn tools_of(&self, run: &RunStarted, seed: Seed, level: Level) -> Vec<ToolSpec> {
        let env = crate::env::make(&run.env).ok().filter(|env| env.spec().version == run.env_version);
        let Some(mut env) = env else { return Vec::new() };
        let mut tools = env.reset(seed, level).tools;
        tools.push(crate::tool::calculator::spec());
        tools
    }

    fn condition_names(&self) -> Vec<String> {
        Variable::names_with_fields()
    }

    fn rules_of(&self, file: &str) -> Result<String, String> {
        if self.config.alerts.rules.len() > 1 {
            return Err(tr!("there are several rule files ({files}): edit them outside, they are read again when saved", files = file));
        }
        if !self.config.alerts.rules.contains(&PathBuf::from(file)) {
            return Err(tr!("these rules come with the program; name a file of your own by --rules, and edit that"));
        }
        rule_files::text(&PathBuf::from(file))
    }

    fn place_rules(&self, file: &str, before: &str, text: &str) -> Result<(), NotPlaced> {
        rule_files::parse(file, text).map_err(NotPlaced::Wrong)?;
        let failed = |e: std::io::Error| NotPlaced::Wrong(format!("{file}: {e}"));
        let path = std::fs::canonicalize(file).map_err(failed)?;
        if rule_files::text(&path).map_err(NotPlaced::Wrong)? != before {
            return Err(NotPlaced::Changed);
        }
        place(&path, text).map_err(failed)
    }
}

/// Written aside and moved into its place, with the permissions that it had: whoever watches it never reads half of it.
fn place(path: &Path, text: &str) -> std::io::Result<()> {
    let aside = path.with_extension(format!("{}.tmp", std::process::id()));
    let permissions = std::fs::metadata(path)?.permissions();
    let written = std::fs::OpenOptions::new().write(true).create_new(true).open(&aside).and_then(|mut file| {
        use std::io::Write;
        file.set_permissions(permissions)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let placed = written.and_then(|()| std::fs::rename(&aside, path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    placed
}

/// What a dry run found, for the screen.
fn found(run: DryRun) -> DryFound {
    let labels = |pairs: &[(String, String)]| pairs.iter().map(|(n, v)| (SafeText::new(n), SafeText::new(v))).collect::<LabelSet>();
    let alert = |row: &DryRow| DryAlert {
        rule: SafeText::new(&row.rule),
        labels: labels(&row.labels).telling().into(),
        value: row.value,
        fired_t_ns: row.fired_t_ns,
        resolved_t_ns: row.resolved_t_ns,
        step: SafeText::new(&row.step),
        seq: Seq(row.seq),
    };
    let hurried = run.hurried.iter().map(|hurried| {
        let every = crate::alert::rules::format_duration(hurried.interval_ms);
        (SafeText::new(&hurried.group), SafeText::from(tr!("evaluated every {every}, for the recording is short", every = every)))
    });
    let mute = run.mute.iter().map(|mute| (SafeText::new(&mute.rule), SafeText::new(&mute.why)));
    DryFound {
        alerts: run.rows.iter().map(alert).collect(),
        left_out: run.rows_left_out,
        mute: hurried.chain(mute).collect(),
        t_ns_end: run.t_ns_end,
        damage: run.damage.as_deref().map(SafeText::new),
    }
}

/// `[last 10m] [FILE]`.
fn bundle_words(argument: &str) -> Result<(Span, Option<PathBuf>), String> {
    let (first, rest) = argument.split_once(' ').unwrap_or((argument, ""));
    let (span, file) = if first == "last" {
        let (last, file) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        (Span::of(Some(last), None)?, file)
    } else {
        (Span::Whole, argument)
    };
    let file = file.trim();
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?));
    let path = file.strip_prefix("~/").and_then(|rest| Some(home()?.join(rest))).unwrap_or_else(|| file.into());
    Ok((span, (!file.is_empty()).then_some(path)))
}

/// What came of packing. The warning comes first: the notice has one line.
fn packed_told(made: &Made) -> String {
    let told = match made.findings.is_empty() {
        true => tr!("packed into {told}", told = made.told()),
        false => tr!("packed, though it is not whole, into {told}", told = made.told()),
    };
    match made.secrets {
        0 => told,
        events => {
            tr!("events with what looks like a secret: {events}; look at them before it is handed on; {told}", events = events, told = told)
        }
    }
}

/// A bundle's name here that is not taken.
fn free_name(name: &str) -> PathBuf {
    let named = |n: u32| PathBuf::from(if n == 1 { format!("{name}{BUNDLE_SUFFIX}") } else { format!("{name}.{n}{BUNDLE_SUFFIX}") });
    (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1))
}

/// A longer list is not told in one line.
const WORDS_CELLS_MAX: usize = 60;

struct Compiled(Condition);

impl Probe for Compiled {
    fn holds(&self, envelope: &Envelope, state: &DashState) -> bool {
        self.0.matches(envelope, state)
    }

    fn asks_event(&self) -> bool {
        self.0.asks_event()
    }
}

struct Valued(Expression);

impl Gauge for Valued {
    fn value(&self, envelope: &Envelope, state: &DashState) -> Option<serde_json::Value> {
        self.0.value(envelope, state)
    }
}

/// The notice has one line: the place is said in words there, and needs no caret below it, and a list has a dialog of its own.
fn one_line(error: &CondError) -> String {
    let did_you_mean = |s: &Option<String>| s.as_ref().map_or_else(String::new, |s| tr!(" (did you mean `{name}`?)", name = s));
    match error {
        CondError::Unknown { name, suggestion, .. } => {
            let near = did_you_mean(suggestion);
            return tr!("the condition knows no `{name}`{near}; :break fields lists what it knows", name = name, near = near);
        }
        CondError::Word { name, word, suggestion, known } if known.len() > WORDS_CELLS_MAX => {
            let near = did_you_mean(suggestion);
            return tr!("`{name}` is never `{word}`{near}; :break fields lists them", name = name, word = word, near = near);
        }
        CondError::Long { .. }
        | CondError::Syntax { .. }
        | CondError::Word { .. }
        | CondError::Loops { .. }
        | CondError::NotBoolean { .. }
        | CondError::Types { .. }
        | CondError::Preset { .. } => {}
    }
    error.to_string().lines().take(2).map(str::trim).collect::<Vec<_>>().join("  ")
}

/// Starts a run that goes on from a recording. It is kept until the console has ended.
fn fork_live(path: &Path, wish: fork::Wish, config: &Config, forked: &Mutex<Option<ForkedRun>>) -> News {
    let run = match fork::fork(path, wish, config).and_then(|started| ForkedRun::watched(started, config)) {
        Ok(run) => run,
        Err(failure) => return News::NotForked(tr!("not forked: {reason}", reason = failure.message)),
    };
    let commands = (!config.profile.read_only).then(|| run.started.commands.clone());
    let source = Box::new(LiveSource::new(&run.started.hub, commands));
    let recording = run.started.recording.clone();
    *forked.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
    News::Forked(Forked { recording, source })
}

fn open(path: &Path) -> Result<RecordingSource, String> {
    let told = |reason: &dyn std::fmt::Display| format!("not opened: {reason}");
    let source = RecordingSource::open(path, MonotonicClock::start()).map_err(|e| told(&e))?;
    source.made_watchable().map_err(|e| told(&e))
}

fn opened(asked: Option<PathBuf>, path: &Path, mut source: RecordingSource, at: Option<OpenAt>) -> Opened {
    crate::source::Playback::set_playing(&mut source, false);
    Opened { asked, name: path.display().to_string(), source: Box::new(source), at }
}

/// Recordings by their headers, newest first. What is no recording is passed over.
fn catalogue<'a>(directories: impl Iterator<Item = &'a PathBuf>) -> Vec<Recorded> {
    let files = directories.filter_map(|d| std::fs::read_dir(d).ok()).flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<Recorded> = files.filter(|p| stem(p).is_some()).filter_map(recorded).collect();
    found.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| a.path.cmp(&b.path)));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

fn recorded(path: PathBuf) -> Option<Recorded> {
    let header = Recording::header_of(&path).ok()??;
    let begun = begun(&path);
    Some(Recorded {
        name: label(&path)?,
        path,
        started: header.started,
        agent: header.checkpoint.map(|c| c.id.0).or(begun),
        env: header.env.name,
        level: header.level,
        lanes: header.lanes,
    })
}

/// What its first event says of who plays; a training begins without a run.
fn begun(path: &Path) -> Option<String> {
    let mut recording = Recording::open_quickly(path).ok()?;
    let first = recording.events_from(Seq(1)).ok()?.next()?.ok()?;
    if let Event::RunStarted(e) = &first.event {
        return Some(e.agent.to_string());
    }
    let is_training = matches!(&first.event, Event::RunStateChanged(e) if &*e.reason == "training");
    is_training.then(|| "training".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EpisodeId, LaneId};

    fn crew(recordings: Option<PathBuf>, own: Option<PathBuf>) -> Crew {
        let config = crate::config::load(&crate::config::Sources::default()).unwrap();
        Crew::new(recordings, own, &config)
    }

    fn recordings() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
    }

    fn wait_for(crew: &mut Crew) -> News {
        loop {
            if let Some(news) = crew.news().pop() {
                return news;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_catalogue_has_recordings_newest_first_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["success", "failure", "healthy"] {
            std::fs::copy(recordings().join(format!("{name}.jsonl")), dir.path().join(format!("{name}.jsonl"))).unwrap();
        }
        std::fs::write(dir.path().join("notes.jsonl"), "{\"not\":\"ours\"}\n").unwrap();
        std::fs::write(dir.path().join("empty.jsonl"), "").unwrap();
        std::fs::create_dir(dir.path().join("folder.jsonl")).unwrap();
        let mut crew = crew(Some(dir.path().to_owned()), Some(dir.path().join("healthy.jsonl")));
        crew.ask(Ask::Catalogue).unwrap();
        let News::Catalogue(found) = wait_for(&mut crew) else { panic!() };
        assert_eq!(found.len(), 3);
        assert!(found.windows(2).all(|w| w[0].started >= w[1].started));
        let failure = found.iter().find(|r| r.name == "failure").unwrap();
        assert_eq!((failure.agent.as_deref(), failure.env.as_str()), (Some("deckhand-middle"), "ops"));
        assert!(found.iter().all(|r| r.agent.is_some()), "{found:?}");
    }

    #[test]
    fn what_can_not_be_opened_is_told_and_what_can_is_opened() {
        let mut crew = crew(None, None);
        assert!(crew.ask(Ask::Open { path: None, at: None }).unwrap_err().contains("not recorded"));
        crew.ask(Ask::Open { path: Some("/no/such.jsonl".into()), at: None }).unwrap();
        let News::Told(told) = wait_for(&mut crew) else { panic!() };
        assert!(told.contains("/no/such.jsonl"), "{told}");
        let at = Some(OpenAt::Episode(LaneId(0), EpisodeId(1)));
        crew.ask(Ask::Open { path: Some(recordings().join("failure.jsonl")), at }).unwrap();
        let News::Opened(mut opened) = wait_for(&mut crew) else { panic!() };
        assert_eq!(opened.at, at);
        assert!(opened.source.playback().is_some_and(|p| p.end() > Seq(0)));
    }

    #[test]
    fn the_run_that_is_looked_at_is_packed_and_it_is_said_where_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        let own = recordings().join("failure.jsonl");
        let mut crew = crew(None, Some(own.clone())).with_unpacked(Some(("b.bundle.zip".into(), recordings().join("shift.jsonl"))));
        let mut told = |recording: Option<&str>, words: &str, name: &str| {
            let file = dir.path().join(name);
            let argument = format!("{words} {}", file.display());
            crew.ask(Ask::Bundle { recording: recording.map(str::to_owned), argument: argument.trim().into() }).unwrap();
            let News::Told(told) = wait_for(&mut crew) else { panic!() };
            (told, file)
        };
        let (said, file) = told(None, "", "own.zip");
        assert!(said.starts_with("packed into ") && said.contains("events 1 to 81") && file.exists(), "{said}");
        let (said, _) = told(Some("b.bundle.zip"), "last 500ms", "part.zip");
        assert!(said.contains("a part of the recording: events 487 to 783"), "{said}");
        let (said, file) = told(Some(&own.display().to_string()), "", "own.zip");
        assert!(said.starts_with("not packed: ") && file.exists(), "{said}");
        let ask = |crew: &mut Crew, argument: &str| crew.ask(Ask::Bundle { recording: None, argument: argument.into() });
        assert!(free_name("no-such-name").ends_with("no-such-name.bundle.zip"));
        assert!(ask(&mut crew, "last ten").unwrap_err().contains("10m"));
        assert!(ask(&mut crew, "last").unwrap_err().contains("10m"));
        crew.own = None;
        assert!(ask(&mut crew, "").unwrap_err().contains("not recorded"));
    }

    #[test]
    fn a_recording_of_a_bundle_is_compared_and_opened_by_the_name_that_the_console_has_for_it() {
        let mut crew = crew(None, None).with_unpacked(Some(("b.bundle.zip".into(), recordings().join("shift.jsonl"))));
        let side = |file: &str, at: &str| diff::DiffSide { file: Some(file.into()), address: at.parse().ok() };
        let mut compared = |a, b| {
            crew.ask(Ask::Diff(diff::DiffAsk { a, b: Some(b) })).unwrap();
            let News::Diff(_, compared) = wait_for(&mut crew) else { panic!() };
            compared.unwrap()
        };
        let found = compared(side("b.bundle.zip", "1"), side("b.bundle.zip", "2")).unwrap();
        assert!(found.files.iter().all(|file| file.path == Path::new("b.bundle.zip")), "{:?}", found.files);
        assert!(compared(side("b.bundle.zip", "all"), side(&recordings().join("failure.jsonl").display().to_string(), "all")).is_ok());
        let error = compared(side("b.bundle.zip", "1"), side("b.bundle.zip", "99")).unwrap_err();
        assert!(error.contains("no episode 99 in b.bundle.zip"), "{error}");
        crew.ask(Ask::Open { path: Some("b.bundle.zip".into()), at: None }).unwrap();
        let News::Opened(opened) = wait_for(&mut crew) else { panic!() };
        assert_eq!(opened.name, "b.bundle.zip");
    }

    #[test]
    fn a_rule_file_gives_way_only_to_one_that_is_right_and_only_as_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.yaml");
        let (file, good) = (path.display().to_string(), "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up == 0\n");
        std::fs::write(&path, good).unwrap();
        let crew = crew(None, None);
        let NotPlaced::Wrong(told) = crew.place_rules(&file, good, &good.replace("up ==", "up =")).unwrap_err() else { panic!() };
        assert!(told.contains("rules.yaml:5:"), "{told}");
        let other = good.replace("== 0", "== 1");
        assert_eq!(crew.place_rules(&file, "what it was before", &other), Err(NotPlaced::Changed));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), good);
        crew.place_rules(&file, good, &other).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_dry_run_says_what_would_have_fired_on_the_recording_that_is_named() {
        let mut crew = crew(None, None);
        let recording = Some(recordings().join("success.jsonl").display().to_string());
        let ask = DryAsk { rule: Some("Watchdog".into()), recording, file: String::new() };
        crew.ask(Ask::DryRun(ask.clone())).unwrap();
        let News::DryRun(answered, found) = wait_for(&mut crew) else { panic!() };
        assert_eq!(answered, ask);
        let found = found.unwrap();
        assert!(found.alerts.iter().all(|alert| alert.rule.as_str() == "Watchdog"), "{found:?}");
        let nowhere = crew.ask(Ask::DryRun(DryAsk { recording: None, ..ask })).unwrap_err();
        assert!(nowhere.contains("not recorded"), "{nowhere}");
    }

    #[test]
    fn a_condition_is_asked_and_a_mistake_has_its_place() {
        let crew = crew(None, None);
        let probe = crew.compile("kind == 'TransitionRecorded' && reward < 0.9").unwrap();
        let mut recording = Recording::open(&recordings().join("failure.jsonl")).unwrap();
        let condition = Condition::compile("kind == 'TransitionRecorded' && reward < 0.9").unwrap();
        let mut state = DashState::default();
        let mut held = 0;
        for envelope in recording.events_from(Seq(1)).unwrap() {
            let envelope = envelope.unwrap();
            state.apply(&envelope).unwrap();
            assert_eq!(probe.holds(&envelope, &state), condition.matches(&envelope, &state));
            held += u32::from(probe.holds(&envelope, &state));
        }
        assert!(held > 0);
        let error = crew.compile("reward <").err().unwrap();
        assert!(error.contains("column") && !error.contains('\n'), "{error}");
        assert!(matches!(crew.watch("reward < 0.9"), Ok(Watched::Condition(_))));
        assert!(matches!(crew.watch("reward * 2.0"), Ok(Watched::Value(_))));
        // What its samples can't be worked out for is a value all the same.
        assert!(matches!(crew.watch("100 / step"), Ok(Watched::Value(_))));
        for condition in ["alert", "tool-error", "reward-below 0.5"] {
            assert!(matches!(crew.watch(condition), Ok(Watched::Condition(_))), "{condition}");
        }
        assert!(crew.watch("rewrad").err().unwrap().contains("did you mean `reward`"));
        let names = crew.condition_names();
        for name in ["reward", "kind", "tool.name", "run.reward_sum", "alert.severity"] {
            assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
        }
        // What is offered is also understood.
        for name in names {
            assert!(crew.compile(&format!("{name} == {name}")).is_ok(), "{name}");
        }
        assert!(crew.compile("rewrad < 0.1").err().unwrap().contains("did you mean `reward`"));
    }
}
