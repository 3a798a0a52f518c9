//! Bytes to a terminal that may take none: a write waits, but not for ever once the program is asked to end.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The signal that asked the program to end; 0 for none.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);
/// Longest time until a signal is noticed, in milliseconds.
const LOOK_MS: u64 = 50;
/// How long a terminal may take for what is written after the end was asked for.
const LAST: Duration = Duration::from_millis(200);

/// From now on no write waits any longer.
pub fn end(signal: i32) {
    ENDED_BY.store(signal, Ordering::SeqCst);
}

/// The signal that asked for the end.
pub fn ended_by() -> Option<i32> {
    Some(ENDED_BY.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

/// Standard output or error, as the terminal that it is. It is opened a second time, for only then can it be written to without waiting
/// while the shell's own descriptor stays as it is.
pub struct Output {
    own: Option<File>,
    /// Where it can't be opened again.
    shared: fn(&[u8]) -> io::Result<usize>,
    /// When it gives up whatever happens.
    until: Option<Instant>,
}

impl Output {
    pub fn stdout() -> Self {
        Self { own: again(io::stdout()), shared: |bytes| io::stdout().write(bytes), until: None }
    }

    pub fn stderr() -> Self {
        Self { own: again(io::stderr()), shared: |bytes| io::stderr().write(bytes), until: None }
    }

    /// For a last word: it gives up soon.
    pub fn briefly(self) -> Self {
        Self { until: Some(Instant::now() + LAST), ..self }
    }

    /// Waits until the terminal takes something; an error where it is time to give up.
    fn wait(&self, file: &File) -> io::Result<()> {
        let mut fds = [PollFd::new(file, PollFlags::OUT)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: (LOOK_MS * 1_000_000) as i64 };
        let ready = match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => ready > 0,
            Err(rustix::io::Errno::INTR) => false,
            Err(error) => return Err(error.into()),
        };
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        if is_late || !ready && self.until.is_none() && ended_by().is_some() {
            return Err(io::Error::new(ErrorKind::TimedOut, "it takes nothing any more"));
        }
        Ok(())
    }
}

fn again(stream: impl AsFd) -> Option<File> {
    let name = rustix::termios::ttyname(stream, Vec::new()).ok()?;
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(name, flags, Mode::empty()).ok().map(File::from)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(mut file) = self.own.as_ref() else { return (self.shared)(bytes) };
        loop {
            match file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(file)?,
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
