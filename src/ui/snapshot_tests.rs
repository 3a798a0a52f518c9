//! Every screen at the four sizes of its layouts, as text without colour and as a grid of styles with it. After a change that is
//! meant: `INSTA_UPDATE=always cargo test --lib snapshots`, and look at what git says.

use super::*;
use crate::event::{CheckpointListed, Envelope, EvaluationCompleted, Event, LaneId, Level, SafeText, UpdateCompleted};
use crate::ui::panes::testing::typical;
use ratatui::style::Style;
use std::fmt::Write as _;

const SIZES: [(u16, u16); 4] = [(45, 22), (80, 24), (120, 36), (200, 50)];

fn say(state: &mut DashState, event: impl Into<Event>) {
    let envelope = Envelope {
        seq: state.seq.next(),
        t_ns: state.t_ns + 1_000_000_000,
        lane: LaneId(0),
        episode: None,
        step: None,
        event: event.into(),
    };
    state.apply(&envelope).unwrap();
}

/// The run of the panes' tests, with checkpoints, a swap, and a little training.
fn busy() -> DashState {
    let mut state = typical();
    for (n, name) in (1u64..).zip(["deckhand-early", "deckhand-middle", "deckhand-final"]) {
        let sha256 = format!("{n}b1f{}", "e2".repeat(30));
        say(&mut state, CheckpointListed { checkpoint: name.into(), sha256, training_step: n * 1200, note: SafeText::new("bc") });
    }
    for update in 1..=60u64 {
        let x = update as f64;
        say(
            &mut state,
            UpdateCompleted {
                update,
                policy_loss: Some(2.0 / (1.0 + x * 0.1)),
                entropy: Some(1.2 - x * 0.01),
                approx_kl: Some(0.01 + 0.0002 * x),
                grad_norm: Some(0.8 + 0.1 * (x * 0.7).sin()),
                learning_rate: Some(3e-4),
                tokens: 4096,
                duration_ns: 250_000_000,
                ..UpdateCompleted::default()
            },
        );
    }
    let (agent, level) = (SafeText::new("deckhand-final"), Level::L0);
    let evaluation =
        EvaluationCompleted { agent, level, episodes: 200, success_ratio: 0.99, success_low: 0.964, success_high: 0.997, return_mean: 5.5 };
    say(&mut state, evaluation);
    state
}

fn screen(id: ScreenId, size: (u16, u16), tier: Tier) -> Buffer {
    let mut app = if id == ScreenId::Replay {
        let mut app = replay(size);
        app.view.go(id);
        type_keys(&mut app, ":seek 1/4\n");
        for _ in 0..50 {
            app.take_frames().unwrap();
        }
        app.notice.clear();
        app
    } else if id == ScreenId::Diff {
        let mut app = replay(size);
        app.desk.diff.compared = Some(diff_screen::compared());
        app.view.go(id);
        for _ in 0..50 {
            app.take_frames().unwrap();
        }
        app
    } else {
        let (mut app, _) = live(size);
        app.state = busy();
        app.view.go(id);
        app
    };
    app.look.set_tier(Some(tier)).unwrap();
    app.picture(app.area)
}

fn text(buffer: &Buffer) -> String {
    rows(buffer).iter().map(|row| format!("{}\n", row.trim_end())).collect()
}

/// A letter a cell, and below what each letter is.
fn styles(buffer: &Buffer) -> String {
    let mut seen: Vec<Style> = Vec::new();
    let mut out = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut row = String::new();
        for x in buffer.area.left()..buffer.area.right() {
            let style = buffer[(x, y)].style();
            let at = seen.iter().position(|s| *s == style).unwrap_or_else(|| {
                seen.push(style);
                seen.len() - 1
            });
            row.push(char::from(b'a' + u8::try_from(at).unwrap_or(u8::MAX).min(25)));
        }
        let _ = writeln!(out, "{row}");
    }
    for (letter, style) in ('a'..).zip(&seen) {
        let _ = writeln!(out, "{letter} {:?} on {:?} {:?}", style.fg, style.bg, style.add_modifier);
    }
    out
}

#[test]
fn every_screen_at_every_size() {
    for id in ScreenId::ALL {
        for size in SIZES {
            let name = format!("{}-{}x{}", id.name(), size.0, size.1);
            insta::assert_snapshot!(format!("{name}-plain"), text(&screen(id, size, Tier::None)));
            insta::assert_snapshot!(format!("{name}-colour"), styles(&screen(id, size, Tier::Truecolor)));
        }
    }
}

#[test]
fn without_colour_no_cell_has_one_and_what_is_chosen_still_shows() {
    for id in ScreenId::ALL {
        let buffer = screen(id, (120, 36), Tier::None);
        for cell in buffer.content() {
            assert_eq!((cell.fg, cell.bg), (ratatui::style::Color::Reset, ratatui::style::Color::Reset), "{id:?}: {cell:?}");
        }
    }
}
