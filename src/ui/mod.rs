//! Duty: the console: app, action table, keymap, themes, widgets, panes one file each.
//! May import: event, state, source, config.
//! Emits: commands by the source's sender, bytes to the terminal.
//! Accepts: keys, frames.
//! Test: `cargo test --lib ui::`, `cargo test --test console`.

pub mod actions;
mod app;
pub mod backstage;
pub mod bench;
mod branch;
mod breaks;
mod chrome;
mod complete;
mod copy;
pub mod desk;
pub mod diff;
mod export;
mod find;
mod form;
mod form_file;
mod groups;
pub mod keymap;
pub mod lang;
mod line;
mod look;
mod notify;
pub mod output;
mod outside;
mod palette;
mod panes;
mod patches;
mod pen;
mod raster;
mod records;
mod replies;
mod runbooks;
mod screen;
pub mod session;
pub mod shot;
mod silence_form;
mod status;
mod steer;
mod still;
mod stops;
mod terminal;
pub mod theme;
mod update;
pub mod view;
mod watch;
pub mod watches;
pub mod widgets;

pub use panes::alerts::recording_failure;

pub use app::{Ended, UiError, UiOptions, draw, run};
