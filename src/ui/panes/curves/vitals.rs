//! Vital signs of training: each figure of the newest update, whether it is as it usually is, and where it goes.
//!
//! The rules of thumb, for policy gradients with clipping (PPO):
//! - approximate KL stays below 0.02 (Huang et al. 2022, "The 37 implementation details of PPO", on debugging); OpenAI's Spinning Up stops
//!   an update at one and a half times a target of 0.01.
//! - explained variance is near 1 where the critic is good; at 0 it is no better than a constant, below 0 worse (Schulman 2016, "The nuts
//!   and bolts of deep RL research").
//! - the share of clipped ratios is mostly between 0.1 and 0.3 with a clip range of 0.2; none at all says that updates move little. That
//!   is practice, not theory.
//! - entropy falls slowly; where it collapses, exploring ends early (Schulman 2016).
//! - the gradient's norm is steady: a jump to many times its median is what clipping it is for (Pascanu et al. 2013, section 3.2).
//!
//! Losses and learning rates have no rule: what is usual hangs on the algorithm.

use super::figure::Figure;
use super::untrained;
use crate::state::DashState;
use crate::ui::lang::tr;
use crate::ui::panes::lines::more;
use crate::ui::panes::{Pane, notice};
use crate::ui::widgets::{Canvas, Role, format, sparkline};

/// Updates that a trend is over.
const TREND: usize = 20;

/// How a figure compares with what is usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    Near,
    Bad,
    /// There is no rule for it.
    Unruled,
}

impl Verdict {
    fn word(self) -> String {
        match self {
            Verdict::Ok => tr!("ok"),
            Verdict::Near => tr!("near"),
            Verdict::Bad => tr!("BAD"),
            Verdict::Unruled => "-".to_owned(),
        }
    }

    fn role(self) -> Role {
        match self {
            Verdict::Ok => Role::Good,
            Verdict::Near => Role::Warn,
            Verdict::Bad => Role::Bad,
            Verdict::Unruled => Role::Dim,
        }
    }
}

/// What is usual, in words.
fn usual(figure: Figure) -> String {
    match figure {
        Figure::Kl => tr!("below .02"),
        Figure::ClipFraction => tr!(".1 to .3"),
        Figure::ExplainedVariance => tr!("near 1; 0 or less is no critic"),
        Figure::Entropy => tr!("falls slowly"),
        Figure::GradNorm => tr!("steady"),
        Figure::PolicyLoss | Figure::ValueLoss => tr!("no rule; finite"),
        Figure::Return
        | Figure::StepReward
        | Figure::Success
        | Figure::Hybrid
        | Figure::Length
        | Figure::LearningRate
        | Figure::Tokens
        | Figure::Duration => String::new(),
    }
}

/// Judges the newest of `values` by the ones before it.
pub fn verdict(figure: Figure, values: &[f64]) -> Verdict {
    let Some(newest) = values.last().copied() else { return Verdict::Unruled };
    if !newest.is_finite() {
        return Verdict::Bad;
    }
    let by = |ok: bool, near: bool| match (ok, near) {
        (true, _) => Verdict::Ok,
        (false, true) => Verdict::Near,
        (false, false) => Verdict::Bad,
    };
    match figure {
        Figure::Kl => by(newest.abs() < 0.02, newest.abs() < 0.04),
        Figure::ClipFraction => by((0.1..=0.3).contains(&newest), newest <= 0.4),
        Figure::ExplainedVariance => by(newest >= 0.5, newest > 0.0),
        Figure::Entropy => {
            let (older, newer) = halves(values);
            let fallen = older.zip(newer).map_or(0.0, |(older, newer)| (older - newer) / older.abs().max(f64::MIN_POSITIVE));
            by((-0.05..0.3).contains(&fallen), fallen < 0.6)
        }
        Figure::GradNorm => {
            let usual = median(values);
            by(newest <= 3.0 * usual, newest <= 10.0 * usual)
        }
        Figure::Return
        | Figure::StepReward
        | Figure::Success
        | Figure::Hybrid
        | Figure::Length
        | Figure::PolicyLoss
        | Figure::ValueLoss
        | Figure::LearningRate
        | Figure::Tokens
        | Figure::Duration => Verdict::Unruled,
    }
}

/// Means of the older and of the newer half; unset where a half has no finite value.
fn halves(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let (older, newer) = values.split_at(values.len() / 2);
    let mean = |half: &[f64]| {
        let finite: Vec<f64> = half.iter().copied().filter(|v| v.is_finite()).collect();
        (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64)
    };
    (mean(older), mean(newer))
}

fn median(values: &[f64]) -> f64 {
    let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    finite.get(finite.len() / 2).copied().unwrap_or(0.0)
}

/// Where the values go: the newer half against the older one, as a share of all that they span.
pub fn trend(values: &[f64]) -> Option<String> {
    let (Some(older), Some(newer)) = halves(values) else { return None };
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    // Noise has halves that differ by less than that.
    let enough = (high - low) * 0.25;
    let small = older.abs().max(newer.abs()) * 0.01;
    Some(match newer - older {
        moved if moved.abs() <= enough.max(small) => tr!("steady"),
        moved if moved > 0.0 => tr!("rising"),
        _ => tr!("falling"),
    })
}

/// Rows that there are.
pub fn rows(state: &DashState) -> usize {
    // The heading is one.
    if state.updates.is_empty() { 0 } else { Figure::TRAINING.len() + 1 }
}

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let state = pane.ctx.state;
    let newest = state.updates.last();
    let badge = newest.map_or_else(String::new, |u| tr!("update {n}", n = u.update));
    let up = pane.scroll().up;
    let mut inner = pane.open(canvas, &badge);
    if newest.is_none() {
        notice(&mut inner, &untrained(pane.ctx));
        return;
    }
    let heading = Cells { name: tr!("figure"), value: tr!("newest"), verdict: String::new(), trend: tr!("last 20"), usual: tr!("usual") };
    heading.draw(&mut inner, 0, (Role::Dim, Role::Dim), None);
    let height = inner.height();
    // What there is stands above what this training lacks.
    let (there, absent): (Vec<Figure>, Vec<Figure>) = Figure::TRAINING.iter().partition(|f| f.has_values(state, None));
    for (y, figure) in (1..height).zip(there.into_iter().chain(absent).skip(up)) {
        draw_figure(&mut inner, y, state, figure);
    }
    more(&mut inner, rows(state).saturating_sub(up + usize::from(height)));
}

fn draw_figure(canvas: &mut Canvas<'_>, y: u16, state: &DashState, figure: Figure) {
    let all = figure.recent(state);
    let values = &all[all.len().saturating_sub(TREND)..];
    let Some(newest) = values.last() else {
        // The reason has the room of the columns that have nothing to say.
        let width = canvas.width();
        let name = name_cells(width);
        canvas.text_upto(0, name - u16::from(name > 1), y, &figure.title(), Role::Dim);
        canvas.text_upto(name, width, y, &figure.missing(state), Role::Dim);
        return;
    };
    let verdict = verdict(figure, values);
    let cells = Cells {
        name: figure.title(),
        value: figure.value(*newest),
        verdict: verdict.word(),
        trend: trend(values).unwrap_or_else(|| format::UNSET.to_owned()),
        usual: usual(figure),
    };
    cells.draw(canvas, y, (Role::Text, verdict.role()), Some(values));
}

struct Cells {
    name: String,
    value: String,
    verdict: String,
    trend: String,
    usual: String,
}

const NAME: u16 = 19;
const VALUE: u16 = 9;
const VERDICT: u16 = 6;
const WORD: u16 = 9;
/// A shorter trend says little.
const SPARKS_MIN: u16 = 8;
const SPARKS_ALONE_MIN: u16 = 10;

/// A phone has shorter names.
fn name_cells(width: u16) -> u16 {
    if width < NAME + VALUE + VERDICT + WORD { NAME.min(width / 3 + 1) } else { NAME }
}

impl Cells {
    /// From left to right by how much they matter; what is beyond the edge is left out. The values of the trend stand behind its word
    /// where there is room for what is usual too.
    fn draw(&self, canvas: &mut Canvas<'_>, y: u16, (text, verdict): (Role, Role), values: Option<&[f64]>) {
        let width = canvas.width();
        let name = name_cells(width);
        canvas.text_upto(0, name - u16::from(name > 1), y, &self.name, text);
        let mut x = name;
        for (cell, cells, role) in [(&self.value, VALUE, text), (&self.verdict, VERDICT, verdict)] {
            canvas.text_upto(x, x + cells - 1, y, cell, role);
            x += cells;
        }
        // A trend that is seen needs no word where there is room for one of them alone.
        let is_seen = width >= x + SPARKS_ALONE_MIN && width < x + WORD + SPARKS_MIN;
        if !is_seen || values.is_none() {
            canvas.text_upto(x, x + WORD - 1, y, &self.trend, text);
        }
        x += if is_seen { 0 } else { WORD };
        // The trend matters more than what is usual, which the verdict says in a word.
        let sparks = (TREND as u16).min(width.saturating_sub(x));
        if sparks >= SPARKS_MIN {
            if let Some(values) = values {
                let values = &values[values.len().saturating_sub(usize::from(sparks))..];
                let finite = values.iter().copied().filter(|v| v.is_finite());
                let range = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
                let line = sparkline(values, 0, sparks, range, canvas.glyphs());
                canvas.text(x, y, &line, Role::Curve);
            }
            x += sparks + 1;
        }
        if width >= x + 12 {
            canvas.text_upto(x, width, y, &self.usual, Role::Dim);
        }
    }
}
