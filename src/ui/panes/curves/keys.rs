//! What the keys of a chart do, on the training screen and in the reward pane.

use super::figure::{Count, Figure};
use super::options::FIGURES_MAX;
use super::traces::Traces;
use super::{REWARD_FIGURES, cells, shown};
use crate::ui::lang::tr;
use crate::ui::panes::{Motion, inside};
use crate::ui::update::{Effect, Facts};
use crate::ui::view::{PaneId, ScreenId, View};
use crate::ui::widgets::{Scale, columns_of};

/// The chart that keys go to, as it is drawn.
struct Target {
    traces: Traces,
    columns: u64,
}

impl Target {
    fn of(view: &View, facts: &Facts<'_>) -> Self {
        let pane = pane(view);
        let figures = shown(view, facts.state, pane);
        let (width, height) = inside(view, facts.area, pane).unwrap_or((facts.area.width, facts.area.height));
        let lane = facts.state.lane(view.lane);
        // Without a chosen one there are several charts on the training screen; the first leads.
        let (figures, width) = match pane == PaneId::Curves && view.chart.training.is_empty() {
            true => (figures.get(..1).unwrap_or_default(), cells(width, height, figures.len()).first().map_or(width, |c| c.width)),
            false => (&figures[..], width),
        };
        let traces = Traces::of(facts.state, lane, &view.chart, figures);
        Self { traces, columns: columns_of(width, facts.glyphs.curve()) }
    }

    fn scale(&self, view: &View) -> Option<Scale> {
        self.traces.scale(&view.chart, self.columns)
    }
}

/// The pane with curves that keys and commands mean.
pub fn pane(view: &View) -> PaneId {
    match (view.active(), view.screen) {
        (PaneId::Curves, _) | (_, ScreenId::Training) => PaneId::Curves,
        (
            _,
            ScreenId::Live
            | ScreenId::Replay
            | ScreenId::Checkpoints
            | ScreenId::Alerts
            | ScreenId::Memory
            | ScreenId::Log
            | ScreenId::Diff,
        ) => PaneId::Reward,
    }
}

/// Smooths more or less, by tenths.
pub fn smooth(view: &mut View, by: i8) {
    view.chart.smoothing_tenths = view.chart.smoothing_tenths.saturating_add_signed(by).min(9);
}

/// Up and down choose the curve, pages pan, the beginning is all of it; the wheel zooms.
pub fn scroll(view: &mut View, facts: &Facts<'_>, motion: Motion) {
    match motion {
        Motion::Lines(lines) => choose_next(view, facts, lines > 0),
        Motion::Pages(pages) => pan(view, facts, pages > 0, 1),
        Motion::View(lines) => zoom(view, facts, if lines < 0 { 1 } else { -1 }),
        Motion::Oldest => view.chart.show_whole(),
        Motion::Row(_) => {}
    }
}

/// The newest values in full resolution, followed.
pub fn to_newest(view: &mut View) {
    view.chart.show_newest();
    view.chart.cursor = None;
}

/// By step, by time, by the clock.
pub fn next_axis(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.chart.axis = view.chart.axis.next();
    let note = Target::of(view, facts).traces.axis_note(view.chart.axis);
    note.map(Effect::Notice).into_iter().collect()
}

/// On the newest value in view.
pub fn toggle_cursor(view: &mut View, facts: &Facts<'_>) {
    if view.chart.cursor.take().is_some() {
        return;
    }
    let target = Target::of(view, facts);
    let (Some(scale), Some(trace)) = (target.scale(view), target.traces.traces.first()) else { return };
    let seen = trace.buckets.iter().rposition(|b| scale.holds(target.traces.x(b).0));
    view.chart.cursor = seen.or(trace.buckets.len().checked_sub(1)).map(|index| target.traces.number_of(index));
}

/// The cursor to the side, or what is seen where there is none.
pub fn sideways(view: &mut View, facts: &Facts<'_>, right: bool) {
    match view.chart.cursor {
        Some(n) => move_cursor(view, facts, n, right),
        None => pan(view, facts, right, 4),
    }
}

/// To the nearest column that has a value; the window comes along.
fn move_cursor(view: &mut View, facts: &Facts<'_>, n: u64, right: bool) {
    let target = Target::of(view, facts);
    let traces = &target.traces;
    let (Some(scale), Some((index, bucket)), Some(trace)) = (target.scale(view), traces.bucket_of(n), traces.traces.first()) else {
        return;
    };
    let column = |b: &crate::state::Bucket| scale.column(traces.x(b).0);
    let here = column(bucket);
    let next = match right {
        true => (index..trace.buckets.len()).find(|i| column(&trace.buckets[*i]) > here),
        false => (0..index).rev().find(|i| column(&trace.buckets[*i]) < here),
    };
    let Some(next) = next else { return };
    view.chart.cursor = Some(traces.number_of(next));
    let x = traces.x(&trace.buckets[next]).0;
    if !scale.holds(x) {
        look_at(view, &target, scale, x.saturating_sub(scale.window() / 2), right);
    }
}

/// Moves the window by one of so many parts of it.
fn pan(view: &mut View, facts: &Facts<'_>, right: bool, part: u64) {
    let target = Target::of(view, facts);
    let Some(scale) = target.scale(view).filter(|scale| !scale.is_whole) else { return };
    let by = (scale.window() / part).max(1);
    let to = if right { scale.start.saturating_add(by) } else { scale.start.saturating_sub(by) };
    look_at(view, &target, scale, to, right);
}

/// The left edge of the window at the value at `x`: the next one to the right, or the one before to the left.
fn look_at(view: &mut View, target: &Target, scale: Scale, x: u64, right: bool) {
    let traces = &target.traces;
    let Some(trace) = traces.traces.first() else { return };
    let after = trace.buckets.partition_point(|b| traces.x(b).0 < x);
    let is_there = trace.buckets.get(after).is_some_and(|b| traces.x(b).0 == x);
    let index = if right || is_there { after } else { after.saturating_sub(1) };
    let reached = trace.buckets.get(index).map(|b| traces.x(b).0);
    // At its end the window follows again.
    view.chart.left = reached.filter(|x| *x < scale.follow).map(|_| traces.number_of(index));
}

/// As far as there is something to see; seeing all of it is the end in one direction.
pub fn zoom(view: &mut View, facts: &Facts<'_>, by: i8) {
    let target = Target::of(view, facts);
    let Some(before) = target.scale(view) else { return };
    let zoom_before = view.chart.zoom;
    view.chart.zoom = zoom_before.saturating_add(by);
    let Some(after) = target.scale(view) else { return };
    if after.is_whole {
        view.chart.show_whole();
    } else if after.exponent == before.exponent {
        view.chart.zoom = zoom_before;
    } else if let Some((_, cursor)) = view.chart.cursor.and_then(|n| target.traces.bucket_of(n)) {
        // What the cursor is at stays in view.
        let x = target.traces.x(cursor).0;
        if !after.holds(x) {
            look_at(view, &target, after, x.saturating_sub(after.window() / 2), false);
        }
    }
}

/// The next curve of the list; the training screen's begins with all of them.
fn choose_next(view: &mut View, facts: &Facts<'_>, down: bool) {
    let list: Vec<Option<Figure>> = if pane(view) == PaneId::Curves {
        let there = Figure::TRAINING.iter().copied().filter(|f| f.has_values(facts.state, None));
        [None].into_iter().chain(there.map(Some)).collect()
    } else {
        REWARD_FIGURES.iter().copied().map(Some).collect()
    };
    let chosen = chosen(view);
    let now = list.iter().position(|f| *f == chosen.first().copied());
    let next = match (now, down) {
        (None, _) => 0,
        (Some(now), true) => (now + 1).min(list.len() - 1),
        (Some(now), false) => now.saturating_sub(1),
    };
    let next = list[next].into_iter().collect();
    set_chosen(view, next);
}

fn chosen(view: &mut View) -> &mut Vec<Figure> {
    if pane(view) == PaneId::Curves { &mut view.chart.training } else { &mut view.chart.reward }
}

/// Another thing that is counted has other places.
fn set_chosen(view: &mut View, next: Vec<Figure>) {
    let count = |figures: &[Figure]| figures.first().map_or(Count::Update, |f| f.count());
    let slot = chosen(view);
    let differs = count(slot) != count(&next);
    *slot = next;
    if differs {
        (view.chart.left, view.chart.cursor) = (None, None);
    }
}

/// `:series NAME[,NAME]`; without a name, what was there at the beginning.
pub fn choose(argument: &str, view: &mut View) -> Vec<Effect> {
    let mut figures: Vec<Figure> = Vec::new();
    for name in argument.split(',').filter(|name| !name.trim().is_empty()) {
        match Figure::from_name(name) {
            Ok(figure) if figures.contains(&figure) => {}
            Ok(figure) => figures.push(figure),
            Err(reason) => return vec![Effect::Notice(reason)],
        }
    }
    if figures.len() > FIGURES_MAX {
        return vec![Effect::Notice(tr!("at most {n} curves can be told apart in one chart", n = FIGURES_MAX))];
    }
    if figures.is_empty() && pane(view) == PaneId::Reward {
        figures.push(Figure::Return);
    }
    set_chosen(view, figures);
    Vec::new()
}
