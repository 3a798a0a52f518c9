//! The timeline of an episode: rewards, what happened at each step, breakpoints and marks, the playhead.
//!
//! ```text
//! r  ▁▁▂▂▁▁▃▃▂▂
//! ev OTAOTAOT!OTA
//! mk 1-----b2--^-
//! ```

use super::Scene;
use crate::event::Seq;
use crate::source::Beat;
use crate::state::RowKind;
use crate::ui::lang::tr;
use crate::ui::panes::{Pane, notice};
use crate::ui::widgets::{Canvas, Role, sparkline};

/// Columns before the steps.
const LABEL: u16 = 3;

/// How steps stand in columns: up to three columns a step, or several steps a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruler {
    columns: usize,
    steps: usize,
}

impl Ruler {
    pub fn new(width: u16, steps: usize) -> Self {
        Self { columns: usize::from(width.saturating_sub(LABEL)).max(1), steps }
    }

    /// Columns of a step; 0 where a column has more than one.
    fn each(self) -> usize {
        (self.columns / self.steps.max(1)).min(3)
    }

    /// Columns in use.
    fn used(self) -> usize {
        if self.each() > 0 { self.each() * self.steps } else { self.columns }
    }

    /// The first column of a step.
    pub fn column(self, step: usize) -> usize {
        if self.each() > 0 { step * self.each() } else { (step * self.columns) / self.steps.max(1) }
    }

    /// The steps of a column; none behind the last.
    pub fn steps_at(self, column: usize) -> std::ops::Range<usize> {
        if self.each() > 0 {
            let step = column / self.each();
            return step.min(self.steps)..(step + 1).min(self.steps);
        }
        let begin = |column: usize| (column * self.steps).div_ceil(self.columns);
        begin(column).min(self.steps)..begin(column + 1).min(self.steps)
    }
}

/// The steps of the episode under way, by its rows.
pub fn beats_folded(scene: Scene<'_>) -> Vec<Beat> {
    let mut beats: Vec<Beat> = Vec::new();
    for row in super::transcript::rows(scene).iter() {
        if matches!(row.kind, RowKind::EpisodeStart { .. } | RowKind::EpisodeEnd { .. }) {
            continue;
        }
        if beats.last().is_none_or(|b| b.step != row.step) {
            beats.push(Beat { step: row.step, first: row.seq, t_ns: row.t_ns, ..Beat::default() });
        }
        let Some(beat) = beats.last_mut() else { continue };
        beat.last = row.seq;
        match &row.kind {
            RowKind::Observation { .. } => beat.observed = true,
            RowKind::Thought { .. } => beat.thought = true,
            RowKind::Action { outcome, reward, .. } => {
                beat.acted = true;
                beat.failed |= outcome.as_ref().is_some_and(|o| o.error_type.is_some());
                beat.reward = beat.reward.or(*reward);
            }
            RowKind::Text { .. } => beat.acted = true,
            RowKind::Compressed { .. }
            | RowKind::Swapped { .. }
            | RowKind::Note { .. }
            | RowKind::EpisodeStart { .. }
            | RowKind::EpisodeEnd { .. } => {}
        }
    }
    beats
}

/// The event to which a click on a column leads: where the last step of the column is settled.
pub fn seq_at(scene: Scene<'_>, width: u16, column: u16) -> Option<Seq> {
    scene.playback?;
    let beats = scene.beats();
    let ruler = Ruler::new(width, beats.len());
    let column = usize::from(column.saturating_sub(LABEL)).min(ruler.used().saturating_sub(1));
    let last = ruler.steps_at(column).next_back()?;
    beats.get(last).map(|b| b.last)
}

/// What a column says: an error wins over everything, so that none is hidden.
fn letter(beats: &[Beat], part: usize, each: usize) -> char {
    let any = |which: fn(&Beat) -> bool| beats.iter().any(which);
    let call = if any(|b| b.failed) {
        '!'
    } else if any(|b| b.acted) {
        'A'
    } else {
        '.'
    };
    let thought = if any(|b| b.thought) { 'T' } else { '.' };
    let seen = if any(|b| b.observed) { 'O' } else { '.' };
    match (each, part) {
        (3, 0) => seen,
        (3, 1) | (2, 0) => thought,
        (3, _) | (2, _) => call,
        (_, _) if call != '.' => call,
        (_, _) if thought != '.' => thought,
        (_, _) => seen,
    }
}

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let beats = scene.beats();
    let head = playhead(scene, &beats);
    // Before the first step the playhead is at none.
    let step = |at: usize| if scene.state.seq < beats[at].first { 0 } else { beats[at].step.0 };
    let listed = scene.track().and_then(|t| scene.desk.replay.book.find(t.lane, t.episode)).map_or(0, |e| e.length());
    let last = beats.last().map_or(0, |b| b.step.0);
    let badge = head.map_or_else(String::new, |at| match scene.track() {
        Some(track) if !track.is_whole() && last < listed => tr!("{n} of {all} steps read", n = last, all = listed),
        Some(_) | None => format!("{} {}/{last}", tr!("step"), step(at)),
    });
    let mut inner = pane.open(canvas, &badge);
    if beats.is_empty() {
        let text = if scene.playback.is_some() && !scene.desk.replay.book.is_whole() {
            super::read_so_far(scene.desk)
        } else {
            tr!("no step yet")
        };
        notice(&mut inner, &text);
        return;
    }
    let height = inner.height();
    let ruler = Ruler::new(inner.width(), beats.len());
    let mut y = 0;
    if height >= 3 {
        draw_rewards(&mut inner, y, &beats, ruler, head);
        y += 1;
    }
    draw_letters(&mut inner, y, &beats, ruler, head);
    if height >= 2 {
        draw_marks(&mut inner, y + 1, scene, &beats, ruler, head);
    }
    if height >= 4 {
        let width = inner.width();
        let place = if super::has_times(scene) { "41.8s" } else { "3/12" };
        let keys = tr!(
            "0 |<   , h <   space play/pause   . l >   $ >|   [ ] mark   {brace} error   b break   c C run to a stop   :seek {place}",
            brace = "{ }",
            place = place
        );
        inner.text_upto(0, width, height - 1, &keys, Role::Dim);
    }
}

/// The step of the playhead.
fn playhead(scene: Scene<'_>, beats: &[Beat]) -> Option<usize> {
    beats.partition_point(|b| b.first <= scene.state.seq).checked_sub(1).or((!beats.is_empty()).then_some(0))
}

/// The column of a step at which the playhead stands: the last one once the step is settled.
fn column_within(beat: &Beat, seq: Seq, each: usize) -> usize {
    match (seq >= beat.last, seq > beat.first) {
        (true, _) => each.saturating_sub(1),
        (false, true) => each / 2,
        (false, false) => 0,
    }
}

fn draw_rewards(inner: &mut Canvas<'_>, y: u16, beats: &[Beat], ruler: Ruler, head: Option<usize>) {
    inner.text(0, y, "r", Role::Dim);
    let value = |column: usize| {
        let known: Vec<f64> = beats[ruler.steps_at(column)].iter().filter_map(|b| b.reward).filter(|r| r.is_finite()).collect();
        if known.is_empty() { f64::NAN } else { known.iter().sum::<f64>() / known.len() as f64 }
    };
    let values: Vec<f64> = (0..ruler.used()).map(value).collect();
    let least = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::min);
    let most = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let line = sparkline(&values, 0, ruler.used() as u16, (least, most), inner.glyphs());
    inner.text(LABEL, y, &line, Role::Dim);
    let played = head.map_or(0, |at| ruler.column(at) + ruler.each().max(1));
    inner.restyle(LABEL, y, played.min(ruler.used()) as u16, Role::Curve);
}

fn draw_letters(inner: &mut Canvas<'_>, y: u16, beats: &[Beat], ruler: Ruler, head: Option<usize>) {
    inner.text(0, y, "ev", Role::Dim);
    for column in 0..ruler.used() {
        let steps = ruler.steps_at(column);
        let is_future = head.is_some_and(|head| steps.start > head);
        let part = if ruler.each() > 0 { column % ruler.each() } else { 0 };
        let letter = letter(&beats[steps], part, ruler.each());
        let role = match letter {
            '!' => Role::Bad,
            _ if is_future => Role::Dim,
            'T' => Role::Thought,
            'A' => Role::Action,
            'O' => Role::Observation,
            _ => Role::Dim,
        };
        inner.text(LABEL + column as u16, y, letter.encode_utf8(&mut [0; 4]), role);
    }
    let end = LABEL + ruler.used() as u16;
    let legend = tr!("O see  T think  A act  ! error  ^ playhead  b breakpoint  m mark  C swap  B branch");
    if end + 3 + inner.measure(&legend) <= inner.width() {
        inner.text(end + 3, y, &legend, Role::Dim);
    }
}

/// Breakpoints, marks and swaps of the episode by their steps.
fn marked(scene: Scene<'_>, beats: &[Beat]) -> Vec<(usize, String)> {
    let (Some(first), Some(last)) = (beats.first(), beats.last()) else { return Vec::new() };
    let step_of = |seq: Seq| beats.partition_point(|b| b.first <= seq).saturating_sub(1);
    let range = first.first..=last.last;
    let marks = scene.view.marks.range(range.clone()).map(|seq| (step_of(*seq), "m".to_owned()));
    let swaps = scene.state.swaps.iter().filter(|swap| swap.from.is_some() && range.contains(&swap.seq));
    let mut marked: Vec<(usize, String)> = marks.chain(swaps.map(|swap| (step_of(swap.seq), "C".to_owned()))).collect();
    marked.extend(branched(scene, beats).map(|step| (step, "B".to_owned())));
    for stop in scene.desk.stops.breaks().filter(|s| s.at.is_none_or(|(lane, _)| lane == scene.view.lane)) {
        let tally = scene.desk.replay.tallies.get(&stop.quest());
        let hits: Vec<Seq> = tally.map_or_else(Vec::new, |t| t.hits_of(scene.view.lane, range.clone()).collect());
        let place = stop.at.map(|(_, at)| at).filter(|at| hits.is_empty() && range.contains(at));
        marked.extend(hits.into_iter().chain(place).map(|seq| (step_of(seq), format!("b{}", stop.number))));
    }
    marked
}

/// The steps at which branches left the episode.
fn branched(scene: Scene<'_>, beats: &[Beat]) -> impl Iterator<Item = usize> {
    let book = &scene.desk.replay.book;
    let here = scene.episode();
    let of_book = book.branches.iter().filter_map(|at| book.episodes.get(*at)?.branch.as_deref());
    let of_run = scene.state.branches.iter().filter(move |_| scene.playback.is_none()).map(|b| &b.started);
    let here = of_book.chain(of_run).filter(move |b| here == Some((b.parent_lane, b.parent)));
    here.filter_map(|b| beats.binary_search_by_key(&b.at_step, |beat| beat.step).ok())
}

fn draw_marks(inner: &mut Canvas<'_>, y: u16, scene: Scene<'_>, beats: &[Beat], ruler: Ruler, head: Option<usize>) {
    inner.text(0, y, "mk", Role::Dim);
    let used = ruler.used();
    let mut line: Vec<char> = std::iter::once('1').chain(std::iter::repeat('-')).take(used).collect();
    for (step, name) in marked(scene, beats) {
        let column = ruler.column(step);
        for (offset, c) in name.chars().enumerate() {
            if let Some(cell) = line.get_mut(column + offset).filter(|cell| offset == 0 || **cell == '-') {
                *cell = c;
            }
        }
    }
    let at = head.map(|head| ruler.column(head) + column_within(&beats[head], scene.state.seq, ruler.each()));
    if let Some(cell) = at.and_then(|at| line.get_mut(at)).filter(|cell| matches!(cell, '-' | '1')) {
        *cell = '^';
    }
    let text: String = line.iter().collect();
    inner.text(LABEL, y, &text, Role::Dim);
    for (column, c) in line.iter().enumerate().filter(|(_, c)| matches!(c, 'm' | 'b' | 'C' | 'B')) {
        inner.restyle(LABEL + column as u16, y, if *c == 'b' { 2 } else { 1 }, Role::Mark);
    }
    if let Some(at) = at {
        inner.restyle(LABEL + at as u16, y, 1, Role::Selected);
    }
}
