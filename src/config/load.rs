//! Layers: defaults, profile, file, environment, `--set`, flags. A later one wins.

use super::error::{ConfigError, Place, Problem};
use super::setting::{ron_options, unknown_field, unknown_section};
use super::table::{Config, FIELDS, Raw};
use crate::event::SafeText;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A larger file is no configuration.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 20;
const ENV_PREFIX: &str = "PILOTHOUSE__";
const ENV_PROFILE: &str = "PILOTHOUSE_PROFILE";

const DEFAULTS: (&str, &str) = ("configs/default.ron", include_str!("../../configs/default.ron"));

/// A set of defaults that fits the place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    #[default]
    Dev,
    Test,
    Prod,
}

impl Profile {
    pub const ALL: [Profile; 3] = [Profile::Dev, Profile::Test, Profile::Prod];

    pub fn name(self) -> &'static str {
        match self {
            Profile::Dev => "dev",
            Profile::Test => "test",
            Profile::Prod => "prod",
        }
    }

    fn patch(self) -> (&'static str, &'static str) {
        match self {
            Profile::Dev => ("configs/dev.ron", include_str!("../../configs/dev.ron")),
            Profile::Test => ("configs/test.ron", include_str!("../../configs/test.ron")),
            Profile::Prod => ("configs/prod.ron", include_str!("../../configs/prod.ron")),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A flag of its own that stands for a setting: `--seed 7` is `run.seed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// With its dashes.
    pub name: &'static str,
    /// `section.field`.
    pub path: &'static str,
    /// Text needs no quotes; `none` unsets what is optional.
    pub value: String,
}

/// Where a configuration comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// A patch over defaults and profile.
    pub file: Option<PathBuf>,
    /// `dev`, `test` or `prod`; else `PILOTHOUSE_PROFILE` says, else it is `dev`.
    pub profile: Option<String>,
    /// Environment variables; only those that begin with `PILOTHOUSE_` are looked at.
    pub env: BTreeMap<String, String>,
    /// Each `section.field=value`.
    pub sets: Vec<String>,
    pub flags: Vec<Flag>,
}

impl Sources {
    /// With the variables of this process.
    pub fn with_process_env(mut self) -> Self {
        let vars = std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
        self.env.extend(vars.filter(|(name, _)| name.starts_with("PILOTHOUSE_")));
        self
    }
}

/// Who said a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    Profile(Profile),
    File(PathBuf),
    Env(String),
    Set,
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Profile(profile) => write!(f, "profile {profile}"),
            Origin::File(path) => SafeText::from(path.display().to_string()).fmt(f),
            Origin::Env(name) => f.write_str(name),
            Origin::Set => f.write_str("--set"),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// One line of `config show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `section.field`.
    pub path: &'static str,
    /// As it would stand in a file.
    pub value: SafeText,
    pub origin: Origin,
}

impl Config {
    /// Every setting, in the order of `configs/default.ron`.
    pub fn lines(&self) -> Vec<Line> {
        let lines = FIELDS.iter().zip(self.values());
        lines
            .map(|(field, value)| Line {
                path: field.path,
                value: value.into(),
                origin: self.origins.get(field.path).cloned().unwrap_or(Origin::Default),
            })
            .collect()
    }

    /// SHA-256, as hexadecimal digits, over the profile's name and every setting with its value; origins don't count.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(format!("profile = {}\n", self.profile_name));
        for (field, value) in FIELDS.iter().zip(self.values()) {
            hash.update(format!("{} = {value}\n", field.path));
        }
        hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// Reads all sources and resolves them. The first fault that is found is returned.
pub fn load(sources: &Sources) -> Result<Config, ConfigError> {
    let profile = profile(sources)?;
    let mut layers = Layers::default();
    layers.text(Path::new(DEFAULTS.0), DEFAULTS.1, &Origin::Default)?;
    let (name, text) = profile.patch();
    layers.text(Path::new(name), text, &Origin::Profile(profile))?;
    if let Some(file) = &sources.file {
        layers.text(file, &read(file)?, &Origin::File(file.clone()))?;
    }
    for (name, value) in &sources.env {
        if let Some(rest) = name.strip_prefix(ENV_PREFIX) {
            layers.value(&rest.to_lowercase().replacen("__", ".", 1), value, Origin::Env(name.clone()), || Place::Env(name.clone()))?;
        }
    }
    for set in &sources.sets {
        let place = || Place::Flag(format!("--set {set}"));
        let Some((path, value)) = set.split_once('=') else {
            return Err(ConfigError { place: place(), problem: Problem::NoEquals });
        };
        layers.value(path.trim(), value.trim(), Origin::Set, place)?;
    }
    for flag in &sources.flags {
        layers.value(flag.path, &flag.value, Origin::Flag(flag.name), || Place::Flag(format!("{} {}", flag.name, flag.value)))?;
    }
    layers.finish(profile)
}

fn profile(sources: &Sources) -> Result<Profile, ConfigError> {
    let named = sources.profile.as_ref().map(|name| (name, Place::Flag(format!("--profile {name}"))));
    let from_env = || sources.env.get(ENV_PROFILE).map(|name| (name, Place::Env(ENV_PROFILE.to_owned())));
    let Some((name, place)) = named.or_else(from_env) else { return Ok(Profile::default()) };
    let known = Profile::ALL.into_iter().find(|profile| profile.name().eq_ignore_ascii_case(name));
    known.ok_or_else(|| ConfigError { place, problem: Problem::Profile { found: SafeText::new(name) } })
}

/// The text of a file; never more than `FILE_BYTES_MAX` is read.
fn read(path: &Path) -> Result<String, ConfigError> {
    let fault = |problem| ConfigError { place: Place::WholeFile(path.to_owned()), problem };
    // A pipe would be waited for.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(fault(Problem::Read(std::io::Error::other("it is no regular file"))));
    }
    let file = std::fs::File::open(path).map_err(|e| fault(Problem::Read(e)))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|e| fault(Problem::Read(e)))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(fault(Problem::TooLarge));
    }
    String::from_utf8(bytes).map_err(|_| fault(Problem::NotText))
}

#[derive(Default)]
struct Layers {
    raw: Raw,
    origins: BTreeMap<&'static str, Origin>,
}

impl Layers {
    /// A whole file.
    fn text(&mut self, name: &Path, text: &str, origin: &Origin) -> Result<(), ConfigError> {
        let patch: Raw = ron_options().from_str(text).map_err(|e| spanned(name, e))?;
        self.raw.overlay(patch, origin, &mut self.origins);
        Ok(())
    }

    /// One value.
    fn value(&mut self, path: &str, text: &str, origin: Origin, place: impl Fn() -> Place) -> Result<(), ConfigError> {
        let fault = |text: String| ConfigError { place: place(), problem: Problem::Setting(text.into()) };
        let mut patch = Raw::default();
        match patch.set(path, text) {
            Some(outcome) => outcome.map_err(fault)?,
            None => return Err(fault(unknown_path(path))),
        }
        self.raw.overlay(patch, &origin, &mut self.origins);
        Ok(())
    }

    /// Checks what hangs on more than one setting.
    fn finish(self, profile: Profile) -> Result<Config, ConfigError> {
        let unset = |path| ConfigError { place: Place::Setting { path, origin: Origin::Default.to_string() }, problem: Problem::Unset };
        let config = self.raw.resolve(profile, self.origins).map_err(unset)?;
        let agent = &config.agent;
        if agent.keep_steps >= agent.window_steps {
            let path = "agent.keep_steps";
            let origin = config.origins.get(path).unwrap_or(&Origin::Default).to_string();
            let text = format!("is {}, which is not less than `agent.window_steps` ({}): lower it", agent.keep_steps, agent.window_steps);
            return Err(ConfigError { place: Place::Setting { path, origin }, problem: Problem::Setting(text.into()) });
        }
        Ok(config)
    }
}

fn unknown_path(path: &str) -> String {
    match path.split_once('.') {
        Some((section, field)) if FIELDS.iter().any(|f| f.section == section) => unknown_field(FIELDS, section, field),
        Some((section, _)) => unknown_section(FIELDS, section),
        None => unknown_section(FIELDS, path),
    }
}

/// A fault of a file with its place. What we say ourselves comes as `Message`; the rest is the RON reader's.
fn spanned(name: &Path, error: ron::error::SpannedError) -> ConfigError {
    let place = Place::File { name: name.to_owned(), line: error.span.start.line, column: error.span.start.col };
    let problem = match error.code {
        ron::Error::Message(text) => Problem::Setting(text.into()),
        ron::Error::ExceededRecursionLimit => Problem::Syntax("it nests too deep".into()),
        ron::Error::ExpectedNamedStructLike(_) => Problem::Syntax("a section is written as (name: value, …)".into()),
        other => Problem::Syntax(other.to_string().into()),
    };
    ConfigError { place, problem }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
