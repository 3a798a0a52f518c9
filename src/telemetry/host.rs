//! The host and this process, through sysinfo; the disk through `statvfs`.

use super::disks::Disks;
use crate::event::{DiskSample, HostSample, SafeText};
use std::path::{Path, PathBuf};
use sysinfo::{MemoryRefreshKind, Networks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Shares of a processor mean nothing over a shorter time.
const CPU_SPAN_NS_MIN: u64 = 200_000_000;

/// What this machine is called.
pub fn host_name() -> Option<String> {
    System::host_name().ok()
}

/// Reads the host again and again. Rates are between two readings, so the first has none.
pub struct HostReader {
    system: Option<System>,
    networks: Option<Networks>,
    pid: Option<Pid>,
    disk_of: Option<PathBuf>,
    disks: Disks,
    /// Time of the last reading.
    last_ns: Option<u64>,
}

impl HostReader {
    /// `disk_of`: a path on the file system to watch; it need not exist yet.
    pub fn new(disk_of: Option<PathBuf>) -> Self {
        Self {
            system: System::new().ok(),
            networks: Networks::new_with_refreshed_list().ok(),
            pid: sysinfo::get_current_pid().ok(),
            disk_of,
            disks: Disks::default(),
            last_ns: None,
        }
    }

    /// One sample at `now_ns` of a monotonic clock. What the system does not tell is `None`.
    pub fn sample(&mut self, now_ns: u64) -> HostSample {
        let mut sample = HostSample { disk: self.disk_of.as_deref().and_then(disk), ..HostSample::default() };
        let span_ns = self.last_ns.map(|last_ns| now_ns.saturating_sub(last_ns)).filter(|span_ns| *span_ns >= CPU_SPAN_NS_MIN);
        self.processor_and_memory(&mut sample, span_ns);
        self.network(&mut sample, span_ns);
        let moved = self.disks.moved().zip(span_ns);
        sample.disk_read_bytes_per_second = moved.map(|((read, _), span_ns)| per_second(read, span_ns));
        sample.disk_written_bytes_per_second = moved.map(|((_, written), span_ns)| per_second(written, span_ns));
        self.last_ns = Some(now_ns);
        sample
    }

    fn processor_and_memory(&mut self, sample: &mut HostSample, span_ns: Option<u64>) {
        let Some(system) = &mut self.system else { return };
        system.refresh_cpu_usage();
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram().with_swap());
        if span_ns.is_some() {
            sample.cpu_ratio = Some(ratio(system.global_cpu_usage()));
            sample.core_ratios = system.cpus().iter().map(|core| ratio(core.usage())).collect();
        }
        if system.total_memory() > 0 {
            sample.memory_used_bytes = Some(system.used_memory());
            sample.memory_total_bytes = Some(system.total_memory());
            sample.memory_available_bytes = Some(system.available_memory());
            sample.swap_used_bytes = Some(system.used_swap());
            sample.swap_total_bytes = Some(system.total_swap());
        }
        sample.load_1m = System::load_average().ok().map(|load| load.one);
        sample.process_threads = entries("/proc/self/task");
        // Less the one that lists them.
        sample.process_open_files = entries("/proc/self/fd").map(|files| files.saturating_sub(1));
        let Some(pid) = self.pid else { return };
        let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().with_disk_usage().without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, kind);
        let Some(process) = system.process(pid) else { return };
        sample.process_rss_bytes = Some(process.memory()).filter(|bytes| *bytes > 0);
        if let Some(span_ns) = span_ns {
            let io = process.disk_usage();
            sample.process_cpu_cores = Some(f64::from(process.cpu_usage()) / 100.0);
            sample.process_read_bytes_per_second = Some(per_second(io.read_bytes, span_ns));
            sample.process_written_bytes_per_second = Some(per_second(io.written_bytes, span_ns));
        }
    }

    fn network(&mut self, sample: &mut HostSample, span_ns: Option<u64>) {
        let Some(networks) = &mut self.networks else { return };
        networks.refresh(true);
        let Some(span_ns) = span_ns else { return };
        let (mut received, mut sent) = (0_u64, 0_u64);
        // What a host says to itself is no traffic.
        for (_, interface) in networks.iter().filter(|(name, _)| name.to_str() != Some("lo") && name.to_str() != Some("lo0")) {
            received = received.saturating_add(interface.received());
            sent = sent.saturating_add(interface.transmitted());
        }
        sample.network_received_bytes_per_second = Some(per_second(received, span_ns));
        sample.network_sent_bytes_per_second = Some(per_second(sent, span_ns));
    }
}

/// How many there are in a folder; unset on systems that have none such.
fn entries(folder: &str) -> Option<u64> {
    Some(std::fs::read_dir(folder).ok()?.count() as u64)
}

fn ratio(percent: f32) -> f64 {
    (f64::from(percent) / 100.0).clamp(0.0, 1.0)
}

fn per_second(count: u64, span_ns: u64) -> f64 {
    count as f64 * 1e9 / span_ns as f64
}

/// The file system that holds `path`, or the nearest folder above it that exists.
///
/// Only this one is asked: a list of all would hang on a dead network mount.
fn disk(path: &Path) -> Option<DiskSample> {
    let path = std::path::absolute(path).ok()?;
    let there = path.ancestors().find(|folder| folder.exists())?;
    let stat = rustix::fs::statvfs(there).ok()?;
    Some(DiskSample {
        mount: SafeText::from(mount_of(there).display().to_string()),
        available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
        total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
    })
}

/// The topmost folder above `path` that lies on the same device.
fn mount_of(path: &Path) -> &Path {
    use std::os::unix::fs::MetadataExt;
    let device = |folder: &Path| std::fs::metadata(folder).map(|meta| meta.dev()).ok();
    let own = device(path);
    path.ancestors().take_while(|folder| device(folder) == own).last().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn the_first_reading_has_no_rates_and_the_second_has() {
        let mut reader = HostReader::new(Some(std::env::temp_dir()));
        let first = reader.sample(5 * SECOND_NS);
        assert_eq!((first.cpu_ratio, first.process_cpu_cores, first.network_sent_bytes_per_second), (None, None, None));
        assert!(first.memory_total_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(first.process_rss_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(first.memory_available_bytes <= first.memory_total_bytes && first.load_1m.is_some_and(|load| load >= 0.0));
        assert!(first.swap_used_bytes <= first.swap_total_bytes);
        if cfg!(target_os = "linux") {
            assert!(first.process_threads.is_some_and(|n| n >= 1));
            let before = first.process_open_files.unwrap();
            let files: Vec<_> = (0..5).map(|_| std::fs::File::open("/proc/self/stat").unwrap()).collect();
            assert!(reader.sample(5 * SECOND_NS).process_open_files.unwrap() > before, "{}", files.len());
        }
        let second = reader.sample(6 * SECOND_NS);
        assert!(second.cpu_ratio.is_some_and(|ratio| (0.0..=1.0).contains(&ratio)));
        assert!(!second.core_ratios.is_empty());
        assert!(second.process_cpu_cores.is_some() && second.network_received_bytes_per_second.is_some());
        // Two readings at almost the same time: no rate can be told.
        assert_eq!(reader.sample(6 * SECOND_NS + 1).cpu_ratio, None);
    }

    #[test]
    fn the_disk_is_that_of_the_nearest_folder_that_exists() {
        let dir = tempfile::tempdir().unwrap();
        let sample = disk(&dir.path().join("not/yet/there")).unwrap();
        assert_eq!(Some(&sample.mount), disk(dir.path()).map(|d| d.mount).as_ref());
        assert!(sample.total_bytes >= sample.available_bytes && sample.total_bytes > 0);
        assert_eq!(disk(Path::new("/")).unwrap().mount.as_str(), "/");
        assert_eq!(HostReader::new(None).sample(0).disk, None);
    }

    #[test]
    fn rates_are_by_the_clock_that_was_given() {
        assert_eq!(per_second(500, SECOND_NS / 2), 1000.0);
        assert_eq!((ratio(150.0), ratio(25.0)), (1.0, 0.25));
    }
}
