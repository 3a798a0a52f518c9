//! The form of a silence at the screen: what it comes to is sent.

use super::{App, Open};
use crate::event::Command;
use crate::ui::lang::tr;
use crate::ui::panes::rules::{clock, hushed};
use crate::ui::silence_form::{Purpose, SilenceEdit, SilenceForm};
use crossterm::event::KeyEvent;

impl App {
    pub(super) fn silence_key(&mut self, mut form: Box<SilenceForm>, key: &KeyEvent) {
        match form.key(key, &self.state) {
            SilenceEdit::More => self.open = Open::Silence(form),
            SilenceEdit::Cancel => self.notice = tr!("nothing is silenced"),
            SilenceEdit::Send => {
                if let Err(told) = self.send_silence(&mut form) {
                    self.notice = told;
                    self.open = Open::Silence(form);
                }
            }
        }
    }

    fn send_silence(&mut self, form: &mut SilenceForm) -> Result<(), String> {
        let now_ms = self.state.alerting.at_ms(self.state.t_ns).ok_or_else(|| tr!("the run has not said yet when it began"))?;
        let silence = form.silence(now_ms)?;
        let found = hushed(&self.state, &silence.matchers).len();
        let until = clock(silence.ends_ms);
        self.send(Command::Silence(silence)).map_err(|error| error.to_string())?;
        // The new one stands before the old one ends: nobody is called in between.
        if let Purpose::Edit(id) = &form.purpose {
            self.send(Command::Unsilence { id: id.clone() }).map_err(|error| error.to_string())?;
        }
        self.notice = tr!("until {clock}; alerts that it silences now: {n}", clock = until, n = found);
        Ok(())
    }
}
