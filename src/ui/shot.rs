//! Pictures of the screen, from its cells: SVG, plain text, and text with colours.

use super::theme::{Rgb, Theme};
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Svg,
    Text,
    Ansi,
}

impl std::str::FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "svg" => Ok(Self::Svg),
            "txt" => Ok(Self::Text),
            "ans" => Ok(Self::Ansi),
            _ => Err(format!("{text} is no picture; write svg, txt or ans")),
        }
    }
}

impl Format {
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Text => "txt",
            Self::Ansi => "ans",
        }
    }
}

/// Size of a cell in the SVG's units.
const CELL: (f64, f64) = (8.4, 18.0);

pub fn write(buffer: &Buffer, theme: &Theme, format: Format) -> String {
    match format {
        Format::Svg => svg(buffer, theme),
        Format::Text => {
            rows(buffer).map(|row| format!("{}\n", row.iter().map(|(t, _)| t.as_str()).collect::<String>().trim_end())).collect()
        }
        Format::Ansi => ansi(buffer),
    }
}

/// Rows of (symbol, style); the cell behind a wide symbol is left out.
fn rows(buffer: &Buffer) -> impl Iterator<Item = Vec<(String, Style)>> + '_ {
    let area = buffer.area;
    (area.top()..area.bottom()).map(move |y| {
        let mut row = Vec::new();
        let mut skip = 0;
        for x in area.left()..area.right() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let cell = &buffer[(x, y)];
            skip = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
            row.push((cell.symbol().to_owned(), cell.style()));
        }
        row
    })
}

fn hex(color: Option<Color>, otherwise: Rgb) -> String {
    let Rgb(r, g, b) = match color {
        Some(Color::Rgb(r, g, b)) => Rgb(r, g, b),
        Some(Color::Red | Color::LightRed) => Rgb(0xf0, 0x7a, 0x82),
        Some(Color::Green | Color::LightGreen) => Rgb(0x98, 0xc3, 0x79),
        Some(Color::Yellow | Color::LightYellow) => Rgb(0xe5, 0xc0, 0x7b),
        Some(Color::Blue | Color::LightBlue) => Rgb(0x61, 0xaf, 0xef),
        Some(Color::Magenta | Color::LightMagenta) => Rgb(0xc6, 0x78, 0xdd),
        Some(Color::Cyan | Color::LightCyan) => Rgb(0x56, 0xb6, 0xc2),
        Some(Color::Black) => Rgb(0, 0, 0),
        Some(Color::DarkGray) => Rgb(0x5c, 0x63, 0x70),
        Some(Color::Gray) => Rgb(0x9a, 0xa5, 0xb5),
        Some(Color::White) => Rgb(0xff, 0xff, 0xff),
        Some(Color::Reset | Color::Indexed(_)) | None => otherwise,
    };
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn svg(buffer: &Buffer, theme: &Theme) -> String {
    let (w, h) = (f64::from(buffer.area.width) * CELL.0, f64::from(buffer.area.height) * CELL.1);
    let background = theme.background.unwrap_or(Rgb(0x1b, 0x1e, 0x24));
    let Rgb(r, g, b) = background;
    let luminous = u32::from(r) + u32::from(g) + u32::from(b) > 384;
    let text = if luminous { Rgb(0x24, 0x29, 0x2f) } else { Rgb(0xd5, 0xd9, 0xe0) };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.1} {h:.1}\" font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" xml:space=\"preserve\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        hex(None, background)
    );
    for (y, row) in rows(buffer).enumerate() {
        let mut x = 0usize;
        let mut at = 0;
        while at < row.len() {
            let style = row[at].1;
            let (from, mut run) = (x, String::new());
            while at < row.len() && row[at].1 == style {
                run.push_str(&row[at].0);
                x += unicode_width::UnicodeWidthStr::width(row[at].0.as_str()).max(1);
                at += 1;
            }
            span(&mut out, (from, x, y), &run, style, (text, background));
        }
    }
    out.push_str("</svg>\n");
    out
}

/// One run of cells of the same style.
fn span(out: &mut String, (from, to, y): (usize, usize, usize), run: &str, style: Style, (text, background): (Rgb, Rgb)) {
    let reversed = style.add_modifier.contains(Modifier::REVERSED);
    let (mut fg, mut bg) = (hex(style.fg, text), hex(style.bg, background));
    if reversed {
        std::mem::swap(&mut fg, &mut bg);
    }
    let (x, width) = (from as f64 * CELL.0, (to - from) as f64 * CELL.0);
    if bg != hex(None, background) {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{bg}\"/>",
            y as f64 * CELL.1,
            CELL.1
        );
    }
    if run.trim().is_empty() {
        return;
    }
    let bold = if style.add_modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let escaped = run.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let baseline = y as f64 * CELL.1 + 13.5;
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{fg}\"{bold}>{escaped}</text>"
    );
}

fn ansi(buffer: &Buffer) -> String {
    let mut out = String::new();
    for row in rows(buffer) {
        let mut last = None;
        for (symbol, style) in row {
            if last != Some(style) {
                out.push_str("\x1b[0m");
                if style.add_modifier.contains(Modifier::BOLD) {
                    out.push_str("\x1b[1m");
                }
                if style.add_modifier.contains(Modifier::REVERSED) {
                    out.push_str("\x1b[7m");
                }
                if let Some(Color::Rgb(r, g, b)) = style.fg {
                    let _ = write!(out, "\x1b[38;2;{r};{g};{b}m");
                }
                last = Some(style);
            }
            out.push_str(&symbol);
        }
        out.push_str("\x1b[0m\n");
    }
    out
}
