//! The transcript: the whole episode, what has been played and, dim, what is still to come.

use super::Scene;
use crate::event::Seq;
use crate::source::Quest;
use crate::state::Row;
use crate::ui::actions::Action;
use crate::ui::keymap::KeyMap;
use crate::ui::lang::tr;
use crate::ui::panes::chain::{draw_sheet, of_step, shape, streaming_lines, text_rows};
use crate::ui::panes::chain_rows::{Shape, failed};
use crate::ui::panes::chain_sheet::{Rows, Sheet};
use crate::ui::panes::{Motion, Pane, notice};
use crate::ui::view::{Detail, Place, ScreenId};
use crate::ui::widgets::{Canvas, Glyphs, Role, format};
use std::rc::Rc;

/// The rows of the episode at the playhead.
pub fn rows(scene: Scene<'_>) -> Rows<'_> {
    let track = scene.track().map_or(&[][..], |t| &t.rows);
    let after = &track[track.partition_point(|r| r.seq <= scene.state.seq)..];
    let Some(lane) = scene.state.lane(scene.view.lane) else { return Rows { after, ..Rows::default() } };
    let folded = &lane.transcript;
    let mut skip = folded.rows.len();
    while skip > 0 && folded.rows.get(skip - 1).is_some_and(|r| r.episode == lane.episode.episode) {
        skip -= 1;
    }
    // What fell out of the fold of a very long episode is in the track.
    let oldest = folded.rows.get(skip).map_or(scene.state.seq.next(), |r| r.seq);
    let before = &track[..track.partition_point(|r| r.seq < oldest)];
    Rows { before, folded: Some(folded), skip, after }
}

fn sheet<'a>(scene: Scene<'a>, shape: Shape, height: u16, streaming: usize) -> Sheet<'a> {
    let rows = rows(scene);
    let anchor = scene.playback.map(|_| rows.row_at(scene.state.seq).unwrap_or(0));
    Sheet { rows, view: scene.view, place: scene.view.replay.place, anchor, shape, height: height.max(1) as usize, streaming }
}

/// The row at the cursor: while it follows, the playhead's, or the newest one of a live run.
pub fn cursor_row(scene: Scene<'_>) -> Option<&Row> {
    let rows = rows(scene);
    let seq = scene.view.replay.place.map_or(scene.state.seq, |place| place.cursor.seq);
    rows.get(rows.row_at(seq).unwrap_or(0))
}

/// The rows of the step at the cursor.
pub fn rows_at_cursor(scene: Scene<'_>) -> Vec<&Row> {
    of_step(rows(scene).iter(), cursor_row(scene))
}

/// Rows that hold what is searched for, oldest first.
pub fn matches(scene: Scene<'_>) -> Rc<Vec<Seq>> {
    scene.desk.replay.hits.of(settled(scene), scene.view.lane, &scene.view.search)
}

/// The same rows as `rows`, each as it is at its end wherever the playhead stands.
fn settled(scene: Scene<'_>) -> Rows<'_> {
    let Some(track) = scene.track().filter(|t| !t.rows.is_empty()) else { return rows(scene) };
    let folded = scene.state.lane(scene.view.lane).map(|l| &l.transcript);
    let read = track.rows.last().map_or(Seq(0), |r| r.seq);
    let skip = folded.map_or(0, |t| t.rows.iter().rev().take_while(|r| r.seq > read).count());
    let skip = folded.map_or(0, |t| t.rows.len()) - skip;
    Rows { before: &track.rows, folded, skip, after: &[] }
}

/// Rows of calls that failed, oldest first.
pub fn errors(scene: Scene<'_>) -> Vec<Seq> {
    rows(scene).iter().filter(|row| failed(row)).map(|r| r.seq).collect()
}

/// `2 of 3 here, 7 in all`.
pub fn found(scene: Scene<'_>) -> String {
    let needle = &scene.view.search;
    let found = matches(scene);
    let cursor = cursor_row(scene).map(|r| r.seq);
    let all = found.len();
    let here = match cursor.and_then(|seq| found.binary_search(&seq).ok()) {
        Some(at) => tr!("{at} of {all} here", at = at + 1, all = all),
        None => tr!("{all} here", all = all),
    };
    match scene.desk.replay.tallies.get(&Quest::Search).filter(|_| scene.desk.replay.searched == *needle) {
        Some(tally) if tally.is_whole() => format!("{here}, {}", tr!("{n} in all", n = tally.count())),
        Some(tally) => format!(
            "{here}, {}",
            tr!(
                "{n} in {read} of {end} events",
                n = tally.count(),
                read = super::thousands(tally.read_upto.0),
                end = super::thousands(tally.end.0)
            )
        ),
        None => here,
    }
}

fn streaming(scene: Scene<'_>, shape: &Shape) -> Vec<super::super::chain_rows::Line> {
    // In a replay the whole message stands there already, dim.
    let lane = scene.state.lane(scene.view.lane).filter(|_| scene.playback.is_none());
    lane.map(|lane| streaming_lines(lane, shape)).unwrap_or_default()
}

/// Where a motion leads; unset where it follows.
pub fn moved(scene: Scene<'_>, (width, height): (u16, u16), glyphs: Glyphs, motion: Motion) -> Option<Place> {
    if rows(scene).len() == 0 {
        return None;
    }
    let shape = shape(width, glyphs, scene.view);
    let streaming = streaming(scene, &shape).len();
    sheet(scene, shape, text_rows(height), streaming).moved(motion)
}

/// The row that a line of the pane's inside shows.
pub fn row_under(scene: Scene<'_>, (width, height): (u16, u16), glyphs: Glyphs, line: u16) -> Option<Seq> {
    if line >= text_rows(height) {
        return None;
    }
    let shape = shape(width, glyphs, scene.view);
    let streaming = streaming(scene, &shape).len();
    let sheet = sheet(scene, shape, text_rows(height), streaming);
    let top = sheet.seen().top;
    let mut left = usize::from(line) + top.line;
    for index in top.index..sheet.rows.len() {
        let row = sheet.rows.get(index)?;
        let lines = sheet.lines(row).len();
        if left < lines {
            return Some(row.seq);
        }
        left -= lines;
    }
    None
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let mut inner = pane.open(canvas, &badge(scene));
    if rows(scene).len() == 0 {
        notice(&mut inner, &empty(scene, pane.ctx.keys));
        return;
    }
    let height = text_rows(inner.height());
    let shape = shape(inner.width(), inner.glyphs(), scene.view);
    let streaming = streaming(scene, &shape);
    let sheet = sheet(scene, shape, height, streaming.len());
    draw_sheet(&mut inner, &sheet, sheet.seen(), height, &streaming);
    if height < inner.height() {
        draw_footer(&mut inner.below(height), scene);
    }
}

fn badge(scene: Scene<'_>) -> String {
    let follows = scene.view.replay.place.is_none();
    match (scene.playback, follows) {
        (Some(_), true) => tr!("at the playhead"),
        (Some(_), false) => tr!("enter goes here, G back to the playhead"),
        (None, true) => tr!("follow"),
        (None, false) => tr!("follow off, G to catch up"),
    }
}

fn empty(scene: Scene<'_>, keys: &KeyMap) -> String {
    match scene.playback {
        Some(_) if !scene.desk.replay.book.is_whole() => super::read_so_far(scene.desk),
        Some(_) if scene.desk.replay.book.episodes.is_empty() => {
            let key = keys.shown(Action::Screen(ScreenId::Training)).unwrap_or_else(|| ":training".into());
            tr!("no episode in this recording; {key} shows the curves of a training", key = key)
        }
        Some(_) => tr!("the recording holds no episode here"),
        None => tr!("waiting for the first decision"),
    }
}

fn draw_footer(footer: &mut Canvas<'_>, scene: Scene<'_>) {
    let width = footer.width();
    let detail = match scene.view.detail {
        Detail::Brief => tr!("detail brief"),
        Detail::Normal => tr!("detail normal"),
        Detail::Full => tr!("detail full"),
    };
    let left = if scene.view.search.is_empty() { detail } else { format!("/{}  {}", scene.view.search, found(scene)) };
    let end = footer.text_upto(0, width, 0, &left, Role::Dim);
    let to_come = rows(scene).after.len();
    let right = if to_come > 0 {
        tr!("{n} rows to come", n = format::count(to_come as u64))
    } else if scene.desk.replay.track.as_ref().is_some_and(|t| !t.is_whole()) {
        super::read_so_far(scene.desk)
    } else {
        String::new()
    };
    if end + 2 + footer.measure(&right) <= width {
        footer.text_before(width, 0, &right, Role::Dim);
    }
}
