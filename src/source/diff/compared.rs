//! Two episodes or two recordings, by their files.

use super::{Address, Cancel, DiffError, EpisodeDiff, PairDiff, RecordingDiff, Side, Survey, compare_all};
use crate::journal::{Header, Recording};
use std::path::PathBuf;

/// A recording, or an episode of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it lies.
    pub file: PathBuf,
    /// What it is called in what is told.
    pub name: String,
    /// Unset is all of it.
    pub address: Option<Address>,
}

impl Named {
    pub fn new(file: PathBuf, address: Option<Address>) -> Self {
        Self { name: file.display().to_string(), file, address }
    }

    /// What can't be read of it is told by its name.
    fn failed(&self, error: DiffError) -> DiffError {
        match error {
            DiffError::NoEpisode { address, there, .. } => DiffError::NoEpisode { address, there, name: self.name.clone() },
            DiffError::Read(_) | DiffError::NoBranch { .. } | DiffError::Kinds | DiffError::Cancelled => error,
        }
    }

    /// What is wrong with the file. That the end of one is missing which is being written is nothing wrong.
    fn broken(&self, recording: &Recording) -> Vec<String> {
        let lines = if recording.is_growing() { Vec::new() } else { recording.integrity().lines() };
        lines.iter().map(|line| format!("{}: {line}", self.name)).collect()
    }
}

#[derive(Debug, PartialEq)]
pub enum Found {
    Episodes(Box<EpisodeDiff>),
    /// The pairs of episodes, at most as many as a list takes.
    Recordings(Box<RecordingDiff>, Vec<PairDiff>),
}

/// What came of a comparison, and what is wrong with the files or missing in them.
#[derive(Debug, PartialEq)]
pub struct Comparison {
    pub found: Found,
    pub broken: Vec<String>,
}

/// Pairs that are kept of two recordings.
pub const PAIRS_MAX: usize = 10_000;

/// Compares two of one kind. Without a second one, what a branch goes on from is A and the branch is B.
pub fn compare(a: &Named, b: Option<&Named>, is_cancelled: Cancel<'_>) -> Result<Comparison, DiffError> {
    match (a.address, b) {
        (Some(at_a), None) => episodes((a, at_a), None, is_cancelled),
        (Some(at_a), Some(b @ Named { address: Some(at_b), .. })) => episodes((a, at_a), Some((b, *at_b)), is_cancelled),
        (None, Some(b @ Named { address: None, .. })) => {
            let mut pairs = Vec::new();
            let mut keep = |piece: Piece<'_>| {
                if let Piece::Pair(pair) = piece
                    && pairs.len() < PAIRS_MAX
                {
                    pairs.push(*pair);
                }
                Ok(())
            };
            let (diff, broken) = recordings(a, b, is_cancelled, &mut keep)?;
            Ok(Comparison { found: Found::Recordings(Box::new(diff), pairs), broken })
        }
        (None, None | Some(_)) | (Some(_), Some(_)) => Err(DiffError::Kinds),
    }
}

/// An episode and the one that it is compared with. Without that, a branch is compared with what it goes on from.
pub fn episodes((a, at_a): (&Named, Address), b: Option<(&Named, Address)>, is_cancelled: Cancel<'_>) -> Result<Comparison, DiffError> {
    let mut in_a = Recording::open(&a.file)?;
    let survey = Survey::of(&mut in_a, is_cancelled)?;
    let no_branch = || DiffError::NoBranch { address: at_a, name: a.name.clone() };
    // What was there first is A.
    let (at_a, (b, at_b)) = match b {
        Some(b) => (at_a, b),
        None => {
            // An episode that is not there is told as such.
            survey.story(&mut in_a, at_a, is_cancelled).map_err(|e| a.failed(e))?;
            (survey.parent(at_a).ok_or_else(no_branch)?, (a, at_a))
        }
    };
    let story_a = survey.story(&mut in_a, at_a, is_cancelled).map_err(|e| a.failed(e))?;
    let mut lines = Vec::new();
    let story_b = if b.file == a.file {
        survey.story(&mut in_a, at_b, is_cancelled).map_err(|e| a.failed(e))?
    } else {
        let mut in_b = Recording::open(&b.file)?;
        let story = Survey::of(&mut in_b, is_cancelled)?.story(&mut in_b, at_b, is_cancelled).map_err(|e| b.failed(e))?;
        lines = b.broken(&in_b);
        story
    };
    let mut all = a.broken(&in_a);
    all.append(&mut lines);
    let lacks = [&story_a, &story_b].into_iter().filter(|s| s.lacks_parent).map(|s| s.address.to_string());
    all.extend(lacks.map(|at| format!("episode {at}: the steps that it goes on from are not in the recording")));
    Ok(Comparison { found: Found::Episodes(Box::new(EpisodeDiff::new(story_a, story_b))), broken: all })
}

/// What comes of two recordings while they are compared.
pub enum Piece<'a> {
    /// Of A and B, before all else.
    Headers([&'a Header; 2]),
    Pair(Box<PairDiff>),
}

/// Compares two recordings; what comes of it on the way is given to `on_piece`. What is wrong with the files comes with the sum.
pub fn recordings(
    a: &Named,
    b: &Named,
    is_cancelled: Cancel<'_>,
    on_piece: &mut dyn FnMut(Piece<'_>) -> Result<(), DiffError>,
) -> Result<(RecordingDiff, Vec<String>), DiffError> {
    let (mut in_a, mut in_b) = (Recording::open(&a.file)?, Recording::open(&b.file)?);
    let (mut side_a, mut side_b) = (Side::read(&mut in_a, is_cancelled)?, Side::read(&mut in_b, is_cancelled)?);
    on_piece(Piece::Headers([side_a.recording.header(), side_b.recording.header()]))?;
    let diff = compare_all(&mut side_a, &mut side_b, is_cancelled, &mut |pair| on_piece(Piece::Pair(Box::new(pair))))?;
    Ok((diff, [a.broken(&in_a), b.broken(&in_b)].concat()))
}
