//! The command line, declared once: `--help`, the man page and the completions all come from here.

use crate::event::{Level, Pace};
use crate::ui::theme::{AUTO, BUILT_IN};
use crate::ui::view::ScreenId;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Terminal ops console for agentic reinforcement learning.
///
/// Without a command: `run`, the live console on the built-in agent in the ops simulator, recorded.
#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, about, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Cmd>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// Printed under the help.
pub const EXIT_CODES: &str = "Exit codes: 0 holds, 1 failed, 2 usage or configuration, 3 verification differs, 4 partial input.";

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
pub struct GlobalArgs {
    /// Configuration file: a patch over the defaults (RON)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global")]
    pub config: Option<PathBuf>,
    /// Profile: a set of defaults that fits the place
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global")]
    pub profile: Option<String>,
    /// Set one value of the configuration, such as `agent.temperature=0.7`; may be repeated
    #[arg(long = "set", global = true, value_name = "SECTION.FIELD=VALUE", help_heading = "Global")]
    pub sets: Vec<String>,
    /// When to use colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", help_heading = "Global")]
    pub color: Option<ColorArg>,
    /// Draw with ASCII alone
    #[arg(long, global = true, help_heading = "Global")]
    pub ascii: bool,
    /// Draw with Unicode, whatever the locale says
    #[arg(long, global = true, conflicts_with = "ascii", help_heading = "Global")]
    pub unicode: bool,
    /// Theme: auto, dark, light, high-contrast, colour-blind, system, or a file
    #[arg(long, global = true, value_name = "NAME|FILE", value_parser = ThemeName, hide_possible_values = true, help_heading = "Global")]
    pub theme: Option<String>,
    /// Columns of characters whose width is ambiguous: 2 in CJK locales; else the terminal is asked
    #[arg(long, global = true, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2), help_heading = "Global")]
    pub ambiguous_width: Option<u8>,
    /// Language of the screen: en or zh-CN
    #[arg(long, global = true, value_name = "LANG", value_parser = [PossibleValue::new("en"), PossibleValue::new("zh-CN").alias("zh")], help_heading = "Global")]
    pub lang: Option<String>,
    /// Fewer bytes a second, for slow links
    #[arg(long, global = true, help_heading = "Global")]
    pub low_bandwidth: bool,
    /// Leave the mouse to the terminal
    #[arg(long, global = true, help_heading = "Global")]
    pub no_mouse: bool,
}

/// Any name or file; completions offer the built-in themes.
#[derive(Clone)]
struct ThemeName;

impl TypedValueParser for ThemeName {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new([AUTO].into_iter().chain(BUILT_IN.iter().map(|(name, _)| *name)).map(PossibleValue::new)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    Auto,
    Always,
    Never,
    #[value(name = "16")]
    Ansi16,
    #[value(name = "256")]
    Ansi256,
    Truecolor,
}

#[derive(Debug, Subcommand)]
pub enum Cmd {
    /// Run the agent: the live console, or headless
    Run(RunArgs),
    /// Open a recording: the console on it, its transcript, its events, or its verification
    Replay(ReplayArgs),
    /// List recordings, keep or remove them
    #[command(args_conflicts_with_subcommands = true)]
    Recordings(RecordingsArgs),
    /// Pack a recording that has ended: NAME.jsonl becomes NAME.jsonl.zst
    Seal(SealArgs),
    /// Compare two episodes, branches or recordings: where they part, and what it cost
    #[command(after_help = DIFF_CODES)]
    Diff(DiffArgs),
    /// Pack what an incident needs into one redacted file, which `replay` opens on another machine
    Bundle(BundleArgs),
    /// Train an agent
    #[command(subcommand)]
    Train(TrainCmd),
    /// Evaluate agents on held-out seeds
    Eval(EvalArgs),
    /// Alert rules, as Prometheus reads them
    #[command(subcommand)]
    Rules(RulesCmd),
    /// Check or show the configuration
    #[command(subcommand)]
    Config(ConfigCmd),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete in
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Flags of `run`.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct RunArgs {
    /// No screen: one line an episode and a summary
    #[arg(long)]
    pub headless: bool,
    /// Where the model runs: auto, cpu, or cuda:N
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// The environment
    #[arg(long, value_name = "NAME")]
    pub env: Option<String>,
    /// How hard the environment is: L0 to L3
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<Level>,
    /// Seed of the run; the same seed gives the same events
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Episodes that run side by side, decoded as one batch
    #[arg(long, value_name = "N")]
    pub lanes: Option<u32>,
    /// Who decides: builtin, heuristic, random, oracle, or a checkpoint directory
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// The built-in checkpoint to begin with
    #[arg(long, value_name = "ID")]
    pub checkpoint: Option<String>,
    /// Write the recording to this file, which must not exist yet
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub record: Option<PathBuf>,
    /// Keep no recording
    #[arg(long)]
    pub no_record: bool,
    /// Speed: `max`, or a factor of about one decision a second
    #[arg(long, value_name = "PACE")]
    pub pace: Option<Pace>,
    /// End after this many episodes (headless: 1 unless given)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub episodes: Option<u32>,
    /// Cut episodes after this many decisions
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u32>,
    /// Print the events as JSON Lines; implies --headless
    #[arg(long)]
    pub json: bool,
    /// Watch only: no key changes the run
    #[arg(long)]
    pub read_only: bool,
    /// Serve /metrics and /healthz: IP:PORT, or a port of the loopback; 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Rule files, as Prometheus reads them, instead of the rules that come with the program; may be repeated
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Ask this endpoint for its metrics beside the run, instead of those of the configuration; PRESET is vllm, sglang, dcgm, ray, prime-rl or node,
    /// and without one all samples are kept; may be repeated
    #[arg(long, value_name = "[PRESET=]URL")]
    pub scrape: Vec<String>,
}

/// What is asked of rules.
#[derive(Debug, Subcommand)]
pub enum RulesCmd {
    /// Check rule files, with promtool's verdict
    Check(RulesCheckArgs),
    /// Run promtool's unit tests of rules, with its verdict
    Test(RulesTestArgs),
    /// Which alerts would have fired in a recording: when, where, how long
    Eval(RulesEvalArgs),
}

/// Flags of `rules check`.
#[derive(Clone, Debug, Args)]
pub struct RulesCheckArgs {
    /// Rule files; `-` is the standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// What is remarked on beside errors: rules of one name and the same labels
    #[arg(long, value_enum, value_name = "CHECKS", default_value = "duplicate-rules")]
    pub lint: LintArg,
    /// Exit with code 3 where there is such a remark
    #[arg(long)]
    pub lint_fatal: bool,
    /// Print JSON Lines: a record a file
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintArg {
    All,
    DuplicateRules,
    None,
}

/// Flags of `rules test`.
#[derive(Clone, Debug, Args)]
pub struct RulesTestArgs {
    /// Files of unit tests
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Run only tests whose name matches
    #[arg(long, value_name = "REGEX")]
    pub run: Option<String>,
    /// Compare only labels and annotations that a test names
    #[arg(long)]
    pub partial: bool,
    /// Say which alerting rules no test sees fire, and which none sees not fire
    #[arg(long)]
    pub coverage: bool,
    /// Write the outcome of each test to this file, as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print JSON Lines: a record a failure, and one a file
    #[arg(long)]
    pub json: bool,
}

/// Flags of `rules eval`.
#[derive(Clone, Debug, Args)]
pub struct RulesEvalArgs {
    /// The rule file
    pub file: PathBuf,
    /// The recording, sealed or not, or a bundle
    #[arg(long, value_name = "FILE")]
    pub recording: PathBuf,
    /// Time between two evaluations of groups that name none, such as 5s
    #[arg(long, value_name = "DURATION")]
    pub step: Option<String>,
    /// Print JSON Lines: a record an alert, one a rule that said nothing, and a summary
    #[arg(long)]
    pub json: bool,
}

/// Flags of `replay`.
#[derive(Clone, Debug, Args)]
pub struct ReplayArgs {
    /// The recording; `sample` is one that came with the program
    pub file: PathBuf,
    /// No screen: print the transcript
    #[arg(long)]
    pub headless: bool,
    /// Print the events as JSON Lines; implies --headless
    #[arg(long)]
    pub json: bool,
    /// Speed of the playback: `max`, or a factor of the recorded time
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<Pace>,
    /// Begin at this step: `[lane:]episode/step`, a step of the first episode, or `@seq`
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,
    /// End at the first event for which this condition (CEL) holds, such as `reward < 0.2`
    #[arg(long, value_name = "CEL")]
    pub until: Option<String>,
    /// Simulate it again from its seeds and compare exactly: `sim`, or `policy` to run the model again too
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "sim")]
    pub verify: Option<VerifyArg>,
    /// Where the recording's checkpoint is, for `--verify=policy`; else it is looked for by its name
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<String>,
    /// Write a picture of the console to this file (.svg, .png, .txt or .ans) and end
    #[arg(long, value_name = "FILE")]
    pub shot: Option<PathBuf>,
    /// Size of the picture in columns and rows
    #[arg(long, value_name = "COLSxROWS", default_value = "120x36")]
    pub size: String,
    /// The screen of the picture
    #[arg(long, value_enum, value_name = "SCREEN", default_value = "replay")]
    pub screen: ScreenArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScreenArg {
    Live,
    Replay,
    Checkpoints,
    Alerts,
    Training,
    Memory,
    Log,
    Diff,
}

impl From<ScreenArg> for ScreenId {
    fn from(screen: ScreenArg) -> Self {
        match screen {
            ScreenArg::Live => ScreenId::Live,
            ScreenArg::Replay => ScreenId::Replay,
            ScreenArg::Checkpoints => ScreenId::Checkpoints,
            ScreenArg::Alerts => ScreenId::Alerts,
            ScreenArg::Training => ScreenId::Training,
            ScreenArg::Memory => ScreenId::Memory,
            ScreenArg::Log => ScreenId::Log,
            ScreenArg::Diff => ScreenId::Diff,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerifyArg {
    Sim,
    Policy,
}

#[derive(Debug, Subcommand)]
pub enum TrainCmd {
    /// Clone the runbook, thoughts included, then let it correct the student (DAgger)
    Bc(TrainBcArgs),
}

#[derive(Clone, Debug, Args)]
pub struct TrainBcArgs {
    /// The environment
    #[arg(long, value_name = "NAME", default_value = "ops")]
    pub env: String,
    /// Seed of the training: the same command makes the same checkpoints
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Cloning steps before DAgger
    #[arg(long, value_name = "N")]
    pub steps: Option<u32>,
    /// Where the checkpoint directories are made
    #[arg(long, value_name = "DIR", default_value = "checkpoints")]
    pub out: PathBuf,
    /// Write the recording to this file, which must not exist yet
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub record: Option<PathBuf>,
    /// Keep no recording
    #[arg(long)]
    pub no_record: bool,
    /// Print `UpdateCompleted` as JSON Lines
    #[arg(long)]
    pub json: bool,
}

/// Flags of `recordings`.
#[derive(Clone, Debug, Args)]
pub struct RecordingsArgs {
    #[command(subcommand)]
    pub command: Option<RecordingsCmd>,
    #[command(flatten)]
    pub ls: RecordingsLsArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum RecordingsCmd {
    /// List recordings by their headers and their ends, newest first
    Ls(RecordingsLsArgs),
    /// Remove the recordings to which all of the flags apply; says what it would remove, and removes it with --yes
    Prune(RecordingsPruneArgs),
    /// Keep a recording from being pruned
    Pin {
        /// The recording
        file: PathBuf,
    },
    /// Let a recording be pruned again
    Unpin {
        /// The recording
        file: PathBuf,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub struct RecordingsLsArgs {
    /// Where recordings are; else where runs are recorded to
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Only those for which this condition (CEL) holds, such as `env == 'ops' && events > 1000`
    #[arg(long, value_name = "CEL")]
    pub filter: Option<String>,
    /// Order: the newest, the largest, the longest first, or by name
    #[arg(long, value_enum, value_name = "ORDER", default_value = "started")]
    pub sort: RecordingsOrder,
    /// Print JSON Lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RecordingsOrder {
    #[default]
    Started,
    Name,
    Bytes,
    Events,
    Seconds,
}

#[derive(Clone, Debug, Args)]
pub struct RecordingsPruneArgs {
    /// Only those that were started more than so many days ago
    #[arg(long, value_name = "DAYS")]
    pub older_than: Option<f64>,
    /// Only the oldest ones, behind so many megabytes of newer ones
    #[arg(long, value_name = "MB")]
    pub keep_mb: Option<u64>,
    /// Only those for which this condition (CEL) holds
    #[arg(long, value_name = "CEL")]
    pub filter: Option<String>,
    /// Where recordings are; else where runs are recorded to
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Remove them
    #[arg(long)]
    pub yes: bool,
    /// Print JSON Lines
    #[arg(long)]
    pub json: bool,
}

/// Flags of `seal`.
#[derive(Clone, Debug, Args)]
pub struct SealArgs {
    /// The recordings
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print JSON Lines
    #[arg(long)]
    pub json: bool,
}

/// Printed under the help of `diff`.
pub const DIFF_CODES: &str =
    "Exit codes: 0 nothing differs, 2 usage, 3 something differs, 4 damaged or unfinished input of which what was read is the same.";

/// Flags of `diff`.
#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    /// A recording, or an episode of one
    #[arg(value_name = "FILE[#[LANE:]EPISODE]")]
    pub a: String,
    /// What it is compared with; [LANE:]EPISODE alone is of the same file; without it, a branch is compared with what it goes on from
    #[arg(value_name = "FILE[#[LANE:]EPISODE]")]
    pub b: Option<String>,
    /// Show all steps, and all pairs of episodes
    #[arg(long)]
    pub all: bool,
    /// Steps to show before and behind the first that differs
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub around: usize,
    /// Print JSON Lines: all that differs, with --all also what does not
    #[arg(long)]
    pub json: bool,
}

/// Flags of `bundle`.
#[derive(Clone, Debug, Args)]
pub struct BundleArgs {
    /// The recording, which may still be written; else the newest one of the state directory
    pub recording: Option<PathBuf>,
    /// Only so much of the run before its end, such as 10m, 90s or 1h30m
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub last: Option<String>,
    /// Only from this step on: `[lane:]episode/step`, a step of the first episode, or `@seq`
    #[arg(long, value_name = "STEP", conflicts_with = "last")]
    pub from: Option<String>,
    /// Write the bundle to this file, which must not exist yet; else to NAME.bundle.zip here
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Flags of `eval`.
#[derive(Clone, Debug, Args)]
pub struct EvalArgs {
    /// Agents: built-in checkpoints by id, checkpoint directories, heuristic, random, oracle; two or more are compared seed by seed
    #[arg(required = true, value_name = "AGENT")]
    pub agents: Vec<String>,
    /// The environment
    #[arg(long, value_name = "NAME", default_value = "ops")]
    pub env: String,
    /// Levels to evaluate at; may be repeated
    #[arg(long = "level", value_name = "LEVEL")]
    pub levels: Vec<Level>,
    /// Held-out seeds, the second not included
    #[arg(long, value_name = "A..B", conflicts_with = "episodes")]
    pub seeds: Option<String>,
    /// How many held-out seeds, from 0 on
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub episodes: u32,
    /// Print `EvaluationCompleted` as JSON Lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCmd {
    /// Read the configuration and say what is wrong with it
    Check,
    /// Print each value
    Show {
        /// Also where each value came from
        #[arg(long)]
        origin: bool,
        /// Print JSON Lines
        #[arg(long)]
        json: bool,
    },
}
