//! Duty: the console: app, action table, keymap, themes, widgets, panes one file each.
//! May import: event, state, source, config.
//! Emits: commands by the source's sender, bytes to the terminal.
//! Accepts: keys, frames.
//! Test: `cargo test --lib ui::`, `cargo test --test console`.

pub mod theme;
pub mod view;
pub mod widgets;
