//! From a key to what it changes: pure, except for the effects that it returns.

use super::actions::{Action, Needs, by_name};
use super::copy::Form;
use super::view::{Detail, PaneId, PlaybackView, Scroll, View};
use crate::event::{CheckpointId, Command, Pace, Seed, Seq, StepUnit};
use crate::state::DashState;

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
    OpenCommand,
    OpenSearch,
    Close,
    Redraw,
    Suspend,
    /// Ask first when a run would end.
    Quit,
    Notice(String),
}

/// What an action may look at besides the view.
pub struct Facts<'a> {
    pub state: &'a DashState,
    pub playback: Option<&'a PlaybackView>,
    /// An engine takes commands.
    pub can_command: bool,
}

/// Lines that a page key scrolls.
const PAGE: usize = 15;
/// Smoothing of the curve, in tenths.
const SMOOTHINGS: [u8; 4] = [0, 6, 8, 9];

/// Does an action: changes the view, returns the rest.
pub fn act(action: Action, argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if let Some(objection) = objection(action, facts) {
        return vec![Effect::Notice(objection)];
    }
    match action {
        Action::Help => vec![Effect::OpenHelp],
        Action::CommandLine => vec![Effect::OpenCommand],
        Action::Search => vec![Effect::OpenSearch],
        Action::Back => {
            view.full = false;
            view.search.clear();
            vec![Effect::Close]
        }
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
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
        Action::PreviousEpisode => vec![Effect::StepPlayback(StepUnit::Episode, -1)],
        Action::NextEpisode => vec![Effect::StepPlayback(StepUnit::Episode, 1)],
        Action::First => vec![Effect::Seek(Seq(0))],
        Action::Last => vec![Effect::Seek(Seq(u64::MAX))],
        Action::Seek => match argument.trim_start_matches('@').parse() {
            Ok(seq) => vec![Effect::Seek(Seq(seq))],
            Err(_) => vec![Effect::Notice(format!("`{argument}` is no event number"))],
        },
        Action::FocusNext
        | Action::FocusPrevious
        | Action::FocusPane(_)
        | Action::FullScreen
        | Action::NextLane
        | Action::Up
        | Action::Down
        | Action::PageUp
        | Action::PageDown
        | Action::Top
        | Action::Bottom
        | Action::NextMatch
        | Action::PreviousMatch
        | Action::Fold
        | Action::FoldAll
        | Action::UnfoldAll
        | Action::Detail
        | Action::Raw
        | Action::Smoothing
        | Action::History
        | Action::LogAxis => view_action(action, view, facts.state),
    }
}

/// Reads a `:` line.
pub fn command(line: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let (name, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    if name.is_empty() {
        return Vec::new();
    }
    match by_name(name) {
        Ok(entry) => act(entry.action, argument.trim(), view, facts),
        Err(reason) => vec![Effect::Notice(reason)],
    }
}

fn objection(action: Action, facts: &Facts<'_>) -> Option<String> {
    let entry = super::actions::ACTIONS.iter().find(|e| e.action == action)?;
    let (engine, playback) = (facts.can_command, facts.playback.is_some());
    match entry.needs {
        Needs::Engine if !engine && playback => Some(format!("{} needs a live run; this is a recording", entry.name)),
        Needs::Engine | Needs::Run if !engine && !playback => Some(format!("{} is not for a read-only view", entry.name)),
        Needs::Playback if !playback => Some(format!("{} needs a recording; this run is live", entry.name)),
        Needs::Nothing | Needs::Engine | Needs::Playback | Needs::Run => None,
    }
}

fn run_action(action: Action, argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    use crate::event::RunState;
    let step = |unit| match facts.playback {
        Some(_) => vec![Effect::StepPlayback(unit, 1)],
        None => vec![Effect::Send(Command::Step { lane: view.lane, unit, count: 1 })],
    };
    let pace = |pace: Pace| match facts.playback {
        Some(_) => vec![Effect::SetSpeed(pace)],
        None => vec![Effect::Send(Command::SetPace(pace))],
    };
    let current = facts.playback.map_or(facts.state.pace.unwrap_or(Pace::Times(1.0)), |p| p.speed);
    match action {
        Action::TogglePause => match (facts.playback, facts.state.run_state) {
            (Some(p), _) => vec![Effect::Play(!p.playing)],
            (None, RunState::Running | RunState::Stepping) => vec![Effect::Send(Command::Pause)],
            (None, RunState::Starting | RunState::Paused | RunState::Ended) => vec![Effect::Send(Command::Resume)],
        },
        Action::Pause => vec![Effect::Send(Command::Pause)],
        Action::Resume => vec![Effect::Send(Command::Resume)],
        Action::StepDecision => step(StepUnit::Decision),
        Action::StepPhase => step(StepUnit::Phase),
        Action::StepToken => step(StepUnit::Token),
        Action::StepEpisode => step(StepUnit::Episode),
        Action::Slower => pace(current.slower()),
        Action::Faster => pace(current.faster()),
        Action::Pace => match argument.parse() {
            Ok(asked) => pace(asked),
            Err(reason) => vec![Effect::Notice(reason)],
        },
        Action::Seed => match argument.parse() {
            Ok(seed) => vec![Effect::Send(Command::Reseed { seed: Seed(seed) })],
            Err(_) => vec![Effect::Notice(format!("`{argument}` is no seed; write a whole number"))],
        },
        Action::Swap => {
            let listed = &facts.state.checkpoints;
            let found = listed.iter().find(|c| c.checkpoint.0 == argument || c.checkpoint.0.ends_with(&format!("-{argument}")));
            let id = found.map_or_else(|| CheckpointId::from(argument), |c| c.checkpoint.clone());
            if argument.is_empty() {
                let names: Vec<&str> = listed.iter().map(|c| c.checkpoint.0.as_str()).collect();
                return vec![Effect::Notice(format!("swap needs a checkpoint: {}", names.join(", ")))];
            }
            vec![Effect::Send(Command::Swap { checkpoint: id })]
        }
        _ => Vec::new(),
    }
}

fn view_action(action: Action, view: &mut View, state: &DashState) -> Vec<Effect> {
    let panes = PaneId::NUMBERED;
    let at = panes.iter().position(|p| *p == view.focus).unwrap_or(0);
    match action {
        Action::FocusNext => view.focus = panes[(at + 1) % panes.len()],
        Action::FocusPrevious => view.focus = panes[(at + panes.len() - 1) % panes.len()],
        Action::FocusPane(number) => view.focus = panes[number.min(panes.len() - 1)],
        Action::FullScreen => view.full = !view.full,
        Action::NextLane => {
            let next = state.lanes.keys().find(|l| **l > view.lane).or(state.lanes.keys().next());
            view.lane = next.copied().unwrap_or_default();
        }
        Action::Up => scroll(view, state, 1),
        Action::Down => scroll(view, state, -1),
        Action::PageUp => scroll(view, state, PAGE as i64),
        Action::PageDown => scroll(view, state, -(PAGE as i64)),
        Action::Top => scroll(view, state, i64::from(i32::MAX)),
        Action::Bottom => {
            view.scroll.insert(view.focus, Scroll::default());
        }
        Action::NextMatch => scroll(view, state, -3),
        Action::PreviousMatch => scroll(view, state, 3),
        Action::Fold => {
            if let Some(row) = state.lane(view.lane).and_then(|l| l.transcript.rows.last()) {
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
        Action::Smoothing => {
            let now = SMOOTHINGS.iter().position(|s| *s == view.chart.smoothing_tenths).unwrap_or(0);
            view.chart.smoothing_tenths = SMOOTHINGS[(now + 1) % SMOOTHINGS.len()];
        }
        Action::History => view.chart.history = !view.chart.history,
        Action::LogAxis => view.chart.log = !view.chart.log,
        _ => {}
    }
    Vec::new()
}

/// Positive is up, away from the newest.
fn scroll(view: &mut View, state: &DashState, lines: i64) {
    let total = state.lane(view.lane).map_or(0, |l| l.transcript.rows.total());
    let slot = view.scroll.entry(view.focus).or_default();
    if slot.follow {
        slot.total_at_stop = total;
    }
    slot.up = usize::try_from(slot.up as i64 + lines).unwrap_or(0);
    slot.follow = slot.up == 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::RunState;

    fn facts(state: &DashState) -> Facts<'_> {
        Facts { state, playback: None, can_command: true }
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
        let none = Facts { state: &state, playback: None, can_command: false };
        assert!(matches!(&act(Action::StepToken, "", &mut view, &none)[..], [Effect::Notice(_)]));
        assert!(matches!(&act(Action::First, "", &mut view, &facts(&state))[..], [Effect::Notice(_)]));
    }

    #[test]
    fn scrolling_up_stops_following_and_the_bottom_follows_again() {
        let state = DashState::default();
        let mut view = View::default();
        act(Action::Up, "", &mut view, &facts(&state));
        assert!(!view.scroll_of(PaneId::Chain).follow);
        act(Action::Down, "", &mut view, &facts(&state));
        assert!(view.scroll_of(PaneId::Chain).follow);
        act(Action::PageUp, "", &mut view, &facts(&state));
        act(Action::Bottom, "", &mut view, &facts(&state));
        assert_eq!(view.scroll_of(PaneId::Chain), Scroll::default());
    }

    #[test]
    fn commands_take_arguments_and_mistakes_are_told() {
        let state = DashState::default();
        let mut view = View::default();
        assert_eq!(command("pace 4", &mut view, &facts(&state)), [Effect::Send(Command::SetPace(Pace::Times(4.0)))]);
        assert_eq!(command("seed 7", &mut view, &facts(&state)), [Effect::Send(Command::Reseed { seed: Seed(7) })]);
        assert!(matches!(&command("seed x", &mut view, &facts(&state))[..], [Effect::Notice(_)]));
        assert!(matches!(&command("nonsense", &mut view, &facts(&state))[..], [Effect::Notice(_)]));
    }
}
