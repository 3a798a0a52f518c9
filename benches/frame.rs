//! The frame: what it costs to build a whole screen of a state whose rings are full. The budget is a p99 of 4 ms.
#![allow(clippy::unwrap_used)]

use pilothouse::event::*;
use pilothouse::source::{Beat, Track};
use pilothouse::state::{DashState, Row, RowKind};
use pilothouse::ui::desk::{Desk, ReplayDesk};
use pilothouse::ui::theme::{Caps, Theme, Tier};
use pilothouse::ui::view::{Context, PlaybackView, ScreenId, View};
use pilothouse::ui::widgets::ChartGlyphs;
use ratatui::layout::Rect;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const SIZE: Rect = Rect { x: 0, y: 0, width: 200, height: 50 };
const FRAMES: usize = 2_000;

fn main() {
    divan::main();
    for screen in [ScreenId::Live, ScreenId::Training] {
        percentiles(screen.name(), || frame(screen));
    }
    for rows in [100, 100_000] {
        percentiles(&format!("replay, an episode of {rows} rows, a search set"), long_episode(rows));
    }
}

/// The replay screen in the middle of an episode of so many rows.
fn long_episode(rows: u64) -> Box<dyn Fn() -> ratatui::buffer::Buffer> {
    let mut state = DashState::default();
    let episode = Some(EpisodeId(1));
    let row = |seq: u64| Row {
        seq: Seq(seq),
        t_ns: seq * 1_000_000,
        episode: EpisodeId(1),
        step: StepIndex((seq / 3) as u32 + 1),
        kind: RowKind::Text { text: "pay answers late and gw only waits for it, so the fault is in pay. Look at its log first.".into() },
    };
    let beat = |n: u64| Beat { step: StepIndex(n as u32), first: Seq(n * 3), last: Seq(n * 3 + 2), acted: true, ..Beat::default() };
    let started = EpisodeStarted {
        seed: Seed(1),
        level: Level::L0,
        goal: "".into(),
        briefing: "".into(),
        fields: vec![],
        checkpoint: None,
        state_hash: 1,
    };
    let envelope = Envelope { seq: Seq(1), t_ns: 1, lane: LaneId(0), episode, step: None, event: started.into() };
    state.apply(&envelope).unwrap();
    // The fold stands in the middle: half of the rows are past.
    let skipped = Elided { from: Seq(2), upto: Seq(rows / 2) };
    state.apply(&Envelope { seq: Seq(rows / 2), t_ns: 2, lane: LaneId(0), episode, step: None, event: skipped.into() }).unwrap();
    let track = Track {
        episode: EpisodeId(1),
        first: Seq(1),
        last: Seq(rows),
        rows: (2..=rows).map(row).collect(),
        beats: (1..=rows / 3).map(beat).collect(),
        read_upto: Seq(rows),
        ..Track::default()
    };
    let desk = Desk { replay: ReplayDesk { track: Some(Arc::new(track)), ..ReplayDesk::default() }, ..Desk::default() };
    let playback = PlaybackView {
        head: Seq(rows / 2),
        end: Seq(rows),
        t_ns_end: rows * 1_000_000,
        playing: false,
        speed: Pace::Times(1.0),
        damage: None,
        name: "bench".into(),
        bundle: None,
    };
    let mut view = View::default();
    view.go(ScreenId::Replay);
    view.search = "the fault".into();
    let theme = Theme::load("dark", Tier::Truecolor).unwrap();
    Box::new(move || {
        let caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        let context = Context {
            state: &state,
            desk: &desk,
            keys: &Default::default(),
            view: &view,
            theme: &theme,
            caps: &caps,
            playback: Some(&playback),
            read_only: true,
            banner: None,
            lang: Default::default(),
        };
        pilothouse::ui::draw(&context, SIZE)
    })
}

fn percentiles(name: &str, draw: impl Fn() -> ratatui::buffer::Buffer) {
    let mut times: Vec<Duration> = (0..FRAMES)
        .map(|_| {
            let begun = Instant::now();
            divan::black_box(draw());
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!("{name}: p50 {:?}, p99 {:?}, of {FRAMES} frames", times[FRAMES / 2], times[FRAMES * 99 / 100]);
}

#[divan::bench(args = ["live", "training"])]
fn build(screen: &str) -> ratatui::buffer::Buffer {
    frame(if screen == "live" { ScreenId::Live } else { ScreenId::Training })
}

fn frame(screen: ScreenId) -> ratatui::buffer::Buffer {
    static STATE: OnceLock<DashState> = OnceLock::new();
    let caps = Caps { tier: Tier::Truecolor, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    static THEME: OnceLock<Theme> = OnceLock::new();
    let mut view = View::default();
    view.go(screen);
    view.chart.smoothing_tenths = 6;
    let context = Context {
        state: STATE.get_or_init(full),
        desk: &Default::default(),
        keys: &Default::default(),
        view: &view,
        theme: THEME.get_or_init(|| Theme::load("dark", Tier::Truecolor).unwrap()),
        caps: &caps,
        playback: None,
        read_only: false,
        banner: None,
        lang: Default::default(),
    };
    pilothouse::ui::draw(&context, SIZE)
}

/// A hundred thousand episodes and updates, a transcript as long as it gets, a full log.
fn full() -> DashState {
    let mut state = DashState::default();
    let mut say = |n: u64, step: u32, event: Event| {
        let place = (Some(EpisodeId(n as u32)), Some(StepIndex(step)));
        let envelope = Envelope { seq: state.seq.next(), t_ns: n * 1_000_000, lane: LaneId(0), episode: place.0, step: place.1, event };
        state.apply(&envelope).unwrap();
    };
    for n in 1..=100_000 {
        let x = n as f64;
        if n > 98_000 {
            for step in 1..=5 {
                decide(step, |event| say(n, step, event));
            }
            say(n, 5, LogLine { level: LogLevel::Info, target: "bench".into(), text: "a line of the log".into() }.into());
        }
        let (ending, success) = (EpisodeEnding::Terminated, n % 3 == 0);
        let (episode_return, hybrid, truth) = ((x / 50.0).sin(), (x / 70.0).cos(), "pay: memory leak".into());
        let (final_reward, length, tool_errors, thought_fidelity) = (0.5, 5, 0, None);
        let end = EpisodeEnded { ending, episode_return, final_reward, hybrid, success, length, tool_errors, thought_fidelity, truth };
        say(n, 5, end.into());
        let figure = |period: f64| Some((x / period).sin());
        let update = UpdateCompleted {
            update: n,
            policy_loss: figure(30.0),
            value_loss: figure(40.0),
            entropy: figure(50.0),
            approx_kl: figure(60.0),
            clip_fraction: figure(70.0),
            grad_norm: figure(80.0),
            explained_variance: figure(90.0),
            learning_rate: figure(99.0),
            tokens: 4096,
            duration_ns: 1_000_000_000,
        };
        say(n, 5, update.into());
    }
    state
}

fn decide(step: u32, mut say: impl FnMut(Event)) {
    let text = "p95 of pay is 412 ms, its usual is 40 ms; gw only waits for it, so the fault is in pay. Look at its log first.";
    let observation = Observation { values: vec![], text: text.into(), compact: "t01;pay p6".into() };
    say(ObservationReceived { observation }.into());
    let call = ToolCall::new("query").with("svc", "pay");
    say(ToolCallStarted { call_id: 1, route: Route::Tool, call: call.clone() }.into());
    let result = "logs(pay): exit 137".into();
    say(ToolCallFinished { call_id: 1, tool: "query".into(), result, error_type: None, duration_ns: 12_000_000 }.into());
    let (reward, reward_sum) = (0.2, 0.2 * f64::from(step));
    let (terminated, truncated, value, state_hash, action) = (false, false, None, 1, RecordedAction::Tool(call));
    say(TransitionRecorded { action, reward, terminated, truncated, value, state_hash, reward_sum, discounted_sum: reward_sum }.into());
}
