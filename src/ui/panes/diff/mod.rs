//! The diff screen: two episodes step by step, or two recordings episode by episode; the step under the cursor; a summary.

pub mod detail;
pub mod steps;
pub mod summary;
#[cfg(test)]
mod tests;

use super::Motion;
use super::replay::{Scene, episodes};
use crate::event::NoAddress;
use crate::source::diff::{Address, Decision, Difference, EpisodeDiff, Found, Mark, Saw, Token, Typed, records as in_json};
use crate::ui::backstage::{Ask, OpenAt};
use crate::ui::diff::{Compared, DiffAsk, DiffFile, DiffSide};
use crate::ui::lang::tr;
use crate::ui::update::{Effect, Facts, ReplayEffect};
use crate::ui::view::{PaneId, Pick, ScreenId, Scroll, View};
use crate::ui::widgets::{format, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the operator has chosen on this screen, and in the list of episodes for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffView {
    /// Under the cursor: an item of what was compared. Unset is where the two part.
    pub item: Option<usize>,
    /// Enter goes to the step of B.
    pub side_b: bool,
    /// Steps that are the same are shown one by one.
    pub unfolded: bool,
    /// For the comparison, at most two; the first is A.
    pub marked: Vec<DiffSide>,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Item(usize),
    /// Items that are the same, from one up to but not with another.
    Fold(usize, usize),
}

impl Shown {
    fn first(self) -> usize {
        match self {
            Shown::Item(item) | Shown::Fold(item, _) => item,
        }
    }

    fn holds(self, item: usize) -> bool {
        match self {
            Shown::Item(own) => own == item,
            Shown::Fold(from, upto) => (from..upto).contains(&item),
        }
    }
}

/// Fewer that are the same are not folded.
const FOLD_MIN: usize = 3;

pub(super) fn compared(scene: Scene<'_>) -> Option<&Compared> {
    scene.desk.diff.compared.as_deref()
}

/// Steps, or pairs and episodes without a partner.
fn count(found: &Found) -> usize {
    match found {
        Found::Episodes(diff) => diff.rows.len(),
        Found::Recordings(diff, pairs) => pairs.len() + diff.only_a.len() + diff.only_b.len(),
    }
}

fn mark_at(found: &Found, item: usize) -> Mark {
    match found {
        Found::Episodes(diff) => diff.rows.get(item).map_or(Mark::Same, |row| row.mark()),
        Found::Recordings(diff, pairs) => match pairs.get(item) {
            Some(pair) if pair.is_same => Mark::Same,
            Some(_) => Mark::Differs,
            None if item < pairs.len() + diff.only_a.len() => Mark::OnlyA,
            None => Mark::OnlyB,
        },
    }
}

/// Whether the two do something else there.
fn is_turn(found: &Found, item: usize) -> bool {
    match found {
        Found::Episodes(diff) => {
            let is_first = [&diff.first, &diff.drift].into_iter().flatten().any(|first| first.row == item);
            is_first || diff.rows.get(item).is_some_and(|row| row.is_turn())
        }
        Found::Recordings(..) => mark_at(found, item) != Mark::Same,
    }
}

/// What is shown, in order.
fn shown(found: &Found, view: &DiffView) -> Vec<Shown> {
    let all = count(found);
    let mut rows = Vec::new();
    let mut from = 0;
    while from < all {
        let same = (from..all).take_while(|item| mark_at(found, *item) == Mark::Same).count();
        if same >= FOLD_MIN && !view.unfolded {
            rows.push(Shown::Fold(from, from + same));
            from += same;
        } else {
            let upto = (from + same).max(from + 1);
            rows.extend((from..upto).map(Shown::Item));
            from = upto;
        }
    }
    rows
}

/// The item under the cursor.
pub fn cursor(scene: Scene<'_>) -> usize {
    let Some(compared) = compared(scene) else { return 0 };
    let last = count(&compared.found).saturating_sub(1);
    let home = || match &compared.found {
        Found::Episodes(diff) => diff.first.as_ref().or(diff.drift.as_ref()).map_or(0, |first| first.row),
        Found::Recordings(..) => (0..=last).find(|item| is_turn(&compared.found, *item)).unwrap_or(0),
    };
    scene.view.diff.item.unwrap_or_else(home).min(last)
}

/// All items as records.
pub fn records(scene: Scene<'_>) -> Vec<Value> {
    let Some(compared) = compared(scene) else { return Vec::new() };
    (0..count(&compared.found)).map(|item| record(&compared.found, item)).collect()
}

fn record(found: &Found, item: usize) -> Value {
    match found {
        Found::Episodes(diff) => in_json::step(diff, item),
        Found::Recordings(diff, pairs) => {
            let alone = |n: usize| match diff.only_a.get(n) {
                Some(alone) => in_json::unpaired("a", alone),
                None => diff.only_b.get(n - diff.only_a.len()).map_or(Value::Null, |alone| in_json::unpaired("b", alone)),
            };
            pairs.get(item).map_or_else(|| alone(item - pairs.len()), in_json::pair)
        }
    }
}

/// The recording that is open, as backstage asks for it.
fn open_file(facts: &Facts<'_>) -> Option<PathBuf> {
    facts.playback.map(|p| PathBuf::from(&p.name))
}

fn side_of(word: &str, facts: &Facts<'_>) -> Result<DiffSide, String> {
    let no_episode = |NoAddress(text)| tr!("`{text}` is no episode; write [lane:]episode, such as 3 or 1:3", text = text);
    let Typed { file, address } = Typed::parse(word).map_err(no_episode)?;
    Ok(DiffSide { file: file.or_else(|| open_file(facts)), address })
}

fn here(view: &View, facts: &Facts<'_>) -> Result<DiffSide, String> {
    let address = Scene::seen(view, facts).episode().map(Address::from);
    let address = address.ok_or_else(|| tr!("there is no episode yet"))?;
    Ok(DiffSide { file: open_file(facts), address: Some(address) })
}

/// `:diff`: by itself, this branch; `EPISODE` or `FILE#EPISODE` against this episode; `FILE` against this recording; or any two.
pub fn ask(argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match sides(argument, view, facts) {
        Ok(ask) => begin(ask, view),
        Err(told) => vec![Effect::Mistake(told)],
    }
}

fn sides(argument: &str, view: &View, facts: &Facts<'_>) -> Result<DiffAsk, String> {
    let words: Vec<&str> = argument.split_whitespace().collect();
    let (a, b) = match words.as_slice() {
        [] => (here(view, facts)?, None),
        [a, b] if !Path::new(argument).exists() => (side_of(a, facts)?, Some(side_of(b, facts)?)),
        _ => {
            let b = side_of(argument.trim(), facts)?;
            let whole = DiffSide { file: open_file(facts), address: None };
            (if b.address.is_some() { here(view, facts)? } else { whole }, Some(b))
        }
    };
    if b.as_ref().is_some_and(|b| a.address.is_some() != b.address.is_some()) {
        return Err(tr!("a recording can't be compared with an episode: name two of one kind"));
    }
    if b.as_ref() == Some(&a) {
        return Err(tr!("name another one: nothing differs from itself"));
    }
    Ok(DiffAsk { a, b })
}

fn begin(ask: DiffAsk, view: &mut View) -> Vec<Effect> {
    view.diff.item = None;
    view.search.clear();
    view.scroll.retain(|pane, _| !matches!(pane, PaneId::Steps | PaneId::StepDetail | PaneId::DiffSummary));
    view.go(ScreenId::Diff);
    view.focus = PaneId::Steps;
    vec![Effect::Notice(tr!("comparing; esc gives up")), Effect::Ask(Ask::Diff(ask))]
}

pub fn cancel() -> Vec<Effect> {
    vec![Effect::Ask(Ask::CancelDiff), Effect::Notice(tr!("no longer compared"))]
}

/// A row of the list of episodes as a side.
fn side_of_pick(scene: Scene<'_>, pick: &Pick) -> DiffSide {
    match pick {
        Pick::Episode(lane, episode) => {
            DiffSide { file: scene.playback.map(|p| PathBuf::from(&p.name)), address: Some((*lane, *episode).into()) }
        }
        Pick::Recording(path) => DiffSide { file: Some(path.clone()), address: None },
    }
}

/// The letter of a row that is marked.
pub fn mark_of(scene: Scene<'_>, pick: &Pick) -> Option<&'static str> {
    if scene.view.diff.marked.is_empty() {
        return None;
    }
    let side = side_of_pick(scene, pick);
    let at = scene.view.diff.marked.iter().position(|marked| *marked == side)?;
    Some(if at == 0 { "A" } else { "B" })
}

/// Marks the row at the cursor of the list, or takes its mark away.
pub fn mark(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let Some(pick) = episodes::picked(scene) else { return vec![Effect::Notice(tr!("there is no episode yet"))] };
    let side = side_of_pick(scene, &pick);
    let marked = &mut view.diff.marked;
    if let Some(at) = marked.iter().position(|m| *m == side) {
        marked.remove(at);
        return vec![Effect::Notice(tr!("its mark is taken away"))];
    }
    // A third one takes the place of the older of the two, and one of another kind that of both.
    marked.retain(|m| m.address.is_some() == side.address.is_some());
    if marked.len() == 2 {
        marked.remove(0);
    }
    marked.push(side);
    vec![Effect::Notice(match marked.len() {
        2 => tr!("two are marked; d compares them"),
        _ => tr!("one is marked as A; mark another and press d"),
    })]
}

/// Compares the two that are marked; the marked and the chosen one; or the chosen branch with what it goes on from.
pub fn ask_marked(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let chosen = episodes::picked(scene).map(|pick| side_of_pick(scene, &pick));
    let ask = match (view.diff.marked.as_slice(), chosen) {
        ([a, b, ..], _) => DiffAsk { a: a.clone(), b: Some(b.clone()) },
        ([a], Some(b)) if *a != b && a.address.is_some() == b.address.is_some() => DiffAsk { a: a.clone(), b: Some(b) },
        ([] | [_], Some(a)) if a.address.is_some() => DiffAsk { a, b: None },
        ([] | [_], _) => return vec![Effect::Notice(tr!("mark two with x, then d compares them"))],
    };
    view.popup = None;
    begin(ask, view)
}

pub fn side(view: &mut View, side_b: bool) -> Vec<Effect> {
    view.diff.side_b = side_b;
    Vec::new()
}

pub fn fold(view: &mut View) -> Vec<Effect> {
    view.diff.unfolded = !view.diff.unfolded;
    Vec::new()
}

/// The replay screen at the step of the chosen side; of two recordings, the pair of episodes step by step.
pub fn open(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let item = cursor(scene);
    let Some(compared) = facts.desk.diff.compared.as_deref() else { return vec![Effect::Notice(tr!("nothing was compared yet"))] };
    match &compared.found {
        Found::Episodes(diff) => open_step(diff, item, &compared.files, view, facts),
        Found::Recordings(_, pairs) => {
            let Some(pair) = pairs.get(item) else { return vec![Effect::Notice(tr!("this episode has no partner"))] };
            let side = |file: &DiffFile, address| DiffSide { file: file.asked.clone(), address: Some(address) };
            let ask = DiffAsk { a: side(&compared.files[0], pair.a), b: Some(side(&compared.files[1], pair.b)) };
            begin(ask, view)
        }
    }
}

fn open_step(diff: &EpisodeDiff, item: usize, files: &[DiffFile; 2], view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let (a, b) = diff.decisions(item);
    let (decision, file) = if view.diff.side_b { (b, &files[1]) } else { (a, &files[0]) };
    let Some((decision, address)) = decision.and_then(|d| Some((d, d.address?))) else {
        return vec![Effect::Notice(if view.diff.side_b { tr!("B has no such step") } else { tr!("A has no such step") })];
    };
    let at = (address.lane, address.episode);
    let is_open = facts.playback.is_some_and(|p| Path::new(&p.name) == file.path);
    if is_open {
        view.go(ScreenId::Replay);
        view.lane = address.lane;
        view.replay.pick = None;
        return vec![Effect::Replay(ReplayEffect::SeekStep(at.0, at.1, decision.step))];
    }
    let notice = tr!("opening {name}", name = file.path.display());
    vec![
        Effect::Notice(notice),
        Effect::Ask(Ask::Open { path: file.asked.clone(), at: Some(OpenAt::Event { seq: decision.last, is_marked: false }) }),
    ]
}

/// What of an item a search looks in.
fn has_words(found: &Found, item: usize, needle: &str) -> bool {
    let in_decision = |d: Option<&Decision>| {
        let Some(d) = d else { return false };
        let texts =
            [d.message.as_ref().map(|m| m.thought.clone()), d.action(), d.result.clone(), d.observation.as_ref().map(|o| o.text.clone())];
        texts.into_iter().flatten().any(|t| text::holds(&t, needle))
    };
    match found {
        Found::Episodes(diff) => {
            let (a, b) = diff.decisions(item);
            in_decision(a) || in_decision(b)
        }
        Found::Recordings(..) => text::holds(&record(found, item).to_string(), needle),
    }
}

/// What was typed after `/`: the first match from the cursor on, then from the beginning.
pub fn search(typed: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.search = typed.to_lowercase();
    let scene = Scene::seen(view, facts);
    let Some(compared) = facts.desk.diff.compared.as_deref().filter(|_| !typed.is_empty()) else { return Vec::new() };
    let (here, all) = (cursor(scene), count(&compared.found));
    let found = (here..all).chain(0..here).find(|item| has_words(&compared.found, *item, &view.search));
    go(view, found, tr!("no match in what was compared"))
}

/// The next match of a search; without one, the next place where the two do something else.
pub fn to_next(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    let scene = Scene::seen(view, facts);
    let Some(compared) = facts.desk.diff.compared.as_deref() else { return vec![Effect::Notice(tr!("nothing was compared yet"))] };
    let (here, all) = (cursor(scene), count(&compared.found));
    let is_it = |item: &usize| match view.search.as_str() {
        "" => is_turn(&compared.found, *item),
        needle => has_words(&compared.found, *item, needle),
    };
    let found = if forward { (here + 1..all).find(is_it) } else { (0..here).rev().find(is_it) };
    let none = match (view.search.is_empty(), forward) {
        (true, true) => tr!("no later difference"),
        (true, false) => tr!("no earlier difference"),
        (false, true) => tr!("no later match"),
        (false, false) => tr!("no earlier match"),
    };
    go(view, found, none)
}

fn go(view: &mut View, found: Option<usize>, none: String) -> Vec<Effect> {
    let Some(item) = found else { return vec![Effect::Notice(none)] };
    view.diff.item = Some(item);
    view.scroll.remove(&PaneId::StepDetail);
    Vec::new()
}

/// Moves the cursor.
pub fn scroll(view: &mut View, facts: &Facts<'_>, (_, height): (u16, u16), motion: Motion) {
    let scene = Scene::seen(view, facts);
    let Some(compared) = facts.desk.diff.compared.as_deref() else { return };
    let rows = shown(&compared.found, &view.diff);
    let here = cursor(scene);
    let at = rows.iter().position(|row| row.holds(here)).unwrap_or(0);
    let by = match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines,
        Motion::Pages(pages) => pages.saturating_mul(i64::from(height.saturating_sub(2).max(1))),
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    };
    let last = rows.len().saturating_sub(1);
    let to = usize::try_from((at as i64).saturating_add(by).max(0)).unwrap_or(last).min(last);
    if let Some(row) = rows.get(to) {
        view.diff.item = Some(row.first());
        view.scroll.remove(&PaneId::StepDetail);
    }
    let first = steps::top(rows.len(), to, steps::list_rows(height), view.scroll_of(PaneId::Steps).up);
    view.scroll.insert(PaneId::Steps, Scroll { up: first, ..Scroll::default() });
}

/// A click chooses a row.
pub fn click(view: &mut View, facts: &Facts<'_>, x: u16, y: u16) -> Vec<Effect> {
    let inside = super::inside(view, facts.area, PaneId::Steps).zip(super::cell_of(view, facts.area, PaneId::Steps, x, y));
    let (Some((inside, (_, row))), Some(compared)) = (inside, facts.desk.diff.compared.as_deref()) else { return Vec::new() };
    let rows = shown(&compared.found, &view.diff);
    let here = cursor(Scene::seen(view, facts));
    let at = rows.iter().position(|row| row.holds(here)).unwrap_or(0);
    let first = steps::top(rows.len(), at, steps::list_rows(inside.1), view.scroll_of(PaneId::Steps).up);
    if let Some(chosen) = row.checked_sub(steps::head(inside.1)).and_then(|below| rows.get(first + usize::from(below))) {
        view.diff.item = Some(chosen.first());
        view.scroll.remove(&PaneId::StepDetail);
    }
    Vec::new()
}

/// A log-probability, in as many digits as a recording has.
pub(super) fn logprob(token: Option<&Token>) -> String {
    format::or_unset(token.and_then(|t| t.logprob), |l| if l.is_finite() { format!("{l:.5}") } else { format::number(f64::from(l)) })
}

/// A token between signs that show its blanks.
pub(super) fn quoted(token: Option<&Token>) -> String {
    token.map_or_else(|| tr!("nothing"), |t| format!("\"{}\"", t.text.replace('\n', " ")))
}

/// One line of what differs.
pub(super) fn told(difference: &Difference) -> String {
    let line = |what: String, a: String, b: String| format!("{what}: {a} -> {b}");
    let words = |t: &Option<crate::event::SafeText>| format::or_unset(t.as_ref(), |t| t.replace('\n', " "));
    let saw = |s: &Saw| match s.error_type {
        Some(error) => format!("{error:?}: {}", words(&s.text)),
        None => words(&s.text),
    };
    let numbers = |what: String, a: Option<f64>, b: Option<f64>| {
        let [a, b] = format::apart(a, b);
        line(what, a, b)
    };
    match difference {
        Difference::Field { name, a, b, .. } => numbers(name.clone(), *a, *b),
        Difference::Observation { a, b } => line(tr!("observation"), words(a), words(b)),
        Difference::Token { index, a, b } => {
            let [(a, la), (b, lb)] = [a, b].map(|t| (quoted(t.as_ref()), logprob(t.as_ref())));
            tr!("thought, token {n}: A {a} ({la}), B {b} ({lb})", n = index + 1, a = a, la = la, b = b, lb = lb)
        }
        Difference::Drift { index, a, b } => {
            let (text, la, lb) = (quoted(a.as_ref()), logprob(a.as_ref()), logprob(b.as_ref()));
            tr!("log-probability of token {n} {text}: A {la}, B {lb}", n = index + 1, text = text, la = la, lb = lb)
        }
        Difference::Message { a, b } => line(tr!("message"), words(a), words(b)),
        Difference::Action { a, b } => line(tr!("action"), words(a), words(b)),
        Difference::Result { a, b } => line(tr!("result"), saw(a), saw(b)),
        Difference::Reward { a, b } => numbers(tr!("reward"), *a, *b),
        Difference::Value { a, b } => numbers(tr!("value"), *a, *b),
        Difference::Ends { a, b } => line(tr!("episode"), format::or_unset(*a, str::to_owned), format::or_unset(*b, str::to_owned)),
        Difference::Hash { a, b } => {
            let hash = |v: &Option<u64>| format::or_unset(*v, |v| format!("{v:016x}"));
            line(tr!("state hash"), hash(a), hash(b))
        }
    }
}
