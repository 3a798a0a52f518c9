//! What the console asks for behind the scene: evaluations, verifications, the catalogue of recordings.

use crate::ui::backstage::{Ask, Backstage, News};

/// The crew: work in threads of its own, whose results wait to be collected.
#[derive(Default)]
pub struct Crew {}

impl Backstage for Crew {
    fn ask(&mut self, ask: Ask) -> Result<(), String> {
        match ask {}
    }

    fn news(&mut self) -> Vec<News> {
        Vec::new()
    }
}
