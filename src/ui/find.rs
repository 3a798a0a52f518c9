//! From place to place: what is searched for, tool errors, marks. The replay screen has places beyond the fold and answers for itself.

use super::panes::{self, Motion, chain};
use super::update::{Effect, Facts, scroll};
use super::view::{PaneId, ScreenId, View};
use crate::event::Seq;
use crate::ui::lang::tr;

/// What was typed after `/`: the newest match at or above the cursor first, for the operator comes from the newest row.
pub fn search(text: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if view.screen == ScreenId::Replay {
        return panes::replay::search(text, view, facts);
    }
    if view.screen == ScreenId::Diff {
        return panes::diff::search(text, view, facts);
    }
    view.search = text.to_lowercase();
    let found = chain::matches(view, facts.state, &facts.desk.hits);
    let here = here(view, facts);
    if let Some(seq) = found.iter().rev().find(|seq| **seq <= here).or(found.first()) {
        go_to_row(view, facts, *seq);
    }
    if text.is_empty() { Vec::new() } else { vec![Effect::Notice(chain::found(view, facts.state, &facts.desk.hits))] }
}

/// The cursor on that row of the chain, which has the focus then.
fn go_to_row(view: &mut View, facts: &Facts<'_>, seq: Seq) {
    view.focus = PaneId::Chain;
    scroll(view, facts, PaneId::Chain, Motion::Row(seq));
}

/// Where the operator is in the chain.
fn here(view: &View, facts: &Facts<'_>) -> Seq {
    chain::cursor_row(view, facts.state).map_or(Seq(0), |r| r.seq)
}

/// The nearest of `places`, which are in order, after or before `here`.
fn nearest(places: &[Seq], here: Seq, forward: bool) -> Option<Seq> {
    if forward { places.iter().find(|s| **s > here).copied() } else { places.iter().rev().find(|s| **s < here).copied() }
}

pub fn to_match(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    if view.screen == ScreenId::Diff {
        return panes::diff::to_next(view, facts, forward);
    }
    if view.search.is_empty() {
        return vec![Effect::Notice(tr!("nothing is searched for; / begins"))];
    }
    if view.screen == ScreenId::Replay {
        return panes::replay::to_match(view, facts, forward);
    }
    let found = chain::matches(view, facts.state, &facts.desk.hits);
    let (next, round) = match nearest(&found, here(view, facts), forward) {
        Some(seq) => (Some(seq), String::new()),
        None if forward => (found.first().copied(), tr!(", from the oldest again")),
        None => (found.last().copied(), tr!(", from the newest again")),
    };
    if let Some(seq) = next {
        go_to_row(view, facts, seq);
    }
    vec![Effect::Notice(format!("{}{round}", chain::found(view, facts.state, &facts.desk.hits)))]
}

pub fn to_error(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    if view.screen == ScreenId::Replay {
        return panes::replay::to_error(view, facts, forward);
    }
    let errors = chain::errors(view, facts.state);
    let Some(seq) = nearest(&errors, here(view, facts), forward) else {
        let all = errors.len();
        let below = || tr!("no tool error below this row; {n} in all", n = all);
        let above = || tr!("no tool error above this row; {n} in all", n = all);
        return vec![Effect::Notice(if forward { below() } else { above() })];
    };
    go_to_row(view, facts, seq);
    let at = errors.iter().take_while(|s| **s <= seq).count();
    vec![Effect::Notice(tr!("tool error {at} of {all}", at = at, all = errors.len()))]
}

/// A mark is a row of the chain; in a replay it is a place in the recording, which is the playhead's while the chain follows it.
fn place_to_mark(view: &View, facts: &Facts<'_>) -> Option<Seq> {
    panes::replay::place(view, facts.state, facts.desk, facts.playback)
}

pub fn set_mark(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(seq) = place_to_mark(view, facts) else { return vec![Effect::Notice(tr!("there is nothing to mark yet"))] };
    let text = if view.marks.remove(&seq) {
        tr!("mark taken away from event {seq}; {n} left", seq = seq, n = view.marks.len())
    } else {
        view.marks.insert(seq);
        tr!("marked event {seq}; [ and ] go from mark to mark", seq = seq)
    };
    vec![Effect::Notice(text)]
}

pub fn to_mark(view: &mut View, facts: &Facts<'_>, forward: bool) -> Vec<Effect> {
    let marks: Vec<Seq> = view.marks.iter().copied().collect();
    let here = place_to_mark(view, facts).unwrap_or_default();
    let Some(seq) = nearest(&marks, here, forward) else {
        return vec![Effect::Notice(if forward { tr!("no later mark; m sets one") } else { tr!("no earlier mark; m sets one") })];
    };
    let at = marks.iter().take_while(|s| **s <= seq).count();
    let notice = Effect::Notice(tr!("mark {at} of {all}", at = at, all = marks.len()));
    if facts.playback.is_some() {
        view.place = None;
        return vec![Effect::Seek(seq), notice];
    }
    if view.screen == ScreenId::Replay {
        panes::replay::go_to_row(view, facts, seq);
    } else {
        go_to_row(view, facts, seq);
    }
    vec![notice]
}
