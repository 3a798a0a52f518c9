//! What a `:` line can go on with: names of commands, then what they take.

use super::actions::{ACTIONS, Action, Entry};
use super::line::Offer;
use super::panes::curves::Figure;
use super::theme::{AUTO, BUILT_IN};
use crate::event::Event;
use crate::state::DashState;
use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, Path};

/// Most words that are offered, and most names of a directory that are looked at.
const WORDS_MAX: usize = 200;
const NAMES_MAX: usize = 4_096;

/// What could stand at the end of the line. Names of files are looked up in `directory`; `condition_names` are those that conditions know.
pub fn offer(line: &str, state: &DashState, condition_names: &[String], directory: &Path) -> Offer {
    let Some((name, argument)) = line.split_once(' ') else {
        let names = ACTIONS.iter().map(|e| e.name.to_owned()).filter(|n| n.starts_with(line));
        return Offer { from: 0, words: names.collect() };
    };
    let Ok(entry) = super::actions::by_name(name) else { return Offer::default() };
    if takes_condition(entry.action) {
        return in_condition(line, line.len() - argument.len(), entry, state, condition_names);
    }
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

fn takes_condition(action: Action) -> bool {
    matches!(action, Action::BreakIf | Action::BreakOnce | Action::Cond | Action::Watch)
}

/// What an expression that begins at `begin` could go on with: a name, or inside quotes what a name may be compared with.
fn in_condition(line: &str, begin: usize, entry: &Entry, state: &DashState, names: &[String]) -> Offer {
    let expression = &line[begin..];
    let is_quoted = quoted(expression);
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.') || is_quoted && c == '-';
    // Commands and presets stand alone, at the beginning.
    let alone = literals(entry.argument, 0).chain(crate::event::PRESETS.iter().filter_map(|p| p.split(' ').next()));
    let mut words: Vec<String> = alone.filter(|word| word.starts_with(expression)).map(str::to_owned).collect();
    let behind = expression.rfind(|c| !belongs(c)).map_or(0, |at| at + expression[at..].chars().next().map_or(1, char::len_utf8));
    let from = if words.is_empty() { begin + behind } else { begin };
    let typed = &line[from..];
    words.extend(if is_quoted { compared_with(state) } else { names.to_vec() });
    let is_begun = !typed.is_empty() || from == begin || is_quoted;
    words.retain(|w| is_begun && w.starts_with(typed) && w != typed);
    words.truncate(WORDS_MAX);
    Offer { from, words }
}

/// Whether the end of an expression stands inside quotes.
fn quoted(expression: &str) -> bool {
    let mut open = None;
    for c in expression.chars().filter(|c| matches!(c, '\'' | '"')) {
        match open {
            None => open = Some(c),
            Some(quote) if quote == c => open = None,
            Some(_) => {}
        }
    }
    open.is_some()
}

/// Kinds of events, tools, and readings of the observation, by name.
fn compared_with(state: &DashState) -> Vec<String> {
    let mut words: Vec<String> = Event::KINDS.iter().map(|k| (*k).to_owned()).collect();
    let tools: BTreeSet<String> =
        state.run.iter().flat_map(|r| &r.tools).map(|t| t.name.to_string()).chain(state.tools.keys().cloned()).collect();
    words.extend(tools);
    let readings = state.lanes.values().next().map_or(&[][..], |l| &l.episode.fields);
    words.extend(readings.iter().map(|f| f.name.to_string()));
    words
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
        offer(line, &state, &names(), Path::new(env!("CARGO_MANIFEST_DIR"))).words
    }

    fn names() -> Vec<String> {
        ["kind", "reward", "reward_sum", "tool", "tool.args", "tool.name"].map(str::to_owned).to_vec()
    }

    #[test]
    fn an_expression_goes_on_with_names_and_with_what_they_are_compared_with() {
        for (line, offered) in [
            ("break rew", &["reward-below", "reward", "reward_sum"][..]),
            ("tbreak reward<0&&tool.", &["tool.args", "tool.name"]),
            ("watch !(ki", &["kind"]),
            ("watch tool.name", &[]),
            ("watch reward ", &[]),
            ("watch reward-ki", &["kind"]),
            ("watch cl", &["clear"]),
            ("break kind == 'Tool", &["ToolCallStarted", "ToolCallFinished"]),
            ("break kind == 'x' && ki", &["kind"]),
            ("break 工ki", &[]),
            ("break 工 ki", &["kind"]),
        ] {
            let state = crate::ui::panes::testing::typical();
            let offer = offer(line, &state, &names(), Path::new("."));
            assert_eq!(offer.words, offered, "{line}");
        }
        let state = crate::ui::panes::testing::typical();
        assert_eq!(offer("break reward<0&&to", &state, &names(), Path::new(".")).from, 16);
        let tool = state.tools.keys().next().unwrap().clone();
        for line in [format!("break tool.name == \"{}", &tool[..tool.len() - 1]), format!("break x == \"it's {}", &tool[..tool.len() - 1])]
        {
            assert_eq!(offer(&line, &state, &names(), Path::new(".")).words[0], tool, "{line}");
        }
        let field = state.lanes.values().next().unwrap().episode.fields[0].name.to_string();
        let line = format!("break obs['{}", &field[..field.len() - 1]);
        assert_eq!(offer(&line, &state, &names(), Path::new(".")).words[0], field);
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
        assert_eq!(words("break tool-"), ["tool-error"]);
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
        let offer = offer("export csv themes/da", &DashState::default(), &[], Path::new(env!("CARGO_MANIFEST_DIR")));
        assert_eq!((offer.from, offer.words), (11, vec!["themes/dark.ron".to_owned()]));
    }
}
