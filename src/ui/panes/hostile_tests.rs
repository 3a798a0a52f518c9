//! Text that wants to be a control reaches no cell.

use crate::event::*;
use crate::state::DashState;
use crate::ui::theme::{Caps, Theme, Tier};
use crate::ui::view::{Context, Detail, PaneId, View};
use crate::ui::widgets::ChartGlyphs;
use ratatui::layout::Rect;

/// A state with hostile text in every place that text can come from.
fn hostile(text: &str) -> DashState {
    let mut state = DashState { serving: Some(CheckpointId(text.to_owned())), ..DashState::default() };
    let mut seq = 0;
    let mut apply = |event: Event| {
        seq += 1;
        let (episode, step) = (Some(EpisodeId(1)), Some(StepIndex(1)));
        state.apply(&Envelope { seq: Seq(seq), t_ns: seq * 1_000_000, lane: LaneId(0), episode, step, event }).unwrap();
    };
    let safe = SafeText::new(text);
    let run = RunStarted {
        run: RunId(text.to_owned()),
        started: text.to_owned(),
        build: text.to_owned(),
        agent: safe.clone(),
        env: text.to_owned(),
        env_version: text.to_owned(),
        level: Level::L0,
        seed: Seed(1),
        lanes: 1,
        max_steps: 9,
        tools: vec![],
        reward: RewardFormula::default(),
        profile: text.to_owned(),
        decoding: None,
    };
    apply(run.into());
    let started = EpisodeStarted {
        seed: Seed(1),
        level: Level::L0,
        goal: safe.clone(),
        briefing: safe.clone(),
        fields: vec![],
        checkpoint: None,
        state_hash: 1,
    };
    apply(started.into());
    let observation = Observation { values: vec![], text: safe.clone(), compact: safe.clone() };
    apply(ObservationReceived { observation }.into());
    apply(ThoughtDelta { text: safe.clone(), tokens: 1 }.into());
    apply(ToolCallStarted { call_id: 1, route: Route::Tool, call: ToolCall::new(text).with("svc", text) }.into());
    apply(
        ToolCallFinished { call_id: 1, tool: safe.clone(), result: safe.clone(), error_type: Some(ErrorType::Failed), duration_ns: 5 }
            .into(),
    );
    apply(LogLine { level: LogLevel::Error, target: safe.clone(), text: safe.clone() }.into());
    apply(
        AlertStateChanged { rule: safe.clone(), state: AlertState::Firing, severity: safe.clone(), summary: safe.clone(), detail: None }
            .into(),
    );
    apply(TelemetrySampled { host: HostSample::default(), gpu: GpuStatus::Unavailable { reason: safe } }.into());
    state
}

fn picture(state: &DashState, view: &View, w: u16, h: u16, tier: Tier) -> ratatui::buffer::Buffer {
    let theme = Theme::load("dark", tier).unwrap();
    let caps = Caps { tier, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    let context = Context {
        state,
        desk: &Default::default(),
        keys: &Default::default(),
        lang: Default::default(),
        view,
        theme: &theme,
        caps: &caps,
        playback: None,
        read_only: false,
        banner: Some("PROD"),
    };
    crate::ui::draw(&context, Rect::new(0, 0, w, h))
}

#[test]
fn hostile_text_reaches_no_cell_as_a_control() {
    for text in
        ["\u{1b}]52;c;QUJD\u{7}", "\u{1b}[31mred\u{1b}[0m", "\u{9b}2J", "a\u{202e}b\u{2066}c", "x\u{200b}y\u{e0041}", "line\r\nfeed\u{0}"]
    {
        let state = hostile(text);
        for (w, h) in [(45, 22), (80, 24), (200, 50)] {
            let view = View { detail: Detail::Full, ..View::default() };
            for cell in picture(&state, &view, w, h, Tier::Truecolor).content() {
                let bad = cell.symbol().chars().find(|c| c.is_control() || matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}'));
                assert_eq!(bad.filter(|c| *c != '\u{200d}'), None, "{text:?} at {w}x{h}");
            }
        }
    }
}

#[test]
fn the_focused_pane_shows_without_colour() {
    let state = hostile("x");
    let a = picture(&state, &View::default(), 120, 36, Tier::None);
    let b = picture(&state, &View { focus: PaneId::Log, ..View::default() }, 120, 36, Tier::None);
    assert_ne!(a, b);
}
