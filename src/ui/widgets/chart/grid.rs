//! Dots, gathered into cells.

use crate::ui::widgets::{Canvas, ChartGlyphs, Role};

/// Dots across and down in one cell.
pub fn resolution(kind: ChartGlyphs) -> (usize, usize) {
    match kind {
        ChartGlyphs::Braille => (2, 4),
        ChartGlyphs::Block => (1, 2),
        ChartGlyphs::Ascii => (1, 1),
    }
}

/// One byte of dots a cell, and the line that was there last.
pub struct Grid {
    width: usize,
    dots_x: usize,
    dots_y: usize,
    cells: Vec<(u8, u8)>,
}

impl Grid {
    pub fn new(width: usize, height: usize, kind: ChartGlyphs) -> Self {
        let (dots_x, dots_y) = resolution(kind);
        Self { width, dots_x, dots_y, cells: vec![(0, 0); width * height] }
    }

    pub fn set(&mut self, x: usize, y: usize, line: u8) {
        let bit = (y % self.dots_y) * self.dots_x + x % self.dots_x;
        if let Some(cell) = self.cells.get_mut(y / self.dots_y * self.width + x / self.dots_x) {
            *cell = (cell.0 | 1 << bit, line);
        }
    }

    pub fn draw(&self, plot: &mut Canvas<'_>, kind: ChartGlyphs) {
        for (index, (dots, line)) in self.cells.iter().enumerate().filter(|(_, cell)| cell.0 != 0) {
            let mut utf8 = [0; 4];
            let symbol: &str = match kind {
                ChartGlyphs::Braille => braille(*dots).encode_utf8(&mut utf8),
                ChartGlyphs::Block => ["▀", "▄", "█"][usize::from(*dots - 1).min(2)],
                // The only ones that can differ by their shape.
                ChartGlyphs::Ascii => ["*", "+", "x"][usize::from(*line).min(2)],
            };
            plot.text((index % self.width) as u16, (index / self.width) as u16, symbol, role(*line));
        }
    }
}

/// The colour of a line, by its place among the lines of a chart.
pub fn role(line: u8) -> Role {
    match line {
        0 => Role::Curve,
        1 => Role::CurveSecond,
        2.. => Role::CurveThird,
    }
}

/// The Braille pattern of eight dots given row by row (two a row); Unicode counts them 1-2-3-7 / 4-5-6-8 down the columns.
fn braille(dots: u8) -> char {
    const ORDER: [u32; 8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80];
    let bits = (0..8).filter(|bit| dots >> bit & 1 == 1).fold(0, |sum, bit| sum | ORDER[bit]);
    char::from_u32(0x2800 + bits).unwrap_or(' ')
}
