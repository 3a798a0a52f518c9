//! Duty: one file a subcommand; builds the rooms and joins them. Nobody imports it.
//! May import: everything.
//! Emits: exit codes, text and JSON.
//! Accepts: argv.
//! Test: `cargo test --test cli`.

mod alerts;
mod backstage;
mod bench;
mod bundle;
mod cli;
mod config;
mod diff;
mod dry_run;
mod eval;
mod exit;
mod fork;
mod join;
mod junit;
mod live;
mod provider;
mod recordings;
mod replay;
mod rule_files;
mod rules_check;
mod rules_eval;
mod rules_test;
mod sampling;
mod screen;
mod signals;
mod train;
mod training_record;
mod transcript;

use clap::{CommandFactory, Parser};
use cli::{Cli, Cmd, RulesCmd, RunArgs, TrainCmd};
use exit::{Code, Failure, Outcome};
use std::io::Write;
use std::process::ExitCode;

/// Reads argv, runs the command, and gives its exit code. Errors go to stderr.
pub fn main() -> ExitCode {
    // A file that may not grow is an error of the write, which is told, and not the end of the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    let cli = Cli::parse();
    let outcome = dispatch(cli);
    bundle::Temporary::remove_all();
    match outcome {
        Ok(code) => ExitCode::from(code as u8),
        Err(failure) => {
            if !failure.message.is_empty() {
                exit::note(format_args!("pilothouse: {}", failure.message));
            }
            ExitCode::from(failure.code as u8)
        }
    }
}

fn dispatch(cli: Cli) -> Outcome {
    // Global flags may stand before a command; those of `run` would be ignored there.
    if cli.command.is_some() && cli.run != RunArgs::default() {
        return Err(Failure::usage("flags of `run` stand before another command; put them behind `run`"));
    }
    match cli.command {
        Some(Cmd::Train(TrainCmd::Bc(args))) => train::bc(&args, &cli.global),
        Some(Cmd::Eval(args)) => eval::run(&args, &cli.global),
        Some(Cmd::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pilothouse", &mut script);
            put(&script)
        }
        Some(Cmd::Man) => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(Failure::failed)?;
            put(&page)
        }
        Some(Cmd::Run(args)) => live::run(&args, &cli.global),
        Some(Cmd::Replay(args)) => replay::replay(&args, &cli.global),
        Some(Cmd::Recordings(args)) => recordings::run(&args, &cli.global),
        Some(Cmd::Bundle(args)) => bundle::run(&args, &cli.global),
        Some(Cmd::Seal(args)) => recordings::seal_all(&args),
        Some(Cmd::Diff(args)) => diff::diff(&args),
        Some(Cmd::Rules(RulesCmd::Check(args))) => rules_check::run(&args),
        Some(Cmd::Rules(RulesCmd::Test(args))) => rules_test::run(&args),
        Some(Cmd::Rules(RulesCmd::Eval(args))) => rules_eval::run(&args, &cli.global),
        Some(Cmd::Config(command)) => config::run(&command, &cli.global),
        None => live::run(&cli.run, &cli.global),
    }
}

fn put(bytes: &[u8]) -> Outcome {
    std::io::stdout().write_all(bytes).map_err(exit::unwritten)?;
    Ok(Code::Holds)
}
