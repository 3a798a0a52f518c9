//! Signals that end a run in good order.

use crate::event::{Command, CommandSender};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Shuts the engine down on the first SIGINT, SIGTERM or SIGHUP; the second one ends the process at once. The number that comes back is that of the
/// signal, 0 before one has come.
pub fn shut_down_on_signal(commands: CommandSender) -> Arc<AtomicI32> {
    let came = Arc::new(AtomicI32::new(0));
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return came };
    let tell = came.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if tell.swap(signal, Ordering::SeqCst) != 0 || commands.send(Command::Shutdown).is_err() {
                std::process::exit(128 + signal);
            }
        }
    });
    came
}
