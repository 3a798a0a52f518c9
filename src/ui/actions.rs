//! The one table of actions: keys, `:` commands, help and README come from here. A key that works and is not in help can't exist.

/// What an operator can do at the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Help,
    CommandLine,
    Palette,
    Screen(ScreenId),
    /// What the chosen row is about: an episode, a request with its answer.
    Open,
    EpisodeList,
    Inspect,
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
    Overlay,
    SmoothLess,
    SmoothMore,
    LogAxis,
    XAxis,
    Cursor,
    CursorLeft,
    CursorRight,
    ZoomIn,
    ZoomOut,
    Series,
    Sort,
    Filter,
    Break,
    BreakIf,
    BreakOnce,
    Cond,
    Breakpoints,
    Watch,
    Continue,
    ContinueBack,
    Rewind,
    RewindToStop,
    Fork,
    ForkHere,
    Branches,
    ToParent,
    AgainstParent,
    Override,
    /// By `:`, with two episodes or a file.
    Diff,
    MarkEpisode,
    DiffMarked,
    /// Which of the two the next step into the recording is of.
    SideA,
    SideB,
    FoldSame,
    MarkForCompare,
    Compare,
    Evaluate,
    Verify,
    Cancel,
    Pin,
    Canary,
    Promote,
    RollBack,
    AbortCanary,
    Undo,
    Acknowledge,
    Silence,
    Unsilence,
    ExtendSilence,
    DryRun,
    EditRules,
    Runbook,
    ShowFiring,
    ShowPending,
    ShowSilenced,
    ShowRest,
    GroupRules,
    /// By `:`.
    Rules,
    AlertNamed,
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
    Bundle,
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
    /// It is not built yet, and greyed out until it is.
    Unbuilt,
}

/// Where its keys hold. What holds in one place hides a key that holds anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Anywhere,
    /// The thought chain and the transcript.
    Chain,
    /// Panes with curves.
    Chart,
    /// Panes with a list whose rows can be opened.
    List,
    Checkpoints,
    Alerts,
    /// The list of episodes.
    Episodes,
    /// The two episodes that are compared.
    Diff,
    /// The tree of branches.
    Branches,
}

impl Scope {
    /// The scopes of a pane on a screen, the narrowest first.
    pub fn of(screen: ScreenId, pane: PaneId) -> Vec<Scope> {
        let wide = match screen {
            ScreenId::Checkpoints => Some(Scope::Checkpoints),
            ScreenId::Alerts => Some(Scope::Alerts),
            ScreenId::Live | ScreenId::Replay | ScreenId::Training | ScreenId::Memory | ScreenId::Log | ScreenId::Diff => None,
        };
        pane.spec().scopes.iter().copied().chain(wide).chain([Scope::Anywhere]).collect()
    }

    /// Said behind a key in help and README.
    pub fn place(self) -> &'static str {
        match self {
            Scope::Anywhere => "",
            Scope::Chain => "in the chain",
            Scope::Chart => "in a chart",
            Scope::List => "in a list",
            Scope::Checkpoints => "on checkpoints",
            Scope::Alerts => "on alerts",
            Scope::Episodes => "in episodes",
            Scope::Diff => "in a diff",
            Scope::Branches => "on branches",
        }
    }
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
    pub scope: Scope,
}

impl Entry {
    /// Why it can't be used, if so: whether an engine takes commands, and whether this is a recording.
    pub fn refusal(&self, engine: bool, playback: bool) -> Option<String> {
        let name = self.name;
        match self.needs {
            Engine if !engine && playback => Some(crate::ui::lang::tr!("{name} needs a live run; this is a recording", name = name)),
            Engine | Run if !engine && !playback => Some(crate::ui::lang::tr!("{name} is not for a read-only view", name = name)),
            Playback if !playback => Some(crate::ui::lang::tr!("{name} needs a recording; this run is live", name = name)),
            Unbuilt => Some(crate::ui::lang::tr!("{name} is not built yet", name = name)),
            Nothing | Engine | Playback | Run => None,
        }
    }

    /// Whether it does nothing without its argument. `[X]` may be left out.
    pub fn needs_argument(&self) -> bool {
        !self.argument.is_empty() && !self.argument.starts_with('[')
    }
}

const fn entry(action: Action, name: &'static str, keys: &'static [&'static str], needs: Needs, help: &'static str) -> Entry {
    Entry { action, name, keys, argument: "", help, needs, scope: Scope::Anywhere }
}

const fn with(action: Action, name: &'static str, argument: &'static str, needs: Needs, help: &'static str) -> Entry {
    Entry { action, name, keys: &[], argument, help, needs, scope: Scope::Anywhere }
}

const fn keyed(
    action: Action,
    name: &'static str,
    keys: &'static [&'static str],
    argument: &'static str,
    needs: Needs,
    help: &'static str,
) -> Entry {
    Entry { action, name, keys, argument, help, needs, scope: Scope::Anywhere }
}

const fn alerts(
    action: Action,
    name: &'static str,
    keys: &'static [&'static str],
    argument: &'static str,
    needs: Needs,
    help: &'static str,
) -> Entry {
    Entry { action, name, keys, argument, help, needs, scope: Scope::Alerts }
}

const fn local(scope: Scope, action: Action, name: &'static str, keys: &'static [&'static str], needs: Needs, help: &'static str) -> Entry {
    Entry { action, name, keys, argument: "", help, needs, scope }
}

pub use super::groups::Group;
use super::view::{PaneId, ScreenId};
use Needs::{Engine, Nothing, Playback, Run, Unbuilt};

/// The table, in the order of the help.
pub const ACTIONS: &[Entry] = &[
    entry(Action::Help, "help", &["?"], Nothing, "keys and commands; enter runs one"),
    entry(Action::CommandLine, "command", &[":"], Nothing, "type a command by its name"),
    entry(Action::Palette, "palette", &["ctrl-p"], Nothing, "find an action by a few letters of it"),
    entry(Action::Screen(ScreenId::Live), "live", &["g l"], Nothing, "screen: the run as it goes"),
    entry(Action::Screen(ScreenId::Replay), "replay", &["g r"], Nothing, "screen: episodes, step by step, with a timeline"),
    entry(Action::Screen(ScreenId::Checkpoints), "checkpoints", &["g c"], Nothing, "screen: checkpoints, compared and served"),
    entry(Action::Screen(ScreenId::Alerts), "alerts", &["g a"], Nothing, "screen: alert rules and what fires"),
    entry(Action::Screen(ScreenId::Training), "training", &["g t"], Nothing, "screen: curves and evaluations of training"),
    entry(Action::Screen(ScreenId::Memory), "memory", &["g m"], Nothing, "screen: what the agent sees, keeps and forgets"),
    entry(Action::Screen(ScreenId::Log), "log", &["g ?"], Nothing, "screen: the log"),
    entry(Action::Screen(ScreenId::Diff), "side-by-side", &["g d"], Nothing, "screen: what :diff has compared, step by step"),
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
    entry(Action::FocusPane(0), "pane-1", &["1"], Nothing, "focus pane 1 (live: thought chain)"),
    entry(Action::FocusPane(1), "pane-2", &["2"], Nothing, "focus pane 2 (live: reward curves)"),
    entry(Action::FocusPane(2), "pane-3", &["3"], Nothing, "focus pane 3 (live: tools)"),
    entry(Action::FocusPane(3), "pane-4", &["4"], Nothing, "focus pane 4 (live: GPU and host)"),
    entry(Action::FocusPane(4), "pane-5", &["5"], Nothing, "focus pane 5 (live: alerts)"),
    entry(Action::FocusPane(5), "pane-6", &["6"], Nothing, "focus pane 6 (live: log)"),
    local(Scope::List, Action::Open, "open", &["enter"], Nothing, "open the chosen row"),
    entry(Action::FullScreen, "full", &["f", "enter"], Nothing, "the focused pane alone, and back"),
    entry(Action::Bigger, "bigger", &["+"], Nothing, "the focused pane bigger: half the screen, then all of it"),
    entry(Action::Smaller, "smaller", &["_"], Nothing, "the focused pane smaller again"),
    entry(Action::Up, "up", &["k", "up"], Nothing, "scroll up; following stops"),
    entry(Action::Down, "down", &["j", "down"], Nothing, "scroll down"),
    entry(Action::PageUp, "page-up", &["pageup"], Nothing, "a page up"),
    entry(Action::PageDown, "page-down", &["pagedown"], Nothing, "a page down"),
    entry(Action::Top, "top", &["g g", "home"], Nothing, "the oldest row"),
    entry(Action::Bottom, "bottom", &["G", "end"], Nothing, "the newest row, and follow"),
    keyed(Action::NextLane, "lane", &["t"], "[LANE]", Nothing, "look at the next lane, or at the one that is named"),
    entry(Action::Search, "find", &["/"], Nothing, "find text in the chain; the newest match first"),
    entry(Action::NextMatch, "next-match", &["n"], Nothing, "next match, then the oldest again"),
    entry(Action::PreviousMatch, "previous-match", &["N"], Nothing, "previous match"),
    entry(Action::PreviousError, "previous-error", &["{"], Nothing, "previous tool error in the chain"),
    entry(Action::NextError, "next-error", &["}"], Nothing, "next tool error in the chain"),
    entry(Action::SetMark, "mark", &["m"], Nothing, "mark this place, or take its mark away"),
    entry(Action::PreviousMark, "previous-mark", &["["], Nothing, "previous mark (in a replay: go there in the recording)"),
    entry(Action::NextMark, "next-mark", &["]"], Nothing, "next mark"),
    entry(Action::EpisodeList, "episodes", &["E"], Nothing, "list of episodes"),
    keyed(Action::Inspect, "inspect", &["I"], "", Nothing, "inspect the state at this step"),
    keyed(
        Action::Watch,
        "watch",
        &["w"],
        "EXPRESSION|clear|delete N",
        Nothing,
        "watch what an expression (CEL) comes to; empty lists what is watched",
    ),
    entry(Action::Break, "break-here", &["b"], Run, "breakpoint at this step, or take it away"),
    keyed(
        Action::BreakIf,
        "break",
        &["B"],
        "CONDITION|fields",
        Run,
        "stop where this condition (CEL) or preset holds; `with once log ignore=N` behind it",
    ),
    with(Action::BreakOnce, "tbreak", "CONDITION", Run, "the same, once"),
    with(Action::Cond, "cond", "N CONDITION", Run, "give a breakpoint another condition"),
    with(Action::Breakpoints, "breakpoints", "clear|delete N|presets", Nothing, "list the breakpoints, or take them away"),
    entry(Action::Continue, "continue", &["c"], Run, "run to the next stop"),
    entry(Action::ContinueBack, "continue-back", &["C"], Playback, "run back to the previous stop"),
    with(Action::Rewind, "rs", "[STEP]", Run, "decide a step of this episode anew: the lane goes back there and the run pauses"),
    with(Action::RewindToStop, "rc", "", Run, "back to the last step of this episode at which a breakpoint held"),
    with(
        Action::Fork,
        "fork",
        "[at STEP] [with checkpoint=ID seed=N action='CALL' result='TEXT']",
        Run,
        "go on from before this step, beside what runs, or live from a recording; [LANE:]EPISODE/STEP names another episode",
    ),
    with(
        Action::Diff,
        "diff",
        "[[LANE:]EPISODE [LANE:]EPISODE|FILE]",
        Nothing,
        "compare two episodes, this recording with another, or by itself this branch with what it goes on from",
    ),
    Entry {
        action: Action::ForkHere,
        name: "fork-here",
        keys: &["g f"],
        argument: "",
        help: "a lane that goes on from before the step at the cursor, with its call to be edited",
        needs: Run,
        scope: Scope::Chain,
    },
    entry(Action::Branches, "branches", &["g b"], Nothing, "the episodes that go on from steps of others, as a tree"),
    local(Scope::Branches, Action::ToParent, "to-parent", &["backspace"], Nothing, "the branch's parent, at the step where they part"),
    local(Scope::Branches, Action::AgainstParent, "against-parent", &["d"], Nothing, "what differs between the branch and its parent"),
    Entry {
        action: Action::Override,
        name: "override",
        keys: &["o"],
        argument: "[action='CALL' result='TEXT']",
        help: "edit what the decision under way does, in place of what the agent says; result answers the call without making it",
        needs: Engine,
        scope: Scope::Chain,
    },
    local(Scope::Chain, Action::Fold, "fold", &["z a"], Nothing, "fold or unfold the row at the cursor; while following, the newest"),
    local(Scope::Chain, Action::FoldAll, "fold-all", &["z M"], Nothing, "fold every row"),
    local(Scope::Chain, Action::UnfoldAll, "unfold-all", &["z R"], Nothing, "unfold every row"),
    local(Scope::Chain, Action::Detail, "detail", &["v"], Nothing, "one line a row, normal, everything"),
    local(Scope::Chain, Action::Raw, "raw", &["R"], Nothing, "what the model reads and writes, as it is"),
    local(
        Scope::Chain,
        Action::Overlay,
        "overlay",
        &["O"],
        Nothing,
        "mark tokens by surprise, entropy, and what else the recording has of them",
    ),
    local(Scope::Chart, Action::SmoothLess, "smooth-less", &["s"], Nothing, "smooth the curve less"),
    local(Scope::Chart, Action::SmoothMore, "smooth-more", &["S"], Nothing, "smooth the curve more"),
    local(Scope::Chart, Action::LogAxis, "log-axis", &["L"], Nothing, "logarithmic axis of the curve, and back"),
    local(Scope::Chart, Action::XAxis, "x-axis", &["x"], Nothing, "by step, by time since the start, by the clock"),
    local(Scope::Chart, Action::Cursor, "cursor", &["i"], Nothing, "cursor with the values under it, and away again"),
    local(Scope::Chart, Action::CursorLeft, "cursor-left", &["left"], Nothing, "cursor, or what is seen, to the left"),
    local(Scope::Chart, Action::CursorRight, "cursor-right", &["right"], Nothing, "cursor, or what is seen, to the right"),
    local(Scope::Chart, Action::ZoomIn, "zoom-in", &["="], Nothing, "see less of the curve, larger"),
    local(Scope::Chart, Action::ZoomOut, "zoom-out", &["-"], Nothing, "see more of the curve"),
    Entry {
        action: Action::Series,
        name: "series",
        keys: &[],
        argument: "NAME[,NAME]",
        help: "show these curves in one chart, such as return,hybrid (up and down go through them one by one)",
        needs: Nothing,
        scope: Scope::Chart,
    },
    local(Scope::List, Action::Sort, "sort", &["o"], Nothing, "sort the list by the next column"),
    with(
        Action::Filter,
        "filter",
        "TEXT",
        Nothing,
        "show only rows of the focused list that hold this, such as fail or ret<0.2; empty shows all",
    ),
    local(Scope::Checkpoints, Action::MarkForCompare, "mark-compare", &["x"], Nothing, "mark for the comparison"),
    local(Scope::Checkpoints, Action::Compare, "compare", &["d"], Nothing, "compare the two that are marked, seed by seed"),
    local(Scope::Checkpoints, Action::Evaluate, "evaluate", &["e"], Nothing, "evaluate the chosen one on held-out seeds"),
    local(Scope::Checkpoints, Action::Verify, "verify", &["V"], Nothing, "verify the chosen one's checksums and fingerprint"),
    with(Action::Cancel, "cancel", "", Nothing, "stop evaluating, comparing and verifying; on checkpoints, esc does it too"),
    local(Scope::Checkpoints, Action::Promote, "promote", &["P"], Engine, "serve the chosen one from the next decision on (typed)"),
    local(Scope::Checkpoints, Action::Pin, "pin", &["p"], Unbuilt, "keep the chosen one from being pruned"),
    local(Scope::Checkpoints, Action::Canary, "canary", &["A"], Unbuilt, "give the chosen one a share of the episodes"),
    local(Scope::Checkpoints, Action::RollBack, "rollback", &["R"], Unbuilt, "serve the one before again"),
    local(Scope::Checkpoints, Action::AbortCanary, "abort", &["X"], Unbuilt, "end the canary"),
    local(Scope::Checkpoints, Action::Undo, "undo", &["u"], Unbuilt, "take the last swap back, within ten minutes"),
    local(Scope::Episodes, Action::MarkEpisode, "mark-episode", &["x"], Nothing, "mark for compare"),
    local(
        Scope::Episodes,
        Action::DiffMarked,
        "diff-marked",
        &["d"],
        Nothing,
        "compare the two that are marked, or the marked and the chosen one",
    ),
    local(Scope::Diff, Action::SideA, "side-a", &["left"], Nothing, "enter goes to the step of A"),
    local(Scope::Diff, Action::SideB, "side-b", &["right"], Nothing, "enter goes to the step of B"),
    local(Scope::Diff, Action::FoldSame, "fold-same", &["z a"], Nothing, "fold steps that are the same, and unfold them"),
    alerts(
        Action::Acknowledge,
        "ack",
        &["a"],
        "[NOTE]",
        Engine,
        "say that you have seen it and see to it: it tells nobody for alerts.acknowledge_minutes",
    ),
    alerts(
        Action::Silence,
        "silence",
        &["z", "s"],
        "[TIME] [NAME=VALUE ...] [COMMENT]",
        Engine,
        "silence the chosen alert by a form, or what these matchers meet, such as silence 2h gpu=0 fans are swapped",
    ),
    alerts(Action::Unsilence, "unsilence", &["Z"], "[SILENCE]", Engine, "end its silence, or the one that is named"),
    alerts(
        Action::ExtendSilence,
        "extend",
        &["x"],
        "[TIME]",
        Engine,
        "the silence of the chosen alert, or the chosen one, lasts longer: an hour, or this",
    ),
    alerts(Action::DryRun, "dry-run", &["D"], "[RECORDING]", Nothing, "try the rule on a recording: when would it have fired"),
    alerts(Action::EditRules, "edit", &["e"], "", Engine, "edit the rule file; only one that is right takes its place"),
    alerts(Action::Runbook, "runbook", &["r"], "[NAME|FILE]", Nothing, "what the rule means and what to do, as a page"),
    alerts(Action::ShowFiring, "show-firing", &["F"], "", Nothing, "show what fires, or leave it out"),
    alerts(Action::ShowPending, "show-pending", &["P"], "", Nothing, "show what is pending, or leave it out"),
    alerts(Action::ShowSilenced, "show-silenced", &["S"], "", Nothing, "show what is silenced or acknowledged, or leave it out"),
    alerts(Action::ShowRest, "show-ok", &["O"], "", Nothing, "show the rules with which all is well, or leave them out"),
    alerts(Action::GroupRules, "group", &[], "[severity|group|instance|none]", Nothing, "group the rules"),
    with(Action::Rules, "rules", "", Nothing, "the rule file: where it lies and whether it is in force"),
    with(Action::AlertNamed, "alert", "[NAME|test NAME [RECORDING]]", Nothing, "go to the rule of that name, or try it on a recording"),
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
    with(Action::Seek, "seek", "@EVENT|EPISODE/STEP|STEP|TIME", Playback, "go there: @1200, 3/12, 12, 41.8s or 1:23 (of the episode)"),
    with(
        Action::Theme,
        "theme",
        "NAME|FILE",
        Nothing,
        "auto, dark, light, high-contrast, colour-blind, system, or a file; read again when saved",
    ),
    with(Action::Colors, "colors", "truecolor|256|16|none|auto", Nothing, "show fewer colours or more"),
    with(Action::Export, "export", "csv|json FILE", Nothing, "write what the focused pane shows to a new file (JSON: one record a line)"),
    with(Action::Bundle, "bundle", "[last 10m] [FILE]", Nothing, "pack the run, or its last minutes, into one file for another machine"),
    with(Action::Shot, "shot", "svg|png|txt|ans FILE", Nothing, "write a picture of the screen to a file"),
];

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
                || crate::ui::lang::tr!("no command is named {name}; ? lists all", name = name),
                |n| crate::ui::lang::tr!("no command is named {name}; did you mean {n}?", name = name, n = n),
            ))
        }
        many => {
            let names = many.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
            Err(crate::ui::lang::tr!("{name} could be {names}", name = name, names = names))
        }
    }
}

/// The key table of the README.
pub fn key_table_markdown() -> String {
    let mut table = String::from("| keys | where | `:` command | what it does |\n|---|---|---|---|\n");
    for e in ACTIONS {
        let keys: Vec<String> = e.keys.iter().map(|k| format!("`{}`", k.replace(' ', ""))).collect();
        let name = format!("{} {}", e.name, e.argument.replace('|', "\\|"));
        let later = if e.needs == Unbuilt { " (not built yet)" } else { "" };
        table.push_str(&format!("| {} | {} | `:{}` | {}{later} |\n", keys.join(" "), e.scope.place(), name.trim(), e.help));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_key_stands_twice_in_a_scope_and_no_name_anywhere() {
        let scopes = [
            Scope::Anywhere,
            Scope::Chain,
            Scope::Chart,
            Scope::List,
            Scope::Checkpoints,
            Scope::Alerts,
            Scope::Episodes,
            Scope::Diff,
            Scope::Branches,
        ];
        for scope in scopes {
            let keys: Vec<&str> = ACTIONS.iter().filter(|e| e.scope == scope).flat_map(|e| e.keys).copied().collect();
            assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "{scope:?}");
            for key in &keys {
                let prefix = format!("{key} ");
                assert!(!keys.iter().any(|k| k.starts_with(&prefix)), "{key} hides a longer one");
            }
        }
        let names: BTreeSet<&str> = ACTIONS.iter().map(|e| e.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
    }

    #[test]
    fn a_page_of_the_menu_has_a_digit_for_each_action() {
        for group in Group::ALL {
            assert!((1..=9).contains(&group.entries().len()), "{group:?}: {}", group.entries().len());
        }
    }

    #[test]
    fn every_action_can_be_reached_by_its_name() {
        for e in ACTIONS {
            assert_eq!(by_name(e.name).unwrap().action, e.action);
        }
        assert!(by_name("swa").is_ok_and(|e| e.action == Action::Swap));
        assert!(by_name("see").is_err_and(|reason| reason.contains("seed, seek")));
        assert!(by_name("quitt").unwrap_err().contains("quit"));
    }
}
