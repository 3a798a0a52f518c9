//! Pictures of the console for a bundle: at the end of the part, and where something happened.

use super::manifest::SCREENS;
use super::pack::Body;
use super::redact::Redactor;
use crate::event::{AlertState, Envelope, Event, HitOutcome, LogLevel, PolicyState, Seq};
use crate::run::screen::Easel;
use crate::source::{RecordingSource, SourceError};
use crate::ui::keymap::KeyMap;
use crate::ui::lang::Lang;
use crate::ui::shot::{self, Format};
use crate::ui::theme::{Caps, Theme, Tier};
use crate::ui::view::ScreenId;
use crate::ui::widgets::ChartGlyphs;
use ratatui::layout::Rect;

/// Pictures beside those of the end.
const MOMENTS_MAX: usize = 6;
const SIZE: (u16, u16) = (120, 36);
/// Screens that are drawn at the end.
const AT_END: [(ScreenId, &str); 4] =
    [(ScreenId::Live, "live"), (ScreenId::Replay, "replay"), (ScreenId::Alerts, "alerts"), (ScreenId::Checkpoints, "checkpoints")];

/// Something happened there that is worth a look, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    Alert,
    Failure,
    Breakpoint,
    ToolError,
}

impl What {
    pub fn of(event: &Event) -> Option<Self> {
        if let Event::AlertStateChanged(e) = event {
            return (e.state == AlertState::Firing).then_some(Self::Alert);
        }
        if let Event::LogLine(e) = event {
            return (e.level == LogLevel::Error).then_some(Self::Failure);
        }
        if let Event::PolicyStateChanged(e) = event {
            return (e.state == PolicyState::Failed).then_some(Self::Failure);
        }
        if let Event::BreakpointHit(e) = event {
            return (e.outcome == HitOutcome::Paused).then_some(Self::Breakpoint);
        }
        if let Event::ToolCallFinished(e) = event {
            return e.error_type.map(|_| Self::ToolError);
        }
        matches!(event, Event::SinkFailed(_)).then_some(Self::Failure)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Failure => "failure",
            Self::Breakpoint => "breakpoint",
            Self::ToolError => "tool-error",
        }
    }

    fn screen(self) -> ScreenId {
        match self {
            Self::Alert => ScreenId::Alerts,
            Self::Failure | Self::Breakpoint | Self::ToolError => ScreenId::Replay,
        }
    }
}

/// The moments of a part, of which a few are drawn.
#[derive(Debug, Default)]
pub struct Moments {
    /// Of each kind the newest.
    found: Vec<(What, Seq)>,
    count: usize,
}

impl Moments {
    pub fn note(&mut self, envelope: &Envelope) {
        let Some(what) = What::of(&envelope.event) else { return };
        self.count += 1;
        self.found.push((what, envelope.seq));
        let of_kind = self.found.iter().filter(|(kind, _)| *kind == what).count();
        if of_kind > MOMENTS_MAX
            && let Some(oldest) = self.found.iter().position(|(kind, _)| *kind == what)
        {
            self.found.remove(oldest);
        }
    }

    /// The gravest and of them the newest, in the order in which they happened; and how many are left out.
    fn chosen(mut self) -> (Vec<(What, Seq)>, usize) {
        self.found.sort_by_key(|(what, seq)| (*what, std::cmp::Reverse(*seq)));
        self.found.truncate(MOMENTS_MAX);
        self.found.sort_by_key(|(_, seq)| *seq);
        let left_out = self.count - self.found.len();
        (self.found, left_out)
    }
}

/// Draws them; how many moments were not drawn comes with them.
pub fn pictures(
    source: &mut RecordingSource,
    moments: Moments,
    lang: Lang,
    name: &str,
    redactor: &Redactor,
) -> Result<(Vec<(String, Body)>, usize), SourceError> {
    let caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    let Ok(theme) = Theme::load("dark", caps.tier) else { return Ok((Vec::new(), 0)) };
    crate::ui::lang::set(lang);
    // The banner is the operator's own words.
    let easel = Easel { caps, theme, keys: KeyMap::default(), lang, banner: None, name: name.to_owned() };
    let end = source.recording().end();
    let (moments, left_out) = moments.chosen();
    let at_end = AT_END.iter().map(|(screen, name)| (*screen, end, format!("end-{name}")));
    let at_moments = moments.iter().map(|(what, seq)| (what.screen(), *seq, format!("{}-{seq}", what.name())));
    let mut bodies = Vec::new();
    for (screen, seq, name) in at_end.chain(at_moments) {
        let mut picture = easel.draw(source, seq, screen, Rect::new(0, 0, SIZE.0, SIZE.1))?;
        redactor.picture(&mut picture);
        for format in [Format::Svg, Format::Text] {
            if let Ok(bytes) = shot::write(&picture, &easel.theme, format) {
                bodies.push((format!("{SCREENS}{name}.{}", format.extension()), Body::Bytes(bytes)));
            }
        }
    }
    Ok((bodies, left_out))
}
