use super::figure::Figure;
use super::options::{ChartView, XAxis};
use super::traces::Traces;
use super::vitals::{Verdict, trend, verdict};
use super::{REWARD_FIGURES, cells, in_view, records};
use crate::event::*;
use crate::state::DashState;
use crate::ui::panes::testing::{screen, typical};
use crate::ui::theme::{Caps, Theme, Tier};
use crate::ui::update::{Facts, act, command};
use crate::ui::view::{PaneId, ScreenId, Share, View};
use crate::ui::widgets::testing::rows;
use crate::ui::widgets::{ChartGlyphs, Glyphs};
use proptest::prelude::*;
use ratatui::layout::Rect;

const PLAIN: Caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };

fn say(state: &mut DashState, t_ns: u64, event: impl Into<Event>) {
    let envelope = Envelope { seq: state.seq.next(), t_ns, lane: LaneId(0), episode: Some(EpisodeId(1)), step: None, event: event.into() };
    state.apply(&envelope).unwrap();
}

/// A run that trained: an update and an episode every second, with a spike, a swap, a pause and an alert.
fn trained(updates: u64) -> DashState {
    let mut state = DashState::default();
    say(&mut state, 1, RunStateChanged { state: RunState::Running, reason: "".into() });
    for n in 1..=updates {
        let (t_ns, x) = (n * 1_000_000_000, n as f64);
        say(&mut state, t_ns, ended(x % 10.0, n % 3 == 0, EpisodeEnding::Terminated));
        let policy_loss = Some(if n == 3 { 1e4 } else { 2.0 / x });
        let update = UpdateCompleted { update: n, policy_loss, approx_kl: Some(0.01), tokens: 4096, ..UpdateCompleted::default() };
        say(&mut state, t_ns + 1, update);
        if n == updates / 2 {
            say(&mut state, t_ns + 2, CheckpointSwapped { from: Some("a".into()), to: "b".into(), sha256: "0".into() });
            say(&mut state, t_ns + 3, RunStateChanged { state: RunState::Paused, reason: "".into() });
        }
    }
    let (agent, level) = ("deckhand-final".into(), Level::L1);
    let evaluation =
        EvaluationCompleted { agent, level, episodes: 200, success_ratio: 0.872, success_low: 0.82, success_high: 0.91, return_mean: 3.5 };
    say(&mut state, updates * 1_000_000_000 + 9, evaluation);
    state
}

fn ended(episode_return: f64, success: bool, ending: EpisodeEnding) -> EpisodeEnded {
    EpisodeEnded {
        ending,
        episode_return,
        final_reward: 0.0,
        hybrid: episode_return / 10.0,
        success,
        length: 5,
        tool_errors: 0,
        thought_fidelity: None,
        truth: "".into(),
    }
}

fn shown(state: &DashState, view: &View, width: u16, height: u16, caps: Caps) -> Vec<String> {
    rows(&screen(state, view, (width, height), caps, &Theme::load("dark", caps.tier).unwrap()))
}

fn facts(state: &DashState) -> Facts<'_> {
    let area = Rect::new(0, 1, 120, 34);
    Facts { state, desk: Box::leak(Box::default()), playback: None, can_command: true, area, glyphs: Glyphs::default() }
}

fn on(screen: ScreenId, focus: PaneId) -> View {
    let mut view = View { share: Share::Full, ..View::default() };
    view.go(screen);
    view.focus = focus;
    view
}

fn keys(view: &mut View, state: &DashState, keys: &[&str]) {
    use crate::ui::actions::Scope;
    use crate::ui::keymap::{KeyMap, Lookup};
    for key in keys {
        let Lookup::Action(action) = KeyMap::default().lookup(key, &Scope::of(view.screen, view.active())) else { panic!("{key}") };
        act(action, "", view, &facts(state));
    }
}

#[test]
fn what_was_cut_short_is_in_no_curve() {
    let mut state = trained(4);
    say(&mut state, 9_000_000_000, ended(99.0, false, EpisodeEnding::Aborted));
    assert_eq!(state.curves.episode_return.total(), 4);
    assert_eq!(state.curves.value_loss.total(), 0);
    assert_eq!(state.curves.policy_loss.total(), 4);
}

#[test]
fn the_cursor_says_what_the_data_are() {
    let state = trained(60);
    let mut view = on(ScreenId::Live, PaneId::Reward);
    keys(&mut view, &state, &["i", "left", "left"]);
    for kind in [XAxis::Step, XAxis::Relative, XAxis::Wall] {
        view.chart.axis = kind;
        let text = shown(&state, &view, 120, 36, PLAIN).join("\n");
        assert!(text.contains("return 8.00"), "{text}");
    }
    view.chart.axis = XAxis::Step;
    let text = shown(&state, &view, 120, 36, PLAIN).join("\n");
    assert!(text.contains("ep 58  return 8.00"), "{text}");
    keys(&mut view, &state, &["S", "S"]);
    assert!(shown(&state, &view, 120, 36, PLAIN).join("\n").contains("ep 58  return 8.00  ema "));
    keys(&mut view, &state, &["i"]);
    assert_eq!(view.chart.cursor, None);
}

#[test]
fn where_a_column_stands_for_many_values_the_cursor_says_the_lowest_and_the_highest() {
    let state = trained(4000);
    let mut view = on(ScreenId::Live, PaneId::Reward);
    keys(&mut view, &state, &["i", "left"]);
    let text = shown(&state, &view, 120, 36, PLAIN).join("\n");
    assert!(text.contains("mean") && text.contains("min 0") && text.contains("max 9.00"), "{text}");
}

#[test]
fn a_spike_is_seen_at_every_zoom_and_on_every_axis() {
    let state = trained(3000);
    for axis in [XAxis::Step, XAxis::Relative, XAxis::Wall] {
        for zoom in 0..12 {
            let mut chart = ChartView { axis, zoom, reward: vec![Figure::PolicyLoss], ..ChartView::default() };
            // From its beginning, where the spike is.
            chart.left = Some(0);
            let view = View { chart, ..on(ScreenId::Live, PaneId::Reward) };
            let screen = shown(&state, &view, 120, 36, PLAIN);
            let text = screen.join("\n");
            let top = text.lines().find(|l| l.contains("1.0e4") || l.contains("10000")).unwrap_or_default();
            assert!(top.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{axis:?} {zoom}: {text}");
        }
    }
}

#[test]
fn up_and_down_choose_and_series_takes_several() {
    let state = trained(30);
    let mut view = on(ScreenId::Live, PaneId::Reward);
    keys(&mut view, &state, &["j", "down"]);
    assert_eq!(view.chart.reward, [REWARD_FIGURES[2]]);
    keys(&mut view, &state, &["k"; 9]);
    assert_eq!(view.chart.reward, [Figure::Return]);
    command("series return,hyb", &mut view, &facts(&state));
    assert_eq!(view.chart.reward, [Figure::Return, Figure::Hybrid]);
    let text = shown(&state, &view, 120, 36, PLAIN).join("\n");
    assert!(text.contains("a return") && text.contains("b hybrid"), "{text}");
    assert_eq!(command("series nonsense", &mut view, &facts(&state)).len(), 1);
    assert_eq!(command("series return,hybrid,success,length", &mut view, &facts(&state)).len(), 1);
    assert_eq!(view.chart.reward.len(), 2);
    // What is counted differently has only time in common.
    command("series return,policy-loss", &mut view, &facts(&state));
    assert!(shown(&state, &view, 120, 36, PLAIN).join("\n").contains("by time"));
}

#[test]
fn what_is_not_known_is_said_to_be() {
    let mut view = on(ScreenId::Live, PaneId::Reward);
    view.chart.reward = vec![Figure::PolicyLoss];
    assert!(shown(&typical(), &view, 120, 36, PLAIN).join("\n").contains("n/a (no training update up to here)"));
    let text = shown(&typical(), &on(ScreenId::Training, PaneId::Curves), 120, 36, PLAIN).join("\n");
    assert!(text.contains("pilothouse train"), "{text}");
    keys(&mut view, &typical(), &["x", "x"]);
    let text = shown(&trained(9), &view, 120, 36, PLAIN).join("\n");
    assert!(text.contains("clock n/a"), "{text}");
    let text = shown(&trained(9), &on(ScreenId::Training, PaneId::Vitals), 120, 36, PLAIN).join("\n");
    assert!(text.contains("approx. KL") && text.contains("ok") && text.contains("no such figure"), "{text}");
    let text = shown(&trained(9), &on(ScreenId::Training, PaneId::Evaluations), 120, 36, PLAIN).join("\n");
    assert!(text.contains("87.2%  [82.0%, 91.0%]"), "{text}");
}

#[test]
fn marks_stand_where_it_happened_on_every_axis() {
    let state = trained(40);
    for axis in [XAxis::Step, XAxis::Relative] {
        let traces = Traces::of(&state, None, &ChartView { axis, ..ChartView::default() }, &[Figure::Return]);
        let marks: Vec<(u64, char)> = traces.marks(&state).iter().map(|m| (m.x, m.letter)).collect();
        let place = if axis == XAxis::Step { 20 } else { 20_000 };
        assert_eq!(marks, [(place, 'C'), (place, 'P')]);
    }
}

#[test]
fn verdicts_follow_their_rules() {
    let steady = [1.0; 20];
    assert_eq!(verdict(Figure::Kl, &[0.019]), Verdict::Ok);
    assert_eq!(verdict(Figure::Kl, &[0.03]), Verdict::Near);
    assert_eq!(verdict(Figure::Kl, &[0.2]), Verdict::Bad);
    assert_eq!(verdict(Figure::ExplainedVariance, &[-0.1]), Verdict::Bad);
    assert_eq!(verdict(Figure::GradNorm, &steady), Verdict::Ok);
    let jumped: Vec<f64> = steady.iter().copied().chain([11.0]).collect();
    assert_eq!(verdict(Figure::GradNorm, &jumped), Verdict::Bad);
    assert_eq!(verdict(Figure::PolicyLoss, &[f64::NAN]), Verdict::Bad);
    let collapsed: Vec<f64> = [1.0; 10].into_iter().chain([0.1; 10]).collect();
    assert_eq!(verdict(Figure::Entropy, &collapsed), Verdict::Bad);
    assert_eq!(trend(&collapsed).as_deref(), Some("falling"));
    assert_eq!(trend(&steady).as_deref(), Some("steady"));
    assert_eq!(trend(&[1.0, f64::NAN]), None);
}

#[test]
fn an_export_is_the_series_that_is_shown_and_a_copy_what_is_under_the_cursor() {
    let state = trained(60);
    let mut view = on(ScreenId::Training, PaneId::Curves);
    view.chart.training = vec![Figure::PolicyLoss, Figure::Kl];
    let all = records(&state, &view, PaneId::Curves);
    assert_eq!(all.len(), 120);
    assert_eq!((&all[2]["series"], &all[2]["value"], &all[2]["smoothed"]), (&"policy-loss".into(), &1e4.into(), &serde_json::Value::Null));
    view.chart.cursor = Some(2);
    assert_eq!(in_view(&state, &view, PaneId::Curves), Some(2));
}

#[test]
fn charts_of_several_stay_inside_and_apart() {
    for (width, height, count) in (0..130).step_by(7).flat_map(|w| (0..50).step_by(3).flat_map(move |h| (0..12).map(move |n| (w, h, n)))) {
        let cells = cells(width, height, count);
        assert!(cells.len() <= count && (count == 0 || !cells.is_empty()));
        for (n, a) in cells.iter().enumerate() {
            assert!(a.right() <= width && a.bottom() <= height, "{width}x{height} {count}: {cells:?}");
            assert!(cells[n + 1..].iter().all(|b| !a.intersects(*b)));
        }
    }
}

#[test]
fn every_size_draws_also_in_ascii_and_with_hostile_numbers() {
    let mut hostile = trained(5);
    for (n, value) in [f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX, 5e-324].into_iter().enumerate() {
        let update = UpdateCompleted { update: u64::MAX - n as u64, policy_loss: Some(value), entropy: Some(-value), ..Default::default() };
        say(&mut hostile, u64::MAX - 9 + n as u64, update);
    }
    let states = [DashState::default(), trained(700), hostile];
    let sizes = [(1, 1), (3, 2), (20, 5), (45, 22), (60, 16), (80, 24), (120, 36), (200, 50), (500, 200)];
    for (width, height) in sizes {
        for (n, focus) in [PaneId::Curves, PaneId::Vitals, PaneId::Evaluations].into_iter().enumerate() {
            for state in &states {
                let mut view = on(ScreenId::Training, focus);
                view.share = if n == 0 { Share::Normal } else { Share::Full };
                view.chart =
                    ChartView { log: n == 1, cursor: Some(3), smoothing_tenths: n as u8 * 4, zoom: n as i8, ..ChartView::default() };
                let caps = Caps { ascii: width % 2 == 0, ..PLAIN };
                let screen = shown(state, &view, width, height, caps);
                assert!(!caps.ascii || screen.concat().is_ascii(), "{screen:#?}");
                assert!(screen.iter().any(|row| !row.trim().is_empty()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_keys_lose_the_way_back(pressed in prop::collection::vec(0..14usize, 0..40), count in 0..1500u64, training in any::<bool>()) {
        const KEYS: [&str; 14] = ["=", "=", "-", "left", "right", "i", "x", "L", "s", "S", "j", "k", "pageup", "G"];
        let state = if count == 0 { DashState::default() } else { trained(count) };
        let mut view = if training { on(ScreenId::Training, PaneId::Curves) } else { on(ScreenId::Live, PaneId::Reward) };
        for key in pressed {
            keys(&mut view, &state, &[KEYS[key]]);
        }
        shown(&state, &view, 120, 36, PLAIN);
        if training && count > 0 {
            // Zooming out ends with all of it, however often it was zoomed in.
            let mut back = view.clone();
            keys(&mut back, &state, &["-"; 45]);
            prop_assert_eq!((back.chart.zoom, back.chart.left), (0, None));
        }
        keys(&mut view, &state, &["g g"]);
        let home = ChartView::default();
        prop_assert_eq!((view.chart.range, view.chart.zoom, view.chart.left), (home.range, home.zoom, home.left));
        shown(&state, &view, 120, 36, PLAIN);
    }
}
