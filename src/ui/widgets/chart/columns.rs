//! What each column of dots stands for.

use super::{Point, Scale};

/// Lowest, highest and newest value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub low: f64,
    pub high: f64,
    pub last: f64,
    /// The curve does not lead here from the column before.
    pub gap: bool,
}

/// The columns of the window. Values that stand apart are joined by straight lines, also to the ones beyond the window's edges.
pub fn columns(points: &[Point], scale: Scale) -> Vec<Option<Column>> {
    let mut out: Vec<Option<Column>> = vec![None; scale.columns as usize];
    let mut previous: Option<(i64, f64)> = None;
    for point in points {
        let (first, last) = (scale.column(point.x_first), scale.column(point.x_last));
        if let Some(before) = previous.filter(|_| !point.gap) {
            join(&mut out, before, (first, before.1.clamp(point.low, point.high)));
        }
        previous = Some((last, point.last));
        if last < 0 {
            continue;
        }
        if first >= scale.columns as i64 {
            break;
        }
        let inside = first.max(0) as usize..=(last as usize).min(out.len() - 1);
        for slot in &mut out[inside] {
            let (low, high) = slot.map_or((point.low, point.high), |c| (c.low.min(point.low), c.high.max(point.high)));
            *slot = Some(Column { low, high, last: point.last, gap: slot.map_or(point.gap, |c| c.gap) });
        }
    }
    out
}

/// Fills the columns between two that have values.
fn join(out: &mut [Option<Column>], (from, a): (i64, f64), (to, b): (i64, f64)) {
    let end = to.min(out.len() as i64);
    for x in (from + 1).max(0)..end {
        let share = (x - from) as f64 / (to - from) as f64;
        let value = a * (1.0 - share) + b * share;
        out[x as usize] = Some(Column { low: value, high: value, last: value, gap: false });
    }
}
