//! A program that is run for each message: arguments as they are, no shell, the message on its standard input.

use super::message::{Facts, message};
use super::{Deliver, Undelivered};
use crate::alert::pager::Page;
use crate::event::Clock;
use std::io::Write as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a program that runs is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct CommandPlan {
    pub argv: Vec<String>,
    /// All that it sees of an environment.
    pub env: Vec<(String, String)>,
}

pub struct Program {
    pub name: String,
    pub plan: CommandPlan,
    pub timeout: Duration,
    pub facts: Facts,
    pub clock: Arc<dyn Clock>,
    /// Set when the run has ended and waits no longer.
    pub left: Arc<AtomicBool>,
}

impl Deliver for Program {
    fn deliver(&mut self, pages: &[Page], _at_ms: i64) -> Result<String, Undelivered> {
        let body = message(pages, &self.name, &self.facts).to_string();
        let failed = |reason: String, again: bool| Undelivered { reason, again };
        let Some((program, arguments)) = self.plan.argv.split_first() else { return Err(failed("names no program".into(), false)) };
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.plan.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| failed(format!("{program} can't be run: {error}"), false))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that reads nothing is not waited for: the pipe breaks when it ends.
            std::thread::spawn(move || stdin.write_all(body.as_bytes()));
        }
        let status = self.wait(&mut child).map_err(|error| failed(format!("{program}: {error}"), false))?;
        match status {
            Some(status) if status.success() => Ok("exit 0".into()),
            Some(status) => Err(failed(format!("{program} ended with {status}"), true)),
            None if self.is_left() => Err(failed(format!("{program} had not ended when the run had, and was killed"), false)),
            None => Err(failed(format!("{program} did not end within {:?} and was killed", self.timeout), true)),
        }
    }
}

impl Program {
    fn is_left(&self) -> bool {
        self.left.load(Ordering::SeqCst)
    }

    /// How it ended; unset where it did not in time, and was killed with all that it began.
    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        let until_ns = self.clock.now_ns().saturating_add(u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX));
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.clock.now_ns() >= until_ns || self.is_left() {
                kill_group(child);
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // It has not been waited for, so its number is still its own.
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let killed = group.map(|group| kill_process_group(group, Signal::KILL));
    if !matches!(killed, Some(Ok(()))) {
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}
