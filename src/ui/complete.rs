//! What tab makes of a `:` line: names of commands, then what they take.

use super::actions::{ACTIONS, Action};
use super::panes::curves::Figure;
use super::theme::BUILT_IN;

/// The line with its last word completed, or as it was.
pub fn complete(line: &str) -> String {
    let Some((name, argument)) = line.split_once(' ') else {
        let found = ACTIONS.iter().map(|e| e.name).find(|n| n.starts_with(line));
        return found.map_or_else(|| line.to_owned(), |name| format!("{name} "));
    };
    let Some(entry) = ACTIONS.iter().find(|e| e.name == name) else { return line.to_owned() };
    let found = if entry.action == Action::Theme {
        BUILT_IN.iter().map(|(n, _)| *n).find(|n| n.starts_with(argument))
    } else if entry.action == Action::Series {
        let (before, last) = argument.rsplit_once(',').map_or(("", argument), |(before, last)| (before, last));
        let found = Figure::ALL.iter().map(|f| f.name()).find(|n| n.starts_with(last));
        let comma = if before.is_empty() { "" } else { "," };
        return found.map_or_else(|| line.to_owned(), |last| format!("{name} {before}{comma}{last}"));
    } else {
        words(entry.argument).find(|w| w.starts_with(argument))
    };
    found.map_or_else(|| line.to_owned(), |word| format!("{name} {word}"))
}

/// Words in lower case are taken as they stand; others say what is to be put there.
fn words(argument: &'static str) -> impl Iterator<Item = &'static str> {
    argument.split([' ', '|']).filter(|word| !word.chars().any(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_completes_names_and_arguments() {
        assert_eq!(complete("the"), "theme ");
        assert_eq!(complete("theme h"), "theme high-contrast");
        assert_eq!(complete("theme co"), "theme colour-blind");
        assert_eq!(complete("colors t"), "colors truecolor");
        assert_eq!(complete("shot a"), "shot ans");
        assert_eq!(complete("export j"), "export json");
        assert_eq!(complete("pace F"), "pace F");
        assert_eq!(complete("series ret"), "series return");
        assert_eq!(complete("series return,po"), "series return,policy-loss");
        assert_eq!(complete("zzz"), "zzz");
        assert_eq!(complete("nothing x"), "nothing x");
    }
}
