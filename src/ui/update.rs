//! From a key to what it changes: pure, except for the effects that it returns.

use super::actions::{Action, by_name};
use super::backstage::Ask;
use super::copy::Form;
use super::desk::{Desk, Sought};
use super::find;
use super::panes::{self, Motion, chain};
use super::stops::StopEffect;
use super::view::{Detail, PaneId, PlaybackView, ScreenId, Share, View};
use super::widgets::Glyphs;
use crate::event::{CheckpointId, Command, EpisodeId, LaneId, Pace, Seed, Seq, StepIndex, StepUnit};
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
        return vec![Effect::Mistake(objection)];
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
                ScreenId::Live | ScreenId::Replay | ScreenId::Alerts | ScreenId::Training | ScreenId::Memory | ScreenId::Log => Vec::new(),
            }
        }
        Action::Search => vec![Effect::OpenSearch],
        Action::Menu => vec![Effect::OpenMenu],
        Action::Back => {
            if view.popup.take().is_some() {
                return Vec::new();
            }
            view.share = Share::Normal;
            view.search.clear();
            vec![Effect::Close]
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
        Action::Shot => vec![Effect::Shot(if argument.is_empty() { "svg".into() } else { argument.to_owned() })],
        Action::TogglePause
        | Action::Pause
        | Action::Resume
        | Action::StepDecision
        | Action::StepPhase
        | Action::StepToken
        | Action::StepEpisode
        | Action::Slower
        | Action::Faster
        | Action::Pace
        | Action::Seed
        | Action::Swap => run_action(action, argument, view, facts),
        Action::StepBack | Action::PreviousStep => vec![Effect::StepPlayback(StepUnit::Decision, -1)],
        Action::NextStep => vec![Effect::StepPlayback(StepUnit::Decision, 1)],
        Action::PreviousEpisode if view.screen == ScreenId::Replay => panes::replay::neighbour(view, facts, false),
        Action::NextEpisode if view.screen == ScreenId::Replay => panes::replay::neighbour(view, facts, true),
        Action::PreviousEpisode => vec![Effect::StepPlayback(StepUnit::Episode, -1)],
        Action::NextEpisode => vec![Effect::StepPlayback(StepUnit::Episode, 1)],
        Action::First => vec![Effect::Seek(Seq(0))],
        Action::Last => vec![Effect::Seek(Seq(u64::MAX))],
        Action::Seek => panes::replay::seek(argument, view, facts),
        Action::FocusNext
        | Action::FocusPrevious
        | Action::FocusPane(_)
        | Action::FullScreen
        | Action::Bigger
        | Action::Smaller
        | Action::Up
        | Action::Down
        | Action::PageUp
        | Action::PageDown
        | Action::Top
        | Action::Bottom
        | Action::Fold
        | Action::FoldAll
        | Action::UnfoldAll
        | Action::Detail
        | Action::Raw => view_action(action, view, facts),
        Action::NextLane => lane(argument, view, facts),
        Action::Overlay => chain::next_overlay(view, facts.state),
        Action::SmoothLess
        | Action::SmoothMore
        | Action::LogAxis
        | Action::XAxis
        | Action::Cursor
        | Action::CursorLeft
        | Action::CursorRight
        | Action::ZoomIn
        | Action::ZoomOut
        | Action::Series => panes::curves::act(action, argument, view, facts),
        Action::Open | Action::Sort | Action::Filter => list_action(action, argument, view, facts),
        Action::EpisodeList | Action::Inspect => panes::replay::act(action, argument, view, facts),
        Action::Break
        | Action::BreakIf
        | Action::BreakOnce
        | Action::Breakpoints
        | Action::Watch
        | Action::Continue
        | Action::ContinueBack => super::stops::act(action, argument, view, facts),
        Action::MarkForCompare => panes::checkpoints::mark(view, facts),
        Action::Compare => panes::checkpoints::compare(view, facts),
        Action::Evaluate => panes::checkpoints::evaluate(view, facts),
        Action::Verify => panes::checkpoints::verify(view, facts),
        Action::Promote => panes::checkpoints::promote(view, facts),
        // `objection` has told that they are not built.
        Action::Pin | Action::Canary | Action::RollBack | Action::AbortCanary | Action::Undo => Vec::new(),
        Action::Acknowledge | Action::Silence | Action::Unsilence | Action::DryRun | Action::EditRules => Vec::new(),
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
            return match pane {
                PaneId::Timeline => panes::replay::timeline_seq(view, facts, x, y).map(Effect::Seek).into_iter().collect(),
                _ => panes::replay::click(view, facts, pane, x, y),
            };
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
        Ok(entry) => act(entry.action, argument.trim(), view, facts),
        Err(reason) => vec![Effect::Mistake(reason)],
    }
}

/// What the keys of a list do, by the pane that they go to.
fn list_action(action: Action, argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match view.active() {
        PaneId::Tools if action == Action::Open => {
            view.popup = Some(PaneId::Request);
            Vec::new()
        }
        PaneId::Log if action == Action::Open => {
            view.log.whole = !view.log.whole;
            Vec::new()
        }
        PaneId::Log if action == Action::Sort => vec![Effect::Notice(panes::log::sort(view))],
        PaneId::Log => {
            view.log.filter = argument.trim().to_lowercase();
            Vec::new()
        }
        PaneId::Rules if action == Action::Filter => {
            view.rules_filter = argument.trim().to_owned();
            Vec::new()
        }
        PaneId::Rules if action == Action::Open => {
            view.focus = PaneId::RuleDetail;
            Vec::new()
        }
        PaneId::Checkpoints if action == Action::Open => panes::checkpoints::compare(view, facts),
        PaneId::Chain
        | PaneId::Reward
        | PaneId::Tools
        | PaneId::Gpu
        | PaneId::Alerts
        | PaneId::Memory
        | PaneId::Transcript
        | PaneId::Episodes
        | PaneId::Inspector
        | PaneId::Timeline
        | PaneId::Checkpoints
        | PaneId::Compare
        | PaneId::Rollout
        | PaneId::Rules
        | PaneId::RuleDetail
        | PaneId::Silences
        | PaneId::Curves
        | PaneId::Vitals
        | PaneId::Evaluations
        | PaneId::Prompt
        | PaneId::Recall
        | PaneId::Request => panes::replay::act(action, argument, view, facts),
    }
}

fn objection(action: Action, facts: &Facts<'_>) -> Option<String> {
    let entry = super::actions::ACTIONS.iter().find(|e| e.action == action)?;
    entry.refusal(facts.can_command, facts.playback.is_some())
}

fn run_action(action: Action, argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    use crate::event::RunState;
    let step = |unit| match facts.playback {
        Some(_) => vec![Effect::StepPlayback(unit, 1)],
        None => vec![Effect::Send(Command::Step { lane: view.lane, unit, count: 1 })],
    };
    let told = facts.playback.map_or(facts.state.pace.unwrap_or(Pace::Times(1.0)), |p| p.speed);
    // Until the engine has answered, the pace that was asked for last counts: `)))` is three steps.
    let current = view.pace_asked.filter(|(_, before)| *before == told).map_or(told, |(asked, _)| asked);
    let mut pace = |pace: Pace| {
        view.pace_asked = Some((pace, told));
        match facts.playback {
            Some(_) => vec![Effect::SetSpeed(pace)],
            None => vec![Effect::Send(Command::SetPace(pace))],
        }
    };
    match action {
        Action::TogglePause => match (facts.playback, facts.state.run_state) {
            (Some(p), _) if p.playing => vec![Effect::Play(false)],
            (Some(p), _) => play(view, p),
            (None, RunState::Running | RunState::Stepping) => vec![Effect::Send(Command::Pause)],
            (None, RunState::Starting | RunState::Paused | RunState::Ended) => vec![Effect::Send(Command::Resume)],
        },
        Action::Pause => vec![facts.playback.map_or(Effect::Send(Command::Pause), |_| Effect::Play(false))],
        Action::Resume => facts.playback.map_or_else(|| vec![Effect::Send(Command::Resume)], |p| play(view, p)),
        Action::StepDecision => step(StepUnit::Decision),
        Action::StepPhase => step(StepUnit::Phase),
        Action::StepToken => step(StepUnit::Token),
        Action::StepEpisode => step(StepUnit::Episode),
        Action::Slower => pace(current.slower()),
        Action::Faster => pace(current.faster()),
        Action::Pace => match argument.parse() {
            Ok(asked) => pace(asked),
            Err(reason) => vec![Effect::Mistake(reason)],
        },
        Action::Seed => match argument.parse::<u64>() {
            Ok(seed) => vec![Effect::Confirm(Confirm {
                verb: "seed",
                name: argument.to_owned(),
                others: Vec::new(),
                what: tr!("ends {episodes} under way and begins anew from seed {seed}", episodes = running(facts), seed = seed),
                command: Command::Reseed { seed: Seed(seed) },
            })],
            Err(_) => vec![Effect::Mistake(tr!("`{argument}` is no seed; write a whole number", argument = argument))],
        },
        Action::Swap => swap(argument, facts),
        _ => Vec::new(),
    }
}

/// Plays on; at the end, from the beginning again.
fn play(view: &mut View, playback: &PlaybackView) -> Vec<Effect> {
    if playback.end == Seq(0) {
        return vec![Effect::Notice(tr!("the recording holds no events"))];
    }
    if playback.head < playback.end {
        return vec![Effect::Play(true)];
    }
    view.place = None;
    vec![Effect::Seek(Seq(0)), Effect::Play(true), Effect::Notice(tr!("from the beginning again"))]
}

pub fn swap(argument: &str, facts: &Facts<'_>) -> Vec<Effect> {
    let names: Vec<String> = facts.state.checkpoints.iter().map(|c| c.checkpoint.0.clone()).collect();
    if argument.is_empty() {
        return vec![Effect::Mistake(tr!("swap needs a checkpoint: {names}", names = names.join(", ")))];
    }
    let suffix = format!("-{argument}");
    let name = names.iter().find(|n| *n == argument || n.ends_with(&suffix)).map_or(argument, String::as_str).to_owned();
    if !names.contains(&name) {
        let told = tr!("no checkpoint is named {argument}; there are {names}", argument = argument, names = names.join(", "));
        return vec![Effect::Mistake(told)];
    }
    if facts.state.serving.as_ref().is_some_and(|serving| serving.0 == name) {
        return vec![Effect::Mistake(tr!("{name} serves already", name = name))];
    }
    let from = facts.state.serving.as_ref().map_or("n/a", |c| c.0.as_str());
    vec![Effect::Confirm(Confirm {
        verb: "swap",
        what: tr!("{from} -> {name}, on all lanes, from the next decision on", from = from, name = name),
        others: names.into_iter().filter(|n| *n != name).collect(),
        command: Command::Swap { checkpoint: CheckpointId::from(name.as_str()) },
        name,
    })]
}

/// The episodes that run, in words.
fn running(facts: &Facts<'_>) -> String {
    match facts.state.lanes.values().filter(|lane| lane.episode.ended.is_none()).count() {
        1 => tr!("the episode"),
        count => tr!("{n} episodes", n = count),
    }
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

fn view_action(action: Action, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let panes = panes::of_screen(view, facts.area);
    if matches!(action, Action::FocusNext | Action::FocusPrevious | Action::FocusPane(_)) {
        view.popup = None;
    }
    let at = panes.iter().position(|p| *p == view.focus).unwrap_or(0);
    match action {
        Action::FocusNext => view.focus = panes[(at + 1) % panes.len()],
        Action::FocusPrevious => view.focus = panes[(at + panes.len() - 1) % panes.len()],
        Action::FocusPane(number) => view.focus = panes[number.min(panes.len() - 1)],
        Action::FullScreen => view.share = if view.share == Share::Full { Share::Normal } else { Share::Full },
        Action::Bigger => view.share = view.share.bigger(),
        Action::Smaller => view.share = view.share.smaller(),
        Action::Up => scroll(view, facts, view.active(), Motion::Lines(-1)),
        Action::Down => scroll(view, facts, view.active(), Motion::Lines(1)),
        Action::PageUp => scroll(view, facts, view.active(), Motion::Pages(-1)),
        Action::PageDown => scroll(view, facts, view.active(), Motion::Pages(1)),
        Action::Top => scroll(view, facts, view.active(), Motion::Oldest),
        Action::Bottom => to_newest(view, facts),
        Action::Fold => {
            let scene = panes::replay::Scene { state: facts.state, desk: facts.desk, view, playback: facts.playback };
            let is_replay = view.screen == ScreenId::Replay;
            let row = if is_replay { panes::replay::cursor_row(scene) } else { chain::cursor_row(view, facts.state) };
            if let Some(row) = row {
                let open = view.folds.get(&row.seq).copied().unwrap_or(view.detail != Detail::Brief);
                view.folds.insert(row.seq, !open);
            }
        }
        Action::FoldAll => {
            view.folds.clear();
            view.detail = Detail::Brief;
        }
        Action::UnfoldAll => {
            view.folds.clear();
            view.detail = Detail::Full;
        }
        Action::Detail => view.detail = view.detail.next(),
        Action::Raw => view.raw = !view.raw,
        _ => {}
    }
    Vec::new()
}

pub fn scroll(view: &mut View, facts: &Facts<'_>, pane: PaneId, motion: Motion) {
    // What is not shown has no height, and nobody scrolls it.
    let Some(inside) = panes::inside(view, facts.area, pane) else { return };
    match pane {
        PaneId::Chain => view.place = chain::moved(view, facts.state, inside, facts.glyphs, motion),
        PaneId::Transcript | PaneId::Episodes | PaneId::Timeline => {
            panes::replay::scroll(view, facts, pane, inside, motion);
        }
        PaneId::Checkpoints => panes::checkpoints::scroll_list(view, facts, inside.1, motion),
        PaneId::Rules => panes::rules::scroll(view, facts, inside.1, motion),
        PaneId::Tools => panes::tools::scroll(view, facts, motion),
        PaneId::Reward | PaneId::Curves => panes::curves::scroll(view, facts, motion),
        PaneId::Gpu
        | PaneId::Alerts
        | PaneId::Log
        | PaneId::Memory
        | PaneId::Inspector
        | PaneId::Compare
        | PaneId::Rollout
        | PaneId::RuleDetail
        | PaneId::Silences
        | PaneId::Vitals
        | PaneId::Evaluations
        | PaneId::Prompt
        | PaneId::Recall
        | PaneId::Request => scroll_list(view, facts, pane, inside, motion),
    }
}

/// The log begins at its newest line, which is the lowest; the other lists begin at the top.
fn scroll_list(view: &mut View, facts: &Facts<'_>, pane: PaneId, inside: (u16, u16), motion: Motion) {
    let mut slot = view.scroll_of(pane);
    if slot.follow {
        slot.total_at_stop = facts.state.log.total();
    }
    let scene = panes::replay::Scene::seen(view, facts);
    let max = panes::scroll_max(scene, facts.glyphs, pane, super::view::Scroll { follow: false, ..slot }, inside);
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

fn to_newest(view: &mut View, facts: &Facts<'_>) {
    match view.active() {
        PaneId::Chain => view.place = None,
        PaneId::Transcript => view.replay.place = None,
        PaneId::Log => {
            view.scroll.remove(&PaneId::Log);
        }
        PaneId::Reward | PaneId::Curves => panes::curves::to_newest(view),
        PaneId::Tools
        | PaneId::Gpu
        | PaneId::Alerts
        | PaneId::Memory
        | PaneId::Episodes
        | PaneId::Inspector
        | PaneId::Timeline
        | PaneId::Checkpoints
        | PaneId::Compare
        | PaneId::Rollout
        | PaneId::Rules
        | PaneId::RuleDetail
        | PaneId::Silences
        | PaneId::Vitals
        | PaneId::Evaluations
        | PaneId::Prompt
        | PaneId::Recall
        | PaneId::Request => scroll(view, facts, view.active(), Motion::Lines(i64::from(i32::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::RunState;

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
