//! A disk that fails by a seed: whatever it does, and wherever the machine then stops, every committed event is there.

use super::header::{Header, HeaderEnv};
use super::medium::{Create, Medium};
use super::recorder::{Recorder, RecorderSettings};
use super::{Journal, Recording};
use crate::event::{Envelope, Event, Level, LogLevel, LogLine, ManualClock, RunId, SafeText, Seed, Seq};
use crate::state::DashState;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEEDS: u64 = 400;
/// So long a text lies beside the recording.
const LONG_BYTES: usize = 66_000;
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

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
            0 => Some((0, EIO)),
            1 | 2 => Some((disk.below(bytes.len() as u64) as usize, ENOSPC)),
            _ => None,
        };
        self.file.append(&bytes[..part.map_or(bytes.len(), |(part, _)| part)])?;
        disk.files.entry(self.path.clone()).or_default().written = self.file.metadata()?.len();
        part.map_or(Ok(()), |(_, error)| Err(io::Error::from_raw_os_error(error)))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap();
        let fails = disk.below(10) == 0;
        let kept = disk.files.entry(self.path.clone()).or_default();
        if fails {
            kept.is_lost = true;
            return Err(io::Error::from_raw_os_error(EIO));
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

/// The machine stops: of each file some of what was not synced is there, and some of that is not what was written. The recording as it is
/// found afterwards.
fn crashed(disk: &Mutex<Disk>, path: &Path, into: &Path) -> PathBuf {
    let mut disk = disk.lock().unwrap();
    let dir = path.parent().unwrap();
    for (file, kept) in disk.files.clone() {
        // A long text's file got its name after it was synced.
        let Some(file) = [file.clone(), file.with_extension("")].into_iter().find(|f| f.is_file()) else { continue };
        let mut bytes = std::fs::read(&file).unwrap();
        let length = kept.durable + disk.below(kept.written.saturating_sub(kept.durable) + 1);
        bytes.truncate(length as usize);
        if disk.below(3) == 0 {
            let from = (kept.durable + disk.below(length - kept.durable + 1)) as usize;
            let upto = from + disk.below((bytes.len() - from) as u64 + 1) as usize;
            bytes[from..upto].fill(0);
        }
        let target = into.join(file.strip_prefix(dir).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, bytes).unwrap();
    }
    into.join(path.file_name().unwrap())
}

/// A journal on a disk that fails by `seed`, with a snapshot every few lines; none where not even the header could be written.
fn journal(path: &Path, seed: u64) -> Option<(Journal, Arc<Mutex<Disk>>)> {
    let disk = Arc::new(Mutex::new(Disk { random: seed, files: BTreeMap::new() }));
    let of_disk = disk.clone();
    let create: Create = Box::new(move |path| {
        let mut disk = of_disk.lock().unwrap();
        if disk.below(12) == 0 {
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        let file = File::options().append(true).create_new(true).open(path)?;
        disk.files.insert(path.to_owned(), Kept::default());
        Ok(Box::new(Simulated { path: path.to_owned(), file, disk: of_disk.clone() }))
    });
    let (commit_interval, snapshot_factor, snapshot_bytes_min) = (Duration::from_secs(600), 0, 400);
    let settings = RecorderSettings { commit_interval, snapshot_factor, snapshot_bytes_min, ..RecorderSettings::default() };
    let recorder = Recorder::on(path, &header(), settings, create).ok()?;
    Some((Journal::new(Arc::new(ManualClock::default()), Some(recorder)), disk))
}

fn line(number: u64, is_long: bool) -> Event {
    let text = format!("line {number} {}", if is_long { "x".repeat(LONG_BYTES) } else { String::new() });
    LogLine { level: LogLevel::Info, target: SafeText::new("t"), text: SafeText::new(&text) }.into()
}

#[test]
fn whatever_the_disk_does_every_committed_event_is_there() {
    let (mut faults, mut commits, mut texts, mut segments, mut snapshots) = (0, 0, 0, 0, 0);
    for seed in 0..SEEDS {
        let (dir, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = dir.path().join("a.jsonl");
        let Some((mut journal, disk)) = journal(&path, seed) else { continue };
        let (mut written, mut committed): (Vec<Event>, usize) = (Vec::new(), 0);
        for _ in 0..12 {
            let count = 1 + disk.lock().unwrap().below(4);
            for _ in 0..count {
                let is_long = disk.lock().unwrap().below(12) == 0;
                let event = line(written.len() as u64 + 1, is_long);
                journal.append(Default::default(), event.clone());
                written.push(event);
            }
            match journal.commit() {
                Ok(()) => (committed, commits) = (written.len(), commits + 1),
                Err(_) => faults += 1,
            }
        }
        let found = crashed(&disk, &path, after.path());
        let names = std::fs::read_dir(after.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        segments += names.filter(|name| name.ends_with("1.jsonl")).count();
        texts += std::fs::read_dir(after.path().join("a.blobs")).map_or(0, Iterator::count);
        let mut recording = Recording::open(&found).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        snapshots += recording.map().snapshots.len();
        let events = recording.events_from(Seq(1)).unwrap().map(Result::unwrap).take(committed);
        let read: Vec<Arc<Envelope>> = events.collect();
        let is_as_written = |(at, envelope): (usize, &Arc<Envelope>)| envelope.seq.0 == at as u64 + 1 && envelope.event == written[at];
        assert!(read.len() == committed && read.iter().enumerate().all(is_as_written), "seed {seed}: {:?}", recording.integrity().lines());
        // The state at any of them is the fold, whatever snapshot it begins at.
        let mut late = Recording::open_above(&found, 0).unwrap();
        let mut state = DashState::default();
        for envelope in &read {
            state.apply(envelope).unwrap();
            if envelope.seq.0 % 11 == seed % 11 {
                assert!(recording.state_at(envelope.seq).unwrap() == state, "seed {seed} at {}", envelope.seq);
                assert!(late.state_at(envelope.seq).unwrap() == state, "seed {seed} at {}, by the end", envelope.seq);
            }
        }
        drop(journal);
    }
    let seen = format!("{faults} faults, {commits} commits, {texts} long texts, {segments} segments, {snapshots} snapshots");
    assert!(faults > 500 && commits > 1000 && texts > 150 && segments > 100 && snapshots > 500, "{seen}");
}
