//! Duty: the console: app, action table, keymap, themes, widgets, panes one file each.
//! May import: event, state, source, config.
//! Emits: commands by the source's sender, bytes to the terminal.
//! Accepts: keys, frames.
//! Test: `cargo test --lib ui::`, `cargo test --test console`.

pub mod actions;
mod app;
pub mod backstage;
pub mod bench;
mod chrome;
mod complete;
mod copy;
pub mod desk;
mod export;
pub mod keymap;
pub mod lang;
mod look;
mod panes;
mod raster;
mod records;
mod screen;
pub mod session;
pub mod shot;
mod status;
mod still;
mod stops;
mod terminal;
pub mod theme;
mod update;
pub mod view;
pub mod widgets;

pub use app::{Ended, UiError, UiOptions, draw, run};
