//! From flags to configuration to the rooms of a run.

use super::alerts::{AlertThread, Wiring};
use super::cli::{ColorArg, GlobalArgs, RunArgs};
use super::exit::{Failure, note};
use super::provider::Provider;
use crate::agent::prompt::WindowSettings;
use crate::config::{Config, Dirs, Flag, Sources, load};
use crate::engine::{AgentKind, Engine, EngineSettings, Recital, RunFacts, window_of};
use crate::env::{self, BaselineKind, EnvSpec, Environment};
use crate::event::*;
use crate::journal::{FORMAT, Header, HeaderCheckpoint, HeaderEnv, Hub, Journal, Recorder, VERSION, is_taken};
use crate::model::DeviceChoice;
use crate::serve::{About, Server};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

/// This build, as headers and run facts name it.
pub const BUILD: &str = concat!("pilothouse ", env!("CARGO_PKG_VERSION"));
/// Inputs that wait for the engine.
const INBOX: usize = 256;

/// Reads the configuration from all its sources.
pub fn configuration(global: &GlobalArgs, run: Option<&RunArgs>) -> Result<Config, Failure> {
    let own = Dirs::from_process().ok().and_then(|d| d.config_file());
    let sources = Sources {
        file: global.config.clone().or(own),
        profile: global.profile.clone(),
        env: Default::default(),
        sets: global.sets.clone(),
        flags: flags(global, run),
    };
    load(&sources.with_process_env()).map_err(Failure::usage)
}

/// Flags that stand for a setting.
fn flags(global: &GlobalArgs, run: Option<&RunArgs>) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut add = |name: &'static str, path: &'static str, value: Option<String>| {
        flags.extend(value.map(|value| Flag { name, path, value }));
    };
    let color = global.color.map(|c| match c {
        ColorArg::Auto => "auto",
        ColorArg::Always => "always",
        ColorArg::Never => "never",
        ColorArg::Ansi16 => "ansi16",
        ColorArg::Ansi256 => "ansi256",
        ColorArg::Truecolor => "truecolor",
    });
    add("--color", "ui.color", color.map(str::to_owned));
    add("--ascii", "ui.ascii", global.ascii.then(|| "true".into()));
    add("--unicode", "ui.ascii", global.unicode.then(|| "false".into()));
    add("--theme", "ui.theme", global.theme.clone());
    add("--ambiguous-width", "ui.ambiguous_width", global.ambiguous_width.map(|n| n.to_string()));
    add("--lang", "ui.lang", global.lang.clone());
    add("--low-bandwidth", "ui.low_bandwidth", global.low_bandwidth.then(|| "true".into()));
    add("--no-mouse", "ui.mouse", global.no_mouse.then(|| "false".into()));
    let Some(run) = run else { return flags };
    add("--device", "run.device", run.device.clone());
    add("--env", "run.env", run.env.clone());
    add("--level", "run.level", run.level.map(|l| l.to_string()));
    add("--seed", "run.seed", run.seed.map(|s| s.to_string()));
    add("--lanes", "run.lanes", run.lanes.map(|n| n.to_string()));
    add("--agent", "run.agent", run.agent.clone());
    add("--checkpoint", "run.checkpoint", run.checkpoint.clone());
    add("--pace", "run.pace", run.pace.map(|p| p.to_string()));
    add("--max-steps", "run.max_steps", run.max_steps.map(|n| n.to_string()));
    add("--no-record", "record.enabled", run.no_record.then(|| "false".into()));
    add("--http", "serve.http", run.http.clone());
    add("--read-only", "profile.read_only", run.read_only.then(|| "true".into()));
    add("--scrape", "telemetry.scrape", (!run.scrape.is_empty()).then(|| crate::config::scrape_list(&run.scrape)));
    add("--rules", "alerts.rules", (!run.rules.is_empty()).then(|| crate::config::file_list(&run.rules)));
    flags
}

/// How this run differs from what the configuration says for all.
pub struct RunPlan {
    pub episodes_max: Option<u32>,
    pub pace: Pace,
    pub streams: bool,
    pub record: Option<PathBuf>,
    /// Whether somebody reads every event and is waited for.
    pub tapped: bool,
    /// Whether alert rules are evaluated.
    pub alerts: bool,
}

/// A recorded episode that a run begins with.
pub struct Beginning {
    pub recital: Recital,
    /// How its run was set up: so is this one.
    pub run: RunStarted,
    pub header: Header,
}

/// A run that was started: its thread, and how to see and reach it.
pub struct Started {
    pub hub: Hub,
    pub commands: CommandSender,
    pub recording: Option<PathBuf>,
    /// Every event from the first on, where the plan asks for it.
    pub tap: Option<Receiver<Arc<Envelope>>>,
    engine: Option<JoinHandle<()>>,
    /// `/metrics` and `/healthz`, where they are served.
    server: Option<Server>,
    alerts: Option<AlertThread>,
}

impl Started {
    /// Where `/metrics` is served, if anywhere.
    pub fn http(&self) -> Option<SocketAddr> {
        self.server.as_ref().map(Server::address)
    }

    /// Asks the engine to end and waits for it. The recording is whole afterwards.
    pub fn shut_down(mut self) {
        self.ask_to_end();
        self.join();
    }

    pub fn wait(mut self) {
        self.join();
    }

    fn ask_to_end(&self) {
        // An engine that has ended already takes no command.
        while self.commands.send(Command::Shutdown) == Err(SendError::Full) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    fn join(&mut self) {
        if let Some(Err(panic)) = self.engine.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
        // The engine has heard its last words.
        for words in self.alerts.take().map(AlertThread::end).unwrap_or_default() {
            note(format_args!("pilothouse: {words}"));
        }
    }
}

impl Drop for Started {
    /// Also when the screen panics: what was recorded is committed.
    fn drop(&mut self) {
        if self.engine.is_some() {
            // Nobody reads any more, so the engine need not wait for it.
            self.tap = None;
            self.ask_to_end();
            self.join();
        }
    }
}

/// Builds the rooms of a run and starts the engine.
pub fn start(config: &Config, plan: RunPlan, mut beginning: Option<Beginning>) -> Result<Started, Failure> {
    let environment = env::make(beginning.as_ref().map_or(&config.run.env, |b| &b.header.env.name)).map_err(Failure::usage)?;
    let device: DeviceChoice = config.run.device.parse().map_err(Failure::usage)?;
    let provider = Provider::new(device, config.run.agent.as_str(), environment.spec());
    let agent = match &mut beginning {
        Some(beginning) => {
            let with = &mut beginning.recital.with;
            with.checkpoint = with.checkpoint.take().map(|id| provider.choose(Some(&id))).transpose().map_err(Failure::usage)?;
            agent_of(beginning, &provider)?
        }
        None => agent(config, &provider)?,
    };
    let clock = MonotonicClock::start();
    let started = jiff::Timestamp::now().to_string();
    let run = RunId(ulid::Ulid::generate().to_string());
    let seed = config.run.seed.unwrap_or_else(|| Seed(ulid::Ulid::generate().random() as u64 & ((1 << 52) - 1)));
    let (run_id, began) = (run.0.clone(), started.clone());
    let facts = RunFacts { run, started, build: BUILD.into(), profile: config.profile_name.name().into() };
    let mut settings = EngineSettings {
        facts,
        agent,
        level: config.run.level,
        seed,
        lanes: config.run.lanes,
        episodes_max: plan.episodes_max,
        steps_max: config.run.max_steps,
        pace: plan.pace,
        streams: plan.streams,
        start_paused: false,
        pause_ns_max: config.profile.pause_seconds_max.map(|s| u64::from(s) * 1_000_000_000),
        temperature: config.agent.temperature,
        top_p: config.agent.top_p,
        message_tokens_max: config.agent.tokens_max,
        window: window(config),
        reward: config.reward.formula(),
    };
    if let Some(beginning) = &beginning {
        set_up_as(&mut settings, &beginning.run);
    }
    let header = header(config, &settings, environment.spec(), &provider);
    let interval = std::time::Duration::from_millis(u64::from(config.record.commit_interval_ms));
    let recorder = plan.record.as_deref().map(|path| Recorder::create(path, &header, interval)).transpose().map_err(Failure::usage)?;
    let recording = recorder.as_ref().map(|r| r.path().to_owned());
    let mut journal = Journal::new(clock.clone(), recorder);
    let tap = plan.tapped.then(|| journal.tap());
    let hub = journal.hub();
    let (commands, inbox) = inbox(INBOX);
    // A run that goes on from a recording may stand beside another of this process, which has the address.
    let listen = config.serve.http.filter(|_| beginning.is_none());
    let server = listen.map(|listen| serve(listen.0.0, &hub, config, &commands)).transpose()?;
    let wake = commands.with_origin(Origin::Internal);
    let (alerts, last_words) = if plan.alerts {
        let (hub, recording) = (hub.clone(), recording.clone());
        let wiring = Wiring { hub, commands: wake.clone(), clock: clock.clone(), run: run_id, started: began, recording };
        let (thread, last_words) = super::alerts::start(config, wiring)?;
        (Some(thread), Some(last_words))
    } else {
        (None, None)
    };
    let spawned = std::thread::Builder::new().name("engine".into()).spawn(move || {
        let mut engine = Engine::new(settings, environment.as_ref(), journal, inbox, wake, Arc::new(provider), clock);
        if let Some(last_words) = last_words {
            engine.hear_at_the_end(last_words);
        }
        if let Some(beginning) = beginning {
            engine.begin_with(beginning.recital);
        }
        engine.run();
    });
    Ok(Started { hub, commands, recording, tap, engine: Some(spawned.map_err(Failure::failed)?), alerts, server })
}

/// Serves the run's series, and says where: the port may be a free one.
fn serve(listen: SocketAddr, hub: &Hub, config: &Config, commands: &CommandSender) -> Result<Server, Failure> {
    let about = About { build: BUILD.into(), config_sha256: config.sha256() };
    let server = Server::start(listen, hub, about).map_err(Failure::usage)?;
    let text = SafeText::from(format!("/metrics and /healthz are served on http://{}", server.address()));
    // The inbox is empty yet.
    let _ = commands.fact(LogLine { level: LogLevel::Info, target: SafeText::new("serve"), text });
    Ok(server)
}

pub fn window(config: &Config) -> WindowSettings {
    WindowSettings {
        window_steps: config.agent.window_steps as usize,
        keep_steps: config.agent.keep_steps as usize,
        ..WindowSettings::default()
    }
}

/// The agent of a recorded run: the very weights that decided in it.
fn agent_of(beginning: &Beginning, provider: &Provider) -> Result<AgentKind, Failure> {
    let Some(recorded) = &beginning.header.checkpoint else {
        return match beginning.run.agent.as_str() {
            "heuristic" => Ok(AgentKind::Baseline(BaselineKind::Heuristic)),
            "random" => Ok(AgentKind::Baseline(BaselineKind::Random)),
            "oracle" => Ok(AgentKind::Oracle),
            other => Err(Failure::usage(format!("the recording's agent, {other}, is none that can go on here"))),
        };
    };
    let known = crate::engine::PolicyProvider::list(provider);
    if known.iter().any(|c| c.checkpoint == recorded.id && c.sha256 == recorded.sha256) {
        return Ok(AgentKind::Model(recorded.id.clone()));
    }
    let wanted = format!("{} (sha256 {})", recorded.id, &recorded.sha256[..recorded.sha256.len().min(12)]);
    Err(Failure::usage(format!("the recording's checkpoint, {wanted}, is not here; name its directory by --set run.agent=DIR")))
}

/// Decides, rewards and ends as a recorded run did.
fn set_up_as(settings: &mut EngineSettings, run: &RunStarted) {
    (settings.level, settings.seed, settings.reward) = (run.level, run.seed, run.reward);
    (settings.lanes, settings.steps_max) = (1, Some(run.max_steps));
    if let Some(decoding) = &run.decoding {
        (settings.temperature, settings.top_p) = (decoding.temperature, decoding.top_p);
        (settings.message_tokens_max, settings.window) = (decoding.tokens_max, window_of(decoding));
    }
}

fn agent(config: &Config, provider: &Provider) -> Result<AgentKind, Failure> {
    Ok(match config.run.agent.as_str() {
        "heuristic" => AgentKind::Baseline(BaselineKind::Heuristic),
        "random" => AgentKind::Baseline(BaselineKind::Random),
        "oracle" => AgentKind::Oracle,
        "builtin" => AgentKind::Model(provider.choose(config.run.checkpoint.as_ref()).map_err(Failure::usage)?),
        _ => AgentKind::Model(provider.choose(None).map_err(Failure::usage)?),
    })
}

fn header(config: &Config, settings: &EngineSettings, spec: &EnvSpec, provider: &Provider) -> Header {
    let checkpoint = match &settings.agent {
        AgentKind::Model(id) => {
            let listed = crate::engine::PolicyProvider::list(provider).into_iter().find(|c| c.checkpoint == *id);
            listed.map(|c| HeaderCheckpoint { id: c.checkpoint, sha256: c.sha256 })
        }
        AgentKind::Baseline(_) | AgentKind::Oracle => None,
    };
    Header {
        fmt: FORMAT.into(),
        v: VERSION,
        id: settings.facts.run.clone(),
        started: settings.facts.started.clone(),
        build: BUILD.into(),
        env: HeaderEnv { name: spec.name.clone(), version: spec.version.clone(), params_sha256: spec.params_sha256.clone() },
        level: settings.level,
        seed: settings.seed,
        config_sha256: config.sha256(),
        checkpoint,
        lanes: settings.lanes,
        redaction: "v1".into(),
        cpu: cpu_features(),
    }
}

pub fn cpu_features() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    {
        let found = [
            ("avx2", is_x86_feature_detected!("avx2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
        ];
        found.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        vec![std::env::consts::ARCH.to_owned()]
    }
}

/// Where a recording goes: to the file that is named, else to a new one, unless none is wanted.
pub fn record_to(named: Option<&Path>, off: bool, config: &Config) -> Result<Option<PathBuf>, Failure> {
    match (named, config.record.enabled && !off) {
        (Some(path), _) => Ok(Some(path.to_owned())),
        (None, true) => recording_path(config).map(Some),
        (None, false) => Ok(None),
    }
}

/// A new file in the recordings' directory, named by the time and the process.
fn recording_path(config: &Config) -> Result<PathBuf, Failure> {
    let directory = match &config.record.directory {
        Some(directory) => directory.clone(),
        None => Dirs::from_process().map_err(Failure::usage)?.state.join("recordings"),
    };
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    // Consoles that start in the same second must not meet: the name of each has its process in it.
    let own = format!("{now}-{}", std::process::id());
    let free = |n: u32| directory.join(if n == 0 { format!("{own}.jsonl") } else { format!("{own}-{n}.jsonl") });
    Ok((0..1000).map(free).find(|p| !is_taken(p)).unwrap_or_else(|| free(1000)))
}

/// The environment that a recording is of.
pub fn environment(name: &str) -> Result<Box<dyn Environment>, Failure> {
    env::make(name).map_err(Failure::usage)
}
