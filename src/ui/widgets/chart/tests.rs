use super::*;
use crate::ui::widgets::testing::{Plain, rows};
use crate::ui::widgets::{Glyphs, format};
use proptest::prelude::*;
use ratatui::buffer::Buffer;

const KINDS: [ChartGlyphs; 3] = [ChartGlyphs::Braille, ChartGlyphs::Block, ChartGlyphs::Ascii];

fn line(values: &[f64], letter: char) -> Line {
    let mut gap = false;
    let mut points = Vec::new();
    for (x, value) in (0..).zip(values) {
        if value.is_finite() {
            points.push(Point { x_first: x, x_last: x, low: *value, high: *value, last: *value, gap });
        }
        gap = !value.is_finite();
    }
    Line { points, letter, range: None, label: format::number }
}

/// A chart of `lines` on a screen of that size, and what it was drawn with.
struct Shot {
    window: Window,
    kind: ChartGlyphs,
    marks: Vec<Mark>,
    cursor: Option<u64>,
}

impl Default for Shot {
    fn default() -> Self {
        Self { window: Window::default(), kind: ChartGlyphs::Braille, marks: Vec::new(), cursor: None }
    }
}

impl Shot {
    fn of(&self, lines: &[Line], width: u16, height: u16) -> (Vec<String>, Drawn, Scale) {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let glyphs = Glyphs { chart: self.kind, ..Glyphs::default() };
        let columns = columns_of(width, glyphs.curve());
        let last = lines.iter().filter_map(|l| l.points.last()).map(|p| p.x_last).max().unwrap_or(0);
        let extent = Extent { first: 0, last, recent: last.saturating_sub(columns.saturating_sub(1)) };
        let scale = Scale::new(extent, self.window, columns);
        let x_label = |x: u64| x.to_string();
        let chart = Chart { lines, scale, first: 0, marks: &self.marks, cursor: self.cursor, x_label: &x_label, unit: "ep" };
        let drawn = chart.draw(&mut Canvas::new(&mut buffer, area, &Plain, glyphs));
        (rows(&buffer), drawn, scale)
    }
}

fn plot(row: &str) -> String {
    row.chars().skip(8).collect()
}

#[test]
fn a_spike_among_a_hundred_thousand_is_seen() {
    let mut values = vec![0.0; 100_000];
    values[54_321] = 100.0;
    let lines = [line(&values, 'a'), line(&values, 'b')];
    for kind in KINDS {
        let (screen, _, scale) = Shot { kind, ..Shot::default() }.of(&lines[..1], 60, 10);
        assert!(scale.bucket() > 1);
        assert!(!plot(&screen[0]).trim().is_empty(), "{kind:?}: {screen:#?}");
        // Dashes hide none either.
        let (screen, ..) = Shot { kind, ..Shot::default() }.of(&[line(&[100.0, 0.0], 'a'), lines[1].clone()], 60, 10);
        assert!(plot(&screen[0]).trim().chars().count() >= 2, "{kind:?}: {screen:#?}");
    }
}

#[test]
fn a_missing_value_is_a_gap() {
    let lines = [line(&[1.0, f64::NAN, 2.0, f64::INFINITY], 'a')];
    let (screen, ..) = Shot { kind: ChartGlyphs::Ascii, ..Shot::default() }.of(&lines, 20, 5);
    assert_eq!(screen.concat().matches('o').count(), 2, "{screen:#?}");
}

#[test]
fn values_that_stand_apart_are_joined_also_to_what_is_out_of_view() {
    let points = [(0, 0.0), (1000, 10.0), (2000, 0.0)].map(|(x, v)| Point { x_first: x, x_last: x, low: v, high: v, last: v, gap: false });
    let lines = [Line { points: points.to_vec(), ..line(&[], 'a') }];
    for (left, wanted) in [(None, true), (Some(300), true), (Some(1100), true)] {
        let window = Window { range: Range::Whole, zoom: if left.is_some() { 2 } else { 0 }, left };
        let (screen, _, scale) = Shot { window, kind: ChartGlyphs::Ascii, ..Shot::default() }.of(&lines, 60, 12);
        let joined = (0..scale.columns as usize).all(|x| {
            let column: String = screen[..11].iter().map(|row| row.chars().nth(8 + x).unwrap()).collect();
            column.contains(['*', 'o']) || scale.x(x as u64) > 2000
        });
        assert_eq!(joined, wanted, "{left:?}: {screen:#?}");
    }
}

#[test]
fn a_live_curve_only_appends_until_its_window_shifts() {
    let values: Vec<f64> = (0..400).map(|i| f64::from(i % 7)).collect();
    let windows = [
        (Window { range: Range::Recent, ..Window::default() }, 20),
        (Window::default(), 20),
        (Window { zoom: 2, ..Window::default() }, 20),
        // A value takes four columns, and a window has a quarter of the values.
        (Window { range: Range::Recent, zoom: 2, left: None }, 4 * 20),
    ];
    for (window, cells_max) in windows {
        let mut changed = 0;
        for n in 200..400 {
            let shot = Shot { window, ..Shot::default() };
            let (a, ..) = shot.of(&[line(&values[..n], 'a')], 40, 8);
            let (b, ..) = shot.of(&[line(&values[..n + 1], 'a')], 40, 8);
            changed += a.concat().chars().zip(b.concat().chars()).filter(|(x, y)| x != y).count();
        }
        assert!(changed / 200 < cells_max, "{} cells a frame, {window:?}", changed / 200);
    }
}

#[test]
fn what_was_panned_to_stands_still() {
    let values: Vec<f64> = (0..900).map(|i| f64::from(i % 13)).collect();
    let shot = Shot { window: Window { range: Range::Recent, zoom: 0, left: Some(100) }, ..Shot::default() };
    let (before, _, scale) = shot.of(&[line(&values[..500], 'a')], 60, 8);
    assert_eq!(scale.start, 100);
    assert_eq!(shot.of(&[line(&values, 'a')], 60, 8).0, before);
}

#[test]
fn marks_are_told_apart_by_their_letters() {
    let values: Vec<f64> = (0..80).map(f64::from).collect();
    let mark = |x, letter| Mark { x, letter };
    let marks = vec![mark(0, 'P'), mark(20, 'C'), mark(40, 'A'), mark(40, 'A'), mark(60, 'P'), mark(60, 'C'), mark(79, 'P')];
    for kind in KINDS {
        let shot = Shot { marks: marks.clone(), kind, cursor: Some(50), ..Shot::default() };
        let (screen, ..) = shot.of(&[line(&values, 'a')], 100, 10);
        let letters: String = screen[9].chars().filter(|c| "PCA+^".contains(*c)).collect();
        // Where a swap and a pause share a column, the swap is named.
        assert_eq!(letters, "PCA^CP", "{screen:#?}");
        // The labels moved aside.
        assert!(screen[9].contains('0') && screen[9].contains("79 ep"), "{screen:#?}");
        let bar = screen[9].chars().position(|c| c == 'C').unwrap();
        assert!(matches!(screen[0].chars().nth(bar), Some('┊')), "{screen:#?}");
    }
}

#[test]
fn curves_are_told_apart_without_colour() {
    let flat = |value: f64, letter| line(&vec![value; 60], letter);
    let lines = [flat(1.0, 'a'), flat(2.0, 'b'), flat(3.0, 'c')];
    for kind in KINDS {
        let (screen, drawn, _) = Shot { kind, ..Shot::default() }.of(&lines, 100, 16);
        assert!(!drawn.own_axes);
        let strokes: Vec<String> = ['a', 'b', 'c']
            .iter()
            .map(|letter| {
                let row = screen.iter().find(|row| plot(row).contains(*letter)).unwrap_or_else(|| panic!("{letter}: {screen:#?}"));
                plot(row).chars().take_while(|c| c != letter).collect()
            })
            .collect();
        assert!(strokes[0] != strokes[1] && strokes[1] != strokes[2] && strokes[0] != strokes[2], "{kind:?} {strokes:#?}");
    }
}

#[test]
fn values_that_are_far_apart_have_an_axis_each() {
    let small: Vec<f64> = (0..60).map(|i| f64::from(i) / 1e6).collect();
    let large: Vec<f64> = (0..60).map(|i| f64::from(i) * 10.0).collect();
    let (screen, drawn, _) = Shot::default().of(&[line(&large, 'a'), line(&small, 'b')], 80, 12);
    assert!(drawn.own_axes && drawn.ranges[1].unwrap().1 < 1e-3, "{drawn:?}");
    assert!(screen[0].contains("600"), "{screen:#?}");
}

#[test]
fn a_value_that_stays_is_in_the_middle_and_the_axis_is_round() {
    assert_eq!(round_range(13.0, 87.0), (10.0, 90.0));
    assert_eq!(round_range(0.0, 9.7), (0.0, 10.0));
    let (low, high) = round_range(5.0, 5.0);
    assert!(low < 5.0 && high > 5.0 && (high - 5.0 - (5.0 - low)).abs() < 1e-9);
}

proptest! {
    #[test]
    fn every_size_and_every_scale_draws(
        values in prop::collection::vec(prop_oneof![4 => any::<f64>(), 2 => -1.0..1.0f64], 0..300),
        recent in any::<bool>(), zoom in any::<i8>(), left in any::<Option<u8>>(), cursor in any::<Option<u8>>(),
        (width, height) in (0..260u16, 0..90u16), kind in 0..3usize
    ) {
        let range = if recent { Range::Recent } else { Range::Whole };
        let window = Window { range, zoom, left: left.map(u64::from) };
        let marks = vec![Mark { x: 3, letter: 'P' }, Mark { x: u64::MAX, letter: 'A' }];
        let shot = Shot { window, kind: KINDS[kind], marks, cursor: cursor.map(u64::from) };
        shot.of(&[line(&values, 'a'), line(&values[..values.len() / 2], 'b')], width, height);
    }
}
