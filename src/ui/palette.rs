//! The palette: any action by a few letters of its name, its keys or what it does.

use super::actions::{ACTIONS, Action, Entry};
use super::keymap::{KeyMap, shown};
use super::lang;
use super::line::Line;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// What is typed, and which of what it finds is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Palette {
    pub line: Line,
    pub at: usize,
}

/// An action that was found, with the characters of each of its texts that match.
pub struct Found {
    pub entry: &'static Entry,
    pub in_name: Vec<usize>,
    pub in_keys: Vec<usize>,
    pub in_help: Vec<usize>,
    score: u32,
}

/// The actions that `query` finds, best first; at equal scores the one that was used last. `recent` is newest last.
pub fn find(query: &str, keys: &KeyMap, recent: &[Action]) -> Vec<Found> {
    let pattern = Pattern::new(query, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut found: Vec<Found> = ACTIONS.iter().filter_map(|entry| one(entry, &pattern, &mut matcher, keys)).collect();
    // A name that stands there in full is what is meant.
    for f in found.iter_mut().filter(|f| f.entry.name == query) {
        f.score += 1_000;
    }
    let age = |f: &Found| recent.iter().rev().position(|a| *a == f.entry.action).unwrap_or(usize::MAX);
    found.sort_by_key(|f| (std::cmp::Reverse(f.score), age(f)));
    found
}

/// Keys as they are shown, with a space between.
pub fn keys_shown(entry: &Entry, keys: &KeyMap) -> String {
    keys.keys_of(entry.action).map(shown).collect::<Vec<_>>().join(" ")
}

fn one(entry: &'static Entry, pattern: &Pattern, matcher: &mut Matcher, keys: &KeyMap) -> Option<Found> {
    let shown = keys_shown(entry, keys);
    let whole = format!("{} {shown} {}", entry.name, lang::text(entry.help));
    let mut buffer = Vec::new();
    let mut at = Vec::new();
    let score = pattern.indices(Utf32Str::new(&whole, &mut buffer), matcher, &mut at)?;
    // What its name says counts more than what is said of it.
    let name = pattern.score(Utf32Str::new(entry.name, &mut buffer), matcher).unwrap_or(0);
    at.sort_unstable();
    at.dedup();
    let begins = [0, entry.name.len() + 1, entry.name.len() + shown.chars().count() + 2, usize::MAX];
    let part = |n: usize| {
        let within = at.iter().map(|i| *i as usize).filter(|i| (begins[n]..begins[n + 1]).contains(i));
        within.map(|i| i - begins[n]).collect::<Vec<_>>()
    };
    let (in_name, in_keys, in_help) = (part(0), part(1), part(2));
    Some(Found { entry, in_name, in_keys, in_help, score: score + 2 * name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str, recent: &[Action]) -> Vec<&'static str> {
        find(query, &KeyMap::default(), recent).iter().map(|f| f.entry.name).collect()
    }

    #[test]
    fn a_few_letters_find_an_action_and_its_name_comes_first() {
        for (query, name) in
            [("swp", "swap"), ("step", "step"), ("gtrain", "training"), ("ful", "full"), ("next err", "next-error"), ("quit", "quit")]
        {
            assert_eq!(names(query, &[]).first(), Some(&name), "{query}: {:?}", &names(query, &[])[..3]);
        }
        assert!(names("pause", &[])[..2].contains(&"pause"));
        assert_eq!(names("zzzzq", &[]), [""; 0]);
        assert_eq!(names("", &[]).len(), ACTIONS.len());
        assert!(names("ctrl-l", &[]).contains(&"redraw"));
    }

    #[test]
    fn what_was_used_last_comes_first_where_nothing_else_decides() {
        assert_eq!(names("", &[Action::Redraw, Action::Shot])[..3], ["shot", "redraw", "help"]);
        assert_eq!(names("swap", &[Action::Redraw])[0], "swap");
    }

    #[test]
    fn the_letters_that_match_are_told_in_their_columns() {
        let found = find("swap", &KeyMap::default(), &[]);
        assert_eq!(found[0].in_name, [0, 1, 2, 3]);
        let found = find("ctrl-l", &KeyMap::default(), &[]);
        let redraw = found.iter().find(|f| f.entry.action == Action::Redraw).unwrap();
        assert_eq!((&redraw.in_name[..], &redraw.in_keys[..]), (&[][..], &[0, 1, 2, 3, 4, 5][..]));
    }
}
