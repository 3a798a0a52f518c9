//! The languages of the interface. English stands in the code, inside `tr!`; every other language is a Fluent catalogue whose
//! message ids are made from the English text, so that a text and its translation can't drift apart unseen: a test reads the
//! sources and holds every catalogue against them.

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource};
use std::cell::{Cell, RefCell};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lang {
    #[default]
    English,
    /// Simplified.
    Chinese,
}

const CHINESE: &str = include_str!("lang/zh-CN.ftl");

impl Lang {
    /// By what `--lang` takes, or by a locale such as `zh_CN.UTF-8`; `None` where there is no such catalogue.
    pub fn from_name(name: &str) -> Option<Self> {
        let language = name.split(['.', '@']).next().unwrap_or_default().replace('_', "-").to_lowercase();
        match language.split('-').next().unwrap_or_default() {
            "en" | "c" | "posix" => Some(Self::English),
            "zh" if !matches!(language.as_str(), "zh-tw" | "zh-hk" | "zh-mo" | "zh-hant") => Some(Self::Chinese),
            _ => None,
        }
    }

    /// By the environment, as POSIX orders it; English where it names none of ours.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| var(name).filter(|value| !value.is_empty()));
        named.and_then(|name| Self::from_name(&name)).unwrap_or_default()
    }
}

thread_local! {
    /// The language of what this thread draws. One thread draws; a test has its own.
    static LANG: Cell<Lang> = const { Cell::new(Lang::English) };
    static BUNDLE: RefCell<Option<FluentBundle<FluentResource>>> = const { RefCell::new(None) };
}

/// The language of what this thread draws from now on.
pub fn set(lang: Lang) {
    LANG.set(lang);
}

pub fn current() -> Lang {
    LANG.get()
}

/// The message id of an English text: its letters and digits, joined by `-`. Case counts: `Log` is a title, `log` is not.
pub fn id(english: &str) -> String {
    let mut id = String::with_capacity(english.len());
    for c in english.chars() {
        if c.is_ascii_alphanumeric() {
            id.push(c);
        } else if !id.ends_with('-') && !id.is_empty() {
            id.push('-');
        }
    }
    let id = id.trim_end_matches('-');
    // An id begins with a letter.
    if id.starts_with(|c: char| c.is_ascii_digit()) { format!("n-{id}") } else { id.to_owned() }
}

/// The translation; `None` in English, and where the catalogue lacks it.
pub fn look_up(english: &str, args: &[(&'static str, String)]) -> Option<String> {
    match LANG.get() {
        Lang::English => None,
        Lang::Chinese => BUNDLE.with_borrow_mut(|bundle| {
            let bundle = bundle.get_or_insert_with(|| load("zh-CN", CHINESE));
            let message = bundle.get_message(&id(english))?.value()?;
            let args: FluentArgs<'_> = args.iter().map(|(name, value)| (*name, value.clone())).collect();
            Some(bundle.format_pattern(message, Some(&args), &mut Vec::new()).into_owned())
        }),
    }
}

/// A text that stands in a table of the interface, in the operator's language.
pub fn text(english: &'static str) -> String {
    look_up(english, &[]).unwrap_or_else(|| english.to_owned())
}

/// The name of a command as a hint and the menu by digits show it. Behind `:` it is typed as it is.
pub fn name(command: &'static str) -> String {
    look_up(&format!("command {command}"), &[]).unwrap_or_else(|| command.to_owned())
}

fn load(name: &str, text: &str) -> FluentBundle<FluentResource> {
    // What can't be read is left out and shows in English; a test holds that nothing is.
    let resource = FluentResource::try_new(text.to_owned()).unwrap_or_else(|(resource, _)| resource);
    let mut bundle = FluentBundle::new(name.parse().ok().into_iter().collect());
    bundle.set_use_isolating(false);
    bundle.add_resource_overriding(resource);
    bundle
}

/// A text of the interface in the operator's language: `tr!("no alerts")`, `tr!("{n} new", n = count)`. Placeholders are plain
/// names, each given behind the text; what takes a format of its own is formatted before.
macro_rules! tr {
    ($english:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        $(let $name = ($value).to_string();)*
        $crate::ui::lang::look_up($english, &[$((stringify!($name), $name.clone())),*]).unwrap_or_else(|| format!($english))
    }};
}

pub(crate) use tr;

#[cfg(test)]
mod catalogue_tests;
#[cfg(test)]
mod screens_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_names_a_language_or_none_of_ours() {
        for (name, lang) in [
            ("zh_CN.UTF-8", Some(Lang::Chinese)),
            ("zh", Some(Lang::Chinese)),
            ("zh_TW.UTF-8", None),
            ("C.UTF-8", Some(Lang::English)),
            ("en_GB", Some(Lang::English)),
            ("de_DE.UTF-8", None),
        ] {
            assert_eq!(Lang::from_name(name), lang, "{name}");
        }
        let var = |name: &str| match name {
            "LC_ALL" => Some(String::new()),
            "LANG" => Some("zh_CN.UTF-8".to_owned()),
            _ => None,
        };
        assert_eq!(Lang::detect(var), Lang::Chinese);
        assert_eq!(Lang::detect(|_| None), Lang::English);
    }

    #[test]
    fn ids_come_from_the_english_text() {
        assert_eq!(id("follow off, {n} new, G to catch up"), "follow-off-n-new-G-to-catch-up");
        assert_eq!(id("1 match"), "n-1-match");
    }

    #[test]
    fn english_is_the_text_itself_and_chinese_is_looked_up() {
        assert_eq!(tr!("{n} new", n = 3), "3 new");
        set(Lang::Chinese);
        assert_eq!(tr!("no alerts"), "没有告警");
        assert_eq!(tr!("no such text {n}", n = 1), "no such text 1");
        set(Lang::English);
    }
}
