//! Every pane at every size, from nothing to hostile.

use super::arrange;
use crate::event::*;
use crate::state::DashState;
use crate::ui::actions::Scope;
use crate::ui::desk::Desk;
use crate::ui::find::search;
use crate::ui::keymap::{KeyMap, Lookup};
use crate::ui::theme::{Caps, Theme, Tier};
use crate::ui::update::{Effect, Facts, act};
use crate::ui::view::{Context, Detail, PaneId, Share, View};
use crate::ui::widgets::testing::rows;
use crate::ui::widgets::{ChartGlyphs, Glyphs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

/// A run written event by event.
#[derive(Default)]
struct Script {
    state: DashState,
    t_ns: u64,
    episode: Option<EpisodeId>,
    step: Option<StepIndex>,
}

impl Script {
    fn say(&mut self, event: impl Into<Event>) {
        self.t_ns += 70_000_000;
        let seq = self.state.seq.next();
        let (episode, step) = (self.episode, self.step);
        let envelope = Envelope { seq, t_ns: self.t_ns, lane: LaneId(0), episode, step, event: event.into() };
        self.state.apply(&envelope).unwrap();
    }

    fn episode(&mut self, number: u32, steps: u32, success: bool, words: &str) {
        (self.episode, self.step) = (Some(EpisodeId(number)), None);
        let metric = |name: &str, unit| ObservationField { name: name.into(), unit };
        let fields = ["gw", "pay"]
            .iter()
            .flat_map(|s| [metric(&format!("{s}.p95"), Unit::Milliseconds), metric(&format!("{s}.errors"), Unit::Ratio)]);
        self.say(EpisodeStarted {
            seed: Seed(7),
            level: Level::L1,
            goal: format!("find the fault and mend it {words}").into(),
            briefing: "".into(),
            fields: fields.collect(),
            checkpoint: Some("deckhand-final".into()),
            state_hash: 0xabc,
        });
        for step in 1..=steps {
            self.step = Some(StepIndex(step));
            self.decision(step, words);
        }
        self.say(EpisodeEnded {
            ending: if success { EpisodeEnding::Terminated } else { EpisodeEnding::Truncated },
            episode_return: 3.0 + f64::from(number % 7),
            final_reward: f64::from(u8::from(success)),
            hybrid: 0.61,
            success,
            length: steps,
            tool_errors: 0,
            thought_fidelity: None,
            truth: format!("pay: memory leak {words}").into(),
        });
    }

    fn observe(&mut self, step: u32, words: &str) {
        self.say(PhaseEntered { phase: Phase::Observe });
        let text = format!("Minute {step}.00\ngw   p95 120 ms (usual 90 ms)\npay  p95 n/a (usual 40 ms)\nAlerts: gw {words}");
        let observation =
            Observation { values: vec![Some(120.0), Some(0.004), None, Some(0.31)], text: text.into(), compact: "t01;gw p6 e0".into() };
        self.say(ObservationReceived { observation });
    }

    fn decision(&mut self, step: u32, words: &str) {
        self.observe(step, words);
        self.say(MessageCompleted {
            text: "".into(),
            thought: format!("pay answers late and gw only waits for it, so the fault is in pay. Look at its log first. {words}").into(),
            token_ids: vec![TokenId(1); 42],
            logprobs: vec![-0.1],
            entropy: vec![0.3],
            token_ends: Vec::new(),
            trainer_logprobs: Vec::new(),
            advantages: Vec::new(),
            loss_mask: Vec::new(),
            finish_reason: FinishReason::Stop,
            prompt_tokens: 310,
            cached_tokens: 200,
            checkpoint: None,
            duration_ns: 310_000_000,
            prefill_ns: None,
        });
        let call = ToolCall::new("query_logs").with("service", "pay").with("note", words);
        self.say(ToolCallStarted { call_id: u64::from(step), route: Route::Tool, call: call.clone() });
        let failed = step.is_multiple_of(4);
        self.say(ToolCallFinished {
            call_id: u64::from(step),
            tool: "query_logs".into(),
            result: format!("logs(pay): exit 137 {words}").into(),
            error_type: failed.then_some(ErrorType::Refused),
            duration_ns: 12_000_000,
        });
        self.say(TransitionRecorded {
            action: RecordedAction::Tool(call),
            reward: 0.2 * f64::from(step % 5),
            terminated: false,
            truncated: false,
            value: None,
            state_hash: 1,
            reward_sum: 0.4 * f64::from(step),
            discounted_sum: 0.3 * f64::from(step),
        });
        self.say(DecisionSettled { duration_ns: 1, memory_bytes: None });
    }

    fn telemetry(&mut self, gpu: GpuStatus) {
        let host = HostSample {
            cpu_ratio: Some(0.38),
            memory_used_bytes: Some(6_100_000_000),
            memory_total_bytes: Some(16_000_000_000),
            process_rss_bytes: Some(210_000_000),
            disk: Some(DiskSample { mount: "/".into(), available_bytes: 31_000_000_000, total_bytes: 64_000_000_000 }),
            ..HostSample::default()
        };
        self.say(TelemetrySampled { host, gpu });
    }
}

fn no_gpu() -> GpuStatus {
    GpuStatus::Unavailable { reason: "no NVML library: libnvidia-ml.so.1 was not found".into() }
}

/// Six episodes, a seventh under way, a message half said, an alert, a log.
fn typical() -> DashState {
    let mut script = Script::default();
    script.say(CheckpointSwapped { from: None, to: "deckhand-final".into(), sha256: "0".into() });
    script.say(RunStateChanged { state: RunState::Running, reason: "".into() });
    for number in 1..=6 {
        script.episode(number, 5, number % 3 != 0, "");
        script.telemetry(no_gpu());
    }
    script.say(AlertStateChanged {
        rule: "RecorderSlow".into(),
        state: AlertState::Firing,
        severity: "warn".into(),
        summary: "the recorder is 2 s behind".into(),
        detail: None,
    });
    script.say(LogLine { level: LogLevel::Warn, target: "recorder".into(), text: "2 s behind".into() });
    script.episode(7, 3, true, "");
    script.say(MemoryCompressed { before: 420, after: 60, ratio: 7.0, prompt_tokens: 300, summary: "".into() });
    script.step = Some(StepIndex(4));
    script.observe(4, "");
    script.say(ThoughtDelta { text: "<think>pay is still".into(), tokens: 4 });
    script.say(ThoughtDelta { text: " slow<act>{\"tool\":".into(), tokens: 4 });
    script.state
}

/// Words that no terminal should be given, and numbers that no axis has.
fn hostile() -> DashState {
    let mut script = Script::default();
    let words = "\x1b[2J\x07 工单系统👩\u{200d}💻\u{202e}zalgo e\u{301}\u{301}\t\u{feff} ".repeat(40);
    script.episode(1, 6, false, &words);
    for reward in [f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX] {
        script.say(TransitionRecorded {
            action: RecordedAction::Text(words.as_str().into()),
            reward,
            terminated: false,
            truncated: false,
            value: None,
            state_hash: 0,
            reward_sum: reward,
            discounted_sum: reward,
        });
    }
    let lost = GpuSample { lost: Some(words.as_str().into()), ..GpuSample::default() };
    let odd = GpuSample { utilization_ratio: Some(f64::NAN), memory_used_bytes: Some(u64::MAX), ..GpuSample::default() };
    script.telemetry(GpuStatus::Devices(vec![lost, odd.clone(), odd.clone(), odd.clone(), odd]));
    for target in ["a", &words] {
        script.say(LogLine { level: LogLevel::Error, target: target.into(), text: words.as_str().into() });
        let (rule, severity, summary) = (target.into(), words.as_str().into(), words.as_str().into());
        script.say(AlertStateChanged { rule, state: AlertState::Pending, severity, summary, detail: None });
    }
    script.say(ThoughtDelta { text: words.as_str().into(), tokens: 0 });
    script.state
}

fn screen(state: &DashState, view: &View, width: u16, height: u16, caps: Caps) -> Buffer {
    testing::screen(state, view, (width, height), caps, &Theme::load("dark", caps.tier).unwrap())
}

/// For tests of the rest of the screen.
pub mod testing {
    use super::*;

    pub use super::do_keys;

    pub fn typical() -> DashState {
        super::typical()
    }

    pub fn hostile() -> DashState {
        super::hostile()
    }

    /// A live run with nothing on the desk.
    pub fn scene<'a>(state: &'a DashState, view: &'a View) -> crate::ui::panes::replay::Scene<'a> {
        crate::ui::panes::replay::Scene { state, desk: Box::leak(Box::default()), view, playback: None }
    }

    /// The rows of a screen without colour.
    pub fn drawn(state: &DashState, view: &View, desk: &Desk, (width, height): (u16, u16)) -> Vec<String> {
        let caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
        let ctx = Context {
            state,
            desk,
            keys: &Default::default(),
            lang: Default::default(),
            view,
            theme: &Theme::load("dark", Tier::None).unwrap(),
            caps: &caps,
            playback: None,
            read_only: false,
            banner: None,
        };
        rows(&crate::ui::draw(&ctx, Rect::new(0, 0, width, height)))
    }

    pub fn screen(state: &DashState, view: &View, (width, height): (u16, u16), caps: Caps, theme: &Theme) -> Buffer {
        let ctx = Context {
            state,
            desk: &Default::default(),
            keys: &Default::default(),
            lang: Default::default(),
            view,
            theme,
            caps: &caps,
            playback: None,
            read_only: false,
            banner: None,
        };
        crate::ui::draw(&ctx, Rect::new(0, 0, width, height))
    }
}

const PLAIN: Caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };

fn shown(state: &DashState, view: &View, width: u16, height: u16) -> String {
    let rows = rows(&screen(state, view, width, height, PLAIN));
    rows.iter().map(|r| r.trim_end().to_owned() + "\n").collect()
}

#[test]
fn every_size_shows_something_and_nothing_panics() {
    let states = [DashState::default(), typical(), hostile()];
    let widths = (1..30).chain([36, 45, 60, 80, 99, 100, 120, 200, 250]);
    for (width, height) in widths.flat_map(|w| [1, 2, 3, 5, 6, 9, 14, 16, 22, 24, 28, 36, 50, 80].map(|h| (w, h))) {
        let focus = [crate::ui::view::ScreenId::Live.panes()[usize::from(width % 6)], PaneId::Chain];
        for (n, state) in states.iter().enumerate() {
            let view = View {
                focus: focus[n % 2],
                share: [Share::Normal, Share::Half, Share::Full][usize::from(width + height) % 3],
                detail: Detail::Full,
                ..View::default()
            };
            let caps = Caps { ascii: width % 2 == 0, ambiguous_width: 1 + (height % 2) as u8, ..PLAIN };
            let buffer = screen(state, &view, width, height, caps);
            assert!(rows(&buffer).iter().any(|r| !r.trim().is_empty()), "{width}x{height}, state {n}");
            let control = buffer.content().iter().find(|c| c.symbol().contains(char::is_control));
            assert!(control.is_none(), "{width}x{height}: {control:?}");
        }
    }
}

#[test]
fn ascii_means_ascii() {
    let caps = Caps { ascii: true, ..PLAIN };
    for (width, height) in [(200, 50), (120, 36), (80, 24), (45, 22)] {
        let text = rows(&screen(&typical(), &View::default(), width, height, caps)).concat();
        assert!(text.is_ascii(), "{width}x{height}: {:?}", text.chars().find(|c| !c.is_ascii()));
    }
}

#[test]
fn rectangles_stay_inside_and_do_not_overlap() {
    for (width, height) in (1..=250).step_by(3).flat_map(|w| (1..=80).map(move |h| (w, h))) {
        let shares = [(PaneId::Chain, Share::Normal), (PaneId::Log, Share::Normal), (PaneId::Chain, Share::Half)];
        for (focus, share) in
            shares.into_iter().chain([(PaneId::Log, Share::Half), (PaneId::Memory, Share::Half), (PaneId::Log, Share::Full)])
        {
            let view = View { focus, share, ..View::default() };
            let l = arrange(width, height, &view);
            let single = [l.summary, l.alerts, l.log, l.tabs];
            let all: Vec<Rect> = single.into_iter().flatten().chain(l.panes.iter().chain(&l.strips).map(|p| p.1)).collect();
            let cells: u32 = all.iter().map(|r| r.area()).sum();
            assert_eq!(cells, u32::from(width) * u32::from(height), "{width}x{height} {focus:?} {share:?}: {l:?}");
            for (n, a) in all.iter().enumerate() {
                assert!(a.right() <= width && a.bottom() <= height);
                assert!(all[n + 1..].iter().all(|b| !a.intersects(*b)), "{width}x{height}: {l:?}");
            }
        }
    }
}

#[test]
fn what_is_not_known_is_said_to_be() {
    let empty = DashState::default();
    let text = shown(&empty, &View::default(), 200, 50);
    for hint in ["waiting for the first decision", "no alert rules are loaded", "waiting for the first sample", "no log lines yet"] {
        assert!(text.contains(hint), "{hint}: {text}");
    }
    let text = shown(&typical(), &View::default(), 120, 36);
    assert!(text.contains("GPU n/a  no NVML"), "{text}");
}

#[test]
fn a_match_shows_without_colour_and_in_folds() {
    let state = typical();
    let view = View { search: "usual".into(), ..View::default() };
    let buffer = screen(&state, &view, 120, 36, PLAIN);
    let reversed = buffer.content().iter().filter(|c| c.modifier.contains(Modifier::REVERSED)).count();
    assert!(reversed >= "usual".len(), "{reversed}");
    assert!(rows(&buffer).concat().contains("/usual  "));
}

/// Presses keys on a screen of 120x36.
pub fn do_keys(keys: &[&str], view: &mut View, state: &DashState) -> String {
    let area = Rect::new(0, 1, 120, 34);
    let facts = Facts { state, desk: &Default::default(), playback: None, can_command: true, area, glyphs: Glyphs::default() };
    let mut said = String::new();
    for key in keys {
        let Lookup::Action(action) = KeyMap::default().lookup(key, &Scope::of(view.screen, view.active())) else {
            panic!("{key} does nothing")
        };
        for effect in act(action, "", view, &facts) {
            if let Effect::Notice(text) = effect {
                said = text;
            }
        }
    }
    said
}

/// The lines of the chain that are seen, without what the marks say.
fn chain_lines(state: &DashState, view: &View) -> Vec<String> {
    let rows = rows(&screen(state, view, 120, 36, PLAIN));
    rows[2..].iter().take_while(|r| !r.starts_with('┗')).map(|r| r.chars().skip(1).take(64).collect::<String>()).collect()
}

#[test]
fn the_oldest_row_is_the_end_and_the_way_back_begins_at_once() {
    let state = typical();
    for (keys, back) in [(&["g g"][..], "j"), (&["pageup"; 60], "j"), (&["k"; 600], "pagedown"), (&["g g", "k", "k"], "j")] {
        let mut view = View::default();
        do_keys(keys, &mut view, &state);
        let top = chain_lines(&state, &view);
        assert!(top[0].contains("episode 1 "), "{keys:?}: {top:?}");
        do_keys(&[back], &mut view, &state);
        assert_ne!(chain_lines(&state, &view), top, "{keys:?}");
        do_keys(&["j"; 700], &mut view, &state);
        assert_eq!(view.place, None, "the way down ends with following");
    }
    // Where there is nothing above, nothing stops following.
    let mut view = View::default();
    do_keys(&["k", "pageup"], &mut view, &DashState::default());
    assert_eq!(view.place, None);
}

#[test]
fn the_log_and_the_alerts_stop_at_their_ends_too() {
    let mut script = Script { state: typical(), ..Script::default() };
    script.t_ns = 200_000_000_000;
    for n in 0..50 {
        script.say(LogLine { level: LogLevel::Info, target: "t".into(), text: format!("line {n}").into() });
        let rule = format!("Rule{n:02}").into();
        script.say(AlertStateChanged { rule, state: AlertState::Pending, severity: "warn".into(), summary: "".into(), detail: None });
    }
    let state = &script.state;
    let mut view = View { focus: PaneId::Log, ..View::default() };
    do_keys(&["pageup"; 30], &mut view, state);
    let top = shown(state, &view, 120, 36);
    assert!(top.contains("recorder 2 s behind"), "{top}");
    do_keys(&["j"], &mut view, state);
    assert_ne!(shown(state, &view, 120, 36), top);
    do_keys(&["G"], &mut view, state);
    assert!(shown(state, &view, 120, 36).contains("line 49"));
    // A list that begins at its top goes down with j.
    view.focus = PaneId::Alerts;
    do_keys(&["k", "j"], &mut view, state);
    let second = view.rules.at.clone();
    do_keys(&["pagedown"; 30], &mut view, state);
    assert!(shown(state, &view, 120, 36).contains("Rule00"));
    do_keys(&["g g"], &mut view, state);
    assert!(view.rules.at.is_some() && view.rules.at != second);
}

#[test]
fn n_goes_from_match_to_match_and_comes_round() {
    let state = typical();
    let mut view = View { search: "memory leak".into(), ..View::default() };
    let area = Rect::new(0, 1, 120, 34);
    let facts = Facts { state: &state, desk: &Default::default(), playback: None, can_command: true, area, glyphs: Glyphs::default() };
    let [Effect::Notice(first)] = &search("Memory Leak", &mut view, &facts)[..] else { panic!() };
    assert_eq!(first, "7 of 7 matches");
    assert_eq!(do_keys(&["N"], &mut view, &state), "6 of 7 matches");
    let text = shown(&state, &view, 120, 36);
    assert!(text.contains("/memory leak  6 of 7 matches") && text.contains("truth: pay: memory leak"), "{text}");
    assert_eq!(do_keys(&["n"], &mut view, &state), "7 of 7 matches");
    assert_eq!(do_keys(&["n"], &mut view, &state), "1 of 7 matches, from the oldest again");
    assert_eq!(do_keys(&["N"], &mut view, &state), "7 of 7 matches, from the newest again");
    view.search = "no such words".into();
    let before = view.place;
    assert!(do_keys(&["n"], &mut view, &state).starts_with("no match"));
    assert_eq!(view.place, before);
}

#[test]
fn braces_go_from_error_to_error() {
    let state = typical();
    let mut view = View { focus: PaneId::Log, ..View::default() };
    assert_eq!(do_keys(&["{"], &mut view, &state), "tool error 6 of 6");
    let text = chain_lines(&state, &view);
    let at = text.iter().position(|l| l.starts_with('*')).unwrap();
    assert!(text[at].contains(" 4 A ") && text[at..at + 3].concat().contains("E refused"), "{text:?}");
    assert_eq!(view.focus, PaneId::Chain);
    assert_eq!(do_keys(&["{", "{", "}"], &mut view, &state), "tool error 5 of 6");
    assert_eq!(do_keys(&["}", "}"], &mut view, &state), "no tool error below this row; 6 in all");
}

#[test]
fn za_folds_the_row_at_the_cursor_which_shows_without_colour() {
    let state = typical();
    let mut view = View::default();
    do_keys(&["{", "z a"], &mut view, &state);
    let text = chain_lines(&state, &view);
    let row = text.iter().find(|l| l.starts_with('*')).unwrap();
    assert!(row.starts_with("*>  4 A "), "{text:?}");
    do_keys(&["z a"], &mut view, &state);
    assert!(chain_lines(&state, &view).iter().any(|l| l.starts_with("*v  4 A ")), "it unfolds the same row");
    let narrow = screen(&state, &view, 45, 22, PLAIN);
    assert!(narrow.content().iter().any(|c| c.modifier.contains(Modifier::REVERSED)), "reversed where there is no room for a star");
}

#[test]
fn marks_are_set_shown_visited_and_taken_away() {
    let state = typical();
    let mut view = View::default();
    assert!(do_keys(&["["], &mut view, &state).starts_with("no earlier mark"));
    do_keys(&["{", "m", "{", "m", "G"], &mut view, &state);
    assert_eq!(view.marks.len(), 2);
    assert_eq!(do_keys(&["["], &mut view, &state), "mark 2 of 2");
    assert_eq!(do_keys(&["["], &mut view, &state), "mark 1 of 2");
    assert_eq!(do_keys(&["]", "k"], &mut view, &state), "mark 2 of 2");
    assert!(chain_lines(&state, &view).iter().any(|l| l.starts_with("m")), "{:?}", chain_lines(&state, &view));
    do_keys(&["]", "m"], &mut view, &state);
    assert_eq!(view.marks.len(), 1);
}

#[test]
fn plus_gives_the_focused_pane_half_and_then_all() {
    let state = typical();
    let mut view = View::default();
    let count = |view: &View| shown(&state, view, 120, 36).matches(" Log ").count();
    do_keys(&["6", "+"], &mut view, &state);
    assert_eq!((view.share, count(&view)), (Share::Half, 1));
    do_keys(&["+", "+"], &mut view, &state);
    assert_eq!(view.share, Share::Full);
    assert!(!shown(&state, &view, 120, 36).contains("Thought chain"));
    do_keys(&["_", "_"], &mut view, &state);
    assert_eq!(view.share, Share::Normal);
}

#[test]
fn scrolled_text_stands_still_while_rows_come() {
    let mut script = Script { state: typical(), t_ns: 100_000_000_000, episode: Some(EpisodeId(7)), step: Some(StepIndex(9)) };
    let mut view = View::default();
    do_keys(&["k"; 9], &mut view, &script.state);
    let chain = |state: &DashState| {
        let rows = rows(&screen(state, &view, 120, 36, PLAIN));
        rows[2..18].iter().map(|r| r.chars().take(60).collect::<String>()).collect::<Vec<_>>()
    };
    let before = chain(&script.state);
    script.decision(9, "");
    script.decision(10, "");
    assert_eq!(chain(&script.state), before);
    assert!(shown(&script.state, &view, 120, 36).contains("follow off, 6 new, G to catch up"));
}

#[test]
fn following_shows_the_newest_and_moves_seldom() {
    let mut script = Script { state: typical(), t_ns: 100_000_000_000, episode: Some(EpisodeId(7)), step: Some(StepIndex(9)) };
    let mut changed = 0;
    let mut before = screen(&script.state, &View::default(), 200, 50, PLAIN);
    for step in 0..40 {
        script.step = Some(StepIndex(step));
        script.decision(step, "");
        let after = screen(&script.state, &View::default(), 200, 50, PLAIN);
        changed += before.diff(&after).len();
        before = after;
    }
    let text = rows(&before).concat();
    assert!(text.contains(" 39 A "), "{text}");
    assert!(changed / 40 < 2500, "{} cells a decision", changed / 40);
}
