//! What is compared: two episodes or two recordings, asked of backstage, and what came of it.

use super::lang::tr;
use crate::source::diff::{Address, Cancel, Comparison, DiffError, Found, Named, compare};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffSide {
    /// Unset is the recording that the live run writes.
    pub file: Option<PathBuf>,
    /// Unset is all of it.
    pub address: Option<Address>,
}

/// What is to be compared. Without a second side, a branch is compared with what it goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffAsk {
    pub a: DiffSide,
    pub b: Option<DiffSide>,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub struct Compared {
    /// The files of A and B.
    pub files: [DiffFile; 2],
    pub found: Found,
    /// What is wrong with the files, or missing in them.
    pub broken: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffFile {
    pub path: PathBuf,
    /// As it was asked for: unset is what the live run writes.
    pub asked: Option<PathBuf>,
}

/// The sides with their files.
pub type Sides = (DiffFile, Named, Option<(DiffFile, Named)>);

/// Where the files are; `own` is what the live run writes.
pub fn resolved(ask: &DiffAsk, own: Option<&Path>) -> Result<Sides, String> {
    let side = |side: &DiffSide| {
        let path = side.file.clone().or_else(|| own.map(Path::to_owned));
        let path = path.ok_or_else(|| tr!("this run is not recorded: there is nothing to compare"))?;
        Ok::<_, String>((DiffFile { path: path.clone(), asked: side.file.clone() }, Named::new(path, side.address)))
    };
    let (file, named) = side(&ask.a)?;
    Ok((file, named, ask.b.as_ref().map(side).transpose()?))
}

/// Compares; nothing where it was cancelled.
pub fn compared((file_a, a, b): Sides, is_cancelled: Cancel<'_>) -> Option<Result<Arc<Compared>, String>> {
    let (file_b, b) = b.map_or_else(|| (file_a.clone(), None), |(file, named)| (file, Some(named)));
    match compare(&a, b.as_ref(), is_cancelled) {
        Ok(Comparison { found, broken }) => Some(Ok(Arc::new(Compared { files: [file_a, file_b], found, broken }))),
        Err(DiffError::Cancelled) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// What was compared last, and what is being compared.
#[derive(Debug, Default)]
pub struct DiffDesk {
    pub compared: Option<Arc<Compared>>,
    asked: Option<DiffAsk>,
    /// Why the last one came to nothing.
    pub failed: Option<String>,
}

impl DiffDesk {
    pub fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    pub fn asked(&mut self, ask: &DiffAsk) {
        (self.asked, self.failed) = (Some(ask.clone()), None);
    }

    pub fn cancelled(&mut self) {
        self.asked = None;
    }

    /// Takes up what came; what to tell. What was asked for before that is no longer wanted.
    pub fn take(&mut self, ask: DiffAsk, found: Option<Result<Arc<Compared>, String>>) -> Option<String> {
        self.asked.take_if(|asked| *asked == ask)?;
        match found? {
            Ok(compared) => {
                let told = match &compared.found {
                    Found::Episodes(diff) if diff.is_same() => tr!("nothing differs"),
                    Found::Episodes(diff) => match &diff.first {
                        Some(first) => tr!("compared: they part at step {step}", step = first.step),
                        None => tr!("compared: the same steps"),
                    },
                    Found::Recordings(diff, _) if diff.is_same() => tr!("nothing differs"),
                    Found::Recordings(diff, _) => {
                        tr!("compared: {n} of {all} pairs of episodes are the same", n = diff.same, all = diff.pairs)
                    }
                };
                self.compared = Some(compared);
                Some(told)
            }
            Err(reason) => {
                self.failed = Some(reason.clone());
                Some(tr!("not compared: {reason}", reason = reason))
            }
        }
    }
}
