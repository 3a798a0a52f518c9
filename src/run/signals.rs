//! Signals that end a run in good order.

use super::bundle::Temporary;
use super::training_record::TrainingRecord;
use crate::event::{Command, CommandSender};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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

/// Removes what is not to outlive the process before the first SIGINT, SIGTERM or SIGHUP ends the process.
pub fn remove_on_signal() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            Temporary::remove_all();
            std::process::exit(128 + signal);
        }
    });
}

/// Ends a training's recording and the process on the first SIGINT, SIGTERM or SIGHUP. A training has stretches of many seconds without an
/// update, and whoever stops it may not wait that long.
pub fn end_training_on_signal(record: Arc<Mutex<TrainingRecord>>) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        // Held to the end, so that nothing comes behind the recording's last event.
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = format!("ended by signal {signal}");
        let told = match (record.end(&reason), record.path()) {
            (Ok(()), None) => reason,
            (Ok(()), Some(path)) => format!("{reason}; what was recorded is whole: {}", path.display()),
            (Err(error), _) => format!("{reason}; the training's recording is not whole: {error}"),
        };
        // The progress bar stands in a line that is not ended.
        if std::io::stderr().is_terminal() {
            super::exit::note("");
        }
        super::exit::note(format_args!("pilothouse: {told}"));
        std::process::exit(super::exit::Code::Failed as i32);
    });
}
