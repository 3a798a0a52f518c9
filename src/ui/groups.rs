//! Pages of the menu, and what stands on which.

use super::actions::{ACTIONS, Action, Entry};
use super::view::{PaneId, ScreenId, View};

/// A page of the menu by digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Run,
    Replay,
    Screens,
    Move,
    Find,
    Look,
    Curve,
    Alerts,
    Change,
    More,
}

impl Group {
    /// The pages where `view` looks, a digit for each: that of curves gives way where alerts are seen to.
    pub fn pages(view: &View) -> [Group; 9] {
        let is_at_alerts = view.screen == ScreenId::Alerts || view.active() == PaneId::Alerts;
        let seventh = if is_at_alerts { Group::Alerts } else { Group::Curve };
        [Group::Run, Group::Replay, Group::Screens, Group::Move, Group::Find, Group::Look, seventh, Group::Change, Group::More]
    }

    pub const ALL: [Group; 10] = [
        Group::Run,
        Group::Replay,
        Group::Screens,
        Group::Move,
        Group::Find,
        Group::Look,
        Group::Curve,
        Group::Alerts,
        Group::Change,
        Group::More,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Group::Run => "run: pause, step",
            Group::Replay => "replay",
            Group::Screens => "screens",
            Group::Move => "move: up, down",
            Group::Find => "find, errors, marks",
            Group::Look => "size, folds, detail",
            Group::Curve => "curves",
            Group::Alerts => "alerts: see to, silence",
            Group::Change => "swap, compare, copy",
            Group::More => "help, stops, quit",
        }
    }

    /// Whether its actions are done several times in a row, so that the menu stays.
    pub fn stays(self) -> bool {
        match self {
            Group::Run | Group::Replay | Group::Move | Group::Find | Group::Look | Group::Curve => true,
            Group::Screens | Group::Alerts | Group::Change | Group::More => false,
        }
    }

    pub fn entries(self) -> Vec<&'static Entry> {
        ACTIONS.iter().filter(|e| e.action.group() == Some(self)).collect()
    }
}

impl Action {
    /// Its page of the menu; none for what a digit does by itself, for what is another action under a second name, and for
    /// what a page of nine has no room for: all of that is in the palette, which the last page opens.
    pub fn group(self) -> Option<Group> {
        Some(match self {
            Action::TogglePause
            | Action::StepDecision
            | Action::StepPhase
            | Action::StepToken
            | Action::StepEpisode
            | Action::Slower
            | Action::Faster
            | Action::Pace
            | Action::Continue => Group::Run,
            Action::StepBack
            | Action::NextStep
            | Action::PreviousEpisode
            | Action::NextEpisode
            | Action::First
            | Action::Last
            | Action::Seek
            | Action::ContinueBack
            | Action::EpisodeList => Group::Replay,
            Action::Screen(
                ScreenId::Live
                | ScreenId::Replay
                | ScreenId::Checkpoints
                | ScreenId::Alerts
                | ScreenId::Training
                | ScreenId::Memory
                | ScreenId::Log,
            )
            | Action::Inspect
            | Action::Open => Group::Screens,
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
            | Action::PreviousMark
            | Action::Filter => Group::Find,
            Action::FullScreen
            | Action::Bigger
            | Action::Smaller
            | Action::Fold
            | Action::FoldAll
            | Action::UnfoldAll
            | Action::Detail
            | Action::Raw
            | Action::Overlay => Group::Look,
            Action::SmoothLess
            | Action::SmoothMore
            | Action::LogAxis
            | Action::XAxis
            | Action::Cursor
            | Action::CursorLeft
            | Action::CursorRight
            | Action::ZoomIn
            | Action::ZoomOut => Group::Curve,
            Action::Swap
            | Action::Seed
            | Action::MarkForCompare
            | Action::Compare
            | Action::Evaluate
            | Action::Copy
            | Action::CopyJson
            | Action::Export
            | Action::Shot => Group::Change,
            Action::Acknowledge
            | Action::Silence
            | Action::Unsilence
            | Action::ExtendSilence
            | Action::DryRun
            | Action::EditRules
            | Action::Runbook
            | Action::GroupRules
            | Action::Sort => Group::Alerts,
            Action::Help
            | Action::Palette
            | Action::CommandLine
            | Action::Break
            | Action::BreakIf
            | Action::Breakpoints
            | Action::Theme
            | Action::Back
            | Action::Quit => Group::More,
            Action::FocusPane(_)
            | Action::Menu
            | Action::PreviousStep
            | Action::Pause
            | Action::Resume
            | Action::Redraw
            | Action::Suspend
            | Action::Colors
            | Action::Series
            | Action::BreakOnce
            | Action::Cond
            | Action::Watch
            | Action::Verify
            | Action::Bundle
            | Action::Cancel
            | Action::Rewind
            | Action::RewindToStop
            | Action::Fork
            | Action::ForkHere
            | Action::Branches
            | Action::ToParent
            | Action::AgainstParent
            | Action::Override
            | Action::Diff
            | Action::MarkEpisode
            | Action::DiffMarked
            | Action::SideA
            | Action::SideB
            | Action::FoldSame
            | Action::Screen(ScreenId::Diff)
            | Action::Pin
            | Action::Canary
            | Action::Promote
            | Action::RollBack
            | Action::AbortCanary
            | Action::Undo
            | Action::ShowFiring
            | Action::ShowPending
            | Action::ShowSilenced
            | Action::ShowRest
            | Action::Rules
            | Action::AlertNamed => return None,
        })
    }
}
