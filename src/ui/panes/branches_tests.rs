//! The tree: whatever a file says, each branch once and below its parent.

use super::*;
use crate::event::{SafeText, Seq, StepIndex, ToolCall, Variation};
use crate::state::BranchRow;
use crate::ui::panes::testing::typical;
use crate::ui::theme::{Caps, Theme, Tier};
use crate::ui::view::Context;
use crate::ui::widgets::ChartGlyphs;
use crate::ui::widgets::testing::rows;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn key(lane: u32, episode: u32) -> Key {
    (LaneId(lane), EpisodeId(episode))
}

proptest! {
    /// Also with parents that are not there, that began later, that are the branch itself, and with numbers that stand twice.
    #[test]
    fn parents_stand_before_their_children_and_each_branch_once(
        items in prop::collection::vec(((0..4u32, 0..6u32), prop::option::of((0..4u32, 0..6u32))), 0..40)
    ) {
        let items: Vec<(Key, Option<Key>)> = items.into_iter().map(|((l, e), p)| (key(l, e), p.map(|(l, e)| key(l, e)))).collect();
        let ordered = order(&items);
        let mut places: Vec<usize> = ordered.iter().map(|p| p.index).collect();
        for (at, place) in ordered.iter().enumerate() {
            let parent = ordered[..at].iter().rev().find(|p| p.depth < place.depth);
            prop_assert_eq!(parent.map(|p| p.depth + 1), place.depth.checked_sub(1).map(|d| d + 1));
            if let Some(parent) = parent {
                prop_assert_eq!(Some(items[parent.index].0), items[place.index].1);
                prop_assert!(parent.index < place.index);
            } else {
                let (_, wanted) = items[place.index];
                prop_assert!(items[..place.index].iter().all(|(key, _)| Some(*key) != wanted));
            }
            let sister = ordered[at + 1..].iter().take_while(|p| p.depth >= place.depth).any(|p| p.depth == place.depth);
            prop_assert!(place.depth == 0 || place.is_last != sister);
        }
        places.sort_unstable();
        prop_assert_eq!(places, (0..items.len()).collect::<Vec<_>>());
    }
}

fn row(of: Key, from: Key, step: u32, with: Variation, cause: BranchCause) -> BranchRow {
    let (parent_lane, parent) = from;
    let (lane, episode) = of;
    let started =
        BranchStarted { parent_lane, parent, at_step: StepIndex(step), cause, with, state_hash: 0, reward_sum: 0.0, discounted_sum: 0.0 };
    BranchRow { seq: Seq(1), t_ns: 0, lane, episode, started, end: None }
}

/// Two branches of an episode, and one of the first of them.
fn branched() -> DashState {
    let mut state = typical();
    let parent = key(0, state.lanes[&LaneId(0)].episode.episode.0);
    let mut with = Variation { checkpoint: Some("deckhand-early".into()), ..Variation::default() };
    state.branches.push(row(key(1, 1), parent, 2, with.clone(), BranchCause::Fork));
    with.checkpoint = None;
    with.first.action = Some(ToolCall::new("scale").with("svc", "pay"));
    state.branches.push(row(key(2, 1), parent, 3, with, BranchCause::Fork));
    state.branches.push(row(key(1, 2), key(1, 1), 4, Variation::default(), BranchCause::Rewind));
    state
}

fn drawn(state: &DashState, (width, height): (u16, u16), change: impl Fn(&mut View), ascii: bool) -> String {
    let caps = Caps { tier: Tier::None, ascii, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    let (theme, mut view) = (Theme::load("dark", Tier::None).unwrap(), View { popup: Some(PaneId::Branches), ..View::default() });
    change(&mut view);
    let cx = Context {
        state,
        desk: &Default::default(),
        keys: &Default::default(),
        lang: Default::default(),
        view: &view,
        theme: &theme,
        caps: &caps,
        playback: None,
        read_only: false,
        banner: None,
    };
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    super::super::draw(&mut buffer, area, &cx);
    rows(&buffer).join("\n")
}

#[test]
fn a_tree_says_where_each_branch_left_and_what_differs() {
    let state = branched();
    let text = drawn(&state, (120, 30), |view| view.branch = Some(key(2, 1)), false);
    let parent = name(key(0, state.lanes[&LaneId(0)].episode.episode.0));
    let lines: Vec<&str> = text.lines().filter(|l| ["1:1", "1:2", "2:1"].iter().any(|n| l.contains(n))).collect();
    assert!(lines[0].contains("├─1:1") && lines[0].contains("deckhand-early") && lines[0].contains("fork"), "{text}");
    assert!(lines[1].contains("│ └─1:2") && lines[1].contains("went back"), "{text}");
    assert!(lines[2].contains("└─2:1") && lines[2].contains("scale(svc=pay)"), "{text}");
    let told = format!("2:1  fork from {parent} before step 3: action=scale(svc=pay)");
    assert!(text.contains(&told), "{told}:\n{text}");
    assert!(drawn(&state, (120, 30), |_| {}, true).contains("| `-1:2"));
}

#[test]
fn it_is_drawn_at_every_size_and_hostile_words_stay_words() {
    let mut state = branched();
    let hostile = "\u{1b}[2J\u{202e}工".repeat(40);
    let mut with = Variation { checkpoint: Some(hostile.as_str().into()), ..Variation::default() };
    with.first.result = Some(SafeText::new(&hostile));
    with.first.action = Some(ToolCall::new(hostile.as_str()).with(&hostile, hostile.as_str()));
    for n in 0..60 {
        state.branches.push(row(key(3, n), key(3, n.wrapping_sub(1)), u32::MAX, with.clone(), BranchCause::Fork));
    }
    for size in [(1, 1), (3, 3), (9, 2), (20, 5), (45, 22), (80, 24), (120, 36), (200, 50)] {
        for at in [key(0, 0), key(3, 0), key(3, 30), key(3, 59)] {
            let text = drawn(&state, size, |view| view.branch = Some(at), false);
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{size:?}");
        }
    }
}

#[test]
fn the_checkpoint_of_a_branch_is_that_of_the_branch_it_goes_on_from() {
    let mut state = branched();
    state.lanes.entry(LaneId(1)).or_default().episode.episode = EpisodeId(2);
    state.lanes.entry(LaneId(2)).or_default().episode.episode = EpisodeId(1);
    assert_eq!(state.own_checkpoint(LaneId(1)), Some(&"deckhand-early".into()));
    assert_eq!((state.own_checkpoint(LaneId(2)), state.own_checkpoint(LaneId(0))), (None, None));
    // A file that says that a branch goes on from itself.
    state.branches.push(row(key(2, 1), key(2, 1), 1, Variation::default(), BranchCause::Fork));
    assert_eq!(state.own_checkpoint(LaneId(2)), None);
}

#[test]
fn a_deep_tree_still_names_its_episodes() {
    let mut state = typical();
    let first = state.lanes[&LaneId(0)].episode.episode.0;
    for n in 0..75 {
        state.branches.push(row(key(0, first + n + 1), key(0, first + n), 2, Variation::default(), BranchCause::Rewind));
    }
    for size in [(45, 22), (80, 24), (120, 36)] {
        let shown = drawn(&state, size, |view| view.branch = Some(key(0, first + 75)), false);
        for n in 70..=75 {
            assert!(shown.contains(&format!("0:{}", first + n)), "{size:?} {n}\n{shown}");
        }
    }
}
