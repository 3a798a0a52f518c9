//! Text by grapheme and by terminal cells: how wide, where to break, where to cut.

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns that a tab stands for.
const TAB_COLUMNS: usize = 4;

/// How wide a terminal draws what Unicode leaves open ("East Asian ambiguous").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ambiguous {
    #[default]
    Narrow,
    Wide,
}

/// The graphemes of `text`. Most of a screen is letters, borders and braille, each of which is one before another of its kind; only what stands beside other
/// characters needs Unicode's rules.
pub fn graphemes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.chars();
        let (first, second) = (chars.next()?, chars.next());
        let plain = is_plain(first) && second.is_none_or(is_plain);
        let length = if plain { first.len_utf8() } else { UnicodeSegmentation::graphemes(rest, true).next()?.len() };
        let (grapheme, after) = rest.split_at(length);
        rest = after;
        Some(grapheme)
    })
}

/// Joins with nothing of its kind, before or behind.
pub fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}')
}

/// Cells of one grapheme. Ratatui refuses what holds a control character, so that counts as none.
pub fn grapheme_width(grapheme: &str, ambiguous: Ambiguous) -> usize {
    if let [b' '..=b'~'] = grapheme.as_bytes() {
        return 1;
    }
    if grapheme.contains(char::is_control) {
        return 0;
    }
    match ambiguous {
        // What ratatui's own difference of two frames counts with.
        Ambiguous::Narrow => usize::from(grapheme.cell_width()),
        Ambiguous::Wide => grapheme.width_cjk(),
    }
}

/// Whether `hay` holds `needle`, which is in lower case, whatever the case of `hay`. A search asks this of every row at each
/// picture, so that what is all ASCII is looked for without a copy.
pub fn holds(hay: &str, needle: &str) -> bool {
    let (hay_bytes, needle_bytes) = (hay.as_bytes(), needle.as_bytes());
    match needle_bytes.first() {
        None => true,
        Some(first) if needle.is_ascii() => {
            let upper = first.to_ascii_uppercase();
            let starts = hay_bytes.iter().enumerate().filter(|(_, b)| **b == *first || **b == upper).map(|(at, _)| at);
            starts.into_iter().any(|at| hay_bytes.get(at..at + needle_bytes.len()).is_some_and(|w| w.eq_ignore_ascii_case(needle_bytes)))
        }
        Some(_) => hay.to_lowercase().contains(needle),
    }
}

/// Cells of `text` on one line.
pub fn width(text: &str, ambiguous: Ambiguous) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|b| !b.is_ascii_control()).count();
    }
    graphemes(text).map(|g| grapheme_width(g, ambiguous)).sum()
}

/// `text` in at most `width_max` cells; where something had to go, `mark` (such as `…`) ends it.
pub fn truncate(text: &str, width_max: usize, mark: &str, ambiguous: Ambiguous) -> String {
    let one_line = text.contains(['\n', '\t']).then(|| text.replace(['\n', '\t'], " "));
    let text = one_line.as_deref().unwrap_or(text);
    if width(text, ambiguous) <= width_max {
        return text.to_owned();
    }
    let room = width_max.saturating_sub(width(mark, ambiguous));
    let mut out = String::new();
    let mut used = 0;
    for grapheme in graphemes(text) {
        used += grapheme_width(grapheme, ambiguous);
        if used > room {
            break;
        }
        out.push_str(grapheme);
    }
    if width(mark, ambiguous) <= width_max {
        out.push_str(mark);
    }
    out
}

/// Breaks `text` into lines of at most `width_max` cells: at spaces where it can, inside a word where it must, never
/// inside a grapheme. Line feeds break, tabs become spaces, spaces inside a line stay (tables keep their columns).
///
/// A grapheme wider than a whole line becomes `?`. A width of 0 gives no lines.
pub fn wrap(text: &str, width_max: usize, ambiguous: Ambiguous) -> Vec<String> {
    if width_max == 0 {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        wrap_paragraph(paragraph, width_max, ambiguous, &mut lines);
    }
    lines
}

/// Chinese characters, and the marks between them.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3011}' | '\u{4e00}'..='\u{9fff}' | '\u{ff01}'..='\u{ff1f}')
}

/// No line begins with one of these.
const CLOSING: &str = "，。、；：？！）》」』】,.;:?!)] ";

fn wrap_paragraph(paragraph: &str, width_max: usize, ambiguous: Ambiguous, lines: &mut Vec<String>) {
    let tabless = paragraph.contains('\t').then(|| paragraph.replace('\t', &" ".repeat(TAB_COLUMNS)));
    let paragraph = tabless.as_deref().unwrap_or(paragraph);
    let mut line = String::new();
    let mut used = 0;
    // Byte in `line` behind the last space that may be broken at, and the cells up to there.
    let mut break_at: Option<(usize, usize)> = None;
    for grapheme in graphemes(paragraph) {
        let cells = grapheme_width(grapheme, ambiguous);
        let (grapheme, cells) = if cells > width_max { ("?", 1) } else { (grapheme, cells) };
        // Chinese has no spaces: a line may end behind any of its characters, unless what follows closes it.
        if line.ends_with(is_chinese) && !CLOSING.contains(grapheme) {
            break_at = Some((line.len(), used));
        }
        if used + cells > width_max {
            if grapheme == " " {
                // The space itself is the break.
                lines.push(std::mem::take(&mut line));
                (used, break_at) = (0, None);
                continue;
            }
            let rest = match break_at.take() {
                Some((byte, _)) => line.split_off(byte),
                None => String::new(),
            };
            lines.push(line.trim_end_matches(' ').to_owned());
            line = rest;
            used = width(&line, ambiguous);
            // A break behind what has no width makes no room.
            if used + cells > width_max {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
        }
        line.push_str(grapheme);
        used += cells;
        // Leading spaces are indentation, not a place to break.
        if grapheme == " " && !line.trim_start().is_empty() {
            break_at = Some((line.len(), used));
        }
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn graphemes_are_those_of_unicode(text in "([ -~]|[─-▟⠀-⣿]|[\r\n\t]|[\u{300}-\u{305}]|\u{200d}|[\u{1f1e6}-\u{1f1ff}]|[\u{600}-\u{605}]|[가-힣]|👩|💻|\\PC){0,24}") {
            let whole: Vec<&str> = UnicodeSegmentation::graphemes(text.as_str(), true).collect();
            prop_assert_eq!(graphemes(&text).collect::<Vec<_>>(), whole);
        }
    }

    #[test]
    fn a_search_does_not_look_at_case() {
        for (hay, needle, found) in [
            ("Fault in PAY", "pay", true),
            ("paPAy", "pay", true),
            ("pa", "pay", false),
            ("", "", true),
            ("ÜBER", "über", true),
            ("工单", "单", true),
        ] {
            assert_eq!(holds(hay, needle), found, "{needle} in {hay}");
        }
    }

    #[test]
    fn chinese_breaks_between_its_characters_and_never_before_a_mark_that_closes() {
        assert_eq!(wrap("等待第一个决策，请稍候", 14, Ambiguous::Narrow), ["等待第一个决", "策，请稍候"]);
        assert_eq!(wrap("用 pilothouse训练模型", 13, Ambiguous::Narrow), ["用", "pilothouse训", "练模型"]);
    }

    #[test]
    fn breaks_at_spaces_and_inside_long_words() {
        assert_eq!(wrap("scaling out is cheap", 11, Ambiguous::Narrow), ["scaling out", "is cheap"]);
        assert_eq!(wrap("abcdefghij k", 4, Ambiguous::Narrow), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("a\n\nb", 4, Ambiguous::Narrow), ["a", "", "b"]);
        assert_eq!(wrap("gw   p95  4", 11, Ambiguous::Narrow), ["gw   p95  4"]);
    }

    #[test]
    fn wide_graphemes_are_not_cut() {
        assert_eq!(wrap("工单系统", 5, Ambiguous::Narrow), ["工单", "系统"]);
        assert_eq!(truncate("工单系统", 5, "…", Ambiguous::Narrow), "工单…");
        assert_eq!(wrap("工", 1, Ambiguous::Narrow), ["?"]);
        assert_eq!(wrap("±±±", 4, Ambiguous::Wide), ["±±", "±"]);
        assert_eq!(truncate("abc\ndef", 7, "…", Ambiguous::Narrow), "abc def");
        assert_eq!(truncate("abc", 0, "…", Ambiguous::Narrow), "");
    }

    #[test]
    fn a_break_that_makes_no_room_is_followed_by_another() {
        assert_eq!(wrap("\u{301} 💻💻💻工", 7, Ambiguous::Narrow), ["\u{301}", "💻💻💻", "工"]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_nothing_but_spaces_is_lost(text in "[a-c 工±é👩\u{200d}💻\u{301}\n\t]{0,80}", width_max in 2usize..20) {
            // Nothing reaches a widget but safe text: a joiner without emoji on both sides is not in it.
            let text = crate::event::SafeText::new(&text);
            for ambiguous in [Ambiguous::Narrow, Ambiguous::Wide] {
                let lines = wrap(&text, width_max, ambiguous);
                for line in &lines {
                    prop_assert!(width(line, ambiguous) <= width_max, "{line:?}");
                }
                let kept = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
                prop_assert_eq!(kept(&lines.concat()), kept(&text));
                prop_assert!(width(&truncate(&text, width_max, "…", ambiguous), ambiguous) <= width_max);
            }
        }
    }
}
