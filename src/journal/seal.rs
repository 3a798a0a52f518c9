//! Sealing: a recording that has ended becomes `NAME.jsonl.zst`, packed in frames that can be read from any place, without the pieces of
//! text whose finished message is in it.

use super::blobs;
use super::frames::FRAME_BYTES;
use super::header::Header;
use super::integrity::Integrity;
use super::line::{COMMIT_KIND, CommitLine, crc_hex, write_line};
use super::medium::{self, create_private, lock, sync_dir_of};
use super::names;
use super::part::{Marked, PartMark};
use super::reader::{ReadError, Recording, bytes_of};
use super::recorder::{RecordError, RecorderSettings};
use super::snapshot::Cadence;
use crate::event::{Elided, Envelope, EpisodeId, Event, LaneId, Seq, StepIndex};
use crate::state::DashState;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeekstd::{EncodeOptions, Encoder, FrameSizePolicy};

/// Lines between two commits of a sealed recording take about so much.
const BATCH_BYTES: usize = 64 * 1024;
const LEVEL: i32 = 7;

#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{0} is sealed already")]
    Already(PathBuf),
    #[error("{0} is held by another process: end its run first, or wait until it is sealed")]
    Held(PathBuf),
    #[error("{0} is there already and is not this recording: move one of them away")]
    Taken(PathBuf),
    #[error("{0} was changed meanwhile; nothing was removed")]
    Changed(PathBuf),
    #[error("{path} is damaged, and sealing would hide how: {told}")]
    Damaged { path: PathBuf, told: String },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{0}: what was written does not read back as it was; nothing was changed")]
    NotTheSame(PathBuf),
}

/// What was sealed.
#[derive(Clone, Debug)]
pub struct Sealed {
    pub path: PathBuf,
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Events that their finished message stands for.
    pub elided: u64,
    /// What an earlier seal that was cut short had left, and this one has removed.
    pub leftover: Option<PathBuf>,
}

/// In a sealed recording's header: what it was made of, and what the plain file's end said. Sealing makes nothing whole that was not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SealMark {
    /// The last commit's `crc32c` of the plain recording, to which its chain led.
    pub(super) head: String,
    pub(super) upto: Seq,
    #[serde(default)]
    pub(super) committed_upto: Seq,
    /// Events behind that.
    #[serde(default)]
    pub(super) uncommitted: u64,
    /// Bytes of a last line that was cut off; they are kept beside it.
    #[serde(default)]
    pub(super) torn_bytes: u64,
}

/// Seals the recording at `path`. The plain files are gone afterwards, but for a torn tail, which is kept as `NAME.torn`; nothing is changed
/// unless the sealed file reads back as it should.
pub fn seal(path: &Path) -> Result<Sealed, SealError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| SealError::Io { path, source }
    };
    let held = Held::take(path)?;
    let mut recording = Recording::open(path)?;
    if recording.is_sealed() {
        return Err(SealError::Already(path.to_owned()));
    }
    check(path, recording.integrity())?;
    let target = names::sealed(path);
    let is_there = target.exists();
    let (aside, leftover) = Aside::of(path);
    // A seal that was cut short between giving the sealed file its name and removing the plain one is brought to its end.
    if is_there && !is_same(&mut recording, &target).unwrap_or_default() {
        return Err(SealError::Taken(target));
    }
    let elided = if is_there { 0 } else { write(&mut recording, &aside.0)? };
    // Reading may have found what opening had not.
    check(path, recording.integrity())?;
    if !is_there && !is_same(&mut recording, &aside.0)? {
        return Err(SealError::NotTheSame(path.to_owned()));
    }
    keep_torn(&recording, path).map_err(io(path))?;
    let files: Vec<PathBuf> = recording.files().map(Path::to_owned).collect();
    held.check(&files)?;
    let beside = bytes_of(&names::blobs(path));
    let bytes_before = beside + files.iter().map(|file| bytes_of(file)).sum::<u64>();
    if !is_there {
        std::fs::rename(&aside.0, &target).map_err(io(&target))?;
    }
    sync_dir_of(&target).map_err(io(&target))?;
    for file in files {
        std::fs::remove_file(&file).map_err(io(&file))?;
    }
    sync_dir_of(&target).map_err(io(&target))?;
    Ok(Sealed { bytes_after: beside + bytes_of(&target), path: target, bytes_before, elided, leftover })
}

/// What a seal that was cut short left beside the recording, if nobody seals or writes it now; with `is_removed` it is gone afterwards.
pub fn leftover(path: &Path, is_removed: bool) -> Option<PathBuf> {
    let aside = names::aside(path);
    // Beside a sealed recording it may be a seal's that goes on of the plain one of its name.
    if !aside.exists() || names::stem(path)? != path.file_stem()?.to_str()? {
        return None;
    }
    let _held = Held::take(path).ok()?;
    let is_gone = !is_removed || std::fs::remove_file(&aside).is_ok();
    is_gone.then_some(aside)
}

/// The recording's files, each with the lock that its writer would hold, from before the first byte is read until the last file is removed.
struct Held(Vec<(PathBuf, File, u64)>);

impl Held {
    /// A writer that goes on in a segment holds the file before it until the segment is there, so that none is missed in this order.
    fn take(path: &Path) -> Result<Self, SealError> {
        let segments = (1..).map(|n| names::segment(path, n)).take_while(|p| p.exists());
        let mut held = Vec::new();
        for path in std::iter::once(path.to_owned()).chain(segments) {
            let io = |source| SealError::Io { path: path.clone(), source };
            // A pipe would wait for its other end; whoever opens it as a recording says what it is.
            let is_file = std::fs::metadata(&path).map_err(|source| ReadError::Io { path: path.clone(), source })?.is_file();
            if !is_file {
                continue;
            }
            let file = File::open(&path).map_err(io)?;
            lock(&file).map_err(|_| SealError::Held(path.clone()))?;
            let bytes = file.metadata().map_err(io)?.len();
            held.push((path, file, bytes));
        }
        Ok(Self(held))
    }

    /// Whether what is there by these names is what was held, and as long as it was.
    fn check(&self, files: &[PathBuf]) -> Result<(), SealError> {
        let is_held = |wanted: &PathBuf| {
            let found = self.0.iter().find(|(path, _, _)| path == wanted);
            let length = |(path, file, _): &(PathBuf, File, u64)| Some((std::fs::metadata(path).ok()?.len(), file.metadata().ok()?.len()));
            found.is_some_and(|held| length(held) == Some((held.2, held.2)))
        };
        files.iter().find(|file| !is_held(file)).map_or(Ok(()), |file| Err(SealError::Changed(file.clone())))
    }
}

/// The sealed file while it is written: gone, whatever ends the sealing, unless it got its name.
struct Aside(PathBuf);

impl Aside {
    /// What an earlier try left is removed: whoever seals holds the recording.
    fn of(recording: &Path) -> (Self, Option<PathBuf>) {
        let path = names::aside(recording);
        let leftover = std::fs::remove_file(&path).is_ok().then(|| path.clone());
        (Self(path), leftover)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn check(path: &Path, integrity: &Integrity) -> Result<(), SealError> {
    if integrity.damage.is_empty() {
        return Ok(());
    }
    Err(SealError::Damaged { path: path.to_owned(), told: integrity.lines().join("; ") })
}

/// The bytes of an unterminated last line are no event; they are kept all the same, once.
fn keep_torn(recording: &Recording, path: &Path) -> io::Result<()> {
    let torn = recording.torn_bytes();
    let Some(last) = recording.files().last().filter(|_| torn > 0) else { return Ok(()) };
    let mut file = File::open(last)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(torn)))?;
    let mut bytes = Vec::new();
    file.take(torn).read_to_end(&mut bytes)?;
    for number in 0.. {
        let kept = names::torn(path, number);
        match create_private(&kept) {
            Ok(mut file) => {
                file.write_all(&bytes)?;
                return file.sync_all();
            }
            // Of an earlier try, or of something else.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                let is_it = bytes_of(&kept) == torn && std::fs::read(&kept)? == bytes;
                if is_it {
                    return Ok(());
                }
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// A message: its lane, episode and step.
type Message = (LaneId, Option<EpisodeId>, Option<StepIndex>);

fn message_of(envelope: &Envelope) -> Message {
    (envelope.lane, envelope.episode, envelope.step)
}

/// Messages whose whole text is in the recording.
fn finished(recording: &mut Recording) -> Result<HashSet<Message>, ReadError> {
    let mut finished = HashSet::new();
    for envelope in recording.events_from(Seq(1))? {
        let envelope = envelope?;
        if matches!(envelope.event, Event::MessageCompleted(_)) {
            finished.insert(message_of(&envelope));
        }
    }
    Ok(finished)
}

/// Writes the sealed file, and how many events were left out in it.
fn write(recording: &mut Recording, path: &Path) -> Result<u64, SealError> {
    let io = |source: io::Error| SealError::Io { path: path.to_owned(), source };
    let finished = finished(recording)?;
    let Integrity { committed_upto, uncommitted, torn_bytes, .. } = *recording.integrity();
    let mark = SealMark { head: recording.chain_head().to_owned(), upto: recording.end(), committed_upto, uncommitted, torn_bytes };
    let header = recording.header().clone();
    let file = create_private(path).map_err(io)?;
    let mut out = Packed::begin(recording.path(), file, &header, mark, None)?;
    let mut thinned = Thinned::default();
    for envelope in recording.events_from(Seq(1))? {
        let envelope = envelope?;
        if matches!(envelope.event, Event::ThoughtDelta(_)) && finished.contains(&message_of(&envelope)) {
            if let Some(before) = thinned.take(&envelope) {
                out.add(&before)?;
            }
            continue;
        }
        if let Some(before) = thinned.end() {
            out.add(&before)?;
        }
        out.add(&envelope)?;
    }
    if let Some(before) = thinned.end() {
        out.add(&before)?;
    }
    out.end()?.sync_all().map_err(io)?;
    Ok(thinned.elided)
}

/// Events behind each other of which one line is to be left.
#[derive(Default)]
struct Thinned {
    open: Option<(Seq, Arc<Envelope>)>,
    elided: u64,
}

impl Thinned {
    /// Takes up a piece of text; what is to be written before it, where it is of another message.
    fn take(&mut self, envelope: &Arc<Envelope>) -> Option<Envelope> {
        self.elided += 1;
        let is_next =
            self.open.as_ref().is_some_and(|(_, last)| message_of(last) == message_of(envelope) && last.seq.next() == envelope.seq);
        let before = if is_next { None } else { self.end() };
        let from = self.open.as_ref().map_or(envelope.seq, |(from, _)| *from);
        self.open = Some((from, envelope.clone()));
        before
    }

    fn end(&mut self) -> Option<Envelope> {
        let (from, last) = self.open.take()?;
        Some(Envelope { event: Elided { from, upto: last.seq }.into(), ..Envelope::clone(&last) })
    }
}

/// Lines on their way into frames, with commits and snapshots of their own.
pub(super) struct Packed {
    /// The plain recording, beside which long texts lie: the sealed one has them there too.
    recording: PathBuf,
    file: Arc<File>,
    encoder: Encoder<'static, Arc<File>>,
    batch: Vec<u8>,
    prev: String,
    upto: Seq,
    state: DashState,
    snapshots: Cadence,
}

impl Packed {
    pub(super) fn begin(
        recording: &Path,
        file: File,
        header: &Header,
        sealed: SealMark,
        part: Option<PartMark>,
    ) -> Result<Self, SealError> {
        let file = Arc::new(file);
        let options = EncodeOptions::new()
            .frame_size_policy(FrameSizePolicy::Uncompressed(FRAME_BYTES))
            .checksum_flag(true)
            .compression_level(LEVEL)
            .into_encoder(file.clone());
        let mut line = Vec::new();
        write_line(&mut line, &Marked { header, sealed, part })?;
        let mut packed = Self {
            recording: recording.to_owned(),
            file,
            encoder: options.map_err(packing)?,
            batch: Vec::new(),
            prev: crc_hex(&line),
            upto: Seq(0),
            state: DashState::default(),
            snapshots: Cadence::of(&RecorderSettings::default()),
        };
        packed.put(&line)?;
        Ok(packed)
    }

    /// The first event comes behind this state, which is written as it is.
    pub(super) fn begin_at(&mut self, state: DashState) {
        (self.upto, self.state) = (state.seq, state);
        self.snapshots.at_once(&self.state, &mut self.batch);
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), SealError> {
        self.encoder.write_all(bytes).map_err(|e| RecordError::Write(e.to_string()).into())
    }

    pub(super) fn add(&mut self, envelope: &Envelope) -> Result<(), SealError> {
        let before = self.batch.len();
        write_line(&mut self.batch, envelope)?;
        if let Some(short) = blobs::put(&self.recording, &self.batch[before..], &medium::create) {
            self.batch.truncate(before);
            self.batch.extend_from_slice(&short);
        }
        self.upto = envelope.seq;
        // The reader leaves no gap.
        let _ = self.state.apply(envelope);
        self.snapshots.after(self.batch.len() - before, &self.state, &mut self.batch);
        if self.batch.len() >= BATCH_BYTES { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), SealError> {
        let crc32c = crc_hex(&self.batch);
        let prev = std::mem::replace(&mut self.prev, crc32c.clone());
        let mut bytes = std::mem::take(&mut self.batch);
        write_line(&mut bytes, &CommitLine { k: COMMIT_KIND.into(), upto: self.upto, crc32c, prev })?;
        self.put(&bytes)
    }

    pub(super) fn end(mut self) -> Result<Arc<File>, SealError> {
        if !self.batch.is_empty() {
            self.commit()?;
        }
        self.encoder.finish().map_err(packing)?;
        Ok(self.file)
    }
}

fn packing(error: zeekstd::Error) -> SealError {
    RecordError::Write(error.to_string()).into()
}

/// Whether the sealed file says what the plain one does, but for what was left out.
fn is_same(plain: &mut Recording, sealed: &Path) -> Result<bool, SealError> {
    let mut sealed = Recording::open(sealed)?;
    let ending = |recording: &Recording| {
        let Integrity { committed_upto, uncommitted, torn_bytes, run_ended, .. } = *recording.integrity();
        (committed_upto, uncommitted, torn_bytes, run_ended)
    };
    if !sealed.integrity().damage.is_empty()
        || sealed.header() != plain.header()
        || ending(&sealed) != ending(plain)
        || sealed.end() != plain.end()
        || sealed.t_ns_end() != plain.t_ns_end()
    {
        return Ok(false);
    }
    let mut events = plain.events_from(Seq(1))?;
    for found in sealed.events_from(Seq(1))? {
        let found = found?;
        let Some(mut wanted) = events.next().transpose()? else { return Ok(false) };
        if let Event::Elided(elided) = &found.event {
            while wanted.seq < elided.upto && matches!(wanted.event, Event::ThoughtDelta(_)) {
                let Some(next) = events.next().transpose()? else { return Ok(false) };
                wanted = next;
            }
            if wanted.seq != elided.upto || !matches!(wanted.event, Event::ThoughtDelta(_) | Event::Elided(_)) {
                return Ok(false);
            }
        } else if serde_json::to_string(&*found).ok() != serde_json::to_string(&*wanted).ok() {
            return Ok(false);
        }
    }
    Ok(events.next().is_none())
}
