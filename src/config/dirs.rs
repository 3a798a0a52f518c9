//! Where this program keeps state and looks for its configuration, by the XDG base directory specification.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NAME: &str = "pilothouse";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no place for files: set {xdg} or HOME to an absolute path")]
pub struct DirsError {
    xdg: &'static str,
}

/// The directories; they need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// Recordings, the screen's memory, sockets: `$XDG_STATE_HOME/pilothouse`, else `~/.local/state/pilothouse`.
    pub state: PathBuf,
    /// `$XDG_CONFIG_HOME/pilothouse`, else `~/.config/pilothouse`.
    pub config: PathBuf,
}

impl Dirs {
    /// From this process' environment.
    pub fn from_process() -> Result<Self, DirsError> {
        Self::from_vars(|name| std::env::var_os(name))
    }

    /// Relative paths count as unset, as the specification has it.
    pub fn from_vars(var: impl Fn(&str) -> Option<OsString>) -> Result<Self, DirsError> {
        let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let place = |xdg: &'static str, below_home: &str| {
            let base = absolute(xdg).or_else(|| absolute("HOME").map(|home| home.join(below_home)));
            base.map(|base| base.join(NAME)).ok_or(DirsError { xdg })
        };
        Ok(Self { state: place("XDG_STATE_HOME", ".local/state")?, config: place("XDG_CONFIG_HOME", ".config")? })
    }

    /// The operator's own configuration, where there is one.
    pub fn config_file(&self) -> Option<PathBuf> {
        let file = self.config.join("config.ron");
        Path::exists(&file).then_some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirs(vars: &[(&str, &str)]) -> Result<Dirs, DirsError> {
        Dirs::from_vars(|name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn xdg_comes_before_home_and_relative_paths_count_as_unset() {
        let home = dirs(&[("HOME", "/home/ops")]).unwrap();
        assert_eq!(home.state, Path::new("/home/ops/.local/state/pilothouse"));
        assert_eq!(home.config, Path::new("/home/ops/.config/pilothouse"));
        let xdg = dirs(&[("HOME", "/home/ops"), ("XDG_STATE_HOME", "/var/s"), ("XDG_CONFIG_HOME", "relative")]).unwrap();
        assert_eq!(xdg.state, Path::new("/var/s/pilothouse"));
        assert_eq!(xdg.config, Path::new("/home/ops/.config/pilothouse"));
        assert_eq!(dirs(&[]).unwrap_err().to_string(), "there is no place for files: set XDG_STATE_HOME or HOME to an absolute path");
    }
}
