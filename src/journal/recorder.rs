//! The recording's writer: its own thread, group commits, and the one queue that the engine waits for.

use super::header::Header;
use super::line::{COMMIT_KIND, CommitLine, SNAPSHOT_KIND, SnapshotLine, crc_hex, write_line};
use crate::event::{Envelope, Seq};
use crate::state::DashState;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Events on their way to the file; more make the engine wait.
const QUEUE_EVENTS: usize = 4096;
/// A commit is made when this much is waiting, or when the first waiting event is as old as the commit interval.
const COMMIT_BYTES: usize = 64 * 1024;
/// A snapshot is written when the bytes since the last one reach this many times its size.
const SNAPSHOT_FACTOR: usize = 16;
/// No snapshot before this many bytes.
const SNAPSHOT_BYTES_MIN: usize = 256 * 1024;
/// Space that is kept so that the last commit lands on a full disk.
const RESERVE_BYTES: u64 = 256 * 1024;
/// How long a failed write rests before it is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

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
    failure: Arc<Mutex<Option<String>>>,
    path: PathBuf,
}

impl Recorder {
    /// Makes the file (0600, in a directory made 0700 when it is missing), locks it, writes the header, and starts the thread.
    /// A crash loses no more than `commit_interval`.
    pub fn create(path: &Path, header: &Header, commit_interval: Duration) -> Result<Self, RecordError> {
        let mut writer = Writer::create(path, header)?;
        let (tx, rx) = sync_channel(QUEUE_EVENTS);
        let failure = Arc::new(Mutex::new(None));
        let shared = failure.clone();
        let spawned = std::thread::Builder::new().name("recorder".into()).spawn(move || writer.run(&rx, &shared, commit_interval));
        let thread = spawned.map_err(|e| RecordError::Open { path: path.to_owned(), reason: e.to_string() })?;
        Ok(Self { tx: Some(tx), thread: Some(thread), failure, path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn send(&self, envelope: Arc<Envelope>) {
        if let Some(tx) = &self.tx {
            // The thread ends only after this handle was dropped.
            let _ = tx.send(Message::Event(envelope));
        }
    }

    pub fn commit(&self) -> Result<(), RecordError> {
        let (answer, wait) = sync_channel(1);
        let sent = self.tx.as_ref().map(|tx| tx.send(Message::Commit(answer)));
        match (sent, wait.recv()) {
            (Some(Ok(())), Ok(result)) => result,
            _ => Err(RecordError::Write("the recorder has ended".into())),
        }
    }

    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.tx.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The file and what is not in it yet.
struct Writer {
    file: File,
    reserve: Option<PathBuf>,
    /// Lines since the last commit.
    batch: Vec<u8>,
    batch_since: Option<Instant>,
    upto: Seq,
    prev: String,
    /// Length of the file up to the last commit.
    committed_bytes: u64,
    state: DashState,
    bytes_since_snapshot: usize,
    snapshot_bytes: usize,
}

impl Writer {
    fn create(path: &Path, header: &Header) -> Result<Self, RecordError> {
        let fail = |reason: String| RecordError::Open { path: path.to_owned(), reason };
        if let Some(dir) = path.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) {
            make_dir(dir).map_err(|e| fail(format!("its directory can't be made: {e}")))?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => RecordError::Exists(path.to_owned()),
            _ => fail(e.to_string()),
        })?;
        file.try_lock().map_err(|e| fail(format!("another process writes it: {e}")))?;
        let mut batch = Vec::new();
        write_line(&mut batch, header)?;
        let prev = crc_hex(&batch);
        let mut writer = Self {
            file,
            reserve: reserve(path),
            batch: Vec::new(),
            batch_since: None,
            upto: Seq(0),
            prev,
            committed_bytes: 0,
            state: DashState::default(),
            bytes_since_snapshot: 0,
            snapshot_bytes: 0,
        };
        writer.put(&batch).map_err(|e| fail(e.to_string()))?;
        Ok(writer)
    }

    fn run(&mut self, rx: &Receiver<Message>, failure: &Mutex<Option<String>>, commit_interval: Duration) {
        let report = |result: &Result<(), RecordError>| {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = result.as_ref().err().map(ToString::to_string);
        };
        let mut failed = false;
        loop {
            let rest = if failed { RETRY_INTERVAL } else { commit_interval };
            let due = self.batch_since.map(|since| rest.saturating_sub(since.elapsed()));
            let message = match due {
                Some(due) => rx.recv_timeout(due),
                None => rx.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let (answer, last) = match message {
                Ok(Message::Event(envelope)) => {
                    self.add(&envelope);
                    if failed || self.batch.len() < COMMIT_BYTES && self.batch_since.is_some_and(|s| s.elapsed() < commit_interval) {
                        continue;
                    }
                    (None, false)
                }
                Ok(Message::Commit(answer)) => (Some(answer), false),
                Err(RecvTimeoutError::Timeout) => (None, false),
                Err(RecvTimeoutError::Disconnected) => (None, true),
            };
            let result = self.commit();
            failed = result.is_err();
            if failed {
                self.batch_since = Some(Instant::now());
            }
            report(&result);
            if let Some(answer) = answer {
                let _ = answer.send(result);
            }
            if last {
                if let Some(reserve) = self.reserve.take() {
                    let _ = std::fs::remove_file(reserve);
                }
                return;
            }
        }
    }

    fn add(&mut self, envelope: &Envelope) {
        self.batch_since.get_or_insert_with(Instant::now);
        let before = self.batch.len();
        // Our own events always encode; one that did not would leave a hole that the reader names.
        let _ = write_line(&mut self.batch, envelope);
        self.upto = envelope.seq;
        let _ = self.state.apply(envelope);
        self.bytes_since_snapshot += self.batch.len() - before;
        if self.bytes_since_snapshot >= SNAPSHOT_BYTES_MIN.max(SNAPSHOT_FACTOR * self.snapshot_bytes) {
            let before = self.batch.len();
            let line = SnapshotLine { k: SNAPSHOT_KIND.into(), upto: self.upto, state: self.state.clone() };
            let _ = write_line(&mut self.batch, &line);
            self.snapshot_bytes = self.batch.len() - before;
            self.bytes_since_snapshot = 0;
        }
    }

    /// Writes the batch and its commit line, then syncs. On failure the file is as it was and the batch is kept.
    fn commit(&mut self) -> Result<(), RecordError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let crc32c = crc_hex(&self.batch);
        let line = CommitLine { k: COMMIT_KIND.into(), upto: self.upto, crc32c: crc32c.clone(), prev: self.prev.clone() };
        let mut bytes = self.batch.clone();
        write_line(&mut bytes, &line)?;
        if let Err(first) = self.put(&bytes) {
            // The reserve gives way for the last commit.
            let Some(reserve) = self.reserve.take() else { return Err(RecordError::Write(first.to_string())) };
            let _ = std::fs::remove_file(reserve);
            self.put(&bytes).map_err(|_| RecordError::Write(first.to_string()))?;
            self.landed(crc32c);
            return Err(RecordError::Write(format!("{first}; everything so far was saved with the last reserve: free space and resume")));
        }
        self.landed(crc32c);
        Ok(())
    }

    fn landed(&mut self, crc32c: String) {
        self.prev = crc32c;
        self.batch.clear();
        self.batch_since = None;
    }

    /// Appends and syncs, or leaves the file as it was.
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let result = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        match result {
            Ok(()) => {
                self.committed_bytes += bytes.len() as u64;
                Ok(())
            }
            Err(e) => {
                let _ = self.file.set_len(self.committed_bytes);
                Err(e)
            }
        }
    }
}

fn make_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// A file beside the recording that keeps space; without it a full disk loses what was not committed yet, no more.
fn reserve(path: &Path) -> Option<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(".reserve");
    let path = PathBuf::from(name);
    let mut file = File::create(&path).ok()?;
    let written = std::io::copy(&mut std::io::Read::take(std::io::repeat(0), RESERVE_BYTES), &mut file);
    match written {
        Ok(RESERVE_BYTES) => Some(path),
        Ok(_) | Err(_) => {
            let _ = std::fs::remove_file(&path);
            None
        }
    }
}
