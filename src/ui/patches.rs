//! What the files have in common that patch a typed default: themes and keys.

use super::widgets::{Ambiguous, text};
use crate::event::SafeText;

/// Most columns of a name of the operator's that a message quotes, and of a reason in the words of the format's reader.
const NAME_WIDTH_MAX: usize = 40;
const REASON_WIDTH_MAX: usize = 160;

/// Whether there is nothing in it but blanks and comments. RON wants a value; a patch that says nothing changes nothing.
pub fn says_nothing(ron: &str) -> bool {
    ron::from_str::<()>(&format!("{ron}\n()")).is_ok()
}

/// What stands in a file or was typed, as a message quotes it: safe, and no longer than a name would be.
pub fn quoted(untrusted: &str) -> String {
    cut(untrusted, NAME_WIDTH_MAX)
}

/// What the format's reader says, which may quote all of a name.
pub fn reason(untrusted: &str) -> String {
    cut(untrusted, REASON_WIDTH_MAX)
}

fn cut(untrusted: &str, width_max: usize) -> String {
    text::truncate(SafeText::new(untrusted).as_str(), width_max, "...", Ambiguous::Narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments_say_nothing() {
        for nothing in ["", " \n\t\r\n", "// (colors: {})", "/* a /* nested */ one */\n// and a line", "\n\n// no end of line"] {
            assert!(says_nothing(nothing), "{nothing:?}");
        }
        for something in ["()", "(bind: {})", "/* never closed", "// a comment\n(", "x"] {
            assert!(!says_nothing(something), "{something:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_where_it_is_quoted() {
        assert_eq!(quoted("lane"), "lane");
        let cut = quoted(&format!("a\u{1b}{}", "x".repeat(5_000)));
        assert!(cut.len() < 60 && cut.ends_with("...") && !cut.contains('\u{1b}'), "{cut}");
    }
}
