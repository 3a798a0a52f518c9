//! Pictures of the screen, from its cells: SVG, PNG made of that, plain text, and text with colours.

use super::pen::{PLAIN, Pen};
use super::theme::{Rgb, Theme};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
    Text,
    Ansi,
}

impl std::str::FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "txt" => Ok(Self::Text),
            "ans" => Ok(Self::Ansi),
            "" => Err(crate::ui::lang::tr!("a picture's name ends with .svg, .png, .txt or .ans")),
            _ => Err(crate::ui::lang::tr!("{text} is no picture; write svg, png, txt or ans", text = text)),
        }
    }
}

impl Format {
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Text => "txt",
            Self::Ansi => "ans",
        }
    }
}

/// Size of a cell in the SVG's units.
/// The width is DejaVu Sans Mono's own at 14 units, for renderers that pass over `textLength`.
const CELL: (f64, f64) = (8.43, 18.0);

/// The bytes of the file. A PNG needs a monospaced font of this machine; without one the error says so.
pub fn write(buffer: &Buffer, theme: &Theme, format: Format) -> Result<Vec<u8>, String> {
    match format {
        Format::Svg => Ok(svg(buffer, theme).into_bytes()),
        Format::Png => super::raster::png(&svg(buffer, theme)),
        Format::Text => Ok(text(buffer).into_bytes()),
        Format::Ansi => Ok(ansi(buffer)),
    }
}

fn text(buffer: &Buffer) -> String {
    rows(buffer).map(|row| format!("{}\n", row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end())).collect()
}

/// Rows of cells; the cell behind a wide symbol is left out.
fn rows(buffer: &Buffer) -> impl Iterator<Item = Vec<&Cell>> + '_ {
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
            row.push(cell);
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
        Some(Color::Indexed(index)) => of_256(index),
        Some(Color::Reset) | None => otherwise,
    };
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A colour of xterm's palette. Our own themes use nothing below 16.
fn of_256(index: u8) -> Rgb {
    let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match index {
        0..=15 => Rgb(0x9a, 0xa5, 0xb5),
        16..=231 => {
            let n = index - 16;
            Rgb(step(n / 36), step(n / 6 % 6), step(n % 6))
        }
        232..=255 => {
            let grey = 8 + 10 * (index - 232);
            Rgb(grey, grey, grey)
        }
    }
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
            let style = row[at].style();
            let (from, mut run) = (x, Vec::new());
            while at < row.len() && row[at].style() == style {
                run.push((x, row[at].symbol()));
                x += cells(row[at].symbol());
                at += 1;
            }
            span(&mut out, (from, x, y), &run, style, (text, background));
        }
    }
    out.push_str("</svg>\n");
    out
}

fn cells(symbol: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(symbol).max(1)
}

/// Whether the monospaced font itself has it, as wide as a letter. Anything else, such as braille, may come from another font.
fn keeps_columns(symbol: &str) -> bool {
    symbol.chars().all(|c| matches!(c, ' '..='~' | '\u{a0}'..='\u{24f}' | '\u{2500}'..='\u{259f}'))
}

/// Pieces of text with their column: one a cell where a font may not keep columns, and none of blanks alone.
fn pieces(run: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut pieces: Vec<(usize, String, bool)> = Vec::new();
    for (x, symbol) in run {
        let keeps = keeps_columns(symbol);
        match pieces.last_mut() {
            Some((_, text, true)) if keeps => text.push_str(symbol),
            Some(_) | None => pieces.push((*x, (*symbol).to_owned(), keeps)),
        }
    }
    pieces.retain(|(_, text, _)| !text.trim_matches([' ', '\u{2800}']).is_empty());
    pieces.into_iter().map(|(x, text, _)| (x, text)).collect()
}

/// One run of cells of the same style.
fn span(out: &mut String, (from, to, y): (usize, usize, usize), run: &[(usize, &str)], style: Style, (text, background): (Rgb, Rgb)) {
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
    let bold = if style.add_modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let baseline = y as f64 * CELL.1 + 13.5;
    for (at, text) in pieces(run) {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let (x, width) = (at as f64 * CELL.0, unicode_width::UnicodeWidthStr::width(text.as_str()) as f64 * CELL.0);
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{fg}\"{bold}>{escaped}</text>"
        );
    }
}

/// As the terminal was given it: as many colours as the screen has, and none where it has none.
fn ansi(buffer: &Buffer) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows(buffer) {
        let mut pen = Pen::default();
        for cell in row {
            pen.write(&mut out, cell);
        }
        out.extend_from_slice(PLAIN);
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::panes::testing::{screen, typical};
    use crate::ui::theme::{Caps, Tier};
    use crate::ui::view::View;
    use crate::ui::widgets::ChartGlyphs;

    fn picture(tier: Tier, format: Format) -> String {
        let caps = Caps { tier, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        let theme = Theme::load("dark", tier).unwrap();
        let bytes = write(&screen(&typical(), &View::default(), (120, 36), caps, &theme), &theme, format).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Column and text of each piece of an SVG.
    fn placed(svg: &str) -> Vec<(usize, usize, String)> {
        let number = |line: &str, name: &str| {
            let rest = &line[line.find(name).unwrap() + name.len()..];
            rest[..rest.find('"').unwrap()].parse::<f64>().unwrap()
        };
        let texts = svg.lines().filter(|l| l.starts_with("<text"));
        texts
            .map(|line| {
                let text = line[line.find('>').unwrap() + 1..line.rfind("</text>").unwrap()].replace("&lt;", "<").replace("&gt;", ">");
                let row = (number(line, " y=\"") / CELL.1) as usize;
                ((number(line, " x=\"") / CELL.0).round() as usize, row, text.replace("&amp;", "&"))
            })
            .collect()
    }

    #[test]
    fn every_cell_of_an_svg_stands_in_its_column() {
        for tier in [Tier::None, Tier::Truecolor] {
            let text = picture(tier, Format::Text);
            let rows: Vec<Vec<char>> = text.lines().map(|l| l.chars().collect()).collect();
            let pieces = placed(&picture(tier, Format::Svg));
            assert!(pieces.iter().any(|(_, _, t)| t.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c))), "no braille");
            let mut seen = 0;
            for (x, y, text) in pieces {
                let kept = keeps_columns(&text);
                assert!(kept || text.chars().count() == 1, "{text:?} is one piece");
                for (offset, c) in text.chars().enumerate().filter(|(_, c)| *c != ' ') {
                    assert_eq!(rows[y].get(x + offset), Some(&c), "row {y}, column {}", x + offset);
                    seen += 1;
                }
            }
            let drawn = rows.iter().flatten().filter(|c| !matches!(c, ' ' | '\u{2800}')).count();
            assert_eq!(seen, drawn);
        }
    }

    #[test]
    fn a_picture_has_the_colours_of_the_screen() {
        assert!(picture(Tier::Truecolor, Format::Ansi).contains("\x1b[38;2;"));
        let fewer = picture(Tier::Ansi256, Format::Ansi);
        assert!(fewer.contains("\x1b[38;5;") && !fewer.contains("38;2;"));
        let none = picture(Tier::None, Format::Ansi);
        assert!(!none.contains("[38") && !none.contains("[48") && none.contains("\x1b[1m"), "bold stays");
        assert!(picture(Tier::Ansi256, Format::Svg).matches("fill=").count() > 20);
        let colours = |svg: String| svg.split("fill=\"").skip(1).map(|s| s[..7].to_owned()).collect::<std::collections::BTreeSet<_>>();
        assert!(colours(picture(Tier::Ansi256, Format::Svg)).len() > 5);
        assert!(colours(picture(Tier::None, Format::Svg)).len() <= 3);
    }
}
