//! What keys, pastes and the mouse do: to what is open above the panes first, else to the panes.

use super::{App, Ended, Open};
use crate::ui::actions::{Action, Entry, Group, Scope};
use crate::ui::backstage::Backstage;
use crate::ui::chrome::help::{self, Help};
use crate::ui::chrome::silence::slot_at;
use crate::ui::complete::offer;
use crate::ui::find::search;
use crate::ui::keymap::{Lookup, key_name, shown};
use crate::ui::lang::tr;
use crate::ui::line::{Edit, History, Line};
use crate::ui::palette::{self, Palette};
use crate::ui::update::{Confirm, Effect, Pointer, act, by_key, command, point};
use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use std::path::Path;

/// Keys after which nobody is new here.
const NEWCOMER_KEYS: u32 = 4;
/// Actions that the palette remembers.
const RECENT_MAX: usize = 20;
/// A longer paste would be cut, and then mean something else.
const PASTE_BYTES_MAX: usize = 4_000;
/// Rows that a page of a list moves.
const PAGE: usize = 10;
const WHEEL: usize = 3;

impl App {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) {
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
        let keys = &self.options.keys;
        match (&mut self.open, pointer) {
            (Open::Help(help), Pointer::WheelUp) => help.at = help.at.saturating_sub(WHEEL),
            (Open::Help(help), Pointer::WheelDown) => {
                help.at = down(help.at, WHEEL, help::entries(help.filter.text(), keys).len());
            }
            (Open::Palette(palette), Pointer::WheelUp) => palette.at = palette.at.saturating_sub(WHEEL),
            (Open::Palette(palette), Pointer::WheelDown) => {
                palette.at = down(palette.at, WHEEL, palette::find(palette.line.text(), keys, &self.recent).len());
            }
            (Open::Silence(form), Pointer::Click) => {
                if let Some(slot) = slot_at(self.area, form, mouse.column, mouse.row) {
                    form.focus(slot);
                }
            }
            // What is open has the keys; a click past it must not change what lies beneath.
            (Open::Help(_) | Open::Palette(_), Pointer::Click | Pointer::Drag)
            | (
                Open::Command(_)
                | Open::Search(_)
                | Open::Confirm(..)
                | Open::Form(_)
                | Open::Silence(_)
                | Open::Told(..)
                | Open::Refused(_)
                | Open::ConfirmQuit,
                _,
            ) => {}
            (Open::Nothing | Open::Menu(_), _) => {
                self.with_facts(|view, facts| point(pointer, mouse.column, mouse.row, view, facts));
            }
        }
    }

    /// A paste is text where text is typed, and nothing elsewhere.
    pub(super) fn type_text(&mut self, text: &str) {
        match &mut self.open {
            Open::Command(_) | Open::Search(_) | Open::Form(_) | Open::Silence(_) if text.len() > PASTE_BYTES_MAX => {
                self.notice = tr!("a line takes at most {n} bytes: nothing was put in", n = PASTE_BYTES_MAX);
            }
            Open::Command(line) => {
                line.insert(text);
                offer_to(line, &self.state, &*self.backstage);
            }
            Open::Search(line) => line.insert(text),
            Open::Form(form) => form.insert(text),
            Open::Silence(form) => form.insert(text),
            Open::Palette(palette) => {
                palette.line.insert(text);
                palette.at = 0;
            }
            Open::Help(help) if help.is_typing => {
                help.filter.insert(text);
                help.at = 0;
            }
            Open::Confirm(..) => self.notice = tr!("a paste confirms nothing; type it"),
            Open::Nothing | Open::Help(_) | Open::Menu(_) | Open::Told(..) | Open::Refused(_) | Open::ConfirmQuit => {
                self.notice = tr!("pasted text is not taken as keys");
            }
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        self.notice.clear();
        self.keys_pressed = self.keys_pressed.saturating_add(1);
        self.view.newcomer &= self.keys_pressed < NEWCOMER_KEYS;
        let name = key_name(&key).unwrap_or_default();
        match std::mem::take(&mut self.open) {
            Open::Nothing => {
                if !name.is_empty() {
                    self.press(&name);
                }
            }
            Open::Help(help) => self.help_key(help, &name, &key),
            Open::Palette(palette) => self.palette_key(palette, &name, &key),
            Open::Menu(group) => self.menu_key(group, &name),
            Open::Command(line) => self.command_key(line, &key),
            Open::Search(mut line) => match line.key(&key, &History::default()) {
                Edit::More => self.open = Open::Search(line),
                Edit::Entered => self.with_facts(|view, facts| search(line.text(), view, facts)),
                Edit::Cancelled => {}
            },
            Open::Confirm(confirm, typed) => self.confirm_key(confirm, typed, &key),
            Open::Form(form) => self.form_key(form, &key),
            Open::Silence(form) => self.silence_key(form, &key),
            // Any key closes what was told, and what it says can be typed at once.
            Open::Told(..) if name == ":" => self.open_command(""),
            Open::Told(..) => {}
            // Words that were typed for a confirmation end with enter.
            Open::Refused(why) => {
                if !matches!(name.as_str(), "esc" | "enter" | "ctrl-c") {
                    self.open = Open::Refused(why);
                }
            }
            Open::ConfirmQuit => match name.as_str() {
                // ctrl-c twice quits, as a shell would.
                "y" | "Y" | "ctrl-c" => self.ended = Some(Ended::Quit),
                _ => self.notice = tr!("the run goes on"),
            },
        }
    }

    fn press(&mut self, name: &str) {
        // Escape leads out of everything, a sequence that was begun too.
        if name == "esc" && !self.keys.is_empty() {
            return self.keys.clear();
        }
        let sequence = if self.keys.is_empty() { name.to_owned() } else { format!("{} {name}", self.keys) };
        self.keys.clear();
        match self.options.keys.lookup(&sequence, &Scope::of(self.view.screen, self.view.active())) {
            Lookup::Action(action) => {
                self.remember_use(action);
                self.with_facts(|view, facts| act(by_key(action, facts), "", view, facts));
            }
            Lookup::Prefix => self.keys = sequence,
            Lookup::Unknown => {
                let help = self.options.keys.shown(Action::Help).unwrap_or_else(|| ":help".into());
                self.notice = tr!("{keys} does nothing; {help} lists the keys", keys = shown(&sequence), help = help);
            }
        }
    }

    fn remember_use(&mut self, action: Action) {
        self.recent.retain(|known| *known != action);
        self.recent.push(action);
        if self.recent.len() > RECENT_MAX {
            self.recent.remove(0);
        }
    }

    pub(super) fn open_command(&mut self, text: &str) {
        let mut line = Line::from(text);
        offer_to(&mut line, &self.state, &*self.backstage);
        self.open = Open::Command(line);
    }

    fn command_key(&mut self, mut line: Line, key: &KeyEvent) {
        match line.key(key, &self.history) {
            Edit::More => {
                offer_to(&mut line, &self.state, &*self.backstage);
                self.open = Open::Command(line);
            }
            Edit::Entered => self.enter(line),
            Edit::Cancelled => {}
        }
    }

    /// Does what a line says. What can't be done leaves the line where it is, to be mended.
    fn enter(&mut self, line: Line) {
        self.history.push(line.text());
        self.mistaken = false;
        self.with_facts(|view, facts| command(line.text(), view, facts));
        if std::mem::take(&mut self.mistaken) && self.open == Open::Nothing {
            self.open = Open::Command(Line::from(line.text()));
        } else if let Some(name) = line.text().split_whitespace().next()
            && let Ok(entry) = crate::ui::actions::by_name(name)
        {
            self.remember_use(entry.action);
        }
    }

    fn help_key(&mut self, mut help: Help, name: &str, key: &KeyEvent) {
        let entries = help::entries(help.filter.text(), &self.options.keys);
        if let Some(at) = moved(name, help.at, entries.len()) {
            help.at = at;
        } else if help.is_typing {
            let before = help.filter.text().to_owned();
            match help.filter.key(key, &History::default()) {
                Edit::More => {}
                Edit::Entered => help.is_typing = false,
                Edit::Cancelled => (help.is_typing, help.filter) = (false, Line::default()),
            }
            if help.filter.text() != before {
                help.at = 0;
            }
        } else {
            match name {
                "k" => help.at = help.at.saturating_sub(1),
                "j" => help.at = down(help.at, 1, entries.len()),
                "g" | "home" => help.at = 0,
                "G" | "end" => help.at = entries.len().saturating_sub(1),
                "/" => help.is_typing = true,
                "enter" => return entries.get(help.at.min(entries.len().saturating_sub(1))).into_iter().for_each(|e| self.do_entry(e)),
                "esc" if !help.filter.text().is_empty() => help = Help::default(),
                // What leads out closes it; any other key is no word to the run that goes on beneath.
                "esc" | "q" | "?" | "ctrl-c" => return,
                ":" => return self.open_command(""),
                _ => self.notice = tr!("/ filters, enter runs, esc closes"),
            }
        }
        self.open = Open::Help(help);
    }

    fn palette_key(&mut self, mut palette: Palette, name: &str, key: &KeyEvent) {
        let found = palette::find(palette.line.text(), &self.options.keys, &self.recent);
        let name = match name {
            "tab" | "ctrl-n" => "down",
            "backtab" | "ctrl-p" => "up",
            name => name,
        };
        if let Some(at) = moved(name, palette.at, found.len()) {
            palette.at = at;
            self.open = Open::Palette(palette);
            return;
        }
        let before = palette.line.text().to_owned();
        match palette.line.key(key, &History::default()) {
            Edit::More => {
                if palette.line.text() != before {
                    palette.at = 0;
                }
                self.open = Open::Palette(palette);
            }
            Edit::Entered => {
                if let Some(f) = found.get(palette.at.min(found.len().saturating_sub(1))) {
                    self.do_entry(f.entry);
                } else {
                    self.open = Open::Palette(palette);
                }
            }
            Edit::Cancelled => {}
        }
    }

    /// A digit opens a page or does an action; 0 goes back. Any other key closes the menu.
    fn menu_key(&mut self, group: Option<Group>, name: &str) {
        let digit = name.parse::<usize>().ok().filter(|_| name.len() == 1);
        match (group, digit) {
            (_, None) | (None, Some(0)) => {}
            (Some(_), Some(0)) => self.open = Open::Menu(None),
            (None, Some(digit)) => self.open = Open::Menu(Group::pages(&self.view).get(digit - 1).copied()),
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

    /// Does what stands in help, palette or menu; asks for the argument where there must be one.
    fn do_entry(&mut self, entry: &Entry) {
        let engine = self.source.commands().is_some() && !self.options.read_only;
        if let Some(reason) = entry.refusal(engine, self.playback.is_some()) {
            self.notice = reason;
            return;
        }
        self.remember_use(entry.action);
        if entry.needs_argument() {
            self.open_command(&format!("{} ", entry.name));
        } else {
            self.do_action(entry.action);
        }
    }

    fn confirm_key(&mut self, confirm: Box<Confirm>, mut typed: Line, key: &KeyEvent) {
        let verb = confirm.verb;
        if key_name(key).as_deref() == Some("ctrl-c") {
            self.notice = tr!("no {verb}", verb = verb);
            return;
        }
        match typed.key(key, &History::default()) {
            Edit::More => self.open = Open::Confirm(confirm, typed),
            Edit::Cancelled => self.notice = tr!("no {verb}", verb = verb),
            Edit::Entered if confirm.accepts(typed.text()) => self.carry_out(vec![Effect::Send(confirm.command)]),
            Edit::Entered => {
                let (typed_so_far, name) = (typed.text(), &confirm.name);
                self.notice = tr!("`{typed}` is not `{verb} {name}`; esc cancels", typed = typed_so_far, verb = verb, name = name);
                self.open = Open::Confirm(confirm, typed);
            }
        }
    }
}

/// Where a key of a list leads, if it is one.
fn moved(name: &str, at: usize, count: usize) -> Option<usize> {
    Some(match name {
        "up" => at.saturating_sub(1),
        "down" => down(at, 1, count),
        "pageup" => at.saturating_sub(PAGE),
        "pagedown" => down(at, PAGE, count),
        _ => return None,
    })
}

fn down(at: usize, by: usize, count: usize) -> usize {
    (at + by).min(count.saturating_sub(1))
}

/// What the line could go on with, unless one of that is being chosen.
fn offer_to(line: &mut Line, state: &crate::state::DashState, backstage: &dyn Backstage) {
    if let Some(text) = line.completable() {
        let offer = offer(text, state, &backstage.condition_names(), Path::new("."));
        line.offer(offer);
    }
}
