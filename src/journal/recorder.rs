//! The recording's writer: its own thread, group commits, and the one queue that the engine waits for.

use super::header::Header;
use super::medium::{self, Create};
use super::writer::Writer;
use crate::event::{Envelope, Seq};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Events on their way to the file; more make the engine wait.
const QUEUE_EVENTS: usize = 4096;
/// A commit is made when this much is waiting, or when the first waiting event is as old as the commit interval.
const COMMIT_BYTES: usize = 64 * 1024;
/// What came meanwhile goes with it, up to this much: where the disk is slow, fewer syncs are waited for.
const COMMIT_BYTES_MAX: usize = 512 * 1024;
const ENDED: &str = "the recorder's thread has ended";
/// How long a failed write rests before it is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// How a recording is written.
#[derive(Clone, Copy, Debug)]
pub struct RecorderSettings {
    /// A crash loses no more than this.
    pub commit_interval: Duration,
    /// A snapshot is written when the bytes since the last one reach this many times its size.
    pub snapshot_factor: usize,
    /// No snapshot before this many bytes.
    pub snapshot_bytes_min: usize,
    /// No snapshot that is longer.
    pub snapshot_bytes_max: usize,
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self { commit_interval: Duration::from_millis(100), snapshot_factor: 16, snapshot_bytes_min: 1 << 20, snapshot_bytes_max: 32 << 20 }
    }
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{path}: {reason}")]
    Open { path: PathBuf, reason: String },
    #[error("{0} exists: a recording is never overwritten; name another file or move it away")]
    Exists(PathBuf),
    #[error("an event can't be written as JSON: {0}")]
    Encode(String),
    #[error("the recording can't be written: {0}")]
    Write(String),
}

enum Message {
    Event(Arc<Envelope>),
    /// Commit now and answer.
    Commit(SyncSender<Result<(), RecordError>>),
}

/// Handle of the recorder thread. Dropping it commits and closes the file.
pub struct Recorder {
    tx: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    failure: Failure,
    committed: Arc<AtomicU64>,
    path: PathBuf,
}

impl Recorder {
    /// Makes the file (0600, in a directory made 0700 when it is missing), locks it, writes the header, and starts the thread.
    /// A crash loses no more than `commit_interval`.
    pub fn create(path: &Path, header: &Header, commit_interval: Duration) -> Result<Self, RecordError> {
        Self::with_settings(path, header, RecorderSettings { commit_interval, ..RecorderSettings::default() })
    }

    pub fn with_settings(path: &Path, header: &Header, settings: RecorderSettings) -> Result<Self, RecordError> {
        Self::on(path, header, settings, Box::new(medium::create))
    }

    pub(super) fn on(path: &Path, header: &Header, settings: RecorderSettings, create: Create) -> Result<Self, RecordError> {
        let writer = Writer::create(path, header, settings, create)?;
        let commit_interval = settings.commit_interval;
        let committed = Arc::new(AtomicU64::new(0));
        let state = Loop { writer, waiting_since: None, failed: false, committed: committed.clone(), commit_interval };
        let (tx, rx) = sync_channel(QUEUE_EVENTS);
        let failure = Failure::default();
        let shared = failure.clone();
        let body = move || {
            // The queue is closed after the reason was told.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| state.run(&rx, &shared))) {
                shared.set(Some(format!("{ENDED}: {}; the recording ends at its last commit", panic_text(&*panic))));
            }
        };
        let spawned = std::thread::Builder::new().name("recorder".into()).spawn(body);
        let thread = spawned.map_err(|e| RecordError::Open { path: path.to_owned(), reason: e.to_string() })?;
        Ok(Self { tx: Some(tx), thread: Some(thread), failure, committed, path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn send(&self, envelope: Arc<Envelope>) {
        if self.tx.as_ref().is_none_or(|tx| tx.send(Message::Event(envelope)).is_err()) {
            self.failure.set_first(ENDED);
        }
    }

    pub fn commit(&self) -> Result<(), RecordError> {
        let (answer, wait) = sync_channel(1);
        if self.tx.as_ref().is_none_or(|tx| tx.send(Message::Commit(answer)).is_err()) {
            self.failure.set_first(ENDED);
        }
        wait.recv().unwrap_or_else(|_| Err(RecordError::Write(ENDED.into())))
    }

    pub fn failure(&self) -> Option<String> {
        self.failure.get()
    }

    /// The newest event that is on the disk; 0 before the first.
    pub fn committed_upto(&self) -> Seq {
        Seq(self.committed.load(Ordering::Relaxed))
    }
}

/// Why nothing can be written, shared with the thread.
#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<String>>>);

impl Failure {
    fn set(&self, reason: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// Keeps an earlier reason, which says more.
    fn set_first(&self, reason: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| reason.to_owned());
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.tx.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has beside the writer.
struct Loop {
    writer: Writer,
    /// When the first event that waits for a commit came, or when a commit last failed.
    waiting_since: Option<Instant>,
    failed: bool,
    /// Number of the newest event on the disk, for the handle.
    committed: Arc<AtomicU64>,
    commit_interval: Duration,
}

impl Loop {
    /// Until every sender is gone and the last commit was tried.
    fn run(mut self, rx: &Receiver<Message>, failure: &Failure) {
        loop {
            let rest = if self.failed { RETRY_INTERVAL } else { self.commit_interval };
            let due = self.waiting_since.map(|since| rest.saturating_sub(since.elapsed()));
            let message = match due {
                Some(due) => rx.recv_timeout(due),
                None => rx.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let answer = match message {
                Ok(Message::Event(envelope)) => {
                    self.writer.add(&envelope);
                    let since = *self.waiting_since.get_or_insert_with(Instant::now);
                    if self.failed || self.writer.waiting() < COMMIT_BYTES && since.elapsed() < self.commit_interval {
                        continue;
                    }
                    self.take_waiting(rx)
                }
                Ok(Message::Commit(answer)) => Some(answer),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => {
                    // It was told in `failure`; nobody waits for it any more.
                    let _ = self.commit(failure);
                    return;
                }
            };
            let result = self.commit(failure);
            if let Some(answer) = answer {
                let _ = answer.send(result);
            }
        }
    }

    /// Takes up the events that wait already; who wants an answer, where one does.
    fn take_waiting(&mut self, rx: &Receiver<Message>) -> Option<SyncSender<Result<(), RecordError>>> {
        while self.writer.waiting() < COMMIT_BYTES_MAX {
            match rx.try_recv() {
                Ok(Message::Event(envelope)) => self.writer.add(&envelope),
                Ok(Message::Commit(answer)) => return Some(answer),
                Err(_) => return None,
            }
        }
        None
    }

    fn commit(&mut self, failure: &Failure) -> Result<(), RecordError> {
        let result = self.writer.commit();
        self.committed.store(self.writer.committed_upto().0, Ordering::Relaxed);
        self.failed = result.is_err();
        self.waiting_since = self.failed.then(Instant::now);
        failure.set(result.as_ref().err().map(ToString::to_string));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::HeaderEnv;
    use super::super::medium::Medium;
    use super::super::{Integrity, Journal, Recording, names};
    use super::*;
    use crate::event::{Level, LogLevel, LogLine, ManualClock, RunId, RunState, RunStateChanged, SafeText, Seed, Seq};
    use std::collections::VecDeque;
    use std::fs::File;
    use std::io;

    /// What the disk does at the next calls.
    #[derive(Clone, Copy, PartialEq)]
    enum Act {
        Well,
        /// Half of the bytes, then an error; truncating works.
        FullDisk,
        /// As above, and truncating fails too.
        StuckDisk,
        SyncFails,
        Panics,
    }

    struct Faulty {
        file: File,
        script: Arc<Mutex<VecDeque<Act>>>,
        now: Act,
    }

    impl Medium for Faulty {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.now = self.script.lock().unwrap().pop_front().unwrap_or(Act::Well);
            match self.now {
                Act::Well | Act::SyncFails => self.file.append(bytes),
                Act::FullDisk | Act::StuckDisk => {
                    self.file.append(&bytes[..bytes.len() / 2])?;
                    Err(io::Error::other("disk full"))
                }
                Act::Panics => panic!("bad cable"),
            }
        }

        fn sync(&mut self) -> io::Result<()> {
            if self.now == Act::SyncFails { Err(io::Error::other("sync failed")) } else { Ok(()) }
        }

        fn set_len(&mut self, bytes: u64) -> io::Result<()> {
            if self.now == Act::StuckDisk { Err(io::Error::other("stuck")) } else { Medium::set_len(&mut self.file, bytes) }
        }
    }

    fn header() -> Header {
        Header {
            fmt: super::super::FORMAT.into(),
            v: super::super::VERSION,
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

    /// A journal whose disk plays `script`, an act a write; the header's comes first.
    fn journal(path: &Path, script: &[Act]) -> Journal {
        let script = Arc::new(Mutex::new(script.iter().copied().collect::<VecDeque<_>>()));
        let create: Create = Box::new(move |path| {
            let file = File::options().append(true).create_new(true).open(path)?;
            Ok(Box::new(Faulty { file, script: script.clone(), now: Act::Well }))
        });
        let settings = RecorderSettings { commit_interval: Duration::from_secs(600), ..RecorderSettings::default() };
        let recorder = Recorder::on(path, &header(), settings, create).unwrap();
        Journal::new(Arc::new(ManualClock::default()), Some(recorder))
    }

    fn say(journal: &mut Journal, text: &str) {
        let text = SafeText::new(text);
        journal.append(Default::default(), LogLine { level: LogLevel::Info, target: SafeText::new("t"), text });
    }

    fn end(mut journal: Journal) {
        journal.append(Default::default(), RunStateChanged { state: RunState::Ended, reason: SafeText::new("done") });
        let _ = journal.commit();
    }

    fn read(path: &Path) -> (Vec<u64>, Integrity) {
        let mut recording = Recording::open(path).unwrap();
        let seqs = recording.events_from(Seq(1)).unwrap().map(|e| e.unwrap()).filter(|e| e.event.kind() != "Elided").map(|e| e.seq.0);
        (seqs.collect(), Integrity::check(path).unwrap())
    }

    #[test]
    fn a_failed_sync_begins_a_segment_and_nothing_is_written_to_the_old_file_again() {
        for first in [Act::SyncFails, Act::StuckDisk] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.jsonl");
            // Header, commit, the failing commit; the segment's header fails too, and its second one lands.
            let mut journal =
                journal(&path, &[Act::Well, Act::Well, first, Act::SyncFails, Act::Well, Act::Well, Act::Well, Act::SyncFails]);
            say(&mut journal, "one");
            journal.commit().unwrap();
            say(&mut journal, "two");
            assert!(journal.commit().unwrap_err().to_string().contains("sync failed"));
            let old = std::fs::read(&path).unwrap();
            let told = journal.commit().unwrap_err().to_string();
            assert!(told.contains("a.2.jsonl"), "{told}");
            say(&mut journal, "three");
            journal.commit().unwrap();
            say(&mut journal, "four");
            assert!(journal.commit().unwrap_err().to_string().contains("a.3.jsonl"));
            end(journal);
            assert_eq!(std::fs::read(&path).unwrap(), old);
            let (seqs, integrity) = read(&path);
            assert_eq!((seqs, integrity.lines()), (vec![1, 2, 3, 4, 5], vec![]));
            assert!(Recording::open(&names::segment(&path, 2)).err().unwrap().to_string().contains("segment 2"));
            // Without its last segment the recording is not whole.
            std::fs::remove_file(names::segment(&path, 3)).unwrap();
            assert!(!Integrity::check(&path).unwrap().is_intact());
        }
    }

    #[test]
    fn a_full_disk_is_tried_again_on_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        // The reserve is given up at the second; the third try has none.
        let mut journal = journal(&path, &[Act::Well, Act::FullDisk, Act::Well, Act::FullDisk, Act::Well]);
        say(&mut journal, "one");
        assert!(journal.commit().unwrap_err().to_string().contains("reserve"));
        say(&mut journal, "two");
        assert!(journal.commit().unwrap_err().to_string().contains("disk full"));
        assert_eq!(journal.events_behind(), Some(1));
        journal.commit().unwrap();
        assert_eq!((journal.recorder_failure(), journal.events_behind()), (None, Some(0)));
        end(journal);
        let (seqs, integrity) = read(&path);
        assert_eq!((seqs, integrity.lines()), (vec![1, 2, 3], vec![]));
        assert!(!names::segment(&path, 1).exists());
    }

    #[test]
    fn a_file_of_somebody_else_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let (other, reserve) = (names::segment(&path, 1), names::reserve(&path));
        std::fs::write(&other, "mine").unwrap();
        std::fs::write(&reserve, "mine too").unwrap();
        let mut journal = journal(&path, &[Act::Well, Act::SyncFails]);
        say(&mut journal, "one");
        assert!(journal.commit().unwrap_err().to_string().contains("a.1.jsonl"));
        assert!(journal.commit().unwrap_err().to_string().contains("goes on in"));
        end(journal);
        let (seqs, integrity) = read(&path);
        assert_eq!((seqs, integrity.lines()), (vec![1, 2], vec![]));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(&reserve).unwrap(), "mine too");
    }

    #[test]
    fn a_thread_that_ended_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let mut journal = journal(&path, &[Act::Well, Act::Panics]);
        say(&mut journal, "one");
        assert!(journal.commit().is_err());
        while journal.recorder_failure().is_none() {
            std::thread::yield_now();
        }
        let told = journal.recorder_failure().unwrap();
        assert!(told.contains("bad cable"), "{told}");
        say(&mut journal, "two");
        assert!(journal.recorder_failure().is_some());
    }
}
