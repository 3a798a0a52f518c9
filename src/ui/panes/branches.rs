//! The tree of branches: episodes, and those that go on from a step of them. Of a recording all of it, of a live run what the fold keeps.

use super::lines::more;
use super::replay::Scene;
use super::{Motion, Pane, notice};
use crate::event::{BranchCause, BranchStarted, CheckpointId, EpisodeEnded, EpisodeId, LaneId, Seq};
use crate::state::{DashState, RowKind};
use crate::ui::backstage::{Ask, OpenAt};
use crate::ui::lang::tr;
use crate::ui::update::{Effect, Facts, ReplayEffect, command, scroll};
use crate::ui::view::{PaneId, ScreenId, Scroll, View};
use crate::ui::widgets::text::wrap;
use crate::ui::widgets::{Canvas, Role, format};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An episode by its lane and number.
pub type Key = (LaneId, EpisodeId);

/// A node of the tree, as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node<'a> {
    pub key: Key,
    /// How it parted; unset for an episode that began by itself, and where that is not known.
    pub branch: Option<&'a BranchStarted>,
    pub place: Place,
    checkpoint: Option<&'a CheckpointId>,
    episode_return: Option<f64>,
    end: Option<&'a EpisodeEnded>,
    /// Whether it is known that it runs.
    runs: bool,
}

/// Where a node stands in its tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its place among what was ordered.
    pub index: usize,
    pub depth: usize,
    /// No sister stands below it.
    pub is_last: bool,
}

/// Parents before their children, children as they began. `items` are in the order in which they began, each with its parent. A parent that is
/// not there, or that began later, is none: so each item stands in it once, whatever a file says.
pub fn order(items: &[(Key, Option<Key>)]) -> Vec<Place> {
    let mut first: BTreeMap<Key, usize> = BTreeMap::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    let mut roots = Vec::new();
    for (index, (key, parent)) in items.iter().enumerate() {
        match parent.and_then(|parent| first.get(&parent)) {
            Some(at) => children[*at].push(index),
            None => roots.push(index),
        }
        first.entry(*key).or_insert(index);
    }
    let mut ordered = Vec::with_capacity(items.len());
    let mut open: Vec<Place> = roots.iter().rev().map(|index| Place { index: *index, depth: 0, is_last: true }).collect();
    while let Some(place) = open.pop() {
        let below = &children[place.index];
        let last = below.last().copied();
        open.extend(below.iter().rev().map(|index| Place { index: *index, depth: place.depth + 1, is_last: Some(*index) == last }));
        ordered.push(place);
    }
    ordered
}

/// Episodes that have branches, with these below them.
pub fn tree(scene: Scene<'_>) -> Vec<Node<'_>> {
    let nodes = if scene.playback.is_some() { of_book(scene) } else { of_run(scene.state) };
    let parent = |node: &Node<'_>| node.branch.map(|b| (b.parent_lane, b.parent));
    let items: Vec<(Key, Option<Key>)> = nodes.iter().map(|node| (node.key, parent(node))).collect();
    order(&items).into_iter().map(|place| Node { place, ..nodes[place.index] }).collect()
}

fn of_book(scene: Scene<'_>) -> Vec<Node<'_>> {
    let book = &scene.desk.replay.book;
    let mut places: Vec<usize> = Vec::new();
    for at in book.branches.iter().copied() {
        let parent = book.episodes[at].branch.as_ref().and_then(|b| book.place(b.parent_lane, b.parent));
        places.extend(parent.into_iter().chain([at]));
    }
    places.sort_unstable();
    places.dedup();
    let node = |e: &usize| {
        let e = &book.episodes[*e];
        Node {
            key: (e.lane, e.episode),
            branch: e.branch.as_deref(),
            place: Place::default(),
            checkpoint: e.checkpoint.as_ref(),
            episode_return: e.episode_return(),
            end: e.end.as_ref(),
            runs: false,
        }
    };
    places.iter().map(node).collect()
}

fn of_run(state: &DashState) -> Vec<Node<'_>> {
    let known: BTreeMap<Key, usize> = state.episodes.iter().enumerate().map(|(at, e)| ((e.lane, e.episode), at)).collect();
    let node = |key: Key, branch| {
        let ended = known.get(&key).and_then(|at| state.episodes.get(*at));
        let running = state.lane(key.0).map(|l| &l.episode).filter(|e| e.episode == key.1);
        Node {
            key,
            branch,
            place: Place::default(),
            checkpoint: running.and_then(|e| e.checkpoint.as_ref()).or_else(|| ended?.checkpoint.as_ref()),
            episode_return: ended.map(|e| e.end.episode_return).or_else(|| running.map(|e| e.reward_sum)),
            end: ended.map(|e| &e.end).or_else(|| running?.ended.as_ref()),
            runs: running.is_some_and(|e| e.ended.is_none()),
        }
    };
    let is_branch: std::collections::BTreeSet<Key> = state.branches.iter().map(|b| (b.lane, b.episode)).collect();
    let roots = state.branches.iter().map(|b| (b.started.parent_lane, b.started.parent));
    let roots: std::collections::BTreeSet<Key> = roots.filter(|key| !is_branch.contains(key)).collect();
    let roots = roots.into_iter().map(|key| node(key, None));
    let branches = state.branches.iter().map(|b| Node { end: b.end.as_ref(), ..node((b.lane, b.episode), Some(&b.started)) });
    roots.chain(branches).collect()
}

/// `0:12`.
fn name(key: Key) -> String {
    format!("{}:{}", key.0, key.1)
}

fn cause(branch: &BranchStarted) -> String {
    match branch.cause {
        BranchCause::Rewind => tr!("went back"),
        BranchCause::Fork => tr!("fork"),
    }
}

impl Node<'_> {
    fn parent(&self) -> Option<Key> {
        self.branch.map(|b| (b.parent_lane, b.parent))
    }

    fn state(&self) -> (String, Role) {
        match self.end {
            Some(end) if end.success => (tr!("success"), Role::Good),
            Some(end) if end.ending == crate::event::EpisodeEnding::Aborted => (tr!("aborted"), Role::Warn),
            Some(_) => (tr!("fail"), Role::Bad),
            None if self.runs => (tr!("runs"), Role::Warn),
            None => (format::UNSET.to_owned(), Role::Dim),
        }
    }

    fn record(&self) -> Value {
        json!({
            "lane": self.key.0,
            "episode": self.key.1,
            "depth": self.place.depth,
            "branch": self.branch,
            "checkpoint": self.checkpoint,
            "episode_return": self.episode_return,
            "end": self.end,
        })
    }

    /// How it parted and what differs, in words.
    fn told(&self) -> String {
        let Some(branch) = self.branch else { return tr!("began by itself") };
        let parent = name((branch.parent_lane, branch.parent));
        // Who goes back changes something afterwards; what that is stands in its chain.
        let with = match branch.with.is_none() {
            true if branch.cause == BranchCause::Rewind => String::new(),
            true => format!(" {}", tr!("nothing changed")),
            false => branch.with.to_string(),
        };
        tr!("{cause} from {parent} before step {step}:{with}", cause = cause(branch), parent = parent, step = branch.at_step, with = with)
    }
}

/// The cursor's place: what was chosen, else the episode that is looked at, else the first branch.
fn cursor(scene: Scene<'_>, nodes: &[Node<'_>]) -> usize {
    let of = |key: Key| nodes.iter().position(|n| n.key == key);
    let chosen = scene.view.branch.and_then(of);
    chosen.or_else(|| of(scene.episode()?)).or_else(|| nodes.iter().position(|n| n.branch.is_some())).unwrap_or(0)
}

/// Rows for what is said of the node at the cursor, and for the keys.
const FOOT: u16 = 4;

fn list_rows(height: u16) -> usize {
    usize::from(if height > FOOT + 3 { height - FOOT - 1 } else { height }).max(1)
}

/// The first row that is seen: as it was scrolled, but the cursor stays in sight.
fn top(view: &View, nodes: usize, cursor: usize, rows: usize) -> usize {
    let scrolled = view.scroll_of(PaneId::Branches).up;
    scrolled.clamp(cursor.saturating_sub(rows - 1), cursor).min(nodes.saturating_sub(rows))
}

pub fn records(scene: Scene<'_>) -> Vec<Value> {
    tree(scene).iter().map(Node::record).collect()
}

pub fn cursor_record(scene: Scene<'_>) -> usize {
    cursor(scene, &tree(scene))
}

pub fn travel(view: &mut View, facts: &Facts<'_>, (_, height): (u16, u16), motion: Motion) {
    let scene = Scene::seen(view, facts);
    let nodes = tree(scene);
    let Some(last) = nodes.len().checked_sub(1) else { return };
    let rows = list_rows(height);
    let at = cursor(scene, &nodes);
    let first = top(view, nodes.len(), at, rows);
    let by = |from: usize, n: i64| usize::try_from((from as i64).saturating_add(n)).unwrap_or(0).min(last);
    let (to, first) = match motion {
        Motion::Lines(n) => (by(at, n), first),
        Motion::Pages(n) => (by(at, n.saturating_mul(rows as i64)), first),
        Motion::View(n) => {
            let first = by(first, n).min(nodes.len().saturating_sub(rows));
            (at.clamp(first, (first + rows - 1).min(last)), first)
        }
        Motion::Oldest => (0, 0),
        Motion::Row(_) => (at, first),
    };
    view.branch = Some(nodes[to].key);
    view.scroll.insert(PaneId::Branches, Scroll { up: first, ..Scroll::default() });
}

pub fn click(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let (Some((_, height)), Some((_, row))) =
        (super::inside(view, facts.area, PaneId::Branches), super::cell_of(view, facts.area, PaneId::Branches, x, y))
    else {
        return Vec::new();
    };
    let nodes = tree(scene);
    let rows = list_rows(height);
    let head = usize::from(rows < usize::from(height));
    let first = top(view, nodes.len(), cursor(scene, &nodes), rows);
    let at = usize::from(row).checked_sub(head).filter(|row| *row < rows).and_then(|row| nodes.get(first + row));
    if let Some(node) = at {
        view.branch = Some(node.key);
    }
    Vec::new()
}

/// Opens the tree above the panes; the same key closes it.
pub fn show(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if view.popup.take() == Some(PaneId::Branches) {
        return Vec::new();
    }
    view.branch = None;
    if tree(Scene::seen(view, facts)).is_empty() {
        let unread = facts.playback.is_some() && !facts.desk.replay.book.is_whole();
        let none = if facts.playback.is_some() {
            tr!("this recording has no branches")
        } else {
            tr!("no branches yet; :rs goes back, :fork goes on beside what runs")
        };
        return vec![Effect::Notice(if unread { super::replay::read_so_far(facts.desk) } else { none })];
    }
    view.popup = Some(PaneId::Branches);
    Vec::new()
}

fn chosen(view: &View, facts: &Facts<'_>) -> Option<(Key, Option<Key>, Option<BranchStarted>)> {
    let scene = Scene::seen(view, facts);
    let nodes = tree(scene);
    let node = nodes.get(cursor(scene, &nodes))?;
    Some((node.key, node.parent(), node.branch.cloned()))
}

/// The lane of the branch of a live run; of a recording its beginning.
pub fn open(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some((key, _, branch)) = chosen(view, facts) else { return Vec::new() };
    match branch {
        Some(branch) => go_to(view, facts, key, branch.at_step.0),
        None => go_to(view, facts, key, 0),
    }
}

/// The parent, at the step at which the branch left it.
pub fn to_parent(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match chosen(view, facts) {
        Some((_, Some(parent), Some(branch))) => go_to(view, facts, parent, branch.at_step.0),
        Some(_) | None => vec![Effect::Notice(tr!("this episode has no parent"))],
    }
}

/// What differs between a branch and its parent.
pub fn against_parent(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match chosen(view, facts) {
        Some((key, Some(parent), _)) => {
            view.popup = None;
            command(&format!("diff {} {}", name(parent), name(key)), view, facts)
        }
        Some(_) | None => vec![Effect::Notice(tr!("this episode has no parent"))],
    }
}

fn go_to(view: &mut View, facts: &Facts<'_>, (lane, episode): Key, step: u32) -> Vec<Effect> {
    if facts.playback.is_some() {
        let Some(found) = facts.desk.replay.book.find(lane, episode) else {
            return vec![Effect::Notice(super::replay::no_such_step(facts.desk, (lane, episode), crate::event::StepIndex(step)))];
        };
        view.popup = None;
        view.lane = lane;
        view.replay.pick = None;
        if view.screen != ScreenId::Replay {
            view.go(ScreenId::Replay);
        }
        let is_own = found.branch.as_ref().is_some_and(|b| b.at_step.0 == step);
        // A branch has no step before its own: its beginning is where it stands before that.
        return match step {
            0 => vec![Effect::Seek(found.first)],
            _ if is_own => vec![Effect::Seek(found.first.next())],
            step => vec![Effect::Replay(ReplayEffect::SeekStep(lane, episode, crate::event::StepIndex(step)))],
        };
    }
    let rows = facts.state.lane(lane).map(|l| &l.transcript.rows);
    let of_step = |r: &&crate::state::Row| r.episode == episode && r.step.0 >= step && !matches!(r.kind, RowKind::EpisodeStart { .. });
    let row: Option<Seq> = rows.and_then(|rows| rows.iter().find(of_step)).map(|r| r.seq);
    let is_current = facts.state.lane(lane).is_some_and(|l| l.episode.episode == episode);
    if row.is_none() && !is_current {
        view.popup = None;
        return vec![
            Effect::Notice(tr!("opening episode {episode} in this run's recording", episode = episode)),
            Effect::Ask(Ask::Open { path: None, at: Some(OpenAt::Episode(lane, episode)) }),
        ];
    }
    view.go(ScreenId::Live);
    view.lane = lane;
    view.focus = PaneId::Chain;
    // Of what runs the newest is wanted; of what is over, the place.
    view.place = None;
    if let Some(seq) = row.filter(|_| !is_current) {
        scroll(view, facts, PaneId::Chain, Motion::Row(seq));
    }
    Vec::new()
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let nodes = tree(scene);
    let branches = nodes.iter().filter(|n| n.branch.is_some()).count();
    let mut inner = pane.open(canvas, &tr!("branches: {n}", n = branches));
    if nodes.is_empty() {
        return notice(&mut inner, &tr!("no branches"));
    }
    let (width, height) = (inner.width(), inner.height());
    let rows = list_rows(height);
    let head = u16::from(rows < usize::from(height));
    let at = cursor(scene, &nodes);
    let first = top(scene.view, nodes.len(), at, rows);
    let columns = Columns::of(width);
    if head > 0 {
        columns.head(&mut inner);
    }
    let bars = bars(&nodes, first);
    let mut bars = bars;
    for (y, (index, node)) in (head..).zip(nodes.iter().enumerate().skip(first).take(rows)) {
        columns.row(&mut inner, y, node, &mut bars, scene);
        if index == at {
            inner.text(0, y, ">", Role::Strong);
            if scene.view.active() == PaneId::Branches {
                inner.restyle(0, y, width, Role::Selected);
            }
        }
    }
    more(
        &mut inner.part(ratatui::layout::Rect::new(0, 0, width, head + rows.min(nodes.len()) as u16)),
        nodes.len().saturating_sub(first + rows),
    );
    if head > 0 {
        draw_foot(&mut inner, &nodes[at], height - FOOT);
    }
}

fn draw_foot(inner: &mut Canvas<'_>, node: &Node<'_>, y: u16) {
    let width = inner.width();
    inner.rule(y);
    let told = wrap(&format!("{}  {}", name(node.key), node.told()), usize::from(width.max(1)), inner.glyphs().ambiguous);
    for (row, line) in (y + 1..y + FOOT - 1).zip(told) {
        inner.text(0, row, &line, Role::Text);
    }
    inner.text_upto(0, width, y + FOOT - 1, &tr!("[enter] opens  [backspace] parent  [d] diff"), Role::Dim);
}

/// Deeper than this, or than leaves room for a name, the tree goes on without more indent.
const DEPTH_MAX: usize = 12;
/// Cells of a name such as `12:345`.
const NAME_CELLS: u16 = 8;

/// Which depths above the first row that is drawn go on below it.
fn bars(nodes: &[Node<'_>], first: usize) -> Vec<bool> {
    let mut bars = Vec::new();
    for node in &nodes[..first] {
        bars.truncate(node.place.depth);
        bars.resize(node.place.depth, false);
        bars.push(!node.place.is_last);
    }
    bars
}

/// Cells from which what differs is worth a column; below, what is said of the branch at the cursor has it.
const DIFFERS_MIN: u16 = 8;

/// Where the columns stand.
struct Columns {
    step: u16,
    cause: u16,
    episode_return: u16,
    state: u16,
    checkpoint: u16,
    differs: u16,
}

impl Columns {
    fn of(width: u16) -> Self {
        let step = (width / 3).clamp(12, 30);
        let cause = step + 2;
        let episode_return = cause + 16;
        let state = episode_return + 2;
        let checkpoint = state + 9;
        Self { step, cause, episode_return, state, checkpoint, differs: checkpoint + 16 }
    }

    fn head(&self, inner: &mut Canvas<'_>) {
        let width = inner.width();
        inner.text_upto(2, self.step.saturating_sub(5), 0, &tr!("lane:episode"), Role::Dim);
        inner.text_before(self.step, 0, &tr!("step"), Role::Dim);
        inner.text_upto(self.cause, self.episode_return.saturating_sub(4), 0, &tr!("cause"), Role::Dim);
        inner.text_before(self.episode_return, 0, &tr!("ret"), Role::Dim);
        inner.text_upto(self.state, self.checkpoint, 0, &tr!("state"), Role::Dim);
        inner.text_upto(self.checkpoint, self.differs, 0, &tr!("ckpt"), Role::Dim);
        if self.differs + DIFFERS_MIN <= width {
            inner.text_upto(self.differs, width, 0, &tr!("differs"), Role::Dim);
        }
    }

    fn row(&self, inner: &mut Canvas<'_>, y: u16, node: &Node<'_>, bars: &mut Vec<bool>, scene: Scene<'_>) {
        let width = inner.width();
        bars.truncate(node.place.depth);
        bars.resize(node.place.depth, false);
        let plain = inner.glyphs().plain();
        let (goes_on, last, bar) = if plain { ("|-", "`-", "| ") } else { ("├─", "└─", "│ ") };
        let room = usize::from(self.step.saturating_sub(2 + 5 + 2 + NAME_CELLS)) / 2;
        let above = bars.iter().skip(1).take(room.min(DEPTH_MAX)).map(|goes| if *goes { bar } else { "  " });
        let own = match node.place.depth {
            0 => "",
            _ if node.place.is_last => last,
            _ => goes_on,
        };
        let indent: String = above.chain([own]).collect();
        bars.push(!node.place.is_last);
        if scene.episode() == Some(node.key) {
            inner.text(1, y, "*", Role::Strong);
        }
        let x = inner.text_upto(2, self.step.saturating_sub(5), y, &indent, Role::Dim);
        inner.text_upto(x, self.step.saturating_sub(5), y, &name(node.key), Role::Text);
        if let Some(branch) = node.branch {
            inner.text_before(self.step, y, &branch.at_step.to_string(), Role::Text);
            inner.text_upto(self.cause, self.episode_return.saturating_sub(6), y, &cause(branch), Role::Dim);
        }
        inner.text_before(self.episode_return, y, &format::or_unset(node.episode_return, |r| format!("{r:.2}")), Role::Text);
        let (word, role) = node.state();
        inner.text_upto(self.state, self.checkpoint.saturating_sub(1), y, &word, role);
        let checkpoint = node.checkpoint.map_or(format::UNSET, |c| c.0.as_str());
        inner.text_upto(self.checkpoint, self.differs.saturating_sub(1), y, checkpoint, Role::Dim);
        if let Some(branch) = node.branch.filter(|_| self.differs + DIFFERS_MIN <= width) {
            inner.text_upto(self.differs, width, y, branch.with.to_string().trim_start(), Role::Text);
        }
    }
}

#[cfg(test)]
#[path = "branches_tests.rs"]
mod tests;
