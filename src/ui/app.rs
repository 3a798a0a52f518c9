//! The screen's loop: frames in, keys in, a picture out when something changed.

mod forms;
mod hands;
mod rules;
mod seats;
mod silences;

use super::actions::{Action, Group};
use super::backstage::{Ask, Backstage, collect};
use super::chrome::help::Help;
use super::copy::copy;
use super::desk::Desk;
use super::export::export;
use super::form::Form;
use super::keymap::KeyMap;
use super::lang::Lang;
use super::line::{History, Line};
use super::look::Look;
use super::notify::Notifier;
use super::output::{Output, ended_by};
use super::outside;
use super::palette::Palette;
use super::replies::{ASK_BACKGROUND, Replies};
use super::screen::{Pacer, Screen};
use super::session::{self, Said, Session};
use super::silence_form::SilenceForm;
use super::still::Still;
use super::terminal::{Incoming, Taken, ask_ambiguous_width, is_alive, is_taken, read_input, restore_on_panic, size, watch_signals};
use super::theme::{Caps, ThemeError, Tier};
use super::update::{Confirm, Effect, Facts, act};
use super::view::{Context, PlaybackView, ScreenId, View};
use super::watch::Watch;
use super::widgets::ChartGlyphs;
use super::{chrome, panes, shot};
use crate::config::{Notify, Severity};
use crate::event::{Breakpoint, CommandId, Event, SendError};
use crate::source::{Frame, FrameSource, SourceError, SourceStatus};
use crate::state::{ApplyError, DashState};
use crate::ui::lang::tr;
use crossterm::event::{Event as TerminalEvent, KeyEventKind};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Plain settings of the screen.
#[derive(Clone, Debug)]
pub struct UiOptions {
    pub theme: String,
    /// What the operator forced; else the environment decides.
    pub tier: Option<Tier>,
    /// Unset goes by the locale.
    pub ascii: Option<bool>,
    pub charts: ChartGlyphs,
    /// Unset is measured.
    pub ambiguous_width: Option<u8>,
    pub mouse: bool,
    pub fps_max: u32,
    /// What a slow link carries; pictures keep to it.
    pub bytes_per_second: Option<u32>,
    pub read_only: bool,
    pub banner: Option<String>,
    /// Name of the recording, in a replay.
    pub recording: Option<String>,
    /// Where `:shot` writes.
    pub shots: PathBuf,
    /// Where the screen's memory and copies too long for a clipboard are kept, if anywhere.
    pub state: Option<PathBuf>,
    /// What of the look the operator asked for at this start.
    pub said: Said,
    pub lang: Lang,
    pub keys: KeyMap,
    /// Where the keys come from, read again when it was saved; it need not be there.
    pub keys_file: Option<PathBuf>,
    /// How alerts are heard, and from what severity on.
    pub notify: (Notify, Severity),
    /// What the command that opens an alert is to go to.
    pub host: String,
    /// How long an acknowledgement of one holds.
    pub acknowledge_minutes: u32,
    /// The screen to begin with.
    pub screen: ScreenId,
}

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The operator quit.
    Quit,
    /// A signal asked for it.
    Signal(i32),
    HungUp,
}

#[derive(Debug, thiserror::Error)]
pub enum UiError {
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    #[error("another thread panicked; what it said stands above")]
    Panicked,
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// Frames taken in one go, so that keys are never far.
const FRAMES_BUDGET: usize = 2_000;
/// Names of the files that an outside editor has, behind the number of this process.
const DECISION_FILE: (&str, &str) = ("decision", "json");
const RULES_FILE: (&str, &str) = ("rules", "yaml");
/// Inputs that wait for the loop.
const INPUTS: usize = 256;
/// How often a source is asked when nothing else happens.
const ASK: Duration = Duration::from_millis(33);
/// The same while there is more of a recording to be read.
const READING: Duration = Duration::from_millis(1);

/// What is open above the panes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Open {
    #[default]
    Nothing,
    Help(Help),
    Palette(Palette),
    Command(Line),
    Search(Line),
    /// The pages of the menu by digits, or the actions of one page.
    Menu(Option<Group>),
    /// Lines under a title.
    Told(String, Vec<String>),
    /// Why what was to be confirmed is not done.
    Refused(String),
    /// A command that waits for its name, and what was typed of it.
    Confirm(Box<Confirm>, Line),
    /// The editor of a decision.
    Form(Box<Form>),
    /// The form of a silence.
    Silence(Box<SilenceForm>),
    /// Quitting would end the run.
    ConfirmQuit,
}

struct App {
    state: DashState,
    view: View,
    look: Look,
    source: Box<dyn FrameSource>,
    /// The live run, while a recording is looked at.
    parked: Option<Box<seats::Seat>>,
    backstage: Box<dyn Backstage>,
    desk: Desk,
    options: UiOptions,
    playback: Option<PlaybackView>,
    open: Open,
    notice: String,
    /// Keys of a sequence that is not whole yet.
    keys: String,
    /// How many keys were pressed, as far as it matters.
    keys_pressed: u32,
    keys_watch: Option<Watch>,
    /// Lines that were entered behind `:`.
    history: History,
    /// Actions that were done, newest last.
    recent: Vec<Action>,
    /// What was asked for last could not be done.
    mistaken: bool,
    notifier: Notifier,
    /// The screen as it was last drawn.
    area: Rect,
    ended: Option<Ended>,
    source_ended: bool,
    redraw: bool,
    suspend: bool,
    /// The editor of a decision is to be opened when the run has paused.
    form_waits: Option<forms::Waiting>,
    /// What was sent of an editor, until the engine has answered.
    form_sent: Option<(CommandId, Box<Form>)>,
    /// What the engine objected to while something else was open.
    form_kept: Option<Box<Form>>,
    /// Breakpoints of the recording that the run that goes on from it was asked for, and has not told of.
    carried: Vec<Breakpoint>,
    /// An outside editor is to have what stands in it.
    outside: bool,
    /// The rule file that an outside editor is to have, and its text; and what it left that is not right yet.
    rules_outside: Option<rules::RulesDraft>,
    rules_draft: Option<rules::RulesDraft>,
    /// For the terminal, beside the picture.
    outbox: Vec<u8>,
    still: Still,
    /// What the screen was like when it was last left.
    before: Option<Session>,
    /// The recording that was asked for last, and from where.
    asked_at: Option<seats::Asked>,
    sittings: u32,
    /// The process was stopped and goes on.
    continued: bool,
}

/// Runs the console on a source until the operator leaves it.
pub fn run(source: Box<dyn FrameSource>, backstage: Box<dyn Backstage>, options: UiOptions) -> Result<Ended, UiError> {
    super::lang::set(options.lang);
    let var = |name: &str| std::env::var(name).ok();
    let caps = Caps::detect(options.tier, options.ascii, options.charts, options.ambiguous_width.unwrap_or(1), var);
    let mut look = Look::new(&options.theme, caps)?;
    restore_on_panic();
    let taken = Taken::take(options.mouse)?;
    // The Linux console and dumb terminals would show a question.
    let answers = !matches!(var("TERM").as_deref(), None | Some("" | "dumb" | "linux"));
    let (tx, rx) = sync_channel(INPUTS);
    // Before anything waits: a signal gives the terminal back from here on.
    watch_signals(tx.clone())?;
    let measures = answers && !caps.ascii && options.ambiguous_width.is_none();
    let (columns, keys) = if measures { ask_ambiguous_width() } else { Default::default() };
    look.caps.ambiguous_width = columns.unwrap_or(look.caps.ambiguous_width);
    let mut app = App::new(source, backstage, options, look);
    app.desk.operator = ["USER", "LOGNAME"].iter().find_map(|name| var(name).filter(|value| !value.trim().is_empty()));
    app.resume();
    keys.into_iter().for_each(|key| app.incoming(Incoming::Terminal(key)));
    let asks = app.look.goes_by_background() && answers;
    if asks {
        // Sent behind the first picture.
        app.outbox.extend_from_slice(ASK_BACKGROUND);
    }
    read_input(tx, Replies::new(asks.then(Instant::now)))?;
    let ended = show(&mut app, &taken, &rx)?;
    drop(taken);
    app.remember();
    Ok(ended)
}

/// The loop, until something ends it.
fn show(app: &mut App, taken: &Taken, rx: &Receiver<Incoming>) -> Result<Ended, UiError> {
    let mut pacer = Pacer::new(app.options.fps_max, app.options.bytes_per_second);
    let mut screen = Screen::new(Output::stdout());
    let mut dirty = true;
    loop {
        dirty |= app.take_frames()?;
        dirty |= app.take_news();
        dirty |= app.read_again(Instant::now());
        if dirty && pacer.wait(Instant::now()).is_zero() {
            // A terminal that does not know its size any more, or takes nothing any more, is gone.
            let Some((width, height)) = size() else { return Ok(Ended::HungUp) };
            app.area = Rect::new(0, 0, width, height);
            let before = screen.bytes_total;
            if let Err(error) = screen.show(app.picture(app.area)) {
                return gone(error);
            }
            let now = Instant::now();
            app.still.drawn(&app.state, now);
            pacer.drawn(now, screen.took, screen.bytes_total - before);
            dirty = false;
        }
        if !app.outbox.is_empty()
            && let Err(error) = screen.send(&std::mem::take(&mut app.outbox))
        {
            return gone(error);
        }
        let ask = if app.desk.replay.is_reading() { READING } else { ASK };
        let wait = if dirty { pacer.wait(Instant::now()).clamp(Duration::from_millis(1), ask) } else { ask };
        match rx.recv_timeout(wait) {
            Ok(incoming) => {
                app.incoming(incoming);
                while let Ok(more) = rx.try_recv() {
                    app.incoming(more);
                }
                // A key is answered at once.
                dirty = true;
                pacer.hurry();
            }
            // The input thread may be caught in crossterm's own loop, which spins when the terminal dies.
            Err(RecvTimeoutError::Timeout) if !is_alive(Duration::ZERO).unwrap_or(false) => return Ok(Ended::HungUp),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(Ended::HungUp),
        }
        if !is_taken() {
            return Err(UiError::Panicked);
        }
        if std::mem::take(&mut app.suspend) {
            taken.suspend()?;
            app.redraw = true;
        }
        if std::mem::take(&mut app.continued) {
            taken.retake()?;
            app.redraw = true;
        }
        if let Some((directory, text)) = app.wants_outside() {
            let back = outside::edit(taken, rx, &directory, DECISION_FILE, &text);
            app.came_back(back);
        }
        if let Some((directory, text)) = app.wants_rules() {
            let back = outside::edit(taken, rx, &directory, RULES_FILE, &text);
            app.rules_came_back(back);
        }
        if std::mem::take(&mut app.redraw) {
            screen.forget();
            dirty = true;
        }
        if let Some(ended) = app.ended {
            return Ok(ended);
        }
    }
}

/// What a terminal that could not be written to means.
fn gone(error: io::Error) -> Result<Ended, UiError> {
    match ended_by() {
        Some(signal) => Ok(Ended::Signal(signal)),
        None if is_alive(Duration::ZERO).unwrap_or(false) => Err(error.into()),
        None => Ok(Ended::HungUp),
    }
}

/// Draws one picture of a state, without a terminal.
pub fn draw(context: &Context<'_>, area: Rect) -> Buffer {
    super::lang::set(context.lang);
    let mut blank = Cell::EMPTY;
    blank.set_style(context.theme.text);
    let mut buffer = Buffer::filled(area, blank);
    if area.width == 0 || area.height == 0 {
        return buffer;
    }
    let inner = chrome::frame(&mut buffer, area, context);
    panes::draw(&mut buffer, inner, context);
    buffer
}

impl App {
    fn new(source: Box<dyn FrameSource>, backstage: Box<dyn Backstage>, options: UiOptions, look: Look) -> Self {
        let mut view = View::default();
        view.go(options.screen);
        let in_tmux = in_tmux();
        Self {
            keys_pressed: 0,
            keys_watch: options.keys_file.clone().map(Watch::on),
            history: History::default(),
            recent: Vec::new(),
            mistaken: false,
            notifier: Notifier::new(options.notify.0, options.notify.1, in_tmux, &options.host),
            state: DashState::default(),
            view,
            look,
            source,
            parked: None,
            backstage,
            desk: Desk { acknowledge_minutes: Some(options.acknowledge_minutes), ..Desk::default() },
            options,
            playback: None,
            open: Open::default(),
            notice: String::new(),
            keys: String::new(),
            area: Rect::new(0, 0, 120, 36),
            ended: None,
            source_ended: false,
            redraw: false,
            suspend: false,
            form_waits: None,
            form_sent: None,
            form_kept: None,
            carried: Vec::new(),
            outside: false,
            rules_outside: None,
            rules_draft: None,
            outbox: Vec::new(),
            still: Still::default(),
            before: None,
            asked_at: None,
            sittings: 0,
            continued: false,
        }
    }

    /// Takes up what the screen was like when it was last left.
    fn resume(&mut self) {
        let Some(path) = self.options.state.as_deref().map(session::path) else { return };
        // A terminal that is to have no colours keeps that.
        self.options.said.colors |= self.look.caps.tier == Tier::None;
        let read = Session::read(&path).and_then(|session| {
            self.view.newcomer = session.is_none();
            self.before = session;
            self.before.as_ref().map_or(Ok(None), |s| s.resume(&mut self.view, &mut self.look, self.options.said))
        });
        if let Some(told) = read.unwrap_or_else(Some) {
            self.notice = told;
        }
    }

    fn remember(&self) {
        let Some(path) = self.options.state.as_deref().map(session::path) else { return };
        let session = Session::of(self.view_of_run(), &self.look, &self.options.theme, self.options.said, self.before.as_ref());
        if let Err(error) = session.write(&path) {
            // Standard error may be the terminal that is gone.
            let _ = writeln!(io::stderr(), "the screen is not remembered: {}: {error}", path.display());
        }
    }

    /// Folds what the sources have; true when something changed. A recording that can't be read does not end a run beside it.
    fn take_frames(&mut self) -> Result<bool, UiError> {
        let changed = match self.take_own_frames() {
            Err(error @ (UiError::Source(_) | UiError::Apply(_))) if self.parked.is_some() => {
                self.leave_recording();
                self.notice = tr!("the recording can't be read on: {error}; back at the live run", error = error);
                true
            }
            taken => taken?,
        };
        Ok(self.take_parked()? || changed)
    }

    /// Folds what the source has that is looked at.
    fn take_own_frames(&mut self) -> Result<bool, UiError> {
        let mut frames = Vec::new();
        let status = self.source.poll(&mut frames, FRAMES_BUDGET)?;
        let now = Instant::now();
        let mut changed = false;
        let mut stopped = false;
        for frame in frames {
            match frame {
                Frame::Snapshot(state) => {
                    self.state = *state;
                    if let Some(branch) = self.state.branches.last().filter(|_| self.desk.forking) {
                        (self.view.lane, self.desk.forking) = (branch.lane, false);
                    }
                    changed = true;
                }
                Frame::Event(envelope) => {
                    // A recording's alerts were heard when they fired.
                    if let (Event::AlertStateChanged(change), None) = (&envelope.event, &self.options.recording)
                        && !self.state.alerting.is_hushed(change, envelope.t_ns)
                    {
                        let run = self.state.run.as_ref().map_or("", |run| &run.run.0);
                        self.outbox.extend(self.notifier.take(change, run, now).unwrap_or_default());
                    }
                    self.state.apply(&envelope)?;
                    changed |= self.still.is_news(&envelope, &self.state, now);
                    let hit = self.desk.stops.note(&envelope, &self.state, &self.desk.replay.tallies);
                    if self.source.playback().is_none() {
                        self.tell_of_breakpoint(&envelope);
                        self.tell_of_command(&envelope);
                        self.look_at_branch(&envelope);
                        // An editor says more of what was sent from it.
                        self.form_waits_on(&envelope.event);
                        self.form_answered(&envelope.event);
                    } else if let Some(hit) = hit {
                        changed = true;
                        stopped = self.hit(hit);
                    }
                    if stopped {
                        break;
                    }
                }
            }
        }
        let ended = status == SourceStatus::Ended && !stopped;
        let news = changed || ended != self.source_ended;
        self.source_ended = ended;
        let name = self.options.recording.clone().unwrap_or_default();
        let playback = self.source.playback().map(|p| PlaybackView {
            head: p.head(),
            end: p.end(),
            t_ns_end: p.t_ns_end(),
            playing: p.is_playing() && !ended,
            speed: p.speed(),
            damage: p.damage().map(str::to_owned),
            name,
            bundle: p.bundle().map(str::to_owned),
        });
        let moved = playback != self.playback;
        self.playback = playback;
        let studied = self.study()?;
        let opened = self.open_waiting();
        Ok(studied || news || moved || opened)
    }

    /// Reads theme and keys again where they were saved; true when there is something to show.
    fn read_again(&mut self, now: Instant) -> bool {
        let told = self.look.read_again(now).or_else(|| self.read_keys_again(now));
        let came = told.is_some();
        if let Some(told) = told {
            self.notice = told;
        }
        came
    }

    /// A mistake leaves the last good keys.
    fn read_keys_again(&mut self, now: Instant) -> Option<String> {
        let watch = self.keys_watch.as_mut()?;
        if !watch.changed(now) {
            return None;
        }
        Some(match KeyMap::load(watch.path()) {
            Ok(keys) => {
                self.options.keys = keys;
                self.keys.clear();
                tr!("read keys {path} again", path = watch.path().display())
            }
            Err(error) => tr!("{error}; the last good ones stay", error = error),
        })
    }

    /// Takes up what backstage brought; true when something came.
    fn take_news(&mut self) -> bool {
        let (came, told) = collect(&mut *self.backstage, &mut self.desk);
        if let Some(told) = told {
            self.notice = told;
        }
        for opened in std::mem::take(&mut self.desk.opened) {
            self.was_opened(opened);
        }
        if let Some(forked) = self.desk.forked.take() {
            self.go_live(forked);
        }
        came
    }

    fn picture(&self, area: Rect) -> Buffer {
        let context = self.context();
        let mut buffer = draw(&context, area);
        chrome::overlay(&mut buffer, area, &context, (&self.open, &self.notice), &self.recent);
        buffer
    }

    fn scene(&self) -> panes::replay::Scene<'_> {
        panes::replay::Scene { state: &self.state, desk: &self.desk, view: &self.view, playback: self.playback.as_ref() }
    }

    fn context(&self) -> Context<'_> {
        Context {
            state: &self.state,
            desk: &self.desk,
            keys: &self.options.keys,
            view: &self.view,
            theme: &self.look.theme,
            caps: &self.look.caps,
            playback: self.playback.as_ref(),
            read_only: self.options.read_only || self.playback.is_some(),
            banner: self.options.banner.as_deref(),
            lang: self.options.lang,
        }
    }

    fn incoming(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Terminal(TerminalEvent::Key(key)) if key.kind != KeyEventKind::Release => self.key(key),
            // A paste is text, never a row of keys.
            Incoming::Terminal(TerminalEvent::Paste(text)) => self.type_text(&text),
            Incoming::Terminal(TerminalEvent::Mouse(mouse)) => self.mouse(mouse),
            Incoming::Terminal(TerminalEvent::Resize(..)) => self.redraw = true,
            Incoming::Terminal(_) => {}
            Incoming::Ended(signal) => self.ended = Some(Ended::Signal(signal)),
            Incoming::Suspend => self.suspend = true,
            Incoming::Continued => self.continued = true,
            Incoming::Background { is_light } => {
                if let Err(error) = self.look.set_background(is_light) {
                    self.notice = error.to_string();
                }
            }
            Incoming::HungUp => self.ended = Some(Ended::HungUp),
        }
    }

    fn do_action(&mut self, action: Action) {
        self.with_facts(|view, facts| act(action, "", view, facts));
    }

    fn with_facts(&mut self, what: impl FnOnce(&mut View, &Facts<'_>) -> Vec<Effect>) {
        let facts = facts(self.area, &self.look.caps, (&self.state, &self.desk), self.playback.as_ref(), &*self.source, &self.options);
        let effects = what(&mut self.view, &facts);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(command) => {
                    let sent = self.source.commands().map_or(Err(SendError::Closed), |c| c.send(command));
                    if let Err(error) = sent {
                        self.notice = error.to_string();
                    }
                }
                Effect::Play(playing) => {
                    self.desk.replay.looking = None;
                    self.with_playback(|p| p.set_playing(playing));
                }
                Effect::SetSpeed(speed) => self.with_playback(|p| p.set_speed(speed)),
                Effect::Seek(seq) => self.seek(seq),
                Effect::StepPlayback(unit, count) => {
                    self.view.replay.place = None;
                    self.desk.replay.looking = None;
                    self.with_playback(|p| p.step(unit, count));
                }
                Effect::Replay(effect) => {
                    if let Err(told) = self.replay_effect(effect) {
                        self.notice = told;
                    }
                }
                Effect::Stops(effect) => {
                    if let Err(told) = self.stop_effect(effect) {
                        self.notice = told;
                    }
                }
                Effect::TellFields => self.open = Open::Told(tr!("Names in conditions"), self.backstage.condition_fields()),
                Effect::Tell(title, lines) => self.open = Open::Told(title, lines),
                Effect::Refuse(why) => self.open = Open::Refused(why),
                Effect::LoadTheme(name) => {
                    if let Err(error) = self.look.set_theme(&name) {
                        (self.notice, self.mistaken) = (error.to_string(), true);
                    }
                }
                Effect::Copy(form) => {
                    let copied = copy(form, self.scene(), self.options.state.as_deref(), in_tmux());
                    self.outbox.extend(copied.bytes);
                    self.notice = copied.told;
                }
                Effect::Export(argument) => self.notice = export(&argument, self.scene()),
                Effect::Colors(text) => self.notice = self.look.set_colors(&text),
                Effect::Shot(format) => self.notice = self.take_shot(&format),
                Effect::EditPending => self.edit_pending(),
                Effect::EditFork => self.edit_fork(),
                Effect::EditRules => self.edit_rules(),
                Effect::OpenSilence(form) => self.open = Open::Silence(form),
                Effect::OpenHelp => self.open = Open::Help(Help::default()),
                Effect::OpenPalette => self.open = Open::Palette(Palette::default()),
                Effect::Ask(ask) => self.ask(ask),
                Effect::OpenCommand(line) => self.open_command(&line),
                Effect::OpenSearch => self.open = Open::Search(Line::default()),
                Effect::OpenMenu => self.open = Open::Menu(None),
                Effect::Confirm(confirm) => self.open = Open::Confirm(Box::new(confirm), Line::default()),
                Effect::Close => {
                    self.form_waits = None;
                    self.desk.replay.looking = None;
                    self.open = Open::Nothing;
                }
                Effect::Redraw => self.redraw = true,
                Effect::Suspend => self.suspend = true,
                Effect::Quit => {
                    if self.would_end_run() {
                        self.open = Open::ConfirmQuit;
                    } else {
                        self.ended = Some(Ended::Quit);
                    }
                }
                Effect::Notice(text) => self.notice = text,
                Effect::Mistake(text) => (self.notice, self.mistaken) = (text, true),
            }
        }
    }

    fn ask(&mut self, ask: Ask) {
        if let Some(told) = self.objection_to_fork(&ask) {
            (self.notice, self.mistaken) = (told, true);
            return;
        }
        let asked = seats::Asked::of(&ask, self.view.screen, self.sittings);
        match self.backstage.ask(ask.clone()) {
            Ok(()) => {
                self.desk.asked(&ask);
                self.asked_at = asked.or(self.asked_at.take());
            }
            Err(reason) => self.notice = reason,
        }
    }

    fn with_playback(&mut self, what: impl FnOnce(&mut dyn crate::source::Playback)) {
        if let Some(playback) = self.source.playback() {
            what(playback);
            // The next key may hang on where the playhead is now.
            if let Some(shown) = self.playback.as_mut() {
                (shown.head, shown.playing) = (playback.head(), playback.is_playing() && shown.playing);
            }
        }
    }

    fn take_shot(&self, format: &str) -> String {
        let (format, file) = format.split_once(' ').unwrap_or((format, ""));
        let format = match format.parse::<shot::Format>() {
            Ok(format) => format,
            Err(told) => return told,
        };
        let bytes = match shot::write(&self.picture(self.area), &self.look.theme, format) {
            Ok(bytes) => bytes,
            Err(told) => return told,
        };
        if !file.trim().is_empty() {
            return super::export::write_to(file.trim(), &bytes);
        }
        let name = |n: u32| self.options.shots.join(format!("pilothouse-{}-{n}.{}", self.state.seq, format.extension()));
        let Some(path) = (0..100).map(name).find(|p| !p.exists()) else { return tr!("there are 100 pictures of this event already") };
        match super::export::write_new(&path, &bytes) {
            Ok(()) => tr!("wrote {path}", path = path.display()),
            Err(error) => format!("{}: {error}", path.display()),
        }
    }
}

fn in_tmux() -> bool {
    std::env::var_os("TMUX").is_some_and(|v| !v.is_empty())
}

fn facts<'a>(
    area: Rect,
    caps: &Caps,
    (state, desk): (&'a DashState, &'a Desk),
    playback: Option<&'a PlaybackView>,
    source: &dyn FrameSource,
    options: &UiOptions,
) -> Facts<'a> {
    let can_command = source.commands().is_some() && !options.read_only;
    Facts { state, desk, playback, can_command, area: chrome::between(area), glyphs: chrome::glyphs(caps) }
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
