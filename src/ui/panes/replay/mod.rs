//! The replay screen: episodes, the transcript with what is still to come, the state at the playhead, a timeline.

pub mod episodes;
pub mod inspector;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod transcript;

pub use inspector::watch_lines;
pub use transcript::{cursor_row, errors, matches, rows_at_cursor};

use super::{Motion, chain, has_popups};
use crate::event::{EpisodeId, LaneId, Seq, StepAddress, StepIndex};
use crate::source::{Beat, Book, Episode, Track};
use crate::state::{DashState, LaneState};
use crate::ui::backstage::{Ask, OpenAt};
use crate::ui::desk::{Desk, Order, Sought};
use crate::ui::lang::tr;
use crate::ui::update::{Effect, Facts, ReplayEffect};
use crate::ui::view::{Context, EpisodeSort, PaneId, Pick, PlaybackView, ScreenId, Scroll, View};
use crate::ui::widgets::format;
use std::borrow::Cow;
use std::sync::Arc;

/// What the panes of this screen are drawn and moved by.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub state: &'a DashState,
    pub desk: &'a Desk,
    pub view: &'a View,
    pub playback: Option<&'a PlaybackView>,
}

impl<'a> Scene<'a> {
    pub fn of(ctx: &Context<'a>) -> Self {
        Self { state: ctx.state, desk: ctx.desk, view: ctx.view, playback: ctx.playback }
    }

    pub fn seen(view: &'a View, facts: &Facts<'a>) -> Self {
        Self { state: facts.state, desk: facts.desk, view, playback: facts.playback }
    }

    /// The lane that is looked at.
    pub fn lane(self) -> Option<&'a LaneState> {
        self.state.lane(self.view.lane)
    }

    /// The episode of the lane that is looked at; before the first event, the first one of the recording.
    pub fn episode(self) -> Option<(LaneId, EpisodeId)> {
        let lane = self.view.lane;
        match (self.state.lane(lane), &self.desk.replay.track) {
            (Some(state), _) => Some((lane, state.episode.episode)),
            (None, Some(track)) => Some((track.lane, track.episode)),
            (None, None) => None,
        }
    }

    /// The whole episode, past and future, as far as it is read.
    pub fn track(self) -> Option<&'a Track> {
        let (lane, episode) = self.episode()?;
        self.desk.replay.track.as_deref().filter(|t| t.lane == lane && t.episode == episode)
    }

    /// The steps of the episode; of a live run, as many as the fold has.
    pub fn beats(self) -> Cow<'a, [Beat]> {
        match self.track() {
            Some(track) => Cow::Borrowed(&track.beats),
            None => Cow::Owned(timeline::beats_folded(self)),
        }
    }
}

/// Sorts the list of episodes by its next column.
pub fn sort(view: &mut View, _: &Facts<'_>) -> Vec<Effect> {
    if view.screen == ScreenId::Replay {
        view.replay.sort = next_sort(view.replay.sort);
    }
    Vec::new()
}

/// Shows only episodes that pass.
pub fn filter(text: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if view.screen != ScreenId::Replay {
        return Vec::new();
    }
    view.replay.filter = text.to_owned();
    view.replay.pick = None;
    view.scroll.remove(&PaneId::Episodes);
    let shown = episodes::list(Scene::seen(view, facts)).rows();
    vec![Effect::Notice(tr!("{n} shown", n = shown))]
}

fn next_sort(sort: EpisodeSort) -> EpisodeSort {
    match sort {
        EpisodeSort::Begun => EpisodeSort::Return,
        EpisodeSort::Return => EpisodeSort::Length,
        EpisodeSort::Length => EpisodeSort::Checkpoint,
        EpisodeSort::Checkpoint => EpisodeSort::Ending,
        EpisodeSort::Ending => EpisodeSort::Begun,
    }
}

/// Goes to the screen; on a live run, recordings are listed for its browser.
pub fn enter(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.go(ScreenId::Replay);
    if facts.playback.is_none() { vec![Effect::Ask(Ask::Catalogue)] } else { Vec::new() }
}

/// Focuses a pane of the screen, or opens it above the others where it has no room beside them; the same key closes it.
pub fn show(pane: PaneId, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if view.popup.take() == Some(pane) {
        return Vec::new();
    }
    let effects = if view.screen == ScreenId::Replay { Vec::new() } else { enter(view, facts) };
    if has_popups(facts.area.width, facts.area.height) {
        view.popup = Some(pane);
    } else {
        view.focus = pane;
    }
    effects
}

/// The playhead goes to where the row at the cursor is finished.
pub fn to_cursor_row(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    if scene.playback.is_none() {
        return vec![Effect::Notice(tr!("a live run can't be sought in; its recording can, from the list of episodes"))];
    }
    let Some(row) = cursor_row(scene) else { return Vec::new() };
    let end = scene.track().and_then(|t| t.row_end(t.rows.iter().position(|r| r.seq == row.seq)?));
    vec![Effect::Seek(end.unwrap_or(row.seq))]
}

pub fn open_pick(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(pick) = episodes::picked(Scene::seen(view, facts)) else { return vec![Effect::Notice(tr!("there is no episode yet"))] };
    view.popup = None;
    match pick {
        Pick::Episode(lane, episode) if facts.playback.is_some() => {
            let Some(found) = facts.desk.replay.book.find(lane, episode) else { return Vec::new() };
            let first = found.first;
            view.lane = lane;
            view.replay.pick = None;
            vec![Effect::Seek(first)]
        }
        Pick::Episode(lane, episode) => vec![
            Effect::Notice(tr!("opening episode {episode} in this run's recording", episode = episode)),
            Effect::Ask(Ask::Open { path: None, at: Some(OpenAt::Episode(lane, episode)) }),
        ],
        Pick::Recording(path) => {
            vec![Effect::Notice(tr!("opening {name}", name = path.display())), Effect::Ask(Ask::Open { path: Some(path), at: None })]
        }
    }
}

/// Packs the recording at the cursor of the list, or else the run that is looked at.
pub fn bundle(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let listed = match episodes::picked(Scene::seen(view, facts)).filter(|_| view.active() == PaneId::Episodes) {
        Some(Pick::Recording(path)) => Some(path.display().to_string()),
        Some(Pick::Episode(..)) | None => None,
    };
    let recording = listed.or_else(|| facts.playback.map(|p| p.name.clone()));
    vec![Effect::Notice(tr!("packing")), Effect::Ask(Ask::Bundle { recording, argument: argument.trim().to_owned() })]
}

/// The next or previous episode: along the list as it is filtered and sorted where that has the keys, else as they began.
pub fn neighbour(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let book = &facts.desk.replay.book;
    let along_list = view.active() == PaneId::Episodes;
    let here = if along_list && view.replay.pick.is_some() { view.replay.pick.clone().and_then(episode_of) } else { scene.episode() };
    let next = if along_list { along(scene, here, forward) } else { in_lane(book, view.lane, here, forward) };
    let Some((lane, episode)) = next else {
        let unread = if book.is_whole() { String::new() } else { format!("; {}", read_so_far(facts.desk)) };
        let none = if forward { tr!("no later episode") } else { tr!("no earlier episode") };
        return vec![Effect::Notice(none + &unread)];
    };
    let first = book.find(lane, episode).map(|e| e.first).unwrap_or_default();
    view.lane = lane;
    view.replay.pick = along_list.then_some(Pick::Episode(lane, episode));
    vec![Effect::Seek(first)]
}

/// The neighbour in the list; the first row where the list lacks the episode.
fn along(scene: Scene<'_>, here: Option<(LaneId, EpisodeId)>, forward: bool) -> Option<(LaneId, EpisodeId)> {
    let list = episodes::list(scene);
    let at = here.and_then(|(lane, episode)| list.position_of(scene, lane, episode));
    let next = match (at, forward) {
        (Some(at), true) => at + 1,
        (Some(at), false) => at.checked_sub(1)?,
        (None, _) => 0,
    };
    list.get(next)?.episode()
}

/// The neighbour in the lane, as they began.
fn in_lane(book: &Book, lane: LaneId, here: Option<(LaneId, EpisodeId)>, forward: bool) -> Option<(LaneId, EpisodeId)> {
    let at = here.and_then(|(lane, episode)| book.place(lane, episode));
    let (before, behind) = at.map_or((&book.episodes[..0], &book.episodes[..]), |at| (&book.episodes[..at], &book.episodes[at + 1..]));
    let is_of_lane = |e: &&Episode| e.lane == lane;
    let next = match (at, forward) {
        (Some(_), false) => before.iter().rev().find(is_of_lane),
        (Some(_), true) | (None, _) => behind.iter().find(is_of_lane),
    };
    next.map(|e| (e.lane, e.episode))
}

fn episode_of(pick: Pick) -> Option<(LaneId, EpisodeId)> {
    match pick {
        Pick::Episode(lane, episode) => Some((lane, episode)),
        Pick::Recording(_) => None,
    }
}

/// `1,200 of 5,000 read`.
pub fn read_so_far(desk: &Desk) -> String {
    let book = &desk.replay.book;
    tr!("{n} of {end} read", n = thousands(book.read_upto.0), end = thousands(book.end.0))
}

/// `1,200`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or_default()).collect();
    groups.join(",")
}

/// The list of episodes, to be kept in the desk.
pub fn order(state: &DashState, desk: &Desk, view: &View, playback: Option<&PlaybackView>) -> Option<Arc<Order>> {
    episodes::order(Scene { state, desk, view, playback })
}

/// Where the operator is: the row at the cursor, or the playhead, or the newest row.
pub fn place(view: &View, state: &DashState, desk: &Desk, playback: Option<&PlaybackView>) -> Option<Seq> {
    let scene = Scene { state, desk, view, playback };
    let (is_placed, row) = match view.screen {
        ScreenId::Replay => (view.replay.place.is_some(), cursor_row(scene)),
        ScreenId::Live
        | ScreenId::Checkpoints
        | ScreenId::Alerts
        | ScreenId::Training
        | ScreenId::Memory
        | ScreenId::Log
        | ScreenId::Diff => (view.place.is_some(), chain::cursor_row(view, state)),
    };
    match playback {
        Some(playback) if !is_placed => Some(playback.head),
        Some(_) | None => row.map(|r| r.seq),
    }
}

/// The cursor on a row of the transcript, which has the focus then.
pub fn go_to_row(view: &mut View, facts: &Facts<'_>, seq: Seq) {
    view.focus = PaneId::Transcript;
    if let Some(inside) = super::inside(view, facts.area, PaneId::Transcript) {
        view.replay.place = transcript::moved(Scene::seen(view, facts), inside, facts.glyphs, Motion::Row(seq));
    }
}

/// What was typed after `/`: in the rows of this episode first, then in the whole recording.
pub fn search(text: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.search = text.to_lowercase();
    let mut effects = vec![Effect::Replay(ReplayEffect::Search(text.to_owned()))];
    if !text.is_empty() {
        let scene = Scene::seen(view, facts);
        let here = cursor_row(scene).map_or(Seq(0), |r| r.seq);
        effects.extend(match matches(scene).iter().copied().find(|seq| *seq >= here) {
            Some(seq) => on_match(view, facts, seq),
            None => elsewhere(view, facts, true),
        });
    }
    effects
}

/// The next or previous match: a row of this episode, or a place elsewhere in the recording.
pub fn to_match(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let here = cursor_row(scene).map_or(Seq(0), |r| r.seq);
    let found = matches(scene);
    let next = if forward { found.iter().find(|s| **s > here) } else { found.iter().rev().find(|s| **s < here) };
    match next.copied() {
        Some(seq) => on_match(view, facts, seq),
        None => elsewhere(view, facts, forward),
    }
}

fn on_match(view: &mut View, facts: &Facts<'_>, seq: Seq) -> Vec<Effect> {
    go_to_row(view, facts, seq);
    vec![Effect::Notice(transcript::found(Scene::seen(view, facts)))]
}

/// What this episode does not hold may stand in another one.
fn elsewhere(view: &View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    if facts.playback.is_none() {
        return vec![Effect::Notice(tr!("no other match in this episode"))];
    }
    let from = Scene::seen(view, facts).track().map_or(facts.state.seq, |track| track.first);
    vec![Effect::Replay(ReplayEffect::Look { what: Sought::Match, from, forward })]
}

/// The next or previous tool call that failed: in the whole recording, and the playhead goes there.
pub fn to_error(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    if let Some(playback) = facts.playback {
        return vec![Effect::Replay(ReplayEffect::Look { what: Sought::Error, from: playback.head, forward })];
    }
    let scene = Scene::seen(view, facts);
    let here = cursor_row(scene).map_or(Seq(0), |r| r.seq);
    let found = errors(scene);
    let next = if forward { found.iter().find(|s| **s > here) } else { found.iter().rev().find(|s| **s < here) };
    match next.copied() {
        Some(seq) => {
            go_to_row(view, facts, seq);
            vec![Effect::Notice(tr!("tool error at event {seq}", seq = seq))]
        }
        None if forward => vec![Effect::Notice(tr!("no later tool error"))],
        None => vec![Effect::Notice(tr!("no earlier tool error"))],
    }
}

/// Reads what stands behind `:seek`.
pub fn seek(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let bad = || vec![Effect::Notice(tr!("`{place}` is no place; write @1200, 3/12, 12, 41.8s or 1:23", place = argument))];
    if let Some(seq) = argument.strip_prefix('@') {
        return seq.parse().map_or_else(|_| bad(), |seq| vec![Effect::Seek(Seq(seq))]);
    }
    if let Some(t_ns) = time(argument) {
        let Some(track) = scene.track() else { return vec![Effect::Notice(read_so_far(facts.desk))] };
        return vec![Effect::Seek(track.seq_at(t_ns))];
    }
    let Some(StepAddress { lane, episode, step }) = StepAddress::parse(argument, view.lane) else { return bad() };
    match episode.or_else(|| scene.episode().map(|(_, episode)| episode)) {
        Some(episode) => vec![Effect::Replay(ReplayEffect::SeekStep(lane, episode, step))],
        None => bad(),
    }
}

/// Why a step can't be gone to: there is no such episode, it has no such step, or that is not read yet.
pub fn no_such_step(desk: &Desk, (lane, episode): (LaneId, EpisodeId), step: StepIndex) -> String {
    let book = &desk.replay.book;
    match book.find(lane, episode) {
        Some(found) if found.end.is_some() || book.is_whole() => {
            let steps = format::counted(u64::from(found.length()), "step");
            tr!("episode {episode} has {steps}, and no step {step}", episode = episode, steps = steps, step = step)
        }
        None if book.is_whole() && lane == LaneId(0) => tr!("the recording holds no episode {episode}", episode = episode),
        None if book.is_whole() => tr!("the recording holds no episode {episode} of lane {lane}", episode = episode, lane = lane),
        Some(_) | None => read_so_far(desk),
    }
}

/// Whether a place of the episode can be told by its time: a run without a screen is often over in less than what a clock here shows.
pub fn has_times(scene: Scene<'_>) -> bool {
    let whole = scene.track().filter(|track| track.is_whole());
    whole.is_none_or(|track| track.t_ns_last.saturating_sub(track.t_ns_first) >= 100_000_000)
}

/// `41.8s`, `1:23`, `1:02:03`, in nanoseconds.
fn time(text: &str) -> Option<u64> {
    let seconds = match text.strip_suffix('s') {
        Some(seconds) => seconds.parse::<f64>().ok()?,
        None if text.contains(':') && !text.contains('/') => {
            let parts: Option<Vec<f64>> = text.split(':').map(|part| part.parse::<f64>().ok()).collect();
            parts?.into_iter().fold(0.0, |sum, part| sum * 60.0 + part)
        }
        None => return None,
    };
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1e9) as u64)
}

/// The event under a cell of the timeline.
pub fn timeline_seq(view: &View, facts: &Facts<'_>, x: u16, y: u16) -> Option<Seq> {
    let (column, _) = super::cell_of(view, facts.area, PaneId::Timeline, x, y)?;
    let (width, _) = super::inside(view, facts.area, PaneId::Timeline)?;
    timeline::seq_at(Scene::seen(view, facts), width, column)
}

/// A click on a row of the transcript: the cursor goes there, and the playhead of a recording.
pub fn click_transcript(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let Some((row, inside)) = row_of(view, facts, PaneId::Transcript, x, y) else { return Vec::new() };
    let Some(seq) = transcript::row_under(Scene::seen(view, facts), inside, facts.glyphs, row) else { return Vec::new() };
    go_to_row(view, facts, seq);
    if facts.playback.is_some() { to_cursor_row(view, facts) } else { Vec::new() }
}

/// A click on a row of the list of episodes chooses it.
pub fn click_episodes(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let Some((row, inside)) = row_of(view, facts, PaneId::Episodes, x, y) else { return Vec::new() };
    if let Some(pick) = episodes::under(Scene::seen(view, facts), inside, row) {
        view.replay.pick = Some(pick);
    }
    Vec::new()
}

/// The row of a pane's inside at a cell of the screen, and columns and rows of that inside.
fn row_of(view: &View, facts: &Facts<'_>, pane: PaneId, x: u16, y: u16) -> Option<(u16, (u16, u16))> {
    let (_, row) = super::cell_of(view, facts.area, pane, x, y)?;
    Some((row, super::inside(view, facts.area, pane)?))
}

/// Moves in the transcript, whose inside has that many columns and rows.
pub fn scroll_transcript(view: &mut View, facts: &Facts<'_>, inside: (u16, u16), motion: Motion) {
    view.replay.place = transcript::moved(Scene::seen(view, facts), inside, facts.glyphs, motion);
}

/// Moves in the list of episodes.
pub fn scroll_episodes(view: &mut View, facts: &Facts<'_>, inside: (u16, u16), motion: Motion) {
    let (pick, top) = episodes::moved(Scene::seen(view, facts), inside, motion);
    view.replay.pick = pick;
    view.scroll.insert(PaneId::Episodes, Scroll { up: top, ..Scroll::default() });
}
