//! Signals that end a run in good order.

use crate::event::{Command, CommandSender};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Shuts the engine down on the first SIGINT, SIGTERM or SIGHUP; the second one ends the process at once.
pub fn shut_down_on_signal(commands: CommandSender) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        for (count, signal) in signals.forever().enumerate() {
            if count > 0 || commands.send(Command::Shutdown).is_err() {
                std::process::exit(128 + signal);
            }
        }
    });
}
