//! Evaluations, the newest first, each with the interval that its success lies in.

use crate::event::EvaluationCompleted;
use crate::state::DashState;
use crate::ui::lang::tr;
use crate::ui::panes::lines::more;
use crate::ui::panes::{Pane, notice};
use crate::ui::widgets::{Canvas, Role, format};

/// Rows that there are.
pub fn rows(state: &DashState) -> usize {
    // The heading is one.
    state.evaluations.len() + 1
}

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let evaluations = &pane.ctx.state.evaluations;
    let badge = if evaluations.is_empty() { String::new() } else { format::count(evaluations.total()) };
    let up = pane.scroll().up;
    let mut inner = pane.open(canvas, &badge);
    if evaluations.is_empty() {
        notice(&mut inner, &tr!("no evaluation in this run; gc evaluates checkpoints"));
        return;
    }
    let columns = Columns::of(inner.width());
    let [agent, level, n, success, mean] = [tr!("agent"), tr!("level"), "n".to_owned(), tr!("success  95% interval"), tr!("return")];
    columns.draw(&mut inner, 0, [&agent, &level, &n, &success, &mean], Role::Dim);
    let height = inner.height();
    for (y, evaluation) in (1..height).zip(evaluations.iter().rev().skip(up)) {
        let [n, mean] = [format::count(u64::from(evaluation.episodes)), format::number(evaluation.return_mean)];
        let level = evaluation.level.to_string();
        columns.draw(&mut inner, y, [&evaluation.agent, &level, &n, &success_text(evaluation), &mean], Role::Text);
    }
    more(&mut inner, rows(pane.ctx.state).saturating_sub(up + usize::from(height)));
}

/// `87.2%  [82.1%, 91.0%]`
fn success_text(e: &EvaluationCompleted) -> String {
    format!("{}  [{}, {}]", format::percent(e.success_ratio), format::percent(e.success_low), format::percent(e.success_high))
}

/// Where the columns begin; the name has what the numbers leave.
struct Columns {
    agent_end: u16,
    with_level: bool,
}

const LEVEL: u16 = 7;
const COUNT: u16 = 6;
const SUCCESS: u16 = 24;
const RETURN: u16 = 7;

impl Columns {
    fn of(width: u16) -> Self {
        let with_level = width >= 16 + LEVEL + COUNT + SUCCESS + RETURN;
        let numbers = COUNT + SUCCESS + RETURN + if with_level { LEVEL } else { 0 };
        // Where there is no room for all, the name keeps a few cells and the last columns are cut.
        Self { agent_end: width.saturating_sub(numbers).max(12).min(width), with_level }
    }

    fn draw(&self, canvas: &mut Canvas<'_>, y: u16, [agent, level, n, success, mean]: [&str; 5], role: Role) {
        let mut x = self.agent_end;
        canvas.text_upto(0, x.saturating_sub(1), y, agent, role);
        let levels = (self.with_level).then_some((level, LEVEL));
        for (text, cells) in levels.into_iter().chain([(n, COUNT), (success, SUCCESS), (mean, RETURN)]) {
            canvas.text_upto(x, x.saturating_add(cells - 1), y, text, role);
            x = x.saturating_add(cells);
        }
    }
}
