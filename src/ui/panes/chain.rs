//! Pane 1, the thought chain: what the agent saw, thought and did, newest at the bottom.
//!
//! Only what is visible is laid out: a transcript of thousands of rows draws like one of a hundred. While it follows, the
//! text stands still until the pane is full and then moves up by about a third: that can be read, and it costs a fraction
//! of the bytes of moving at each line.

use super::Pane;
use super::chain_rows::{Line, Shape, holds, lay_out, lay_out_streaming};
use crate::event::{PolicyState, Seq};
use crate::state::{LaneState, Row, Transcript};
use crate::ui::view::{Context, Detail, Scroll, View};
use crate::ui::widgets::{Canvas, Role, format};

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let lane = pane.lane();
    let badge = lane.map(|l| badge(pane.scroll(), &l.transcript)).unwrap_or_default();
    let mut inner = pane.open(canvas, &badge);
    let Some(lane) = lane.filter(|l| !l.transcript.rows.is_empty() || l.transcript.streaming.is_some()) else {
        draw_empty(&mut inner, pane.ctx);
        return;
    };
    let footer = u16::from(inner.height() >= 6);
    let height = inner.height() - footer;
    let sheet = Sheet { transcript: &lane.transcript, view: pane.ctx.view, shape: shape(inner.width(), &inner, pane.ctx.view) };
    let streaming = streaming_lines(pane, lane, &sheet.shape);
    let top = if pane.scroll().follow {
        sheet.top_following(height as usize, streaming.len())
    } else {
        sheet.top_scrolled(height as usize, pane.scroll())
    };
    let streaming = if pane.scroll().follow { streaming } else { Vec::new() };
    sheet.draw(&mut inner, top, height, &streaming);
    if footer > 0 {
        draw_footer(&mut inner.below(height), pane.ctx, lane);
    }
}

/// The row that stands at the bottom of a pane of `width` by `height` cells: what a fold key is about.
pub fn bottom_row(transcript: &Transcript, scroll: Scroll) -> Option<Seq> {
    let newest = transcript.rows.len().checked_sub(1)?;
    let index = if scroll.follow { newest } else { end_when_stopped(transcript, scroll).saturating_sub(1).min(newest) };
    transcript.rows.get(index).map(|r| r.seq)
}

fn shape(width: u16, canvas: &Canvas<'_>, view: &View) -> Shape {
    Shape { width, detail: view.detail, compact: view.raw, glyphs: canvas.glyphs() }
}

/// A row, and the first of its lines that is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Top {
    index: usize,
    line: usize,
}

/// Number of rows that there were when following stopped and that are still kept.
fn end_when_stopped(transcript: &Transcript, scroll: Scroll) -> usize {
    let fallen_out = transcript.rows.total() - transcript.rows.len() as u64;
    (scroll.total_at_stop.saturating_sub(fallen_out) as usize).min(transcript.rows.len())
}

/// A transcript with the way in which it is laid out.
struct Sheet<'a> {
    transcript: &'a Transcript,
    view: &'a View,
    shape: Shape,
}

impl Sheet<'_> {
    fn lines(&self, row: &Row) -> Vec<Line> {
        let lines = lay_out(row, &self.shape, self.view.folds.get(&row.seq).copied());
        let needle = self.view.search.as_str();
        // What was searched for is not hidden in a fold.
        let hidden = !needle.is_empty() && holds(row, needle) && !lines.iter().any(|l| l.holds(needle));
        if hidden { lay_out(row, &self.shape, Some(true)) } else { lines }
    }

    fn height(&self, index: usize) -> usize {
        self.transcript.rows.get(index).map_or(0, |row| self.lines(row).len())
    }

    /// The top from which exactly `wanted` lines lead to the end of row `end - 1`.
    fn top_from_bottom(&self, end: usize, wanted: usize) -> Top {
        let mut wanted = wanted;
        for index in (0..end).rev() {
            let lines = self.height(index);
            if lines >= wanted {
                return Top { index, line: lines - wanted };
            }
            wanted -= lines;
        }
        Top::default()
    }

    /// Begins at a row whose number is a multiple of a stride, the earliest from which all that follows fits: so the text
    /// stands still until the pane is full, whatever was drawn before.
    fn top_following(&self, height: usize, streaming: usize) -> Top {
        let stride = (height as u64 / 6).max(1);
        let fallen_out = self.transcript.rows.total() - self.transcript.rows.len() as u64;
        let end = self.transcript.rows.len();
        let (mut used, mut best) = (streaming, None);
        for index in (0..end).rev() {
            used += self.height(index);
            if used > height {
                let bottom = || self.top_from_bottom(end, height.saturating_sub(streaming).max(1));
                return best.map_or_else(bottom, |index| Top { index, line: 0 });
            }
            if (fallen_out + index as u64).is_multiple_of(stride) {
                best = Some(index);
            }
        }
        Top::default()
    }

    fn top_scrolled(&self, height: usize, scroll: Scroll) -> Top {
        self.top_from_bottom(end_when_stopped(self.transcript, scroll), height.saturating_add(scroll.up))
    }

    fn draw(&self, inner: &mut Canvas<'_>, top: Top, height: u16, streaming: &[Line]) {
        let mut y = 0;
        let mut skip = top.line;
        for index in top.index..self.transcript.rows.len() {
            let Some(row) = self.transcript.rows.get(index).filter(|_| y < height) else { break };
            for line in self.lines(row).iter().skip(skip) {
                if y >= height {
                    break;
                }
                line.draw(inner, y, &self.view.search);
                y += 1;
            }
            skip = 0;
        }
        // A message too long for the pane shows its end.
        let room = height.saturating_sub(y) as usize;
        for line in streaming.iter().skip(streaming.len().saturating_sub(room)) {
            line.draw(inner, y, "");
            y += 1;
        }
    }
}

impl Line {
    fn holds(&self, needle: &str) -> bool {
        self.spans.iter().any(|(text, _)| text.to_lowercase().contains(needle))
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

fn badge(scroll: Scroll, transcript: &Transcript) -> String {
    if scroll.follow {
        return "follow".into();
    }
    match transcript.rows.total().saturating_sub(scroll.total_at_stop) {
        0 => "follow off, G to catch up".into(),
        new => format!("follow off, {} new, G to catch up", format::count(new)),
    }
}

fn streaming_lines(pane: &Pane<'_>, lane: &LaneState, shape: &Shape) -> Vec<Line> {
    let Some(streaming) = &lane.transcript.streaming else { return Vec::new() };
    let seconds = pane.ctx.state.t_ns.saturating_sub(streaming.started_t_ns) as f64 / 1e9;
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
            Detail::Brief => "brief",
            Detail::Normal => "normal",
            Detail::Full => "full",
        };
        format!("detail {detail}{}", if ctx.view.raw { ", as the model reads it" } else { "" })
    } else {
        search_place(ctx, &lane.transcript)
    };
    let memory = lane.episode.compression_ratio_last.map(|r| format!("memory {r:.1}:1"));
    let parts: Vec<String> = [memory, super::memory::context_tokens(ctx, lane)].into_iter().flatten().collect();
    let right = parts.join("  ");
    let end = footer.text_upto(0, width, 0, &left, Role::Dim);
    if end + 2 + footer.measure(&right) <= width {
        footer.text_before(width, 0, &right, Role::Dim);
    }
}

/// `/412  3 of 7`: the match at or above the bottom of the pane, of all.
fn search_place(ctx: &Context<'_>, transcript: &Transcript) -> String {
    let bottom = bottom_row(transcript, ctx.view.scroll_of(crate::ui::view::PaneId::Chain)).unwrap_or_default();
    let found: Vec<Seq> = transcript.rows.iter().filter(|r| holds(r, &ctx.view.search)).map(|r| r.seq).collect();
    match found.len() {
        0 => format!("/{}  no match", ctx.view.search),
        all => format!("/{}  {} of {all}", ctx.view.search, found.iter().filter(|s| **s <= bottom).count()),
    }
}

fn draw_empty(inner: &mut Canvas<'_>, ctx: &Context<'_>) {
    let text = match &ctx.state.policy {
        Some(p) if p.state == PolicyState::Loading => format!("the policy is loading: {}", p.detail),
        Some(p) if p.state == PolicyState::Failed => format!("the policy failed: {}", p.detail),
        Some(_) | None => "waiting for the first decision".to_owned(),
    };
    super::notice(inner, &text);
}
