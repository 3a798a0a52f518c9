//! Who is told of alerts: as a list in the configuration.

use super::setting::{Severity, ron_options};
use crate::event::{Matching, SilenceMatcher};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Receivers of one configuration.
const RECEIVERS_MAX: usize = 32;

/// One receiver, and what it wants to hear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// As it stands in events.
    pub name: String,
    pub to: Target,
    /// Alerts of this severity and above.
    #[serde(default = "least")]
    pub severity: Severity,
    /// Alerts whose labels meet all of these, such as `team="gpu"`.
    #[serde(default)]
    pub matchers: Vec<String>,
    /// Whether it is told that an alert has ended.
    #[serde(default = "yes")]
    pub send_resolved: bool,
    /// How long one attempt may take.
    #[serde(default = "ten")]
    pub timeout_seconds: u32,
}

/// Where an alert goes. What is secret comes from the environment or from a file that is read anew each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Target {
    /// Alertmanager's webhook JSON, version 4.
    Webhook {
        #[serde(default)]
        url: Option<String>,
        #[serde(default)]
        url_env: Option<String>,
        #[serde(default)]
        url_file: Option<PathBuf>,
        /// Basic authorization, with the token as the password. Without it the token is sent as `Authorization: Bearer`.
        #[serde(default)]
        user: Option<String>,
        #[serde(default)]
        token_env: Option<String>,
        #[serde(default)]
        token_file: Option<PathBuf>,
    },
    /// All of them are told, as Prometheus does.
    Alertmanager {
        urls: Vec<String>,
        /// As of a webhook.
        #[serde(default)]
        user: Option<String>,
        #[serde(default)]
        token_env: Option<String>,
        #[serde(default)]
        token_file: Option<PathBuf>,
        /// What fires is told again after this time.
        #[serde(default = "minute")]
        resend_seconds: u32,
        /// Whether silences are made there, and those that are there are heeded here.
        #[serde(default = "yes")]
        silences: bool,
    },
    /// A program and its arguments, without a shell; the alerts come on its standard input, as JSON.
    Command {
        argv: Vec<String>,
        /// Variables of this process' environment that it sees; it has PATH, and nothing else.
        #[serde(default)]
        env: Vec<String>,
    },
}

fn least() -> Severity {
    Severity::Info
}

fn yes() -> bool {
    true
}

fn ten() -> u32 {
    10
}

fn minute() -> u32 {
    60
}

/// What is wrong with a list of receivers.
#[expect(clippy::ptr_arg, reason = "the table hands each check a reference to the setting's own type")]
pub(super) fn sound(receivers: &Vec<Receiver>) -> Result<(), String> {
    if receivers.len() > RECEIVERS_MAX {
        return Err(format!("has {} receivers; give at most {RECEIVERS_MAX}", receivers.len()));
    }
    for (i, receiver) in receivers.iter().enumerate() {
        let fault = |what: String| Err(format!("has a receiver `{}` that {what}", receiver.name));
        if receiver.name.trim().is_empty() {
            return Err("has a receiver without a name".into());
        }
        if receivers[..i].iter().any(|other| other.name == receiver.name) {
            return fault("stands twice; give each a name of its own".into());
        }
        if !(1..=300).contains(&receiver.timeout_seconds) {
            return fault(format!("has timeout_seconds {}; give 1 to 300", receiver.timeout_seconds));
        }
        if let Err(reason) = matching(&receiver.matchers) {
            return fault(format!("has a matcher that can't be used: {reason}"));
        }
        if let Err(what) = receiver.to.sound() {
            return fault(what.into());
        }
    }
    let shares = |receiver: &&Receiver| matches!(receiver.to, Target::Alertmanager { silences: true, .. });
    let sharing: Vec<&str> = receivers.iter().filter(shares).map(|receiver| receiver.name.as_str()).collect();
    match sharing.as_slice() {
        [first, second, ..] => Err(format!(
            "shares silences with `{first}` and with `{second}`; give one cluster as one receiver with several urls, and silences: false to all receivers but one"
        )),
        [] | [_] => Ok(()),
    }
}

/// Matchers as they are written.
fn matching(matchers: &[String]) -> Result<Matching, String> {
    let parsed: Vec<SilenceMatcher> = matchers.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    Matching::new(&parsed)
}

impl Receiver {
    /// Its matchers, compiled; the configuration was checked when it was read.
    pub fn matching(&self) -> Result<Matching, String> {
        matching(&self.matchers)
    }
}

impl Target {
    fn sound(&self) -> Result<(), &'static str> {
        match self {
            Target::Webhook { url, url_env, url_file, user, token_env, token_file } => {
                if usize::from(url.is_some()) + usize::from(url_env.is_some()) + usize::from(url_file.is_some()) != 1 {
                    return Err("needs one of url, url_env and url_file");
                }
                one_token(user.as_ref(), token_env.as_ref(), token_file.as_ref())
            }
            Target::Alertmanager { urls, user, token_env, token_file, resend_seconds, silences: _ } => {
                if urls.is_empty() {
                    return Err("names no urls of Alertmanagers, such as [\"http://127.0.0.1:9093\"]");
                }
                if !(1..=3_600).contains(resend_seconds) {
                    return Err("has a resend_seconds that is not 1 to 3600");
                }
                one_token(user.as_ref(), token_env.as_ref(), token_file.as_ref())
            }
            Target::Command { argv, env: _ } if argv.first().is_none_or(|program| program.trim().is_empty()) => {
                Err("names no program: give argv: [\"/path/to/program\", \"argument\"]")
            }
            Target::Command { .. } => Ok(()),
        }
    }
}

fn one_token(user: Option<&String>, env: Option<&String>, file: Option<&PathBuf>) -> Result<(), &'static str> {
    match (user, env, file) {
        (_, Some(_), Some(_)) => Err("has both token_env and token_file; keep one"),
        (Some(_), None, None) => Err("has a user without a password; give it by token_env or token_file"),
        _any => Ok(()),
    }
}

/// A list of files, or one file without the brackets.
pub(super) fn files(text: &str) -> Result<Vec<PathBuf>, String> {
    if text.trim_start().starts_with('[') {
        return ron_options().from_str(text).map_err(|e| e.code.to_string());
    }
    Ok(vec![PathBuf::from(text)])
}

/// The other way round: a list of files as text.
pub fn file_list(files: &[PathBuf]) -> String {
    // Writing paths to a string can't fail but for a path that is no text; the reader names it then.
    ron_options().to_string(files).unwrap_or_else(|error| error.to_string())
}
