//! The rule file in an outside editor: only one that is right takes its place.

use super::App;
use crate::ui::backstage::NotPlaced;
use crate::ui::lang::tr;
use crate::ui::outside::{self, Back};
use std::path::PathBuf;

/// A rule file that is edited.
pub(super) struct RulesDraft {
    file: String,
    /// The file as it was when this began: nothing is put over what somebody else changed since.
    before: String,
    text: String,
}

impl App {
    /// Takes the file's text, or what was left of it that is not right yet.
    pub(super) fn edit_rules(&mut self) {
        let file = self.state.alerting.file.to_string();
        if let Some(draft) = self.rules_draft.take_if(|draft| draft.file == file) {
            self.rules_outside = Some(draft);
            return;
        }
        match self.backstage.rules_of(&file) {
            Ok(text) => self.rules_outside = Some(RulesDraft { file, before: text.clone(), text }),
            Err(told) => (self.notice, self.mistaken) = (told, true),
        }
    }

    /// Where an editor is to have it, and the text; unset where no rules are to be edited.
    pub(super) fn wants_rules(&mut self) -> Option<(PathBuf, String)> {
        let text = &self.rules_outside.as_ref()?.text;
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
        let Some(RulesDraft { file, before, text: given }) = self.rules_outside.take() else { return };
        match back {
            Back::Text(text) if text == before => self.notice = tr!("nothing is changed"),
            Back::Text(text) => match self.backstage.place_rules(&file, &before, &text) {
                Ok(()) => self.notice = tr!("{file} is in its place; it is read again at once", file = file),
                Err(NotPlaced::Wrong(mistake)) => {
                    self.notice = tr!("{mistake}; {file} stays as it was, e edits on", mistake = mistake, file = file);
                    self.rules_draft = Some(RulesDraft { file, before, text });
                }
                Err(NotPlaced::Changed) => self.notice = self.keep_aside(&file, &text),
            },
            Back::Failed(told) => {
                self.notice = told;
                // What is still to be mended is not lost with the editor.
                self.rules_draft = (given != before).then_some(RulesDraft { file, before, text: given });
            }
            Back::Ended(0) => self.ended = Some(super::Ended::HungUp),
            Back::Ended(signal) => self.ended = Some(super::Ended::Signal(signal)),
        }
    }

    /// What was edited while somebody else changed the file is kept beside, never in its place.
    fn keep_aside(&self, file: &str, text: &str) -> String {
        let kept = outside::directory(self.options.state.as_deref()).and_then(|directory| {
            let path = directory.join(format!("rules-not-taken-{}.yaml", std::process::id()));
            std::fs::write(&path, text).map(|()| path.clone()).map_err(|e| format!("{}: {e}", path.display()))
        });
        match kept {
            Ok(path) => {
                tr!(
                    "{file} was changed on the disk meanwhile and stays so; what you wrote is in {path}",
                    file = file,
                    path = path.display()
                )
            }
            Err(why) => tr!("{file} was changed on the disk meanwhile and stays so; what you wrote is lost: {why}", file = file, why = why),
        }
    }
}
