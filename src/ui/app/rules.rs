//! The rule file in an outside editor: only one that is right takes its place.

use super::App;
use crate::ui::lang::tr;
use crate::ui::outside::{self, Back};
use std::path::PathBuf;

impl App {
    /// Takes the file's text, or what was left of it that is not right yet.
    pub(super) fn edit_rules(&mut self) {
        let file = self.state.alerting.file.to_string();
        if let Some(draft) = self.rules_draft.take_if(|(of, _)| *of == file) {
            self.rules_outside = Some(draft);
            return;
        }
        match self.backstage.rules_of(&file) {
            Ok(text) => self.rules_outside = Some((file, text)),
            Err(told) => (self.notice, self.mistaken) = (told, true),
        }
    }

    /// Where an editor is to have it, and the text; unset where no rules are to be edited.
    pub(super) fn wants_rules(&mut self) -> Option<(PathBuf, String)> {
        let (_, text) = self.rules_outside.as_ref()?;
        match outside::directory(self.options.state.as_deref()) {
            Ok(directory) => Some((directory, text.clone())),
            Err(told) => {
                self.notice = told;
                self.rules_outside = None;
                None
            }
        }
    }

    /// Takes up what the editor left.
    pub(super) fn rules_came_back(&mut self, back: Back) {
        self.redraw = true;
        let Some((file, before)) = self.rules_outside.take() else { return };
        match back {
            Back::Text(text) if text == before => self.notice = tr!("nothing is changed"),
            Back::Text(text) => match self.backstage.place_rules(&file, &text) {
                Ok(()) => self.notice = tr!("{file} is in its place; it is read again at once", file = file),
                Err(mistake) => {
                    self.notice = tr!("{mistake}; {file} stays as it was, e edits on", mistake = mistake, file = file);
                    self.rules_draft = Some((file, text));
                }
            },
            Back::Failed(told) => self.notice = told,
            Back::Ended(0) => self.ended = Some(super::Ended::HungUp),
            Back::Ended(signal) => self.ended = Some(super::Ended::Signal(signal)),
        }
    }
}
