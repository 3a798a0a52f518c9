//! Themes: named styles, a typed default, partial patches in RON, and what the terminal can show of them.

mod ansi;

use super::patches::{self, quoted, says_nothing};
use super::widgets::ChartGlyphs;
use crate::ui::lang::tr;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Colours that a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    None,
    Ansi16,
    Ansi256,
    Truecolor,
}

impl Tier {
    /// What an operator types.
    pub const NAMES: [(&str, Tier); 4] =
        [("truecolor", Tier::Truecolor), ("256", Tier::Ansi256), ("16", Tier::Ansi16), ("none", Tier::None)];

    pub fn from_name(name: &str) -> Option<Tier> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, tier)| *tier)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, tier)| *tier == self).map_or("none", |(name, _)| name)
    }
}

/// What the terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    pub tier: Tier,
    pub ascii: bool,
    pub charts: ChartGlyphs,
    /// Columns of characters of ambiguous width: 1 or 2.
    pub ambiguous_width: u8,
}

impl Caps {
    /// From the environment: NO_COLOR, COLORTERM, TERM, the locale. `forced` and `ascii` are what the operator said.
    pub fn detect(
        forced: Option<Tier>,
        ascii: Option<bool>,
        charts: ChartGlyphs,
        ambiguous_width: u8,
        var: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let term = var("TERM").unwrap_or_default();
        let found = if var("NO_COLOR").is_some_and(|v| !v.is_empty()) || term == "dumb" {
            Tier::None
        } else if var("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit") && !term.starts_with("screen") {
            Tier::Truecolor
        } else if term.contains("256color") {
            Tier::Ansi256
        } else {
            Tier::Ansi16
        };
        let ascii = ascii.unwrap_or_else(|| !may_be_utf8(&var));
        Self { tier: forced.unwrap_or(found), ascii, charts, ambiguous_width }
    }
}

/// Whether the locale leaves it open that the terminal takes UTF-8: not where it is C or POSIX, or names another encoding. One that is
/// not set, or names none, says nothing: many a login over ssh has none.
pub fn may_be_utf8(var: impl Fn(&str) -> Option<String>) -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| var(name).filter(|value| !value.is_empty()));
    let Some(locale) = named else { return true };
    let locale = locale.split('@').next().unwrap_or_default();
    match locale.split_once('.') {
        Some((_, encoding)) => matches!(encoding.to_lowercase().as_str(), "utf-8" | "utf8"),
        None => !matches!(locale, "C" | "POSIX"),
    }
}

macro_rules! theme {
    ($($(#[$doc:meta])* $name:ident = $fg:expr $(, $modifier:ident)?;)*) => {
        /// The styles by name. Panes use these and nothing else.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Theme {
            /// Background of everything; unset leaves the terminal's own.
            pub background: Option<Rgb>,
            $($(#[$doc])* pub $name: Style,)*
        }

        /// Names that a theme file may set, `background` aside.
        pub const NAMES: &[&str] = &[$(stringify!($name),)*];

        /// The typed default: the dark theme's colours.
        const DEFAULTS: &[(&str, Paint, Modifier)] = &[$((stringify!($name), $fg, theme!(@modifier $($modifier)?)),)*];

        impl Theme {
            fn build(background: Option<Rgb>, mut style: impl FnMut(&str) -> Style) -> Self {
                Self { background, $($name: style(stringify!($name)),)* }
            }

            /// Every style with its name.
            pub fn styles(&self) -> Vec<(&'static str, Style)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
    (@modifier) => { Modifier::empty() };
    (@modifier $modifier:ident) => { Modifier::$modifier };
}

/// A colour of a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What a file says: `#rrggbb`, one of the 16 names, or `default`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Rgb(Rgb),
    Ansi(Color),
}

const fn rgb(hex: u32) -> Paint {
    Paint::Rgb(Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8))
}

theme! {
    text = rgb(0xd5d9e0);
    /// Units, times, what matters less.
    dim = rgb(0x8b93a1);
    title = rgb(0xe6e9ef), BOLD;
    border = rgb(0x5c6370);
    border_focus = rgb(0x61afef), BOLD;
    /// Success, ok.
    good = rgb(0x98c379);
    warn = rgb(0xe5c07b);
    /// Failure, error.
    bad = rgb(0xf07a82);
    thought = rgb(0xd5d9e0);
    action = rgb(0x61afef);
    observation = rgb(0x9aa5b5);
    reward = rgb(0x98c379);
    /// First, second and third series of a chart.
    series1 = rgb(0x61afef);
    series2 = rgb(0xd19a66);
    series3 = rgb(0xc678dd);
    mark = rgb(0xe5c07b);
    selection = rgb(0xffffff), REVERSED;
    /// A search match.
    found = rgb(0xe5c07b), REVERSED;
    status = rgb(0xe6e9ef), BOLD;
    banner = rgb(0xf07a82), REVERSED;
    key = rgb(0x61afef), BOLD;
}

/// A theme file: colours by style name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Patch {
    background: Option<String>,
    colors: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    #[error("{}", tr!("theme {place}: {reason}", place = .place, reason = .reason))]
    Syntax { place: String, reason: String },
    #[error("{}", tr!("theme {place}: no style is named `{name}`; there are {names}", place = .place, name = .name, names = NAMES.join(", ")))]
    UnknownStyle { place: String, name: String },
    #[error(
        "{}",
        tr!(
            "theme {place}: `{name}` is {value}; write \"#rrggbb\", \"default\", or one of the 16 colours such as \"red\" or \"light-blue\"",
            place = .place,
            name = .name,
            value = format!("{:?}", .value)
        )
    )]
    Color { place: String, name: String, value: String },
    #[error("{}", tr!("no theme is named `{name}`; there are {names}, or name a file", name = .name, names = BUILT_IN.map(|(n, _)| n).join(", ")))]
    Unknown { name: String },
    #[error("{}", tr!("theme file {path}: {reason}", path = .path, reason = .reason))]
    File { path: String, reason: String },
}

/// The theme that goes by the terminal's background: dark until that is known.
pub const AUTO: &str = "auto";

/// Themes that are compiled in.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("dark", include_str!("../../themes/dark.ron")),
    ("light", include_str!("../../themes/light.ron")),
    ("high-contrast", include_str!("../../themes/high-contrast.ron")),
    ("colour-blind", include_str!("../../themes/colour-blind.ron")),
    ("system", include_str!("../../themes/system.ron")),
];

/// Most bytes of a theme.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A device or a pipe would be read for ever.
fn read_file(name: &str) -> Result<String, String> {
    let metadata = std::fs::metadata(name).map_err(|e| e.to_string())?;
    if !metadata.is_file() {
        return Err(tr!("is no regular file"));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(tr!("has {n} bytes, which no theme has; at most {max} are read", n = metadata.len(), max = FILE_BYTES_MAX));
    }
    std::fs::read_to_string(name).map_err(|e| e.to_string())
}

impl Theme {
    /// A built-in theme, or one from a file, as far as `tier` can show it.
    pub fn load(name: &str, tier: Tier) -> Result<Self, ThemeError> {
        let name = if name == AUTO { "dark" } else { name };
        if let Some((name, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) {
            return Self::parse(name, text, tier);
        }
        if !is_file(name) {
            return Err(ThemeError::Unknown { name: quoted(name) });
        }
        let text = read_file(name).map_err(|reason| ThemeError::File { path: name.to_owned(), reason })?;
        Self::parse(name, &text, tier)
    }

    /// A partial patch over the default.
    pub fn parse(place: &str, text: &str, tier: Tier) -> Result<Self, ThemeError> {
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let syntax = |e: ron::error::SpannedError| {
            let at = e.span.start;
            ThemeError::Syntax {
                place: tr!("{place}, line {line}, column {column}", place = place, line = at.line, column = at.col),
                reason: patches::reason(&e.code.to_string()),
            }
        };
        let patch: Patch = if says_nothing(text) { Patch::default() } else { options.from_str(text).map_err(syntax)? };
        let mut paints: BTreeMap<&str, Paint> = DEFAULTS.iter().map(|(name, paint, _)| (*name, *paint)).collect();
        for (name, value) in &patch.colors {
            let slot = paints.get_mut(name.as_str());
            let place = || at_line(place, text, &format!("\"{name}\""));
            let slot = slot.ok_or_else(|| ThemeError::UnknownStyle { place: place(), name: quoted(name) })?;
            *slot = paint(value).ok_or_else(|| ThemeError::Color { place: place(), name: name.clone(), value: quoted(value) })?;
        }
        let bad_background = |value: String| ThemeError::Color {
            place: at_line(place, text, "background"),
            name: "background".into(),
            value: quoted(&value),
        };
        let background = patch.background.map(|v| paint(&v).ok_or_else(|| bad_background(v))).transpose()?;
        let background = background.and_then(|p| match p {
            Paint::Rgb(rgb) => Some(rgb),
            Paint::Ansi(_) => None,
        });
        let modifiers: BTreeMap<&str, Modifier> = DEFAULTS.iter().map(|(name, _, m)| (*name, *m)).collect();
        let shown = background.map(|b| if tier == Tier::Ansi16 { ansi::ground(b) } else { color(Paint::Rgb(b), tier, None) });
        Ok(Self::build(background, |name| {
            let style = Style::new().fg(color(paints[name], tier, background)).add_modifier(modifiers[name]);
            shown.map_or(style, |b| style.bg(b))
        }))
    }
}

/// A name that can only be meant as a file.
pub fn is_file(name: &str) -> bool {
    name.contains(['/', '.'])
}

/// The place with the line that holds `what`: RON tells lines of its own mistakes only.
fn at_line(place: &str, text: &str, what: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().contains(what);
    text.lines().position(code).map_or_else(|| place.to_owned(), |index| tr!("{place}, line {line}", place = place, line = index + 1))
}

fn paint(value: &str) -> Option<Paint> {
    if let Some(hex) = value.strip_prefix('#') {
        return u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6).map(rgb);
    }
    if value == "default" {
        return Some(Paint::Ansi(Color::Reset));
    }
    match value.parse().ok()? {
        Color::Rgb(..) | Color::Indexed(_) => None,
        named => Some(Paint::Ansi(named)),
    }
}

/// The nearest that the terminal can show. Without colour everything is the terminal's own: modifiers still tell. `on` is the background
/// that the theme brings, if this is to be read on one.
fn color(paint: Paint, tier: Tier, on: Option<Rgb>) -> Color {
    match (paint, tier) {
        (_, Tier::None) => Color::Reset,
        (Paint::Ansi(color), Tier::Ansi16 | Tier::Ansi256 | Tier::Truecolor) => color,
        (Paint::Rgb(Rgb(r, g, b)), Tier::Truecolor) => Color::Rgb(r, g, b),
        (Paint::Rgb(rgb), Tier::Ansi256) => Color::Indexed(to_256(rgb)),
        (Paint::Rgb(rgb), Tier::Ansi16) => ansi::nearest(rgb, on),
    }
}

/// The nearest of the 6x6x6 cube and the grey ramp of xterm's palette.
fn to_256(Rgb(r, g, b): Rgb) -> u8 {
    const STEPS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let near = |v: u8| (0..6).min_by_key(|i| (STEPS[*i] - i32::from(v)).abs()).unwrap_or(0);
    let (cr, cg, cb) = (near(r), near(g), near(b));
    let grey = ((i32::from(r) + i32::from(g) + i32::from(b)) / 3 - 3).clamp(0, 230) / 10;
    let level = 8 + 10 * grey;
    let distance = |x: [i32; 3]| x.iter().zip([r, g, b]).map(|(a, b)| (a - i32::from(b)).pow(2)).sum::<i32>();
    if distance([level; 3]) < distance([STEPS[cr], STEPS[cg], STEPS[cb]]) { 232 + grey as u8 } else { (16 + 36 * cr + 6 * cg + cb) as u8 }
}

#[cfg(test)]
mod tests {
    use super::ansi::contrast;
    use super::*;

    fn rgb_of(color: Option<Color>) -> Rgb {
        let Some(Color::Rgb(r, g, b)) = color else { panic!("{color:?} is no RGB") };
        Rgb(r, g, b)
    }

    /// WCAG 2: AA is 4.5 to 1 for text, AAA is 7 to 1.
    #[test]
    fn every_text_style_can_be_read() {
        let with_background = BUILT_IN.iter().filter(|(name, _)| *name != "system");
        for (name, _) in with_background {
            let theme = Theme::load(name, Tier::Truecolor).unwrap();
            let background = theme.background.unwrap();
            for (style, found) in theme.styles() {
                let least = match (*name, style) {
                    ("high-contrast", _) => 7.0,
                    (_, "border") => 1.5,
                    _ => 4.5,
                };
                let found = contrast(rgb_of(found.fg), background);
                assert!(found >= least, "{name}.{style}: {found:.2}");
            }
        }
    }

    /// With fewer colours too, by xterm's palette: what a terminal makes of its first 16 is its own affair.
    #[test]
    fn every_text_style_can_be_read_with_fewer_colours() {
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "system") {
            for tier in [Tier::Ansi256, Tier::Ansi16] {
                let theme = Theme::load(name, tier).unwrap();
                for (style, found) in theme.styles() {
                    let [fg, bg] = [found.fg, found.bg].map(|color| ansi::rgb(color.unwrap()).unwrap());
                    let least = if style == "border" { 1.5 } else { 4.5 };
                    assert!(contrast(fg, bg) >= least, "{name}.{style} {tier:?}: {found:?} {:.2}", contrast(fg, bg));
                }
            }
        }
    }

    /// What is drawn, letters of states included, is read against the background of its own cell.
    #[test]
    fn every_letter_on_the_screen_can_be_read() {
        use crate::ui::panes::testing::{screen, typical};
        use crate::ui::view::View;
        let state = typical();
        let caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "system") {
            let theme = Theme::load(name, Tier::Truecolor).unwrap();
            let buffer = screen(&state, &View::default(), (200, 50), caps, &theme);
            let letters = buffer.content().iter().filter(|c| c.symbol().chars().all(char::is_alphanumeric));
            let mut styles = std::collections::BTreeSet::new();
            for cell in letters {
                styles.insert(format!("{:?}", cell.fg));
                let found = contrast(rgb_of(Some(cell.fg)), rgb_of(Some(cell.bg)));
                assert!(found >= 4.5, "{name}: {:?} {found:.2}", cell.symbol());
            }
            for state in [theme.good, theme.warn, theme.bad] {
                assert!(styles.contains(&format!("{:?}", state.fg.unwrap())), "{name}: no letter in {:?}", state.fg);
            }
        }
    }

    /// What is left of a colour without red or without green receptors (Viénot, Brettel and Mollon, 1999).
    fn as_dichromat_sees(Rgb(r, g, b): Rgb, green_is_missing: bool) -> [f64; 3] {
        let linear = |v: u8| (f64::from(v) / 255.0).powf(2.2);
        let (r, g, b) = (linear(r), linear(g), linear(b));
        let (yellow, blue) = if green_is_missing {
            (0.292_75 * r + 0.707_25 * g, -0.022_33 * r + 0.022_33 * g + b)
        } else {
            (0.112_38 * r + 0.887_62 * g, 0.004_01 * r - 0.004_01 * g + b)
        };
        let shown = |v: f64| v.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0;
        [shown(yellow), shown(yellow), shown(blue)]
    }

    #[test]
    fn good_warn_and_bad_differ_for_the_colour_blind() {
        let nearest = |name: &str| {
            let theme = Theme::load(name, Tier::Truecolor).unwrap();
            let states = [theme.good, theme.warn, theme.bad].map(|s| rgb_of(s.fg));
            let mut least = f64::MAX;
            for missing in [true, false] {
                for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                    let (a, b) = (as_dichromat_sees(states[a], missing), as_dichromat_sees(states[b], missing));
                    least = least.min(a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt());
                }
            }
            least
        };
        assert!(nearest("colour-blind") > 100.0, "{}", nearest("colour-blind"));
        assert!(nearest("dark") < 100.0, "the measure tells nothing apart");
    }

    #[test]
    fn a_patch_changes_only_what_it_names_and_mistakes_are_named() {
        let theme = Theme::parse("t", r##"(colors: {"good": "#00ff00"})"##, Tier::Truecolor).unwrap();
        assert_eq!(theme.good.fg, Some(Color::Rgb(0, 255, 0)));
        assert_eq!(theme.bad.fg, Some(Color::Rgb(0xf0, 0x7a, 0x82)));
        for nothing in ["", "// (colors: {})\n"] {
            assert_eq!(Theme::parse("t", nothing, Tier::Truecolor).unwrap(), Theme::parse("t", "()", Tier::Truecolor).unwrap());
        }
        let long = "x".repeat(5_000);
        for text in [format!("(colors: {{\"{long}\": \"red\"}})"), format!("(colors: {{\"good\": \"{long}\"}})"), format!("({long}: {{}})")]
        {
            let error = Theme::parse("t", &text, Tier::Truecolor).unwrap_err().to_string();
            assert!(error.len() < 500, "{error}");
        }
        let error = |text| Theme::parse("t", text, Tier::Truecolor).unwrap_err().to_string();
        assert!(error(r#"(colors: {"goood": "red"})"#).contains("goood"));
        assert!(error(r#"(colors: {"good": "reddish"})"#).contains("reddish"));
        assert!(error("(colours: {})").contains("colours"));
        assert!(error("(colors: {\n  \"good\": \"red\",\n  \"goood\": \"red\"})").contains("t, line 3:"));
        assert!(error("(colors: {\n  // \"good\"\n  \"good\": \"reddish\"})").contains("t, line 3:"));
        assert!(error("(\n background: \"mud\")").contains("t, line 2:"));
        assert!(error("(\n\n colors: {)").contains("t, line 3,"));
        assert!(Theme::load("drak", Tier::None).unwrap_err().to_string().contains("dark"));
    }

    #[test]
    fn without_colour_selection_still_shows() {
        let theme = Theme::load("dark", Tier::None).unwrap();
        assert!(theme.styles().iter().all(|(_, s)| s.fg == Some(Color::Reset)));
        assert!(theme.selection.add_modifier.contains(Modifier::REVERSED));
    }

    #[test]
    fn a_locale_that_is_not_utf8_is_drawn_in_ascii_unless_the_operator_says_otherwise() {
        let ascii = |forced, vars: &[(&str, &str)]| {
            let var = |name: &str| vars.iter().find(|(k, _)| *k == name).map(|(_, v)| (*v).to_owned());
            Caps::detect(None, forced, ChartGlyphs::Braille, 1, var).ascii
        };
        for locale in ["C", "POSIX", "en_US.ISO-8859-1", "zh_CN.GB18030", "de_DE.ISO-8859-15@euro"] {
            assert!(ascii(None, &[("LANG", locale)]), "{locale}");
            assert!(!ascii(Some(false), &[("LANG", locale)]), "--unicode wins over {locale}");
            assert!(ascii(None, &[("LANG", "en_US.UTF-8"), ("LC_ALL", ""), ("LC_CTYPE", locale)]), "{locale}");
            assert!(!ascii(None, &[("LANG", locale), ("LC_ALL", "C.UTF-8")]), "{locale}");
        }
        for locale in ["en_US.UTF-8", "zh_CN.utf8", "C.UTF-8", "de_DE@euro", "en_GB"] {
            assert!(!ascii(None, &[("LANG", locale)]), "{locale}");
            assert!(ascii(Some(true), &[("LANG", locale)]), "--ascii wins over {locale}");
        }
        assert!(!ascii(None, &[]));
    }

    #[test]
    fn terminals_are_told_apart() {
        let caps = |vars: &[(&str, &str)]| {
            let vars: BTreeMap<String, String> = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            Caps::detect(None, None, ChartGlyphs::Braille, 1, |name| vars.get(name).cloned()).tier
        };
        assert_eq!(caps(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Tier::Truecolor);
        assert_eq!(caps(&[("TERM", "screen-256color"), ("COLORTERM", "truecolor")]), Tier::Ansi256);
        assert_eq!(caps(&[("TERM", "xterm"), ("NO_COLOR", "1")]), Tier::None);
        assert_eq!(caps(&[("TERM", "vt100")]), Tier::Ansi16);
    }
}
