//! The status bar. State, RO or RW, and the banner stand first and are never cut; of the rest the least important go first.

use super::chrome::firing;
use super::desk::ParkedRun;
use super::view::Context;
use super::widgets::{Canvas, Role, format};
use crate::event::{PolicyState, RunState};
use crate::ui::lang::tr;

/// A piece of the bar.
struct Field {
    /// What has the lowest rank stays longest.
    rank: u8,
    text: String,
    role: Role,
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let width = canvas.width();
    let long = always(cx, false);
    let always = if measure(canvas, &long) < width { long } else { always(cx, true) };
    let mut room = width.saturating_sub(measure(canvas, &always) + 1);
    let fields = fields(cx, width);
    let kept = kept(canvas, &fields, &mut room);
    let mut x = 0;
    if kept.len() == fields.len() && canvas.measure(NAME) <= room {
        x = canvas.text(x, 0, NAME, Role::Title);
    }
    for (index, (text, role)) in always.iter().enumerate() {
        // On the narrowest screens even the blank at the left is dropped.
        x += u16::from(index > 0 || width >= 20);
        x = if index + 1 == always.len() { canvas.text_upto(x, width, 0, text, *role) } else { canvas.text(x, 0, text, *role) };
    }
    for (_, field) in fields.iter().enumerate().filter(|(place, _)| kept.contains(place)) {
        x = canvas.text(x, 0, SEPARATOR, Role::Dim);
        x = canvas.text(x, 0, &field.text, field.role);
    }
}

const NAME: &str = " pilothouse";
/// From so many columns on a field says all that it has to say.
const WIDE: u16 = 120;
const SEPARATOR: &str = " | ";

/// Places of the fields that fit into `room`, which shrinks.
fn kept(canvas: &Canvas<'_>, fields: &[Field], room: &mut u16) -> Vec<usize> {
    let mut by_rank: Vec<(usize, &Field)> = fields.iter().enumerate().collect();
    by_rank.sort_by_key(|(_, f)| f.rank);
    let mut kept = Vec::new();
    for (place, field) in by_rank {
        let cells = canvas.measure(&field.text) + canvas.measure(SEPARATOR);
        if let Some(left) = room.checked_sub(cells) {
            *room = left;
            kept.push(place);
        }
    }
    kept
}

fn measure(canvas: &Canvas<'_>, pieces: &[(String, Role)]) -> u16 {
    pieces.iter().map(|(text, _)| canvas.measure(text) + 1).sum::<u16>().saturating_sub(1)
}

/// What is never left out.
fn always(cx: &Context<'_>, short: bool) -> Vec<(String, Role)> {
    let (word, role) = state_word(cx, short);
    let word = if short { word } else { format!("|{word}|") };
    let mode = if cx.read_only { (read_only_word(cx, short), Role::Warn) } else { (tr!("RW"), Role::Strong) };
    let mut all = vec![(word, role), mode];
    all.extend(cx.banner.map(|banner| (banner.to_owned(), Role::Bad)));
    all
}

/// In full in a replay, which nothing can change; where that has no room, as everywhere else.
fn read_only_word(cx: &Context<'_>, short: bool) -> String {
    if cx.playback.is_some() && cx.banner.is_none() && !short { tr!("READ-ONLY") } else { tr!("RO") }
}

/// The rest, in the order in which it stands.
fn fields(cx: &Context<'_>, width: u16) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut add = |rank, text: String, role| fields.push(Field { rank, text, role });
    if let Some(parked) = cx.desk.parked {
        let (text, role) = parked_words(parked);
        add(0, text, role);
    }
    if let Some(lane) = cx.state.lane(cx.view.lane) {
        let max = cx.state.run.as_ref().map_or(0, |r| r.max_steps);
        let track = cx.desk.replay.track.as_ref().filter(|t| t.episode == lane.episode.episode && t.lane == cx.view.lane);
        match track.filter(|_| cx.playback.is_some()) {
            Some(track) => {
                // While an episode is read, its length is known from the list of all.
                let listed = cx.desk.replay.book.find(track.lane, track.episode).map_or(0, |e| e.length());
                let (step, last) = (lane.episode.step, track.beats.last().map_or(0, |b| b.step.0).max(listed));
                add(1, tr!("ep {ep} step {step}/{last}", ep = lane.episode.episode, step = step, last = last), Role::Strong);
                let at = cx.state.t_ns.saturating_sub(track.t_ns_first);
                let all = track.t_ns_last.saturating_sub(track.t_ns_first);
                // What comes behind the episode is no time of it.
                let at = at.min(all);
                add(5, format!("t {}/{}", format::clock_tenths(at), format::clock_tenths(all)), Role::Strong);
            }
            None => {
                let (ep, step) = (lane.episode.episode, lane.episode.step);
                add(1, tr!("ep {ep} {step}/{max}", ep = ep, step = step, max = max), Role::Strong);
            }
        }
        if cx.state.lanes.len() > 1 {
            add(2, tr!("lane {lane}/{all}", lane = cx.view.lane, all = cx.state.lanes.len()), Role::Strong);
        }
    }
    let run = cx.state.run.as_ref();
    let own = cx.state.own_checkpoint(cx.view.lane).map(|own| tr!("{checkpoint} (branch)", checkpoint = own));
    if let Some(own) = own {
        add(3, own, Role::Strong);
    } else if let Some(agent) = cx.state.serving.as_ref().map(ToString::to_string).or_else(|| run.map(|r| r.agent.to_string())) {
        add(3, agent, Role::Strong);
    }
    if let Some(run) = run {
        add(7, format!("{} {}", run.env, run.level), Role::Strong);
        add(8, tr!("seed {seed}", seed = run.seed), Role::Strong);
    }
    match (cx.playback, cx.state.pace) {
        (Some(p), _) => {
            // What is too fast to watch plays by another clock, and says so.
            let by = if cx.desk.replay.by_decision { format!(" {}", tr!("(decisions a second)")) } else { String::new() };
            add(4, format!("{}{by}", format::pace(p.speed)), Role::Strong);
            if let Some(name) = std::path::Path::new(&p.name).file_stem() {
                add(6, name.to_string_lossy().into_owned(), Role::Strong);
            }
            add(10, tr!("event {head}/{end}", head = p.head, end = p.end), Role::Strong);
            if let Some(when) = &p.bundle {
                add(2, if width >= WIDE { tr!("BUNDLE of {when}", when = when) } else { tr!("BUNDLE") }, Role::Warn);
            }
            if cx.desk.replay.grows {
                add(2, tr!("GROWS"), Role::Good);
            }
        }
        (None, Some(pace)) => add(4, format::pace(pace), Role::Strong),
        (None, None) => {}
    }
    if let Some(success) = cx.state.success_ratio(100) {
        add(9, tr!("success {share}", share = format::percent_whole(success)), Role::Strong);
    }
    let firing = firing(cx);
    if firing > 0 {
        add(0, tr!("{n} FIRING", n = firing), Role::Bad);
    }
    if let Some(damage) = cx.playback.and_then(|p| p.damage.as_ref()) {
        add(2, if width >= 120 { damage.clone() } else { damage_word(damage) }, Role::Warn);
    }
    fields
}

/// What is wrong with a recording, in a word. Every finding begins with its kind, the worst one first.
fn damage_word(told: &str) -> String {
    // A run that was killed left good bytes: they only have no end.
    let is_only_cut = told.starts_with("unfinished:") || told.starts_with("uncommitted:");
    if is_only_cut { tr!("UNFINISHED") } else { tr!("DAMAGED") }
}

fn state_word(cx: &Context<'_>, short: bool) -> (String, Role) {
    if let Some(p) = cx.playback {
        let stopped = cx.desk.replay.stopped.filter(|(_, seq)| *seq == p.head).map(|(number, _)| number);
        return match (p.playing, stopped, short) {
            (true, _, _) => (tr!("REPLAY"), Role::Good),
            (false, None, false) => (tr!("REPLAY PAUSED"), Role::Warn),
            (false, None, true) => (tr!("PAUSED"), Role::Warn),
            (false, Some(number), false) => (tr!("REPLAY PAUSED at bp{number}", number = number), Role::Warn),
            (false, Some(number), true) => (tr!("PAUSED at bp{number}", number = number), Role::Warn),
        };
    }
    match cx.state.run_state {
        RunState::Starting => match cx.state.policy.as_ref().map(|p| p.state) {
            Some(PolicyState::Failed) => (tr!("FAILED"), Role::Bad),
            Some(PolicyState::Loading | PolicyState::Ready) | None => (tr!("LOADING"), Role::Warn),
        },
        RunState::Running => (tr!("LIVE"), Role::Good),
        // The banner behind it must not be cut for the reason.
        RunState::Paused => match cx.state.stopped_at.filter(|_| !short) {
            Some(number) => (tr!("PAUSED at bp{number}", number = number), Role::Warn),
            None => (tr!("PAUSED"), Role::Warn),
        },
        RunState::Stepping => (tr!("STEPPING"), Role::Warn),
        RunState::Ended => (tr!("ENDED"), Role::Dim),
    }
}

/// The live run that goes on behind a recording, and what fires there.
fn parked_words(parked: ParkedRun) -> (String, Role) {
    let run = match parked.run_state {
        RunState::Starting | RunState::Running | RunState::Stepping => tr!("LIVE run goes on"),
        RunState::Paused => match parked.paused_at {
            Some(number) => tr!("LIVE run PAUSED at bp{number}", number = number),
            None => tr!("LIVE run PAUSED"),
        },
        RunState::Ended => tr!("LIVE run ended"),
    };
    match parked.alerts_firing {
        0 => (run, Role::Good),
        n => (format!("{run}, {}", tr!("{n} FIRING", n = n)), Role::Bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Pace, Seq};
    use crate::state::DashState;
    use crate::ui::panes::testing::typical;
    use crate::ui::theme::{Caps, Theme, Tier};
    use crate::ui::view::{PlaybackView, View};
    use crate::ui::widgets::ChartGlyphs;
    use crate::ui::widgets::testing::rows;
    use ratatui::layout::Rect;

    fn bar(state: &DashState, playback: Option<&PlaybackView>, read_only: bool, banner: Option<&str>, width: u16) -> String {
        let caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        let theme = Theme::load("dark", Tier::None).unwrap();
        let (view, theme, caps) = (&View::default(), &theme, &caps);
        let context = Context {
            state,
            desk: &Default::default(),
            keys: &Default::default(),
            lang: Default::default(),
            view,
            theme,
            caps,
            playback,
            read_only,
            banner,
        };
        rows(&crate::ui::draw(&context, Rect::new(0, 0, width, 24)))[0].clone()
    }

    #[test]
    fn state_mode_and_banner_are_never_cut() {
        let mut state = typical();
        for (run_state, word) in [(RunState::Running, "LIVE"), (RunState::Paused, "PAUSED")] {
            state.run_state = run_state;
            for (read_only, mode) in [(true, "RO"), (false, "RW")] {
                for width in [200, 120, 80, 60, 45, 20] {
                    let bar = bar(&state, None, read_only, Some("PROD"), width);
                    for part in [word, mode, "PROD"] {
                        assert!(bar.contains(part), "{width}: {bar}");
                    }
                    if width >= 45 {
                        assert!(bar.contains("1 FIRING") && bar.contains("ep 7 4/"), "{width}: {bar}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_replay_too_says_what_it_is_and_that_it_is_damaged() {
        let playback = PlaybackView {
            head: Seq(123_456),
            end: Seq(234_567),
            t_ns_end: 0,
            playing: false,
            speed: Pace::Max,
            damage: Some("the recording is torn after event 234567, and 12 bytes were passed over".into()),
            name: "r.jsonl".into(),
            bundle: None,
        };
        for width in [120, 80, 60, 45] {
            let bar = bar(&typical(), Some(&playback), true, Some("PROD"), width);
            assert!(bar.contains("|REPLAY PAUSED| RO PROD"), "{width}: {bar}");
            assert!(width < 60 || bar.contains("DAMAGED") || bar.contains("torn"), "{width}: {bar}");
        }
        assert!(bar(&typical(), Some(&playback), true, Some("PROD"), 20).contains("PAUSED RO PROD"));
        let cut = PlaybackView {
            damage: Some("unfinished: the run does not end in this file; its last committed event is 45".into()),
            ..playback
        };
        let shown = bar(&typical(), Some(&cut), true, None, 80);
        assert!(shown.contains("UNFINISHED") && !shown.contains("DAMAGED"), "{shown}");
    }

    #[test]
    fn who_serves_is_said_before_what_is_less() {
        let playback = PlaybackView {
            head: Seq(7),
            end: Seq(9),
            t_ns_end: 0,
            playing: false,
            speed: Pace::Times(1.0),
            damage: None,
            name: "a-recording-with-a-long-name.jsonl".into(),
            bundle: None,
        };
        let state = typical();
        let agent = state.serving.as_ref().map_or_else(|| state.run.as_ref().unwrap().agent.to_string(), ToString::to_string);
        for (playback, width) in [(Some(&playback), 80), (None, 80), (None, 60)] {
            let bar = bar(&state, playback, true, None, width);
            assert!(bar.contains(&agent), "{width}: {bar}");
        }
    }

    #[test]
    fn a_banner_longer_than_the_screen_is_cut_where_it_can_be_seen() {
        let shown = bar(&typical(), None, false, Some("PROD eu-west-1 payments"), 20);
        assert!(shown.starts_with(" LIVE RW PROD") && shown.ends_with('…'), "{shown}");
    }
}
