//! Where everything stands, from a wall of monitors down to one cell.
//!
//! ```text
//! wide, from 200x50          full, from 100x28          compact, from 60x16        phone, from 36x14
//! status                     status                     status                     status
//! ┌ chain ┐┌ reward ┐┌ mem ┐ ┌ chain ──┐┌ reward ┐      ┌ chain (or focus) ──┐      policy, returns, success
//! │       ││        ││     │ │         ││        │      │                    │      ───────────────────
//! │       │├ tools ─┤│     │ │         │├ tools ─┤      └────────────────────┘      the focused pane,
//! └───────┘└────────┘└─────┘ └─────────┘└────────┘      ┌ reward ─┐┌ gpu ────┐      without a frame
//! ┌ gpu ─┐┌ alerts ┐┌ log ─┐ ┌ gpu ┐┌ alerts ┐┌ log ┐   └─────────┘└─────────┘      ───────────────────
//! └──────┘└────────┘└──────┘ └─────┘└────────┘└─────┘   alerts / log / tabs         alerts / tabs
//! keys                       keys                       keys                        keys
//!
//! one, smaller: status, the focused pane without a frame, tabs where there is room
//! ```
//!
//! Half the screen: where there are six panes, the focused one has the left half and the others share the right one; on smaller
//! screens it has the room of strips and summary too. All of the screen: the focused pane alone.
//!
//! Status and hints are the shell's; what is laid out here lies between them.

use crate::ui::view::{PaneId, ScreenId, Share, View};
use ratatui::layout::Rect;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Wide,
    Full,
    Compact,
    Phone,
    One,
}

impl Tier {
    /// By what lies between status and hints: two rows less than the screen.
    fn of(width: u16, height: u16) -> Self {
        match (width, height) {
            (200.., 48..) => Tier::Wide,
            (100.., 26..) => Tier::Full,
            (60.., 14..) => Tier::Compact,
            (36.., 12..) => Tier::Phone,
            (_, _) => Tier::One,
        }
    }
}

/// Rectangles, relative to the upper left corner of what was laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub panes: Vec<(PaneId, Rect)>,
    /// Panes that are shown in short.
    pub strips: Vec<(PaneId, Rect)>,
    pub summary: Option<Rect>,
    pub alerts: Option<Rect>,
    pub log: Option<Rect>,
    pub tabs: Option<Rect>,
    /// Above everything else.
    pub popup: Option<(PaneId, Rect)>,
    /// Whether panes have frames.
    pub framed: bool,
}

/// Lays `w` by `h` cells out for `view`'s screen, focus and full screen.
pub fn arrange(w: u16, h: u16, view: &View) -> Layout {
    let tier = Tier::of(w, h);
    let framed = matches!(tier, Tier::Wide | Tier::Full | Tier::Compact);
    let mut layout = Layout { framed, ..Layout::default() };
    match view.screen {
        ScreenId::Live => live(&mut layout, tier, (w, h), view),
        ScreenId::Replay
        | ScreenId::Checkpoints
        | ScreenId::Alerts
        | ScreenId::Training
        | ScreenId::Memory
        | ScreenId::Log
        | ScreenId::Diff => other(&mut layout, tier, (w, h), view),
    }
    if let Some(popup) = view.popup {
        layout.popup = Some((popup, popup_area(w, h)));
    }
    layout
}

/// Most of the screen, so that what lies beneath still shows that it is there.
fn popup_area(w: u16, h: u16) -> Rect {
    let (width, height) = if w >= 60 && h >= 14 { (w - 8, h - 2) } else { (w, h) };
    let width = width.min(110);
    Rect::new((w - width) / 2, (h - height) / 2, width, height)
}

/// Screens other than the live one: all panes where they have room, the first and the focused one on a usual terminal, the
/// focused one alone below that. Where not all are shown, tabs say which there are.
fn other(layout: &mut Layout, tier: Tier, (w, h): (u16, u16), view: &View) {
    let narrow = matches!(tier, Tier::Phone | Tier::One);
    let compact = tier == Tier::Compact;
    let tabs = u16::from((narrow || compact) && h >= 4 && view.screen.panes().len() > 1);
    layout.tabs = (tabs > 0).then(|| Rect::new(0, h - 1, w, 1));
    let whole = Rect::new(0, 0, w, h - tabs);
    if narrow || view.share == Share::Full {
        layout.panes.push((view.focus, whole));
        return;
    }
    match view.screen {
        ScreenId::Live | ScreenId::Log => layout.panes.push((view.focus, whole)),
        ScreenId::Replay if compact => replay_compact(layout, whole, view),
        ScreenId::Replay => replay(layout, whole),
        ScreenId::Checkpoints | ScreenId::Alerts | ScreenId::Training | ScreenId::Memory | ScreenId::Diff if compact => {
            two(layout, whole, view)
        }
        ScreenId::Checkpoints | ScreenId::Alerts => list_above(layout, whole, view.screen),
        ScreenId::Memory if tier == Tier::Wide => columns(layout, whole, view.screen),
        ScreenId::Training | ScreenId::Memory | ScreenId::Diff => first_left(layout, whole, view.screen),
    }
}

/// ```text
/// ┌ episodes ┐┌ transcript ─┐┌ state ┐
/// └──────────┘└─────────────┘└───────┘
/// ┌ timeline ────────────────────────┐
/// └──────────────────────────────────┘
/// ```
fn replay(layout: &mut Layout, Rect { width, height, .. }: Rect) {
    let upper = height - TIMELINE_HEIGHT;
    let (left, right) = ((width * 28 / 100).clamp(32, 52), (width * 28 / 100).clamp(32, 60));
    layout.panes.extend([
        (PaneId::Episodes, Rect::new(0, 0, left, upper)),
        (PaneId::Transcript, Rect::new(left, 0, width - left - right, upper)),
        (PaneId::Inspector, Rect::new(width - right, 0, right, upper)),
        (PaneId::Timeline, Rect::new(0, upper, width, TIMELINE_HEIGHT)),
    ]);
}

/// Rows of the timeline, its frame included.
const TIMELINE_HEIGHT: u16 = 6;

/// Whether the replay screen shows episodes and state above its other panes, for want of room beside them.
pub fn has_popups(w: u16, h: u16) -> bool {
    Tier::of(w, h) == Tier::Compact
}

/// Transcript and timeline; episodes and state open above them.
fn replay_compact(layout: &mut Layout, Rect { width, height, .. }: Rect, view: &View) {
    let lower = 5;
    let upper = if view.focus == PaneId::Timeline { PaneId::Transcript } else { view.focus };
    layout.panes.push((upper, Rect::new(0, 0, width, height - lower)));
    layout.panes.push((PaneId::Timeline, Rect::new(0, height - lower, width, lower)));
}

/// The first pane, and below it the focused one, or the second.
fn two(layout: &mut Layout, Rect { width, height, .. }: Rect, view: &View) {
    let panes = view.screen.panes();
    let below = if view.focus == panes[0] { panes[1] } else { view.focus };
    let upper = height / 2;
    layout.panes.push((panes[0], Rect::new(0, 0, width, upper)));
    layout.panes.push((below, Rect::new(0, upper, width, height - upper)));
}

/// The first pane over the whole width, the two others beside each other below it.
fn list_above(layout: &mut Layout, Rect { width, height, .. }: Rect, screen: ScreenId) {
    let panes = screen.panes();
    let (upper, left) = (height * 2 / 5, width * 3 / 5);
    layout.panes.extend([
        (panes[0], Rect::new(0, 0, width, upper)),
        (panes[1], Rect::new(0, upper, left, height - upper)),
        (panes[2], Rect::new(left, upper, width - left, height - upper)),
    ]);
}

/// The first pane on the left, the two others one above the other beside it.
fn first_left(layout: &mut Layout, Rect { width, height, .. }: Rect, screen: ScreenId) {
    let panes = screen.panes();
    let (left, upper) = (width * 3 / 5, height / 2);
    layout.panes.extend([
        (panes[0], Rect::new(0, 0, left, height)),
        (panes[1], Rect::new(left, 0, width - left, upper)),
        (panes[2], Rect::new(left, upper, width - left, height - upper)),
    ]);
}

/// All panes beside each other.
fn columns(layout: &mut Layout, Rect { width, height, .. }: Rect, screen: ScreenId) {
    let count = screen.panes().len() as u16;
    for (n, id) in (0u16..).zip(screen.panes()) {
        let (from, to) = (width * n / count, width * (n + 1) / count);
        layout.panes.push((*id, Rect::new(from, 0, to - from, height)));
    }
}

fn live(layout: &mut Layout, tier: Tier, (w, h): (u16, u16), view: &View) {
    match tier {
        Tier::Wide | Tier::Full if view.share == Share::Full => layout.panes.push((view.focus, Rect::new(0, 0, w, h))),
        Tier::Wide | Tier::Full if view.share == Share::Half => half(layout, view.focus, tier, (w, h)),
        Tier::Wide => wide(layout, w, h),
        Tier::Full => six(layout, Rect::new(0, 0, w, h), 55),
        Tier::Compact | Tier::Phone | Tier::One => {
            let tabs = u16::from(h >= 4);
            layout.tabs = (tabs > 0).then(|| Rect::new(0, h - 1, w, 1));
            let h = h - tabs;
            match tier {
                Tier::Compact if view.share != Share::Full => compact(layout, view, w, h),
                Tier::Phone if view.share != Share::Full => phone(layout, view, w, h),
                Tier::Wide | Tier::Full | Tier::Compact | Tier::Phone | Tier::One => {
                    layout.panes.push((view.focus, Rect::new(0, 0, w, h)));
                }
            }
        }
    }
}

/// Whether a screen of that inside is so small that `0` opens the menu by digits.
pub fn has_menu_key(w: u16, h: u16) -> bool {
    match Tier::of(w, h) {
        Tier::Wide | Tier::Full | Tier::Compact => false,
        Tier::Phone | Tier::One => true,
    }
}

/// The focused pane on the left, all others on the right, one above the other.
fn half(layout: &mut Layout, focus: PaneId, tier: Tier, (w, h): (u16, u16)) {
    layout.panes.push((focus, Rect::new(0, 0, w / 2, h)));
    let memory = (tier == Tier::Wide).then_some(PaneId::Memory);
    let others: Vec<PaneId> = ScreenId::Live.panes().iter().copied().chain(memory).filter(|id| *id != focus).collect();
    let count = others.len() as u16;
    for (n, id) in (0u16..).zip(others) {
        let (from, to) = (h * n / count, h * (n + 1) / count);
        layout.panes.push((id, Rect::new(w / 2, from, w - w / 2, to - from)));
    }
}

/// Memory and state get a column of their own.
fn wide(layout: &mut Layout, w: u16, h: u16) {
    let memory = 60 + (w - 200) / 6;
    six(layout, Rect::new(0, 0, w - memory, h), 58);
    layout.panes.push((PaneId::Memory, Rect::new(w - memory, 0, memory, h)));
}

/// The six panes: the chain takes `share` percent of the width of the upper part.
fn six(layout: &mut Layout, area: Rect, share: u16) {
    let Rect { x, y, width, height } = area;
    let lower = (height * 35 / 100).clamp(9, 14);
    let upper = height - lower;
    let chain = (u32::from(width) * u32::from(share) / 100) as u16;
    let reward = upper - (upper * 2 / 5);
    let (gpu, alerts) = (width / 3, width / 3);
    layout.panes.extend([
        (PaneId::Chain, Rect::new(x, y, chain, upper)),
        (PaneId::Reward, Rect::new(x + chain, y, width - chain, reward)),
        (PaneId::Tools, Rect::new(x + chain, y + reward, width - chain, upper - reward)),
        (PaneId::Gpu, Rect::new(x, y + upper, gpu, lower)),
        (PaneId::Alerts, Rect::new(x + gpu, y + upper, alerts, lower)),
        (PaneId::Log, Rect::new(x + gpu + alerts, y + upper, width - gpu - alerts, lower)),
    ]);
}

/// The focused pane, two strips where that is the chain, then alerts and log, a row each.
fn compact(layout: &mut Layout, view: &View, w: u16, h: u16) {
    layout.alerts = Some(Rect::new(0, h - 2, w, 1));
    layout.log = Some(Rect::new(0, h - 1, w, 1));
    let body = h - 2;
    let strips = if view.focus == PaneId::Chain && view.share == Share::Normal && body >= 14 { 6 } else { 0 };
    layout.panes.push((view.focus, Rect::new(0, 0, w, body - strips)));
    if strips > 0 {
        let y = body - strips;
        layout.strips.push((PaneId::Reward, Rect::new(0, y, w / 2, strips)));
        layout.strips.push((PaneId::Gpu, Rect::new(w / 2, y, w - w / 2, strips)));
    }
}

fn phone(layout: &mut Layout, view: &View, w: u16, h: u16) {
    let alerts = if h >= 17 { 3 } else { 1 };
    let summary = if view.share == Share::Normal { 3 } else { 0 };
    layout.summary = (summary > 0).then(|| Rect::new(0, 0, w, summary));
    layout.panes.push((view.focus, Rect::new(0, summary, w, h - summary - alerts)));
    layout.alerts = Some(Rect::new(0, h - alerts, w, alerts));
}
