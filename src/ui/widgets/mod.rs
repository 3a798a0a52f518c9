//! What panes are made of: the canvas, text by grapheme, numbers for people, charts.

mod canvas;
mod chart;
pub mod format;
pub mod json;
mod sparkline;
#[cfg(test)]
pub mod testing;
pub mod text;

pub use canvas::{Canvas, ChartGlyphs, Glyphs, Paint, Role};
pub use chart::{Chart, Drawn, Extent, Line, Mark as ChartMark, Point, Range, Scale, Window, columns_of, role as curve_role};
pub use sparkline::{gauge, sparkline};
pub use text::Ambiguous;
