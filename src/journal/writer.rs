//! The recording's bytes: batches, commits, snapshots, and what becomes of them on a disk that fails.

use super::blobs;
use super::header::Header;
use super::line::{COMMIT_KIND, CommitLine, SegmentHeader, SegmentMark, crc_hex, write_line};
use super::medium::{Create, Medium, Reserve, make_dir_of};
use super::names;
use super::recorder::{RecordError, RecorderSettings};
use super::snapshot::Cadence;
use crate::event::{Envelope, Seq};
use crate::state::DashState;
use std::io;
use std::path::{Path, PathBuf};

/// The file and what is not in it yet.
pub struct Writer {
    path: PathBuf,
    header: Header,
    create: Create,
    file: Box<dyn Medium>,
    /// Why the file is to be trusted with nothing more: the recording goes on in a new segment.
    poison: Option<String>,
    segment: u32,
    reserve: Option<Reserve>,
    /// Lines since the last commit.
    batch: Vec<u8>,
    upto: Seq,
    committed_upto: Seq,
    prev: String,
    /// The last commit's `crc32c`, whatever segment it is in; before the first one the header's.
    link: String,
    /// Length of the file up to the last commit.
    committed_bytes: u64,
    state: DashState,
    snapshots: Cadence,
}

/// What became of an append.
enum PutError {
    /// The file is as it was.
    Undone(io::Error),
    /// What is in the file is not known: the kernel may have dropped what it could not write.
    Poisoned(io::Error),
}

impl PutError {
    fn source(self) -> io::Error {
        match self {
            PutError::Undone(source) | PutError::Poisoned(source) => source,
        }
    }
}

impl Writer {
    pub fn create(path: &Path, header: &Header, settings: RecorderSettings, create: Create) -> Result<Self, RecordError> {
        let fail = |reason: String| RecordError::Open { path: path.to_owned(), reason };
        let sealed = names::sealed(path);
        if sealed.exists() {
            return Err(RecordError::Exists(sealed));
        }
        make_dir_of(path).map_err(|e| fail(format!("its directory can't be made: {e}")))?;
        let file = create(path).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Exists(path.to_owned()),
            _ => fail(e.to_string()),
        })?;
        let mut line = Vec::new();
        write_line(&mut line, header)?;
        let mut writer = Self {
            path: path.to_owned(),
            header: header.clone(),
            create,
            file,
            poison: None,
            segment: 0,
            reserve: Reserve::beside(path),
            batch: Vec::new(),
            upto: Seq(0),
            committed_upto: Seq(0),
            prev: crc_hex(&line),
            link: crc_hex(&line),
            committed_bytes: 0,
            state: DashState::default(),
            snapshots: Cadence::of(&settings),
        };
        writer.put(&line).map_err(|e| fail(e.source().to_string()))?;
        Ok(writer)
    }

    /// Bytes that wait for a commit.
    pub fn waiting(&self) -> usize {
        self.batch.len()
    }

    /// The newest event that is on the disk.
    pub fn committed_upto(&self) -> Seq {
        self.committed_upto
    }

    pub fn add(&mut self, envelope: &Envelope) {
        let before = self.batch.len();
        // Our own events always encode; one that did not would leave a hole that the reader names.
        let _ = write_line(&mut self.batch, envelope);
        if let Some(short) = blobs::put(&self.path, &self.batch[before..], &self.create) {
            self.batch.truncate(before);
            self.batch.extend_from_slice(&short);
        }
        self.upto = envelope.seq;
        let _ = self.state.apply(envelope);
        self.snapshots.after(self.batch.len() - before, &self.state, &mut self.batch);
    }

    /// Writes the batch and its commit line, then syncs. On failure the batch is kept.
    pub fn commit(&mut self) -> Result<(), RecordError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let poison = self.poison.clone();
        if poison.is_some() {
            self.begin_segment()?;
        }
        match self.put_batch() {
            Ok(()) => poison.map_or(Ok(()), |reason| Err(self.gone_on(&reason))),
            // The reserve gives way for the last commit.
            Err(PutError::Undone(first)) if self.reserve.take().is_some() => {
                self.put_batch().map_err(|_| RecordError::Write(first.to_string()))?;
                Err(RecordError::Write(format!("{first}; everything so far was saved with the last reserve: free space and resume")))
            }
            Err(PutError::Undone(e)) => Err(RecordError::Write(e.to_string())),
            Err(PutError::Poisoned(e)) => {
                let reason = e.to_string();
                self.begin_segment()?;
                self.put_batch().map_err(|e| RecordError::Write(e.source().to_string()))?;
                Err(self.gone_on(&reason))
            }
        }
    }

    fn gone_on(&self, reason: &str) -> RecordError {
        let into = names::segment(&self.path, self.segment);
        RecordError::Write(format!(
            "{reason}; everything so far was saved, the recording goes on in {}: look at the disk and resume",
            into.display()
        ))
    }

    fn put_batch(&mut self) -> Result<(), PutError> {
        let crc32c = crc_hex(&self.batch);
        let line = CommitLine { k: COMMIT_KIND.into(), upto: self.upto, crc32c: crc32c.clone(), prev: self.prev.clone() };
        let mut bytes = self.batch.clone();
        write_line(&mut bytes, &line).map_err(|e| PutError::Undone(io::Error::other(e)))?;
        self.put(&bytes)?;
        self.link.clone_from(&crc32c);
        self.prev = crc32c;
        self.committed_upto = self.upto;
        self.batch.clear();
        Ok(())
    }

    /// Leaves the file as it is and goes on in a new one, from the first event that is not known to be in the old one.
    fn begin_segment(&mut self) -> Result<(), RecordError> {
        let number = self.segment + 1;
        let path = names::segment(&self.path, number);
        let fail = |e: io::Error| RecordError::Write(format!("{}: {e}", path.display()));
        let made = (self.create)(&path);
        if made.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::AlreadyExists) {
            // Somebody else's: the next try takes the next number, and the reader passes over what is not this run's.
            self.segment = number;
        }
        let mark = SegmentMark { number, from: self.committed_upto.next(), prev: self.link.clone() };
        let mut line = Vec::new();
        write_line(&mut line, &SegmentHeader { header: &self.header, segment: &mark })?;
        (self.file, self.segment, self.committed_bytes) = (made.map_err(fail)?, number, 0);
        self.put(&line).map_err(|e| {
            let source = e.source();
            self.poison = Some(source.to_string());
            fail(source)
        })?;
        (self.prev, self.poison) = (crc_hex(&line), None);
        Ok(())
    }

    /// Appends and syncs. What was not written whole is taken back; after a sync that failed there is nothing to take back to.
    fn put(&mut self, bytes: &[u8]) -> Result<(), PutError> {
        let result = match self.file.append(bytes) {
            Ok(()) => self.file.sync().map_err(PutError::Poisoned),
            Err(e) => Err(match self.file.set_len(self.committed_bytes) {
                Ok(()) => PutError::Undone(e),
                Err(_) => PutError::Poisoned(e),
            }),
        };
        match &result {
            Ok(()) => self.committed_bytes += bytes.len() as u64,
            Err(PutError::Poisoned(e)) => self.poison = Some(e.to_string()),
            Err(PutError::Undone(_)) => {}
        }
        result
    }
}
