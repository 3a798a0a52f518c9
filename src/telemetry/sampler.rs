//! The thread that samples.

use super::outlet::Outlet;
use super::{GpuLibrary, GpuReader, HostReader, ScrapeTarget, Scraper};
use crate::event::{Clock, CommandSender, GpuStatus, SafeText, TelemetrySampled};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The second sample comes this soon: the first can't have rates.
const SECOND_AFTER: Duration = Duration::from_millis(250);
/// How long a stop waits for a driver that hangs before it leaves the thread behind.
const STOP_WITHIN: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
pub struct SamplerSettings {
    /// Between two samples.
    pub interval: Duration,
    /// Path of NVML; `None` looks where drivers put it.
    pub nvml_library: Option<PathBuf>,
    /// A path on the file system to watch.
    pub disk_of: Option<PathBuf>,
    /// Other processes whose metrics are asked for.
    pub targets: Vec<ScrapeTarget>,
}

/// The running thread. Dropping it stops it too.
pub struct Sampler {
    stop: Option<SyncSender<()>>,
    /// Closes when the thread has ended.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    /// Unset where nothing is scraped. It stops when it is dropped.
    scraper: Option<Scraper>,
}

impl Sampler {
    /// Starts to send samples to the engine: one at once, one soon after, then one each interval.
    pub fn start(settings: SamplerSettings, clock: Arc<dyn Clock>, commands: CommandSender) -> std::io::Result<Self> {
        let targets = settings.targets.clone();
        let scraper = if targets.is_empty() { None } else { Some(Scraper::start(targets, commands.clone())?) };
        let (stop, stopped) = sync_channel(1);
        let (ends, ended) = sync_channel(1);
        let thread = std::thread::Builder::new().name("telemetry".into()).spawn(move || {
            sample_until_stopped(&settings, clock.as_ref(), &commands, &stopped);
            drop(ends);
        })?;
        Ok(Self { stop: Some(stop), ended, thread: Some(thread), scraper })
    }

    /// Stops the thread and waits for its end, though not for a driver that hangs.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop = None;
        self.scraper = None;
        let Some(thread) = self.thread.take() else { return };
        match self.ended.recv_timeout(STOP_WITHIN) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                // A panic of the thread was reported where it happened; the run goes on without samples.
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}

fn sample_until_stopped(settings: &SamplerSettings, clock: &dyn Clock, commands: &CommandSender, stopped: &Receiver<()>) {
    let mut host = HostReader::new(settings.disk_of.clone());
    let mut outlet = Outlet::new(commands, "telemetry");
    // Drivers that must wake a GPU take seconds to load; the host does not wait for them.
    let first = TelemetrySampled { host: host.sample(clock.now_ns()), gpu: unavailable("the driver is being asked") };
    if outlet.send(first).is_err() {
        return;
    }
    let library = GpuLibrary::load(settings.nvml_library.as_deref());
    let mut gpu = library.as_ref().map(GpuLibrary::reader).map_err(SafeText::clone);
    let mut pause = SECOND_AFTER.min(settings.interval);
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(pause) {
        let sample = TelemetrySampled { host: host.sample(clock.now_ns()), gpu: gpu_status(&mut gpu, clock.now_ns()) };
        if outlet.send(sample).is_err() {
            return;
        }
        pause = settings.interval;
    }
}

fn gpu_status(gpu: &mut Result<GpuReader<'_>, SafeText>, now_ns: u64) -> GpuStatus {
    match gpu {
        Ok(reader) => reader.sample(now_ns),
        Err(reason) => GpuStatus::Unavailable { reason: reason.clone() },
    }
}

fn unavailable(reason: &str) -> GpuStatus {
    GpuStatus::Unavailable { reason: SafeText::new(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Inbox, Input, MonotonicClock, inbox};

    fn settings() -> SamplerSettings {
        SamplerSettings {
            interval: Duration::from_millis(20),
            nvml_library: Some("/nowhere/libnvidia-ml.so.1".into()),
            disk_of: Some(std::env::temp_dir()),
            targets: Vec::new(),
        }
    }

    fn fact(inbox: &Inbox) -> Event {
        match inbox.wait(Duration::from_secs(30)) {
            Some(Input::Fact(event)) => *event,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn samples_come_until_it_is_stopped() {
        let (commands, inbox) = inbox(64);
        let sampler = Sampler::start(settings(), MonotonicClock::start(), commands).unwrap();
        let Event::TelemetrySampled(first) = fact(&inbox) else { panic!() };
        assert!(first.host.memory_total_bytes.is_some() && first.host.disk.is_some());
        let Event::TelemetrySampled(second) = fact(&inbox) else { panic!() };
        let GpuStatus::Unavailable { reason } = second.gpu else { panic!() };
        assert!(reason.contains("does not exist"), "{reason}");
        sampler.stop();
        while inbox.try_next().is_some() {}
        // The thread has ended and its sender with it; nothing can come any more.
        assert!(inbox.wait(Duration::from_millis(60)).is_none());
    }

    #[test]
    fn a_closed_engine_ends_the_thread() {
        let (commands, inbox) = inbox(1);
        drop(inbox);
        let sampler = Sampler::start(settings(), MonotonicClock::start(), commands).unwrap();
        assert_eq!(sampler.ended.recv_timeout(Duration::from_secs(30)), Err(RecvTimeoutError::Disconnected));
    }
}
