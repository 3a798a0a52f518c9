//! The thought chain: thoughts, actions, observations, the newest at the bottom. Only what is visible is laid out.

use crate::state::{Row, RowKind, Streaming};
use crate::ui::view::{Context, Detail, PaneId};
use crate::ui::widgets::text::{Ambiguous, wrap};
use crate::ui::widgets::{Canvas, Role, format};

/// One line as it is drawn: text, its role, and what stands at the right edge.
struct Line {
    text: String,
    role: Role,
    right: String,
}

/// Columns before the text: step number and letter.
const INDENT: usize = 8;

pub fn badge(cx: &Context<'_>) -> String {
    let scroll = cx.view.scroll_of(PaneId::Chain);
    if scroll.follow {
        return "follow".into();
    }
    let total = cx.state.lane(cx.view.lane).map_or(0, |l| l.transcript.rows.total());
    format!("follow off, {} new, G to catch up", total.saturating_sub(scroll.total_at_stop))
}

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let Some(lane) = cx.state.lane(cx.view.lane) else {
        canvas.text(1, 0, "waiting for the first decision", Role::Dim);
        return;
    };
    let (width, height) = (canvas.width() as usize, canvas.height() as usize);
    let ambiguous = canvas.glyphs().ambiguous;
    let scroll = cx.view.scroll_of(PaneId::Chain);
    let mut lines: Vec<Line> = Vec::new();
    // From the bottom up, so that the cost hangs on the height and the scroll, not on the transcript.
    let wanted = height + scroll.up;
    if let Some(streaming) = &lane.transcript.streaming {
        lines.extend(stream(streaming, lane.episode.step.0, cx.state.t_ns, width, ambiguous).into_iter().rev());
    }
    for row in lane.transcript.rows.iter().rev() {
        if lines.len() >= wanted {
            break;
        }
        lines.extend(layout(row, cx, width, ambiguous).into_iter().rev());
    }
    let up = scroll.up.min(lines.len().saturating_sub(height));
    let shown: Vec<&Line> = lines.iter().skip(up).take(height).collect();
    for (y, line) in shown.iter().rev().enumerate() {
        put(canvas, y as u16, line, &cx.view.search);
    }
}

fn put(canvas: &mut Canvas<'_>, y: u16, line: &Line, search: &str) {
    let width = canvas.width();
    let end = if line.right.is_empty() { width } else { canvas.text_before(width, y, &line.right, Role::Dim).saturating_sub(1) };
    canvas.text_upto(0, end, y, &line.text, line.role);
    if search.is_empty() {
        return;
    }
    let lower = line.text.to_lowercase();
    if let Some(at) = lower.find(search) {
        let x = canvas.measure(&lower[..at]);
        canvas.restyle(x, y, canvas.measure(search), Role::Match);
    }
}

fn stream(streaming: &Streaming, step: u32, t_ns: u64, width: usize, ambiguous: Ambiguous) -> Vec<Line> {
    let mut lines = block(step, 'T', &format!("{}_", streaming.text), Role::Thought, width, ambiguous);
    let seconds = t_ns.saturating_sub(streaming.started_t_ns) as f64 / 1e9;
    if seconds > 0.0 && streaming.tokens > 1 {
        let rate = f64::from(streaming.tokens) / seconds;
        lines.push(Line { text: String::new(), role: Role::Dim, right: format!("...streaming  {rate:.0} tok/s") });
    }
    lines
}

fn block(step: u32, letter: char, text: &str, role: Role, width: usize, ambiguous: Ambiguous) -> Vec<Line> {
    let head = format!("{step:>5} {letter} ");
    let lines = wrap(text, width.saturating_sub(INDENT).max(1), ambiguous);
    lines
        .into_iter()
        .enumerate()
        .map(|(i, line)| {
            let before = if i == 0 { head.clone() } else { " ".repeat(INDENT) };
            Line { text: format!("{before}{line}"), role, right: String::new() }
        })
        .collect()
}

fn layout(row: &Row, cx: &Context<'_>, width: usize, ambiguous: Ambiguous) -> Vec<Line> {
    let step = row.step.0;
    let open = cx.view.folds.get(&row.seq).copied();
    let whole = open.unwrap_or(cx.view.detail != Detail::Brief);
    let block = |letter, text: &str, role| block(step, letter, text, role, width, ambiguous);
    let mut lines = match &row.kind {
        RowKind::EpisodeStart { seed, level, goal } => {
            let text = format!("== episode {}  {level}  seed {seed}: {goal}", row.episode);
            wrap(&text, width.max(1), ambiguous).into_iter().map(|text| Line { text, role: Role::Strong, right: String::new() }).collect()
        }
        RowKind::Observation { text, compact } => {
            let everything = open.unwrap_or(cx.view.detail == Detail::Full);
            let shown = if cx.view.raw { compact } else { text };
            if everything { block('O', shown, Role::Observation) } else { block('O', &summary(text), Role::Observation) }
        }
        RowKind::Thought { text, tokens, duration_ns, .. } => {
            let mut lines = block('T', text, Role::Thought);
            if let Some(first) = lines.first_mut()
                && *tokens > 0
            {
                first.right = format!("{tokens} tok {}", format::duration(*duration_ns));
            }
            lines
        }
        RowKind::Action { call, outcome, reward, .. } => action(call, outcome.as_ref(), *reward, cx, &block, whole),
        RowKind::Text { text } => block('!', text, Role::Bad),
        RowKind::Compressed { before, after, ratio } => {
            block('M', &format!("memory: {before} tokens became {after} ({ratio:.1}:1)"), Role::Dim)
        }
        RowKind::EpisodeEnd { success, episode_return, hybrid, final_reward, length, truncated, aborted, truth } => {
            let (verdict, role) = match (success, aborted, truncated) {
                (true, _, _) => ("S success", Role::Good),
                (false, true, _) => ("- aborted", Role::Dim),
                (false, false, true) => ("F truncated", Role::Bad),
                (false, false, false) => ("F failure", Role::Bad),
            };
            let text = format!("== {verdict}  return {episode_return:.2}  hybrid {hybrid:.2}  final {final_reward:.2}  {length} steps");
            let mut lines = vec![Line { text, role, right: String::new() }];
            if !truth.is_empty() {
                lines.push(Line { text: format!("   truth: {truth}"), role: Role::Dim, right: String::new() });
            }
            lines
        }
        RowKind::Note { text } => block('N', text, Role::Dim),
    };
    if !whole {
        lines.truncate(1);
    }
    lines
}

fn action(
    call: &crate::event::ToolCall,
    outcome: Option<&crate::state::Outcome>,
    reward: Option<f64>,
    cx: &Context<'_>,
    block: &dyn Fn(char, &str, Role) -> Vec<Line>,
    whole: bool,
) -> Vec<Line> {
    let text = if cx.view.raw { serde_json::to_string(call).unwrap_or_default() } else { call.display().to_string() };
    let mut lines = block('A', &text, Role::Action);
    let status = match outcome {
        None => "...".to_owned(),
        Some(o) => {
            let word = if o.error_type.is_some() { "ERR" } else { "ok" };
            let reward = reward.map_or(String::new(), |r| format!("  r {r:+.2}"));
            format!("{} {word}{reward}", format::duration(o.duration_ns))
        }
    };
    if let Some(first) = lines.first_mut() {
        first.right = status;
    }
    if let Some(outcome) = outcome.filter(|_| whole) {
        let role = if outcome.error_type.is_some() { Role::Bad } else { Role::Observation };
        lines.extend(block('R', &outcome.result, role));
    }
    lines
}

/// An observation in one line: its alerts, and how many services it shows.
fn summary(text: &str) -> String {
    let alerts = text.lines().rev().find(|l| l.starts_with("Alerts:")).unwrap_or_else(|| text.lines().next().unwrap_or_default());
    let more = text.lines().count().saturating_sub(1);
    format!("{alerts}  [+{more} lines: v]")
}
