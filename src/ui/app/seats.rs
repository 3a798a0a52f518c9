//! Where the operator sits: at the live run or at a recording, and what is found out there beside the fold.

use super::{App, FRAMES_BUDGET, Open, UiError};
use crate::event::{
    BranchCause, BranchStarted, Breakpoint, Command, CommandAccepted, Envelope, Event, HitOutcome, LaneId, Origin, RunState, Seq,
};
use crate::source::{Errors, Frame, FrameSource, Playback, Probe, Quest, SourceError, Words};
use crate::state::DashState;
use crate::ui::actions::Action;
use crate::ui::backstage::{Ask, Forked, OpenAt, Opened};
use crate::ui::desk::{Looking, ParkedRun, ReplayDesk, Sought};
use crate::ui::lang::tr;
use crate::ui::panes;
use crate::ui::stops::{self, Hit, Kind, Stop, StopEffect, Stops, What};
use crate::ui::update::ReplayEffect;
use crate::ui::view::{LogView, PlaybackView, ReplayView, RulesView, ScreenId, View};
use crate::ui::watches::{Gauge, Ledger, Watched};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events that are read besides in one go, and how long that goes on between two looks at the keys: a condition may cost much.
const STUDY_EVENTS: usize = 64;
const STUDY_TIME: Duration = Duration::from_millis(15);

/// All that belongs to a source, while another one is looked at.
pub struct Seat {
    pub source: Box<dyn FrameSource>,
    pub state: DashState,
    view: View,
    stops: Stops,
    playback: Option<PlaybackView>,
    source_ended: bool,
    recording: Option<String>,
}

/// A recording that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    path: Option<PathBuf>,
    at: Option<OpenAt>,
    /// Where the operator was then, and how often another seat was taken until then.
    from: (ScreenId, u32),
}

impl Asked {
    pub fn of(ask: &Ask, screen: ScreenId, sittings: u32) -> Option<Self> {
        let Ask::Open { path, at } = ask else { return None };
        Some(Self { path: path.clone(), at: *at, from: (screen, sittings) })
    }
}

impl App {
    /// Sits down at a recording that was asked for, unless the operator has gone on to something else meanwhile.
    pub(super) fn was_opened(&mut self, opened: Opened) {
        if self.asked_at.as_ref().is_some_and(|asked| (&asked.path, asked.at) != (&opened.asked, opened.at)) {
            // Another one was asked for since, and is still to come.
            return;
        }
        let here = (self.view.screen, self.sittings);
        if self.asked_at.take().is_some_and(|asked| asked.from == here) && self.open == Open::Nothing {
            self.sit_down(opened);
        } else {
            self.notice = tr!("{name} could be opened now; ask for it again to go there", name = opened.name);
        }
    }

    /// What waits for an answer was meant for the source that is left.
    fn change_seat(&mut self) {
        self.sittings = self.sittings.wrapping_add(1);
        self.desk.hits.forget();
        (self.form_waits, self.form_sent, self.form_kept) = (None, None, None);
        self.carried.clear();
        if matches!(self.open, Open::Confirm(..) | Open::ConfirmQuit | Open::Form(_) | Open::Silence(_)) {
            self.open = Open::Nothing;
        }
    }

    /// Sits down at a recording that was opened. The live run is parked and goes on; another recording gives way.
    fn sit_down(&mut self, opened: Opened) {
        self.change_seat();
        let mut view = carried(&self.view);
        view.go(ScreenId::Replay);
        let before = Seat {
            source: std::mem::replace(&mut self.source, opened.source),
            state: std::mem::take(&mut self.state),
            view: std::mem::replace(&mut self.view, view),
            stops: std::mem::take(&mut self.desk.stops),
            playback: self.playback.take(),
            source_ended: std::mem::take(&mut self.source_ended),
            recording: self.options.recording.replace(opened.name),
        };
        if before.playback.is_none() {
            self.parked = Some(Box::new(before));
            self.tell_of_parked();
        }
        self.desk.replay = ReplayDesk::default();
        self.notice = match self.parked {
            Some(_) => tr!("opened; gl goes back to the live run, which goes on"),
            None => tr!("opened"),
        };
        match opened.at {
            None => {}
            Some(OpenAt::Episode(lane, episode)) => {
                self.view.lane = lane;
                self.desk.replay.looking = Some(Looking { what: Sought::Episode(lane, episode), from: Seq(0), forward: true });
            }
            Some(OpenAt::Event { seq, is_marked }) => self.begin_at(seq, is_marked),
        }
    }

    /// Begins at an event of a recording that was just opened, which may be so new that it is not written yet.
    fn begin_at(&mut self, seq: Seq, is_marked: bool) {
        if is_marked {
            self.view.marks.insert(seq);
            self.notice = match self.parked {
                Some(_) => tr!("event {seq} is marked m; gl goes back to the live run, which goes on", seq = seq),
                None => tr!("event {seq} is marked m", seq = seq),
            };
        }
        if self.source.playback().is_some_and(|p| p.end() >= seq) {
            self.go_to_event(seq);
        } else {
            self.desk.replay.looking = Some(Looking { what: Sought::Event(seq), from: Seq(0), forward: true });
        }
    }

    /// Sits down at the run that goes on from the recording, which gives way.
    pub(super) fn go_live(&mut self, forked: Forked) {
        self.change_seat();
        let mut view = carried(&self.view);
        view.go(ScreenId::Live);
        self.view = view;
        self.source = forked.source;
        (self.state, self.desk.replay) = (DashState::default(), ReplayDesk::default());
        (self.playback, self.source_ended, self.options.recording) = (None, false, None);
        self.desk.forking = true;
        let told = match forked.recording {
            Some(path) => tr!("the run goes on from here; recorded to {name}", name = path.display()),
            None => tr!("the run goes on from here; it is not recorded"),
        };
        self.notice = told + &self.carry_stops();
    }

    /// Watches in the run that goes on from a recording what was watched there, and asks it for the breakpoints that are conditions; what
    /// to tell of it.
    fn carry_stops(&mut self) -> String {
        let mut left = Vec::new();
        for stop in std::mem::take(&mut self.desk.stops).all {
            let breakpoint = Breakpoint { once: stop.once, ..Breakpoint::new(&stop.text) };
            let goes_along = stop.at.is_none() && self.set_stop(stop.kind, &What::Condition(breakpoint.clone())).is_ok();
            match stop.kind {
                Kind::Break if goes_along => self.carried.push(breakpoint),
                Kind::Break => left.push(format!("bp{}", stop.number)),
                Kind::Watch => {}
            }
        }
        let mut told = String::new();
        if !self.carried.is_empty() {
            told += &tr!("; breakpoints go along: {n}", n = self.carried.len());
        }
        if !left.is_empty() {
            told += &tr!("; {names} stay with the recording", names = left.join(", "));
        }
        told
    }

    /// What became of a command that was typed here; what shows by itself is not told.
    pub(super) fn tell_of_command(&mut self, envelope: &Envelope) {
        let told = if let Event::CommandRejected(e) = &envelope.event {
            let is_ours = e.origin == Origin::Console || std::mem::take(&mut self.desk.forking);
            is_ours.then(|| tr!("refused: {reason}", reason = e.reason))
        } else if let Event::BranchStarted(e) = &envelope.event {
            // That a recording's fork is there was told with it.
            (!self.desk.forking).then(|| told_of_branch(envelope.lane, e))
        } else if let Event::CommandAccepted(CommandAccepted { command: Command::Override { with, .. }, .. }) = &envelope.event {
            Some(tr!("the decision does{with}", with = with))
        } else {
            None
        };
        if let Some(told) = told {
            self.notice = told;
        }
    }

    /// The branch with which a forked run begins is what is looked at.
    pub(super) fn look_at_branch(&mut self, envelope: &Envelope) {
        if self.desk.forking && matches!(envelope.event, Event::BranchStarted(_)) {
            self.desk.forking = false;
            self.view.lane = envelope.lane;
        }
    }

    /// Back to the live run, as it was left and with all that has come since.
    pub(super) fn leave_recording(&mut self) {
        let Some(seat) = self.parked.take() else { return };
        self.change_seat();
        let seat = *seat;
        self.source = seat.source;
        self.state = seat.state;
        self.view = View { diff: std::mem::take(&mut self.view.diff), ..seat.view };
        self.view.go(ScreenId::Live);
        self.desk.stops = seat.stops;
        self.playback = seat.playback;
        self.source_ended = seat.source_ended;
        self.options.recording = seat.recording;
        self.desk.replay = ReplayDesk::default();
        self.desk.parked = None;
        self.notice = tr!("back at the live run");
    }

    /// The view of the run itself: what is remembered for the next start.
    pub(super) fn view_of_run(&self) -> &View {
        self.parked.as_ref().map_or(&self.view, |seat| &seat.view)
    }

    /// Whether quitting would end a run, also one that is parked.
    pub(super) fn would_end_run(&self) -> bool {
        let goes_on = |state: &DashState| state.run_state != RunState::Ended;
        self.playback.is_none() && goes_on(&self.state) || self.parked.as_ref().is_some_and(|seat| goes_on(&seat.state))
    }

    /// Folds what the parked run says, so that its state, its alerts and its stops stay true; whether anything came.
    pub(super) fn take_parked(&mut self) -> Result<bool, UiError> {
        let Some(seat) = self.parked.as_mut() else { return Ok(false) };
        let mut frames = Vec::new();
        seat.source_ended = seat.source.poll(&mut frames, FRAMES_BUDGET)? == crate::source::SourceStatus::Ended;
        let mut told = None;
        let now = Instant::now();
        for frame in frames {
            match frame {
                Frame::Snapshot(state) => {
                    seat.state = *state;
                }
                Frame::Event(envelope) => {
                    // The screen shows something else, so that it is all the more to be heard.
                    if let Event::AlertStateChanged(change) = &envelope.event
                        && !seat.state.alerting.is_hushed(change, envelope.t_ns)
                    {
                        let run = seat.state.run.as_ref().map_or("", |run| &run.run.0);
                        self.outbox.extend(self.notifier.take(change, run, now).unwrap_or_default());
                    }
                    seat.state.apply(&envelope)?;
                    seat.stops.note(&envelope, &seat.state, &Default::default());
                    if let Some(news) = news_of_breakpoint(&envelope, &seat.state) {
                        told = Some(news);
                        seat.view.lane = lane_of_stop(&envelope).unwrap_or(seat.view.lane);
                    }
                }
            }
        }
        if let Some(told) = told {
            self.notice = tr!("in the live run: {told}", told = told);
        }
        let before = self.desk.parked;
        self.tell_of_parked();
        Ok(before != self.desk.parked)
    }

    fn tell_of_parked(&mut self) {
        self.desk.parked = self.parked.as_ref().map(|seat| ParkedRun {
            run_state: seat.state.run_state,
            paused_at: seat.state.stopped_at,
            alerts_firing: panes::alerts::firing(&seat.state),
        });
    }

    /// Finds out more about the open recording; whether anything changed.
    pub(super) fn study(&mut self) -> Result<bool, UiError> {
        let Some(playback) = self.source.playback() else { return Ok(false) };
        let desk = &mut self.desk.replay;
        let progress = |t: &Option<Arc<crate::source::Track>>| t.as_ref().map(|t| (t.lane, t.episode, t.read_upto));
        let before = (desk.book.read_upto, progress(&desk.track));
        // The source need not copy what only it holds.
        (desk.book, desk.tallies, desk.track) = Default::default();
        let read = study_a_while(playback)?;
        desk.book = playback.book();
        desk.tallies = playback.tallies();
        desk.by_decision = playback.is_by_decision();
        desk.grows = playback.is_growing();
        let order = panes::replay::order(&self.state, &self.desk, &self.view, self.playback.as_ref());
        let desk = &mut self.desk.replay;
        desk.order = order;
        let lane = self.view.lane;
        let episode = self.state.lane(lane).map(|l| l.episode.episode);
        let episode = episode.or_else(|| desk.book.first_of(lane).map(|e| e.episode));
        desk.track = episode.and_then(|episode| playback.track(lane, episode));
        let changed = read || before.1 != progress(&self.desk.replay.track) || before.0 != self.desk.replay.book.read_upto;
        Ok(self.arrive() || changed)
    }

    /// Goes where it was to go, once that is known; whether it did.
    fn arrive(&mut self) -> bool {
        let Some(looking) = self.desk.replay.looking.clone() else { return false };
        let quests = self.quests(&looking.what);
        let Some(found) = looking.answer(&quests, &self.desk.replay) else { return false };
        self.desk.replay.looking = None;
        match found {
            Some(seq) => self.arrive_at(&looking, seq),
            None => {
                let cut_at = quests.iter().filter_map(|quest| self.desk.replay.tallies.get(quest)?.cut_at()).min();
                let more = cut_at.map(|seq| tr!("; too many to know those behind event {seq}", seq = seq));
                self.notice = nothing_found(&looking) + &more.unwrap_or_default();
            }
        }
        true
    }

    fn quests(&self, what: &Sought) -> Vec<Quest> {
        match what {
            Sought::Stop => self.desk.stops.breaks().map(Stop::quest).collect(),
            Sought::Error => vec![Quest::Errors],
            Sought::Match => vec![Quest::Search],
            Sought::Episode(..) | Sought::Event(_) => Vec::new(),
        }
    }

    fn arrive_at(&mut self, looking: &Looking, seq: Seq) {
        let number_of = |quest| self.desk.replay.tallies.get(&quest).map_or((0, 0), |t| (t.count_upto(seq), t.count()));
        let notice = match &looking.what {
            Sought::Stop => {
                let holds = |s: &&Stop| self.desk.replay.tallies.get(&s.quest()).is_some_and(|t| t.holds_within(seq, seq));
                let stop = self.desk.stops.breaks().find(holds).map(|s| (s.number, s.text.clone()));
                stop.map(|(number, text)| self.stopped_at(number, &text, seq))
            }
            Sought::Error => {
                let (at, all) = number_of(Quest::Errors);
                Some(tr!("tool error {at} of {all}", at = at, all = all))
            }
            Sought::Match => {
                let (at, all) = number_of(Quest::Search);
                Some(tr!("match {at} of {all} in the recording, at event {seq}", at = at, all = all, seq = seq))
            }
            Sought::Episode(..) | Sought::Event(_) => None,
        };
        self.go_to_event(seq);
        if let Some(notice) = notice {
            self.notice = notice;
        }
    }

    /// Where a breakpoint of a recording stopped it, in words. One that stops once is gone then.
    fn stopped_at(&mut self, number: u32, text: &str, seq: Seq) -> String {
        self.desk.replay.stopped = Some((number, seq));
        let gone = self.desk.stops.remove(|s| s.once && s.quest() == Quest::Stop(number));
        self.forget(&gone);
        tr!("stopped at bp{number}: {text} holds at event {seq}", number = number, text = text, seq = seq)
    }

    fn forget(&mut self, quests: &[Quest]) {
        self.with_playback(|p| quests.iter().for_each(|quest| p.forget(*quest)));
        quests.iter().for_each(|quest| drop(self.desk.replay.tallies.remove(quest)));
    }

    /// The playhead goes there and stands still.
    pub(super) fn seek(&mut self, seq: Seq) {
        self.view.replay.place = None;
        self.desk.replay.looking = None;
        self.with_playback(|p| {
            p.set_playing(false);
            p.seek(seq);
        });
    }

    /// The playhead goes there, and the screen to the event's lane.
    fn go_to_event(&mut self, seq: Seq) {
        // What can't be read there, the playhead meets as well.
        if let Some(Ok(Some(lane))) = self.source.playback().map(|p| p.lane_at(seq)) {
            self.view.lane = lane;
        }
        self.seek(seq);
    }

    /// A breakpoint of the recording holds at the event that was folded just now; whether what follows it is not to be folded.
    pub(super) fn hit(&mut self, hit: Hit) -> bool {
        self.notice = self.stopped_at(hit.number, &hit.text, hit.seq);
        self.go_to_event(hit.seq);
        true
    }

    /// What the live run says of its breakpoints.
    pub(super) fn tell_of_breakpoint(&mut self, envelope: &Envelope) {
        if let Event::BreakpointSet(e) = &envelope.event
            && let Some(at) = self.carried.iter().position(|b| *b == e.breakpoint)
        {
            // That was told with the fork.
            self.carried.swap_remove(at);
        } else if let Some(told) = news_of_breakpoint(envelope, &self.state) {
            self.notice = told;
            self.view.lane = lane_of_stop(envelope).unwrap_or(self.view.lane);
        }
    }

    /// Does what is asked of the replay screen.
    pub(super) fn replay_effect(&mut self, effect: ReplayEffect) -> Result<(), String> {
        match effect {
            ReplayEffect::Leave => self.leave_recording(),
            ReplayEffect::SeekEvent(seq) => self.go_to_event(seq),
            ReplayEffect::Search(text) => self.begin_search(&text.to_lowercase()),
            ReplayEffect::Look { what, from, forward } => self.look(what, from, forward),
            ReplayEffect::SeekStep(lane, episode, step) => {
                let Some(playback) = self.source.playback() else { return Ok(()) };
                match playback.step_end(lane, episode, step).map_err(|e| e.to_string())? {
                    Some(seq) => {
                        self.view.lane = lane;
                        self.seek(seq);
                    }
                    None => return Err(panes::replay::no_such_step(&self.desk, (lane, episode), step)),
                }
            }
        }
        Ok(())
    }

    fn begin_search(&mut self, text: &str) {
        self.desk.replay.searched = text.to_owned();
        self.with_playback(
            |p| {
                if text.is_empty() { p.forget(Quest::Search) } else { p.look_for(Quest::Search, Arc::new(Words::new(text))) }
            },
        );
    }

    fn look(&mut self, what: Sought, from: Seq, forward: bool) {
        // The words may be from an earlier start, or from another screen.
        if what == Sought::Match && self.desk.replay.searched != self.view.search {
            self.begin_search(&self.view.search.clone());
        }
        if what == Sought::Error {
            let is_new = !self.desk.replay.tallies.contains_key(&Quest::Errors);
            self.with_playback(|p| {
                if is_new {
                    p.look_for(Quest::Errors, Arc::new(Errors));
                }
            });
        }
        if let Some(playback) = self.source.playback() {
            self.desk.replay.tallies = playback.tallies();
        }
        self.notice = tr!("looking for it in the recording; esc gives up");
        self.desk.replay.looking = Some(Looking { what, from, forward });
        self.arrive();
    }

    /// Does what is asked of breakpoints and watched expressions.
    pub(super) fn stop_effect(&mut self, effect: StopEffect) -> Result<(), String> {
        match effect {
            StopEffect::Set(kind, what) => self.set_stop(kind, &what)?,
            StopEffect::Change(number, breakpoint) => self.change_stop(number, breakpoint)?,
            StopEffect::Delete(number) if self.playback.is_none() => self.ask_engine(Command::Unbreak { number })?,
            StopEffect::Delete(number) => {
                let gone = self.desk.stops.remove(|s| !s.is_watch() && number.is_none_or(|n| n == s.number));
                self.forget(&gone);
                self.notice = match (number, gone.len()) {
                    (Some(number), 0) => return Err(tr!("there is no bp{number}", number = number)),
                    (Some(number), _) => tr!("bp{number} is taken away", number = number),
                    (None, n) => tr!("{n} breakpoints taken away", n = n),
                };
            }
            StopEffect::Forget(number) => {
                let gone = self.desk.stops.remove(|s| s.is_watch() && number.is_none_or(|n| n == s.number));
                self.forget(&gone);
                self.notice = match (number, gone.len()) {
                    (Some(number), 0) => return Err(tr!("there is no watch {number}", number = number)),
                    (Some(number), _) => tr!("watch {number} is taken away", number = number),
                    (None, _) => tr!("nothing is watched any more"),
                };
            }
            StopEffect::Continue { forward } => {
                if self.desk.stops.breaks().next().is_none() {
                    return Err(tr!("no breakpoint is set; b sets one here, :break one with a condition"));
                }
                let head = self.source.playback().map_or(self.state.seq, |p| p.head());
                self.look(Sought::Stop, head, forward);
            }
        }
        Ok(())
    }

    /// Where it can be seen: the pane with it is not on every screen.
    fn told_of_watch(&self, text: &str) -> String {
        let key = self.options.keys.shown(Action::Inspect).unwrap_or_else(|| ":inspect".into());
        tr!("watching {text}; {key} shows it", text = text, key = key)
    }

    /// Watches an expression that has a value.
    fn watch_value(&mut self, source: &str, gauge: Arc<dyn Gauge>) {
        let ledger = Arc::new(Ledger::new(gauge, self.source.playback().is_some()));
        let number = self.desk.stops.watch(source.to_owned(), ledger.clone());
        self.with_playback(|p| p.look_for(Quest::Watch(number), ledger));
        self.notice = self.told_of_watch(source);
    }

    fn set_stop(&mut self, kind: Kind, what: &What) -> Result<(), String> {
        if let (Kind::Watch, What::Condition(Breakpoint { when, .. })) = (kind, what)
            && let Watched::Value(gauge) = self.backstage.watch(when)?
        {
            self.watch_value(when, gauge);
            return Ok(());
        }
        let probe = self.probe(what)?;
        if let (Kind::Break, What::Condition(breakpoint), None) = (kind, what, &self.playback) {
            // The engine tells of it once it is set.
            return self.ask_engine(Command::Break { number: None, breakpoint: breakpoint.clone() });
        }
        let (text, at, once) = match what {
            What::At(lane, seq, address) => (address.clone(), Some((*lane, *seq)), false),
            What::Condition(breakpoint) => (breakpoint.when.to_string(), None, breakpoint.once),
        };
        let stop = self.desk.stops.add(kind, text, at, probe.clone());
        stop.once = once;
        let (quest, number, text) = (stop.quest(), stop.number, stop.text.clone());
        self.with_playback(|p| p.look_for(quest, probe));
        self.notice = match kind {
            Kind::Watch => self.told_of_watch(&text),
            Kind::Break => tr!("bp{number}: {text}; c runs there, C back", number = number, text = text),
        };
        Ok(())
    }

    fn ask_engine(&self, command: Command) -> Result<(), String> {
        let commands = self.source.commands().filter(|_| !self.options.read_only);
        let commands = commands.ok_or_else(|| tr!("{name} is not for a read-only view", name = ":breakpoints delete"))?;
        commands.send(command).map(drop).map_err(|e| e.to_string())
    }

    /// What is asked of each event; why it can't be made, with the place of the mistake.
    fn probe(&self, what: &What) -> Result<Arc<dyn Probe>, String> {
        match what {
            What::At(_, seq, _) => Ok(Arc::new(stops::At(*seq))),
            What::Condition(b) if self.playback.is_some() && (b.log || b.ignore > 0) => {
                Err(tr!("log and ignore are for live runs: in a recording c goes from hit to hit"))
            }
            What::Condition(breakpoint) => self.backstage.compile(&breakpoint.when),
        }
    }

    fn change_stop(&mut self, number: u32, breakpoint: Breakpoint) -> Result<(), String> {
        let probe = self.probe(&What::Condition(breakpoint.clone()))?;
        if self.playback.is_none() {
            return self.ask_engine(Command::Break { number: Some(number), breakpoint });
        }
        let quest = Quest::Stop(number);
        let stop = self.desk.stops.all.iter_mut().find(|s| s.quest() == quest);
        let stop = stop.ok_or_else(|| tr!("there is no bp{number}", number = number))?;
        (stop.text, stop.once, stop.at, stop.probe) = (breakpoint.when.to_string(), breakpoint.once, None, probe.clone());
        self.notice = tr!("bp{number}: {text}; c runs there, C back", number = number, text = stop.text);
        self.forget(&[quest]);
        self.with_playback(|p| p.look_for(quest, probe));
        Ok(())
    }
}

/// Reads on in a recording; whether there was anything to read.
fn study_a_while(playback: &mut dyn Playback) -> Result<bool, SourceError> {
    let begun = Instant::now();
    let mut read = false;
    while begun.elapsed() < STUDY_TIME && playback.read_on(STUDY_EVENTS)? {
        read = true;
    }
    Ok(read)
}

/// What a view keeps when it shows another source: how things are shown, not which.
fn carried(view: &View) -> View {
    View {
        detail: view.detail,
        raw: view.raw,
        overlay: view.overlay,
        chart: view.chart.clone(),
        rules: RulesView {
            filter: view.rules.filter.clone(),
            sort: view.rules.sort,
            grouping: view.rules.grouping,
            ..RulesView::default()
        },
        log: LogView { filter: view.log.filter.clone(), level: view.log.level, ..LogView::default() },
        replay: ReplayView { filter: view.replay.filter.clone(), sort: view.replay.sort, ..ReplayView::default() },
        diff: view.diff.clone(),
        ..View::default()
    }
}

fn told_of_branch(lane: LaneId, branch: &BranchStarted) -> String {
    let step = branch.at_step;
    match branch.cause {
        BranchCause::Fork => {
            let parent = format!("{}:{}", branch.parent_lane, branch.parent);
            tr!("lane {lane} goes on from {parent} before step {step}", lane = lane, parent = parent, step = step)
        }
        BranchCause::Rewind => tr!("back before step {step}; o edits what it does, space goes on", step = step),
    }
}

/// What an operator is to hear of a live run's breakpoints. Of several that hold at one place the first is why the run stands still.
fn news_of_breakpoint(envelope: &Envelope, state: &DashState) -> Option<String> {
    if let Event::BreakpointSet(e) = &envelope.event {
        Some(match e.breakpoint.log {
            true => tr!("bp{number}: {text}; told where it holds", number = e.number, text = e.breakpoint),
            false => tr!("bp{number}: {text}; the run pauses where it holds", number = e.number, text = e.breakpoint),
        })
    } else if let Event::BreakpointHit(e) = &envelope.event {
        match e.outcome {
            HitOutcome::Paused if state.stopped_at != Some(e.number) => None,
            HitOutcome::Paused => Some(tr!("stopped at {address} by {hit}; c goes on", address = envelope.address(), hit = e)),
            HitOutcome::Logged => Some(tr!("at {address} {hit}", address = envelope.address(), hit = e)),
            HitOutcome::Ignored => None,
        }
    } else if let Event::BreakpointCleared(e) = &envelope.event {
        Some(tr!("bp{number} is taken away", number = e.number))
    } else {
        None
    }
}

/// The lane in which a breakpoint stopped the run, if this event says that one did.
fn lane_of_stop(envelope: &Envelope) -> Option<LaneId> {
    matches!(&envelope.event, Event::BreakpointHit(e) if e.outcome == HitOutcome::Paused && envelope.episode.is_some())
        .then_some(envelope.lane)
}

fn nothing_found(looking: &Looking) -> String {
    match (&looking.what, looking.forward) {
        (Sought::Stop, true) => tr!("no breakpoint holds after this; the whole recording was read"),
        (Sought::Stop, false) => tr!("no breakpoint holds before this"),
        (Sought::Error, true) => tr!("no later tool error"),
        (Sought::Error, false) => tr!("no earlier tool error"),
        (Sought::Match, true) => tr!("no later match in the recording"),
        (Sought::Match, false) => tr!("no earlier match in the recording"),
        (Sought::Event(seq), _) => tr!("the recording does not hold event {seq} yet", seq = seq),
        (Sought::Episode(_, episode), _) => tr!("the recording does not hold episode {episode} yet", episode = episode),
    }
}
