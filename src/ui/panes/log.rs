//! Pane 6, log: newest at the bottom.

use super::{Pane, notice};
use crate::event::LogLevel;
use crate::state::{DashState, LogRow};
use crate::ui::lang::tr;
use crate::ui::view::{Scroll, View};
use crate::ui::widgets::{Canvas, Role, format, text};

/// What of the log is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogView {
    /// Lines of less weight are left out; unset shows all.
    pub level: Option<LogLevel>,
    /// What a line must hold, target or text, whatever its case.
    pub filter: String,
    /// Long lines are broken instead of cut.
    pub whole: bool,
}

impl LogView {
    fn shows(&self, row: &LogRow) -> bool {
        let heavy = self.level.is_none_or(|least| rank(row.level) >= rank(least));
        let holds = |hay: &str| text::holds(hay, &self.filter);
        heavy && (self.filter.is_empty() || holds(&row.text) || holds(&row.target))
    }

    /// Everything, then less and less.
    pub fn next_level(&mut self) {
        self.level = match self.level {
            None | Some(LogLevel::Debug) => Some(LogLevel::Info),
            Some(LogLevel::Info) => Some(LogLevel::Warn),
            Some(LogLevel::Warn) => Some(LogLevel::Error),
            Some(LogLevel::Error) => None,
        };
    }

    /// `W+ filter gateway`; empty where all is shown.
    fn told(&self) -> String {
        let level = self.level.map(|l| format!("{}+", level(l).0)).unwrap_or_default();
        let filter = if self.filter.is_empty() { String::new() } else { tr!("filter {text}", text = self.filter) };
        [level, filter].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

fn rank(level: LogLevel) -> u8 {
    match level {
        LogLevel::Debug => 0,
        LogLevel::Info => 1,
        LogLevel::Warn => 2,
        LogLevel::Error => 3,
    }
}

/// A letter and a role for a level.
pub fn level(level: LogLevel) -> (&'static str, Role) {
    match level {
        LogLevel::Error => ("E", Role::Bad),
        LogLevel::Warn => ("W", Role::Warn),
        LogLevel::Info => ("I", Role::Text),
        LogLevel::Debug => ("D", Role::Dim),
    }
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let (state, view) = (pane.ctx.state, &pane.ctx.view.log);
    let scroll = pane.scroll();
    let told = view.told();
    let badge = if scroll.follow { told } else { format!("{} {told}", tr!("follow off, G to catch up")) };
    let mut inner = pane.open(canvas, badge.trim());
    let dropped = dropped(state);
    let footer = footer_rows(inner.height(), &dropped);
    let rows = inner.height().saturating_sub(footer);
    let skip = scroll.up.min(scroll_max(state, view, scroll, inner.height()));
    let older: Vec<&LogRow> = stood(state, view, scroll).skip(skip).take(rows as usize).collect();
    if older.is_empty() {
        let text = if state.log.is_empty() {
            tr!("no log lines yet")
        } else {
            tr!("no line is shown: {filter}; o and :filter change that", filter = view.told())
        };
        notice(&mut inner, &text);
    }
    fill(&mut inner, &older, rows, view.whole);
    if footer > 0 {
        let (width, y) = (inner.width(), inner.height() - 1);
        inner.text_upto(0, width, y, &dropped, Role::Warn);
    }
}

/// From the newest at the bottom upwards, or from the top where they do not fill the pane. Rows that nothing needs go to lines that are
/// too long, the newest first.
fn fill(inner: &mut Canvas<'_>, newest_first: &[&LogRow], rows: u16, whole: bool) {
    let (rows, width) = (usize::from(rows), inner.width());
    let mut spare = rows.saturating_sub(newest_first.len());
    let mut broken: Vec<Vec<String>> = Vec::new();
    for row in newest_first {
        let lines = lines_of(row, width, inner);
        let more = lines.len() - 1;
        let fits = more <= spare;
        spare -= if fits && !whole { more } else { 0 };
        broken.push(if whole || fits { lines } else { vec![row.text.to_string()] });
    }
    let mut used = 0;
    let fits = broken.iter().take_while(|lines| {
        used += lines.len();
        used <= rows
    });
    let fits = fits.count().max(usize::from(rows > 0));
    let mut y = 0;
    for (row, lines) in newest_first.iter().zip(&broken).take(fits).rev() {
        let (first, rest) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        said(inner, y, row, first);
        for more in rest {
            y += 1;
            inner.text(4, y, more, level(row.level).1);
        }
        y += 1;
    }
}

const FIRST_CELLS_MIN: usize = 8;

/// A row broken into lines, of which the first stands behind time and target.
fn lines_of(row: &LogRow, width: u16, inner: &Canvas<'_>) -> Vec<String> {
    let head = if width >= 30 { format::clock(row.t_ns).len() + 1 } else { 0 } + 2 + inner.measure(&row.target) as usize + 1;
    let ambiguous = inner.glyphs().ambiguous;
    let room = (width as usize).saturating_sub(head);
    if inner.measure(&row.text) as usize <= room {
        return vec![row.text.to_string()];
    }
    // Where time and target leave next to no room, all of it stands below them.
    let first = if room < FIRST_CELLS_MIN { None } else { text::wrap(&row.text, room, ambiguous).into_iter().next() };
    let first = first.unwrap_or_default();
    let rest = row.text.get(first.len()..).unwrap_or_default().trim_start();
    std::iter::once(first).chain(text::wrap(rest, (width as usize).saturating_sub(4).max(1), ambiguous)).collect()
}

/// What the keys of a list do here: `o` shows fewer levels, enter breaks long lines.
pub fn sort(view: &mut View) -> String {
    view.log.next_level();
    match view.log.level {
        None => tr!("log: all levels"),
        Some(least) => tr!("log: {letter} and heavier", letter = level(least).0),
    }
}

/// Rows that came since following stopped: scrolling stands on those that there were.
fn fresh(state: &DashState, scroll: Scroll) -> usize {
    if scroll.follow { 0 } else { state.log.total().saturating_sub(scroll.total_at_stop) as usize }
}

/// The rows that are shown, the newest first, without those that came since following stopped.
pub fn stood<'s>(state: &'s DashState, view: &'s LogView, scroll: Scroll) -> impl Iterator<Item = &'s LogRow> {
    state.log.iter().rev().skip(fresh(state, scroll)).filter(|row| view.shows(row))
}

/// How far up there is a row to see in a pane whose inside has `height` rows.
pub fn scroll_max(state: &DashState, view: &LogView, scroll: Scroll, height: u16) -> usize {
    let rows = height.saturating_sub(footer_rows(height, &dropped(state))) as usize;
    stood(state, view, scroll).count().saturating_sub(rows)
}

fn footer_rows(height: u16, dropped: &str) -> u16 {
    u16::from(height >= 3 && !dropped.is_empty())
}

/// What was lost or not understood, if anything.
fn dropped(state: &DashState) -> String {
    let mut parts = Vec::new();
    if state.samples_dropped_total > 0 {
        parts.push(tr!("{samples} dropped", samples = format::counted(state.samples_dropped_total, "sample")));
    }
    if state.unknown_events_total > 0 {
        parts.push(tr!("{events} of a newer version", events = format::counted(state.unknown_events_total, "event")));
    }
    parts.join(", ")
}

/// One row of the log.
pub fn line(canvas: &mut Canvas<'_>, y: u16, row: &LogRow) {
    said(canvas, y, row, &row.text);
}

/// The same with what is said in the first line.
fn said(canvas: &mut Canvas<'_>, y: u16, row: &LogRow, text: &str) {
    let width = canvas.width();
    let (letter, role) = level(row.level);
    let mut x = 0;
    if width >= 30 {
        x = canvas.text(0, y, &format!("{} ", format::clock(row.t_ns)), Role::Dim);
    }
    x = canvas.text(x, y, &format!("{letter} "), role);
    x = canvas.text_upto(x, width, y, &format!("{} ", row.target), Role::Dim);
    canvas.text_upto(x, width, y, text, role);
}
