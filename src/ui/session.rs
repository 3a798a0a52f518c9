//! What this screen was like when it was left: a small file in the state directory, never the configuration.

use super::look::Look;
use super::theme::{Tier, is_file};
use super::view::{Detail, PaneId, Share, View};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    version: u32,
    focus: PaneId,
    share: Share,
    detail: Detail,
    smoothing_tenths: u8,
    history: bool,
    log: bool,
    /// What was chosen at the screen; unset leaves it to the configuration.
    theme: Option<String>,
    colors: Option<String>,
}

/// All that another version must keep.
#[derive(Deserialize)]
struct Version {
    version: u32,
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
            focus: view.focus,
            share: view.share,
            detail: view.detail,
            smoothing_tenths: view.chart.smoothing_tenths,
            history: view.chart.history,
            log: view.chart.log,
            theme,
            colors,
        }
    }

    /// Takes it up again; what can't be is told.
    pub fn resume(&self, view: &mut View, look: &mut Look, said: Said) -> Result<(), String> {
        // The screen of this start may be another one.
        if view.screen.panes().contains(&self.focus) {
            view.focus = self.focus;
        }
        view.share = self.share;
        view.detail = self.detail;
        view.chart.smoothing_tenths = self.smoothing_tenths.min(9);
        view.chart.history = self.history;
        view.chart.log = self.log;
        if let Some(name) = self.colors.as_ref().filter(|_| !said.colors) {
            let tier = Tier::from_name(name).ok_or_else(|| format!("{name} is no number of colours"))?;
            look.set_tier(Some(tier)).map_err(|e| e.to_string())?;
        }
        if let Some(name) = self.theme.as_ref().filter(|_| !said.theme) {
            look.set_theme(name).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// None where there is no file yet.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let ignored = |why: String| format!("{} is ignored: {why}", path.display());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ignored(error.to_string())),
        };
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let version: Version = options.from_str(&text).map_err(|e| ignored(e.to_string()))?;
        if version.version != VERSION {
            return Err(ignored(format!("it is of version {}, and this program knows {VERSION}", version.version)));
        }
        options.from_str(&text).map(Some).map_err(|e| ignored(e.to_string()))
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
    use crate::ui::theme::Caps;
    use crate::ui::widgets::ChartGlyphs;

    fn look() -> Look {
        let caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        Look::new("dark", caps).unwrap()
    }

    fn changed() -> (View, Look) {
        let (mut view, mut look) = (View { focus: PaneId::Tools, share: Share::Full, detail: Detail::Full, ..View::default() }, look());
        view.chart = crate::ui::view::ChartView { smoothing_tenths: 8, history: true, log: true };
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
    fn what_is_broken_or_of_another_version_is_ignored_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = path(dir.path());
        let (view, look_then) = changed();
        Session::of(&view, &look_then, "dark", Said::default(), None).write(&file).unwrap();
        let good = std::fs::read_to_string(&file).unwrap();
        let broken = [
            ("", "ignored"),
            ("(version: 2, shape: \"round\")", "version 2"),
            (&good.replace("tools", "attic"), "attic"),
            (&good.replace("share: Full", "fuller: true"), "fuller"),
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
