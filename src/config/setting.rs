//! The types that a setting may have, and the checks that the table uses.

use super::receivers::{Receiver, files};
use super::table::Field;
use crate::event::{CheckpointId, Level, SafeText, Seed, nearest};
use ron::extensions::Extensions;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// How all our RON is read: `Some(…)` may be left out, and nesting has an end.
pub(super) fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME).with_recursion_limit(64)
}

/// A type that a setting may have.
pub(super) trait Setting: Serialize + DeserializeOwned {
    /// What it is, for errors: "a whole number".
    const NEED: &'static str;

    /// From a flag or an environment variable, written as in the file; text needs no quotes there.
    fn from_text(text: &str) -> Result<Self, String> {
        ron_options().from_str(text).map_err(|e| e.code.to_string())
    }

    /// What to say of a value that can't be read; `error` is the reader's.
    fn fault(_error: &str) -> String {
        format!("should be {}", Self::NEED)
    }

    /// As it would stand in the file.
    fn show(&self) -> String {
        // Writing plain values to a string can't fail; were it so, the reason is shown in its place.
        ron_options().to_string(self).unwrap_or_else(|e| e.to_string())
    }
}

macro_rules! setting {
    ($($ty:ty: $need:literal,)*) => {
        $(impl Setting for $ty {
            const NEED: &'static str = $need;
        })*
    };
}

setting! {
    bool: "true or false",
    u8: "a whole number, not negative",
    u32: "a whole number, not negative",
    f32: "a number",
    f64: "a number",
    Seed: "a whole number from 0 to 18446744073709551615",
    Level: "L0, L1, L2 or L3",
    Color: "auto, always, never, ansi16, ansi256 or truecolor",
    Charts: "braille, block or ascii",
    Notify: "none, bell, osc9 or osc777",
    Severity: "info, warning or critical",
    BTreeMap<String, String>: "names and texts in quotes, such as {\"cluster\": \"a\"}",
}

macro_rules! text_setting {
    ($($ty:ty: $need:literal,)*) => {
        $(impl Setting for $ty {
            const NEED: &'static str = $need;
            fn from_text(text: &str) -> Result<Self, String> {
                Ok(unquoted(text)?.as_str().into())
            }
        })*
    };
}

text_setting! {
    String: "text in quotes",
    PathBuf: "a path in quotes",
    CheckpointId: "the name of a checkpoint in quotes",
}

impl Setting for Vec<PathBuf> {
    const NEED: &'static str = "a list of paths in quotes, such as [\"rules.yaml\"]";
    fn from_text(text: &str) -> Result<Self, String> {
        files(text)
    }
}

impl Setting for Vec<Receiver> {
    const NEED: &'static str = "a list of receivers, such as [(name: \"ops\", to: Webhook(url_env: \"OPS_URL\"))]";
    fn fault(error: &str) -> String {
        // Of a list of records the reader says best where it is wrong.
        format!("should be {}: {error}", Self::NEED)
    }
}

/// Text as it is, or a RON string where it begins with a quote.
fn unquoted(text: &str) -> Result<String, String> {
    if text.starts_with('"') { ron_options().from_str(text).map_err(|e| e.code.to_string()) } else { Ok(text.to_owned()) }
}

impl<T: Setting> Setting for Option<T> {
    const NEED: &'static str = T::NEED;
    fn fault(error: &str) -> String {
        T::fault(error)
    }
    fn from_text(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("none") { Ok(None) } else { T::from_text(text).map(Some) }
    }
}

/// A value that stands as text in the file and is read by its own parser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parsed<T>(pub T);

impl<T: fmt::Display> Serialize for Parsed<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err = String>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map(Parsed).map_err(D::Error::custom)
    }
}

impl<T: FromStr<Err = String> + fmt::Display> Setting for Parsed<T> {
    const NEED: &'static str = "text in quotes";
    fn from_text(text: &str) -> Result<Self, String> {
        unquoted(text)?.parse().map(Parsed)
    }
    fn fault(error: &str) -> String {
        // Its own parser says best what is wrong.
        format!("should be {}: {error}", Self::NEED)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// What the terminal can do.
    Auto,
    /// As `auto`, also where the output is no terminal.
    Always,
    Never,
    Ansi16,
    Ansi256,
    Truecolor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Charts {
    Braille,
    Block,
    Ascii,
}

/// How an alert makes itself heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    #[default]
    None,
    Bell,
    Osc9,
    Osc777,
}

/// How much an alert matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    #[default]
    Warning,
    Critical,
}

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen(pub SocketAddr);

impl FromStr for Listen {
    type Err = String;
    /// `ADDRESS:PORT`; a port alone, with a colon or without, is of the loopback.
    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.strip_prefix(':').unwrap_or(text);
        let loopback = || port.parse().ok().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let address = text.parse().ok().or_else(loopback);
        address
            .map(Listen)
            .ok_or_else(|| format!("`{}` is no address; give IP:PORT, such as 127.0.0.1:9464, or a port", SafeText::new(text)))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A name in a file: section or setting.
pub(super) struct Key(pub String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
                Ok(Key(name.to_owned()))
            }
        }
        d.deserialize_identifier(Name)
    }
}

/// What to say of a name that no setting of `section` has.
pub(super) fn unknown_field(fields: &[Field], section: &str, found: &str) -> String {
    let names = || fields.iter().filter(|f| f.section == section).map(|f| f.name);
    let elsewhere = fields.iter().find(|f| f.name == found);
    let hint = match (elsewhere, nearest(found, names())) {
        (Some(field), _) => format!("it belongs to section `{}`", field.section),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    format!("section `{section}` has no setting `{}`; {hint}", SafeText::new(found))
}

/// What to say of a name that no section has.
pub(super) fn unknown_section(fields: &[Field], found: &str) -> String {
    let mut sections: Vec<&str> = fields.iter().map(|f| f.section).collect();
    sections.dedup();
    let elsewhere = fields.iter().find(|f| f.name == found);
    let hint = match (elsewhere, nearest(found, sections.iter().copied())) {
        (Some(field), _) => format!("it is a setting of section `{}`", field.section),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("there are {}", sections.join(", ")),
    };
    format!("no section is named `{}`; {hint}", SafeText::new(found))
}

pub(super) fn any<T>(_: &T) -> Result<(), String> {
    Ok(())
}

/// `low` to `high`, both included; NaN is never within.
pub(super) fn within<T: PartialOrd + fmt::Display + Copy>(low: T, high: T) -> impl Fn(&T) -> Result<(), String> {
    move |value| if (low..=high).contains(value) { Ok(()) } else { Err(format!("is {value}; give {low} to {high}")) }
}

pub(super) fn one_of(choices: &'static [u8]) -> impl Fn(&u8) -> Result<(), String> {
    move |value| {
        let words: Vec<String> = choices.iter().map(u8::to_string).collect();
        if choices.contains(value) { Ok(()) } else { Err(format!("is {value}; give {}", words.join(" or "))) }
    }
}

#[expect(clippy::ptr_arg, reason = "the table hands each check a reference to the setting's own type")]
pub(super) fn nonempty(text: &String) -> Result<(), String> {
    if text.trim().is_empty() { Err("is empty; give a name or leave the setting out".to_owned()) } else { Ok(()) }
}

#[expect(clippy::ref_option, reason = "the table hands each check a reference to the setting's own type")]
pub(super) fn language(name: &Option<String>) -> Result<(), String> {
    match name.as_deref() {
        None | Some("en" | "zh-CN" | "zh") => Ok(()),
        Some(other) => Err(format!("is `{}`; give en or zh-CN", SafeText::new(other))),
    }
}

pub(super) fn label_names(labels: &BTreeMap<String, String>) -> Result<(), String> {
    let is_name =
        |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    match labels.keys().find(|name| name.is_empty() || !is_name(name)) {
        Some(name) => Err(format!("has the label `{}`; a name has letters, digits and _", SafeText::new(name))),
        None => Ok(()),
    }
}

pub(super) fn device(text: &String) -> Result<(), String> {
    let is_cuda = text.strip_prefix("cuda:").is_some_and(|n| n.parse::<u16>().is_ok());
    if is_cuda || text == "auto" || text == "cpu" {
        Ok(())
    } else {
        Err(format!("is `{}`; give auto, cpu, or cuda:N with the number of the GPU", SafeText::new(text)))
    }
}
