//! One row of history, and one row of a share.

use super::chart::recent_start;
use super::{Glyphs, text};

const BLOCKS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII: [&str; 8] = ["_", ".", ",", "-", "=", "+", "*", "#"];

/// The newest values, one a column, in at most `columns`. `first` is the index of `values[0]` since the beginning, so
/// that a full window shifts by half and not by one. What is not finite leaves a gap.
///
/// `range` is the lowest and highest value that the rows of a column stand for.
pub fn sparkline(values: &[f64], first: u64, columns: u16, range: (f64, f64), glyphs: Glyphs) -> String {
    let levels = if glyphs.plain() { ASCII } else { BLOCKS };
    let start = recent_start(first, values.len() as u64, u64::from(columns));
    let shown = values.get((start - first) as usize..).unwrap_or_default();
    let span = range.1 - range.0;
    shown
        .iter()
        .take(columns as usize)
        .map(|v| {
            if !v.is_finite() {
                return " ";
            }
            let share = if span > 0.0 { ((v - range.0) / span).clamp(0.0, 1.0) } else { 0.5 };
            levels[((share * 8.0) as usize).min(7)]
        })
        .collect()
}

/// A bar of `columns` cells, filled to `ratio` of [0, 1].
pub fn gauge(ratio: f64, columns: u16, glyphs: Glyphs) -> String {
    let (full, rest) = if glyphs.plain() { ("=", "-") } else { ("█", "░") };
    let columns = columns as usize;
    let share = if ratio.is_finite() { ratio.clamp(0.0, 1.0) } else { 0.0 };
    let filled = (share * columns as f64).round() as usize;
    let bar = full.repeat(filled) + &rest.repeat(columns - filled);
    debug_assert!(text::width(&bar, glyphs.ambiguous) == columns);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_a_gap_and_the_window_shifts_by_half() {
        let glyphs = Glyphs::default();
        assert_eq!(sparkline(&[0.0, f64::NAN, 1.0], 0, 9, (0.0, 1.0), glyphs), "▁ █");
        let values: Vec<f64> = (0..9).map(f64::from).collect();
        assert_eq!(sparkline(&values, 0, 8, (0.0, 8.0), glyphs), "▅▆▇██");
        assert_eq!(gauge(0.5, 4, glyphs), "██░░");
        assert_eq!(gauge(f64::NAN, 2, Glyphs { ascii: true, ..glyphs }), "--");
    }
}
