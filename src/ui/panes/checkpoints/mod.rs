//! The checkpoints screen: the list, the comparison of two, the rollout.

pub mod compare;
pub mod list;
pub mod rollout;
#[cfg(test)]
mod tests;

use super::Motion;
use super::replay::Scene;
use crate::event::{CheckpointId, CheckpointListed};
use crate::state::DashState;
use crate::ui::backstage::{Ask, BenchAsk};
use crate::ui::bench::{Estimate, Setting, Soundness, Subject, Verdict};
use crate::ui::lang::tr;
use crate::ui::steer::swap;
use crate::ui::update::{Effect, Facts};
use crate::ui::view::{PaneId, View};
use crate::ui::widgets::format;
use serde_json::{Error, Value, json};

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
fn pair(state: &DashState, shelf: &Shelf) -> Option<(Subject, Subject)> {
    let (a, b) = match shelf.marked.as_slice() {
        [a, b, ..] => (a, b),
        [a] => (a, &chosen(state, shelf)?.checkpoint),
        [] => (state.serving.as_ref()?, &chosen(state, shelf)?.checkpoint),
    };
    Some((subject(a, state)?, subject(b, state)?)).filter(|(a, b)| a != b)
}

/// The listed checkpoint of that name.
fn subject(id: &CheckpointId, state: &DashState) -> Option<Subject> {
    state.checkpoints.iter().find(|c| c.checkpoint == *id).map(Subject::of)
}

/// What is asked for when the operator comes to the screen: the manifests that were not read yet.
pub fn enter(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    // With nothing compared yet there is nothing to be done in that pane.
    if facts.desk.bench.comparison.is_none() && view.focus == PaneId::Compare {
        view.focus = PaneId::Checkpoints;
    }
    let unread = facts.state.checkpoints.iter().filter(|c| !facts.desk.bench.dossiers.contains_key(&Subject::of(c)));
    unread.map(|listed| Effect::Ask(Ask::Bench(BenchAsk::Dossier(Subject::of(listed))))).collect()
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
        vec![Effect::Ask(Ask::Bench(BenchAsk::Evaluate(Subject::of(listed), Setting::of(facts.state), SEEDS))), notice]
    })
}

/// Compares the chosen one with its manifest and with the run's record of it, in the background.
pub fn verify(view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    with_chosen(view, facts, |listed| {
        let notice = Effect::Notice(tr!("verifying {id}; it waits for what was asked before; esc cancels", id = listed.checkpoint));
        let asks = [BenchAsk::Dossier(Subject::of(listed)), BenchAsk::Verify(Subject::of(listed))];
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
    let effects = with_chosen(view, facts, |listed| match facts.desk.bench.soundness.get(&Subject::of(listed)) {
        Some(Soundness::Unsound(reason)) => {
            vec![Effect::Notice(tr!("{id} is BAD and is not served: {reason}", id = listed.checkpoint, reason = reason))]
        }
        Some(Soundness::Unknown | Soundness::Checking | Soundness::Sound | Soundness::Unavailable(_)) | None => {
            swap(&listed.checkpoint.0, facts)
        }
    });
    effects.into_iter().map(refused).collect()
}

/// Who is refused may be typing the words already: those are for the dialog that says why, and are no keys.
fn refused(effect: Effect) -> Effect {
    match effect {
        Effect::Notice(why) | Effect::Mistake(why) => Effect::Refuse(why),
        other => other,
    }
}

/// What speaks for and against serving a checkpoint in place of the one that serves, as far as it was found out; a line each.
pub fn known(id: &CheckpointId, facts: &Facts<'_>) -> Vec<String> {
    let Some(subject) = subject(id, facts.state) else { return Vec::new() };
    let serving = facts.state.serving.as_ref().and_then(|serving| self::subject(serving, facts.state));
    let against = serving.map(|serving| compared(&serving, &subject, facts));
    [known_sound(&subject, facts), known_success(&subject, facts)].into_iter().chain(against).collect()
}

fn known_sound(subject: &Subject, facts: &Facts<'_>) -> String {
    let sha256 = list::short_sha(&subject.sha256);
    match facts.desk.bench.soundness.get(subject) {
        Some(Soundness::Sound) => tr!("sha256 {sha256}: verified", sha256 = sha256),
        Some(Soundness::Unsound(reason)) => tr!("sha256 {sha256}: BAD: {reason}", sha256 = sha256, reason = reason),
        Some(Soundness::Unavailable(reason)) => tr!("sha256 {sha256}: NOT verified: {reason}", sha256 = sha256, reason = reason),
        Some(Soundness::Checking) => tr!("sha256 {sha256}: being verified", sha256 = sha256),
        Some(Soundness::Unknown) | None => tr!("sha256 {sha256}: NOT verified", sha256 = sha256),
    }
}

fn known_success(subject: &Subject, facts: &Facts<'_>) -> String {
    let setting = Setting::of(facts.state);
    let evaluation = facts.desk.bench.evaluation(subject, &setting);
    match evaluation.and_then(|e| Some((e.played, e.figures?.success))) {
        Some((n, s)) => {
            let success = list::within(s.value, s.low, s.high, format::percent);
            tr!("success {success} on {n} held-out seeds at {level}", success = success, n = n, level = setting.level)
        }
        None => tr!("NOT evaluated at {level}", level = setting.level),
    }
}

/// In which measures it does worse than what serves, whichever of the two was A.
fn compared(serving: &Subject, subject: &Subject, facts: &Facts<'_>) -> String {
    let (bench, setting) = (&facts.desk.bench, Setting::of(facts.state));
    let forward = bench.comparison_of(serving, subject, &setting).map(|c| (c, Verdict::Worse));
    let found = forward.or_else(|| bench.comparison_of(subject, serving, &setting).map(|c| (c, Verdict::Better)));
    let Some((comparison, worse)) = found else { return tr!("NOT compared with {id}", id = serving.id) };
    let worse: Vec<String> = comparison.metrics.iter().filter(|m| m.verdict == worse).map(|m| compare::name(&m.name)).collect();
    if worse.is_empty() {
        return tr!("against {id} on {n} seeds: nothing is clearly worse", id = serving.id, n = comparison.seeds);
    }
    tr!("against {id} on {n} seeds: WORSE ! {names}", id = serving.id, n = comparison.seeds, names = worse.join(", "))
}

/// The list with what was found out, as it shows it.
pub fn records(scene: Scene<'_>) -> Result<Vec<Value>, Error> {
    let (bench, setting) = (&scene.desk.bench, Setting::of(scene.state));
    let record = |listed: &CheckpointListed| {
        let subject = Subject::of(listed);
        let evaluation = bench.evaluation(&subject, &setting);
        let figures = evaluation.and_then(|e| e.figures);
        let mut record = serde_json::to_value(listed)?;
        record["check"] = json!(match bench.soundness.get(&subject) {
            None | Some(Soundness::Unknown | Soundness::Checking) => None,
            Some(Soundness::Sound) => Some("ok".to_owned()),
            Some(Soundness::Unsound(reason)) => Some(format!("bad: {reason}")),
            Some(Soundness::Unavailable(reason)) => Some(format!("not verified: {reason}")),
        });
        record["level"] = json!(evaluation.map(|_| setting.level));
        record["seeds"] = json!(evaluation.map(|e| e.played));
        record["success"] = estimate(figures.map(|f| f.success));
        record["return"] = estimate(figures.map(|f| f.episode_return));
        Ok(record)
    };
    ordered(scene.state).into_iter().map(record).collect()
}

fn estimate(estimate: Option<Estimate>) -> Value {
    estimate.map_or(Value::Null, |e| json!({"value": e.value, "low": e.low, "high": e.high}))
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
    let Some((first, second)) = pair(facts.state, &view.shelf) else {
        return vec![Effect::Notice(tr!("mark two checkpoints with x, then d compares them"))];
    };
    let (a, b) = (first.id.clone(), second.id.clone());
    view.shelf.marked = vec![a.clone(), b.clone()];
    view.scroll.remove(&PaneId::Compare);
    view.focus = PaneId::Compare;
    let mut effects: Vec<Effect> = [&first, &second]
        .into_iter()
        .filter(|s| !facts.desk.bench.dossiers.contains_key(s))
        .map(|s| Effect::Ask(Ask::Bench(BenchAsk::Dossier(s.clone()))))
        .collect();
    effects.push(Effect::Ask(Ask::Bench(BenchAsk::Compare(first, second, Setting::of(facts.state), SEEDS))));
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
