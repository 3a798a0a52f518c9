//! The colours of terminals that have few of them, as xterm shows them.

use super::Rgb;
use ratatui::style::Color;

/// Contrast that text needs to be read: AA of WCAG 2.
const READABLE: f64 = 4.5;

const BASIC: [(Color, Rgb); 16] = [
    (Color::Black, Rgb(0, 0, 0)),
    (Color::Red, Rgb(205, 0, 0)),
    (Color::Green, Rgb(0, 205, 0)),
    (Color::Yellow, Rgb(205, 205, 0)),
    (Color::Blue, Rgb(0, 0, 238)),
    (Color::Magenta, Rgb(205, 0, 205)),
    (Color::Cyan, Rgb(0, 205, 205)),
    (Color::Gray, Rgb(229, 229, 229)),
    (Color::DarkGray, Rgb(127, 127, 127)),
    (Color::LightRed, Rgb(255, 0, 0)),
    (Color::LightGreen, Rgb(0, 255, 0)),
    (Color::LightYellow, Rgb(255, 255, 0)),
    (Color::LightBlue, Rgb(92, 92, 255)),
    (Color::LightMagenta, Rgb(255, 0, 255)),
    (Color::LightCyan, Rgb(0, 255, 255)),
    (Color::White, Rgb(255, 255, 255)),
];

/// The nearest of the 16. A background is black or white, and what stands on it can be read there; without one the terminal's own text is
/// the brightest.
pub fn nearest(rgb: Rgb, on: Option<Rgb>) -> Color {
    let Some(background) = on else { return by_hue(rgb) };
    let ground = if is_light(background) { Rgb(255, 255, 255) } else { Rgb(0, 0, 0) };
    let readable = BASIC.iter().filter(|(_, c)| contrast(*c, ground) >= READABLE);
    let distance =
        |c: Rgb| [(c.0, rgb.0), (c.1, rgb.1), (c.2, rgb.2)].iter().map(|(a, b)| (i32::from(*a) - i32::from(*b)).pow(2)).sum::<i32>();
    // A hue says more than how bright it is.
    let same_hue = |c: Color| by_hue_only(c) == by_hue_only(by_hue(rgb));
    readable.min_by_key(|(color, c)| (!same_hue(*color), distance(*c))).map_or(Color::Reset, |(color, _)| *color)
}

/// What stands for a background.
pub fn ground(background: Rgb) -> Color {
    if is_light(background) { Color::White } else { Color::Black }
}

/// Whether black is read better on it than white.
fn is_light(color: Rgb) -> bool {
    luminance(color) > 0.18
}

/// The hue of a colour, whether it is the light one or not; greys have none.
fn by_hue_only(color: Color) -> Option<usize> {
    let at = BASIC.iter().position(|(c, _)| *c == color)? % 8;
    (1..7).contains(&at).then_some(at)
}

/// The nearest on the terminal's own background, whatever that is.
fn by_hue(Rgb(r, g, b): Rgb) -> Color {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    if max - min < 48 {
        return match max {
            0..=63 => Color::Black,
            64..=127 => Color::DarkGray,
            128..=200 => Color::Gray,
            201.. => Color::White,
        };
    }
    let on = |v: u8| v > min + (max - min) / 2;
    match (on(r), on(g), on(b)) {
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        (true, true, false) => Color::Yellow,
        (false, false, true) => Color::Blue,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        (true, true, true) | (false, false, false) => Color::Gray,
    }
}

/// What xterm shows for a colour; none for the terminal's own.
#[cfg(test)]
pub fn rgb(color: Color) -> Option<Rgb> {
    let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match color {
        Color::Rgb(r, g, b) => Some(Rgb(r, g, b)),
        Color::Indexed(index @ 16..=231) => Some(Rgb(step((index - 16) / 36), step((index - 16) / 6 % 6), step((index - 16) % 6))),
        Color::Indexed(index @ 232..) => Some(Rgb(8 + 10 * (index - 232), 8 + 10 * (index - 232), 8 + 10 * (index - 232))),
        Color::Indexed(index) => BASIC.get(usize::from(index)).map(|(_, c)| *c),
        named => BASIC.iter().find(|(c, _)| *c == named).map(|(_, c)| *c),
    }
}

fn luminance(Rgb(r, g, b): Rgb) -> f64 {
    let channel = |v: u8| {
        let c = f64::from(v) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
}

pub fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
