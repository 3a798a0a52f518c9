//! Every screen in Chinese: nothing panics, frames stay closed, and what is no name or number is translated.

use super::catalogue_tests::panes;
use super::{Lang, set};
use crate::state::DashState;
use crate::ui::actions::{ACTIONS, Group};
use crate::ui::app::Open;
use crate::ui::chrome::{help::Help, overlay};
use crate::ui::palette::Palette;
use crate::ui::panes::testing::{hostile, typical};
use crate::ui::silence_form::{Purpose, SilenceForm};
use crate::ui::theme::{Caps, Theme, Tier};
use crate::ui::view::{Context, PaneId, ScreenId, Share, View};
use crate::ui::widgets::ChartGlyphs;
use crate::ui::widgets::testing::rows;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

const SIZES: [(u16, u16); 4] = [(45, 22), (80, 24), (120, 36), (200, 50)];

fn drawn(state: &DashState, view: &View, open: &Open, (width, height): (u16, u16), lang: Lang, ascii: bool) -> Buffer {
    let caps = Caps { tier: Tier::None, ascii, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    let context = Context {
        state,
        desk: &Default::default(),
        keys: &Default::default(),
        lang,
        view,
        theme: &Theme::load("dark", Tier::None).unwrap(),
        caps: &caps,
        playback: None,
        read_only: false,
        banner: None,
    };
    let area = Rect::new(0, 0, width, height);
    let mut buffer = crate::ui::draw(&context, area);
    overlay(&mut buffer, area, &context, (open, ""), &[]);
    set(Lang::English);
    buffer
}

fn chinese(state: &DashState, view: &View, size: (u16, u16)) -> Buffer {
    drawn(state, view, &Open::Nothing, size, Lang::Chinese, false)
}

fn views() -> Vec<View> {
    let one = |screen: ScreenId, focus: PaneId, share| View { screen, focus, share, ..View::default() };
    let of_screen = |s: &ScreenId| s.panes().iter().map(|p| (*s, *p)).collect::<Vec<_>>();
    let all = ScreenId::ALL.iter().flat_map(of_screen);
    all.flat_map(|(s, p)| [Share::Normal, Share::Half, Share::Full].map(|share| one(s, p, share))).collect()
}

/// Frames of a picture; each must go round without a gap.
fn closed_frames(picture: &Buffer) -> usize {
    let at = |x: u16, y: u16| picture[(x, y)].symbol();
    let (width, height) = (picture.area.width, picture.area.height);
    let mut frames = 0;
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).filter(|(x, y)| matches!(at(*x, *y), "┌" | "┏")) {
        let right = (x..width).find(|right| matches!(at(*right, y), "┐" | "┓")).expect("a frame's upper edge ends");
        let mut row = y + 1;
        while matches!(at(x, row), "│" | "┃") {
            assert!(matches!(at(right, row), "│" | "┃"), "row {row}: {:?}\n{}", at(right, row), rows(picture).join("\n"));
            row += 1;
        }
        assert!(matches!((at(x, row), at(right, row)), ("└", "┘") | ("┗", "┛")), "row {row}:\n{}", rows(picture).join("\n"));
        frames += 1;
    }
    frames
}

#[test]
fn every_screen_draws_in_chinese_with_its_frames_closed() {
    let states = [DashState::default(), typical(), hostile()];
    let mut frames = 0;
    for (n, view) in views().iter().enumerate() {
        for size in SIZES {
            frames += closed_frames(&chinese(&states[n % 3], view, size));
            frames += closed_frames(&chinese(&states[(n + 1) % 3], view, size));
        }
    }
    assert!(frames > 500, "{frames}");
}

#[test]
fn no_title_of_a_pane_stays_english() {
    let state = typical();
    for view in views() {
        for size in SIZES {
            let shown = rows(&chinese(&state, &view, size));
            for edge in shown.iter().filter(|row| row.contains(['┌', '┏'])) {
                let is_title = |title: &str| edge.contains(&format!("{title} ─")) || edge.contains(&format!("{title} ━"));
                let left = panes().map(PaneId::title).find(|title| *title != "GPU" && is_title(title));
                assert_eq!(left, None, "{size:?} {edge}");
            }
        }
    }
}

/// Names, and words that Chinese operators write in Latin letters, too.
const LATIN: [&str; 21] = [
    "diff",
    "FILE",
    "swap",
    "pilothouse",
    "GPU",
    "KL",
    "lane",
    "train",
    "bc",
    "eval",
    "json",
    "filter",
    "nats",
    "token",
    "CEL",
    "n/a",
    "JSON",
    "cpu",
    "fail",
    "ret",
    "len",
];

#[test]
fn a_console_that_knows_nothing_yet_says_so_in_chinese() {
    let keys: Vec<&str> = ACTIONS.iter().flat_map(|e| e.keys).flat_map(|k| k.split(' ')).collect();
    let mut left = BTreeSet::new();
    for view in views() {
        for size in SIZES {
            for row in rows(&chinese(&DashState::default(), &view, size)) {
                let words = row.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '/')));
                let english = words.filter(|w| w.len() > 2 && w.contains(|c: char| c.is_alphabetic()));
                let known = |w: &str| LATIN.contains(&w.trim_matches(['-', '/'])) || keys.contains(&w);
                left.extend(english.filter(|w| !known(w)).map(str::to_owned));
            }
        }
    }
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_opens_above_the_panes_is_chinese_too() {
    let opens = [
        (Open::Help(Help::default()), "按键与命令"),
        (Open::Palette(Palette::default()), "命令面板"),
        (Open::Menu(None), "菜单"),
        (Open::Menu(Some(Group::Run)), "单步"),
        (Open::ConfirmQuit, "退出"),
        (Open::Silence(Box::new(SilenceForm::new(Purpose::New, &[], 3_600_000, "ops"))), "静默告警"),
    ];
    for (open, word) in opens {
        for size in SIZES {
            let shown = rows(&drawn(&typical(), &View::default(), &open, size, Lang::Chinese, false)).join("\n");
            assert!(shown.contains(word), "{word}:\n{shown}");
        }
    }
}

#[test]
fn without_unicode_frames_are_ascii_and_the_language_stays() {
    let shown = rows(&drawn(&typical(), &View::default(), &Open::Nothing, (120, 36), Lang::Chinese, true)).join("\n");
    assert!(shown.contains("思维链") && shown.contains('#') && !shown.contains(['┌', '┏', '│', '…']), "{shown}");
}

#[test]
fn a_context_decides_what_language_is_drawn() {
    set(Lang::Chinese);
    let shown = rows(&drawn(&typical(), &View::default(), &Open::Nothing, (120, 36), Lang::English, false)).join("\n");
    assert!(shown.contains("Thought chain") && !shown.contains("思维链"), "{shown}");
}
