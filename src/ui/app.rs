//! The screen's loop: frames in, keys in, a picture out when something changed.

mod seats;

use super::actions::{ACTIONS, Action, Entry, Group, Scope};
use super::backstage::{Backstage, collect};
use super::copy::copy;
use super::desk::Desk;
use super::export::export;
use super::keymap::{KeyMap, Lookup};
use super::lang::Lang;
use super::look::Look;
use super::screen::Screen;
use super::session::{self, Said, Session};
use super::still::Still;
use super::terminal::{Incoming, Taken, is_alive, is_taken, read_input, restore_on_panic, size, watch_signals};
use super::theme::{Caps, ThemeError, Tier};
use super::update::{Confirm, Effect, Facts, Pointer, act, by_key, command, point, search};
use super::view::{Context, PlaybackView, ScreenId, View};
use super::widgets::ChartGlyphs;
use super::{chrome, panes, shot};
use crate::event::SendError;
use crate::source::{Frame, FrameSource, SourceError, SourceStatus};
use crate::state::{ApplyError, DashState};
use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
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
    pub ascii: bool,
    pub charts: ChartGlyphs,
    pub ambiguous_width: u8,
    pub mouse: bool,
    pub fps_max: u32,
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
    /// Index of the chosen entry.
    Help(usize),
    Command(String),
    Search(String),
    /// The pages of the menu by digits, or the actions of one page.
    Menu(Option<Group>),
    /// Lines under a title.
    Told(String, Vec<String>),
    /// A command that waits for its name, and what was typed of it.
    Confirm(Confirm, String),
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
    keys: String,
    /// The screen as it was last drawn.
    area: Rect,
    ended: Option<Ended>,
    source_ended: bool,
    redraw: bool,
    suspend: bool,
    /// For the terminal, beside the picture.
    outbox: Vec<u8>,
    still: Still,
    /// What the screen was like when it was last left.
    before: Option<Session>,
    /// The process was stopped and goes on.
    continued: bool,
}

/// Runs the console on a source until the operator leaves it.
pub fn run(source: Box<dyn FrameSource>, backstage: Box<dyn Backstage>, options: UiOptions) -> Result<Ended, UiError> {
    super::lang::set(options.lang);
    let caps = Caps::detect(options.tier, options.ascii, options.charts, options.ambiguous_width, |name| std::env::var(name).ok());
    let look = Look::new(&options.theme, caps)?;
    restore_on_panic();
    let taken = Taken::take(options.mouse)?;
    let (tx, rx) = sync_channel(INPUTS);
    read_input(tx.clone())?;
    watch_signals(tx)?;
    let mut app = App::new(source, backstage, options, look);
    app.resume();
    let ended = show(&mut app, &taken, &rx)?;
    drop(taken);
    app.remember();
    Ok(ended)
}

/// The loop, until something ends it.
fn show(app: &mut App, taken: &Taken, rx: &Receiver<Incoming>) -> Result<Ended, UiError> {
    let frame_time = Duration::from_secs(1) / app.options.fps_max.max(1);
    let mut screen = Screen::new(io::stdout());
    let mut drawn_at: Option<Instant> = None;
    let mut dirty = true;
    loop {
        dirty |= app.take_frames()?;
        dirty |= app.take_news();
        if let Some(told) = app.look.read_again(Instant::now()) {
            app.notice = told;
            dirty = true;
        }
        let due = drawn_at.is_none_or(|at| at.elapsed() >= frame_time);
        if dirty && due {
            // A terminal that does not know its size any more, or takes nothing any more, is gone.
            let Some((width, height)) = size() else { return Ok(Ended::HungUp) };
            app.area = Rect::new(0, 0, width, height);
            if let Err(error) = screen.show(app.picture(app.area)) {
                return if is_alive(Duration::ZERO).unwrap_or(false) { Err(error.into()) } else { Ok(Ended::HungUp) };
            }
            let now = Instant::now();
            app.still.drawn(&app.state, now);
            drawn_at = Some(now);
            dirty = false;
        }
        if !app.outbox.is_empty() {
            screen.send(&std::mem::take(&mut app.outbox))?;
        }
        let ask = if app.desk.replay.is_reading() { READING } else { ASK };
        match rx.recv_timeout(if dirty { frame_time.min(ask) } else { ask }) {
            Ok(incoming) => {
                app.incoming(incoming);
                while let Ok(more) = rx.try_recv() {
                    app.incoming(more);
                }
                // A key is answered at once.
                dirty = true;
                drawn_at = None;
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
        if std::mem::take(&mut app.redraw) {
            screen.forget();
            dirty = true;
        }
        if let Some(ended) = app.ended {
            return Ok(ended);
        }
    }
}

/// Draws one picture of a state, without a terminal.
pub fn draw(context: &Context<'_>, area: Rect) -> Buffer {
    let mut buffer = Buffer::empty(area);
    buffer.set_style(area, context.theme.text);
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
        Self {
            state: DashState::default(),
            view,
            look,
            source,
            parked: None,
            backstage,
            desk: Desk::default(),
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
            outbox: Vec::new(),
            still: Still::default(),
            before: None,
            continued: false,
        }
    }

    /// Takes up what the screen was like when it was last left.
    fn resume(&mut self) {
        let Some(path) = self.options.state.as_deref().map(session::path) else { return };
        // A terminal that is to have no colours keeps that.
        self.options.said.colors |= self.look.caps.tier == Tier::None;
        let read = Session::read(&path).and_then(|session| {
            self.before = session;
            self.before.as_ref().map_or(Ok(()), |s| s.resume(&mut self.view, &mut self.look, self.options.said))
        });
        if let Err(told) = read {
            self.notice = told;
        }
    }

    fn remember(&self) {
        let Some(path) = self.options.state.as_deref().map(session::path) else { return };
        let session = Session::of(&self.view, &self.look, &self.options.theme, self.options.said, self.before.as_ref());
        if let Err(error) = session.write(&path) {
            // Standard error may be the terminal that is gone.
            let _ = writeln!(io::stderr(), "the screen is not remembered: {}: {error}", path.display());
        }
    }

    /// Folds what the source has; true when something changed.
    fn take_frames(&mut self) -> Result<bool, UiError> {
        let mut frames = Vec::new();
        let status = self.source.poll(&mut frames, FRAMES_BUDGET)?;
        let now = Instant::now();
        let mut changed = false;
        let mut stopped = false;
        for frame in frames {
            match frame {
                Frame::Snapshot(state) => {
                    self.state = *state;
                    changed = true;
                }
                Frame::Event(envelope) => {
                    self.state.apply(&envelope)?;
                    changed |= self.still.is_news(&envelope, self.state.run_state, now);
                    if let Some(hit) = self.desk.stops.note(&envelope, &self.state) {
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
        });
        let moved = playback != self.playback;
        self.playback = playback;
        let studied = self.study()?;
        Ok(self.take_parked()? || studied || news || moved)
    }

    /// Takes up what backstage brought; true when something came.
    fn take_news(&mut self) -> bool {
        let (came, told) = collect(&mut *self.backstage, &mut self.desk);
        if let Some(told) = told {
            self.notice = told;
        }
        if let Some(opened) = self.desk.opened.take() {
            self.sit_down(opened);
        }
        came
    }

    fn picture(&self, area: Rect) -> Buffer {
        let context = self.context();
        let mut buffer = draw(&context, area);
        chrome::overlay(&mut buffer, area, &context, &self.open, &self.notice);
        buffer
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
            Incoming::HungUp => self.ended = Some(Ended::HungUp),
        }
    }

    fn mouse(&mut self, mouse: MouseEvent) {
        let pointer = match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Pointer::Click,
            MouseEventKind::Drag(MouseButton::Left) => Pointer::Drag,
            MouseEventKind::ScrollUp => Pointer::WheelUp,
            MouseEventKind::ScrollDown => Pointer::WheelDown,
            MouseEventKind::Down(_)
            | MouseEventKind::Up(_)
            | MouseEventKind::Drag(_)
            | MouseEventKind::Moved
            | MouseEventKind::ScrollLeft
            | MouseEventKind::ScrollRight => return,
        };
        match (&self.open, pointer) {
            (Open::Help(at), Pointer::WheelUp) => self.open = Open::Help(at.saturating_sub(3)),
            (Open::Help(at), Pointer::WheelDown) => self.open = Open::Help((at + 3).min(ACTIONS.len() - 1)),
            // What is open has the keys; a click past it must not change what lies beneath.
            (Open::Help(_) | Open::Command(_) | Open::Search(_) | Open::Confirm(..) | Open::Told(..) | Open::ConfirmQuit, _) => {}
            (Open::Nothing | Open::Menu(_), _) => {
                self.with_facts(|view, facts| point(pointer, mouse.column, mouse.row, view, facts));
            }
        }
    }

    fn type_text(&mut self, text: &str) {
        let line: String = text.chars().filter(|c| !c.is_control()).collect();
        match &mut self.open {
            Open::Command(input) | Open::Search(input) => input.push_str(&line),
            Open::Confirm(..) => self.notice = "a paste confirms nothing; type it".into(),
            Open::Nothing | Open::Help(_) | Open::Menu(_) | Open::Told(..) | Open::ConfirmQuit => {
                self.notice = "pasted text is not taken as keys".into();
            }
        }
    }

    fn key(&mut self, key: KeyEvent) {
        self.notice.clear();
        let name = key_name(&key);
        match std::mem::take(&mut self.open) {
            Open::Nothing => {
                if let Some(name) = name {
                    self.press(&name);
                }
            }
            Open::Help(at) => self.help_key(at, name.as_deref().unwrap_or_default()),
            Open::Menu(group) => self.menu_key(group, name.as_deref().unwrap_or_default()),
            Open::Command(line) => {
                if let Some(line) = self.line_key(line, &key, Open::Command) {
                    self.with_facts(|view, facts| command(&line, view, facts));
                }
            }
            Open::Search(line) => {
                if let Some(line) = self.line_key(line, &key, Open::Search) {
                    self.with_facts(|view, facts| search(&line, view, facts));
                }
            }
            Open::Confirm(confirm, typed) => self.confirm_key(confirm, typed, &key),
            // Any key closes what was told.
            Open::Told(..) => {}
            Open::ConfirmQuit => match name.as_deref() {
                // ctrl-c twice quits, as a shell would.
                Some("y" | "Y" | "ctrl-c") => self.ended = Some(Ended::Quit),
                _ => self.notice = "the run goes on".into(),
            },
        }
    }

    fn help_key(&mut self, at: usize, name: &str) {
        let last = ACTIONS.len() - 1;
        self.open = match name {
            "up" | "k" => Open::Help(at.saturating_sub(1)),
            "down" | "j" => Open::Help((at + 1).min(last)),
            "pageup" => Open::Help(at.saturating_sub(10)),
            "pagedown" => Open::Help((at + 10).min(last)),
            "enter" => return self.do_entry(&ACTIONS[at]),
            _ => Open::Nothing,
        };
    }

    /// A digit opens a page or does an action; 0 goes back. Any other key closes the menu.
    fn menu_key(&mut self, group: Option<Group>, name: &str) {
        let digit = name.parse::<usize>().ok().filter(|_| name.len() == 1);
        match (group, digit) {
            (_, None) | (None, Some(0)) => {}
            (Some(_), Some(0)) => self.open = Open::Menu(None),
            (None, Some(digit)) => self.open = Open::Menu(Group::ALL.get(digit - 1).copied()),
            (Some(group), Some(digit)) => {
                if let Some(entry) = group.entries().get(digit - 1) {
                    self.do_entry(entry);
                }
                if self.open == Open::Nothing && group.stays() {
                    self.open = Open::Menu(Some(group));
                }
            }
        }
    }

    /// Does what stands in help or menu; asks for the argument where there must be one.
    fn do_entry(&mut self, entry: &Entry) {
        if entry.argument.is_empty() {
            self.do_action(entry.action);
        } else {
            self.open = Open::Command(format!("{} ", entry.name));
        }
    }

    fn confirm_key(&mut self, confirm: Confirm, typed: String, key: &KeyEvent) {
        if key_name(key).as_deref() == Some("ctrl-c") {
            self.notice = format!("no {}", confirm.verb);
            return;
        }
        let verb = confirm.verb;
        let again = confirm.clone();
        match edit(typed, key) {
            Edit::More(typed) => self.open = Open::Confirm(confirm, typed),
            Edit::Cancelled => self.notice = format!("no {verb}"),
            Edit::Entered(typed) if confirm.accepts(&typed) => self.carry_out(vec![Effect::Send(confirm.command)]),
            Edit::Entered(typed) => {
                self.notice = format!("`{typed}` is not `{verb} {}`; esc cancels", confirm.name);
                self.open = Open::Confirm(again, typed);
            }
        }
    }

    /// Edits an input line; gives it back when it was entered.
    fn line_key(&mut self, line: String, key: &KeyEvent, open: fn(String) -> Open) -> Option<String> {
        if key.code == KeyCode::Tab {
            self.open = open(super::complete::complete(&line));
            return None;
        }
        match edit(line, key) {
            Edit::Entered(line) => return Some(line),
            Edit::Cancelled => {}
            Edit::More(line) => self.open = open(line),
        }
        None
    }

    fn press(&mut self, name: &str) {
        let sequence = if self.keys.is_empty() { name.to_owned() } else { format!("{} {name}", self.keys) };
        self.keys.clear();
        match self.options.keys.lookup(&sequence, &Scope::of(self.view.screen, self.view.active())) {
            Lookup::Action(action) => self.with_facts(|view, facts| act(by_key(action, facts), "", view, facts)),
            Lookup::Prefix => self.keys = sequence,
            Lookup::Unknown => self.notice = format!("{sequence} does nothing; ? lists the keys"),
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
                Effect::Tell(title, lines) => self.open = Open::Told(title, lines),
                Effect::LoadTheme(name) => {
                    if let Err(error) = self.look.set_theme(&name) {
                        self.notice = error.to_string();
                    }
                }
                Effect::Copy(form) => {
                    let in_tmux = std::env::var_os("TMUX").is_some_and(|v| !v.is_empty());
                    let copied = copy(form, &self.state, &self.view, self.options.state.as_deref(), in_tmux);
                    self.outbox.extend(copied.bytes);
                    self.notice = copied.told;
                }
                Effect::Export(argument) => self.notice = export(&argument, &self.state, &self.view),
                Effect::Colors(text) => self.notice = self.look.set_colors(&text),
                Effect::Shot(format) => self.notice = self.take_shot(&format),
                Effect::OpenHelp => self.open = Open::Help(0),
                Effect::OpenPalette => {}
                Effect::Ask(ask) => {
                    if let Err(reason) = self.backstage.ask(ask) {
                        self.notice = reason;
                    }
                }
                Effect::OpenCommand(line) => self.open = Open::Command(line),
                Effect::OpenSearch => self.open = Open::Search(String::new()),
                Effect::OpenMenu => self.open = Open::Menu(None),
                Effect::Confirm(confirm) => self.open = Open::Confirm(confirm, String::new()),
                Effect::Close => {
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
            }
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
        let Ok(format) = format.parse::<shot::Format>() else { return format!("{format} is no picture; write svg, txt or ans") };
        let picture = self.picture(self.area);
        let text = shot::write(&picture, &self.look.theme, format);
        let name = |n: u32| self.options.shots.join(format!("pilothouse-{}-{n}.{}", self.state.seq, format.extension()));
        let Some(path) = (0..100).map(name).find(|p| !p.exists()) else { return "there are 100 pictures of this event already".into() };
        match std::fs::write(&path, text) {
            Ok(()) => format!("wrote {}", path.display()),
            Err(error) => format!("{}: {error}", path.display()),
        }
    }
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

/// What became of an input line.
enum Edit {
    More(String),
    Entered(String),
    Cancelled,
}

fn edit(mut line: String, key: &KeyEvent) -> Edit {
    // A modified letter is a command of the line, or nothing: alt-b must not write a b.
    match key_name(key).unwrap_or_default().as_str() {
        "enter" => return Edit::Entered(line),
        "esc" => return Edit::Cancelled,
        "backspace" | "ctrl-h" if line.is_empty() => return Edit::Cancelled,
        "backspace" | "ctrl-h" => {
            line.pop();
        }
        "ctrl-w" => line.truncate(line.trim_end().rfind(' ').map_or(0, |at| at + 1)),
        "ctrl-c" | "ctrl-u" => line.clear(),
        "tab" => {
            let mut names = ACTIONS.iter().map(|e| e.name).filter(|n| n.starts_with(line.as_str()));
            if let Some(name) = names.next() {
                line = format!("{name} ");
            }
        }
        _ => {
            if let KeyCode::Char(c) = key.code
                && !is_modified(key)
            {
                line.push(c);
            }
        }
    }
    Edit::More(line)
}

/// Keys that mean something else than the same key alone.
const MODIFIERS: [(KeyModifiers, &str); 5] = [
    (KeyModifiers::CONTROL, "ctrl-"),
    (KeyModifiers::ALT, "alt-"),
    (KeyModifiers::SUPER, "super-"),
    (KeyModifiers::HYPER, "hyper-"),
    (KeyModifiers::META, "meta-"),
];

fn is_modified(key: &KeyEvent) -> bool {
    MODIFIERS.iter().any(|(modifier, _)| key.modifiers.contains(*modifier))
}

/// The name by which the table knows a key. A modified key is another key: alt-q must not quit.
fn key_name(key: &KeyEvent) -> Option<String> {
    let modified = is_modified(key);
    let plain = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) if modified => c.to_ascii_lowercase().to_string(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Tab => "tab".to_owned(),
        KeyCode::BackTab => "backtab".to_owned(),
        KeyCode::Backspace => "backspace".to_owned(),
        KeyCode::Enter => "enter".to_owned(),
        KeyCode::Esc => "esc".to_owned(),
        KeyCode::Up => "up".to_owned(),
        KeyCode::Down => "down".to_owned(),
        KeyCode::Left => "left".to_owned(),
        KeyCode::Right => "right".to_owned(),
        KeyCode::Home => "home".to_owned(),
        KeyCode::End => "end".to_owned(),
        KeyCode::PageUp => "pageup".to_owned(),
        KeyCode::PageDown => "pagedown".to_owned(),
        _ => return None,
    };
    let modifiers: String = MODIFIERS.iter().filter(|(m, _)| key.modifiers.contains(*m)).map(|(_, name)| *name).collect();
    Some(modifiers + &plain)
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
