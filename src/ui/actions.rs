//! The one table of actions: keys, `:` commands, help and README come from here. A key that works and is not in help can't exist.

/// What an operator can do at the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Help,
    CommandLine,
    Search,
    NextMatch,
    PreviousMatch,
    NextError,
    PreviousError,
    SetMark,
    NextMark,
    PreviousMark,
    Back,
    FocusNext,
    FocusPrevious,
    FocusPane(usize),
    FullScreen,
    Bigger,
    Smaller,
    Menu,
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
    TogglePause,
    StepDecision,
    StepPhase,
    StepToken,
    StepEpisode,
    StepBack,
    PreviousStep,
    NextStep,
    PreviousEpisode,
    NextEpisode,
    First,
    Last,
    Slower,
    Faster,
    NextLane,
    Fold,
    FoldAll,
    UnfoldAll,
    Detail,
    Raw,
    Smoothing,
    History,
    LogAxis,
    Redraw,
    Suspend,
    Quit,
    /// By `:` only; each takes an argument.
    Seed,
    Pace,
    Swap,
    Theme,
    Colors,
    Copy,
    CopyJson,
    Export,
    Shot,
    Seek,
    Resume,
    Pause,
}

/// Who must be there for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// An engine that takes commands.
    Engine,
    /// A recording.
    Playback,
    /// Either of the two.
    Run,
}

/// One line of the table.
#[derive(Debug)]
pub struct Entry {
    pub action: Action,
    /// For `:`.
    pub name: &'static str,
    /// Keys, each a sequence of key names with a space between.
    pub keys: &'static [&'static str],
    /// What follows the name, for those that take an argument.
    pub argument: &'static str,
    pub help: &'static str,
    pub needs: Needs,
}

const fn entry(action: Action, name: &'static str, keys: &'static [&'static str], needs: Needs, help: &'static str) -> Entry {
    Entry { action, name, keys, argument: "", help, needs }
}

const fn with(action: Action, name: &'static str, argument: &'static str, needs: Needs, help: &'static str) -> Entry {
    Entry { action, name, keys: &[], argument, help, needs }
}

use Needs::{Engine, Nothing, Playback, Run};

/// The table, in the order of the help.
pub const ACTIONS: &[Entry] = &[
    entry(Action::Help, "help", &["?"], Nothing, "keys and commands; enter runs one"),
    entry(Action::CommandLine, "command", &[":"], Nothing, "type a command by its name"),
    entry(Action::TogglePause, "toggle", &["space"], Run, "pause or resume; at the end of a replay, play it again"),
    entry(Action::StepDecision, "step", &["."], Run, "go on by one decision"),
    entry(Action::StepPhase, "phase", &[">"], Run, "go on by one phase"),
    entry(Action::StepToken, "token", &[";"], Run, "go on by one token"),
    entry(Action::StepEpisode, "episode", &[], Run, "go on to the end of the episode"),
    entry(Action::StepBack, "back", &[","], Playback, "step back by one decision"),
    entry(Action::Slower, "slower", &["("], Run, "slower, down to 0.1x"),
    entry(Action::Faster, "faster", &[")"], Run, "faster, up to max"),
    entry(Action::PreviousStep, "prev", &["h", "left"], Playback, "previous step"),
    entry(Action::NextStep, "next", &["l", "right"], Playback, "next step"),
    entry(Action::PreviousEpisode, "prev-episode", &["H"], Playback, "previous episode"),
    entry(Action::NextEpisode, "next-episode", &["L"], Playback, "next episode"),
    entry(Action::First, "first", &["0"], Playback, "beginning of the recording"),
    entry(Action::Last, "last", &["$"], Playback, "end of the recording"),
    entry(Action::FocusNext, "focus-next", &["tab"], Nothing, "focus the next pane"),
    entry(Action::FocusPrevious, "focus-previous", &["backtab"], Nothing, "focus the previous pane"),
    entry(Action::FocusPane(0), "chain", &["1"], Nothing, "focus the thought chain"),
    entry(Action::FocusPane(1), "reward", &["2"], Nothing, "focus the reward curves"),
    entry(Action::FocusPane(2), "tools", &["3"], Nothing, "focus the tools"),
    entry(Action::FocusPane(3), "gpu", &["4"], Nothing, "focus GPU and host"),
    entry(Action::FocusPane(4), "alerts", &["5"], Nothing, "focus the alerts"),
    entry(Action::FocusPane(5), "log", &["6"], Nothing, "focus the log"),
    entry(Action::FullScreen, "full", &["f", "enter"], Nothing, "the focused pane alone, and back"),
    entry(Action::Bigger, "bigger", &["+"], Nothing, "the focused pane bigger: half the screen, then all of it"),
    entry(Action::Smaller, "smaller", &["_"], Nothing, "the focused pane smaller again"),
    entry(Action::Up, "up", &["k", "up"], Nothing, "scroll up; following stops"),
    entry(Action::Down, "down", &["j", "down"], Nothing, "scroll down"),
    entry(Action::PageUp, "page-up", &["pageup"], Nothing, "a page up"),
    entry(Action::PageDown, "page-down", &["pagedown"], Nothing, "a page down"),
    entry(Action::Top, "top", &["g g", "home"], Nothing, "the oldest row"),
    entry(Action::Bottom, "bottom", &["G", "end"], Nothing, "the newest row, and follow"),
    entry(Action::NextLane, "lane", &["t"], Nothing, "look at the next lane"),
    entry(Action::Search, "find", &["/"], Nothing, "find text in the chain; the newest match first"),
    entry(Action::NextMatch, "next-match", &["n"], Nothing, "next match, then the oldest again"),
    entry(Action::PreviousMatch, "previous-match", &["N"], Nothing, "previous match"),
    entry(Action::PreviousError, "previous-error", &["{"], Nothing, "previous tool error in the chain"),
    entry(Action::NextError, "next-error", &["}"], Nothing, "next tool error in the chain"),
    entry(Action::SetMark, "mark", &["m"], Nothing, "mark this place, or take its mark away"),
    entry(Action::PreviousMark, "previous-mark", &["["], Nothing, "previous mark (in a replay: go there in the recording)"),
    entry(Action::NextMark, "next-mark", &["]"], Nothing, "next mark"),
    entry(Action::Fold, "fold", &["z a"], Nothing, "fold or unfold the row at the cursor; while following, the newest"),
    entry(Action::FoldAll, "fold-all", &["z M"], Nothing, "fold every row"),
    entry(Action::UnfoldAll, "unfold-all", &["z R"], Nothing, "unfold every row"),
    entry(Action::Detail, "detail", &["v"], Nothing, "one line a row, normal, everything"),
    entry(Action::Raw, "raw", &["R"], Nothing, "what the model reads and writes, as it is"),
    entry(Action::Smoothing, "smoothing", &["s"], Nothing, "smoothing of the curve"),
    entry(Action::History, "history", &["x"], Nothing, "current episode or all episodes"),
    entry(Action::LogAxis, "log-axis", &[], Nothing, "logarithmic axis of the curve, and back"),
    with(Action::Menu, "menu", "", Nothing, "actions by digits; 0 opens it on small screens and on a live run"),
    entry(Action::Copy, "copy", &["y"], Nothing, "copy the row in view to the clipboard"),
    entry(Action::CopyJson, "copy-json", &["Y"], Nothing, "copy the row in view as JSON"),
    entry(Action::Redraw, "redraw", &["ctrl-l"], Nothing, "draw everything again"),
    entry(Action::Suspend, "suspend", &["ctrl-z"], Nothing, "back to the shell; fg comes back"),
    entry(Action::Back, "close", &["esc"], Nothing, "close what is open"),
    entry(Action::Quit, "quit", &["q", "ctrl-c"], Nothing, "quit (asks when that ends a run)"),
    with(Action::Pause, "pause", "", Run, "pause the run, or the replay"),
    with(Action::Resume, "resume", "", Run, "resume the run, or the replay"),
    with(Action::Pace, "pace", "FACTOR|max", Run, "set the pace, such as 2 or max"),
    with(Action::Seed, "seed", "N", Engine, "end the episodes that run and begin anew from this seed (asks first)"),
    with(Action::Swap, "swap", "CHECKPOINT", Engine, "serve another checkpoint from the next decision on (asks first)"),
    with(Action::Seek, "seek", "EVENT", Playback, "go to this event of the recording"),
    with(
        Action::Theme,
        "theme",
        "NAME|FILE",
        Nothing,
        "dark, light, high-contrast, colour-blind, system, or a file; read again when saved",
    ),
    with(Action::Colors, "colors", "truecolor|256|16|none|auto", Nothing, "show fewer colours or more"),
    with(Action::Export, "export", "csv|json FILE", Nothing, "write what the focused pane shows to a new file (JSON: one record a line)"),
    with(Action::Shot, "shot", "svg|txt|ans", Nothing, "write a picture of the screen to a file"),
];

/// A page of the menu by digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Run,
    Replay,
    Move,
    Find,
    Look,
    Curve,
    Change,
    Screen,
}

impl Group {
    pub const ALL: [Group; 8] =
        [Group::Run, Group::Replay, Group::Move, Group::Find, Group::Look, Group::Curve, Group::Change, Group::Screen];

    pub fn title(self) -> &'static str {
        match self {
            Group::Run => "run: pause, step",
            Group::Replay => "replay",
            Group::Move => "move: up, down",
            Group::Find => "find, errors, marks",
            Group::Look => "size, folds, detail",
            Group::Curve => "curves",
            Group::Change => "swap, seed, copy",
            Group::Screen => "help, screen, quit",
        }
    }

    /// Whether its actions are done several times in a row, so that the menu stays.
    pub fn stays(self) -> bool {
        match self {
            Group::Run | Group::Replay | Group::Move | Group::Find | Group::Look | Group::Curve => true,
            Group::Change | Group::Screen => false,
        }
    }

    pub fn entries(self) -> Vec<&'static Entry> {
        ACTIONS.iter().filter(|e| e.action.group() == Some(self)).collect()
    }
}

impl Action {
    /// Its page of the menu; none for what a digit does by itself, and for what is another action under a second name.
    pub fn group(self) -> Option<Group> {
        Some(match self {
            Action::TogglePause
            | Action::StepDecision
            | Action::StepPhase
            | Action::StepToken
            | Action::StepEpisode
            | Action::Slower
            | Action::Faster
            | Action::Pace => Group::Run,
            Action::StepBack
            | Action::NextStep
            | Action::PreviousEpisode
            | Action::NextEpisode
            | Action::First
            | Action::Last
            | Action::Seek => Group::Replay,
            Action::Up
            | Action::Down
            | Action::PageUp
            | Action::PageDown
            | Action::Top
            | Action::Bottom
            | Action::NextLane
            | Action::FocusNext
            | Action::FocusPrevious => Group::Move,
            Action::Search
            | Action::NextMatch
            | Action::PreviousMatch
            | Action::NextError
            | Action::PreviousError
            | Action::SetMark
            | Action::NextMark
            | Action::PreviousMark => Group::Find,
            Action::FullScreen
            | Action::Bigger
            | Action::Smaller
            | Action::Fold
            | Action::FoldAll
            | Action::UnfoldAll
            | Action::Detail
            | Action::Raw => Group::Look,
            Action::Smoothing | Action::History | Action::LogAxis => Group::Curve,
            Action::Swap | Action::Seed | Action::Copy | Action::CopyJson | Action::Export => Group::Change,
            Action::Help
            | Action::CommandLine
            | Action::Redraw
            | Action::Suspend
            | Action::Back
            | Action::Quit
            | Action::Theme
            | Action::Colors
            | Action::Shot => Group::Screen,
            Action::FocusPane(_) | Action::Menu | Action::PreviousStep | Action::Pause | Action::Resume => return None,
        })
    }
}

/// The entry of that name, or the only one that begins so.
pub fn by_name(name: &str) -> Result<&'static Entry, String> {
    if let Some(entry) = ACTIONS.iter().find(|e| e.name == name) {
        return Ok(entry);
    }
    let begins: Vec<&Entry> = ACTIONS.iter().filter(|e| e.name.starts_with(name)).collect();
    match begins.as_slice() {
        [one] => Ok(one),
        [] => {
            let near = crate::event::nearest(name, ACTIONS.iter().map(|e| e.name));
            Err(near.map_or_else(
                || format!("no command is named {name}; ? lists all"),
                |n| format!("no command is named {name}; did you mean {n}?"),
            ))
        }
        many => Err(format!("{name} could be {}", many.iter().map(|e| e.name).collect::<Vec<_>>().join(", "))),
    }
}

/// What a key sequence means so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup {
    Action(Action),
    /// More keys must follow.
    Prefix,
    Unknown,
}

pub fn by_keys(keys: &str) -> Lookup {
    let all = || ACTIONS.iter().flat_map(|e| e.keys.iter().map(move |k| (*k, e.action)));
    if let Some((_, action)) = all().find(|(k, _)| *k == keys) {
        return Lookup::Action(action);
    }
    let prefix = format!("{keys} ");
    if all().any(|(k, _)| k.starts_with(&prefix)) { Lookup::Prefix } else { Lookup::Unknown }
}

/// The key table of the README.
pub fn key_table_markdown() -> String {
    let mut table = String::from("| keys | `:` command | what it does |\n|---|---|---|\n");
    for e in ACTIONS {
        let keys: Vec<String> = e.keys.iter().map(|k| format!("`{}`", k.replace(' ', ""))).collect();
        let name = format!("{} {}", e.name, e.argument.replace('|', "\\|"));
        table.push_str(&format!("| {} | `:{}` | {} |\n", keys.join(" "), name.trim(), e.help));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_key_and_no_name_stands_twice_and_none_hides_another() {
        let keys: Vec<&str> = ACTIONS.iter().flat_map(|e| e.keys).copied().collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        for key in &keys {
            let prefix = format!("{key} ");
            assert!(!keys.iter().any(|k| k.starts_with(&prefix)), "{key} hides a longer one");
        }
        let names: BTreeSet<&str> = ACTIONS.iter().map(|e| e.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
    }

    #[test]
    fn digits_reach_every_action_that_has_no_digit_or_other_name() {
        for group in Group::ALL {
            assert!((1..=9).contains(&group.entries().len()), "{group:?}");
        }
        let left: Vec<&str> = ACTIONS.iter().filter(|e| e.action.group().is_none()).map(|e| e.name).collect();
        assert_eq!(left, ["prev", "chain", "reward", "tools", "gpu", "alerts", "log", "menu", "pause", "resume"]);
    }

    #[test]
    fn keys_that_are_reserved_are_free() {
        for key in ["w", "c", "C", "b", "B", "i", "I", "E", "o", "F", "O", "a", "d", "ctrl-j", "ctrl-k", "ctrl-a", "ctrl-b"] {
            assert_eq!(by_keys(key), Lookup::Unknown, "{key}");
        }
    }

    #[test]
    fn every_action_can_be_reached() {
        for e in ACTIONS {
            assert_eq!(by_name(e.name).unwrap().action, e.action);
            for key in e.keys {
                assert_eq!(by_keys(key), Lookup::Action(e.action));
            }
        }
        assert_eq!(by_keys("g"), Lookup::Prefix);
        assert_eq!(by_keys("Q"), Lookup::Unknown);
        assert!(by_name("swa").is_ok_and(|e| e.action == Action::Swap));
        assert!(by_name("see").is_err_and(|reason| reason.contains("seed, seek")));
        assert!(by_name("quitt").unwrap_err().contains("quit"));
    }
}
