//! How the sides of a comparison are typed.

use crate::event::{Address, NoAddress};
use std::path::{Path, PathBuf};

/// `FILE`, `FILE#[LANE:]EPISODE`, or `[LANE:]EPISODE` of another file, also with the sign, which a shell would take for a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    pub file: Option<PathBuf>,
    pub address: Option<Address>,
}

impl Typed {
    /// A file that is there has the right to its name, also where that looks like an episode or has the sign in it.
    pub fn parse(text: &str) -> Result<Self, NoAddress> {
        let whole = || Self { file: Some(PathBuf::from(text)), address: None };
        if Path::new(text).exists() {
            return Ok(whole());
        }
        if let Ok(address) = text.parse() {
            return Ok(Self { file: None, address: Some(address) });
        }
        let Some((file, address)) = text.rsplit_once('#') else { return Ok(whole()) };
        Ok(Self { file: (!file.is_empty()).then(|| PathBuf::from(file)), address: Some(address.parse()?) })
    }
}
