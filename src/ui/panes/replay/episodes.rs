//! The list of episodes: of the open recording, or of the live run, with the recordings that can be opened below it.

use super::Scene;
use crate::event::{CheckpointId, EpisodeEnded, EpisodeEnding, EpisodeId, LaneId, Level, Seed, Verdict};
use crate::source::{Book, Episode};
use crate::ui::desk::{Order, Recorded};
use crate::ui::lang::tr;
use crate::ui::panes::lines::more;
use crate::ui::panes::{Motion, Pane, branches, diff, notice};
use crate::ui::view::{EpisodeSort, PaneId, Pick};
use crate::ui::widgets::{Canvas, Role, format, text};
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the list shows of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item<'a> {
    lane: LaneId,
    episode: EpisodeId,
    seed: Option<Seed>,
    level: Option<Level>,
    checkpoint: Option<&'a CheckpointId>,
    episode_return: Option<f64>,
    length: u32,
    tool_errors: u32,
    /// The episode that it goes on from a step of, if it does.
    parent: Option<(LaneId, EpisodeId)>,
    /// Unset while it goes on.
    end: Option<&'a EpisodeEnded>,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line<'a> {
    Episode(Item<'a>),
    /// How many recordings follow, as far as that is known.
    Heading(Option<usize>),
    Recording(&'a Recorded),
}

impl Line<'_> {
    pub fn is_row(&self) -> bool {
        !matches!(self, Line::Heading(_))
    }

    pub fn episode(&self) -> Option<(LaneId, EpisodeId)> {
        match self {
            Line::Episode(item) => Some((item.lane, item.episode)),
            Line::Heading(_) | Line::Recording(_) => None,
        }
    }

    fn record(&self) -> Option<Value> {
        match self {
            Line::Episode(item) => Some(item.record()),
            Line::Heading(_) => None,
            Line::Recording(r) => Some(json!({
                "recording": r.name,
                "started": r.started,
                "agent": r.agent,
                "env": r.env,
                "level": r.level,
                "lanes": r.lanes,
            })),
        }
    }

    fn pick(&self) -> Option<Pick> {
        match self {
            Line::Episode(item) => Some(Pick::Episode(item.lane, item.episode)),
            Line::Heading(_) => None,
            Line::Recording(recorded) => Some(Pick::Recording(recorded.path.clone())),
        }
    }
}

impl<'a> Item<'a> {
    fn recorded(e: &'a Episode) -> Self {
        Self {
            lane: e.lane,
            episode: e.episode,
            seed: e.seed,
            level: e.level,
            checkpoint: e.checkpoint.as_ref(),
            episode_return: e.episode_return(),
            length: e.length(),
            tool_errors: e.tool_errors,
            parent: e.branch.as_ref().map(|b| (b.parent_lane, b.parent)),
            end: e.end.as_ref(),
        }
    }

    fn record(&self) -> Value {
        json!({
            "lane": self.lane,
            "episode": self.episode,
            "seed": self.seed,
            "level": self.level,
            "checkpoint": self.checkpoint,
            "episode_return": self.episode_return,
            "length": self.length,
            "tool_errors": self.tool_errors,
            "parent": self.parent,
            "end": self.end,
        })
    }

    /// The word at the row's end.
    fn ending(&self) -> (String, Role) {
        match self.end.map(|end| (end.verdict(), end.ending)) {
            None => (tr!("live"), Role::Warn),
            Some((Verdict::Success, _)) => (tr!("success"), Role::Good),
            Some((Verdict::Aborted, _)) => (tr!("aborted"), Role::Warn),
            Some((Verdict::Failure, EpisodeEnding::Truncated)) => (tr!("limit"), Role::Bad),
            Some((Verdict::Failure, EpisodeEnding::Terminated | EpisodeEnding::Aborted)) => (tr!("fail"), Role::Bad),
        }
    }

    fn return_text(&self) -> String {
        format::or_unset(self.episode_return, |r| format!("{r:.2}"))
    }

    fn checkpoint_short(&self) -> &'a str {
        self.checkpoint.map_or(format::UNSET, |c| short(&c.0))
    }

    fn passes(&self, filter: &str) -> bool {
        filter.split_whitespace().all(|word| self.passes_word(word))
    }

    fn passes_word(&self, word: &str) -> bool {
        let comparison = ["<=", ">=", "<", ">", "="].iter().find_map(|op| word.split_once(op).map(|(name, bound)| (name, *op, bound)));
        if let Some((name, op, bound)) = comparison
            && let (Some(value), Ok(bound)) = (self.figure(name), bound.parse::<f64>())
        {
            return value.is_some_and(|v| match op {
                "<=" => v <= bound,
                ">=" => v >= bound,
                "<" => v < bound,
                ">" => v > bound,
                _ => v == bound,
            });
        }
        let failed = self.end.is_some_and(|end| end.verdict() == Verdict::Failure);
        let word = word.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&word);
        (failed && "fail".starts_with(&word))
            || (self.parent.is_some() && word == "branch")
            || has(&self.ending().0)
            || self.checkpoint.is_some_and(|c| has(&c.0))
            || self.level.is_some_and(|l| has(&l.to_string()))
    }

    /// A number by its name in a filter; the outer option says whether there is such a name.
    fn figure(&self, name: &str) -> Option<Option<f64>> {
        Some(match name {
            "ret" | "return" => self.episode_return,
            "len" | "length" => Some(f64::from(self.length)),
            "ep" | "episode" => Some(f64::from(self.episode.0)),
            "lane" => Some(f64::from(self.lane.0)),
            "err" | "errors" => Some(f64::from(self.tool_errors)),
            "seed" => self.seed.map(|s| s.0 as f64),
            _ => return None,
        })
    }
}

/// The rows, filtered and sorted. Those of a book are made when they are looked at, for there may be very many.
pub struct List<'a> {
    episodes: &'a [Episode],
    /// Places in `episodes`; unset where all are shown as they are.
    order: Option<Cow<'a, [usize]>>,
    /// Rows of a live run.
    lines: Vec<Line<'a>>,
    /// Episodes in all.
    total: usize,
}

impl<'a> List<'a> {
    fn listed(&self) -> usize {
        self.order.as_ref().map_or(self.episodes.len(), |order| order.len())
    }

    pub fn len(&self) -> usize {
        self.listed() + self.lines.len()
    }

    pub fn get(&self, index: usize) -> Option<Line<'a>> {
        let Some(behind) = index.checked_sub(self.listed()) else {
            let place = self.order.as_ref().map_or(index, |order| order[index]);
            return self.episodes.get(place).map(|e| Line::Episode(Item::recorded(e)));
        };
        self.lines.get(behind).copied()
    }

    pub fn rows(&self) -> usize {
        self.listed() + self.lines.iter().filter(|l| l.is_row()).count()
    }

    fn shown(&self) -> usize {
        self.listed() + self.lines.iter().filter(|l| l.episode().is_some()).count()
    }

    /// The row of an episode.
    pub fn position_of(&self, scene: Scene<'_>, lane: LaneId, episode: EpisodeId) -> Option<usize> {
        if scene.playback.is_none() {
            return self.lines.iter().position(|l| l.episode() == Some((lane, episode)));
        }
        let place = scene.desk.replay.book.place(lane, episode)?;
        match &self.order {
            Some(order) => order.iter().position(|p| *p == place),
            None => Some(place),
        }
    }
}

/// The rows, filtered and sorted.
pub fn list(scene: Scene<'_>) -> List<'_> {
    let (filter, sort) = (&scene.view.replay.filter, scene.view.replay.sort);
    if scene.playback.is_some() {
        let book = &scene.desk.replay.book;
        // While more is being read it is a little behind, and is not made anew for each picture.
        let kept = scene.desk.replay.order.as_deref().filter(|o| is_for(o, scene));
        let order = match kept {
            Some(order) => Some(Cow::Borrowed(order.places.as_slice())),
            None if filter.is_empty() && sort == EpisodeSort::Begun && book.branches.is_empty() => None,
            None => Some(Cow::Owned(places(book, filter, sort))),
        };
        return List { episodes: &book.episodes, order, lines: Vec::new(), total: book.episodes.len() };
    }
    let mut items = live_items(scene);
    let total = items.len();
    items.retain(|item| item.passes(filter));
    items.sort_by(|a, b| compare(sort, a, b));
    let mut lines: Vec<Line<'_>> = items.into_iter().map(Line::Episode).collect();
    let filter = filter.to_lowercase();
    let all = scene.desk.catalogue.as_ref();
    let shown = |r: &&Recorded| filter.split_whitespace().all(|word| text::holds(&searched(r), word));
    lines.push(Line::Heading(all.map(Vec::len)));
    lines.extend(all.into_iter().flatten().filter(shown).map(Line::Recording));
    List { episodes: &[], order: None, lines, total }
}

/// The list of a book, to be kept until it is to be another one; unset where nothing need be kept.
pub fn order(scene: Scene<'_>) -> Option<Arc<Order>> {
    let (book, filter, sort) = (&scene.desk.replay.book, &scene.view.replay.filter, scene.view.replay.sort);
    if scene.playback.is_none() || filter.is_empty() && sort == EpisodeSort::Begun && book.branches.is_empty() {
        return None;
    }
    // An episode that goes on changes with every event of it, so that the count alone says nothing.
    let is_fresh = |o: &Order| {
        let grown = book.episodes.len().saturating_sub(o.episodes);
        o.read_upto == book.read_upto || !book.is_whole() && grown * ORDER_PARTS < o.episodes
    };
    let kept = scene.desk.replay.order.as_ref().filter(|o| is_for(o, scene) && is_fresh(o)).cloned();
    kept.or_else(|| {
        let (episodes, places) = (book.episodes.len(), places(book, filter, sort));
        Some(Arc::new(Order { episodes, read_upto: book.read_upto, filter: filter.clone(), sort, places }))
    })
}

/// While it is read, a list is sorted anew when it has grown by this part of itself.
const ORDER_PARTS: usize = 8;

fn is_for(order: &Order, scene: Scene<'_>) -> bool {
    let replay = &scene.view.replay;
    order.episodes <= scene.desk.replay.book.episodes.len() && order.filter == replay.filter && order.sort == replay.sort
}

fn places(book: &Book, filter: &str, sort: EpisodeSort) -> Vec<usize> {
    let items = book.episodes.iter().map(Item::recorded).enumerate();
    let mut items: Vec<_> = items.filter(|(_, item)| item.passes(filter)).collect();
    if sort == EpisodeSort::Begun && !book.branches.is_empty() {
        // As they began, but branches below what they left.
        let keys: Vec<_> = items.iter().map(|(_, item)| ((item.lane, item.episode), item.parent)).collect();
        return branches::order(&keys).into_iter().map(|place| items[place.index].0).collect();
    }
    items.sort_by(|(_, a), (_, b)| compare(sort, a, b));
    items.into_iter().map(|(place, _)| place).collect()
}

fn compare(sort: EpisodeSort, a: &Item<'_>, b: &Item<'_>) -> Ordering {
    let unset_last = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    match sort {
        EpisodeSort::Begun => Ordering::Equal,
        EpisodeSort::Return => unset_last(a.episode_return, b.episode_return),
        EpisodeSort::Length => b.length.cmp(&a.length),
        EpisodeSort::Checkpoint => a.checkpoint.cmp(&b.checkpoint),
        EpisodeSort::Ending => a.ending().0.cmp(&b.ending().0),
    }
}

/// Episodes of a live run, the newest first, for those are looked for.
fn live_items(scene: Scene<'_>) -> Vec<Item<'_>> {
    let parents: BTreeMap<_, _> =
        scene.state.branches.iter().map(|b| ((b.lane, b.episode), (b.started.parent_lane, b.started.parent))).collect();
    let parent = |lane: LaneId, episode: EpisodeId| parents.get(&(lane, episode)).copied();
    let running = scene.state.lanes.iter().filter(|(_, l)| l.episode.ended.is_none()).map(|(lane, l)| Item {
        lane: *lane,
        episode: l.episode.episode,
        seed: Some(l.episode.seed),
        level: Some(l.episode.level),
        checkpoint: l.episode.checkpoint.as_ref(),
        episode_return: l.episode.reward_last.map(|_| l.episode.reward_sum),
        length: l.episode.step.0,
        tool_errors: l.episode.tool_errors,
        parent: parent(*lane, l.episode.episode),
        end: None,
    });
    let level = scene.state.run.as_ref().map(|r| r.level);
    let ended = scene.state.episodes.iter().rev().map(|e| Item {
        lane: e.lane,
        episode: e.episode,
        seed: Some(e.seed),
        level,
        checkpoint: e.checkpoint.as_ref(),
        episode_return: Some(e.end.episode_return),
        length: e.end.length,
        tool_errors: e.end.tool_errors,
        parent: parent(e.lane, e.episode),
        end: Some(&e.end),
    });
    running.chain(ended).collect()
}

/// What tells it from its neighbours stands first. Recordings are named by when they began: others say so at the end.
pub fn row_text(r: &Recorded) -> String {
    let started = r.started.get(..16).unwrap_or(&r.started);
    let is_named_so = started.get(..10).is_some_and(|day| r.name.starts_with(&day.replace('-', "")));
    let started = if is_named_so { String::new() } else { format!("  {}", started.replace('T', " ")) };
    let lanes = if r.lanes > 1 { format!(" {}", tr!("{n} lanes", n = r.lanes)) } else { String::new() };
    let agent = match r.agent.as_deref() {
        Some("training") => tr!("training"),
        agent => agent.map_or(format::UNSET, short).to_owned(),
    };
    format!("{} {agent} {}{lanes}  {}{started}", r.name, r.level, r.env)
}

/// What a filter finds it by.
fn searched(r: &Recorded) -> String {
    format!("{}  {}  {}", row_text(r), r.started, r.agent.as_deref().unwrap_or_default())
}

/// The part of a checkpoint's name that tells it from its siblings.
fn short(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}

/// The cursor's place in the list: what was picked, or the episode at the playhead.
fn cursor(scene: Scene<'_>, list: &List<'_>) -> usize {
    let here = || scene.episode().map(|(lane, episode)| Pick::Episode(lane, episode));
    let found = match scene.view.replay.pick.clone().or_else(here) {
        Some(Pick::Episode(lane, episode)) => list.position_of(scene, lane, episode),
        Some(pick @ Pick::Recording(_)) => list.lines.iter().position(|l| l.pick().as_ref() == Some(&pick)).map(|at| list.listed() + at),
        None => None,
    };
    let first = || (0..list.len()).find(|at| list.get(*at).is_some_and(|l| l.is_row()));
    found.or_else(first).unwrap_or(0)
}

/// The row at the cursor.
pub fn picked(scene: Scene<'_>) -> Option<Pick> {
    let lines = list(scene);
    lines.get(cursor(scene, &lines))?.pick()
}

/// The rows that can be chosen, as records.
pub fn records(scene: Scene<'_>) -> Vec<Value> {
    let lines = list(scene);
    (0..lines.len()).filter_map(|at| lines.get(at)?.record()).collect()
}

/// The place of the row at the cursor among the records.
pub fn cursor_record(scene: Scene<'_>) -> usize {
    let lines = list(scene);
    (0..cursor(scene, &lines)).filter(|at| lines.get(*at).is_some_and(|l| l.is_row())).count()
}

/// Rows above and below the list's own.
const HEAD: u16 = 2;
const FOOT: u16 = 1;

fn list_rows(height: u16) -> usize {
    usize::from(if height > HEAD + FOOT + 1 { height - HEAD - FOOT } else { height }).max(1)
}

/// The first row that is seen: as it was scrolled, but the cursor stays in sight.
fn top(scene: Scene<'_>, lines: usize, cursor: usize, rows: usize) -> usize {
    let scrolled = scene.view.scroll_of(PaneId::Episodes).up;
    scrolled.clamp(cursor.saturating_sub(rows - 1), cursor).min(lines.saturating_sub(rows))
}

/// Cursor and first row after a motion.
pub fn moved(scene: Scene<'_>, (_, height): (u16, u16), motion: Motion) -> (Option<Pick>, usize) {
    let lines = list(scene);
    let rows = list_rows(height);
    let at = cursor(scene, &lines);
    let first = top(scene, lines.len(), at, rows);
    let last = lines.len().saturating_sub(1);
    let by = |from: usize, n: i64| usize::try_from((from as i64).saturating_add(n)).unwrap_or(0).min(last);
    let (mut to, first) = match motion {
        Motion::Lines(n) => (by(at, n), first),
        Motion::Pages(n) => {
            let n = n.saturating_mul(rows as i64 - 1).max(-(last as i64));
            (by(at, n), by(first, n))
        }
        Motion::View(n) => {
            let first = by(first, n).min(lines.len().saturating_sub(rows));
            (at.clamp(first, (first + rows - 1).min(last.max(first))), first)
        }
        Motion::Oldest => (0, 0),
        Motion::Row(_) => (at, first),
    };
    // A heading is no row to stand on.
    if lines.get(to).is_some_and(|l| !l.is_row()) {
        to = if to > at && to < last { to + 1 } else { to.saturating_sub(1) };
    }
    (lines.get(to).and_then(|l| l.pick()), first)
}

/// What a row of the pane's inside shows.
pub fn under(scene: Scene<'_>, (_, height): (u16, u16), row: u16) -> Option<Pick> {
    let lines = list(scene);
    let rows = list_rows(height);
    let first = top(scene, lines.len(), cursor(scene, &lines), rows);
    let head = if rows < usize::from(height) { HEAD } else { 0 };
    lines.get(first + usize::from(row.checked_sub(head)?))?.pick()
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let lines = list(scene);
    let badge = if scene.playback.is_some() && !scene.desk.replay.book.is_whole() {
        super::read_so_far(scene.desk)
    } else {
        format!("{}/{}", lines.shown(), lines.total)
    };
    let mut inner = pane.open(canvas, &badge);
    let (width, height) = (inner.width(), inner.height());
    if lines.len() == 0 && scene.view.replay.filter.is_empty() {
        let text = if scene.desk.replay.book.is_whole() { tr!("the recording holds no episode") } else { super::read_so_far(scene.desk) };
        notice(&mut inner, &text);
        return;
    }
    let rows = list_rows(height);
    let head = if rows < usize::from(height) { HEAD } else { 0 };
    let at = cursor(scene, &lines);
    let first = top(scene, lines.len(), at, rows);
    let seen = (first..lines.len().min(first + rows)).filter_map(|index| lines.get(index));
    let columns = Columns::of(width, Columns::widest(seen));
    if head > 0 {
        draw_head(&mut inner, scene, &columns);
    }
    let is_active = scene.view.active() == PaneId::Episodes;
    let is_other = |l: &Line<'_>| l.episode().is_some_and(|(lane, _)| lane != LaneId(0));
    let lanes = scene.desk.replay.book.has_lanes() || lines.lines.iter().any(is_other);
    for (y, index) in (head..).zip(first..lines.len().min(first + rows)) {
        let Some(line) = lines.get(index) else { break };
        draw_line(&mut inner, y, &line, scene, &columns, lanes);
        if index == at && line.is_row() {
            inner.text(0, y, ">", Role::Strong);
            if is_active {
                inner.restyle(0, y, width, Role::Selected);
            }
        }
    }
    let area = Rect::new(0, 0, width, head.saturating_add(rows as u16));
    more(&mut inner.part(area), lines.len().saturating_sub(first + rows));
    if head > 0 {
        let sort = match scene.view.replay.sort {
            EpisodeSort::Begun if scene.playback.is_some() => tr!("oldest first"),
            EpisodeSort::Begun => tr!("newest first"),
            EpisodeSort::Return => tr!("return, least first"),
            EpisodeSort::Length => tr!("length, longest first"),
            EpisodeSort::Checkpoint => tr!("checkpoint"),
            EpisodeSort::Ending => tr!("ending"),
        };
        let has_branches = !scene.desk.replay.book.branches.is_empty() || !scene.state.branches.is_empty();
        let x = if has_branches { inner.text_upto(0, width, height - 1, &tr!("+ branch"), Role::Mark) + 2 } else { 0 };
        inner.text_upto(x, width, height - 1, &tr!("sort: {sort} [o]  [enter] opens", sort = sort), Role::Dim);
    }
}

fn draw_head(inner: &mut Canvas<'_>, scene: Scene<'_>, columns: &Columns) {
    let width = inner.width();
    let filter = &scene.view.replay.filter;
    if filter.is_empty() {
        inner.text_upto(0, width, 0, &tr!(":filter fail ret<0.2 len>30"), Role::Dim);
    } else {
        inner.text_upto(0, width, 0, &format!("/{filter}"), Role::Strong);
    }
    inner.text_before(columns.episode, 1, &tr!("ep"), Role::Dim);
    inner.text_before(columns.episode_return, 1, &tr!("ret"), Role::Dim);
    inner.text_before(columns.length, 1, &tr!("len"), Role::Dim);
    inner.text_upto(columns.length + 1, columns.ending, 1, &tr!("ckpt"), Role::Dim);
    inner.text_upto(columns.ending, width, 1, &tr!("end"), Role::Dim);
}

/// Where the columns end, and the last one begins.
struct Columns {
    episode: u16,
    episode_return: u16,
    length: u16,
    ending: u16,
}

impl Columns {
    /// For rows whose longest return and length have so many characters: those of an episode of thousands of steps have more than most.
    fn of(width: u16, (returns, lengths): (u16, u16)) -> Self {
        let episode = 6;
        let episode_return = episode + 1 + returns.max(5);
        let length = episode_return + 1 + lengths.max(3);
        Self { episode, episode_return, length, ending: width.saturating_sub(7).max(length + 2) }
    }

    fn widest<'a>(lines: impl Iterator<Item = Line<'a>>) -> (u16, u16) {
        let widths = lines.map(|line| match line {
            Line::Episode(item) => (item.return_text().len() as u16, item.length.to_string().len() as u16),
            Line::Heading(_) | Line::Recording(_) => (0, 0),
        });
        widths.fold((0, 0), |(a, b), (c, d)| (a.max(c), b.max(d)))
    }
}

fn draw_line(inner: &mut Canvas<'_>, y: u16, line: &Line<'_>, scene: Scene<'_>, columns: &Columns, lanes: bool) {
    let width = inner.width();
    match line {
        Line::Episode(item) => {
            if scene.episode() == Some((item.lane, item.episode)) {
                inner.text(1, y, "*", Role::Strong);
            }
            draw_mark(inner, y, scene, &Pick::Episode(item.lane, item.episode));
            let name = if lanes { format!("{}:{}", item.lane, item.episode) } else { item.episode.to_string() };
            inner.text_before(columns.episode, y, &name, Role::Text);
            if item.parent.is_some() {
                inner.text(columns.episode, y, "+", Role::Mark);
            }
            inner.text_before(columns.episode_return, y, &item.return_text(), Role::Text);
            inner.text_before(columns.length, y, &item.length.to_string(), Role::Text);
            inner.text_upto(columns.length + 1, columns.ending.saturating_sub(1), y, item.checkpoint_short(), Role::Dim);
            let (word, role) = item.ending();
            let end = inner.text_upto(columns.ending, width, y, &word, role);
            if item.tool_errors > 0 {
                inner.text_upto(end, width, y, "!", Role::Bad);
            }
        }
        Line::Heading(count) => {
            let text = match count {
                Some(0) => tr!("no recordings here yet"),
                Some(n) => tr!("recordings ({n})", n = n),
                None => tr!("recordings: being listed"),
            };
            inner.rule(y);
            inner.text_upto(1, width, y, &format!(" {text} "), Role::Title);
        }
        Line::Recording(recorded) => {
            draw_mark(inner, y, scene, &Pick::Recording(recorded.path.clone()));
            inner.text_upto(2, width, y, &row_text(recorded), Role::Text);
        }
    }
}

/// Which side of a comparison a row is marked as.
fn draw_mark(inner: &mut Canvas<'_>, y: u16, scene: Scene<'_>, pick: &Pick) {
    if let Some(letter) = diff::mark_of(scene, pick) {
        inner.text(1, y, letter, Role::Mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_told_apart_in_the_first_columns() {
        let recorded = |name: &str, agent: Option<&str>| Recorded {
            path: name.into(),
            name: name.into(),
            started: "2026-11-30T10:52:17Z".into(),
            agent: agent.map(str::to_owned),
            env: "ops".into(),
            level: Level::L1,
            lanes: 1,
        };
        let texts = [("20261130-105217", Some("deckhand-final")), ("20261130-105217", Some("training")), ("failure", None)]
            .map(|(name, agent)| row_text(&recorded(name, agent)));
        assert_eq!(texts, ["20261130-105217 final L1  ops", "20261130-105217 training L1  ops", "failure n/a L1  ops  2026-11-30 10:52"]);
        assert!(searched(&recorded("x", Some("deckhand-final"))).contains("deckhand-final"));
    }
}
