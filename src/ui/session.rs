//! What this screen was like when it was left: a small file in the state directory, never the configuration.

use super::look::Look;
use super::panes::rules::{Class, RuleGrouping, RuleSort};
use super::theme::{Tier, is_file};
use super::view::{ChartView, Detail, EpisodeSort, PaneId, ScreenId, Share, View};
use crate::event::{LogLevel, SafeText};
use crate::state::TokenMeasure;
use crate::ui::lang::tr;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Version 1 had no screens, no folds of the raw view and no search; what it lacks is as at a first start.
const VERSION: u32 = 2;

/// Most bytes of the file.
const FILE_BYTES_MAX: u64 = 1 << 16;

macro_rules! session {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct Session {
            version: u32,
            $($(#[$doc])* $field: $ty,)*
            /// Fields that a newer program wrote.
            #[serde(skip)]
            unknown: Vec<String>,
        }

        impl<'de> Deserialize<'de> for Session {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> Visitor<'de> for Fields {
                    type Value = Session;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("what a screen was like: (version: 2, …)")
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Session, A::Error> {
                        let mut session = Session::default();
                        while let Some(Name(name)) = map.next_key()? {
                            match name.as_str() {
                                "version" => session.version = map.next_value()?,
                                $(stringify!($field) => session.$field = map.next_value()?,)*
                                _ => {
                                    let _: IgnoredAny = map.next_value()?;
                                    session.unknown.push(name);
                                }
                            }
                        }
                        Ok(session)
                    }
                }
                deserializer.deserialize_struct("", &["version", $(stringify!($field),)*], Fields)
            }
        }
    };
}

session! {
    screen: ScreenId,
    focus: PaneId,
    /// The focus of the other screens.
    focus_left: BTreeMap<ScreenId, PaneId>,
    share: Share,
    detail: Detail,
    chart: ChartView,
    raw: bool,
    overlay: Option<TokenMeasure>,
    search: String,
    /// Filters of lists, and how they are sorted.
    episodes_filter: String,
    episodes_sort: EpisodeSort,
    rules_filter: String,
    rules_sort: RuleSort,
    rules_grouping: RuleGrouping,
    rules_hidden: Vec<Class>,
    log_filter: String,
    log_level: Option<LogLevel>,
    /// What was chosen at the screen; unset leaves it to the configuration.
    theme: Option<String>,
    colors: Option<String>,
}

/// A field's name, in a file.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Name, E> {
                Ok(Name(name.to_owned()))
            }
        }
        deserializer.deserialize_identifier(Text)
    }
}

/// What the operator said at this start: it comes before what was chosen at the screen earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub theme: bool,
    pub colors: bool,
}

pub fn path(state_directory: &Path) -> PathBuf {
    state_directory.join("screen.ron")
}

impl Session {
    /// `before` is what was read at the start: what the operator said this time is no choice for the next.
    pub fn of(view: &View, look: &Look, theme_at_start: &str, said: Said, before: Option<&Session>) -> Self {
        let theme = match (look.theme_name() == theme_at_start, said.theme) {
            (false, _) => Some(absolute(look.theme_name())),
            (true, true) => before.and_then(|b| b.theme.clone()),
            (true, false) => None,
        };
        let colors = match (look.chosen_tier(), said.colors) {
            (Some(tier), _) => Some(tier.name().to_owned()),
            (None, true) => before.and_then(|b| b.colors.clone()),
            (None, false) => None,
        };
        Self {
            version: VERSION,
            screen: view.screen,
            focus: view.focus,
            focus_left: view.focus_left.clone(),
            share: view.share,
            detail: view.detail,
            raw: view.raw,
            overlay: view.overlay,
            search: view.search.clone(),
            episodes_filter: view.replay.filter.clone(),
            episodes_sort: view.replay.sort,
            rules_filter: view.rules.filter.clone(),
            rules_sort: view.rules.sort,
            rules_grouping: view.rules.grouping,
            rules_hidden: view.rules.hidden.clone(),
            log_filter: view.log.filter.clone(),
            log_level: view.log.level,
            chart: view.chart.clone(),
            theme,
            colors,
            unknown: Vec::new(),
        }
    }

    /// Takes it up again; what is passed over is told, and what can't be read is an error.
    pub fn resume(&self, view: &mut View, look: &mut Look, said: Said) -> Result<Option<String>, String> {
        self.resume_screens(view);
        view.share = self.share;
        view.detail = self.detail;
        view.chart = self.chart.clone().sane();
        view.raw = self.raw;
        view.overlay = self.overlay;
        let safe = |text: &str| SafeText::new(text).to_string();
        view.search = safe(&self.search).to_lowercase();
        (view.replay.filter, view.replay.sort) = (safe(&self.episodes_filter), self.episodes_sort);
        view.rules.filter = safe(&self.rules_filter);
        (view.rules.sort, view.rules.grouping) = (self.rules_sort, self.rules_grouping);
        view.rules.hidden = self.rules_hidden.clone();
        // A key shows what it has hidden once.
        view.rules.hidden.sort();
        view.rules.hidden.dedup();
        (view.log.filter, view.log.level) = (safe(&self.log_filter).to_lowercase(), self.log_level);
        if let Some(name) = self.colors.as_ref().filter(|_| !said.colors) {
            let tier = Tier::from_name(name).ok_or_else(|| tr!("{name} is no number of colours", name = name))?;
            look.set_tier(Some(tier)).map_err(|e| e.to_string())?;
        }
        if let Some(name) = self.theme.as_ref().filter(|_| !said.theme) {
            look.set_theme(name).map_err(|e| e.to_string())?;
        }
        Ok(self.note())
    }

    /// The screen goes by what is looked at now: a page that a replay was left on may hold nothing of a run that begins. Each
    /// screen has the pane again that it was left with.
    fn resume_screens(&self, view: &mut View) {
        let start = view.screen;
        for (screen, pane) in self.focus_left.iter().chain([(&self.screen, &self.focus)]) {
            if screen.panes().contains(pane) {
                view.focus_left.insert(*screen, *pane);
            }
        }
        view.focus = view.focus_left.remove(&start).unwrap_or(start.panes()[0]);
    }

    /// What a newer program wrote and this one passes over: it is gone when this screen is left, which is to be known.
    fn note(&self) -> Option<String> {
        let version = self.version;
        // What an older program wrote and this one has no more is no loss.
        if version < VERSION {
            return None;
        }
        if self.unknown.is_empty() {
            return (version > VERSION)
                .then(|| tr!("screen.ron is of version {version}: what this program does not know of it is ignored", version = version));
        }
        let names: Vec<String> = self.unknown.iter().map(|n| SafeText::new(n).to_string()).collect();
        Some(tr!("screen.ron holds what this program does not know, which is ignored: {names}", names = names.join(", ")))
    }

    /// None where there is no file yet.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let ignored = |why: String| tr!("{path} is ignored: {why}", path = path.display(), why = why);
        // A pipe would be waited for.
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file() || m.len() > FILE_BYTES_MAX) {
            return Err(ignored(tr!("it is no small regular file")));
        }
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ignored(error.to_string())),
        };
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let session: Session = options.from_str(&text).map_err(|e| ignored(e.to_string()))?;
        if session.version == 0 {
            return Err(ignored(tr!("it has no version")));
        }
        Ok(Some(session))
    }

    /// Aside first, then in one go: there is always a whole file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let text = options.to_string_pretty(self, ron::ser::PrettyConfig::default()).map_err(io::Error::other)?;
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let aside = path.with_extension(format!("ron.{}", std::process::id()));
        let written = File::create(&aside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        let written = written.and_then(|()| std::fs::rename(&aside, path));
        if written.is_err() {
            // Nothing is left behind; what went wrong is told, not what the clearing up says.
            let _ = std::fs::remove_file(&aside);
        }
        written
    }
}

/// The next start may be in another directory.
fn absolute(theme: &str) -> String {
    let path = is_file(theme).then(|| std::path::absolute(theme).ok()).flatten();
    path.map_or_else(|| theme.to_owned(), |p| p.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::panes::curves::Figure;
    use crate::ui::theme::Caps;
    use crate::ui::widgets::ChartGlyphs;

    fn look() -> Look {
        let caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        Look::new("dark", caps).unwrap()
    }

    fn changed() -> (View, Look) {
        let (mut view, mut look) = (View { focus: PaneId::Tools, share: Share::Full, detail: Detail::Full, ..View::default() }, look());
        view.chart = ChartView { smoothing_tenths: 8, log: true, zoom: 2, ..ChartView::default() };
        view.chart.reward = vec![Figure::Success, Figure::PolicyLoss];
        (view.overlay, view.raw, view.search) = (Some(TokenMeasure::Entropy), true, "pay".into());
        (view.replay.filter, view.replay.sort) = ("ret<0.2".into(), EpisodeSort::Return);
        (view.log.filter, view.log.level, view.rules.filter) = ("gw".into(), Some(LogLevel::Warn), "slow".into());
        (view.rules.sort, view.rules.grouping) = (RuleSort::Since, RuleGrouping::Instance);
        view.rules.hidden = vec![Class::Pending, Class::Rest];
        look.set_theme("light").unwrap();
        look.set_colors("256");
        (view, look)
    }

    #[test]
    fn what_was_chosen_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = path(&dir.path().join("new"));
        assert_eq!(Session::read(&file), Ok(None));
        let (view, look_then) = changed();
        Session::of(&view, &look_then, "dark", Said::default(), None).write(&file).unwrap();
        let session = Session::read(&file).unwrap().unwrap();
        let (mut again, mut look_now) = (View::default(), look());
        session.resume(&mut again, &mut look_now, Said::default()).unwrap();
        assert_eq!(again, view);
        // A run begins with its own screen, whatever was looked at before; the screens come back with their focus.
        let (mut view, mut back) = (view, View::default());
        view.go(ScreenId::Training);
        view.focus = PaneId::Vitals;
        view.raw = true;
        view.search = "leak".into();
        Session::of(&view, &look_then, "dark", Said::default(), None).resume(&mut back, &mut look_now, Said::default()).unwrap();
        assert_eq!((back.screen, back.focus), (ScreenId::Live, PaneId::Tools));
        back.go(ScreenId::Training);
        assert_eq!(back.focus, PaneId::Vitals);
        // A recording begins with its own screen, whatever was looked at before.
        let mut replay = View::default();
        replay.go(ScreenId::Replay);
        let live = Session { screen: ScreenId::Live, focus: PaneId::Gpu, ..Session::default() };
        live.resume(&mut replay, &mut look_now, Said::default()).unwrap();
        assert_eq!((replay.screen, replay.focus), (ScreenId::Replay, PaneId::Transcript));
        assert_eq!(look_now.theme, look_then.theme);
        assert_eq!(look_now.chosen_tier(), Some(Tier::Ansi256));
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "something was left aside");
    }

    #[test]
    fn what_is_said_at_the_start_comes_first_and_is_no_choice() {
        let (view, look_then) = changed();
        let before = Session::of(&view, &look_then, "dark", Said::default(), None);
        let said = Said { theme: true, colors: true };
        let (mut view, mut look) = (View::default(), look());
        before.resume(&mut view, &mut look, said).unwrap();
        assert_eq!((look.theme_name(), look.chosen_tier()), ("dark", None));
        let after = Session::of(&view, &look, "dark", said, Some(&before));
        assert_eq!((after.theme, after.colors), (before.theme.clone(), before.colors.clone()));
        let after = Session::of(&view, &look, "dark", Said::default(), Some(&before));
        assert_eq!((after.theme, after.colors), (None, None));
    }

    #[test]
    fn an_older_file_is_read_and_of_a_newer_one_what_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let file = path(dir.path());
        let old = "(version: 1, focus: tools, share: Half, detail: brief, smoothing_tenths: 3, history: true, log: false, \
                   theme: None, colors: Some(\"256\"))";
        let newer = "(version: 3, focus: tools, share: Half, shape: (round: [1, \"a\"]), detail: brief, \
                     tint: Warm(2), colors: \"256\")";
        for (text, told) in [(old, ""), (newer, "shape, tint"), ("(version: 9)", "version 9")] {
            std::fs::write(&file, text).unwrap();
            let (mut view, mut look) = (View::default(), look());
            let note = Session::read(&file).unwrap().unwrap().resume(&mut view, &mut look, Said::default()).unwrap();
            assert!(note.clone().unwrap_or_default().contains(told) && note.is_some() != told.is_empty(), "{note:?}");
            if told != "version 9" {
                assert_eq!((view.focus, view.share, view.detail), (PaneId::Tools, Share::Half, Detail::Brief));
                assert_eq!(look.chosen_tier(), Some(Tier::Ansi256));
            }
        }
    }

    #[test]
    fn what_is_broken_or_of_another_version_is_ignored_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = path(dir.path());
        let (view, look_then) = changed();
        Session::of(&view, &look_then, "dark", Said::default(), None).write(&file).unwrap();
        let good = std::fs::read_to_string(&file).unwrap();
        let broken = [
            ("", "ignored"),
            ("(shape: \"round\")", "no version"),
            (&good.replace("tools", "attic"), "attic"),
            (&good[..good.len() / 2], "ignored"),
        ];
        for (text, says) in broken {
            std::fs::write(&file, text).unwrap();
            let told = Session::read(&file).unwrap_err();
            assert!(told.contains("is ignored") && told.contains(says), "{told}");
        }
        let gone = Session { theme: Some("/no/such.ron".into()), ..Session::of(&view, &look_then, "dark", Said::default(), None) };
        let (mut again, mut look_now) = (View::default(), look());
        assert!(gone.resume(&mut again, &mut look_now, Said::default()).is_err());
        assert_eq!((again.focus, look_now.theme_name()), (PaneId::Tools, "dark"));
    }
}
