//! Two seats and several lanes: what belongs to which, and what goes where.

use super::*;
use crate::event::{
    AlertState, AlertStateChanged, BreakpointHit, ErrorType, HitOutcome, Seen, Silence, SilenceKind, SilenceSet, StepIndex,
};
use crate::source::tests::{made, on_lanes, sample};
use crate::state::TokenMeasure;
use crate::ui::backstage::Forked;
use crate::ui::view::Detail;

/// A live run at its list of recordings, with the answer to the open key still to come.
fn asked() -> (App, Inbox, Feed) {
    let (mut app, inbox, feed) = talking((120, 36));
    say(&feed, &events("healthy")[..60]);
    settle(&mut app);
    keys(&mut app, "gr");
    type_keys(&mut app, "2Gk\n");
    (app, inbox, feed)
}

fn numbered(events: Vec<Envelope>) -> Vec<Envelope> {
    (1..).zip(events).map(|(seq, e)| Envelope { seq: Seq(seq), ..e }).collect()
}

/// A sample run in two lanes, at its beginning.
fn two_lanes(file: &str) -> (App, Vec<Envelope>) {
    let mut events = on_lanes("failure", 2);
    for envelope in &mut events {
        if let Event::ToolCallFinished(e) = &mut envelope.event {
            e.error_type = Some(ErrorType::Refused);
        }
    }
    sat_down(file, events)
}

/// At the beginning of a recording in two lanes.
fn sat_down(file: &str, events: Vec<Envelope>) -> (App, Vec<Envelope>) {
    let path = made(&format!("lanes-{file}"), 2, events.clone());
    let mut app = app(Box::new(RecordingSource::open(&path, MonotonicClock::start()).unwrap()), (120, 36));
    app.backstage = Box::new(Stage::default());
    app.view.go(ScreenId::Replay);
    app.with_playback(|p| p.set_playing(false));
    std::fs::remove_file(path).unwrap();
    settle(&mut app);
    (app, numbered(events))
}

#[test]
fn an_alert_of_the_run_is_heard_while_a_recording_is_open() {
    let (mut app, _inbox, feed) = asked();
    settle(&mut app);
    assert!(app.parked.is_some(), "{}", app.notice);
    app.notifier = Notifier::new(Notify::Bell, Severity::Info, false, "node7");
    app.outbox.clear();
    let (rule, severity, summary) = (SafeText::new("r"), SafeText::new("critical"), SafeText::new("s"));
    let event = AlertStateChanged { rule, state: AlertState::Firing, severity, summary, detail: None }.into();
    say(&feed, &[Envelope { seq: Seq(61), episode: None, step: None, event, ..events("healthy")[59].clone() }]);
    app.take_frames().unwrap();
    assert_eq!(app.outbox, b"\x07");
    // Another rule, which somebody has silenced or sees to, in the run that is parked.
    for (n, kind) in [SilenceKind::Silence, SilenceKind::Acknowledgement].into_iter().enumerate() {
        app.outbox.clear();
        let seq = 62 + 3 * n as u64;
        let now_ms = app.parked.as_ref().unwrap().state.alerting.at_ms(events("healthy")[59].t_ns).unwrap();
        let matchers = vec!["alertname=q".parse().unwrap()];
        let (starts_ms, ends_ms) = (now_ms - 1_000, now_ms + 60_000);
        let silence = Silence { kind, matchers, starts_ms, ends_ms, created_by: "me".into(), comment: "".into() };
        let q = |state| AlertStateChanged { rule: "q".into(), state, severity: "critical".into(), summary: "".into(), detail: None };
        let told: Vec<Event> =
            vec![SilenceSet { id: "s1".into(), silence }.into(), q(AlertState::Firing).into(), q(AlertState::Resolved).into()];
        let numbered = told.into_iter().zip(seq..).map(|(event, seq)| Envelope {
            seq: Seq(seq),
            episode: None,
            step: None,
            event,
            ..events("healthy")[59].clone()
        });
        say(&feed, &numbered.collect::<Vec<_>>());
        app.take_frames().unwrap();
        assert_eq!(app.outbox, b"", "{kind:?}");
    }
}

#[test]
fn a_recording_takes_no_screen_from_under_what_is_open_or_was_left() {
    let (mut app, inbox, _feed) = asked();
    let command = Command::Pause;
    let confirm = Confirm { verb: "swap", name: "a".into(), others: Vec::new(), what: "w".into(), command };
    app.open = Open::Confirm(Box::new(confirm.clone()), Line::default());
    settle(&mut app);
    assert!(app.parked.is_none() && matches!(app.open, Open::Confirm(..)), "{:?}", app.open);
    assert!(app.notice.contains("ask for it again"), "{}", app.notice);
    type_keys(&mut app, "swap a\n");
    assert_eq!(sent(&inbox), [Command::Pause], "to the run for which it was asked");
    let (mut app, _inbox, _feed) = asked();
    type_keys(&mut app, "gl");
    settle(&mut app);
    assert!(app.parked.is_none() && app.view.screen == ScreenId::Live, "{}", app.notice);
    let (mut app, _inbox, _feed) = asked();
    settle(&mut app);
    assert!(app.parked.is_some(), "who waits is let in");
    app.open = Open::Confirm(Box::new(confirm), Line::default());
    app.leave_recording();
    assert_eq!(app.open, Open::Nothing, "what was asked at one source is not answered at another");
}

#[test]
fn only_the_recording_that_was_asked_for_last_is_sat_down_to() {
    let (mut app, _inbox, _feed) = asked();
    let source = || Box::new(RecordingSource::open(&file("success"), MonotonicClock::start()).unwrap());
    let other = || Opened { asked: Some(file("success")), name: "other".into(), source: source(), at: None };
    app.desk.opened.push(other());
    app.was_opened(other());
    assert!(app.parked.is_none(), "it was asked for before: {}", app.notice);
    settle(&mut app);
    assert!(app.parked.is_some() && app.options.recording.as_deref().is_some_and(|r| r.contains("failure")), "{:?}", app.options.recording);
}

#[test]
fn the_runs_own_view_is_remembered_and_its_looks_go_along() {
    let state = tempfile::tempdir().unwrap();
    let (mut app, _inbox, _feed) = asked();
    app.options.state = Some(state.path().to_owned());
    (app.view.detail, app.view.raw, app.view.overlay) = (Detail::Full, true, Some(TokenMeasure::Entropy));
    (app.view.replay.filter, app.view.rules.filter) = ("len>0".into(), "gpu".into());
    app.view.search = "of the run".into();
    settle(&mut app);
    assert!(app.parked.is_some());
    let view = &app.view;
    assert_eq!((view.detail, view.raw, view.overlay), (Detail::Full, true, Some(TokenMeasure::Entropy)));
    assert_eq!((view.replay.filter.as_str(), view.rules.filter.as_str()), ("len>0", "gpu"));
    app.view.search = "of the recording".into();
    app.remember();
    let (mut next, _inbox, _feed) = talking((120, 36));
    next.options.state = Some(state.path().to_owned());
    next.resume();
    assert_eq!(next.view.search, "of the run");
}

/// A recording on a disk that fails.
struct Broken;

impl FrameSource for Broken {
    fn poll(&mut self, _: &mut Vec<Frame>, _: usize) -> Result<SourceStatus, SourceError> {
        RecordingSource::open(Path::new("/nowhere.jsonl"), MonotonicClock::start()).map(|_| SourceStatus::Ended)
    }

    fn wait(&mut self, _: Duration) -> bool {
        false
    }

    fn commands(&self) -> Option<&CommandSender> {
        None
    }

    fn playback(&mut self) -> Option<&mut dyn Playback> {
        None
    }
}

#[test]
fn a_recording_that_fails_leads_back_to_the_run() {
    let (mut app, _inbox, _feed) = asked();
    settle(&mut app);
    app.source = Box::new(Broken);
    app.take_frames().unwrap();
    assert!(app.parked.is_none() && app.playback.is_none() && app.source.commands().is_some());
    assert!(app.notice.contains("can't be read on") && app.notice.contains("nowhere"), "{}", app.notice);
    // Without a run beside it there is nowhere to go.
    app.source = Box::new(Broken);
    assert!(app.take_frames().is_err());
}

#[test]
fn an_error_is_shown_in_its_lane() {
    let (mut app, all) = two_lanes("errors");
    let failed = |e: &&Envelope| matches!(&e.event, Event::ToolCallFinished(f) if f.error_type.is_some());
    let errors: Vec<_> = all.iter().filter(failed).collect();
    assert!(errors.len() > 1);
    for error in &errors {
        keys(&mut app, "}");
        assert_eq!((app.state.seq, app.view.lane), (error.seq, error.lane));
    }
    keys(&mut app, ":break tool-error\n0");
    for error in &errors {
        keys(&mut app, "c");
        assert_eq!((app.state.seq, app.view.lane), (error.seq, error.lane), "{}", app.notice);
    }
}

fn run_state(seq: u64, state: RunState) -> Envelope {
    let event = crate::event::RunStateChanged { state, reason: SafeText::default() }.into();
    Envelope { seq: Seq(seq), episode: None, step: None, event, ..events("failure")[20].clone() }
}

/// The engine says that a breakpoint stopped the run.
fn hit(seq: u64, lane: u32, number: u32) -> Envelope {
    let seen = Seen { name: "reward".into(), value: "-0.25".into() };
    let told = BreakpointHit {
        number,
        when: "reward < 0.0".into(),
        at: Seq(seq - 1),
        kind: "TransitionRecorded".into(),
        why: vec![seen],
        hits: 1,
        outcome: HitOutcome::Paused,
    };
    let (episode, step) = (Some(EpisodeId(1)), Some(StepIndex(3)));
    Envelope { seq: Seq(seq), lane: LaneId(lane), episode, step, event: told.into(), ..events("failure")[20].clone() }
}

#[test]
fn a_live_run_says_at_which_breakpoint_it_stands_and_in_which_lane() {
    let all = numbered(on_lanes("failure", 2));
    let (mut app, inbox, feed) = talking((120, 36));
    say(&feed, &all[..60]);
    app.take_frames().unwrap();
    assert_eq!(app.view.lane, LaneId(0));
    say(&feed, &[hit(61, 1, 2), hit(62, 0, 3), run_state(63, RunState::Paused)]);
    app.take_frames().unwrap();
    assert!(app.notice.contains("stopped at 1:1/3 by bp2: reward < 0.0; reward = -0.25 (TransitionRecorded, hit 1)"), "{}", app.notice);
    assert_eq!((app.view.lane, sent(&inbox).len()), (LaneId(1), 0), "the lane of the hit is shown, and nothing is asked");
    for width in [80, 120, 200] {
        app.area = Rect::new(0, 0, width, 36);
        assert!(shown(&app).lines().next().unwrap().contains("PAUSED at bp2"), "the first one: {}", shown(&app));
    }
    // The next pause has another reason.
    say(&feed, &[run_state(64, RunState::Running), run_state(65, RunState::Paused)]);
    app.take_frames().unwrap();
    let bar = shown(&app).lines().next().unwrap().to_owned();
    assert!(bar.contains("PAUSED") && !bar.contains("at bp"), "{bar}");
}

#[test]
fn a_breakpoint_of_the_parked_run_says_whose_it_is() {
    let (mut app, _inbox, feed) = talking((120, 36));
    say(&feed, &events("healthy")[..60]);
    settle(&mut app);
    keys(&mut app, "gr");
    keys(&mut app, "2Gk\n");
    assert!(app.parked.is_some(), "{}", app.notice);
    app.notice.clear();
    say(&feed, &[hit(61, 0, 1), run_state(62, RunState::Paused)]);
    app.take_frames().unwrap();
    assert!(app.notice.starts_with("in the live run: stopped at 1/3 by bp1"), "{}", app.notice);
    assert!(shown(&app).contains("LIVE run PAUSED at bp1"), "{}", shown(&app));
}

#[test]
fn a_search_from_an_earlier_start_is_begun_and_leads_to_the_other_lane() {
    let (mut app, all) = two_lanes("search");
    let ends: Vec<_> = all.iter().filter(|e| matches!(e.event, Event::EpisodeEnded(_))).collect();
    let Event::EpisodeEnded(end) = &ends[0].event else { panic!() };
    app.view.search = end.truth.chars().take(12).collect::<String>().to_lowercase();
    keys(&mut app, "n");
    assert_eq!(app.view.replay.place.map(|p| p.cursor.seq), Some(ends[0].seq), "{}", app.notice);
    keys(&mut app, "n");
    assert_eq!((app.state.seq, app.view.lane), (ends[1].seq, LaneId(1)), "{}", app.notice);
    // Other words, from another screen.
    app.view.search = "no such words at all".into();
    keys(&mut app, "n");
    assert!(app.notice.contains("no later match"), "{}", app.notice);
}

#[test]
fn a_breakpoint_of_one_lane_is_not_that_of_another() {
    let (mut app, _) = two_lanes("breakpoints");
    for typed in [":seek 0:1/3\n", "b", ":seek 1:1/3\n", "b"] {
        keys(&mut app, typed);
    }
    assert_eq!(app.desk.stops.breaks().count(), 2, "{}", app.notice);
    keys(&mut app, ":seek 0:1/3\n");
    keys(&mut app, "b");
    let left: Vec<_> = app.desk.stops.breaks().map(|s| (s.at.map(|(lane, _)| lane), s.text.starts_with("1:1/3"))).collect();
    assert_eq!(left, [(Some(LaneId(1)), true)]);
    let (mut app, inbox, feed) = talking((120, 36));
    say(&feed, &numbered(on_lanes("failure", 2))[..sample("failure").len()]);
    app.take_frames().unwrap();
    for lane in [0, 1] {
        app.view.lane = LaneId(lane);
        keys(&mut app, "b");
    }
    let asked = sent(&inbox).into_iter().map(|c| c.to_string()).collect::<Vec<_>>();
    assert!(asked.len() == 2 && asked[0].ends_with("lane == 0") && asked[1].ends_with("lane == 1"), "{asked:?}");
}

#[test]
fn the_timeline_marks_what_holds_in_its_own_lane() {
    let mut events = on_lanes("failure", 2);
    for envelope in events.iter_mut().filter(|e| e.lane == LaneId(1)) {
        if let Event::ToolCallFinished(e) = &mut envelope.event {
            e.error_type = Some(ErrorType::Refused);
        }
    }
    let (mut app, _) = sat_down("marks", events);
    keys(&mut app, ":break tool-error\n");
    let marks = |app: &App| shown(app).lines().find(|l| l.contains("mk ")).unwrap().matches('b').count();
    for (lane, count) in [(0, 0), (1, 6)] {
        app.view.lane = LaneId(lane);
        app.view.replay.place = None;
        settle(&mut app);
        keys(&mut app, &format!(":seek {lane}:1/3\n"));
        assert!((lane == 0) == (marks(&app) == 0) && marks(&app) >= count, "lane {lane}: {} {}", marks(&app), shown(&app));
    }
}

/// A recording whose fork was asked for, the asks, and a run that goes on from it.
fn forking() -> (App, Arc<Mutex<Vec<Ask>>>, Forked, Inbox, Feed) {
    let mut app = opened("failure", (120, 36));
    let stage = Stage::default();
    let asked = stage.asked.clone();
    app.backstage = Box::new(stage);
    let (commands, inbox) = inbox(8);
    let feed = Feed::default();
    let forked = Forked { recording: None, source: Box::new(Talking(commands, feed.clone())) };
    (app, asked, forked, inbox, feed)
}

#[test]
fn what_stopped_a_recording_stops_the_run_that_goes_on_from_it() {
    use crate::event::{Breakpoint, BreakpointSet};
    let (mut app, _, forked, inbox, feed) = forking();
    keys(&mut app, ":break reward < 0.5\n:seek 1/3\nb:tbreak tool-error\n:watch reward_sum\n:watch tool-error\n");
    assert_eq!((app.desk.stops.breaks().count(), app.desk.stops.watches().count()), (3, 2), "{}", app.notice);
    keys(&mut app, ":fork at 1/3\n");
    app.desk.take(News::Forked(forked));
    app.take_news();
    assert_eq!(app.notice, "the run goes on from here; it is not recorded; breakpoints go along: 2; bp2 stay with the recording");
    let breakpoints = [Breakpoint::new("reward < 0.5"), Breakpoint { once: true, ..Breakpoint::new("tool-error") }];
    assert_eq!(sent(&inbox), breakpoints.clone().map(|breakpoint| Command::Break { number: None, breakpoint }));
    let watched: Vec<_> = app.desk.stops.all.iter().map(|s| (s.is_watch(), s.text.as_str())).collect();
    assert_eq!(watched, [(true, "reward_sum"), (true, "tool-error")]);
    // The run's answer says nothing new, unlike that to one that is set there.
    let all = events("failure");
    say(&feed, &all[..20]);
    let set = |seq, number, breakpoint: &Breakpoint| {
        let event = BreakpointSet { number, breakpoint: breakpoint.clone() }.into();
        Envelope { seq: Seq(seq), episode: None, step: None, event, ..all[19].clone() }
    };
    let told = app.notice.clone();
    say(&feed, &[set(21, 1, &breakpoints[0]), set(22, 2, &breakpoints[1])]);
    app.take_frames().unwrap();
    assert_eq!(app.notice, told);
    say(&feed, &[set(23, 3, &breakpoints[0])]);
    app.take_frames().unwrap();
    assert!(app.notice.starts_with("bp3: reward < 0.5"), "{}", app.notice);
}

#[test]
fn one_fork_is_on_its_way_at_a_time() {
    let (mut app, asked, forked, _inbox, _feed) = forking();
    keys(&mut app, ":fork at 1/3\n:fork at 1/2\n");
    assert!(asked.lock().unwrap().len() == 1 && app.notice.contains("on its way already"), "{}", app.notice);
    // The editor keeps what was typed.
    keys(&mut app, "\x1bgf\n");
    assert!(asked.lock().unwrap().len() == 1 && matches!(app.open, Open::Form(_)), "{}", app.notice);
    app.desk.take(News::NotForked("not forked: why".into()));
    keys(&mut app, "\n");
    assert!(asked.lock().unwrap().len() == 2 && app.open == Open::Nothing, "{}", app.notice);
    app.desk.take(News::Forked(forked));
    assert!(!app.desk.fork_asked);
}

#[test]
fn a_fork_of_a_recording_begins_with_a_call_that_its_tools_take() {
    let (mut app, asked, ..) = forking();
    keys(&mut app, ":seek 1/3\n");
    for (call, told) in [("nosuch(x=1)", "no tool has the name `nosuch`"), ("wait(x=1)", "wait: x"), ("wiat()", "did you mean wait?")] {
        keys(&mut app, &format!(":fork at 1/3 with action='{call}'\n"));
        assert!(app.notice.contains(told) && asked.lock().unwrap().is_empty(), "{call}: {}", app.notice);
        assert!(matches!(app.open, Open::Command(_)), "the line is kept, to be mended");
        keys(&mut app, "\x1b");
    }
    keys(&mut app, ":fork at 1/3 with action='wait()'\n");
    assert_eq!(asked.lock().unwrap().len(), 1, "{}", app.notice);
}

#[test]
fn where_no_run_goes_on_none_is_promised() {
    let (mut app, ..) = forking();
    let source = Box::new(RecordingSource::open(&file("success"), MonotonicClock::start()).unwrap());
    app.was_opened(Opened { asked: None, name: "other".into(), source, at: None });
    assert!(app.notice.starts_with("other could be opened"), "{}", app.notice);
    keys(&mut app, "gr");
    app.asked_at = crate::ui::app::seats::Asked::of(&Ask::Open { path: None, at: None }, app.view.screen, app.sittings);
    let source = Box::new(RecordingSource::open(&file("success"), MonotonicClock::start()).unwrap());
    app.was_opened(Opened { asked: None, name: "other".into(), source, at: None });
    assert_eq!((app.notice.as_str(), app.parked.is_none()), ("opened", true));
}

#[test]
fn a_fork_of_a_recording_is_asked_for_and_its_run_is_sat_down_to() {
    use crate::event::{BranchCause, BranchStarted, Overriding, ToolCall, Variation};
    let mut app = opened("failure", (120, 36));
    let stage = Stage::default();
    let asked = stage.asked.clone();
    app.backstage = Box::new(stage);
    keys(&mut app, ":fork at 1/3 with action='wait()'\n");
    let first = Overriding { action: Some(ToolCall::new("wait")), result: None };
    let with = Variation { first, ..Variation::default() };
    let recording = app.playback.as_ref().unwrap().name.clone();
    let wanted = Ask::Fork { recording, lane: LaneId(0), episode: EpisodeId(1), at: StepIndex(3), with: with.clone() };
    assert_eq!(*asked.lock().unwrap(), [wanted], "{}", app.notice);
    let (commands, inbox) = inbox(8);
    let feed = Feed::default();
    app.desk.forked = Some(Forked { recording: None, source: Box::new(Talking(commands, feed.clone())) });
    app.take_news();
    assert!(app.playback.is_none() && app.view.screen == ScreenId::Live && app.notice.contains("it is not recorded"), "{}", app.notice);
    // The branch is what is looked at, and its run takes commands.
    let all = numbered(on_lanes("failure", 2));
    say(&feed, &all[..40]);
    app.take_frames().unwrap();
    assert_eq!(app.view.lane, LaneId(0));
    let (parent_lane, parent, at_step, cause) = (LaneId(0), EpisodeId(1), StepIndex(3), BranchCause::Fork);
    let started = BranchStarted { parent_lane, parent, at_step, cause, with, state_hash: 0, reward_sum: 0.0, discounted_sum: 0.0 };
    let (seq, lane) = (Seq(41), LaneId(1));
    say(&feed, &[Envelope { seq, lane, episode: Some(EpisodeId(1)), step: None, event: started.into(), ..all[39].clone() }]);
    app.take_frames().unwrap();
    assert_eq!(app.view.lane, LaneId(1));
    keys(&mut app, ":pause\n");
    assert_eq!(sent(&inbox), [Command::Pause]);
    // Beside a run that goes on, nothing is forked.
    let (mut app, _inbox, _feed) = self::asked();
    settle(&mut app);
    keys(&mut app, ":fork at 1/3\n");
    assert!(app.parked.is_some() && app.notice.contains("a live run goes on behind this recording"), "{}", app.notice);
}
