//! A disk that fails by a seed: whatever it does, and wherever the machine then stops, every committed event is there.

use super::header::{Header, HeaderEnv};
use super::medium::{Create, Medium};
use super::recorder::{Recorder, RecorderSettings};
use super::{Journal, Recording};
use crate::event::{Level, LogLevel, LogLine, ManualClock, RunId, SafeText, Seed, Seq};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEEDS: u64 = 400;

/// What of a file would survive.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// Bytes that a sync has returned for.
    durable: u64,
    written: u64,
    /// A sync has failed: the kernel may have dropped what it could not write, and says so once.
    is_lost: bool,
}

/// The disk, and the chance by which it fails.
struct Disk {
    random: u64,
    files: BTreeMap<PathBuf, Kept>,
}

impl Disk {
    fn below(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % n.max(1)
    }
}

struct Simulated {
    path: PathBuf,
    file: File,
    disk: Arc<Mutex<Disk>>,
}

impl Medium for Simulated {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap();
        // Whole, nothing (EIO), or a part of it (ENOSPC, a short write that is not gone on with).
        let part = match disk.below(8) {
            0 => Some(0),
            1 | 2 => Some(disk.below(bytes.len() as u64) as usize),
            _ => None,
        };
        self.file.append(&bytes[..part.unwrap_or(bytes.len())])?;
        disk.files.entry(self.path.clone()).or_default().written = self.file.metadata()?.len();
        part.map_or(Ok(()), |_| Err(io::Error::other("no space left, or worse")))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap();
        let fails = disk.below(10) == 0;
        let kept = disk.files.entry(self.path.clone()).or_default();
        if fails {
            kept.is_lost = true;
            return Err(io::Error::other("sync failed"));
        }
        if !kept.is_lost {
            kept.durable = kept.written;
        }
        Ok(())
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap();
        if disk.below(4) == 0 {
            return Err(io::Error::other("stuck"));
        }
        Medium::set_len(&mut self.file, bytes)?;
        let kept = disk.files.entry(self.path.clone()).or_default();
        (kept.written, kept.durable) = (bytes, kept.durable.min(bytes));
        Ok(())
    }
}

fn header() -> Header {
    Header {
        fmt: super::FORMAT.into(),
        v: super::VERSION,
        id: RunId::from("01J00000000000000000000000"),
        started: "2026-01-01T00:00:00Z".into(),
        build: "test".into(),
        env: HeaderEnv { name: "ops".into(), version: "1".into(), params_sha256: "ab".into() },
        level: Level::L1,
        seed: Seed(1),
        config_sha256: "cd".into(),
        checkpoint: None,
        lanes: 1,
        redaction: "v1".into(),
        cpu: vec![],
    }
}

/// The machine stops: of each file some of what was not synced is there. The recording as it is found afterwards.
fn crashed(disk: &Mutex<Disk>, path: &Path, into: &Path) -> PathBuf {
    let mut disk = disk.lock().unwrap();
    for (file, kept) in disk.files.clone() {
        let bytes = std::fs::read(&file).unwrap();
        let length = kept.durable + disk.below(kept.written.saturating_sub(kept.durable) + 1);
        std::fs::write(into.join(file.file_name().unwrap()), &bytes[..(length as usize).min(bytes.len())]).unwrap();
    }
    into.join(path.file_name().unwrap())
}

#[test]
fn whatever_the_disk_does_every_committed_event_is_there() {
    let (mut faults, mut commits) = (0, 0);
    for seed in 0..SEEDS {
        let (dir, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = dir.path().join("a.jsonl");
        let disk = Arc::new(Mutex::new(Disk { random: seed, files: BTreeMap::new() }));
        let of_disk = disk.clone();
        let create: Create = Box::new(move |path| {
            let file = File::options().append(true).create_new(true).open(path)?;
            Ok(Box::new(Simulated { path: path.to_owned(), file, disk: of_disk.clone() }))
        });
        let settings = RecorderSettings { commit_interval: Duration::from_secs(600), ..RecorderSettings::default() };
        // A header that can't be written is told at once.
        let Ok(recorder) = Recorder::on(&path, &header(), settings, create) else { continue };
        let mut journal = Journal::new(Arc::new(ManualClock::default()), Some(recorder));
        let (mut appended, mut committed) = (0, 0);
        for _ in 0..12 {
            let count = 1 + disk.lock().unwrap().below(4);
            for _ in 0..count {
                appended += 1;
                let text = SafeText::new(&format!("line {appended}"));
                journal.append(Default::default(), LogLine { level: LogLevel::Info, target: SafeText::new("t"), text });
            }
            match journal.commit() {
                Ok(()) => (committed, commits) = (appended, commits + 1),
                Err(_) => faults += 1,
            }
        }
        let found = crashed(&disk, &path, after.path());
        let mut recording = Recording::open(&found).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let events = recording.events_from(Seq(1)).unwrap().map(Result::unwrap);
        let read: Vec<u64> = events.filter(|e| e.event.kind() == "LogLine").map(|e| e.seq.0).take(committed as usize).collect();
        assert_eq!(read, (1..=committed).collect::<Vec<u64>>(), "seed {seed}: {:?}", recording.integrity().lines());
        drop(journal);
    }
    assert!(faults > 500 && commits > 1000, "{faults} faults, {commits} commits");
}
