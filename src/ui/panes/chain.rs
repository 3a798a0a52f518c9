//! Pane 1, the thought chain: what the agent saw, thought and did, newest at the bottom.
//!
//! Only what is visible is laid out: a transcript of thousands of rows draws like one of a hundred. While it follows, the
//! text stands still until the pane is full and then moves up by about a third: that can be read, and it costs a fraction
//! of the bytes of moving at each line.

use super::Pane;
use super::chain_rows::{Line, MARKS_WIDTH_MIN, Shape, failed, lay_out_streaming};
use super::chain_sheet::{Motion, Rows, Seen, Sheet};
use super::hits::Hits;
use crate::event::{PolicyState, Seq};
use crate::state::{BranchRow, DashState, LaneState, Row, RowKind, TokenMeasure, TokenTrace, Transcript};
use crate::ui::lang::tr;
use crate::ui::update::Effect;
use crate::ui::view::{Context, Detail, Place, View};
use crate::ui::widgets::{Canvas, Glyphs, Role, format, text};
use std::rc::Rc;

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let view = pane.ctx.view;
    let lane = pane.lane();
    let badge = lane.map(|l| badge(view.place, &l.transcript)).unwrap_or_default();
    let badge = match pane.ctx.state.branch_of(view.lane) {
        Some(branch) => format!("{}, {badge}", from(branch)),
        None => badge,
    };
    let mut inner = pane.open(canvas, &badge);
    let Some(lane) = lane.filter(|l| !l.transcript.rows.is_empty() || l.transcript.streaming.is_some()) else {
        draw_empty(&mut inner, pane.ctx);
        return;
    };
    let height = text_rows(inner.height());
    let shape = shape(inner.width(), inner.glyphs(), view);
    let streaming = streaming_lines(lane, &shape);
    let sheet = sheet(&lane.transcript, view, shape, height, streaming.len());
    draw_sheet(&mut inner, &sheet, sheet.seen(), height, &streaming);
    if height < inner.height() {
        draw_footer(&mut inner.below(height), pane.ctx, lane);
    }
}

/// Rows of the pane's inside that the chain has; the rest is the footer's.
pub fn text_rows(height: u16) -> u16 {
    height - u16::from(height >= 6)
}

pub fn shape(width: u16, glyphs: Glyphs, view: &View) -> Shape {
    Shape { width, detail: view.detail, compact: view.raw, overlay: view.overlay, glyphs }
}

/// The next measure that any thought of the lane has values of, then none again.
pub fn next_overlay(view: &mut View, state: &DashState) -> Vec<Effect> {
    let rows = state.lane(view.lane).map(|l| &l.transcript.rows);
    let traces: Vec<&TokenTrace> = rows.into_iter().flat_map(|r| r.iter()).filter_map(trace_of).collect();
    let known = TokenMeasure::ALL.into_iter().filter(|m| traces.iter().any(|t| !t.values(*m).is_empty()));
    let known: Vec<TokenMeasure> = known.collect();
    if known.is_empty() {
        view.overlay = None;
        return vec![Effect::Notice(tr!("n/a: what is here does not say where its tokens end"))];
    }
    let after = view.overlay.and_then(|now| known.iter().position(|m| *m == now)).map_or(0, |at| at + 1);
    view.overlay = known.get(after).copied();
    vec![Effect::Notice(view.overlay.map_or_else(|| tr!("tokens as they are"), legend))]
}

fn trace_of(row: &Row) -> Option<&TokenTrace> {
    if let RowKind::Thought { trace, .. } = &row.kind { trace.as_deref() } else { None }
}

/// What the digits below the tokens say.
pub fn legend(measure: TokenMeasure) -> String {
    match measure {
        TokenMeasure::Surprise => tr!("tokens by surprise: 0 certain, 9 from 4.5 nats (log-probability -4.5)"),
        TokenMeasure::Entropy => tr!("tokens by entropy: 0 certain, 9 from 4.5 nats"),
        TokenMeasure::Advantage => tr!("tokens by advantage: + above 0.05, - below -0.05, 0 between"),
        TokenMeasure::LossMask => tr!("tokens by loss mask: 1 counts in the loss, 0 does not"),
        TokenMeasure::Mismatch => tr!("tokens by mismatch of trainer and sampler: 0 agree, 9 from 0.9 nats"),
    }
}

fn sheet<'a>(transcript: &'a Transcript, view: &'a View, shape: Shape, height: u16, streaming: usize) -> Sheet<'a> {
    Sheet { rows: Rows::of(transcript), view, place: view.place, anchor: None, shape, height: height.max(1) as usize, streaming }
}

/// Where a motion leads in a pane whose inside is `width` by `height` cells; unset where it follows the newest row.
pub fn moved(view: &View, state: &DashState, (width, height): (u16, u16), glyphs: Glyphs, motion: Motion) -> Option<Place> {
    let lane = state.lane(view.lane).filter(|l| !l.transcript.rows.is_empty())?;
    let shape = shape(width, glyphs, view);
    let streaming = streaming_lines(lane, &shape).len();
    sheet(&lane.transcript, view, shape, text_rows(height), streaming).moved(motion)
}

/// The row at the cursor; the newest one while the chain follows.
pub fn cursor_row<'s>(view: &View, state: &'s DashState) -> Option<&'s Row> {
    let rows = Rows::of(&state.lane(view.lane)?.transcript);
    let Some(place) = view.place else { return rows.last() };
    rows.get(rows.row_at(place.cursor.seq).unwrap_or(0))
}

/// The rows of the step that a row is of. What begins an episode is of its first step, what ends it of its last one.
pub fn of_step<'r>(rows: impl DoubleEndedIterator<Item = &'r Row>, row: Option<&Row>) -> Vec<&'r Row> {
    let Some(row) = row else { return Vec::new() };
    let mut of_episode: Vec<&Row> = rows.filter(|r| r.episode == row.episode && r.step.0 > 0).collect();
    let step = if matches!(row.kind, RowKind::EpisodeEnd { .. }) {
        of_episode.last().map(|r| r.step)
    } else if row.step.0 == 0 {
        of_episode.first().map(|r| r.step)
    } else {
        Some(row.step)
    };
    of_episode.retain(|r| Some(r.step) == step);
    of_episode
}

/// Rows that hold what is searched for, oldest first.
pub fn matches(view: &View, state: &DashState, hits: &Hits) -> Rc<Vec<Seq>> {
    let rows = state.lane(view.lane).map(|l| Rows::of(&l.transcript)).unwrap_or_default();
    hits.of(rows, view.lane, &view.search)
}

/// Rows of calls that failed, oldest first.
pub fn errors(view: &View, state: &DashState) -> Vec<Seq> {
    let rows = state.lane(view.lane).map(|l| &l.transcript.rows);
    rows.into_iter().flat_map(|r| r.iter()).filter(|r| failed(r)).map(|r| r.seq).collect()
}

/// Draws what is seen. What lies behind the anchor is to come yet, and says so.
pub fn draw_sheet(inner: &mut Canvas<'_>, sheet: &Sheet<'_>, seen: Seen, height: u16, streaming: &[Line]) {
    let mut y = 0;
    let mut skip = seen.top.line;
    for index in seen.top.index..sheet.rows.len() {
        let Some(row) = sheet.rows.get(index).filter(|_| y < height) else { break };
        let until = sheet.rows.get(index + 1).map(|r| r.seq);
        let is_future = sheet.anchor.is_some_and(|anchor| index > anchor) || sheet.is_all_future();
        let lines = sheet.lines(row);
        let said_at = if is_future { said_at(&lines, inner) } else { None };
        for (number, line) in lines.iter().enumerate().skip(skip) {
            if y >= height {
                break;
            }
            if is_future {
                line.future(said_at == Some(number), inner).draw(inner, y, &sheet.view.search);
                if number == 0 && said_at.is_none() {
                    inner.text(0, y, ".", Role::Dim);
                }
            } else {
                line.draw(inner, y, &sheet.view.search);
            }
            if number == 0 && sheet.anchor == Some(index) && !sheet.is_all_future() {
                inner.text(0, y, "o", Role::Strong);
            }
            if number == 0 && is_marked(sheet.view, row.seq, until) {
                inner.text(0, y, "m", Role::Mark);
            }
            if sheet.place.is_some() && (index, number) == (seen.cursor.index, seen.cursor.line) {
                draw_cursor(inner, y, sheet.shape.indent());
            }
            y += 1;
        }
        skip = 0;
    }
    let room = height.saturating_sub(y) as usize;
    // A message too long for the pane shows its end; where the operator reads something else, it does not come in between.
    let shown = if sheet.place.is_none() || streaming.len() <= room { streaming } else { &[] };
    for line in shown.iter().skip(shown.len().saturating_sub(room)) {
        line.draw(inner, y, "");
        y += 1;
    }
}

/// Whether a mark stands on a row or between it and the next one.
fn is_marked(view: &View, seq: Seq, next: Option<Seq>) -> bool {
    view.marks.range(seq..).next().is_some_and(|mark| next.is_none_or(|next| *mark < next))
}

/// Reversed, and with a star where the pane has room for marks: seen without colour.
fn draw_cursor(inner: &mut Canvas<'_>, y: u16, indent: u16) {
    if inner.width() >= MARKS_WIDTH_MIN {
        inner.text(0, y, "*", Role::Selected);
    }
    inner.restyle(0, y, indent, Role::Selected);
}

/// The line of a row that says that the row is still to come: the first one with room for it; where all are full, the first one is
/// cut for it. None on a screen too narrow for that.
fn said_at(lines: &[Line], inner: &Canvas<'_>) -> Option<usize> {
    let word = inner.measure(&tr!("(future)"));
    let free = lines.iter().position(|line| line.used(inner) + word < inner.width());
    free.or((inner.width() >= 3 * word && !lines.is_empty()).then_some(0))
}

impl Line {
    /// Cells that its spans take.
    fn used(&self, inner: &Canvas<'_>) -> u16 {
        self.spans.iter().map(|(text, _)| inner.measure(text)).fold(0, u16::saturating_add)
    }

    /// The line of something that has not happened yet: dim, and where it is to be said, in words.
    fn future(&self, is_said: bool, inner: &Canvas<'_>) -> Line {
        let spans: Vec<(String, Role)> = self.spans.iter().map(|(text, _)| (text.clone(), Role::Dim)).collect();
        let right = self.right.as_ref().map(|(text, _)| text.as_str());
        if !is_said {
            return Line { spans, right: right.map(|text| (text.to_owned(), Role::Dim)) };
        }
        let (word, room) = (tr!("(future)"), inner.width().saturating_sub(self.used(inner)));
        let both = right.map(|text| format!("{text}  {word}")).filter(|both| inner.measure(both) + 2 <= room);
        let right = Some((both.unwrap_or_else(|| word.clone()), Role::Dim));
        if inner.measure(&word) < room {
            return Line { spans, right };
        }
        let text: String = spans.iter().map(|(text, _)| text.as_str()).collect();
        let upto = inner.width().saturating_sub(inner.measure(&word) + 1);
        let cut = text::truncate(&text, usize::from(upto), inner.glyphs().cut(), inner.glyphs().ambiguous);
        Line { spans: vec![(cut, Role::Dim)], right }
    }

    pub fn holds(&self, needle: &str) -> bool {
        self.spans.iter().any(|(hay, _)| text::holds(hay, needle))
    }

    fn draw(&self, inner: &mut Canvas<'_>, y: u16, needle: &str) {
        let mut x = 0;
        for (text, role) in &self.spans {
            let mut rest = text.as_str();
            while let Some((before, found, after)) = split_match(rest, needle) {
                x = inner.text(x, y, before, *role);
                x = inner.text(x, y, found, Role::Match);
                rest = after;
            }
            x = inner.text(x, y, rest, *role);
        }
        if let Some((text, role)) = &self.right {
            let end = inner.width();
            inner.text_before(end, y, text, *role);
        }
    }
}

/// The first place of `needle` (in lower case). Where lower case has other lengths, only an exact match is found.
fn split_match<'t>(text: &'t str, needle: &str) -> Option<(&'t str, &'t str, &'t str)> {
    if needle.is_empty() {
        return None;
    }
    let lower = text.to_lowercase();
    let at = if lower.len() == text.len() { lower.find(needle) } else { text.find(needle) }?;
    Some((text.get(..at)?, text.get(at..at + needle.len())?, text.get(at + needle.len()..)?))
}

/// Where a branch comes from.
fn from(branch: &BranchRow) -> String {
    let started = &branch.started;
    tr!("branch of {lane}:{episode} before {step}", lane = started.parent_lane, episode = started.parent, step = started.at_step)
}

fn badge(place: Option<Place>, transcript: &Transcript) -> String {
    let Some(place) = place else { return tr!("follow") };
    match transcript.rows.iter().rev().take_while(|r| r.seq > place.newest_at_stop).count() {
        0 => tr!("follow off, G to catch up"),
        new => tr!("follow off, {n} new, G to catch up", n = format::count(new as u64)),
    }
}

pub fn streaming_lines(lane: &LaneState, shape: &Shape) -> Vec<Line> {
    let Some(streaming) = &lane.transcript.streaming else { return Vec::new() };
    let seconds = streaming.last_t_ns.saturating_sub(streaming.started_t_ns) as f64 / 1e9;
    let rate = if seconds > 0.0 && streaming.tokens > 1 {
        format!("{:.0} tok/s", f64::from(streaming.tokens - 1) / seconds)
    } else {
        format::counted(u64::from(streaming.tokens), "token")
    };
    lay_out_streaming(&streaming.text, lane.episode.step.0, &rate, shape)
}

fn draw_footer(footer: &mut Canvas<'_>, ctx: &Context<'_>, lane: &LaneState) {
    let width = footer.width();
    let left = if ctx.view.search.is_empty() {
        let detail = match ctx.view.detail {
            Detail::Brief => tr!("detail brief"),
            Detail::Normal => tr!("detail normal"),
            Detail::Full => tr!("detail full"),
        };
        if ctx.view.raw { tr!("{detail}, as the model reads it", detail = detail) } else { detail }
    } else {
        search_place(ctx)
    };
    let memory = lane.episode.compression_ratio_last.map(|r| tr!("memory {r}:1", r = format!("{r:.1}")));
    let parts: Vec<String> = [memory, super::memory::context_tokens(ctx.state, lane)].into_iter().flatten().collect();
    let right = parts.join("  ");
    let end = footer.text_upto(0, width, 0, &left, Role::Dim);
    if end + 2 + footer.measure(&right) <= width {
        footer.text_before(width, 0, &right, Role::Dim);
    }
}

/// `/412  3 of 7 matches`.
fn search_place(ctx: &Context<'_>) -> String {
    format!("/{}  {}", ctx.view.search, found(ctx.view, ctx.state, &ctx.desk.hits))
}

/// `3 of 7 matches` on a match, `7 matches` elsewhere.
pub fn found(view: &View, state: &DashState, hits: &Hits) -> String {
    let found = matches(view, state, hits);
    let cursor = cursor_row(view, state).map(|r| r.seq);
    match (found.len(), cursor.and_then(|seq| found.binary_search(&seq).ok())) {
        (0, _) => tr!("no match"),
        (1, None) => tr!("1 match"),
        (all, None) => tr!("{all} matches", all = all),
        (all, Some(at)) => tr!("{at} of {all} matches", at = at + 1, all = all),
    }
}

fn draw_empty(inner: &mut Canvas<'_>, ctx: &Context<'_>) {
    let text = match &ctx.state.policy {
        Some(p) if p.state == PolicyState::Loading => tr!("the policy is loading: {detail}", detail = p.detail),
        Some(p) if p.state == PolicyState::Failed => tr!("the policy failed: {detail}", detail = p.detail),
        Some(_) | None => tr!("waiting for the first decision"),
    };
    super::notice(inner, &text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widgets::testing::Plain;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    #[test]
    fn the_word_for_what_is_to_come_stands_where_there_is_room_and_else_on_the_first_line() {
        let said = |width: u16, used: &[usize]| {
            let area = Rect::new(0, 0, width, 3);
            let mut buffer = Buffer::empty(area);
            let lines: Vec<Line> = used.iter().map(|n| Line { spans: vec![("x".repeat(*n), Role::Text)], ..Line::default() }).collect();
            said_at(&lines, &Canvas::new(&mut buffer, area, &Plain, Glyphs::default()))
        };
        assert_eq!(said(40, &[40, 10, 5]), Some(1));
        assert_eq!(said(40, &[40, 39]), Some(0));
        assert_eq!(said(12, &[12]), None);
    }
}
