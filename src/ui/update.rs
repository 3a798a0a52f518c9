//! From a key to what it changes: pure, except for the effects that it returns.

use super::actions::{Action, by_name};
use super::backstage::Ask;
use super::branch;
use super::breaks;
use super::copy::Form;
use super::desk::{Desk, Sought};
use super::find;
use super::panes::replay::Scene;
use super::panes::{self, Max, Motion, Travel, chain, curves, rules};
use super::silence_form::SilenceForm;
use super::steer;
use super::stops::{self, StopEffect};
use super::view::{Detail, PaneId, PlaybackView, ScreenId, Scroll, Share, View};
use super::widgets::Glyphs;
use crate::event::{Command, EpisodeId, LaneId, Pace, Seq, StepIndex, StepUnit};
use crate::state::DashState;
use crate::ui::lang::tr;
use ratatui::layout::Rect;

/// What the app is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Send(Command),
    Play(bool),
    SetSpeed(Pace),
    Seek(Seq),
    StepPlayback(StepUnit, i64),
    LoadTheme(String),
    Colors(String),
    Copy(Form),
    Export(String),
    Shot(String),
    /// The editor of the decision under way, or of a fork from the row at the cursor.
    EditPending,
    EditFork,
    /// The rule file in an outside editor.
    EditRules,
    OpenSilence(Box<SilenceForm>),
    OpenHelp,
    OpenPalette,
    /// The command line, with what stands in it already.
    OpenCommand(String),
    /// Work for backstage.
    Ask(Ask),
    Replay(ReplayEffect),
    Stops(StopEffect),
    /// Lines under a title, until a key is pressed.
    Tell(String, Vec<String>),
    /// Shows the names that a condition knows.
    TellFields,
    /// What would have asked for typed words is not done, and why: words that are typed nevertheless are no keys.
    Refuse(String),
    OpenSearch,
    OpenMenu,
    /// Send it when the operator has typed its name.
    Confirm(Confirm),
    Close,
    Redraw,
    Suspend,
    /// Ask first when a run would end.
    Quit,
    Notice(String),
    /// What was asked for can't be done; a `:` line stays, to be mended.
    Mistake(String),
}

/// What the app is to do with a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayEffect {
    /// Back to the live run that was parked.
    Leave,
    /// Look for words in the whole recording; for none when empty.
    Search(String),
    /// Go where something is, as soon as that is known.
    Look {
        what: Sought,
        from: Seq,
        forward: bool,
    },
    SeekStep(LaneId, EpisodeId, StepIndex),
    /// To an event, and to its lane.
    SeekEvent(Seq),
}

/// A command that changes what runs: it is sent only when verb and name were typed. Danger is slow.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirm {
    pub verb: &'static str,
    pub name: String,
    /// What else could be meant by a short name.
    pub others: Vec<String>,
    /// What will happen, in words.
    pub what: String,
    pub command: Command,
}

impl Confirm {
    /// Case does not count. The name may be cut short, also to the beginning of its last part, while it means no other.
    pub fn accepts(&self, typed: &str) -> bool {
        let typed = typed.to_lowercase();
        let mut words = typed.split_whitespace();
        let (Some(verb), Some(short), None) = (words.next(), words.next(), words.next()) else { return false };
        let means = |name: &String| {
            let name = name.to_lowercase();
            name.starts_with(short) || name.rsplit('-').next().is_some_and(|last| last.starts_with(short))
        };
        let name = self.name.to_lowercase();
        verb == self.verb && (short == name || means(&self.name) && !self.others.iter().any(means))
    }
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    Click,
    /// The button is held while the mouse moves.
    Drag,
    WheelUp,
    WheelDown,
}

/// What an action may look at besides the view.
pub struct Facts<'a> {
    pub state: &'a DashState,
    pub desk: &'a Desk,
    pub playback: Option<&'a PlaybackView>,
    /// An engine takes commands.
    pub can_command: bool,
    /// What lies between the status bar and the hints.
    pub area: Rect,
    pub glyphs: Glyphs,
}

/// Lines that a wheel's click scrolls.
const WHEEL: i64 = 3;

/// Does an action: changes the view, returns the rest.
pub fn act(action: Action, argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if let Some(objection) = objection(action, facts) {
        return vec![if action == Action::Promote { Effect::Refuse(objection) } else { Effect::Mistake(objection) }];
    }
    match action {
        Action::Help => vec![Effect::OpenHelp],
        Action::CommandLine => vec![Effect::OpenCommand(String::new())],
        Action::Palette => vec![Effect::OpenPalette],
        Action::Screen(ScreenId::Live) if facts.desk.parked.is_some() => vec![Effect::Replay(ReplayEffect::Leave)],
        Action::Screen(ScreenId::Replay) => panes::replay::enter(view, facts),
        Action::Screen(screen) => {
            view.go(screen);
            match screen {
                ScreenId::Checkpoints => panes::checkpoints::enter(view, facts),
                ScreenId::Alerts => rules::enter(view, facts),
                ScreenId::Live | ScreenId::Replay | ScreenId::Training | ScreenId::Memory | ScreenId::Log | ScreenId::Diff => Vec::new(),
            }
        }
        Action::Search => vec![Effect::OpenSearch],
        Action::Menu => vec![Effect::OpenMenu],
        Action::Back => {
            if view.popup.take().is_some() {
                return Vec::new();
            }
            let was_plain = view.share == Share::Normal && view.search.is_empty();
            view.share = Share::Normal;
            view.search.clear();
            // With nothing left to be closed, it leads out of the work that was begun here.
            let cancels = was_plain && view.screen == ScreenId::Checkpoints && facts.desk.bench.is_busy();
            let cancel = if cancels { panes::checkpoints::cancel(facts) } else { Vec::new() };
            let diffs = was_plain && view.screen == ScreenId::Diff && facts.desk.diff.is_asked();
            let cancel_diff = if diffs { panes::diff::cancel() } else { Vec::new() };
            [vec![Effect::Close], cancel, cancel_diff].concat()
        }
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::Quit if facts.desk.parked.is_some() => vec![Effect::Replay(ReplayEffect::Leave)],
        Action::Quit => vec![Effect::Quit],
        Action::Theme => vec![Effect::LoadTheme(argument.to_owned())],
        Action::Colors => vec![Effect::Colors(argument.to_owned())],
        Action::Copy => vec![Effect::Copy(Form::Text)],
        Action::CopyJson => vec![Effect::Copy(Form::Json)],
        Action::Export => vec![Effect::Export(argument.to_owned())],
        Action::Bundle => panes::replay::bundle(argument, view, facts),
        Action::Shot => vec![Effect::Shot(if argument.is_empty() { "svg".into() } else { argument.to_owned() })],
        Action::TogglePause => steer::toggle(view, facts),
        Action::Pause => steer::pause(facts),
        Action::Resume => steer::resume(view, facts),
        Action::StepDecision => steer::step(StepUnit::Decision, view, facts),
        Action::StepPhase => steer::step(StepUnit::Phase, view, facts),
        Action::StepToken => steer::step(StepUnit::Token, view, facts),
        Action::StepEpisode => steer::step(StepUnit::Episode, view, facts),
        Action::Slower => steer::change_pace(Pace::slower, view, facts),
        Action::Faster => steer::change_pace(Pace::faster, view, facts),
        Action::Pace => steer::set_pace(argument, view, facts),
        Action::Seed => steer::seed(argument, facts),
        Action::Swap => steer::swap(argument, facts),
        Action::StepBack | Action::PreviousStep => vec![Effect::StepPlayback(StepUnit::Decision, -1)],
        Action::NextStep => vec![Effect::StepPlayback(StepUnit::Decision, 1)],
        Action::PreviousEpisode if view.screen == ScreenId::Replay => panes::replay::neighbour(view, facts, false),
        Action::NextEpisode if view.screen == ScreenId::Replay => panes::replay::neighbour(view, facts, true),
        Action::PreviousEpisode => vec![Effect::StepPlayback(StepUnit::Episode, -1)],
        Action::NextEpisode => vec![Effect::StepPlayback(StepUnit::Episode, 1)],
        Action::First => vec![Effect::Seek(Seq(0))],
        Action::Last => vec![Effect::Seek(Seq(u64::MAX))],
        Action::Seek => panes::replay::seek(argument, view, facts),
        Action::FocusNext => focus(1, view, facts),
        Action::FocusPrevious => focus(-1, view, facts),
        Action::FocusPane(number) => focus_pane(number, view),
        Action::FullScreen => {
            view.share = if view.share == Share::Full { Share::Normal } else { Share::Full };
            Vec::new()
        }
        Action::Bigger => {
            view.share = view.share.bigger();
            Vec::new()
        }
        Action::Smaller => {
            view.share = view.share.smaller();
            Vec::new()
        }
        Action::Up => travel(Motion::Lines(-1), view, facts),
        Action::Down => travel(Motion::Lines(1), view, facts),
        Action::PageUp => travel(Motion::Pages(-1), view, facts),
        Action::PageDown => travel(Motion::Pages(1), view, facts),
        Action::Top => travel(Motion::Oldest, view, facts),
        Action::Bottom => to_newest(view, facts),
        Action::Fold => fold(view, facts),
        Action::FoldAll => set_detail(Detail::Brief, view),
        Action::UnfoldAll => set_detail(Detail::Full, view),
        Action::Detail => {
            view.detail = view.detail.next();
            Vec::new()
        }
        Action::Raw => {
            view.raw = !view.raw;
            Vec::new()
        }
        Action::NextLane => lane(argument, view, facts),
        Action::Overlay => chain::next_overlay(view, facts.state),
        Action::SmoothLess => on_chart(view, |view| curves::smooth(view, -1)),
        Action::SmoothMore => on_chart(view, |view| curves::smooth(view, 1)),
        Action::LogAxis => on_chart(view, |view| view.chart.log = !view.chart.log),
        Action::XAxis => curves::next_axis(view, facts),
        Action::Cursor => on_chart(view, |view| curves::toggle_cursor(view, facts)),
        Action::CursorLeft => on_chart(view, |view| curves::sideways(view, facts, false)),
        Action::CursorRight => on_chart(view, |view| curves::sideways(view, facts, true)),
        Action::ZoomIn => on_chart(view, |view| curves::zoom(view, facts, 1)),
        Action::ZoomOut => on_chart(view, |view| curves::zoom(view, facts, -1)),
        Action::Series => curves::choose(argument, view),
        Action::Open => (view.active().spec().open)(view, facts),
        Action::Sort => (view.active().spec().sort)(view, facts),
        Action::Filter => (view.active().spec().filter)(argument, view, facts),
        Action::EpisodeList => panes::replay::show(PaneId::Episodes, view, facts),
        Action::Inspect => panes::replay::show(PaneId::Inspector, view, facts),
        Action::Break => breaks::here(view, facts),
        Action::BreakIf => breaks::set("break", argument, false),
        Action::BreakOnce => breaks::set("tbreak", argument, true),
        Action::Cond => breaks::change(argument),
        Action::Breakpoints => breaks::list(argument, view.lane, facts),
        Action::Watch => stops::watch(argument),
        Action::Continue => stops::run_on(true, facts),
        Action::ContinueBack => stops::run_on(false, facts),
        Action::Rewind => branch::rewind(argument, view, facts),
        Action::RewindToStop if facts.playback.is_some() => stops::run_on(false, facts),
        Action::RewindToStop => branch::rewind_to_stop(view, facts),
        Action::Fork => branch::fork(argument, view, facts),
        Action::Diff => panes::diff::ask(argument, view, facts),
        Action::MarkEpisode => panes::diff::mark(view, facts),
        Action::DiffMarked => panes::diff::ask_marked(view, facts),
        Action::SideA => panes::diff::side(view, false),
        Action::SideB => panes::diff::side(view, true),
        Action::FoldSame => panes::diff::fold(view),
        Action::Branches => panes::branches::show(view, facts),
        Action::ToParent => panes::branches::to_parent(view, facts),
        Action::AgainstParent => panes::branches::against_parent(view, facts),
        Action::Override if argument.is_empty() => vec![Effect::EditPending],
        Action::Override => branch::override_decision(argument, view),
        Action::ForkHere => vec![Effect::EditFork],
        Action::MarkForCompare => panes::checkpoints::mark(view, facts),
        Action::Compare => panes::checkpoints::compare(view, facts),
        Action::Evaluate => panes::checkpoints::evaluate(view, facts),
        Action::Verify => panes::checkpoints::verify(view, facts),
        Action::Cancel if facts.desk.diff.is_asked() => panes::diff::cancel(),
        Action::Cancel => panes::checkpoints::cancel(facts),
        Action::Promote => panes::checkpoints::promote(view, facts),
        // `objection` has told that they are not built.
        Action::Pin | Action::Canary | Action::RollBack | Action::AbortCanary | Action::Undo => Vec::new(),
        Action::Acknowledge => rules::acknowledge(argument, view, facts),
        Action::Silence => rules::silence(argument, view, facts),
        Action::Unsilence => rules::unsilence(argument, view, facts),
        Action::ExtendSilence => rules::extend(argument, view, facts),
        Action::DryRun => rules::dry_run(argument, view, facts),
        Action::EditRules => rules::edit(facts),
        Action::Runbook => rules::runbook(argument, view, facts),
        Action::ShowFiring => rules::toggle(rules::Class::Firing, view),
        Action::ShowPending => rules::toggle(rules::Class::Pending, view),
        Action::ShowSilenced => rules::toggle(rules::Class::Silenced, view),
        Action::ShowRest => rules::toggle(rules::Class::Rest, view),
        Action::GroupRules => rules::group(argument, view),
        Action::Rules => rules::file(view, facts),
        Action::AlertNamed => rules::test(argument, view, facts),
        Action::NextMatch => find::to_match(view, facts, true),
        Action::PreviousMatch => find::to_match(view, facts, false),
        Action::NextError => find::to_error(view, facts, true),
        Action::PreviousError => find::to_error(view, facts, false),
        Action::SetMark => find::set_mark(view, facts),
        Action::NextMark => find::to_mark(view, facts, true),
        Action::PreviousMark => find::to_mark(view, facts, false),
    }
}

/// What the key of `action` does on this screen: `0` opens the menu where there is no recording to go to the beginning of, and
/// on screens so small that their keyboard may have little more than digits.
pub fn by_key(action: Action, facts: &Facts<'_>) -> Action {
    let small = panes::has_menu_key(facts.area.width, facts.area.height);
    if action == Action::First && (small || facts.playback.is_none()) { Action::Menu } else { action }
}

/// A click focuses and chooses what is under it, a wheel scrolls it; on the timeline the playhead follows the button.
pub fn point(pointer: Pointer, x: u16, y: u16, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(pane) = panes::pane_at(view, facts.area, x, y) else { return Vec::new() };
    match pointer {
        Pointer::Drag if pane != PaneId::Timeline || view.focus != PaneId::Timeline => {}
        Pointer::Click | Pointer::Drag => {
            view.popup = view.popup.filter(|popup| *popup == pane);
            if view.popup.is_none() {
                view.focus = pane;
            }
            return (pane.spec().click)(view, facts, x, y);
        }
        Pointer::WheelUp => scroll(view, facts, pane, Motion::View(-WHEEL)),
        Pointer::WheelDown => scroll(view, facts, pane, Motion::View(WHEEL)),
    }
    Vec::new()
}

/// Reads a `:` line.
pub fn command(line: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let (name, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    if name.is_empty() {
        return Vec::new();
    }
    match by_name(name) {
        // The key asks for an expression; a line without one asks what is watched.
        Ok(entry) if entry.action == Action::Watch && argument.trim().is_empty() => stops::watch_list(facts, view.lane),
        Ok(entry) => act(entry.action, argument.trim(), view, facts),
        Err(reason) => vec![Effect::Mistake(reason)],
    }
}

fn objection(action: Action, facts: &Facts<'_>) -> Option<String> {
    let entry = super::actions::ACTIONS.iter().find(|e| e.action == action)?;
    entry.refusal(facts.can_command, facts.playback.is_some())
}

/// The lane that is named, or the next one.
fn lane(argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let lanes = &facts.state.lanes;
    if argument.is_empty() {
        let next = lanes.keys().find(|l| **l > view.lane).or(lanes.keys().next());
        view.lane = next.copied().unwrap_or_default();
        return Vec::new();
    }
    match lanes.keys().find(|l| l.to_string() == argument) {
        Some(lane) => {
            view.lane = *lane;
            Vec::new()
        }
        None => vec![Effect::Mistake(tr!("there is no lane {lane}", lane = argument))],
    }
}

/// The next pane of the screen gets the focus, or the one before.
fn focus(by: isize, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.popup = None;
    let panes = panes::of_screen(view, facts.area);
    let at = panes.iter().position(|p| *p == view.focus).unwrap_or(0);
    view.focus = panes[(at + panes.len()).saturating_add_signed(by) % panes.len()];
    Vec::new()
}

fn focus_pane(number: usize, view: &mut View) -> Vec<Effect> {
    view.popup = None;
    let panes = view.screen.panes();
    view.focus = panes[number.min(panes.len() - 1)];
    Vec::new()
}

/// Folds the row at the cursor, or unfolds it.
fn fold(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let is_replay = view.screen == ScreenId::Replay;
    let row = if is_replay { panes::replay::cursor_row(Scene::seen(view, facts)) } else { chain::cursor_row(view, facts.state) };
    if let Some(seq) = row.map(|row| row.seq) {
        let open = view.folds.get(&seq).copied().unwrap_or(view.detail != Detail::Brief);
        view.folds.insert(seq, !open);
    }
    Vec::new()
}

fn set_detail(detail: Detail, view: &mut View) -> Vec<Effect> {
    view.folds.clear();
    view.detail = detail;
    Vec::new()
}

fn on_chart(view: &mut View, change: impl FnOnce(&mut View)) -> Vec<Effect> {
    change(view);
    Vec::new()
}

fn travel(motion: Motion, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    scroll(view, facts, view.active(), motion);
    Vec::new()
}

pub fn scroll(view: &mut View, facts: &Facts<'_>, pane: PaneId, motion: Motion) {
    // What is not shown has no height, and nobody scrolls it.
    let Some(inside) = panes::inside(view, facts.area, pane) else { return };
    match pane.spec().travel {
        Travel::Own(go) => go(view, facts, inside, motion),
        Travel::Lines(max) => scroll_list(view, facts, (pane, inside), motion, max),
        Travel::Nowhere => {}
    }
}

/// The log begins at its newest line, which is the lowest; the other lists begin at the top.
fn scroll_list(view: &mut View, facts: &Facts<'_>, (pane, inside): (PaneId, (u16, u16)), motion: Motion, max: Max) {
    let mut slot = view.scroll_of(pane);
    if slot.follow {
        slot.total_at_stop = facts.state.log.total();
    }
    let max = max(Scene::seen(view, facts), facts.glyphs, Scroll { follow: false, ..slot }, inside);
    let down = match motion {
        Motion::Lines(lines) | Motion::View(lines) => lines,
        Motion::Pages(pages) => pages * i64::from(inside.1.saturating_sub(1).max(1)),
        Motion::Oldest => -(max as i64),
        Motion::Row(_) => 0,
    };
    let away = if pane == PaneId::Log { -down } else { down };
    slot.up = usize::try_from(slot.up.min(max) as i64 + away).unwrap_or(0).min(max);
    slot.follow = slot.up == 0;
    view.scroll.insert(pane, slot);
}

fn to_newest(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match view.active().spec().newest {
        Some(follow) => follow(view),
        None => scroll(view, facts, view.active(), Motion::Lines(i64::from(i32::MAX))),
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{RunState, Seed};

    fn facts(state: &DashState) -> Facts<'_> {
        Facts {
            state,
            desk: Box::leak(Box::default()),
            playback: None,
            can_command: true,
            area: Rect::new(0, 1, 120, 34),
            glyphs: Glyphs::default(),
        }
    }

    #[test]
    fn space_pauses_what_runs_and_resumes_what_does_not() {
        let mut state = DashState { run_state: RunState::Running, ..DashState::default() };
        let mut view = View::default();
        assert_eq!(act(Action::TogglePause, "", &mut view, &facts(&state)), [Effect::Send(Command::Pause)]);
        state.run_state = RunState::Paused;
        assert_eq!(act(Action::TogglePause, "", &mut view, &facts(&state)), [Effect::Send(Command::Resume)]);
    }

    #[test]
    fn engine_actions_grey_out_where_there_is_no_engine() {
        let state = DashState::default();
        let mut view = View::default();
        let none = Facts { can_command: false, ..facts(&state) };
        assert!(matches!(&act(Action::StepToken, "", &mut view, &none)[..], [Effect::Mistake(_)]));
        assert!(matches!(&act(Action::First, "", &mut view, &facts(&state))[..], [Effect::Mistake(_)]));
    }

    #[test]
    fn commands_take_arguments_and_mistakes_are_told() {
        let state = DashState::default();
        let mut view = View::default();
        assert_eq!(command("pace 4", &mut view, &facts(&state)), [Effect::Send(Command::SetPace(Pace::Times(4.0)))]);
        let asks = command("seed 7", &mut view, &facts(&state));
        assert!(matches!(&asks[..], [Effect::Confirm(Confirm { command: Command::Reseed { seed: Seed(7) }, .. })]), "{asks:?}");
        assert!(matches!(&command("seed x", &mut view, &facts(&state))[..], [Effect::Mistake(_)]));
        assert!(matches!(&command("nonsense", &mut view, &facts(&state))[..], [Effect::Mistake(_)]));
    }
}
