//! What surrounds the panes: the status bar, the hints, and what opens above them.

use super::actions::{ACTIONS, Action, Entry, Group, Needs};
use super::app::Open;
use super::theme::{Caps, Theme};
use super::update::Confirm;
use super::view::{Context, ScreenId};
use super::widgets::text::{Ambiguous, wrap};
use super::widgets::{Canvas, Glyphs, Paint, Role};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

impl Paint for Theme {
    fn style(&self, role: Role) -> Style {
        match role {
            Role::Text => self.text,
            Role::Dim => self.dim,
            Role::Strong => self.status,
            Role::Border => self.border,
            Role::BorderFocused => self.border_focus,
            Role::Title => self.title,
            Role::Thought => self.thought,
            Role::Action => self.action,
            Role::Observation => self.observation,
            Role::Good => self.good,
            Role::Warn => self.warn,
            Role::Bad => self.bad,
            Role::Selected => self.selection,
            Role::Match => self.found,
            Role::Curve => self.series1,
            Role::CurveSecond => self.series2,
            Role::Mark => self.mark,
        }
    }
}

/// What the terminal's abilities mean for drawing.
pub fn glyphs(caps: &Caps) -> Glyphs {
    let ambiguous = if caps.ambiguous_width == 2 { Ambiguous::Wide } else { Ambiguous::Narrow };
    Glyphs { ascii: caps.ascii, chart: caps.charts, ambiguous }
}

/// Draws status bar and hints; gives the area between them.
pub fn frame(buffer: &mut Buffer, area: Rect, cx: &Context<'_>) -> Rect {
    let mut canvas = Canvas::new(buffer, area, cx.theme, glyphs(cx.caps));
    super::status::draw(&mut canvas, cx);
    if area.height >= HINTS_HEIGHT_MIN {
        hints(&mut canvas, area.height - 1, cx);
    }
    between(area)
}

/// Rows from which there is one for the hints.
const HINTS_HEIGHT_MIN: u16 = 6;

/// What lies between the status bar and the hints of a screen.
pub fn between(area: Rect) -> Rect {
    let hints = u16::from(area.height >= HINTS_HEIGHT_MIN);
    Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1 + hints), ..area }
}

/// Alerts whose newest state is firing.
pub fn firing(cx: &Context<'_>) -> usize {
    super::panes::alerts::firing(cx.state)
}

fn hints(canvas: &mut Canvas<'_>, y: u16, cx: &Context<'_>) {
    let live = [
        Action::Help,
        Action::CommandLine,
        Action::Search,
        Action::TogglePause,
        Action::StepDecision,
        Action::StepToken,
        Action::Slower,
        Action::Faster,
        Action::FullScreen,
        Action::FocusNext,
        Action::Quit,
    ];
    let replay = [
        Action::Help,
        Action::CommandLine,
        Action::Search,
        Action::TogglePause,
        Action::StepDecision,
        Action::StepBack,
        Action::PreviousEpisode,
        Action::NextEpisode,
        Action::Slower,
        Action::Faster,
        Action::Quit,
    ];
    let by_step = [
        Action::Help,
        Action::TogglePause,
        Action::StepDecision,
        Action::StepBack,
        Action::Continue,
        Action::EpisodeList,
        Action::Inspect,
        Action::Break,
        Action::NextError,
        Action::Search,
        Action::Quit,
    ];
    let actions = match (cx.playback, cx.view.screen) {
        (None, _) => live,
        (Some(_), ScreenId::Replay) => by_step,
        (Some(_), _) => replay,
    };
    let mut x = 1;
    if super::panes::has_menu_key(canvas.width(), y.saturating_sub(1)) {
        x = canvas.text(x, y, "0", Role::BorderFocused);
        x = canvas.text(x + 1, y, "menu", Role::Dim) + 2;
    }
    for action in actions {
        let Some(entry) = ACTIONS.iter().find(|e| e.action == action) else { continue };
        let key = &cx.keys.keys_of(action).next().unwrap_or_default().replace(' ', "");
        let room = canvas.measure(key) + canvas.measure(entry.name) + 3;
        if x + room > canvas.width() {
            break;
        }
        x = canvas.text(x, y, key, Role::BorderFocused);
        x = canvas.text(x + 1, y, entry.name, Role::Dim) + 2;
    }
}

/// Draws what is open, and the notice line.
pub fn overlay(buffer: &mut Buffer, area: Rect, cx: &Context<'_>, open: &Open, notice: &str) {
    if area.height == 0 || area.width == 0 {
        return;
    }
    let mut canvas = Canvas::new(buffer, area, cx.theme, glyphs(cx.caps));
    let last = area.height - 1;
    match open {
        Open::Nothing => {}
        Open::Help(at) => help(&mut canvas, *at, cx),
        Open::Command(line) => input_line(&mut canvas, last, ":", line),
        Open::Search(line) => input_line(&mut canvas, last, "/", line),
        Open::Menu(group) => menu(&mut canvas, *group, cx),
        Open::Confirm(confirm, typed) => confirmation(&mut canvas, confirm, typed, cx),
        Open::Told(title, lines) => dialog(&mut canvas, title, &lines.iter().map(String::as_str).collect::<Vec<_>>()),
        Open::ConfirmQuit => {
            dialog(&mut canvas, "Quit", &["Quitting ends this run; what was recorded is kept.  y quits, any other key goes on"]);
        }
    }
    if !notice.is_empty() && !matches!(open, Open::Command(_) | Open::Search(_)) {
        clear_row(&mut canvas, last);
        let width = canvas.width();
        canvas.text_upto(1, width, last, notice, Role::Warn);
    }
}

fn clear_row(canvas: &mut Canvas<'_>, y: u16) {
    let blank = " ".repeat(canvas.width() as usize);
    canvas.text(0, y, &blank, Role::Text);
}

fn input_line(canvas: &mut Canvas<'_>, y: u16, mark: &str, line: &str) {
    clear_row(canvas, y);
    let x = canvas.text(0, y, mark, Role::Strong);
    let x = canvas.text(x, y, line, Role::Strong);
    canvas.text(x, y, "_", Role::Selected);
}

fn dialog(canvas: &mut Canvas<'_>, title: &str, paragraphs: &[&str]) {
    let width = (canvas.width().saturating_sub(4)).min(64);
    let ambiguous = canvas.glyphs().ambiguous;
    let lines: Vec<String> = paragraphs.iter().flat_map(|p| wrap(p, width.saturating_sub(4) as usize, ambiguous)).collect();
    let height = (lines.len() as u16 + 2).min(canvas.height());
    let (x, y) = ((canvas.width() - width) / 2, (canvas.height() - height) / 2);
    let mut part = canvas.part(Rect::new(x, y, width, height));
    for row in 0..height {
        clear_row(&mut part, row);
    }
    let mut inner = part.frame(title, "", true);
    // Where not all fits, the end does: what is typed stands there.
    let skip = lines.len().saturating_sub(inner.height() as usize);
    for (row, line) in lines.iter().skip(skip).enumerate() {
        inner.text(1, row as u16, line, Role::Strong);
    }
}

fn confirmation(canvas: &mut Canvas<'_>, confirm: &Confirm, typed: &str, cx: &Context<'_>) {
    let title = cx.banner.map_or_else(|| format!("Really {}?", confirm.verb), |banner| format!("Really {} on {banner}?", confirm.verb));
    let asked = format!("type  {} {}  to confirm; esc cancels", confirm.verb, confirm.name);
    dialog(canvas, &title, &[&confirm.what, &asked, &format!("{typed}_")]);
}

/// Cells of a column of the menu.
const MENU_COLUMN: u16 = 22;

/// Above the last row, so that the pane and what an action says stay in sight.
fn menu(canvas: &mut Canvas<'_>, group: Option<Group>, cx: &Context<'_>) {
    let (title, items) = match group {
        None => ("menu".to_owned(), Group::ALL.iter().map(|g| (g.title(), true)).collect::<Vec<_>>()),
        Some(group) => (group.title().to_owned(), group.entries().iter().map(|e| (e.name, usable(e, cx))).collect()),
    };
    let columns = (canvas.width() / MENU_COLUMN).clamp(1, 4);
    let rows = (items.len() as u16).div_ceil(columns);
    let height = (rows + 1).min(canvas.height().saturating_sub(1));
    let area = Rect::new(0, canvas.height() - 1 - height, canvas.width(), height);
    let mut part = canvas.part(area);
    for row in 0..height {
        clear_row(&mut part, row);
    }
    part.rule(0);
    let back = if group.is_some() { "0 back" } else { "0 close" };
    part.text(1, 0, &format!(" {title}  {back} "), Role::Title);
    for (n, (name, usable)) in (0u16..).zip(items) {
        let (x, y) = (n / rows * MENU_COLUMN, n % rows + 1);
        let role = if usable { Role::Text } else { Role::Dim };
        let mark = if usable { "" } else { " (n/a)" };
        part.text_upto(x + 1, x + MENU_COLUMN, y, &format!("{} {name}{mark}", n + 1), role);
    }
}

/// Whether an entry's needs are met.
fn usable(entry: &Entry, cx: &Context<'_>) -> bool {
    let live = cx.playback.is_none();
    match entry.needs {
        Needs::Nothing => true,
        Needs::Engine => live && !cx.read_only,
        Needs::Run => !live || !cx.read_only,
        Needs::Playback => !live,
        Needs::Unbuilt => false,
    }
}
/// The chosen entry at the bottom, where its line is too long to be seen whole; gives the rows that it took.
fn help_in_full(inner: &mut Canvas<'_>, at: usize) -> u16 {
    let entry = &ACTIONS[at.min(ACTIONS.len() - 1)];
    let (width, height) = (inner.width(), inner.height());
    let text = format!("{} {}: {}", entry.name, entry.argument, entry.help);
    let lines = wrap(&text, width.saturating_sub(2) as usize, inner.glyphs().ambiguous);
    let rows = lines.len() as u16 + 1;
    let is_short = HELP_COLUMN.max(entry.name.len() + entry.argument.len() + 17) + entry.help.len() < width as usize;
    if is_short || height < rows + 6 {
        return 0;
    }
    inner.rule(height - rows);
    for (y, line) in (height - rows + 1..).zip(&lines) {
        inner.text(1, y, line, Role::Strong);
    }
    rows
}

/// Where what an entry does begins, where its name is short.
const HELP_COLUMN: usize = 38;

fn help(canvas: &mut Canvas<'_>, at: usize, cx: &Context<'_>) {
    let (w, h) = (canvas.width(), canvas.height());
    let width = w.min(86);
    let mut part = canvas.part(Rect::new((w - width) / 2, 0, width, h));
    for row in 0..h {
        clear_row(&mut part, row);
    }
    let mut inner = part.frame("Keys and commands", "enter runs, esc closes", true);
    let below = help_in_full(&mut inner, at);
    let rows = (inner.height() - below) as usize;
    let from = at.saturating_sub(rows / 2).min(ACTIONS.len().saturating_sub(rows));
    for (row, (index, entry)) in ACTIONS.iter().enumerate().skip(from).take(rows).enumerate() {
        let keys: Vec<String> = cx.keys.keys_of(entry.action).map(|k| k.replace(' ', "")).collect();
        let line = format!("{:<14}:{:<21} {}", keys.join(" "), format!("{} {}", entry.name, entry.argument), entry.help);
        let role = if index == at {
            Role::Selected
        } else if usable(entry, cx) {
            Role::Text
        } else {
            Role::Dim
        };
        let end = inner.width();
        inner.text_upto(1, end, row as u16, &line, role);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::DashState;
    use crate::ui::theme::{BUILT_IN, Tier};
    use crate::ui::view::View;
    use crate::ui::widgets::ChartGlyphs;
    use crate::ui::widgets::testing::rows;

    #[test]
    fn help_names_every_theme_on_the_smallest_usual_screen() {
        let caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        let (state, view, theme) = (DashState::default(), View::default(), Theme::load("dark", Tier::None).unwrap());
        let (desk, keys) = (crate::ui::desk::Desk::default(), crate::ui::keymap::KeyMap::default());
        let cx = Context {
            state: &state,
            desk: &desk,
            keys: &keys,
            view: &view,
            theme: &theme,
            caps: &caps,
            playback: None,
            read_only: false,
            banner: None,
            lang: crate::ui::lang::Lang::English,
        };
        let at = ACTIONS.iter().position(|e| e.action == Action::Theme).unwrap();
        let area = Rect::new(0, 0, 80, 24);
        let mut buffer = Buffer::empty(area);
        overlay(&mut buffer, area, &cx, &Open::Help(at), "");
        let shown = rows(&buffer).join("\n");
        for (name, _) in BUILT_IN {
            assert!(shown.contains(name), "{name}:\n{shown}");
        }
        assert!(shown.contains("read again when saved") && shown.contains(":theme"), "{shown}");
    }
}
