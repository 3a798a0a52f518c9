//! The checkpoints screen: the list, the comparison of two, the rollout.

pub mod compare;
pub mod list;
pub mod rollout;
#[cfg(test)]
mod tests;

use super::Motion;
use crate::event::{CheckpointId, CheckpointListed};
use crate::state::DashState;
use crate::ui::backstage::{Ask, BenchAsk};
use crate::ui::bench::{Soundness, Subject};
use crate::ui::lang::tr;
use crate::ui::steer::swap;
use crate::ui::update::{Effect, Facts};
use crate::ui::view::{PaneId, View};

/// Held-out seeds of an evaluation from the screen: enough to tell one success in ten more or less from chance.
const SEEDS: u32 = 100;

/// What the operator has chosen on this screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shelf {
    /// Under the cursor; the one that serves where unset.
    pub chosen: Option<CheckpointId>,
    /// For the comparison, at most two; the first is A.
    pub marked: Vec<CheckpointId>,
}

/// The newest first, by training step.
pub fn ordered(state: &DashState) -> Vec<&CheckpointListed> {
    let mut all: Vec<&CheckpointListed> = state.checkpoints.iter().collect();
    all.sort_by(|a, b| b.training_step.cmp(&a.training_step).then_with(|| a.checkpoint.cmp(&b.checkpoint)));
    all
}

/// The one under the cursor.
fn chosen<'s>(state: &'s DashState, shelf: &Shelf) -> Option<&'s CheckpointListed> {
    let all = ordered(state);
    let named = |id: &CheckpointId| all.iter().find(|c| c.checkpoint == *id).copied();
    shelf.chosen.as_ref().and_then(named).or_else(|| state.serving.as_ref().and_then(named)).or(all.first().copied())
}

/// Where that stands in the list.
pub fn chosen_index(state: &DashState, shelf: &Shelf) -> usize {
    let chosen = chosen(state, shelf).map(|c| &c.checkpoint);
    ordered(state).iter().position(|c| Some(&c.checkpoint) == chosen).unwrap_or(0)
}

/// The two to compare: those that are marked; where fewer are, the chosen one is B and what serves is A.
fn pair(state: &DashState, shelf: &Shelf) -> Option<(CheckpointId, CheckpointId)> {
    match shelf.marked.as_slice() {
        [a, b, ..] => Some((a.clone(), b.clone())),
        [a] => chosen(state, shelf).map(|b| (a.clone(), b.checkpoint.clone())).filter(|(a, b)| a != b),
        [] => {
            let a = state.serving.clone()?;
            chosen(state, shelf).map(|b| (a, b.checkpoint.clone())).filter(|(a, b)| a != b)
        }
    }
}

fn subject(listed: &CheckpointListed) -> Subject {
    Subject { id: listed.checkpoint.clone(), sha256: listed.sha256.clone() }
}

/// What is asked for when the operator comes to the screen: the manifests that were not read yet.
pub fn enter(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    // With nothing compared yet there is nothing to be done in that pane.
    if facts.desk.bench.comparison.is_none() && view.focus == PaneId::Compare {
        view.focus = PaneId::Checkpoints;
    }
    let unread = facts.state.checkpoints.iter().filter(|c| !facts.desk.bench.dossiers.contains_key(&c.checkpoint));
    unread.map(|listed| Effect::Ask(Ask::Bench(BenchAsk::Dossier(subject(listed))))).collect()
}

/// Does something with the chosen one.
fn with_chosen(view: &View, facts: &Facts<'_>, what: impl FnOnce(&CheckpointListed) -> Vec<Effect>) -> Vec<Effect> {
    match chosen(facts.state, &view.shelf) {
        Some(listed) => what(listed),
        None => vec![Effect::Notice(tr!("no checkpoint is listed"))],
    }
}

/// Evaluates the chosen one in the background.
pub fn evaluate(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    with_chosen(view, facts, |listed| {
        let notice = Effect::Notice(tr!("evaluating {id} on {n} held-out seeds; esc cancels", id = listed.checkpoint, n = SEEDS));
        vec![Effect::Ask(Ask::Bench(BenchAsk::Evaluate(subject(listed), SEEDS))), notice]
    })
}

/// Compares the chosen one with its manifest and with the run's record of it, in the background.
pub fn verify(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    with_chosen(view, facts, |listed| {
        let notice = Effect::Notice(tr!("verifying {id}; it waits for what was asked before; esc cancels", id = listed.checkpoint));
        let asks = [BenchAsk::Dossier(subject(listed)), BenchAsk::Verify(subject(listed))];
        asks.into_iter().map(|ask| Effect::Ask(Ask::Bench(ask))).chain([notice]).collect()
    })
}

/// Gives up what was asked for and has not come yet.
pub fn cancel(facts: &Facts<'_>) -> Vec<Effect> {
    if !facts.desk.bench.is_busy() {
        return vec![Effect::Notice(tr!("nothing is being evaluated, compared or verified"))];
    }
    vec![Effect::Ask(Ask::CancelBench), Effect::Notice(tr!("cancelling; the episode that is played ends first"))]
}

/// Serves the chosen one, after verb and name were typed. What was found to be bad is not served.
pub fn promote(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    with_chosen(view, facts, |listed| match facts.desk.bench.soundness.get(&listed.checkpoint) {
        Some(Soundness::Unsound(reason)) => {
            vec![Effect::Notice(tr!("{id} is BAD and is not served: {reason}", id = listed.checkpoint, reason = reason))]
        }
        Some(Soundness::Unknown | Soundness::Checking | Soundness::Sound | Soundness::Unavailable(_)) | None => {
            swap(&listed.checkpoint.0, facts)
        }
    })
}

/// Marks the chosen one for the comparison, or takes its mark away.
pub fn mark(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(id) = chosen(facts.state, &view.shelf).map(|c| c.checkpoint.clone()) else {
        return vec![Effect::Notice(tr!("no checkpoint is listed"))];
    };
    let marked = &mut view.shelf.marked;
    if let Some(at) = marked.iter().position(|m| *m == id) {
        marked.remove(at);
        return vec![Effect::Notice(tr!("mark taken away from {id}", id = id))];
    }
    // A third one takes the place of the older of the two.
    if marked.len() == 2 {
        marked.remove(0);
    }
    marked.push(id);
    vec![Effect::Notice(match marked.as_slice() {
        [a, b] => tr!("{a} and {b} are marked; d compares them", a = a, b = b),
        _ => tr!("one is marked as A; mark another and press d"),
    })]
}

/// Compares the two that are marked.
pub fn compare(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some((a, b)) = pair(facts.state, &view.shelf) else {
        return vec![Effect::Notice(tr!("mark two checkpoints with x, then d compares them"))];
    };
    view.shelf.marked = vec![a.clone(), b.clone()];
    view.scroll.remove(&PaneId::Compare);
    view.focus = PaneId::Compare;
    let listed = |id: &CheckpointId| facts.state.checkpoints.iter().find(|c| c.checkpoint == *id).map(subject);
    let (Some(first), Some(second)) = (listed(&a), listed(&b)) else {
        return vec![Effect::Notice(tr!("no checkpoint is listed"))];
    };
    let mut effects: Vec<Effect> = [&first, &second]
        .into_iter()
        .filter(|s| !facts.desk.bench.dossiers.contains_key(&s.id))
        .map(|s| Effect::Ask(Ask::Bench(BenchAsk::Dossier(s.clone()))))
        .collect();
    effects.push(Effect::Ask(Ask::Bench(BenchAsk::Compare(first, second, SEEDS))));
    effects.push(Effect::Notice(tr!("comparing {a} and {b} on {n} held-out seeds; esc cancels", a = a, b = b, n = SEEDS)));
    effects
}

/// Lines of a motion in a pane of that height.
fn lines_of(motion: Motion, height: u16) -> i64 {
    match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines,
        Motion::Pages(pages) => pages * i64::from(height.saturating_sub(2).max(1)),
        Motion::Oldest => i64::from(i32::MIN),
        Motion::Row(_) => 0,
    }
}

/// Moves the cursor of the list, whose inside has that many rows.
pub fn scroll_list(view: &mut View, facts: &Facts<'_>, height: u16, motion: Motion) {
    let all = ordered(facts.state);
    let here = chosen(facts.state, &view.shelf).map(|c| &c.checkpoint);
    let at = all.iter().position(|c| Some(&c.checkpoint) == here).unwrap_or(0);
    let next = moved(at, lines_of(motion, height), all.len().saturating_sub(1));
    view.shelf.chosen = all.get(next).map(|c| c.checkpoint.clone());
}

fn moved(at: usize, lines: i64, max: usize) -> usize {
    usize::try_from((at as i64).saturating_add(lines).max(0)).unwrap_or(max).min(max)
}
