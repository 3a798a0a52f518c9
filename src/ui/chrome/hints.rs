//! The last row: the keys that matter most on this screen, in this pane. What leads out is never left out.

use crate::event::RunState;
use crate::ui::actions::{ACTIONS, Action, Scope};
use crate::ui::lang;
use crate::ui::lang::tr;
use crate::ui::view::{Context, PaneId, ScreenId};
use crate::ui::widgets::{Canvas, Role};

/// A key and what it does, as they are drawn.
type Hint = (String, String);

pub fn draw(canvas: &mut Canvas<'_>, y: u16, cx: &Context<'_>) {
    if cx.view.newcomer {
        let width = canvas.width();
        canvas.text_upto(1, width, y, &newcomer(cx, width), Role::Strong);
        return;
    }
    let quit = hint(Action::Quit, cx);
    let end = canvas.width().saturating_sub(quit.as_ref().map_or(0, |h| room(canvas, h)));
    let mut x = 1;
    if crate::ui::panes::has_menu_key(canvas.width(), y.saturating_sub(1)) {
        x = one(canvas, x, y, &("0".to_owned(), tr!("menu")));
    }
    for hint in list(cx).iter().filter_map(|action| hint(*action, cx)) {
        if x + room(canvas, &hint) > end {
            break;
        }
        x = one(canvas, x, y, &hint);
    }
    if let Some(quit) = quit {
        one(canvas, x, y, &quit);
    }
}

/// For those who have never been here.
fn newcomer(cx: &Context<'_>, width: u16) -> String {
    let key = |action| cx.keys.shown(action).unwrap_or_else(|| format!(":{}", name(action)));
    let (help, pause, step, quit) = (key(Action::Help), key(Action::TogglePause), key(Action::StepDecision), key(Action::Quit));
    if width >= 72 {
        return tr!(
            "new here? {help} shows every key, {pause} pauses, {step} steps, {quit} quits",
            help = help,
            pause = pause,
            step = step,
            quit = quit
        );
    }
    tr!("new? {help} keys, {pause} pause, {quit} quit, 0 menu", help = help, pause = pause, quit = quit)
}

fn room(canvas: &Canvas<'_>, (key, name): &Hint) -> u16 {
    canvas.measure(key) + canvas.measure(name) + 3
}

fn one(canvas: &mut Canvas<'_>, x: u16, y: u16, (key, name): &Hint) -> u16 {
    let x = canvas.text(x, y, key, Role::BorderFocused);
    canvas.text(x + 1, y, name, Role::Dim) + 2
}

fn name(action: Action) -> &'static str {
    ACTIONS.iter().find(|e| e.action == action).map_or("", |e| e.name)
}

/// Nothing for what has no key, and for what can't be used here.
fn hint(action: Action, cx: &Context<'_>) -> Option<Hint> {
    let entry = ACTIONS.iter().find(|e| e.action == action)?;
    super::refusal(entry, cx).is_none().then_some(())?;
    Some((cx.keys.shown(action)?, word(action, cx).unwrap_or_else(|| lang::name(entry.name))))
}

/// What the key does now.
pub fn toggle_word(cx: &Context<'_>) -> String {
    match (cx.playback, cx.state.run_state) {
        (Some(p), _) if p.playing => tr!("pause"),
        (Some(p), _) if p.head >= p.end && !cx.desk.replay.grows => tr!("again"),
        (Some(_), _) => tr!("play"),
        (None, RunState::Starting | RunState::Running | RunState::Stepping) => tr!("pause"),
        (None, RunState::Paused | RunState::Ended) => tr!("resume"),
    }
}

/// What is said in place of a command's name, where that would say less.
fn word(action: Action, cx: &Context<'_>) -> Option<String> {
    Some(if action == Action::TogglePause {
        toggle_word(cx)
    } else if action == Action::CommandLine {
        tr!("cmd")
    } else if action == Action::FocusNext {
        tr!("next pane")
    } else if action == Action::MarkForCompare || action == Action::MarkEpisode {
        tr!("mark")
    } else if action == Action::DiffMarked {
        tr!("diff")
    } else if cx.view.screen == ScreenId::Diff && cx.view.search.is_empty() && action == Action::NextMatch {
        tr!("next difference")
    } else if cx.view.screen == ScreenId::Diff && cx.view.search.is_empty() && action == Action::PreviousMatch {
        tr!("difference before")
    } else if action == Action::PreviousEpisode {
        tr!("ep before")
    } else if action == Action::NextEpisode {
        tr!("ep after")
    } else if action == Action::SmoothMore {
        tr!("smooth")
    } else {
        return None;
    })
}

/// The most important first; quitting stands behind them all.
fn list(cx: &Context<'_>) -> Vec<Action> {
    let mut list = vec![Action::Help];
    // With something above the panes, the way back comes first.
    if cx.view.popup.is_some() {
        list.push(Action::Back);
    }
    list.extend(of_screen(cx));
    list.extend(of_pane(cx));
    list.extend([Action::CommandLine, Action::Palette, Action::FullScreen, Action::FocusNext, Action::Copy]);
    let mut seen = Vec::new();
    list.retain(|a| {
        !seen.contains(a) && {
            seen.push(*a);
            true
        }
    });
    list
}

fn of_screen(cx: &Context<'_>) -> &'static [Action] {
    match cx.view.screen {
        ScreenId::Replay if cx.playback.is_some() => &[
            Action::TogglePause,
            Action::StepDecision,
            Action::StepBack,
            Action::EpisodeList,
            Action::Inspect,
            Action::NextError,
            Action::Break,
            Action::Continue,
            Action::PreviousEpisode,
            Action::NextEpisode,
        ],
        ScreenId::Live | ScreenId::Replay | ScreenId::Memory => match cx.playback {
            None => &[Action::TogglePause, Action::StepDecision],
            Some(_) => &[Action::TogglePause, Action::StepDecision, Action::StepBack, Action::PreviousEpisode, Action::NextEpisode],
        },
        ScreenId::Checkpoints => &[
            Action::MarkForCompare,
            Action::Compare,
            Action::Evaluate,
            Action::Verify,
            Action::Promote,
            Action::Canary,
            Action::RollBack,
            Action::Undo,
        ],
        ScreenId::Alerts => &[
            Action::Acknowledge,
            Action::Silence,
            Action::Unsilence,
            Action::ExtendSilence,
            Action::Runbook,
            Action::DryRun,
            Action::EditRules,
        ],
        ScreenId::Diff => &[Action::Open, Action::NextMatch, Action::PreviousMatch, Action::FoldSame, Action::SideA, Action::SideB],
        ScreenId::Training | ScreenId::Log => &[],
    }
}

fn of_pane(cx: &Context<'_>) -> &'static [Action] {
    let pane: PaneId = cx.view.active();
    match Scope::of(cx.view.screen, pane).first().copied().unwrap_or(Scope::Anywhere) {
        Scope::Chain => &[Action::Fold, Action::Detail, Action::Search, Action::Break, Action::Continue, Action::Slower, Action::Faster],
        Scope::Chart => &[Action::SmoothMore, Action::LogAxis, Action::XAxis, Action::Cursor, Action::ZoomIn, Action::ZoomOut],
        Scope::Episodes => &[Action::Open, Action::Sort, Action::Search, Action::MarkEpisode, Action::DiffMarked],
        Scope::Diff => &[Action::Search],
        Scope::Branches => &[Action::Open, Action::ToParent, Action::AgainstParent],
        Scope::List => &[Action::Open, Action::Sort, Action::Search],
        Scope::Anywhere | Scope::Checkpoints | Scope::Alerts => &[Action::Slower, Action::Faster, Action::Search],
    }
}
