//! How this screen looks: theme and colours, changed while it runs. A theme file is read again when it was saved.

use super::theme::{AUTO, Caps, Theme, ThemeError, Tier, is_file};
use super::watch::Watch;
use crate::ui::lang::tr;
use std::time::Instant;

pub struct Look {
    pub theme: Theme,
    pub caps: Caps,
    /// Of the theme: a built-in one, or a file.
    name: String,
    /// What the terminal shows, as found at the start.
    found: Tier,
    chosen: Option<Tier>,
    watch: Option<Watch>,
    /// What the terminal said of its background; dark until it says something.
    is_light: bool,
}

impl Look {
    pub fn new(name: &str, caps: Caps) -> Result<Self, ThemeError> {
        // Taken before the file is read: a save in between is seen later.
        let watch = is_file(name).then(|| Watch::on(name));
        let theme = Theme::load(name, caps.tier)?;
        Ok(Self { theme, caps, name: name.to_owned(), found: caps.tier, chosen: None, watch, is_light: false })
    }

    pub fn theme_name(&self) -> &str {
        &self.name
    }

    /// What `:colors` said, unless it said `auto`.
    pub fn chosen_tier(&self) -> Option<Tier> {
        self.chosen
    }

    /// The theme stays as it is where the new one can't be read.
    pub fn set_theme(&mut self, name: &str) -> Result<(), ThemeError> {
        let watch = is_file(name).then(|| Watch::on(name));
        self.theme = Theme::load(self.meant(name), self.caps.tier)?;
        (self.name, self.watch) = (name.to_owned(), watch);
        Ok(())
    }

    /// Takes what `:colors` is followed by; gives what to tell.
    pub fn set_colors(&mut self, text: &str) -> String {
        let chosen = match text {
            "" => return tr!("colours: {name}", name = self.caps.tier.name()),
            "auto" => None,
            name => match Tier::from_name(name) {
                Some(tier) => Some(tier),
                None => return tr!("`{name}` is none of truecolor, 256, 16, none, auto", name = name),
            },
        };
        match self.set_tier(chosen) {
            Ok(()) => tr!("colours: {name}", name = self.caps.tier.name()),
            Err(error) => error.to_string(),
        }
    }

    /// What `auto` means on this terminal.
    fn meant<'a>(&self, name: &'a str) -> &'a str {
        if name == AUTO && self.is_light { "light" } else { name }
    }

    /// Whether the terminal's background makes a difference.
    pub fn goes_by_background(&self) -> bool {
        self.name == AUTO && self.caps.tier != Tier::None
    }

    /// The terminal said whether its background is light.
    pub fn set_background(&mut self, is_light: bool) -> Result<(), ThemeError> {
        self.is_light = is_light;
        self.set_tier(self.chosen)
    }

    pub fn set_tier(&mut self, chosen: Option<Tier>) -> Result<(), ThemeError> {
        let tier = chosen.unwrap_or(self.found);
        self.theme = Theme::load(self.meant(&self.name), tier)?;
        (self.caps.tier, self.chosen) = (tier, chosen);
        Ok(())
    }

    /// Reads the theme's file again where it was saved; what to tell, if it was. A mistake leaves the last good one.
    pub fn read_again(&mut self, now: Instant) -> Option<String> {
        if !self.watch.as_mut()?.changed(now) {
            return None;
        }
        Some(match Theme::load(&self.name, self.caps.tier) {
            Ok(theme) => {
                self.theme = theme;
                tr!("read theme {name} again", name = self.name)
            }
            Err(error) => tr!("{error}; the last good one stays", error = error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widgets::ChartGlyphs;
    use ratatui::style::Color;
    use std::time::Duration;

    const CAPS: Caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };

    #[test]
    fn a_saved_theme_is_read_again_and_a_mistake_keeps_the_last_good_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.ron");
        std::fs::write(&path, r##"(colors: {"good": "#00ff00"})"##).unwrap();
        let mut look = Look::new(path.to_str().unwrap(), CAPS).unwrap();
        let start = Instant::now();
        let later = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(look.read_again(later(2)), None);
        std::fs::write(&path, r##"(colors: {"good": "#00ffee", "bad": "red"})"##).unwrap();
        assert_eq!(look.read_again(later(2)), None, "asked again within a second");
        assert!(look.read_again(later(4)).is_some_and(|t| t.contains("mine.ron")));
        let good = Some(Color::Rgb(0, 255, 0xee));
        assert_eq!(look.theme.good.fg, good);
        std::fs::write(&path, "(colors: {\n\"good\": \"mud\"})").unwrap();
        let told = look.read_again(later(6)).unwrap();
        assert!(told.contains("line 2") && told.contains("mud"), "{told}");
        assert_eq!(look.theme.good.fg, good);
        assert_eq!(look.read_again(later(8)), None, "told once");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(look.read_again(later(10)), None);
        std::fs::write(&path, r##"(colors: {"good": "#0000ff"})"##).unwrap();
        assert!(look.read_again(later(12)).is_some());
        assert_eq!(look.theme.good.fg, Some(Color::Rgb(0, 0, 255)));
    }

    #[test]
    fn auto_goes_by_the_terminal_and_nothing_else_does() {
        let mut look = Look::new(AUTO, CAPS).unwrap();
        let [dark, light] = ["dark", "light"].map(|name| Theme::load(name, Tier::Truecolor).unwrap());
        assert!(look.goes_by_background() && look.theme == dark);
        look.set_background(true).unwrap();
        assert_eq!((look.theme_name(), look.theme == light), (AUTO, true));
        look.set_theme("dark").unwrap();
        look.set_background(true).unwrap();
        assert!(look.theme == dark && !look.goes_by_background());
        look.set_theme(AUTO).unwrap();
        assert!(look.theme == light, "what the terminal said is kept");
    }

    #[test]
    fn colours_change_while_it_runs_and_auto_goes_back() {
        let mut look = Look::new("dark", CAPS).unwrap();
        look.set_colors("none");
        assert_eq!((look.theme.good.fg, look.chosen_tier()), (Some(Color::Reset), Some(Tier::None)));
        look.set_colors("256");
        assert!(matches!(look.theme.good.fg, Some(Color::Indexed(_))));
        look.set_theme("light").unwrap();
        assert!(matches!(look.theme.good.fg, Some(Color::Indexed(_))), "a new theme keeps the colours that were chosen");
        look.set_colors("auto");
        assert_eq!((look.caps.tier, look.chosen_tier()), (Tier::Truecolor, None));
        assert!(look.set_colors("512").contains("truecolor"));
        assert_eq!(look.caps.tier, Tier::Truecolor);
        assert!(look.set_theme("drak").is_err());
        assert_eq!(look.theme_name(), "light");
    }
}
