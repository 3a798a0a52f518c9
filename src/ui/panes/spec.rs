//! What each pane is, in one table: drawing, keys, scrolling, the mouse and exports ask it. What most panes have in common stands in
//! `pane`; a row says what differs.

use super::replay::{self, Scene, episodes, transcript};
use super::{
    Motion, Pane, alerts, branches, chain, checkpoints, curves, diff, gpu, lines, log, memory, recall, reward, rules, strips, tools,
};
use crate::ui::actions::Scope;
use crate::ui::lang::tr;
use crate::ui::records;
use crate::ui::update::{Effect, Facts};
use crate::ui::view::{Context, PaneId, Scroll, View};
use crate::ui::widgets::{Canvas, Glyphs};
use serde_json::{Error, Value};

/// How far from its home a pane is scrolled at most.
pub type Max = fn(Scene<'_>, Glyphs, Scroll, (u16, u16)) -> usize;

/// What up and down do in a pane, whose inside has that many columns and rows.
#[derive(Clone, Copy)]
pub enum Travel {
    /// They move a cursor, or a place of its own.
    Own(fn(&mut View, &Facts<'_>, (u16, u16), Motion)),
    /// They scroll.
    Lines(Max),
    /// All of it is in view.
    Nowhere,
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct PaneSpec {
    pub title: &'static str,
    pub tab: fn() -> String,
    /// For a phone, where six tabs have 45 columns.
    pub tab_short: Option<fn() -> String>,
    /// Whose keys it has, the narrowest first.
    pub scopes: &'static [Scope],
    pub draw: fn(&mut Canvas<'_>, &Pane<'_>),
    /// In two to four lines.
    pub strip: Option<fn(&mut Canvas<'_>, &Context<'_>)>,
    pub travel: Travel,
    /// Goes to the newest and follows; unset where that is the end of the list.
    pub newest: Option<fn(&mut View)>,
    pub click: fn(&mut View, &Facts<'_>, u16, u16) -> Vec<Effect>,
    pub open: fn(&mut View, &Facts<'_>) -> Vec<Effect>,
    pub sort: fn(&mut View, &Facts<'_>) -> Vec<Effect>,
    pub filter: fn(&str, &mut View, &Facts<'_>) -> Vec<Effect>,
    /// What it shows, in the order in which it does.
    pub records: fn(Scene<'_>) -> Result<Vec<Value>, Error>,
    /// Which of these a copy is of.
    pub in_view: fn(&[Value], Scene<'_>) -> Option<usize>,
}

/// A pane without rows to choose, whose newest record is the last one.
const fn pane(title: &'static str, tab: fn() -> String, draw: fn(&mut Canvas<'_>, &Pane<'_>)) -> PaneSpec {
    PaneSpec {
        title,
        tab,
        tab_short: None,
        scopes: &[],
        draw,
        strip: None,
        travel: Travel::Nowhere,
        newest: None,
        click: |_, _, _, _| Vec::new(),
        open: |_, _| Vec::new(),
        sort: replay::sort,
        filter: replay::filter,
        records: |_| Ok(Vec::new()),
        in_view: |records, _| records.len().checked_sub(1),
    }
}

impl PaneId {
    pub fn spec(self) -> PaneSpec {
        match self {
            PaneId::Chain => PaneSpec {
                scopes: &[Scope::Chain],
                travel: Travel::Own(|view, facts, inside, motion| {
                    view.place = chain::moved(view, facts.state, inside, facts.glyphs, motion);
                }),
                newest: Some(|view| view.place = None),
                records: |s| records::all(s.lane().iter().flat_map(|l| l.transcript.rows.iter())),
                in_view: records::chain_in_view,
                ..pane("Thought chain", || tr!("chain"), chain::draw)
            },
            PaneId::Reward => PaneSpec {
                tab_short: Some(|| tr!("rwd")),
                scopes: &[Scope::Chart],
                strip: Some(strips::draw_reward),
                travel: Travel::Own(|view, facts, _, motion| curves::scroll(view, facts, motion)),
                newest: Some(curves::to_newest),
                records: |s| Ok(curves::records(s.state, s.view, PaneId::Reward)),
                in_view: |_, s| curves::in_view(s.state, s.view, PaneId::Reward),
                ..pane("Reward", || tr!("reward"), reward::draw)
            },
            PaneId::Tools => PaneSpec {
                tab_short: Some(|| tr!("tool")),
                scopes: &[Scope::List],
                travel: Travel::Own(|view, facts, _, motion| tools::scroll(view, facts, motion)),
                open: |view, _| {
                    view.popup = Some(PaneId::Request);
                    Vec::new()
                },
                records: |s| records::all(tools::ordered(s.state).into_iter().map(records::tool)),
                in_view: |_, s| Some(tools::chosen_index(s.state, s.view)),
                ..pane("Tools", || tr!("tools"), tools::draw)
            },
            PaneId::Gpu => PaneSpec {
                strip: Some(strips::draw_machine),
                travel: Travel::Lines(|s, _, _, _| gpu::devices(s.state).saturating_sub(1)),
                records: records::machine,
                ..pane("GPU", || tr!("gpu"), gpu::draw)
            },
            PaneId::Alerts => PaneSpec {
                tab_short: Some(|| tr!("alrt")),
                scopes: &[Scope::Alerts, Scope::List],
                travel: Travel::Own(|view, facts, inside, motion| rules::scroll_pane(view, facts, inside.1, motion)),
                open: rules::open,
                records: |s| records::alerts(&alerts::current(s.state)),
                in_view: |_, s| Some(rules::at(&alerts::current(s.state), s.view)),
                ..pane("Alerts", || tr!("alerts"), alerts::draw)
            },
            PaneId::Log => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Lines(|s, _, scroll, (_, height)| log::scroll_max(s.state, &s.view.log, scroll, height)),
                newest: Some(|view| {
                    view.scroll.remove(&PaneId::Log);
                }),
                open: |view, _| {
                    view.log.whole = !view.log.whole;
                    Vec::new()
                },
                sort: |view, _| vec![Effect::Notice(log::sort(view))],
                filter: |text, view, _| {
                    view.log.filter = text.trim().to_lowercase();
                    Vec::new()
                },
                records: records::log,
                in_view: records::log_in_view,
                ..pane("Log", || tr!("log"), log::draw)
            },
            PaneId::Memory => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(memory::lines(s, width, glyphs.ambiguous).len(), height)
                }),
                records: records::episode,
                ..pane("Memory and state", || tr!("memory"), memory::draw)
            },
            PaneId::Transcript => PaneSpec {
                // Its rows can be opened, too: the playhead goes there.
                scopes: &[Scope::Chain, Scope::List],
                travel: Travel::Own(replay::scroll_transcript),
                newest: Some(|view| view.replay.place = None),
                click: replay::click_transcript,
                open: replay::to_cursor_row,
                // Of a recording, what is still to come as well.
                records: |s| records::all(transcript::rows(s).iter()),
                in_view: records::transcript_in_view,
                ..pane("Transcript", || tr!("steps"), transcript::draw)
            },
            PaneId::Episodes => PaneSpec {
                tab_short: Some(|| tr!("eps")),
                scopes: &[Scope::Episodes, Scope::List],
                travel: Travel::Own(replay::scroll_episodes),
                click: replay::click_episodes,
                open: replay::open_pick,
                records: |s| Ok(episodes::records(s)),
                in_view: |_, s| Some(episodes::cursor_record(s)),
                ..pane("Episodes", || tr!("episodes"), episodes::draw)
            },
            PaneId::Inspector => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(replay::inspector::lines(s, width, glyphs).len(), height)
                }),
                records: records::episode,
                ..pane("State", || tr!("state"), replay::inspector::draw)
            },
            PaneId::Timeline => PaneSpec {
                tab_short: Some(|| tr!("time")),
                click: |view, facts, x, y| replay::timeline_seq(view, facts, x, y).map(Effect::Seek).into_iter().collect(),
                records: records::steps,
                ..pane("Timeline", || tr!("timeline"), replay::timeline::draw)
            },
            PaneId::Checkpoints => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Own(|view, facts, inside, motion| checkpoints::scroll_list(view, facts, inside.1, motion)),
                open: checkpoints::compare,
                records: checkpoints::records,
                in_view: |_, s| Some(checkpoints::chosen_index(s.state, &s.view.shelf)),
                ..pane("Checkpoints", || tr!("list"), checkpoints::list::draw)
            },
            PaneId::Compare => PaneSpec {
                travel: Travel::Lines(|s, _, _, (width, height)| {
                    lines::scroll_max(checkpoints::compare::lines(s.desk, &s.view.shelf, s.state, width).len(), height)
                }),
                records: |s| Ok(checkpoints::compare::records(s)),
                ..pane("Compare", || tr!("compare"), checkpoints::compare::draw)
            },
            PaneId::Rollout => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(checkpoints::rollout::lines(s.state, width, glyphs.ambiguous).len(), height)
                }),
                ..pane("Rollout", || tr!("rollout"), checkpoints::rollout::draw)
            },
            PaneId::Rules => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Own(|view, facts, inside, motion| rules::scroll(view, facts, inside.1, motion)),
                click: rules::click_list,
                open: rules::open,
                sort: |view, _| {
                    view.rules.sort = view.rules.sort.next();
                    Vec::new()
                },
                filter: |text, view, _| {
                    view.rules.filter = text.trim().to_owned();
                    Vec::new()
                },
                records: |s| records::alerts(&rules::shown(s.state, s.view)),
                in_view: |_, s| Some(rules::at(&rules::shown(s.state, s.view), s.view)),
                ..pane("Rules", || tr!("rules"), rules::draw_list)
            },
            PaneId::RuleDetail => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Lines(|s, glyphs, _, inside| rules::detail_scroll_max(s.state, s.view, glyphs, inside)),
                open: rules::open,
                records: |s| records::alerts(&rules::shown(s.state, s.view)),
                in_view: |_, s| Some(rules::at(&rules::shown(s.state, s.view), s.view)),
                ..pane("Rule", || tr!("rule"), rules::draw_detail)
            },
            PaneId::Silences => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Own(rules::scroll_silences),
                click: rules::click_silence,
                open: rules::edit_silence,
                records: |s| records::all(s.state.alerting.silences.iter()),
                ..pane("Silences", || tr!("silences"), rules::draw_silences)
            },
            PaneId::Trial => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Own(rules::scroll_choice),
                click: rules::click_choice,
                open: rules::open_choice,
                ..pane("Try on", || tr!("try"), rules::draw_choice)
            },
            PaneId::TrialFound => PaneSpec {
                scopes: &[Scope::List],
                travel: Travel::Own(rules::scroll_found),
                click: rules::click_found,
                open: rules::open_found,
                records: |s| Ok(rules::dry_records(s.desk)),
                in_view: |_, s| Some(s.view.rules.trial.found_at),
                ..pane("Dry run", || tr!("dry run"), rules::draw_found)
            },
            PaneId::Runbook => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(rules::page_lines(s.view, width, glyphs).len(), height)
                }),
                ..pane("Runbook", || tr!("runbook"), rules::draw_page)
            },
            PaneId::Curves => PaneSpec {
                scopes: &[Scope::Chart],
                travel: Travel::Own(|view, facts, _, motion| curves::scroll(view, facts, motion)),
                newest: Some(curves::to_newest),
                records: |s| Ok(curves::records(s.state, s.view, PaneId::Curves)),
                in_view: |_, s| curves::in_view(s.state, s.view, PaneId::Curves),
                ..pane("Curves", || tr!("curves"), curves::draw_curves)
            },
            PaneId::Vitals => PaneSpec {
                travel: Travel::Lines(|s, _, _, (_, height)| lines::scroll_max(curves::vitals::rows(s.state), height)),
                records: |s| records::all(s.state.updates.iter()),
                ..pane("Vital signs", || tr!("vitals"), curves::vitals::draw)
            },
            PaneId::Evaluations => PaneSpec {
                travel: Travel::Lines(|s, _, _, (_, height)| lines::scroll_max(curves::evaluations::rows(s.state), height)),
                records: |s| records::all(s.state.evaluations.iter()),
                ..pane("Evaluations", || tr!("evals"), curves::evaluations::draw)
            },
            PaneId::Prompt => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(s.lane().map_or(0, |lane| recall::prompt_lines(s.state, lane, width, glyphs).len()), height)
                }),
                records: records::episode,
                ..pane("Prompt", || tr!("prompt"), recall::draw_prompt)
            },
            PaneId::Recall => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(s.lane().map_or(0, |lane| recall::recall_lines(lane, width, glyphs.ambiguous).len()), height)
                }),
                records: records::episode,
                ..pane("Compressed memory", || tr!("recall"), recall::draw_recall)
            },
            PaneId::Steps => PaneSpec {
                scopes: &[Scope::Diff, Scope::List],
                travel: Travel::Own(diff::scroll),
                click: diff::click,
                open: diff::open,
                records: |s| Ok(diff::records(s)),
                in_view: |_, s| Some(diff::cursor(s)),
                ..pane("Side by side", || tr!("steps"), diff::steps::draw)
            },
            PaneId::StepDetail => PaneSpec {
                scopes: &[Scope::Diff, Scope::List],
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(diff::detail::lines(s, width, glyphs).len(), height)
                }),
                open: diff::open,
                records: |s| Ok(diff::detail::records(s)),
                in_view: |records, _| (!records.is_empty()).then_some(0),
                ..pane("This step", || tr!("step"), diff::detail::draw)
            },
            PaneId::DiffSummary => PaneSpec {
                scopes: &[Scope::Diff],
                travel: Travel::Lines(|s, glyphs, _, (width, height)| {
                    lines::scroll_max(diff::summary::lines(s, width, glyphs).len(), height)
                }),
                records: |s| Ok(diff::summary::records(s)),
                ..pane("Summary", || tr!("summary"), diff::summary::draw)
            },
            PaneId::Branches => PaneSpec {
                scopes: &[Scope::Branches, Scope::List],
                travel: Travel::Own(branches::travel),
                click: branches::click,
                open: branches::open,
                sort: |_, _| vec![Effect::Notice(tr!("a tree has its own order"))],
                filter: |_, _, _| vec![Effect::Notice(tr!("a tree is shown whole"))],
                records: |s| Ok(branches::records(s)),
                in_view: |_, s| Some(branches::cursor_record(s)),
                ..pane("Branches", || tr!("branches"), branches::draw)
            },
            PaneId::Request => PaneSpec {
                travel: Travel::Lines(|s, glyphs, _, inside| tools::request_scroll_max(s.state, s.view, inside, glyphs.ambiguous)),
                ..pane("Request and response", || tr!("call"), tools::draw_request)
            },
        }
    }
}
