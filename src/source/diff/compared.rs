//! Two episodes or two recordings, by their files.

use super::{Address, Cancel, DiffError, EpisodeDiff, PairDiff, RecordingDiff, Side, Survey, compare_all};
use crate::journal::Recording;
use std::path::{Path, PathBuf};

/// A recording, or an episode of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub file: PathBuf,
    /// Unset is all of it.
    pub address: Option<Address>,
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
        (Some(at_a), None) => episodes(&a.file, at_a, None, is_cancelled),
        (Some(at_a), Some(Named { file, address: Some(at_b) })) => episodes(&a.file, at_a, Some((file, *at_b)), is_cancelled),
        (None, Some(Named { file, address: None })) => recordings(&a.file, file, is_cancelled),
        (None, None | Some(_)) | (Some(_), Some(_)) => Err(DiffError::Kinds),
    }
}

/// What is wrong with a file. That the end of one is missing which is being written is nothing wrong.
fn broken(recording: &Recording) -> Vec<String> {
    let lines = if recording.is_growing() { Vec::new() } else { recording.integrity().lines() };
    lines.iter().map(|line| format!("{}: {line}", recording.path().display())).collect()
}

/// An episode and the one that it is compared with. Without that, a branch is compared with what it goes on from.
pub fn episodes(file_a: &Path, at_a: Address, b: Option<(&Path, Address)>, is_cancelled: Cancel<'_>) -> Result<Comparison, DiffError> {
    let mut in_a = Recording::open(file_a)?;
    let survey = Survey::of(&mut in_a, is_cancelled)?;
    let no_branch = || DiffError::NoBranch { address: at_a, name: file_a.display().to_string() };
    // What was there first is A.
    let (at_a, (file_b, at_b)) = match b {
        Some(b) => (at_a, b),
        None => {
            // An episode that is not there is told as such.
            survey.story(&mut in_a, at_a, is_cancelled)?;
            (survey.parent(at_a).ok_or_else(no_branch)?, (file_a, at_a))
        }
    };
    let story_a = survey.story(&mut in_a, at_a, is_cancelled)?;
    let mut lines = Vec::new();
    let story_b = if file_b == file_a {
        survey.story(&mut in_a, at_b, is_cancelled)?
    } else {
        let mut in_b = Recording::open(file_b)?;
        let story = Survey::of(&mut in_b, is_cancelled)?.story(&mut in_b, at_b, is_cancelled)?;
        lines = broken(&in_b);
        story
    };
    let mut all = broken(&in_a);
    all.append(&mut lines);
    let lacks = [&story_a, &story_b].into_iter().filter(|s| s.lacks_parent).map(|s| s.address.to_string());
    all.extend(lacks.map(|at| format!("episode {at}: the steps that it goes on from are not in the recording")));
    Ok(Comparison { found: Found::Episodes(Box::new(EpisodeDiff::new(story_a, story_b))), broken: all })
}

fn recordings(file_a: &Path, file_b: &Path, is_cancelled: Cancel<'_>) -> Result<Comparison, DiffError> {
    let (mut in_a, mut in_b) = (Recording::open(file_a)?, Recording::open(file_b)?);
    let (mut side_a, mut side_b) = (Side::read(&mut in_a, is_cancelled)?, Side::read(&mut in_b, is_cancelled)?);
    let mut pairs = Vec::new();
    let mut on_pair = |pair| {
        if pairs.len() < PAIRS_MAX {
            pairs.push(pair);
        }
        Ok(())
    };
    let diff = compare_all(&mut side_a, &mut side_b, is_cancelled, &mut on_pair)?;
    let lines = [broken(&in_a), broken(&in_b)].concat();
    Ok(Comparison { found: Found::Recordings(Box::new(diff), pairs), broken: lines })
}
