//! What a `:` line can go on with: names of commands, then what they take.

use super::actions::{ACTIONS, Action, Entry};
use super::line::Offer;
use super::panes::curves::Figure;
use super::theme::{AUTO, BUILT_IN};
use crate::state::DashState;
use std::path::{MAIN_SEPARATOR, Path};

/// Most words that are offered, and most names of a directory that are looked at.
const WORDS_MAX: usize = 200;
const NAMES_MAX: usize = 4_096;

/// What could stand at the end of the line. Names of files are looked up in `directory`.
pub fn offer(line: &str, state: &DashState, directory: &Path) -> Offer {
    let Some((name, argument)) = line.split_once(' ') else {
        let names = ACTIONS.iter().map(|e| e.name.to_owned()).filter(|n| n.starts_with(line));
        return Offer { from: 0, words: names.collect() };
    };
    let Ok(entry) = super::actions::by_name(name) else { return Offer::default() };
    let place = argument.matches(' ').count();
    // Figures are a list with commas.
    let parts: &[char] = if entry.action == Action::Series { &[' ', ','] } else { &[' '] };
    let from = line.rfind(parts).map_or(0, |at| at + 1);
    let typed = &line[from..];
    let mut words: Vec<String> = literals(entry.argument, place).map(str::to_owned).collect();
    words.extend(known(entry, place, state));
    words.retain(|w| w.starts_with(typed));
    if takes_file(entry, place) {
        words.extend(files(typed, directory, entry.action == Action::Theme));
    }
    words.truncate(WORDS_MAX);
    // The word that stands there already is no offer.
    if words.len() == 1 && words[0] == typed {
        words.clear();
    }
    Offer { from, words }
}

/// Words in lower case are taken as they stand; others say what is to be put there. `|` parts what may stand instead.
fn literals(argument: &'static str, place: usize) -> impl Iterator<Item = &'static str> {
    let argument = argument.trim_matches(['[', ']']);
    let words = argument.split('|').filter_map(move |choice| choice.split(' ').nth(place));
    words.filter(|word| !word.is_empty() && !word.chars().any(char::is_uppercase))
}

fn takes_file(entry: &Entry, place: usize) -> bool {
    entry.argument.split('|').any(|choice| choice.split(' ').nth(place) == Some("FILE"))
}

/// What the console knows by name.
fn known(entry: &Entry, place: usize, state: &DashState) -> Vec<String> {
    if entry.action == Action::Series {
        return Figure::ALL.iter().map(|f| f.name().to_owned()).collect();
    }
    if place == 0 && matches!(entry.action, Action::BreakIf | Action::BreakOnce) {
        let names = super::stops::PRESETS.iter().filter_map(|p| p.split(' ').next());
        return names.map(str::to_owned).collect();
    }
    match (entry.argument.trim_matches(['[', ']']), place) {
        ("CHECKPOINT", 0) => state.checkpoints.iter().map(|c| c.checkpoint.to_string()).collect(),
        ("LANE", 0) => state.lanes.keys().map(ToString::to_string).collect(),
        ("NAME|FILE", 0) => [AUTO].into_iter().chain(BUILT_IN.iter().map(|(name, _)| *name)).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Files and directories that begin so; a directory ends with its separator. Hidden ones only where that was typed.
fn files(typed: &str, directory: &Path, themes_only: bool) -> Vec<String> {
    let (head, begin) = typed.rfind(MAIN_SEPARATOR).map_or(("", typed), |at| typed.split_at(at + 1));
    // Every name of a directory nobody asked for would hide the themes.
    if themes_only && head.is_empty() && begin.is_empty() {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(directory.join(head)) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .take(NAMES_MAX)
        .filter_map(Result::ok)
        .filter_map(|e| {
            let is_directory = e.path().is_dir();
            let name = e.file_name().into_string().ok()?;
            let fits = name.starts_with(begin) && (begin.starts_with('.') || !name.starts_with('.')) && !name.contains([' ', '\u{7f}']);
            let fits = fits && !name.chars().any(char::is_control) && (is_directory || !themes_only || name.ends_with(".ron"));
            fits.then(|| if is_directory { format!("{head}{name}{MAIN_SEPARATOR}") } else { format!("{head}{name}") })
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CheckpointListed, SafeText};

    fn words(line: &str) -> Vec<String> {
        let mut state = DashState::default();
        for name in ["deckhand-early", "deckhand-final"] {
            let checkpoint = name.into();
            state.checkpoints.push(CheckpointListed { checkpoint, sha256: "0".into(), training_step: 1, note: SafeText::default() });
        }
        offer(line, &state, Path::new(env!("CARGO_MANIFEST_DIR"))).words
    }

    #[test]
    fn names_and_what_they_take_are_offered() {
        assert_eq!(words("the"), ["theme"]);
        assert_eq!(words("sw"), ["swap"]);
        assert_eq!(words("theme h"), ["high-contrast"]);
        assert!(words("theme ").contains(&"colour-blind".to_owned()) && words("theme ").contains(&"auto".to_owned()));
        assert_eq!(words("colors t"), ["truecolor"]);
        assert_eq!(words("shot a"), ["ans"]);
        assert_eq!(words("export j"), ["json"]);
        assert_eq!(words("swap deckhand-f"), ["deckhand-final"]);
        assert_eq!(words("series return,policy-l"), ["policy-loss"]);
        assert_eq!(words("break tool"), ["tool-error"]);
        assert_eq!(words("sw deckhand-f"), ["deckhand-final"], "a short name will do");
        assert_eq!(words("breakpoints "), ["clear", "delete", "presets"]);
        assert_eq!(words("checkp"), ["checkpoints"]);
        for nothing in ["pace F", "zzz", "nothing x", "swap deckhand-final", "seek 1", "step "] {
            assert_eq!(words(nothing), [""; 0], "{nothing}");
        }
        assert!(words("").len() > 50);
    }

    #[test]
    fn files_are_offered_where_a_file_is_taken() {
        assert_eq!(words("export csv Carg"), ["Cargo.lock", "Cargo.toml"]);
        assert_eq!(words("theme themes/d"), ["themes/dark.ron"]);
        assert_eq!(words("theme sr"), ["src/"]);
        assert_eq!(words("theme Carg"), [""; 0]);
        assert_eq!(words("export csv no/such/"), [""; 0]);
        let offer = offer("export csv themes/da", &DashState::default(), Path::new(env!("CARGO_MANIFEST_DIR")));
        assert_eq!((offer.from, offer.words), (11, vec!["themes/dark.ron".to_owned()]));
    }
}
