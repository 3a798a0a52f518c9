//! The replay screen with keys and mouse: on the sample recordings, and beside a live run.

use super::*;
use crate::event::{Envelope, EpisodeId, Event, LaneId};
use crate::source::{Probe, Quest};
use crate::state::RowKind;
use crate::ui::backstage::{Ask, Backstage, News, Opened};
use crate::ui::desk::Recorded;
use crate::ui::diff;
use crate::ui::watches::{Gauge, Watched};
use std::sync::{Arc, Mutex};

/// Opens recordings at once, and compiles the few conditions that these tests write.
#[derive(Default)]
struct Stage {
    news: Vec<News>,
    asked: Arc<Mutex<Vec<Ask>>>,
}

struct RewardBelow(f64);

impl Probe for RewardBelow {
    fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
        matches!(&envelope.event, Event::TransitionRecorded(e) if e.reward < self.0)
    }
}

struct StepFrom(u32);

impl Probe for StepFrom {
    fn holds(&self, envelope: &Envelope, _: &DashState) -> bool {
        envelope.step.is_some_and(|step| step.0 >= self.0)
    }
}

/// The sum of the rewards so far, of the events that say it.
struct Sum;

impl Gauge for Sum {
    fn value(&self, envelope: &Envelope, _: &DashState) -> Option<serde_json::Value> {
        if let Event::TransitionRecorded(t) = &envelope.event { Some(t.reward_sum.into()) } else { None }
    }
}

impl Backstage for Stage {
    fn ask(&mut self, ask: Ask) -> Result<(), String> {
        self.asked.lock().unwrap().push(ask.clone());
        match ask {
            Ask::Bench(_) | Ask::CancelBench | Ask::CancelDiff | Ask::Fork { .. } | Ask::Bundle { .. } | Ask::DryRun(_) => {}
            Ask::Diff(ask) => {
                let sides = diff::resolved(&ask, Some(&file("success")))?;
                let compared = diff::compared(sides, &|| false);
                self.news.push(News::Diff(ask, compared));
            }
            Ask::Catalogue => self.news.push(News::Catalogue(vec![recorded("failure"), recorded("gone")])),
            Ask::Open { path, at } => {
                let asked = path.clone();
                let path = path.unwrap_or_else(|| file("success"));
                self.news.push(match RecordingSource::open(&path, MonotonicClock::start()) {
                    Ok(source) => News::Opened(Opened { asked, name: path.display().to_string(), source: Box::new(source), at }),
                    Err(error) => News::Told(format!("not opened: {error}")),
                });
            }
        }
        Ok(())
    }

    fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    fn compile(&self, source: &str) -> Result<Arc<dyn Probe>, String> {
        if source == "tool-error" || source.starts_with("phase == ") {
            return Ok(Arc::new(crate::source::Errors));
        }
        if let Some(step) = source.strip_prefix("step >= ").and_then(|n| n.parse().ok()) {
            return Ok(Arc::new(StepFrom(step)));
        }
        let bound = source.strip_prefix("reward < ").and_then(|x| x.parse().ok()).ok_or("column 8: no expression")?;
        Ok(Arc::new(RewardBelow(bound)))
    }

    fn watch(&self, source: &str) -> Result<Watched, String> {
        if source == "reward_sum" { Ok(Watched::Value(Arc::new(Sum))) } else { self.compile(source).map(Watched::Condition) }
    }
}

pub(super) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("recordings/{name}.jsonl"))
}

fn recorded(name: &str) -> Recorded {
    Recorded {
        path: file(name),
        name: name.into(),
        started: "2026-11-30T10:40:24Z".into(),
        agent: None,
        env: "ops".into(),
        level: crate::event::Level::L0,
        lanes: 1,
    }
}

/// The replay screen at the beginning of a recording, all of it read.
pub(super) fn opened(name: &str, size: (u16, u16)) -> App {
    let source = RecordingSource::open(&file(name), MonotonicClock::start()).unwrap();
    let mut app = app(Box::new(source), size);
    app.backstage = Box::new(Stage::default());
    app.view.go(ScreenId::Replay);
    app.with_playback(|p| p.set_playing(false));
    settle(&mut app);
    app
}

/// Until nothing more is read or sought.
fn settle(app: &mut App) {
    for _ in 0..4 {
        app.take_frames().unwrap();
        app.take_news();
    }
    while app.desk.replay.is_reading() || app.desk.replay.looking.is_some() {
        app.take_frames().unwrap();
    }
    for _ in 0..3 {
        app.take_frames().unwrap();
    }
}

pub(super) fn keys(app: &mut App, text: &str) {
    type_keys(app, text);
    settle(app);
}

fn events(name: &str) -> Vec<Envelope> {
    let text = std::fs::read_to_string(file(name)).unwrap();
    text.lines().filter_map(|line| Envelope::from_json(line).ok()).collect()
}

fn seqs(name: &str, holds: impl Fn(&Event) -> bool) -> Vec<Seq> {
    seqs_of(name, |e| holds(&e.event))
}

fn seqs_of(name: &str, mut holds: impl FnMut(&Envelope) -> bool) -> Vec<Seq> {
    events(name).iter().filter(|e| holds(e)).map(|e| e.seq).collect()
}

fn settled(name: &str) -> Vec<Seq> {
    seqs(name, |e| matches!(e, Event::DecisionSettled(_)))
}

#[test]
fn all_four_panes_show_past_and_future() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, ":seek 3\n");
    assert_eq!(app.state.seq, settled("failure")[2], "{}", app.notice);
    let text = shown(&app);
    for part in ["Episodes", "Transcript", "State", "Timeline", "(future)", "step 3/7", ">*", "observation", "REPLAY PAUSED"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    if std::env::var_os("PILOTHOUSE_SHOW").is_some() {
        for size in [(45, 22), (80, 24), (120, 36), (200, 50)] {
            app.area = Rect::new(0, 0, size.0, size.1);
            println!("{}", shown(&app));
        }
    }
}

#[test]
fn a_seek_takes_every_kind_of_place() {
    let mut app = opened("healthy", (120, 36));
    let steps = settled("healthy");
    for (place, seq) in [("@17", Seq(17)), ("5", steps[4]), ("1/7", steps[6]), ("0:1/2", steps[1])] {
        keys(&mut app, &format!(":seek {place}\n"));
        assert_eq!(app.state.seq, seq, "{place}: {}", app.notice);
    }
    keys(&mut app, ":seek 0s\n");
    assert!(app.state.seq < steps[0]);
    keys(&mut app, ":seek 9:59\n");
    assert_eq!(app.state.seq, app.desk.replay.track.as_ref().unwrap().last);
    for wrong in ["x", "1/99", "-3", "1/2/3"] {
        let before = app.state.seq;
        keys(&mut app, &format!(":seek {wrong}\n"));
        assert!(app.state.seq == before && !app.notice.is_empty(), "{wrong}");
    }
}

#[test]
fn a_search_finds_the_future_and_enter_goes_there() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, ":seek 2\n");
    let end =
        events("failure").into_iter().find_map(|e| if let Event::EpisodeEnded(d) = e.event { Some(d.truth.to_string()) } else { None });
    let word: String = end.unwrap().chars().take(12).collect();
    let head = app.state.seq;
    keys(&mut app, &format!("/{word}\n"));
    let place = app.view.replay.place.expect("the cursor is on the match");
    assert!(place.cursor.seq > head && app.state.seq == head, "{}", app.notice);
    assert!(app.notice.contains("1 of 1 here"), "{}", app.notice);
    let text = shown(&app);
    assert!(text.contains("1 in all"), "{text}");
    keys(&mut app, "\n");
    assert!(app.state.seq >= place.cursor.seq && app.view.replay.place.is_none());
    keys(&mut app, "/no such words at all\n");
    assert!(app.notice.contains("no later match"), "{}", app.notice);
}

#[test]
fn a_row_is_sought_by_enter_and_by_click() {
    let mut app = opened("success", (120, 36));
    keys(&mut app, ":seek 1\n");
    keys(&mut app, "jjjjjjjj");
    let scene = panes::replay::Scene { state: &app.state, desk: &app.desk, view: &app.view, playback: app.playback.as_ref() };
    let row = panes::replay::cursor_row(scene).unwrap().clone();
    assert!(row.seq > app.state.seq);
    keys(&mut app, "\n");
    let scene = panes::replay::Scene { state: &app.state, desk: &app.desk, view: &app.view, playback: app.playback.as_ref() };
    let at = panes::replay::cursor_row(scene).unwrap();
    assert_eq!(at.seq, row.seq, "the playhead's row is the one that was chosen");
    if let RowKind::Action { outcome, reward, .. } = &at.kind {
        assert!(outcome.is_some() && reward.is_some(), "a call is finished where the playhead stands");
    }
    keys(&mut app, ":seek 4\n");
    let before = app.state.seq;
    point_at(&mut app, MouseEventKind::Down(MouseButton::Left), 50, 4);
    settle(&mut app);
    assert_ne!(app.state.seq, before);
}

#[test]
fn the_timeline_is_dragged() {
    let mut app = opened("healthy", (120, 36));
    let steps = settled("healthy");
    // Eleven steps have three columns each; the timeline's inside begins at column 1, its label has three.
    let y = shown(&app).lines().position(|l| l.contains("ev ")).unwrap() as u16;
    point_at(&mut app, MouseEventKind::Down(MouseButton::Left), 4, y);
    settle(&mut app);
    assert_eq!((app.state.seq, app.view.focus), (steps[0], PaneId::Timeline));
    for (x, step) in [(4 + 3 * 4, 4), (4 + 3 * 7 + 2, 7), (110, 10)] {
        point_at(&mut app, MouseEventKind::Drag(MouseButton::Left), x, y);
        settle(&mut app);
        assert_eq!(app.state.seq, steps[step], "{x}");
    }
    // A drag that began elsewhere does not seek.
    type_keys(&mut app, "1");
    point_at(&mut app, MouseEventKind::Drag(MouseButton::Left), 4, y);
    settle(&mut app);
    assert_eq!(app.state.seq, steps[10]);
}

#[test]
fn on_a_small_screen_episodes_and_state_pop_up_and_close() {
    let mut app = opened("failure", (80, 24));
    keys(&mut app, "E");
    assert_eq!(app.view.popup, Some(PaneId::Episodes));
    assert!(shown(&app).contains("Episodes"));
    keys(&mut app, "\x1b");
    assert_eq!(app.view.popup, None);
    keys(&mut app, "I");
    assert_eq!(app.view.popup, Some(PaneId::Inspector));
    keys(&mut app, "IE\n");
    assert_eq!(app.view.popup, None);
    let started = seqs("failure", |e| matches!(e, Event::EpisodeStarted(_)));
    assert_eq!(app.state.seq, started[0], "enter opens the episode");
    // From the live panes of a recording the keys lead to the screen; where there is room they focus.
    let mut app = opened("failure", (120, 36));
    app.view.go(ScreenId::Live);
    keys(&mut app, "I");
    assert_eq!((app.view.screen, app.view.popup, app.view.focus), (ScreenId::Replay, None, PaneId::Inspector));
    keys(&mut app, "gl");
    assert_eq!(app.view.screen, ScreenId::Live, "a replay has live panes, at the playhead");
}

#[test]
fn the_list_filters_and_sorts() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, "E");
    for (filter, n) in [("fail", 1), ("success", 0), ("len>3 fail", 1), ("len<3", 0), ("ret>99", 0), ("ep=1", 1), ("middle", 1), ("", 1)] {
        keys(&mut app, &format!(":filter {filter}\n"));
        assert_eq!(app.notice, format!("{n} shown"), "{filter}");
    }
    let before = app.view.replay.sort;
    keys(&mut app, "ooooo");
    assert_eq!(app.view.replay.sort, before);
    keys(&mut app, "o");
    assert!(shown(&app).contains("return, least first"));
}

/// A live run that says what it is given.
struct Talking(CommandSender, Arc<Mutex<Vec<Frame>>>);

impl FrameSource for Talking {
    fn poll(&mut self, out: &mut Vec<Frame>, _: usize) -> Result<SourceStatus, SourceError> {
        out.append(&mut self.1.lock().unwrap());
        Ok(SourceStatus::Drained)
    }

    fn wait(&mut self, _: Duration) -> bool {
        false
    }

    fn commands(&self) -> Option<&CommandSender> {
        Some(&self.0)
    }

    fn playback(&mut self) -> Option<&mut dyn Playback> {
        None
    }
}

type Feed = Arc<Mutex<Vec<Frame>>>;

fn talking(size: (u16, u16)) -> (App, Inbox, Feed) {
    let (commands, inbox) = inbox(64);
    let feed = Feed::default();
    let mut app = app(Box::new(Talking(commands, feed.clone())), size);
    app.backstage = Box::new(Stage::default());
    (app, inbox, feed)
}

fn say(feed: &Feed, events: &[Envelope]) {
    feed.lock().unwrap().extend(events.iter().cloned().map(|e| Frame::Event(Arc::new(e))));
}

#[test]
fn a_recording_is_a_second_seat_and_nothing_of_the_live_run_is_lost() {
    let all = events("healthy");
    let (mut app, inbox, feed) = talking((120, 36));
    say(&feed, &all[..60]);
    settle(&mut app);
    keys(&mut app, "gr");
    let text = shown(&app);
    assert!(text.contains("recordings (2)") && text.contains("failure"), "{text}");
    // One that is not there is told, and the live run stays.
    keys(&mut app, "2Gk\n");
    let picked = app.view.replay.pick.clone();
    keys(&mut app, "G\n");
    assert!(app.notice.contains("not opened") || app.playback.is_some(), "{} {picked:?}", app.notice);
    if app.playback.is_some() {
        keys(&mut app, "gl");
    }
    keys(&mut app, "gr2Gk\n");
    assert!(app.playback.is_some(), "{}", app.notice);
    assert_eq!(app.view.screen, ScreenId::Replay);
    assert!(shown(&app).contains("LIVE run goes on"), "{}", shown(&app));
    let (recorded_end, lane) = (app.playback.as_ref().unwrap().end, LaneId(0));
    // The run goes on meanwhile, and what it says is folded.
    say(&feed, &all[60..100]);
    keys(&mut app, "$");
    assert_eq!(app.state.seq, recorded_end);
    assert_eq!(app.parked.as_ref().unwrap().state.seq, Seq(100));
    assert!(app.notice.is_empty() || !app.notice.contains("needs"), "{}", app.notice);
    keys(&mut app, ":swap deckhand-middle\n");
    assert!(app.notice.contains("this is a recording") && sent(&inbox).is_empty(), "{}", app.notice);
    // The line stays to be mended; escape leaves it.
    keys(&mut app, "\u{1b}gl");
    assert_eq!((app.state.seq, app.playback.is_none(), app.view.screen), (Seq(100), true, ScreenId::Live));
    let mut whole = DashState::default();
    all[..100].iter().for_each(|e| whole.apply(e).unwrap());
    assert_eq!(app.state, whole, "as if nobody had looked away");
    assert!(app.state.lane(lane).is_some() && app.desk.parked.is_none());
    // An episode of the run itself opens where it stands in the recording; q goes back, too.
    keys(&mut app, "grEgg\n");
    let started = seqs("success", |e| matches!(e, Event::EpisodeStarted(_)));
    assert_eq!(app.state.seq, started[0], "{}", app.notice);
    keys(&mut app, "q");
    assert_eq!((app.ended, app.playback.is_none(), &app.open), (None, true, &Open::Nothing));
    keys(&mut app, "q");
    assert_eq!(app.open, Open::ConfirmQuit);
}

#[test]
fn errors_and_marks_are_places_of_the_recording() {
    for name in ["failure", "healthy"] {
        let mut app = opened(name, (120, 36));
        let errors = seqs(name, |e| matches!(e, Event::ToolCallFinished(f) if f.error_type.is_some()));
        for seq in &errors {
            keys(&mut app, "}");
            assert_eq!(app.state.seq, *seq);
        }
        keys(&mut app, "}");
        assert!(app.notice.contains("no later tool error"), "{}", app.notice);
        keys(&mut app, ":seek 2\n");
        keys(&mut app, "m");
        let marked = app.state.seq;
        keys(&mut app, "$[");
        assert_eq!(app.state.seq, marked);
        assert!(app.desk.replay.tallies.contains_key(&Quest::Errors));
    }
}

#[test]
fn every_size_draws_all_four_panes_whatever_has_the_focus() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, ":seek 3\nb:break reward < 0.9\n:watch tool-error\nm");
    let (mut live, _inbox, feed) = talking((120, 36));
    say(&feed, &events("healthy")[..50]);
    settle(&mut live);
    keys(&mut live, "gr");
    for app in [&mut app, &mut live] {
        for width in (1..=200).step_by(7).chain([45, 80, 120, 200]) {
            for height in (1..=60).step_by(3).chain([22, 24, 36, 50]) {
                app.area = Rect::new(0, 0, width, height);
                let pane = ScreenId::Replay.panes()[usize::from(width + height) % 4];
                app.view.focus = pane;
                app.notice.clear();
                app.view.popup = (height % 2 == 0).then_some(pane);
                app.look.caps.ascii = width % 2 == 0;
                let text = shown(app);
                assert!(!text.trim().is_empty(), "{width}x{height}");
                assert!(!app.look.caps.ascii || width < 100 || text.is_ascii(), "{width}x{height}: {text}");
                for code in ["j", "k"] {
                    type_keys(app, code);
                }
                point_at(app, MouseEventKind::ScrollDown, width / 2, height / 2);
            }
        }
    }
}

#[test]
fn thousands_of_episodes_are_listed_with_the_cursor_in_sight() {
    let mut app = opened("failure", (120, 36));
    let one = app.desk.replay.book.episodes[0].clone();
    let many = (1..=5_000).map(|n| crate::source::Episode { episode: EpisodeId(n), first: Seq(u64::from(n)), ..one.clone() });
    let mut book = crate::source::Book::new(app.desk.replay.book.end);
    book.read_upto = book.end;
    many.for_each(|episode| book.push(episode));
    app.desk.replay.book = Arc::new(book);
    type_keys(&mut app, "2G");
    let text = shown(&app);
    assert!(text.contains("> ") && text.contains("5000"), "{text}");
    let scene = |app: &App| app.desk.replay.order.clone();
    assert_eq!(scene(&app), None, "as they are, nothing need be kept");
    type_keys(&mut app, "kk");
    assert!(matches!(app.view.replay.pick, Some(crate::ui::view::Pick::Episode(_, EpisodeId(4_998)))), "{:?}", app.view.replay.pick);
    type_keys(&mut app, ":filter ep>4990\n");
    assert_eq!(app.notice, "10 shown");
    type_keys(&mut app, "G");
    assert!(matches!(app.view.replay.pick, Some(crate::ui::view::Pick::Episode(_, EpisodeId(5_000)))), "{:?}", app.view.replay.pick);
    assert_eq!(app.desk.replay.book.find(LaneId(0), EpisodeId(5_000)).map(|e| e.first), Some(Seq(5_000)));
}

#[test]
fn a_list_that_is_filtered_or_sorted_is_made_once() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, "E");
    keys(&mut app, ":filter fail\n");
    let first = app.desk.replay.order.clone().expect("it is kept");
    app.take_frames().unwrap();
    assert!(app.desk.replay.order.as_ref().is_some_and(|o| Arc::ptr_eq(o, &first)), "and not made again");
    assert_eq!(first.places, [0]);
    keys(&mut app, ":filter success\n");
    assert_eq!(app.desk.replay.order.as_ref().map(|o| o.places.len()), Some(0));
    keys(&mut app, ":filter\n");
    assert_eq!(app.desk.replay.order, None);
}

#[test]
fn an_episode_that_went_on_takes_its_new_place_and_while_more_is_read_nothing_is_sorted_for_each_picture() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, ":filter fail\n");
    let order = |app: &App| panes::replay::order(&app.state, &app.desk, &app.view, app.playback.as_ref()).unwrap();
    let mut book = (*app.desk.replay.book).clone();
    (book.read_upto, book.end) = (book.read_upto.next(), book.end.next());
    book.episodes[0].end = None;
    app.desk.replay.book = Arc::new(book.clone());
    let here = order(&app);
    assert_eq!(here.places, [0; 0], "it goes on: the count is the same and the list is not");
    app.desk.replay.order = Some(here.clone());
    (book.read_upto, book.end) = (book.read_upto.next(), Seq(u64::MAX));
    app.desk.replay.book = Arc::new(book);
    assert!(Arc::ptr_eq(&order(&app), &here));
}

#[path = "app/alert_tests.rs"]
mod alerts;
#[path = "app/place_tests.rs"]
mod places;
#[path = "app/seat_tests.rs"]
mod seats;
#[path = "app/stop_tests.rs"]
mod stops;

/// The sample on two lanes, of which the second goes on from the third step of the first.
fn with_branch(size: (u16, u16)) -> App {
    use crate::event::{BranchCause, BranchStarted, StepIndex, ToolCall, Variation};
    let mut with = Variation { checkpoint: Some("deckhand-early".into()), ..Variation::default() };
    with.first.action = Some(ToolCall::new("wait"));
    let started = BranchStarted {
        parent_lane: LaneId(0),
        parent: EpisodeId(1),
        at_step: StepIndex(3),
        cause: BranchCause::Fork,
        with,
        state_hash: 0,
        reward_sum: 0.5,
        discounted_sum: 0.5,
    };
    let mut all = crate::source::tests::on_lanes("failure", 2);
    let begins = |e: &Envelope| e.lane == LaneId(1) && matches!(e.event, Event::EpisodeStarted(_));
    let at = all.iter().position(begins).unwrap();
    all.insert(at + 1, Envelope { event: started.into(), ..all[at].clone() });
    let path = crate::source::tests::made("branch", 2, all);
    let source = RecordingSource::open(&path, MonotonicClock::start()).unwrap();
    std::fs::remove_file(path).unwrap();
    let mut app = app(Box::new(source), size);
    app.view.go(ScreenId::Replay);
    app.with_playback(|p| p.set_playing(false));
    settle(&mut app);
    app
}

#[test]
fn branches_of_a_recording_stand_in_list_timeline_and_tree() {
    let mut app = with_branch((120, 36));
    keys(&mut app, ":seek 0:1/5\n");
    let text = shown(&app);
    let line = |what: &str| text.lines().find(|l| l.contains(what)).unwrap_or_else(|| panic!("{what}:\n{text}")).to_owned();
    assert!(line(" 1:1+").contains("early") && line(" 0:1 ").contains('*') && text.contains("+ branch"), "{text}");
    let (marks, letters) = (line("mk "), line("ev "));
    let column = |l: &str, c: char| l.chars().position(|x| x == c);
    assert_eq!(column(&marks, 'B'), column(&letters, 'O').map(|at| at + 6), "three columns a step, the third step:\n{text}");
    keys(&mut app, "gb");
    assert!(shown(&app).contains("└─1:1"), "{}", shown(&app));
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    keys(&mut app, "\n");
    let branch = app.desk.replay.book.find(LaneId(1), EpisodeId(1)).unwrap().first.next();
    assert_eq!((app.view.lane, app.state.seq, app.view.popup), (LaneId(1), branch, None));
    assert_eq!(app.state.own_checkpoint(LaneId(1)), Some(&"deckhand-early".into()));
    keys(&mut app, "gb");
    press(&mut app, KeyCode::Backspace, KeyModifiers::NONE);
    settle(&mut app);
    let lane = app.state.lane(LaneId(0)).unwrap();
    assert_eq!((app.view.lane, app.view.popup, lane.episode.step.0), (LaneId(0), None, 3));
    // Only branches, by a word.
    keys(&mut app, ":filter branch\n");
    assert!(app.notice.contains("1 shown"), "{}", app.notice);
}
