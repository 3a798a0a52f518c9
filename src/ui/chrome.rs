//! What surrounds the panes: the status bar, the hints, and what opens above them.

use super::actions::{ACTIONS, Action, Entry, Group, Needs};
use super::app::Open;
use super::theme::{Caps, Theme};
use super::update::Confirm;
use super::view::Context;
use super::widgets::text::{Ambiguous, wrap};
use super::widgets::{Canvas, Glyphs, Paint, Role, format};
use crate::event::{Pace, PolicyState, RunState};
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
    status(&mut canvas, cx);
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

fn status(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let wide = canvas.width() >= 60;
    let (word, role) = state_word(cx);
    if canvas.width() < 8 {
        // Room for letters of the state only; never blank.
        canvas.text(0, 0, &word, role);
        return;
    }
    let mut x = canvas.text(0, 0, if wide { " pilothouse " } else { " " }, Role::Title);
    x = canvas.text(x, 0, &format!("|{word}|"), role);
    let mut parts: Vec<String> = Vec::new();
    if let Some(lane) = cx.state.lane(cx.view.lane) {
        let max = cx.state.run.as_ref().map_or(0, |r| r.max_steps);
        parts.push(format!("ep {} {}/{max}", lane.episode.episode, lane.episode.step));
        if cx.state.lanes.len() > 1 {
            parts.push(format!("lane {}/{}", cx.view.lane, cx.state.lanes.len()));
        }
    }
    if let Some(run) = &cx.state.run {
        let agent = cx.state.serving.as_ref().map_or(run.agent.to_string(), ToString::to_string);
        parts.push(agent);
        if wide {
            parts.push(format!("{} {}", run.env, run.level));
            parts.push(format!("seed {}", run.seed));
        }
    }
    match cx.playback {
        Some(p) => parts.push(format!("event {}/{} {}", p.head, p.end, p.speed)),
        None => parts.extend(cx.state.pace.map(|p: Pace| p.to_string())),
    }
    if let Some(success) = cx.state.success_ratio(100) {
        parts.push(format!("success {}", format::percent_whole(success)));
    }
    let firing = firing(cx);
    x = canvas.text(x, 0, &format!(" {} ", parts.join(" | ")), Role::Strong);
    if firing > 0 {
        x = canvas.text(x, 0, &format!("| {firing} FIRING "), Role::Bad);
    }
    if let Some(damage) = cx.playback.and_then(|p| p.damage.as_ref()) {
        x = canvas.text(x, 0, &format!("| {damage} "), Role::Warn);
    }
    if cx.read_only {
        x = canvas.text(x, 0, "| RO ", Role::Warn);
    }
    if let Some(banner) = cx.banner {
        canvas.text(x, 0, &format!("| {banner} "), Role::Bad);
    }
}

/// Alerts whose newest state is firing.
pub fn firing(cx: &Context<'_>) -> usize {
    super::panes::alerts::current(cx.state).iter().filter(|a| a.change.state == crate::event::AlertState::Firing).count()
}

fn state_word(cx: &Context<'_>) -> (String, Role) {
    if let Some(p) = cx.playback {
        return if p.playing { ("REPLAY".into(), Role::Good) } else { ("REPLAY PAUSED".into(), Role::Warn) };
    }
    match cx.state.run_state {
        RunState::Starting => match cx.state.policy.as_ref().map(|p| p.state) {
            Some(PolicyState::Failed) => ("FAILED".into(), Role::Bad),
            Some(PolicyState::Loading | PolicyState::Ready) | None => ("LOADING".into(), Role::Warn),
        },
        RunState::Running => ("LIVE".into(), Role::Good),
        RunState::Paused => ("PAUSED".into(), Role::Warn),
        RunState::Stepping => ("STEPPING".into(), Role::Warn),
        RunState::Ended => ("ENDED".into(), Role::Dim),
    }
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
    let mut x = 1;
    if super::panes::has_menu_key(canvas.width(), y.saturating_sub(1)) {
        x = canvas.text(x, y, "0", Role::BorderFocused);
        x = canvas.text(x + 1, y, "menu", Role::Dim) + 2;
    }
    for action in if cx.playback.is_some() { replay } else { live } {
        let Some(entry) = ACTIONS.iter().find(|e| e.action == action) else { continue };
        let key = entry.keys.first().copied().unwrap_or_default();
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
        Open::ConfirmQuit => {
            dialog(&mut canvas, "Quit", &["Quitting ends this run; its recording is kept.  y quits, any other key goes on"]);
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
    }
}

fn help(canvas: &mut Canvas<'_>, at: usize, cx: &Context<'_>) {
    let (w, h) = (canvas.width(), canvas.height());
    let width = w.min(86);
    let mut part = canvas.part(Rect::new((w - width) / 2, 0, width, h));
    for row in 0..h {
        clear_row(&mut part, row);
    }
    let mut inner = part.frame("Keys and commands", "enter runs, esc closes", true);
    let rows = inner.height() as usize;
    let from = at.saturating_sub(rows / 2).min(ACTIONS.len().saturating_sub(rows));
    for (row, (index, entry)) in ACTIONS.iter().enumerate().skip(from).take(rows).enumerate() {
        let keys: Vec<String> = entry.keys.iter().map(|k| k.replace(' ', "")).collect();
        let line = format!("{:<14}:{:<22}{}", keys.join(" "), format!("{} {}", entry.name, entry.argument), entry.help);
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
