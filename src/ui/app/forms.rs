//! The editor of a decision at the screen: it is opened when the run stands still, and what it comes to is sent.

use super::{App, Open};
use crate::event::{Command, CommandId, EpisodeId, Event, LaneId, Level, RunState, Seed, SendError, ToolSpec};
use crate::state::Row;
use crate::ui::actions::Action;
use crate::ui::backstage::Ask;
use crate::ui::branch;
use crate::ui::form::{Form, FormEdit};
use crate::ui::form_file;
use crate::ui::lang::tr;
use crate::ui::outside::{self, Back};
use crate::ui::panes::chain::of_step;
use crate::ui::panes::{chain, replay};
use crate::ui::update::Effect;
use crate::ui::view::ScreenId;
use crossterm::event::KeyEvent;

/// An editor that is to be opened when the run has paused.
pub(super) struct Waiting {
    pause: CommandId,
    /// Where it was asked for.
    place: (ScreenId, LaneId),
}

impl App {
    /// Opens the editor on the decision under way. A run that goes on is paused first, so that it is still under way when it is edited.
    pub(super) fn edit_pending(&mut self) {
        match self.state.run_state {
            RunState::Paused => self.open_pending(false),
            RunState::Starting => self.notice = tr!("no episode runs yet"),
            RunState::Running | RunState::Stepping => match self.send(Command::Pause) {
                Ok(pause) => {
                    self.form_waits = Some(Waiting { pause, place: (self.view.screen, self.view.lane) });
                    self.notice = tr!("pausing, to edit the decision under way");
                }
                Err(error) => self.notice = error.to_string(),
            },
            RunState::Ended => self.notice = tr!("the run has ended"),
        }
    }

    pub(super) fn send(&self, command: Command) -> Result<CommandId, SendError> {
        self.source.commands().map_or(Err(SendError::Closed), |c| c.send(command))
    }

    /// The pause for which an editor waits may never come: it is refused, or the run goes on or ends first.
    pub(super) fn form_waits_on(&mut self, event: &Event) {
        let Some(waiting) = &self.form_waits else { return };
        if let Event::CommandRejected(e) = event
            && e.id == waiting.pause
        {
            self.notice = e.reason.to_string();
            self.form_waits = None;
        } else if let Event::RunStateChanged(e) = event
            && e.state != RunState::Paused
        {
            self.form_waits = None;
        }
    }

    /// Whether the editor that waited for the pause is there now.
    pub(super) fn open_waiting(&mut self) -> bool {
        // Who has gone on to something else is not called back.
        let here = (self.view.screen, self.view.lane);
        if self.form_waits.take_if(|w| w.place != here).is_some() || self.state.run_state != RunState::Paused {
            return false;
        }
        if self.form_waits.take().is_none() {
            return false;
        }
        if self.open == Open::Nothing {
            self.open_pending(true);
        }
        true
    }

    fn open_pending(&mut self, resumes: bool) {
        let tools = self.state.lane(self.view.lane).map_or_else(Vec::new, |l| self.tools_of(l.episode.seed, l.episode.level));
        match Form::of_pending(self.view.lane, &self.state, tools) {
            Ok(form) => {
                self.notice.clear();
                let mut form = self.as_kept(form);
                form.resumes |= resumes;
                self.open = Open::Form(form);
            }
            Err(told) => self.notice = told,
        }
    }

    /// The form as it was sent, where the engine objected to it while something else was open.
    fn as_kept(&mut self, form: Form) -> Box<Form> {
        self.form_kept.take_if(|kept| kept.purpose == form.purpose).unwrap_or_else(|| Box::new(form))
    }

    /// Opens the editor on a fork from before the step of the row at the cursor.
    pub(super) fn edit_fork(&mut self) {
        let scene = self.scene();
        let rows: Vec<&Row> = match self.view.screen {
            ScreenId::Replay => replay::rows_at_cursor(scene),
            ScreenId::Live
            | ScreenId::Diff
            | ScreenId::Checkpoints
            | ScreenId::Alerts
            | ScreenId::Training
            | ScreenId::Memory
            | ScreenId::Log => {
                let of_lane = scene.lane().into_iter().flat_map(|l| l.transcript.rows.iter());
                of_step(of_lane, chain::cursor_row(&self.view, &self.state))
            }
        };
        let Some(row) = rows.first() else {
            self.notice = tr!("there is no step here to fork from");
            return;
        };
        let tools = self.begun_with(self.view.lane, row.episode).map_or_else(Vec::new, |(seed, level)| self.tools_of(seed, level));
        let mut form = Form::of_fork(self.view.lane, row, &rows, &self.state, tools);
        form.any_checkpoint = self.playback.is_some();
        self.open = Open::Form(self.as_kept(form));
    }

    /// Why a recording's decision can't be what a fork is to begin with. Of a live run the engine says so.
    pub(super) fn objection_to_fork(&self, ask: &Ask) -> Option<String> {
        let Ask::Fork { lane, episode, with, .. } = ask else { return None };
        let call = with.first.action.as_ref()?;
        let known = self.begun_with(*lane, *episode).map_or_else(Vec::new, |(seed, level)| self.tools_of(seed, level));
        let of_run = self.state.run.iter().flat_map(|run| run.tools.iter());
        branch::objection_to_call(call, known.iter().chain(of_run))
    }

    fn tools_of(&self, seed: Seed, level: Level) -> Vec<ToolSpec> {
        self.state.run.as_ref().map_or_else(Vec::new, |run| self.backstage.tools_of(run, seed, level))
    }

    /// Seed and level of an episode.
    fn begun_with(&self, lane: LaneId, episode: EpisodeId) -> Option<(Seed, Level)> {
        let current = self.state.lane(lane).map(|l| &l.episode).filter(|e| e.episode == episode).map(|e| (e.seed, e.level));
        let level = self.state.run.as_ref().map(|run| run.level)?;
        let ended = || self.state.episodes.iter().rev().find(|e| (e.lane, e.episode) == (lane, episode)).map(|e| (e.seed, level));
        let of_book = || self.desk.replay.book.find(lane, episode).and_then(|e| Some((e.seed?, e.level?)));
        current.or_else(of_book).or_else(ended)
    }

    pub(super) fn form_key(&mut self, mut form: Box<Form>, key: &KeyEvent) {
        match form.key(key) {
            FormEdit::More => self.open = Open::Form(form),
            FormEdit::Cancel => {
                self.notice = tr!("nothing is changed");
                self.leave(&form);
            }
            FormEdit::Send => self.send_form(form),
            FormEdit::Outside => self.go_outside(form),
        }
    }

    fn send_form(&mut self, mut form: Box<Form>) {
        let told = match form.command(&self.state) {
            Ok(fork) if self.playback.is_some() => {
                self.mistaken = false;
                self.with_facts(|_, facts| branch::from_recording(fork, facts));
                if std::mem::take(&mut self.mistaken) {
                    self.open = Open::Form(form);
                }
                return;
            }
            Ok(command) => match self.send(command) {
                // It is kept until the engine has answered: what it objects to is to be mended.
                Ok(id) => return self.form_sent = Some((id, form)),
                Err(error) => error.to_string(),
            },
            Err(told) => told,
        };
        form.show_problem();
        self.notice = told;
        self.open = Open::Form(form);
    }

    /// What the engine says to a form that was sent.
    pub(super) fn form_answered(&mut self, event: &Event) {
        let (id, objection) = if let Event::CommandAccepted(e) = event {
            (e.id, None)
        } else if let Event::CommandRejected(e) = event {
            (e.id, Some(e.reason.to_string()))
        } else {
            return;
        };
        let Some((_, form)) = self.form_sent.take_if(|(sent, _)| *sent == id) else { return };
        match objection {
            Some(told) => {
                if self.open == Open::Nothing {
                    self.notice = told;
                    self.open = Open::Form(form);
                } else {
                    let (action, name) =
                        if form.purpose.is_fork() { (Action::ForkHere, ":fork-here") } else { (Action::Override, ":override") };
                    let key = self.options.keys.shown(action).unwrap_or_else(|| name.into());
                    self.notice = tr!("{told}; {key} there opens what was sent again", told = told, key = key);
                    self.form_kept = Some(form);
                }
            }
            None => {
                let step = form.purpose.place().2;
                self.notice = match form.purpose.is_fork() {
                    true => tr!("it goes on beside what runs, from before step {step}; gb shows the branches", step = step),
                    false => tr!("step {step} does that instead", step = step),
                };
                self.leave(&form);
            }
        }
    }

    /// The run goes on if it was paused for this, and for nothing else meanwhile.
    fn leave(&mut self, form: &Form) {
        if form.resumes && self.state.run_state == RunState::Paused && self.state.stopped_at.is_none() {
            self.carry_out(vec![Effect::Send(Command::Resume)]);
        }
    }

    fn go_outside(&mut self, form: Box<Form>) {
        if self.playback.is_some() || self.options.read_only {
            self.notice = tr!("an editor is for a live run that takes commands");
        } else {
            // The loop has the terminal, and lends it.
            self.outside = true;
        }
        self.open = Open::Form(form);
    }

    /// The text that the outside editor is to have, and where; unset where nothing is to be edited outside.
    pub(super) fn wants_outside(&mut self) -> Option<(std::path::PathBuf, String)> {
        let wanted = std::mem::take(&mut self.outside);
        let Open::Form(form) = &self.open else { return None };
        match outside::directory(self.options.state.as_deref()) {
            Ok(directory) if wanted => Some((directory, form.draft.clone().unwrap_or_else(|| form_file::text(form)))),
            Ok(_) => None,
            Err(told) => {
                if wanted {
                    self.notice = told;
                }
                None
            }
        }
    }

    /// Takes up what the outside editor left.
    pub(super) fn came_back(&mut self, back: Back) {
        self.redraw = true;
        let Open::Form(form) = &mut self.open else { return };
        match back {
            Back::Text(text) => match form_file::read(&text, form) {
                Ok(()) => self.notice = tr!("read; enter sends it"),
                Err(mistake) => {
                    self.notice = tr!("{mistake}; ctrl-o opens it again, esc gives up", mistake = mistake);
                    form.draft = Some(form_file::again(&text, &mistake));
                }
            },
            Back::Failed(told) => self.notice = told,
            Back::Ended(0) => self.ended = Some(super::Ended::HungUp),
            Back::Ended(signal) => self.ended = Some(super::Ended::Signal(signal)),
        }
    }
}
